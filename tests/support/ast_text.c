/* ast_text.c - see ast_text.h. */
#include "ast_text.h"

#include "server/value/number.h"

#include <inttypes.h>

static void put_query(struct fr_buf *b, const struct query *q);

static void put_name(struct fr_buf *b, const struct name *n)
{
    const char *parts[] = {n->server, n->database, n->schema};

    for (size_t i = 0; i < 3; i++) {
        if (parts[i] != NULL)
            fr_buf_printf(b, "%s.", parts[i]);
        else if (i == 2 && n->database != NULL)
            fr_buf_add_byte(b, '.');
    }
    fr_buf_add_str(b, n->object == NULL ? "*" : n->object);
}

static void put_type(struct fr_buf *b, const struct type_ref *t)
{
    put_name(b, &t->name);
    if (t->max)
        fr_buf_add_str(b, "(max)");
    for (int i = 0; i < t->nargs; i++)
        fr_buf_printf(b, "%s%" PRId32 "%s", i == 0 ? "(" : ",", t->args[i],
                      i + 1 == t->nargs ? ")" : "");
    if (t->collation != NULL)
        fr_buf_printf(b, "~%s", t->collation);
}

static void put_literal(struct fr_buf *b, const struct value *v)
{
    char type[TYPE_NAME_BYTES], digits[DECIMAL_TEXT_BYTES];

    if (v->is_null) {
        fr_buf_add_str(b, "NULL");
        return;
    }
    if (v->type.id == TY_INT) {
        fr_buf_printf(b, "%" PRId64, v->u.i);
        return;
    }
    fr_buf_printf(b, "%s:", type_format(&v->type, type, sizeof type));
    if (v->type.id == TY_DECIMAL) {
        decimal_format(v->u.dec, v->type.scale, digits);
        fr_buf_add_str(b, digits);
    } else if (v->type.id == TY_FLOAT) {
        fr_buf_printf(b, "%g", v->u.f);
    } else if (type_is_binary(v->type.id)) {
        for (size_t i = 0; i < v->u.s.n; i++)
            fr_buf_printf(b, "%02X", (unsigned char)v->u.s.p[i]);
    } else if (type_is_string(v->type.id)) {
        fr_buf_add(b, v->u.s.p, v->u.s.n);
    } else {
        fr_buf_printf(b, "%" PRId64, v->u.i);
    }
}

static const char *const op_names[] = {"?", "neg", "pos", "~",  "+", "-",
                                       "*", "/",   "%",   "&",  "|", "^",
                                       "=", "<>",  "<",   "<=", ">", ">="};
static const char *const kind_names[] = {
    [EX_AND] = "and",        [EX_OR] = "or",           [EX_NOT] = "not",
    [EX_IS_NULL] = "isnull", [EX_BETWEEN] = "between", [EX_LIKE] = "like",
    [EX_IN_LIST] = "in",     [EX_IN_QUERY] = "in",     [EX_EXISTS] = "exists",
    [EX_SUBQUERY] = "query", [EX_COLLATE] = "collate",
};

static void put_args(struct fr_buf *b, struct expr *const *args, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fr_buf_add_byte(b, ' ');
        ast_text_expr(b, args[i]);
    }
}

static void put_order(struct fr_buf *b, const struct order_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fr_buf_add_str(b, i == 0 ? " order " : ",");
        ast_text_expr(b, items[i].expr);
        if (items[i].desc)
            fr_buf_add_str(b, " desc");
    }
}

static void put_function(struct fr_buf *b, const struct func_expr *f)
{
    fr_buf_add_byte(b, '(');
    put_name(b, &f->name);
    fr_buf_add_str(b, f->distinct ? " distinct" : f->star ? " *" : "");
    put_args(b, f->args, f->nargs);
    if (f->over != NULL) {
        fr_buf_add_str(b, " over");
        put_args(b, f->over->partition, f->over->npartition);
        put_order(b, f->over->order, f->over->norder);
        if (f->over->frame.n > 0)
            fr_buf_printf(b, " %.*s", (int)f->over->frame.n, f->over->frame.p);
    }
    put_order(b, f->within, f->nwithin);
    fr_buf_add_byte(b, ')');
}

