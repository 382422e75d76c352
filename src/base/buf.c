#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fr_buf_init(struct fr_buf *b, size_t max_bytes)
{
    memset(b, 0, sizeof *b);
    b->max = max_bytes;
}

void fr_buf_free(struct fr_buf *b)
{
    free(b->data);
    fr_buf_init(b, b->max);
}

void fr_buf_reset(struct fr_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data != NULL)
        b->data[0] = '\0';
}

bool fr_buf_reserve(struct fr_buf *b, size_t n)
{
    size_t need, cap;
    char *p;

    if (b->failed)
        return false;
    if (n > b->max - b->len) {
        b->failed = true;
        return false;
    }
    need = b->len + n + 1;
    if (need <= b->cap)
        return true;
    cap = b->cap < 64 ? 64 : b->cap;
    while (cap < need)
        cap = cap > b->max / 2 ? b->max + 1 : cap * 2;
    p = realloc(b->data, cap);
    if (p == NULL) {
        b->failed = true;
        return false;
    }
    b->data = p;
    b->cap = cap;
    return true;
}

bool fr_buf_add(struct fr_buf *b, const void *p, size_t n)
{
    if (!fr_buf_reserve(b, n))
        return false;
    if (n > 0)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
    return true;
}

bool fr_buf_add_str(struct fr_buf *b, const char *s)
{
    return fr_buf_add(b, s, strlen(s));
}

bool fr_buf_add_byte(struct fr_buf *b, unsigned char c)
{
    return fr_buf_add(b, &c, 1);
}

bool fr_buf_printf(struct fr_buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !fr_buf_reserve(b, (size_t)n)) {
        b->failed = true;
        return false;
    }
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return true;
}

const char *fr_buf_text(const struct fr_buf *b)
{
    return b->data == NULL ? "" : b->data;
}
