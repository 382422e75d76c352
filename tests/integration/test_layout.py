#!/usr/bin/python3
"""fullrack load of files with a layout of their own: fixed width, bcp format files, native data."""
import decimal, gzip, os, struct, subprocess, sys
import rack
from rack import *

FREEBCP_TYPES = ("bit", "tinyint", "smallint", "int", "bigint", "real", "float", "smallmoney", "money", "decimal(9,2)", "decimal(38,4)", "numeric(18,0)",
                 "date", "time(3)", "time(7)", "datetime", "smalldatetime", "datetime2(3)", "datetimeoffset(4)", "char(5)", "varchar(10)", "varchar(max)",
                 "text", "nchar(3)", "nvarchar(5)", "nvarchar(max)", "ntext", "binary(3)", "varbinary(5)", "varbinary(max)", "image", "uniqueidentifier")
LOW = ("0", "0", "-32768", "-2147483648", "-9223372036854775808", "-1.5", "-2.25E+300", "-214748.3648", "-922337203685477.5808", "-9999999.99",
       "-9999999999999999999999999999999999.9999", "-7", "'0001-01-01'", "'00:00:00.001'", "'00:00:00.0000001'", "'1753-01-01 00:00:00.003'",
       "'1900-01-01 00:01'", "'0001-01-01 00:00:00.001'", "'0001-01-02 00:30:00.0001 +14:00'", "'a'", "'x y'", "'m'", "'t'", "N'\u00e9'", "N'\u0416b'",
       "N'm\u00f6'", "N'n'", "0x00", "0x0a0b", "0xff00", "0x1234", "'00112233-4455-6677-8899-aabbccddeeff'")
HIGH = ("1", "255", "32767", "2147483647", "9223372036854775807", "3.25", "1.7E+308", "214748.3647", "922337203685477.5807", "9999999.99",
        "9999999999999999999999999999999999.9999", "999999999999999999", "'9999-12-31'", "'23:59:59.999'", "'23:59:59.9999999'",
        "'9999-12-31 23:59:59.997'", "'2079-06-06 23:59'", "'9999-12-31 23:59:59.999'", "'9999-12-31 20:00:00.9999 -03:30'", "'abcde'",
        "'0123456789'", "'" + "w" * 9000 + "'", "'" + "v" * 300 + "'", "N'\u20ac\u20ac\u20ac'", "N'abcde'", "N'" + "\u00f6" * 5000 + "'", "N'" + "k" * 300 + "'",
        "0xffffff", "0x0102030405", "0x" + "ab" * 9000, "0x" + "cd" * 300, "'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFE'")


def freebcp_out(r, table, path):
    env = dict(os.environ, TDSVER="7.3", LC_ALL="C.UTF-8")
    p = subprocess.run(["freebcp", table, "out", path, "-n", "-S", r.address, "-U", "sa", "-P", rack.PASSWORD], capture_output=True, text=True, env=env)
    check(p.returncode == 0 and os.path.exists(path), "freebcp", p.stdout, p.stderr)
    return path


def same_rows(r, what):
    """Dates and times as the server writes them: the client's own types hold less."""
    columns = "id, " + ", ".join("CAST(c%d AS nvarchar(50))" % i if t.startswith(("time", "date")) else "c%d" % i for i, t in enumerate(FREEBCP_TYPES))
    want = r.sql("SELECT %s FROM dbo.s ORDER BY id" % columns)
    got = r.sql("SELECT %s FROM dbo.t ORDER BY id" % columns)
    equal(len(got), len(want), what + ": rows")
    for w, g in zip(want, got):
        for i, (x, y) in enumerate(zip(w, g)):
            check(x == y and type(x) == type(y), "%s: row %r, column %d" % (what, w[0], i), x, y)


def test_what_freebcp_writes(r):
    """Every type, NOT NULL and NULL, lowest and highest values; cell by cell."""
    for null in ("NOT NULL", "NULL"):
        columns = ", ".join("c%d %s %s" % (i, t, null) for i, t in enumerate(FREEBCP_TYPES))
        for table in ("dbo.s", "dbo.t"):
            r.fresh("CREATE TABLE %s (id int NOT NULL, %s)" % (table, columns), table)
        rows = [LOW, HIGH] + ([("NULL",) * len(LOW)] if null == "NULL" else [])
        for i, row in enumerate(rows):
            r.sql("INSERT INTO dbo.s VALUES (%d, %s)" % (i, ", ".join(row)))
        path = freebcp_out(r, "t.dbo.s", os.path.join(r.dir, "free.bcp"))
        for engine in ("wire", "bcp"):
            r.sql("DELETE FROM dbo.t")
            got = r.json("load", "dbo.t", path, "--format", "native", "--native-writer", "freebcp", "--engine", engine)
            equal(got["rows"], len(rows), "rows")
            same_rows(r, "%s, %s" % (null, engine))


