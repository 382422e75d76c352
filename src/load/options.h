/*
 * options.h - everything a load can be told, as plain data.
 *
 * config/ fills it from argv, environment and file; the queue carries it as JSON under
 * the same names.  Texts are owned by the struct: fr_load_options_free().
 */
#ifndef FR_LOAD_OPTIONS_H
#define FR_LOAD_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is kept: a load's plan hash has the number. */
enum fr_format {
    FR_FORMAT_AUTO,
    FR_FORMAT_CSV,
    FR_FORMAT_DELIMITED,
    FR_FORMAT_BCP,
    FR_FORMAT_FIXED,
    FR_FORMAT_NATIVE
};
/* Unset: found with --format auto, else none. */
enum fr_header { FR_HEADER_UNSET = -1, FR_HEADER_NONE, FR_HEADER_SKIP, FR_HEADER_MATCH };
enum fr_empty { FR_EMPTY_AUTO, FR_EMPTY_NULL, FR_EMPTY_EMPTY };
/* Unset keeps them where the library does; keep insists. */
enum fr_blanks { FR_BLANKS_UNSET = -1, FR_BLANKS_KEEP, FR_BLANKS_TRIM, FR_BLANKS_ERROR };
enum fr_engine_choice { FR_ENGINE_AUTO, FR_ENGINE_BCP, FR_ENGINE_WIRE };

/* What wrote a native file: Microsoft's bcp, or FreeTDS' freebcp with its own structs. */
enum fr_writer { FR_WRITER_BCP, FR_WRITER_FREEBCP };

enum { FR_BATCH_ROWS_AUTO = -1 };

/* A list of texts, in the order given. */
struct fr_text_list {
    char **items; /* owned, and each owned */
    size_t count;
};

struct fr_load_options {
    int64_t format;         /* enum fr_format */
    char *field_terminator; /* as given: C escapes, 0x.. ; NULL = the format's default */
    char *row_terminator;   /* as given; NULL or "auto" = LF or CRLF */
    char *quote;            /* one byte; NULL = '"' */
    char
        *escape; /* one byte, in front of a quote inside quotes; NULL = the quote twice */
    int64_t header;            /* enum fr_header */
    char *columns;             /* a,b,-,c; NULL = by position */
    char *widths;              /* 3,10,...: of a fixed file's fields, in bytes */
    char *format_file;         /* path of a bcp format file, text or XML */
    bool unicode_native;       /* a native file written by bcp -N */
    int64_t native_writer;     /* enum fr_writer */
    struct fr_text_list nulls; /* --null */
    int64_t empty;             /* enum fr_empty */
    bool keep_nulls;
    bool keep_identity;
    bool no_check;
    bool trim;
    char *encoding;                   /* NULL = UTF-8 */
    struct fr_text_list date_formats; /* COLUMN=FORMAT */
    char *decimal;                    /* one byte; NULL = '.' */
    int64_t first_row;                /* from 1 */
    int64_t last_row;                 /* 0 = to the end */
    int64_t batch_rows; /* FR_BATCH_ROWS_AUTO, 0 = the whole task in one transaction */
    int64_t max_errors;
    char *error_file;
    char *reject_table;   /* NULL = none */
    char *load_id_column; /* gets the load id; NULL = none */
    char *hint;           /* NULL or "auto", "none", or hints as INSERT BULK has them */
    int64_t trailing_blanks; /* enum fr_blanks */
    int64_t engine;          /* enum fr_engine_choice */
    int64_t ledger_choice;   /* 0 = on, 1 = off */
    char *ledger_table;      /* SCHEMA.TABLE; NULL = dbo.fullrack_ledger */
    bool truncate;           /* empty the table before its first row */
    bool stage;              /* load beside the table, bring all of it in at the end */
    char *stage_group;       /* GUID of the tasks that are brought in together */
    int64_t stage_tasks;     /* how many they are */
    bool stage_partitions;   /* each file is one partition of the table, in their order */
    int64_t stage_partition; /* of one task: that number; 0 = none */
    char *range_mark; /* of a range: the file as it was when it was cut; NULL = whole */
    uint64_t max_field_bytes;
    bool server_side;      /* the server reads the file: bulk_insert.h */
    char *server_path;     /* the folder where it lies there; NULL = the same path */
    int64_t rows_expected; /* -1 = not said */
};

void fr_load_options_init(struct fr_load_options *o); /* the defaults */
void fr_load_options_free(struct fr_load_options *o); /* frees the texts, sets defaults */

/* True where both mean the same to the server: its hints, rights, batches, ledger, and
 * the columns.  What they say of the files may differ. */
bool fr_load_options_cost_same(const struct fr_load_options *a,
                               const struct fr_load_options *b);

/* FR_EARG: keeping trailing blanks was asked for, but the library, named for the message,
 * cuts them off (FREETDS trap 5). */
fr_status fr_load_options_check_blanks(const struct fr_load_options *o,
                                       const char *library, bool trims,
                                       struct fr_err *err);

#endif
