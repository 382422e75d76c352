/* Figures of a server's counters: formulas, differences, restarts, grids. */
#include "observe/figures.h"
#include "observe/host.h"
#include "report/grid.h"
#include "support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct fr_reading_kind files = {NULL, NULL, 3, 6, 1};

static void add(struct fr_reading *r, const char *a, const char *b, const char *c,
                const int64_t values[FR_READING_VALUES])
{
    struct fr_err err = {0};
    const char *names[] = {a, b, c};

    ck_assert_int_eq(fr_reading_add(r, names, values, &err), FR_OK);
}

static struct fr_reading reading(const struct fr_reading_kind *kind, const char *started,
                                 int64_t uptime_s)
{
    struct fr_reading r = {.kind = kind, .uptime_s = uptime_s};

    snprintf(r.started, sizeof r.started, "%s", started);
    return r;
}

static double number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);

    ck_assert_msg(json_is_number(v), "%s is no number", key);
    return json_number_value(v);
}

/* reads, bytes, stall; writes, bytes, stall; size; seconds up; what comes of it (-1 =
 * null) */
static const struct {
    int64_t values[FR_READING_VALUES];
    int64_t uptime_s;
    double gb_read, gb_written, read_per_day, written_per_day, read_ms, write_ms, both_ms;
} file_cases[] = {
    {{100, 2000000000, 250, 50, 500000000, 200, 7000000000},
     43200,
     2,
     0.5,
     4,
     1,
     2.5,
     4,
     3},
    {{0, 0, 0, 0, 0, 0, 0}, 86400, 0, 0, 0, 0, -1, -1, -1},
    {{0, 0, 0, 10, 1000000000, 5, 0}, 0, 0, 1, -1, -1, -1, 0.5, 0.5},
    {{1, 1000000000, 3, 0, 0, 0, 0}, -1, 1, 0, -1, -1, 3, -1, 3},
    {{1, INT64_MAX / 2, 1, 1, INT64_MAX / 2, 1, 0},
     86400,
     4.611686018427388e9,
     4.611686018427388e9,
     4.611686018427388e9,
     4.611686018427388e9,
     1,
     1,
     1},
};

static void check_figure(const json_t *row, const char *key, double expected)
{
    if (expected < 0)
        ck_assert_msg(json_is_null(json_object_get(row, key)), "%s is known", key);
    else
        ck_assert_double_eq_tol(number(row, key), expected, expected * 1e-9 + 1e-300);
}

START_TEST(test_file_figures)
{
    struct fr_reading r = reading(&files, "2026-01-01", file_cases[_i].uptime_s);
    json_t *rows, *row;

    add(&r, "sales", "sales_1", "/data/s1", file_cases[_i].values);
    rows = fr_files_figures(&r);
    ck_assert_uint_eq(json_array_size(rows), 1);
    row = json_array_get(rows, 0);
    ck_assert_str_eq(json_string_value(json_object_get(row, "file")), "sales_1");
    check_figure(row, "gb_read", file_cases[_i].gb_read);
    check_figure(row, "gb_written", file_cases[_i].gb_written);
    check_figure(row, "gb_read_per_day", file_cases[_i].read_per_day);
    check_figure(row, "gb_written_per_day", file_cases[_i].written_per_day);
    check_figure(row, "read_stall_ms", file_cases[_i].read_ms);
    check_figure(row, "write_stall_ms", file_cases[_i].write_ms);
    check_figure(row, "stall_ms", file_cases[_i].both_ms);
    json_decref(rows);
    fr_reading_free(&r);
}
END_TEST

/* The busiest file is first, and nameless ones (a view that was refused) are kept. */
START_TEST(test_file_order)
{
    struct fr_reading r = reading(&files, "", -1);
    json_t *rows;

    add(&r, "a", "small", "x", (int64_t[]){1, 10, 0, 0, 0, 0, 0});
    add(&r, "b", NULL, NULL, (int64_t[]){1, 30, 0, 0, 30, 0, 0});
    add(&r, "b", "middle", "y", (int64_t[]){1, 50, 0, 0, 0, 0, 0});
    fr_reading_sort(&r);
    rows = fr_files_figures(&r);
    ck_assert(json_is_null(json_object_get(json_array_get(rows, 0), "file")));
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 1), "file")),
                     "middle");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 2), "file")),
                     "small");
    json_decref(rows);
    fr_reading_free(&r);
}
END_TEST

/* One file between two looks; there_before 0: it appeared. */
static const struct {
    const char *started_before, *started_after;
    bool there_before;
    int64_t before, after; /* bytes read */
    int64_t grown;
    bool was_restarted, is_new;
} differences[] = {
    {"a", "a", true, 100, 150, 50, false, false},
    {"a", "a", true, 100, 100, 0, false, false},
    {"a", "a", false, 0, 70, 70, false, true},
    /* the server began anew: what it counted since then */
    {"a", "b", true, 100, 30, 30, true, false},
    {"a", "b", true, 100, 130, 130, true, false},
    /* a file made anew, or counters that somebody cleared */
    {"a", "a", true, 100, 20, 20, true, false},
    /* a server that does not tell its start */
    {"", "", true, 5, 9, 4, false, false},
};

