#!/usr/bin/python3
"""fullrackd's BACKUP DATABASE, RESTORE VERIFYONLY and RESTORE DATABASE: what is written comes back, and damage is found."""
import glob, itertools, os, resource, shutil, signal, sys, threading, zlib
from rack import *

ROWS = 40000
HEAP = "CREATE TABLE dbo.t (id int NOT NULL, nr int NOT NULL, v nvarchar(60) NULL, d decimal(10,2) NULL, x AS id + 1)"
KEYED = ("CREATE TABLE dbo.k (id int IDENTITY NOT NULL PRIMARY KEY, at datetime2(3) NULL, g uniqueidentifier NULL, b varbinary(40) NULL,"
         " m money NULL, f float NULL, t nvarchar(max) NULL, CONSTRAINT ck CHECK (m >= 0))")
FOLDERS = []


def devices(names):
    return ", ".join("DISK = N'%s'" % n for n in names)


def stripes(r, n, name="s"):
    """n files over the three folders."""
    return [os.path.join(FOLDERS[i % len(FOLDERS)], "%s.%d.bak" % (name, i)) for i in range(n)]


def clear():
    for folder in FOLDERS:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            os.remove(path) if not os.path.isdir(path) or os.path.islink(path) else shutil.rmtree(path)


def rows_file(r, load, rows=ROWS):
    return r.file("rows.%d.txt" % load, "".join("%d\t%d\t%s\t%d.25\n" % (i, load, "\u017e" * (i % 40), i) for i in range(rows)))


def prepare(r, loads=2):
    """Database t: a heap in segments, a keyed table, a view."""
    clear()
    r.fresh(HEAP)
    for load in range(loads):
        r.fullrack("load", "-q", "dbo.t", rows_file(r, load), "--columns", "id,nr,v,d")
    r.sql("DROP TABLE IF EXISTS dbo.k; DROP VIEW IF EXISTS dbo.w")
    r.sql(KEYED)
    r.sql("INSERT INTO dbo.k (at, g, b, m, f, t) VALUES ('2024-02-29 12:34:56.789', '6F9619FF-8B86-D011-B42D-00C04FC964FF', 0x00FF10, 12.34,"
          " 1.5e300, REPLICATE(CAST(N'\u6f22' AS nvarchar(max)), 9000)), (NULL, NULL, NULL, NULL, NULL, NULL), ('0001-01-01', NULL, 0x, 0, -0.0, N'')")
    r.sql("CREATE VIEW dbo.w AS SELECT COUNT(*) AS n FROM dbo.t")


def content(r, database):
    return (r.sql("SELECT id, nr, v, d, x FROM dbo.t ORDER BY nr, id", database), r.sql("SELECT * FROM dbo.k ORDER BY id", database),
            r.sql("SELECT n FROM dbo.w", database), r.sql("SELECT name, type FROM sys.objects ORDER BY name", database))


def backup(r, names, options="INIT, CHECKSUM", database="t"):
    r.sql("BACKUP DATABASE [%s] TO %s WITH %s" % (database, devices(names), options), "master")


def verify(r, names):
    r.sql("RESTORE VERIFYONLY FROM %s WITH CHECKSUM" % devices(names), "master")


def restore(r, names, database, options=""):
    r.sql("RESTORE DATABASE [%s] FROM %s%s" % (database, devices(names), " WITH " + options if options else ""), "master")


def refused(r, number, sql, *words):
    """The statement fails with this error and then 3013."""
    try:
        r.sql(sql, "master")
    except pymssql.Error as e:
        text = str(e)
        check(str(number) in text or e.args[0] == number, "error %d of: %s" % (number, sql[:200]), text)
        for w in words:
            check(w in text, "%r in the error" % w, text)
        return text
    raise Failed("no error, expected %d: %s" % (number, sql[:200]))


def messages(r, sql, user="sa", password=None):
    """Everything that the server says."""
    seen = []
    with pymssql.connect(server="127.0.0.1", port=r.port, user=user, password=password or PASSWORD, database="master", tds_version="7.3",
                         autocommit=True) as db:
        db._conn.set_msghandler(lambda state, severity, server, proc, line, text: seen.append(text.decode() if isinstance(text, bytes) else text))
        try:
            db.cursor().execute(sql)
        except pymssql.Error as e:
            seen.append(str(e))
    return seen


