"""remote.py - a rack on a server that is not ours: two databases of our own there, and no kill of the server."""
import os
import pymssql
from proxy import Proxy
from rack import BUILD, Rack

# whatever else is on the server is none of our business
DATABASES = {"t": "fullrack_check_t", "fullrack": "fullrack_check"}


class RemoteRack(Rack):
    """Password in FULLRACK_PASSWORD."""

    def __init__(self, server, user):
        self.host, _, port = server.rpartition(":")
        self.remote_port, self.user = int(port), user
        super().__init__()

    def start(self):
        self.port = self.remote_port
        self.proxy = Proxy(lambda: self.port, self.host)
        self.address = "127.0.0.1:%d" % self.proxy.port
        with self.connect() as db:
            cur = db.cursor()
            for name in DATABASES.values():
                cur.execute("IF DB_ID(N'%s') IS NULL CREATE DATABASE %s" % (name, name))
            try:        # Babelfish does not: phases are over at once there
                cur.execute("WAITFOR DELAY '00:00:00'")
                self.knows_waitfor = True
            except pymssql.Error:
                self.knows_waitfor = False

    def close(self):
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()
        with self.connect() as db:
            cur = db.cursor()
            for name in DATABASES.values():
                cur.execute("DROP DATABASE " + name)

    def connect(self, database=""):
        return pymssql.connect(server=self.host, port=self.port, user=self.user, password=os.environ["FULLRACK_PASSWORD"],
                               database=DATABASES.get(database, database), tds_version="7.3", autocommit=True, login_timeout=20,
                               timeout=300)

    def env(self, **more):
        return dict({k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")},
                    FULLRACK_PASSWORD=os.environ["FULLRACK_PASSWORD"], FULLRACK_CONTROL_DATABASE=DATABASES["fullrack"], **more)

    def command(self, *args, database="t"):
        out = [os.path.join(BUILD, "fullrack"), args[0], "-S", self.address, "-U", self.user]
        return out + (["-d", DATABASES[database]] if database else []) + list(args[1:])
