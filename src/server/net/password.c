#include "server/net/password.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

/* Memory and files with hashes are their owner's alone to read: the rounds are for
   whoever finds them nevertheless, and few enough for a rack of workers to log in. */
enum { SALT_BYTES = 16, HASH_BYTES = PASSWORD_BYTES - SALT_BYTES, ROUNDS = 20000 };

struct password {
    unsigned char salt[SALT_BYTES], hash[HASH_BYTES];
};

static bool derive(const struct password *p, const char *text,
                   unsigned char out[HASH_BYTES])
{
    gnutls_datum_t key = {.data = (unsigned char *)(uintptr_t)text,
                          .size = (unsigned)strlen(text)},
                   salt = {.data = (unsigned char *)(uintptr_t)p->salt,
                           .size = SALT_BYTES};

    return gnutls_pbkdf2(GNUTLS_MAC_SHA256, &key, &salt, ROUNDS, out, HASH_BYTES) == 0;
}

fr_status password_hash(const char *clear, struct password **out, struct fr_err *err)
{
    struct password *p = calloc(1, sizeof *p);

    *out = NULL;
    if (p == NULL)
        return fr_err_set(err, FR_ENOMEM, "out of memory");
    if (gnutls_rnd(GNUTLS_RND_NONCE, p->salt, SALT_BYTES) != 0 ||
        !derive(p, clear, p->hash)) {
        free(p);
        return fr_err_set(err, FR_EIO, "the password cannot be hashed by GnuTLS");
    }
    *out = p;
    return FR_OK;
}

void password_free(struct password **pp)
{
    if (*pp != NULL)
        gnutls_memset(*pp, 0, sizeof **pp);
    free(*pp);
    *pp = NULL;
}

bool password_matches(const struct password *p, const char *given)
{
    unsigned char hash[HASH_BYTES];
    bool same = derive(p, given, hash) && gnutls_memcmp(hash, p->hash, HASH_BYTES) == 0;

    gnutls_memset(hash, 0, sizeof hash);
    return same;
}

void password_to_bytes(const struct password *p, unsigned char out[PASSWORD_BYTES])
{
    memcpy(out, p->salt, SALT_BYTES);
    memcpy(out + SALT_BYTES, p->hash, HASH_BYTES);
}

struct password *password_from_bytes(const unsigned char in[PASSWORD_BYTES])
{
    struct password *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    memcpy(p->salt, in, SALT_BYTES);
    memcpy(p->hash, in + SALT_BYTES, HASH_BYTES);
    return p;
}
