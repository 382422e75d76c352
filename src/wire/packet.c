#include "wire/packet.h"

#include "base/clock.h"
#include "wire/wire_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packets of one gathered write: two pieces each, well under IOV_MAX. */
enum { GATHERED_PACKETS = 64, STATUS_LAST = 0x01 };

struct wire *wire_of(struct fr_sql *s)
{
    return (struct wire *)s;
}

struct fr_sql *wire_sql(struct wire *w)
{
    return &w->sql;
}

uint64_t wire_bytes_sent(const struct wire *w)
{
    return w->bytes_sent;
}

uint64_t wire_waited_ns(const struct wire *w)
{
    return w->waited_ns;
}

const unsigned char *wire_collation(const struct wire *w)
{
    return w->collation;
}

/* Nothing more is taken: the next wire_room() comes here and fails. */
static void stop_sending(struct wire *w, enum wire_fault fault)
{
    if (w->fault == WIRE_FAULT_NONE)
        w->fault = fault;
    w->out.at = w->out.end = w->out_buffer;
}

void wire_lose(struct wire *w)
{
    w->sql.lost = true;
    w->is_sending = false;
    stop_sending(w, WIRE_FAULT_CLOSED);
    if (w->link != NULL)
        w->link->ops->close(w->link);
    w->link = NULL;
}

struct wire_out *wire_begin(struct wire *w, enum wire_packet_type type)
{
    w->out_type = (uint8_t)type;
    w->packet_number = 1;
    w->is_sending = true;
    /* what is left of an answer that nobody read to its end */
    w->in_at = w->in_end = 0;
    wire_next_message(w);
    w->out.at = w->out_buffer;
    w->out.end = w->out_buffer + WIRE_OUT_BYTES;
    if (w->link == NULL || w->fault != WIRE_FAULT_NONE)
        stop_sending(w, WIRE_FAULT_CLOSED);
    return &w->out;
}

/*
 * What the server has said while we send.  Informational tokens are let be; an error, the
 * end of a reply, or anything else means that it listens no more.
 */
static bool server_goes_on(struct wire *w)
{
    size_t at = w->in_at;

    while (w->in_end - at >= 3) {
        uint8_t token = w->in[at];
        size_t n = (size_t)(w->in[at + 1] | w->in[at + 2] << 8);

        if (token != 0xab && token != 0xe3) /* INFO, ENVCHANGE */
            return false;
        if (w->in_end - at - 3 < n)
            break;
        at += 3 + n;
    }
    return w->in_end - w->in_at < WIRE_IN_BYTES / 2;
}

static bool listen_to_server(struct wire *w)
{
    wire_take_in(w);
    if (w->in_end > w->in_at && !server_goes_on(w))
        w->fault = WIRE_FAULT_SPOKE; /* said, before it hung up perhaps */
    if (w->fault == WIRE_FAULT_NONE)
        return true;
    stop_sending(w, w->fault);
    return false;
}

/* The longest that may be waited for the link now; -1 = for ever. */
static int patience_ms(const struct wire *w)
{
    uint64_t now_ms, left_ms;

    if (w->deadline_ms == 0)
        return w->silence_ms == 0 ? -1 : (int)w->silence_ms;
    now_ms = fr_clock_ms();
    left_ms = w->deadline_ms > now_ms ? w->deadline_ms - now_ms : 0;
    return w->silence_ms != 0 && w->silence_ms < left_ms ? (int)w->silence_ms
                                                         : (int)left_ms;
}

/* The link takes no more now: wait for it, with an ear for the server. */
static bool wait_for_room(struct wire *w)
{
    int can = w->link->ops->wait(w->link, WIRE_CAN_READ | WIRE_CAN_WRITE, patience_ms(w));

    if (can == 0) {
        stop_sending(w, WIRE_FAULT_SILENT);
        return false;
    }
    return (can & WIRE_CAN_READ) == 0 || listen_to_server(w);
}

static bool write_failed(struct wire *w)
{
    int why = errno;

    if (why == EAGAIN) {
        uint64_t since_ns = fr_clock_ns();
        bool has_room = wait_for_room(w);

        w->waited_ns += fr_clock_ns() - since_ns;
        return !has_room;
    }
    /* a server that refused and hung up has most often said why */
    if (listen_to_server(w)) {
        w->os_error = why;
        stop_sending(w, WIRE_FAULT_BROKEN);
    }
    return true;
}

