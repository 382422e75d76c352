"""claims.py - a session whose procedures are older than the queue's table is: a claim still names the row that it took."""

SERVER = "claims.py"    # none: no worker takes these tasks
ADD = ("DECLARE @id bigint, @added bit; EXEC dbo.sp_add_work 'load', N'%d.csv', %d, 0, NULL, N'" + SERVER + "', N't', N'dbo.t', N'{}', 0, 3, NULL, 1, "
       "@id OUTPUT, @added OUTPUT")
CLAIM = "EXEC dbo.sp_get_work 1, N'" + SERVER + "', N'w', N'h', 1, NULL, NULL, 60"
OF_OURS = " FROM dbo.work_queue WHERE target_server = N'" + SERVER + "'"


def rows(cur, text):
    cur.execute(text)
    found = []
    while True:
        if cur.description:
            found += cur.fetchall()
        if not cur.nextset():
            return found


def claims_of_changed_table(connect):
    """connect: a new session in a control database.  What is wrong, or [].

    An index that comes and goes makes the server forget its plans, as statistics or a vacuum do; before the last claims the
    session has also run another statement that changes the table.
    """
    wrong = []
    with connect() as db, connect() as other:
        claimer, look = db.cursor(), other.cursor()
        for n in range(6):
            look.execute(ADD % (n, n))
        for n in range(6):
            if n in (2, 4):
                look.execute("CREATE INDEX ix_claims ON dbo.work_queue (host)")
                look.execute("DROP INDEX ix_claims ON dbo.work_queue")
            told = [(r[0], r[2], str(r[3]).lower()) for r in rows(claimer, CLAIM)]
            taken = [(t, e, str(token).lower()) for t, e, token in
                     rows(look, "SELECT task_id, epoch, lease_token" + OF_OURS + " AND state = 'active'")]
            if told != taken or len(taken) != 1:
                wrong.append("claim %d: told %r, taken %r" % (n + 1, told, taken))
            (claimer if n == 3 else look).execute("UPDATE dbo.work_queue SET state = 'done' WHERE target_server = N'" + SERVER + "' AND state = 'active'")
        look.execute("DELETE" + OF_OURS)
    return wrong
