/*
 * handle.h - a session's open databases.
 *
 * A session has one SQLite handle a database it uses; its #tables and table variables are
 * SQLite TEMP tables of the handle of the database that was current when they were made.
 * All of it is used by the session's own thread.
 */
#ifndef FRD_STORE_HANDLE_H
#define FRD_STORE_HANDLE_H

#include "server/store/store.h"
#include "server/tsql/exec.h"

struct handle;     /* opaque */
struct bulk_spool; /* bulk.c: rows of a bulk load that wait for COMMIT */
struct rights;     /* store/rights.h */

/* The session's handle of db, opened at first use; NULL and e on failure. */
struct handle *session_handle(struct session *s, struct database *db, struct sqlerr *e);
/* The one that is open already, or NULL. */
struct handle *session_handle_open(struct session *s, const struct database *db);

sqlite3 *handle_sqlite(const struct handle *h);
struct database *handle_database(const struct handle *h);
struct session *handle_session(const struct handle *h);

/*
 * The catalog as this session sees it, its own uncommitted definitions included; counted
 * for the caller.  NULL and e on failure.
 */
struct catalog *handle_catalog(struct handle *h, struct sqlerr *e);
/* That of the TEMP tables; NULL without error when there are none. */
struct catalog *handle_temp_catalog(struct handle *h);
/* Make the TEMP catalog when it is not there. */
bool handle_temp_ready(struct handle *h, struct sqlerr *e);
/* The catalog tables of schema main or temp were changed by this session. */
bool handle_changed(struct handle *h, bool temp, struct sqlerr *e);

/* Identity counters were reset: a rollback must read them anew. */
void handle_identity_reset(struct handle *h);

/*
 * A prepared statement from the handle's cache, reset and without values; SQLite's result
 * code. Each goes back by handle_unprepare(), which accepts NULL.
 */
int handle_prepare(struct handle *h, const char *sql, sqlite3_stmt **out);
void handle_unprepare(struct handle *h, sqlite3_stmt *st);

/* Where rights.c keeps what the session may do in the database. */
struct rights **handle_rights(struct handle *h);

/* Attach another database for reading; *alias is its SQLite schema name, of at most 16
 * bytes. */
bool handle_attach(struct handle *h, struct database *other, char alias[16],
                   struct sqlerr *e);

/* Bulk loads waiting for COMMIT, newest first; bulk.c owns what hangs here. */
struct bulk_spool **handle_spools(struct handle *h);
/* A segment's file is made or given up in the open transaction (segment.c). */
bool handle_touch_segment(struct handle *h, const char *file);
/* Segments of another database stay in sight until the transaction ends; false: they are
 * held already. */
bool handle_hold_segments(struct handle *h, struct database *db);
/* These files, each and the list the caller's to free. */
size_t handle_take_segments(struct handle *h, char ***list);
/* All handles of a session: NULL first, NULL behind the last. */
struct handle *session_next_handle(struct session *s, struct handle *after);

/* A number unique in the session (names of table variables, savepoints). */
uint64_t session_store_number(struct session *s);

#endif
