/* Packets, login, types and values on the wire, whole conversations. */
#include "server/tds/login.h"
#include "server/tds/wire.h"

#include "../support/fake_session.h"
#include "../support/sql_values.h"
#include "../support/tds_client.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

/* ---- memory under a reader and a writer ---- */

struct source {
    const char *p;
    size_t left, step; /* bytes given at a time */
};

static ssize_t source_fill(void *ctx, void *buf, size_t n)
{
    struct source *s = ctx;

    n = n < s->left ? n : s->left;
    n = n < s->step ? n : s->step;
    if (n > 0)
        memcpy(buf, s->p, n);
    s->p += n;
    s->left -= n;
    return (ssize_t)n;
}

static bool buf_send(void *ctx, const void *p, size_t n)
{
    return fr_buf_add(ctx, p, n);
}

static void make_payload(struct fr_buf *b, size_t n)
{
    fr_buf_init(b, 1 << 24);
    for (size_t i = 0; i < n; i++)
        tc_u8(b, (unsigned)(i * 7 + i / 256) & 0xFF);
}

static const struct {
    size_t bytes, packet, step;
} splits[] = {
    {0, 4096, 100},     {1, 512, 1},       {504, 512, 3},
    {505, 512, 1000},   {100000, 4096, 7}, {100000, 32767, 65536},
    {65536, 513, 4096},
};

START_TEST(test_packets_are_joined)
{
    struct fr_buf payload, wire;
    struct tds_reader r;
    struct source src = {.step = splits[_i].step};
    unsigned char *got = malloc(splits[_i].bytes + 1);

    make_payload(&payload, splits[_i].bytes);
    fr_buf_init(&wire, 1 << 24);
    tc_message(&wire, TDS_SQL_BATCH, &payload, splits[_i].packet);
    tc_message(&wire, TDS_RPC, &payload, splits[_i].packet);
    src.p = wire.data;
    src.left = wire.len;
    ck_assert(tds_reader_init(&r, source_fill, &src));
    ck_assert(tds_next_message(&r));
    ck_assert_int_eq(r.type, TDS_SQL_BATCH);
    ck_assert(tds_read(&r, got, splits[_i].bytes));
    ck_assert(splits[_i].bytes == 0 || memcmp(got, payload.data, splits[_i].bytes) == 0);
    ck_assert(tds_at_end(&r));
    /* the second one is dropped whole */
    ck_assert(tds_next_message(&r));
    ck_assert_int_eq(r.type, TDS_RPC);
    ck_assert(!tds_next_message(&r));
    ck_assert(r.closed && !r.broken);
    tds_reader_free(&r);
    fr_buf_free(&payload);
    fr_buf_free(&wire);
    free(got);
}
END_TEST

static const struct {
    const char *hex;
    bool first_message; /* is there a whole header */
    bool broken, attention;
} broken_streams[] = {
    {"", false, false, false},
    {"0101", false, true, false},
    {"01010007 00000000", false, true, false},     /* shorter than its header */
    {"01018000 00000000", false, true, false},     /* longer than a packet may be */
    {"01010010 00000000 1122", true, true, false}, /* cut in the middle */
    {"01000009 00000000 11", true, true, false},   /* no last packet */
    {"01000009 00000000 11 0301000900000000 22", true, true,
     false}, /* another type inside */
    {"01000009 00000000 11 0601000800000000", true, false, true},
};

START_TEST(test_broken_streams)
{
    struct fr_buf wire;
    struct tds_reader r;
    struct source src = {.step = 5};
    unsigned char got[64];

    fr_buf_init(&wire, 1000);
    tc_hex(&wire, broken_streams[_i].hex);
    src.p = fr_buf_text(&wire);
    src.left = wire.len;
    ck_assert(tds_reader_init(&r, source_fill, &src));
    ck_assert(tds_next_message(&r) == broken_streams[_i].first_message);
    if (broken_streams[_i].first_message)
        ck_assert(!tds_read(&r, got, sizeof got));
    ck_assert(r.broken == broken_streams[_i].broken);
    ck_assert(r.attention == broken_streams[_i].attention);
    if (r.attention) {
        ck_assert(tds_next_message(&r));
        ck_assert_int_eq(r.type, TDS_ATTENTION);
    }
    tds_reader_free(&r);
    fr_buf_free(&wire);
}
END_TEST

