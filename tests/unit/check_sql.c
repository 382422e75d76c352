/*
 * check_sql.c - batches of T-SQL and what they answer: binder, statements, definitions,
 * system views.
 *
 * Each group of cases runs in order on a server of its own.
 */
#include "support/frd_batch.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct batch_case {
    const char *sql;
    const char *want;
};

static void run_cases(const struct batch_case *c, size_t n, bool types)
{
    struct test_server ts;
    struct test_session t;

    test_server_start(&ts, false);
    test_session_open(&ts, &t);
    t.types = types;
    for (size_t i = 0; i < n; i++) {
        const char *got = test_run(&t, c[i].sql);

        ck_assert_msg(strcmp(got, c[i].want) == 0, "%s\ngot:\n%swant:\n%s", c[i].sql, got,
                      c[i].want);
    }
    test_session_close(&t);
    test_server_stop(&ts);
}

/* expression → name and type of its column */
static const struct batch_case type_cases[] = {
    {"SELECT 1, 'ab', N'ab', 1.50, 1e0, $1, 0x4100",
     " int| varchar(2)| nvarchar(2)| numeric(3,2)| float| money| "
     "varbinary(2)\n1|ab|ab|1.50|1|1.00|A\n"},
    {"SELECT NULL", " int?\nNULL\n"},
    {"SELECT 2.0/3 AS q", "q numeric(7,6)\n0.666666\n"},
    {"SELECT 7/2 AS q, 7%2 AS m, -7/2", "q int|m int| int\n3|1|-3\n"},
    {"SELECT CAST(1 AS bigint) + 1, CAST(1 AS tinyint) + CAST(2 AS smallint)",
     " bigint| smallint\n2|3\n"},
    {"SELECT CAST(1 AS decimal(5,2)) * CAST(2 AS decimal(5,3))",
     " decimal(11,5)\n2.00000\n"},
    {"SELECT 'a' + N'b', 'a' + 'bc'", " nvarchar(2)| varchar(3)\nab|abc\n"},
    {"SELECT CASE WHEN 1 = 1 THEN 1 ELSE 2.5 END", " numeric(11,1)\n1.0\n"},
    {"SELECT COUNT(*), COUNT_BIG(*), SUM(v), AVG(v), MIN(v) FROM (VALUES (1), (2)) AS "
     "x(v)",
     " int| bigint| int?| int?| int?\n2|2|3|1|1\n"},
    {"SELECT SUM(v), AVG(v) FROM (VALUES (1.50), (2.25)) AS x(v)",
     " numeric(38,2)?| numeric(38,6)?\n3.75|1.875000\n"},
    {"SELECT CONVERT(varchar(10), CAST('2024-02-29' AS date), 112)",
     " varchar(10)\n20240229\n"},
    {"CREATE TABLE t (a int NOT NULL, b AS (a + 1), c nchar(3) NULL, d datetime2(3) NOT "
     "NULL, e decimal(9,2) NULL)",
     ""},
    {"SELECT * FROM t",
     "a int|b int? computed|c nchar(3)?|d datetime2(3)|e decimal(9,2)?\n"},
    {"SELECT x.a, y.a FROM t AS x LEFT JOIN t AS y ON x.a = y.a", "a int|a int?\n"},
};

