/* What the bulk engine and its library can carry (FREETDS traps 4, 5, 14), by injected
 * versions of the library; the columns as the server describes them. */
#include "db/bcp.h"
#include "db/dblib.h"
#include "db/statements.h"
#include "db/table.h"
#include "load/plan.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

#define TEXT(literal) ((char *)(uintptr_t)(literal))

/* ---- versions ---- */

static const struct {
    const char *version;
    bool trims, skips_xml;
} version_cases[] = {
    {"freetds v1.3.17", false, false},
    {"freetds v1.3", false, false},
    {"freetds v1.4", true, false},
    {"freetds v1.4.26", true, false},
    {"freetds v1.5.2", true, false},
    {"freetds v1.5.3", true, true},
    {"freetds v1.10.1", true, true},
    {"freetds v2.0", true, true},
    {"freetds v0.95.81", false, false},
    {"freetds v1.5.dev.20260101", true, false},
    {"", true, false},
    {"freetds", true, false},
    {"v99999999999999999999.1", true, true},
};

START_TEST(test_version)
{
    ck_assert_int_eq(fr_dblib_trims_blanks(version_cases[_i].version),
                     version_cases[_i].trims);
    ck_assert_int_eq(fr_dblib_skips_xml(version_cases[_i].version),
                     version_cases[_i].skips_xml);
}
END_TEST

static const struct {
    int64_t asked;
    const char *version;
    fr_status st;
} blanks_cases[] = {
    {FR_BLANKS_UNSET, "freetds v1.3.17", FR_OK},
    {FR_BLANKS_KEEP, "freetds v1.3.17", FR_OK},
    {FR_BLANKS_UNSET, "freetds v1.4.27", FR_OK},
    {FR_BLANKS_TRIM, "freetds v1.4.27", FR_OK},
    {FR_BLANKS_ERROR, "freetds v1.5.9", FR_OK},
    {FR_BLANKS_KEEP, "freetds v1.4.27", FR_EARG},
    {FR_BLANKS_KEEP, "freetds v1.5.9", FR_EARG},
    {FR_BLANKS_KEEP, "unknown", FR_EARG},
};

START_TEST(test_blanks_that_cannot_be_kept)
{
    const char *version = blanks_cases[_i].version;
    struct fr_load_options o;
    struct fr_err err = {.text = ""};

    fr_load_options_init(&o);
    ck_assert_int_eq(o.trailing_blanks, FR_BLANKS_UNSET);
    o.trailing_blanks = blanks_cases[_i].asked;
    ck_assert_int_eq(
        fr_load_options_check_blanks(&o, version, fr_dblib_trims_blanks(version), &err),
        blanks_cases[_i].st);
    if (blanks_cases[_i].st == FR_EARG) {
        ck_assert_ptr_nonnull(strstr(err.text, "--trailing-blanks keep"));
        ck_assert_ptr_nonnull(strstr(err.text, version));
    }
}
END_TEST

/* ---- columns that the bcp engine refuses ---- */

static const struct {
    const char *type_name;
    enum fr_column_kind kind;
    bool computed;
    const char *version;
    const char *in_error; /* NULL = the table can be loaded */
} column_cases[] = {
    {"int", FR_COLUMN_PLAIN, false, "freetds v1.3.17", NULL},
    {"xml", FR_COLUMN_PLAIN, false, "freetds v1.3.17", "type xml"},
    {"xml", FR_COLUMN_PLAIN, false, "freetds v1.3.17", "wire engine"},
    {"xml", FR_COLUMN_PLAIN, false, "freetds v1.5.3", NULL},
    {"xml", FR_COLUMN_PLAIN, true, "freetds v1.3.17", NULL},
    {"hierarchyid", FR_COLUMN_PLAIN, false, "freetds v1.5.9", "wire engine"},
    {"geometry", FR_COLUMN_PLAIN, false, "freetds v1.5.9", "wire engine"},
    {"geography", FR_COLUMN_PLAIN, false, "freetds v1.3.17", "type geography"},
    {"sql_variant", FR_COLUMN_PLAIN, false, "freetds v1.5.9", "type sql_variant"},
    {"varbinary", FR_COLUMN_ENCRYPTED, false, "freetds v1.3.17", "Always Encrypted"},
    {"datetime2", FR_COLUMN_GENERATED, false, "freetds v1.3.17", "GENERATED ALWAYS"},
    {"xml", FR_COLUMN_SET, true, "freetds v1.5.9", "column set"},
};

