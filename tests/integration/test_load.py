#!/usr/bin/python3
"""fullrack load: formats, batches, rejects, resume, messages and exit statuses."""
import decimal, gzip, json, os, random, signal, subprocess, sys, time
from rack import *


def test_result_document(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL)")
    f = r.file("a.csv", "id,v\n1,x\n\n2,\n3,yy\n")
    d = r.json("load", "dbo.t", f, "--format", "csv", "--header", "skip")
    equal(d["rows"], 3, "rows")
    equal(d["rejected"], 0, "rejected")
    equal(d["engine"], "wire", "engine")
    check(d["run_id"] is None, "run_id of a load")
    for key in ("workers", "schedulers", "seconds", "bytes_read", "bytes_sent", "rows_per_s", "bytes_per_s", "start_skew_ms"):
        check(key in d, "missing " + key)
    t = d["tasks"][0]
    equal(t["state"], "done", "state")
    equal(t["rows"] + t["rejected"] + t["skipped"], 5, "rows of the source (header and blank line skipped)")
    equal(t["bytes_read"], os.path.getsize(f), "bytes read")
    for key in ("task_id", "load_id", "source", "table", "trimmed_values", "duration_ms", "client_cpu_ms", "server_cpu_ms",
                "scheduler_id", "scheduler_moves", "spid", "attempts", "engine", "error"):
        check(key in t, "missing task key " + key)
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(1, "x"), (2, None), (3, "yy")], "rows")


def test_every_type(r):
    r.fresh("""CREATE TABLE dbo.t (id int NOT NULL, b bit NULL, ti tinyint NULL, si smallint NULL, bi bigint NULL,
               dc decimal(20,4) NULL, fl float NULL, re real NULL, mo money NULL, da date NULL, dt datetime NULL,
               d2 datetime2(7) NULL, ch char(4) NULL, vc varchar(20) NULL, nc nchar(3) NULL, nv nvarchar(20) NULL,
               vm varchar(max) NULL, nm nvarchar(max) NULL, gu uniqueidentifier NULL, vb varbinary(8) NULL)""")
    f = r.file("types.txt", "1|1|255|-32768|9223372036854775807|-12345.6789|1.5e10|0.25|12.3456|2024-02-29|"
               "2024-02-29 13:14:15.997|2024-02-29 13:14:15.1234567|ab|caf\u00e9|\u00e9|\u0416\U0001F600|" + "x" * 9000 +
               "|" + "\u0416" * 5000 + "|6F9619FF-8B86-D011-B42D-00C04FC964FF|0x00FF10\n2" + "|" * 19 + "\n")
    r.fullrack("load", "dbo.t", f, "-t", "|")
    got = r.sql("SELECT * FROM dbo.t ORDER BY id")
    row = got[0]
    equal(row[1:5], (True, 255, -32768, 9223372036854775807), "integers")
    equal(row[5], decimal.Decimal("-12345.6789"), "decimal")
    equal(row[6:9], (1.5e10, 0.25, decimal.Decimal("12.3456")), "float, real, money")
    equal(str(row[9]), "2024-02-29", "date")
    equal(str(row[10]), "2024-02-29 13:14:15.997000", "datetime")
    equal(row[12], "ab  ", "char is padded")
    equal(row[13], "caf\u00e9", "varchar")
    equal(row[15], "\u0416\U0001F600", "nvarchar")
    equal((len(row[16]), len(row[17])), (9000, 5000), "max types")
    equal(str(row[18]).upper(), "6F9619FF-8B86-D011-B42D-00C04FC964FF", "guid")
    equal(row[19], b"\x00\xff\x10", "varbinary")
    equal(got[1][1:], (None,) * 19, "NULLs")
    equal(r.sql("SELECT CONVERT(varchar(40), d2, 121) FROM dbo.t WHERE id = 1"), [("2024-02-29 13:14:15.1234567",)], "datetime2")


def test_empty_is_not_null(r):
    """FREETDS trap 4, in first, middle and last place, going to and fro between empty and not."""
    r.fresh("CREATE TABLE dbo.t (a varchar(5) NULL, n int NOT NULL, b nvarchar(5) NULL, c varbinary(5) NULL, d nvarchar(max) NULL)")
    f = r.file("e.csv", '"",1,"",0x,""\nx,2,y,01,z\n"",3,"",0x,""\n,4,,,\n"",5,"",0x,""\n')
    r.fullrack("load", "dbo.t", f, "--format", "csv")
    equal(r.sql("SELECT a, b, c, d FROM dbo.t ORDER BY n"),
          [("", "", b"", ""), ("x", "y", b"\x01", "z"), ("", "", b"", ""), (None, None, None, None), ("", "", b"", "")], "rows")


