/* interp_misc.c - DECLARE, SET, PRINT, transactions, USE, WAITFOR, KILL, INSERT BULK,
 * statements without effect. */
#include "server/net/server.h"
#include "server/store/rights.h"
#include "server/tsql/interp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool run_declare(struct frame *f, const struct stmt *st)
{
    for (size_t i = 0; i < st->u.declare.nitems; i++) {
        const struct declare_item *d = &st->u.declare.items[i];
        struct value v;
        bool ok;

        if (d->init == NULL)
            continue;
        ok = eval(&f->ctx, d->init, NULL, &v) && scope_assign(&f->ctx, d->name, &v);
        value_free(&v);
        if (!ok)
            return false;
        f->ctx.session->rowcount = 1;
    }
    return true;
}

static bool run_set_variable(struct frame *f, const struct stmt *st)
{
    struct expr both, variable;
    struct expr *args[2] = {&variable, st->u.assign.expr};
    const struct expr *x = st->u.assign.expr;
    struct value v;
    bool ok;

    if (st->u.assign.op != OP_NONE) { /* @x += e is @x = @x + e */
        memset(&variable, 0, sizeof variable);
        variable.kind = EX_VARIABLE;
        variable.line = st->line;
        variable.u.text = st->u.assign.variable;
        both = variable;
        both.kind = EX_BINARY;
        both.op = st->u.assign.op;
        both.args = args;
        both.nargs = 2;
        both.u.text = NULL;
        x = &both;
    }
    ok = eval(&f->ctx, x, NULL, &v) && scope_assign(&f->ctx, st->u.assign.variable, &v);
    value_free(&v);
    f->ctx.session->rowcount = 1;
    return ok;
}

static bool run_set_option(struct frame *f, const struct stmt *st)
{
    f->ctx.session->rowcount = 0;
    return setopt_run(&f->ctx, st->u.set.items, st->u.set.nitems);
}

static bool run_print(struct frame *f, const struct stmt *st)
{
    struct sqlerr e = {.severity = 0, .state = 1, .line = st->line};
    struct value v;

    if (!eval_text(&f->ctx, st->u.expr, &v))
        return false;
    snprintf(e.text, sizeof e.text, "%.*s", (int)(v.u.s.n > 2040 ? 2040 : v.u.s.n),
             v.u.s.p);
    if (v.is_null || e.text[0] == '\0')
        snprintf(e.text, sizeof e.text, " "); /* as SQL Server shows an empty PRINT */
    value_free(&v);
    f->ctx.session->rowcount = 0;
    return exec_message(&f->ctx, &e);
}

static bool run_tran(struct frame *f, const struct stmt *st)
{
    static bool (*const named[])(struct exec_ctx * ctx, const char *name) = {
        [TS_BEGIN] = txn_begin, [TS_ROLLBACK] = txn_rollback, [TS_SAVE] = txn_save};
    const struct tran_stmt *t = st->u.tran;
    char name[33] = "";
    bool given = t->name != NULL || t->variable != NULL;

    if (t->variable != NULL) {
        const struct variable *var = scope_find(f->ctx.scope, t->variable);

        if (var == NULL)
            return sqlerr_set(&f->ctx.err, 137, t->variable);
        if (!var->value.is_null && type_is_string(var->type.id))
            snprintf(name, sizeof name, "%.*s",
                     (int)(var->value.u.s.n > 32 ? 32 : var->value.u.s.n),
                     var->value.u.s.p);
    } else if (given) {
        snprintf(name, sizeof name, "%.32s", t->name);
    }
    f->ctx.session->rowcount = 0;
    return t->kind == TS_COMMIT ? txn_commit(&f->ctx)
                                : named[t->kind](&f->ctx, given ? name : NULL);
}

static bool run_use(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    struct database *db = session_find_database(s, st->u.text, &f->ctx.err);

    if (db == NULL)
        return false;
    session_set_database(s, db, true);
    s->rowcount = 0;
    return true;
}

/* hh:mm[:ss[.mmm]]; false: no such form */
static bool parse_delay(const char *text, int64_t *ms)
{
    unsigned h = 0, m = 0, sec = 0;
    double fraction = 0;
    int used = 0;

    /* two digits each: nothing can overflow */
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(text, "%2u:%2u:%2u%n", &h, &m, &sec, &used) == 3 && used > 0) {
        if (text[used] == '.' || text[used] == ':') {
            double scale = 0.1;

            for (used++; text[used] >= '0' && text[used] <= '9'; used++, scale /= 10)
                fraction += (text[used] - '0') * scale;
        }
        /* NOLINTNEXTLINE(cert-err34-c) */
    } else if (sscanf(text, "%2u:%2u%n", &h, &m, &used) != 2) {
        return false;
    }
    while (text[used] == ' ')
        used++;
    if (text[used] != '\0' || h > 23 || m > 59 || sec > 59)
        return false;
    *ms = ((int64_t)h * 3600 + m * 60 + sec) * 1000 + (int64_t)(fraction * 1000);
    return true;
}

