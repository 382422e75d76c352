/*
 * encode.h - a column of a bulk load as the wire has it: declared, described, encoded.
 *
 * For wire/ only.  A struct wire_column is made once per bulk copy; read-only afterwards.
 * One table row per SQL type (encode.c) carries the functions.
 */
#ifndef FR_WIRE_ENCODE_H
#define FR_WIRE_ENCODE_H

#include "base/buf.h"
#include "base/bulk.h"

enum {
    WIRE_COLLATION_BYTES = 5,
    WIRE_SMALL_BYTES = 24 /* no value of a small form is longer, its length included */
};

/* How the length of a value stands in front of it. */
enum wire_form {
    WIRE_FORM_SMALL, /* one byte; the type's size, or 0 for NULL */
    WIRE_FORM_SHORT, /* two bytes; 0xFFFF is NULL */
    WIRE_FORM_PLP,   /* a total, then chunks (MS-TDS 2.2.5.2.3) */
    WIRE_FORM_LONG   /* text, ntext, image: a pointer, a time stamp, four bytes */
};

/* Write the value in `cell` (not NULL) at out, its length in front; returns behind it. */
typedef unsigned char *(*wire_encode_fn)(const unsigned char *cell, unsigned char *out);

struct wire_column {
    const struct fr_column *column; /* borrowed */
    enum wire_form form;
    wire_encode_fn encode; /* of a small form */
    uint32_t bound_bytes;  /* longest form of a value; 0 = without a limit */
    unsigned char collation[WIRE_COLLATION_BYTES];
    bool takes_null; /* NULL may be sent: the column's, or for its default */
};

/* FR_EARG: a type that no bulk stream carries. */
fr_status wire_column_init(struct wire_column *w, const struct fr_column *column,
                           struct fr_err *err);

/* "[name]", ] doubled. */
void wire_column_name(const struct wire_column *w, struct fr_buf *sql);

/* "[name] type(...)" with the collation's name where the type has one, as INSERT BULK
 * takes it. */
void wire_column_declare(const struct wire_column *w, struct fr_buf *sql);

/* The column's part of COLMETADATA (MS-TDS 2.2.7.4).  table: for text, ntext and image.
 * False: a name that is no UTF-8, or out's maximum. */
bool wire_column_describe(const struct wire_column *w, const char *table,
                          struct fr_buf *out);

/* Has a collation on the wire. */
bool wire_column_is_text(const struct fr_column *c);

/* The forms of NULL and of the lengths; each returns behind what it wrote. */
unsigned char *wire_encode_null(enum wire_form form, unsigned char *out);
unsigned char *wire_encode_short(const unsigned char *p, size_t n, unsigned char *out);
/* What stands in front of the bytes of a PLP or long value, and behind them (may be
 * nothing): at most WIRE_SMALL_BYTES + 16. */
enum { WIRE_HEAD_BYTES = 48 };
unsigned char *wire_encode_head(enum wire_form form, size_t n, unsigned char *out);
unsigned char *wire_encode_tail(enum wire_form form, size_t n, unsigned char *out);

#endif
