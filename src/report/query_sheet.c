#include "report/query_sheet.h"

#include "db/statements.h"
#include "stats/tally.h"

#include <stdlib.h>
#include <string.h>

/* Of one query, or of all. */
struct line {
    char *name; /* owned; NULL = all queries */
    int64_t assignments, unfinished;
    int64_t cpu_ms, reads, logical_reads; /* -1 = of no execution known */
    struct fr_tally tally;
};

/* Time that a scheduler had an execution. */
struct stay {
    int64_t scheduler_id, start_ms, end_ms;
};

struct fr_query_sheet {
    int64_t start_ms;
    struct line all;
    struct line *lines; /* owned; of entry n at n - 1 */
    size_t line_count;
    struct fr_tally *seconds; /* owned */
    size_t second_count;
    struct stay *stays; /* owned */
    size_t stay_count, stay_capacity;
    json_t *failures; /* owned array of {entry, message, count} */
};

static void line_init(struct line *l)
{
    memset(l, 0, sizeof *l);
    l->cpu_ms = l->reads = l->logical_reads = -1;
}

struct fr_query_sheet *fr_query_sheet_new(int64_t start_ms)
{
    struct fr_query_sheet *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->start_ms = start_ms;
    line_init(&s->all);
    s->failures = json_array();
    if (s->failures == NULL)
        fr_query_sheet_free(&s);
    return s;
}

void fr_query_sheet_free(struct fr_query_sheet **sp)
{
    struct fr_query_sheet *s = sp == NULL ? NULL : *sp;

    if (s == NULL)
        return;
    for (size_t i = 0; i < s->line_count; i++) {
        free(s->lines[i].name);
        fr_tally_free(&s->lines[i].tally);
    }
    for (size_t i = 0; i < s->second_count; i++)
        fr_tally_free(&s->seconds[i]);
    fr_tally_free(&s->all.tally);
    free(s->lines);
    free(s->seconds);
    free(s->stays);
    json_decref(s->failures);
    free(s);
    *sp = NULL;
}

bool fr_query_sheet_add_query(struct fr_query_sheet *s, const char *name,
                              int64_t assignments)
{
    struct line *more = realloc(s->lines, (s->line_count + 1) * sizeof *more), *l;

    if (more == NULL)
        return false;
    s->lines = more;
    l = &s->lines[s->line_count];
    line_init(l);
    l->assignments = assignments;
    s->all.assignments += assignments;
    l->name = strdup(name);
    s->line_count += l->name != NULL ? 1 : 0;
    return l->name != NULL;
}

