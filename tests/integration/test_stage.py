#!/usr/bin/python3
"""--stage: whole files or runs at once; and undo, which takes a run's rows out again."""
import os, re, signal, subprocess, sys, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rack import PASSWORD, Rack, check, equal, main, tests_of, wait_until, workers_of

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


def test_heads_are_written_where_they_are_brought_in(rack):
    """A server that knows no table hints locks them by that alone, against a reset in the same moment."""
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(300)), rack.file("b.tsv", rows_of(200, 1001)), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (500, 500), "rows")
    equal(rack.sql("SELECT COUNT(*), COUNT(DISTINCT updated_at) FROM dbo.fullrack_ledger"), [(2, 1)], "heads, and when they were written")


def test_a_failed_load_keeps_all_of_its_group_out(rack):
    """retry of what failed goes on, and then all of them are brought in."""
    fresh(rack)
    a, b = rack.file("a.tsv", rows_of(300)), rack.file("b.tsv", rows_of(20, 1001) + "x\ty\n" + rows_of(20, 2001))
    rack.fullrack("add", "dbo.t", a, b, "--stage", "-b", "10", "-m", "0", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    check("whose bring-in did not end well are not in their table" in rack.err, "the summary", rack.err)
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


def how(rack):
    """What the last bring-in said it did."""
    return re.sub(r" in \d+ ms$", "", queue(rack, "messages")[-1][0])


def test_one_table_into_an_empty_one_like_it_is_switched(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(300)), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(how(rack), "1 stage table switched in", "message")
    equal(count(rack), (300, 300), "rows")
    rack.fullrack("add", "dbo.t", rack.file("b.tsv", rows_of(30, 1001)), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(how(rack), "1 stage table brought in", "the target has rows now")
    equal(count(rack), (330, 330), "rows")
    rack.fullrack("add", "dbo.t", rack.file("c.tsv", rows_of(20, 5001)), "--stage", "--truncate", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(how(rack), "1 stage table switched in", "it is emptied in the same transaction")
    equal(count(rack), (20, 20), "rows")
    equal(stages(rack), [], "stage tables")
    rack.fullrack("verify", "-q")


def test_a_table_with_more_to_it_is_inserted_into(rack):
    for ddl in ("CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY, b varchar(40) NULL)",
                "CREATE TABLE dbo.t (a int NOT NULL CHECK (a > 0), b varchar(40) NULL)",
                "CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL, c AS a + 1)",
                "CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL, r rowversion)",
                "CREATE TABLE dbo.t (i int IDENTITY(1, 1) NOT NULL, a int NOT NULL, b varchar(40) NULL)"):
        fresh(rack, ddl)
        rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(300)), "--stage", "-q")
        rack.fullrack("run", "--workers", "1", "-q")
        equal(how(rack), "1 stage table brought in", ddl)
        equal(count(rack), (300, 300), "rows")
    equal(rack.sql("SELECT MIN(i), MAX(i) FROM dbo.t"), [(1, 300)], "identity values")


def test_values_are_those_of_a_load_without_it(rack):
    """Identity columns with and without -E, defaults, computed columns, types and collations, by both engines."""
    ddl = ("CREATE TABLE dbo.t (i int IDENTITY(7, 2) NOT NULL, a int NOT NULL, c AS a * 2, d varchar(10) NOT NULL DEFAULT 'none',"
           " e nvarchar(20) COLLATE Latin1_General_BIN2 NULL DEFAULT N'\u00e9', f decimal(9, 2) NULL, g datetime2(3) NULL,"
           " h varbinary(max) NULL, k uniqueidentifier NULL, m money NULL)")
    text = ("1\t10\t20\tx\t\t1.50\t2024-02-29 12:00:00.123\t0x0102\t00112233-4455-6677-8899-aabbccddeeff\t2.5\n"
            "2\t11\t22\ty\tabc\t\t\t\t\t\n")
    path = rack.file("v.tsv", text)
    for engine in ("wire", "bcp"):
        for more in ([], ["-E"]):
            got = []
            for stage in ([], ["--stage"]):
                fresh(rack, ddl)
                rack.fullrack("load", "dbo.t", path, "--format", "delimited", "--engine", engine, "-q", *more, *stage)
                got.append(rack.sql("SELECT * FROM dbo.t ORDER BY i"))
            equal(got[1], got[0], "rows with %s %s" % (engine, more))
            equal(len(got[0]), 2, "rows")
    fresh(rack, ddl)
    rack.fullrack("load", "dbo.t", rack.file("n.tsv", "5\tabc\n6\t\n"), "--columns", "a,e", "--stage", "-k", "-q")
    equal(rack.sql("SELECT i, a, d, e FROM dbo.t ORDER BY i"), [(7, 5, "none", "abc"), (9, 6, "none", None)], "-k, and a default")


def test_what_the_target_refuses_keeps_all_out(rack):
    """Constraints and triggers are those of the target; once the cause is mended retry brings all in."""
    fresh(rack, "CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY, b varchar(40) NULL CHECK (b <> 'name 1150'))")
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(300)), rack.file("b.tsv", rows_of(200, 1001)), "--stage", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    equal(queue(rack), [("load", "done"), ("load", "done"), ("bring_in", "failed")], "queue")
    check("bringing [dbo].[fullrack_stage_" in queue(rack, "last_error")[2][0], "reason", queue(rack, "last_error"))
    equal(count(rack), (0, 0), "rows")
    rack.fullrack("verify")
    check("verify" not in rack.err, "no difference", rack.err)
    for statement in ("DELETE FROM dbo.%s WHERE a = 1150" % name for name in stages(rack)):
        rack.sql(statement)
    rack.fullrack("retry", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    check("the ledger accounts for 200" in queue(rack, "last_error")[2][0], "a stage table that was changed", queue(rack, "last_error"))
    equal(count(rack), (0, 0), "rows")
    for statement in ("INSERT INTO dbo.%s SELECT 1150, 'mended' WHERE (SELECT COUNT(*) FROM dbo.%s) = 199" % (name, name) for name in stages(rack)):
        rack.sql(statement)
    rack.fullrack("retry", "-q")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(count(rack), (500, 500), "rows")
    rack.fullrack("verify", "-q")


def test_truncate_is_in_the_transaction_of_the_bring_in(rack):
    fresh(rack)
    rack.sql("INSERT INTO dbo.t VALUES (1, 'old'), (2, 'old')")
    bad = rack.file("b.tsv", rows_of(5, 1001) + "x\ty\n")
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(3, 101)), bad, "--stage", "--truncate", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    equal(count(rack), (2, 2), "the old rows are there")
    rack.file("b.tsv", rows_of(5, 1001))
    rack.fullrack("reset", "--all", "-q")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(count(rack), (8, 8), "rows")
    rack.fullrack("verify", "-q")
    # a replay of all of the group empties the table again, of a part it does not
    rack.fullrack("reset", "--all", "-q")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(count(rack), (8, 8), "rows after a replay")
    rack.fullrack("verify", "-q")
    first = str(queue(rack, "task_id")[0][0])
    rack.fullrack("reset", first)
    check("3 rows of its earlier load stay in dbo.t" in rack.err, "warning", rack.err)
    rack.sql("DELETE FROM dbo.t WHERE a < 1000")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(queue(rack), [("load", "done"), ("load", "done"), ("bring_in", "done")], "queue")
    equal(count(rack), (8, 8), "rows: those of the other task are not brought in again")
    equal(stages(rack), [], "stage tables")
    rack.fullrack("verify", "-q")


