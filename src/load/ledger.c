#include "load/ledger_priv.h"

#include "base/buf.h"
#include "db/script.h"
#include "db/statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_STATEMENT_BYTES = 16384,
    DUPLICATE_KEY = 2627,
    NAME_IS_TAKEN = 2714,
    CREATE_TRIES = 10
};

static bool is_regular_identifier(const char *p, size_t n)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789@$#";

    return n > 0 && n < FR_LEDGER_NAME_BYTES && strspn(p, letters) >= n &&
           (*p < '0' || *p > '9');
}

fr_status fr_ledger_place_parse(const char *text, struct fr_ledger_place *out,
                                struct fr_err *err)
{
    const char *dot, *table;
    size_t n;

    *out = (struct fr_ledger_place){"dbo", "fullrack_ledger"};
    if (text == NULL)
        return FR_OK;
    dot = strchr(text, '.');
    n = dot == NULL ? 0 : (size_t)(dot - text);
    table = dot == NULL ? text : dot + 1;
    if ((dot != NULL && !is_regular_identifier(text, n)) ||
        !is_regular_identifier(table, strlen(table)))
        return fr_err_set(
            err, FR_EARG,
            "--ledger-table %s: expected TABLE or SCHEMA.TABLE, of letters, "
            "digits and _, at most %d each",
            text, FR_LEDGER_NAME_BYTES - 1);
    if (dot != NULL)
        snprintf(out->schema, sizeof out->schema, "%.*s", (int)n, text);
    snprintf(out->table, sizeof out->table, "%s", table);
    return FR_OK;
}

fr_status ledger_localize(const char *sql, const struct fr_ledger_place *place,
                          const char *target, struct fr_buf *out, struct fr_err *err)
{
    char ledger[2 * FR_LEDGER_NAME_BYTES + 8], marks[2 * FR_LEDGER_NAME_BYTES + 32];
    char stages[2 * FR_LEDGER_NAME_BYTES + 32];
    char mark[FR_LEDGER_NAME_BYTES + 16], stage[FR_LEDGER_NAME_BYTES + 16];
    bool is_usual = strcmp(place->table, "fullrack_ledger") == 0;
    const struct fr_sql_name names[] = {
        {"dbo.fullrack_ledger", ledger},   {"dbo.fullrack_truncation", marks},
        {"dbo.fullrack_staging", stages},  {"dbo.target_table", target},
        {"fullrack_ledger", place->table}, {"fullrack_truncation", mark},
        {"fullrack_staging", stage},
    };

    snprintf(mark, sizeof mark, "%s%s", is_usual ? "fullrack" : place->table,
             "_truncation");
    snprintf(stage, sizeof stage, "%s%s", is_usual ? "fullrack" : place->table,
             "_staging");
    snprintf(ledger, sizeof ledger, "[%s].[%s]", place->schema, place->table);
    snprintf(stages, sizeof stages, "[%s].[%s]", place->schema, stage);
    snprintf(marks, sizeof marks, "[%s].[%s]", place->schema, mark);
    fr_buf_init(out, MAX_STATEMENT_BYTES);
    return fr_sql_rename(sql, names, sizeof names / sizeof names[0], out, err);
}

fr_status fr_ledger_quote(const struct fr_ledger_place *place, const char *name,
                          char out[FR_LEDGER_QUOTED_BYTES], struct fr_err *err)
{
    struct fr_buf text;
    fr_status st = ledger_localize(name, place, "", &text, err);

    if (st == FR_OK)
        snprintf(out, FR_LEDGER_QUOTED_BYTES, "%s", fr_buf_text(&text));
    fr_buf_free(&text);
    return st;
}

fr_status ledger_run(struct fr_sql *s, const struct fr_ledger_place *place,
                     const char *sql, struct fr_sql_param *params, size_t count,
                     struct fr_sql_one *one, struct fr_err *err)
{
    struct fr_buf text;
    fr_status st = ledger_localize(sql, place, "", &text, err);

    if (st == FR_OK)
        st = fr_sql_run_params(s, fr_buf_text(&text), params, count,
                               one == NULL ? NULL : fr_sql_take_one, one, err);
    fr_buf_free(&text);
    return st;
}

