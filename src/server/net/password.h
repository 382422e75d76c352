/*
 * password.h - a login's password, kept as a salted hash.
 *
 * PBKDF2 with HMAC-SHA-256.  That of --user never leaves the process; those of logins
 * made by CREATE LOGIN stand in master as bytes.  The clear text is the caller's to wipe.
 * Constant once made; any thread.
 */
#ifndef FRD_NET_PASSWORD_H
#define FRD_NET_PASSWORD_H

#include "base/err.h"

#include <stdbool.h>

struct password; /* opaque */

fr_status password_hash(const char *clear, struct password **out, struct fr_err *err);
void password_free(struct password **pp); /* accepts &NULL */
/* Takes the same time for every text of the same length. */
bool password_matches(const struct password *p, const char *given);

/* Salt and hash, to be kept in a file. */
enum { PASSWORD_BYTES = 48 };
void password_to_bytes(const struct password *p, unsigned char out[PASSWORD_BYTES]);
/* NULL: out of memory. */
struct password *password_from_bytes(const unsigned char in[PASSWORD_BYTES]);

#endif
