/* Who keeps our loads waiting for a lock: asked of the server, and said once. */
#include "rack/monitor_priv.h"

#include "base/log.h"
#include "db/statements.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CHAIN = 64, BLIND_LOOKS = 3 };

/* -- asked, on the look's thread */

struct waiters {
    struct monitor_waiter *items; /* owned */
    size_t count, room;
};

static fr_status take_waiter(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct waiters *w = ctx;

    if (w->count == w->room) {
        size_t room = w->room == 0 ? 64 : 2 * w->room;
        struct monitor_waiter *grown = realloc(w->items, room * sizeof *grown);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the sessions that wait");
        w->items = grown;
        w->room = room;
    }
    w->items[w->count++] =
        (struct monitor_waiter){.spid = (int)fr_sql_row_i64(row, 0, 0),
                                .blocker = (int)fr_sql_row_i64(row, 1, 0),
                                .wait_ms = fr_sql_row_i64(row, 2, 0),
                                .for_lock = fr_sql_row_i64(row, 3, 0) != 0};
    return FR_OK;
}

static const struct monitor_waiter *find_waiter(const struct monitor_waiter *waiters,
                                                size_t count, int spid)
{
    for (size_t i = 0; i < count; i++)
        if (waiters[i].spid == spid)
            return &waiters[i];
    return NULL;
}

int monitor_chain_head(const struct monitor_waiter *waiters, size_t count, int spid)
{
    int head = spid;

    for (int i = 0; i < MAX_CHAIN; i++) {
        const struct monitor_waiter *next = find_waiter(waiters, count, head);

        if (next == NULL)
            break;
        head = next->blocker;
    }
    return head;
}

static void add_blocker(struct look *k, const struct look_own *own,
                        const struct monitor_waiter *w, int head)
{
    size_t i = 0;

    while (i < k->blocker_count && k->blockers[i].spid != head)
        i++;
    if (i == MONITOR_MAX_BLOCKERS)
        return;
    if (i == k->blocker_count)
        k->blockers[k->blocker_count++] = (struct look_blocker){.spid = head};
    k->blockers[i].waits++;
    if (w->wait_ms > k->blockers[i].wait_ms) {
        k->blockers[i].wait_ms = w->wait_ms;
        k->blockers[i].child = own->child;
        k->blockers[i].behind = w->blocker == head ? 0 : w->blocker;
    }
}

static void copy_text(char *out, size_t bytes, const char *text)
{
    snprintf(out, bytes, "%s", text == NULL ? "" : text);
}

static void take_who(struct look_blocker *b, const struct fr_sql_one *one)
{
    b->is_known = true;
    copy_text(b->login, sizeof b->login, one->values[0]);
    copy_text(b->program, sizeof b->program, one->values[1]);
    copy_text(b->host, sizeof b->host, one->values[2]);
    b->process_id = fr_sql_one_i64(one, 3, 0);
    b->open_transactions = fr_sql_one_i64(one, 4, 0);
    b->idle_s = fr_sql_one_i64(one, 5, 0);
    b->is_running = fr_sql_one_i64(one, 6, 0) != 0;
    copy_text(b->command, sizeof b->command, one->values[7]);
    (void)monitor_statement_gist(one->values[8] == NULL ? "" : one->values[8], b->gist);
}

/*
 * What a session that sleeps ran last stands in a view that takes a right of its own
 * since 2022: without it there is still the rest; and where that is refused, too, the
 * session's number.
 */
