/*
 * connect.h - open an SQL session over db-lib.
 *
 * fr_dblib_init() must have been told of the server.  The session is an fr_sql
 * (base/sql.h), used by one thread at a time; close it with fr_sql_close().
 */
#ifndef FR_DB_CONNECT_H
#define FR_DB_CONNECT_H

#include "base/connect.h"
#include "base/sql.h"
#include "db/dblib.h"

#include <sybfront.h>
#include <sybdb.h>

/* uniqueidentifier's token (MS-TDS 2.2.5.4.1): known to db-lib, missing in its header */
enum { FR_SYBUNIQUE = 0x24 };

/* FR_ECONNECT: cannot connect or log in; FR_EARG: unknown server.  The session options
 * are set.  FR_ENCRYPT_PREFER is taken for FR_ENCRYPT_REQUIRE: db-lib cannot tell a
 * server without encryption from a broken handshake (rack/encryption.h can). */
fr_status fr_connect_open(const struct fr_connect *c, struct fr_sql **out,
                          struct fr_err *err);

/* True when the session's traffic is encrypted as far as db-lib was asked to. */
bool fr_connect_is_encrypted(const struct fr_sql *s);

/* For the bcp engine: the connection and its sink. */
DBPROCESS *fr_connect_dbproc(struct fr_sql *s);
struct fr_db_sink *fr_connect_sink(struct fr_sql *s);

#endif
