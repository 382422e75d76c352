#!/usr/bin/python3
"""check_instructions - fails when a row costs either engine over 5 % more instructions than instructions.json says.

  check_instructions.py [--renew]        run in the build folder (or FULLRACK_BUILD); takes about half a minute

Counted with callgrind (instructions.py says what, and how starting cancels out), so that no other work on the machine changes a figure: of
the functions of fullrack itself, and of them and the libraries together.  The latter is compared only where C library and db-lib are those
of the file, since their share is not ours.  Another compiler, or a processor without the vector instructions that the file's had, makes
other code of the same source: then only growth of over a third fails.  A row that has become cheaper is said, so that the file can follow.

After a change that is meant: --renew writes instructions.json anew (make renew-instructions); it belongs in the same commit.  The build must be
the default one (-O2, no sanitizer).
"""
import json, os, re, subprocess, sys
import data, instructions
from measuring import BUILD, Server
from programs import PROGRAMS

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
CASES = {"plain": ["lineitem", "ints", "unicode"], "csv-text": ["lineitem"]}
LIMIT, OTHER_CODE_LIMIT = 1.05, 1.34


def library_of(program, name):
    """The library that a program is loaded with: its file's own name and size, which tell one version from another."""
    out = subprocess.run(["ldd", program], check=True, stdout=subprocess.PIPE, text=True).stdout
    path = os.path.realpath(re.search(r"%s\S* => (\S+)" % re.escape(name), out).group(1))
    return "%s, %d bytes" % (os.path.basename(path), os.path.getsize(path))


def made_with():
    """What decides the figures besides the source."""
    program = os.path.join(BUILD, "fullrack")
    with open(program, "rb") as f:
        gcc, clang = re.search(rb"GCC: \([^)]*\) (\d+)|clang version (\d+)", f.read()).groups()
    with open("/proc/cpuinfo") as f:
        flags = set(re.search(r"^flags\s*:(.*)$", f.read(), re.M).group(1).split())
    return {"compiler": "clang " + clang.decode() if gcc is None else "gcc " + gcc.decode(), "vectors": "avx2" if "avx2" in flags else "sse2",
            "libraries": {name: library_of(program, name) for name in ("libc.so", "libsybdb.so")}}


def count():
    """(set, form, engine) → own_per_row, total_per_row"""
    programs = [PROGRAMS["wire"], PROGRAMS["bcp"]]
    with Server("--discard") as server:
        for names in CASES.values():
            for name in names:
                server.query("DROP TABLE IF EXISTS dbo.%s; %s" % (name, data.SETS[name].ddl("dbo." + name)))
        counted = [c for form, names in CASES.items() for c in instructions.count_all(server, names, [form], programs)]
    return {"%s %s %s" % (c["data"], c["form"], c["program"]): {k: round(c[k + "_per_row"], 1) for k in ("own", "total")} for c in counted}


def main():
    made, figures = made_with(), count()
    if sys.argv[1:] == ["--renew"]:
        with open(FILE, "w") as f:
            json.dump(dict(made, figures=figures), f, indent=1)
            f.write("\n")
        return
    with open(FILE) as f:
        known = json.load(f)
    same_code = all(made[k] == known[k] for k in ("compiler", "vectors"))
    keys = ["own"] + (["total"] if same_code and made["libraries"] == known["libraries"] else [])
    limit = LIMIT if same_code else OTHER_CODE_LIMIT
    print("made with %(compiler)s, %(vectors)s, %(libraries)s" % made)
    if not same_code:
        print("instructions.json with %(compiler)s, %(vectors)s" % known)
    print("allowed: %.2f times the figure there, of %s" % (limit, " and ".join(keys)))
    passed = failed = 0
    for case, now in figures.items():
        for key in keys:
            then = known["figures"][case][key]
            grown = now[key] / then > limit
            failed += grown
            passed += not grown
            print("%s%-26s %-5s %8.1f instructions a row, was %8.1f: %+.1f %%%s" % (
                "FAIL " if grown else "", case, key, now[key], then, (now[key] / then - 1) * 100,
                " (--renew?)" if same_code and now[key] / then < 2 - LIMIT else ""))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


main()
