#!/usr/bin/python3
"""fullrack workload: the query that was assigned least recently goes next, whoever fails meanwhile."""
import csv, json, os, signal, sys, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import LEGIBLE, PROGRAM, Browser
from rack import check, equal, main, tests_of, wait_until, workers_of

TABLE = "CREATE TABLE dbo.t (a int NOT NULL, v varchar(20) NOT NULL)"


def folder(rack, name, **files):
    """A folder of SQL files; its path."""
    path = os.path.join(rack.dir, name)
    os.makedirs(path, exist_ok=True)
    for old in os.listdir(path):
        os.remove(os.path.join(path, old))
    for file, text in files.items():
        with open(os.path.join(path, file.replace("__", ".")), "w") as f:
            f.write(text)
    return path


def prepare(rack, rows=5):
    rack.fresh(TABLE)
    for i in range(rows):
        rack.sql("INSERT INTO dbo.t VALUES (%d, 'row %d')" % (i, i))
    rack.fresh_control()
    for table in ("workload", "workload_query", "workload_execution"):
        rack.sql("DELETE FROM dbo." + table, "fullrack")


def control(rack, text):
    return rack.sql(text, "fullrack")


def starts(rack, run_id):
    """Entries in the order of their starts."""
    return [r[0] for r in control(rack, "SELECT entry FROM dbo.workload_execution WHERE run_id = %d ORDER BY execution_id" % run_id)]


def check_least_recent(order, entries):
    """Between two starts of one entry every other entry started."""
    last = {}
    for at, entry in enumerate(order):
        if entry in last:
            between = set(order[last[entry] + 1:at])
            equal(between, set(range(1, entries + 1)) - {entry}, "entries between two starts of %d" % entry)
        last[entry] = at


