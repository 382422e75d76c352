#!/usr/bin/python3
"""--encrypt: what goes over the wire (FREETDS trap 18), against a server with TLS and one without."""
import os, socket, sys, threading
from rack import *

SECRET = "a-value-that-would-be-seen-in-clear"


class Tap:
    """A port that passes everything on to the server and keeps what it saw."""

    def __init__(self, port):
        self.seen = bytearray()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.server_port = port
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server_port))
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, a, b):
        try:
            while True:
                data = a.recv(65536)
                if not data:
                    break
                self.seen += data
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def saw(self, text):
        return text.encode("utf-8") in self.seen or text.encode("utf-16-le") in self.seen


def load_through(r, *options, exit=0):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL, v varchar(50) NULL)")
    f = r.file("secret.txt", "1\t%s\n" % SECRET)
    tap = Tap(r.port)
    address, r.address = r.address, "127.0.0.1:%d" % tap.port
    try:
        r.fullrack("load", "dbo.t", f, *options, exit=exit)
    finally:
        r.address = address
        tap.listener.close()
    if exit == 0:
        equal(r.sql("SELECT v FROM dbo.t"), [(SECRET,)], "rows")
    return tap


def test_prefer_encrypts_everything_where_the_server_can(r):
    check(not load_through(r).saw(SECRET), "the data went over the wire in clear")


def test_the_result_says_it(r):
    r.fresh("CREATE TABLE dbo.t (id int NOT NULL)")
    f, empty = r.file("one.txt", "1\n"), r.file("empty.txt", "")
    for engine in ("bcp", "wire"):
        for encrypt, said in (("off", False), ("login", False), ("prefer", True), ("require", True)):
            d = r.json("load", "dbo.t", f, "--engine", engine, "--encrypt", encrypt)
            equal((d["encrypted"], d["tasks"][0]["encrypted"]), (said, said), "%s, %s" % (engine, encrypt))
        check("clear_to" not in d["tasks"][0], "not for the public", d)
    # on this machine it is on no network, and not worth a line
    check("in clear" not in r.fullrack("load", "dbo.t", f, "--encrypt", "off"), "summary")
    equal(r.json("load", "dbo.t", empty, "--encrypt", "off")["encrypted"], None, "nothing was sent")


def test_require(r):
    check(not load_through(r, "--encrypt", "require").saw(SECRET), "the data went over the wire in clear")


def test_login_encrypts_the_login_only(r):
    check(load_through(r, "--encrypt", "login").saw(SECRET), "the tap sees nothing: this test shows nothing")


def test_off(r):
    check(load_through(r, "--encrypt", "off").saw(SECRET), "the tap sees nothing: this test shows nothing")


def test_without_tls_on_the_server(r):
    other = Rack()
    try:
        check(load_through(other, "--encrypt", "prefer").saw(SECRET), "prefer goes on in clear where nothing else is offered")
        load_through(other, "--encrypt", "require", exit=3)
        check("127.0.0.1" in other.err, "message", other.err)
        load_through(other, "--encrypt", "login", exit=3)
        check("no encryption" in other.err, "message", other.err)
        # a name of freetds.conf is asked at its address
        conf = other.file("freetds.conf", "[named]\n\thost = 127.0.0.1\n\tport = %d\n" % other.port)
        address, other.address = other.address, "named"
        other.fullrack("query", "SELECT 1", env=other.env(FREETDSCONF=conf))
        other.fullrack("query", "SELECT 1", "--encrypt", "require", exit=3, env=other.env(FREETDSCONF=conf))
        other.address = address
    finally:
        other.close()
        other.remove()


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--tls-self-signed")
