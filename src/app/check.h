/* check.h - the two halves of `fullrack check`. */
#ifndef FR_APP_CHECK_H
#define FR_APP_CHECK_H

#include "app/sources.h"
#include "config/settings.h"

/* Print a CREATE TABLE that the sources load into; returns the exit status.  stop: enum
 * fr_stop, borrowed. */
int check_suggest(struct fr_settings *s, const char *name, const struct sources *list,
                  const _Atomic int *stop, struct fr_err *err);

#endif
