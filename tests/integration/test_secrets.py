#!/usr/bin/python3
"""The password is nowhere but where it is needed: in no argv, output, log, report, metrics, core file, nor in the control database.

And the programs are built as programs that read foreign bytes should be."""
import base64, os, re, resource, signal, subprocess, sys, threading, time
from rack import *

ROWS = 200000


def forms():
    """The password as it may stand somewhere: as typed, as TDS carries it in a login, scrambled and not, and in base64."""
    wide = PASSWORD.encode("utf-16-le")
    return {"as typed": PASSWORD.encode(), "UTF-16": wide, "as a login carries it": bytes((((b << 4) | (b >> 4)) & 0xFF) ^ 0xA5 for b in wide),
            "base64": base64.b64encode(PASSWORD.encode()).rstrip(b"="), "in SQL": PASSWORD.encode("utf-16-be")}


def seek(what, data):
    for form, needle in forms().items():
        check(needle not in data, "the password (%s) is in %s" % (form, what))


def files_of(r):
    """Each file below the test's folder: output, logs, reports, rejects, and the server's databases."""
    for folder, _, names in os.walk(r.dir):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


def command_of(r, *args):
    """A command that is run in another folder."""
    program, *rest = r.command(*args)
    return [os.path.abspath(program), *rest]


def tree(pid):
    """A process and all below it."""
    return [pid] + [p for child in children_of(pid) for p in tree(child)]


def look_at(pid, is_first, seen):
    """argv and environment of a process (the first one's is the user's, until it is read), and that its memory goes into no core file."""
    try:
        argv, environment = (open("/proc/%d/%s" % (pid, name), "rb").read() for name in ("cmdline", "environ"))
        name = open("/proc/%d/comm" % pid).read()
        # it has just begun, and has not come to that
        filter_of = lambda: int(open("/proc/%d/coredump_filter" % pid).read() or "0", 16)
        wait_until("a core file of %r would have no mapping" % argv, 5, lambda: filter_of() == 0)
    except (FileNotFoundError, ProcessLookupError):
        return  # it has ended
    if not name.startswith("fullrack"):
        return  # between fork and exec
    seen.add(pid)
    seek("argv of process %d: %r" % (pid, argv), argv)
    if not is_first:
        seek("the environment of process %d: %r" % (pid, argv), environment)


def watch(p, seen, wrong):
    """Look at a command's processes, again and again, while it runs."""
    while p.poll() is None:
        try:
            for pid in tree(p.pid):
                look_at(pid, pid == p.pid, seen)
        except Failed as e:
            wrong.append(str(e))
            return
        time.sleep(0.02)


def run_watched(r, *args, exit=0, by_file=False, at_least=0):
    """Run a command, talkative; its output goes into files, its processes are looked at meanwhile."""
    env = r.env()
    command = command_of(r, *args, "-v")
    if by_file:
        del env["FULLRACK_PASSWORD"]
        command += ["--password-file", os.path.join(r.dir, "..", "fullrack-secret-%d" % os.getpid())]
    seen, wrong = set(), []
    n = len(os.listdir(os.path.join(r.dir, "said")))
    with open(os.path.join(r.dir, "said", "%d.%s.out" % (n, args[0])), "wb") as out, open(os.path.join(r.dir, "said", "%d.%s.err" % (n, args[0])), "wb") as err:
        p = subprocess.Popen(command, stdout=out, stderr=err, env=env, cwd=r.dir)
        watcher = threading.Thread(target=watch, args=(p, seen, wrong))
        watcher.start()
        p.wait(120)
        watcher.join()
    equal(wrong, [], "what was seen of " + args[0])
    equal(p.returncode, exit, "exit of %s: %s" % (args[0], open(err.name, "rb").read()))
    check(len(seen) >= at_least, "processes of %s that were looked at" % args[0], seen)


