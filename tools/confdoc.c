/* Prints docs/config.md: `confdoc > docs/config.md` after a change of src/catalog/config_keys.c. */
#include <stdio.h>

#include "catalog/config.h"

#define DOC_BYTES_MAX 1048576

int main(void)
{
    struct buf doc;
    int rc;

    buf_init(&doc, DOC_BYTES_MAX);
    rc = config_doc(&doc);
    if (rc == 0 && fwrite(doc.data, 1, doc.len, stdout) != doc.len)
        rc = -1;
    if (fflush(stdout) != 0)
        rc = -1;
    buf_fini(&doc);
    return rc == 0 ? 0 : 1;
}
