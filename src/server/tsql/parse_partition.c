/* parse_partition.c - partition functions and schemes, filegroups and database files. */
#include "server/tsql/parse_priv.h"

#include <string.h>

/* ---- ON filegroup, ON scheme(column) ---- */

bool parse_data_space(struct parser *p, struct data_space_ref *on)
{
    if (!take_kw(p, KW_ON))
        return !p->failed;
    if (p->tok.kind == TK_STRING || at_kw(p, KW_PRIMARY) || at_kw(p, KW_DEFAULT)) {
        on->name = p->tok.text;
        return parse_advance(p);
    }
    on->name = parse_identifier(p);
    if (on->name == NULL || !take_op(p, '('))
        return on->name != NULL && !p->failed;
    on->column = parse_identifier(p);
    return on->column != NULL && need_op(p, ')');
}

/* ---- functions and schemes ---- */

static bool parse_values(struct parser *p, struct partition_stmt *s)
{
    if (!need_kw(p, KW_FOR) || !need_kw(p, KW_VALUES) || !need_op(p, '('))
        return false;
    if (take_op(p, ')'))
        return true;
    return parse_expr_list(p, &s->values, &s->nvalues) && need_op(p, ')');
}

static bool parse_create_function(struct parser *p, struct partition_stmt *s)
{
    if (!need_op(p, '(') || !parse_type(p, &s->type))
        return false;
    if (take_kw(p, KW_COLLATE) && (s->type.collation = parse_identifier(p)) == NULL)
        return false;
    if (!need_op(p, ')') || !need_kw(p, KW_AS) || !need_word(p, "RANGE"))
        return false;
    s->right = take_kw(p, KW_RIGHT);
    if (!s->right)
        take_kw(p, KW_LEFT);
    return parse_values(p, s);
}

static bool at_string(const struct parser *p)
{
    return p->tok.kind == TK_STRING;
}

static bool parse_create_scheme(struct parser *p, struct partition_stmt *s)
{
    if (!need_kw(p, KW_AS) || !need_word(p, "PARTITION") ||
        (s->function = parse_identifier(p)) == NULL)
        return false;
    s->all = take_kw(p, KW_ALL);
    if (!need_kw(p, KW_TO) || !need_op(p, '('))
        return false;
    return parse_names(p, at_string, &s->filegroups, &s->nfilegroups) && need_op(p, ')');
}

/* PARTITION is in hand. */
struct stmt *parse_partition_stmt(struct parser *p, bool drop)
{
    struct stmt *st = stmt_new(p, ST_PARTITION);
    struct partition_stmt *s = NEW(p, partition_stmt);
    bool function;

    if (st == NULL || s == NULL || !need_word(p, "PARTITION"))
        return NULL;
    st->u.partition = s;
    function = take_word(p, "FUNCTION");
    if (!function && !need_word(p, "SCHEME"))
        return NULL;
    s->verb = drop       ? function ? PARTITION_DROP_FUNCTION : PARTITION_DROP_SCHEME
              : function ? PARTITION_CREATE_FUNCTION
                         : PARTITION_CREATE_SCHEME;
    s->name = parse_identifier(p);
    if (s->name == NULL)
        return NULL;
    if (drop)
        return p->failed ? NULL : st;
    return (function ? parse_create_function(p, s) : parse_create_scheme(p, s)) ? st
                                                                                : NULL;
}

/* ---- ALTER DATABASE ... FILE, FILEGROUP ---- */

