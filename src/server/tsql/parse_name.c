/* parse_name.c - identifiers, multi-part names, data types, small lists. */
#include "server/tsql/parse_priv.h"

#include "server/value/collation.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool at_name(const struct parser *p)
{
    return p->tok.kind == TK_NAME || (p->tok.kind == TK_WORD && p->tok.kw == KW_NONE);
}

const char *parse_identifier(struct parser *p)
{
    const char *text = p->tok.text;

    if (!at_name(p)) {
        parse_syntax_error(p);
        return NULL;
    }
    return parse_advance(p) ? text : NULL;
}

/*
 * a, a.b, a..b, a.b.c, a.b.c.d: the parts fill from the right.  A first part may
 * also be a table variable ("@t.c").
 */
bool parse_name(struct parser *p, struct name *out)
{
    const char *parts[4] = {NULL, NULL, NULL, NULL};
    int n = 0;

    memset(out, 0, sizeof *out);
    out->line = p->tok.line;
    for (;;) {
        if (n == 4) {
            sqlerr_set(p->err, 117, "object", parts[0] == NULL ? "" : parts[0], 4);
            return parse_fail(p, out->line);
        }
        if (at_op(p, '.') && n > 0) {
            parts[n++] = NULL; /* an empty part: "db..t" */
        } else {
            if (n > 0 && p->tok.kind == TK_WORD && p->tok.kw != KW_NONE)
                return parse_syntax_error(p);
            parts[n] = parse_identifier(p);
            if (parts[n++] == NULL)
                return false;
        }
        if (!take_op(p, '.'))
            break;
    }
    out->object = parts[n - 1];
    out->schema = n > 1 ? parts[n - 2] : NULL;
    out->database = n > 2 ? parts[n - 3] : NULL;
    out->server = n > 3 ? parts[n - 4] : NULL;
    return out->object != NULL || parse_syntax_error(p);
}

const char *lower_text(struct parser *p, const char *text)
{
    char *copy = text == NULL || p->failed ? NULL : parse_new(p, strlen(text) + 1);

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; text[i] != '\0'; i++)
        copy[i] = (char)((unsigned char)text[i] < 0x80 ? tolower((unsigned char)text[i])
                                                       : text[i]);
    return copy;
}

const char *use_variable(struct parser *p)
{
    const char *name = lower_text(p, p->tok.text);
    struct variable_use *use = p->uses.items;

    for (size_t i = 0; i < p->uses.n && name != NULL; i++) {
        if (strcmp(use[i].name, name) == 0)
            return name;
    }
    use = name == NULL || p->uses.n >= TSQL_MAX_USES ? NULL : list_add(p, &p->uses);
    if (use != NULL) {
        use->name = name;
        use->line = p->tok.line;
    }
    return name;
}

/* The long spellings of the standard; VARYING behind a name makes it the variable form.
 */
static const char *type_words(struct parser *p)
{
    static const struct {
        const char *word, *varying;
    } vary[] = {{"char", "varchar"},           {"character", "varchar"},
                {"nchar", "nvarchar"},         {"binary", "varbinary"},
                {"national char", "nvarchar"}, {"national character", "nvarchar"}};
    const char *word;

    if (take_kw(p, KW_DOUBLE))
        return need_word(p, "PRECISION") ? "float" : NULL;
    if (take_kw(p, KW_NATIONAL)) {
        if (take_word(p, "text"))
            return "ntext";
        if (!take_word(p, "char") && !need_word(p, "character"))
            return NULL;
        word = "nchar";
    } else {
        word = parse_identifier(p);
    }
    if (word == NULL || !at_kw(p, KW_VARYING))
        return word;
    for (size_t i = 0; i < sizeof vary / sizeof vary[0]; i++) {
        if (strcasecmp(vary[i].word, word) == 0)
            return parse_advance(p) ? vary[i].varying : NULL;
    }
    parse_syntax_error(p);
    return NULL;
}

