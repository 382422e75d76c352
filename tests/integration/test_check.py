#!/usr/bin/python3
"""test_check.py - --format auto: what it finds, that it says so, and that a load which goes on finds the same; fullrack check."""
import csv, datetime, decimal, gzip, io, json, os, random, signal, subprocess, sys, uuid
from rack import BUILD, check, equal, main, signals_as_from_a_terminal, tests_of

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
    # what was looked at is loaded, too, as is what lies behind it
    text = "id;name\n" + "".join("%d;é%d\n" % (i, i) for i in range(20000))
    check(len(text) > 3 * 65536, "longer than what is looked at")
    for name, content in (("text", text.encode()), ("packed", gzip.compress(text.encode())), ("wide", text.encode("utf-16-le")),
                          ("wide, packed", gzip.compress(text.encode("utf-16")))):
        r.fresh(TABLE)
        equal(r.json("load", "dbo.t", "-", input=content)["rows"], 20000, name)
        equal(r.sql("SELECT COUNT(*), SUM(CAST(id AS bigint)), COUNT(DISTINCT name), MIN(id) FROM dbo.t WHERE name = N'é' + "
                    "CAST(id AS nvarchar(9))"), [(20000, 199990000, 20000, 0)], name)


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


PAIR = "CREATE TABLE dbo.t (a nvarchar(30) NULL, b nvarchar(30) NULL)"


def test_quotes_and_delimiters(r):
    """What cannot be read as it was meant is refused; no half of a quoted value is ever loaded."""
    for content, options, want, rejected in (
            ('1,"a"\n2,"b" c\n', (), [("1", "a")], 1),
            ('1;"a"\n2;"b" c\n', ("-t", ";"), [("1", "a")], 1),
            ('a,b\n1,"a"\n51,"Hi\n', (), [("1", "a")], 1),
            ("1|'a;b'\n2|'c;d'\n", ("--quote", "'"), [("1", "a;b"), ("2", "c;d")], 0),
            ('1,"x;y"\n2,"z|w"\n3,"u\tv"\n', (), [("1", "x;y"), ("2", "z|w"), ("3", "u\tv")], 0),
            ('1;"x|y"\n2;"z|w"\n', (), [("1", "x|y"), ("2", "z|w")], 0),
            ('1,"2\n3"\r3,4\r', (), [("1", "2\n3"), ("3", "4")], 0),
            ("a\xa7b\n1\xa7\xe9\n".encode("latin-1"), ("-t", "0xa7", "-C", "CP1252"), [("1", "\xe9")], 0),
            ("id,b\n1,2\n", ("--columns", "-,b"), [(None, "2")], 0)):
        r.fresh(PAIR)
        doc = r.json("load", "dbo.t", r.file("f", content), "-m", "5", *options)
        equal((r.sql("SELECT a, b FROM dbo.t ORDER BY a"), doc["rejected"]), (want, rejected), content)


def test_rows_that_end_with_a_delimiter(r):
    """A field is not dropped for a column that the server fills where the row's end may be empty."""
    for table in ("id int IDENTITY NOT NULL, a nvarchar(9), b nvarchar(9)", "a nvarchar(9), x AS UPPER(a), b nvarchar(9)"):
        for d in "|;":
            r.fresh("CREATE TABLE dbo.t (%s)" % table)
            r.fullrack("load", "dbo.t", r.file("f", "x|y|\nz|w|\n".replace("|", d)))
            equal(r.sql("SELECT a, b FROM dbo.t ORDER BY a"), [("x", "y"), ("z", "w")], table)


def test_lines_in_quotes_of_one_column(r):
    long = "".join("line %d, and more\n" % i for i in range(8000))
    for content, want in (('a,b\n"x\ny"\nc\n', ["a,b", "c", "x\ny"]), ('"%s"\nc\n' % long, ["c", long])):
        r.fresh("CREATE TABLE dbo.t (a nvarchar(max) NULL)")
        r.fullrack("load", "dbo.t", r.file("f", content))
        equal(sorted(v for v, in r.sql("SELECT a FROM dbo.t")), want, "values")


