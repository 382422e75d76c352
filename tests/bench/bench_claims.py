#!/usr/bin/python3
"""bench_claims - what the queue's procedures cost with few and with many tasks queued.

  bench_claims.py [--few N] [--many N] [--rounds N] [--limit RATIO] [--json]      in the build folder (make bench)

Two control databases on one fullrackd, one with few and one with many tasks; each round calls the same procedure in the
one and in the other, so that whatever else the machine does hits both.  Figures are medians and their ratio: a claim must
not cost more because more is queued.  With --limit the exit status is 1 when a ratio is above it.
"""
import argparse, json, statistics, sys, time
import pymssql
from measuring import PASSWORD, Server

SERVER = "db1:1433"


class Queue:
    """A control database with so many ready tasks, and a connection to it."""

    def __init__(self, server, name, tasks):
        server.run("init", "-q", "--control-database", name)
        self.db = pymssql.connect(server=server.host, port=int(server.port), user="sa", password=PASSWORD, database=name,
                                  tds_version="7.3", autocommit=True, timeout=600)
        self.cursor = self.db.cursor()
        self.fill(tasks)

    def fill(self, tasks):
        columns = "source, source_key, target_server, target_database, target_table, options, priority"
        self.cursor.execute("INSERT INTO dbo.work_queue (%s) SELECT N'/data/lineitem.1.tbl', 1, N'%s', N'b', N'dbo.lineitem',"
                            " N'{}', 0" % (columns, SERVER))
        have = 1
        while have < tasks:
            n = min(have, tasks - have)
            self.cursor.execute("INSERT INTO dbo.work_queue (%s) SELECT TOP (%d) N'/data/lineitem.' + CAST(task_id + %d AS"
                                " nvarchar(20)), task_id + %d, target_server, target_database, target_table, options,"
                                " task_id %% 3 FROM dbo.work_queue ORDER BY task_id" % (columns, n, have, have))
            have += n
        self.cursor.execute("SELECT COUNT(*) FROM dbo.work_queue WHERE state = 'ready'")
        if self.cursor.fetchone()[0] != tasks:
            sys.exit("the queue was not filled")

    def timed(self, sql):
        """Milliseconds, and the rows of the first result."""
        began = time.perf_counter()
        self.cursor.execute(sql)
        rows = self.cursor.fetchall() if self.cursor.description else []
        while self.cursor.nextset():
            rows = rows or (self.cursor.fetchall() if self.cursor.description else [])
        return (time.perf_counter() - began) * 1000, rows

    def call(self, took, name, sql):
        ms, rows = self.timed(sql)
        took.setdefault(name, []).append(ms)
        return rows

    def claim(self, took, name, number):
        return self.call(took, name, "EXEC dbo.sp_get_work 1, N'%s', N'w%d', N'h', 51, 0, 0, 3600" % (SERVER, number % 16))

    def round_when_drained(self, number, took):
        if self.claim(took, "sp_get_work, none left", number):
            sys.exit("the queue was not drained")
        self.call(took, "sp_work_left, none left", "DECLARE @r bigint, @a bigint; EXEC dbo.sp_work_left N'%s', @r OUTPUT, @a"
                  " OUTPUT; SELECT @r, @a" % SERVER)

    def round(self, number, took):
        def call(name, sql):
            return self.call(took, name, sql)

        claim = self.claim(took, "sp_get_work", number)
        if len(claim) != 1:
            sys.exit("nothing was claimed in round %d" % number)
        task, token = claim[0][0], claim[0][3]
        call("sp_renew_lease", "DECLARE @a bit; EXEC dbo.sp_renew_lease %d, '%s', 3600, 10, 10, @a OUTPUT; SELECT @a" % (task, token))
        call("sp_sweep_leases", "DECLARE @n int; EXEC dbo.sp_sweep_leases @n OUTPUT; SELECT @n")
        done = call("sp_end_work", "DECLARE @a bit; EXEC dbo.sp_end_work %d, '%s', 1000, 0, 0, 0, 5000, 5000, 1, 1, 1, 1, 1, 1, 0,"
                    " 51, NULL, 0, 'bcp', @a OUTPUT; SELECT @a" % (task, token))
        if not done[0][0]:
            sys.exit("task %d was not ended" % task)
        if number % 10:
            return                      # it counts all tasks: every tenth round shows what that costs
        call("sp_queue_state", "DECLARE @r bigint, @a bigint, @d bigint, @f bigint, @c bigint, @n bigint; EXEC dbo.sp_queue_state"
             " N'%s', @r OUTPUT, @a OUTPUT, @d OUTPUT, @f OUTPUT, @c OUTPUT, @n OUTPUT; SELECT @r, @n" % SERVER)


def measure(server, a):
    few, many = {}, {}
    queues = [(Queue(server, "few", a.few), few), (Queue(server, "many", a.many), many)]

    def rounds(what, between):
        for number in range(-10, a.rounds):         # ten to warm up
            for queue, took in queues if number % 2 else reversed(queues):
                what(queue, number, took if number >= 0 else {})
            if between and (number + 11) % (a.few // 2) == 0:
                queues[0][0].cursor.execute(between)

    rounds(Queue.round, "UPDATE dbo.work_queue SET state = 'ready' WHERE state = 'done'")
    for queue, _ in queues:
        queue.cursor.execute("UPDATE dbo.work_queue SET state = 'done' WHERE state <> 'done'")
    rounds(Queue.round_when_drained, None)
    return [{"procedure": name, "few_ms": statistics.median(few[name]), "many_ms": statistics.median(many[name]),
             "ratio": statistics.median(many[name]) / statistics.median(few[name])} for name in few]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--few", type=int, default=100)
    ap.add_argument("--many", type=int, default=100000)
    ap.add_argument("--rounds", type=int, default=300)
    ap.add_argument("--limit", type=float)
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    with Server() as server:
        table = measure(server, a)
    if a.json:
        print(json.dumps({"few": a.few, "many": a.many, "rounds": a.rounds, "procedures": table}, indent=1))
    else:
        print("median of %d calls, ms: %d tasks queued, %d tasks queued, ratio" % (a.rounds, a.few, a.many))
        for t in table:
            print("%-24s %8.3f %8.3f %7.2f" % (t["procedure"], t["few_ms"], t["many_ms"], t["ratio"]))
    # sp_queue_state counts the whole queue: it is for people who ask for it
    if a.limit and any(t["ratio"] > a.limit for t in table if t["procedure"] != "sp_queue_state"):
        sys.exit(1)


main()