def test_what_freebcp_writes_for_nothing(r):
    """'' and NULL in text, which differ; in varbinary they do not.  xml is text here."""
    ddl = "CREATE TABLE %s (id int NOT NULL, a varchar(9) NULL, b nvarchar(9) NULL, c varchar(max) NULL, d ntext NULL, e varbinary(9) NULL, x xml NULL, s rowversion, y AS id * 2)"
    for table in ("dbo.s", "dbo.t"):
        r.fresh(ddl % table, table)
    r.sql("INSERT INTO dbo.s (id, a, b, c, d, e, x) VALUES (1, '', N'', '', N'', 0x, '<a>\u00e9</a>'), (2, NULL, NULL, NULL, NULL, NULL, NULL)")
    path = freebcp_out(r, "t.dbo.s", os.path.join(r.dir, "free.bcp"))
    r.fullrack("load", "-q", "dbo.t", path, "--format", "native", "--native-writer", "freebcp")
    got = r.sql("SELECT id, a, b, c, CAST(d AS nvarchar(9)), e, CAST(x AS nvarchar(99)) FROM dbo.t ORDER BY id")
    equal(got, [(1, "", "", "", "", None, "<a>\u00e9</a>"), (2,) + (None,) * 6], "rows")


# -- native files by hand, as Microsoft describes them

NULL1, NULL2, NULL4, NULL8 = b"\xff", b"\xff" * 2, b"\xff" * 4, b"\xff" * 8


def short(data):
    return struct.pack("<H", len(data)) + data


def old(data):
    return struct.pack("<I", len(data)) + data


def long(data):
    return struct.pack("<Q", len(data)) + data


def byte(data):
    return struct.pack("<B", len(data)) + data


def days(year, month, day):
    import datetime
    return struct.pack("<I", datetime.date(year, month, day).toordinal() - 1)[:3]


def ticks(hours, minutes, seconds, fraction=0):
    return struct.pack("<Q", ((hours * 60 + minutes) * 60 + seconds) * 10 ** 7 + fraction)[:5]


def number(precision, scale, value):
    return byte(struct.pack("<BBB", precision, scale, 0 if value < 0 else 1) + abs(value).to_bytes(16, "little"))


def money(value):
    return struct.pack("<i", value >> 32) + struct.pack("<I", value & 0xffffffff)


# type, bytes of a NOT NULL column without what is in front, how its length is written there (b: only where NULL is possible), value as the server shows it
BY_HAND = (
    ("bit", b"\x01", "b", "1"), ("tinyint", b"\xc8", "b", "200"), ("smallint", struct.pack("<h", -2), "b", "-2"), ("int", struct.pack("<i", -5), "b", "-5"),
    ("bigint", struct.pack("<q", -2 ** 63), "b", "-9223372036854775808"), ("real", struct.pack("<f", 1.5), "b", "1.5"),
    ("float", struct.pack("<d", -2.25), "b", "-2.25"), ("smallmoney", struct.pack("<i", -15000), "b", "-1.5000"),
    ("money", money(-25000), "b", "-2.5000"), ("decimal(9,2)", number(9, 2, -12345)[1:], "1", "-123.45"),
    ("numeric(38,10)", number(38, 10, 10 ** 38 - 1)[1:], "1", "9" * 28 + "." + "9" * 10), ("date", days(2024, 2, 29), "b", "2024-02-29"),
    ("time(7)", ticks(23, 59, 59, 9999999), "1", "23:59:59.9999999"), ("time(3)", ticks(1, 2, 3, 4560000), "1", "01:02:03.456"),
    ("datetime", struct.pack("<iI", 45349, 300 * 60 + 1), "b", "2024-02-29 00:01:00.003"), ("smalldatetime", struct.pack("<HH", 45349, 62), "b", "2024-02-29 01:02:00"),
    ("datetime2(3)", ticks(1, 2, 3, 4560000) + days(9999, 12, 31), "1", "9999-12-31 01:02:03.456"),
    ("datetimeoffset(7)", ticks(23, 2, 3, 4567890) + days(2024, 2, 28) + struct.pack("<h", 120), "1", "2024-02-29 01:02:03.4567890 +02:00"),
    ("char(5)", b"ab   ", "2", "ab   "), ("varchar(10)", b"xyz ", "2", "xyz "), ("varchar(max)", b"m" * 9000, "8", "m" * 9000), ("text", b"tx", "4", "tx"),
    ("nchar(3)", "\u00e9  ".encode("utf-16-le"), "2", "\u00e9  "), ("nvarchar(5)", "\U0001f600b".encode("utf-16-le"), "2", "\U0001f600b"),
    ("nvarchar(max)", "m\u00f6".encode("utf-16-le"), "8", "m\u00f6"), ("ntext", "nt".encode("utf-16-le"), "4", "nt"),
    ("binary(3)", b"\1\2\0", "2", "0x010200"), ("varbinary(5)", b"\n\v", "2", "0x0A0B"), ("varbinary(max)", b"\xff" * 300, "8", "0x" + "FF" * 300),
    ("image", b"\0\1", "4", "0x0001"), ("uniqueidentifier", bytes.fromhex("33221100554477668899aabbccddeeff"), "1", "00112233-4455-6677-8899-AABBCCDDEEFF"),
    ("xml", b"\xff\xfe" + "<a>\u00e9</a>".encode("utf-16-le"), "8", "<a>\u00e9</a>"),
)
FRONTS = {"1": byte, "2": short, "4": old, "8": long, "b": byte}
NULLS = {"1": NULL1, "2": NULL2, "4": NULL4, "8": NULL8, "b": NULL1}