/* All of its tables, or (only_heads) the one that it began with. */
static fr_status find_ledger(struct fr_sql *s, const struct fr_ledger_place *place,
                             bool only_heads, bool *exists, struct fr_err *err)
{
    static const char look_for_heads[] =
        "SELECT 1 WHERE OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL";
    static const char look_for_all[] =
        "SELECT 1 WHERE OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL"
        " AND OBJECT_ID(N'dbo.fullrack_truncation', N'U') IS NOT NULL"
        " AND OBJECT_ID(N'dbo.fullrack_staging', N'U') IS NOT NULL";
    const char *look = only_heads ? look_for_heads : look_for_all;
    struct fr_sql_one one = {0};
    struct fr_buf text;
    fr_status st = ledger_localize(look, place, "", &text, err);

    if (st == FR_OK)
        st = fr_sql_run(s, fr_buf_text(&text), fr_sql_take_one, &one, err);
    fr_buf_free(&text);
    *exists = st == FR_OK && one.found;
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "looking for the ledger");
}

static fr_status ledger_exists(struct fr_sql *s, const struct fr_ledger_place *place,
                               bool *exists, struct fr_err *err)
{
    return find_ledger(s, place, false, exists, err);
}

static fr_status may_not_make(const struct fr_ledger_place *place, struct fr_err *err)
{
    fr_err_wrap(err,
                "the ledger %s.%s cannot be made in the target database (let `fullrack "
                "init` do it with more rights, name a table you may make with "
                "--ledger-table, or use --ledger off: at least once)",
                place->schema, place->table);
    if (err != NULL)
        err->status = FR_EARG;
    return FR_EARG;
}

fr_status fr_ledger_create(struct fr_sql *s, const struct fr_ledger_place *place,
                           struct fr_err *err)
{
    struct fr_buf script = {0};
    struct fr_err why = {0};
    bool exists = false;
    fr_status st = ledger_exists(s, place, &exists, err);

    if (st == FR_OK && !exists)
        st = ledger_localize(fr_script_ledger, place, "", &script, err);
    /* other workers may make it in the same moment, one of its tables after the other */
    for (int tries = 1; st == FR_OK && !exists; tries++) {
        st = fr_script_run(s, fr_buf_text(&script), &why);
        if (st == FR_OK)
            break;
        if (err != NULL)
            *err = why;
        if (st != FR_EDB)
            break;
        if (ledger_exists(s, place, &exists, NULL) != FR_OK ||
            (!exists && (why.server_number != NAME_IS_TAKEN || tries == CREATE_TRIES)))
            st = may_not_make(place, err);
        else
            st = FR_OK;
    }
    fr_buf_free(&script);
    return st;
}

fr_status fr_ledger_grant(struct fr_sql *s, const struct fr_ledger_place *place,
                          bool wanted, struct fr_err *err)
{
    struct fr_buf script = {0};
    fr_status st = fr_script_may_grant(s, wanted, &wanted, err);

    if (st != FR_OK || !wanted)
        return st;
    st = ledger_localize(fr_script_grants_target, place, "", &script, err);
    if (st == FR_OK)
        st = fr_script_run(s, fr_buf_text(&script), err);
    fr_buf_free(&script);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "sql/grants_target.sql");
}

fr_status fr_ledger_truncate_once(struct fr_sql *s, const struct fr_ledger_place *place,
                                  const struct fr_truncation *t, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@truncate_group", t->group),
        fr_sql_in_int("@target_object_id", t->object_id),
    };
    struct fr_buf text;
    fr_status st = ledger_localize(fr_stmt_ledger_truncate, place, t->table, &text, err);

    if (st == FR_OK)
        st = fr_sql_run_params(s, fr_buf_text(&text), params, 2, NULL, NULL, err);
    fr_buf_free(&text);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "--truncate of %s", t->table);
}

enum head_column {
    H_EPOCH,
    H_NEXT_OFFSET,
    H_NEXT_ROW,
    H_ROWS,
    H_REJECTED,
    H_SKIPPED,
    H_REJECT_BYTES,
    H_TRIMMED,
    H_BATCHES,
    H_PLAN_HASH,
    H_SOURCE_BYTES,
    H_SOURCE_MTIME,
    H_SOURCE_HASH,
    H_OBJECT_ID,
    H_CREATE_DATE,
    H_RANGE_END,
    H_STATE /* of ledger_head alone */
};

