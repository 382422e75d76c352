"""instructions.py - user-space instructions of a row, counted by valgrind's callgrind, which no other work on the machine changes.

A loader runs twice, over few and over many rows of one set, and the difference is divided by that of the rows, so that starting,
connecting and ending cancel out.  Of fullrack what is counted is a worker in the foreground with a queue of one task: a worker of a
coordinator is started through /proc/self/exe, which would be valgrind itself.  `own` are the instructions of the program's own
functions, those inlined into them included, and not of any library; `total` those of all but the dynamic linker.
"""
import os, queue, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
import data
from measuring import DATABASE
from programs import PROGRAMS

FEW_ROWS, MANY_ROWS = 10000, 30000
LINKER = re.compile(r"/ld-linux[^/]*$|/ld-[\d.]+\.so$")
POSITION = re.compile(r"(c?ob|c?fl|c?f[ie]|c?fn)=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"(?:[+-]?\d+|\*) (\d+)$")


def by_object(path):
    """Path of a binary or library → the instructions of its functions alone (callgrind's manual, "Callgrind Format Specification")."""
    names, counts, current, is_call, summary = {}, {}, "", False, None
    with open(path, errors="replace") as f:
        for line in f:
            position = POSITION.match(line)
            if position:
                if not position.group(1).endswith("ob"):
                    continue
                if position.group(3) is not None:       # a name stands where its number comes first, of a called one perhaps
                    names[position.group(2)] = position.group(3)
                if position.group(1) == "ob":
                    current = names[position.group(2)]
            elif line.startswith("calls="):
                is_call = True      # the next line counts what was called, which has lines of its own
            else:
                cost = COST.match(line)
                if cost and not is_call:
                    counts[current] = counts.get(current, 0) + int(cost.group(1))
                is_call = is_call and not cost
                summary = int(line.split()[1]) if line.startswith("summary:") else summary
    if sum(counts.values()) != summary:
        sys.exit("callgrind counts %s instructions, its lines %d" % (summary, sum(counts.values())))
    return counts


def run_counted(command, env):
    """own and total of a command."""
    with tempfile.TemporaryDirectory(prefix="fullrack-bench-") as folder:
        out = folder + "/out"
        run = subprocess.run(["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + out, *command], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
        if run.returncode != 0:
            sys.exit("valgrind %s: exit %d\n%s" % (command[0], run.returncode, run.stdout[-2000:]))
        counts = by_object(out)
    own = sum(n for o, n in counts.items() if os.path.basename(o) == os.path.basename(command[0]))
    if own == 0:
        sys.exit("valgrind saw no function of %s" % command[0])
    return {"own": own, "total": sum(n for o, n in counts.items() if not LINKER.search(o))}


def task_state(server, control):
    out = subprocess.run(server.command("query", "--output", "csv", "SELECT TOP (1) state, rows_loaded FROM dbo.work_queue ORDER BY task_id DESC", database=control),
                         env=server.env, check=True, stdout=subprocess.PIPE, text=True).stdout
    return out.split("\n")[1].strip().split(",")


def count_load(server, control, program, name, form, rows):
    """control: a control database without tasks."""
    table, path = "dbo." + name, data.make(name, form, rows, server.folder)
    command = program.command(server, data.SETS[name], table, path, form)
    if not program.reads_all:
        return run_counted(command, server.env)
    load = command.index("load")
    queue_at = ["--control-database", control]
    server.run("add", "-q", "--again", *queue_at, *(w for w in command[command.index("--engine"):]))
    got = run_counted(server.command("worker", "-q", "--pin", "off", *queue_at), server.env)
    state = task_state(server, control)
    if state != ["done", str(rows)]:
        sys.exit("%s: a task of %d rows ended as %s" % (command[load], rows, state))
    return got


def count(server, control, program, name, form):
    few, many = (count_load(server, control, program, name, form, n) for n in (FEW_ROWS, MANY_ROWS))
    return {"data": name, "form": form, "program": program.name,
            **{k + "_per_row": (many[k] - few[k]) / (MANY_ROWS - FEW_ROWS) for k in ("own", "total")}}


def count_all(server, names, forms, programs, lanes=None):
    """A dict of each set, form and program that is fullrack or freebcp.  lanes: so many at once (default: one a CPU)."""
    lanes = lanes or os.cpu_count()
    controls = queue.Queue()
    for i in range(lanes):
        server.run("init", "-q", "--control-database", "control%d" % i)
        controls.put("control%d" % i)
    wanted = [(p, name, form) for name in names for form in forms for p in programs
              if p.name in ("wire", "bcp", "freebcp") and p.takes(data.SETS[name], form)]
    for name, form in {(name, form) for _, name, form in wanted}:
        for rows in (FEW_ROWS, MANY_ROWS):
            data.make(name, form, rows, server.folder)

    def one(job):
        control = controls.get()
        try:
            return count(server, control, *job)
        finally:
            controls.put(control)

    with ThreadPoolExecutor(lanes) as pool:
        return list(pool.map(one, wanted))


def print_table(counted):
    line = "%-9s %-13s %-8s %8s %8s"
    print(line % ("data", "form", "program", "own", "total"))
    for c in counted:
        print(line % (c["data"], c["form"], c["program"], "%.0f" % c["own_per_row"], "%.0f" % c["total_per_row"]))
