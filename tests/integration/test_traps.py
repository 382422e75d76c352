#!/usr/bin/python3
"""FreeTDS db-lib's traps: what it does to values, streams and sessions unless one takes care.

trap                                     tests (here, unless a file is named)
 1 the text converter changes values     test_values_that_the_library_changes; tests/property; tests/cases date-*, int-*, decimal-*, ...
 2 half a row on the wire                test_a_bad_last_column_leaves_no_half_row; test_load.py test_server_freezes_during_the_load,
                                         test_run.py test_server_restarts_during_a_run (the batch again, on a new connection)
 3 no character conversion               test_load.py test_code_page_of_each_column; test_types.py test_round_trip; tests/cases varchar-codepage-1252
 4 length 0 means NULL                   test_empty_and_null_in_every_place; test_load.py test_empty_is_not_null, test_nul_bytes_are_data
 5 later versions trim                   tests/unit/check_engine.c; test_types.py test_trailing_blanks, test_trimmed_values_in_the_queue
 6 long strings are cut                  test_one_too_long_for_every_type; tests/cases varchar-too-long-*, nvarchar-length-in-utf16-units
 7 one hint, without its argument        test_hints
 8 the table's name is pasted            tests/cases odd-names; tests/unit/check_config.c test_quoting
 9 bcp_batch hides a failed restart      test_load.py test_batches_and_resume; tests/cases batches-before-the-bad-row-stay
10 handlers are process-global           test_load.py test_cannot_connect (a login's own message), test_constraints_are_honoured (a bulk copy's)
11 capped connections                    test_connections_of_one_process
12 32-bit row counters                   test_counts_beyond_32_bits
13 asserts                               test_run.py test_killed_worker, test_killed_worker_of_a_load
14 columns left out, NULL for NOT NULL   test_columns_that_the_server_fills, test_null_for_not_null; tests/cases identity-*, default-*, keep-nulls
15 ANSI options                          test_options_of_the_session
16 locales.conf                          test_dates_whatever_the_locale
17 no time-out                           test_load.py test_frozen_server, test_server_freezes_during_the_load
18 encryption                            test_encrypt.py
19 RPC texts above 4,000 bytes           test_long_texts_of_the_queue; test_load.py test_options_that_are_too_long
20 SET options and transactions          test_options_of_the_session; tests/cases same-key-twice-fails-whole-batch
"""
import json, os, sys
from rack import *
import rack


def rejected(r, ddl, values, *options):
    """Load one-column rows; those that were refused."""
    r.fresh("CREATE TABLE dbo.t (v %s NULL)" % ddl)
    e = os.path.join(r.dir, "refused")
    r.fullrack("load", "dbo.t", r.file("values.txt", "".join(v + "\n" for v in values)), "-m", str(len(values)), "-e", e, *options)
    return open(e).read().splitlines()


def test_values_that_the_library_changes(r):
    """Each of these is stored as something else by freebcp."""
    for ddl, values in (("date", ["31-05-2024", "2025-02-30"]), ("datetime", ["0001-01-01", "24:00:00"]), ("int", ["12.7", "1e2"]),
                        ("bit", ["2"]), ("money", ["1e500"]), ("varbinary(4)", ["ABC", "0xABC"]), ("float", ["NaN", "inf"]),
                        ("time(0)", ["24:00:00"]), ("tinyint", ["256", "-1"])):
        equal(rejected(r, ddl, values), values, "refused by " + ddl)
    equal(rejected(r, "date", ["0001-01-01"]), [], "refused by date")
    equal(r.sql("SELECT CONVERT(varchar(10), v, 23) FROM dbo.t"), [("0001-01-01",)], "the first date")


