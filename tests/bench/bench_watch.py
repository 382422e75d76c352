#!/usr/bin/python3
"""bench_watch - CPU of the coordinator alone while it watches its workers.

  bench_watch.py [--workers N] [--seconds S] [--sample SECONDS] [--json]

Run in the build folder; against a storing fullrackd.  A queue of files is drained at a fixed rate, so that the run lasts as long as asked; the
coordinator's own user and system time (not its workers') is read from /proc shortly before the end and divided by the time since the start
signal.  Once with the live view on a terminal (a pseudo terminal of 120 x 40), once with the plain lines.
"""
import argparse, fcntl, json, os, pty, struct, subprocess, termios, threading, time
from measuring import Server

ROW = "%d,some text of a row that is not very long\n"


def cpu_s(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def watch(server, a, terminal):
    rate = max(1, int(sum(os.path.getsize(f) for f in a.files) / a.seconds))
    server.query("TRUNCATE TABLE dbo.t")
    server.run("add", "dbo.t", *a.files, "--format", "csv", "-q", "--again")
    command = server.command("run", "--workers", str(a.workers), "--rate", str(rate), "--sample", str(a.sample))
    if terminal:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        p = subprocess.Popen(command, env=dict(server.env, TERM="xterm"), stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        threading.Thread(target=drain, args=(master,), daemon=True).start()
    else:
        p = subprocess.Popen(command, env=server.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2)       # what starting costs is another figure (bench_many.py)
    first, began = cpu_s(p.pid), time.monotonic()
    time.sleep(a.seconds - 5)
    used, took = cpu_s(p.pid) - first, time.monotonic() - began
    if p.poll() is not None:
        raise SystemExit("the run ended before it was measured")
    p.wait()
    return {"view": "terminal" if terminal else "lines", "workers": a.workers, "seconds": took, "cpu_s": used, "percent_of_a_core": used / took * 100}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    a = parser.parse_args()
    with Server("--schedulers", str(a.workers)) as server:
        server.query("CREATE TABLE dbo.t (id int NOT NULL, v varchar(60) NULL)")
        server.run("init", "-q")
        a.files = []
        for i in range(a.workers * 4):
            a.files.append("%s/%d.csv" % (server.folder, i))
            with open(a.files[-1], "w") as f:
                f.write("".join(ROW % k for k in range(20000)))
        out = [watch(server, a, True), watch(server, a, False)]
    if a.json:
        print(json.dumps(out, indent=1))
    else:
        for o in out:
            print("%-8s %d workers watched for %.0f s: %.2f s of CPU, %.2f %% of a core" % (o["view"], o["workers"], o["seconds"], o["cpu_s"], o["percent_of_a_core"]))


if __name__ == "__main__":
    main()
