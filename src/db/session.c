#include "db/session_priv.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/sql_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_COLUMNS = 4096, MAX_ROW_TEXT_BYTES = 256 << 20, MAX_PARAM_TEXT_BYTES = 4000 };

static bool add_datetime_all(struct fr_buf *out, const BYTE *data)
{
    DBDATETIMEALL v;

    memcpy(&v, data, sizeof v);
    if (v.has_offset)
        return fr_sql_add_datetimeoffset(out, v.date, v.time, (int)v.time_prec, v.offset);
    if (v.has_date)
        fr_sql_add_date(out, v.date);
    if (v.has_date && v.has_time)
        fr_buf_add_byte(out, ' ');
    if (v.has_time)
        fr_sql_add_time(out, v.time, (int)v.time_prec);
    return !out->failed;
}

/* One value in the text form base/sql.h promises. */
static bool add_value(DBPROCESS *dbproc, int type, const BYTE *data, DBINT n,
                      struct fr_buf *out)
{
    union {
        DBDATETIME dt;
        DBDATETIME4 dt4;
        DBFLT8 f;
        DBREAL r;
        DBMONEY money;
        DBMONEY4 money4;
    } u;
    char text[128];
    DBINT len;

    switch (type) {
    case SYBCHAR:
    case SYBVARCHAR:
    case SYBTEXT:
    case SYBNTEXT:
    case SYBNVARCHAR:
        return fr_buf_add(out, data, (size_t)n);
    case SYBBINARY:
    case SYBVARBINARY:
    case SYBIMAGE:
        return fr_sql_add_binary(out, data, (size_t)n);
    case FR_SYBUNIQUE:
        return fr_sql_add_guid(out, data);
    case SYBFLT8:
        memcpy(&u.f, data, sizeof u.f);
        return fr_buf_printf(out, "%.17g", u.f);
    case SYBREAL:
        memcpy(&u.r, data, sizeof u.r);
        return fr_buf_printf(out, "%.9g", (double)u.r);
    case SYBDATETIME:
        memcpy(&u.dt, data, sizeof u.dt);
        return fr_sql_add_datetime(out, u.dt.dtdays, (uint32_t)u.dt.dttime);
    case SYBDATETIME4:
        memcpy(&u.dt4, data, sizeof u.dt4);
        return fr_sql_add_smalldatetime(out, u.dt4.days, u.dt4.minutes);
    case SYBMONEY:
        /* dbconvert would round to two digits */
        memcpy(&u.money, data, sizeof u.money);
        return fr_sql_add_money(
            out, (int64_t)((uint64_t)(uint32_t)u.money.mnyhigh << 32 | u.money.mnylow));
    case SYBMONEY4:
        memcpy(&u.money4, data, sizeof u.money4);
        return fr_sql_add_money(out, u.money4.mny4);
    case SYBMSDATE:
    case SYBMSTIME:
    case SYBMSDATETIME2:
    case SYBMSDATETIMEOFFSET:
        return add_datetime_all(out, data);
    default:
        len = dbconvert(dbproc, type, data, n, SYBCHAR, (BYTE *)text, (DBINT)sizeof text);
        return len >= 0 && fr_buf_add(out, text, (size_t)len);
    }
}

struct row_reader {
    const char **names;
    const char **values;
    size_t *lengths;
    size_t *starts;
    struct fr_buf text;
};

static void row_reader_free(struct row_reader *r)
{
    free(r->names);
    free(r->values);
    free(r->lengths);
    free(r->starts);
    fr_buf_free(&r->text);
}

static fr_status row_reader_open(struct row_reader *r, DBPROCESS *dbproc, size_t columns,
                                 struct fr_err *err)
{
    memset(r, 0, sizeof *r);
    fr_buf_init(&r->text, MAX_ROW_TEXT_BYTES);
    r->names = calloc(columns, sizeof *r->names);
    r->values = calloc(columns, sizeof *r->values);
    r->lengths = calloc(columns, sizeof *r->lengths);
    r->starts = calloc(columns, sizeof *r->starts);
    if (columns > MAX_COLUMNS || r->names == NULL || r->values == NULL ||
        r->lengths == NULL || r->starts == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a result of %zu columns",
                          columns);
    for (size_t i = 0; i < columns; i++) {
        r->names[i] = dbcolname(dbproc, (int)i + 1);
        if (r->names[i] == NULL)
            r->names[i] = "";
    }
    return FR_OK;
}

