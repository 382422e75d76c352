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


# -- tasks of kind bulk_insert

def queue(r, content, *options, name="task.txt", add_exit=0, run_exit=0, **more):
    """A fresh queue with one task; what `run` says of it."""
    r.fresh_control()
    path = content if isinstance(content, str) and content.startswith("/") else data(name, content)
    r.fullrack("add", "dbo.t", path, "--server-side", *options, "-q", exit=add_exit)
    if add_exit:
        return r.err
    return r.json("run", "--workers", "1", "--pin", "off", exit=run_exit, **more)["tasks"][0]


def test_task_equals_a_load(r):
    cases = [("types", "".join("\t".join(row) + "\n" for row in TYPED).encode(), ("--format", "bcp"), ALL_TYPES)]
    words = [["1", "a,b", 'q"q'], ["2", "", "\u00e9"], ["3", "x", ""]]
    quoted = "\r\n".join(",".join('"%s"' % v.replace('"', '""') if v else "" for v in row) for row in words) + "\r\n"
    plain = "".join("|".join(row) + "\n" for row in words)
    cases += [("csv", quoted.encode(), ("--format", "csv"), PLAIN), ("csv with a header", ("id,v,n\r\n" + quoted).encode(), ("--format", "csv", "--header", "skip"), PLAIN),
              ("auto", ("id,v,n\n" + quoted.replace("\r", "")).encode(), (), PLAIN),
              ("delimited", plain.encode(), ("--format", "delimited", "-t", "|"), PLAIN), ("found out", plain.encode(), (), PLAIN),
              ("found out, told the field's end", plain.encode(), ("-t", "|"), PLAIN), ("CRLF", plain.replace("\n", "\r\n").encode(), ("--format", "bcp", "-t", "|"), PLAIN),
              ("utf-16", plain.encode("utf-16"), ("--format", "delimited", "-t", "|", "-C", "UTF-16"), PLAIN),
              ("cp1252", plain.encode("cp1252"), ("--format", "delimited", "-t", "|", "-C", "CP1252"), PLAIN),
              ("hex", plain.replace("|", "\x01").encode(), ("--format", "delimited", "-t", "0x01", "-r", "\\n"), PLAIN),
              ("rows", plain.encode(), ("--format", "delimited", "-t", "|", "-F", "2", "-L", "3"), PLAIN),
              ("other quotes", b"1,'a,b','it''s'\n", ("--format", "csv", "--quote", "'"), PLAIN)]
    for what, content, options, ddl in cases:
        r.fresh(ddl)
        path = data("it's.txt", content)
        r.fullrack("load", "-q", "dbo.t", path, *options)
        want = as_text(r)
        r.fresh(ddl)
        task = queue(r, path, *options)
        equal(as_text(r), want, what)
        equal((task["kind"], task["state"], task["rows"]), ("bulk_insert", "done", len(want.splitlines()) - 1 if "\n3" in want or "," in want else 0), what)
        check("were counted" in task["messages"] and task["were_rows_counted"] is True, "counted", task)
    equal(r.json("verify")["differences"], [], "ledger, queue and table agree")


def test_task_options_are_refused(r):
    r.fresh(PLAIN)
    for options, word in ((("--escape", "\\"), "doubled quotes"), (("--date-format", "v=%Y"), "dates"), (("--trim",), "stand"), (("--null", "NULL"), "NULL"),
                          (("--columns", "id,v,n"), "every column"), (("-C", "Shift-JIS"), "code pages"), (("-m", "5"), "counting"), (("-e", "x"), "error-file"),
                          (("--split", "2"), "whole files"), (("--stage",), "stage"), (("--ledger", "off"), "twice"),
                          (("--format", "native"), "csv"), (("--rows-expected", "5", "--split", "2"), "split")):
        check(word in queue(r, "1\ta\tb\n", *options, add_exit=2), "%r in the message of %r" % (word, options), r.err)
    r.fullrack("add", "dbo.t", data("a.txt", "1\ta\tb\n"), "--server-path", "/x", exit=2)
    check("--server-side" in r.err, "what it goes with", r.err)
    check("in their order" in queue(r, "n,v,id\na,b,1\n", "--format", "csv", "--header", "match", "--unchecked", run_exit=2)["error"], "another order")
    for content, word in ((b"\x1f\x8b\x08\0\0\0\0\0\0\3", "packed"), ("1\ta\tb\n2\ta\n", "row 2 has 2 fields"), ("1\ta\tb\r\n2\ta\tb\n", "CRLF"), ("1\ta\tb\n\n2\ta\tb\n", "row 2")):
        task = queue(r, content, "--format", "delimited", "--unchecked", run_exit=2 if word == "packed" else 1)
        check(word in task["error"], "%r in the task's error" % word, task["error"])
    equal(rows(r), [], "nothing was sent")


