#include "load/convert.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a cell holds, as text; NULL = refused. */
static const struct {
    const char *type;
    const char *in;
    const char *want;
} cases[] = {
    {"bit", "1", "1"},
    {"bit", "0", "0"},
    {"bit", "TRUE", "1"},
    {"bit", "false", "0"},
    {"bit", "2", NULL},
    {"bit", "-1", NULL},
    {"bit", "yes", NULL},
    {"tinyint", "255", "255"},
    {"tinyint", "256", NULL},
    {"tinyint", "-1", NULL},
    {"smallint", "-32768", "-32768"},
    {"smallint", "32768", NULL},
    {"int", " 7 ", "7"},
    {"int", "+7", "7"},
    {"int", "007", "7"},
    {"int", "2147483647", "2147483647"},
    {"int", "2147483648", NULL},
    {"int", "12.0", NULL},
    {"int", "1e1", NULL},
    {"int", "1O", NULL},
    {"int", "-", NULL},
    {"int", " ", NULL},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"bigint", "9223372036854775808", NULL},
    {"bigint", "99999999999999999999999999", NULL},
    {"float", "1.5", "1.5"},
    {"float", "1e3", "1000"},
    {"float", ".5", "0.5"},
    {"float", "5.", "5"},
    {"float", "0x10", NULL},
    {"float", "inf", NULL},
    {"float", "NaN", NULL},
    {"float", "1e400", NULL},
    {"float", "1e-400", NULL},
    {"float", "1e-310", NULL},
    {"float", "0e-400", "0"},
    {"float", "1e", NULL},
    {"float", "1,5", NULL},
    {"real", "3.5e38", NULL},
    {"real", "1e-45", NULL},
    {"real", "0.1", "0.1"},
    /* through double this would be rounded twice, to 1 */
    {"real", "1.00000005960464477539062500000000001", "1.0000001"},
    {"decimal(18,6)", "1.23456789", "1234568@6"},
    {"decimal(18,6)", "-0.0000005", "-1@6"},
    {"decimal(18,6)", "0.0000004999", "0@6"},
    {"decimal(18,6)", "1.2345678E5", "123456780000@6"},
    {"decimal(18,6)", "-1e-3", "-1000@6"},
    {"decimal(18,6)", "0001.5", "1500000@6"},
    {"decimal(18,6)", "-0", "0@6"},
    {"decimal(5,2)", "999.994", "99999@2"},
    {"decimal(5,2)", "999.995", NULL},
    {"decimal(5,2)", "12345.6", NULL},
    {"decimal(5,2)", "1e9999999", NULL},
    {"decimal(5,2)", "1e-9999999", "0@2"},
    {"decimal(5,2)", "1.2.3", NULL},
    {"decimal(5,2)", "", NULL},
    {"decimal(5,2)", "1e5x", NULL},
    {"decimal(38,0)", "99999999999999999999999999999999999999",
     "99999999999999999999999999999999999999@0"},
    {"decimal(38,0)", "100000000000000000000000000000000000000", NULL},
    {"decimal(38,38)", "0.99999999999999999999999999999999999999",
     "99999999999999999999999999999999999999@38"},
    {"decimal(38,38)", "1", NULL},
    {"decimal(1,0)", "9.5", NULL},
    {"decimal(38,0)", "1e37", "10000000000000000000000000000000000000@0"},
    {"decimal(38,0)", "-99999999999999999999999999999999999999.4999",
     "-99999999999999999999999999999999999999@0"},
    {"decimal(38,0)", "99999999999999999999999999999999999999.5", NULL},
    {"decimal(5,2)", "1,234", NULL},
    {"decimal(5,2)", ".", NULL},
    {"decimal(5,2)", "1e+", NULL},
    {"decimal(1,0)", "0.5", "1@0"},
    {"money", "1234.56789", "12345679"},
    {"money", "-922337203685477.5808", "-9223372036854775808"},
    {"money", "922337203685477.5808", NULL},
    {"money", "$1,234.56", "12345600"},
    {"money", "-$5", "-50000"},
    {"money", "1,23.4", NULL},
    {"money", "12,34", NULL},
    {"money", "1,234,567", "12345670000"},
    {"money", "0,123", NULL},
    {"money", "1,234.5,6", NULL},
    {"money", "$-5", "-50000"},
    {"money", "-$-5", NULL},
    {"money", "--5", NULL},
    {"money",
     "\xE2\x82\xB9"
     "5",
     NULL},
    {"money", "\xC2\xA4\x35", "50000"},
    {"money",
     "-\xE2\x82\xAC"
     "1,234.5",
     "-12345000"},
    {"money", "\xEF\xBF\xA6\x35", "50000"},
    {"money", "$", NULL},
    {"money", "1.00005", "10001"},
    {"money", "922337203685477.58074", "9223372036854775807"},
    {"money", "922337203685477.58075", NULL},
    {"smallmoney", "214748.3647", "2147483647"},
    {"smallmoney", "214748.3648", NULL},
    {"smallmoney", "-214748.3648", "-2147483648"},
    {"date", "1900-01-01", "0"},
    {"date", "0001-01-01", "-693595"},
    {"date", "9999-12-31", "2958463"},
    {"date", "20240131", "45320"},
    {"date", "2024-02-29", "45349"},
    {"date", "2023-02-29", NULL},
    {"date", "2025-02-30", NULL},
    {"date", "31-05-2024", NULL},
    {"date", "0000-01-01", NULL},
    {"date", "2024-01-01 00:00:00", "45290"},
    {"date", "2024-01-01 12:00", NULL},
    {"date", "2024-1-1", NULL},
    {"date", "2024-01-01 00:00:00.0000000001", NULL},
    {"date", "2024-01-01T00:00Z", "45290"},
    {"date", "10:00", NULL},
    {"date", "1900-02-29", NULL},
    {"date", "2000-02-29", "36583"},
    {"datetime", "1753-01-01", "-53690 0"},
    {"datetime", "1752-12-31", NULL},
    {"datetime", "2024-12-31 23:59:59.999", "45656 0"},
    {"datetime", "2024-12-31T23:59:59.997", "45655 25919999"},
    {"datetime", "9999-12-31 23:59:59.999", NULL},
    {"datetime", "2024-12-31 23:59:59.998", "45655 25919999"},
    {"datetime", "1752-12-31 23:59:59.999", NULL},
    {"datetime", "2024-01-01 00:00:00.00166666666", "45290 0"},
    {"datetime", "2024-01-01 00:00:00.00166666667", "45290 1"},
    {"datetime", "2024-01-01 00:00:00.00499999999", "45290 1"},
    {"datetime", "2024-01-01 00:00:00.00833333333", "45290 2"},
    {"datetime", "2024-01-01 00:00:00.00833333334", "45290 3"},
    {"datetime", "10:00", NULL},
    {"datetime", "2024-01-01 24:00:00", NULL},
    {"datetime", "2024-01-01 12:00:00Z", "45290 12960000"},
    {"datetime", "2024-01-01 12:00:00+01:00", NULL},
    {"datetime2(7)", "2024-01-01T23:59:59.1234567", "45290 863991234567"},
    {"datetime2(3)", "2024-01-01 23:59:59.9996", "45291 0"},
    {"datetime2(0)", "9999-12-31 23:59:59.5", NULL},
    {"datetime2(7)", "2024-01-01 23:59:59.12345674999999", "45290 863991234567"},
    {"datetime2(7)", "2024-01-01 12:00:00 nonsense", NULL},
    {"smalldatetime", "2024-01-01 12:00:29.998", "45290 720"},
    {"smalldatetime", "2024-01-01 12:00:29.999", "45290 721"},
    {"smalldatetime", "2024-01-01 12:00:30", "45290 721"},
    {"smalldatetime", "2079-06-06 23:59:29", "65535 1439"},
    {"smalldatetime", "2079-06-06 23:59:30", NULL},
    {"smalldatetime", "1899-12-31", NULL},
    {"smalldatetime", "1899-12-31 23:59:59", NULL},
    {"smalldatetime", "2024-12-31 23:59:30", "45656 0"},
    {"time(3)", "23:59:59.9994", "863999990000"},
    {"time(3)", "23:59:59.9999", NULL},
    {"time(3)", "2024-01-01 10:00", NULL},
    {"datetimeoffset(0)", "2024-01-01T00:00:00+05:30", "45289 666000000000 330"},
    {"datetimeoffset(0)", "2024-01-01 00:00:00Z", "45290 0 0"},
    {"datetimeoffset(0)", "2024-01-01 00:00:00 -14:00", "45290 504000000000 -840"},
    {"datetimeoffset(0)", "2024-01-01 00:00:00 +14:01", NULL},
    {"datetimeoffset(0)", "0001-01-01 00:00:00 +01:00", NULL},
    {"datetimeoffset(0)", "9999-12-31 23:59:59.5 +01:00", NULL},
    {"datetimeoffset(0)", "9999-12-31 23:00:00 -01:00", NULL},
    {"datetimeoffset(0)", "2024-01-01 00:00:00+00", "45290 0 0"},
    {"datetimeoffset(0)", "2024-01-01 00:00:00-0130", "45290 54000000000 -90"},
    {"datetimeoffset(0)", "2024-01-01 00:00:00+5", NULL},
    {"datetimeoffset(0)", "2024-01-01 00:00:00+05:", NULL},
    {"datetimeoffset(0)", "2024-01-01 00:00:00", "45290 0 0"},
    {"varchar(3)", "abc", "616263"},
    {"varchar(3)", "abcd", NULL},
    {"varchar(10)", "\xC3\xA9\xE2\x82\xAC", "e980"},
    {"varchar(10)", "\xD0\xB6", NULL},
    {"varchar(10)", "\xFF", NULL},
    {"varchar(10)", "a\xC2\x81", "6181"},
    {"nvarchar(2)", "\xF0\x9F\x98\x80", "3dd800de"},
    {"nvarchar(2)", "a\xF0\x9F\x98\x80", NULL},
    {"nvarchar(2)", "\xC3\xA9\xC3\xA9", "e900e900"},
    {"nvarchar(2)", "\xED\xA0\x80", NULL},
    {"nvarchar(2)", "\xC0\x80", NULL},
    {"varbinary(4)", "0x0ABC", "0abc"},
    {"varbinary(4)", "DEADBEEF", "deadbeef"},
    {"varbinary(4)", "0xABC", NULL},
    {"varbinary(4)", "0102030405", NULL},
    {"varbinary(4)", "0x", ""},
    {"varbinary(4)", "0xZZ", NULL},
    {"uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF",
     "ff19966f868b11d0b42d00c04fc964ff"},
    {"uniqueidentifier", "{6f9619ff-8b86-d011-b42d-00c04fc964ff}",
     "ff19966f868b11d0b42d00c04fc964ff"},
    {"uniqueidentifier", "6f9619ff8b86d011b42d00c04fc964ff",
     "ff19966f868b11d0b42d00c04fc964ff"},
    {"uniqueidentifier", "6F9619FF-8B86", NULL},
    {"uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FG", NULL},
};

