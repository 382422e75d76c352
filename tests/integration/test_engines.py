#!/usr/bin/python3
"""Both bulk engines: what they send for the same rows, what only the wire engine carries, and what it does when a stream fails."""
import json, os, signal, socket, struct, sys, threading, time
from rack import *
import bulkstream, rack, test_types
from proxy import error_reply
from test_encrypt import Tap


class Recorder(Tap):
    """A tap that keeps the client's side apart, one connection after the other."""

    def __init__(self, port):
        self.sent = []
        super().__init__(port)

    def pump(self, a, b):
        mine = bytearray() if b.getpeername()[1] == self.server_port else None
        if mine is not None:
            self.sent.append(mine)
        try:
            while True:
                data = a.recv(65536)
                if not data:
                    break
                if mine is not None:
                    mine += data
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def recorded(r, *args, **more):
    """fullrack's result, and all that its connections sent."""
    tap = Recorder(r.port)
    address, r.address = r.address, "127.0.0.1:%d" % tap.port
    try:
        d = r.json(*args, "--encrypt", "off", **more)
    finally:
        r.address = address
        tap.listener.close()
    return d, [bytes(s) for s in tap.sent]


def streams_of(sent):
    return [s for one in sent for s in bulkstream.streams(one)]


def insert_bulk_of(sent):
    return [s for one in sent for s in bulkstream.statements(one) if s.lower().startswith("insert bulk")]


def test_both_engines_send_the_same_rows(r):
    """Over all types that both carry: equal but for the length of decimals, the scale of times, DONE, and the nullable types."""
    rows, lines = test_types.random_rows(20261130, 400, test_types.COLUMNS)
    f = r.file("same.csv", "".join(lines))
    streams = {}
    for engine in ("bcp", "wire"):
        r.fresh(test_types.table_of(test_types.COLUMNS))
        d, sent = recorded(r, "load", "dbo.t", f, "--format", "csv", "--engine", engine)
        equal((d["rows"], d["engine"], d["tasks"][0]["engine"]), (400, engine, engine), "result")
        streams[engine] = streams_of(sent)
        equal(len(streams[engine]), 1, "streams of " + engine)
    bcp, wire = streams["bcp"][0], streams["wire"][0]
    equal([c.name for c in wire.columns], [c.name for c in bcp.columns], "columns")
    for b, w in zip(bcp.columns, wire.columns):
        check(not w.fixed, "a nullable type for " + w.name)
        kind = lambda c: 0x6a if c.token in bulkstream.DECIMALS else c.token
        equal((kind(w), w.precision), (kind(b), b.precision), "type of " + w.name)
        if w.token not in bulkstream.SCALED:    # db-lib declares scale 7 for each
            equal(w.scale, b.scale, "scale of " + w.name)
        if w.token in bulkstream.DECIMALS:
            equal(w.size, 17, "bytes of decimals")
    check(wire.done and not bcp.done, "DONE at the end of wire's stream")
    equal(len(wire.rows), len(bcp.rows), "rows")
    for i, (b, w) in enumerate(zip(bcp.rows, wire.rows)):
        for c, x, y in zip(wire.columns, b, w):
            check(x == y, "row %d, column %s" % (i, c.name), x, y)


def test_collations_are_the_columns_own(r):
    r.fresh("CREATE TABLE dbo.t (a varchar(5) COLLATE Polish_CI_AS NULL, b nchar(5) COLLATE Japanese_CI_AS NULL, c int NULL, "
            "d varchar(max) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL, e varchar(5) COLLATE SQL_Latin1_General_CP1_CI_AS NULL)")
    d, sent = recorded(r, "load", "dbo.t", r.file("c.txt", "\u0142\t\u65e5\t1\t\u0142\t\u00e9\n"), "--engine", "wire")
    s = streams_of(sent)[0]
    equal(s.rows, [[b"\xb3", "\u65e5".encode("utf-16-le"), struct.pack("<i", 1), "\u0142".encode(), b"\xe9"]], "rows")
    equal(s.columns[4].collation.hex(), "0904d00034", "collation with a sort id")
    check(len({c.collation for c in s.columns if c.collation}) == 4, "each its own", [c.collation for c in s.columns])
    statement = insert_bulk_of(sent)[0]
    for word in ("[a] varchar(5) COLLATE Polish_CI_AS", "[b] nchar(5) COLLATE Japanese_CI_AS", "[c] int,",
                 "[d] varchar(max) COLLATE Latin1_General_100_CI_AS_SC_UTF8"):
        check(word in statement, word, statement)