static bool write_all(struct wire *w, struct iovec *iov, int count)
{
    while (count > 0) {
        ssize_t n = w->link->ops->write(w->link, iov, count);

        if (n < 0) {
            if (write_failed(w))
                return false;
            continue;
        }
        while (count > 0 && (size_t)n >= iov->iov_len) {
            n -= (ssize_t)iov->iov_len;
            iov++;
            count--;
        }
        if (count > 0) {
            iov->iov_base = (char *)iov->iov_base + n;
            iov->iov_len -= (size_t)n;
        }
    }
    return true;
}

static void make_header(struct wire *w, unsigned char *h, size_t payload, bool last)
{
    size_t n = payload + WIRE_HEADER_BYTES;

    h[0] = w->out_type;
    h[1] = last ? STATUS_LAST : 0;
    h[2] = (unsigned char)(n >> 8);
    h[3] = (unsigned char)n;
    h[4] = h[5] = 0; /* SPID: the server's to fill */
    h[6] = w->packet_number++;
    h[7] = 0;
}

/* Send n bytes from the front of the buffer as packets; is_end: the last one is marked.
 */
static bool send_packets(struct wire *w, size_t n, bool is_end)
{
    unsigned char headers[GATHERED_PACKETS][WIRE_HEADER_BYTES];
    struct iovec iov[2 * GATHERED_PACKETS];
    size_t payload = w->packet_bytes - WIRE_HEADER_BYTES, at = 0;

    if (!listen_to_server(w))
        return false;
    do {
        int packets = 0;

        do {
            size_t piece = n - at < payload ? n - at : payload;

            make_header(w, headers[packets], piece, is_end && at + piece == n);
            iov[2 * packets] = (struct iovec){headers[packets], WIRE_HEADER_BYTES};
            iov[2 * packets + 1] = (struct iovec){w->out_buffer + at, piece};
            packets++;
            at += piece;
        } while (at < n && packets < GATHERED_PACKETS);
        if (!write_all(w, iov, 2 * packets))
            return false;
    } while (at < n);
    w->bytes_sent += n;
    return true;
}

unsigned char *wire_make_room(struct wire_out *o, size_t n)
{
    struct wire *w = o->wire;
    size_t payload = w->packet_bytes - WIRE_HEADER_BYTES, whole;
    size_t used = (size_t)(o->at - w->out_buffer);

    if (w->fault != WIRE_FAULT_NONE || !w->is_sending || n > WIRE_ROOM_BYTES)
        return NULL;
    /* one byte at least is kept back, for the packet that will be marked as the last */
    whole = used == 0 ? 0 : (used - 1) / payload * payload;
    if (whole > 0 && !send_packets(w, whole, false))
        return NULL;
    memmove(w->out_buffer, w->out_buffer + whole, used - whole);
    o->at = w->out_buffer + (used - whole);
    return o->at;
}

bool wire_put(struct wire_out *o, const void *p, size_t n)
{
    const unsigned char *from = p;

    while (n > 0) {
        size_t piece = n < WIRE_ROOM_BYTES ? n : WIRE_ROOM_BYTES;
        unsigned char *to = wire_room(o, piece);

        if (to == NULL)
            return false;
        memcpy(to, from, piece);
        o->at += piece;
        from += piece;
        n -= piece;
    }
    return true;
}

fr_status wire_end(struct wire_out *o, struct fr_err *err)
{
    struct wire *w = o->wire;
    size_t used = (size_t)(o->at - w->out_buffer);
    bool done = w->fault == WIRE_FAULT_NONE && send_packets(w, used, true);

    while (done && w->link->ops->write(w->link, NULL, 0) < 0)
        if (write_failed(w))
            done = false;
    if (!done)
        return wire_sending_error(o, "sending", err);
    w->is_sending = false;
    o->at = o->end = w->out_buffer;
    return FR_OK;
}

bool wire_send_attention(struct wire *w)
{
    unsigned char header[WIRE_HEADER_BYTES] = {
        WIRE_PACKET_ATTENTION, STATUS_LAST, 0, WIRE_HEADER_BYTES, 0, 0, 1, 0};
    struct iovec iov = {header, sizeof header};
    uint64_t until_ms = fr_clock_ms() + WIRE_ATTENTION_MS;

    while (iov.iov_len > 0 || w->link->ops->write(w->link, NULL, 0) < 0) {
        ssize_t n = iov.iov_len == 0 ? -1 : w->link->ops->write(w->link, &iov, 1);
        uint64_t now_ms = fr_clock_ms();

        if (n >= 0) {
            iov.iov_base = (char *)iov.iov_base + n;
            iov.iov_len -= (size_t)n;
        } else if (errno != EAGAIN || now_ms >= until_ms ||
                   w->link->ops->wait(w->link, WIRE_CAN_WRITE,
                                      (int)(until_ms - now_ms)) == 0) {
            return false;
        }
    }
    return true;
}

