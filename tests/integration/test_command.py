#!/usr/bin/python3
"""fullrack's options and commands around a load: hints, servers as sqlcmd writes them, query."""
import sys
from rack import *


def test_hints_of_the_bcp_engine(r):
    """Only what db-lib carries; the others say what to do instead."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f = r.file("h.txt", "1\n")
    for hint, words in (("evil", "auto, none or TABLOCK"), ("ROWS_PER_BATCH=5", "-b"), ("order(id)", "cannot carry"), ("KEEP_NULLS", "-k"),
                        ("CHECK_CONSTRAINTS", "honoured"), ("TABLOCK, CHECK_CONSTRAINTS", "auto, none or TABLOCK"), ("", "auto, none")):
        r.fullrack("load", "dbo.t", f, "--engine", "bcp", "--hint", hint, exit=2)
        check("--hint " + hint in r.err and words in r.err, "message of %r" % hint, r.err)
    for hint in ("auto", "none", "TABLOCK", "tablock"):
        r.fullrack("load", "-q", "dbo.t", f, "--engine", "bcp", "--hint", hint)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(4,)], "rows")
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL CHECK (id > 0))")
    r.fullrack("load", "dbo.t", f, "--engine", "bcp", "--hint", "TABLOCK", exit=2)
    check("needs CHECK_CONSTRAINTS" in r.err, "message", r.err)
    r.fullrack("load", "-q", "dbo.t", f, "--engine", "bcp", "--hint", "TABLOCK", "--no-check")


def test_server_as_sqlcmd_writes_it(r):
    """The queue knows a server by one name, however it was written."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fresh_control()
    f = r.file("s.txt", "1\n")
    own = r.address
    try:
        for form in ("127.0.0.1,%d", "tcp:127.0.0.1,%d"):
            r.address = form % r.port
            r.fullrack("load", "-q", "dbo.t", f)
        r.fullrack("add", "-q", "dbo.t", f)
        r.address = own
        r.fullrack("run", "-q", "--workers", "1")
        r.address = "127.0.0.1,x"
        r.fullrack("load", "-q", "dbo.t", f, exit=2)
        check("\"x\" is not a port" in r.err, "message", r.err)
    finally:
        r.address = own
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(3,)], "rows")


def test_query_shows_the_names_of_every_result(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(9) NULL)")
    equal(r.fullrack("query", "SELECT id, v FROM dbo.t"), "id\tv\n", "names without rows")
    equal(r.fullrack("query", "-q", "SELECT id, v FROM dbo.t"), "", "quiet")
    both = "SELECT 1 AS a; SELECT id, v FROM dbo.t; INSERT INTO dbo.t VALUES (7, NULL); SELECT id, v FROM dbo.t"
    equal(r.fullrack("query", both), "a\n1\n\nid\tv\n\nid\tv\n7\tNULL\n", "results")
    equal(r.fullrack("query", "--output", "csv", "SELECT id, v FROM dbo.t"), "id,v\n7,\n", "csv")
    equal(r.json("query", "SELECT id, v FROM dbo.t WHERE id < 0"), {"columns": ["id", "v"], "rows": []}, "document without rows")
    d = r.json("query", "SELECT 1 AS a; SELECT id FROM dbo.t")
    equal(d, {"columns": ["a"], "rows": [["1"]], "more_results": [{"columns": ["id"], "rows": [["7"]]}]}, "document of two results")
    equal(r.json("query", "DELETE FROM dbo.t"), {"columns": [], "rows": []}, "document without results")


def test_password_that_is_not_utf8(r):
    """A worker would log in with another one."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f, secret = r.file("p.txt", "1\n"), r.file("secret", b"p\xff\n")
    r.fullrack("load", "dbo.t", f, env=dict(r.env(), FULLRACK_PASSWORD="p\udcff"), exit=2)
    check("not UTF-8" in r.err and "login failed" not in r.err, "message", r.err)
    r.fullrack("load", "dbo.t", f, "--password-file", secret, exit=2)
    check("secret: the password is not UTF-8" in r.err, "message", r.err)


def test_query_of_a_file(r):
    r.fresh("CREATE TABLE dbo.t (id int NULL)")
    text = "-- a comment first\nINSERT INTO dbo.t VALUES (7); SELECT COUNT(*) AS n, MAX(id) AS m FROM dbo.t\n"
    equal(r.json("query", "@" + r.file("q.sql", text))["rows"], [["1", "7"]], "of a file")
    equal(r.json("query", "-", input=text.encode())["rows"], [["2", "7"]], "of standard input")
    for args, more, word in ((["@" + r.file("empty.sql", "")], {}, "it is empty"), (["@/no/such.sql"], {}, "No such file"), (["-"], {"input": b""}, "it is empty")):
        r.fullrack("query", *args, exit=2, **more)
        check(word in r.err, "message", r.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
