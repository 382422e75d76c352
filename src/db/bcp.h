/*
 * bcp.h - the bulk engine over db-lib's bcp calls ("bcp").
 *
 * Works on sessions of db/connect.h that were opened with for_bulk.  What db-lib cannot
 * carry is refused at begin with the reason (FREETDS traps 5, 7, 14).
 */
#ifndef FR_DB_BCP_H
#define FR_DB_BCP_H

#include "base/bulk.h"

extern const struct fr_bulk_engine fr_bcp_engine;

#endif
