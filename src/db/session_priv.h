/* session_priv.h - a db-lib session's insides, for db/ only. */
#ifndef FR_DB_SESSION_PRIV_H
#define FR_DB_SESSION_PRIV_H

#include "base/buf.h"
#include "db/connect.h"

enum { FR_DB_MAX_OUTPUT_BYTES = 1 << 20 };

struct db_session {
    struct fr_sql sql; /* first: a struct fr_sql * points here */
    DBPROCESS *dbproc;
    struct fr_db_sink sink;
    bool broke_off; /* a call of db-lib failed; the sink says why, or nobody does */
    bool encrypted;
    uint32_t patience_ms;  /* 0 = for ever; of a sink that is_patient */
    struct fr_buf outputs; /* texts of the last call's output parameters */
};

extern const struct fr_sql_ops fr_db_session_ops;

#endif
