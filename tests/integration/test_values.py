#!/usr/bin/python3
"""fullrack load: NULL, empty, blanks, NUL and the decimal sign, over every class of types."""
import decimal, sys
from rack import *

OTHERS = ("bit", "int", "bigint", "decimal(9,2)", "money", "float", "real", "date", "time(3)", "datetime", "smalldatetime", "datetime2(3)",
          "datetimeoffset(3)", "uniqueidentifier", "binary(2)", "varbinary(5)", "varbinary(max)")
TEXTS = ("char(3)", "varchar(5)", "varchar(max)", "text", "nchar(3)", "nvarchar(5)", "nvarchar(max)", "ntext")
NAMES = ["c%d" % i for i in range(len(OTHERS) + len(TEXTS))]


def all_types(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, %s)" % ", ".join("%s %s NULL" % pair for pair in zip(NAMES, OTHERS + TEXTS)))


def nulls(r):
    """Per row: which columns are NULL."""
    return [[v is None for v in row[1:]] for row in r.sql("SELECT * FROM dbo.t ORDER BY id")]


def test_empty_in_three_modes(r):
    """Not quoted and quoted, in every type: only text columns know an empty value."""
    count, text = len(NAMES), [False] * len(OTHERS) + [True] * len(TEXTS)
    f = r.file("e.csv", "1%s\n2%s\n3%s\n" % ("," * count, ",\"\"" * count, "," * count))
    for mode, unquoted, quoted in (("auto", False, True), ("null", False, False), ("empty", True, True)):
        all_types(r)
        r.fullrack("load", "-q", "dbo.t", f, "--format", "csv", "--empty", mode)
        want = [[not (is_text and kept) for is_text in text] for kept in (unquoted, quoted, unquoted)]
        equal(nulls(r), want, "NULLs with --empty " + mode)
        for i, name in enumerate(NAMES):
            if quoted and text[i] and TEXTS[i - len(OTHERS)] not in ("text", "ntext"):
                width = 3 if TEXTS[i - len(OTHERS)] in ("char(3)", "nchar(3)") else 0
                equal(r.sql("SELECT %s FROM dbo.t WHERE id = 2" % name), [(" " * width,)], "empty value of " + TEXTS[i - len(OTHERS)])


def test_empty_of_other_formats(r):
    """Without quotes there is one kind of empty."""
    for form in ("delimited", "bcp"):
        for mode, want in (("auto", None), ("null", None), ("empty", "")):
            r.fresh("CREATE TABLE dbo.t (a varchar(5) NULL, n int NULL, b nvarchar(5) NULL)")
            r.fullrack("load", "-q", "dbo.t", r.file("e.txt", "\t\t\n\t1\t\nx\t2\t\n"), "--format", form, "--empty", mode)
            equal(r.sql("SELECT a, n, b FROM dbo.t"), [(want, None, want), (want, 1, want), ("x", 2, want)], "%s, %s" % (form, mode))


def test_null_words(r):
    """Several, whole fields only, with their case, never quoted ones; the empty word too."""
    all_types(r)
    row = lambda i, word: "%d,%s\n" % (i, ",".join([word] * len(NAMES)))
    f = r.file("n.csv", row(1, "NULL") + row(2, "\\N") + row(3, ""))
    r.fullrack("load", "-q", "dbo.t", f, "--format", "csv", "--null", "NULL", "--null", "\\N", "--null", "", "--empty", "empty")
    equal(nulls(r), [[True] * len(NAMES)] * 3, "every type")
    r.fresh("CREATE TABLE dbo.t (v varchar(9) NULL)")
    f = r.file("w.csv", "NULL\n\"NULL\"\nnull\nNULLS\nNUL\n NULL\n")
    r.fullrack("load", "-q", "dbo.t", f, "--format", "csv", "--null", "NULL")
    equal(r.sql("SELECT v FROM dbo.t"), [(None,), ("NULL",), ("null",), ("NULLS",), ("NUL",), (" NULL",)], "words")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "-q", "dbo.t", r.file("u.txt", "\u0416\nx\n".encode("utf-16")), "--null", "\u0416")
    equal(r.sql("SELECT v FROM dbo.t"), [(None,), ("x",)], "a word of another encoding")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fullrack("load", "dbo.t", r.file("nn.txt", "1\nNULL\n"), "--null", "NULL", exit=1)
    check("row 2 (byte 2): column id is NULL" in r.err, "message", r.err)