START_TEST(test_difference)
{
    struct fr_reading before = reading(&files, differences[_i].started_before, 50);
    struct fr_reading after = reading(&files, differences[_i].started_after, 53), change;
    struct fr_err err = {0};

    before.taken_ms = 1000;
    after.taken_ms = 3600;
    /* neighbours before and behind, one of which is gone later */
    add(&before, "d", "a", "p", (int64_t[]){0, 1, 0, 0, 0, 0, 0});
    add(&after, "d", "z", "p", (int64_t[]){0, 2, 0, 0, 0, 0, 0});
    add(&before, "d", "z", "p", (int64_t[]){0, 2, 0, 0, 0, 0, 0});
    if (differences[_i].there_before)
        add(&before, "d", "m", "p",
            (int64_t[]){4, differences[_i].before, 0, 0, 0, 0, 10});
    add(&after, "d", "m", "p", (int64_t[]){4, differences[_i].after, 0, 0, 0, 0, 25});
    fr_reading_sort(&before);
    fr_reading_sort(&after);
    ck_assert_int_eq(fr_reading_difference(&before, &after, &change, &err), FR_OK);
    ck_assert_uint_eq(change.count, 2);
    ck_assert_int_eq(change.uptime_s, 3);
    ck_assert_str_eq(change.items[0].names[1], "m");
    ck_assert_int_eq(change.items[0].values[1], differences[_i].grown);
    ck_assert_int_eq(change.items[0].values[6], 25); /* a level, as it is now */
    ck_assert_int_eq(change.items[0].is_new, differences[_i].is_new);
    ck_assert_int_eq(change.was_restarted, differences[_i].was_restarted);
    fr_reading_free(&before);
    fr_reading_free(&after);
    fr_reading_free(&change);
}
END_TEST

START_TEST(test_wait_figures)
{
    struct fr_reading r = reading(&fr_waits_kind, "x", 10);
    json_t *left_out = json_array(), *rows, *row;

    add(&r, "LCK_M_X", NULL, NULL, (int64_t[]){4, 300, 30, 0, 0, 0, 0});
    add(&r, "NEVER", NULL, NULL, (int64_t[]){0, 0, 0, 0, 0, 0, 0});
    add(&r, "PAGEIOLATCH_SH", NULL, NULL, (int64_t[]){1000, 100, 0, 0, 0, 0, 0});
    add(&r, "SLEEP_TASK", NULL, NULL, (int64_t[]){1, 1000000, 0, 0, 0, 0, 0});
    add(&r, "WAITFOR", NULL, NULL, (int64_t[]){0, 0, 0, 0, 0, 0, 0});
    rows = fr_waits_figures(&r, 0, left_out);
    ck_assert_uint_eq(json_array_size(rows), 2);
    row = json_array_get(rows, 0);
    ck_assert_str_eq(json_string_value(json_object_get(row, "name")), "LCK_M_X");
    ck_assert_double_eq(number(row, "share"), 0.75);
    ck_assert_double_eq(number(row, "average_ms"), 75);
    ck_assert_double_eq(number(row, "signal_share"), 0.1);
    ck_assert_double_eq(number(json_array_get(rows, 1), "average_ms"), 0.1);
    ck_assert_uint_eq(json_array_size(left_out), 1);
    ck_assert_str_eq(json_string_value(json_array_get(left_out, 0)), "SLEEP_TASK");
    json_decref(rows);
    rows = fr_waits_figures(&r, 1, NULL);
    ck_assert_uint_eq(json_array_size(rows), 1);
    /* the share is of all, not of those shown */
    ck_assert_double_eq(number(json_array_get(rows, 0), "share"), 0.75);
    json_decref(rows);
    json_decref(left_out);
    fr_reading_free(&r);
}
END_TEST

/* The list is searched by halving: one name out of order would be found missing. */
START_TEST(test_idle_waits)
{
    static const char *const idle[] = {
        "AZURE_IMDS_VERSIONS", "CHECKPOINT_QUEUE", "LAZYWRITER_SLEEP",
        "SLEEP_TASK",          "WAITFOR",          "XE_TIMER_EVENT",
        "WAIT_XTP_HOST_WAIT",  "WAIT_FOR_RESULTS", "QDS_ASYNC_QUEUE"};
    static const char *const real[] = {"LCK_M_X",          "WRITELOG", "PAGEIOLATCH_SH",
                                       "ASYNC_NETWORK_IO", "CXPACKET", ""};

    for (size_t i = 0; i < COUNT_OF(idle); i++)
        ck_assert_msg(fr_wait_is_idle(idle[i]), "%s", idle[i]);
    for (size_t i = 0; i < COUNT_OF(real); i++)
        ck_assert_msg(!fr_wait_is_idle(real[i]), "%s", real[i]);
}
END_TEST

