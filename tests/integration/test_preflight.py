#!/usr/bin/python3
"""The preflight of run and load: rights, hints, what costs time; --dry-run, and the warnings in front of a load."""
import json, os, sys, time
import pymssql
from rack import PASSWORD, check, equal, main, tests_of

OPTIONS = ["--schedulers", "2"]
ROWS = "".join("%d\t%d\n" % (i, i + 1) for i in range(1, 21))


def files(r):
    return r.file("a.tsv", ROWS)


def findings(doc, table=0):
    return {f["code"]: f["severity"] for f in doc["tables"][table]["findings"]}


def dry(r, *args, exit=0, **more):
    return json.loads(r.fullrack(args[0], "--dry-run", "--json", *args[1:], exit=exit, **more))


def count(r, table="dbo.t"):
    return r.sql("SELECT COUNT(*) FROM " + table)[0][0]


def login(r, name, *grants):
    """A login of that name that has just these rights, and is no member of anything."""
    if not r.sql("SELECT 1 FROM sys.server_principals WHERE name = '%s'" % name, "master"):
        r.sql("CREATE LOGIN %s WITH PASSWORD = '%s'" % (name, PASSWORD), "master")
    r.sql("DROP USER IF EXISTS %s" % name)
    r.sql("CREATE USER %s FOR LOGIN %s" % (name, name))
    for g in grants:
        r.sql("GRANT %s TO %s" % (g, name))
    return ["-U", name]


def with_user(r, user, *args, **more):
    return r.fullrack(args[0], *user, *args[1:], **more)


# ---- what costs time

TABLES = (
    # table, what is done to it, options, findings that it must have, and those it must not
    ("a int NOT NULL, b int NULL", (), (), {}, ("nonclustered_indexes", "clustered_empty", "recovery_full")),
    ("a int NOT NULL, b int NULL", ("CREATE INDEX ix_b ON dbo.t (b)",), (), {"nonclustered_indexes": "warning"}, ("readers_blocked",)),
    ("a int NOT NULL, b int NULL", ("CREATE INDEX ix_b ON dbo.t (b)", "ALTER INDEX ix_b ON dbo.t DISABLE"), (), {}, ("nonclustered_indexes",)),
    ("a int NOT NULL, b int NULL", ("CREATE INDEX ix_b ON dbo.t (b)",), ("--hint", "TABLOCK"), {"one_stream": "warning"}, ()),
    ("a int NOT NULL PRIMARY KEY, b int NULL", (), (), {"clustered_empty": "warning"}, ("clustered_filled", "nonclustered_indexes")),
    ("a int NOT NULL PRIMARY KEY, b int NULL", ("INSERT INTO dbo.t VALUES (-1, 0)",), (), {"clustered_filled": "note"}, ("clustered_empty",)),
    ("a int NOT NULL, b int NULL CHECK (b > 0)", (), (), {"constraints_checked": "note"}, ("constraints_untrusted",)),
    ("a int NOT NULL, b int NULL CHECK (b > 0)", (), ("--no-check",), {"constraints_untrusted": "warning"}, ("constraints_checked",)),
    ("a int NOT NULL, b int NULL CHECK (b > 0)", (), ("--engine", "bcp"), {"bcp_no_tablock": "warning"}, ()),
    ("a int NOT NULL, b int NULL", (), ("-b", "100"), {"small_batches": "warning"}, ()),
    ("a int NOT NULL, b int NULL", (), ("--ledger", "off"), {"ledger_off": "note"}, ()),
    ("a int NOT NULL, b int NULL", ("ALTER DATABASE t SET RECOVERY FULL",), (), {"recovery_full": "warning"}, ()),
    ("a int NOT NULL, b int NULL", (), ("--hint", "none"), {}, ("readers_blocked",)),
    ("a int NOT NULL, b int NULL", ("ALTER DATABASE t SET READ_COMMITTED_SNAPSHOT ON",), (), {"readers_blocked": "warning"}, ()),
    ("a int NOT NULL, b int NULL", ("ALTER TABLE dbo.t REBUILD WITH (DATA_COMPRESSION = PAGE)",), (), {"compression": "warning"}, ()),
    ("a int NOT NULL, b int NULL", ("ALTER TABLE dbo.t REBUILD WITH (DATA_COMPRESSION = ROW)",), (), {"compression": "note"}, ()),
    ("a int NOT NULL, b int NULL", ("ALTER DATABASE t SET RECOVERY FULL",), ("--hint", "none"), {"recovery_full": "note"}, ()),
)


