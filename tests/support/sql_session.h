/*
 * sql_session.h - a server without a network: sessions whose answers are texts, for
 * tests.
 *
 * An answer is one line an event:
 *   cols a,b          row 1|x|NULL       info 0 text          error 208 16 1 text
 *   done 3            inproc -1 !        proc -1              status 0
 *   out @x 5          db x               tran 8
 * "done" is the batch's, "inproc" a statement's inside a procedure; -1: no count; "!":
 * failed. error: number, severity, line.  What follows a procedure's name stands as "(p)
 * " before the text.
 */
#ifndef FR_TESTS_SQL_SESSION_H
#define FR_TESTS_SQL_SESSION_H

#include "server/tsql/session.h"

struct test_server;
struct test_session;

struct test_server *
test_server_new(void); /* in a temporary folder; aborts the test on failure */
void test_server_free(struct test_server **sp);
struct server *test_server_of(struct test_server *ts);

struct test_session *test_session_new(struct test_server *ts, const char *database);
/* Of a login; NULL: it was refused, *answer says why (until the next such call). */
struct test_session *test_session_login(struct test_server *ts, const char *login,
                                        const char *database, const char **answer);
void test_session_free(struct test_session **sp); /* accepts &NULL */
struct session *test_session_of(struct test_session *t);

/* Run a batch, answer as above; valid until the next call. */
const char *test_batch(struct test_session *t, const char *sql);
const char *test_rpc(struct test_session *t, const char *proc, struct rpc_param *params,
                     size_t n);
/* The answer collected so far (after session_*() calls of the test's own), then
 * forgotten. */
const char *test_answer(struct test_session *t);

#endif
