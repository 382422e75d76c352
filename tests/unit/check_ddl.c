#include "db/ddl.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

/* The columns as "name type [+identity +default +computed ?nullable]", or what the error
 * says. */
static const struct {
    const char *in, *want;
} cases[] = {
    {"create table t (a int)", "a int ?;"},
    {"CREATE TABLE dbo.t (a int NOT NULL, b varchar(10) NULL)", "a int;b varchar(10) ?;"},
    {"create table [dbo].[t] ([a b] [int] NOT NULL, [c]]d] [nvarchar](max))",
     "a b int;c]d nvarchar(max) ?;"},
    {"create table \"dbo\".\"t\" (\"a\"\"b\" \"int\")", "a\"b int ?;"},
    {"create table db.dbo.t (a sys.int)", "a int ?;"},
    {"create table T (a decimal, b decimal(9), c numeric(38,38), d dec(5 , 2))",
     "a decimal(18,0) ?;b decimal(9,0) ?;c numeric(38,38) ?;d decimal(5,2) ?;"},
    {"create table t (a time, b time(0), c datetime2(3), d datetimeoffset)",
     "a time(7) ?;b time(0) ?;c datetime2(3) ?;d datetimeoffset(7) ?;"},
    {"create table t (a float, b float(24), c float(25), d double precision, e real)",
     "a float ?;b float ?;c float ?;d float ?;e real ?;"},
    {"create table t (a char, b nchar(5), c national character varying(7), d char "
     "varying(3), e sysname, f binary(4), g varbinary(max))",
     "a char(1) ?;b nchar(5) ?;c nvarchar(7) ?;d varchar(3) ?;e nvarchar(128);f "
     "binary(4) "
     "?;g varbinary(max) ?;"},
    {"create table t (a rowversion, b timestamp not null, c as a + (b * 2), d as len(x) "
     "persisted not null)",
     "a timestamp +computed ?;b timestamp +computed;c int +computed ?;d int +computed;"},
    {"create table t (id int identity, b bigint identity(1, 1) not for replication not "
     "null)",
     "id int +identity;b bigint +identity;"},
    {"create table t (a int default 1, b int default (getdate()) not null, c int "
     "constraint x "
     "default ((0)) null, d varchar(3) default N'it''s', e int default -1, f int default "
     "next "
     "value for dbo.s, g date default sysutcdatetime())",
     "a int +default ?;b int +default;c int +default ?;d varchar(3) +default ?;e int "
     "+default "
     "?;f int +default ?;g date +default ?;"},
    {"create table t (a int primary key, b int unique nonclustered with (fillfactor = "
     "80) on "
     "[primary], c int references dbo.o (x) on delete no action on update set null, d "
     "int "
     "check (d > 0) foreign key references o)",
     "a int;b int ?;c int ?;d int ?;"},
    {"create table t (a int, b int not null, constraint pk primary key clustered (b, a "
     "desc) "
     "with (pad_index = off), unique (a), check (a > (1)), foreign key (a) references "
     "o(x), "
     "index i (a), )",
     "a int;b int;"},
    {"create table t (a varchar(10) collate Polish_CI_AS sparse, b xml(content s), c int "
     "rowguidcol hidden)",
     "a varchar(10) 1250 ?;b xml ?;c int ?;"},
    {"create table t (a varchar(3) collate Latin1_General_100_CI_AS_SC_UTF8, b char(2) "
     "collate "
     "database_default, c char(2) collate Strange_CI_AS)",
     "a varchar(3) 65001 ?;b char(2) ?;c char(2) 0 ?;"},
    {"-- create table t (x int)\n/* create /* table */ t (y int) */ create table t (a "
     "int -- "
     "b\n, c int)",
     "a int ?;c int ?;"},
    {"use db\nGO\nset ansi_nulls on\nGO\ncreate table o (x int)\nGO\ncreate table dbo.t "
     "(a "
     "int) on [primary] textimage_on [primary]\nGO\ncreate index i on t (a)\n",
     "a int ?;"},
    {"create table t (a int, b int)\nGO\nalter table [dbo].[t] add constraint [d] "
     "default "
     "((0)) for [b]\nalter table t with check add constraint f foreign key (a) "
     "references o "
     "(x)\nalter table t check constraint f\nalter table o add z int",
     "a int ?;b int +default ?;"},
    {"create table t (a int)\nalter table t add primary key (a)", "a int;"},
    {"create table s.t (a int) create table dbo.t (b int)", "b int ?;"},
    {"\xEF\xBB\xBF"
     "create table t (\xC3\xA9 int)",
     "\xC3\xA9 int ?;"},
    /* errors */
    {"", "it has no CREATE TABLE of t"},
    {"create table o (a int)", "it has no CREATE TABLE of t"},
    {"create table s.t (a int)", "it has no CREATE TABLE of t"},
    {"create table t (a int)\ncreate table dbo.t (b int)",
     "line 2, at \"(\": the table is created once more"},
    {"create table t (\n a int,\n b foo)",
     "line 3, at \"foo\": it is no type that can be loaded"},
    {"create table t (a int bar)",
     "line 1, at \"bar\": nothing that is known of a column"},
    {"create table t (a int",
     "line 1: the script ends: nothing that is known of a column"},
    {"create table t (a int, a int)",
     "line 1, at \"a\": the table has this column already"},
    {"create table t ()", "line 1, at \")\": the name of a column is expected"},
    {"create table t", "line 1: the script ends: a ( is expected"},
    {"create table t (a varchar(9000))",
     "line 1, at \"9000\": no number that the type takes"},
    {"create table t (a char(max))",
     "line 1, at \"max\": max is for varchar, nvarchar and varbinary"},
    {"create table t (a int(4))",
     "line 1, at \"4\": the type takes nothing in parentheses"},
    {"create table t (a decimal(5,6))",
     "line 1, at \"6\": no number that the type takes"},
    {"create table t ([a int)",
     "line 1: a name, string or comment is not closed, or too long"},
    {"create table t (a int default 'x)",
     "line 1: a name, string or comment is not closed, or too long"},
    {"create table t (a int) /* x",
     "line 1: a name, string or comment is not closed, or too long"},
    {"create table t (a int check (b > (1))",
     "line 1: the script ends: nothing that is known of a column"},
    {"create table t (a int)\nalter table t add b int",
     "line 2, at \"b\": columns are added: put them into CREATE TABLE"},
    {"create table t (a int)\nalter table t alter column a bigint",
     "line 2, at \"alter\": the table is changed: give its last CREATE TABLE"},
    {"create table t (a int)\nalter table t add default 0 for b",
     "line 2, at \"b\": the table has no such column"},
    {"create table t (a int generated always as row start, b xml column_set for "
     "all_sparse_columns, c int encrypted with (x = 1), d int masked with (function = "
     "'d()'))",
     "a int kind2 ?;b xml kind3 ?;c int kind1 ?;d int ?;"},
};