START_TEST(test_message_limit)
{
    struct fr_buf payload, wire;
    struct tds_reader r;
    struct source src = {.step = 4096};
    unsigned char got[300];

    make_payload(&payload, 300);
    fr_buf_init(&wire, 1000);
    tc_message(&wire, TDS_SQL_BATCH, &payload, 512);
    src.p = wire.data;
    src.left = wire.len;
    ck_assert(tds_reader_init(&r, source_fill, &src));
    r.limit = 299;
    ck_assert(tds_next_message(&r));
    ck_assert(!tds_read(&r, got, 300));
    ck_assert(r.broken);
    tds_reader_free(&r);
    fr_buf_free(&payload);
    fr_buf_free(&wire);
}
END_TEST

/* A message of empty packets reaches the limit as well. */
START_TEST(test_empty_packets)
{
    static const unsigned char empty[TDS_HEADER_BYTES] = {TDS_PRELOGIN, 0, 0, 8, 0, 0, 1};
    struct fr_buf wire;
    struct tds_reader r;
    struct source src = {.step = 4096};

    fr_buf_init(&wire, 10000);
    for (int i = 0; i < 100; i++)
        ck_assert(fr_buf_add(&wire, empty, sizeof empty));
    src.p = wire.data;
    src.left = wire.len;
    ck_assert(tds_reader_init(&r, source_fill, &src));
    r.limit = 99 * TDS_HEADER_BYTES - 1;
    ck_assert(tds_next_message(&r));
    ck_assert(!tds_at_end(&r));
    ck_assert(r.broken && r.too_long);
    tds_reader_free(&r);
    fr_buf_free(&wire);
}
END_TEST

START_TEST(test_writer_splits)
{
    struct fr_buf payload, sent;
    struct tds_writer w;
    struct tds_reader r;
    struct source src = {.step = 1000};
    unsigned char *got = malloc(splits[_i].bytes + 1);

    make_payload(&payload, splits[_i].bytes);
    fr_buf_init(&sent, 1 << 24);
    ck_assert(tds_writer_init(&w, buf_send, &sent));
    tds_writer_set_packet_size(&w, splits[_i].packet);
    for (size_t at = 0; at < payload.len; at += 37)
        ck_assert(tds_put(&w, payload.data + at,
                          payload.len - at < 37 ? payload.len - at : 37));
    ck_assert(tds_end_message(&w));
    src.p = sent.data;
    src.left = sent.len;
    ck_assert(tds_reader_init(&r, source_fill, &src));
    ck_assert(tds_next_message(&r));
    ck_assert_int_eq(r.type, TDS_RESPONSE);
    ck_assert(tds_read(&r, got, payload.len));
    ck_assert(payload.len == 0 || memcmp(got, payload.data, payload.len) == 0);
    ck_assert(tds_at_end(&r));
    ck_assert_uint_eq(r.packets, w.packets);
    tds_reader_free(&r);
    tds_writer_free(&w);
    fr_buf_free(&payload);
    fr_buf_free(&sent);
    free(got);
}
END_TEST

/* ---- login ---- */

static const struct {
    const char *hex;
    bool ok;
    unsigned encryption;
} prelogins[] = {
    {"00 000B 0006  01 0011 0001  FF 000000000000  02", true, 2},
    {"01 0006 0001 FF 03", true, 3},
    {"FF", true, 2},
    {"", false, 0},
    {"01 0006 0001 03", false, 0},    /* no terminator */
    {"01 0007 0001 FF 03", false, 0}, /* behind the end */
    {"01 0006 FFFF FF 03", false, 0},
    {"01 00", false, 0},
};

START_TEST(test_prelogin)
{
    struct fr_buf b;
    struct prelogin p;

    fr_buf_init(&b, 100);
    tc_hex(&b, prelogins[_i].hex);
    ck_assert(prelogin_parse((const unsigned char *)fr_buf_text(&b), b.len, &p) ==
              prelogins[_i].ok);
    if (prelogins[_i].ok)
        ck_assert_uint_eq(p.encryption, prelogins[_i].encryption);
    fr_buf_free(&b);
}
END_TEST

