#!/usr/bin/python3
"""load_pymssql PORT TABLE FILE - load a file delimited by bars with pymssql's bulk_copy, and say how many rows: what bench.py measures.

Server `bench` of freetds.conf (it takes the port from its caller alone), password in FULLRACK_PASSWORD.  Texts are handed over as they are: db-lib converts them, which takes it
less time than Python takes to make numbers of them.
"""
import itertools, os, sys
import pymssql

ROWS_A_CALL = 10000


def main():
    port, table, path = sys.argv[1:]
    db = pymssql.connect(server="bench", port=int(port), user="sa", password=os.environ["FULLRACK_PASSWORD"], database="b", tds_version="7.3", autocommit=True)
    done = 0
    with open(path, encoding="utf-8") as f:
        rows = (line[:-1].split("|") for line in f)
        while True:
            some = list(itertools.islice(rows, ROWS_A_CALL))
            if not some:
                break
            db.bulk_copy(table, some, batch_size=ROWS_A_CALL)
            done += len(some)
    print("%d rows copied" % done)


main()
