#!/usr/bin/python3
"""README's table 'your file, and its options': a file as each program writes it, loaded with the options of the table."""
import datetime, os, re, shlex, struct, sys
from rack import *

HERE = os.path.dirname(os.path.abspath(__file__))
DDL = "CREATE TABLE dbo.t (id int NOT NULL, name nvarchar(10) NULL, price decimal(8,2) NULL, day date NULL)"
ROWS = [(1, "K\u00f6ln", "12.50", "2024-05-31"), (2, None, None, None), (3, "a;b,\"c\"", "-0.75", "1999-01-02")]

# by the begin of the table's first column: the rows of `t` in that program's file
FILES = {
    "SQL Server Management Studio": (b"\xef\xbb\xbf", "1,K\u00f6ln,12.50,2024-05-31\r\n2,NULL,NULL,NULL\r\n3,\"a;b,\"\"c\"\"\",-0.75,1999-01-02\r\n", "utf-8"),
    "the same as text in UTF-16": (b"\xff\xfe", "1\tK\u00f6ln\t12.50\t2024-05-31\r\n2\tNULL\tNULL\tNULL\r\n3\ta;b,\"c\"\t-0.75\t1999-01-02\r\n", "utf-16-le"),
    "SQL Server, `bcp -c`": (b"", "1\tK\u00f6ln\t12.50\t2024-05-31\r\n2\t\t\t\r\n3\ta;b,\"c\"\t-.75\t1999-01-02\r\n", "utf-8"),
    "Excel, CSV UTF-8": (b"\xef\xbb\xbf", "Id,Name,Price,Day\r\n1,K\u00f6ln,12.5,2024-05-31\r\n2,,,\r\n3,\"a;b,\"\"c\"\"\",-0.75,1999-01-02\r\n", "utf-8"),
    "Excel, German": (b"", "Id;Name;Price;Day\r\n1;K\u00f6ln;12,50;31.05.2024\r\n2;;;\r\n3;\"a;b,\"\"c\"\"\";-0,75;02.01.1999\r\n", "cp1252"),
    "Postgres, `COPY ... TO`": (b"", "1\tK\u00f6ln\t12.50\t2024-05-31\n2\t\\N\t\\N\t\\N\n3\ta;b,\"c\"\t-0.75\t1999-01-02\n", "utf-8"),
    "Postgres, `COPY ... CSV HEADER`": (b"", "id,name,price,day\n1,K\u00f6ln,12.50,2024-05-31\n2,,,\n3,\"a;b,\"\"c\"\"\",-0.75,1999-01-02\n", "utf-8"),
    "MySQL, `SELECT": (b"", "1\tK\u00f6ln\t12.50\t2024-05-31\n2\t\\N\t\\N\t\\N\n3\ta;b,\"c\"\t-0.75\t1999-01-02\n", "utf-8"),
    "MySQL, the same": (b"", "\"1\"\t\"K\u00f6ln\"\t\"12.50\"\t\"2024-05-31\"\n\"2\"\t\\N\t\\N\t\\N\n\"3\"\t\"a;b,\\\"c\\\"\"\t\"-0.75\"\t\"1999-01-02\"\n", "utf-8"),
    "Oracle": (b"", "\"ID\",\"NAME\",\"PRICE\",\"DAY\"\n1,\"K\u00f6ln\",12.5,\"31-MAY-2024\"\n2,\"\",,\"\"\n3,\"a;b,\"\"c\"\"\",-.75,\"02-JAN-1999\"\n", "utf-8"),
    "pandas": (b"", ",id,name,price,day\n0,1,K\u00f6ln,12.5,2024-05-31\n1,2,,,\n2,3,\"a;b,\"\"c\"\"\",-0.75,1999-01-02\n", "utf-8"),
    "SAS": (b"", "id,name,price,day\n1,K\u00f6ln,12.5,31MAY2024\n2, ,.,.\n3,\"a;b,\"\"c\"\"\",-0.75,02JAN1999\n", "utf-8"),
    "mainframe": (b"", "0001Koln      00012.502024-05-31\n0002                            \n0003a;b,\"c\"   -0000.751999-01-02\n", "ascii"),
}


def options_of_the_table():
    """First column -> option lists (several where the row says 'this; that')."""
    with open(os.path.join(HERE, "..", "..", "README.md"), encoding="utf-8") as f:
        text = f.read()
    section = text.split("### Your file, and its options")[1].split("\n### ")[0]
    out = {}
    for line in section.split("\n"):
        m = re.match(r"\| (.*?) \| (`.*`) \|$", line)
        if m:
            out[m.group(1)] = [shlex.split(o.replace("\\|", "|")) for o in re.findall(r"`(.*?)`", m.group(2))]
    return out


def load(r, what, content, options, expected=ROWS):
    r.fresh(DDL)
    d = r.json("load", "dbo.t", r.file("export", content), *options)
    equal((d["rows"], d["rejected"]), (len(expected), 0), "counts of " + what)
    got = [tuple(None if v is None else str(v) for v in row) for row in r.sql("SELECT * FROM dbo.t ORDER BY id")]
    equal(got, [(str(row[0]),) + row[1:] for row in expected], "values of " + what)


def test_texts(r):
    table = options_of_the_table()
    seen = set()
    for begin, (mark, text, encoding) in FILES.items():
        what = [w for w in table if w.startswith(begin)]
        equal(len(what), 1, "rows of README's table that begin with %r" % begin)
        seen.add(what[0])
        expected = ROWS
        if begin == "mainframe":
            expected = [(1, "Koln", "12.50", "2024-05-31"), ROWS[1], ROWS[2]]
        if begin == "Oracle":       # whose '' is NULL: quoted, it stays ''
            expected = [ROWS[0], (2, "", None, None), ROWS[2]]
        if begin == "SAS":          # which writes a blank for a missing text
            expected = [ROWS[0], (2, " ", None, None), ROWS[2]]
        load(r, what[0], mark + text.encode(encoding), table[what[0]][0], expected)
    rest = [w for w in table if w not in seen]
    equal(sorted(rest), ["SQL Server, `bcp -N`", "SQL Server, `bcp -n`", "TPC-H dbgen, LineItem"], "rows of the table that are tried below")


def test_dbgen(r):
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL, b varchar(10) NULL)")
    r.json("load", "dbo.t", r.file("dbgen", "1|x|\n2||\n"), *options_of_the_table()["TPC-H dbgen, LineItem"][0])
    equal(r.sql("SELECT * FROM dbo.t ORDER BY a"), [(1, "x"), (2, None)], "values")


def native_rows(text):
    """Rows as bcp writes them: int NOT NULL bare, then a prefix (-1: NULL) and the value."""
    out = b""
    for key, name, price, day in ROWS:
        out += struct.pack("<i", key)
        out += struct.pack("<h", -1) if name is None else struct.pack("<h", len(text(name))) + text(name)
        if price is None:
            out += struct.pack("<bb", -1, -1)
            continue
        cents = int(price.replace(".", ""))
        out += struct.pack("<bBBB", 19, 8, 2, 1 if cents >= 0 else 0) + abs(cents).to_bytes(16, "little")
        out += struct.pack("<b", 3) + (datetime.date.fromisoformat(day) - datetime.date(1, 1, 1)).days.to_bytes(3, "little")
    return out


def test_native(r):
    table = options_of_the_table()
    # bcp -n writes nvarchar as it is, -N the varchar columns too
    for what in ("SQL Server, `bcp -n`", "SQL Server, `bcp -N`"):
        load(r, what, native_rows(lambda name: name.encode("utf-16-le")), table[what][0])


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
