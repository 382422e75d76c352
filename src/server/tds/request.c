/* SQL batches, transaction manager requests, and what requests have in common. */
#include "server/net/server.h"
#include "server/tds/serve_priv.h"
#include "server/value/text.h"

#include <stdio.h>
#include <string.h>

bool request_may_run(struct tds_conn *c)
{
    if (c->r.ignored || tds_attention_buffered(&c->r))
        return false;
    if (tds_at_end(&c->r))
        client_watch(c->client);
    return true;
}

bool request_headers(struct tds_reader *r)
{
    uint32_t total, one;

    if (!tds_read_u32(r, &total) || total < 4)
        return false;
    total -= 4;
    while (total > 0) {
        if (total < 6 || !tds_read_u32(r, &one) || one < 6 || one > total ||
            !tds_skip(r, one - 4))
            return false;
        total -= one;
    }
    return true;
}

bool request_text(struct tds_reader *r, size_t units, struct fr_buf *out)
{
    unsigned char chunk[512];
    size_t left = 2 * units;
    struct fr_buf raw;
    bool ok = true;

    /* whole first: a surrogate pair may lie across two chunks */
    fr_buf_init(&raw, left + 1);
    while (left > 0 && ok) {
        size_t n = left < sizeof chunk ? left : sizeof chunk;

        ok = tds_read(r, chunk, n) && fr_buf_add(&raw, chunk, n);
        left -= n;
    }
    ok = ok && text_from_utf16le(fr_buf_text(&raw), raw.len, out);
    fr_buf_free(&raw);
    return ok;
}

void request_value_error(enum wire_result rc, int ordinal, const char *name,
                         const struct wire_type *wt, struct sqlerr *e)
{
    char token[4];

    snprintf(token, sizeof token, "%02X", wt->token);
    switch (rc) {
    case WIRE_BAD_TYPE:
        sqlerr_set(e, 8009, ordinal, name, token);
        break;
    case WIRE_BAD_LENGTH:
        sqlerr_set(e, 8016, ordinal, name, token);
        break;
    case WIRE_TOO_LARGE:
        sqlerr_set(e, 701, "default");
        break;
    default:
        sqlerr_set(e, 8023, ordinal, name, type_name(&wt->type));
        break;
    }
}

/* The rest of the message as UTF-8; false: broken or too long. */
static bool read_rest(struct tds_reader *r, struct fr_buf *raw, struct fr_buf *text)
{
    while (!tds_at_end(r)) {
        size_t n = r->left < r->filled - r->pos ? r->left : r->filled - r->pos;

        n = n == 0 ? 1 : n;
        if (n > TDS_MAX_REQUEST_BYTES - raw->len) {
            r->broken = r->too_long = true;
            return false;
        }
        if (!fr_buf_reserve(raw, n) || !tds_read(r, raw->data + raw->len, n))
            return false;
        raw->len += n;
    }
    return !r->broken && raw->len % 2 == 0 &&
           text_from_utf16le(fr_buf_text(raw), raw->len, text);
}

bool request_batch(struct tds_conn *c)
{
    struct fr_buf raw, sql;
    bool ok;

    fr_buf_init(&raw, TDS_MAX_REQUEST_BYTES);
    fr_buf_init(&sql, 2 * TDS_MAX_REQUEST_BYTES);
    ok = request_headers(&c->r) && read_rest(&c->r, &raw, &sql);
    fr_buf_free(&raw);
    if (ok && request_may_run(c))
        ok = session_run_batch(c->session, fr_buf_text(&sql), sql.len);
    fr_buf_free(&sql);
    return ok && respond_end(c, DONE_BATCH);
}

enum tran_request {
    TM_GET_DTC_ADDRESS = 0,
    TM_PROPAGATE_XACT = 1,
    TM_BEGIN_XACT = 5,
    TM_PROMOTE_XACT = 6,
    TM_COMMIT_XACT = 7,
    TM_ROLLBACK_XACT = 8,
    TM_SAVE_XACT = 9
};

/* A transaction's name: its length in bytes, then UTF-16. */
static bool read_name(struct tds_reader *r, struct fr_buf *name)
{
    uint8_t bytes;

    fr_buf_reset(name);
    return tds_read_u8(r, &bytes) && bytes % 2 == 0 && request_text(r, bytes / 2u, name);
}

/* Isolation levels as TDS numbers them; 0 leaves the session's. */
static bool set_isolation(struct tds_conn *c, uint8_t level)
{
    static const char *const levels[] = {
        NULL,           "READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ",
        "SERIALIZABLE", "SNAPSHOT"};
    char sql[80];
    bool ok;

    if (level == 0 || level >= sizeof levels / sizeof levels[0])
        return level == 0;
    snprintf(sql, sizeof sql, "SET TRANSACTION ISOLATION LEVEL %s", levels[level]);
    c->silent = true;
    ok = session_run_batch(c->session, sql, strlen(sql));
    c->silent = false;
    return ok;
}

static bool begin_transaction(struct tds_conn *c, struct fr_buf *name, bool again)
{
    uint8_t level;

    return tds_read_u8(&c->r, &level) && read_name(&c->r, name) &&
           set_isolation(c, level) &&
           (again ||
            session_transaction(c->session, TRAN_BEGIN, fr_buf_text(name), false));
}

static bool end_transaction(struct tds_conn *c, struct fr_buf *name,
                            enum session_tran what)
{
    uint8_t flags;
    struct fr_buf next;
    bool again, ok;

    if (!read_name(&c->r, name) || !tds_read_u8(&c->r, &flags))
        return false;
    again = (flags & 1) != 0;
    fr_buf_init(&next, LOGIN_NAME_BYTES);
    ok = !again || begin_transaction(c, &next, true);
    fr_buf_free(&next);
    return ok && session_transaction(c->session, what, fr_buf_text(name), again);
}

static bool run_transaction(struct tds_conn *c, uint16_t request, struct fr_buf *name)
{
    struct sqlerr e;

    switch (request) {
    case TM_BEGIN_XACT:
        return begin_transaction(c, name, false);
    case TM_COMMIT_XACT:
        return end_transaction(c, name, TRAN_COMMIT);
    case TM_ROLLBACK_XACT:
        return end_transaction(c, name, TRAN_ROLLBACK);
    case TM_SAVE_XACT:
        return read_name(&c->r, name) &&
               session_transaction(c->session, TRAN_SAVE, fr_buf_text(name), false);
    default:
        sqlerr_setf(
            &e, 40515, 16,
            "Distributed transactions (request %d) are not supported by fullrackd.",
            request);
        return respond_message(c, &e);
    }
}

bool request_transaction(struct tds_conn *c)
{
    uint16_t request;
    struct fr_buf name;
    bool ok;

    fr_buf_init(&name, 1024);
    ok = request_headers(&c->r) && tds_read_u16(&c->r, &request) &&
         run_transaction(c, request, &name);
    fr_buf_free(&name);
    return ok && tds_drain(&c->r) && respond_end(c, DONE_BATCH);
}
