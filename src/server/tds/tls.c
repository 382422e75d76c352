#include "server/tds/tls.h"

#include "server/tds/tls_credentials.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

enum {
    HANDSHAKE_MAX_BYTES = 64 * 1024, /* of one flight, either way */
    HANDSHAKE_PACKET_BYTES = 4096,
};

struct tls {
    gnutls_session_t session;
    struct tds_reader *r;
    struct tds_writer *w;
    const struct tds_transport *io;
    bool handshaking;
    bool reading; /* a handshake message of the client is being read */
    unsigned char
        flight[HANDSHAKE_MAX_BYTES]; /* ours, sent when the client's turn comes */
    size_t flight_bytes;
    unsigned char
        *early; /* raw bytes that were read together with the handshake's last packet */
    size_t early_at, early_bytes;
};

/* Send the flight as PRELOGIN packets. */
static bool send_flight(struct tls *t)
{
    size_t at = 0, most = HANDSHAKE_PACKET_BYTES - TDS_HEADER_BYTES;

    while (at < t->flight_bytes) {
        unsigned char packet[HANDSHAKE_PACKET_BYTES] = {TDS_PRELOGIN};
        size_t n = t->flight_bytes - at < most ? t->flight_bytes - at : most;
        size_t length = n + TDS_HEADER_BYTES;

        packet[1] = at + n == t->flight_bytes ? TDS_EOM : 0;
        packet[2] = (unsigned char)(length >> 8);
        packet[3] = (unsigned char)(length & 0xFF);
        memcpy(packet + TDS_HEADER_BYTES, t->flight + at, n);
        if (!t->io->send(t->io->ctx, packet, length))
            return false;
        at += n;
    }
    t->flight_bytes = 0;
    return true;
}

static ssize_t fail_io(struct tls *t)
{
    gnutls_transport_set_errno(t->session, EIO);
    return -1;
}

static ssize_t push(gnutls_transport_ptr_t ctx, const void *p, size_t n)
{
    struct tls *t = ctx;

    if (!t->handshaking)
        return t->io->send(t->io->ctx, p, n) ? (ssize_t)n : fail_io(t);
    if (n > sizeof t->flight - t->flight_bytes)
        return fail_io(t);
    memcpy(t->flight + t->flight_bytes, p, n);
    t->flight_bytes += n;
    return (ssize_t)n;
}

/* Bytes of the client's handshake messages, out of their packets. */
static ssize_t pull_handshake(struct tls *t, void *buf, size_t n)
{
    if (!send_flight(t))
        return fail_io(t);
    if (!t->reading || tds_at_end(t->r)) {
        if (!tds_next_message(t->r))
            return t->r->closed ? 0 : fail_io(t);
        if (t->r->type != TDS_PRELOGIN)
            return fail_io(t);
        t->reading = true;
    }
    n = n < t->r->left ? n : t->r->left;
    if (n == 0 || !tds_read(t->r, buf, n))
        return fail_io(t);
    return (ssize_t)n;
}

static ssize_t pull(gnutls_transport_ptr_t ctx, void *buf, size_t n)
{
    struct tls *t = ctx;
    ssize_t got;

    if (t->handshaking)
        return pull_handshake(t, buf, n);
    if (t->early_at < t->early_bytes) {
        size_t have = t->early_bytes - t->early_at;

        n = n < have ? n : have;
        memcpy(buf, t->early + t->early_at, n);
        t->early_at += n;
        return (ssize_t)n;
    }
    got = t->io->fill(t->io->ctx, buf, n);
    return got < 0 ? fail_io(t) : got;
}

static ssize_t tls_fill(void *ctx, void *buf, size_t n)
{
    struct tls *t = ctx;
    ssize_t got;

    do {
        got = gnutls_record_recv(t->session, buf, n);
    } while (got == GNUTLS_E_INTERRUPTED);
    return got < 0 ? -1 : got;
}

static bool tls_send(void *ctx, const void *p, size_t n)
{
    struct tls *t = ctx;
    const char *from = p;

    while (n > 0) {
        ssize_t sent = gnutls_record_send(t->session, from, n);

        if (sent == GNUTLS_E_INTERRUPTED)
            continue;
        if (sent <= 0)
            return false;
        from += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* What the reader holds already goes to TLS first. */
static bool take_early(struct tls *t)
{
    struct tds_reader *r = t->r;
    size_t n = r->filled - r->pos;

    if (n == 0)
        return true;
    t->early = malloc(n);
    if (t->early == NULL)
        return false;
    memcpy(t->early, r->buf + r->pos, n);
    t->early_bytes = n;
    r->pos = r->filled = 0;
    return true;
}

static int start(struct tls *t, gnutls_certificate_credentials_t x509)
{
    int rc =
        gnutls_init(&t->session, GNUTLS_SERVER | GNUTLS_NO_TICKETS | GNUTLS_NO_SIGNAL);

    if (rc == 0)
        rc =
            gnutls_priority_set_direct(t->session, "NORMAL:-VERS-ALL:+VERS-TLS1.2", NULL);
    if (rc == 0)
        rc = gnutls_credentials_set(t->session, GNUTLS_CRD_CERTIFICATE, x509);
    if (rc != 0)
        return rc;
    gnutls_transport_set_ptr(t->session, t);
    gnutls_transport_set_push_function(t->session, push);
    gnutls_transport_set_pull_function(t->session, pull);
    t->handshaking = true;
    do {
        rc = gnutls_handshake(t->session);
    } while (rc != 0 && !gnutls_error_is_fatal(rc));
    return rc;
}

static void release(struct tls **tp)
{
    if ((*tp)->session != NULL)
        gnutls_deinit((*tp)->session);
    free((*tp)->early);
    free(*tp);
    *tp = NULL;
}

struct tls *tls_accept(const struct tls_credentials *credentials, struct tds_reader *r,
                       struct tds_writer *w, const struct tds_transport *io,
                       struct fr_err *err)
{
    struct tls *t = calloc(1, sizeof *t);
    int rc;

    if (t == NULL) {
        fr_err_set(err, FR_ENOMEM, "out of memory");
        return NULL;
    }
    t->r = r;
    t->w = w;
    t->io = io;
    r->limit = HANDSHAKE_MAX_BYTES;
    rc = start(t, tls_credentials_x509(credentials));
    if (!send_flight(t) || rc != 0 || !take_early(t)) {
        fr_err_set(err, FR_EPROTO, "TLS handshake: %s",
                   rc != 0 ? gnutls_strerror(rc) : "the connection ended");
        release(&t);
        return NULL;
    }
    t->handshaking = false;
    r->fill = tls_fill;
    r->ctx = t;
    w->send = tls_send;
    w->ctx = t;
    return t;
}

static void go_clear(struct tls *t)
{
    t->r->fill = t->io->fill;
    t->r->ctx = t->io->ctx;
    t->w->send = t->io->send;
    t->w->ctx = t->io->ctx;
}

bool tls_end_login(struct tls **tp)
{
    struct tls *t = *tp;
    bool clean = t->r->filled == t->r->pos && t->early_at == t->early_bytes &&
                 gnutls_record_check_pending(t->session) == 0;

    go_clear(t);
    release(tp);
    return clean;
}

void tls_close(struct tls **tp)
{
    if (*tp == NULL)
        return;
    if (!(*tp)->w->failed && !(*tp)->r->closed)
        gnutls_bye((*tp)->session, GNUTLS_SHUT_WR);
    go_clear(*tp);
    release(tp);
}
