#include "control/control_priv.h"

#include "base/clock.h"
#include "db/script.h"
#include "db/statements.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The queue's schema inside a database that it shares. */
#define FR_CONTROL_SCHEMA "fullrack"
enum { MAX_SCRIPT_BYTES = 1 << 18 };
/* The last version sql/control_tables.sql makes. */
enum { CONTROL_VERSION = 6 };
/* Sweeping takes the claim's index before the row, the end of a task the row before it.
 */
enum {
    DEADLOCK_VICTIM = 1205,
    DEADLOCK_TRIES = 5,
    PERMISSION_DENIED = 229,
    IDLE_CHECK_MS = 2000
};

struct fr_control {
    fr_control_connect_fn connect;
    void *ctx;
    /* lock: guards session; held for the time of one call, no other lock is taken while
     * it is */
    pthread_mutex_t lock;
    struct fr_sql *session;
    bool own_schema; /* not dbo */
    bool in_transaction;
    uint64_t asked_ms; /* the session's last call, by fr_clock_ms() */
};

/* A connection that died while nobody asked it anything (the coordinator's, during a run)
 * is opened anew before a call would fail on it. */
static fr_status ensure_session(struct fr_control *c, struct fr_err *err)
{
    if (c->in_transaction)
        return c->session != NULL && !c->session->lost
                   ? FR_OK
                   : fr_err_set(err, FR_ELOST, "the connection was lost");
    if (c->session != NULL && !c->session->lost &&
        fr_clock_ms() - c->asked_ms > IDLE_CHECK_MS &&
        fr_sql_run(c->session, "SELECT 1", NULL, NULL, NULL) != FR_OK)
        fr_sql_close(&c->session);
    if (c->session != NULL && c->session->lost)
        fr_sql_close(&c->session);
    c->asked_ms = fr_clock_ms();
    return c->session != NULL ? FR_OK : c->connect(c->ctx, &c->session, err);
}

/* Our names as they are written in sql/, where the queue lies in a schema of its own. */
static fr_status localize(const char *sql, struct fr_buf *out, struct fr_err *err)
{
    static const struct fr_sql_name names[] = {{"dbo.", FR_CONTROL_SCHEMA "."}};

    fr_buf_init(out, MAX_SCRIPT_BYTES);
    return fr_sql_rename(sql, names, COUNT_OF(names), out, err);
}

/* Inside a database that has other things, the queue has a schema of its own; in one of
 * its own it is dbo's. */
static fr_status find_schema(struct fr_sql *s, bool *own_schema, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st =
        fr_sql_run(s,
                   "SELECT OBJECT_ID(N'" FR_CONTROL_SCHEMA ".sp_get_work', N'P'), "
                   "OBJECT_ID(N'dbo.sp_get_work', N'P')",
                   fr_sql_take_one, &one, err);

    if (st != FR_OK)
        return st;
    *own_schema = one.found && one.values[0] != NULL;
    if (!one.found || (one.values[0] == NULL && one.values[1] == NULL))
        return fr_err_set(
            err, FR_EARG,
            "the control database has no queue that this login can see: run "
            "`fullrack init` first, or make it a member of a role there "
            "(docs/permissions.md)");
    return FR_OK;
}

/* Tables of an older version lack columns, those of a newer one may mean other things. */
static fr_status check_version(struct fr_control *c, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    int64_t version;
    fr_status st = fr_control_run(c, "SELECT MAX(version) FROM dbo.control_version", NULL,
                                  0, fr_sql_take_one, &one, err);

    if (st != FR_OK)
        return st;
    version = fr_sql_one_i64(&one, 0, 0);
    if (version == CONTROL_VERSION)
        return FR_OK;
    return fr_err_set(err, FR_EARG,
                      "the control database has version %lld, this program needs %d: %s",
                      (long long)version, CONTROL_VERSION,
                      version < CONTROL_VERSION ? "run `fullrack init` to upgrade it"
                                                : "use a newer fullrack");
}

fr_status fr_control_open(fr_control_connect_fn connect, void *ctx,
                          struct fr_control **out, struct fr_err *err)
{
    struct fr_control *c = calloc(1, sizeof *c);
    fr_status st;

