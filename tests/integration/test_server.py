#!/usr/bin/python3
"""fullrackd as other people's programs see it: tsql, bsqldb, freebcp, pymssql, and a client of our own."""
import datetime, decimal, os, signal, subprocess, sys, threading, time, uuid
from rack import *
import rack
from tds import Tds

D = decimal.Decimal


def run_client(args, input=None, exit=0, timeout=60):
    p = subprocess.run(args, input=input, capture_output=True, timeout=timeout)
    out = p.stdout.decode("utf-8", "replace") + p.stderr.decode("utf-8", "replace")
    check(p.returncode == exit, "%s: exit %d, expected %d" % (args[0], p.returncode, exit), out)
    return out


def client_args(r, program):
    """bsqldb and freebcp take HOST:PORT as a server's name."""
    return [program, "-S", r.address, "-U", "sa", "-P", rack.PASSWORD]


def error_number(function, *args):
    try:
        function(*args)
    except pymssql.Error as e:
        a = e.args[0]
        return a if isinstance(a, int) else a[0]
    return 0


def raw(r, **more):
    return Tds(r.port, password=rack.PASSWORD, **more)


# -- programs

def test_tsql(r):
    out = run_client(["tsql", "-H", "127.0.0.1", "-p", str(r.port), "-U", "sa", "-P", rack.PASSWORD],
                     input=b"select 6*7 as answer\ngo\nselect * from nosuch\ngo\nexit\n")
    check("answer" in out and "42" in out, "result", out)
    check("Msg 208" in out and "Invalid object name 'nosuch'" in out, "error", out)


def test_bsqldb(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL)")
    out = run_client(client_args(r, "bsqldb") + ["-D", "t", "-q"],
                     input=b"insert t values (1,'x'),(2,null)\ngo\nselect id, v from t order by id\ngo\n")
    check("x" in out and "NULL" in out, "rows", out)


def test_freebcp_in_and_out(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, d decimal(15,2) NULL, w date NULL, v varchar(20) NULL, n nvarchar(20) NULL, f float NULL)")
    lines = "1|-12.50|2024-02-29|abc|x\u00e9\u0416|1.5\n2|||||\n3|9999999999999.99|1992-01-02|y||-0.25\n"
    path = r.file("in.txt", lines)
    out = run_client(client_args(r, "freebcp")[:1] + ["t.dbo.t", "in", path, "-c", "-t", "|", "-C", "UTF-8"] + client_args(r, "freebcp")[1:])
    check("3 rows copied" in out, "bcp in", out)
    equal(r.sql("SELECT id, d, v, n, f FROM dbo.t ORDER BY id"),
          [(1, D("-12.50"), "abc", "x\u00e9\u0416", 1.5), (2, None, None, None, None),
           (3, D("9999999999999.99"), "y", None, -0.25)], "rows")
    equal([str(x[0]) for x in r.sql("SELECT w FROM dbo.t WHERE w IS NOT NULL ORDER BY id")], ["2024-02-29", "1992-01-02"], "dates")
    back = os.path.join(r.dir, "out.txt")
    run_client(client_args(r, "freebcp")[:1] + ["t.dbo.t", "out", back, "-c", "-t", "|", "-C", "UTF-8"] + client_args(r, "freebcp")[1:])
    with open(back, encoding="utf-8") as f:
        got = sorted(f.read().split("\n"))
    check(any(l.startswith("1|-12.50|") and "|abc|x\u00e9\u0416|1.5" in l for l in got), "bcp out", got)
    # in pieces, each a transaction of its own
    r.sql("DELETE FROM dbo.t")
    path = r.file("many.txt", "".join("%d|1.00|2024-01-01|v|n|1\n" % i for i in range(2500)))
    out = run_client(client_args(r, "freebcp")[:1] + ["t.dbo.t", "in", path, "-c", "-t", "|", "-b", "1000"] + client_args(r, "freebcp")[1:])
    check("2500 rows copied" in out, "bcp in batches", out)
    equal(r.sql("SELECT COUNT(*), SUM(d) FROM dbo.t"), [(2500, D("2500.00"))], "count")


def test_freebcp_native(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, b bigint NULL, f float NULL, v varchar(20) NULL, m money NULL, dt datetime NULL)")
    # without NULLs: freebcp 1.3.17 cannot read those that it writes
    r.sql("INSERT dbo.t VALUES (1, -5, 0.5, 'abc', 12.3456, '2024-02-29 13:14:15.997'), (2, 6, 1, 'd', -1, '1753-01-01')")
    want = r.sql("SELECT * FROM dbo.t ORDER BY id")
    path = os.path.join(r.dir, "native.bcp")
    auth = client_args(r, "freebcp")[1:]
    run_client(["freebcp", "t.dbo.t", "out", path, "-n"] + auth)
    r.sql("DELETE FROM dbo.t")
    run_client(["freebcp", "t.dbo.t", "in", path, "-n"] + auth)
    equal(r.sql("SELECT * FROM dbo.t ORDER BY id"), want, "rows")


