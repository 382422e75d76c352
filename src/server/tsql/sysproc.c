/*
 * sysproc.c - system procedures.
 *
 * A row gives the names of the parameters, so that positional and named arguments
 * arrive alike; the implementation sees them in that order.
 */
#include "server/net/server.h"
#include "server/store/rights.h"
#include "server/tsql/interp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_SYS_PARAMS = 6, MAX_SHOWN_SESSIONS = 4096 };

/* Arguments by parameter; NULL: not given. What stands behind the named ones is in rest.
 */
struct sysargs {
    struct call_arg *arg[MAX_SYS_PARAMS];
    struct call_arg *rest;
    size_t nrest;
};

static enum flow fail(struct frame *f)
{
    return statement_error(f, NULL);
}

static bool arg_text(struct frame *f, const struct call_arg *a, struct value *out)
{
    struct sqltype type = type_nvarchar(TYPE_MAX);

    memset(out, 0, sizeof *out);
    if (a == NULL || a->use_default || a->value.is_null) {
        value_set_null(out, type);
        out->u.s.p = "";
        return true;
    }
    return value_convert(&a->value, &type, 0, true, out, &f->ctx.err);
}

static bool arg_int(struct frame *f, const struct call_arg *a, int64_t *out)
{
    struct sqltype type = type_of(TY_BIGINT);
    struct value v = {0};

    *out = 0;
    if (a == NULL || a->use_default || a->value.is_null)
        return true;
    if (!value_convert(&a->value, &type, 0, true, &v, &f->ctx.err))
        return false;
    *out = v.u.i;
    return true;
}

static void set_output_int(struct call_arg *a, int32_t v)
{
    if (a == NULL || !a->output)
        return;
    value_free(&a->value);
    memset(&a->value, 0, sizeof a->value);
    a->value.type = type_of(TY_INT);
    a->value.u.i = v;
}

/* ---- sp_executesql and prepared statements ---- */

static enum flow run_text(struct frame *f, const struct value *sql,
                          const struct value *params, struct sysargs *a)
{
    struct text_call t = {.sql = sql->u.s.p,
                          .bytes = sql->u.s.n,
                          .params = params->u.s.n == 0 ? NULL : params->u.s.p,
                          .params_bytes = params->u.s.n,
                          .args = a->rest,
                          .nargs = a->nrest};

    return call_text(f, &t);
}

static enum flow sp_executesql(struct frame *f, struct call *c, struct sysargs *a)
{
    struct value sql, params;
    enum flow flow;

    if (a->arg[0] == NULL) {
        sqlerr_set(&f->ctx.err, 201, "sp_executesql", "@statement");
        return fail(f);
    }
    if (!arg_text(f, a->arg[0], &sql))
        return fail(f);
    if (!arg_text(f, a->arg[1], &params)) {
        value_free(&sql);
        return fail(f);
    }
    flow = run_text(f, &sql, &params, a);
    value_free(&sql);
    value_free(&params);
    c->status = flow == FLOW_ERROR || f->reported ? f->ctx.session->last_error : 0;
    return flow;
}

static struct prepared *prepared_find(struct session *s, int64_t handle)
{
    for (size_t i = 0; i < s->nprepared; i++) {
        if (s->prepared[i].handle == handle && handle != 0)
            return &s->prepared[i];
    }
    return NULL;
}

static struct prepared *prepared_slot(struct session *s)
{
    struct prepared *grown;

    for (size_t i = 0; i < s->nprepared; i++) {
        if (s->prepared[i].handle == 0)
            return &s->prepared[i];
    }
    if (s->nprepared >= MAX_PREPARED)
        return NULL;
    grown = realloc(s->prepared, (s->nprepared + 1) * sizeof *grown);
    if (grown == NULL)
        return NULL;
    s->prepared = grown;
    memset(&grown[s->nprepared], 0, sizeof *grown);
    return &s->prepared[s->nprepared++];
}