static const struct {
    const char *name;
    enum fr_type type;
} type_names[] = {
    {"bit", FR_TYPE_BIT},
    {"tinyint", FR_TYPE_TINYINT},
    {"smallint", FR_TYPE_SMALLINT},
    {"int", FR_TYPE_INT},
    {"bigint", FR_TYPE_BIGINT},
    {"real", FR_TYPE_REAL},
    {"float", FR_TYPE_FLOAT},
    {"smallmoney", FR_TYPE_SMALLMONEY},
    {"money", FR_TYPE_MONEY},
    {"decimal", FR_TYPE_DECIMAL},
    {"date", FR_TYPE_DATE},
    {"time", FR_TYPE_TIME},
    {"datetime", FR_TYPE_DATETIME},
    {"smalldatetime", FR_TYPE_SMALLDATETIME},
    {"datetime2", FR_TYPE_DATETIME2},
    {"datetimeoffset", FR_TYPE_DATETIMEOFFSET},
    {"varchar", FR_TYPE_VARCHAR},
    {"nvarchar", FR_TYPE_NVARCHAR},
    {"varbinary", FR_TYPE_VARBINARY},
    {"uniqueidentifier", FR_TYPE_GUID},
};

static void column_of(const char *spec, struct fr_column *c)
{
    size_t n = strcspn(spec, "(");
    int a = 0, b = 0;

    memset(c, 0, sizeof *c);
    c->type = FR_TYPE_UNSUPPORTED;
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (strlen(type_names[i].name) == n && memcmp(type_names[i].name, spec, n) == 0)
            c->type = type_names[i].type;
    ck_assert_int_ne(c->type, FR_TYPE_UNSUPPORTED);
    c->name = (char *)(uintptr_t) "c";
    c->type_name = (char *)(uintptr_t)spec;
    c->code_page = 1252;
    if (spec[n] == '(' && sscanf(spec + n, "(%d,%d)", &a, &b) == 2) {
        c->precision = (uint8_t)a;
        c->scale = (uint8_t)b;
    } else if (spec[n] == '(') {
        c->scale = (uint8_t)a;
        c->max_bytes = c->type == FR_TYPE_NVARCHAR ? 2 * a : a;
    }
}

