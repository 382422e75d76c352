#!/usr/bin/python3
"""Jobs: what waits for what, phases as tasks, what follows from failures, retry, reset, cancel and purge of them."""
import json, os, random, signal, subprocess, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from proxy import Proxy
from rack import check, equal, main, tests_of, wait_until, workers_of

OPTIONS = ["--schedulers", "4"]


def says(word):
    """A phase that leaves a line in dbo.said."""
    return "INSERT INTO dbo.said (word) VALUES ('%s')" % word


def fresh(rack, *tables):
    rack.fresh("CREATE TABLE dbo.said (n int IDENTITY, word varchar(40) NOT NULL)", "dbo.said")
    for t in tables:
        rack.fresh("CREATE TABLE dbo.%s (a int NOT NULL, b varchar(40) NULL)" % t, "dbo." + t)
    rack.fresh_control()
    rack.sql("IF OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL DELETE FROM dbo.fullrack_ledger")
    for name in os.listdir(rack.dir):
        if name.endswith(".tsv"):
            os.unlink(os.path.join(rack.dir, name))


def files(rack, table, count=2, rows=5):
    for i in range(count):
        rack.file("%s%d.tsv" % (table, i), "".join("%d\tx\n" % k for k in range(rows * i, rows * i + rows)))
    return "%s*.tsv" % table


def entry(rack, table, **more):
    return dict({"name": "dbo." + table, "files": files(rack, table), "before": says(table + " before"), "after": says(table + " after"),
                 "on-failure": says(table + " failed")}, **{k.replace("_", "-"): v for k, v in more.items()})


def written(rack, *tables, **options):
    return rack.file("job.json", json.dumps(dict(options, tables=list(tables)), indent=1))


def said(rack):
    return [r[0] for r in rack.sql("SELECT word FROM dbo.said ORDER BY n")]


def states(rack, columns="state"):
    """Of each step, in order."""
    return ["%s %s %s" % r for r in rack.sql(
        "SELECT target_table, role, %s FROM dbo.work_group ORDER BY group_id" % columns, "fullrack")]


def tasks(rack, what="state", where="1 = 1"):
    return rack.sql("SELECT %s FROM dbo.work_queue WHERE %s ORDER BY task_id" % (what, where), "fullrack")


def count(rack, where):
    return rack.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE " + where, "fullrack")[0][0]


def task_of(rack, table, role, number=1):
    return str(rack.sql("SELECT MIN(q.task_id) FROM dbo.work_queue AS q JOIN dbo.work_group AS g ON g.group_id = q.group_id WHERE "
                        "g.target_table = 'dbo.%s' AND g.role = '%s' AND g.number = %d" % (table, role, number), "fullrack")[0][0])


def clean(rack):
    equal(rack.json("verify")["differences"], [], "verify")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.work_pending", "fullrack"), [(0,)], "nothing is pending")


def test_everything_in_its_order(rack):
    fresh(rack, "a", "b", "c")
    path = written(rack, entry(rack, "c", depends_on=["dbo.a", "dbo.b"], after=[says("c after"), says("c last")]), entry(rack, "a"),
                   entry(rack, "b", depends_on="dbo.a"))
    doc = rack.json("run", "--file", path, "--workers", "3")
    equal(said(rack), ["a before", "a after", "b before", "b after", "c before", "c after", "c last"], "phases in order")
    equal({t["state"] for t in doc["tasks"]}, {"done"}, "tasks")
    equal((doc["rows"], len(doc["tasks"])), (30, 13), "rows are the loads' alone")
    equal([r[0] for r in tasks(rack, "state", "source LIKE 'on-failure%'")], ["skipped"] * 3, "what is for failures")
    last = rack.sql("SELECT a.target_table, MAX(a.end_time), (SELECT MIN(l.start_time) FROM dbo.work_queue AS l WHERE l.target_table = "
                    "a.target_table AND l.kind = 'load') FROM dbo.work_queue AS a WHERE a.source LIKE 'before%' GROUP BY a.target_table",
                    "fullrack")
    for table, before_end, load_start in last:
        check(before_end <= load_start, "loads of %s begin behind its before phase" % table)
    clean(rack)