def test_headers_in_other_letters(r):
    r.fresh('CREATE TABLE dbo.t ([m\xfcnze] int NULL, [q"r] int NULL, [\u03b5\u03c4\u03bf\u03c2] int NULL)')
    f = r.file("f", '"Q""R",M\xdcNZE,\u0395\u03a4\u039f\u03a3\n1,2,3\n')
    r.fullrack("load", "dbo.t", f)
    r.fullrack("load", "dbo.t", f, "--format", "csv", "--header", "match")
    equal(r.sql('SELECT * FROM dbo.t'), [(2, 1, 3)] * 2, "rows")


def test_what_auto_does_not_load_as_rows(r):
    r.fresh(PAIR)
    r.fullrack("load", "dbo.t", r.file("excel.csv", "sep=;\na;b\n1;2\n"), exit=1)
    check("excel.csv: its first line is Excel's sep=;" in r.err, "refused", r.err)
    r.fresh_control()
    r.fullrack("add", "dbo.t", r.file("excel.csv", "sep=;\na;b\n1;2\n"), exit=1)
    check("excel.csv: its first line is Excel's sep=;" in r.err, "refused by add, too", r.err)
    r.fullrack("load", "dbo.t", r.file("excel.csv", "sep=;\na;b\n1;2\n"), "-t", ";", "--columns", "a,b", "-F", "3")
    equal(r.sql("SELECT a, b FROM dbo.t"), [("1", "2")], "the way that is named")
    out = r.fullrack("check", "dbo.t", r.file("wide.csv", "1,\u0141\xf3d\u017a\n2,\u0141\xf3d\u017a\n".encode("utf-16-le")), exit=1)
    check("UTF-16 without a byte order mark: give the encoding with -C UTF-16" in out, "the cure", out, r.err)
    out, err = offline("check", "dbo.t", r.file("wide.csv", "1,\u0141\xf3d\u017a\n2,\u0141\u0119\n".encode("utf-16-be")), "--suggest-table", exit=1)
    check("give the encoding with -C UTF-16BE" in err and out == "", "no table of half characters", out, err)


def test_quotes_behind_what_is_looked_at(r):
    """They are data between tabs, and that is said, once and with the row."""
    r.fresh(PAIR)
    text = "".join("%d\tvalue %d\n" % (i, i) for i in range(8000)) + '"x\ty"\n1\t"z"\n2\t"w"\n'
    out = r.fullrack("load", "dbo.t", r.file("f", text))
    check(out.count("; row 8002 has a value in quotes") == 1 and "--format csv takes them off" in out, "said", out)
    equal(r.sql("SELECT a FROM dbo.t WHERE b = N'\"z\"'"), [("1",)], "as it stands")
    out = r.fullrack("load", "dbo.t", r.file("f", text), "--format", "delimited")
    check("in quotes" not in out, "who says what is meant is told nothing", out)


# -- fullrack check

CITY = "CREATE TABLE dbo.t (id int NOT NULL, name nvarchar(6) NULL, code varchar(2) NOT NULL DEFAULT 'x', born date NULL)"
CITIES = "id,name,code,born\n1,Köln,DE,0050-01-01\n2,Villach,AT,1\n3,Łódź,ŁÓ,1423-07-29\n4,Bonn\n5,Bern,,\n6,Ulm,DEU,\n"


