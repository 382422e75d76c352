#!/usr/bin/python3
"""Run files as documents: mistakes with their places, the schema, what is relative to what, what is stronger than what."""
import json, os, subprocess, sys
import jsonschema
from rack import BUILD, check, equal, main, tests_of

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schema", "fullrack.schema.json")


def config(rack, path, *options, exit=0):
    r = subprocess.run([os.path.join(BUILD, "fullrack"), "config", *options, path], capture_output=True, text=True, env=rack.env(),
                       timeout=60)
    equal(r.returncode, exit, "exit of config %s: %s%s" % (path, r.stdout, r.stderr))
    return r.stdout


def fresh(rack):
    rack.fresh("CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL)")
    rack.fresh_control()


TEN = """{
  "server": "db1",
  "pasword-file": "word",
  "password": "hunter2",
  "workers": "eight",
  "tables": [
    {"name": "dbo.t", "files": ["none.*.tsv"]},
    {"name": "dbo.u", "files": "here.tsv", "header": "maybe"},
    {"name": "dbo.v", "files": "here.tsv", "depends-on": ["dbo.tt"]},
    {"name": "dbo.w", "files": "here.tsv", "depends-on": ["dbo.x"], "workers": 2},
    {"name": "dbo.x", "files": "here.tsv", "depends-on": ["dbo.w"]},
    {"files": "here.tsv", "before": {"file": "no.sql"}}
  ]
}
"""
TEN_SAID = [
    (3, 3, 'there is no option "pasword-file"; did you mean "password-file"?'),
    (4, 3, 'a run file holds no password: "password-file" names a file that does'),
    (5, 14, '"workers" takes a whole number, not a text'),
    (7, 33, "no file fits %s/none.*.tsv"),
    (8, 54, '"header": "maybe" is not one of none|skip|match'),
    (9, 59, "dbo.tt has no entry in this file; did you mean dbo.t?"),
    (10, 59, "a circle: dbo.w waits for dbo.x, which waits for dbo.w"),
    (10, 69, '"workers" is an option of the whole run: it stands beside "tables"'),
    (12, 5, 'the entry has no "name": which table is it?'),
    (12, 46, "%s/no.sql: No such file or directory"),
]


def test_ten_mistakes_ten_messages(rack):
    fresh(rack)
    rack.file("here.tsv", "1\tx\n")
    path = rack.file("ten.json", TEN)
    said = [(line, column, text % rack.dir if "%s" in text else text) for line, column, text in TEN_SAID]
    lines = config(rack, path, exit=2).splitlines()
    equal(len(lines), 10, "messages: %s" % "\n".join(lines))
    for got, (line, column, text) in zip(lines, said):
        check(got.startswith("%s:%d:%d: %s" % (path, line, column, text)), "message", got, (line, column, text))
    doc = json.loads(config(rack, path, "--json", exit=2))
    equal([(m["line"], m["column"]) for m in doc["mistakes"]], [m[:2] for m in said], "the document's places")
    equal(doc["ok"], False, "ok")
    for command in (("run", "--file", path), ("add", "--from", path)):
        rack.fullrack(*command, exit=2)
        for line, column, text in said:
            check("%s:%d:%d: %s" % (path, line, column, text) in rack.err, "message of %s" % command[0], rack.err, text)
        check("has 10 mistakes: nothing was queued" in rack.err, "the last word", rack.err)
        check("hunter2" not in rack.err, "no secret is shown")
    equal(rack.sql("SELECT COUNT(*) FROM dbo.work_queue", "fullrack"), [(0,)], "tasks")


def test_broken_json(rack):
    path = rack.file("broken.json", '{\n  "tables": [\n    {"name": "ä"; }\n  ]\n}\n')
    check(config(rack, path, exit=2).startswith(path + ":3:"), "place")
    for content, words in ((b"", ":1:"), (b"{\"tables\": [\0]}", "NUL"), (b"{\"tables\": \"\xff\"}", "not UTF-8")):
        r = subprocess.run([os.path.join(BUILD, "fullrack"), "config", rack.file("b.json", content)], capture_output=True, text=True)
        equal(r.returncode, 2, "exit")
        check(words in r.stdout + r.stderr, "message", r.stdout, r.stderr)
    r = subprocess.run([os.path.join(BUILD, "fullrack"), "config", rack.dir + "/none.json"], capture_output=True, text=True)
    equal(r.returncode, 2, "exit")
    check("No such file" in r.stderr, "message", r.stderr)