    *out = NULL;
    if (c == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the control connection");
    pthread_mutex_init(&c->lock, NULL);
    c->connect = connect;
    c->ctx = ctx;
    st = ensure_session(c, err);
    if (st == FR_OK)
        st = find_schema(c->session, &c->own_schema, err);
    if (st == FR_OK)
        st = check_version(c, err);
    if (st == FR_OK)
        *out = c;
    else
        fr_control_close(&c);
    return st;
}

void fr_control_close(struct fr_control **cp)
{
    if (cp == NULL || *cp == NULL)
        return;
    fr_sql_close(&(*cp)->session);
    pthread_mutex_destroy(&(*cp)->lock);
    free(*cp);
    *cp = NULL;
}

/* What one call does; rows tells whether it gave some away already. */
struct control_work {
    const char *sql; /* a procedure's name, or a statement */
    bool is_procedure;
    struct fr_sql_param *params;
    size_t count;
    fr_sql_row_fn row;
    void *ctx;
    bool rows;
};

static fr_status pass_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct control_work *w = ctx;

    w->rows = true;
    return w->row == NULL ? FR_OK : w->row(w->ctx, row, err);
}

static fr_status work_once(struct fr_control *c, struct control_work *w, const char *sql,
                           struct fr_err *err)
{
    fr_status st = ensure_session(c, err);

    if (st != FR_OK)
        return st;
    if (w->is_procedure)
        return fr_sql_call(c->session, sql, w->params, w->count, pass_row, w, err);
    if (w->count > 0)
        return fr_sql_run_params(c->session, sql, w->params, w->count, pass_row, w, err);
    return fr_sql_run(c->session, sql, pass_row, w, err);
}

size_t control_piece_bytes(const char *p, size_t most)
{
    size_t n = strnlen(p, most + 1);

    if (n <= most)
        return n;
    n = most;
    while (n > 0 && ((unsigned char)p[n] & 0xC0) == 0x80)
        n--;
    return n;
}

bool control_is_deadlock_victim(fr_status st, const struct fr_err *err, int tries)
{
    return st == FR_EDB && err != NULL && err->server_number == DEADLOCK_VICTIM &&
           tries < DEADLOCK_TRIES;
}

/* Whose right it is the script knows that grants it. */
void control_deny(const char *procedure, struct fr_err *err)
{
    static const char viewer[] = "fullrack_viewer";
    char grant[160];
    const char *role = NULL;

    if (procedure != NULL && snprintf(grant, sizeof grant, "GRANT EXECUTE ON %s TO ",
                                      procedure) < (int)sizeof grant)
        role = strstr(fr_script_grants_control, grant);
    role = role == NULL ? viewer : role + strlen(grant);
    (void)fr_err_wrap(err, "the role %.*s is needed (docs/permissions.md)",
                      (int)strcspn(role, ";"), role);
    if (err != NULL)
        err->status = FR_EARG;
}

/* Locked and reconnecting; a deadlock's victim, whose work is undone and who is not to
 * blame, tries again. */
static fr_status work(struct fr_control *c, struct control_work *w, struct fr_err *err)
{
    struct fr_err local;
    struct fr_buf renamed;
    fr_status st = FR_OK;

    if (err == NULL)
        err = &local;
    fr_buf_init(&renamed, MAX_SCRIPT_BYTES);
    if (c->own_schema)
        st = localize(w->sql, &renamed, err);
    pthread_mutex_lock(&c->lock);
    for (int tries = 1; st == FR_OK; tries++) {
        st = work_once(c, w, c->own_schema ? fr_buf_text(&renamed) : w->sql, err);
        if (!control_is_deadlock_victim(st, err, tries) || w->rows || c->in_transaction)
            break;
        st = FR_OK;
    }
    pthread_mutex_unlock(&c->lock);
    fr_buf_free(&renamed);
    if (st == FR_EDB && err->server_number == PERMISSION_DENIED) {
        control_deny(w->is_procedure ? w->sql : NULL, err);
        st = FR_EARG;
    }
    if (st != FR_OK)
        fr_err_wrap(err, "control database");
    return st;
}

fr_status control_call_row(struct fr_control *c, const char *procedure,
                           struct fr_sql_param *params, size_t count,
                           struct fr_sql_one *row, struct fr_err *err)
{
    struct control_work w = {.sql = procedure,
                             .is_procedure = true,
                             .params = params,
                             .count = count,
                             .row = row == NULL ? NULL : fr_sql_take_one,
                             .ctx = row};

    return work(c, &w, err);
}

fr_status control_call(struct fr_control *c, const char *procedure,
                       struct fr_sql_param *params, size_t count, struct fr_err *err)
{
    return control_call_row(c, procedure, params, count, NULL, err);
}