# -- queries through pymssql

def test_counters_of_a_session_grow(r):
    """What sys.dm_exec_sessions says of a session's reads is of its whole life."""
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL, b varchar(100) NOT NULL)")
    r.sql("INSERT INTO dbo.t VALUES " + ", ".join("(%d, '%s')" % (i, "x" * 90) for i in range(900)))
    seen = [0]
    with r.connect("t") as db:
        cur = db.cursor()
        for _ in range(3):
            cur.execute("SELECT COUNT(*) FROM dbo.t WHERE b LIKE '%y'")
            cur.fetchall()
            cur.execute("SELECT logical_reads FROM sys.dm_exec_sessions WHERE session_id = @@SPID")
            seen.append(cur.fetchall()[0][0])
    check(all(b - a >= 10 for a, b in zip(seen, seen[1:])), "the pages of the table, each time", seen)


def test_queries(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, g varchar(5) NOT NULL, d decimal(12,3) NULL)")
    r.sql("DROP TABLE IF EXISTS dbo.names")
    r.sql("CREATE TABLE dbo.names (g varchar(5) NOT NULL, name nvarchar(20) NOT NULL)")
    r.sql("INSERT dbo.t (id, g, d) VALUES (1,'a',1.005), (2,'b',2.010), (3,'A',-0.001), (4,'b',NULL)")
    r.sql("INSERT dbo.names VALUES ('a', N'eins'), ('b', N'zw\u00f6lf')")
    equal(r.sql("SELECT g, SUM(d), COUNT(*) FROM dbo.t GROUP BY g ORDER BY 2"),
          [("a", D("1.004"), 2), ("b", D("2.010"), 2)], "groups (case does not count)")
    equal(r.sql("SELECT t.id, n.name FROM dbo.t AS t JOIN dbo.names AS n ON n.g = t.g WHERE t.d > 0 ORDER BY t.id DESC"),
          [(2, "zw\u00f6lf"), (1, "eins")], "join")
    equal(r.sql("SELECT TOP (2) id FROM dbo.t WHERE g = 'B' ORDER BY id"), [(2,), (4,)], "top")
    equal(r.sql("SELECT id FROM dbo.t WHERE id = %d AND g = %s", args=(1, "a")), [(1,)], "parameters")
    equal(r.sql("SELECT CAST(1 AS decimal(10,2)) / 3, 7 / 2, 2.0 / 3"), [(D("0.333333"), 3, D("0.666666"))], "division")
    equal(error_number(r.sql, "SELECT 1 / 0"), 8134, "division by zero")
    equal(error_number(r.sql, "INSERT dbo.t VALUES (1, 'x', 1)"), 2627, "primary key")
    equal(error_number(r.sql, "INSERT dbo.t VALUES (NULL, 'x', 1)"), 515, "NOT NULL")
    equal(error_number(r.sql, "SELECT * FROM dbo.nosuch"), 208, "unknown table")
    equal(error_number(r.sql, "SELECT nosuch FROM dbo.t"), 207, "unknown column")
    equal(error_number(r.sql, "SELECT FROM WHERE"), 156, "syntax")


EVERY = [
    ("bit", True, True), ("tinyint", 255, 255), ("smallint", -32768, -32768), ("int", -2147483648, -2147483648),
    ("bigint", 9223372036854775807, 9223372036854775807), ("real", 0.25, 0.25), ("float", -1.5e300, -1.5e300),
    ("smallmoney", "-214748.3648", D("-214748.3648")), ("money", "922337203685477.5807", D("922337203685477.5807")),
    ("decimal(38,10)", "-9999999999999999999999999999.9999999999", D("-9999999999999999999999999999.9999999999")),
    ("numeric(5,0)", "12345", D("12345")),
    ("date", "2024-02-29", datetime.date(2024, 2, 29)),
    ("datetime", "2024-02-29 13:14:15.997", datetime.datetime(2024, 2, 29, 13, 14, 15, 997000)),
    ("smalldatetime", "2024-02-29 13:14", datetime.datetime(2024, 2, 29, 13, 14)),
    ("char(5)", "ab", "ab   "), ("varchar(5)", "", ""), ("varchar(8)", "a\u20ac", "a\u20ac"), ("text", "long text", "long text"),
    ("nchar(3)", "\u0416", "\u0416  "), ("nvarchar(5)", "\U0001F600", "\U0001F600"), ("ntext", "\u0416\u0416", "\u0416\u0416"),
    ("varchar(max)", "x" * 20000, "x" * 20000), ("nvarchar(max)", "\u0416" * 9000, "\u0416" * 9000),
    ("uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF", uuid.UUID("6F9619FF-8B86-D011-B42D-00C04FC964FF")),
]


