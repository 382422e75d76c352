#!/usr/bin/python3
"""fullrack replay: its sheet holds what the control database holds, a second run is the same queue beside the first."""
import json, os, signal, subprocess, sys, time
from rack import check, equal, main, tests_of, wait_until

OPTIONS = ["--schedulers", "96"]
YEARS = ("2010", "2008", "2006")


def fresh(r):
    r.fresh("CREATE TABLE dbo.other (a int)", "dbo.other")
    r.sql("DROP TABLE IF EXISTS dbo.fullrack_replay")
    for kind in ("SCHEME", "FUNCTION"):
        for name, in r.sql("SELECT name FROM sys.partition_%ss" % kind.lower()):
            r.sql("DROP PARTITION %s [%s]" % (kind, name))
    r.fresh_control()


def replay(r, *args, folder="replay", **more):
    return r.fullrack("replay", "-q", "--dir", os.path.join(r.dir, folder), *args, **more)


def sheets(r, *args, **more):
    return json.loads(replay(r, "--json", *args, **more))["runs"]


def figures(sheet):
    return {f["figure"].strip(): f for f in sheet["figures"]}


def queue(r):
    return r.sql("SELECT task_id, source, state, rows_loaded, bytes_read FROM dbo.work_queue ORDER BY task_id", "fullrack")


def test_full_rack(r):
    """96 files, 96 workers; every figure is there and equal to the control database's; then once more."""
    fresh(r)
    first, = sheets(r, "--files", "96", "--workers", "96", "--rows-per-file", "100", timeout=300)
    tasks = queue(r)
    equal((len(tasks), {t[2] for t in tasks}, sum(t[3] for t in tasks)), (96, {"done"}, 9600), "queue")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT l_orderkey * 10 + l_linenumber) FROM dbo.fullrack_replay"), [(9600, 9600)], "rows of the table")
    f = figures(first)
    check(all(v["run"] is not None for v in f.values()), "a figure is missing", f)
    run = r.sql("SELECT run_id, workers, rows_loaded, start_skew_ms, bytes_read FROM dbo.run", "fullrack")
    equal(len(run), 1, "runs")
    equal((first["run_id"], f["streams"]["run"], f["rows"]["run"], f["start skew, ms"]["run"]), run[0][:4], "figures of the run")
    equal(run[0][4], sum(os.path.getsize(t[1]) for t in tasks), "bytes read")
    seconds = f["total time, s"]["run"]
    check(abs(f["rows/s"]["run"] - 9600 / seconds) < 0.01 * f["rows/s"]["run"], "rows/s", f)
    check(abs(f["MB/s read"]["run"] - run[0][4] / 1e6 / seconds) < 0.01 * f["MB/s read"]["run"], "MB/s", f)
    rates = [b / 1e3 / ms for b, ms in r.sql("SELECT bytes_read, duration_ms FROM dbo.work_queue WHERE duration_ms > 0", "fullrack")]
    for name, want in (("the slowest", min(rates)), ("the fastest", max(rates)), ("MB/s a stream", sum(rates) / len(rates))):
        check(abs(f[name]["run"] - want) < 1e-6, name, f[name]["run"], want)
    spread = r.sql("SELECT COUNT(*) FROM dbo.work_queue GROUP BY scheduler_id", "fullrack")
    equal(tuple(first["spread"][k] for k in ("schedulers", "tasks_least", "tasks_most", "unpinned_tasks")),
          (len(spread), min(s[0] for s in spread), max(s[0] for s in spread), 0), "spread")
    equal([f["MB/s read"][y] for y in YEARS], [2000, 658, 333], "the records")
    equal(first["earlier_runs"], [], "the first has none before it")

    # the same queue, reset
    changed = [os.stat(t[1]).st_mtime_ns for t in tasks]
    second, = sheets(r, "--files", "96", "--workers", "96", "--rows-per-file", "100", timeout=300)
    equal([t[:4] for t in queue(r)], [t[:4] for t in tasks], "the same tasks, done again")
    equal([os.stat(t[1]).st_mtime_ns for t in tasks], changed, "the same files, untouched")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT l_orderkey * 10 + l_linenumber) FROM dbo.fullrack_replay"), [(9600, 9600)], "rows of the table")
    equal(second["earlier_runs"], [first["run_id"]], "compared with the first")
    g = figures(second)
    for name in ("streams", "rows", "start skew, ms"):
        equal(g[name]["earlier"], [f[name]["run"]], "the first's " + name)
    took, = r.sql("SELECT DATEDIFF(millisecond, start_time, end_time) FROM dbo.run WHERE run_id = %d" % first["run_id"], "fullrack")
    equal(g["total time, s"]["earlier"], [took[0] / 1000], "the first's time")


