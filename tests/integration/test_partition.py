#!/usr/bin/python3
"""fullrackd: partitioned tables, SWITCH of one partition, filegroups; as a server with partitions does it."""
import os, re, threading, time
import pymssql
from rack import check, equal, folders, main

SQL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sql")
ROWS = 40000        # enough that a load stays in a segment
COUNTS = "SELECT partition_number, rows FROM sys.partitions WHERE object_id = OBJECT_ID(N'%s') AND index_id < 2 ORDER BY partition_number"


def refused(r, number, sql, database="t"):
    try:
        r.sql(sql, database)
    except pymssql.Error as e:
        equal(e.args[0], number, "error of %s (%s)" % (sql, e))
        return str(e)
    check(False, "not refused: " + sql)


def fresh(r):
    try:
        r.sql("CREATE DATABASE t", "")
    except pymssql.Error:
        pass
    for name, in r.sql("SELECT name FROM sys.tables"):
        r.sql("DROP TABLE [%s]" % name)
    for kind in ("SCHEME", "FUNCTION"):
        for name, in r.sql("SELECT name FROM sys.partition_%ss" % kind.lower()):
            r.sql("DROP PARTITION %s [%s]" % (kind, name))
    for name, in r.sql("SELECT name FROM sys.database_files WHERE file_id > 2"):
        r.sql("ALTER DATABASE t REMOVE FILE [%s]" % name)
    for name, in r.sql("SELECT name FROM sys.filegroups WHERE data_space_id > 1"):
        r.sql("ALTER DATABASE t REMOVE FILEGROUP [%s]" % name)


def three(r, kind="RIGHT", column="a int NULL", values="10, 20", of="int"):
    """dbo.t, partitioned in three."""
    fresh(r)
    r.sql("CREATE PARTITION FUNCTION pf (%s) AS RANGE %s FOR VALUES (%s)" % (of, kind, values))
    r.sql("CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY])")
    r.sql("CREATE TABLE dbo.t (%s, b varchar(60) NULL) ON ps(a)" % column)


def counts(r, table="dbo.t"):
    return [n for _, n in r.sql(COUNTS % table)]


def test_boundaries(r):
    """A boundary belongs to the right or the left; NULL is less than any value."""
    for kind, want in (("RIGHT", [3, 2, 3]), ("LEFT", [4, 2, 2])):
        three(r, kind)
        r.sql("INSERT INTO dbo.t (a) VALUES (NULL), (-2147483648), (9), (10), (19), (20), (21), (2147483647)")
        equal(counts(r), want, kind)
        by_function = dict(r.sql("SELECT $PARTITION.pf(a), COUNT(*) FROM dbo.t GROUP BY $PARTITION.pf(a)"))
        equal([by_function[i] for i in (1, 2, 3)], want, "by $PARTITION")
        equal(r.sql("SELECT $partition.PF(NULL), $PARTITION.pf('20'), t.$PARTITION.pf(20)"),
              [(1, 3, 3)] if kind == "RIGHT" else [(1, 2, 2)], "of values")
        equal(r.sql("SELECT COUNT(*) FROM dbo.t WHERE $PARTITION.pf(a) = 2"), [(2,)], "rows of one partition")
    equal(r.sql("SELECT t.$PARTITION.pf(20)", "master"), [(2,)], "from another database")
    equal(r.sql("SELECT p, COUNT(*) FROM (SELECT t.$PARTITION.pf(a) AS p FROM t.dbo.t) AS d GROUP BY p ORDER BY p", "master"),
          [(1, 4), (2, 2), (3, 2)], "with its table")
    r.sql("DROP VIEW IF EXISTS dbo.by_partition")
    r.sql("CREATE VIEW dbo.by_partition AS SELECT a, $PARTITION.pf(a) AS p FROM dbo.t")
    equal(r.sql("DECLARE @p int = $PARTITION.pf(10); SELECT COUNT(*) FROM dbo.by_partition WHERE p = @p"), [(4,)], "in a view, in a variable")
    r.sql("DROP VIEW dbo.by_partition")
    refused(r, 174, "SELECT $PARTITION.pf(1, 2)")
    refused(r, 208, "SELECT $PARTITION.nothing(1)")
    refused(r, 245, "SELECT $PARTITION.pf('x')")


def test_values_of_all_types(r):
    """Each type's own order decides, whatever the order in which the boundaries were written."""
    for of, written, probes in (
            ("bigint", "9000000000, -5", [("-6", 1), ("-5", 2), ("8999999999", 2), ("9000000000", 3)]),
            ("decimal(9,2)", "1.50, -1.50", [("-1.51", 1), ("-1.50", 2), ("1.49", 2), ("1.5", 3), ("100.00", 3)]),
            ("date", "'2020-01-01', '1999-12-31'", [("'1999-12-30'", 1), ("'1999-12-31'", 2), ("'2020-01-01'", 3)]),
            ("datetime2(3)", "'2020-01-01 00:00:00.001', '2019-01-01'", [("'2020-01-01'", 2), ("'2020-01-01 00:00:00.001'", 3)]),
            ("datetimeoffset(0)", "'2020-01-01 00:00:00 +00:00', '2019-01-01 00:00:00 +00:00'",
             [("'2020-01-01 01:00:00 +02:00'", 2), ("'2020-01-01 02:00:00 +02:00'", 3)]),
            ("varchar(10)", "'M', 'f'", [("'E'", 1), ("'F'", 2), ("'m'", 3), ("'Z'", 3), ("''", 1)]),
            ("float", "1e10, -0.5", [("-1", 1), ("-0.5", 2), ("1e10", 3)]),
            ("uniqueidentifier", "'00000000-0000-0000-0000-020000000000', '00000000-0000-0000-0000-010000000000'",
             [("'ffffffff-ffff-ffff-ffff-000000000000'", 1), ("'00000000-0000-0000-0000-010000000000'", 2)])):
        three(r, "RIGHT", "a %s NULL" % of, written, of)
        for value, want in probes:
            r.sql("TRUNCATE TABLE dbo.t")
            r.sql("INSERT INTO dbo.t (a) VALUES (%s)" % value)
            equal(counts(r).index(1) + 1, want, "%s %s" % (of, value))
    equal(len(r.sql("SELECT value FROM sys.partition_range_values")), 2, "boundaries in the catalog")


