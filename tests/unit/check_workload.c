/* Query workloads: percentiles, the sheet of a run, the lines of a script's errors. */
#include "config/workload.h"
#include "db/script.h"
#include "report/query_sheet.h"
#include "stats/tally.h"
#include "support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

enum { MAX_WORDS = 8 };

/* Options, and how many paths; what they come to, or what the error says. */
static const struct {
    const char *words[MAX_WORDS];
    size_t paths;
    const char *in_error; /* NULL: none */
    int64_t loops, duration_s, workers;
} options[] = {
    {{NULL}, 1, NULL, 1, 0, 0},
    {{"--loop", "7", "--workers", "3"}, 2, NULL, 7, 0, 3},
    {{"--duration", "30"}, 1, NULL, 0, 30, 0},
    {{"--duration", "30", "--loop", "0"}, 1, NULL, 0, 30, 0},
    {{"--duration", "30", "--loop", "5"}, 1, NULL, 5, 30, 0},
    {{"--power-run"}, 1, NULL, 1, 0, 1},
    {{"--power-run", "--workers", "1", "--loop", "1"}, 1, NULL, 1, 0, 1},
    {{"--run-id", "4", "--workers", "2"}, 0, NULL, -1, 0, 2},
    {{NULL}, 0, "needs PATH", 0, 0, 0},
    {{"--loop", "0"}, 1, "--duration", 0, 0, 0},
    {{"--loop", "-1"}, 1, "not within", 0, 0, 0},
    {{"--loop", "1.5"}, 1, "whole number", 0, 0, 0},
    {{"--loop"}, 1, "N", 0, 0, 0},
    {{"--duration", "0"}, 1, "not within", 0, 0, 0},
    {{"--duration", "1m"}, 1, "whole number", 0, 0, 0},
    {{"--power-run", "--workers", "2"}, 1, "--power-run", 0, 0, 0},
    {{"--power-run", "--loop", "2"}, 1, "--power-run", 0, 0, 0},
    {{"--power-run", "--duration", "9"}, 1, "--power-run", 0, 0, 0},
    {{"--power-run", "--duration", "9", "--loop", "1"}, 1, "--power-run", 0, 0, 0},
    {{"--run-id", "4"}, 1, "--run-id", 0, 0, 0},
    {{"--run-id", "4", "--loop", "2"}, 0, "--run-id", 0, 0, 0},
    {{"--run-id", "4", "--duration", "2"}, 0, "--run-id", 0, 0, 0},
    {{"--run-id", "4", "--power-run"}, 0, "--run-id", 0, 0, 0},
    {{"--run-id", "4", "--no-start"}, 0, "--run-id", 0, 0, 0},
    {{"--rate", "1M"}, 1, "--rate", 0, 0, 0},
    {{"--rows", "5"}, 1, "--rows", 0, 0, 0}, /* of another command */
};

START_TEST(test_options)
{
    const fr_groups groups = FR_GROUP_RUN | FR_GROUP_RACK | FR_GROUP_CLAIM |
                             FR_GROUP_START | FR_GROUP_JOIN | FR_GROUP_WORKLOAD;
    struct fr_settings s;
    struct fr_arguments args = {0};
    struct fr_err err = {.text = ""};
    char copies[MAX_WORDS][32], *argv[MAX_WORDS];
    int argc = 0;
    fr_status st;

    for (; argc < MAX_WORDS && options[_i].words[argc] != NULL; argc++) {
        snprintf(copies[argc], sizeof copies[argc], "%s", options[_i].words[argc]);
        argv[argc] = copies[argc];
    }
    fr_settings_init(&s);
    st = fr_settings_parse(&s, groups, argc, argv, &args, &err);
    if (st == FR_OK)
        st = fr_workload_settle(&s, options[_i].paths, &err);
    if (options[_i].in_error != NULL) {
        ck_assert_msg(st == FR_EARG && strstr(err.text, options[_i].in_error) != NULL,
                      "row %d: %s %s", _i, fr_status_name(st), err.text);
    } else {
        ck_assert_msg(st == FR_OK, "row %d: %s", _i, err.text);
        ck_assert_int_eq(s.loops, options[_i].loops);
        ck_assert_int_eq(s.duration_s, options[_i].duration_s);
        ck_assert_int_eq(s.workers, options[_i].workers);
    }
    free(args.items);
    fr_settings_free(&s);
}
END_TEST

/* ---- percentiles ---- */