static void show_int128(const struct fr_decimal *d, char *out, size_t out_bytes)
{
    __extension__ unsigned __int128 v;
    char digits[48];
    size_t at = sizeof digits - 1;

    memcpy(&v, d->magnitude, sizeof v);
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + (int)(v % 10));
        v /= 10;
    } while (v != 0);
    snprintf(out, out_bytes, "%s%s@%u", d->negative ? "-" : "", digits + at, d->scale);
}

static void show_cell(const struct fr_column *c, const struct fr_cell *cell, char *out,
                      size_t out_bytes)
{
    union {
        uint8_t u8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        float f;
        double d;
        struct fr_decimal dec;
        struct fr_datetime dt;
        struct fr_datetime_old old;
        struct fr_smalldatetime small;
    } u;

    if (*cell->length <= (int32_t)sizeof u)
        memcpy(&u, cell->data, (size_t)*cell->length);
    switch (c->type) {
    case FR_TYPE_BIT:
    case FR_TYPE_TINYINT:
        snprintf(out, out_bytes, "%u", u.u8);
        break;
    case FR_TYPE_SMALLINT:
        snprintf(out, out_bytes, "%d", u.i16);
        break;
    case FR_TYPE_INT:
    case FR_TYPE_SMALLMONEY:
        snprintf(out, out_bytes, "%" PRId32, u.i32);
        break;
    case FR_TYPE_BIGINT:
    case FR_TYPE_MONEY:
        snprintf(out, out_bytes, "%" PRId64, u.i64);
        break;
    case FR_TYPE_REAL:
        snprintf(out, out_bytes, "%.8g", (double)u.f);
        break;
    case FR_TYPE_FLOAT:
        snprintf(out, out_bytes, "%.17g", u.d);
        break;
    case FR_TYPE_DECIMAL:
        show_int128(&u.dec, out, out_bytes);
        break;
    case FR_TYPE_DATE:
        snprintf(out, out_bytes, "%" PRId32, u.dt.days);
        break;
    case FR_TYPE_TIME:
        snprintf(out, out_bytes, "%" PRIu64, u.dt.time_100ns);
        break;
    case FR_TYPE_DATETIME:
        snprintf(out, out_bytes, "%" PRId32 " %" PRId32, u.old.days, u.old.ticks300);
        break;
    case FR_TYPE_SMALLDATETIME:
        snprintf(out, out_bytes, "%u %u", u.small.days, u.small.minutes);
        break;
    case FR_TYPE_DATETIME2:
        snprintf(out, out_bytes, "%" PRId32 " %" PRIu64, u.dt.days, u.dt.time_100ns);
        break;
    case FR_TYPE_DATETIMEOFFSET:
        snprintf(out, out_bytes, "%" PRId32 " %" PRIu64 " %d", u.dt.days, u.dt.time_100ns,
                 u.dt.offset_min);
        break;
    default:
        out[0] = '\0';
        for (int32_t i = 0; i < *cell->length; i++)
            snprintf(out + 2 * i, out_bytes - (size_t)(2 * i), "%02x", cell->data[i]);
    }
}

