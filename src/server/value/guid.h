/*
 * guid.h - the three forms of a uniqueidentifier.
 *
 * Wire order: first three groups little-endian (MS-TDS 2.2.5.5.1.3).  Sort order: the
 * server compares the last group first.  No state; any thread.
 */
#ifndef FRD_VALUE_GUID_H
#define FRD_VALUE_GUID_H

#include <stdbool.h>
#include <stddef.h>

enum { GUID_BYTES = 16, GUID_TEXT_BYTES = 37 };

void guid_to_sort_order(const unsigned char wire[GUID_BYTES],
                        unsigned char out[GUID_BYTES]);
void guid_from_sort_order(const unsigned char sorted[GUID_BYTES],
                          unsigned char out[GUID_BYTES]);
/* 36 capital characters and a NUL */
void guid_format(const unsigned char wire[GUID_BYTES], char out[GUID_TEXT_BYTES]);
/* With or without braces; text behind the 36th character is ignored, as the server does.
 */
bool guid_parse(const char *s, size_t n, unsigned char wire[GUID_BYTES]);
/* A random one (version 4) from getrandom(2). */
void guid_new(unsigned char wire[GUID_BYTES]);

#endif
