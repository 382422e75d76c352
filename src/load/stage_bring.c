/* The end of --stage: all of a group into the target, and what is left over dropped. */
#include "load/stage.h"

#include "base/clock.h"
#include "db/statements.h"
#include "load/ledger_priv.h"
#include "load/loader.h"
#include "load/stage_partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATEMENT_BYTES = 4 << 20, /* twice the names of 1,024 columns */
    TIDY_LOCK_MS = 5000        /* a leftover that is locked is dropped another time */
};

/* A stage table; of stage_heaps.sql or stage_leftovers.sql. */
struct heap {
    char group[FR_GUID_TEXT_BYTES], load_id[FR_GUID_TEXT_BYTES];
    int64_t range_start, rows, target_id;
    char target_date[32];
    char *table; /* quoted; owned */
    bool is_brought, is_there;
};

struct heaps {
    struct heap *items; /* owned */
    size_t count, capacity;
};

static void free_heaps(struct heaps *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->items[i].table);
    free(h->items);
    memset(h, 0, sizeof *h);
}

static struct heap *add_heap(struct heaps *h, const char *table, struct fr_err *err)
{
    if (h->count == h->capacity) {
        size_t wanted = h->capacity == 0 ? 16 : 2 * h->capacity;
        struct heap *grown = realloc(h->items, wanted * sizeof *grown);

        if (grown == NULL) {
            (void)fr_err_set(err, FR_ENOMEM, "no memory for the stage tables");
            return NULL;
        }
        h->items = grown;
        h->capacity = wanted;
    }
    h->items[h->count] = (struct heap){.table = strdup(table)};
    if (h->items[h->count].table == NULL) {
        (void)fr_err_set(err, FR_ENOMEM, "no memory for the stage tables");
        return NULL;
    }
    return &h->items[h->count++];
}

static fr_status take_heap(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct heap *one;

    if (row->columns != 7 || row->values[0] == NULL || row->values[2] == NULL)
        return fr_err_set(err, FR_EPROTO, "the stage tables have other columns");
    one = add_heap(ctx, row->values[2], err);
    if (one == NULL)
        return FR_ENOMEM;
    snprintf(one->load_id, sizeof one->load_id, "%s", row->values[0]);
    one->range_start = fr_sql_row_i64(row, 1, 0);
    one->target_id = fr_sql_row_i64(row, 3, 0);
    snprintf(one->target_date, sizeof one->target_date, "%s",
             row->values[4] == NULL ? "" : row->values[4]);
    one->is_brought = fr_sql_row_i64(row, 5, 0) != 0;
    one->rows = fr_sql_row_i64(row, 6, 0);
    return FR_OK;
}

/* -- bringing in --------------------------------------------------------------------- */

struct bringing {
    struct fr_sql *s;
    const struct fr_stage_group *g;
    struct fr_table *target;
    struct heaps heaps;
    bool never_switch; /* it was refused */
    bool in_switch;    /* what is asked, or done, is for a switch alone */
    struct fr_stage_result *result;
};

static fr_status run_ledger_rows(struct fr_sql *s, const struct fr_ledger_place *place,
                                 const char *sql, struct fr_sql_param *params,
                                 size_t count, fr_sql_row_fn row, void *ctx,
                                 struct fr_err *err)
{
    struct fr_buf text;
    fr_status st = ledger_localize(sql, place, "", &text, err);

    if (st == FR_OK)
        st = count == 0
                 ? fr_sql_run(s, fr_buf_text(&text), row, ctx, err)
                 : fr_sql_run_params(s, fr_buf_text(&text), params, count, row, ctx, err);
    fr_buf_free(&text);
    return st;
}

static fr_status read_heaps(struct bringing *b, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_guid("@stage_group", b->g->group)};
    fr_status st = run_ledger_rows(b->s, &b->g->place, fr_stmt_stage_heaps, params, 1,
                                   take_heap, &b->heaps, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "looking for the stage tables");
    if ((int64_t)b->heaps.count != b->g->tasks)
        return fr_err_set(err, FR_EDATA,
                          "%zu of the %" PRId64 " loads of this group are done: nothing "
                          "is brought into %s",
                          b->heaps.count, b->g->tasks, b->target->display);
    return FR_OK;
}

/* What a view shows may be another table by now; so may a name. */
static fr_status check_target(const struct bringing *b, const struct heap *h,
                              struct fr_err *err)
{
    if (h->target_id == b->target->object_id &&
        strcmp(h->target_date, b->target->create_date) == 0)
        return FR_OK;
    return fr_err_set(
        err, FR_EDATA,
        "%s is not the table that %s was loaded for: it was made anew since "
        "(load anew: `fullrack reset`)",
        b->target->display, h->table);
}