def test_trim(r):
    """Blanks around unquoted fields go before anything else looks at them."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL, c char(3) NULL)")
    f = r.file("t.csv", " 1 ,\t a b \t, x\n2,\"  q \",\" y\"\n3,  ,\"\"\n4, NULL ,\" NULL\"\n")
    r.fullrack("load", "-q", "dbo.t", f, "--format", "csv", "--trim", "--null", "NULL", "-m", "1", "-e", r.file("t.rej", ""))
    equal(r.sql("SELECT id, v, c FROM dbo.t ORDER BY id"), [(1, "a b", "x  "), (2, "  q ", " y "), (3, None, "   ")], "rows")
    r.sql("DELETE FROM dbo.t")
    f = r.file("t.txt", "1| \"a\" |\n2|   |b \n")
    r.fullrack("load", "-q", "dbo.t", f, "-t", "|", "--trim", "--empty", "empty")
    equal(r.sql("SELECT id, v, c FROM dbo.t ORDER BY id"), [(1, "\"a\"", "   "), (2, "", "b  ")], "quotes are text here")
    r.sql("DELETE FROM dbo.t")
    r.fullrack("load", "-q", "dbo.t", r.file("k.csv", "1,  , x \n"), "--format", "csv")
    equal(r.sql("SELECT id, v, c FROM dbo.t"), [(1, "  ", " x ")], "without --trim blanks stay")


def test_decimal_comma(r):
    """In CSV such a number is quoted, or the fields end with something else; a point is then an error."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, d decimal(9,2) NULL, f float NULL, m money NULL, v varchar(9) NULL)")
    want = [(1, decimal.Decimal("1.50"), -2.25, decimal.Decimal("3.1400"), "a,b"), (2, decimal.Decimal("7.00"), 8.0, decimal.Decimal("9.0000"), "1.5")]
    for name, content, options in (("c.csv", '1,"1,5","-2,25","3,14","a,b"\n2,7,8,9,1.5\n', ()),
                                   ("s.csv", "1;1,5;-2,25;3,14;a,b\n2;7;8;9;1.5\n", ("-t", ";"))):
        r.sql("DELETE FROM dbo.t")
        r.fullrack("load", "-q", "dbo.t", r.file(name, content), "--format", "csv", "--decimal", ",", *options)
        equal(r.sql("SELECT * FROM dbo.t ORDER BY id"), want, name)
    for column, fields in (("d", "1.5;1;1;x"), ("f", "1;1.5;1;x"), ("m", "1;1;1.5;x")):
        r.fullrack("load", "dbo.t", r.file("p.csv", "1;%s\n" % fields), "--format", "csv", "-t", ";", "--decimal", ",", exit=1)
        check("column %s: \"1.5\"" % column in r.err, "a point in " + column, r.err)
    r.fullrack("load", "dbo.t", r.file("q.csv", "1;1,5;1;1;x\n"), "--format", "csv", "-t", ";", exit=1)
    check("column d: \"1,5\"" in r.err, "a comma without the option", r.err)


def test_nul_characters(r):
    """Kept within text, in every format and encoding; no number holds one."""
    want = [(1, "a\0b"), (2, "\0c"), (3, "d\0"), (4, "\0\0")]
    text = "".join("%d|%s\n" % row for row in want)
    for type_ in ("varchar(9)", "nvarchar(9)", "varchar(max)", "nvarchar(max)"):
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v %s NULL)" % type_)
        for form in ("csv", "delimited", "bcp"):
            for name, content in (("utf-8", text.encode()), ("utf-16", text.encode("utf-16")), ("utf-32", text.encode("utf-32"))):
                r.sql("DELETE FROM dbo.t")
                r.fullrack("load", "-q", "dbo.t", r.file("nul", content), "--format", form, "-t", "|")
                equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), want, "%s, %s, %s" % (type_, form, name))
    r.fullrack("load", "dbo.t", r.file("nul", "1\0|x\n"), "-t", "|", exit=1)
    check("column id: \"1\\x00\"" in r.err, "message", r.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
