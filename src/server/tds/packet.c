#include "server/tds/packet.h"

#include <stdlib.h>
#include <string.h>

bool tds_reader_init(struct tds_reader *r, ssize_t (*fill)(void *, void *, size_t),
                     void *ctx)
{
    memset(r, 0, sizeof *r);
    r->fill = fill;
    r->ctx = ctx;
    r->eom = true;
    r->buf = malloc(TDS_READ_BYTES);
    return r->buf != NULL;
}

void tds_reader_free(struct tds_reader *r)
{
    free(r->buf);
    memset(r, 0, sizeof *r);
}

/* At least n bytes (n <= TDS_MAX_PACKET) in the buffer. */
static bool fill_to(struct tds_reader *r, size_t n)
{
    while (r->filled - r->pos < n) {
        ssize_t got;

        if (r->pos > 0) {
            memmove(r->buf, r->buf + r->pos, r->filled - r->pos);
            r->filled -= r->pos;
            r->pos = 0;
        }
        got = r->fill(r->ctx, r->buf + r->filled, TDS_READ_BYTES - r->filled);
        if (got <= 0) {
            r->closed = true;
            return false;
        }
        r->filled += (size_t)got;
        r->total += (uint64_t)got;
    }
    return true;
}

static void pace(struct tds_reader *r, int what)
{
    if (r->pace == NULL)
        return;
    r->pace->again = true;
    if (r->pace->what != TDS_WAIT_LOGIN) /* its time is counted as a whole */
        r->pace->what = what;
}

/* Header of the next packet; its fields stay where they are until they are checked. */
static bool read_header(struct tds_reader *r, uint8_t *type, uint8_t *status)
{
    const unsigned char *h;
    size_t length;

    if (!fill_to(r, TDS_HEADER_BYTES)) {
        /* closing between messages is the ordinary end */
        r->broken = r->filled > r->pos || !r->eom;
        return false;
    }
    h = r->buf + r->pos;
    length = (size_t)h[2] << 8 | h[3];
    *type = h[0];
    *status = h[1];
    if (length < TDS_HEADER_BYTES || length > TDS_MAX_PACKET) {
        r->broken = true;
        return false;
    }
    r->pos += TDS_HEADER_BYTES;
    r->left = length - TDS_HEADER_BYTES;
    r->packets++;
    pace(r, TDS_WAIT_PACKET);
    return true;
}

/* Towards the message's limit. */
static bool count(struct tds_reader *r, size_t n)
{
    r->used += n;
    if (r->limit == 0 || r->used <= r->limit)
        return true;
    r->broken = r->too_long = true;
    return false;
}

/* The message's next packet. */
static bool next_packet(struct tds_reader *r)
{
    uint8_t type, status;

    do {
        if (r->eom || !read_header(r, &type, &status))
            return false;
        if (type == TDS_ATTENTION && r->left == 0) {
            r->attention = true;
            r->eom = true;
            return false;
        }
        if (type != r->type) {
            r->broken = true;
            return false;
        }
        r->eom = (status & TDS_EOM) != 0;
        r->ignored = r->eom && (status & TDS_IGNORE) != 0;
        /* so that empty packets do not go on for ever */
        if (!count(r, TDS_HEADER_BYTES))
            return false;
    } while (r->left == 0);
    return true;
}

bool tds_next_message(struct tds_reader *r)
{
    if (r->broken || r->closed || !tds_drain(r))
        return false;
    if (r->attention) {
        /* its packet was read in the middle of a message */
        r->attention = false;
        r->type = TDS_ATTENTION;
        r->status = TDS_EOM;
        return true;
    }
    pace(r, TDS_WAIT_REQUEST);
    if (!read_header(r, &r->type, &r->status))
        return false;
    r->used = 0;
    r->eom = (r->status & TDS_EOM) != 0;
    r->ignored = r->eom && (r->status & TDS_IGNORE) != 0;
    return true;
}

bool tds_drain(struct tds_reader *r)
{
    uint64_t limit = r->limit;
    bool ok;

    r->limit = 0; /* what is dropped takes no memory */
    do {
        ok = tds_skip(r, r->left);
    } while (ok && next_packet(r));
    r->limit = limit;
    return !r->broken && !r->closed;
}

/* Bytes of the message that can be used now, at most want; 0: none left. */
static size_t available(struct tds_reader *r, size_t want)
{
    size_t n;

    if (r->broken || r->closed)
        return 0;
    if (r->left == 0 && !next_packet(r))
        return 0;
    if (r->filled == r->pos && !fill_to(r, 1)) {
        r->broken = true; /* the connection ended in the middle of a packet */
        return 0;
    }
    n = r->filled - r->pos;
    n = n < r->left ? n : r->left;
    return n < want ? n : want;
}

static bool use(struct tds_reader *r, size_t n)
{
    r->pos += n;
    r->left -= n;
    return count(r, n);
}

bool tds_at_end(struct tds_reader *r)
{
    return r->left == 0 && !r->broken && !r->closed && (r->eom || !next_packet(r)) &&
           !r->broken;
}

bool tds_read(struct tds_reader *r, void *out, size_t n)
{
    unsigned char *to = out;

    while (n > 0) {
        size_t k = available(r, n);

        if (k == 0) {
            r->broken = r->broken || !(r->attention || r->ignored);
            return false;
        }
        memcpy(to, r->buf + r->pos, k);
        to += k;
        n -= k;
        if (!use(r, k))
            return false;
    }
    return true;
}

bool tds_skip(struct tds_reader *r, uint64_t n)
{
    while (n > 0) {
        size_t k = available(r, n > TDS_READ_BYTES ? TDS_READ_BYTES : (size_t)n);

        if (k == 0) {
            r->broken = r->broken || !(r->attention || r->ignored);
            return false;
        }
        n -= k;
        if (!use(r, k))
            return false;
    }
    return true;
}

