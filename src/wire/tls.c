#include "wire/tls.h"

#include "base/clock.h"
#include "wire/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD_BYTES = 16384, /* most of one TLS record */
    FLIGHT_BYTES = 64 << 10
};

struct tls_link {
    struct wire_link link; /* first */
    struct wire_link *inner;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
    uint64_t deadline_ms;
    bool handshaking;
    bool unsent; /* GnuTLS holds a record that the socket had no room for */
    char why[200];
    unsigned char header[WIRE_HEADER_BYTES]; /* of the PRELOGIN packet being read */
    size_t header_bytes;
    size_t packet_left;
    size_t
        flight_bytes; /* our side of the handshake, sent when the server's turn comes */
    unsigned char flight[WIRE_HEADER_BYTES + FLIGHT_BYTES];
    unsigned char record[RECORD_BYTES];
};

static ssize_t fail_with(struct tls_link *t, int why)
{
    gnutls_transport_set_errno(t->session, why);
    return -1;
}

static int remaining_ms(const struct tls_link *t)
{
    uint64_t now_ms = fr_clock_ms();

    if (t->deadline_ms == 0)
        return -1;
    return now_ms < t->deadline_ms ? (int)(t->deadline_ms - now_ms) : 0;
}

/* Everything or nothing, within the deadline: for the handshake. */
static bool write_whole(struct tls_link *t, unsigned char *p, size_t n)
{
    while (n > 0) {
        struct iovec iov = {p, n};
        ssize_t sent = t->inner->ops->write(t->inner, &iov, 1);

        if (sent >= 0) {
            p += sent;
            n -= (size_t)sent;
        } else if (errno != EAGAIN ||
                   t->inner->ops->wait(t->inner, WIRE_CAN_WRITE, remaining_ms(t)) == 0) {
            return false;
        }
    }
    return true;
}

static ssize_t read_some(struct tls_link *t, void *p, size_t n)
{
    ssize_t got;

    while ((got = t->inner->ops->read(t->inner, p, n)) < 0 && errno == EAGAIN)
        if (t->inner->ops->wait(t->inner, WIRE_CAN_READ, remaining_ms(t)) == 0) {
            errno = ETIMEDOUT;
            return -1;
        }
    return got;
}

/* The flight as PRELOGIN packets; the first header's place is in front of it. */
static bool send_flight(struct tls_link *t)
{
    enum { PIECE = WIRE_DEFAULT_PACKET_BYTES - WIRE_HEADER_BYTES };
    size_t at = 0;

    while (at < t->flight_bytes) {
        size_t n = t->flight_bytes - at < PIECE ? t->flight_bytes - at : PIECE;
        /* over bytes that have gone already */
        unsigned char *h = t->flight + at;

        memset(h, 0, WIRE_HEADER_BYTES);
        h[0] = WIRE_PACKET_PRELOGIN;
        h[1] = at + n == t->flight_bytes ? 1 : 0;
        h[2] = (unsigned char)((n + WIRE_HEADER_BYTES) >> 8);
        h[3] = (unsigned char)(n + WIRE_HEADER_BYTES);
        if (!write_whole(t, h, n + WIRE_HEADER_BYTES))
            return false;
        at += n;
    }
    t->flight_bytes = 0;
    return true;
}

/* Payload of the server's packets; their headers are taken off. */
static ssize_t pull_handshake(struct tls_link *t, void *p, size_t n)
{
    ssize_t got;

    if (!send_flight(t))
        return fail_with(t, EIO);
    while (t->packet_left == 0) {
        size_t whole;

        got = read_some(t, t->header + t->header_bytes,
                        WIRE_HEADER_BYTES - t->header_bytes);
        if (got <= 0)
            return got == 0 ? 0 : fail_with(t, errno);
        t->header_bytes += (size_t)got;
        if (t->header_bytes < WIRE_HEADER_BYTES)
            continue;
        t->header_bytes = 0;
        whole = (size_t)(t->header[2] << 8 | t->header[3]);
        if ((t->header[0] != WIRE_PACKET_PRELOGIN && t->header[0] != WIRE_PACKET_REPLY) ||
            whole <= WIRE_HEADER_BYTES)
            return fail_with(t, EPROTO);
        t->packet_left = whole - WIRE_HEADER_BYTES;
    }
    got = read_some(t, p, n < t->packet_left ? n : t->packet_left);
    if (got > 0)
        t->packet_left -= (size_t)got;
    return got < 0 ? fail_with(t, errno) : got;
}

