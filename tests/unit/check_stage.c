/* --stage over a session whose answers are written down: what no server at hand says. */
#include "support/suite.h"

#include "load/stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOG_BYTES = 1 << 20, MAX_COLUMNS = 16 };

/* To the first statement with `with` in it that comes: rows as "a|b;c|d" ("-" = NULL), or
 * an error.  times 0 = every time. */
struct answer {
    const char *with, *rows;
    int32_t error;
    int times;
};

struct played {
    struct fr_sql sql; /* first */
    const struct answer *answers;
    int used[32];
    struct fr_buf log;
};

static fr_status give_rows(const char *rows, fr_sql_row_fn row, void *ctx,
                           struct fr_err *err)
{
    char *copy = strdup(rows), *line_end, *line = copy;
    fr_status st = FR_OK;

    for (; st == FR_OK && line != NULL && row != NULL; line = line_end) {
        const char *values[MAX_COLUMNS];
        size_t lengths[MAX_COLUMNS], n = 0;
        struct fr_sql_row r = {.values = values, .lengths = lengths};
        char *value = line;

        line_end = strchr(line, ';');
        if (line_end != NULL)
            *line_end++ = '\0';
        for (char *end; value != NULL && n < MAX_COLUMNS; value = end, n++) {
            end = strchr(value, '|');
            if (end != NULL)
                *end++ = '\0';
            values[n] = strcmp(value, "-") == 0 ? NULL : value;
            lengths[n] = strlen(value);
        }
        r.columns = n;
        st = row(ctx, &r, err);
    }
    free(copy);
    return st;
}

static fr_status play(struct fr_sql *s, const char *sql, fr_sql_row_fn row, void *ctx,
                      int64_t *affected, struct fr_err *err)
{
    struct played *p = (struct played *)s;

    (void)affected;
    fr_buf_printf(&p->log, "%s\n", sql);
    for (size_t i = 0; p->answers[i].with != NULL; i++) {
        const struct answer *a = &p->answers[i];

        if (strstr(sql, a->with) == NULL || (a->times > 0 && p->used[i] == a->times))
            continue;
        p->used[i]++;
        if (a->error == 0)
            return a->rows == NULL ? FR_OK : give_rows(a->rows, row, ctx, err);
        (void)fr_err_set(err, FR_EDB, "server error %d", (int)a->error);
        if (err != NULL)
            err->server_number = a->error;
        return FR_EDB;
    }
    return FR_OK;
}

static fr_status play_params(struct fr_sql *s, const char *sql,
                             struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                             void *ctx, struct fr_err *err)
{
    (void)params;
    (void)count;
    return play(s, sql, row, ctx, NULL, err);
}

static const struct fr_sql_ops played_ops = {.run = play, .run_params = play_params};

static void play_begin(struct played *p, const struct answer *answers)
{
    memset(p, 0, sizeof *p);
    p->sql.ops = &played_ops;
    p->answers = answers;
    fr_buf_init(&p->log, MAX_LOG_BYTES);
}

/* Its end: a message of the test has a limit. */
static const char *log_of(const struct played *p)
{
    enum { SHOWN_BYTES = 3000 };
    const char *text = fr_buf_text(&p->log);

    return p->log.len > SHOWN_BYTES ? text + p->log.len - SHOWN_BYTES : text;
}

static bool was_said(const struct played *p, const char *what)
{
    return strstr(fr_buf_text(&p->log), what) != NULL;
}

/* -- bringing in --------------------------------------------------------------------- */

#define LOAD "11111111-1111-1111-1111-111111111111"
#define OTHER "22222222-2222-2222-2222-222222222222"
#define HEAP "[dbo].[fullrack_stage_1]"
#define DATE "2024-01-01 00:00:00.000"
#define THERE                                                                            \
    {                                                                                    \
        "OBJECT_ID(N'[dbo].[fullrack_ledger]', N'U') IS NOT NULL", "1", 0, 0             \
    }
#define TABLE_OBJECT                                                                     \
    {                                                                                    \
        "FROM sys.objects", "7|t|dbo|" DATE "|d|U", 0, 0                                 \
    }
