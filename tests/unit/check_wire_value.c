/* Our own TDS client (src/wire): values as text, addresses, prelogin answers, code pages.
 */
#include "support/suite.h"
#include "support/tds_client.h"
#include "support/wire_fixture.h"
#include "wire/charset.h"
#include "wire/login.h"
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>

/* ---- values ---- */

static const struct {
    const char *type, *value, *text;
} value_cases[] = {
    {"1F", "", "NULL"},
    {"30", "FF", "255"},
    {"32", "02", "1"},
    {"34", "0080", "-32768"},
    {"38", "00000080", "-2147483648"},
    {"7F", "0000000000000080", "-9223372036854775808"},
    {"26 01", "01 FF", "255"},
    {"26 02", "02 FFFF", "-1"},
    {"26 08", "08 FFFFFFFFFFFFFF7F", "9223372036854775807"},
    {"26 08", "00", "NULL"},
    {"68 01", "01 00", "0"},
    {"68 01", "00", "NULL"},
    {"3B", "CDCCCC3D", "0.100000001"},
    {"3E", "9A9999999999B93F", "0.10000000000000001"},
    {"6D 08", "08 000000000000F07F", "inf"},
    {"6D 04", "00", "NULL"},
    {"3C", "00000000 01000000", "0.0001"},
    {"3C", "00000080 00000000", "-922337203685477.5808"},
    {"3C", "FFFFFF7F FFFFFFFF", "922337203685477.5807"},
    {"7A", "FFFFFFFF", "-0.0001"},
    {"6E 08", "08 FFFFFFFF F0D8FFFF", "-1.0000"},
    {"6A 05 05 02", "05 01 32000000", "0.50"},
    {"6A 05 05 02", "05 00 05000000", "-0.05"},
    {"6C 11 26 00", "11 01 FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
     "340282366920938463463374607431768211455"},
    {"6C 11 26 26", "11 01 01000000000000000000000000000000",
     "0.00000000000000000000000000000000000001"},
    {"6C 05 09 00", "05 01 00000000", "0"},
    {"6C 05 09 00", "00", "NULL"},
    {"28", "03 000000", "0001-01-01"},
    {"28", "03 DAB937", "9999-12-31"},
    {"28", "00", "NULL"},
    {"29 07", "05 FFBF692AC9", "23:59:59.9999999"},
    {"29 00", "03 7F5101", "23:59:59"},
    {"29 03", "04 01000000", "00:00:00.001"},
    {"2A 02", "06 C80000 000000", "0001-01-01 00:00:02.00"},
    {"2A 02", "06 C80000 5B950A", "1900-01-01 00:00:02.00"},
    {"2A 07", "08 0000000000 DBB937", NULL},
    {"2B 00", "08 000000 5B950A C4FF", "1899-12-31 23:00:00 -01:00"},
    {"2B 00", "08 7F5101 5B950A 4803", "1900-01-02 13:59:59 +14:00"},
    {"3D", "5C2E0000 00000000", "1932-06-30 00:00:00.000"},
    {"3D", "00000000 01000000", "1900-01-01 00:00:00.003"},
    {"3D", "462EFFFF 00000000", "1753-01-01 00:00:00.000"},
    {"3D", "00000000 00828B01", NULL},
    {"3D", "FFFFFF7F 00000000", NULL},
    {"3A", "0000 A005", NULL},
    {"3A", "FFFF 9F05", "2079-06-06 23:59:00"},
    {"6F 04", "04 0000 0000", "1900-01-01 00:00:00"},
    {"6F 08", "00", "NULL"},
    {"24 10", "10 2547980E1CC5F44B9960E1C80E27ABA0",
     "0e984725-c51c-4bf4-9960-e1c80e27aba0"},
    {"24 10", "00", "NULL"},
    {"A5 0800", "0200 00FF", "0x00ff"},
    {"A5 0800", "0000", "0x"},
    {"A5 0800", "FFFF", "NULL"},
    {"AD 0200", "0200 ABCD", "0xabcd"},
    {"2D 04", "02 0102", "0x0102"},
    {"A7 0A00" LATIN, "0300 61E480", "a\xC3\xA4\xE2\x82\xAC"},
    {"A7 0A00" LATIN, "0100 81", "\xC2\x81"},
    {"A7 0A00 0904D00434", "0200 C3A4", "\xC3\xA4"},
    {"A7 0A00 1904D00000", "0100 C0", "\xD0\x90"},
    {"A7 0A00 1104D00000", "0200 82A0", "\xE3\x81\x82"},
    {"AF 0300" LATIN, "0300 782020", "x  "},
    {"E7 0800" LATIN, "0400 3DD800DE", "\xF0\x9F\x98\x80"},
    {"E7 0800" LATIN, "0200 3DD8", "\xEF\xBF\xBD"},
    {"EF 0200" LATIN, "0200 2D4E", "\xE4\xB8\xAD"},
    {"E7 FFFF" LATIN, "FFFFFFFFFFFFFFFF", "NULL"},
    {"E7 FFFF" LATIN, "0000000000000000 00000000", ""},
    {"E7 FFFF" LATIN, "FEFFFFFFFFFFFFFF 01000000 3D 03000000 D800DE 00000000",
     "\xF0\x9F\x98\x80"},
    {"A5 FFFF", "0200000000000000 02000000 0102 00000000", "0x0102"},
    {"F1 00", "0600000000000000 06000000 FFFE 3C003E00 00000000", "<>"},
    {"F1 01 01 6400 01 6F00 0100 6300", "FFFFFFFFFFFFFFFF", "NULL"},
    {"F0 FFFF 01 6400 01 7300 01 7400 0100 6100", "0100000000000000 01000000 2A 00000000",
     "0x2a"},
    {"23 64000000" LATIN " 01 0100 7400",
     "10 00000000000000000000000000000000 0000000000000000 02000000 6869", "hi"},
    {"63 64000000" LATIN " 00", "00", "NULL"},
    {"22 64000000 00", "01 00 0000000000000000 01000000 FF", "0xff"},
    {"62 491F0000", "00000000", "NULL"},
    {"62 491F0000", "06000000 38 00 07000000", "7"},
    {"62 491F0000", "07000000 6A 02 0502 01 0500", "0.05"},
    {"62 491F0000", "0B000000 E7 07 0904D00034 0800 6800", "h"},
    {"62 491F0000", "06000000 29 01 07 010000", NULL},
    {"62 491F0000", "03000000 38 00 07", NULL},
    {"62 491F0000", "02000000 38 FF", NULL},
    {"62 491F0000", "FFFFFFFF", NULL},
    {"68 01", "02 0101", NULL},
    {"26 04", "05 0000000000", NULL},
    {"24 10", "0F 000000000000000000000000000000", NULL},
    {"6A 05 05 02", "01 01", NULL},
    {"6A 12 05 02", "12 010000000000000000000000000000000000", NULL},
    {"6A 05 05 7F", "05 01 00000000", NULL},
    {"6D 08", "05 0000000000", NULL},
    {"29 07", "05 00C0692AC9", NULL},
    {"29 08", "05 0000000000", NULL},
    {"28", "04 00000000", NULL},
    {"2B 00", "08 000000 000000 4903", NULL},
};

