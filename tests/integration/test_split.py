#!/usr/bin/python3
"""One file cut into ranges (--split): the same rows as without, by `load` and by the queue, whatever breaks."""
import gzip, json, os, signal, subprocess, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rack import check, equal, main, tests_of, wait_until, workers_of

ROWS = 4000


def rows_of(rows, bad=(), header=False):
    """Rows with newlines and quotes in their texts; those of `bad` have no number."""
    out = ["v,id\n"] if header else []
    for i in range(1, rows + 1):
        text = '"row\n%d, ""quoted"""' % i if i % 3 == 0 else "row %d" % i
        out.append("%s,%s\n" % ((text, i) if header else (i if i not in bad else "x%d" % i, text)))
    return out


def csv_of(*args, **more):
    return "".join(rows_of(*args, **more))


def expected(rows, bad=()):
    good = [i for i in range(1, rows + 1) if i not in bad]
    return len(good), sum(good), len(good)


def fresh(r, ddl="CREATE TABLE dbo.t (id int NOT NULL, v varchar(40) NULL)"):
    r.fresh(ddl)
    r.sql("IF OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL DELETE FROM dbo.fullrack_ledger")


def in_table(r):
    return r.sql("SELECT COUNT(*), COALESCE(SUM(id), 0), COUNT(DISTINCT id) FROM dbo.t")[0]


def touching(tasks, size):
    """The ranges are the file, once."""
    at = 0
    for t in sorted(tasks, key=lambda t: t["range_start"]):
        equal(t["range_start"], at, "begin of a range")
        at = size if t["range_end"] is None else t["range_end"]
    equal(at, size, "end of the last range")


def test_load_in_ranges(r):
    fresh(r)
    text = csv_of(ROWS)
    f = r.file("a.csv", text)
    d = r.json("load", "dbo.t", f, "--format", "csv", "--split", "4", "--workers", "4")
    equal((len(d["tasks"]), d["workers"], d["rows"]), (4, 4, ROWS), "tasks, workers, rows")
    equal({t["load_id"] for t in d["tasks"]}, {d["load_id"]}, "one load")
    touching(d["tasks"], len(text))
    equal(sum(t["bytes_read"] for t in d["tasks"]), len(text), "bytes of all ranges")
    equal({t["split_why"] for t in d["tasks"]}, {None}, "nothing to say")
    equal(in_table(r), expected(ROWS), "rows")
    equal(r.sql("SELECT v FROM dbo.t WHERE id = 3"), [('row\n3, "quoted"',)], "a value with newline and quotes")
    out = r.fullrack("load", "dbo.t", f, "--format", "csv", "--split", "16K")
    check("tasks done" in out and "workers" in out or os.cpu_count() == 1, "a worker a range", out)


def test_header_and_truncate(r):
    fresh(r)
    f = r.file("a.csv", csv_of(ROWS, header=True))
    for _ in range(2):
        d = r.json("load", "dbo.t", f, "--format", "csv", "--header", "match", "--split", "3", "--truncate")
        equal((d["rows"], sum(t["skipped"] for t in d["tasks"])), (ROWS, 1), "rows; the header is one")
        equal(in_table(r), expected(ROWS), "rows")


def test_first_fitting_row_maps_all_ranges(r):
    """The first row has as many fields as can be inserted: rows of all columns are wrong in every range."""
    fresh(r, "CREATE TABLE dbo.t (id int NOT NULL, n int IDENTITY NOT NULL, v varchar(40) NULL)")
    f = r.file("a.txt", "".join("%d\ta\n" % i for i in range(1, 101)) + "".join("%d\t9\tb\n" % i for i in range(101, 201)))
    d = r.json("load", "dbo.t", f, "--format", "delimited", "--split", "4", "-m", "1000")
    equal((d["rows"], d["rejected"]), (100, 100), "rows and rejects")