HINTS = (("TABLOCK", "TABLOCK"), ("rows_per_batch=5", "ROWS_PER_BATCH = 5"), ("KILOBYTES_PER_BATCH = 7 , tablock", "TABLOCK, KILOBYTES_PER_BATCH = 7"),
         ("ORDER(id desc,[odd ]] name]), TABLOCK, ROWS_PER_BATCH = 1000", "TABLOCK, ROWS_PER_BATCH = 1000, ORDER ([id] DESC, [odd ]] name] ASC)"),
         ("CHECK_CONSTRAINTS, KEEP_NULLS", "KEEP_NULLS, CHECK_CONSTRAINTS"), ("auto", "TABLOCK"), ("none", None))
BAD_HINTS = (("evil", "evil"), ("TABLOCK TABLOCK", "comma"), ("ROWS_PER_BATCH", "number"), ("ROWS_PER_BATCH = 0", "number"),
             ("ORDER(nosuch)", "nosuch"), ("ORDER()", "ORDER"), ("ORDER(id", ")"), ("TABLOCK, FIRE_TRIGGERS", "FIRE_TRIGGERS"), ("TABLOCK,", "hints are"),
             ("ROWS_PER_BATCH=1,KILOBYTES_PER_BATCH=1", "not both"), ("TABLOCK); DROP TABLE dbo.t --", "comma"))


def test_hints_in_any_combination(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, [odd ]] name] int NULL)")
    f = r.file("hint.txt", "1\t2\n")
    for given, want in HINTS:
        d, sent = recorded(r, "load", "dbo.t", f, "--engine", "wire", "--hint", given)
        statement = insert_bulk_of(sent)[0]
        tail = statement[statement.rindex(")", 0, statement.rindex(" with") if want else len(statement)) + 1:]
        equal(tail, "" if want is None else " with (%s)" % want, "hints of %r" % given)
    for given, word in BAD_HINTS:
        r.fullrack("load", "dbo.t", f, "--engine", "wire", "--hint", given, exit=2)
        check("--hint" in r.err and word in r.err, "message of %r" % given, r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(len(HINTS),)], "rows")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL CHECK (id < 10), v int NULL DEFAULT 3)")
    d, sent = recorded(r, "load", "dbo.t", f, "--engine", "wire", "-k", "--hint", "TABLOCK")
    check(insert_bulk_of(sent)[0].endswith(" with (KEEP_NULLS, CHECK_CONSTRAINTS, TABLOCK)"), "all together", insert_bulk_of(sent))
    r.fullrack("load", "dbo.t", r.file("c.txt", "11\t\n"), "--engine", "wire", exit=1)
    check("CHECK" in r.err, "the constraint", r.err)


