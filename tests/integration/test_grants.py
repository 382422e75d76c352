#!/usr/bin/python3
"""The roles fullrack_loader, fullrack_operator and fullrack_viewer: what each may do, and what it is refused."""
import json, os, re, sys
from rack import BUILD, PASSWORD, Failed, check, equal, main, tests_of

OPTIONS = ["--schedulers", "4"]
ROLES = ("loader", "operator", "viewer")
SQL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sql")
ROWS = "".join("%d\t%d\n" % (i, i) for i in range(1, 101))


def prepare(r, control="fullrack", ddl="CREATE TABLE dbo.t (a int NOT NULL, b int NULL)"):
    """Target and control database with the roles; logins l_loader, l_operator, l_viewer, l_nobody that have these alone."""
    r.drop_database("t")
    r.fresh(ddl)
    if control == "fullrack":
        r.fresh_control()
    r.fullrack("init", "--grants", "--control-database", control)
    for role in ROLES + ("nobody",):
        name = "l_" + role
        if not r.sql("SELECT 1 FROM sys.server_principals WHERE name = '%s'" % name, "master"):
            r.sql("CREATE LOGIN %s WITH PASSWORD = '%s'" % (name, PASSWORD), "master")
        for database in {"t", control}:
            r.sql("DROP USER IF EXISTS %s; CREATE USER %s FOR LOGIN %s" % (name, name, name), database)
            if role != "nobody":
                r.sql("ALTER ROLE fullrack_%s ADD MEMBER %s" % (role, name), database)
    r.sql("GRANT SELECT, INSERT ON dbo.t TO fullrack_loader")
    r.sql("GRANT VIEW DEFINITION ON dbo.t TO fullrack_operator")
    r.sql("GRANT SELECT ON dbo.t TO fullrack_viewer")


def as_role(r, role, *args, **more):
    return r.fullrack(args[0], "-U", "l_" + role, *args[1:], **more)


def files(r, n=4):
    return [r.file("g%d.tsv" % i, ROWS) for i in range(n)]


def states(r, control="fullrack", schema="dbo"):
    return sorted(s for s, in r.sql("SELECT state FROM %s.work_queue" % schema, control))


def count(r):
    return r.sql("SELECT COUNT(*) FROM dbo.t")[0][0]


def refused(r, role, words, *args, exit=2):
    out = as_role(r, role, *args, exit=exit)
    check(all(w in r.err for w in words), "%s as %s says which right it lacks: %s" % (args, role, words), out, r.err)


def whole_life(r, *options, control="fullrack", schema="dbo"):
    """add, run, status, verify, retry, reset, cancel, purge: each by the role that it is for."""
    as_role(r, "operator", "add", *options, "dbo.t", *files(r))
    as_role(r, "loader", "run", "--dry-run", *options)
    equal(states(r, control, schema), ["ready"] * 4, "after a dry run")
    first = r.sql("SELECT MIN(task_id) FROM %s.work_queue" % schema, control)[0][0]
    as_role(r, "loader", "run", *options, "--workers", "3")
    equal((states(r, control, schema), count(r)), (["done"] * 4, 400), "after the run")
    check("4 done" in as_role(r, "viewer", "status", *options), "status", r.err)
    as_role(r, "viewer", "verify", *options)
    as_role(r, "operator", "reset", *options, "--all")
    equal(states(r, control, schema), ["ready"] * 4, "after reset")
    as_role(r, "operator", "cancel", *options, str(first))
    r.sql("UPDATE %s.work_queue SET source = '/nowhere.tsv', max_attempts = 1 WHERE task_id = %d" % (schema, first + 1), control)
    as_role(r, "loader", "run", *options, "--workers", "2", exit=1)
    equal(states(r, control, schema), ["cancelled", "done", "done", "failed"], "after the second run")
    r.sql("UPDATE %s.work_queue SET source = '%s' WHERE task_id = %d" % (schema, files(r)[1], first + 1), control)
    as_role(r, "operator", "retry", *options)
    as_role(r, "loader", "run", *options, "--workers", "1")
    equal((states(r, control, schema), count(r)), (["cancelled", "done", "done", "done"], 700), "after the third run")
    as_role(r, "operator", "purge", *options, "--older-than", "0")
    equal(states(r, control, schema), [], "after purge")


