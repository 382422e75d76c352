/* Types, arithmetic, comparison, dates, collations, forms in SQLite. */
#include "server/value/arith.h"
#include "server/value/collation.h"
#include "server/value/datetime.h"
#include "server/value/number.h"
#include "server/value/text.h"

#include "../support/sql_values.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *a, *at;
    enum arith_op op;
    const char *b, *bt;
    int32_t error;
    const char *type, *want;
} ops[] = {
    {"int", "2147483647", ARITH_ADD, "int", "1", 8115, NULL, NULL},
    {"int", "7", ARITH_DIV, "int", "-2", 0, "int", "-3"},
    {"int", "7", ARITH_MOD, "int", "-2", 0, "int", "1"},
    {"int", "7", ARITH_DIV, "int", "0", 8134, NULL, NULL},
    {"bigint", "-9223372036854775808", ARITH_DIV, "int", "-1", 8115, NULL, NULL},
    {"bigint", "-9223372036854775808", ARITH_MOD, "int", "-1", 0, "bigint", "0"},
    {"tinyint", "200", ARITH_ADD, "tinyint", "100", 8115, NULL, NULL},
    {"smallint", "6", ARITH_AND, "int", "3", 0, "int", "2"},
    {"decimal(10,2)", "1.25", ARITH_ADD, "decimal(5,4)", "0.0001", 0, "decimal(13,4)",
     "1.2501"},
    {"decimal(2,1)", "2.0", ARITH_DIV, "int", "3", 0, "numeric(13,12)", "0.666666666666"},
    {"decimal(38,10)", "2", ARITH_DIV, "decimal(38,10)", "3", 0, "decimal(38,6)",
     "0.666666"},
    {"decimal(38,10)", "1.5", ARITH_MUL, "decimal(38,10)", "0.0000011", 0,
     "decimal(38,6)", "0.000002"},
    {"decimal(38,0)", "99999999999999999999999999999999999999", ARITH_ADD, "int", "1",
     8115, NULL, NULL},
    {"decimal(38,37)", "9.9999999999999999999999999999999999999", ARITH_ADD,
     "decimal(38,0)", "1", 0, "decimal(38,0)", "11"},
    {"decimal(10,3)", "-7.500", ARITH_MOD, "decimal(10,1)", "2.0", 0, "decimal(10,3)",
     "-1.500"},
    {"decimal(10,3)", "1", ARITH_DIV, "decimal(10,3)", "0", 8134, NULL, NULL},
    {"money", "0.5", ARITH_MUL, "money", "0.0001", 0, "money", "0.0001"},
    {"money", "2", ARITH_DIV, "money", "3", 0, "money", "0.6666"},
    {"money", "922337203685477.5807", ARITH_ADD, "int", "1", 8115, NULL, NULL},
    {"float", "1e308", ARITH_MUL, "int", "10", 8115, NULL, NULL},
    {"float", "1", ARITH_DIV, "int", "0", 8134, NULL, NULL},
    {"float", "1", ARITH_MOD, "float", "1", 8117, NULL, NULL},
    {"varchar(5)", "12", ARITH_ADD, "int", "3", 0, "int", "15"},
    {"varchar(5)", "ab", ARITH_ADD, "nvarchar(3)", "c", 0, "nvarchar(8)", "abc"},
    {"char(3)", "a", ARITH_ADD, "varchar(2)", "b", 0, "varchar(5)", "a  b"},
    {"varchar(5)", "ab", ARITH_SUB, "varchar(5)", "c", 8117, NULL, NULL},
    {"datetime", "2025-01-31", ARITH_ADD, "int", "1", 0, "datetime",
     "2025-02-01 00:00:00.000"},
    {"datetime", "2025-01-31", ARITH_SUB, "float", "0.5", 0, "datetime",
     "2025-01-30 12:00:00.000"},
    {"date", "2025-01-31", ARITH_ADD, "int", "1", 206, NULL, NULL},
    {"bit", "1", ARITH_ADD, "bit", "1", 8117, NULL, NULL},
    {"varbinary(4)", "0x0102", ARITH_ADD, "varbinary(4)", "0x03", 0, "varbinary(8)",
     "0x010203"},
    {"int", NULL, ARITH_DIV, "int", "0", 0, "int", "NULL"},
};

