#!/usr/bin/python3
"""fullrack load: what stands around the values: packing, encodings, rejects, headers, rows that never end."""
import binascii, bz2, gzip, json, lzma, os, subprocess, sys
from rack import *


def test_resume_of_a_packed_source(r):
    """The ledger counts decoded bytes: a packed and transcoded source goes on in the middle."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(20) NULL)")
    text = "".join("%d\t\u0416%d\n" % (i, i) for i in range(1, 8)) + "x\t\u0416\n9\t\u0416\n"
    f = r.file("rows.gz", gzip.compress(text[:40].encode("utf-16")) + gzip.compress(text[40:].encode("utf-16-le")))
    t = r.json("load", "dbo.t", f, "-b", "3", exit=1)["tasks"][0]
    equal(t["rows"], 6, "rows of the first attempt")
    d = r.json("load", "dbo.t", f, "-b", "3", "-m", "1", "--resume", t["load_id"])
    equal((d["rows"], d["rejected"]), (8, 1), "totals")
    equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(i, "\u0416%d" % i) for i in (1, 2, 3, 4, 5, 6, 7)] + [(9, "\u0416")], "rows")


def test_packed_text_that_looks_packed(r):
    """What a file unpacks to is data: uuencoded text stays text, and what is packed twice is refused."""
    r.fresh("CREATE TABLE dbo.t (v varchar(80) NULL)")
    rows = ["begin 644 x"] + [binascii.b2a_uu(b"row %d" % i).decode().strip() for i in range(5)] + ["`", "end", "last"]
    text = "".join(v + "\n" for v in rows).encode()
    for name, pack in (("u.xz", lzma.compress), ("u.bz2", bz2.compress), ("u.gz", gzip.compress)):
        r.sql("DELETE FROM dbo.t")
        equal(r.json("load", "dbo.t", r.file(name, pack(text)))["rows"], len(rows), "rows of " + name)
        equal(sorted(v for v, in r.sql("SELECT v FROM dbo.t")), sorted(rows), "values of " + name)
    r.sql("DELETE FROM dbo.t")
    for name, content in (("gz.xz", lzma.compress(gzip.compress(b"a\n"))), ("xz.xz", lzma.compress(lzma.compress(b"a\n"))),
                          ("bz2.bz2", bz2.compress(bz2.compress(b"a\n"))), ("xz.gz", gzip.compress(lzma.compress(b"a\n")))):
        r.fullrack("load", "dbo.t", r.file(name, content), exit=1)
        check(name in r.err and "packed once more" in r.err, "message of " + name, r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")


def test_damaged_packed_file_loads_nothing(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    whole = gzip.compress("".join("%d\n" % i for i in range(50000)).encode())
    wrong_sum = bytearray(whole)
    wrong_sum[-6] ^= 1
    for name, content, words in (("sum.gz", bytes(wrong_sum), "incorrect data check"), ("cut.gz", whole[:-3], "middle of the packed data"),
                                 ("more.gz", whole + b"extra", "byte %d of the file, behind the end" % len(whole))):
        r.fullrack("load", "dbo.t", r.file(name, content), exit=1)
        check(name in r.err and words in r.err, "message of " + name, r.err)
        equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows of " + name)


def test_bad_bytes_name_their_place(r):
    """Rows in front of the bytes are counted, so that the row's number is right; nothing is left out."""
    r.fresh("CREATE TABLE dbo.t (v nvarchar(20) NULL)")
    f = r.file("bad16.txt", "ab\ncd\n".encode("utf-16") + b"\x00\xdcx\x00\n\x00")
    r.fullrack("load", "dbo.t", f, "-m", "5", exit=1)
    check("bad16.txt: row 3 (byte 6): byte 14 of the file: 00 dc" in r.err, "message", r.err)
    f = r.file("odd.txt", "ab\n".encode("utf-16-le") + b"x")
    r.fullrack("load", "dbo.t", f, "-C", "UTF-16", exit=1)
    check("byte 6 of the file: 78: the text ends in the middle of a character" in r.err, "message", r.err)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "nothing stays")
    r.fullrack("load", "dbo.t", f, "-C", "CP1252//IGNORE", exit=2)
    check("plain name" in r.err, "message", r.err)