def when_free(run):
    """A session that has just been closed may be in the database for a moment."""
    def tried():
        try:
            run()
            return True
        except pymssql.Error as e:
            if e.args[0] in (3101, 3702):
                return False
            raise
    wait_until("nobody is in the database", 10, tried)


def drop(r, *names):
    for n in names:
        when_free(lambda: r.sql("DROP DATABASE IF EXISTS [%s]" % n, "master"))


def test_seven_stripes_restored_on_another_server(r):
    prepare(r)
    names = stripes(r, 7)
    for options in ("INIT, CHECKSUM", "INIT, COMPRESSION, MAXTRANSFERSIZE = 65536, BLOCKSIZE = 4096, BUFFERCOUNT = 9, STATS = 25, NAME = N'x', COPY_ONLY",
                    "FORMAT, NO_COMPRESSION, MAXTRANSFERSIZE = 4194304"):
        backup(r, names, options)
        equal(sorted(os.listdir(FOLDERS[0])), ["s.0.bak", "s.3.bak", "s.6.bak"], "files of the first folder")
        verify(r, names)
        other = Rack(*itertools.chain.from_iterable(("--backup-root", f) for f in FOLDERS))
        try:
            # in any order: each stripe knows its place
            restore(other, names[::-1], "elsewhere]x".replace("]", "]]"))
            want = content(r, "t")
            equal(len(want[0]), 2 * ROWS, "rows compared")
            check(content(other, "elsewhere]x") == want, "the restored database is the same, row for row")
            # it is a database like any other, also after a restart
            other.sql("INSERT INTO dbo.t (id, nr) VALUES (-1, -1); DELETE FROM dbo.t WHERE nr = 0", "elsewhere]x")
            other.sql("INSERT INTO dbo.k (m) VALUES (1)", "elsewhere]x")
            equal(other.sql("SELECT MAX(id) FROM dbo.k", "elsewhere]x"), [(4,)], "the identity goes on")
            other.kill_server()
            other.start()
            equal(other.sql("SELECT COUNT(*) FROM dbo.t", "elsewhere]x"), [(ROWS + 1,)], "rows after a restart")
        finally:
            other.close()
            other.remove()


def test_beside_its_original(r):
    """Two databases of one origin in one server share nothing."""
    prepare(r)
    names = stripes(r, 2)
    backup(r, names)
    drop(r, "u")
    restore(r, names, "u")
    want = content(r, "t")
    check(content(r, "u") == want, "the same content")
    r.sql("TRUNCATE TABLE dbo.t", "t")
    check(content(r, "u") == want, "segments of its own")
    r.sql("DROP TABLE dbo.t", "u")
    refused(r, 3154, "RESTORE DATABASE u FROM " + devices(names), "existing 'u'")
    when_free(lambda: restore(r, names, "u", "REPLACE, MOVE N'u' TO N'/somewhere', STATS"))
    check(content(r, "u") == want, "replaced")
    r.kill_server()
    r.start()
    check(content(r, "u") == want, "replaced, after a restart")
    equal(r.sql("SELECT COUNT(*) FROM sys.databases WHERE name = 'u'", "master"), [(1,)], "one of that name")
    with r.connect("u"):
        refused(r, 3101, "RESTORE DATABASE u FROM %s WITH REPLACE" % devices(names))
    drop(r, "u")