def test_nul_bytes_are_data(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL, w nvarchar(10) NULL)")
    f = r.file("nul.csv", b"1,a\x00b,\x00\n2,\x00,\x00\x00\n")
    r.fullrack("load", "dbo.t", f, "--format", "csv")
    equal(r.sql("SELECT DATALENGTH(v), DATALENGTH(w) FROM dbo.t ORDER BY id"), [(3, 2), (1, 4)], "lengths")


def test_code_page_of_each_column(r):
    """db-lib names one collation for the whole stream; each column's own code page counts."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, j varchar(40) COLLATE Japanese_CI_AS NULL, g varchar(40) COLLATE Greek_CI_AS NULL, "
            "l varchar(40) NULL, u varchar(40) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL)")
    f = r.file("pages.txt", "1\t\u65e5\u672c\u8a9e\t\u03b1\u03b2\t\u00e9\u20ac\t\u0416\n")
    r.fullrack("load", "dbo.t", f)
    equal(r.sql("SELECT CONVERT(nvarchar(40), j), CONVERT(nvarchar(40), g), CONVERT(nvarchar(40), l), CONVERT(nvarchar(40), u), "
                "CONVERT(varbinary(40), j) FROM dbo.t"),
          [("\u65e5\u672c\u8a9e", "\u03b1\u03b2", "\u00e9\u20ac", "\u0416", "\u65e5\u672c\u8a9e".encode("cp932"))], "texts")


def test_rejects_keep_original_bytes(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, q int NULL)")
    f = r.file("bad.csv", "1,10\n2,1O\n3,30\r\n\"x\"\"y\",4\n5,50\n")
    e = os.path.join(r.dir, "rejects")
    d = r.json("load", "dbo.t", f, "--format", "csv", "-m", "2", "-e", e)
    equal((d["rows"], d["rejected"]), (3, 2), "counts")
    equal(open(e, "rb").read(), b'2,1O\n"x""y",4\n', "reject file")
    notes = [json.loads(line) for line in open(e + ".json")]
    equal([(n["row"], n["byte"], n["column"], n["value"]) for n in notes], [(2, 5, "q", "1O"), (4, 16, "id", 'x"y')], "notes")
    check("not a whole number" in notes[0]["reason"], "reason", notes[0])


def test_message_says_where(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, l_quantity int NULL)")
    f = r.file("lineitem.7.tbl", "1|5\n2|6\n3|1O\n")
    r.fullrack("load", "dbo.t", f, "-t", "|", exit=1)
    check('lineitem.7.tbl: row 3 (byte 8), column l_quantity: "1O" is not a whole number' in
          r.err.replace(": column", ", column"), "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "nothing stays of the batch")


def test_date_formats_are_checked_at_start(r):
    """A file without a row is enough to find what no row could fit."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, d date NULL, t time(0) NULL)")
    f = r.file("none.csv", "")
    for given, why in ((["d=%H:%M"], "no day, month and year"), (["t=%Y%m%d %H"], "a date, which a time cannot keep"),
                       (["id=%Y%m%d"], "column id is int"), (["d=%d%m%Y %d"], "the day twice"), (["x=%Y"], "no such column"),
                       (["d"], "expected COLUMN=FORMAT"), (["d=%d.%m.%Y", "D=%m/%d/%Y"], "has one already")):
        r.fullrack("load", "dbo.t", f, *[a for g in given for a in ("--date-format", g)], exit=2)
        check(why in r.err, "message for %s" % given, r.err)
    f = r.file("dates.txt", "1|31.05.2024|1:05 pm\n")
    r.fullrack("load", "dbo.t", f, "-t", "|", "--date-format", "d=%d.%m.%Y", "--date-format", "T=%I:%M %p")
    equal(r.sql("SELECT CONVERT(varchar(10), d, 23), CONVERT(varchar(8), t, 108) FROM dbo.t"), [("2024-05-31", "13:05:00")], "rows")


