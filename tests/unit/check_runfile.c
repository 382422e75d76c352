/* Run files: places in JSON, variables of scripts, every mistake with its place, the
 * order of tables, and the schema against the option table. */
#include "base/text_file.h"
#include "config/document.h"
#include "config/option_priv.h"
#include "config/runfile.h"
#include "config/variables.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* -- places -------------------------------------------------------------------------- */

static const char place_text[] =
    "\n{ \"a\" : 1,\r\n\t\"\\u0062\": [ {\"x,]\": \"}\\\"\"} , [], \"ä\" ,true],\n"
    "  \"c\": {\"d\": {\"e\": null}} }";

static const struct {
    const char *path; /* names and numbers with dots between them */
    bool of_key, found;
    size_t line, column;
} place_cases[] = {
    {"", false, true, 2, 1},         {"a", false, true, 2, 9},
    {"a", true, true, 2, 3},         {"b", false, true, 3, 12},
    {"b", true, true, 3, 2},         {"b.0", false, true, 3, 14},
    {"b.0.x,]", false, true, 3, 22}, {"b.1", false, true, 3, 31},
    {"b.2", false, true, 3, 35},     {"b.3", false, true, 3, 40},
    {"b.4", false, false, 0, 0},     {"c.d.e", false, true, 4, 20},
    {"c.d.e", true, true, 4, 15},    {"c.x", false, false, 0, 0},
    {"a.x", false, false, 0, 0},     {"c.0", false, false, 0, 0},
};

START_TEST(test_places)
{
    char words[64], *save = NULL, *word;
    struct fr_json_path steps[8];
    size_t n = 0, line = 0, column = 0;
    bool found;

    snprintf(words, sizeof words, "%s", place_cases[_i].path);
    for (word = strtok_r(words, ".", &save); word != NULL;
         word = strtok_r(NULL, ".", &save), n++)
        steps[n] =
            (struct fr_json_path){.parent = n == 0 ? NULL : &steps[n - 1],
                                  .key = word[0] >= '0' && word[0] <= '9' ? NULL : word,
                                  .index = (size_t)strtoul(word, NULL, 10)};
    found = fr_json_locate(place_text, n == 0 ? NULL : &steps[n - 1],
                           place_cases[_i].of_key, &line, &column);
    ck_assert_int_eq(found, place_cases[_i].found);
    ck_assert_uint_eq(line, place_cases[_i].line);
    ck_assert_uint_eq(column, place_cases[_i].column);
}
END_TEST

/* -- variables ----------------------------------------------------------------------- */

static bool find_test_variable(void *ctx, const char *name, size_t n,
                               struct fr_variable *out)
{
    static const struct {
        const char *name;
        struct fr_variable v;
    } known[] = {{"TABLE", {"[d'o]]].[t\"]", true}},
                 {"N", {"-12.5", false}},
                 {"W", {"word_1", false}},
                 {"EVIL", {"x'; DROP--\"]", false}},
                 {"NL", {"a\nb", false}},
                 {"NONE", {"", false}}};

    (void)ctx;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strlen(known[i].name) == n && strncasecmp(known[i].name, name, n) == 0) {
            *out = known[i].v;
            return true;
        }
    return false;
}

static const struct {
    const char *script, *want;
    const char *in_error; /* NULL = it works */
} variable_cases[] = {
    {"ALTER TABLE $(TABLE) x", "ALTER TABLE [d'o]]].[t\"] x", NULL},
    {"OBJECT_ID(N'$(table)')", "OBJECT_ID(N'[d''o]]].[t\"]')", NULL},
    {"SELECT $(N), $(W)", "SELECT -12.5, word_1", NULL},
    {"SELECT $(EVIL)", "SELECT [x'; DROP--\"]]]", NULL},
    {"SELECT '$(EVIL)'", "SELECT 'x''; DROP--\"]'", NULL},
    {"SELECT [$(EVIL)]", "SELECT [x'; DROP--\"]]]", NULL},
    {"SELECT \"$(EVIL)\"", "SELECT \"x'; DROP--\"\"]\"", NULL},
    {"SELECT 'a''$(EVIL)'", "SELECT 'a''x''; DROP--\"]'", NULL},
    {"x $(NONE)", "x []", NULL},
    /* in comments nothing is replaced, and what is quoted there begins nothing */
    {"-- it's $(NO)\n$(W)", "-- it's $(NO)\nword_1", NULL},
    {"/* it's /* $(NO) */ ' */$(W)", "/* it's /* $(NO) */ ' */word_1", NULL},
    {"'--' $(W) '/*' $(W)", "'--' word_1 '/*' word_1", NULL},
    {"$(", "$(", NULL},
    {"$(1) $($(W) $()", "$(1) $(word_1 $()", NULL},
    {"$(W", "$(W", NULL},
    {"a\n$(NO)", NULL, "line 2: there is no variable $(NO)"},
    {"$(NL)", NULL, "control character"},
};