static void put_case(struct fr_buf *b, const struct expr *x)
{
    fr_buf_add_str(b, "(case");
    if (x->u.case_parts.operand != NULL)
        put_args(b, &x->u.case_parts.operand, 1);
    for (size_t i = 0; i < x->u.case_parts.nwhens; i++) {
        fr_buf_add_str(b, " when");
        put_args(b, &x->u.case_parts.whens[i].when, 1);
        put_args(b, &x->u.case_parts.whens[i].then, 1);
    }
    if (x->u.case_parts.otherwise != NULL) {
        fr_buf_add_str(b, " else");
        put_args(b, &x->u.case_parts.otherwise, 1);
    }
    fr_buf_add_byte(b, ')');
}

static void put_cast(struct fr_buf *b, const struct expr *x)
{
    fr_buf_printf(b, "(%s ", x->u.cast.try_ ? "try" : "cast");
    put_type(b, &x->u.cast.type);
    put_args(b, x->args, x->nargs);
    if (x->u.cast.style != NULL)
        put_args(b, &x->u.cast.style, 1);
    fr_buf_add_byte(b, ')');
}

void ast_text_expr(struct fr_buf *b, const struct expr *x)
{
    switch (x->kind) {
    case EX_LITERAL:
        put_literal(b, &x->u.literal);
        return;
    case EX_DEFAULT:
        fr_buf_add_str(b, "DEFAULT");
        return;
    case EX_COLUMN:
    case EX_STAR:
        put_name(b, &x->u.column);
        return;
    case EX_VARIABLE:
        fr_buf_add_str(b, x->u.text);
        return;
    case EX_FUNCTION:
        put_function(b, x->u.func);
        return;
    case EX_CASE:
        put_case(b, x);
        return;
    case EX_CAST:
        put_cast(b, x);
        return;
    case EX_UNARY:
    case EX_BINARY:
    case EX_COMPARE:
        fr_buf_printf(b, "(%s", op_names[x->op]);
        break;
    case EX_QUANTIFIED:
        fr_buf_printf(b, "(%s-%s", op_names[x->op], x->all ? "all" : "any");
        break;
    default:
        fr_buf_printf(b, "(%s%s", x->negated ? "not-" : "", kind_names[x->kind]);
        break;
    }
    put_args(b, x->args, x->nargs);
    if (x->kind == EX_IN_QUERY || x->kind == EX_EXISTS || x->kind == EX_SUBQUERY ||
        x->kind == EX_QUANTIFIED) {
        fr_buf_add_byte(b, ' ');
        put_query(b, x->u.query);
    }
    if (x->kind == EX_COLLATE)
        fr_buf_printf(b, " %s", x->u.text);
    fr_buf_add_byte(b, ')');
}

/* ---- queries ---- */

static void put_items(struct fr_buf *b, const struct select_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fr_buf_add_str(b, i == 0 ? " " : ",");
        if (items[i].variable != NULL)
            fr_buf_printf(b, "%s%s=", items[i].variable,
                          items[i].assign_op == OP_NONE ? ""
                                                        : op_names[items[i].assign_op]);
        ast_text_expr(b, items[i].expr);
        if (items[i].alias != NULL)
            fr_buf_printf(b, ":%s", items[i].alias);
    }
}

static void put_rows(struct fr_buf *b, const struct row_list *r)
{
    for (size_t i = 0; i < r->nrows; i++) {
        fr_buf_add_str(b, " {");
        put_args(b, r->rows[i], r->ncolumns);
        fr_buf_add_str(b, " }");
    }
}

