#!/usr/bin/python3
"""fullrackd: large loads into a heap stay in the files they were spooled to, and nobody can tell."""
import os, sqlite3, struct, subprocess, sys, tempfile, threading
from rack import *
from tds import Tds

ROWS = 40000
LOADS = 8
DDL = "CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL, x AS id + 1)"
FIGURES = "SELECT COUNT(*), SUM(CAST(id AS bigint)), COUNT(v), SUM(d), SUM(CAST(x AS bigint)) FROM dbo.t"


def segments(r):
    return sorted(os.listdir(os.path.join(r.data, "segments")))


def source(r, name="rows.txt"):
    return r.file(name, "".join("%d\t%s\t%d.25\n" % (i, "\u017e" * (i % 40), i) for i in range(ROWS)))


def prepare(r, loads=1, ddl=DDL):
    r.fresh(ddl)
    path = source(r)
    for _ in range(loads):
        equal(r.json("load", "dbo.t", path)["rows"], ROWS, "rows of a load")
    return path


def figures(times):
    total = ROWS * (ROWS - 1) // 2
    return [(ROWS * times, total * times, (ROWS - ROWS // 40) * times, total * times + ROWS * times / 4, (total + ROWS) * times)]


def same_figures(r, times, what):
    got = r.sql(FIGURES)
    equal([tuple(float(v) for v in got[0])], [tuple(float(v) for v in figures(times)[0])], what)


def test_read_as_one_table(r):
    prepare(r, 2)
    equal(len(segments(r)), 2, "segments")
    same_figures(r, 2, "figures over two segments")
    r.sql("INSERT INTO dbo.t (id, v) VALUES (-1, N'base')")
    equal(r.sql("SELECT TOP 2 id, v FROM dbo.t ORDER BY id"), [(-1, "base"), (0, None)], "base and segments, ordered")
    equal(r.sql("SELECT a.id, b.x FROM dbo.t AS a JOIN dbo.t AS b ON b.id = a.id + 1 WHERE a.id = -1"), [(-1, 1), (-1, 1)], "a join with itself")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t WHERE t.id < 3 AND EXISTS (SELECT 1 FROM dbo.t AS o WHERE o.id = t.id - 1)"), [(6,)], "EXISTS")
    equal(r.sql("SELECT SUM(rows) FROM sys.partitions WHERE object_id = OBJECT_ID(N'dbo.t')"), [(2 * ROWS + 1,)], "rows in the catalog")
    equal(r.sql("SELECT COUNT(*) FROM t.dbo.t", "master"), [(2 * ROWS + 1,)], "from another database")


def test_changes_bring_them_in(r):
    for statement in ("UPDATE dbo.t SET v = v WHERE id = 5", "DELETE FROM dbo.t WHERE id = -5", "CREATE INDEX ix ON dbo.t (id)",
                      "ALTER TABLE dbo.t ADD z int NULL", "ALTER TABLE dbo.t ALTER COLUMN v nvarchar(80) NULL",
                      "CREATE UNIQUE INDEX ux ON dbo.t (id)", "ALTER TABLE dbo.t ADD CONSTRAINT pk PRIMARY KEY (id)",
                      "ALTER TABLE dbo.t ADD CONSTRAINT ck CHECK (id >= 0)"):
        prepare(r)
        check(segments(r), "there is a segment")
        r.sql(statement)
        equal(segments(r), [], "segments after " + statement)
        same_figures(r, 1, "figures after " + statement)
    prepare(r, 2)
    equal(r.sql("UPDATE dbo.t SET d = 0 WHERE id = 7; SELECT @@ROWCOUNT"), [(2,)], "rows of two segments changed")


def test_truncate_and_drop(r):
    for statement in ("TRUNCATE TABLE dbo.t", "DROP TABLE dbo.t"):
        prepare(r, 2)
        r.sql(statement)
        equal(segments(r), [], "segments after " + statement)
    r.sql("CREATE DATABASE gone", "")
    r.sql(DDL, "gone")
    r.fullrack("load", "-q", "dbo.t", source(r), database="gone")
    equal(len(segments(r)), 1, "segments")
    r.sql("DROP DATABASE gone", "")
    equal(segments(r), [], "segments after DROP DATABASE")


def test_what_is_rolled_back_leaves_nothing(r):
    prepare(r)
    before = segments(r)
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("BEGIN TRANSACTION; UPDATE dbo.t SET d = 1 WHERE id = 1; DELETE FROM dbo.t WHERE id > 10")
        cur.execute("SELECT COUNT(*) FROM dbo.t")
        equal(cur.fetchall(), [(11,)], "seen within")
        equal(segments(r), before, "the file stays: others read it")
        same_figures(r, 1, "what others see meanwhile")
        cur.execute("ROLLBACK")
    equal(segments(r), before, "segments after a rollback")
    same_figures(r, 1, "figures after a rollback")
    # a load that is rolled back by its own session, and one whose savepoint is
    for end in ("ROLLBACK", "COMMIT"):
        with r.connect("t") as db:
            cur = db.cursor()
            cur.execute("BEGIN TRANSACTION; SAVE TRANSACTION s")
            db.bulk_copy("dbo.t", [(i, "w" * 40, None) for i in range(ROWS)], column_ids=[1, 2, 3])
            cur.execute("SELECT COUNT(*) FROM dbo.t")
            equal(cur.fetchall(), [(2 * ROWS,)], "seen within")
            cur.execute("ROLLBACK TRANSACTION s" if end == "COMMIT" else "PRINT 'on'")
            cur.execute(end)
        equal(segments(r), before, "segments after " + end)
        same_figures(r, 1, "figures after " + end)


def test_an_open_query_reads_on(r):
    """What a query began to read stays until it is through, though the table has been changed meanwhile."""
    prepare(r, 2)
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("SELECT id, v, d FROM dbo.t")
        first = cur.fetchmany(10)
        r.sql("DELETE FROM dbo.t WHERE id < 1000")
        check(segments(r), "files are still there")
        rest = cur.fetchall()
        equal(len(first) + len(rest), 2 * ROWS, "rows of the query")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2 * (ROWS - 1000),)], "rows afterwards")
    wait_until("the files are gone", 10, lambda: segments(r) == [])


