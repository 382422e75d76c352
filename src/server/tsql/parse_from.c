/* parse_from.c - FROM: tables, hints, derived tables, joins; VALUES lists. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

static struct source *parse_joins(struct parser *p);

static const struct {
    const char *word;
    uint32_t hint;
} hint_words[] = {
    {"UPDLOCK", HINT_UPDLOCK},
    {"READPAST", HINT_READPAST},
    {"ROWLOCK", HINT_ROWLOCK},
    {"NOLOCK", HINT_NOLOCK},
    {"READUNCOMMITTED", HINT_NOLOCK},
    {"TABLOCK", HINT_TABLOCK},
    {"TABLOCKX", HINT_TABLOCKX},
    {"HOLDLOCK", HINT_HOLDLOCK},
    {"SERIALIZABLE", HINT_HOLDLOCK},
    {"XLOCK", HINT_XLOCK},
    {"PAGLOCK", HINT_PAGLOCK},
    {"READCOMMITTED", HINT_READCOMMITTED},
    {"READCOMMITTEDLOCK", HINT_READCOMMITTEDLOCK},
    {"REPEATABLEREAD", HINT_REPEATABLEREAD},
    {"NOWAIT", HINT_NOWAIT},
    {"FORCESEEK", HINT_FORCESEEK},
    {"FORCESCAN", HINT_FORCESCAN},
    {"KEEPIDENTITY", HINT_KEEPIDENTITY},
    {"KEEPDEFAULTS", HINT_KEEPDEFAULTS},
    {"IGNORE_CONSTRAINTS", HINT_IGNORE_CONSTRAINTS},
    {"IGNORE_TRIGGERS", HINT_IGNORE_TRIGGERS},
    {"NOEXPAND", HINT_NOEXPAND},
    {"SNAPSHOT", HINT_SNAPSHOT},
};

static uint32_t hint_find(const struct token *t)
{
    for (size_t i = 0; i < sizeof hint_words / sizeof hint_words[0]; i++) {
        if (token_is_word(t, hint_words[i].word))
            return hint_words[i].hint;
    }
    return 0;
}

/* INDEX (a, 1) or INDEX = a */
static bool parse_index_hint(struct parser *p)
{
    bool list;

    take_op(p, '=');
    list = take_op(p, '(');
    do {
        if (p->tok.kind != TK_INTEGER && !at_name(p))
            return parse_syntax_error(p);
        if (!parse_advance(p))
            return false;
    } while (list && take_op(p, ','));
    return !list || need_op(p, ')');
}

static bool parse_hint_list(struct parser *p, uint32_t *hints)
{
    if (!need_op(p, '('))
        return false;
    do {
        uint32_t h = hint_find(&p->tok);

        if (at_kw(p, KW_INDEX)) {
            if (!parse_advance(p) || !parse_index_hint(p))
                return false;
            *hints |= HINT_INDEX;
            continue;
        }
        if (h == 0) {
            char word[65];
            size_t n =
                p->tok.source.n < sizeof word - 1 ? p->tok.source.n : sizeof word - 1;

            if (p->tok.kind != TK_WORD)
                return parse_syntax_error(p);
            memcpy(word, p->tok.source.p, n);
            word[n] = '\0';
            sqlerr_set(p->err, 321, word);
            return parse_fail(p, p->tok.line);
        }
        *hints |= h;
        if (!parse_advance(p))
            return false;
    } while (take_op(p, ',') || p->tok.kind == TK_WORD);
    return need_op(p, ')');
}

/* WITH (...), and the old form without WITH: (NOLOCK). */
bool parse_hints(struct parser *p, uint32_t *hints)
{
    struct token next;

    if (!at_kw(p, KW_WITH) && !at_op(p, '('))
        return !p->failed;
    next = parse_peek(p, 1);
    if (at_kw(p, KW_WITH)) {
        if (next.kind != TK_PUNCT || next.op != '(')
            return true; /* WITH of something else: the caller's */
        if (!parse_advance(p))
            return false;
    } else if (hint_find(&next) == 0) {
        return true;
    }
    return parse_hint_list(p, hints);
}

struct row_list *parse_rows(struct parser *p)
{
    struct row_list *rows = NEW(p, row_list);
    struct list l = LIST_OF(struct expr **);

