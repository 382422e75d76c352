#!/usr/bin/python3
"""Guards and throttles: --rate, --pause-when, --block-warn."""
import os, signal, subprocess, sys, threading, time
from rack import *

MIB = 1 << 20
ROW = "%07d\t" + "x" * 90 + "\n"


def rows_file(r, name, mib):
    n = int(mib * MIB / len(ROW % 0))
    return r.file(name, "".join(ROW % i for i in range(n))), n


def table(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, pad varchar(100) NOT NULL)")
    r.sql("IF OBJECT_ID('dbo.other') IS NULL CREATE TABLE dbo.other (id int NOT NULL, v varchar(20) NULL)")


def count(r):
    return r.sql("SELECT COUNT(*) FROM dbo.t")[0][0]


# Times are compared with wide margins: the machine may be busy, never quicker than asked for.

def test_rate_of_a_load(r):
    table(r)
    path, n = rows_file(r, "one.txt", 6)
    free = r.json("load", "dbo.t", path)["seconds"]
    table(r)
    slow = r.json("load", "dbo.t", path, "--rate", "2M")["seconds"]
    equal(count(r), n, "rows")
    check(2.5 < slow < 9, "6 MiB at 2 MiB/s take 3 s", slow)
    check(free < 2.5, "without a rate there is no wait", free)


def test_rate_is_of_the_decoded_source(r):
    table(r)
    path, n = rows_file(r, "packed.txt", 6)
    import gzip
    with open(path, "rb") as f:
        packed = r.file("packed.txt.gz", gzip.compress(f.read()))
    check(os.path.getsize(packed) < MIB, "it is small", os.path.getsize(packed))
    took = r.json("load", "dbo.t", packed, "--rate", "2M")["seconds"]
    check(2.5 < took < 9, "6 MiB at 2 MiB/s take 3 s", took)
    equal(count(r), n, "rows")


def test_rate_is_shared_and_the_last_worker_gets_all(r):
    """At an equal third for good, 12 MiB would take 12 s."""
    table(r)
    files = [rows_file(r, "s%d.txt" % i, mib) for i, mib in enumerate((1, 1, 12))]
    d = r.json("load", "dbo.t", *[f for f, _ in files], "--workers", "3", "--rate", "3M")
    equal(count(r), sum(n for _, n in files), "rows")
    check(4.1 < d["seconds"] < 9.5, "14 MiB at 3 MiB/s take 4.7 s", d["seconds"])


def test_rate_of_a_run_keeps_leases(r):
    """A block takes longer than the lease: waiting for the rate is no standstill."""
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "lease.txt", 0.5)
    r.fullrack("add", "-q", "dbo.t", path)
    d = r.json("run", "--workers", "1", "--lease", "1", "--rate", "100K")
    check(d["seconds"] > 4, "0.5 MiB at 100 KiB/s take 5 s", d["seconds"])
    equal([(t["state"], t["attempts"], t["rows"]) for t in d["tasks"]], [("done", 1, n)], "the task")


def test_rate_of_a_lone_worker(r):
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "lone.txt", 4)
    r.fullrack("add", "-q", "dbo.t", path)
    began = time.monotonic()
    r.fullrack("worker", "-q", "--rate", "2M")
    took = time.monotonic() - began
    check(1.6 < took < 8, "4 MiB at 2 MiB/s take 2 s", took)
    equal(count(r), n, "rows")


def test_stop_while_the_rate_waits(r):
    table(r)
    path, n = rows_file(r, "stop.txt", 6)
    p = r.spawn("load", "dbo.t", path, "--rate", "20K", "-q")
    time.sleep(1.5)
    began = time.monotonic()
    p.send_signal(signal.SIGINT)
    equal(p.wait(20), 4, "exit status")
    check(time.monotonic() - began < 10, "it ends soon, not when the block is paid for", time.monotonic() - began)
    check(count(r) < n, "it was stopped before its end", count(r))