def test_text_and_repeat(r):
    fresh(r)
    # `replay` without -q shows the run as `run` does, on the other stream
    text = r.fullrack("replay", "--files", "2", "--workers", "2", "--rows-per-file", "50", "--repeat", "3", "--dir", os.path.join(r.dir, "three"))
    parts = text.split("run ")
    check(all(y in text for y in YEARS), "the records stand beside it", text)
    first, second, third = (n for n, in r.sql("SELECT run_id FROM dbo.run ORDER BY run_id", "fullrack"))
    for word in ("total time, s", "rows/s", "MB/s read", "MB/s a stream", "start skew, ms", "2 schedulers", "this run",
                 "run %d  run %d " % (second, first)):
        check(word in text, "the sheet has %s" % word, text)
    check(len(parts) > 3, "three sheets", text)
    equal(r.sql("SELECT COUNT(*) FROM dbo.run WHERE state = 'done'", "fullrack"), [(3,)], "runs")
    equal(len(queue(r)), 2, "tasks")


def test_other_files_are_another_queue(r):
    fresh(r)
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "50", folder="a")
    sheet, = sheets(r, "--files", "3", "--workers", "2", "--rows-per-file", "50", "--seed", "7", folder="a")
    equal(sheet["earlier_runs"], [], "not compared with another set of files")
    equal(figures(sheet)["rows"]["run"], 150, "rows")
    equal(r.sql("SELECT COUNT(*) FROM dbo.fullrack_replay"), [(150,)], "the table holds the last replay's rows")


def test_staged(r):
    fresh(r)
    sheet, = sheets(r, "--files", "4", "--workers", "4", "--rows-per-file", "50", "--stage", folder="staged")
    equal(figures(sheet)["rows"]["run"], 200, "rows")
    equal(r.sql("SELECT kind, COUNT(*) FROM dbo.work_queue GROUP BY kind ORDER BY kind", "fullrack"), [("bring_in", 1), ("load", 4)], "tasks")
    equal(r.sql("SELECT COUNT(*) FROM dbo.fullrack_replay"), [(200,)], "rows of the table")


COUNTS = ("SELECT partition_number, rows FROM sys.partitions WHERE object_id = OBJECT_ID(N'dbo.fullrack_replay') ORDER BY partition_number")


def rows_of_files(r, folder, files):
    return [sum(1 for _ in open(os.path.join(r.dir, folder, "lineitem.%d.tbl" % (i + 1)))) for i in range(files)]


def filegroups(r, names):
    for name in names:
        if not r.sql("SELECT 1 FROM sys.filegroups WHERE name = '%s'" % name):
            r.sql("ALTER DATABASE t ADD FILEGROUP [%s]" % name)


