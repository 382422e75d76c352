/*
 * The bulk load stream (MS-TDS 2.2.6.1): COLMETADATA, rows, and at its end a DONE that
 * db-lib 1.3.17 leaves out.  Rows go to the session one by one, most by the short way of
 * direct.h; memory is one row's.
 */
#include "server/net/server.h"
#include "server/tds/direct.h"
#include "server/tds/serve_priv.h"
#include "server/value/collation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BULK_COLMETADATA = 0x81, BULK_DONE = 0xFD, BULK_DONE_REST_BYTES = 12 };

struct bulk {
    struct tds_conn *c;
    struct wire_input in;
    const struct result_column *declared;
    size_t n;
    struct wire_type *wts;
    struct direct *direct; /* NULL: each row goes the long way */
    struct fr_buf *holds;  /* a column's bytes, kept from row to row */
    struct value *values;
    int64_t row;
    bool failed; /* e says why: the rest of the stream is dropped */
    struct sqlerr e;
};

/* What became of the stream. */
enum bulk_end {
    BULK_WHOLE,
    BULK_FAILED,
    BULK_REFUSED, /* by the session, which tells why */
    BULK_LOST     /* the message ended within a token, or holds something else */
};

static enum bulk_end fail(struct bulk *b)
{
    b->failed = true;
    return BULK_FAILED;
}

static bool allocate(struct bulk *b, size_t n)
{
    b->wts = calloc(n + 1, sizeof *b->wts);
    b->holds = calloc(n + 1, sizeof *b->holds);
    b->values = calloc(n + 1, sizeof *b->values);
    if (b->wts == NULL || b->holds == NULL || b->values == NULL)
        return false;
    b->n = n;
    for (size_t i = 0; i < n; i++)
        fr_buf_init(&b->holds[i], 2 * (size_t)WIRE_MAX_VALUE_BYTES);
    return true;
}

static void release(struct bulk *b)
{
    for (size_t i = 0; i < b->n && b->holds != NULL; i++)
        fr_buf_free(&b->holds[i]);
    direct_free(&b->direct);
    free(b->wts);
    free(b->holds);
    free(b->values);
    wire_input_free(&b->in);
}

/* One column's description; its name is not looked at: the declaration's order counts. */
static enum bulk_end read_column(struct bulk *b, size_t i)
{
    struct tds_reader *r = &b->c->r;
    enum wire_result rc;
    uint16_t units;
    uint8_t name;

    /* user type, flags */
    if (!tds_skip(r, 4 + 2))
        return BULK_LOST;
    rc = wire_read_type(r, &b->wts[i]);
    if (rc == WIRE_BROKEN)
        return BULK_LOST;
    if (rc != WIRE_OK) {
        sqlerr_set(&b->e, 4816, (int)i + 1);
        return fail(b);
    }
    /* db-lib names the connection's collation for every column and sends the column's own
       code page: where the stream says no more than the default, the table decides */
    if (b->wts[i].type.collation == COLLATION_DEFAULT)
        b->wts[i].type.collation = b->declared[i].type.collation;
    /* text, ntext and image: the table's name, as one text whatever the version */
    if (b->wts[i].length == WIRE_LONG &&
        (!tds_read_u16(r, &units) || !tds_skip(r, 2u * units)))
        return BULK_LOST;
    return tds_read_u8(r, &name) && tds_skip(r, 2u * name) ? BULK_WHOLE : BULK_LOST;
}

/* What is sent need not be what was declared: the session looks at values by these. */
static bool tell_types(const struct bulk *b)
{
    struct sqltype *types = calloc(b->n + 1, sizeof *types);

    for (size_t i = 0; types != NULL && i < b->n; i++)
        types[i] = b->wts[i].type;
    if (types != NULL)
        session_bulk_types(b->c->session, types, b->n);
    free(types);
    return types != NULL;
}

static void look_for_short_way(struct bulk *b)
{
    struct bulk_layout layout;

    if (session_bulk_layout(b->c->session, &layout))
        b->direct = direct_new(b->wts, &layout, b->n);
}

static enum bulk_end read_columns(struct bulk *b)
{
    struct tds_reader *r = &b->c->r;
    size_t declared = session_bulk_columns(b->c->session, &b->declared);
    uint8_t token;
    uint16_t n;

    if (!tds_read_u8(r, &token) || token != BULK_COLMETADATA || !tds_read_u16(r, &n))
        return BULK_LOST;
    if (n != declared || n > WIRE_MAX_COLUMNS) {
        sqlerr_set(&b->e, 4891);
        return fail(b);
    }
    if (!allocate(b, n)) {
        sqlerr_set(&b->e, 701, "default");
        return fail(b);
    }
    for (size_t i = 0; i < n; i++) {
        enum bulk_end end = read_column(b, i);

        if (end != BULK_WHOLE)
            return end;
    }
    if (!tell_types(b)) {
        sqlerr_set(&b->e, 701, "default");
        return fail(b);
    }
    look_for_short_way(b);
    return BULK_WHOLE;
}

