#include "load/check.h"

#include "base/utf8.h"
#include "load/layout.h"
#include "load/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 64, CP_UTF8 = 65001 };

/* A session that says yes to everything; the bulk copy finds the check through it. */
struct check_session {
    struct fr_sql sql; /* first */
    const struct fr_check *check;
    size_t *longest;
    int64_t rows, refused;
    bool raw_fields; /* the fields of a refused row are text */
};

struct check_copy {
    struct fr_bulk bulk; /* first */
    struct check_session *session;
    unsigned char **memory; /* per column: its cell; owned, each owned */
    int64_t rows;
};

static fr_status say_yes(struct fr_sql *s, const char *sql, fr_sql_row_fn row, void *ctx,
                         int64_t *affected, struct fr_err *err)
{
    (void)s;
    (void)sql;
    (void)row;
    (void)ctx;
    (void)err;
    if (affected != NULL)
        *affected = 0;
    return FR_OK;
}

static void keep_open(struct fr_sql *s)
{
    (void)s; /* it lies on the stack of fr_check_run() */
}

static const struct fr_sql_ops session_ops = {.run = say_yes, .close = keep_open};

/* ---- the bulk copy: cells, and nothing behind them ---- */

static bool is_text(const struct fr_column *c)
{
    return c->type >= FR_TYPE_CHAR && c->type <= FR_TYPE_NTEXT;
}

static bool is_wide(const struct fr_column *c)
{
    return c->type >= FR_TYPE_NCHAR && c->type <= FR_TYPE_NTEXT;
}

static bool has_length(const struct fr_column *c)
{
    return is_text(c) || (c->type >= FR_TYPE_BINARY && c->type <= FR_TYPE_IMAGE);
}

static fr_status set_memory(struct check_copy *c, size_t i, size_t bytes,
                            struct fr_err *err)
{
    unsigned char *memory = realloc(c->memory[i], bytes + 8 + FR_BULK_SLACK_BYTES);
    struct fr_cell *cell = &c->bulk.cells[i];
    bool fresh = c->memory[i] == NULL;

    if (memory == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a value of %zu bytes", bytes);
    c->memory[i] = memory;
    /* the value lies where any type may lie */
    cell->length = (int32_t *)(void *)(memory + 4);
    cell->data = memory + 8;
    cell->capacity_bytes = bytes;
    if (fresh)
        *cell->length = FR_CELL_NULL;
    return FR_OK;
}

static void copy_free(struct check_copy *c)
{
    for (size_t i = 0; c->memory != NULL && i < c->bulk.columns; i++)
        free(c->memory[i]);
    free(c->memory);
    free(c->bulk.cells);
    free(c);
}

static fr_status check_grow(struct fr_bulk *b, size_t column, size_t bytes,
                            struct fr_err *err)
{
    size_t room = b->cells[column].capacity_bytes;

    while (room < bytes)
        room *= 2;
    return set_memory((struct check_copy *)b, column, room, err);
}

static fr_status check_send(struct fr_bulk *b, struct fr_err *err)
{
    struct check_copy *c = (struct check_copy *)b;
    struct check_session *s = c->session;
    const struct fr_table *t = s->check->table;

    (void)err;
    for (size_t i = 0; i < b->columns; i++) {
        const struct fr_column *column = &t->columns[i];
        size_t n;

        if (b->cells[i].length == NULL || *b->cells[i].length < 0 || !has_length(column))
            continue;
        n = (size_t)*b->cells[i].length / (is_wide(column) ? 2 : 1);
        if (s->longest[i] < n)
            s->longest[i] = n;
    }
    if (s->check->on_row != NULL)
        s->check->on_row(s->check->ctx, b->cells, b->columns);
    c->rows++;
    s->rows++;
    return FR_OK;
}

static fr_status check_finish(struct fr_bulk *b, int64_t *rows, struct fr_err *err)
{
    struct check_copy *c = (struct check_copy *)b;

    (void)err;
    *rows = c->rows;
    copy_free(c);
    return FR_OK;
}

static void check_abandon(struct fr_bulk *b)
{
    copy_free((struct check_copy *)b);
}

static const struct fr_bulk_ops copy_ops = {.grow = check_grow,
                                            .send = check_send,
                                            .finish = check_finish,
                                            .abandon = check_abandon};

static fr_status check_begin(struct fr_sql *s, const struct fr_bulk_target *target,
                             struct fr_bulk **out, struct fr_err *err)
{
    struct check_copy *c = calloc(1, sizeof *c);
    fr_status st = FR_OK;

