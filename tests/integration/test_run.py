#!/usr/bin/python3
"""The full rack: queue, pinning, start signal, dying workers."""
import json, os, signal, subprocess, sys, time
from rack import *


def prepare(r, files, rows=200, table="CREATE TABLE dbo.t (id int NOT NULL, f int NOT NULL)"):
    r.fresh(table)
    r.fresh_control()
    for i in range(files):
        r.file("q%02d.txt" % i, "".join("%d\t%d\n" % (j, i) for j in range(rows)))
    pattern = os.path.join(r.dir, "q*.txt")
    r.fullrack("add", "-q", "dbo.t", pattern, "-b", "50")
    return pattern


def clean(r):
    for name in os.listdir(r.dir):
        if name.startswith("q") and name.endswith(".txt"):
            os.unlink(os.path.join(r.dir, name))


def test_init_is_repeatable_and_fills_schedulers(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    out = r.fullrack("init")
    check("4 schedulers" in out, "message", out)
    equal(r.sql("SELECT scheduler_id FROM dbo.scheduler_use ORDER BY scheduler_id", "fullrack"), [(0,), (1,), (2,), (3,)], "rows")
    r.sql("DELETE FROM dbo.scheduler_use WHERE scheduler_id = 3", "fullrack")
    out = r.fullrack("init")
    check("3 schedulers" in out, "what the DBA took out stays out", out)
    r.sql("INSERT INTO dbo.scheduler_use (scheduler_id) VALUES (3)", "fullrack")
    check(r.sql("SELECT OBJECT_ID('dbo.fullrack_ledger', 'U')")[0][0] is not None, "init makes the ledger")


def test_four_workers_four_schedulers(r):
    prepare(r, 8, 20000)
    try:
        d = r.json("run", "--workers", "4", "--pin", "require")
        equal((d["rows"], len(d["tasks"]), d["workers"]), (160000, 8, 4), "rows, tasks, workers")
        equal(d["schedulers"], 4, "schedulers")
        check(d["start_skew_ms"] is not None and d["start_skew_ms"] >= 0, "start skew")
        rows = r.sql("SELECT worker, scheduler_id FROM dbo.work_queue", "fullrack")
        by_worker = {}
        for worker, scheduler in rows:
            by_worker.setdefault(worker, set()).add(scheduler)
        equal(sorted(s for v in by_worker.values() for s in v), [0, 1, 2, 3], "each worker on a scheduler of its own: %r" % by_worker)
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(160000, 160000)], "each row once")
        equal(r.sql("SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL", "fullrack"), [(0,)], "claims are given back")
        run = r.sql("SELECT state, start_skew_ms, rows_loaded FROM dbo.run WHERE run_id = %d" % d["run_id"], "fullrack")
        equal(run, [("done", d["start_skew_ms"], 160000)], "the run's row")
        equal(r.sql("SELECT start FROM dbo.ready WHERE run_id = %d" % d["run_id"], "fullrack"), [(True,)], "the start flag")
    finally:
        clean(r)


def test_finished_rows_have_every_figure(r):
    prepare(r, 2, 30000)
    try:
        r.fullrack("run", "-q", "--workers", "2")
        names = ["start_time", "end_time", "duration_ms", "rows_loaded", "rows_rejected", "rows_skipped", "bytes_read", "bytes_sent",
                 "batches", "spid", "login_time", "scheduler_id", "server_cpu_ms", "client_cpu_ms", "server_reads",
                 "server_writes", "server_logical_reads", "scheduler_moves", "trimmed_values", "worker", "host", "engine", "last_assigned"]
        for row in r.sql("SELECT %s, is_active, is_done, is_failed FROM dbo.work_queue" % ", ".join(names), "fullrack"):
            missing = [n for n, v in zip(names, row) if v is None]
            equal(missing, [], "figures that are NULL")
            equal(row[-3:], (0, 1, 0), "is_active, is_done, is_failed")
            v = dict(zip(names, row))
            equal(v["rows_loaded"], 30000, "rows")
            check(v["bytes_read"] > 30000 and v["bytes_sent"] > 0 and v["batches"] >= 1 and v["spid"] > 50, "figures", v)
    finally:
        clean(r)