static void put_source(struct fr_buf *b, const struct source *s)
{
    static const char *const joins[] = {"inner", "left",  "right",      "full",
                                        "cross", "apply", "outer-apply"};

    if (s->kind == SRC_JOIN) {
        fr_buf_printf(b, "(%s ", joins[s->join]);
        put_source(b, s->left);
        fr_buf_add_byte(b, ' ');
        put_source(b, s->right);
        if (s->on != NULL)
            put_args(b, &s->on, 1);
        fr_buf_add_byte(b, ')');
        return;
    }
    if (s->kind == SRC_QUERY) {
        put_query(b, s->query);
    } else if (s->kind == SRC_VALUES) {
        put_rows(b, s->values);
    } else if (s->kind == SRC_FUNCTION) {
        put_function(b, s->func);
    } else {
        put_name(b, &s->name);
    }
    if (s->alias != NULL)
        fr_buf_printf(b, ":%s", s->alias);
    for (size_t i = 0; i < s->ncolumns; i++)
        fr_buf_printf(b, "%s%s", i == 0 ? "/" : ",", s->columns[i]);
    if (s->hints != 0)
        fr_buf_printf(b, "#%" PRIx32, s->hints);
}

static void put_from(struct fr_buf *b, struct source *const *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fr_buf_add_str(b, i == 0 ? " from " : ",");
        put_source(b, from[i]);
    }
}

static void put_where(struct fr_buf *b, const char *word, struct expr *x)
{
    if (x != NULL) {
        fr_buf_printf(b, " %s ", word);
        ast_text_expr(b, x);
    }
}

static void put_top(struct fr_buf *b, const struct top *t)
{
    if (t != NULL)
        put_where(b, t->percent ? "top%" : t->with_ties ? "topties" : "top", t->count);
}

static void put_term(struct fr_buf *b, const struct query_term *t)
{
    static const char *const ops[] = {"union", "union-all", "except", "intersect"};
    const struct query_spec *s = t->spec;

    if (t->kind == TERM_SETOP) {
        fr_buf_printf(b, "(%s ", ops[t->op]);
        put_term(b, t->left);
        fr_buf_add_byte(b, ' ');
        put_term(b, t->right);
        fr_buf_add_byte(b, ')');
        return;
    }
    fr_buf_add_str(b, s->distinct ? "select distinct" : "select");
    put_top(b, s->top);
    put_items(b, s->items, s->nitems);
    if (s->into != NULL) {
        fr_buf_add_str(b, " into ");
        put_name(b, s->into);
    }
    put_from(b, s->from, s->nfrom);
    put_where(b, "where", s->where);
    if (s->ngroup > 0)
        fr_buf_add_str(b, " group");
    put_args(b, s->group, s->ngroup);
    put_where(b, "having", s->having);
}

static void put_ctes(struct fr_buf *b, const struct cte *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fr_buf_printf(b, "%s%s=", i == 0 ? "with " : ",", c[i].name);
        put_query(b, c[i].query);
        fr_buf_add_byte(b, ' ');
    }
}

static void put_query(struct fr_buf *b, const struct query *q)
{
    fr_buf_add_byte(b, '[');
    put_ctes(b, q->ctes, q->nctes);
    put_term(b, q->body);
    put_order(b, q->order, q->norder);
    put_where(b, "offset", q->offset);
    put_where(b, "fetch", q->fetch);
    fr_buf_add_byte(b, ']');
}

/* ---- statements ---- */

static void put_output(struct fr_buf *b, const struct output_clause *o)
{
    if (o == NULL)
        return;
    fr_buf_add_str(b, " output");
    put_items(b, o->items, o->nitems);
    if (o->into != NULL) {
        fr_buf_add_str(b, " into ");
        put_name(b, o->into);
    }
}

static void put_insert(struct fr_buf *b, const struct insert_stmt *s)
{
    put_ctes(b, s->ctes, s->nctes);
    fr_buf_add_str(b, "insert");
    put_top(b, s->top);
    fr_buf_add_byte(b, ' ');
    put_name(b, &s->target);
    for (size_t i = 0; i < s->ncolumns; i++)
        fr_buf_printf(b, "%s%s", i == 0 ? "/" : ",", s->columns[i]);
    put_output(b, s->output);
    if (s->default_values)
        fr_buf_add_str(b, " default");
    if (s->values != NULL)
        put_rows(b, s->values);
    if (s->query != NULL)
        put_query(b, s->query);
    if (s->exec != NULL)
        ast_text(b, s->exec);
}

