#!/usr/bin/python3
"""The ready-made phases of sql/phases: what they do, twice, broken off, and to names that are hard to quote."""
import json, os, sys
from rack import check, equal, main, tests_of

OPTIONS = ["--schedulers", "4"]
HARD = "[it's a [table]] $(X)]"
SEE = "INSERT INTO dbo.seen (what) SELECT i.name + CASE WHEN i.is_disabled = 1 THEN ' off' ELSE ' on' END FROM sys.indexes AS i WHERE " \
      "i.object_id = OBJECT_ID(N'$(TABLE)') AND i.name IS NOT NULL"


def fresh(rack, table="dbo.t"):
    rack.fresh("CREATE TABLE dbo.seen (what nvarchar(200) NULL)", "dbo.seen")
    rack.sql("DROP TABLE IF EXISTS " + table)
    rack.sql("DROP TABLE IF EXISTS dbo.fullrack_phase_memory")
    rack.sql("CREATE TABLE %s (a int NOT NULL CONSTRAINT pk_t PRIMARY KEY, b varchar(40) NULL, c int NULL CONSTRAINT ck_c CHECK (c > 0))" % table)
    rack.fresh_control()


def run(rack, entry, exit=0, **options):
    path = rack.file("p.json", json.dumps(dict(options, tables=[entry] if isinstance(entry, dict) else entry, again=True)))
    rack.fullrack("run", "--file", path, "--workers", "2", exit=exit)
    return {r[0].split(" (")[1][:-1]: r[1:] for r in rack.sql(
        "SELECT source, state, messages, last_error FROM dbo.work_queue WHERE kind = 'query' ORDER BY task_id", "fullrack")}


def indexes(rack, table="dbo.t"):
    return dict(rack.sql("SELECT name, is_disabled FROM sys.indexes WHERE object_id = OBJECT_ID(N'%s') AND name IS NOT NULL"
                         % table.replace("'", "''")))


def remembered(rack):
    return rack.sql("SELECT kind, item FROM dbo.fullrack_phase_memory ORDER BY kind, item")


def rows(rack, n=20, c="7"):
    return rack.file("rows.tsv", "".join("%d\tx\t%s\n" % (i, c) for i in range(n)))


def with_indexes(rack, table="dbo.t"):
    fresh(rack, table)
    rack.sql("CREATE INDEX ix_b ON %s (b)" % table)
    rack.sql("CREATE INDEX [ix]] c] ON %s (c)" % table)
    rack.sql("CREATE UNIQUE INDEX ux_ab ON %s (a, b)" % table)
    rack.sql("CREATE INDEX ix_dba ON %s (c, b)" % table)
    rack.sql("ALTER INDEX ix_dba ON %s DISABLE" % table)


def test_indexes_are_disabled_and_rebuilt(rack):
    for table in ("dbo.t", "dbo." + HARD):
        with_indexes(rack, table)
        said = run(rack, {"name": table, "files": rows(rack), "before": [{"phase": "disable-indexes"}, SEE],
                          "after": [{"phase": "rebuild-indexes"}]})
        equal(sorted(r[0] for r in rack.sql("SELECT what FROM dbo.seen")),
              ["ix] c off", "ix_b off", "ix_dba off", "pk_t on", "ux_ab on"], "while it was loaded")
        equal(indexes(rack, table), {"ix_b": False, "ix] c": False, "ix_dba": True, "pk_t": False, "ux_ab": False}, "afterwards")
        equal(said["disable-indexes"][:2], ("done", "2 indexes disabled"), "it says so")
        equal(said["rebuild-indexes"][:2], ("done", "2 indexes rebuilt"), "it says so")
        equal(remembered(rack), [], "nothing is left to remember")
        equal(rack.sql("SELECT COUNT(*) FROM " + table), [(20,)], "rows")
        equal(rack.sql("SELECT COUNT(*) FROM %s WHERE b = 'x'" % table), [(20,)], "rows by the index")
        rack.sql("DROP TABLE " + table)


def test_twice_and_broken_off(rack):
    """Each may run again at any point of its work; the other tables' notes are not touched."""
    with_indexes(rack)
    both = {"name": "dbo.t", "before": [{"phase": "disable-indexes"}, {"phase": "disable-indexes"}]}
    run(rack, both)
    equal(remembered(rack), [("disabled index", "ix] c"), ("disabled index", "ix_b")], "once each")
    # noted and not yet disabled; rebuilt and not yet forgotten; dropped meanwhile
    rack.sql("ALTER INDEX ix_b ON dbo.t REBUILD")
    rack.sql("INSERT INTO dbo.fullrack_phase_memory (kind, object_name, item) VALUES ('disabled index', N'[dbo].[t]', N'gone'), "
             "('disabled index', N'[dbo].[other]', N'ix_b')")
    run(rack, both)
    equal(indexes(rack)["ix_b"], True, "disabled once more")
    run(rack, {"name": "dbo.t", "after": [{"phase": "rebuild-indexes"}, {"phase": "rebuild-indexes"}]})
    equal(indexes(rack), {"ix_b": False, "ix] c": False, "ix_dba": True, "pk_t": False, "ux_ab": False}, "afterwards")
    equal(rack.sql("SELECT object_name FROM dbo.fullrack_phase_memory"), [("[dbo].[other]",)], "the other table's")


