/*
 * bcp.h - the bulk engine over db-lib's bcp calls ("bcp").
 *
 * Works on sessions of db/connect.h that were opened with for_bulk.  What db-lib cannot
 * carry is refused with the reason, by check or at begin (FREETDS traps 7, 14).
 */
#ifndef FR_DB_BCP_H
#define FR_DB_BCP_H

#include "base/bulk.h"

/* fr_bulk_engine.check for the db-lib of that version. */
fr_status fr_bcp_check(const char *library, const struct fr_column *columns, size_t count,
                       struct fr_err *err);

/* Put in front of a server's error at the end of a bulk copy why it is db-lib's, where
 * that is known. */
void fr_bcp_explain(struct fr_err *err);

extern const struct fr_bulk_engine fr_bcp_engine;

#endif
