/*
 * value.h - TYPE_INFO and the values behind it (MS-TDS 2.2.5.4 to 2.2.5.6), as text.
 *
 * For wire/ only.  Values are read off the reply and added to a buffer in the text form
 * base/sql.h promises.
 */
#ifndef FR_WIRE_VALUE_H
#define FR_WIRE_VALUE_H

#include "base/buf.h"
#include "wire/wire_priv.h"

struct wire_type_rule; /* value.c */

struct wire_type {
    const struct wire_type_rule *rule;
    uint32_t max_bytes;
    uint8_t scale;
    bool is_partial; /* PLP: (max), xml, UDT */
    unsigned char collation[5];
};

enum wire_value_result {
    WIRE_VALUE_OK,
    WIRE_VALUE_NULL,
    WIRE_VALUE_TOO_LARGE, /* read over; out holds a part of it */
    WIRE_VALUE_FAULT      /* w->fault */
};

/* Read a TYPE_INFO.  in_columns: of COLMETADATA, where text types carry a table name. */
bool wire_type_read(struct wire *w, struct wire_type *out, bool in_columns);

/* The five bytes of a type that has a collation, else zeros. */
const unsigned char *wire_type_collation(const struct wire_type *type);

/* Read a value and add its text to out. */
enum wire_value_result wire_value_read(struct wire *w, const struct wire_type *type,
                                       struct fr_buf *out);

/* Read a text of `units` UTF-16 units as UTF-8. */
bool wire_text_read(struct wire *w, size_t units, struct fr_buf *out);

#endif
