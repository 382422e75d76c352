/*
 * tls.h - TLS 1.2 under TDS (MS-TDS 2.2.6.5, 3.2.5.1): GnuTLS, its handshake inside
 * PRELOGIN packets.
 *
 * For wire/ only; used by the session's thread.
 */
#ifndef FR_WIRE_TLS_H
#define FR_WIRE_TLS_H

#include "base/err.h"
#include "wire/link.h"

#include <stdint.h>

struct wire_tls_how {
    const char *host;     /* whom the certificate must name, when it is checked */
    const char *ca_file;  /* PEM; NULL: the certificate is not checked */
    uint64_t deadline_ms; /* fr_clock_ms(); 0 = none */
};

/*
 * The client's half of the handshake over inner; *out is a link of its own over inner,
 * which it owns from then on.  FR_ECONNECT: the handshake failed, or the certificate is
 * not one of the CA's for that host; FR_EARG: the CA file cannot be read.  inner stays
 * the caller's when it fails.
 */
fr_status wire_tls_open(struct wire_link *inner, const struct wire_tls_how *how,
                        struct wire_link **out, struct fr_err *err);

/* After a login that alone was to be encrypted: takes TLS off, gives back the inner link
 * and frees the other. */
struct wire_link *wire_tls_end(struct wire_link *tls);

#endif
