#include "server/tds/serve.h"

#include "base/log.h"
#include "server/net/password.h"
#include "server/net/server.h"
#include "server/tds/serve_priv.h"
#include "server/tds/tls.h"
#include "server/value/collation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const char program[] =
    "Microsoft SQL Server"; /* clients look at it to know the dialect */

/* Errors before there is a session: message, end, and the connection closes. */
static void refuse(struct tds_conn *c, const struct sqlerr *e)
{
    if (respond_message(c, e))
        respond_end(c, DONE_BATCH);
}

/* The whole message (at most max bytes) in memory; false: broken, too long, out of
 * memory.  Reserved at once: a buffer that grew would leave a password in freed memory.
 */
static bool read_message(struct tds_conn *c, size_t max, struct fr_buf *b)
{
    c->r.limit = max;
    fr_buf_init(b, max);
    if (!fr_buf_reserve(b, max))
        return false;
    while (!tds_at_end(&c->r)) {
        unsigned char byte;

        if (!tds_read_u8(&c->r, &byte) || !fr_buf_add_byte(b, byte))
            return false;
    }
    return !c->r.broken && !c->r.closed;
}

/* MS-TDS 2.2.6.5: what is answered to the client's wish. */
static uint8_t choose_encryption(const struct server_config *config, uint8_t asked)
{
    if (config->tls == NULL)
        return ENCRYPT_NOT_SUP;
    if (config->require_tls)
        return asked == ENCRYPT_ON || asked == ENCRYPT_REQ ? ENCRYPT_ON : ENCRYPT_REQ;
    if (asked == ENCRYPT_NOT_SUP)
        return ENCRYPT_NOT_SUP;
    return asked == ENCRYPT_OFF ? ENCRYPT_OFF : ENCRYPT_ON;
}

static bool start_tls(struct tds_conn *c)
{
    struct fr_err err = {0};

    if (c->encryption == ENCRYPT_NOT_SUP)
        return true;
    c->tls = tls_accept(server_config(c->srv)->tls, &c->r, &c->w, c->io, &err);
    if (c->tls == NULL)
        fr_log(FR_LOG_INFO, "%s: %s", c->io->peer, err.text);
    return c->tls != NULL;
}

static bool answer_prelogin(struct tds_conn *c)
{
    struct fr_buf b;
    struct prelogin p;
    unsigned char answer[64];
    size_t n;
    bool ok;

    ok = read_message(c, PRELOGIN_MAX_BYTES, &b) &&
         prelogin_parse((const unsigned char *)fr_buf_text(&b), b.len, &p);
    fr_buf_free(&b);
    if (!ok) {
        fr_log(FR_LOG_INFO, "%s: malformed prelogin", c->io->peer);
        return false;
    }
    /* who insists on encryption where there is none, or the other way round, leaves now
     */
    c->encryption = choose_encryption(server_config(c->srv), p.encryption);
    n = prelogin_answer(answer, c->encryption);
    return tds_put(&c->w, answer, n) && tds_end_message(&c->w) && start_tls(c);
}

/* Who has a password must give it, whatever --no-password lets others do. */
static bool check_password(struct server *srv, const struct tds_login *l)
{
    const struct server_config *config = server_config(srv);
    bool known = false, good, own = strcasecmp(l->user, config->user) == 0;
    struct password *made = server_login_password(srv, l->user, &known);
    const struct password *p = own || !known ? config->password : made;

    if (config->password == NULL && (own || !known)) {
        password_free(&made);
        return true;
    }
    /* one is looked at in any case: the time shall not tell whether the name is right */
    if (p == NULL)
        p = config->password;
    good = p != NULL && password_matches(p, l->password) && !l->integrated &&
           (own || (known && p == made));
    password_free(&made);
    return good;
}

/* One's turn, the look at the password, and what a bad one costs. */
static bool pass_check(struct tds_conn *c, const struct tds_login *l)
{
    bool turn = c->io->begin_check == NULL || c->io->begin_check(c->io->ctx);
    bool good = turn && check_password(c->srv, l);

    if (turn && !good)
        fr_log(FR_LOG_WARN, "%s: login failed for user '%s'", c->io->peer, l->user);
    if (c->io->end_check != NULL)
        c->io->end_check(c->io->ctx, good || !turn);
    return good;
}

/* What the login asks for and cannot have; false with e filled. */
static bool check_login(struct tds_conn *c, const struct tds_login *l, struct sqlerr *e)
{
    if (login_version(l->tds_version) == 0)
        return sqlerr_setf(e, 17836, 20,
                           "TDS version %08X is too old: fullrackd speaks 7.2 to 7.4.",
                           (unsigned)l->tds_version);
    if (server_config(c->srv)->require_tls && c->encryption == ENCRYPT_NOT_SUP)
        return sqlerr_set(e, 17835);
    if (l->change_password)
        return sqlerr_setf(e, 18456, 14, "Passwords cannot be changed on fullrackd.");
    if (!pass_check(c, l))
        return sqlerr_set(e, 18456, l->user);
    if (server_is_stopping(c->srv))
        return sqlerr_setf(e, 6005, 14, "SHUTDOWN is in progress.");
    if (c->io->admit != NULL)
        c->client = c->io->admit(c->io->ctx);
    if (c->client != NULL)
        return true;
    fr_log(FR_LOG_WARN, "%s: refused: %d sessions are connected (--max-sessions)",
           c->io->peer, server_config(c->srv)->max_sessions);
    return sqlerr_set(e, 17809, server_config(c->srv)->max_sessions);
}

