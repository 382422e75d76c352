"""sessions.py - what two sessions of a server may not do to one another, by the project's own SQL; also for servers that are not ours."""
import os, threading, time

STATEMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sql", "statements")
SERVER = "sessions.py"    # none: no worker takes these tasks
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


def statement(name, **values):
    with open(os.path.join(STATEMENTS, name + ".sql")) as f:
        return "".join("DECLARE @%s %s = '%s';\n" % (n, "uniqueidentifier" if n == "load_id" else "bigint", v) for n, v in values.items()) + f.read()


def take_over_of_held_head(connect):
    """connect: a new session in a database with a ledger.  What is wrong, or [].

    Whoever holds a head (to cut its reject file) keeps the next owner waiting.
    """
    wrong, taken = [], []
    load_id = "5e551045-0000-4000-8000-000000000001"
    head = dict(load_id=load_id, range_start=0)

    def take_over():
        with connect() as db:
            taken.extend(rows(db.cursor(), statement("ledger_take_over", epoch=2, **head)))

    with connect() as db:
        holder = db.cursor()
        holder.execute("DELETE FROM dbo.fullrack_ledger WHERE load_id = '%s'" % load_id)
        holder.execute("INSERT INTO dbo.fullrack_ledger (load_id, range_start, epoch, state, next_offset, next_row, rows_loaded, rows_rejected, rows_skipped, "
                       "reject_bytes, trimmed_values, batches, plan_hash, source, source_bytes, source_mtime_ns, source_hash, target_object_id, "
                       "target_create_date) VALUES ('%s', 0, 1, 'open', 0, 1, 0, 0, 0, 0, 0, 0, 0, N'x', 0, 0, 0, 0, '2000-01-01')" % load_id)
        holder.execute("BEGIN TRANSACTION")
        if rows(holder, statement("ledger_hold", epoch=1, next_offset=0, **head)) != [(1,)]:
            wrong.append("the owner cannot hold its head")
        other = threading.Thread(target=take_over)
        other.start()
        time.sleep(1)
        if taken:
            wrong.append("a head was taken over while it was held")
        holder.execute("ROLLBACK")
        other.join(30)
        if len(taken) != 1 or taken[0][0] != 2:
            wrong.append("the next owner found %r" % taken)
        holder.execute("BEGIN TRANSACTION")
        if rows(holder, statement("ledger_hold", epoch=1, next_offset=0, **head)):
            wrong.append("an earlier owner holds the head")
        holder.execute("ROLLBACK")
        holder.execute("DELETE FROM dbo.fullrack_ledger WHERE load_id = '%s'" % load_id)
    return wrong


ADD_ONCE = ("DECLARE @id bigint, @added bit; BEGIN TRANSACTION; EXEC dbo.sp_add_work 'load', N'once%d.csv', 77, 0, NULL, N'" + SERVER + "', N't', N'dbo.t', N'{}', "
            "0, 3, NULL, 0, @id OUTPUT, @added OUTPUT; COMMIT TRANSACTION; SELECT CAST(@added AS int)")
ADD_JOB = ("DECLARE @job bigint, @g bigint, @id bigint, @added bit; BEGIN TRANSACTION; EXEC dbo.sp_add_job N'job %d', 77, 1, N'" + SERVER + "', @job OUTPUT; "
           "IF @job IS NOT NULL BEGIN EXEC dbo.sp_add_group @job, N'dbo.t', 'load', 1, @g OUTPUT; "
           "EXEC dbo.sp_add_work 'load', N'job%d.csv', 77, 0, NULL, N'" + SERVER + "', N't', N'dbo.t', N'{}', 0, 3, NULL, 0, @id OUTPUT, @added OUTPUT, @g; END; "
           "COMMIT TRANSACTION; SELECT CASE WHEN @job IS NULL THEN 0 ELSE 1 END")


def adds_at_once(connect, sessions=4, rounds=5):
    """connect: a new session in a control database.  What is wrong, or [].

    Of those who add the same source, or the same job, in the same moment one does.
    """
    wrong, said = [], []

    def add(text, barrier):
        with connect() as db:
            cur = db.cursor()
            barrier.wait()
            try:
                said.append(rows(cur, text)[-1][0])
            except Exception as e:      # what one session is refused is the round's result
                said.append(str(e)[:200])

    for what, text in [("source", ADD_ONCE % n) for n in range(rounds)] + [("job", ADD_JOB % (n, n)) for n in range(rounds)]:
        said.clear()
        barrier = threading.Barrier(sessions)
        threads = [threading.Thread(target=add, args=(text, barrier)) for _ in range(sessions)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if sorted(map(str, said)) != ["0"] * (sessions - 1) + ["1"]:
            wrong.append("a %s added in %d sessions at once: %r" % (what, sessions, said))
    with connect() as db:
        cur = db.cursor()
        cur.execute("DELETE FROM dbo.work_pending WHERE task_id IN (SELECT task_id" + OF_OURS + ")")
        cur.execute("DELETE" + OF_OURS)
        cur.execute("DELETE FROM dbo.work_group WHERE job_id IN (SELECT job_id FROM dbo.job WHERE target_server = N'" + SERVER + "')")
        cur.execute("DELETE FROM dbo.job WHERE target_server = N'" + SERVER + "'")
    return wrong
