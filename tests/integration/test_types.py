#!/usr/bin/python3
"""Every SQL type: fullrackd keeps and describes it, and what fullrack loads comes back equal."""
import datetime, decimal, json, os, random, struct, subprocess, sys, uuid
from rack import *
import rack
from tds import Tds


# -- a bulk stream of our own (MS-TDS 2.2.6.1)

COLLATION = bytes.fromhex("0904d00034")         # SQL_Latin1_General_CP1_CI_AS
NVARCHAR_MAX = b"\xe7\xff\xff" + COLLATION
VARBINARY_MAX = b"\xa5\xff\xff"
INT = b"\x26\x04"
PLP_NULL = b"\xff" * 8


def plp(value):
    if value is None:
        return PLP_NULL
    return struct.pack("<Q", len(value)) + (struct.pack("<I", len(value)) + value if value else b"") + struct.pack("<I", 0)


def bulk_stream(columns, rows):
    out = b"\x81" + struct.pack("<H", len(columns))
    for name, info in columns:
        out += struct.pack("<IH", 0, 9) + info + bytes([len(name)]) + name.encode("utf-16-le")
    for row in rows:
        out += b"\xd1" + b"".join(row)
    return out + b"\xfd" + bytes(12)


def errors_of(answer):
    return [t for t in answer if t[0] == "error"]


# -- fullrackd: types that a bulk client sends in another one's clothes

SPECIAL = """CREATE TABLE dbo.t (id int NOT NULL, x xml NULL, h hierarchyid NULL, g geometry NULL, gg geography NULL,
             v sql_variant NULL, tail varchar(10) NULL)"""


def test_special_columns_are_described(r):
    r.fresh(SPECIAL)
    equal(r.sql("SELECT name, system_type_id, user_type_id, TYPE_NAME(system_type_id), TYPE_NAME(user_type_id), max_length "
                "FROM sys.columns WHERE object_id = OBJECT_ID('dbo.t') ORDER BY column_id"),
          [("id", 56, 56, "int", "int", 4), ("x", 241, 241, "xml", "xml", -1), ("h", 240, 128, None, "hierarchyid", 892),
           ("g", 240, 129, None, "geometry", -1), ("gg", 240, 130, None, "geography", -1),
           ("v", 98, 98, "sql_variant", "sql_variant", 8016), ("tail", 167, 167, "varchar", "varchar", 10)], "sys.columns")
    # as MS-TDS 2.2.5.4 has them: xml without a schema, CLR types with database, schema and type, sql_variant
    raw = Tds(r.port, password=rack.PASSWORD, database="t")
    raw.batch("SELECT x, h, g, v FROM dbo.t")
    m = raw.message()
    raw.close()
    sys_name = lambda n: b"\x00\x03" + "sys".encode("utf-16-le") + bytes([len(n)]) + n.encode("utf-16-le")
    for what, sent in (("xml", b"\xf1\x00\x01x\x00"), ("hierarchyid", b"\xf0\x7c\x03" + sys_name("hierarchyid")),
                       ("geometry", b"\xf0\xff\xff" + sys_name("geometry")), ("sql_variant", b"\x62\x50\x1f\x00\x00\x01v\x00")):
        check(sent in m, "%s in COLMETADATA" % what, m)


def test_special_columns_hold_their_bytes(r):
    r.fresh(SPECIAL)
    r.sql("INSERT dbo.t (id, x, h, g, gg, tail) VALUES (1, N'<a>\u00e9</a>', 0x58, 0x0102, CAST(0x03 AS varbinary(max)), 'e1'), "
          "(2, NULL, NULL, NULL, NULL, 'e2')")
    equal(r.sql("SELECT * FROM dbo.t ORDER BY id"),
          [(1, "<a>\u00e9</a>", b"X", b"\x01\x02", b"\x03", None, "e1"), (2, None, None, None, None, None, "e2")], "rows")
    equal(r.sql("SELECT CAST(h AS varbinary(892)), DATALENGTH(g) FROM dbo.t WHERE h = 0x58"), [(b"X", 2)], "as binary")
    for statement in ("INSERT dbo.t (id, h) VALUES (3, '/1/')", "INSERT dbo.t (id, v) VALUES (3, 1)",
                      "SELECT CAST(h AS varchar(10)) FROM dbo.t"):
        try:
            r.sql(statement)
            check(False, "no error from " + statement)
        except pymssql.Error as e:
            check(e.args[0] == 40517, "error of " + statement, e)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2,)], "rows after the refusals")