def test_config_of_options(rack):
    good = rack.file("good.json", '{"server": "db1", "batch-rows": 100, "null": ["x", "y"]}')
    equal(config(rack, good), "ok\n", "word")
    equal(json.loads(config(rack, good, "--json")), {"ok": True, "mistakes": []}, "document")
    bad = rack.file("bad.json", '{"servre": "db1",\n "batch-rows": "many", "header": 5}')
    equal(config(rack, bad, exit=2).splitlines(),
          [bad + ':1:2: there is no option "servre"; did you mean "server"?',
           bad + ':2:16: batch-rows: "many" is not a whole number', bad + ":2:34: header: \"5\" is not one of none|skip|match"], "mistakes")


GOOD = {"$schema": "x", "description": "y", "server": "db1", "workers": 4, "batch-rows": "auto", "max-field-bytes": "1M", "truncate": True,
        "null": ["a"], "format": "csv",
        "tables": [{"name": "dbo.t", "files": ["here.tsv"], "header": "skip", "before": "SELECT $(TABLE)",
                    "after": [{"sql": "SELECT $(N)", "variables": {"N": 5}}, {"file": "here.sql"}, {"phase": "check-constraints"},
                              {"phase": "disable-indexes"}, {"phase": "rebuild-indexes"}, {"phase": "restore-recovery"},
                              {"phase": "set-recovery", "variables": {"MODEL": "SIMPLE"}}, {"phase": "update-statistics"}], "on-failure": ["SELECT 1"],
                    "depends-on": ["dbo.u"], "priority": -3},
                   {"name": "dbo.u", "files": "here.tsv", "date-format": "a=%Y"}]}
# what a schema can tell: each change makes the good document a bad one
SHAPES = [("workers", "4"), ("workers", 0), ("workers", 2000), ("batch-rows", "many"), ("truncate", "yes"), ("null", 5), ("format", "xls"),
          ("password", "x"), ("watch", 5), ("tables", []), ("tables", {}), ("zzz", 1), ("tables", [{"name": "t"}]),
          ("tables", [{"files": "here.tsv"}]), ("tables", [{"name": "t", "files": []}]), ("tables", [{"name": "t", "files": "-"}]),
          ("tables", [{"name": "t", "files": "@x"}]), ("tables", [{"name": "t", "files": ""}]),
          ("tables", [{"name": "t", "files": "here.tsv", "workers": 4}]), ("tables", [{"name": "t", "files": "here.tsv", "before": []}]),
          ("tables", [{"name": "t", "before": {"sql": "x", "file": "here.sql"}}]), ("tables", [{"name": "t", "before": {}}]),
          ("tables", [{"name": "t", "before": {"sql": "x", "variables": {"A": True}}}]), ("tables", [{"name": "t", "before": {"sq": "x"}}]),
          ("tables", [{"name": "t", "before": {"phase": "x"}}]), ("tables", [{"name": "t", "before": {"phase": "check-constraints", "sql": "x"}}]),
          ("tables", [{"name": "t", "on-failure": "x"}]), ("tables", [{"name": "t", "before": "  "}]),
          ("tables", [{"name": "t", "files": "here.tsv", "depends-on": []}]), ("description", ""), ("max-field-bytes", 1.5)]


