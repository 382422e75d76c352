/* A run's report: how its document comes from what the control database says. */
#include "report/document.h"
#include "report/gather.h"
#include "report/html.h"
#include "report/record.h"
#include "stats/pace.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *text;
    int64_t ms;
} times[] = {{"1970-01-01 00:00:00", 0},
             {"1970-01-01 00:00:01.5", 1500},
             {"2026-12-01 10:16:07.046", 1796120167046},
             {"2024-02-29 23:59:59.9999999", 1709251199999},
             {"", -1},
             {"yesterday", -1},
             {NULL, -1}};

START_TEST(test_times)
{
    ck_assert_int_eq(fr_report_time_ms(times[_i].text), times[_i].ms);
}
END_TEST

/* A run from 1,000,000 ms on, of 10 s. */
static json_t *facts_of(json_t *tasks, json_t *samples)
{
    json_t *f =
        json_pack("{s:{s:i, s:s, s:I, s:I, s:I, s:I, s:i, s:s}, s:o, s:[], s:o}", "run",
                  "run_id", 3, "state", "done", "start_time", (json_int_t)1000000,
                  "end_time", (json_int_t)1010000, "rows_loaded", (json_int_t)4000,
                  "bytes_read", (json_int_t)8000, "workers", 2, "options",
                  "{\"workers\":2}", "tasks", tasks, "workers", "samples", samples);

    ck_assert_ptr_nonnull(f);
    return f;
}

static json_t *task(int id, int64_t start_ms, int64_t end_ms, int64_t rows,
                    const char *worker)
{
    return json_pack(
        "{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:i, s:i, s:i, s:i}",
        "task_id", id, "kind", "load", "state", "done", "source", "/d/f", "start_time",
        (json_int_t)(1000000 + start_ms), "end_time", (json_int_t)(1000000 + end_ms),
        "duration_ms", (json_int_t)(end_ms - start_ms), "rows_loaded", (json_int_t)rows,
        "bytes_read", (json_int_t)(2 * rows), "worker", worker, "scheduler_id", id % 2,
        "attempts", 1, "client_cpu_ms", 10, "server_cpu_ms", 20);
}

static double sum_of(const json_t *doc, const char *key, int64_t from_ms, int64_t to_ms)
{
    double sum = 0;
    size_t i;
    json_t *p;

    json_array_foreach(json_object_get(json_object_get(doc, "throughput"), "points"), i,
                       p)
    {
        int64_t at = fr_report_int(p, "start_ms", -1);

        if (at >= from_ms && at < to_ms)
            sum += fr_report_real(p, key, 0);
    }
    return sum;
}

/* Without samples a task's rows lie evenly over its time; all of them are somewhere. */
START_TEST(test_spread_tasks)
{
    json_t *facts =
        facts_of(json_pack("[o,o,o]", task(1, 0, 5000, 1000, "w1"),
                           task(2, 5000, 10000, 2000, "w2"), task(3, -20, 0, 1000, "w3")),
                 json_array());
    json_t *doc = fr_report_document(facts);

    ck_assert(
        json_is_false(json_object_get(json_object_get(doc, "throughput"), "is_sampled")));
    ck_assert_double_eq_tol(sum_of(doc, "rows", 0, 20000), 4000, 1e-6);
    ck_assert_double_eq_tol(sum_of(doc, "bytes", 0, 20000), 8000, 1e-6);
    ck_assert_double_eq_tol(sum_of(doc, "rows", 5000, 20000), 2000, 1e-6);
    /* one that was claimed before the signal was written down begins with the run */
    ck_assert_int_eq(
        fr_report_int(json_array_get(json_object_get(doc, "tasks"), 2), "start_ms", -1),
        0);
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "schedulers")), 2);
    ck_assert_int_eq(
        json_integer_value(json_array_get(json_object_get(doc, "slowest"), 0)), 1);
    json_decref(doc);
    json_decref(facts);
}
END_TEST

static json_t *sample(const char *subject, const char *name, int64_t at_ms, double value)
{
    return json_pack("{s:s, s:s, s:o, s:f}", "subject", subject, "name", name, "taken_at",
                     at_ms < 0 ? json_null() : json_integer(1000000 + at_ms), "value",
                     value);
}

