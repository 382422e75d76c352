/*
 * sysview.h - sys.* and INFORMATION_SCHEMA views, compatibility views, DMVs.
 *
 * Each is one row of a table: name, columns with their exact types, a function that makes
 * the rows.  On every handle it is an eponymous SQLite virtual table with one hidden
 * argument, the database's id: v_objects(5).
 */
#ifndef FRD_STORE_SYSVIEW_H
#define FRD_STORE_SYSVIEW_H

#include "server/store/handle.h"

struct sysview; /* opaque */

struct sysview_column {
    char name[64];
    struct sqltype type;
    bool nullable;
};

/* schema NULL or "dbo": the compatibility names (sysobjects ...). NULL when there is
 * none. */
const struct sysview *sysview_find(const char *schema, const char *name);
/* Its SQLite table is v<this number>. */
/* 0: a view; else a function's number of parameters, which filter its first columns. */
size_t sysview_parameters(const struct sysview *v);
/* How many of its first columns are arguments alone, and not to be seen. */
size_t sysview_hidden_columns(const struct sysview *v);
size_t sysview_number(const struct sysview *v);
const char *sysview_schema(const struct sysview *v);
const char *sysview_name(const struct sysview *v);
size_t sysview_column_count(const struct sysview *v);
struct sysview_column sysview_column(const struct sysview *v, size_t i);
/* Iterate (sys.all_objects, tests): NULL behind the last. */
const struct sysview *sysview_at(size_t i);
/* Stable negative object ids. */
int32_t sysview_object_id(const struct sysview *v);

/* What the session needs to read it, on the server or the database; PERM_NONE: nothing.
 */
enum permission sysview_permission(const struct sysview *v, enum perm_class *where);

/* Register all of them on the session's handle. */
bool sysviews_register(struct handle *h, struct sqlerr *e);

#endif
