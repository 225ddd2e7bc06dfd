/* tree: finds and ends every descendant of this process.
 *
 * As this process is a subreaper, whatever a worker starts stays below it, also after setsid and
 * double forks: each live descendant has an ancestor that is a direct child. So "no child left"
 * (ECHILD) is the exact test for "no descendant left"; /proc is needed only to find whom to
 * signal. A process is signalled through a pidfd and only after its parent was read again, so
 * that a reused pid cannot hit a stranger. One thread; state is static, 512 KiB mostly untouched.
 */
#ifndef HOTBUNK_SHIM_TREE_H
#define HOTBUNK_SHIM_TREE_H

#include <sys/types.h>

/* Opens /proc; nothing can be guarded without it. 0 or negative errno. */
int tree_init(void);

/* One attempt: stops all descendants until a look at /proc finds no new one, then kills them.
 * Returns the number killed. Returns before they are gone. */
size_t tree_kill(void);

/* The lowest pid among the descendants, or 0. */
pid_t tree_find_survivor(void);

#endif
