/* Sources and the reader: what the loader sees of a file, however it is packed and
 * however long its rows are. */
#include "load/reader.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/fullrack-check-source-XXXXXX";

static void write_file(const void *bytes, size_t n)
{
    int fd;

    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

/* gzip of "a,b\n" */
#define GZIP_AB                                                                          \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\xd4\x49\xe2\x02\x00\xc5\x10\x97\x24"   \
    "\x04\x00\x00\x00"
#define BYTES(text) (text), sizeof(text) - 1

static const struct {
    const char *name;
    const char *bytes;
    size_t n;
    const char *encoding;
    const char *want;
    bool plain;
} source_cases[] = {
    {"plain", BYTES("a,b\n"), NULL, "a,b\n", true},
    {"empty", BYTES(""), NULL, "", true},
    {"one byte", BYTES("x"), NULL, "x", true},
    {"utf-8 with a mark",
     BYTES("\xEF\xBB\xBF"
           "a"),
     NULL, "a", true},
    {"only a mark", BYTES("\xEF\xBB\xBF"), NULL, "", true},
    {"utf-16 by its mark", BYTES("\xFF\xFE\x16\x04,\0"), NULL, "\xD0\x96,", false},
    {"utf-16 big endian", BYTES("\xFE\xFF\x04\x16"), NULL, "\xD0\x96", false},
    {"the mark overrules the option", BYTES("\xEF\xBB\xBF\xC3\xA9"), "CP1252", "\xC3\xA9",
     true},
    {"a byte a character is left to the plan", BYTES("\xE9\x80"), "CP1252", "\xE9\x80",
     true},
    {"but not where a mark may follow", BYTES("\xE0\xE1"), "CP1255", "\xD7\x90\xD7\x91",
     false},
    {"nor where it is no ASCII", BYTES("\xC1\xF0\x6B"), "IBM037", "A0,", false},
    {"utf-16 without a mark", BYTES("a\0b\0"), "UTF-16", "ab", false},
    {"utf-32 by its mark", BYTES("\xFF\xFE\0\0\x16\x04\0\0"), NULL, "\xD0\x96", false},
    {"utf-32 big endian", BYTES("\0\0\xFE\xFF\0\0\x04\x16"), NULL, "\xD0\x96", false},
    {"utf-32 without a mark", BYTES("\x16\x04\0\0"), "UTF-32", "\xD0\x96", false},
    {"only a mark of utf-32", BYTES("\xFF\xFE\0\0"), NULL, "", false},
    {"only a mark of utf-16", BYTES("\xFF\xFE"), NULL, "", false},
    {"the mark overrules the byte order", BYTES("\xFE\xFF\0a"), "UTF-16LE", "a", false},
    {"a mark inside is text", BYTES("a\0\xFF\xFE"), "UTF-16LE", "a\xEF\xBB\xBF", false},
    {"ucs-2 is utf-16", BYTES("\x3D\xD8\x00\xDE"), "UCS-2", "\xF0\x9F\x98\x80", false},
    {"gzip", BYTES(GZIP_AB), NULL, "a,b\n", false},
};

/* A NUL may follow the mark of UTF-16 where UTF-16 was asked for; it is kept. */
START_TEST(test_nul_in_utf16)
{
    struct fr_source *s = NULL;
    struct fr_err err = {.text = ""};
    char got[10];
    size_t n;

    write_file("\xFF\xFE\0\0a", 6);
    ck_assert_msg(fr_source_open(path, "UTF-16", NULL, &s, &err) == FR_OK, "%s",
                  err.text);
    ck_assert_int_eq(fr_source_read(s, got, sizeof got, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_mem_eq(got, "\0a", 2);
    fr_source_close(&s);
    unlink(path);
}
END_TEST

START_TEST(test_source)
{
    struct fr_source *s = NULL;
    struct fr_err err = {.text = ""};
    char got[100];
    size_t n = 0, more;

    write_file(source_cases[_i].bytes, source_cases[_i].n);
    ck_assert_msg(fr_source_open(path, source_cases[_i].encoding, NULL, &s, &err) ==
                      FR_OK,
                  "%s", err.text);
    ck_assert(fr_source_identity(s)->can_reread);
    ck_assert_int_eq(fr_source_identity(s)->is_plain, source_cases[_i].plain);
    ck_assert_int_eq(fr_source_identity(s)->bytes, (int64_t)source_cases[_i].n);
    do {
        ck_assert_msg(fr_source_read(s, got + n, 4, &more, &err) == FR_OK, "%s",
                      err.text);
        n += more;
    } while (more > 0);
    ck_assert_uint_eq(n, strlen(source_cases[_i].want));
    ck_assert_mem_eq(got, source_cases[_i].want, n);
    fr_source_close(&s);
    unlink(path);
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
    const char *encoding;
    fr_status st;
    const char *word;
} bad_cases[] = {
    {BYTES("a\0b"), "UTF-16", FR_EDATA,
     "byte 2 of the file: 62: the text ends in the middle"},
    {BYTES("a\0\x00\xD8"), "UTF-16", FR_EDATA,
     "byte 2 of the file: 00 d8: the text ends"},
    {BYTES("\xFF\xFE"
           "a\0\x00\xD8"
           "a\0"),
     NULL, FR_EDATA, "byte 4 of the file: 00 d8 61 00: no character of UTF-16LE"},
    {BYTES("\x00\xDC"
           "a\0"),
     "UTF-16", FR_EDATA, "byte 0 of the file: 00 dc"},
    {BYTES("a\0\0\0\xFF\xFF\x11\0"), "UTF-32", FR_EDATA,
     "byte 4 of the file: ff ff 11 00"},
    {BYTES("a\0\0\0\0"), "UTF-32", FR_EDATA, "byte 4 of the file: 00: the text ends"},
    {BYTES("ab\x81 "), "SHIFT_JIS", FR_EDATA, "byte 2 of"},
    {BYTES("ab\xFF"), "EUC-JP", FR_EDATA,
     "byte 2 of the file: ff: no character of EUC-JP"},
    {BYTES("x"), "no-such-encoding", FR_EARG, "no-such-encoding"},
    {BYTES("x"), "CP1252//IGNORE", FR_EARG, "plain name"},
};

START_TEST(test_bad_source)
{
    struct fr_source *s = NULL;
    struct fr_err err = {.text = ""};
    char got[100];
    size_t n = 1;
    fr_status st;

    write_file(bad_cases[_i].bytes, bad_cases[_i].n);
    st = fr_source_open(path, bad_cases[_i].encoding, NULL, &s, &err);
    while (st == FR_OK && n > 0)
        st = fr_source_read(s, got, sizeof got, &n, &err);
    ck_assert_msg(st == bad_cases[_i].st, "%s: %s", fr_status_name(st), err.text);
    ck_assert_msg(strstr(err.text, bad_cases[_i].word) != NULL, "%s", err.text);
    fr_source_close(&s);
    unlink(path);
}
END_TEST

START_TEST(test_missing_file)
{
    struct fr_source *s = NULL;
    struct fr_err err;

    ck_assert_int_eq(fr_source_open("/nonexistent/file", NULL, NULL, &s, &err), FR_EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "/nonexistent/file"));
    ck_assert_int_eq(fr_source_open("/tmp", NULL, NULL, &s, &err), FR_EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "folder"));
    ck_assert_ptr_null(s);
}
END_TEST

START_TEST(test_skip)
{
    static const char *const inputs[] = {"0123456789", "\xEF\xBB\xBF"
                                                       "0123456789"};
    struct fr_source *s = NULL;
    struct fr_err err;
    char got[20];
    size_t n;

    write_file(inputs[_i], strlen(inputs[_i]));
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &s, &err), FR_OK);
    ck_assert_int_eq(fr_source_skip_to(s, 7, &err), FR_OK);
    ck_assert_int_eq(fr_source_read(s, got, sizeof got, &n, &err), FR_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(got, "789", 3);
    fr_source_close(&s);
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &s, &err), FR_OK);
    ck_assert_int_eq(fr_source_skip_to(s, 11, &err), FR_EDATA);
    fr_source_close(&s);
    unlink(path);
}
END_TEST

