/*
 * value.h - one SQL value with its type.
 *
 * In memory, in SQLite and over the wire a value has one form each:
 *
 *   type                          in memory                   in SQLite
 *   bit..bigint                   i                           INTEGER
 *   smallmoney, money             i, times 10^4               INTEGER
 *   real, float                   f (real already rounded)    REAL
 *   decimal                       dec, at the type's scale    BLOB, 16 bytes big-endian,
 * sign bit flipped date                          i, days since 0001-01-01    INTEGER time
 * i, 100 ns since midnight    INTEGER datetime                      i, 1/300 s since
 * 1900-01-01 INTEGER (may be negative) smalldatetime                 i, minutes since
 * 1900-01-01 INTEGER datetime2                     i, 100 ns since 0001-01-01  INTEGER
 *   datetimeoffset                i = UTC as datetime2, offset_min   BLOB, 8 bytes UTC
 * big-endian + 2 bytes offset char..ntext, xml              s, UTF-8 (WTF-8 for lone
 * surrogates)  TEXT binary, varbinary, image      s, bytes                    BLOB
 *   rowversion                    s, 8 bytes                  BLOB
 *   uniqueidentifier              s, 16 bytes in wire order   BLOB, in SQL Server's sort
 * order
 *
 * char/varchar are kept as UTF-8 too; the column's code page matters at the edge (wire,
 * conversion to binary, length in bytes).  char/nchar/binary values are padded.
 *
 * Ownership: s.p is borrowed unless the value was filled by value_copy() or
 * value_convert(), which allocate with malloc; value_free() releases what is owned.
 */
#ifndef FRD_VALUE_VALUE_H
#define FRD_VALUE_VALUE_H

#include "server/value/sqlerr.h"
#include "server/value/type.h"

#include <sqlite3.h>

__extension__ typedef __int128 frd_int128;

struct value {
    struct sqltype type;
    bool is_null;
    bool owned; /* s.p is malloc'ed and belongs to this value */
    int16_t offset_min;
    union {
        int64_t i;
        double f;
        frd_int128 dec;
        struct {
            const char *p;
            size_t n;
        } s;
    } u;
};

void value_set_null(struct value *v, struct sqltype type);
bool value_copy(struct value *out, const struct value *in, struct sqlerr *e);
void value_free(struct value *v); /* accepts a zeroed value; leaves it zeroed */

/* CAST/CONVERT(type, in, style) with SQL Server's rules and error numbers
   (220, 241, 242, 245, 248, 517, 8114, 8115, 8152/2628 ...).  implicit: refuse what only
   an explicit CAST may do (206, 257).  out owns its bytes. */
bool value_convert(const struct value *in, const struct sqltype *to, int style,
                   bool implicit, struct value *out, struct sqlerr *e);

/* Store into a column or variable: as value_convert; too long for a column = 2628 with
   table.column where `column` is given (silently cut for a variable, column == NULL, as
   SQL Server does). */
bool value_assign(const struct value *in, const struct sqltype *to, const char *column,
                  struct value *out, struct sqlerr *e);

/* SQLite's side.  value_from_sqlite borrows text and blobs from the sqlite3_value (a
   guid's bytes are its own: value_free() it); false: what is stored is not of that type.
 */
bool value_from_sqlite(sqlite3_value *sv, const struct sqltype *type, struct value *out);
int value_bind(sqlite3_stmt *st, int index, const struct value *v);
void value_result(sqlite3_context *ctx, const struct value *v);

/* -1, 0, 1; both not NULL and of one type; strings: collation, trailing blanks ignored.
 */
int value_compare(const struct value *a, const struct value *b);

#endif