static fr_status read_row(struct row_reader *r, DBPROCESS *dbproc, size_t columns,
                          struct fr_err *err)
{
    fr_buf_reset(&r->text);
    for (size_t i = 0; i < columns; i++) {
        int column = (int)i + 1;
        const BYTE *data = dbdata(dbproc, column);
        DBINT n = dbdatlen(dbproc, column);

        r->starts[i] = r->text.len;
        r->lengths[i] = 0;
        r->values[i] = NULL;
        /* db-lib gives a NULL pointer for NULL and a length of 0 for an empty string */
        if (data == NULL)
            continue;
        if (!add_value(dbproc, dbcoltype(dbproc, column), data, n, &r->text))
            return fr_err_set(err, FR_EPROTO, "column %s of the answer cannot be read",
                              r->names[i]);
        r->lengths[i] = r->text.len - r->starts[i];
        r->values[i] = "";
        fr_buf_add_byte(&r->text, '\0');
    }
    /* only now is the text at its final place */
    for (size_t i = 0; i < columns; i++)
        if (r->values[i] != NULL)
            r->values[i] = r->text.data + r->starts[i];
    return r->text.failed ? fr_err_set(err, FR_ENOMEM, "a row of the answer is too large")
                          : FR_OK;
}

static fr_status read_rows(struct db_session *s, fr_sql_row_fn row, void *ctx,
                           struct fr_err *err)
{
    size_t columns = (size_t)dbnumcols(s->dbproc);
    struct row_reader r;
    fr_status st;
    STATUS got;

    if (columns == 0)
        return FR_OK;
    st = row_reader_open(&r, s->dbproc, columns, err);
    if (st == FR_OK && s->sql.columns != NULL)
        st = s->sql.columns(s->sql.columns_ctx,
                            &(struct fr_sql_row){.columns = columns, .names = r.names},
                            err);
    while (st == FR_OK && (got = dbnextrow(s->dbproc)) != NO_MORE_ROWS) {
        struct fr_sql_row out;

        if (got == FAIL) {
            s->broke_off = true;
            break;
        }
        if (row == NULL) {
            s->sql.skipped_rows++;
            continue;
        }
        st = read_row(&r, s->dbproc, columns, err);
        out = (struct fr_sql_row){.columns = columns,
                                  .names = r.names,
                                  .values = r.values,
                                  .lengths = r.lengths};
        if (st == FR_OK)
            st = row(ctx, &out, err);
    }
    row_reader_free(&r);
    return st;
}

/* Read everything the server answers; errors are in the sink. */
static fr_status read_results(struct db_session *s, fr_sql_row_fn row, void *ctx,
                              int64_t *affected, struct fr_err *err)
{
    fr_status st = FR_OK;
    RETCODE rc;

    while ((rc = dbresults(s->dbproc)) != NO_MORE_RESULTS) {
        s->broke_off = s->broke_off || rc == FAIL;
        if (rc == FAIL && (s->sink.dead || DBDEAD(s->dbproc)))
            break;
        if (rc == FAIL)
            continue;
        st = read_rows(s, row, ctx, err);
        if (affected != NULL && DBCOUNT(s->dbproc) >= 0)
            *affected = DBCOUNT(s->dbproc);
        if (dbnumcols(s->dbproc) == 0 && DBCOUNT(s->dbproc) > 0)
            s->sql.changed_rows += DBCOUNT(s->dbproc);
        if (st != FR_OK) {
            dbcancel(s->dbproc);
            return st;
        }
    }
    return FR_OK;
}

