/* catalog_priv.h - what catalog.c, catalog_load.c and the definition statements share. */
#ifndef FRD_STORE_CATALOG_PRIV_H
#define FRD_STORE_CATALOG_PRIV_H

#include "server/store/catalog.h"

/* 824 with SQLite's own words; always false. */
bool catalog_sqlite_error(sqlite3 *db, struct sqlerr *e);

#endif