/* Payload out of the bytes as they came, up to the end of the message. */
static bool unpack(struct wire *w)
{
    if (w->in_at == w->in_end)
        w->in_at = w->in_end = 0;
    while (!w->in_message_end) {
        size_t there = w->raw_end - w->raw_at, room = WIRE_IN_BYTES - w->in_end, n;

        if (w->packet_left == 0) {
            const unsigned char *h = w->raw + w->raw_at;
            size_t whole;

            if (there < WIRE_HEADER_BYTES)
                return true;
            whole = (size_t)(h[2] << 8 | h[3]);
            if (h[0] != WIRE_PACKET_REPLY || whole < WIRE_HEADER_BYTES)
                return wire_protocol_fault(w, "a packet of type %u and %zu bytes", h[0],
                                           whole);
            w->packet_is_last = (h[1] & STATUS_LAST) != 0;
            w->packet_left = whole - WIRE_HEADER_BYTES;
            w->raw_at += WIRE_HEADER_BYTES;
            w->in_message_end = w->packet_is_last && w->packet_left == 0;
            continue;
        }
        n = w->packet_left < there ? w->packet_left : there;
        if (n > room)
            n = room;
        if (n == 0)
            return true;
        memcpy(w->in + w->in_end, w->raw + w->raw_at, n);
        w->raw_at += n;
        w->in_end += n;
        w->packet_left -= n;
        w->in_message_end = w->packet_is_last && w->packet_left == 0;
    }
    return true;
}

void wire_next_message(struct wire *w)
{
    w->in_message_end = false;
    w->packet_left = 0;
    w->packet_is_last = false;
}

bool wire_is_drained(struct wire *w)
{
    size_t left = w->raw_end - w->raw_at + w->in_end - w->in_at;

    if (left == 0 && w->packet_left == 0)
        return true;
    return wire_protocol_fault(w, "%zu bytes where it was our turn", left);
}

/* One read without waiting.  1: something came, 0: nothing there, -1: broken. */
static int read_some(struct wire *w)
{
    ssize_t n;

    if (w->raw_at > 0) {
        memmove(w->raw, w->raw + w->raw_at, w->raw_end - w->raw_at);
        w->raw_end -= w->raw_at;
        w->raw_at = 0;
    }
    if (w->raw_end == WIRE_RAW_BYTES)
        return 0;
    n = w->link->ops->read(w->link, w->raw + w->raw_end, WIRE_RAW_BYTES - w->raw_end);
    if (n > 0) {
        w->raw_end += (size_t)n;
        return 1;
    }
    if (n < 0 && errno == EAGAIN)
        return 0;
    w->os_error = n < 0 ? errno : 0;
    w->fault = n == 0 ? WIRE_FAULT_CLOSED : WIRE_FAULT_BROKEN;
    return -1;
}

bool wire_take_in(struct wire *w)
{
    int got = read_some(w);

    return got >= 0 && unpack(w);
}

size_t wire_buffered(const struct wire *w)
{
    return w->in_end - w->in_at;
}

void wire_await_attention(struct wire *w)
{
    w->attention_sent = true;
    w->deadline_ms = fr_clock_ms() + WIRE_ATTENTION_MS;
}

/* Wait for the server.  False: fault. */
static bool wait_for_server(struct wire *w)
{
    int got = 0;

    while (got == 0) {
        /* a deadline holds for a server that never stops talking, too */
        int wait_ms = patience_ms(w);

        if (wait_ms == 0 || w->link->ops->wait(w->link, WIRE_CAN_READ, wait_ms) == 0) {
            if (w->asks_to_stop && !w->attention_sent && wire_send_attention(w)) {
                wire_await_attention(w);
                continue;
            }
            w->fault = WIRE_FAULT_SILENT;
            return false;
        }
        got = read_some(w);
    }
    return got > 0;
}

const unsigned char *wire_need(struct wire *w, size_t n)
{
    if (n > WIRE_IN_BYTES) {
        wire_protocol_fault(w, "a value of %zu bytes", n);
        return NULL;
    }
    while (w->in_end - w->in_at < n) {
        if (WIRE_IN_BYTES - w->in_at < n) {
            memmove(w->in, w->in + w->in_at, w->in_end - w->in_at);
            w->in_end -= w->in_at;
            w->in_at = 0;
        }
        if (!unpack(w))
            return NULL;
        if (w->in_end - w->in_at >= n)
            break;
        if (w->in_message_end || w->fault != WIRE_FAULT_NONE || w->link == NULL ||
            !wait_for_server(w))
            return NULL;
    }
    return w->in + w->in_at;
}