def test_each_does_its_work(r):
    prepare(r)
    whole_life(r)


def test_each_does_its_work_in_a_schema_of_its_own(r):
    """The queue in the target database, where its names are others."""
    prepare(r, control="t")
    try:
        whole_life(r, "--control-database", "t", control="t", schema="fullrack")
    finally:
        r.drop_database("t")


def test_workloads(r):
    """The loader writes the workload down and runs it; others see what it did."""
    prepare(r)
    query = r.file("q.sql", "SELECT COUNT(*) FROM dbo.t")
    as_role(r, "loader", "workload", query, "--workers", "2", "--loop", "3", "-q")
    equal(r.sql("SELECT COUNT(*), COUNT(error) FROM dbo.workload_execution", "fullrack")[-1], (3, 0), "executions")
    check("3 executions of 1 query" in as_role(r, "viewer", "report"), "the report of a viewer")
    for role in ("operator", "viewer"):
        refused(r, role, ["fullrack_loader is needed", "sp_"], "workload", query)


def test_loads_without_a_queue(r):
    prepare(r)
    for engine in ("wire", "bcp"):
        as_role(r, "loader", "load", "dbo.t", *files(r), "--engine", engine, "--workers", "2")
    equal(count(r), 800, "rows")
    refused(r, "loader", ["l_loader may not ALTER the table", "--truncate"], "load", "--truncate", "dbo.t", files(r)[0])
    refused(r, "loader", ["--stage makes tables", "l_loader may not"], "load", "--stage", "dbo.t", files(r)[0])
    for role, words in (("operator", "may not INSERT"), ("viewer", "may not INSERT")):
        refused(r, role, ["l_%s %s" % (role, words)], "load", "dbo.t", files(r)[0])
    equal(count(r), 800, "rows after what was refused")
    # what each option needs beyond the role
    r.sql("GRANT ALTER ON dbo.t TO fullrack_loader")
    as_role(r, "loader", "load", "--truncate", "dbo.t", files(r)[0])
    equal(count(r), 100, "rows after --truncate")
    r.sql("GRANT ALTER, SELECT, INSERT ON SCHEMA::dbo TO fullrack_loader; GRANT CREATE TABLE TO fullrack_loader")
    as_role(r, "loader", "load", "--stage", "dbo.t", *files(r))
    equal(count(r), 500, "rows after --stage")
    r.sql("REVOKE ALTER, SELECT, INSERT ON SCHEMA::dbo TO fullrack_loader; REVOKE CREATE TABLE TO fullrack_loader")


def test_a_ledger_of_another_name(r):
    prepare(r)
    r.sql("CREATE SCHEMA etl")
    f = files(r)
    refused(r, "loader", ["the ledger is not there"], "load", "--ledger-table", "etl.heads", "dbo.t", f[0])
    r.fullrack("init", "--grants", "--ledger-table", "etl.heads")
    as_role(r, "loader", "load", "--ledger-table", "etl.heads", "dbo.t", f[0])
    r.sql("GRANT ALTER ON dbo.t TO fullrack_loader")
    as_role(r, "loader", "load", "--truncate", "--ledger-table", "etl.heads", "dbo.t", f[1])
    equal((count(r), r.sql("SELECT COUNT(*) FROM etl.heads"), r.sql("SELECT COUNT(*) FROM etl.heads_truncation")), (100, [(2,)], [(1,)]), "rows, heads, marks")