def test_every_type_comes_back(r):
    for name, given, want in EVERY:
        r.fresh("CREATE TABLE dbo.t (k int NOT NULL, v %s NULL)" % name)
        r.sql("INSERT dbo.t VALUES (1, %s), (2, NULL)", args=(given,))
        equal(r.sql("SELECT v FROM dbo.t ORDER BY k"), [(want,), (None,)], name)
    for name, given in (("binary(4)", "0x0102"), ("varbinary(4)", "0x"), ("varbinary(max)", "0x" + "AB" * 9000), ("image", "0x00FF")):
        r.fresh("CREATE TABLE dbo.t (v %s NULL)" % name)
        r.sql("INSERT dbo.t VALUES (%s)" % given)
        want = bytes.fromhex(given[2:])
        equal(r.sql("SELECT v FROM dbo.t"), [(want.ljust(4, b"\0") if name == "binary(4)" else want,)], name)
    for name, given in (("time(7)", "23:59:59.9999999"), ("datetime2(7)", "0001-01-01 00:00:00.0000001"),
                        ("datetimeoffset(7)", "2024-02-29 13:14:15.1234567 -14:00")):
        r.fresh("CREATE TABLE dbo.t (v %s NULL)" % name)
        r.sql("INSERT dbo.t VALUES (%s)", args=(given,))
        equal(r.sql("SELECT CONVERT(varchar(40), v, 121) FROM dbo.t"), [(given,)], name)


def test_fmtonly(r):
    r.fresh("CREATE TABLE dbo.t (id int IDENTITY NOT NULL, v varchar(10) NULL)")
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("SET FMTONLY ON SELECT * FROM dbo.t SET FMTONLY OFF")
        equal([c[0] for c in cur.description], ["id", "v"], "columns")
        equal(cur.fetchall(), [], "rows")
        cur.execute("SELECT 1")
        equal(cur.fetchall(), [(1,)], "after it")