/* A column and its converter; options are set before open_column(). */
struct work {
    struct fr_load_options options;
    struct fr_column column;
    struct fr_converter converter;
    struct fr_cell cell;
    struct fr_reason reason;
    int32_t length;
    _Alignas(8) unsigned char data[256];
};

static void open_column(struct work *w, const char *spec, int32_t code_page)
{
    struct fr_err err = {0};

    column_of(spec, &w->column);
    w->column.code_page = code_page;
    w->length = FR_CELL_NULL;
    w->cell = (struct fr_cell){
        .length = &w->length, .data = w->data, .capacity_bytes = sizeof w->data};
    w->reason.text[0] = '\0';
    ck_assert_msg(fr_converter_init(&w->converter, &w->column, &w->options, &err) ==
                      FR_OK,
                  "%s: %s", spec, err.text);
}

static enum fr_conversion convert(struct work *w, const char *in)
{
    return w->converter.convert(&w->converter, in, strlen(in), &w->cell, &w->reason);
}

START_TEST(test_convert)
{
    struct work w = {0};
    char got[600];
    enum fr_conversion result;

    fr_load_options_init(&w.options);
    open_column(&w, cases[_i].type, 1252);
    result = convert(&w, cases[_i].in);
    if (cases[_i].want == NULL) {
        ck_assert_msg(result == FR_REFUSED, "%s from \"%s\" was taken", cases[_i].type,
                      cases[_i].in);
        ck_assert_msg(w.reason.text[0] != '\0', "%s from \"%s\": no reason",
                      cases[_i].type, cases[_i].in);
    } else {
        ck_assert_msg(result == FR_CONVERTED, "%s from \"%s\": %s", cases[_i].type,
                      cases[_i].in, w.reason.text);
        show_cell(&w.column, &w.cell, got, sizeof got);
        ck_assert_msg(strcmp(got, cases[_i].want) == 0, "%s from \"%s\": %s, expected %s",
                      cases[_i].type, cases[_i].in, got, cases[_i].want);
    }
    fr_converter_free(&w.converter);
}
END_TEST

