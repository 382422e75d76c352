/* --pause-when: its text, when it pauses and when not; statements for people. */
#include "config/guards.h"
#include "rack/monitor.h"
#include "support/suite.h"

#include <string.h>

static const struct {
    const char *text;
    int64_t log, send_queue, tempdb; /* limits */
    const char *wrong;               /* in the error; NULL = it is right */
} texts[] = {
    {NULL, 0, 0, 0, NULL},
    {"log>80%", 800, 0, 0, NULL},
    {"tempdb>1%", 0, 0, 10, NULL},
    {"send-queue>500MB", 0, 500 * 1024, 0, NULL},
    {"send-queue>500M", 0, 500 * 1024, 0, NULL},
    {"send-queue>2GiB", 0, 2 * 1024 * 1024, 0, NULL},
    {"send-queue>4096", 0, 4, 0, NULL},
    {"send-queue>4096B", 0, 4, 0, NULL},
    {"log>99%,send-queue>1K,tempdb>90%", 990, 1, 900, NULL},
    {"tempdb>90%,log>5%", 50, 0, 900, NULL},
    {"", 0, 0, 0, "log, send-queue and tempdb"},
    {"lock>80%", 0, 0, 0, "\"lock\" is nothing to pause by"},
    {"LOG>80%", 0, 0, 0, "\"LOG\" is nothing"},
    {"log>80%,", 0, 0, 0, "\"\" is nothing"},
    {" log>80%", 0, 0, 0, "\" log\" is nothing"},
    {"log", 0, 0, 0, "in quotes"},
    {"log=80%", 0, 0, 0, "\"log=80%\" is nothing"},
    {"log>", 0, 0, 0, "1% to 99%"},
    {"log>%", 0, 0, 0, "1% to 99%"},
    {"log>80", 0, 0, 0, "1% to 99%"},
    {"log>100%", 0, 0, 0, "1% to 99%"},
    {"log>0%", 0, 0, 0, "1% to 99%"},
    {"log>-1%", 0, 0, 0, "1% to 99%"},
    {"log>80%%", 0, 0, 0, "1% to 99%"},
    {"log>500MB", 0, 0, 0, "1% to 99%"},
    {"send-queue>80%", 0, 0, 0, "a size"},
    {"send-queue>1000", 0, 0, 0, "a size"},
    {"send-queue>5GiBB", 0, 0, 0, "a size"},
    {"send-queue>99999999999T", 0, 0, 0, "a size"},
    {"log>80%,log>90%", 0, 0, 0, "twice"},
    {"log>8000000000000000000000000000000000000000000000000000000000000000%", 0, 0, 0,
     "too long"},
};

START_TEST(test_parse)
{
    struct fr_guards g;
    struct fr_err err = {0};
    fr_status st = fr_guards_parse(texts[_i].text, &g, &err);

    if (texts[_i].wrong != NULL) {
        ck_assert_int_eq(st, FR_EARG);
        ck_assert_msg(strstr(err.text, texts[_i].wrong) != NULL, "\"%s\": %s",
                      texts[_i].text, err.text);
        return;
    }
    ck_assert_msg(st == FR_OK, "\"%s\": %s", texts[_i].text, err.text);
    ck_assert_int_eq(g.limit[FR_GUARD_LOG], texts[_i].log);
    ck_assert_int_eq(g.limit[FR_GUARD_SEND_QUEUE], texts[_i].send_queue);
    ck_assert_int_eq(g.limit[FR_GUARD_TEMPDB], texts[_i].tempdb);
}
END_TEST

/* With log>80%, tempdb>90%, send-queue>100M. */
static const struct {
    int64_t log, send_queue, tempdb;
    bool is_paused;
    enum fr_guard want;
} figures[] = {
    {0, 0, 0, false, FR_GUARD_COUNT},
    {800, 102400, 900, false, FR_GUARD_COUNT}, /* above, not at */
    {801, 0, 0, false, FR_GUARD_LOG},
    {0, 102401, 0, false, FR_GUARD_SEND_QUEUE},
    {0, 0, 901, false, FR_GUARD_TEMPDB},
    {801, 102401, 901, false, FR_GUARD_LOG},
    {-1, -1, -1, false, FR_GUARD_COUNT}, /* not known */
    {-1, -1, 950, false, FR_GUARD_TEMPDB},
    {780, 0, 0, true, FR_GUARD_LOG}, /* still near it */
    {761, 0, 0, true, FR_GUARD_LOG},
    {760, 0, 0, true, FR_GUARD_COUNT},
    {0, 97281, 0, true, FR_GUARD_SEND_QUEUE},
    {0, 97280, 0, true, FR_GUARD_COUNT},
    {0, 0, 870, true, FR_GUARD_TEMPDB},
    {-1, -1, -1, true, FR_GUARD_COUNT},
    {INT64_MAX, INT64_MAX, INT64_MAX, true, FR_GUARD_LOG},
};

START_TEST(test_judge)
{
    const struct fr_guards g = {.limit = {[FR_GUARD_LOG] = 800,
                                          [FR_GUARD_SEND_QUEUE] = 100 * 1024,
                                          [FR_GUARD_TEMPDB] = 900}};
    const int64_t now[FR_GUARD_COUNT] = {[FR_GUARD_LOG] = figures[_i].log,
                                         [FR_GUARD_SEND_QUEUE] = figures[_i].send_queue,
                                         [FR_GUARD_TEMPDB] = figures[_i].tempdb};

    ck_assert_int_eq(fr_guards_judge(&g, now, figures[_i].is_paused), figures[_i].want);
}
END_TEST

