#!/usr/bin/python3
"""fullrack add: all tasks or none, what is looked at before, long options, reject files of the queue."""
import glob, json, os, sys
from rack import *


def tasks(r):
    return r.sql("SELECT COUNT(*) FROM dbo.work_queue", "fullrack")[0][0]


def fresh(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()


def test_files_are_looked_at_before_any_is_queued(r):
    fresh(r)
    good = r.file("good.txt", "1\n")
    missing = [os.path.join(r.dir, "no%d.txt" % i) for i in range(2)]
    r.fullrack("add", "dbo.t", good, *missing, exit=2)
    for path in missing:
        check("%s: No such file" % path in r.err, "message", r.err)
    check("nothing was queued" in r.err, "message", r.err)
    equal(tasks(r), 0, "tasks")
    r.fullrack("add", "dbo.t", good, *missing, "--unchecked")
    equal(tasks(r), 3, "tasks that were not looked at")


def test_table_and_options_are_looked_at(r):
    fresh(r)
    f = r.file("f.txt", "1\n")
    for args, status, words in ((("dbo.nosuch", f), 1, "nosuch"), (("dbo.t", f, "--columns", "nix"), 2, "no column \"nix\""),
                                (("dbo.t", f, "--date-format", "id=%Y"), 2, "--date-format")):
        r.fullrack("add", *args, exit=status)
        check(words in r.err, "message", r.err)
    equal(tasks(r), 0, "tasks")


def test_names_with_dots(r):
    """What is queued is the table that was named, whatever its name would mean without brackets."""
    fresh(r)
    r.sql("CREATE TABLE dbo.[a.b] (id int NOT NULL)")
    r.sql("CREATE SCHEMA [t.dbo]")
    r.sql("CREATE TABLE [t.dbo].t (id int NOT NULL)")
    f = r.file("f.txt", "1\n2\n")
    for table in ("dbo.[a.b]", "[t.dbo].t"):
        for options in ((), ("--stage", "--again")):
            r.fullrack("add", "-q", table, f, *options)
            r.fullrack("run", "-q", "--workers", "1")
        equal(r.sql("SELECT COUNT(*) FROM " + table), [(4,)], "rows of " + table)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows of another table")
    check("0 differences" in r.fullrack("verify"), "verify")
    r.sql("DROP TABLE dbo.[a.b]")
    r.sql("DROP TABLE [t.dbo].t")
    r.sql("DROP SCHEMA [t.dbo]")


def test_all_or_none(r):
    """A file that is queued already keeps the others out; each one is named."""
    fresh(r)
    files = [r.file("a%d.txt" % i, "%d\n" % i) for i in range(6)]
    r.fullrack("add", "-q", "dbo.t", files[3], files[5])
    r.fullrack("add", "dbo.t", *files, exit=2)
    for i, path in enumerate(files):
        equal("%s is already queued for dbo.t as task" % path in r.err, i in (3, 5), "named: %d" % i)
    check("2 of 6 files" in r.err and "nothing was queued" in r.err, "message", r.err)
    equal(tasks(r), 2, "tasks")
    r.fullrack("add", "dbo.t", files[0], files[1], files[0], files[1], files[0], exit=2)
    check("%s was given twice" % files[0] in r.err and "2 files were given twice" in r.err, "message", r.err)
    equal(r.err.count("was given twice"), 2, "each once")
    equal(tasks(r), 2, "tasks")
    r.fullrack("add", "-q", "dbo.t", files[0], files[0], "--again")
    equal(tasks(r), 4, "tasks")
    r.sql("DELETE FROM dbo.work_queue", "fullrack")
    r.fullrack("add", "-q", "dbo.t", *files)
    r.fullrack("run", "-q", "--workers", "2")
    equal(r.sql("SELECT id FROM dbo.t ORDER BY id"), [(i,) for i in range(6)], "rows")


def test_a_thousand_columns(r):
    """The options of a task are longer than one parameter of the client library."""
    names = ["\u0416column_%d" % i for i in range(1000)]
    r.fresh("CREATE TABLE dbo.t (%s)" % ", ".join("[%s] int NULL" % n for n in names))
    r.fresh_control()
    f = r.file("wide.txt", "\t".join(str(i) for i in range(1000)) + "\n")
    columns = ",".join(reversed(names))
    check(len(columns.encode()) > 12000, "length of --columns")
    r.fullrack("add", "-q", "dbo.t", f, "--columns", columns)
    equal(json.loads(r.sql("SELECT options FROM dbo.work_queue", "fullrack")[0][0])["columns"], columns, "the queue's options")
    r.fullrack("run", "-q", "--workers", "1")
    equal(r.sql("SELECT [%s], [%s] FROM dbo.t" % (names[0], names[999])), [(999, 0)], "row")
    r.fullrack("load", "-q", "dbo.t", f, "--columns", columns)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2,)], "rows")
    r.fullrack("add", "dbo.t", f, "--again", "--unchecked", "--columns", ",".join("x" * 60 for _ in range(1000)), exit=2)
    check("text of the options is longer than 28000 bytes" in r.err, "message", r.err)


