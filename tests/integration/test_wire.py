#!/usr/bin/python3
"""Our own client (src/wire) alone: sessions, values, encryption, and servers that break off, lie or stand still."""
import socket, ssl, struct, sys, threading
from rack import *
import rack
from test_encrypt import SECRET, Tap

LOGIN_ANSWER = (b"\xad" + struct.pack("<H", 22) + b"\x01\x74\x00\x00\x04\x06" + "fake".encode("utf-16-le") + b"\0\0"
                + b"\0\0\0\0\0\0" + b"\xfd" + struct.pack("<HHQ", 0, 0, 0))
DONE = b"\xfd" + struct.pack("<HHQ", 0, 0, 0)
DONE_ATTENTION = b"\xfd" + struct.pack("<HHQ", 0x20, 0, 0)
NO_ENCRYPTION, ENCRYPTION = 2, 1


def client(where, *args, password=None, timeout=60):
    """Lines of tests/support/wire_client."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")}
    p = subprocess.run([os.path.join(BUILD, "tests/support/wire_client"), "--server", where] + list(args),
                       capture_output=True, timeout=timeout, env=dict(env, FULLRACK_PASSWORD=password or rack.PASSWORD))
    check(p.returncode == 0, "wire_client ended with %d" % p.returncode, p.stderr)
    return p.stdout.decode("utf-8").splitlines()


def values(where, sql, *options):
    lines = client(where, *options, sql)
    check(lines[-1] == "ok", "statement", lines)
    return [line[4:].split("\t") for line in lines if line.startswith("row ")]


def is_error(line, status, number=0, text="", lost=None):
    words = line.split(" ", 3)
    equal(words[:2], [status, str(number)], "error %r" % line)
    if lost is not None:
        equal(words[2], "lost=%d" % lost, "session after %r" % line)
    check(text in words[3], "text", line)


# -- sessions

def test_statements(r):
    got = client(r.address, "SELECT 1 AS a, NULL AS b", "CREATE TABLE #x (i int)", "INSERT INTO #x VALUES (1), (2)",
                 "SELECT * FROM nowhere", "SELECT COUNT(*) FROM #x")
    equal(got, ["open encrypted=1 spid=1", "columns a\tb", "row 1\tNULL", "affected 1", "ok", "ok", "affected 2", "ok",
                "FR_EDB 208 lost=0 statement: Invalid object name 'nowhere'. (server error 208)",
                "columns ", "row 2", "affected 1", "ok"], "lines")


def test_first_error_decides(r):
    got = client(r.address, "RAISERROR('one', 16, 1) RAISERROR('two', 16, 1)", "RAISERROR('only said', 10, 1)", "SELECT 1/0")
    equal(got[1], "FR_EDB 50000 lost=0 statement: one (server error 50000)", "first error")
    equal(got[2], "ok", "severity 10")
    is_error(got[-1], "FR_EDB", 8134, lost=0)


def test_values(r):
    tests = [
        ("CAST(255 AS tinyint)", "255"), ("CAST(-32768 AS smallint)", "-32768"), ("CAST(-2147483648 AS int)", "-2147483648"),
        ("CAST(-9223372036854775808 AS bigint)", "-9223372036854775808"), ("CAST(1 AS bit)", "1"),
        ("CAST(-0.5 AS decimal(5,2))", "-0.50"), ("CAST(12345678901234567890123456789012345678 AS decimal(38,0))",
                                                 "12345678901234567890123456789012345678"),
        ("CAST(0 AS decimal(38,38))", "0." + "0" * 38), ("CAST(7 AS decimal(1,0))", "7"),
        ("CAST(-922337203685477.5808 AS money)", "-922337203685477.5808"), ("CAST(1.5 AS smallmoney)", "1.5000"),
        ("CAST(0.1 AS float)", "0.10000000000000001"), ("CAST(0.1 AS real)", "0.100000001"),
        ("CAST('0001-01-01' AS date)", "0001-01-01"), ("CAST('23:59:59.1234567' AS time)", "23:59:59.1234567"),
        ("CAST('23:59:59' AS time(0))", "23:59:59"), ("CAST('9999-12-31T23:59:59.997' AS datetime)", "9999-12-31 23:59:59.997"),
        ("CAST('1753-01-01' AS datetime)", "1753-01-01 00:00:00.000"), ("CAST('2079-06-06 23:59' AS smalldatetime)", "2079-06-06 23:59:00"),
        ("CAST('2024-02-29 12:00:00.12' AS datetime2(2))", "2024-02-29 12:00:00.12"),
        ("CAST('2024-01-01 01:00:00.5 +02:00' AS datetimeoffset(1))", "2024-01-01 01:00:00.5 +02:00"),
        ("CAST('0E984725-C51C-4BF4-9960-E1C80E27ABA0' AS uniqueidentifier)", "0e984725-c51c-4bf4-9960-e1c80e27aba0"),
        ("CAST(0xDEADBEEF AS varbinary(8))", "0xdeadbeef"), ("CAST(0x01 AS binary(2))", "0x0100"), ("CAST(0x AS varbinary(8))", "0x"),
        ("CAST('a\u00e4\u20ac' AS varchar(10))", "a\u00e4\u20ac"), ("CAST('x' AS char(3))", "x  "), ("''", ""),
        ("N'\u4e2d\U0001F600'", "\u4e2d\U0001F600"), ("CAST(N'x' AS nchar(2))", "x "),
        ("REPLICATE(CAST(N'\u00e9' AS nvarchar(max)), 70000)", "\u00e9" * 70000),
        ("CAST(0x0102 AS varbinary(max))", "0x0102"), ("CAST(NULL AS varchar(max))", "NULL"), ("CAST('' AS varchar(max))", ""),
        ("CAST(NULL AS int)", "NULL"), ("CAST(NULL AS uniqueidentifier)", "NULL"), ("CAST(NULL AS decimal(9,2))", "NULL"),
    ]
    for options in ((), ("--packet", "512")):
        got = values(r.address, "SELECT " + ", ".join(t[0] for t in tests), *options)[0]
        for (sql, want), have in zip(tests, got):
            equal(have, want, sql)
        equal(len(got), len(tests), "columns")


def test_same_text_as_the_other_client(r):
    sql = ("SELECT CAST(1.25 AS money) a, CAST(0.001 AS float) b, CAST(1.5 AS decimal(9,3)) c, CAST('2024-01-02 03:04:05.678' AS "
           "datetime) d, CAST('2024-01-01 01:00 -05:30' AS datetimeoffset(0)) e, CAST(0x00FF AS varbinary(4)) f, CAST(1 AS bit) g")
    other = json.loads(r.fullrack("query", "--json", sql, database=None))
    for name, mine, theirs in zip(other["columns"], values(r.address, sql)[0], other["rows"][0], strict=True):
        equal(mine, theirs, "column %s, as the other client has it" % name)


def test_calls(r):
    client(r.address, "CREATE OR ALTER PROCEDURE dbo.say @out nvarchar(4000) OUTPUT AS BEGIN SELECT 5 AS five SET @out = N'h\u00f6' END")
    equal(client(r.address, "@call dbo.say")[1:], ["columns five", "row 5", "out h\u00f6", "ok"], "output")
    is_error(client(r.address, "@call dbo.nobody")[-1], "FR_EDB", 2812, lost=0)


def test_large_statement_and_answer(r):
    for encrypt in ("off", "require"):
        equal(client(r.address, "--encrypt", encrypt, "@repeat 3000000")[-1], "ok", "sent")
        got = values(r.address, "SELECT REPLICATE(CAST('z' AS varchar(max)), 5000000)", "--encrypt", encrypt, "--packet", "32767")
        equal(got[0][0], "z" * 5000000, "received")


# -- logins

def test_login_failures(r):
    is_error(client(r.address, password="wrong")[0], "FR_ECONNECT", 18456, "cannot log in to %s as sa" % r.address)
    is_error(client(r.address, "--database", "nowhere")[0], "FR_ECONNECT", 4060)
    is_error(client(r.address, "--user", "u" * 200)[0], "FR_EARG", 0, "128")
    is_error(client("127.0.0.1\\SQLEXPRESS")[0], "FR_EARG", 0, "instance")
    is_error(client("127.0.0.1:none")[0], "FR_EARG", 0, "not a port")
    is_error(client("127.0.0.1:1")[0], "FR_ECONNECT", 0, "refused")
    is_error(client("no.such.host.invalid")[0], "FR_ECONNECT", 0, "no.such.host.invalid")


def test_ways_to_write_an_address(r):
    for where in ("127.0.0.1,%d" % r.port, "tcp:127.0.0.1,%d" % r.port, "localhost:%d" % r.port):
        check(client(where)[0].startswith("open"), where)


# -- encryption

def obfuscated(password):
    return bytes((((b << 4) & 0xF0) | b >> 4) ^ 0xA5 for b in password.encode("utf-16-le"))


def through_tap(r, encrypt):
    tap = Tap(r.port)
    try:
        got = client("127.0.0.1:%d" % tap.port, "--encrypt", encrypt, "SELECT '%s'" % SECRET)
        check("row " + SECRET in got, "rows", got)
    finally:
        tap.listener.close()
    return tap.saw(SECRET), obfuscated(rack.PASSWORD) in tap.seen


def test_what_goes_over_the_wire(r):
    equal({e: through_tap(r, e) for e in ("off", "login", "prefer", "require")},
          {"off": (True, True), "login": (True, False), "prefer": (False, False), "require": (False, False)},
          "(data in clear, password in clear)")


def test_server_without_encryption(r):
    other = Rack()
    try:
        check("encrypted=0" in client(other.address, "--encrypt", "prefer")[0], "prefer goes on in clear")
        for encrypt in ("login", "require"):
            is_error(client(other.address, "--encrypt", encrypt)[0], "FR_ECONNECT", 0, "no encryption")
        # who names a CA wants to know the server: none of it in clear, whichever client connects
        ca, _ = certificate(r, "ca", "localhost")
        is_error(client(other.address, "--encrypt", "prefer", "--ca-file", ca)[0], "FR_ECONNECT", 0, "no encryption")
        other.fresh("CREATE TABLE dbo.t (i int)")
        f = other.file("f.txt", "1\n")
        for engine in ("bcp", "wire"):
            other.fullrack("load", "dbo.t", f, "--engine", engine, "--ca-file", ca, exit=3)
        other.fullrack("load", "dbo.t", f, "--ca-file", ca, "--encrypt", "off")
        equal(other.sql("SELECT COUNT(*) FROM dbo.t"), [(1,)], "rows")
    finally:
        other.close()
        other.remove()


def test_server_that_demands_encryption(r):
    other = Rack("--tls-self-signed", "--require-tls")
    try:
        is_error(client(other.address, "--encrypt", "off")[0], "FR_ECONNECT", 0, "demands encryption")
        check("encrypted=1" in client(other.address, "--encrypt", "login")[0], "login only becomes everything")
    finally:
        other.close()
        other.remove()


def certificate(r, name, subject):
    cert, key = os.path.join(r.dir, name + ".pem"), os.path.join(r.dir, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=" + subject, "-addext", "subjectAltName=DNS:" + subject], check=True, capture_output=True, timeout=60)
    return cert, key


def test_redirect_from_encryption_to_clear(r):
    """A server with encryption that sends us to one without."""
    other = Rack()
    cert, key = certificate(r, "gate", "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(cert, key)

    def gateway(fake, s):
        fake.message(s)
        s.sendall(prelogin(ENCRYPTION))
        took, gave = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(took, gave, server_side=True)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                if gave.pending:
                    s.sendall(reply(gave.read(), kind=0x12))
                took.write(fake.packet(s)[2])
        s.sendall(reply(gave.read(), kind=0x12))
        while True:
            try:
                equal(tls.read(1 << 16)[0], 0x10, "login")
                break
            except ssl.SSLWantReadError:
                took.write(s.recv(1 << 16))
        tls.write(reply(LOGIN_ANSWER[:-13] + route(other.port) + DONE))
        s.sendall(gave.read())
        fake.exactly(s, 1 << 20)
    try:
        got, _ = against(gateway, "--encrypt", "prefer")
        is_error(got[0], "FR_ECONNECT", 0, "no encryption")
    finally:
        other.close()
        other.remove()


def test_certificates(r):
    cert, key = certificate(r, "own", "localhost")
    wrong, _ = certificate(r, "wrong", "localhost")
    other = Rack("--tls-cert", cert, "--tls-key", key)
    try:
        named = "localhost:%d" % other.port
        for encrypt in ("login", "prefer", "require"):
            check(client(named, "--encrypt", encrypt, "--ca-file", cert)[0].startswith("open"), "right certificate")
            is_error(client(named, "--encrypt", encrypt, "--ca-file", wrong)[0], "FR_ECONNECT", 0, "certificate of localhost is refused")
            is_error(client(other.address, "--encrypt", encrypt, "--ca-file", cert)[0], "FR_ECONNECT", 0, "name in the certificate")
        is_error(client(named, "--ca-file", key + ".none")[0], "FR_EARG", 0, "CA file")
        # the same through the whole program, with the other client
        other.fresh("CREATE TABLE dbo.t (i int)")
        f = other.file("f.txt", "1\n")
        address, other.address = other.address, named
        other.fullrack("load", "dbo.t", f, "--ca-file", cert, "--encrypt", "require")
        other.fullrack("load", "dbo.t", f, "--ca-file", wrong, "--encrypt", "require", exit=3)
        other.fullrack("load", "dbo.t", f, "--ca-file", wrong, exit=3)
        other.address = address
        other.fullrack("load", "dbo.t", f, "--ca-file", cert, exit=3)
        equal(other.sql("SELECT COUNT(*) FROM dbo.t"), [(1,)], "rows")
    finally:
        other.close()
        other.remove()


# -- servers of our own that misbehave

class Fake:
    """One function serves each connection; what it raises for a closed connection is let be."""

    def __init__(self, serve, count=20):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.serve, self.seen, self.errors, self.open = serve, [], [], []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(s)
            threading.Thread(target=self.run, args=(s,), daemon=True).start()

    def run(self, s):
        try:
            self.serve(self, s)
        except (OSError, EOFError):
            pass
        except Exception as e:
            self.errors.append(e)
        s.close()

    def packet(self, s):
        """Type and payload of the next packet."""
        h = self.exactly(s, 8)
        body = self.exactly(s, struct.unpack(">H", h[2:4])[0] - 8)
        self.seen.append(h[0])
        return h[0], h[1], body

    def message(self, s):
        while True:
            kind, status, _ = self.packet(s)
            if status & 1:
                return kind

    def exactly(self, s, n):
        data = b""
        while len(data) < n:
            more = s.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def close(self):
        self.listener.close()
        for s in self.open:
            s.close()
        if self.errors:
            raise self.errors[0]


def reply(tokens, kind=4, last=True):
    return struct.pack(">BBHHBB", kind, 1 if last else 0, 8 + len(tokens), 0, 1, 0) + tokens


def prelogin(encryption):
    return reply(bytes([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, encryption]))


def error_token(number, text, severity=16):
    body = struct.pack("<IBBH", number, 1, severity, len(text)) + text.encode("utf-16-le") + b"\0\0" + struct.pack("<I", 1)
    return b"\xaa" + struct.pack("<H", len(body)) + body


ONE_ROW = (b"\x81" + struct.pack("<HIH", 1, 0, 0) + b"\x38\x01" + "n".encode("utf-16-le") + b"\xd1" + struct.pack("<i", 7)
           + b"\xfd" + struct.pack("<HHQ", 0x10, 0xC1, 1))


def logs_in(then):
    """A server without encryption that lets everybody in and answers SELECT @@SPID."""
    def serve(fake, s):
        fake.message(s)
        s.sendall(prelogin(NO_ENCRYPTION))
        if fake.message(s) != 0x10:
            return
        s.sendall(reply(LOGIN_ANSWER))
        fake.message(s)
        s.sendall(reply(ONE_ROW))
        then(fake, s)
    return serve


def against(serve, *args, **more):
    fake = Fake(serve)
    try:
        return client(fake.address, *args, **more), fake
    finally:
        fake.close()


def test_silent_server(r):
    got, _ = against(lambda fake, s: fake.exactly(s, 1 << 20), "--login-ms", "700")
    is_error(got[0], "FR_ECONNECT", 0, "silent until the end of the login time-out")
    got, _ = against(lambda fake, s: (fake.message(s), s.sendall(prelogin(ENCRYPTION)), fake.exactly(s, 1 << 20)), "--login-ms", "700")
    is_error(got[0], "FR_ECONNECT", 0, "TLS handshake")

    # the login is over only when the session can be used
    def accepts(fake, s):
        fake.message(s)
        s.sendall(prelogin(NO_ENCRYPTION))
        if fake.message(s) == 0x10:
            s.sendall(reply(LOGIN_ANSWER))
            for i in range(silent_after):
                fake.message(s)
                s.sendall(reply(DONE))
            fake.exactly(s, 1 << 20)
    for silent_after in (0, 1):
        got, _ = against(accepts, "--login-ms", "700", "--options", "SET NOCOUNT ON")
        is_error(got[0], "FR_ECONNECT", 0, "silent until the end of the login time-out")


def test_answers_that_make_no_sense(r):
    for answer in (b"HTTP/1.1 400 Bad Request\r\n\r\n", reply(b""), reply(b"\xff"), reply(b"\0" * 100), reply(b"\1\0\x06\0\1\x09"),
                   reply(b"\x01\xff\xff\x00\x01\xff"), struct.pack(">BBHHBB", 4, 1, 3, 0, 0, 0), reply(b"\xff" * 5000, last=False) * 4):
        got, _ = against(lambda fake, s: (fake.message(s), s.sendall(answer), s.shutdown(socket.SHUT_WR)))
        is_error(got[0], "FR_ECONNECT", 0)
    got, _ = against(lambda fake, s: (fake.message(s), s.sendall(prelogin(0))))
    is_error(got[0], "FR_ECONNECT", 0, "half of it")


def test_broken_handshake_is_never_answered_in_clear(r):
    alert = b"\x15\x03\x03\x00\x02\x02\x28"
    for answer in (reply(alert, kind=0x12), reply(b"nonsense", kind=0x12), b""):
        def serve(fake, s):
            fake.message(s)
            s.sendall(prelogin(ENCRYPTION))
            fake.message(s)
            s.sendall(answer)
            s.shutdown(socket.SHUT_WR)
            fake.packet(s)
        got, fake = against(serve, "--encrypt", "prefer")
        is_error(got[0], "FR_ECONNECT", 0, "handshake")
        if alert in answer:
            is_error(got[0], "FR_ECONNECT", 0, "TLS alert: Handshake failed")
        check(0x10 not in fake.seen, "a login was sent in clear", fake.seen)
    # the same for db-lib
    fake = Fake(lambda fake, s: (fake.message(s), s.sendall(prelogin(ENCRYPTION)), fake.message(s), s.sendall(reply(alert, kind=0x12)),
                                 s.shutdown(socket.SHUT_WR), fake.packet(s)))
    address, r.address = r.address, fake.address
    try:
        r.fullrack("query", "SELECT 1", exit=3)
        check(0x10 not in fake.seen, "db-lib sent a login in clear", fake.seen)
    finally:
        r.address = address
        fake.close()


def test_tls_cut_in_the_session(r):
    """An alert, or a cut, in the middle of an encrypted session."""
    tap = Tap(r.port)
    cut = threading.Event()
    original = tap.pump

    def pump(a, b):
        if a.getsockname()[1] == tap.port:
            return original(a, b)
        total = 0
        try:
            while True:
                data = a.recv(65536)
                total += len(data)
                if not data or total > 100000:
                    b.sendall(b"\x15\x03\x03\x00\x02\x02\x28")
                    break
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        cut.set()
    tap.pump = pump
    try:
        got = client("127.0.0.1:%d" % tap.port, "--encrypt", "require", "SELECT REPLICATE(CAST('z' AS varchar(max)), 5000000)")
        is_error(got[-1], "FR_ELOST", 0, lost=1)
    finally:
        tap.listener.close()


def test_cut_connection(r):
    for answer in (b"", reply(ONE_ROW)[:20], reply(ONE_ROW[:20], last=False), reply(ONE_ROW[:-3], last=False)):
        got, _ = against(logs_in(lambda fake, s: (fake.message(s), s.sendall(answer))), "SELECT 1")
        is_error(got[-1], "FR_ELOST", 0, lost=1)


def test_reply_that_is_no_tds(r):
    for tokens in (b"\x42", b"\xd1\0\0\0\0", ONE_ROW[:20], b"\x81\xfe\xff" + b"\0" * 100, b"\x81\x01\0\0\0\0\0\0\0\x99\0",
                   b"\xaa\x02\0\0\0", b"\xaa\x08\0\1\0\0\0\1\x10\xff\xff", b"\xe3\x03\0\x04\x01\x41"):
        got, _ = against(logs_in(lambda fake, s: (fake.message(s), s.sendall(reply(tokens)), fake.packet(s))), "SELECT 1")
        is_error(got[-1], "FR_EPROTO", 0, "no TDS", lost=1)


def test_attention_on_timeout(r):
    got = client(r.address, "--statement-ms", "500", "WAITFOR DELAY '00:00:50'", "SELECT 5")
    is_error(got[1], "FR_ELOST", 0, "time-out", lost=0)
    check("row 5" in got, "the session goes on", got)

    def answers(fake, s):
        fake.message(s)
        equal(fake.message(s), 6, "attention")
        s.sendall(reply(DONE) + reply(DONE_ATTENTION))
        fake.message(s)
        s.sendall(reply(ONE_ROW))
    got, fake = against(logs_in(answers), "--statement-ms", "300", "SELECT 1", "SELECT 2")
    is_error(got[1], "FR_ELOST", 0, "time-out", lost=0)
    equal(got[2:], ["columns n", "row 7", "affected 1", "ok"], "the session goes on")


def test_attention_that_is_not_answered(r):
    got, fake = against(logs_in(lambda fake, s: (fake.message(s), fake.message(s), fake.exactly(s, 1 << 20))), "--statement-ms", "300",
                        "SELECT 1", "SELECT 2")
    is_error(got[1], "FR_ELOST", 0, "silent for 0.3 s, also after an attention", lost=1)
    equal(len(got), 2, "nothing more is asked")
    equal(fake.seen[-1], 6, "attention")


def test_server_that_stops_reading(r):
    stop = threading.Event()
    got, _ = against(logs_in(lambda fake, s: stop.wait(30)), "--statement-ms", "500", "@repeat 20000000")
    is_error(got[1], "FR_ELOST", 0, "silent for 0.5 s", lost=1)
    stop.set()


def test_server_that_stops_reading_under_tls(r):
    tap, stop = Tap(r.port), threading.Event()
    original = tap.pump

    def pump(a, b):
        if a.getsockname()[1] != tap.port:
            return original(a, b)
        left = 200000
        try:
            while left > 0:
                data = a.recv(min(left, 65536))
                if not data:
                    break
                left -= len(data)
                b.sendall(data)
            stop.wait(30)
        except OSError:
            pass
        for s in (a, b):
            s.close()
    tap.pump = pump
    try:
        got = client("127.0.0.1:%d" % tap.port, "--encrypt", "require", "--statement-ms", "500", "@repeat 20000000")
        is_error(got[-1], "FR_ELOST", 0, "silent", lost=1)
    finally:
        stop.set()
        tap.listener.close()


def test_error_while_sending(r):
    def refuses(fake, s):
        fake.packet(s)
        s.sendall(reply(error_token(9002, "the log is full"), last=False))
        stop.wait(30)
    stop = threading.Event()
    got, _ = against(logs_in(refuses), "@repeat 60000000")
    is_error(got[1], "FR_EDB", 9002, "the log is full", lost=1)
    stop.set()

    def hangs_up(fake, s):
        fake.packet(s)
    got, _ = against(logs_in(hangs_up), "@repeat 20000000")
    is_error(got[1], "FR_ELOST", 0, lost=1)

    def only_informs(fake, s):
        fake.packet(s)
        s.sendall(reply(b"\xab" + error_token(5701, "by the way", 0)[1:], last=False))
        while not fake.packet(s)[1] & 1:
            pass
        s.sendall(reply(ONE_ROW))
    got, _ = against(logs_in(only_informs), "@repeat 20000000")
    equal(got[-1], "ok", "information does not stop a message")


def test_fatal_error_ends_the_session(r):
    got, _ = against(logs_in(lambda fake, s: (fake.message(s), s.sendall(reply(error_token(596, "session killed", 21) + DONE)))),
                     "SELECT 1")
    is_error(got[-1], "FR_ELOST", 596, "session killed", lost=1)


def route(port, host="127.0.0.1"):
    value = struct.pack("<BHH", 0, port, len(host)) + host.encode("utf-16-le")
    body = b"\x14" + struct.pack("<H", len(value)) + value + b"\0\0"
    return b"\xe3" + struct.pack("<H", len(body)) + body


def test_redirection(r):
    def gateway(fake, s):
        fake.message(s)
        s.sendall(prelogin(NO_ENCRYPTION))
        if fake.message(s) == 0x10:
            s.sendall(reply(LOGIN_ANSWER[:-13] + route(fake.port) + DONE))
    fake = Fake(gateway)
    try:
        fake.port = r.port
        got = client(fake.address, "SELECT 5")
        check("encrypted=1" in got[0] and "row 5" in got, "redirected to a server with encryption", got)
        fake.port = int(fake.address.split(":")[1])
        is_error(client(fake.address)[0], "FR_ECONNECT", 0, "a second time")
    finally:
        fake.close()


class Injector(Tap):
    """A tap that adds clear bytes behind the server's first answer, in the same write."""
    extra = b""

    def pump(self, a, b):
        if a.getpeername()[1] == self.server_port:
            try:
                b.sendall(a.recv(65536) + self.extra)
            except OSError:
                pass
        super().pump(a, b)


def test_clear_bytes_before_encryption_are_refused(r):
    """What follows the prelogin answer in clear must not be read as a part of the encrypted session."""
    fake = Fake(lambda fake, s: fake.exactly(s, 1 << 20))
    try:
        redirect = reply(LOGIN_ANSWER[:-13] + route(int(fake.address.split(":")[1])) + DONE)
        for extra in (redirect, redirect[:20], reply(ONE_ROW), b"\0"):
            for encrypt in ("login", "prefer", "require", "off"):
                tap = Injector(r.port)
                tap.extra = extra
                try:
                    got = client("127.0.0.1:%d" % tap.port, "--encrypt", encrypt, "--login-ms", "5000", "SELECT 1")
                finally:
                    tap.listener.close()
                is_error(got[0], "FR_ECONNECT", 0, "%d bytes where it was our turn" % len(extra))
                equal(len(got), 1, "nothing else is said")
        check(not fake.open, "the redirect was followed")
    finally:
        fake.close()


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--tls-self-signed")
