#include "config/variables.h"

#include <ctype.h>
#include <string.h>

/* What the scanner stands in. */
enum place { CODE, TEXT, QUOTED_NAME, BRACKETS, LINE_COMMENT, BLOCK_COMMENT };

struct replacer {
    const char *p;
    enum place place;
    unsigned depth; /* of block comments, which nest */
    size_t line;
    fr_variable_fn find;
    void *ctx;
    struct fr_buf *out;
};

static void put(struct replacer *r, const char *p, size_t n)
{
    if (r->out != NULL)
        fr_buf_add(r->out, p, n);
}

static void put_doubled(struct replacer *r, const char *value, char quote)
{
    for (; *value != '\0'; value++) {
        put(r, value, 1);
        if (*value == quote)
            put(r, value, 1);
    }
}

static bool is_word(const char *value)
{
    size_t n = 0;

    while (isalnum((unsigned char)value[n]) || value[n] == '_')
        n++;
    return n > 0 && value[n] == '\0';
}

/* -12.5 */
static bool is_number(const char *value)
{
    const char *p = value + (value[0] == '-' ? 1 : 0);
    size_t n = strspn(p, "0123456789");

    if (n > 0 && p[n] == '.')
        n += 1 + strspn(p + n + 1, "0123456789");
    return n > 0 && p[n] == '\0';
}

static void put_value(struct replacer *r, const struct fr_variable *v)
{
    switch (r->place) {
    case TEXT:
        put_doubled(r, v->value, '\'');
        break;
    case QUOTED_NAME:
        put_doubled(r, v->value, '"');
        break;
    case BRACKETS:
        put_doubled(r, v->value, ']');
        break;
    default:
        if (v->is_quoted || is_word(v->value) || is_number(v->value)) {
            put(r, v->value, strlen(v->value));
        } else {
            put(r, "[", 1);
            put_doubled(r, v->value, ']');
            put(r, "]", 1);
        }
    }
}

static bool is_printable(const char *value)
{
    for (; *value != '\0'; value++)
        if ((unsigned char)*value < ' ' || *value == 0x7F)
            return false;
    return true;
}

/* At `$(`: how many bytes its name has, 0 = it is none. */
static size_t name_bytes(const char *p)
{
    size_t n = 0;

    if (!isalpha((unsigned char)p[2]) && p[2] != '_')
        return 0;
    while (isalnum((unsigned char)p[2 + n]) || p[2 + n] == '_')
        n++;
    return p[2 + n] == ')' ? n : 0;
}

static fr_status replace_one(struct replacer *r, size_t n, struct fr_err *err)
{
    const char *name = r->p + 2;
    struct fr_variable v = {0};

    if (!r->find(r->ctx, name, n, &v))
        return fr_err_set(err, FR_EARG, "line %zu: there is no variable $(%.*s)", r->line,
                          (int)n, name);
    if (!is_printable(v.value))
        return fr_err_set(err, FR_EARG,
                          "line %zu: the value of $(%.*s) has a control character",
                          r->line, (int)n, name);
    put_value(r, &v);
    r->p += n + 3;
    return FR_OK;
}

/* How many bytes begin or end something here; 0 = they are none of it. */
static size_t take_mark(struct replacer *r)
{
    static const struct {
        enum place in;
        const char *mark;
        enum place to;
    } marks[] = {
        {CODE, "--", LINE_COMMENT},
        {CODE, "'", TEXT},
        {CODE, "\"", QUOTED_NAME},
        {CODE, "[", BRACKETS},
        {LINE_COMMENT, "\n", CODE},
        /* a doubled quote ends and begins again: the same to us */
        {TEXT, "'", CODE},
        {QUOTED_NAME, "\"", CODE},
        {BRACKETS, "]", CODE},
    };

    if ((r->place == CODE || r->place == BLOCK_COMMENT) && strncmp(r->p, "/*", 2) == 0) {
        r->place = BLOCK_COMMENT;
        r->depth++;
        return 2;
    }
    if (r->place == BLOCK_COMMENT && strncmp(r->p, "*/", 2) == 0) {
        r->place = --r->depth == 0 ? CODE : BLOCK_COMMENT;
        return 2;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (marks[i].in == r->place &&
            strncmp(r->p, marks[i].mark, strlen(marks[i].mark)) == 0) {
            r->place = marks[i].to;
            return strlen(marks[i].mark);
        }
    return 0;
}

fr_status fr_variables_replace(const char *script, fr_variable_fn find, void *ctx,
                               struct fr_buf *out, struct fr_err *err)
{
    struct replacer r = {.p = script, .line = 1, .find = find, .ctx = ctx, .out = out};

    while (*r.p != '\0') {
        bool in_comment = r.place == LINE_COMMENT || r.place == BLOCK_COMMENT;
        size_t n = strncmp(r.p, "$(", 2) == 0 && !in_comment ? name_bytes(r.p) : 0;

        if (n > 0) {
            fr_status st = replace_one(&r, n, err);

            if (st != FR_OK)
                return st;
            continue;
        }
        r.line += *r.p == '\n' ? 1 : 0;
        n = take_mark(&r);
        n = n == 0 ? 1 : n;
        put(&r, r.p, n);
        r.p += n;
    }
    return out != NULL && out->failed
               ? fr_err_set(err, FR_EARG, "the script is longer than %zu bytes", out->max)
               : FR_OK;
}