def rows_of(n):
    return [(i, "w" * 40, None) for i in range(n)]


def test_loads_before_a_savepoint(r):
    """What was loaded before SAVE TRANSACTION stays when all after it is rolled back, whenever it was first read."""
    for loaded in (10, ROWS):
        r.fresh(DDL)
        with r.connect("t") as db:
            cur = db.cursor()
            cur.execute("BEGIN TRANSACTION")
            db.bulk_copy("dbo.t", rows_of(loaded), column_ids=[1, 2, 3])
            cur.execute("SAVE TRANSACTION s")
            db.bulk_copy("dbo.t", rows_of(5), column_ids=[1, 2, 3])
            cur.execute("SELECT COUNT(*) FROM dbo.t")
            equal(cur.fetchall(), [(loaded + 5,)], "seen within")
            cur.execute("ROLLBACK TRANSACTION s; SELECT COUNT(*) FROM dbo.t")
            equal(cur.fetchall(), [(loaded,)], "after ROLLBACK TRANSACTION s")
            cur.execute("COMMIT")
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(loaded,)], "committed")


def test_a_load_that_no_longer_fits(r):
    """It is an error, and rows of another load that came in with it are not lost."""
    r.fresh(DDL + "; CREATE TABLE dbo.u (id int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL)")
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("BEGIN TRANSACTION")
        for table in ("dbo.t", "dbo.u"):
            db.bulk_copy(table, rows_of(7), column_ids=[1, 2, 3])
        r.sql("ALTER TABLE dbo.u ADD z int NULL")
        for statement in ("SAVE TRANSACTION s", "SELECT COUNT(*) FROM dbo.u"):
            try:
                cur.execute(statement)
                cur.fetchall()
            except Exception as e:
                check("schema change" in str(e), "message", str(e))
            else:
                check(False, "an error of " + statement)
            cur.execute("SELECT COUNT(*) FROM dbo.t")
            equal(cur.fetchall(), [(7,)], "the other load after " + statement)
        try:
            cur.execute("COMMIT")
        except Exception as e:
            check("schema change" in str(e), "message", str(e))
        else:
            check(False, "an error of COMMIT")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "nothing is committed")


