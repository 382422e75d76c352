/* interp_data.c - statements that the binder runs: transaction around them, counts, DONE.
 */
#include "server/tsql/interp.h"

#include <string.h>

/* TDS command numbers of DONE (MS-TDS 2.2.7.6), as the server's own statements carry
 * them. */
static const uint16_t command_numbers[ST_KIND_COUNT] = {
    [ST_SELECT] = 193,       [ST_INSERT] = 195,          [ST_DELETE] = 196,
    [ST_UPDATE] = 197,       [ST_CREATE_TABLE] = 198,    [ST_DROP] = 199,
    [ST_CREATE_INDEX] = 201, [ST_CREATE_VIEW] = 207,     [ST_TRUNCATE] = 224,
    [ST_ALTER_TABLE] = 216,  [ST_CREATE_DATABASE] = 203,
};

static const char *const command_names[ST_KIND_COUNT] = {
    [ST_SELECT] = "SELECT",
    [ST_INSERT] = "INSERT",
    [ST_UPDATE] = "UPDATE",
    [ST_DELETE] = "DELETE",
    [ST_TRUNCATE] = "TRUNCATE TABLE",
    [ST_CREATE_TABLE] = "CREATE TABLE",
    [ST_ALTER_TABLE] = "ALTER TABLE",
    [ST_CREATE_INDEX] = "CREATE INDEX",
    [ST_DROP] = "DROP",
};

static bool assigns_only(const struct stmt *st)
{
    const struct query_term *t = st->kind == ST_SELECT ? st->u.query->body : NULL;

    return t != NULL && t->kind == TERM_SPEC && t->spec->nitems > 0 &&
           t->spec->items[0].variable != NULL;
}

/* SET IMPLICIT_TRANSACTIONS ON: the first statement that touches data begins one. */
static bool begin_implicitly(struct frame *f, const struct stmt *st)
{
    const struct session *s = f->ctx.session;

    if (!s->options.implicit_transactions || s->txn.count > 0)
        return true;
    if (st->kind == ST_CREATE_DATABASE || st->kind == ST_ALTER_DATABASE)
        return true;
    if (st->kind == ST_SELECT && st->u.query->body->kind == TERM_SPEC &&
        st->u.query->body->spec->nfrom == 0)
        return true;
    return txn_begin(&f->ctx, NULL);
}

enum flow run_data(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    bool ok;

    if (s->options.noexec)
        return FLOW_NEXT;
    session_touch(s, command_names[st->kind]);
    ok = begin_implicitly(f, st) && query_run(&f->ctx, st);
    if (!txn_statement_end(&f->ctx, ok)) {
        s->rowcount = 0;
        return statement_error(f, st);
    }
    s->last_error = 0;
    s->rowcount = f->ctx.rows < 0 ? 0 : f->ctx.rows;
    send_done(f, command_numbers[st->kind], assigns_only(st) ? -1 : f->ctx.rows, false);
    return FLOW_NEXT;
}