static const struct batch_case query_cases[] = {
    {"CREATE TABLE p (a int NOT NULL PRIMARY KEY, b varchar(20) NULL)", ""},
    {"INSERT p VALUES (1, 'x'), (2, NULL), (3, 'Y')", ""},
    {"SELECT a FROM p WHERE b = 'X'", "1\n"},
    {"SELECT a FROM p WHERE b = 'x   '", "1\n"},
    {"SELECT a FROM p WHERE b = 'X' COLLATE Latin1_General_BIN2", ""},
    {"SELECT a FROM p WHERE b <> 'x'", "3\n"},
    {"SELECT a FROM p WHERE NOT (b = 'x')", "3\n"},
    {"SELECT a FROM p WHERE b IS NULL OR a IN (3, 4) ORDER BY a DESC", "3\n2\n"},
    {"SELECT a FROM p WHERE a NOT IN (SELECT NULL UNION SELECT 1)", ""},
    {"SELECT a FROM p WHERE b LIKE '[w-y]'", "1\n3\n"},
    {"SELECT a FROM p WHERE b LIKE 'x!_%' ESCAPE '!'", ""},
    {"SELECT TOP (1) a FROM p ORDER BY a DESC", "3\n"},
    {"SELECT a FROM p ORDER BY a OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", "2\n"},
    {"SELECT a AS k, b FROM p ORDER BY b, k", "2|NULL\n1|x\n3|Y\n"},
    {"SELECT a FROM p ORDER BY 2", "!108\n"},
    {"SELECT COUNT(*) AS n, a % 2 FROM p GROUP BY a % 2 HAVING COUNT(*) > 1", "2|1\n"},
    {"SELECT b FROM p GROUP BY a", "!8120\n"},
    {"SELECT a, COUNT(*) FROM p", "!8120\n"},
    {"SELECT a FROM p WHERE COUNT(*) > 1", "!147\n"},
    {"SELECT (SELECT a FROM p)", "!512\n"},
    {"SELECT (SELECT a FROM p WHERE a = 7)", "NULL\n"},
    {"SELECT x FROM p", "!207\n"},
    {"SELECT q.a FROM p", "!4104\n"},
    {"SELECT a FROM p, p AS q", "!209\n"},
    {"SELECT * FROM nosuch", "!208\n"},
    {"SELECT 1 UNION SELECT 1, 2", "!205\n"},
    {"SELECT 1 AS v UNION ALL SELECT 2.5 UNION SELECT 3 ORDER BY v DESC",
     "3.0\n2.5\n1.0\n"},
    {"SELECT a FROM p EXCEPT SELECT 2 ORDER BY 1", "1\n3\n"},
    {"SELECT a FROM p INTERSECT SELECT 2", "2\n"},
    {"SELECT * FROM (SELECT a + 1 FROM p) AS d", "!8155\n"},
    {"SELECT d.n FROM (SELECT a + 1 AS n FROM p) AS d WHERE d.n > 3", "4\n"},
    {"WITH r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT SUM(n) "
     "FROM r",
     "15\n"},
    {"WITH q AS (SELECT a FROM p), w AS (SELECT a FROM q WHERE a > 1) SELECT COUNT(*) "
     "FROM w",
     "2\n"},
    {"SELECT a, ROW_NUMBER() OVER (ORDER BY a DESC) AS n FROM p ORDER BY a",
     "1|3\n2|2\n3|1\n"},
    {"SELECT a, SUM(a) OVER (PARTITION BY a % 2 ORDER BY a) FROM p ORDER BY a",
     "1|1\n2|2\n3|4\n"},
    {"SELECT p.a, q.a FROM p FULL JOIN (SELECT 2 AS a UNION SELECT 9) AS q ON p.a = q.a "
     "ORDER BY 1, 2",
     "NULL|9\n1|NULL\n2|2\n3|NULL\n"},
    {"SELECT a FROM p WHERE EXISTS (SELECT 1 FROM p AS q WHERE q.a = p.a + 1)", "1\n2\n"},
    {"SELECT a FROM p WHERE a > ALL (SELECT 1 UNION SELECT 2)", "3\n"},
    {"SELECT DISTINCT LOWER(b) FROM p ORDER BY 1", "NULL\nx\ny\n"},
    {"DECLARE @s nvarchar(50) = N''; SELECT @s = @s + COALESCE(b, '-') FROM p ORDER BY "
     "a; SELECT @s",
     "x-Y\n"},
    {"DECLARE @n int; SELECT @n = a FROM p WHERE a = 9; SELECT @n", "NULL\n"},
    {"SELECT 1/0", "!8134\n"},
    {"SELECT 2147483647 + 1", "!8115\n"},
    {"SELECT CAST('1x' AS int)", "!245\n"},
    {"SELECT TRY_CAST('1x' AS int), ISNULL(NULL, 5), NULLIF(1, 1), IIF(1 = 2, 'a', 'b')",
     "NULL|5|NULL|b\n"},
    {"SELECT SUM(a) FROM (VALUES (2147483647), (1)) AS x(a)", "!8115\n"},
    {"SELECT a FROM p WHERE a", "!4145\n"},
    {"SELECT a INTO s FROM p WHERE a > 1; SELECT a FROM s", "2\n3\n"},
    {"SELECT a INTO s FROM p", "!2714\n"},
    {"EXEC ('CREATE VIEW v AS SELECT a, b FROM p WHERE a < 3'); SELECT a FROM v",
     "1\n2\n"},
};

