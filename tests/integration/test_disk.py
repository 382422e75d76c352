#!/usr/bin/python3
"""fullrack io and wear: figures against fio's own JSON, nothing of others' overwritten, devices' JSON."""
import glob, json, os, re, shutil, signal, stat, subprocess, sys, time
from rack import *

HERE = os.path.dirname(os.path.abspath(__file__))
FIO = shutil.which("fio")
RUNS = [{"operation": ["read", "write"], "access": ["random", "sequential"], "block": ["8K", "64K"]}]


def matrix(r, name="matrix.json", **more):
    return r.file(name, json.dumps(dict({"file-size": "4M", "threads": 2, "outstanding": 2, "seconds": 1, "runs": RUNS}, **more)))


def pair(r, **more):
    return matrix(r, "pair.json", runs=[{"operation": "read", "access": "random", "block": "8K"},
                                        {"operation": "write", "access": "sequential", "block": "64K"}], **more)


def reads(r):
    return matrix(r, "reads.json", runs=[{"operation": "read", "access": "random", "block": "8K"}])


def empty_folder(r, name):
    path = os.path.join(r.dir, name)
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    return path


def program(r, name, text):
    """A folder with one program of that name."""
    folder = empty_folder(r, "bin-%s" % name)
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return folder


# A machine where a program is nowhere but in PATH's first folder: of each process, the second and later of execve(2) find nothing.
ONLY_IN_PATH = "strace", "-f", "-o", "/dev/null", "-e", "inject=execve:error=ENOENT:when=2+"


def run(r, *args, path=None, exit=0, within=(), **more):
    """fullrack without a server in its environment."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")}
    if path is not None:
        env["PATH"] = path
    if within:
        within = (shutil.which(within[0]),) + within[1:]
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"    # it cannot look while it is traced
    p = subprocess.run([*within, os.path.join(os.path.abspath(BUILD), "fullrack"), *args], capture_output=True, text=True, timeout=120, env=env, **more)
    r.err = p.stderr
    check(p.returncode == exit, "fullrack %s: exit %d, expected %d" % (" ".join(args), p.returncode, exit), p.stdout, p.stderr)
    return p.stdout


def listening_fio(r):
    """fio, of whose output a copy is kept in the order of its runs."""
    folder = program(r, "fio", """#!/usr/bin/python3
import os, subprocess, sys, time
p = subprocess.run([%r] + sys.argv[1:], stdout=subprocess.PIPE)
with open(%r %% time.time_ns(), "wb") as f:
    f.write(p.stdout)