def test_rows_of_scheduler_use_are_the_limit(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    fifos = []
    for i in range(6):
        fifos.append(os.path.join(r.dir, "f%d.fifo" % i))
        os.mkfifo(fifos[-1])
        r.fullrack("add", "-q", "dbo.t", fifos[-1])
    try:
        for pin in ("require",):
            p = r.spawn("run", "--workers", "6", "--pin", pin, "--json")
            most = 0
            active = lambda: r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'active'", "fullrack")[0][0]
            wait_until("4 tasks are active", 30, lambda: active() == 4)
            for _ in range(20):
                most = max(most, active())
                time.sleep(0.1)
            equal(most, 4, "tasks active at once")
            held = r.sql("SELECT COUNT(DISTINCT worker) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL", "fullrack")
            equal(held, [(4,)], "claims")
            for path in fifos:                       # each task reads one line, then its end
                with open(path, "wb") as w:
                    w.write(b"1\n")
                most = max(most, active())
            out, err = p.communicate(timeout=60)
            equal(p.returncode, 0, "exit status (%s)" % err)
            check(most <= 4, "never more than 4 active", most)
            equal(json.loads(out)["rows"], 6, "rows")
    finally:
        for path in fifos:
            os.unlink(path)


TASK_KEYS = """task_id load_id kind source range_start range_end split_why table state rows rejected skipped trimmed_values bytes_read bytes_sent
    read_ms send_ms answer_ms rate_ms duration_ms client_cpu_ms server_cpu_ms scheduler_id scheduler_moves spid attempts format engine engine_why encrypted messages error were_rows_counted""".split()


def test_task_that_nobody_reported(r):
    """A worker that ended its task in the queue and then died: the queue knows, so the result has it."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    fifo = os.path.join(r.dir, "f.fifo")
    os.mkfifo(fifo)
    try:
        r.fullrack("add", "-q", "dbo.t", fifo)
        r.fullrack("add", "-q", "dbo.t", r.file("u.txt", "1\n" * 7))
        r.sql("UPDATE dbo.work_queue SET not_before = '9999-01-01' WHERE task_id = (SELECT MAX(task_id) FROM dbo.work_queue)",
              "fullrack")
        p = r.spawn("run", "--workers", "1", "--json")
        wait_until("the first task is active", 60, lambda: r.sql(
            "SELECT 1 FROM dbo.work_queue WHERE state = 'active'", "fullrack"))
        run_id, host, worker = r.sql("SELECT run_id, host, worker FROM dbo.work_queue WHERE state = 'active'", "fullrack")[0]
        r.sql("UPDATE dbo.work_queue SET state = 'done', run_id = %d, host = N'%s', worker = N'%s', rows_loaded = 7, attempts = 1"
              " WHERE state = 'ready'" % (run_id, host, worker), "fullrack")
        with open(fifo, "wb") as w:
            w.write(b"1\n")
        out, err = p.communicate(timeout=60)
        equal(p.returncode, 0, "exit status (%s)" % err)
        d = json.loads(out)
        equal((d["rows"], sorted(t["rows"] for t in d["tasks"]), {t["state"] for t in d["tasks"]}), (8, [1, 7], {"done"}), "the result")
        for t in d["tasks"]:
            equal(list(t), TASK_KEYS, "keys of a task")
    finally:
        os.unlink(fifo)


def test_many_more_workers_than_schedulers(r):
    """Those that wait for a row must not keep the others, for whom the start waits, from looking for theirs."""
    prepare(r, 8, 2000)
    try:
        r.json("run", "--workers", "60", "--start-timeout", "20")
        check("starting without the workers" not in r.err, "all have looked before the start", r.err)
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(16000, 16000)], "each row once")
        waited = r.sql("SELECT MAX(pin_attempts) FROM dbo.worker", "fullrack")[0][0]
        check(waited <= 8, "nobody opens connections while no row is free", waited)
    finally:
        clean(r)


def test_collision_makes_a_worker_reconnect(r):
    """All schedulers but one are claimed by somebody else: the worker looks until it lands on that one."""
    tried = []
    try:
        # where its first connection lands is the server's choice, and may happen to be the free one
        for free in (0, 0, 1, 2, 3) * 5:
            prepare(r, 1, 1000)
            r.sql("UPDATE dbo.scheduler_use SET claim_token = NEWID(), worker = 'stranger', lease_until = "
                  "DATEADD(second, 300, SYSUTCDATETIME()) WHERE scheduler_id <> %d" % free, "fullrack")
            d = r.json("run", "--workers", "1", "--pin", "require")
            equal(d["tasks"][0]["scheduler_id"], free, "the scheduler it landed on")
            attempts = r.sql("SELECT pin_attempts, scheduler_id FROM dbo.worker", "fullrack")
            equal(attempts[0][1], free, "scheduler of the worker's row")
            tried.append(attempts[0][0])
            clean(r)
            if tried[-1] > 1:
                break
        check(max(tried) > 1, "no worker had to reconnect: the test shows nothing", tried)
    finally:
        clean(r)
        r.sql("UPDATE dbo.scheduler_use SET claim_token = NULL, worker = NULL, lease_until = NULL", "fullrack")


def is_running(pid):
    """Nobody may have asked yet how an orphan ended."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return "Z" not in f.read().split(")")[1][:3]
    except FileNotFoundError:
        return False