def test_defaults(r):
    """NULL takes the default, also of a NOT NULL column, unless -k; a column without a field takes it, too."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, a int NULL DEFAULT 7, b varchar(9) NOT NULL DEFAULT 'dflt', c date NULL)")
    f = r.file("d.txt", "1\t\t\t\n2\t3\tx\t2024-02-29\n")
    equal(r.json("load", "dbo.t", f, "--engine", "wire")["rows"], 2, "rows")
    equal(r.sql("SELECT id, a, b, CONVERT(varchar(10), c, 23) FROM dbo.t ORDER BY id"), [(1, 7, "dflt", None), (2, 3, "x", "2024-02-29")], "rows")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "dbo.t", f, "--engine", "wire", "-k", exit=1)
    check("column b" in r.err and "NULL" in r.err, "message", r.err)
    r.fullrack("load", "dbo.t", f, "--engine", "bcp", exit=1)
    check("bcp engine" in r.err, "message of bcp", r.err)
    d, sent = recorded(r, "load", "dbo.t", r.file("one.txt", "5\n"), "--columns", "id", "--engine", "wire")
    equal(d["rows"], 1, "rows with one column")
    check("[a]" not in insert_bulk_of(sent)[0], "columns without a field are left out", insert_bulk_of(sent))
    equal(r.sql("SELECT id, a, b, c FROM dbo.t"), [(5, 7, "dflt", None)], "left out")


def test_identity(r):
    r.fresh("CREATE TABLE dbo.t (id int IDENTITY(1,1) NOT NULL, v varchar(5) NULL, rv rowversion, cc AS v + '!')")
    f = r.file("i.txt", "10\ta\n20\tb\n")
    equal(r.json("load", "dbo.t", f, "--engine", "wire", "-E")["rows"], 2, "with -E")
    equal(r.json("load", "dbo.t", f, "--engine", "wire", "--columns", "-,v")["rows"], 2, "without")
    equal(r.sql("SELECT id, v, cc FROM dbo.t ORDER BY id"), [(10, "a", "a!"), (20, "b", "b!"), (21, "a", "a!"), (22, "b", "b!")], "rows")


def test_xml_and_clr_columns(r):
    r.fresh(test_types.SPECIAL)
    big = "ab" * 40000
    f = r.file("x.csv", '1,"<a b=""\u0416""/>\U0001F600",0x5AC0,0x%s,E610,t\n2,,,,,\n3,"",0x,0x,0x,""\n' % big)
    args = ("dbo.t", f, "--format", "csv", "--columns", "id,x,h,g,gg,tail")
    d = r.json("load", *args, "--engine", "wire")
    equal(d["rows"], 3, "rows")
    equal(r.sql("SELECT id, x, h, g, gg, v, tail FROM dbo.t ORDER BY id"),
          [(1, "<a b='\u0416'/>\U0001F600".replace("'", '"'), b"\x5a\xc0", bytes.fromhex(big), b"\xe6\x10", None, "t"),
           (2, None, None, None, None, None, None), (3, "", b"", b"", b"", None, "")], "rows")
    r.fullrack("load", "dbo.t", r.file("y.csv", "1,0x" + "00" * 893 + "\n"), "--format", "csv", "--columns", "id,h", "--engine", "wire", exit=1)
    check("column h" in r.err and "893" in r.err, "message", r.err)
    r.fullrack("load", "dbo.t", r.file("z.csv", "1,2\n"), "--format", "csv", "--columns", "id,v", "--engine", "wire", exit=2)
    check("sql_variant" in r.err, "message", r.err)


def test_engine_is_named_and_why(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("e.txt", "1\n")
    d = r.json("load", "dbo.t", f)
    equal((d["engine"], d["tasks"][0]["engine"], d["tasks"][0]["engine_why"]), ("wire", "wire", None), "auto")
    conf = r.file("freetds.conf", "[named]\n\thost = 127.0.0.1\n\tport = %d\n\ttds version = 7.4\n" % r.port)
    address, r.address = r.address, "named"
    try:
        d = r.json("load", "dbo.t", f, env=r.env(FREETDSCONF=conf))
        equal((d["engine"], d["tasks"][0]["engine"]), ("bcp", "bcp"), "auto with a name of freetds.conf")
        check("freetds.conf" in d["tasks"][0]["engine_why"], "why", d)
        out = r.fullrack("load", "dbo.t", f, env=r.env(FREETDSCONF=conf))
        check("engine bcp: named is a name of freetds.conf" in out, "summary", out)
        d = r.json("load", "dbo.t", f, "--engine", "wire", env=r.env(FREETDSCONF=conf))
        equal((d["engine"], d["rows"]), ("wire", 1), "wire asked for, with a name of freetds.conf")
        bare = r.file("bare.conf", "[named]\n\thost = 127.0.0.1\n\tinstance = none\n")
        r.fullrack("load", "dbo.t", f, "--engine", "wire", exit=2, env=r.env(FREETDSCONF=bare))
        check("named is a name of freetds.conf" in r.err and "no host and port" in r.err, "message", r.err)
    finally:
        r.address = address
    r.fresh_control()
    for engine in ("bcp", "wire", "auto"):
        r.fullrack("add", "-q", "--again", "dbo.t", f, "--engine", engine)
    d = r.json("run", "--workers", "1")
    equal((d["rows"], d["engine"]), (3, "mixed"), "a run")
    equal(r.sql("SELECT engine FROM dbo.work_queue ORDER BY task_id", "fullrack"), [("bcp",), ("wire",), ("wire",)], "of the queue")


def test_blanks_are_kept(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL, n nvarchar(10) NULL, m varchar(max) NULL)")
    f = r.file("b.csv", '1,a  ,"  ",x  \n')
    d = r.json("load", "dbo.t", f, "--format", "csv", "--engine", "wire", "--trailing-blanks", "keep")
    equal(d["tasks"][0]["trimmed_values"], 0, "trimmed_values")
    equal(r.sql("SELECT v, n, m FROM dbo.t"), [("a  ", "  ", "x  ")], "row")


def test_values_over_packet_borders(r):
    """Every length around the borders of packets of 512 bytes, and values of several packets."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(8000) NULL, m nvarchar(max) NULL, b varbinary(max) NULL, tail char(3) NULL)")
    rows = [(i, "v" * i, "m\u0416" * (i * 3 % 700), bytes([i % 256]) * (i * 5), "end") for i in range(1, 700)]
    f = r.file("p.csv", "".join("%d,%s,%s,%s,%s\n" % (i, v, m, b.hex(), t) for i, v, m, b, t in rows))
    for size in ("512", "4096", "32767"):
        r.sql("DELETE FROM dbo.t")
        equal(r.json("load", "dbo.t", f, "--format", "csv", "--engine", "wire", "-a", size)["rows"], len(rows), "rows")
        got = r.sql("SELECT id, v, m, b, tail FROM dbo.t ORDER BY id")
        for g, w in zip(got, rows):
            want = (w[0], w[1], w[2] or None, w[3], w[4])
            check(g == want, "row %d with packets of %s bytes" % (w[0], size), g[0])