static fr_status ask_who(struct look_blocker *b, struct fr_sql *s, struct fr_err *err)
{
    const char *const statements[] = {fr_stmt_blocking_session,
                                      fr_stmt_blocking_session_short};
    struct fr_sql_param params[] = {fr_sql_in_int("@session_id", b->spid)};
    struct fr_sql_one *one;
    fr_status st = FR_EDB;

    if (b->spid <= 0)
        return FR_OK;
    one = calloc(1, sizeof *one);
    if (one == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a session");
    for (size_t i = 0; st != FR_OK && i < 2; i++) {
        memset(one, 0, sizeof *one);
        st = fr_sql_run_params(s, statements[i], params, 1, fr_sql_take_one, one, err);
        if (st != FR_OK && !look_is_refused(err))
            break;
    }
    if (st == FR_OK && one->found && one->columns == 9)
        take_who(b, one);
    free(one);
    return st != FR_OK && look_is_refused(err) ? FR_OK : st;
}

/* Who may not see other sessions is shown his own alone, without an error. */
static fr_status look_for_own(struct look *k, struct fr_sql *s, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_int("@session_id", k->own[0].spid)};
    struct fr_sql_one one = {0};
    fr_status st;

    if (k->c->monitor.sees_others)
        return FR_OK;
    st = fr_sql_run_params(s, fr_stmt_session_is_seen, params, 1, fr_sql_take_one, &one,
                           err);
    if (st == FR_OK) {
        k->c->monitor.sees_others = one.found;
        k->is_blind = !one.found;
    }
    return st;
}

fr_status blocking_look(struct look *k, struct fr_sql *s, struct fr_err *err)
{
    struct waiters w = {.items = NULL};
    fr_status st = look_for_own(k, s, err);

    if (st == FR_OK && !k->is_blind)
        st = fr_sql_run(s, fr_stmt_blocked_requests, take_waiter, &w, err);
    for (size_t i = 0; st == FR_OK && i < k->own_count; i++) {
        const struct monitor_waiter *own = find_waiter(w.items, w.count, k->own[i].spid);

        if (own != NULL && own->for_lock && own->wait_ms >= k->patience_ms)
            add_blocker(k, &k->own[i], own,
                        monitor_chain_head(w.items, w.count, own->spid));
    }
    for (size_t i = 0; st == FR_OK && i < k->blocker_count; i++)
        st = ask_who(&k->blockers[i], s, err);
    free(w.items);
    if (st != FR_OK && look_is_refused(err)) {
        k->blocks_off = true;
        k->why_blocks_off = *err;
        st = FR_OK;
    }
    return st;
}

/* -- said, on the loop */

/* Behind a comment or blanks that begin at p. */
static const char *skip_nothing(const char *p)
{
    for (;;) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");

            p = end == NULL ? p + strlen(p) : end + 2;
        } else {
            return p;
        }
    }
}

/* Behind a text in quotes, a quote in it twice; one that does not end takes the rest. */
static const char *skip_text(const char *p)
{
    for (p++; *p != '\0'; p++)
        if (*p == '\'' && *++p != '\'')
            break;
    return p;
}

const char *monitor_statement_gist(const char *sql, char out[MONITOR_GIST_BYTES])
{
    static const char left_out[] = "'...'", cut[] = "...";
    size_t used = 0, most = MONITOR_GIST_BYTES - sizeof cut;
    const char *p = skip_nothing(sql);

    while (*p != '\0' && used < most) {
        const char *behind = skip_nothing(p);

        if (behind != p) {
            p = behind;
            if (*p != '\0')
                out[used++] = ' ';
        } else if (*p == '\'') {
            p = skip_text(p);
            if (used + sizeof left_out > most)
                break;
            memcpy(out + used, left_out, sizeof left_out - 1);
            used += sizeof left_out - 1;
        } else {
            out[used++] = *p++;
        }
    }
    if (*p != '\0') {
        /* not in the middle of a character */
        while (used > 0 && ((unsigned char)*p & 0xC0) == 0x80) {
            p--;
            used--;
        }
        memcpy(out + used, cut, sizeof cut - 1);
        used += sizeof cut - 1;
    }
    out[used] = '\0';
    return out;
}

static const struct child *child_of_session(const struct coordinator *c, int spid)
{
    for (size_t i = 0; i < c->child_count; i++)
        if (child_is_alive(&c->children[i]) && c->children[i].spid == spid)
            return &c->children[i];
    return NULL;
}

/* A session's own number below 0 (sys.dm_exec_requests, blocking_session_id). */
static const char *no_session(int spid)
{
    return spid == -2   ? "an orphaned distributed transaction"
           : spid == -3 ? "a transaction that the server has still to recover"
                        : "the server itself (it does not say who)";
}

