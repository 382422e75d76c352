#!/usr/bin/python3
"""kill_server.py - kill -9 fullrackd in the middle of loads, transactions and control procedures, start it again, and count.

  kill_server.py [--rounds N] [--seed S] [-v]          in the build folder (FULLRACK_BUILD)

In each round several clients work until their connection breaks: bulk loads of more than 1 MiB (which become segments) into a heap and
into a keyed table, with and without a transaction, transactions that touch both and some that roll back, procedures of the control
database, and `fullrack load` with its ledger.  Each client keeps its own record of what the server has acknowledged.  After the
restart: acknowledged batches are there, whole; one whose COMMIT got no answer is there whole or not at all; nothing else is there;
the ledger's rows are the table's; every database file passes SQLite's own check; no file of spool/ and segments/ belongs to nobody.
A run of 5 rounds or more fails when none of them has met a segment, a transaction that was rolled back, or a commit in doubt.
"""
import argparse, collections, itertools, os, random, shutil, signal, sqlite3, subprocess, sys, threading, time, traceback, uuid
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from rack import Failed, Rack, check, equal
import pymssql, pymssql._mssql

ROWS = 2200                         # of a batch: with VALUE more than a megabyte, so that a heap keeps the spool as a segment
VALUE = "v" * 520
FEW = 40                            # of a small batch, which is inserted
LOAD_ROWS, LOAD_BATCH = 60000, 18000
FOLD_EVERY = 8                     # rounds: the tables are emptied
SUMMARY = collections.Counter()
# What a run of so many rounds has to have met; a machine on which little is done before a kill gets up to TIMES as many.
ENOUGH_ROUNDS, TIMES = 5, 5
MUST_MEET = {"segments": ["segments at the restart"], "transactions rolled back": ["rolled back"],
             "commits in doubt": ["in doubt, there", "in doubt, not there"], "batches committed": ["batches committed"]}


def not_met():
    return [what for what, counters in MUST_MEET.items() if not any(SUMMARY[c] for c in counters)]


def order_key(text):
    """fullrackd's default order, of ASCII: blanks at the end do not count; then punctuation, digits, letters of any case."""
    return [1 if c == " " else (0x400 if c.isalpha() else 0x300 if c.isdigit() else 0x100) + ord(c) for c in text.rstrip(" ").lower()]


def compare_texts(a, b):
    a, b = order_key(a), order_key(b)
    n = max(len(a), len(b))
    a, b = a + [1] * (n - len(a)), b + [1] * (n - len(b))
    return (a > b) - (a < b)


class Client(threading.Thread):
    """Works until the server is gone.  committed: acknowledged; doubtful: the answer never came; absent: never committed."""

    database = "t"

    def __init__(self, book, seed):
        super().__init__()
        self.book, self.rng = book, random.Random(seed)
        self.error = None

    def run(self):
        try:
            with self.book.rack.connect(self.database) as db:
                while True:
                    self.step(db)
        except (pymssql.Error, pymssql._mssql.MSSQLException, OSError) as e:
            if not self.book.killed.is_set():
                self.error = e
        except Exception as e:      # a mistake of this program
            self.error = e


class Loads(Client):
    def __init__(self, book, seed):
        super().__init__(book, seed)
        self.steps = [self.keyed_alone, self.heap_alone, self.heap, self.heap, self.both, self.rolled_back]

    def step(self, db):
        self.rng.choice(self.steps)(db)

    def copy(self, db, table, batch):
        n = self.rng.choice([ROWS, ROWS, FEW])
        rows = [(batch, i, VALUE) for i in range(n)]
        db.bulk_copy(table, rows, column_ids=[1, 2, 3], batch_size=len(rows))
        return n

    def alone(self, db, table):
        """The end of the stream commits."""
        batch = self.book.new_batch()
        self.book.begin(batch, {table: None})
        n = self.copy(db, table, batch)
        self.book.commit(batch, {table: n})

    def keyed_alone(self, db):
        self.alone(db, "k")

    def heap_alone(self, db):
        self.alone(db, "h")

    def transaction(self, db, tables, end):
        batch, counts, cur = self.book.new_batch(), {}, db.cursor()
        cur.execute("SET XACT_ABORT ON; BEGIN TRANSACTION")
        for table in tables:
            counts[table] = self.copy(db, table, batch)
        cur.execute("INSERT dbo.done (batch, rows) VALUES (%d, %d)" % (batch, sum(counts.values())))
        counts["done"] = 1
        if end == "COMMIT":
            self.book.begin(batch, counts)
        cur.execute(end)
        if end == "COMMIT":
            self.book.commit(batch, counts)
        else:
            SUMMARY["rolled back"] += 1

    def heap(self, db):
        self.transaction(db, ["h"], "COMMIT")

    def both(self, db):
        self.transaction(db, self.rng.choice([["h", "k"], ["k", "h"], ["h", "h2"]]), "COMMIT")

    def rolled_back(self, db):
        self.transaction(db, ["h", "k"], "ROLLBACK")