/* Of the values 10, 20, ..., 10 * count. */
static const struct {
    size_t count;
    unsigned percent;
    int64_t want;
} ranks[] = {
    {0, 95, 0},       {1, 1, 10},         {1, 50, 10},    {1, 95, 10},
    {1, 100, 10},     {2, 50, 10},        {2, 51, 20},    {2, 95, 20},
    {10, 10, 10},     {10, 11, 20},       {10, 90, 90},   {10, 91, 100},
    {10, 95, 100},    {19, 95, 190},      {20, 95, 190},  {21, 95, 200},
    {40, 95, 380},    {99, 95, 950},      {100, 1, 10},   {100, 95, 950},
    {100, 96, 960},   {100, 100, 1000},   {101, 95, 960}, {1000, 95, 9500},
    {1001, 95, 9510}, {1000, 100, 10000},
};

START_TEST(test_percentile)
{
    int64_t values[1001];

    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = 10 * (int64_t)(i + 1);
    ck_assert_msg(fr_percentile(values, ranks[_i].count, ranks[_i].percent) ==
                      ranks[_i].want,
                  "%u %% of %zu: %lld, expected %lld", ranks[_i].percent, ranks[_i].count,
                  (long long)fr_percentile(values, ranks[_i].count, ranks[_i].percent),
                  (long long)ranks[_i].want);
}
END_TEST

/* Microseconds, -1 = one that failed, -2 = the end; milliseconds that come of them. */
static const struct {
    int64_t us[8];
    int64_t executions, errors;
    bool known;
    double mean, min, median, p95, max;
} tallies[] = {
    {{-2}, 0, 0, false, 0, 0, 0, 0, 0},
    {{-1, -1, -2}, 2, 2, false, 0, 0, 0, 0, 0},
    {{1500, -2}, 1, 0, true, 1.5, 1.5, 1.5, 1.5, 1.5},
    {{3000, 1000, -2}, 2, 0, true, 2, 1, 2, 3, 3},
    {{5000, 1000, 3000, -2}, 3, 0, true, 3, 1, 3, 5, 5},
    {{4000, 1000, 3000, 2000, -2}, 4, 0, true, 2.5, 1, 2.5, 4, 4},
    /* what failed has no time, wherever it stands */
    {{-1, 4000, -1, 2000, -2}, 4, 2, true, 3, 2, 3, 4, 4},
    {{0, 0, 1, -2}, 3, 0, true, 1.0 / 3000, 0, 0, 0.001, 0.001},
    {{INT64_C(90000000000), 1000, -2},
     2,
     0,
     true,
     45000000.5,
     1,
     45000000.5,
     90000000,
     90000000},
};

static void assert_near(double got, double want, const char *what, int row)
{
    ck_assert_msg(fabs(got - want) <= 1e-9 * fabs(want) + 1e-9,
                  "row %d, %s: %.9g, expected %.9g", row, what, got, want);
}

START_TEST(test_tally)
{
    struct fr_tally t = {0};
    struct fr_tally_times times;

    for (size_t k = 0; tallies[_i].us[k] != -2; k++)
        ck_assert(fr_tally_add(&t, tallies[_i].us[k], 7, tallies[_i].us[k] == -1));
    fr_tally_times(&t, &times);
    ck_assert_int_eq(t.executions, tallies[_i].executions);
    ck_assert_int_eq(t.errors, tallies[_i].errors);
    ck_assert_int_eq(t.rows, 7 * tallies[_i].executions);
    ck_assert_int_eq(times.known, tallies[_i].known);
    assert_near(times.mean_ms, tallies[_i].mean, "mean", _i);
    assert_near(times.min_ms, tallies[_i].min, "min", _i);
    assert_near(times.median_ms, tallies[_i].median, "median", _i);
    assert_near(times.p95_ms, tallies[_i].p95, "p95", _i);
    assert_near(times.max_ms, tallies[_i].max, "max", _i);
    fr_tally_reset(&t);
    fr_tally_times(&t, &times);
    ck_assert(!times.known && t.executions == 0 && t.rows == 0);
    fr_tally_free(&t);
}
END_TEST

START_TEST(test_tally_of_many)
{
    struct fr_tally t = {0};
    struct fr_tally_times times;

    /* 1 to 1,000 ms, in another order */
    for (int64_t i = 0; i < 1000; i++)
        ck_assert(fr_tally_add(&t, (i * 7919 % 1000 + 1) * 1000, 0, false));
    fr_tally_times(&t, &times);
    assert_near(times.mean_ms, 500.5, "mean", 0);
    assert_near(times.median_ms, 500.5, "median", 0);
    assert_near(times.p95_ms, 950, "p95", 0);
    fr_tally_free(&t);
}
END_TEST

/* ---- schedulers ---- */

enum { END = -9 };

