/*
 * frd_batch.h - run T-SQL batches in-process, without a socket: for the tests of
 * fullrackd.
 *
 * A test server lives in a temporary folder that is removed with it.  What a batch
 * answers is collected as text: "name type|name type\n" per result, "1|abc|NULL\n" per
 * row, "!207\n" per error, "#3\n" per count when asked for.
 */
#ifndef FRD_TEST_BATCH_H
#define FRD_TEST_BATCH_H

#include "base/buf.h"
#include "server/net/server.h"
#include "server/tsql/session.h"

struct test_server {
    struct server *srv;
    struct server_config config;
    char dir[64];
};

struct test_session {
    struct test_server *ts;
    struct session *s;
    struct client *client;
    struct result_sink sink;
    struct fr_buf out;
    bool types;  /* types behind the columns' names */
    bool counts; /* "#n" lines */
    bool texts;  /* the errors' texts */
};

void test_server_start(struct test_server *ts, bool discard);
void test_server_restart(struct test_server *ts); /* all sessions closed */
void test_server_stop(struct test_server *ts);
void test_session_open(struct test_server *ts, struct test_session *t);
void test_session_close(struct test_session *t);
/* The answer of one batch; valid until the next. */
const char *test_run(struct test_session *t, const char *sql);

#endif