START_TEST(test_arith)
{
    struct value a = test_value(ops[_i].a, ops[_i].at),
                 b = test_value(ops[_i].b, ops[_i].bt);
    struct value out;
    struct sqlerr e = {0};
    char shown[TYPE_NAME_BYTES];
    bool ok = value_arith(ops[_i].op, &a, &b, NULL, &out, &e);

    ck_assert_msg(e.number == ops[_i].error, "error %d: %s", (int)e.number, e.text);
    if (ok) {
        ck_assert_str_eq(type_format(&out.type, shown, sizeof shown), ops[_i].type);
        ck_assert_str_eq(test_text(&out), ops[_i].want);
    }
    value_free(&a);
    value_free(&b);
    value_free(&out);
}
END_TEST

static const struct {
    enum arith_op op;
    const char *a, *b, *want;
} decimal_types[] = {
    {ARITH_ADD, "decimal(10,2)", "decimal(8,4)", "decimal(13,4)"},
    {ARITH_MUL, "decimal(10,2)", "decimal(8,4)", "decimal(19,6)"},
    {ARITH_DIV, "decimal(10,2)", "decimal(8,4)", "decimal(23,11)"},
    {ARITH_MOD, "decimal(10,2)", "decimal(8,4)", "decimal(8,4)"},
    {ARITH_MUL, "decimal(30,10)", "decimal(30,10)", "decimal(38,6)"},
    {ARITH_DIV, "decimal(38,20)", "decimal(38,20)", "decimal(38,6)"},
    {ARITH_ADD, "decimal(38,10)", "decimal(38,20)", "decimal(38,10)"},
};

START_TEST(test_decimal_type)
{
    struct sqltype a = test_type(decimal_types[_i].a), b = test_type(decimal_types[_i].b);
    struct sqltype t = type_decimal_result(decimal_types[_i].op, &a, &b);
    char shown[TYPE_NAME_BYTES];

    ck_assert_str_eq(type_format(&t, shown, sizeof shown), decimal_types[_i].want);
}
END_TEST

static const struct {
    const char *a, *b, *want; /* want NULL: 206 */
} commons[] = {
    {"int", "varchar(10)", "int"},
    {"decimal(10,2)", "int", "decimal(12,2)"},
    {"decimal(10,2)", "decimal(8,4)", "decimal(12,4)"},
    {"money", "decimal(5,1)", "decimal(19,4)"},
    {"varchar(10)", "nvarchar(5)", "nvarchar(10)"},
    {"char(10)", "varchar(max)", "varchar(max)"},
    {"date", "datetime2(3)", "datetime2(3)"},
    {"datetime2(3)", "datetimeoffset(7)", "datetimeoffset(7)"},
    {"int", "date", NULL},
    {"uniqueidentifier", "varchar(5)", "uniqueidentifier"},
    {"real", "decimal(5,1)", "real"},
};

START_TEST(test_common)
{
    struct sqltype a = test_type(commons[_i].a), b = test_type(commons[_i].b), t, u;
    struct sqlerr e = {0};
    char shown[TYPE_NAME_BYTES];
    bool ok = type_common(&a, &b, &t, &e);

    ck_assert(ok == (commons[_i].want != NULL));
    if (!ok) {
        ck_assert_int_eq(e.number, 206);
        return;
    }
    ck_assert_str_eq(type_format(&t, shown, sizeof shown), commons[_i].want);
    ck_assert(type_common(&b, &a, &u, &e));
    ck_assert(type_equal(&t, &u));
}
END_TEST

static const struct {
    const char *name;
    int args;
    long a, b;
    bool cast;
    int32_t error;
    const char *want;
} parses[] = {
    {"INTEGER", 0, 0, 0, false, 0, "int"},
    {"dec", 0, 0, 0, false, 0, "decimal(18,0)"},
    {"numeric", 2, 38, 38, false, 0, "numeric(38,38)"},
    {"decimal", 1, 39, 0, false, 2750, NULL},
    {"decimal", 2, 5, 6, false, 2751, NULL},
    {"float", 1, 24, 0, false, 0, "real"},
    {"float", 1, 54, 0, false, 1001, NULL},
    {"double precision", 0, 0, 0, false, 0, "float"},
    {"character varying", 1, 8000, 0, false, 0, "varchar(8000)"},
    {"varchar", 1, 8001, 0, false, 131, NULL},
    {"varchar", 0, 0, 0, true, 0, "varchar(30)"},
    {"nvarchar", 0, 0, 0, false, 0, "nvarchar(1)"},
    {"sysname", 0, 0, 0, false, 0, "sysname"},
    {"datetime2", 0, 0, 0, false, 0, "datetime2(7)"},
    {"time", 1, 8, 0, false, 1002, NULL},
    {"int", 1, 4, 0, false, 2716, NULL},
    {"rowversion", 0, 0, 0, false, 0, "timestamp"},
    {"blob", 0, 0, 0, false, 2715, NULL},
    {"blob", 0, 0, 0, true, 243, NULL},
};

