/*
 * convert.h - from the bytes of a field to the host form of a column's type, exactly or
 * not at all.
 *
 * One table row per SQL type (convert.c) carries the function; a converter adds what the
 * column says (length, precision, scale, code page) and what the options say (decimal
 * sign, date format).  What does not fit exactly is refused with a reason; only what
 * docs/types.md lists is rounded.
 *
 * A converter is made once per column and task, then used by one thread.  Converting
 * takes no memory.
 */
#ifndef FR_LOAD_CONVERT_H
#define FR_LOAD_CONVERT_H

#include "base/bulk.h"
#include "load/options.h"

#include <locale.h>

enum fr_conversion {
    FR_CONVERTED,
    FR_REFUSED,   /* reason->text says why */
    FR_NEEDS_ROOM /* grow the cell to reason->need_bytes and call again */
};

enum { FR_REASON_BYTES = 200, FR_DATE_FORMAT_MAX_STEPS = 32 };

struct fr_reason {
    char text[FR_REASON_BYTES]; /* without the value: "is not a number" */
    size_t need_bytes;
};

/* A --date-format, checked and cut into steps when the plan is made. */
struct fr_date_step {
    char letter; /* of strptime, or 0: match `literal` */
    char literal;
    bool is_full; /* a digit stands beside it: no leading zero may be left out */
};
struct fr_date_format {
    struct fr_date_step steps[FR_DATE_FORMAT_MAX_STEPS];
    size_t count;
    bool has_date;
    bool has_time;
};

struct fr_code_page; /* from Unicode to the bytes of a code page */

struct fr_converter;
typedef enum fr_conversion (*fr_convert_fn)(const struct fr_converter *c, const char *p,
                                            size_t n, struct fr_cell *cell,
                                            struct fr_reason *reason);

struct fr_converter {
    fr_convert_fn convert;
    const struct fr_column *column; /* borrowed */
    bool is_text; /* char family: an empty value is '' rather than NULL */
    char decimal;
    enum fr_blanks trailing_blanks;
    struct fr_date_format *format; /* owned, NULL = ISO */
    struct fr_code_page *page;     /* owned, NULL = UTF-8 or not needed */
    locale_t c_locale; /* owned, of float types: "C", whatever the process runs in */
};

/* FR_EARG: a date format that does not fit the type; FR_EDATA: a type without a
 * converter. */
fr_status fr_converter_init(struct fr_converter *c, const struct fr_column *column,
                            const struct fr_load_options *o, struct fr_err *err);
void fr_converter_free(struct fr_converter *c);

/* The functions of the table, by family. */
enum fr_conversion fr_convert_bit(const struct fr_converter *c, const char *p, size_t n,
                                  struct fr_cell *cell, struct fr_reason *reason);
enum fr_conversion fr_convert_integer(const struct fr_converter *c, const char *p,
                                      size_t n, struct fr_cell *cell,
                                      struct fr_reason *reason);
enum fr_conversion fr_convert_float(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason);
enum fr_conversion fr_convert_decimal(const struct fr_converter *c, const char *p,
                                      size_t n, struct fr_cell *cell,
                                      struct fr_reason *reason);
enum fr_conversion fr_convert_money(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason);
enum fr_conversion fr_convert_date(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason);
enum fr_conversion fr_convert_char(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason);
enum fr_conversion fr_convert_nchar(const struct fr_converter *c, const char *p, size_t n,
                                    struct fr_cell *cell, struct fr_reason *reason);
enum fr_conversion fr_convert_binary(const struct fr_converter *c, const char *p,
                                     size_t n, struct fr_cell *cell,
                                     struct fr_reason *reason);
enum fr_conversion fr_convert_guid(const struct fr_converter *c, const char *p, size_t n,
                                   struct fr_cell *cell, struct fr_reason *reason);

/* Shared by the families. */
enum fr_conversion fr_refuse(struct fr_reason *reason, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* `at`: of the first malformed byte, from 0. */
enum fr_conversion fr_refuse_utf8(struct fr_reason *reason, size_t at);
/* Blanks (space, tab, CR, LF) around a number or date, which the server accepts too, cut
 * off. */
void fr_trim_blanks(const char **p, size_t *n);
/* Write a fixed-size host form into the cell. */
void fr_cell_set(struct fr_cell *cell, const void *value, size_t bytes);

/* One COLUMN=FORMAT of --date-format, checked against the column's type.  FR_EARG says
 * what is wrong. */
fr_status fr_date_format_parse(const char *item, const struct fr_column *column,
                               struct fr_date_format *out, struct fr_err *err);
/* FR_EDATA: a page this system's iconv does not know.  Page 0, not known: ASCII only. */
fr_status fr_code_page_open(int32_t code_page, struct fr_code_page **out,
                            struct fr_err *err);
void fr_code_page_close(struct fr_code_page **pp);
/* Well-formed UTF-8 into the page; the cell has room for n bytes. */
enum fr_conversion fr_code_page_encode(const struct fr_code_page *page,
                                       const unsigned char *p, size_t n,
                                       struct fr_cell *cell, struct fr_reason *reason);

#endif