def test_reset_before_the_bring_in_begins_anew(rack):
    fresh(rack)
    path = rack.file("a.tsv", rows_of(50))
    rack.fullrack("add", "dbo.t", path, rack.file("b.tsv", "x\ty\n"), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    old = stages(rack)
    equal(len(old), 2, "stage tables")
    rack.fullrack("reset", "--all")
    check("stay in dbo.t" not in rack.err, "no rows are in the table", rack.err)
    equal(stages(rack), [], "the stage tables of the old load ids are gone")
    rack.file("b.tsv", rows_of(5, 1001))
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (55, 55), "rows")
    rack.fullrack("verify", "-q")


def test_reset_between_the_loads_and_the_bring_in(rack):
    """The bring-in, which may begin already, waits for the load again."""
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(30)), rack.file("b.tsv", rows_of(30, 101)), "--stage", "-q")
    rack.sql("UPDATE dbo.work_queue SET not_before = '20990101' WHERE kind = 'bring_in'", "fullrack")
    run = rack.spawn("run", "--workers", "1", "-q")
    wait_until("the loads are done", 30, lambda: queue(rack, "state") == [("done",), ("done",), ("ready",)])
    run.send_signal(signal.SIGINT)
    run.wait(30)
    rack.fullrack("reset", str(queue(rack, "task_id")[1][0]), "-q")
    equal(queue(rack, "state"), [("done",), ("ready",), ("waiting",)], "queue")
    equal(len(stages(rack)), 1, "stage tables")
    rack.fullrack("verify", "-q")
    rack.sql("UPDATE dbo.work_queue SET not_before = SYSUTCDATETIME()", "fullrack")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(queue(rack, "state, attempts"), [("done", 1), ("done", 1), ("done", 1)], "queue")
    equal(count(rack), (60, 60), "rows")
    equal(stages(rack), [], "stage tables")
    rack.fullrack("verify", "-q")


