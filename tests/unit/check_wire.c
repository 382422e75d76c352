/* Our own TDS client (src/wire): tokens, values, limits, and packets cut everywhere. */
#include "base/sql.h"
#include "support/memory_link.h"
#include "support/suite.h"
#include "support/tds_client.h"
#include "wire/charset.h"
#include "wire/login.h"
#include "wire/wire.h"
#include "wire/wire_priv.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WORDS_BYTES = 1 << 24 };

/* A session whose server says these bytes, packets and all. */
struct fixture {
    struct memory_link *link;
    struct wire *w;
    struct fr_buf words; /* what came, in one line a thing */
    struct fr_err err;
};

static void fixture_open(struct fixture *f, const void *said, size_t n,
                         uint32_t packet_bytes)
{
    memset(f, 0, sizeof *f);
    f->link = memory_link_new(said, n);
    f->link->silent_until = 1;
    fr_buf_init(&f->words, MAX_WORDS_BYTES);
    ck_assert_int_eq(wire_new(&f->link->link, packet_bytes, &f->w, &f->err), FR_OK);
    f->w->is_logged_in = true;
}

static void fixture_close(struct fixture *f)
{
    wire_free(f->w);
    memory_link_free(f->link);
    fr_buf_free(&f->words);
}

static fr_status tell_row(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fixture *f = ctx;

    fr_buf_add_str(&f->words, row->values == NULL ? "columns" : "row");
    for (size_t i = 0; i < row->columns; i++) {
        const char *text = row->values == NULL      ? row->names[i]
                           : row->values[i] == NULL ? "NULL"
                                                    : row->values[i];

        if (row->values != NULL && row->values[i] != NULL)
            ck_assert_uint_eq(strlen(text), row->lengths[i]);
        fr_buf_printf(&f->words, " [%s]", text);
    }
    fr_buf_add_byte(&f->words, '\n');
    return f->err.status == FR_EINTR ? fr_err_set(err, FR_EINTR, "enough") : FR_OK;
}

/* One statement; its outcome stands behind its rows. */
static fr_status ask(struct fixture *f)
{
    struct fr_err err = {0};
    int64_t affected = -1;
    fr_status st;

    f->w->sql.columns = tell_row;
    f->w->sql.columns_ctx = f;
    st = f->w->sql.ops->run(&f->w->sql, "SELECT", tell_row, f, &affected, &err);
    fr_buf_printf(&f->words, "%s %d %lld %s\n", fr_status_name(st),
                  (int)err.server_number, (long long)affected,
                  st == FR_OK ? "" : err.text);
    f->err = err;
    return st;
}

static void reply_of(struct fr_buf *out, const char *hex, size_t packet_bytes)
{
    struct fr_buf payload;

    fr_buf_init(out, MAX_WORDS_BYTES);
    fr_buf_init(&payload, MAX_WORDS_BYTES);
    tc_hex(&payload, hex);
    tc_message(out, WIRE_PACKET_REPLY, &payload, packet_bytes);
    fr_buf_free(&payload);
}

/* ---- tokens ---- */

#define DONE "FD 0000 0000 0000000000000000"
#define DONE_COUNT_2 "FD 1000 C100 0200000000000000"
#define DONE_ATTENTION "FD 2000 0000 0000000000000000"
#define INT_COLUMN_A "81 0100 00000000 0900 26 04 01 6100"
#define ERROR_208 "AA 1200 D0000000 01 10 0200 6E006F00 00 00 01000000"
#define ERROR_547 "AA 1200 23020000 01 10 0200 78007800 00 00 01000000"
#define INFO_5701 "AB 1200 45160000 01 00 0200 68006900 00 00 01000000"
#define FATAL_596 "AA 1200 54020000 01 15 0200 6B006F00 00 00 01000000"