static void read_head(const struct fr_sql_one *one, struct fr_head *h)
{
    memset(h, 0, sizeof *h);
    h->epoch = fr_sql_one_i64(one, H_EPOCH, 0);
    h->next_offset = fr_sql_one_i64(one, H_NEXT_OFFSET, 0);
    h->next_row = fr_sql_one_i64(one, H_NEXT_ROW, 1);
    h->rows = fr_sql_one_i64(one, H_ROWS, 0);
    h->rejected = fr_sql_one_i64(one, H_REJECTED, 0);
    h->skipped = fr_sql_one_i64(one, H_SKIPPED, 0);
    h->reject_bytes = fr_sql_one_i64(one, H_REJECT_BYTES, 0);
    h->trimmed = fr_sql_one_i64(one, H_TRIMMED, 0);
    h->batches = fr_sql_one_i64(one, H_BATCHES, 0);
}

/* A resumed load must read the same bytes in the same way into the same table. */
static fr_status check_identity(const struct fr_sql_one *one,
                                const struct fr_head_key *key,
                                const struct fr_head_identity *id, struct fr_err *err)
{
    int64_t hash = (int64_t)(id->file.head_hash & INT64_MAX);
    int64_t rows = fr_sql_one_i64(one, H_ROWS, 0);
    char cure[200];

    if (rows > 0)
        snprintf(cure, sizeof cure,
                 "; %" PRId64 " of its rows are in the table: take them out first, then "
                 "load it anew (a task of the queue: fullrack reset)",
                 rows);
    else
        snprintf(
            cure, sizeof cure,
            "; none of its rows are in the table: load it anew (a task of the queue: "
            "fullrack reset)");
    if (fr_sql_one_i64(one, H_RANGE_END, -1) != key->range_end)
        return fr_err_set(
            err, FR_EARG,
            "%s was cut into other ranges when its load was begun: give the "
            "--split of then",
            id->source);
    if (fr_sql_one_i64(one, H_PLAN_HASH, 0) != (int64_t)id->plan_hash)
        return fr_err_set(err, FR_EARG,
                          "%s was begun with other options or other columns%s",
                          id->source, cure);
    if (fr_sql_one_i64(one, H_SOURCE_BYTES, 0) != id->file.bytes ||
        fr_sql_one_i64(one, H_SOURCE_MTIME, 0) != id->file.mtime_ns ||
        fr_sql_one_i64(one, H_SOURCE_HASH, 0) != hash)
        return fr_err_set(err, FR_EARG,
                          "%s has changed since its load was begun, or is another file%s",
                          id->source, cure);
    if (fr_sql_one_i64(one, H_OBJECT_ID, 0) != id->object_id ||
        one->values[H_CREATE_DATE] == NULL ||
        strcmp(one->values[H_CREATE_DATE], id->object_create_date) != 0)
        return fr_err_set(err, FR_EARG,
                          "the table is not the one the load of %s was begun into%s",
                          id->source, cure);
    return FR_OK;
}

static fr_status try_take_over(struct fr_sql *s, const struct fr_head_key *key,
                               int64_t epoch, struct fr_sql_one *one, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", key->load_id),
        fr_sql_in_i64("@range_start", key->range_start),
        fr_sql_in_i64("@epoch", epoch),
    };

    memset(one, 0, sizeof *one);
    return ledger_run(s, &key->place,
                      epoch > 0 ? fr_stmt_ledger_take_over : fr_stmt_ledger_resume,
                      params, epoch > 0 ? 3 : 2, one, err);
}

static fr_status insert_head(struct fr_sql *s, const struct fr_head_key *key,
                             const struct fr_head_identity *id, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", key->load_id),
        fr_sql_in_i64("@range_start", key->range_start),
        fr_sql_in_i64("@epoch", 0),
        fr_sql_in_or_null("@range_end", FR_SQL_BIGINT, key->range_end),
        fr_sql_in_i64("@plan_hash", (int64_t)id->plan_hash),
        fr_sql_in_text("@source", id->source),
        fr_sql_in_i64("@source_bytes", id->file.bytes),
        fr_sql_in_i64("@source_mtime_ns", id->file.mtime_ns),
        fr_sql_in_i64("@source_hash", (int64_t)(id->file.head_hash & INT64_MAX)),
        fr_sql_in_int("@target_object_id", id->object_id),
        {.name = "@target_create_date",
         .type = FR_SQL_DATETIME,
         .text = id->object_create_date},
    };
    fr_status st = ledger_run(s, &key->place, fr_stmt_ledger_insert, params,
                              sizeof params / sizeof params[0], NULL, err);

    /* another made it in the same moment; the take-over that follows decides */
    if (st == FR_EDB && err != NULL && err->server_number == DUPLICATE_KEY)
        return FR_OK;
    return st;
}