def test_task_of_a_stream_is_refused(r):
    """Nobody waits for its writer: neither who queues it, nor a worker that finds one in a file's place."""
    r.fresh(PLAIN)
    r.fresh_control()
    path = os.path.join(FOLDER, "stream")
    os.path.exists(path) and os.remove(path)
    os.mkfifo(path)
    for source in (path, "-", "/dev/zero"):
        r.fullrack("add", "--server-side", "--format", "bcp", "dbo.t", source, exit=2)
        check("%s is no file" % source in r.err, "message about " + source, r.err)
    os.remove(path)
    data("stream", "1\ta\tb\n")
    r.fullrack("add", "-q", "--server-side", "--format", "bcp", "dbo.t", path)
    os.remove(path)
    os.mkfifo(path)
    d = r.json("run", "--workers", "1", exit=2, timeout=60)
    equal([t["state"] for t in d["tasks"]], ["failed"], "state")
    check("is no file" in d["tasks"][0]["error"], "error", d["tasks"])
    os.remove(path)


def test_task_counts(r):
    r.fresh(PLAIN)
    good = "1\ta\tb\n2\ta\tb\n"
    options = ("--format", "delimited")
    # the server's file is another than the one that is seen here
    os.makedirs(os.path.join(FOLDER, "theirs"), exist_ok=True)
    data("theirs/c.txt", good + "3\ta\tb\n")
    task = queue(r, good, *options, "--server-path", FOLDER + "/theirs", name="c.txt", run_exit=1)
    check("loaded 3 rows" in task["error"] and "holds 2" in task["error"], "both figures", task["error"])
    equal(rows(r), [], "rolled back")
    gone = os.path.join(OUTSIDE, "c.txt")
    unseen = (*options, "-r", "0x0a", "--server-path", FOLDER + "/theirs", "--unchecked")
    task = queue(r, gone, *unseen, "--rows-expected", "4", run_exit=1)
    check("loaded 3 rows" in task["error"] and "expected 4" in task["error"], "both figures", task["error"])
    equal(rows(r), [], "rolled back")
    task = queue(r, gone, *unseen, "--rows-expected", "3")
    check("not counted" in task["messages"] and "--rows-expected" in task["messages"], "said", task)
    equal(task["were_rows_counted"], False, "a field says so, too")
    equal(len(rows(r)), 3, "rows")
    task = queue(r, gone, *unseen)
    check("not counted" in task["messages"], "said", task)
    r.fullrack("reset", "--all", "-q")
    out = r.fullrack("run", "--workers", "1", "--pin", "off")
    check("c.txt: the file's rows were not counted" in out, "said in words", out)
    data("theirs/c.txt", "")
    task = queue(r, gone, *unseen, run_exit=1)
    check("--rows-expected 0" in task["error"], "an empty file is said to be empty", task["error"])
    equal(queue(r, gone, *unseen, "--rows-expected", "0")["rows"], 0, "then it may be")
    task = queue(r, gone, *options, "--server-path", FOLDER + "/theirs", "--unchecked", run_exit=2)
    check("-r 0x0a" in task["error"], "how rows end cannot be seen", task["error"])
    task = queue(r, gone, "--server-path", FOLDER + "/theirs", "--unchecked", run_exit=2)
    check("--format" in task["error"], "nor what the file is", task["error"])


def test_task_errors_say_what_to_do(r):
    r.fresh(PLAIN)
    for path, words in ((os.path.join(OUTSIDE, "o.txt"), ("4861", "--bulk-root")), (data("o.txt", "1O\ta\tb\n"), ("row 1, column 1", "fullrack check")),
                        (data("o.txt", "1\t%s\tb\n" % ("x" * 30)), ("truncation", "longer than its column"))):
        if path.startswith(OUTSIDE):
            with open(path, "w") as f:
                f.write("1\ta\tb\n")
        else:
            data("o.txt", "1O\ta\tb\n" if words[0] != "truncation" else "1\t%s\tb\n" % ("x" * 30))
        task = queue(r, path, "--format", "delimited", run_exit=1)
        for w in words[1:]:
            check(w in task["error"], "%r in the error" % w, task["error"])
    equal(rows(r), [], "nothing")