static void login_bytes(struct fr_buf *b)
{
    struct login_fields f = {0x74000004, "sa", "p\xE4 ss" /* a byte above 127 */, "db"};
    struct fr_buf wire;

    fr_buf_init(&wire, 10000);
    fr_buf_init(b, 10000);
    tc_login(&wire, &f);
    /* behind the prelogin message: a header, then the login */
    fr_buf_add(b, wire.data + 8 + 18 + 8, wire.len - 34);
    fr_buf_free(&wire);
}

START_TEST(test_login_fields)
{
    struct fr_buf b;
    struct tds_login l;

    login_bytes(&b);
    ck_assert(login_parse((const unsigned char *)b.data, b.len, &l));
    ck_assert_str_eq(l.user, "sa");
    ck_assert_str_eq(l.password, "p\xC3\xA4 ss");
    ck_assert_str_eq(l.database, "db");
    ck_assert_str_eq(l.host_name, "host");
    ck_assert_str_eq(l.program_name, "check");
    ck_assert_uint_eq(l.client_pid, 1234);
    ck_assert_uint_eq(l.packet_size, 4096);
    login_wipe(&l);
    ck_assert_str_eq(l.password, "");
    fr_buf_free(&b);
}
END_TEST

START_TEST(test_login_trusts_no_offset)
{
    struct fr_buf b;
    struct tds_login l;

    login_bytes(&b);
    /* every byte set to its worst, every length cut: parsed or refused, never read beyond
     */
    for (size_t i = 0; i < b.len; i++) {
        unsigned char *copy = malloc(b.len);

        memcpy(copy, b.data, b.len);
        copy[i] = 0xFF;
        (void)login_parse(copy, b.len, &l);
        free(copy);
        copy = malloc(i + 1);
        memcpy(copy, b.data, i);
        ck_assert(!login_parse(copy, i, &l));
        free(copy);
    }
    fr_buf_free(&b);
}
END_TEST

static const struct {
    uint32_t asked, spoken;
} versions[] = {
    {0x70000000, 0},          {0x71000001, 0},          {0x72090002, 0x72090002},
    {0x730A0003, 0x730A0003}, {0x730B0003, 0x730B0003}, {0x74000004, 0x74000004},
    {0x08000000, 0},
};

START_TEST(test_version)
{
    ck_assert_uint_eq(login_version(versions[_i].asked), versions[_i].spoken);
}
END_TEST

/* ---- values ---- */

static const struct {
    const char *type, *text;
    const char *hex; /* TYPE_INFO and value as a nullable column, NULL: not looked at */
} round_trips[] = {
    {"bit", "1", "6801 0101"},
    {"tinyint", "255", "2601 01FF"},
    {"smallint", "-2", "2602 02FEFF"},
    {"int", "305419896", "2604 0478563412"},
    {"bigint", "-9223372036854775808", "2608 080000000000000080"},
    {"real", "1.5", "6D04 040000C03F"},
    {"float", "-1.5", "6D08 08000000000000F8BF"},
    {"smallmoney", "-1", "6E04 04F0D8FFFF"},
    {"money", "1", "6E08 080000000010270000"},
    {"decimal(9,2)", "-1.50", "6A050902 050096000000"},
    {"decimal(19,0)", "1", "6A091300 09010100000000000000"},
    {"decimal(28,0)", "1", NULL},
    {"numeric(38,10)", "9999999999999999999999999999.9999999999", NULL},
    {"date", "0001-01-02", "28 03010000"},
    {"date", "9999-12-31", NULL},
    {"time(0)", "00:00:01", "2900 03010000"},
    {"time(7)", "23:59:59.9999999", "2907 05FFBF692AC9"},
    {"datetime", "1900-01-02 00:00:00.010", "6F08 080100000003000000"},
    {"datetime", "1753-01-01", NULL},
    {"smalldatetime", "2079-06-06 23:59", "6F04 04FFFF9F05"},
    {"datetime2(3)", "2025-01-31 12:34:56.789", NULL},
    {"datetimeoffset(7)", "2025-01-31 12:34:56.7891234 -14:00", NULL},
    {"varchar(10)", "a\xE2\x82\xAC", "A70A00 0904D00034 02006180"},
    {"varchar(10)", "", "A70A00 0904D00034 0000"},
    {"varchar(max)", "ab", "A7FFFF 0904D00034 0200000000000000 02000000 6162 00000000"},
    {"varchar(max)", "", "A7FFFF 0904D00034 0000000000000000 00000000"},
    {"nvarchar(10)", "a\xE2\x82\xAC", "E71400 0904D00034 04006100AC20"},
    {"nvarchar(max)", "\xF0\x9F\x98\x80", NULL},
    {"text", "abc", NULL},
    {"ntext", "abc", NULL},
    {"image", "0x0102", NULL},
    {"varbinary(5)", "0x00FF", "A50500 020000FF"},
    {"varbinary(max)", "0x", "A5FFFF 0000000000000000 00000000"},
    {"uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF",
     "2410 10FF19966F868B11D0B42D00C04FC964FF"},
    {"int", NULL, "2604 00"},
    {"varchar(10)", NULL, "A70A00 0904D00034 FFFF"},
    {"nvarchar(max)", NULL, "E7FFFF 0904D00034 FFFFFFFFFFFFFFFF"},
    {"decimal(9,2)", NULL, "6A050902 00"},
    {"text", NULL, NULL},
};

