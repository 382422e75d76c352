#!/usr/bin/python3
"""torture.py - break a run at random moments, start it again until it is drained, and count every row.

  torture.py [--scenarios N] [--seed S] [--engine bcp|wire|auto] [--server HOST:PORT --user U] [-v]      in the build folder (FULLRACK_BUILD)

Each scenario is made from one seed, which is printed when it fails: `--seed S --scenarios 1` runs it alone.  What is
checked in the end: every row exactly once (count, sum and distinct keys, file by file; what a reset task had loaded
before is known from its closed ledger head), reject files byte for byte, the rejects' table, every queue row, `fullrack verify`, and that
no scheduler claim is left over.
"""
import argparse, collections, gzip, json, os, random, signal, subprocess, sys, time, traceback
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration")]
from proxy import Proxy
from remote import RemoteRack
from rack import Failed, Rack, check, equal, wait_until, workers_of

ROUND_LIMIT_S = 180
ROUNDS = 12
SUMMARY = collections.Counter()


class TortureRack(Rack):
    knows_waitfor = True

    def __init__(self):
        super().__init__("--schedulers", "4")
        self.proxy = Proxy(lambda: self.port)
        self.direct = self.address

    def command(self, *args, database="t"):
        out = super().command(*args, database=database)
        out[out.index("-S") + 1] = "127.0.0.1:%d" % self.proxy.port
        return out

    def restart(self):
        self.kill_server()
        self.server.stdout.close()
        self.start()


class File:
    """A source: its good keys in order, its bad rows as they must stand in the reject file."""

    def __init__(self, rng, rack, number):
        self.number = number
        self.keys, self.bad, self.lines = [], [], []     # lines: (offset, text, key or None)
        at = 0
        key = number * 1000000
        for _ in range(rng.randint(50, 9000)):
            key += 1
            if rng.random() < 0.01:
                line = rng.choice(["%d|x%d|bad\n" % (number, key), "%d|\n" % number, "%d|%d|%s\n" % (number, key, "z" * 70)])
                self.bad.append(line)
            else:
                line = "%d|%d|%s\n" % (number, key, "v" * rng.randint(0, 60))
                self.keys.append(key)
            self.lines.append((at, line, None if self.bad and line is self.bad[-1] else key))
            at += len(line)
        data = "".join(line for _, line, _ in self.lines).encode()
        self.is_packed = rng.random() < 0.15
        self.path = rack.file("f%d.tbl" % number + (".gz" if self.is_packed else ""),
                              gzip.compress(data, 1) if self.is_packed else data)
        self.parts = [Part(self, 0, None, self.path + ".bad")]


class Part:
    """What one task loads of a file: all of it, or a range."""

    def __init__(self, file, start, end, reject):
        lines = [l for l in file.lines if l[0] >= start and (end is None or l[0] < end)]
        self.start, self.reject = start, reject
        self.keys = [key for _, _, key in lines if key is not None]
        self.bad = [text for _, text, key in lines if key is None]


