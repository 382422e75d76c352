#include "load/undo.h"

#include "db/statements.h"
#include "load/ledger_priv.h"
#include "load/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of ledger_head.sql. */
enum head_column { H_ROWS = 3, H_STATE = 16 };

static bool has_ledger(const struct fr_undo *u)
{
    return u->options->ledger_choice == 0;
}

/* What the load has in the table by its ledger: none where it never came out of its stage
 * table. */
static fr_status count_rows(struct fr_sql *s, const struct fr_undo *u, int64_t *rows,
                            struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", u->key.load_id),
        fr_sql_in_i64("@range_start", u->key.range_start),
    };
    struct fr_sql_one one = {0};
    bool is_brought = true;
    fr_status st =
        ledger_run(s, &u->key.place, fr_stmt_ledger_head, params, 2, &one, err);

    *rows = one.found ? fr_sql_one_i64(&one, H_ROWS, 0) : 0;
    if (st == FR_OK && u->options->stage && *rows > 0)
        st = fr_stage_is_brought(s, &u->key, u->options->stage_group, &is_brought, err);
    if (!is_brought)
        *rows = 0;
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "ledger");
}

static fr_status check_column(struct fr_sql *s, const struct fr_undo *u,
                              char why[FR_UNDO_WHY_BYTES], struct fr_err *err)
{
    const char *name = u->options->load_id_column;
    struct fr_table *t = NULL;
    fr_status st = fr_table_describe(s, u->table, &t, err);

    if (st == FR_EDATA) { /* there is no such table: nor are its rows */
        snprintf(why, FR_UNDO_WHY_BYTES, "%.*s", FR_UNDO_WHY_BYTES - 1, err->text);
        fr_err_clear(err);
        return FR_OK;
    }
    if (st == FR_OK && fr_table_find_column(t, name, strlen(name)) == t->column_count)
        snprintf(why, FR_UNDO_WHY_BYTES, "%s has no column %s any more", t->display,
                 name);
    fr_table_free(&t);
    return st;
}

fr_status fr_undo_check(struct fr_sql *s, const struct fr_undo *u, int64_t *rows,
                        char why[FR_UNDO_WHY_BYTES], struct fr_err *err)
{
    bool by_column = u->options->load_id_column != NULL;
    fr_status st = FR_OK;

    *rows = -1;
    why[0] = '\0';
    if (has_ledger(u)) {
        st = fr_ledger_create(s, &u->key.place, err);
        if (st == FR_OK)
            st = count_rows(s, u, rows, err);
    }
    if (st != FR_OK || *rows == 0)
        return st;
    if (by_column)
        return check_column(s, u, why, err);
    if (*rows > 0)
        snprintf(why, FR_UNDO_WHY_BYTES,
                 "%" PRId64
                 " rows of it are in %s, and nothing tells them from others: it "
                 "was %s, and loaded without --load-id-column",
                 *rows, u->table, u->options->stage ? "brought in" : "not staged");
    else
        snprintf(why, FR_UNDO_WHY_BYTES,
                 "it kept no ledger (--ledger off), and was loaded without "
                 "--load-id-column");
    return FR_OK;
}

static fr_status delete_rows(struct fr_sql *s, const struct fr_undo *u, int64_t *rows,
                             struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_guid("@load_id", u->key.load_id)};
    char column[2 * FR_NAME_MAX_BYTES + 3];
    char sql[4 * FR_NAME_MAX_BYTES + sizeof column + 100];
    struct fr_table *t = NULL;
    size_t i;
    fr_status st = fr_table_describe(s, u->table, &t, err);

    if (st != FR_OK)
        return st;
    i = fr_table_find_column(t, u->options->load_id_column,
                             strlen(u->options->load_id_column));
    if (i == t->column_count || !fr_name_quote(t->columns[i].name, column, sizeof column))
        st = fr_err_set(err, FR_EDATA, "%s has no column %s any more", t->display,
                        u->options->load_id_column);
    /* a trigger may answer rows, too: ours are the last */
    if (st == FR_OK && snprintf(sql, sizeof sql,
                                "DELETE FROM %s WHERE %s = @load_id;\n"
                                "SELECT ROWCOUNT_BIG();",
                                t->quoted, column) >= (int)sizeof sql)
        st = fr_err_set(err, FR_EARG, "the name of %s is too long", t->display);
    if (st == FR_OK)
        st = fr_sql_run_params(s, sql, params, 1, fr_sql_take_last_i64, rows, err);
    fr_table_free(&t);
    return st;
}

/* The head is ours until the transaction ends: no worker, and no bring-in, moves it. */
static fr_status close_head(struct fr_sql *s, const struct fr_undo *u, struct fr_err *err)
{
    struct fr_ledger_closing how = {.source = u->source, .also_done = true};
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", u->key.load_id),
        fr_sql_in_i64("@range_start", u->key.range_start),
    };
    int64_t rows = 0;
    fr_status st = fr_ledger_close(s, &u->key, &how, err);

    if (st == FR_OK)
        st = count_rows(s, u, &rows, err);
    if (st == FR_OK && rows > 0 && u->options->load_id_column == NULL)
        st = fr_err_set(err, FR_EDATA,
                        "its rows were brought into %s meanwhile, and nothing tells them "
                        "from others",
                        u->table);
    if (st == FR_OK)
        st = ledger_run(s, &u->key.place, fr_stmt_undo_forget, params, 2, NULL, err);
    return st;
}

fr_status fr_undo_load(struct fr_sql *s, const struct fr_undo *u, int64_t *rows,
                       struct fr_err *err)
{
    fr_status st;

    *rows = 0;
    st = fr_sql_run(s, "SET XACT_ABORT ON; BEGIN TRANSACTION;", NULL, NULL, err);
    if (st == FR_OK && has_ledger(u))
        st = close_head(s, u, err);
    if (st == FR_OK && u->options->load_id_column != NULL)
        st = delete_rows(s, u, rows, err);
    if (st == FR_OK)
        st = ledger_commit(s, err);
    if (st != FR_OK) {
        *rows = 0;
        fr_ledger_let_go(s);
    }
    return st;
}
