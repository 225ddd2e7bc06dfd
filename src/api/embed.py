"""The build's: makes a C array of a text. Usage: embed.py INPUT OUTPUT"""

import sys

CODE = """#include "api/openapi.h"

const unsigned char api_openapi_text[] = {{{}}};
const size_t api_openapi_len = sizeof(api_openapi_text);
"""

with open(sys.argv[1], "rb") as source:
    data = source.read()
with open(sys.argv[2], "w", encoding="ascii") as target:
    target.write(CODE.format(",".join(map(str, data))))