def test_each_cost_is_found(r):
    for columns, before, options, want, absent in TABLES:
        r.fresh("CREATE TABLE dbo.t (%s)" % columns)
        r.sql("ALTER DATABASE t SET RECOVERY SIMPLE; ALTER DATABASE t SET READ_COMMITTED_SNAPSHOT OFF")
        for sql in before:
            r.sql(sql)
        rows = count(r)
        doc = dry(r, "load", "dbo.t", files(r), *options)
        got = findings(doc)
        for code, severity in want.items():
            equal(got.get(code), severity, "%s of %s, %s, %s" % (code, columns, before, options))
        for code in absent:
            check(code not in got, "%s of %s, %s, %s" % (code, columns, before, options), doc)
        equal(count(r), rows, "rows after a dry run")
        # the same loads, with the same warnings on standard error, and no note
        r.fullrack("load", "dbo.t", files(r), *options)
        for f in doc["tables"][0]["findings"]:
            said = "fullrack: warning: dbo.t: %s; cure: %s" % (f["message"], f["cure"])
            equal(r.err.count(said), 1 if f["severity"] == "warning" else 0, f["code"] + " in front of a load: " + r.err)
        equal(count(r), rows + 20, "rows of the load")
        r.fullrack("load", "-q", "dbo.t", files(r), *options, exit=1 if "PRIMARY" in columns else 0)
        check("warning" not in r.err, "-q", r.err)
    r.sql("ALTER DATABASE t SET RECOVERY SIMPLE")


def test_hints_are_those_of_the_load(r):
    for columns, options, hints in (("a int NOT NULL, b int NULL", (), "TABLOCK"), ("a int PRIMARY KEY, b int NULL", (), "none"),
                                    ("a int NULL, b int NULL CHECK (b > 0)", ("-k",), "TABLOCK, CHECK_CONSTRAINTS, KEEP_NULLS"),
                                    ("a int NULL, b int NULL", ("--engine", "bcp", "-k"), "KEEP_NULLS")):
        r.fresh("CREATE TABLE dbo.t (%s)" % columns)
        t = dry(r, "load", "dbo.t", files(r), *options)["tables"][0]
        equal((t["hints"], t["table"], t["tasks"]), (hints, "dbo.t", 1), "of " + columns)
        check(t["hints_why"], "why", t)
        out = r.fullrack("load", "--dry-run", "dbo.t", files(r), *options)
        check("hints %s: %s\n" % (hints, t["hints_why"]) in out and out.endswith("nothing was loaded\n"), "as text", out)