def test_rate_is_a_size(r):
    for bad in ("0", "-1", "fast", "5X"):
        r.fullrack("load", "dbo.t", "/dev/null", "--rate", bad, exit=2)
        check("--rate" in r.err and bad in r.err, "the message names the option", r.err)


# -- --pause-when

MUCH = "DECLARE @i int = 0 WHILE @i < %d * 131 BEGIN INSERT %s VALUES (REPLICATE('y', 8000)) SET @i += 1 END"


class Tempdb:
    """Another session's temporary table, which fills tempdb (64 MiB in fullrackd) without a lock on anything else."""

    def __init__(self, r):
        self.db = r.connect("t")
        self.cur = self.db.cursor()
        self.cur.execute("CREATE TABLE #full (v varchar(8000) NOT NULL)")

    def fill(self, mib):
        self.cur.execute(MUCH % (mib, "#full"))

    def close(self):
        """fullrackd's file of a session's temporary tables goes with the session."""
        self.db.close()


def test_pause_when_names_what_there_is(r):
    for bad, said in (("swap>5%", "log, send-queue and tempdb"), ("log", "in quotes"), ("log>80", "1% to 99%"), ("send-queue>80%", "size")):
        for command in (["load", "dbo.t", "/dev/null"], ["run"]):
            r.fullrack(*command, "--pause-when", bad, exit=2)
            check("--pause-when" in r.err and said in r.err, "the message for %s" % bad, r.err)
    r.file("x.txt", "1")
    path = r.file("pause.json", '{"pause-when": "swap>5%",\n "tables": [{"name": "dbo.t", "files": "x.txt"}]}')
    p = subprocess.run([os.path.join(BUILD, "fullrack"), "config", path], env=r.env(), capture_output=True, text=True)
    check(p.returncode == 2 and "swap" in p.stdout and "pause.json:1:" in p.stdout, "the place in the run file", p.stdout)


def test_pause_between_batches_and_resume(r):
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "pause.txt", 8)
    r.fullrack("add", "-q", "dbo.t", path, "-b", "1000")
    other = Tempdb(r)
    run = r.spawn("run", "--workers", "1", "--lease", "2", "--rate", "1M", "--pause-when", "tempdb>30%,log>95%,send-queue>1G", "--json")
    wait_until("rows are loaded", 20, lambda: count(r) > 0)
    other.fill(24)
    wait_until("the run pauses", 20, lambda: r.sql("SELECT pause_reason FROM dbo.run WHERE pause_reason LIKE 'tempdb is %'", "fullrack"))
    status = r.fullrack("status")
    check("tempdb is" in status and "limit 30 %" in status, "status", status)
    time.sleep(1.0)
    before = count(r)
    check(0 < before < n, "in the middle", before)
    time.sleep(3.0)
    equal(count(r), before, "nothing is loaded in a pause that is longer than the lease")
    held = r.sql("SELECT state, attempts FROM dbo.work_queue", "fullrack")
    equal(held, [("active", 1)], "the task is kept")
    equal(r.sql("SELECT MAX(open_transaction_count) FROM sys.dm_exec_sessions WHERE program_name LIKE 'fullrack%'"), [(0,)], "no transaction is open")
    equal(r.sql("SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL AND lease_until > SYSUTCDATETIME()", "fullrack"), [(1,)],
          "the scheduler is kept")
    other.close()
    out, err = run.communicate(timeout=60)
    equal(run.returncode, 0, "exit status (%s)" % err)
    equal(count(r), n, "rows")
    check(err.count("paused: tempdb is ") == 1 and err.count("goes on after a pause") == 1, "what is said", err)
    check("not watched" not in err, "every guard has an answer", err)
    equal(r.sql("SELECT pause_reason, paused_at, held_until FROM dbo.run", "fullrack"), [(None, None, None)], "the run's row in the end")