def offline(*args, exit=0, input=None):
    """A command without a server; what it printed, and what it complained of."""
    p = subprocess.run([os.path.join(BUILD, "fullrack")] + list(args), input=input, capture_output=True, timeout=60,
                       env={k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")})
    out, err = p.stdout.decode(), p.stderr.decode()
    check(p.returncode == exit, "fullrack %s: exit %d, expected %d" % (" ".join(args), p.returncode, exit), out, err)
    return out, err


def test_check_is_as_a_load(r):
    """The same rows are refused for the same reasons, by the table and by its script, with either engine."""
    f, ddl = r.file("cities.csv", CITIES), r.file("city.sql", "SET NOCOUNT ON\nGO\n%s\nGO\n" % CITY)
    for engine in ("wire", "bcp"):
        r.fresh(CITY)
        notes = []
        for n, args in enumerate((("load",), ("check",), ("check", "--ddl", ddl))):
            e = os.path.join(r.dir, "bad%d" % n)
            command = (args[0], "dbo.t", f, "-m", "9", "-e", e, "--engine", engine) + args[1:]
            if args[1:]:
                offline(*command, exit=1)
            else:
                r.fullrack(*command, exit=1 if args[0] == "check" else 0)
            notes.append([json.loads(line) for line in open(e + ".json")])
            equal(open(e, "rb").read().count(b"\n"), len(notes[-1]) + 1, "the header and the rejected rows")
        equal(notes[1], notes[0], "the table's")
        equal(notes[2], notes[0], "the script's")
        equal([n["row"] for n in notes[0]], [2, 3, 4, 6] if engine == "wire" else [2, 3, 4, 5, 6], "rows refused")
        loaded = r.sql("SELECT COUNT(*) FROM dbo.t")[0][0]
        doc = r.json("check", "dbo.t", f, "--engine", engine, exit=1)
        equal((doc["rows"], doc["rejected"], doc["skipped"]), (loaded, 6 - loaded, 1), "counts")
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(loaded,)], "nothing was loaded")


def test_check_says_what_would_do(r):
    f, ddl = r.file("cities.csv", CITIES), r.file("city.sql", CITY)
    doc = json.loads(offline("check", "dbo.t", f, "--ddl", ddl, "--json", exit=1)[0])
    equal([(c["name"], c["type"], c["longest"], c["too_short"], c["suggested"]) for c in doc["columns"]],
          [("name", "nvarchar(6)", 7, True, "nvarchar(10)"), ("code", "varchar(2)", 3, True, "varchar(3)")], "columns")
    equal(doc["files"][0]["format"]["options"], "--format csv -t , --header match", "format")
    check("column name: \"Villach\" is 7 UTF-16 units long" in doc["files"][0]["messages"][0], "message", doc)
    out, err = offline("check", "dbo.t", f, "--ddl", ddl, exit=1)
    check("2 rows would be loaded, 4 rejected, 1 skipped" in out, "counts", out)
    check("nvarchar(6)  7: too short, nvarchar(10) would do" in out, "width", out)
    check("format: csv, fields by" in out and "--header match says so" in out, "format", out)
    check(err.count("rejected: ") == 4, "messages", err)
    good = r.file("good.csv", "id,name,code\n1,Köln,DE\n")
    equal(offline("check", "dbo.t", good, "--ddl", ddl, "-q"), ("", ""), "nothing to say")
    out, err = offline("check", "dbo.t", f, "--ddl", ddl, "-m", "1", exit=1)
    check("row 3" in err and "row 4" not in err, "the second bad row ends it", err)


def test_check_of_every_source(r):
    ddl = r.file("city.sql", CITY)
    text = b"id;name;code\n1;a;b\n2;c;d\n"
    equal(json.loads(offline("check", "t", "-", "--ddl", ddl, "--json", input=text)[0])["rows"], 2, "standard input")
    packed = r.file("p.csv.gz", gzip.compress(text))
    out, err = offline("check", "t", os.path.join(r.dir, "none.csv"), packed, "--ddl", ddl, exit=1)
    check("none.csv: No such file" in err and "p.csv.gz: 2 rows would be loaded" in out, "the others go on", out, err)
    cut = r.file("cut.csv.gz", gzip.compress(text)[:-3])
    check("cut off" in offline("check", "t", cut, "--ddl", ddl, exit=1)[1], "damaged")
    offline("check", "t", r.file("h.csv", "id;nome;code\n1;a;b\n"), "--ddl", ddl, "--header", "match", "-t", ";", exit=2)
    check("line 1, at \"nvarchat\"" in offline("check", "t", packed, "--ddl", r.file("bad.sql", CITY.replace("nvarchar", "nvarchat")),
                                             exit=1)[1], "a script that is not understood")
    check("no table dbo.nothing" in (r.fullrack("check", "dbo.nothing", packed, exit=1), r.err)[1], "a table that is not there")
    latin = r.file("latin.csv", "1,é,x\n".encode("cp1252"))
    out, err = offline("check", "t", latin, "--ddl", ddl, "--columns", "id,name,code", exit=1)
    check("is not valid UTF-8" in err and "-C CP1252" not in err and "CP1252" in out, "the cure", out, err)
    offline("check", "t", latin, "--ddl", ddl, "--columns", "id,name,code", "-C", "CP1252")