def test_messages(r):
    prepare(r)
    names = stripes(r, 2)
    seen = messages(r, "BACKUP DATABASE t TO %s WITH INIT, STATS = 50" % devices(names))
    check(re.fullmatch(r"BACKUP DATABASE successfully processed \d+ pages in \d+\.\d{3} seconds \(\d+\.\d{3} MB/sec\)\.", seen[-1]), "3014", seen)
    check(re.fullmatch(r"Processed \d+ pages for database 't', file 't' on file 1\.", seen[-2]), "4035", seen)
    check("100 percent processed." in seen, "progress", seen)
    seen = messages(r, "RESTORE VERIFYONLY FROM %s WITH CHECKSUM" % devices(names))
    equal(seen, ["The backup set on file 1 is valid."], "3262")
    seen = messages(r, "RESTORE DATABASE m FROM %s WITH MOVE 'a' TO 'b'" % devices(names))
    check(seen[0].startswith("MOVE has no effect") and seen[-1].startswith("RESTORE DATABASE successfully processed"), "of a restore", seen)
    drop(r, "m")
    equal(messages(r, "BACKUP DATABASE nowhere TO DISK = 'x'")[:2], ["Database 'nowhere' does not exist. Make sure that the name is entered correctly.",
                                                                    "BACKUP DATABASE is terminating abnormally."], "the reason, and that it ends")
    refused(r, 911, "BACKUP DATABASE nowhere TO " + devices(names))
    refused(r, 3147, "BACKUP DATABASE tempdb TO " + devices(names))
    refused(r, 3108, "RESTORE DATABASE master FROM %s WITH REPLACE" % devices(names))
    refused(r, 3021, "BEGIN TRANSACTION; BACKUP DATABASE t TO DISK = 'x.bak'")
    refused(r, 40517, "BACKUP DATABASE t TO " + devices(names), "WITH INIT")
    refused(r, 3217, "BACKUP DATABASE t TO %s WITH INIT, MAXTRANSFERSIZE = 100000" % devices(names))
    refused(r, 40517, "BACKUP DATABASE t TO DISK = 'x' WITH DIFFERENTIAL")
    refused(r, 40517, "BACKUP LOG t TO DISK = 'x'")
    refused(r, 40517, "BACKUP DATABASE t TO URL = 'https://x/y'")
    refused(r, 102, "BACKUP DATABASE t TO DISK = 'x' WITH NONSENSE")
    # in a CATCH the last one is seen, as in SQL Server
    equal(r.sql("BEGIN TRY BACKUP DATABASE nowhere TO DISK = 'x' END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH", "master"), [(3013,)], "caught")
    # a name that is too long is refused, not cut
    for n in (129, 239, 600):
        for sql in ("BACKUP DATABASE @d TO DISK = 'x' WITH INIT", "RESTORE DATABASE @d FROM " + devices(names)):
            seen = messages(r, "DECLARE @d nvarchar(900) = REPLICATE(N'n', %d); %s" % (n, sql))
            check(seen[0].startswith("The database name that starts with 'nnn") and "Maximum length is 128" in seen[0], "103 of %d" % n, seen)
    equal(r.sql("SELECT name FROM sys.databases WHERE name LIKE 'nnn%'", "master"), [], "databases with a long name")
    r.sql("DECLARE @d nvarchar(900) = REPLICATE(N'n', 128); RESTORE DATABASE @d FROM " + devices(names), "master")
    drop(r, "n" * 128)
    # names and paths in variables; a relative path lies in the first folder
    r.sql("DECLARE @d sysname = N't', @p nvarchar(260) = N'relative.bak', @n int = 3; BACKUP DATABASE @d TO DISK = @p WITH INIT, BUFFERCOUNT = @n", "master")
    check(os.path.exists(os.path.join(FOLDERS[0], "relative.bak")), "the relative path")


