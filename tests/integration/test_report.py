#!/usr/bin/python3
"""fullrack report: its figures are the control database's, its page stands up in a browser."""
import csv, io, json, os, re, sys, time
from browser import LEGIBLE, PROGRAM, Browser
from rack import *

FILES = 40


def a_run(r, workers=16):
    """A run of many files, one of which fails, one with rejects, one that is SQL."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    r.fresh_control()
    files = [r.file("f%d.csv" % i, "".join("%d,value %d\n" % (k, k) for k in range(1000 + 300 * (i % 7)))) for i in range(FILES)]
    r.fullrack("add", "dbo.t", *files, "--format", "csv")
    r.fullrack("add", "dbo.t", r.file("<b>&\"rejects\".csv", "1,x\noops,y\n2,z\n"), "--format", "csv", "-m", "1")
    r.fullrack("add", "dbo.t", r.file("fails.csv", "x,<script>alert(1)</script>\n"), "--format", "csv", "--unchecked")
    r.fullrack("run", "--workers", str(workers), exit=1)
    return json.loads(r.fullrack("report", "--json"))


def test_figures_are_the_database_s(r):
    doc = a_run(r)
    run = r.sql("SELECT run_id, state, rows_loaded, rows_rejected, bytes_read, workers FROM dbo.run", "fullrack")[0]
    equal(tuple(doc["run"][k] for k in ("run_id", "state", "rows_loaded", "rows_rejected", "bytes_read", "workers")), run, "run")
    columns = ["task_id", "state", "source", "duration_ms", "rows_loaded", "rows_rejected", "bytes_read", "bytes_sent", "attempts",
               "scheduler_id", "worker", "client_cpu_ms", "server_cpu_ms", "last_error"]
    tasks = r.sql("SELECT %s FROM dbo.work_queue ORDER BY task_id" % ", ".join(columns), "fullrack")
    equal([tuple(t[c] for c in columns) for t in doc["tasks"]], tasks, "tasks")
    rows = list(csv.DictReader(io.StringIO(r.fullrack("report", "--csv"))))
    equal([tuple(x[c] for c in columns) for x in rows], [tuple("" if v is None else str(v) for v in t) for t in tasks], "csv")
    equal(doc["totals"]["rows_loaded"], sum(t[4] for t in tasks), "sum of the tasks' rows")
    points = doc["throughput"]["points"]
    for key, total in (("rows", run[2]), ("bytes", run[4])):
        check(abs(sum(p[key] for p in points) - total) < 1e-6 * total, "sum over the points: " + key, points, total)
    check(abs(sum(v for p in points for v in p["workers"].values()) - run[2]) < 1e-6 * run[2], "sum over the workers")
    equal(sum(s["tasks"] for s in doc["schedulers"]), len(tasks), "tasks on schedulers")
    equal(doc["failures"], [t[0] for t in tasks if t[1] == "failed"], "failures")
    text = r.fullrack("report")
    check("%d tasks, %d done, 1 failed" % (FILES + 2, FILES + 1) in text, "text", text)


def test_names_cannot_move_the_cursor(r):
    """A file's name holds escapes and a line's end: what is printed about it stays on its line."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    r.fresh_control()
    r.fullrack("add", "dbo.t", r.file("bad\x1b[2Jname\ndone: all.csv", "x,y\n"), "--format", "csv", "--unchecked")
    r.fullrack("add", "dbo.t", r.file("rejects\x1b]0;t\x07\n.csv", "1,x\noops,y\n"), "--format", "csv", "-m", "1")
    r.fullrack("run", "--workers", "2", exit=1)
    said = [r.err, r.fullrack("report"), r.fullrack("status")]
    for text in said:
        equal(sorted({c for c in text if c < " " and c != "\n"}), [], "control characters in %r" % text)
        check("\ndone: all" not in text, "a name began a line", text)
    check(all("bad?[2Jname done: all.csv" in text for text in said[:2]), "the name is shown", said)
    equal(said[1].count("is not a whole number"), 1, "the error is said once: " + said[1])