/* Rows of these lengths cross the borders of blocks in every way: short, longer than the
 * headroom, than a block. */
static const size_t row_lengths[] = {100, 70000, 1 << 20, 3 << 20};

START_TEST(test_reader_keeps_every_byte)
{
    size_t length = row_lengths[_i], total = 9 << 20, seen = 0;
    unsigned char *bytes = malloc(total);
    struct fr_source *s = NULL;
    struct fr_reader *r = NULL;
    struct fr_err err = {.text = ""};
    struct fr_window *w;

    for (size_t i = 0; i < total; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    write_file(bytes, total);
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &s, &err), FR_OK);
    ck_assert_int_eq(fr_reader_start(&s, 16 << 20, &r, &err), FR_OK);
    ck_assert_ptr_null(s);
    w = fr_reader_window(r);
    for (;;) {
        size_t n;

        while (w->n < length && !w->at_end)
            ck_assert_msg(fr_reader_more(r, &err) == FR_OK, "%s", err.text);
        n = w->n < length ? w->n : length;
        if (n == 0)
            break;
        if (memcmp(w->p, bytes + seen, n) != 0)
            ck_abort_msg("bytes from %zu on differ", seen);
        fr_reader_consume(r, n);
        seen += n;
    }
    ck_assert_uint_eq(seen, total);
    fr_reader_stop(&r);
    free(bytes);
    unlink(path);
}
END_TEST

