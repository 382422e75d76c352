/*
 * layout.h - files whose fields have a layout of their own: fixed widths, bcp format
 * files, native data.
 *
 * A layout says of each field in the file how it is written (text, UTF-16 or a native
 * value), what tells its end (a length in front, a terminator, a fixed size) and which
 * column it goes to.  It is made once per task, then only read.  Sources: SQL Server's
 * documentation of non-XML and XML format files, of prefix lengths, of file storage
 * types, and MS-TDS 2.2.5.5 for the bytes of a value.
 */
#ifndef FR_LOAD_LAYOUT_H
#define FR_LOAD_LAYOUT_H

#include "db/table.h"
#include "load/source.h"
#include "load/split.h"

/* How a value is written in the file. */
enum fr_host_type {
    FR_HOST_CHAR,  /* text in the source's encoding */
    FR_HOST_NCHAR, /* text in UTF-16, little-endian */
    FR_HOST_BINARY,
    FR_HOST_BIT,
    FR_HOST_TINYINT,
    FR_HOST_SMALLINT,
    FR_HOST_INT,
    FR_HOST_BIGINT,
    FR_HOST_REAL,
    FR_HOST_FLOAT,
    FR_HOST_SMALLMONEY,
    FR_HOST_MONEY,
    FR_HOST_DECIMAL,
    FR_HOST_DATE,
    FR_HOST_TIME,
    FR_HOST_DATETIME,
    FR_HOST_SMALLDATETIME,
    FR_HOST_DATETIME2,
    FR_HOST_DATETIMEOFFSET,
    FR_HOST_GUID,
    FR_HOST_VARIANT, /* can only be dropped */
    /* as FreeTDS' freebcp writes them: its own structs */
    FR_HOST_FREETDS_DECIMAL,
    FR_HOST_FREETDS_DATE,
    FR_HOST_FREETDS_TIME,
    FR_HOST_FREETDS_DATETIME2,
    FR_HOST_FREETDS_DATETIMEOFFSET,
    FR_HOST_COUNT
};

struct fr_layout_field {
    enum fr_host_type type;
    uint8_t prefix_bytes;            /* 0, 1, 2, 4, 8: a length in front of the value */
    uint64_t max_bytes;              /* of the value; 0 = the file does not say */
    struct fr_terminator terminator; /* of length 0 = none */
    size_t column;      /* of the table, from 1; 0: the field is read and dropped */
    char *name;         /* owned; of the column, NULL = not said */
    bool blank_is_null; /* nothing but blanks is NULL: fixed text of other columns */
};

struct fr_layout {
    struct fr_layout_field *fields; /* owned */
    size_t count;                   /* 1 .. FR_MAX_FIELDS */
    bool is_lines;   /* fixed widths within lines: a line of another length is one bad
                        row */
    bool by_name;    /* columns by their names, as XML format files have them */
    bool by_table;   /* made from the table: a field for each column */
    bool by_freetds; /* a length of 0 is NULL, one NUL character is '' */
    struct fr_terminator row; /* of lines */
    uint64_t row_bytes;       /* of a line, without it */
    uint64_t max_field_bytes; /* no value is longer */
};

/* The table's column of --load-id-column, which no file has a field for; column_count:
 * there is none. */
size_t fr_layout_load_id_column(const struct fr_load_options *o,
                                const struct fr_table *t);

/* The options say that the file has a layout.  (Then nothing of it is found out by
 * looking at the file.) */
bool fr_layout_is_wanted(const struct fr_load_options *o);
/*
 * FR_EARG: options that do not go together, a format file that is none (file, line, and
 * what was expected), a column that the native format has no form for; FR_EIO: the format
 * file cannot be read.  Columns are not looked up yet.
 */
fr_status fr_layout_new(const struct fr_load_options *o, const struct fr_table *t,
                        struct fr_layout **out, struct fr_err *err);
void fr_layout_free(struct fr_layout **lp);

/* All its fields are text that ends with a terminator: the file is text as any other. */
bool fr_layout_is_text(const struct fr_layout *l);
/* All its fields are text in the source's encoding. */
bool fr_layout_is_char(const struct fr_layout *l);
/* Goes on with hash over everything that decides how bytes become fields. */
uint64_t fr_layout_hash(const struct fr_layout *l, uint64_t hash);

/*
 * The source as the options' layout needs it: with fields that are not text, or of a
 * fixed size, the bytes of the file as they are.  Without a layout, and with one of text
 * that ends with terminators, fr_source_open() does the same.
 */
fr_status fr_layout_open_source(const char *path, const struct fr_load_options *o,
                                const _Atomic int *stop, struct fr_source **out,
                                struct fr_err *err);

/* Bytes of a native value; 0 = it has no fixed size. */
size_t fr_host_bytes(enum fr_host_type type);
/* By the name that format files use (SQLINT, ...); FR_HOST_COUNT: none of them. */
enum fr_host_type fr_host_by_name(const char *name, size_t n);

#endif