def test_page_in_a_browser(r):
    check(PROGRAM is not None, "chromium is not installed (scripts/packages.debian names it)")
    doc = a_run(r)
    page = os.path.join(r.dir, "report.html")
    r.fullrack("report", "--html", page)
    b = Browser()
    try:
        b.open(page)
        equal(b.ask("document.querySelectorAll('#rows-chart rect.bar').length"), len(doc["throughput"]["points"]), "bars of rows")
        equal(b.ask("document.querySelectorAll('#bytes-chart rect.bar').length"), len(doc["throughput"]["points"]), "bars of bytes")
        equal(b.ask("document.querySelectorAll('#gantt .lane').length"), len(doc["schedulers"]), "lanes")
        equal(b.ask("document.querySelectorAll('#gantt rect.task').length"), FILES + 2, "tasks")
        equal(b.ask("document.querySelectorAll('#gantt rect.failed').length"), 1, "failed tasks")
        equal(b.ask("document.querySelectorAll('#gantt rect.rejects').length"), 1, "tasks with rejects")
        workers = {t["worker"] for t in doc["tasks"]}
        equal(b.ask("document.querySelectorAll('#start rect.dot').length"), len(workers), "starts")
        equal(b.ask("document.querySelectorAll('#stack path').length"), len({w for p in doc["throughput"]["points"] for w in p["workers"]}), "bands")
        equal(b.ask("document.querySelectorAll('#slowest tbody tr').length"), len(doc["slowest"]), "slowest tasks")
        check("oops" not in b.ask("document.querySelector('#failures').textContent"), "failures")
        check("<script>" in b.ask("document.querySelector('#failures').textContent") or
              "is not a whole number" in b.ask("document.querySelector('#failures').textContent"), "the message as text")
        equal(b.ask("document.scripts.length"), 0, "scripts")
        check(b.ask("[...document.querySelectorAll('#gantt title')].some(t => t.textContent.includes('<b>&\"rejects\".csv'))"), "names as text")
        for width in (1200, 420):
            for scheme in ("light", "dark"):
                b.look(width, scheme=scheme)
                b.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
                equal(b.ask(LEGIBLE), [], "legible at %d, %s" % (width, scheme))
        dark = b.ask("getComputedStyle(document.body).backgroundColor")
        b.look(1200, scheme="light")
        check(dark != b.ask("getComputedStyle(document.body).backgroundColor"), "two themes", dark)
        requests = [e["params"]["request"]["url"] for e in b.events if e.get("method") == "Network.requestWillBeSent"]
        equal([u for u in requests if not u.startswith("file://" + page)], [], "requests")
        wrong = [e for e in b.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")]
        equal(wrong, [], "console")
    finally:
        b.close()


def test_compare_and_wrong_use(r):
    first = a_run(r, 4)["run"]["run_id"]
    r.fullrack("reset", "--all")
    r.fullrack("run", "--workers", "2", exit=1)
    doc = json.loads(r.fullrack("report", "--json", "--compare", str(first)))
    equal(doc["compared"]["run_id"], first, "compared")
    figures = {f["figure"]: f for f in doc["compared"]["figures"]}
    equal((figures["rows_loaded"]["run"], figures["rows_loaded"]["earlier"], figures["rows_loaded"]["ratio"]),
          (doc["run"]["rows_loaded"],) * 2 + (1.0,), "rows")
    equal((figures["workers"]["run"], figures["workers"]["earlier"]), (2, 4), "workers")
    equal(figures["tasks"]["earlier"], None, "a replay takes the tasks along")
    check("compared with run %d" % first in r.fullrack("report", str(first + 1), "--compare", str(first)), "text")
    r.fullrack("report", "700", exit=2)
    check("there is no run 700" in r.err, "unknown run", r.err)
    r.fullrack("report", "x", exit=2)
    folder = os.path.join(r.dir, "nowhere")
    r.fullrack("report", "--html", folder + "/r.html", exit=1)
    check(folder in r.err, "the file is named", r.err)
    r.fresh_control()
    r.fullrack("report", exit=2)
    check("no run has been made" in r.err, "nothing yet", r.err)


def test_queue_in_the_target_database(r):
    """Its tables have a schema of their own there; samples and report find them."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    r.fullrack("init", "--control-database", "t", "-q")
    f = r.file("own.csv", "".join("%d,value %d\n" % (k, k) for k in range(20000)))
    r.fullrack("add", "--control-database", "t", "dbo.t", f, "--format", "csv", "-q")
    r.fullrack("run", "--control-database", "t", "--workers", "1", "--sample", "1", "--rate", "200K", "-q")
    doc = json.loads(r.fullrack("report", "--control-database", "t", "--json"))
    check(doc["run"]["rows_loaded"] == 20000 and doc["throughput"]["is_sampled"], "the report", doc["run"])
    equal(r.sql("SELECT SUM(value) FROM fullrack.sample WHERE subject = 'rows'"), [(20000.0,)], "samples")


def test_a_run_that_was_undone_took_no_longer(r):
    r.fresh("CREATE TABLE dbo.t (n int NOT NULL, l uniqueidentifier NULL)")
    r.fresh_control()
    r.fullrack("add", "-q", "dbo.t", r.file("undo.txt", "1\n2\n"), "--load-id-column", "l")
    r.fullrack("run", "-q", "--workers", "1")
    before = json.loads(r.fullrack("report", "--json"))
    time.sleep(1.5)
    r.fullrack("undo", str(before["run"]["run_id"]))
    after = json.loads(r.fullrack("report", "--json"))
    equal(after["tasks"][0]["state"], "cancelled", "undone")
    equal(after["run"]["seconds"], before["run"]["seconds"], "seconds")
    check(after["tasks"][0]["end_ms"] <= 1000 * after["run"]["seconds"] + 50, "the task's end", after["tasks"][0])


def test_what_is_no_plain_file_is_written_to(r):
    """Devices, pipes and links are not replaced, by a report and by the figures of a run."""
    r.fresh("CREATE TABLE dbo.t (n int NOT NULL)")
    r.fresh_control()
    f, plain, link = r.file("one.txt", "1\n"), os.path.join(r.dir, "plain"), os.path.join(r.dir, "link")
    full, out = os.path.join(r.dir, "full"), os.path.join(r.dir, "out")
    os.symlink(plain, link)
    os.symlink("/proc/self/fd/1", out)
    os.symlink("/dev/full", full)
    r.fullrack("add", "-q", "dbo.t", f)
    r.fullrack("run", "--workers", "1", "--metrics-file", full)
    check("--metrics-file %s: No space left" % full in r.err, "a full device", r.err)
    check("start skew" not in r.fullrack("report"), "one worker has no skew")
    r.fullrack("report", "--html", full, exit=1)
    check("%s: the report is not written: No space left" % full in r.err, "a full device", r.err)
    r.fullrack("report", "--html", link)
    r.fullrack("load", "dbo.t", f, "-q", "--metrics-file", link + ".prom")
    check(open(plain).read().endswith("</html>\n"), "the link's file has the page")
    check(os.path.islink(link) and os.path.islink(full), "links are links")
    check("</html>" in r.fullrack("report", "--html", out), "standard output")
    fifo = os.path.join(r.dir, "fifo")
    os.mkfifo(fifo)
    r.fullrack("report", "--html", fifo, exit=1)
    check(fifo in r.err, "a pipe that nobody reads is no wait", r.err)
    equal([x for x in os.listdir(r.dir) if x.startswith(("plain.", "link.", "full.", "fifo.")) and x != "link.prom"], [], "left beside")


def test_many_workers_and_tasks(r):
    """96 workers, 10,000 tasks: below 5 MB."""
    r.fresh_control()
    r.sql("INSERT INTO dbo.run (host, pid, workers, state, start_time, end_time, rows_loaded, rows_rejected, bytes_read) "
          "VALUES ('h', 1, 96, 'done', '2026-01-01 00:00:00', '2026-01-01 01:00:00', 10000000, 0, 1270000000)", "fullrack")
    run = r.sql("SELECT run_id FROM dbo.run", "fullrack")[0][0]
    with r.connect("fullrack") as db:
        cur = db.cursor()
        for k in range(0, 10000, 200):
            values = ", ".join(
                "('done', '/data/a/rather/long/folder/lineitem.with.a.long.name.%05d.tbl.gz', %d, 's', 'd', 'dbo.lineitem', %d, 1, 'w%d', %d, "
                "DATEADD(SECOND, %d, '2026-01-01'), DATEADD(SECOND, %d, '2026-01-01'), 34000, 1000, 0, 127000)"
                % (i, i, run, i % 96, i % 96, i // 96 * 34, i // 96 * 34 + 34) for i in range(k, k + 200))
            cur.execute("INSERT INTO dbo.work_queue (state, source, source_key, target_server, target_database, target_table, run_id, attempts, "
                        "worker, scheduler_id, start_time, end_time, duration_ms, rows_loaded, rows_rejected, bytes_read) VALUES " + values)
    page = os.path.join(r.dir, "many.html")
    r.fullrack("report", "--html", page)
    text = open(page).read()
    check(len(text) < 5e6, "size", len(text))
    equal((text.count('class="lane"'), text.count('class="task ')), (96, 10000), "lanes, tasks")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "16")