START_TEST(test_reader_refuses_a_row_without_end)
{
    struct fr_source *s = NULL;
    struct fr_reader *r = NULL;
    struct fr_err err = {.text = ""};
    char *bytes = calloc(1, 4 << 20);
    fr_status st = FR_OK;

    write_file(bytes, 4 << 20);
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &s, &err), FR_OK);
    ck_assert_int_eq(fr_reader_start(&s, 1 << 20, &r, &err), FR_OK);
    for (int i = 0; i < 10 && st == FR_OK; i++)
        st = fr_reader_more(r, &err);
    ck_assert_int_eq(st, FR_EDATA);
    fr_reader_stop(&r);
    free(bytes);
    unlink(path);
}
END_TEST

START_TEST(test_byte_table)
{
    static const char *const others[] = {"UTF-8",       "UTF-16LE", "SHIFT_JIS", "CP1258",
                                         "ISO-2022-JP", "UTF-7",    "GB18030"};
    struct fr_byte_table *t = NULL;
    struct fr_err err;
    char out[64];
    size_t n;

    ck_assert_int_eq(fr_byte_table_open("CP1252", &t, &err), FR_OK);
    ck_assert(fr_byte_table_has_ascii(t));
    ck_assert_uint_eq(fr_byte_table_decode(t, "a\xE9\x80\x81z", 5, out, &n), 3);
    ck_assert_uint_eq(n, 6);
    ck_assert_mem_eq(out, "a\xC3\xA9\xE2\x82\xAC", 6);
    ck_assert(fr_byte_table_encode(t, "\\n\xC2\xA7\xE2\x82\xAC", out));
    ck_assert_str_eq(out, "\\n\xA7\x80");
    ck_assert(!fr_byte_table_encode(t, "\xC4\x8D", out));
    fr_byte_table_free(&t);
    ck_assert_int_eq(fr_byte_table_open("IBM037", &t, &err), FR_OK);
    ck_assert(!fr_byte_table_has_ascii(t));
    fr_byte_table_free(&t);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(fr_byte_table_open(others[i], &t, &err) == FR_EMPTY, "%s",
                      others[i]);
    ck_assert_int_eq(fr_byte_table_open("no such thing", &t, &err), FR_EARG);
    ck_assert_ptr_null(t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("source");
    TCase *tc = tcase_create("source");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, test_source, 0, COUNT_OF(source_cases));
    tcase_add_test(tc, test_nul_in_utf16);
    tcase_add_loop_test(tc, test_bad_source, 0, COUNT_OF(bad_cases));
    tcase_add_test(tc, test_missing_file);
    tcase_add_test(tc, test_byte_table);
    tcase_add_loop_test(tc, test_skip, 0, 2);
    tcase_add_loop_test(tc, test_reader_keeps_every_byte, 0, COUNT_OF(row_lengths));
    tcase_add_test(tc, test_reader_refuses_a_row_without_end);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
