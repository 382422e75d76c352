#!/usr/bin/python3
"""fullrack load: public data sets (npm package vega-datasets, Debian's unicode-data), cell by cell against Python's csv."""
import csv, os, subprocess, sys
from rack import *

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "datasets")
DATA = os.path.join(FOLDER, "node_modules", "vega-datasets", "data")
UNICODE_DATA = "/usr/share/unicode/UnicodeData.txt"

# rows and columns as they are published: the files are the expected ones
CSV_FILES = {"airports.csv": (3376, 7), "birdstrikes.csv": (10000, 14), "co2-concentration.csv": (741, 3), "disasters.csv": (803, 3),
             "github.csv": (955, 2), "la-riots.csv": (63, 11), "seattle-weather.csv": (1461, 6), "stocks.csv": (560, 3),
             "us-employment.csv": (120, 24), "weather.csv": (2922, 7), "zipcodes.csv": (42049, 6)}


def install():
    if not os.path.isdir(DATA):
        subprocess.run(["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
                       cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)


def quote(name):
    return "[%s]" % name.replace("]", "]]")


def cells(r, columns):
    return r.sql("SELECT %s FROM dbo.t ORDER BY row_number" % ", ".join(quote(c) for c in columns))


def compare(r, path, options, columns, expected):
    """Every value as text, in the file's order; an empty unquoted field is NULL, which csv cannot tell from ''."""
    r.fresh("CREATE TABLE dbo.t (row_number int IDENTITY(1,1) NOT NULL, %s)"
            % ", ".join("%s nvarchar(4000) NULL" % quote(c) for c in columns))
    d = r.json("load", "dbo.t", path, *options)
    equal((d["rows"], d["rejected"]), (len(expected), 0), "counts of " + path)
    got = cells(r, columns)
    for number, (g, e) in enumerate(zip(got, expected)):
        equal([v or "" for v in g], list(e), "row %d of %s" % (number + 1, path))
    equal(len(got), len(expected), "rows of " + path)


def test_csv_files(r):
    install()
    for name, (rows, columns) in sorted(CSV_FILES.items()):
        path = os.path.join(DATA, name)
        with open(path, encoding="utf-8-sig", newline="") as f:
            header, *expected = [row for row in csv.reader(f, strict=True) if row]
        equal((len(expected), len(header)), (rows, columns), "size of " + name)
        compare(r, path, ("--format", "csv", "--header", "match"), header, expected)


def test_tab_separated(r):
    install()
    path = os.path.join(DATA, "unemployment.tsv")
    with open(path, encoding="utf-8", newline="") as f:
        header, *expected = csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE)
    compare(r, path, ("--format", "delimited", "--header", "match"), header, expected)


def test_typed_columns(r):
    """Numbers and dates of two of them, by their own types."""
    install()
    r.fresh("CREATE TABLE dbo.t (symbol varchar(5) NOT NULL, date date NOT NULL, price decimal(9,2) NOT NULL)")
    path = os.path.join(DATA, "stocks.csv")
    d = r.json("load", "dbo.t", path, "--format", "csv", "--header", "match", "--date-format", "date=%b %d %Y")
    equal((d["rows"], d["rejected"]), (560, 0), "stocks")
    with open(path, newline="") as f:
        total = sum(round(float(row["price"]) * 100) for row in csv.DictReader(f))
    equal(r.sql("SELECT CAST(SUM(price) * 100 AS bigint), MIN(date), MAX(date) FROM dbo.t")[0][0], total, "sum of prices")
    r.fresh("CREATE TABLE dbo.t (zip_code char(5) NOT NULL, latitude float NULL, longitude float NULL, city varchar(40) NOT NULL,"
            " state char(2) NOT NULL, county varchar(40) NOT NULL)")
    path = os.path.join(DATA, "zipcodes.csv")
    equal(r.json("load", "dbo.t", path, "--format", "csv", "--header", "match")["rows"], 42049, "zip codes")
    with open(path, newline="") as f:
        expected = {row["zip_code"]: (float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(f) if row["latitude"]}
    got = {zip_code: (a, b) for zip_code, a, b in r.sql("SELECT zip_code, latitude, longitude FROM dbo.t WHERE latitude IS NOT NULL")}
    equal(got, expected, "places")


def test_unicode_data(r):
    with open(UNICODE_DATA, encoding="ascii", newline="") as f:
        expected = [line.rstrip("\n").split(";") for line in f]
    compare(r, UNICODE_DATA, ("--format", "delimited", "-t", ";", "--columns", ",".join("c%d" % i for i in range(15))),
            ["c%d" % i for i in range(15)], expected)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
