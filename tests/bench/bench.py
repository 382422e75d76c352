#!/usr/bin/python3
"""bench - client CPU of fullrack and of freebcp, in one run, on the same file, against the same `fullrackd --discard`.

  bench.py [--rows N] [--repeat N] [--tls] [--without bcp] [--json]       run in the build folder (make bench)

Figures are ratios of the medians: two programs on one machine in one minute can be compared, seconds of
different machines cannot.  CPU is user + system of the client and its children (rusage).
"""
import argparse, json, os, re, resource, shutil, statistics, subprocess, sys, tempfile, time

BUILD = os.environ.get("FULLRACK_BUILD", ".")
TABLE = """CREATE TABLE dbo.lineitem (l_orderkey bigint NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL,
 l_linenumber int NOT NULL, l_quantity decimal(15,2) NOT NULL, l_extendedprice decimal(15,2) NOT NULL,
 l_discount decimal(15,2) NOT NULL, l_tax decimal(15,2) NOT NULL, l_returnflag char(1) NOT NULL,
 l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
 l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL)"""


# A process of its own for each measurement: what the system says of "children" is of all that ever were.
MEASURE = """import json, resource, subprocess, sys, time
started = time.monotonic()
r = subprocess.run(sys.argv[1:], capture_output=True, text=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"cpu_s": u.ru_utime + u.ru_stime, "wall_s": time.monotonic() - started,
                  "peak_mib": u.ru_maxrss / 1024.0, "exit": r.returncode, "said": r.stdout[-500:] + r.stderr[-500:]}))"""


def measured(args, env):
    """Seconds of CPU and of the clock, and the peak memory in MiB of the largest process, of a command and its children."""
    out = subprocess.run([sys.executable, "-c", MEASURE, *args], env=env, capture_output=True, text=True, check=True).stdout
    got = json.loads(out)
    if got["exit"] != 0:
        sys.exit("%s: exit %d\n%s" % (args[0], got["exit"], got["said"]))
    return got


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=500000)
    ap.add_argument("--repeat", type=int, default=3)
    ap.add_argument("--tls", action="store_true", help="all connections encrypted, with a certificate made at the start")
    ap.add_argument("--without", default="", help="leave an engine out: bcp or wire")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    tmp = tempfile.mkdtemp(prefix="fullrack-bench-")
    env = dict(os.environ, FULLRACKD_PASSWORD="Bench-1", FULLRACK_PASSWORD="Bench-1")
    server = subprocess.Popen([os.path.join(BUILD, "fullrackd"), "--listen", "127.0.0.1:0", "--data", tmp + "/data",
                               "--user", "sa", "--discard"] + (["--tls-self-signed", "--require-tls"] if a.tls else []), stdout=subprocess.PIPE, text=True, env=env)
    try:
        address = re.search(r"listening on (\S+)", server.stdout.readline()).group(1)
        fullrack = os.path.join(BUILD, "fullrack")
        to = ["-S", address, "-U", "sa", "--encrypt", "require" if a.tls else "off"]
        with open(tmp + "/freetds.conf", "w") as conf:      # freebcp takes encryption from there alone
            conf.write("[bench]\n host = %s\n port = %s\n tds version = 7.4\n encryption = %s\n" % (
                *address.rsplit(":", 1), "require" if a.tls else "off"))
        env["FREETDSCONF"] = tmp + "/freetds.conf"
        subprocess.run([fullrack, "query"] + to + ["CREATE DATABASE b"], env=env, check=True)
        subprocess.run([fullrack, "query"] + to + ["-d", "b", TABLE], env=env, check=True)
        subprocess.run([fullrack, "gen", "lineitem", "-q", "--rows", str(a.rows), "--dir", tmp], env=env, check=True)
        path = tmp + "/lineitem.1.tbl"
        programs = {
            "fullrack (%s engine)" % engine: [fullrack, "load", "-q", "--engine", engine] + to + ["-d", "b", "dbo.lineitem", path, "-t", "|"]
            for engine in ("wire", "bcp") if engine != a.without}
        programs.update({
            # freebcp takes its password from the command line only; it is this run's own
            "freebcp": ["freebcp", "b.dbo.lineitem", "in", path, "-c", "-t", "|", "-S", "bench", "-U", "sa", "-P", "Bench-1",
                        "-b", "100000"]})
        results = {name: [] for name in programs}
        for _ in range(a.repeat):                   # interleaved: whatever else the machine does hits all
            for name, args in programs.items():
                results[name].append(measured(args, env))
        size = os.path.getsize(path)
        table = []
        for name, runs in results.items():
            cpu = statistics.median(r["cpu_s"] for r in runs)
            wall = statistics.median(r["wall_s"] for r in runs)
            table.append({"program": name, "cpu_us_per_row": cpu * 1e6 / a.rows, "cpu_ms_per_mb": cpu * 1e3 / (size / 1e6),
                          "rows_per_s": a.rows / wall, "peak_mib": max(r["peak_mib"] for r in runs)})
        base = next(t for t in table if t["program"] == "freebcp")["cpu_us_per_row"]
        for t in table:
            t["cpu_against_freebcp"] = t["cpu_us_per_row"] / base
        if a.json:
            print(json.dumps({"rows": a.rows, "repeat": a.repeat, "programs": table}, indent=1))
        else:
            print("LineItem, %d rows, median of %d, %s" % (a.rows, a.repeat, "over TLS" if a.tls else "in clear"))
            for t in table:
                print("%-22s %7.2f us/row  %7.2f ms/MB  %9.0f rows/s  %5.0f MiB  CPU against freebcp 1/%.1f" % (
                    t["program"], t["cpu_us_per_row"], t["cpu_ms_per_mb"], t["rows_per_s"], t["peak_mib"],
                    1 / t["cpu_against_freebcp"]))
    finally:
        server.terminate()
        server.wait(10)
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
