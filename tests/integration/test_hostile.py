#!/usr/bin/python3
"""fullrackd among clients that mean no good: whatever they send, a load that runs meanwhile is whole, and others' sessions live.

  test_hostile.py [PART OF A TEST'S NAME]      FULLRACK_SEED: of the random bytes; printed
"""
import os, random, resource, socket, struct, sys, threading, time
from rack import *
import rack
from tds import HEADERS, Tds, text

SEED = int(os.environ.get("FULLRACK_SEED", random.SystemRandom().randrange(1 << 30)))
ROWS, FILES = 20000, 4
OURS = "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'tds.py'"
BULK_HEAD = bytes.fromhex("81 0100 00000000 0900 26 04 00")         # one nullable int


def packet(kind, payload, status=1, length=None):
    return struct.pack(">BBHHBB", kind, status, len(payload) + 8 if length is None else length, 0, 1, 0) + payload


PRELOGIN = packet(0x12, bytes.fromhex("00000B0006" "0100110001" "FF" "000000000000" "02"))
WANTS_TLS = PRELOGIN[:-1] + b"\1"


def raw(r, **more):
    return Tds(r.port, password=rack.PASSWORD, **more)


class Beside:
    """Loads with their ledger, and a session with a table of its own, all through the attack."""

    def __init__(self, r):
        self.r = r
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(40) NULL)")
        r.fresh("CREATE TABLE dbo.others (id int NOT NULL)", "dbo.others")
        self.files = [r.file("beside%d.txt" % i, "".join("%d\t%s\n" % (i * ROWS + j, "v" * (j % 40)) for j in range(ROWS))) for i in range(FILES)]
        self.session = raw(r, database="t")
        self.session.query("CREATE TABLE #mine (id int)")

    def __enter__(self):
        self.stop, self.loads, self.wrong = threading.Event(), 0, None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        """One load after the other, until the attack is over."""
        try:
            while not self.stop.is_set() or self.loads == 0:
                equal(self.r.json("load", "dbo.t", *self.files, "--workers", "2", "-b", "1500")["rows"], ROWS * FILES, "rows of a load")
                self.loads += 1
        except Exception as e:
            self.wrong = e

    def __exit__(self, kind, error, trace):
        self.stop.set()
        self.thread.join(60)
        if kind is None:
            check(self.wrong is None, "the load beside it: %s" % self.wrong)
            total = ROWS * FILES
            equal(self.r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(total * self.loads, total)], "its rows")
            equal(self.r.sql("SELECT SUM(rows_loaded) FROM dbo.fullrack_ledger WHERE source LIKE '%beside%'"), [(total * self.loads,)], "its ledger")
            equal(self.session.query("INSERT #mine VALUES (1) INSERT dbo.others VALUES (1)")[-1][2], 1, "the other session")
        self.session.close()
        self.r.sql("DELETE dbo.fullrack_ledger")


# -- the states that a connection may be in, and what is sent there

def nothing(r):
    return socket.create_connection(("127.0.0.1", r.port), 20)


def prelogged(r):
    s = nothing(r)
    s.sendall(PRELOGIN)
    s.recv(4096)
    return s


def logged_in(r):
    return raw(r, database="t").s


def in_batch(r):
    s = logged_in(r)
    s.sendall(packet(1, HEADERS + text("SELECT"), status=0))
    return s


def in_rpc(r):
    s = logged_in(r)
    s.sendall(packet(3, HEADERS + struct.pack("<HHH", 0xFFFF, 10, 0) + b"\0\0\xe7", status=0))
    return s


def in_bulk(r):
    t = raw(r, database="t")
    t.query("INSERT BULK dbo.others (id int)")
    t.send(7, BULK_HEAD + b"\xd1\x04\1\0\0\0", status=0)
    return t.s


def in_transaction(r):
    t = raw(r, database="t")
    t.query("BEGIN TRANSACTION DECLARE @i int SELECT @i = COUNT(*) FROM dbo.others")
    return t.s


STATES = [nothing, prelogged, logged_in, in_batch, in_rpc, in_bulk, in_transaction]


def noise(rng):
    return rng.randbytes(rng.choice([1, 7, 8, 100, 5000, 70000]))


def noise_in_a_packet(rng):
    return packet(rng.choice([1, 2, 3, 4, 6, 7, 8, 14, 16, 17, 18, rng.randrange(256)]), rng.randbytes(rng.choice([0, 1, 20, 4000])),
                  rng.choice([0, 1, 1, 2, 3, 8, 255]))


def noise_behind_headers(rng):
    return packet(rng.choice([1, 3, 14]), HEADERS + rng.randbytes(rng.choice([1, 20, 4000])))


def huge_length(rng):
    return packet(rng.choice([1, 3, 7, 16, 18]), b"x" * 20, length=rng.choice([0xFFFF, 0x8000, 0x7FFF]))


