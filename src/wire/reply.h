/*
 * reply.h - what the reply parser and its neighbours share; for wire/ only.
 */
#ifndef FR_WIRE_REPLY_H
#define FR_WIRE_REPLY_H

#include "wire/wire_priv.h"

/* Take in an ENVCHANGE of n bytes (MS-TDS 2.2.7.9); false: w->fault. */
bool wire_environment(struct wire *w, const unsigned char *p, size_t n);

#endif
