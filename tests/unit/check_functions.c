/* The table of functions: rows are sound, and docs/tsql.md names each of them and nothing
 * else. */
#include "server/tsql/function.h"

#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static char *docs;

static void setup(void)
{
    const char *src = getenv("srcdir");
    char path[1024];
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "%s/docs/tsql.md", src == NULL ? "." : src);
    f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot read %s", path);
    docs = calloc(1, 1 << 20);
    n = fread(docs, 1, (1 << 20) - 1, f);
    ck_assert_uint_gt(n, 1000);
    fclose(f);
}

static void teardown(void)
{
    free(docs);
}

START_TEST(test_rows)
{
    for (size_t i = 0; func_at(i) != NULL; i++) {
        const struct func_def *d = func_at(i);

        ck_assert_msg(func_find(d->name) == d, "%s stands twice", d->name);
        ck_assert_msg(d->bind != NULL, "%s has no type rule", d->name);
        ck_assert_msg(d->max_args < 0 || d->min_args <= d->max_args, "%s: arguments",
                      d->name);
        for (const char *p = d->name; *p != '\0'; p++)
            ck_assert_msg(!islower((unsigned char)*p), "%s: lower case", d->name);
        if (d->eval != NULL)
            ck_assert_msg(strncmp(d->sqlite_name, "f_", 2) == 0, "%s: %s", d->name,
                          d->sqlite_name);
        else
            ck_assert_msg(
                (d->flags & (FUNC_AGGREGATE | FUNC_WINDOW | FUNC_CONDITIONAL)) != 0,
                "%s has no implementation", d->name);
        for (size_t k = 0; k < i && d->eval != NULL; k++)
            ck_assert_msg(func_at(k)->eval == NULL ||
                              strcmp(func_at(k)->sqlite_name, d->sqlite_name) != 0,
                          "%s and %s share %s", d->name, func_at(k)->name,
                          d->sqlite_name);
    }
}
END_TEST

START_TEST(test_documented)
{
    for (size_t i = 0; func_at(i) != NULL; i++) {
        char word[80];

        snprintf(word, sizeof word, "`%s`", func_at(i)->name);
        ck_assert_msg(strstr(docs, word) != NULL, "docs/tsql.md does not name %s", word);
    }
}
END_TEST

static bool is_function(const char *word)
{
    /* what the binder knows itself */
    static const char *const syntax[] = {"CAST",        "CONVERT", "TRY_CAST",
                                         "TRY_CONVERT", "CASE",    "IIF"};

    for (size_t i = 0; i < sizeof syntax / sizeof syntax[0]; i++)
        if (strcmp(syntax[i], word) == 0)
            return true;
    return func_find(word) != NULL;
}

/* Of a line of the table: words in back-quotes of the second column are functions, those
 * of the third are none. */
static int check_line(const char *p, const char *end)
{
    int column = 0, words = 0;

    for (; p < end; p++) {
        const char *close;
        char word[80];

        column += *p == '|' ? 1 : 0;
        if (*p != '`' || column < 2)
            continue;
        close = memchr(p + 1, '`', (size_t)(end - p) - 1);
        ck_assert_ptr_nonnull(close);
        snprintf(word, sizeof word, "%.*s", (int)(close - p - 1), p + 1);
        ck_assert_msg(is_function(word) == (column == 2),
                      "docs/tsql.md, column %d of the table: %s", column, word);
        words++;
        p = close;
    }
    return words;
}

START_TEST(test_no_more_documented)
{
    const char *p = strstr(docs, "\n## Functions");
    const char *end;
    int words = 0;

    ck_assert_ptr_nonnull(p);
    end = strstr(p + 5, "\n## ");
    ck_assert_ptr_nonnull(end);
    while (p < end) {
        const char *next = strchr(p + 1, '\n');

        if (p[1] == '|')
            words += check_line(p + 1, next);
        p = next;
    }
    ck_assert_int_gt(words, 150);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("functions");
    TCase *tc = tcase_create("functions");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_rows);
    tcase_add_test(tc, test_documented);
    tcase_add_test(tc, test_no_more_documented);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
