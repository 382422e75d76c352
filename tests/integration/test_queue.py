#!/usr/bin/python3
"""What people do to the queue: retry, reset, cancel, purge, verify, --truncate, --resume, joined runs, old versions."""
import fcntl, json, os, pty, signal, subprocess, sys, termios, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from proxy import Proxy
from rack import PASSWORD, Rack, check, equal, main, tests_of, wait_until, workers_of
from sessions import adds_at_once, claims_of_changed_table, take_over_of_held_head

OPTIONS = ["--schedulers", "4"]


def rows_of(n, first=1):
    return "".join("%d\tname %d\n" % (i, i) for i in range(first, first + n))


def fresh(rack):
    rack.fresh("CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL)")
    rack.fresh_control()
    rack.sql("IF OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL DELETE FROM dbo.fullrack_ledger")


def queue(rack, columns="state"):
    return rack.sql("SELECT %s FROM dbo.work_queue ORDER BY task_id" % columns, "fullrack")


def count(rack, table="dbo.t"):
    return rack.sql("SELECT COUNT(*), COUNT(DISTINCT a) FROM " + table)[0]


def task_ids(rack):
    return [str(r[0]) for r in queue(rack, "task_id")]


def test_retry_goes_on_after_the_last_batch(rack):
    fresh(rack)
    path = rack.file("r.tsv", rows_of(10) + "x\tbad\n" + rows_of(5, 12))
    rack.fullrack("add", "dbo.t", path, "-b", "4", "-q")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    equal(queue(rack, "state, rows_loaded"), [("failed", 8)], "two batches are committed")
    equal(count(rack), (8, 8), "rows")
    rack.fullrack("verify", "-q")
    equal(rack.json("retry")["changed"], 1, "tasks")
    equal(queue(rack, "state, attempts"), [("ready", 0)], "queue")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    equal(queue(rack, "state, rows_loaded"), [("failed", 8)], "the bad row is still bad")
    rack.fullrack("retry", "999", exit=2)
    check("there is no task 999" in rack.err, "message", rack.err)
    rack.sql("UPDATE dbo.work_queue SET state = 'cancelled'", "fullrack")
    rack.fullrack("retry", task_ids(rack)[0], exit=2)
    check("cancelled, not failed" in rack.err and "reset" in rack.err, "message", rack.err)


def test_reset_closes_the_old_head_and_begins_anew(rack):
    fresh(rack)
    path = rack.file("r.tsv", rows_of(10))
    rack.fullrack("add", "dbo.t", path, "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    waits = "read_ms, answer_ms, rate_ms"
    old = queue(rack, "load_id, epoch")[0]
    check(None not in queue(rack, waits)[0], "what it waited for is known", queue(rack, waits))
    rack.fullrack("reset", exit=2)
    check("--all" in rack.err, "reset wants to be told which", rack.err)
    rack.fullrack("reset", "--all")
    check("10 rows of its earlier load stay in dbo.t" in rack.err, "warning", rack.err)
    new = queue(rack, "load_id, epoch, state, rows_loaded, attempts")[0]
    check(new[0] != old[0], "a new load id", old, new)
    equal(new[1:], (old[1], "ready", None, 0), "the epoch goes on, the figures are gone")
    equal(queue(rack, waits), [(None, None, None)], "nor are there waits")
    rack.sql("DELETE FROM dbo.t")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (10, 10), "rows")


def test_reset_of_a_claimed_task_fences_its_owner(rack):
    """A worker that claimed before the reset and had not yet made its head finds a closed one."""
    fresh(rack)
    path = rack.file("r.tsv", rows_of(10))
    rack.fullrack("add", "dbo.t", path, "-q")
    rack.sql("UPDATE dbo.work_queue SET epoch = 3, state = 'failed'", "fullrack")
    load_id = str(queue(rack, "load_id")[0][0])
    rack.fullrack("reset", "--all", "-q")
    equal(rack.sql("SELECT state, epoch FROM dbo.fullrack_ledger WHERE load_id = '%s'" % load_id), [("closed", 0)],
          "the tombstone")
    rack.fullrack("load", "dbo.t", path, "--resume", load_id, exit=2)
    check("was closed by a reset or cancel" in rack.err, "message", rack.err)
    equal(count(rack), (0, 0), "rows")


def test_claims_after_the_table_changed(rack):
    """The same is asked of a server that is not ours (scripts/check-server)."""
    fresh(rack)
    equal(claims_of_changed_table(lambda: rack.connect("fullrack")), [], "claims")


