#!/usr/bin/python3
"""--reject-table: rejected rows in a table of the target database."""
import json, os, signal, sys, time
from rack import *

COLUMNS = "source, target_table, row_number, byte_offset, column_name, value, reason, row_bytes, host"


def fresh(r, ddl="CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL)"):
    r.fresh(ddl)
    r.sql("DROP TABLE IF EXISTS dbo.rej")


def rejects(r, columns="row_number, byte_offset, column_name, value, reason, row_bytes", where=""):
    return r.sql("SELECT %s FROM dbo.rej %s ORDER BY source, range_start, row_number, reject_id" % (columns, where))


def notes(path):
    with open(path + ".json", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def content(path):
    with open(path, "rb") as f:
        return f.read()


def same_as_file(r, path, mark=b""):
    """What -e wrote is what the table has."""
    table = rejects(r)
    equal([row[:5] for row in table], [(n["row"], n["byte"], n["column"], n["value"], n["reason"]) for n in notes(path)],
          "rows and reasons")
    equal(mark + b"".join(row[5] for row in table), content(path), "bytes")
    return table


def each_engine(f):
    def both(r):
        for engine in ("wire", "bcp"):
            try:
                f(r, engine)
            except Failed as e:
                raise Failed("%s engine: %s" % (engine, e))
    both.__name__ = f.__name__
    return both


@each_engine
def test_same_rows_and_reasons_as_the_file(r, engine):
    fresh(r)
    path = r.file("a.txt", "1\tone\nx\ttwo\n3\tthree\n4\tfour\tmore\n99999999999\tfive\n6\t%s\n7\tseven\n" % ("s" * 30))
    e = os.path.join(r.dir, "a.rej")
    d = r.json("load", "dbo.t", path, "-m", "9", "-e", e, "--reject-table", "dbo.rej", "-b", "2", "--engine", engine)
    equal((d["rows"], d["rejected"]), (3, 4), "rows, rejected")
    table = same_as_file(r, e)
    equal([row[0] for row in table], [2, 4, 5, 6], "row numbers")
    row = rejects(r, "CAST(load_id AS varchar(36)), range_start, source, target_table, host, rejected_at")[0]
    equal(row[0].lower(), d["tasks"][0]["load_id"].lower(), "load id")
    equal(row[1:4], (0, path, "dbo.t"), "where from and where to")
    check(row[4] and row[5] is not None, "host and time", row)


@each_engine
def test_strange_values(r, engine):
    fresh(r)
    rows = [b"a\0b\tnul\n", b"\xff\xfe\tbad\n", b"'; DROP TABLE dbo.t; --\tquote\n", b"\"\t\\\n", b"\xf0\x9f\x98\x80\tsmile\n",
            b"\xc3\xa9\t\xe2\x82\xac\n", b" \t\x01\x7f\n", b"\t\n", b"x" * 200000 + b"\tlong\n", b"\x00\x01\x02\xff" * 50000 + b"\t\n",
            b"last one without an end"]
    path = r.file("strange.txt", b"1\tone\n" + b"".join(rows))
    e = os.path.join(r.dir, "strange.rej")
    d = r.json("load", "dbo.t", path, "--format", "delimited", "-m", "99", "-e", e, "--reject-table", "rej", "--engine", engine)
    equal((d["rows"], d["rejected"]), (1, len(rows)), "rows, rejected")
    table = same_as_file(r, e)
    equal([row[5] for row in table], rows, "each row's bytes")


@each_engine
def test_encodings(r, engine):
    text = "1\tein\nß€😀\tzwei\n3\tdrei\n"
    for encoding, mark, option in (("utf-16-le", b"\xff\xfe", None), ("utf-16-be", b"\xfe\xff", None), ("utf-8", b"\xef\xbb\xbf", None),
                                   ("utf-16-le", b"", "UTF-16")):
        fresh(r)
        path = r.file("enc.txt", mark + text.encode(encoding))
        e = os.path.join(r.dir, "enc.rej")
        r.fullrack("load", "-q", "dbo.t", path, "-m", "1", "-e", e, "--reject-table", "dbo.rej", "--engine", engine,
                   *(["-C", option] if option else []))
        table = same_as_file(r, e, mark)
        equal(table[0][5], "ß€😀\tzwei\n".encode(encoding), "bytes in %s" % encoding)
    fresh(r)
    path = r.file("enc.txt", "1\tein\nß€\tzwei\n".encode("cp1252"))
    r.fullrack("load", "-q", "dbo.t", path, "-m", "1", "-C", "CP1252", "--reject-table", "dbo.rej", "--engine", engine)
    equal(rejects(r, "row_bytes"), [("ß€\tzwei\n".encode("cp1252"),)], "bytes in CP1252")


@each_engine
def test_too_many_leave_nothing_of_the_batch(r, engine):
    fresh(r)
    path = r.file("m.txt", "1\ta\nx\tb\n3\tc\n4\td\ny\te\nz\tf\n7\tg\n")
    r.fullrack("load", "dbo.t", path, "-m", "2", "-b", "3", "--reject-table", "dbo.rej", "--engine", engine, exit=1)
    check("row 6 (byte 20): column id: \"z\" is not a whole number" in r.err, "the row that was one too many", r.err)
    equal(rejects(r, "row_number"), [(2,)], "the first batch's alone")
    equal(r.sql("SELECT id FROM dbo.t ORDER BY id"), [(1,), (3,)], "rows of the first batch")
    fresh(r)
    r.fullrack("load", "dbo.t", path, "-m", "2", "-b", "0", "--reject-table", "dbo.rej", "--engine", engine, exit=1)
    equal((rejects(r, "row_number"), r.sql("SELECT * FROM dbo.t")), ([], []), "all in one transaction")


@each_engine
def test_resumed_load(r, engine):
    fresh(r)
    path = r.file("res.txt", "x\ta\n2\tb\ny\tc\n4\td\nz\te\n6\tf\n")
    r.fullrack("load", "dbo.t", path, "-m", "2", "-b", "2", "--reject-table", "dbo.rej", "--engine", engine, exit=1)
    load_id = r.err.split("load id ")[1].split()[0]
    r.fullrack("load", "-q", "dbo.t", path, "-m", "3", "-b", "2", "--reject-table", "dbo.rej", "--engine", engine, "--resume", load_id)
    equal(rejects(r, "row_number, row_bytes"), [(1, b"x\ta\n"), (3, b"y\tc\n"), (5, b"z\te\n")], "each once")
    r.fullrack("load", "-q", "dbo.t", path, "-m", "3", "-b", "2", "--reject-table", "dbo.rej", "--engine", engine, "--resume", load_id)
    equal(len(rejects(r)), 3, "still")


@each_engine
def test_many_rejects_of_one_batch(r, engine):
    """More than are kept in memory: the batch ends early, or, where it must not, they go into the table on the way."""
    path = r.file("many.txt", "".join("%d\tv\n" % i if i % 2 else "x%d\t%s\n" % (i, "y" * 300) for i in range(1, 40001)))
    for more in ([], ["-b", "0"], ["-"]):
        fresh(r)
        source = more if more == ["-"] else [path] + more
        with open(path, "rb") as f:
            d = json.loads(r.fullrack("load", "--json", "dbo.t", *source, "-m", "20000", "--reject-table", "dbo.rej", "--engine", engine,
                                      "--format", "delimited", input=f.read() if more == ["-"] else None))
        equal((d["rows"], d["rejected"]), (20000, 20000), "rows, rejected of %r" % more)
        got = r.sql("SELECT COUNT(*), COUNT(DISTINCT row_number), MIN(row_number), MAX(row_number), SUM(CAST(DATALENGTH(row_bytes) AS bigint)) FROM dbo.rej")
        equal(got, [(20000, 20000, 2, 40000, sum(len("x%d\t\n" % i) + 300 for i in range(2, 40001, 2)))], "the table, %r" % more)
        batches = r.sql("SELECT TOP (1) batches FROM dbo.fullrack_ledger ORDER BY created_at DESC")[0][0]
        check(batches == 1 if more else batches > 1, "batches of %r" % more, batches)
    fresh(r)
    r.fullrack("load", "-q", "dbo.t", path, "-m", "19999", "-b", "0", "--reject-table", "dbo.rej", "--engine", engine, exit=1)
    equal((r.sql("SELECT COUNT(*) FROM dbo.rej"), r.sql("SELECT COUNT(*) FROM dbo.t")), ([(0,)], [(0,)]), "rolled back with the batch")


def test_only_rejects(r):
    fresh(r)
    path = r.file("only.txt", "x\ta\ny\tb\n")
    for more in ([], ["--ledger", "off"]):
        d = r.json("load", "dbo.t", path, "-m", "2", "--reject-table", "dbo.rej", *more)
        equal((d["rows"], d["rejected"]), (0, 2), "rows, rejected")
    equal(sorted(rejects(r, "row_number")), [(1,), (1,), (2,), (2,)], "two of each load")


def test_ledger_off_is_said(r):
    fresh(r)
    path = r.file("off.txt", "x\ta\n2\tb\n")
    r.fullrack("load", "dbo.t", path, "-m", "1", "--reject-table", "dbo.rej", "--ledger", "off")
    check("at least once" in r.err, "said", r.err)
    equal(rejects(r, "row_number"), [(1,)], "rows")


def test_queue_split_and_hosts(r):
    fresh(r)
    r.fresh_control()
    path = r.file("q.txt", "".join("%d\tv\n" % i if i % 100 else "bad\tv%d\n" % i for i in range(30000)))
    r.fullrack("add", "-q", "dbo.t", path, "--split", "3", "-m", "200", "--reject-table", "dbo.rej", "-b", "1000")
    d = r.json("run", "--workers", "3")
    equal((d["rows"], d["rejected"], len(d["tasks"])), (29700, 300, 3), "rows, rejected, tasks")
    got = r.sql("SELECT COUNT(*), COUNT(DISTINCT row_bytes), COUNT(DISTINCT load_id), COUNT(DISTINCT range_start) FROM dbo.rej")
    equal(got, [(300, 300, 3, 3)], "the table")
    with open(path, "rb") as f:
        data = f.read()
    for offset, row in rejects(r, "byte_offset, row_bytes"):
        equal(data[offset:offset + len(row)], row, "the row at its offset")


def test_run_file(r):
    fresh(r)
    r.fresh_control()
    r.file("rf.txt", "1\ta\nx\tb\n")
    path = r.file("run.json", json.dumps({"reject-table": "dbo.rej", "max-errors": 1,
                                          "tables": [{"name": "dbo.t", "files": "rf.txt"}]}))
    r.fullrack("run", "-q", "--file", path, "--workers", "1")
    equal(rejects(r, "row_number, source"), [(2, os.path.join(r.dir, "rf.txt"))], "rows")


def test_check_refuses_it(r):
    fresh(r)
    path = r.file("c.txt", "x\ta\n")
    r.fullrack("check", "dbo.t", path, "--reject-table", "dbo.rej", exit=2)
    check("--reject-table" in r.err and "-e" in r.err, "the message", r.err)
    config = r.file("c.json", json.dumps({"reject-table": "dbo.rej"}))
    r.fullrack("check", "dbo.t", path, "--config", config, exit=1)
    equal(r.sql("SELECT OBJECT_ID('dbo.rej')"), [(None,)], "nothing was made")


def test_names(r):
    fresh(r)
    r.sql("IF SCHEMA_ID('odd]s') IS NULL EXEC('CREATE SCHEMA [odd]]s]')")
    r.sql("DROP TABLE IF EXISTS [odd]]s].[re'j]]ects]")
    path = r.file("n.txt", "x\ta\n2\tb\n")
    r.fullrack("load", "-q", "dbo.t", path, "-m", "1", "--reject-table", "[odd]]s].[re'j]]ects]")
    equal(r.sql("SELECT COUNT(*) FROM [odd]]s].[re'j]]ects]"), [(1,)], "rows")
    for bad in ("a.b.c.d", "[open", ""):
        r.fullrack("load", "dbo.t", path, "--reject-table", bad, exit=2)
        check("--reject-table" in r.err, "the message", r.err)
        r.fullrack("add", "--unchecked", "dbo.t", path, "--reject-table", bad, exit=2)
        check("--reject-table" in r.err, "the message", r.err)


def test_other_tables_are_refused(r):
    fresh(r)
    path = r.file("o.txt", "x\ta\n2\tb\n")
    r.fullrack("load", "dbo.t", path, "-m", "1", "--reject-table", "dbo.t", exit=2)
    check("the table that is loaded" in r.err, "the message", r.err)
    r.sql("CREATE TABLE dbo.rej (load_id uniqueidentifier NOT NULL, row_number int NOT NULL)")
    r.fullrack("load", "dbo.t", path, "-m", "1", "--reject-table", "dbo.rej", exit=2)
    check("dbo.rej is a table of another shape" in r.err, "the message", r.err)
    r.sql("DROP TABLE dbo.rej; CREATE TABLE dbo.rej (load_id uniqueidentifier, range_start int, row_number bigint, byte_offset bigint, "
          "source nvarchar(5), target_table nvarchar(128), column_name nvarchar(128), value nvarchar(3), reason nvarchar(100), "
          "row_bytes varbinary(max), host nvarchar(128))")
    r.fullrack("load", "dbo.t", path, "-m", "1", "--reject-table", "dbo.rej", exit=2)
    check("no column range_start of type bigint" in r.err, "the message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "nothing was loaded")


def test_own_columns_and_types_may_be_narrower(r):
    """A DBA's own table: more columns, shorter texts."""
    fresh(r)
    r.sql("CREATE TABLE dbo.rej (id int IDENTITY NOT NULL PRIMARY KEY, load_id uniqueidentifier, range_start bigint, row_number bigint, "
          "byte_offset bigint, source nvarchar(5), target_table nvarchar(128), column_name nvarchar(128), value nvarchar(3), "
          "reason nvarchar(100), row_bytes varbinary(max), host nvarchar(128), state varchar(10) DEFAULT 'new')")
    path = r.file("own.txt", "xß😀y\ta\n2\tb\n")
    for engine in ("wire", "bcp"):
        r.fullrack("load", "-q", "dbo.t", path, "-m", "1", "--reject-table", "dbo.rej", "--engine", engine)
    equal(r.sql("SELECT source, value, state FROM dbo.rej"), [(path[:5], "xß", "new")] * 2, "cut where a character ends")


def with_login(r, *grants):
    r.sql("IF SUSER_ID('few') IS NULL CREATE LOGIN few WITH PASSWORD = 'Few-Rights-1'", "")
    r.sql("IF USER_ID('few') IS NULL CREATE USER few FOR LOGIN few")
    for text in grants:
        r.sql(text)

    def load(*args, exit=0):
        env = dict(r.env(), FULLRACK_USER="few", FULLRACK_PASSWORD="Few-Rights-1")
        import subprocess
        p = subprocess.run([os.path.join(BUILD, "fullrack"), "load", "-S", r.address, "-d", "t", "-q"] + list(args), env=env,
                           capture_output=True, text=True, timeout=60)
        equal(p.returncode, exit, "exit status (%s)" % p.stderr)
        return p.stderr
    return load


def test_missing_rights(r):
    fresh(r)
    path = r.file("few.txt", "x\ta\n2\tb\n")
    r.fullrack("init", "-q")
    load = with_login(r, "GRANT SELECT, INSERT ON dbo.t TO few", "GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_ledger TO few")
    said = load("dbo.t", path, "-m", "1", "--reject-table", "dbo.rej", exit=2)
    check("dbo.rej" in said and "not there" in said and "init --reject-table" in said, "no right to make it", said)
    r.fullrack("init", "-q", "--reject-table", "dbo.rej")
    r.sql("GRANT SELECT ON dbo.rej TO few")
    said = load("dbo.t", path, "-m", "1", "--reject-table", "dbo.rej", exit=2)
    check("INSERT" in said and "GRANT" in said, "no right to write to it", said)
    r.sql("GRANT INSERT ON dbo.rej TO few")
    load("dbo.t", path, "-m", "1", "--reject-table", "dbo.rej")
    equal(rejects(r, "row_number"), [(1,)], "with the rights it goes")


def test_killed_workers(r):
    """kill -9 in mid-load, again and again: each reject once."""
    fresh(r)
    r.fresh_control()
    n = 60000
    path = r.file("kill.txt", "".join("%d\tv\n" % i if i % 20 else "bad%d\tv\n" % i for i in range(n)))
    r.fullrack("add", "-q", "dbo.t", path, "-m", str(n), "--reject-table", "dbo.rej", "-b", "500", "--max-attempts", "100")
    run = r.spawn("run", "--workers", "2", "--json", "--lease", "2", "--rate", "400K")
    kills = 0
    while run.poll() is None and kills < 4:
        time.sleep(0.25)
        done = r.sql("SELECT COUNT(*) FROM dbo.t")[0][0]
        pids = r.sql("SELECT w.pid FROM dbo.worker AS w JOIN dbo.work_queue AS q ON q.worker = w.worker AND q.run_id = w.run_id "
                     "WHERE q.state = 'active'", "fullrack")
        if done > kills * n / 8 and pids:
            try:
                os.kill(pids[0][0], signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
    out, err = run.communicate(timeout=100)
    equal(run.returncode, 0, "exit status (%s)" % err)
    check(kills >= 2, "workers were killed in the middle", kills)
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT row_number), COUNT(DISTINCT row_bytes) FROM dbo.rej"), [(n // 20, n // 20, n // 20)], "rejects")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(n - n // 20, n - n // 20)], "rows")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