def test_values_that_the_library_refuses(r):
    for ddl, value, show, want in (
            ("datetime2(3)", "2025-01-31T23:59:59.123", "CONVERT(varchar(40), v, 121)", "2025-01-31 23:59:59.123"),
            ("datetimeoffset(0)", "2025-01-31T23:59:59Z", "CONVERT(varchar(40), v, 121)", "2025-01-31 23:59:59 +00:00"),
            ("numeric(9,2)", "1.5E2", "CONVERT(varchar(40), v)", "150.00"), ("money", "$1,234.56", "CONVERT(varchar(40), v, 2)", "1234.5600"),
            ("bit", "true", "CONVERT(varchar(40), v)", "1"),
            ("uniqueidentifier", "6F9619FF8B86D011B42D00C04FC964FF", "CONVERT(varchar(40), v)", "6F9619FF-8B86-D011-B42D-00C04FC964FF")):
        equal(rejected(r, ddl, [value]), [], "refused by " + ddl)
        equal(r.sql("SELECT %s FROM dbo.t" % show), [(want,)], ddl)


def test_a_bad_last_column_leaves_no_half_row(r):
    r.fresh("CREATE TABLE dbo.t (a varchar(max) NULL, b nvarchar(max) NULL, c varbinary(max) NULL, d tinyint NULL)")
    good = "%s\t%s\t0x%s\t7\n" % ("a" * 9000, "\u0416" * 5000, "ab" * 3000)
    f = r.file("half.txt", (good + good.replace("\t7\n", "\t256\n")) * 5 + good)
    d = r.json("load", "dbo.t", f, "-m", "5")
    equal((d["rows"], d["rejected"]), (6, 5), "counts")
    equal(r.sql("SELECT LEN(a), LEN(b), DATALENGTH(c), d, COUNT(*) FROM dbo.t GROUP BY LEN(a), LEN(b), DATALENGTH(c), d"),
          [(9000, 5000, 3000, 7, 6)], "rows")


TEXTS = ["char(3)", "varchar(3)", "varchar(max)", "text", "nchar(3)", "nvarchar(3)", "nvarchar(max)", "ntext"]
BINARIES = ["binary(3)", "varbinary(3)", "varbinary(max)", "image"]


def test_empty_and_null_in_every_place(r):
    """'' and 0x beside NULL and a value, in the first, a middle and the last column, in every order of rows."""
    for ddl in TEXTS + BINARIES:
        binary = ddl in BINARIES
        forms = [("", None), ("0x" if binary else '""', b"" if binary else ""), ("0x61" if binary else "a", b"a" if binary else "a")]
        fill = b"\0" if binary else " "
        show = lambda v: v if v is None or "(3)" not in ddl or "var" in ddl else v + fill * (3 - len(v))
        rows = [(x, y, z) for x in forms for y in forms for z in forms]
        rows += rows[::-1]
        f = r.file("empty.csv", "".join("%s,%d,%s,%d,%s\n" % (x[0], i, y[0], -i, z[0]) for i, (x, y, z) in enumerate(rows)))
        r.fresh("CREATE TABLE dbo.t (a {0} NULL, i int NOT NULL, b {0} NULL, j int NULL, c {0} NULL)".format(ddl))
        r.fullrack("load", "dbo.t", f, "--format", "csv")
        equal(r.sql("SELECT a, b, c FROM dbo.t ORDER BY i"), [tuple(show(v[1]) for v in row) for row in rows], "rows of " + ddl)


def test_one_too_long_for_every_type(r):
    for ddl, values in (("char(3)", ["abcd"]), ("varchar(3)", ["abc ", "abcd"]), ("varchar(3) COLLATE Japanese_CI_AS", ["\u65e5\u672c"]),
                        ("varchar(3) COLLATE Latin1_General_100_CI_AS_SC_UTF8", ["\u20acx"]), ("nchar(2)", ["abc", "x\U0001F600"]),
                        ("nvarchar(2)", ["abc", "x\U0001F600"]), ("binary(2)", ["0x010203"]), ("varbinary(2)", ["010203"])):
        equal(rejected(r, ddl, values), values, "refused by " + ddl)


