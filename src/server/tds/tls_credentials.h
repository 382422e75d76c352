/*
 * tls_credentials.h - the inside of struct tls_credentials; for tls*.c only.
 */
#ifndef FRD_TDS_TLS_CREDENTIALS_H
#define FRD_TDS_TLS_CREDENTIALS_H

#include "server/tds/tls.h"

#include <gnutls/gnutls.h>

gnutls_certificate_credentials_t tls_credentials_x509(const struct tls_credentials *c);

#endif