    if (rows == NULL)
        return NULL;
    do {
        struct list row = LIST_OF(struct expr *);
        struct expr ***slot = list_add(p, &l);

        if (slot == NULL || !need_op(p, '('))
            return NULL;
        do {
            struct expr **x = list_add(p, &row);

            if (x == NULL)
                return NULL;
            if (at_kw(p, KW_DEFAULT)) {
                *x = expr_new(p, EX_DEFAULT, p->tok.line, p->tok.source.p);
                if (*x == NULL || !parse_advance(p) || !expr_close(p, *x))
                    return NULL;
            } else {
                *x = parse_expr(p);
                if (*x == NULL)
                    return NULL;
            }
        } while (take_op(p, ','));
        if (!need_op(p, ')'))
            return NULL;
        if (l.n > 1 && row.n != rows->ncolumns) {
            sqlerr_set(p->err, 10709);
            parse_fail(p, p->tok.line);
            return NULL;
        }
        *slot = row.items;
        rows->ncolumns = row.n;
    } while (take_op(p, ','));
    rows->rows = l.items;
    rows->nrows = l.n;
    return p->failed ? NULL : rows;
}

/* [AS] alias [(columns)] */
static bool parse_source_alias(struct parser *p, struct source *s, bool columns)
{
    bool as = take_kw(p, KW_AS);

    if (as || at_name(p)) {
        s->alias = parse_identifier(p);
        if (s->alias == NULL)
            return false;
    }
    if (columns && s->alias != NULL && at_op(p, '('))
        return parse_identifier_list(p, &s->columns, &s->ncolumns);
    return !p->failed;
}

static struct source *source_new(struct parser *p, enum source_kind kind)
{
    struct source *s = NEW(p, source);

    if (s != NULL) {
        s->kind = kind;
        s->line = p->tok.line;
    }
    return s;
}

/* (SELECT ...) a, (VALUES ...) a(x), or joins in parentheses. */
static struct source *parse_paren_source(struct parser *p)
{
    struct token next = parse_peek(p, 1);
    bool values = next.kind == TK_WORD && next.kw == KW_VALUES;
    struct source *s;

    if (!values && !at_query(p)) {
        if (!parse_enter(p) || !need_op(p, '('))
            return NULL;
        s = parse_joins(p);
        parse_leave(p);
        return s != NULL && need_op(p, ')') ? s : NULL;
    }
    s = source_new(p, values ? SRC_VALUES : SRC_QUERY);
    if (s == NULL)
        return NULL;
    if (values) {
        parse_advance(p);
        parse_advance(p);
        s->values = parse_rows(p);
        if (s->values == NULL || !need_op(p, ')'))
            return NULL;
    } else {
        s->query = parse_subquery(p);
        if (s->query == NULL)
            return NULL;
    }
    if (!parse_source_alias(p, s, true))
        return NULL;
    if (s->alias == NULL) {
        parse_syntax_error(p);
        return NULL;
    }
    return s;
}

static struct source *parse_function_source(struct parser *p, struct source *s)
{
    struct func_expr *f = NEW(p, func_expr);

    if (f == NULL || !parse_advance(p))
        return NULL;
    s->kind = SRC_FUNCTION;
    s->func = f;
    f->name = s->name;
    if (!at_op(p, ')') && !parse_expr_list(p, &f->args, &f->nargs))
        return NULL;
    if (!need_op(p, ')'))
        return NULL;
    if (at_kw(p, KW_WITH) && strcasecmp(f->name.object, "OPENJSON") == 0) {
        parse_unsupported(p, "OPENJSON ... WITH");
        return NULL;
    }
    return parse_source_alias(p, s, true) ? s : NULL;
}

static bool refuse_table_words(struct parser *p)
{
    static const struct {
        enum keyword kw;
        const char *what;
    } words[] = {{KW_OPENROWSET, "OPENROWSET"},   {KW_OPENQUERY, "OPENQUERY"},
                 {KW_OPENXML, "OPENXML"},         {KW_OPENDATASOURCE, "OPENDATASOURCE"},
                 {KW_TABLESAMPLE, "TABLESAMPLE"}, {KW_PIVOT, "PIVOT"},
                 {KW_UNPIVOT, "UNPIVOT"}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (at_kw(p, words[i].kw))
            return parse_unsupported(p, words[i].what);
    }
    return !p->failed;
}

static struct source *parse_primary_source(struct parser *p)
{
    struct source *s;
    struct token next;