START_TEST(test_parse_type)
{
    struct type_args args = {.count = parses[_i].args,
                             .arg = {parses[_i].a, parses[_i].b},
                             .in_cast = parses[_i].cast};
    struct sqltype t;
    struct sqlerr e = {0};
    char shown[TYPE_NAME_BYTES];
    bool ok = type_parse(parses[_i].name, strlen(parses[_i].name), &args, &t, &e);

    ck_assert_int_eq(e.number, parses[_i].error);
    if (ok)
        ck_assert_str_eq(type_format(&t, shown, sizeof shown), parses[_i].want);
}
END_TEST

static const struct {
    enum datepart part;
    int64_t n;
    const char *type, *from;
    int32_t error;
    const char *want;
} date_adds[] = {
    {DP_MONTH, 1, "date", "2025-01-31", 0, "2025-02-28"},
    {DP_MONTH, -11, "date", "2025-01-31", 0, "2024-02-29"},
    {DP_YEAR, 8000, "date", "2025-01-31", 517, NULL},
    {DP_DAY, -1, "datetime", "1753-01-01", 517, NULL},
    {DP_MILLISECOND, 2, "datetime", "2025-01-31 00:00:00.000", 0,
     "2025-01-31 00:00:00.003"},
    {DP_NANOSECOND, 149, "datetime2(7)", "2025-01-31", 0, "2025-01-31 00:00:00.0000001"},
    {DP_HOUR, 25, "time(0)", "12:00", 0, "13:00:00"},
    {DP_HOUR, 1, "date", "2025-01-31", 9810, NULL},
    {DP_DAY, 1, "time(0)", "12:00", 9810, NULL},
    {DP_MINUTE, -1, "smalldatetime", "2025-01-01", 0, "2024-12-31 23:59:00.000"},
    {DP_SECOND, 9223372036854775807, "datetime2(0)", "2025-01-01", 517, NULL},
    {DP_HOUR, 3, "datetimeoffset(0)", "2025-01-31 23:00:00 +02:00", 0,
     "2025-02-01 02:00:00 +02:00"},
    {DP_DAY, 1, "varchar(20)", "2025-01-31", 0, "2025-02-01 00:00:00.000"},
};

START_TEST(test_date_add)
{
    struct value v = test_value(date_adds[_i].type, date_adds[_i].from), out;
    struct sqlerr e = {0};
    bool ok = date_add(date_adds[_i].part, date_adds[_i].n, &v, &out, &e);

    ck_assert_msg(e.number == date_adds[_i].error, "%d %s", (int)e.number, e.text);
    if (ok)
        ck_assert_str_eq(test_text(&out), date_adds[_i].want);
    value_free(&v);
    value_free(&out);
}
END_TEST

static const struct {
    enum datepart part;
    const char *type, *from, *to;
    int64_t want;
} date_diffs[] = {
    {DP_YEAR, "date", "2024-12-31", "2025-01-01", 1},
    {DP_MONTH, "date", "2025-03-31", "2025-02-01", -1},
    {DP_WEEK, "date", "2025-01-04", "2025-01-05", 1}, /* Saturday, Sunday */
    {DP_DAY, "datetime2(7)", "2025-01-01 23:59:59.9999999", "2025-01-02", 1},
    {DP_HOUR, "datetime", "2025-01-01 01:59:00", "2025-01-01 02:00:00", 1},
    {DP_MILLISECOND, "datetime", "2025-01-01 00:00:00.000", "2025-01-01 00:00:00.997",
     997},
    {DP_SECOND, "datetimeoffset(0)", "2025-01-01 00:00:00 +01:00",
     "2025-01-01 00:00:00 +00:00", 3600},
    {DP_NANOSECOND, "time(7)", "00:00", "00:00:00.0000001", 100},
    {DP_DAY, "date", "0001-01-01", "9999-12-31", 3652058},
};