START_TEST(test_refused_columns)
{
    const char *name = column_cases[_i].type_name;
    struct fr_column c[2] = {
        {.name = TEXT("id"), .type_name = TEXT("int"), .type = FR_TYPE_INT},
        {.name = TEXT("strange"),
         .type_name = TEXT(name),
         .type = strcmp(name, "int") == 0 || column_cases[_i].kind != FR_COLUMN_PLAIN
                     ? FR_TYPE_INT
                 : strcmp(name, "xml") == 0         ? FR_TYPE_XML
                 : strcmp(name, "sql_variant") == 0 ? FR_TYPE_UNSUPPORTED
                                                    : FR_TYPE_CLR,
         .kind = column_cases[_i].kind,
         .computed = column_cases[_i].computed}};
    struct fr_err err = {.text = ""};
    fr_status st = fr_bcp_check(column_cases[_i].version, c, 2, &err);

    ck_assert_int_eq(st, column_cases[_i].in_error == NULL ? FR_OK : FR_EARG);
    if (column_cases[_i].in_error != NULL) {
        ck_assert_msg(strstr(err.text, column_cases[_i].in_error) != NULL, "%s",
                      err.text);
        ck_assert_msg(strstr(err.text, "column strange") != NULL, "%s", err.text);
    }
}
END_TEST

START_TEST(test_explained_end)
{
    struct fr_err err;

    fr_err_set(&err, FR_EDB,
               "bulk copy: Trying to read more data than available in BCP "
               "request. (server error 33557097)");
    fr_bcp_explain(&err);
    ck_assert_ptr_nonnull(strstr(err.text, "Babelfish"));
    ck_assert_ptr_nonnull(strstr(err.text, "33557097"));
    ck_assert_int_eq(err.status, FR_EDB);
    fr_err_set(&err, FR_EDB, "bulk copy: another (server error 2627)");
    fr_bcp_explain(&err);
    ck_assert_str_eq(err.text, "bulk copy: another (server error 2627)");
}
END_TEST

/* A session that answers the look-ups of fr_table_describe() from here. */
static const char *const object_row[] = {"7", "t", "dbo", "2024-01-01 00:00:00.000",
                                         "0", "0"};
static const char *const check_row[] = {"0", "0", "1", NULL, "0", "1", "0", "0"};
static const char *const column_rows[][13] = {
    {"1", "id", "int", "4", "10", "0", "0", "0", "0", "0", NULL, "0"},
    {"2", "secret", "varbinary", "80", "0", "0", "1", "0", "0", "0", NULL, "1"},
    {"3", "since", "datetime2", "8", "27", "7", "0", "0", "0", "0", NULL, "2"},
    {"4", "rest", "xml", "-1", "0", "0", "1", "0", "0", "0", NULL, "3"},
    {"5", "place", "geography", "-1", "0", "0", "1", "0", "0", "0", NULL, "0"},
    {"6", "own", NULL, "-1", "0", "0", "1", "0", "0", "0", NULL, NULL},
};

static fr_status give_row(const char *const *values, size_t n, fr_sql_row_fn row,
                          void *ctx, struct fr_err *err)
{
    struct fr_sql_row r = {.columns = n, .values = values};
    size_t lengths[13] = {0};

    for (size_t i = 0; i < n; i++)
        lengths[i] = values[i] == NULL ? 0 : strlen(values[i]);
    r.lengths = lengths;
    return row(ctx, &r, err);
}

static fr_status fake_run_params(struct fr_sql *s, const char *sql,
                                 struct fr_sql_param *params, size_t count,
                                 fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    fr_status st = FR_OK;

    (void)s;
    (void)params;
    (void)count;
    if (sql == fr_stmt_table_object)
        return give_row(object_row, COUNT_OF(object_row), row, ctx, err);
    if (strstr(sql, fr_stmt_table_checks) != NULL)
        st = give_row(check_row, COUNT_OF(check_row), row, ctx, err);
    for (size_t i = 0; st == FR_OK && i < COUNT_OF(column_rows); i++)
        st = give_row(column_rows[i], COUNT_OF(column_rows[i]), row, ctx, err);
    return st;
}

START_TEST(test_described_kinds)
{
    static const struct fr_sql_ops ops = {.run_params = fake_run_params};
    static const enum fr_column_kind kinds[] = {FR_COLUMN_PLAIN,     FR_COLUMN_ENCRYPTED,
                                                FR_COLUMN_GENERATED, FR_COLUMN_SET,
                                                FR_COLUMN_PLAIN,     FR_COLUMN_PLAIN};
    struct fr_sql session = {.ops = &ops};
    struct fr_table *t = NULL;
    struct fr_err err = {.text = ""};

    ck_assert_msg(fr_table_describe(&session, "dbo.t", &t, &err) == FR_OK, "%s",
                  err.text);
    ck_assert_uint_eq(t->column_count, COUNT_OF(kinds));
    /* its one index is a columnstore */
    ck_assert(fr_table_wants_large_batches(t));
    t->columnstore_count = 0;
    ck_assert(!fr_table_wants_large_batches(t));
    t->index_count = 0;
    ck_assert(fr_table_wants_large_batches(t));
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        ck_assert_int_eq(t->columns[i].kind, kinds[i]);
    ck_assert_int_eq(t->columns[4].type, FR_TYPE_CLR);
    ck_assert_str_eq(t->columns[4].type_name, "geography");
    ck_assert_str_eq(t->columns[5].type_name, "CLR type");
    fr_table_free(&t);
}
END_TEST