def test_a_phase_is_a_task(rack):
    """With its figures, and what the server says, whichever client carries it."""
    rack.file("p.sql", "-- of $(TABLE)\nUPDATE $(TABLE) SET b = '$(WORD)' WHERE a < 7\nGO\nPRINT N'so far';\nPRINT 'so good'\ngo\n"
              "INSERT INTO $(TABLE) SELECT 9, b FROM $(TABLE) WHERE a = 9; SELECT COUNT(*) FROM $(DATABASE).dbo.t")
    for engine in ("wire", "bcp"):
        fresh(rack, "t")
        path = written(rack, entry(rack, "t", after=[{"file": "p.sql", "variables": {"WORD": "it's"}}]), engine=engine)
        doc = rack.json("run", "--file", path, "--workers", "2")
        t = [t for t in doc["tasks"] if t["source"].startswith("after")][0]
        equal((t["kind"], t["source"], t["table"], t["rows"], t["messages"], t["state"], t["error"], t["engine"]),
              ("query", "after 1 (p.sql)", "dbo.t", 8, "so far\nso good", "done", None, engine), "the task")
        check(t["duration_ms"] >= 0 and t["server_cpu_ms"] is not None and t["spid"] > 0, "its figures", t)
        equal(tasks(rack, "kind, rows_loaded, messages, attempts", "source LIKE 'after%'"), [("query", 8, "so far\nso good", 1)], "queue")
        equal(rack.sql("SELECT COUNT(*), SUM(CASE WHEN b = 'it''s' THEN 1 ELSE 0 END) FROM dbo.t"), [(11, 7)], "what it did")
        text = rack.fullrack("status")
        check("so far so good" in text and "after 1  done" in text and "skipped" in text, "status", text)
        clean(rack)


def test_a_phase_that_fails(rack):
    """At once where it is wrong; what it said and where is kept; a transaction left open is no success."""
    for sql, words, attempts in (("PRINT 'hm'\nGO\n\nSELECT * FROM dbo.no_such_table", "batch at line 3", 1),
                                 ("BEGIN TRANSACTION; INSERT INTO dbo.said (word) VALUES ('lost')", "leaves a transaction open", 1),
                                 ("RAISERROR('not today', 16, 1)", "not today", 1)):
        fresh(rack, "t")
        rack.fullrack("run", "--file", written(rack, entry(rack, "t", after=sql)), "--workers", "2", exit=1)
        check("failed: dbo.t, after 1" in rack.err and words in rack.err, "summary", rack.err)
        row = tasks(rack, "state, attempts, last_error, messages", "source LIKE 'after%'")[0]
        equal(row[:2], ("failed", attempts), "queue")
        check(words in row[2], "reason", row)
        equal(row[3], "hm" if "hm" in sql else None, "messages of the failed attempt")
        equal(said(rack), ["t before", "t failed"], "phases")
        clean(rack)


def test_a_load_that_fails_and_its_retry(rack):
    fresh(rack, "a", "b", "c", "d")
    path = written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a"), entry(rack, "c", depends_on="dbo.b"), entry(rack, "d"))
    rack.sql("ALTER TABLE dbo.a WITH NOCHECK ADD CONSTRAINT ck_small CHECK (a < 5)")
    out = rack.json("run", "--file", path, "--workers", "3", exit=1)
    failed = tasks(rack, "task_id", "state = 'failed'")
    equal(len(failed), 1, "one file of a")
    why = "not run: the load of dbo.a failed (task %d)" % failed[0][0]
    equal(set(tasks(rack, "last_error", "state = 'cancelled'")), {(why,)}, "the root is named, also further on")
    equal(states(rack), ["dbo.a before done", "dbo.a load failed", "dbo.a after blocked", "dbo.a on-failure done", "dbo.b before blocked",
                         "dbo.b load blocked", "dbo.b after blocked", "dbo.b on-failure skipped", "dbo.c before blocked",
                         "dbo.c load blocked", "dbo.c after blocked", "dbo.c on-failure skipped", "dbo.d before done",
                         "dbo.d load done", "dbo.d after done", "dbo.d on-failure skipped"], "steps")
    equal(sorted(w for w in said(rack) if w[0] == "a"), ["a before", "a failed"], "phases of a")
    equal([w for w in said(rack) if w[0] in "bc"], [], "phases of those that wait")
    check(why in json.dumps(out), "the run's result has what was not run", out)
    clean(rack)
    # the cause is mended: its task goes on, and what was cancelled with it; before is not run again
    rack.sql("ALTER TABLE dbo.a DROP CONSTRAINT ck_small")
    rack.fullrack("retry", task_of(rack, "b", "load"), exit=2)
    check("retry that, and this one goes on by itself" in rack.err, "message", rack.err)
    equal(rack.json("retry")["changed"], 1, "retried")
    equal(count(rack, "state = 'cancelled'"), 0, "nothing is cancelled any more")
    rack.fullrack("run", "--workers", "3", "-q")
    equal(said(rack)[-5:], ["a after", "b before", "b after", "c before", "c after"], "phases")
    equal(said(rack).count("a before"), 1, "before is not run again")
    equal(count(rack, "state = 'done'"), 16, "all")
    equal(rack.sql("SELECT COUNT(*), COUNT(DISTINCT a) FROM dbo.a"), [(10, 10)], "rows of a")
    clean(rack)


