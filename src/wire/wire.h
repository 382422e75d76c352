/*
 * wire.h - our own TDS client: an SQL session that can carry a bulk load.
 *
 * It speaks TDS 7.4 (MS-TDS) with an SQL login, over TLS 1.2 or in clear, and shares no
 * code with the embedded server.  The session is an fr_sql (base/sql.h), used by one
 * thread at a time; close it with fr_sql_close().  Every wait has an end: the login
 * time-out, the statement time-out, or TCP_USER_TIMEOUT.
 */
#ifndef FR_WIRE_WIRE_H
#define FR_WIRE_WIRE_H

#include "base/connect.h"
#include "base/sql.h"

/*
 * True when how->server is an address this client can use: HOST, HOST:PORT, HOST,PORT or
 * [IPv6]:PORT, and there is a user.  False: why (why_bytes large) says what is against it
 * (a named instance, a bad port, no user).  Whether a name stands in freetds.conf is the
 * caller's to know.
 */
bool fr_wire_can_open(const struct fr_connect *how, char *why, size_t why_bytes);

/*
 * Connect and log in; the session options are set, s->spid is filled.  FR_ECONNECT:
 * cannot connect, encrypt as asked, or log in (err->server_number when the server said
 * so); FR_EARG: fr_wire_can_open() says no, or the CA file cannot be read.
 */
fr_status fr_wire_open(const struct fr_connect *how, struct fr_sql **out,
                       struct fr_err *err);

/* For sessions of fr_wire_open(): all that is sent is encrypted, not the login alone. */
bool fr_wire_is_encrypted(const struct fr_sql *s);

/* True when the address is this machine's own: what goes there is on no network. */
bool fr_wire_is_loopback(const char *server);

/*
 * Ask the server whether it has encryption at all, and hang up: one prelogin message
 * (MS-TDS 2.2.6.5), no login.  *has is set on FR_OK only; FR_ECONNECT: no answer, or none
 * that makes sense.
 */
fr_status fr_wire_ask_encryption(const struct fr_connect *how, bool *has,
                                 struct fr_err *err);

#endif
