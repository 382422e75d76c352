#!/usr/bin/python3
"""--stage: whole files or runs at once; and undo, which takes a run's rows out again."""
import os, signal, sys, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rack import Rack, check, equal, main, tests_of, wait_until, workers_of

OPTIONS = ["--schedulers", "4"]


def rows_of(n, first=1):
    return "".join("%d\tname %d\n" % (i, i) for i in range(first, first + n))


def fresh(rack, ddl="CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL)"):
    rack.fresh(ddl)
    rack.fresh_control()
    for name in stages(rack):
        rack.sql("DROP TABLE dbo.[%s]" % name)
    for table in ("fullrack_staging", "fullrack_ledger", "fullrack_truncation"):
        rack.sql("IF OBJECT_ID(N'dbo.%s', N'U') IS NOT NULL DELETE FROM dbo.%s" % (table, table))


def count(rack, table="dbo.t"):
    return rack.sql("SELECT COUNT(*), COUNT(DISTINCT a) FROM " + table)[0]


def stages(rack):
    return [r[0] for r in rack.sql("SELECT name FROM sys.tables WHERE name LIKE 'fullrack[_]stage[_]%' ORDER BY name")]


def queue(rack, columns="kind, state"):
    return rack.sql("SELECT %s FROM dbo.work_queue ORDER BY task_id" % columns, "fullrack")


def test_load_brings_all_files_in_or_none(rack):
    fresh(rack)
    good, bad = rack.file("good.tsv", rows_of(1000)), rack.file("bad.tsv", rows_of(500, 2001) + "x\ty\n")
    rack.fullrack("load", "dbo.t", good, bad, "--stage", "--workers", "2", "-b", "100", exit=1)
    check("nothing is brought into the table" in rack.err, "message", rack.err)
    equal(count(rack), (0, 0), "rows")
    equal(len(stages(rack)), 2, "stage tables")
    load_id = rack.err.split("load id ")[1].split()[0]
    rack.file("bad.tsv", rows_of(500, 2001))
    fresh(rack)
    result = rack.json("load", "dbo.t", good, bad, "--stage", "--workers", "2", "-b", "100")
    equal(count(rack), (1500, 1500), "rows")
    equal([(t["kind"], t["state"], t["rows"]) for t in result["tasks"] if t["kind"] != "load"], [("bring_in", "done", 1500)],
          "the bring-in")
    equal(result["rows"], 1500, "rows are counted once")


def test_add_waits_for_all_loads_and_brings_them_in(rack):
    fresh(rack)
    a, b = rack.file("a.tsv", rows_of(300)), rack.file("b.tsv", rows_of(200, 1001))
    added = rack.json("add", "dbo.t", a, b, "--stage")
    equal([t["kind"] for t in added["tasks"]], ["load", "load", "bring_in"], "tasks")
    equal(queue(rack), [("load", "ready"), ("load", "ready"), ("bring_in", "waiting")], "queue")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(queue(rack, "kind, state, rows_loaded"), [("load", "done", 300), ("load", "done", 200), ("bring_in", "done", 500)],
          "queue")
    equal(count(rack), (500, 500), "rows")
    equal(stages(rack), [], "no stage table is left")
    rack.fullrack("verify", "-q")
    rack.fullrack("add", "dbo.t", a, "--stage", exit=2)
    check("already queued" in rack.err, "message", rack.err)


def test_a_failed_load_keeps_all_of_its_group_out(rack):
    """retry of what failed goes on, and then all of them are brought in."""
    fresh(rack)
    a, b = rack.file("a.tsv", rows_of(300)), rack.file("b.tsv", rows_of(20, 1001) + "x\ty\n" + rows_of(20, 2001))
    rack.fullrack("add", "dbo.t", a, b, "--stage", "-b", "10", "-m", "0", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    equal(queue(rack), [("load", "done"), ("load", "failed"), ("bring_in", "cancelled")], "queue")
    check("the load of dbo.t failed (task" in queue(rack, "last_error")[2][0], "reason", queue(rack, "last_error"))
    equal(count(rack), (0, 0), "rows")
    equal(len(stages(rack)), 2, "stage tables stay for the retry")
    rack.fullrack("verify", "-q")
    rack.sql("UPDATE dbo.work_queue SET options = REPLACE(options, '\"batch-rows\"', '\"max-errors\": 1, \"batch-rows\"') WHERE kind = 'load'",
             "fullrack")
    rack.fullrack("retry", "-q")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(queue(rack), [("load", "done"), ("load", "done"), ("bring_in", "done")], "queue")
    equal(count(rack), (340, 340), "rows")
    equal(stages(rack), [], "no stage table is left")
    rack.fullrack("verify", "-q")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
