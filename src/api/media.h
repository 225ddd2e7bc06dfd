/* media: the media type of a file by its name's end. Pure. */
#ifndef HOTBUNK_API_MEDIA_H
#define HOTBUNK_API_MEDIA_H

#include "base/slice.h"

/* "application/octet-stream" when unknown. */
const char *media_type_of(struct slice path);

#endif
