/*
 * encryption.h - db-lib sessions with the encryption that was asked for, no less.
 *
 * db-lib tells a server without encryption from a handshake that failed in nothing, and
 * its login-only level goes on in clear where a server has none.  So the server itself is
 * asked (wire/wire.h) where the difference decides.
 */
#ifndef FR_RACK_ENCRYPTION_H
#define FR_RACK_ENCRYPTION_H

#include "base/connect.h"
#include "base/sql.h"

/*
 * fr_connect_open() with how->encrypt meant as base/connect.h says: prefer goes on in
 * clear only where the server says that it has no encryption, login never.  A
 * freetds.conf name of an instance cannot be asked: prefer is require there.
 */
fr_status fr_encryption_open(const struct fr_connect *how, struct fr_sql **out,
                             struct fr_err *err);

#endif