START_TEST(test_date_diff)
{
    struct value a = test_value(date_diffs[_i].type, date_diffs[_i].from);
    struct value b = test_value(date_diffs[_i].type, date_diffs[_i].to);
    struct sqlerr e = {0};
    int64_t n = 0;

    ck_assert_msg(date_diff(date_diffs[_i].part, &a, &b, &n, &e), "%s", e.text);
    ck_assert_int_eq(n, date_diffs[_i].want);
}
END_TEST

static const struct {
    enum datepart part;
    const char *from;
    int32_t want;
    const char *name;
} date_parts[] = {
    {DP_QUARTER, "2025-05-31 21:04:05.1234567", 2, "2"},
    {DP_MONTH, "2025-05-31 21:04:05.1234567", 5, "May"},
    {DP_DAYOFYEAR, "2025-05-31 21:04:05.1234567", 151, "151"},
    {DP_WEEK, "2025-01-05", 2, "2"},
    {DP_WEEK, "2025-12-31", 53, "53"},
    {DP_ISO_WEEK, "2025-12-31", 1, "1"},
    {DP_ISO_WEEK, "2027-01-03", 53, "53"},
    {DP_WEEKDAY, "2025-01-05", 1, "Sunday"},
    {DP_WEEKDAY, "2025-01-04", 7, "Saturday"},
    {DP_NANOSECOND, "2025-05-31 21:04:05.1234567", 123456700, "123456700"},
};

START_TEST(test_date_part)
{
    struct value v = test_value("datetime2(7)", date_parts[_i].from), name;
    struct sqlerr e = {0};
    int32_t n = 0;

    ck_assert(date_part(date_parts[_i].part, &v, 7, &n, &e));
    ck_assert_int_eq(n, date_parts[_i].want);
    ck_assert(date_name(date_parts[_i].part, &v, 7, &name, &e));
    ck_assert_str_eq(test_text(&name), date_parts[_i].name);
    value_free(&name);
}
END_TEST

START_TEST(test_calendar_is_whole)
{
    /* every day of ten thousand years goes to a date and back */
    struct civil before = {0, 12, 31};

    for (int32_t d = 0; d <= DAYS_LAST; d++) {
        struct civil c = civil_from_days(d);

        /* Check writes to its pipe for each assertion: only a failure is one here */
        if (!civil_valid(c.year, c.month, c.day) ||
            days_from_civil(c.year, c.month, c.day) != d ||
            (c.day != before.day + 1 && c.day != 1))
            ck_abort_msg("day %d: %d-%d-%d", (int)d, c.year, c.month, c.day);
        before = c;
    }
    ck_assert_int_eq(before.year, 9999);
}
END_TEST