def test_cancel_and_purge_drop_what_was_staged(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(50)), rack.file("b.tsv", "x\ty\n"), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    ids = [str(r[0]) for r in queue(rack, "task_id")]
    rack.fullrack("cancel", ids[1], "-q")
    equal(len(stages(rack)), 1, "stage tables")
    equal(queue(rack), [("load", "done"), ("load", "cancelled"), ("bring_in", "cancelled")], "queue")
    out = rack.fullrack("verify")
    check("50 rows wait to be brought into dbo.t" in out, "note", out)
    rack.fullrack("purge", *ids, "-q")
    equal(stages(rack), [], "stage tables")
    equal(queue(rack), [], "queue")
    equal(count(rack), (0, 0), "rows")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.fullrack_ledger WHERE state <> 'closed'"), [(0,)], "heads that are not closed")


def test_leftovers_are_dropped_by_verify_which_names_them(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(50)), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    name = rack.sql("SELECT stage_table FROM dbo.fullrack_staging")[0][0]
    rack.sql("CREATE TABLE %s (a int)" % name)
    rack.sql("UPDATE dbo.fullrack_staging SET dropped_at = NULL")
    rack.sql("CREATE TABLE dbo.fullrack_stage_0123 (a int)")
    out = rack.fullrack("verify")
    check("the stage table %s was left over: dropped" % name in out, "note", out)
    check("[dbo].[fullrack_stage_0123] is called like a stage table" in out, "note", out)
    equal(stages(rack), ["fullrack_stage_0123"], "stage tables")
    out = rack.fullrack("verify")
    check("was left over" not in out, "once", out)


def test_resume_of_a_load(rack):
    fresh(rack)
    good, bad = rack.file("a.tsv", rows_of(100)), rack.file("b.tsv", rows_of(40, 1001) + "x\ty\n")
    rack.fullrack("load", "dbo.t", good, bad, "--stage", "-b", "10", exit=1)
    load_id = rack.err.split("load id ")[1].split()[0]
    equal(count(rack), (0, 0), "rows")
    rack.fullrack("load", "dbo.t", good, bad, "-b", "10", "--resume", load_id, exit=2)
    check("was begun with --stage" in rack.err, "message", rack.err)
    rack.fullrack("load", "dbo.t", good, "--stage", "-b", "10", "--resume", load_id, exit=2)
    check("there is no such load" in rack.err, "another load id is that of one file alone", rack.err)
    rack.fullrack("load", "dbo.t", good, bad, "--stage", "-b", "10", "-m", "1", "--resume", load_id)
    equal(count(rack), (140, 140), "rows")
    equal(stages(rack), [], "stage tables")
    rack.fullrack("load", "dbo.t", good, bad, "--stage", "-b", "10", "-m", "1", "--resume", load_id)
    equal(count(rack), (140, 140), "rows: a second time it does nothing")