def test_rebuilt_on_failure(rack):
    with_indexes(rack)
    said = run(rack, {"name": "dbo.t", "files": rows(rack, c="-7"), "before": {"phase": "disable-indexes"}, "after": {"phase": "rebuild-indexes"},
                      "on-failure": {"phase": "rebuild-indexes"}}, exit=1)
    equal({n: d for n, d in indexes(rack).items() if d}, {"ix_dba": True}, "indexes")
    equal(remembered(rack), [], "memory")
    check("ck_c" in rack.err, "the load's error", rack.err, said)


def test_constraints_are_trusted_again(rack):
    fresh(rack)
    rack.sql("DROP TABLE IF EXISTS dbo.child; CREATE TABLE dbo.child (a int NOT NULL CONSTRAINT fk_a REFERENCES dbo.t (a), "
             "d int NULL CONSTRAINT ck_off CHECK (d > 0))")
    rack.sql("ALTER TABLE dbo.child NOCHECK CONSTRAINT ck_off")
    trusted = "SELECT COUNT(*) FROM (SELECT is_not_trusted FROM sys.check_constraints UNION ALL SELECT is_not_trusted FROM sys.foreign_keys) AS c " \
              "WHERE is_not_trusted = 1"
    child = rack.file("child.tsv", "1\t1\n2\t-2\n")
    tables = [{"name": "dbo.t", "files": rows(rack), "no-check": True, "after": {"phase": "check-constraints"}},
              {"name": "dbo.child", "files": child, "no-check": True, "depends-on": "dbo.t",
               "after": [{"sql": "INSERT INTO dbo.seen (what) " + trusted}, {"phase": "check-constraints"}, {"phase": "check-constraints"}]}]
    said = run(rack, tables)
    equal(rack.sql("SELECT what FROM dbo.seen"), [("2",)], "not trusted after the load: the foreign key, and what is off")
    equal(rack.sql(trusted), [(1,)], "only what is off")
    equal(said["check-constraints"][:2], ("done", "0 constraints checked"), "the second time")
    rack.sql("DELETE FROM dbo.child")
    rack.sql("DELETE FROM dbo.t")
    run(rack, dict(tables[0], files=rows(rack, c="-1")), exit=1)
    check("ck_c" in rack.err and "547" in rack.err, "a row that breaks it is named", rack.err)
    rack.sql("DROP TABLE dbo.child")


def test_statistics(rack):
    fresh(rack)
    rack.sql("CREATE INDEX ix_b ON dbo.t (b)")
    date = "SELECT STATS_DATE(OBJECT_ID(N'dbo.t'), 2)"
    before = rack.sql(date)[0][0]
    run(rack, {"name": "dbo.t", "files": rows(rack), "after": ["WAITFOR DELAY '00:00:00.1'", {"phase": "update-statistics"}]})
    check(rack.sql(date)[0][0] != before, "their date", before)


def recovery(rack):
    return rack.sql("SELECT recovery_model_desc FROM sys.databases WHERE name = 't'")[0][0]


def test_recovery_model_and_back(rack):
    fresh(rack)
    was = recovery(rack)
    see = "INSERT INTO dbo.seen SELECT recovery_model_desc FROM sys.databases WHERE database_id = DB_ID()"
    for begin, model, middle in (("FULL", "BULK_LOGGED", "BULK_LOGGED"), ("FULL", "SIMPLE", "SIMPLE"), ("BULK_LOGGED", "SIMPLE", "SIMPLE"),
                                 ("SIMPLE", "BULK_LOGGED", "SIMPLE"), ("BULK_LOGGED", "BULK_LOGGED", "BULK_LOGGED")):
        rack.sql("ALTER DATABASE t SET RECOVERY " + begin)
        rack.sql("DELETE FROM dbo.seen")
        phase = {"phase": "set-recovery", "variables": {"MODEL": model}}
        run(rack, {"name": "dbo.t", "before": [phase, see, phase], "after": [{"phase": "restore-recovery"}, {"phase": "restore-recovery"}]})
        equal(rack.sql("SELECT what FROM dbo.seen"), [(middle,)], "in between, from %s" % begin)
        equal(recovery(rack), begin, "afterwards, by way of " + model)
        equal(remembered(rack), [], "memory")
    run(rack, {"name": "dbo.t", "before": {"phase": "set-recovery", "variables": {"MODEL": "NONE'; DROP TABLE dbo.t--"}}}, exit=1)
    check("MODEL is SIMPLE or BULK_LOGGED" in rack.err, "message", rack.err)
    rack.sql("ALTER DATABASE t SET RECOVERY " + was)


def test_many_tables_make_the_memory_at_once(rack):
    fresh(rack)
    names = ["dbo.m%d" % i for i in range(8)]
    for n in names:
        rack.sql("DROP TABLE IF EXISTS %s; CREATE TABLE %s (a int NULL); CREATE INDEX ix ON %s (a)" % (n, n, n))
    for _ in range(3):
        rack.sql("DROP TABLE IF EXISTS dbo.fullrack_phase_memory")
        run(rack, [{"name": n, "before": {"phase": "disable-indexes"}, "after": {"phase": "rebuild-indexes"}} for n in names])
        equal(rack.sql("SELECT COUNT(*) FROM sys.indexes WHERE is_disabled = 1"), [(0,)], "indexes")
    for n in names:
        rack.sql("DROP TABLE " + n)


def test_no_such_table(rack):
    fresh(rack)
    run(rack, {"name": "dbo.none", "before": {"phase": "disable-indexes"}}, exit=1)
    check("there is no table [dbo].[none]" in rack.err, "message", rack.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), *OPTIONS)
