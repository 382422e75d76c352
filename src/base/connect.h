/*
 * connect.h - what a client needs to know to open an SQL session.
 *
 * Read by both clients, db/ (FreeTDS db-lib) and wire/ (our own).  Plain data, borrowed
 * for the call that opens.
 */
#ifndef FR_BASE_CONNECT_H
#define FR_BASE_CONNECT_H

#include "base/secret.h"

enum fr_encrypt {
    FR_ENCRYPT_OFF,    /* nothing; a server that demands encryption refuses */
    FR_ENCRYPT_LOGIN,  /* the login only, unless the server demands more */
    FR_ENCRYPT_PREFER, /* everything, unless the server says that it has no encryption
                          (fr_connect_wish) */
    FR_ENCRYPT_REQUIRE /* everything, or no connection */
};

/* Of a session for bulk copies: fewer system calls; the most some servers take under
 * TLS. */
enum { FR_BULK_PACKET_BYTES = 16383 };

struct fr_connect {
    const char *server;
    const char *user;
    const struct fr_secret *password;
    const char *database;        /* NULL or "" = the login's default */
    const char *application;     /* program_name the server shows */
    const char *session_options; /* SQL run after the login; NULL = none */
    const char *ca_file;         /* PEM; NULL = certificates are not checked */
    enum fr_encrypt encrypt;
    uint32_t packet_bytes;     /* 0 = the protocol's default, or that of bulk copies */
    uint32_t tcp_timeout_ms;   /* unacknowledged data for so long = connection lost;
                                  0 = system's */
    uint32_t login_timeout_ms; /* 0 = none */
    uint32_t statement_timeout_ms; /* silence of the server for so long; 0 = none */
    bool for_bulk;
    bool is_patient; /* statement_timeout_ms is longer than that of the process's other
                        connections (db-lib has one for all) */
};

/* The encryption to insist on.  Whoever names a CA wants to know whom he talks to: a
 * server that says in clear that it has no encryption may be anybody. */
static inline enum fr_encrypt fr_connect_wish(const struct fr_connect *how)
{
    return how->encrypt == FR_ENCRYPT_PREFER && how->ca_file != NULL ? FR_ENCRYPT_REQUIRE
                                                                     : how->encrypt;
}

#endif
