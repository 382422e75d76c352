#!/usr/bin/python3
"""Peak memory of a worker: 64 MiB and one row (wire) or three (bcp), whatever the file, the row and the server.

A row is as large as its text, or as what is sent of it where that is larger.  The file has 512 MiB, or FULLRACK_MEMORY_MIB; under a sanitizer,
where a byte takes several, all is small and only loaded.
"""
import json, os, signal, subprocess, sys, threading, time
import rack
from rack import *
from test_scale import is_sanitized

MIB = 1 << 20
FIXED_MIB = 64
SANITIZED = is_sanitized()
FILE_MIB = int(os.environ.get("FULLRACK_MEMORY_MIB", 32 if SANITIZED else 512))
FIELD_MIB = 4 if SANITIZED else 60


def load(r, *args):
    """(peak of the largest process in MiB, result)"""
    report = os.path.join(r.dir, "report")
    p = subprocess.run([os.path.join(rack.BUILD, "tests/support/measure"), report, *r.command("load", "--json", *args)], env=r.env(),
                       capture_output=True, timeout=600)
    with open(report) as f:
        got = json.load(f)
    check(got["exit"] == 0, "exit status %d" % got["exit"], p.stdout[-2000:], p.stderr[-2000:])
    return got["peak_kib"] / 1024, json.loads(p.stdout)


def within(peak, rows, row_mib, what):
    limit = FIXED_MIB + rows * row_mib
    print("%s: %.0f of %.0f MiB" % (what, peak, limit))
    check(SANITIZED or peak <= limit, "%s: %.0f MiB, allowed are %.0f" % (what, peak, limit))


def write_lines(path, mib):
    block = b"".join(b"%d\tsome words of a line that is no longer than a line is, in all of the file: %d\n" % (i, i) for i in range(10000))
    with open(path, "wb") as f:
        for _ in range(mib * MIB // len(block) + 1):
            f.write(block)
    return path


def test_long_file(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
    path = write_lines(os.path.join(r.dir, "long.txt"), FILE_MIB)
    for engine in ("wire", "bcp"):
        peak, d = load(r, "--engine", engine, "dbo.t", path)
        equal(d["bytes_read"], os.path.getsize(path), "bytes read")
        within(peak, 0, 0, "%s, a file of %d MiB" % (engine, FILE_MIB))
    os.unlink(path)


def test_long_field(r):
    n = FIELD_MIB * MIB
    texts = {"ascii": ("x" * n, 1, 2), "cyrillic": ("\u0436" * (n // 2), None, 1)}     # bytes sent of a byte, as varchar and as nvarchar
    for name, (text, *sent) in texts.items():
        for kind, factor in zip(("varchar(max)", "nvarchar(max)"), sent):
            if factor is None:
                continue                # code page 1252 has no such letters
            r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v %s NULL)" % kind)
            for form, pattern, options in (("delimited", "1\t%s\n", ["--format", "delimited"]), ("in quotes", '1,"""%s"\n', ["--format", "csv"])):
                path = r.file("field.txt", pattern % text[2:])
                for engine, rows in (("wire", 1), ("bcp", 3)):
                    peak, d = load(r, "--engine", engine, "dbo.t", path, *options)
                    equal(d["rows"], 1, "rows")
                    within(peak, rows, FIELD_MIB * max(1, factor), "%s, %s of %d MiB %s into %s" % (engine, name, FIELD_MIB, form, kind))


def test_rejects_of_one_transaction(r):
    """Into a table: only some are kept until they go there.  And a long row among them."""
    path = os.path.join(r.dir, "bad.txt")
    n = FIELD_MIB * MIB // 3
    with open(path, "wb") as f:
        for i in range(n // 200 * 2):
            f.write(b"x%d\t%s\n" % (i, b"y" * 180))
        f.write(b"x\t%s\n" % (b"z" * n))
    for engine, rows in (("wire", 1), ("bcp", 3)):
        r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
        r.sql("DROP TABLE IF EXISTS dbo.rej")
        peak, d = load(r, "--engine", engine, "dbo.t", path, "-b", "0", "-m", "1000000", "--reject-table", "dbo.rej", "--format", "delimited")
        equal(d["rejected"], n // 200 * 2 + 1, "rejected")
        within(peak, rows, FIELD_MIB / 3, "%s, rejects into a table" % engine)
    os.unlink(path)


def test_slow_server(r):
    """It stands still nine tenths of the time; nothing gathers before it."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(200) NULL)")
    path = write_lines(os.path.join(r.dir, "slow.txt"), 48)
    for engine in ("wire", "bcp"):
        over = threading.Event()

        def hold():
            while not over.is_set():
                os.kill(r.server.pid, signal.SIGSTOP)
                time.sleep(0.09)
                os.kill(r.server.pid, signal.SIGCONT)
                time.sleep(0.01)

        holder = threading.Thread(target=hold)
        holder.start()
        began = time.monotonic()
        try:
            peak, d = load(r, "--engine", engine, "dbo.t", path)
        finally:
            over.set()
            holder.join()
        equal(d["bytes_read"], os.path.getsize(path), "bytes read")
        check(time.monotonic() - began > 0.3, "the server was not slow")
        within(peak, 0, 0, "%s, a slow server" % engine)
    os.unlink(path)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--discard")