/* Samples say when: each of the time since the one before. */
START_TEST(test_spread_samples)
{
    json_t *samples = json_pack(
        "[o,o,o,o,o,o,o]", sample("rows", "w1", 1000, 500),
        sample("rows", "w2", 1000, 300), sample("rows", "w1", 2000, 200),
        sample("rows", "w1", 10400, 3000), sample("wait_ms", "WRITELOG", -1, 300),
        sample("waits", "WRITELOG", -1, 30), sample("wait_ms", "LCK_M_X", -1, 100));
    json_t *facts = facts_of(json_pack("[o]", task(1, 0, 10000, 4000, "w1")), samples);
    json_t *doc = fr_report_document(facts), *waits = json_object_get(doc, "waits");

    ck_assert_double_eq_tol(sum_of(doc, "rows", 0, 1000), 800, 1);
    ck_assert_double_eq_tol(sum_of(doc, "rows", 0, 20000), 4000, 1e-6);
    ck_assert_uint_eq(json_array_size(waits), 2);
    ck_assert_str_eq(fr_report_text(json_array_get(waits, 0), "name"), "WRITELOG");
    ck_assert_double_eq(fr_report_real(json_array_get(waits, 0), "share", 0), 0.75);
    ck_assert_double_eq(fr_report_real(json_array_get(waits, 0), "waits", 0), 30);
    json_decref(doc);
    json_decref(facts);
}
END_TEST

START_TEST(test_what_was_not_measured)
{
    double sum = -1;

    fr_pace_add(&sum, -1);
    ck_assert_double_eq(sum, -1);
    fr_pace_add(&sum, 0);
    fr_pace_add(&sum, 7);
    fr_pace_add(&sum, -1);
    ck_assert_double_eq(sum, 7);
}
END_TEST

/* busy 10 s: client, server, read, send, answer, rate; the server's wait; what it begins
 * with */
static const struct {
    struct fr_pace p;
    const char *begins;
} paces[] = {
    {{10000, 8000, 9000, 100, 100, 100, 0, NULL, 0}, "The clients' CPUs set the pace"},
    {{10000, 1000, 9000, 100, 5000, 100, 0, NULL, 0}, "The server's CPUs set the pace"},
    {{10000, 1000, 1000, 6000, 100, 100, 0, NULL, 0}, "Reading the files set the pace"},
    {{10000, 1000, 1000, 100, 6000, 100, 0, NULL, 0}, "The server, or the network to it"},
    {{10000, 1000, 1000, 100, 100, 6000, 0, NULL, 0}, "The ends of batches set the pace"},
    {{10000, 1000, 1000, 100, 100, 100, 6000, NULL, 0}, "--rate set the pace"},
    {{10000, 1000, 1000, 100, -1, 100, 0, "WRITELOG", 5000},
     "The server's waits set the"},
    {{10000, 1000, 1000, 100, -1, 100, 0, "ASYNC_NETWORK_IO", 5000},
     "The server waited for"},
    {{10000, 1000, 1000, 100, -1, 100, 0, NULL, 0}, "Nothing was busy most of the time"},
    {{10000, 1000, -1, 100, -1, 100, 0, NULL, 0}, "Nothing was busy most of the time"},
    {{0, 0, 0, 0, 0, 0, 0, NULL, 0}, "No task took any time"},
};

START_TEST(test_pace)
{
    struct fr_pace_verdict v;

    fr_pace_judge(&paces[_i].p, &v);
    ck_assert_msg(strncmp(v.sentence, paces[_i].begins, strlen(paces[_i].begins)) == 0,
                  "%s", v.sentence);
    ck_assert_uint_lt(strlen(v.sentence), FR_PACE_TEXT_BYTES);
    /* what was not measured is not spoken of */
    ck_assert_int_eq(strstr(v.sentence, "to send") == NULL,
                     paces[_i].p.send_ms < 0 || paces[_i].p.busy_ms <= 0);
    ck_assert_int_eq(strstr(v.sentence, ", the server's ") == NULL,
                     paces[_i].p.server_cpu_ms < 0 || paces[_i].p.busy_ms <= 0);
}
END_TEST

START_TEST(test_bottleneck)
{
    json_t *t = task(1, 0, 10000, 4000, "w1"), *facts, *doc;

    json_object_set_new(t, "answer_ms", json_integer(7000));
    facts = facts_of(json_pack("[o]", t), json_array());
    doc = fr_report_document(facts);
    ck_assert_ptr_nonnull(strstr(
        fr_report_text(json_object_get(doc, "bottleneck"), "sentence"), "batches 70 %"));
    json_decref(doc);
    json_decref(facts);
}
END_TEST

/* A run without tasks, without a start, with options that are no JSON: still a page. */
START_TEST(test_empty_run)
{
    json_t *facts =
        json_pack("{s:{s:i, s:s, s:n, s:I, s:s}, s:[], s:[], s:[]}", "run", "run_id", 1,
                  "state", "arming", "start_time", "now_at", (json_int_t)5000, "options",
                  "nonsense", "tasks", "workers", "samples");
    json_t *doc = fr_report_document(facts);
    char path[] = "/tmp/fullrack-report-XXXXXX";
    int fd = mkstemp(path);
    struct fr_err err = {0};

    ck_assert_ptr_nonnull(doc);
    ck_assert_int_eq(fr_report_write_html(doc, path, &err), FR_OK);
    ck_assert_int_ne(fr_report_write_html(doc, "/nonexistent/x.html", &err), FR_OK);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/x.html"));
    close(fd);
    unlink(path);
    json_decref(doc);
    json_decref(facts);
}
END_TEST