class Scenario:
    def __init__(self, rack, seed, arguments):
        self.rack, self.seed, self.verbose = rack, seed, arguments.v
        self.engine = ["--engine", arguments.engine] if arguments.engine else []
        self.rng = random.Random(seed)
        self.frozen = []
        self.runs = []
        self.lone_workers = []
        self.unfinished = set()     # resets
        self.say("seed %d" % seed)

    def say(self, text):
        if self.verbose:
            print("  %8.3f %s" % (time.monotonic() % 1000, text), flush=True)

    # -- the table, the files, the queue

    def prepare(self):
        rack, rng = self.rack, self.rng
        rack.proxy.cancel_orders()
        key = rng.choice(["", "", " CONSTRAINT pk_t PRIMARY KEY"])
        self.may_double = key == ""
        rack.fresh("CREATE TABLE dbo.t (f int NOT NULL, a bigint NOT NULL%s, v varchar(60) NULL)" % key)
        rack.sql("IF OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL DELETE FROM dbo.fullrack_ledger")
        rack.sql("IF OBJECT_ID(N'dbo.fullrack_staging', N'U') IS NOT NULL DELETE FROM dbo.fullrack_staging")
        for name in self.stage_tables():
            rack.sql("DROP TABLE dbo.[%s]" % name)
        rack.sql("DROP TABLE IF EXISTS dbo.rej")
        rack.sql("UPDATE dbo.scheduler_use SET claim_token = NULL, worker = NULL, lease_until = NULL", "fullrack")
        for table in ("work_queue", "run", "ready", "worker", "job", "work_group", "work_group_need", "work_pending", "table_limit"):
            rack.sql("DELETE FROM dbo." + table, "fullrack")
        for name in os.listdir(rack.dir):
            if name.startswith("f") and ".tbl" in name:
                os.unlink(os.path.join(rack.dir, name))
        self.files = [File(rng, rack, i + 1) for i in range(rng.randint(2, 7))]
        self.lease = rng.choice([1, 1, 2])
        # few rows of a file are many ranges of it
        self.split = rng.choice([[], [], ["--split", str(rng.randint(2, 5))], ["--split", "64K"]])
        self.options = ["-t", "|", *self.split, "-b", str(rng.choice([20, 20, 50, 137, 400, 5000])), "-m", "1000000",
                        "--reject-table", "dbo.rej", *self.engine]

    def stage_tables(self):
        return [r[0] for r in self.rack.sql("SELECT name FROM sys.tables WHERE name LIKE 'fullrack[_]stage[_]%'")]

    def add(self):
        rejects = os.path.join(self.rack.dir, "f.tbl.bad")
        doc = self.rack.json("add", "dbo.t", *[f.path for f in self.files], *self.options, "-e", rejects, "--max-attempts",
                             "1000")
        for f in self.files:
            tasks = [t for t in doc["tasks"] if t["source"] == f.path]
            if "--split" in self.options and not f.is_packed and "64K" not in self.options:
                equal(len(tasks), int(self.split[1]), "ranges of " + f.path)
            f.parts = [Part(f, t["range_start"], t["range_end"], "%s.%s.%d" % (rejects, os.path.basename(f.path), t["task_id"]))
                       for t in tasks]
            SUMMARY["ranges"] += len(tasks) if len(tasks) > 1 else 0
        order = [t["source"] for t in doc["tasks"]]
        equal(list(dict.fromkeys(order)), [f.path for f in self.files], "tasks in the order given")

    def guards(self):
        """What looks at the server, or holds workers back, while all else breaks."""
        return self.rng.choice([[], [], ["--rate", "2M"],
                                ["--block-warn", "1", "--pause-when", "tempdb>90%,log>90%,send-queue>1G"]])

    def start_run(self):
        p = self.rack.spawn("run", "--workers", str(self.rng.randint(1, 4)), "--lease", str(self.lease), "-q",
                            "--retry-for", "60", "--login-timeout", "5", "--statement-timeout", "20", "--host-name",
                            self.rng.choice(["alpha", "alpha", "beta"]), *self.guards())
        self.runs.append(p)
        return p

    def run_under_way(self):
        return [p for p in self.runs if p.poll() is None]

    def a_worker(self):
        all_children = [c for p in self.run_under_way() for c in workers_of(p.pid)]
        all_children += [p.pid for p in self.lone_workers if p.poll() is None]
        return self.rng.choice(all_children) if all_children else None

    # -- what may happen

    def signal_worker(self, number):
        pid = self.a_worker()
        if pid is None:
            return
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        if number == signal.SIGSTOP:
            self.frozen.append(pid)

    def kill_worker(self):
        self.signal_worker(signal.SIGKILL)

    def freeze_worker(self):
        self.signal_worker(signal.SIGSTOP)

    def thaw_workers(self):
        for pid in self.frozen:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self.frozen = []

    def kill_coordinator(self):
        under_way = self.run_under_way()
        if under_way:
            self.rng.choice(under_way).kill()

    def interrupt_coordinator(self):
        under_way = self.run_under_way()
        if under_way:
            self.rng.choice(under_way).send_signal(signal.SIGINT)

    def another_run(self):
        if len(self.run_under_way()) < 2:
            self.start_run()

    def lone_worker(self):
        """A worker without a coordinator: nobody ends it when it is frozen, so that it wakes up as a stale owner."""
        if len([p for p in self.lone_workers if p.poll() is None]) < 2:
            self.lone_workers.append(self.rack.spawn("worker", "--lease", str(self.lease), "-q", "--retry-for", "60",
                                                     "--login-timeout", "5", "--statement-timeout", "20", "--host-name",
                                                     "gamma"))

    def kill_server(self):
        self.rack.restart()

    def cut_one(self):
        self.rack.proxy.cut(self.rng)

    def cut_all(self):
        self.rack.proxy.cut(self.rng, True)

    def lose_commit(self):
        self.rack.proxy.order(self.rng.choice(["before", "after", "after"]))

    def admin(self, *args):
        """A queue command may be refused (task active, server gone): what counts is the end."""
        r = subprocess.run(self.rack.command(*args), capture_output=True, timeout=120, env=self.rack.env())
        check(r.returncode in (0, 1, 2, 3), "fullrack %s: exit %d" % (" ".join(args), r.returncode), r.stderr)
        return r.returncode == 0

    def a_task(self):
        ids = self.rack.sql("SELECT task_id, source, range_start FROM dbo.work_queue ORDER BY task_id", "fullrack")
        return self.rng.choice(ids) if ids else (None, None, None)

    def reset_task(self):
        task = self.a_task()[0]
        if task is not None and self.may_double:
            self.reset(task)

    def reset(self, task):
        """One that broke off half-way is said to have failed, and is done again, as a person would."""
        self.unfinished.discard(task)
        if not self.admin("reset", str(task), "-q"):
            self.unfinished.add(task)

    def replay_task(self):
        """Cancel, take its rows out, reset: what a person does who wants a file anew."""
        task, source, start = self.a_task()
        if task is None:
            return
        self.admin("cancel", str(task), "-q")
        if self.rack.sql("SELECT state FROM dbo.work_queue WHERE task_id = %d" % task, "fullrack") != [("cancelled",)]:
            return
        f = [f for f in self.files if f.path == source][0]
        part = [p for p in f.parts if p.start == start][0]
        if part.keys:
            self.rack.sql("DELETE FROM dbo.t WHERE f = %d AND a BETWEEN %d AND %d" % (f.number, part.keys[0], part.keys[-1]))
        # what was taken out no longer counts; its head is done where the answer to the last COMMIT was lost. There is no ledger
        # yet where no worker has come as far as to make it.
        if self.rack.sql("SELECT 1 FROM sys.tables WHERE name = 'fullrack_ledger'"):
            self.rack.sql("UPDATE dbo.fullrack_ledger SET rows_loaded = 0 WHERE state <> 'open' AND source = '%s' AND range_start = %d"
                          % (source, start))
        self.reset(task)

    def purge_done(self):
        self.admin("purge", "--older-than", "36500", "-q")

    def retry_failed(self):
        self.admin("retry", "-q")

    EVENTS = [kill_worker, kill_worker, freeze_worker, freeze_worker, thaw_workers, lone_worker, lone_worker, kill_coordinator, interrupt_coordinator, another_run,
              kill_server, cut_one, cut_one, cut_all, lose_commit, lose_commit, lose_commit, reset_task, replay_task,
              purge_done, retry_failed]

    def torture(self):
        for _ in range(self.rng.randint(2, 9)):
            time.sleep(self.rng.choice([0.0, 0.05, 0.1, 0.2, 0.4, self.lease * 1.5 if self.frozen else 0.1]))
            if not self.run_under_way() and self.rng.random() < 0.7:
                self.start_run()
                time.sleep(self.rng.random() * 0.3)
            event = self.rng.choice(self.EVENTS)
            self.say(event.__name__)
            SUMMARY[event.__name__] += 1
            event(self)

    # -- the end

    def drain(self):
        for _ in range(ROUNDS):
            self.rack.proxy.cancel_orders()
            if not self.run_under_way():
                self.admin("retry", "-q")
                self.start_run()
            for p in self.runs:
                try:
                    p.wait(ROUND_LIMIT_S)
                except subprocess.TimeoutExpired:
                    raise Failed("a run did not end within %d s" % ROUND_LIMIT_S)
            self.thaw_workers()
            for p in self.lone_workers:
                try:
                    p.wait(ROUND_LIMIT_S)
                except subprocess.TimeoutExpired:
                    raise Failed("a worker did not end within %d s" % ROUND_LIMIT_S)
            states = {r[0] for r in self.rack.sql("SELECT DISTINCT state FROM dbo.work_queue", "fullrack")}
            if "cancelled" in states:
                for task, in self.rack.sql("SELECT task_id FROM dbo.work_queue WHERE state = 'cancelled'", "fullrack"):
                    self.reset(task)
            elif self.unfinished:
                for task in list(self.unfinished):
                    self.reset(task)
            elif states == {"done"}:
                return
            time.sleep(0.2)
        raise Failed("the queue is not drained after %d runs" % ROUNDS)

    def expected(self, f, closed):
        """Count and sum of a file's keys: all of them once, and what closed heads had loaded from the start of a part."""
        n, total = len(f.keys), sum(f.keys)
        for start, rows in closed:
            part = [p for p in f.parts if p.start == start][0]
            n += rows
            total += sum(part.keys[:rows])
        return n, total, len(f.keys)

    def check_rejects(self, f):
        for part in f.parts:
            if not part.bad and not os.path.exists(part.reject):
                continue
            with open(part.reject, "rb") as file:
                equal(file.read().decode(), "".join(part.bad), "reject file of %s from byte %d" % (f.path, part.start))
            with open(part.reject + ".json") as file:
                equal(len([json.loads(line) for line in file]), len(part.bad), "reasons of %s from byte %d" % (f.path, part.start))

    def check_end(self):
        sql = self.rack.sql
        tasks = {r[:2]: r[2:] for r in sql("SELECT source, range_start, state, rows_loaded, rows_rejected FROM dbo.work_queue",
                                           "fullrack")}
        for f in self.files:
            closed = sql("SELECT range_start, rows_loaded FROM dbo.fullrack_ledger WHERE state = 'closed' AND source = '%s'"
                         % f.path)
            got = sql("SELECT COUNT(*), COALESCE(SUM(a), 0), COUNT(DISTINCT a) FROM dbo.t WHERE f = %d" % f.number)[0]
            equal(tuple(got), self.expected(f, closed), "count, sum and distinct keys of %s (closed: %r)" % (f.path, closed))
            for p in f.parts:
                equal(tasks[f.path, p.start], ("done", len(p.keys), len(p.bad)), "queue row of %s from byte %d" % (f.path, p.start))
            self.check_rejects(f)
        others = sql("SELECT COUNT(*) FROM dbo.t")[0][0]
        equal(others, sum(sql("SELECT COUNT(*) FROM dbo.t WHERE f = %d" % f.number)[0][0] for f in self.files), "all rows")
        doc = self.rack.json("verify")
        equal(doc["differences"], [], "verify")

    def check_reject_table(self):
        """Of every head, as many rows as it says, each once; of those that are done, the bad rows as they stood."""
        heads = {r[:2]: r[2:] for r in self.rack.sql("SELECT load_id, range_start, rows_rejected, state FROM dbo.fullrack_ledger")}
        rows, texts = collections.defaultdict(list), collections.defaultdict(list)
        for load_id, start, number, source, row in self.rack.sql(
                "SELECT load_id, range_start, row_number, source, row_bytes FROM dbo.rej ORDER BY source, range_start, row_number"):
            rows[load_id, start].append(number)
            if heads[load_id, start][1] == "done":
                texts[source].append(row.decode())
        for head, (rejected, _) in heads.items():
            equal((len(rows[head]), len(set(rows[head]))), (rejected, rejected), "rows in the rejects' table of %s from byte %d" % head)
        for f in self.files:
            equal("".join(texts[f.path]), "".join(f.bad), "the rejects' table of " + f.path)
        SUMMARY["rows in the rejects' table"] += sum(len(r) for r in rows.values())

    def check_claims(self):
        # the claims of killed workers end with their leases; the next run sweeps them
        wait_until("every lease is over", 30, lambda: sql_count(
            self.rack, "SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL AND lease_until >= SYSUTCDATETIME()")
            == 0)
        self.rack.fullrack("run", "-q", "--workers", "1")
        equal(sql_count(self.rack, "SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL"), 0,
              "scheduler claims left over")

    def run(self):
        try:
            self.prepare()
            self.add()
            self.start_run()
            self.torture()
            self.drain()
            self.check_end()
            self.check_reject_table()
            self.check_claims()
        finally:
            self.thaw_workers()
            for p in self.run_under_way() + self.lone_workers:
                p.kill()
            for p in self.runs + self.lone_workers:
                p.communicate()
            self.rack.started.clear()