def percentile(sorted_values, percent):
    return sorted_values[max(0, -(-len(sorted_values) * percent // 100) - 1)]


def median(sorted_values):
    n = len(sorted_values)
    return (sorted_values[(n - 1) // 2] + sorted_values[n // 2]) / 2


def test_least_recently_assigned_of_16_sessions(rack):
    prepare(rack)
    path = folder(rack, "many", **{"q%d__sql" % i: "SELECT %d FROM dbo.t; WAITFOR DELAY '00:00:00.0%02d'" % (i, i * 7 % 30) for i in range(1, 24)})
    out = rack.json("workload", path, "--workers", "16", "--loop", "12", "--pin", "off")
    order = starts(rack, out["run_id"])
    equal(len(order), 23 * 12, "starts")
    check_least_recent(order, 23)
    equal(out["executions"], 23 * 12, "executions")
    equal(out["errors"], 0, "errors")
    equal(out["rows"], 23 * 12 * 5, "rows that were read")
    equal({q["executions"] for q in out["queries"]}, {12}, "executions of each query")
    sessions = control(rack, "SELECT COUNT(DISTINCT worker) FROM dbo.workload_execution WHERE run_id = %d" % out["run_id"])[0][0]
    equal(sessions, 16, "sessions that ran something")
    times = control(rack, "SELECT q.entry FROM dbo.workload_query AS q JOIN (SELECT entry, MAX(start_time) AS last_start FROM dbo.workload_execution "
                    "WHERE run_id = %d GROUP BY entry) AS e ON e.entry = q.entry WHERE q.run_id = %d AND CONVERT(datetime2(3), q.last_assigned) <> e.last_start"
                    % (out["run_id"], out["run_id"]))
    equal(times, [], "entries whose last_assigned is not their last start")


def test_least_recently_assigned_of_96_sessions(rack):
    prepare(rack)
    path = folder(rack, "wide", **{"q%d__sql" % i: "SELECT %d" % i for i in range(1, 38)})
    out = rack.json("workload", path, "--workers", "96", "--loop", "20", "--pin", "off", "--sample", "0")
    order = starts(rack, out["run_id"])
    equal(len(order), 37 * 20, "starts")
    check_least_recent(order, 37)
    equal((out["executions"], out["errors"], out["unfinished"]), (37 * 20, 0, 0), "executions, errors, unfinished")
    sessions = control(rack, "SELECT COUNT(DISTINCT worker) FROM dbo.workload_execution WHERE run_id = %d" % out["run_id"])[0][0]
    check(sessions > 48, "sessions that ran something", sessions)


def test_two_hosts_share_one_workload(rack):
    prepare(rack)
    path = folder(rack, "hosts", **{"q%d__sql" % i: "SELECT %d; WAITFOR DELAY '00:00:00.02'" % i for i in range(1, 8)})
    first = rack.spawn("workload", path, "--workers", "3", "--loop", "30", "--pin", "off", "--no-start", "--json", "--host-name", "one")
    run_id = wait_until("the run", 20, lambda: control(rack, "SELECT run_id FROM dbo.workload"))[0][0]
    wait_until("three armed", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed'")[0][0] == 3)
    for name in os.listdir(path):      # the SQL is in the control database
        os.remove(os.path.join(path, name))
    second = rack.spawn("workload", "--run-id", str(run_id), "--workers", "2", "--pin", "off", "--host-name", "two", "-q")
    wait_until("five armed", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed'")[0][0] == 5)
    rack.fullrack("start", str(run_id), "-q")
    out, err = first.communicate(timeout=60)
    equal(first.returncode, 0, "exit of the first host: " + err)
    equal(second.wait(60), 0, "exit of the second host")
    equal((json.loads(out)["sessions"], json.loads(out)["workers"]), (5, 3), "sessions of all hosts, and of the first")
    check("s, 5 sessions" in rack.fullrack("report", str(run_id)), "the report says so", rack.fullrack("report", str(run_id)).splitlines()[0])
    order = starts(rack, run_id)
    equal(len(order), 7 * 30, "starts")
    check_least_recent(order, 7)
    hosts = dict(control(rack, "SELECT host, COUNT(*) FROM dbo.workload_execution WHERE run_id = %d GROUP BY host" % run_id))
    check(hosts.get("one", 0) > 20 and hosts.get("two", 0) > 20, "both hosts ran queries", hosts)
    rack.fullrack("workload", "--run-id", "99999", exit=2)
    check("no run 99999" in rack.err, "a run that is not there is named", rack.err)


def test_a_worker_without_a_coordinator_joins(rack):
    prepare(rack)
    path = folder(rack, "lone", good__sql="SELECT 1; WAITFOR DELAY '00:00:00.05'", bad__sql="SELECT 1 / 0")
    first = rack.spawn("workload", path, "--workers", "1", "--loop", "20", "--pin", "off", "--no-start", "--json")
    run_id = wait_until("the run", 20, lambda: control(rack, "SELECT run_id FROM dbo.workload"))[0][0]
    lone = rack.spawn("worker", "--run-id", str(run_id), "--pin", "off", "--host-name", "lone")
    wait_until("two armed", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed'")[0][0] == 2)
    # workers of loads stay out of it
    rack.fullrack("run", "--run-id", str(run_id), exit=2)
    check("is a query workload" in rack.err, "what the run is", rack.err)
    rack.fullrack("start", str(run_id), "-q")
    out, err = lone.communicate(timeout=60)
    equal(lone.returncode, 1, "exit of the worker")
    check("bad.sql: line 1: " in err and "executions failed" in err, "its errors", err)
    first.communicate(timeout=60)
    equal(first.returncode, 1, "exit of the workload")
    hosts = dict(control(rack, "SELECT CASE WHEN host = 'lone' THEN 1 ELSE 0 END, COUNT(*) FROM dbo.workload_execution GROUP BY CASE WHEN host = 'lone' THEN 1 ELSE 0 END"))
    check(hosts.get(0, 0) > 5 and hosts.get(1, 0) > 5 and sum(hosts.values()) == 40, "both ran queries", hosts)
    check_least_recent(starts(rack, run_id), 2)
    # and the other way round
    load = rack.spawn("run", "--workers", "1", "--no-start", "--pin", "off")
    other = wait_until("the run of loads", 20, lambda: control(rack, "SELECT run_id FROM dbo.run WHERE run_id > %d" % run_id))[0][0]
    rack.fullrack("workload", "--run-id", str(other), exit=2)
    check("is no query workload" in rack.err, "what that run is", rack.err)
    load.send_signal(signal.SIGINT)
    load.communicate(timeout=30)


def test_power_run_keeps_the_order(rack):
    prepare(rack)
    path = folder(rack, "power", **{"q%d__sql" % i: "SELECT %d" % i for i in (10, 2, 1, 33)})
    out = rack.json("workload", path, "--power-run")
    equal([os.path.basename(q["name"]) for q in out["queries"]], ["q1.sql", "q2.sql", "q10.sql", "q33.sql"], "the folder's order")
    equal(starts(rack, out["run_id"]), [1, 2, 3, 4], "the order of the starts")
    equal((out["workers"], out["is_power_run"], out["loops"]), (1, True, 1), "what it was")
    # files are taken in the order of the arguments
    listed = rack.file("list.txt", "\n".join(os.path.join(path, "q%d.sql" % i) for i in (33, 1)) + "\n")
    out = rack.json("workload", os.path.join(path, "q10.sql"), "@" + listed, "--power-run")
    equal([os.path.basename(q["name"]) for q in out["queries"]], ["q10.sql", "q33.sql", "q1.sql"], "the order of the arguments")
    equal(starts(rack, out["run_id"]), [1, 2, 3], "the order of the starts")


def test_long_queries_are_kept_whole(rack):
    """They go into the control database in pieces, wherever these end: in a letter of several bytes, among blanks."""
    prepare(rack)
    texts = {"letters%d" % shift: "SELECT '" + "x" * shift + "\u00e4\u6f22\U0001f600" * 1500 + "' AS t" for shift in range(9)}
    texts.update({"blanks%d" % n: "SELECT 1" + " " * n + "AS t" for n in (3891, 3892, 3893, 7788)})
    path = folder(rack, "long", **{name + "__sql": text for name, text in texts.items()})
    out = rack.json("workload", path)
    equal((out["executions"], out["errors"], out["rows"]), (len(texts), 0, len(texts)), "executions, errors, rows")
    kept = {os.path.basename(name)[:-4]: text for name, text in control(rack, "SELECT name, sql_text FROM dbo.workload_query")}
    equal({n for n in texts if kept.get(n) != texts[n]}, set(), "queries that are not as their files")


def test_duration_ends_it(rack):
    prepare(rack)
    path = folder(rack, "short", q__sql="SELECT * FROM dbo.t", r__sql="SELECT 1; WAITFOR DELAY '00:00:00.05'")
    samples = os.path.join(rack.dir, "samples.csv")
    began = time.monotonic()
    out = rack.json("workload", path, "--duration", "3", "--workers", "2", "--csv-file", samples)
    took = time.monotonic() - began
    check(2.9 <= out["seconds"] < 6 and took >= 3, "three seconds", out["seconds"], took)
    equal((out["loops"], out["duration_s"]), (None, 3), "what was asked for")
    check(out["executions"] > 10, "executions", out["executions"])
    late = control(rack, "SELECT COUNT(*) FROM dbo.workload_execution AS e JOIN dbo.ready AS r ON r.run_id = e.run_id "
                   "WHERE e.run_id = %d AND e.start_time > DATEADD(millisecond, 3300, r.raised_at)" % out["run_id"])[0][0]
    equal(late, 0, "starts after the time was over")
    with open(samples) as f:
        rows = list(csv.DictReader(f))
    equal([int(r["second"]) for r in rows], list(range(1, len(rows) + 1)), "seconds of the CSV file")
    check(3 <= len(rows) <= out["seconds"] + 2, "a line a second", rows)
    equal(sum(int(r["executions"]) for r in rows), out["executions"], "executions of the CSV file")
    equal(sum(int(r["rows"]) for r in rows), out["rows"], "rows of the CSV file")
    equal(sum(s["executions"] for s in out["samples"]), out["executions"], "executions of the samples")
    check(all(float(r["p95_ms"]) >= float(r["mean_ms"]) / 2 > 0 for r in rows if int(r["executions"])), "times of the CSV file", rows)


def test_figures_are_those_of_the_control_database(rack):
    prepare(rack)
    path = folder(rack, "figures", a__sql="SELECT * FROM dbo.t; SELECT a FROM dbo.t\nGO\nSELECT COUNT(*) FROM dbo.t\n",
                  b__sql="SELECT TOP (2) v FROM dbo.t ORDER BY v; WAITFOR DELAY '00:00:00.01'", c__sql="SELECT 1 FROM dbo.nowhere")
    out = rack.json("workload", path, "--workers", "3", "--loop", "15", exit=1)
    for q in out["queries"]:
        rows = control(rack, "SELECT duration_us, rows_read, server_cpu_ms, server_logical_reads, error FROM dbo.workload_execution "
                       "WHERE run_id = %d AND entry = %d" % (out["run_id"], q["entry"]))
        well = sorted(r[0] / 1000 for r in rows if r[4] is None)
        equal(q["executions"], len(rows), "executions of " + q["name"])
        equal(q["errors"], sum(r[4] is not None for r in rows), "errors of " + q["name"])
        equal(q["rows"], sum(r[1] for r in rows), "rows of " + q["name"])
        equal(q["server_cpu_ms"], sum(r[2] for r in rows if r[2] is not None), "CPU of " + q["name"])
        equal(q["server_logical_reads"], sum(r[3] for r in rows if r[3] is not None), "reads of " + q["name"])
        if not well:
            equal([q[k] for k in ("mean_ms", "min_ms", "median_ms", "p95_ms", "max_ms")], [None] * 5, "times of " + q["name"])
            continue
        for key, want in (("mean_ms", sum(well) / len(well)), ("min_ms", well[0]), ("median_ms", median(well)),
                          ("p95_ms", percentile(well, 95)), ("max_ms", well[-1])):
            check(abs(q[key] - want) < 1e-6 * max(1, want), "%s of %s" % (key, q["name"]), q[key], want)
    equal([q["rows"] for q in out["queries"]], [15 * 11, 15 * 2, 0], "rows of each query")
    equal(out["errors"], 15, "errors")
    check(all(q["server_cpu_ms"] is not None for q in out["queries"]), "the session's counters were read", out["queries"])
    check(out["queries"][0]["server_logical_reads"] > 15, "a table that is read costs reads", out["queries"])
    # the same from the report, and as text
    report = rack.json("report", str(out["run_id"]))
    for key in ("executions", "rows", "errors", "queries", "failures", "samples", "schedulers", "full_rack"):
        equal(report["workload"][key], out[key], "%s of the report" % key)
    text = rack.fullrack("report", str(out["run_id"]))
    check("45 executions of 3 queries" in text and "nowhere" in text, "the report as text", text)
    rows = list(csv.DictReader(rack.fullrack("report", str(out["run_id"]), "--csv").splitlines()))
    equal([(int(r["executions"]), int(r["errors"]), int(r["rows"])) for r in rows],
          [(q["executions"], q["errors"], q["rows"]) for q in out["queries"]], "the report as CSV")


def test_failing_queries_are_counted_and_named(rack):
    prepare(rack)
    path = folder(rack, "failing", good__sql="SELECT 1",
                  bad__sql="SELECT 1\nGO\n\n-- a comment\nSELECT a FROM dbo.t\nSELECT 1 / 0\nGO\nSELECT 3\n",
                  open__sql="BEGIN TRANSACTION\nUPDATE dbo.t SET v = 'changed'\n")
    out = rack.json("workload", path, "--workers", "2", "--loop", "3", exit=1)
    by_name = {os.path.basename(q["name"]): q for q in out["queries"]}
    equal({n: (q["executions"], q["errors"]) for n, q in by_name.items()},
          {"good.sql": (3, 0), "bad.sql": (3, 3), "open.sql": (3, 3)}, "executions and errors")
    messages = {os.path.basename(f["name"]): (f["message"], f["count"]) for f in out["failures"]}
    check(messages["bad.sql"][0].startswith(os.path.join(path, "bad.sql") + ": line 6: ") and "8134" in messages["bad.sql"][0],
          "file and line", messages)
    check("leaves a transaction open" in messages["open.sql"][0], "a transaction that is left open", messages)
    equal([messages[n][1] for n in ("bad.sql", "open.sql")], [3, 3], "how often")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.t WHERE v = 'changed'")[0][0], 0, "rows of a transaction that was left open")
    run = control(rack, "SELECT state FROM dbo.run WHERE run_id = %d" % out["run_id"])
    equal(run, [("failed",)], "the run's state")


def test_a_session_that_runs_no_statement_is_replaced(rack):
    """Else all that came after it would do nothing, and seem to end well."""
    for option in ("NOEXEC", "PARSEONLY", "FMTONLY"):
        prepare(rack)
        path = folder(rack, "no_exec", a__sql="SET %s ON" % option, b__sql="SELECT a FROM dbo.t", c__sql="SELECT 1 / 0")
        out = rack.json("workload", path, "--loop", "3", "--workers", "1", "--pin", "off", exit=1)
        equal([(q["executions"], q["errors"], q["rows"]) for q in out["queries"]], [(3, 3, 0), (3, 0, 15), (3, 3, 0)], "executions, errors, rows: " + option)
        check(any("runs no statement" in f["message"] and f["count"] == 3 for f in out["failures"]), "the reason", out["failures"])
        check(out["queries"][1]["server_logical_reads"] is not None, "counters of the new session", out["queries"][1])


def test_a_time_out_is_an_error_and_a_new_login(rack):
    prepare(rack)
    path = folder(rack, "slow", a__sql="WAITFOR DELAY '00:00:20'", b__sql="SELECT 1")
    out = rack.json("workload", path, "--loop", "2", "--workers", "1", "--statement-timeout", "1", "--pin", "off", exit=1)
    equal([(q["executions"], q["errors"]) for q in out["queries"]], [(2, 2), (2, 0)], "executions and errors")
    check("--statement-timeout" in out["failures"][0]["message"], "the reason", out["failures"])
    equal(control(rack, "SELECT DISTINCT worker FROM dbo.workload_execution WHERE run_id = %d" % out["run_id"]), [("w1",)],
          "one process, which logged in again for what ended well")


def test_a_lost_connection_is_an_error_and_a_new_login(rack):
    prepare(rack)
    path = folder(rack, "lost", **{"q%d__sql" % i: "SELECT %d; WAITFOR DELAY '00:00:00.3'" % i for i in range(1, 4)})
    p = rack.spawn("workload", path, "--workers", "2", "--loop", "6", "--json", "--pin", "off")
    spid = wait_until("a session at work", 20, lambda: rack.sql("SELECT r.session_id FROM sys.dm_exec_requests AS r JOIN sys.dm_exec_sessions AS s "
                      "ON s.session_id = r.session_id WHERE s.program_name = 'fullrack worker' AND r.command = 'WAITFOR'", "master"))[0][0]
    rack.sql("KILL %d" % spid, "master")
    text, err = p.communicate(timeout=60)
    out = json.loads(text)
    equal((p.returncode, out["executions"], out["errors"], out["unfinished"]), (1, 18, 1, 0), "exit, executions, errors, unfinished: " + err)
    later = control(rack, "SELECT COUNT(*) FROM dbo.workload_execution AS e JOIN dbo.workload_execution AS f ON f.worker = e.worker "
                    "WHERE f.error IS NOT NULL AND e.execution_id > f.execution_id AND e.error IS NULL")[0][0]
    check(later > 2, "the same process went on, over another connection", later)
    equal(control(rack, "SELECT COUNT(DISTINCT worker) FROM dbo.workload_execution"), [(2,)], "worker processes")
    check_least_recent(starts(rack, out["run_id"]), 3)


def test_killed_session(rack):
    prepare(rack)
    path = folder(rack, "killed", **{"q%d__sql" % i: "SELECT %d; WAITFOR DELAY '00:00:00.2'" % i for i in range(1, 6)})
    p = rack.spawn("workload", path, "--workers", "4", "--duration", "5", "--json", "--pin", "off")
    wait_until("executions", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.workload_execution WHERE end_time IS NOT NULL")[0][0] > 8)
    victims = workers_of(p.pid)
    os.kill(victims[0], signal.SIGKILL)
    text, err = p.communicate(timeout=60)
    out = json.loads(text)
    equal(p.returncode, 1, "exit: " + err)
    equal(out["errors"], 1, "errors")
    check("signal 9" in out["failures"][0]["message"], "what became of it", out["failures"])
    equal(out["unfinished"], 0, "still under way")
    check_least_recent(starts(rack, out["run_id"]), 5)
    names = [r[0] for r in control(rack, "SELECT DISTINCT worker FROM dbo.workload_execution WHERE run_id = %d" % out["run_id"])]
    check(any("." in n for n in names), "another session took its place", names)


def test_killed_coordinator(rack):
    prepare(rack)
    path = folder(rack, "orphans", q__sql="SELECT 1; WAITFOR DELAY '00:00:01'")
    p = rack.spawn("workload", path, "--workers", "3", "--duration", "60", "--pin", "off")
    wait_until("executions", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.workload_execution")[0][0] >= 3)
    workers = workers_of(p.pid)
    equal(len(workers), 3, "worker processes")
    status = rack.json("status")["queries"]
    equal({os.path.basename(q["name"]) for q in status}, {"q.sql"}, "queries under way in the status")
    check(1 <= len(status) <= 3 and {q["worker"] for q in status} <= {"w1", "w2", "w3"}, "whose they are", status)
    p.kill()
    p.wait()
    wait_until("the sessions end with their queries", 15, lambda: not any(os.path.exists("/proc/%d" % w) for w in workers))
    equal(control(rack, "SELECT COUNT(*) FROM dbo.workload_execution WHERE end_time IS NULL OR error IS NOT NULL"), [(0,)],
          "executions that did not end well")
    count = control(rack, "SELECT COUNT(*) FROM dbo.workload_execution")[0][0]
    check(count <= 6, "no query began after that", count)
    equal(rack.json("report")["workload"]["executions"], count, "executions of the report")


def test_interrupt_ends_the_running_queries(rack):
    prepare(rack)
    path = folder(rack, "stopped", q__sql="SELECT 1; WAITFOR DELAY '00:00:00.5'")
    p = rack.spawn("workload", path, "--workers", "2", "--duration", "60", "--json", "--pin", "off")
    wait_until("executions", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.workload_execution")[0][0] >= 2)
    p.send_signal(signal.SIGINT)
    text, err = p.communicate(timeout=30)
    equal(p.returncode, 4, "exit: " + err)
    out = json.loads(text)
    equal((out["state"], out["errors"], out["unfinished"]), ("stopped", 0, 0), "state, errors, unfinished")


def test_interrupted_twice_ends_at_once(rack):
    prepare(rack)
    path = folder(rack, "long", q__sql="SELECT 1; WAITFOR DELAY '00:01:00'")
    p = rack.spawn("workload", path, "--workers", "2", "--loop", "2", "--json", "--pin", "off")
    wait_until("executions", 20, lambda: control(rack, "SELECT COUNT(*) FROM dbo.workload_execution")[0][0] == 2)
    p.send_signal(signal.SIGINT)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    text, err = p.communicate(timeout=20)
    equal(p.returncode, 4, "exit: " + err)
    out = json.loads(text)
    equal((out["state"], out["executions"], out["errors"], out["unfinished"]), ("stopped", 2, 2, 0), "state, executions, errors, unfinished")


def test_in_a_schema_of_its_own(rack):
    rack.sql("DROP DATABASE IF EXISTS shared; CREATE DATABASE shared", "master")
    rack.fullrack("init", "-q", "--control-database", "shared", database="shared")
    path = folder(rack, "shared", q__sql="SELECT 1", r__sql="SELECT 2")
    out = rack.json("workload", path, "--loop", "4", "--control-database", "shared", database="shared")
    equal((out["executions"], out["errors"]), (8, 0), "executions and errors")
    equal(rack.sql("SELECT entry, assignments FROM fullrack.workload_query ORDER BY entry", "shared"), [(1, 4), (2, 4)], "assignments")


def test_purge_forgets_it(rack):
    prepare(rack)
    path = folder(rack, "purged", q__sql="SELECT 1")
    old = rack.json("workload", path)["run_id"]
    control(rack, "UPDATE dbo.run SET end_time = DATEADD(day, -100, end_time)")
    new = rack.json("workload", path)["run_id"]
    rack.fullrack("purge", "--older-than", "90", "-q")
    for table in ("workload", "workload_query", "workload_execution"):
        equal(control(rack, "SELECT DISTINCT run_id FROM dbo." + table), [(new,)], table + ", where run %d is forgotten" % old)


def test_no_server_and_no_login(rack):
    path = folder(rack, "nobody", q__sql="SELECT 1")
    rack.fullrack("workload", path, "-S", "127.0.0.1:1", exit=3)
    check("127.0.0.1:1" in rack.err, "who did not answer", rack.err)
    rack.fullrack("workload", path, env=dict(rack.env(), FULLRACK_PASSWORD="wrong"), exit=3)
    # the target alone is away
    prepare(rack)
    away = ("-S", "127.0.0.1:1", "--control-server", rack.address, "--workers", "2", "--login-timeout", "2", "--retry-for", "1")
    rack.fullrack("workload", path, *away, exit=3)
    check(rack.err.count("gave up") == 1 and "127.0.0.1:1" in rack.err, "who did not answer, once", rack.err)


def test_schedulers_doubled_and_idle(rack):
    prepare(rack)
    path = folder(rack, "pins", **{"q%d__sql" % i: "SELECT %d; WAITFOR DELAY '00:00:00.1'" % i for i in range(1, 5)})
    out = rack.json("workload", path, "--duration", "3", "--pin", "require")
    equal(out["workers"], 4, "a session per row of scheduler_use")
    equal((out["full_rack"], out["doubled_schedulers"], out["idle_schedulers"]), (True, [], []), "a full rack")
    equal([(s["scheduler_id"], s["sessions"]) for s in out["schedulers"]], [(0, 1), (1, 1), (2, 1), (3, 1)], "sessions of the schedulers")
    out = rack.json("workload", path, "--loop", "3", "--workers", "2", "--pin", "require")
    equal(out["full_rack"], False, "two sessions on four schedulers")
    equal(len(out["idle_schedulers"]), 2, "idle schedulers")
    equal(sorted(out["idle_schedulers"] + [s["scheduler_id"] for s in out["schedulers"]]), [0, 1, 2, 3], "idle and used ones")
    # without pins seven sessions are on four schedulers
    out = rack.json("workload", path, "--duration", "4", "--workers", "7", "--pin", "off")
    check(out["full_rack"] is False and out["doubled_schedulers"], "doubled-up schedulers", out["schedulers"])
    text = rack.fullrack("report", str(out["run_id"]))
    check("not a full rack" in text and "with several sessions at once: " in text, "the report names them", text)


def test_html_report(rack):
    prepare(rack)
    path = folder(rack, "page", **{"one__sql": "SELECT * FROM dbo.t", "two__sql": "SELECT '<b>' + 1"})
    out = rack.json("workload", path, "--duration", "2", exit=1)
    page = os.path.join(rack.dir, "page.html")
    rack.fullrack("report", str(out["run_id"]), "--html", page)
    check(PROGRAM is not None, "chromium is not installed (scripts/packages.debian names it)")
    b = Browser()
    try:
        b.open(page)
        for figure in ("executions", "rows", "p95_ms"):
            equal(b.ask("document.querySelectorAll('#%s rect.bar').length" % figure), len(out["samples"]), "bars of " + figure)
        cells = b.ask("[...document.querySelectorAll('#queries tbody tr')].map(r => [...r.cells].map(c => c.textContent.trim()))")
        equal([c[:4] for c in cells], [[os.path.basename(q["name"])] + [str(q[k]) for k in ("executions", "errors", "rows")] for q in out["queries"]],
              "the table of queries")
        equal(cells[0][7], "%.2f" % out["queries"][0]["p95_ms"], "the 95th percentile")
        equal(b.ask("document.querySelectorAll('#samples tbody tr').length"), len(out["samples"]), "rows of samples")
        equal(b.ask("document.querySelectorAll('#schedulers tbody tr').length"), len(out["schedulers"]), "rows of schedulers")
        check("'<b>'" in b.ask("document.querySelector('#query-failures').textContent"), "the message as text")
        equal(b.ask("document.scripts.length"), 0, "scripts")
        for width in (1200, 420):
            for scheme in ("light", "dark"):
                b.look(width, scheme=scheme)
                b.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
                equal(b.ask(LEGIBLE), [], "legible at %d, %s" % (width, scheme))
    finally:
        b.close()


def test_compared_with_an_earlier_run(rack):
    prepare(rack)
    path = folder(rack, "compared", q__sql="SELECT * FROM dbo.t")
    first, second = (rack.json("workload", path, "--loop", str(n)) for n in (4, 8))
    report = rack.json("report", str(second["run_id"]), "--compare", str(first["run_id"]))
    figures = {f["figure"]: (f["run"], f["earlier"], f["ratio"]) for f in report["compared"]["figures"]}
    equal(figures["executions"], (8, 4, 2.0), "executions")
    equal(figures["p95_ms"][:2], (second["p95_ms"], first["p95_ms"]), "95th percentiles")
    text = rack.fullrack("report", str(second["run_id"]), "--compare", str(first["run_id"]))
    check("compared with run %d" % first["run_id"] in text and "median_ms" in text, "as text", text)
    rack.fullrack("run", "--workers", "1", "-q")
    loads = control(rack, "SELECT MAX(run_id) FROM dbo.run")[0][0]
    rack.fullrack("report", str(second["run_id"]), "--compare", str(loads), exit=2)
    check("--compare" in rack.err, "runs of two kinds", rack.err)


def test_wrong_usage(rack):
    prepare(rack)
    empty = folder(rack, "empty")
    blank = rack.file("blank.sql", " \n")
    path = folder(rack, "usage", q__sql="SELECT 1")
    for args, message in (
            ((), "needs PATH"),
            ((empty,), "empty"),
            ((blank,), "has no SQL in it"),
            ((os.path.join(rack.dir, "nowhere.sql"),), "nowhere.sql"),
            ((path, "--loop", "0"), "--duration"),
            ((path, "--power-run", "--workers", "2"), "--power-run"),
            ((path, "--power-run", "--duration", "2"), "--power-run"),
            ((path, "--rate", "1M"), "--rate"),
            ((path, "--run-id", "1"), "--run-id")):
        rack.fullrack("workload", *args, exit=2)
        check(message in rack.err, "%r: says what is wrong" % (args,), rack.err)
    equal(control(rack, "SELECT COUNT(*) FROM dbo.workload"), [(0,)], "workloads written down")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