def test_resume_of_a_load_that_was_not_staged(rack):
    fresh(rack)
    bad = rack.file("b.tsv", rows_of(40) + "x\ty\n")
    rack.fullrack("load", "dbo.t", bad, "-b", "10", exit=1)
    load_id = rack.err.split("load id ")[1].split()[0]
    rack.fullrack("load", "dbo.t", bad, "-b", "10", "--stage", "--resume", load_id, exit=2)
    check("was begun without --stage" in rack.err, "message", rack.err)
    equal(count(rack), (40, 40), "rows")


def test_ranges_and_standard_input(rack):
    fresh(rack)
    path = rack.file("a.tsv", rows_of(5000))
    rack.fullrack("add", "dbo.t", path, "--stage", "--split", "4", "-q")
    equal(len(queue(rack)), 5, "tasks")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(count(rack), (5000, 5000), "rows")
    rack.fullrack("load", "dbo.t", "-", "--stage", "-q", input=rows_of(10, 9001).encode())
    equal(count(rack), (5010, 5010), "rows")
    rack.fullrack("load", "dbo.t", path, "--stage", "--split", "4", "--truncate", "-q")
    equal(count(rack), (5000, 5000), "rows")
    equal(stages(rack), [], "stage tables")


def test_a_table_of_a_run_file(rack):
    """Its after phases see the rows; another table is loaded as ever."""
    fresh(rack)
    rack.sql("IF OBJECT_ID(N'dbo.u', N'U') IS NOT NULL DROP TABLE dbo.u; IF OBJECT_ID(N'dbo.seen', N'U') IS NOT NULL DROP TABLE dbo.seen")
    rack.sql("CREATE TABLE dbo.u (a int NOT NULL, b varchar(40) NULL); CREATE TABLE dbo.seen (n int)")
    rack.file("a.tsv", rows_of(30))
    rack.file("b.tsv", rows_of(30, 101))
    run_file = rack.file("night.json", """{"tables": [
        {"name": "dbo.t", "files": ["a.tsv", "b.tsv"], "stage": true, "after": "INSERT INTO dbo.seen SELECT COUNT(*) FROM dbo.t"},
        {"name": "dbo.u", "files": "a.tsv", "depends-on": "dbo.t"}]}""")
    rack.fullrack("run", "--file", run_file, "--workers", "2", "-q")
    equal(queue(rack), [("load", "done"), ("load", "done"), ("bring_in", "done"), ("query", "done"), ("load", "done")], "queue")
    equal(rack.sql("SELECT n FROM dbo.seen"), [(60,)], "what the phase saw")
    equal((count(rack), count(rack, "dbo.u")), ((60, 60), (30, 30)), "rows")
    rack.fullrack("reset", "--job", str(rack.sql("SELECT MAX(job_id) FROM dbo.job", "fullrack")[0][0]), "-q")
    rack.sql("DELETE FROM dbo.t; DELETE FROM dbo.u")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(rack.sql("SELECT n FROM dbo.seen"), [(60,), (60,)], "what the phase saw")
    rack.fullrack("verify", "-q")


def test_what_it_does_not_go_with(rack):
    fresh(rack)
    path = rack.file("a.tsv", rows_of(3))
    for command in ("load", "add"):
        for option in (["--ledger", "off"], ["--no-check"]):
            rack.fullrack(command, "dbo.t", path, "--stage", *option, exit=2)
            check("--stage" in rack.err, "message", rack.err)
    equal((count(rack), queue(rack)), ((0, 0), []), "nothing was done")


