/* The records of a backup's stripes: what is written is read, and nothing else. */
#include "server/store/media.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct media_prefix plain = {.kind = MEDIA_DATA,
                                          .set = {1, 2, 3, 250},
                                          .stripe = 6,
                                          .stripes = 7,
                                          .number = 0x123456789abcULL,
                                          .stored_bytes = 1000,
                                          .record_bytes = 1536,
                                          .plain_bytes = 1000,
                                          .file = 12345,
                                          .offset = 0x1122334455667788ULL >> 2};

static void make(uint8_t *record, const struct media_prefix *p)
{
    memset(record, 0xee, p->record_bytes);
    for (size_t i = 0; i < p->stored_bytes; i++)
        record[MEDIA_PREFIX_BYTES + i] = (uint8_t)(i * 7);
    media_seal(record, p);
}

START_TEST(test_round)
{
    uint8_t record[1536];
    struct media_prefix got;

    make(record, &plain);
    ck_assert(media_is_ours(record, sizeof record));
    ck_assert(media_intact(record, sizeof record));
    ck_assert(media_prefix_parse(record, &got));
    ck_assert_int_eq(got.kind, MEDIA_DATA);
    ck_assert_mem_eq(got.set, plain.set, MEDIA_ID_BYTES);
    ck_assert_uint_eq(got.stripe, plain.stripe);
    ck_assert_uint_eq(got.stripes, plain.stripes);
    ck_assert_uint_eq(got.number, plain.number);
    ck_assert_uint_eq(got.stored_bytes, plain.stored_bytes);
    ck_assert_uint_eq(got.record_bytes, plain.record_bytes);
    ck_assert_uint_eq(got.plain_bytes, plain.plain_bytes);
    ck_assert_uint_eq(got.file, plain.file);
    ck_assert_uint_eq(got.offset, plain.offset);
    ck_assert_uint_eq(got.flags, 0);
    for (size_t i = MEDIA_PREFIX_BYTES + 1000; i < sizeof record; i++)
        ck_assert_uint_eq(record[i], 0);
}
END_TEST

