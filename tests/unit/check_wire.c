/* Our own TDS client (src/wire): tokens, limits, packets cut everywhere, and what is
 * sent. */
#include "support/suite.h"
#include "support/tds_client.h"
#include "support/wire_fixture.h"
#include "wire/login.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- tokens ---- */

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
    {"AD 0A00 01 07010000 00 00000000" DONE,
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: protocol version "
     "0x07010000\n",
     true},
    {"AD 0400 01 740000" DONE,
     "FR_EPROTO 0 -1 statement: the server's answer is no TDS: a login answer of 4 "
     "bytes\n",
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

    fixture_reply(&said, token_cases[_i].hex, 4096);
    fixture_open(&f, said.data, said.len, 4096);
    (void)fixture_ask(&f);
    ck_assert_str_eq(fr_buf_text(&f.words), token_cases[_i].words);
    ck_assert_int_eq(f.w->sql.lost, token_cases[_i].lost);
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

            fixture_reply(&said, LONG_REPLY, packet);
            fixture_open(&f, said.data, said.len, 512);
            f.link->read_step = steps[s];
            ck_assert_int_eq(fixture_ask(&f), FR_OK);
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

    fixture_reply(&said, LONG_REPLY, 100);
    for (size_t n = 0; n < said.len; n++) {
        struct fixture f;

        fixture_open(&f, said.data, n, 512);
        ck_assert_int_eq(fixture_ask(&f), FR_ELOST);
        ck_assert(f.w->sql.lost);
        ck_assert_int_eq(fixture_ask(&f), FR_ELOST);
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
        ck_assert_int_eq(fixture_ask(&f), FR_EPROTO);
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
        ck_assert_int_eq(fixture_ask(&f), FR_EPROTO);
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
    ck_assert_ptr_null(memmem(f.w->out_buffer, f.link->sent.len - WIRE_HEADER_BYTES,
                              "\xB2\xA5\xD2\xA5", 4));
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

    fixture_reply(&said, early_cases[_i].hex, 4096);
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

    fixture_reply(&said, INT_COLUMN_A "D1 04 07000000 D1 04 08000000" DONE_COUNT_2, 4096);
    fixture_reply(&more, DONE_ATTENTION, 4096);
    fr_buf_add(&said, more.data, more.len);
    fr_buf_free(&more);
    fixture_reply(&more, DONE_COUNT_2, 4096);
    fixture_open(&f, said.data, said.len, 4096);
    f.err.status = FR_EINTR;
    f.w->sql.columns = NULL;
    ck_assert_int_eq(
        f.w->sql.ops->run(&f.w->sql, "SELECT", fixture_tell_row, &f, NULL, NULL),
        FR_EINTR);
    ck_assert_str_eq(fr_buf_text(&f.words), "row [7]\n");
    ck_assert(!f.w->sql.lost);
    f.err.status = FR_OK;
    f.link->said = (const unsigned char *)more.data;
    f.link->said_bytes = more.len;
    f.link->said_at = 0;
    f.link->silent_until = f.link->sent.len + 1;
    ck_assert_int_eq(fixture_ask(&f), FR_OK);
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
    ck_assert_int_eq(fixture_ask(&f), FR_ELOST);
    ck_assert(f.w->sql.lost);
    ck_assert_uint_eq((unsigned char)f.link->sent.data[f.link->sent.len - 8],
                      WIRE_PACKET_ATTENTION);
    fixture_close(&f);
}
END_TEST

/* Who wants no text gets the status all the same. */
START_TEST(test_status_without_text)
{
    struct fixture f;

    fixture_open(&f, "", 0, 4096);
    f.link->stays = f.link->full = true;
    f.w->silence_ms = 1;
    ck_assert_int_eq(fr_sql_run(&f.w->sql, "SELECT 1", NULL, NULL, NULL), FR_ELOST);
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

    fixture_reply(&said,
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

/* ---- addresses ---- */

START_TEST(test_time_of_each_address)
{
    /* none of three may take the time of the others; the last has all that is left */
    ck_assert_uint_eq(wire_share_deadline(1000, 31000, 3), 11000);
    ck_assert_uint_eq(wire_share_deadline(11000, 31000, 2), 21000);
    ck_assert_uint_eq(wire_share_deadline(21000, 31000, 1), 31000);
    ck_assert_uint_eq(wire_share_deadline(1000, 1001, 9), 1001);
    ck_assert_uint_eq(wire_share_deadline(1000, 999, 3), 999);
    ck_assert_uint_eq(wire_share_deadline(1000, 0, 3), 0);
    ck_assert_uint_eq(wire_share_deadline(1000, 31000, 0), 31000);
}
END_TEST

START_TEST(test_loopback)
{
    static const char *const own[] = {
        "localhost", "LOCALHOST,1433", "127.0.0.1",           "tcp:127.8.9.1:1",
        "::1",       "[::1]:1433",     "[::ffff:127.0.0.1]:1"};
    static const char *const others[] = {"db",      "localhost.example",  "128.0.0.1",
                                         "[::2]:1", "::ffff:10.0.0.127",  "10.127.0.1",
                                         "",        "localhost\\instance"};

    for (size_t i = 0; i < COUNT_OF(own); i++)
        ck_assert_msg(fr_wire_is_loopback(own[i]), "%s", own[i]);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        ck_assert_msg(!fr_wire_is_loopback(others[i]), "%s", others[i]);
}
END_TEST

START_TEST(test_most_telling_error)
{
    static const int rising[] = {0, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, ECONNREFUSED};

    for (size_t i = 0; i < COUNT_OF(rising); i++)
        for (size_t j = 0; j < COUNT_OF(rising); j++)
            ck_assert_int_eq(wire_telling_error(rising[i], rising[j]),
                             rising[i > j ? i : j]);
    ck_assert_int_eq(wire_telling_error(EACCES, ECONNREFUSED), EACCES);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wire");
    TCase *tc = tcase_create("wire");

    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_token, 0, COUNT_OF(token_cases));
    tcase_add_test(tc, test_packets_cut_everywhere);
    tcase_add_test(tc, test_connection_cut_everywhere);
    tcase_add_test(tc, test_reply_cut_everywhere);
    tcase_add_test(tc, test_bad_packet);
    tcase_add_test(tc, test_message_sizes);
    tcase_add_test(tc, test_login_message);
    tcase_add_loop_test(tc, test_sending_ends_early, 0, COUNT_OF(early_cases));
    tcase_add_test(tc, test_callback_refuses);
    tcase_add_test(tc, test_silence);
    tcase_add_test(tc, test_status_without_text);
    tcase_add_test(tc, test_outputs);
    tcase_add_test(tc, test_bad_parameter);
    tcase_add_test(tc, test_time_of_each_address);
    tcase_add_test(tc, test_loopback);
    tcase_add_test(tc, test_most_telling_error);
    return suite_run(s);
}