class Control(Client):
    """Adds tasks, claims them, ends them: each by its procedure, each acknowledged or in doubt."""
    database = "fullrack"

    def step(self, db):
        cur, source = db.cursor(), "f-%s" % uuid.UUID(int=self.rng.getrandbits(128))
        state = self.book.tasks
        state[source] = ("absent", "ready")
        cur.execute("DECLARE @id bigint, @added bit; EXEC dbo.sp_add_work 'load', %s, %s, 0, NULL, N's', N't', N'dbo.t', N'{}', 0, 3,"
                    " NULL, 0, @id OUTPUT, @added OUTPUT; SELECT @id, @added", (source, self.rng.getrandbits(62)))
        task, added = cur.fetchall()[0]
        check(added, "the task was added")
        state[source] = ("ready",)
        cur.execute("EXEC dbo.sp_get_work NULL, N's', N'w', N'h', 1, 1, 1, 600")
        got = cur.fetchall()
        while cur.nextset():
            pass
        mine = [r for r in got if r[5] == source]
        if not mine:                # one of an earlier round, that was ready when the server was killed
            if not got:             # the time from which on it may be claimed was rounded up
                return
            source, task = got[0][5], got[0][0]
            mine = got
        token = mine[0][3]
        state[source] = ("active", "done")
        cur.execute("DECLARE @ok bit; EXEC dbo.sp_end_work %d, %s, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, NULL, 1, 'wire', @ok OUTPUT;"
                    " SELECT @ok", (task, str(token)))
        check(cur.fetchall()[0][0], "the task was ended")
        state[source] = ("done",)
        SUMMARY["tasks"] += 1

    def run(self):
        super().run()
        # a claim in flight may have taken any task that was ready
        for source, states in self.book.tasks.items():
            if "ready" in states:
                self.book.tasks[source] = states + ("active",)


class Book:
    """What the clients know."""

    def __init__(self, rack):
        self.rack = rack
        self.lock = threading.Lock()
        self.killed = threading.Event()
        self.last = 0
        self.tasks = {}
        self.forget()

    def forget(self):
        self.committed, self.doubtful = {}, {}

    def new_batch(self):
        with self.lock:
            self.last += 1
            return self.last

    def begin(self, batch, counts):
        with self.lock:
            self.doubtful[batch] = counts

    def commit(self, batch, counts):
        with self.lock:
            del self.doubtful[batch]
            self.committed[batch] = counts
        SUMMARY["batches committed"] += 1
        SUMMARY["rows committed"] += sum(counts.values())


