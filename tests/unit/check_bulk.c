/*
 * check_bulk.c - bulk load: spool, commit and rollback, several loads at once, defaults,
 * constraints.
 */
#include "support/frd_batch.h"

#include "server/store/segment_shape.h"
#include "server/store/spool.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the spool by itself ---- */

static const struct sqlerr no_error;

/* Every form that a cell may have, the least and the greatest value of each. */
/* The first column of row i of test_spool that is not as it went in; -1: all are. */
static int wrong_column(const struct value *v, int i, size_t big_bytes)
{
    bool low = i % 2 == 0;
    const bool same[] = {
        v[0].u.i == (low ? INT32_MIN + i : INT32_MAX - i),
        v[1].is_null == (i % 3 == 0) &&
            (v[1].is_null || v[1].u.s.n == (i == 4000 ? big_bytes : (size_t)(i % 50))),
        v[2].u.dec == (low ? -i : i) * ((frd_int128)1 << 50),
        v[3].u.f == i / 7.0,
        v[4].u.i == (low ? 0 : 255),
        v[5].u.i == -i && v[5].offset_min == (low ? -840 : 840),
        v[6].u.i == (low ? INT16_MIN : INT16_MAX),
        v[7].u.s.n == (size_t)(i % 1000 == 0 ? 24000 : i % 7),
        v[8].u.dec == (low ? -1 : 1) * (frd_int128)999999999999999999,
        v[9].u.i == (low ? INT64_MIN : INT64_MAX),
        v[10].u.s.n == 16,
        v[11].u.i == 3652058,
        v[12].is_null == low && (low || v[12].u.i == INT64_MAX),
    };

    for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++)
        if (!same[k])
            return (int)k;
    return -1;
}

START_TEST(test_spool)
{
    enum { N = 13, ROWS = 50000 };
    const struct sqltype types[N] = {
        type_of(TY_INT),      type_varchar(TYPE_MAX),       type_decimal(20, 2),
        type_of(TY_FLOAT),    type_of(TY_TINYINT),          type_of(TY_DATETIMEOFFSET),
        type_of(TY_SMALLINT), type_varchar(8000),           type_decimal(18, 4),
        type_of(TY_BIGINT),   type_of(TY_UNIQUEIDENTIFIER), type_of(TY_DATE),
        type_of(TY_MONEY)};
    const struct spool_columns columns = {.types = types, .n = N, .packed = _i != 0};
    static char big[3 * SPOOL_BUFFER_BYTES];
    struct sqlerr e = no_error;
    struct spool *s = spool_new("/tmp", &columns, &e);
    struct value v[N] = {0};

    ck_assert_ptr_nonnull(s);
    memset(big, 'x', sizeof(big));
    for (int i = 0; i < ROWS; i++) {
        bool low = i % 2 == 0;

        v[0].u.i = low ? INT32_MIN + i : INT32_MAX - i;
        v[1].is_null = i % 3 == 0;
        v[1].u.s.p = big;
        v[1].u.s.n = i == 4000 ? sizeof(big) : (size_t)(i % 50);
        v[2].u.dec = (low ? -i : i) * ((frd_int128)1 << 50);
        v[3].u.f = i / 7.0;
        v[4].u.i = low ? 0 : 255;
        v[5].u.i = -i;
        v[5].offset_min = (int16_t)(low ? -840 : 840);
        v[6].u.i = low ? INT16_MIN : INT16_MAX;
        v[7].u.s.p = big;
        v[7].u.s.n = (size_t)(i % 1000 == 0 ? 24000 : i % 7);
        v[8].u.dec = (low ? -1 : 1) * (frd_int128)999999999999999999;
        v[9].u.i = low ? INT64_MIN : INT64_MAX;
        v[10].u.s.p = big;
        v[10].u.s.n = 16;
        v[11].u.i = 3652058;
        v[12].is_null = low;
        v[12].u.i = INT64_MAX;
        ck_assert(spool_add(s, v, &e));
    }
    for (int pass = 0; pass < 2; pass++) {
        ck_assert(spool_rewind(s, &e));
        for (int i = 0; i < ROWS; i++) {
            int wrong;

            /* an assertion a value would take most of the suite's time */
            if (spool_next(s, v, &e) != 1)
                ck_abort_msg("row %d does not come", i);
            wrong = wrong_column(v, i, sizeof(big));
            if (wrong >= 0)
                ck_abort_msg("row %d: column %d came back as another value", i, wrong);
        }
        ck_assert_int_eq(spool_next(s, v, &e), 0);
    }
    ck_assert_int_eq(spool_rows(s), ROWS);
    spool_free(&s);
}
END_TEST