/* ---- values that lose blanks, or would become '' ---- */

static const struct {
    enum fr_type type;
    bool library_trims;
    int64_t asked;
    const char *value;
    size_t bytes;
    fr_status st;
    uint64_t trimmed;
} value_cases[] = {
    {FR_TYPE_VARCHAR, false, FR_BLANKS_UNSET, "a ", 2, FR_OK, 0},
    {FR_TYPE_VARCHAR, true, FR_BLANKS_UNSET, "a ", 2, FR_OK, 1},
    {FR_TYPE_NVARCHAR, true, FR_BLANKS_UNSET, "  ", 2, FR_OK, 1},
    {FR_TYPE_NVARCHAR, true, FR_BLANKS_UNSET, " ", 1, FR_OK, 0},
    {FR_TYPE_NVARCHAR, true, FR_BLANKS_TRIM, " ", 1, FR_OK, 1},
    {FR_TYPE_NVARCHAR, true, FR_BLANKS_UNSET, " a", 2, FR_OK, 0},
    {FR_TYPE_CHAR, true, FR_BLANKS_UNSET, "a ", 2, FR_OK, 0},
    {FR_TYPE_NCHAR, true, FR_BLANKS_UNSET, "a ", 2, FR_OK, 0},
    {FR_TYPE_VARCHAR, false, FR_BLANKS_TRIM, "a ", 2, FR_OK, 1},
    {FR_TYPE_VARCHAR, true, FR_BLANKS_ERROR, "a ", 2, FR_EDATA, 0},
    {FR_TYPE_VARCHAR, false, FR_BLANKS_UNSET, "\0", 1, FR_OK, 0},
    {FR_TYPE_VARCHAR, true, FR_BLANKS_UNSET, "\0", 1, FR_EDATA, 0},
    {FR_TYPE_NVARCHAR, true, FR_BLANKS_UNSET, "\0", 1, FR_EDATA, 0},
    {FR_TYPE_NVARCHAR, true, FR_BLANKS_UNSET, "\0\0", 2, FR_OK, 0},
    {FR_TYPE_INT, true, FR_BLANKS_TRIM, "1 ", 2, FR_OK, 0},
};

START_TEST(test_values_that_lose_blanks)
{
    struct fr_column column = {.name = TEXT("v"),
                               .type_name = TEXT("x"),
                               .type = value_cases[_i].type,
                               .max_bytes = 20,
                               .code_page = 1252,
                               .nullable = true};
    struct fr_table table = {.quoted = TEXT("[dbo].[t]"),
                             .display = TEXT("dbo.t"),
                             .columns = &column,
                             .column_count = 1};
    unsigned char memory[64];
    int32_t length = 0;
    struct fr_cell cell = {
        .length = &length, .data = memory, .capacity_bytes = sizeof memory};
    struct fr_bulk bulk = {.cells = &cell, .columns = 1};
    struct fr_field field = {.p = value_cases[_i].value, .n = value_cases[_i].bytes};
    struct fr_record rec = {.fields = &field, .count = 1};
    struct fr_load_options o;
    struct fr_plan *p = NULL;
    struct fr_row_error bad;
    struct fr_err err = {.text = ""};
    bool mapped = false;

    fr_load_options_init(&o);
    o.trailing_blanks = value_cases[_i].asked;
    ck_assert_msg(fr_plan_new(&table, &o, 0, &p, &err) == FR_OK, "%s", err.text);
    fr_plan_set_library_trims(p, value_cases[_i].library_trims);
    ck_assert_int_eq(fr_plan_map_count(p, 1, &mapped, &err), FR_OK);
    ck_assert_int_eq(fr_plan_convert(p, &rec, &bulk, &bad, &err), value_cases[_i].st);
    ck_assert_uint_eq(fr_plan_trimmed_values(p), value_cases[_i].trimmed);
    fr_plan_free(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine");
    TCase *tc = tcase_create("what can be carried");

    tcase_add_loop_test(tc, test_version, 0, COUNT_OF(version_cases));
    tcase_add_loop_test(tc, test_blanks_that_cannot_be_kept, 0, COUNT_OF(blanks_cases));
    tcase_add_loop_test(tc, test_refused_columns, 0, COUNT_OF(column_cases));
    tcase_add_test(tc, test_explained_end);
    tcase_add_test(tc, test_described_kinds);
    tcase_add_loop_test(tc, test_values_that_lose_blanks, 0, COUNT_OF(value_cases));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
