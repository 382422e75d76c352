/*
 * ipc.h - JSON messages between the coordinator and a worker, over one socket pair.
 *
 * One message is one packet (SOCK_SEQPACKET), so that it is sent whole or not at all and
 * a droppable one never blocks.  Sending is safe from several threads; receiving belongs
 * to one.
 */
#ifndef FR_RACK_IPC_H
#define FR_RACK_IPC_H

#include "base/err.h"

#include <jansson.h>

enum { FR_IPC_MAX_BYTES = 60 * 1024 };

/* Both ends, close-on-exec; FR_EIO. */
fr_status fr_ipc_pair(int fds[2], struct fr_err *err);
/* Takes the message over.  droppable: lost when the other side does not keep up, which is
 * FR_EMPTY.  FR_EOF: nobody is there; FR_ERANGE: longer than FR_IPC_MAX_BYTES; FR_ENOMEM.
 */
fr_status fr_ipc_send(int fd, json_t *message, bool droppable);
/* FR_EMPTY after timeout_ms without a message (-1 = for ever, 0 = only look); FR_EOF;
 * FR_ERANGE or FR_EPROTO: a message that was cut off, or is none.  *out is owned by the
 * caller. */
fr_status fr_ipc_receive(int fd, int timeout_ms, json_t **out);

/* text as a JSON string, a byte that is no UTF-8 (a text cut in a character) as '?'. */
json_t *fr_ipc_string(const char *text);

/* A message's fields, with a fallback for what is absent. */
const char *fr_ipc_text(const json_t *m, const char *key);
int64_t fr_ipc_number(const json_t *m, const char *key, int64_t fallback);
bool fr_ipc_is(const json_t *m, const char *type);

#endif
