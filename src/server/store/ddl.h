/*
 * ddl.h - definition statements: CREATE, ALTER, DROP.
 *
 * A definition first writes the catalog tables, then the session loads the new picture,
 * and the SQLite tables and indexes are made from that.  The interpreter's transaction
 * makes it atomic.
 */
#ifndef FRD_STORE_DDL_H
#define FRD_STORE_DDL_H

#include "server/tsql/bind.h"

/* Drop a TEMP table by its internal name; false when this handle has none. */
bool ddl_drop_temp(struct handle *h, const char *name);

/* Make the table of SELECT INTO from the columns of a query. */
bool ddl_create_from_columns(struct binder *b, const struct name *n,
                             const struct out_column *cols, size_t ncols);
/* Constraints and foreign keys of a table are trusted no more (bulk load without checks).
 */
bool ddl_mark_not_trusted(struct binder *b, const struct cat_table *t);

#endif
