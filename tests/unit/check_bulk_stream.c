/* Rows of a bulk stream by the short way and by the long one: nobody may tell which. */
#include "server/tds/direct.h"

#include "../support/fake_session.h"
#include "../support/suite.h"
#include "../support/tds_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATIN "0904D00034"
#define NINES_38 "FFFFFFFF3F228A097AC4865AA84C3B4B" /* 10^38 - 1 */
#define PLP_UNKNOWN "FEFFFFFFFFFFFFFF"

/* One column: its TYPE_INFO, one value, what becomes of it (NULL: refused). */
static const struct {
    const char *type, *value, *text;
    bool direct;
} cells[] = {
    {"2604", "04 01000000", "1", true},
    {"2604", "04 FFFFFF7F", "2147483647", true},
    {"2604", "00", "NULL", true},
    {"2604", "02 0100", NULL, false},
    {"2601", "01 FF", "255", true},
    {"2602", "02 0080", "-32768", true},
    {"2608", "08 0000000000000080", "-9223372036854775808", true},
    {"6801", "01 05", "1", true},
    {"6801", "01 00", "0", true},
    {"38", "FEFFFFFF", "-2", true},
    {"32", "01", "1", true},
    {"34", "FFFF", "-1", true},
    {"7F", "FEFFFFFFFFFFFFFF", "-2", true},
    {"1F", "", "NULL", false},

    {"6A050902", "05 01 D2040000", "12.34", true},
    {"6A050902", "05 00 01000000", "-0.01", true},
    {"6A050902", "05 01 FFC99A3B", "9999999.99", true},
    {"6A050902", "05 01 00CA9A3B", NULL, false},
    {"6A050902", "05 02 01000000", NULL, false},
    {"6A050902", "03 01 FFFF", "655.35", true}, /* as db-lib sends it */
    {"6A112600", "10 00 FFFFFFFFFFFFFFFFFFFFFFFFFFFF07",
     "-41538374868278621028243970633760767", true},
    {"6A050902", "00", "NULL", true},
    {"6C091200", "09 00 FFFF63A7B3B6E00D", "-999999999999999999", true},
    {"6A091304", "09 01 FFFFE7890423C78A", "999999999999999.9999", true},
    {"6A0D1A00", "0D 01 FFFFFFE4D2618161864504", NULL, false},
    {"6A0D1A00", "0D 00 0000000000000000 01000000", "-18446744073709551616", true},
    {"6A112600", "11 01 " NINES_38, "99999999999999999999999999999999999999", true},
    {"6A112600", "11 01 FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", NULL, false},

    {"6E08", "08 00000000 01000000", "0.00", true},
    {"6E04", "04 F0D8FFFF", "-1.00", true},
    {"3C", "FFFFFF7F FFFFFFFF", "922337203685477.58", true},
    {"6D08", "08 000000000000F03F", "1", true},
    {"6D08", "08 000000000000F07F", NULL, false}, /* infinite */
    {"6D04", "04 0000803F", "1", true},
    {"28", "03 000000", "0001-01-01", true},
    {"28", "03 DAB937", "9999-12-31", true},
    {"28", "03 DBB937", NULL, false},
    {"28", "02 0000", NULL, false},
    {"28", "00", "NULL", true},
    {"2900", "03 7F5101", "23:59:59", true},
    {"2900", "03 805101", NULL, false},
    {"2A07", "08 0000000000 DAB937", "9999-12-31 00:00:00.0000000", true},
    {"2B00", "08 000000 5B950A 3C00", "1900-01-01 01:00:00 +01:00", true},
    {"2B00", "08 000000 5B950A FF7F", NULL, false},
    {"6F08", "08 00000000 00000000", "Jan  1 1900 12:00AM", true},
    {"6F08", "08 00000000 00828B01", NULL, false},
    {"6F04", "04 0000 9F05", "Jan  1 1900 11:59PM", true},
    {"6F04", "04 0000 A005", NULL, false},
    {"2410", "10 000102030405060708090A0B0C0D0E0F",
     "03020100-0504-0706-0809-0A0B0C0D0E0F", true},
    {"2410", "04 00010203", NULL, false},

    {"A70A00" LATIN, "0300 616263", "abc", true},
    {"A70A00" LATIN, "0900 414243444546474849", "ABCDEFGHI", true},
    {"A70A00" LATIN, "0900 4142434445464748E9", "ABCDEFGH\xC3\xA9", false},
    {"A70A00" LATIN, "0300 C96263",
     "\xC3\x89"
     "bc",
     false},
    {"A70A00" LATIN, "0000", "", true},
    {"A70A00" LATIN, "FFFF", "NULL", true},
    {"A70200" LATIN, "0300 616263", NULL, false},
    {"E71400" LATIN, "0400 61005F01", "a\xC5\x9F", true},
    {"E71400" LATIN, "0400 3DD800DE", "\xF0\x9F\x98\x80", true},
    {"E71400" LATIN, "0200 3DD8", "\xED\xA0\xBD", true}, /* half a pair */
    {"E71400" LATIN, "0300 610062", NULL, false},
    {"E72800" LATIN, "1600 4100420043004400450046004700480049004A00E900",
     "ABCDEFGHIJ\xC3\xA9", true},
    {"E71400" LATIN, "FFFF", "NULL", true},
    {"A50500", "0300 00FF10", "0x00FF10", true},
    {"A50500", "FFFF", "NULL", true},

    {"A7FFFF" LATIN, "0300000000000000 03000000 616263 00000000", "abc", true},
    {"A7FFFF" LATIN, PLP_UNKNOWN "03000000 616263 00000000", "abc", true},
    {"A7FFFF" LATIN, PLP_UNKNOWN "01000000 61 01000000 62 00000000", "ab", false},
    {"A7FFFF" LATIN, "0200000000000000 03000000 616263 00000000", NULL, false},
    {"A7FFFF" LATIN, "0000000000000000 00000000", "", true},
    {"A7FFFF" LATIN, PLP_UNKNOWN "00000000", "", true},
    {"A7FFFF" LATIN, "FFFFFFFFFFFFFFFF", "NULL", true},
    {"E7FFFF" LATIN, "0400000000000000 04000000 61006200 00000000", "ab", true},
    {"A5FFFF", "0100000000000000 01000000 FF 00000000", "0xFF", true},
    {"F100", "0800000000000000 08000000 3C0061002F003E00 00000000", "<a/>", true},
    {"2364000000" LATIN "0000", "01 70 0102030405060708 03000000 616263", "abc", false},
};

