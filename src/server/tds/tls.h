/*
 * tls.h - TLS under TDS (MS-TDS 2.2.6.5, 3.2.5.2): the handshake travels in PRELOGIN
 * packets, then either everything is encrypted or only the login.
 *
 * TLS 1.2, which is what clients of TDS 7 speak.  Credentials are shared by all threads
 * and not changed after they were made; a struct tls belongs to its connection's thread.
 */
#ifndef FRD_TDS_TLS_H
#define FRD_TDS_TLS_H

#include "base/err.h"
#include "server/tds/packet.h"
#include "server/tds/serve.h"

struct tls_credentials; /* opaque */
struct tls;             /* opaque */

/* PEM files */
fr_status tls_credentials_load(const char *cert_file, const char *key_file,
                               struct tls_credentials **out, struct fr_err *err);
/* A key and a certificate for `name`, localhost and the loopback addresses, made now. */
fr_status tls_credentials_self_signed(const char *name, struct tls_credentials **out,
                                      struct fr_err *err);
void tls_credentials_free(struct tls_credentials **cp); /* accepts &NULL */

/*
 * The server's half of the handshake; from then on r and w go through TLS.  NULL: it
 * failed, why is in err.  credentials, r, w, io are borrowed for the life of the result.
 */
struct tls *tls_accept(const struct tls_credentials *credentials, struct tds_reader *r,
                       struct tds_writer *w, const struct tds_transport *io,
                       struct fr_err *err);
/* After the login: r and w go on in the clear.  False: what was read does not end with
 * it. */
bool tls_end_login(struct tls **tp);
/* At the connection's end; says goodbye when it can.  Accepts &NULL. */
void tls_close(struct tls **tp);

#endif