def test_what_auto_finds_holds_for_all_ranges(r):
    """In the middle of the file stands what would be taken for another format by itself."""
    r.fresh_control()
    rows = ["id;v\n"] + ["%d;a\n" % i for i in range(1, 3001)] + ["%d;'a,b,c'\n" % i for i in range(3001, 6001)]
    f = r.file("a.txt", "".join(rows))
    for queued in (False, True):
        fresh(r)
        if queued:
            d = r.json("add", "dbo.t", f, "--split", "4")
            check("csv" in d["tasks"][3]["format"]["found"], "format of a queued range", d["tasks"][3])
            d = r.json("run", "--workers", "2")
        else:
            d = r.json("load", "dbo.t", f, "--split", "4")
            check("csv" in d["tasks"][3]["format"]["found"], "format of a range", d["tasks"][3])
        equal((len(d["tasks"]), d["rows"], sum(t["skipped"] for t in d["tasks"])), (4, 6000, 1), "tasks, rows, header")
        equal(in_table(r), expected(6000), "rows")
        equal(r.sql("SELECT v FROM dbo.t WHERE id = 6000"), [("'a,b,c'",)], "a value of the last range")


def test_encoding_of_a_byte_a_character(r):
    fresh(r, "CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(40) NULL)")
    text = "".join("%d§Müll\n" % i for i in range(1, 1001)).encode("cp1252")
    f = r.file("a.txt", b"\xfc" + text[1:2] + text[1:])   # the first row is bad: its byte is no digit
    d = r.json("load", "dbo.t", f, "--format", "delimited", "-t", "§", "-C", "CP1252", "--split", "4", "-m", "1")
    equal((len(d["tasks"]), d["rows"], d["rejected"]), (4, 999, 1), "tasks, rows, rejects")
    equal(r.sql("SELECT DISTINCT v FROM dbo.t"), [("Müll",)], "value")
    touching(d["tasks"], os.path.getsize(f))


def test_lines_of_fixed_fields(r):
    """A field may look like a line's end only at the end of its line; a byte a character, in the file's own bytes."""
    fresh(r, "CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(40) NULL)")
    text = "".join("%6d%-12s%s" % (i, "\u017elu\u0165 %d" % i, "\r\n" if i % 2 else "\n") for i in range(1, ROWS + 1))
    data = text.encode("cp1250")
    d = r.json("load", "dbo.t", r.file("fixed.txt", data), "--format", "fixed", "--widths", "6,12", "--trim", "-C", "CP1250", "--split", "3",
               "--workers", "3")
    equal((len(d["tasks"]), d["rows"], d["rejected"]), (3, ROWS, 0), "tasks and rows")
    touching(d["tasks"], len(data))
    equal(in_table(r), expected(ROWS), "rows")


def test_rejects(r):
    fresh(r)
    bad = set(range(7, ROWS, 100))
    text = csv_of(ROWS, bad)
    f = r.file("a.csv", text)
    e = os.path.join(r.dir, "bad")
    d = r.json("load", "dbo.t", f, "--format", "csv", "--split", "4", "-m", "1000", "-e", e)
    equal((d["rows"], d["rejected"]), (ROWS - len(bad), len(bad)), "rows and rejects")
    names = ["%s.a.csv.%d" % (e, i) for i in range(1, 5)]
    lines = [json.loads(line) for n in names for line in open(n + ".json")]
    equal("".join(open(n).read() for n in names), "".join(rows_of(ROWS, bad)[i - 1] for i in sorted(bad)), "rejected rows")
    for note in lines:
        equal(text[note["byte"]:].split(",")[0], note["value"], "the byte of a rejected row")
    later = [n for n in lines if n.get("range_start", 0) > 0]
    check(later, "rejects of later ranges say where their rows are counted from")
    n = later[0]
    begins, at = [], 0
    for row in rows_of(ROWS, bad):
        begins.append(at)
        at += len(row)
    equal(begins.index(n["byte"]) - begins.index(n["range_start"]) + 1, n["row"], "the row of the range")
    check("row %d of the range from byte %d (byte %d)" % (n["row"], n["range_start"], n["byte"]) in r.err, "message", r.err)
    # the names of all parts are looked at
    other = r.file("a.csv.2", "1,2\n")
    r.fullrack("load", "dbo.t", f, other, "--format", "csv", "--split", "4", "-e", e, exit=2)
    check("would share the reject file %s.a.csv.2" % e in r.err, "message", r.err)