static void add_known(int64_t *sum, int64_t n)
{
    if (n >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + n;
}

static bool add_to_line(struct line *l, const struct fr_sheet_execution *e)
{
    add_known(&l->cpu_ms, e->cpu_ms);
    add_known(&l->reads, e->reads);
    add_known(&l->logical_reads, e->logical_reads);
    return fr_tally_add(&l->tally, e->duration_us, e->rows, e->error != NULL);
}

/* By the second in which it ended, the first one being 1. */
static bool add_to_second(struct fr_query_sheet *s, const struct fr_sheet_execution *e)
{
    int64_t at = e->end_ms < s->start_ms ? 0 : (e->end_ms - s->start_ms) / 1000;
    size_t wanted =
        (size_t)(at < FR_SHEET_MAX_SECONDS ? at : FR_SHEET_MAX_SECONDS - 1) + 1;

    if (wanted > s->second_count) {
        struct fr_tally *more = realloc(s->seconds, wanted * sizeof *more);

        if (more == NULL)
            return false;
        memset(more + s->second_count, 0, (wanted - s->second_count) * sizeof *more);
        s->seconds = more;
        s->second_count = wanted;
    }
    return fr_tally_add(&s->seconds[wanted - 1], e->duration_us, e->rows,
                        e->error != NULL);
}

static bool add_stay(struct fr_query_sheet *s, const struct fr_sheet_execution *e)
{
    if (e->scheduler_id < 0)
        return true;
    if (s->stay_count == s->stay_capacity) {
        size_t wanted = s->stay_capacity == 0 ? 64 : 2 * s->stay_capacity;
        struct stay *more = realloc(s->stays, wanted * sizeof *more);

        if (more == NULL)
            return false;
        s->stays = more;
        s->stay_capacity = wanted;
    }
    s->stays[s->stay_count++] = (struct stay){
        .scheduler_id = e->scheduler_id,
        .start_ms = e->start_ms,
        /* its own time: what the session then wrote down took none of the scheduler's */
        .end_ms = e->duration_us < 0 ? e->end_ms : e->start_ms + e->duration_us / 1000};
    return true;
}

static bool add_failure(struct fr_query_sheet *s, const struct fr_sheet_execution *e)
{
    size_t i;
    json_t *f;

    json_array_foreach(s->failures, i, f)
    {
        json_t *count = json_object_get(f, "count");

        if (json_integer_value(json_object_get(f, "entry")) != e->entry ||
            strcmp(json_string_value(json_object_get(f, "message")), e->error) != 0)
            continue;
        return json_integer_set(count, json_integer_value(count) + 1) == 0;
    }
    if (json_array_size(s->failures) >= FR_SHEET_MAX_FAILURES)
        return true;
    return json_array_append_new(
               s->failures,
               json_pack("{s:I, s:s, s:s, s:i}", "entry", (json_int_t)e->entry, "name",
                         s->lines[e->entry - 1].name, "message", e->error, "count", 1)) ==
           0;
}

bool fr_query_sheet_add(struct fr_query_sheet *s, const struct fr_sheet_execution *e)
{
    struct line *l;

    if (e->entry < 1 || (size_t)e->entry > s->line_count)
        return false;
    l = &s->lines[e->entry - 1];
    if (e->end_ms < 0) {
        l->unfinished++;
        s->all.unfinished++;
        return true;
    }
    return add_to_line(l, e) && add_to_line(&s->all, e) && add_to_second(s, e) &&
           add_stay(s, e) && (e->error == NULL || add_failure(s, e));
}

/* ---- as JSON ---- */

static json_t *known(int64_t n)
{
    return n < 0 ? json_null() : json_integer(n);
}

static void set_times(json_t *o, struct fr_tally *tally)
{
    struct fr_tally_times t;
    const struct {
        const char *key;
        const double *value;
    } times[] = {{"mean_ms", &t.mean_ms},
                 {"min_ms", &t.min_ms},
                 {"median_ms", &t.median_ms},
                 {"p95_ms", &t.p95_ms},
                 {"max_ms", &t.max_ms}};

    fr_tally_times(tally, &t);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        json_object_set_new(o, times[i].key,
                            t.known ? json_real(*times[i].value) : json_null());
}

static json_t *line_json(json_t *o, struct line *l)
{
    json_object_set_new(o, "assignments", json_integer(l->assignments));
    json_object_set_new(o, "executions", json_integer(l->tally.executions));
    json_object_set_new(o, "rows", json_integer(l->tally.rows));
    json_object_set_new(o, "errors", json_integer(l->tally.errors));
    json_object_set_new(o, "unfinished", json_integer(l->unfinished));
    set_times(o, &l->tally);
    json_object_set_new(o, "server_cpu_ms", known(l->cpu_ms));
    json_object_set_new(o, "server_reads", known(l->reads));
    json_object_set_new(o, "server_logical_reads", known(l->logical_reads));
    return o;
}

static json_t *samples_json(struct fr_query_sheet *s)
{
    json_t *out = json_array();

    for (size_t i = 0; i < s->second_count; i++) {
        struct fr_tally *t = &s->seconds[i];
        struct fr_tally_times times;

        fr_tally_times(t, &times);
        json_array_append_new(
            out,
            json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "second", (json_int_t)i + 1,
                      "executions", (json_int_t)t->executions, "rows",
                      (json_int_t)t->rows, "errors", (json_int_t)t->errors, "mean_ms",
                      times.known ? json_real(times.mean_ms) : json_null(), "p95_ms",
                      times.known ? json_real(times.p95_ms) : json_null()));
    }
    return out;
}

