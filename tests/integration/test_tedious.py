#!/usr/bin/python3
"""The npm client tedious against fullrackd: queries, RPC, bulk load, transactions (tests/clients/tedious_tests.js)."""
import os, subprocess, sys
from rack import *

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients")


def test_tedious(r):
    if not os.path.isdir(os.path.join(CLIENTS, "node_modules", "tedious")):
        subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
                       cwd=CLIENTS, check=True, stdout=subprocess.DEVNULL)
    p = subprocess.run(["node", os.path.join(CLIENTS, "tedious_tests.js"), str(r.port)], capture_output=True, text=True, timeout=180, env=r.env())
    sys.stdout.write(p.stdout[:p.stdout.rfind("\n", 0, -1) + 1])
    check(p.returncode == 0 and p.stdout.rstrip().endswith(" 0 failed"), "tests of the client", p.stdout[-3000:], p.stderr[-2000:])
    equal(p.stdout.split("\n")[-2].split()[0], "25", "tests that ran")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
