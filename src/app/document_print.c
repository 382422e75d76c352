#include "app/document_print.h"

#include <errno.h>
#include <stdio.h>

fr_status document_print(json_t *doc, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (doc == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the document");
    errno = 0;
    if (json_dumpf(doc, stdout, JSON_PRESERVE_ORDER | JSON_INDENT(1)) != 0 ||
        putchar('\n') == EOF || fflush(stdout) != 0)
        st = fr_err_errno(err, FR_EIO, errno, "writing to standard output");
    json_decref(doc);
    return st;
}