fr_status fr_ledger_read_ranges(struct fr_sql *s, const struct fr_ledger_place *place,
                                const char *load_id, fr_sql_row_fn row, void *ctx,
                                struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_guid("@load_id", load_id)};
    struct fr_buf text;
    bool exists = false;
    fr_status st = find_ledger(s, place, true, &exists, err);

    if (st != FR_OK || !exists)
        return st;
    st = ledger_localize(fr_stmt_ledger_ranges, place, "", &text, err);
    if (st == FR_OK)
        st = fr_sql_run_params(s, fr_buf_text(&text), params, 1, row, ctx, err);
    fr_buf_free(&text);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "looking for load %s", load_id);
}

fr_status fr_ledger_read_all(struct fr_sql *s, const struct fr_ledger_place *place,
                             fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    struct fr_buf text;
    bool exists = false;
    fr_status st = find_ledger(s, place, true, &exists, err);

    if (st != FR_OK || !exists)
        return st;
    /* one of an earlier version lacks a table that the heads are looked at with */
    st = fr_ledger_create(s, place, err);
    if (st != FR_OK)
        return st;
    st = ledger_localize(fr_stmt_ledger_heads, place, "", &text, err);
    if (st == FR_OK)
        st = fr_sql_run(s, fr_buf_text(&text), row, ctx, err);
    fr_buf_free(&text);
    return st;
}

/* The head exists but could not be taken: done, closed, or owned by somebody newer. */
static fr_status why_not(struct fr_sql *s, const struct fr_head_key *key, int64_t epoch,
                         const struct fr_head_identity *id, struct fr_head *head,
                         struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", key->load_id),
        fr_sql_in_i64("@range_start", key->range_start),
    };
    struct fr_sql_one one = {0};
    fr_status st = ledger_run(s, &key->place, fr_stmt_ledger_head, params, 2, &one, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "ledger");
    if (!one.found || one.values[H_STATE] == NULL)
        return fr_err_set(err, FR_EFENCED, "the ledger has no head for load %s",
                          key->load_id);
    if (strcmp(one.values[H_STATE], "done") == 0) {
        read_head(&one, head);
        head->done = true;
        /* a queue has ended this load before and only wants its figures; --resume may
         * have named another source */
        return epoch > 0 ? FR_OK : check_identity(&one, key, id, err);
    }
    if (strcmp(one.values[H_STATE], "closed") == 0)
        return fr_err_set(err, FR_EARG,
                          "load %s was closed by a reset or cancel; `fullrack reset` of "
                          "the task begins it anew",
                          key->load_id);
    return fr_err_set(err, FR_EFENCED, "load %s is owned by a newer worker (epoch %s)",
                      key->load_id,
                      one.values[H_EPOCH] == NULL ? "?" : one.values[H_EPOCH]);
}

fr_status fr_ledger_take_over(struct fr_sql *s, const struct fr_head_key *key,
                              int64_t epoch, const struct fr_head_identity *id,
                              struct fr_head *head, struct fr_err *err)
{
    struct fr_sql_one one;
    fr_status st;

    for (int round = 0; round < 2; round++) {
        st = try_take_over(s, key, epoch, &one, err);
        if (st != FR_OK)
            return fr_err_wrap(err, "taking over the ledger's head");
        if (one.found) {
            read_head(&one, head);
            return check_identity(&one, key, id, err);
        }
        if (round == 0) {
            st = insert_head(s, key, id, err);
            if (st != FR_OK)
                return fr_err_wrap(err, "making the ledger's head");
        }
    }
    return why_not(s, key, epoch, id, head, err);
}

fr_status fr_ledger_step(struct fr_sql *s, const struct fr_head_key *key,
                         const struct fr_head *before, const struct fr_head *after,
                         struct fr_err *err)
{
    struct fr_sql_one one = {0};
    struct fr_buf text, local;
    fr_status st;