static enum bulk_end bad_value(struct bulk *b, enum wire_result rc, size_t i)
{
    const char *name = b->declared[i].name;

    if (rc == WIRE_BROKEN)
        return BULK_LOST;
    if (rc == WIRE_BAD_LENGTH)
        sqlerr_set(&b->e, 4815, (int)i + 1);
    else if (rc == WIRE_TOO_LARGE)
        sqlerr_set(&b->e, 701, "default");
    else
        sqlerr_setf(&b->e, 4864, 16,
                    "Bulk load: row %lld, column %d (%s) holds no valid %s value.",
                    (long long)b->row, (int)i + 1, name, type_name(&b->wts[i].type));
    return fail(b);
}

static enum bulk_end read_row(struct bulk *b, bool compressed)
{
    unsigned char nulls[WIRE_MAX_COLUMNS / 8] = {0};

    b->row++;
    if (compressed && !tds_read(&b->c->r, nulls, (b->n + 7) / 8))
        return BULK_LOST;
    for (size_t i = 0; i < b->n; i++) {
        enum wire_result rc;

        if ((nulls[i / 8] >> (i % 8) & 1) != 0) {
            value_set_null(&b->values[i], b->wts[i].type);
            continue;
        }
        rc = wire_read_value(&b->in, &b->wts[i], &b->holds[i], &b->values[i]);
        if (rc != WIRE_OK)
            return bad_value(b, rc, i);
    }
    return session_bulk_row(b->c->session, b->values, b->n) ? BULK_WHOLE : BULK_REFUSED;
}

static bool begins_row(const unsigned char *p)
{
    return *p == BULK_ROW || *p == BULK_NBCROW;
}

/* The rows of the present packet, as far as the short way goes; false: refused. */
static bool read_direct_rows(struct bulk *b)
{
    size_t room = direct_room(b->direct), n;
    const unsigned char *begin = tds_window(&b->c->r, &n), *p = begin, *end,
                        *next = begin;

    if (begin == NULL)
        return true; /* nothing is left, or the long way says what is wrong */
    end = begin + n;
    while (next != NULL && p < end && begins_row(p)) {
        char *area, *area_end, *at;
        int64_t rows = 0;

        if (!session_bulk_area(b->c->session, room, &area, &area_end))
            return false;
        for (at = area; p < end && begins_row(p) && (size_t)(area_end - at) >= room;
             p = next, rows++) {
            next = direct_row(b->direct, p, end, &at);
            if (next == NULL)
                break;
        }
        session_bulk_placed(b->c->session, (size_t)(at - area), rows);
        b->row += rows;
    }
    tds_skip(&b->c->r, (uint64_t)(p - begin));
    return true;
}

static enum bulk_end read_rows(struct bulk *b)
{
    struct tds_reader *r = &b->c->r;
    uint8_t token;

    while (!tds_at_end(r)) {
        enum bulk_end end;

        if (b->direct != NULL && !read_direct_rows(b))
            return BULK_REFUSED;
        if (tds_at_end(r))
            break;
        if (!tds_read_u8(r, &token))
            return BULK_LOST;
        if (token == BULK_DONE)
            return tds_skip(r, BULK_DONE_REST_BYTES) ? BULK_WHOLE : BULK_LOST;
        if (token != BULK_ROW && token != BULK_NBCROW)
            return BULK_LOST;
        end = read_row(b, token == BULK_NBCROW);
        if (end != BULK_WHOLE)
            return end;
    }
    return BULK_WHOLE;
}

/* An empty message: what db-lib sends for a batch without rows. */
static enum bulk_end read_stream(struct bulk *b)
{
    enum bulk_end end;

    if (tds_at_end(&b->c->r))
        return BULK_WHOLE;
    end = read_columns(b);
    return end == BULK_WHOLE ? read_rows(b) : end;
}

bool request_bulk(struct tds_conn *c)
{
    struct bulk b = {.c = c};
    enum bulk_end end;
    bool whole, ok;

    if (!session_bulk_pending(c->session)) {
        sqlerr_setf(&b.e, 4002, 16,
                    "A bulk load stream came without INSERT BULK before it.");
        return tds_drain(&c->r) && respond_message(c, &b.e) && respond_end(c, DONE_BATCH);
    }
    wire_input_init(&b.in, &c->r, true);
    end = read_stream(&b);
    release(&b);
    /* attention in the middle of the stream is no broken stream */
    ok = tds_drain(&c->r);
    if (end == BULK_LOST && ok && !c->r.attention && !c->r.ignored)
        ok = false;
    whole = (end == BULK_WHOLE || end == BULK_REFUSED) && ok && !c->r.attention &&
            !c->r.ignored;
    if (b.failed && ok)
        ok = respond_message(c, &b.e);
    if (ok)
        client_watch(c->client);
    return session_bulk_end(c->session, whole) && ok && respond_end(c, DONE_BATCH);
}
