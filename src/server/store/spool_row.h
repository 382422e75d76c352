/*
 * spool_row.h - the bytes of a row that is set aside.
 *
 *   u32 length of what follows, NULL bitmap (column i: bit i % 8 of byte i / 8), and the
 *   cells that are not NULL, one behind the other, each in its column's form.
 *
 * Numbers are little-endian.  Written by the spool, and by who has a row in another form
 * at hand and need not take it apart into values first (tds/direct.c).
 */
#ifndef FRD_STORE_SPOOL_ROW_H
#define FRD_STORE_SPOOL_ROW_H

#include "server/value/value.h"

#include <endian.h>
#include <string.h>

enum spool_form {
    SPOOL_WORD1, /* bit, tinyint */
    SPOOL_WORD2,
    SPOOL_WORD4,
    SPOOL_WORD8, /* a float's bits too */
    SPOOL_DECIMAL8,
    SPOOL_DECIMAL16,
    SPOOL_OFFSET, /* datetimeoffset: UTC, minutes */
    SPOOL_BYTES2, /* text, binary, guid: u16 length and the bytes */
    SPOOL_BYTES4  /* the same, u32 length */
};

enum {
    SPOOL_LENGTH_BYTES = 4,
    SPOOL_CELL_BYTES = 16, /* of a cell at most, a text's own bytes not counted */
    SPOOL_SLACK_BYTES = 8, /* behind a row that is written: cells are stored as words */
    SPOOL_DECIMAL8_DIGITS = 18
};

/*
 * The form of a column.  packed: as short as the type allows, for values that fit their
 * type, which all that come from columns do; else the widest one of its kind.
 */
enum spool_form spool_form_of(const struct sqltype *t, bool packed);

/* What a cell takes, a text's own bytes not counted. */
static inline size_t spool_form_bytes(enum spool_form form)
{
    static const unsigned char bytes[] = {
        [SPOOL_WORD1] = 1,   [SPOOL_WORD2] = 2,    [SPOOL_WORD4] = 4,
        [SPOOL_WORD8] = 8,   [SPOOL_DECIMAL8] = 8, [SPOOL_DECIMAL16] = 16,
        [SPOOL_OFFSET] = 10, [SPOOL_BYTES2] = 2,   [SPOOL_BYTES4] = 4,
    };

    return bytes[form];
}

static inline size_t spool_map_bytes(size_t columns)
{
    return (columns + 7) / 8;
}

/*
 * Each puts one cell at p and returns where the next one begins; up to SPOOL_SLACK_BYTES
 * behind that are written over.
 */
static inline char *spool_put_word(char *p, enum spool_form form, int64_t v)
{
    uint64_t u = htole64((uint64_t)v);

    memcpy(p, &u, sizeof(u));
    return p + spool_form_bytes(form);
}

static inline char *spool_put_decimal(char *p, enum spool_form form, frd_int128 v)
{
    p = spool_put_word(p, SPOOL_WORD8, (int64_t)v);
    return form == SPOOL_DECIMAL8 ? p
                                  : spool_put_word(p, SPOOL_WORD8, (int64_t)(v >> 64));
}

/* The length in front of a text, which may stand there already. */
static inline char *spool_put_length(char *p, enum spool_form form, size_t n)
{
    uint32_t u32 = htole32((uint32_t)n);
    uint16_t u16 = htole16((uint16_t)n);

    if (form == SPOOL_BYTES4)
        memcpy(p, &u32, sizeof(u32));
    else
        memcpy(p, &u16, sizeof(u16));
    return p + spool_form_bytes(form);
}

char *spool_put_cell(char *p, enum spool_form form, const struct value *v);

/* Where the row's first cell goes; nulls: its bitmap as it will be. */
static inline char *spool_row_begin(char *row, const unsigned char *nulls, size_t map)
{
    memcpy(row + SPOOL_LENGTH_BYTES, nulls, map);
    return row + SPOOL_LENGTH_BYTES + map;
}

static inline void spool_row_end(char *row, const char *end)
{
    uint32_t n = htole32((uint32_t)(end - row - SPOOL_LENGTH_BYTES));

    memcpy(row, &n, sizeof(n));
}

#endif
