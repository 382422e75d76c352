/*
 * text.h - UTF-8, UTF-16 and code pages.
 *
 * Texts are UTF-8; a lone surrogate, which nvarchar may hold, is kept in its three-byte
 * form (WTF-8).  Lengths and positions of T-SQL are UTF-16 units.  No state; any thread.
 */
#ifndef FRD_VALUE_TEXT_H
#define FRD_VALUE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code point at *p, which moves behind it; a broken byte reads as U+FFFD.  p < end. */
uint32_t text_next(const char **p, const char *end);
/* Write c as (W)UTF-8; returns the number of bytes, 1..4. */
size_t text_put(uint32_t c, char out[4]);
bool text_valid(const char *s, size_t n); /* well-formed, lone surrogates allowed */

uint32_t
text_lower(uint32_t c); /* simple case mapping: Latin, Greek, Cyrillic, Armenian, ... */
uint32_t text_upper(uint32_t c);
/* Base letter of an accented Latin, Greek or Cyrillic letter (case kept), else c. */
uint32_t text_base(uint32_t c);

/* Length in UTF-16 units. */
size_t text_units(const char *s, size_t n);
/* Bytes of s that the first `units` UTF-16 units take; a surrogate pair is never halved:
   the position in front of it is returned. */
size_t text_offset(const char *s, size_t n, size_t units);

bool text_to_utf16le(const char *s, size_t n, struct fr_buf *out);
/* The text at `out`, which has room for 3 bytes a unit; where it ends.  bytes:
   even; a lone surrogate is kept. */
char *text_put_utf16le(const void *p, size_t bytes, char *out);
/* The same, appended. */
bool text_from_utf16le(const void *p, size_t bytes, struct fr_buf *out);

/* Length in bytes of the text in a code page. */
size_t codepage_bytes(unsigned cp, const char *s, size_t n);
/* Bytes of s whose form in the code page takes at most `bytes` bytes. */
size_t codepage_offset(unsigned cp, const char *s, size_t n, size_t bytes);
/* What the code page lacks becomes '?', counted in *lost (may be NULL); false: out of
 * memory. */
bool codepage_from_utf8(unsigned cp, const char *s, size_t n, struct fr_buf *out,
                        size_t *lost);
/* Bytes that mean nothing in the code page become '?'. */
bool codepage_to_utf8(unsigned cp, const void *p, size_t n, struct fr_buf *out);
bool codepage_known(unsigned cp);

#endif
