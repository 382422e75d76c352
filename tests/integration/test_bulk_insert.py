#!/usr/bin/python3
"""BULK INSERT of fullrackd: the rows that a load brings, SQL Server's errors, no path but those of --bulk-root."""
import itertools, os, shutil, socket, sys, threading
from rack import *

FOLDER = OUTSIDE = None
PLAIN = "CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL, n nvarchar(20) NULL)"
ALL_TYPES = ("CREATE TABLE dbo.t (id int NOT NULL, a bit NULL, b tinyint NULL, c smallint NULL, d bigint NULL, e real NULL, f float NULL,"
             " g smallmoney NULL, h money NULL, i decimal(38, 10) NULL, j date NULL, k time(3) NULL, l datetime NULL, m smalldatetime NULL,"
             " n datetime2(7) NULL, o datetimeoffset(3) NULL, p char(5) NULL, q varchar(30) NULL, r nchar(4) NULL, s nvarchar(max) NULL,"
             " t varbinary(8) NULL, u uniqueidentifier NULL, w varchar(max) NULL)")
TYPED = [["1", "1", "255", "-32768", "9223372036854775807", "1.5", "-2.5e300", "1.25", "-922.3", "12345.6789", "2024-02-29", "23:59:59.999",
          "2024-02-29 12:00:00.003", "2024-02-29 12:30", "0001-01-01 00:00:00.0000001", "2024-02-29 12:00:00.5 +05:30", "ab", "x y", "q", "long",
          "00FF", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "w"],
         ["2"] + [""] * 22,
         ["3", "0", "0", "1", "-1", "0", "0", "0", "0", "-0.0000000001", "9999-12-31", "00:00", "1753-01-01", "1900-01-01", "9999-12-31", "2000-01-01 00:00:00 +00:00",
          "", "\u20ac", "\u017e", "\u6f22\u5b57", "", "", ""]]


def data(name, content):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def bulk(r, path, options="", table="dbo.t", database="t"):
    r.sql("BULK INSERT %s FROM N'%s'%s" % (table, path.replace("'", "''"), " WITH (%s)" % options if options else ""), database)


def refused(r, number, path, options="", *words):
    try:
        bulk(r, path, options)
    except pymssql.Error as e:
        check(str(number) in str(e.args), "error %d" % number, e.args)
        for w in words:
            check(w in str(e), "%r in the error" % w, e.args)
        return
    raise Failed("no error, expected %d: %s %s" % (number, path, options))


def rows(r, table="dbo.t"):
    return r.sql("SELECT * FROM %s ORDER BY id" % table)


def as_text(r, table="dbo.t"):
    return r.fullrack("query", "--output", "csv", "SELECT * FROM %s ORDER BY id" % table)


def test_terminators_and_quotes(r):
    for content, options in (("1\ta\tb\n2\t\tc\n", "CODEPAGE = '65001'"), ("1\ta\tb\r\n2\t\tc\r\n", ""), ("1\ta\tb\n2\t\tc", ""),
                             ("1|a|b;2||c;", "FIELDTERMINATOR = '|', ROWTERMINATOR = ';'"), ("1||a||b##2||||c##", "FIELDTERMINATOR = '||' ROWTERMINATOR = '##'"),
                             ("1\x01a\x01b\n2\x01\x01c\n", "FIELDTERMINATOR = '0x01', ROWTERMINATOR = '0x0a'"), ("1,a,b\n2,,c\n", "FORMAT = 'CSV'"),
                             ('1,"a",b\n"2",,"c"\n', "FORMAT = 'CSV'"), ("1,'a',b\n2,,'c'", "FORMAT = 'CSV', FIELDQUOTE = ''''"),
                             ("\ufeff1\ta\tb\n2\t\tc\n", ""), ("h\th\th\n1\ta\tb\n2\t\tc\n3\tx\ty\n", "FIRSTROW = 2, LASTROW = 3"),
                             ("1\ta\tb\n2\t\tc\n".encode("utf-16-le"), "DATAFILETYPE = 'widechar'"), ("1\ta\tb\n2\t\tc\n".encode("utf-16"), "DATAFILETYPE = 'widechar'"),
                             ("1\ta\tb\n2\t\tc\n".encode("utf-16-le"), "DATAFILETYPE = 'widechar', FIELDTERMINATOR = '0x0900', ROWTERMINATOR = '0x0A00'")):
        r.fresh(PLAIN)
        bulk(r, data("x.txt", content), options)
        equal(rows(r), [(1, "a", "b"), (2, None, "c")], "rows of %r with %s" % (content, options))
    r.fresh(PLAIN)
    bulk(r, data("q.csv", '1,"a,""b\nc",d"e\n2,"",\n3,a\0,\0\n'.replace("a\0", "\0")), "FORMAT = 'CSV'")
    equal(rows(r), [(1, 'a,"b\nc', 'd"e'), (2, "", None), (3, "", "")], "quotes that double, what they hold, empty texts")
    r.fresh(PLAIN)
    bulk(r, data("n.txt", '1\t"a"\tb\tc\n'), "")
    equal(rows(r), [(1, '"a"', "b\tc")], "without FORMAT = 'CSV' a quote is a quote; the last field runs to the row's end")