static const struct batch_case change_cases[] = {
    {"CREATE TABLE t (id int IDENTITY(10, 5) NOT NULL PRIMARY KEY, v varchar(5) NOT "
     "NULL, n int NULL CHECK (n < 100), "
     "d int NOT NULL DEFAULT 7, c AS (n * 2))",
     ""},
    {"INSERT t (v, n) OUTPUT inserted.id, inserted.c, inserted.d VALUES ('a', 1), ('b', "
     "2)",
     "10|2|7\n15|4|7\n"},
    {"INSERT t (v) VALUES ('too long')", "!2628\n"},
    {"INSERT t (n) VALUES (1)", "!515\n"},
    {"INSERT t (v, n) VALUES ('c', 100)", "!547\n"},
    {"INSERT t (id, v) VALUES (1, 'c')", "!544\n"},
    {"INSERT t (c, v) VALUES (1, 'c')", "!271\n"},
    {"INSERT t (v, n) VALUES ('c')", "!109\n"},
    {"INSERT t (v) VALUES ('c', 1)", "!110\n"},
    {"INSERT t VALUES ('c')", "!213\n"},
    {"INSERT t (v, v) VALUES ('c', 'd')", "!264\n"},
    {"INSERT t (nosuch) VALUES (1)", "!207\n"},
    {"SET IDENTITY_INSERT t ON; INSERT t (id, v) VALUES (100, 'x'); SET IDENTITY_INSERT "
     "t OFF; "
     "INSERT t (v, d) VALUES ('y', DEFAULT); SELECT id, d FROM t; SELECT "
     "SCOPE_IDENTITY()",
     "10|7\n15|7\n100|7\n105|7\n105\n"},
    {"BEGIN TRAN; INSERT t (v) VALUES ('z'); ROLLBACK; INSERT t (v) VALUES ('z'); SELECT "
     "MAX(id) FROM t",
     "115\n"},
    {"UPDATE t SET n = 5, v = v + '!' OUTPUT deleted.v, inserted.v, inserted.c WHERE id "
     "= 10",
     "a|a!|10\n"},
    {"UPDATE t SET id = 1", "!8102\n"},
    {"UPDATE t SET c = 1", "!271\n"},
    {"UPDATE t SET v = NULL WHERE id = 10", "!515\n"},
    {"UPDATE t SET n = 200 WHERE id = 10", "!547\n"},
    {"DECLARE @n int; UPDATE t SET @n = n = n + 1 WHERE id = 10; SELECT @n, @@ROWCOUNT",
     "6|1\n"},
    {"UPDATE TOP (1) t SET n = 50; SELECT COUNT(*) FROM t WHERE n = 50", "1\n"},
    {"UPDATE q SET n = s.n FROM t AS q JOIN (SELECT 15 AS id, 33 AS n) AS s ON s.id = "
     "q.id; SELECT n FROM t WHERE id = 15",
     "33\n"},
    {"UPDATE t SET n += 1 OUTPUT s.w, inserted.n FROM t JOIN (SELECT 15 AS id, 'w' AS w) "
     "AS s ON s.id = t.id",
     "w|34\n"},
    {"DELETE t OUTPUT deleted.id WHERE id >= 100", "100\n105\n115\n"},
    {"DELETE FROM t WHERE id = 10; SELECT @@ROWCOUNT", "1\n"},
    {"CREATE TABLE k (a int PRIMARY KEY, b int NULL UNIQUE); INSERT k VALUES (1, 1), (2, "
     "2), (3, NULL)",
     ""},
    {"UPDATE k SET a = a + 1; SELECT a FROM k", "2\n3\n4\n"},
    {"UPDATE k SET a = 2", "!2627\n"},
    {"INSERT k VALUES (9, NULL)", "!2627\n"},
    {"INSERT k SELECT a + 10, b + 10 FROM k; SELECT COUNT(*) FROM k", "!2627\n3\n"},
    {"INSERT k SELECT a + 10, b + 10 FROM k WHERE b IS NOT NULL; SELECT COUNT(*) FROM k",
     "5\n"},
    {"CREATE TABLE l (x int, o int); DELETE k OUTPUT deleted.a, 1 INTO l (x, o) WHERE a "
     "> 10; SELECT x FROM l ORDER BY x",
     "12\n13\n"},
    {"CREATE TABLE f (a int NULL REFERENCES k (a), w int)", ""},
    {"INSERT f VALUES (77, 1)", "!547\n"},
    {"INSERT f VALUES (2, 1), (NULL, 2)", ""},
    {"DELETE k WHERE a = 2", "!547\n"},
    {"UPDATE k SET a = 20 WHERE a = 2", "!547\n"},
    {"TRUNCATE TABLE k", "!4712\n"},
    {"DROP TABLE k", "!3726\n"},
    {"CREATE TABLE g (a int REFERENCES k (a) ON DELETE CASCADE, b int); INSERT g VALUES "
     "(3, 1); DELETE k WHERE a = 3; "
     "SELECT COUNT(*) FROM g",
     "0\n"},
    {"CREATE TABLE i (x int IDENTITY); INSERT i DEFAULT VALUES; TRUNCATE TABLE i; INSERT "
     "i DEFAULT VALUES; SELECT x FROM i",
     "1\n"},
    {"DECLARE @t TABLE (a int PRIMARY KEY, b int); INSERT @t VALUES (1, 2), (2, 3); "
     "UPDATE @t SET b = 9 WHERE a = 2; "
     "SELECT b FROM @t",
     "2\n9\n"},
    {"CREATE TABLE #x (a int); INSERT #x VALUES (1); SELECT a FROM #x; DROP TABLE #x; "
     "SELECT a FROM #x",
     "1\n!208\n"},
    {"EXEC ('CREATE PROC pr @a int AS SELECT @a AS a, ''q'' AS b'); CREATE TABLE e (a "
     "int, b varchar(3)); "
     "INSERT e EXEC pr 4; SELECT * FROM e",
     "4|q\n"},
    {"BEGIN TRY INSERT k VALUES (2, 5) END TRY BEGIN CATCH SELECT ERROR_NUMBER() END "
     "CATCH",
     "2627\n"},
    {"CREATE TABLE w (a int); INSERT w VALUES (1), (2), (3); SET ROWCOUNT 1; UPDATE w "
     "SET a = 9; INSERT w SELECT a FROM w; "
     "DELETE w WHERE a = 9; SELECT a FROM w; SET ROWCOUNT 0; SELECT COUNT(*) FROM w",
     "2\n3\n"},
    {"CREATE TABLE r (a int, v rowversion); INSERT r (a) VALUES (1), (2); SELECT "
     "COUNT(DISTINCT v) FROM r",
     "2\n"},
};

