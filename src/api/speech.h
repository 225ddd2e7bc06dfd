/* speech: OpenAI's POST /v1/audio/speech: a text in, the spoken file as the answer. */
#ifndef HOTBUNK_API_SPEECH_H
#define HOTBUNK_API_SPEECH_H

#include "net/router.h"

void speech_post(void *api, struct exchange *ex, const struct route_args *args);

#endif