def test_rights_that_are_missing_are_named(rack):
    fresh(rack)
    rack.fullrack("init", "-q")
    rack.sql("IF SUSER_ID('stager') IS NULL CREATE LOGIN stager WITH PASSWORD = 'Stager-1234!'", "")
    rack.sql("IF USER_ID('stager') IS NULL CREATE USER stager FOR LOGIN stager")
    rack.sql("GRANT SELECT, INSERT ON dbo.t TO stager; GRANT VIEW DEFINITION TO stager; "
             "GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_ledger TO stager; GRANT SELECT, INSERT ON dbo.fullrack_truncation TO stager; "
             "GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_staging TO stager")
    path = rack.file("a.tsv", rows_of(3))
    env = rack.env(FULLRACK_USER="stager")
    env["FULLRACK_PASSWORD"] = "Stager-1234!"
    command = [a for a in rack.command("load", "dbo.t", path, "--stage", "-q") if a not in ("-U", "sa")]
    r = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    equal(r.returncode, 2, "exit (%s)" % r.stderr)
    check("CREATE TABLE; ALTER, SELECT, INSERT on the schema" in r.stderr and "without --stage" in r.stderr, "message", r.stderr)
    rack.sql("GRANT CREATE TABLE TO stager; GRANT ALTER ON SCHEMA::dbo TO stager")
    r = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    equal(r.returncode, 2, "exit (%s)" % r.stderr)
    # a worker is not asked before
    rack.fullrack("add", "dbo.t", path, "--stage", "-q")
    r = subprocess.run([a for a in rack.command("worker", "--pin", "off") if a not in ("-U", "sa")] + ["--control-user", "sa",
                       "--control-password-file", rack.file("sa", PASSWORD)], capture_output=True, text=True, env=env, timeout=60)
    equal(r.returncode, 1, "exit (%s)" % r.stderr)
    check("SELECT and INSERT on the schema" in r.stderr, "message", r.stderr)
    rack.fullrack("cancel", "--all", "-q")
    rack.sql("GRANT SELECT, INSERT ON SCHEMA::dbo TO stager")
    r = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    equal(r.returncode, 0, "exit (%s)" % r.stderr)
    equal(count(rack), (3, 3), "rows")
    equal(stages(rack), [], "stage tables")


def test_names_of_every_kind(rack):
    """A schema, a table and columns with brackets, quotes and letters, a ledger of another name."""
    fresh(rack)
    rack.sql("IF SCHEMA_ID(N'od]d \"s') IS NULL EXEC(N'CREATE SCHEMA [od]]d \"s]')")
    rack.sql("DROP TABLE IF EXISTS [od]]d \"s].[t'x]; CREATE TABLE [od]]d \"s].[t'x] ([a]]b] int NOT NULL, [\u00fc ber] varchar(10) NULL, [select] date NULL)")
    for files in ((rack.file("a.tsv", "1\tx\t2024-01-01\n"),), (rack.file("b.tsv", "2\ty\t\n"), rack.file("c.tsv", "3\tz\t\n"))):
        rack.fullrack("add", "[od]]d \"s].[t'x]", *files, "--stage", "--ledger-table", "my_ledger", "-q")
        rack.fullrack("run", "--workers", "2", "-q")
    equal(rack.sql("SELECT [a]]b] FROM [od]]d \"s].[t'x] ORDER BY 1"), [(1,), (2,), (3,)], "rows")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.my_ledger_staging WHERE brought_at IS NOT NULL AND dropped_at IS NOT NULL"), [(3,)], "marks")
    equal(stages(rack), [], "stage tables")
    rack.fullrack("verify", "-q")
    rack.sql("DROP TABLE [od]]d \"s].[t'x]; DROP TABLE dbo.my_ledger, dbo.my_ledger_staging, dbo.my_ledger_truncation")


def test_status_says_why_nothing_was_brought_in(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(3)), rack.file("b.tsv", "x\ty\n"), "--stage", "-q")
    out = rack.fullrack("run", "--workers", "1", exit=1)
    check("not run: the load of dbo.t failed" in rack.err, "what run says", rack.err)
    out = rack.fullrack("status")
    check("bring-in" in out and "not run: the load of dbo.t failed (task" in out, "status", out)


