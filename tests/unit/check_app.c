/* Natural order of files, LineItem's rules, messages between processes. */
#include "app/lineitem.h"
#include "app/sources.h"
#include "rack/ipc.h"
#include "rack/result.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *a, *b;
    int order;
} natural_cases[] = {
    {"part2", "part10", -1}, {"part10", "part2", 1}, {"a", "a", 0},
    {"a1b2", "a1b10", -1},   {"a", "ab", -1},        {"x09", "x9", 0},
    {"x1.csv", "x1", 1},     {"", "a", -1},
};

START_TEST(test_natural)
{
    int got = sources_compare_natural(natural_cases[_i].a, natural_cases[_i].b);

    ck_assert_int_eq((got > 0) - (got < 0), natural_cases[_i].order);
}
END_TEST

static size_t split(char *row, char *fields[20])
{
    size_t n = 0;

    for (char *p = strtok_r(row, "|\n", &row); p != NULL && n < 20;
         p = strtok_r(NULL, "|\n", &row))
        fields[n++] = p;
    return n;
}

START_TEST(test_lineitem_rules)
{
    struct lineitem_generator g;
    char row[LINEITEM_ROW_MAX_BYTES + 1], *f[20];

    lineitem_init(&g, 7, 20000);
    for (int i = 0; i < 20000; i++) {
        size_t n = lineitem_next(&g, row);
        long quantity, line;

        ck_assert_uint_lt(n, LINEITEM_ROW_MAX_BYTES);
        row[n] = '\0';
        if (row[n - 1] != '\n' || row[n - 2] == '|' || split(row, f) != 16)
            ck_abort_msg("row %d has not 16 columns", i);
        quantity = strtol(f[4], NULL, 10);
        line = strtol(f[3], NULL, 10);
        /* 4.2.3: quantity 1..50, 1..7 lines, discount to 0.10, tax to 0.08, received
         * after shipped, flags by the date */
        if (quantity < 1 || quantity > 50 || line < 1 || line > 7 ||
            strcmp(f[6], "0.10") > 0 || strcmp(f[7], "0.08") > 0 ||
            strcmp(f[12], f[10]) <= 0 ||
            (strcmp(f[12], "1995-06-17") > 0) != (f[8][0] == 'N') ||
            (strcmp(f[10], "1995-06-17") > 0) != (f[9][0] == 'O') || strlen(f[15]) < 10 ||
            strlen(f[15]) > 43)
            ck_abort_msg("row %d breaks a rule: key %s line %s", i, f[0], f[3]);
    }
}
END_TEST

START_TEST(test_lineitem_is_deterministic)
{
    struct lineitem_generator a, b, c;
    char x[LINEITEM_ROW_MAX_BYTES], y[LINEITEM_ROW_MAX_BYTES], z[LINEITEM_ROW_MAX_BYTES];
    bool differs = false;

    lineitem_init(&a, 1, 1000);
    lineitem_init(&b, 1, 1000);
    lineitem_init(&c, 2, 1000);
    for (int i = 0; i < 1000; i++) {
        size_t n = lineitem_next(&a, x), m = lineitem_next(&b, y),
               k = lineitem_next(&c, z);

        if (n != m || memcmp(x, y, n) != 0)
            ck_abort_msg("row %d differs", i);
        differs = differs || n != k || memcmp(x, z, n) != 0;
    }
    ck_assert_msg(differs, "another seed gives the same rows");
}
END_TEST