def test_schema_and_check_agree(rack):
    """The committed schema, read by a validator that is not ours, says yes and no where the check does."""
    with open(SCHEMA) as f:
        schema = json.load(f)
    validator = jsonschema.Draft202012Validator(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    rack.file("here.tsv", "1\tx\n")
    rack.file("here.sql", "SELECT 1")
    equal(list(validator.iter_errors(GOOD)), [], "the good one by the schema")
    config(rack, rack.file("shape.json", json.dumps(GOOD)))
    for key, value in SHAPES:
        bad = dict(GOOD, **{key: value})
        check(list(validator.iter_errors(bad)), "the schema has nothing against %s: %r" % (key, value))
        config(rack, rack.file("shape.json", json.dumps(bad)), exit=2)


def test_documents_that_people_copy(rack):
    """The example's run file, and the one of the manual page, by the schema."""
    root = os.path.dirname(os.path.dirname(SCHEMA))
    with open(SCHEMA) as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    with open(os.path.join(root, "examples", "nightly", "nightly.json")) as f:
        nightly = json.load(f)
    with open(os.path.join(root, "man", "fullrack.json.5")) as f:
        page = json.loads(f.read().split(".Bd -literal\n")[1].split(".Ed")[0])
    for doc in (nightly, page):
        equal([e.message for e in validator.iter_errors(doc)], [], "mistakes")
    equal(sum("files" in t for t in nightly["tables"]), 12, "tables with files")


def test_paths_are_from_the_files_folder(rack):
    fresh(rack)
    folder = os.path.join(rack.dir, "night[ly]*")
    os.makedirs(os.path.join(folder, "in"), exist_ok=True)
    for i in range(3):
        with open(os.path.join(folder, "in", "p%d.tsv" % i), "w") as f:
            f.write("%d\tx\n\tbad\n" % i)
    with open(os.path.join(folder, "after.sql"), "w") as f:
        f.write("INSERT INTO $(TABLE) VALUES (100, 'after')")
    path = os.path.join(folder, "n.json")
    with open(path, "w") as f:
        json.dump({"tables": [{"name": "t", "files": ["in/p[0-1].tsv", "in/p2.tsv"], "max-errors": 5, "error-file": "bad",
                               "after": {"file": "after.sql"}}]}, f)
    doc = rack.json("run", "--file", path, "--workers", "1")
    equal([t["state"] for t in doc["tasks"]], ["done"] * 4, "tasks")
    equal((doc["rows"], doc["rejected"]), (3, 3), "rows")
    equal(rack.sql("SELECT a FROM dbo.t ORDER BY a"), [(0,), (1,), (2,), (100,)], "rows")
    equal(sorted(n for n in os.listdir(folder) if n.startswith("bad.p") and not n.endswith(".json")),
          sorted("bad.p%d.tsv.%d" % (i, t["task_id"]) for i, t in enumerate(sorted(
              (t for t in doc["tasks"] if t["kind"] == "load"), key=lambda t: t["source"]))), "reject files")
    # a folder is all its files
    rack.fresh_control()
    with open(path, "w") as f:
        json.dump({"tables": [{"name": "t", "files": "in"}]}, f)
    equal(len(rack.json("add", "--from", path)["tasks"]), 3, "tasks of a folder")


def test_who_is_stronger(rack):
    """argv, environment, a table's entry, the whole run, --config."""
    fresh(rack)
    rack.file("here.tsv", "1|x\n")
    weak = rack.file("weak.json", '{"priority": 1, "max-attempts": 1, "header": "skip", "quote": "q"}')
    path = rack.file("s.json", json.dumps({"field-terminator": "|", "priority": 2, "max-attempts": 2, "header": "none", "server": "nowhere",
                                           "tables": [{"name": "t", "files": "here.tsv", "priority": 3}]}))
    rack.fullrack("add", "--from", path, "--config", weak, "-q")
    row = "SELECT priority, max_attempts, options FROM dbo.work_queue"
    got = rack.sql(row, "fullrack")[0]
    equal(got[:2], (3, 2), "table over run, run over --config; the server of argv over the file's")
    equal({k: v for k, v in json.loads(got[2]).items() if k in ("header", "quote", "field-terminator")},
          {"header": "none", "quote": "q", "field-terminator": "|"}, "options")
    rack.fresh_control()
    rack.fullrack("add", "--from", path, "--priority", "9", "-q", env=dict(rack.env(), FULLRACK_MAX_ATTEMPTS="7"))
    equal(rack.sql(row, "fullrack")[0][:2], (9, 7), "argv and environment over all")


def test_what_only_the_server_knows_is_a_mistake_too(rack):
    fresh(rack)
    rack.sql("DROP TABLE IF EXISTS dbo.u; CREATE TABLE dbo.u (a int)")
    rack.file("here.tsv", "1\tx\n")
    path = rack.file("k.json", """{"tables": [
 {"name": "dbo.none", "files": "here.tsv"},
 {"name": "dbo.T", "files": "here.tsv"},
 {"name": "dbo.t", "files": "here.tsv"},
 {"name": "dbo.u", "files": "here.tsv", "columns": "a,zz"},
 {"name": "dbo.view_of_nothing", "after": "SELECT 1"}]}""")
    rack.fullrack("add", "--from", path, exit=2)
    said = [l for l in rack.err.splitlines() if path + ":" in l]
    equal(len(said), 3, "mistakes: " + rack.err)
    check(path + ":2:11: " in said[0] and "dbo.none" in said[0], "no such table", said)
    check(path + ":4:11: dbo.t has an entry already, under the name dbo.T" in said[1], "twice", said)
    check(path + ":5:11: " in said[2] and "zz" in said[2], "columns", said)
    equal(rack.sql("SELECT COUNT(*) FROM dbo.work_queue", "fullrack"), [(0,)], "tasks")


def test_usage(rack):
    fresh(rack)
    rack.file("here.tsv", "1\tx\n")
    path = rack.file("u.json", '{"tables": [{"name": "t", "files": "here.tsv"}]}')
    for args, words in ((("add", "--from", path, "dbo.t"), "names tables and files"), (("add",), "add needs TABLE FILE"),
                        (("add", "dbo.t"), "add needs TABLE FILE"), (("run", "--file", path, "--run-id", "1"), "not with --run-id"),
                        (("run", "--file", "/none.json"), "No such file")):
        rack.fullrack(*args, exit=2)
        check(words in rack.err, "message of %r" % (args,), rack.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