#define CHECKS(indexes)                                                                  \
    {                                                                                    \
        "constraints_enabled",                                                           \
            "1|i|int|4|10|0|0|1|0|0|-|0|-;2|a|int|4|10|0|0|0|0|0|-|0|-;"                 \
            "3|c|int|4|10|0|1|0|1|0|-|0|-;0|0|" indexes "|-|0|0|0|0",                    \
            0, 0                                                                         \
    }
#define HEAPS(rows)                                                                      \
    {                                                                                    \
        "AS is_brought", rows, 0, 0                                                      \
    }
#define ONE LOAD "|0|" HEAP "|7|" DATE "|0|5"
#define MARKED                                                                           \
    {                                                                                    \
        "AS marked", "1", 0, 0                                                           \
    }
#define COMMITTED                                                                        \
    {                                                                                    \
        "COMMIT TRANSACTION; SELECT 1", "1", 0, 0                                        \
    }
#define COUNTED(rows)                                                                    \
    {                                                                                    \
        "INSERT INTO [dbo].[t]", rows, 0, 0                                              \
    }
#define START THERE, TABLE_OBJECT

static const struct bring_case {
    const char *what;
    struct answer answers[16];
    int64_t tasks;
    bool keep_identity, tablock;
    const char *truncate_group;
    fr_status st;
    int64_t rows;
    const char *said, *not_said; /* to the server */
} bring_cases[] = {
    {"a plain heap",
     {START, CHECKS("0"), HEAPS(ONE), MARKED, COMMITTED, COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "INSERT INTO [dbo].[t] WITH (TABLOCK) ([a])\nSELECT [a] FROM " HEAP,
     "IDENTITY"},
    {"a table with an index",
     {START, CHECKS("1"), HEAPS(ONE), MARKED, COMMITTED, COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "INSERT INTO [dbo].[t] ([a])",
     "TABLOCK)"},
    {"--hint none",
     {START, CHECKS("0"), HEAPS(ONE), MARKED, COMMITTED, COUNTED("5")},
     1,
     false,
     false,
     "",
     FR_OK,
     5,
     "INSERT INTO [dbo].[t] ([a])",
     "TABLOCK)"},
    {"-E",
     {START, CHECKS("0"), HEAPS(ONE), MARKED, COMMITTED, COUNTED("5")},
     1,
     true,
     true,
     "",
     FR_OK,
     5,
     "SET IDENTITY_INSERT [dbo].[t] ON;\nINSERT INTO [dbo].[t] WITH "
     "(TABLOCK) ([i], [a])\nSELECT [i], [a] FROM",
     "SWITCH TO"},
    {"a switch",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"may_switch", "1", 0, 0},
      {"(TABLOCKX, HOLDLOCK)", "1", 0, 0},
      {"SELECT COUNT_BIG", "5", 0, 0}},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "ALTER TABLE " HEAP " SWITCH TO [dbo].[t]",
     "INSERT INTO [dbo].[t]"},
    {"two heaps that were made for partitions",
     {START,
      CHECKS("0"),
      HEAPS(ONE ";" OTHER "|0|" HEAP "|7|" DATE "|0|5"),
      MARKED,
      COMMITTED,
      {"fullrack[_]partition", "fullrack_partition_12_1", 0, 0},
      {"SELECT COUNT_BIG", "5", 0, 0}},
     2,
     false,
     true,
     "",
     FR_OK,
     10,
     "ALTER TABLE " HEAP " SWITCH TO [dbo].[t] PARTITION 12;",
     "INSERT INTO [dbo].[t]"},
    {"a heap with other rows than the ledger says",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"fullrack[_]partition", "fullrack_partition_12_1", 0, 0},
      {"SELECT COUNT_BIG", "4", 0, 0}},
     1,
     false,
     true,
     "",
     FR_EDATA,
     0,
     "ROLLBACK",
     "COMMIT"},
    {"a partition that is not empty",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"fullrack[_]partition", "fullrack_partition_12_1", 0, 0},
      {"SELECT COUNT_BIG", "5", 0, 0},
      {"SWITCH TO", NULL, 4904, 0},
      COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "INSERT INTO [dbo].[t]",
     NULL},
    {"a target with rows",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"may_switch", "1", 0, 0},
      {"(TABLOCKX, HOLDLOCK)", "0", 0, 0},
      COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "INSERT INTO [dbo].[t]",
     "SWITCH TO"},
    {"a catalog without what is asked",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"may_switch", NULL, 207, 0},
      COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "ROLLBACK TRANSACTION\nSET XACT_ABORT ON; BEGIN",
     "SWITCH TO"},
    {"a switch that is refused",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"may_switch", "1", 0, 0},
      {"(TABLOCKX, HOLDLOCK)", "1", 0, 0},
      {"SWITCH TO", NULL, 4947, 0},
      COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "INSERT INTO [dbo].[t]",
     NULL},
    {"a switch that lost a deadlock",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"may_switch", "1", 0, 0},
      {"(TABLOCKX, HOLDLOCK)", "1", 0, 0},
      {"SWITCH TO", NULL, 1205, 0}},
     1,
     false,
     true,
     "",
     FR_EDB,
     0,
     "ROLLBACK",
     "INSERT INTO [dbo].[t]"},
    {"rows of a trigger in front",
     {START, CHECKS("0"), HEAPS(ONE), MARKED, COMMITTED, COUNTED("99;5")},
     1,
     false,
     true,
     "",
     FR_OK,
     5,
     "COMMIT TRANSACTION; SELECT 1",
     NULL},
    {"another count",
     {START, CHECKS("0"), HEAPS(ONE), MARKED, COMMITTED, COUNTED("4")},
     1,
     false,
     true,
     "",
     FR_EDATA,
     0,
     "ROLLBACK",
     "COMMIT TRANSACTION"},
    {"a load that is not done",
     {START, CHECKS("0"), HEAPS(ONE), MARKED, COMMITTED},
     2,
     false,
     true,
     "",
     FR_EDATA,
     0,
     "ROLLBACK",
     "INSERT INTO [dbo].[t]"},
    {"all of it brought in before",
     {START, CHECKS("0"), HEAPS(LOAD "|0|" HEAP "|7|" DATE "|1|5"), COMMITTED},
     1,
     false,
     true,
     LOAD,
     FR_OK,
     0,
     "COMMIT TRANSACTION; SELECT 1",
     "TRUNCATE TABLE"},
    {"one of two",
     {START, CHECKS("0"),
      HEAPS(LOAD "|0|[dbo].[first]|7|" DATE "|1|5;" OTHER "|0|" HEAP "|7|" DATE "|0|5"),
      MARKED, COMMITTED, COUNTED("5")},
     2,
     false,
     true,
     LOAD,
     FR_OK,
     5,
     "TRUNCATE TABLE [dbo].[t]",
     "FROM [dbo].[first]"},
    {"another table of that name",
     {START, CHECKS("0"), HEAPS(LOAD "|0|" HEAP "|8|" DATE "|0|5"), COMMITTED},
     1,
     false,
     true,
     "",
     FR_EDATA,
     0,
     "ROLLBACK",
     "INSERT INTO [dbo].[t]"},
    {"somebody else marked it",
     {START, CHECKS("0"), HEAPS(ONE), {"AS marked", "0", 0, 0}, COMMITTED, COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_EDATA,
     0,
     "ROLLBACK",
     "COMMIT TRANSACTION"},
    {"a transaction that a trigger ended",
     {START,
      CHECKS("0"),
      HEAPS(ONE),
      MARKED,
      {"COMMIT TRANSACTION; SELECT 1", "0", 0, 0},
      COUNTED("5")},
     1,
     false,
     true,
     "",
     FR_EDB,
     0,
     "COMMIT TRANSACTION",
     NULL},
    {"what the target refuses",
     {START,
      CHECKS("1"),
      HEAPS(ONE),
      MARKED,
      COMMITTED,
      {"INSERT INTO [dbo].[t]", NULL, 2627, 0}},
     1,
     false,
     true,
     "",
     FR_EDB,
     0,
     "ROLLBACK",
     "COMMIT TRANSACTION"},
};