const unsigned char *tds_take(struct tds_reader *r, size_t n)
{
    const unsigned char *p;

    if (n == 0 || available(r, 1) == 0 || r->left < n || r->filled - r->pos < n)
        return NULL;
    p = r->buf + r->pos;
    return use(r, n) ? p : NULL;
}

const unsigned char *tds_window(struct tds_reader *r, size_t *n)
{
    if (available(r, 1) == 0)
        return NULL;
    if (!fill_to(r, r->left)) {
        r->broken = true;
        return NULL;
    }
    *n = r->left;
    return r->buf + r->pos;
}

bool tds_peek_u8(struct tds_reader *r, uint8_t *out)
{
    if (available(r, 1) == 0)
        return false;
    *out = r->buf[r->pos];
    return true;
}

bool tds_read_u8(struct tds_reader *r, uint8_t *out)
{
    return tds_read(r, out, 1);
}

bool tds_read_u16(struct tds_reader *r, uint16_t *out)
{
    unsigned char b[2];

    if (!tds_read(r, b, sizeof b))
        return false;
    *out = (uint16_t)(b[0] | b[1] << 8);
    return true;
}

bool tds_read_u32(struct tds_reader *r, uint32_t *out)
{
    unsigned char b[4];

    if (!tds_read(r, b, sizeof b))
        return false;
    *out = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
           (uint32_t)b[3] << 24;
    return true;
}

bool tds_read_u64(struct tds_reader *r, uint64_t *out)
{
    uint32_t low, high;

    if (!tds_read_u32(r, &low) || !tds_read_u32(r, &high))
        return false;
    *out = (uint64_t)high << 32 | low;
    return true;
}

bool tds_attention_buffered(const struct tds_reader *r)
{
    return r->attention ||
           (r->eom && r->left == 0 && r->filled - r->pos >= TDS_HEADER_BYTES &&
            r->buf[r->pos] == TDS_ATTENTION);
}

bool tds_writer_init(struct tds_writer *w, bool (*send)(void *, const void *, size_t),
                     void *ctx)
{
    memset(w, 0, sizeof *w);
    w->send = send;
    w->ctx = ctx;
    w->packet_size = TDS_DEFAULT_PACKET;
    w->buf = malloc(TDS_SEND_BYTES + TDS_MAX_PACKET);
    return w->buf != NULL;
}

void tds_writer_free(struct tds_writer *w)
{
    free(w->buf);
    memset(w, 0, sizeof *w);
}

void tds_writer_set_packet_size(struct tds_writer *w, size_t bytes)
{
    if (bytes < TDS_MIN_PACKET)
        bytes = TDS_MIN_PACKET;
    w->packet_size = bytes > TDS_MAX_PACKET ? TDS_MAX_PACKET : bytes;
}

static void begin_packet(struct tds_writer *w)
{
    w->packet_at = w->len;
    w->len += TDS_HEADER_BYTES;
    w->open = true;
}

/* Write the header of the packet that ends here. */
static void seal_packet(struct tds_writer *w, uint8_t status)
{
    unsigned char *h = w->buf + w->packet_at;
    size_t n = w->len - w->packet_at;

    h[0] = TDS_RESPONSE;
    h[1] = status;
    h[2] = (unsigned char)(n >> 8);
    h[3] = (unsigned char)(n & 0xFF);
    h[4] = (unsigned char)(w->spid >> 8);
    h[5] = (unsigned char)(w->spid & 0xFF);
    h[6] = ++w->id;
    h[7] = 0;
    w->packets++;
}

static bool send_all(struct tds_writer *w)
{
    if (!w->failed && w->len > 0 && !w->send(w->ctx, w->buf, w->len))
        w->failed = true;
    w->total += w->len;
    w->len = 0;
    return !w->failed;
}

bool tds_put(struct tds_writer *w, const void *p, size_t n)
{
    const unsigned char *from = p;

    if (w->failed)
        return false;
    if (!w->open)
        begin_packet(w);
    while (n > 0) {
        size_t room = w->packet_size - (w->len - w->packet_at), k = n < room ? n : room;

        memcpy(w->buf + w->len, from, k);
        w->len += k;
        from += k;
        n -= k;
        if (k == room && n > 0) {
            /* full, and more follows: the last packet is sealed by tds_end_message() */
            seal_packet(w, 0);
            if (w->len >= TDS_SEND_BYTES - w->packet_size && !send_all(w))
                return false;
            begin_packet(w);
        }
    }
    return true;
}

bool tds_put_uint(struct tds_writer *w, uint64_t v, int n)
{
    unsigned char b[8];

    for (int i = 0; i < n; i++, v >>= 8)
        b[i] = (unsigned char)(v & 0xFF);
    return tds_put(w, b, (size_t)n);
}

bool tds_put_u8(struct tds_writer *w, uint8_t v)
{
    return tds_put(w, &v, 1);
}

bool tds_put_u16(struct tds_writer *w, uint16_t v)
{
    return tds_put_uint(w, v, 2);
}

bool tds_put_u32(struct tds_writer *w, uint32_t v)
{
    return tds_put_uint(w, v, 4);
}

bool tds_put_u64(struct tds_writer *w, uint64_t v)
{
    return tds_put_uint(w, v, 8);
}

bool tds_end_message(struct tds_writer *w)
{
    if (w->failed)
        return false;
    if (!w->open)
        begin_packet(w);
    seal_packet(w, TDS_EOM);
    w->open = false;
    w->id = 0;
    return send_all(w);
}
