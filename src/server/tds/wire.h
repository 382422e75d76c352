/*
 * wire.h - types and values as TDS writes them (MS-TDS 2.2.5.4, 2.2.5.5).
 *
 * A struct wire_type is a TYPE_INFO: the token, how lengths are written, and the SQL
 * type. Reading never trusts a length: it is checked against the type and the limits
 * below before anything is allocated.  Any thread; a buffer by one at a time.
 */
#ifndef FRD_TDS_WIRE_H
#define FRD_TDS_WIRE_H

#include "base/buf.h"
#include "server/tds/packet.h"
#include "server/value/value.h"

enum {
    WIRE_MAX_VALUE_BYTES = 256 * 1024 * 1024, /* of one value as sent */
    WIRE_MAX_COLUMNS = 4096,
    TDS_7_2 = 0x72090002,
    TDS_7_3A = 0x730A0003,
    TDS_7_3 = 0x730B0003,
    TDS_7_4 = 0x74000004,
};

enum wire_length {
    WIRE_FIXED,  /* no length */
    WIRE_BYTE,   /* one byte, 0 = NULL */
    WIRE_USHORT, /* two bytes, 0xFFFF = NULL */
    WIRE_LONG,   /* four bytes, -1 = NULL; text pointers where rows travel */
    WIRE_PLP,    /* eight bytes and chunks */
    WIRE_VARIANT /* four bytes, 0 = NULL, the only value here */
};

struct wire_type {
    struct sqltype type;
    uint8_t token;
    enum wire_length length;
    uint32_t max; /* longest value in bytes, as declared */
};

/* The TYPE_INFO for a column of that type, as the client's TDS version knows it:
   before 7.3 the newer dates travel as nvarchar. */
void wire_type_for(const struct sqltype *type, bool nullable, uint32_t tds_version,
                   struct wire_type *out);
bool wire_write_type(struct tds_writer *w, const struct wire_type *wt);

enum wire_result {
    WIRE_OK,
    WIRE_BAD_TYPE,   /* unknown or impossible TYPE_INFO: what follows cannot be read */
    WIRE_BAD_LENGTH, /* the value's length does not fit its type; it was skipped */
    WIRE_BAD_VALUE,  /* the bytes are no value of the type */
    WIRE_TOO_LARGE,  /* over WIRE_MAX_VALUE_BYTES, skipped; or out of memory */
    WIRE_BROKEN      /* the message ended, or the connection */
};

/* Values of char and binary types come as varchar and varbinary: padding is the target's.
 */
enum wire_result wire_read_type(struct tds_reader *r, struct wire_type *out);

struct wire_input {
    struct tds_reader *r;
    bool text_pointers; /* rows of a bulk load: text, ntext and image carry a pointer */
    struct fr_buf raw;  /* working space */
};
void wire_input_init(struct wire_input *in, struct tds_reader *r, bool text_pointers);
void wire_input_free(struct wire_input *in);
/* out's bytes live in hold until it is reused. */
enum wire_result wire_read_value(struct wire_input *in, const struct wire_type *wt,
                                 struct fr_buf *hold, struct value *out);

/* The bytes of a value that is no text, binary or guid: of n, its length as sent, only
 * those that the type allows; out's type stays.  For who has them at hand. */
bool wire_scalar_length_ok(const struct wire_type *wt, size_t n);
bool wire_take_scalar(const struct wire_type *wt, const unsigned char *p, size_t n,
                      struct value *out);

struct wire_output {
    struct tds_writer *w;
    bool text_pointers;
    struct fr_buf text; /* working space */
};
void wire_output_init(struct wire_output *out, struct tds_writer *w);
void wire_output_free(struct wire_output *out);
bool wire_write_value(struct wire_output *out, const struct wire_type *wt,
                      const struct value *v);

#endif