START_TEST(test_bring_in)
{
    const struct bring_case *c = &bring_cases[_i];
    struct fr_stage_group g = {.place = {"dbo", "fullrack_ledger"},
                               .group = LOAD,
                               .table = "dbo.t",
                               .tasks = c->tasks,
                               .keep_identity = c->keep_identity,
                               .tablock = c->tablock,
                               .truncate_group = c->truncate_group};
    struct fr_stage_result r;
    struct fr_err err = {0};
    struct played p;
    fr_status st;

    play_begin(&p, c->answers);
    st = fr_stage_bring_in(&p.sql, &g, &r, &err);
    ck_assert_msg(st == c->st, "%s: status %d: %s\n%s", c->what, (int)st, err.text,
                  log_of(&p));
    ck_assert_msg(r.rows == c->rows, "%s: %d rows", c->what, (int)r.rows);
    ck_assert_msg(was_said(&p, c->said), "%s: \"%s\" was not said:\n%s", c->what, c->said,
                  log_of(&p));
    ck_assert_msg(c->not_said == NULL || !was_said(&p, c->not_said),
                  "%s: \"%s\" was said", c->what, c->not_said);
    fr_buf_free(&p.log);
}
END_TEST

/* -- making a stage table ------------------------------------------------------------ */

#define NEW                                                                              \
    {                                                                                    \
        "FROM (SELECT 1 AS one)", "-|-|-|-|0|0", 0, 0                                    \
    }