def test_partitioned_and_heaps(r):
    """16 files are 16 partitions over the filegroups in turn: each row once, in the partition of its file; a second call compares itself."""
    fresh(r)
    filegroups(r, ["rep_1", "rep_2", "rep_3", "other"])
    for layout in ("partitioned", "heaps"):
        options = ("--files", "16", "--workers", "4", "--rows-per-file", "300", "--layout", layout, "--filegroups", "rep_*")
        first, = sheets(r, *options, folder="parts")
        rows = rows_of_files(r, "parts", 16)
        check(sum(rows) == 4800 and all(290 < n < 310 for n in rows), "files of whole orders", rows)
        equal(r.sql(COUNTS), [(i + 1, n) for i, n in enumerate(rows)], "rows of each partition, " + layout)
        equal(r.sql("SELECT $PARTITION.fullrack_replay_function(l_orderkey), COUNT(*) FROM dbo.fullrack_replay "
                    "GROUP BY $PARTITION.fullrack_replay_function(l_orderkey) ORDER BY 1"), [(i + 1, n) for i, n in enumerate(rows)], "by $PARTITION")
        equal(r.sql("SELECT COUNT(*) FROM (SELECT DISTINCT l_orderkey, l_linenumber FROM dbo.fullrack_replay) AS d"), [(4800,)], "each row once")
        equal([g for g, in r.sql("SELECT g.name FROM sys.destination_data_spaces AS d JOIN sys.filegroups AS g ON g.data_space_id = d.data_space_id "
                                 "ORDER BY d.destination_id")], ["rep_%d" % (i % 3 + 1) for i in range(16)], "filegroups in turn")
        target = first["target"]
        equal((target["layout"], target["partitions"], target["filegroups"]), (layout, 16, ["rep_1", "rep_2", "rep_3"]), "the sheet's target")
        if layout == "heaps":
            check(target["bring_in"].startswith("16 stage tables switched in in "), "how the rows came there", target)
            took, = r.sql("SELECT duration_ms FROM dbo.work_queue WHERE kind = 'bring_in'", "fullrack")
            equal(figures(first)["bring-in, ms"]["run"], took[0], "time of the task that switches")
        else:
            check("bring-in, ms" not in figures(first) and "bring_in" not in target, "nothing is brought in", target)
        made = r.sql("SELECT object_id FROM sys.tables WHERE name = N'fullrack_replay'")
        queued = [t[0] for t in queue(r)]
        second, = sheets(r, *options, folder="parts")
        equal(second["earlier_runs"], [first["run_id"]], "compared with the first")
        equal([t[0] for t in queue(r)], queued, "the same queue")
        equal(r.sql("SELECT object_id FROM sys.tables WHERE name = N'fullrack_replay'"), made, "the same table")
        equal(r.sql(COUNTS), [(i + 1, n) for i, n in enumerate(rows)], "rows after the second call")
        equal(r.sql("SELECT COUNT(*) FROM sys.tables WHERE name LIKE 'fullrack[_]stage%'"), [(0,)], "no heap is left over")
        r.fullrack("reset", "-q", "--all")
        r.fullrack("run", "-q", "--workers", "4")
        equal((r.sql(COUNTS), [t[0] for t in queue(r)]), ([(i + 1, n) for i, n in enumerate(rows)], queued), "reset and run are a replay, too")
        r.fullrack("verify", "-q")
        r.sql("DELETE FROM dbo.work_queue", "fullrack")


def test_layout_changes(r):
    """The table is made anew where it is of another kind; what it was partitioned by goes with it."""
    fresh(r)
    for layout, files, partitions in (("heaps", 3, 3), ("partitioned", 4, 4), ("one", 2, 1), ("heaps", 1, 1)):
        sheet, = sheets(r, "--files", str(files), "--workers", "2", "--rows-per-file", "50", "--layout", layout, folder="change")
        equal(sum(n for _, n in r.sql(COUNTS)), 50 * files, "rows, " + layout)
        equal((len(r.sql(COUNTS)), len(r.sql("SELECT 1 FROM sys.partition_functions"))), (partitions, 0 if layout == "one" else 1), "partitions, " + layout)
        equal(sheet["target"]["layout"], layout, "the sheet says so")
        r.sql("DELETE FROM dbo.work_queue", "fullrack")
    text = replay(r, "--files", "2", "--workers", "2", "--rows-per-file", "50", "--layout", "heaps", folder="change")
    check("a heap for each file, switched into the partitions at the end: 2 partitions in 1 filegroup; 2 stage tables switched in in " in text,
          "for people", text)
    r.sql("DELETE FROM dbo.work_queue", "fullrack")
    r.sql("DROP TABLE dbo.fullrack_replay")
    r.sql("CREATE TABLE dbo.fullrack_replay (a int)")
    replay(r, "--files", "2", "--rows-per-file", "50", "--layout", "partitioned", folder="change", exit=2)
    check("is not LineItem" in r.err, "a stranger's table", r.err)
    equal(r.sql("SELECT name FROM sys.columns WHERE object_id = OBJECT_ID(N'dbo.fullrack_replay')"), [("a",)], "is not touched")
    r.sql("DROP TABLE dbo.fullrack_replay")