static fr_status outcome(struct db_session *s, const char *what, struct fr_err *err)
{
    if (s->sink.dead || s->sink.timed_out || DBDEAD(s->dbproc)) {
        s->sink.dead = true;
        s->sql.lost = true;
        return fr_db_sink_error(&s->sink, what, err);
    }
    if (s->sink.server_number != 0 || s->sink.library_number != 0)
        return fr_db_sink_error(&s->sink, what, err);
    if (s->broke_off) {
        /* db-lib gave up without a word: rows that did not come must not pass for none */
        s->sql.lost = true;
        return fr_err_set(err, FR_ELOST, "%s: the answer broke off", what);
    }
    return FR_OK;
}

static fr_status begin_call(struct db_session *s, struct fr_err *err)
{
    if (s->sql.lost)
        return fr_err_set(err, FR_ELOST, "the connection was lost");
    fr_db_sink_clear(&s->sink);
    s->sink.patient_until_ms =
        s->patience_ms == 0 ? UINT64_MAX : fr_clock_ms() + s->patience_ms;
    s->broke_off = false;
    return FR_OK;
}

/* After a request was sent.  One that failed may have answers that must be read, too. */
static fr_status read_answer(struct db_session *s, bool sent, fr_sql_row_fn row,
                             void *ctx, int64_t *affected, struct fr_err *err)
{
    if (sent && dbsqlok(s->dbproc) == SUCCEED)
        return read_results(s, row, ctx, affected, err);
    s->broke_off = true;
    return s->sink.dead || DBDEAD(s->dbproc) ? FR_OK
                                             : read_results(s, NULL, NULL, NULL, err);
}