class LoadScenario(Scenario):
    """`load` without a queue: its coordinator and workers die, --resume goes on.  With --stage nobody sees a part of it."""

    def look(self):
        if "--stage" in self.options:
            n = self.rack.sql("SELECT COUNT(*) FROM dbo.t")[0][0]
            check(n in (0, sum(len(f.keys) for f in self.files)), "%d rows of a part are in the table" % n)
            SUMMARY["looks at a staged load"] += 1

    def prepare(self):
        super().prepare()
        if self.rng.random() < 0.5:
            self.options.append("--stage")

    EVENTS = [look, look, Scenario.kill_worker, Scenario.kill_coordinator, Scenario.kill_server, Scenario.cut_one, Scenario.cut_all,
              Scenario.lose_commit, Scenario.lose_commit, Scenario.freeze_worker, Scenario.thaw_workers]

    def add(self):
        self.load_id = None

    def start_run(self):
        rejects = ["-e", os.path.join(self.rack.dir, "f.tbl.bad")]
        resume = ["--resume", self.load_id] if self.load_id else []
        p = self.rack.spawn("load", "dbo.t", *[f.path for f in self.files], *self.options, *rejects, *resume, "--workers",
                            str(self.rng.randint(1, 3)), "--retry-for", "60", "--login-timeout", "5",
                            "--statement-timeout", "20")
        self.runs.append(p)
        if self.load_id is None:
            line = p.stderr.readline()
            while line.startswith("fullrack: warning: "):
                line = p.stderr.readline()
            check(line.startswith("load id "), "the load id comes first: %r" % line)
            self.load_id = line.split()[2]
        return p

    def torture(self):
        # a load is resumed only when the one before is over
        for _ in range(self.rng.randint(1, 5)):
            if not self.run_under_way():
                self.start_run()
            time.sleep(self.rng.random() * 0.4)
            event = self.rng.choice(self.EVENTS)
            self.say(event.__name__)
            SUMMARY["load " + event.__name__] += 1
            event(self)

    def drain(self):
        for _ in range(ROUNDS):
            self.rack.proxy.cancel_orders()
            self.thaw_workers()
            p = self.run_under_way()[0] if self.run_under_way() else None
            if p is None and self.runs and self.runs[-1].returncode == 0:
                return
            try:
                code = (p or self.start_run()).wait(ROUND_LIMIT_S)
            except subprocess.TimeoutExpired:
                raise Failed("a load did not end within %d s" % ROUND_LIMIT_S)
            if code == 0:
                return
            # refused where nothing was begun yet: there is no such load to resume
            if code == 2 and self.rack.sql("SELECT COUNT(*) FROM dbo.fullrack_ledger") == [(0,)]:
                self.load_id = None
        raise Failed("the load is not through after %d tries, the last one ended with %s: %s"
                     % (ROUNDS, self.runs[-1].returncode, self.runs[-1].stderr.read()[-1000:]))

    def check_rejects(self, f):
        """The ranges' reject files, one behind the other, are the file's."""
        whole = os.path.join(self.rack.dir, "f.tbl.bad." + os.path.basename(f.path))
        names = [n for n in ["%s.%d" % (whole, i) for i in range(1, 50)] if os.path.exists(n)] or [whole]
        SUMMARY["load ranges"] += len(names) if len(names) > 1 else 0
        equal("".join(open(n).read() for n in names), "".join(f.bad), "reject files of " + f.path)
        equal(sum(len(open(n + ".json").readlines()) for n in names), len(f.bad), "reasons of " + f.path)

    def check_end(self):
        for f in self.files:
            got = self.rack.sql("SELECT COUNT(*), COALESCE(SUM(a), 0), COUNT(DISTINCT a) FROM dbo.t WHERE f = %d" % f.number)[0]
            equal(tuple(got), self.expected(f, []), "count, sum and distinct keys of " + f.path)
            self.check_rejects(f)

    def check_claims(self):
        pass