# name, Python's codec, options, mark
ENCODINGS = (("utf-8 with a mark", "utf-8", (), b"\xef\xbb\xbf"), ("utf-16 with a mark", "utf-16-le", (), b"\xff\xfe"),
             ("utf-16 without one", "utf-16-le", ("-C", "UTF-16"), b""), ("utf-16 big endian", "utf-16-be", (), b"\xfe\xff"),
             ("utf-32", "utf-32-le", (), b"\xff\xfe\0\0"), ("cp1251", "cp1251", ("-C", "CP1251"), b""),
             ("shift_jis", "shift_jis", ("-C", "SHIFT_JIS"), b""), ("stateful", "iso2022_jp", ("-C", "ISO-2022-JP"), b""))


def test_encodings_of_a_byte_a_character(r):
    """They are split as they lie in the file: a byte that is no character is one bad row, offsets are the file's."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, [v\u017e] nvarchar(20) NULL, w varchar(20) COLLATE Latin1_General_CI_AS NULL)")
    rows = [(1, "\u017elu\u0165", None), (2, "n\u00edc", "x"), (4, "", None), (5, None, "d")]
    text = "id\u00a7v\u017e\u00a7w\n1\u00a7\u017elu\u0165\u00a7\n2\u00a7n\u00edc\u00a7x\n3\u00a7@\u00a7\n4\u00a7\"\"\u00a7\n5\u00a7nen\u00ed\u00a7d\n"
    f = r.file("1250.csv", text.encode("cp1250").replace(b"@", b"a\x81"))
    options = ("--format", "csv", "--header", "match", "-t", "\u00a7", "-C", "CP1250", "--null", "nen\u00ed")
    r.fullrack("load", "dbo.t", f, *options, exit=1)
    check("1250.csv: row 3 (byte 24): column v\u017e: \"a\\x81\" has the byte 0x81, which is no character of CP1250" in r.err, "message", r.err)
    rejects = os.path.join(r.dir, "1250.bad")
    d = r.json("load", "dbo.t", f, *options, "-m", "1", "-e", rejects)
    equal((d["rows"], d["rejected"]), (4, 1), "counts")
    equal(r.sql("SELECT * FROM dbo.t ORDER BY id"), rows, "values")
    with open(rejects, "rb") as file:
        bad = file.read()
    equal(bad, b"id\xa7v\x9e\xa7w\n3\xa7a\x81\xa7\n", "rejected bytes, behind the header")
    equal(r.json("load", "dbo.t", r.file("mended.csv", bad.replace(b"\x81", b"\x82")), *options)["rows"], 1, "the mended file, same options")
    equal(r.sql("SELECT * FROM dbo.t WHERE id = 3"), [(3, "a\u201a", None)], "mended values")
    for t, word in (("\u20ac\u010c\u3042", "does not exist in CP1250"), ("0xa7", None)):
        r.fullrack("load", "dbo.t", f, *options, "-t", t, "-m", "1", exit=2 if word else 0)
        check(word is None or word in r.err, "message", r.err)


def test_rejects_are_in_the_encoding_of_the_source(r):
    """Each rejected row as it stood, behind the source's mark: the file loads with the same options."""
    for name, codec, options, mark in ENCODINGS:
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v nvarchar(20) NULL)")
        lines = ["1,\u0416\n", "x,\u0416\u0417\n", "3,z\n", "y,\"\u0418\u0416\"\r\n", "5,\n", "z,\u0418"]
        f = r.file("src.csv", mark + b"".join(line.encode(codec) for line in lines))
        e = os.path.join(r.dir, "enc.rejects")
        d = r.json("load", "dbo.t", f, "--format", "csv", "-m", "9", "-e", e, *options)
        equal((d["rows"], d["rejected"]), (3, 3), "counts, " + name)
        want = mark + b"".join(line.encode(codec) for line in lines[1::2])
        equal(open(e, "rb").read(), want, "reject file, " + name)
        equal([json.loads(n)["value"] for n in open(e + ".json")], ["x", "y", "z"], "notes, " + name)
        r.fresh("CREATE TABLE dbo.t (id nvarchar(9) NOT NULL, v nvarchar(20) NULL)")
        equal(r.json("load", "dbo.t", e, "--format", "csv", *options)["rows"], 3, "rows of the reject file, " + name)
        equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [("x", "\u0416\u0417"), ("y", "\u0418\u0416"), ("z", "\u0418")], name)


