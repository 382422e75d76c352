#include "db/connect.h"

#include "base/num.h"
#include "db/session_priv.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The most that servers take where nothing is encrypted.  db-lib has the system called
 * twice for each packet: fewer are cheaper. */
enum { CLEAR_BULK_PACKET_BYTES = 32767 };

static void set_socket_options(DBPROCESS *dbproc, uint32_t tcp_timeout_ms)
{
    int fd = dbiordesc(dbproc);
    int on = 1;
    unsigned ms = tcp_timeout_ms;

    if (fd < 0)
        return;
    /* best effort: a socket of another family refuses these */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (ms > 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

static fr_status open_at_level(const struct fr_connect *c, enum fr_encrypt level,
                               struct fr_db_sink *sink, DBPROCESS **out,
                               struct fr_err *err)
{
    const char *name = fr_dblib_server_name(c->server, level);
    LOGINREC *login;

    *out = NULL;
    if (name == NULL)
        return fr_err_set(err, FR_EARG, "server %s was not declared", c->server);
    login = dblogin();
    if (login == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a login record");
    DBSETLUSER(login, c->user);
    DBSETLPWD(login, fr_secret_reveal(c->password));
    DBSETLAPP(login, c->application);
    DBSETLCHARSET(login, "UTF-8");
    DBSETLVERSION(login, DBVERSION_74);
    if (c->database != NULL && c->database[0] != '\0')
        DBSETLDBNAME(login, c->database);
    if (c->packet_bytes > 0)
        DBSETLPACKET(login, (long)c->packet_bytes);
    else if (c->for_bulk)
        DBSETLPACKET(login, level == FR_ENCRYPT_OFF ? (long)CLEAR_BULK_PACKET_BYTES
                                                    : (long)FR_BULK_PACKET_BYTES);
    if (c->for_bulk)
        BCP_SETL(login, TRUE);
    fr_db_sink_clear(sink);
    fr_dblib_set_open_sink(sink);
    *out = dbopen(login, name);
    fr_dblib_set_open_sink(NULL);
    dbloginfree(login);
    return FR_OK;
}

static fr_status refused(const struct fr_connect *c, const struct fr_db_sink *sink,
                         struct fr_err *err)
{
    if (sink->server_number != 0) {
        fr_err_set(err, FR_ECONNECT, "cannot log in to %s as %s: %s (server error %d)",
                   c->server, c->user, sink->server_text, sink->server_number);
        if (err != NULL)
            err->server_number = sink->server_number;
        return FR_ECONNECT;
    }
    if (sink->library_number == SYBEUHST)
        return fr_err_set(err, FR_ECONNECT, "cannot connect to %s: no such host",
                          c->server);
    if (sink->os_number > 0)
        return fr_err_errno(err, FR_ECONNECT, sink->os_number, "cannot connect to %s",
                            c->server);
    return fr_err_set(err, FR_ECONNECT, "cannot connect to %s: %s", c->server,
                      sink->library_number != 0 ? sink->library_text : "no answer");
}

fr_status fr_connect_open(const struct fr_connect *c, struct fr_sql **out,
                          struct fr_err *err)
{
    struct db_session *s;
    struct fr_sql_one one = {0};
    fr_status st;

    *out = NULL;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a connection");
    s->encrypted = c->encrypt >= FR_ENCRYPT_PREFER;
    st = open_at_level(c, s->encrypted ? FR_ENCRYPT_REQUIRE : c->encrypt, &s->sink,
                       &s->dbproc, err);
    if (st == FR_OK && s->dbproc == NULL)
        st = refused(c, &s->sink, err);
    if (st != FR_OK) {
        free(s);
        return st;
    }
    s->sql.ops = &fr_db_session_ops;
    fr_buf_init(&s->outputs, FR_DB_MAX_OUTPUT_BYTES);
    dbsetuserdata(s->dbproc, (BYTE *)&s->sink);
    s->sink.session = &s->sql;
    s->sink.is_patient = c->is_patient;
    s->patience_ms = c->statement_timeout_ms;
    set_socket_options(s->dbproc, c->tcp_timeout_ms);
    *out = &s->sql;
    st = c->session_options == NULL
             ? FR_OK
             : fr_sql_run(*out, c->session_options, NULL, NULL, err);
    if (st == FR_OK)
        st = fr_sql_run(*out, "SELECT @@SPID", fr_sql_take_one, &one, err);
    if (st != FR_OK) {
        fr_sql_close(out);
        fr_err_wrap(err, "%s", c->server);
        if (err != NULL)
            err->status = FR_ECONNECT;
        return FR_ECONNECT;
    }
    s->sql.spid = (int)fr_sql_one_i64(&one, 0, 0);
    return FR_OK;
}

bool fr_connect_is_encrypted(const struct fr_sql *s)
{
    return ((const struct db_session *)s)->encrypted;
}

DBPROCESS *fr_connect_dbproc(struct fr_sql *s)
{
    return ((struct db_session *)s)->dbproc;
}

struct fr_db_sink *fr_connect_sink(struct fr_sql *s)
{
    return &((struct db_session *)s)->sink;
}