static bool parse_type_args(struct parser *p, struct type_ref *out)
{
    if (!take_op(p, '('))
        return true;
    if (take_word(p, "max")) {
        out->max = true;
        return need_op(p, ')');
    }
    do {
        int64_t v = 0;

        if (out->nargs == 2 || p->tok.kind != TK_INTEGER)
            return parse_syntax_error(p);
        if (!parse_int64(p, &v))
            return false;
        out->args[out->nargs++] = v > INT32_MAX ? INT32_MAX : (int32_t)v;
    } while (take_op(p, ','));
    return need_op(p, ')');
}

bool parse_type(struct parser *p, struct type_ref *out)
{
    memset(out, 0, sizeof *out);
    out->name.line = p->tok.line;
    out->name.object = type_words(p);
    if (out->name.object == NULL)
        return false;
    if (take_op(p, '.')) {
        out->name.schema = out->name.object;
        out->name.object = parse_identifier(p);
        if (out->name.object == NULL)
            return false;
    }
    if (!parse_type_args(p, out))
        return false;
    if (take_kw(p, KW_COLLATE)) {
        out->collation = parse_identifier(p);
        return out->collation != NULL;
    }
    return !p->failed;
}

bool type_ref_resolve(const struct type_ref *ref, struct sqltype *out, struct sqlerr *e)
{
    struct type_args args = {.count = ref->nargs, .max = ref->max};
    uint32_t collation = 0;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < ref->nargs; i++)
        args.arg[i] = ref->args[i];
    if (ref->name.schema != NULL && strcasecmp(ref->name.schema, "sys") != 0) {
        sqlerr_set(e, 2715, 0, ref->name.object);
        e->line = ref->name.line;
        return false;
    }
    args.in_cast = ref->in_cast;
    if (!type_parse(ref->name.object, strlen(ref->name.object), &args, out, e)) {
        e->line = ref->name.line;
        return false;
    }
    if (ref->collation == NULL)
        return true;
    if (strcasecmp(ref->collation, "database_default") == 0 ||
        strcasecmp(ref->collation, "catalog_default") == 0)
        return true;
    if (!type_is_string(out->id) || out->id == TY_XML) {
        sqlerr_set(e, 452, "COLLATE");
        e->line = ref->name.line;
        return false;
    }
    if (!collation_find(ref->collation, strlen(ref->collation), &collation)) {
        sqlerr_set(e, 448, ref->collation);
        e->line = ref->name.line;
        return false;
    }
    out->collation = collation;
    return true;
}

bool parse_names(struct parser *p, bool (*instead)(const struct parser *p),
                 const char ***names, size_t *n)
{
    struct list l = LIST_OF(const char *);

    do {
        const char **item = list_add(p, &l);

        if (item == NULL)
            return false;
        *item = instead != NULL && instead(p) ? p->tok.text : NULL;
        if (*item != NULL ? !parse_advance(p) : (*item = parse_identifier(p)) == NULL)
            return false;
    } while (take_op(p, ','));
    *names = l.items;
    *n = l.n;
    return !p->failed;
}

bool parse_identifier_list(struct parser *p, const char ***names, size_t *n)
{
    return need_op(p, '(') && parse_names(p, NULL, names, n) && need_op(p, ')');
}

bool parse_index_columns(struct parser *p, struct index_column **cols, size_t *n)
{
    struct list l = LIST_OF(struct index_column);

    if (!need_op(p, '('))
        return false;
    do {
        struct index_column *c = list_add(p, &l);

        if (c == NULL)
            return false;
        c->name = parse_identifier(p);
        if (c->name == NULL)
            return false;
        c->desc = take_kw(p, KW_DESC);
        if (!c->desc)
            take_kw(p, KW_ASC);
    } while (take_op(p, ','));
    *cols = l.items;
    *n = l.n;
    return need_op(p, ')');
}

bool parse_int64(struct parser *p, int64_t *out)
{
    bool negative = take_op(p, '-');
    uint64_t v = 0;

    if (!negative)
        take_op(p, '+');
    if (p->tok.kind != TK_INTEGER)
        return parse_syntax_error(p);
    for (size_t i = 0; i < p->tok.source.n; i++) {
        unsigned digit = (unsigned)(p->tok.source.p[i] - '0');

        if (v > ((uint64_t)INT64_MAX - digit) / 10)
            return parse_syntax_error(p);
        v = v * 10 + digit;
    }
    *out = negative ? -(int64_t)v : (int64_t)v;
    return parse_advance(p);
}