def test_only_in_the_folders(r):
    prepare(r, 1)
    outside = os.path.join(r.dir, "outside")
    os.makedirs(outside, exist_ok=True)
    os.symlink(outside, os.path.join(FOLDERS[0], "link"))
    os.symlink(os.path.join(outside, "file"), os.path.join(FOLDERS[0], "file.bak"))
    os.mkdir(os.path.join(FOLDERS[0], "sub"))
    os.mkfifo(os.path.join(FOLDERS[0], "fifo"))
    for path in (os.path.join(outside, "x.bak"), FOLDERS[0] + "/../outside/x.bak", FOLDERS[0] + "/link/x.bak", FOLDERS[0] + "/file.bak",
                 FOLDERS[0] + "-beside/x.bak", FOLDERS[0] + "/sub", FOLDERS[0] + "/", FOLDERS[0] + "/..", "../outside/x.bak", FOLDERS[0] + "/fifo",
                 FOLDERS[0] + "/missing/x.bak", FOLDERS[0] + "/sub/" + "n" * 300, ""):
        refused(r, 3201, "BACKUP DATABASE t TO DISK = N'%s' WITH FORMAT" % path, "Cannot open backup device")
        refused(r, 3201, "RESTORE VERIFYONLY FROM DISK = N'%s'" % path)
    equal(os.listdir(outside), [], "files outside")
    backup(r, [FOLDERS[0] + "/sub/../sub/./in.bak"])
    check(os.path.exists(FOLDERS[0] + "/sub/in.bak"), "below a folder")
    # one file twice
    refused(r, 3201, "BACKUP DATABASE t TO DISK = N'%s/a', DISK = N'%s/sub/../a'" % (FOLDERS[0], FOLDERS[0]), "in use")
    equal([n for n in os.listdir(FOLDERS[0]) if n.startswith("a")], [], "what is left of it")
    # INIT is for backups, FORMAT for anything
    with open(FOLDERS[1] + "/note.txt", "w") as f:
        f.write("not a backup\n")
    refused(r, 3241, "BACKUP DATABASE t TO DISK = N'%s/note.txt' WITH INIT" % FOLDERS[1])
    equal(open(FOLDERS[1] + "/note.txt").read(), "not a backup\n", "the file that is no backup")
    backup(r, [FOLDERS[1] + "/note.txt"], "FORMAT")
    verify(r, [FOLDERS[1] + "/note.txt"])
    # nor is what has the name in between: but for an empty one, or what a killed server left
    with open(FOLDERS[1] + "/p.partial", "w") as f:
        f.write("not a backup\n")
    for options in ("", " WITH INIT"):
        refused(r, 3241, "BACKUP DATABASE t TO DISK = N'%s/p'%s" % (FOLDERS[1], options), "p.partial")
    equal(open(FOLDERS[1] + "/p.partial").read(), "not a backup\n", "the file that is no backup")
    backup(r, [FOLDERS[1] + "/p"], "FORMAT")
    open(FOLDERS[1] + "/q.partial", "w").close()
    r.sql("BACKUP DATABASE t TO DISK = N'%s/q'" % FOLDERS[1], "master")
    equal(sorted(os.listdir(FOLDERS[1])), ["note.txt", "p", "q"], "files of the second folder")
    bare = Rack()
    try:
        refused(bare, 3201, "BACKUP DATABASE master TO DISK = N'%s/x'" % FOLDERS[0], "--backup-root")
    finally:
        bare.close()
        bare.remove()


def damage(names, how):
    """Copies of the stripes with something wrong, and what to call them."""
    out = []
    for n in names:
        copy = n.replace(".bak", ".bad")
        shutil.copy(n, copy)
        out.append(copy)
    return how(out) or out


def flip(i, at, bit=1):
    def how(names):
        size = os.path.getsize(names[i])
        with open(names[i], "r+b") as f:
            where = int(size * at) if isinstance(at, float) else at % size
            f.seek(where)
            byte = f.read(1)[0]
            f.seek(where)
            f.write(bytes([byte ^ bit]))
    return how


def cut(i, size):
    def how(names):
        os.truncate(names[i], size if size >= 0 else os.path.getsize(names[i]) + size)
    return how


def records(data):
    at, out = 0, []
    while at < len(data):
        n = int.from_bytes(data[at + 52:at + 56], "little")
        out.append(data[at:at + n])
        at += n
    return out


def rewrite(change):
    """change(lists of records) on all stripes."""
    def how(names):
        all_records = [records(open(n, "rb").read()) for n in names]
        change(all_records)
        for n, rs in zip(names, all_records):
            with open(n, "wb") as f:
                f.write(b"".join(rs))
    return how


def swap_records(lists):
    lists[0][1], lists[1][1] = lists[1][1], lists[0][1]


def swap_within(lists):
    rs = max(lists, key=len)
    rs[1], rs[2] = rs[2], rs[1]


def lose_record(lists):
    rs = max(lists, key=len)
    del rs[2]


def sealed(record):
    """The record with the checksum of what it is now."""
    record[12:16] = bytes(4)
    record[12:16] = zlib.crc32(record).to_bytes(4, "little")
    return bytes(record)