def test_hints(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v int NULL DEFAULT 3 CHECK (v > 0))")
    f = r.file("hints.txt", "1\t\n")
    r.fullrack("load", "dbo.t", f, "-k", exit=2)      # CHECK_CONSTRAINTS and KEEP_NULLS
    check("KEEP_NULLS" in r.err and "wire engine" in r.err, "message", r.err)
    for hint in ("ROWS_PER_BATCH=5", "ORDER(id)", "TABLOCK, CHECK_CONSTRAINTS", "FIRE_TRIGGERS"):
        r.fullrack("load", "dbo.t", f, "--hint", hint, exit=2)
        check("--hint " + hint in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")
    for options in (("-k", "--no-check"), ("--hint", "tablock", "--no-check"), ("--hint", "none")):
        r.fullrack("load", "dbo.t", f, *options)
    equal(r.sql("SELECT v FROM dbo.t ORDER BY v"), [(None,), (3,), (3,)], "rows")


def test_connections_of_one_process(r):
    """A load holds two at most, far from the library's cap: one that feeds, one that looks on."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    fifo = os.path.join(r.dir, "held")
    os.mkfifo(fifo)
    p = r.spawn("load", "dbo.t", fifo)
    with open(fifo, "wb", buffering=0) as w:
        w.write(b"1\n")
        wait_until("it works", 20, lambda: r.sql("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name LIKE 'fullrack%'")[0][0])
        held = r.sql("SELECT host_process_id, COUNT(*) FROM sys.dm_exec_sessions WHERE program_name LIKE 'fullrack%' GROUP BY host_process_id")
        check(all(n <= 3 for _, n in held), "sessions by process", held)
    out, err = p.communicate(timeout=30)
    equal(p.returncode, 0, "exit status (%s)" % err)


def test_counts_beyond_32_bits(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("many.txt", "1\n2\nx\n")
    t = r.json("load", "dbo.t", f, "-b", "2", exit=1)["tasks"][0]
    r.sql("UPDATE dbo.fullrack_ledger SET rows_loaded = 5000000000, next_row = 5000000001 WHERE load_id = '%s'" % t["load_id"])
    d = r.json("load", "dbo.t", f, "-b", "2", "-m", "1", "--resume", t["load_id"])
    equal((d["rows"], d["tasks"][0]["rows"]), (5000000000, 5000000000), "rows")
    check("row 5000000001" in r.err, "the rejected row's number", r.err)


def test_columns_that_the_server_fills(r):
    """Whatever their place: identity, computed, rowversion and default."""
    r.fresh("""CREATE TABLE dbo.t (rv rowversion NOT NULL, id int IDENTITY(5,5) NOT NULL, v varchar(5) NULL DEFAULT 'dflt', w AS (id * 2),
               n nvarchar(5) NULL, d int NULL DEFAULT 7)""")
    f = r.file("fill.csv", 'a,x,1\n,,\n"","",3\n')
    r.fullrack("load", "dbo.t", f, "--format", "csv")
    equal(r.sql("SELECT id, v, w, n, d FROM dbo.t ORDER BY id"), [(5, "a", 10, "x", 1), (10, "dflt", 20, None, 7), (15, "", 30, "", 3)], "rows")
    equal(r.sql("SELECT COUNT(DISTINCT rv) FROM dbo.t"), [(3,)], "rowversions")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "dbo.t", f, "--format", "csv", "-k")
    equal(r.sql("SELECT v, n, d FROM dbo.t ORDER BY id"), [("a", "x", 1), (None, None, None), ("", "", 3)], "rows with -k")
    r.sql("DELETE FROM dbo.t")
    # all columns in the file: those the server makes are read and dropped, the identity only without -E
    g = r.file("all.csv", "zz,100,a,zz,x,1\nzz,7,b,zz,y,\n")
    r.fullrack("load", "dbo.t", g, "--format", "csv", "-E")
    equal(r.sql("SELECT id, v, w, n, d FROM dbo.t ORDER BY id"), [(7, "b", 14, "y", 7), (100, "a", 200, "x", 1)], "rows with -E")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "dbo.t", f, "--format", "csv", "--columns", "n,-,d")
    equal(r.sql("SELECT v, n, d FROM dbo.t ORDER BY id"), [("dflt", "a", 1), ("dflt", None, 7), ("dflt", "", 3)], "rows of two columns")


def test_null_for_not_null(r):
    """It never reaches the library, which would abort the process; the way out is named."""
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL, v varchar(5) NOT NULL, d int NOT NULL DEFAULT 7)")
    f = r.file("notnull.csv", '1,a,1\n,b,2\n3,,3\n4,"",\n')
    e = os.path.join(r.dir, "nulls")
    d = r.json("load", "dbo.t", f, "--format", "csv", "-m", "3", "-e", e)
    equal((d["rows"], d["rejected"]), (1, 3), "counts")
    notes = [json.loads(line) for line in open(e + ".json")]
    equal([n["column"] for n in notes], ["a", "v", "d"], "columns")
    check("default" in notes[2]["reason"], "reason", notes[2])
    r.fullrack("load", "dbo.t", f, "--format", "csv", "--columns", "a,v,-", exit=2)
    check("column d" in r.err and "default" in r.err, "message", r.err)
    r.fullrack("load", "dbo.t", f, "--format", "csv", "--columns", "a,-,d", exit=2)
    check("column v" in r.err and "NOT NULL" in r.err, "message", r.err)
    equal(r.sql("SELECT a, v, d FROM dbo.t"), [(1, "a", 1)], "rows")


def test_options_of_the_session(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    bits = int(r.fullrack("query", "SELECT @@OPTIONS AS o", "-q").split()[-1])
    for name, bit in (("ANSI_WARNINGS", 8), ("ANSI_PADDING", 16), ("ANSI_NULLS", 32), ("ARITHABORT", 64), ("QUOTED_IDENTIFIER", 256),
                      ("CONCAT_NULL_YIELDS_NULL", 4096), ("XACT_ABORT", 16384)):
        check(bits & bit, name + " is off", bits)
    equal(bits & 8192, 0, "NUMERIC_ROUNDABORT")


def test_dates_whatever_the_locale(r):
    r.fresh("CREATE TABLE dbo.t (w datetime NULL)")
    for locale in ("C", "de_DE.UTF-8", "en_US"):
        out = r.fullrack("query", "SELECT CAST('2024-02-29T13:14:15.997' AS datetime) AS w, CAST(1.5 AS float) AS f",
                         env=r.env(LANG=locale, LC_ALL=locale))
        check("2024-02-29 13:14:15.997" in out and "1.5" in out, "in " + locale, out)


def test_long_texts_of_the_queue(r):
    """A text of more than 4,000 bytes goes in parts, a very long one is refused: never cut, never in the server's code page."""
    r.fresh("CREATE TABLE dbo.t (id int NULL, v nvarchar(20) NULL)")
    r.fresh_control()
    f = r.file("q\u0416.txt", "1\t\u0416\n" + "\u0416" * 3000 + "\tx\n")
    r.fullrack("add", "dbo.t", f, "--null", "\u0416" * 3000)
    equal(r.json("run", "--workers", "1")["rows"], 2, "rows")
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY v"), [(None, "x"), (1, "\u0416")], "rows")
    r.fullrack("add", "dbo.t", f, "--again", "--null", "\u0416" * 19000, exit=2)
    check("longer than" in r.err, "message", r.err)
    g = r.file("bad\u0416.txt", "\u0416" * 4000 + "\tx\n")
    r.fullrack("add", "dbo.t", g)
    r.fullrack("run", "--workers", "1", exit=1)
    text = r.sql("SELECT last_error FROM dbo.work_queue WHERE state = 'failed'", "fullrack")[0][0]
    check("bad\u0416.txt: row 1" in text and "?" not in text, "last_error", text)


if __name__ == "__main__":
    rack.ENGINE = "bcp"
    main(tests_of(sys.modules[__name__]), "--schedulers", "2")