struct outcome {
    struct fr_buf log, out;
    int64_t direct_rows;
};

static void run(const struct fr_buf *stream, size_t packet, bool long_way,
                struct outcome *o)
{
    static const struct login_fields good = {0x74000004, "sa", "", ""};
    struct server srv;
    struct fr_buf in;

    fr_buf_init(&in, 1 << 24);
    fake_server_init(&srv, NULL);
    srv.long_way = long_way;
    tc_login(&in, &good);
    tc_batch(&in, "insert bulk 2");
    tc_message(&in, TDS_BULK, stream, packet);
    fake_serve(&srv, in.data, in.len, &o->out);
    o->direct_rows = srv.direct_rows;
    o->log = srv.log;
    fr_buf_init(&srv.log, 1);
    fake_server_free(&srv);
    fr_buf_free(&in);
}

static void outcome_free(struct outcome *o)
{
    fr_buf_free(&o->log);
    fr_buf_free(&o->out);
}

/* The column and an int behind it. */
static void make_stream(struct fr_buf *b, const char *type)
{
    fr_buf_init(b, 1 << 20);
    tc_hex(b, "81 0200 00000000 0900");
    tc_hex(b, type);
    tc_hex(b, "01 6100  00000000 0900 2604 01 6200");
}

static void same_both_ways(const struct fr_buf *stream, size_t packet, const char *seen,
                           int64_t direct_rows)
{
    struct outcome fast, slow;
    char want[4000];

    run(stream, packet, false, &fast);
    run(stream, packet, true, &slow);
    snprintf(want, sizeof want, "batch insert bulk 2\n%s", seen);
    ck_assert_str_eq(fr_buf_text(&slow.log), want);
    ck_assert_str_eq(fr_buf_text(&fast.log), want);
    ck_assert_uint_eq(fast.out.len, slow.out.len);
    ck_assert_int_eq(memcmp(fast.out.data, slow.out.data, slow.out.len), 0);
    ck_assert_int_eq(slow.direct_rows, 0);
    if (direct_rows >= 0)
        ck_assert_int_eq(fast.direct_rows, direct_rows);
    outcome_free(&fast);
    outcome_free(&slow);
}

START_TEST(test_cells)
{
    struct fr_buf b;
    char seen[300] = "bulk end broken\n";

    if (cells[_i].text != NULL)
        snprintf(seen, sizeof seen, "row %s|7\nbulk end complete\n", cells[_i].text);
    make_stream(&b, cells[_i].type);
    tc_hex(&b, "D1");
    tc_hex(&b, cells[_i].value);
    tc_hex(&b, "04 07000000");
    same_both_ways(&b, 4096, seen, cells[_i].direct ? 1 : 0);
    /* across packets */
    for (size_t packet = 9; packet < 24; packet += 7)
        same_both_ways(&b, packet, seen, -1);
    fr_buf_free(&b);
}
END_TEST

/* Rows of both ways in turn, NULL bitmaps, and enough of them to fill the room twice. */
START_TEST(test_rows)
{
    enum { MANY = 60000 };
    struct fr_buf b, want;
    struct outcome fast, slow;

    make_stream(&b, "A70A00" LATIN);
    fr_buf_init(&want, 1 << 24);
    b.max = 1 << 24;
    fr_buf_add_str(&want, "batch insert bulk 2\n");
    for (int i = 0; i < MANY; i++) {
        static const char *const forms[] = {"D1 0200 6162 04", "D1 0200 C3C4 04",
                                            "D2 01 04", "D1 FFFF 04"};
        static const char *const texts[] = {"ab", "\xC3\x83\xC3\x84", "NULL", "NULL"};
        int form = i % 7 == 3 ? 1 : i % 5 == 2 ? 2 : i % 5 == 3 ? 3 : 0;

        tc_hex(&b, forms[form]);
        tc_u32(&b, (uint32_t)i);
        fr_buf_printf(&want, "row %s|%d\n", texts[form], i);
    }
    tc_hex(&b, "FD 0000 0000 0000000000000000");
    fr_buf_add_str(&want, "bulk end complete\n");
    run(&b, 4096, false, &fast);
    run(&b, 4096, true, &slow);
    /* the logs are cut at one length */
    ck_assert_uint_eq(fast.log.len, slow.log.len);
    ck_assert_uint_gt(fast.log.len, 500000);
    ck_assert_int_eq(memcmp(fast.log.data, slow.log.data, slow.log.len), 0);
    ck_assert_int_eq(memcmp(fast.log.data, want.data, 500000), 0);
    ck_assert_int_gt(fast.direct_rows, MANY * 8 / 10);
    ck_assert_int_lt(fast.direct_rows, MANY * 9 / 10);
    outcome_free(&fast);
    outcome_free(&slow);
    fr_buf_free(&b);
    fr_buf_free(&want);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bulk stream");
    TCase *tc = tcase_create("both ways");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_cells, 0, (int)COUNT_OF(cells));
    tcase_add_test(tc, test_rows);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
