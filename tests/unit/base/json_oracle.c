/* For tests/e2e/test_json_oracle.py: texts in, verdicts out.
 *
 * stdin: per text a line with its length in bytes, then that many bytes. stdout: per text one line,
 * "ok " and the tree written again, or "no " and why. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

#define TEXT_MAX 1048576

int main(void)
{
    static char text[TEXT_MAX];
    char line[32];

    while (fgets(line, sizeof(line), stdin)) {
        size_t len = strtoul(line, NULL, 10);
        struct json_object *root = NULL;
        struct err err = {0};
        if (len > TEXT_MAX || fread(text, 1, len, stdin) != len)
            return 1;
        if (json_parse(slice_of(text, len), &root, &err) == 0)
            (void)printf("ok %s\n", json_text(root));
        else
            (void)printf("no %s\n", err.msg);
        json_object_put(root);
    }
    return 0;
}