static fr_status db_run(struct fr_sql *sql, const char *text, fr_sql_row_fn row,
                        void *ctx, int64_t *affected, struct fr_err *err)
{
    struct db_session *s = (struct db_session *)sql;
    fr_status st = begin_call(s, err);

    if (st != FR_OK)
        return st;
    dbfreebuf(s->dbproc);
    if (dbcmd(s->dbproc, text) == FAIL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a statement");
    st = read_answer(s, dbsqlsend(s->dbproc) == SUCCEED, row, ctx, affected, err);
    return st != FR_OK ? st : outcome(s, "statement", err);
}

/* A parameter's value in the form db-lib takes; it must outlive the send. */
union param_value {
    DBBIT bit;
    DBINT i4;
    DBBIGINT i8;
};

static fr_status add_param(DBPROCESS *dbproc, const struct fr_sql_param *p,
                           union param_value *v, struct fr_err *err)
{
    /* db-lib: length 0 is NULL; fixed types take -1 */
    int type = SYBNVARCHAR;
    DBINT len = -1, max = -1;
    BYTE *data = (BYTE *)v;

    switch (p->type) {
    case FR_SQL_BIT:
        type = SYBBIT;
        v->bit = (DBBIT)(p->number != 0);
        break;
    case FR_SQL_INT:
        type = SYBINT4;
        v->i4 = (DBINT)p->number;
        break;
    case FR_SQL_BIGINT:
        type = SYBINT8;
        v->i8 = p->number;
        break;
    case FR_SQL_GUID:
        /* As text, for the server to convert: db-lib 1.3.17 counts uniqueidentifier both
           as fixed (no length allowed) and as nullable (a length required), so it takes
           none at all. */
    case FR_SQL_NVARCHAR:
    case FR_SQL_DATETIME:
        type = SYBVARCHAR;
        len = p->is_null ? 0 : (DBINT)strlen(p->text);
        if (len > MAX_PARAM_TEXT_BYTES)
            return fr_err_set(err, FR_EARG, "parameter %s is longer than %d bytes",
                              p->name, MAX_PARAM_TEXT_BYTES);
        max = p->is_output ? MAX_PARAM_TEXT_BYTES : -1;
        data = (BYTE *)(uintptr_t)p->text;
        if (!p->is_null && len == 0)
            return fr_err_set(err, FR_EARG,
                              "parameter %s is empty: db-lib would send NULL for it",
                              p->name);
        break;
    }
    if (p->is_null) {
        len = 0;
        data = NULL;
    }
    if (dbrpcparam(dbproc, p->name, p->is_output ? DBRPCRETURN : 0, type, max, len,
                   data) == FAIL)
        return fr_err_set(err, FR_EDB, "parameter %s was refused by db-lib", p->name);
    return FR_OK;
}

static bool is_text(enum fr_sql_type type)
{
    return type == FR_SQL_NVARCHAR || type == FR_SQL_GUID || type == FR_SQL_DATETIME;
}

static fr_status read_outputs(struct db_session *s, struct fr_sql_param *params,
                              size_t count, struct fr_err *err)
{
    int returned = dbnumrets(s->dbproc);

    fr_buf_reset(&s->outputs);
    for (int i = 1; i <= returned; i++) {
        const char *name = dbretname(s->dbproc, i);
        BYTE *data = dbretdata(s->dbproc, i);
        DBINT n = dbretlen(s->dbproc, i);
        struct fr_sql_param *p = NULL;
        size_t start = s->outputs.len;

        for (size_t k = 0; k < count && p == NULL; k++)
            if (params[k].is_output && name != NULL && strcmp(params[k].name, name) == 0)
                p = &params[k];
        if (p == NULL)
            continue;
        p->is_null = data == NULL || n < 0;
        if (p->is_null)
            continue;
        if (!add_value(s->dbproc, dbrettype(s->dbproc, i), data, n, &s->outputs) ||
            !fr_buf_add_byte(&s->outputs, '\0'))
            return fr_err_set(err, FR_EPROTO, "output parameter %s cannot be read",
                              p->name);
        /* a text's place until all are read: the buffer may still move */
        if (is_text(p->type))
            p->number = (int64_t)start;
        else if (fr_num_i64(s->outputs.data + start, INT64_MIN, INT64_MAX, &p->number) !=
                 FR_OK)
            return fr_err_set(err, FR_EPROTO, "output parameter %s is not a number",
                              p->name);
    }
    for (size_t k = 0; k < count; k++)
        if (params[k].is_output && !params[k].is_null && is_text(params[k].type))
            params[k].text = s->outputs.data + params[k].number;
    return FR_OK;
}

static fr_status db_call(struct fr_sql *sql, const char *procedure,
                         struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                         void *ctx, struct fr_err *err)
{
    struct db_session *s = (struct db_session *)sql;
    union param_value values[FR_SQL_MAX_PARAMS];
    fr_status st = begin_call(s, err);

    if (st != FR_OK)
        return st;
    if (count > FR_SQL_MAX_PARAMS)
        return fr_err_set(err, FR_EARG, "%s: more than %d parameters", procedure,
                          FR_SQL_MAX_PARAMS);
    if (dbrpcinit(s->dbproc, procedure, 0) == FAIL)
        return outcome(s, procedure, err);
    for (size_t i = 0; i < count && st == FR_OK; i++)
        st = add_param(s->dbproc, &params[i], &values[i], err);
    if (st != FR_OK) {
        dbrpcinit(s->dbproc, NULL, DBRPCRESET);
        return st;
    }
    for (size_t i = 0; i < count; i++)
        if (params[i].is_output)
            params[i].is_null = true;
    st = read_answer(s, dbrpcsend(s->dbproc) == SUCCEED, row, ctx, NULL, err);
    if (st == FR_OK)
        st = outcome(s, procedure, err);
    return st == FR_OK ? read_outputs(s, params, count, err) : st;
}

static void db_close(struct fr_sql *sql)
{
    struct db_session *s = (struct db_session *)sql;

    if (s->dbproc != NULL)
        dbclose(s->dbproc);
    fr_buf_free(&s->outputs);
    free(s);
}

const struct fr_sql_ops fr_db_session_ops = {.run = db_run,
                                             .run_params = fr_sql_run_as_call,
                                             .call = db_call,
                                             .close = db_close,
                                             .nvarchar = "nvarchar(4000)",
                                             .declared_max_bytes = MAX_PARAM_TEXT_BYTES};
