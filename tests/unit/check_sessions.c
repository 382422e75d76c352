/* Several sessions at once: locks, deadlock, time-out, cancel, visibility, RPC,
 * transaction requests, bulk. */
#include "../support/sql_session.h"
#include "../support/sql_values.h"

#include "server/net/server.h"
#include "server/store/lock.h"
#include "server/tsql/exec.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct test_server *server;
static struct test_session *one, *two;

static void setup(void)
{
    server = test_server_new();
    one = test_session_new(server, "master");
    two = test_session_new(server, "master");
    ck_assert_str_eq(
        test_batch(one, "SET NOCOUNT ON; CREATE TABLE a (x int PRIMARY KEY, y int);"
                        "INSERT a VALUES (1, 10), (2, 20)"),
        "done -1\n");
    test_batch(one, "CREATE DATABASE other");
    test_batch(one, "SET NOCOUNT ON; USE other; CREATE TABLE b (x int); INSERT b VALUES "
                    "(1); USE master");
    test_batch(two, "SET NOCOUNT ON");
}

static void teardown(void)
{
    test_session_free(&one);
    test_session_free(&two);
    test_server_free(&server);
}

/* A batch on a thread of its own. */
struct job {
    struct test_session *session;
    const char *sql;
    char answer[2000];
    pthread_t thread;
};

static void *run_job(void *arg)
{
    struct job *j = arg;

    snprintf(j->answer, sizeof j->answer, "%s", test_batch(j->session, j->sql));
    return NULL;
}

