#include "base/err.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* of what a caller adds: a path may be 4,096 bytes long */
enum { PREFIX_BYTES = 5120 };

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
    err->server_line = 0;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    /* file names and values may hold anything, and a long text is cut anywhere */
    fr_utf8_mend(err->text);
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
    err->server_line = 0;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    n = strlen(err->text);
    /* GNU strerror_r: returns the text, in the buffer or in static storage */
    snprintf(err->text + n, sizeof err->text - n, ": %s",
             strerror_r(errnum, reason, sizeof reason));
    fr_utf8_mend(err->text);
    return st;
}

/* As much of it as fits. */
static void add_text(struct fr_err *err, const char *text)
{
    size_t at = strlen(err->text), n = strlen(text);

    if (n > sizeof err->text - 1 - at)
        n = sizeof err->text - 1 - at;
    memcpy(err->text + at, text, n);
    err->text[at + n] = '\0';
}

fr_status fr_err_wrap(struct fr_err *err, const char *fmt, ...)
{
    va_list ap;
    char prefix[PREFIX_BYTES], old[FR_ERR_TEXT_BYTES];
    const size_t room = FR_ERR_TEXT_BYTES - sizeof ": ";
    const char *shown = prefix;
    size_t n, kept;

    if (err == NULL)
        return FR_EDATA;
    memcpy(old, err->text, sizeof old);
    va_start(ap, fmt);
    vsnprintf(prefix, sizeof prefix, fmt, ap);
    va_end(ap);
    n = strlen(prefix);
    kept = strlen(old);
    if (n + kept > room && n > room / 4) {
        /* a long path: its end, with what was added there, and the reason say most */
        size_t shown_bytes = kept < room - room / 4 ? room - kept : room / 4;

        shown += n - (shown_bytes - 3);
        while (((unsigned char)*shown & 0xC0) == 0x80)
            shown++;
    }
    err->text[0] = '\0';
    add_text(err, shown == prefix ? "" : "...");
    add_text(err, shown);
    add_text(err, ": ");
    add_text(err, old);
    fr_utf8_mend(err->text);
    return err->status;
}

void fr_err_clear(struct fr_err *err)
{
    if (err == NULL)
        return;
    err->status = FR_OK;
    err->server_number = 0;
    err->server_line = 0;
    err->text[0] = '\0';
}