def test_mistakes_end_a_dry_run_with_2(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    r.sql("DROP TABLE IF EXISTS dbo.fullrack_ledger")
    for args, code, word in ((("dbo.none", files(r)), "table", "dbo.none"), (("dbo.t", files(r), "--columns", "a,nix"), "options", "nix"),
                             (("dbo.t", files(r), "--hint", "ORDER (nix)"), "options", "nix"),
                             (("dbo.t", files(r), "--hint", "ORDER (a)", "--engine", "bcp"), "options", "bcp")):
        doc = dry(r, "load", *args, exit=2)
        found = [f for f in doc["tables"][0]["findings"] if f["code"] == code]
        check(len(found) == 1 and found[0]["severity"] == "error" and word in found[0]["message"], "finding of %r" % (args,), doc)
        equal(doc["errors"], 1, "errors")
        if code == "table" or "--hint" in args:
            equal((doc["tables"][0]["hints"], doc["tables"][0]["hints_why"]), (None, None), "no hints of %r" % (args,))
    equal(count(r), 0, "rows")
    equal(r.sql("SELECT OBJECT_ID('dbo.fullrack_ledger')"), [(None,)], "a dry run makes no ledger")
    r.sql("CREATE TABLE dbo.dup (a int NULL, b int NULL)")
    r.sql("CREATE UNIQUE INDEX ux ON dbo.dup (a) WITH (IGNORE_DUP_KEY = ON)")
    doc = dry(r, "load", "dbo.dup", files(r), exit=2)
    check("IGNORE_DUP_KEY" in doc["tables"][0]["findings"][0]["message"], "an unfit table", doc)
    r.sql("DROP TABLE dbo.dup")


def test_a_load_id_column_is_no_mistake(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL, l uniqueidentifier NOT NULL)")
    f = r.file("own.csv", "1,2\n")
    options = ("--format", "csv", "--load-id-column", "l")
    equal(dry(r, "load", "dbo.t", f, *options)["errors"], 0, "errors")
    check("--load-id-column" in dry(r, "load", "dbo.t", f, "--format", "csv", "--load-id-column", "b", exit=2)["tables"][0]["findings"][0]["message"], "a column of another type")
    equal(r.json("check", "dbo.t", f, *options)["rows"], 1, "rows that would be loaded")


def test_a_row_of_a_file_is_looked_at(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    csv = ("--format", "csv", "--header", "match")
    good, bad = r.file("good.csv", "b,a\n1,2\n"), r.file("bad.csv", "b,nix\n1,2\n")
    equal(dry(r, "load", "dbo.t", good, *csv)["errors"], 0, "a header that fits")
    doc = dry(r, "load", "dbo.t", bad, *csv, exit=2)
    check([f["code"] for f in doc["tables"][0]["findings"] if f["severity"] == "error"] == ["options"] and "nix" in json.dumps(doc), "a header that does not", doc)
    equal(findings(dry(r, "load", "dbo.t", r.file("odd.csv", "b,a\n1,x\n"), *csv)).get("options"), None, "a bad row is check's to say")
    doc = dry(r, "load", "dbo.t", os.path.join(r.dir, "none.csv"), *csv, exit=2)
    equal(findings(doc).get("source"), "error", "a file that is not there")
    big = r.file("big.csv", "a,b\n" + "1,2\n" * 3000000)
    started = time.time()
    dry(r, "load", "dbo.t", big, *csv)
    once = time.time() - started
    r.fullrack("check", "dbo.t", big, *csv)
    check(once < (time.time() - started - once) / 2 + 0.5, "all of a file is not read: %.2f s" % once)
    fifo = os.path.join(r.dir, "fifo")
    os.mkfifo(fifo)
    equal(dry(r, "load", "dbo.t", fifo, *csv)["errors"], 0, "nobody waits for a pipe")
    r.fresh_control()
    r.fullrack("add", "-q", "dbo.t", good, *csv)
    r.sql("UPDATE dbo.work_queue SET source = '/nowhere.csv'", "fullrack")
    equal(findings(dry(r, "run"))["source"], "note", "a file that another host may have")
    equal(count(r), 0, "rows")


def test_space_for_rejects(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    bad = os.path.join(r.dir, "bad")
    check("reject_space" not in findings(dry(r, "load", "dbo.t", files(r), "-e", bad)), "one reject fits")
    check("reject_space" in findings(dry(r, "load", "dbo.t", files(r), "-e", bad, "-m", str(2 ** 60))), "2^60 do not")
    check(not os.path.exists(bad), "a dry run makes no file")


# ---- rights

def test_what_the_server_says_of_rights_is_so(r):
    """fullrackd's HAS_PERMS_BY_NAME against what can be done, however a login came by it."""
    rights = ("INSERT INTO dbo.t (a) VALUES (1)", "SELECT a FROM dbo.t", "ALTER TABLE dbo.t ADD c int NULL")
    for way in ((), ("ALTER ROLE db_datareader ADD MEMBER way", "ALTER ROLE db_datawriter ADD MEMBER way"), ("ALTER ROLE db_ddladmin ADD MEMBER way",),
                ("ALTER ROLE db_owner ADD MEMBER way",), ("GRANT CONTROL ON dbo.t TO way",), ("GRANT INSERT, SELECT ON SCHEMA::dbo TO way",),
                ("GRANT INSERT, SELECT, ALTER TO way",), ("GRANT CONTROL ON SCHEMA::dbo TO way",), ("GRANT INSERT, SELECT ON dbo.t TO public",),
                ("CREATE ROLE q", "GRANT INSERT, SELECT ON dbo.t TO q", "ALTER ROLE q ADD MEMBER way"),
                ("GRANT INSERT, SELECT ON SCHEMA::dbo TO way", "DENY INSERT ON dbo.t TO way")):
        r.drop_database("t")
        r.fresh("CREATE TABLE dbo.t (a int NULL)")
        login(r, "way")
        for sql in way:
            r.sql(sql)
        with pymssql.connect(server="127.0.0.1", port=r.port, user="way", password=PASSWORD, database="t", autocommit=True) as db:
            cur = db.cursor()
            cur.execute("SELECT " + ", ".join("HAS_PERMS_BY_NAME('[dbo].[t]', 'OBJECT', '%s')" % s.split()[0] for s in rights))
            said, so = cur.fetchone(), []
            for sql in rights:
                try:
                    cur.execute(sql)
                    if cur.description:
                        cur.fetchall()
                    so.append(1)
                except pymssql.Error:
                    so.append(0)
        equal(said, tuple(so), "INSERT, SELECT, ALTER after %s" % (way,))


def test_missing_rights_are_named(r):
    r.fullrack("init")
    for options, grants, code, word in (
            ((), (), "table", "no right to see it"),
            ((), ("INSERT ON dbo.t",), "no_select_right", "SELECT"),
            ((), ("SELECT ON dbo.t",), "no_insert_right", "INSERT"),
            (("--truncate",), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_alter_right", "--truncate"),
            (("--no-check",), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_alter_right", "--no-check"),
            (("-E",), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_alter_right", "-E"),
            ((), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_ledger_right", "ledger"),
            ((), ("SELECT ON dbo.t", "INSERT ON dbo.t", "SELECT ON dbo.fullrack_ledger", "INSERT ON dbo.fullrack_ledger"), "no_ledger_right", "UPDATE"),
            (("--stage",), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_stage_right", "CREATE TABLE"),
            (("--stage",), ("SELECT ON SCHEMA::dbo", "INSERT ON SCHEMA::dbo", "ALTER ON SCHEMA::dbo", "CREATE TABLE"), "no_stage_right", "list of staged tables"),
            (("--reject-table", "dbo.bad"), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_reject_table_right", "dbo.bad"),
            (("--ledger-table", "dbo.other"), ("SELECT ON dbo.t", "INSERT ON dbo.t"), "no_ledger_right", "--ledger-table")):
        r.fresh("CREATE TABLE dbo.t (a int IDENTITY NOT NULL, b int NULL CHECK (b > 0))")
        user = login(r, "etl", *grants)
        what = "%s with %s" % (options, grants)
        doc = dry(r, "load", *user, "dbo.t", files(r), *options, exit=2)
        found = [f for f in doc["tables"][0]["findings"] if f["code"] == code]
        check(len(found) == 1 and found[0]["severity"] == "error" and word in found[0]["message"] + str(found[0]["cure"]), "finding, " + what, doc)
        r.fullrack("load", *user, "dbo.t", files(r), *options, exit=1 if code == "table" else 2)
        check(found[0]["message"] in r.err, "message, " + what, found, r.err)
        equal(count(r), 0, "rows, " + what)


def test_a_reject_table_of_another_shape(r):
    """It is found before anything is made: a dry run says so, a load ends, and no stage table is left."""
    r.fullrack("init")
    r.fresh("CREATE TABLE dbo.t (a int IDENTITY NOT NULL, b int NULL)")
    for ddl in ("CREATE TABLE dbo.bad (a int)", "CREATE TABLE dbo.bad (load_id uniqueidentifier, range_start bigint, reason nvarchar(10))"):
        r.fresh(ddl, "dbo.bad")
        doc = dry(r, "load", "dbo.t", files(r), "--reject-table", "dbo.bad", exit=2)
        equal([f["code"] for f in doc["tables"][0]["findings"] if f["severity"] == "error"], ["reject_table_shape"], "findings")
        r.fullrack("load", "dbo.t", files(r), "--reject-table", "dbo.bad", "--stage", exit=2)
        check("dbo.bad is a table of another shape" in r.err, "message", r.err)
        equal(r.sql("SELECT name FROM sys.tables WHERE name LIKE 'fullrack_stage%'"), [], "stage tables")
        equal(count(r), 0, "rows")
    r.sql("DROP TABLE dbo.bad")
    r.fullrack("load", "dbo.t", files(r), "--reject-table", "dbo.bad", "-q")
    dry(r, "load", "dbo.t", files(r), "--reject-table", "dbo.bad")


def test_rights_that_are_enough(r):
    """What the preflight asks for is all that a load needs."""
    r.fullrack("init")
    ledger = ["%s ON dbo.fullrack_ledger" % p for p in ("SELECT", "INSERT", "UPDATE")]
    marks = ["%s ON dbo.fullrack_truncation" % p for p in ("SELECT", "INSERT")]
    stages = ["%s ON dbo.fullrack_staging" % p for p in ("SELECT", "INSERT", "UPDATE")]
    table = ["SELECT ON dbo.t", "INSERT ON dbo.t"]
    r.fullrack("init", "--reject-table", "dbo.bad")
    for options, grants in (((), table + ledger), (("--ledger", "off"), table), (("--truncate",), table + ledger + marks + ["ALTER ON dbo.t"]),
                            (("--no-check",), table + ledger + ["ALTER ON dbo.t"]),
                            (("--stage",), table + ledger + stages + ["CREATE TABLE"] + ["%s ON SCHEMA::dbo" % p for p in ("ALTER", "SELECT", "INSERT")]),
                            (("--reject-table", "dbo.bad"), table + ledger + ["SELECT ON dbo.bad", "INSERT ON dbo.bad"]),
                            (("--ledger-table", "dbo.mine"), ["CREATE TABLE"] + ["%s ON SCHEMA::dbo" % p for p in ("ALTER", "SELECT", "INSERT", "UPDATE")])):
        r.fresh("CREATE TABLE dbo.t (a int NOT NULL, b int NULL CHECK (b > 0))")
        user = login(r, "enough", *grants)
        equal(dry(r, "load", *user, "dbo.t", files(r), *options)["errors"], 0, "errors with %s" % (grants,))
        r.fullrack("load", *user, "dbo.t", files(r), *options)
        equal(count(r), 20, "rows")
    r.sql("DROP TABLE dbo.bad")


# ---- a run

def queue(r, *tables):
    r.fresh_control()
    for t in tables:
        r.fullrack("add", "-q", "--again", t, files(r))


def test_a_run_looks_at_its_queue(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    r.fresh("CREATE TABLE dbo.u (a int NOT NULL, b int NULL)", "dbo.u")
    r.sql("CREATE INDEX ix ON dbo.u (a)")
    queue(r, "dbo.t", "dbo.u", "dbo.t", "dbo.t")
    doc = dry(r, "run", "--workers", "2")
    equal([(t["table"], t["database"], t["tasks"], t["streams"], t["hints"]) for t in doc["tables"]],
          [("dbo.t", "t", 3, 2, "TABLOCK"), ("dbo.u", "t", 1, 1, "none")], "tables")
    equal(findings(doc, 1), {"nonclustered_indexes": "warning"}, "of dbo.u")
    equal(r.sql("SELECT state, COUNT(*) FROM dbo.work_queue GROUP BY state", "fullrack"), [("ready", 4)], "the queue after a dry run")
    equal(r.sql("SELECT COUNT(*) FROM dbo.run", "fullrack"), [(0,)], "runs")
    r.fullrack("run", "--workers", "2")
    equal(r.err.count("fullrack: warning: dbo.u: 1 nonclustered index (ix)"), 1, "said once: " + r.err)
    equal((count(r), count(r, "dbo.u")), (60, 20), "rows")
    equal(dry(r, "run")["tables"], [], "an empty queue")


def test_tables_of_several_databases(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    r.fresh_control()
    r.drop_database("other")
    r.sql("CREATE DATABASE other", "master")
    r.sql("CREATE TABLE dbo.t (a int NULL, b int NULL); CREATE INDEX ix ON dbo.t (a)", "other")
    for database in ("t", "other", "t"):
        r.fullrack("add", "-q", "--again", "dbo.t", files(r), database=database)
    doc = dry(r, "run")
    equal([(t["database"], t["tasks"], t["hints"], "nonclustered_indexes" in findings(doc, i)) for i, t in enumerate(doc["tables"])],
          [("t", 2, "TABLOCK", False), ("other", 1, "none", True)], "tables")
    r.fullrack("run", "--workers", "2")
    equal(r.err.count("warning: dbo.t: 1 nonclustered index (ix)"), 1, "said once: " + r.err)
    equal((count(r), r.sql("SELECT COUNT(*) FROM dbo.t", "other")), (40, [(20,)]), "rows")
    r.drop_database("other")


def test_options_of_tasks_count(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    r.fresh_control()
    for i in range(3):
        r.fullrack("add", "-q", "--again", "dbo.t", files(r), "-b", "50")
    r.fullrack("add", "-q", "--again", "dbo.t", files(r), "--max-per-table", "1")
    doc = dry(r, "run", "--workers", "2")
    equal([(t["tasks"], "small_batches" in findings(doc, i)) for i, t in enumerate(doc["tables"])], [(3, True), (1, False)], "two ways")
    # the files' own ranges are no way of loading of their own
    r.fresh_control()
    big = [r.file("big%d.tsv" % i, ROWS * 20) for i in range(3)]
    r.fullrack("add", "-q", "dbo.t", *big, "--split", "4")
    doc = dry(r, "run", "--workers", "2")
    equal([(t["tasks"], t["streams"]) for t in doc["tables"]], [(12, 2)], "ranges")


def test_a_run_without_rights_leaves_the_queue(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    r.fresh("CREATE TABLE dbo.u (a int NULL, b int NULL)", "dbo.u")
    queue(r, "dbo.t", "dbo.u")
    ledger = ["%s ON dbo.fullrack_ledger" % p for p in ("SELECT", "INSERT", "UPDATE")]
    login(r, "half", "SELECT ON dbo.t", "SELECT ON dbo.u", *ledger)
    as_half = ["--control-user", "sa", "-U", "half"]
    r.fullrack("run", *as_half, "--workers", "2", exit=2)
    check("the tables of the queue cannot be loaded" in r.err and "dbo.t: the login half may not INSERT" in r.err, "message", r.err)
    equal(r.sql("SELECT state, attempts FROM dbo.work_queue", "fullrack"), [("ready", 0), ("ready", 0)], "no attempt is used up")
    equal(r.sql("SELECT COUNT(*) FROM dbo.run", "fullrack"), [(0,)], "runs")
    # one of two can be loaded: it is
    login(r, "half", "SELECT ON dbo.t", "INSERT ON dbo.t", "SELECT ON dbo.u", *ledger)
    r.fullrack("run", *as_half, "--workers", "2", exit=1)
    check("warning: dbo.u: the login half may not INSERT" in r.err, "a warning", r.err)
    equal(sorted(r.sql("SELECT target_table, state FROM dbo.work_queue", "fullrack")), [("dbo.t", "done"), ("dbo.u", "failed")], "states")
    equal((count(r), count(r, "dbo.u")), (20, 0), "rows")


def test_a_run_file_is_looked_at_and_not_queued(r):
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL, b int NULL)")
    r.sql("CREATE INDEX ix ON dbo.t (a)")
    r.sql("DROP TABLE IF EXISTS dbo.made")
    r.fresh_control()
    plain = {"name": "dbo.t", "files": files(r)}
    made = {"name": "dbo.made", "files": files(r), "before": ["CREATE TABLE dbo.made (a int NULL, b int NULL)"]}
    cured = dict(plain, before=[{"phase": "disable-indexes"}], after=[{"phase": "rebuild-indexes"}])
    for tables, want in (([plain], [{"nonclustered_indexes": "warning"}]), ([cured], [{"nonclustered_indexes": "note"}]),
                         ([plain, made], [{"nonclustered_indexes": "warning"}, {"table": "note"}])):
        path = r.file("p.json", json.dumps({"tables": tables, "again": True}))
        doc = dry(r, "run", "--file", path)
        equal([findings(doc, i) for i in range(len(doc["tables"]))], want, "findings of %s" % tables)
        equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue", "fullrack"), [(0,)], "the queue")
    r.fullrack("run", "--file", path)
    equal(r.err.count("warning: dbo.t: 1 nonclustered index"), 1, "in front of the run: " + r.err)
    equal((count(r), count(r, "dbo.made")), (20, 20), "rows")
    r.fullrack("run", "--file", r.file("q.json", json.dumps({"tables": [cured], "again": True})))
    check("nonclustered" not in r.err, "cured by its phase", r.err)


def test_what_cannot_be_asked_is_left_to_the_workers(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    queue(r, "dbo.t")
    r.sql("UPDATE dbo.work_queue SET target_database = 'nosuch', max_attempts = 1", "fullrack")
    r.fullrack("run", "--workers", "1", exit=1)
    equal(r.sql("SELECT state FROM dbo.work_queue", "fullrack"), [("failed",)], "state")
    r.sql("UPDATE dbo.work_queue SET target_database = 't', options = '{\"b\":', state = 'ready', attempts = 0", "fullrack")
    r.fullrack("run", "--workers", "1", exit=2)
    check("task options" in r.err, "its task refuses them", r.err)
    r.fullrack("load", "-S", "127.0.0.1:1", "dbo.t", files(r), exit=3)
    r.fullrack("load", "--dry-run", "-S", "127.0.0.1:1", "dbo.t", files(r), exit=3)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