def shown(r, column, type_):
    """How the server writes the value."""
    if type_ in ("text", "ntext", "xml"):
        return "CAST(%s AS nvarchar(max))" % column
    if "binary" in type_:
        return "CONVERT(varchar(max), %s, 1)" % column
    if type_ == "image":
        return "CONVERT(varchar(max), CAST(%s AS varbinary(max)), 1)" % column
    if type_ in ("datetime", "smalldatetime"):
        return "CONVERT(varchar(30), CAST(%s AS datetime2(%d)), 121)" % (column, 3 if type_ == "datetime" else 0)
    if "money" in type_:
        return "CONVERT(varchar(40), CAST(%s AS decimal(19,4)))" % column
    if type_ in ("real", "float"):
        return "CONVERT(varchar(40), %s)" % column
    return "CAST(%s AS nvarchar(max))" % column


def native_file(null):
    out = struct.pack("<i", 1)
    for _, data, front, _ in BY_HAND:
        out += data if front == "b" and not null else FRONTS[front](data)
    if null:
        out += struct.pack("<i", 2) + b"".join(NULLS[front] for _, _, front, _ in BY_HAND)
    return out


def test_native_by_hand(r):
    """As bcp -n writes it: each type, with the length in front that Microsoft publishes; NULL is a length of -1."""
    for null in (False, True):
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, %s)" % ", ".join(
            "c%d %s %s" % (i, t[0], "NULL" if null else "NOT NULL") for i, t in enumerate(BY_HAND)))
        got = r.json("load", "dbo.t", r.file("n.bcp", native_file(null)), "--format", "native")
        equal(got["rows"], 2 if null else 1, "rows")
        for i, (type_, _, _, want) in enumerate(BY_HAND):
            equal(r.sql("SELECT %s FROM dbo.t WHERE id = 1" % shown(r, "c%d" % i, type_)), [(want,)], type_)
            if null:
                equal(r.sql("SELECT c%d FROM dbo.t WHERE id = 2" % i), [(None,)], type_ + ", NULL")


def test_native_of_other_columns(r):
    """Empty values, identity, computed and rowversion columns, -N, and a length of 0."""
    ddl = "CREATE TABLE dbo.t (id int IDENTITY, v varchar(9) NULL, b varbinary(9) NULL, c AS id * 2, stamp rowversion, w nvarchar(9) NULL)"
    r.fresh(ddl)
    row = lambda i, v, b, w: struct.pack("<i", i) + v + b + byte(struct.pack("<i", 5)) + byte(b"\0" * 8) + w
    data = row(7, short(b""), short(b""), short(b"")) + row(8, NULL2, NULL2, NULL2) + row(9, short("\u00e9".encode()), short(b"\0"), short("\u0416".encode("utf-16-le")))
    r.fullrack("load", "-q", "dbo.t", r.file("o.bcp", data), "--format", "native")
    equal(r.sql("SELECT id, v, b, w FROM dbo.t ORDER BY id"), [(1, "", b"", ""), (2, None, None, None), (3, "\u00e9", b"\0", "\u0416")], "rows")
    r.fresh(ddl)
    r.fullrack("load", "-q", "dbo.t", r.file("o.bcp", data), "--format", "native", "-E")
    equal(r.sql("SELECT id FROM dbo.t ORDER BY id"), [(7,), (8,), (9,)], "identity of the file")
    r.fresh("CREATE TABLE dbo.t (v varchar(9) NULL, m varchar(max) NULL, x text NULL)")
    wide = lambda s: s.encode("utf-16-le")
    data = short(wide("\u00e9 ")) + long(wide("m")) + old(wide("t")) + NULL2 + NULL8 + NULL4
    r.fullrack("load", "-q", "dbo.t", r.file("u.bcp", data), "--format", "native", "--unicode-native")
    equal(r.sql("SELECT v, m, x FROM dbo.t"), [("\u00e9 ", "m", "t"), (None, None, None)], "bcp -N")
    r.fresh("CREATE TABLE dbo.t (v varchar(9) NULL)")
    f = r.file("cp.bcp", short("\u20ac\u00e9".encode("cp1252")))
    r.fullrack("load", "-q", "dbo.t", f, "--format", "native", "-C", "CP1252")
    equal(r.sql("SELECT v FROM dbo.t"), [("\u20ac\u00e9",)], "-C")
    r.fullrack("load", "dbo.t", f, "--format", "native", exit=1)
    check("is not valid UTF-8" in r.err, "without -C", r.err)


