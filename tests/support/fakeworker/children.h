/* children: the log of starts, and grandchildren that sleep. Before any thread is started. */
#ifndef HOTBUNK_FAKEWORKER_CHILDREN_H
#define HOTBUNK_FAKEWORKER_CHILDREN_H

/* One line {"event", "pid", "argv"} appended at once to --spawn-log. */
void children_log(const char *event, char **argv);

/* As --grandchild says. */
void children_start(void);

/* The life of a grandchild: --sleeper. Bounded, so that a failed test leaves nothing for ever. */
_Noreturn void children_sleep(char **argv);

#endif