def test_a_control_database_of_version_4_is_upgraded(rack):
    fresh(rack)
    rack.sql("ALTER TABLE dbo.work_queue DROP CONSTRAINT ck_work_queue_kinds; ALTER TABLE dbo.work_queue ADD CONSTRAINT ck_work_queue_kind "
             "CHECK (kind IN ('load', 'bulk_insert', 'query', 'backup'))", "fullrack")
    rack.sql("ALTER TABLE dbo.work_group DROP CONSTRAINT ck_work_group_roles; ALTER TABLE dbo.work_group ADD CONSTRAINT ck_work_group_role "
             "CHECK (role IN ('before', 'load', 'after', 'on-failure', 'finally'))", "fullrack")
    rack.sql("DELETE FROM dbo.control_version WHERE version > 4", "fullrack")
    rack.sql("DROP TABLE dbo.fullrack_staging")
    path = rack.file("a.tsv", rows_of(3))
    rack.fullrack("add", "dbo.t", path, "--stage", "-q", exit=2)
    check("fullrack init" in rack.err, "message", rack.err)
    rack.fullrack("init", "-q")
    rack.fullrack("add", "dbo.t", path, "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (3, 3), "rows")


def blocked(rack):
    return rack.sql("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0", "master")[0][0]


def test_killed_in_the_bring_in(rack):
    """The worker, its coordinator, or the server: before the first row, and when all rows are in and only the commit is missing."""
    for point in ("first row", "commit"):
        for who in ("worker", "coordinator", "server"):
            what = "%s killed in front of the %s" % (who, point)
            fresh(rack, "CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY, b varchar(40) NULL)")
            rack.sql("DROP TABLE IF EXISTS dbo.other; CREATE TABLE dbo.other (a int)")
            rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(300)), rack.file("b.tsv", rows_of(200, 1001)), "--stage", "-q")
            rack.sql("UPDATE dbo.work_queue SET not_before = '20990101' WHERE kind = 'bring_in'", "fullrack")
            run = rack.spawn("run", "--workers", "1", "--lease", "2", "-q", "--retry-for", "60")
            wait_until("the loads are done", 30, lambda: queue(rack, "state") == [("done",), ("done",), ("ready",)])
            target, control = rack.connect("t"), rack.connect("fullrack")
            target.cursor().execute("BEGIN TRANSACTION; INSERT INTO dbo.other VALUES (1)")
            rack.sql("UPDATE dbo.work_queue SET not_before = SYSUTCDATETIME() WHERE kind = 'bring_in'", "fullrack")
            wait_until("the bring-in waits", 30, lambda: blocked(rack) > 0)
            equal(queue(rack, "state")[2], ("active",), what)
            if point == "commit":
                control.cursor().execute("BEGIN TRANSACTION; UPDATE dbo.run SET pid = pid")
                target.cursor().execute("ROLLBACK TRANSACTION")
                wait_until("all rows are in, but for the commit", 30, lambda: rack.sql(
                    "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name = 'fullrack phase' AND open_transaction_count > 0",
                    "master")[0][0] == 1 and blocked(rack) > 0)
                time.sleep(0.3)
            equal(count(rack), (0, 0), "nobody sees the rows, " + what)
            workers = workers_of(run.pid)
            if who == "worker":
                os.kill(workers[0], signal.SIGKILL)
            elif who == "coordinator":
                run.kill()
                run.wait()
                os.kill(workers[0], signal.SIGKILL)
            else:
                rack.kill_server()
                rack.start()
            for db in (target, control):
                db.close()
            equal(count(rack) in ((0, 0), (500, 500)), True, "rows, %s: %r" % (what, count(rack)))
            if who == "coordinator":
                run = rack.spawn("run", "--workers", "1", "-q")
            equal(run.wait(60), 0, "exit, %s (%s)" % (what, run.stderr.read()))
            equal(queue(rack), [("load", "done"), ("load", "done"), ("bring_in", "done")], what)
            equal(count(rack), (500, 500), what)
            equal(stages(rack), [], what)
            rack.fullrack("verify", "-q")


def test_a_second_bring_in_finds_the_marks(rack):
    fresh(rack)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(30)), rack.file("b.tsv", rows_of(30, 101)), "--stage", "--truncate", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    rack.fullrack("reset", str(queue(rack, "task_id")[2][0]), "-q")
    equal(queue(rack)[2], ("bring_in", "ready"), "queue")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(queue(rack, "kind, state, rows_loaded")[2], ("bring_in", "done", 0), "it does nothing")
    equal(count(rack), (60, 60), "rows")
    rack.fullrack("verify", "-q")