const unsigned char *wire_take(struct wire *w, size_t n)
{
    const unsigned char *p = wire_need(w, n);

    if (p != NULL)
        w->in_at += n;
    return p;
}

bool wire_skip(struct wire *w, uint64_t n)
{
    while (n > 0) {
        size_t there = w->in_end - w->in_at;

        if (there == 0) {
            if (wire_need(w, 1) == NULL)
                return false;
            continue;
        }
        if (there > n)
            there = (size_t)n;
        w->in_at += there;
        n -= there;
    }
    return true;
}

bool wire_protocol_fault(struct wire *w, const char *fmt, ...)
{
    va_list ap;

    w->fault = WIRE_FAULT_PROTOCOL;
    va_start(ap, fmt);
    vsnprintf(w->fault_text, sizeof w->fault_text, fmt, ap);
    va_end(ap);
    return false;
}

/* Whose patience it was that ended: the login's, or that of a statement, or the one with
 * an attention, which may be shorter. */
static fr_status silent_error(const struct wire *w, const char *what, struct fr_err *err)
{
    uint32_t silent_ms = w->silence_ms;

    if (w->attention_sent && (silent_ms == 0 || silent_ms > WIRE_ATTENTION_MS))
        silent_ms = WIRE_ATTENTION_MS;
    else if (w->deadline_ms != 0 && !w->attention_sent &&
             (silent_ms == 0 || fr_clock_ms() >= w->deadline_ms))
        return fr_err_set(err, FR_ELOST,
                          "%s: the server has been silent until the end of the login "
                          "time-out (--login-timeout)",
                          what);
    return fr_err_set(err, FR_ELOST, "%s: the server has been silent for %g s%s", what,
                      silent_ms / 1000.0,
                      w->attention_sent ? ", also after an attention" : "");
}

fr_status wire_fault_error(struct wire *w, const char *what, struct fr_err *err)
{
    enum wire_fault fault = w->fault;
    char why[200] = "";

    if (w->link != NULL)
        snprintf(why, sizeof why, "%s", w->link->ops->why(w->link));
    wire_lose(w);
    if (fault == WIRE_FAULT_PROTOCOL)
        return fr_err_set(err, FR_EPROTO, "%s: the server's answer is no TDS: %s", what,
                          w->fault_text);
    if (fault == WIRE_FAULT_MEMORY)
        return fr_err_set(err, FR_ENOMEM, "%s: no memory", what);
    if (fault == WIRE_FAULT_SILENT)
        return silent_error(w, what, err);
    if (why[0] != '\0')
        return fr_err_set(err, FR_ELOST, "%s: the connection was lost: %s", what, why);
    if (fault == WIRE_FAULT_BROKEN && w->os_error != 0)
        return fr_err_errno(err, FR_ELOST, w->os_error, "%s: the connection was lost",
                            what);
    return fr_err_set(err, FR_ELOST, "%s: the server closed the connection", what);
}

fr_status wire_new(struct wire_link *link, uint32_t packet_bytes, struct wire **out,
                   struct fr_err *err)
{
    /* collation of a server that names none: Latin1_General_CI_AS */
    static const unsigned char latin1[5] = {0x09, 0x04, 0xd0, 0x00, 0x34};
    struct wire *w = calloc(1, sizeof *w);

    *out = NULL;
    if (w != NULL) {
        w->out_buffer = malloc(WIRE_OUT_BYTES);
        w->raw = malloc(WIRE_RAW_BYTES);
        w->in = malloc(WIRE_IN_BYTES);
    }
    if (w == NULL || w->out_buffer == NULL || w->raw == NULL || w->in == NULL) {
        if (w != NULL) {
            free(w->out_buffer);
            free(w->raw);
            free(w->in);
        }
        free(w);
        link->ops->close(link);
        return fr_err_set(err, FR_ENOMEM, "no memory for a connection");
    }
    w->sql.ops = &wire_session_ops;
    w->link = link;
    w->packet_bytes = packet_bytes;
    w->out.wire = w;
    w->out.at = w->out.end = w->out_buffer;
    memcpy(w->collation, latin1, sizeof latin1);
    fr_buf_init(&w->outputs, WIRE_MAX_OUTPUT_BYTES);
    fr_buf_init(&w->known_columns, WIRE_MAX_OUTPUT_BYTES);
    fr_buf_init(&w->known_collations, WIRE_MAX_OUTPUT_BYTES);
    *out = w;
    return FR_OK;
}

void wire_free(struct wire *w)
{
    wire_lose(w);
    fr_buf_free(&w->outputs);
    fr_buf_free(&w->known_columns);
    fr_buf_free(&w->known_collations);
    free(w->out_buffer);
    free(w->raw);
    free(w->in);
    free(w);
}
