/* Stripes over devices, the statements of a backup, and what the server says of it. */
#include "db/backup.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    fr_status st;
    const char *dir;
    double speed;
} device_cases[] = {
    {"/b1", FR_OK, "/b1", 1},
    {"/b1/", FR_OK, "/b1", 1},
    {"/", FR_OK, "/", 1},
    {"/b1=2.5", FR_OK, "/b1", 2.5},
    {"/a=b=3", FR_OK, "/a=b", 3},
    {"C:\\backup\\=400", FR_OK, "C:\\backup", 400},
    {"https://a.blob.core.windows.net/c", FR_OK, "https://a.blob.core.windows.net/c", 1},
    {"", FR_EARG, "", 0},
    {"=3", FR_EARG, "", 0},
    {"/b1=", FR_EARG, "", 0},
    {"/b1=0", FR_EARG, "", 0},
    {"/b1=-1", FR_EARG, "", 0},
    {"/b1=nan", FR_EARG, "", 0},
    {"/b1=inf", FR_EARG, "", 0},
    {"/b1=2x", FR_EARG, "", 0},
    {"/b1=0x10", FR_EARG, "", 0},
    {"/b1= 1", FR_EARG, "", 0},
    {"/b1=1000000001", FR_EARG, "", 0},
};

START_TEST(test_device)
{
    struct fr_backup_device d;
    struct fr_err err = {0};
    fr_status st = fr_backup_device_parse(device_cases[_i].text, &d, &err);

    ck_assert_msg(st == device_cases[_i].st, "%s: %s", device_cases[_i].text, err.text);
    if (st != FR_OK)
        return;
    ck_assert_str_eq(d.dir, device_cases[_i].dir);
    ck_assert(fabs(d.speed - device_cases[_i].speed) < 1e-9);
}
END_TEST

static const struct {
    size_t n;
    double speeds[4];
    unsigned stripes; /* asked for */
    fr_status st;
    unsigned want[4];
} spread_cases[] = {
    {1, {1}, 0, FR_OK, {1}},
    {1, {1}, 64, FR_OK, {64}},
    {3, {1, 1, 1}, 0, FR_OK, {1, 1, 1}},
    {3, {1, 1, 1}, 7, FR_OK, {3, 2, 2}},
    {3, {1, 2, 4}, 0, FR_OK, {1, 2, 4}},
    {3, {1, 2, 4}, 7, FR_OK, {1, 2, 4}},
    {3, {1, 2, 4}, 14, FR_OK, {2, 4, 8}},
    {3, {100, 200, 400}, 3, FR_OK, {1, 1, 1}},
    {2, {500, 1500}, 0, FR_OK, {1, 3}},
    {2, {1, 1000}, 0, FR_OK, {1, 63}},
    {2, {2, 3}, 0, FR_OK, {1, 2}}, /* 2.5 stripes, rounded */
    {2, {2, 3}, 5, FR_OK, {2, 3}},
    {4, {1, 1, 1, 5}, 8, FR_OK, {1, 1, 1, 5}},
    {3, {1, 1, 1}, 2, FR_EARG, {0}},
    {3, {1, 1, 1}, 65, FR_EARG, {0}},
    {0, {0}, 0, FR_EARG, {0}},
};

START_TEST(test_spread)
{
    struct fr_backup_device d[4];
    struct fr_err err = {0};
    fr_status st;

    memset(d, 0, sizeof d);
    for (size_t i = 0; i < 4; i++)
        d[i].speed = spread_cases[_i].speeds[i];
    st = fr_backup_distribute(d, spread_cases[_i].n, spread_cases[_i].stripes, &err);
    ck_assert_msg(st == spread_cases[_i].st, "case %d: %s", _i, err.text);
    for (size_t i = 0; st == FR_OK && i < spread_cases[_i].n; i++)
        ck_assert_msg(d[i].stripes == spread_cases[_i].want[i],
                      "case %d: %u stripes on device %zu", _i, d[i].stripes, i);
}
END_TEST

/* Each stripe gets as much: a device's time is its stripes over its speed, and no stripe
 * could be moved so that the last device would end earlier. */