static const struct {
    const char *hex, *words;
    bool lost;
} token_cases[] = {
    {DONE, "FR_OK 0 -1 \n", false},
    {DONE_COUNT_2, "FR_OK 0 2 \n", false},
    {INFO_5701 DONE, "FR_OK 0 -1 \n", false},
    {"FD 1100 C100 0300000000000000" DONE_COUNT_2, "FR_OK 0 2 \n", false},
    {INT_COLUMN_A "D1 04 07000000 D1 00 D2 00 04 FFFFFFFF D2 01" DONE_COUNT_2,
     "columns [a]\nrow [7]\nrow [NULL]\nrow [-1]\nrow [NULL]\nFR_OK 0 2 \n", false},
    {INT_COLUMN_A "A9 0200 0100 A4 0100 00 A5 0300 010100" DONE,
     "columns [a]\nFR_OK 0 -1 \n", false},
    {INT_COLUMN_A
     "FF 1100 C100 0100000000000000 79 05000000 FE 0000 E000 0000000000000000",
     "columns [a]\nFR_OK 0 1 \n", false},
    /* DONEINPROC is never the end */
    {"FF 0000 0000 0000000000000000" DONE, "FR_OK 0 -1 \n", false},
    {"AE 01 03000000 616263 FF E4 02000000 0000 EE 01000000 00 ED 0100 00" DONE,
     "FR_OK 0 -1 \n", false},
    {ERROR_208 "FD 0200 0000 0000000000000000",
     "FR_EDB 208 -1 statement: no (server error 208)\n", false},
    {ERROR_208 ERROR_547 "FD 0200 0000 0000000000000000",
     "FR_EDB 208 -1 statement: no (server error 208)\n", false},
    {ERROR_208 "FD 0300 0000 0000000000000000" INT_COLUMN_A "D1 04 01000000" DONE_COUNT_2,
     "columns [a]\nrow [1]\nFR_EDB 208 2 statement: no (server error 208)\n", false},
    {"FD 0200 0000 0000000000000000",
     "FR_EDB 0 -1 statement: the server reports an error without a text\n", false},
    {FATAL_596 "FD 0200 0000 0000000000000000",
     "FR_ELOST 596 -1 statement: ko (server error 596)\n", true},
    {"81 FFFF" DONE, "FR_OK 0 -1 \n", false},
    /* what is no TDS */
    {"", "FR_EPROTO 0 -1 statement: the server's answer is no TDS: it ends early\n",
     true},
    {"42", "FR_EPROTO 0 -1 statement: the server's answer is no TDS: token 0x42\n", true},
    {"D1",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a row without columns\n",
     true},
    {"81 0000",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a result of 0 columns\n",
     true},
    {"81 0110",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a result of 4097 "
     "columns\n",
     true},
    {"81 0100 00000000 0900 99 01 6100",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: data type 0x99\n", true},
    {INT_COLUMN_A "D1 03 000000",
     "columns [a]\nFR_EPROTO 0 -1 statement: the server's answer is no TDS: 3 bytes of "
     "data "
     "type 0x26\n",
     true},
    {"AA 0700 00000000000000",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a message of 7 bytes\n",
     true},
    {"AA 0A00 01000000 01 10 0200 7800",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a message of 10 bytes\n",
     true},
    {"E3 0000",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: an empty change of the "
     "environment\n",
     true},
    {"E3 0400 04 01 3900",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a packet size of 9\n",
     true},
    {"E3 0300 04 05 39",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a packet size of 2 "
     "bytes\n",
     true},
    {"E3 0700 08 02 0102 000000",
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a transaction descriptor "
     "of 6 "
     "bytes\n",
     true},
};

START_TEST(test_token)
{
    struct fixture f;
    struct fr_buf said;

    reply_of(&said, token_cases[_i].hex, 4096);
    fixture_open(&f, said.data, said.len, 4096);
    (void)ask(&f);
    ck_assert_str_eq(fr_buf_text(&f.words), token_cases[_i].words);
    ck_assert_int_eq(f.w->sql.lost, token_cases[_i].lost);
    fixture_close(&f);
    fr_buf_free(&said);
}
END_TEST

/* ---- values ---- */

#define LATIN "0904D00034"
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
    reply_of(&said, hex, 4096);
    fixture_open(&f, said.data, said.len, 4096);
    (void)ask(&f);
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

/* ---- where packets and reads end ---- */

#define LONG_REPLY                                                                       \
    "E3 0B00 08 08 0102030405060708 00" INFO_5701 "81 0300 00000000 0900 26 04 01 6100 " \
    "00000000 0900 E7 FFFF" LATIN " 01 6200 00000000 0900 A7 0A00" LATIN " 02 63006300 " \
    "D1 04 07000000 FEFFFFFFFFFFFFFF 02000000 6800 04000000 3DD800DE 00000000 0100 E4 "  \
    "D2 04 04 FFFFFFFF FFFFFFFFFFFFFFFF" DONE_COUNT_2
#define LONG_WORDS                                                                       \
    "columns [a] [b] [cc]\nrow [7] [h\xF0\x9F\x98\x80] [\xC3\xA4]\nrow [-1] [NULL] "     \
    "[NULL]\nFR_OK 0 2 \n"

START_TEST(test_packets_cut_everywhere)
{
    static const size_t steps[] = {0, 1, 7};

    for (size_t packet = 9; packet < 200; packet++)
        for (size_t s = 0; s < COUNT_OF(steps); s++) {
            struct fixture f;
            struct fr_buf said;

            reply_of(&said, LONG_REPLY, packet);
            fixture_open(&f, said.data, said.len, 512);
            f.link->read_step = steps[s];
            ck_assert_int_eq(ask(&f), FR_OK);
            ck_assert_str_eq(fr_buf_text(&f.words), LONG_WORDS);
            ck_assert_uint_eq(f.w->transaction[7], 8);
            fixture_close(&f);
            fr_buf_free(&said);
        }
}
END_TEST

START_TEST(test_connection_cut_everywhere)
{
    struct fr_buf said;

    reply_of(&said, LONG_REPLY, 100);
    for (size_t n = 0; n < said.len; n++) {
        struct fixture f;

        fixture_open(&f, said.data, n, 512);
        ck_assert_int_eq(ask(&f), FR_ELOST);
        ck_assert(f.w->sql.lost);
        ck_assert_int_eq(ask(&f), FR_ELOST);
        fixture_close(&f);
    }
    fr_buf_free(&said);
}
END_TEST

/* The message ends, the connection stays. */
START_TEST(test_reply_cut_everywhere)
{
    struct fr_buf payload;

    fr_buf_init(&payload, MAX_WORDS_BYTES);
    tc_hex(&payload, LONG_REPLY);
    for (size_t n = 0; n < payload.len; n++) {
        struct fixture f;
        struct fr_buf said;
        struct fr_buf part = payload;

        part.len = n;
        fr_buf_init(&said, MAX_WORDS_BYTES);
        tc_message(&said, WIRE_PACKET_REPLY, &part, 4096);
        fixture_open(&f, said.data, said.len, 512);
        f.link->stays = true;
        ck_assert_int_eq(ask(&f), FR_EPROTO);
        ck_assert(f.w->sql.lost);
        fixture_close(&f);
        fr_buf_free(&said);
    }
    fr_buf_free(&payload);
}
END_TEST

START_TEST(test_bad_packet)
{
    static const char *const bad[] = {"04 01 0007 0000 01 00", "04 01 0000 0000 01 00",
                                      "05 01 0009 0000 01 00 FD",
                                      "48 54 54 50 2F 31 2E 31"};

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct fixture f;
        struct fr_buf said;

        fr_buf_init(&said, 100);
        tc_hex(&said, bad[i]);
        fixture_open(&f, said.data, said.len, 512);
        ck_assert_int_eq(ask(&f), FR_EPROTO);
        fixture_close(&f);
        fr_buf_free(&said);
    }
}
END_TEST

