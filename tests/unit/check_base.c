#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/letter.h"
#include "base/num.h"
#include "base/secret.h"
#include "base/sql.h"
#include "base/task_kind.h"
#include "base/utf8.h"
#include "support/suite.h"

#include <string.h>

static const struct {
    fr_status st;
    const char *name;
    int exit_status;
} status_cases[] = {
    {FR_OK, "FR_OK", 0},       {FR_EOF, "FR_EOF", 0},           {FR_EARG, "FR_EARG", 2},
    {FR_EDATA, "FR_EDATA", 1}, {FR_ECONNECT, "FR_ECONNECT", 3}, {FR_EINTR, "FR_EINTR", 4},
};

START_TEST(test_status)
{
    ck_assert_str_eq(fr_status_name(status_cases[_i].st), status_cases[_i].name);
    ck_assert_int_eq(fr_status_exit(status_cases[_i].st), status_cases[_i].exit_status);
}
END_TEST

/* A path that leaves no room: its end and the reason stay. */
START_TEST(test_err_keeps_the_reason)
{
    struct fr_err err = {0};
    char path[3000], *text = err.text;

    memset(path, 'p', sizeof path);
    memcpy(path + sizeof path - 7, "/a.txt", 7);
    fr_err_set(&err, FR_EDATA, "\"%s\" is not a number", "1O");
    fr_err_wrap(&err, "%s: row %d", path, 7);
    ck_assert_int_lt(strlen(text), sizeof err.text);
    ck_assert_msg(strncmp(text, "...p", 4) == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "/a.txt: row 7: \"1O\" is not a number"));
    fr_err_wrap(&err, "task %d", 3);
    ck_assert_msg(strncmp(text, "task 3: ...p", 12) == 0, "%s", text);
}
END_TEST

START_TEST(test_err_grows_outward)
{
    struct fr_err err = {0};

    ck_assert_int_eq(fr_err_set(&err, FR_EDATA, "\"%s\" is not a number", "1O"),
                     FR_EDATA);
    ck_assert_int_eq(fr_err_wrap(&err, "row %d", 7), FR_EDATA);
    ck_assert_str_eq(err.text, "row 7: \"1O\" is not a number");
    /* a text that fills the buffer is cut, never overrun */
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(fr_err_wrap(&err, "a longer prefix"), FR_EDATA);
    ck_assert_uint_lt(strlen(err.text), sizeof err.text);
}
END_TEST

START_TEST(test_buf_keeps_its_maximum)
{
    struct fr_buf b;

    fr_buf_init(&b, 10);
    ck_assert(fr_buf_add_str(&b, "12345"));
    ck_assert(fr_buf_printf(&b, "%d", 67890));
    ck_assert_str_eq(fr_buf_text(&b), "1234567890");
    ck_assert(!fr_buf_add_byte(&b, 'x'));
    ck_assert_uint_eq(b.len, 10);
    fr_buf_reset(&b);
    ck_assert(fr_buf_add(&b, "ab", 2));
    ck_assert_str_eq(fr_buf_text(&b), "ab");
    fr_buf_free(&b);
}
END_TEST

static const struct {
    const char *text;
    int64_t min, max;
    fr_status st;
    int64_t want;
} i64_cases[] = {
    {"0", 0, 10, FR_OK, 0},
    {"10", 0, 10, FR_OK, 10},
    {"11", 0, 10, FR_ERANGE, 0},
    {"-1", 0, 10, FR_ERANGE, 0},
    {"-9223372036854775808", INT64_MIN, INT64_MAX, FR_OK, INT64_MIN},
    {"9223372036854775807", INT64_MIN, INT64_MAX, FR_OK, INT64_MAX},
    {"9223372036854775808", INT64_MIN, INT64_MAX, FR_ERANGE, 0},
    {"99999999999999999999", INT64_MIN, INT64_MAX, FR_ERANGE, 0},
    {"", 0, 10, FR_ESYNTAX, 0},
    {"-", 0, 10, FR_ESYNTAX, 0},
    {" 1", 0, 10, FR_ESYNTAX, 0},
    {"1 ", 0, 10, FR_ESYNTAX, 0},
    {"+1", 0, 10, FR_ESYNTAX, 0},
    {"0x1", 0, 10, FR_ESYNTAX, 0},
};

