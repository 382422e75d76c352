/* BULK INSERT: every option of a load has its fate; the statement; the count of a file.
 */
#include "load/bulk_insert.h"

#include "config/option_priv.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A new option of loads fails here until somebody has decided what becomes of it. */
START_TEST(test_every_option_is_decided)
{
    size_t seen = 0;

    for (size_t i = 0; i < option_count; i++) {
        const struct option_spec *o = &option_table[i];
        const struct fr_bulk_option *row = fr_bulk_option_find(o->name);

        if ((o->group & FR_GROUP_LOAD) == 0)
            continue;
        ck_assert_msg(row != NULL, "--%s: what does --server-side make of it?", o->name);
        ck_assert_msg(row->fate != FR_BULK_REFUSED || row->stands_in_way != NULL,
                      "--%s is refused, but never", o->name);
        ck_assert_msg(row->fate != FR_BULK_NO_MATTER || row->stands_in_way == NULL,
                      "--%s does not matter, but is refused", o->name);
        ck_assert_msg((row->stands_in_way == NULL) == (row->why == NULL), "--%s: why?",
                      o->name);
        seen++;
    }
    ck_assert_uint_gt(seen, 30);
    ck_assert_ptr_null(fr_bulk_option_find("no-such-option"));
}
END_TEST

static const struct {
    const char *options; /* as JSON */
    enum fr_row_end end;
    const char *want; /* behind WITH (MAXERRORS = 0, or a part of the reason */
    bool refused;
} statements[] = {
    {"{\"format\":\"delimited\"}", FR_ROW_END_LF,
     "DATAFILETYPE = 'char', CODEPAGE = '65001', FIELDTERMINATOR = '\\t', ROWTERMINATOR "
     "= '0x0a', TABLOCK)",
     false},
    {"{\"format\":\"bcp\",\"field-terminator\":\"|\",\"hint\":\"none\"}", FR_ROW_END_CRLF,
     "DATAFILETYPE = 'char', CODEPAGE = '65001', FIELDTERMINATOR = '|', ROWTERMINATOR = "
     "'0x0d0a')",
     false},
    {"{\"format\":\"csv\",\"quote\":\"'\",\"header\":\"skip\",\"first-row\":3,\"last-"
     "row\":"
     "9,\"hint\":\"none\"}",
     FR_ROW_END_LF,
     "DATAFILETYPE = 'char', CODEPAGE = '65001', FORMAT = 'CSV', FIELDQUOTE = '''', "
     "FIELDTERMINATOR = ',', ROWTERMINATOR = '0x0a', FIRSTROW = 4, LASTROW = 10)",
     false},
    {"{\"format\":\"bcp\",\"encoding\":\"UTF-16\",\"field-terminator\":\"||\",\"hint\":"
     "\"none\"}",
     FR_ROW_END_CRLF,
     "DATAFILETYPE = 'widechar', FIELDTERMINATOR = '||', ROWTERMINATOR = '0x0d000a00')",
     false},
    {"{\"format\":\"bcp\",\"encoding\":\"CP1252\",\"field-terminator\":\"0x01\",\"row-"
     "terminator\":\"'#\",\"hint\":\"ORDER (a DESC), ROWS_PER_BATCH = 7, TABLOCK\"}",
     FR_ROW_END_UNKNOWN,
     "DATAFILETYPE = 'char', CODEPAGE = '1252', FIELDTERMINATOR = '0x01', ROWTERMINATOR "
     "= '0x2723', TABLOCK, ROWS_PER_BATCH = 7, ORDER ([a] DESC))",
     false},
    {"{\"format\":\"bcp\",\"field-terminator\":\"0xa\",\"hint\":\"none\"}", FR_ROW_END_LF,
     "pairs of hex digits", true},
    {"{\"format\":\"bcp\",\"keep-nulls\":true,\"keep-identity\":true,\"batch-rows\":5,"
     "\"hint\":\"none\",\"row-terminator\":\"0x0a\"}",
     FR_ROW_END_UNKNOWN,
     "DATAFILETYPE = 'char', CODEPAGE = '65001', FIELDTERMINATOR = '\\t', ROWTERMINATOR "
     "= '0x0a', BATCHSIZE = 5, KEEPNULLS, KEEPIDENTITY)",
     false},
    {"{\"format\":\"bcp\"}", FR_ROW_END_UNKNOWN, "-r 0x0a", true},
    {"{\"format\":\"bcp\",\"escape\":\"\\\\\"}", FR_ROW_END_LF, "--escape", true},
    {"{\"format\":\"fixed\",\"widths\":\"3\"}", FR_ROW_END_LF, "--format", true},
    {"{\"format\":\"bcp\",\"encoding\":\"Shift-JIS\"}", FR_ROW_END_LF, "code pages",
     true},
    {"{\"format\":\"bcp\",\"field-terminator\":\"12345678901\"}", FR_ROW_END_LF,
     "ten characters", true},
    {"{\"format\":\"csv\",\"quote\":\"\\\"\\\"\"}", FR_ROW_END_LF, "one character", true},
    {"{\"format\":\"bcp\",\"max-errors\":1}", FR_ROW_END_LF, "without counting", true},
};

