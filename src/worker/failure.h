/* failure: what kind of failure a worker's words mean. By positive signatures only: a text that
 * matches none stays an error of its own. Pure. */
#ifndef HOTBUNK_WORKER_FAILURE_H
#define HOTBUNK_WORKER_FAILURE_H

#include "base/slice.h"
#include "core/event.h"

/* `code` is the worker's own error code ("" when it gave none), `text` its message, traceback or
 * the tail of its stderr. */
enum core_failure failure_classify(struct slice code, struct slice text);

/* Of an exit: signal and code as waitid tells them, `text` as above. */
enum core_failure failure_of_exit(int code, int signo, struct slice text);

#endif
