#include "load/suggest.h"
#include "load/suggest_value.h"
#include "support/suite.h"

#include <string.h>

enum {
    BIT = VALUE_BIT,
    INTEGER = VALUE_INTEGER | VALUE_DECIMAL | VALUE_FLOAT,
    DECIMAL = VALUE_DECIMAL | VALUE_FLOAT,
    FLOAT = VALUE_FLOAT,
    DATE = VALUE_DATE | VALUE_DATETIME,
};

static const struct {
    const char *in;
    unsigned kinds;
} cases[] = {
    {"0", INTEGER},
    {"-1", INTEGER},
    {"12345678901234567", INTEGER},
    {"123456789012345678", VALUE_INTEGER | VALUE_DECIMAL}, /* a float would lose digits */
    {"99999999999999999999999999999999999999", VALUE_INTEGER | VALUE_DECIMAL},
    {"100000000000000000000000000000000000000", 0},
    {"00", 0},
    {"007", 0},
    {"0.5", DECIMAL},
    {".5", DECIMAL},
    {"5.", 0},
    {".", 0},
    {"-", 0},
    {"-.5", DECIMAL},
    {"00.5", 0},
    {"+1", 0},
    {"1,5", 0},
    {"1 ", 0},
    {" 1", 0},
    {"-0", FLOAT},
    {"-0.00", FLOAT},
    {"1e5", 0},
    {"1.0e5", FLOAT},
    {"1e-5", FLOAT},
    {"1E+05", FLOAT},
    {"1.5e", 0},
    {"1.5e+", 0},
    {"1.5e1x", 0},
    {"1.5e308", 0}, /* too near to where float ends */
    {"1.5e1000", 0},
    {"0x10", 0},
    {"NaN", 0},
    {"true", BIT},
    {"FALSE", BIT},
    {"yes", 0},
    {"2024-01-31", DATE},
    {"2024-02-30", 0},
    {"1900-02-29", 0},
    {"2000-02-29", DATE},
    {"0000-01-01", 0},
    {"2024-13-01", 0},
    {"2024-1-1", 0},
    {"20240131", INTEGER},
    {"2024-01-31 23:59", VALUE_DATETIME},
    {"2024-01-31T23:59:59.1234567", VALUE_DATETIME},
    {"2024-01-31T23:59:59.12345678", 0},
    {"2024-01-31T23:59:59.", 0},
    {"2024-01-31 24:00", 0},
    {"2024-01-31  10:00", 0},
    {"2024-01-31T10:00Z", VALUE_OFFSET},
    {"2024-01-31 10:00:00 +02:00", VALUE_OFFSET},
    {"2024-01-31 10:00:00+15:00", 0},
    {"9999-12-31 10:00:00Z", 0},
    {"10:00", VALUE_TIME},
    {"10:00:60", 0},
    {"10:00:00.5", VALUE_TIME},
    {"1:00", 0},
    {"6f9619ff-8b86-d011-b42d-00c04fc964ff", VALUE_GUID},
    {"6f9619ff-8b86-d011-b42d-00c04fc964fg", 0},
    {"6f9619ff8b86d011b42d00c04fc964ff", 0},
    {"words", 0},
};

START_TEST(test_value)
{
    struct value_shape got;

    value_shape(cases[_i].in, strlen(cases[_i].in), '.', &got);
    ck_assert_msg(got.kinds == cases[_i].kinds, "\"%s\": %u, expected %u", cases[_i].in,
                  got.kinds, cases[_i].kinds);
}
END_TEST

START_TEST(test_decimal_comma)
{
    struct value_shape got;

    value_shape("1,25", 4, ',', &got);
    ck_assert_uint_eq(got.kinds, DECIMAL);
    ck_assert_uint_eq(got.int_digits, 1);
    ck_assert_uint_eq(got.fraction_digits, 2);
    value_shape("1.25", 4, ',', &got);
    ck_assert_uint_eq(got.kinds, 0);
}
END_TEST

START_TEST(test_width)
{
    size_t last = 0;

    for (size_t n = 0; n < 9000; n++) {
        size_t width = fr_suggest_width(n);

        ck_assert_uint_ge(width, n == 0 ? 1 : n);
        ck_assert_uint_ge(width, last);
        last = width;
    }
    ck_assert_uint_eq(fr_suggest_width(11), 20);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("suggest");
    TCase *t = tcase_create("suggest");

    tcase_add_loop_test(t, test_value, 0, (int)COUNT_OF(cases));
    tcase_add_test(t, test_decimal_comma);
    tcase_add_test(t, test_width);
    suite_add_tcase(s, t);
    return suite_run(s);
}
