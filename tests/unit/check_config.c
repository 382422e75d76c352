/* Options from argv, environment, file and JSON; T-SQL names; what a plan makes of
 * fields. */
#include "config/settings.h"
#include "db/table.h"
#include "load/plan.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum {
    ALL = FR_GROUP_CONNECTION | FR_GROUP_OUTPUT | FR_GROUP_LOAD | FR_GROUP_RUN,
    MAX_WORDS = 8
};

static const struct {
    const char *words[MAX_WORDS];
    fr_status st;
    const char *in_error;
} argv_cases[] = {
    {{"-t", "|", "dbo.t", "f"}, FR_OK, NULL},
    {{"-t|", "--batch-rows=10", "-qv"}, FR_OK, NULL},
    {{"--batch-rows", "auto"}, FR_OK, NULL},
    {{"--", "-t"}, FR_OK, NULL},
    {{"-"}, FR_OK, NULL},
    {{"--batch-rows", "x"}, FR_EARG, "whole number"},
    {{"--batch-rows", "-1"}, FR_EARG, "not within"},
    {{"--header", "maybe"}, FR_EARG, "none|skip|match"},
    {{"--hedaer", "skip"}, FR_EARG, "--header"},
    {{"-Z"}, FR_EARG, "-Z"},
    {{"-t"}, FR_EARG, "TEXT"},
    {{"--max-field-bytes", "1Q"}, FR_EARG, "size"},
    {{"--priority", "1"}, FR_EARG, "--priority"}, /* of another command */
    {{"--config", "/nonexistent.json"}, FR_EARG, "/nonexistent.json"},
};

START_TEST(test_argv)
{
    struct fr_settings s;
    struct fr_arguments args = {0};
    struct fr_err err = {.text = ""};
    char copies[MAX_WORDS][64], *argv[MAX_WORDS];
    int argc = 0;
    fr_status st;

    for (; argc < MAX_WORDS && argv_cases[_i].words[argc] != NULL; argc++) {
        snprintf(copies[argc], sizeof copies[argc], "%s", argv_cases[_i].words[argc]);
        argv[argc] = copies[argc];
    }
    fr_settings_init(&s);
    st = fr_settings_parse(&s, ALL, argc, argv, &args, &err);
    ck_assert_msg(st == argv_cases[_i].st, "%s: %s", fr_status_name(st), err.text);
    if (argv_cases[_i].in_error != NULL)
        ck_assert_msg(strstr(err.text, argv_cases[_i].in_error) != NULL, "%s", err.text);
    free(args.items);
    fr_settings_free(&s);
}
END_TEST

START_TEST(test_precedence_and_lists)
{
    struct fr_settings s;
    struct fr_arguments args = {0};
    struct fr_err err = {.text = ""};
    char a[] = "--null", b[] = "x", c[] = "--null", d[] = "y", e[] = "-P",
         f[] = "secret-word";
    char *argv[] = {a, b, c, d, e, f};

    setenv("FULLRACK_NULL", "from-environment", 1);
    setenv("FULLRACK_MAX_ERRORS", "7", 1);
    fr_settings_init(&s);
    ck_assert_int_eq(fr_settings_parse(&s, ALL, 6, argv, &args, &err), FR_OK);
    ck_assert_uint_eq(s.load.nulls.count, 2);
    ck_assert_str_eq(s.load.nulls.items[1], "y");
    ck_assert_int_eq(s.load.max_errors, 7);
    ck_assert_str_eq(fr_secret_reveal(s.password), "secret-word");
    ck_assert_str_eq(f, "***********"); /* not for `ps` */
    unsetenv("FULLRACK_NULL");
    unsetenv("FULLRACK_MAX_ERRORS");
    free(args.items);
    fr_settings_free(&s);
}
END_TEST

START_TEST(test_json_round_trip)
{
    struct fr_settings a, b;
    struct fr_arguments args = {0};
    struct fr_err err = {.text = ""};
    char w[][20] = {"-t",       "|",     "--null", "N",  "-b", "5",
                    "--header", "match", "-E",     "-P", "pw"};
    char *argv[COUNT_OF(w)];
    json_t *one, *two;

    for (size_t i = 0; i < COUNT_OF(w); i++)
        argv[i] = w[i];
    fr_settings_init(&a);
    fr_settings_init(&b);
    ck_assert_int_eq(fr_settings_parse(&a, ALL, COUNT_OF(w), argv, &args, &err), FR_OK);
    one = fr_settings_to_json(&a, ALL);
    ck_assert_ptr_null(json_object_get(one, "password"));
    ck_assert_int_eq(fr_settings_from_json(&b, ALL, one, "test", &err), FR_OK);
    two = fr_settings_to_json(&b, ALL);
    ck_assert_int_eq(json_equal(one, two), 1);
    ck_assert_uint_eq(json_object_size(one), 5);
    json_decref(one);
    json_decref(two);
    free(args.items);
    fr_settings_free(&a);
    fr_settings_free(&b);
}
END_TEST

static const struct {
    const char *text;
    bool ok;
    const char *database, *schema, *table;
} name_cases[] = {
    {"t", true, "", "", "t"},
    {"dbo.t", true, "", "dbo", "t"},
    {"db..t", true, "db", "", "t"},
    {"[a]]b].[c.d]", true, "", "a]b", "c.d"},
    {"\"x\"\"y\".t", true, "", "x\"y", "t"},
    {"a.b.c.d", false, NULL, NULL, NULL},
    {"[a", false, NULL, NULL, NULL},
    {"[a]b", false, NULL, NULL, NULL},
    {"", false, NULL, NULL, NULL},
    {"dbo.", false, NULL, NULL, NULL},
};

