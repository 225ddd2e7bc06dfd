/* openapi: the text of docs/openapi.yaml, made into an array by the build. */
#ifndef HOTBUNK_API_OPENAPI_H
#define HOTBUNK_API_OPENAPI_H

#include <stddef.h>

extern const unsigned char api_openapi_text[];
extern const size_t api_openapi_len;

#endif