def test_native_damaged(r):
    """A length that cannot be ends the task at once, whatever -m says: nothing behind it is known."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    row = struct.pack("<i", 1) + short(b"abc")
    for name, data, words in (
            ("cut in a number", row + b"\1\0", ("row 2 (byte 9)", "column id", "is not ended")),
            ("cut in a value", row + row[:-1], ("row 2 (byte 9)", "column v has a length of 3 at byte 4 of the row", "are left 2")),
            ("too long", row + struct.pack("<iH", 2, 3000), ("row 2 (byte 9)", "column v has a length of 3000 at byte 4 of the row", "more than its 36", "or of another layout: bcp's format file (-f)")),
            ("negative", row + struct.pack("<ih", 2, -2) + b"x" * 70000, ("column v has a length of 65534",))):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "dbo.t", r.file("d.bcp", data), "--format", "native", "-m", "0" if "number" in name else "100", exit=1)
        for word in words:
            check(word in r.err, name, word, r.err)
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, d datetime NOT NULL)")
    bad = struct.pack("<iiI", 1, 10 ** 7, 0)
    good = struct.pack("<iiI", 2, 0, 0)
    got = r.json("load", "dbo.t", r.file("v.bcp", bad + good), "--format", "native", "-m", "1", "-e", os.path.join(r.dir, "v.rej"))
    equal((got["rows"], got["rejected"]), (1, 1), "a value out of range is one row")
    with open(os.path.join(r.dir, "v.rej"), "rb") as f:
        equal(f.read(), bad, "its bytes")


def test_native_that_looks_packed(r):
    """Only a name that says so is unpacked: a number may begin as gzip does."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    data = struct.pack("<ii", 0x00088b1f, 2)
    r.fullrack("load", "-q", "dbo.t", r.file("p.bcp", data), "--format", "native")
    with gzip.open(os.path.join(r.dir, "p.bcp.gz"), "wb") as f:
        f.write(data)
    r.fullrack("load", "-q", "dbo.t", os.path.join(r.dir, "p.bcp.gz"), "--format", "native")
    r.fullrack("load", "-q", "dbo.t", r.file("q.gz", struct.pack("<i", 3)), "--format", "native")
    r.fullrack("load", "-q", "dbo.t", "-", "--format", "native", input=struct.pack("<i", 0x00088b1f))
    equal(r.sql("SELECT id, COUNT(*) FROM dbo.t GROUP BY id ORDER BY id"), [(2, 2), (3, 1), (0x00088b1f, 3)], "rows")


# -- fixed width

def test_fixed(r):
    """Lines of fixed widths; blanks alone are NULL but in text; short and long lines are one bad row each."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL, d decimal(9,2) NULL, b varbinary(4) NULL)")
    text = "  1abc  12.34 0a\r\n  2         \t   \n  3\u00e9   -1.50 ff\n"
    want = [(1, "abc  ", decimal.Decimal("12.34"), b"\n"), (2, "     ", None, None), (3, "\u00e9   ", decimal.Decimal("-1.50"), b"\xff")]
    for engine in ("wire", "bcp"):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", r.file("f.txt", "\ufeff" + text), "--format", "fixed", "--widths", "3,5,5,3", "--engine", engine)
        got = r.sql("SELECT * FROM dbo.t ORDER BY id")
        equal([row[:1] + row[2:] for row in got], [row[:1] + row[2:] for row in want], engine)
        equal([row[1].rstrip() for row in got], [row[1].rstrip() for row in want], engine + ", text")
        if engine == "wire":
            equal(got, want, "text with its blanks")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "-q", "dbo.t", r.file("f.txt", text), "--format", "fixed", "--widths", "3,5,5,3", "--trim")
    equal(r.sql("SELECT v FROM dbo.t ORDER BY id"), [("abc",), (None,), ("\u00e9",)], "--trim")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    f = r.file("s.txt", "1abc\n2ab\n3abcd\n4xyz\nx\u00e9\u00e9\n5\u00e9a\n")
    got = r.json("load", "dbo.t", f, "--format", "fixed", "--widths", "1,3", "-m", "3", "-e", os.path.join(r.dir, "s.rej"))
    equal((got["rows"], got["rejected"]), (3, 3), "rows")
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(1, "abc"), (4, "xyz"), (5, "\u00e9a")], "rows")
    with open(os.path.join(r.dir, "s.rej"), "rb") as rejects:
        equal(rejects.read(), "2ab\n3abcd\nx\u00e9\u00e9\n".encode(), "rejects")
    r.fullrack("load", "dbo.t", f, "--format", "fixed", "--widths", "1,3", exit=1)
    check("row 2 (byte 5): the line has 3 bytes, less than the 4 of its fields" in r.err, "a short line", r.err)
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL, w nvarchar(9) NULL)")
    r.fullrack("load", "-q", "dbo.t", r.file("c.txt", "\u00e9--1\u00fcb--2".encode("cp1252")), "--format", "fixed", "--widths", "1,2,1", "-r", "none", "-C", "CP1252",
               "--columns", "w,-,id", exit=1)
    check("\"b\" is not a number" in r.err or "column id" in r.err, "records run on", r.err)
    r.fullrack("load", "-q", "dbo.t", r.file("c.txt", "\u00e9--1\u00fc--2".encode("cp1252")), "--format", "fixed", "--widths", "1,2,1", "-r", "none", "-C", "CP1252",
               "--columns", "w,-,id")
    equal(r.sql("SELECT id, v, w FROM dbo.t ORDER BY id"), [(1, None, "\u00e9"), (2, None, "\u00fc")], "records without an end")
    r.fullrack("load", "dbo.t", r.file("c.txt", "a--1b--"), "--format", "fixed", "--widths", "1,2,1", "-r", "none", "--columns", "w,-,id", exit=1)
    check("column id" in r.err and "the file ends in the middle of a row" in r.err, "cut off", r.err)
    r.sql("DELETE FROM dbo.t")
    sjis = "\u8868|".encode("shift-jis")
    r.fullrack("load", "-q", "dbo.t", r.file("j.txt", b"1" + sjis + b"\n2xy \n"), "--format", "fixed", "--widths", "1,2,1", "-C", "SHIFT-JIS", "--columns", "id,w,-")
    equal(r.sql("SELECT id, w FROM dbo.t ORDER BY id"), [(1, "\u8868"), (2, "xy")], "Shift-JIS by bytes")


def test_fixed_header(r):
    """Names in a header of the same widths."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL, n int NULL)")
    f = r.file("n.txt", "n  ID v  \n  7  1abc\n     2   \n")
    r.fullrack("load", "-q", "dbo.t", f, "--format", "fixed", "--widths", "3,3,3", "--header", "match")
    equal(r.sql("SELECT id, v, n FROM dbo.t ORDER BY id"), [(1, "abc", 7), (2, "   ", None)], "rows")
    r.fullrack("load", "dbo.t", f, "--format", "fixed", "--widths", "3,3,2", "--header", "match", exit=2)
    check("header: the line has 9 bytes" in r.err, "another width", r.err)