def test_retry_of_an_after_phase_leads_on(rack):
    fresh(rack, "a", "b")
    path = written(rack, entry(rack, "a", after=["INSERT INTO dbo.made_later VALUES (1)", says("a last")]), entry(rack, "b", depends_on="dbo.a"))
    rack.sql("DROP TABLE IF EXISTS dbo.made_later")
    rack.fullrack("run", "--file", path, "--workers", "2", "-q", exit=1)
    equal(said(rack), ["a before", "a failed"], "phases")
    check(tasks(rack, "last_error", "target_table = 'dbo.b' AND kind = 'load'")[0][0].startswith("not run: after 1 of dbo.a failed"), "reason")
    rack.sql("CREATE TABLE dbo.made_later (a int)")
    equal(rack.json("retry", task_of(rack, "a", "after"))["changed"], 1, "retried")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(said(rack)[2:], ["a last", "b before", "b after"], "it leads on")
    equal(rack.sql("SELECT (SELECT COUNT(*) FROM dbo.a), (SELECT COUNT(*) FROM dbo.b)"), [(10, 10)], "rows, once")
    equal(states(rack)[4], "dbo.a on-failure skipped", "in the end nothing failed")
    clean(rack)


def test_failing_twice_cleans_up_twice(rack):
    fresh(rack, "a")
    rack.fullrack("run", "--file", written(rack, entry(rack, "a", before="SELECT 1 / 0")), "--workers", "2", "-q", exit=1)
    equal(said(rack), ["a failed"], "phases")
    rack.fullrack("retry", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    equal(said(rack), ["a failed"] * 2, "phases")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.a"), [(0,)], "nothing is loaded behind a before phase that failed")
    clean(rack)


def test_finally_comes_last_whatever_happened(rack):
    """Of the table and of all that it depends on, also indirectly; again when something of it goes on."""
    fresh(rack, "a", "b", "slow")
    end = {"name": "dbo.end_of_it", "depends-on": ["dbo.b", "dbo.slow"], "after": says("end"), "on-failure": says("end failed"),
           "finally": [says("last 1"), says("last 2")]}
    path = written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a"),
                   entry(rack, "slow", after=["WAITFOR DELAY '00:00:02'", says("slow after")]), end, again=True)
    rack.fullrack("run", "--file", path, "--workers", "3", "-q")
    equal(said(rack)[-3:], ["end", "last 1", "last 2"], "all well")
    clean(rack)
    rack.sql("DELETE FROM dbo.said")
    rack.sql("ALTER TABLE dbo.a WITH NOCHECK ADD CONSTRAINT ck_small CHECK (a < 5)")
    rack.fullrack("run", "--file", path, "--workers", "3", "-q", exit=1)
    equal(said(rack)[-3:], ["slow after", "last 1", "last 2"], "not before the slow one is through")
    check("a failed" in said(rack) and "end failed" not in said(rack) and "b before" not in said(rack), "phases", said(rack))
    clean(rack)
    rack.sql("ALTER TABLE dbo.a DROP CONSTRAINT ck_small")
    rack.fullrack("retry", "-q")
    rack.fullrack("run", "--workers", "3", "-q")
    equal(said(rack)[-3:] + [said(rack).count("last 1")], ["end", "last 1", "last 2", 2], "and once more")
    clean(rack)
    # where everything is cancelled before anything was begun, it is still the last thing to do
    rack.sql("DELETE FROM dbo.said")
    rack.fullrack("add", "--from", path, "-q")
    rack.fullrack("cancel", "--job", str(rack.sql("SELECT MAX(job_id) FROM dbo.job", "fullrack")[0][0]), "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(said(rack), ["last 1", "last 2"], "phases")
    clean(rack)


def test_reset_replays_in_order(rack):
    fresh(rack, "a", "b")
    path = written(rack, entry(rack, "b", depends_on="dbo.a"), entry(rack, "a"), truncate=True)
    rack.fullrack("run", "--file", path, "--workers", "3", "-q")
    order = ["a before", "a after", "b before", "b after"]
    equal(said(rack), order, "phases")
    rack.fullrack("reset", exit=2)
    check("--job ID" in rack.err, "message", rack.err)
    job = str(rack.sql("SELECT MAX(job_id) FROM dbo.job", "fullrack")[0][0])
    equal(rack.json("reset", "--job", job)["changed"], 8, "tasks; what is for failures decides itself")
    equal(count(rack, "state = 'waiting'"), 9, "all wait but the first")
    equal(tasks(rack, "source", "state = 'ready'")[0][0][:8], "before 1", "the first")
    rack.fullrack("run", "--workers", "3", "-q")
    equal(said(rack), order * 2, "phases")
    equal(rack.sql("SELECT (SELECT COUNT(*) FROM dbo.a), (SELECT COUNT(*) FROM dbo.b)"), [(10, 10)], "rows")
    clean(rack)


def test_reset_of_a_load_runs_its_after_phases_again(rack):
    fresh(rack, "a", "b")
    rack.fullrack("run", "--file", written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a")), "--workers", "2", "-q")
    rack.fullrack("reset", task_of(rack, "a", "load"))
    rack.sql("DELETE FROM dbo.a WHERE a < 5")
    equal(states(rack)[:4], ["dbo.a before done", "dbo.a load open", "dbo.a after waiting", "dbo.a on-failure waiting"], "steps")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(said(rack), ["a before", "a after", "b before", "b after", "a after"], "phases")
    equal(rack.sql("SELECT COUNT(*), COUNT(DISTINCT a) FROM dbo.a"), [(10, 10)], "rows")
    clean(rack)


def test_cancel_leaves_the_cleaning_up(rack):
    fresh(rack, "a", "b")
    fifo = os.path.join(rack.dir, "z.fifo")
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    path = written(rack, dict(entry(rack, "a"), files=["a*.tsv", "z.fifo"]), entry(rack, "b", depends_on="dbo.a"))
    run = rack.spawn("run", "--file", path, "--workers", "2", "--lease", "2")
    out = os.open(fifo, os.O_WRONLY)
    try:
        wait_until("the task is active", 30, lambda: tasks(rack, "state", "source LIKE '%z.fifo'") == [("active",)])
        job = str(rack.sql("SELECT MAX(job_id) FROM dbo.job", "fullrack")[0][0])
        rack.fullrack("cancel", "--job", job, "-q")
        wait_until("the run ends", 60, lambda: run.poll() is not None)
    finally:
        os.close(out)
    equal(run.returncode, 1, "exit")
    equal(states(rack)[:4], ["dbo.a before done", "dbo.a load cancelled", "dbo.a after blocked", "dbo.a on-failure done"], "steps of a")
    equal(said(rack), ["a before", "a failed"], "what was begun is cleaned up")
    equal({s.split()[2] for s in states(rack)[4:]}, {"blocked", "skipped"}, "steps of b")
    rack.fullrack("cancel", task_of(rack, "b", "on-failure"), exit=2)
    check("is skipped already" in rack.err, "message", rack.err)
    clean(rack)


def test_cancel_of_an_active_phase(rack):
    """Its worker is ended, since the statement would go on; the run goes on with another."""
    fresh(rack, "a", "b")
    path = written(rack, entry(rack, "a", after="WAITFOR DELAY '00:02:00'"), entry(rack, "b"))
    run = rack.spawn("run", "--file", path, "--workers", "1", "--lease", "2")
    wait_until("the phase is active", 60, lambda: tasks(rack, "state", "source LIKE 'after%' AND target_table = 'dbo.a'") == [("active",)])
    rack.fullrack("cancel", task_of(rack, "a", "after"), "-q")
    out, err = run.communicate(timeout=90)
    equal(run.returncode, 1, "exit: " + err)
    check("lost the lease" in err, "it is said", err)
    equal(said(rack)[-1:] + said(rack)[:2], ["b after", "a before", "a failed"], "phases")
    clean(rack)


def test_purge_takes_whole_jobs(rack):
    fresh(rack, "a")
    rack.fullrack("add", "--from", written(rack, entry(rack, "a")), "-q")
    first = task_of(rack, "a", "before")
    rack.sql("UPDATE dbo.work_queue SET queued_at = DATEADD(day, -40, queued_at)", "fullrack")
    rack.sql("UPDATE dbo.job SET queued_at = DATEADD(day, -40, queued_at)", "fullrack")
    rack.fullrack("run", "--workers", "1", "-q")
    rack.sql("UPDATE dbo.work_queue SET end_time = DATEADD(day, -40, end_time)", "fullrack")
    rack.fullrack("reset", task_of(rack, "a", "after"), "-q")
    rack.fullrack("purge", first, exit=2)
    check("some of whose tasks are not over" in rack.err, "message", rack.err)
    equal(rack.json("purge")["changed"], 0, "not by age either")
    rack.fullrack("run", "--workers", "1", "-q")
    rack.sql("UPDATE dbo.work_queue SET end_time = DATEADD(day, -40, end_time)", "fullrack")
    equal(rack.json("purge")["changed"], 5, "all of it")
    for table in ("work_queue", "job", "work_group", "work_group_need", "work_pending"):
        equal(rack.sql("SELECT COUNT(*) FROM dbo." + table, "fullrack"), [(0,)], table)


def test_the_same_file_again(rack):
    """Not over: run goes on with it, add refuses; changed meanwhile: refused; over: as any source that is queued."""
    fresh(rack, "a")
    doc = entry(rack, "a")
    path = written(rack, doc)
    job = rack.json("add", "--from", path)["job_id"]
    rack.fullrack("add", "--from", path, exit=2)
    check("is queued as job %d" % job in rack.err and "5 tasks are not over" in rack.err, "message", rack.err)
    rack.fullrack("add", "--from", path, "--again", exit=2)
    check("are not over" in rack.err, "also with --again: two of them would load into the same tables", rack.err)
    written(rack, dict(doc, before="SELECT 2"))
    rack.fullrack("run", "--file", path, exit=2)
    check("was changed since it was queued as job %d" % job in rack.err and "cancel --job %d" % job in rack.err, "message", rack.err)
    written(rack, doc)
    rack.fullrack("run", "--file", path, "--workers", "1")
    check("going on with job %d" % job in rack.err, "it says so", rack.err)
    equal(count(rack, "state = 'done'"), 4, "tasks")
    rack.fullrack("run", "--file", path, exit=2)
    check("2 of 2 files are already queued" in rack.err and '"again": true' in rack.err, "message", rack.err)
    written(rack, doc, again=True)
    rack.fullrack("run", "--file", path, "--workers", "1", "-q")
    equal(count(rack, "state = 'done'"), 8, "once more")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.a"), [(20,)], "rows")
    clean(rack)


def test_the_same_file_by_three_at_the_same_time(rack):
    """One job, on which all work."""
    for i in range(3):
        fresh(rack, "a", "b")
        path = written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a"), again=True)
        runs = [rack.spawn("run", "--file", path, "--workers", "1", "--host-name", h) for h in ("alpha", "beta", "gamma")]
        for p in runs:
            out, err = p.communicate(timeout=120)
            equal(p.returncode, 0, "exit: " + out + err)
        equal(rack.sql("SELECT COUNT(*) FROM dbo.job", "fullrack"), [(1,)], "jobs")
        equal(said(rack), ["a before", "a after", "b before", "b after"], "phases")
        clean(rack)


def test_killed_in_a_phase(rack):
    """The worker, then everything: the phase is run again, by the same command."""
    fresh(rack, "a", "b")
    slow = "WAITFOR DELAY '00:00:02'; " + says("a slow")
    path = written(rack, entry(rack, "a", before=slow), entry(rack, "b", depends_on="dbo.a", after="WAITFOR DELAY '00:00:02'; " + says("b slow")))
    run = rack.spawn("run", "--file", path, "--workers", "2", "--lease", "2")

    def active():
        return tasks(rack, "worker", "state = 'active' AND kind = 'query'")

    who = wait_until("a phase is active", 30, active)[0][0]
    pids = dict(rack.sql("SELECT worker, pid FROM dbo.worker", "fullrack"))
    os.kill(pids[who], signal.SIGKILL)
    wait_until("another worker has it", 30, lambda: any(worker != who for worker, in active()))
    run.kill()
    for child in workers_of(run.pid):
        os.kill(child, signal.SIGKILL)
    run.communicate()
    rack.fullrack("run", "--file", path, "--workers", "2", "--lease", "2")
    check("going on with job" in rack.err, "it goes on", rack.err)
    check(tasks(rack, "attempts", "source LIKE 'before%' AND target_table = 'dbo.a'")[0][0] > 1, "it was tried again")
    check(said(rack).count("a slow") >= 1 and said(rack)[-1] == "b slow", "phases", said(rack))
    equal(rack.sql("SELECT (SELECT COUNT(*) FROM dbo.a), (SELECT COUNT(*) FROM dbo.b)"), [(10, 10)], "rows, once")
    clean(rack)


def test_lost_answer_of_a_phase(rack):
    """Whether it was run is not known: it is run again, as its attempts allow."""
    for attempts, code in ((3, 0), (1, 1)):
        fresh(rack, "a")
        proxy = Proxy(lambda: rack.port)
        path = written(rack, entry(rack, "a", before="WAITFOR DELAY '00:00:01'; " + says("a before")), **{"max-attempts": attempts})
        command = rack.command("run", "--file", path, "--workers", "1")
        command[command.index("-S") + 1] = "127.0.0.1:%d" % proxy.port
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=rack.env())
        rack.started.append(p)
        wait_until("the phase is active", 30, lambda: tasks(rack, "state", "source LIKE 'before%'") == [("active",)])
        time.sleep(0.3)
        proxy.cut(random.Random(1), True)
        out, err = p.communicate(timeout=120)
        proxy.close()
        equal(p.returncode, code, "exit: " + out + err)
        equal(tasks(rack, "state, attempts", "source LIKE 'before%'"), [("done", 2)] if code == 0 else [("failed", 1)], "queue: " + err)
        rack.sql("UPDATE dbo.work_queue SET target_server = '%s'" % rack.address, "fullrack")
        clean(rack)


def test_a_phase_may_take_its_time(rack):
    """--statement-timeout is for loads; --phase-timeout, by default none, for phases; whichever client carries them."""
    for engine in ("wire", "bcp"):
        for limit, state in (("0", "done"), ("5", "done"), ("1", "failed")):
            fresh(rack, "a")
            path = written(rack, entry(rack, "a", before="WAITFOR DELAY '00:00:03'; SELECT 1"), **{"max-attempts": 1, "engine": engine})
            rack.fullrack("run", "--file", path, "--workers", "1", "-q", "--statement-timeout", "1", "--phase-timeout", limit,
                          exit=0 if state == "done" else 1)
            row = tasks(rack, "state, last_error, engine", "source LIKE 'before%'")[0]
            equal(row[0], state, "--engine %s --phase-timeout %s: %s" % (engine, limit, rack.err))
            equal(row[2], engine if state == "done" else None, "the client")
            check(state == "done" or "time-out" in row[1], "reason", row)


def test_a_phase_leaves_nothing_to_the_loads(rack):
    fresh(rack, "a")
    path = written(rack, entry(rack, "a", before="SET ROWCOUNT 1; SET IDENTITY_INSERT dbo.said ON; CREATE TABLE #x (a int); SET XACT_ABORT OFF"))
    rack.fullrack("run", "--file", path, "--workers", "1", "-q")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.a"), [(10,)], "rows")
    clean(rack)


def test_a_before_phase_makes_the_table(rack):
    fresh(rack)
    rack.sql("DROP TABLE IF EXISTS dbo.born")
    path = written(rack, {"name": "dbo.born", "files": files(rack, "born"),
                          "before": "IF OBJECT_ID(N'$(TABLE)') IS NULL CREATE TABLE $(TABLE) (a int, b varchar(10))"})
    rack.fullrack("run", "--file", path, "--workers", "1")
    check("its \"before\" has to make it" in rack.err, "it is said", rack.err)
    equal(rack.sql("SELECT COUNT(*) FROM dbo.born"), [(10,)], "rows")
    clean(rack)


def test_foreground_worker_runs_phases(rack):
    fresh(rack, "a")
    rack.fullrack("add", "--from", written(rack, entry(rack, "a")), "-q")
    out = rack.fullrack("worker")
    equal(said(rack), ["a before", "a after"], "phases")
    check("of dbo.a) done: 1 rows changed" in out, "a line a phase", out)
    clean(rack)


def test_two_hosts_work_on_one_job(rack):
    fresh(rack, "a", "b", "c")
    rack.fullrack("add", "--from", written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a"), entry(rack, "c", depends_on="dbo.b")), "-q")
    runs = [rack.spawn("run", "--workers", "2", "--host-name", h, "-q") for h in ("alpha", "beta")]
    for p in runs:
        out, err = p.communicate(timeout=120)
        equal(p.returncode, 0, "exit: " + err)
    equal(said(rack), ["a before", "a after", "b before", "b after", "c before", "c after"], "phases")
    clean(rack)


def test_at_most_n_loads_of_a_table(rack):
    """Over groups, commands and hosts; other tables are not held up."""
    fresh(rack, "a", "b")
    for i in range(12):
        rack.file("m%02d.tsv" % i, "".join("%d\tx\n" % k for k in range(300 * i, 300 * i + 300)))
    path = written(rack, dict(entry(rack, "a"), files="m0[0-5].tsv", **{"max-per-table": 2, "batch-rows": 20}))
    rack.fullrack("add", "--from", path, "-q")
    rack.fullrack("add", "dbo.a", *[os.path.join(rack.dir, "m%02d.tsv" % i) for i in range(6, 12)], "--max-per-table", "2", "-q", "-b", "20")
    rack.fullrack("add", "dbo.b", os.path.join(rack.dir, "m00.tsv"), "-q")
    equal(count(rack, "state = 'ready' AND target_table = 'dbo.a' AND kind = 'load'"), 2, "ready")
    runs = [rack.spawn("run", "--workers", "3", "--host-name", h, "-q") for h in ("alpha", "beta")]
    seen = set()
    while any(p.poll() is None for p in runs):
        seen.add(rack.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state IN ('active', 'ready') AND target_table = 'dbo.a' AND kind = 'load'",
                          "fullrack")[0][0])
    for p in runs:
        out, err = p.communicate()
        equal(p.returncode, 0, "exit: " + err)
    check(max(seen) == 2, "never more than two loads of dbo.a", seen)
    equal(rack.sql("SELECT COUNT(*), COUNT(DISTINCT a) FROM dbo.a"), [(3600, 3600)], "rows")
    clean(rack)


def test_a_limit_and_failures(rack):
    """A failed task gives its place to the next; retry and reset take one again."""
    fresh(rack, "a")
    paths = [rack.file("l%d.tsv" % i, "x\tbad\n" if i < 3 else "%d\tx\n" % i) for i in range(5)]
    rack.fullrack("add", "dbo.a", *paths, "--max-per-table", "1", "-q")
    equal(tasks(rack), [("ready",)] + [("waiting",)] * 4, "one at a time")
    rack.fullrack("run", "--workers", "3", "-q", exit=1)
    equal(tasks(rack), [("failed",)] * 3 + [("done",)] * 2, "the others had their turn")
    rack.fullrack("retry", "-q")
    equal(tasks(rack), [("ready",)] + [("waiting",)] * 2 + [("done",)] * 2, "one at a time")
    rack.fullrack("cancel", str(tasks(rack, "task_id")[0][0]), "-q")
    equal(tasks(rack)[:3], [("cancelled",), ("ready",), ("waiting",)], "the next one")
    rack.fullrack("reset", str(tasks(rack, "task_id")[0][0]), "-q")
    equal(tasks(rack)[:3], [("waiting",), ("ready",), ("waiting",)], "behind it")
    for p in paths[:3]:
        with open(p, "w") as f:
            f.write("1\tgood\n")
    rack.fullrack("reset", *[str(t) for t, in tasks(rack, "task_id")[:3]], "-q")
    rack.fullrack("run", "--workers", "3", "-q")
    equal({s for s, in tasks(rack)}, {"done"}, "all")
    clean(rack)


def test_dead_workers_of_exhausted_tasks(rack):
    """The last attempt of a task that others wait for ends with its worker: what follows follows."""
    fresh(rack, "a", "b")
    path = written(rack, entry(rack, "a", before="WAITFOR DELAY '00:01:00'"), entry(rack, "b", depends_on="dbo.a"), **{"max-attempts": 1})
    run = rack.spawn("run", "--file", path, "--workers", "1", "--lease", "2")
    wait_until("the phase is active", 30, lambda: tasks(rack, "state", "source LIKE 'before%' AND target_table = 'dbo.a'") == [("active",)])
    os.kill(workers_of(run.pid)[0], signal.SIGKILL)
    out, err = run.communicate(timeout=120)
    equal(run.returncode, 1, "exit: " + err)
    check("was ended by signal 9" in tasks(rack, "last_error", "state = 'failed'")[0][0], "reason")
    equal(said(rack), ["a failed"], "phases")
    clean(rack)
    # the same by a lease that ran out
    fresh(rack, "a", "b")
    files(rack, "a"), files(rack, "b")
    rack.fullrack("add", "--from", path, "-q")
    rack.sql("UPDATE dbo.work_queue SET state = 'active', attempts = 1, epoch = 1, worker = 'w', host = 'h', lease_token = NEWID(), "
             "lease_until = '2000-01-01' WHERE state = 'ready'", "fullrack")
    rack.fullrack("run", "--file", path, "--workers", "1", exit=1)
    check("tasks not run: before 1 of dbo.a failed" in rack.err, "the summary says what was not run, on a line", rack.err)
    check("the lease of worker w on h ran out" in tasks(rack, "last_error", "state = 'failed'")[0][0], "reason")
    equal(said(rack), ["a failed"], "phases")
    clean(rack)


def test_upgrade_from_version_3(rack):
    fresh(rack, "a")
    rack.fullrack("add", "dbo.a", rack.file("u.tsv", "1\tx\n"), "-q")
    sql = lambda text: rack.sql(text, "fullrack")
    for table in ("job", "work_group", "work_group_need", "table_limit", "work_pending", "add_gate"):
        sql("DROP TABLE dbo." + table)
    sql("DROP INDEX ix_work_queue_group ON dbo.work_queue")
    sql("ALTER TABLE dbo.work_queue DROP COLUMN group_id, limit_id, blocked_by, sql_text, messages")
    sql("ALTER TABLE dbo.work_queue DROP CONSTRAINT ck_work_queue_states")
    sql("ALTER TABLE dbo.work_queue ADD CONSTRAINT ck_work_queue_state CHECK (state IN ('ready', 'active', 'done', 'failed', 'cancelled'))")
    sql("DELETE FROM dbo.control_version WHERE version > 3")
    rack.fullrack("run", "-q", exit=2)
    check("has version 3" in rack.err, "message", rack.err)
    rack.fullrack("init", "-q")
    rack.fullrack("init", "-q")
    rack.fullrack("run", "--file", written(rack, entry(rack, "a")), "--workers", "1", "-q")
    equal({s for s, in tasks(rack)}, {"done", "skipped"}, "the task of before, and a job")
    clean(rack)


def test_queue_inside_the_target_database(rack):
    fresh(rack, "a", "b")
    more = ["--control-database", "t"]
    rack.fullrack("init", "-q", *more)
    path = written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a", after="SELECT 1 / 0"), **{"max-per-table": 1})
    rack.fullrack("run", "--file", path, "--workers", "2", "-q", *more, exit=1)
    equal(said(rack), ["a before", "a after", "b before", "b failed"], "phases")
    equal(rack.json("verify", *more)["differences"], [], "verify")
    rack.fullrack("status", *more)
    rack.fullrack("retry", "-q", *more)
    rack.fullrack("cancel", "--all", "-q", *more)
    rack.fullrack("purge", "--older-than", "0", "-q", *more)


def test_verify_sees_what_was_not_settled(rack):
    fresh(rack, "a", "b")
    rack.fullrack("run", "--file", written(rack, entry(rack, "a"), entry(rack, "b", depends_on="dbo.a")), "--workers", "2", "-q")
    clean(rack)
    for change, back, words in (
            ("UPDATE dbo.work_queue SET state = 'failed' WHERE source LIKE 'after%' AND target_table = 'dbo.a'",
             "UPDATE dbo.work_queue SET state = 'done' WHERE source LIKE 'after%' AND target_table = 'dbo.a'", "is failed, but after 1 of dbo.a"),
            ("UPDATE dbo.work_queue SET state = 'waiting' WHERE task_id = 1 + (SELECT MIN(task_id) FROM dbo.work_queue)",
             "UPDATE dbo.work_queue SET state = 'done' WHERE state = 'waiting'", "but the queue keeps it as over"),
            ("UPDATE dbo.work_group SET state = 'waiting' WHERE role = 'load' AND target_table = 'dbo.b'",
             "UPDATE dbo.work_group SET state = 'done' WHERE role = 'load'", "load 1 of dbo.b in job")):
        rack.sql(change, "fullrack")
        check(any(words in d for d in rack.json("verify", exit=1)["differences"]), "difference", words)
        rack.sql(back, "fullrack")
    clean(rack)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
