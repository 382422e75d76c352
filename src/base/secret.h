/*
 * secret.h - a password: a type that logs, reports and `ps` cannot show.
 *
 * The bytes are wiped when freed and kept out of core files (MADV_DONTDUMP).
 * Used by one thread at a time.
 */
#ifndef FR_BASE_SECRET_H
#define FR_BASE_SECRET_H

#include "base/err.h"

#include <stddef.h>

enum { FR_SECRET_MAX_BYTES = 512 };

struct fr_secret; /* opaque */

/* Copy n bytes (0..FR_SECRET_MAX_BYTES); FR_EARG when longer or with a NUL, FR_ENOMEM. */
fr_status fr_secret_new(const char *bytes, size_t n, struct fr_secret **out,
                        struct fr_err *err);
/* First line of a file, without its line end. */
fr_status fr_secret_read_file(const char *path, struct fr_secret **out,
                              struct fr_err *err);
/* Ask on the controlling terminal without echo; FR_EARG when there is none. */
fr_status fr_secret_prompt(const char *prompt, struct fr_secret **out,
                           struct fr_err *err);
/* NUL-terminated bytes, for the library that logs in; borrowed, never stored. "" for
 * NULL. */
const char *fr_secret_reveal(const struct fr_secret *s);
void fr_secret_free(struct fr_secret **sp);

/*
 * Keep this process's memory out of core files: libraries copy passwords where we cannot
 * wipe them. Children inherit it.  Best effort: Linux only.
 */
void fr_secret_protect_process(void);

#endif
