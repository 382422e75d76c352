"""proxy.py - a TCP proxy in front of fullrackd that breaks things on request.

It knows just enough of TDS to see the batch that ends a transaction: it can cut the connection before that batch
arrives, or after the server has answered it, so that the client never learns the outcome, or answer it with an error of
its own.
"""
import random, socket, struct, threading

COMMIT = "COMMIT TRANSACTION".encode("utf-16-le")


def error_reply(number):
    """ERROR and DONE (MS-TDS 2.2.7.10, 2.2.7.6) in one packet."""
    text = "made up: error %d" % number
    body = struct.pack("<IBBH", number, 1, 17, len(text)) + text.encode("utf-16-le") + b"\0\0" + struct.pack("<I", 1)
    tokens = b"\xaa" + struct.pack("<H", len(body)) + body + b"\xfd" + struct.pack("<HHQ", 2, 0, 0)
    return struct.pack(">BBHHBB", 4, 1, 8 + len(tokens), 0, 1, 0) + tokens


class Connection:
    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.drop_answer = False
        self.closed = False

    def close(self):
        self.closed = True
        for s in (self.client, self.server):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            try:
                s.close()
            except OSError:
                pass
        self.proxy.forget(self)

    def to_server(self):
        try:
            while True:
                data = self.client.recv(65536)
                if not data:
                    break
                if COMMIT in data:
                    what = self.proxy.take_order()
                    if what == "before":
                        break
                    if isinstance(what, int):
                        self.client.sendall(error_reply(what))
                        continue
                    self.drop_answer = what == "after"
                self.server.sendall(data)
        except OSError:
            pass
        self.close()

    def to_client(self):
        try:
            while True:
                data = self.server.recv(65536)
                if not data or self.drop_answer:
                    break
                self.client.sendall(self.proxy.change(data))
        except OSError:
            pass
        self.close()


class Proxy:
    """Listens on a free port of the loopback; port_of_server is asked for each connection."""

    def __init__(self, port_of_server, host="127.0.0.1"):
        self.port_of_server, self.host = port_of_server, host
        self.lock = threading.Lock()          # guards connections and orders
        self.connections = set()
        self.orders = []
        self.change = lambda data: data       # of what the server says
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((self.host, self.port_of_server()), timeout=5)
                server.settimeout(None)
            except OSError:
                client.close()
                continue
            for s in (client, server):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            c = Connection(self, client, server)
            with self.lock:
                self.connections.add(c)
            for run in (c.to_server, c.to_client):
                threading.Thread(target=run, daemon=True).start()

    def forget(self, c):
        with self.lock:
            self.connections.discard(c)

    def order(self, what):
        """The next commit that comes by: 'before', 'after', or the number of an error."""
        with self.lock:
            self.orders.append(what)

    def take_order(self):
        with self.lock:
            return self.orders.pop(0) if self.orders else None

    def cancel_orders(self):
        with self.lock:
            self.orders.clear()

    def cut(self, rng, everything=False):
        with self.lock:
            chosen = list(self.connections)
        if not everything and chosen:
            chosen = [rng.choice(chosen)]
        for c in chosen:
            c.close()

    def close(self):
        self.listener.close()
        self.cut(random.Random(0), True)
