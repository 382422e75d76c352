#!/usr/bin/python3
"""The csv splitter against Python's csv module: random files of csv.writer, in many dialects, zero differences.

FULLRACK_CSV_FILES is their number (default 10000), FULLRACK_PROPERTY_SEED the seed; both are printed.
"""
import csv, io, os, random, subprocess, sys

FILES = int(os.environ.get("FULLRACK_CSV_FILES", "10000"))
SEED = int(os.environ.get("FULLRACK_PROPERTY_SEED", random.SystemRandom().randrange(1 << 30)))
PIECES = ["", "a", "bc", "7", "-1.5", " ", "  x ", "\"", "\"\"", "'", ",", ";", "\t", "|", "\n", "\r\n", "\n\n", "\\", "\u017e",
          "\u0416", "\u65e5\u672c", "\U0001f600", "x" * 70, "#", "NULL", "\ufeff"]


def dialect(rng):
    d = {"delimiter": rng.choice([",", ",", ";", "\t", "|"]), "quotechar": rng.choice(["\"", "\"", "'"]),
         "lineterminator": rng.choice(["\r\n", "\n"]), "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])}
    if rng.random() < 0.3:
        d.update(doublequote=False, escapechar="\\")
    return d


def field(rng, d):
    # an unquoted lone CR is a row's end to the reader, and no escape may stand in front of a letter
    pieces = [p for p in PIECES if (d["lineterminator"] == "\r\n" or "\r" not in p)]
    return "".join(rng.choice(pieces) for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 6])))


def make(rng, d):
    columns = rng.choice([1, 2, 3, 5, 9])
    rows = [[field(rng, d) for _ in range(columns)] for _ in range(rng.randint(0, 12))]
    out = io.StringIO()
    writer = csv.writer(out, **d)
    for row in rows:
        writer.writerow(row)
        if rng.random() < 0.1:
            out.write(d["lineterminator"])      # a blank line, set aside by both
    text = out.getvalue()
    if text and rng.random() < 0.2:
        text = text[:-len(d["lineterminator"])]
    return text, rows


def read(text, d):
    return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True, **d) if row]


def parse(line):
    """The rows of an answer; a row that cannot be split is the word itself."""
    rows = []
    for row in line.split(" ")[:-1]:
        if row == "!":
            rows.append(row)
        elif row != "~":
            rows.append([bytes.fromhex(f.lstrip("\"")).decode("utf-8") if f != "?" else f for f in row.split(",")])
    return rows


def main():
    rng = random.Random(SEED)
    print("%d files, seed %d" % (FILES, SEED))
    orders, files = [], []
    for _ in range(FILES):
        d = dialect(rng)
        text, rows = make(rng, d)
        orders.append("=csv\t%s\t\t%s\t%s\t%d\n%s\n" % ({"\t": "\\t"}.get(d["delimiter"], d["delimiter"]), d["quotechar"],
                                                       d.get("escapechar", ""), rng.choice([1, 2, 3, 7, 64, 1 << 20]),
                                                       text.encode("utf-8").hex()))
        files.append((text, rows, d))
    program = os.path.join("tests", "property", "split_rows")
    r = subprocess.run([program], input="".join(orders), capture_output=True, text=True)
    if r.returncode != 0:
        print("FAIL split_rows: exit %d: %s" % (r.returncode, r.stderr[-2000:]))
        sys.exit(1)
    answers = r.stdout.split("\n")[:-1]
    differences = 0 if len(answers) == len(files) else 1
    for (text, rows, d), answer in zip(files, answers):
        got = parse(answer)
        if got != read(text, d) or got != rows:
            differences += 1
            if differences < 4:
                print("FAIL %r %r:\n  got      %r\n  expected %r" % (d, text, got, rows))
    kinds = len({(d["delimiter"], d["quotechar"], d["quoting"], "escapechar" in d) for _, _, d in files})
    print("%d dialects, %d rows, %d differences" % (kinds, sum(len(f[1]) for f in files), differences))
    failed = differences > 0 or kinds < 2
    print("%d passed, %d failed" % (not failed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
