#!/usr/bin/python3
"""fullrack backup: now, swept, and as tasks of the queue; what the server says of it, and what it refuses."""
import os, shutil, sys
from proxy import Proxy
from rack import *

ROWS = 30000
FOLDERS = []


def prepare(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(90) NOT NULL)")
    r.fullrack("load", "-q", "dbo.t", r.file("rows.txt", "".join("%d\t%s\n" % (i, "v" * (i % 90 + 1)) for i in range(ROWS))))


def to(*speeds):
    out = []
    for folder, speed in zip(FOLDERS, speeds):
        out += ["--to", folder + ("=%s" % speed if speed else "")]
    return out


def files():
    return [sorted(os.listdir(f)) for f in FOLDERS]


def clear():
    for folder in FOLDERS:
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))


def restored(r, name, stripes_of):
    """Rows of a database made of the stripes."""
    devices = ", ".join("DISK = N'%s'" % os.path.join(f, n) for f in FOLDERS for n in os.listdir(f) if n.startswith(stripes_of))
    r.sql("RESTORE DATABASE [%s] FROM %s" % (name, devices), "master")
    rows = r.sql("SELECT COUNT(*), SUM(CAST(id AS bigint)), SUM(LEN(v)) FROM dbo.t", name)
    wait_until("nobody is in it", 10, lambda: not r.sql("SELECT 1 FROM sys.dm_exec_sessions WHERE database_id = DB_ID(N'%s')" % name, "master"))
    r.sql("DROP DATABASE [%s]" % name, "master")
    return rows