/* ---- what is sent ---- */

/* Take the packets off what was sent; checks each header. */
static void unpack(const struct fr_buf *sent, size_t packet_bytes, struct fr_buf *payload)
{
    const unsigned char *p = (const unsigned char *)sent->data;
    uint8_t number = 1;

    for (size_t at = 0, n; at < sent->len; at += n) {
        ck_assert_uint_ge(sent->len - at, 8);
        n = (size_t)(p[at + 2] << 8 | p[at + 3]);
        ck_assert_uint_eq(p[at], WIRE_PACKET_BULK);
        ck_assert_uint_eq(p[at + 6], number++);
        ck_assert_uint_le(n, packet_bytes);
        ck_assert_uint_le(n, sent->len - at);
        ck_assert_uint_eq(p[at + 1], at + n == sent->len ? 1 : 0);
        /* only the last one may be smaller */
        if (at + n < sent->len)
            ck_assert_uint_eq(n, packet_bytes);
        fr_buf_add(payload, p + at + 8, n - 8);
    }
}

START_TEST(test_message_sizes)
{
    static const size_t sizes[] = {1,    503,   504,   505,   1008,   1009,   4088,
                                   4089, 32759, 65518, 65519, 262144, 262145, 1000000};
    static const uint32_t packets[] = {512, 4096, 16383, 32767};

    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (size_t p = 0; p < 2 * COUNT_OF(packets); p++) {
            uint32_t packet_bytes = packets[p / 2];
            struct fixture f;
            struct fr_buf payload;
            struct wire_out *o;

            fixture_open(&f, "", 0, packet_bytes);
            f.link->stays = true;
            f.link->write_step = p % 2 == 0 ? 0 : 100003;
            o = wire_begin(f.w, WIRE_PACKET_BULK);
            for (size_t i = 0; i < sizes[s];) {
                size_t n = i % 1000 < sizes[s] - i ? i % 1000 : sizes[s] - i;
                unsigned char *to = wire_room(o, n + 1);

                ck_assert_ptr_nonnull(to);
                for (size_t k = 0; k <= n && i < sizes[s]; k++)
                    *o->at++ = (unsigned char)(i++ * 7);
            }
            ck_assert_int_eq(wire_end(o, &f.err), FR_OK);
            fr_buf_init(&payload, MAX_WORDS_BYTES);
            unpack(&f.link->sent, packet_bytes, &payload);
            ck_assert_uint_eq(payload.len, sizes[s]);
            for (size_t i = 0; i < sizes[s]; i++)
                if ((unsigned char)payload.data[i] != (unsigned char)(i * 7))
                    ck_abort_msg("byte %zu of %zu", i, sizes[s]);
            ck_assert_uint_eq(wire_bytes_sent(f.w), sizes[s]);
            fr_buf_free(&payload);
            fixture_close(&f);
        }
}
END_TEST

