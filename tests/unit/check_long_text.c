/* A long text in pieces is the text converted in one go, wherever its pieces end. */
#include "load/long_text.h"
#include "support/suite.h"

#include <string.h>

enum { TEXT_BYTES = 300000, MOST_BYTES = 2 * TEXT_BYTES, ROUNDS = 12 };

struct way {
    struct fr_load_options options;
    struct fr_splitter *splitter;
    struct fr_column column;
    struct fr_converter converter;
    struct fr_long_text *text;
};

static void open_way(struct way *w, enum fr_type type, const char *escape)
{
    struct fr_err err;

    memset(w, 0, sizeof *w);
    fr_load_options_init(&w->options);
    w->options.format = FR_FORMAT_CSV;
    if (escape != NULL)
        w->options.escape = strdup(escape);
    w->column.name = w->column.type_name = (char *)(uintptr_t) "v";
    w->column.type = type;
    w->column.max_bytes = -1;
    w->column.code_page = 65001;
    ck_assert_int_eq(fr_splitter_new(&w->options, 0, &w->splitter, &err), FR_OK);
    ck_assert_int_eq(fr_converter_init(&w->converter, &w->column, &w->options, &err),
                     FR_OK);
    w->text = fr_long_text_new(w->splitter);
    ck_assert_ptr_nonnull(w->text);
}

static void close_way(struct way *w)
{
    fr_long_text_free(&w->text);
    fr_converter_free(&w->converter);
    fr_splitter_free(&w->splitter);
    fr_load_options_free(&w->options);
}

/* Without its doubled quotes, in one go; -1: refused. */
static int32_t convert_whole(const struct way *w, const struct fr_field *f,
                             unsigned char *out)
{
    static char plain[TEXT_BYTES + FR_BULK_SLACK_BYTES];
    int32_t length = -1;
    struct fr_cell cell = {.length = &length, .data = out, .capacity_bytes = MOST_BYTES};
    struct fr_reason reason;
    size_t n;

    if (!fr_field_unquote(w->splitter, f, plain, &n) ||
        w->converter.convert(&w->converter, plain, n, &cell, &reason) != FR_CONVERTED)
        return -1;
    return length;
}

static void check_same(struct way *w, const struct fr_field *f)
{
    static unsigned char whole[MOST_BYTES + FR_BULK_SLACK_BYTES];
    static unsigned char pieces[MOST_BYTES + FR_LONG_PIECE_BYTES + FR_BULK_SLACK_BYTES];
    int32_t want = convert_whole(w, f, whole);
    size_t bytes, done = 0;
    struct fr_long_value *v;

    ck_assert_int_ge(want, 0);
    ck_assert(fr_long_text_measure(w->text, &w->converter, f, &bytes));
    ck_assert_uint_eq(bytes, (size_t)want);
    v = fr_long_text_value(w->text);
    while (done < bytes) {
        size_t n = v->next(v, pieces + done);

        ck_assert(n > 0 && n <= FR_LONG_PIECE_BYTES);
        done += n;
    }
    ck_assert_uint_eq(done, bytes);
    ck_assert_int_eq(memcmp(pieces, whole, bytes), 0);
}

/* Every round moves what is in the text by a byte against the pieces' ends. */
static size_t fill(char *out, size_t round, const char *const *parts, size_t count)
{
    size_t n = round;

    memset(out, 'x', round);
    for (size_t i = 0; n + 16 < TEXT_BYTES; i++) {
        const char *part = parts[i % count];

        memcpy(out + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

static const struct {
    enum fr_type type;
    const char *escape;
    const char *parts[4];
} same_cases[] = {
    {FR_TYPE_NVARCHAR, NULL, {"a"}},
    {FR_TYPE_NVARCHAR, NULL, {"\xD0\xB6"}},
    {FR_TYPE_NVARCHAR, NULL, {"\xF0\x9F\x98\x80", "a", "\xE6\x97\xA5"}},
    {FR_TYPE_NVARCHAR, NULL, {"\"\"", "ab", "\"\"\"\"", "\xD0\xB6"}},
    {FR_TYPE_VARCHAR, NULL, {"\"\"a"}},
    {FR_TYPE_VARCHAR, NULL, {"\xF0\x9F\x98\x80\"\"", "\xE6\x97\xA5"}},
    {FR_TYPE_VARCHAR, "\\", {"\\\\", "\\\"", "a", "\\\xE6\x97\xA5"}},
    {FR_TYPE_XML, NULL, {"<a b=\"\"c\"\"/>"}},
};

START_TEST(test_same)
{
    static char text[TEXT_BYTES + FR_BULK_SLACK_BYTES];
    const char *const *parts = same_cases[_i].parts;
    size_t count = 1;
    struct way w;

    while (count < 4 && parts[count] != NULL)
        count++;
    open_way(&w, same_cases[_i].type, same_cases[_i].escape);
    ck_assert(fr_long_text_fits(&w.converter));
    for (size_t round = 0; round < ROUNDS; round++) {
        struct fr_field f = {.p = text, .quoted = true, .has_quotes = true};

        f.n = fill(text, round, parts, count);
        check_same(&w, &f);
    }
    close_way(&w);
}
END_TEST

/* Left to the converter, which says why: what it refuses, and what has no place to cut.
 */
START_TEST(test_given_back)
{
    static char text[TEXT_BYTES + FR_BULK_SLACK_BYTES];
    struct fr_field f = {.p = text, .n = 200000, .quoted = true, .has_quotes = true};
    struct way w;
    size_t bytes;

    open_way(&w, FR_TYPE_NVARCHAR, NULL);
    memset(text, 'x', sizeof text);
    ck_assert(fr_long_text_measure(w.text, &w.converter, &f, &bytes));
    text[150000] = '\xFF';
    ck_assert(!fr_long_text_measure(w.text, &w.converter, &f, &bytes));
    memset(text, '"', sizeof text);
    ck_assert(!fr_long_text_measure(w.text, &w.converter, &f, &bytes));
    close_way(&w);
    open_way(&w, FR_TYPE_VARCHAR, "\\");
    memset(text, 'x', sizeof text);
    memcpy(text + 100000, "\\n", 2);
    ck_assert(!fr_long_text_measure(w.text, &w.converter, &f, &bytes));
    close_way(&w);
}
END_TEST

START_TEST(test_columns_that_do_not_fit)
{
    struct way w;

    open_way(&w, FR_TYPE_NVARCHAR, NULL);
    w.column.max_bytes = 8000;
    ck_assert(!fr_long_text_fits(&w.converter));
    w.column.max_bytes = -1;
    w.converter.trailing_blanks = FR_BLANKS_TRIM;
    ck_assert(!fr_long_text_fits(&w.converter));
    close_way(&w);
    open_way(&w, FR_TYPE_VARBINARY, NULL);
    ck_assert(!fr_long_text_fits(&w.converter));
    close_way(&w);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("long_text");
    TCase *tc = tcase_create("long_text");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_same, 0, COUNT_OF(same_cases));
    tcase_add_test(tc, test_given_back);
    tcase_add_test(tc, test_columns_that_do_not_fit);
    return suite_run(s);
}