static const struct {
    const char *collation, *a, *b;
    int want;
} orders[] = {
    {"SQL_Latin1_General_CP1_CI_AS", "abc", "ABC  ", 0},
    {"SQL_Latin1_General_CP1_CI_AS", "_a", "1", -1},
    {"SQL_Latin1_General_CP1_CI_AS", "9", "a", -1},
    {"SQL_Latin1_General_CP1_CI_AS", "\xC3\xA9", "f", -1}, /* e acute before f */
    {"SQL_Latin1_General_CP1_CI_AS", "e", "\xC3\xA9", -1},
    {"SQL_Latin1_General_CP1_CI_AS", "\xC3\x89", "\xC3\xA9", 0},
    {"Latin1_General_CI_AI", "e", "\xC3\x89", 0},
    {"Latin1_General_CS_AS", "a", "A", -1},
    {"Latin1_General_BIN2", "a", "B", 1},
    {"Latin1_General_BIN2", "a", "a ", 0},
    {"Latin1_General_BIN", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80",
     1}, /* units, not code points */
    {"Latin1_General_BIN2", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80", -1},
    {"Cyrillic_General_CI_AS", "\xD0\x9F", "\xD0\xBF", 0},
};

START_TEST(test_collation)
{
    uint32_t c = 99, back;
    unsigned char wire[COLLATION_WIRE_BYTES];
    const char *a = orders[_i].a, *b = orders[_i].b;

    ck_assert(collation_find(orders[_i].collation, strlen(orders[_i].collation), &c));
    ck_assert_int_eq(collation_compare(c, a, strlen(a), b, strlen(b)), orders[_i].want);
    ck_assert_int_eq(collation_compare(c, b, strlen(b), a, strlen(a)), -orders[_i].want);
    collation_wire(c, wire);
    back = collation_from_wire(wire);
    ck_assert_int_eq(collation_get(back)->lcid, collation_get(c)->lcid);
    ck_assert_int_eq(collation_get(back)->kind, collation_get(c)->kind);
}
END_TEST

START_TEST(test_collation_wire)
{
    static const unsigned char dflt[] = {0x09, 0x04, 0xD0, 0x00, 0x34};
    unsigned char wire[COLLATION_WIRE_BYTES];

    collation_wire(COLLATION_DEFAULT, wire);
    ck_assert_mem_eq(wire, dflt, sizeof dflt);
    ck_assert_int_eq(collation_from_wire(dflt), COLLATION_DEFAULT);
    for (uint32_t i = 0; i < collation_count(); i++)
        ck_assert_msg(codepage_known(collation_get(i)->code_page), "%s",
                      collation_get(i)->name);
}
END_TEST

static const struct {
    unsigned cp;
    const char *utf8, *bytes;
    size_t lost;
} pages[] = {
    {1252, "a\xE2\x82\xAC\xC3\xA9", "a\x80\xE9", 0},
    {1252, "\xD0\x9F", "?", 1},
    {1251, "\xD0\x9F\xE2\x82\xAC", "\xCF\x88", 0},
    {932, "\xE6\x97\xA5", "\x93\xFA", 0},
    {1250, "\xC5\xBC", "\xBF", 0},
    {65001, "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80", 0},
};

START_TEST(test_codepage)
{
    struct fr_buf b;
    size_t lost = 0, n = strlen(pages[_i].utf8);

    fr_buf_init(&b, 1000);
    ck_assert(codepage_from_utf8(pages[_i].cp, pages[_i].utf8, n, &b, &lost));
    ck_assert_str_eq(fr_buf_text(&b), pages[_i].bytes);
    ck_assert_uint_eq(lost, pages[_i].lost);
    ck_assert_uint_eq(codepage_bytes(pages[_i].cp, pages[_i].utf8, n), b.len);
    if (lost == 0) {
        fr_buf_reset(&b);
        ck_assert(
            codepage_to_utf8(pages[_i].cp, pages[_i].bytes, strlen(pages[_i].bytes), &b));
        ck_assert_str_eq(fr_buf_text(&b), pages[_i].utf8);
    }
    fr_buf_free(&b);
}
END_TEST

START_TEST(test_utf16)
{
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xED\xA0\x80z";
    struct fr_buf wide, back;

    fr_buf_init(&wide, 1000);
    fr_buf_init(&back, 1000);
    ck_assert(text_valid(text, sizeof text - 1));
    ck_assert(!text_valid("\xC0\x80", 2));
    ck_assert(!text_valid("\xE2\x82", 2));
    ck_assert_uint_eq(text_units(text, sizeof text - 1), 7);
    ck_assert_uint_eq(text_offset(text, sizeof text - 1, 4), 6); /* not into the pair */
    ck_assert(text_to_utf16le(text, sizeof text - 1, &wide));
    ck_assert_uint_eq(wide.len, 14);
    ck_assert(text_from_utf16le(wide.data, wide.len, &back));
    ck_assert_str_eq(fr_buf_text(&back), text);
    fr_buf_free(&wide);
    fr_buf_free(&back);
}
END_TEST

static const struct {
    const char *type, *text;
} stored[] = {
    {"bit", "1"},
    {"bigint", "-9223372036854775808"},
    {"real", "0.1"},
    {"float", "-1e300"},
    {"money", "-922337203685477.5808"},
    {"decimal(38,10)", "-9999999999999999999999999999.9999999999"},
    {"date", "0001-01-01"},
    {"time(7)", "23:59:59.9999999"},
    {"datetime", "1753-01-01 00:00:00.003"},
    {"smalldatetime", "2079-06-06 23:59"},
    {"datetime2(7)", "9999-12-31 23:59:59.9999999"},
    {"datetimeoffset(7)", "2025-01-31 10:00:00.1234567 -14:00"},
    {"char(5)", "ab"},
    {"nvarchar(max)", "\xED\xA0\x80 lone"},
    {"varbinary(8)", "0x00FF00"},
    {"varbinary(8)", "0x"},
    {"varchar(8)", ""},
    {"uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {"int", NULL},
};

START_TEST(test_sqlite_keeps_every_value)
{
    struct value v = test_value(stored[_i].type, stored[_i].text), back;
    char want[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;

    snprintf(want, sizeof want, "%s", test_text(&v));
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT ?1", -1, &st, NULL), SQLITE_OK);
    ck_assert_int_eq(value_bind(st, 1, &v), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
    ck_assert(value_from_sqlite(sqlite3_column_value(st, 0), &v.type, &back));
    ck_assert_str_eq(test_text(&back), want);
    if (!v.is_null)
        ck_assert_int_eq(value_compare(&v, &back), 0);
    value_free(&back);
    sqlite3_finalize(st);
    sqlite3_close(db);
    value_free(&v);
}
END_TEST

START_TEST(test_packed_decimals_sort)
{
    static const char *const rising[] = {"-99999999999999999999999999999999999999", "-1",
                                         "0", "1",
                                         "99999999999999999999999999999999999999"};
    unsigned char before[16], now[16];

    for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
        struct value v = test_value("decimal(38,0)", rising[i]);

        decimal_pack(v.u.dec, now);
        ck_assert(decimal_unpack(now) == v.u.dec);
        if (i > 0)
            ck_assert_int_lt(memcmp(before, now, sizeof now), 0);
        memcpy(before, now, sizeof now);
    }
}
END_TEST

START_TEST(test_compare_any)
{
    struct value a = test_value("decimal(10,4)", "1.0001"), b = test_value("int", "1");
    struct value c = test_value("varchar(10)", "x"), d = test_value("date", "2025-01-01");
    struct sqlerr e = {0};
    int r = 9;

    ck_assert(value_compare_any(&a, &b, &r, &e));
    ck_assert_int_eq(r, 1);
    ck_assert(!value_compare_any(&b, &c, &r, &e));
    ck_assert_int_eq(e.number, 245);
    ck_assert(!value_compare_any(&b, &d, &r, &e));
    ck_assert_int_eq(e.number, 206);
    value_free(&c);
}
END_TEST

START_TEST(test_messages)
{
    struct sqlerr e = {0};

    ck_assert(!sqlerr_set(&e, 208, "dbo.x"));
    ck_assert_str_eq(e.text, "Invalid object name 'dbo.x'.");
    ck_assert_int_eq(e.severity, 16);
    sqlerr_set(&e, 220, "tinyint", 300LL);
    ck_assert_str_eq(e.text,
                     "Arithmetic overflow error for data type tinyint, value = 300.");
    sqlerr_set(&e, 1205, 52, "lock");
    ck_assert_int_eq(e.severity, 13);
    sqlerr_set(&e, 50000, "x");
    ck_assert_int_eq(e.number, 50000);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
    Suite *s = suite_create("value");
    TCase *tc = tcase_create("value");
    SRunner *sr;
    int failed;

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_arith, 0, ROWS(ops));
    tcase_add_loop_test(tc, test_decimal_type, 0, ROWS(decimal_types));
    tcase_add_loop_test(tc, test_common, 0, ROWS(commons));
    tcase_add_loop_test(tc, test_parse_type, 0, ROWS(parses));
    tcase_add_loop_test(tc, test_date_add, 0, ROWS(date_adds));
    tcase_add_loop_test(tc, test_date_diff, 0, ROWS(date_diffs));
    tcase_add_loop_test(tc, test_date_part, 0, ROWS(date_parts));
    tcase_add_test(tc, test_calendar_is_whole);
    tcase_add_loop_test(tc, test_collation, 0, ROWS(orders));
    tcase_add_test(tc, test_collation_wire);
    tcase_add_loop_test(tc, test_codepage, 0, ROWS(pages));
    tcase_add_test(tc, test_utf16);
    tcase_add_loop_test(tc, test_sqlite_keeps_every_value, 0, ROWS(stored));
    tcase_add_test(tc, test_packed_decimals_sort);
    tcase_add_test(tc, test_compare_any);
    tcase_add_test(tc, test_messages);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