def test_batches_and_resume(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("rows.txt", "".join("%d\n" % i for i in range(1, 8)) + "x\n9\n")
    d = r.json("load", "dbo.t", f, "-b", "3", exit=1)
    t = d["tasks"][0]
    equal((t["state"], t["rows"]), ("failed", 6), "two batches stay and are reported")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(6,)], "rows in the table")
    equal(r.sql("SELECT state, next_offset, next_row, rows_loaded FROM dbo.fullrack_ledger WHERE load_id = '%s'" % t["load_id"]),
          [("open", 12, 7, 6)], "the ledger's head")
    # the changed file is refused; the unchanged one goes on where it stopped
    content = open(f, "rb").read()
    times = os.stat(f)
    open(f, "wb").write(content.replace(b"x", b"8"))
    r.fullrack("load", "dbo.t", f, "-b", "3", "--resume", t["load_id"], exit=2)
    check("has changed" in r.err, "message", r.err)
    open(f, "wb").write(content)
    os.utime(f, ns=(times.st_atime_ns, times.st_mtime_ns))
    d = r.json("load", "dbo.t", f, "-b", "3", "-m", "1", "--resume", t["load_id"])
    equal((d["tasks"][0]["rows"], d["rejected"]), (8, 1), "totals after resuming")
    equal(r.sql("SELECT id FROM dbo.t ORDER BY id"), [(i,) for i in (1, 2, 3, 4, 5, 6, 7, 9)], "each row once")
    d = r.json("load", "dbo.t", f, "-b", "3", "-m", "1", "--resume", t["load_id"])
    equal(d["tasks"][0]["rows"], 8, "a done load stays done")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(8,)], "nothing doubled")
    r.fullrack("load", "dbo.t", f, "-b", "3", "-m", "1", "--resume", t["load_id"])
    check("finished before" in r.err, "message", r.err)