START_TEST(test_i64)
{
    int64_t got = 0;

    ck_assert_int_eq(
        fr_num_i64(i64_cases[_i].text, i64_cases[_i].min, i64_cases[_i].max, &got),
        i64_cases[_i].st);
    ck_assert_int_eq(got, i64_cases[_i].want);
}
END_TEST

static const struct {
    const char *text;
    fr_status st;
    uint64_t want;
} size_cases[] = {
    {"1", FR_OK, 1},
    {"64M", FR_OK, 64 << 20},
    {"2KiB", FR_OK, 2048},
    {"1g", FR_OK, 1 << 30},
    {"3T", FR_ERANGE, 0},
    {"M", FR_ESYNTAX, 0},
    {"1X", FR_ESYNTAX, 0},
    {"-1", FR_ESYNTAX, 0},
    {"99999999999999999999999", FR_ERANGE, 0},
};

START_TEST(test_size)
{
    uint64_t got = 0;

    ck_assert_int_eq(fr_num_size(size_cases[_i].text, UINT64_C(1) << 40, &got),
                     size_cases[_i].st);
    ck_assert_uint_eq(got, size_cases[_i].want);
}
END_TEST

static const struct {
    const char *text;
    fr_status st;
    double want;
} real_cases[] = {
    {"0", FR_OK, 0},          {"12.5", FR_OK, 12.5},  {"100", FR_OK, 100},
    {"100.1", FR_ERANGE, 0},  {"", FR_ESYNTAX, 0},    {".5", FR_ESYNTAX, 0},
    {"5.", FR_ESYNTAX, 0},    {"1e1", FR_ESYNTAX, 0}, {"-1", FR_ESYNTAX, 0},
    {" 1", FR_ESYNTAX, 0},    {"nan", FR_ESYNTAX, 0}, {"0x1", FR_ESYNTAX, 0},
    {"1.2.3", FR_ESYNTAX, 0},
};

START_TEST(test_real)
{
    double got = 0;

    ck_assert_int_eq(fr_num_real(real_cases[_i].text, 100, &got), real_cases[_i].st);
    ck_assert_double_eq(got, real_cases[_i].want);
}
END_TEST

START_TEST(test_grouped)
{
    char buf[32];

    ck_assert_str_eq(fr_num_grouped(0, buf, sizeof buf), "0");
    ck_assert_str_eq(fr_num_grouped(999, buf, sizeof buf), "999");
    ck_assert_str_eq(fr_num_grouped(1234567, buf, sizeof buf), "1,234,567");
}
END_TEST

START_TEST(test_backoff_stays_in_bounds)
{
    for (unsigned attempt = 1; attempt < 80; attempt++) {
        uint64_t ms = fr_backoff_ms(attempt, 500, 30000);

        ck_assert_uint_ge(ms, 250);
        ck_assert_uint_le(ms, 30000);
    }
}
END_TEST

START_TEST(test_guids_differ)
{
    char a[FR_GUID_TEXT_BYTES], b[FR_GUID_TEXT_BYTES];

    fr_guid_new(a);
    fr_guid_new(b);
    ck_assert_uint_eq(strlen(a), 36);
    ck_assert_int_eq(a[14], '4');
    ck_assert_str_ne(a, b);
}
END_TEST

START_TEST(test_secret_refuses_what_cannot_be_sent)
{
    struct fr_secret *s = NULL;
    struct fr_err err;
    char longer[FR_SECRET_MAX_BYTES + 1];

    memset(longer, 'x', sizeof longer);
    ck_assert_int_eq(fr_secret_new("a\0b", 3, &s, &err), FR_EARG);
    ck_assert_int_eq(fr_secret_new(longer, sizeof longer, &s, &err), FR_EARG);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(fr_secret_new(longer, sizeof longer - 1, &s, &err), FR_OK);
    ck_assert_uint_eq(strlen(fr_secret_reveal(s)), sizeof longer - 1);
    fr_secret_free(&s);
    ck_assert_ptr_null(s);
    ck_assert_str_eq(fr_secret_reveal(NULL), "");
}
END_TEST

