#!/usr/bin/python3
"""The loader's converters against references of their own (reference.py): random values and edges, whole and damaged.

    test_properties.py [--seed N] [--values N] [FAMILY...]

Runs in the build folder.  Every family gets at least --values values (100,000, or FULLRACK_PROPERTY_VALUES where the build
is slow); the seed is printed, so that a run can be had again."""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys

import values

PROGRAM = "tests/property/convert_values"
SHOWN = 5


def run_family(name, seed, count):
    """(values, refused, differences, the first of them)"""
    _, make, reference = next(f for f in values.FAMILIES if f[0] == name)
    r = random.Random("%s %d" % (name, seed))
    lines, wanted = [], []
    for column, column_values in make(r, count):
        lines.append(column.spec())
        for v in column_values:
            lines.append(v.hex())
            wanted.append((column, v, reference(column, v)))
    p = subprocess.run([PROGRAM], input=("\n".join(lines) + "\n").encode(), stdout=subprocess.PIPE)
    got = p.stdout.decode().split("\n")[:-1]
    if p.returncode != 0 or len(got) != len(wanted):
        return len(wanted), 0, 1, ["%s: exit %d, %d answers to %d values" % (PROGRAM, p.returncode, len(got), len(wanted))]
    refused, differences, first = 0, 0, []
    for (column, v, want), answer in zip(wanted, got):
        refused += want is None
        want = "error" if want is None else want.hex()
        # a struct's padding behind the value means nothing
        if answer != want and (answer == "error" or want == "error" or len(want) != 30 or answer[:30] != want):
            differences += 1
            if len(first) < SHOWN:
                first.append("%s: %r: %s, expected %s" % (column.spec()[1:].replace("\t", " "), v, answer, want))
    return len(wanted), refused, differences, first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--values", type=int, default=int(os.environ.get("FULLRACK_PROPERTY_VALUES", "100000")))
    parser.add_argument("families", nargs="*")
    args = parser.parse_args()
    names = [f[0] for f in values.FAMILIES if not args.families or any(a in f[0] for a in args.families)]
    print("seed %d" % args.seed)
    passed = failed = 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        jobs = {name: pool.submit(run_family, name, args.seed, args.values) for name in names}
        for name in names:
            count, refused, differences, first = jobs[name].result()
            few = count < args.values or refused == 0 or refused == count
            print("%-17s %7d values, %6d of them to be refused, %d differences%s"
                  % (name, count, refused, differences, ", too few" if few else ""), flush=True)
            for line in first:
                print("    " + line)
            passed, failed = (passed, failed + 1) if differences or few else (passed + 1, failed)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
