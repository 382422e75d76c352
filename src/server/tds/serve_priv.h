/*
 * serve_priv.h - the state of one connection; for tds/ only.
 */
#ifndef FRD_TDS_SERVE_PRIV_H
#define FRD_TDS_SERVE_PRIV_H

#include "server/tds/login.h"
#include "server/tds/serve.h"
#include "server/tds/token.h"
#include "server/tsql/session.h"

enum {
    TDS_MAX_REQUEST_BYTES = 64 * 1024 * 1024, /* of one batch or RPC message */
    TDS_MAX_PARAMS = 2100,
    CMD_SELECT = 0xC1,
    CMD_BULK = 0xF0
};

struct tds_conn {
    struct server *srv;
    struct client *client;
    const struct tds_transport *io;
    const char *server_name;
    struct session *session;
    struct tds_reader r;
    struct tds_writer w;
    struct wire_output out;
    struct result_sink sink;
    uint32_t tds_version;
    struct tls *tls; /* NULL: in the clear */
    uint8_t
        encryption; /* as answered to the client's prelogin (enum prelogin_encryption) */

    /* the result set being sent */
    struct wire_type *wts; /* owned */
    size_t wts_cap, columns;

    /* A DONE waits here until it is known whether anything follows it. */
    bool has_done;
    enum done_kind done_kind;
    uint16_t done_status, done_cmd;
    uint64_t done_rows;

    bool error_sent; /* within this request */
    bool silent;     /* a statement of our own runs: its DONEs are not sent */
    bool in_transaction;
};

/* respond.c: the sink, and the end of a response. */
void respond_init(struct tds_conn *c);
bool respond_message(struct tds_conn *c, const struct sqlerr *e);
/* Send the last DONE (of this kind when none waits) and the message. */
bool respond_end(struct tds_conn *c, enum done_kind kind);
/* The answer to an attention. */
bool respond_attention(struct tds_conn *c);

/* Each reads one request's message and answers it; false: the connection ends. */
bool request_batch(struct tds_conn *c);
bool request_rpc(struct tds_conn *c);
bool request_transaction(struct tds_conn *c);
bool request_bulk(struct tds_conn *c);

/* False when the client has taken the request back.  Once its message was read to the
   end, the socket is watched for an attention. */
bool request_may_run(struct tds_conn *c);
/* MS-TDS 2.2.5.3: what stands in front of a batch, an RPC, a transaction request. */
bool request_headers(struct tds_reader *r);
/* Text of `units` UTF-16 units as UTF-8, appended; false: the message ended. */
bool request_text(struct tds_reader *r, size_t units, struct fr_buf *out);
/* The error for a value or type that could not be read. */
void request_value_error(enum wire_result rc, int ordinal, const char *name,
                         const struct wire_type *wt, struct sqlerr *e);

#endif