def test_bulk_load_of_special_columns(r):
    """xml declared as nvarchar(max), CLR types as varbinary(max): what bulk clients send for them."""
    r.fresh(SPECIAL)
    columns = (("id", INT), ("x", NVARCHAR_MAX), ("h", VARBINARY_MAX), ("g", VARBINARY_MAX), ("gg", VARBINARY_MAX))
    one = lambda n, x, h, g, gg: (struct.pack("<Bi", 4, n), plp(None if x is None else x.encode("utf-16-le")), plp(h), plp(g), plp(gg))
    raw = Tds(r.port, password=rack.PASSWORD, database="t")
    declared = "insert bulk dbo.t (id int, x nvarchar(max), h varbinary(max), g varbinary(max), gg varbinary(max))"
    equal(errors_of(raw.query(declared)), [], "insert bulk")
    raw.send(7, bulk_stream(columns, [one(1, "<a b='\u0416'/>\U0001F600", b"\x5a\xc0", b"\0" * 22, b"\xe6\x10" * 3000),
                                      one(2, "", b"", b"", b""), one(3, None, None, None, None)]))
    equal(errors_of(raw.answer()), [], "the stream")
    equal(r.sql("SELECT id, x, h, g, gg FROM dbo.t ORDER BY id"),
          [(1, "<a b='\u0416'/>\U0001F600", b"\x5a\xc0", b"\0" * 22, b"\xe6\x10" * 3000), (2, "", b"", b"", b""),
           (3, None, None, None, None)], "rows")
    equal(errors_of(raw.query("insert bulk dbo.t (id int, h varbinary(max))")), [], "insert bulk")
    raw.send(7, bulk_stream((("id", INT), ("h", VARBINARY_MAX)), [(struct.pack("<Bi", 4, 4), plp(b"x" * 893))]))
    check([e[1] for e in errors_of(raw.answer())] == [2628], "a hierarchyid of 893 bytes is too long")
    raw.close()
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(3,)], "rows")


# -- what the bcp engine refuses

def test_columns_that_db_lib_cannot_carry(r):
    """Refused before anything is read, naming column, type and way out; computed ones are the server's affair."""
    f = r.file("two.txt", "1\ta\n2\tb\n")
    for type, way in (("xml", "wire engine"), ("hierarchyid", "wire engine"), ("geometry", "wire engine"),
                      ("geography", "wire engine"), ("sql_variant", "sql_variant")):
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, strange %s NULL)" % type)
        r.fullrack("load", "dbo.t", f, "--engine", "bcp", exit=2)
        check("column strange has type %s" % type in r.err and way in r.err, "message", r.err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows of " + type)
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL, strange AS CAST(v AS xml))")
    equal(r.json("load", "dbo.t", f, "--engine", "bcp")["rows"], 2, "rows beside a computed xml column")
    equal(r.sql("SELECT id, strange FROM dbo.t ORDER BY id"), [(1, "a"), (2, "b")], "rows")


# -- blanks at the end

def test_trailing_blanks(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL, n nvarchar(10) NULL, c char(3) NULL)")
    f = r.file("blanks.csv", '1,a ,"b  ",x \n2,"  ", c,y\n3,d,e,z\n')
    d = r.json("load", "dbo.t", f, "--format", "csv")
    equal(d["tasks"][0]["trimmed_values"], 0, "trimmed_values with a library that keeps them")
    equal(r.sql("SELECT v, n, c FROM dbo.t ORDER BY id"),
          [("a ", "b  ", "x  "), ("  ", " c", "y  "), ("d", "e", "z  ")], "kept")
    r.fullrack("load", "dbo.t", f, "--format", "csv", "--trailing-blanks", "keep")
    r.sql("DELETE FROM dbo.t")
    d = r.json("load", "dbo.t", f, "--format", "csv", "--trailing-blanks", "trim")
    equal(d["tasks"][0]["trimmed_values"], 3, "trimmed_values")
    equal(r.sql("SELECT v, n, c FROM dbo.t ORDER BY id"), [("a", "b", "x  "), ("", " c", "y  "), ("d", "e", "z  ")], "cut")
    out = r.fullrack("load", "dbo.t", f, "--format", "csv", "--trailing-blanks", "trim")
    check("3 values lost trailing blanks" in out, "summary", out)
    r.sql("DELETE FROM dbo.t")
    e = os.path.join(r.dir, "blank-rejects")
    d = r.json("load", "dbo.t", f, "--format", "csv", "--trailing-blanks", "error", "-m", "2", "-e", e)
    equal((d["rows"], d["rejected"], d["tasks"][0]["trimmed_values"]), (1, 2, 0), "counts with error")
    check("blank" in json.loads(open(e + ".json").readline())["reason"], "reason")


