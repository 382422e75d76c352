"""measuring.py - what the benchmarks share: a server of their own, and what a command takes.

The build folder is the current one, or FULLRACK_BUILD.
"""
import json, os, re, shutil, subprocess, sys, tempfile

BUILD = os.environ.get("FULLRACK_BUILD", ".")
PASSWORD = "Bench-1"
DATABASE = "b"


class Server:
    """A fullrackd in a temporary folder, with the database `b`; options are those of its command.  For a with statement."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="fullrack-bench-")
        self.options = list(options)
        self.tls = "--tls-self-signed" in options
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")}
        self.env.update(FULLRACKD_PASSWORD=PASSWORD, FULLRACK_PASSWORD=PASSWORD)

    def __enter__(self):
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "fullrackd"), "--listen", "127.0.0.1:0", "--data", self.folder + "/data", "--user", "sa"] + self.options,
            stdout=subprocess.PIPE, text=True, env=self.env)
        try:
            self.address = re.search(r"listening on (\S+)", self.process.stdout.readline()).group(1)
            self.host, self.port = self.address.rsplit(":", 1)
            # FreeTDS' own programs take encryption and character set from there alone
            with open(self.folder + "/freetds.conf", "w") as conf:
                conf.write("[bench]\n host = %s\n port = %s\n tds version = 7.4\n client charset = UTF-8\n encryption = %s\n" % (
                    self.host, self.port, "require" if self.tls else "off"))
            self.env["FREETDSCONF"] = self.folder + "/freetds.conf"
            self.run("query", "CREATE DATABASE " + DATABASE, database=None)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *why):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, name, *args, database=DATABASE, address=None):
        """The command line of a fullrack command."""
        return [os.path.join(BUILD, "fullrack"), name, "-S", address or self.address, "-U", "sa", "--encrypt", "require" if self.tls else "off",
                *(["-d", database] if database else []), *args]

    def run(self, name, *args, **more):
        if subprocess.run(self.command(name, *args, **more), env=self.env, stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("fullrack %s failed" % name)

    def query(self, sql):
        self.run("query", sql)


def measured(args, env, prefix=()):
    """A command and its children: seconds of user, system and both kinds of CPU and of the clock, MiB of the largest process, and what
    it printed.  prefix: in front of it, and not measured apart from it."""
    with tempfile.NamedTemporaryFile(prefix="fullrack-bench-") as report:
        run = subprocess.run([os.path.join(BUILD, "tests/support/measure"), report.name, *prefix, *args], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace")
        got = json.loads(report.read() or "{}")
    if run.returncode != 0 or got["exit"] != 0:
        sys.exit("%s: exit %s\n%s%s" % (args[0], got.get("exit"), run.stdout[-2000:], run.stderr[-2000:]))
    got.update(cpu_s=got["user_s"] + got["system_s"], peak_mib=got.pop("peak_kib") / 1024, said=run.stdout)
    return got
