#include "rack/encryption.h"

#include "db/connect.h"
#include "wire/wire.h"

/* True only when the server answers, and says that it has none. */
static bool has_no_encryption(const struct fr_connect *how, struct fr_err *err)
{
    char address[512];
    struct fr_connect there = *how;
    bool has = true;

    if (!fr_dblib_address(how->server, address, sizeof address))
        return false;
    there.server = address;
    return fr_wire_ask_encryption(&there, &has, err) == FR_OK && !has;
}

fr_status fr_encryption_open(const struct fr_connect *how, struct fr_sql **out,
                             struct fr_err *err)
{
    struct fr_connect clear = *how;
    struct fr_err local = {0};
    fr_status st;

    clear.encrypt = FR_ENCRYPT_OFF;
    *out = NULL;
    if (how->encrypt == FR_ENCRYPT_LOGIN && has_no_encryption(how, &local))
        return fr_err_set(err, FR_ECONNECT,
                          "cannot connect to %s: the server has no encryption, and "
                          "--encrypt login asks for it",
                          how->server);
    st = fr_connect_open(how, out, err);
    /* a server that said something has a working connection */
    if (st != FR_ECONNECT || fr_connect_wish(how) != FR_ENCRYPT_PREFER ||
        (err != NULL && err->server_number != 0) || !has_no_encryption(how, &local))
        return st;
    return fr_connect_open(&clear, out, err);
}