def test_trimmed_values_in_the_queue(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL)")
    r.fresh_control()
    f = r.file("queued.csv", "1,a \n2,b\n3,  \n")
    r.fullrack("add", "dbo.t", f, "--format", "csv", "--trailing-blanks", "trim")
    d = r.json("run", "--workers", "1")
    equal(d["tasks"][0]["trimmed_values"], 2, "of the result")
    equal(r.sql("SELECT state, rows_loaded, trimmed_values FROM dbo.work_queue", "fullrack"), [("done", 3, 2)], "of the queue")


def test_padding_counts_in_the_column_s_units(r):
    """As many bytes of UTF-8 as the column is long, but fewer characters: padded all the same."""
    r.fresh("CREATE TABLE dbo.t (c char(4) NULL, n nchar(4) NULL, j char(4) COLLATE Japanese_CI_AS NULL, b binary(4) NULL)")
    r.fullrack("load", "dbo.t", r.file("pad.txt", "\u00e9\u00e9\t\u00e9\u00e9\t\u65e5x\t0x01020304\n"))
    equal(r.sql("SELECT c, n, j, DATALENGTH(c), DATALENGTH(n), DATALENGTH(j), b FROM dbo.t"),
          [("\u00e9\u00e9  ", "\u00e9\u00e9  ", "\u65e5x ", 4, 8, 4, b"\x01\x02\x03\x04")], "row")


# -- the round trip: what goes in through fullrack comes back equal through two other programs

D = decimal.Decimal
ROWS = 2000
EPOCH = datetime.date(1900, 1, 1).toordinal()
TICKS = 10 ** 7                     # of 100 ns, in a second
LATIN = "".join(chr(c) for c in range(0x20, 0x7f)) * 2 + '",\n\r\t;|" \n",'


def alphabet(*pages):
    return LATIN + "".join(b.decode(page) for page, lead in pages for b in lead)


def high_bytes(page, leave_out=()):
    return page, [bytes([b]) for b in range(0xa1, 0x100) if b not in leave_out]


ALPHABETS = {"cp1252": alphabet(high_bytes("cp1252")) + "\u20ac\u2019", "cp1250": alphabet(high_bytes("cp1250")) + "\u0160\u017e",
             "cp1251": alphabet(high_bytes("cp1251")) + "\u0402\u045f",
             "cp1253": alphabet(high_bytes("cp1253", (0xaa, 0xd2, 0xff))) + "\u20ac",
             "cp932": LATIN + "\u3042\u30a2\u30f3\u65e5\u672c\u8a9e\u6f22\u5b57\uff71\uff9d\u8868\u30bd" * 4,
             "utf-8": LATIN + "\u00e9\u0416\u03a9\u05d0\u0639\u0e01\u4e2d\uac00\u20ac\U0001F600\U00020BB7\u0301" * 8}


def text_of(rng, page, units, size):
    """Up to `units` in `size`'s measure; blanks at the end and everything a CSV must quote included."""
    letters, out = ALPHABETS[page], []
    left = rng.choice((0, 1, units, rng.randint(0, units), rng.randint(0, units)))
    while True:
        c = rng.choice(letters)
        left -= size(c)
        if left < 0:
            return "".join(out)
        out.append(c)


def in_bytes(page):
    return lambda s: len(s.encode(page))


def in_units(s):
    return len(s.encode("utf-16-le")) // 2


class Column:
    """A type: how a value is made and written, and how the two readers show it."""

    def __init__(self, ddl, make, write=str, select="%s", seen=lambda v: v, native=None, prefix=1):
        self.ddl, self.make, self.write, self.select, self.seen, self.prefix = ddl, make, write, select, seen, prefix
        self.is_binary = False
        # FreeTDS takes the bytes of a UTF-8 collation for code page 1252
        self.out = "%s"
        if "UTF8" in ddl:
            self.select = self.out = "CONVERT(nvarchar(40), %s)"
        self.native = native        # bytes of the native file -> what seen() gives