static const struct {
    const char *type, *format, *in, *want;
} format_cases[] = {
    {"date", "%d-%m-%Y", "31-05-2024", "45441"},
    {"date", "%d/%m/%y", "01/02/49", "54453"},
    {"date", "%d/%m/%y", "01/02/50", "18293"},
    {"date", "%d %b %Y", "1 Mar 2024", "45350"},
    {"date", "%m/%d/%Y", "13/01/2024", NULL},
    {"date", "%d-%m-%Y", "31-05-2024 ", "45441"},
    {"date", "%d-%m-%Y", "31-05-2024x", NULL},
    {"datetime2(0)", "%d/%m/%Y %H:%M", "04/02/2026 13:05", "46055 471000000000"},
    {"datetime2(0)", "%d/%m/%Y %I:%M %p", "04/02/2026 12:05 AM", "46055 3000000000"},
    {"datetime2(0)", "%d/%m/%Y %I:%M %p", "04/02/2026 13:05 AM", NULL},
    {"datetime2(0)", "%d%m%Y%H%M", "040220261305", "46055 471000000000"},
    {"datetime2(0)", "%d%m%Y%H%M", "04022026135", NULL},
    {"datetime2(0)", "%Y-%m-%d %H%M", "2026-02-04 123", NULL},
    {"datetimeoffset(0)", "%d.%m.%Y %H:%M %z", "04.02.2026 01:05 +0100",
     "46055 3000000000 60"},
    {"time(0)", "%I:%M %p", "1:05 pm", "471000000000"},
    {"datetime2(3)", "%Y-%m-%d %H:%M:%S.%f", "2024-01-01 00:00:00.1", "45290 1000000"},
};