static const struct batch_case define_cases[] = {
    {"CREATE TABLE t (a int NOT NULL CONSTRAINT pk_t PRIMARY KEY, b varchar(10) NULL)",
     ""},
    {"CREATE TABLE t (a int)", "!2714\n"},
    {"CREATE TABLE u (a int, a int)", "!2705\n"},
    {"CREATE TABLE u (a nosuch)", "!2715\n"},
    {"CREATE TABLE nosuch.u (a int)", "!2760\n"},
    {"CREATE TABLE u (a int IDENTITY, b int IDENTITY)", "!2744\n"},
    {"CREATE TABLE u (a int, b AS (nosuch + 1))", "!207\n"},
    {"CREATE TABLE u (a int CHECK (nosuch > 1))", "!207\n"},
    {"INSERT t VALUES (1, 'x'), (2, 'x')", ""},
    {"ALTER TABLE t ADD c int NOT NULL", "!4901\n"},
    {"ALTER TABLE t ADD c int NOT NULL CONSTRAINT df_c DEFAULT 5, d int NULL; SELECT a, "
     "c, d FROM t",
     "1|5|NULL\n2|5|NULL\n"},
    {"ALTER TABLE t ADD CONSTRAINT uq_b UNIQUE (b)", "!1505\n"},
    {"ALTER TABLE t ADD CONSTRAINT ck_a CHECK (a > 1)", "!547\n"},
    {"ALTER TABLE t WITH NOCHECK ADD CONSTRAINT ck_a CHECK (a > 1); SELECT "
     "is_not_trusted FROM sys.check_constraints",
     "1\n"},
    {"ALTER TABLE t DROP COLUMN c", "!5074\n"},
    {"ALTER TABLE t DROP CONSTRAINT df_c; ALTER TABLE t DROP COLUMN c; SELECT * FROM t",
     "1|x|NULL\n2|x|NULL\n"},
    {"ALTER TABLE t DROP CONSTRAINT nosuch", "!3728\n"},
    {"ALTER TABLE t DROP CONSTRAINT IF EXISTS nosuch", ""},
    {"ALTER TABLE t ALTER COLUMN d varchar(5) NULL; UPDATE t SET d = 'q'; SELECT d FROM "
     "t WHERE a = 1",
     "!547\nNULL\n"},
    {"ALTER TABLE t NOCHECK CONSTRAINT ck_a; UPDATE t SET d = 'q'; SELECT d FROM t WHERE "
     "a = 1",
     "q\n"},
    {"CREATE INDEX ix ON t (b, d DESC) INCLUDE (a)", ""},
    {"CREATE INDEX ix ON t (b)", "!1913\n"},
    {"CREATE INDEX iy ON t (nosuch)", "!1911\n"},
    {"SELECT i.name, c.key_ordinal, c.is_descending_key, c.is_included_column FROM "
     "sys.indexes AS i JOIN sys.index_columns AS c "
     "ON c.object_id = i.object_id AND c.index_id = i.index_id ORDER BY i.index_id, "
     "c.index_column_id",
     "pk_t|1|0|0\nix|1|0|0\nix|2|1|0\nix|0|0|1\n"},
    {"DROP INDEX ix ON t; DROP INDEX ix ON t", "!3701\n"},
    {"DROP INDEX pk_t ON t", "!3723\n"},
    {"DROP TABLE nosuch", "!3701\n"},
    {"DROP TABLE IF EXISTS nosuch", ""},
    {"CREATE SCHEMA s; ", ""},
    {"CREATE TABLE s.t (a int); SELECT s.name FROM sys.tables AS t JOIN sys.schemas AS s "
     "ON s.schema_id = t.schema_id ORDER BY 1",
     "dbo\ns\n"},
    {"DROP SCHEMA s", "!3729\n"},
    {"CREATE DATABASE [odd name]]%]; SELECT name FROM sys.databases WHERE database_id > "
     "4",
     "odd name]%\n"},
    {"CREATE DATABASE [ODD NAME]]%]", "!1801\n"},
    {"USE [odd name]]%]; CREATE TABLE x (a int); INSERT x VALUES (42)", ""},
    {"SELECT a FROM x; USE master; SELECT a FROM [odd name]]%].dbo.x; INSERT [odd "
     "name]]%]..x VALUES (1)",
     "42\n42\n"},
    {"SELECT COUNT(*) FROM [odd name]]%].sys.tables", "1\n"},
    {"DROP DATABASE [odd name]]%]; USE [odd name]]%]", "!911\n"},
    {"BEGIN TRAN; CREATE TABLE z (a int); INSERT z VALUES (1); SELECT a FROM z; "
     "ROLLBACK; SELECT a FROM z",
     "1\n!208\n"},
    {"CREATE TABLE z (a int, CONSTRAINT ck CHECK (a > 0), INDEX ia (a)); SELECT name "
     "FROM sys.objects WHERE type IN ('U', 'C') "
     "ORDER BY name",
     "ck\nck_a\nt\nt\nz\n"},
    {"SELECT name, definition FROM sys.check_constraints WHERE name = 'ck'",
     "ck|(a > 0)\n"},
    {"SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE FROM INFORMATION_SCHEMA.COLUMNS WHERE "
     "TABLE_NAME = 'z'",
     "a|int|YES\n"},
    {"CREATE TABLE y (a nvarchar(10) NOT NULL, b decimal(9,3), c datetime2(3), d "
     "varbinary(max), e sysname)",
     ""},
    {"SELECT name, TYPE_NAME(system_type_id), max_length, precision, scale, is_nullable "
     "FROM sys.columns "
     "WHERE object_id = (SELECT object_id FROM sys.tables WHERE name = 'y') ORDER BY "
     "column_id",
     "a|nvarchar|20|0|0|0\nb|decimal|5|9|3|1\nc|datetime2|7|23|3|1\nd|varbinary|-1|0|0|"
     "1\ne|nvarchar|256|0|0|1\n"},
    {"SELECT COUNT(*) FROM sys.dm_os_schedulers WHERE status = N'VISIBLE ONLINE'", "2\n"},
    {"SELECT status FROM sys.dm_exec_requests WHERE session_id = @@SPID", "running\n"},
    {"SELECT COUNT(*) FROM sys.triggers", "0\n"},
};