START_TEST(test_judge_only_what_is_watched)
{
    const struct fr_guards none = {{0}}, log = {.limit = {[FR_GUARD_LOG] = 10}};
    const int64_t now[FR_GUARD_COUNT] = {999, INT64_MAX, 999};

    ck_assert_int_eq(fr_guards_judge(&none, now, false), FR_GUARD_COUNT);
    ck_assert_int_eq(fr_guards_judge(&none, now, true), FR_GUARD_COUNT);
    ck_assert_int_eq(fr_guards_judge(&log, now, false), FR_GUARD_LOG);
}
END_TEST

START_TEST(test_text)
{
    const struct fr_guards g = {.limit = {[FR_GUARD_LOG] = 800,
                                          [FR_GUARD_SEND_QUEUE] = 100 * 1024,
                                          [FR_GUARD_TEMPDB] = 900}};
    char out[FR_GUARD_TEXT_BYTES];

    ck_assert_str_eq(fr_guard_text(&g, FR_GUARD_LOG, 852, "sales", out),
                     "the log of sales is 85.2 % full (limit 80 %)");
    ck_assert_str_eq(fr_guard_text(&g, FR_GUARD_TEMPDB, 1000, "sales", out),
                     "tempdb is 100 % full (limit 90 %)");
    ck_assert_str_eq(
        fr_guard_text(&g, FR_GUARD_SEND_QUEUE, 300 * 1024 + 1, "sales", out),
        "the availability group's send queue of sales is 300 MiB long (limit 100 MiB)");
}
END_TEST

/* 51 waits for 52 for 53 for 54; 60 for 54, too; 70 for what is no session; 80, 81 and 82
 * in a circle. */
static const struct monitor_waiter waiters[] = {
    {.spid = 51, .blocker = 52}, {.spid = 52, .blocker = 53}, {.spid = 53, .blocker = 54},
    {.spid = 60, .blocker = 54}, {.spid = 70, .blocker = -2}, {.spid = 80, .blocker = 81},
    {.spid = 81, .blocker = 82}, {.spid = 82, .blocker = 80},
};

START_TEST(test_chain)
{
    int circle = monitor_chain_head(waiters, COUNT_OF(waiters), 80);

    for (int spid = 51; spid <= 54; spid++)
        ck_assert_int_eq(monitor_chain_head(waiters, COUNT_OF(waiters), spid), 54);
    ck_assert_int_eq(monitor_chain_head(waiters, COUNT_OF(waiters), 60), 54);
    ck_assert_int_eq(monitor_chain_head(waiters, COUNT_OF(waiters), 70), -2);
    ck_assert_int_eq(monitor_chain_head(waiters, COUNT_OF(waiters), 99), 99);
    ck_assert(circle >= 80 && circle <= 82);
}
END_TEST

static const struct {
    const char *sql, *want;
} gists[] = {
    {"", ""},
    {"SELECT 1", "SELECT 1"},
    {"  SELECT\n\t 1\r\n ", "SELECT 1"},
    {"/* who */ SELECT /* what */ a -- not b\nFROM t", "SELECT a FROM t"},
    {"-- all of it", ""},
    {"/* all of it", ""},
    {"ALTER LOGIN x WITH PASSWORD = 'secret'", "ALTER LOGIN x WITH PASSWORD = '...'"},
    {"SELECT 'it''s' + N'-- secret', 1", "SELECT '...' + N'...', 1"},
    {"SELECT 'secret without an end", "SELECT '...'"},
    {"SELECT ''", "SELECT '...'"},
    {"SELECT '--' , 5", "SELECT '...' , 5"},
    {"x-y / z", "x-y / z"},
};

START_TEST(test_gist)
{
    char out[MONITOR_GIST_BYTES];

    ck_assert_str_eq(monitor_statement_gist(gists[_i].sql, out), gists[_i].want);
}
END_TEST

/* Of every length, with a character of two, three and four bytes or a text at the cut. */
START_TEST(test_gist_is_cut)
{
    static const char *const tails[] = {"aaaaaaaa",
                                        "\xc3\xa9\xc3\xa9\xc3\xa9",
                                        "\xe2\x82\xac\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
                                        "'secret''secret'",
                                        " /* secret */ -- secret"};
    char sql[2 * MONITOR_GIST_BYTES], out[MONITOR_GIST_BYTES];

    for (size_t n = 150; n < 230; n++)
        for (size_t i = 0; i < COUNT_OF(tails); i++) {
            memset(sql, 'x', n);
            strcpy(sql + n, tails[i]);
            strcat(sql, tails[i]);
            monitor_statement_gist(sql, out);
            ck_assert_uint_lt(strlen(out), sizeof out);
            ck_assert_msg(strstr(out, "secret") == NULL, "%s", out);
            for (const char *p = out; *p != '\0'; p++) {
                size_t want = (*p & 0x80) == 0      ? 1
                              : (*p & 0xE0) == 0xC0 ? 2
                              : (*p & 0xF0) == 0xE0 ? 3
                                                    : 4;

                ck_assert_msg((*p & 0xC0) != 0x80, "%zu %zu: %s", n, i, out);
                for (size_t k = 1; k < want; k++)
                    ck_assert_msg((*++p & 0xC0) == 0x80, "%zu %zu: %s", n, i, out);
            }
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("guards");
    TCase *tc = tcase_create("guards");

    tcase_add_loop_test(tc, test_parse, 0, COUNT_OF(texts));
    tcase_add_loop_test(tc, test_judge, 0, COUNT_OF(figures));
    tcase_add_test(tc, test_judge_only_what_is_watched);
    tcase_add_test(tc, test_text);
    tcase_add_test(tc, test_chain);
    tcase_add_loop_test(tc, test_gist, 0, COUNT_OF(gists));
    tcase_add_test(tc, test_gist_is_cut);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
