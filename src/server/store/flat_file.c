#include "server/store/flat_file.h"

#include "server/value/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 256 << 10, MARK_BYTES = 3 };

struct flat_file {
    struct flat_format format;
    int fd;
    char *window; /* [from, to): what is read and not given out */
    size_t from, to, capacity;
    size_t span; /* of the row at hand: bytes looked at, from `from` on */
    bool at_end, begun, too_long;
    int failed;          /* errno */
    unsigned char *wide; /* READ_BYTES as they lie in the file, the first `kept` of them
                            left over from before */
    size_t kept;
};

/* ---- terminators ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(const char *p, size_t n, bool wide, struct flat_terminator *out)
{
    unsigned char bytes[FLAT_TERMINATOR_BYTES / 2];
    struct fr_buf text;
    bool ok;

    if (n == 0 || n % 2 != 0 || n / 2 > sizeof(bytes) || (wide && n % 4 != 0))
        return false;
    for (size_t i = 0; i < n / 2; i++) {
        int high = hex_digit(p[2 * i]), low = hex_digit(p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    if (!wide) {
        memcpy(out->bytes, bytes, n / 2);
        out->n = n / 2;
        return true;
    }
    fr_buf_init(&text, FLAT_TERMINATOR_BYTES);
    ok = text_from_utf16le(bytes, n / 2, &text) && text.len > 0;
    if (ok)
        memcpy(out->bytes, text.data, text.len);
    out->n = text.len;
    fr_buf_free(&text);
    return ok;
}

bool flat_terminator_parse(const char *text, size_t bytes, bool wide,
                           struct flat_terminator *out)
{
    static const char letters[] = "tnr0\\", values[] = "\t\n\r\0\\";

    memset(out, 0, sizeof(*out));
    if (bytes > 2 && text[0] == '0' && (text[1] | 32) == 'x')
        return parse_hex(text + 2, bytes - 2, wide, out);
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        const char *at = NULL;

        if (out->n == sizeof(out->bytes))
            return false;
        if (c == '\\' && i + 1 < bytes && text[i + 1] != '\0')
            at = strchr(letters, text[i + 1]);
        if (at != NULL) {
            c = values[at - letters];
            i++;
        }
        out->bytes[out->n++] = c;
    }
    out->is_newline = out->n == 1 && out->bytes[0] == '\n';
    return out->n > 0;
}

/* ---- the window ---- */

struct flat_file *flat_file_new(int fd, const struct flat_format *format)
{
    struct flat_file *f = calloc(1, sizeof(*f));

    if (f == NULL)
        return NULL;
    f->format = *format;
    f->fd = fd;
    if (format->wide && (f->wide = malloc(READ_BYTES)) == NULL)
        flat_file_free(&f);
    return f;
}

void flat_file_free(struct flat_file **fp)
{
    struct flat_file *f = *fp;

    *fp = NULL;
    if (f == NULL)
        return;
    free(f->window);
    free(f->wide);
    free(f);
}

static bool make_room(struct flat_file *f, size_t bytes)
{
    size_t have = f->to - f->from, capacity = f->capacity == 0 ? bytes : f->capacity;
    char *grown;

    if (have > FLAT_MAX_ROW_BYTES) {
        f->too_long = true;
        return false;
    }
    if (f->from > 0)
        memmove(f->window, f->window + f->from, have);
    f->from = 0;
    f->to = have;
    while (capacity < have + bytes)
        capacity *= 2;
    if (capacity == f->capacity)
        return true;
    grown = realloc(f->window, capacity);
    if (grown == NULL) {
        f->failed = ENOMEM;
        return false;
    }
    f->window = grown;
    f->capacity = capacity;
    return true;
}

