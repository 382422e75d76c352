/* lexer.c - see lexer.h. */
#include "server/tsql/lexer.h"

#include "server/tsql/parser.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const keyword_names[] = {
#define KW_NAME(w) #w,
    TSQL_KEYWORDS(KW_NAME)
#undef KW_NAME
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Letters of other scripts arrive as UTF-8: every byte from 0x80 counts as a letter. */
static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#' ||
           (unsigned char)c >= 0x80;
}

static bool is_name_char(char c)
{
    return is_name_start(c) || is_digit(c) || c == '@' || c == '$';
}

void lexer_init(struct lexer *lx, const char *text, size_t bytes, bool quoted_identifier,
                struct arena *a)
{
    lx->at = text;
    lx->end = text + bytes;
    lx->prev_end = text;
    lx->line = 1;
    lx->quoted_identifier = quoted_identifier;
    lx->arena = a;
}

static char char_at(const struct lexer *lx, size_t i)
{
    return (size_t)(lx->end - lx->at) > i ? lx->at[i] : '\0';
}

static void advance(struct lexer *lx, size_t n)
{
    for (; n > 0; n--) {
        if (*lx->at == '\n')
            lx->line++;
        lx->at++;
    }
}

/* Behind a comment that starts here; comments nest. */
static bool skip_block_comment(struct lexer *lx, struct sqlerr *e)
{
    int depth = 0;

    do {
        if (char_at(lx, 0) == '/' && char_at(lx, 1) == '*') {
            depth++;
            advance(lx, 2);
        } else if (char_at(lx, 0) == '*' && char_at(lx, 1) == '/') {
            depth--;
            advance(lx, 2);
        } else if (lx->at == lx->end) {
            sqlerr_set(e, 113);
            e->line = lx->line;
            return false;
        } else {
            advance(lx, 1);
        }
    } while (depth > 0);
    return true;
}

/* Length of the blank that starts here: control characters, space, U+00A0, U+FEFF. */
static size_t blank_bytes(const struct lexer *lx)
{
    unsigned char c = (unsigned char)char_at(lx, 0);

    if (c <= 0x20)
        return 1;
    if (c == 0xC2 && (unsigned char)char_at(lx, 1) == 0xA0)
        return 2;
    if (c == 0xEF && (unsigned char)char_at(lx, 1) == 0xBB &&
        (unsigned char)char_at(lx, 2) == 0xBF)
        return 3;
    return 0;
}

static bool skip_blanks(struct lexer *lx, struct sqlerr *e)
{
    while (lx->at < lx->end) {
        size_t n = blank_bytes(lx);

        if (n > 0) {
            advance(lx, n);
        } else if (char_at(lx, 0) == '-' && char_at(lx, 1) == '-') {
            while (lx->at < lx->end && *lx->at != '\n')
                advance(lx, 1);
        } else if (char_at(lx, 0) == '/' && char_at(lx, 1) == '*') {
            if (!skip_block_comment(lx, e))
                return false;
        } else {
            break;
        }
    }
    return true;
}

static bool no_memory(struct sqlerr *e, int32_t line)
{
    sqlerr_set(e, 701, "default");
    e->line = line;
    return false;
}

static bool too_long(const struct lexer *lx, const struct token *t, struct sqlerr *e)
{
    char start[121];
    size_t n = t->text_bytes < sizeof start - 1 ? t->text_bytes : sizeof start - 1;

    (void)lx;
    memcpy(start, t->text, n);
    start[n] = '\0';
    sqlerr_set(e, 103, "identifier", start, (int)TSQL_MAX_NAME_CHARS);
    e->line = t->line;
    return false;
}

static bool check_name_length(const struct lexer *lx, const struct token *t,
                              struct sqlerr *e)
{
    size_t units = 0;

    for (size_t i = 0; i < t->text_bytes; i++) {
        unsigned char c = (unsigned char)t->text[i];

        if ((c & 0xC0) != 0x80)
            units += c >= 0xF0 ? 2 : 1;
    }
    return units <= TSQL_MAX_NAME_CHARS || too_long(lx, t, e);
}

/* 'x', "x" or [x] from the opening mark on; the closing mark doubled stands for itself.
 */
static bool lex_quoted(struct lexer *lx, char close, struct token *t, struct sqlerr *e)
{
    const char *start = lx->at + 1;
    size_t doubled = 0;
    char *out;
    size_t n;

    advance(lx, 1);
    for (;;) {
        if (lx->at == lx->end) {
            char text[65];

            n = (size_t)(lx->end - start);
            n = n < sizeof text - 1 ? n : sizeof text - 1;
            memcpy(text, start, n);
            text[n] = '\0';
            sqlerr_set(e, 105, text);
            e->line = t->line;
            return false;
        }
        if (*lx->at == close) {
            if (char_at(lx, 1) != close)
                break;
            doubled++;
            advance(lx, 1);
        }
        advance(lx, 1);
    }
    n = (size_t)(lx->at - start);
    out = arena_alloc(lx->arena, n - doubled + 1);
    if (out == NULL)
        return no_memory(e, t->line);
    t->text = out;
    t->text_bytes = n - doubled;
    for (const char *p = start; p < lx->at; p++) {
        *out++ = *p;
        if (*p == close)
            p++;
    }
    advance(lx, 1);
    return true;
}

static bool lex_quoted_name(struct lexer *lx, char close, struct token *t,
                            struct sqlerr *e)
{
    t->kind = TK_NAME;
    if (!lex_quoted(lx, close, t, e))
        return false;
    if (t->text_bytes == 0) {
        sqlerr_set(e, 1038);
        e->line = t->line;
        return false;
    }
    if (memchr(t->text, '\0', t->text_bytes) != NULL) {
        sqlerr_set(e, 102, t->text);
        e->line = t->line;
        return false;
    }
    return check_name_length(lx, t, e);
}

