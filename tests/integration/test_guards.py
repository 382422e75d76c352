#!/usr/bin/python3
"""Guards and throttles: --rate."""
import os, signal, sys, time
from rack import *

MIB = 1 << 20
ROW = "%07d\t" + "x" * 90 + "\n"


def rows_file(r, name, mib):
    n = int(mib * MIB / len(ROW % 0))
    return r.file(name, "".join(ROW % i for i in range(n))), n


def table(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, pad varchar(100) NOT NULL)")


def count(r):
    return r.sql("SELECT COUNT(*) FROM dbo.t")[0][0]


# Times are compared with wide margins: the machine may be busy, never quicker than asked for.

def test_rate_of_a_load(r):
    table(r)
    path, n = rows_file(r, "one.txt", 6)
    free = r.json("load", "dbo.t", path)["seconds"]
    table(r)
    slow = r.json("load", "dbo.t", path, "--rate", "2M")["seconds"]
    equal(count(r), n, "rows")
    check(2.5 < slow < 9, "6 MiB at 2 MiB/s take 3 s", slow)
    check(free < 2.5, "without a rate there is no wait", free)


def test_rate_is_of_the_decoded_source(r):
    table(r)
    path, n = rows_file(r, "packed.txt", 6)
    import gzip
    with open(path, "rb") as f:
        packed = r.file("packed.txt.gz", gzip.compress(f.read()))
    check(os.path.getsize(packed) < MIB, "it is small", os.path.getsize(packed))
    took = r.json("load", "dbo.t", packed, "--rate", "2M")["seconds"]
    check(2.5 < took < 9, "6 MiB at 2 MiB/s take 3 s", took)
    equal(count(r), n, "rows")


def test_rate_is_shared_and_the_last_worker_gets_all(r):
    """At an equal third for good, 12 MiB would take 12 s."""
    table(r)
    files = [rows_file(r, "s%d.txt" % i, mib) for i, mib in enumerate((1, 1, 12))]
    d = r.json("load", "dbo.t", *[f for f, _ in files], "--workers", "3", "--rate", "3M")
    equal(count(r), sum(n for _, n in files), "rows")
    check(4.1 < d["seconds"] < 9.5, "14 MiB at 3 MiB/s take 4.7 s", d["seconds"])


def test_rate_of_a_run_keeps_leases(r):
    """A block takes longer than the lease: waiting for the rate is no standstill."""
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "lease.txt", 0.5)
    r.fullrack("add", "-q", "dbo.t", path)
    d = r.json("run", "--workers", "1", "--lease", "1", "--rate", "100K")
    check(d["seconds"] > 4, "0.5 MiB at 100 KiB/s take 5 s", d["seconds"])
    equal([(t["state"], t["attempts"], t["rows"]) for t in d["tasks"]], [("done", 1, n)], "the task")


def test_rate_of_a_lone_worker(r):
    table(r)
    r.fresh_control()
    path, n = rows_file(r, "lone.txt", 4)
    r.fullrack("add", "-q", "dbo.t", path)
    began = time.monotonic()
    r.fullrack("worker", "-q", "--rate", "2M")
    took = time.monotonic() - began
    check(1.6 < took < 8, "4 MiB at 2 MiB/s take 2 s", took)
    equal(count(r), n, "rows")


def test_stop_while_the_rate_waits(r):
    table(r)
    path, n = rows_file(r, "stop.txt", 6)
    p = r.spawn("load", "dbo.t", path, "--rate", "20K", "-q")
    time.sleep(1.5)
    began = time.monotonic()
    p.send_signal(signal.SIGINT)
    equal(p.wait(20), 4, "exit status")
    check(time.monotonic() - began < 10, "it ends soon, not when the block is paid for", time.monotonic() - began)
    check(count(r) < n, "it was stopped before its end", count(r))


def test_rate_is_a_size(r):
    for bad in ("0", "-1", "fast", "5X"):
        r.fullrack("load", "dbo.t", "/dev/null", "--rate", bad, exit=2)
        check("--rate" in r.err and bad in r.err, "the message names the option", r.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