def test_task_again(r):
    """reset, retry, undo, status, report know the kind."""
    r.fresh(PLAIN)
    path = data("again.txt", "1\ta\tb\n2\ta\tb\n")
    queue(r, path, "--format", "delimited")
    r.fullrack("reset", "--all", "-q")
    r.fullrack("run", "--workers", "1", "--pin", "off", "-q")
    equal(len(rows(r)), 4, "a replay loads anew")
    run = r.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0]
    doc = r.json("report", str(run))
    equal((doc["tasks"][0]["kind"], doc["tasks"][0]["rows_loaded"]), ("bulk_insert", 2), "report")
    r.fullrack("undo", str(run), exit=1)
    check("nothing tells them from others" in r.err, "why undo cannot", r.err)
    equal(r.json("verify")["differences"], [], "verify")
    r.fresh(PLAIN)
    queue(r, path, "--format", "delimited", "--truncate")
    r.fullrack("reset", "--all", "-q")
    r.fullrack("run", "--workers", "1", "--pin", "off", "-q")
    equal(len(rows(r)), 2, "with --truncate the table is emptied before")
    run_file = r.file("run.json", json.dumps({"tables": [{"name": "dbo.t", "files": [path], "server-side": True, "format": "delimited"}]}))
    r.fresh_control()
    r.fullrack("run", "--file", run_file, "--workers", "1", "--pin", "off", "-q")
    equal(r.sql("SELECT kind, state FROM dbo.work_queue", "fullrack"), [("bulk_insert", "done")], "a run file's table")


def test_reset_of_one_file_of_a_job_leaves_the_others(r):
    """Its neighbour is done, and the file may be gone."""
    r.fresh(PLAIN)
    r.fresh("CREATE TABLE dbo.said (n int IDENTITY, word varchar(9))", "dbo.said")
    r.fresh_control()
    paths = [data("one%d.txt" % i, "%d\ta\tb\n" % i) for i in (1, 2)]
    entry = {"name": "dbo.t", "files": paths, "server-side": True, "format": "delimited", "after": "INSERT INTO dbo.said (word) VALUES ('after')"}
    r.fullrack("run", "--file", r.file("job.json", json.dumps({"tables": [entry]})), "--workers", "1", "--pin", "off", "-q")
    done = r.sql("SELECT task_id, source FROM dbo.work_queue WHERE kind = 'bulk_insert' ORDER BY task_id", "fullrack")
    os.unlink(done[0][1])
    r.fullrack("reset", str(done[1][0]), "-q")
    r.fullrack("run", "--workers", "1", "--pin", "off", "-q")
    equal(r.sql("SELECT state, attempts FROM dbo.work_queue WHERE kind = 'bulk_insert' ORDER BY task_id", "fullrack"), [("done", 1), ("done", 1)], "tasks")
    equal([t[0] for t in rows(r)], [1, 2, 2], "rows: one file again, as reset says")
    equal(r.sql("SELECT COUNT(*) FROM dbo.said"), [(2,)], "the phase behind them")


def test_task_killed(r):
    """Worker, coordinator and server, killed while the statement runs: each row once, when it is run again."""
    n = some(200000)
    path = data("large.txt", "".join("%d\tabc\tdef\n" % i for i in range(n)))
    for victim in ("worker", "coordinator", "server"):
        r.fresh(PLAIN)
        r.fresh_control()
        r.fullrack("add", "dbo.t", path, "--server-side", "--format", "delimited", "-q")
        p = r.spawn("run", "--workers", "1", "--pin", "off", "--lease", "2", "--retry-for", "20", "-q")
        wait_until("the statement runs", 30, lambda: p.poll() is not None or r.sql(
            "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'BULK INSERT'", "master")[0][0] > 0)
        if victim == "worker":
            for w in workers_of(p.pid):
                os.kill(w, signal.SIGKILL)
        elif victim == "coordinator":
            p.kill()
        else:
            r.kill_server()
            r.start()
        p.wait(120)
        wait_until("it is done", 60, lambda: r.fullrack("run", "--workers", "1", "--pin", "off", "--lease", "2", "-q") is not None and r.sql(
            "SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'done'", "fullrack")[0][0] == 1)
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(n, n)], "rows after the %s was killed" % victim)
        equal(r.json("verify")["differences"], [], "verify after the %s was killed" % victim)


def test_task_cancelled(r):
    r.fresh(PLAIN)
    r.fresh_control()
    r.fullrack("add", "dbo.t", data("x.txt", "1\ta\tb\n"), "--server-side", "--format", "delimited", "-q")
    r.fullrack("cancel", "--all", "-q")
    r.fullrack("run", "--workers", "1", "--pin", "off", "-q")
    equal((rows(r), r.sql("SELECT state FROM dbo.work_queue", "fullrack")), ([], [("cancelled",)]), "a cancelled task is not run")


def test_task_cancelled_while_it_runs(r):
    """All of it or nothing, as the queue says."""
    n = some(300000)
    path = data("large.txt", "".join("%d\tabc\tdef\n" % i for i in range(n)))
    r.fresh(PLAIN)
    r.fresh_control()
    r.fullrack("add", "dbo.t", path, "--server-side", "--format", "delimited", "-q")
    p = r.spawn("run", "--workers", "1", "--pin", "off", "-q")
    wait_until("the statement runs", 30, lambda: p.poll() is not None or r.sql(
        "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'BULK INSERT'", "master")[0][0] > 0)
    r.fullrack("cancel", "--all", "-q")
    p.wait(60)
    state = r.sql("SELECT state FROM dbo.work_queue", "fullrack")[0][0]
    check(state in ("cancelled", "done"), "state", state)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(n if state == "done" else 0,)], "rows of a task that is " + state)