/* Keep the text; a text that does not parse is refused here (8180). */
static struct prepared *prepare(struct frame *f, const struct value *params,
                                const struct value *sql)
{
    struct session *s = f->ctx.session;
    struct parse_opts opts = {.quoted_identifier = s->options.quoted_identifier};
    struct batch *b = NULL;
    struct prepared *p;

    if (!batch_parse(sql->u.s.p, sql->u.s.n, &opts, &b, &f->ctx.err))
        return NULL;
    batch_free(&b);
    p = prepared_slot(s);
    if (p != NULL) {
        p->params = strndup(params->u.s.p, params->u.s.n);
        p->sql = strndup(sql->u.s.p, sql->u.s.n);
        p->handle = ++s->next_handle;
        if (p->params != NULL && p->sql != NULL)
            return p;
        free(p->params);
        free(p->sql);
        memset(p, 0, sizeof *p);
    }
    sqlerr_set(&f->ctx.err, 701, "default");
    return NULL;
}

/* Columns of the text's first result without running it. */
static enum flow describe(struct frame *f, const struct value *sql,
                          const struct value *params)
{
    struct session *s = f->ctx.session;
    bool fmtonly = s->options.fmtonly;
    struct sysargs none = {.nrest = 0};
    enum flow flow = FLOW_NEXT;

    if (params->u.s.n > 0)
        return FLOW_NEXT; /* the parameters have no values yet */
    s->options.fmtonly = true;
    flow = run_text(f, sql, params, &none);
    s->options.fmtonly = fmtonly;
    return flow;
}

static enum flow prepare_args(struct frame *f, struct sysargs *a, struct value *params,
                              struct value *sql, int32_t *handle)
{
    struct prepared *p;

    memset(sql, 0, sizeof *sql);
    if (!arg_text(f, a->arg[1], params) || !arg_text(f, a->arg[2], sql))
        return fail(f);
    p = prepare(f, params, sql);
    if (p == NULL)
        return fail(f);
    *handle = p->handle;
    set_output_int(a->arg[0], p->handle);
    return FLOW_NEXT;
}

static enum flow sp_prepare(struct frame *f, struct call *c, struct sysargs *a)
{
    struct value params = {0}, sql = {0};
    int32_t handle = 0;
    int64_t options = 0;
    enum flow flow = prepare_args(f, a, &params, &sql, &handle);

    c->status = 0;
    if (flow == FLOW_NEXT && handle != 0 && arg_int(f, a->arg[3], &options) &&
        options == 1)
        flow = describe(f, &sql, &params);
    value_free(&params);
    value_free(&sql);
    return flow;
}

static enum flow sp_prepexec(struct frame *f, struct call *c, struct sysargs *a)
{
    struct value params = {0}, sql = {0};
    int32_t handle = 0;
    enum flow flow = prepare_args(f, a, &params, &sql, &handle);

    c->status = 0;
    if (flow == FLOW_NEXT && handle != 0)
        flow = run_text(f, &sql, &params, a);
    value_free(&params);
    value_free(&sql);
    return flow;
}

static enum flow sp_execute(struct frame *f, struct call *c, struct sysargs *a)
{
    struct value params = {0}, sql = {0};
    struct prepared *p;
    int64_t handle;

    if (!arg_int(f, a->arg[0], &handle))
        return fail(f);
    p = prepared_find(f->ctx.session, handle);
    if (p == NULL) {
        sqlerr_set(&f->ctx.err, 8179, (int)handle);
        return fail(f);
    }
    c->status = 0;
    params.u.s.p = p->params;
    params.u.s.n = strlen(p->params);
    sql.u.s.p = p->sql;
    sql.u.s.n = strlen(p->sql);
    return run_text(f, &sql, &params, a);
}

static enum flow sp_unprepare(struct frame *f, struct call *c, struct sysargs *a)
{
    struct prepared *p;
    int64_t handle;

    if (!arg_int(f, a->arg[0], &handle))
        return fail(f);
    p = prepared_find(f->ctx.session, handle);
    if (p == NULL) {
        sqlerr_set(&f->ctx.err, 8179, (int)handle);
        return fail(f);
    }
    free(p->params);
    free(p->sql);
    memset(p, 0, sizeof *p);
    c->status = 0;
    return FLOW_NEXT;
}

/* ---- result sets made here ---- */

static struct value text_value(const char *text, int32_t chars)
{
    struct value v = {.type = type_nvarchar(chars)};

    v.u.s.p = text;
    v.u.s.n = strlen(text);
    return v;
}