/* Whatever bit is turned, of prefix, payload or what fills the block: it is seen. */
START_TEST(test_every_bit)
{
    uint8_t record[1536];

    make(record, &plain);
    for (size_t bit = 0; bit < 8 * sizeof record; bit++) {
        struct media_prefix got;
        bool seen;

        record[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        seen = !media_prefix_parse(record, &got) || got.record_bytes != sizeof record ||
               !media_intact(record, sizeof record);
        ck_assert_msg(seen, "bit %zu", bit);
        record[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    ck_assert(media_intact(record, sizeof record));
}
END_TEST

static const struct {
    const char *what;
    size_t at;
    uint32_t value;
    size_t bytes;
} impossible[] = {
    {"magic", 0, 'X', 1},
    {"version", 8, 2, 2},
    {"kind 0", 10, 0, 2},
    {"kind 5", 10, 5, 2},
    {"stripe behind the last", 32, 7, 4},
    {"no stripes", 36, 0, 4},
    {"65 stripes", 36, 65, 4},
    {"stored more than any", 48, MEDIA_MAX_STORED + 1, 4},
    {"stored is not plain", 48, 999, 4},
    {"record shorter than its parts", 52, 1079, 4},
    {"record longer than any", 52, MEDIA_MAX_RECORD + 1, 4},
    {"record of 4 GiB", 52, UINT32_MAX, 4},
    {"plain more than any", 56, MEDIA_MAX_TRANSFER + 1, 4},
    {"file", 60, MEDIA_MAX_FILES, 4},
    {"offset", 68, 0x40000000, 4},
    {"flags", 72, 2, 4},
    {"reserved", 76, 1, 4},
};

START_TEST(test_impossible)
{
    uint8_t record[1536];
    struct media_prefix got;

    make(record, &plain);
    for (size_t i = 0; i < impossible[_i].bytes; i++)
        record[impossible[_i].at + i] = (uint8_t)(impossible[_i].value >> (8 * i));
    ck_assert_msg(!media_prefix_parse(record, &got), "%s", impossible[_i].what);
}
END_TEST

START_TEST(test_lengths)
{
    ck_assert_uint_eq(media_record_bytes(0, 512), 512);
    ck_assert_uint_eq(media_record_bytes(432, 512), 512);
    ck_assert_uint_eq(media_record_bytes(433, 512), 1024);
    ck_assert_uint_eq(media_record_bytes(MEDIA_MAX_TRANSFER, MEDIA_MAX_BLOCK),
                      MEDIA_MAX_TRANSFER + MEDIA_MAX_BLOCK);
    ck_assert_uint_le(media_record_bytes(MEDIA_MAX_STORED, MEDIA_MAX_BLOCK),
                      MEDIA_MAX_RECORD);
}
END_TEST

START_TEST(test_head)
{
    struct media_head in = {.created = -5, .block_bytes = 4096, .transfer_bytes = 131072},
                      out;
    uint8_t bytes[MEDIA_NAME_BYTES + 64];
    size_t n;

    snprintf(in.database, sizeof in.database, "na\xc3\xafve]");
    n = media_head_write(&in, bytes, sizeof bytes);
    ck_assert_uint_eq(n, 18 + strlen(in.database));
    ck_assert(media_head_parse(bytes, n, &out));
    ck_assert_int_eq(out.created, -5);
    ck_assert_uint_eq(out.block_bytes, 4096);
    ck_assert_uint_eq(out.transfer_bytes, 131072);
    ck_assert_str_eq(out.database, in.database);
    for (size_t k = 0; k < n; k++)
        ck_assert(!media_head_parse(bytes, k, &out));
    ck_assert(!media_head_parse(bytes, n + 1, &out));
    bytes[18] = 0;
    ck_assert(!media_head_parse(bytes, n, &out)); /* a NUL in the name */
    ck_assert_uint_eq(media_head_write(&in, bytes, 20), 0);
}
END_TEST

START_TEST(test_file_and_end)
{
    struct media_file in = {.bytes = 1234567890123, .name = "0123456789abcdef-x"}, out;
    struct media_end e = {.records = 9, .bytes = 77, .files = 3}, got;
    uint8_t bytes[MEDIA_NAME_BYTES];
    size_t n = media_file_write(&in, bytes, sizeof bytes);

    ck_assert(media_file_parse(bytes, n, &out));
    ck_assert_uint_eq(out.bytes, in.bytes);
    ck_assert_str_eq(out.name, in.name);
    bytes[7] = 0xff;
    ck_assert(!media_file_parse(bytes, n, &out)); /* longer than any file */
    n = media_end_write(&e, bytes, sizeof bytes);
    ck_assert(media_end_parse(bytes, n, &got));
    ck_assert_uint_eq(got.records, 9);
    ck_assert_uint_eq(got.bytes, 77);
    ck_assert_uint_eq(got.files, 3);
    ck_assert(!media_end_parse(bytes, n - 1, &got));
    bytes[16] = 0;
    ck_assert(!media_end_parse(bytes, n, &got)); /* no file at all */
}
END_TEST

START_TEST(test_packing)
{
    enum { N = 100000 };
    uint8_t *in = malloc(N), *packed = malloc(N), *out = malloc(N);
    size_t n;

    for (size_t i = 0; i < N; i++)
        in[i] = (uint8_t)(i / 100);
    n = media_pack(in, N, packed, N);
    ck_assert_uint_gt(n, 0);
    ck_assert_uint_lt(n, N / 10);
    ck_assert(media_unpack(packed, n, out, N));
    ck_assert_mem_eq(in, out, N);
    ck_assert(!media_unpack(packed, n, out, N - 1));
    ck_assert(!media_unpack(packed, n - 1, out, N));
    /* what does not get smaller is left as it is */
    srand(7);
    for (size_t i = 0; i < N; i++)
        in[i] = (uint8_t)rand(); /* NOLINT(cert-msc30-c,cert-msc50-cpp) */
    ck_assert_uint_eq(media_pack(in, N, packed, N), 0);
    free(in);
    free(packed);
    free(out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("media");
    TCase *tc = tcase_create("records");
    SRunner *sr;
    int failed;

    tcase_add_test(tc, test_round);
    tcase_add_test(tc, test_every_bit);
    tcase_add_loop_test(tc, test_impossible, 0, sizeof impossible / sizeof impossible[0]);
    tcase_add_test(tc, test_lengths);
    tcase_add_test(tc, test_head);
    tcase_add_test(tc, test_file_and_end);
    tcase_add_test(tc, test_packing);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