#define MADE                                                                             \
    {                                                                                    \
        "FROM sys.objects", "9|fullrack_stage_1|dbo|" DATE "|d|U", 0, 0                  \
    }
#define DEFAULTS                                                                         \
    {                                                                                    \
        "sys.default_constraints", "2|((0));3|(getdate())", 0, 0                         \
    }
#define NAME "[dbo].[fullrack_stage_11111111111111111111111111111111]"

static const struct open_case {
    const char *what;
    struct answer answers[8];
    bool keep_identity, in_range;
    fr_status st;
    const char *said, *not_said;
    const char *text; /* in the error */
} open_cases[] = {
    {"a new one",
     {NEW, MADE, DEFAULTS},
     false,
     false,
     FR_OK,
     "CREATE TABLE " NAME " (\n[a] int NOT NULL DEFAULT ((0)),\n[d] varchar(10) COLLATE "
     "Latin1_General_BIN2 NULL DEFAULT (getdate()))\n",
     NULL,
     NULL},
    {"with -E, of a range",
     {NEW, MADE, DEFAULTS},
     true,
     true,
     FR_OK,
     "11111111_4096] (\n[i] int NOT NULL,\n[a] int NOT NULL",
     NULL,
     NULL},
    {"on its filegroup",
     {NEW, MADE, DEFAULTS, {"sys.data_spaces", "fg]1", 0, 0}},
     false,
     false,
     FR_OK,
     "(getdate())) ON [fg]]1]\n",
     NULL,
     NULL},
    {"no filegroups",
     {NEW, MADE, DEFAULTS, {"sys.data_spaces", NULL, 208, 0}},
     false,
     false,
     FR_OK,
     "CREATE TABLE",
     " ON [",
     NULL},
    {"another was faster",
     {NEW, MADE, DEFAULTS, {"CREATE TABLE", NULL, 2714, 0}},
     false,
     false,
     FR_OK,
     "CREATE TABLE",
     NULL,
     NULL},
    {"no right",
     {NEW, MADE, DEFAULTS, {"CREATE TABLE", NULL, 262, 0}},
     false,
     false,
     FR_EARG,
     "CREATE TABLE",
     NULL,
     "needs CREATE TABLE"},
    {"a default that is not seen",
     {NEW, MADE, {"sys.default_constraints", "2|-", 0, 0}},
     false,
     false,
     FR_EARG,
     "default_constraints",
     "CREATE TABLE",
     "VIEW DEFINITION"},
    {"begun before",
     {{"FROM (SELECT 1 AS one)", "open|9|" DATE "|" NAME "|0|1", 0, 0}, MADE},
     false,
     false,
     FR_OK,
     "sys.objects",
     "CREATE TABLE",
     NULL},
    {"begun, and gone",
     {{"FROM (SELECT 1 AS one)", "open|9|" DATE "|" NAME "|0|0", 0, 0}},
     false,
     false,
     FR_EARG,
     "sys.objects",
     "CREATE TABLE",
     "is gone"},
    {"done, and brought in",
     {{"FROM (SELECT 1 AS one)", "done|9|" DATE "|" NAME "|1|0", 0, 0}},
     false,
     false,
     FR_OK,
     "SELECT 1 AS one",
     "CREATE TABLE",
     NULL},
    {"begun without it",
     {{"FROM (SELECT 1 AS one)", "open|7|" DATE "|-|0|0", 0, 0}},
     false,
     false,
     FR_EARG,
     "SELECT 1 AS one",
     "CREATE TABLE",
     "begun without --stage"},
};

