#!/usr/bin/env python3
"""test_check.py - --format auto: what it finds, that it says so, and that a load which goes on finds the same."""
import gzip, os, sys
from rack import check, equal, main, tests_of

TABLE = "CREATE TABLE dbo.t (id int NOT NULL, name nvarchar(40) NULL, price decimal(9,2) NULL)"


def rows(r):
    return [(i, n, None if p is None else str(p)) for i, n, p in r.sql("SELECT id, name, price FROM dbo.t ORDER BY id")]


def test_files_of_every_kind(r):
    want = [(1, "a, b", "1.50"), (2, "é", None)]
    text = 'id,name,price\n1,"a, b",1.50\n2,é,\n'
    for name, content, options in (
            ("comma.csv", text.encode(), "--format csv -t , --header match"),
            ("semicolon.csv", 'Name;PRICE;id\r\n"a, b";1.50;1\r\né;;2\r\n'.encode(), "--format csv -t ';' --header match"),
            ("tab.txt", "1\ta, b\t1.50\n2\té\t\n".encode(), "--format delimited -t '\\t'"),
            ("bar.tbl", "1|a, b|1.50|\n2|é||\n".encode(), "--format delimited -t '|' -r '|\\n'"),
            ("control.txt", "1\x01a, b\x011.50\n2\x01é\x01\n".encode(), "--format delimited -t 0x01"),
            ("mark.csv", b"\xef\xbb\xbf" + text.encode(), "--format csv -t , --header match"),
            ("wide.csv", text.encode("utf-16"), "--format csv -t , --header match"),
            ("wide-no-mark.csv", text.encode("utf-16-le"), "--format csv -t , --header match -C UTF-16LE"),
            ("wide-big-end.csv", text.encode("utf-16-be"), "--format csv -t , --header match -C UTF-16BE"),
            ("packed.csv.gz", gzip.compress(text.encode()), "--format csv -t , --header match")):
        r.fresh(TABLE)
        doc = r.json("load", "dbo.t", r.file(name, content))
        equal(doc["tasks"][0]["format"]["options"], options, name)
        equal(rows(r), want, name)
        equal(doc["rejected"], 0, name)


def test_what_was_found_is_said(r):
    r.fresh(TABLE)
    a, b = r.file("a.csv", "1,x,2\n"), r.file("b.csv", "1,x,2\n2,y,3\n")
    said = 'format: csv, fields by ",", quotes ", no header, UTF-8 (found by looking at the first 64 KiB; --format csv -t , ' \
           "says so)\n"
    equal(r.fullrack("load", "dbo.t", a, b).count(said), 1, "said once")
    c = r.file("c.txt", "1\tx\t2\n")
    out = r.fullrack("load", "dbo.t", a, c)
    check("%s: %s" % (a, said) in out and "%s: format: delimited, fields by tab, no header" % c in out, "said of each", out)
    out = r.fullrack("load", "dbo.t", a, "--format", "csv")
    check("format:" not in out, "nothing was looked for", out)
    equal(r.json("load", "dbo.t", a, "--format", "csv")["tasks"][0]["format"], None, "nothing was looked for")


def test_standard_input(r):
    r.fresh(TABLE)
    r.fullrack("load", "dbo.t", "-", input=b"price;id\n1.5;1\n")
    equal(rows(r), [(1, None, "1.50")], "rows")


def test_bytes_that_are_not_utf8(r):
    """No encoding is guessed: a row that the guess would change is refused, and the cure is named."""
    r.fresh(TABLE)
    f = r.file("f.csv", "1,é,1\n2,x,1\n".encode("cp1252"))
    out = r.fullrack("load", "dbo.t", f, "-m", "1")
    check("not UTF-8: give the encoding with -C" in out, "summary", out)
    equal(rows(r), [(2, "x", "1.00")], "rows")
    r.fresh(TABLE)
    r.fullrack("load", "dbo.t", f, "-C", "CP1252")
    equal(rows(r), [(1, "é", "1.00"), (2, "x", "1.00")], "rows")


def test_options_are_never_overruled(r):
    r.fresh("CREATE TABLE dbo.t (a varchar(20) NULL, b varchar(20) NULL)")
    f = r.file("f.csv", "a,b\n1,'x'\n")
    r.fullrack("load", "dbo.t", f, "--header", "none")
    r.fullrack("load", "dbo.t", f, "--header", "skip")
    r.fullrack("load", "dbo.t", f, "-F", "2")
    r.fullrack("load", "dbo.t", f, "-t", "|", "-m", "9")
    equal(r.sql("SELECT a, b FROM dbo.t ORDER BY a, b"), [("1", "'x'")] * 3 + [("a", "b")], "rows")


def test_a_load_goes_on_as_it_began(r):
    """The beginning decides, also when a load goes on behind it."""
    r.fresh(TABLE)
    good = "name;id;price\n" + "".join("n%d;%d;1\n" % (i, i) for i in range(6000))
    check(len(good) > 65536, "the bad row lies behind what is looked at")
    f = r.file("f.csv", good + "x;y;1\n" + "n6000;6000;1\n")
    doc = r.json("load", "dbo.t", f, "-b", "1000", exit=1)
    equal(len(rows(r)), 6000, "committed rows")
    size, info = os.path.getsize(f), os.stat(f)
    with open(f, "r+b") as w:
        w.seek(good.encode().__len__())
        w.write(b"x;9;1\n")
    os.utime(f, ns=(info.st_atime_ns, info.st_mtime_ns))
    equal(os.path.getsize(f), size, "size")
    r.fullrack("load", "dbo.t", f, "-b", "1000", "--resume", doc["load_id"])
    equal(len(rows(r)), 6002, "rows")


def test_queued_files_differ(r):
    r.fresh_control()
    r.fresh(TABLE)
    a, b = r.file("q1.csv", "id,name\n1,x\n"), r.file("q2.txt", "2\ty\t3\n")
    tasks = r.json("add", "dbo.t", a, b)["tasks"]
    equal([t["format"]["options"] for t in tasks],
          ["--format csv -t , --header match", "--format delimited -t '\\t'"], "formats")
    r.fullrack("run", "--workers", "1")
    equal(rows(r), [(1, "x", None), (2, "y", "3.00")], "rows")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