    /* Declared numbers and a GUID in front of fixed text, in one batch: as an RPC, a
       COMMIT inside would be reported as error 266 (transaction count after EXECUTE). */
    fr_buf_init(&text, MAX_STATEMENT_BYTES);
    fr_buf_printf(
        &text,
        "DECLARE @load_id uniqueidentifier = '%.36s', @range_start bigint = %" PRId64
        ", @epoch bigint = %" PRId64 ", @from_offset bigint = %" PRId64
        ", @next_offset bigint = %" PRId64 ", @next_row bigint = %" PRId64
        ", @rows_loaded bigint = %" PRId64 ", @rows_rejected bigint = %" PRId64
        ", @rows_skipped bigint = %" PRId64 ", @reject_bytes bigint = %" PRId64
        ", @trimmed_values bigint = %" PRId64 ", @state varchar(8) = '%s';\n",
        key->load_id, key->range_start, before->epoch, before->next_offset,
        after->next_offset, after->next_row, after->rows, after->rejected, after->skipped,
        after->reject_bytes, after->trimmed, after->done ? "done" : "open");
    fr_buf_add_str(&text, fr_stmt_ledger_step);
    st = ledger_localize(fr_buf_text(&text), &key->place, "", &local, err);
    if (text.failed)
        st = fr_err_set(err, FR_ENOMEM, "no memory for the ledger's step");
    if (st == FR_OK)
        st = fr_sql_run(s, fr_buf_text(&local), fr_sql_take_one, &one, err);
    fr_buf_free(&local);
    fr_buf_free(&text);
    if (st != FR_OK)
        return fr_err_wrap(err, "moving the ledger's head");
    if (fr_sql_one_i64(&one, 0, 0) != 1)
        return fr_err_set(
            err, FR_EFENCED,
            "load %s: the batch was rolled back, a newer worker owns it or its "
            "transaction had ended",
            key->load_id);
    return FR_OK;
}

fr_status fr_ledger_hold(struct fr_sql *s, const struct fr_head_key *key,
                         const struct fr_head *head, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", key->load_id),
        fr_sql_in_i64("@range_start", key->range_start),
        fr_sql_in_i64("@epoch", head->epoch),
        fr_sql_in_i64("@next_offset", head->next_offset),
    };
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run(s, "BEGIN TRANSACTION", NULL, NULL, err);

    if (st == FR_OK)
        st = ledger_run(s, &key->place, fr_stmt_ledger_hold, params, 4, &one, err);
    if (st == FR_OK && !one.found)
        st = fr_err_set(err, FR_EFENCED, "load %s: a newer worker owns it", key->load_id);
    if (st != FR_OK)
        fr_ledger_let_go(s);
    return st;
}

void fr_ledger_let_go(struct fr_sql *s)
{
    if (s->lost || fr_sql_run(s, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION", NULL, NULL,
                              NULL) != FR_OK)
        s->lost = true;
}

fr_status fr_ledger_close(struct fr_sql *s, const struct fr_head_key *key,
                          struct fr_ledger_closing *how, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", key->load_id),
        fr_sql_in_i64("@range_start", key->range_start),
        fr_sql_in_text("@source", how->source),
        fr_sql_in_bit("@also_done", how->also_done),
    };
    struct fr_sql_one one;

    for (;;) {
        fr_status st;

        memset(&one, 0, sizeof one);
        st = ledger_run(s, &key->place, fr_stmt_ledger_close, params, 4, &one, err);
        /* a worker made it in the same moment (2627), or between the two statements */
        if (st == FR_EDB && err != NULL && err->server_number == DUPLICATE_KEY)
            continue;
        if (st != FR_OK)
            return fr_err_wrap(err, "closing the ledger's head");
        if (one.found && one.values[0] != NULL && strcmp(one.values[0], "open") != 0)
            break;
    }
    how->rows = fr_sql_one_i64(&one, 1, 0);
    how->done = strcmp(one.values[0], "done") == 0;
    return FR_OK;
}

fr_status ledger_commit(struct fr_sql *s, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run(s,
                              "IF XACT_STATE() = 1 AND @@TRANCOUNT = 1\n"
                              "BEGIN COMMIT TRANSACTION; SELECT 1; END\n"
                              "ELSE SELECT 0;",
                              fr_sql_take_one, &one, err);

    if (st == FR_OK && fr_sql_one_i64(&one, 0, 0) != 1)
        st = fr_err_set(err, FR_EDB,
                        "the transaction had ended (does a trigger end it?): it is "
                        "rolled back");
    return st;
}