START_TEST(test_date_format)
{
    char item[100], *items[] = {item}, got[100];
    struct work w = {0};
    enum fr_conversion result;

    fr_load_options_init(&w.options);
    snprintf(item, sizeof item, "C=%s", format_cases[_i].format);
    w.options.date_formats = (struct fr_text_list){items, 1};
    open_column(&w, format_cases[_i].type, 1252);
    result = convert(&w, format_cases[_i].in);
    ck_assert_int_eq(result, format_cases[_i].want == NULL ? FR_REFUSED : FR_CONVERTED);
    if (result == FR_CONVERTED) {
        show_cell(&w.column, &w.cell, got, sizeof got);
        ck_assert_str_eq(got, format_cases[_i].want);
    }
    fr_converter_free(&w.converter);
}
END_TEST

/* Two bytes a character; letters that combine with a mark behind them (iconv holds them
 * back). */
START_TEST(test_code_pages)
{
    static const struct {
        int32_t code_page;
        const char *in;
        unsigned char want[3];
    } page_cases[] = {
        /* of the two codes of U+2170 and U+222A the ones Windows writes */
        {932, "a\xE2\x85\xB0", {'a', 0xFA, 0x40}},
        {932, "a\xE2\x88\xAA", {'a', 0x81, 0xBE}},
        {936, "a\xE2\x82\xAC_", {'a', 0x80, '_'}},
        {950, "a\xE5\xAD\x97", {'a', 0xA6, 0x72}},
        {1255, "\xD7\xA9\xD7\x9C\xD7\x9D", {0xF9, 0xEC, 0xED}},
        {1258,
         "A\xC4\x90"
         "e",
         {'A', 0xD0, 'e'}},
    };

    for (size_t i = 0; i < COUNT_OF(page_cases); i++) {
        struct work w = {0};

        fr_load_options_init(&w.options);
        open_column(&w, "varchar(10)", page_cases[i].code_page);
        ck_assert_msg(convert(&w, page_cases[i].in) == FR_CONVERTED, "%d: %s",
                      page_cases[i].code_page, w.reason.text);
        ck_assert_int_eq(w.length, 3);
        ck_assert_mem_eq(w.data, page_cases[i].want, 3);
        fr_converter_free(&w.converter);
    }
}
END_TEST

/* What has no place, and a column whose page the server does not tell. */
START_TEST(test_characters_without_a_place)
{
    static const struct {
        int32_t code_page;
        const char *in;
    } page_cases[] = {
        {932, "\xC2\xA5"}, /* iconv's way to the page would make it a backslash */
        {932, "\xF0\x9F\x98\x80"}, {950, "\xD0\x96"},
        {1255, "\xEF\xAC\xAA"},    {0, "\xC3\xA9"},
    };

    for (size_t i = 0; i < COUNT_OF(page_cases); i++) {
        struct work w = {0};

        fr_load_options_init(&w.options);
        open_column(&w, "varchar(10)", page_cases[i].code_page);
        ck_assert_int_eq(convert(&w, page_cases[i].in), FR_REFUSED);
        ck_assert_ptr_nonnull(strstr(w.reason.text, "has the character U+"));
        ck_assert_int_eq(convert(&w, "plain"), FR_CONVERTED);
        fr_converter_free(&w.converter);
    }
}
END_TEST

/* An exponent that undoes more leading zeros than a number was thought to have. */
START_TEST(test_exponent_beyond_many_zeros)
{
    enum { ZEROS = 200000 };
    char *text = calloc(1, ZEROS + 32), got[100];
    struct work w = {0};

    ck_assert_ptr_nonnull(text);
    memset(text, '0', ZEROS + 2);
    text[1] = '.';
    snprintf(text + ZEROS + 2, 30, "15e%d", ZEROS + 1);
    fr_load_options_init(&w.options);
    open_column(&w, "decimal(5,1)", 1252);
    ck_assert_int_eq(convert(&w, text), FR_CONVERTED);
    show_cell(&w.column, &w.cell, got, sizeof got);
    ck_assert_str_eq(got, "15@1");
    fr_converter_free(&w.converter);
    free(text);
}
END_TEST

