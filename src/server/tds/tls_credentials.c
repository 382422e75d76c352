#include "server/tds/tls_credentials.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tls_credentials {
    gnutls_certificate_credentials_t x509;
};

enum { SELF_SIGNED_DAYS = 365, SERIAL_BYTES = 16 };

gnutls_certificate_credentials_t tls_credentials_x509(const struct tls_credentials *c)
{
    return c->x509;
}

void tls_credentials_free(struct tls_credentials **cp)
{
    if (*cp == NULL)
        return;
    if ((*cp)->x509 != NULL)
        gnutls_certificate_free_credentials((*cp)->x509);
    free(*cp);
    *cp = NULL;
}

static fr_status credentials_new(struct tls_credentials **out, struct fr_err *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL || gnutls_certificate_allocate_credentials(&(*out)->x509) != 0) {
        tls_credentials_free(out);
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    }
    return FR_OK;
}

fr_status tls_credentials_load(const char *cert_file, const char *key_file,
                               struct tls_credentials **out, struct fr_err *err)
{
    fr_status st = credentials_new(out, err);
    int rc;

    if (st != FR_OK)
        return st;
    assert(*out != NULL);
    rc = gnutls_certificate_set_x509_key_file((*out)->x509, cert_file, key_file,
                                              GNUTLS_X509_FMT_PEM);
    if (rc < 0) {
        tls_credentials_free(out);
        return fr_err_set(err, FR_EARG, "--tls-cert %s, --tls-key %s: %s", cert_file,
                          key_file, gnutls_strerror(rc));
    }
    return FR_OK;
}

static int add_names(gnutls_x509_crt_t crt, const char *name)
{
    static const unsigned char v4[4] = {127, 0, 0, 1}, v6[16] = {[15] = 1};
    int rc = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                           (unsigned)strlen(name));

    if (rc == 0)
        rc = gnutls_x509_crt_set_subject_alt_name(
            crt, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name), GNUTLS_FSAN_SET);
    if (rc == 0)
        rc = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, "localhost", 9,
                                                  GNUTLS_FSAN_APPEND);
    if (rc == 0)
        rc = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, v4,
                                                  sizeof v4, GNUTLS_FSAN_APPEND);
    if (rc == 0)
        rc = gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, v6,
                                                  sizeof v6, GNUTLS_FSAN_APPEND);
    return rc;
}

static int fill_certificate(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key,
                            const char *name)
{
    unsigned char serial[SERIAL_BYTES];
    time_t now = time(NULL);
    int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);

    serial[0] &= 0x7F; /* a positive number */
    if (rc == 0)
        rc = gnutls_x509_crt_set_version(crt, 3);
    if (rc == 0)
        rc = gnutls_x509_crt_set_serial(crt, serial, sizeof serial);
    if (rc == 0)
        rc = gnutls_x509_crt_set_activation_time(crt, now - 3600);
    if (rc == 0)
        rc = gnutls_x509_crt_set_expiration_time(crt, now + SELF_SIGNED_DAYS * 86400);
    if (rc == 0)
        rc = add_names(crt, name);
    if (rc == 0)
        rc = gnutls_x509_crt_set_key(crt, key);
    if (rc == 0)
        rc = gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
    return rc;
}

fr_status tls_credentials_self_signed(const char *name, struct tls_credentials **out,
                                      struct fr_err *err)
{
    fr_status st = credentials_new(out, err);
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t crt = NULL;
    int rc;

    if (st != FR_OK)
        return st;
    assert(*out != NULL);
    rc = gnutls_x509_privkey_init(&key);
    if (rc == 0)
        rc = gnutls_x509_crt_init(&crt);
    if (rc == 0) /* RSA, since clients of old know no elliptic curves in certificates */
        rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_RSA, 2048, 0);
    if (rc == 0)
        rc = fill_certificate(crt, key, name);
    if (rc == 0)
        rc = gnutls_certificate_set_x509_key((*out)->x509, &crt, 1, key);
    if (crt != NULL)
        gnutls_x509_crt_deinit(crt);
    if (key != NULL)
        gnutls_x509_privkey_deinit(key);
    if (rc < 0) {
        tls_credentials_free(out);
        return fr_err_set(err, FR_EIO, "--tls-self-signed: %s", gnutls_strerror(rc));
    }
    return FR_OK;
}