static struct fr_table *target_table(void)
{
    struct fr_table *t = calloc(1, sizeof *t);
    struct fr_err err;
    struct fr_column *c;

    t->quoted = strdup("[dbo].[t]");
    t->display = strdup("dbo.t");
    t->object_id = 7;
    snprintf(t->create_date, sizeof t->create_date, DATE);
    fr_table_add_column(t, "i", "int", &err)->identity = true;
    fr_table_add_column(t, "a", "int", &err)->has_default = true;
    c = fr_table_add_column(t, "d", "varchar", &err);
    c->max_bytes = 10;
    c->nullable = c->has_default = true;
    c->collation = strdup("Latin1_General_BIN2");
    fr_table_add_column(t, "r", "rowversion", &err);
    return t;
}

START_TEST(test_open)
{
    const struct open_case *c = &open_cases[_i];
    struct fr_head_key key = {.place = {"dbo", "fullrack_ledger"},
                              .load_id = LOAD,
                              .range_start = c->in_range ? 4096 : 0,
                              .range_end = c->in_range ? 8192 : -1};
    struct fr_stage_load load = {
        .key = &key, .group = OTHER, .keep_identity = c->keep_identity};
    struct fr_table *target = target_table(), *stage = NULL;
    struct fr_err err = {0};
    struct played p;
    fr_status st;

    play_begin(&p, c->answers);
    st = fr_stage_open(&p.sql, &load, target, &stage, &err);
    ck_assert_msg(st == c->st, "%s: status %d: %s", c->what, (int)st, err.text);
    ck_assert_msg(was_said(&p, c->said), "%s: \"%s\" was not said:\n%s", c->what, c->said,
                  log_of(&p));
    ck_assert_msg(c->not_said == NULL || !was_said(&p, c->not_said),
                  "%s: \"%s\" was said", c->what, c->not_said);
    ck_assert_msg(c->text == NULL || strstr(err.text, c->text) != NULL, "%s: %s", c->what,
                  err.text);
    ck_assert_msg((stage != NULL) == (st == FR_OK), "%s: a table", c->what);
    if (stage != NULL) {
        ck_assert_str_eq(stage->display, "dbo.t");
        ck_assert_int_eq(stage->object_id, 9);
        ck_assert_uint_eq(stage->column_count, 4);
        ck_assert_int_eq(stage->columns[0].identity, !c->keep_identity);
        ck_assert(stage->is_stage);
    }
    fr_table_free(&stage);
    fr_table_free(&target);
    fr_buf_free(&p.log);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stage");
    TCase *t = tcase_create("stage");

    tcase_add_loop_test(t, test_bring_in, 0, (int)COUNT_OF(bring_cases));
    tcase_add_loop_test(t, test_open, 0, (int)COUNT_OF(open_cases));
    suite_add_tcase(s, t);
    return suite_run(s);
}