/* A statement's text, and that a password is nowhere in clear. */
START_TEST(test_login_message)
{
    struct fr_connect how = {.server = "s", .user = "me", .application = "app"};
    struct fr_secret *secret = NULL;
    struct fixture f;
    const char clear[] = "q\0w\0e\0";

    fixture_open(&f, "", 0, 4096);
    f.link->stays = true;
    ck_assert_int_eq(fr_secret_new("qwe", 3, &secret, &f.err), FR_OK);
    how.password = secret;
    ck_assert_int_eq(wire_send_login(f.w, &how, "s", &f.err), FR_OK);
    ck_assert_ptr_null(memmem(f.link->sent.data, f.link->sent.len, clear, 6));
    /* q = 0x71: nibbles swapped 0x17, xor 0xA5; the zero byte becomes 0xA5 */
    ck_assert_ptr_nonnull(
        memmem(f.link->sent.data, f.link->sent.len, "\xB2\xA5\xD2\xA5\xF3\xA5", 6));
    ck_assert_ptr_null(memmem(f.w->out_buffer, WIRE_OUT_BYTES, "\xB2\xA5\xD2\xA5", 4));
    fr_secret_free(&secret);
    fixture_close(&f);
}
END_TEST

/* ---- an end before the end ---- */

static bool send_much(struct wire_out *o)
{
    static const unsigned char block[60000];

    for (int i = 0; i < 40; i++)
        if (!wire_put(o, block, sizeof block))
            return false;
    return true;
}