/* 64, 64MB, 10%: in pages of 8 KB. */
static bool parse_size(struct parser *p, struct file_size *out)
{
    static const struct {
        const char *word;
        int64_t bytes;
    } units[] = {{"KB", INT64_C(1) << 10},
                 {"MB", INT64_C(1) << 20},
                 {"GB", INT64_C(1) << 30},
                 {"TB", INT64_C(1) << 40}};
    int64_t n, unit = units[1].bytes;
    const int64_t page = 8192;

    if (p->tok.kind != TK_INTEGER)
        return parse_syntax_error(p);
    if (!parse_int64(p, &n))
        return false;
    out->given = true;
    out->pages = n;
    if (take_op(p, '%')) {
        out->percent = true;
        return !p->failed;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (take_word(p, units[i].word)) {
            unit = units[i].bytes;
            break;
        }
    /* sys.database_files has no room for more */
    if (n > INT32_MAX / (unit > page ? unit / page : 1)) {
        sqlerr_set(p->err, 5104, (long long)n);
        return parse_fail(p, p->tok.line);
    }
    out->pages = (n * unit + page - 1) / page;
    return !p->failed;
}

static bool parse_file_text(struct parser *p, const char **out)
{
    if (!need_op(p, '='))
        return false;
    if (p->tok.kind == TK_STRING || p->tok.kind == TK_NSTRING) {
        *out = p->tok.text;
        return parse_advance(p);
    }
    *out = parse_identifier(p);
    return *out != NULL;
}

static bool parse_file_option(struct parser *p, struct file_def *f)
{
    if (take_word(p, "NAME"))
        return parse_file_text(p, &f->name);
    if (take_word(p, "FILENAME"))
        return parse_file_text(p, &f->path);
    if (take_word(p, "SIZE"))
        return need_op(p, '=') && parse_size(p, &f->size);
    if (take_word(p, "FILEGROWTH"))
        return need_op(p, '=') && parse_size(p, &f->growth);
    if (!need_word(p, "MAXSIZE") || !need_op(p, '='))
        return false;
    f->max_size.given = true;
    f->max_size.pages = -1;
    return take_word(p, "UNLIMITED") || parse_size(p, &f->max_size);
}

static bool parse_file(struct parser *p, struct file_def *f)
{
    if (!need_op(p, '('))
        return false;
    do {
        if (!parse_file_option(p, f))
            return false;
    } while (take_op(p, ','));
    return (f->name != NULL && f->path != NULL && need_op(p, ')')) ||
           (!p->failed && parse_syntax_error(p));
}

static bool parse_add_files(struct parser *p, struct database_stmt *d)
{
    struct list l = LIST_OF(struct file_def);

    d->files_verb = FILES_ADD;
    do {
        struct file_def *f = list_add(p, &l);

        if (f == NULL || !parse_file(p, f))
            return false;
    } while (take_op(p, ','));
    d->files = l.items;
    d->nfiles = l.n;
    if (!take_kw(p, KW_TO))
        return !p->failed;
    return need_word(p, "FILEGROUP") && (d->filegroup = parse_identifier(p)) != NULL;
}

bool parse_database_files(struct parser *p, struct database_stmt *d, bool *found)
{
    *found = at_kw(p, KW_ADD) || at_word(p, "MODIFY") || at_word(p, "REMOVE");
    if (!*found)
        return !p->failed;
    if (take_kw(p, KW_ADD)) {
        if (take_kw(p, KW_FILE))
            return parse_add_files(p, d);
        d->files_verb = FILES_ADD_FILEGROUP;
        if (!need_word(p, "FILEGROUP") || (d->filegroup = parse_identifier(p)) == NULL)
            return false;
        return !at_word(p, "CONTAINS") ||
               parse_unsupported(p, "A filegroup of another kind");
    }
    if (take_word(p, "REMOVE")) {
        d->files_verb = FILES_REMOVE;
        if (take_kw(p, KW_FILE))
            return (d->file = parse_identifier(p)) != NULL;
        d->files_verb = FILES_REMOVE_FILEGROUP;
        return need_word(p, "FILEGROUP") && (d->filegroup = parse_identifier(p)) != NULL;
    }
    d->files_verb = FILES_DEFAULT_FILEGROUP;
    return parse_advance(p) &&
           (at_word(p, "FILEGROUP") || parse_unsupported(p, "ALTER DATABASE MODIFY")) &&
           need_word(p, "FILEGROUP") && (d->filegroup = parse_identifier(p)) != NULL &&
           (take_kw(p, KW_DEFAULT) ||
            parse_unsupported(p, "ALTER DATABASE MODIFY FILEGROUP other than DEFAULT"));
}

/* ---- TRUNCATE TABLE ... WITH (PARTITIONS (...)) ---- */

bool parse_truncate_partitions(struct parser *p, struct truncate_stmt *t)
{
    struct list l = LIST_OF(struct partition_range);

    if (!need_op(p, '(') || !need_word(p, "PARTITIONS") || !need_op(p, '('))
        return false;
    do {
        struct partition_range *r = list_add(p, &l);

        if (r == NULL || !parse_int64(p, &r->from))
            return false;
        r->to = r->from;
        if (take_kw(p, KW_TO) && !parse_int64(p, &r->to))
            return false;
    } while (take_op(p, ','));
    t->ranges = l.items;
    t->nranges = l.n;
    if (!need_op(p, ')'))
        return false;
    return need_op(p, ')');
}
