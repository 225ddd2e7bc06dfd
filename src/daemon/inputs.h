/* inputs: looks at an uploaded image before its job costs anything.
 *
 * The file's first bytes are read on a pool thread, then the job goes to the store as ever. One
 * that can never succeed is marked (error_code and error) and ended once it is written, without a
 * load; what cannot be told from here is left to the worker. Loop thread. */
#ifndef HOTBUNK_DAEMON_INPUTS_H
#define HOTBUNK_DAEMON_INPUTS_H

#include "daemon/app.h"

#define INPUTS_HEAD_BYTES (1u << 20) /* a photograph's size may stand behind its EXIF data */

/* Takes a filled job of the model `spec`; job->submitted follows, or comes at once. */
void inputs_submit(struct app_job *job, const struct model *spec);

/* The app ends: answers for the jobs whose look is under way. */
void inputs_orphan(struct app *app);

#endif