def test_adds_of_the_same_at_once(rack):
    """The same is asked of a server that is not ours (scripts/check-server)."""
    fresh(rack)
    equal(adds_at_once(lambda: rack.connect("fullrack")), [], "adds")
    gate = "SELECT changes FROM dbo.add_gate"
    before, path = rack.sql(gate, "fullrack")[0][0], rack.file("g.tsv", rows_of(9))
    rack.fullrack("add", "-q", "dbo.t", path, "--split", "3")
    equal(rack.sql(gate, "fullrack"), [(before + 1,)], "the ranges of one source write the gate once")
    rack.fullrack("add", "-q", "--again", "dbo.t", path)
    equal(rack.sql(gate, "fullrack"), [(before + 1,)], "who may add twice passes it by")


def test_a_held_head_is_not_taken_over(rack):
    """The same is asked of a server that is not ours (scripts/check-server)."""
    fresh(rack)
    rack.fullrack("load", "-q", "dbo.t", rack.file("h.tsv", rows_of(1)))
    equal(take_over_of_held_head(lambda: rack.connect("t")), [], "head")


def test_reset_needs_the_target(rack):
    fresh(rack)
    path = rack.file("r.tsv", rows_of(3))
    rack.fullrack("add", "dbo.t", path, "-q")
    rack.sql("UPDATE dbo.work_queue SET epoch = 1, state = 'failed', target_database = 'gone'", "fullrack")
    before = queue(rack, "load_id, state")
    rack.fullrack("reset", "--all", exit=3)
    equal(queue(rack, "load_id, state"), before, "nothing is changed")


def test_cancel_of_an_active_task(rack):
    fresh(rack)
    fifo = os.path.join(rack.dir, "cancel.fifo")
    os.mkfifo(fifo)
    rack.fullrack("add", "dbo.t", fifo, "-q")
    run = rack.spawn("run", "--workers", "1", "--lease", "2")
    out = os.open(fifo, os.O_WRONLY)
    try:
        os.write(out, rows_of(100).encode())
        wait_until("the task is active", 30, lambda: queue(rack) == [("active",)])
        rack.fullrack("cancel", "--all", "-q")
        equal(queue(rack), [("cancelled",)], "queue")
        wait_until("the worker let it go", 60, lambda: run.poll() is not None)
    finally:
        os.close(out)
    equal(run.returncode, 1, "exit: not every task is done")
    equal(count(rack), (0, 0), "rows")
    check("cancelled" in queue(rack, "last_error")[0][0], "reason")
    rack.fullrack("cancel", task_ids(rack)[0], exit=2)
    check("is cancelled already" in rack.err, "message", rack.err)
    rack.fullrack("verify", "-q")


def test_cancel_of_a_waiting_task_needs_no_target(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("r.tsv", rows_of(3)), "-q")
    rack.sql("UPDATE dbo.work_queue SET target_database = 'gone'", "fullrack")
    rack.fullrack("cancel", "--all", "-q")
    equal(queue(rack), [("cancelled",)], "queue")


def test_purge_leaves_a_tombstone(rack):
    fresh(rack)
    good, bad = rack.file("g.tsv", rows_of(4)), rack.file("b.tsv", "x\tbad\n")
    rack.fullrack("add", "dbo.t", good, bad, "-q")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    equal(rack.json("purge")["changed"], 0, "nothing is so old")
    equal(len(queue(rack)), 2, "tasks")
    rack.sql("UPDATE dbo.work_queue SET end_time = DATEADD(day, -40, end_time)", "fullrack")
    rack.sql("UPDATE dbo.run SET end_time = DATEADD(day, -40, end_time)", "fullrack")
    rack.sql("UPDATE dbo.worker SET last_seen = DATEADD(day, -40, last_seen)", "fullrack")
    equal(rack.json("purge")["changed"], 2, "both")
    equal(queue(rack), [], "tasks")
    for table in ("run", "worker", "ready"):
        equal(rack.sql("SELECT COUNT(*) FROM dbo." + table, "fullrack")[0][0], 0, table)
    equal(sorted(rack.sql("SELECT state, rows_loaded FROM dbo.fullrack_ledger")), [("closed", 0), ("done", 4)],
          "heads stay, and let nobody in")


