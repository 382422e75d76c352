#include "base/buf.h"
#include "base/err.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    fr_status st;
    const char *name;
    int exit_status;
} status_cases[] = {
    {FR_OK, "FR_OK", 0},       {FR_EOF, "FR_EOF", 0},         {FR_EARG, "FR_EARG", 2},
    {FR_EDATA, "FR_EDATA", 1}, {FR_ECONNECT, "FR_ECONNECT", 3}, {FR_EINTR, "FR_EINTR", 4},
};

START_TEST(test_status)
{
    ck_assert_str_eq(fr_status_name(status_cases[_i].st), status_cases[_i].name);
    ck_assert_int_eq(fr_status_exit(status_cases[_i].st), status_cases[_i].exit_status);
}
END_TEST

START_TEST(test_err_grows_outward)
{
    struct fr_err err = {0};

    ck_assert_int_eq(fr_err_set(&err, FR_EDATA, "\"%s\" is not a number", "1O"), FR_EDATA);
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

int main(void)
{
    Suite *s = suite_create("base");
    TCase *tc = tcase_create("err and buf");
    SRunner *sr;
    int failed;

    tcase_add_loop_test(tc, test_status, 0, sizeof status_cases / sizeof status_cases[0]);
    tcase_add_test(tc, test_err_grows_outward);
    tcase_add_test(tc, test_buf_keeps_its_maximum);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
