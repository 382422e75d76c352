/* Parser: each statement's tree, or the error and its line. */
#include "server/tsql/parser.h"

#include "../support/ast_text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *sql;
    int32_t error, line;
    const char *want; /* the tree, or the text of errors 102, 156, 40517 */
} cases[] = {
    {"SELECT 1, 2147483648, 1.50, .5, 1e3, 1e, $1.5, $, 0xABC, 0x, 'a''b', N'\\u00e9', NULL", 0, 0, "[select 1,numeric(10,0):2147483648,numeric(3,2):1.50,numeric(1,1):0.5,float:1000,float:1,money:15000,money:0,varbinary(2):0ABC,varbinary(1):,varchar(3):a'b,nvarchar(6):\\u00e9,NULL]"},
    {"SELECT a + b * c - d, (a + b) * c, -a + ~b, - - 1", 0, 0, "[select (- (+ a (* b c)) d),(* (+ a b) c),(+ (neg a) (~ b)),(neg (neg 1))]"},
    {"SELECT a & b | c ^ d % 2, 'x' + 'y' COLLATE Latin1_General_BIN", 0, 0, "[select (^ (| (& a b) c) (% d 2)),(+ varchar(1):x (collate varchar(1):y Latin1_General_BIN))]"},
    {"SELECT [a]]b], \"c\"\"d\", t.[e f], db..t.c, s.t.*, *", 0, 0, "[select a]b,c\"d,t.e f,db.t.c,s.t.*,*]"},
    {"SELECT x = 1, 2 AS y, 3 z, 4 AS 'w w', 5 'v'", 0, 0, "[select 1:x,2:y,3:z,4:w w,5:v]"},
    {"SELECT @x = a, @y += b FROM t", 0, 0, "[select @x=a,@y+=b from t]"},
    {"SELECT @x = a, b FROM t", 141, 1, ""},
    {"SELECT a FROM t WHERE a = 1 AND NOT b <> 2 OR c !< 3", 0, 0, "[select a from t where (or (and (= a 1) (not (<> b 2))) (>= c 3))]"},
    {"SELECT a FROM t WHERE (a = 1 OR b = 2) AND (c + 1) > 2", 0, 0, "[select a from t where (and (or (= a 1) (= b 2)) (> (+ c 1) 2))]"},
    {"SELECT a FROM t WHERE a IS NOT NULL AND b IS NULL AND c NOT BETWEEN 1 AND 2", 0, 0, "[select a from t where (and (and (not-isnull a) (isnull b)) (not-between c 1 2))]"},
    {"SELECT a FROM t WHERE a LIKE 'x!%' ESCAPE '!' AND b NOT LIKE N'y'", 0, 0, "[select a from t where (and (like a varchar(3):x!% varchar(1):!) (not-like b nvarchar(1):y))]"},
    {"SELECT a FROM t WHERE a IN (1, 2) AND b NOT IN (SELECT c FROM u) AND EXISTS (SELECT 1)", 0, 0, "[select a from t where (and (and (in a 1 2) (not-in b [select c from u])) (exists [select 1]))]"},
    {"SELECT a FROM t WHERE a > ALL (SELECT b FROM u) OR a = SOME (SELECT 1)", 0, 0, "[select a from t where (or (>-all a [select b from u]) (=-any a [select 1]))]"},
    {"SELECT CASE WHEN a = 1 THEN 'x' ELSE 'y' END, CASE a WHEN 1 THEN 2 END", 0, 0, "[select (case when (= a 1) varchar(1):x else varchar(1):y),(case a when 1 2)]"},
    {"SELECT CAST(a AS varchar), CONVERT(nvarchar(10), b, 121), TRY_CAST(c AS decimal(10, 2)), TRY_CONVERT(varchar(max), d)", 0, 0, "[select (cast varchar a),(cast nvarchar(10) b 121),(try decimal(10,2) c),(try varchar(max) d)]"},
    {"SELECT COUNT(*), COUNT(DISTINCT a), SUM(ALL b), @@ROWCOUNT, GETDATE(), CURRENT_TIMESTAMP, LEFT(a, 1), NULLIF(a, 1)", 0, 0, "[select (COUNT *),(COUNT distinct a),(SUM b),(@@ROWCOUNT),(GETDATE),(CURRENT_TIMESTAMP),(LEFT a 1),(NULLIF a 1)]"},
    {"SELECT IIF(a = 1, 2, 3), TRIM('x' FROM a), DATEADD(day, 1, a)", 0, 0, "[select (IIF (= a 1) 2 3),(TRIM varchar(1):x a),(DATEADD day 1 a)]"},
    {"SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, c), SUM(x) OVER (ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", 0, 0, "[select (ROW_NUMBER over a order b desc,c),(SUM x over order y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)]"},
    {"SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b) FROM t", 0, 0, "[select (STRING_AGG a varchar(1):, order b) from t]"},
    {"SELECT TOP (5) a FROM t", 0, 0, "[select top 5 a from t]"},
    {"SELECT TOP 5 PERCENT a FROM t ORDER BY a", 0, 0, "[select top% 5 a from t order a]"},
    {"SELECT TOP 1 WITH TIES a FROM t ORDER BY a", 0, 0, "[select topties 1 a from t order a]"},
    {"SELECT DISTINCT a INTO #u FROM t GROUP BY a, b HAVING COUNT(*) > 1 ORDER BY 1 DESC OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY", 0, 0, "[select distinct a into #u from t group a b having (> (COUNT *) 1) order 1 desc offset 5 fetch 10]"},
    {"SELECT a FROM t AS x WITH (UPDLOCK, READPAST, ROWLOCK), u (NOLOCK) y", 0, 0, "[select a from t:x#7,u:y#8]"},
    {"SELECT a FROM t JOIN u ON t.a = u.a LEFT OUTER JOIN v ON v.b = u.b CROSS JOIN w", 0, 0, "[select a from (cross (left (inner t u (= t.a u.a)) v (= v.b u.b)) w)]"},
    {"SELECT a FROM t LEFT JOIN u JOIN v ON u.x = v.x ON t.x = u.x", 0, 0, "[select a from (left t (inner u v (= u.x v.x)) (= t.x u.x))]"},
    {"SELECT a FROM (t INNER JOIN u ON t.a = u.a)", 0, 0, "[select a from (inner t u (= t.a u.a))]"},
    {"SELECT a FROM (SELECT 1 AS a UNION ALL SELECT 2) AS q(b)", 0, 0, "[select a from [(union-all select 1:a select 2)]:q/b]"},
    {"SELECT a FROM (VALUES (1, 'x'), (2, 'y')) v(a, b)", 0, 0, "[select a from  { 1 varchar(1):x } { 2 varchar(1):y }:v/a,b]"},
    {"SELECT a FROM t CROSS APPLY f(t.a) AS g OUTER APPLY (SELECT 1 x) h", 0, 0, "[select a from (outer-apply (apply t (f t.a):g) [select 1:x]:h)]"},
    {"SELECT 1 UNION SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4", 0, 0, "[(except (union select 1 select 2) (intersect select 3 select 4))]"},
    {"SELECT ((SELECT 1) UNION (SELECT 2)), (SELECT 3) + 1", 0, 0, "[select (query [(union select 1 select 2)]),(+ (query [select 3]) 1)]"},
    {"(SELECT 1) UNION (SELECT 2) ORDER BY 1", 0, 0, "[(union select 1 select 2) order 1]"},
    {"WITH a(x) AS (SELECT 1), b AS (SELECT x FROM a) SELECT * FROM b", 0, 0, "[with a=[select 1] ,b=[select x from a] select * from b]"},
    {";WITH a AS (SELECT 1 x) DELETE FROM t WHERE y IN (SELECT x FROM a)", 0, 0, "with a=[select 1:x] delete t where (in y [select x from a])"},
    {"INSERT INTO dbo.t (a, b) VALUES (1, DEFAULT), (2, N'x')", 0, 0, "insert dbo.t/a,b { 1 DEFAULT } { 2 nvarchar(1):x }"},
    {"INSERT t DEFAULT VALUES", 0, 0, "insert t default"},
    {"INSERT t (a) OUTPUT inserted.a, inserted.* INTO @u SELECT a FROM v WHERE 1 = 1", 0, 0, "insert t/a output inserted.a,inserted.* into @u[select a from v where (= 1 1)]"},
    {"INSERT t EXEC p 1", 0, 0, "insert texec p 1"},
    {"UPDATE TOP (1) q SET a = 1, b += 2, @x = c = 3, @y = 4 OUTPUT deleted.a, inserted.b FROM t AS q WHERE q.a = 2", 0, 0, "update top 1 q set a=1,b+=2,@x=c=3,@y=4 output deleted.a,inserted.b from t:q where (= q.a 2)"},
    {"UPDATE t SET a = DEFAULT WHERE b = 1 OPTION (MAXDOP 1)", 0, 0, "update t set a=DEFAULT where (= b 1)"},
    {"DELETE TOP (10) FROM t OUTPUT deleted.* WHERE a = 1", 0, 0, "delete top 10 t output deleted.* where (= a 1)"},
    {"DELETE q FROM t q JOIN u ON q.a = u.a", 0, 0, "delete q from (inner t:q u (= q.a u.a))"},
    {"TRUNCATE TABLE dbo.t", 0, 0, "truncate dbo.t"},
    {"TRUNCATE TABLE t WITH (PARTITIONS (1, 3 TO 5))", 0, 0, "truncate t 1-1 3-5"},
    {"CREATE PARTITION FUNCTION f (decimal(9, 2)) AS RANGE RIGHT FOR VALUES (1, -2.5, 3 + 4)", 0, 0, "function f decimal(9,2) right 1 (neg numeric(2,1):2.5) (+ 3 4)"},
    {"CREATE PARTITION FUNCTION f (varchar(5) COLLATE Latin1_General_BIN) AS RANGE FOR VALUES ()", 0, 0, "function f varchar(5)~Latin1_General_BIN left"},
    {"CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY])", 0, 0, "scheme s of f all PRIMARY"},
    {"CREATE PARTITION SCHEME s AS PARTITION f TO (a, 'b', [c d])", 0, 0, "scheme s of f a b c d"},
    {"DROP PARTITION FUNCTION f DROP PARTITION SCHEME s", 0, 0, "drop function f; drop scheme s"},
    {"CREATE TABLE t (a int) ON s(a)", 0, 0, "table t a:int on s(a)"},
    {"ALTER DATABASE CURRENT ADD FILEGROUP g", 0, 0, "database 1 g -"},
    {"ALTER DATABASE d ADD FILE (NAME = x, FILENAME = N'/a/b', SIZE = 9, MAXSIZE = UNLIMITED, FILEGROWTH = 10%), (NAME = 'y', FILENAME = '/c', SIZE = 1KB, MAXSIZE = 2GB) TO FILEGROUP g", 0, 0, "database 4 g - x=/a/b:1152:-1:10% y=/c:1:262144:0"},
    {"ALTER DATABASE d REMOVE FILE x", 0, 0, "database 5 - x"},
    {"ALTER DATABASE d MODIFY FILEGROUP g DEFAULT", 0, 0, "database 2 g -"},
    {"ALTER DATABASE d ADD FILE (NAME = x)", 102, 1, "Incorrect syntax near ')'."},
    {"ALTER DATABASE d ADD FILE (NAME = x, FILENAME = '/a', SIZE = 99999999TB)", 5104, 1, ""},
    {"ALTER DATABASE d MODIFY FILE (NAME = x, SIZE = 9)", 40517, 1, "ALTER DATABASE MODIFY is not supported by fullrackd."},
    {"ALTER PARTITION FUNCTION f() SPLIT RANGE (5)", 40517, 1, "ALTER PARTITION is not supported by fullrackd."},
    {"CREATE PARTITION FUNCTION f () AS RANGE FOR VALUES (1)", 102, 1, "Incorrect syntax near ')'."},
    {"CREATE PARTITION SCHEME s AS PARTITION f TO ()", 102, 1, "Incorrect syntax near ')'."},
    {"TRUNCATE TABLE t WITH (PARTITIONS ())", 102, 1, "Incorrect syntax near ')'."},
    {"CREATE TABLE t (a int NOT NULL IDENTITY(1, -1) CONSTRAINT pk PRIMARY KEY, b nvarchar(max) COLLATE Latin1_General_BIN NULL CONSTRAINT df DEFAULT N'x' CHECK (b <> ''), c AS (a + 1) PERSISTED, CONSTRAINT u UNIQUE NONCLUSTERED (a DESC, b), FOREIGN KEY (a) REFERENCES s.v (x) ON DELETE CASCADE, INDEX ix (b))", 0, 0, "table t a:int!# (pk:pk a) b:nvarchar(max)~Latin1_General_BIN? (default:df as nvarchar(1):x) (check as (<> b varchar(1):)) c:(+ a 1)$ (unique:u a- b) (fk a -> s.v) (index ix)"},
    {"CREATE TABLE #t (a double precision, b national character varying(5), c char varying(3), d decimal(10), e timestamp) ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE)", 0, 0, "table #t a:float b:nvarchar(5) c:varchar(3) d:decimal(10) e:timestamp"},
    {"ALTER TABLE t ADD a int NULL, CONSTRAINT c CHECK (a > 0)", 0, 0, "alter t add a:int? (check:c as (> a 0))"},
    {"ALTER TABLE t WITH NOCHECK ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (b)", 0, 0, "alter t add (fk:f a -> u)"},
    {"ALTER TABLE t DROP COLUMN IF EXISTS a, b", 0, 0, "alter t drop-column a b"},
    {"ALTER TABLE t DROP CONSTRAINT c", 0, 0, "alter t drop-constraint c"},
    {"ALTER TABLE t NOCHECK CONSTRAINT ALL", 0, 0, "alter t nocheck all"},
    {"ALTER TABLE t ALTER COLUMN a bigint NOT NULL", 0, 0, "alter t column a:bigint!"},
    {"CREATE UNIQUE CLUSTERED INDEX i ON dbo.t (a DESC, b) INCLUDE (c) WHERE a > 1 WITH (IGNORE_DUP_KEY = ON, FILLFACTOR = 90)", 0, 0, "index i!* on dbo.t a- b +c where (> a 1)"},
    {"DROP TABLE IF EXISTS dbo.t, #u", 0, 0, "drop? 0 dbo.t #u"},
    {"DROP INDEX i ON t", 0, 0, "drop 3 i on t"},
    {"DROP INDEX t.i", 0, 0, "drop 3 i on t"},
    {"DROP PROCEDURE IF EXISTS p", 0, 0, "drop? 2 p"},
    {"CREATE PROCEDURE dbo.p @a int, @b nvarchar(10) = N'x' OUTPUT AS SELECT @a; RETURN 1", 0, 0, "proc dbo.p @a:int @b:nvarchar(10) out = nvarchar(1):x as [select @a]; return 1"},
    {"CREATE OR ALTER PROC p AS BEGIN SET NOCOUNT ON END", 0, 0, "or-alter-proc p as begin {set NOCOUNT=ON}"},
    {"EXEC @rc = dbo.p 1, @b = @x OUTPUT, @c = DEFAULT, @d = word", 0, 0, "exec @rc=dbo.p 1 @b=@x out @c=DEFAULT @d=nvarchar(4):word"},
    {"EXECUTE ('SELECT ' + @x)", 0, 0, "exec (+ varchar(7):SELECT  @x)"},
    {"sp_who active", 0, 0, "exec sp_who nvarchar(6):active"},
    {"p; SELECT 1", 0, 0, "exec p; [select 1]"},
    {"EXEC @name", 0, 0, "exec @name"},
    {"DECLARE @a int = 1, @b AS varchar(10), @t TABLE (x int PRIMARY KEY)", 0, 0, "declare @a:int = 1,@b:varchar(10),@t: x:int (pk x)"},
    {"SET @a = @b + 1 SET @a -= 1", 0, 0, "@a = (+ @b 1); @a -= 1"},
    {"SET ANSI_NULLS, QUOTED_IDENTIFIER ON SET ROWCOUNT 5 SET LOCK_TIMEOUT -1 SET DEADLOCK_PRIORITY LOW", 0, 0, "set ANSI_NULLS=ON,QUOTED_IDENTIFIER=ON; set ROWCOUNT 5; set LOCK_TIMEOUT (neg 1); set DEADLOCK_PRIORITY=LOW"},
    {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET IDENTITY_INSERT dbo.t OFF; SET STATISTICS IO, TIME ON", 0, 0, "set TRANSACTION ISOLATION LEVEL=READ COMMITTED; set IDENTITY_INSERT dbo.t=OFF; set STATISTICS IO=ON,STATISTICS TIME=ON"},
    {"IF @a = 1 SELECT 1; ELSE SELECT 2", 0, 0, "if (= @a 1) {[select 1]} else {[select 2]}"},
    {"IF 1 = 1 BEGIN SELECT 1; SELECT 2 END ELSE IF 2 = 2 PRINT 'x'", 0, 0, "if (= 1 1) {begin {[select 1]; [select 2]}} else {if (= 2 2) {statement}}"},
    {"WHILE @i < 3 BEGIN SET @i += 1; IF @i = 2 CONTINUE; BREAK END", 0, 0, "while (< @i 3) {begin {@i += 1; if (= @i 2) {statement}; statement}}"},
    {"BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW; END CATCH", 0, 0, "try {[select 1]} catch {throw}"},
    {"THROW 50000, 'x', 1", 0, 0, "throw 50000 varchar(1):x 1"},
    {"RAISERROR ('a %d', 16, 1, @x) WITH NOWAIT, SETERROR", 0, 0, "raiserror varchar(4):a %d @x"},
    {"BEGIN TRAN x; SAVE TRANSACTION y; ROLLBACK TRAN y; COMMIT; ROLLBACK WORK", 0, 0, "begin-tran x; save-tran y; rollback-tran y; commit-tran; rollback-tran"},
    {"USE master; GOTO l; l: SELECT 1", 0, 0, "38 master; 27 l; 28 l; [select 1]"},
    {"insert bulk dbo.t ([a] int NOT NULL, b nvarchar(20) COLLATE Latin1_General_BIN NULL, c decimal(10,2)) with (TABLOCK, CHECK_CONSTRAINTS, ROWS_PER_BATCH = 500, ORDER (a ASC))", 0, 0, "bulk dbo.t a:int! b:nvarchar(20)~Latin1_General_BIN? c:decimal(10,2) tablock check rows=500 by a"},
    {"BULK INSERT dbo.t FROM N'/a/b' WITH (TABLOCK, KEEPNULLS FIRSTROW = 2, ORDER (a DESC, b), FIELDQUOTE = '''')", 0, 0, "bulk-insert dbo.t /a/b tablock nulls by a by b first=2 quote='"},
    {"BULK INSERT t FROM 'x'", 0, 0, "bulk-insert t x"},
    {"BULK INSERT t FROM 'x' WITH (FORMAT = 'CSV', FIELDTERMINATOR = '|', ROWTERMINATOR = '0x0a', CODEPAGE = '65001', DATAFILETYPE = 'char', MAXERRORS = 0, LASTROW = 9, BATCHSIZE = 5, KEEPIDENTITY)", 0, 0, "bulk-insert t x identity last=9 batch=5 errors=0 format=CSV field=| row=0x0a page=65001 type=char"},
    {"BULK INSERT t FROM x", 102, 1, "Incorrect syntax near 'x'."},
    {"BULK INSERT t FROM @x", 102, 1, "Incorrect syntax near '@x'."},
    {"BULK INSERT t (a) FROM 'x'", 102, 1, "Incorrect syntax near '('."},
    {"BULK INSERT t FROM 'x' WITH ()", 102, 1, "Incorrect syntax near ')'."},
    {"BULK INSERT t FROM 'x' WITH (FIRSTROW = -1)", 102, 1, "Incorrect syntax near '-'."},
    {"BULK INSERT t FROM 'x' WITH (ERRORFILE = 'y')", 40517, 1, "ERRORFILE is not supported by fullrackd."},
    {"SET FMTONLY ON select * from [dbo].[t] SET FMTONLY OFF", 0, 0, "set FMTONLY=ON; [select * from dbo.t]; set FMTONLY=OFF"},
    {"GRANT SELECT ON dbo.t TO public", 0, 0, "statement"},
    {"WAITFOR DELAY '00:00:01'; KILL 55; CHECKPOINT", 0, 0, "statement; statement; statement"},
    {"SELECT 1 /* a /* b */ c */ -- d", 0, 0, "[select 1]"},
    {"SELECT a FROM", 102, 1, "Incorrect syntax near 'FROM'."},
    {"SELECT a b c", 102, 1, "Incorrect syntax near 'c'."},
    {"SELECT FROM t", 156, 1, "Incorrect syntax near the keyword 'FROM'."},
    {"SELECT a,\nFROM t", 156, 2, "Incorrect syntax near the keyword 'FROM'."},
    {"SELECT (a = 1)", 102, 1, "Incorrect syntax near ')'."},
    {"SELECT a FROM t WHERE a", 4145, 1, ""},
    {"SELECT 'abc", 105, 1, ""},
    {"SELECT [abc", 105, 1, ""},
    {"/* a", 113, 1, ""},
    {"BREAK", 135, 1, ""},
    {"IF 1 = 1", 102, 1, "Incorrect syntax near '1'."},
    {"BEGIN END", 156, 1, "Incorrect syntax near the keyword 'END'."},
    {"SELECT 1 BEGIN TRY SELECT 2 END TRY", 102, 1, "Incorrect syntax near 'TRY'."},
    {"INSERT t (a, b) VALUES (1)", 109, 1, ""},
    {"INSERT t (a) VALUES (1, 2)", 110, 1, ""},
    {"INSERT t VALUES (1), (2, 3)", 10709, 1, ""},
    {"SELECT a.b.c.d.e FROM t", 117, 1, ""},
    {"SELECT []", 1038, 1, ""},
    {"CREATE TABLE select (a int)", 156, 1, "Incorrect syntax near the keyword 'select'."},
    {"SELECT 1e400", 168, 1, ""},
    {"SELECT 123456789012345678901234567890123456789", 1007, 1, ""},
    {"MERGE INTO t USING u ON 1 = 1", 40517, 1, "MERGE is not supported by fullrackd."},
    {"SELECT * FROM t FOR XML AUTO", 40517, 1, "FOR XML is not supported by fullrackd."},
    {"DECLARE c CURSOR FOR SELECT 1", 40517, 1, "A cursor is not supported by fullrackd."},
    {"CREATE FUNCTION f() RETURNS int AS BEGIN RETURN 1 END", 40517, 1, "CREATE FUNCTION is not supported by fullrackd."},
    {"BACKUP DATABASE x TO DISK = 'y', DISK = N'z' WITH FORMAT, INIT, COMPRESSION, BUFFERCOUNT = 5, STATS, NAME = 'n'", 0, 0, "statement"},
    {"BACKUP DATABASE @d TO DISK = @p; RESTORE VERIFYONLY FROM DISK = @p WITH CHECKSUM, STATS = 5", 0, 0, "statement; statement"},
    {"RESTORE DATABASE [a b] FROM DISK = 'y' WITH REPLACE, MOVE 'l' TO 'm', FILE = 1, RECOVERY", 0, 0, "statement"},
    {"BACKUP DATABASE x TO DISK = 'y' WITH REPLACE", 102, 1, "Incorrect syntax near 'REPLACE'."},
    {"BACKUP DATABASE x TO DISK 'y'", 102, 1, "Incorrect syntax near 'y'."},
    {"BACKUP DATABASE x TO DISK = 'y', ", 102, 1, ""},
    {"BACKUP DATABASE x FROM DISK = 'y'", 156, 1, "Incorrect syntax near the keyword 'FROM'."},
    {"BACKUP DATABASE x TO DISK = 'y' WITH BUFFERCOUNT", 102, 1, ""},
    {"RESTORE DATABASE x FROM DISK = 'y' WITH MOVE 'l' 'm'", 102, 1, ""},
    {"BACKUP DATABASE x TO DISK = y", 102, 1, "Incorrect syntax near 'y'."},
    {"BACKUP LOG x TO DISK = 'y'", 40517, 1, "BACKUP other than DATABASE is not supported by fullrackd."},
    {"BACKUP DATABASE x TO URL = 'y'", 40517, 1, "A backup device other than DISK is not supported by fullrackd."},
    {"BACKUP DATABASE x TO DISK = 'y' WITH DIFFERENTIAL", 40517, 1, "DIFFERENTIAL is not supported by fullrackd."},
    {"RESTORE HEADERONLY FROM DISK = 'y'", 40517, 1, "RESTORE other than DATABASE and VERIFYONLY is not supported by fullrackd."},
    {"SELECT a FROM t PIVOT (x FOR y IN (z)) p", 40517, 1, "PIVOT is not supported by fullrackd."},
    {"EXEC p 1 OUTPUT", 179, 1, ""},
    {"SELECT a FROM t WITH (FOO)", 321, 1, ""},
    {"SELECT 1 ?", 102, 1, "Incorrect syntax near '?'."},
    {"SELECT a\nFROM t\nWHERE x = = 1", 102, 3, "Incorrect syntax near '='."},
    {"SELECT @ FROM t", 102, 1, "Incorrect syntax near '@'."},
};
/* clang-format on */

START_TEST(test_parse)
{
    const struct parse_opts opts = {.quoted_identifier = true};
    const char *sql = cases[_i].sql;
    struct batch *b = NULL;
    struct sqlerr e = {0};
    struct fr_buf got;
    bool ok = batch_parse(sql, strlen(sql), &opts, &b, &e);

    fr_buf_init(&got, 1 << 20);
    ck_assert_msg(ok == (cases[_i].error == 0), "%s: error %d %s", sql, e.number, e.text);
    if (ok) {
        ast_text(&got, b->first);
        ck_assert_str_eq(fr_buf_text(&got), cases[_i].want);
    } else {
        ck_assert_ptr_null(b);
        ck_assert_msg(e.number == cases[_i].error, "%s: %d %s", sql, e.number, e.text);
        ck_assert_msg(e.line == cases[_i].line, "%s: line %d", sql, e.line);
        if (cases[_i].want[0] != '\0')
            ck_assert_str_eq(e.text, cases[_i].want);
    }
    fr_buf_free(&got);
    batch_free(&b);
}
END_TEST

/* "x" is a text while QUOTED_IDENTIFIER is OFF. */
START_TEST(test_quoted_identifier_off)
{
    const struct parse_opts opts = {.quoted_identifier = false};
    struct batch *b = NULL;
    struct sqlerr e = {0};
    struct fr_buf got;

    fr_buf_init(&got, 4096);
    ck_assert(batch_parse("SELECT \"x\"", 10, &opts, &b, &e));
    ast_text(&got, b->first);
    ck_assert_str_eq(fr_buf_text(&got), "[select varchar(1):x]");
    fr_buf_free(&got);
    batch_free(&b);
}
END_TEST

static const struct {
    const char *open, *close;
    int levels;
    int32_t error;
} depths[] = {
    {"(", ")", 90, 0},
    {"(", ")", 5000, 191},
    {"-(", ")", 5000, 191},
    {"CASE WHEN 1=1 THEN ", " END", 5000, 191},
    {"(SELECT ", ")", 5000, 191},
    {"1 + ", "", 400, 0},
    {"1 + ", "", 5000, 8631},
    {"NOT ", "", 5000, 191},
};

START_TEST(test_depth)
{
    const struct parse_opts opts = {.quoted_identifier = true};
    struct batch *b = NULL;
    struct sqlerr e = {0};
    struct fr_buf sql;

    fr_buf_init(&sql, 1 << 20);
    fr_buf_add_str(&sql, strcmp(depths[_i].open, "NOT ") == 0 ? "IF " : "SELECT ");
    for (int i = 0; i < depths[_i].levels; i++)
        fr_buf_add_str(&sql, depths[_i].open);
    fr_buf_add_str(&sql, "1");
    for (int i = 0; i < depths[_i].levels; i++)
        fr_buf_add_str(&sql, depths[_i].close);
    batch_parse(sql.data, sql.len, &opts, &b, &e);
    ck_assert_msg(e.number == depths[_i].error, "%s: %d %s", depths[_i].open, e.number,
                  e.text);
    batch_free(&b);
    fr_buf_free(&sql);
}
END_TEST

START_TEST(test_name_length)
{
    const struct parse_opts opts = {.quoted_identifier = true};
    char sql[300] = "SELECT [";
    struct batch *b = NULL;
    struct sqlerr e = {0};

    memset(sql + 8, 'a', 128);
    sql[136] = ']';
    ck_assert(batch_parse(sql, strlen(sql), &opts, &b, &e));
    batch_free(&b);
    memset(sql + 8, 'a', 129);
    sql[137] = ']';
    sql[138] = '\0';
    ck_assert(!batch_parse(sql, strlen(sql), &opts, &b, &e));
    ck_assert_int_eq(e.number, 103);
}
END_TEST

static const struct {
    const char *text;
    const char *want; /* as type_format() says it; NULL: an error */
    int32_t error;
} types[] = {
    {"int", "int", 0},
    {"decimal(10, 2)", "decimal(10,2)", 0},
    {"NVARCHAR(MAX)", "nvarchar(max)", 0},
    {"national char varying(7)", "nvarchar(7)", 0},
    {"double precision", "float", 0},
    {"[int]", "int", 0},
    {"nosuch", NULL, 2715},
    {"int x", NULL, 102},
    {"decimal(39)", NULL, 2750},
    {"varchar(10) COLLATE nosuch", NULL, 448},
};

START_TEST(test_type)
{
    struct sqltype t;
    struct sqlerr e = {0};
    char text[TYPE_NAME_BYTES];
    bool ok = type_text_parse(types[_i].text, strlen(types[_i].text), &t, &e);

    ck_assert_msg(ok == (types[_i].want != NULL), "%s: %d %s", types[_i].text, e.number,
                  e.text);
    if (ok)
        ck_assert_str_eq(type_format(&t, text, sizeof text), types[_i].want);
    else
        ck_assert_int_eq(e.number, types[_i].error);
}
END_TEST

START_TEST(test_name_parse)
{
    struct arena *a = arena_new(65536);
    struct name n;

    ck_assert(name_parse("[a.b]..\"c\"", 10, a, &n));
    ck_assert_str_eq(n.database, "a.b");
    ck_assert_ptr_null(n.schema);
    ck_assert_str_eq(n.object, "c");
    ck_assert(!name_parse("a b", 3, a, &n));
    ck_assert(!name_parse("", 0, a, &n));
    arena_free(&a);
}
END_TEST

START_TEST(test_params)
{
    static const char text[] = "@a int, @B nvarchar(10) = N'x' OUTPUT";
    struct batch *b = NULL;
    struct proc_param *params;
    struct sqlerr e = {0};
    size_t n;

    ck_assert(params_parse(text, strlen(text), &b, &params, &n, &e));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(params[1].name, "@b");
    ck_assert(params[1].output);
    ck_assert_ptr_nonnull(params[1].dflt);
    batch_free(&b);
    ck_assert(!params_parse("@a", 2, &b, &params, &n, &e));
}
END_TEST

/* The sources of stored expressions: DEFAULT and CHECK keep their text. */
START_TEST(test_source_text)
{
    static const char sql[] =
        "CREATE TABLE t (a int DEFAULT  ( 1 + 2 )  CHECK (a > 0 AND a < 9))";
    const struct parse_opts opts = {.quoted_identifier = true};
    struct batch *b = NULL;
    struct sqlerr e = {0};
    const struct column_def *c;

    ck_assert(batch_parse(sql, strlen(sql), &opts, &b, &e));
    c = &b->first->u.table->columns[0];
    ck_assert_int_eq(strncmp(c->constraints[0].expr->source.p, "( 1 + 2 )", 9), 0);
    ck_assert_uint_eq(c->constraints[0].expr->source.n, 9);
    ck_assert_int_eq(strncmp(c->constraints[1].expr->source.p, "a > 0 AND a < 9", 15), 0);
    ck_assert_uint_eq(c->constraints[1].expr->source.n, 15);
    batch_free(&b);
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))

int main(void)
{
    Suite *s = suite_create("parser");
    TCase *tc = tcase_create("parser");
    SRunner *sr;
    int failed;

    tcase_add_loop_test(tc, test_parse, 0, COUNT(cases));
    tcase_add_test(tc, test_quoted_identifier_off);
    tcase_add_loop_test(tc, test_depth, 0, COUNT(depths));
    tcase_add_test(tc, test_name_length);
    tcase_add_loop_test(tc, test_type, 0, COUNT(types));
    tcase_add_test(tc, test_name_parse);
    tcase_add_test(tc, test_params);
    tcase_add_test(tc, test_source_text);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