def test_staged_loads(r):
    prepare(r)
    r.sql("GRANT ALTER, SELECT, INSERT ON SCHEMA::dbo TO fullrack_loader; GRANT CREATE TABLE TO fullrack_loader; GRANT ALTER ON SCHEMA::dbo TO fullrack_operator")
    as_role(r, "operator", "add", "--stage", "dbo.t", *files(r))
    as_role(r, "loader", "run", "--workers", "2")
    equal((states(r), count(r)), (["done"] * 5, 400), "four loads, and what brought them in")
    as_role(r, "viewer", "verify")
    as_role(r, "viewer", "report")
    as_role(r, "operator", "reset", "--all")
    as_role(r, "operator", "cancel", "--all")
    as_role(r, "operator", "purge", "--older-than", "0")
    equal((states(r), count(r)), ([], 400), "in the end")


def test_a_run_file_needs_both(r):
    prepare(r)
    path = r.file("p.json", json.dumps({"tables": [{"name": "dbo.t", "files": files(r), "after": "SELECT COUNT(*) FROM $(TABLE)"}], "again": True}))
    refused(r, "loader", ["fullrack_operator is needed"], "run", "--file", path)
    refused(r, "viewer", ["fullrack_operator is needed"], "run", "--file", path)
    equal((states(r), r.sql("SELECT COUNT(*) FROM dbo.job", "fullrack")), ([], [(0,)]), "nothing is queued of what was refused")
    for database in ("t", "fullrack"):
        r.sql("ALTER ROLE fullrack_operator ADD MEMBER l_loader", database)
    as_role(r, "loader", "run", "--file", path, "--workers", "3")
    equal((states(r), count(r)), (["done"] * 5, 400), "four loads and a phase")
    as_role(r, "viewer", "report")


def test_undo(r):
    """Who may delete rows, but not change the queue, deletes none by undo."""
    prepare(r, ddl="CREATE TABLE dbo.t (a int NOT NULL, b int NULL, load_id uniqueidentifier NULL)")
    r.sql("GRANT DELETE ON dbo.t TO fullrack_loader; GRANT SELECT, DELETE ON dbo.t TO fullrack_operator")
    as_role(r, "operator", "add", "--load-id-column", "load_id", "dbo.t", *files(r))
    as_role(r, "loader", "run", "--workers", "2")
    run = str(r.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0])
    refused(r, "loader", ["fullrack_operator is needed"], "undo", run)
    equal((states(r), count(r)), (["done"] * 4, 400), "after what was refused")
    as_role(r, "operator", "undo", run)
    equal((states(r), count(r)), (["cancelled"] * 4, 0), "after undo")


def test_what_each_is_refused(r):
    prepare(r)
    f = files(r)
    as_role(r, "operator", "add", "dbo.t", *f)
    first = str(r.sql("SELECT MIN(task_id) FROM dbo.work_queue", "fullrack")[0][0])
    # one of them was begun: its head in the ledger is open
    r.sql("UPDATE dbo.work_queue SET epoch = 1 WHERE task_id = " + first, "fullrack")
    heads = r.sql("SELECT COUNT(*) FROM dbo.fullrack_ledger")
    for role in ("loader", "viewer"):
        for command, args in (("add", ("--again", "dbo.t", f[0])), ("reset", (first,)), ("cancel", (first,)), ("purge", (first,)), ("retry", ())):
            if command == "retry":
                r.sql("UPDATE dbo.work_queue SET state = 'failed'", "fullrack")
            if command == "purge":
                r.sql("UPDATE dbo.work_queue SET state = 'cancelled'", "fullrack")
            before = r.sql("SELECT task_id, state, load_id FROM dbo.work_queue ORDER BY task_id", "fullrack")
            refused(r, role, ["fullrack_operator is needed"], command, *args)
            equal(r.sql("SELECT task_id, state, load_id FROM dbo.work_queue ORDER BY task_id", "fullrack"), before, "the queue after %s as %s" % (command, role))
            r.sql("UPDATE dbo.work_queue SET state = 'ready'", "fullrack")
    equal(r.sql("SELECT COUNT(*) FROM dbo.fullrack_ledger"), heads, "no head was touched by a reset, cancel or purge that was refused")
    for role in ("operator", "viewer"):
        refused(r, role, ["fullrack_loader is needed", "sp_"], "run", "--workers", "1")
        refused(r, role, ["fullrack_loader is needed", "sp_"], "worker", "--run-id", "1")
    refused(r, "nobody", ["no queue that this login can see", "docs/permissions.md"], "status")
    refused(r, "nobody", ["no queue that this login can see"], "run")
    equal((states(r), count(r)), (["ready"] * 4, 0), "in the end")
    # init is nobody's: it needs rights to make things
    for role in ROLES:
        as_role(r, role, "init", exit=1)
        check("denied" in r.err or "permission" in r.err.lower(), "init as " + role, r.err)