static int by_scheduler_and_start(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;

    if (x->scheduler_id != y->scheduler_id)
        return x->scheduler_id < y->scheduler_id ? -1 : 1;
    return (x->start_ms > y->start_ms) - (x->start_ms < y->start_ms);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The most that were there at the same moment; one that ends when another begins was not.
 * ends has room for all. */
static int64_t most_at_once(const struct stay *stays, size_t count, int64_t *ends)
{
    int64_t now = 0, most = count > 0 ? 1 : 0;
    size_t over = 0;

    for (size_t i = 0; i < count; i++)
        ends[i] = stays[i].end_ms;
    qsort(ends, count, sizeof *ends, by_time);
    for (size_t i = 0; i < count; i++) {
        while (over < i && ends[over] <= stays[i].start_ms) {
            over++;
            now--;
        }
        now++;
        if (now > most)
            most = now;
    }
    return most;
}

static json_t *schedulers_json(struct fr_query_sheet *s)
{
    json_t *out = json_array();
    int64_t *ends = calloc(s->stay_count + 1, sizeof *ends);

    if (s->stay_count > 0)
        qsort(s->stays, s->stay_count, sizeof *s->stays, by_scheduler_and_start);
    for (size_t i = 0; ends != NULL && i < s->stay_count;) {
        size_t n = 0;
        int64_t busy_ms = 0;

        while (i + n < s->stay_count &&
               s->stays[i + n].scheduler_id == s->stays[i].scheduler_id) {
            busy_ms += s->stays[i + n].end_ms - s->stays[i + n].start_ms;
            n++;
        }
        json_array_append_new(
            out, json_pack("{s:I, s:I, s:I, s:I}", "scheduler_id",
                           (json_int_t)s->stays[i].scheduler_id, "sessions",
                           (json_int_t)most_at_once(s->stays + i, n, ends), "executions",
                           (json_int_t)n, "busy_ms", (json_int_t)busy_ms));
        i += n;
    }
    free(ends);
    return out;
}

static const json_t *find_scheduler(const json_t *schedulers, int64_t id)
{
    size_t i;
    const json_t *o;

    json_array_foreach(schedulers, i, o)
    {
        if (json_integer_value(json_object_get(o, "scheduler_id")) == id)
            return o;
    }
    return NULL;
}

/* A full rack is one busy session on every visible scheduler. */
static void judge_rack(json_t *doc, const char *visible)
{
    json_t *schedulers = json_object_get(doc, "schedulers"), *doubled = json_array(),
           *idle = json_array();
    bool is_known = json_array_size(schedulers) > 0;
    size_t i, known_count = 0;
    json_t *o;

    json_array_foreach(schedulers, i, o)
    {
        if (json_integer_value(json_object_get(o, "sessions")) > 1)
            json_array_append(doubled, json_object_get(o, "scheduler_id"));
    }
    for (const char *p = visible; p != NULL && *p != '\0';) {
        char *end;
        int64_t id = strtoll(p, &end, 10);

        if (end == p)
            break;
        known_count++;
        if (is_known && find_scheduler(schedulers, id) == NULL)
            json_array_append_new(idle, json_integer(id));
        p = *end == ',' ? end + 1 : end;
    }
    json_object_set_new(doc, "visible_schedulers",
                        known_count > 0 ? json_integer((json_int_t)known_count)
                                        : json_null());
    json_object_set_new(
        doc, "full_rack",
        known_count == 0 || !is_known
            ? json_null()
            : json_boolean(json_array_size(idle) + json_array_size(doubled) == 0));
    json_object_set_new(doc, "doubled_schedulers", doubled);
    json_object_set_new(doc, "idle_schedulers", idle);
}

json_t *fr_query_sheet_json(struct fr_query_sheet *s, const char *schedulers)
{
    json_t *doc = json_object(), *queries = json_array();

    for (size_t i = 0; i < s->line_count; i++)
        json_array_append_new(
            queries, line_json(json_pack("{s:I, s:s}", "entry", (json_int_t)i + 1, "name",
                                         s->lines[i].name),
                               &s->lines[i]));
    line_json(doc, &s->all);
    json_object_set_new(doc, "queries", queries);
    json_object_set_new(doc, "schedulers", schedulers_json(s));
    judge_rack(doc, schedulers);
    json_object_set(doc, "failures", s->failures);
    json_object_set_new(doc, "samples", samples_json(s));
    return doc;
}

/* ---- from the control database ---- */

static fr_status take_query(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    const char *name = row->values[1] == NULL ? "?" : row->values[1];

    return fr_query_sheet_add_query(ctx, name, fr_sql_row_i64(row, 2, 0))
               ? FR_OK
               : fr_err_set(err, FR_ENOMEM, "no memory for a report");
}

static fr_status take_execution(void *ctx, const struct fr_sql_row *row,
                                struct fr_err *err)
{
    struct fr_sheet_execution e = {
        .entry = fr_sql_row_i64(row, 1, 0),
        .scheduler_id = fr_sql_row_i64(row, 4, -1),
        .start_ms = fr_report_time_ms(row->values[5]),
        .end_ms = fr_report_time_ms(row->values[6]),
        .duration_us = fr_sql_row_i64(row, 7, -1),
        .rows = fr_sql_row_i64(row, 8, -1),
        .cpu_ms = fr_sql_row_i64(row, 9, -1),
        .reads = fr_sql_row_i64(row, 10, -1),
        .logical_reads = fr_sql_row_i64(row, 11, -1),
        .error = row->values[12],
    };

    return fr_query_sheet_add(ctx, &e)
               ? FR_OK
               : fr_err_set(err, FR_ENOMEM, "no memory for a report");
}

static void set_number(json_t *o, const char *key, const struct fr_sql_one *one, size_t i)
{
    json_object_set_new(o, key,
                        one->values[i] == NULL ? json_null()
                                               : json_integer(fr_sql_one_i64(one, i, 0)));
}

static void set_plan(json_t *sheet, const struct fr_sql_one *one, size_t queries)
{
    json_t *loops = json_null();

    if (one->values[1] != NULL && queries > 0)
        loops = json_integer(fr_sql_one_i64(one, 1, 0) / (int64_t)queries);
    json_object_set_new(sheet, "entries", json_integer((json_int_t)queries));
    json_object_set_new(sheet, "loops", loops);
    set_number(sheet, "duration_s", one, 2);
    json_object_set_new(sheet, "is_power_run",
                        json_boolean(fr_sql_one_i64(one, 3, 0) != 0));
    set_number(sheet, "sessions", one, 6);
}

static fr_status fill(struct fr_query_sheet *s, fr_report_query_fn query, void *ctx,
                      struct fr_sql_param *id, struct fr_err *err)
{
    fr_status st = query(ctx, fr_stmt_report_queries, id, 1, take_query, s, err);

    return st == FR_OK
               ? query(ctx, fr_stmt_report_executions, id, 1, take_execution, s, err)
               : st;
}

fr_status fr_query_sheet_gather(fr_report_query_fn query, void *ctx, const json_t *run,
                                json_t **out, struct fr_err *err)
{
    struct fr_sql_param id =
        fr_sql_in_i64("@run_id", json_integer_value(json_object_get(run, "run_id")));
    const json_t *start = json_object_get(run, "start_time");
    struct fr_query_sheet *s;
    struct fr_sql_one one = {0};
    fr_status st =
        query(ctx, fr_stmt_report_workload, &id, 1, fr_sql_take_one, &one, err);

    *out = NULL;
    if (st != FR_OK || !one.found)
        return st;
    if (!json_is_integer(start))
        start = json_object_get(run, "created_at");
    s = fr_query_sheet_new(json_integer_value(start));
    st = s == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for a report")
                   : fill(s, query, ctx, &id, err);
    if (st == FR_OK)
        *out = fr_query_sheet_json(s, one.values[4]);
    if (*out != NULL)
        set_plan(*out, &one, s->line_count);
    fr_query_sheet_free(&s);
    return st;
}

void fr_query_sheet_print_ids(const char *before, const json_t *ids, const char *after,
                              FILE *out)
{
    size_t i;
    json_t *id;

    if (json_array_size(ids) == 0)
        return;
    fputs(before, out);
    json_array_foreach(ids, i, id)
        fprintf(out, "%s%lld", i == 0 ? "" : ", ", (long long)json_integer_value(id));
    fputs(after, out);
}