def test_null_boundary(r):
    for kind, want in (("RIGHT", [0, 3]), ("LEFT", [1, 2])):
        fresh(r)
        r.sql("CREATE PARTITION FUNCTION pf (int) AS RANGE %s FOR VALUES (NULL)" % kind)
        r.sql("CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY])")
        r.sql("CREATE TABLE dbo.t (a int NULL) ON ps(a)")
        r.sql("INSERT INTO dbo.t VALUES (NULL), (-2147483648), (5)")
        equal(counts(r), want, kind)


def test_rows_move_by_update(r):
    three(r)
    r.sql("INSERT INTO dbo.t (a) VALUES (1), (11), (21)")
    r.sql("UPDATE dbo.t SET a = a + 10 WHERE a < 20")
    equal(counts(r), [0, 1, 2], "after UPDATE")
    r.sql("DELETE FROM dbo.t WHERE $PARTITION.pf(a) = 3")
    equal(counts(r), [0, 1, 0], "after DELETE")


def test_definitions_are_checked(r):
    three(r)
    refused(r, 2714, "CREATE PARTITION FUNCTION PF (int) AS RANGE FOR VALUES (1)")
    refused(r, 2714, "CREATE PARTITION SCHEME ps AS PARTITION pf ALL TO ([PRIMARY])")
    refused(r, 7708, "CREATE PARTITION FUNCTION p2 (int) AS RANGE FOR VALUES (1, 2, 1)")
    refused(r, 7708, "CREATE PARTITION FUNCTION p2 (varchar(5)) AS RANGE FOR VALUES ('a', 'A ')")
    refused(r, 7704, "CREATE PARTITION FUNCTION p2 (varchar(max)) AS RANGE FOR VALUES ('a')")
    refused(r, 245, "CREATE PARTITION FUNCTION p2 (int) AS RANGE FOR VALUES ('a')")
    refused(r, 7707, "CREATE PARTITION SCHEME s2 AS PARTITION pf TO ([PRIMARY], [PRIMARY])")
    refused(r, 208, "CREATE PARTITION SCHEME s2 AS PARTITION nothing ALL TO ([PRIMARY])")
    refused(r, 1921, "CREATE PARTITION SCHEME s2 AS PARTITION pf ALL TO (nowhere)")
    refused(r, 1921, "CREATE TABLE dbo.x (a int) ON nowhere")
    refused(r, 1921, "CREATE TABLE dbo.x (a int) ON nowhere(a)")
    refused(r, 1921, "CREATE TABLE dbo.x (a int) ON [PRIMARY](a)")
    refused(r, 1911, "CREATE TABLE dbo.x (a int) ON ps(b)")
    refused(r, 7726, "CREATE TABLE dbo.x (a bigint) ON ps(a)")
    r.sql("CREATE PARTITION FUNCTION texts (varchar(5)) AS RANGE FOR VALUES ('a')")
    r.sql("CREATE PARTITION SCHEME texts AS PARTITION texts ALL TO ([PRIMARY])")
    refused(r, 7727, "CREATE TABLE dbo.x (a varchar(5) COLLATE Latin1_General_BIN2) ON texts(a)")
    refused(r, 7726, "CREATE TABLE dbo.x (a varchar(6) COLLATE Latin1_General_BIN2) ON texts(a)")
    r.sql("DROP PARTITION SCHEME texts DROP PARTITION FUNCTION texts")
    refused(r, 1908, "CREATE TABLE dbo.x (a int NOT NULL, k int NOT NULL PRIMARY KEY) ON ps(a)")
    refused(r, 1908, "CREATE UNIQUE INDEX ux ON dbo.t (b)")
    refused(r, 7717, "DROP PARTITION SCHEME ps")
    refused(r, 7706, "DROP PARTITION FUNCTION pf")
    refused(r, 3701, "DROP PARTITION FUNCTION nothing")
    refused(r, 5074, "ALTER TABLE dbo.t DROP COLUMN a")
    refused(r, 5074, "ALTER TABLE dbo.t ALTER COLUMN a bigint NULL")
    r.sql("ALTER TABLE dbo.t ALTER COLUMN a int NOT NULL")
    refused(r, 40517, "CREATE TABLE dbo.x (a int CHECK ($PARTITION.pf(a) = 1))")
    equal(r.sql("SELECT COUNT(*) FROM sys.tables"), [(1,)], "nothing was made")
    r.sql("DROP TABLE dbo.t")
    r.sql("DROP PARTITION SCHEME ps")
    r.sql("DROP PARTITION FUNCTION pf")
    equal(r.sql("SELECT COUNT(*) FROM sys.partition_range_values"), [(0,)], "boundaries left")


