#!/usr/bin/python3
"""bench_encode - LineItem split, converted and encoded for the wire, nothing sent, against a loop that only calls memchr for every
terminator, over the same bytes in memory, in turns in one process.

  bench_encode.py [--rows N] [--rounds N] [--limit RATIO] [--json]       run in the build folder (make bench)

A ratio of 1.10 means: as many rows a second as the loop, and a tenth more.  One figure for each level of vector instructions that
the machine has.  --limit makes the best one's ratio an exit status.
"""
import argparse, json, os, subprocess, sys, tempfile

BUILD = os.environ.get("FULLRACK_BUILD", ".")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=300000)
    ap.add_argument("--rounds", type=int, default=9)
    ap.add_argument("--limit", type=float, default=0)
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="fullrack-bench-") as folder:
        subprocess.run([BUILD + "/fullrack", "gen", "lineitem", "-q", "--rows", str(a.rows), "--dir", folder], check=True)
        got = json.loads(subprocess.run([BUILD + "/tests/bench/encode_rows", folder + "/lineitem.1.tbl", str(a.rounds)], check=True,
                                        stdout=subprocess.PIPE, text=True).stdout)
    levels = [k[:-3] for k in got if k.endswith("_ns") and k != "memchr_ns"]
    if a.json:
        print(json.dumps(dict(got, rows=a.rows, rounds=a.rounds)))
    else:
        print("LineItem, %d rows, best of %d: memchr alone %.1f ns a row" % (a.rows, a.rounds, got["memchr_ns"]))
        for level in levels:
            print("%-7s %6.1f ns a row  %.2f of the rate of memchr" % (level, got[level + "_ns"], got[level + "_rate_to_memchr"]))
    if got[levels[-1] + "_rate_to_memchr"] < a.limit:
        sys.exit("bench_encode: slower than %.2f of memchr" % a.limit)


if __name__ == "__main__":
    main()
