/*
 * charset.h - the server's characters as UTF-8.
 *
 * For wire/ only.
 */
#ifndef FR_WIRE_CHARSET_H
#define FR_WIRE_CHARSET_H

#include "base/buf.h"

/* UTF-16LE; half a surrogate pair becomes U+FFFD, an odd byte at the end goes. */
bool wire_add_utf16(struct fr_buf *out, const unsigned char *p, size_t n);
/* UTF-8 as UTF-16LE; a malformed byte becomes U+FFFD. */
bool wire_put_utf16(struct fr_buf *out, const char *utf8);

/* The code page of a collation (MS-TDS 2.2.5.1.2); 65001 = UTF-8. */
unsigned wire_code_page(const unsigned char collation[5]);
/* Bytes in a code page; what has no character there becomes U+FFFD. */
bool wire_add_code_page(struct fr_buf *out, unsigned code_page, const unsigned char *p,
                        size_t n);

#endif