static int keyword_compare(const void *key, const void *row)
{
    return strcasecmp(key, *(const char *const *)row);
}

static enum keyword keyword_find(const char *word)
{
    const char *const *row =
        bsearch(word, keyword_names, sizeof keyword_names / sizeof keyword_names[0],
                sizeof keyword_names[0], keyword_compare);

    return row == NULL ? KW_NONE : (enum keyword)(row - keyword_names + 1);
}

static bool lex_word(struct lexer *lx, struct token *t, struct sqlerr *e)
{
    const char *start = lx->at;

    while (lx->at < lx->end && is_name_char(*lx->at))
        lx->at++;
    t->text_bytes = (size_t)(lx->at - start);
    t->text = arena_text(lx->arena, start, t->text_bytes);
    if (t->text == NULL)
        return no_memory(e, t->line);
    if (!check_name_length(lx, t, e))
        return false;
    if (*start == '@') {
        t->kind = t->text[1] == '@' ? TK_GLOBAL : TK_VARIABLE;
        if (t->text[1] == '\0' || (t->text[1] == '@' && t->text[2] == '\0')) {
            sqlerr_set(e, 102, t->text);
            e->line = t->line;
            return false;
        }
    } else {
        t->kind = TK_WORD;
        t->kw = keyword_find(t->text);
    }
    return true;
}

/* 12, 1.5, .5, 1e3, 1.e-3; "1e" is 1e0 as in SQL Server. */
static void lex_number(struct lexer *lx, struct token *t)
{
    t->kind = TK_INTEGER;
    while (is_digit(char_at(lx, 0)))
        lx->at++;
    if (char_at(lx, 0) == '.') {
        t->kind = TK_DECIMAL;
        lx->at++;
        while (is_digit(char_at(lx, 0)))
            lx->at++;
    }
    if (char_at(lx, 0) == 'e' || char_at(lx, 0) == 'E') {
        t->kind = TK_FLOAT;
        lx->at++;
        if (char_at(lx, 0) == '+' || char_at(lx, 0) == '-')
            lx->at++;
        while (is_digit(char_at(lx, 0)))
            lx->at++;
    }
}

static void lex_binary(struct lexer *lx, struct token *t)
{
    t->kind = TK_BINARY;
    lx->at += 2;
    while (is_hex(char_at(lx, 0)))
        lx->at++;
}

static void lex_money(struct lexer *lx, struct token *t)
{
    t->kind = TK_MONEY;
    lx->at++;
    while (is_digit(char_at(lx, 0)))
        lx->at++;
    if (char_at(lx, 0) == '.') {
        lx->at++;
        while (is_digit(char_at(lx, 0)))
            lx->at++;
    }
}

static bool lex_punct(struct lexer *lx, struct token *t, struct sqlerr *e)
{
    static const char pairs[][2] = {{'<', '='}, {'>', '='}, {'<', '>'}, {'!', '='},
                                    {'!', '<'}, {'!', '>'}, {'+', '='}, {'-', '='},
                                    {'*', '='}, {'/', '='}, {'%', '='}, {'&', '='},
                                    {'|', '='}, {'^', '='}, {':', ':'}};
    char c = char_at(lx, 0);
    char d = char_at(lx, 1);
    char text[2] = {c, '\0'};

    t->kind = TK_PUNCT;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i][0] == c && pairs[i][1] == d) {
            t->op = PUNCT2(c, d);
            lx->at += 2;
            return true;
        }
    }
    if (c != '\0' && strchr("(),;.+-*/%&|^~=<>:", c) != NULL) {
        t->op = (unsigned char)c;
        lx->at++;
        return true;
    }
    sqlerr_set(e, 102, text);
    e->line = t->line;
    return false;
}

static bool lex_token(struct lexer *lx, struct token *t, struct sqlerr *e)
{
    char c = char_at(lx, 0);
    char d = char_at(lx, 1);

    if (lx->at == lx->end) {
        t->kind = TK_END;
        return true;
    }
    if (c == '\'') {
        t->kind = TK_STRING;
        return lex_quoted(lx, '\'', t, e);
    }
    if ((c == 'N' || c == 'n') && d == '\'') {
        t->kind = TK_NSTRING;
        lx->at++;
        return lex_quoted(lx, '\'', t, e);
    }
    if (c == '[')
        return lex_quoted_name(lx, ']', t, e);
    if (c == '"' && lx->quoted_identifier)
        return lex_quoted_name(lx, '"', t, e);
    if (c == '"') {
        t->kind = TK_STRING;
        return lex_quoted(lx, '"', t, e);
    }
    if (is_name_start(c) || c == '@')
        return lex_word(lx, t, e);
    if (c == '0' && (d == 'x' || d == 'X')) {
        lex_binary(lx, t);
        return true;
    }
    if (is_digit(c) || (c == '.' && is_digit(d))) {
        lex_number(lx, t);
        return true;
    }
    if (c == '$' && is_name_start(d)) /* $PARTITION */
        return lex_word(lx, t, e);
    if (c == '$') {
        lex_money(lx, t);
        return true;
    }
    return lex_punct(lx, t, e);
}

bool lexer_next(struct lexer *lx, struct token *t, struct sqlerr *e)
{
    memset(t, 0, sizeof *t);
    lx->prev_end = lx->at;
    if (!skip_blanks(lx, e))
        return false;
    t->line = lx->line;
    t->source.p = lx->at;
    if (!lex_token(lx, t, e))
        return false;
    t->source.n = (size_t)(lx->at - t->source.p);
    return true;
}