    if (at_op(p, '('))
        return parse_paren_source(p);
    if (!refuse_table_words(p))
        return NULL;
    s = source_new(p, p->tok.kind == TK_VARIABLE ? SRC_VARIABLE : SRC_TABLE);
    if (s == NULL)
        return NULL;
    if (s->kind == SRC_VARIABLE) {
        s->name.line = p->tok.line;
        s->name.object = lower_text(p, p->tok.text);
        if (!parse_advance(p))
            return NULL;
    } else if (!parse_name(p, &s->name)) {
        return NULL;
    }
    next = parse_peek(p, 1);
    if (s->kind == SRC_TABLE && at_op(p, '(') && hint_find(&next) == 0)
        return parse_function_source(p, s);
    if (!parse_hints(p, &s->hints) || !parse_source_alias(p, s, false) ||
        !parse_hints(p, &s->hints) || !refuse_table_words(p))
        return NULL;
    return s;
}

/* Which join starts here; false: none. The words are taken. */
static bool take_join(struct parser *p, enum join_kind *kind)
{
    static const struct {
        enum keyword kw;
        enum join_kind kind;
    } words[] = {{KW_INNER, JOIN_INNER},
                 {KW_LEFT, JOIN_LEFT},
                 {KW_RIGHT, JOIN_RIGHT},
                 {KW_FULL, JOIN_FULL}};

    if (at_kw(p, KW_CROSS) || at_kw(p, KW_OUTER)) {
        bool outer = at_kw(p, KW_OUTER);

        if (!parse_advance(p))
            return false;
        if (take_word(p, "APPLY")) {
            *kind = outer ? JOIN_OUTER_APPLY : JOIN_CROSS_APPLY;
            return true;
        }
        *kind = JOIN_CROSS;
        return !outer ? need_kw(p, KW_JOIN) : parse_syntax_error(p);
    }
    if (take_kw(p, KW_JOIN)) {
        *kind = JOIN_INNER;
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!take_kw(p, words[i].kw))
            continue;
        *kind = words[i].kind;
        if (*kind != JOIN_INNER)
            take_kw(p, KW_OUTER);
        if (!take_word(p, "LOOP") && !take_word(p, "HASH"))
            take_kw(p, KW_MERGE);
        return need_kw(p, KW_JOIN);
    }
    return false;
}

/*
 * a JOIN b ON ... JOIN c ON ...; "a JOIN b JOIN c ON x ON y" nests to the right: the
 * right side takes joins of its own as long as no ON follows.
 */
static struct source *parse_join_rest(struct parser *p, struct source *left, int open)
{
    enum join_kind kind;
    unsigned joined = 0;

    while (left != NULL && take_join(p, &kind)) {
        struct source *s = source_new(p, SRC_JOIN);

        if (s == NULL || ++joined > TSQL_MAX_DEPTH) {
            if (s != NULL) {
                sqlerr_set(p->err, 191);
                parse_fail(p, p->tok.line);
            }
            return NULL;
        }
        s->join = kind;
        s->left = left;
        s->right = parse_primary_source(p);
        if (s->right == NULL)
            return NULL;
        if (kind < JOIN_CROSS) {
            if (!at_kw(p, KW_ON)) {
                if (!parse_enter(p))
                    return NULL;
                s->right = parse_join_rest(p, s->right, open + 1);
                parse_leave(p);
                if (s->right == NULL)
                    return NULL;
            }
            if (!need_kw(p, KW_ON))
                return NULL;
            /* cppcheck takes the loop's test of left for a test of s */
            /* cppcheck-suppress nullPointerRedundantCheck */
            s->on = parse_condition(p);
            /* cppcheck-suppress nullPointerRedundantCheck */
            if (s->on == NULL)
                return NULL;
        }
        left = s;
        if (open > 0 && at_kw(p, KW_ON))
            break;
    }
    return p->failed ? NULL : left;
}

static struct source *parse_joins(struct parser *p)
{
    struct source *s = parse_primary_source(p);

    return s == NULL ? NULL : parse_join_rest(p, s, 0);
}

bool parse_from(struct parser *p, struct source ***from, size_t *n)
{
    struct list l = LIST_OF(struct source *);

    do {
        struct source *s = parse_joins(p);
        struct source **slot = s == NULL ? NULL : list_add(p, &l);

        if (slot == NULL)
            return false;
        *slot = s;
    } while (take_op(p, ','));
    *from = l.items;
    *n = l.n;
    return !p->failed;
}