START_TEST(test_value)
{
    struct fixture f;
    struct fr_buf said, want;
    char hex[512];

    snprintf(hex, sizeof hex, "81 0100 00000000 0900 %s 01 6100 D1 %s" DONE,
             value_cases[_i].type, value_cases[_i].value);
    fixture_reply(&said, hex, 4096);
    fixture_open(&f, said.data, said.len, 4096);
    (void)fixture_ask(&f);
    fr_buf_init(&want, 4096);
    fr_buf_printf(&want, "columns [a]\nrow [%s]\nFR_OK 0 -1 \n",
                  value_cases[_i].text == NULL ? "" : value_cases[_i].text);
    if (value_cases[_i].text != NULL)
        ck_assert_str_eq(fr_buf_text(&f.words), fr_buf_text(&want));
    else
        ck_assert_msg(f.w->sql.lost, "%s %s: %s", value_cases[_i].type,
                      value_cases[_i].value, fr_buf_text(&f.words));
    fr_buf_free(&want);
    fixture_close(&f);
    fr_buf_free(&said);
}
END_TEST

/* ---- addresses, prelogin, code pages ---- */

static const struct {
    const char *server, *host;
    unsigned port;
} address_cases[] = {
    {"h", "h", 1433},
    {"h:5", "h", 5},
    {"h,5", "h", 5},
    {"tcp:h,65535", "h", 65535},
    {"[::1]:5", "::1", 5},
    {"[::1]", "::1", 1433},
    {"::1", "::1", 1433},
    {"1.2.3.4:99", "1.2.3.4", 99},
    {"", NULL, 0},
    {":5", NULL, 0},
    {"h:", NULL, 0},
    {"h:0", NULL, 0},
    {"h:65536", NULL, 0},
    {"h:5x", NULL, 0},
    {"h\\INSTANCE", NULL, 0},
    {"h\\INSTANCE,5", NULL, 0},
    {"[::1", NULL, 0},
    {"[::1]x", NULL, 0},
};