static struct value int_value(enum type_id id, int64_t i)
{
    struct value v = {.type = type_of(id)};

    v.u.i = i;
    return v;
}

static bool send_columns(struct frame *f, const char *const *names,
                         const struct value *row, size_t n)
{
    struct result_column cols[16];

    memset(cols, 0, sizeof cols);
    for (size_t i = 0; i < n; i++) {
        cols[i].name = names[i];
        cols[i].type = row[i].type;
        cols[i].nullable = true;
    }
    return f->ctx.sink->columns(f->ctx.sink->ctx, cols, n);
}

enum { WHO_COLUMNS = 9 };

static void who_row(const struct session_info *s, char blocker[16], struct value *row)
{
    snprintf(blocker, 16, "%d", s->blocking_spid);
    row[0] = int_value(TY_SMALLINT, s->spid);
    row[1] = int_value(TY_SMALLINT, 0);
    row[2] = text_value(s->status, 30);
    row[3] = text_value(s->login, 128);
    row[4] = text_value(s->host, 128);
    row[5] = text_value(blocker, 5);
    row[6] = text_value(s->database, 128);
    row[7] = text_value(s->command, 26);
    row[8] = int_value(TY_INT, 0);
}

/* Who may not view the server's state sees itself. */
static size_t only_own(struct frame *f, struct session_info *list, size_t n)
{
    struct session *s = f->ctx.session;
    struct sqlerr ignored = {0};
    const struct rights *r = session_rights(s, s->db, &ignored);

    if (r != NULL && rights_on_server(r, PERM_VIEW_SERVER_PERFORMANCE))
        return n;
    for (size_t i = 0; i < n; i++)
        if (list[i].spid == s->spid) {
            list[0] = list[i];
            return 1;
        }
    return 0;
}

static enum flow sp_who(struct frame *f, struct call *c, struct sysargs *a)
{
    static const char *const names[WHO_COLUMNS] = {"spid",     "ecid",     "status",
                                                   "loginame", "hostname", "blk",
                                                   "dbname",   "cmd",      "request_id"};
    static const struct session_info nobody;
    struct session_info *list = calloc(MAX_SHOWN_SESSIONS, sizeof *list);
    size_t n = list == NULL
                   ? 0
                   : server_sessions(f->ctx.session->server, list, MAX_SHOWN_SESSIONS);
    struct value row[WHO_COLUMNS];
    char blocker[16];
    bool ok;

    (void)a;
    n = n > MAX_SHOWN_SESSIONS ? MAX_SHOWN_SESSIONS : n;
    n = only_own(f, list, n);
    who_row(&nobody, blocker, row);
    ok = send_columns(f, names, row, WHO_COLUMNS);
    for (size_t i = 0; i < n && ok; i++) {
        who_row(&list[i], blocker, row);
        ok = f->ctx.sink->row(f->ctx.sink->ctx, row, WHO_COLUMNS);
    }
    free(list);
    send_done(f, 193, (int64_t)n, false);
    c->status = 0;
    return FLOW_NEXT;
}

/* What ODBC drivers ask at connect: attributes by number. */
static enum flow sp_server_info(struct frame *f, struct call *c, struct sysargs *a)
{
    static const char *const names[] = {"attribute_id", "attribute_name",
                                        "attribute_value"};
    static const struct {
        int id;
        const char *name, *value;
    } rows[] = {
        {1, "DBMS_NAME", "Microsoft SQL Server"},
        {2, "DBMS_VER", "fullrackd, in the sense of Microsoft SQL Server 16.0"},
        {10, "OWNER_TERM", "owner"},
        {11, "TABLE_TERM", "table"},
        {12, "MAX_OWNER_NAME_LENGTH", "128"},
        {13, "TABLE_LENGTH", "128"},
        {14, "MAX_QUAL_LENGTH", "128"},
        {15, "COLUMN_LENGTH", "128"},
        {16, "IDENTIFIER_CASE", "MIXED"},
        {17, "TX_ISOLATION", "2"},
        {18, "COLLATION_SEQ",
         "charset=iso_1 sort_order=nocase_iso charset_num=1 sort_order_num=52"},
        {22, "MAX_INDEXES", "999"},
        {102, "USERID_LEN", "128"},
    };
    int64_t wanted;
    bool ok = true;
    int64_t n = 0;