def move_piece(to):
    """The second piece of the database's file says that it lies elsewhere; its record is intact, and as many bytes come."""
    def change(lists):
        where = {}
        for rs in lists:
            for i, record in enumerate(rs):
                if record[10] == 3 and record[60:64] == bytes(4):
                    where[int.from_bytes(record[64:72], "little")] = rs, i
        rs, i = where[65536]
        check(len(where) > 3 and 131072 in where, "pieces of the file", sorted(where))
        record = bytearray(rs[i])
        record[64:72] = to.to_bytes(8, "little")
        rs[i] = sealed(record)
    return change


def append_byte(names):
    with open(names[0], "ab") as f:
        f.write(b"\0")


def test_damage_is_found(r):
    prepare(r, 3)
    names = stripes(r, 5)
    options = "INIT, MAXTRANSFERSIZE = 65536"
    other = stripes(r, 5, "other")
    backup(r, other, options)
    for packed in (", COMPRESSION", ""):
        backup(r, names, options + packed)
        verify(r, names)
        size = min(os.path.getsize(n) for n in names)
        cases = [("flip %d of %d" % (at, i), flip(i, at, 1 << (at % 8)), (3189, 3241, 3203))
                 for i, at in itertools.product((0, 3), (0, 9, 11, 13, 17, 33, 37, 41, 49, 53, 57, 61, 65, 73, 79, 83, 200, 511, 512, 600, size // 2, size - 300,
                                                         size - 1))]
        cases += [("flip at %.2f" % at, flip(2, at), (3189, 3203, 3241)) for at in (0.1, 0.3, 0.7, 0.95)]
        cases += [("cut to %d" % n, cut(1, n), codes) for n, codes in ((0, (3241,)), (40, (3241,)), (512, (3203,)), (size // 2, (3203, 3189)), (-512, (3203,)),
                                                                      (-1, (3203,)))]
        cases += [("one more byte", append_byte, (3189,)),
                  ("records of two stripes swapped", rewrite(swap_records), (3189,)),
                  ("records of a stripe swapped", rewrite(swap_within), (3189,)),
                  ("a record lost", rewrite(lose_record), (3189,)),
                  ("a piece twice, another not at all", rewrite(move_piece(131072)), (3189,)),
                  ("a piece over two others", rewrite(move_piece(100000)), (3189,)),
                  ("a piece behind the end", rewrite(move_piece(1 << 40)), (3189,)),
                  ("one left out", lambda n: n[1:], (3132,)),
                  ("one twice", lambda n: n[:4] + n[:1], (3227,)),
                  ("one of another backup", lambda n: n[:4] + other[4:], (3258,)),
                  ("six of five", lambda n: n + other[:1], (3258,)),
                  ("no backup", lambda n: [open(n[0], "wb").write(b"x" * 5000) and n[0]] + n[1:], (3241,))]
        for what, how, codes in cases:
            bad = damage(names, how)
            for sql in ("RESTORE VERIFYONLY FROM %s WITH CHECKSUM" % devices(bad), "RESTORE DATABASE broken FROM " + devices(bad)):
                try:
                    r.sql(sql, "master")
                except pymssql.Error as e:
                    check(any(str(c) in str(e) for c in codes), "%s: one of %r" % (what, codes), str(e))
                else:
                    raise Failed("%s was not found by %s" % (what, sql[:30]))
            equal(r.sql("SELECT COUNT(*) FROM sys.databases WHERE name = 'broken'", "master"), [(0,)], "databases made of it: " + what)
        verify(r, names)
        equal(os.listdir(os.path.join(r.data, "spool")), [], "left in the spool folder")
    # stripes in another order are no damage
    verify(r, names[2:] + names[:2])


def test_while_loads_run(r):
    """Every backup has whole transactions: loads of one batch each, and two counters that move together."""
    prepare(r, 1)
    drop(r, "c")
    r.sql("CREATE TABLE dbo.p (v int NOT NULL); CREATE TABLE dbo.q (v int NOT NULL); INSERT INTO dbo.p VALUES (0); INSERT INTO dbo.q VALUES (0)")
    stop = threading.Event()
    failures = []

    def count():
        try:
            while not stop.is_set():
                r.sql("BEGIN TRANSACTION; UPDATE dbo.p SET v = v + 1; UPDATE dbo.q SET v = v + 1; COMMIT")
        except Exception as e:
            failures.append(e)

    def load():
        try:
            n = 1
            while not stop.is_set():
                r.fullrack("load", "-q", "dbo.t", rows_file(r, n), "--columns", "id,nr,v,d")
                n += 1
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=f) for f in (count, load)]
    for t in threads:
        t.start()
    loads, counts = set(), []
    try:
        for i in range(5):
            names = stripes(r, 3, "run%d" % i)
            backup(r, names, "INIT")
            verify(r, names)
            restore(r, names, "c")
            p, q = r.sql("SELECT p.v, q.v FROM dbo.p AS p CROSS JOIN dbo.q AS q", "c")[0]
            equal(p, q, "the two counters")
            counts.append(p)
            rows = r.sql("SELECT nr, COUNT(*), SUM(CAST(id AS bigint)), MIN(id), MAX(id) FROM dbo.t GROUP BY nr", "c")
            for got in rows:
                equal(got[1:], (ROWS, ROWS * (ROWS - 1) // 2, 0, ROWS - 1), "rows of load %d" % got[0])
            loads.add(len(rows))
            drop(r, "c")
    finally:
        stop.set()
        for t in threads:
            t.join()
    if failures:
        raise failures[0]
    check(counts == sorted(counts) and counts[0] < counts[-1] and len(loads) > 1, "work went on meanwhile", counts, loads)
    r.sql("DROP TABLE dbo.p; DROP TABLE dbo.q")


def test_a_full_disk_leaves_nothing(r):
    prepare(r, 4)
    names = stripes(r, 1)
    backup(r, names, "INIT")
    before = open(names[0], "rb").read()
    limit = len(before) // 2
    soft, hard = resource.prlimit(r.server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(r.server.pid, resource.RLIMIT_FSIZE, (limit, hard))
    try:
        refused(r, 3202, "BACKUP DATABASE t TO %s WITH INIT" % devices(names), "Write on")
        refused(r, 3202, "BACKUP DATABASE t TO DISK = N'new.bak'", "Write on")
    finally:
        resource.prlimit(r.server.pid, resource.RLIMIT_FSIZE, (soft, hard))
    equal([sorted(os.listdir(f)) for f in FOLDERS], [["s.0.bak"], [], []], "files afterwards")
    check(open(names[0], "rb").read() == before, "the older backup is as it was")
    equal(os.listdir(os.path.join(r.data, "spool")), [], "left in the spool folder")
    # a folder that is none
    refused(r, 3201, "BACKUP DATABASE t TO %s, DISK = N'%s/s.0.bak/x'" % (devices(stripes(r, 3, "n")), FOLDERS[0]))
    equal([sorted(os.listdir(f)) for f in FOLDERS], [["s.0.bak"], [], []], "files afterwards")
    # no room for a restore
    resource.prlimit(r.server.pid, resource.RLIMIT_FSIZE, (100000, hard))
    try:
        refused(r, 3202, "RESTORE DATABASE v FROM " + devices(names))
    finally:
        resource.prlimit(r.server.pid, resource.RLIMIT_FSIZE, (soft, hard))
    equal(r.sql("SELECT COUNT(*) FROM sys.databases WHERE name = 'v'", "master"), [(0,)], "databases made of it")


def kill_in_mid_backup(r, names):
    """True when the server died with some, and not all, of the data in the stripes."""
    partial = [n + ".partial" for n in names]

    def run(db):
        try:
            db.cursor().execute("BACKUP DATABASE t TO %s WITH FORMAT, COMPRESSION, MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 4" % devices(names))
        except pymssql.Error:
            pass

    def size(path):
        try:
            return os.path.getsize(path)
        except OSError:
            return 0

    db = r.connect("master")
    t = threading.Thread(target=run, args=(db,))
    t.start()
    end = time.monotonic() + 20
    while time.monotonic() < end and t.is_alive() and sum(map(size, partial)) < 20000:
        pass
    r.kill_server()
    t.join()
    return not any(os.path.exists(n) for n in names) and sum(map(size, partial)) >= 20000


def test_killed_in_mid_backup(r):
    prepare(r, 6)
    names = stripes(r, 3)
    partial = [n + ".partial" for n in names]
    for _ in range(10):
        if kill_in_mid_backup(r, names):
            break
        r.start()
        clear()
    else:
        raise Failed("none of 10 tries killed the server in mid-backup")
    equal([n for n in names if os.path.exists(n)], [], "stripes that look whole")
    r.start()
    refused(r, 3201, "RESTORE VERIFYONLY FROM " + devices(names))
    seen = messages(r, "RESTORE VERIFYONLY FROM " + devices(partial))
    check("is terminating abnormally" in str(seen) and "is valid" not in str(seen), "what is left does not verify", seen)
    equal(os.listdir(os.path.join(r.data, "spool")), [], "left in the spool folder")
    backup(r, names)
    verify(r, names)
    equal(glob.glob(FOLDERS[0] + "/*.partial"), [], "left by the killed one")


def test_ended_by_another(r):
    """KILL in mid-backup: the stripes go."""
    prepare(r, 6)
    names = stripes(r, 3)
    backup(r, names[:1], "INIT")
    kept = open(names[0], "rb").read()
    for _ in range(20):
        said = []
        db = r.connect("master")
        cur = db.cursor()
        cur.execute("SELECT @@SPID")
        spid = cur.fetchone()[0]

        def run():
            try:
                cur.execute("BACKUP DATABASE t TO %s WITH FORMAT, COMPRESSION, MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 4" % devices(names))
            except pymssql.Error as e:
                said.append(e)

        with r.connect("master") as other:
            killer = other.cursor()
            t = threading.Thread(target=run)
            t.start()
            end = time.monotonic() + 20
            while time.monotonic() < end and t.is_alive() and not os.path.exists(names[2] + ".partial"):
                pass
            killer.execute("KILL %d" % spid)
            t.join()
        wait_until("its session is gone", 10, lambda: not r.sql("SELECT 1 FROM sys.dm_exec_sessions WHERE session_id = %d AND session_id <> @@SPID" % spid, "master"))
        if said:
            break
        clear()
        backup(r, names[:1], "INIT")
        kept = open(names[0], "rb").read()
    check(said, "a backup was ended before it was through")
    equal([sorted(os.listdir(f)) for f in FOLDERS], [["s.0.bak"], [], []], "files afterwards")
    check(open(names[0], "rb").read() == kept, "the older backup is as it was")
    equal(os.listdir(os.path.join(r.data, "spool")), [], "left in the spool folder")


def test_the_other_name_is_the_server_s(r):
    """One stripe's name may not be another's while it is written."""
    prepare(r)
    path = os.path.join(FOLDERS[0], "same")
    refused(r, 3201, "BACKUP DATABASE t TO DISK = N'%s.partial', DISK = N'%s' WITH FORMAT" % (path, path), "end with .partial")
    equal([n for n in os.listdir(FOLDERS[0]) if n.startswith("same")], [], "files")


def test_a_name_that_cannot_be_given(r):
    """The second stripe does not get its name: nothing is taken away, and what is there is whole."""
    prepare(r, 6)
    names = stripes(r, 3)
    for _ in range(10):
        clear()
        said = []

        def run():
            try:
                backup(r, names, "FORMAT, COMPRESSION, MAXTRANSFERSIZE = 65536, BUFFERCOUNT = 4")
            except pymssql.Error as e:
                said.append(str(e))

        t = threading.Thread(target=run)
        t.start()
        end = time.monotonic() + 20
        while time.monotonic() < end and t.is_alive() and not os.path.exists(names[2] + ".partial"):
            pass
        try:
            os.mkdir(names[1])
        except FileExistsError:
            pass
        t.join()
        if said:
            break
    else:
        raise Failed("none of 10 tries came between a backup's begin and its end")
    check("3201" in said[0] and names[1] in said[0], "which one", said)
    equal([sorted(os.listdir(f)) for f in FOLDERS], [["s.0.bak"], ["s.1.bak", "s.1.bak.partial"], ["s.2.bak.partial"]], "files afterwards")
    verify(r, [names[0], names[1] + ".partial", names[2] + ".partial"])
    os.rmdir(names[1])
    backup(r, names)
    verify(r, names)


def files_of(r, name):
    return sorted(n for n in os.listdir(r.data) if re.fullmatch(name + r"(~\d+)?\.db", n))


def test_killed_while_it_replaces(r):
    """The new database is there and the old one not gone yet: the next start ends what was begun."""
    prepare(r, 2)
    names = stripes(r, 1)
    drop(r, "u")
    backup(r, names)
    r.sql("CREATE DATABASE u", "master")
    r.sql("CREATE TABLE dbo.old (id int NOT NULL)", "u")
    old = os.path.join(r.data, "u.db")
    r.kill_server()
    shutil.copy(old, old + ".kept")
    r.start()
    when_free(lambda: restore(r, names, "u", "REPLACE"))
    equal([n for n in files_of(r, "u") if n == "u.db"], [], "the old file")
    r.kill_server()
    os.rename(old + ".kept", old)
    equal(len(files_of(r, "u")), 2, "both are there")
    r.start()
    equal(r.sql("SELECT COUNT(*) FROM sys.databases WHERE name = 'u'", "master"), [(1,)], "databases of that name")
    check(content(r, "u") == content(r, "t"), "it is the new one")
    equal(len(files_of(r, "u")), 1, "files of it")
    drop(r, "u")
    # one of the name that it did not replace is nobody's to remove
    r.sql("CREATE DATABASE u", "master")
    r.kill_server()
    r.start()
    equal(files_of(r, "u"), ["u.db"], "files of another u")
    drop(r, "u")


def test_rights(r):
    prepare(r, 1)
    path = "DISK = N'%s/r.bak'" % FOLDERS[0]
    for sql in ("DROP LOGIN reader", "DROP USER reader", "DROP DATABASE IF EXISTS mine"):
        try:
            r.sql(sql, "t" if "USER" in sql else "master")
        except pymssql.Error:
            pass
    r.sql("CREATE LOGIN reader WITH PASSWORD = 'Reader-Test-1'; ", "master")
    r.sql("CREATE USER reader FOR LOGIN reader", "t")

    def as_reader(sql):
        with pymssql.connect(server="127.0.0.1", port=r.port, user="reader", password="Reader-Test-1", database="master", tds_version="7.3",
                             autocommit=True) as db:
            db.cursor().execute(sql)

    def denied(number, sql):
        seen = messages(r, sql, "reader", "Reader-Test-1")
        words = {262: "permission denied in database", 3110: "does not have permission to RESTORE"}[number]
        check(len(seen) > 1 and words in seen[0] and "is terminating abnormally" in seen[1], "denied: " + sql, seen)

    denied(262, "BACKUP DATABASE t TO " + path)
    r.sql("GRANT BACKUP DATABASE TO reader")
    as_reader("BACKUP DATABASE t TO " + path)
    r.sql("REVOKE BACKUP DATABASE FROM reader")
    denied(262, "BACKUP DATABASE t TO %s WITH INIT" % path)
    r.sql("ALTER ROLE db_backupoperator ADD MEMBER reader")
    as_reader("BACKUP DATABASE t TO %s WITH INIT" % path)
    denied(262, "RESTORE VERIFYONLY FROM " + path)
    denied(262, "RESTORE DATABASE mine FROM " + path)
    denied(3110, "RESTORE DATABASE t FROM %s WITH REPLACE" % path)
    r.sql("ALTER SERVER ROLE dbcreator ADD MEMBER reader", "master")
    as_reader("RESTORE VERIFYONLY FROM " + path)
    as_reader("RESTORE DATABASE mine FROM " + path)
    as_reader("USE mine; DROP TABLE dbo.k")    # whose it is, may do all
    drop(r, "mine")
    r.sql("DROP USER reader", "t")
    r.sql("DROP LOGIN reader", "master")


if __name__ == "__main__":
    with folders("fullrack-test-backup-", "one", "two", "three") as (base, FOLDERS):
        main(tests_of(sys.modules[__name__]), *itertools.chain.from_iterable(("--backup-root", f) for f in FOLDERS))
