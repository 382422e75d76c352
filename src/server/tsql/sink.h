/*
 * sink.h - where a session's results go: implemented by tds/, called by tsql/.
 *
 * Calls come from the session's own thread, in the order in which the client is to see
 * them.  A call returns false when the client is gone or sent attention: the caller then
 * stops the statement.  Values and texts are borrowed for the call.
 */
#ifndef FRD_TSQL_SINK_H
#define FRD_TSQL_SINK_H

#include "server/value/value.h"

struct result_column {
    const char *name; /* "" when it has none */
    struct sqltype type;
    bool nullable;
    bool identity;
    bool computed;
    bool updatable; /* a plain column of a base table */
    bool key;
};

enum done_kind { DONE_BATCH, DONE_INPROC, DONE_PROC };

struct result_sink {
    void *ctx;
    bool (*columns)(void *ctx, const struct result_column *cols, size_t n);
    bool (*row)(void *ctx, const struct value *values, size_t n);
    /* cur_cmd: TDS command number (193 SELECT, 195 INSERT, 197 UPDATE, 196 DELETE, ...);
       rows < 0: no count (SET NOCOUNT ON, or a statement without one) */
    bool (*done)(void *ctx, enum done_kind kind, uint16_t cur_cmd, int64_t rows,
                 bool more, bool failed);
    bool (*message)(void *ctx,
                    const struct sqlerr *msg); /* severity > 10: ERROR, else INFO */
    bool (*return_status)(void *ctx, int32_t status);
    bool (*return_value)(void *ctx, uint16_t ordinal, const char *name,
                         const struct value *v);
    bool (*env_database)(void *ctx, const char *now, const char *before);
    /* begin: descriptor of the new transaction; end: of the one that ended */
    bool (*env_transaction)(void *ctx, int what /* 8 begin, 9 commit, 10 rollback */,
                            uint64_t descriptor);
};

#endif