START_TEST(test_address)
{
    struct fr_connect how = {.server = address_cases[_i].server, .user = "u"};
    struct wire_address a;
    char why[200];
    bool want = address_cases[_i].host != NULL;

    ck_assert_int_eq(fr_wire_can_open(&how, why, sizeof why), want);
    ck_assert_int_eq(wire_address_parse(address_cases[_i].server, &a, NULL) == FR_OK,
                     want);
    if (want) {
        ck_assert_str_eq(a.host, address_cases[_i].host);
        ck_assert_uint_eq(a.port, address_cases[_i].port);
    }
    how.user = "";
    ck_assert(!fr_wire_can_open(&how, why, sizeof why));
}
END_TEST

static const struct {
    const char *hex;
    int encryption; /* -1 = refused */
} prelogin_cases[] = {
    {"01 0006 0001 FF 02", 2},
    {"00 000B 0006 01 0011 0001 FF 000000000000 01", 1},
    {"01 0006 0001 FF 04", -1},
    {"01 0006 0002 FF 0202", -1},
    {"01 0007 0001 FF 02", -1},
    {"01 FFFF FFFF FF", -1},
    {"00 0006 0001 FF 02", -1},
    {"01 0006", -1},
    {"FF", -1},
    {"", -1},
};

START_TEST(test_prelogin)
{
    enum wire_encryption got = WIRE_ENCRYPTION_OFF;
    struct fr_buf b;
    bool ok;

    fr_buf_init(&b, 100);
    tc_hex(&b, prelogin_cases[_i].hex);
    ok = wire_prelogin_parse((const unsigned char *)fr_buf_text(&b), b.len, &got);
    ck_assert_int_eq(ok ? (int)got : -1, prelogin_cases[_i].encryption);
    fr_buf_free(&b);
}
END_TEST

static const struct {
    unsigned char collation[5];
    unsigned code_page;
} collation_cases[] = {
    {{0x09, 0x04, 0xD0, 0x00, 0x34}, 1252}, /* SQL_Latin1_General_CP1_CI_AS */
    {{0x09, 0x04, 0xD0, 0x04, 0x00}, 65001}, {{0x09, 0x04, 0x00, 0x00, 0x1E}, 437},
    {{0x09, 0x04, 0x00, 0x00, 0x28}, 850},   {{0x19, 0x04, 0xD0, 0x00, 0x00}, 1251},
    {{0x1A, 0x0C, 0xD0, 0x00, 0x00}, 1251}, /* Serbian, Cyrillic */
    {{0x1A, 0x08, 0xD0, 0x00, 0x00}, 1250},  {{0x11, 0x04, 0xD0, 0x00, 0x00}, 932},
    {{0x04, 0x08, 0xD0, 0x00, 0x00}, 936},   {{0x04, 0x04, 0xD0, 0x00, 0x00}, 950},
    {{0x00, 0x00, 0x00, 0x00, 0x00}, 1252},
};