    *out = NULL;
    if (c == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a check");
    c->session = (struct check_session *)s;
    c->bulk.ops = &copy_ops;
    c->bulk.columns = target->column_count;
    c->bulk.cells = calloc(target->column_count + 1, sizeof *c->bulk.cells);
    c->memory = calloc(target->column_count + 1, sizeof *c->memory);
    if (c->bulk.cells == NULL || c->memory == NULL) {
        copy_free(c);
        return fr_err_set(err, FR_ENOMEM, "no memory for a check");
    }
    for (size_t i = 0; st == FR_OK && i < target->column_count; i++)
        if (target->is_sent[i])
            st = set_memory(c, i, CELL_BYTES, err);
    if (st == FR_OK)
        *out = &c->bulk;
    else
        copy_free(c);
    return st;
}

/* ---- rows that were refused ---- */

/* How long a text would be in its column, near enough to choose a width. */
static size_t length_in(const struct fr_column *c, const char *p, size_t n)
{
    size_t units = 0;

    if (!is_wide(c) && c->code_page == CP_UTF8)
        return n;
    for (size_t i = 0; i < n;) {
        uint32_t ch = 0;
        size_t len = fr_utf8_take((const unsigned char *)p + i, n - i, &ch);

        units += is_wide(c) && ch > 0xFFFF ? 2 : 1;
        i += len == 0 ? 1 : len;
    }
    return units;
}

static void note_refused(void *ctx, const struct fr_plan *plan,
                         const struct fr_record *rec)
{
    struct check_session *s = ctx;
    const struct fr_table *t = s->check->table;

    s->refused++;
    if (rec->bad != NULL || rec->count != fr_plan_field_count(plan))
        return;
    for (size_t i = 0; s->raw_fields && i < rec->count && i < FR_MAX_FIELDS; i++) {
        const char *name = fr_plan_column_of(plan, i);
        size_t column, n;

        if (name == NULL)
            continue;
        column = fr_table_find_column(t, name, strlen(name));
        if (column == t->column_count || !is_text(&t->columns[column]))
            continue;
        n = length_in(&t->columns[column], rec->fields[i].p, rec->fields[i].n);
        if (s->longest[column] < n)
            s->longest[column] = n;
    }
}

static fr_status no_connection(void *ctx, struct fr_sql **out, struct fr_err *err)
{
    (void)ctx;
    *out = NULL;
    return fr_err_set(err, FR_ECONNECT, "a check has no server");
}

fr_status fr_check_run(const struct fr_check *c, size_t *longest,
                       struct fr_check_result *result, struct fr_err *err)
{
    struct check_session session = {.sql = {.ops = &session_ops},
                                    .check = c,
                                    .longest = longest,
                                    .raw_fields = !fr_layout_is_wanted(c->options)};
    struct fr_bulk_engine engine = {.name = c->engine->name,
                                    .abilities = c->engine->abilities &
                                                 ~(unsigned)FR_BULK_LONG_VALUES,
                                    .check = c->engine->check,
                                    .begin = check_begin};
    struct fr_load_options options = *c->options;
    struct fr_load_progress progress = {.rows = 0};
    struct fr_load_job job = {.source = c->source,
                              .described = c->table,
                              .options = &options,
                              .engine = &engine,
                              .key = {.range_end = -1},
                              .connect = no_connection,
                              .on_reject = c->on_reject,
                              .ctx = c->ctx,
                              .on_refused = note_refused,
                              .refused_ctx = &session,
                              .stop = c->stop,
                              .progress = &progress,
                              .trims_blanks = c->trims_blanks};
    struct fr_sql *sql = &session.sql;
    struct fr_load_result r;
    fr_status st;

    options.ledger_choice = 1; /* off: nothing is kept of a check */
    options.truncate = false;
    options.stage = false;
    /* its rows would get some load id */
    if (options.load_id_column != NULL)
        snprintf(job.key.load_id, sizeof job.key.load_id,
                 "00000000-0000-0000-0000-000000000000");
    memset(result, 0, sizeof *result);
    st = fr_load_attempt(&job, &sql, &r, err);
    /* of an attempt that failed the result has what was committed: nothing is, here */
    result->rows = session.rows;
    result->rejected = st == FR_OK ? r.rejected : session.refused;
    result->skipped = r.skipped;
    memcpy(result->format, r.format, sizeof result->format);
    memcpy(result->format_options, r.format_options, sizeof result->format_options);
    return st;
}
