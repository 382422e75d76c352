#!/usr/bin/python3
"""bench_split - CPU of finding the borders of --split, as a part of the CPU of loading the same file.

  bench_split.py [--rows N] [--repeat N] [--limit RATIO] [--json]      run in the build folder (make bench)

The load is one worker's, by the wire engine, into `fullrackd --discard`; the borders are those of eight ranges.  The
files: dbgen's rows between bars; the same as csv with every text in quotes; as csv with every field in quotes, the worst
case, since only quotes cost; and texts of 2 kB in quotes, with newlines.  Ends with 1 where a ratio is above the limit.
"""
import argparse, csv, json, os, re, shutil, statistics, subprocess, sys, tempfile
from bench import BUILD, TABLE, measured

TEXT_TABLE = "CREATE TABLE dbo.texts (id int NOT NULL, v varchar(4000) NULL)"


def write_files(tmp, rows):
    """name → (path, table, options of the load, format and field terminator)"""
    bars = tmp + "/lineitem.1.tbl"
    texts, every, long = (tmp + "/" + n for n in ("texts.csv", "every.csv", "long.csv"))
    with open(bars) as f, open(texts, "w") as t, open(every, "w") as e:
        some = csv.writer(t, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        full = csv.writer(e, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for line in f:
            row = line.rstrip("\n").split("|")[:16]
            some.writerow([float(v) if i in (4, 5, 6, 7) else int(v) if i < 4 else v for i, v in enumerate(row)])
            full.writerow(row)
    with open(long, "w") as f:
        w = csv.writer(f, lineterminator="\n")
        for i in range(rows // 20):
            w.writerow([i, ('a "quoted" word, and a line\n' + "text without any quote " * 85)[:2000]])
    return {"delimited": (bars, "dbo.lineitem", ["-t", "|"], "delimited", "|"),
            "csv, texts in quotes": (texts, "dbo.lineitem", ["--format", "csv"], "csv", ","),
            "csv, all in quotes": (every, "dbo.lineitem", ["--format", "csv"], "csv", ","),
            "csv, long texts": (long, "dbo.texts", ["--format", "csv"], "csv", ",")}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=500000)
    ap.add_argument("--repeat", type=int, default=3)
    ap.add_argument("--limit", type=float, default=0.25)
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    tmp = tempfile.mkdtemp(prefix="fullrack-bench-")
    env = dict(os.environ, FULLRACKD_PASSWORD="Bench-1", FULLRACK_PASSWORD="Bench-1")
    server = subprocess.Popen([os.path.join(BUILD, "fullrackd"), "--listen", "127.0.0.1:0", "--data", tmp + "/data",
                               "--user", "sa", "--discard"], stdout=subprocess.PIPE, text=True, env=env)
    try:
        address = re.search(r"listening on (\S+)", server.stdout.readline()).group(1)
        fullrack = os.path.join(BUILD, "fullrack")
        to = ["-S", address, "-U", "sa", "--encrypt", "off"]
        subprocess.run([fullrack, "query", *to, "CREATE DATABASE b"], env=env, check=True)
        for table in (TABLE, TEXT_TABLE):
            subprocess.run([fullrack, "query", *to, "-d", "b", table], env=env, check=True)
        subprocess.run([fullrack, "gen", "lineitem", "-q", "--rows", str(a.rows), "--dir", tmp], env=env, check=True)
        table = []
        for name, (path, target, options, form, field) in write_files(tmp, a.rows).items():
            loads, finds = [], []
            for _ in range(a.repeat):
                loads.append(measured([fullrack, "load", "-q", "--engine", "wire", *to, "-d", "b", target, path, *options],
                                      env)["cpu_s"])
                finds.append(measured([os.path.join(BUILD, "tests/bench/find_ranges"), path, form, field, "8"], env)["cpu_s"])
            load, find = statistics.median(loads), statistics.median(finds)
            table.append({"file": name, "mb": os.path.getsize(path) / 1e6, "load_cpu_s": load, "find_cpu_s": find,
                          "ratio": find / load})
        if a.json:
            print(json.dumps(table, indent=1))
        else:
            for t in table:
                print("%-22s %7.1f MB  load %6.3f s CPU  borders %6.3f s CPU  ratio %.3f"
                      % (t["file"], t["mb"], t["load_cpu_s"], t["find_cpu_s"], t["ratio"]))
        sys.exit(1 if any(t["ratio"] > a.limit for t in table) else 0)
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
        shutil.rmtree(tmp, ignore_errors=True)


if __name__ == "__main__":
    main()
