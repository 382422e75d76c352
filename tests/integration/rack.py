"""rack.py - what the integration tests share: a server of their own, the fullrack program, a foreign client.

Each test file is a program: it makes a Rack (own fullrackd on port 0, own temporary folder), runs its functions named
test_*, prints each failure and 'N passed, N failed', and leaves nothing behind.  FULLRACK_BUILD names the build
folder (default: the current one).
"""
import contextlib, json, os, re, shutil, signal, subprocess, sys, tempfile, time, traceback
import pymssql

BUILD = os.environ.get("FULLRACK_BUILD", ".")
PASSWORD = "Rack-Test-%d" % os.getpid()
ENGINE = None       # of all loads of a test program; None = the default


class Failed(AssertionError):
    pass


def check(condition, message, *details):
    if not condition:
        raise Failed(message + "".join("\n    %r" % (d,) for d in details))


def equal(got, want, what):
    check(got == want, "%s: %r, expected %r" % (what, got, want))


class Rack:
    """A fullrackd and what is needed to use it."""
    prefix = []     # of its command: what runs it
    environment = {}

    def __init__(self, *options):
        self.dir = tempfile.mkdtemp(prefix="fullrack-test-")
        self.data = os.path.join(self.dir, "data")
        self.options = list(options)
        self.server = None
        self.started = []
        self.port = 0
        self.start()

    def start(self):
        env = dict(os.environ, FULLRACKD_PASSWORD=PASSWORD, **self.environment)
        self.server = subprocess.Popen(
            self.prefix + [os.path.join(BUILD, "fullrackd"), "--listen", "127.0.0.1:%d" % self.port, "--data", self.data, "--user", "sa"]
            + self.options, stdout=subprocess.PIPE, text=True, env=env)
        line = self.server.stdout.readline()
        m = re.search(r"listening on (\S+):(\d+)", line)
        check(m, "fullrackd did not start: %r" % line)
        self.port = int(m.group(2))
        self.address = "127.0.0.1:%d" % self.port

    def freeze_server(self):
        os.kill(self.server.pid, signal.SIGSTOP)
        # the signal is sent, but the threads stop one by one
        wait_until("the server stands still", 10, lambda: all(
            open("/proc/%d/task/%s/stat" % (self.server.pid, t)).read().split(")")[1].split()[0] == "T"
            for t in os.listdir("/proc/%d/task" % self.server.pid)))

    def thaw_server(self):
        os.kill(self.server.pid, signal.SIGCONT)

    def kill_server(self):
        self.server.kill()
        self.server.wait()

    def close(self):
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()
        if self.server.poll() is None:
            self.server.terminate()
            try:
                self.server.wait(10)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
                raise Failed("fullrackd did not stop within 10 s of SIGTERM")
            check(self.server.returncode == 0, "fullrackd ended with status %d" % self.server.returncode)
        self.server.stdout.close()

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    # -- a client that is not ours

    def connect(self, database=""):
        return pymssql.connect(server="127.0.0.1", port=self.port, user="sa", password=PASSWORD, database=database,
                               tds_version="7.3", autocommit=True, login_timeout=10, timeout=60)

    def sql(self, text, database="t", args=None):
        """Rows of the last result, or [] where there is none."""
        with self.connect(database) as db:
            cur = db.cursor()
            cur.execute(text, args)
            rows = []
            while True:
                if cur.description:
                    rows = cur.fetchall()
                if not cur.nextset():
                    return rows

    def fresh(self, ddl, table="dbo.t"):
        """Database t with just this table."""
        try:
            self.sql("CREATE DATABASE t", "")
        except pymssql.Error:
            pass
        self.sql("DROP TABLE IF EXISTS " + table)
        self.sql(ddl)

    def drop_database(self, name):
        """Also of one that a program has just left: its session may not be over yet."""
        def dropped():
            try:
                self.sql("DROP DATABASE IF EXISTS " + name, "master")
                return True
            except pymssql.Error as e:
                if e.args[0] != 3702:
                    raise
                return False
        wait_until("database %s is in use no more" % name, 30, dropped)

    def file(self, name, content):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    # -- fullrack

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")}
        if ENGINE:
            env["FULLRACK_ENGINE"] = ENGINE
        return dict(env, FULLRACK_PASSWORD=PASSWORD, **more)

    def command(self, *args, database="t"):
        out = [os.path.join(BUILD, "fullrack"), args[0], "-S", self.address, "-U", "sa"]
        if database:
            out += ["-d", database]
        return out + list(args[1:])

    def fullrack(self, *args, database="t", exit=0, input=None, timeout=120, env=None):
        """Run a command to its end; stdout as text, stderr in self.err."""
        r = subprocess.run(self.command(*args, database=database), input=input, capture_output=True, timeout=timeout,
                           env=env or self.env())
        self.err = r.stderr.decode("utf-8", "replace")
        out = r.stdout.decode("utf-8", "replace")
        check(r.returncode == exit, "fullrack %s: exit %d, expected %d" % (" ".join(args), r.returncode, exit), out,
              self.err)
        return out

    def json(self, *args, **more):
        return json.loads(self.fullrack(args[0], "--json", *args[1:], **more))

    def spawn(self, *args, database="t"):
        p = subprocess.Popen(self.command(*args, database=database), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=self.env(), preexec_fn=signals_as_from_a_terminal)
        self.started.append(p)
        return p

    def fresh_control(self):
        """A control database without tasks."""
        self.fullrack("init", "-q")
        for table in ("work_queue", "run", "ready", "worker", "job", "work_group", "work_group_need", "work_pending", "table_limit"):
            self.sql("DELETE FROM dbo." + table, "fullrack")
        # a worker that was killed in an earlier test holds its row until its lease ends
        self.sql("UPDATE dbo.scheduler_use SET claim_token = NULL, worker = NULL, lease_until = NULL", "fullrack")