def test_without_a_database(r):
    """Where no -d is given a task names the login's database, which only the target knows."""
    fresh(r)
    f = r.file("f.txt", "1\n")
    r.sql("DROP TABLE IF EXISTS dbo.t; CREATE TABLE dbo.t (id int NOT NULL)", "")
    home = r.sql("SELECT DB_NAME()", "")[0][0]
    r.fullrack("add", "-q", "dbo.t", f, database=None)
    equal(r.sql("SELECT target_database FROM dbo.work_queue", "fullrack"), [(home,)], "database of the task")
    r.fullrack("add", "-q", "dbo.t", f)     # the same table name, of another database
    r.fullrack("run", "-q", "--workers", "1")
    for database in (home, "t"):
        equal(r.sql("SELECT id FROM dbo.t", database), [(1,)], "rows in " + database)
    r.fullrack("add", "dbo.t", f, "--again", "--unchecked", database=None, exit=2)
    check("give one with -d" in r.err, "message", r.err)
    equal(tasks(r), 2, "tasks")
    r.sql("DROP TABLE dbo.t", "")


def test_long_options_of_a_load(r):
    """What is escaped in JSON, and so is longer in a message than on the command line."""
    fresh(r)
    f = r.file("one.txt", "1\n")
    for text in ('"' * 15500, "\\" * 15900):
        d = r.json("load", "dbo.t", f, "--null", text)
        equal((d["rows"], d["rejected"]), (1, 0), "rows")
    r.fullrack("load", "dbo.t", f, "--null", '"' * 20000, exit=2)
    check("one.txt: its path and the options are longer than 32768 bytes" in r.err, "message", r.err)


def test_no_two_tasks_share_a_reject_file(r):
    """Files of the same name, of one `add` or of several, write their rejects each to a file of its own."""
    fresh(r)
    e = os.path.join(r.dir, "q.rejects")
    for folder in ("one", "two", "three"):
        os.makedirs(os.path.join(r.dir, folder), exist_ok=True)
    a, b, c = (r.file("%s/same.txt" % folder, "%d\nbad-%s\n" % (i, folder)) for i, folder in enumerate(("one", "two", "three")))
    r.fullrack("add", "-q", "dbo.t", a, b, "-m", "1", "-e", e)
    r.fullrack("add", "-q", "dbo.t", c, "-m", "1", "-e", e)
    r.fullrack("run", "-q", "--workers", "3")
    ids = dict(r.sql("SELECT source, task_id FROM dbo.work_queue", "fullrack"))
    for source, folder in ((a, "one"), (b, "two"), (c, "three")):
        path = "%s.same.txt.%d" % (e, ids[source])
        equal(open(path).read(), "bad-%s\n" % folder, "rejects of " + folder)
        equal(json.loads(open(path + ".json").read())["source"], source, "note of " + folder)
    equal(len(glob.glob(e + "*")), 6, "files")
    long_name = r.file("n" * 240, "1\n")
    r.fullrack("add", "dbo.t", long_name, "-e", e, exit=2)
    check("longer than a file's name may be" in r.err, "message", r.err)
    r.fullrack("load", "dbo.t", long_name, a, "-e", e + "-more", exit=2)
    check("longer than a file's name may be" in r.err, "message", r.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
