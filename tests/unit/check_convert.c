/* CAST and CONVERT between all families, with the server's error numbers. */
#include "server/value/arith.h"
#include "server/value/text.h"
#include "server/value/value.h"

#include "../support/sql_values.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct cast_case {
    const char *from, *text, *to;
    int style;
    int32_t error;
    const char *want;
};

static const struct cast_case casts[] = {
    /* texts to integers */
    {"varchar(20)", " 42 ", "int", 0, 0, "42"},
    {"varchar(20)", "-2147483648", "int", 0, 0, "-2147483648"},
    {"varchar(20)", "2147483648", "int", 0, 248, NULL},
    {"varchar(20)", "", "int", 0, 0, "0"},
    {"varchar(20)", "1O", "int", 0, 245, NULL},
    {"varchar(20)", "12.7", "int", 0, 245, NULL},
    {"varchar(20)", "256", "tinyint", 0, 244, NULL},
    {"varchar(20)", "-1", "tinyint", 0, 244, NULL},
    {"varchar(20)", "32768", "smallint", 0, 244, NULL},
    {"varchar(30)", "9223372036854775807", "bigint", 0, 0, "9223372036854775807"},
    {"varchar(30)", "-9223372036854775808", "bigint", 0, 0, "-9223372036854775808"},
    {"varchar(30)", "9223372036854775808", "bigint", 0, 8115, NULL},
    {"varchar(30)", "x", "bigint", 0, 8114, NULL},
    {"varchar(20)", "TRUE", "bit", 0, 0, "1"},
    {"nvarchar(20)", "false", "bit", 0, 0, "0"},
    {"varchar(20)", "-7", "bit", 0, 0, "1"},
    {"varchar(20)", "maybe", "bit", 0, 245, NULL},
    /* integers among themselves */
    {"int", "300", "tinyint", 0, 220, NULL},
    {"bigint", "2147483648", "int", 0, 8115, NULL},
    {"int", "17", "bit", 0, 0, "1"},
    /* decimals */
    {"varchar(40)", "123.4565", "decimal(10,3)", 0, 0, "123.457"},
    {"varchar(40)", "-123.4565", "decimal(10,3)", 0, 0, "-123.457"},
    {"varchar(40)", "123.45649", "decimal(10,3)", 0, 0, "123.456"},
    {"varchar(40)", ".5", "decimal(5,2)", 0, 0, "0.50"},
    {"varchar(40)", "5.", "decimal(5,2)", 0, 0, "5.00"},
    {"varchar(40)", "", "decimal(5,2)", 0, 8114, NULL},
    {"varchar(40)", "1e2", "decimal(5,2)", 0, 8114, NULL},
    {"varchar(40)", "999.995", "decimal(5,2)", 0, 8115, NULL},
    {"varchar(40)", "99999999999999999999999999999999999999", "decimal(38,0)", 0, 0,
     "99999999999999999999999999999999999999"},
    {"varchar(40)", "100000000000000000000000000000000000000", "decimal(38,0)", 0, 8115,
     NULL},
    {"decimal(10,4)", "2.9999", "int", 0, 0, "2"},
    {"decimal(10,4)", "-2.9999", "int", 0, 0, "-2"},
    {"decimal(20,0)", "3000000000", "int", 0, 8115, NULL},
    {"decimal(10,4)", "12.3456", "decimal(6,2)", 0, 0, "12.35"},
    {"decimal(10,4)", "12345.6789", "decimal(6,2)", 0, 8115, NULL},
    {"float", "0.1", "decimal(38,20)", 0, 0, "0.10000000000000001000"},
    {"float", "1e38", "decimal(38,0)", 0, 8115, NULL},
    {"int", "123456", "decimal(5,0)", 0, 8115, NULL},
    {"decimal(10,2)", "12345.67", "varchar(8)", 0, 0, "12345.67"},
    {"decimal(10,2)", "12345.67", "varchar(7)", 0, 8115, NULL},
    /* money */
    {"varchar(30)", "$1,234.56789", "money", 0, 0, "1234.5679"},
    {"varchar(30)", "-$5", "money", 0, 0, "-5.0000"},
    {"varchar(30)", "1.2.3", "money", 0, 235, NULL},
    {"varchar(30)", "214748.3648", "smallmoney", 0, 294, NULL},
    {"varchar(30)", "x", "smallmoney", 0, 293, NULL},
    {"money", "1234567.895", "varchar(30)", 0, 0, "1234567.90"},
    {"money", "1234567.895", "varchar(30)", 1, 0, "1,234,567.90"},
    {"money", "-1234.5", "varchar(30)", 1, 0, "-1,234.50"},
    {"money", "1234567.8951", "varchar(30)", 2, 0, "1234567.8951"},
    {"money", "2.5", "int", 0, 0, "3"},
    {"money", "922337203685477.5807", "money", 0, 0, "922337203685477.5807"},
    /* floats */
    {"varchar(30)", "1.5E2", "float", 0, 0, "1.5000000000000000e+002"},
    {"varchar(30)", "nan", "float", 0, 8114, NULL},
    {"varchar(30)", "0x10", "float", 0, 8114, NULL},
    {"float", "1234567", "varchar(30)", 0, 0, "1.23457e+006"},
    {"float", "0.00001", "varchar(30)", 0, 0, "1e-005"},
    {"float", "0.1", "varchar(30)", 0, 0, "0.1"},
    {"float", "1e300", "real", 0, 232, NULL},
    {"float", "-7.9", "int", 0, 0, "-7"},
    {"float", "1e10", "int", 0, 232, NULL},
    {"float", "1e20", "bigint", 0, 8115, NULL},
    {"float", "2.00006", "money", 0, 0, "2.0001"},
    /* strings */
    {"int", "12345", "varchar(3)", 0, 0, "*"},
    {"int", "12345", "nvarchar(3)", 0, 8115, NULL},
    {"varchar(20)", "abcdef", "varchar(3)", 0, 0, "abc"},
    {"varchar(20)", "ab", "char(4)", 0, 0, "ab  "},
    {"nvarchar(20)", "\xD0\x9F\xE2\x82\xAC", "varchar(9)", 0, 0, "?\xE2\x82\xAC"},
    {"nvarchar(20)", "\xF0\x9F\x98\x80x", "nchar(2)", 0, 0, "\xF0\x9F\x98\x80"},
    {"nvarchar(20)", "\xF0\x9F\x98\x80x", "nvarchar(1)", 0, 0, ""},
    /* binary */
    {"int", "258", "varbinary(8)", 0, 0, "0x00000102"},
    {"int", "258", "binary(8)", 0, 0, "0x0000000000000102"},
    {"int", "258", "binary(2)", 0, 0, "0x0102"},
    {"smallint", "-2", "varbinary(8)", 0, 0, "0xFFFE"},
    {"varbinary(8)", "0x0000FFFFFFFE", "int", 0, 0, "-2"},
    {"varchar(10)", "abc", "varbinary(2)", 0, 0, "0x6162"},
    {"nvarchar(10)", "ab", "varbinary(10)", 0, 0, "0x61006200"},
    {"varchar(10)", "0xDEad", "varbinary(10)", 1, 0, "0xDEAD"},
    {"varchar(10)", "DEad", "varbinary(10)", 2, 0, "0xDEAD"},
    {"varchar(10)", "DEad", "varbinary(10)", 1, 8114, NULL},
    {"varchar(10)", "0xABC", "varbinary(10)", 1, 8114, NULL},
    {"varbinary(4)", "0x616263", "varchar(10)", 0, 0, "abc"},
    {"varbinary(4)", "0x0AFF", "varchar(10)", 1, 0, "0x0AFF"},
    {"varbinary(4)", "0x0AFF", "varchar(10)", 2, 0, "0AFF"},
    {"decimal(5,2)", "-1.5", "varbinary(20)", 0, 0, "0x0502000096000000"},
    {"varbinary(20)", "0x0502000096000000", "decimal(5,2)", 0, 0, "-1.50"},
    {"datetime", "1900-01-02 00:00:00.010", "varbinary(8)", 0, 0, "0x0000000100000003"},
    {"varbinary(8)", "0x0000000100000003", "datetime", 0, 0, "1900-01-02 00:00:00.010"},
    {"date", "2025-01-31", "varbinary(8)", 0, 0, "0xD1470B"},
    /* guid */
    {"varchar(40)", "{6F9619FF-8B86-D011-B42D-00C04FC964FF}", "uniqueidentifier", 0, 0,
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {"varchar(40)", "6f9619ff8b86d011b42d00c04fc964ff", "uniqueidentifier", 0, 8169,
     NULL},
    {"uniqueidentifier", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "varbinary(16)", 0, 0,
     "0xFF19966F868B11D0B42D00C04FC964FF"},
    {"uniqueidentifier", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "varchar(35)", 0, 8170,
     NULL},
    /* what is not there at all */
    {"int", "1", "date", 0, 529, NULL},
    {"int", "1", "uniqueidentifier", 0, 529, NULL},
    {"date", "2025-01-01", "int", 0, 529, NULL},
    {"int", NULL, "varchar(5)", 0, 0, "NULL"},
};

static void check_cast(const struct cast_case *c)
{
    struct value in = test_value(c->from, c->text), out;
    struct sqltype to = test_type(c->to);
    struct sqlerr e = {0};
    bool ok = value_convert(&in, &to, c->style, false, &out, &e);

    if (c->error != 0) {
        ck_assert_msg(!ok, "%s '%s' to %s gave \"%s\"", c->from, c->text, c->to,
                      ok ? test_text(&out) : "");
        ck_assert_msg(e.number == c->error, "%s '%s' to %s: error %d %s", c->from,
                      c->text, c->to, (int)e.number, e.text);
    } else {
        ck_assert_msg(ok, "%s '%s' to %s: %s", c->from, c->text, c->to, e.text);
        ck_assert_msg(strcmp(test_text(&out), c->want) == 0,
                      "%s '%s' to %s: \"%s\" for \"%s\"", c->from, c->text, c->to,
                      test_text(&out), c->want);
    }
    value_free(&in);
    value_free(&out);
}

START_TEST(test_cast)
{
    check_cast(&casts[_i]);
}
END_TEST

static const struct cast_case dates[] = {
    {"varchar(40)", "2025-01-31", "date", 0, 0, "2025-01-31"},
    {"varchar(40)", "20250131", "date", 0, 0, "2025-01-31"},
    {"varchar(40)", "250131", "date", 0, 0, "2025-01-31"},
    {"varchar(40)", "01/31/2025", "date", 0, 0, "2025-01-31"},
    {"varchar(40)", "1/31/50", "date", 0, 0, "1950-01-31"},
    {"varchar(40)", "1/31/49", "date", 0, 0, "2049-01-31"},
    {"varchar(40)", "31.01.2025", "date", 104, 0, "2025-01-31"},
    {"varchar(40)", "31/01/2025", "date", 103, 0, "2025-01-31"},
    {"varchar(40)", "31-01-2025", "date", 105, 0, "2025-01-31"},
    {"varchar(40)", "31-01-2025", "date", 0, 241, NULL},
    {"varchar(40)", "2025/1/31", "date", 111, 0, "2025-01-31"},
    {"varchar(40)", "Jan 31 2025 11:59PM", "datetime", 0, 0, "2025-01-31 23:59:00.000"},
    {"varchar(40)", "31 January 2025", "date", 0, 0, "2025-01-31"},
    {"varchar(40)", "31-Jan-25", "date", 106, 0, "2025-01-31"},
    {"varchar(40)", "January 31, 2025", "date", 0, 0, "2025-01-31"},
    {"varchar(40)", "2025", "date", 0, 0, "2025-01-01"},
    {"varchar(40)", "", "datetime", 0, 0, "1900-01-01 00:00:00.000"},
    {"varchar(40)", "0001-01-01", "date", 0, 0, "0001-01-01"},
    {"varchar(40)", "9999-12-31", "date", 0, 0, "9999-12-31"},
    {"varchar(40)", "0001-01-01", "datetime", 0, 242, NULL},
    {"varchar(40)", "2025-02-30", "datetime", 0, 242, NULL},
    {"varchar(40)", "2025-02-30", "date", 0, 241, NULL},
    {"varchar(40)", "2024-02-29", "date", 0, 0, "2024-02-29"},
    {"varchar(40)", "1900-02-29", "date", 0, 241, NULL},
    {"varchar(40)", "24:00:00", "time(0)", 0, 241, NULL},
    {"varchar(40)", "23:59:59.9999999", "time(7)", 0, 0, "23:59:59.9999999"},
    {"varchar(40)", "23:59:59.7", "time(0)", 0, 0, "00:00:00"},
    {"varchar(40)", "2 PM", "time(0)", 0, 0, "14:00:00"},
    {"varchar(40)", "12:30 AM", "time(0)", 0, 0, "00:30:00"},
    {"varchar(40)", "2025-01-31T23:59:59.123", "datetime", 0, 0,
     "2025-01-31 23:59:59.123"},
    {"varchar(40)", "2025-01-31T23:59:59.124", "datetime", 0, 0,
     "2025-01-31 23:59:59.123"},
    {"varchar(40)", "2025-01-31 23:59:59.999", "datetime", 0, 0,
     "2025-02-01 00:00:00.000"},
    {"varchar(40)", "2025-01-31 23:59:59.1234", "datetime", 0, 241, NULL},
    {"varchar(40)", "2025-01-31 23:59:59.1234567", "datetime2(3)", 0, 0,
     "2025-01-31 23:59:59.123"},
    {"varchar(40)", "9999-12-31 23:59:59.9999999", "datetime2(0)", 0, 241, NULL},
    {"varchar(40)", "2025-01-31T10:00:00+02:00", "datetimeoffset(0)", 0, 0,
     "2025-01-31 10:00:00 +02:00"},
    {"varchar(40)", "2025-01-31T10:00:00Z", "datetimeoffset(3)", 0, 0,
     "2025-01-31 10:00:00.000 +00:00"},
    {"varchar(40)", "2025-01-31 10:00:00 -14:01", "datetimeoffset(3)", 0, 241, NULL},
    {"varchar(40)", "2025-01-31 12:00:29.998", "smalldatetime", 0, 0,
     "2025-01-31 12:00:00.000"},
    {"varchar(40)", "2025-01-31 12:00:29.999", "smalldatetime", 0, 0,
     "2025-01-31 12:01:00.000"},
    {"varchar(40)", "2079-06-07", "smalldatetime", 0, 242, NULL},
    {"varchar(40)", "no date", "smalldatetime", 0, 295, NULL},
    {"varchar(40)", "1 2 3", "datetime", 0, 241, NULL},
    {"datetime", "2025-01-31 12:00:00", "int", 0, 0, "45687"},
    {"datetime", "2025-01-31 06:00:00", "float", 0, 0, "4.5686250000000000e+004"},
    {"float", "45686.25", "datetime", 0, 0, "2025-01-31 06:00:00.000"},
    {"int", "-1", "datetime", 0, 0, "1899-12-31 00:00:00.000"},
    {"int", "-53691", "datetime", 0, 8115, NULL},
    {"datetime", "2025-01-31 12:00:00.003", "datetime2(7)", 0, 0,
     "2025-01-31 12:00:00.0033333"},
    {"datetime2(7)", "2025-01-31 12:34:56.7891234", "time(2)", 0, 0, "12:34:56.79"},
    {"datetime2(7)", "1600-01-01", "datetime", 0, 242, NULL},
    {"datetimeoffset(0)", "2025-01-31 01:00:00 +02:00", "date", 0, 0, "2025-01-31"},
    {"date", "2025-01-31", "datetimeoffset(0)", 0, 0, "2025-01-31 00:00:00 +00:00"},
    /* styles */
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 0, 0, "Jan 31 2025  9:04PM"},
    {"datetime", "2025-01-03 00:04:05.678", "varchar(40)", 100, 0, "Jan  3 2025 12:04AM"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 1, 0, "01/31/25"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 101, 0, "01/31/2025"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 103, 0, "31/01/2025"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 104, 0, "31.01.2025"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 105, 0, "31-01-2025"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 112, 0, "20250131"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 114, 0, "21:04:05:677"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 120, 0, "2025-01-31 21:04:05"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 121, 0,
     "2025-01-31 21:04:05.677"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(40)", 126, 0,
     "2025-01-31T21:04:05.677"},
    {"datetime", "2025-01-31 21:04:05", "varchar(40)", 126, 0, "2025-01-31T21:04:05"},
    {"datetime", "2025-01-31 21:04:05.678", "varchar(7)", 0, 0, "Jan 31 "},
    {"datetime2(7)", "2025-01-31 21:04:05.678", "varchar(40)", 126, 0,
     "2025-01-31T21:04:05.6780000"},
    {"datetime2(0)", "2025-01-31 21:04:05", "varchar(40)", 0, 0, "2025-01-31 21:04:05"},
    {"datetimeoffset(0)", "2025-01-31 21:04:05 +01:00", "varchar(40)", 126, 0,
     "2025-01-31T21:04:05+01:00"},
    {"datetimeoffset(0)", "2025-01-31 21:04:05 +01:00", "varchar(40)", 127, 0,
     "2025-01-31T20:04:05Z"},
    {"date", "2025-01-31", "varchar(40)", 0, 0, "2025-01-31"},
    {"date", "2025-01-31", "varchar(40)", 108, 9809, NULL},
    {"time(3)", "21:04:05.678", "varchar(40)", 0, 0, "21:04:05.678"},
    {"datetime", "2025-01-31", "varchar(40)", 999, 281, NULL},
};

