"""programs.py - the loaders that are measured: their command lines, and the rows that each says it has loaded."""
import importlib.util
import json, os, re, shutil
from measuring import DATABASE, PASSWORD

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = os.path.join(HERE, "..", "clients")
BATCH_ROWS = "100000"   # of programs that would send each file, or each thousand rows, as one batch


class Program:
    """reads_all: csv and gzip, too.  is_repeated: else one run is enough, since no mark is set against it."""
    reads_all = False
    is_repeated = True
    remedy = ""

    def __init__(self, name):
        self.name = name

    def is_there(self):
        return True

    def takes(self, of, form):
        """Whether it loads such a table from such a file."""
        return self.reads_all or form == "plain"

    def rows(self, said):
        found = re.search(r"^(\d+) rows copied", said, re.M)
        return int(found.group(1)) if found else None


class Fullrack(Program):
    reads_all = True

    def command(self, server, of, table, path, form):
        how = ["--format", "csv"] if form.startswith("csv") else ["--format", "delimited", "-t", "|"]
        return server.command("load", "--json", "--engine", self.name, table, path, *how)

    def rows(self, said):
        return json.loads(said)["rows"]


class Freebcp(Program):
    def is_there(self):
        return shutil.which("freebcp") is not None

    def command(self, server, of, table, path, form):
        # it takes its password from the command line only; it is this run's own
        return ["freebcp", DATABASE + "." + table, "in", path, "-c", "-t", "|", "-S", "bench", "-U", "sa", "-P", PASSWORD, "-b", BATCH_ROWS]


class Pymssql(Program):
    is_repeated = False

    def is_there(self):
        return importlib.util.find_spec("pymssql") is not None

    def takes(self, of, form):
        # a text is sent as its bytes in UTF-8, also to a column that holds UTF-16
        return super().takes(of, form) and not any(kind.startswith("n") for _, kind in of.columns)

    def command(self, server, of, table, path, form):
        return ["/usr/bin/python3", HERE + "/load_pymssql.py", server.port, table, path]


class Tedious(Program):
    is_repeated = False
    remedy = ": npm install in tests/clients"

    def is_there(self):
        return shutil.which("node") is not None and os.path.isdir(CLIENTS + "/node_modules/tedious")

    def command(self, server, of, table, path, form):
        return ["node", CLIENTS + "/load_tedious.js", server.port, table, path, json.dumps(of.columns)] + (["tls"] if server.tls else [])


PROGRAMS = {p.name: p for p in (Fullrack("wire"), Fullrack("bcp"), Freebcp("freebcp"), Pymssql("pymssql"), Tedious("tedious"))}
