/* sniff_priv.h - what the parts of sniffing share, for load/ only. */
#ifndef FR_LOAD_SNIFF_PRIV_H
#define FR_LOAD_SNIFF_PRIV_H

#include "load/sniff.h"
#include "load/split.h"

/* Characters that may be quotes: the one that is meant ("), and an apostrophe. */
enum { QUOTE_MEANT, QUOTE_APOSTROPHE, QUOTES };

/* One way to read the sample: what is tried, and what came of it. */
struct look {
    enum fr_format format;
    char field[FR_SNIFFED_OPTION_BYTES]; /* "" = as given */
    char row[FR_SNIFFED_OPTION_BYTES];
    char quote[2];
    bool escaped;        /* with a \ as the escape, which is not given */
    char delimiter;      /* the first byte of the field terminator */
    size_t rows;         /* that are not blank */
    size_t fields;       /* of most rows */
    size_t with_fields;  /* rows that have so many */
    size_t bad_rows;     /* that cannot be split */
    bool open;           /* most of the sample is in quotes that do not end there */
    bool trailing;       /* the last field of every row is empty */
    bool needs_quotes;   /* a quoted field would be another without them */
    bool all_quoted;     /* every value of a column is */
    bool quotes_enclose; /* quotes are there to enclose, in clearly most places */
    bool has_quotes;
    bool names; /* the first row has column names, and nothing else */
    bool fits;  /* rows go into the table */
    /* rows with quotes at both ends of values, and rows with one at one end only */
    size_t whole[QUOTES], torn[QUOTES];
};

struct sniffer {
    const struct fr_load_options *o;
    const struct fr_table *table; /* NULL = none */
    const char *p;                /* decoded sample */
    size_t n;
    bool whole;
    bool by_field; /* terminators are bytes of the file's encoding, not of the sample */
    struct fr_field *fields; /* FR_MAX_FIELDS */
    struct column_look *columns;
    uint32_t *counts; /* rows by their number of fields */
    size_t used;      /* of columns and counts: the highest that is not 0 */
};

/* sniff_look.c: read the sample that way.  False: it cannot be read so. */
bool sniff_look(struct sniffer *s, struct look *l);
/* Values have quotes at both ends, or at none, in clearly most rows. */
bool sniff_is_clean(const struct look *l, size_t quote);
/* sniff_header.c: the first row has names of columns alone. */
bool sniff_is_header(const struct sniffer *s, const struct fr_splitter *split,
                     const struct fr_record *rec);
/* A row of n fields fits into the table, or --columns. */
bool sniff_takes(const struct sniffer *s, size_t n);
/* It fits by position, and no field is dropped in favour of what the server makes. */
bool sniff_loads_all(const struct sniffer *s, size_t n);
fr_status sniff_reserve(struct sniffer *s, struct fr_err *err);
void sniff_release(struct sniffer *s);

/* The sample as UTF-8 into s; *copy is the caller's to free. */
fr_status sniff_decode(const struct fr_sample *sample, struct sniffer *s, char **copy,
                       struct fr_err *err);

/* sniff_bytes.c: what the bytes tell before any row is looked for. */
bool sniff_is_utf8(const char *p, size_t n, bool whole);
/* "UTF-16", as -C takes it, or NULL. */
const char *sniff_wide(const char *p, size_t n);
/* Carriage returns outside quotes, and how they stand to the LFs there. */
enum returns { RETURNS_NONE, RETURNS_ARE_DATA, RETURNS_END_ROWS };
enum returns sniff_returns(const struct sniffer *s);
/* Excel's first line that names the delimiter. */
bool sniff_has_separator_line(const struct sniffer *s, char *delimiter);

/* A word that may be the name of a column: no number, no date. */
bool fr_sniff_looks_like_name(const char *p, size_t n);

#endif