def test_tables_of_a_query_change(r):
    """Columns change and tables go while a query reads their segments: it reads on, or fails, and never reads something else."""
    for statement in ("ALTER TABLE dbo.t ALTER COLUMN v nvarchar(80) NULL", "ALTER TABLE dbo.t DROP COLUMN d", "TRUNCATE TABLE dbo.t",
                      "DROP TABLE dbo.t"):
        prepare(r, 2)
        with r.connect("t") as db:
            cur = db.cursor()
            cur.execute("SELECT id, v, d FROM dbo.t")
            rows = cur.fetchmany(10)
            r.sql(statement)
            rows += cur.fetchall()
        equal([tuple(row) for row in rows[:3]], [(0, None, 0.25), (1, "\u017e", 1.25), (2, "\u017e" * 2, 2.25)], "first rows, " + statement)
        equal((len(rows), sum(row[0] for row in rows)), (2 * ROWS, ROWS * (ROWS - 1)), "rows of the query, " + statement)
        wait_until("the files are gone", 10, lambda: segments(r) == [])


def test_another_database_in_a_transaction(r):
    """Its segments stay as long as the transaction sees them; its writers need not wait."""
    prepare(r)
    for body, second in (("", ROWS - 9), ("; INSERT INTO dbo.own VALUES (1)", ROWS)):
        r.sql("IF DB_ID(N'reader') IS NOT NULL DROP DATABASE reader; CREATE DATABASE reader", "")
        r.sql("CREATE TABLE dbo.own (id int)", "reader")
        with r.connect("reader") as db:
            cur = db.cursor()
            cur.execute("BEGIN TRANSACTION" + body)
            for rows in (ROWS, second):
                cur.execute("SELECT COUNT(*) FROM t.dbo.t")
                equal(cur.fetchall(), [(rows,)], "rows of the other database" + body)
                r.sql("DELETE FROM dbo.t WHERE id < 10; INSERT INTO dbo.t (id) VALUES (-1)")
            cur.execute("COMMIT")
        wait_until("the files are gone", 10, lambda: segments(r) == [])
        prepare(r)


def test_after_a_kill(r):
    """Committed rows are there, files of nobody go at the next start."""
    prepare(r)
    kept = segments(r)
    r.kill_server()
    r.server.stdout.close()
    tag = kept[0].split("-")[0]
    foreign = ["0123456789abcdef-0123456789abcdef", "nonsense"]      # of a database that may come back, or not ours
    for name in [tag + "-0123456789abcdef", "0" * 16 + "-0123456789abcdef"] + foreign:      # the second was one of tempdb
        open(os.path.join(r.data, "segments", name), "wb").close()
    r.start()
    equal(segments(r), sorted(kept + foreign), "segments after the start")
    for name in foreign:
        os.unlink(os.path.join(r.data, "segments", name))
    same_figures(r, 1, "figures after the start")


def test_a_database_that_was_away(r):
    """Moved out of the folder and back: its segments wait for it."""
    own = Rack("--schedulers", "2")
    try:
        prepare(own)
        kept = segments(own)
        for away in (True, False):
            own.server.terminate()
            own.server.wait(20)
            own.server.stdout.close()
            for name in os.listdir(own.dir if not away else own.data):
                if name.startswith("t.db"):
                    os.rename(os.path.join(own.data if away else own.dir, name), os.path.join(own.dir if away else own.data, name))
            own.start()
            equal(segments(own), kept, "segments, database away: %s" % away)
        same_figures(own, 1, "figures")
    finally:
        own.close()
        own.remove()


