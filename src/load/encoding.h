/*
 * encoding.h - which encoding a source is in, and text out of it and back.
 *
 * A decoder turns the source's bytes into UTF-8, an encoder gives rejected rows back in
 * the source's encoding.  Neither leaves anything out: what cannot be converted is an
 * error.  A converter is used by one thread; converting takes no memory.
 */
#ifndef FR_LOAD_ENCODING_H
#define FR_LOAD_ENCODING_H

#include "base/err.h"

#include <stddef.h>

enum { FR_ENCODING_NAME_BYTES = 48, FR_MARK_BYTES = 4 };

/* Plain data. */
struct fr_encoding {
    char name[FR_ENCODING_NAME_BYTES]; /* iconv's; "" = UTF-8, nothing to convert */
    char mark[FR_MARK_BYTES];          /* the byte order mark the source begins with */
    size_t mark_bytes;                 /* 0 = it has none */
    /* A byte a character, ASCII among them: rows are split as they lie in the file, and
     * each field is decoded alone. */
    bool by_field;
};

/*
 * From the first bytes of a source (FR_MARK_BYTES of them, or all there are) and the
 * option (NULL = UTF-8): a byte order mark overrules the option; UTF-16 and UTF-32
 * without one are little-endian, as Windows writes them.  FR_EARG: a name that is not one
 * of iconv's, or asks it to leave characters out.
 */
fr_status fr_encoding_choose(const char *first, size_t n, const char *option,
                             struct fr_encoding *out, struct fr_err *err);

/*
 * UTF-16 without a mark, by the NUL bytes of ASCII text in it: "UTF-16LE", "UTF-16BE", or
 * "" where the bytes are not surely that.
 */
const char *fr_encoding_guess(const char *first, size_t n);

/* What each byte of an encoding is, where a byte is a character. */
struct fr_byte_table;

enum { FR_BYTE_TABLE_MOST = 4 /* bytes of UTF-8 for one byte */ };

/* FR_EMPTY: more bytes make one character, or one waits for the next (CP1255, CP1258);
 * FR_EARG: iconv does not know it. */
fr_status fr_byte_table_open(const char *name, struct fr_byte_table **out,
                             struct fr_err *err);
void fr_byte_table_free(struct fr_byte_table **tp);
bool fr_byte_table_has_ascii(const struct fr_byte_table *t);
/* Into UTF-8; out has room for n * FR_BYTE_TABLE_MOST.  Returns the bytes taken, less
 * than n where a byte is no character. */
size_t fr_byte_table_decode(const struct fr_byte_table *t, const char *p, size_t n,
                            char *out, size_t *out_bytes);
/* A text in UTF-8 back, into as much room as it takes itself; false: a character that the
 * encoding does not have. */
bool fr_byte_table_encode(const struct fr_byte_table *t, const char *text, char *out);

struct fr_recoder; /* opaque */

/* Out of the encoding into UTF-8, or back.  The encoding's name is not empty. */
fr_status fr_decoder_open(const struct fr_encoding *e, struct fr_recoder **out,
                          struct fr_err *err);
fr_status fr_encoder_open(const struct fr_encoding *e, struct fr_recoder **out,
                          struct fr_err *err);
void fr_recoder_close(struct fr_recoder **rp);

enum fr_recoded {
    FR_RECODED_ALL,  /* nothing is left in [*in, *in + *n) */
    FR_RECODED_FULL, /* out has no room for the next character */
    FR_RECODED_CUT,  /* what is left is the begin of a character */
    FR_RECODED_BAD   /* what is left begins with bytes that are no character */
};

/* Moves *in, *n behind what was taken and *out, *room behind what was written. */
enum fr_recoded fr_recode(struct fr_recoder *r, const char **in, size_t *n, char **out,
                          size_t *room);
/*
 * A whole text through an encoder, in pieces to put, whose error ends it.  FR_EDATA: it
 * cannot be written in the encoding; err is left to the caller.
 */
typedef fr_status (*fr_encoded_fn)(void *ctx, const char *p, size_t n,
                                   struct fr_err *err);
fr_status fr_encode_text(struct fr_recoder *r, const char *p, size_t n, fr_encoded_fn put,
                         void *ctx, struct fr_err *err);
/* At the end of a text: what was held back (a letter that a mark may follow), and the
 * initial state again. */
enum fr_recoded fr_recode_end(struct fr_recoder *r, char **out, size_t *room);

#endif