START_TEST(test_date)
{
    check_cast(&dates[_i]);
}
END_TEST

static const struct {
    const char *from, *text, *to, *column;
    int32_t error;
    const char *want;
} assigns[] = {
    {"varchar(20)", "abcdef", "varchar(3)", "dbo.t.c", 2628, NULL},
    {"varchar(20)", "abcdef", "varchar(3)", NULL, 0, "abc"},
    {"varchar(20)", "abc   ", "varchar(3)", "dbo.t.c", 0, "abc"},
    {"nvarchar(20)", "\xC3\xA9\xC3\xA9", "varchar(2)", "dbo.t.c", 0, "\xC3\xA9\xC3\xA9"},
    {"varbinary(8)", "0x0102030000", "varbinary(3)", "dbo.t.c", 2628, NULL},
    {"varchar(8)", "abc", "varbinary(3)", "dbo.t.c", 257, NULL},
    {"int", "1", "date", "dbo.t.c", 206, NULL},
    {"datetime", "2025-01-01", "int", "dbo.t.c", 257, NULL},
    {"float", "1.5", "int", "dbo.t.c", 0, "1"},
};

START_TEST(test_assign)
{
    struct value in = test_value(assigns[_i].from, assigns[_i].text), out;
    struct sqltype to = test_type(assigns[_i].to);
    struct sqlerr e = {0};
    bool ok = value_assign(&in, &to, assigns[_i].column, &out, &e);

    ck_assert_int_eq(e.number, assigns[_i].error);
    ck_assert(ok == (assigns[_i].error == 0));
    if (ok)
        ck_assert_str_eq(test_text(&out), assigns[_i].want);
    value_free(&in);
    value_free(&out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("convert");
    TCase *tc = tcase_create("casts");
    SRunner *sr;
    int failed;

    tcase_add_loop_test(tc, test_cast, 0, sizeof casts / sizeof casts[0]);
    tcase_add_loop_test(tc, test_date, 0, sizeof dates / sizeof dates[0]);
    tcase_add_loop_test(tc, test_assign, 0, sizeof assigns / sizeof assigns[0]);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