static void start(struct job *j, struct test_session *s, const char *sql)
{
    j->session = s;
    j->sql = sql;
    pthread_create(&j->thread, NULL, run_job, j);
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static void until_waiting(struct test_session *s)
{
    struct wlock_graph *g = server_lock_graph(test_server_of(server));
    int64_t ms;

    for (int i = 0; i < 5000; i++) {
        if (wlock_blocker(g, session_spid(test_session_of(s)), &ms) != 0)
            return;
        pause_ms(1);
    }
    ck_abort_msg("nobody waits");
}

/* What is not committed is not seen, and does not block a reader. */
START_TEST(test_read_committed)
{
    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 11 WHERE x = 1");
    ck_assert_str_eq(test_batch(two, "SELECT y FROM a WHERE x = 1"),
                     "cols y\nrow 10\ndone -1\n");
    ck_assert_str_eq(test_batch(one, "SELECT y FROM a WHERE x = 1; COMMIT"),
                     "cols y\nrow 11\ndone -1 +\ntran 9\ndone -1\n");
    ck_assert_str_eq(test_batch(two, "SELECT y FROM a WHERE x = 1"),
                     "cols y\nrow 11\ndone -1\n");
}
END_TEST

/* A writer waits for the one before it and then sees what it wrote. */
START_TEST(test_writers_queue)
{
    struct job j;

    test_batch(one, "BEGIN TRAN; UPDATE a SET y = y + 1 WHERE x = 1");
    start(&j, two, "UPDATE a SET y = y + 1 WHERE x = 1; SELECT y FROM a WHERE x = 1");
    until_waiting(two);
    test_batch(one, "COMMIT");
    pthread_join(j.thread, NULL);
    ck_assert_str_eq(j.answer, "cols y\nrow 12\ndone -1\n");
}
END_TEST

/* Writers of different databases do not meet. */
START_TEST(test_other_database)
{
    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 0");
    ck_assert_str_eq(
        test_batch(two, "UPDATE other.dbo.b SET x = 5; SELECT x FROM other.dbo.b"),
        "cols x\nrow 5\ndone -1\n");
    test_batch(one, "ROLLBACK");
}
END_TEST

START_TEST(test_lock_timeout)
{
    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 0");
    ck_assert_str_eq(
        test_batch(
            two,
            "SET LOCK_TIMEOUT 20; UPDATE a SET y = 1; SELECT @@ERROR, @@LOCK_TIMEOUT"),
        "error 1222 16 1 Lock request time out period exceeded.\n"
        "info 3621 The statement has been terminated.\n"
        "done -1 + !\ncols ,\nrow 1222|20\ndone -1\n");
    test_batch(one, "ROLLBACK");
}
END_TEST

/* The second to wait closes the circle: its transaction goes, the other comes through. */
START_TEST(test_deadlock)
{
    struct job j;
    const char *answer;

    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 100 WHERE x = 1");
    test_batch(two, "BEGIN TRAN; UPDATE other.dbo.b SET x = 100");
    start(&j, one, "UPDATE other.dbo.b SET x = 200; COMMIT; SELECT @@TRANCOUNT");
    until_waiting(one);
    answer = test_batch(two, "UPDATE a SET y = 300; SELECT 'not reached'");
    ck_assert_msg(strncmp(answer, "error 1205 13 1 ", 16) == 0, "%s", answer);
    ck_assert_ptr_null(strstr(answer, "not reached"));
    ck_assert_ptr_nonnull(strstr(answer, "tran 10\n"));
    pthread_join(j.thread, NULL);
    ck_assert_str_eq(j.answer, "tran 9\ncols \nrow 0\ndone -1\n");
    ck_assert_str_eq(test_batch(two, "SELECT @@TRANCOUNT, x FROM other.dbo.b"),
                     "cols ,x\nrow 0|200\ndone -1\n");
}
END_TEST

/* In a TRY block 1205 is caught, and the transaction can only be rolled back. */
START_TEST(test_deadlock_caught)
{
    struct job j;

    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 100 WHERE x = 1");
    test_batch(two, "BEGIN TRAN; UPDATE other.dbo.b SET x = 100");
    start(&j, one, "UPDATE other.dbo.b SET x = 200; COMMIT");
    until_waiting(one);
    ck_assert_str_eq(test_batch(two, "BEGIN TRY UPDATE a SET y = 300 END TRY "
                                     "BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE(), "
                                     "@@TRANCOUNT; ROLLBACK END CATCH"),
                     "cols ,,\nrow 1205|-1|1\ndone -1 +\ntran 10\ndone -1\n");
    pthread_join(j.thread, NULL);
    ck_assert_str_eq(j.answer, "tran 9\ndone -1\n");
}
END_TEST

static const char *const endless[] = {
    "WAITFOR DELAY '00:01:00'",
    "WHILE 1 = 1 SET NOCOUNT ON",
    ("WITH n AS (SELECT x FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)) v(x)) "
     "SELECT COUNT_BIG(*) FROM n a, n b, n c, n d, n e, n f, n g, n h, n i, n j"),
    "BEGIN TRY WAITFOR DELAY '00:01:00' END TRY BEGIN CATCH SELECT 'caught' END CATCH",
};

/* An attention stops whatever runs; the answer ends without more. */
START_TEST(test_cancel)
{
    struct job j;

    start(&j, two, endless[_i]);
    pause_ms(60);
    session_cancel(test_session_of(two));
    pthread_join(j.thread, NULL);
    ck_assert_ptr_null(strstr(j.answer, "caught"));
    ck_assert_ptr_null(strstr(j.answer, "error"));
    session_clear_cancel(test_session_of(two));
    ck_assert_str_eq(test_batch(two, "SELECT 1"), "cols \nrow 1\ndone -1\n");
}
END_TEST

/* A wait for a lock is cancelled too; the transaction stays unless XACT_ABORT is ON. */
START_TEST(test_cancel_lock_wait)
{
    struct job j;
    bool abort = _i == 1;

    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 0");
    test_batch(two, abort ? "SET XACT_ABORT ON; BEGIN TRAN" : "BEGIN TRAN");
    start(&j, two, "UPDATE a SET y = 1");
    until_waiting(two);
    session_cancel(test_session_of(two));
    pthread_join(j.thread, NULL);
    session_clear_cancel(test_session_of(two));
    ck_assert_str_eq(test_batch(two, "SELECT @@TRANCOUNT"),
                     abort ? "cols \nrow 0\ndone -1\n" : "cols \nrow 1\ndone -1\n");
    test_batch(one, "ROLLBACK");
}
END_TEST

enum { WRITERS = 4, ROUNDS = 25 };

static void *count_up(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        test_batch(
            arg,
            "DECLARE @y int; BEGIN TRAN; SELECT @y = y FROM a WITH (UPDLOCK) WHERE x = 1;"
            "UPDATE a SET y = @y + 1 WHERE x = 1; COMMIT");
    return NULL;
}

/* Read under UPDLOCK, then write: no update is lost. */
START_TEST(test_counter)
{
    struct test_session *s[WRITERS];
    pthread_t threads[WRITERS];
    char want[64];

    for (int i = 0; i < WRITERS; i++) {
        s[i] = test_session_new(server, "master");
        pthread_create(&threads[i], NULL, count_up, s[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        test_session_free(&s[i]);
    }
    snprintf(want, sizeof want, "cols y\nrow %d\ndone -1\n", 10 + WRITERS * ROUNDS);
    ck_assert_str_eq(test_batch(two, "SELECT y FROM a WHERE x = 1"), want);
}
END_TEST

/* A closed session's transaction is undone and its lock let go. */
START_TEST(test_close_rolls_back)
{
    struct test_session *three = test_session_new(server, "master");

    test_batch(three, "BEGIN TRAN; UPDATE a SET y = 77");
    test_session_free(&three);
    ck_assert_str_eq(
        test_batch(two, "UPDATE a SET y = y WHERE x = 1; SELECT y FROM a WHERE x = 1"),
        "cols y\nrow 10\ndone -1\n");
}
END_TEST

/* ---- requests that are no batch ---- */

START_TEST(test_rpc_output)
{
    struct rpc_param p[3];

    test_batch(one, "CREATE PROC pr @a int, @b int OUTPUT, @c int = 7 AS SET @b = @a + "
                    "@c; SELECT @a; RETURN 3");
    memset(p, 0, sizeof p);
    p[0].value = test_value("int", "5");
    p[1].name = "@b";
    p[1].output = true;
    p[1].value = test_value("int", NULL);
    ck_assert_str_eq(test_rpc(two, "dbo.pr", p, 2),
                     "cols \nrow 5\ninproc -1 +\nstatus 3\nout @b 12\nproc -1\n");
    p[2].name = "@nosuch";
    p[2].value = test_value("int", "1");
    ck_assert_str_eq(
        test_rpc(two, "pr", p, 3),
        "error 8145 16 1 @nosuch is not a parameter for procedure pr.\nproc -1 !\n");
    ck_assert_str_eq(
        test_rpc(two, "nosuch", p, 0),
        "error 2812 16 1 Could not find stored procedure 'nosuch'.\nproc -1 !\n");
}
END_TEST

START_TEST(test_rpc_executesql)
{
    struct rpc_param p[4];

    memset(p, 0, sizeof p);
    p[0].value = test_value("nvarchar(100)", "SELECT @x AS x; SET @y = @x * 2");
    p[1].value = test_value("nvarchar(100)", "@x int, @y int OUTPUT");
    p[2].name = "@x";
    p[2].value = test_value("int", "21");
    p[3].name = "@y";
    p[3].output = true;
    p[3].value = test_value("int", NULL);
    ck_assert_str_eq(test_rpc(two, "sp_executesql", p, 4),
                     "cols x\nrow 21\ninproc -1 +\nstatus 0\nout @y 42\nproc -1\n");
    value_free(&p[0].value);
    value_free(&p[1].value);
}
END_TEST

START_TEST(test_transaction_request)
{
    ck_assert(session_transaction(test_session_of(two), TRAN_BEGIN, "", false));
    ck_assert_str_eq(test_answer(two), "tran 8\ndone -1\n");
    test_batch(two, "UPDATE a SET y = 1");
    ck_assert(session_transaction(test_session_of(two), TRAN_SAVE, "s", false));
    test_answer(two);
    test_batch(two, "UPDATE a SET y = 2");
    ck_assert(session_transaction(test_session_of(two), TRAN_ROLLBACK, "s", false));
    test_answer(two);
    ck_assert(session_transaction(test_session_of(two), TRAN_COMMIT, "", true));
    ck_assert_str_eq(test_answer(two), "tran 9\ntran 8\ndone -1\n");
    ck_assert(session_transaction(test_session_of(two), TRAN_ROLLBACK, "", false));
    ck_assert_str_eq(test_answer(two), "tran 10\ndone -1\n");
    ck_assert_str_eq(test_batch(two, "SELECT y FROM a WHERE x = 1"),
                     "cols y\nrow 1\ndone -1\n");
    ck_assert(session_transaction(test_session_of(two), TRAN_COMMIT, "", false));
    ck_assert_ptr_nonnull(strstr(test_answer(two), "error 3902"));
}
END_TEST

START_TEST(test_reset)
{
    test_batch(two, "SET XACT_ABORT ON; SET LOCK_TIMEOUT 5; CREATE TABLE #t (x int); USE "
                    "other; BEGIN TRAN");
    session_reset(test_session_of(two));
    ck_assert_str_eq(test_answer(two),
                     "tran 10\ndb master\n"
                     "info 5701 Changed database context to 'master'.\n");
    ck_assert_str_eq(test_batch(two,
                                "SELECT @@TRANCOUNT, @@LOCK_TIMEOUT, @@OPTIONS & 16384, "
                                "OBJECT_ID('tempdb..#t')"),
                     "cols ,,,\nrow 0|-1|0|NULL\ndone 1\n");
}
END_TEST

/* What the DMVs show of a session that waits. */
START_TEST(test_info)
{
    struct session_info info = {0};
    struct job j;

    test_batch(one, "BEGIN TRAN; UPDATE a SET y = 0");
    start(&j, two, "UPDATE a SET y = 1");
    until_waiting(two);
    session_get_info(test_session_of(two), &info);
    ck_assert_int_eq(info.blocking_spid, session_spid(test_session_of(one)));
    ck_assert_str_eq(info.wait_type, "LCK_M_X");
    ck_assert_str_eq(info.command, "UPDATE");
    ck_assert_str_eq(info.database, "master");
    session_get_info(test_session_of(one), &info);
    ck_assert_int_eq(info.open_tran, 1);
    ck_assert_int_eq(info.blocking_spid, 0);
    test_batch(one, "ROLLBACK");
    pthread_join(j.thread, NULL);
}
END_TEST

/* ---- bulk load ---- */

static void send_rows(struct test_session *t, int from, int n)
{
    for (int i = from; i < from + n; i++) {
        char text[16];
        struct value row[2];

        snprintf(text, sizeof text, "%d", i);
        row[0] = test_value("int", text);
        row[1] = test_value("int", NULL);
        ck_assert(session_bulk_row(test_session_of(t), row, 2));
    }
}

START_TEST(test_bulk)
{
    const struct result_column *cols;

    test_batch(one, "CREATE TABLE h (x int NOT NULL, y int NULL)");
    ck_assert_str_eq(
        test_batch(two, "insert bulk h (x int NOT NULL, y int NULL) with (TABLOCK)"),
        "done -1\n");
    ck_assert(session_bulk_pending(test_session_of(two)));
    ck_assert_uint_eq(session_bulk_columns(test_session_of(two), &cols), 2);
    ck_assert_str_eq(cols[1].name, "y");
    send_rows(two, 0, 100);
    ck_assert(session_bulk_end(test_session_of(two), true));
    ck_assert_str_eq(test_answer(two), "done 100\n");
    ck_assert_str_eq(test_batch(one, "SELECT COUNT(*), MAX(x), MAX(y) FROM h"),
                     "cols ,,\nrow 100|99|NULL\ndone -1\n");
}
END_TEST

/* Two loads into one heap while both transactions are open; one is rolled back. */
START_TEST(test_bulk_side_by_side)
{
    test_batch(one, "CREATE TABLE h (x int NOT NULL, y int NULL)");
    test_batch(one, "BEGIN TRAN");
    test_batch(two, "BEGIN TRAN");
    test_batch(one, "insert bulk h (x int, y int)");
    test_batch(two, "insert bulk h (x int, y int)");
    send_rows(one, 0, 10);
    send_rows(two, 100, 20);
    ck_assert(session_bulk_end(test_session_of(one), true));
    ck_assert(session_bulk_end(test_session_of(two), true));
    test_answer(one);
    test_answer(two);
    ck_assert_str_eq(test_batch(two, "COMMIT; SELECT COUNT(*) FROM h"),
                     "tran 9\ncols \nrow 20\ndone -1\n");
    test_batch(one, "ROLLBACK");
    ck_assert_str_eq(test_batch(one, "SELECT COUNT(*) FROM h"),
                     "cols \nrow 20\ndone -1\n");
}
END_TEST

/* A broken stream keeps nothing. */
START_TEST(test_bulk_broken)
{
    test_batch(one, "CREATE TABLE h (x int NOT NULL, y int NULL)");
    test_batch(two, "insert bulk h (x int, y int)");
    send_rows(two, 0, 10);
    session_bulk_end(test_session_of(two), false);
    test_answer(two);
    ck_assert_str_eq(test_batch(one, "SELECT COUNT(*) FROM h"),
                     "cols \nrow 0\ndone -1\n");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sessions");
    TCase *tc = tcase_create("sessions");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_read_committed);
    tcase_add_test(tc, test_writers_queue);
    tcase_add_test(tc, test_other_database);
    tcase_add_test(tc, test_lock_timeout);
    tcase_add_test(tc, test_deadlock);
    tcase_add_test(tc, test_deadlock_caught);
    tcase_add_loop_test(tc, test_cancel, 0, 4);
    tcase_add_loop_test(tc, test_cancel_lock_wait, 0, 2);
    tcase_add_test(tc, test_counter);
    tcase_add_test(tc, test_close_rolls_back);
    tcase_add_test(tc, test_rpc_output);
    tcase_add_test(tc, test_rpc_executesql);
    tcase_add_test(tc, test_transaction_request);
    tcase_add_test(tc, test_reset);
    tcase_add_test(tc, test_info);
    tcase_add_test(tc, test_bulk);
    tcase_add_test(tc, test_bulk_side_by_side);
    tcase_add_test(tc, test_bulk_broken);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