def test_fixed_resumes(r):
    """In small batches, with a header, and a range of rows."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    rows = "".join("%5d%-4s\n" % (i, "v%d" % (i % 10)) for i in range(5000))
    got = r.json("load", "dbo.t", r.file("h.txt", "id   v\n" + rows), "--format", "fixed", "--widths", "5,4", "--header", "skip", "-b", "700", "-F", "11", "-L", "4000")
    equal((got["rows"], got["tasks"][0]["skipped"]), (3990, 1011), "rows")
    equal(r.sql("SELECT COUNT(*), MIN(id), MAX(id), SUM(id), MIN(v), MAX(v) FROM dbo.t"),
          [(3990, 10, 3999, sum(range(10, 4000)), "v0  ", "v9  ")], "rows")


# -- format files

TEXT_FORMAT = """%s
4
1 SQLCHAR 0 7   ","    2 v %s
2 SQLCHAR 0 100 "|+|"  0 ""  %s
3 SQLCHAR 0 12  "\\t"  1 id %s
4 SQLCHAR 0 24  "\\r\\n" 4 d %s
"""
XML = """<?xml version="1.0"?>
<BCPFORMAT xmlns="http://schemas.microsoft.com/sqlserver/2004/bulkload/format" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <RECORD>%s</RECORD>
 <ROW>%s</ROW>
</BCPFORMAT>
"""


def test_text_format_file(r):
    """Versions 7 to 16; fields that are skipped or in another order; terminators of their own; NULL and ''."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL, unused int NULL, d date NULL)")
    data = r.file("x.dat", "a\nb,skip|me|+|1\t2024-02-29\r\n,|+|2\t\r\n\0,|+|3\t\r\n")
    want = [(1, "a\nb", None, "2024-02-29"), (2, None, None, None), (3, "", None, None)]
    for version in ("7.0", "8.0", "9.0", "10.0", "11.0", "12.0", "13.0", "14.0", "15.0", "16.0"):
        collation = ("",) * 4 if version == "7.0" else ('""', "SQL_Latin1_General_CP1_CI_AS", '""', '""')
        fmt = r.file("x.fmt", TEXT_FORMAT % ((version,) + collation))
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", data, "-f", fmt, *(() if version != "9.0" else ("--format", "bcp")))
        equal(r.sql("SELECT id, v, unused, CONVERT(varchar(10), d, 23) FROM dbo.t ORDER BY id"), want, version)
    r.sql("DELETE FROM dbo.t")
    wide = r.file("w.dat", "\ufeff\u00e9,|+|1\t2024-02-29\r\n".encode("utf-16-le"))
    r.fullrack("load", "-q", "dbo.t", wide, "-f", fmt)
    equal(r.sql("SELECT id FROM dbo.t"), [(1,)], "text that ends with terminators is in any encoding")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "-q", "dbo.t", r.file("z.dat", "\u20ac,|+|1\t2024-02-29\r\n".encode("cp1252")), "-f", fmt, "-C", "CP1252")
    equal(r.sql("SELECT id, v FROM dbo.t"), [(1, "\u20ac")], "-C")
    r.fullrack("load", "dbo.t", r.file("y.dat", "a,|+|x\t\r\nb,|+|1\t\r\nc"), "-f", fmt, "-m", "2", "-e", os.path.join(r.dir, "y.rej"))
    with open(os.path.join(r.dir, "y.rej"), "rb") as f:
        equal(f.read(), b"a,|+|x\t\r\nc", "rejects")
    with open(os.path.join(r.dir, "y.rej"), "wb") as f:
        f.write(b"a,|+|9\t\r\n")
    r.fullrack("load", "-q", "dbo.t", os.path.join(r.dir, "y.rej"), "-f", fmt)
    equal(r.sql("SELECT id FROM dbo.t ORDER BY id"), [(1,), (1,), (9,)], "a mended reject file")