static ssize_t pull(gnutls_transport_ptr_t ctx, void *p, size_t n)
{
    struct tls_link *t = ctx;
    ssize_t got;

    if (t->handshaking)
        return pull_handshake(t, p, n);
    got = t->inner->ops->read(t->inner, p, n);
    return got < 0 ? fail_with(t, errno) : got;
}

static ssize_t push(gnutls_transport_ptr_t ctx, const void *p, size_t n)
{
    struct tls_link *t = ctx;
    struct iovec iov = {(void *)(uintptr_t)p, n};
    ssize_t sent;

    if (t->handshaking) {
        if (n > FLIGHT_BYTES - t->flight_bytes)
            return fail_with(t, EMSGSIZE);
        memcpy(t->flight + WIRE_HEADER_BYTES + t->flight_bytes, p, n);
        t->flight_bytes += n;
        return (ssize_t)n;
    }
    sent = t->inner->ops->write(t->inner, &iov, 1);
    return sent < 0 ? fail_with(t, errno) : sent;
}

/* GnuTLS's refusal as errno; the text is kept. */
static ssize_t refused(struct tls_link *t, ssize_t rc)
{
    if (rc == GNUTLS_E_AGAIN || rc == GNUTLS_E_INTERRUPTED) {
        errno = EAGAIN;
        return -1;
    }
    if (rc == GNUTLS_E_FATAL_ALERT_RECEIVED || rc == GNUTLS_E_WARNING_ALERT_RECEIVED)
        snprintf(t->why, sizeof t->why, "TLS alert: %s",
                 gnutls_alert_get_name(gnutls_alert_get(t->session)));
    else
        snprintf(t->why, sizeof t->why, "TLS: %s", gnutls_strerror((int)rc));
    errno = EIO;
    return -1;
}

static ssize_t tls_read(struct wire_link *l, void *p, size_t n)
{
    struct tls_link *t = (struct tls_link *)l;
    ssize_t got = gnutls_record_recv(t->session, p, n);

    /* SQL Server hangs up without a farewell */
    if (got == GNUTLS_E_PREMATURE_TERMINATION)
        return 0;
    return got < 0 ? refused(t, got) : got;
}

/* Finish the record that the socket had no room for. */
static ssize_t flush_record(struct tls_link *t)
{
    ssize_t rc = t->unsent ? gnutls_record_send(t->session, NULL, 0) : 0;

    if (rc < 0)
        return refused(t, rc);
    t->unsent = false;
    return 0;
}

static ssize_t tls_write(struct wire_link *l, const struct iovec *iov, int count)
{
    struct tls_link *t = (struct tls_link *)l;
    size_t n = 0;
    ssize_t rc = flush_record(t);

    if (rc < 0 || count == 0)
        return rc;
    /* headers and payload are gathered, so that a record is as large as it can be */
    for (int i = 0; i < count && n < RECORD_BYTES; i++) {
        size_t piece =
            iov[i].iov_len < RECORD_BYTES - n ? iov[i].iov_len : RECORD_BYTES - n;

        memcpy(t->record + n, iov[i].iov_base, piece);
        n += piece;
    }
    rc = gnutls_record_send(t->session, t->record, n);
    if (rc == GNUTLS_E_AGAIN || rc == GNUTLS_E_INTERRUPTED) {
        t->unsent = true; /* encrypted and held by GnuTLS */
        return (ssize_t)n;
    }
    return rc < 0 ? refused(t, rc) : rc;
}

static int tls_wait(struct wire_link *l, int wanted, int timeout_ms)
{
    struct tls_link *t = (struct tls_link *)l;

    if ((wanted & WIRE_CAN_READ) != 0 && gnutls_record_check_pending(t->session) > 0)
        return WIRE_CAN_READ;
    return t->inner->ops->wait(t->inner, wanted, timeout_ms);
}

static const char *tls_why(struct wire_link *l)
{
    return ((struct tls_link *)l)->why;
}

static void tls_free(struct tls_link *t)
{
    gnutls_deinit(t->session);
    gnutls_certificate_free_credentials(t->credentials);
    gnutls_memset(t->record, 0, sizeof t->record); /* a login passed through here */
    free(t);
}

static void tls_close(struct wire_link *l)
{
    struct tls_link *t = (struct tls_link *)l;

    /* a farewell, if there is room for it: nothing waits here */
    if (!t->handshaking && !t->unsent)
        (void)gnutls_bye(t->session, GNUTLS_SHUT_WR);
    t->inner->ops->close(t->inner);
    tls_free(t);
}