/* scheduler, start, end in ms; what is said of them. */
static const struct {
    const char *visible;
    int64_t stays[6][3];
    const char *full; /* the member's JSON */
    const char *doubled, *idle, *sessions;
} racks[] = {
    {"0,1", {{0, 0, 10}, {1, 0, 10}, {END}}, "true", "[]", "[]", "0:1 1:1"},
    {"0,1,2", {{0, 0, 10}, {1, 0, 10}, {END}}, "false", "[]", "[2]", "0:1 1:1"},
    /* one after the other is no doubling, also at the same millisecond */
    {"0",
     {{0, 0, 10}, {0, 10, 20}, {0, 20, 20}, {0, 25, 30}, {END}},
     "true",
     "[]",
     "[]",
     "0:1"},
    {"0", {{0, 0, 10}, {0, 9, 20}, {END}}, "false", "[0]", "[]", "0:2"},
    {"3,5",
     {{5, 0, 100}, {5, 10, 20}, {5, 30, 40}, {5, 35, 90}, {END}},
     "false",
     "[5]",
     "[3]",
     "5:3"},
    /* in whatever order they were written down */
    {"0,1",
     {{1, 50, 60}, {0, 0, 100}, {1, 0, 55}, {END}},
     "false",
     "[1]",
     "[]",
     "0:1 1:2"},
    /* nothing known of the server, or of the sessions */
    {NULL, {{0, 0, 10}, {END}}, "null", "[]", "[]", "0:1"},
    {"0,1", {{-1, 0, 10}, {END}}, "null", "[]", "[]", ""},
    {"0,1", {{END}}, "null", "[]", "[]", ""},
};

static void assert_json(const json_t *doc, const char *key, const char *want, int row)
{
    char *got = json_dumps(json_object_get(doc, key), JSON_COMPACT | JSON_ENCODE_ANY);

    ck_assert_msg(got != NULL && strcmp(got, want) == 0, "row %d, %s: %s, expected %s",
                  row, key, got, want);
    free(got);
}

static void sessions_text(const json_t *doc, char *out, size_t bytes)
{
    size_t i, used = 0;
    json_t *s;

    out[0] = '\0';
    json_array_foreach(json_object_get(doc, "schedulers"), i, s)
    {
        used += (size_t)snprintf(
            out + used, bytes - used, "%s%lld:%lld", i == 0 ? "" : " ",
            (long long)json_integer_value(json_object_get(s, "scheduler_id")),
            (long long)json_integer_value(json_object_get(s, "sessions")));
    }
}

START_TEST(test_rack)
{
    struct fr_query_sheet *s = fr_query_sheet_new(0);
    char sessions[200];
    json_t *doc;

    ck_assert(fr_query_sheet_add_query(s, "q.sql", 6));
    for (size_t k = 0; racks[_i].stays[k][0] != END; k++) {
        const int64_t *stay = racks[_i].stays[k];
        struct fr_sheet_execution e = {.entry = 1,
                                       .scheduler_id = stay[0],
                                       .start_ms = stay[1],
                                       .end_ms = stay[2] + 3, /* written down later */
                                       .duration_us = (stay[2] - stay[1]) * 1000};

        ck_assert(fr_query_sheet_add(s, &e));
    }
    doc = fr_query_sheet_json(s, racks[_i].visible);
    assert_json(doc, "full_rack", racks[_i].full, _i);
    assert_json(doc, "doubled_schedulers", racks[_i].doubled, _i);
    assert_json(doc, "idle_schedulers", racks[_i].idle, _i);
    sessions_text(doc, sessions, sizeof sessions);
    ck_assert_str_eq(sessions, racks[_i].sessions);
    json_decref(doc);
    fr_query_sheet_free(&s);
}
END_TEST

/* ---- the sheet ---- */