class TracedRack(Rack):
    """-D: the server is our child, strace its."""
    trace = tempfile.mktemp(prefix="fullrack-trace-")
    environment = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}      # it cannot look for them there
    prefix = ["strace", "-D", "-f", "-e", "trace=fdatasync,fsync,unlink", "-y", "-o", trace]


def test_what_power_loss_may_leave(r):
    """No file goes before the commit that no longer names it is on the disk."""
    own = TracedRack("--schedulers", "2")
    try:
        for statement in ("DELETE FROM dbo.t WHERE id = 1", "TRUNCATE TABLE dbo.t"):
            prepare(own)
            with own.connect("t") as db:      # so that the log is not begun anew, which syncs it too
                cur = db.cursor()
                cur.execute("INSERT INTO dbo.t (id) VALUES (-1); SELECT COUNT(*) FROM sys.objects")
                cur.fetchall()
                skip = os.path.getsize(own.trace)
                own.sql(statement)
                wait_until("the file is gone", 10, lambda: segments(own) == [])
            with open(own.trace) as f:
                f.seek(skip)
                calls = [line for line in f if "t.db-wal" in line or "/segments/" in line]
            gone = [i for i, line in enumerate(calls) if "unlink" in line and "/segments/" in line]
            check(gone and any("sync" in line and "t.db-wal" in line for line in calls[:gone[0]]), "the log is synced before a file goes",
                  statement, calls)
    finally:
        own.close()
        own.remove()
        os.unlink(own.trace)


