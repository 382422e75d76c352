/* suggest_value.h - what a value could be, by how it is written; for load/ only. */
#ifndef FR_LOAD_SUGGEST_VALUE_H
#define FR_LOAD_SUGGEST_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of these. */
enum value_kind {
    VALUE_BIT = 1,
    VALUE_INTEGER = 2,
    VALUE_DECIMAL = 4, /* an integer is one, too */
    VALUE_FLOAT = 8,   /* a decimal is one, too */
    VALUE_DATE = 16,
    VALUE_DATETIME = 32, /* a date is one, too */
    VALUE_OFFSET = 64,
    VALUE_TIME = 128,
    VALUE_GUID = 256,
    VALUE_ANY = 511
};

enum { VALUE_MAX_BYTES = 64 };

struct value_shape {
    unsigned kinds;
    unsigned int_digits, fraction_digits; /* of a number */
    bool exponent;
    bool fits_int, fits_bigint;
    unsigned second_digits; /* fractions of a second */
};

/* n ASCII characters, at least one. */
void value_shape(const char *p, size_t n, char decimal, struct value_shape *out);

#endif
