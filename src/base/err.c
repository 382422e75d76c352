#include "base/err.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int exit_status;
} statuses[] = {
#define FR_STATUS_ROW(name, exit_status) {#name, exit_status},
    FR_STATUS_MAP(FR_STATUS_ROW)
#undef FR_STATUS_ROW
};

const char *fr_status_name(fr_status st)
{
    assert((size_t)st < sizeof statuses / sizeof statuses[0]);
    return statuses[st].name;
}

int fr_status_exit(fr_status st)
{
    assert((size_t)st < sizeof statuses / sizeof statuses[0]);
    return statuses[st].exit_status;
}

fr_status fr_err_set(struct fr_err *err, fr_status st, const char *fmt, ...)
{
    va_list ap;

    if (err == NULL)
        return st;
    err->status = st;
    err->server_number = 0;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return st;
}

fr_status fr_err_errno(struct fr_err *err, fr_status st, int errnum, const char *fmt, ...)
{
    va_list ap;
    char reason[128];
    size_t n;

    if (err == NULL)
        return st;
    err->status = st;
    err->server_number = 0;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    n = strlen(err->text);
    /* GNU strerror_r: returns the text, in the buffer or in static storage */
    snprintf(err->text + n, sizeof err->text - n, ": %s",
             strerror_r(errnum, reason, sizeof reason));
    return st;
}

fr_status fr_err_wrap(struct fr_err *err, const char *fmt, ...)
{
    va_list ap;
    char old[FR_ERR_TEXT_BYTES];
    size_t n;

    if (err == NULL)
        return FR_EDATA;
    memcpy(old, err->text, sizeof old);
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    n = strlen(err->text);
    if (n + 3 < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - n, ": %.*s",
                 (int)(sizeof err->text - n - 3), old);
    return err->status;
}

void fr_err_clear(struct fr_err *err)
{
    if (err == NULL)
        return;
    err->status = FR_OK;
    err->server_number = 0;
    err->text[0] = '\0';
}
