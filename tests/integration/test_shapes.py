#!/usr/bin/python3
"""fullrack load: shapes of files: many columns, long fields, nothing, escapes, names in brackets, lists of files."""
import os, subprocess, sys, threading
from rack import *

MIB = 1 << 20


def load(r, *args, **more):
    return r.json("load", "dbo.t", *args, **more)


def test_300_columns(r):
    names = ["c%03d" % i for i in range(300)]
    r.fresh("CREATE TABLE dbo.t (%s)" % ", ".join("%s %s NULL" % (n, ("int", "varchar(12)", "decimal(9,2)")[i % 3])
                                                    for i, n in enumerate(names)))
    row = [("%d" % i, "v,%d" % i, "%d.25" % i)[i % 3] for i in range(300)]
    text = ",".join(names) + "\n" + 3 * (",".join("\"%s\"" % v if "," in v else v for v in row) + "\n")
    d = load(r, r.file("wide.csv", text + ",".join(row[:299]) + "\n"), "--format", "csv", "--header", "match", "-m", "1")
    equal((d["rows"], d["rejected"]), (3, 1), "counts: the last row has too many fields")
    got = r.sql("SELECT * FROM dbo.t")
    equal([str(v) for v in got[2]], row, "values")


def test_field_of_60_mib(r):
    """One value of 60 MiB, of many characters, goes in whole; the memory for it is bounded (docs/reliability.md)."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(max) NULL, b varchar(max) NULL)")
    piece = "\u017elu\u0165ou\u010dk\u00fd k\u016f\u0148, \"\"x\"\" \n" * 64
    count = 60 * MIB // len(piece.encode())
    path = r.file("long.csv", b"1,\"" + piece.encode() * count + b"\",\n2,,\"" + b"y" * (60 * MIB) + b"\"\n3,short,\n")
    d = load(r, path, "--format", "csv", timeout=300)
    equal((d["rows"], d["rejected"]), (3, 0), "counts")
    value = piece.replace("\"\"", "\"")
    equal(r.sql("SELECT id, DATALENGTH(v), DATALENGTH(b) FROM dbo.t ORDER BY id"),
          [(1, 2 * len(value) * count, None), (2, None, 60 * MIB), (3, 10, None)], "lengths")
    equal(r.sql("SELECT RIGHT(v, 4) FROM dbo.t WHERE id = 1"), [("x\" \n",)], "the end of the long value")


def test_empty_lines_by_the_million(r):
    """Blank lines of csv are no rows; of a delimited file each is one."""
    path = r.file("empty.txt", b"\n" * 10000000)
    r.fresh("CREATE TABLE dbo.t (v varchar(10) NULL)")
    d = load(r, path, "--format", "csv")
    equal((d["rows"], d["rejected"], d["tasks"][0]["skipped"]), (0, 0, 10000000), "csv")
    equal(load(r, path, "--format", "delimited", timeout=300)["rows"], 10000000, "delimited")
    equal(r.sql("SELECT COUNT(*), COUNT(v) FROM dbo.t"), [(10000000, 0)], "rows, all NULL")


def test_hardly_anything(r):
    r.fresh("CREATE TABLE dbo.t (v varchar(10) NULL)")
    for name, content, options, rows, skipped in (("nothing", b"", (), 0, 0), ("nothing.csv", b"", ("--format", "csv"), 0, 0),
                                                  ("mark", b"\xef\xbb\xbf", (), 0, 0), ("newline", b"\n", (), 1, 0),
                                                  ("newline.csv", b"\n", ("--format", "csv"), 0, 1), ("crlf.csv", b"\r\n", ("--format", "csv"), 0, 1),
                                                  ("quotes.csv", b"\"\"", ("--format", "csv"), 1, 0), ("byte", b"x", (), 1, 0)):
        t = load(r, r.file(name, content), *options)["tasks"][0]
        equal((t["rows"], t["rejected"], t["skipped"]), (rows, 0, skipped), "counts of " + name)
    equal(r.sql("SELECT v FROM dbo.t ORDER BY v"), [(None,), ("",), ("x",)], "values")


def test_trail_bytes_that_look_like_terminators(r):
    """In Shift-JIS the second byte of a character may be | or a backslash: it is part of the character."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(20) NULL, w nvarchar(20) NULL)")
    words = [b"\x83\x7c".decode("cp932"), b"\x8a\x7c\x83\x5c".decode("cp932"), "\u8868\u7d04"]      # trail bytes | and \
    check(all(b"|" in w.encode("cp932") or b"\\" in w.encode("cp932") for w in words), "the words have such bytes")
    rows = [(i, w, w[::-1]) for i, w in enumerate(words)]
    d = load(r, r.file("sjis.txt", "".join("%d|%s|%s\r\n" % row for row in rows).encode("cp932")), "-t", "|", "-C", "CP932")
    equal((d["rows"], d["rejected"]), (3, 0), "counts")
    equal(r.sql("SELECT id, v, w FROM dbo.t ORDER BY id"), rows, "values")


