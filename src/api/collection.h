/* collection: the folder of the workspace that a job's output goes to. Pure. */
#ifndef HOTBUNK_API_COLLECTION_H
#define HOTBUNK_API_COLLECTION_H

#include "base/err.h"
#include "base/id.h"

#define COLLECTION_DEFAULT "Default"

/* Is it one safe path component that every system can have? */
bool collection_is_valid(struct slice name);

/* Modly's rule: stripped; a name that no folder can have becomes "Default". -EINVAL for one that
 * would climb out of the workspace, or is longer than ID_NAME_MAX. */
int collection_of_modly(struct slice name, char out[ID_NAME_MAX + 1], struct err *err) MUSTCHECK;

#endif