/* A longer text than a packed cell can hold is an error, not another text. */
START_TEST(test_spool_limit)
{
    const struct sqltype type = type_varchar(8000);
    const struct spool_columns columns = {.types = &type, .n = 1, .packed = true};
    static char big[65536];
    struct sqlerr e = no_error;
    struct spool *s = spool_new("/tmp", &columns, &e);
    struct value v = {.type = type};

    v.u.s.p = big;
    v.u.s.n = sizeof(big) - 1;
    ck_assert(spool_add(s, &v, &e));
    v.u.s.n++;
    ck_assert(!spool_add(s, &v, &e));
    ck_assert_int_eq(e.number, 1105);
    ck_assert_int_eq(spool_rows(s), 1);
    spool_free(&s);
}
END_TEST

/* Segments of servers before this one say nothing of packing, and are not packed. */
START_TEST(test_shapes)
{
    struct segment_shape shape;

    ck_assert(segment_shape_parse("1 int 10 0 4;3 varchar 0 0 -1;", &shape));
    ck_assert(!shape.packed && shape.n == 2 && shape.ids[1] == 3);
    segment_shape_free(&shape);
    ck_assert(segment_shape_parse("packed;1 decimal 15 2 9;", &shape));
    ck_assert(shape.packed && shape.n == 1 && shape.types[0].scale == 2);
    segment_shape_free(&shape);
    ck_assert(!segment_shape_parse("packed;1 nosuch 15 2 9;", &shape));
}
END_TEST

/* ---- streams ---- */

/*
 * Send rows of an INSERT BULK: "1,abc;2,;3,NULL" - cells by comma, rows by semicolon;
 * values are converted from text to the declared types.  The answer of the stream's end.
 */
static const char *stream(struct test_session *t, const char *insert_bulk,
                          const char *rows)
{
    const struct result_column *cols;
    const char *said = test_run(t, insert_bulk);
    char copy[4096], *row, *keep_row = NULL;
    size_t n;
    bool ok = true;

    if (!session_bulk_pending(t->s))
        return said;
    n = session_bulk_columns(t->s, &cols);
    snprintf(copy, sizeof(copy), "%s", rows);
    for (row = strtok_r(copy, ";", &keep_row); row != NULL && ok;
         row = strtok_r(NULL, ";", &keep_row)) {
        struct value v[16] = {0};
        char *cell = row;

        ck_assert_uint_le(n, 16);
        for (size_t i = 0; i < n; i++) {
            char *end = cell + strcspn(cell, ",");
            bool last = *end == '\0';
            struct sqlerr e = no_error;
            struct value text = {.type = type_varchar(100)};

            *end = '\0';
            text.u.s.p = cell;
            text.u.s.n = strlen(cell);
            text.is_null = strcmp(cell, "NULL") == 0;
            if (type_is_string(cols[i].type.id)) {
                v[i] = text;
                v[i].type = cols[i].type;
            } else
                ck_assert_msg(value_convert(&text, &cols[i].type, 0, false, &v[i], &e),
                              "%s", e.text);
            cell = last ? end : end + 1;
        }
        ok = session_bulk_row(t->s, v, n);
        for (size_t i = 0; i < n; i++)
            value_free(&v[i]);
    }
    fr_buf_reset(&t->out);
    session_bulk_end(t->s, true);
    return fr_buf_text(&t->out);
}

START_TEST(test_autocommit)
{
    struct test_server ts;
    struct test_session t;

    test_server_start(&ts, false);
    test_session_open(&ts, &t);
    t.counts = true;
    test_run(&t, "CREATE TABLE t (a int NOT NULL, b varchar(3) NULL DEFAULT 'dd', c "
                 "char(4) NULL, d AS (a * 2), "
                 "i int IDENTITY(5, 1), g int NOT NULL DEFAULT 9)");
    ck_assert_str_eq(
        stream(&t, "INSERT BULK t (a int, b varchar(3), c char(4))", "1,x,y;2,NULL,NULL"),
        "#2\n");
    ck_assert_str_eq(test_run(&t, "SELECT a, b, c, d, i, g FROM t"),
                     "1|x|y   |2|5|9\n2|dd|NULL|4|6|9\n#2\n");
    ck_assert_str_eq(
        stream(&t, "INSERT BULK t (a int, b varchar(3)) WITH (KEEP_NULLS)", "3,NULL"),
        "#1\n");
    ck_assert_str_eq(test_run(&t, "SELECT b FROM t WHERE a = 3"), "NULL\n#1\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (a int, b varchar(30))", "4,abcd;5,x"),
                     "!2628\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (a int, b varchar(3))", "4,a;NULL,x"),
                     "!515\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (a int, i int)", "7,70"), "#1\n");
    ck_assert_str_eq(test_run(&t, "SELECT COUNT(*) FROM t; INSERT t (a) VALUES (8); "
                                  "SELECT i FROM t WHERE a = 8"),
                     "4\n#1\n#1\n71\n#1\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (nosuch int)", "1"), "!207\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (d int)", "1"), "!271\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK nosuch (d int)", "1"), "!208\n");
    test_session_close(&t);
    test_server_stop(&ts);
}
END_TEST

