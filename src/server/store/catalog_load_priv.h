/* catalog_load_priv.h - what the files that read the catalog tables share. */
#ifndef FRD_STORE_CATALOG_LOAD_PRIV_H
#define FRD_STORE_CATALOG_LOAD_PRIV_H

#include "server/store/catalog_priv.h"

struct loader; /* catalog_load.c */

struct catalog *loader_catalog(struct loader *l);
bool loader_no_memory(struct loader *l);
/* fmt: a literal with one %s for the schema. */
bool loader_ask(struct loader *l, const char *fmt, sqlite3_stmt **out);
/* Ends a loop of sqlite3_step(): true when it ended well. */
bool loader_ended(struct loader *l, sqlite3_stmt *st, int rc);
/* Text of a column in the picture's memory; NULL for NULL. */
const char *loader_text(struct loader *l, sqlite3_stmt *st, int i);
/* Room for one more element of an array of n, whose length doubles. */
void *loader_grow(struct loader *l, void *old, size_t n, size_t size);

/* The table that column 0 of st names, or NULL. */
struct cat_table *loader_table(struct loader *l, sqlite3_stmt *st);

/* ---- catalog_load_space.c ---- */
bool loader_partition_functions(struct loader *l);
bool loader_spaces(struct loader *l);
bool loader_files(struct loader *l);
bool loader_table_spaces(struct loader *l);

/* ---- catalog_load_principal.c ---- */
bool loader_principals(struct loader *l);
bool loader_members(struct loader *l);
bool loader_permissions(struct loader *l);
bool loader_logins(struct loader *l);

#endif