WITH_LOAD_ID = "CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL, l uniqueidentifier NULL)"


def run_id(rack):
    return str(rack.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0])


def test_undo_by_load_id(rack):
    """The rows of one run go, others stay; a second time there is nothing to do; reset loads them again."""
    fresh(rack, WITH_LOAD_ID)
    rack.sql("INSERT INTO dbo.t VALUES (-1, 'mine', NULL), (-2, 'mine', NEWID())")
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(100)), "--load-id-column", "l", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    first = run_id(rack)
    rack.fullrack("add", "dbo.t", rack.file("b.tsv", rows_of(50, 1001)), "--split", "2", "--load-id-column", "L", "-q")
    rack.fullrack("add", "dbo.t", rack.file("c.tsv", rows_of(10, 2001) + "x\ty\n"), "-b", "5", "--load-id-column", "l", "-q")
    rack.fullrack("run", "--workers", "2", "-q", exit=1)
    equal(count(rack), (162, 162), "rows")
    result = rack.json("undo", run_id(rack))
    equal((result["rows_taken_out"], sorted(t["rows_taken_out"] for t in result["tasks"])), (60, [10, 25, 25]), "what was taken out")
    equal(count(rack), (102, 102), "rows")
    equal([r[0] for r in queue(rack, "state")], ["done", "cancelled", "cancelled", "cancelled"], "queue")
    check(queue(rack, "last_error")[1][0].startswith("undone: 25 rows"), "reason", queue(rack, "last_error"))
    rack.fullrack("verify", "-q")
    out = rack.fullrack("undo", run_id(rack))
    check("there is nothing to undo" in out, "a second time", out)
    ids = [str(r[0]) for r in queue(rack, "task_id")]
    rack.fullrack("reset", *ids[1:3])
    check("stay in" not in rack.err, "no rows of it are in the table", rack.err)
    rack.fullrack("run", "--workers", "2", "-q")
    equal(count(rack), (152, 152), "rows")
    out = rack.fullrack("undo", first)
    check("1 task undone, 100 rows taken out" in out, "message", out)
    equal(count(rack), (52, 52), "rows")
    rack.fullrack("verify", "-q")
    rack.fullrack("undo", "9999", exit=2)
    check("there is no run 9999" in rack.err, "message", rack.err)


