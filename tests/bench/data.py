"""data.py - the benchmarks' tables and files, the same at every run.

A set is a table and what fills it; a form is how the rows lie in a file: `plain` (delimited by bars), `csv-text` (csv, the fields of
character columns in quotes), `csv-all` (csv, every field in quotes), and each of these with `-gzip`.
"""
import os, random, re, subprocess
from measuring import BUILD

FORMS = ["plain", "csv-text", "csv-all", "plain-gzip", "csv-text-gzip", "csv-all-gzip"]
BLOCK_ROWS = 5000       # are made and then repeated: far more than gzip or a branch predictor looks back on


class Set:
    """A table: (name, type) of each column, and a function that makes the texts of a row."""

    def __init__(self, columns, row):
        self.columns, self.row = columns, row
        self.is_text = ["char" in kind for _, kind in columns]

    def ddl(self, table):
        return "CREATE TABLE %s (%s)" % (table, ", ".join("%s %s NOT NULL" % c for c in self.columns))


def columns_of(text):
    return [tuple(c.split(" ")) for c in re.split(r",\s+", text)]


LINEITEM = columns_of("""l_orderkey bigint, l_partkey int, l_suppkey int, l_linenumber int, l_quantity decimal(15,2),
    l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag char(1), l_linestatus char(1),
    l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(44)""")

WORDS = ("final deposits sleep \"quickly\" among the \"special\" packages and regular accounts haggle, of 12\" pipes; never a bar "
         "carefully even requests").split(" ")


def wide_row(rng, number):
    return [" ".join(rng.choices(WORDS, k=rng.randint(6, 24)))[:200].strip() for _ in range(4)]


INTEGERS = {"int": 2**31, "bigint": 2**63, "smallint": 2**15, "tinyint": 2**8}


def integer(rng, kind):
    """Of few digits as often as of many; a tinyint has no sign."""
    value = rng.getrandbits(rng.randint(1, INTEGERS[kind].bit_length() - 1))
    return str(-value if kind != "tinyint" and rng.random() < 0.2 else value)


INT_COLUMNS = [("i%d" % i, ("int", "bigint", "int", "smallint", "tinyint")[i % 5]) for i in range(40)]

SCRIPTS = ["Příliš žluťoučký kůň úpěl ďábelské ódy", "Широкая электрификация южных губерний", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
           "いろはにほへと ちりぬるを 東京都千代田区", "天地玄黃宇宙洪荒日月盈昃辰宿列張", "نص حكيم له سر قاطع وذو شأن عظيم",
           "키스의 고유조건은 입술끼리 만나야", "ऋषियों को सताने वाले दुष्ट राक्षसों", "plain words of no accent at all", "smile 😀 rocket 🚀 half ½"]


def unicode_row(rng, number):
    """An id, a name in one script, an address in two, a note that is mostly ASCII."""
    a, b, c = (rng.choice(SCRIPTS).split(" ") for _ in range(3))
    return [str(number), " ".join(rng.choices(a, k=2))[:60].strip(), " ".join(rng.choices(b + c, k=6))[:120].strip(),
            " ".join(rng.choices(SCRIPTS[8].split(" ") + a[:1], k=8))[:100].strip()]


def day(rng):
    return "%04d-%02d-%02d" % (rng.randint(1900, 2079), rng.randint(1, 12), rng.randint(1, 28))


def clock(rng, digits):
    return "%02d:%02d:%02d.%0*d" % (rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59), digits, rng.randrange(10**digits))


def decimal(rng, precision, scale):
    digits = rng.randint(1, precision - scale)
    return "%s%d.%0*d" % (rng.choice(["", "", "", "-"]), rng.randrange(10**digits), scale, rng.randrange(10**scale))


DATE_COLUMNS = columns_of("""a date, b date, c date, d datetime, e datetime2(0), f datetime2(3), g datetime2(7), h decimal(9,2), i decimal(18,4),
    j decimal(18,6), k decimal(28,8)""")


def date_row(rng, number):
    return [day(rng), day(rng), day(rng), day(rng) + " " + clock(rng, 3), day(rng) + " " + clock(rng, 1)[:8], day(rng) + " " + clock(rng, 3),
            day(rng) + " " + clock(rng, 7), decimal(rng, 9, 2), decimal(rng, 18, 4), decimal(rng, 18, 6), decimal(rng, 18, 8)]


SETS = {
    "lineitem": Set(LINEITEM, None),        # by fullrack gen
    "wide": Set([("t%d" % i, "varchar(200)") for i in range(4)], wide_row),
    "ints": Set(INT_COLUMNS, lambda rng, number: [integer(rng, kind) for _, kind in INT_COLUMNS]),
    "unicode": Set([("id", "int"), ("name", "nvarchar(60)"), ("address", "nvarchar(120)"), ("note", "nvarchar(100)")], unicode_row),
    "dates": Set(DATE_COLUMNS, date_row),
}


def quote(field):
    return '"%s"' % field.replace('"', '""')


def line(of, form, fields):
    if form == "plain":
        return "|".join(fields) + "\n"
    return ",".join(quote(f) if form == "csv-all" or text else f for f, text in zip(fields, of.is_text)) + "\n"


def make_lineitem(rows, files, folder):
    """LineItem between bars in so many files of a new folder; the rows are the same in however many."""
    subprocess.run([os.path.join(BUILD, "fullrack"), "gen", "lineitem", "-q", "--rows", str(rows), "--files", str(files), "--dir", folder], check=True)
    return ["%s/lineitem.%d.tbl" % (folder, i + 1) for i in range(files)]


def write_plain(name, rows, path):
    if name == "lineitem":
        os.rename(make_lineitem(rows, 1, os.path.dirname(path))[0], path)
        return
    rng = random.Random(name)
    block = [line(SETS[name], "plain", SETS[name].row(rng, i)) for i in range(min(rows, BLOCK_ROWS))]
    whole = "".join(block)
    with open(path, "w", encoding="utf-8") as f:
        for _ in range(rows // len(block)):
            f.write(whole)
        f.writelines(block[:rows % len(block)])


def make(name, form, rows, folder):
    """The file of a set in a form; made when it is not there."""
    path = "%s/%s.%d.%s" % (folder, name, rows, form)
    if os.path.exists(path):
        return path
    if form.endswith("-gzip"):
        with open(path, "wb") as f:
            subprocess.run(["gzip", "-nc", make(name, form[:-5], rows, folder)], stdout=f, check=True)
    elif form == "plain":
        write_plain(name, rows, path)
    else:
        of = SETS[name]
        with open(make(name, "plain", rows, folder), encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
            for row in f:
                out.write(line(of, form, row[:-1].split("|")))
    return path