def small_length(rng):
    return packet(rng.choice([1, 3, 7, 16, 18]), b"x" * 20, length=rng.randrange(8))


def huge_values(rng):
    """Lengths of four gigabytes and more, in headers, parameters and the bulk stream."""
    return rng.choice([packet(1, struct.pack("<I", 0xFFFFFFFF) + b"x" * 40), packet(1, struct.pack("<II", 22, 0xFFFFFFFF) + b"x" * 40),
                       packet(3, HEADERS + struct.pack("<HHHBB", 0xFFFF, 10, 0, 0, 0) + b"\xa7\xff\xff\0\0\0\0\0" + b"\xff" * 7 + b"\x7f" + b"\xff\xff\xff\x7f"),
                       packet(3, HEADERS + struct.pack("<H", 0xFFFE) + b"x" * 10),
                       packet(7, b"\x81\xff\xff" + b"\0" * 40), packet(7, b"\xd1\xff" + b"\0" * 40),
                       packet(16, struct.pack("<I", 0x7FFFFFFF) + b"\xff" * 200), packet(18, b"\0\xff\xff\xff\xff" * 20)])


def cut(rng):
    whole = packet(rng.choice([1, 3, 7, 14]), HEADERS + text("SELECT 1 FROM dbo.t"))
    return whole[:rng.randrange(1, len(whole))]


def attention(rng):
    return packet(6, b"") * rng.choice([1, 2, 50])


def tls_garbage(rng):
    return WANTS_TLS + packet(0x12, rng.choice([b"\x16\x03\x01\x02\x00", b"\x16\x03\x03\xff\xff", b"\x15\x03\x01\x00\x02\x02\x28", b"GET "]) + rng.randbytes(300))


ATTACKS = [noise, noise_in_a_packet, noise_behind_headers, huge_length, small_length, huge_values, cut, attention, tls_garbage]


def resident_kb(r):
    with open("/proc/%d/status" % r.server.pid) as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def lives(r):
    check(r.server.poll() is None, "fullrackd is dead")


def test_every_state(r):
    """Each attack in each state, several times; who sent it is answered, or closed, but never waits for ever; who only leaves ends, too."""
    rng = random.Random(SEED)
    with Beside(r):
        witness = raw(r, database="t")
        for attack in ATTACKS:
            for state in STATES:
                for _ in range(3):
                    s = state(r)
                    try:
                        s.sendall(attack(rng))
                        if rng.random() < 0.5:
                            s.shutdown(socket.SHUT_WR)
                            while s.recv(65536):
                                pass
                    except socket.timeout:
                        raise Failed("%s in state %s is neither answered nor closed" % (attack.__name__, state.__name__))
                    except OSError:     # closed in our face: reset, broken pipe, not connected
                        pass
                    s.close()
                lives(r)
                equal(witness.query("SELECT id FROM dbo.others")[-1][2], 0, "rows that the witness sees after %s in %s" % (attack.__name__, state.__name__))
            # of ours: the witness, and the session beside
            wait_until("every session of %s is over" % attack.__name__, 20, lambda: r.sql(OURS, "")[0][0] == 2)
        witness.close()
    equal(r.sql("SELECT COUNT(*) FROM dbo.others"), [(1,)], "rows that nobody committed")