def test_changes_while_loads_publish(r):
    """A statement that brings segments in runs, whatever loads add to the table meanwhile."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(60) NULL)")
    path = r.file("many.txt", "".join("%d\t%s\n" % (i, "x" * 60) for i in range(60000)))
    loads = [r.spawn("load", "dbo.t", path, "-b", "15000", "--ledger", "off", "-q") for _ in range(LOADS)]
    changed = 0
    with r.connect("t") as db:
        cur = db.cursor()
        while any(p.poll() is None for p in loads):
            key = -1 - changed
            cur.execute("INSERT INTO dbo.t VALUES (%d, N'new'); UPDATE dbo.t SET v = N'changed' WHERE id = %d; SELECT @@ROWCOUNT" % (key, key))
            while not cur.description:
                cur.nextset()
            equal(cur.fetchall(), [(1,)], "rows changed by UPDATE number %d" % changed)
            changed += 1
    for p in loads:
        out, err = p.communicate()
        equal(p.returncode, 0, "exit status of a load (%s)" % err)
    check(changed > 3, "statements between the loads", changed)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t WHERE v = N'changed'"), [(changed,)], "changed rows")
    equal(r.sql("SELECT COUNT(*), SUM(CAST(id AS bigint)) FROM dbo.t WHERE id >= 0"), [(LOADS * 60000, LOADS * 60000 * 59999 // 2)], "rows of the loads")


def test_a_damaged_file_is_an_error(r):
    prepare(r)
    path = os.path.join(r.data, "segments", segments(r)[0])
    os.truncate(path, os.path.getsize(path) // 2)
    r.fullrack("query", "SELECT COUNT(*) FROM dbo.t", exit=1)
    check("server error 824" in r.err, "message", r.err)
    r.sql("DROP TABLE dbo.t")
    prepare(r)
    path = os.path.join(r.data, "segments", segments(r)[0])
    with open(path, "r+b") as f:        # the length of a row, shorter than its values
        f.write(b"\x09\0\0\0")
    r.fullrack("query", "SELECT COUNT(*) FROM dbo.t", exit=1)
    check("server error 824" in r.err, "message", r.err)
    r.sql("DROP TABLE dbo.t")


def test_tables_that_have_none(r):
    """Where rows need a key, a counter or a look at each other they are written one by one."""
    for ddl in ("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v nvarchar(60) NULL, d decimal(10,2) NULL)",
                "CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL, INDEX ix (id))",
                "CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL, n int IDENTITY(1,1))",
                "CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL, r rowversion)"):
        prepare(r, 1, ddl)
        equal(segments(r), [], "segments of " + ddl)
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(ROWS, ROWS)], "rows of " + ddl)


def test_switch(r):
    """Segments change their table as they are, in a transaction, with the rows of the table's own file."""
    prepare(r, 2)
    r.sql("INSERT INTO dbo.t (id, v) VALUES (-1, N'base')")
    r.sql("DROP TABLE IF EXISTS dbo.target; " + DDL.replace("dbo.t ", "dbo.target "))
    before = segments(r)
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("BEGIN TRANSACTION ALTER TABLE dbo.t SWITCH TO dbo.target")
        cur.execute("SELECT (SELECT COUNT(*) FROM dbo.t), (SELECT COUNT(*) FROM dbo.target)")
        equal(cur.fetchall(), [(0, 2 * ROWS + 1)], "rows within the transaction")
        equal(r.sql("SELECT (SELECT COUNT(*) FROM dbo.t), (SELECT COUNT(*) FROM dbo.target)"), [(2 * ROWS + 1, 0)], "rows as others see them")
        cur.execute("ROLLBACK")
    same = r.sql("DELETE dbo.t WHERE id = -5; SELECT COUNT(*) FROM dbo.target")
    equal(same, [(0,)], "rows of the target after the rollback")
    prepare(r, 2)
    before = segments(r)
    r.sql("ALTER TABLE dbo.t SWITCH TO dbo.target")
    equal(segments(r), before, "the files")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows of the source")
    equal(r.sql(FIGURES.replace("dbo.t", "dbo.target"))[0][:2], (2 * ROWS, ROWS * (ROWS - 1)), "figures of the target")
    r.kill_server()
    r.start()
    equal(r.sql("SELECT (SELECT COUNT(*) FROM dbo.t), (SELECT COUNT(*) FROM dbo.target)"), [(0, 2 * ROWS)], "rows after a kill")
    equal(segments(r), before, "the files after it")
    # other numbers of the columns: in the segments' description alone
    r.fresh("CREATE TABLE dbo.t (z int NULL, id int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL)")
    r.sql("ALTER TABLE dbo.t DROP COLUMN z; ALTER TABLE dbo.t ADD x AS id + 1")
    r.sql("ALTER TABLE dbo.target SWITCH TO dbo.t")
    equal(segments(r), before, "the files of columns with other numbers")
    same_figures(r, 2, "figures by other numbers")
    # a target that has none: they are brought in
    r.sql("DROP TABLE dbo.target; CREATE TABLE dbo.target (id int IDENTITY(5, 1) NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL, x AS id + 1)")
    r.sql("ALTER TABLE dbo.t SWITCH TO dbo.target")
    equal(segments(r), [], "the files of a table with an identity column")
    equal(r.sql("SELECT COUNT(*), SUM(CAST(x AS bigint)) FROM dbo.target"), [(2 * ROWS, ROWS * (ROWS + 1))], "its rows")
    r.sql("DROP TABLE dbo.target")


def test_disabled_indexes(r):
    """A heap whose indexes are disabled takes loads as a heap without; the rebuild brings them in."""
    prepare(r, 0)
    r.sql("CREATE UNIQUE INDEX ux ON dbo.t (id); ALTER INDEX ux ON dbo.t DISABLE")
    path = source(r)
    for _ in range(2):
        r.fullrack("load", "-q", "dbo.t", path)
    equal(len(segments(r)), 2, "segments while the index is disabled")
    equal(r.sql("SELECT index_id, rows FROM sys.partitions WHERE object_id = OBJECT_ID(N'dbo.t')"), [(0, 2 * ROWS)], "partitions")
    r.fullrack("query", "ALTER INDEX ux ON dbo.t REBUILD", exit=1)
    check("server error 1505" in r.err, "message", r.err)
    equal(len(segments(r)), 2, "segments after a rebuild that failed")
    r.sql("TRUNCATE TABLE dbo.t")
    r.fullrack("load", "-q", "dbo.t", path)
    r.sql("ALTER INDEX ux ON dbo.t REBUILD")
    equal(segments(r), [], "segments after the rebuild")
    same_figures(r, 1, "figures after it")
    r.fullrack("query", "INSERT dbo.t (id) VALUES (5)", exit=1)
    check("server error 2601" in r.err, "message", r.err)


