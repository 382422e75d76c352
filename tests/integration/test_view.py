#!/usr/bin/python3
"""The live view, on terminals of several sizes: before, during and after a run."""
import json, os, re, subprocess, sys, time
from rack import *
from terminal import PROGRAM, Terminal

FILES = 24
ROWS = 20000
BAR = re.compile(r"\[[#.]+\]")


def prepare(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    r.fresh_control()
    files = [r.file("a-file-with-a-name.%d.csv" % i, "".join("%d,value %d\n" % (k, k) for k in range(ROWS))) for i in range(FILES)]
    r.fullrack("add", "dbo.t", *files, "--format", "csv", "-q")


def seconds_of(line):
    h, m, s = re.search(r"run \d+(?: \w+)?  (\d\d):(\d\d):(\d\d)", line).groups()
    return int(h) * 3600 + int(m) * 60 + int(s)


def at_size(r, columns, lines, workers):
    prepare(r)
    t = Terminal(columns, lines, r.env())
    try:
        # nobody gives the signal yet: what is seen before
        t.type(" ".join(r.command("run", "--workers", str(workers), "--rate", "700K", "--no-start")))
        screen = t.wait_for(lambda s: sum("armed" in l for l in s) > 0 and any("0 of %d tasks" % FILES in l for l in s))
        run = r.sql("SELECT MAX(run_id) FROM dbo.run", "fullrack")[0][0]
        check(any(l.startswith("run %d  00:00:00" % run) for l in screen), "the clock stands", screen)
        wait_until("all are armed or wait", 30, lambda: r.sql("SELECT COUNT(*) FROM dbo.worker WHERE state = 'armed'", "fullrack")[0][0] >= min(workers, 4))
        r.fullrack("start", str(run))
        screen = t.wait_for(lambda s: any("ETA" in l for l in s) and any("csv" in l or "k/s" in l for l in s))
        check(all(len(l) < columns for l in screen if not l.startswith(("#", "$"))), "within the window", screen)
        head = next(i for i, l in enumerate(screen) if l.startswith("run %d  " % run))
        check(re.search(r"\d+ of %d tasks  [\d,]+ rows  \S+ rows/s  [\d.]+ MB/s" % FILES, screen[head + 1]), "totals", screen)
        # a digit where sessions came together: under load not every one finds a scheduler of its own in time
        check(re.match(r"schedulers  \S*[#2-9]", screen[head + 2]), "the grid", screen)
        equal(sum(bool(re.match(r"run \d+  ", l)) for l in screen), 1, "one picture, not several")
        busy = [l for l in screen[head + 3:] if BAR.search(l)]
        check(1 <= len(busy) <= 4, "workers that load", screen)
        before = seconds_of(screen[head])
        time.sleep(1.2)
        screen = t.screen()
        again = next(i for i, l in enumerate(screen) if l.startswith("run %d  " % run))
        check(again == head and before < seconds_of(screen[again]) <= before + 10, "redrawn in place", screen)
        yield t
        t.wait_for("%d of %d tasks done" % (FILES, FILES), 60)
        screen = t.screen(history=60)
        head = next(i for i, l in enumerate(screen) if l.startswith("run %d  " % run))
        check("100 %" in screen[head] and "ETA" not in screen[head], "after", screen)
        check("%d of %d tasks  %s rows" % (FILES, FILES, format(FILES * ROWS, ",")) in screen[head + 1], "totals", screen)
        # a warning stays, and the picture goes on below it
        check(1 <= sum(bool(re.match(r"run \d+  ", l)) for l in screen) <= 1 + sum("warning:" in l for l in screen), "one picture at the end", screen)
    finally:
        t.close()


def to_the_end(steps):
    for _ in steps:
        pass


def test_80_by_24(r):
    check(PROGRAM is not None, "tmux is not installed (scripts/packages.debian names it)")
    to_the_end(at_size(r, 80, 24, 4))


def test_120_by_40(r):
    to_the_end(at_size(r, 120, 40, 4))


def test_folds_at_80_by_24(r):
    """More workers than lines: two on a line, the rest counted."""
    for t in at_size(r, 80, 24, 60):
        screen = t.screen()
        check(any(re.match(r"w1 .*w2 ", l) for l in screen) and any(re.match(r"and \d+ more: ", l) for l in screen), "folded", screen)


def test_resizes(r):
    for t in at_size(r, 160, 50, 4):
        t.resize(70, 12)
        time.sleep(1)
        screen = t.screen()
        check(all(len(l) <= 70 for l in screen), "the new width", screen)
        check(sum(bool(re.match(r"run \d+  ", l)) for l in screen) >= 1 and any(BAR.search(l) for l in screen), "still drawn", screen)
        t.resize(160, 50)
        t.tmux("send-keys", "-R")
        t.tmux("clear-history")


def test_no_color_and_dumb(r):
    prepare(r)
    for variable, colored, in_place in (("", True, True), ("NO_COLOR=1 ", False, True), ("TERM=dumb ", False, False)):
        r.fullrack("reset", "--all", "-q") if variable else None
        t = Terminal(100, 30, r.env())
        try:
            t.type(variable + " ".join(r.command("run", "--workers", "2", "--rate", "4M")))
            t.wait_for(" of %d tasks" % FILES)
            t.wait_for("tasks done", 60)
            text = "\n".join(t.screen(colors=True))
            equal("\x1b[32m" in text or "\x1b[1m" in text, colored, "colours with %r" % variable)
            equal(bool(re.search(r"run \d+  00:", re.sub(r"\x1b\[[0-9;]*m", "", text))), in_place, "a picture with %r" % variable)
        finally:
            t.close()


def test_without_a_terminal(r):
    """A line every two seconds, nothing with -q, and no escape sequence."""
    prepare(r)
    r.fullrack("run", "--workers", "2", "--rate", "2M")
    lines = [l for l in r.err.splitlines() if re.match(r"[\d.]+ s  \d+ of %d tasks  " % FILES, l)]
    check(len(lines) >= 2 and "\x1b" not in r.err, "lines", r.err)
    r.fullrack("reset", "--all", "-q")
    r.fullrack("run", "--workers", "2", "-q")
    equal(r.err, "", "-q")


def test_status_watch(r):
    """The same picture from the control database."""
    prepare(r)
    t = Terminal(100, 30, r.env())
    try:
        t.type(" ".join(r.command("status", "--watch", "1")))
        t.wait_for("no run has been made")
        p = subprocess.Popen(r.command("run", "--workers", "3", "--rate", "700K", "-q"), env=r.env())
        screen = t.wait_for(lambda s: any(re.match(r"run \d+ running  00:00:\d\d  \[", l) for l in s) and sum(bool(BAR.search(l)) and "csv" in l for l in s) >= 2)
        check(any(l.startswith("schedulers  ") for l in screen), "the grid", screen)
        check(any(re.search(r"\d+ of %d tasks" % FILES, l) for l in screen), "totals", screen)
        equal(p.wait(60), 0, "the run")
        screen = t.wait_for(lambda s: any(re.match(r"run \d+ done  ", l) and "100 %" in l for l in s))
        check(any("%d of %d tasks  %s rows" % (FILES, FILES, format(FILES * ROWS, ",")) in l for l in screen), "at the end", screen)
        t.interrupt()
    finally:
        t.close()


def test_a_run_of_a_moment_has_a_rate(r):
    """Over before there is a stretch of time to rate: the last line has the rate of the whole run."""
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    path = r.file("moment.csv", "".join("%d,value %d\n" % (k, k) for k in range(ROWS)))
    r.fullrack("load", "dbo.t", path, "--format", "csv")
    last = [l for l in r.err.splitlines() if re.match(r"\d+\.\d s  1 of 1 tasks", l)]
    equal(len(last), 1, "a line at the end: " + r.err)
    check("20,000 rows" in last[0] and re.search(r"  [1-9]\S* rows/s  (?!0\.0 )[\d.]+ MB/s", last[0]), "its rate", last)

    # a run of seconds whose last ones bring no row
    path = r.file("wait.sql", "WAITFOR DELAY '00:00:03'")
    job = r.file("wait.json", json.dumps({"tables": [{"name": "dbo.t", "files": "moment.csv", "format": "csv", "after": {"file": path}}]}))
    r.fresh_control()
    r.fullrack("run", "--file", job, "--workers", "1")
    lines = [l for l in r.err.splitlines() if re.match(r"\d+\.\d s  ", l)]
    check("2 of 2 tasks  20,000 rows" in lines[-1] and re.search(r"  [1-9]\S* rows/s  ", lines[-1]), "its rate", lines)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