static void set_packet_size(struct tds_conn *c, struct tds_login *l)
{
    if (l->packet_size == 0)
        l->packet_size = TDS_DEFAULT_PACKET;
    if (l->packet_size < TDS_MIN_PACKET)
        l->packet_size = TDS_MIN_PACKET;
    if (l->packet_size > TDS_MAX_PACKET)
        l->packet_size = TDS_MAX_PACKET;
    c->tds_version = login_version(l->tds_version);
}

static bool open_session(struct tds_conn *c, const struct tds_login *l, struct sqlerr *e)
{
    struct client_login seen = {
        .user = l->user,
        .host_name = l->host_name,
        .program_name = l->program_name,
        .client_interface = l->client_interface,
        .client_pid = l->client_pid,
        .tds_version = c->tds_version,
        .packet_size = l->packet_size,
    };
    struct session_login login = {
        .user = l->user,
        .database = l->database,
        .host_name = l->host_name,
        .program_name = l->program_name,
        .language = l->language,
        .client_interface = l->client_interface,
        .client_pid = l->client_pid,
        .db_library = !l->odbc,
        .tds_version = c->tds_version,
        .packet_size = l->packet_size,
        .spid = client_spid(c->client),
        .client = c->client,
    };

    c->w.spid = (uint16_t)login.spid;
    client_set_login(c->client, &seen);
    c->session = session_open(c->srv, &login, &c->sink, e);
    if (c->session == NULL)
        return false;
    client_set_session(c->client, c->session);
    return true;
}

static bool send_info(struct tds_conn *c, int32_t number, const char *arg)
{
    struct sqlerr e;

    sqlerr_set(&e, number, arg);
    e.state = 2;
    return token_message(&c->w, &e, c->server_name);
}

static bool answer_login(struct tds_conn *c, const struct tds_login *l)
{
    const char *database = session_database_name(c->session);
    char size[16], before[16];
    bool ok;

    snprintf(size, sizeof size, "%u", (unsigned)l->packet_size);
    snprintf(before, sizeof before, "%d", TDS_DEFAULT_PACKET);
    ok = token_env_text(&c->w, ENV_DATABASE, database, "master") &&
         send_info(c, 5701, database) && token_env_collation(&c->w, COLLATION_DEFAULT) &&
         token_env_text(&c->w, ENV_LANGUAGE, "us_english", "") &&
         send_info(c, 5703, "us_english") &&
         token_login_ack(&c->w, c->tds_version, program) &&
         token_env_text(&c->w, ENV_PACKET_SIZE, size, before);
    if (ok && l->extension && c->tds_version >= TDS_7_4)
        ok = token_feature_ack(&c->w, l->utf8);
    ok = ok && respond_end(c, DONE_BATCH);
    /* the answer itself still goes in packets of the default size */
    tds_writer_set_packet_size(&c->w, l->packet_size);
    return ok;
}

static bool accept_login(struct tds_conn *c, struct tds_login *l)
{
    struct fr_buf b;
    struct sqlerr e = {0};
    bool ok = read_message(c, LOGIN_MAX_BYTES, &b) &&
              login_parse((const unsigned char *)fr_buf_text(&b), b.len, l);

    if (b.data != NULL)
        explicit_bzero(b.data, b.len);
    /* the password is in what has been read */
    explicit_bzero(c->r.buf, c->r.pos);
    explicit_bzero(c->r.buf + c->r.filled, TDS_READ_BYTES - c->r.filled);
    fr_buf_free(&b);
    /* only the login was to be encrypted: the answer goes in the clear */
    if (ok && c->tls != NULL && c->encryption == ENCRYPT_OFF)
        ok = tls_end_login(&c->tls);
    if (!ok) {
        fr_log(FR_LOG_INFO, "%s: malformed login", c->io->peer);
        return false;
    }
    set_packet_size(c, l);
    ok = check_login(c, l, &e);
    login_wipe(l);
    if (ok && c->tls != NULL && c->encryption != ENCRYPT_OFF)
        client_set_encrypted(c->client);
    ok = ok && open_session(c, l, &e);
    if (!ok) {
        /* a database that cannot be opened is told twice, as the server does */
        if ((e.number == 4060 || e.number == 4064) && respond_message(c, &e))
            sqlerr_set(&e, 18456, l->user);
        refuse(c, &e);
        return false;
    }
    return answer_login(c, l);
}

