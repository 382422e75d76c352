#!/usr/bin/python3
"""bench_many - what many cost: many workers, many small tasks, and the start of a worker.

  bench_many.py [--part workers|tasks|start] [--engine NAME] [--cpu SECONDS] [--tasks N] [--repeat N] [--json]

Run in the build folder (make bench); against `fullrackd --discard`.  CPU is user + system of the client and its children.

workers  CPU of a row of LineItem with 1, 8, 32 and 96 workers, as ratios to 1: the same files for all, as many rows as keep one worker
         busy for --cpu seconds of CPU; the start of the workers is counted in, and also told apart from the rows.
tasks    a queue of --tasks tasks of 1,000 rows each, drained by two workers, against one task of as many rows: CPU of the client
         per task beyond that of its rows.
start    a load of 33 empty files by 33 workers, less the same by one: CPU of one worker more, its share of the coordinator and of the fork
         server included.  For comparison what it takes to start a program that does nothing (true).
"""
import argparse, json, os, statistics
import data
from measuring import Server, measured

WORKERS = [1, 8, 32, 96]
FILES = 96
TASK_ROWS = 1000
BARS = ["--format", "delimited", "-t", "|"]


def cpu_of(server, *command):
    return measured(server.command(*command), server.env)["cpu_s"]


def load(server, engine, workers, files):
    return cpu_of(server, "load", "-q", "--engine", engine, "--workers", str(workers), "dbo.lineitem", *files, *BARS)


def empty_files(server, n):
    os.mkdir(server.folder + "/empty")
    names = ["%s/empty/%d.tbl" % (server.folder, i) for i in range(n)]
    for name in names:
        open(name, "w").close()
    return names


def median_of(repeat, function):
    return statistics.median(function() for _ in range(repeat))


def bench_workers(server, a):
    probe_rows = 1000000
    empty = empty_files(server, FILES)
    start = {n: median_of(a.repeat, lambda: load(server, a.engine, n, empty)) for n in WORKERS}
    probe = load(server, a.engine, 1, [data.make("lineitem", "plain", probe_rows, server.folder)]) - start[1] / FILES
    rows = int(probe_rows * a.cpu / probe)
    files = data.make_lineitem(rows, FILES, server.folder + "/lineitem")
    runs = {n: [] for n in WORKERS}
    for _ in range(a.repeat):
        for n in WORKERS:
            runs[n].append(load(server, a.engine, n, files))
    out = []
    for n in WORKERS:
        cpu = statistics.median(runs[n])
        out.append({"workers": n, "cpu_s": cpu, "start_cpu_s": start[n], "cpu_us_per_row": cpu * 1e6 / rows})
    for t in out:
        t["ratio"] = t["cpu_s"] / out[0]["cpu_s"]
        t["ratio_of_rows"] = (t["cpu_s"] - t["start_cpu_s"]) / (out[0]["cpu_s"] - out[0]["start_cpu_s"])
    return {"rows": rows, "files": FILES, "by_workers": out}


def drained(server, control, workers):
    return cpu_of(server, "run", "-q", "--pin", "off", "--workers", str(workers), "--control-database", control)


def bench_tasks(server, a):
    """Both through the queue, so that what a task costs is all that differs; the same rows in many files and in one."""
    files = {"tasks": data.make_lineitem(TASK_ROWS * a.tasks, a.tasks, server.folder + "/tasks"),
             "one": data.make_lineitem(TASK_ROWS * a.tasks, 1, server.folder + "/one")}
    runs = {"tasks": [], "one": []}
    for turn in range(a.repeat):
        for name in runs:
            control = "%s%d" % (name, turn)
            server.run("init", "-q", "--control-database", control)
            for i in range(0, len(files[name]), 1000):
                server.run("add", "-q", "--engine", a.engine, "--control-database", control, "dbo.lineitem", *files[name][i:i + 1000], *BARS)
            runs[name].append(drained(server, control, 2))
    many, one = (statistics.median(runs[k]) for k in ("tasks", "one"))
    return {"tasks": a.tasks, "rows_per_task": TASK_ROWS, "cpu_s": many, "one_task_cpu_s": one,
            "overhead_ms_per_task": (many - one) * 1e3 / (a.tasks - 1)}


def bench_start(server, a):
    files = empty_files(server, 33)
    more, one, single, nothing = [], [], [], []
    for _ in range(max(a.repeat, 5)):
        more.append(load(server, a.engine, 33, files))
        one.append(load(server, a.engine, 1, files))
        single.append(load(server, a.engine, 1, files[:1]))
        nothing.append(measured(["true"], server.env)["cpu_s"])
    return {"start_ms": statistics.median((m - o) * 1e3 / 32 for m, o in zip(more, one)), "least_ms": (min(more) - min(one)) * 1e3 / 32,
            "load_of_nothing_ms": statistics.median(single) * 1e3, "true_ms": statistics.median(nothing) * 1e3}


PARTS = {"start": bench_start, "workers": bench_workers, "tasks": bench_tasks}


def print_part(part, r):
    if part == "start":
        print("start of one worker more: %.1f ms of CPU (least %.1f); a load of one empty file, all processes: %.1f ms; true: %.1f ms" % (
            r["start_ms"], r["least_ms"], r["load_of_nothing_ms"], r["true_ms"]))
    elif part == "tasks":
        print("%d tasks of %d rows: %.2f s of CPU; one task of as many rows: %.2f s; a task more costs %.2f ms" % (
            r["tasks"], r["rows_per_task"], r["cpu_s"], r["one_task_cpu_s"], r["overhead_ms_per_task"]))
    else:
        print("%d rows of LineItem in %d files" % (r["rows"], r["files"]))
        print("workers   CPU s  of which start  CPU us/row  ratio  without start")
        for t in r["by_workers"]:
            print("%7d %7.2f %15.2f %11.3f %6.2f %14.2f" % (t["workers"], t["cpu_s"], t["start_cpu_s"], t["cpu_us_per_row"], t["ratio"],
                                                            t["ratio_of_rows"]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--part", choices=PARTS, help="only this one")
    ap.add_argument("--engine", choices=["wire", "bcp"], default="wire")
    ap.add_argument("--cpu", type=float, default=4, help="seconds of CPU of each sample of `workers`")
    ap.add_argument("--tasks", type=int, default=10000)
    ap.add_argument("--repeat", type=int, default=3)
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    out = {}
    for part in [a.part] if a.part else PARTS:
        with Server("--discard") as server:
            server.query(data.SETS["lineitem"].ddl("dbo.lineitem"))
            out[part] = PARTS[part](server, a)
        if not a.json:
            print_part(part, out[part])
    if a.json:
        print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