START_TEST(test_ipc)
{
    struct fr_err err;
    json_t *m = NULL;
    fr_status st = FR_OK;
    int fds[2];

    ck_assert_int_eq(fr_ipc_pair(fds, &err), FR_OK);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 0, &m), FR_EMPTY);
    ck_assert_int_eq(
        fr_ipc_send(fds[1], json_pack("{s:s, s:i}", "type", "x", "n", 5), false), FR_OK);
    ck_assert_int_eq(fr_ipc_send(fds[1], json_pack("{s:s}", "type", "y"), true), FR_OK);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 1000, &m), FR_OK);
    ck_assert(fr_ipc_is(m, "x") && fr_ipc_number(m, "n", 0) == 5 &&
              fr_ipc_number(m, "k", -1) == -1);
    ck_assert_str_eq(fr_ipc_text(m, "nothing"), "");
    json_decref(m);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 1000, &m), FR_OK);
    ck_assert(fr_ipc_is(m, "y"));
    json_decref(m);
    /* nobody reads: a droppable message is dropped, never waited for */
    for (int i = 0; i < 100000 && st == FR_OK; i++)
        st = fr_ipc_send(fds[1], json_pack("{s:s}", "type", "flood"), true);
    ck_assert_int_eq(st, FR_EMPTY);
    close(fds[0]);
    ck_assert_int_eq(fr_ipc_send(fds[1], json_pack("{s:s}", "type", "z"), false), FR_EOF);
    close(fds[1]);
}
END_TEST

/* A worker's end is read also where the coordinator told it something at that moment. */
START_TEST(test_ipc_last_words)
{
    struct fr_err err;
    json_t *m = NULL;
    int fds[2];

    ck_assert_int_eq(fr_ipc_pair(fds, &err), FR_OK);
    ck_assert_int_eq(fr_ipc_send(fds[0], json_pack("{s:s}", "type", "drained"), false),
                     FR_OK);
    ck_assert_int_eq(fr_ipc_send(fds[1], json_pack("{s:s}", "type", "result"), false),
                     FR_OK);
    ck_assert_int_eq(fr_ipc_send(fds[1], json_pack("{s:s}", "type", "end"), false),
                     FR_OK);
    close(fds[1]);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 0, &m), FR_OK);
    ck_assert(fr_ipc_is(m, "result"));
    json_decref(m);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 0, &m), FR_OK);
    ck_assert(fr_ipc_is(m, "end"));
    json_decref(m);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 0, &m), FR_EOF);
    close(fds[0]);
}
END_TEST

START_TEST(test_ipc_refuses_nonsense)
{
    struct fr_err err;
    json_t *m = NULL;
    static char longer[FR_IPC_MAX_BYTES + 1];
    int fds[2];

    ck_assert_int_eq(fr_ipc_pair(fds, &err), FR_OK);
    ck_assert_int_eq(write(fds[1], "not json", 8), 8);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 1000, &m), FR_EPROTO);
    ck_assert_int_eq(write(fds[1], "[1]", 3), 3);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 1000, &m), FR_EPROTO);
    json_decref(m);
    /* what would be cut off is neither sent nor taken for whole */
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(fr_ipc_send(fds[1], json_pack("{s:s}", "type", longer), false),
                     FR_ERANGE);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 0, &m), FR_EMPTY);
    ck_assert_int_eq(write(fds[1], longer, sizeof longer), sizeof longer);
    ck_assert_int_eq(fr_ipc_receive(fds[0], 1000, &m), FR_ERANGE);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

/* Said once, whatever the number of tasks, and not at all where nothing went in clear. */
START_TEST(test_summary_of_what_went_in_clear)
{
    static const char line[] = "the data went in clear to db.example\n";
    struct fr_result r;

    ck_assert_int_eq(fr_result_init(&r, NULL), FR_OK);
    for (int tasks = 0; tasks < 3; tasks++) {
        char text[4096] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        const char *said;

        fr_result_print(&r, out);
        fclose(out);
        said = strstr(text, "in clear");
        ck_assert_msg((said != NULL) == (tasks > 0), "%s", text);
        if (tasks > 0) {
            ck_assert_ptr_nonnull(strstr(text, line));
            ck_assert_ptr_null(strstr(said + 1, "in clear"));
        }
        json_array_append_new(
            r.tasks, json_pack("{s:s, s:s}", "state", "done", "clear_to", "db.example"));
    }
    fr_result_free(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("app");
    TCase *tc = tcase_create("app and rack");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_natural, 0, COUNT_OF(natural_cases));
    tcase_add_test(tc, test_lineitem_rules);
    tcase_add_test(tc, test_lineitem_is_deterministic);
    tcase_add_test(tc, test_ipc);
    tcase_add_test(tc, test_ipc_last_words);
    tcase_add_test(tc, test_summary_of_what_went_in_clear);
    tcase_add_test(tc, test_ipc_refuses_nonsense);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