def test_rejects_of_utf16(r):
    """The reject file begins with the source's mark, and loads by the same format file; another layout does not go on with a load."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(9) NULL)")
    fmt = r.file("u.fmt", "11.0\n2\n1 SQLNCHAR 0 0 \"\\t\\0\" 1 id \"\"\n2 SQLNCHAR 0 0 \"\\n\\0\" 2 v \"\"\n")
    data = r.file("u.dat", "\ufeff1\t\u0416\nx\t\u20ac\n3\t\n".encode("utf-16-le"))
    rejects = os.path.join(r.dir, "u.rej")
    got = r.json("load", "dbo.t", data, "-f", fmt, "-m", "1", "-e", rejects)
    equal((got["rows"], got["rejected"]), (2, 1), "rows")
    with open(rejects, "rb") as f:
        content = f.read()
    equal(content, "\ufeffx\t\u20ac\n".encode("utf-16-le"), "rejects")
    r.file("u.rej", content.replace(b"x", b"2"))
    r.fullrack("load", "-q", "dbo.t", rejects, "-f", fmt)
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(1, "\u0416"), (2, "\u20ac"), (3, None)], "rows")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "dbo.t", data, "-f", fmt, "-b", "1", exit=1)
    load = r.err[r.err.index("load id ") + 8:].split()[0]
    other = r.file("v.fmt", "11.0\n2\n1 SQLNCHAR 0 0 \"\\t\\0\" 1 id \"\"\n2 SQLNCHAR 0 9 \"\\n\\0\" 2 v \"\"\n")
    r.fullrack("load", "dbo.t", data, "-f", other, "-b", "1", "--resume", load, exit=2)
    check("was begun with other options" in r.err, "another layout", r.err)


def test_format_file_of_every_kind(r):
    """UTF-16, prefixes, native values, and values that go into columns of other types."""
    r.fresh("CREATE TABLE dbo.t (a nvarchar(9) NULL, b varchar(20) NULL, c int NULL, d varchar(40) NULL, e decimal(9,1) NULL, f varchar(40) NULL, g nvarchar(20) NULL)")
    text = r.file("k.fmt", "16.0\n7\n1 SQLNCHAR 0 18 \"\\t\\0\" 1 a \"\"\n2 SQLINT 1 4 \"\" 2 b \"\"\n3 SQLCHAR 2 9 \"\" 3 c \"\"\n4 SQLDATETIME2 1 8 \"\" 4 d \"\"\n"
                  "5 SQLMONEY 0 8 \"\" 5 e \"\"\n6 SQLUNIQUEID 1 16 \"\" 6 f \"\"\n7 SQLBINARY 4 0 \"\\r\\n\" 7 g \"\"\n")
    xml = r.file("k.xml", XML % (
        '<FIELD ID="1" xsi:type="NCharTerm" TERMINATOR="\\t"/><FIELD ID="2" xsi:type="NativePrefix" PREFIX_LENGTH="1"/>'
        '<FIELD ID="3" xsi:type="CharPrefix" PREFIX_LENGTH="2" MAX_LENGTH="9"/><FIELD ID="4" xsi:type="NativePrefix" PREFIX_LENGTH="1"/>'
        '<FIELD ID="5" xsi:type="NativeFixed" LENGTH="8"/><FIELD ID="6" xsi:type="NativePrefix" PREFIX_LENGTH="1"/>'
        '<FIELD ID="7" xsi:type="NativePrefix" PREFIX_LENGTH="4" TERMINATOR="\\r\\n"/>',
        '<COLUMN SOURCE="1" NAME="a" xsi:type="SQLNVARCHAR"/><COLUMN SOURCE="2" NAME="b" xsi:type="SQLINT"/><COLUMN SOURCE="3" NAME="C" xsi:type="SQLINT"/>'
        '<COLUMN SOURCE="7" NAME="g" xsi:type="SQLVARYBIN"/><COLUMN SOURCE="4" NAME="d" xsi:type="SQLDATETIME2"/>'
        '<COLUMN SOURCE="5" NAME="e" xsi:type="SQLMONEY"/><COLUMN SOURCE="6" NAME="f" xsi:type="SQLUNIQUEID"/>'))
    guid = bytes(range(16))
    data = (b"\xff\xfe" + "x\u0901".encode("utf-16-le") + b"\t\0" + byte(struct.pack("<i", -7)) + short(b" 42") + byte(ticks(1, 2, 3, 5) + days(2024, 2, 29)) + money(15000)
            + byte(guid) + old(b"\x0a\xff") + b"\r\n" + b"\t\0" + NULL1 + NULL2 + NULL1 + money(-5) + NULL1 + NULL4 + b"\r\n")
    want = [("x\u0901", "-7", 42, "2024-02-29 01:02:03.0000005", decimal.Decimal("1.5"), "03020100-0504-0706-0809-0A0B0C0D0E0F", "0AFF"),
            (None, None, None, None, decimal.Decimal("0.0"), None, None)]
    for fmt in (text, xml):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", r.file("k.dat", data), "--format-file", fmt)
        equal(sorted(r.sql("SELECT * FROM dbo.t"), key=lambda row: row[0] is None), want, fmt[-3:])


def test_nulls_of_a_format_file(r):
    """--empty and --null mean the same as elsewhere; a length of -1 is NULL whatever they say."""
    ddl = "CREATE TABLE dbo.t (id int NOT NULL, a varchar(9) NULL, b nvarchar(9) NULL, c varchar(9) NULL)"
    fmt = r.file("n.fmt", "16.0\n4\n1 SQLINT 0 4 \"\" 1 id \"\"\n2 SQLCHAR 2 9 \"\" 2 a \"\"\n3 SQLNCHAR 2 18 \"\" 3 b \"\"\n4 SQLCHAR 0 9 \",\" 4 c \"\"\n")
    wide = lambda s: s.encode("utf-16-le")
    data = r.file("n.dat", struct.pack("<i", 1) + short(b"") + short(b"") + b"," + struct.pack("<i", 2) + short(b"N") + short(wide("N")) + b"N,"
                  + struct.pack("<i", 3) + NULL2 + NULL2 + b"\0,")
    for options, want in (((), [(1, "", "", None), (2, "N", "N", "N"), (3, None, None, "")]),
                          (("--empty", "null"), [(1, None, None, None), (2, "N", "N", "N"), (3, None, None, None)]),
                          (("--empty", "empty"), [(1, "", "", ""), (2, "N", "N", "N"), (3, None, None, "")]),
                          (("--null", "N"), [(1, "", "", None), (2, None, None, None), (3, None, None, "")])):
        for engine in ("wire", "bcp"):
            r.fresh(ddl)
            r.fullrack("load", "-q", "dbo.t", data, "-f", fmt, "--engine", engine, *options)
            equal(r.sql("SELECT * FROM dbo.t ORDER BY id"), want, "%s %s" % (options, engine))
    r.fullrack("load", "dbo.t", r.file("m.txt", "\ufeff1a\n"), "--format", "fixed", "--widths", "1,1", "--columns", "id,a", "-C", "CP1252", exit=2)
    check("mark of UTF-8" in r.err, "a mark against -C", r.err)


def test_format_file_mistakes(r):
    """Each says the file, the line, and what was expected; usage errors."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    data = r.file("m.dat", "1\n")
    good = "9.0\n1\n1 SQLCHAR 0 9 \"\\n\" 1 id \"\"\n"
    r.fullrack("load", "-q", "dbo.t", data, "-f", r.file("m.fmt", good))
    for content, words in (
            (good.replace("9.0", "6.0"), ("line 1", "version (7.0 to 17.0) expected", "6.0")),
            (good.replace("\n1\n", "\n2\n", 1), ("line 4", "ends behind 1 of 2 fields")),
            (good.replace("SQLCHAR", "SQLCHR"), ("line 3", "its type", "SQLCHR")),
            (good.replace("0 9", "3 9"), ("line 3", "length of its prefix")),
            (good.replace("\"\\n\" 1", "\"\\n\" 3"), ("field 1 goes to column 3", "id, v")),
            (good.replace(" id ", " v "), ("field 1 goes to column 1, which is id, but names v",)),
            (XML % ('<FIELD ID="1" xsi:type="CharTerm" TERMINATOR="\\n"/>', '<COLUMN SOURCE="1" NAME="nope"/>'), ("no column \"nope\"", "id, v")),
            (XML % ('<FIELD ID="1" xsi:type="CharTerm"/>', '<COLUMN SOURCE="1" NAME="id"/>'), ("line 3", "TERMINATOR")),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]>" + XML % ("", ""), ("line 1", "DOCTYPE")),
            ("\0\1\2", ("line 1", "expected"))):
        r.fullrack("load", "dbo.t", data, "-f", r.file("m.fmt", content), exit=2)
        for word in words + ("m.fmt",):
            check(word in r.err, "message for %r" % content[:60], word, r.err)
    r.fullrack("load", "dbo.t", data, "-f", os.path.join(r.dir, "none.fmt"), exit=2)
    check("none.fmt" in r.err, "no such file", r.err)
    os.mkfifo(os.path.join(r.dir, "pipe.fmt"))
    r.fullrack("load", "dbo.t", data, "-f", os.path.join(r.dir, "pipe.fmt"), exit=2, timeout=20)
    check("pipe.fmt: is no regular file" in r.err, "a pipe is not waited for", r.err)
    fmt = r.file("m.fmt", good)
    for options in (("-f", fmt, "--format", "csv"), ("-f", fmt, "--format", "delimited"), ("-f", fmt, "-t", ","), ("-f", fmt, "--columns", "id"), ("--format", "fixed"),
                    ("--format", "fixed", "--widths", "1,x"), ("--format", "fixed", "--widths", "1,2,3"), ("--format", "fixed", "--widths", "1", "--columns", "id,v,-,-"), ("--widths", "1,2"), ("--format", "native", "-r", "\\n"),
                    ("--unicode-native",), ("--format", "native", "--header", "skip")):
        r.fullrack("load", "dbo.t", data, *options, exit=2)