def test_full_log_before_the_start(r):
    """No task is taken; load has no queue, and its coordinator hands none out."""
    table(r)
    path, n = rows_file(r, "log.txt", 1)
    other = r.connect("t")
    other.autocommit(False)
    cur = other.cursor()
    cur.execute("CREATE TABLE dbo.full_log (v varchar(8000) NOT NULL)")
    cur.execute(MUCH % (50, "dbo.full_log"))
    load = r.spawn("load", "dbo.t", path, "--pause-when", "log>20%", "--block-warn", "5")
    line = load.stderr.readline()
    while line and "paused" not in line and "waited" not in line:
        line = load.stderr.readline()
    check("the log of t is" in line and "limit 20 %" in line, "what is said", line)
    time.sleep(1.5)
    equal(r.sql("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0"), [(0,)], "nobody waits for the other's lock")
    other.rollback()
    other.close()
    err = load.communicate(timeout=60)[1]
    equal(load.returncode, 0, "exit status (%s)" % err)
    check("goes on after" in err, "what is said", err)
    equal(count(r), n, "rows")


def test_stop_in_a_pause(r):
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "stop.txt", 4)
    r.fullrack("add", "-q", "dbo.t", path, "-b", "1000")
    other = Tempdb(r)
    other.fill(24)
    run = r.spawn("run", "--workers", "2", "--pause-when", "tempdb>30%")
    wait_until("the run pauses", 20, lambda: r.sql("SELECT pause_reason FROM dbo.run WHERE pause_reason IS NOT NULL", "fullrack"))
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    err = run.communicate(timeout=30)[1]
    equal(run.returncode, 4, "exit status (%s)" % err)
    check(time.monotonic() - began < 10, "soon", time.monotonic() - began)
    equal((count(r), r.sql("SELECT state FROM dbo.work_queue", "fullrack")), (0, [("ready",)]), "nothing was taken")
    other.close()


def test_coordinator_killed_in_a_pause(r):
    """Its workers give their tasks back, and the next run is not held by what it wrote."""
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "killed.txt", 4)
    r.fullrack("add", "-q", "dbo.t", path, "-b", "1000")
    other = Tempdb(r)
    run = r.spawn("run", "--workers", "1", "--lease", "2", "--rate", "1M", "--pause-when", "tempdb>30%")
    wait_until("rows are loaded", 20, lambda: count(r) > 0)
    other.fill(24)
    wait_until("the run pauses", 20, lambda: r.sql("SELECT 1 FROM dbo.run WHERE pause_reason IS NOT NULL", "fullrack"))
    pids = workers_of(run.pid)
    run.kill()
    run.communicate()
    wait_until("its workers end", 15, lambda: not any(os.path.exists("/proc/%d" % p) for p in pids))
    check(0 < count(r) < n, "in the middle", count(r))
    other.close()
    r.fullrack("run", "-q", "--workers", "1", "--pause-when", "tempdb>30%")
    equal(count(r), n, "rows")
    equal(r.sql("SELECT COUNT(DISTINCT id) FROM dbo.t"), [(n,)], "each once")


def test_lone_workers_obey_the_run(r):
    """A worker of another host has no pipe to the coordinator; it looks at the run's row.  A hold that is not said again ends."""
    table(r)
    r.fresh_control()
    paths = [rows_file(r, "lone%d.txt" % i, 1) for i in range(2)]
    r.fullrack("add", "-q", "dbo.t", *[p for p, _ in paths])
    r.sql("INSERT INTO dbo.run (host, pid, workers, state) VALUES ('elsewhere', 1, 1, 'running')", "fullrack")
    run_id = r.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0]
    r.sql("INSERT INTO dbo.ready (run_id, start) VALUES (%d, 0)" % run_id, "fullrack")
    r.sql("EXEC dbo.sp_pause_run @run_id = %d, @reason = N'the log is full', @hold_s = 6" % run_id, "fullrack")
    worker = r.spawn("worker", "--run-id", str(run_id), "--lease", "2")
    time.sleep(1.5)     # it has looked at the row before it begins
    r.sql("UPDATE dbo.ready SET start = 1 WHERE run_id = %d" % run_id, "fullrack")
    time.sleep(2.5)
    equal(count(r), 0, "held")
    out, err = worker.communicate(timeout=60)
    equal(worker.returncode, 0, "exit status (%s)" % err)
    check("is paused" in err and "goes on" in err, "what is said", err)
    equal(count(r), sum(n for _, n in paths), "rows")


