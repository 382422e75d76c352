/*
 * login.h - the messages before the first statement: PRELOGIN and LOGIN7 (MS-TDS 2.2.6.5,
 * 2.2.6.4).
 *
 * For wire/ only.
 */
#ifndef FR_WIRE_LOGIN_H
#define FR_WIRE_LOGIN_H

#include "base/connect.h"
#include "wire/wire_priv.h"

/* The encryption option of PRELOGIN, in a question or an answer. */
enum wire_encryption {
    WIRE_ENCRYPTION_OFF = 0, /* the login alone */
    WIRE_ENCRYPTION_ON = 1,
    WIRE_ENCRYPTION_NONE = 2, /* not supported */
    WIRE_ENCRYPTION_REQUIRED = 3
};

/* The encryption option of a PRELOGIN answer; false: there is none, or it is no answer.
 */
bool wire_prelogin_parse(const unsigned char *p, size_t n, enum wire_encryption *out);

/* Ask, and read the answer.  FR_ECONNECT. */
fr_status wire_prelogin(struct wire *w, enum wire_encryption ask,
                        enum wire_encryption *answer, struct fr_err *err);

/* Send LOGIN7.  The password is wiped from every buffer it passed through.  FR_EARG: a
 * name is too long. */
fr_status wire_send_login(struct wire *w, const struct fr_connect *how, const char *host,
                          struct fr_err *err);

/* Read what the server says to it.  FR_ECONNECT, with err->server_number. */
fr_status wire_read_login(struct wire *w, const struct fr_connect *how,
                          struct fr_err *err);

#endif