def test_killed_worker(r):
    """SIGKILL in mid-load: noticed, the task goes back, another takes its place, every row once."""
    prepare(r, 4, some(150000))
    try:
        p = r.spawn("run", "--workers", "2", "--json", "--lease", "5")
        wait_until("rows of a committed batch", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
        victims = workers_of(p.pid)
        check(len(victims) == 2, "two workers", victims)
        os.kill(victims[0], signal.SIGKILL)
        out, err = p.communicate(timeout=120)
        equal(p.returncode, 0, "exit status (%s)" % err)
        check("signal 9" in err, "the death is said", err)
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(some(600000),) * 2], "each row once")
        equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'done'", "fullrack"), [(4,)], "tasks done")
        check(r.sql("SELECT MAX(attempts) FROM dbo.work_queue", "fullrack")[0][0] >= 2, "a second attempt was made")
    finally:
        clean(r)
    states = r.sql("SELECT DISTINCT state FROM dbo.worker WHERE run_id = (SELECT MAX(run_id) FROM dbo.worker) AND state <> 'done'", "fullrack")
    equal(states, [("failed",)], "what is said of the worker that was killed")


def test_keys_of_a_task_that_could_not_be_loaded(r):
    """Its worker died, and a stream cannot be read twice: no worker reports it."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    fifo = os.path.join(r.dir, "k.fifo")
    os.mkfifo(fifo)
    try:
        p = r.spawn("load", "dbo.t", fifo, "--json")
        with open(fifo, "wb"):              # returns when the worker opens it
            os.kill(workers_of(p.pid)[0], signal.SIGKILL)
            out, err = p.communicate(timeout=60)
        equal(p.returncode, 1, "exit status (%s)" % err)
        t = json.loads(out)["tasks"][0]
        equal(list(t), TASK_KEYS, "keys of the task")
        equal((t["state"], t["rows"], t["duration_ms"], t["attempts"]), ("failed", 0, None, 1), "the task")
        check("signal 9" in t["error"], "error", t["error"])
    finally:
        os.unlink(fifo)


def test_killed_worker_of_a_load(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("big.txt", "".join("%d\n" % i for i in range(some(1000000))))
    p = r.spawn("load", "dbo.t", f, "-b", "50000", "--json")
    wait_until("rows of a committed batch", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
    os.kill(workers_of(p.pid)[0], signal.SIGKILL)
    out, err = p.communicate(timeout=120)
    equal(p.returncode, 0, "exit status (%s)" % err)
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(some(1000000),) * 2], "each row once")
    check(json.loads(out)["tasks"][0]["attempts"] >= 2, "a second attempt")


def test_killed_fork_server(r):
    """Without the process that starts workers a run ends, and says why; its workers end with their pipes, and nothing is lost."""
    prepare(r, 2, some(400000))
    try:
        p = r.spawn("run", "--workers", "2", "--lease", "5")
        wait_until("rows", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
        workers = workers_of(p.pid)
        os.kill(children_of(p.pid)[0], signal.SIGKILL)
        out, err = p.communicate(timeout=60)
        equal(p.returncode, 1, "exit status (%s)" % err)
        check("the process that starts the workers has ended" in err, "message", err)
        wait_until("workers are gone", 30, lambda: not any(is_running(w) for w in workers))
        r.fullrack("run", "-q", "--workers", "2")
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(some(800000),) * 2], "each row once")
    finally:
        clean(r)


def test_coordinator_dies_workers_finish(r):
    """A worker whose coordinator vanishes ends its batch, hands back its lease and exits."""
    prepare(r, 2, some(200000))
    try:
        p = r.spawn("run", "--workers", "2", "--lease", "5")
        wait_until("rows", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
        workers = workers_of(p.pid)
        p.kill()
        p.wait()
        wait_until("workers are gone", 30, lambda: not any(is_running(w) for w in workers))
        equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'active'", "fullrack"), [(0,)], "leases were handed back")
        r.fullrack("run", "-q", "--workers", "2")
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(some(400000),) * 2], "each row once")
    finally:
        clean(r)


def test_server_restarts_during_a_run(r):
    """The workers come back within --retry-for, and so does the coordinator, whose connection idled."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    n, rows = 12, 20000
    names = [r.file("restart%d.txt" % i, "".join("%d\n" % (i * rows + j) for j in range(rows))) for i in range(n)]
    r.fullrack("add", "-q", "dbo.t", *names, "-b", "1000")
    p = r.spawn("run", "--json", "--workers", "2", "--lease", "3")
    wait_until("a task is done", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'done'", "fullrack")[0][0])
    r.kill_server()
    r.server.stdout.close()
    r.start()
    out, err = p.communicate(timeout=100)
    equal(p.returncode, 0, "exit status (%s)" % err)
    check(json.loads(out)["rows"] > 0, "the summary is there", out)
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(n * rows, n * rows)], "each row once")
    equal(r.sql("SELECT state FROM dbo.run", "fullrack"), [("done",)], "state of the run")


