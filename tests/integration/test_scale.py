#!/usr/bin/python3
"""A full rack: one worker per scheduler, 96 of them (24 under a sanitizer, where each needs many times the memory)."""
import json, os, subprocess, sys, time
import rack
from rack import *

ROWS = 1000


def is_sanitized():
    with open(os.path.join(rack.BUILD, "fullrack"), "rb") as f:
        return b"__asan_init" in f.read() or b"__ubsan_handle" in f.read()


def peak_kib(pid):
    """The most memory a process has had so far, 0 when it is gone."""
    try:
        with open("/proc/%d/status" % pid) as f:
            return next((int(line.split()[1]) for line in f if line.startswith("VmHWM:")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


class Watch:
    """What was seen while the run was under way."""

    def __init__(self, r, p):
        self.r, self.p = r, p
        self.coordinator = self.worker = self.looks = self.most_active = 0
        self.doubled = []

    def look(self):
        self.coordinator = max(self.coordinator, peak_kib(self.p.pid))
        self.worker = max([self.worker] + [peak_kib(c) for c in workers_of(self.p.pid)])
        # one statement, so one state of the queue: who is active, and on which scheduler
        rows = self.r.sql("SELECT scheduler_id, COUNT(*) FROM dbo.work_queue WHERE state = 'active' GROUP BY scheduler_id",
                          "fullrack")
        self.doubled += [row for row in rows if row[1] > 1]
        self.most_active = max(self.most_active, sum(row[1] for row in rows))
        self.looks += 1


def overlaps(rows):
    """Tasks of one scheduler of which one began before the other had ended."""
    found, by_scheduler = [], {}
    for scheduler, start, end, task in rows:
        by_scheduler.setdefault(scheduler, []).append((start, end, task))
    for scheduler, tasks in by_scheduler.items():
        tasks.sort()
        found += [(scheduler, a, b) for a, b in zip(tasks, tasks[1:]) if b[0] < a[1]]
    return found


def test_one_worker_per_scheduler(r):
    workers = r.workers
    tasks = 10 * workers
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, f int NOT NULL)")
    r.fresh_control()
    for i in range(tasks):
        r.file("q%04d.txt" % i, "".join("%d\t%d\n" % (j, i) for j in range(ROWS)))
    equal(len(r.sql("SELECT 1 FROM dbo.scheduler_use", "fullrack")), workers, "schedulers")
    r.fullrack("add", "-q", "dbo.t", os.path.join(r.dir, "q*.txt"))
    began = time.monotonic()
    with open(os.path.join(r.dir, "out"), "w+") as out, open(os.path.join(r.dir, "err"), "w+") as err:
        p = subprocess.Popen(r.command("run", "--workers", str(workers), "--pin", "require", "--json", "--start-timeout", "300",
                                       "--lease", "60"), stdout=out, stderr=err, env=r.env())
        r.started.append(p)
        watch = Watch(r, p)
        while p.poll() is None:
            watch.look()
            time.sleep(0.2)
        took = time.monotonic() - began
        out.seek(0), err.seek(0)
        said = err.read()
        equal(p.returncode, 0, "exit status (%s)" % said)
        d = json.load(out)
    reported = {t["task_id"] for t in d["tasks"]}
    missing = [row for row in r.sql("SELECT task_id, state, attempts, worker, last_error FROM dbo.work_queue", "fullrack")
               if row[0] not in reported]
    check(not missing, "tasks that the result does not have", missing, said)
    equal((d["rows"], d["workers"], d["schedulers"]), (tasks * ROWS, workers, workers), "rows, workers, schedulers")
    equal({t["state"] for t in d["tasks"]}, {"done"}, "states")
    check(d["start_skew_ms"] is not None and d["start_skew_ms"] >= 0, "start skew", d["start_skew_ms"])
    equal(r.sql("SELECT COUNT(*), COUNT(DISTINCT f * 1000 + id) FROM dbo.t"), [(tasks * ROWS, tasks * ROWS)], "each row once")
    rows = r.sql("SELECT scheduler_id, start_time, end_time, task_id FROM dbo.work_queue WHERE state = 'done'", "fullrack")
    equal(len(rows), tasks, "tasks done")
    equal(overlaps(rows), [], "loads at the same time on one scheduler, from the queue's rows")
    equal(watch.doubled, [], "schedulers with two active loads, as seen")
    equal(r.sql("SELECT COUNT(*) FROM dbo.scheduler_use WHERE claim_token IS NOT NULL", "fullrack"), [(0,)], "claims left over")
    equal(r.sql("SELECT COUNT(DISTINCT scheduler_id), COUNT(*) FROM dbo.worker", "fullrack"), [(workers, workers)],
          "each worker armed on a scheduler of its own")
    print("%d workers, %d tasks of %d rows: %.1f s, start skew %d ms, peak memory of the coordinator %.1f MiB, of a worker %.1f MiB"
          " (%d looks, up to %d active)" % (workers, tasks, ROWS, took, d["start_skew_ms"], watch.coordinator / 1024,
                                            watch.worker / 1024, watch.looks, watch.most_active))


class ScaleRack(Rack):
    workers = 24 if is_sanitized() else int(os.environ.get("FULLRACK_SCALE_WORKERS", "96"))

    def __init__(self, *options):
        super().__init__("--schedulers", str(self.workers), *options)


if __name__ == "__main__":
    rack.Rack = ScaleRack
    main(tests_of(sys.modules[__name__]))