START_TEST(test_letters)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"", "", true},
        {"Id", "iD", true},
        {"id", "ids", false},
        {"[", "{", false}, /* 32 apart, as letters are */
        {"M\xC3\x9CNZE", "m\xC3\xBCnze", true},
        {"\xC3\x97", "\xC3\xB7", false}, /* times and divided by */
        {"\xC5\x81\xC3\x93", "\xC5\x82\xC3\xB3", true},
        {"\xC5\xB8", "\xC3\xBF", true}, /* from two blocks */
        {"\xC4\xB0", "i", false},       /* a Turkish I is another letter */
        {"\xCE\xA3", "\xCF\x83", true}, /* sigma */
        {"\xCF\x82", "\xCF\x83", true}, /* at the end of a word */
        {"\xCE\x86", "\xCE\xAC", true}, /* with tonos */
        {"\xD0\x96\xD0\x81", "\xD0\xB6\xD1\x91", true},
        {"\xE1\xBA\xA0", "\xE1\xBA\xA1", true},
        {"\xC3\x9F", "ss", false},
        {"\xE9", "\xE9", true}, /* no character */
        {"\xE9", "\xC9", false},
        {"\xE9", "\xC3\xA9", false},
    };

    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        size_t n = strlen(pairs[i].a), m = strlen(pairs[i].b);

        ck_assert_msg(fr_letter_same_text(pairs[i].a, n, pairs[i].b, m) == pairs[i].same,
                      "pair %zu", i);
        ck_assert(fr_letter_same_text(pairs[i].b, m, pairs[i].a, n) == pairs[i].same);
    }
    for (uint32_t c = 0; c < 0x11000; c++) {
        ck_assert_uint_eq(fr_letter_upper(fr_letter_lower(c)), fr_letter_upper(c));
        ck_assert(fr_letter_lower(c) == c || fr_letter_upper(c) == c);
    }
}
END_TEST

static const struct {
    const char *text;
    size_t n;
    bool marked;
    const char *want; /* NULL: malformed */
} utf16_cases[] = {
    {"abc", 3, false, NULL},
    {"\xFF\xFE", 2, true, ""},
    {"\xFF\xFE"
     "a\0\xE9\0\x16\x04\xAC\x20",
     10, true, "a\xC3\xA9\xD0\x96\xE2\x82\xAC"},
    {"\xFE\xFF\0a\x04\x16", 6, true, "a\xD0\x96"},
    {"\xFF\xFE\x3D\xD8\x00\xDE", 6, true, "\xF0\x9F\x98\x80"},
    {"\xFF\xFE\x3D\xD8", 4, true, NULL},
    {"\xFF\xFE\x3D\xD8"
     "a\0",
     6, true, NULL},
    {"\xFF\xFE\x00\xDE", 4, true, NULL},
    {"\xFF\xFE"
     "a",
     3, true, NULL},
};

START_TEST(test_utf16)
{
    char *out;
    size_t n;

    ck_assert(fr_utf16_decode(utf16_cases[_i].text, utf16_cases[_i].n, &out, &n) ==
              utf16_cases[_i].marked);
    if (utf16_cases[_i].want == NULL) {
        ck_assert_ptr_null(out);
    } else {
        ck_assert_str_eq(out, utf16_cases[_i].want);
        ck_assert_uint_eq(n, strlen(utf16_cases[_i].want));
    }
    free(out);
}
END_TEST

/* Where names begin at one place the first of the list counts; what was put in is not
 * looked at again. */
