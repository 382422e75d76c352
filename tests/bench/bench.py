#!/usr/bin/python3
"""bench - client CPU of fullrack's two engines, freebcp, pymssql and tedious, in one run, on the same files, against the same
`fullrackd --discard`.

  bench.py [--data SET,...] [--form FORM,...] [--program NAME,...] [--rows N] [--repeat N] [--tls] [--instructions] [--json]

Run in the build folder (make bench).  data.py says what the sets and forms are.  CPU is user + system of the client and its children
(rusage), medians of --repeat runs, one program after the other in each round, so that whatever else the machine does hits all; pymssql and
tedious run once.  What they can be judged by are ratios in one run: to freebcp on the same file, and of csv and gzip to the plain form
by the same program.  MB are those of the text, unpacked.

freebcp asks the system several times a row where in its file it is, and what a system call costs differs much between machines: user
and system CPU stand apart, and so does the ratio of user CPU alone.  --instructions adds what does not depend on the machine's load:
the user-space instructions of a row, counted by callgrind.
"""
import argparse, json, os, statistics, sys
import data, instructions
from measuring import Server, measured
from programs import PROGRAMS


def chosen(text, known, what):
    names = list(known) if text == "all" else text.split(",")
    for name in names:
        if name not in known:
            sys.exit("bench: there is no %s %s: %s" % (what, name, ", ".join(known)))
    return names


def run_all(server, names, forms, programs, a):
    """(set, form, program) → the runs of it, and (set, form) → bytes of text."""
    runs, size = {}, {}
    for name in names:
        server.query(data.SETS[name].ddl("dbo." + name))
        paths = {form: data.make(name, form, a.rows, server.folder) for form in forms}
        for form in forms:
            size[name, form] = os.path.getsize(data.make(name, form.replace("-gzip", ""), a.rows, server.folder))
        for turn in range(a.repeat):
            for form in forms:
                for p in programs:
                    if not p.takes(data.SETS[name], form) or (turn > 0 and not p.is_repeated):
                        continue
                    got = measured(p.command(server, data.SETS[name], "dbo." + name, paths[form], form), server.env)
                    if p.rows(got["said"]) != a.rows:
                        sys.exit("bench: %s did not load %d rows of %s (%s)\n%s" % (p.name, a.rows, name, form, got["said"][-2000:]))
                    runs.setdefault((name, form, p.name), []).append(got)
        for path in os.listdir(server.folder):
            if path.startswith(name + "."):
                os.remove(os.path.join(server.folder, path))
    return runs, size


def figures(runs, size, rows):
    """One dict a set, form and program; a ratio is None where there is nothing to compare with."""
    table = []
    for (name, form, program), r in runs.items():
        median = {k: statistics.median(run[k] for run in r) for k in ("user_s", "system_s", "cpu_s", "wall_s")}
        table.append({"data": name, "form": form, "program": program, "runs": len(r),
                      "cpu_us_per_row": median["cpu_s"] * 1e6 / rows, "user_us_per_row": median["user_s"] * 1e6 / rows,
                      "system_us_per_row": median["system_s"] * 1e6 / rows, "cpu_ms_per_mb": median["cpu_s"] * 1e9 / size[name, form],
                      "rows_per_s": rows / median["wall_s"], "peak_mib": max(run["peak_mib"] for run in r)})
    by = {(t["data"], t["form"], t["program"]): t for t in table}

    def ratio(t, key, other):
        return t[key] / other[key] if other is not None and other is not t and other[key] > 0 else None

    for t in table:
        freebcp = by.get((t["data"], "plain", "freebcp")) if t["form"] == "plain" else None
        t["cpu_against_freebcp"] = ratio(t, "cpu_us_per_row", freebcp)
        t["user_against_freebcp"] = ratio(t, "user_us_per_row", freebcp)
        t["cpu_against_plain"] = ratio(t, "cpu_us_per_row", by.get((t["data"], "plain", t["program"])))
    return table


def fraction(ratio):
    return "" if ratio is None else "1/%.1f" % (1 / ratio) if ratio < 1 else "%.1f" % ratio


def print_table(table):
    line = "%-9s %-13s %-8s %8s %8s %8s %8s %10s %5s %9s %8s %6s"
    print(line % ("", "", "", "CPU", "user", "system", "CPU", "", "peak", "CPU", "user", "CPU"))
    print(line % ("data", "form", "program", "us/row", "us/row", "us/row", "ms/MB", "rows/s", "MiB", ":freebcp", ":freebcp", ":plain"))
    last = None
    for t in table:
        what = (t["data"], t["form"])
        print(line % (*(what if what != last else ("", "")), t["program"], *("%.3f" % t[k + "_us_per_row"] for k in ("cpu", "user", "system")),
                      "%.2f" % t["cpu_ms_per_mb"], "%.0f" % t["rows_per_s"], "%.0f" % t["peak_mib"], fraction(t["cpu_against_freebcp"]),
                      fraction(t["user_against_freebcp"]), "" if t["cpu_against_plain"] is None else "%.2f" % t["cpu_against_plain"]))
        last = what


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="all", help=", ".join(data.SETS))
    ap.add_argument("--form", default="all", help=", ".join(data.FORMS))
    ap.add_argument("--program", default="all", help=", ".join(PROGRAMS))
    ap.add_argument("--rows", type=int, default=500000)
    ap.add_argument("--repeat", type=int, default=3)
    ap.add_argument("--tls", action="store_true", help="all connections encrypted, with a certificate made at the start")
    ap.add_argument("--instructions", action="store_true", help="count them, too (valgrind; minutes)")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    names, forms = chosen(a.data, data.SETS, "data set"), chosen(a.form, data.FORMS, "form")
    programs = [PROGRAMS[p] for p in chosen(a.program, PROGRAMS, "program")]
    for p in programs:
        if not p.is_there():
            print("bench: %s is not installed and is left out%s" % (p.name, p.remedy), file=sys.stderr)
    programs = [p for p in programs if p.is_there()]
    with Server("--discard", *(["--tls-self-signed", "--require-tls"] if a.tls else [])) as server:
        runs, size = run_all(server, names, forms, programs, a)
        counted = instructions.count_all(server, names, forms, programs) if a.instructions else []
    table = figures(runs, size, a.rows)
    if a.json:
        print(json.dumps({"rows": a.rows, "repeat": a.repeat, "tls": a.tls, "figures": table, "instructions": counted}, indent=1))
        return
    print("%d rows, median of %d, %s" % (a.rows, a.repeat, "over TLS" if a.tls else "in clear"))
    print_table(table)
    if counted:
        print("\ninstructions of a row, of the program itself and with its libraries")
        instructions.print_table(counted)


if __name__ == "__main__":
    main()