def test_pause_of_a_worker_leaves_that_of_the_run(r):
    """A worker that finds no room and then some must not let a held run go."""
    r.fresh_control()
    r.sql("INSERT INTO dbo.run (host, pid, workers, state) VALUES ('elsewhere', 1, 1, 'running')", "fullrack")
    run_id = r.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0]

    def pause(reason, hold=None):
        r.sql("EXEC dbo.sp_pause_run @run_id = %d, @reason = %s%s" % (run_id, reason, "" if hold is None else ", @hold_s = %d" % hold), "fullrack")
        return r.sql("SELECT pause_reason, CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END, CASE WHEN held_until IS NULL THEN 0 ELSE 1 END FROM dbo.run", "fullrack")[0]

    equal(pause("N'9002'"), ("9002", 1, 0), "a worker's pause")
    equal(pause("N'log'", 60), ("log", 1, 1), "the run's")
    equal(pause("N'9002'"), ("log", 1, 1), "a worker's again")
    equal(pause("NULL"), ("log", 1, 1), "which is over")
    equal(pause("NULL", 60), (None, 0, 0), "the run goes on")
    equal(pause("N'9002'"), ("9002", 1, 0), "a worker's pause")
    equal(pause("NULL"), (None, 0, 0), "which is over")


def few_rights(r):
    r.sql("IF SUSER_ID('few') IS NULL CREATE LOGIN few WITH PASSWORD = 'Few-Rights-1'", "")
    r.sql("IF USER_ID('few') IS NULL CREATE USER few FOR LOGIN few")
    r.fullrack("init", "-q")
    r.sql("GRANT SELECT, INSERT ON dbo.t TO few")
    r.sql("GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_ledger TO few")
    return dict(r.env(), FULLRACK_USER="few", FULLRACK_PASSWORD="Few-Rights-1")


def load_as_few(r, *args, env=None):
    p = subprocess.run([os.path.join(BUILD, "fullrack"), "load", "-S", r.address, "-d", "t"] + list(args), env=env or few_rights(r),
                       capture_output=True, text=True, timeout=60)
    equal(p.returncode, 0, "exit status (%s)" % p.stderr)
    return p.stderr


def test_guards_without_rights_are_off(r):
    table(r)
    path, n = rows_file(r, "few.txt", 1)
    err = load_as_few(r, "dbo.t", path, "--rate", "256K", "--pause-when", "log>1%,tempdb>1%")
    equal(count(r), n, "rows")
    for g in ("log", "tempdb"):
        check(err.count("--pause-when %s is not watched: " % g) == 1, "said once of %s" % g, err)


# -- --block-warn

def blocker(r, text):
    """Another session with an open transaction, which has the database's writer lock."""
    other = r.connect("t")
    other.autocommit(False)
    cur = other.cursor()
    cur.execute(text)
    cur.execute("SELECT @@SPID")
    return other, cur.fetchall()[0][0]


def read_until(p, word):
    lines = ""
    while word not in lines:
        line = p.stderr.readline()
        check(line, "it ended without %r" % word, lines)
        lines += line
    return line


