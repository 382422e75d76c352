/*
 * convert_priv.h - one CAST at work; only for the files convert*.c.
 */
#ifndef FRD_VALUE_CONVERT_PRIV_H
#define FRD_VALUE_CONVERT_PRIV_H

#include "server/value/value.h"

struct conv {
    const struct value *in; /* not NULL */
    const struct sqltype *to;
    int style;
    struct value *out; /* type set, not null, value zero */
    struct sqlerr *e;
};

/* One function for each family of targets. */
bool convert_to_integer(const struct conv *c);
bool convert_to_float(const struct conv *c);
bool convert_to_money(const struct conv *c);
bool convert_to_decimal(const struct conv *c);
bool convert_to_datetime(const struct conv *c);
bool convert_to_string(const struct conv *c);
bool convert_to_binary(const struct conv *c);
bool convert_to_guid(const struct conv *c);

/* 8115 that names both types; 529. */
bool convert_overflow(const struct conv *c);
bool convert_refuse(const struct conv *c);
/* Give out a copy of n bytes. */
bool convert_take_bytes(const struct conv *c, const void *p, size_t n);
/* The source's text in an error message, cut. */
enum { SHOWN_BYTES = 128 };
const char *convert_shown(const struct value *v, char shown[SHOWN_BYTES]);

/* A number as text; returns its length. */
enum { NUMBER_TEXT_BYTES = 64 };
size_t number_format(const struct value *v, int style, char out[NUMBER_TEXT_BYTES]);
/* Texts of numbers: 1 done, 0 not a number, -1 too large. */
int parse_integer(const char *s, size_t n, int64_t *out);
int parse_float(const char *s, size_t n, double *out);
int parse_money(const char *s, size_t n, int64_t *out);

/* The bytes of a value as CAST(x AS varbinary) shows them, or of a hex text for style 1
 * and 2. */
struct fr_buf;
bool binary_form(const struct conv *c, struct fr_buf *out);

#endif
