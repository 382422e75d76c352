#include "observe/reading.h"

#include "base/clock.h"
#include "base/num.h"
#include "db/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ITEMS = 1 << 20,
    DENIED_SERVER_VIEW = 300, /* VIEW SERVER STATE */
    DENIED_DATABASE_VIEW = 262,
    NO_SUCH_OBJECT = 208,
    NO_RIGHT_TO_SELECT = 229,
    BABELFISH_UNNUMBERED =
        33557097 /* an error of PostgreSQL that SQL Server has none for */
};

static int compare_names(const struct fr_reading_item *x, const struct fr_reading_item *y)
{
    for (size_t i = 0; i < FR_READING_NAMES; i++) {
        const char *a = x->names[i], *b = y->names[i];
        int order = strcmp(a == NULL ? "" : a, b == NULL ? "" : b);

        if (order != 0)
            return order;
    }
    return 0;
}

static int by_names(const void *x, const void *y)
{
    return compare_names(x, y);
}

void fr_reading_sort(struct fr_reading *r)
{
    if (r->count > 0)
        qsort(r->items, r->count, sizeof *r->items, by_names);
}

void fr_reading_free(struct fr_reading *r)
{
    for (size_t i = 0; i < r->count; i++)
        for (size_t n = 0; n < FR_READING_NAMES; n++)
            free(r->items[i].names[n]);
    free(r->items);
    memset(r, 0, sizeof *r);
}

fr_status fr_reading_add(struct fr_reading *r, const char *const *names,
                         const int64_t *values, struct fr_err *err)
{
    struct fr_reading_item *item;

    if (r->count == MAX_ITEMS)
        return fr_err_set(err, FR_EDB, "the server has more than %d counters", MAX_ITEMS);
    if ((r->count & (r->count - 1)) == 0) { /* at each power of two */
        size_t room = r->count == 0 ? 1 : 2 * r->count;
        struct fr_reading_item *grown = realloc(r->items, room * sizeof *grown);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a server's counters");
        r->items = grown;
    }
    item = &r->items[r->count];
    memset(item, 0, sizeof *item);
    memcpy(item->values, values,
           (r->kind->counters + r->kind->levels) * sizeof *item->values);
    r->count++;
    for (size_t i = 0; i < r->kind->names; i++) {
        if (names[i] == NULL)
            continue;
        item->names[i] = strdup(names[i]);
        if (item->names[i] == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a server's counters");
    }
    return FR_OK;
}

static fr_status take_item(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fr_reading *r = ctx;
    int64_t values[FR_READING_VALUES] = {0};

    for (size_t i = 0; i < r->kind->counters + r->kind->levels; i++) {
        const char *text = row->values[r->kind->names + i];

        if (text != NULL && fr_num_i64(text, INT64_MIN, INT64_MAX, &values[i]) != FR_OK)
            return fr_err_set(err, FR_EDB, "%s is not a whole number: \"%s\"",
                              row->names[r->kind->names + i], text);
    }
    return fr_reading_add(r, row->values, values, err);
}

/* Where the server does not tell its start, averages over its life are not known. */
static void read_start(struct fr_sql *s, struct fr_reading *r)
{
    struct fr_sql_one one = {0};

    r->uptime_s = -1;
    if (fr_sql_run(s, fr_stmt_server_start, fr_sql_take_one, &one, NULL) != FR_OK ||
        !one.found || one.values[0] == NULL)
        return;
    snprintf(r->started, sizeof r->started, "%s", one.values[0]);
    r->uptime_s = fr_sql_one_i64(&one, 1, -1);
}

static bool is_refused(const struct fr_err *err)
{
    return err->status == FR_EDB && (err->server_number == DENIED_SERVER_VIEW ||
                                     err->server_number == DENIED_DATABASE_VIEW ||
                                     err->server_number == NO_SUCH_OBJECT ||
                                     err->server_number == NO_RIGHT_TO_SELECT);
}

void fr_reading_explain(struct fr_err *err, const char *what)
{
    if (err == NULL || err->status != FR_EDB)
        return;
    if (is_refused(err))
        fr_err_wrap(
            err,
            "the server's %s (they need VIEW SERVER STATE, from SQL Server 2022 on "
            "VIEW SERVER PERFORMANCE STATE, in Azure SQL Database VIEW DATABASE STATE)",
            what);
    else if (err->server_number == BABELFISH_UNNUMBERED)
        fr_err_wrap(err, "the server's %s (Babelfish does not show them)", what);
}

fr_status fr_reading_take(struct fr_sql *s, const struct fr_reading_kind *kind,
                          struct fr_reading *out, struct fr_err *err)
{
    struct fr_err why = {0};
    fr_status st;

    memset(out, 0, sizeof *out);
    out->kind = kind;
    read_start(s, out);
    out->taken_ms = fr_clock_ms();
    st = fr_sql_run(s, kind->sql, take_item, out, &why);
    /* Azure SQL Database has no sys.master_files, and shows its own files only */
    if (st == FR_EDB && is_refused(&why) && kind->sql_of_database != NULL && !s->lost &&
        out->count == 0) {
        out->is_of_database = true;
        st = fr_sql_run(s, kind->sql_of_database, take_item, out, &why);
    }
    if (st != FR_OK && err != NULL)
        *err = why;
    fr_reading_explain(err, "counters");
    fr_reading_sort(out);
    return st;
}

static const struct fr_reading_item *find_item(const struct fr_reading *r,
                                               const struct fr_reading_item *like)
{
    if (r->count == 0)
        return NULL;
    return bsearch(like, r->items, r->count, sizeof *r->items, by_names);
}

/* A counter that went down was set back: a file was made anew, or the counters cleared.
 */
static bool was_set_back(const struct fr_reading_kind *kind,
                         const struct fr_reading_item *before,
                         const struct fr_reading_item *after)
{
    for (size_t i = 0; i < kind->counters; i++)
        if (after->values[i] < before->values[i])
            return true;
    return false;
}

fr_status fr_reading_difference(const struct fr_reading *before,
                                const struct fr_reading *after, struct fr_reading *out,
                                struct fr_err *err)
{
    bool restarted = strcmp(before->started, after->started) != 0;
    fr_status st = FR_OK;

    *out = *after;
    out->items = NULL;
    out->count = 0;
    out->uptime_s = (int64_t)((after->taken_ms - before->taken_ms + 500) / 1000);
    out->was_restarted = restarted;
    for (size_t j = 0; st == FR_OK && j < after->count; j++) {
        const struct fr_reading_item *now = &after->items[j];
        const struct fr_reading_item *then = find_item(before, now);
        int64_t grown[FR_READING_VALUES];

        memcpy(grown, now->values, sizeof grown);
        if (then != NULL && was_set_back(after->kind, then, now))
            out->was_restarted = true;
        else if (then != NULL && !restarted)
            for (size_t v = 0; v < after->kind->counters; v++)
                grown[v] -= then->values[v];
        st = fr_reading_add(out, (const char *const *)now->names, grown, err);
        if (st == FR_OK && out->items != NULL)
            out->items[out->count - 1].is_new = then == NULL;
    }
    return st;
}