/* Disks are counted once: not by their partitions, nor what lies on them. */
START_TEST(test_host)
{
    static const char stat[] = "cpu  100 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4\n";
    static const char disks[] =
        "   8       0 sda 10 0 2000 5 20 0 4000 7 0 0 0 0 0 0 0 0 0\n"
        "   8       1 sda1 10 0 2000 5 20 0 4000 7 0 0 0 0 0 0 0 0 0\n"
        " 259       0 nvme0n1 1 0 1000 5 2 0 3000 7 0 0 0 0\n"
        " 259       1 nvme0n1p2 1 0 1000 5 2 0 3000 7 0 0 0 0\n"
        " 253       0 dm-0 1 0 1000 5 2 0 3000 7 0 0 0 0\n"
        " 254       0 vda 1 0 1 5 2 0 1 7 0 0 0 0\n"
        "nonsense\n";
    struct fr_host_counters c;

    fr_host_parse(stat, disks, 100, &c);
    ck_assert(c.known);
    ck_assert_int_eq(c.busy_ms, (100 + 20 + 30 + 6 + 7 + 8) * 10);
    ck_assert_int_eq(c.read_bytes, (2000 + 1000 + 1) * 512);
    ck_assert_int_eq(c.write_bytes, (4000 + 3000 + 1) * 512);
    fr_host_parse("", disks, 100, &c);
    ck_assert(!c.known);
    fr_host_parse(stat, "", 100, &c);
    ck_assert(c.known && c.read_bytes == 0);
}
END_TEST

START_TEST(test_grid)
{
    static const struct fr_grid_column columns[] = {
        {.key = "name", .title = "name"},
        {.key = "share", .title = "share", .decimals = 1, .is_share = true},
        {.key = "hidden"},
        {.key = "n", .title = "n"},
        {.key = "path", .title = "path"}};
    json_t *rows =
        json_pack("[{s:s,s:f,s:i,s:i,s:s},{s:s,s:n,s:b,s:i,s:s}]", "name",
                  "Gr\xC3\xBC\xC3\x9F", "share", 0.125, "hidden", 1, "n", 5, "path",
                  "a,\"b\"", "name", "x", "share", "hidden", 1, "n", -12345, "path", "c");
    json_t *empty = json_array();
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    ck_assert_ptr_nonnull(rows);
    fr_grid_print_text(columns, COUNT_OF(columns), rows, f);
    fr_grid_print_csv(columns, COUNT_OF(columns), rows, true, f);
    fr_grid_print_text(columns, COUNT_OF(columns), empty, f);
    fclose(f);
    ck_assert_str_eq(text, "name   share       n  path\n"
                           "Gr\xC3\xBC\xC3\x9F  12.5 %       5  a,\"b\"\n"
                           "x          -  -12345  c\n"
                           "name,share,hidden,n,path\n"
                           "Gr\xC3\xBC\xC3\x9F,0.125,1,5,\"a,\"\"b\"\"\"\n"
                           "x,,1,-12345,c\n");
    free(text);
    json_decref(empty);
    json_decref(rows);
}
END_TEST

static const struct {
    fr_status status;
    int32_t number;
    const char *text;
} explained[] = {
    {FR_EDB, 300,
     "the server's waits (they need VIEW SERVER STATE, from SQL Server 2022 on VIEW "
     "SERVER PERFORMANCE STATE, in Azure SQL Database VIEW DATABASE STATE): no"},
    {FR_EDB, 33557097, "the server's waits (Babelfish does not show them): no"},
    {FR_EDB, 1205, "no"},
    {FR_ELOST, 0, "no"},
};

START_TEST(test_refused_views_are_explained)
{
    struct fr_err err = {.text = ""};

    (void)fr_err_set(&err, explained[_i].status, "no");
    err.server_number = explained[_i].number;
    fr_reading_explain(&err, "waits");
    ck_assert_str_eq(err.text, explained[_i].text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("observe");
    TCase *tc = tcase_create("figures");

    tcase_add_loop_test(tc, test_file_figures, 0, COUNT_OF(file_cases));
    tcase_add_test(tc, test_file_order);
    tcase_add_loop_test(tc, test_difference, 0, COUNT_OF(differences));
    tcase_add_test(tc, test_wait_figures);
    tcase_add_test(tc, test_idle_waits);
    tcase_add_test(tc, test_host);
    tcase_add_test(tc, test_grid);
    tcase_add_loop_test(tc, test_refused_views_are_explained, 0, COUNT_OF(explained));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
