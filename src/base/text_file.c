#include "base/text_file.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fr_status read_all(FILE *f, struct fr_buf *b, struct fr_err *err)
{
    char chunk[8192];
    size_t n;

    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        if (!fr_buf_add(b, chunk, n))
            return b->len + n > b->max
                       ? fr_err_set(err, FR_EARG, "it is longer than %zu bytes", b->max)
                       : fr_err_set(err, FR_ENOMEM, "no memory for it");
    return ferror(f) ? fr_err_errno(err, FR_EARG, errno, "reading") : FR_OK;
}

/* As SQL Server Management Studio writes its scripts: behind a mark, of UTF-8 or UTF-16.
 */
static fr_status decode(const struct fr_buf *b, char **out, struct fr_err *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const char *text = fr_buf_text(b);
    size_t n = b->len;

    if (fr_utf16_decode(text, n, out, &n)) {
        if (*out == NULL)
            return fr_err_set(err, FR_EARG, "it is no well-formed UTF-16");
    } else {
        text += strncmp(text, mark, 3) == 0 ? 3 : 0;
        n = b->len - (size_t)(text - fr_buf_text(b));
        *out = malloc(n + 1);
        if (*out == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for it");
        memcpy(*out, text, n);
        (*out)[n] = '\0';
    }
    /* all behind it would not be seen */
    if (strlen(*out) != n)
        return fr_err_set(err, FR_EARG, "it has a NUL character");
    return fr_utf8_is_valid(*out) ? FR_OK : fr_err_set(err, FR_EARG, "it is not UTF-8");
}

fr_status fr_text_file_read(const char *path, size_t max_bytes, char **out,
                            struct fr_err *err)
{
    FILE *f = fopen(path, "re");
    struct fr_buf b;
    fr_status st;

    *out = NULL;
    if (f == NULL)
        return fr_err_errno(err, FR_EARG, errno, "%s", path);
    fr_buf_init(&b, max_bytes);
    st = read_all(f, &b, err);
    fclose(f);
    if (st == FR_OK)
        st = decode(&b, out, err);
    fr_buf_free(&b);
    if (st == FR_OK)
        return FR_OK;
    free(*out);
    *out = NULL;
    return fr_err_wrap(err, "%s", path);
}
