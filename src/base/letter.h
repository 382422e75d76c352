/*
 * letter.h - capitals and small letters.
 *
 * Unicode's simple mapping, one character to one, for Latin, Greek, Cyrillic, Armenian
 * and Deseret letters and the wide forms of ASCII; no process's locale is asked.
 * Reentrant; owns nothing.
 */
#ifndef FR_BASE_LETTER_H
#define FR_BASE_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The other letter of a pair; any other character is returned as it is. */
uint32_t fr_letter_lower(uint32_t c);
uint32_t fr_letter_upper(uint32_t c);

/* Two UTF-8 texts differ in nothing but the case of letters; bytes that are no character
 * are equal to the same bytes. */
bool fr_letter_same_text(const char *a, size_t a_bytes, const char *b, size_t b_bytes);

#endif
