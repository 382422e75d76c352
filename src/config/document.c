#include "config/document.h"

#include "base/log.h"
#include "base/text_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DOCUMENT_BYTES = 16 << 20, MAX_DEPTH = 64, MISTAKE_BYTES = 1024 };

/* ---- the walk: over a text that jansson has read, so that it is whole ---- */

static const char *after_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* p: at the opening quote. */
static const char *after_text(const char *p)
{
    for (p++; *p != '"' && *p != '\0'; p++)
        if (*p == '\\' && p[1] != '\0')
            p++;
    return *p == '"' ? p + 1 : p;
}

static const char *after_value(const char *p)
{
    size_t depth = 0;

    do {
        p = after_blanks(p);
        if (*p == '"') {
            p = after_text(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else if (*p == ',' || *p == ':') {
            p++;
        } else {
            p += strcspn(p, " \t\r\n,:\"[]{}");
        }
    } while (depth > 0 && *p != '\0');
    return p;
}

/* Names are mostly written as they are; an escape is left to jansson. */
static bool is_key(const char *from, const char *end, const char *key)
{
    size_t n = (size_t)(end - from);
    json_t *decoded;
    bool same;

    if (memchr(from, '\\', n) == NULL)
        return strlen(key) == n - 2 && memcmp(from + 1, key, n - 2) == 0;
    decoded = json_loadb(from, n, JSON_DECODE_ANY, NULL);
    same = decoded != NULL && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return same;
}

/* p: at the opening brace.  NULL: there is no such member. */
static const char *find_member(const char *p, const char *key, const char **name)
{
    p = after_blanks(p + 1);
    while (*p == '"') {
        const char *from = p, *end = after_text(p);

        p = after_blanks(end);
        p = after_blanks(p + (*p == ':' ? 1 : 0));
        if (is_key(from, end, key)) {
            *name = from;
            return p;
        }
        p = after_blanks(after_value(p));
        p = *p == ',' ? after_blanks(p + 1) : p;
    }
    return NULL;
}

/* p: at the opening bracket. */
static const char *find_element(const char *p, size_t index, const char **name)
{
    p = after_blanks(p + 1);
    for (size_t i = 0; i < index && *p != ']' && *p != '\0'; i++) {
        p = after_blanks(after_value(p));
        p = *p == ',' ? after_blanks(p + 1) : p;
    }
    *name = p;
    return *p == ']' || *p == '\0' ? NULL : p;
}

static void tell_place(const char *text, const char *at, size_t *line, size_t *column)
{
    *line = 1;
    *column = 1;
    for (const char *p = text; p < at; p++) {
        if (*p == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

bool fr_json_locate(const char *text, const struct fr_json_path *at, bool of_key,
                    size_t *line, size_t *column)
{
    const struct fr_json_path *steps[MAX_DEPTH];
    const char *p = after_blanks(text), *name = p;
    size_t depth = 0;

    for (; at != NULL && depth < MAX_DEPTH; at = at->parent)
        steps[depth++] = at;
    while (depth > 0 && p != NULL) {
        const struct fr_json_path *step = steps[--depth];

        if (*p != (step->key != NULL ? '{' : '['))
            return false;
        p = step->key != NULL ? find_member(p, step->key, &name)
                              : find_element(p, step->index, &name);
    }
    if (p == NULL)
        return false;
    tell_place(text, of_key ? name : p, line, column);
    return true;
}

/* -- mistakes ------------------------------------------------------------------------ */

static void add_mistake(struct fr_document *d, size_t line, size_t column,
                        const char *text)
{
    struct fr_mistake *grown =
        realloc(d->mistakes, (d->mistake_count + 1) * sizeof *grown);

    if (grown != NULL) {
        d->mistakes = grown;
        grown[d->mistake_count++] =
            (struct fr_mistake){.line = line, .column = column, .text = strdup(text)};
    } else if (d->mistake_count > 0) {
        free(d->mistakes[0].text);
        d->mistakes[0].text = NULL;
    }
}

static void blame(struct fr_document *d, const struct fr_json_path *at, bool of_key,
                  const char *fmt, va_list ap) __attribute__((format(printf, 4, 0)));
static void blame(struct fr_document *d, const struct fr_json_path *at, bool of_key,
                  const char *fmt, va_list ap)
{
    char text[MISTAKE_BYTES];
    size_t line = 0, column = 0;

    vsnprintf(text, sizeof text, fmt, ap);
    (void)fr_json_locate(d->text, at, of_key, &line, &column);
    add_mistake(d, line, column, text);
}

void fr_document_blame(struct fr_document *d, const struct fr_json_path *at,
                       const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    blame(d, at, false, fmt, ap);
    va_end(ap);
}

void fr_document_blame_key(struct fr_document *d, const struct fr_json_path *at,
                           const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    blame(d, at, true, fmt, ap);
    va_end(ap);
}

static int by_place(const void *a, const void *b)
{
    const struct fr_mistake *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

void fr_document_sort_mistakes(struct fr_document *d)
{
    if (d->mistake_count > 1)
        qsort(d->mistakes, d->mistake_count, sizeof *d->mistakes, by_place);
}

void fr_document_log_mistakes(struct fr_document *d)
{
    fr_document_sort_mistakes(d);
    for (size_t i = 0; i < d->mistake_count; i++) {
        const struct fr_mistake *m = &d->mistakes[i];

        if (m->line > 0)
            fr_log(FR_LOG_ERROR, "%s:%zu:%zu: %s", d->path, m->line, m->column,
                   m->text == NULL ? "no memory for what is wrong here" : m->text);
        else
            fr_log(FR_LOG_ERROR, "%s: %s", d->path,
                   m->text == NULL ? "no memory for what is wrong" : m->text);
    }
}

/* -- reading ------------------------------------------------------------------------- */

const char *fr_json_kind(const json_t *v)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",
        [JSON_STRING] = "a text",    [JSON_INTEGER] = "a whole number",
        [JSON_REAL] = "a fraction",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null"};

    return kinds[json_typeof(v)];
}

/* text: owned by out from now on. */
static fr_status parse(const char *path, char *text, struct fr_document *out,
                       struct fr_err *err)
{
    json_error_t bad;

    out->text = text;
    out->path = strdup(path);
    if (out->text == NULL || out->path == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for %s", path);
    out->root = json_loads(out->text, JSON_REJECT_DUPLICATES, &bad);
    if (out->root == NULL)
        add_mistake(out, bad.line < 1 ? 1 : (size_t)bad.line,
                    bad.column < 1 ? 1 : (size_t)bad.column, bad.text);
    return FR_OK;
}

fr_status fr_document_parse(const char *path, const char *text, struct fr_document *out,
                            struct fr_err *err)
{
    memset(out, 0, sizeof *out);
    return parse(path, strdup(text), out, err);
}

fr_status fr_document_read(const char *path, struct fr_document *out, struct fr_err *err)
{
    char *text = NULL;
    fr_status st;

    memset(out, 0, sizeof *out);
    st = fr_text_file_read(path, MAX_DOCUMENT_BYTES, &text, err);
    return st != FR_OK ? st : parse(path, text, out, err);
}

void fr_document_free(struct fr_document *d)
{
    for (size_t i = 0; i < d->mistake_count; i++)
        free(d->mistakes[i].text);
    free(d->mistakes);
    json_decref(d->root);
    free(d->text);
    free(d->path);
    memset(d, 0, sizeof *d);
}
