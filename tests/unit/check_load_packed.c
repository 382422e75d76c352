/* Packed sources: nothing that is damaged, cut off or followed by something else passes
 * for a whole file. */
#include "load/source.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BYTES(text) (text), sizeof(text) - 1

enum { MAX_BYTES = 256, SHORTEST_KNOWN_BYTES = 10 };

/* "a,b\n" as the formats' own tools pack it. */
static const struct {
    const char *name;
    const char *bytes;
    size_t n;
    bool has_checksum;
} packed[] = {
    {"gzip",
     BYTES("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\xd4\x49\xe2\x02\x00\xc5\x10\x97"
           "\x24\x04\x00\x00\x00"),
     true},
    {"bzip2",
     BYTES("\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x03\x43\x3a\xe0\x00\x00\x01\x51\x00"
           "\x00\x10\x00\x04\x30\x00\x20\x00\x21\x9a\x68\x33\x4d\x17\x3c\x5d\xc9\x14\xe1"
           "\x42\x40\x0d\x0c\xeb\x80"),
     true},
    {"xz",
     BYTES("\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00"
           "\x00\x74\x2f\xe5\xa3\x01\x00\x03\x61\x2c\x62\x0a\x00\x0f\x3f\x2a\xec\xc5\xdd"
           "\x33\x16\x00\x01\x1c\x04\x6f\x2c\x9c\xc1\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00"
           "\x04\x59\x5a"),
     true},
    {"zstd",
     BYTES("\x28\xb5\x2f\xfd\x04\x58\x21\x00\x00\x61\x2c\x62\x0a\x6d\x6b\x13\x32"), true},
    {"lz4",
     BYTES("\x04\x22\x4d\x18\x64\x40\xa7\x04\x00\x00\x80\x61\x2c\x62\x0a\x00\x00\x00\x00"
           "\x4a\x41\x52\x77"),
     true},
    {"lz4 without a checksum",
     BYTES("\x04\x22\x4d\x18\x60\x40\x82\x04\x00\x00\x80\x61\x2c\x62\x0a\x00\x00\x00"
           "\x00"),
     false},
};

static char path[] = "/tmp/fullrack-check-packed-XXXXXX";

/* Reads a file of these bytes; FR_OK: text holds all of it. */
static fr_status read_bytes(const char *bytes, size_t n, char text[MAX_BYTES],
                            struct fr_err *err)
{
    struct fr_source *s = NULL;
    size_t at = 0, more = 1;
    fr_status st;
    int fd;

    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
    close(fd);
    st = fr_source_open(path, NULL, NULL, &s, err);
    while (st == FR_OK && more > 0) {
        st = fr_source_read(s, text + at, MAX_BYTES - 1 - at, &more, err);
        at += st == FR_OK ? more : 0;
    }
    text[at] = '\0';
    fr_source_close(&s);
    unlink(path);
    return st;
}

START_TEST(test_whole_and_repeated)
{
    struct fr_err err = {.text = ""};
    char bytes[2 * MAX_BYTES], text[MAX_BYTES];

    memcpy(bytes, packed[_i].bytes, packed[_i].n);
    memcpy(bytes + packed[_i].n, packed[_i].bytes, packed[_i].n);
    ck_assert_msg(read_bytes(bytes, packed[_i].n, text, &err) == FR_OK, "%s: %s",
                  packed[_i].name, err.text);
    ck_assert_str_eq(text, "a,b\n");
    ck_assert_msg(read_bytes(bytes, 2 * packed[_i].n, text, &err) == FR_OK, "%s: %s",
                  packed[_i].name, err.text);
    ck_assert_str_eq(text, "a,b\na,b\n");
}
END_TEST

START_TEST(test_cut_off)
{
    char text[MAX_BYTES];

    for (size_t n = SHORTEST_KNOWN_BYTES; n < packed[_i].n; n++) {
        struct fr_err err = {.text = ""};
        fr_status st = read_bytes(packed[_i].bytes, n, text, &err);

        ck_assert_msg(st == FR_EIO, "%s cut to %zu bytes: %s", packed[_i].name, n,
                      fr_status_name(st));
        ck_assert_msg(strstr(err.text, "byte ") != NULL, "%s", err.text);
    }
}
END_TEST

/* Also where the file's second part is cut within its first bytes. */
START_TEST(test_something_behind)
{
    const char *const tails[] = {"garbage, and more of it", packed[0].bytes,
                                 packed[4].bytes, packed[1].bytes};
    char bytes[2 * MAX_BYTES], text[MAX_BYTES];

    memcpy(bytes, packed[_i].bytes, packed[_i].n);
    for (size_t t = 0; t < COUNT_OF(tails); t++)
        for (size_t n = 1; n <= 9; n++) {
            struct fr_err err = {.text = ""};
            fr_status st;

            memcpy(bytes + packed[_i].n, tails[t], n);
            st = read_bytes(bytes, packed[_i].n + n, text, &err);
            ck_assert_msg(st == FR_EIO, "%zu bytes of %zu behind %s: %s", n, t,
                          packed[_i].name, fr_status_name(st));
            ck_assert_msg(strstr(err.text, "byte ") != NULL, "%s", err.text);
        }
}
END_TEST

START_TEST(test_where_something_begins)
{
    static const int with_place[] = {0, 1, 4, 5};
    int i = with_place[_i];
    struct fr_err err = {.text = ""};
    char bytes[2 * MAX_BYTES], text[MAX_BYTES], want[40];

    memcpy(bytes, packed[i].bytes, packed[i].n);
    memcpy(bytes + packed[i].n, "garbage", 7);
    snprintf(want, sizeof want, "byte %zu of the file, behind", packed[i].n);
    for (size_t n = 1; n <= 7; n++) {
        ck_assert_int_eq(read_bytes(bytes, packed[i].n + n, text, &err), FR_EIO);
        ck_assert_msg(strstr(err.text, want) != NULL, "%s: %s", packed[i].name, err.text);
    }
}
END_TEST

/* A damaged bit may lie where nothing depends on it (gzip's time); what is read is right
 * or an error. */
START_TEST(test_damaged)
{
    char bytes[MAX_BYTES], text[MAX_BYTES];

    if (!packed[_i].has_checksum)
        return;
    for (size_t bit = SHORTEST_KNOWN_BYTES * 8; bit < packed[_i].n * 8; bit++) {
        struct fr_err err = {.text = ""};
        fr_status st;

        memcpy(bytes, packed[_i].bytes, packed[_i].n);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        st = read_bytes(bytes, packed[_i].n, text, &err);
        ck_assert_msg(st == FR_EIO || (st == FR_OK && strcmp(text, "a,b\n") == 0),
                      "%s with bit %zu turned: %s, \"%s\"", packed[_i].name, bit,
                      fr_status_name(st), text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("packed");
    TCase *tc = tcase_create("packed");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_whole_and_repeated, 0, COUNT_OF(packed));
    tcase_add_loop_test(tc, test_cut_off, 0, COUNT_OF(packed));
    tcase_add_loop_test(tc, test_something_behind, 0, COUNT_OF(packed));
    tcase_add_loop_test(tc, test_where_something_begins, 0, 4);
    tcase_add_loop_test(tc, test_damaged, 0, COUNT_OF(packed));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