class Round:
    def __init__(self, book, seed, verbose):
        self.book, self.rack, self.rng, self.verbose = book, book.rack, random.Random(seed), verbose
        self.seed = seed

    def say(self, text):
        if self.verbose:
            print("  %8.3f %s" % (time.monotonic() % 1000, text), flush=True)

    def source(self, table):
        first = self.seed % 100000 * LOAD_ROWS
        return self.rack.file(table + ".tbl", "".join("%d|%s\n" % (i, VALUE[:60]) for i in range(first, first + LOAD_ROWS)))

    def run(self):
        book, rack = self.book, self.rack
        book.killed.clear()
        clients = [Loads(book, self.rng.random()) for _ in range(3)] + [Control(book, self.rng.random())]
        loads = [rack.spawn("load", "dbo." + t, self.source(t), "-t", "|", "-b", str(LOAD_BATCH), "-q") for t in ("l", "lk")]
        for c in clients:
            c.start()
        delay = self.rng.uniform(0.15, 0.75)
        time.sleep(delay)
        book.killed.set()
        rack.server.send_signal(signal.SIGKILL)
        rack.server.wait()
        rack.server.stdout.close()
        for p in loads:
            p.kill()
            p.communicate()
        for c in clients:
            c.join(60)
            check(not c.is_alive(), "a client hangs")
            if c.error is not None:
                raise c.error
        rack.started.clear()
        self.say("killed after %.3f s: %d committed, %d in doubt" % (delay, len(book.committed), len(book.doubtful)))
        rack.start()
        self.check_files()
        self.check_batches()
        self.check_ledger()
        self.check_tasks()
        SUMMARY["kills"] += 1

    def check_files(self):
        """The files are looked at in a copy, by SQLite itself."""
        equal(os.listdir(os.path.join(self.rack.data, "spool")), [], "files in spool/")
        copy = os.path.join(self.rack.dir, "copy")
        shutil.rmtree(copy, ignore_errors=True)
        os.mkdir(copy)
        named = []
        for name in os.listdir(self.rack.data):
            if name.endswith((".db", ".db-wal")):
                shutil.copy(os.path.join(self.rack.data, name), copy)
        for name in sorted(os.listdir(copy)):
            if not name.endswith(".db"):
                continue
            with sqlite3.connect(os.path.join(copy, name)) as db:
                db.create_collation("L0", compare_texts)
                equal(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity of " + name)
                named += [row[0] for row in db.execute("SELECT file FROM fr_segment")]
            db.close()
            SUMMARY["files checked"] += 1
        equal(sorted(os.listdir(os.path.join(self.rack.data, "segments"))), sorted(named), "files in segments/")
        SUMMARY["segments at the restart"] += len(named)

    def check_batches(self):
        book, found = self.book, collections.defaultdict(dict)
        for table in ("h", "h2", "k", "done"):
            got = self.rack.sql("SELECT batch, COUNT(*)%s FROM dbo.%s GROUP BY batch" % ("" if table == "done" else ", COUNT(DISTINCT n)", table))
            for batch, rows, *distinct in got:
                found[batch][table] = rows
                equal(distinct in ([], [rows]), True, "each row of batch %d in %s once" % (batch, table))
        for batch, counts in book.committed.items():
            equal(found.get(batch), counts, "batch %d, which was committed," % batch)
        for batch, counts in book.doubtful.items():
            got = found.get(batch)
            if got is None:
                SUMMARY["in doubt, not there"] += 1
                continue
            SUMMARY["in doubt, there"] += 1
            if None in counts.values():     # a stream that commits by itself: one of the two sizes
                check(list(got) == list(counts) and list(got.values())[0] in (ROWS, FEW), "batch %d is there in part" % batch, got)
            else:
                equal(got, counts, "batch %d, whose COMMIT got no answer," % batch)
            book.committed[batch] = got
        book.doubtful.clear()
        equal(sorted(set(found) - set(book.committed)), [], "batches that nobody has committed")

    def check_ledger(self):
        """Of every load as many rows as its head says; the loads are not resumed."""
        heads = self.rack.sql("SELECT source, SUM(rows_loaded) FROM dbo.fullrack_ledger GROUP BY source")
        heads = {os.path.basename(s): n for s, n in heads}
        for table in ("l", "lk"):
            n, distinct = self.rack.sql("SELECT COUNT(*), COUNT(DISTINCT a) FROM dbo.%s" % table)[0]
            equal(n, heads.get(table + ".tbl", 0), "rows of %s and of the ledger" % table)
            equal(distinct, n, "each row of %s once" % table)
            SUMMARY["rows of loads"] += n - self.book.loaded.get(table, 0)
            self.book.loaded[table] = n

    def check_tasks(self):
        got = dict(self.rack.sql("SELECT source, state FROM dbo.work_queue", "fullrack"))
        for source, states in self.book.tasks.items():
            state = got.get(source, "absent")
            check(state in states, "task %s is %s, not one of %s" % (source, state, states))
            self.book.tasks[source] = (state,)
        equal(sorted(set(got) - set(self.book.tasks)), [], "tasks that nobody added")
        self.book.tasks = {s: v for s, v in self.book.tasks.items() if v != ("absent",)}


def empty(rack, book):
    """Small tables keep the checks quick; that they are emptied is itself a change that the next kill may hit."""
    for table in ("h", "h2", "k", "done", "l", "lk"):
        rack.sql("TRUNCATE TABLE dbo." + table)
    rack.sql("DELETE dbo.fullrack_ledger")
    rack.sql("DELETE dbo.work_queue", "fullrack")
    book.forget()
    book.tasks, book.loaded = {}, {}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    passed = failed = 0
    started = time.monotonic()
    print("seeds %d to %d" % (a.seed, a.seed + a.rounds - 1), flush=True)
    rack = Rack("--schedulers", "4")
    try:
        rack.fullrack("init", "-q", "--control-database", "fullrack", database=None)
        rack.sql("CREATE DATABASE t", "")
        for table, key in (("h", ""), ("h2", ""), ("k", ", PRIMARY KEY (batch, n)")):
            rack.sql("CREATE TABLE dbo.%s (batch int NOT NULL, n int NOT NULL, v varchar(600) NOT NULL%s)" % (table, key))
        rack.sql("CREATE TABLE dbo.done (batch int NOT NULL PRIMARY KEY, rows int NOT NULL)")
        for table, key in (("l", ""), ("lk", " PRIMARY KEY")):
            rack.sql("CREATE TABLE dbo.%s (a bigint NOT NULL%s, v varchar(60) NOT NULL)" % (table, key))
        rack.fullrack("load", "-q", "dbo.l", rack.file("none.tbl", ""))         # makes the ledger
        book = Book(rack)
        for i in itertools.count():
            if i >= a.rounds and (a.rounds < ENOUGH_ROUNDS or i >= TIMES * a.rounds or not not_met()):
                break
            if i % FOLD_EVERY == 0:
                empty(rack, book)
            try:
                Round(book, a.seed + i, a.v).run()
                passed += 1
            except Exception as e:
                failed += 1
                print("FAIL round %d of seed %d: %s" % (i + 1, a.seed + i, e), flush=True)
                if not isinstance(e, Failed):
                    traceback.print_exc(file=sys.stdout)
                if rack.server.poll() is not None:
                    rack.start()
                empty(rack, book)
    finally:
        try:
            rack.close()
        except Failed as e:
            failed += 1
            print("FAIL end of the server: %s" % e)
        rack.remove()
    if a.rounds >= ENOUGH_ROUNDS and not_met():
        failed += 1
        print("FAIL no round has met: %s" % ", ".join(not_met()))
    print(", ".join("%d %s" % (n, what) for what, n in sorted(SUMMARY.items())))
    print("%.0f s" % (time.monotonic() - started))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