def test_interrupt(r):
    prepare(r, 4, some(300000))
    try:
        p = r.spawn("run", "--workers", "2", "--json")
        wait_until("rows", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=60)
        equal(p.returncode, 4, "exit status (%s)" % err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'active'", "fullrack"), [(0,)], "leases were handed back")
        equal(r.sql("SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL", "fullrack"), [(0,)], "schedulers too")
        r.fullrack("run", "-q", "--workers", "4")
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(some(1200000),) * 2], "each row once")
    finally:
        clean(r)


def test_failures_are_final_and_say_why(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    good, bad = r.file("good.txt", "1\n2\n"), r.file("bad.txt", "1\nx\n")
    missing = os.path.join(r.dir, "not-there.txt")
    r.fullrack("add", "-q", "dbo.t", good, bad, missing, "--unchecked")
    r.fullrack("add", "-q", "dbo.nosuch", good, "--unchecked")
    d = r.json("run", "--workers", "2", exit=1)
    errors = {(os.path.basename(s), t): (state, e) for s, t, state, e in
              r.sql("SELECT source, target_table, state, last_error FROM dbo.work_queue", "fullrack")}
    equal(errors[("good.txt", "dbo.t")], ("done", None), "good file")
    check(errors[("bad.txt", "dbo.t")][0] == "failed" and "row 2" in errors[("bad.txt", "dbo.t")][1], "bad row", errors)
    check("No such file" in errors[("not-there.txt", "dbo.t")][1], "missing file", errors)
    check("dbo.nosuch" in errors[("good.txt", "dbo.nosuch")][1], "missing table", errors)
    equal(sorted(t["state"] for t in d["tasks"]), ["done", "failed", "failed", "failed"], "states in the document")


def test_task_that_waits_for_months(r):
    """The milliseconds since it was queued are more than an int holds."""
    prepare(r, 1, 10)
    try:
        r.sql("UPDATE dbo.work_queue SET not_before = DATEADD(day, -60, SYSUTCDATETIME())", "fullrack")
        equal(json.loads(r.fullrack("status", "--json"))["queue"]["ready"], 1, "tasks that are ready")
        r.fullrack("run", "-q", "--workers", "1")
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(10,)], "rows")
    finally:
        clean(r)