def integer(ddl, bits, form):
    low, high = (0, 2 ** bits - 1) if ddl in ("bit", "tinyint") else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    return Column(ddl, lambda g: g.choice((low, high, 0, g.randint(low, high), g.randint(low, high))),
                  native=lambda b: struct.unpack(form, b)[0])


def floating(ddl, form, make):
    return Column(ddl, make, write=repr, native=lambda b: struct.unpack(form, b)[0])


def money(ddl, bits):
    most = 2 ** (bits - 1)
    take = (lambda b: struct.unpack("<i", b)[0]) if bits == 32 else \
        (lambda b: (struct.unpack("<i", b[:4])[0] << 32) + struct.unpack("<I", b[4:])[0])
    return Column(ddl, lambda g: D(g.choice((-most, most - 1, 0, g.randint(-most, most - 1), g.randint(-99999, 99999)))).scaleb(-4),
                  write=lambda v: "%.4f" % v if bits == 32 else "{:f}".format(v), native=lambda b: D(take(b)).scaleb(-4))


def exact(ddl, precision, scale):
    most = 10 ** precision - 1
    with_scale = lambda n: D((1 if n < 0 else 0, tuple(int(c) for c in str(abs(n))), -scale))
    return Column(ddl, lambda g: with_scale(g.choice((most, -most, 0, 1, g.randint(-most, most), g.randint(-999, 999)))),
                  write="{:f}".format, native=lambda b: with_scale(int.from_bytes(b[3:], "big") * (-1 if b[2] else 1)))


def moment(g, first=1):
    """A day since 1900 and 100 ns in it."""
    days = g.choice((datetime.date(first, 1, 2).toordinal(), datetime.date(9999, 12, 30).toordinal(),
                     g.randint(datetime.date(first, 1, 2).toordinal(), datetime.date(9999, 12, 30).toordinal()))) - EPOCH
    return days, g.choice((0, 24 * 3600 * TICKS - 1, g.randrange(24 * 3600 * TICKS), 12 * 3600 * TICKS))


def day_text(days):
    d = datetime.date.fromordinal(days + EPOCH)
    return "%04d-%02d-%02d" % (d.year, d.month, d.day)


def time_text(ticks, scale):
    s = ticks // TICKS
    out = "%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60)
    return out + (".%07d" % (ticks % TICKS))[:scale + 1] if scale else out