static const json_t *figure(const json_t *sheet, const char *name)
{
    size_t i;
    json_t *f;

    json_array_foreach(json_object_get(sheet, "figures"), i, f)
    {
        if (strcmp(fr_report_text(f, "figure"), name) == 0)
            return f;
    }
    ck_abort_msg("the sheet has no %s", name);
}

/* 4,000 rows and 8,000 bytes in 10 s, on two schedulers; one earlier run. */
START_TEST(test_record)
{
    static const struct {
        const char *name;
        double run, earlier, of_2010; /* -1 = null */
    } wanted[] = {
        {"streams", 2, 4, 96},
        {"total time, s", 10, 20, 600},
        {"rows", 4000, 4000, -1},
        {"rows/s", 400, 200, 16e6},
        {"rows/s a scheduler", 200, -1, 167e3},
        {"MB/s read", 0.0008, 0.0004, 2000},
        {"MB/s a stream", (2.0 / 5000 + 4.0 / 5000 + 2.0 / 20) / 3, -1, 56},
        {"  the slowest", 2.0 / 5000, -1, -1},
        {"  the fastest", 2.0 / 20, -1, -1},
        {"start skew, ms", -1, 7, -1},
    };
    json_t *facts =
        facts_of(json_pack("[o,o,o]", task(1, 0, 5000, 1000, "w1"),
                           task(2, 5000, 10000, 2000, "w2"), task(3, -20, 0, 1000, "w3")),
                 json_array());
    json_t *earlier = json_pack("[{s:i, s:i, s:i, s:i, s:i, s:f}]", "run_id", 2,
                                "workers", 4, "start_skew_ms", 7, "rows_loaded", 4000,
                                "bytes_read", 8000, "seconds", 20.0);
    json_t *doc, *sheet;
    const json_t *spread;

    doc = fr_report_document(facts);
    sheet = fr_record_sheet(doc, earlier);
    ck_assert_ptr_nonnull(sheet);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        const json_t *f = figure(sheet, wanted[i].name);
        double then = json_number_value(json_array_get(json_object_get(f, "earlier"), 0));
        bool then_known =
            json_is_number(json_array_get(json_object_get(f, "earlier"), 0));

        ck_assert_double_eq_tol(fr_report_real(f, "run", -1), wanted[i].run, 1e-9);
        ck_assert_double_eq_tol(then_known ? then : -1, wanted[i].earlier, 1e-9);
        ck_assert_double_eq_tol(fr_report_real(f, "2010", -1), wanted[i].of_2010, 1e-9);
    }
    spread = json_object_get(sheet, "spread");
    ck_assert_int_eq(fr_report_int(spread, "schedulers", -1), 2);
    ck_assert_int_eq(fr_report_int(spread, "tasks_least", -1), 1);
    ck_assert_int_eq(fr_report_int(spread, "tasks_most", -1), 2);
    ck_assert_int_eq(fr_report_int(spread, "unpinned_tasks", -1), 0);
    json_decref(sheet);
    json_decref(doc);
    json_decref(earlier);
    json_decref(facts);
}
END_TEST

/* Of a run without a task that was done there is nothing to divide by. */
START_TEST(test_record_of_nothing)
{
    json_t *facts = facts_of(json_array(), json_array());
    json_t *doc = fr_report_document(facts);
    json_t *sheet = fr_record_sheet(doc, NULL);

    ck_assert(json_is_null(json_object_get(figure(sheet, "MB/s a stream"), "run")));
    ck_assert(json_is_null(json_object_get(figure(sheet, "rows/s a scheduler"), "run")));
    ck_assert_int_eq(fr_report_int(json_object_get(sheet, "spread"), "schedulers", -1),
                     0);
    json_decref(sheet);
    json_decref(doc);
    json_decref(facts);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report");
    TCase *tc = tcase_create("document");

    tcase_add_loop_test(tc, test_times, 0, COUNT_OF(times));
    tcase_add_test(tc, test_spread_tasks);
    tcase_add_test(tc, test_spread_samples);
    tcase_add_test(tc, test_what_was_not_measured);
    tcase_add_loop_test(tc, test_pace, 0, COUNT_OF(paces));
    tcase_add_test(tc, test_bottleneck);
    tcase_add_test(tc, test_empty_run);
    tcase_add_test(tc, test_record);
    tcase_add_test(tc, test_record_of_nothing);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
