"""bulkstream.py - reads what a bulk client sent: messages out of packets, then the stream of MS-TDS 2.2.6.1.

Written from the specification, without a look at src/wire or src/server.
"""
import struct

FIXED = {0x30: (0x26, 1), 0x32: (0x68, 1), 0x34: (0x26, 2), 0x38: (0x26, 4), 0x3a: (0x6f, 4), 0x3b: (0x6d, 4), 0x3c: (0x6e, 8),
         0x3d: (0x6f, 8), 0x3e: (0x6d, 8), 0x7a: (0x6e, 4), 0x7f: (0x26, 8)}       # as nullable type and size
BY_SIZE = (0x24, 0x26, 0x68, 0x6d, 0x6e, 0x6f)
DECIMALS = (0x6a, 0x6c)
SCALED = (0x29, 0x2a, 0x2b)
SHORT = (0xa5, 0xad, 0xa7, 0xaf, 0xe7, 0xef)
LONG = (0x22, 0x23, 0x63)
COLLATED = (0xa7, 0xaf, 0xe7, 0xef, 0x23, 0x63)


def messages(data):
    """(type, payload, header of the last packet) of each message in the bytes a client sent in clear."""
    out, at, body = [], 0, b""
    while at + 8 <= len(data):
        kind, status, length = struct.unpack(">BBH", data[at:at + 4])
        if length < 8:
            raise ValueError("a packet of %d bytes" % length)
        body += data[at + 8:at + length]
        at += length
        if status & 1:
            out.append((kind, body, status))
            body = b""
    return out


def statements(data):
    """Texts of the SQL batches."""
    found = []
    for kind, body, _ in messages(data):
        if kind == 1:
            skip = struct.unpack("<I", body[:4])[0]
            found.append(body[skip:].decode("utf-16-le"))
    return found


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("the stream ends within a value")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def left(self):
        return len(self.data) - self.at


class Column:
    """What COLMETADATA says, a fixed type as the nullable one."""

    def __init__(self, r):
        r.number(4)                             # user type
        self.flags = r.number(2)
        self.sent_token = self.token = r.number(1)
        self.collation = None
        self.size = self.precision = self.scale = 0
        self.fixed = self.token in FIXED
        if self.fixed:
            self.token, self.size = FIXED[self.token]
        elif self.token in BY_SIZE:
            self.size = r.number(1)
        elif self.token in DECIMALS:
            self.size, self.precision, self.scale = r.number(1), r.number(1), r.number(1)
        elif self.token in SCALED:
            self.scale = r.number(1)
        elif self.token in SHORT:
            self.size = r.number(2)
        elif self.token in LONG:
            self.size = r.number(4)
        elif self.token != 0x28:
            raise ValueError("type 0x%02x in COLMETADATA" % self.token)
        if self.token in COLLATED:
            self.collation = r.take(5)
        if self.token in LONG:
            r.take(2 * r.number(2))             # the table
        self.name = r.take(2 * r.number(1)).decode("utf-16-le")

    def value(self, r):
        if self.fixed:
            return r.take(self.size)
        if self.token in LONG:
            n = r.number(1)
            if n == 0:
                return None
            r.take(n + 8)
            n = r.number(4)
            return None if n == 0xffffffff else r.take(n)
        if self.token in SHORT and self.size == 0xffff:
            total = r.number(8)
            if total == 2 ** 64 - 1:
                return None
            out = b""
            while True:
                n = r.number(4)
                if n == 0:
                    break
                out += r.take(n)
            if total not in (len(out), 2 ** 64 - 2):
                raise ValueError("%s: %d bytes in chunks, %d announced" % (self.name, len(out), total))
            return out
        if self.token in SHORT:
            n = r.number(2)
            return None if n == 0xffff else r.take(n)
        n = r.number(1)
        if n == 0:
            return None
        b = r.take(n)
        if self.token in DECIMALS:              # whatever its length
            return b[0], int.from_bytes(b[1:], "little")
        if self.token in SCALED:                # whatever the scale it is declared with
            rest = {0x29: 0, 0x2a: 3, 0x2b: 5}[self.token]
            if n - rest != (3 if self.scale <= 2 else 4 if self.scale <= 4 else 5):
                raise ValueError("%s: %d bytes at scale %d" % (self.name, n, self.scale))
            return int.from_bytes(b[:n - rest], "little") * 10 ** (7 - self.scale), b[n - rest:]
        return b


class Stream:
    def __init__(self, body):
        r = Reader(body)
        if r.number(1) != 0x81:
            raise ValueError("no COLMETADATA in front")
        self.columns = [Column(r) for _ in range(r.number(2))]
        self.rows, self.done = [], False
        self.decimal_bytes = set()
        while r.left():
            token = r.number(1)
            if token == 0xfd:
                if r.take(12) is None or r.left():
                    raise ValueError("something behind DONE")
                self.done = True
            elif token == 0xd1:
                self.rows.append([c.value(r) for c in self.columns])
            else:
                raise ValueError("token 0x%02x in the stream" % token)


def streams(data):
    return [Stream(body) for kind, body, _ in messages(data) if kind == 7 and body]