def test_trust(r):
    """A load that leaves constraints unchecked takes their trust; who checks them all gives it back, or finds what is wrong."""
    trust = "SELECT is_disabled, is_not_trusted FROM sys.check_constraints WHERE name = N'ck_id'"
    prepare(r, 0, DDL[:-1] + ", CONSTRAINT ck_id CHECK (id < %d))" % (ROWS + 5))
    path = source(r)
    r.fullrack("load", "-q", "dbo.t", path)
    equal(r.sql(trust), [(False, False)], "trust after a load that checks")
    r.fullrack("load", "-q", "dbo.t", path, "--no-check")
    equal(r.sql(trust), [(False, True)], "trust after one that does not")
    r.sql("ALTER TABLE dbo.t NOCHECK CONSTRAINT ALL")
    equal(r.sql(trust), [(True, True)], "trust when it is disabled")
    r.sql("ALTER TABLE dbo.t CHECK CONSTRAINT ck_id")
    equal(r.sql(trust), [(False, True)], "trust when it is enabled unseen")
    r.sql("ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT ck_id")
    equal(r.sql(trust), [(False, False)], "trust when its rows were looked at")
    r.fullrack("load", "-q", "dbo.t", r.file("bad.txt", "%d\tx\t1\n" % (ROWS + 5)), "--no-check")
    r.fullrack("query", "ALTER TABLE dbo.t WITH CHECK CHECK CONSTRAINT ALL", exit=1)
    check("server error 547" in r.err, "message", r.err)
    equal(r.sql(trust), [(False, True)], "trust after a look that found a row")


def test_older_files(r):
    """A data directory of the first format is brought up to now at the start."""
    prepare(r, 1, DDL[:-1] + ", INDEX ix (id))")
    r.close()
    for name in ("t", "master"):
        with sqlite3.connect(os.path.join(r.data, name + ".db")) as db:
            for column in ("disabled", "compression", "stats_date"):
                db.execute("ALTER TABLE fr_index DROP COLUMN " + column)
            for table in ("fr_heap", "fr_principal", "fr_member", "fr_permission", "fr_login", "fr_server_member",
                          "fr_space", "fr_destination", "fr_file", "fr_partition_function", "fr_partition_value", "fr_table_space",
                          "fr_segment_partition"):
                db.execute("DROP TABLE " + table)
            db.execute("UPDATE fr_meta SET v = 1 WHERE k = 'format'")
        db.close()
    r.start()
    same_figures(r, 1, "figures of an older file")
    equal(r.sql("SELECT name, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.t') AND index_id > 0"), [("ix", False)], "its index")
    r.sql("ALTER INDEX ix ON dbo.t DISABLE")
    r.close()
    with sqlite3.connect(os.path.join(r.data, "t.db")) as db:
        db.execute("UPDATE fr_meta SET v = 99 WHERE k = 'format'")
    db.close()
    failed = subprocess.run([os.path.join(BUILD, "fullrackd"), "--listen", "127.0.0.1:0", "--data", r.data, "--user", "sa"], capture_output=True,
                            text=True, env=dict(os.environ, FULLRACKD_PASSWORD=PASSWORD), timeout=20)
    check(failed.returncode != 0 and "format 99" in failed.stderr, "a file of a newer format", failed)
    with sqlite3.connect(os.path.join(r.data, "t.db")) as db:
        db.execute("ATTACH ? AS m", (os.path.join(r.data, "master.db"),))
        db.execute("UPDATE fr_meta SET v = (SELECT v FROM m.fr_meta WHERE k = 'format') WHERE k = 'format'")
    db.close()
    r.start()
    equal(r.sql("SELECT is_disabled FROM sys.indexes WHERE name = N'ix'"), [(True,)], "the index, as it was left")


