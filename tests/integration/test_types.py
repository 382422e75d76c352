#!/usr/bin/python3
"""Every SQL type: fullrackd keeps and describes it, and what fullrack loads comes back equal."""
import json, os, struct, sys
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
        r.fullrack("load", "dbo.t", f, exit=2)
        check("column strange has type %s" % type in r.err and way in r.err, "message", r.err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows of " + type)
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL, strange AS CAST(v AS xml))")
    equal(r.json("load", "dbo.t", f)["rows"], 2, "rows beside a computed xml column")
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


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "2")
