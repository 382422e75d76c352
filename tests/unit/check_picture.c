/* What a run looks like: sizes, folding, names that would do harm on a terminal. */
#include "rack/picture.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORKERS = 96, TEXT_BYTES = 1 << 20 };

static char names[MAX_WORKERS][32];

static void make_workers(struct fr_picture_worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "w%zu", i + 1);
        workers[i] =
            (struct fr_picture_worker){.name = names[i],
                                       .state = "running",
                                       .source = "/data/in/lineitem.\xC3\xBC.7.tbl",
                                       .scheduler_id = (int)i,
                                       .rows = 1000,
                                       .bytes = 50,
                                       .source_bytes = 200,
                                       .rows_per_s = 812345,
                                       .bytes_per_s = 93.1e6};
    }
}

static const struct fr_picture plain = {.title = "run 12",
                                        .tasks_done = 10,
                                        .tasks_failed = 1,
                                        .tasks_retried = 2,
                                        .tasks_known = 40,
                                        .rows = 1234567,
                                        .rejected = 3,
                                        .rows_per_s = 1500000,
                                        .bytes_per_s = 180e6,
                                        .elapsed_ms = 83000};

/* Each line's width in characters, escape sequences left out; returns their number. */
static size_t widths(const char *text, size_t *widest)
{
    size_t lines = 0, here = 0;

    *widest = 0;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\x1b') {
            while (*p != 'm' && *p != '\0')
                p++;
        } else if (*p == '\n') {
            lines++;
            here = 0;
        } else {
            here += ((unsigned char)*p & 0xC0) != 0x80 ? 1 : 0;
            *widest = here > *widest ? here : *widest;
        }
    }
    return lines;
}

static const struct {
    size_t columns, lines, workers;
    bool color;
    const char *must[4], *must_not;
} cases[] = {
    /* a line each, with all figures */
    {80,
     24,
     4,
     false,
     {"run 12  00:01:23", "10 of 40 tasks  1 failed  1,234,567 rows  1.50M rows/s",
      "schedulers  ####", "w4     sched 3   [###.........]  25 %"},
     "more"},
    {120,
     40,
     16,
     false,
     {"lineitem.\xC3\xBC.7.tbl", "812k/s    93.1 MB/s", "3 rejected  2 retried", "w16"},
     "more"},
    /* folded: two on a line, the rest counted */
    {80,
     24,
     96,
     false,
     {"w1    0   [###.........]    812k/s", "w2    1 ", "more: ", "running"},
     "MB/s\nw1 "},
    {200, 60, 96, false, {"w96", "w95", "w1 ", "schedulers"}, "more"},
    /* far too small a window still shows the totals */
    {20, 4, 96, false, {"run 12", "10 of 40", "and 96 more", ""}, "w1 "},
    {80,
     24,
     4,
     true,
     {"\x1b[1mrun 12", "\x1b[32m", "\x1b[31m  1 failed", "\x1b[0m"},
     "more"},
};

START_TEST(test_sizes)
{
    static struct fr_picture_worker workers[MAX_WORKERS];
    struct fr_picture p = plain;
    struct fr_picture_size size = {cases[_i].columns, cases[_i].lines, cases[_i].color};
    size_t widest, lines;
    struct fr_buf out;

    make_workers(workers, cases[_i].workers);
    p.workers = workers;
    p.count = cases[_i].workers;
    fr_buf_init(&out, TEXT_BYTES);
    lines = fr_picture_draw(&p, &size, "\n", &out);
    ck_assert_uint_eq(lines, widths(fr_buf_text(&out), &widest));
    ck_assert_uint_lt(lines, cases[_i].lines);
    ck_assert_uint_lt(widest, cases[_i].columns);
    for (size_t i = 0; i < COUNT_OF(cases[_i].must); i++)
        ck_assert_msg(strstr(fr_buf_text(&out), cases[_i].must[i]) != NULL, "%s\n%s",
                      cases[_i].must[i], fr_buf_text(&out));
    ck_assert_msg(strstr(fr_buf_text(&out), cases[_i].must_not) == NULL, "%s",
                  fr_buf_text(&out));
    if (!cases[_i].color)
        ck_assert_ptr_null(strchr(fr_buf_text(&out), '\x1b'));
    fr_buf_free(&out);
}
END_TEST