class JobScenario(Scenario):
    """A run file: tables with phases that wait for one another.  Whatever dies, `run --file` again finishes it.

    Each phase looks for itself whether its time has come: a before phase that the tables it depends on are through, an
    after phase that its own table has all rows.  It may be run more than once, and a worker that was frozen may still
    be at it when it is over."""

    KIND = "query"      # of the tasks that are killed
    STAGE = False

    def kill_in_phase(self):
        """The worker of a phase under way, or all of them and their coordinators, or the server."""
        found = None
        for _ in range(20):
            found = self.rack.sql("SELECT w.pid, q.source FROM dbo.work_queue AS q JOIN dbo.worker AS w ON w.worker = q.worker AND w.host = "
                                  "q.host AND w.run_id = q.run_id WHERE q.state = 'active' AND q.kind = '%s'" % self.KIND, "fullrack")
            if found:
                break
            time.sleep(0.05)
        if not found:
            return
        SUMMARY["killed in a phase: " + found[0][1].split(" (")[0]] += 1
        what = self.rng.choice(["worker", "worker", "all", "server"]) if hasattr(self.rack, "restart") else "worker"
        if what == "server":
            self.rack.restart()
            return
        for pid in [found[0][0]] if what == "worker" else [c for p in self.run_under_way() for c in workers_of(p.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for p in self.run_under_way() if what == "all" else []:
            p.kill()

    EVENTS = [Scenario.kill_worker, kill_in_phase, kill_in_phase, kill_in_phase, Scenario.freeze_worker, Scenario.thaw_workers,
              Scenario.lone_worker, Scenario.kill_coordinator, Scenario.interrupt_coordinator,
              Scenario.another_run, Scenario.kill_server, Scenario.cut_one, Scenario.cut_all, Scenario.lose_commit,
              Scenario.lose_commit, Scenario.retry_failed, Scenario.purge_done]

    def prepare(self):
        super().prepare()
        rack, rng = self.rack, self.rng
        self.tables = {}                # name: its files
        for f in self.files:
            self.tables.setdefault("dbo.j%d" % rng.randint(1, 4), []).append(f)
        rack.fresh("CREATE TABLE dbo.phase_log (n int IDENTITY, name varchar(40) NOT NULL, fits bit NOT NULL)", "dbo.phase_log")
        for t in self.tables:
            rack.fresh("CREATE TABLE %s (f int NOT NULL, a bigint NOT NULL, v varchar(60) NULL)" % t, t)
        self.needs = {t: [u for u in self.tables if u < t and rng.random() < 0.6] for t in self.tables}
        self.path = os.path.join(rack.dir, "job.json")
        with open(self.path, "w") as out:
            json.dump({"field-terminator": "|", "batch-rows": int(self.options[self.options.index("-b") + 1]), "max-errors": 1000000,
                       "max-attempts": 1000, "error-file": "f.tbl.bad", "reject-table": "dbo.rej", "server": self.server(),
                       "tables": [self.entry(t) for t in rng.sample(sorted(self.tables), len(self.tables))]}, out)

    def server(self):
        command = self.rack.command("run")
        return command[command.index("-S") + 1]

    def phase(self, name, condition):
        delay = "WAITFOR DELAY '00:00:00.%d'; " % self.rng.choice([1, 2, 5, 9]) if self.rng.random() < 0.7 else ""
        if not self.rack.knows_waitfor:
            delay = ""
        return "%sINSERT INTO dbo.phase_log (name, fits) SELECT '%s', CASE WHEN %s THEN 1 ELSE 0 END" % (delay, name, condition)

    def entry(self, t):
        through = ["EXISTS (SELECT 1 FROM dbo.phase_log WHERE name = 'after 2 of %s')" % u for u in self.needs[t]]
        here = "(SELECT COUNT(*) FROM %s) = %d" % (t, sum(len(f.keys) for f in self.tables[t]))
        e = {"name": t, "files": [f.path for f in self.tables[t]],
             "before": [self.phase("before %d of %s" % (i, t), " AND ".join(through) or "1 = 1") for i in (1, 2)],
             "after": [self.phase("after %d of %s" % (i, t), here) for i in (1, 2)],
             "on-failure": self.phase("on-failure of " + t, "1 = 0"),
             "finally": self.phase("finally of " + t, here)}
        if self.needs[t]:
            e["depends-on"] = self.needs[t]
        if self.rng.random() < 0.3:
            e["max-per-table"] = 1
        if self.STAGE:
            e["stage"] = True
        return e

    def add(self):
        self.rack.fullrack("add", "--from", self.path, "-q")
        ids = dict(self.rack.sql("SELECT source, task_id FROM dbo.work_queue WHERE kind = 'load'", "fullrack"))
        for f in self.files:
            f.parts = [Part(f, 0, None, os.path.join(self.rack.dir, "f.tbl.bad.%s.%d" % (os.path.basename(f.path), ids[f.path])))]

    def start_run(self):
        p = self.rack.spawn("run", "--file", self.path, "--workers", str(self.rng.randint(1, 4)), "--lease", str(self.lease), "-q",
                            "--retry-for", "60", "--login-timeout", "5", "--statement-timeout", "20", "--host-name",
                            self.rng.choice(["alpha", "alpha", "beta"]))
        self.runs.append(p)
        return p

    def torture(self):
        super().torture()
        SUMMARY["jobs"] += 1
        SUMMARY["phases under way at the end of the torture"] += sql_count(
            self.rack, "SELECT COUNT(*) FROM dbo.work_queue WHERE kind = 'query' AND state IN ('ready', 'active')")

    def drain(self):
        for _ in range(ROUNDS):
            self.rack.proxy.cancel_orders()
            p = self.run_under_way()[0] if self.run_under_way() else None
            if p is None and self.over():
                return
            try:
                (p or self.start_run()).wait(ROUND_LIMIT_S)
            except subprocess.TimeoutExpired:
                raise Failed("a run did not end within %d s" % ROUND_LIMIT_S)
            self.thaw_workers()
            for w in self.lone_workers:
                w.wait(ROUND_LIMIT_S)
        raise Failed("the job is not through after %d runs: %r" % (ROUNDS, self.rack.sql(
            "SELECT state, COUNT(*) FROM dbo.work_queue GROUP BY state", "fullrack")))

    def over(self):
        return {r[0] for r in self.rack.sql("SELECT DISTINCT state FROM dbo.work_queue", "fullrack")} <= {"done", "skipped"}

    def check_end(self):
        sql = self.rack.sql
        for t, files in self.tables.items():
            for f in files:
                got = sql("SELECT COUNT(*), COALESCE(SUM(a), 0), COUNT(DISTINCT a) FROM %s WHERE f = %d" % (t, f.number))[0]
                equal(tuple(got), self.expected(f, []), "count, sum and distinct keys of %s" % f.path)
                self.check_rejects(f)
            names = {r[0] for r in sql("SELECT DISTINCT name FROM dbo.phase_log WHERE name LIKE '%%of %s'" % t)}
            equal(names, {"%s of %s" % (p, t) for p in ("before 1", "before 2", "after 1", "after 2", "finally")}, "phases of " + t)
        equal(sql("SELECT name FROM dbo.phase_log WHERE fits = 0"), [], "phases that were run before their time")
        SUMMARY["phases run"] += sql("SELECT COUNT(*) FROM dbo.phase_log")[0][0]
        equal(self.rack.json("verify")["differences"], [], "verify")
        equal(sql_count(self.rack, "SELECT COUNT(*) FROM dbo.work_pending"), 0, "pending tasks")


class StageScenario(JobScenario):
    """The same with --stage: whoever looks at a table sees all of its rows or none, and killed bring-ins are done again."""

    KIND = "bring_in"
    STAGE = True

    def look(self):
        for t, files in self.tables.items():
            n = self.rack.sql("SELECT COUNT(*) FROM " + t)[0][0]
            check(n in (0, sum(len(f.keys) for f in files)), "%d rows of a part are in %s" % (n, t))
            SUMMARY["looks at a staged table"] += 1

    EVENTS = JobScenario.EVENTS + [look] * 6 + [JobScenario.kill_in_phase] * 3

    def drain(self):
        self.look()
        super().drain()

    def check_end(self):
        super().check_end()
        SUMMARY["staged tables"] += len(self.tables)
        equal(self.stage_tables(), [], "stage tables left over")
        equal(self.rack.sql("SELECT COUNT(*) FROM dbo.fullrack_staging WHERE brought_at IS NULL OR dropped_at IS NULL"), [(0,)],
              "stage tables that are noted otherwise")


def sql_count(rack, text):
    return rack.sql(text, "fullrack")[0][0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--scenarios", type=int, default=25)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("--engine", choices=["bcp", "wire", "auto"])
    p.add_argument("--server", help="HOST:PORT of a server that is not ours: it is not killed (password in FULLRACK_PASSWORD)")
    p.add_argument("--user", default="sa")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    passed = failed = 0
    started = time.monotonic()
    rack = RemoteRack(a.server, a.user) if a.server else TortureRack()
    if a.server:
        for kind in (Scenario, LoadScenario, JobScenario, StageScenario):
            kind.EVENTS = [e for e in kind.EVENTS if e.__name__ != "kill_server"]
    print("seeds %d to %d" % (a.seed, a.seed + a.scenarios - 1), flush=True)
    try:
        rack.fullrack("init", "-q", database=None)
        for seed in range(a.seed, a.seed + a.scenarios):
            kind = {2: JobScenario, 3: LoadScenario, 4: StageScenario}.get(seed % 5, Scenario)
            try:
                kind(rack, seed, a).run()
                passed += 1
            except Exception as e:
                failed += 1
                print("FAIL scenario of seed %d (%s): %s" % (seed, kind.__name__, e), flush=True)
                if not isinstance(e, Failed):
                    traceback.print_exc(file=sys.stdout)
    finally:
        rack.proxy.close()
        try:
            rack.close()
        except Failed as e:
            failed += 1
            print("FAIL end of the server: %s" % e)
        rack.remove()
    print(", ".join("%d %s" % (n, what) for what, n in sorted(SUMMARY.items())))
    print("%.0f s" % (time.monotonic() - started))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