/* "[a], [b]": the columns that a stage table has. */
static bool add_columns(const struct bringing *b, struct fr_buf *sql)
{
    bool first = true, fits = true;

    for (size_t i = 0; fits && i < b->target->column_count; i++) {
        const struct fr_column *c = &b->target->columns[i];
        char name[2 * FR_NAME_MAX_BYTES + 3];

        if (c->computed || (c->identity && !b->g->keep_identity))
            continue;
        fits = fr_name_quote(c->name, name, sizeof name) &&
               fr_buf_printf(sql, "%s%s", first ? "" : ", ", name);
        first = false;
    }
    return fits;
}

static bool has_identity(const struct fr_table *t)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].identity)
            return true;
    return false;
}

static bool write_insert(const struct bringing *b, const struct heap *h,
                         struct fr_buf *sql)
{
    const struct fr_table *t = b->target;
    bool lock = b->g->tablock && t->index_count == 0;
    bool identity = b->g->keep_identity && has_identity(t);

    return (!identity || fr_buf_printf(sql, "SET IDENTITY_INSERT %s ON;\n", t->quoted)) &&
           fr_buf_printf(sql, "INSERT INTO %s%s (", t->quoted,
                         lock ? " WITH (TABLOCK)" : "") &&
           add_columns(b, sql) && fr_buf_add_str(sql, ")\nSELECT ") &&
           add_columns(b, sql) &&
           fr_buf_printf(sql, " FROM %s;\nDECLARE @rows bigint = ROWCOUNT_BIG();\n",
                         h->table) &&
           (!identity ||
            fr_buf_printf(sql, "SET IDENTITY_INSERT %s OFF;\n", t->quoted)) &&
           fr_buf_add_str(sql, "SELECT @rows;");
}

static fr_status insert_heap(struct bringing *b, const struct heap *h, int64_t *rows,
                             struct fr_err *err)
{
    struct fr_buf sql;
    fr_status st = FR_OK;

    fr_buf_init(&sql, STATEMENT_BYTES);
    *rows = -1;
    if (!write_insert(b, h, &sql))
        st = fr_err_set(err, FR_ENOMEM, "the INSERT into %s is too long",
                        b->target->display);
    /* a trigger of the target may answer rows, too: ours are the last */
    if (st == FR_OK)
        st = fr_sql_run(b->s, fr_buf_text(&sql), fr_sql_take_last_i64, rows, err);
    fr_buf_free(&sql);
    return st == FR_OK
               ? FR_OK
               : fr_err_wrap(err, "bringing %s into %s", h->table, b->target->display);
}

static fr_status mark_brought(struct bringing *b, const struct heap *h,
                              struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@stage_group", b->g->group),
        fr_sql_in_guid("@load_id", h->load_id),
        fr_sql_in_i64("@range_start", h->range_start),
    };
    struct fr_sql_one one = {0};
    fr_status st =
        ledger_run(b->s, &b->g->place, fr_stmt_stage_brought, params, 3, &one, err);

    if (st == FR_OK && fr_sql_one_i64(&one, 0, 0) != 1)
        st = fr_err_set(err, FR_EDATA, "%s was brought in by somebody else meanwhile",
                        h->table);
    return st;
}

/* The one that was made for a partition (*number), or the only one, into an empty target
 * that is like it. */
static fr_status ask_for_switch(struct bringing *b, const struct heap *h, bool *may,
                                int64_t *number, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_int("@target_object_id", b->target->object_id),
        fr_sql_in_text("@target_table", b->target->quoted),
        fr_sql_in_text("@stage_table", h->table),
    };
    char look[2 * FR_NAME_MAX_BYTES + 160];
    struct fr_sql_one one = {0};
    fr_status st;

    *may = false;
    *number = 0;
    if (b->never_switch)
        return FR_OK;
    b->in_switch = true;
    st = stage_partition_of(b->s, h->table, number, err);
    *may = st == FR_OK && *number > 0;
    b->in_switch = st != FR_OK;
    if (st != FR_OK || *may || b->heaps.count != 1)
        return st;
    b->in_switch = true;
    st = fr_sql_run_params(b->s, fr_stmt_stage_switch, params, 3, fr_sql_take_one, &one,
                           err);
    b->in_switch = st != FR_OK;
    if (st != FR_OK || fr_sql_one_i64(&one, 0, 0) != 1)
        return st;
    /* nobody puts a row there before the switch */
    memset(&one, 0, sizeof one);
    snprintf(
        look, sizeof look,
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM %s WITH (TABLOCKX, HOLDLOCK)) THEN 0 "
        "ELSE 1 END",
        b->target->quoted);
    st = fr_sql_run(b->s, look, fr_sql_take_one, &one, err);
    *may = st == FR_OK && fr_sql_one_i64(&one, 0, 0) == 1;
    return st;
}

