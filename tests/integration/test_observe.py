#!/usr/bin/python3
"""fullrack vfs, waits, latches, schedulers: figures against counts of others."""
import csv, io, json, os, re, subprocess, sys, threading, time
from rack import *


def bytes_written(server):
    """What the kernel says the process wrote, to its files and by write() to anything else."""
    return int(re.search(r"^wchar: (\d+)", open("/proc/%d/io" % server.pid).read(), re.M).group(1))


def snapshot(r, name, *options):
    return json.loads(r.fullrack(name, "--json", *options))


def test_vfs_counts_what_is_written(r):
    time.sleep(1.1)     # averages per day need a server that is a second old
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
    f = r.file("t.csv", "".join("%d,%s\n" % (i, "x" * (i % 200)) for i in range(60000)))
    first, counted = snapshot(r, "vfs"), bytes_written(r.server)
    r.fullrack("load", "dbo.t", f, "--format", "csv", "-q")
    r.sql("UPDATE dbo.t SET v = 'changed' WHERE id % 7 = 0")
    second, counted = snapshot(r, "vfs"), bytes_written(r.server) - counted
    written = sum(x["gb_written"] for x in second["rows"]) * 1e9 - sum(x["gb_written"] for x in first["rows"]) * 1e9
    check(written > os.path.getsize(f), "at least the rows", written)
    check(0.9 * counted <= written <= counted, "the kernel's count", written, counted)
    names = {(x["database"], x["file"]) for x in second["rows"]}
    equal({n for n in names if n[0] == "t"}, set(r.sql("SELECT 't', name FROM sys.database_files")), "the files of t")
    busiest = second["rows"][0]
    equal(busiest["database"], "t", "the busiest file is first")
    days = second["seconds"] / 86400
    check(abs(busiest["gb_written_per_day"] * days - busiest["gb_written"]) < 1e-6 + busiest["gb_written"] / 1000, "per day", second)
    check(busiest["writes"] > 0 and busiest["write_stall_ms"] is not None, "stalls", busiest)
    equal(second["since"], str(r.sql("SELECT CONVERT(varchar(23), sqlserver_start_time, 121) FROM sys.dm_os_sys_info")[0][0]), "start")