static void read_back(struct fr_buf *sent, bool pointers, size_t step, struct value *out,
                      struct fr_buf *hold)
{
    struct tds_reader r;
    struct wire_input in;
    struct wire_type wt;
    struct source src = {.p = sent->data, .left = sent->len, .step = step};

    ck_assert(tds_reader_init(&r, source_fill, &src));
    ck_assert(tds_next_message(&r));
    wire_input_init(&in, &r, pointers);
    ck_assert_int_eq(wire_read_type(&r, &wt), WIRE_OK);
    ck_assert_int_eq(wire_read_value(&in, &wt, hold, out), WIRE_OK);
    ck_assert(tds_at_end(&r));
    wire_input_free(&in);
    tds_reader_free(&r);
}

START_TEST(test_values_round_trip)
{
    struct value v = test_value(round_trips[_i].type, round_trips[_i].text), back;
    struct wire_type wt;
    struct wire_output out;
    struct tds_writer w;
    struct fr_buf sent, hold, want;
    char text[256];

    fr_buf_init(&sent, 1 << 20);
    fr_buf_init(&hold, 1 << 20);
    fr_buf_init(&want, 1 << 20);
    ck_assert(tds_writer_init(&w, buf_send, &sent));
    wire_output_init(&out, &w);
    out.text_pointers = true;
    wire_type_for(&v.type, true, TDS_7_4, &wt);
    ck_assert(wire_write_type(&w, &wt) && wire_write_value(&out, &wt, &v));
    ck_assert(tds_end_message(&w));
    if (round_trips[_i].hex != NULL) {
        tc_hex(&want, round_trips[_i].hex);
        ck_assert_uint_eq(sent.len - 8, want.len);
        ck_assert_mem_eq(sent.data + 8, want.data, want.len);
    }
    snprintf(text, sizeof text, "%s", test_text(&v));
    for (size_t step = 1; step < 100; step += 32) {
        read_back(&sent, true, step, &back, &hold);
        ck_assert_str_eq(test_text(&back), text);
    }
    value_free(&v);
    wire_output_free(&out);
    tds_writer_free(&w);
    fr_buf_free(&sent);
    fr_buf_free(&hold);
    fr_buf_free(&want);
}
END_TEST