def test_layout_is_refused_before_anything_is_made(r):
    fresh(r)
    for options, words in ((("--layout", "heaps", "--filegroups", "nowhere*,n?"), ("no filegroup of that name", "PRIMARY")),
                           (("--filegroups", "PRIMARY"), ("--layout",)),
                           (("--layout", "partitioned", "--rows-per-file", "6"), ("--rows-per-file", "7"))):
        replay(r, "--files", "2", "--rows-per-file", "50", *options, folder="refused", exit=2)
        check(all(w in r.err for w in words), "says why", r.err)
    # a login that may not: the server's own word, in one sentence
    r.sql("IF SUSER_ID(N'plain') IS NULL CREATE LOGIN plain WITH PASSWORD = 'Plain-1234'", "master")
    for database in ("t", "fullrack"):
        r.sql("IF USER_ID(N'plain') IS NULL CREATE USER plain", database)
    r.sql("ALTER ROLE db_owner ADD MEMBER plain", "fullrack")
    for layout, words in (("heaps", "does not partition tables and switch heaps into them"), ("partitioned", "does not partition tables")):
        p = r.command("replay", "--files", "2", "--rows-per-file", "50", "--layout", layout, "--dir", os.path.join(r.dir, "refused"))
        p[p.index("sa")] = "plain"
        got = subprocess.run(p, capture_output=True, text=True, env=dict(r.env(), FULLRACK_PASSWORD="Plain-1234"), timeout=60)
        equal(got.returncode, 2, "exit status")
        lines = [l for l in got.stderr.splitlines() if words in l]
        check(len(lines) == 1 and "nothing was made" in lines[0] and "ALTER" in lines[0], "one sentence", got.stderr)
    check(not os.path.exists(os.path.join(r.dir, "refused")), "no file was made")
    equal(r.sql("SELECT COUNT(*) FROM sys.tables WHERE name LIKE '%replay%' OR name LIKE '%probe%'"), [(0,)], "no table")
    equal(r.sql("SELECT COUNT(*) FROM sys.partition_functions WHERE name LIKE '%probe%'"), [(0,)], "no function")


def test_a_hint_that_is_none_changes_nothing(r):
    """--hint is looked at before files, table and run file are: those of the run before go on."""
    fresh(r)
    replay(r, "--files", "2", "--rows-per-file", "50", "--hint", "rubbish", folder="hint", exit=2)
    check('"rubbish": hints are TABLOCK' in r.err, "says why", r.err)
    check(not os.path.exists(os.path.join(r.dir, "hint")), "no file was made")
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "50", folder="hint")
    path = os.path.join(r.dir, "hint", "replay.json")
    before = open(path).read(), os.stat(path).st_ino
    for options, words in ((("--hint", "rubbish"), "hints are TABLOCK"), (("--hint", "ORDER (nothing)"), 'no column "nothing"'),
                           (("--hint", "ORDER (l_orderkey)", "--engine", "bcp"), "bcp engine"),
                           (("--hint", "TABLOCK", "--engine", "bcp", "--layout", "heaps"), "CHECK_CONSTRAINTS")):
        replay(r, "--files", "2", "--rows-per-file", "50", *options, folder="hint", exit=2)
        check(words in r.err, "says why", r.err)
        equal((open(path).read(), os.stat(path).st_ino), before, "the run file after " + str(options))
        equal(r.sql("SELECT COUNT(*) FROM dbo.fullrack_replay"), [(100,)], "rows after " + str(options))
    sheet, = sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "50", "--hint", "ORDER (l_orderkey, l_linenumber DESC), TABLOCK", folder="hint")
    equal(r.sql("SELECT COUNT(*) FROM dbo.fullrack_replay"), [(100,)], "rows with a hint")