START_TEST(test_variables)
{
    struct fr_buf out;
    struct fr_err err = {.text = ""};
    fr_status st;

    fr_buf_init(&out, 1000);
    st = fr_variables_replace(variable_cases[_i].script, find_test_variable, NULL, &out,
                              &err);
    if (variable_cases[_i].in_error == NULL) {
        ck_assert_int_eq(st, FR_OK);
        ck_assert_str_eq(fr_buf_text(&out), variable_cases[_i].want);
    } else {
        ck_assert_int_eq(st, FR_EARG);
        ck_assert_ptr_nonnull(strstr(err.text, variable_cases[_i].in_error));
    }
    fr_buf_free(&out);
}
END_TEST

START_TEST(test_variables_have_a_maximum)
{
    struct fr_buf out;
    struct fr_err err = {.text = ""};

    fr_buf_init(&out, 5);
    ck_assert_int_eq(fr_variables_replace("$(W)", find_test_variable, NULL, &out, &err),
                     FR_EARG);
    fr_buf_free(&out);
}
END_TEST

/* -- run files ----------------------------------------------------------------------- */

static char folder[] = "/tmp/check_runfile.XXXXXX";

static const char *written(const char *name, const char *text, char path[200])
{
    FILE *f;

    snprintf(path, 200, "%s/%s", folder, name);
    f = fopen(path, "we");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* ' stands for " */
static void read_run_file(const char *text, struct fr_run_file *out)
{
    char path[200], json[4000];
    struct fr_err err = {.text = ""};
    size_t n = 0;

    for (; text[n] != '\0'; n++)
        json[n] = text[n] == '\'' ? '"' : text[n];
    json[n] = '\0';
    ck_assert_msg(fr_run_file_read(written("run.json", json, path), out, &err) == FR_OK,
                  "%s", err.text);
    unlink(path);
    fr_document_sort_mistakes(&out->document);
}

#define TABLE "'name': 'dbo.t', 'files': 'f'"

static const struct {
    const char *text;
    size_t line, column;
    const char *says; /* NULL = no mistake */
} mistake_cases[] = {
    {"{'tables': [{" TABLE "}]}", 0, 0, NULL},
    {"{'$schema': 's', 'description': 'd', 'server': 'x', 'workers': 4, 'truncate': true,"
     "'null': ['a', 'b'], 'batch-rows': 'auto', 'max-field-bytes': '1M', 'tables': [{"
     "'name': 't', 'before': 'SELECT $(TABLE), $(X)', 'after': [{'sql': 'x',"
     "'variables': {'A': 1}}]}]}",
     1, 186, "there is no variable $(X)"},
    {"[]", 1, 1, "is an object, not a list"},
    {"{", 1, 1, "expected"},
    {"{'a': 1\n'b': 2}", 2, 3, "expected"},
    {"{'tables': [],\n 'tables': []}", 2, 9, "duplicate"},
    {"{}", 1, 1, "no \"tables\""},
    {"{'tables': {}}", 1, 12, "a list of 1 to"},
    {"{'tables': []}", 1, 12, "a list of 1 to"},
    {"{'tables': [7]}", 1, 13, "an object, not a whole number"},
    {"{'tables': [{'files': 'f'}]}", 1, 13, "no \"name\""},
    {"{'tables': [{'name': 't'}]}", 1, 13, "neither \"files\" nor a phase"},
    {"{'tables': [{'name': 't', 'on-failure': 'x'}]}", 1, 13, "neither"},
    {"{'tables': [{'name': 5, 'files': 'f'}]}", 1, 22, "is a text, not a whole number"},
    {"{'tables': [{'name': 'a.b.c.d', 'files': 'f'}]}", 1, 22, "a.b.c.d"},
    {"{'tables': [{'name': 't', 'files': [ 'f', '' ]}]}", 1, 43, "a file is empty"},
    {"{'tables': [{'name': 't', 'files': '-'}]}", 1, 36, "neither standard input"},
    {"{'tables': [{'name': 't', 'files': '@x'}]}", 1, 36, "neither standard input"},
    {"{'tables': [{'name': 't', 'files': []}]}", 1, 36, "empty list"},
    {"{'tables': [{'name': 't', 'files': true}]}", 1, 36, "a text, not true"},
    {"{'servr': 'x', 'tables': [{" TABLE "}]}", 1, 2, "did you mean \"server\"?"},
    {"{'table': 'x', 'tables': [{" TABLE "}]}", 1, 2, "did you mean \"tables\"?"},
    {"{'zzzzzz': 'x', 'tables': [{" TABLE "}]}", 1, 2, "no option \"zzzzzz\""},
    {"{'watch': 5, 'tables': [{" TABLE "}]}", 1, 2, "no option of a run file"},
    {"{'ipc-fd': 5, 'tables': [{" TABLE "}]}", 1, 2, "no option \"ipc-fd\""},
    {"{'password': 'x', 'tables': [{" TABLE "}]}", 1, 2,
     "\"password-file\" names a file"},
    {"{'tables': [{'password': 'x', " TABLE "}]}", 1, 14, "\"password-file\""},
    {"{'tables': [{" TABLE ",\n 'workers': 3}]}", 2, 2, "beside \"tables\""},
    {"{'tables': [{" TABLE ",\n 'seed': 3}]}", 2, 2, "no option of a run file"},
    {"{'tables': [{" TABLE ",\n 'hedaer': 'skip'}]}", 2, 2, "mean \"header\"?"},
    {"{'tables': [{" TABLE ",\n 'depend-on': 'x'}]}", 2, 2, "mean \"depends-on\"?"},
    {"{'tables': [{" TABLE ",\n 'header': 'maybe'}]}", 2, 12, "not one of none|skip"},
    {"{'tables': [{" TABLE ",\n 'truncate': 'yes'}]}", 2, 14,
     "true or false, not a text"},
    {"{'tables': [{" TABLE ",\n 'max-errors': 1.5}]}", 2, 16, "not a fraction"},
    {"{'tables': [{" TABLE ",\n 'max-errors': -1}]}", 2, 16, "not within"},
    {"{'tables': [{" TABLE ",\n 'batch-rows': 'many'}]}", 2, 16,
     "or \"auto\", not a text"},
    {"{'tables': [{" TABLE ",\n 'null': ['x', 5]}]}", 2, 10, "takes texts, not a list"},
    {"{'tables': [{" TABLE ",\n 'null': {}}]}", 2, 10, "a list of texts, not an object"},
    {"{'tables': [{" TABLE ",\n 'max-field-bytes': '1Q'}]}", 2, 21, "is not a size"},
    {"{'tables': [{" TABLE "}],\n 'rate': 0}", 2, 10, "is not a size from 1 to"},
    {"{'tables': [{" TABLE ",\n 'field-terminator': 9}]}", 2, 22, "takes a text, not"},
    {"{'tables': [{" TABLE "},\n {" TABLE "}]}", 2, 11, "has an entry already"},
    {"{'tables': [{" TABLE "},\n {'name': '[dbo].[t]', 'files': 'f'}]}", 2, 11,
     "has an entry already"},
    {"{'tables': [{" TABLE ", 'depends-on': ['dbo.u']}]}", 1, 60, "dbo.u has no entry"},
    {"{'tables': [{" TABLE ", 'depends-on': 'dbo.s'}]}", 1, 59, "did you mean dbo.t?"},
    {"{'tables': [{" TABLE ", 'depends-on': [3]}]}", 1, 60, "is a text, not"},
    {"{'tables': [{" TABLE ", 'depends-on': 't'}]}", 1, 59,
     "a circle: dbo.t waits for dbo.t"},
    {"{'tables': [{'name': 'a', 'files': 'f'}, {'name': 'b', 'files': 'f', "
     "'depends-on':\n"
     "['a', 'c']}, {'name': 'c', 'files': 'f', 'depends-on': 'b'}]}",
     2, 56, "a circle: c waits for b, which waits for c"},
    {"{'tables': [{" TABLE ",\n'before': 5}]}", 2, 11, "a text of SQL or an object"},
    {"{'tables': [{" TABLE ",\n'before': []}]}", 2, 11, "empty list"},
    {"{'tables': [{" TABLE ",\n'before': ['', 'x']}]}", 2, 12, "is empty"},
    {"{'tables': [{" TABLE ",\n'before': {'fil': 'x'}}]}", 2, 12,
     "did you mean \"file\"?"},
    {"{'tables': [{" TABLE ",\n'before': {}}]}", 2, 11,
     "one of \"file\", \"sql\" and \"phase\""},
    {"{'tables': [{" TABLE ",\n'before': {'phase': 'disable-index'}}]}", 2, 21,
     "did you mean \"disable-indexes\"?"},
    {"{'tables': [{" TABLE ",\n'before': {'phase': 'nothing'}}]}", 2, 21,
     "no ready-made phase \"nothing\""},
    {"{'tables': [{" TABLE ",\n'before': {'phase': 'set-recovery'}}]}", 2, 11,
     "there is no variable $(MODEL)"},
    {"{'tables': [{" TABLE ",\n'before': {'phase': 'disable-indexes', 'sql': 'x'}}]}", 2,
     11, "one of \"file\""},
    {"{'tables': [{" TABLE ", 'before': [{'phase': 'disable-indexes'}, {'phase':"
     "'set-recovery', 'variables': {'MODEL': 'SIMPLE'}}], 'after': [{'phase':"
     "'rebuild-indexes'}, {'phase': 'check-constraints'}, {'phase': 'restore-recovery'},"
     "{'phase': 'update-statistics'}]}]}",
     0, 0, NULL},
    {"{'tables': [{" TABLE ",\n'before': {'file': 'none.sql'}}]}", 2, 20, "No such file"},
    {"{'tables': [{" TABLE ",\n'before': {'sql': 'x', 'variables': {'table': 'y'}}}]}", 2,
     38, "known already"},
    {"{'tables': [{" TABLE ",\n'before': {'sql': 'x', 'variables': {'y': true}}}]}", 2,
     43, "a text or a whole number"},
    {"{'tables': [{" TABLE ",\n'before': {'sql': 'x', 'variables': 7}}]}", 2, 37,
     "is an object"},
    {"{'tables': [{" TABLE ",\n'before': '-- $(x)\\n\\n$(y)'}]}", 2, 11,
     "line 3: there is no variable $(y)"},
};

START_TEST(test_mistakes)
{
    struct fr_run_file f;
    const struct fr_mistake *m;

    read_run_file(mistake_cases[_i].text, &f);
    if (mistake_cases[_i].says == NULL) {
        ck_assert_uint_eq(f.document.mistake_count, 0);
    } else {
        ck_assert_uint_eq(f.document.mistake_count, 1);
        m = &f.document.mistakes[0];
        ck_assert_msg(strstr(m->text, mistake_cases[_i].says) != NULL, "%s", m->text);
        ck_assert_msg(m->line == mistake_cases[_i].line &&
                          m->column == mistake_cases[_i].column,
                      "%zu:%zu: %s", m->line, m->column, m->text);
    }
    fr_run_file_free(&f);
}
END_TEST

START_TEST(test_all_mistakes_at_once)
{
    struct fr_run_file f;

    read_run_file(
        "{'servr': 'x', 'workers': 'x',\n 'tables': [{'name': 't', 'files': [], "
        "'before': 4},\n {'nam': 't'}]}",
        &f);
    ck_assert_uint_eq(f.document.mistake_count, 7);
    for (size_t i = 1; i < f.document.mistake_count; i++)
        ck_assert(f.document.mistakes[i - 1].line <= f.document.mistakes[i].line);
    fr_run_file_free(&f);
}
END_TEST

START_TEST(test_what_is_read)
{
    struct fr_run_file f;
    char sql[200], text[300];
    struct fr_buf out;
    struct fr_err err;
    uint64_t digest;

    written("p.sql",
            "SELECT '$(TABLE)' -- $(DATABASE)\nGO\nSELECT $(A) FROM $(DATABASE)..x", sql);
    snprintf(text, sizeof text,
             "{'password-file': 'pw', 'tables': [{'name': 'u', 'files': ['f', 'g*'], "
             "'format-file': '/abs', 'error-file': 'e', 'depends-on': 't', 'after': "
             "[{'file': 'p.sql', 'variables': {'a': 7}}, ' UPDATE\\n x']}, {" TABLE
             "}]}");
    read_run_file(text, &f);
    ck_assert_uint_eq(f.document.mistake_count, 0);
    snprintf(text, sizeof text, "%s/pw", f.folder);
    ck_assert_str_eq(json_string_value(json_object_get(f.options, "password-file")),
                     text);
    ck_assert_uint_eq(f.table_count, 2);
    ck_assert_uint_eq(f.tables[0].file_count, 2);
    ck_assert_str_eq(
        json_string_value(json_object_get(f.tables[0].options, "format-file")), "/abs");
    ck_assert_uint_eq(f.order[0], 1);
    ck_assert_uint_eq(f.order[1], 0);
    ck_assert_uint_eq(f.tables[0].needs[0].table, 1);
    ck_assert_uint_eq(f.tables[0].phases[FR_RUN_AFTER].count, 2);
    ck_assert_str_eq(f.tables[0].phases[FR_RUN_AFTER].items[0].label, "p.sql");
    ck_assert_str_eq(f.tables[0].phases[FR_RUN_AFTER].items[1].label, "UPDATE x");
    fr_buf_init(&out, 1000);
    ck_assert_int_eq(fr_run_phase_expand(&f.tables[0].phases[FR_RUN_AFTER].items[0],
                                         "[it's].[u]", "[d]", &out, &err),
                     FR_OK);
    ck_assert_str_eq(fr_buf_text(&out),
                     "SELECT '[it''s].[u]' -- $(DATABASE)\nGO\nSELECT 7 FROM [d]..x");
    fr_buf_free(&out);
    digest = f.digest;
    fr_run_file_free(&f);
    /* a script that was changed is another run file */
    written("p.sql", "SELECT 2", sql);
    read_run_file("{'tables': [{'name': 't', 'before': {'file': 'p.sql'}}]}", &f);
    ck_assert_uint_ne(f.digest, digest);
    digest = f.digest;
    fr_run_file_free(&f);
    written("p.sql", "SELECT 3", sql);
    read_run_file("{'tables': [{'name': 't', 'before': {'file': 'p.sql'}}]}", &f);
    ck_assert_uint_ne(f.digest, digest);
    fr_run_file_free(&f);
    unlink(sql);
}
END_TEST

START_TEST(test_order_of_many)
{
    struct fr_run_file f;
    char text[3000];
    int n = snprintf(text, sizeof text, "{'tables': [");

    /* t0 waits for t1, which waits for t2, ...: the last one comes first */
    for (int i = 0; i < 30; i++)
        n +=
            snprintf(text + n, sizeof text - (size_t)n,
                     "%s{'name': 't%d', 'files': 'f', 'depends-on': ['t%d'%s]}",
                     i == 0 ? "" : ", ", i, i < 29 ? i + 1 : 29, i == 0 ? ", 't29'" : "");
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    read_run_file(text, &f);
    ck_assert_uint_eq(f.document.mistake_count, 1); /* t29 waits for itself */
    for (size_t i = 0; i < 30; i++)
        ck_assert_uint_eq(f.order[i], 29 - i);
    fr_run_file_free(&f);
}
END_TEST

/* -- the schema ---------------------------------------------------------------------- */

static json_t *number_schema(const struct option_spec *o)
{
    json_t *d = json_pack("{s:s, s:I}", "type", "integer", "minimum", (json_int_t)o->min);

    if (o->max != INT64_MAX)
        json_object_set_new(d, "maximum", json_integer(o->max));
    return d;
}

static json_t *choice_schema(const struct option_spec *o)
{
    json_t *words = json_array();

    for (const char *p = o->choices; *p != '\0';) {
        size_t n = strcspn(p, "|");

        json_array_append_new(words, json_stringn(p, n));
        p += n + (p[n] == '|' ? 1 : 0);
    }
    return json_pack("{s:o}", "enum", words);
}

static json_t *option_schema(const struct option_spec *o)
{
    switch (o->kind) {
    case OPTION_FLAG:
        return json_pack("{s:s}", "type", "boolean");
    case OPTION_LIST:
        return json_pack("{s:[s, s], s:{s:s}}", "type", "string", "array", "items",
                         "type", "string");
    case OPTION_NUMBER:
        return number_schema(o);
    case OPTION_NUMBER_OR_AUTO:
        return json_pack("{s:[{s:s}, o]}", "anyOf", "const", "auto", number_schema(o));
    case OPTION_SIZE:
        return json_pack("{s:[s, s]}", "type", "integer", "string");
    case OPTION_CHOICE:
        return choice_schema(o);
    default:
        return json_pack("{s:s}", "type", "string");
    }
}

static void check_reference(json_t *properties, const char *name, bool wanted)
{
    const char *ref =
        json_string_value(json_object_get(json_object_get(properties, name), "$ref"));
    char want[100];

    snprintf(want, sizeof want, "#/$defs/%s", name);
    ck_assert_msg((ref != NULL) == wanted, "%s", name);
    if (wanted)
        ck_assert_str_eq(ref, want);
}

START_TEST(test_schema_has_every_option)
{
    const char *source = getenv("srcdir");
    char path[1000];
    json_error_t bad;
    json_t *schema, *defs, *properties, *table;
    size_t run_wide = 0, of_tables = 0;

    snprintf(path, sizeof path, "%s/schema/fullrack.schema.json",
             source == NULL ? ".." : source);
    schema = json_load_file(path, JSON_REJECT_DUPLICATES, &bad);
    ck_assert_msg(schema != NULL, "%s: %s", path, bad.text);
    defs = json_object_get(schema, "$defs");
    properties = json_object_get(schema, "properties");
    table = json_object_get(json_object_get(defs, "table"), "properties");
    for (size_t i = 0; i < option_count; i++) {
        const struct option_spec *o = &option_table[i];
        bool shown = !o->hidden && o->kind != OPTION_PASSWORD;
        bool in_run = shown && (o->group & FR_RUN_FILE_GROUPS) != 0;
        bool in_table = shown && (o->group & FR_RUN_TABLE_GROUPS) != 0;
        json_t *want;

        /* "files" is a table's member besides */
        if (!in_table && strcmp(o->name, "files") == 0)
            continue;
        check_reference(properties, o->name, in_run);
        check_reference(table, o->name, in_table);
        run_wide += in_run ? 1 : 0;
        of_tables += in_table ? 1 : 0;
        if (!in_run)
            continue;
        want = option_schema(o);
        json_object_set_new(want, "description", json_string(o->help));
        ck_assert_msg(json_equal(json_object_get(defs, o->name), want), "%s: wanted %s",
                      o->name, json_dumps(want, 0));
        json_decref(want);
    }
    /* besides them: $schema, description, tables; name, description, files, depends-on,
     * the four kinds of phases */
    ck_assert_uint_eq(json_object_size(properties), run_wide + 3);
    ck_assert_uint_eq(json_object_size(table), of_tables + 8);
    json_decref(schema);
}
END_TEST

static void remove_folder(void)
{
    rmdir(folder);
}

int main(void)
{
    Suite *s = suite_create("runfile");
    TCase *t = tcase_create("runfile");
    int failed;

    if (mkdtemp(folder) == NULL)
        return EXIT_FAILURE;
    tcase_add_loop_test(t, test_places, 0, COUNT_OF(place_cases));
    tcase_add_loop_test(t, test_variables, 0, COUNT_OF(variable_cases));
    tcase_add_test(t, test_variables_have_a_maximum);
    tcase_add_loop_test(t, test_mistakes, 0, COUNT_OF(mistake_cases));
    tcase_add_test(t, test_all_mistakes_at_once);
    tcase_add_test(t, test_what_is_read);
    tcase_add_test(t, test_order_of_many);
    tcase_add_test(t, test_schema_has_every_option);
    suite_add_tcase(s, t);
    failed = suite_run(s);
    remove_folder();
    return failed;
}