static const struct {
    const char *hex; /* TYPE_INFO and value */
    enum wire_result type_rc, value_rc;
} bad_values[] = {
    {"00", WIRE_BAD_TYPE, WIRE_OK},                 /* no such token */
    {"F3", WIRE_BAD_TYPE, WIRE_OK},                 /* table-valued */
    {"2603", WIRE_BAD_TYPE, WIRE_OK},               /* no integer of three bytes */
    {"6A112801", WIRE_BAD_TYPE, WIRE_OK},           /* precision 40 */
    {"6A050506", WIRE_BAD_TYPE, WIRE_OK},           /* scale over precision */
    {"2908", WIRE_BAD_TYPE, WIRE_OK},               /* time(8) */
    {"A7 419C 0904D00034", WIRE_BAD_TYPE, WIRE_OK}, /* varchar(40001) */
    {"EF FFFF 0904D00034", WIRE_BAD_TYPE, WIRE_OK}, /* nchar(max) */
    {"A7 0A", WIRE_BROKEN, WIRE_OK},
    {"2604 02 0100", WIRE_OK, WIRE_BAD_LENGTH},
    {"2604 04 010000", WIRE_OK, WIRE_BROKEN},
    {"6A050902 01 01", WIRE_OK, WIRE_BAD_LENGTH}, /* a sign alone */
    {"6A050902 06 01 9600000000", WIRE_OK,
     WIRE_OK}, /* db-lib: as many as the precision needs */
    {"6A050902 05 0200000000", WIRE_OK, WIRE_BAD_VALUE}, /* sign 2 */
    {"6A050902 05 0100CA9A3B", WIRE_OK, WIRE_BAD_VALUE}, /* 10^9 in nine digits */
    {"6A112600 11 01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", WIRE_OK, WIRE_BAD_VALUE},
    {"6A110902 11 0196000000000000000000000000000000", WIRE_OK,
     WIRE_OK},                                 /* 17 bytes for nine digits */
    {"28 03 DBB937", WIRE_OK, WIRE_BAD_VALUE}, /* 10000-01-01 */
    {"28 03 DAB937", WIRE_OK, WIRE_OK},
    {"28 04 DAB93700", WIRE_OK, WIRE_BAD_LENGTH},
    {"2900 03 805101", WIRE_OK, WIRE_BAD_VALUE}, /* 24:00:00 */
    {"2900 03 7F5101", WIRE_OK, WIRE_OK},
    {"2B00 08 000000 000000 4903", WIRE_OK, WIRE_BAD_VALUE}, /* +14:01 */
    {"6F08 08 452EFFFF 00000000", WIRE_OK, WIRE_BAD_VALUE},  /* before 1753 */
    {"6F08 08 00000000 00828B01", WIRE_OK, WIRE_BAD_VALUE},  /* 24:00 */
    {"6F04 04 0000 A005", WIRE_OK, WIRE_BAD_VALUE},          /* minute 1440 */
    {"6D08 08 000000000000F87F", WIRE_OK, WIRE_BAD_VALUE},   /* NaN */
    {"6D04 04 0000807F", WIRE_OK, WIRE_BAD_VALUE},           /* infinity */
    {"A7 0200 0904D00034 0300 616263", WIRE_OK, WIRE_BAD_LENGTH},
    {"E7 0400 0904D00034 0300 616263", WIRE_OK,
     WIRE_BAD_LENGTH}, /* an odd number of bytes */
    {"A7 FFFF 0904D00034 0300000000000000 02000000 6162 00000000", WIRE_OK,
     WIRE_BAD_LENGTH},
    {"A7 FFFF 0904D00034 FEFFFFFFFFFFFFFF 02000000 6162 00000000", WIRE_OK, WIRE_OK},
    {"A7 FFFF 0904D00034 FEFFFFFFFFFFFFFF FFFFFFFF 6162", WIRE_OK, WIRE_BROKEN},
    {"A7 FFFF 0904D00034 FEFFFFFFFFFFFFFF 02000000 6162", WIRE_OK, WIRE_BROKEN},
    {"23 FFFFFF7F 0904D00034 10 00000000000000000000000000000000 0000000000000000 "
     "FFFFFF7F 61",
     WIRE_OK, WIRE_BROKEN},
    {"2410 0F 000000000000000000000000000000", WIRE_OK, WIRE_BAD_LENGTH},
};

START_TEST(test_bad_values)
{
    struct fr_buf payload, wire, hold;
    struct tds_reader r;
    struct wire_input in;
    struct wire_type wt;
    struct value v;
    struct source src = {.step = 11};

    fr_buf_init(&payload, 1000);
    fr_buf_init(&wire, 1000);
    fr_buf_init(&hold, 1000);
    tc_hex(&payload, bad_values[_i].hex);
    tc_message(&wire, TDS_BULK, &payload, 512);
    src.p = wire.data;
    src.left = wire.len;
    ck_assert(tds_reader_init(&r, source_fill, &src));
    ck_assert(tds_next_message(&r));
    wire_input_init(&in, &r, true);
    ck_assert_int_eq(wire_read_type(&r, &wt), bad_values[_i].type_rc);
    if (bad_values[_i].type_rc == WIRE_OK) {
        ck_assert_int_eq(wire_read_value(&in, &wt, &hold, &v), bad_values[_i].value_rc);
        /* what is wrong with a value leaves the stream in step */
        ck_assert(bad_values[_i].value_rc == WIRE_BROKEN || tds_at_end(&r));
    }
    wire_input_free(&in);
    tds_reader_free(&r);
    fr_buf_free(&payload);
    fr_buf_free(&wire);
    fr_buf_free(&hold);
}
END_TEST

