/*
 * sniff.h - how a file is written, found by looking at its beginning (--format auto).
 *
 * The same bytes, options and table give the same answer at every reading: what was found
 * is part of a load's identity.  What the user said is never overruled, and where a guess
 * is not sure the answer is what it was before there was any: fields by tabs.
 * docs/formats.md has the rules.  Reentrant.
 */
#ifndef FR_LOAD_SNIFF_H
#define FR_LOAD_SNIFF_H

#include "db/table.h"
#include "load/encoding.h"
#include "load/options.h"

enum {
    FR_SAMPLE_BYTES = 64 * 1024,
    FR_SNIFFED_OPTION_BYTES = 16,
    FR_SNIFFED_ROW_BYTES = 72,
    FR_SNIFFED_TEXT_BYTES = 400
};

/* Plain data; zeroed: nothing was looked at. */
struct fr_sniffed {
    bool looked; /* false: the options left nothing open */
    enum fr_format format;
    enum fr_header header;
    /* as -t, -r and --quote take them; "" = as given, or the format's own */
    char field[FR_SNIFFED_OPTION_BYTES];
    char row[FR_SNIFFED_OPTION_BYTES];
    char quote[2];
    char encoding[FR_ENCODING_NAME_BYTES]; /* as -C takes it; "" = as given, or UTF-8 */
    bool has_mark;                         /* a byte order mark decided it */
    bool not_utf8;    /* nothing was said of an encoding, and it is not UTF-8 */
    const char *wide; /* nor that, but UTF-16 by its NULs: as -C takes it; NULL = no */
    bool has_quotes;
    bool has_escapes;  /* a \ stands before quotes within quotes, and no --escape is given
                        */
    bool bare_returns; /* outside quotes, where LF ends rows: they are data */
    char quoted_row[FR_SNIFFED_ROW_BYTES]; /* the first, by a reader of rows, that has a
                                              value in quotes where none are known */
    size_t fields;                         /* that most rows have */
};

struct fr_sample {
    const char *p; /* unpacked, in the file's encoding, behind its byte order mark */
    size_t n;
    bool whole; /* the file ends there */
    struct fr_encoding encoding;
};

/* True where --format auto has something to find out. */
bool fr_sniff_is_asked(const struct fr_load_options *o);

/* table NULL: none is known, a header is told by its looks.  FR_ENOMEM; FR_EARG: no way
 * out of the sample's encoding; FR_EDATA: its first line is Excel's sep=, which is no
 * row. */
fr_status fr_sniff(const struct fr_sample *sample, const struct fr_load_options *o,
                   const struct fr_table *table, struct fr_sniffed *out,
                   struct fr_err *err);

/* As above, of a file.  FR_EMPTY: it is none that can be read twice. */
fr_status fr_sniff_file(const char *path, const struct fr_load_options *o,
                        const struct fr_table *table, struct fr_sniffed *out,
                        struct fr_err *err);

/* Put what was found into a copy of the options; texts are borrowed from found, which has
 * to live as long, and are not for fr_load_options_free(). */
void fr_sniffed_settle(const struct fr_sniffed *found, struct fr_load_options *settled);

/* "csv, fields by ",", ..." for people; what the options said included. */
const char *fr_sniffed_text(const struct fr_sniffed *found,
                            const struct fr_load_options *given,
                            char out[FR_SNIFFED_TEXT_BYTES]);
/* The options that say the same: "--format csv -t , --header match". */
const char *fr_sniffed_options(const struct fr_sniffed *found,
                               const struct fr_load_options *given,
                               char out[FR_SNIFFED_TEXT_BYTES]);

#endif