def dates(ddl, scale, has_date=True, has_time=True, offset=False):
    """Values are the texts themselves, as CONVERT style 121 shows them."""
    unit = 10 ** (7 - scale)

    def show(days, ticks, minutes):
        text = " ".join(([day_text(days)] if has_date else []) + ([time_text(ticks, scale)] if has_time else []))
        return text + (" %s%02d:%02d" % ("-" if minutes < 0 else "+", abs(minutes) // 60, abs(minutes) % 60) if offset else "")

    def make(g):
        days, ticks = moment(g)
        return show(days, ticks // unit * unit, g.choice((0, 840, -840, g.randint(-840, 840))))

    def native(b):                  # DBDATETIMEALL: 100 ns, days, both UTC; minutes of offset
        ticks, days, minutes = struct.unpack("<qih", b[:14])
        if offset:
            ticks += minutes * 60 * TICKS
            days, ticks = days + ticks // (24 * 3600 * TICKS), ticks % (24 * 3600 * TICKS)
        return show(days, ticks, minutes)

    return Column(ddl, make, select="CONVERT(varchar(40), %s, 121)", native=native, prefix=2 if has_time else 1)


def old_datetime(g):
    days, ticks = moment(g, 1753)
    thirds = ticks * 300 // TICKS
    return datetime.datetime.fromordinal(days + EPOCH) + datetime.timedelta(milliseconds=(thirds * 10 + 1) // 3)


def old_datetime_native(b):
    days, thirds = struct.unpack("<iI", b)
    return datetime.datetime.fromordinal(days + EPOCH) + datetime.timedelta(milliseconds=(thirds * 10 + 1) // 3)


def quoted(s):
    return '"' + s.replace('"', '""') + '"'


def native_text(b):
    """One NUL is how db-lib writes an empty text."""
    return "" if b == b"\0" else b.decode("utf-8")


def texts(ddl, page, units, pad=0, prefix=2, wide=False):
    size = in_units if wide else in_bytes(page)
    return Column(ddl, lambda g: text_of(g, page, units if units < 9000 or g.random() < 0.05 else 40, size), write=quoted,
                  seen=lambda v: v + " " * max(0, pad - size(v)), prefix=prefix, native=native_text)


def binary(ddl, most, pad=0, prefix=2):
    def make(g):
        return g.randbytes(g.choice((0, 1, most, g.randint(0, most))) if most < 9000 or g.random() < 0.05 else g.randint(0, 40))
    c = Column(ddl, make, write=lambda v: "0x" + v.hex(), seen=lambda v: v + bytes(max(0, pad - len(v))), prefix=prefix,
               native=lambda b: b)
    c.is_binary = True
    return c


def collated(type, name):
    return "%s COLLATE %s" % (type, name)


def float_of(form, low, high):
    return lambda g: struct.unpack(form, struct.pack(form, g.choice((-1, 1)) * g.uniform(1, 2) * 2.0 ** g.randint(low, high)))[0]


COLUMNS = [
    texts("varchar(60)", "cp1252", 60),                                            # first: a text
    integer("bit", 1, "<B"), integer("tinyint", 8, "<B"), integer("smallint", 16, "<h"), integer("int", 32, "<i"),
    integer("bigint", 64, "<q"), floating("real", "<f", float_of("<f", -126, 126)), floating("float", "<d", float_of("<d", -1022, 1022)),
    money("smallmoney", 32), money("money", 64), exact("decimal(38,10)", 38, 10), exact("decimal(9,2)", 9, 2),
    exact("numeric(19,0)", 19, 0), exact("numeric(28,28)", 28, 28),
    dates("date", 0, has_time=False), dates("time(0)", 0, has_date=False), dates("time(3)", 3, has_date=False),
    dates("time(7)", 7, has_date=False), dates("datetime2(0)", 0), dates("datetime2(4)", 4), dates("datetime2(7)", 7),
    dates("datetimeoffset(0)", 0, offset=True), dates("datetimeoffset(2)", 2, offset=True), dates("datetimeoffset(7)", 7, offset=True),
    Column("datetime", old_datetime, write=lambda v: v.isoformat(" ", "milliseconds"), native=old_datetime_native),
    Column("smalldatetime", lambda g: datetime.datetime(1900, 1, 1) + datetime.timedelta(minutes=g.choice((0, 65535 * 1440 + 1439, g.randrange(65536 * 1440)))),
           native=lambda b: datetime.datetime(1900, 1, 1) + datetime.timedelta(*[(d, 0, 0, 0, m) for d, m in [struct.unpack("<HH", b)]][0])),
    binary("varbinary(30)", 30),                                                   # in the middle: every string and binary type
    texts("char(9)", "cp1252", 9, pad=9), texts(collated("char(8)", "Japanese_CI_AS"), "cp932", 8, pad=8),
    texts(collated("varchar(40)", "Polish_CI_AS"), "cp1250", 40), texts(collated("varchar(40)", "Cyrillic_General_CI_AS"), "cp1251", 40),
    texts(collated("varchar(40)", "Greek_CI_AS"), "cp1253", 40), texts(collated("varchar(40)", "Japanese_CI_AS"), "cp932", 40),
    texts(collated("varchar(40)", "Latin1_General_100_CI_AS_SC_UTF8"), "utf-8", 40),
    texts(collated("varchar(max)", "Cyrillic_General_CI_AS"), "cp1251", 9000), texts("text", "cp1252", 9000, prefix=4),
    texts("nchar(7)", "utf-8", 7, pad=7, wide=True), texts("nvarchar(50)", "utf-8", 50, wide=True),
    texts("nvarchar(max)", "utf-8", 9000, wide=True), texts("ntext", "utf-8", 9000, wide=True, prefix=4),
    binary("binary(5)", 5, pad=5), binary("varbinary(max)", 9000), binary("image", 9000, prefix=4),
    Column("uniqueidentifier", lambda g: uuid.UUID(int=g.getrandbits(128)), native=lambda b: uuid.UUID(bytes_le=b)),
    Column("nvarchar(max)", lambda g: json.dumps({"k": text_of(g, "utf-8", 20, in_units), "n": [g.randint(0, 9), None]},
                                                 ensure_ascii=g.random() < 0.5), write=quoted, prefix=2,
           native=native_text),                                                    # JSON text
    texts("nvarchar(30)", "utf-8", 30, wide=True),                                 # last: a text
]
WIRE_COLUMNS = [
    texts("xml", "utf-8", 9000, wide=True), binary("hierarchyid", 892), binary("geometry", 9000), binary("geography", 9000),
    texts("varchar(5)", "cp1252", 5),
]
NAMES = ["c%d" % i for i in range(len(COLUMNS))]
KEY = 5                             # the NOT NULL key stands here, so that neither end is sure to have a value


def with_key(items, key):
    return items[:KEY] + [key] + items[KEY:]


def read_native(path):
    """Rows of `freebcp out -n` as {key: values}: each value behind a length of 1, 2 or 4 bytes, 0 = NULL; NOT NULL fixed
    types bare.  An empty binary value looks like NULL there."""
    data, at, rows = open(path, "rb").read(), 0, {}
    while at < len(data):
        row = []
        for i, c in enumerate(COLUMNS):
            if i == KEY:
                key = struct.unpack("<i", data[at:at + 4])[0]
                at += 4
            n = int.from_bytes(data[at:at + c.prefix], "little")
            at += c.prefix
            row.append(None if n == 0 else c.native(data[at:at + n]))
            at += n
        rows[key] = row
    return rows


def compare(what, columns, got, want):
    for i, c in enumerate(columns):
        check(got[i] == want[i], "%s, column %s %s: came back as %r" % (what, "c%d" % i, c.ddl, got[i]), want[i])


def random_rows(seed, count, columns):
    """{key: values} and the lines of a CSV file that say so."""
    g = random.Random(seed)
    rows, lines = {}, []
    for key in range(count):
        values = [None if g.random() < 0.12 else c.make(g) for c in columns]
        if key in (0, 2):           # NULL everywhere, before and after a row that is empty wherever it can be
            values = [None] * len(columns)
        elif key == 1:
            values = [b"" if c.is_binary else "" if c.write is quoted else None for c in columns]
        rows[key] = values
        lines.append(",".join(with_key(["" if v is None else c.write(v) for v, c in zip(values, columns)], str(key))) + "\n")
    return rows, lines


def table_of(columns):
    return "CREATE TABLE dbo.t (%s)" % ", ".join(with_key(["c%d %s NULL" % (i, c.ddl) for i, c in enumerate(columns)],
                                                          "id int NOT NULL"))


def round_trip(r, engine, columns):
    """2,000 random rows; FULLRACK_TEST_SEED repeats a run."""
    seed = int(os.environ.get("FULLRACK_TEST_SEED", random.randrange(10 ** 9)))
    print("round trip (%s): seed %d" % (engine, seed))
    rows, lines = random_rows(seed, ROWS, columns)
    names = ["c%d" % i for i in range(len(columns))]
    r.fresh(table_of(columns))
    f = r.file("round.csv", "".join(lines))
    d = r.json("load", "dbo.t", f, "--format", "csv", "-b", "700", "--engine", engine)
    equal((d["rows"], d["rejected"], d["tasks"][0]["trimmed_values"], d["engine"]), (ROWS, 0, 0, engine), "counts of seed %d" % seed)
    want = {key: [None if v is None else c.seen(v) for v, c in zip(values, columns)] for key, values in rows.items()}
    got = {row[0]: list(row[1:]) for row in r.sql("SELECT id, %s FROM dbo.t" % ", ".join(c.select % n for n, c in zip(names, columns)))}
    equal(len(got), ROWS, "rows through pymssql")
    for key in range(ROWS):
        compare("seed %d, row %d through pymssql" % (seed, key), columns, got[key], want[key])
    return seed, want


def test_round_trip(r):
    """Over every type that the bcp engine carries, read by two other programs."""
    seed, want = round_trip(r, "bcp", COLUMNS)
    path = os.path.join(r.dir, "round.bcp")
    query = "SELECT %s FROM t.dbo.t" % ", ".join(with_key([c.out % n for n, c in zip(NAMES, COLUMNS)], "id"))
    p = subprocess.run(["freebcp", query, "queryout", path, "-n", "-C", "UTF-8", "-S", r.address, "-U", "sa", "-P", rack.PASSWORD],
                       capture_output=True, text=True, timeout=120)
    check(p.returncode == 0 and "%d rows copied" % ROWS in p.stdout, "freebcp out", p.stdout, p.stderr)
    got = read_native(path)
    equal(len(got), ROWS, "rows through freebcp")
    for key in range(ROWS):
        compare("seed %d, row %d through freebcp" % (seed, key), COLUMNS, got[key], [None if v == b"" else v for v in want[key]])


def test_round_trip_by_the_wire_engine(r):
    """With xml and CLR columns besides."""
    round_trip(r, "wire", COLUMNS + WIRE_COLUMNS)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "2")