sys.stdout.buffer.write(p.stdout)
sys.exit(p.returncode)
""" % (FIO, os.path.join(r.dir, "fio-said-%d.json")))
    for old in glob.glob(os.path.join(r.dir, "fio-said-*")):
        os.remove(old)
    return folder + ":" + os.environ["PATH"]


def what_fio_said(r):
    """Per run: its own figures, and its I/Os by whole milliseconds, reckoned here."""
    out = []
    for name in sorted(glob.glob(os.path.join(r.dir, "fio-said-*"))):
        with open(name) as f:
            job = json.load(f)["jobs"][0]
        if job["jobname"] == "fill":
            continue
        side = "read" if job["read"]["total_ios"] else "write"
        f = job[side]
        buckets = [0] * 25
        for ns, n in f["clat_ns"]["bins"].items():
            buckets[min(int(ns) // 1000000, 24)] += n
        options = job["job options"]
        out.append({"side": side, "random": options["rw"].startswith("rand"), "block": int(options["bs"]), "ios": f["total_ios"],
                    "bytes": f["io_bytes"], "iops": f["iops"], "mb": f["bw_bytes"] / 1e6, "min": f["clat_ns"]["min"] / 1e6,
                    "mean": f["clat_ns"]["mean"] / 1e6, "max": f["clat_ns"]["max"] / 1e6, "buckets": buckets, "n": f["clat_ns"]["N"]})
    return out


def near(got, want, what, tolerance=1e-9):
    check(abs(got - want) <= tolerance * max(1, abs(want)), what, got, want)


def test_figures_are_fios_own(r):
    folder, path = empty_folder(r, "io"), listening_fio(r)
    doc = json.loads(run(r, "io", folder, "--matrix", matrix(r), "--json", path=path))
    said = what_fio_said(r)
    equal((len(doc["runs"]), len(said)), (8, 8), "runs")
    equal([(x["operation"], x["access"], x["block_bytes"]) for x in doc["runs"]],
          [(o, a, b) for o in ("read", "write") for a in ("random", "sequential") for b in (8192, 65536)], "their order")
    for x, f in zip(doc["runs"], said):
        equal((x["operation"], x["access"], x["block_bytes"]), (f["side"], "random" if f["random"] else "sequential", f["block"]), "the run")
        equal((x["ios"], x["bytes"]), (f["ios"], f["bytes"]), "counts")
        for ours, theirs in ("ios_per_s", "iops"), ("mb_per_s", "mb"), ("min_ms", "min"), ("average_ms", "mean"), ("max_ms", "max"):
            near(x[ours], f[theirs], ours)
        equal(x["histogram_ios"], f["buckets"], "histogram")
        equal(sum(x["histogram_ios"]), f["n"], "I/Os of the histogram")
        near(sum(x["histogram_percent"]), 100, "percents")
        equal(x["fio"]["jobs"][0][f["side"]]["total_ios"], f["ios"], "fio's document")
        equal(x["write_through"], f["side"] == "write", "write-through")
    equal((doc["file_bytes"], doc["is_made"], doc["is_kept"], os.listdir(folder)), (4 << 20, True, False, []), "the file")
    check(doc["fio_version"].startswith("fio-") and doc["fill_s"] > 0, "fio", doc["fio_version"])
    states = {t["name"]: t["state"] for t in doc["targets"]}
    equal(sorted(states), ["backup", "data", "log", "tempdb"], "targets")
    equal(states["backup"], "not measured", "what the matrix leaves out")


def test_sheet_is_fios_own(r):
    folder, path = empty_folder(r, "io"), listening_fio(r)
    text = run(r, "io", folder, "--matrix", pair(r), "--seconds", "1", path=path)
    said = what_fio_said(r)
    blocks = re.findall(r"^(read|write) (random|sequential) (\d+) KB, 2 threads, 2 outstanding, 1 s.*\nIOs/sec: +([\d.]+)\nMBs/sec: +([\d.]+)\n"
                        r"Min_Latency\(ms\): ([\d.]+)\nAvg_Latency\(ms\): ([\d.]+)\nMax_Latency\(ms\): ([\d.]+)\nhistogram:\nms: +(.*)\n%: +(.*)\n", text, re.M)
    equal((len(blocks), len(said)), (2, 2), text)
    for b, f in zip(blocks, said):
        equal((b[0], int(b[2]) * 1024), (f["side"], f["block"]), "the run")
        equal(b[3:8], ("%.2f" % f["iops"], "%.2f" % f["mb"], "%.3f" % f["min"], "%.3f" % f["mean"], "%.3f" % f["max"]), "figures")
        equal(b[8].split(), [str(i) for i in range(24)] + ["24+"], "milliseconds")
        percents = [int(p) for p in b[9].split()]
        equal((len(percents), sum(percents)), (25, 100), "percents")
        for got, n in zip(percents, f["buckets"]):
            check(abs(got - n * 100 / f["n"]) < 1, "percent", percents, f["buckets"])
    equal(os.listdir(folder), [], "what stays")


def test_nothing_that_is_there_is_overwritten(r):
    folder = empty_folder(r, "io")
    mine, link, dangling, fifo = (os.path.join(folder, n) for n in ("mine", "link", "dangling", "fifo"))
    content = os.urandom(2 << 20)
    with open(mine, "wb") as f:
        f.write(content)
    os.symlink(mine, link)
    os.symlink(os.path.join(folder, "nowhere"), dangling)
    os.mkfifo(fifo)

    def is_untouched():
        with open(mine, "rb") as f:
            check(f.read() == content, "the file is as it was")
        equal(sorted(os.listdir(folder)), ["dangling", "fifo", "link", "mine"], "the folder")

    for path in mine, link:
        run(r, "io", path, "--matrix", pair(r), exit=2)
        check("is there, and the matrix writes: its contents would be lost" in r.err and "--overwrite-contents" in r.err, "said", r.err)
        is_untouched()
    for path, status, says in (dangling, 1, "cannot be made: File exists"), (fifo, 2, "is no folder, file or block device"), ("/dev/null", 2, "is no folder"):
        run(r, "io", path, "--matrix", pair(r), "--overwrite-contents", exit=status)
        check(says in r.err, "said", r.err)
        is_untouched()
    run(r, "io", folder, "--matrix", pair(r))
    is_untouched()
    # the word is said each time: neither the environment nor a file says it
    args = [os.path.join(BUILD, "fullrack"), "io", mine, "--matrix", pair(r)]
    env = {k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")}
    config = r.file("config.json", '{"overwrite-contents": true}')
    for more, variables, says in ([], {"FULLRACK_OVERWRITE_CONTENTS": "1"}, "FULLRACK_OVERWRITE_CONTENTS"), (["--config", config], {}, "overwrite-contents"), \
            ([], {"FULLRACK_CONFIG": config}, "overwrite-contents"):
        p = subprocess.run(args + more, capture_output=True, text=True, timeout=60, env=dict(env, **variables))
        equal((p.returncode, p.stdout), (2, ""), p.stderr)
        check(says + ": only the command line says so: --overwrite-contents" in p.stderr, "said", p.stderr)
        is_untouched()
    # reading it harms nothing, and it is not removed; nor is it made longer
    doc = json.loads(run(r, "io", mine, "--matrix", reads(r), "--json"))
    equal((doc["is_made"], doc["file_bytes"], doc["fill_s"]), (False, 2 << 20, None), "a file that was there")
    is_untouched()
    inode = os.stat(mine).st_ino
    run(r, "io", link, "--matrix", pair(r), "--overwrite-contents", "-q")
    equal((os.stat(mine).st_ino, os.path.getsize(mine)), (inode, len(content)), "written to in place")
    with open(mine, "rb") as f:
        check(f.read() != content, "it was written to")


def test_a_new_file_of_a_name(r):
    folder = empty_folder(r, "io:a b")
    path = os.path.join(folder, "x:1,2 \\ \"$HOME\".dat")
    run(r, "io", path, "--matrix", reads(r), "-q")
    equal(os.listdir(folder), [], "removed")
    out = run(r, "io", path, "--matrix", reads(r), "--keep")
    check(path + " is kept" in out, "said", out)
    equal((os.listdir(folder), os.path.getsize(path), stat.S_IMODE(os.stat(path).st_mode)), ([os.path.basename(path)], 4 << 20, 0o600), "kept")
    with open(path, "rb") as f:
        check(len(set(f.read(65536))) == 256, "filled with data")
    # a relative name, and the folder that is the default
    for args in ("new.dat",), ():
        run(r, "io", *args, "--matrix", reads(r), "-q", cwd=empty_folder(r, "io"))
        equal(os.listdir(os.path.join(r.dir, "io")), [], "removed")


def test_mistakes_of_a_pair(r):
    folder = empty_folder(r, "io")
    bad = r.file("bad.json", '{\n "seconds": 0,\n "thread": 8,\n "runs": [\n  {"operation": "erase", "access": "random", "block": "8K"},\n'
                             '  {"operation": "read", "access": "random", "block": "9"}\n ]\n}\n')
    equal(run(r, "io", folder, "--matrix", bad, exit=2), "", "printed")
    for says in ('bad.json:2:13: "seconds" takes a whole number of 1 to 86400', 'bad.json:3:2: a matrix has no "thread"; did you mean "threads"?',
                 'bad.json:5:17: "operation" takes "read" or "write", not "erase"', 'bad.json:6:54: "block" is a multiple of 512 bytes'):
        check(says in r.err, says, r.err)
    for text, says in ("{", "'}' expected"), ("[]", "a matrix is an object"), ("\xff", "not UTF-8"):
        run(r, "io", folder, "--matrix", r.file("bad.json", text.encode("latin-1")), exit=2)
        check(says in r.err and ("bad.json has 1 mistake: nothing was done" in r.err or text == "\xff"), says, r.err)
    run(r, "io", folder, "--matrix", os.path.join(r.dir, "absent.json"), exit=2)
    check("absent.json: No such file" in r.err, "said", r.err)
    run(r, "io", folder, "--targets", r.file("bad.json", '{"targets": {"log": [{"operation": "write"}]}}'), exit=2)
    check('bad.json:1:22: a rule needs "access"' in r.err and "bad.json has 3 mistakes: nothing was done" in r.err, "said", r.err)
    run(r, "io", folder, "--matrix", matrix(r, runs=[{"operation": "read", "access": "sequential", "block": "4M"}]), exit=2)
    check("too small for 2 threads with blocks of 4096 KB" in r.err, "said", r.err)
    run(r, "io", folder, "--matrix", pair(r), "--file-size", "512T", exit=1)
    check("does not fit into" in r.err and "that are free" in r.err, "said", r.err)
    equal(os.listdir(folder), [], "nothing was made")


def test_without_fio(r):
    folder, nothing = empty_folder(r, "io"), empty_folder(r, "nothing")
    if not os.path.exists("/usr/sbin/fio") and not os.path.exists("/sbin/fio"):
        run(r, "io", folder, "--matrix", pair(r), path=nothing, exit=2)
        check("fio is not installed: it is in the package fio" in r.err, "said", r.err)
    for text, says in ("#!/bin/sh\necho 'fio: no such thing here' >&2\nexit 1\n", "fio ended with status 1: fio: no such thing here"), \
            ("#!/bin/sh\necho 'not json'\n", "fio printed no JSON"), ("#!/bin/sh\nkill -9 $$\n", "fio was ended by signal 9"), \
            ("#!/bin/sh\necho '{\"jobs\": [{\"error\": 28}]}'\n", "fio's job failed: No space left on device"), \
            ("#!/no/such/interpreter\n", "fio is not installed: it is in the package fio"):
        run(r, "io", folder, "--matrix", pair(r), path=program(r, "fio", text) + ":/bin:/usr/bin" * (text[:9] == "#!/bin/sh"),
            exit=2 if "interpreter" in text else 1)
        check(says in r.err, says, r.err)
        equal(os.listdir(folder), [], "removed")


def test_a_file_system_without_o_direct(r):
    """The second opening of the file is the one that asks."""
    folder = empty_folder(r, "io")
    path = os.path.join(folder, "new.dat")
    log = os.path.join(r.dir, "strace.txt")
    trace = "strace", "-o", log, "-P", path, "-e"
    doc = json.loads(run(r, "io", path, "--matrix", pair(r), "--json", within=trace + ("inject=openat:error=EINVAL:when=2",)))
    with open(log) as f:
        check(re.search(r"openat.*O_DIRECT.*EINVAL.*INJECTED", f.read()), "the refusal")
    equal(doc["is_direct"], False, "O_DIRECT")
    check("refuses O_DIRECT: I/Os go through the page cache, and the file is smaller than twice the memory" in r.err, "said", r.err)
    equal(len(doc["runs"]), 2, "runs")
    for x in doc["runs"]:
        options = x["fio"]["jobs"][0]["job options"]
        equal((options["direct"], options["ioengine"], options["numjobs"]), ("0", "psync", "4"), "a thread for each I/O under way")
    equal(os.listdir(folder), [], "removed")
    # nor does each take space at once
    doc = json.loads(run(r, "io", path, "--matrix", reads(r), "--json", within=("strace", "-o", log, "-e", "inject=fallocate:error=EOPNOTSUPP")))
    with open(log) as f:
        check("INJECTED" in f.read(), "the refusal")
    equal((doc["is_direct"], os.listdir(folder)), (True, []), "made all the same")
    run(r, "io", path, "--matrix", reads(r), within=("strace", "-o", log, "-e", "inject=fallocate:error=ENOSPC"), exit=1)
    check("new.dat: No space left on device" in r.err, "said", r.err)
    equal(os.listdir(folder), [], "removed")


def test_a_file_that_cannot_be_asked_about_is_not_left(r):
    """The first question is whether there is one of its name, the second of which inode it is."""
    folder = empty_folder(r, "io")
    path, log = os.path.join(folder, "new.dat"), os.path.join(r.dir, "strace.txt")
    run(r, "io", path, "--matrix", reads(r), within=("strace", "-o", log, "-P", path, "-e", "inject=fstat,newfstatat:error=EIO:when=2"), exit=1)
    with open(log) as f:
        check(re.search(r"O_EXCL.*\n.*fstat.*EIO.*INJECTED", f.read()), "the failure is of the file that was made")
    check("new.dat: Input/output error" in r.err, "said", r.err)
    equal(os.listdir(folder), [], "removed")


def test_a_document_that_cannot_be_printed(r):
    folder = empty_folder(r, "io")
    for args in ("io", folder, "--matrix", reads(r), "--json"), ("wear", "--file", smart("nvme"), "--json"):
        p = subprocess.run([os.path.join(BUILD, "fullrack"), *args], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True, timeout=60)
        equal((p.returncode, os.listdir(folder)), (1, []), p.stderr)
        check("writing to standard output: No space left on device" in p.stderr, "said", p.stderr)
    # what is no UTF-8 is refused before anything is made
    p = subprocess.run([os.path.join(BUILD, "fullrack"), "io", folder.encode() + b"/\xff", "--matrix", reads(r), "--json"], capture_output=True, timeout=60)
    equal((p.returncode, p.stdout, os.listdir(folder)), (2, b"", []), p.stderr)
    check(b"the name is not UTF-8" in p.stderr, "said", p.stderr)
    # nor does a text make it so that is cut within a character
    path = program(r, "fio", "#!/usr/bin/python3\nimport subprocess, sys\n"
                   "p = subprocess.run([%r] + sys.argv[1:], stdout=subprocess.PIPE)\n"
                   "sys.stdout.buffer.write(p.stdout.replace(b'\"fio version\" : \"', b'\"fio version\" : \"' + b'x' * 62 + b'\\xc3\\xa9'))\n"
                   "sys.exit(p.returncode)\n" % FIO) + ":" + os.environ["PATH"]
    doc = json.loads(run(r, "io", folder, "--matrix", reads(r), "--json", path=path))
    equal((doc["fio_version"], len(doc["runs"])), ("x" * 62, 1), "the document")


def fio_under(pid):
    for child in children_of(pid):
        try:
            with open("/proc/%d/comm" % child) as f:
                if f.read().strip() == "fio":
                    return child
        except FileNotFoundError:
            pass
    return None


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def interrupted(r, number, at_run):
    folder = empty_folder(r, "io")
    p = subprocess.Popen([os.path.join(BUILD, "fullrack"), "io", folder, "--matrix", pair(r, seconds=60)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, preexec_fn=signals_as_from_a_terminal)
    r.started.append(p)
    if at_run:
        line = p.stdout.readline()
        while "read random" not in line:
            check(line != "", "a run begins", p.poll())
            line = p.stdout.readline()
    fio = wait_until("fio is started", 20, lambda: fio_under(p.pid))
    began = time.monotonic()
    p.send_signal(number)
    err = p.communicate(timeout=30)[1]
    check(time.monotonic() - began < 10, "at once", time.monotonic() - began)
    wait_until("fio is gone", 10, lambda: not is_running(fio))
    return p.returncode, err, os.listdir(folder)


def test_interrupted(r):
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        status, err, files = interrupted(r, number, True)
        equal((status, files), (4, []), err)
        check("interrupted" in err, "said", err)
    # nobody can catch this: the file stays, but fio does not go on
    status, err, files = interrupted(r, signal.SIGKILL, True)
    equal((status, len(files)), (-9, 1), "killed")


def test_nobody_reads(r):
    folder = empty_folder(r, "io")
    p = subprocess.Popen([os.path.join(BUILD, "fullrack"), "io", folder, "--matrix", pair(r)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    r.started.append(p)
    p.stdout.readline()
    p.stdout.close()
    err = p.stderr.read().decode()
    p.stderr.close()
    equal((p.wait(60), os.listdir(folder)), (1, []), err)


def test_names_that_fio_would_read_otherwise(r):
    """Of `db.mdf#test` fio would take db.mdf: such names are refused, and the neighbour stays."""
    folder = os.path.join(r.dir, "odd")
    os.makedirs(folder)
    neighbour = os.path.join(folder, "db.mdf")
    with open(neighbour, "wb") as f:
        f.write(b"precious" * 4096)
    for name in ("db.mdf#test", "db.mdf;test", "db.mdf ", " db.mdf", "db.mdf\n", "db.mdf\t", "#hash", ";semi"):
        p = subprocess.run([os.path.join(BUILD, "fullrack"), "io", os.path.join(folder, name), "--seconds", "1", "--file-size", "1M"],
                           capture_output=True, text=True, timeout=60)
        equal(p.returncode, 2, "exit of %r: %s" % (name, p.stderr))
        check("fio takes no file whose name" in p.stderr, "message of %r" % name, p.stderr)
        equal((os.listdir(folder), open(neighbour, "rb").read()), (["db.mdf"], b"precious" * 4096), "folder after %r" % name)


def test_targets(r):
    folder = empty_folder(r, "io")
    rule = {"operation": "read", "access": "random", "block": "8K"}
    asked = r.file("targets.json", json.dumps({"targets": {"easy": [dict(rule, **{"ios-per-s": 1, "max-ms": 1000000})],
                                                           "hard": [dict(rule, **{"average-ms": 0.000001})],
                                                           "other": [dict(rule, block="16K", **{"max-ms": 1})]}}))
    out = run(r, "io", folder, "--matrix", reads(r), "--targets", asked)
    for says in "target easy: met", "target hard: missed", "target other: not measured":
        check(says in out, says, out)
    run(r, "io", folder, "--matrix", reads(r), "--targets", asked, "--target", "easy", "-q")
    out = json.loads(run(r, "io", folder, "--matrix", reads(r), "--targets", asked, "--target", "hard", "--target", "easy", "--json", exit=1))
    equal([(t["name"], t["state"]) for t in out["targets"]], [("hard", "missed"), ("easy", "met")], "verdict")
    got = out["targets"][0]["rules"][0]
    near(got["got"], out["runs"][0]["average_ms"], "the figure")
    check("target hard: missed" in r.err, "said", r.err)
    run(r, "io", folder, "--matrix", reads(r), "--targets", asked, "--target", "other", exit=2)
    check("target other: the matrix has no run read random 16 KB" in r.err, "said", r.err)
    run(r, "io", folder, "--target", "tempdbs", exit=2)
    check("there is no target tempdbs (there are tempdb, data, log, backup)" in r.err, "said", r.err)
    equal(os.listdir(folder), [], "removed")


def test_without_root(r):
    folder = empty_folder(r, "io")
    os.chmod(r.dir, 0o755)
    os.chmod(folder, 0o777)
    own = shutil.copy(os.path.join(BUILD, "fullrack"), r.dir)

    def nobody():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    file = pair(r)
    os.chmod(file, 0o644)
    p = subprocess.run([own, "io", folder, "--matrix", file, "--json"], capture_output=True, text=True, preexec_fn=nobody, timeout=60, cwd=folder)
    os.chmod(r.dir, 0o700)
    equal(p.returncode, 0, p.stderr)
    equal((len(json.loads(p.stdout)["runs"]), os.listdir(folder)), (2, []), "a user's test")


# -- wear

def smart(name):
    return os.path.join(HERE, "smart", name + ".json")


def test_wear_of_files(r):
    """file, rate: TB written, percent used, rated TB, TB left, days left, state."""
    for name, options, want in (
            ("sata_ssd", ("--write-rate", "500"), (204.8, 10, 2048, 1843.2, 3686.4, "lasts")),
            ("sata_ssd", (), (204.8, 10, 2048, 1843.2, 1843.2 / (204.8 / (21900 / 24)), "lasts")),
            ("sata_ssd", ("--rated-tb", "600", "--write-rate", "352.8"), (204.8, 204.8 / 6, 600, 395.2, 395200 / 352.8, "lasts")),
            ("nvme", ("--write-rate", "2048"), (512, 20, 2560, 2048, 1000, "lasts")),
            ("nvme", ("--write-rate", "0"), (512, 20, 2560, 2048, None, "endless")),
            ("nvme_cli", ("--write-rate", "2048"), (2560, 104, 2560 / 1.04, 0, 0, "over")),
            ("hdd", ("--write-rate", "100"), (30.72, None, None, None, None, "none")),
            ("hdd", (), (30.72, None, None, None, None, "none"))):
        doc = json.loads(run(r, "wear", "--file", smart(name), "--json", *options))
        got = (doc["written_bytes"], doc["used_percent"], doc["rated_bytes"], doc["left_bytes"], doc["days_left"])
        for g, w, unit in zip(got, want, (1e12, 1, 1e12, 1e12, 1)):
            equal(g is None, w is None, "%s %r: %r" % (name, options, doc))
            if w is not None:
                near(g, w * unit, "%s %r" % (name, options))
        equal(doc["state"], want[5], name)
    text = run(r, "wear", "--file", smart("nvme"), "--write-rate", "2048")
    for says in "Example NVMe SSD 3.84TB, NVMe, /dev/nvme0", "512.000 TB in its life (data_units_written)", "20.0 % of its endurance (percentage_used)", \
            "2048.000 GB a day (--write-rate)", "80.0 %, 2048.000 TB, 1000 days (2.7 years) at this rate":
        check(says in text, says, text)
    check("a rotating disk, which does not wear by writing" in run(r, "wear", "--file", smart("hdd")), "a disk")
    with open(smart("nvme")) as f:
        equal(json.loads(run(r, "wear", "--file", "-", "--json", stdin=f))["model"], "Example NVMe SSD 3.84TB", "standard input")


def test_wear_without_an_answer(r):
    for args, status, says in ((("wear",), 2, "wear needs a device, or --file FILE"), (("wear", "/dev/sda", "--file", "x"), 2, "not both"),
                               (("wear", "--file", smart("denied")), 1, "Permission denied (it needs root"),
                               (("wear", "--file", r.file("y.json", "{}")), 2, "y.json: this is neither of"),
                               (("wear", "--file", r.file("z.json", '{"smartctl": {}}')), 1, "z.json: smartctl told nothing of the device"),
                               (("wear", "--file", r.file("x.json", "nothing")), 2, "x.json: line 1"),
                               (("wear", "--file", os.path.join(r.dir, "absent")), 2, "No such file"),
                               (("wear", "--file", smart("nvme"), "--write-rate", "many"), 2, '"many" is no number of GB a day'),
                               (("wear", "--file", smart("nvme"), "--rated-tb", "0"), 2, '"0" is no number of TB'),
                               (("wear", "--file", smart("nvme"), "--vfs-path", "/x"), 2, "give -S"),
                               (("wear", "/dev/null"), 1, "smartctl cannot ask the device: /dev/null")):
        if args[1:] == ("/dev/null",):
            with open(smart("denied")) as f:
                text = f.read().replace("Smartctl open device: /dev/sda failed: Permission denied", "/dev/null: Unable to detect device type")
            path = program(r, "smartctl", "#!/bin/sh\ncat <<'E'\n%s\nE\nexit 2\n" % text) + ":" + os.environ["PATH"]
        else:
            path = None
        run(r, *args, exit=status, path=path)
        check(says in r.err, says, r.err)


def test_wear_asks_smartctl(r):
    """Its argument is the device alone, and no password is in its environment."""
    seen = os.path.join(r.dir, "seen")
    path = program(r, "smartctl", "#!/bin/sh\n{ echo \"$@\"; env; } >%s\ncat %s\nexit 4\n" % (seen, smart("sata_ssd"))) + ":" + os.environ["PATH"]
    p = subprocess.run(r.command("wear", "/dev/sd x", "--json", "--write-rate", "1"), capture_output=True, text=True, env=dict(r.env(), PATH=path))
    equal(p.returncode, 0, p.stderr)
    equal(json.loads(p.stdout)["written_bytes"], 204.8e12, "written")
    with open(seen) as f:
        text = f.read()
    equal(text.splitlines()[0], "--json -a /dev/sd x", "arguments")
    check(PASSWORD not in text and "FULLRACK" not in text, "no secret", text)
    run(r, "wear", "/dev/sda", exit=2, path=empty_folder(r, "nothing"), within=ONLY_IN_PATH)
    check("smartctl is not installed: it is in the package smartmontools" in r.err, "said", r.err)
    # nvme will do, of its devices
    path = program(r, "nvme", "#!%s\necho \"$@\" >%s\n/bin/cat %s\n" % ("/bin/sh", seen, smart("nvme_cli")))
    doc = json.loads(run(r, "wear", "/dev/nvme7", "--json", path=path, within=ONLY_IN_PATH))
    equal((doc["written_bytes"], doc["used_percent"]), (2560e12, 104), "nvme's")
    with open(seen) as f:
        equal(f.read(), "smart-log -o json /dev/nvme7\n", "arguments")
    run(r, "wear", "/dev/nvme7", exit=1, path=program(r, "nvme", "#!/bin/sh\necho 'Permission denied' >&2; exit 1\n"), within=ONLY_IN_PATH)
    check("nvme ended with status 1: Permission denied (it needs root" in r.err, "said", r.err)


def test_wear_at_the_servers_rate(r):
    time.sleep(1.1)     # averages per day need a server that is a second old
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    r.fullrack("load", "dbo.t", r.file("t.csv", "".join("%d\n" % i for i in range(50000))), "--format", "csv", "-q")

    def rate(rows, prefix=""):
        return sum(x["gb_written_per_day"] for x in rows if x["path"].startswith(prefix)) * 1e9

    before = json.loads(r.fullrack("vfs", "--json"))["rows"]
    doc = r.json("wear", "--file", smart("nvme"))
    after = json.loads(r.fullrack("vfs", "--json"))["rows"]
    check(min(rate(before), rate(after)) * 0.9 <= doc["bytes_per_day"] <= max(rate(before), rate(after)) * 1.1, "rate", doc, rate(before), rate(after))
    near(doc["days_left"], 2048e12 / doc["bytes_per_day"], "days")
    equal(doc["rate_from"], "%d database files of %s" % (len(after), r.address), "whose rate")
    one = [x["path"] for x in after if x["database"] == "t"][0]
    doc = r.json("wear", "--file", smart("nvme"), "--vfs-path", one)
    equal(doc["rate_from"], "1 database file of %s" % r.address, "one file's")
    r.fullrack("wear", "--file", smart("nvme"), "--vfs-path", "/nowhere", exit=2)
    check("no file whose path begins with /nowhere" in r.err, "said", r.err)


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]))