def test_rejects_of_a_transcoded_source_after_a_resume(r):
    """The ledger's length is the file's, in the source's encoding: rejects of a batch that was rolled back go."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    lines = ["a\u0416\n", "1\n", "2\n", "b\u0416\n", "3\n", "c\u0416\n", "4\n"]
    f = r.file("re.txt", "".join(lines).encode("utf-16"))
    e = os.path.join(r.dir, "re.rejects")
    t = r.json("load", "dbo.t", f, "-b", "2", "-m", "2", "-e", e, exit=1)["tasks"][0]
    want = lambda *rows: b"\xff\xfe" + "".join(lines[i] for i in rows).encode("utf-16-le")
    check(open(e, "rb").read().startswith(want(0, 3)), "rejects of the first attempt", open(e, "rb").read())
    equal(r.sql("SELECT reject_bytes FROM dbo.fullrack_ledger WHERE load_id = '%s'" % t["load_id"]), [(len(want(0, 3)),)], "length")
    d = r.json("load", "dbo.t", f, "-b", "2", "-m", "3", "-e", e, "--resume", t["load_id"])
    equal((d["rows"], d["rejected"]), (4, 3), "totals")
    equal(open(e, "rb").read(), want(0, 3, 5), "reject file")
    equal([json.loads(n)["row"] for n in open(e + ".json")], [1, 4, 6], "notes")


def test_notes_are_json_whatever_the_bytes(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, [q\"\\\u0416] int NULL)")
    rows = [bytes([b]) * n for b in range(256) if b not in (9, 10) for n in (1, 200)] + [b"\xc3\xa9" * 100, b"x" * 119 + b"\xc3\xa9", b"\"\\"]
    f = r.file("any.txt", b"".join(b"1\t%s\n" % v for v in rows))
    e = os.path.join(r.dir, "any.rejects")
    d = r.json("load", "dbo.t", f, "-m", "9999", "-e", e, "--format", "delimited", "-r", "0x0a")
    data = open(e + ".json", "rb").read()
    notes = [json.loads(line.decode("utf-8", "strict")) for line in data.splitlines()]
    equal(len(notes), d["rejected"], "notes")
    check(d["rejected"] > 400, "rejected", d["rejected"])
    for n in notes:
        equal(n["column"], "q\"\\\u0416", "column")
        check(n["row"] >= 1 and n["byte"] >= 0 and n["reason"] and len(n["value"].encode()) <= 123, "note", n)


def test_header_behind_blank_lines(r):
    """Blank lines of CSV are skipped, in front of the header too."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL)")
    for header, first, mark in (("skip", "anything,here,at all", b""), ("match", "v,id", b""), ("match", "v,id", b"\xef\xbb\xbf")):
        r.sql("DELETE FROM dbo.t")
        order = "%s,%d\n" if header == "match" else "%d,%s\n"
        rows = "".join(order % (("v%d" % i, i) if header == "match" else (i, "v%d" % i)) for i in (1, 2))
        d = r.json("load", "dbo.t", r.file("blank.csv", mark + ("\n\r\n" + first + "\n\n" + rows).encode()), "--format", "csv",
                   "--header", header)
        t = d["tasks"][0]
        equal((t["rows"], t["rejected"], t["skipped"]), (2, 0, 4), "counts of " + header)
        equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), [(1, "v1"), (2, "v2")], "rows of " + header)
    equal(r.json("load", "dbo.t", r.file("only.csv", "\n\n"), "--format", "csv", "--header", "match")["rows"], 0, "only blank lines")


def test_header_names_with_quotes(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, [a\"b] varchar(10) NULL, [c,d] int NULL)")
    r.fullrack("load", "-q", "dbo.t", r.file("h.csv", '"c,d","a""b",id\n3,x,1\n'), "--format", "csv", "--header", "match")
    equal(r.sql("SELECT * FROM dbo.t"), [(1, "x", 3)], "row")


def test_row_range_with_header_blanks_rejects_and_resume(r):
    """-F and -L count rows: not the header, not blank lines, but rejected ones; the same in batches and after a resume."""
    text = "\nv,id\n" + "".join(("\n" if i % 3 == 0 else "") + ("bad,x%d\n" % i if i in (2, 5, 9) else "v%d,%d\n" % (i, i))
                                for i in range(1, 13))
    want = [(3, "v3"), (4, "v4"), (6, "v6"), (7, "v7"), (8, "v8"), (10, "v10")]
    e = os.path.join(r.dir, "range.rejects")
    for mark in (b"", b"\xef\xbb\xbf"):
        f = r.file("range.csv", mark + text.encode())
        options = ("--format", "csv", "--header", "match", "-F", "3", "-L", "10", "-e", e)
        for batch in ("0", "1", "2", "3"):
            r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL)")
            d = r.json("load", "dbo.t", f, "-b", batch, "-m", "2", *options)["tasks"][0]
            equal((d["rows"], d["rejected"], d["skipped"]), (6, 2, 10), "counts, batches of " + batch)
            equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), want, "rows, batches of " + batch)
            equal(open(e, "rb").read(), mark + b"v,id\nbad,x5\nbad,x9\n", "rejects")
            equal([json.loads(n)["row"] for n in open(e + ".json")], [5, 9], "rows of the notes")
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(10) NULL)")
        t = r.json("load", "dbo.t", f, "-b", "2", "-m", "1", *options, exit=1)["tasks"][0]
        check(0 < t["rows"] < 6, "rows of the first attempt", t["rows"])
        d = r.json("load", "dbo.t", f, "-b", "2", "-m", "2", *options, "--resume", t["load_id"])["tasks"][0]
        equal((d["rows"], d["rejected"], d["skipped"]), (6, 2, 10), "counts after the resume")
        equal(r.sql("SELECT id, v FROM dbo.t ORDER BY id"), want, "rows after the resume")
        equal(open(e, "rb").read(), mark + b"v,id\nbad,x5\nbad,x9\n", "rejects after the resume")