START_TEST(test_sheet)
{
    static const struct fr_sheet_execution executions[] = {
        {1, 0, 2000, 10000, 10002, 3, 5, 1, 10, NULL},
        {1, 0, 4000, 10500, 10999, 3, 7, 1, 20, NULL},
        {2, 1, 1000, 10000, 11000, 0, -1, -1, -1, "b.sql: line 2: no"},
        {2, 1, 1000, 11000, 12500, 0, 2, -1, 4, "b.sql: line 2: no"},
        {1, 0, -1, 12000, -1, -1, -1, -1, -1, NULL}, /* under way */
        {1, 0, 6000, 9990, 9999, 2, 1, 1, 1, NULL},  /* before the signal was seen */
    };
    struct fr_query_sheet *s = fr_query_sheet_new(10000);
    const struct fr_sheet_execution wrong = {.entry = 3, .end_ms = 1};
    const json_t *one;
    json_t *doc;

    ck_assert(fr_query_sheet_add_query(s, "a.sql", 4));
    ck_assert(fr_query_sheet_add_query(s, "b.sql", 2));
    for (size_t i = 0; i < COUNT_OF(executions); i++)
        ck_assert(fr_query_sheet_add(s, &executions[i]));
    ck_assert(!fr_query_sheet_add(s, &wrong));
    doc = fr_query_sheet_json(s, "0,1");
    assert_json(doc, "executions", "5", 0);
    assert_json(doc, "rows", "8", 0);
    assert_json(doc, "errors", "2", 0);
    assert_json(doc, "unfinished", "1", 0);
    assert_json(doc, "server_cpu_ms", "15", 0);
    assert_json(doc, "server_logical_reads", "35", 0);
    assert_json(doc, "mean_ms", "4.0", 0);
    assert_json(doc, "failures",
                "[{\"entry\":2,\"name\":\"b.sql\",\"message\":\"b.sql: line 2: no\","
                "\"count\":2}]",
                0);
    one = json_array_get(json_object_get(doc, "queries"), 0);
    assert_json(one, "median_ms", "4.0", 1);
    assert_json(one, "assignments", "4", 1);
    one = json_array_get(json_object_get(doc, "queries"), 1);
    assert_json(one, "mean_ms", "null", 2);
    assert_json(one, "server_reads", "null", 2);
    assert_json(one, "server_cpu_ms", "2", 2);
    assert_json(doc, "samples",
                "[{\"second\":1,\"executions\":3,\"rows\":8,\"errors\":0,\"mean_ms\":4.0,"
                "\"p95_ms\":6.0},"
                "{\"second\":2,\"executions\":1,\"rows\":0,\"errors\":1,\"mean_ms\":null,"
                "\"p95_ms\":null},"
                "{\"second\":3,\"executions\":1,\"rows\":0,\"errors\":1,\"mean_ms\":null,"
                "\"p95_ms\":null}]",
                0);
    json_decref(doc);
    fr_query_sheet_free(&s);
}
END_TEST

/* ---- lines of a script's errors ---- */

struct fake {
    struct fr_sql sql;
    const char *bad; /* a batch with this text is refused */
    int32_t line;    /* the server's */
};

static fr_status fake_run(struct fr_sql *sql, const char *text, fr_sql_row_fn row,
                          void *ctx, int64_t *affected, struct fr_err *err)
{
    struct fake *f = (struct fake *)sql;

    (void)row;
    (void)ctx;
    (void)affected;
    if (strstr(text, f->bad) == NULL)
        return FR_OK;
    (void)fr_err_set(err, FR_EDB, "refused");
    err->server_line = f->line;
    return FR_EDB;
}

static const struct {
    const char *script;
    int32_t server_line;
    size_t want;
} scripts[] = {
    {"bad", 1, 1},
    {"SELECT 1\nbad", 2, 2},
    {"SELECT 1\nGO\nbad", 1, 3},
    {"SELECT 1\r\nGO\r\n\r\nSELECT 2\r\nbad\r\nGO\r\nSELECT 3", 3, 5},
    {"\n\n\nbad", 4, 4},
    {"SELECT 1\ngo;\nSELECT 2\n  GO  \nbad\nGO", 1, 5},
    /* not known, or within a procedure: where the batch begins */
    {"SELECT 1\nGO\nSELECT 2\nbad", 0, 3},
};

START_TEST(test_line)
{
    static const struct fr_sql_ops ops = {.run = fake_run};
    struct fake f = {.sql = {.ops = &ops}, .bad = "bad", .line = scripts[_i].server_line};
    struct fr_err err = {0};
    size_t line = 0;

    ck_assert_int_eq(fr_script_run_to_line(&f.sql, scripts[_i].script, &line, &err),
                     FR_EDB);
    ck_assert_msg(line == scripts[_i].want, "script %d: line %zu, expected %zu", _i, line,
                  scripts[_i].want);
    ck_assert_str_eq(err.text, "refused");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("workload");
    TCase *tc = tcase_create("options");

    tcase_add_loop_test(tc, test_options, 0, COUNT_OF(options));
    suite_add_tcase(s, tc);
    tc = tcase_create("statistics");

    tcase_add_loop_test(tc, test_percentile, 0, COUNT_OF(ranks));
    tcase_add_loop_test(tc, test_tally, 0, COUNT_OF(tallies));
    tcase_add_test(tc, test_tally_of_many);
    suite_add_tcase(s, tc);
    tc = tcase_create("sheet");
    tcase_add_loop_test(tc, test_rack, 0, COUNT_OF(racks));
    tcase_add_test(tc, test_sheet);
    suite_add_tcase(s, tc);
    tc = tcase_create("script");
    tcase_add_loop_test(tc, test_line, 0, COUNT_OF(scripts));
    suite_add_tcase(s, tc);
    return s;
}

int main(void)
{
    return suite_run(suite());
}