def test_queue_with_a_format_file(r):
    """The task has the file's whole path: a worker may run in another folder."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    r.fresh_control()
    r.file("q.fmt", "9.0\n2\n1 SQLCHAR 0 9 \",\" 2 v \"\"\n2 SQLCHAR 0 9 \"\\n\" 1 id \"\"\n")
    data = r.file("q.dat", "a,1\nb,2\n")
    command = r.command("add", "dbo.t", data, "-f", "q.fmt")
    p = subprocess.run([os.path.abspath(command[0])] + command[1:], cwd=r.dir, capture_output=True, text=True, env=r.env())
    equal(p.returncode, 0, "add: " + p.stderr)
    r.fullrack("run", "-q", "--workers", "1")
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(1, "a"), (2, "b")], "rows")


def test_check_knows_layouts(r):
    """As the load would: native rows, bad lines of fixed width, a format file."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    fmt = r.file("c.fmt", "9.0\n2\n1 SQLINT 0 4 \"\" 1 id \"\"\n2 SQLCHAR 2 9 \"\" 2 v \"\"\n")
    native = struct.pack("<i", 1) + short(b"abc") + struct.pack("<i", 2) + NULL2
    for content, options, rows, rejected in ((native, ("--format", "native"), 2, 0), (native, ("-f", fmt), 2, 0),
                                             (b"1abc\n2ab\nxabc\n3abc\n", ("--format", "fixed", "--widths", "1,3", "-m", "2"), 2, 2)):
        f = r.file("c.dat", content)
        for command in ("check", "load"):
            got = r.json(command, "dbo.t", f, *options, exit=1 if rejected and command == "check" else 0)["tasks" if command == "load" else "files"][0]
            equal((got["rows"], got["rejected"]), (rows, rejected), "%s %s" % (command, options))
    r.fullrack("check", "dbo.t", r.file("c.dat", native[:-3]), "--format", "native", "-m", "9", exit=1)
    check("column v has a length of 3" in r.err or "is not ended" in r.err, "damaged", r.err)