def test_speed_limit(r):
    fresh(r)
    folder = os.path.join(r.dir, "limit")
    began = time.time()
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "20000", folder="limit")
    unlimited = time.time() - began
    megabytes = sum(os.path.getsize(os.path.join(folder, "lineitem.%d.tbl" % i)) for i in (1, 2)) / 1e6
    began = time.time()
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "20000", "--speed-limit", "1", folder="limit")
    # a second's worth may be read at once
    took = time.time() - began
    check(took > megabytes - 1.5 and took > unlimited, "%.1f MB took %.1f s at 1 MB/s, %.1f s without" % (megabytes, took, unlimited))


def test_nobody_s_file_is_written_over(r):
    fresh(r)
    os.mkdir(os.path.join(r.dir, "mine"))
    path = r.file("mine/lineitem.2.tbl", "precious\n")
    replay(r, "--files", "2", "--rows-per-file", "10", folder="mine", exit=2)
    check("lineitem.2.tbl is there already" in r.err and "--dir" in r.err, "says so", r.err)
    equal(open(path).read(), "precious\n", "the file")
    equal(sorted(os.listdir(os.path.join(r.dir, "mine"))), ["lineitem.2.tbl"], "nothing was made")


def test_strangers_beside_ours(r):
    """A file of a larger set, a run file and a note that no replay made stay as they are; a smaller set leaves no more behind than it has."""
    fresh(r)
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "10", folder="mixed")
    path = r.file("mixed/lineitem.3.tbl", "precious\n")
    replay(r, "--files", "3", "--rows-per-file", "10", folder="mixed", exit=2)
    check("lineitem.3.tbl is there already" in r.err, "says so", r.err)
    equal(open(path).read(), "precious\n", "the file")
    os.unlink(path)
    sheets(r, "--files", "3", "--workers", "2", "--rows-per-file", "10", folder="mixed")
    sheets(r, "--files", "1", "--workers", "1", "--rows-per-file", "10", folder="mixed")
    equal(sorted(os.listdir(os.path.join(r.dir, "mixed"))), ["lineitem.1.tbl", "lineitem.json", "replay.json"], "files left")
    for name, text in (("replay.json", '{"tables": [{"name": "dbo.mine", "files": ["x"]}]}'), ("replay.json", "no JSON"), ("lineitem.json", "{}")):
        folder = "with-%s-%d" % (name, len(text))
        os.mkdir(os.path.join(r.dir, folder))
        path = r.file("%s/%s" % (folder, name), text)
        replay(r, "--files", "1", "--rows-per-file", "10", folder=folder, exit=2)
        check(name + " is there already" in r.err, "says so", r.err)
        equal(open(path).read(), text, name)


def test_nothing_is_followed_elsewhere(r):
    """Links lead nowhere, and a FIFO keeps nobody waiting."""
    fresh(r)
    victim = r.file("victim", "precious\n")
    for name in ("replay.json", "lineitem.json", "lineitem.1.tbl"):
        for kind in ("link", "fifo"):
            folder = os.path.join(r.dir, "to-%s-%s" % (kind, name))
            os.mkdir(folder)
            path = os.path.join(folder, name)
            os.symlink(victim, path) if kind == "link" else os.mkfifo(path)
            replay(r, "--files", "1", "--rows-per-file", "10", folder=folder, exit=2, timeout=20)
            check(name + " is there already" in r.err, "says so", r.err)
    equal(open(victim).read(), "precious\n", "the file")


def test_a_table_of_other_types_is_not_emptied(r):
    fresh(r)
    r.sql("CREATE TABLE dbo.fullrack_replay (%s)" % ", ".join("l_%s varchar(50)" % c for c in "abcdefghijklmnop"))
    r.sql("INSERT INTO dbo.fullrack_replay (l_a) VALUES ('precious')")
    replay(r, "--files", "1", "--rows-per-file", "10", folder="types", exit=2)
    check("is not LineItem" in r.err, "says so", r.err)
    equal(r.sql("SELECT l_a FROM dbo.fullrack_replay"), [("precious",)], "rows")