static void sleep_ms(int64_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

static bool run_waitfor(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    char text[64];
    int64_t ms = 0;
    struct value v;
    bool known;

    if (!eval_text(&f->ctx, st->u.waitfor.expr, &v))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)(v.u.s.n > 63 ? 63 : v.u.s.n), v.u.s.p);
    value_free(&v);
    known = parse_delay(text, &ms);
    if (!known)
        return sqlerr_set(&f->ctx.err, 148, text);
    if (st->u.waitfor.time) {
        time_t now = time(NULL);
        struct tm tm;
        int64_t at;

        localtime_r(&now, &tm);
        at = ((int64_t)tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * 1000;
        ms = ms >= at ? ms - at : ms + 86400000 - at;
    }
    session_touch(s, "WAITFOR");
    while (ms > 0 && !session_cancelled(s)) {
        int64_t step = ms > 20 ? 20 : ms;

        sleep_ms(step);
        ms -= step;
    }
    s->rowcount = 0;
    return !session_cancelled(s);
}

static bool may_kill(struct frame *f)
{
    const struct rights *r =
        session_rights(f->ctx.session, f->ctx.session->db, &f->ctx.err);

    return r != NULL && (rights_on_server(r, PERM_ALTER_ANY_CONNECTION) ||
                         sqlerr_set(&f->ctx.err, 6102));
}

static bool run_kill(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    int64_t spid;
    bool is_null;

    if (!may_kill(f) || !eval_int(&f->ctx, st->u.expr, &spid, &is_null))
        return false;
    if (is_null || spid < 1 || spid > INT16_MAX)
        return sqlerr_set(&f->ctx.err, 6101, (int)spid);
    if (spid == s->spid)
        return sqlerr_set(&f->ctx.err, 6104);
    return server_kill(s->server, (int)spid) || sqlerr_set(&f->ctx.err, 6106, (int)spid);
}

static bool run_insert_bulk(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;

    if (f->caller != NULL)
        return sqlerr_setf(&f->ctx.err, TSQL_ERR_UNSUPPORTED, 16,
                           "INSERT BULK in a procedure is not supported by fullrackd.");
    session_touch(s, "BULK INSERT");
    if (!bulk_open(&f->ctx, st->u.bulk))
        return false;
    s->bulk = true;
    return true;
}

/* SQLite checkpoints by itself. */
static bool run_checkpoint(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    const struct rights *r = session_rights(s, s->db, &f->ctx.err);

    (void)st;
    s->rowcount = 0;
    return r != NULL &&
           (rights_on_database(r, PERM_CHECKPOINT) ||
            sqlerr_set(&f->ctx.err, 262, "CHECKPOINT", database_name(s->db)));
}

static bool (*const misc[ST_KIND_COUNT])(struct frame *f, const struct stmt *st) = {
    [ST_DECLARE] = run_declare,
    [ST_SET_VARIABLE] = run_set_variable,
    [ST_SET_OPTION] = run_set_option,
    [ST_PRINT] = run_print,
    [ST_TRAN] = run_tran,
    [ST_USE] = run_use,
    [ST_WAITFOR] = run_waitfor,
    [ST_KILL] = run_kill,
    [ST_INSERT_BULK] = run_insert_bulk,
    [ST_CHECKPOINT] = run_checkpoint,
    [ST_BACKUP] = run_backup,
    [ST_BULK_INSERT] = run_bulk_insert,
};

enum flow run_misc(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;

    if (s->options.noexec && st->kind != ST_SET_OPTION)
        return FLOW_NEXT;
    if (misc[st->kind] == NULL) {
        sqlerr_setf(&f->ctx.err, TSQL_ERR_UNSUPPORTED, 16,
                    "This statement is not supported by fullrackd.");
        return statement_error(f, st);
    }
    if (!misc[st->kind](f, st))
        return statement_error(f, st);
    s->last_error = 0;
    /* under FMTONLY clients take the first result for the one that they asked about */
    if (st->kind == ST_SET_OPTION && strcmp(st->u.set.items[0].name, "FMTONLY") != 0)
        send_done(f, DONE_CMD_SET, -1, false);
    return FLOW_NEXT;
}