#define GROUP(name, cases, types)                                                        \
    START_TEST(name)                                                                     \
    {                                                                                    \
        run_cases(cases, sizeof(cases) / sizeof((cases)[0]), types);                     \
    }                                                                                    \
    END_TEST

GROUP(test_types, type_cases, true)
GROUP(test_queries, query_cases, false)
GROUP(test_changes, change_cases, false)
GROUP(test_definitions, define_cases, false)

/* What was committed is there after a restart; what was not is not. */
START_TEST(test_restart)
{
    struct test_server ts;
    struct test_session t;

    test_server_start(&ts, false);
    test_session_open(&ts, &t);
    ck_assert_str_eq(test_run(&t, "CREATE DATABASE d"), "");
    ck_assert_str_eq(test_run(&t, "USE d; CREATE TABLE t (i int IDENTITY PRIMARY KEY, v "
                                  "int); INSERT t VALUES (5)"),
                     "");
    ck_assert_str_eq(test_run(&t, "BEGIN TRAN; INSERT t VALUES (6)"), "");
    test_session_close(&t);
    test_server_restart(&ts);
    test_session_open(&ts, &t);
    ck_assert_str_eq(test_run(&t, "USE d; SELECT v FROM t"), "5\n");
    ck_assert_str_eq(test_run(&t, "INSERT t VALUES (7); SELECT MAX(i) FROM t"), "2\n");
    test_session_close(&t);
    test_server_stop(&ts);
}
END_TEST