def test_resume_of_an_unknown_load_is_refused(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("rows.txt", "1\n2\n")
    unknown = "00000000-1111-2222-3333-444444444444"
    r.fullrack("load", "dbo.t", f, "--resume", unknown, exit=2)
    check(unknown in r.err and "fullrack_ledger" in r.err, "message", r.err)
    r.fullrack("load", "dbo.t", f, "--resume", unknown, "--ledger", "off", exit=2)
    check("--ledger off" in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_failure_names_the_file_once(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, name varchar(9) NULL)")
    f = r.file("rows.txt", "1;a\n")
    r.fullrack("load", "dbo.t", f, "--format", "delimited", exit=1)
    check("failed: %s: row 1" % f in r.err, "message", r.err)
    check("is -t the file's field terminator?" in r.err, "what may help", r.err)


def test_query_shows_datetimeoffset_in_its_own_time(r):
    for text in ("2024-01-01 10:00:00 +02:00", "2024-01-01 00:30:00 +14:00", "2023-12-31 23:30:00 -05:30"):
        out = r.fullrack("query", "-q", "SELECT CAST('%s' AS datetimeoffset(0))" % text)
        equal(out.strip(), text, "value")


def test_resume_with_other_options_is_refused(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("rows.txt", "1\n2\nx\n")
    t = r.json("load", "dbo.t", f, "-b", "1", exit=1)["tasks"][0]
    r.fullrack("load", "dbo.t", f, "-b", "1", "--trim", "--resume", t["load_id"], exit=2)
    check("other options" in r.err, "message", r.err)


def test_several_files_several_workers(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    names = [r.file("part%d.txt" % i, "".join("%d\n" % (i * 1000 + j) for j in range(500))) for i in range(12)]
    d = r.json("load", "dbo.t", os.path.join(r.dir, "part*.txt"), "--workers", "3")
    equal((d["workers"], len(d["tasks"]), d["rows"]), (3, 12, 6000), "workers, tasks, rows")
    equal([os.path.basename(t["source"]) for t in sorted(d["tasks"], key=lambda t: t["task_id"])],
          [os.path.basename(n) for n in names], "natural order")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(6000, 6000)], "rows")


def test_one_bad_file_does_not_stop_the_others(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    a, b = r.file("a.txt", "1\n"), r.file("b.txt", "nonsense\n")
    missing = os.path.join(r.dir, "missing.txt")
    d = r.json("load", "dbo.t", a, b, missing, exit=1)
    states = {os.path.basename(t["source"]): (t["state"], t["error"]) for t in d["tasks"]}
    equal(states["a.txt"][0], "done", "good file")
    check("missing.txt" in states["missing.txt"][1] and "No such file" in states["missing.txt"][1], "message", states)
    equal(r.sql("SELECT id FROM dbo.t"), [(1,)], "rows")


def test_identity_default_computed(r):
    r.fresh("CREATE TABLE dbo.t (id int IDENTITY(1,1) NOT NULL, v varchar(5) NULL DEFAULT 'd', w AS (id * 2), x int NULL)")
    f = r.file("i.csv", "a,1\n,2\n")
    r.fullrack("load", "dbo.t", f, "--format", "csv")
    equal(r.sql("SELECT id, v, w, x FROM dbo.t ORDER BY id"), [(1, "a", 2, 1), (2, "d", 4, 2)], "rows")


def test_load_id_column(r):
    """Every row of a task has its load id, whichever way the row went, and no field is taken for it."""
    text = 'id,v\n1,"a ""b"""\n,"x"\n3,\n"4",yy\n' + "".join("%d,value %d\n" % (i, i) for i in range(5, 3000))
    for engine in ("wire", "bcp"):
        for header in (("--header", "match"), ("--header", "skip"), ("--header", "skip", "--columns", "id,v", "--null", "yy")):
            r.fresh("CREATE TABLE dbo.t (id int NULL, made int IDENTITY NOT NULL, loaded_by uniqueidentifier NOT NULL, v varchar(20) NULL)")
            files = [r.file("%d.csv" % i, text) for i in range(2)]
            d = r.json("load", "dbo.t", *files, "--format", "csv", "--engine", engine, "--load-id-column", "loaded_by", "-b", "1000", *header)
            ids = {t["load_id"].lower() for t in d["tasks"]}
            equal(len(ids), 2, "load ids")
            got = r.sql("SELECT loaded_by, COUNT(*), COUNT(id), MIN(v), MAX(id) FROM dbo.t GROUP BY loaded_by")
            equal({str(row[0]).lower() for row in got}, ids, "%s %s: load ids" % (engine, header))
            equal([row[1:] for row in got], [(2999, 2998, 'a "b"', 2999)] * 2, "rows")
    for name, why in (("nowhere", 'has no column "nowhere"'), ("v", "the column has type varchar, and has to be a uniqueidentifier")):
        r.fullrack("load", "dbo.t", files[0], "--format", "csv", "--header", "skip", "--load-id-column", name, exit=2)
        check("--load-id-column" in r.err and why in r.err, "refused", r.err)


def test_a_file_has_no_field_for_the_load_id(r):
    """A value that would be passed by is refused, not lost without a word."""
    r.fresh("CREATE TABLE dbo.t (id int NULL, loaded_by uniqueidentifier NULL)")
    f = r.file("own.csv", "id,Loaded_By\n1,6F9619FF-8B86-D011-B42D-00C04FC964FF\n")
    for names in (("--header", "match"), ("--header", "skip", "--columns", "id,loaded_by"), ("--format", "auto")):
        r.fullrack("load", "dbo.t", f, "--format", "csv", "--load-id-column", "loaded_by", *names, exit=2)
        check("column loaded_by gets the load id" in r.err, "refused with %r" % (names,), r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")
    d = r.json("load", "dbo.t", f, "--format", "csv", "--header", "skip", "--columns", "id,-", "--load-id-column", "loaded_by")
    equal([(i, str(g).lower()) for i, g in r.sql("SELECT id, loaded_by FROM dbo.t")], [(1, d["tasks"][0]["load_id"].lower())], "a field that is dropped")


def test_constraints_are_honoured(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v int NULL CONSTRAINT ck_v CHECK (v > 0))")
    f = r.file("c.csv", "1,5\n2,-5\n")
    r.fullrack("load", "dbo.t", f, "--format", "csv", exit=1)
    check("ck_v" in r.err and "547" in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_header_errors(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, name varchar(5) NULL)")
    for header, word in (("id,nmae", "nmae"), ("id,id", "twice"), ("name", "id"), ("", "has no column")):
        f = r.file("h.csv", header + "\n1,x\n" if header else "\"\",x\n")
        r.fullrack("load", "dbo.t", f, "--format", "csv", "--header", "match", exit=2)
        check(word in r.err, "message for header %r" % header, r.err)


def test_stdin_is_one_transaction(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fullrack("load", "dbo.t", "-", "-b", "1", input=b"1\n2\nx\n", exit=1)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "nothing stays")
    r.fullrack("load", "dbo.t", "-", "-b", "1", input=b"1\n2\n")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2,)], "rows")


def test_packed_files_in_another_encoding(r):
    """Unpacking and transcoding at once, over many of libarchive's blocks; a last letter that iconv holds back."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(60) NULL)")
    rnd = random.Random(5)
    lines = ["%d\t%s" % (i, "".join(chr(rnd.randint(0x391, 0x3A1)) for _ in range(40))) for i in range(30000)]
    f = r.file("utf16.txt.gz", gzip.compress("\n".join(lines).encode("utf-16"), 1))
    r.fullrack("load", "dbo.t", f)
    equal([v for v, in r.sql("SELECT v FROM dbo.t ORDER BY id")], [line.split("\t")[1] for line in lines], "rows")
    r.sql("DELETE FROM dbo.t")
    f = r.file("hebrew.txt", "1\t\u05e9\u05dc\u05d5\u05dd".encode("cp1255"))
    r.fullrack("load", "dbo.t", f, "-C", "CP1255")
    equal(r.sql("SELECT v FROM dbo.t"), [("\u05e9\u05dc\u05d5\u05dd",)], "the last letter")


def test_failure_does_not_wait_for_stdin(r):
    """The reader waits for a pipe that stays open: a load that has failed ends all the same."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    p = subprocess.Popen(r.command("load", "dbo.t", "-", "--format", "delimited"), stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=r.env())
    try:
        p.stdin.write(b"1\nx\n" * 100)
        p.stdin.flush()
        equal(p.wait(20), 1, "exit status")
        check(b"row 2" in p.stderr.read(), "message")
    finally:
        p.kill()
        p.wait()


def test_resume_learns_the_mapping_from_the_rows_that_count(r):
    """Rows in front of -F do not fix the mapping; when a load goes on, neither."""
    r.fresh("CREATE TABLE dbo.t (n int IDENTITY(1, 1) NOT NULL, id int NOT NULL)")
    f = r.file("map.txt", "7\n7\n1\t1\n2\t2\nx\tx\n4\t4\n")
    t = r.json("load", "dbo.t", f, "-F", "3", "-b", "1", exit=1)["tasks"][0]
    equal(t["rows"], 2, "rows of the first attempt")
    r.fullrack("load", "dbo.t", f, "-F", "3", "-b", "1", "-m", "1", "--resume", t["load_id"])
    equal(r.sql("SELECT id FROM dbo.t ORDER BY id"), [(1,), (2,), (4,)], "rows")


def test_done_load_keeps_its_figures(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("done.csv", "id\n1\n\n2\n3\n")
    first = r.json("load", "dbo.t", f, "--format", "csv", "--header", "skip", "-b", "2")["tasks"][0]
    again = r.json("load", "dbo.t", f, "--format", "csv", "--header", "skip", "-b", "2", "--resume", first["load_id"])["tasks"][0]
    for key in ("rows", "rejected", "skipped", "trimmed_values", "bytes_read"):
        equal(again[key], first[key], key)


def test_bytes_that_are_not_utf8_are_refused(r):
    """Names and options travel as JSON: such a file name made the load wait for ever, such a terminator was dropped."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    path = os.path.join(r.dir.encode(), b"caf\xe9.txt")
    open(path, "wb").write(b"1\n")
    good = r.file("good.txt", "1\n").encode()
    for args in ([path], [r.dir.encode() + b"/caf*.txt"], [good, b"-t", b"\xa6"]):
        p = subprocess.run([a.encode() for a in r.command("load", "dbo.t")] + args, capture_output=True, env=r.env(), timeout=30)
        equal(p.returncode, 2, "exit status of %r" % args)
        check(b"not UTF-8" in p.stderr, "message of %r" % args, p.stderr)


def test_packed_file_of_nothing(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    equal(r.json("load", "dbo.t", r.file("nothing.gz", gzip.compress(b"")))["rows"], 0, "rows")


def test_options_that_are_too_long(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("wide.txt", "x\t" * 9000 + "1\n")
    r.fullrack("load", "dbo.t", f, "--columns", "-," * 19000 + "id", exit=2)
    check("longer than" in r.err, "message", r.err)


def test_wrong_usage(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    for args, word in ((("load", "dbo.t"), "FILE"), (("load", "dbo.t", "x", "--formt", "csv"), "--format"),
                       (("load", "dbo.t", "x", "-b", "-5"), "-b: -5"), (("load", "a.b.c.d", "/etc/hostname"), "three"),
                       (("load", "dbo.t", "x", "--null"), "TEXT"), (("load", "dbo.t", "-", "x"), "standard input"),
                       (("load", "dbo.t", "x", "--resume", "7"), "load id")):
        r.fullrack(*args, exit=2)
        check(word in r.err, "message of %r" % (args,), r.err)


def test_unknown_table_and_other_database(r):
    f = r.file("x.txt", "1\n")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fullrack("load", "dbo.nosuch", f, exit=1)
    check("dbo.nosuch" in r.err, "message", r.err)
    r.fullrack("load", "master.dbo.t", f, exit=2)
    check("-d master" in r.err, "message", r.err)


def test_cannot_connect(r):
    f = r.file("x.txt", "1\n")
    address, r.address = r.address, "127.0.0.1:1"
    try:
        r.fullrack("load", "dbo.t", f, exit=3)
        check("127.0.0.1:1" in r.err and "refused" in r.err, "message", r.err)
    finally:
        r.address = address
    r.fullrack("load", "dbo.t", f, exit=3, env=dict(r.env(), FULLRACK_PASSWORD="wrong-Password-9"))
    check("18456" in r.err and "wrong-Password-9" not in r.err, "message", r.err)


def test_frozen_server(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("x.txt", "1\n")
    r.freeze_server()
    try:
        started = time.monotonic()
        r.fullrack("load", "dbo.t", f, "--login-timeout", "2", "--statement-timeout", "2", "--retry-for", "1", exit=3)
        check(time.monotonic() - started < 30, "took too long")
        check("127.0.0.1" in r.err, "message", r.err)
    finally:
        r.thaw_server()


def test_server_freezes_during_the_load(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    fifo = os.path.join(r.dir, "fifo")
    os.mkfifo(fifo)
    p = r.spawn("load", "dbo.t", fifo, "--format", "delimited", "--statement-timeout", "2", "--login-timeout", "2",
                "--retry-for", "1")
    with open(fifo, "wb", buffering=0) as w:
        w.write(b"1\n" * 1000)
        time.sleep(1)
        r.freeze_server()
        try:
            try:
                w.write(b"2\n")
            except BrokenPipeError:
                pass
            w.close()
            out, err = p.communicate(timeout=60)
        finally:
            r.thaw_server()
    os.unlink(fifo)
    equal(p.returncode, 1, "exit status (%s)" % err)
    check("silent for 2 s" in err or "timed out" in err, "message", err)
    equal(wait_until("rolled back", 20, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")), [(0,)], "rows")


def test_full_disk_for_rejects(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("x.txt", "1\nx\n2\n")
    r.fullrack("load", "dbo.t", f, "-m", "5", "-e", "/dev/full", exit=1)
    check("/dev/full" in r.err and "No space left" in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "the batch was rolled back")


def test_interrupt_keeps_what_is_whole(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("many.txt", "".join("%d\n" % i for i in range(2000000)))
    p = r.spawn("load", "dbo.t", f, "-b", "10000", "--json")
    wait_until("rows arrive", 60, lambda: r.sql("SELECT COUNT(*) FROM dbo.t")[0][0] > 0)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    equal(p.returncode, 4, "exit status (%s)" % err)
    t = json.loads(out)["tasks"][0]
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(t["rows"], t["rows"])], "reported rows are the rows there")
    d = r.json("load", "dbo.t", f, "-b", "100000", "--resume", t["load_id"])
    equal(d["rows"], 2000000, "rows after resuming")
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM dbo.t"), [(2000000, 2000000)], "each row once")


def test_interrupt_while_waiting_for_a_fifo(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    fifo = os.path.join(r.dir, "fifo3")
    os.mkfifo(fifo)
    for writes in (False, True):
        p = r.spawn("load", "dbo.t", fifo)
        workers = wait_until("the worker", 10, lambda: workers_of(p.pid))
        w = open(fifo, "wb", buffering=0) if writes else None
        if w:
            w.write(b"1\n")
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        equal(p.returncode, 4, "exit status (%s)" % err)
        check(not os.path.exists("/proc/%d" % workers[0]), "the worker is still there")
        if w:
            w.close()
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "nothing stays of a stream")


def test_password_is_nowhere(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    fifo = os.path.join(r.dir, "fifo2")
    os.mkfifo(fifo)
    p = subprocess.Popen(r.command("load", "dbo.t", fifo, "-P", PASSWORD), env={k: v for k, v in r.env().items()
                         if k != "FULLRACK_PASSWORD"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    r.started.append(p)
    with open(fifo, "wb") as w:
        children = children_of(p.pid) + wait_until("the worker", 10, lambda: workers_of(p.pid))
        time.sleep(0.3)
        for pid in [p.pid] + children:
            check(PASSWORD.encode() not in open("/proc/%d/cmdline" % pid, "rb").read(), "password in argv of %d" % pid)
        for pid in children:
            check(PASSWORD.encode() not in open("/proc/%d/environ" % pid, "rb").read(), "password in a child's environment")
        w.write(b"1\n")
    out, err = p.communicate(timeout=30)
    equal(p.returncode, 0, "exit status (%r)" % err)
    check(PASSWORD.encode() not in out + err, "password in the output")


def test_options_from_environment_and_file(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b int NULL)")
    f = r.file("x.txt", "1;2\n")
    config = r.file("c.json", json.dumps({"field-terminator": ";", "retry-for": 3}))
    r.fullrack("load", "dbo.t", f, "--config", config)
    r.fullrack("load", "dbo.t", f, env=r.env(FULLRACK_FIELD_TERMINATOR=";"))
    r.fullrack("load", "dbo.t", f, "--config", config, env=r.env(FULLRACK_FIELD_TERMINATOR=","), exit=1)
    r.fullrack("load", "dbo.t", f, "-t", ";", env=r.env(FULLRACK_FIELD_TERMINATOR=","))
    r.fullrack("load", "dbo.t", f, "--config", r.file("bad.json", '{"max-erors": 1}'), exit=2)
    check("max-erors" in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(3,)], "rows")


def test_names_and_values_that_are_not_utf8(r):
    """JSON carries names to the workers: what it cannot hold is said at once, and no malformed value breaks a message."""
    r.fresh("CREATE TABLE dbo.t (v varchar(20) NULL)")
    name = os.path.join(r.dir.encode(), b"lat\xe9in.txt")
    open(name, "wb").write(b"x\n")
    for args in (("load", "dbo.t", os.fsdecode(name)), ("load", "dbo.t", os.path.join(r.dir, "lat*in.txt")),
                 ("load", os.fsdecode(b"t\xe9"), "x"), ("load", "dbo.t", "x", "-t", os.fsdecode(b"\xa7"))):
        r.fullrack(*args, exit=2)
        check("UTF-8" in r.err, "message of %r" % (args,), r.err)
    f = r.file("bad.txt", b"ok\n\xed\xa0\x80\n\xc0\x80\n\xf4\x90\x80\x80\n")
    e = os.path.join(r.dir, "rejects8")
    d = r.json("load", "dbo.t", f, "-m", "5", "-e", e)
    equal((d["rows"], d["rejected"]), (1, 3), "counts")
    equal(open(e, "rb").read(), b"\xed\xa0\x80\n\xc0\x80\n\xf4\x90\x80\x80\n", "reject file")
    long_name = r.file("x" + "\u00e9" * 100, b"a" * 30 + b"\n")
    for _ in range(2):      # a text that is cut in the middle of a character
        r.fullrack("load", "dbo.t", long_name, exit=1)
        check("takes 20" in r.err, "message", r.err)


def test_rejects_never_overwrite(r):
    """Neither the source, nor the rejects of another source, nor NULs for a reject file that is gone."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("src.txt", "1\nx\n2\n")
    link = os.path.join(r.dir, "link.txt")
    os.symlink(f, link)
    notes = r.file("n.json", "1\nx\n2\n")
    for source, e in ((f, f), (f, link), (notes, os.path.join(r.dir, "n"))):
        r.fullrack("load", "dbo.t", source, "-m", "5", "-e", e, exit=2)
        check("overwrite" in r.err, "message", r.err)
        equal(open(source).read(), "1\nx\n2\n", "the source")
    for folder in ("one", "two"):
        os.mkdir(os.path.join(r.dir, folder))
    a, b = r.file("one/same.csv", "1\nx\n"), r.file("two/same.csv", "2\ny\n")
    r.fullrack("load", "dbo.t", a, b, "-m", "5", "-e", os.path.join(r.dir, "rj"), exit=2)
    check("share" in r.err, "message", r.err)
    e = os.path.join(r.dir, "gone")
    g = r.file("g.txt", "x\n1\n2\n3\ny\nz\n")
    t = r.json("load", "dbo.t", g, "-b", "2", "-m", "1", "-e", e, exit=1)["tasks"][0]
    os.unlink(e)
    r.fullrack("load", "dbo.t", g, "-b", "2", "-m", "9", "-e", e, "--resume", t["load_id"], exit=2)
    check("0 bytes of the 2" in r.err, "message", r.err)
    open(e, "w").write("x\nnot committed")
    d = r.json("load", "dbo.t", g, "-b", "2", "-m", "9", "-e", e, "--resume", t["load_id"])
    equal((d["rows"], d["rejected"]), (3, 3), "counts")
    equal(open(e).read(), "x\ny\nz\n", "reject file")


def test_compressed_nothing_and_look_alikes(r):
    import bz2, gzip, lzma
    r.fresh("CREATE TABLE dbo.t (v varchar(20) NULL)")
    for name, content, rows in (("n.gz", gzip.compress(b""), 0), ("n.bz2", bz2.compress(b""), 0), ("n.xz", lzma.compress(b""), 0),
                                ("t.gz", gzip.compress(b"a\nb\n"), 2), ("t.bz2", bz2.compress(b"a\nb\n"), 2),
                                ("text", b"BZhang\n", 1), ("text9", b"BZh9\n", 1)):
        equal(r.json("load", "dbo.t", r.file(name, content))["rows"], rows, name)
    r.fullrack("load", "dbo.t", r.file("cut.gz", gzip.compress(b"a\nb\n" * 50)[:20]), exit=1)
    check("cut.gz: row 101 (byte 200): unpacking, at byte 20 of the file: it ends in the middle" in r.err, "message", r.err)


def test_file_changes_during_the_load(r):
    """A last row may be half written: nothing of an unfinished batch stays."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    for change in (lambda f: f.write(b"12"), lambda f: f.truncate(20000001)):
        r.sql("DELETE FROM dbo.t")
        path = r.file("grows.txt", b"1000000\n" * 3000000)
        p = r.spawn("load", "dbo.t", path, "-b", "0")
        worker = wait_until("the worker", 10, lambda: workers_of(p.pid))[0]
        wait_until("it reads", 30, lambda: any(os.path.realpath("/proc/%d/fd/%s" % (worker, n)) == path
                                              for n in os.listdir("/proc/%d/fd" % worker)))
        with open(path, "r+b") as f:
            f.seek(0, 2)
            change(f)
        out, err = p.communicate(timeout=100)
        equal(p.returncode, 1, "exit status (%s)" % err)
        check("changed while it was loaded" in err, "message", err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_done_load_resumed(r):
    """The figures come back whole; another source under the id of a done load is refused, not taken for loaded."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(5) NULL)")
    f, g = r.file("f.csv", "id,v\n1,a\n\n2,b\n"), r.file("g.csv", "id,v\n7,a\n")
    t = r.json("load", "dbo.t", f, "--format", "csv", "--header", "match")["tasks"][0]
    again = r.json("load", "dbo.t", f, "--format", "csv", "--header", "match", "--resume", t["load_id"])["tasks"][0]
    for key in ("state", "rows", "rejected", "skipped", "bytes_read"):
        equal(again[key], t[key], key)
    r.fullrack("load", "dbo.t", g, "--format", "csv", "--header", "match", "--resume", t["load_id"], exit=2)
    check("has changed" in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2,)], "rows")