/* PRELOGIN (clients of old may leave it out), then LOGIN7. */
static bool log_in(struct tds_conn *c)
{
    struct tds_login *l;
    bool ok;

    c->r.limit = LOGIN_MAX_BYTES;
    if (!tds_next_message(&c->r))
        return false;
    if (c->r.type == TDS_PRELOGIN && (!answer_prelogin(c) || !tds_next_message(&c->r)))
        return false;
    if (c->r.type != TDS_LOGIN7) {
        fr_log(FR_LOG_INFO, "%s: no login but a message of type 0x%02X", c->io->peer,
               c->r.type);
        return false;
    }
    l = calloc(1, sizeof *l);
    if (l == NULL)
        return false;
    ok = accept_login(c, l);
    if (ok)
        fr_log(FR_LOG_INFO, "%s: session %d of '%s' from %s, %s%s", c->io->peer,
               client_spid(c->client), l->user, l->host_name, l->program_name,
               c->tls != NULL ? ", encrypted" : "");
    free(l);
    if (ok && c->io->pace != NULL)
        c->io->pace->what = TDS_WAIT_REQUEST;
    return ok;
}

typedef bool request(struct tds_conn *c);

static const struct {
    uint8_t type;
    request *run;
    uint64_t limit;
} requests[] = {
    {TDS_SQL_BATCH, request_batch, TDS_MAX_REQUEST_BYTES},
    {TDS_RPC, request_rpc, TDS_MAX_REQUEST_BYTES},
    {TDS_TRANSACTION, request_transaction, TDS_MAX_REQUEST_BYTES},
    {TDS_BULK, request_bulk, 0},
};

static bool reset_session(struct tds_conn *c)
{
    session_reset(c->session);
    c->in_transaction = false;
    return token_env_transaction(&c->w, ENV_RESET, 0);
}

static void report_traffic(struct tds_conn *c)
{
    struct client_traffic t = {.packets_received = (int64_t)c->r.packets,
                               .packets_sent = (int64_t)c->w.packets,
                               .bytes_received = (int64_t)c->r.total,
                               .bytes_sent = (int64_t)c->w.total};

    client_set_traffic(c->client, &t);
}

/* The rest of a message that is longer than one may be is dropped, and told so. */
static bool refuse_long(struct tds_conn *c)
{
    struct sqlerr e;

    c->r.broken = c->r.too_long = false;
    fr_log(FR_LOG_WARN, "%s: a request of more than %d bytes is refused", c->io->peer,
           TDS_MAX_REQUEST_BYTES);
    sqlerr_setf(&e, 40517, 16, "fullrackd takes no request of more than %d MiB.",
                TDS_MAX_REQUEST_BYTES >> 20);
    return tds_drain(&c->r) && respond_message(c, &e) && respond_end(c, DONE_BATCH);
}

static bool run_request(struct tds_conn *c)
{
    if (c->r.type == TDS_ATTENTION) {
        session_clear_cancel(c->session);
        return respond_attention(c);
    }
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        bool ok;

        if (requests[i].type != c->r.type)
            continue;
        c->r.limit = requests[i].limit;
        client_request_begin(c->client);
        ok = ((c->r.status & (TDS_RESET | TDS_RESET_SKIP_TRAN)) == 0 ||
              reset_session(c)) &&
             (requests[i].run(c) || (c->r.too_long && refuse_long(c)));
        /* a cancelled statement may say that its client is gone; the attention is still
         * to come */
        ok = ok || (session_cancelled(c->session) && !c->w.failed && !c->r.broken);
        client_request_end(c->client);
        report_traffic(c);
        return ok;
    }
    fr_log(FR_LOG_INFO, "%s: a message of unknown type 0x%02X", c->io->peer, c->r.type);
    return false;
}

static void serve_requests(struct tds_conn *c)
{
    bool ok = true;

    while (ok && !server_is_stopping(c->srv) && tds_next_message(&c->r))
        ok = run_request(c);
    if (c->r.broken)
        fr_log(FR_LOG_INFO, "%s: malformed or truncated request; connection closed",
               c->io->peer);
}

void tds_serve(struct server *srv, struct client *client, const struct tds_transport *io)
{
    struct tds_conn c = {
        .srv = srv, .client = client, .io = io, .encryption = ENCRYPT_NOT_SUP};

    c.server_name = server_config(srv)->server_name;
    c.tds_version = TDS_7_4;
    if (tds_reader_init(&c.r, io->fill, io->ctx) &&
        tds_writer_init(&c.w, io->send, io->ctx)) {
        c.r.pace = io->pace;
        wire_output_init(&c.out, &c.w);
        c.out.text_pointers = true;
        respond_init(&c);
        if (log_in(&c))
            serve_requests(&c);
        if (c.client != NULL)
            client_set_session(c.client, NULL);
        session_close(&c.session);
        tls_close(&c.tls);
        wire_output_free(&c.out);
    }
    free(c.wts);
    tds_writer_free(&c.w);
    tds_reader_free(&c.r);
}