fr_status fr_control_run(struct fr_control *c, const char *sql,
                         struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                         void *ctx, struct fr_err *err)
{
    struct control_work w = {
        .sql = sql, .params = params, .count = count, .row = row, .ctx = ctx};

    return work(c, &w, err);
}

fr_status fr_control_begin(struct fr_control *c, struct fr_err *err)
{
    fr_status st = fr_control_run(c, "BEGIN TRANSACTION", NULL, 0, NULL, NULL, err);

    c->in_transaction = st == FR_OK;
    return st;
}

fr_status fr_control_commit(struct fr_control *c, struct fr_err *err)
{
    fr_status st = fr_control_run(c, "COMMIT TRANSACTION", NULL, 0, NULL, NULL, err);

    c->in_transaction = false;
    return st;
}

void fr_control_rollback(struct fr_control *c)
{
    /* where it fails, closing the session ends the transaction */
    if (fr_control_run(c, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION", NULL, 0, NULL, NULL,
                       NULL) != FR_OK)
        fr_sql_close(&c->session);
    c->in_transaction = false;
}

static fr_status run_script(struct fr_sql *s, const char *name, const char *script,
                            bool own_schema, struct fr_err *err)
{
    struct fr_buf renamed;
    fr_status st;

    fr_buf_init(&renamed, MAX_SCRIPT_BYTES);
    if (own_schema)
        st = localize(script, &renamed, err);
    else
        st = FR_OK;
    if (st == FR_OK)
        st = fr_script_run(s, own_schema ? fr_buf_text(&renamed) : script, err);
    fr_buf_free(&renamed);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "%s", name);
}

fr_status fr_control_install(struct fr_sql *s, bool own_schema, struct fr_err *err)
{
    /* in this order: what is called comes first */
    static const struct {
        const char *name, *text;
    } scripts[] = {{"sql/control_tables.sql", fr_script_control_tables},
                   {"sql/control_jobs.sql", fr_script_control_jobs},
                   {"sql/control_procedures.sql", fr_script_control_procedures},
                   {"sql/control_workload.sql", fr_script_control_workload},
                   {"sql/control_admin.sql", fr_script_control_admin}};
    bool has_own;
    fr_status st;

    /* what is there stays where it is */
    if (find_schema(s, &has_own, NULL) == FR_OK)
        own_schema = has_own;
    st = own_schema
             ? fr_sql_run(s,
                          "IF SCHEMA_ID(N'" FR_CONTROL_SCHEMA
                          "') IS NULL EXEC(N'CREATE SCHEMA " FR_CONTROL_SCHEMA "')",
                          NULL, NULL, err)
             : FR_OK;
    if (st != FR_OK)
        return fr_err_wrap(err, "making the schema " FR_CONTROL_SCHEMA);
    for (size_t i = 0; st == FR_OK && i < COUNT_OF(scripts); i++)
        st = run_script(s, scripts[i].name, scripts[i].text, own_schema, err);
    return st;
}

fr_status fr_control_grant(struct fr_sql *s, bool wanted, bool *granted,
                           struct fr_err *err)
{
    bool own_schema = false;
    fr_status st = find_schema(s, &own_schema, err);

    *granted = false;
    if (st == FR_OK)
        st = fr_script_may_grant(s, wanted, granted, err);
    if (st == FR_OK && *granted)
        st = run_script(s, "sql/grants_control.sql", fr_script_grants_control, own_schema,
                        err);
    return st;
}

static const char count_schedulers[] = "SELECT COUNT(*) FROM dbo.scheduler_use";

fr_status fr_control_fill_schedulers(struct fr_control *c, const int *ids, size_t count,
                                     int64_t *total, struct fr_err *err)
{
    fr_status st = fr_control_count_schedulers(c, total, err);

    /* rows that are there are the DBA's choice of how many loads may run */
    if (st != FR_OK || *total > 0)
        return st;
    for (size_t i = 0; st == FR_OK && i < count; i++) {
        struct fr_sql_param params[] = {fr_sql_in_int("@scheduler_id", ids[i])};

        st = control_call(c, "dbo.sp_add_scheduler", params, 1, err);
    }
    *total = (int64_t)count;
    return st;
}

fr_status fr_control_count_schedulers(struct fr_control *c, int64_t *out,
                                      struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st =
        fr_control_run(c, count_schedulers, NULL, 0, fr_sql_take_one, &one, err);

    *out = fr_sql_one_i64(&one, 0, 0);
    return st;
}