def test_procedure_with_output(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.sql("DROP PROCEDURE IF EXISTS dbo.p_add")
    r.sql("CREATE PROCEDURE dbo.p_add @a int, @b varchar(10), @sum int OUTPUT, @n bigint = 5 OUTPUT AS "
          "BEGIN SET NOCOUNT ON; SET @sum = @a + @b; SET @n = ISNULL(@n, 21) * 2; RETURN 7; END")
    with r.connect("t") as db:
        cur = db.cursor()
        out = cur.callproc("dbo.p_add", (2, "40", pymssql.output(int), pymssql.output(int)))
        equal((out[2], out[3]), (42, 42), "outputs")
        equal(error_number(cur.callproc, "dbo.p_nosuch", (1,)), 2812, "unknown procedure")


def test_transactions(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    db = r.connect("t")
    db.autocommit(False)
    cur = db.cursor()
    cur.execute("INSERT dbo.t VALUES (1)")
    db.rollback()
    cur.execute("INSERT dbo.t VALUES (2)")
    db.commit()
    cur.execute("INSERT dbo.t VALUES (3)")
    db.close()   # without COMMIT
    equal(r.sql("SELECT id FROM dbo.t"), [(2,)], "rows")


# -- logins

def test_logins(r):
    for arguments, number in ((dict(password="wrong"), 18456), (dict(user="nobody", password=rack.PASSWORD), 18456),
                              (dict(password=rack.PASSWORD, database="nowhere"), 4060),
                              (dict(password=rack.PASSWORD, version=0x71000001), 17836)):
        t = Tds(r.port, **arguments)
        check(("error", number) in [x[:2] for x in t.login_tokens], "login %r" % (arguments,), t.login_tokens)
        try:
            t.query("SELECT 1")
            raise Failed("the connection stays open after a refused login")
        except (EOFError, OSError):
            pass
    for version, ack in ((0x72090002, "72090002"), (0x730B0003, "730b0003"), (0x74000004, "74000004")):
        t = raw(r, version=version)
        check(("loginack", ack) in t.login_tokens, "version %x" % version, t.login_tokens)
        t.close()


def test_too_many_sessions(r):
    small = Rack("--max-sessions", "2")
    try:
        a, b = raw(small), raw(small)
        c = raw(small)
        check(("error", 17809) in [x[:2] for x in c.login_tokens], "the third session", c.login_tokens)
        a.close()
        wait_until("a place is free", 5, lambda: ("loginack", "74000004") in raw(small).login_tokens)
        equal(b.query("SELECT 1")[-1][1] & 2, 0, "the second session")
    finally:
        small.close()


def test_encryption(r):
    """What the client says, what the server answers, whether the rest is encrypted."""
    for options, cases in (
            (["--tls-self-signed"], ((0, 0, "FALSE"), (1, 1, "TRUE"), (2, 2, "FALSE"), (3, 1, "TRUE"))),
            (["--tls-self-signed", "--require-tls"], ((0, 3, "TRUE"), (1, 1, "TRUE"), (3, 1, "TRUE")))):
        own = Rack(*options)
        try:
            for asked, answered, option in cases:
                t = raw(own, encrypt=asked)
                equal(t.encryption, answered, "answer to %d with %r" % (asked, options))
                check(("loginack", "74000004") in t.login_tokens, "login with %d" % asked, t.login_tokens)
                # enough for several TLS records and packets
                equal([x[0] for x in t.query("SELECT REPLICATE(CAST('x' AS varchar(max)), 100000)")], ["data", "done"], "query")
                if option == "TRUE":
                    t.batch("IF (SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID) = 'TRUE' "
                            "RAISERROR('yes', 16, 1)")
                    check(("error", 50000, "yes") in t.answer(), "encrypt_option")
                t.batch("WAITFOR DELAY '00:00:30'")
                time.sleep(0.2)
                t.attention()
                equal((t.answer(), t.answer()), ([("done", 2, 0)], [("done", 0x20, 0)]), "attention with %d" % asked)
                t.close()
            if "--require-tls" in options:
                try:
                    t = raw(own, encrypt=2)
                    raise Failed("a client without encryption was let in: %r" % (t.login_tokens,))
                except (EOFError, OSError):
                    pass
            with open(os.path.join(own.dir, "freetds.conf"), "w") as f:
                f.write("[srv]\nhost = 127.0.0.1\nport = %d\ntds version = 7.4\nencryption = require\n" % own.port)
            p = subprocess.run(["tsql", "-S", "srv", "-U", "sa", "-P", rack.PASSWORD], input=b"select 6*7\ngo\nexit\n",
                               capture_output=True, timeout=30, env=dict(os.environ, FREETDSCONF=f.name))
            check(b"42" in p.stdout, "tsql with encryption", p.stdout, p.stderr)
        finally:
            own.close()


def test_certificate_of_ones_own(r):
    cert, key = os.path.join(r.dir, "cert.pem"), os.path.join(r.dir, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=localhost"], check=True, capture_output=True, timeout=60)
    own = Rack("--tls-cert", cert, "--tls-key", key)
    try:
        t = raw(own, encrypt=1)
        check(("loginack", "74000004") in t.login_tokens, "login", t.login_tokens)
        t.close()
    finally:
        own.close()


# -- attention, broken input, the end

LONG = ("WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT SUM(CAST(i AS bigint)) FROM n "
        "OPTION (MAXRECURSION 0)")
LONG_LOOP = "DECLARE @i int = 0 WHILE @i >= 0 SET @i = (@i + 1) % 1000"


def test_attention(r):
    for sql in (LONG_LOOP, "WAITFOR DELAY '00:00:50'"):
        t = raw(r)
        t.batch(sql)
        time.sleep(0.3)
        begin = time.monotonic()
        t.attention()
        equal(t.answer(), [("done", 2, 0)], "the end of the cancelled batch")
        got = t.answer()
        equal(got, [("done", 0x20, 0)], "the answer to an attention")
        check(time.monotonic() - begin < 5, "an attention took too long")
        equal([x[0] for x in t.query("SELECT 1")], ["data", "done"], "the session goes on")
        t.close()
    # one that comes when nothing runs any more
    t = raw(r)
    t.attention()
    equal(t.answer(), [("done", 0x20, 0)], "attention at rest")
    t.close()


def test_attention_ends_a_lock_wait(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    holder, waiter = raw(r, database="t"), raw(r, database="t")
    holder.query("BEGIN TRAN INSERT t VALUES (1)")
    waiter.batch("INSERT t VALUES (2)")
    time.sleep(0.3)
    waiter.attention()
    equal((waiter.answer(), waiter.answer()), ([("done", 2, 0)], [("done", 0x20, 0)]), "attention while waiting")
    holder.query("ROLLBACK")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_broken_input_ends_one_session(r):
    good = raw(r)
    for kind, payload in ((1, b"\xff" * 20), (3, b"\x04\0\0\0\0\0"), (9, b""), (7, b"\x81\xff\xff"), (0x0E, b"\x16")):
        t = raw(r)
        t.send(kind, payload)
        try:
            got = t.answer()
            check(got and got[0][0] == "error", "message of type %d" % kind, got)
        except (EOFError, OSError):
            pass
        t.close()
    for bytes_ in (b"GET / HTTP/1.0\r\n\r\n", b"\x12\x01\x00\x08\0\0\0\0", b"\x12\x01\x00\x02"):
        t = Tds(r.port, login=False)
        t.s.sendall(bytes_)
        try:
            check(t.s.recv(100) == b"", "garbage was answered")
        except OSError:
            pass
        t.close()
    equal([x[0] for x in good.query("SELECT 1")], ["data", "done"], "the session beside them")


def test_kill_and_sessions(r):
    t = raw(r)
    victim = r.sql("SELECT session_id FROM sys.dm_exec_sessions WHERE program_name = 'tds.py'", "")
    equal(len(victim), 1, "sessions of tds.py")
    t.batch(LONG_LOOP)
    wait_until("the request is seen", 5, lambda: r.sql(
        "SELECT cpu_time FROM sys.dm_exec_requests WHERE session_id = %d AND status = 'running' AND cpu_time > 20" % victim[0][0], ""))
    r.sql("KILL %d" % victim[0][0], "")
    try:
        t.answer()
        raise Failed("the killed session answered")
    except (EOFError, OSError):
        pass
    wait_until("it is gone", 30, lambda: r.sql(
        "SELECT session_id FROM sys.dm_exec_sessions WHERE program_name = 'tds.py'", "") == [])  # the number may be another's now


def test_schedulers(r):
    own = Rack("--schedulers", "4")
    try:
        equal(own.sql("SELECT scheduler_id FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE' ORDER BY 1", ""),
              [(i,) for i in range(4)], "schedulers")
        ts = [raw(own) for _ in range(4)]
        for t in ts:
            t.batch(LONG_LOOP)
        time.sleep(0.3)
        rows = own.sql("SELECT scheduler_id FROM sys.dm_exec_requests WHERE session_id <> @@SPID", "")
        equal(sorted(x[0] for x in rows), [0, 1, 2, 3], "four requests on four schedulers")
        for t in ts:
            t.close()
    finally:
        own.close()


FILE_FIGURES = ("SELECT num_of_reads, num_of_bytes_read, num_of_writes, num_of_bytes_written, io_stall, size_on_disk_bytes "
                "FROM sys.dm_io_virtual_file_stats(DB_ID(), %d)")


def test_figures_of_files(r):
    """Reads and writes of each database file, those of bulk loads included; waits for the disk."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(60) NULL)")
    before = r.sql(FILE_FIGURES % 1)[0]
    log = r.sql(FILE_FIGURES % 2)[0]
    size = 100000 * 60
    r.json("load", "dbo.t", r.file("many.txt", "".join("%d\t%s\n" % (i, "x" * 60) for i in range(100000))))
    after = r.sql(FILE_FIGURES % 1)[0]
    check(after[3] - before[3] > size and after[2] > before[2], "bytes written by a load", before, after)
    check(r.sql(FILE_FIGURES % 2)[0][3] > log[3], "bytes written to the log")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t WHERE v LIKE 'x%'"), [(100000,)], "rows")
    check(r.sql(FILE_FIGURES % 1)[0][1] - after[1] > size, "bytes read by a query")
    equal(sorted(r.sql("SELECT file_id FROM sys.dm_io_virtual_file_stats(DB_ID('t'), NULL)", "")), [(1,), (2,)], "files of one database")
    check(len(r.sql("SELECT * FROM sys.dm_io_virtual_file_stats(NULL, NULL)", "")) >= 6, "files of all databases")
    waits = dict((w[0], w[1]) for w in r.sql("SELECT wait_type, waiting_tasks_count FROM sys.dm_os_wait_stats"))
    check(waits["WRITELOG"] > 0 and waits["PAGEIOLATCH_SH"] > 0, "waits for the disk", waits)
    check(len(r.sql("SELECT latch_class, waiting_requests_count, wait_time_ms FROM sys.dm_os_latch_stats")) >= 4, "latches")
    for text, number in (("sys.dm_io_virtual_file_stats", "216"), ("sys.dm_io_virtual_file_stats(1)", "313"), ("sys.objects(1)", "8144")):
        r.fullrack("query", "SELECT * FROM " + text, exit=1)
        check("server error %s)" % number in r.err, "message of " + text, r.err)


LOG_USE = "SELECT database_id, total_log_size_in_bytes, used_log_space_in_bytes, used_log_space_in_percent FROM sys.dm_db_log_space_usage"
MUCH = ("DECLARE @i int = 0 WHILE @i < 12 BEGIN INSERT dbo.t (id, v) SELECT 20000 * @i + ROW_NUMBER() OVER (ORDER BY (SELECT 1)), "
        "REPLICATE('y', 200) FROM dbo.seed SET @i += 1 END")


def test_log_use(r):
    """The log is full of what is not in the file yet: of a transaction from its first page on, and not any more once it is rolled back."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
    r.sql("CREATE TABLE dbo.seed (id int NOT NULL)")
    r.fullrack("load", "-q", "dbo.seed", r.file("seed.txt", "".join("%d\n" % i for i in range(20000))))
    r.sql("DELETE dbo.seed WHERE id < 0")           # into the file itself
    own = r.sql("SELECT DB_ID()")[0][0]
    check(r.sql(LOG_USE)[0][:2] == (own, 64 << 20) and r.sql(LOG_USE)[0][2] < 1 << 20, "log use at rest", r.sql(LOG_USE))
    with r.connect("t") as db:
        cur = db.cursor()
        for end, rows in (("ROLLBACK", 0), ("COMMIT", 240000)):
            cur.execute("BEGIN TRANSACTION " + MUCH)
            used = r.sql(LOG_USE)[0]
            check(used[2] > 20 << 20 and abs(used[3] - 100.0 * used[2] / used[1]) < 0.1, "log use of a transaction of 50 MB", used)
            cur.execute(end)
            used = r.sql(LOG_USE)[0]
            check(used[2] < 1 << 20, "log use after its " + end, used)
            equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(rows,)], "rows after " + end)
    reader = raw(r, database="t")                   # who reads what was keeps the log from being let go
    reader.batch("SELECT id, v FROM dbo.t")
    reader.read(8)
    r.sql("UPDATE dbo.t SET v = 'z'")
    check(r.sql(LOG_USE)[0][2] > 1 << 20, "log use behind a reader", r.sql(LOG_USE))
    reader.close()
    wait_until("the log is let go", 10, lambda: r.sql(LOG_USE)[0][2] < 1 << 20)
    check(r.sql("SELECT database_id FROM tempdb.sys.dm_db_log_space_usage") == [(2,)], "another database's")


SPACE = ("SELECT total_page_count, allocated_extent_page_count, unallocated_extent_page_count, user_object_reserved_page_count, "
         "internal_object_reserved_page_count FROM %ssys.dm_db_file_space_usage")


def test_file_use(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
    before = r.sql(SPACE % "")[0]
    equal(before[0], before[1] + before[2], "pages, used and free")
    with r.connect("t") as db:
        cur = db.cursor()
        temp = r.sql(SPACE % "tempdb.")[0]
        cur.execute("CREATE TABLE #t (id int NOT NULL, v varchar(200) NULL); DECLARE @i int = 0 WHILE @i < 100000 BEGIN INSERT #t VALUES (@i, "
                    "REPLICATE('y', 200)) SET @i += 1 END")
        used = r.sql(SPACE % "tempdb.")[0]
        check(used[3] - temp[3] > 100000 * 200 // 8192 // 2, "pages of a temporary table", temp, used)
        equal(used[0], used[1] + used[2], "pages of tempdb, used and free")
        # a load that waits for its COMMIT lies in the spool
        cur.execute("BEGIN TRANSACTION")
    wait_until("they are given back", 10, lambda: r.sql(SPACE % "tempdb.")[0][3] <= temp[3])
    raw_load = raw(r, database="t")
    raw_load.query("BEGIN TRANSACTION")
    raw_load.query("INSERT BULK dbo.t (id int, v varchar(200))")
    row = b"\xd1\4\1\0\0\0\xc8\0" + b"s" * 200
    meta = bytes.fromhex("81 0200 00000000 0900 2604 00 00000000 0900 A7C800 0904D00034 00")
    for i in range(200):
        raw_load.send(7, (meta if i == 0 else b"") + row * 150, status=0)
    raw_load.send(7, b"")
    equal(raw_load.answer()[-1][2], 200 * 150, "rows of the load")
    spooled = r.sql(SPACE % "tempdb.")[0]
    check(spooled[4] - temp[4] > 200 * 150 * 200 // 8192 // 2, "pages of a load that waits", temp, spooled)
    raw_load.query("ROLLBACK")
    check(r.sql(SPACE % "tempdb.")[0][4] <= temp[4] + 10, "pages after it", temp)
    raw_load.close()
    volume = r.sql("SELECT database_id, file_id, total_bytes, available_bytes FROM sys.dm_os_volume_stats(DB_ID(), 1)")
    check(len(volume) == 1 and 0 < volume[0][3] <= volume[0][2], "the volume", volume)
    equal(r.sql("SELECT log_send_queue_size FROM sys.dm_hadr_database_replica_states"), [], "replicas")


def test_who_blocks_whom(r):
    """A session that waits for another's transaction says so, and names it, also behind a third."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    waiting = "SELECT blocking_session_id, wait_type, status FROM sys.dm_exec_requests WHERE session_id = %d"
    sessions = [raw(r, database="t") for _ in range(3)]
    spids = [int(next(a[2] for a in t.query("DECLARE @s varchar(10) = @@SPID PRINT @s") if a[0] == "info")) for t in sessions]
    sessions[0].query("BEGIN TRANSACTION INSERT dbo.t VALUES (1)")
    for t, spid in zip(sessions[1:], spids[1:]):
        t.batch("UPDATE dbo.t SET id = 2")
        wait_until("it waits", 10, lambda: r.sql(waiting % spid) == [(spids[0], "LCK_M_X", "suspended")])
    tasks = r.sql("SELECT session_id, blocking_session_id, wait_type FROM sys.dm_os_waiting_tasks WHERE blocking_session_id IS NOT NULL")
    equal(sorted(tasks), sorted((s, spids[0], "LCK_M_X") for s in spids[1:]), "waiting tasks")
    sessions[0].query("COMMIT")
    for t in sessions[1:]:
        equal(t.answer()[-1][0], "done", "its answer")
    sessions[0].batch("WAITFOR DELAY '00:00:02'")
    wait_until("it is seen to sleep", 2, lambda: r.sql(waiting % spids[0]) == [(0, "WAITFOR", "suspended")])
    sessions[0].answer()
    for t in sessions:
        t.close()


def test_texts_of_sessions(r):
    """What a session runs, or ran last; an APPLY asks a function for each row of what stands in front."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
    last = ("SELECT t.text, t.encrypted, t.dbid FROM sys.dm_exec_connections AS c %s APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) AS t "
            "WHERE c.session_id = %d")
    with r.connect("t") as db:
        cur = db.cursor()
        cur.execute("SELECT @@SPID")
        spid = cur.fetchall()[0][0]
        cur.execute("INSERT INTO dbo.t VALUES (1, 'it''s')")
        equal(r.sql(last % ("CROSS", spid)), [("INSERT INTO dbo.t VALUES (1, 'it''s')", False, None)], "the last one")
        cur.execute("EXEC sp_executesql N'SELECT @x', N'@x int', @x = 5")
        equal(r.sql(last % ("OUTER", spid))[0][0], "SELECT @x", "the text of a text")
        long = "SELECT '%s'" % ("\u00e9" * 5000)
        cur.execute(long)
        got = r.sql(last % ("CROSS", spid))[0][0]
        check(1990 < len(got) < 2010 and long.startswith(got), "a long one is cut where a character ends", len(got))
        for secret in ("CREATE LOGIN texts WITH PASSWORD = 'Not-To-See-1'", "SELECT 'Not-To-See-1' AS passWord", "DROP LOGIN texts"):
            cur.execute(secret)
            got = r.sql(last % ("CROSS", spid))[0][0]
            check("Not-To-See" not in got, "no password", got)
        equal(got, "DROP LOGIN texts", "but others")
    own = r.sql("SELECT t.text FROM sys.dm_exec_requests AS r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) AS t WHERE r.session_id = @@SPID")
    check(own[0][0].startswith("SELECT t.text FROM"), "its own", own)
    handle = "(SELECT sql_handle FROM sys.dm_exec_requests WHERE session_id = @@SPID)"
    check("@h" in r.sql("DECLARE @h varbinary(64) = %s SELECT text FROM sys.dm_exec_sql_text(@h)" % handle)[0][0], "by a variable")
    equal(r.sql("SELECT * FROM sys.dm_exec_sql_text(NULL)"), [], "of no handle")
    equal(r.sql("SELECT * FROM sys.dm_exec_sql_text(0x02)"), [], "of an unknown one")
    rows = r.sql("SELECT s.session_id FROM (VALUES (1), (2)) AS s (session_id) OUTER APPLY sys.dm_exec_sql_text(NULL) AS t WHERE t.text IS NULL")
    equal(rows, [(1,), (2,)], "OUTER APPLY keeps what has none")
    equal(r.sql("SELECT s.n FROM (VALUES (1)) AS s (n) CROSS APPLY sys.dm_exec_sql_text(NULL) AS t"), [], "CROSS APPLY does not")
    files = r.sql("SELECT COUNT(*), COUNT(DISTINCT d.name) FROM sys.databases AS d CROSS APPLY sys.dm_io_virtual_file_stats(d.database_id, NULL) AS f")
    equal(files[0][0], 2 * files[0][1], "a file and its log of each database")
    for text, number in (("SELECT 1 FROM dbo.t CROSS APPLY (SELECT 1 AS x) AS y", 40517),
                         ("SELECT 1 FROM dbo.t AS t CROSS APPLY sys.dm_exec_sql_text(x.h) AS x", 4104),
                         ("SELECT 1 FROM dbo.t AS t CROSS APPLY sys.dm_exec_sql_text() AS x", 313)):
        try:
            r.sql(text)
            check(False, text)
        except pymssql.Error as e:
            equal(e.args[0], number, "error of " + text)


def test_load_of_a_scheduler(r):
    """A request leaves a scheduler where others use the CPU, and stays where they only wait."""
    for what, moves in (("WAITFOR DELAY '00:00:50'", False), (LONG_LOOP, True)):
        own = Rack("--schedulers", "2")
        try:
            ts = [raw(own) for _ in range(6)]           # connections are placed in turns
            here = [own_scheduler(t) for t in ts]
            one, two, own_place = [t for t, s in zip(ts, here) if s == here[0]]
            one.batch(what)
            two.batch(what)
            if moves:
                wait_until("the third request is moved", 60, lambda: own_scheduler(own_place) != here[0])
            else:
                time.sleep(0.3)
                equal(own_scheduler(own_place), here[0], "the scheduler, beside two that wait")
            for t in ts:
                t.close()
        finally:
            own.close()


def own_scheduler(t):
    answer = t.query("DECLARE @s varchar(10) SELECT @s = CAST(scheduler_id AS varchar(10)) FROM sys.dm_exec_requests"
                     " WHERE session_id = @@SPID PRINT @s")
    return next(int(x[2]) for x in answer if x[0] == "info")


def test_end_rolls_back(r):
    own = Rack()
    own.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    t, busy = raw(own, database="t"), raw(own)
    t.query("INSERT t VALUES (1) BEGIN TRAN INSERT t VALUES (2)")
    busy.batch(LONG_LOOP)
    time.sleep(0.2)
    begin = time.monotonic()
    own.server.send_signal(signal.SIGTERM)
    equal(own.server.wait(10), 0, "exit status")
    check(time.monotonic() - begin < 6, "the end took too long")
    own.server.stdout.close()
    own.start()
    equal(own.sql("SELECT id FROM dbo.t"), [(1,)], "rows after a restart")
    own.close()


def test_usage(r):
    program = os.path.join(rack.BUILD, "fullrackd")
    env = {k: v for k, v in os.environ.items() if k != "FULLRACKD_PASSWORD"}
    for args, status, words in (
            (["--nosuch"], 2, ""), (["--schedulers", "0"], 2, "--schedulers"), (["--listen", "127.0.0.1:x"], 2, "--listen"),
            ([], 2, "no password"), (["--no-password", "--listen", "0.0.0.0:0"], 2, "reached by others"),
            (["--password-file", "/nonexistent"], 2, "/nonexistent"),
            (["--no-password", "--tls-cert", "x"], 2, "--tls-key"), (["--no-password", "--require-tls"], 2, "--tls-cert"),
            (["--no-password", "--tls-cert", "/nonexistent", "--tls-key", "/nonexistent"], 2, "/nonexistent"), (["extra"], 2, "extra"), (["--help"], 0, "--listen"),
            (["--version"], 0, "fullrackd")):
        p = subprocess.run([program] + args, capture_output=True, text=True, timeout=20, env=env)
        equal(p.returncode, status, "status of %r" % (args,))
        check(words in p.stdout + p.stderr, "message of %r" % (args,), p.stdout, p.stderr)
    # the temporary data folder goes away
    tmp = os.path.join(r.dir, "tmp")
    os.mkdir(tmp)
    p = subprocess.Popen([program, "--listen", "127.0.0.1:0", "--no-password"], stdout=subprocess.PIPE, text=True,
                         env=dict(env, TMPDIR=tmp))
    line = p.stdout.readline()
    check(os.listdir(tmp), "a temporary folder")
    t = Tds(int(line.rsplit(":", 1)[1]), user="anybody")
    check(("loginack", "74000004") in t.login_tokens, "no password", t.login_tokens)
    p.send_signal(signal.SIGINT)
    equal(p.wait(10), 0, "status")
    p.stdout.close()
    equal(os.listdir(tmp), [], "temporary folder")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