def test_terminators_of_utf16(r):
    """-t and -r are characters of the text, whatever its encoding; in hex they are bytes of it in UTF-8."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(20) NULL)")
    rows = [(1, "a\u00a7b"), (2, "\u20ac|"), (3, None)]
    for field, row, options in (("\u00a7\u00a7", "\u2016\n", ("-t", "\u00a7\u00a7", "-r", "\u2016\\n")),
                                ("\u00a7\u00a7", "\u2016", ("-t", "0xc2a7c2a7", "-r", "0xe28096")), ("\x01", "\x02", ("-t", "\\x01", "-r", "\\x02"))):
        for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-8", b"")):
            r.sql("DELETE FROM dbo.t")
            text = "".join("%d%s%s%s" % (i, field, v or "", row) for i, v in rows)
            equal(load(r, r.file("u.txt", mark + text.encode(encoding)), *options)["rows"], 3, "rows in " + encoding)
            equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), rows, "values in " + encoding)


def test_escapes(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL, w varchar(20) NULL)")
    f = r.file("mysql.csv", '1,"a\\"b","c\\\\"\n2,\\N,"\\N"\n3,"x\\ty",z\n4,"d\\\ne",f\\,g\n')
    options = ("--format", "csv", "--escape", "\\", "--null", "\\N")
    r.fullrack("load", "dbo.t", f, *options, exit=1)
    check("row 2 (byte 15): column w: \"\\N\" has the --escape in front of a letter" in r.err, "message", r.err)
    rejects = r.file("esc.bad", "")
    os.unlink(rejects)
    d = load(r, f, *options, "-m", "2", "-e", rejects)
    equal((d["rows"], d["rejected"]), (2, 2), "counts")
    equal(r.sql("SELECT id, v, w FROM dbo.t ORDER BY id"), [(1, "a\"b", "c\\"), (4, "d\ne", "f,g")], "values")
    with open(rejects, "rb") as file:
        equal(file.read(), b'2,\\N,"\\N"\n3,"x\\ty",z\n', "rejected bytes")
    for value, word in (("ab", "one character"), ("n", "letter"), (",", "terminator")):
        r.fullrack("load", "dbo.t", f, "--format", "csv", "--escape", value, exit=2)
        check("--escape" in r.err and word in r.err, "message of " + value, r.err)
    r.fullrack("load", "dbo.t", f, "--format", "bcp", "--escape", "\\", exit=2)
    check("--format csv or delimited" in r.err, "message", r.err)


def test_escaped_text_that_looks_like_null(r):
    """The text \\N, its backslash escaped, is a text; --null is looked for as it stands in the file."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL)")
    load(r, r.file("null.txt", "1\t\\\\N\n2\t\\N\n3\tN\n4\t\\#\n5\t#\n"), "--format", "delimited", "--escape", "\\", "--null", "\\N", "--null", "#")
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(1, "\\N"), (2, None), (3, "N"), (4, "#"), (5, None)], "values")


def test_quote_that_swallows_the_file(r):
    """Rows that are passed by are looked at, too, where one takes all others with it."""
    r.fresh("CREATE TABLE dbo.t (id int NULL, v varchar(20) NULL)")
    f = r.file("open.csv", '"id,name\n1,1\n2,2\n')
    for options, status in ((("--header", "skip"), 2), (("-F", "2"), 1), (("-F", "3"), 1), (("-L", "1", "-F", "1"), 1)):
        r.fullrack("load", "dbo.t", f, "--format", "csv", *options, exit=status)
        check("open.csv" in r.err and "has no closing quote up to the end of the file" in r.err, "message of %r" % (options,), r.err)


def test_names_in_brackets(r):
    r.fresh("CREATE TABLE dbo.t ([a,b] int NULL, [c]]d] int NULL, [-] int NULL, [ e ] int NULL)")
    f = r.file("n.txt", "1\t2\t3\t4\t5\n")
    load(r, f, "--columns", "[ e ], [-],-,[c]]d],[a,b]")
    equal(r.sql("SELECT * FROM dbo.t"), [(5, 4, 2, 1)], "values")
    for columns, word in (("[a,b", "expected [NAME]"), ("[a,b]x", "expected [NAME]"), ("[a,b],[a,b]", "named twice"), ("a", "it has: a,b, c]d"),
                          ("[-],,-", "has no column \"\"")):
        r.fullrack("load", "dbo.t", f, "--columns", columns, exit=2)
        check(word in r.err and "--columns" in r.err, "message of " + columns, r.err)