def test_code_pages(r):
    for page, encoding in (("65001", "utf-8"), ("1252", "cp1252"), ("ACP", "cp1252"), ("RAW", "cp1252"), ("1250", "cp1250"), ("OEM", "cp437"), (None, "cp437")):
        text = "\u017e" if encoding == "cp1250" else "\u00e9"
        r.fresh(PLAIN)
        bulk(r, data("c.txt", ("1\tx\t%s\n" % text).encode(encoding)), "CODEPAGE = '%s'" % page if page else "")
        equal(rows(r), [(1, "x", text)], "code page %s" % page)
    refused(r, 102, data("c.txt", "1\t2\t3\n"), "CODEPAGE = '99999'", "CODEPAGE")


def test_equals_a_load(r):
    """Each type, as the converters of the client take it and as the server itself does."""
    path = data("types.txt", "".join("\t".join(row) + "\n" for row in TYPED))
    r.fresh(ALL_TYPES)
    bulk(r, path, "CODEPAGE = '65001', MAXERRORS = 0")
    got = as_text(r)
    r.fresh(ALL_TYPES)
    r.fullrack("load", "-q", "--format", "bcp", "dbo.t", path)
    equal(got, as_text(r), "rows by BULK INSERT, and by load")
    equal(len(got.splitlines()), 1 + len(TYPED), "rows")


def test_large_rows_and_many(r):
    n = some(30000)
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(max) NULL, n nvarchar(50) NULL)")
    bulk(r, data("many.txt", "".join("%d\t%s\t%s\n" % (i, "x" * (i % 50), "\u6f22" * (i % 9)) for i in range(n)) + "%d\t%s\t\n" % (n, "y" * 3000000)), "CODEPAGE = '65001', TABLOCK")
    equal(r.sql("SELECT COUNT(*), SUM(CAST(LEN(v) AS bigint)), SUM(CAST(LEN(n) AS bigint)) FROM dbo.t"),
          [(n + 1, 3000000 + sum(i % 50 for i in range(n)), sum(i % 9 for i in range(n)))], "rows and lengths")
    wide = "".join("%d\t%s\t%s\n" % (i, "x" * (i % 50), "\U0001f600" * (i % 9)) for i in range(n))
    r.fresh(PLAIN.replace("20", "60"))
    bulk(r, data("wide.txt", wide.encode("utf-16")), "DATAFILETYPE = 'widechar'")
    equal(r.sql("SELECT COUNT(*), SUM(DATALENGTH(n)) FROM dbo.t"), [(n, sum(4 * (i % 9) for i in range(n)))], "pairs, cut by no buffer's end")


def test_table_features(r):
    r.fresh("CREATE TABLE dbo.t (id int IDENTITY(10, 1) NOT NULL PRIMARY KEY, v int NULL DEFAULT 7, c AS v + 1, r rowversion, w int NOT NULL CONSTRAINT ck_w CHECK (w > 0))")
    bulk(r, data("f.txt", "1\t\tx\t\t5\n2\t3\t\t\t6\n"))
    equal(r.sql("SELECT id, v, c, w FROM dbo.t ORDER BY id"), [(10, 7, 8, 5), (11, 3, 4, 6)], "identity made, default taken, computed passed by")
    bulk(r, data("f.txt", "100\t\t\t\t5\n"), "KEEPIDENTITY, KEEPNULLS")
    equal(r.sql("SELECT id, v, w FROM dbo.t WHERE id >= 100"), [(100, None, 5)], "identity and NULL kept")
    refused(r, 547, data("f.txt", "1\t1\t\t\t-5\n"), "CHECK_CONSTRAINTS", "ck_w")
    bulk(r, data("f.txt", "1\t1\t\t\t-5\n"))
    equal(r.sql("SELECT is_not_trusted FROM sys.check_constraints WHERE name = 'ck_w'"), [(True,)], "a constraint passed by is not trusted")
    refused(r, 515, data("f.txt", "1\t1\t\t\t\n"), "", "'w'")
    refused(r, 2627, data("f.txt", "900\t1\t\t\t1\n900\t1\t\t\t1\n"), "KEEPIDENTITY")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t WHERE id = 900"), [(0,)], "nothing of what was refused")