def test_resume_maps_as_the_start_did(r):
    """Rows in front of -F do not fix the mapping, neither at first nor when it is learnt again."""
    r.fresh("CREATE TABLE dbo.t (id int IDENTITY(1,1) NOT NULL, a int NOT NULL)")
    f = r.file("m.csv", "7,7\n10\n20\nx\n30\n")
    t = r.json("load", "dbo.t", f, "--format", "csv", "-F", "2", "-b", "1", exit=1)["tasks"][0]
    equal(t["rows"], 2, "rows before the bad one")
    d = r.json("load", "dbo.t", f, "--format", "csv", "-F", "2", "-b", "1", "-m", "1", "--resume", t["load_id"])
    equal((d["rows"], d["rejected"]), (3, 1), "counts")
    equal(r.sql("SELECT a FROM dbo.t ORDER BY a"), [(10,), (20,), (30,)], "rows")


def test_closed_standard_streams(r):
    """A socket or a file of ours must not get their numbers."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("one.txt", "1\nx\n")
    command = " ".join("'%s'" % a for a in r.command("load", "dbo.t", f, "-m", "1"))
    for closed, status in (("<&-", 0), ("2>&-", 0), (">&-", 1), ("<&- >&- 2>&-", 1)):
        p = subprocess.run(["sh", "-c", "exec %s %s" % (command, closed)], capture_output=True, env=r.env(), timeout=60)
        equal(p.returncode, status, "exit status with %s (%r)" % (closed, p.stderr))
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(4,)], "rows")
    p = subprocess.run(["sh", "-c", "exec %s <&-" % command.replace(f, "-")], capture_output=True, env=r.env(), timeout=60)
    equal(p.returncode, 1, "exit status of a load from nowhere (%r)" % p.stderr)


def test_flags_in_the_environment(r):
    r.fresh("CREATE TABLE dbo.t (v varchar(9) NULL)")
    f = r.file("x.txt", " a \n")
    for value in ("off", "0", "no", "false"):
        r.fullrack("load", "dbo.t", f, env=r.env(FULLRACK_TRIM=value))
    equal(r.sql("SELECT DISTINCT DATALENGTH(v) FROM dbo.t"), [(3,)], "lengths")
    r.fullrack("load", "dbo.t", f, env=r.env(FULLRACK_TRIM="maybe"), exit=2)
    check("FULLRACK_TRIM" in r.err, "message", r.err)


def test_rejects_of_a_batch_that_is_rolled_back(r):
    """What a batch refused is in the file when the batch is committed, or not at all."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(5) NULL)")
    f, e = r.file("rj.csv", "1,a\nx,b\n3,c\ny,d\nz,e\n6,f\n"), os.path.join(r.dir, "rj.bad")
    r.fullrack("load", "dbo.t", f, "--format", "csv", "-b", "2", "-m", "2", "-e", e, exit=1)
    equal(open(e).read(), "x,b\ny,d\n", "rejects of the committed batches")
    equal(len(open(e + ".json").readlines()), 2, "their reasons")
    r.fullrack("load", "dbo.t", f, "--format", "csv", "-e", e, exit=1)
    equal((open(e).read(), open(e + ".json").read()), ("", ""), "nothing was committed")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