def test_tables_cannot_be_written_by_hand(r):
    """Only procedures change the queue; only the ledger's rows of a role change by statement."""
    prepare(r)
    for role in ROLES:
        for statement in ("INSERT INTO dbo.ready (run_id) VALUES (99)", "UPDATE dbo.work_queue SET state = 'done'", "DELETE FROM dbo.work_queue",
                          "DELETE FROM dbo.scheduler_use", "DROP PROCEDURE dbo.sp_get_work", "CREATE TABLE dbo.x (a int)"):
            as_role(r, role, "query", statement, exit=1, database="fullrack")
            check("permission" in r.err.lower(), "%s as %s" % (statement, role), r.err)
        for statement in ("DELETE FROM dbo.fullrack_ledger", "DROP TABLE dbo.fullrack_ledger", "DELETE FROM dbo.t", "UPDATE dbo.t SET b = 1") + (
                ("UPDATE dbo.fullrack_ledger SET state = 'open'",) if role == "viewer" else ()):
            as_role(r, role, "query", statement, exit=1)
            check("permission" in r.err.lower(), "%s as %s" % (statement, role), r.err)


def test_init_grants_again(r):
    """A later init makes the procedures anew: what was granted on them is granted again; without the roles nothing is."""
    prepare(r)
    rights = ("SELECT p.name, d.permission_name, OBJECT_NAME(d.major_id) FROM sys.database_permissions AS d JOIN sys.database_principals AS p "
              "ON p.principal_id = d.grantee_principal_id WHERE p.name LIKE 'fullrack%'")
    before = {d: sorted(r.sql(rights, d)) for d in ("fullrack", "t")}
    check(len(before["fullrack"]) > 40 and len(before["t"]) > 8, "rights", before)
    r.fullrack("init")
    equal({d: sorted(r.sql(rights, d)) for d in ("fullrack", "t")}, before, "rights after init")
    r.fullrack("init", "--grants")
    equal({d: sorted(r.sql(rights, d)) for d in ("fullrack", "t")}, before, "rights after init --grants")
    check(json.loads(r.fullrack("init", "--json"))["grants"] is True, "it says so")
    whole_life(r)
    r.drop_database("fullrack")
    r.fullrack("init")
    equal(r.sql("SELECT name FROM sys.database_principals WHERE name LIKE 'fullrack%'", "fullrack"), [], "no roles without --grants")


def test_nothing_is_forgotten(r):
    """Every table can be seen, and every procedure that fullrack calls has a role."""
    prepare(r)
    for (table,) in r.sql("SELECT name FROM sys.tables", "fullrack"):
        as_role(r, "viewer", "query", "SELECT COUNT(*) FROM dbo.%s" % table, database="fullrack")
    script = open(os.path.join(SQL, "grants_control.sql")).read()
    granted = set(re.findall(r"GRANT EXECUTE ON dbo\.(sp_\w+) TO fullrack_\w+;", script))
    inner = {"sp_lock_work", "sp_settle_work", "sp_fail_expired"}       # called by procedures
    init = {"sp_add_scheduler"}                                         # by init alone
    equal({name for name, in r.sql("SELECT name FROM sys.procedures", "fullrack")} - granted, inner | init, "procedures without a role")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