def test_verify_finds_what_differs(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("v.tsv", rows_of(6)), "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    doc = rack.json("verify")
    equal((doc["tasks"], doc["tables"], doc["differences"], doc["notes"]), (1, 1, [], []), "clean")
    rack.sql("INSERT INTO dbo.t VALUES (100, 'by hand')")
    doc = rack.json("verify")
    equal(doc["differences"], [], "more rows are no difference")
    check("1 rows more" in doc["notes"][0], "note", doc)
    rack.sql("DELETE FROM dbo.t WHERE a > 4")
    doc = rack.json("verify", exit=1)
    check("has 4 rows, the ledger accounts for 6" in doc["differences"][0], "difference", doc)
    rack.sql("UPDATE dbo.work_queue SET rows_loaded = 5", "fullrack")
    doc = rack.json("verify", exit=1)
    check("5 rows" in doc["differences"][0], "figures", doc)
    rack.sql("UPDATE dbo.work_queue SET state = 'failed'", "fullrack")
    doc = rack.json("verify", exit=1)
    check("is failed, but all of it is loaded" in doc["differences"][0], "state", doc)
    rack.sql("DELETE FROM dbo.fullrack_ledger")
    rack.sql("UPDATE dbo.work_queue SET state = 'done'", "fullrack")
    doc = rack.json("verify", exit=1)
    check("its ledger head is missing" in doc["differences"][0], "head", doc)


def test_truncate_once_for_all_files(rack):
    fresh(rack)
    rack.sql("INSERT INTO dbo.t VALUES (-1, 'old')")
    files = [rack.file("t%d.tsv" % i, rows_of(50, 1 + 50 * i)) for i in range(6)]
    rack.fullrack("add", "dbo.t", *files, "--truncate", "-q")
    rack.fullrack("run", "--workers", "3", "-q")
    equal(count(rack), (300, 300), "the old row is gone, nothing else")
    # a part of the group keeps the others' rows; all of it empties again
    rack.fullrack("reset", task_ids(rack)[0])
    check("50 rows of its earlier load stay" in rack.err, "warning", rack.err)
    rack.sql("DELETE FROM dbo.t WHERE a <= 50")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (300, 300), "one file anew")
    rack.fullrack("verify", "-q")
    rack.fullrack("reset", "--all", "-q")
    rack.fullrack("run", "--workers", "3", "-q")
    equal(count(rack), (300, 300), "a replay")
    equal(rack.json("verify")["differences"], [], "verify knows of the truncation")


def test_truncate_of_a_load(rack):
    fresh(rack)
    rack.sql("INSERT INTO dbo.t VALUES (-1, 'old')")
    files = [rack.file("t%d.tsv" % i, rows_of(20, 1 + 20 * i)) for i in range(3)]
    rack.fullrack("load", "dbo.t", *files, "--truncate", "--workers", "2", "-q")
    equal(count(rack), (60, 60), "rows")
    rack.fullrack("load", "dbo.t", files[0], "--truncate", "--ledger", "off", exit=2)
    check("--truncate needs the ledger" in rack.err, "message", rack.err)


def test_resume_of_several_files(rack):
    fresh(rack)
    files = [rack.file("m%d.tsv" % i, rows_of(30, 1 + 30 * i)) for i in range(3)]
    bad = rack.file("m9.tsv", rows_of(10, 91) + "x\tbad\n")
    rack.fullrack("load", "dbo.t", *files, bad, "-b", "7", exit=1)
    load_id = rack.err.split("load id ")[1].split()[0]
    equal(count(rack), (97, 97), "whole batches of the bad file stay")
    # the same id, from another folder, finds every file
    out = subprocess.run([os.path.abspath(rack.command("load")[0])] + rack.command("load")[1:] +
                         ["dbo.t"] + [os.path.relpath(f, rack.dir) for f in files + [bad]] +
                         ["-b", "7", "--resume", load_id], capture_output=True, text=True, env=rack.env(), cwd=rack.dir)
    equal(out.returncode, 1, "exit")
    equal(count(rack), (97, 97), "nothing twice")
    rack.fullrack("load", "dbo.t", *files, "--resume", "00000000-0000-0000-0000-000000000000", exit=2)
    check("there is no such load" in rack.err, "message", rack.err)


