/* Borders of ranges against the splitter: whatever it takes for the begin of a row, and
 * nothing else, may be one. */
#include "load/ranges.h"
#include "load/ranges_priv.h"
#include "load/split.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALLEST_WINDOW_BYTES = 512, MIB = 1 << 20 };

static char path[] = "ranges-XXXXXX";

static void make_path(void)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void drop_path(void)
{
    unlink(path);
    memcpy(path, "ranges-XXXXXX", sizeof path);
}

static void write_file(const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(p, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

static struct fr_load_options options_of(int64_t format, const char *field,
                                         const char *row)
{
    struct fr_load_options o;

    fr_load_options_init(&o);
    o.format = format;
    o.field_terminator = (char *)(uintptr_t)field;
    o.row_terminator = (char *)(uintptr_t)row;
    return o;
}

/* ---- wishes ---- */

static const struct {
    const char *text;
    fr_status st;
    uint64_t bytes, count;
} wish_cases[] = {
    {"1", FR_OK, 0, 1},
    {"8", FR_OK, 0, 8},
    {"1024", FR_OK, 0, 1024},
    {"1025", FR_EARG, 0, 0},
    {"0", FR_EARG, 0, 0},
    {"256M", FR_OK, 256 << 20, 0},
    {"1K", FR_OK, 1024, 0},
    {"0K", FR_EARG, 0, 0},
    {"", FR_EARG, 0, 0},
    {"-1", FR_EARG, 0, 0},
    {"4 ", FR_EARG, 0, 0},
    {"many", FR_EARG, 0, 0},
    {"99999999999", FR_EARG, 0, 0},
};

START_TEST(test_wish)
{
    struct fr_split_wish got;
    struct fr_err err;
    fr_status st = fr_split_wish_parse(wish_cases[_i].text, &got, &err);

    ck_assert_msg(st == wish_cases[_i].st, "\"%s\": status %d", wish_cases[_i].text, st);
    if (st != FR_OK)
        return;
    ck_assert_uint_eq(got.bytes, wish_cases[_i].bytes);
    ck_assert_uint_eq(got.count, wish_cases[_i].count);
}
END_TEST

/* ---- borders ---- */

/* want: where ranges begin; or, behind !, a part of the reason for one range. */
static const struct {
    const char *name;
    int64_t format;
    const char *field, *row, *in, *split, *want;
} border_cases[] = {
    {"two", FR_FORMAT_DELIMITED, NULL, NULL, "aa\nbb\ncc\ndd\n", "2", "0 6"},
    {"border on a border", FR_FORMAT_DELIMITED, NULL, NULL, "aaa\nbbb\n", "2", "0 4"},
    {"more ranges than rows", FR_FORMAT_DELIMITED, NULL, NULL, "a\nb\nc\n", "9", "0 2 4"},
    {"no last end", FR_FORMAT_DELIMITED, NULL, NULL, "a\nb\nc", "3", "0 2 4"},
    {"one row", FR_FORMAT_DELIMITED, NULL, NULL, "aaaaaaaaaaaa\n", "3", "0"},
    {"one long row", FR_FORMAT_DELIMITED, NULL, NULL, "a\nbbbbbbbbbbbbbbb\nc\n", "4",
     "0 18"},
    {"nothing", FR_FORMAT_DELIMITED, NULL, NULL, "", "3", "0"},
    {"crlf", FR_FORMAT_DELIMITED, NULL, NULL, "aa\r\nbb\r\ncc\r\ndd\r\n", "2", "0 8"},
    {"border in crlf", FR_FORMAT_DELIMITED, NULL, NULL, "aa\r\nbbb\r\nc\r\n", "2", "0 9"},
    {"explicit crlf", FR_FORMAT_DELIMITED, NULL, "\\r\\n", "a\na\r\nb\nb\r\nc\nc\r\n",
     "3", "0 5 10"},
    {"lone cr", FR_FORMAT_DELIMITED, NULL, "\\r", "a\rb\rc\rd\r", "2", "0 4"},
    {"loose inside", FR_FORMAT_DELIMITED, "|", "|\\n", "a|b|\r\nc|d|\ne|f|\r\n", "3",
     "0 6 11"},
    {"terminator over the border", FR_FORMAT_DELIMITED, "\\t", "<>#",
     "aaa<>#bbb<>#ccc<>#", "4", "0 6 12"},
    {"overlapping terminator", FR_FORMAT_DELIMITED, "\\t", "||", "aaa|||b||||c||", "2",
     "0 9"},
    {"overlap read from the last border", FR_FORMAT_DELIMITED, "\\t", "||",
     "a||||||b||c||", "7", "0 3 5 7 10"},
    {"size", FR_FORMAT_DELIMITED, NULL, NULL, "aaa\nbbb\nccc\nddd\n", "1K", "0"},
    {"auto", FR_FORMAT_AUTO, NULL, NULL, "aa\nbb\n", "2", "0 3"},
    {"csv", FR_FORMAT_CSV, NULL, NULL, "a,b\nc,d\ne,f\ng,h\n", "2", "0 8"},
    {"csv newline in quotes", FR_FORMAT_CSV, NULL, NULL, "a,\"\n\n\n\"\nc,\"d\"\n", "3",
     "0 8"},
    {"csv all in quotes", FR_FORMAT_CSV, NULL, NULL, "x\n\"\n\n\n\n\n\n\n\n\"\ny\n", "5",
     "0 13"},
    {"csv doubled quote", FR_FORMAT_CSV, NULL, NULL, "\"a\"\"\n\"\"\"\n\"b\"\n", "2",
     "0 9"},
    {"csv quote in a plain field", FR_FORMAT_CSV, NULL, NULL, "5\" x,1\n6\" y,2\n", "2",
     "0 7"},
    {"csv text behind a quote", FR_FORMAT_CSV, NULL, NULL, "\"a\"b\"\n\"c,d\n", "3",
     "!no closing quote"},
    {"csv quote behind text behind a quote", FR_FORMAT_CSV, NULL, NULL, "\"a\"b\"\nc,d\n",
     "2", "0 6"},
    {"csv never closed", FR_FORMAT_CSV, NULL, NULL, "a\nb\nc\nd\n\"e\nf\ng\n", "3",
     "!byte 8 has no closing quote"},
    {"csv closed by the last byte", FR_FORMAT_CSV, NULL, NULL, "a\nb\n\"c\"", "3",
     "0 2 4"},
    {"csv header stays whole", FR_FORMAT_CSV, NULL, NULL, "\n\r\nnumber,name\n1,a\n2,b\n",
     "9", "0 15 19"},
    {"csv multi-byte ends", FR_FORMAT_CSV, "::", "#\\n", "a::\"#\n\"#\nb::c#\n", "2",
     "0 9"},
    {"csv ends that share a byte", FR_FORMAT_CSV, ";", ";\\n", "a;\"b\"\n;c\n", "3",
     "!text behind its closing quote"},
    {"csv explicit crlf", FR_FORMAT_CSV, NULL, "\\r\\n", "a\n,b\r\nc,\"d\r\n\"\r\ne\r\n",
     "3", "0 6 15"},
    {"csv blank lines", FR_FORMAT_CSV, NULL, NULL, "\n\n\n\n", "2", "0 2"},
    {"bcp", FR_FORMAT_BCP, NULL, NULL, "a\tb\nc\td\n", "2", "!--format bcp"},
    {"fixed, no row ends", FR_FORMAT_FIXED, NULL, "none", "aabb", "2",
     "!without a terminator"},
    {"native", FR_FORMAT_NATIVE, NULL, NULL, "aabb", "2", "!--format native"},
};

static void show(const struct fr_ranges *r, char *out, size_t out_bytes)
{
    size_t at = 0;

    for (size_t i = 0; i < r->count && at < out_bytes; i++)
        at += (size_t)snprintf(out + at, out_bytes - at, "%s%lld", i == 0 ? "" : " ",
                               (long long)r->starts[i]);
}

START_TEST(test_borders)
{
    struct fr_load_options o =
        options_of(border_cases[_i].format, border_cases[_i].field, border_cases[_i].row);
    const char *want = border_cases[_i].want;
    struct fr_split_wish wish;
    struct fr_ranges got;
    struct fr_err err = {0};
    char shown[200] = "";

    write_file(border_cases[_i].in, strlen(border_cases[_i].in));
    ck_assert_int_eq(fr_split_wish_parse(border_cases[_i].split, &wish, &err), FR_OK);
    ck_assert_msg(fr_ranges_find(path, &o, &wish, &got, &err) == FR_OK, "%s: %s",
                  border_cases[_i].name, err.text);
    show(&got, shown, sizeof shown);
    if (want[0] == '!') {
        ck_assert_msg(got.count == 1 && strstr(got.why, want + 1) != NULL,
                      "%s: %s (%s), expected %s", border_cases[_i].name, shown, got.why,
                      want + 1);
        ck_assert_str_eq(got.mark, "");
    } else {
        ck_assert_msg(strcmp(shown, want) == 0, "%s: %s, expected %s (%s)",
                      border_cases[_i].name, shown, want, got.why);
        ck_assert_str_eq(got.why, "");
    }
    for (size_t i = 0; i < got.count; i++)
        ck_assert_int_eq(fr_ranges_end(&got, i),
                         i + 1 == got.count ? -1 : got.starts[i + 1]);
    fr_ranges_free(&got);
}
END_TEST

static const struct {
    const char *encoding, *in, *why;
} encoding_cases[] = {
    {NULL,
     "\xEF\xBB\xBF"
     "aa\nbb\n",
     NULL}, /* offsets begin behind the mark */
    {NULL,
     "\xFF\xFE"
     "a\0\n\0",
     "UTF-16"},
    {"Shift-JIS", "aa\nbb\n", "SHIFT-JIS"},
    {"CP1252", "aa\n\xE9\n\n", NULL},
};

START_TEST(test_encodings)
{
    struct fr_load_options o = options_of(FR_FORMAT_DELIMITED, NULL, NULL);
    struct fr_split_wish wish = {.count = 2};
    struct fr_ranges got;
    struct fr_err err = {0};

    o.encoding = (char *)(uintptr_t)encoding_cases[_i].encoding;
    write_file(encoding_cases[_i].in, 6 + (_i == 0 ? 3 : 0));
    ck_assert_int_eq(fr_ranges_find(path, &o, &wish, &got, &err), FR_OK);
    if (encoding_cases[_i].why == NULL) {
        ck_assert_uint_eq(got.count, 2);
        ck_assert_int_eq(got.starts[1], 3);
    } else {
        ck_assert_uint_eq(got.count, 1);
        ck_assert_ptr_nonnull(strcasestr(got.why, encoding_cases[_i].why));
    }
    fr_ranges_free(&got);
}
END_TEST

START_TEST(test_what_is_no_plain_file)
{
    struct fr_load_options o = options_of(FR_FORMAT_CSV, NULL, NULL);
    struct fr_split_wish wish = {.count = 2};
    struct fr_ranges got;
    struct fr_err err = {0};

    ck_assert_int_eq(fr_ranges_find("-", &o, &wish, &got, &err), FR_OK);
    ck_assert_uint_eq(got.count, 1);
    ck_assert_ptr_nonnull(strstr(got.why, "stream"));
    fr_ranges_free(&got);
    ck_assert_int_eq(fr_ranges_find("/nowhere/at/all", &o, &wish, &got, &err), FR_OK);
    ck_assert_uint_eq(got.count, 1);
    ck_assert_ptr_nonnull(strstr(got.why, "cannot be looked at"));
    fr_ranges_free(&got);
}
END_TEST

START_TEST(test_long_quoted_field)
{
    struct fr_load_options o = options_of(FR_FORMAT_CSV, NULL, NULL);
    struct fr_split_wish wish = {.count = 2};
    struct fr_ranges got;
    struct fr_err err = {0};
    char *p = malloc(3 * MIB);

    memset(p, '\n', 3 * MIB);
    memcpy(p, "a\n\"", 3);
    write_file(p, 3 * MIB);
    free(p);
    o.max_field_bytes = MIB;
    ck_assert_int_eq(fr_ranges_find(path, &o, &wish, &got, &err), FR_OK);
    ck_assert_uint_eq(got.count, 1);
    ck_assert_msg(strstr(got.why, "byte 2 is longer than 1048576") != NULL, "%s",
                  got.why);
    fr_ranges_free(&got);
}
END_TEST

START_TEST(test_too_many_ranges)
{
    struct fr_load_options o = options_of(FR_FORMAT_CSV, NULL, NULL);
    struct fr_split_wish wish = {.bytes = 1};
    struct fr_ranges got;
    struct fr_err err = {0};
    char *p = malloc(FR_RANGES_MAX);

    memset(p, '\n', FR_RANGES_MAX);
    write_file(p, FR_RANGES_MAX);
    free(p);
    ck_assert_int_eq(fr_ranges_find(path, &o, &wish, &got, &err), FR_EARG);
    ck_assert_ptr_nonnull(strstr(err.text, "larger size"));
    fr_ranges_free(&got);
}
END_TEST

START_TEST(test_mark)
{
    struct fr_load_options o = options_of(FR_FORMAT_CSV, NULL, NULL);
    struct fr_split_wish wish = {.count = 2};
    struct fr_ranges got;
    struct fr_source *s = NULL;
    struct fr_err err = {0};

    write_file("a\nb\n", 4);
    ck_assert_int_eq(fr_ranges_find(path, &o, &wish, &got, &err), FR_OK);
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &s, &err), FR_OK);
    ck_assert_int_eq(fr_ranges_check_mark(fr_source_identity(s), got.mark, &err), FR_OK);
    ck_assert_int_eq(fr_ranges_check_mark(fr_source_identity(s), NULL, &err), FR_OK);
    fr_source_close(&s);
    write_file("a\nbb\n", 5);
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &s, &err), FR_OK);
    ck_assert_int_eq(fr_ranges_check_mark(fr_source_identity(s), got.mark, &err),
                     FR_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "has changed"));
    fr_source_close(&s);
    fr_ranges_free(&got);
}
END_TEST