START_TEST(test_nothing_ends_earlier)
{
    for (unsigned total = 5; total <= FR_BACKUP_MAX_STRIPES; total++) {
        struct fr_backup_device d[5] = {
            {.speed = 3}, {.speed = 7}, {.speed = 1}, {.speed = 12}, {.speed = 4.5}};
        struct fr_err err = {0};
        unsigned sum = 0;
        size_t last = 0;

        ck_assert_int_eq(fr_backup_distribute(d, 5, total, &err), FR_OK);
        for (size_t i = 0; i < 5; i++) {
            sum += d[i].stripes;
            ck_assert_uint_ge(d[i].stripes, 1);
            if (d[i].stripes / d[i].speed > d[last].stripes / d[last].speed)
                last = i;
        }
        ck_assert_uint_eq(sum, total);
        for (size_t i = 0; d[last].stripes > 1 && i < 5; i++)
            ck_assert_msg(
                (d[i].stripes + 1) / d[i].speed >= d[last].stripes / d[last].speed - 1e-9,
                "%u stripes: one of device %zu goes better to %zu", total, last, i);
    }
}
END_TEST

/* ---- statements: as they stand in sqlgrammar/backup.sql, which a grammar parses ---- */

static void add(struct fr_buf *out, const struct fr_backup *b)
{
    struct fr_err err = {0};

    ck_assert_msg(fr_backup_sql(b, out, &err) == FR_OK, "%s", err.text);
    fr_buf_add_str(out, "GO\n");
}

static char *read_file(const char *name)
{
    const char *source = getenv("srcdir");
    char path[4096], *text = calloc(1, 65536);
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", source == NULL ? ".." : source, name);
    f = fopen(path, "re");
    ck_assert_msg(f != NULL, "%s", path);
    ck_assert_uint_gt(fread(text, 1, 65535, f), 0);
    fclose(f);
    return text;
}

START_TEST(test_statements)
{
    struct fr_backup_device disks[] = {{.dir = "/b1", .speed = 1, .stripes = 1},
                                       {.dir = "/it's", .speed = 2, .stripes = 2}};
    struct fr_backup_device windows = {.dir = "D:\\backup", .speed = 1, .stripes = 1};
    struct fr_backup_device url = {
        .dir = "https://acct.blob.core.windows.net/c", .speed = 1, .stripes = 2};
    struct fr_backup b = {
        .database = "sales", .name = "sales.1", .devices = disks, .device_count = 2};
    char *want = read_file("tests/sqlgrammar/backup.sql");
    struct fr_err err = {0};
    struct fr_buf got;

    fr_buf_init(&got, FR_BACKUP_SQL_BYTES);
    add(&got, &b);
    b.database = "a]b";
    b.compression = FR_BACKUP_COMPRESSED;
    b.buffer_count = 50;
    b.transfer_bytes = 4194304;
    b.block_bytes = 65536;
    b.copy_only = true;
    b.devices = &windows;
    b.device_count = 1;
    add(&got, &b);
    b = (struct fr_backup){.database = "sales",
                           .name = "x",
                           .devices = &url,
                           .device_count = 1,
                           .compression = FR_BACKUP_PLAIN,
                           .copy_only = true};
    add(&got, &b);
    ck_assert_str_eq(fr_buf_text(&got), want);
    /* that grammar has no RESTORE */
    fr_buf_reset(&got);
    ck_assert_int_eq(fr_backup_verify_sql(&b, &got, &err), FR_OK);
    ck_assert_str_eq(fr_buf_text(&got),
                     "RESTORE VERIFYONLY\n"
                     "FROM URL = N'https://acct.blob.core.windows.net/c/x.1.bak',\n"
                     "   URL = N'https://acct.blob.core.windows.net/c/x.2.bak'\n"
                     "WITH CHECKSUM;\n");
    fr_buf_free(&got);
    free(want);
}
END_TEST