def test_ledger_of_another_name(rack):
    fresh(rack)
    path = rack.file("l.tsv", rows_of(9))
    rack.fullrack("load", "dbo.t", path, "--ledger-table", "my_ledger", "-b", "4", "-q")
    equal(rack.sql("SELECT state, rows_loaded FROM dbo.my_ledger"), [("done", 9)], "its own table")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.fullrack_ledger")[0][0], 0, "not the usual one")
    rack.fullrack("add", "dbo.t", path, "--ledger-table", "dbo.my_ledger", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(rack.json("verify")["differences"], [], "verify")
    for name in ("a.b.c", "x]y", "1a", "", "dbo."):
        rack.fullrack("load", "dbo.t", path, "--ledger-table", name, exit=2)
    rack.sql("DROP TABLE dbo.my_ledger")


def test_two_hosts_share_queue_and_signal(rack):
    fresh(rack)
    files = [rack.file("h%02d.tsv" % i, rows_of(200, 1 + 200 * i)) for i in range(12)]
    rack.fullrack("add", "dbo.t", *files, "-q")
    one = rack.spawn("run", "--workers", "2", "--no-start", "--host-name", "alpha", "--json")
    run_id = wait_until("the run waits", 30, lambda: rack.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0])
    two = rack.spawn("run", "--workers", "2", "--run-id", str(run_id), "--host-name", "beta", "--json")
    wait_until("all are armed", 60, lambda: rack.sql(
        "SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed' AND run_id = %d" % run_id, "fullrack")[0][0] == 4)
    equal(count(rack), (0, 0), "nobody began before the signal")
    rack.fullrack("start", str(run_id))
    for p in (one, two):
        out, err = p.communicate(timeout=120)
        equal(p.returncode, 0, "exit: " + err)
    equal(count(rack), (2400, 2400), "rows")
    equal(set(queue(rack, "state, run_id")), {("done", run_id)}, "one run")
    hosts = [r[0] for r in rack.sql("SELECT DISTINCT host FROM dbo.worker WHERE run_id = %d" % run_id, "fullrack")]
    equal(sorted(hosts), ["alpha", "beta"], "both hosts took part")
    rack.fullrack("verify", "-q")


def test_run_that_is_over_before_all_have_begun(rack):
    """A worker that looks for the start signal when the others are through has nothing to do, and no mistake to report."""
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("early.tsv", rows_of(50)), "-q")
    one = rack.spawn("run", "--workers", "1", "--no-start", "--host-name", "alpha")
    run_id = wait_until("the run waits", 30, lambda: rack.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0])
    late = [rack.spawn("run", "--workers", "1", "--run-id", str(run_id), "--host-name", "beta"),
            rack.spawn("worker", "--run-id", str(run_id), "--host-name", "gamma")]
    wait_until("all are armed", 60, lambda: rack.sql(
        "SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed' AND run_id = %d" % run_id, "fullrack")[0][0] == 3)
    time.sleep(1.2)
    stopped = workers_of(late[0].pid) + [late[1].pid]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    rack.fullrack("start", str(run_id))
    out, err = one.communicate(timeout=60)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    equal(one.returncode, 0, "exit: " + err)
    for p in late:
        out, err = p.communicate(timeout=60)
        equal(p.returncode, 0, "exit of the late: " + err)
    equal(count(rack), (50, 50), "rows")


def test_frozen_child_is_ended_when_its_lease_is_gone(rack):
    fresh(rack)
    path = rack.file("frozen.tsv", rows_of(2000))
    rack.fullrack("add", "dbo.t", path, "-b", "50", "-q")
    # the table is locked, so that the task is held in mid-load
    db = rack.connect("t")
    db.autocommit(False)
    cur = db.cursor()
    cur.execute("INSERT INTO dbo.t VALUES (-5, 'lock')")
    run = rack.spawn("run", "--workers", "1", "--lease", "3")
    wait_until("the task is active", 30, lambda: queue(rack) == [("active",)])
    child = wait_until("a worker", 10, lambda: workers_of(run.pid))[0]
    os.kill(child, signal.SIGSTOP)
    rack.sql("UPDATE dbo.work_queue SET lease_until = '2000-01-01'", "fullrack")
    wait_until("the frozen worker is ended", 60, lambda: child not in workers_of(run.pid))
    db.rollback()
    db.close()
    out, err = run.communicate(timeout=120)
    equal(run.returncode, 0, "exit: " + err)
    check("lost the lease" in err or "signal 9" in err, "it is said", err)
    equal(count(rack), (2000, 2000), "rows")
    rack.fullrack("verify", "-q")