def test_clustered_key_places_the_table(r):
    fresh(r)
    r.sql("CREATE PARTITION FUNCTION pf (int) AS RANGE RIGHT FOR VALUES (10)")
    r.sql("CREATE PARTITION SCHEME ps AS PARTITION pf TO ([PRIMARY], [PRIMARY])")
    r.sql("CREATE TABLE dbo.t (a int NOT NULL, b int NOT NULL, CONSTRAINT pk PRIMARY KEY CLUSTERED (a, b) ON ps(a))")
    r.sql("INSERT INTO dbo.t VALUES (1, 1), (10, 1), (11, 1)")
    equal(counts(r), [1, 2], "rows")
    refused(r, 2627, "INSERT INTO dbo.t VALUES (10, 1)")
    r.sql("CREATE TABLE dbo.h (a int NULL)")
    r.sql("INSERT INTO dbo.h VALUES (1), (10), (11)")
    r.sql("CREATE CLUSTERED INDEX cx ON dbo.h (a) ON ps(a)")
    equal(counts(r, "dbo.h"), [1, 2], "a heap that was partitioned by its index")
    equal(r.sql("SELECT partition_ordinal FROM sys.index_columns WHERE object_id = OBJECT_ID(N'dbo.h')"), [(1,)], "partitioning column")


def test_catalog(r):
    three(r, "LEFT")
    equal(r.sql("SELECT f.name, f.fanout, f.boundary_value_on_right, s.name, p.system_type_id FROM sys.partition_functions AS f "
                "JOIN sys.partition_schemes AS s ON s.function_id = f.function_id "
                "JOIN sys.partition_parameters AS p ON p.function_id = f.function_id"), [("pf", 3, False, "ps", 56)], "function and scheme")
    equal(r.sql("SELECT boundary_id, value FROM sys.partition_range_values ORDER BY 1"), [(1, "10"), (2, "20")], "boundaries")
    equal(r.sql("SELECT d.type FROM sys.indexes AS i JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id "
                "WHERE i.object_id = OBJECT_ID(N'dbo.t')"), [("PS",)], "where the table is")
    equal(r.sql("SELECT destination_id, data_space_id FROM sys.destination_data_spaces ORDER BY 1"), [(1, 1), (2, 1), (3, 1)], "filegroups")
    equal(len({i for i, in r.sql("SELECT partition_id FROM sys.partitions")}), len(r.sql("SELECT 1 FROM sys.partitions")), "ids differ")


# -- SWITCH --------------------------------------------------------------------------------

def heap(r, check_text="a >= 10 AND a < 20 AND a IS NOT NULL", rows="(10), (15), (19)", name="dbo.h"):
    r.sql("DROP TABLE IF EXISTS " + name)
    r.sql("CREATE TABLE %s (a int NULL, b varchar(60) NULL%s)" % (name, ", CHECK (%s)" % check_text if check_text else ""))
    if rows:
        r.sql("INSERT INTO %s (a) VALUES %s" % (name, rows))


def test_switch_in_and_out(r):
    three(r)
    r.sql("INSERT INTO dbo.t (a) VALUES (1), (20)")
    heap(r)
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal((counts(r), counts(r, "dbo.h")), ([1, 3, 1], [0]), "switched in")
    equal(r.sql("SELECT a FROM dbo.t ORDER BY a"), [(1,), (10,), (15,), (19,), (20,)], "rows")
    heap(r, None, None, "dbo.out")
    r.sql("ALTER TABLE dbo.t SWITCH PARTITION 2 TO dbo.out")
    equal((counts(r), r.sql("SELECT a FROM dbo.out ORDER BY a")), ([1, 0, 1], [(10,), (15,), (19,)]), "switched out")