/* number: of the partition that it becomes; 0: it is the whole table. */
static fr_status switch_heap(struct bringing *b, const struct heap *h, int64_t number,
                             int64_t *rows, struct fr_err *err)
{
    struct fr_buf sql;
    char partition[40] = "";
    uint64_t began_ms;
    fr_status st = FR_OK;

    if (number > 0)
        snprintf(partition, sizeof partition, " PARTITION %" PRId64, number);

    fr_buf_init(&sql, STATEMENT_BYTES);
    b->in_switch = true;
    if (!fr_buf_printf(&sql, "SELECT COUNT_BIG(*) FROM %s WITH (TABLOCKX);", h->table))
        st = fr_err_set(err, FR_ENOMEM, "no memory for the stage tables");
    if (st == FR_OK)
        st = fr_sql_run(b->s, fr_buf_text(&sql), fr_sql_take_last_i64, rows, err);
    fr_buf_free(&sql);
    fr_buf_init(&sql, STATEMENT_BYTES);
    if (st == FR_OK && !fr_buf_printf(&sql, "ALTER TABLE %s SWITCH TO %s%s;", h->table,
                                      b->target->quoted, partition))
        st = fr_err_set(err, FR_ENOMEM, "no memory for the stage tables");
    began_ms = fr_clock_ms();
    if (st == FR_OK)
        st = fr_sql_run(b->s, fr_buf_text(&sql), NULL, NULL, err);
    if (st == FR_OK)
        b->in_switch = false;
    fr_buf_free(&sql);
    b->result->was_switched = st == FR_OK;
    b->result->switch_ms += fr_clock_ms() - began_ms;
    return st;
}

static fr_status bring_heap(struct bringing *b, const struct heap *h, struct fr_err *err)
{
    int64_t rows = -1, number = 0;
    bool may_switch = false;
    fr_status st = check_target(b, h, err);

    if (st == FR_OK)
        st = ask_for_switch(b, h, &may_switch, &number, err);
    if (st == FR_OK)
        st = may_switch ? switch_heap(b, h, number, &rows, err)
                        : insert_heap(b, h, &rows, err);
    if (st == FR_OK && rows != h->rows)
        st = fr_err_set(err, FR_EDATA,
                        "%s has %" PRId64 " rows for %s, and the ledger accounts for "
                        "%" PRId64 ": nothing is brought in",
                        h->table, rows, b->target->display, h->rows);
    if (st == FR_OK)
        st = mark_brought(b, h, err);
    if (st == FR_OK) {
        b->result->rows += rows;
        b->result->tables++;
    }
    return st;
}

static fr_status empty_target(struct bringing *b, struct fr_err *err)
{
    struct fr_truncation t = {b->g->truncate_group, b->target->quoted,
                              b->target->object_id};

    return b->g->truncate_group == NULL || b->g->truncate_group[0] == '\0'
               ? FR_OK
               : fr_ledger_truncate_once(b->s, &b->g->place, &t, err);
}

static bool all_are_brought(const struct heaps *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (!h->items[i].is_brought)
            return false;
    return true;
}

static fr_status bring_all(struct bringing *b, struct fr_err *err)
{
    fr_status st =
        fr_sql_run(b->s, "SET XACT_ABORT ON; BEGIN TRANSACTION;", NULL, NULL, err);

    if (st == FR_OK)
        st = read_heaps(b, err);
    if (st == FR_OK && !all_are_brought(&b->heaps))
        st = empty_target(b, err);
    for (size_t i = 0; st == FR_OK && i < b->heaps.count; i++)
        if (!b->heaps.items[i].is_brought)
            st = bring_heap(b, &b->heaps.items[i], err);
    if (st == FR_OK && b->g->confirm != NULL)
        st = b->g->confirm(b->g->ctx, err);
    return st == FR_OK ? ledger_commit(b->s, err) : st;
}

fr_status fr_stage_bring_in(struct fr_sql *s, const struct fr_stage_group *g,
                            struct fr_stage_result *out, struct fr_err *err)
{
    struct bringing b = {.s = s, .g = g, .result = out};
    fr_status st;

