/*
 * bulk.h - a bulk engine: what carries converted rows to the server.
 *
 * db/ implements it over db-lib's bcp calls.  A bulk copy belongs to an SQL session
 * (base/sql.h) and to its thread.  The caller converts a row *whole* into the engine's
 * cells, then sends it; a failure while sending means that the stream is broken: drop the
 * connection.
 *
 * A cell is the engine's memory for one column: a signed 32-bit length in front
 * (FR_CELL_NULL, or bytes of a variable-length value, or the size of a fixed one), then
 * the value in the host form of its type.  Cells of variable length grow with
 * fr_bulk_ops.grow.
 */
#ifndef FR_BASE_BULK_H
#define FR_BASE_BULK_H

#include "base/err.h"
#include "base/sql.h"

#include <stddef.h>

/* SQL types by what a bulk copy must know of them. */
enum fr_type {
    FR_TYPE_BIT,
    FR_TYPE_TINYINT,
    FR_TYPE_SMALLINT,
    FR_TYPE_INT,
    FR_TYPE_BIGINT,
    FR_TYPE_REAL,
    FR_TYPE_FLOAT,
    FR_TYPE_SMALLMONEY,
    FR_TYPE_MONEY,
    FR_TYPE_DECIMAL,
    FR_TYPE_DATE,
    FR_TYPE_TIME,
    FR_TYPE_DATETIME,
    FR_TYPE_SMALLDATETIME,
    FR_TYPE_DATETIME2,
    FR_TYPE_DATETIMEOFFSET,
    FR_TYPE_CHAR,
    FR_TYPE_VARCHAR,
    FR_TYPE_TEXT,
    FR_TYPE_NCHAR,
    FR_TYPE_NVARCHAR,
    FR_TYPE_NTEXT,
    FR_TYPE_BINARY,
    FR_TYPE_VARBINARY,
    FR_TYPE_IMAGE,
    FR_TYPE_GUID,
    FR_TYPE_XML,         /* text, which the server parses */
    FR_TYPE_CLR,         /* hierarchyid, geometry, geography: their serialised bytes */
    FR_TYPE_UNSUPPORTED, /* sql_variant, ... : refused by name */
    FR_TYPE_COUNT
};

/*
 * Host forms:
 *   bit, tinyint uint8_t; smallint int16_t; int int32_t; bigint int64_t; real float;
 * float double smallmoney int32_t and money int64_t, both times 10^4 decimal struct
 * fr_decimal; date, time, datetime2, datetimeoffset struct fr_datetime datetime struct
 * fr_datetime_old; smalldatetime struct fr_smalldatetime char, varchar, text: bytes in
 * the column's code page; nchar, nvarchar, ntext, xml: UTF-16LE binary and CLR types:
 * bytes;
 * uniqueidentifier: 16 bytes in wire order
 */
struct fr_decimal {
    uint8_t precision;
    uint8_t scale;
    uint8_t negative;
    uint8_t magnitude[16]; /* little-endian, at the column's scale */
};
struct fr_datetime {
    uint64_t time_100ns; /* since midnight, rounded to the column's scale */
    int32_t days;        /* since 1900-01-01 */
    int16_t offset_min;
    uint8_t scale;
};
struct fr_datetime_old {
    int32_t days;     /* since 1900-01-01 */
    int32_t ticks300; /* 1/300 s since midnight */
};
struct fr_smalldatetime {
    uint16_t days;    /* since 1900-01-01 */
    uint16_t minutes; /* since midnight */
};

/* Columns that are more than their type. */
enum fr_column_kind {
    FR_COLUMN_PLAIN,
    FR_COLUMN_ENCRYPTED, /* Always Encrypted */
    FR_COLUMN_GENERATED, /* GENERATED ALWAYS: period and ledger columns */
    FR_COLUMN_SET        /* XML COLUMN_SET FOR ALL_SPARSE_COLUMNS */
};

struct fr_column {
    char *name;      /* owned by the table description */
    char *type_name; /* as the server calls it, for messages */
    enum fr_type type;
    enum fr_column_kind kind;
    int32_t column_id;
    int32_t max_bytes; /* sys.columns.max_length; -1 = (max) */
    uint8_t precision;
    uint8_t scale;
    int32_t code_page; /* of char types; 0 = unknown */
    char *collation;   /* its name; NULL = none, or unknown; owned as name is */
    bool nullable;
    bool identity;
    bool computed; /* computed and rowversion: the server makes the value */
    bool has_default;
};

/* Slack: so much may be written behind a value, in a cell or in the message, by those who
 * copy more than they need because it is quicker. */