static void describe(const struct coordinator *c, const struct look_blocker *b, char *out,
                     size_t bytes)
{
    const struct child *own = child_of_session(c, b->spid);
    int n;

    if (b->spid <= 0) {
        snprintf(out, bytes, "%s", no_session(b->spid));
        return;
    }
    n = snprintf(out, bytes, "session %d", b->spid);
    if (own != NULL)
        n +=
            snprintf(out + n, bytes - (size_t)n, ", this run's own worker %s", own->name);
    else if (b->is_known)
        n +=
            snprintf(out + n, bytes - (size_t)n, " of %s, %s on %s (process %" PRId64 ")",
                     b->login, b->program[0] == '\0' ? "a program" : b->program,
                     b->host[0] == '\0' ? "?" : b->host, b->process_id);
    if (!b->is_known)
        return;
    if (b->is_running)
        n += snprintf(out + n, bytes - (size_t)n, ", which runs %s", b->command);
    else if (b->open_transactions > 0)
        n += snprintf(out + n, bytes - (size_t)n,
                      ", which sleeps with an open transaction, for %" PRId64 " s",
                      b->idle_s);
    else
        n += snprintf(out + n, bytes - (size_t)n, ", which sleeps");
    if (b->gist[0] != '\0' && (size_t)n < bytes)
        snprintf(out + n, bytes - (size_t)n, ": %s", b->gist);
}

static void say_cure(const struct coordinator *c, const struct look_blocker *b, char *out,
                     size_t bytes)
{
    if (child_of_session(c, b->spid) != NULL)
        snprintf(out, bytes,
                 "where loads of one table lock each other out, --max-per-table 1 or "
                 "--hint none lets them pass");
    else if (b->spid <= 0)
        snprintf(out, bytes,
                 "see sys.dm_tran_locks, and for a distributed transaction "
                 "KILL with its unit of work");
    else if (!b->is_running)
        snprintf(out, bytes,
                 "let its program commit or roll back; KILL %d ends it and rolls it back",
                 b->spid);
    else
        snprintf(out, bytes,
                 "wait until it is through; KILL %d ends it and rolls it back", b->spid);
}

static void tell(const struct coordinator *c, const struct look_blocker *b)
{
    const struct child *child = &c->children[b->child];
    char who[900], cure[200], others[60] = "", behind[60] = "";

    describe(c, b, who, sizeof who);
    say_cure(c, b, cure, sizeof cure);
    if (b->waits > 1)
        snprintf(others, sizeof others, " and %zu more", b->waits - 1);
    if (b->behind > 0)
        snprintf(behind, sizeof behind, " (through session %d)", b->behind);
    fr_view_interrupt(c->view);
    fr_log(FR_LOG_WARN,
           "%s%s: %s %s %s has waited %" PRId64 " s for a lock of %s%s. Cure: %s",
           child->name, others, child->source == NULL ? "a load" : child->source,
           child->is_loading ? "into" : "of",
           child->table[0] == '\0' ? "its table" : child->table, b->wait_ms / 1000, who,
           behind, cure);
}

static void say_off(struct look *k)
{
    struct monitor *m = &k->c->monitor;

    m->blind_looks = k->is_blind ? m->blind_looks + 1 : 0;
    if (k->blocks_off)
        fr_log(FR_LOG_WARN,
               "--block-warn: who waits for whom cannot be asked for here: %s",
               k->why_blocks_off.text);
    else if (m->blind_looks == BLIND_LOOKS)
        fr_log(FR_LOG_WARN, "--block-warn: the server does not show other sessions to "
                            "this login (VIEW SERVER STATE, or on Azure SQL Database "
                            "VIEW DATABASE STATE, is missing)");
    m->blocks_off = k->blocks_off || m->blind_looks >= BLIND_LOOKS;
}

static bool was_told(const struct monitor *m, int spid)
{
    for (size_t i = 0; i < m->told_count; i++)
        if (m->told_blockers[i] == spid)
            return true;
    return false;
}

void blocking_tell(struct look *k)
{
    struct monitor *m = &k->c->monitor;

    say_off(k);
    for (size_t i = 0; i < k->blocker_count; i++)
        if (!was_told(m, k->blockers[i].spid))
            tell(k->c, &k->blockers[i]);
    /* who blocks no more is told of again when he does once more */
    for (size_t i = 0; i < k->blocker_count; i++)
        m->told_blockers[i] = k->blockers[i].spid;
    m->told_count = k->blocker_count;
}