def test_vfs_watch(r):
    """Differences, a document a line; what is written in between is in one of them."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("t.csv", "".join("%d\n" % i for i in range(100000)))
    p = subprocess.Popen(r.command("vfs", "--json", "--watch", "1", "--count", "3"), stdout=subprocess.PIPE, env=r.env())
    time.sleep(0.5)
    r.fullrack("load", "dbo.t", f, "--format", "csv", "-q")
    looks = [json.loads(line) for line in p.communicate(timeout=30)[0].splitlines()]
    equal((p.returncode, len(looks)), (0, 3), "looks")
    check(all(x["is_difference"] and not x["was_restarted"] for x in looks), "differences", looks)
    total = sum(x["gb_written"] for look in looks for x in look["rows"] if x["database"] == "t") * 1e9
    check(400000 < total < 4000000, "written in between", total)
    r.fullrack("vfs", "--count", "3", exit=2)
    check("--count is for --watch" in r.err, "said", r.err)


def test_lock_wait_made_on_purpose(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.sql("INSERT INTO dbo.t VALUES (1)")

    def lock_waits():
        return sum(x["wait_ms"] for x in snapshot(r, "waits", "--top", "0")["rows"] if x["name"].startswith("LCK_"))

    before = lock_waits()
    with r.connect("t") as holder, r.connect("t") as waiter:
        one, two = holder.cursor(), waiter.cursor()
        one.execute("BEGIN TRANSACTION UPDATE dbo.t SET id = 2")
        thread = threading.Thread(target=lambda: two.execute("UPDATE dbo.t SET id = 3"))
        started = time.monotonic()
        thread.start()
        time.sleep(1.5)
        one.execute("COMMIT")
        thread.join()
        waited = (time.monotonic() - started) * 1000
    counted = lock_waits() - before
    check(1300 <= counted <= waited + 50, "the wait", counted, waited)


def test_waits_and_latches(r):
    doc = snapshot(r, "waits", "--top", "0")
    rows = doc["rows"]
    equal(rows, sorted(rows, key=lambda x: -x["wait_ms"]), "the longest first")
    if rows:
        check(abs(sum(x["share"] for x in rows) - 1) < 1e-9, "shares", rows)
    real = {name: (n, ms) for name, n, ms in r.sql("SELECT wait_type, waiting_tasks_count, wait_time_ms FROM sys.dm_os_wait_stats")}
    for x in rows:
        check(x["waits"] <= real[x["name"]][0] and x["wait_ms"] <= real[x["name"]][1], "as the server counts, or earlier", x, real[x["name"]])
        check(x["waits"] == 0 or abs(x["average_ms"] - x["wait_ms"] / x["waits"]) < 1e-6, "average", x)
    equal(len(snapshot(r, "waits", "--top", "1")["rows"]), min(1, len(rows)), "top 1")
    check(not set(doc["left_out"]) & {x["name"] for x in rows}, "idle waits are not among them", doc)
    latches = snapshot(r, "latches", "--top", "0")["rows"]
    known = {row[0] for row in r.sql("SELECT latch_class FROM sys.dm_os_latch_stats")}
    check({x["name"] for x in latches} <= known, "latch classes", latches)


def test_schedulers(r):
    rows = snapshot(r, "schedulers")["rows"]
    equal([x["scheduler_id"] for x in rows], [row[0] for row in r.sql(
        "SELECT scheduler_id FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE' ORDER BY scheduler_id")], "schedulers")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    fifo = os.path.join(r.dir, "fifo")
    os.mkfifo(fifo)
    p = subprocess.Popen(r.command("load", "dbo.t", fifo, "-q"), env=r.env())
    with open(fifo, "w") as f:
        f.write("".join("%d\n" % i for i in range(200000)))
        f.flush()
        wait_until("a bulk load is seen on one scheduler", 20,
                   lambda: sorted(x["loads"] for x in snapshot(r, "schedulers")["rows"])[-2:] == [0, 1])
    equal(p.wait(30), 0, "the load")


def sampled_run(r, *options, kill=False, exit=0, before=lambda: None, meanwhile=lambda: None):
    """A run of some seconds; returns (run's row, sums of its samples by subject)."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    r.fresh_control()
    r.sql("DELETE FROM dbo.sample", "fullrack")
    files = [r.file("s%d.csv" % i, "".join("%d,value %d\n" % (k, k) for k in range(40000))) for i in range(12)]
    r.fullrack("add", "dbo.t", *files, "--format", "csv", "-b", "10000")
    before()
    p = subprocess.Popen(r.command("run", "--workers", "3", "--sample", "1", "--rate", "2M", *options), env=r.env(), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    if kill:
        wait_until("a worker has loaded something", 20, lambda: (r.sql("SELECT SUM(value) FROM dbo.sample WHERE subject = 'rows'", "fullrack")[0][0] or 0) > 0)
        os.kill(r.sql("SELECT TOP (1) pid FROM dbo.worker WHERE state = 'running'", "fullrack")[0][0], 9)
    meanwhile()
    out, r.err = p.communicate(timeout=120)
    equal(p.returncode, exit, "exit status")
    run = r.sql("SELECT run_id, rows_loaded, bytes_read FROM dbo.run", "fullrack")[0]
    sums = dict(r.sql("SELECT subject, SUM(value) FROM dbo.sample WHERE run_id = %d GROUP BY subject" % run[0], "fullrack"))
    return run, sums


def test_samples_sum_up_to_the_run(r):
    run, sums = sampled_run(r)
    equal((sums["rows"], sums["bytes"]), run[1:], "sums")
    equal(run[1], 12 * 40000, "rows")
    looks = r.sql("SELECT COUNT(DISTINCT taken_at) FROM dbo.sample WHERE subject = 'rows'", "fullrack")[0][0]
    check(looks >= 3, "several looks", looks)
    check(sums["host_cpu_ms"] > 0 and sums["file_written"] > run[2] / 2, "machine and server", sums)
    doc = json.loads(r.fullrack("report", "--json"))
    check(doc["throughput"]["is_sampled"], "the report goes by them")
    check(abs(sum(p["rows"] for p in doc["throughput"]["points"]) - run[1]) < 1, "its points", doc["throughput"])
    check(any(f["name"] == "t: t" for f in doc["files"]), "its files", doc["files"])


def test_samples_of_a_run_whose_worker_is_killed(r):
    run, sums = sampled_run(r, kill=True)
    check("was ended by signal 9" in r.err, "killed", r.err)
    equal((run[1], sums["rows"], sums["bytes"]), (12 * 40000, run[1], run[2]), "sums")


def test_samples_that_cannot_all_be_written(r):
    """Those of one subject are refused for some looks: the others are not written twice, and nothing is missing in the end."""
    script = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../sql/control_procedures.sql")).read()
    whole = script[script.index("CREATE PROCEDURE dbo.sp_add_samples"):].split("\nGO")[0]
    refusing = whole.replace("SET NOCOUNT ON;", "SET NOCOUNT ON; IF @subject = 'rows' THROW 50000, N'not these', 1;")
    make = lambda text: (r.sql("DROP PROCEDURE dbo.sp_add_samples", "fullrack"), r.sql(text, "fullrack"))
    looks = lambda: r.sql("SELECT COUNT(DISTINCT taken_at) FROM dbo.sample WHERE subject = 'bytes'", "fullrack")[0][0]
    try:
        run, sums = sampled_run(r, before=lambda: make(refusing), meanwhile=lambda: (wait_until("looks", 20, lambda: looks() >= 2), make(whole)))
    finally:
        make(whole)
    check("not these" in r.err, "said", r.err)
    equal((sums["rows"], sums["bytes"]), run[1:], "sums")


def test_sample_files(r):
    samples, metrics = os.path.join(r.dir, "samples.csv"), os.path.join(r.dir, "fullrack.prom")
    run, sums = sampled_run(r, "--sample-file", samples, "--metrics-file", metrics)
    rows = list(csv.DictReader(open(samples)))
    equal(sum(int(x["value"]) for x in rows if x["subject"] == "rows"), run[1], "csv")
    text = open(metrics).read()
    equal(re.search(r"^fullrack_rows (\d+)$", text, re.M).group(1), str(run[1]), "metrics: rows")
    equal(re.search(r"^fullrack_tasks_done (\d+)$", text, re.M).group(1), "12", "metrics: tasks")
    for line in text.splitlines():
        check(re.match(r'(# (HELP|TYPE) fullrack_\w+ |fullrack_\w+(\{(\w+="[^"]*",?)+\})? -?[0-9.e+]+$)', line), "a line of the format", line)
    check(not os.path.exists(metrics + ".new"), "nothing is left beside it")
    # a load without a queue has its figures in files, too
    f = r.file("l.csv", "".join("%d,x\n" % k for k in range(3000)))
    r.fullrack("load", "dbo.t", f, "--format", "csv", "-q", "--sample", "1", "--rate", "10K", "--sample-file", samples, "--metrics-file", metrics)
    equal(sum(int(x["value"]) for x in csv.DictReader(open(samples)) if x["subject"] == "rows"), 3000, "csv of a load")
    r.fullrack("load", "dbo.t", f, "--format", "csv", "--sample-file", r.dir + "/nowhere/x", exit=2)
    check("--sample-file" in r.err, "said", r.err)
    before = r.sql("SELECT COUNT(*) FROM dbo.run", "fullrack")
    r.fullrack("run", "--sample-file", r.dir + "/nowhere/x", exit=2)
    check("--sample-file" in r.err, "said", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.run", "fullrack"), before, "no run is begun")


def test_samples_without_the_right(r):
    """What the login may not see is said once, and the run goes on; its own rows are sampled all the same."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    r.fresh_control()
    r.sql("DELETE FROM dbo.sample", "fullrack")
    r.sql("CREATE LOGIN owner_alone WITH PASSWORD = 'Owner-1-Owner'", "")
    for database in ("t", "fullrack"):
        r.sql("CREATE USER owner_alone FOR LOGIN owner_alone", database)
        r.sql("ALTER ROLE db_owner ADD MEMBER owner_alone", database)
    f = r.file("s.csv", "".join("%d,value %d\n" % (k, k) for k in range(40000)))
    r.fullrack("add", "dbo.t", f, "--format", "csv", "-q")
    command = r.command("run", "--workers", "1", "--sample", "1", "--rate", "150K", "--pin", "off")
    command[command.index("sa")] = "owner_alone"
    p = subprocess.run(command, env=dict(r.env(), FULLRACK_PASSWORD="Owner-1-Owner"), capture_output=True, text=True, timeout=120)
    equal(p.returncode, 0, "exit status (%s)" % p.stderr)
    for what in ("waits", "latches", "files"):
        lines = [x for x in p.stderr.splitlines() if "without samples of the server's " + what in x]
        check(len(lines) == 1 and lines[0].count("the run goes on") == 1, "said once, on a line of its own: " + what, p.stderr)
    check("VIEW SERVER STATE" in p.stderr, "the right is named", p.stderr)
    sums = dict(r.sql("SELECT subject, SUM(value) FROM dbo.sample GROUP BY subject", "fullrack"))
    equal(sums["rows"], 40000, "rows")
    check("wait_ms" not in sums and r.sql("SELECT COUNT(DISTINCT taken_at) FROM dbo.sample", "fullrack")[0][0] > 2, "several looks", sums)


def test_what_sets_the_pace(r):
    """Said at the end of a run and in its report, by what its tasks waited for."""
    run, _ = sampled_run(r)
    out = r.fullrack("report")
    check("--rate set the pace: of the tasks' time the client's CPU was busy" in out and "waiting to send" in out, "the report", out)
    waits = r.sql("SELECT SUM(rate_ms), SUM(read_ms), SUM(send_ms), SUM(answer_ms), SUM(duration_ms) FROM dbo.work_queue", "fullrack")[0]
    check(waits[0] > waits[4] / 2 and all(0 <= w <= waits[4] for w in waits[:4]), "what they waited for", waits)
    # a pipe that is written slowly
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    fifo = os.path.join(r.dir, "slow")
    os.mkfifo(fifo)
    p = subprocess.Popen(r.command("load", "dbo.t", fifo, "--format", "csv"), env=r.env(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with open(fifo, "w") as f:
        for k in range(8):
            f.write("%d,x\n" % k)
            f.flush()
            time.sleep(0.2)
    out = p.communicate(timeout=60)[0]
    check("Reading the files set the pace" in out, "a slow source", out)


def test_short_run_does_not_ask_the_server(r):
    """A run that is over before the first look has its own figures, and no connection for the server's."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    r.sql("DELETE FROM dbo.sample", "fullrack")
    r.fullrack("add", "dbo.t", r.file("short.txt", "1\n2\n3\n"), "-q")
    r.fullrack("run", "--workers", "1", "--sample", "60", "-q")
    sums = dict(r.sql("SELECT subject, SUM(value) FROM dbo.sample GROUP BY subject", "fullrack"))
    equal(sums["rows"], 3, "rows")
    equal([s for s in sums if s.startswith(("scheduler", "file", "wait", "latch"))], [], "figures of the server")


def test_no_samples_where_none_are_wanted(r):
    run, sums = sampled_run(r, "--sample", "0")
    equal(sums, {}, "samples")


def test_text_and_csv(r):
    text = r.fullrack("vfs")
    check(text.startswith("since the server's start at ") and "GB written" in text.splitlines()[1], "text", text)
    rows = list(csv.DictReader(io.StringIO(r.fullrack("vfs", "--output", "csv"))))
    check({"database", "file", "gb_read", "path", "is_new"} <= set(rows[0]), "csv", rows)
    check(all(float(x["gb_written"]) >= 0 for x in rows), "figures", rows)
    text = r.fullrack("waits")
    check("left out as idle" in text or "wait" in text, "waits", text)


def test_without_the_right(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.sql("CREATE LOGIN viewer WITH PASSWORD = 'Viewer-1-Viewer'", "")
    r.sql("CREATE USER viewer FOR LOGIN viewer")
    for name in ("vfs", "waits", "latches", "schedulers"):
        p = subprocess.run([os.path.join(BUILD, "fullrack"), name, "-S", r.address, "-U", "viewer", "-d", "t"],
                           env=dict(r.env(), FULLRACK_PASSWORD="Viewer-1-Viewer"), capture_output=True, text=True, timeout=60)
        equal(p.returncode, 1, name + ": exit status")
        check("VIEW SERVER STATE" in p.stderr, "the right is named", p.stderr)
    r.sql("GRANT VIEW SERVER STATE TO viewer", "")
    p = subprocess.run([os.path.join(BUILD, "fullrack"), "waits", "--json", "-S", r.address, "-U", "viewer", "-d", "t"],
                       env=dict(r.env(), FULLRACK_PASSWORD="Viewer-1-Viewer"), capture_output=True, text=True, timeout=60)
    equal(p.returncode, 0, "with the right")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "3")