static void put_update(struct fr_buf *b, const struct update_stmt *s)
{
    put_ctes(b, s->ctes, s->nctes);
    fr_buf_add_str(b, "update");
    put_top(b, s->top);
    fr_buf_add_byte(b, ' ');
    put_name(b, &s->target);
    for (size_t i = 0; i < s->nsets; i++) {
        fr_buf_add_str(b, i == 0 ? " set " : ",");
        if (s->sets[i].variable != NULL)
            fr_buf_printf(b, "%s=", s->sets[i].variable);
        if (s->sets[i].column.object != NULL) {
            put_name(b, &s->sets[i].column);
            fr_buf_printf(b,
                          "%s=", s->sets[i].op == OP_NONE ? "" : op_names[s->sets[i].op]);
        }
        ast_text_expr(b, s->sets[i].expr);
    }
    put_output(b, s->output);
    put_from(b, s->from, s->nfrom);
    put_where(b, "where", s->where);
}

static void put_delete(struct fr_buf *b, const struct delete_stmt *s)
{
    put_ctes(b, s->ctes, s->nctes);
    fr_buf_add_str(b, "delete");
    put_top(b, s->top);
    fr_buf_add_byte(b, ' ');
    put_name(b, &s->target);
    put_output(b, s->output);
    put_from(b, s->from, s->nfrom);
    put_where(b, "where", s->where);
}

static void put_constraint(struct fr_buf *b, const struct constraint_def *c)
{
    static const char *const kinds[] = {"pk", "unique", "check", "fk", "default"};

    fr_buf_printf(b, " (%s%s%s", kinds[c->kind], c->name == NULL ? "" : ":",
                  c->name == NULL ? "" : c->name);
    for (size_t i = 0; i < c->ncolumns; i++)
        fr_buf_printf(b, " %s%s", c->columns[i].name, c->columns[i].desc ? "-" : "");
    if (c->kind == CON_FOREIGN_KEY) {
        fr_buf_add_str(b, " -> ");
        put_name(b, &c->references);
    }
    put_where(b, "as", c->expr);
    fr_buf_add_byte(b, ')');
}

static void put_table(struct fr_buf *b, const struct table_def *t)
{
    for (size_t i = 0; i < t->ncolumns; i++) {
        const struct column_def *c = &t->columns[i];

        fr_buf_printf(b, " %s:", c->name);
        if (c->computed != NULL)
            ast_text_expr(b, c->computed);
        else
            put_type(b, &c->type);
        fr_buf_printf(b, "%s%s%s%s", c->not_null ? "!" : "", c->null_given ? "?" : "",
                      c->identity ? "#" : "", c->persisted ? "$" : "");
        for (size_t k = 0; k < c->nconstraints; k++)
            put_constraint(b, &c->constraints[k]);
    }
    for (size_t i = 0; i < t->nconstraints; i++)
        put_constraint(b, &t->constraints[i]);
    for (size_t i = 0; i < t->nindexes; i++)
        fr_buf_printf(b, " (index %s)", t->indexes[i].name);
}

static void put_alter(struct fr_buf *b, const struct alter_table_stmt *a)
{
    static const char *const kinds[] = {
        "add",     "drop-column",    "drop-constraint", "column",  "check",
        "nocheck", "enable-trigger", "disable-trigger", "rebuild", "set"};

    fr_buf_add_str(b, "alter ");
    put_name(b, &a->table);
    fr_buf_printf(b, " %s%s", kinds[a->kind], a->all_names ? " all" : "");
    put_table(b, &a->def);
    for (size_t i = 0; i < a->nnames; i++)
        fr_buf_printf(b, " %s", a->names[i]);
}