static const struct {
    const char *hex;
    bool stays, full, goes_on;
    fr_status st;
    int number;
} early_cases[] = {
    {ERROR_208, true, false, false, FR_EDB, 208},
    {ERROR_208 "FD 0200 0000 0000000000000000", false, false, false, FR_EDB, 208},
    {INFO_5701 ERROR_547, true, false, false, FR_EDB, 547},
    {FATAL_596, false, false, false, FR_ELOST, 596},
    {INFO_5701, true, false, true, FR_OK, 0},
    {"E3 0400 12 00 00 00", true, false, true, FR_OK, 0},
    {DONE, true, false, false, FR_ELOST, 0},
    {"", false, false, false, FR_ELOST, 0},
    {"", true, true, false, FR_ELOST, 0},
};

START_TEST(test_sending_ends_early)
{
    struct fixture f;
    struct fr_buf said;
    struct fr_err err = {0};
    struct wire_out *o;
    bool sent;

    reply_of(&said, early_cases[_i].hex, 4096);
    if (early_cases[_i].hex[0] == '\0')
        said.len = 0;
    else
        said.data[1] = 0; /* not the last packet */
    fixture_open(&f, said.data, said.len, 4096);
    f.link->stays = early_cases[_i].stays;
    f.link->full = early_cases[_i].full;
    f.w->silence_ms = 10;
    o = wire_begin(f.w, WIRE_PACKET_BULK);
    sent = send_much(o) && wire_end(o, &err) == FR_OK;
    ck_assert_int_eq(sent, early_cases[_i].goes_on);
    if (!sent) {
        ck_assert_ptr_null(wire_room(o, 1));
        ck_assert_int_eq(wire_sending_error(o, "bulk", &err), early_cases[_i].st);
        ck_assert_int_eq(err.server_number, early_cases[_i].number);
        ck_assert(f.w->sql.lost);
        ck_assert_ptr_null(wire_room(o, 1));
    }
    fixture_close(&f);
    fr_buf_free(&said);
}
END_TEST

/* A callback that refuses brings an attention, and the session goes on. */
START_TEST(test_callback_refuses)
{
    struct fixture f;
    struct fr_buf said, more;

    reply_of(&said, INT_COLUMN_A "D1 04 07000000 D1 04 08000000" DONE_COUNT_2, 4096);
    reply_of(&more, DONE_ATTENTION, 4096);
    fr_buf_add(&said, more.data, more.len);
    fr_buf_free(&more);
    reply_of(&more, DONE_COUNT_2, 4096);
    fixture_open(&f, said.data, said.len, 4096);
    f.err.status = FR_EINTR;
    f.w->sql.columns = NULL;
    ck_assert_int_eq(f.w->sql.ops->run(&f.w->sql, "SELECT", tell_row, &f, NULL, NULL),
                     FR_EINTR);
    ck_assert_str_eq(fr_buf_text(&f.words), "row [7]\n");
    ck_assert(!f.w->sql.lost);
    f.err.status = FR_OK;
    f.link->said = (const unsigned char *)more.data;
    f.link->said_bytes = more.len;
    f.link->said_at = 0;
    f.link->silent_until = f.link->sent.len + 1;
    ck_assert_int_eq(ask(&f), FR_OK);
    fr_buf_free(&more);
    fixture_close(&f);
    fr_buf_free(&said);
}
END_TEST