def test_what_a_column_makes_of_a_value(r):
    """Rows that are written as they come are as padded, completed and refused as others: also those whose values are looked at."""
    columns = "c char(5) NULL, n nchar(5) NULL, b binary(3) NULL, k int NOT NULL, v varchar(20) NULL"
    table = columns + ", h AS k + 1, d varchar(9) NULL DEFAULT 'dflt', e datetime2(3) NULL"
    seen = "SELECT c, DATALENGTH(c), n, DATALENGTH(n), CONVERT(varchar(20), b, 1), k, v, h, d, e FROM dbo.t"
    text = "ab\tcd\t01\t1\tx\n" "abcde\tcdefg\t010203\t2\t\n" "\u00e9\t\u017e\t0A\t3\t\u00e9\n" "\t\t\t4\tplain\n"
    want = [("ab   ", 5, "cd   ", 10, "0x010000", 1, "x", 2), ("abcde", 5, "cdefg", 10, "0x010203", 2, None, 3),
            ("\u00e9    ", 5, "\u017e    ", 10, "0x0A0000", 3, "\u00e9", 4), (None, None, None, None, None, 4, "plain", 5)]
    for more, default in (("", "dflt"), (", d varchar(9) NULL", None)):
        for options in ((), ("-k",)):
            r.fresh("CREATE TABLE dbo.t (%s)" % table)
            names = "c,n,b,k,v" + (",d" if more else "")
            path = r.file("mixed.txt", text if not more else text.replace("\n", "\t\n"))
            r.fullrack("load", "-q", "dbo.t", path, "--columns", names, *options)
            kept = None if more and options else "dflt"
            equal(r.sql(seen), [row + (kept, None) for row in want], "rows with %s %s" % (names, options))
    r.fresh("CREATE TABLE dbo.t (%s)" % table)
    with r.connect("t") as db:
        for bad, number in (((b"\0",), 515), ((b"\4" + struct.pack("<i", 1),), None)):
            raw = Tds(r.port, password=PASSWORD, database="t")
            raw.query("INSERT BULK dbo.t (k int)")
            raw.send(7, bytes.fromhex("81 0100 00000000 0900 26 04 00") + b"".join(b"\xd1" + v for v in bad))
            answer = raw.answer()
            raw.close()
            equal(answer[0][1] if answer[0][0] == "error" else None, number, "a row of %r" % (bad,))
        cur = db.cursor()
        cur.execute("SELECT k, h, d FROM dbo.t")
        equal(cur.fetchall(), [(1, 2, "dflt")], "what a stream of one column leaves")


def test_loads_at_once(r):
    """All of them end side by side; every row once, whoever reads meanwhile."""
    r.fresh(DDL)
    files = [source(r, "rows%d.txt" % i) for i in range(6)]
    seen, stop = [], threading.Event()

    def read():
        with r.connect("t") as db:
            cur = db.cursor()
            while not stop.is_set():
                cur.execute("SELECT (SELECT COALESCE(SUM(rows_loaded), 0) FROM dbo.fullrack_ledger), COUNT(*) FROM dbo.t")
                seen.append(cur.fetchall()[0])
    r.json("load", "dbo.t", r.file("one.txt", "1\ta\t1\n"))      # makes the ledger
    r.sql("DELETE FROM dbo.fullrack_ledger; DELETE FROM dbo.t")
    reader = threading.Thread(target=read)
    reader.start()
    try:
        d = r.json("load", "dbo.t", *files, "--workers", "3", "-b", "15000")
    finally:
        stop.set()
        reader.join()
    equal(d["rows"], 6 * ROWS, "rows")
    check(seen, "the reader has seen something")
    ledger = dict((n, m) for n, m in seen if n != m)
    equal(ledger, {}, "ledger and table agree in every statement")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(6 * ROWS,)], "rows")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