START_TEST(test_bad_date_formats_are_refused)
{
    static const char *const bad[] = {"%d-%m",
                                      "%Q",
                                      "%",
                                      "%F",
                                      "",
                                      "%H:%M",
                                      "%d %m %Y %I:%M",
                                      "%d %m %Y %H:%M %p",
                                      "%d %m %Y %p",
                                      "%d %m %Y %M",
                                      "%d %m %Y %H:%S",
                                      "%d %m %Y %H:%M.%f",
                                      "%d %m %Y %d",
                                      "%d %m %b %Y",
                                      "%d %m %Y %y",
                                      "%d %m %Y %H %I %p",
                                      "%Y%m%d %H%M%S%f0"};
    static const char *const bad_times[] = {"%d.%m.%Y %H:%M", "%Y%m%d", "%M:%S", "%p"};
    char item[100];
    struct fr_column column;
    struct fr_date_format f;
    struct fr_err err;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        snprintf(item, sizeof item, "C=%s", bad[i]);
        column_of("datetime2(3)", &column);
        ck_assert_msg(fr_date_format_parse(item, &column, &f, &err) == FR_EARG, "%s",
                      item);
    }
    for (size_t i = 0; i < COUNT_OF(bad_times); i++) {
        snprintf(item, sizeof item, "C=%s", bad_times[i]);
        column_of("time(3)", &column);
        ck_assert_msg(fr_date_format_parse(item, &column, &f, &err) == FR_EARG, "%s",
                      item);
    }
    column_of("int", &column);
    ck_assert_int_eq(fr_date_format_parse("c=%Y%m%d", &column, &f, &err), FR_EARG);
    ck_assert_int_eq(fr_date_format_parse("c", &column, &f, &err), FR_EARG);
}
END_TEST

START_TEST(test_long_values_ask_for_room)
{
    struct work w = {0};

    fr_load_options_init(&w.options);
    open_column(&w, "nvarchar(100)", 1252);
    w.cell.capacity_bytes = 16;
    ck_assert_int_eq(convert(&w, "a text of more than eight"), FR_NEEDS_ROOM);
    ck_assert_uint_ge(w.reason.need_bytes, 50);
    fr_converter_free(&w.converter);
    /* what cannot fit in any code page asks for none */
    open_column(&w, "nvarchar(2)", 1252);
    ck_assert_int_eq(convert(&w, "a text of more than eight"), FR_REFUSED);
    fr_converter_free(&w.converter);
}
END_TEST

START_TEST(test_trailing_blanks)
{
    struct work w = {0};

    fr_load_options_init(&w.options);
    for (int64_t how = FR_BLANKS_KEEP; how <= FR_BLANKS_ERROR; how++) {
        w.options.trailing_blanks = how;
        open_column(&w, "varchar(3)", 1252);
        ck_assert_int_eq(convert(&w, "a  "),
                         how == FR_BLANKS_ERROR ? FR_REFUSED : FR_CONVERTED);
        if (how != FR_BLANKS_ERROR)
            ck_assert_int_eq(w.length, how == FR_BLANKS_KEEP ? 3 : 1);
        fr_converter_free(&w.converter);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("convert");
    TCase *tc = tcase_create("convert");

    tcase_add_loop_test(tc, test_convert, 0, COUNT_OF(cases));
    tcase_add_loop_test(tc, test_date_format, 0, COUNT_OF(format_cases));
    tcase_add_test(tc, test_bad_date_formats_are_refused);
    tcase_add_test(tc, test_code_pages);
    tcase_add_test(tc, test_characters_without_a_place);
    tcase_add_test(tc, test_exponent_beyond_many_zeros);
    tcase_add_test(tc, test_long_values_ask_for_room);
    tcase_add_test(tc, test_trailing_blanks);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