static void put_exec(struct fr_buf *b, const struct exec_stmt *x)
{
    fr_buf_printf(b, "exec %s%s", x->result == NULL ? "" : x->result,
                  x->result == NULL ? "" : "=");
    if (x->dynamic != NULL) {
        ast_text_expr(b, x->dynamic);
        return;
    }
    if (x->proc_variable != NULL)
        fr_buf_add_str(b, x->proc_variable);
    else
        put_name(b, &x->proc);
    for (size_t i = 0; i < x->nargs; i++) {
        fr_buf_printf(b, " %s%s", x->args[i].name == NULL ? "" : x->args[i].name,
                      x->args[i].name == NULL ? "" : "=");
        ast_text_expr(b, x->args[i].value);
        fr_buf_add_str(b, x->args[i].output ? " out" : "");
    }
}

static void put_proc(struct fr_buf *b, const struct proc_stmt *p)
{
    fr_buf_printf(b, "%sproc ", p->alter ? "alter-" : p->or_alter ? "or-alter-" : "");
    put_name(b, &p->name);
    for (size_t i = 0; i < p->nparams; i++) {
        fr_buf_printf(b, " %s:", p->params[i].name);
        put_type(b, &p->params[i].type);
        fr_buf_add_str(b, p->params[i].output ? " out" : "");
        if (p->params[i].dflt != NULL)
            put_where(b, "=", p->params[i].dflt);
    }
    fr_buf_add_str(b, " as ");
    ast_text(b, p->body);
}

static void put_drop(struct fr_buf *b, const struct drop_stmt *d)
{
    fr_buf_printf(b, "drop%s %d", d->if_exists ? "?" : "", (int)d->what);
    for (size_t i = 0; i < d->nnames; i++) {
        fr_buf_add_byte(b, ' ');
        put_name(b, &d->names[i]);
        if (d->tables != NULL) {
            fr_buf_add_str(b, " on ");
            put_name(b, &d->tables[i]);
        }
    }
}

static void put_set(struct fr_buf *b, const struct set_option *o, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fr_buf_printf(b, "%s%s", i == 0 ? "set " : ",", o[i].name);
        if (o[i].table != NULL) {
            fr_buf_add_byte(b, ' ');
            put_name(b, o[i].table);
        }
        if (o[i].value != NULL)
            fr_buf_printf(b, "=%s", o[i].value);
        if (o[i].expr != NULL)
            put_args(b, &o[i].expr, 1);
    }
}

static void put_bulk_hints(struct fr_buf *b, const struct bulk_stmt *s)
{
    fr_buf_printf(b, "%s%s%s%s", s->tablock ? " tablock" : "",
                  s->check_constraints ? " check" : "", s->keep_nulls ? " nulls" : "",
                  s->fire_triggers ? " triggers" : "");
    if (s->rows_per_batch > 0)
        fr_buf_printf(b, " rows=%" PRId64, s->rows_per_batch);
    for (size_t i = 0; i < s->norder; i++)
        fr_buf_printf(b, " by %s", s->order[i].name);
}

static void put_bulk(struct fr_buf *b, const struct bulk_stmt *s)
{
    fr_buf_add_str(b, "bulk ");
    put_name(b, &s->table);
    for (size_t i = 0; i < s->ncolumns; i++) {
        fr_buf_printf(b, " %s:", s->columns[i].name);
        put_type(b, &s->columns[i].type);
        fr_buf_add_str(b, s->columns[i].not_null     ? "!"
                          : s->columns[i].null_given ? "?"
                                                     : "");
    }
    put_bulk_hints(b, s);
}

static void put_bulk_insert(struct fr_buf *b, const struct bulk_insert_stmt *s)
{
    const struct {
        const char *word;
        int64_t n;
    } numbers[] = {{"first", s->first_row},
                   {"last", s->last_row},
                   {"batch", s->batch_size},
                   {"errors", s->max_errors}};
    const struct {
        const char *word;
        const struct bulk_text *t;
    } texts[] = {{"format", &s->format},          {"quote", &s->field_quote},
                 {"field", &s->field_terminator}, {"row", &s->row_terminator},
                 {"page", &s->codepage},          {"type", &s->data_file_type}};

    fr_buf_add_str(b, "bulk-insert ");
    put_name(b, &s->bulk.table);
    fr_buf_printf(b, " %s", s->file.p);
    put_bulk_hints(b, &s->bulk);
    fr_buf_add_str(b, s->bulk.keep_identity ? " identity" : "");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].n >= 0)
            fr_buf_printf(b, " %s=%" PRId64, numbers[i].word, numbers[i].n);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].t->p != NULL)
            fr_buf_printf(b, " %s=%s", texts[i].word, texts[i].t->p);
}

