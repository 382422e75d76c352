#!/usr/bin/python3
"""bench_streams - bulk streams into the same heap of fullrackd: CPU of the server a row, and rows a second.

  bench_streams.py [--compare-discard] [--rows N] [--batches N] [--streams N] [--repeat N] [--transactions] [--json]
                                                                                                    run in the build folder (make bench)

A batch of LineItem rows is encoded once, by fullrack itself (its wire engine, through a port that keeps what it sends), and then only
replayed: by one connection, one batch after the other, and by many at once, as many batches in all.  So the server alone is measured.
Each batch is committed for itself and becomes a segment; with --transactions it is a transaction, as fullrack sends it.  Figures are
ratios of medians, one run of each kind after the other.

With --compare-discard, the same streams (two of them by default) go to a server that stores the rows and to one that only decodes,
checks and counts them (--discard), in turn: what storing costs.
"""
import argparse, contextlib, json, os, socket, statistics, sys, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import data
from bulkstream import statements
from measuring import DATABASE, PASSWORD, Server
from tds import Tds


class Keeper:
    """A port in front of the server that keeps what clients send."""

    def __init__(self, port):
        self.kept, self.port_behind = [], port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.port_behind))
            kept = bytearray()
            self.kept.append(kept)
            threading.Thread(target=self.pump, args=(client, server, kept), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, None), daemon=True).start()

    def pump(self, a, b, kept):
        while True:
            data = a.recv(1 << 18)
            if kept is not None:
                kept += data
            if not data:
                b.shutdown(socket.SHUT_WR)
                return
            b.sendall(data)

    def stream(self):
        """INSERT BULK, and the packets of the stream that follows it."""
        for kept in self.kept:
            at, begin = 0, None
            while at + 8 <= len(kept):
                length = int.from_bytes(kept[at + 2:at + 4], "big")
                if kept[at] == 7 and begin is None:
                    begin = at
                at += length
                if begin is not None and kept[at - length + 1] & 1:
                    sql = next(s for s in statements(bytes(kept[:begin])) if s.upper().startswith("INSERT BULK"))
                    return sql, bytes(kept[begin:at])
        sys.exit("no bulk stream was sent")


def cpu_of(server):
    """Seconds of CPU of its process so far."""
    return time.clock_gettime(~server.process.pid << 3 | 2)     # clock_getcpuclockid(3)


def replay(t, sql, stream, batches, transactions, want):
    for _ in range(batches):
        if transactions:
            t.query("BEGIN TRANSACTION")
        t.query(sql)
        t.s.sendall(stream)
        got = t.answer()[-1]
        if got[2] != want:
            sys.exit("a stream of %d rows was answered with %r" % (want, got))
        if transactions:
            t.query("COMMIT")


def measure(server, sql, stream, a, streams):
    connections = [Tds(int(server.port), password=PASSWORD, database=DATABASE) for _ in range(streams)]
    connections[0].query("TRUNCATE TABLE dbo.lineitem")
    threads = [threading.Thread(target=replay, args=(t, sql, stream, a.batches // streams, a.transactions, a.rows)) for t in connections]
    cpu, begin = cpu_of(server), time.monotonic()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    wall, cpu = time.monotonic() - begin, cpu_of(server) - cpu
    got = connections[0].query("DECLARE @n bigint SELECT @n = COUNT_BIG(*) FROM dbo.lineitem PRINT @n")
    for t in connections:
        t.close()
    rows = a.rows * a.batches
    if ("info", 0, str(0 if "--discard" in server.options else rows)) not in got:
        sys.exit("not %d rows: %r" % (rows, got))
    return {"cpu_us": cpu * 1e6 / rows, "rows_s": rows / wall}


def record(server, rows):
    """A batch of LineItem as fullrack sends it: INSERT BULK, and its stream."""
    keeper = Keeper(int(server.port))
    server.run("load", "dbo.lineitem", data.make("lineitem", "plain", rows, server.folder), "-t", "|", "-q", "--engine", "wire", "-b", "0",
               address="127.0.0.1:%d" % keeper.port)
    return keeper.stream()


def ways(a, server, discarding):
    """What is compared: name, server, streams; the second is measured against the first."""
    if a.compare_discard:
        return ("discarded", discarding, a.streams), ("stored", server, a.streams)
    return ("one", server, 1), ("many", server, a.streams)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--compare-discard", action="store_true", help="stored against discarded, instead of many streams against one")
    ap.add_argument("--rows", type=int, default=60000, help="of a batch")
    ap.add_argument("--batches", type=int, default=64, help="in all, of each run")
    ap.add_argument("--streams", type=int, help="2 with --compare-discard, else 16")
    ap.add_argument("--repeat", type=int, default=5)
    ap.add_argument("--transactions", action="store_true")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    a.streams = a.streams or (2 if a.compare_discard else 16)
    a.batches -= a.batches % a.streams
    with contextlib.ExitStack() as running:
        server = running.enter_context(Server())
        discarding = running.enter_context(Server("--discard")) if a.compare_discard else None
        for s in filter(None, (server, discarding)):
            s.query(data.SETS["lineitem"].ddl("dbo.lineitem"))
        sql, stream = record(server, a.rows)
        compared = ways(a, server, discarding)
        runs = {name: [] for name, _, _ in compared}
        for _ in range(a.repeat):
            for name, on, n in compared:
                runs[name].append(measure(on, sql, stream, a, n))
    out = {"rows": a.rows, "batches": a.batches, "streams": a.streams, "bytes_a_row": len(stream) / a.rows}
    for name in runs:
        out[name] = {k: statistics.median(r[k] for r in runs[name]) for k in ("cpu_us", "rows_s")}
    base, other = (out[name] for name in runs)
    out["cpu_ratio"] = other["cpu_us"] / base["cpu_us"]
    out["throughput_ratio"] = other["rows_s"] / base["rows_s"]
    if a.json:
        print(json.dumps(out))
        return
    print("%d batches of %d rows of %.0f bytes, median of %d" % (a.batches, a.rows, out["bytes_a_row"], a.repeat))
    for name, _, n in compared:
        print("%-9s %3d stream%s  %.3f us of the server's CPU a row, %.2f million rows/s" % (
            name, n, " " if n == 1 else "s", out[name]["cpu_us"], out[name]["rows_s"] / 1e6))
    print("%s : %s  CPU a row %.2f, rows a second %.2f" % (*reversed(list(runs)), out["cpu_ratio"], out["throughput_ratio"]))


if __name__ == "__main__":
    main()