def test_what_is_not_cut_says_why(r):
    fresh(r)
    text, csv = csv_of(50), ["--format", "csv"]
    for name, content, options, why in (
            ("a.csv.gz", gzip.compress(text.encode()), csv, "it is packed"),
            ("u.csv", text.encode("utf-16"), csv, "UTF-16"),
            ("q.csv", '1,"' + "a\n" * 500, csv, "has no closing quote"),
            ("b.csv", text.replace("\n", " "), ["--format", "bcp", "-t", ","], "--format bcp")):
        f = r.file(name, content)
        d = r.json("load", "dbo.t", f, "--split", "4", "-m", "100", *options)
        equal(len(d["tasks"]), 1, "tasks of " + name)
        check(why in d["tasks"][0]["split_why"], "reason in JSON", d["tasks"][0]["split_why"])
        check("%s is not cut into ranges" % f in r.err and why in r.err, "warning", r.err)
    d = json.loads(r.fullrack("load", "--json", "dbo.t", "-", "--format", "csv", "--split", "4", input=b"1,a\n"))
    check("stream" in d["tasks"][0]["split_why"], "reason of a stream", d)


def test_wrong_use(r):
    fresh(r)
    f = r.file("a.csv", csv_of(10))
    for options, what in ((["--split", "0"], "1 to 1024"), (["--split", "some"], "number of ranges"),
                          (["--split", "2", "-F", "2"], "-F or -L"), (["--split", "2", "-L", "5"], "-F or -L")):
        r.fullrack("load", "dbo.t", f, "--format", "csv", *options, exit=2)
        check(what in r.err, "message of %r" % options, r.err)


