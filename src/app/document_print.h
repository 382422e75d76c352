/*
 * document_print.h - the one JSON document that a command prints.
 */
#ifndef FR_APP_DOCUMENT_PRINT_H
#define FR_APP_DOCUMENT_PRINT_H

#include "base/err.h"

#include <jansson.h>

/*
 * doc, which is released, to standard output, a line end behind it.  FR_ENOMEM: it is
 * NULL, as jansson makes it where memory is short.  FR_EIO: it could not be written.
 */
fr_status document_print(json_t *doc, struct fr_err *err);

#endif