static const struct wire_link_ops tls_ops = {.read = tls_read,
                                             .write = tls_write,
                                             .wait = tls_wait,
                                             .why = tls_why,
                                             .close = tls_close};

struct wire_link *wire_tls_end(struct wire_link *l)
{
    struct tls_link *t = (struct tls_link *)l;
    struct wire_link *inner = t->inner;

    tls_free(t);
    return inner;
}

static bool is_ip_address(const char *host)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static fr_status prepare(struct tls_link *t, const struct wire_tls_how *how,
                         struct fr_err *err)
{
    int rc = gnutls_certificate_allocate_credentials(&t->credentials);

    if (rc == GNUTLS_E_SUCCESS && how->ca_file != NULL) {
        rc = gnutls_certificate_set_x509_trust_file(t->credentials, how->ca_file,
                                                    GNUTLS_X509_FMT_PEM);
        if (rc <= 0)
            return fr_err_set(err, FR_EARG, "CA file %s: %s", how->ca_file,
                              rc < 0 ? gnutls_strerror(rc) : "no certificate in it");
        rc = GNUTLS_E_SUCCESS;
    }
    if (rc == GNUTLS_E_SUCCESS)
        rc = gnutls_init(&t->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);
    /* TDS 7 has no place for the messages TLS 1.3 sends after its handshake */
    if (rc == GNUTLS_E_SUCCESS)
        rc =
            gnutls_priority_set_direct(t->session, "NORMAL:-VERS-ALL:+VERS-TLS1.2", NULL);
    if (rc == GNUTLS_E_SUCCESS)
        rc = gnutls_credentials_set(t->session, GNUTLS_CRD_CERTIFICATE, t->credentials);
    if (rc == GNUTLS_E_SUCCESS && !is_ip_address(how->host))
        rc = gnutls_server_name_set(t->session, GNUTLS_NAME_DNS, how->host,
                                    strlen(how->host));
    if (rc != GNUTLS_E_SUCCESS)
        return fr_err_set(err, FR_ENOMEM, "TLS: %s", gnutls_strerror(rc));
    if (how->ca_file != NULL)
        gnutls_session_set_verify_cert(t->session, how->host, 0);
    gnutls_transport_set_ptr(t->session, t);
    gnutls_transport_set_pull_function(t->session, pull);
    gnutls_transport_set_push_function(t->session, push);
    return FR_OK;
}

static fr_status handshake_error(struct tls_link *t, int rc,
                                 const struct wire_tls_how *how, struct fr_err *err)
{
    gnutls_datum_t text = {NULL, 0};

    if (rc == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
        gnutls_certificate_verification_status_print(
            gnutls_session_get_verify_cert_status(t->session), GNUTLS_CRT_X509, &text, 0);
        fr_err_set(err, FR_ECONNECT, "the certificate of %s is refused: %s", how->host,
                   text.data == NULL ? "unknown reason" : (const char *)text.data);
        gnutls_free(text.data);
        return FR_ECONNECT;
    }
    (void)refused(t, rc);
    return fr_err_set(err, FR_ECONNECT, "the TLS handshake with %s failed: %s", how->host,
                      remaining_ms(t) == 0 ? "no answer" : t->why);
}

fr_status wire_tls_open(struct wire_link *inner, const struct wire_tls_how *how,
                        struct wire_link **out, struct fr_err *err)
{
    struct tls_link *t = calloc(1, sizeof *t);
    fr_status st;
    int rc;

    *out = NULL;
    if (t == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for TLS");
    t->link.ops = &tls_ops;
    t->inner = inner;
    t->deadline_ms = how->deadline_ms;
    t->handshaking = true;
    st = prepare(t, how, err);
    if (st != FR_OK)
        goto fail;
    do
        rc = gnutls_handshake(t->session);
    while (rc < 0 && gnutls_error_is_fatal(rc) == 0 && remaining_ms(t) != 0);
    if (rc != GNUTLS_E_SUCCESS)
        (void)gnutls_alert_send_appropriate(t->session, rc);
    /* also when it failed: the alert that says so */
    if (!send_flight(t) && rc == GNUTLS_E_SUCCESS)
        rc = GNUTLS_E_PUSH_ERROR;
    if (rc != GNUTLS_E_SUCCESS) {
        st = handshake_error(t, rc, how, err);
        goto fail;
    }
    t->handshaking = false;
    *out = &t->link;
    return FR_OK;
fail:
    if (t->session != NULL)
        gnutls_deinit(t->session);
    if (t->credentials != NULL)
        gnutls_certificate_free_credentials(t->credentials);
    free(t);
    return st;
}