def test_errors(r):
    r.fresh(PLAIN)
    good = "".join("%d\ta\tb\n" % i for i in range(20))
    refused(r, 4864, data("e.txt", good + "1O\ta\tb\n"), "MAXERRORS = 0", "row 21, column 1 (id)")
    refused(r, 4863, data("e.txt", good + "5\t%s\tb\n" % ("x" * 21)), "MAXERRORS = 0", "row 21, column 2 (v)")
    refused(r, 4832, data("e.txt", good + "5\ta"))
    refused(r, 4832, data("e.csv", good.replace("\t", ",") + '5,"a,b\n'), "FORMAT = 'CSV'")
    refused(r, 4879, data("e.csv", '1,"a"x,b\n'), "FORMAT = 'CSV', MAXERRORS = 0", "row 1, column 2")
    refused(r, 4879, data("e.csv", "1,a\n2,a,b\n"), "FORMAT = 'CSV', MAXERRORS = 0", "row 1, column 2")
    refused(r, 4861, data("odd.txt", b"1\0\t\0a\0\t\0b\0\n\0x"), "DATAFILETYPE = 'widechar'")
    path = data("e.txt", good + "x\ta\tb\n" * 11)
    refused(r, 4864, path)
    equal(r.sql("BEGIN TRY BULK INSERT dbo.t FROM '%s' END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH" % path), [(4865,)], "error of the statement")
    equal(rows(r), [], "nothing of any of them")
    try:
        bulk(r, data("e.txt", good + "x\ta\tb\n" * 10))
    except pymssql.Error as e:
        check("4864" in str(e.args), "what is passed by is told", e.args)
    equal(len(rows(r)), 20, "ten are passed by where MAXERRORS is not given")
    r.fresh(PLAIN)
    try:
        bulk(r, data("e.csv", '1,a\n2,"b"x,c\n3,d,e\n'), "FORMAT = 'CSV', MAXERRORS = 2")
    except pymssql.Error as e:
        check("4879" in str(e.args), "what is passed by is told", e.args)
    equal(rows(r), [(3, "d", "e")], "a broken row does not take the next one along")
    for options, words in (("DATAFILETYPE = 'native'", "DATAFILETYPE"), ("FORMAT = 'PARQUET'", "FORMAT"), ("FIELDTERMINATOR = ''", "FIELDTERMINATOR"),
                           ("ROWTERMINATOR = '0x0'", "ROWTERMINATOR"), ("FORMAT = 'CSV', FIELDQUOTE = 'ab'", "FIELDQUOTE"), ("ERRORFILE = 'x'", "not supported"),
                           ("FORMATFILE = 'x'", "not supported"), ("NONSENSE", "NONSENSE"), ("MAXERRORS = -1", "-")):
        refused(r, 40517 if words == "not supported" else 102, data("e.txt", good), options, words)
    equal(len(rows(r)), 1, "nothing was added")


def test_transactions(r):
    r.fresh(PLAIN)
    path = data("t.txt", "1\ta\tb\n2\ta\tb\n")
    with r.connect("t") as db:
        c = db.cursor()
        c.execute("BEGIN TRANSACTION; BULK INSERT dbo.t FROM '%s' WITH (BATCHSIZE = 1)" % path)
        c.execute("SELECT COUNT(*) FROM dbo.t")
        equal(c.fetchall(), [(2,)], "seen by its own session")
        c.execute("ROLLBACK")
    equal(rows(r), [], "rolled back whole, batches too")
    r.sql("SET XACT_ABORT ON; BEGIN TRANSACTION; BULK INSERT dbo.t FROM '%s'; SELECT @@ROWCOUNT; COMMIT" % path)
    equal(r.sql("BULK INSERT dbo.t FROM '%s'; SELECT @@ROWCOUNT" % path), [(2,)], "rows")
    equal(len(rows(r)), 4, "committed")
    r.fresh(PLAIN)
    refused(r, 4864, data("b.txt", "".join("%d\ta\tb\n" % i for i in range(25)) + "x\ta\tb\n"), "BATCHSIZE = 10, MAXERRORS = 0")
    equal(len(rows(r)), 20, "of batches that were whole the rows stay")
    with r.connect("t") as db:
        c = db.cursor()
        c.execute("BEGIN TRANSACTION; INSERT INTO dbo.t VALUES (77, 'x', 'y')")
        try:
            c.execute("BULK INSERT dbo.t FROM '%s' WITH (BATCHSIZE = 10, MAXERRORS = 0)" % os.path.join(FOLDER, "b.txt"))
        except pymssql.Error as e:
            check("4864" in str(e.args), "error", e.args)
        c.execute("IF @@TRANCOUNT > 0 COMMIT")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t WHERE id < 77"), [(20,)], "inside a transaction nothing of the statement stays")