def test_init_upgrades_an_old_control_database(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("u.tsv", rows_of(5)), "-q")
    rack.sql("ALTER TABLE dbo.work_queue DROP COLUMN truncate_group", "fullrack")
    rack.sql("ALTER TABLE dbo.run DROP COLUMN doubled_schedulers", "fullrack")
    rack.sql("ALTER TABLE dbo.run DROP COLUMN pause_reason", "fullrack")
    rack.sql("ALTER TABLE dbo.run DROP COLUMN paused_at", "fullrack")
    rack.sql("DELETE FROM dbo.control_version WHERE version > 1", "fullrack")
    rack.sql("DROP TABLE IF EXISTS dbo.fullrack_truncation")
    rack.fullrack("run", "-q", exit=2)
    check("has version 1" in rack.err and "fullrack init" in rack.err, "message", rack.err)
    rack.fullrack("init", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(queue(rack, "state, rows_loaded"), [("done", 5)], "the task of before")
    rack.sql("INSERT INTO dbo.control_version (version) VALUES (99)", "fullrack")
    rack.fullrack("status", exit=2)
    check("use a newer fullrack" in rack.err, "message", rack.err)
    rack.sql("DELETE FROM dbo.control_version WHERE version = 99", "fullrack")


def test_resume_takes_no_truncate(rack):
    """It would take out what the load has committed, and count it as loaded."""
    fresh(rack)
    path = rack.file("rt.tsv", rows_of(10) + "x\tbad\n")
    rack.fullrack("load", "dbo.t", path, "-b", "4", exit=1)
    load_id = rack.err.split("load id ")[1].split()[0]
    equal(count(rack), (8, 8), "two batches")
    rack.fullrack("load", "dbo.t", path, "-b", "4", "-m", "1", "--resume", load_id, "--truncate", exit=2)
    check("--truncate would take out" in rack.err, "message", rack.err)
    equal(count(rack), (8, 8), "nothing is taken out")
    rack.fullrack("load", "dbo.t", path, "-b", "4", "-m", "1", "--resume", load_id, "-q")
    equal(count(rack), (10, 10), "rows")


def test_one_file_by_several_names(rack):
    fresh(rack)
    path = rack.file("one.tsv", rows_of(5))
    link = os.path.join(rack.dir, "link.tsv")
    os.path.lexists(link) or os.symlink(path, link)
    rack.fullrack("add", "dbo.t", path, "-q")
    for name in (link, os.path.join(rack.dir, ".", "one.tsv"), rack.dir + "//one.tsv"):
        rack.fullrack("add", "dbo.t", name, exit=2)
        check("already queued" in rack.err, "message", rack.err)
        rack.fullrack("load", "dbo.t", path, name, exit=2)
        check("was given twice" in rack.err, "message", rack.err)
    for table in ("t", "DBO.T", "[dbo].[t]"):
        rack.fullrack("add", table, path, exit=2)
        check("already queued for dbo.t" in rack.err, "message", rack.err)
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (5, 5), "rows")


def test_reset_of_an_active_task_is_refused(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("ra.tsv", rows_of(5)), "-q")
    rack.sql("UPDATE dbo.work_queue SET state = 'active', epoch = 1, lease_until = '2999-01-01'", "fullrack")
    rack.fullrack("reset", "--all", exit=2)
    check("is active: cancel it first" in rack.err, "message", rack.err)


def test_start_and_join_of_a_run_that_is_over(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("so.tsv", rows_of(5)), "-q")
    run = str(rack.json("run", "--workers", "1")["run_id"])
    rack.fullrack("start", run, exit=2)
    check("or it is over" in rack.err, "message", rack.err)
    rack.fullrack("run", "--run-id", run, exit=2)
    check("or it is over" in rack.err, "message", rack.err)


def test_errors_that_were_overcome_are_not_the_last_word(rack):
    """--encrypt prefer met a server without TLS, and went on in clear: no cause of the bad row."""
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("ov.tsv", "x\tbad\n"), "-q")
    rack.fullrack("run", "--workers", "1", exit=1)
    check("cannot connect" not in rack.err, "message", rack.err)


def test_figures_of_a_load_whose_server_died(rack):
    """What is committed is said, also when the last attempt could not ask."""
    fresh(rack)
    path = rack.file("died.tsv", rows_of(400000))
    load = rack.spawn("load", "dbo.t", path, "-b", "2000", "--retry-for", "2", "--json")
    wait_until("rows", 60, lambda: count(rack)[0] > 0)
    rack.kill_server()
    out, err = load.communicate(timeout=120)
    rack.server.stdout.close()
    rack.start()
    equal(load.returncode, 1, "exit: " + err)
    rows = count(rack)[0]
    said = json.loads(out)["rows"]
    check(0 < said <= rows, "rows that were said, and rows that are there", said, rows)