/* Every size that there may be: never wider, never higher than the window. */
START_TEST(test_any_size)
{
    static struct fr_picture_worker workers[MAX_WORKERS];
    struct fr_picture p = plain;
    struct fr_buf out;

    make_workers(workers, MAX_WORKERS);
    p.workers = workers;
    p.paused = "the log of sales is full, and this goes on for longer than a line may "
               "be, by far";
    fr_buf_init(&out, TEXT_BYTES);
    for (size_t columns = 20; columns < 260; columns += 13)
        for (size_t lines = 4; lines < 120; lines += 7)
            for (p.count = 0; p.count <= MAX_WORKERS; p.count += 16) {
                struct fr_picture_size size = {columns, lines, false};
                size_t widest, drawn;

                fr_buf_reset(&out);
                drawn = fr_picture_draw(&p, &size, "\n", &out);
                ck_assert_uint_eq(drawn, widths(fr_buf_text(&out), &widest));
                ck_assert_msg(drawn < lines && widest < columns, "%zu x %zu of %zu x %zu",
                              widest, drawn, columns, lines);
            }
    fr_buf_free(&out);
}
END_TEST

/* A file may be called anything: nothing of it reaches the terminal as a command. */
START_TEST(test_hostile_names)
{
    struct fr_picture_worker w = {.name = "w1",
                                  .state = "running",
                                  .source = "/d/\x1b[2J\x1b]0;owned\x07\r\nx\x7f",
                                  .scheduler_id = 0,
                                  .source_bytes = -1};
    struct fr_picture p = plain;
    struct fr_picture_size size = {120, 24, false};
    struct fr_buf out;

    p.workers = &w;
    p.count = 1;
    fr_buf_init(&out, TEXT_BYTES);
    fr_picture_draw(&p, &size, "\n", &out);
    for (const char *c = fr_buf_text(&out); *c != '\0'; c++)
        ck_assert_msg((unsigned char)*c >= 0x20 || *c == '\n', "\\x%02x", (unsigned)*c);
    ck_assert_ptr_nonnull(strstr(fr_buf_text(&out), "?[2J?]0;owned???x?"));
    fr_buf_free(&out);
}
END_TEST

static const struct {
    int64_t done, known, source_bytes, bytes;
    uint64_t elapsed_ms;
    int64_t eta_ms;
} etas[] = {
    {10, 40, -1, 0, 20000, 60000}, /* a quarter in 20 s */
    {0, 4, 100, 50, 10000, 70000}, /* half of the first of four */
    {0, 0, 100, 50, 10000, -1},    /* how much there is is not known */
    {0, 4, 100, 0, 10000, -1},     /* nothing is done yet */
    {4, 4, -1, 0, 10000, 0},       {1, 4, -1, 0, 0, -1},
};

START_TEST(test_eta)
{
    struct fr_picture_worker w = {.name = "w1",
                                  .state = "running",
                                  .source = "f",
                                  .bytes = etas[_i].bytes,
                                  .source_bytes = etas[_i].source_bytes};
    struct fr_picture p = {.workers = &w,
                           .count = 1,
                           .tasks_done = etas[_i].done,
                           .tasks_known = etas[_i].known,
                           .elapsed_ms = etas[_i].elapsed_ms};

    ck_assert_int_eq(fr_picture_eta_ms(&p), etas[_i].eta_ms);
}
END_TEST

/* Two loads on one scheduler, one that waits, one that nobody is on. */
START_TEST(test_schedulers)
{
    struct fr_picture_worker workers[4];
    struct fr_picture p = plain;
    struct fr_picture_size size = {80, 24, false};
    struct fr_buf out;

    make_workers(workers, 4);
    workers[1].scheduler_id = 0;
    workers[2].source = "";
    workers[2].state = "armed";
    workers[3].scheduler_id = 4;
    p.workers = workers;
    p.count = 4;
    fr_buf_init(&out, TEXT_BYTES);
    fr_picture_draw(&p, &size, "\n", &out);
    ck_assert_msg(strstr(fr_buf_text(&out), "schedulers  2.-.#\n") != NULL, "%s",
                  fr_buf_text(&out));
    fr_buf_reset(&out);
    fr_picture_totals(&p, &out);
    ck_assert_str_eq(fr_buf_text(&out),
                     "83.0 s  10 of 40 tasks  1 failed  1,234,567 rows  1.50M rows/s  "
                     "180.0 MB/s  3 rejected  2 retried  ETA "
                     "00:03:19");
    fr_buf_free(&out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("picture");
    TCase *tc = tcase_create("picture");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_sizes, 0, COUNT_OF(cases));
    tcase_add_test(tc, test_any_size);
    tcase_add_test(tc, test_hostile_names);
    tcase_add_loop_test(tc, test_eta, 0, COUNT_OF(etas));
    tcase_add_test(tc, test_schedulers);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