/* ---- conversations ---- */

#define GREETING                                                                         \
    "prelogin\nenv 1\ninfo 5701\nenv 7\nenv 2\ninfo 5703\nloginack 74000004\nenv 4\n"    \
    "done 0x0 0\n"

static const struct login_fields good = {0x74000004, "sa", "secret", ""};

/* Log in, send what is in `input`, compare what the server said and what the session saw.
 */
static void converse(struct fr_buf *input, const char *said, const char *seen,
                     int fail_row)
{
    struct server srv;
    struct fr_buf all, out, words;

    fr_buf_init(&all, 1 << 24);
    fr_buf_init(&words, 1 << 20);
    fake_server_init(&srv, "secret");
    srv.fail_row = fail_row;
    tc_login(&all, &good);
    fr_buf_add(&all, fr_buf_text(input), input->len);
    fake_serve(&srv, all.data, all.len, &out);
    tc_describe(&out, &words);
    ck_assert_uint_ge(words.len, strlen(GREETING));
    ck_assert_int_eq(strncmp(words.data, GREETING, strlen(GREETING)), 0);
    ck_assert_str_eq(words.data + strlen(GREETING), said);
    ck_assert_str_eq(fr_buf_text(&srv.log), seen);
    ck_assert_int_eq(srv.ended_watched, 0);
    fake_server_free(&srv);
    fr_buf_free(&all);
    fr_buf_free(&out);
    fr_buf_free(&words);
    fr_buf_free(input);
}

static const struct {
    struct login_fields f;
    const char *said;
} logins[] = {
    {{0x72090002, "SA", "secret", "master"},
     "prelogin\nenv 1\ninfo 5701\nenv 7\nenv 2\ninfo 5703\nloginack 72090002\nenv 4\n"
     "done 0x0 0\n"},
    {{0x74000004, "sa", "Secret", ""}, "prelogin\nerror 18456\ndone 0x2 0\n"},
    {{0x74000004, "sa", "", ""}, "prelogin\nerror 18456\ndone 0x2 0\n"},
    {{0x74000004, "sb", "secret", ""}, "prelogin\nerror 18456\ndone 0x2 0\n"},
    {{0x74000004, "sa", "secret", "nowhere"},
     "prelogin\nerror 4060\nerror 18456\ndone 0x2 0\n"},
    {{0x71000001, "sa", "secret", ""}, "prelogin\nerror 17836\ndone 0x2 0\n"},
};

START_TEST(test_logins)
{
    struct server srv;
    struct fr_buf in, out, words;

    fr_buf_init(&in, 10000);
    fr_buf_init(&words, 10000);
    fake_server_init(&srv, "secret");
    tc_login(&in, &logins[_i].f);
    fake_serve(&srv, in.data, in.len, &out);
    tc_describe(&out, &words);
    ck_assert_str_eq(fr_buf_text(&words), logins[_i].said);
    fake_server_free(&srv);
    fr_buf_free(&in);
    fr_buf_free(&out);
    fr_buf_free(&words);
}
END_TEST

START_TEST(test_batches)
{
    struct fr_buf in;

    fr_buf_init(&in, 10000);
    tc_batch(&in, "select 1");
    tc_batch(&in, "");
    converse(&in,
             "columns 1\nrow select 1\ndone 0x10 1\n"
             "columns 1\nrow \ndone 0x10 1\n",
             "batch select 1\nbatch \n", 0);
}
END_TEST