def peak_bytes(r, *args):
    """Exit status, messages, and the most memory a process of the command used."""
    err = open(os.path.join(r.dir, "peak.err"), "w+b")
    p = subprocess.Popen(r.command(*args), stdout=subprocess.DEVNULL, stderr=err, env=r.env())
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    err.seek(0)
    return p.returncode, err.read().decode("utf-8", "replace"), usage.ru_maxrss * 1024


def test_field_that_never_ends(r):
    """A quote that is never closed in 100 MB: an error with row, byte and column, in the memory that was promised."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(max) NULL)")
    f = os.path.join(r.dir, "endless.csv")
    with open(f, "wb") as out:
        out.write(b"1,a\n2,\"")
        for _ in range(100):
            out.write((b"x" * 1023 + b"\n") * 1024)
    largest_row = (64 + 16) << 20
    status, err, peak = peak_bytes(r, "load", "dbo.t", f, "--format", "csv")
    equal(status, 1, "exit status")
    check("endless.csv: row 2 (byte 4): field 2, column v: \"xxx" in err and "--max-field-bytes" in err, "message", err)
    check(peak <= (64 << 20) + 3 * largest_row, "peak memory", peak)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(0,)], "rows")
    os.unlink(f)


def test_field_longer_than_allowed(r):
    """As long as its row fits, it is a bad row like another."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(max) NULL)")
    f = r.file("long.csv", "1,%s\n2,\"%s\"\n3,\"%s\"\n4,b\n" % ("a" * 1000, "b" * 1001, "c\"\"" * 3000))
    e = os.path.join(r.dir, "long.rejects")
    d = r.json("load", "dbo.t", f, "--format", "csv", "--max-field-bytes", "1000", "-m", "2", "-e", e)
    equal((d["rows"], d["rejected"]), (2, 2), "counts")
    notes = [json.loads(n) for n in open(e + ".json")]
    equal([(n["row"], n["column"]) for n in notes], [(2, "v"), (3, "v")], "notes")
    check("--max-field-bytes" in notes[0]["reason"], "reason", notes[0])


def test_rows_that_cannot_be_split_name_their_column(r):
    """Before the columns are known the field's number stands for the name."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL)")
    for content, form, words in (("1,a\n2,\"b\"c\n", "csv", "row 2 (byte 4), column v: \"b\" has text behind its closing quote"),
                                 ("1,a\n2,\"b\n3,c\n", "csv", "row 2 (byte 4), column v: \"b\\x0a3,c\\x0a\" has no closing quote"),
                                 ("\"a\"b,2\n", "csv", "row 1 (byte 0): field 1 has text behind its closing quote"),
                                 ('1,"a \\"b\\" c"\n', "csv", "field 2 has text behind its closing quote (with --escape '\\'"),
                                 ("1\ta\n2", "bcp", "row 2 (byte 4), column id: \"2\" is not ended")):
        r.fullrack("load", "dbo.t", r.file("split.txt", content), "--format", form, exit=1)
        check(words.replace("), column", "): column") in r.err, "message", r.err)
    for option, value, words in (("-t", "", "-t: a terminator cannot be empty"), ("-r", "\\q", "-r: terminator \\q"), ("-t", "\"x", "-t: it begins")):
        r.fullrack("load", "dbo.t", r.file("split.txt", "1\n"), "--format", "csv", option, value, exit=2)
        check(words in r.err, "message", r.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
