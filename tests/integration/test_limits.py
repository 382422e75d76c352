#!/usr/bin/python3
"""fullrackd: what it lets in, what it keeps of a password, what it logs, and where each limit is."""
import os, re, signal, socket, struct, subprocess, sys, threading, time
from rack import *
import rack
from tds import HEADERS, Tds, text

ACK = ("loginack", "74000004")
PRELOGIN = bytes.fromhex("00000B0006" "0100110001" "FF" "000000000000" "02")


def raw(r, **more):
    return Tds(r.port, password=rack.PASSWORD, **more)


def logs_in(r):
    t = raw(r)
    ok = ACK in t.login_tokens
    t.close()
    return ok


class Few(Rack):
    """Few files may be open: by the soft limit, which the server may raise, or the hard one as well."""
    prefix = ["sh", "-c", "ulimit -n 200; exec \"$@\"", "sh"]


class Raised(Rack):
    prefix = ["sh", "-c", "ulimit -S -n 100; exec \"$@\"", "sh"]


def with_log(*options, kind=Rack):
    """A server whose log goes to a file."""
    path = os.path.join("/tmp", "fullrack-log-%d-%d" % (os.getpid(), time.monotonic_ns()))
    saved = os.dup(2)
    with open(path, "wb") as f:
        os.dup2(f.fileno(), 2)
    try:
        own = kind(*options)
    finally:
        os.dup2(saved, 2)
        os.close(saved)
    own.log = lambda: open(path, encoding="utf-8").read()
    own.log_path = path
    return own


def close(own):
    own.close()
    own.remove()
    if hasattr(own, "log_path"):
        os.unlink(own.log_path)


def is_closed(s, seconds):
    """The server ends the connection within that time."""
    s.settimeout(seconds)
    try:
        while s.recv(65536):
            pass
        return True
    except ConnectionError:
        return True
    except socket.timeout:
        return False


def connect(r):
    return socket.create_connection(("127.0.0.1", r.port), 20)


# -- who comes in