    memset(out, 0, sizeof *out);
    st = fr_ledger_create(s, &g->place, err);
    if (st == FR_OK)
        st = fr_table_describe(s, g->table, &b.target, err);
    if (st == FR_OK)
        st = bring_all(&b, err);
    /* a catalog without what is asked (Babelfish), or a reason that it does not tell:
     * nothing of the attempt stays, and the rows are inserted */
    if (st == FR_EDB && b.in_switch && !fr_error_is_retryable(err)) {
        fr_ledger_let_go(s);
        free_heaps(&b.heaps);
        memset(out, 0, sizeof *out);
        snprintf(out->refused, sizeof out->refused, "%s", err == NULL ? "" : err->text);
        b.never_switch = true;
        b.in_switch = false;
        st = s->lost ? fr_err_set(err, FR_ELOST, "the connection was lost")
                     : bring_all(&b, err);
    }
    /* what was not committed is rolled back before anybody looks again */
    if (st != FR_OK) {
        fr_ledger_let_go(s);
        memset(out, 0, sizeof *out);
    }
    free_heaps(&b.heaps);
    fr_table_free(&b.target);
    return st;
}

/* -- tidying up ---------------------------------------------------------------------- */

static fr_status take_leftover(void *ctx, const struct fr_sql_row *row,
                               struct fr_err *err)
{
    struct heap *one;

    if (row->columns != 5 || row->values[0] == NULL || row->values[1] == NULL ||
        row->values[3] == NULL)
        return fr_err_set(err, FR_EPROTO, "the stage tables have other columns");
    one = add_heap(ctx, row->values[3], err);
    if (one == NULL)
        return FR_ENOMEM;
    snprintf(one->group, sizeof one->group, "%s", row->values[0]);
    snprintf(one->load_id, sizeof one->load_id, "%s", row->values[1]);
    one->range_start = fr_sql_row_i64(row, 2, 0);
    one->is_there = fr_sql_row_i64(row, 4, 0) != 0;
    return FR_OK;
}

static fr_status drop(struct fr_sql *s, const struct fr_ledger_place *place,
                      const struct heap *h, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@stage_group", h->group),
        fr_sql_in_guid("@load_id", h->load_id),
        fr_sql_in_i64("@range_start", h->range_start),
    };
    struct fr_buf sql;
    fr_status st = FR_OK;

    fr_buf_init(&sql, STATEMENT_BYTES);
    if (!fr_buf_printf(&sql, "SET LOCK_TIMEOUT %d;\nDROP TABLE IF EXISTS %s;",
                       TIDY_LOCK_MS, h->table))
        st = fr_err_set(err, FR_ENOMEM, "no memory for the stage tables");
    if (st == FR_OK && h->is_there)
        st = fr_sql_run(s, fr_buf_text(&sql), NULL, NULL, err);
    fr_buf_free(&sql);
    if (h->is_there && !s->lost &&
        fr_sql_run(s, "SET LOCK_TIMEOUT -1", NULL, NULL, NULL) != FR_OK)
        s->lost = true;
    return st == FR_OK ? ledger_run(s, place, fr_stmt_stage_dropped, params, 3, NULL, err)
                       : st;
}

fr_status fr_stage_tidy(struct fr_sql *s, const struct fr_ledger_place *place,
                        fr_stage_told_fn told, void *ctx, struct fr_err *err)
{
    struct heaps left = {0};
    fr_status st = run_ledger_rows(s, place, fr_stmt_stage_leftovers, NULL, 0,
                                   take_leftover, &left, err);

    for (size_t i = 0; st == FR_OK && i < left.count; i++) {
        struct fr_err why = {0};
        fr_status dropped = drop(s, place, &left.items[i], &why);

        if (dropped == FR_ELOST)
            st = fr_err_set(err, FR_ELOST, "%s", why.text);
        if (told != NULL && (left.items[i].is_there || dropped != FR_OK))
            told(ctx, left.items[i].table, dropped == FR_OK ? NULL : why.text);
    }
    free_heaps(&left);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "dropping stage tables");
}

fr_status fr_stage_read_strangers(struct fr_sql *s, const struct fr_ledger_place *place,
                                  fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    fr_status st =
        run_ledger_rows(s, place, fr_stmt_stage_strangers, NULL, 0, row, ctx, err);

    return st == FR_OK ? FR_OK : fr_err_wrap(err, "looking for stage tables");
}
