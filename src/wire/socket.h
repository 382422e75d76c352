/*
 * socket.h - a TCP connection to HOST and port, as a link.
 */
#ifndef FR_WIRE_SOCKET_H
#define FR_WIRE_SOCKET_H

#include "base/connect.h"
#include "wire/link.h"

#include <stdint.h>

enum { WIRE_HOST_BYTES = 256, WIRE_DEFAULT_PORT = 1433 };

struct wire_address {
    char host[WIRE_HOST_BYTES];
    uint16_t port;
};

/* Split a server's name.  FR_EARG: a named instance, no host, or a bad port. */
fr_status wire_address_parse(const char *server, struct wire_address *out,
                             struct fr_err *err);

/* Until when one of `left` addresses still to be tried may take its time: an even share
 * of what is left (fr_clock_ms(); 0 = no end). */
uint64_t wire_share_deadline(uint64_t now_ms, uint64_t deadline_ms, size_t left);

/* Of the errnos of two addresses, the one that says more about the server: a host that
 * refuses over one that is silent over one that this machine has no way to. */
int wire_telling_error(int one, int other);

/* Connect within deadline_ms (fr_clock_ms(); 0 = none), to the first of the host's
 * addresses that answers.  FR_ECONNECT. */
fr_status wire_socket_open(const struct wire_address *to, uint32_t tcp_timeout_ms,
                           uint64_t deadline_ms, struct wire_link **out,
                           struct fr_err *err);

/* A link over a socket that is connected already; takes fd over.  NULL: no memory, and fd
 * is closed. */
struct wire_link *wire_socket_link(int fd);

#endif
