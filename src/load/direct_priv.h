/* direct_priv.h - the common forms of values, parsed and written; for load/ only. */
#ifndef FR_LOAD_DIRECT_PRIV_H
#define FR_LOAD_DIRECT_PRIV_H

#include "load/calendar.h"
#include "load/direct.h"

enum {
    DIRECT_MAX_DIGITS = 16, /* of a number of the common form */
    DIRECT_MAX_SCALE = 8
};

/* What the common form of a column's values is. */
enum direct_kind {
    DIRECT_NONE, /* there is none: always by the converter */
    DIRECT_INTEGER,
    DIRECT_DECIMAL,
    DIRECT_DATE,
    DIRECT_DATETIME,
    DIRECT_DATETIME2,
    DIRECT_CHAR,
    DIRECT_NCHAR,
    DIRECT_GUID /* the same in all rows, and of no field */
};

struct direct_column {
    enum direct_kind kind;
    uint32_t max_bytes; /* of text */
    size_t field;       /* of the row */
    uint8_t size;       /* of integers */
    uint8_t precision;  /* of decimals */
    uint8_t scale;      /* of decimals and times */
    char decimal;       /* the sign between */
    uint64_t limit;     /* of decimals: 10^precision; of integers: their largest value */
    uint64_t whole_limit; /* of decimals: 10^(precision - scale) */
    uint64_t unit;        /* of decimals: 10^scale */
    /* of decimals with a point: where each of 16 characters, the last of them the
     * number's last, comes from when the point is taken out */
    unsigned char without_point[16];
    const unsigned char *guid;          /* of DIRECT_GUID: into fr_direct */
    const struct fr_calendar *calendar; /* of dates; borrowed, as the converter */
    const struct fr_converter *converter;
    size_t index; /* of the column in the table */
    bool takes_null;
    bool null_is_short;
    bool is_text;
    bool empty_is_text; /* an unquoted empty field is '' */
    bool quoted_empty_is_text;
};

struct direct_level;

struct fr_direct {
    const struct direct_level *level;
    struct direct_column *columns; /* owned; in the order of the stream */
    size_t count;
    size_t field_count; /* of a row, dropped ones too */
    size_t max_field_bytes;
    const struct fr_text_list *nulls; /* borrowed */
    bool trims;
    bool is_utf8;
    bool into_cells;
    char quote;
    unsigned char guid[FR_GUID_BYTES];
    struct fr_calendar calendar;
    char *scratch; /* owned: a value without its doubled quotes; slack on both sides */
};

/* A value on its way. */
struct direct_text {
    const char *p; /* without the outer quotes */
    size_t n;
    bool quoted;
    bool is_raw;  /* quotes inside are doubled */
    bool is_null; /* by an option */
};

/* For one level of the processor. */
struct direct_level {
    /* Write the value at out, as the stream has it; returns behind it, or NULL: not of
     * the common form, which nothing (n = 0) is never.  Up to FR_BULK_SLACK_BYTES more
     * may be written. */
    unsigned char *(*put)(const struct direct_column *c, const char *p, size_t n,
                          unsigned char *out);
    /* The same into a cell. */
    bool (*set)(const struct direct_column *c, const char *p, size_t n,
                struct fr_cell *cell);
    /* Up to `rows` rows of the index, without options that look at every value; *to: the
     * message, with room for them. */
    fr_status (*run)(const struct fr_direct *d, struct fr_index *ix, struct fr_bulk *bulk,
                     struct fr_direct_run *run, size_t rows, unsigned char **to,
                     struct fr_err *err);
    /* Copy a text all of whose quotes are doubled without the second of each pair; its
     * length then.  Up to FR_WINDOW_SLACK_BYTES more may be read and written. */
    size_t (*unquote)(const char *p, size_t n, char quote, char *out, bool *is_ascii);
};

extern const uint64_t direct_tens[DIRECT_MAX_DIGITS + 1]; /* 10^i */
extern const struct direct_level direct_plain;
extern const struct direct_level direct_avx2;
extern const struct direct_level direct_avx512;

/* A value that is not of the common form, or nothing, or NULL.  NULL (false): refused, or
 * too long for its cell. */
unsigned char *direct_put_otherwise(const struct fr_direct *d,
                                    const struct direct_column *c, struct direct_text t,
                                    struct fr_bulk *bulk, unsigned char *at);
bool direct_set_otherwise(const struct fr_direct *d, const struct direct_column *c,
                          struct direct_text t, struct fr_bulk *bulk);
/* Undo doubled quotes, where there are any, into the scratch.  False: the value is too
 * long for it. */
bool direct_unquote(const struct fr_direct *d, const char **p, size_t *n);

#endif