def test_task_file_that_changes(r):
    """Counted as one thing, read as another: nothing of it comes in, and nothing has to be taken out."""
    n = some(300000)

    def begin(name):
        path = data(name, "".join("%d\tabc\tdef\n" % i for i in range(n)))
        r.fresh(PLAIN)
        r.fresh_control()
        r.fullrack("add", "dbo.t", path, "--server-side", "--format", "delimited", "-q")
        return path, r.spawn("run", "--workers", "1", "--pin", "off", "-q")

    def outcome(p):
        p.wait(60)
        state, why = r.sql("SELECT state, last_error FROM dbo.work_queue", "fullrack")[0]
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(n if state == "done" else 0,)], "rows of a task that is " + state)
        return why or ""

    for attempt in range(6):        # it is touched before the statement ends, or else once more
        path, p = begin("touched.txt")
        wait_until("the statement runs", 30, lambda: p.poll() is not None or r.sql(
            "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'BULK INSERT'", "master")[0][0] > 0)
        os.utime(path)
        why = outcome(p)
        if why:
            break
    check("between the counting of its rows and the end of the statement" in why, "why, where its size is the same", why)
    path, p = begin("growing.txt")
    with open(path, "a") as f:
        while p.poll() is None:
            f.write("7\tabc\tdef\n")
            f.flush()
            time.sleep(0.005)
    why = outcome(p)
    check("was changed" in why or "the file holds" in why, "why, where it grows", why)
    check("take it out" not in why, "nothing is there that had to be taken out", why)


def test_task_values_that_the_server_would_change(r):
    """A load refuses them, or reads them otherwise; so they are refused, too."""
    r.fresh(PLAIN)
    for content, options, says in ((b"1,\xff,a\n", ("--format", "csv"), "column v: bytes that are no UTF-8"),
                                   ("1,\u0141\u00f3d\u017a,a\n", ("--format", "csv"), "column v: a character that the column's code page does not have"),
                                   (b'"",a,a\n', ("--format", "csv"), "column id: two quotes"),
                                   (b"1\ta\t\0\n", ("--format", "delimited"), "column n: a NUL character"),
                                   ("1\t\u0141\ta\n".encode("utf-16"), ("--format", "delimited", "-C", "UTF-16"), "column v: a character")):
        task = queue(r, content, *options, run_exit=1)
        check(says in task["error"] and "row 1" in task["error"], says, task["error"])
        equal(rows(r), [], "rows")


def test_task_rights(r):
    r.fresh(PLAIN)
    r.fresh_control()
    r.sql("CREATE LOGIN mover WITH PASSWORD = N'Pa55-word!'", "master")
    r.sql("CREATE USER mover FOR LOGIN mover; ALTER ROLE db_owner ADD MEMBER mover; DENY ADMINISTER DATABASE BULK OPERATIONS TO mover")
    r.sql("CREATE USER mover FOR LOGIN mover; ALTER ROLE db_owner ADD MEMBER mover", "fullrack")
    r.fullrack("add", "dbo.t", data("x.txt", "1\ta\tb\n"), "--server-side", "--format", "delimited", "-q", "--max-attempts", "1")
    env = r.env()
    env["FULLRACK_PASSWORD"] = "Pa55-word!"

    def run(*options, command="run"):
        return subprocess.run([os.path.join(BUILD, "fullrack"), command, "-S", r.address, "-U", "mover", "-d", "t", "--pin", "off", *options],
                              capture_output=True, text=True, env=env, timeout=60)

    dry = run("--workers", "1", "--dry-run")
    check("bulkadmin" in dry.stdout + dry.stderr, "preflight says which right is missing", dry.stdout, dry.stderr)
    said = run(command="worker")
    check(said.returncode == 1 and "bulkadmin" in said.stdout + said.stderr, "so does the task", said.stdout, said.stderr)
    r.sql("ALTER SERVER ROLE bulkadmin ADD MEMBER mover", "master")
    r.fullrack("retry", "--all", "-q")
    said = run("--workers", "1")
    equal((said.returncode, len(rows(r))), (0, 1), "with the right: " + said.stderr)


if __name__ == "__main__":
    with folders("fullrack-test-bulk-", "data", "outside") as (base, (FOLDER, OUTSIDE)):
        main(tests_of(sys.modules[__name__]), "--bulk-root", FOLDER)