/* ---- against the splitter ---- */

struct rows {
    uint64_t *begins;
    size_t count;
    uint64_t first; /* end of the first row that is not blank */
    bool unclosed;
    uint64_t hash; /* of where all fields lie */
};

static uint64_t mix(uint64_t h, uint64_t value)
{
    return (h ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
}

/* Rows of n bytes that lie at `place` of the file, as the splitter has them; begins may
 * be NULL. */
static void split_rows(const struct fr_load_options *o, const char *p, size_t n,
                       size_t place, struct rows *out)
{
    static struct fr_field fields[FR_MAX_FIELDS];
    struct fr_record rec = {.fields = fields};
    struct fr_splitter *s = NULL;
    struct fr_err err;
    size_t at = 0;

    ck_assert_int_eq(fr_splitter_new(o, 3, &s, &err), FR_OK);
    while (fr_split_next(s, p + at, n - at, true, &rec) == FR_SPLIT_ROW) {
        if (out->begins != NULL)
            out->begins[out->count] = at;
        out->count++;
        at += rec.total_bytes;
        if (!rec.blank && out->first == 0)
            out->first = at;
        out->unclosed =
            out->unclosed || (rec.bad != NULL && strstr(rec.bad, "no closing") != NULL);
        for (size_t i = 0; i < rec.count && i < FR_MAX_FIELDS; i++) {
            out->hash = mix(out->hash, place + (uint64_t)(fields[i].p - p) +
                                           (fields[i].n << 32) + fields[i].quoted);
        }
        out->hash = mix(out->hash, rec.blank);
    }
    fr_splitter_free(&s);
}

static uint64_t seed = 1;
static uint64_t chance(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* Which rows begin ranges, worked out from all rows. */
static void expect(const struct rows *rows, size_t n, const struct fr_split_wish *w,
                   char *out, size_t out_bytes)
{
    size_t at = (size_t)snprintf(out, out_bytes, "0");
    uint64_t last = 0;

    for (uint64_t i = 1; !rows->unclosed && (w->count == 0 || i < w->count); i++) {
        uint64_t place =
            w->count > 0 ? n / w->count * i + n % w->count * i / w->count : i * w->bytes;
        size_t row = 0;

        if (place >= n)
            break;
        if (place < rows->first)
            place = rows->first;
        while (row < rows->count && rows->begins[row] < place)
            row++;
        if (row == rows->count)
            break;
        if (rows->begins[row] == last)
            continue;
        last = rows->begins[row];
        at +=
            (size_t)snprintf(out + at, out_bytes - at, " %llu", (unsigned long long)last);
    }
}

static const struct {
    int64_t format;
    const char *field, *row;
    const char *letters;
    const char *escape;
} shapes[] = {
    {FR_FORMAT_CSV, NULL, NULL, "ab,,\"\"\"\n\n\r", NULL},
    {FR_FORMAT_CSV, NULL, NULL, "abcdef,,,\"\n\r", NULL},
    {FR_FORMAT_CSV, ";", "\\r\\n", "ab;;\"\"\"\n\r\r\n", NULL},
    {FR_FORMAT_CSV, "+-", "|\\n", "ab+-+-\"\"\"||\n\r", NULL},
    {FR_FORMAT_CSV, "::", "##", "ab::::\"\"\"####", NULL},
    {FR_FORMAT_CSV, ";", ";\\n", "ab;;;\"\"\n\n\r", NULL},
    {FR_FORMAT_DELIMITED, NULL, NULL, "abc\t\n\r", NULL},
    {FR_FORMAT_DELIMITED, "|", "|\\n", "abc|||\n\n\r", NULL},
    {FR_FORMAT_DELIMITED, "|", "||", "abc||||\n", NULL},
    {FR_FORMAT_DELIMITED, "\\t", "\\r\\n|\\n", "a\r\r\r\n\n\n\n||", NULL},
    {FR_FORMAT_DELIMITED, "\\t", "aba", "aaabbbc", NULL},
    {FR_FORMAT_CSV, NULL, NULL, "ab,,\"\"\\\\\n\n\r", "\\"},
    {FR_FORMAT_CSV, NULL, NULL, "ab,,\"\"\"\n\n\r", "\""},
    {FR_FORMAT_CSV, "+-", "|\\n", "ab+-+-\"\"\"||\n\r##", "#"},
    {FR_FORMAT_CSV, "+-", "|-", "ab+-+-\"\"\"||\n\r##", "-"},
    {FR_FORMAT_DELIMITED, NULL, NULL, "abN\t\n\n\r\\\\\"", "\\"},
    {FR_FORMAT_DELIMITED, "|", "|\\n", "ab||\n\n\r\\\\", "\\"},
    {FR_FORMAT_DELIMITED, ",", "|\\n", "ab||\n\n\r\\\\,,", "\\"},
};

static size_t fill(char *p, size_t n, const char *letters)
{
    size_t kinds = strlen(letters);

    for (size_t i = 0; i < n; i++)
        p[i] = letters[chance(kinds)];
    return n;
}

/* Borders of windows fall in it, and 64 KiB have few enough rows to be cut at each. */
#define LONG_TEXT                                                                        \
    "a field that is long enough to have borders of windows in it, and for a file of "   \
    "64 KiB to have no more rows than can be cut at each of them in a second"

static size_t fill_csv(char *p, size_t n)
{
    static const char *const fields[] = {"",         "1",          LONG_TEXT,
                                         "\"a\"",    "\"a,\n b\"", "\"say \"\"so\"\"\"",
                                         "5\" pipe", "\"\r\n\""};
    size_t at = 0;

    while (at + 400 < n)
        at += (size_t)sprintf(p + at, "%s,%s%s", fields[chance(8)], fields[chance(8)],
                              chance(9) == 0 ? "\r\n" : "\n");
    return at;
}

START_TEST(test_agrees_with_splitter)
{
    struct fr_load_options o =
        options_of(shapes[_i].format, shapes[_i].field, shapes[_i].row);
    enum { BYTES = 4000, ROUNDS = 80, TEXT = 40000 };
    char *p = malloc(BYTES), *want = malloc(TEXT), *got = malloc(TEXT);

    o.escape = (char *)(uintptr_t)shapes[_i].escape;
    seed = 17 + (uint64_t)_i;
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = fill(p, chance(round % 2 == 0 ? 60 : BYTES), shapes[_i].letters);
        struct rows rows = {.begins = calloc(BYTES, sizeof *rows.begins)};
        struct fr_split_wish wish = {.count = 2 + chance(40)};
        struct fr_ranges r;
        struct fr_err err = {0};

        /* as files mostly are: quotes where they belong */
        if (round % 4 == 3 && o.format == FR_FORMAT_CSV && o.field_terminator == NULL)
            n = fill_csv(p, 500 + chance(BYTES - 500));
        if (round % 3 == 0)
            wish = (struct fr_split_wish){.bytes = 1 + chance(300)};
        write_file(p, n);
        split_rows(&o, p, n, 0, &rows);
        expect(&rows, n, &wish, want, TEXT);
        ck_assert_int_eq(
            ranges_find_in_windows(path, &o, &wish, SMALLEST_WINDOW_BYTES, &r, &err),
            FR_OK);
        /* a quote that never closes means one range where borders are looked for beyond
         * it */
        if (rows.unclosed && r.why[0] == '\0')
            rows.unclosed = false, expect(&rows, n, &wish, want, TEXT);
        got[0] = '\0';
        show(&r, got, TEXT);
        ck_assert_msg(strcmp(got, want) == 0,
                      "shape %d, round %d, %zu bytes, count %llu, bytes %llu:\n%s\n"
                      "expected\n%s\n(%s)\n%.*s",
                      _i, round, n, (unsigned long long)wish.count,
                      (unsigned long long)wish.bytes, got, want, r.why, (int)n, p);
        fr_ranges_free(&r);
        free(rows.begins);
    }
    free(p);
    free(want);
    free(got);
}
END_TEST

/* ---- the parts are the whole ---- */

static void split_range(const struct fr_load_options *o, struct fr_source *s,
                        int64_t from, int64_t to, char *buffer, struct rows *out)
{
    struct fr_err err;
    size_t n = 0, got = 1;

    fr_source_end_at(s, to >= 0 ? (uint64_t)to : UINT64_MAX);
    ck_assert_int_eq(fr_source_seek(s, (uint64_t)from, &err), FR_OK);
    while (got > 0) {
        ck_assert_int_eq(fr_source_read(s, buffer + n, 100000, &got, &err), FR_OK);
        n += got;
    }
    if (to >= 0)
        ck_assert_int_eq((int64_t)n, to - from);
    split_rows(o, buffer, n, (size_t)from, out);
}

/* Cut at one border after the other; `every`: at each, else at random ones. */
static void check_parts(size_t bytes, size_t cuts)
{
    struct fr_load_options o = options_of(FR_FORMAT_CSV, NULL, NULL);
    char *p = malloc(bytes), *buffer = malloc(bytes + 200000);
    struct rows whole = {.begins = calloc(bytes, sizeof *whole.begins)};
    struct fr_source *source = NULL;
    struct fr_err err = {0};
    size_t n = fill_csv(p, bytes);

    write_file(p, n);
    split_rows(&o, p, n, 0, &whole);
    ck_assert(!whole.unclosed);
    ck_assert_int_eq(fr_source_open(path, NULL, NULL, &source, &err), FR_OK);
    for (size_t i = 1; i < (cuts == 0 ? whole.count : cuts); i++) {
        size_t row = cuts == 0 ? i : 1 + chance(whole.count - 1);
        struct rows parts = {0};
        struct fr_ranges r;
        /* of this size, the first border wanted is this row's begin */
        struct fr_split_wish wish = {.bytes = whole.begins[row]};

        ck_assert_int_eq(ranges_find_in_windows(path, &o, &wish, 16 << 10, &r, &err),
                         FR_OK);
        ck_assert_uint_gt(r.count, 1);
        if (whole.begins[row] >= whole.first)
            ck_assert_uint_eq((uint64_t)r.starts[1], whole.begins[row]);
        r.count = r.count > 2 ? 2 : r.count;
        for (size_t k = 0; k < r.count; k++)
            split_range(&o, source, r.starts[k], fr_ranges_end(&r, k), buffer, &parts);
        ck_assert_uint_eq(parts.count, whole.count);
        ck_assert_uint_eq(parts.hash, whole.hash);
        fr_ranges_free(&r);
    }
    fr_source_close(&source);
    free(whole.begins);
    free(buffer);
    free(p);
}

START_TEST(test_every_border_of_64_kib)
{
    check_parts(64 << 10, 0);
}
END_TEST

START_TEST(test_200_borders_of_2_mib)
{
    check_parts(2 * MIB, 201);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranges");
    TCase *t = tcase_create("ranges");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, make_path, drop_path);
    tcase_add_loop_test(t, test_wish, 0, COUNT_OF(wish_cases));
    tcase_add_loop_test(t, test_borders, 0, COUNT_OF(border_cases));
    tcase_add_loop_test(t, test_encodings, 0, COUNT_OF(encoding_cases));
    tcase_add_test(t, test_what_is_no_plain_file);
    tcase_add_test(t, test_long_quoted_field);
    tcase_add_test(t, test_too_many_ranges);
    tcase_add_test(t, test_mark);
    tcase_add_loop_test(t, test_agrees_with_splitter, 0, COUNT_OF(shapes));
    tcase_add_test(t, test_every_border_of_64_kib);
    tcase_add_test(t, test_200_borders_of_2_mib);
    suite_add_tcase(s, t);
    return suite_run(s);
}