START_TEST(test_constraints)
{
    struct test_server ts;
    struct test_session t;

    test_server_start(&ts, false);
    test_session_open(&ts, &t);
    t.counts = true;
    test_run(&t, "CREATE TABLE p (k int PRIMARY KEY); INSERT p VALUES (1); CREATE TABLE "
                 "c (a int CHECK (a > 0), "
                 "k int REFERENCES p (k))");
    ck_assert_str_eq(
        stream(&t, "INSERT BULK c (a int, k int) WITH (CHECK_CONSTRAINTS)", "1,1"),
        "#1\n");
    ck_assert_str_eq(
        stream(&t, "INSERT BULK c (a int, k int) WITH (CHECK_CONSTRAINTS)", "0,1"),
        "!547\n");
    ck_assert_str_eq(
        stream(&t, "INSERT BULK c (a int, k int) WITH (CHECK_CONSTRAINTS)", "1,7"),
        "!547\n");
    ck_assert_str_eq(test_run(&t, "SELECT is_not_trusted FROM sys.foreign_keys"),
                     "0\n#1\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK c (a int, k int)", "-1,7"), "#1\n");
    ck_assert_str_eq(test_run(&t, "SELECT is_not_trusted FROM sys.check_constraints; "
                                  "SELECT is_not_trusted FROM sys.foreign_keys"),
                     "1\n#1\n1\n#1\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK p (k int)", "2;3;2"), "!2627\n");
    ck_assert_str_eq(test_run(&t, "SELECT COUNT(*) FROM p"), "1\n#1\n");
    test_session_close(&t);
    test_server_stop(&ts);
}
END_TEST

/* N loads into one heap at once; rows show at COMMIT only, and to their own session
 * before. */
START_TEST(test_transactions)
{
    static const char bulk[] = "INSERT BULK h (a int, b varchar(10))";
    struct test_server ts;
    struct test_session s[4], reader;

    test_server_start(&ts, false);
    test_session_open(&ts, &reader);
    test_run(&reader,
             "CREATE TABLE h (a int, b varchar(10)); CREATE TABLE other (x int)");
    for (size_t i = 0; i < 4; i++) {
        test_session_open(&ts, &s[i]);
        test_run(&s[i], "SET LOCK_TIMEOUT 0; BEGIN TRAN");
        ck_assert_str_eq(stream(&s[i], bulk, "1,x;2,y"), "");
    }
    ck_assert_str_eq(test_run(&reader, "SELECT COUNT(*) FROM h; INSERT other VALUES (1)"),
                     "0\n");
    ck_assert_str_eq(test_run(&s[0], "SAVE TRAN p"), "");
    ck_assert_str_eq(stream(&s[0], bulk, "3,z"), "");
    ck_assert_str_eq(test_run(&s[0], "ROLLBACK TRAN p; SELECT COUNT(*) FROM h; COMMIT"),
                     "2\n");
    ck_assert_str_eq(test_run(&reader, "SELECT COUNT(*) FROM h"), "2\n");
    ck_assert_str_eq(test_run(&s[1], "ROLLBACK"), "");
    ck_assert_str_eq(test_run(&s[2], "COMMIT"), "");
    ck_assert_str_eq(test_run(&reader, "SELECT COUNT(*) FROM h"), "4\n");
    /* a failing statement must not take the rows with it */
    ck_assert_str_eq(
        test_run(&s[3],
                 "INSERT h SELECT 1 / 0, 'q'; UPDATE h SET b = 'w' WHERE a = 1; COMMIT"),
        "!8134\n");
    ck_assert_str_eq(
        test_run(&reader, "SELECT COUNT(*) FROM h; SELECT COUNT(*) FROM h WHERE b = 'w'"),
        "6\n3\n");
    /* the stream's own count, a broken stream, a session that goes */
    test_run(&s[0], "BEGIN TRAN");
    test_run(&s[0], bulk);
    session_bulk_end(s[0].s, false);
    stream(&s[0], bulk, "9,n");
    for (size_t i = 0; i < 4; i++)
        test_session_close(&s[i]);
    ck_assert_str_eq(test_run(&reader, "SELECT COUNT(*) FROM h"), "6\n");
    test_session_close(&reader);
    test_server_stop(&ts);
}
END_TEST

START_TEST(test_discard)
{
    struct test_server ts;
    struct test_session t;

    test_server_start(&ts, true);
    test_session_open(&ts, &t);
    t.counts = true;
    test_run(&t, "CREATE TABLE t (a int NOT NULL)");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (a int)", "1;2;3"), "#3\n");
    ck_assert_str_eq(stream(&t, "INSERT BULK t (a int)", "1;NULL"), "!515\n");
    ck_assert_str_eq(test_run(&t, "SELECT COUNT(*) FROM t"), "0\n#1\n");
    test_session_close(&t);
    test_server_stop(&ts);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bulk");
    TCase *tc = tcase_create("bulk");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, test_spool, 0, 2);
    tcase_add_test(tc, test_spool_limit);
    tcase_add_test(tc, test_shapes);
    tcase_add_test(tc, test_autocommit);
    tcase_add_test(tc, test_constraints);
    tcase_add_test(tc, test_transactions);
    tcase_add_test(tc, test_discard);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