def test_ports_do_not_wrap(rack):
    for port in ("99999", "0", "abc"):
        rack.fullrack("query", "SELECT 1", "-S", "127.0.0.1:" + port, exit=2)
        check("is not a port" in rack.err, "message", rack.err)


def test_interrupted_prompt_leaves_the_terminal_as_it_was(rack):
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    env = {k: v for k, v in rack.env().items() if k != "FULLRACK_PASSWORD"}

    def own_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    p = subprocess.Popen(rack.command("query", "SELECT 1"), stdin=slave, stdout=slave, stderr=slave, env=env,
                         preexec_fn=own_terminal)
    rack.started.append(p)
    wait_until("the prompt", 30, lambda: not termios.tcgetattr(slave)[3] & termios.ECHO)
    p.send_signal(signal.SIGINT)
    p.wait(30)
    equal(p.returncode, -signal.SIGINT, "ended by the signal")
    equal(termios.tcgetattr(slave)[3] & termios.ECHO, before[3] & termios.ECHO, "echo")
    os.close(master)
    os.close(slave)


def test_control_inside_the_target_database(rack):
    fresh(rack)
    more = ["--control-database", "t"]
    rack.fullrack("init", "-q", *more)
    equal(rack.sql("SELECT OBJECT_ID(N'dbo.work_queue'), SCHEMA_NAME(schema_id) FROM sys.tables WHERE name = 'work_queue'"),
          [(None, "fullrack")], "a schema of its own")
    rack.fullrack("add", "dbo.t", rack.file("c.tsv", rows_of(8)), "-q", *more)
    equal(rack.json("run", "--workers", "1", *more)["rows"], 8, "rows")
    rack.fullrack("init", "-q", *more)
    equal(rack.json("verify", *more)["differences"], [], "verify")
    rack.fullrack("status", *more)
    equal(rack.json("reset", "--all", *more)["changed"], 1, "reset")
    equal(queue(rack), [], "the other queue has nothing of it")


def through_proxy(rack, *args):
    """The same command, through a proxy that breaks things: (proxy, process)."""
    proxy = Proxy(lambda: rack.port)
    command = rack.command(*args)
    command[command.index("-S") + 1] = "127.0.0.1:%d" % proxy.port
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=rack.env())
    rack.started.append(p)
    return proxy, p


def test_full_log_pauses_the_run(rack):
    """9002 and 1105: nothing is wrong with the task, no attempt is spent, and it is said."""
    for number in (9002, 1105):
        fresh(rack)
        path = rack.file("full.tsv", rows_of(30))
        proxy = Proxy(lambda: rack.port)
        server = "127.0.0.1:%d" % proxy.port
        rack.fullrack("add", "dbo.t", path, "-q", "-b", "10", "--max-attempts", "1")
        rack.sql("UPDATE dbo.work_queue SET target_server = '%s'" % server, "fullrack")
        proxy.order(number)
        command = rack.command("run", "--workers", "1")
        command[command.index("-S") + 1] = server
        r = subprocess.run(command, capture_output=True, text=True, env=rack.env(), timeout=120)
        equal(r.returncode, 0, "exit: " + r.stderr)
        check("paused" in r.stderr and "error %d" % number in r.stderr, "it is said", r.stderr)
        equal(queue(rack, "state, attempts, rows_loaded"), [("done", 1, 30)], "queue")
        equal(count(rack), (30, 30), "rows")
        equal(rack.sql("SELECT TOP 1 pause_reason FROM dbo.run ORDER BY run_id DESC", "fullrack"), [(None,)], "the pause is over")
        proxy.close()


def test_full_log_pauses_a_load(rack):
    fresh(rack)
    proxy, p = through_proxy(rack, "load", "dbo.t", rack.file("full.tsv", rows_of(30)), "-b", "10")
    proxy.order(9002)
    out, err = p.communicate(timeout=120)
    proxy.close()
    equal(p.returncode, 0, "exit: " + err)
    equal(count(rack), (30, 30), "rows")


def test_each_retryable_error_is_retried(rack):
    """The numbers of src/load/retry.c, each in the place of a COMMIT's answer."""
    fresh(rack)
    for i, number in enumerate((1205, 1204, 1222, 701, 8645, 3960, 4891, 41302, 41305, 41325, 40197, 40501, 40613, 49918,
                                49919, 49920, 976, 983)):
        proxy, p = through_proxy(rack, "load", "dbo.t", rack.file("e%d.tsv" % i, rows_of(5, 1 + 5 * i)))
        proxy.order(number)
        out, err = p.communicate(timeout=120)
        proxy.close()
        equal(p.returncode, 0, "error %d: %s" % (number, err))
        check("error %d" % number in err and "trying again" in err, "it is said", err)
        equal(count(rack), (5 * i + 5, 5 * i + 5), "rows after error %d" % number)