static void put_declare(struct fr_buf *b, const struct stmt *st)
{
    for (size_t i = 0; i < st->u.declare.nitems; i++) {
        const struct declare_item *d = &st->u.declare.items[i];

        fr_buf_printf(b, "%s%s:", i == 0 ? "declare " : ",", d->name);
        if (d->table != NULL)
            put_table(b, d->table);
        else
            put_type(b, &d->type);
        if (d->init != NULL)
            put_where(b, "=", d->init);
    }
}

static void put_control(struct fr_buf *b, const struct stmt *st)
{
    fr_buf_add_str(b, st->kind == ST_IF ? "if " : "while ");
    ast_text_expr(b, st->u.cond.test);
    fr_buf_add_str(b, " {");
    ast_text(b, st->u.cond.then_);
    fr_buf_add_byte(b, '}');
    if (st->u.cond.else_ != NULL) {
        fr_buf_add_str(b, " else {");
        ast_text(b, st->u.cond.else_);
        fr_buf_add_byte(b, '}');
    }
}

static void put_tran(struct fr_buf *b, const struct tran_stmt *t)
{
    static const char *const kinds[] = {"begin", "commit", "rollback", "save"};
    const char *name = t->name != NULL ? t->name : t->variable;

    fr_buf_printf(b, "%s-tran%s%s", kinds[t->kind], name == NULL ? "" : " ",
                  name == NULL ? "" : name);
}

static void put_index(struct fr_buf *b, const struct index_def *ix)
{
    fr_buf_printf(b, "index %s%s%s on ", ix->name, ix->unique ? "!" : "",
                  ix->clustered ? "*" : "");
    put_name(b, &ix->table);
    for (size_t i = 0; i < ix->ncolumns; i++)
        fr_buf_printf(b, " %s%s", ix->columns[i].name, ix->columns[i].desc ? "-" : "");
    for (size_t i = 0; i < ix->ninclude; i++)
        fr_buf_printf(b, " +%s", ix->include[i]);
    put_where(b, "where", ix->where);
}

static void put_partition(struct fr_buf *b, const struct partition_stmt *s)
{
    static const char *const verbs[] = {"function", "scheme", "drop function",
                                        "drop scheme"};

    fr_buf_printf(b, "%s %s", verbs[s->verb], s->name);
    if (s->verb == PARTITION_CREATE_FUNCTION) {
        fr_buf_add_byte(b, ' ');
        put_type(b, &s->type);
        fr_buf_add_str(b, s->right ? " right" : " left");
        put_args(b, s->values, s->nvalues);
    }
    if (s->verb == PARTITION_CREATE_SCHEME)
        fr_buf_printf(b, " of %s%s", s->function, s->all ? " all" : "");
    for (size_t i = 0; i < s->nfilegroups; i++)
        fr_buf_printf(b, " %s", s->filegroups[i]);
}

static void put_files(struct fr_buf *b, const struct database_stmt *d)
{
    fr_buf_printf(b, "database %d %s %s", (int)d->files_verb,
                  d->filegroup == NULL ? "-" : d->filegroup,
                  d->file == NULL ? "-" : d->file);
    for (size_t i = 0; i < d->nfiles; i++)
        fr_buf_printf(b, " %s=%s:%" PRId64 ":%" PRId64 ":%" PRId64 "%s", d->files[i].name,
                      d->files[i].path, d->files[i].size.pages,
                      d->files[i].max_size.pages, d->files[i].growth.pages,
                      d->files[i].growth.percent ? "%" : "");
}

