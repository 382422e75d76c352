/* The words of a T-SQL script. */
#include "db/ddl_priv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Comments of the second kind nest. */
static bool skip_comment(struct ddl *d)
{
    size_t depth = 0;

    do {
        if (d->end - d->p < 2)
            return false;
        if (d->p[0] == '/' && d->p[1] == '*') {
            depth++;
            d->p += 2;
        } else if (d->p[0] == '*' && d->p[1] == '/') {
            depth--;
            d->p += 2;
        } else {
            d->next_line += *d->p == '\n' ? 1 : 0;
            d->p++;
        }
    } while (depth > 0);
    return true;
}

/* False: a comment is not closed. */
static bool skip_space(struct ddl *d)
{
    while (d->p < d->end) {
        if (isspace((unsigned char)*d->p)) {
            d->next_line += *d->p == '\n' ? 1 : 0;
            d->p++;
        } else if (d->end - d->p > 1 && d->p[0] == '-' && d->p[1] == '-') {
            while (d->p < d->end && *d->p != '\n')
                d->p++;
        } else if (d->end - d->p > 1 && d->p[0] == '/' && d->p[1] == '*') {
            if (!skip_comment(d))
                return false;
        } else {
            break;
        }
    }
    return true;
}

/* Up to the closing character, which is doubled inside.  A string's text is not kept. */
static enum ddl_kind take_quoted(struct ddl *d, char close, enum ddl_kind kind)
{
    size_t n = 0;

    for (d->p++; d->p < d->end; d->p++) {
        if (*d->p == close) {
            if (d->end - d->p < 2 || d->p[1] != close) {
                d->p++;
                d->word[n] = '\0';
                return kind;
            }
            d->p++;
        }
        d->next_line += *d->p == '\n' ? 1 : 0;
        if (*d->p == '\0')
            break;
        if (kind == DDL_STRING)
            continue;
        if (n + 1 == sizeof d->word)
            break;
        d->word[n++] = *d->p;
    }
    d->word[n] = '\0';
    return DDL_BAD;
}

static bool is_word(char c)
{
    unsigned char u = (unsigned char)c;

    return isalnum(u) || u >= 0x80 || c == '_' || c == '#' || c == '@' || c == '$';
}

static enum ddl_kind take_plain(struct ddl *d)
{
    bool number = isdigit((unsigned char)*d->p);
    size_t n = 0;

    while (d->p < d->end && (is_word(*d->p) || (number && *d->p == '.'))) {
        if (n + 1 == sizeof d->word) {
            d->word[n] = '\0';
            return DDL_BAD;
        }
        d->word[n++] = *d->p++;
    }
    d->word[n] = '\0';
    return number ? DDL_NUMBER : DDL_WORD;
}

void ddl_next(struct ddl *d)
{
    bool closed = skip_space(d);

    d->line = d->next_line;
    d->word[0] = '\0';
    if (!closed) {
        d->kind = DDL_BAD;
        d->p = d->end;
    } else if (d->p == d->end) {
        d->kind = DDL_END;
    } else if (*d->p == '[') {
        d->kind = take_quoted(d, ']', DDL_NAME);
    } else if (*d->p == '"') {
        d->kind = take_quoted(d, '"', DDL_NAME);
    } else if (*d->p == '\'') {
        d->kind = take_quoted(d, '\'', DDL_STRING);
    } else if (d->end - d->p > 1 && (*d->p == 'N' || *d->p == 'n') && d->p[1] == '\'') {
        d->p++;
        d->kind = take_quoted(d, '\'', DDL_STRING);
    } else if (is_word(*d->p)) {
        d->kind = take_plain(d);
    } else {
        d->kind = *d->p == '\0' ? DDL_BAD : DDL_SIGN;
        d->word[0] = *d->p++;
        d->word[1] = '\0';
    }
    /* nothing is understood behind what is not closed */
    if (d->kind == DDL_BAD)
        d->p = d->end;
}

bool ddl_at(const struct ddl *d, const char *word)
{
    return (d->kind == DDL_WORD || d->kind == DDL_SIGN) && strcasecmp(d->word, word) == 0;
}

bool ddl_take(struct ddl *d, const char *word)
{
    if (!ddl_at(d, word))
        return false;
    ddl_next(d);
    return true;
}

bool ddl_at_name(const struct ddl *d)
{
    return (d->kind == DDL_WORD || d->kind == DDL_NAME) && d->word[0] != '\0';
}

bool ddl_skip_parentheses(struct ddl *d)
{
    size_t depth = 0;

    do {
        if (ddl_at(d, "("))
            depth++;
        else if (ddl_at(d, ")"))
            depth--;
        else if (d->kind == DDL_END || d->kind == DDL_BAD)
            return false;
        ddl_next(d);
    } while (depth > 0);
    return true;
}

fr_status ddl_error(const struct ddl *d, struct fr_err *err, const char *what)
{
    if (d->kind == DDL_END)
        return fr_err_set(err, FR_EDATA, "line %zu: the script ends: %s", d->line, what);
    if (d->kind == DDL_BAD)
        return fr_err_set(
            err, FR_EDATA,
            "line %zu: a name, string or comment is not closed, or too long", d->line);
    return fr_err_set(err, FR_EDATA, "line %zu, at \"%.128s\": %s", d->line,
                      d->kind == DDL_STRING ? "'...'" : d->word, what);
}