def test_other_errors_fail_at_once(rack):
    fresh(rack)
    for number in (229, 547, 2627, 8152):
        proxy, p = through_proxy(rack, "load", "dbo.t", rack.file("o.tsv", rows_of(5)))
        proxy.order(number)
        out, err = p.communicate(timeout=120)
        proxy.close()
        equal(p.returncode, 1, "error %d: %s" % (number, err))
        equal(count(rack), (0, 0), "rows after error %d" % number)


def test_rejects_when_the_answer_to_a_commit_is_lost(rack):
    """It may be committed: what it refused stays in the file, and the load goes on behind it."""
    for what in ("after", "before"):
        for rejects in ("x\n", "1\tlong\ty\n"):
            fresh(rack)
            source = rack.file("doubt.tsv", "".join(rejects + line for line in rows_of(30).splitlines(True)))
            bad = os.path.join(rack.dir, "doubt.bad")
            proxy, p = through_proxy(rack, "load", "dbo.t", source, "-b", "10", "-m", "100", "-e", bad, "--format", "delimited")
            proxy.order(what)
            out, err = p.communicate(timeout=120)
            proxy.close()
            equal(p.returncode, 0, "exit, answer lost %s: %s" % (what, err))
            equal(count(rack), (30, 30), "rows")
            equal(open(bad).read(), 30 * rejects, "reject file")
            equal(len(open(bad + ".json").readlines()), 30, "reasons")


def test_lost_answer_to_the_only_commit_of_a_stream(rack):
    """stdin cannot be read again: the ledger is asked what became of it."""
    for what, code, rows in (("after", 0, 40), ("before", 1, 0)):
        fresh(rack)
        proxy = Proxy(lambda: rack.port)
        command = rack.command("load", "dbo.t", "-")
        command[command.index("-S") + 1] = "127.0.0.1:%d" % proxy.port
        proxy.order(what)
        r = subprocess.run(command, input=rows_of(40).encode(), capture_output=True, env=rack.env(), timeout=120)
        proxy.close()
        equal(r.returncode, code, "exit, answer lost %s: %s" % (what, r.stderr))
        equal(count(rack), (rows, rows), "rows")
        check(code == 0 or b"nothing of it was loaded" in r.stderr, "message", r.stderr)


def test_control_on_another_server(rack):
    fresh(rack)
    other = Rack("--schedulers", "2")
    try:
        word = rack.file("control.word", PASSWORD + "\n")
        os.chmod(word, 0o600)
        more = ["--control-server", other.address, "--control-user", "sa", "--control-password-file", word]
        rack.fullrack("init", "-q", *more)
        equal(other.sql("SELECT COUNT(*) FROM dbo.scheduler_use", "fullrack"), [(4,)], "the target's schedulers")
        files = [rack.file("o%d.tsv" % i, rows_of(500, 1 + 500 * i)) for i in range(4)]
        rack.fullrack("add", "dbo.t", *files, "-q", "-b", "100", *more)
        doc = rack.json("run", "--workers", "2", *more)
        equal((doc["rows"], sorted({t["state"] for t in doc["tasks"]})), (2000, ["done"]), "run")
        equal(rack.json("verify", *more)["differences"], [], "verify")
        equal(other.sql("SELECT name FROM sys.databases WHERE name = 't'", ""), [], "nothing of the target is there")
        # the control server dies in mid-run; the ledger keeps the count
        rack.fullrack("reset", "--all", "-q", *more)
        rack.sql("DELETE FROM dbo.t")
        run = rack.spawn("run", "--workers", "2", "--lease", "2", "--retry-for", "60", *more)
        wait_until("rows", 60, lambda: count(rack)[0] > 0)
        other.kill_server()
        other.server.stdout.close()
        other.start()
        out, err = run.communicate(timeout=120)
        equal(run.returncode, 0, "exit: " + err)
        equal(count(rack), (2000, 2000), "rows")
        equal(rack.json("verify", *more)["differences"], [], "verify")
    finally:
        other.close()
        other.remove()