WANT = [(ROWS, ROWS * (ROWS - 1) // 2, sum(i % 90 + 1 for i in range(ROWS)))]


def test_one_of_several_fails(r):
    """The others are backed up; the document has what failed and why."""
    prepare(r)
    clear()
    p = r.fullrack("backup", "nowhere", "t", "--json", *to(0), "--copy-only", database=None, exit=1)
    got = json.loads(p)["backups"]
    equal([(g["database"], "error" in g) for g in got], [("nowhere", True), ("t", False)], "backups")
    check("does not exist" in got[0]["error"], "its error", got)
    check("nowhere" in r.err and "1 of 2 backups failed" in r.err, "messages", r.err)
    equal(restored(r, "u", "t."), WANT, "what was backed up")
    clear()
    got = json.loads(r.fullrack("backup", "nowhere", "--json", *to(0), database=None, exit=1))["backups"]
    equal(len(got), 1, "the only one")
    check("does not exist" in got[0]["error"] and r.err.count("does not exist") == 1, "said once", (got, r.err))


def test_now(r):
    prepare(r)
    clear()
    out = r.fullrack("backup", "t", *to(1, 2, 4), "--stripes", "7", "--verify", "--compression", "on", "--name", "night", database=None)
    check(re.fullmatch(r"t: 7 stripes, \d+\.\d MB in \d+\.\d{3} s, \d+\.\d{3} MB/s, verified \(night\.\*\.bak\)\n", out), "what is printed", out)
    equal([len(f) for f in files()], [1, 2, 4], "stripes in proportion to the speeds")
    equal(restored(r, "u", "night"), WANT, "what was backed up")
    clear()
    got = r.json("backup", "t", *to(0, 0), "--buffer-count", "9", "--max-transfer-size", "128K", "--block-size", "4K", database=None)["backups"]
    equal(len(got), 1, "results")
    g = got[0]
    equal((g["database"], g["stripes"], g["buffer_count"], g["max_transfer_size"], g["verified"]), ("t", 2, 9, 131072, False), "what was asked for")
    equal(g["bytes"], g["pages"] * 8192, "bytes")
    # of the server's message, whose seconds are cut to thousandths
    rate = g["bytes"] / 1048576
    check(g["seconds"] > 0 and rate / (g["seconds"] + 0.001) - 0.01 <= g["mb_per_s"] <= rate / g["seconds"] + 0.01, "the rate is the server's", g)
    check(re.fullmatch(r"t\.\d{8}-\d{6}\.\d{3}Z", g["name"]), "the name has database and time", g)
    equal(restored(r, "u", g["name"]), WANT, "what was backed up")
    # a document that cannot be written
    with open("/dev/full", "w") as full:
        p = subprocess.run(r.command("backup", "t", *to(0), "--json", database=None), stdout=full, stderr=subprocess.PIPE, text=True, env=r.env(), timeout=60)
    check(p.returncode != 0 and "standard output" in p.stderr, "a full device", p.returncode, p.stderr)
    # several databases, one with a name that no file can have
    r.sql("CREATE DATABASE [o'd/d]]]", "master")
    got = r.json("backup", "t", "o'd/d]", *to(0), database=None)["backups"]
    equal([(g["database"], g["name"][:8]) for g in got], [("t", got[0]["name"][:8]), ("o'd/d]", "o'd%2Fd]")], "databases")
    r.sql("DROP DATABASE [o'd/d]]]", "master")


def test_sweep(r):
    prepare(r)
    clear()
    got = r.json("backup", "t", *to(0, 0), "--sweep", "--stripes", "2,4", "--buffer-count", "8,30", "--max-transfer-size", "64K,1M", "--verify", database=None)
    cells = [(g["stripes"], g["buffer_count"], g["max_transfer_size"]) for g in got["backups"]]
    equal(cells, [(s, b, m) for s in (2, 4) for b in (8, 30) for m in (65536, 1048576)], "the grid")
    best = max(got["backups"], key=lambda g: g["mb_per_s"])
    equal(got["best"], best, "the fastest")
    equal([len(f) for f in files()][:2], [2, 2], "each wrote over the last")
    out = r.fullrack("backup", "t", *to(0, 0), "--sweep", "--stripes", "2", database=None).splitlines()
    equal(len(out), 1 + 3 * 2 + 1, "a heading, the default grid, the best")
    check(re.match(r"best: \d+\.\d{3} MB/s with --stripes 2", out[-1]), "the best", out)
    # a cell that the server refuses is said, the others are tried
    got = r.json("backup", "t", *to(0), "--sweep", "--stripes", "1", "--buffer-count", "5,90000", "--max-transfer-size", "1M", exit=1, database=None)
    equal([(g["buffer_count"], "error" in g) for g in got["backups"]], [(5, False), (90000, True)], "what went")
    check("90000" in r.err and "1 of the backups failed" in r.err, "what did not", r.err)


def test_no_two_have_one_name(r):
    """Names that differ in what a file's name cannot have, and backups of one moment: nothing is written over."""
    for name in ("x/y", "x_y", "x:y"):
        r.sql("IF DB_ID(N'%s') IS NULL CREATE DATABASE [%s]" % (name, name), "master")
    folder = os.path.join(FOLDERS[0], "names")
    os.makedirs(folder)
    r.fullrack("backup", "x/y", "x_y", "x:y", "x_y", "--to", folder, "--verify", "-q")
    names = sorted(os.listdir(folder))
    equal([n.split(".")[0] for n in names], ["x%2Fy", "x%3Ay", "x_y", "x_y"], "files")
    for name in names:
        r.sql("RESTORE VERIFYONLY FROM DISK = N'%s' WITH CHECKSUM" % os.path.join(folder, name), "master")
    shutil.rmtree(folder)


def test_queue(r):
    prepare(r)
    r.fresh_control()
    clear()
    queued = r.json("backup", "t", *to(1, 1, 2), "--stripes", "4", "--queue", "--verify", "--priority", "7", database=None)["tasks"]
    equal([(q["kind"], q["database"]) for q in queued], [("backup", "t")], "queued")
    equal(files(), [[], [], []], "nothing is written yet")
    # beside a load, in one run
    r.sql("CREATE TABLE dbo.other (id int NOT NULL)")
    r.fullrack("add", "-q", "dbo.other", r.file("other.txt", "1\n2\n"))
    out = r.fullrack("run", "--workers", "2", database="t")
    check("2 of 2 tasks done (1 backup among them); 2 rows loaded" in out, "the run's summary", out)
    equal([len(f) for f in files()], [1, 1, 2], "stripes")
    row = r.sql("SELECT kind, state, priority, bytes_read, messages, last_error FROM dbo.work_queue WHERE kind = 'backup'", "fullrack")[0]
    equal(row[:3], ("backup", "done", 7), "the task")
    m = re.match(r"BACKUP DATABASE successfully processed (\d+) pages in \d+\.\d+ seconds \(\d+\.\d+ MB/sec\)\.$", row[4])
    check(m and row[3] == int(m.group(1)) * 8192, "bytes and message are the server's", row)
    name = queued[0]["source"].split()[1]
    equal(restored(r, "u", name), WANT, "what was backed up")
    # it is no load: nothing to compare, and a reset backs up anew over the same files
    r.fullrack("verify", database="t")
    before = {n: os.stat(os.path.join(f, n)).st_ino for f in FOLDERS for n in os.listdir(f)}
    task = r.sql("SELECT task_id FROM dbo.work_queue WHERE kind = 'backup'", "fullrack")[0][0]
    equal(task, queued[0]["task_id"], "the task's number")
    r.fullrack("reset", str(queued[0]["task_id"]), database="t")
    r.fullrack("run", "-q", "--workers", "1", database="t")
    after = {n: os.stat(os.path.join(f, n)).st_ino for f in FOLDERS for n in os.listdir(f)}
    check(before.keys() == after.keys() and all(before[n] != after[n] for n in before), "written anew", before, after)
    r.fullrack("report", "--json", database="t")
    # one that fails says why, as a task and in the run
    r.fullrack("backup", "t", "--to", "/nowhere", "--queue", "--max-attempts", "1", database=None)
    out = r.fullrack("run", "--workers", "1", exit=1, database="t") + r.err
    check("Cannot open backup device '/nowhere/t." in out, "why it failed", out)
    r.sql("DROP TABLE dbo.other")


def test_another_language(r):
    """Where 3014 is not understood, nothing is made of it: the seconds are our own, the rest is not known."""
    prepare(r)
    r.fresh_control()
    clear()
    seen = []

    def foreign(data):
        ours, theirs = ("successfully processed".encode("utf-16-le"), "mit Erfolg bearbeitet:".encode("utf-16-le"))
        if ours in data:
            seen.append(data)
            time.sleep(1 if len(seen) == 1 else 0)
        return data.replace(ours, theirs)

    proxy = Proxy(lambda: r.port)
    proxy.change = foreign
    server = ("-S", "127.0.0.1:%d" % proxy.port)
    try:
        sweep = ("backup", "t", *to(0), "--sweep", "--stripes", "1,2", "--buffer-count", "8", "--max-transfer-size", "1M", *server)
        got = r.json(*sweep, database=None)
        equal([(g["stripes"], g["pages"], g["bytes"], g["mb_per_s"]) for g in got["backups"]], [(1, None, None, None), (2, None, None, None)], "figures")
        check(got["backups"][0]["seconds"] >= 1 > got["backups"][1]["seconds"], "the first one was slow", got)
        equal(got["best"], got["backups"][1], "the fastest by the seconds")
        out = r.fullrack(*sweep, database=None).splitlines()
        check(re.match(r" +1 +8 +1048576 +\d+\.\d{3} +-$", out[1]), "a cell", out)
        check(out[-1].startswith("best: - MB/s with --stripes "), "the best", out)
        out = r.fullrack("backup", "t", *to(0), "--name", "n", *server, database=None)
        check(re.fullmatch(r"t: 1 stripe, - MB in \d+\.\d{3} s, - MB/s \(n\.\*\.bak\)\n", out), "what is printed", out)
        r.fullrack("backup", "t", *to(0), "--name", "n", "--queue", *server, database=None)
        r.fullrack("run", "--workers", "1", *server, database="t")
        equal(r.sql("SELECT state, bytes_read FROM dbo.work_queue WHERE kind = 'backup'", "fullrack"), [("done", None)], "the task")
        equal(len(seen), 6, "messages that were changed")
    finally:
        proxy.close()


def test_refused(r):
    prepare(r)
    for args, word in ((("backup", "t"), "--to"), (("backup",), "DATABASE"), (("backup", "t", "--to", "/x=fast"), "speed"),
                       (("backup", "t", *to(0, 0), "--stripes", "1"), "at least one a folder"), (("backup", "t", *to(0), "--stripes", "65"), "65"),
                       (("backup", "t", *to(0), "--stripes", "1,2"), "--sweep"), (("backup", "t", *to(0), "--max-transfer-size", "100K"), "64K"),
                       (("backup", "t", *to(0), "--max-transfer-size", "8M"), "8M"), (("backup", "t", "u", *to(0), "--sweep"), "one database"),
                       (("backup", "t", *to(0), "--sweep", "--queue"), "--queue"), (("backup", "t", "u", *to(0), "--name", "x"), "--name"),
                       (("backup", "t", *to(0), "--to", "https://x/y"), "not to both"), (("backup", "t", *to(0), "--name", "../x"), "../x"),
                       (("backup", "t", *to(0), "--buffer-count", "many"), "many"), (("backup", "t", *to(0), "--name", "n" * 901), "at most 900"),
                       (("backup", "t", "--to", FOLDERS[0] + "=0x10"), "0x10")):
        r.fullrack(*args, exit=2, database=None)
        check(word in r.err, "%r in what is said of %r" % (word, args), r.err)
    r.fullrack("backup", "nowhere", *to(0), exit=1, database=None)
    check("backup of nowhere" in r.err and "Database 'nowhere' does not exist" in r.err, "an unknown database", r.err)
    r.fullrack("backup", "t", "--to", os.path.dirname(FOLDERS[0]) + "-not", exit=1, database=None)
    check("3201" in r.err, "a folder that is not there", r.err)
    # a server that will not: the same words as any server's
    r.fullrack("backup", "t", "--to", "https://x/y", exit=1, database=None)
    check("backup of t" in r.err and "not supported" in r.err, "refused by the server", r.err)


def test_show_sql(r):
    long = "n" * 900    # not cut
    out = r.fullrack("backup", "a", "--to", "/b", "--name", long, "--show-sql", database=None)
    check("N'/b/%s.1.bak'" % long in out, "a long name", out)
    out = r.fullrack("backup", "a]b", "--to", "D:\\b=2", "--to", "E:\\b=1", "--name", "n", "--show-sql", "--verify", "--copy-only", database=None)
    equal(out, "BACKUP DATABASE [a]]b]\nTO DISK = N'D:\\b\\n.1.bak',\n   DISK = N'E:\\b\\n.2.bak',\n   DISK = N'D:\\b\\n.3.bak'\n"
          "WITH FORMAT, INIT, CHECKSUM, COPY_ONLY, STATS = 10;\nGO\n"
          "RESTORE VERIFYONLY\nFROM DISK = N'D:\\b\\n.1.bak',\n   DISK = N'E:\\b\\n.2.bak',\n   DISK = N'D:\\b\\n.3.bak'\nWITH CHECKSUM;\nGO\n", "statements")


if __name__ == "__main__":
    with folders("fullrack-test-backup-", "one", "two", "three") as (base, FOLDERS):
        main(tests_of(sys.modules[__name__]), "--backup-root", base)