def test_resume_needs_the_same_ranges(r):
    fresh(r)
    bad = {ROWS // 4 * 3 + 5}
    f = r.file("a.csv", csv_of(ROWS, bad))
    load = ["load", "dbo.t", f, "--format", "csv", "-b", "100"]
    d = r.json(*load, "--split", "4", "--workers", "2", exit=1)
    equal(sorted(t["state"] for t in d["tasks"]), ["done", "done", "done", "failed"], "states")
    before = in_table(r)
    for other in ([], ["--split", "2"], ["--split", "3"], ["--split", "5"], ["--split", "20K"]):
        r.fullrack(*load, *other, "--resume", d["load_id"], "-m", "9", exit=2)
        check("was cut into other ranges" in r.err, "message of %r" % other, r.err)
    equal(in_table(r), before, "nothing was loaded")
    # the same file in name only
    content, times = open(f, "rb").read(), os.stat(f)
    open(f, "ab").write(b"9999,x\n")
    r.fullrack(*load, "--split", "4", "--resume", d["load_id"], "-m", "9", exit=2)
    check("has changed" in r.err, "message", r.err)
    open(f, "wb").write(content)
    os.utime(f, ns=(times.st_atime_ns, times.st_mtime_ns))
    d = r.json(*load, "--split", "4", "--resume", d["load_id"], "-m", "9")
    equal((d["rows"], d["rejected"]), (ROWS - 1, 1), "rows and rejects after resuming")
    equal(in_table(r), expected(ROWS, bad), "each row once")
    # one that was begun whole is not resumed in ranges
    r.sql("DELETE FROM dbo.t")
    d = r.json(*load, exit=1)
    r.fullrack(*load, "--split", "4", "--resume", d["load_id"], "-m", "9", exit=2)
    check("was cut into other ranges" in r.err, "message", r.err)


def test_killed_load_is_resumed(r):
    fresh(r)
    f = r.file("a.csv", csv_of(40000))
    load = ["load", "dbo.t", f, "--format", "csv", "-b", "200", "--split", "4", "--workers", "2"]
    p = r.spawn(*load)
    load_id = next(line.split()[2] for line in p.stderr if line.startswith("load id "))    # behind warnings
    wait_until("some rows", 30, lambda: in_table(r)[0] > 0)
    p.kill()
    p.communicate()
    wait_until("its workers end", 30, lambda: r.sql(
        "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE program_name LIKE 'fullrack%'")[0][0] == 0)
    d = r.json(*load, "--resume", load_id)
    equal(d["rows"], 40000, "rows of all attempts")
    equal(in_table(r), expected(40000), "each row once")


def test_queue(r):
    fresh(r)
    r.fresh_control()
    bad = set(range(9, ROWS, 500))
    text = csv_of(ROWS, bad)
    f = r.file("a.csv", text)
    options = ["--format", "csv", "-m", "100", "-e", os.path.join(r.dir, "q.bad")]
    d = r.json("add", "dbo.t", f, *options, "--split", "4")
    equal(len(d["tasks"]), 4, "tasks")
    touching(d["tasks"], len(text))
    for again in (["--split", "4"], ["--split", "2"], []):
        r.fullrack("add", "dbo.t", f, *options, *again, exit=2)
        check("already queued" in r.err, "message of %r" % again, r.err)
    # a purged first range does not hide the others
    r.sql("UPDATE dbo.work_queue SET state = 'cancelled' WHERE range_start = 0", "fullrack")
    r.fullrack("add", "dbo.t", f, *options, exit=2)
    r.sql("UPDATE dbo.work_queue SET state = 'ready' WHERE range_start = 0", "fullrack")
    d = r.json("run", "--workers", "2")
    equal((d["rows"], d["rejected"]), (ROWS - len(bad), len(bad)), "rows and rejects")
    touching(d["tasks"], len(text))
    equal(in_table(r), expected(ROWS, bad), "each row once")
    equal(r.json("verify")["differences"], [], "verify")
    last = max(d["tasks"], key=lambda t: t["range_start"])
    shown = {t["task_id"]: t for t in r.json("status")["tasks"]}[last["task_id"]]
    equal((shown["range_start"], shown["range_end"]), (last["range_start"], None), "status")
    out = r.fullrack("status")
    check("range_start %d" % last["range_start"] in out and "range_start 0 t" not in out, "status", out)
    # its rows come once more, and only its own
    r.sql("DELETE FROM dbo.t WHERE id > 0")
    r.sql("UPDATE dbo.fullrack_ledger SET rows_loaded = 0")
    r.fullrack("reset", str(last["task_id"]))
    d = r.json("run", "--workers", "1")
    equal(in_table(r)[0], last["rows"], "the rows of one range")
    r.fullrack("add", "dbo.t", f, *options, "--split", "2", "--again", "-q")


def test_changed_file_of_queued_ranges(r):
    """Borders of another file would cut rows in two."""
    fresh(r)
    r.fresh_control()
    f = r.file("a.csv", csv_of(200))
    r.fullrack("add", "dbo.t", f, "--format", "csv", "--split", "3", "-q")
    open(f, "w").write("0,added\n" + csv_of(200))
    d = r.json("run", exit=1)
    equal({t["state"] for t in d["tasks"]}, {"failed"}, "states")
    check("has changed since it was cut" in d["tasks"][0]["error"], "error", d["tasks"][0])
    equal(in_table(r)[0], 0, "rows")


def test_add_at_the_same_moment(r):
    """Two commands with another --split each: one of them is refused, whole."""
    fresh(r)
    r.fresh_control()
    f = r.file("a.csv", csv_of(2000))
    both = [subprocess.Popen(r.command("add", "dbo.t", f, "--format", "csv", "--split", n, "-q"), env=r.env(),
                             stderr=subprocess.DEVNULL) for n in ("20", "30")]
    codes = [p.wait(60) for p in both]
    equal(sorted(codes), [0, 2], "exit statuses")
    equal(r.sql("SELECT COUNT(*) FROM dbo.work_queue", "fullrack"), [(20 if codes[0] == 0 else 30,)], "tasks")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