def test_who_blocks_is_said_once(r):
    table(r)
    path, n = rows_file(r, "block.txt", 0.5)
    other, spid = blocker(r, "/* by hand */ INSERT INTO dbo.other  VALUES (1, 'top secret')")
    load = r.spawn("load", "dbo.t", path, "--block-warn", "1")
    line = read_until(load, "waited")
    for word in ("w1: %s into dbo.t has waited" % path, "session %d of sa, pymssql" % spid, "(process ", "sleeps with an open transaction, for ",
                 "commit or roll back", "KILL %d" % spid):
        check(word in line, "the line has %r" % word, line)
    time.sleep(3.5)
    other.rollback()
    err = load.communicate(timeout=60)[1]
    equal(load.returncode, 0, "exit status (%s)" % err)
    check("waited" not in err, "said once", err)
    check("secret" not in line + err, "nothing of values", line, err)
    equal(count(r), n, "rows")
    other.close()


def test_what_the_blocker_runs(r):
    """One that works, and of the statement what stands in no text; several loads that wait for it are one message."""
    table(r)
    r.fresh_control()
    paths = [rows_file(r, "block%d.txt" % i, 0.5) for i in range(3)]
    r.fullrack("add", "-q", "dbo.t", *[p for p, _ in paths])
    done = []

    def work():
        with r.connect("t") as db:
            db.cursor().execute("BEGIN TRANSACTION INSERT INTO dbo.other VALUES (2, 'mine') WAITFOR DELAY '00:00:06' ROLLBACK")
        done.append(True)
    t = threading.Thread(target=work)
    t.start()
    wait_until("it has the lock", 10, lambda: r.sql("SELECT session_id FROM sys.dm_exec_requests WHERE command = 'WAITFOR'"))
    run = r.spawn("run", "--workers", "3", "--block-warn", "2")
    line = read_until(run, "waited")
    check(" and " in line and "more: " in line, "all who wait", line)
    check("which runs WAITFOR: BEGIN TRANSACTION INSERT INTO dbo.other VALUES (2, '...') WAITFOR DELAY '...' ROLLBACK" in line, "its statement", line)
    check("wait until it is through" in line, "the cure", line)
    err = run.communicate(timeout=60)[1]
    t.join()
    check(run.returncode == 0 and done and "waited" not in err, "all is well then, and it was said once", run.returncode, err)
    equal(count(r), sum(n for _, n in paths), "rows")


def test_block_warn_off(r):
    table(r)
    path, n = rows_file(r, "block.txt", 0.5)
    other, _ = blocker(r, "INSERT INTO dbo.other VALUES (1, 'x')")
    load = r.spawn("load", "dbo.t", path, "--block-warn", "0")
    time.sleep(2.5)
    equal(r.sql("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'fullrack monitor'"), [(0,)], "no connection to look with")
    other.rollback()
    err = load.communicate(timeout=60)[1]
    check(load.returncode == 0 and "waited" not in err, "nothing is said", err)
    other.close()


def test_block_warn_with_few_rights(r):
    """VIEW SERVER PERFORMANCE STATE of 2022 shows all but what a session that sleeps ran last."""
    table(r)
    path, n = rows_file(r, "few.txt", 0.1)
    env = few_rights(r)
    r.sql("GRANT VIEW SERVER PERFORMANCE STATE TO few", "")
    other, spid = blocker(r, "INSERT INTO dbo.other VALUES (1, 'x')")
    threading.Timer(5, other.rollback).start()
    try:
        err = load_as_few(r, "dbo.t", path, "--block-warn", "1", env=env)
    finally:
        r.sql("REVOKE VIEW SERVER PERFORMANCE STATE FROM few", "")
        other.close()
    line = [l for l in err.splitlines() if "waited" in l]
    check(len(line) == 1 and "session %d of sa, pymssql" % spid in line[0] and "sleeps with an open transaction" in line[0], "who", err)
    check("INSERT" not in line[0], "not what", line)


def test_block_warn_without_rights(r):
    table(r)
    path, n = rows_file(r, "few.txt", 1)
    err = load_as_few(r, "dbo.t", path, "--rate", "128K", "--block-warn", "1")
    equal(count(r), n, "rows")
    check(err.count("does not show other sessions") == 1 and "VIEW SERVER STATE" in err, "said once", err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