def test_nowhere(r):
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL)")
    r.fresh_control()
    os.makedirs(os.path.join(r.dir, "said"), exist_ok=True)
    big = r.file("big.tsv", "".join("%d\tname %d\n" % (i, i) for i in range(ROWS)))
    bad = r.file("bad.tsv", "1\tx\nno\ty\n")
    secret = os.path.join(r.dir, "..", "fullrack-secret-%d" % os.getpid())
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        f.write(PASSWORD + "\n")
    try:
        run_watched(r, "init")
        for by_file in (False, True):
            for engine in ("wire", "bcp"):
                run_watched(r, "load", "dbo.t", big, "--engine", engine, "--rate", "3M", by_file=by_file, at_least=3)
        run_watched(r, "load", "dbo.t", bad, "-m", "5", "-e", os.path.join(r.dir, "rejects"))
        run_watched(r, "add", "dbo.t", big, big, "--again")
        run_watched(r, "run", "--workers", "2", "--sample", "1", "--metrics-file", os.path.join(r.dir, "metrics.prom"), "--rate", "2M", at_least=4)
        run_watched(r, "run", "--workers", "1", by_file=True)
        for args in (("status", "--json"), ("report", "--html", os.path.join(r.dir, "report.html")), ("report", "--json"), ("report", "--csv"), ("verify",),
                     ("query", "SELECT * FROM fullrack.dbo.run"), ("waits",), ("schedulers", "--json"), ("check", "dbo.t", big)):
            run_watched(r, *args)
        run_watched(r, "query", "SELECT 1/0", exit=1)
        run_watched(r, "load", "dbo.nosuch", big, exit=1)
        # no server there, and a wrong login
        own = r.address
        r.address = "127.0.0.1:1"
        run_watched(r, "load", "dbo.t", big, "--login-timeout", "2", exit=3)
        r.address = own
        said = 0
        for path in files_of(r):
            data = open(path, "rb").read()
            said += len(data)
            seek(path, data)
        check(said > 100000, "bytes that were looked at", said)
        for table, in r.sql("SELECT name FROM sys.tables", "fullrack"):
            rows = r.sql("SELECT * FROM dbo.[%s]" % table, "fullrack")
            seek("the control database's table " + table, repr(rows).encode())
    finally:
        os.remove(secret)


def test_password_on_the_command_line(r):
    """Whoever gives it so is warned by the manual; it is gone from argv before the server is asked."""
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL)")
    env = r.env()
    del env["FULLRACK_PASSWORD"]
    p = subprocess.Popen(r.command("query", "WAITFOR DELAY '00:00:02'", "-P", PASSWORD), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    wait_until("it is at work", 20, lambda: r.sql("SELECT 1 FROM sys.dm_exec_requests WHERE command LIKE 'WAITFOR%' OR wait_type LIKE 'WAITFOR%'", "master"))
    seek("argv", open("/proc/%d/cmdline" % p.pid, "rb").read())
    p.communicate(timeout=30)
    equal(p.returncode, 0, "exit")


def test_core_files(r):
    """Of whatever process of a load: the core has no memory in it."""
    r.fresh("CREATE TABLE dbo.t (a int NOT NULL, b varchar(40) NULL)")
    folder = os.path.join(r.dir, "cores")
    os.makedirs(folder, exist_ok=True)
    big = r.file("big.tsv", "".join("%d\tname %d\n" % (i, i) for i in range(ROWS)))
    for victim in ("coordinator", "worker", "query"):
        args = ("query", "WAITFOR DELAY '00:00:20'") if victim == "query" else ("load", "dbo.t", big, "--rate", "100K")
        p = subprocess.Popen(command_of(r, *args), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=r.env(), cwd=folder,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        try:
            if victim == "query":
                wait_until("it waits", 20, lambda: r.sql("SELECT 1 FROM sys.dm_exec_requests WHERE command LIKE 'WAITFOR%' OR wait_type LIKE 'WAITFOR%'", "master"))
            else:
                wait_until("it loads", 20, lambda: workers_of(p.pid) and r.sql("SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command = 'BULK INSERT'", "master")[0][0])
            pids = tree(p.pid)
            for pid in pids:
                look_at(pid, pid == p.pid, set())
            os.kill(workers_of(p.pid)[0] if victim == "worker" else p.pid, signal.SIGABRT)
            if victim == "worker":
                time.sleep(0.5)
                p.kill()
            p.wait(30)
        finally:
            if p.poll() is None:
                p.kill()
                p.wait()
    for name in os.listdir(folder):
        seek("core file " + name, open(os.path.join(folder, name), "rb").read())


def elf(program, *what):
    return subprocess.run(["readelf", "-W", *what, os.path.join(BUILD, program)], capture_output=True, text=True, check=True, timeout=60).stdout


def test_hardening(_):
    """Position independent, relocations read-only before main, stack protector; fortified functions where nothing better watches."""
    for program in ("fullrack", "fullrackd"):
        check(re.search(r"Type: +DYN", elf(program, "-h")), program + " is not position independent")
        check("GNU_RELRO" in elf(program, "-l") and "NOW" in elf(program, "-d"), program + " has no full RELRO")
        stack = re.search(r"GNU_STACK .*", elf(program, "-l"))[0]
        check(" RW " in stack, program + " has an executable stack", stack)
        symbols = elf(program, "-s", "--dyn-syms")
        check("__stack_chk_fail" in symbols, program + " has no stack protector")
        check("_chk@GLIBC" in symbols or "__asan_init" in symbols or "__tsan_init" in symbols, program + " has no fortified functions")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