/* A definition by one session shows in another; a reader does not wait for a writer. */
START_TEST(test_two_sessions)
{
    struct test_server ts;
    struct test_session a, b;

    test_server_start(&ts, false);
    test_session_open(&ts, &a);
    test_session_open(&ts, &b);
    ck_assert_str_eq(test_run(&a, "CREATE TABLE t (i int); INSERT t VALUES (1)"), "");
    ck_assert_str_eq(test_run(&b, "SELECT i FROM t"), "1\n");
    ck_assert_str_eq(test_run(&a, "ALTER TABLE t ADD j int NOT NULL DEFAULT 3"), "");
    ck_assert_str_eq(test_run(&b, "SELECT * FROM t"), "1|3\n");
    ck_assert_str_eq(
        test_run(&a, "BEGIN TRAN; UPDATE t SET i = 2; CREATE TABLE u (i int)"), "");
    ck_assert_str_eq(test_run(&b, "SELECT i FROM t; SELECT i FROM u"), "1\n!208\n");
    ck_assert_str_eq(test_run(&b, "SET LOCK_TIMEOUT 0; UPDATE t SET i = 3"), "!1222\n");
    ck_assert_str_eq(test_run(&a, "COMMIT"), "");
    ck_assert_str_eq(test_run(&b, "SELECT i FROM t; SELECT i FROM u"), "2\n");
    test_session_close(&a);
    test_session_close(&b);
    test_server_stop(&ts);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sql");
    TCase *tc = tcase_create("sql");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_types);
    tcase_add_test(tc, test_queries);
    tcase_add_test(tc, test_changes);
    tcase_add_test(tc, test_definitions);
    tcase_add_test(tc, test_restart);
    tcase_add_test(tc, test_two_sessions);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