def test_check_can_be_interrupted(r):
    fifo = os.path.join(r.dir, "check-fifo")
    os.mkfifo(fifo)
    for args in (("--ddl", r.file("city.sql", CITY)), ("--suggest-table",)):
        p = subprocess.Popen([os.path.join(BUILD, "fullrack"), "check", "t", fifo] + list(args),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=signals_as_from_a_terminal)
        r.started.append(p)
        with open(fifo, "wb", buffering=0) as w:        # returns when the check reads
            w.write(b"1,a,b,\n")
            p.send_signal(signal.SIGINT)
            equal(p.wait(20), 4, "exit status (%s)" % args[0])
    os.unlink(fifo)


# -- fullrack check --suggest-table

def suggested(r, table, *files, exit=0, **more):
    return json.loads(offline("check", table, *files, "--suggest-table", "--json", exit=exit, **more)[0])


def test_suggested_types(r):
    for values, want in (
            (["1", "-5", "2147483647"], "int NOT NULL"),
            (["1", "", "2"], "int NULL"),
            (["1", "2147483648"], "bigint NOT NULL"),
            (["9223372036854775808"], "decimal(19,0) NOT NULL"),
            (["1", "2.50"], "decimal(3,2) NOT NULL"),
            (["007", "8"], "varchar(3) NOT NULL"),
            (["+1"], "varchar(2) NOT NULL"),
            (["1.5e3", "2"], "float NOT NULL"),
            (["12E4"], "varchar(4) NOT NULL"),
            (["-0"], "float NOT NULL"),
            (["true", "FALSE"], "bit NOT NULL"),
            (["0", "1"], "int NOT NULL"),
            (["2024-02-29", "0001-01-01"], "date NOT NULL"),
            (["2023-02-29"], "varchar(10) NOT NULL"),
            (["2024-01-01", "2024-01-01 10:00:00.125"], "datetime2(3) NOT NULL"),
            (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00.5+02:00"], "datetimeoffset(1) NOT NULL"),
            (["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], "varchar(20) NOT NULL"),
            (["10:00", "23:59:59.1234567"], "time(7) NOT NULL"),
            (["24:00"], "varchar(5) NOT NULL"),
            ([str(uuid.uuid4())], "uniqueidentifier NOT NULL"),
            (["x" * 21], "varchar(30) NOT NULL"),
            (["é" * 9], "nvarchar(10) NOT NULL"),
            (["x" * 8001], "varchar(max) NOT NULL"),
            (["é" * 4001], "nvarchar(max) NOT NULL"),
            (["", ""], "nvarchar(50) NULL")):
        f = r.file("v.csv", "k;v\n" + "".join("%d;%s\n" % kv for kv in enumerate(values)))
        columns = suggested(r, "t", f)["columns"]
        equal([c["name"] for c in columns], ["k", "v"], "names")
        equal("%s %s" % (columns[1]["type"], "NULL" if columns[1]["nullable"] else "NOT NULL"), want, values)


def test_a_suggested_table_is_a_statement(r):
    """As `fullrack query "$(cat FILE)"` takes it: no option in front."""
    f = r.file("f.csv", '1,"x;y"\r2,z\r')
    out, err = offline("check", "dbo.q", f, "--suggest-table")
    check(out.startswith("CREATE TABLE [dbo].[q] (") and "-- fits 2 rows of " in out and "-r '\\r')" in out, "text", out)
    r.fresh("CREATE TABLE dbo.t (a int)")
    r.sql("DROP TABLE IF EXISTS dbo.q")
    r.fullrack("query", out)
    r.fullrack("load", "dbo.q", f)
    equal(r.sql("SELECT c1, c2 FROM dbo.q ORDER BY c1"), [(1, "x;y"), (2, "z")], "rows")
    r.sql("DROP TABLE dbo.q")
    out, err = offline("check", "t", r.file("bad.csv", '1,"x"\n2,"y"z\n'), "--suggest-table", exit=1)
    check("1 row does not fit into this table" in err, "count", err)


def test_suggested_tables_take_their_files(r):
    """Random files: the table is made, the file loaded without a further word, every cell compared."""
    rng = random.Random(20)
    day = datetime.date(2000, 1, 1)
    kinds = [lambda: rng.randrange(-10 ** 6, 10 ** 6), lambda: rng.randrange(10 ** 15),
             lambda: decimal.Decimal(rng.randrange(10 ** 9)).scaleb(-3), lambda: day + datetime.timedelta(rng.randrange(20000)),
             lambda: "%05d" % rng.randrange(99999), lambda: rng.choice(["a", "b,c", 'say "x"', "é;ü", "line\nline", "|"]),
             lambda: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=rng.randrange(10 ** 8)),
             lambda: uuid.UUID(int=rng.getrandbits(128)), lambda: "t%d" % rng.randrange(10 ** rng.randrange(1, 30))]
    for case in range(12):
        columns = [rng.choice(kinds) for _ in range(rng.randrange(2, 9))]
        cells = [[None if rng.random() < .1 else kind() for kind in columns] for _ in range(rng.randrange(2, 400))]
        out = io.StringIO()
        w = csv.writer(out, delimiter=rng.choice(",;\t|"), lineterminator=rng.choice(["\n", "\r\n"]))
        if rng.random() < .6:
            w.writerow(["col %d" % i for i in range(len(columns))])
        w.writerows([["" if v is None else v for v in row] for row in cells])
        f = r.file("random%d.csv" % case, out.getvalue())
        doc = suggested(r, "dbo.t", f)
        equal((doc["rows"], doc["rejected"], len(doc["columns"])), (len(cells), 0, len(columns)), "case %d: rows" % case)
        r.fresh(doc["sql"])
        equal(r.json("load", "dbo.t", f)["rows"], len(cells), "case %d: loaded" % case)
        got = r.sql("SELECT * FROM dbo.t")
        text = lambda v: None if v is None else str(v) if not isinstance(v, decimal.Decimal) else format(v.normalize(), "f")
        equal(sorted(str([text(v) for v in row]) for row in got), sorted(str([text(v) for v in row]) for row in cells),
              "case %d: cells" % case)


def test_suggested_table_of_public_data(r):
    f = "/usr/share/unicode/UnicodeData.txt"
    doc = suggested(r, "dbo.t", f)
    r.fresh(doc["sql"])
    lines = open(f, encoding="utf-8").read().splitlines()
    equal(r.json("load", "dbo.t", f)["rows"], len(lines), "rows")
    got = r.sql("SELECT * FROM dbo.t")
    equal(sorted(";".join("" if v is None else str(v) for v in row) for row in got), sorted(lines), "cells")


def test_suggested_for_several_files_and_pipes(r):
    a, b = r.file("s1.csv", "id,v\n1,x\n"), r.file("s2.csv", "v;id\nlonger than the other;5000000000\n;7\n")
    doc = suggested(r, "[my schema].t", a, b)
    equal([(c["name"], c["type"], c["nullable"]) for c in doc["columns"]],
          [("id", "bigint", False), ("v", "varchar(30)", True)], "columns")
    check(doc["sql"].startswith("CREATE TABLE [my schema].[t] (\n    [id] bigint NOT NULL,\n"), "sql", doc["sql"])
    equal(suggested(r, "t", "-", input=open(a, "rb").read())["columns"], suggested(r, "t", a)["columns"], "standard input")
    words = suggested(r, "t", r.file("words.txt", "some words\nof text\n"))
    equal((words["rows"], [c["name"] for c in words["columns"]]), (2, ["c1"]), "a line is no header")
    numbers = suggested(r, "t", r.file("numbers.txt", "id\n1\n2\n"))
    equal((numbers["rows"], [c["name"] for c in numbers["columns"]]), (2, ["id"]), "a word over numbers is one")
    offline("check", "t", r.file("none.csv", ""), "--suggest-table", exit=1)
    offline("check", "t", a, "--suggest-table", "--format", "bcp", exit=2)
    ragged = suggested(r, "t", r.file("ragged.csv", "a,b\n" + "1,2\n" * 20 + "3\n"), exit=1)
    equal((ragged["rows"], ragged["rejected"]), (20, 1), "a row that does not fit")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