def test_database_that_is_not_there_fails_the_task(r):
    """A login the server refuses is counted as an attempt, else the task would be tried for ever."""
    prepare(r, 1, 10)
    try:
        r.sql("UPDATE dbo.work_queue SET target_database = 'nosuch', max_attempts = 2", "fullrack")
        r.fullrack("run", "-q", "--workers", "1", exit=1, timeout=60)
        state, attempts, error = r.sql("SELECT state, attempts, last_error FROM dbo.work_queue", "fullrack")[0]
        equal((state, attempts), ("failed", 2), "state and attempts")
        check("nosuch" in error, "reason", error)
    finally:
        clean(r)


def test_server_restarts_during_the_run(r):
    """Target and control server are killed and come back: the workers wait for them, every row once."""
    prepare(r, 4, some(150000))
    try:
        p = r.spawn("run", "--workers", "2", "--json", "--lease", "5", "--retry-for", "60")
        wait_until("rows of a committed batch", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
        r.kill_server()
        r.server.stdout.close()
        time.sleep(2)
        r.start()
        out, err = p.communicate(timeout=120)
        equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id * 100 + f) FROM dbo.t"), [(some(600000),) * 2], "each row once (%s)" % err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'done'", "fullrack"), [(4,)], "tasks done")
        equal(p.returncode, 0, "exit status (%s)" % err)
    finally:
        clean(r)


def test_scheduler_claim_taken_by_another(r):
    """A worker whose row of scheduler_use was claimed by another finishes its task and claims a row anew."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    fifos = [os.path.join(r.dir, "claim%d.fifo" % i) for i in range(2)]
    for path in fifos:
        os.mkfifo(path)
        r.fullrack("add", "-q", "dbo.t", path)
    done = lambda: r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'done'", "fullrack")[0][0]
    active = lambda: r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'active'", "fullrack")[0][0]
    try:
        p = r.spawn("run", "--workers", "1", "--pin", "require", "--lease", "3")
        wait_until("the first task", 30, lambda: active() == 1)
        r.sql("UPDATE dbo.scheduler_use SET claim_token = NEWID(), worker = 'stranger', lease_until = "
              "DATEADD(second, 300, SYSUTCDATETIME()) WHERE claim_token IS NOT NULL", "fullrack")
        time.sleep(1.5)                      # a renewal, each second, finds it out
        for i, path in enumerate(fifos):
            wait_until("task %d" % i, 30, lambda: done() == i and active() == 1)
            if i == 1:
                equal(r.sql("SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL AND worker <> 'stranger'",
                            "fullrack"), [(1,)], "rows claimed anew")
            with open(path, "wb") as w:
                w.write(b"1\n")
        out, err = p.communicate(timeout=60)
        equal(p.returncode, 0, "exit status (%s)" % err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2,)], "rows")
    finally:
        r.sql("UPDATE dbo.scheduler_use SET claim_token = NULL, worker = NULL, lease_until = NULL", "fullrack")
        for path in fifos:
            os.unlink(path)


def test_same_source_twice_is_refused(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    f = r.file("once.txt", "1\n")
    r.fullrack("add", "dbo.t", f)
    r.fullrack("add", "dbo.t", f, exit=2)
    check("already queued" in r.err and "--again" in r.err, "message", r.err)
    r.fullrack("add", "dbo.t", f, "--again")
    equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue", "fullrack"), [(2,)], "tasks")


def test_priority(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    for i, priority in enumerate((0, 5, -3, 5)):
        r.fullrack("add", "-q", "dbo.t", r.file("p%d.txt" % i, "%d\n" % i), "--priority", str(priority))
    r.fullrack("run", "-q", "--workers", "1")
    order = r.sql("SELECT source FROM dbo.work_queue ORDER BY start_time, task_id", "fullrack")
    equal([os.path.basename(s[0]) for s in order], ["p1.txt", "p3.txt", "p0.txt", "p2.txt"], "order of work")


def test_start_signal_for_other_workers(r):
    """`worker` joins a run of `run --no-start`; nothing is loaded before `start`."""
    prepare(r, 2, 100)
    try:
        before = r.sql("SELECT COALESCE(MAX(run_id), 0) FROM dbo.run", "fullrack")[0][0]
        p = r.spawn("run", "--workers", "1", "--no-start", "--json")
        run_id = wait_until("the run", 20, lambda: r.sql("SELECT MAX(run_id) FROM dbo.run WHERE run_id > %d" % before, "fullrack")[0][0])
        w = r.spawn("worker", "--run-id", str(run_id))
        wait_until("two armed workers", 30, lambda: r.sql("SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed'", "fullrack")[0][0] == 2)
        time.sleep(1)
        equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state <> 'ready'", "fullrack"), [(0,)], "nobody began")
        r.fullrack("start", str(run_id), database=None)
        for q in (p, w):
            out, err = q.communicate(timeout=60)
            equal(q.returncode, 0, "exit status (%s)" % err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(200,)], "rows")
    finally:
        clean(r)


def test_status(r):
    prepare(r, 2, 100)
    try:
        d = json.loads(r.fullrack("status", "--json"))
        equal((d["queue"]["ready"], d["queue"]["done"]), (2, 0), "queue")
        r.fullrack("run", "-q")
        d = json.loads(r.fullrack("status", "--json"))
        equal((d["queue"]["ready"], d["queue"]["done"]), (0, 2), "queue")
        equal(len(d["schedulers"]), 4, "schedulers")
        check("queue: 0 ready" in r.fullrack("status"), "text")
    finally:
        clean(r)


def test_no_control_database(r):
    r.fullrack("run", "--control-database", "nosuch", exit=3)
    check("fullrack init" in r.err, "message", r.err)
    r.sql("CREATE DATABASE empty_one", "")
    r.fullrack("run", "--control-database", "empty_one", exit=2)
    check("fullrack init" in r.err, "message", r.err)


def test_a_target_that_does_not_answer_is_named(r):
    """Once, whoever of the workers met it; tasks that fail are no such thing."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    r.fullrack("run", "--workers", "3", "-S", "127.0.0.1:1", "--control-server", r.address, "--login-timeout", "2", "--retry-for", "1", exit=3)
    check(r.err.count("gave up: ") == 1 and "127.0.0.1:1" in r.err, "who did not answer", r.err)
    r.fullrack("add", "-q", "dbo.t", r.file("bad.txt", "no\n"), "--max-attempts", "1")
    r.fullrack("run", "--workers", "2", exit=1)
    check("gave up" not in r.err and "bad.txt" in r.err, "a task that failed", r.err)