enum { FR_CELL_NULL = -1, FR_BULK_SLACK_BYTES = 64, FR_LONG_PIECE_BYTES = 64 << 10 };

/* A value that is made while it is sent.  It was looked at before and cannot fail. */
struct fr_long_value {
    /* Its next bytes, at most FR_LONG_PIECE_BYTES, to out, where there is slack, too; how
     * many. */
    size_t (*next)(struct fr_long_value *v, unsigned char *out);
};

struct fr_cell {
    int32_t *length; /* FR_CELL_NULL or bytes */
    unsigned char
        *data; /* behind it; NULL while the column takes no value from the file */
    size_t capacity_bytes;        /* FR_BULK_SLACK_BYTES more are there */
    struct fr_long_value *pieces; /* NULL: the value is in data; else it is *length bytes
                                     that come from there.  Borrowed until it is sent; of
                                     engines with FR_BULK_LONG_VALUES */
};

struct fr_bulk_options {
    bool keep_identity;
    bool keep_nulls;
    bool check_constraints;
    bool fire_triggers;
    bool tablock;
    int64_t rows_per_batch;      /* 0 = not said */
    int64_t kilobytes_per_batch; /* 0 = not said */
    const char *order;           /* columns of ORDER, quoted; NULL = not said; borrowed */
};

struct fr_bulk; /* one bulk copy under way: the implementation's struct starts with it */

struct fr_bulk_ops {
    /* Grow cell `column` (index into the columns given at begin) to hold `bytes`; the
     * cells may move. */
    fr_status (*grow)(struct fr_bulk *b, size_t column, size_t bytes, struct fr_err *err);
    /* Send the row in the cells. */
    fr_status (*send)(struct fr_bulk *b, struct fr_err *err);
    /*
     * For rows written right into the message, where fr_bulk.direct_bytes is not 0.
     * room: *bytes of memory, at least direct_bytes, in which rows may be written as the
     * stream has them, direct_mark in front of each; asked for and written again where a
     * row is given up.  encode: write the value in a cell at `at`; returns behind it.
     * commit: whole rows end at `end`.
     */
    fr_status (*room)(struct fr_bulk *b, unsigned char **at, size_t *bytes,
                      struct fr_err *err);
    unsigned char *(*encode)(const struct fr_bulk *b, size_t column, unsigned char *at);
    void (*commit)(struct fr_bulk *b, const unsigned char *end);
    /* End the stream; *rows: what the server says it copied.  Frees b in every case. */
    fr_status (*finish)(struct fr_bulk *b, int64_t *rows, struct fr_err *err);
    /* Nanoseconds that sending waited for the connection so far; NULL: the engine cannot
     * tell. */
    uint64_t (*waited_ns)(const struct fr_bulk *b);
    /* Give up: frees b; the session is lost afterwards when rows were under way. */
    void (*abandon)(struct fr_bulk *b);
};

struct fr_bulk {
    const struct fr_bulk_ops *ops;
    struct fr_cell *cells; /* one per column of the table, in column_id order */
    size_t columns;
    uint64_t bytes_sent;       /* payload bytes handed to the engine */
    size_t direct_bytes;       /* most that a row takes, and FR_BULK_SLACK_BYTES; 0 = rows
                                  go by their cells only */
    unsigned char direct_mark; /* what a row begins with */
};

struct fr_bulk_target {
    const char *table; /* quoted, [schema].[name] */
    const struct fr_column *columns;
    size_t column_count;
    const bool *is_sent; /* per column: the file gives it a value */
    bool is_stage;       /* the table lacks computed and identity columns */
    struct fr_bulk_options options;
};

/* What not every engine can. */
enum fr_bulk_ability {
    FR_BULK_ALL_HINTS = 1,     /* in any combination, with their arguments */
    FR_BULK_NULL_DEFAULTS = 2, /* a NULL lets a NOT NULL column take its default */
    FR_BULK_XML_CLR = 4,       /* carries xml and CLR types */
    FR_BULK_LONG_VALUES = 8    /* takes fr_cell.pieces */
};

/* Implemented by an engine; name: "bcp" or "wire", as results show it. */
struct fr_bulk_engine {
    const char *name;
    unsigned abilities; /* enum fr_bulk_ability */
    /* FR_EARG names the first column that keeps the engine from loading the table,
     * whether or not the file has a value for it. */
    fr_status (*check)(const struct fr_column *columns, size_t count, struct fr_err *err);
    fr_status (*begin)(struct fr_sql *s, const struct fr_bulk_target *target,
                       struct fr_bulk **out, struct fr_err *err);
};

#endif
