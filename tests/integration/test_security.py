#!/usr/bin/python3
"""Logins of one's own: who gets in, and what they may load and see.

  test_security.py [PART OF A TEST'S NAME]
"""
import re, subprocess, sys
from rack import *
import rack
from tds import Tds

LOADER = "Load-it 1"


def login(r, user="loader", password=LOADER, database="", port=None):
    return Tds(port or r.port, user=user, password=password, database=database)


def is_in(t):
    return "loginack" in [x[0] for x in t.login_tokens]


def refused(t):
    """The errors of a login that failed."""
    return [x[1] for x in t.login_tokens if x[0] == "error"]


def errors(t, sql):
    return [x[1] for x in t.query(sql) if x[0] == "error"]


def prepare(r, *grants):
    """Database t, whose table only `loader` may use, and only as it is granted."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(20) NULL)")
    r.sql("IF SUSER_ID('loader') IS NULL CREATE LOGIN loader WITH PASSWORD = '%s', DEFAULT_DATABASE = t" % LOADER)
    r.sql("DROP USER IF EXISTS loader; CREATE USER loader")
    for grant in grants:
        r.sql(grant)


def test_who_gets_in(r):
    """The login's own password, no other's; its own database; not when it is disabled; and the login is there after a restart."""
    prepare(r)
    equal(os.stat(os.path.join(r.data, "master.db")).st_mode & 0o077, 0, "who else may read the hashes")
    t = login(r)
    check(is_in(t), "login", t.login_tokens)
    equal(r.sql("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE login_name = 'loader' AND database_id = DB_ID('t')"), [(1,)], "its session")
    check(any(x[0] == "info" and "'t'" in x[2] for x in t.login_tokens), "its database is told", t.login_tokens)
    try:
        r.sql("DROP LOGIN loader")
        raise Failed("a login that is in use was dropped")
    except pymssql.Error as e:
        equal(e.args[0], 15434, "dropping a login that is in use")
    for user, password in (("loader", rack.PASSWORD), ("loader", ""), ("sa", LOADER), ("loade", LOADER), ("loaderr", LOADER), ("", "")):
        equal(refused(login(r, user, password)), [18456], "login of %r with %r" % (user, password))
    check(is_in(login(r, "LOADER")), "names are found in any case")
    r.sql("CREATE DATABASE other", "master")
    equal(refused(login(r, database="other")), [4060, 18456], "a database that it may not use")
    equal(refused(login(r, database="nosuch")), [4060, 18456], "a database that is not there")
    r.sql("ALTER LOGIN loader WITH DEFAULT_DATABASE = other")
    equal(refused(login(r)), [4064, 18456], "a default database that it may not use")
    r.sql("ALTER LOGIN loader WITH DEFAULT_DATABASE = t, PASSWORD = 'changed'")
    r.drop_database("other")
    equal(refused(login(r)), [18456], "the password of before")
    check(is_in(login(r, password="changed")), "the new password")
    r.sql("ALTER LOGIN loader DISABLE")
    equal(refused(login(r, password="changed")), [18456], "a disabled login")
    t.s.close()
    r.close()
    r.start()
    equal(refused(login(r, password="changed")), [18456], "a disabled login after a restart")
    r.sql("ALTER LOGIN loader ENABLE")
    check(is_in(login(r, password="changed")), "after a restart")
    wait_until("its sessions are gone", 10, lambda: r.sql("SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE login_name = 'loader'") == [(0,)])
    r.sql("DROP LOGIN loader")
    equal(refused(login(r, password="changed")), [18456], "a login that was dropped")


def test_without_passwords(r):
    """Where the server asks for none, who was made with one still needs it, and is held to what was granted."""
    prepare(r, "GRANT SELECT ON dbo.t TO loader")
    data = os.path.join(r.dir, "open")
    env = {k: v for k, v in os.environ.items() if k != "FULLRACKD_PASSWORD"}
    r.close()
    shutil.copytree(r.data, data)
    server = subprocess.Popen([os.path.join(BUILD, "fullrackd"), "--listen", "127.0.0.1:0", "--data", data, "--user", "sa", "--no-password"],
                              stdout=subprocess.PIPE, text=True, env=env)
    try:
        port = int(re.search(r"listening on \S+:(\d+)", server.stdout.readline()).group(1))
        anyone = login(r, "anyone", "", "t", port)
        check(is_in(anyone), "anyone", anyone.login_tokens)
        equal(errors(anyone, "TRUNCATE TABLE dbo.t"), [], "whom nobody made may do all")
        equal(refused(login(r, password="wrong", port=port)), [18456], "a wrong password")
        equal(refused(login(r, password="", port=port)), [18456], "no password")
        mine = login(r, port=port)
        check(is_in(mine), "its password", mine.login_tokens)
        equal(errors(mine, "TRUNCATE TABLE dbo.t"), [1088], "what was not granted")
    finally:
        server.terminate()
        server.wait(10)
        server.stdout.close()
    r.start()


def bulk_error(t, statement):
    """What `insert bulk` is answered; a stream without rows ends one that was taken."""
    found = errors(t, statement)
    if not found:
        t.send(7, bytes.fromhex("81 0100 00000000 0900 26 04 00" "FD 0000 0000 0000000000000000"))
        t.answer()
    return found


def test_what_bulk_loads_need(r):
    """INSERT and SELECT; ALTER for what passes constraints by or gives identity values."""
    prepare(r)
    r.sql("DROP TABLE IF EXISTS dbo.k; CREATE TABLE dbo.k (id int IDENTITY, v int NULL CHECK (v > 0))")
    r.sql("DROP TABLE IF EXISTS dbo.child; DROP TABLE IF EXISTS dbo.parent; CREATE TABLE dbo.parent (id int PRIMARY KEY);"
          "CREATE TABLE dbo.child (id int NULL REFERENCES dbo.parent (id))")
    t = login(r)
    plain, child = "insert bulk dbo.t (id int)", "insert bulk dbo.child (id int)"
    checked, bare, given = "insert bulk dbo.k (v int) with (CHECK_CONSTRAINTS)", "insert bulk dbo.k (v int)", "insert bulk dbo.k (id int) with (CHECK_CONSTRAINTS)"
    equal(bulk_error(t, plain), [229], "without a right")
    r.sql("GRANT INSERT ON SCHEMA::dbo TO loader")
    equal(bulk_error(t, plain), [229], "INSERT alone")
    r.sql("GRANT SELECT ON SCHEMA::dbo TO loader")
    equal(bulk_error(t, plain), [], "INSERT and SELECT")
    equal(bulk_error(t, checked), [], "with constraints")
    equal(bulk_error(t, bare), [1088], "past a CHECK constraint")
    equal(bulk_error(t, child), [1088], "past a foreign key")
    equal(bulk_error(t, given), [1088], "identity values")
    r.sql("ALTER TABLE dbo.k NOCHECK CONSTRAINT ALL")
    equal(bulk_error(t, bare), [], "past a constraint that is disabled")
    r.sql("ALTER TABLE dbo.k CHECK CONSTRAINT ALL")
    r.sql("GRANT ALTER ON SCHEMA::dbo TO loader")
    for statement in (bare, child, given):
        equal(bulk_error(t, statement), [], "with ALTER: " + statement)
    equal(bulk_error(t, "insert bulk #none (id int)"), [208], "a #table that is not there")
    equal(errors(t, "CREATE TABLE #mine (id int)"), [], "a #table of its own")
    equal(bulk_error(t, "insert bulk #mine (id int)"), [], "into it")


def load_as_loader(r, *args, exit=0):
    p = subprocess.run([os.path.join(BUILD, "fullrack"), "load", "-S", r.address, "-U", "loader", "-d", "t", *args], capture_output=True, text=True,
                       timeout=60, env=dict(r.env(), FULLRACK_PASSWORD=LOADER))
    check(p.returncode == exit, "fullrack load: exit %d, expected %d" % (p.returncode, exit), p.stdout, p.stderr)
    return p.stderr


def test_a_load_of_little_rights(r):
    """Our own client loads with INSERT and SELECT; without them it says which it lacks."""
    prepare(r, "GRANT SELECT ON dbo.t TO loader")
    path = r.file("rows.txt", "".join("%d\tx\n" % i for i in range(1000)))
    said = load_as_loader(r, "dbo.t", path, "--ledger", "off", exit=2)
    check("dbo.t: the login loader may not INSERT into the table" in said and "GRANT INSERT ON [dbo].[t]" in said, "the missing right", said)
    r.sql("GRANT INSERT ON dbo.t TO loader")
    load_as_loader(r, "-q", "dbo.t", path, "--ledger", "off")
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(1000,)], "rows")
    said = load_as_loader(r, "dbo.t", path, exit=2)
    check("the ledger is not there, or not to be seen, and the login loader may not make it" in said, "the ledger's table", said)
    r.sql("GRANT CREATE TABLE TO loader; GRANT ALTER, INSERT, UPDATE, DELETE, SELECT ON SCHEMA::dbo TO loader")
    load_as_loader(r, "-q", "dbo.t", path)
    equal(r.sql("SELECT COUNT(*) FROM dbo.t"), [(2000,)], "rows with a ledger")


def test_what_it_sees(r):
    """Its own session and what it may use; all with VIEW SERVER STATE."""
    prepare(r, "GRANT SELECT ON dbo.t TO loader")
    r.sql("DROP TABLE IF EXISTS dbo.secret; CREATE TABLE dbo.secret (id int)")
    with pymssql.connect(server="127.0.0.1", port=r.port, user="loader", password=LOADER, database="t", tds_version="7.3", autocommit=True) as db:
        def rows(sql):
            cur = db.cursor()
            cur.execute(sql)
            return cur.fetchall()

        sessions = "SELECT DISTINCT login_name FROM sys.dm_exec_sessions"
        with r.connect("t") as other:
            other.cursor().execute("SELECT 1")
            equal(rows(sessions), [("loader",)], "sessions")
            equal([x[3].strip() for x in rows("EXEC sp_who")], ["loader"], "sp_who")
            equal(rows("SELECT name FROM sys.tables"), [("t",)], "tables")
            r.sql("GRANT VIEW SERVER STATE TO loader", "master")
            equal(sorted(rows(sessions)), [("loader",), ("sa",)], "sessions with VIEW SERVER STATE")
            check(rows("SELECT COUNT(*) FROM sys.dm_os_schedulers")[0][0] > 0, "schedulers")
            r.sql("REVOKE VIEW SERVER STATE TO loader", "master")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