    if (!arg_int(f, a->arg[0], &wanted))
        return fail(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && ok; i++) {
        struct value row[] = {int_value(TY_INT, rows[i].id), text_value(rows[i].name, 60),
                              text_value(rows[i].value, 255)};

        if (i == 0)
            ok = send_columns(f, names, row, 3);
        if (ok && (wanted == 0 || wanted == rows[i].id)) {
            ok = f->ctx.sink->row(f->ctx.sink->ctx, row, 3);
            n++;
        }
    }
    send_done(f, 193, n, false);
    c->status = 0;
    return FLOW_NEXT;
}

static enum flow sp_reset_connection(struct frame *f, struct call *c, struct sysargs *a)
{
    (void)a;
    session_reset(f->ctx.session);
    c->status = 0;
    return FLOW_NEXT;
}

/* ---- the table ---- */

static const struct sysproc {
    const char *name;
    int nparams;
    const char *params[MAX_SYS_PARAMS];
    bool more; /* arguments behind the listed ones */
    enum flow (*run)(struct frame *f, struct call *c, struct sysargs *a);
} sysprocs[] = {
    {"sp_execute", 1, {"@handle"}, true, sp_execute},
    {"sp_executesql", 2, {"@stmt", "@params"}, true, sp_executesql},
    {"sp_prepare", 4, {"@handle", "@params", "@stmt", "@options"}, false, sp_prepare},
    {"sp_prepexec", 3, {"@handle", "@params", "@stmt"}, true, sp_prepexec},
    {"sp_reset_connection", 0, {NULL}, false, sp_reset_connection},
    {"sp_server_info", 1, {"@attribute_id"}, false, sp_server_info},
    {"sp_unprepare", 1, {"@handle"}, false, sp_unprepare},
    {"sp_who", 1, {"@loginame"}, false, sp_who},
};

/* System procedures are found without a schema, and in sys and dbo. */
static bool in_sys(const struct name *name)
{
    return name->schema == NULL || name->schema[0] == '\0' ||
           strcasecmp(name->schema, "sys") == 0 || strcasecmp(name->schema, "dbo") == 0;
}

static const struct sysproc *find(const struct name *name)
{
    for (size_t i = 0; in_sys(name) && i < sizeof sysprocs / sizeof sysprocs[0]; i++) {
        if (strcasecmp(sysprocs[i].name, name->object) == 0)
            return &sysprocs[i];
    }
    return NULL;
}

/* A named argument goes to its parameter; unknown names begin the rest. */
static bool spread_args(struct frame *f, const struct sysproc *p, struct call *c,
                        struct sysargs *a)
{
    for (size_t i = 0; i < c->nargs; i++) {
        int at = c->args[i].name == NULL ? (int)i : -1;

        for (int k = 0; c->args[i].name != NULL && k < p->nparams; k++) {
            if (strcasecmp(p->params[k], c->args[i].name) == 0 ||
                (k == 0 && i == 0 && p->more))
                at = k;
        }
        if (at < 0 && c->args[i].name != NULL && (int)i < p->nparams && p->more)
            at = (int)i; /* "@statement", "@parameters": their names are free */
        if (at >= 0 && at < p->nparams) {
            a->arg[at] = &c->args[i];
            continue;
        }
        if (!p->more)
            return sqlerr_set(&f->ctx.err, 8144, p->name);
        a->rest = &c->args[i];
        a->nrest = c->nargs - i;
        break;
    }
    return true;
}

static enum flow sysproc_run(struct frame *f, struct call *c)
{
    const struct sysproc *p = find(c->name);
    struct sysargs a = {.nrest = 0};
    enum done_kind kind = f->done_kind;
    enum flow flow;

    f->reported = false;
    if (!spread_args(f, p, c, &a))
        return fail(f);
    f->done_kind = DONE_INPROC;
    flow = p->run(f, c, &a);
    f->done_kind = kind;
    return flow;
}

sysproc_fn sysproc_find(const struct name *name)
{
    if (find(name) != NULL)
        return sysproc_run;
    return in_sys(name) && sysproc_text_find(name) ? sysproc_text_run : NULL;
}