START_TEST(test_rpc)
{
    struct fr_buf in, b;

    fr_buf_init(&in, 10000);
    fr_buf_init(&b, 10000);
    tc_headers(&b);
    tc_u16(&b, 3);
    tc_text(&b, "p_x");
    tc_u16(&b, 0);
    tc_u8(&b, 2);
    tc_text(&b, "@a");
    tc_hex(&b, "01 2604 04 2A000000");
    tc_hex(&b, "00 00 E70A00 0904D00034 0400 61006200");
    tc_u8(&b, 0xFF);
    tc_hex(&b, "FFFF 0A00 0000"); /* sp_executesql */
    tc_hex(&b, "00 00 E7FFFF 0904D00034 0200000000000000 02000000 7800 00000000");
    tc_message(&in, TDS_RPC, &b, 64);
    fr_buf_reset(&b);
    tc_headers(&b);
    tc_hex(&b, "FFFF 0200 0000"); /* sp_cursoropen */
    tc_message(&in, TDS_RPC, &b, 4096);
    fr_buf_reset(&b);
    tc_headers(&b);
    tc_hex(&b, "0100 7000 0000 00 00 F3 00"); /* a type that is not there */
    tc_message(&in, TDS_RPC, &b, 4096);
    fr_buf_free(&b);
    converse(&in,
             "status 0\nvalue @a type 26\ndoneproc 0x1 0\nstatus 0\ndoneproc 0x0 0\n"
             "error 40515\ndoneproc 0x2 0\nerror 8009\ndoneproc 0x2 0\n",
             "rpc p_x @a=42 =ab\nrpc sp_executesql =x\n", 0);
}
END_TEST

START_TEST(test_transactions)
{
    struct fr_buf in, b;

    fr_buf_init(&in, 10000);
    fr_buf_init(&b, 10000);
    tc_headers(&b);
    tc_hex(&b, "0500 00 02 7400");
    tc_message(&in, TDS_TRANSACTION, &b, 4096);
    fr_buf_reset(&b);
    tc_headers(&b);
    tc_hex(&b, "0700 00 00");
    tc_message(&in, TDS_TRANSACTION, &b, 4096);
    fr_buf_reset(&b);
    tc_headers(&b);
    tc_hex(&b, "0000");
    tc_message(&in, TDS_TRANSACTION, &b, 4096);
    fr_buf_free(&b);
    converse(&in, "env 8\ndone 0x4 0\nenv 9\ndone 0x0 0\nerror 40515\ndone 0x2 0\n",
             "transaction 0 't'\ntransaction 1 ''\n", 0);
}
END_TEST

#define BULK_COLUMNS                                                                     \
    "81 0200  00000000 0900 2604 01 6100  00000000 0900 A70500 0904D00034 01 6200 "

static const struct {
    const char *rows;
    int fail_row;
    const char *said, *seen;
} bulks[] = {
    {"D1 04 01000000 0200 6162  D1 00 FFFF  FD 0000 0000 0000000000000000", 0,
     "done 0x10 2\n", "row 1|ab\nrow NULL|NULL\nbulk end complete\n"},
    {"D1 04 01000000 0200 6162  D2 02 04 02000000", 0, "done 0x10 2\n",
     "row 1|ab\nrow 2|NULL\nbulk end complete\n"},
    {"", 0, "done 0x10 0\n", "bulk end complete\n"},
    {"D1 04 01000000 0200 6162  D1 02 0100 0000  D1 04 01000000 0200 6162", 0,
     "error 4815\ndone 0x12 0\n", "row 1|ab\nbulk end broken\n"},
    {"D1 04 01000000 0600 616263646566", 0, "error 4815\ndone 0x12 0\n",
     "bulk end broken\n"},
    {"D1 04 01000000 0000  D1 04 02000000 0000  D1 04 03000000 0000", 2,
     "error 515\ndone 0x2 0\n", "row 1|\nbulk end complete\n"},
    /* framing: the connection ends */
    {"D1 04 0100", 0, "unfinished\n", "bulk end broken\n"},
    {"00", 0, "unfinished\n", "bulk end broken\n"},
};

/* Each stream goes the short way and the long one: nobody may tell. */
START_TEST(test_bulk)
{
    struct fr_buf in, b;
    char seen[300];

    fr_buf_init(&in, 10000);
    fr_buf_init(&b, 10000);
    tc_batch(&in, "insert bulk 2");
    tc_hex(&b, BULK_COLUMNS);
    tc_hex(&b, bulks[_i].rows);
    tc_message(&in, TDS_BULK, &b, 20);
    fr_buf_free(&b);
    snprintf(seen, sizeof seen, "batch insert bulk 2\n%s", bulks[_i].seen);
    if (strcmp(bulks[_i].said, "unfinished\n") == 0) {
        converse(&in, "done 0x0 0\n", seen, bulks[_i].fail_row);
    } else {
        char said[200];

        snprintf(said, sizeof said, "done 0x0 0\n%s", bulks[_i].said);
        converse(&in, said, seen, bulks[_i].fail_row);
    }
}
END_TEST