START_TEST(test_table_name)
{
    struct fr_table_name n;
    struct fr_err err;

    ck_assert_int_eq(fr_table_name_parse(name_cases[_i].text, &n, &err),
                     name_cases[_i].ok ? FR_OK : FR_EARG);
    if (!name_cases[_i].ok)
        return;
    ck_assert_str_eq(n.database, name_cases[_i].database);
    ck_assert_str_eq(n.schema, name_cases[_i].schema);
    ck_assert_str_eq(n.table, name_cases[_i].table);
}
END_TEST

START_TEST(test_quoting)
{
    char out[12];

    ck_assert(fr_name_quote("a]b", out, sizeof out));
    ck_assert_str_eq(out, "[a]]b]");
    ck_assert(!fr_name_quote("much too long", out, sizeof out));
}
END_TEST

/* A table of three columns, the first an identity, the last computed. */
static struct fr_column columns[] = {
    {.name = (char *)(uintptr_t) "id",
     .type_name = (char *)(uintptr_t) "int",
     .type = FR_TYPE_INT,
     .identity = true},
    {.name = (char *)(uintptr_t) "v",
     .type_name = (char *)(uintptr_t) "int",
     .type = FR_TYPE_INT,
     .nullable = true},
    {.name = (char *)(uintptr_t) "w",
     .type_name = (char *)(uintptr_t) "int",
     .type = FR_TYPE_INT,
     .computed = true},
};
static const struct fr_table table = {.quoted = (char *)(uintptr_t) "[dbo].[t]",
                                      .display = (char *)(uintptr_t) "dbo.t",
                                      .columns = columns,
                                      .column_count = 3};

static const struct {
    const char *columns;
    bool keep_identity;
    size_t fields;
    bool mapped;
    bool sent[3];
} map_cases[] = {
    {NULL, false, 3, true, {false, true, false}},
    {NULL, false, 1, true, {false, true, false}},
    {NULL, false, 2, false, {false, false, false}},
    {NULL, true, 2, true, {true, true, false}},
    {NULL, true, 3, true, {true, true, false}},
    {"-,V", false, 2, true, {false, true, false}},
    {"v, id", true, 2, true, {true, true, false}},
};

START_TEST(test_mapping)
{
    struct fr_load_options o;
    struct fr_bulk_target target;
    struct fr_plan *p = NULL;
    struct fr_err err = {.text = ""};
    bool mapped;

    fr_load_options_init(&o);
    o.columns = (char *)(uintptr_t)map_cases[_i].columns;
    o.keep_identity = map_cases[_i].keep_identity;
    ck_assert_msg(fr_plan_new(&table, &o, 0, &p, &err) == FR_OK, "%s", err.text);
    ck_assert_msg(fr_plan_map_count(p, map_cases[_i].fields, &mapped, &err) == FR_OK,
                  "%s", err.text);
    ck_assert_int_eq(mapped, map_cases[_i].mapped);
    fr_plan_target(p, &target);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(target.is_sent[i], map_cases[_i].sent[i]);
    fr_plan_free(&p);
}
END_TEST

START_TEST(test_plan_hash_tells_options_apart)
{
    struct fr_load_options o[3];
    struct fr_plan *p[3];
    struct fr_err err;

    for (int i = 0; i < 3; i++)
        fr_load_options_init(&o[i]);
    o[1].trim = true;
    o[2].batch_rows = 7; /* how a load is cut into batches is no part of what it means */
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(fr_plan_new(&table, &o[i], 0, &p[i], &err), FR_OK);
    ck_assert(fr_plan_hash(p[0]) != fr_plan_hash(p[1]));
    ck_assert(fr_plan_hash(p[0]) == fr_plan_hash(p[2]));
    for (int i = 0; i < 3; i++)
        fr_plan_free(&p[i]);
}
END_TEST

static const struct {
    const char *in;
    size_t n;
    const char *want;
} printable_cases[] = {
    {"abc", 3, "abc"},
    {"a\nb", 3, "a\\x0ab"},
    {"\x1b[2J", 4, "\\x1b[2J"},
    {"\xC3\xA9", 2, "\xC3\xA9"},
    {"\xC2\x9B", 2, "\\xc2\\x9b"},
    {"\xFF", 1, "\\xff"},
    {"\0", 1, "\\x00"},
};

START_TEST(test_printable)
{
    char out[FR_PRINTABLE_BYTES + 4], longer[500];

    fr_printable(printable_cases[_i].in, printable_cases[_i].n, out);
    ck_assert_str_eq(out, printable_cases[_i].want);
    memset(longer, 'x', sizeof longer);
    fr_printable(longer, sizeof longer, out);
    ck_assert_uint_lt(strlen(out), sizeof out);
    ck_assert_str_eq(out + strlen(out) - 4, "x...");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("config");
    TCase *tc = tcase_create("config, names, plan");

    tcase_add_loop_test(tc, test_argv, 0, COUNT_OF(argv_cases));
    tcase_add_test(tc, test_precedence_and_lists);
    tcase_add_test(tc, test_json_round_trip);
    tcase_add_loop_test(tc, test_table_name, 0, COUNT_OF(name_cases));
    tcase_add_test(tc, test_quoting);
    tcase_add_loop_test(tc, test_mapping, 0, COUNT_OF(map_cases));
    tcase_add_test(tc, test_plan_hash_tells_options_apart);
    tcase_add_loop_test(tc, test_printable, 0, COUNT_OF(printable_cases));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