def test_a_run_whose_workers_cannot_be_started_has_ended(r):
    """Here for want of descriptors, for a pipe to each."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    r.fullrack("add", "-q", "dbo.t", r.file("one.txt", "1\n"))
    for command in (("run",), ("workload", r.file("q.sql", "SELECT 1"))):
        p = subprocess.run(["prlimit", "--nofile=40:40", *r.command(*command, "--workers", "64", "--pin", "off")], env=r.env(), capture_output=True, text=True, timeout=60)
        check(p.returncode == 1 and "Too many open files" in p.stderr, "how %s ended" % command[0], p.returncode, p.stderr)
        run_id, state, end = r.sql("SELECT TOP (1) run_id, state, end_time FROM dbo.run ORDER BY run_id DESC", "fullrack")[0]
        check(state == "failed" and end is not None, "run %d of %s" % (run_id, command[0]), state, end)
    equal(r.json("run", "--workers", "2")["rows"], 1, "rows, once there are enough")


def test_nothing_to_do_is_said(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    r.fullrack("run", "--workers", "1")
    check("nothing to do for the server %s" % r.address in r.err, "message", r.err)


def test_foreground_worker_tells_its_tasks(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    good, bad = r.file("good.txt", "1\n2\n"), r.file("bad.txt", "x\n")
    r.fullrack("add", "-q", "dbo.t", good)
    out = r.fullrack("worker")
    check("done: 2 rows, 0 rejected" in out, "output", out)
    r.fullrack("add", "-q", "dbo.t", bad)
    r.fullrack("worker", exit=1)
    check(r.err.count("not a whole number") == 1, "the reason once", r.err)


def test_spawnmany(r):
    prepare(r, 2, 100)
    try:
        out = subprocess.run([os.path.join(BUILD, "spawnmany"), "Bulk2", "2", "-S", r.address, "-U", "sa", "-d", "t"],
                             env=r.env(), capture_output=True, text=True, timeout=60)
        equal(out.returncode, 0, "exit status (%s)" % out.stderr)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(200,)], "rows")
    finally:
        clean(r)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