def test_header_names(r):
    """By name, without regard to case and outer blanks; what does not fit lists the table's columns."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, [Nice Name] varchar(10) NULL, extra int NULL)")
    load(r, r.file("h.csv", " NICE name ,\"ID\"\nx,1\n"), "--format", "csv", "--header", "match")
    equal(r.sql("SELECT * FROM dbo.t"), [(1, "x", None)], "values")
    for header, word in (("id,idd", "no column \"idd\""), ("id,ID", "id is named twice"), ("extra,nice name", "column id of dbo.t is NOT NULL")):
        r.fullrack("load", "dbo.t", r.file("h.csv", header + "\n1,2\n"), "--format", "csv", "--header", "match", exit=2)
        check(word in r.err and "has: id, Nice Name, extra" in r.err, "message of " + header, r.err)


def test_lists_of_files(r):
    """@LIST: files, patterns and folders, one a line; natural order in patterns and folders, the list's own otherwise."""
    r.fresh("CREATE TABLE dbo.t (v varchar(10) NULL)")
    os.mkdir(os.path.join(r.dir, "in"))
    for name in ("p10.txt", "p9.txt", "q.txt", ".hidden"):
        r.file("in/" + name, name + "\n")
    path = r.file("list", "%s\r\n\n%s\n%s" % (r.file("z.txt", "z\n"), os.path.join(r.dir, "in", "p*.txt"), r.file("a.txt", "a\n")))
    expected = ["z.txt", "p9.txt", "p10.txt", "a.txt"]
    sources = [os.path.basename(t["source"]) for t in load(r, "@" + path)["tasks"]]
    equal(sources, expected, "sources of the list")
    with open(path, "rb") as file:
        sources = [os.path.basename(t["source"]) for t in load(r, "@-", input=file.read())["tasks"]]
    equal(sources, expected, "sources of a list on standard input")
    sources = [os.path.basename(t["source"]) for t in load(r, os.path.join(r.dir, "in"))["tasks"]]
    equal(sources, ["p9.txt", "p10.txt", "q.txt"], "sources of a folder")
    os.mkdir(os.path.join(r.dir, "in", "p0.txt"))
    sources = [os.path.basename(t["source"]) for t in load(r, "@" + r.file("marked", b"\xef\xbb\xbf" + os.path.join(r.dir, "in", "p*.txt").encode()))["tasks"]]
    equal(sources, ["p9.txt", "p10.txt"], "sources of a list with a byte order mark, and of a pattern that fits a folder")
    for content, word in (("\n\n", "names no file"), ("a*b\n", "line 1: no file fits"), ("x\n-\n", "line 2: standard input cannot"), ("a\0b\n", "NUL")):
        r.fullrack("load", "dbo.t", "@" + r.file("bad-list", content), exit=2)
        check("bad-list" in r.err and word in r.err, "message of %r" % content, r.err)
    r.fullrack("load", "dbo.t", "@" + os.path.join(r.dir, "no-list"), exit=2)
    check("no-list: No such file" in r.err, "message", r.err)


def test_a_file_that_is_gone_or_closed(r):
    """Its task fails with the reason; the others go on."""
    r.fresh("CREATE TABLE dbo.t (v varchar(10) NULL)")
    good, closed = r.file("good.txt", "a\n"), r.file("closed.txt", "b\n")
    os.chmod(closed, 0)
    gone = os.path.join(r.dir, "gone.txt")
    run = r.command("load", "dbo.t", gone, closed, good)
    if os.geteuid() == 0:       # root reads everything, but without this capability
        run = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] + run
    p = subprocess.run(run, capture_output=True, text=True, env=r.env(), timeout=60)
    equal(p.returncode, 1, "exit status (%s)" % p.stderr)
    check("gone.txt: No such file or directory" in p.stderr and "closed.txt: Permission denied" in p.stderr, "messages", p.stderr)
    equal(r.sql("SELECT v FROM dbo.t"), [("a",)], "the good file is loaded")


def test_a_fifo_beside_files(r):
    r.fresh("CREATE TABLE dbo.t (v varchar(10) NULL)")
    fifo = os.path.join(r.dir, "pipe")
    os.mkfifo(fifo)

    def write():
        with open(fifo, "wb") as f:
            f.write(b"from the pipe")
    writer = threading.Thread(target=write)
    writer.start()
    d = load(r, fifo, r.file("one.txt", "x\n"), "--workers", "2", "-m", "1")
    writer.join()
    equal((d["rows"], d["rejected"]), (1, 1), "counts: the pipe's value is too long")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