class Breaker:
    """A port in front of the server that spoils the first bulk stream of more than `after` bytes that comes by."""

    def __init__(self, port, how, after=1 << 20):
        self.server_port, self.how, self.after = port, how, after
        self.broken = threading.Event()
        self.release = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            threading.Thread(target=self.to_server, args=(client, server), daemon=True).start()
            threading.Thread(target=self.to_client, args=(server, client), daemon=True).start()

    def close(self):
        self.release.set()
        self.listener.close()

    def hang_up(self, *sockets):
        for s in sockets:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def to_server(self, client, server):
        bulk = 0
        try:
            while True:
                data = client.recv(65536)
                if not data:
                    break
                # a message of type 7 begins with a packet of its own
                bulk = bulk + len(data) if bulk or data[0] == 7 else 0
                if bulk > self.after and not self.broken.is_set():
                    self.broken.set()
                    if self.how == "stall":
                        self.release.wait(60)
                        break
                    if self.how == "error":
                        client.sendall(error_reply(2627))
                        time.sleep(0.5)
                    break
                server.sendall(data)
        except OSError:
            pass
        self.hang_up(client, server)

    def to_client(self, server, client):
        try:
            while True:
                data = server.recv(65536)
                if not data:
                    break
                client.sendall(data)
        except OSError:
            pass
        self.hang_up(client, server)


WIDE_ROWS = 6000


def through_a_breaker(r, how, *options, **more):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(8000) NULL)")
    f = r.file("wide.txt", "".join("%d\t%s\n" % (i, "w" * 4000) for i in range(WIDE_ROWS)))
    b = Breaker(r.port, how)
    address, r.address = r.address, "127.0.0.1:%d" % b.port
    started = time.monotonic()
    try:
        out = r.fullrack("load", "--json", "dbo.t", f, "--engine", "wire", "--encrypt", "off", *options, **more)
    finally:
        r.address = address
        b.close()
        os.unlink(f)
    check(b.broken.is_set(), "nothing was broken")
    return json.loads(out), time.monotonic() - started