static const struct {
    const char *sql, *want;
} rename_cases[] = {
    {"", ""},
    {"nothing here", "nothing here"},
    {"dbo.log", "[s].[l]"},
    {"SELECT * FROM dbo.log AS log, dbo.t; x",
     "SELECT * FROM [s].[l] AS mylog, dbo.dbo.t; x"},
    {"logdbo.loglog", "mylog[s].[l]mylog"},
    {"dbo.lo", "dbo.lo"},
};

START_TEST(test_rename)
{
    const struct fr_sql_name names[] = {
        {"dbo.log", "[s].[l]"}, {"log", "mylog"}, {"dbo.t", "dbo.dbo.t"}};
    struct fr_buf out;
    struct fr_err err;

    fr_buf_init(&out, 1000);
    ck_assert_int_eq(
        fr_sql_rename(rename_cases[_i].sql, names, COUNT_OF(names), &out, &err), FR_OK);
    ck_assert_str_eq(fr_buf_text(&out), rename_cases[_i].want);
    fr_buf_free(&out);
    fr_buf_init(&out, 3);
    ck_assert_int_eq(fr_sql_rename("SELECT 1", names, COUNT_OF(names), &out, &err),
                     FR_ENOMEM);
    fr_buf_free(&out);
}
END_TEST

static const struct {
    const char *name;
    bool is_load, reads_here, has_ledger, has_table;
    enum fr_task_sum sum;
} kind_cases[] = {
    {"load", true, true, true, false, FR_SUM_LOADS},
    {"bulk_insert", true, false, true, false, FR_SUM_LOADS},
    {"query", false, false, false, true, FR_SUM_PHASES},
    {"backup", false, false, false, false, FR_SUM_BACKUPS},
    {"bring_in", false, false, true, true, FR_SUM_BRING_INS},
    {"Load", false, false, false, true, FR_SUM_PHASES}, /* is none */
    {"", false, false, false, true, FR_SUM_PHASES},
};

START_TEST(test_task_kind)
{
    const struct fr_task_kind *k = fr_task_kind_find(kind_cases[_i].name);
    size_t count, seen = 0;
    const struct fr_task_kind *all = fr_task_kinds(&count);

    ck_assert_int_eq(k->is_load, kind_cases[_i].is_load);
    ck_assert_int_eq(k->reads_here, kind_cases[_i].reads_here);
    ck_assert_int_eq(k->has_ledger, kind_cases[_i].has_ledger);
    ck_assert_int_eq(k->has_table, kind_cases[_i].has_table);
    ck_assert_int_eq(k->sum, kind_cases[_i].sum);
    for (size_t i = 0; i < count; i++)
        seen += strcmp(all[i].name, kind_cases[_i].name) == 0 ? 1 : 0;
    ck_assert_uint_eq(seen, strcmp(k->name, "unknown") == 0 ? 0 : 1);
    ck_assert_uint_eq(count, COUNT_OF(kind_cases) - 2); /* each has a row above */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base");
    TCase *tc = tcase_create("base");

    tcase_add_loop_test(tc, test_task_kind, 0, COUNT_OF(kind_cases));
    tcase_add_loop_test(tc, test_status, 0, COUNT_OF(status_cases));
    tcase_add_test(tc, test_err_grows_outward);
    tcase_add_test(tc, test_err_keeps_the_reason);
    tcase_add_test(tc, test_buf_keeps_its_maximum);
    tcase_add_loop_test(tc, test_i64, 0, COUNT_OF(i64_cases));
    tcase_add_loop_test(tc, test_size, 0, COUNT_OF(size_cases));
    tcase_add_loop_test(tc, test_real, 0, COUNT_OF(real_cases));
    tcase_add_test(tc, test_grouped);
    tcase_add_test(tc, test_backoff_stays_in_bounds);
    tcase_add_test(tc, test_guids_differ);
    tcase_add_test(tc, test_letters);
    tcase_add_loop_test(tc, test_rename, 0, COUNT_OF(rename_cases));
    tcase_add_loop_test(tc, test_utf16, 0, COUNT_OF(utf16_cases));
    tcase_add_test(tc, test_secret_refuses_what_cannot_be_sent);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