START_TEST(test_collation)
{
    ck_assert_uint_eq(wire_code_page(collation_cases[_i].collation),
                      collation_cases[_i].code_page);
}
END_TEST

START_TEST(test_utf16_out)
{
    static const struct {
        const char *utf8, *hex;
    } cases[] = {{"", ""},
                 {"a\xC3\xA4", "6100E400"},
                 {"ab\xC3\xA4\xC3\xA4yz", "61006200E400E40079007A00"},
                 {"\xF0\x9F\x98\x80", "3DD800DE"},
                 {"\xE4\xB8", "FDFFFDFF"},
                 {"\xC0\x80", "FDFFFDFF"},
                 {"\xED\xA0\x80", "FDFFFDFFFDFF"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fr_buf got, want;

        fr_buf_init(&got, 100);
        fr_buf_init(&want, 100);
        ck_assert(wire_put_utf16(&got, cases[i].utf8));
        tc_hex(&want, cases[i].hex);
        ck_assert_uint_eq(got.len, want.len);
        ck_assert_int_eq(memcmp(fr_buf_text(&got), fr_buf_text(&want), got.len), 0);
        fr_buf_free(&got);
        fr_buf_free(&want);
    }
}
END_TEST

/* Runs of ASCII go another way than what is between them. */
START_TEST(test_utf16_in)
{
    static const struct {
        const char *hex, *utf8;
    } cases[] = {{"", ""},
                 {"610062006300", "abc"},
                 {"61006200E40063006400", "ab\xC3\xA4"
                                          "cd"},
                 {"80007F00", "\xC2\x80\x7F"},
                 {"61013DD800DE6100", "\xC5\xA1\xF0\x9F\x98\x80"
                                      "a"},
                 {"3DD861003DD8", "\xEF\xBF\xBD"
                                  "a\xEF\xBF\xBD"},
                 {"00DE3DD8", "\xEF\xBF\xBD\xEF\xBF\xBD"},
                 {"610062", "a"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fr_buf got, units;

        fr_buf_init(&got, 100);
        fr_buf_init(&units, 100);
        tc_hex(&units, cases[i].hex);
        ck_assert(
            wire_add_utf16(&got, (const unsigned char *)fr_buf_text(&units), units.len));
        ck_assert_str_eq(fr_buf_text(&got), cases[i].utf8);
        fr_buf_free(&got);
        fr_buf_free(&units);
    }
}
END_TEST

START_TEST(test_utf16_keeps_the_maximum)
{
    struct fr_buf b;

    fr_buf_init(&b, 5);
    ck_assert(!wire_put_utf16(&b, "abc"));
    fr_buf_free(&b);
    fr_buf_init(&b, 6);
    ck_assert(wire_put_utf16(&b, "abc"));
    fr_buf_reset(&b);
    ck_assert(!wire_add_utf16(&b, (const unsigned char *)"a\0b\0c\0d\0e\0f\0g\0", 14));
    fr_buf_free(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wire_value");
    TCase *tc = tcase_create("wire_value");

    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_value, 0, COUNT_OF(value_cases));
    tcase_add_loop_test(tc, test_address, 0, COUNT_OF(address_cases));
    tcase_add_loop_test(tc, test_prelogin, 0, COUNT_OF(prelogin_cases));
    tcase_add_loop_test(tc, test_collation, 0, COUNT_OF(collation_cases));
    tcase_add_test(tc, test_utf16_out);
    tcase_add_test(tc, test_utf16_in);
    tcase_add_test(tc, test_utf16_keeps_the_maximum);
    return suite_run(s);
}