def test_hangup_ends_as_an_interrupt_does(rack):
    fresh(rack)
    fifo = os.path.join(rack.dir, "hup.fifo")
    os.mkfifo(fifo)
    rack.fullrack("add", "dbo.t", rack.file("hup.tsv", rows_of(1000)), fifo, "-b", "100", "-q")
    run = rack.spawn("run", "--workers", "1")
    out = os.open(fifo, os.O_WRONLY)
    try:
        wait_until("the second task is active", 30, lambda: ("active",) in queue(rack) and ("done",) in queue(rack))
        run.send_signal(signal.SIGHUP)
        wait_until("it ends", 60, lambda: run.poll() is not None)
    finally:
        os.close(out)
    equal(run.returncode, 4, "exit")
    equal(count(rack), (1000, 1000), "rows")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL", "fullrack")[0][0], 0, "claims")


def test_second_interrupt_stops_at_once(rack):
    """The batch cannot end: another transaction holds the table."""
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("int.tsv", rows_of(1000)), "-q")
    db = rack.connect("t")
    db.autocommit(False)
    db.cursor().execute("INSERT INTO dbo.t VALUES (-5, 'lock')")
    run = rack.spawn("run", "--workers", "1")
    wait_until("the task is active", 30, lambda: queue(rack) == [("active",)])
    run.send_signal(signal.SIGINT)
    time.sleep(0.5)
    equal(run.poll(), None, "the first one lets the batch end")
    run.send_signal(signal.SIGINT)
    wait_until("it ends", 60, lambda: run.poll() is not None)
    db.rollback()
    db.close()
    equal(run.returncode, 4, "exit")
    equal(count(rack), (0, 0), "rows")
    rack.fullrack("run", "--workers", "1", "-q", "--lease", "1")
    equal(count(rack), (1000, 1000), "rows of the next run")
    rack.fullrack("verify", "-q")


def test_result_that_cannot_be_written(rack):
    fresh(rack)
    with open("/dev/full", "w") as full:
        p = subprocess.run(rack.command("load", "--json", "dbo.t", rack.file("d.tsv", rows_of(3))), stdout=full,
                           stderr=subprocess.PIPE, text=True, env=rack.env(), timeout=60)
    equal(p.returncode, 1, "exit")
    check("cannot be written" in p.stderr, "message", p.stderr)
    equal(count(rack), (3, 3), "the rows are loaded all the same")


def test_documents_that_cannot_be_written(rack):
    """Of every command: what it did stays done, and that nobody could read of it is said, as text and as JSON."""
    fresh(rack)
    f, config = rack.file("d.tsv", rows_of(3)), rack.file("c.json", "{}")
    rack.fullrack("load", "-q", "dbo.t", f)
    for args in (("status",), ("query", "SELECT 1 AS a"), ("check", "dbo.t", f), ("check", "--suggest-table", "dbo.n", f), ("config", config),
                              ("add", "dbo.t", f), ("cancel", "--all"), ("reset", "--all"), ("run", "--workers", "1"), ("verify",), ("report",),
                              ("load", "--dry-run", "dbo.t", f), ("schedulers",), ("init",), ("retry", "--all"), ("purge", "--all")):
        for as_json in ((), ("--json",)):
            if not as_json and args[0] in ("run", "cancel", "reset", "purge", "retry", "add"):
                continue  # once: they change the queue
            command = [rack.command(*args)[0], *args] if args[0] == "config" else rack.command(*args)
            with open("/dev/full", "w") as full:
                p = subprocess.run([*command, *as_json], stdout=full, stderr=subprocess.PIPE, text=True, env=rack.env(), timeout=60)
            equal((args, as_json, p.returncode), (args, as_json, 1), p.stderr)
            check("standard output" in p.stderr, "message of " + args[0], p.stderr)


def test_status_watch(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("w.tsv", rows_of(5)), "-q")
    watch = rack.spawn("status", "--watch", "1")
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(iter(watch.stdout.readline, "")))
    reader.start()
    wait_until("three looks", 30, lambda: sum(1 for l in seen if l.startswith("queue: 1 ready")) >= 3)
    watch.send_signal(signal.SIGINT)
    watch.wait(10)
    reader.join(10)
    check(any("rows/s" in l for l in seen), "the pace is shown", seen[:20])


def test_ignore_dup_key_is_refused(rack):
    fresh(rack)
    rack.sql("CREATE UNIQUE INDEX ux ON dbo.t (a) WITH (IGNORE_DUP_KEY = ON)")
    rack.fullrack("load", "dbo.t", rack.file("i.tsv", rows_of(3)), exit=1)
    check("IGNORE_DUP_KEY" in rack.err and "ux" in rack.err, "message", rack.err)
    equal(count(rack), (0, 0), "rows")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
