#include "control/control_priv.h"

#include "base/clock.h"
#include "db/script.h"
#include "db/statements.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The last version sql/control_tables.sql makes. */
enum { CONTROL_VERSION = 2 };
/* Sweeping takes the claim's index before the row, the end of a task the row before it.
 */
enum { DEADLOCK_VICTIM = 1205, DEADLOCK_TRIES = 5, IDLE_CHECK_MS = 2000 };

struct fr_control {
    fr_control_connect_fn connect;
    void *ctx;
    /* lock: guards session; held for the time of one call, no other lock is taken while
     * it is */
    pthread_mutex_t lock;
    struct fr_sql *session;
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

/* Tables of an older version lack columns, those of a newer one may mean other things. */
static fr_status check_version(struct fr_sql *s, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    int64_t version;
    fr_status st = fr_sql_run(s, "SELECT OBJECT_ID(N'dbo.sp_get_work', N'P')",
                              fr_sql_take_one, &one, err);

    if (st != FR_OK)
        return st;
    if (!one.found || one.values[0] == NULL)
        return fr_err_set(err, FR_EARG,
                          "the control database has no queue: run `fullrack init` first");
    memset(&one, 0, sizeof one);
    st = fr_sql_run(s, "SELECT MAX(version) FROM dbo.control_version", fr_sql_take_one,
                    &one, err);
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
        st = check_version(c->session, err);
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

fr_status control_call_row(struct fr_control *c, const char *procedure,
                           struct fr_sql_param *params, size_t count,
                           struct fr_sql_one *row, struct fr_err *err)
{
    struct fr_err local;
    fr_status st;

    if (err == NULL)
        err = &local;
    pthread_mutex_lock(&c->lock);
    for (int tries = 1;; tries++) {
        st = ensure_session(c, err);
        if (st == FR_OK)
            st = fr_sql_call(c->session, procedure, params, count,
                             row == NULL ? NULL : fr_sql_take_one, row, err);
        /* the victim's work is undone, and nobody's fault */
        if (st != FR_EDB || err->server_number != DEADLOCK_VICTIM ||
            tries == DEADLOCK_TRIES || c->in_transaction)
            break;
    }
    pthread_mutex_unlock(&c->lock);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "control database");
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
    fr_status st;

    pthread_mutex_lock(&c->lock);
    st = ensure_session(c, err);
    if (st == FR_OK && count > 0)
        st = fr_sql_run_params(c->session, sql, params, count, row, ctx, err);
    else if (st == FR_OK)
        st = fr_sql_run(c->session, sql, row, ctx, err);
    pthread_mutex_unlock(&c->lock);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "control database");
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

fr_status fr_control_install(struct fr_sql *s, struct fr_err *err)
{
    fr_status st = fr_script_run(s, fr_script_control_tables, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "sql/control_tables.sql");
    st = fr_script_run(s, fr_script_control_procedures, err);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "sql/control_procedures.sql");
}

static const char count_schedulers[] = "SELECT COUNT(*) FROM dbo.scheduler_use";

fr_status fr_control_fill_schedulers(struct fr_sql *s, const int *ids, size_t count,
                                     int64_t *total, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run(s, count_schedulers, fr_sql_take_one, &one, err);

    *total = fr_sql_one_i64(&one, 0, 0);
    /* rows that are there are the DBA's choice of how many loads may run */
    if (st != FR_OK || *total > 0)
        return st;
    for (size_t i = 0; st == FR_OK && i < count; i++) {
        struct fr_sql_param params[] = {fr_sql_in_int("@scheduler_id", ids[i])};

        st = fr_sql_call(s, "dbo.sp_add_scheduler", params, 1, NULL, NULL, err);
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