START_TEST(test_refused)
{
    struct fr_backup_device d[] = {{.dir = "/b1", .speed = 1, .stripes = 1},
                                   {.dir = "https://x/y", .speed = 1, .stripes = 1}};
    struct fr_backup b = {
        .database = "sales", .name = "n", .devices = d, .device_count = 2};
    struct fr_err err = {0};
    struct fr_buf out;
    char long_name[700], file[FR_BACKUP_NAME_BYTES + 1];

    fr_buf_init(&out, FR_BACKUP_SQL_BYTES);
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_EARG); /* folders and URLs */
    b.device_count = 1;
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_OK);
    b.name = "../n";
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_EARG);
    ck_assert_int_eq(fr_backup_verify_sql(&b, &out, &err), FR_EARG);
    b.name = "";
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_EARG);
    memset(file, 'n', sizeof file);
    file[FR_BACKUP_NAME_BYTES] = '\0';
    b.name = file;
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_EARG);
    file[FR_BACKUP_NAME_BYTES - 1] = '\0';
    fr_buf_reset(&out);
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_OK);
    b.name = "n";
    memset(long_name, ']', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    b.database = long_name;
    ck_assert_int_eq(fr_backup_sql(&b, &out, &err), FR_EARG);
    fr_buf_free(&out);
}
END_TEST

static const struct {
    const char *text;
    bool found;
    int64_t pages, ms;
    double rate;
} message_cases[] = {
    {"BACKUP DATABASE successfully processed 584 pages in 0.041 seconds (109.257 "
     "MB/sec).",
     true, 584, 41, 109.257},
    {"BACKUP DATABASE successfully processed 123456789012 pages in 86400.000 seconds "
     "(11162.820 MB/sec).",
     true, 123456789012, 86400000, 11162.82},
    {"BACKUP DATABASE successfully processed 0 pages in 0.000 seconds (0.000 MB/sec).",
     true, 0, 0, 0},
    {"RESTORE DATABASE successfully processed 584 pages in 0.041 seconds (109.257 "
     "MB/sec).",
     false, 0, 0, 0},
    {"BACKUP DATABASE successfully processed x pages in 0.041 seconds (1.000 MB/sec).",
     false, 0, 0, 0},
    {"BACKUP DATABASE successfully processed 5 pages in 0.041 seconds", false, 0, 0, 0},
    {"BACKUP DATABASE successfully processed 99999999999999999999 pages in 0.041 seconds "
     "(1.000 MB/sec).",
     false, 0, 0, 0},
    {"BACKUP DATABASE successfully processed 9223372036854775807 pages in 0.041 seconds "
     "(1.000 MB/sec).",
     false, 0, 0, 0},
    {"BACKUP DATABASE successfully processed -5 pages in 0.041 seconds (1.000 MB/sec).",
     false, 0, 0, 0},
    {"10 percent processed.", false, 0, 0, 0},
    {"", false, 0, 0, 0},
};

START_TEST(test_message)
{
    struct fr_backup_figures f = {0};

    fr_backup_take_message(&f, message_cases[_i].text);
    ck_assert_msg(f.found == message_cases[_i].found, "%s", message_cases[_i].text);
    ck_assert_int_eq(f.pages, message_cases[_i].pages);
    ck_assert_int_eq(f.bytes, message_cases[_i].pages * 8192);
    ck_assert_int_eq(f.duration_ms, message_cases[_i].ms);
    ck_assert(fabs(f.mb_per_s - message_cases[_i].rate) < 1e-6);
    ck_assert(!f.verified);
    fr_backup_take_message(&f, "The backup set on file 1 is valid.");
    ck_assert(f.verified);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("backup");
    TCase *tc = tcase_create("backup");
    SRunner *sr;
    int failed;

    tcase_add_loop_test(tc, test_device, 0, sizeof device_cases / sizeof device_cases[0]);
    tcase_add_loop_test(tc, test_spread, 0, sizeof spread_cases / sizeof spread_cases[0]);
    tcase_add_test(tc, test_nothing_ends_earlier);
    tcase_add_test(tc, test_statements);
    tcase_add_test(tc, test_refused);
    tcase_add_loop_test(tc, test_message, 0,
                        sizeof message_cases / sizeof message_cases[0]);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