def test_many_connections(r):
    """1,000 that say nothing, or a part of something, and stay."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    rng, held = random.Random(SEED + 1), []
    try:
        with Beside(r):
            for i in range(1000):
                s = socket.create_connection(("127.0.0.1", r.port), 20)
                s.setblocking(False)
                try:
                    s.send(rng.choice([b"", b"\x12", PRELOGIN, PRELOGIN[:20], WANTS_TLS]))
                except OSError:
                    pass
                held.append(s)
                time.sleep(0.002)   # a login takes its time, and has to be through before as many as may wait have come
            for _ in range(3):      # who can log in still does
                raw(r).close()
            threads = len(os.listdir("/proc/%d/task" % r.server.pid))
            check(threads < 450, "%d threads for connections that have not logged in" % threads)
    finally:
        for s in held:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    lives(r)


def test_slow_and_wrong_logins(r):
    """A byte at a time, and passwords guessed by many at once."""
    with Beside(r):
        slow = [socket.create_connection(("127.0.0.1", r.port), 20) for _ in range(20)]
        answers = []

        def guess_one(i):
            t = Tds(r.port, password="guess%d" % i)
            answers.append([x[:2] for x in t.login_tokens])
            t.close()
        guess = [threading.Thread(target=guess_one, args=(i,)) for i in range(12)]
        for t in guess:
            t.start()
        for i in range(12):
            for s in slow:
                s.sendall(PRELOGIN[i:i + 1])
            time.sleep(0.02)
        equal(raw(r).query("SELECT 1")[-1][0], "done", "a login among them")
        for t in guess:
            t.join()
        equal([a for a in answers if ("error", 18456) not in a or "loginack" in [x[0] for x in a]], [], "answers to wrong passwords")
        equal(len(answers), 12, "their number")
        for s in slow:
            s.close()
    lives(r)


def sent_as(kind, value):
    """COLMETADATA of one column of that type, and a row with that value."""
    return b"\x81\1\0" + struct.pack("<IH", 0, 9) + kind + b"\0" + b"\xd1" + value


def test_streams_of_other_types(r):
    """What COLMETADATA says counts, not what INSERT BULK declared: no value is taken for one of another type."""
    latin = bytes.fromhex("0904d00034")
    kinds = {
        "int": (bytes([0x26, 4]), b"\4" + struct.pack("<i", 7)),
        "bigint": (bytes([0x26, 8]), b"\x08" + struct.pack("<q", 0x4141414141414141)),
        "decimal": (bytes([0x6A, 17, 38, 0]), b"\x11\1" + (5 << 64 | 0x1234567).to_bytes(16, "little")),
        "float": (bytes([0x6D, 8]), b"\x08" + struct.pack("<d", 1e300)),
        "datetime": (bytes([0x6F, 8]), b"\x08" + struct.pack("<iI", 40000, 1)),
        "datetimeoffset": (bytes([0x2B, 7]), b"\x0a" + bytes(5) + bytes([1, 2, 3]) + struct.pack("<h", 60)),
        "guid": (bytes([0x24, 16]), b"\x10" + b"g" * 16),
        "varchar": (bytes([0xA7]) + struct.pack("<H", 8000) + latin, struct.pack("<H", 3000) + b"v" * 3000),
        "nvarchar": (bytes([0xE7]) + struct.pack("<H", 8000) + latin, struct.pack("<H", 2) + text("7")),
        "varbinary": (bytes([0xA5]) + struct.pack("<H", 8000), struct.pack("<H", 2000) + b"b" * 2000),
        "text": (bytes([0x23]) + struct.pack("<I", 100) + latin + b"\0\0", b"\1pTIMESTMP" + struct.pack("<I", 3) + b"txt"),
    }
    fits = {("int", "int"): 7, ("bigint", "int"): 7, ("varchar(10)", "int"): "7", ("nvarchar(10)", "nvarchar"): "7", ("int", "nvarchar"): 7,
            ("varchar(10)", "text"): "txt", ("char(5)", "nvarchar"): "7    ", ("decimal(10,2)", "int"): 7, ("float", "float"): 1e300}
    columns = ("bit", "int", "bigint", "decimal(10,2)", "money", "float", "date", "datetime", "datetimeoffset", "uniqueidentifier", "char(5)",
               "varchar(10)", "nvarchar(10)", "varchar(max)", "binary(3)", "varbinary(max)", "xml")
    with Beside(r):
        for column in columns:
            r.sql("DROP TABLE IF EXISTS dbo.other CREATE TABLE dbo.other (a %s NULL)" % column)
            for name, (kind, value) in kinds.items():
                with_them = raw(r, database="t")
                with_them.query("TRUNCATE TABLE dbo.other")
                with_them.query("INSERT BULK dbo.other (a %s)" % column)
                with_them.send(7, sent_as(kind, value))
                answer = with_them.answer()
                with_them.close()
                check(answer[-1][0] == "done" and (answer[-1][2] == 1 or answer[0][0] == "error"), "%s sent for %s" % (name, column), answer)
                if (column, name) in fits:
                    equal(r.sql("SELECT a FROM dbo.other"), [(fits[column, name],)], "%s sent for %s" % (name, column))


def test_endless_message(r):
    """Empty packets that never end a message, sent as fast as they are taken: closed long before --login-timeout."""
    for first in (b"", PRELOGIN):
        s = socket.create_connection(("127.0.0.1", r.port), 10)
        begin, empty = time.monotonic(), packet(0x10 if first else 0x12, b"", status=0) * 1000
        try:
            s.sendall(first)
            while time.monotonic() - begin < 10:
                s.sendall(empty)
            raise Failed("10 s of empty packets were taken")
        except (ConnectionError, socket.timeout) as e:
            check(not isinstance(e, socket.timeout), "neither taken nor closed")
        finally:
            s.close()


def test_memory_comes_back(r):
    """What was announced and never sent has not been taken."""
    rng, before = random.Random(SEED + 2), resident_kb(r)
    held = []
    for _ in range(60):
        s = rng.choice([logged_in, in_bulk, in_rpc])(r)
        s.sendall(huge_values(rng)[:-1])
        held.append(s)
    check(resident_kb(r) - before < 150000, "60 sessions took %d KB" % (resident_kb(r) - before))
    for s in held:
        s.close()
    wait_until("the sessions are over", 10, lambda: r.sql(OURS, "")[0][0] == 0)


if __name__ == "__main__":
    print("seed %d" % SEED)
    main(tests_of(sys.modules[__name__]), "--schedulers", "4", "--max-pending", "200", "--log-level", "error")
