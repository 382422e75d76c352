/*
 * login.h - PRELOGIN and LOGIN7 (MS-TDS 2.2.6.5, 2.2.6.4).
 *
 * Parsing works on bytes in memory and trusts no offset.  The password is kept in its own
 * array, which login_wipe() clears.  One thread.
 */
#ifndef FRD_TDS_LOGIN_H
#define FRD_TDS_LOGIN_H

#include "server/tds/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOGIN_MAX_BYTES = 128 * 1024,
    LOGIN_NAME_BYTES = 128 * 3 + 1, /* 128 UTF-16 units as UTF-8 */
    PRELOGIN_MAX_BYTES = 4096
};

enum prelogin_encryption {
    ENCRYPT_OFF = 0,
    ENCRYPT_ON = 1,
    ENCRYPT_NOT_SUP = 2,
    ENCRYPT_REQ = 3
};

struct prelogin {
    uint8_t encryption; /* enum prelogin_encryption */
    bool mars;
    bool has_nonce;
};

/* False: malformed. */
bool prelogin_parse(const unsigned char *p, size_t n, struct prelogin *out);
/* The server's answer as the payload of one packet; returns its length (out: 64 bytes).
 */
size_t prelogin_answer(unsigned char *out, uint8_t encryption);

struct tds_login {
    uint32_t tds_version; /* as the client asks */
    uint32_t packet_size;
    uint32_t client_pid;
    bool integrated; /* Windows authentication */
    bool odbc;       /* the client wants the ANSI options on */
    bool extension;  /* feature extensions follow: an acknowledgement is expected */
    bool utf8;       /* ... UTF8_SUPPORT among them */
    bool change_password;
    char host_name[LOGIN_NAME_BYTES];
    char user[LOGIN_NAME_BYTES];
    char password[LOGIN_NAME_BYTES];
    char program_name[LOGIN_NAME_BYTES];
    char server_name[LOGIN_NAME_BYTES];
    char client_interface[LOGIN_NAME_BYTES];
    char language[LOGIN_NAME_BYTES];
    char database[LOGIN_NAME_BYTES];
};

bool login_parse(const unsigned char *p, size_t n, struct tds_login *out);
void login_wipe(struct tds_login *l);
/* The version spoken for one asked for: 7.2, 7.3 or 7.4; 0: too old. */
uint32_t login_version(uint32_t asked);

#endif