static size_t read_some(struct flat_file *f, void *out, size_t n)
{
    ssize_t got;

    do
        got = read(f->fd, out, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        f->failed = errno;
    f->at_end = got <= 0;
    return got <= 0 ? 0 : (size_t)got;
}

/* A unit, or the first of a pair, may be cut at the end of what was read. */
static void read_wide(struct flat_file *f)
{
    size_t n = f->kept + read_some(f, f->wide + f->kept, READ_BYTES - f->kept);
    size_t whole = n - n % 2, skip = 0;
    char *end;

    if (!f->at_end && whole >= 2 && (f->wide[whole - 1] & 0xFC) == 0xD8)
        whole -= 2;
    if (!f->begun && whole >= 2 && f->wide[0] == 0xFF && f->wide[1] == 0xFE)
        skip = 2;
    f->begun = true;
    end = text_put_utf16le(f->wide + skip, whole - skip, f->window + f->to);
    f->to = (size_t)(end - f->window);
    f->kept = n - whole;
    memmove(f->wide, f->wide + whole, f->kept);
    /* half a character at the end of the file is none */
    if (f->at_end && f->kept > 0 && f->failed == 0)
        f->failed = EILSEQ;
}

static void read_plain(struct flat_file *f)
{
    f->to += read_some(f, f->window + f->to, READ_BYTES);
    /* a mark is not halved: a regular file gives what is asked for */
    if (!f->begun && f->to >= MARK_BYTES &&
        memcmp(f->window, "\xEF\xBB\xBF", MARK_BYTES) == 0)
        f->from = MARK_BYTES;
    f->begun = true;
}

/* Byte i of the row at hand is there. */
static bool has(struct flat_file *f, size_t i)
{
    while (f->to - f->from <= i) {
        if (f->at_end || f->failed != 0 ||
            !make_room(f, f->format.wide ? 2 * READ_BYTES : READ_BYTES))
            return false;
        if (f->format.wide)
            read_wide(f);
        else
            read_plain(f);
    }
    return true;
}

static char byte_at(const struct flat_file *f, size_t i)
{
    return f->window[f->from + i];
}

/* The length of the terminator at i; 0: another byte stands there. */
static size_t terminator_at(struct flat_file *f, const struct flat_terminator *t,
                            size_t i)
{
    if (t->is_newline && byte_at(f, i) == '\r')
        return has(f, i + 1) && byte_at(f, i + 1) == '\n' ? 2 : 0;
    if (byte_at(f, i) != t->bytes[0])
        return 0;
    for (size_t k = 1; k < t->n; k++)
        if (!has(f, i + k) || byte_at(f, i + k) != t->bytes[k])
            return 0;
    return t->n;
}

/* ---- rows ---- */

struct scan {
    struct flat_file *f;
    size_t at;   /* in the row */
    size_t open; /* where the field began */
    bool at_end; /* the file's end was met */
};

static enum flat_result stopped(const struct flat_file *f, size_t field, size_t *bad)
{
    *bad = field;
    if (f->too_long)
        return FLAT_LONG;
    if (f->failed != 0) {
        *bad = (size_t)f->failed;
        return FLAT_FAILED;
    }
    return FLAT_END;
}

/* Behind the row that is no good; its terminator is looked for, whatever stands there. */
static enum flat_result pass_row(struct scan *s, enum flat_result why)
{
    size_t n;

    while (has(s->f, s->at)) {
        n = terminator_at(s->f, &s->f->format.row, s->at);
        s->at += n == 0 ? 1 : n;
        if (n > 0)
            break;
    }
    s->f->span = s->at;
    return why;
}

/* In quotes; doubled ones become one, in place.  The quote that ends it is passed. */
static bool scan_quoted(struct scan *s, size_t *n)
{
    char quote = s->f->format.quote;

    for (*n = 0;; s->at++) {
        if (!has(s->f, s->at))
            return false;
        if (byte_at(s->f, s->at) == quote) {
            if (!has(s->f, s->at + 1) || byte_at(s->f, s->at + 1) != quote)
                break;
            s->at++;
        }
        s->f->window[s->f->from + s->open + (*n)++] = byte_at(s->f, s->at);
    }
    s->at++;
    return true;
}

/* The field at hand, and its terminator; offsets, since the window may move. */
static enum flat_result scan_field(struct scan *s, size_t i, size_t *n, bool *quoted)
{
    const struct flat_format *m = &s->f->format;
    bool last = i + 1 == m->fields;
    const struct flat_terminator *own = last ? &m->row : &m->field;
    size_t t = 0;

    *quoted = m->csv && has(s->f, s->at) && byte_at(s->f, s->at) == m->quote;
    if (*quoted) {
        s->open = ++s->at;
        if (!scan_quoted(s, n))
            return FLAT_END;
        if (has(s->f, s->at) && (t = terminator_at(s->f, own, s->at)) == 0)
            return FLAT_BROKEN;
        s->at_end = t == 0;
        s->at += t;
        return FLAT_ROW;
    }
    s->open = s->at;
    for (;; s->at++) {
        if (!has(s->f, s->at)) {
            s->at_end = true;
            break;
        }
        t = terminator_at(s->f, own, s->at);
        if (t > 0)
            break;
        if (m->csv && terminator_at(s->f, last ? &m->field : &m->row, s->at) > 0)
            return FLAT_BROKEN;
    }
    *n = s->at - s->open;
    s->at += t;
    return FLAT_ROW;
}

enum flat_result flat_file_next(struct flat_file *f, struct flat_field *fields,
                                size_t *bad)
{
    struct scan s = {.f = f};

    f->from += f->span;
    f->span = 0;
    if (!has(f, 0))
        return stopped(f, 0, bad);
    for (size_t i = 0; i < f->format.fields; i++) {
        enum flat_result r = scan_field(&s, i, &fields[i].n, &fields[i].quoted);

        *bad = i;
        if (r == FLAT_BROKEN)
            return pass_row(&s, r);
        if (f->failed != 0 || f->too_long)
            return stopped(f, i, bad);
        if (r == FLAT_END || (s.at_end && i + 1 < f->format.fields))
            return FLAT_SHORT;
        fields[i].at = s.open;
    }
    f->span = s.at;
    /* only now the window stays where it is */
    for (size_t i = 0; i < f->format.fields; i++)
        fields[i].p = f->window + f->from + fields[i].at;
    return FLAT_ROW;
}