def test_undo_of_what_cannot_be_touches_nothing(rack):
    fresh(rack, WITH_LOAD_ID)
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(10)), "--load-id-column", "l", "-q")
    rack.fullrack("add", "dbo.t", rack.file("b.tsv", "".join("%d\tx\t\n" % i for i in range(101, 106))), "-q")
    rack.fullrack("add", "dbo.t", rack.file("c.tsv", "".join("%d\tx\t\n" % i for i in range(201, 206))), "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (20, 20), "rows")
    before = queue(rack, "task_id, state, load_id")
    rack.fullrack("undo", run_id(rack), exit=1)
    check("task %d (" % before[1][0] in rack.err and "not staged, and loaded without --load-id-column" in rack.err, "message", rack.err)
    check("task %d (" % before[2][0] in rack.err and "brought in, and loaded without" in rack.err, "message", rack.err)
    check("2 tasks of run" in rack.err and "nothing was undone" in rack.err, "message", rack.err)
    equal(queue(rack, "task_id, state, load_id"), before, "queue")
    equal(count(rack), (20, 20), "rows")
    rack.fullrack("verify", "-q")


def test_undo_of_what_was_staged(rack):
    """Before the bring-in it always can be done; after it, by the load id."""
    fresh(rack, WITH_LOAD_ID)
    bad = rack.file("b.tsv", "x\ty\tz\n")
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", "".join("%d\tx\t\n" % i for i in range(10))), bad, "--stage", "-q")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    equal(len(stages(rack)), 2, "stage tables")
    out = rack.fullrack("undo", run_id(rack))
    check("2 tasks undone, 0 rows taken out" in out, "message", out)
    equal(stages(rack), [], "stage tables")
    equal(queue(rack), [("load", "cancelled"), ("load", "cancelled"), ("bring_in", "cancelled")], "queue")
    rack.fullrack("verify", "-q")
    rack.file("b.tsv", "".join("%d\tx\t\n" % i for i in range(100, 110)))
    rack.fullrack("reset", "--all", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (20, 20), "rows")
    fresh(rack, WITH_LOAD_ID)
    rack.fullrack("add", "dbo.t", rack.file("c.tsv", rows_of(30)), rack.file("d.tsv", rows_of(30, 101)), "--stage", "--load-id-column", "l", "-q")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(count(rack), (60, 60), "rows")
    out = rack.fullrack("undo", run_id(rack))
    check("2 tasks undone, 60 rows taken out" in out, "message", out)
    equal(count(rack), (0, 0), "rows")
    rack.fullrack("verify", "-q")
    rack.fullrack("reset", str(queue(rack, "task_id")[0][0]), str(queue(rack, "task_id")[1][0]), "-q")
    rack.fullrack("run", "--workers", "2", "-q")
    equal(queue(rack), [("load", "done"), ("load", "done"), ("bring_in", "done")], "queue")
    equal(count(rack), (60, 60), "rows")
    rack.fullrack("verify", "-q")


def test_undo_of_the_run_that_brought_in(rack):
    """It says which run's undo takes the rows out, and that one does."""
    fresh(rack, WITH_LOAD_ID)
    rack.sql("ALTER TABLE dbo.t ADD CONSTRAINT small CHECK (a < 10)")
    rack.fullrack("add", "dbo.t", rack.file("a.tsv", rows_of(20)), "--stage", "--load-id-column", "l", "-q")
    rack.fullrack("run", "--workers", "1", "-q", exit=1)
    loaded = run_id(rack)
    rack.sql("ALTER TABLE dbo.t DROP CONSTRAINT small")
    rack.fullrack("retry", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    equal(count(rack), (20, 20), "rows")
    out = rack.fullrack("undo", run_id(rack))
    check("nothing to undo in run %s: it brought in what an earlier run loaded" % run_id(rack) in out, "message", out)
    equal(count(rack), (20, 20), "rows")
    rack.fullrack("undo", loaded, "-q")
    equal(count(rack), (0, 0), "rows")


def test_undo_that_was_killed_is_finished_by_the_next(rack):
    """The rows are gone and the queue does not know yet: the next undo says so there; and before the commit nothing has changed."""
    fresh(rack, WITH_LOAD_ID)
    for name, first in (("a", 1), ("b", 101), ("c", 201)):
        rack.fullrack("add", "dbo.t", rack.file(name + ".tsv", rows_of(20, first)), "--load-id-column", "l", "-q")
    rack.fullrack("run", "--workers", "1", "-q")
    run = run_id(rack)
    for point, rows_left in (("first row", 60), ("queue", 40)):
        target, control = rack.connect("t"), rack.connect("fullrack")
        target.cursor().execute("BEGIN TRANSACTION; UPDATE dbo.fullrack_ledger SET epoch = epoch")
        p = rack.spawn("undo", run, "-q")
        wait_until("it waits for the target", 30, lambda: blocked(rack) > 0)
        if point == "queue":
            control.cursor().execute("BEGIN TRANSACTION; UPDATE dbo.run SET pid = pid")
            target.cursor().execute("ROLLBACK TRANSACTION")
            wait_until("it waits for the queue", 30, lambda: blocked(rack) > 0 and count(rack)[0] == rows_left)
        p.kill()
        p.wait()
        target.close()
        control.close()
        wait_until("its session is gone", 30, lambda: rack.sql(
            "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name LIKE 'fullrack %'", "master")[0][0] == 0)
        equal(count(rack), (rows_left, rows_left), "rows after the kill in front of the " + point)
        # a call that the server had received may still be done
        equal([r[0] for r in queue(rack, "state")][1:], ["done"] * 2, "queue")
    rack.fullrack("undo", run, "-q")
    equal([r[0] for r in queue(rack, "state")], ["cancelled"] * 3, "queue")
    equal(count(rack), (0, 0), "rows")
    rack.fullrack("verify", "-q")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
