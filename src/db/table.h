/*
 * table.h - a target table as the server describes it, and T-SQL names.
 *
 * Plain data once made; read-only afterwards, any thread.
 */
#ifndef FR_DB_TABLE_H
#define FR_DB_TABLE_H

#include "base/bulk.h"
#include "base/sql.h"

enum { FR_NAME_MAX_BYTES = 128 * 4 + 1 };

/* A T-SQL name of one to three parts, quoting resolved; absent parts are "". */
struct fr_table_name {
    char database[FR_NAME_MAX_BYTES];
    char schema[FR_NAME_MAX_BYTES];
    char table[FR_NAME_MAX_BYTES];
};

/* FR_EARG: not a name (too many parts, unclosed bracket, empty). */
fr_status fr_table_name_parse(const char *text, struct fr_table_name *out,
                              struct fr_err *err);
/* [name] with ] doubled; false when it does not fit. */
bool fr_name_quote(const char *name, char *out, size_t out_bytes);

struct fr_table {
    char *quoted;  /* [schema].[name], owned */
    char *display; /* schema.name, owned */
    int32_t object_id;
    char create_date[32];      /* YYYY-MM-DD HH:MM:SS.fff */
    struct fr_column *columns; /* owned, by column_id */
    size_t column_count;
    int64_t constraints_enabled; /* CHECK and foreign keys */
    int64_t triggers_enabled;    /* on INSERT */
    int64_t index_count;
    int64_t columnstore_count;
    bool is_clustered; /* its rows lie in an index, other than a columnstore */
    bool is_memory_optimized;
    bool is_stage; /* columns to which the server gives the values are described, but not
                      there */
};

/*
 * Describe `name` (as the user wrote it).  FR_EDATA: no such table, or none that can be
 * loaded; FR_EARG: not a name, or of another database than the session's.
 */
fr_status fr_table_describe(struct fr_sql *s, const char *name, struct fr_table **out,
                            struct fr_err *err);
void fr_table_free(struct fr_table **tp);
/* One column more, zeroed but for name, type and id; for those who make a description of
 * their own.  NULL: err says why. */
struct fr_column *fr_table_add_column(struct fr_table *t, const char *name,
                                      const char *type_name, struct fr_err *err);
/* "nvarchar(40)", "decimal(9,2)"; out is returned. */
enum { FR_TYPE_TEXT_BYTES = 160 };
const char *fr_column_type_text(const struct fr_column *c, char out[FR_TYPE_TEXT_BYTES]);

/* A batch of about a million rows goes best into a heap, minimally logged, or fills a
 * row group of a columnstore. */
bool fr_table_wants_large_batches(const struct fr_table *t);
/* Index of the column, by the very name or else without regard to case (letter.h);
 * column_count when there is none. */
size_t fr_table_find_column(const struct fr_table *t, const char *name,
                            size_t name_bytes);
/* "a, b, c" for messages, cut with "..." when it does not fit; out is returned. */
const char *fr_table_list_columns(const struct fr_table *t, char *out, size_t out_bytes);

#endif