def test_empty_text_of_bcp(r):
    """bcp -c writes nothing for NULL and a NUL character for ''."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL, w nvarchar(9) NULL)")
    for engine in ("wire", "bcp"):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", r.file("e.txt", "1\t\0\t\0\n2\t\t\n3\ta\0\t\0\0\n"), "--format", "bcp", "--engine", engine)
        equal(r.sql("SELECT id, v, w FROM dbo.t ORDER BY id"), [(1, "", ""), (2, None, None), (3, "a\0", "\0\0")], engine)
    r.fresh("CREATE TABLE dbo.t (id int NULL, d date NULL)")
    r.fullrack("load", "dbo.t", r.file("e.txt", "1\t\0\n"), "--format", "bcp", exit=1)
    check("column d: \"\\x00\"" in r.err, "no date is a NUL character", r.err)
    fmt = r.file("e.fmt", "9.0\n2\n1 SQLCHAR 0 9 \",\" 1 id \"\"\n2 SQLCHAR 0 9 \"\\n\" 2 d \"\"\n")
    r.fullrack("load", "dbo.t", r.file("e.txt", "\0,\n"), "-f", fmt, exit=1)
    check("column id: \"\\x00\"" in r.err, "nor a number", r.err)


def test_texts_in_utf16(r):
    """As SQL Server Management Studio saves them: a format file, and a script for check."""
    r.fresh("CREATE TABLE dbo.t (a int NULL, b nvarchar(10) NULL)")
    data = r.file("u.txt", "1,x\n2,y\n")
    text = "9.0\r\n2\r\n1 SQLCHAR 0 0 \",\" 1 a \"\"\r\n2 SQLCHAR 0 0 \"\\n\" 2 b \"\"\r\n"
    equal(r.json("load", "dbo.t", data, "-f", r.file("u.fmt", "\ufeff".encode("utf-16-le") + text.encode("utf-16-le")))["rows"], 2, "format file")
    script = r.file("u.sql", "\ufeff".encode("utf-16-be") + "CREATE TABLE dbo.t (a int NULL, b nvarchar(10) NULL)\r\nGO\r\n".encode("utf-16-be"))
    r.fullrack("check", "dbo.t", data, "--format", "csv", "--ddl", script)
    r.fullrack("load", "dbo.t", data, "-f", r.file("s.fmt", text.replace("SQLCHAR", "SYBCHAR", 1)), exit=2)
    check("line 3: SYBCHAR is a name of FreeTDS' freebcp" in r.err and "--native-writer freebcp" in r.err, "message", r.err)


def test_blanks_of_ebcdic(r):
    r.fresh("CREATE TABLE dbo.t (a int NULL, b nvarchar(4) NULL)")
    data = "".join("%-4s%-4s" % row for row in (("12", "ab"), ("", "cd"), ("7", ""))).encode("cp037")
    equal(r.json("load", "dbo.t", r.file("ebcdic", data), "--format", "fixed", "--widths", "4,4", "-r", "none", "-C", "IBM037")["rows"], 3, "rows")
    equal(r.sql("SELECT a, b FROM dbo.t ORDER BY b"), [(7, "    "), (12, "ab  "), (None, "cd  ")], "values")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