static void describe(const struct fr_table *t, char *out, size_t n)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];
        char type[FR_TYPE_TEXT_BYTES], page[16] = "", kind[16] = "";

        ck_assert_int_eq(c->column_id, (int)i + 1);
        if (c->code_page != 1252 && !c->computed)
            snprintf(page, sizeof page, " %d", c->code_page);
        if (c->kind != FR_COLUMN_PLAIN)
            snprintf(kind, sizeof kind, " kind%d", (int)c->kind);
        at += (size_t)snprintf(out + at, n - at, "%s %s%s%s%s%s%s%s;", c->name,
                               fr_column_type_text(c, type), page, kind,
                               c->identity ? " +identity" : "",
                               c->has_default ? " +default" : "",
                               c->computed ? " +computed" : "", c->nullable ? " ?" : "");
        ck_assert_uint_lt(at, n);
    }
}

START_TEST(test_ddl)
{
    struct fr_table *t = NULL;
    struct fr_err err = {0};
    char got[1024];
    fr_status st = fr_ddl_parse(cases[_i].in, strlen(cases[_i].in), "t", &t, &err);

    if (st == FR_OK)
        describe(t, got, sizeof got);
    else
        snprintf(got, sizeof got, "%s", err.text);
    ck_assert_msg(strcmp(got, cases[_i].want) == 0, "%s\n got %s\nwant %s", cases[_i].in,
                  got, cases[_i].want);
    ck_assert((t == NULL) == (st != FR_OK));
    fr_table_free(&t);
}
END_TEST

START_TEST(test_names)
{
    static const char in[] = "create table [my schema].[a.b] (x int)";
    struct fr_table *t = NULL;

    ck_assert_int_eq(fr_ddl_parse(in, sizeof in - 1, "[my schema].[A.B]", &t, NULL),
                     FR_OK);
    ck_assert_str_eq(t->quoted, "[my schema].[a.b]");
    fr_table_free(&t);
    ck_assert_int_eq(fr_ddl_parse(in, sizeof in - 1, "a.b.c.d", &t, NULL), FR_EARG);
    ck_assert_ptr_null(t);
    ck_assert_int_eq(fr_ddl_read("/nowhere/at/all.sql", "t", &t, NULL), FR_EIO);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ddl");
    TCase *t = tcase_create("ddl");

    tcase_add_loop_test(t, test_ddl, 0, (int)COUNT_OF(cases));
    tcase_add_test(t, test_names);
    suite_add_tcase(s, t);
    return suite_run(s);
}
