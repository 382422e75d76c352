#!/usr/bin/python3
"""bench_split - CPU of finding the borders of --split, as a part of the CPU of loading the same file.

  bench_split.py [--rows N] [--repeat N] [--limit RATIO] [--json]      run in the build folder (make bench)

The load is one worker's, by the wire engine, into `fullrackd --discard`; the borders are those of eight ranges.  The
files: dbgen's rows between bars; the same as csv with every text in quotes; as csv with every field in quotes, the worst
case, since only quotes cost; and texts of 2 kB in quotes, with newlines.  Ends with 1 where a ratio is above the limit.
"""
import argparse, csv, json, os, statistics, sys
import data
from measuring import BUILD, Server, measured

TEXT_TABLE = "CREATE TABLE dbo.texts (id int NOT NULL, v varchar(4000) NULL)"


def write_files(folder, rows):
    """name → (path, table, options of the load, format and field terminator)"""
    long = folder + "/long.csv"
    with open(long, "w") as f:
        w = csv.writer(f, lineterminator="\n")
        for i in range(rows // 20):
            w.writerow([i, ('a "quoted" word, and a line\n' + "text without any quote " * 85)[:2000]])
    bars, texts, every = (data.make("lineitem", form, rows, folder) for form in ("plain", "csv-text", "csv-all"))
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
    table = []
    with Server("--discard") as server:
        server.query(data.SETS["lineitem"].ddl("dbo.lineitem"))
        server.query(TEXT_TABLE)
        for name, (path, target, options, form, field) in write_files(server.folder, a.rows).items():
            loads, finds = [], []
            for _ in range(a.repeat):
                loads.append(measured(server.command("load", "-q", "--engine", "wire", target, path, *options), server.env)["cpu_s"])
                finds.append(measured([os.path.join(BUILD, "tests/bench/find_ranges"), path, form, field, "8"], server.env)["cpu_s"])
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


if __name__ == "__main__":
    main()