static void put_one(struct fr_buf *b, const struct stmt *st)
{
    switch (st->kind) {
    case ST_SELECT:
        put_query(b, st->u.query);
        break;
    case ST_INSERT:
        put_insert(b, st->u.insert);
        break;
    case ST_UPDATE:
        put_update(b, st->u.update);
        break;
    case ST_DELETE:
        put_delete(b, st->u.del);
        break;
    case ST_TRUNCATE:
        fr_buf_add_str(b, "truncate ");
        put_name(b, &st->u.truncate->target);
        for (size_t i = 0; i < st->u.truncate->nranges; i++)
            fr_buf_printf(b, " %" PRId64 "-%" PRId64, st->u.truncate->ranges[i].from,
                          st->u.truncate->ranges[i].to);
        break;
    case ST_CREATE_TABLE:
        fr_buf_add_str(b, "table ");
        put_name(b, &st->u.table->name);
        put_table(b, st->u.table);
        if (st->u.table->on.column != NULL)
            fr_buf_printf(b, " on %s(%s)", st->u.table->on.name, st->u.table->on.column);
        break;
    case ST_PARTITION:
        put_partition(b, st->u.partition);
        break;
    case ST_ALTER_DATABASE:
        put_files(b, st->u.database);
        break;
    case ST_ALTER_TABLE:
        put_alter(b, st->u.alter);
        break;
    case ST_CREATE_INDEX:
        put_index(b, st->u.index);
        break;
    case ST_DROP:
    case ST_DROP_PROC:
        put_drop(b, st->u.drop);
        break;
    case ST_CREATE_PROC:
        put_proc(b, st->u.proc);
        break;
    case ST_INSERT_BULK:
        put_bulk(b, st->u.bulk);
        break;
    case ST_BULK_INSERT:
        put_bulk_insert(b, st->u.bulk_insert);
        break;
    case ST_BLOCK:
        fr_buf_add_str(b, "begin {");
        ast_text(b, st->u.block);
        fr_buf_add_byte(b, '}');
        break;
    case ST_IF:
    case ST_WHILE:
        put_control(b, st);
        break;
    case ST_TRY:
        fr_buf_add_str(b, "try {");
        ast_text(b, st->u.try_.body);
        fr_buf_add_str(b, "} catch {");
        ast_text(b, st->u.try_.handler);
        fr_buf_add_byte(b, '}');
        break;
    case ST_DECLARE:
        put_declare(b, st);
        break;
    case ST_SET_VARIABLE:
        fr_buf_printf(b, "%s %s= ", st->u.assign.variable,
                      st->u.assign.op == OP_NONE ? "" : op_names[st->u.assign.op]);
        ast_text_expr(b, st->u.assign.expr);
        break;
    case ST_SET_OPTION:
        put_set(b, st->u.set.items, st->u.set.nitems);
        break;
    case ST_EXEC:
        put_exec(b, st->u.exec);
        break;
    case ST_TRAN:
        put_tran(b, st->u.tran);
        break;
    case ST_THROW:
        fr_buf_add_str(b, "throw");
        put_args(b, st->u.args.args, st->u.args.nargs);
        break;
    case ST_RAISERROR:
        fr_buf_add_str(b, "raiserror ");
        ast_text_expr(b, st->u.raise.message);
        put_args(b, st->u.raise.args, st->u.raise.nargs);
        break;
    case ST_RETURN:
        fr_buf_add_str(b, "return");
        if (st->u.expr != NULL)
            put_args(b, &st->u.expr, 1);
        break;
    case ST_GOTO:
    case ST_LABEL:
    case ST_USE:
        fr_buf_printf(b, "%d %s", (int)st->kind, st->u.text);
        break;
    default:
        fr_buf_printf(b, "statement");
        break;
    }
}

void ast_text(struct fr_buf *b, const struct stmt *first)
{
    for (const struct stmt *st = first; st != NULL; st = st->next) {
        if (st != first)
            fr_buf_add_str(b, "; ");
        put_one(b, st);
    }
}
