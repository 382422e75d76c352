"""tds.py - a TDS client of our own for what libraries do not let one send: attentions, old versions, broken messages."""
import socket, ssl, struct


def text(s):
    return s.encode("utf-16-le")


HEADERS = struct.pack("<IIHQI", 22, 18, 2, 0, 1)


class Tds:
    """encrypt: what the prelogin says: 0 only the login, 1 everything, 2 nothing, 3 required."""

    def __init__(self, port, user="sa", password="", database="", version=0x74000004, login=True, encrypt=2):
        self.s = socket.create_connection(("127.0.0.1", port), 20)
        self.tls = None
        if login:
            self.send(0x12, bytes.fromhex("00000B0006" "0100110001" "FF" "000000000000") + bytes([encrypt]))
            self.encryption = self.message()[32]
            if self.encryption != 2 and encrypt != 2:
                self.handshake()
            self.send(0x10, self.login7(user, password, database, version))
            if self.encryption == 0:
                self.tls = None
            self.login_tokens = self.answer()

    def handshake(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.tls_in, self.tls_out = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(self.tls_in, self.tls_out)
        while True:
            try:
                tls.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                done = False
            if self.tls_out.pending:
                self.send(0x12, self.tls_out.read())
            if done:
                break
            self.tls_in.write(self.message())
        self.tls = tls

    def close(self):
        self.s.close()

    def login7(self, user, password, database, version):
        head, texts = b"", b""
        secret = bytes(((b << 4 | b >> 4) & 0xFF) ^ 0xA5 for b in text(password))
        for f, raw in (("host", None), (user, None), (password, secret), ("tds.py", None), ("", None), ("", None),
                       ("tds.py", None), ("", None), (database, None)):
            head += struct.pack("<HH", 94 + len(texts), len(f))
            texts += text(f) if raw is None else raw
        head += b"\0" * 6 + struct.pack("<HH", 94 + len(texts), 0) * 3 + b"\0" * 4
        fixed = struct.pack("<IIIIIBBBBiI", version, 4096, 7, 1234, 0, 0xE0, 3, 0, 0, 0, 0x409)
        return struct.pack("<I", 4 + len(fixed) + len(head) + len(texts)) + fixed + head + texts

    def send(self, kind, payload, status=1):
        """One message in one packet (payload below 32 KB)."""
        self.write(struct.pack(">BBHHBB", kind, status, len(payload) + 8, 0, 1, 0) + payload)

    def write(self, data):
        if self.tls:
            self.tls.write(data)
            data = self.tls_out.read()
        self.s.sendall(data)

    def receive(self, n):
        while self.tls:
            try:
                return self.tls.read(n)
            except ssl.SSLWantReadError:
                raw = self.s.recv(65536)
                if not raw:
                    return b""
                self.tls_in.write(raw)
        return self.s.recv(n)

    def read(self, n):
        out = b""
        while len(out) < n:
            got = self.receive(n - len(out))
            if not got:
                raise EOFError
            out += got
        return out

    def message(self):
        out, last = b"", False
        while not last:
            h = self.read(8)
            last = bool(h[1] & 1)
            out += self.read(struct.unpack(">H", h[2:4])[0] - 8)
        return out

    def answer(self):
        """The tokens of one message: ('error', number, text), ('done', status, rows), ... rows are not looked into:
        whatever follows the first COLMETADATA is skipped up to the last DONE."""
        m, at, out = self.message(), 0, []
        while at < len(m):
            t = m[at]
            if t in (0xAA, 0xAB):
                n, number = struct.unpack("<Hi", m[at + 1:at + 7])
                chars = struct.unpack("<H", m[at + 9:at + 11])[0]
                out.append(("error" if t == 0xAA else "info", number, m[at + 11:at + 11 + 2 * chars].decode("utf-16-le")))
                at += 3 + n
            elif t in (0xE3, 0xAD):
                n = struct.unpack("<H", m[at + 1:at + 3])[0]
                out.append(("env", m[at + 3]) if t == 0xE3 else ("loginack", m[at + 4:at + 8].hex()))
                at += 3 + n
            elif t in (0xFD, 0xFE, 0xFF):
                status, _, rows = struct.unpack("<HHQ", m[at + 1:at + 13])
                out.append(("done", status, rows))
                at += 13
            elif t == 0x79:
                out.append(("status", struct.unpack("<i", m[at + 1:at + 5])[0]))
                at += 5
            else:
                out.append(("data", t))
                status, _, rows = struct.unpack("<HHQ", m[-12:])
                out.append(("done", status, rows))
                break
        return out

    def batch(self, sql):
        self.send(1, HEADERS + text(sql))

    def query(self, sql):
        self.batch(sql)
        return self.answer()

    def attention(self):
        self.send(6, b"")