def test_killed_server(r):
    """What was committed is there, and no other."""
    r.fresh(PLAIN)
    bulk(r, data("k.txt", "1\ta\tb\n"))
    with r.connect("t") as db:
        db.cursor().execute("BEGIN TRANSACTION; BULK INSERT dbo.t FROM '%s'" % data("k2.txt", "2\ta\tb\n"))
        r.kill_server()
    r.start()
    equal(rows(r), [(1, "a", "b")], "rows after a kill")


def test_hostile_paths(r):
    r.fresh(PLAIN)
    secret = os.path.join(OUTSIDE, "secret.txt")
    with open(secret, "w") as f:
        f.write("1\ta\tb\n")
    os.mkdir(os.path.join(FOLDER, "in"))
    data("in/ok.txt", "1\ta\tb\n")
    os.symlink(secret, os.path.join(FOLDER, "link.txt"))
    os.symlink(OUTSIDE, os.path.join(FOLDER, "way"))
    os.symlink("in", os.path.join(FOLDER, "inner"))
    os.mkfifo(os.path.join(FOLDER, "pipe"))
    s = socket.socket(socket.AF_UNIX)
    s.bind(os.path.join(FOLDER, "sock"))
    for path in (secret, "/etc/passwd", "/dev/null", "/dev/zero", "/proc/self/environ", "link.txt", FOLDER + "/link.txt", FOLDER + "/way/secret.txt",
                 FOLDER + "/../" + os.path.basename(OUTSIDE) + "/secret.txt", FOLDER + "/in/../in/ok.txt", "../secret.txt", FOLDER + "/pipe", FOLDER + "/sock",
                 FOLDER + "/in", FOLDER, FOLDER + "/", "", "..", FOLDER + "2/x", FOLDER + "/" + "n" * 300, "x/" * 3000 + "y"):
        refused(r, 486, path)
    s.close()
    refused(r, 4860, FOLDER + "/none.txt", "", "none.txt")
    refused(r, 4860, FOLDER + "/none/none.txt")
    locked = data("locked.txt", "1\ta\tb\n")
    os.chmod(locked, 0)
    if os.geteuid() != 0:
        refused(r, 4861, locked, "", "13(")
    equal(rows(r), [], "nothing was read")
    bulk(r, "in/ok.txt")
    bulk(r, FOLDER + "/inner/ok.txt")
    equal(len(rows(r)), 2, "a path from the folder on, and a link that stays in it")
    other = Rack()
    try:
        other.fresh(PLAIN)
        refused(other, 4861, data("x.txt", "1\ta\tb\n"), "", "--bulk-root")
    finally:
        other.close()
        other.remove()


def test_rights(r):
    r.fresh(PLAIN)
    path = data("r.txt", "1\ta\tb\n")
    r.sql("CREATE LOGIN loader WITH PASSWORD = N'Pa55-word!'", "master")
    r.sql("CREATE USER loader FOR LOGIN loader")

    def attempt(number):
        with pymssql.connect(server="127.0.0.1", port=r.port, user="loader", password="Pa55-word!", database="t", tds_version="7.3", autocommit=True) as db:
            try:
                db.cursor().execute("BULK INSERT dbo.t FROM '%s'" % path)
                got = 0
            except pymssql.Error as e:
                got = e.args[0]
        equal(got, number, "error without rights")

    attempt(4834)
    r.sql("GRANT INSERT, SELECT ON dbo.t TO loader")
    attempt(4834)
    r.sql("ALTER SERVER ROLE bulkadmin ADD MEMBER loader", "master")
    attempt(0)
    r.sql("REVOKE INSERT ON dbo.t FROM loader")
    attempt(229)
    r.sql("GRANT INSERT ON dbo.t TO loader; ALTER SERVER ROLE bulkadmin DROP MEMBER loader")
    attempt(4834)
    r.sql("GRANT ADMINISTER DATABASE BULK OPERATIONS TO loader")
    attempt(0)
    equal(len(rows(r)), 2, "rows of those that might")
    r.sql("DROP USER loader; DROP LOGIN loader")


if __name__ == "__main__":
    with folders("fullrack-test-bulk-", "data", "outside") as (base, (FOLDER, OUTSIDE)):
        main(tests_of(sys.modules[__name__]), "--bulk-root", FOLDER)