def test_error_in_mid_stream(r):
    """Noticed while rows are still sent; a duplicate key is not tried again."""
    d, _ = through_a_breaker(r, "error", exit=1)
    check("made up: error 2627" in d["tasks"][0]["error"], "error", d)
    equal((d["rows"], d["tasks"][0]["attempts"]), (0, 1), "counts")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_cut_in_mid_stream(r):
    d, _ = through_a_breaker(r, "cut")
    equal((d["rows"], d["tasks"][0]["attempts"]), (WIDE_ROWS, 2), "counts")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(WIDE_ROWS, WIDE_ROWS)], "rows")


def test_server_that_stops_reading(r):
    d, _ = through_a_breaker(r, "stall", "--statement-timeout", "2")
    equal((d["rows"], d["tasks"][0]["attempts"]), (WIDE_ROWS, 2), "counts")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(WIDE_ROWS, WIDE_ROWS)], "rows")


def test_duplicate_key_at_the_end_of_the_stream(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)")
    f = r.file("dup.txt", "1\n2\n1\n")
    d = r.json("load", "dbo.t", f, "--engine", "wire", exit=1)
    check("2627" in d["tasks"][0]["error"] and d["tasks"][0]["attempts"] == 1, "error", d)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_stopped_in_mid_stream(r):
    """Two interrupts while the server does not read: the load ends and nothing of its batch stays."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(8000) NULL)")
    f = r.file("wide.txt", "".join("%d\t%s\n" % (i, "w" * 4000) for i in range(WIDE_ROWS)))
    b = Breaker(r.port, "stall")
    address, r.address = r.address, "127.0.0.1:%d" % b.port
    try:
        p = r.spawn("load", "dbo.t", f, "--engine", "wire", "--encrypt", "off", "--statement-timeout", "5")
        check(b.broken.wait(20), "nothing was sent")
        p.send_signal(signal.SIGINT)
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=40)
    finally:
        r.address = address
        b.close()
    equal(p.returncode, 4, "exit status (%s)" % err[-300:])
    equal(wait_until("rolled back", 20, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")), [(0,)], "rows")


def test_long_texts(r):
    """A long text is taken in pieces: nothing is lost or doubled where they end, two in a row are not mixed, and a bad byte is still said."""
    a = "".join('%d "quoted" \u017elu\u0165 \U0001F40E ' % i for i in range(90000))
    b = "".join("%d plain \u65e5\u672c\u8a9e," % i for i in range(80000))
    check(len(a.encode()) > 2 << 20 and len(b.encode()) > 1 << 20, "they are long")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, a nvarchar(max) NULL, b nvarchar(max) NULL, c nvarchar(30) NULL)")
    quoted = ['1,"%s","%s",end\n' % (a.replace('"', '""'), b), '2,"%s",,end\n' % a.replace('"', '""'), '3,x,"%s","en""d"\n' % b]
    path = r.file("long.csv", "".join(quoted))
    for engine in ("wire", "bcp"):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", path, "--format", "csv", "--engine", engine)
        with r.connect("t") as db:
            cur = db.cursor()
            cur.execute("SET TEXTSIZE 2147483647 SELECT id, a, b, c FROM dbo.t ORDER BY id")
            rows = cur.fetchall()
        check(rows == [(1, a, b, "end"), (2, a, None, "end"), (3, "x", b, 'en"d')], "rows by the %s engine" % engine,
              [[len(v) if isinstance(v, str) else v for v in row] for row in rows])
    short = [(i, "r\u00e1n %d" % i, "" if i % 3 else None, "end") for i in range(4, 40)]
    path = r.file("short.csv", quoted[1] + "".join('%d,%s,%s,%s\n' % (i, x, "" if y is None else '""', z) for i, x, y, z in short))
    for engine in ("wire", "bcp"):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", path, "--format", "csv", "--engine", engine)
        equal(r.sql("SELECT id, a, b, c FROM dbo.t WHERE id > 3 ORDER BY id"), short, "short ones behind a long one by the %s engine" % engine)
    bad = quoted[0].encode().replace(b"80000 ", b"8\xff000 ")
    r.fullrack("load", "-q", "dbo.t", r.file("bad.csv", bad), "--format", "csv", exit=1)
    check("column a" in r.err and "UTF-8" in r.err, "message", r.err[-600:])


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "2")