def test_switch_is_refused(r):
    three(r)
    heap(r)
    refused(r, 4911, "ALTER TABLE dbo.h SWITCH TO dbo.t")
    refused(r, 4911, "ALTER TABLE dbo.t SWITCH TO dbo.h")
    for n in (0, 4, -1):
        refused(r, 7722 if n else 4911, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION %d" % n)
    for n in (1, 3):
        refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION %d" % n)
    r.sql("INSERT INTO dbo.t (a) VALUES (12)")
    refused(r, 4904, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    refused(r, 4905, "ALTER TABLE dbo.t SWITCH PARTITION 2 TO dbo.h")
    equal((counts(r), counts(r, "dbo.h")), ([0, 1, 0], [3]), "nothing moved")


def test_constraints_that_prove_and_that_do_not(r):
    """Only what leaves no value outside lets a heap in; rows are never looked at."""
    three(r)
    proves = ("a >= 10 AND a < 20 AND a IS NOT NULL", "a BETWEEN 10 AND 19 AND a IS NOT NULL", "10 <= a AND 20 > a AND (a IS NOT NULL)",
              "a = 15 AND a IS NOT NULL", "a > 9.5e0 AND a >= 10 AND a <= 19.5 AND a IS NOT NULL", "a > 10 AND a < 20 AND a IS NOT NULL AND b <> 'x'")
    fails = (None, "a >= 10 AND a < 20", "a >= 10 AND a IS NOT NULL", "a < 20 AND a IS NOT NULL", "a >= 10 AND a <= 20 AND a IS NOT NULL",
             "a >= 9 AND a < 20 AND a IS NOT NULL", "(a >= 10 OR a IS NULL) AND a < 20 AND a IS NOT NULL", "a < 20.5 AND a >= 10 AND a IS NOT NULL",
             "NOT (a < 10) AND a < 20 AND a IS NOT NULL", "a >= 10 AND b < '20' AND a IS NOT NULL", "a <> 16 AND a >= 10 AND a IS NOT NULL")
    for text in proves:
        heap(r, text, "(15)")
        r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
        equal(counts(r), [0, 1, 0], text)
        r.sql("TRUNCATE TABLE dbo.t")
    for text in fails:
        heap(r, text, "(15)")
        refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    heap(r)
    r.sql("ALTER TABLE dbo.h NOCHECK CONSTRAINT ALL")
    refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    r.sql("ALTER TABLE dbo.h CHECK CONSTRAINT ALL")
    refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    r.sql("ALTER TABLE dbo.h WITH CHECK CHECK CONSTRAINT ALL")
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    # NULL has its place in the first
    heap(r, "a < 10", "(NULL), (1)")
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 1")
    equal(counts(r), [2, 3, 0], "NULL in the first")


def test_a_constant_of_another_kind_proves_nothing(r):
    """'03' is between the numbers 1 and 5, and before the text '1'; an exact number that is compared with a float is rounded."""
    three(r, column="a varchar(10) NOT NULL", values="'1', '5'", of="varchar(10)")
    heap_of(r, "a varchar(10) NOT NULL", "a >= 1 AND a < 5", "('03')")
    refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    heap_of(r, "a varchar(10) NOT NULL", "a >= N'1' AND a < '5'", "('3')")
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal(counts(r), [0, 1, 0], "texts prove")
    big = "decimal(38, 0)"
    three(r, "LEFT", "a %s NOT NULL" % big, "10000000000000000000000000001, 20000000000000000000000000001", big)
    heap_of(r, "a %s NOT NULL" % big, "a > 1e28 AND a <= 2e28", "(20000000000000000000000000005)")
    refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    three(r, column="a varbinary(4) NOT NULL", values="0x01, 0x0200", of="varbinary(4)")
    heap_of(r, "a varbinary(4) NOT NULL", "a >= 1 AND a < 512", "(0x0001)")
    refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    heap_of(r, "a varbinary(4) NOT NULL", "a >= 0x01 AND a < 0x0200", "(0x01FF)")
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal(counts(r), [0, 1, 0], "binary values prove")
    # what another column says of a row proves nothing by itself, and takes nothing from what is proved beside it
    three(r, column="a int NOT NULL")
    for check_text, holds in (("a >= -LEN(b) AND a >= 10 AND a < 20", True), ("a >= CAST(b AS int) AND a >= +10 AND a < CAST('20' AS int)", True),
                              ("a >= -CAST(b AS int) AND a < 20", False), ("a >= CAST(LEN(b) AS int) AND a < 20", False)):
        heap_of(r, "a int NOT NULL", check_text, "(15)")
        if holds:
            r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2; TRUNCATE TABLE dbo.t")
        else:
            refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")


def heap_of(r, column, check_text, rows):
    r.sql("DROP TABLE IF EXISTS dbo.h")
    r.sql("CREATE TABLE dbo.h (%s, b varchar(60) NULL, CHECK (%s))" % (column, check_text))
    r.sql("INSERT INTO dbo.h (a) VALUES " + rows)


def test_left_ranges_prove_otherwise(r):
    three(r, "LEFT")
    heap(r, "a >= 10 AND a <= 20 AND a IS NOT NULL", "(20)")
    refused(r, 4982, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    heap(r, "a > 10 AND a <= 20 AND a IS NOT NULL", "(20)")
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal(counts(r), [0, 1, 0], "rows")


def test_partition_to_partition(r):
    three(r)
    r.sql("CREATE PARTITION FUNCTION p2 (int) AS RANGE RIGHT FOR VALUES (0, 5, 10, 30)")
    r.sql("CREATE PARTITION SCHEME s2 AS PARTITION p2 ALL TO ([PRIMARY])")
    r.sql("CREATE TABLE dbo.u (a int NULL, b varchar(60) NULL) ON s2(a)")
    r.sql("INSERT INTO dbo.t (a) VALUES (1), (11), (19), (25)")
    refused(r, 4972, "ALTER TABLE dbo.t SWITCH PARTITION 1 TO dbo.u PARTITION 3")
    refused(r, 4972, "ALTER TABLE dbo.t SWITCH PARTITION 3 TO dbo.u PARTITION 4")
    r.sql("ALTER TABLE dbo.t SWITCH PARTITION 2 TO dbo.u PARTITION 4")
    equal((counts(r), counts(r, "dbo.u")), ([1, 0, 1], [0, 0, 0, 2, 0]), "rows")


def test_columns_must_be_alike(r):
    three(r, column="a int NOT NULL")
    for columns, number in (("a int NULL, b varchar(60) NULL", 4985), ("a int NOT NULL, c varchar(10) NULL", 4942),
                            ("a int NOT NULL, b varchar(61) NULL", 4944), ("a int NOT NULL", 4943)):
        r.sql("DROP TABLE IF EXISTS dbo.h")
        r.sql("CREATE TABLE dbo.h (%s, CHECK (a >= 10 AND a < 20))" % columns)
        refused(r, number, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    r.sql("DROP TABLE dbo.h")
    r.sql("CREATE TABLE dbo.h (a int NOT NULL, b varchar(60) NULL, CHECK (a >= 10 AND a < 20))")
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")


def test_filegroups(r):
    fresh(r)
    folder = os.path.join(r.dir, "files")
    os.makedirs(folder, exist_ok=True)
    for i in (1, 2):
        r.sql("ALTER DATABASE t ADD FILEGROUP fg%d" % i)
        r.sql("ALTER DATABASE t ADD FILE (NAME = f%d, FILENAME = '%s/f%d.ndf', SIZE = 64MB, MAXSIZE = UNLIMITED, FILEGROWTH = 512KB) "
              "TO FILEGROUP fg%d" % (i, folder, i, i))
    equal(r.sql("SELECT f.name, f.physical_name, f.size, f.growth, g.name FROM sys.database_files AS f "
                "JOIN sys.filegroups AS g ON g.data_space_id = f.data_space_id WHERE f.file_id > 2 ORDER BY f.file_id"),
          [("f%d" % i, "%s/f%d.ndf" % (folder, i), 8192, 64, "fg%d" % i) for i in (1, 2)], "files")
    refused(r, 5035, "ALTER DATABASE t ADD FILEGROUP FG1")
    refused(r, 1828, "ALTER DATABASE t ADD FILE (NAME = f1, FILENAME = '%s/other.ndf')" % folder)
    refused(r, 1834, "ALTER DATABASE t ADD FILE (NAME = f9, FILENAME = '%s/f1.ndf')" % folder)
    refused(r, 5133, "ALTER DATABASE t ADD FILE (NAME = f9, FILENAME = '%s/nowhere/f9.ndf')" % folder)
    refused(r, 1921, "ALTER DATABASE t ADD FILE (NAME = f9, FILENAME = '%s/f9.ndf') TO FILEGROUP nowhere" % folder)
    refused(r, 5042, "ALTER DATABASE t REMOVE FILEGROUP fg1")
    refused(r, 5047, "ALTER DATABASE t REMOVE FILEGROUP [PRIMARY]")
    r.sql("CREATE PARTITION FUNCTION pf (int) AS RANGE RIGHT FOR VALUES (10)")
    r.sql("CREATE PARTITION SCHEME ps AS PARTITION pf TO (fg1, fg2)")
    r.sql("CREATE TABLE dbo.t (a int NOT NULL) ON ps(a)")
    for place, number in (("[PRIMARY]", 4939), ("fg1", 4939), ("fg2", 0)):
        r.sql("DROP TABLE IF EXISTS dbo.h")
        r.sql("CREATE TABLE dbo.h (a int NOT NULL CHECK (a >= 10)) ON " + place)
        r.sql("INSERT INTO dbo.h VALUES (10)")
        if number:
            refused(r, number, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
        else:
            r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal(counts(r), [0, 1], "rows")
    r.sql("DROP TABLE dbo.h")
    r.sql("CREATE TABLE dbo.h (a int NOT NULL) ON fg1")
    refused(r, 4938, "ALTER TABLE dbo.t SWITCH PARTITION 2 TO dbo.h")
    r.sql("ALTER DATABASE t MODIFY FILEGROUP fg2 DEFAULT")
    r.sql("DROP TABLE dbo.h")
    r.sql("CREATE TABLE dbo.h (a int NOT NULL)")
    r.sql("ALTER TABLE dbo.t SWITCH PARTITION 2 TO dbo.h")
    equal(r.sql("SELECT a FROM dbo.h"), [(10,)], "the default filegroup is where the partition is")
    r.sql("ALTER DATABASE t MODIFY FILEGROUP [PRIMARY] DEFAULT")


def test_truncate_partitions(r):
    three(r)
    r.sql("INSERT INTO dbo.t (a) VALUES (1), (11), (21), (22)")
    refused(r, 7722, "TRUNCATE TABLE dbo.t WITH (PARTITIONS (4))")
    refused(r, 7728, "TRUNCATE TABLE dbo.t WITH (PARTITIONS (3 TO 2))")
    equal(counts(r), [1, 1, 2], "nothing is gone")
    r.sql("TRUNCATE TABLE dbo.t WITH (PARTITIONS (2, 3 TO 3))")
    equal(counts(r), [1, 0, 0], "rows")
    heap(r)
    refused(r, 7729, "TRUNCATE TABLE dbo.h WITH (PARTITIONS (1))")


def test_rights(r):
    three(r)
    heap(r)
    r.sql("IF SUSER_ID(N'plain') IS NULL CREATE LOGIN plain WITH PASSWORD = 'Plain-1234'", "master")
    r.sql("DROP USER IF EXISTS plain")
    r.sql("CREATE USER plain")
    r.sql("GRANT SELECT, INSERT, DELETE ON SCHEMA::dbo TO plain")

    def as_plain(number, sql):
        with pymssql.connect(server="127.0.0.1", port=r.port, user="plain", password="Plain-1234", database="t", tds_version="7.3",
                             autocommit=True) as db:
            try:
                db.cursor().execute(sql)
            except pymssql.Error as e:
                equal(e.args[0], number, "error of " + sql)
                return
            equal(0, number, "not refused: " + sql)
    as_plain(262, "CREATE PARTITION FUNCTION mine (int) AS RANGE FOR VALUES (1)")
    as_plain(262, "DROP PARTITION SCHEME ps")
    as_plain(5011, "ALTER DATABASE t ADD FILEGROUP mine")
    as_plain(1088, "TRUNCATE TABLE dbo.t WITH (PARTITIONS (1))")
    as_plain(1088, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    r.sql("GRANT ALTER ON SCHEMA::dbo TO plain")
    as_plain(0, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal(counts(r), [0, 3, 0], "rows")


# -- --stage-partitions ----------------------------------------------------------------------

def files_of(r, rows):
    """A file for each partition of dbo.t, with these rows."""
    return [r.file("p%d.txt" % (i + 1), "".join("%s\tv\n" % a for a in keys)) for i, keys in enumerate(rows)]


def bring_in(r):
    return r.sql("SELECT state, messages FROM dbo.work_queue WHERE kind = 'bring_in' ORDER BY task_id DESC", "fullrack")[0]


def test_stage_partitions(r):
    """Each file's heap is made for its partition, in its filegroup, and switched into it: also where the table is partitioned by a date."""
    fresh(r)
    r.fresh_control()
    for of, column, values, rows in (("int", "int NOT NULL", "10, 20", (["1", "9"], ["10"], ["20", "21", "22"])),
                                     ("int", "int NULL", "10, 20", (["", "9"], ["10"], ["20", "21", "22"])),
                                     ("date", "date NOT NULL", "'2020-01-01', '2021-01-01'", (["2019-12-31"], ["2020-01-01"], ["2021-01-01"])),
                                     ("varchar(5)", "varchar(5) NOT NULL", "'g', 'o''p'", (["a"], ["g", "o"], ["o'p", "z"]))):
        fresh(r)
        for name in ("one", "two", "three"):
            r.sql("ALTER DATABASE t ADD FILEGROUP [fg %s]" % name)
        r.sql("CREATE PARTITION FUNCTION pf (%s) AS RANGE RIGHT FOR VALUES (%s)" % (of, values))
        r.sql("CREATE PARTITION SCHEME ps AS PARTITION pf TO ([fg one], [fg two], [fg three])")
        r.sql("CREATE TABLE dbo.t (a %s, b varchar(60) NULL) ON ps(a)" % column)
        r.fullrack("add", "dbo.t", *files_of(r, rows), "--stage", "--stage-partitions", "--again")
        r.fullrack("run", "-q", "--workers", "3")
        state, text = bring_in(r)
        check(state == "done" and text.startswith("3 stage tables switched in in "), "how they came in", state, text)
        equal(counts(r), [len(x) for x in rows], "rows of each partition, by " + of)
        equal(r.sql("SELECT COUNT(*) FROM sys.tables WHERE name LIKE 'fullrack[_]stage%'"), [(0,)], "nothing is left over")


def test_stage_partitions_once_more(r):
    """A reset of all brings all in again: with --truncate into an emptied table; without, rows are inserted beside those that are there."""
    fresh(r)
    r.fresh_control()
    rows = (["1", "9"], ["10"], ["20"])
    three(r, column="a int NOT NULL")
    r.fullrack("add", "dbo.t", *files_of(r, rows), "--stage", "--stage-partitions", "--truncate")
    for _ in range(2):
        r.fullrack("run", "-q", "--workers", "2")
        check("switched in" in bring_in(r)[1], "how", bring_in(r))
        equal(counts(r), [2, 1, 1], "rows")
        r.fullrack("reset", "-q", "--all")
    r.sql("DELETE FROM dbo.work_queue", "fullrack")
    r.fullrack("add", "dbo.t", *files_of(r, rows), "--stage", "--stage-partitions", "--again")
    r.fullrack("run", "-q", "--workers", "2")
    state, text = bring_in(r)
    check(state == "done" and "brought in: the server did not switch: " in text and "4904" in text, "what is in the way is said", text)
    equal(counts(r), [4, 2, 2], "rows twice")


def test_stage_partitions_wrong_range(r):
    """A row of another partition fails its load, and nothing is brought in."""
    fresh(r)
    r.fresh_control()
    three(r, column="a int NOT NULL")
    r.fullrack("add", "dbo.t", *files_of(r, (["1"], ["10", "20"], ["21"])), "--stage", "--stage-partitions", "--max-attempts", "1")
    r.fullrack("run", "-q", "--workers", "2", exit=1)
    failed, = r.sql("SELECT source, last_error FROM dbo.work_queue WHERE state = 'failed' AND kind = 'load'", "fullrack")
    check(failed[0].endswith("p2.txt") and "547" in failed[1] and "a row is not of partition 2 of dbo.t" in failed[1], "which and why", failed)
    equal(counts(r), [0, 0, 0], "rows")
    r.sql("DELETE FROM dbo.work_queue", "fullrack")
    r.fullrack("add", "dbo.t", *files_of(r, (["1"], ["10"], ["20"], ["30"])), "--stage", "--stage-partitions", "--again", "--max-attempts", "1")
    r.fullrack("run", "-q", "--workers", "2", exit=1)
    check(any("has no partition 4" in e for e, in r.sql("SELECT last_error FROM dbo.work_queue WHERE state = 'failed'", "fullrack")), "a file too many")
    r.fullrack("add", "dbo.t", "x", "--stage-partitions", exit=2)
    check("--stage" in r.err, "alone it means nothing", r.err)
    r.fullrack("load", "dbo.t", *files_of(r, (["1"],)), "--stage", "--stage-partitions", "--split", "2", exit=2)
    check("--split" in r.err, "whole files", r.err)
    three(r, column="a int NOT NULL")
    r.fullrack("load", "-q", "dbo.t", *files_of(r, (["1"], ["10"], ["20", "30"])), "--stage", "--stage-partitions")
    equal(counts(r), [1, 1, 2], "load does the same without a queue")


# -- the scripts of sql/ -----------------------------------------------------------------------

def script(r, name, exit=0, **values):
    """A script as somebody runs it who has changed the values at its top."""
    text = open(os.path.join(SQL, name)).read()
    for variable, value in values.items():
        text, n = re.subn(r"(?m)^(DECLARE @%s \S+ = ).*?;" % variable, lambda m: m.group(1) + value + ";", text)
        equal(n, 1, "values of @%s in %s" % (variable, name))
    return [line.split("\t") for line in r.fullrack("query", "@" + r.file(name, text), exit=exit).splitlines()[1:]]


def test_scripts(r):
    """96 files in 24 filegroups; LineItem over them, heaps loaded apart and switched in."""
    fresh(r)
    folders = [os.path.join(r.dir, "it's %d" % i) for i in (1, 2, 3)]
    for folder in folders:
        os.makedirs(folder, exist_ok=True)
    given = "N'%s'" % ", ".join(folders).replace("'", "''")
    for _ in range(2):
        rows = script(r, "make_filegroups.sql", folders=given, size="N'8MB'")
        equal([(n, f, mb) for n, f, mb in rows if n != "PRIMARY"], sorted(("rep_%d" % i, "4", "32") for i in range(1, 25)), "files of filegroups")
    paths = [p for p, in r.sql("SELECT physical_name FROM sys.database_files WHERE file_id > 2 ORDER BY file_id")]
    equal(paths, [folders[i % 3] + "/rep_file_%d.ndf" % (i + 1) for i in range(96)], "files, dealt out over the folders")
    script(r, "make_filegroups.sql", exit=1, folders="N' , '")
    check("at least one folder" in r.err, "no folder", r.err)
    script(r, "make_lineitem.sql", exit=1, filegroups="N'nobody%'")
    check("make_filegroups.sql" in r.err, "no filegroup", r.err)
    script(r, "make_lineitem.sql", exit=1, first_keys="N'10,20'", streams="8")
    check("fewer keys" in r.err, "too few keys", r.err)
    script(r, "switch_lineitem.sql", exit=1)
    check("make_lineitem.sql" in r.err, "nothing that could be switched", r.err)
    for taken in ("lineitem", "lineitem_8"):
        r.sql("CREATE TABLE dbo.%s (a int)" % taken)
        script(r, "make_lineitem.sql", exit=1, streams="8")
        check("2714" in r.err, "a name that is taken", r.err)
        equal(r.sql("SELECT (SELECT COUNT(*) FROM sys.partition_functions) + (SELECT COUNT(*) FROM sys.partition_schemes), (SELECT MAX(name) FROM sys.tables), "
                    "(SELECT COUNT(*) FROM sys.tables)"), [(0, taken, 1)], "nothing was made where the name %s is taken" % taken)
        r.sql("DROP TABLE dbo.%s" % taken)
    script(r, "make_lineitem.sql", streams="8", first_keys="N'11, 21,31,41,51,61,71'")
    row = "|1|1|1|1.00|1.00|0.00|0.00|N|O|1998-01-01|1998-01-02|1998-01-03|NONE|MAIL|c\n"
    for i in range(1, 9):
        path = r.file("l%d" % i, "".join("%d%s" % (key, row) for key in range(10 * i - 9, 10 * i + 1 - i % 3)))
        r.fullrack("load", "-q", "dbo.lineitem_%d" % i, path, "-t", "|", "--format", "delimited")
    r.fullrack("load", "-q", "dbo.lineitem_3", r.file("wrong", "31" + row), "-t", "|", "--format", "delimited", exit=1)
    check("lineitem_3_range" in r.err, "a row of another heap", r.err)
    script(r, "switch_lineitem.sql")
    equal(counts(r, "dbo.lineitem"), [10 - i % 3 for i in range(1, 9)], "rows of the partitions")
    equal(sum(sum(counts(r, "dbo.lineitem_%d" % i)) for i in range(1, 9)), 0, "rows of the heaps")
    r.fullrack("load", "-q", "dbo.lineitem_1", r.file("again", "1" + row), "-t", "|", "--format", "delimited")
    script(r, "switch_lineitem.sql", exit=1)
    check("4904" in r.err, "a partition that is not empty", r.err)
    fresh(r)
    script(r, "make_filegroups.sql", folders=given, files="5", filegroups="2", prefix="N'x '")
    script(r, "make_lineitem.sql", filegroups="N'x %'", heaps="0")
    equal(len(counts(r, "dbo.lineitem")), 96, "even steps")
    equal(r.sql("SELECT COUNT(*) FROM sys.tables"), [(1,)], "no heaps")
    equal(r.sql("SELECT MIN(CONVERT(bigint, value)), MAX(CONVERT(bigint, value)) FROM sys.partition_range_values"), [(6250001, 593750001)], "boundaries")


# -- large loads, restarts, crashes ----------------------------------------------------------

def load(r, table, first, rows=ROWS):
    path = r.file("rows.txt", "".join("%d\t%060d\n" % (first + i, i % 7) for i in range(rows)))
    equal(r.json("load", table, path)["rows"], rows, "rows loaded")


def large(r):
    """dbo.t in three partitions of a million keys each, dbo.h with a segment for the second."""
    three(r, column="a int NOT NULL", values="1000000, 2000000")
    r.sql("CREATE TABLE dbo.h (a int NOT NULL, b varchar(60) NULL, CONSTRAINT ck CHECK (a >= 1000000 AND a < 2000000))")
    load(r, "dbo.h", 1000000)


def segments(r):
    return sorted(os.listdir(os.path.join(r.data, "segments")))


def test_bulk_copy_finds_the_partition(r):
    three(r, column="a int NOT NULL", values="1000000, 2000000")
    load(r, "dbo.t", 1000000 - ROWS // 4)
    equal(counts(r), [ROWS // 4, ROWS - ROWS // 4, 0], "rows of one load in two partitions")
    r.sql("UPDATE dbo.t SET a = a + 1000000 WHERE a = 1000000")
    equal(counts(r), [ROWS // 4, ROWS - ROWS // 4 - 1, 1], "after an update")
    r.sql("TRUNCATE TABLE dbo.t WITH (PARTITIONS (2))")
    equal(counts(r), [ROWS // 4, 0, 1], "after TRUNCATE of one")


def test_segments_are_switched_whole(r):
    large(r)
    before = segments(r)
    check(len(before) == 1, "a load of this size is a segment", before)
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    equal(segments(r), before, "no row was written again")
    equal((counts(r), counts(r, "dbo.h")), ([0, ROWS, 0], [0]), "rows")
    refused(r, 4904, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    load(r, "dbo.t", 2000000)
    equal(counts(r), [0, ROWS, ROWS], "a load beside it")
    r.sql("CREATE TABLE dbo.out (a int NOT NULL, b varchar(60) NULL)")
    r.sql("ALTER TABLE dbo.t SWITCH PARTITION 2 TO dbo.out")
    equal((counts(r), counts(r, "dbo.out")), ([0, 0, ROWS], [ROWS]), "switched out")
    equal(r.sql("SELECT COUNT(*), MIN(a), MAX(a) FROM dbo.out"), [(ROWS, 1000000, 1000000 + ROWS - 1)], "its rows")


def test_truncate_lets_segments_go(r):
    large(r)
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    r.sql("TRUNCATE TABLE dbo.t WITH (PARTITIONS (1, 3))")
    equal(counts(r), [0, ROWS, 0], "the others are empty")
    r.sql("TRUNCATE TABLE dbo.t WITH (PARTITIONS (2))")
    equal((counts(r), segments(r)), ([0, 0, 0], []), "gone, its file, too")


def test_restart(r):
    large(r)
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    r.sql("INSERT INTO dbo.t (a) VALUES (5), (2000000)")
    r.close()
    r.start()
    equal((counts(r), counts(r, "dbo.h")), ([1, ROWS, 1], [0]), "rows after a restart")
    equal(r.sql("SELECT $PARTITION.pf(1999999), $PARTITION.pf(2000000)"), [(2, 3)], "the function, too")
    refused(r, 4904, "ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")


def test_killed_in_a_switch(r):
    """kill -9 at any moment of a switch: all rows are in one table or all in the other."""
    for turn in range(12):
        large(r)
        base = turn % 2 == 1
        if base:
            r.sql("UPDATE dbo.h SET b = 'base' WHERE a = 1000000")     # brings the rows into the table's own file
        began = threading.Event()

        def switch():
            try:
                with r.connect("t") as db:
                    cur = db.cursor()
                    cur.execute("BEGIN TRANSACTION")
                    began.set()
                    cur.execute("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2 COMMIT TRANSACTION")
            except pymssql.Error:
                pass
        thread = threading.Thread(target=switch)
        thread.start()
        began.wait(10)
        time.sleep(turn * (0.02 if base else 0.001))
        r.kill_server()
        thread.join(30)
        r.server.stdout.close()
        r.start()
        got = sum(counts(r)), sum(counts(r, "dbo.h"))
        check(got in ((ROWS, 0), (0, ROWS)), "rows are in one of them", turn, got)
        equal(r.sql("SELECT (SELECT COUNT(*) FROM dbo.t) + (SELECT COUNT(*) FROM dbo.h)"), [(ROWS,)], "rows counted")
        if got[0] == 0:
            r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
        equal(counts(r), [0, ROWS, 0], "rows in the end")


def test_rolled_back(r):
    large(r)
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("BEGIN TRANSACTION ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
        cur.execute("SELECT COUNT(*) FROM dbo.t")
        equal(cur.fetchall(), [(ROWS,)], "inside")
        cur.execute("ROLLBACK")
    equal((counts(r), counts(r, "dbo.h")), ([0, 0, 0], [ROWS]), "after the rollback")


def test_backup_keeps_partitions(r):
    large(r)
    r.sql("ALTER TABLE dbo.h SWITCH TO dbo.t PARTITION 2")
    path = os.path.join(BACKUPS, "t.bak")
    r.sql("BACKUP DATABASE t TO DISK = '%s' WITH INIT, FORMAT" % path, "master")
    r.sql("TRUNCATE TABLE dbo.t")
    r.drop_database("copy")
    r.sql("RESTORE DATABASE copy FROM DISK = '%s' WITH REPLACE" % path, "master")
    equal([n for _, n in r.sql(COUNTS % "dbo.t", "copy")], [0, ROWS, 0], "rows of the copy")
    r.drop_database("copy")


if __name__ == "__main__":
    with folders("fullrack-partition-", "backup") as (_, (BACKUPS,)):
        main([f for name, f in sorted(globals().items()) if name.startswith("test_")], "--backup-root", BACKUPS)
