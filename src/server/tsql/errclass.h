/*
 * errclass.h - what an error ends: its statement, its scope, or its batch and
 * transaction.
 *
 * SQL Server documents this nowhere in one place; the table follows what it does.
 * Stateless.
 */
#ifndef FRD_TSQL_ERRCLASS_H
#define FRD_TSQL_ERRCLASS_H

#include "server/value/sqlerr.h"

enum err_class {
    ERR_STATEMENT, /* the next statement runs */
    ERR_END,       /* the batch ends, nothing is rolled back (THROW) */
    ERR_SCOPE, /* the batch, procedure or dynamic text ends; a TRY in it does not catch it
                */
    ERR_BATCH, /* the batch ends, an open transaction is rolled back (doomed in a TRY) */
};

enum err_class err_class(const struct sqlerr *e);

#endif