static struct fr_table *table_of_two(void)
{
    struct fr_table *t = calloc(1, sizeof *t);
    struct fr_err err;

    ck_assert_ptr_nonnull(t);
    t->quoted = strdup("[dbo].[t]");
    t->display = strdup("dbo.t");
    ck_assert_ptr_nonnull(fr_table_add_column(t, "a", "int", &err));
    ck_assert_ptr_nonnull(fr_table_add_column(t, "b", "int", &err));
    return t;
}

START_TEST(test_statement)
{
    static const char front[] =
        "BULK INSERT [dbo].[t] FROM N'/x/it''s' WITH (MAXERRORS = 0, ";
    struct fr_table *t = table_of_two();
    struct fr_settings s;
    struct fr_buf sql;
    struct fr_err err = {0};
    fr_status st;

    fr_settings_init(&s);
    fr_buf_init(&sql, 1 << 16);
    ck_assert_int_eq(
        fr_settings_from_text(&s, FR_GROUP_LOAD, statements[_i].options, "case", &err),
        FR_OK);
    st = fr_bulk_insert_statement(&s.load, t, "/x/it's", statements[_i].end, &sql, &err);
    if (statements[_i].refused) {
        ck_assert_int_eq(st, FR_EARG);
        ck_assert_msg(strstr(err.text, statements[_i].want) != NULL, "%s", err.text);
    } else {
        ck_assert_msg(st == FR_OK, "%s", err.text);
        ck_assert_msg(strncmp(fr_buf_text(&sql), front, strlen(front)) == 0, "%s",
                      fr_buf_text(&sql));
        ck_assert_str_eq(fr_buf_text(&sql) + strlen(front), statements[_i].want);
    }
    fr_buf_free(&sql);
    fr_settings_free(&s);
    fr_table_free(&t);
}
END_TEST

static const struct {
    const char *options, *content;
    fr_status st;
    int64_t rows, skipped, bytes;
    enum fr_row_end end;
    const char *says;
} counts[] = {
    {"{\"format\":\"bcp\"}", "1\t2\n3\t4\n", FR_OK, 2, 0, 8, FR_ROW_END_LF, NULL},
    {"{\"format\":\"bcp\"}", "1\t2\r\n3\t4", FR_OK, 2, 0, 8, FR_ROW_END_CRLF, NULL},
    {"{\"format\":\"bcp\"}", "", FR_OK, 0, 0, 0, FR_ROW_END_LF, NULL},
    {"{\"format\":\"csv\"}", "1,\"2\n3\"\n", FR_OK, 1, 0, 8, FR_ROW_END_LF, NULL},
    {"{\"format\":\"csv\",\"header\":\"skip\",\"first-row\":2,\"last-row\":2}",
     "x\n1,2\n3,4\n5,6\n", FR_OK, 1, 3, 14, FR_ROW_END_LF, NULL},
    {"{\"format\":\"csv\",\"header\":\"match\"}", "A,b\n1,2\n", FR_OK, 1, 1, 8,
     FR_ROW_END_LF, NULL},
    {"{\"format\":\"csv\",\"header\":\"match\"}", "b,a\n1,2\n", FR_EARG, 0, 0, 0,
     FR_ROW_END_UNKNOWN, "in their order"},
    {"{\"format\":\"csv\"}", "1,2\n3\n", FR_EDATA, 0, 0, 0, FR_ROW_END_UNKNOWN,
     "row 2 has 1 field, and the table 2 columns"},
    {"{\"format\":\"csv\"}", "1,2\n\n3,4\n", FR_EDATA, 0, 0, 0, FR_ROW_END_UNKNOWN,
     "row 2 is blank"},
    {"{\"format\":\"delimited\"}", "1\t2\r\n3\t4\n", FR_EDATA, 0, 0, 0,
     FR_ROW_END_UNKNOWN, "row 2 ends otherwise"},
    {"{\"format\":\"csv\"}", "1,\"2\n", FR_EDATA, 0, 0, 0, FR_ROW_END_UNKNOWN, "row 1 "},
    {"{\"format\":\"csv\"}", "\x1f\x8b\x08\n", FR_EARG, 0, 0, 0, FR_ROW_END_UNKNOWN,
     "packed"},
};