START_TEST(test_bulk_refusals)
{
    struct fr_buf in, b;

    fr_buf_init(&in, 10000);
    fr_buf_init(&b, 10000);
    tc_hex(&b, BULK_COLUMNS);
    tc_message(&in, TDS_BULK, &b, 512); /* nothing was declared */
    tc_batch(&in, "insert bulk 3");
    tc_message(&in, TDS_BULK, &b, 512); /* other columns */
    tc_batch(&in, "insert bulk 2");
    fr_buf_free(&b);
    /* the stream is broken off by an attention */
    fr_buf_init(&b, 10000);
    tc_hex(&b, BULK_COLUMNS "D1 04 0100");
    tc_u8(&in, TDS_BULK);
    tc_u8(&in, 0);
    tc_u8(&in, 0);
    tc_u8(&in, (unsigned)b.len + 8);
    tc_u32(&in, 0);
    fr_buf_add(&in, b.data, b.len);
    tc_hex(&in, "0601000800000000");
    tc_batch(&in, "still here");
    fr_buf_free(&b);
    converse(
        &in,
        "error 4002\ndone 0x2 0\n"
        "done 0x0 0\nerror 4891\ndone 0x12 0\n"
        "done 0x0 0\ndone 0x10 0\ndone 0x20 0\n"
        "columns 1\nrow still here\ndone 0x10 1\n",
        "batch insert bulk 3\nbulk end broken\nbatch insert bulk 2\nbulk end broken\n"
        "batch still here\n",
        0);
}
END_TEST

START_TEST(test_attention_and_reset)
{
    struct fr_buf in;

    fr_buf_init(&in, 10000);
    tc_batch(&in, "not run: taken back at once");
    tc_hex(&in, "0601000800000000");
    tc_batch(&in, "x");
    in.data[in.len - 31] |= 0x08; /* RESETCONNECTION in the header's status */
    converse(&in,
             "done 0x0 0\ndone 0x20 0\n"
             "env 18\ncolumns 1\nrow x\ndone 0x10 1\n",
             "reset\nbatch x\n", 0);
}
END_TEST

static const char *const broken_requests[] = {
    "01010009 00000000 00",       /* a batch without its headers */
    "0101000C 00000000 FFFFFF7F", /* headers longer than the message */
    "0101001E 00000000 16000000 05000000 0200 0000000000000000 01000000", /* a header of 5
                                                                             bytes */
    "03010012 00000000 04000000 0000 0000 0000", /* a procedure without a name */
    "0E01000C 00000000 04000000",                /* no transaction request */
    "09010008 00000000",                         /* no such message */
};

START_TEST(test_broken_requests_end_the_connection)
{
    struct fr_buf in;

    fr_buf_init(&in, 10000);
    tc_hex(&in, broken_requests[_i]);
    tc_batch(&in, "never seen");
    converse(&in, "", "", 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tds");
    TCase *tc = tcase_create("tds");
    SRunner *sr;
    int failed;

    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, test_packets_are_joined, 0, ROWS(splits));
    tcase_add_loop_test(tc, test_broken_streams, 0, ROWS(broken_streams));
    tcase_add_test(tc, test_message_limit);
    tcase_add_test(tc, test_empty_packets);
    tcase_add_loop_test(tc, test_writer_splits, 0, ROWS(splits));
    tcase_add_loop_test(tc, test_prelogin, 0, ROWS(prelogins));
    tcase_add_test(tc, test_login_fields);
    tcase_add_test(tc, test_login_trusts_no_offset);
    tcase_add_loop_test(tc, test_version, 0, ROWS(versions));
    tcase_add_loop_test(tc, test_values_round_trip, 0, ROWS(round_trips));
    tcase_add_loop_test(tc, test_bad_values, 0, ROWS(bad_values));
    tcase_add_loop_test(tc, test_logins, 0, ROWS(logins));
    tcase_add_test(tc, test_batches);
    tcase_add_test(tc, test_rpc);
    tcase_add_test(tc, test_transactions);
    tcase_add_loop_test(tc, test_bulk, 0, ROWS(bulks));
    tcase_add_test(tc, test_bulk_refusals);
    tcase_add_test(tc, test_attention_and_reset);
    tcase_add_loop_test(tc, test_broken_requests_end_the_connection, 0,
                        ROWS(broken_requests));
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
