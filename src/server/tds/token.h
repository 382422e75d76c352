/*
 * token.h - the tokens of a response (MS-TDS 2.2.7).
 *
 * Each writes one token and returns false when the peer is gone.  Texts are UTF-8 and cut
 * to what their length field can say.  One thread.
 */
#ifndef FRD_TDS_TOKEN_H
#define FRD_TDS_TOKEN_H

#include "server/tds/wire.h"
#include "server/tsql/sink.h"

enum token_done_status {
    DONE_MORE = 0x0001,
    DONE_ERROR = 0x0002,
    DONE_INXACT = 0x0004,
    DONE_COUNT = 0x0010,
    DONE_ATTN = 0x0020,
    DONE_SRVERROR = 0x0100
};

enum token_env {
    ENV_DATABASE = 1,
    ENV_LANGUAGE = 2,
    ENV_PACKET_SIZE = 4,
    ENV_COLLATION = 7,
    ENV_BEGIN = 8,
    ENV_COMMIT = 9,
    ENV_ROLLBACK = 10,
    ENV_RESET = 18
};

bool token_login_ack(struct tds_writer *w, uint32_t tds_version, const char *program);
bool token_env_text(struct tds_writer *w, enum token_env what, const char *now,
                    const char *before);
bool token_env_collation(struct tds_writer *w, uint32_t collation);
/* what: ENV_BEGIN, ENV_COMMIT, ENV_ROLLBACK; also ENV_RESET, whose descriptor is not sent
 */
bool token_env_transaction(struct tds_writer *w, enum token_env what,
                           uint64_t descriptor);
bool token_message(struct tds_writer *w, const struct sqlerr *msg,
                   const char *server_name);
bool token_done(struct tds_writer *w, enum done_kind kind, uint16_t status,
                uint16_t cur_cmd, uint64_t rows);
bool token_return_status(struct tds_writer *w, int32_t status);
/* wt: the value's TYPE_INFO */
bool token_return_value(struct wire_output *out, uint16_t ordinal, const char *name,
                        const struct wire_type *wt, const struct value *v);
/* wts: filled, one a column */
bool token_columns(struct tds_writer *w, const struct result_column *cols, size_t n,
                   uint32_t tds_version, struct wire_type *wts);
/* ROW, or NBCROW where that is shorter and the version has it. */
bool token_row(struct wire_output *out, const struct wire_type *wts,
               const struct value *values, size_t n, uint32_t tds_version);
/* The features that were asked for and that this server has: only UTF8_SUPPORT (10). */
bool token_feature_ack(struct tds_writer *w, bool utf8);

#endif