START_TEST(test_count)
{
    char path[] = "/tmp/fullrack-check-bulk-XXXXXX";
    int fd = mkstemp(path);
    size_t n = strlen(counts[_i].content);
    struct fr_table *t = table_of_two();
    struct fr_bulk_count got;
    struct fr_settings s;
    struct fr_err err = {0};
    fr_status st;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, counts[_i].content, n), (ssize_t)n);
    close(fd);
    fr_settings_init(&s);
    ck_assert_int_eq(
        fr_settings_from_text(&s, FR_GROUP_LOAD, counts[_i].options, "case", &err),
        FR_OK);
    st = fr_bulk_insert_count(path, &s.load, t, NULL, &got, &err);
    unlink(path);
    ck_assert_msg(st == counts[_i].st, "%s: %s", counts[_i].content, err.text);
    if (st == FR_OK) {
        ck_assert_int_eq(got.rows, counts[_i].rows);
        ck_assert_int_eq(got.skipped, counts[_i].skipped);
        ck_assert_int_eq(got.bytes, counts[_i].bytes);
        ck_assert_int_eq(got.end, counts[_i].end);
    } else {
        ck_assert_msg(strstr(err.text, counts[_i].says) != NULL, "%s", err.text);
    }
    fr_settings_free(&s);
    fr_table_free(&t);
}
END_TEST

/* Of a table with an int, a varchar of code page 1252 and an nvarchar. */
static const struct {
    const char *options, *row;
    size_t bytes;     /* 0: to the NUL */
    const char *says; /* NULL: nothing is odd */
} values[] = {
    {"{\"format\":\"csv\"}", "1,\"\",\"\"\n", 0, NULL},
    {"{\"format\":\"csv\"}", ",,\n", 0, NULL},
    {"{\"format\":\"csv\"}", "\"\",a,b\n", 0, "column a: two quotes"},
    {"{\"format\":\"csv\"}", "1,K\xc3\xb6ln,\xc5\x81\xc3\xb3\x64\xc5\xba\n", 0, NULL},
    {"{\"format\":\"csv\"}", "1,\xc5\x81,b\n", 0, "column b: a character"},
    {"{\"format\":\"bcp\"}", "1\tlong enough \xc5\x81\tb\n", 0, "column b: a character"},
    {"{\"format\":\"csv\"}", "1,a,\xff\n", 0, "column c: bytes that are no UTF-8"},
    {"{\"format\":\"csv\"}", "1,12345678\xc3,b\n", 0,
     "column b: bytes that are no UTF-8"},
    {"{\"format\":\"csv\",\"encoding\":\"CP1252\"}", "1,\xf6,\xf6\n", 0, NULL},
    {"{\"format\":\"csv\"}", "1,\0,b\n", 6, "column b: a NUL"},
    {"{\"format\":\"bcp\"}", "1\t\0\tb\n", 6, NULL}, /* bcp's empty text */
    {"{\"format\":\"csv\"}", "1,a\0b,b\n", 8, NULL},
    {"{\"format\":\"csv\",\"header\":\"skip\"}", "\xff,,\n", 0, NULL},
    {"{\"format\":\"csv\",\"first-row\":2}", "1,\xff,b\n", 0, NULL},
};

static struct fr_table *table_of_texts(void)
{
    struct fr_table *t = calloc(1, sizeof *t);
    struct fr_column *c;
    struct fr_err err;

    ck_assert_ptr_nonnull(t);
    t->quoted = strdup("[dbo].[t]");
    t->display = strdup("dbo.t");
    ck_assert_ptr_nonnull(fr_table_add_column(t, "a", "int", &err));
    c = fr_table_add_column(t, "b", "varchar", &err);
    ck_assert_ptr_nonnull(c);
    c->code_page = 1252;
    ck_assert_ptr_nonnull(fr_table_add_column(t, "c", "nvarchar", &err));
    return t;
}

START_TEST(test_values_the_server_would_change)
{
    char path[] = "/tmp/fullrack-check-bulk-XXXXXX";
    int fd = mkstemp(path);
    size_t n = values[_i].bytes > 0 ? values[_i].bytes : strlen(values[_i].row);
    struct fr_table *t = table_of_texts();
    struct fr_bulk_count got;
    struct fr_settings s;
    struct fr_err err = {0};
    fr_status st;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, values[_i].row, n), (ssize_t)n);
    close(fd);
    fr_settings_init(&s);
    ck_assert_int_eq(
        fr_settings_from_text(&s, FR_GROUP_LOAD, values[_i].options, "case", &err),
        FR_OK);
    st = fr_bulk_insert_count(path, &s.load, t, NULL, &got, &err);
    unlink(path);
    ck_assert_msg(st == (values[_i].says == NULL ? FR_OK : FR_EDATA), "%s", err.text);
    if (values[_i].says != NULL)
        ck_assert_msg(strstr(err.text, values[_i].says) != NULL, "%s", err.text);
    fr_settings_free(&s);
    fr_table_free(&t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bulk_insert");
    TCase *tc = tcase_create("bulk_insert");

    tcase_add_test(tc, test_every_option_is_decided);
    tcase_add_loop_test(tc, test_statement, 0, COUNT_OF(statements));
    tcase_add_loop_test(tc, test_count, 0, COUNT_OF(counts));
    tcase_add_loop_test(tc, test_values_the_server_would_change, 0, COUNT_OF(values));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