/* Silence: an attention goes out, and nobody answers that either. */
START_TEST(test_silence)
{
    struct fixture f;

    fixture_open(&f, "", 0, 4096);
    f.link->stays = true;
    f.w->silence_ms = 1;
    ck_assert_int_eq(ask(&f), FR_ELOST);
    ck_assert(f.w->sql.lost);
    ck_assert_uint_eq((unsigned char)f.link->sent.data[f.link->sent.len - 8],
                      WIRE_PACKET_ATTENTION);
    fixture_close(&f);
}
END_TEST

/* ---- calls ---- */

START_TEST(test_outputs)
{
    struct fr_sql_param p[] = {
        fr_sql_in_text("@in", "x"), fr_sql_out("@n", FR_SQL_BIGINT),
        fr_sql_out("@t", FR_SQL_NVARCHAR), fr_sql_out("@none", FR_SQL_INT)};
    struct fixture f;
    struct fr_buf said;

    reply_of(&said,
             "79 00000000 AC 0000 02 40006E00 01 00000000 0000 26 08 04 07000000 "
             "AC 0100 02 40007400 01 00000000 0000 E7 1000" LATIN " 0200 6800 "
             "AC 0200 05 40006E006F006E006500 01 00000000 0000 26 04 00 "
             "FE 0000 E000 0000000000000000",
             512);
    fixture_open(&f, said.data, said.len, 512);
    ck_assert_int_eq(fr_sql_call(&f.w->sql, "dbo.p", p, 4, NULL, NULL, &f.err), FR_OK);
    ck_assert(!p[1].is_null && p[1].number == 7);
    ck_assert(!p[2].is_null);
    ck_assert_str_eq(p[2].text, "h");
    ck_assert(p[3].is_null);
    fixture_close(&f);
    fr_buf_free(&said);
}
END_TEST

START_TEST(test_bad_parameter)
{
    struct fr_sql_param p = fr_sql_in_guid("@g", "0e984725-c51c-4bf4-9960-e1c80e27abaX");
    struct fr_sql_param long_name =
        fr_sql_in_int("@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaaaa",
                      1);
    struct fixture f;

    fixture_open(&f, "", 0, 512);
    ck_assert_int_eq(fr_sql_call(&f.w->sql, "p", &p, 1, NULL, NULL, &f.err), FR_EARG);
    ck_assert_int_eq(fr_sql_call(&f.w->sql, "p", &long_name, 1, NULL, NULL, &f.err),
                     FR_EARG);
    ck_assert(!f.w->sql.lost);
    ck_assert_uint_eq(f.link->sent.len, 0);
    fixture_close(&f);
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

int main(void)
{
    Suite *s = suite_create("wire");
    TCase *tc = tcase_create("wire");

    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_token, 0, COUNT_OF(token_cases));
    tcase_add_loop_test(tc, test_value, 0, COUNT_OF(value_cases));
    tcase_add_test(tc, test_packets_cut_everywhere);
    tcase_add_test(tc, test_connection_cut_everywhere);
    tcase_add_test(tc, test_reply_cut_everywhere);
    tcase_add_test(tc, test_bad_packet);
    tcase_add_test(tc, test_message_sizes);
    tcase_add_test(tc, test_login_message);
    tcase_add_loop_test(tc, test_sending_ends_early, 0, COUNT_OF(early_cases));
    tcase_add_test(tc, test_callback_refuses);
    tcase_add_test(tc, test_silence);
    tcase_add_test(tc, test_outputs);
    tcase_add_test(tc, test_bad_parameter);
    tcase_add_loop_test(tc, test_address, 0, COUNT_OF(address_cases));
    tcase_add_loop_test(tc, test_prelogin, 0, COUNT_OF(prelogin_cases));
    tcase_add_loop_test(tc, test_collation, 0, COUNT_OF(collation_cases));
    tcase_add_test(tc, test_utf16_out);
    return suite_run(s);
}