def test_where_it_listens(r):
    program, env = os.path.join(rack.BUILD, "fullrackd"), dict(os.environ, FULLRACKD_PASSWORD="x")
    for options, allowed in (([], False), (["--tls-self-signed", "--no-password"], False), (["--tls-self-signed"], True),
                             (["--allow-insecure-remote"], True), (["--allow-insecure-remote", "--no-password"], True)):
        p = subprocess.Popen([program, "--listen", "0.0.0.0:0"] + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        line = p.stdout.readline()
        p.terminate()
        out, err = p.communicate(timeout=20)
        equal((p.returncode, "listening" in line), (0, True) if allowed else (2, False), "--listen 0.0.0.0 %s" % options)
        check(allowed or "--allow-insecure-remote" in err, "message", err)


def test_the_password_is_not_kept(r):
    """Neither in the environment nor anywhere in memory, whatever logged in; where others may not look at all, the better."""
    program = os.path.join(rack.BUILD, "fullrackd")
    clear, more = rack.PASSWORD.encode(), readable(r)

    class Readable(Rack):
        environment = more
    own = Readable("--log-level", "error")
    try:
        check(logs_in(own), "login with the environment's password")
        with open("/proc/%d/environ" % own.server.pid, "rb") as f:
            environment = f.read()
        check(b"PATH=" in environment, "the environment is read", environment)
        check(clear not in environment, "the environment holds the password")
    finally:
        close(own)
    # from a file: a sanitizer keeps a copy of the environment
    p = subprocess.Popen([program, "--listen", "127.0.0.1:0", "--password-file", r.file("password", clear + b"\n"), "--log-level", "error"],
                         stdout=subprocess.PIPE, text=True, env=dict(os.environ, **more))
    try:
        port = int(p.stdout.readline().rsplit(":", 1)[1])
        check(ACK in Tds(port, password=rack.PASSWORD).login_tokens, "login")
        check(ACK not in Tds(port, password="wrong").login_tokens, "wrong password")
        look_for_password(p.pid, clear)
    finally:
        p.terminate()
        equal(p.wait(10), 0, "exit status")
        p.stdout.close()


def readable(r):
    """Only root may look into the server's memory: for others one is started that cannot forbid it."""
    if os.getuid() == 0:
        return {}
    try:
        with open("/proc/%d/mem" % r.server.pid, "rb"):
            raise Failed("another process of the user can read the server's memory")
    except PermissionError:
        pass
    source, library = r.file("readable.c", "int prctl(int option, ...)\n{\n    (void)option;\n    return 0;\n}\n"), os.path.join(r.dir, "readable.so")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-o", library, source], check=True)
    asan = os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": asan + ":" * bool(asan) + "verify_asan_link_order=0"}


def look_for_password(pid, clear):
    looked = 0
    wire = bytes(((b << 4 | b >> 4) & 0xFF) ^ 0xA5 for b in text(rack.PASSWORD))
    with open("/proc/%d/maps" % pid) as maps, open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in maps:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if m is None or "[v" in line:
                continue
            begin, end = int(m.group(1), 16), int(m.group(2), 16)
            if end - begin > 1 << 30:       # a sanitizer's bookkeeping
                continue
            for at in range(begin, end, 16 << 20):
                mem.seek(at)
                data = mem.read(min(end - at, (16 << 20) + 4096))
                looked += len(data)
                for what in (clear, text(rack.PASSWORD), wire):
                    check(what not in data, "the password is in memory: " + line)
    check(looked > 1 << 20, "only %d bytes were looked at" % looked)


def test_wrong_passwords_take_their_time(r):
    """At once they take as long as a few at a time, and take no session from who has the right one."""
    own = Rack("--max-sessions", "2")
    try:
        answers, begin = [], time.monotonic()

        def wrong(i):
            t = Tds(own.port, password="wrong%d" % i)
            answers.append(t.login_tokens)
        threads = [threading.Thread(target=wrong, args=(i,)) for i in range(24)]
        for t in threads:
            t.start()
        wait_until("the first one is refused", 10, lambda: answers)
        check(logs_in(own), "a login with the right password, among them")
        good_after = time.monotonic() - begin
        for t in threads:
            t.join()
        took = time.monotonic() - begin
        equal([a for a in answers if ("error", 18456) not in [x[:2] for x in a]], [], "answers")
        check(took >= 6 * 0.3 - 0.05, "24 wrong ones took only %.2f s" % took)
        check(good_after <= took + 0.5, "the right one came after %.2f of %.2f s" % (good_after, took))
    finally:
        close(own)


def test_wrong_passwords_end(r):
    """However many wrong ones queue: who has not had its turn within --login-timeout gets none."""
    own = with_log("--login-timeout", "1")
    try:
        answers, begin = [], time.monotonic()

        def wrong(i):
            answers.append(Tds(own.port, password="wrong%d" % i).login_tokens)
        threads = [threading.Thread(target=wrong, args=(i,)) for i in range(80)]      # 6 s of turns
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        took = time.monotonic() - begin
        equal([a for a in answers if ("error", 18456) not in [x[:2] for x in a]], [], "answers")
        equal(len(answers), 80, "number of answers")
        check(took < 4.5, "80 wrong ones took %.2f s with --login-timeout 1" % took)
        check(own.log().count("login failed") < 80, "all were looked at")
        check(logs_in(own), "a login after them")
    finally:
        close(own)


def test_password_lengths(r):
    """The longest one that a login can send is let in; a longer one would let nobody in."""
    for n, allowed in ((128, True), (129, False), (600, False)):
        for by_file in (True, False):
            path = r.file("long", b"\xc3\xa4" * n + b"\n")
            env = dict(os.environ) if by_file else dict(os.environ, FULLRACKD_PASSWORD="\xe4" * n)
            p = subprocess.Popen([os.path.join(rack.BUILD, "fullrackd"), "--listen", "127.0.0.1:0"] + ["--password-file", path] * by_file,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
            line = p.stdout.readline()
            if allowed:
                check(ACK in Tds(int(line.rsplit(":", 1)[1]), password="\xe4" * n).login_tokens, "a password of %d characters" % n)
            p.terminate()
            err = p.communicate(timeout=20)[1]
            equal(p.returncode, 0 if allowed else 2, "exit status with %d characters" % n)
            check(allowed or "longer than the 128 characters" in err, "message", err)


# -- open files

def open_files(own):
    with open("/proc/%d/limits" % own.server.pid) as f:
        return next(line for line in f if line.startswith("Max open files")).split()[3:5]


def cpu_seconds(own):
    with open("/proc/%d/stat" % own.server.pid) as f:
        return sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")


def test_open_files(r):
    """The soft limit is raised; where the hard one is short, that is said, and running out of files takes no CPU."""
    own = with_log(kind=Raised)
    try:
        soft, hard = open_files(own)
        equal(soft, hard, "the soft limit")
    finally:
        close(own)
    own, held = with_log(kind=Few), []
    try:
        check("200 files may be open" in own.log(), "log", own.log())
        held = [connect(own) for _ in range(220)]
        wait_until("none is left", 10, lambda: "connections wait" in own.log())
        begin, cpu = time.monotonic(), cpu_seconds(own)
        time.sleep(0.5)         # what is measured is the CPU of that time
        used, took = cpu_seconds(own) - cpu, time.monotonic() - begin
        check(used < took / 3, "%.2f s of CPU in %.2f s" % (used, took))
        equal(own.log().count("connections wait"), 1, "lines in the log")
        for s in held:
            s.close()
        check(logs_in(own), "a login when there are files again")
    finally:
        for s in held:
            s.close()
        close(own)


def test_half_open(r):
    """Who does not finish the login goes, and takes no session meanwhile."""
    own = with_log("--login-timeout", "1", "--max-sessions", "2", "--tls-self-signed")
    try:
        silent = [connect(own) for _ in range(6)]
        half = connect(own)
        half.sendall(struct.pack(">BBHHBB", 0x12, 1, 26, 0, 1, 0) + PRELOGIN[:7])
        tls = connect(own)
        tls.sendall(struct.pack(">BBHHBB", 0x12, 1, 26, 0, 1, 0) + PRELOGIN[:-1] + b"\1")
        slow, end = connect(own), time.monotonic() + 8
        check(logs_in(own), "another login meanwhile")
        slow.setblocking(False)
        closed = False
        while not closed and time.monotonic() < end:
            try:
                slow.send(b"\x12")
                closed = slow.recv(100) == b""
            except BlockingIOError:
                pass
            except ConnectionError:
                closed = True
            time.sleep(0.1)
        check(closed, "one byte after the other is in time for ever")
        for what, s in [("silent", s) for s in silent] + [("half a prelogin", half), ("half a handshake", tls)]:
            check(is_closed(s, 5), what + " stays open")
        check(own.log().count("no whole login within --login-timeout") >= 8, "log", own.log())
    finally:
        close(own)


def test_too_many_pending(r):
    own = Rack("--max-pending", "5")
    try:
        s = [connect(own) for _ in range(8)]
        for i in range(3):
            check(is_closed(s[i], 5), "connection %d had to make room" % i)
        check(logs_in(own), "a login among them")
        for i in range(4, 8):
            check(not is_closed(s[i], 0.05), "connection %d stays" % i)
    finally:
        close(own)


# -- who stops

def test_idle(r):
    own = Rack("--idle-timeout", "1")
    try:
        own.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
        idle, busy = raw(own, database="t"), raw(own, database="t")
        idle.query("BEGIN TRANSACTION INSERT dbo.t VALUES (1)")
        begin = time.monotonic()
        busy.batch("WAITFOR DELAY '00:00:01.500' INSERT dbo.t VALUES (2)")      # waits for the other's lock as well
        check(is_closed(idle.s, 5), "the idle session stays")
        check(time.monotonic() - begin >= 0.9, "it was closed too soon")
        equal(busy.answer()[-1][0], "done", "a request of more than a second")
        equal(own.sql("SELECT id FROM dbo.t"), [(2,)], "rows")
    finally:
        close(own)


def test_stalled(r):
    """Half a message, a byte now and then, an answer that nobody takes: cut off; packet after packet: not."""
    own = with_log("--stall-timeout", "2")
    try:
        own.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
        half, drip, deaf, bulk = raw(own), raw(own), raw(own), raw(own, database="t")
        half.write(struct.pack(">BBHHBB", 1, 1, 100, 0, 1, 0) + b"\0" * 20)
        deaf.batch("WITH n AS (SELECT 1 AS x FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) v(x)) SELECT REPLICATE('x', 8000) "
                   "FROM n a, n b, n c, n d, n e")
        drip.write(struct.pack(">BBHHBB", 1, 1, 100, 0, 1, 0))
        bulk.query("INSERT BULK dbo.t (id int)")
        bulk.send(7, bytes.fromhex("81 0100 00000000 0800 38 00"), status=0)
        dripped = False
        drip.s.setblocking(False)
        for i in range(10):
            bulk.send(7, b"\xd1" + struct.pack("<i", i), status=0)
            try:
                drip.s.send(b"\0")
                dripped = dripped or drip.s.recv(1) == b""
            except BlockingIOError:
                pass
            except ConnectionError:
                dripped = True
            time.sleep(0.3)
        check(dripped, "a byte now and then keeps a message open")
        check(is_closed(half.s, 5), "half a message stays open")
        bulk.send(7, b"\xfd" + b"\0" * 12)
        equal(bulk.answer()[-1][2], 10, "rows of a slow load")
        wait_until("the deaf one's session is over", 10, lambda: own.sql("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'tds.py'"
                                                                         " AND session_id <> @@SPID", "")[0][0] == 1)
        check("takes nothing for longer than --stall-timeout" in own.log(), "log", own.log())
        equal(own.sql("SELECT COUNT(*) FROM dbo.t"), [(10,)], "rows")
    finally:
        close(own)


def test_keepalive(r):
    """The server's side of an idle connection asks after a minute whether the client's host is there."""
    t = raw(r)
    mine = "%04X" % t.s.getsockname()[1]
    def timer():
        with open("/proc/net/tcp") as f:
            lines = [line.split() for line in f.readlines()[1:]]
        kind, when = next(x[5] for x in lines if x[2].endswith(":" + mine) and x[3] == "01").split(":")
        # 1: the login's answer is under way
        return kind == "02" and int(when, 16)
    ticks = wait_until("keepalive is its timer", 5, timer)
    check(ticks <= 60 * os.sysconf("SC_CLK_TCK"), "its timer", ticks)
    t.close()


def test_too_long(r):
    """More than 64 MiB of SQL: dropped as it comes, told so, and the session goes on."""
    t = raw(r)
    piece = text("/* %s */" % ("x" * 16000))
    t.write(struct.pack(">BBHHBB", 1, 0, 8 + len(HEADERS), 0, 1, 0) + HEADERS)
    packet = struct.pack(">BBHHBB", 1, 0, 8 + len(piece), 0, 1, 0) + piece
    for _ in range((65 << 20) // len(piece)):
        t.s.sendall(packet)
    t.send(1, text(" SELECT 1"))
    check("64 MiB" in str(t.answer()), "the answer")
    equal(t.query("SELECT 1")[0][0], "data", "the session goes on")
    t.close()


# -- the log

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info|debug) fullrackd: \S.*$")


def test_log(r):
    for options, levels in ((["-vv"], {"warning", "info", "debug"}), (["--log-level", "info"], {"warning", "info"}), ([], {"warning"}),
                            (["--log-level", "error"], set())):
        own = with_log(*options)
        try:
            Tds(own.port, user="eve\n2026-01-01T00:00:00.000Z error fullrackd: forged", password="Secret-of-eve")
            check(logs_in(own), "login")
            with own.connect("") as db:
                db.cursor().execute("SELECT 'x' + %s", ("y",))
        finally:
            own.close()
        log = own.log()
        for line in log.splitlines():
            check(LINE.match(line), "a line of the log", line)
        equal({LINE.match(line).group(1) for line in log.splitlines()}, levels, "levels with %s" % options)
        check(("login failed for user 'eve?2026" in log) == bool(levels), "the failed login", log)
        check("Secret-of-eve" not in log and rack.PASSWORD not in log, "a password is in the log", log)
        os.unlink(own.log_path)
        own.remove()


# -- the end

def test_stop_lets_requests_end(r):
    own = Rack()
    own.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    idle, busy = raw(own, database="t"), raw(own, database="t")
    idle.query("BEGIN TRANSACTION")
    busy.batch("WAITFOR DELAY '00:00:01' INSERT dbo.t VALUES (1) PRINT 'through'")
    wait_until("it runs", 5, lambda: own.sql("SELECT COUNT(*) FROM sys.dm_exec_requests", "")[0][0] > 1)
    own.server.terminate()
    check(is_closed(idle.s, 0.9), "a session without a request stays")
    busy.s.shutdown(socket.SHUT_WR)         # at a stop the end of what comes in cancels nothing
    check("through" in str(busy.answer()), "the answer of the running one")
    check(is_closed(busy.s, 5), "its connection stays")
    equal(own.server.wait(10), 0, "exit status")
    own.server.stdout.close()
    own.start()
    equal(own.sql("SELECT id FROM dbo.t"), [(1,)], "rows after a restart")
    close(own)


def test_stop_does_not_wait_for_ever(r):
    for options, signals in ((["--stop-timeout", "1"], [signal.SIGTERM]), ([], [signal.SIGINT]), ([], [signal.SIGTERM, signal.SIGTERM])):
        own = Rack(*options)
        busy, begin = raw(own), time.monotonic()
        busy.batch("WHILE 1 = 1 SET NOCOUNT ON")
        wait_until("it runs", 5, lambda: own.sql("SELECT COUNT(*) FROM sys.dm_exec_requests", "")[0][0] > 1)
        for number in signals:
            own.server.send_signal(number)
            if signals.count(number) > 1:
                wait_until("it does not listen any more", 5, lambda: not listens(own))
        equal(own.server.wait(10), 0, "exit status after %r" % (signals,))
        check(time.monotonic() - begin < 4, "the end took too long after %r" % (signals,))
        own.server.stdout.close()
        own.remove()


def listens(own):
    """A login is answered with something else than the end of the connection."""
    try:
        return logs_in(own)
    except (EOFError, OSError):
        return False


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