def signals_as_from_a_terminal():
    """What runs the tests in the background, or under nohup, ignores these, and its children would, too."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(what, seconds, function):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = function()
        if got:
            return got
        time.sleep(0.05)
    raise Failed("timed out after %d s: %s" % (seconds, what))


def children_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(c) for c in f.read().split()]
    except FileNotFoundError:
        return []


def workers_of(pid):
    """The worker processes of a coordinator: its fork server's children."""
    return [w for server in children_of(pid) for w in children_of(server)]


@contextlib.contextmanager
def folders(prefix, *names):
    """A temporary folder with these folders in it: (it, their paths); gone at the end."""
    base = tempfile.mkdtemp(prefix=prefix)
    try:
        paths = [os.path.join(base, n) for n in names]
        for path in paths:
            os.mkdir(path)
        yield base, paths
    finally:
        shutil.rmtree(base, ignore_errors=True)


def main(functions, *options):
    """Run the test functions (each takes the Rack) one after the other."""
    rack = Rack(*options)
    passed = failed = 0
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        for f in functions:
            if only not in f.__name__:
                continue
            try:
                f(rack)
                passed += 1
            except Exception as e:       # each test on its own: the next one makes its own tables
                failed += 1
                print("FAIL %s: %s" % (f.__name__, e))
                if not isinstance(e, Failed):
                    traceback.print_exc(file=sys.stdout)
    finally:
        try:
            rack.close()
        except Failed as e:
            failed += 1
            print("FAIL end of the server: %s" % e)
        rack.remove()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


def some(n):
    """Rows for a load that is to last a moment: fewer where each takes several times as long (sanitizers)."""
    return n // 5 if os.environ.get("FULLRACK_FEW_CASES") else n


def tests_of(module):
    """The functions named test_*, in the order of the file."""
    found = [f for n, f in vars(module).items() if n.startswith("test_") and callable(f)]
    return sorted(found, key=lambda f: f.__code__.co_firstlineno)