def test_no_company(r):
    """Others' tasks are not taken, and two replays are not mixed; one that was stopped begins anew, with figures of its own."""
    fresh(r)
    r.fullrack("add", "dbo.other", r.file("o.txt", "1\n"))
    replay(r, "--files", "1", "--rows-per-file", "10", folder="alone", exit=2)
    check("tasks of others" in r.err, "says so", r.err)
    equal((r.sql("SELECT state FROM dbo.work_queue", "fullrack"), os.path.exists(os.path.join(r.dir, "alone"))), ([("ready",)], False), "queue, folder")
    r.fullrack("cancel", "--all", "-q")
    slow = r.spawn("replay", "-q", "--dir", os.path.join(r.dir, "slow"), "--files", "4", "--workers", "2", "--rows-per-file", "5000", "--speed-limit", "1")
    wait_until("it loads", 30, lambda: r.sql("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'active'", "fullrack")[0][0] > 0)
    replay(r, "--files", "1", "--rows-per-file", "10", folder="second", exit=2)
    check("another replay is under way" in r.err, "says so", r.err)
    replay(r, "--files", "4", "--rows-per-file", "5000", folder="slow", exit=2)
    check("it is under way" in r.err, "says so", r.err)
    slow.send_signal(signal.SIGINT)
    equal(slow.wait(30), 4, "interrupted")
    sheet, = sheets(r, "--files", "4", "--workers", "2", "--rows-per-file", "5000", folder="slow")
    equal((figures(sheet)["rows"]["run"], r.sql("SELECT COUNT(*) FROM dbo.fullrack_replay")), (20000, [(20000,)]), "rows")
    took, = r.sql("SELECT DATEDIFF(millisecond, MIN(start_time), MAX(end_time)), MAX(attempts) FROM dbo.work_queue WHERE kind = 'load' AND target_table "
                  "LIKE '%replay%'", "fullrack")
    check(figures(sheet)["total time, s"]["run"] * 1000 < took[0] + 500, "the total time is that of the tasks", sheet, took)


def test_making_that_was_ended(r):
    """What is half made is made anew by the next call."""
    fresh(r)
    p = r.spawn("replay", "-q", "--dir", os.path.join(r.dir, "half"), "--files", "50", "--rows-per-file", "20000")
    wait_until("files are being made", 30, lambda: os.path.exists(os.path.join(r.dir, "half", "lineitem.2.tbl")))
    p.kill()
    p.communicate()
    check(not os.path.exists(os.path.join(r.dir, "half", "lineitem.50.tbl")), "it was ended half-way")
    sheet, = sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "10", folder="half")
    equal(figures(sheet)["rows"]["run"], 20, "rows")
    equal(sorted(f for f in os.listdir(os.path.join(r.dir, "half")) if f.endswith(".tbl")), ["lineitem.1.tbl", "lineitem.2.tbl"], "files")


def test_damaged_files_are_made_anew(r):
    fresh(r)
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "50", folder="cut")
    path = os.path.join(r.dir, "cut", "lineitem.1.tbl")
    whole = open(path, "rb").read()
    with open(path, "wb") as f:
        f.write(whole[:-40])
    sheets(r, "--files", "2", "--workers", "2", "--rows-per-file", "50", folder="cut")
    equal(open(path, "rb").read(), whole, "the file")


def test_what_fails(r):
    """A folder that cannot be made, a database that is not there, no control database."""
    fresh(r)
    replay(r, "--files", "1", "--rows-per-file", "10", folder="no/such", exit=1)
    replay(r, "--files", "1", "--rows-per-file", "10", database="nowhere", exit=3)
    check("nowhere" in r.err, "the database is named", r.err)
    replay(r, "--files", "1", "--rows-per-file", "10", "--control-database", "none", folder="x", exit=3)
    check("\"none\"" in r.err or "none requested" in r.err or "database none" in r.err, "the control database is named", r.err)
    # the table is there, and of another shape
    r.fresh("CREATE TABLE dbo.fullrack_replay (a int)", "dbo.fullrack_replay")
    replay(r, "--files", "1", "--workers", "1", "--rows-per-file", "10", folder="y", exit=2)
    check("fullrack_replay" in r.err, "the table is named", r.err)
    r.sql("DROP TABLE dbo.fullrack_replay")


if __name__ == "__main__":
    sys.exit(main(tests_of(sys.modules[__name__]), *OPTIONS))
