/* From an address to a session that is logged in. */
#include "wire/wire.h"

#include "base/clock.h"
#include "wire/login.h"
#include "wire/tls.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What the two sides' words about encryption come to. */
enum agreement {
    AGREE_CLEAR,
    AGREE_LOGIN,
    AGREE_FULL,
    AGREE_CLEAR_AGAIN, /* a new connection that asks for no encryption */
    REFUSE_DEMANDED,
    REFUSE_MISSING,
    REFUSE_ANSWER
};

static const enum wire_encryption asks[] = {
    [FR_ENCRYPT_OFF] = WIRE_ENCRYPTION_NONE,
    [FR_ENCRYPT_LOGIN] = WIRE_ENCRYPTION_OFF,
    [FR_ENCRYPT_PREFER] = WIRE_ENCRYPTION_ON,
    [FR_ENCRYPT_REQUIRE] = WIRE_ENCRYPTION_ON,
};

/* MS-TDS 2.2.6.5, by our wish and the server's answer.  A server that has encryption
 * never answers ON with OFF: that is someone in between. */
static const enum agreement agreements[4][4] = {
    [FR_ENCRYPT_OFF] = {AGREE_CLEAR, REFUSE_DEMANDED, AGREE_CLEAR, REFUSE_DEMANDED},
    [FR_ENCRYPT_LOGIN] = {AGREE_LOGIN, AGREE_FULL, REFUSE_MISSING, AGREE_FULL},
    [FR_ENCRYPT_PREFER] = {REFUSE_ANSWER, AGREE_FULL, AGREE_CLEAR_AGAIN, AGREE_FULL},
    [FR_ENCRYPT_REQUIRE] = {REFUSE_ANSWER, AGREE_FULL, REFUSE_MISSING, AGREE_FULL},
};

static const char *const refusals[] = {
    [REFUSE_DEMANDED] = "the server demands encryption (--encrypt prefer)",
    [REFUSE_MISSING] = "the server has no encryption",
    [REFUSE_ANSWER] = "the server answers a wish for encryption with half of it",
};

struct opening {
    const struct fr_connect *how;
    struct wire_address to;
    enum fr_encrypt encrypt;
    uint64_t deadline_ms;
};

bool fr_wire_can_open(const struct fr_connect *how, char *why, size_t why_bytes)
{
    struct wire_address to;
    struct fr_err err = {0};
    const char *text = NULL;

    if (wire_address_parse(how->server, &to, &err) != FR_OK)
        text = err.text;
    else if (how->user == NULL || how->user[0] == '\0')
        text = "there is no user: another kind of login than the server's own";
    if (text != NULL && why_bytes > 0)
        snprintf(why, why_bytes, "%s", text);
    return text == NULL;
}

static fr_status connect_wire(const struct opening *o, struct wire **out,
                              struct fr_err *err)
{
    struct wire_link *link;
    fr_status st =
        wire_socket_open(&o->to, o->how->tcp_timeout_ms, o->deadline_ms, &link, err);

    *out = NULL;
    if (st == FR_OK)
        st = wire_new(link, WIRE_DEFAULT_PACKET_BYTES, out, err);
    if (st == FR_OK)
        (*out)->deadline_ms = o->deadline_ms;
    return st;
}

static fr_status start_tls(struct wire *w, const struct opening *o, struct fr_err *err)
{
    struct wire_tls_how how = {
        .host = o->to.host, .ca_file = o->how->ca_file, .deadline_ms = o->deadline_ms};
    struct wire_link *tls;
    fr_status st = wire_tls_open(w->link, &how, &tls, err);

    if (st == FR_OK)
        w->link = tls;
    return st;
}

static fr_status log_in(struct wire *w, const struct opening *o, enum agreement agreed,
                        struct fr_err *err)
{
    fr_status st = FR_OK;

    if (agreed != AGREE_CLEAR)
        st = start_tls(w, o, err);
    if (st != FR_OK)
        return st;
    w->is_encrypted = agreed == AGREE_FULL;
    st = wire_send_login(w, o->how, o->to.host, err);
    if (st == FR_OK && agreed == AGREE_LOGIN) {
        if (!wire_is_drained(w))
            return wire_fault_error(w, "login", err);
        w->link = wire_tls_end(w->link);
    }
    if (st == FR_OK)
        st = wire_read_login(w, o->how, err);
    return st;
}

/* One connection: FR_EMPTY asks for another one, in clear. */
static fr_status open_once(const struct opening *o, struct wire **out, struct fr_err *err)
{
    enum wire_encryption answer;
    enum agreement agreed = REFUSE_ANSWER;
    fr_status st = connect_wire(o, out, err);

    if (st == FR_OK)
        st = wire_prelogin(*out, asks[o->encrypt], &answer, err);
    if (st == FR_OK)
        agreed = agreements[o->encrypt][answer];
    if (st == FR_OK && agreed >= REFUSE_DEMANDED)
        st = fr_err_set(err, FR_ECONNECT, "%s", refusals[agreed]);
    else if (st == FR_OK && agreed == AGREE_CLEAR_AGAIN)
        st = FR_EMPTY;
    if (st == FR_OK)
        st = log_in(*out, o, agreed, err);
    if (st != FR_OK && *out != NULL) {
        wire_free(*out);
        *out = NULL;
    }
    return st;
}

/* With what the first answers may ask for: once more in clear, once to another server. */
static fr_status open_wire(struct opening *o, struct wire **out, struct fr_err *err)
{
    bool routed = false;

    for (;;) {
        fr_status st = open_once(o, out, err);

        if (st == FR_EMPTY && o->encrypt == FR_ENCRYPT_PREFER) {
            o->encrypt = FR_ENCRYPT_OFF;
            continue;
        }
        if (st != FR_OK || (*out)->route.host[0] == '\0')
            return st;
        o->to = (*out)->route;
        /* never from an encrypted session to one in clear */
        o->encrypt = (*out)->is_encrypted ? FR_ENCRYPT_REQUIRE : fr_connect_wish(o->how);
        wire_free(*out);
        *out = NULL;
        if (routed)
            return fr_err_set(err, FR_ECONNECT, "redirected a second time, to %s:%u",
                              o->to.host, o->to.port);
        routed = true;
    }
}

/* The login time-out holds for these statements, too; the end of a reply takes it off. */
static fr_status begin_session(struct wire *w, const struct opening *o,
                               struct fr_err *err)
{
    const struct fr_connect *how = o->how;
    struct fr_sql_one one = {0};
    fr_status st = FR_OK;

    w->deadline_ms = o->deadline_ms;
    w->silence_ms =
        how->statement_timeout_ms < INT_MAX ? how->statement_timeout_ms : INT_MAX;
    if (how->session_options != NULL)
        st = fr_sql_run(&w->sql, how->session_options, NULL, NULL, err);
    w->deadline_ms = o->deadline_ms;
    if (st == FR_OK)
        st = fr_sql_run(&w->sql, "SELECT @@SPID", fr_sql_take_one, &one, err);
    if (st == FR_OK)
        w->sql.spid = (int)fr_sql_one_i64(&one, 0, 0);
    return st;
}

static uint64_t deadline_of(const struct fr_connect *how)
{
    return how->login_timeout_ms == 0 ? 0 : fr_clock_ms() + how->login_timeout_ms;
}

fr_status fr_wire_open(const struct fr_connect *how, struct fr_sql **out,
                       struct fr_err *err)
{
    struct opening o = {
        .how = how, .encrypt = fr_connect_wish(how), .deadline_ms = deadline_of(how)};
    struct wire *w = NULL;
    char why[FR_ERR_TEXT_BYTES];
    fr_status st;

    *out = NULL;
    if (!fr_wire_can_open(how, why, sizeof why))
        return fr_err_set(err, FR_EARG, "%s", why);
    st = wire_address_parse(how->server, &o.to, err);
    if (st == FR_OK)
        st = open_wire(&o, &w, err);
    if (st == FR_OK && w != NULL)
        st = begin_session(w, &o, err);
    if (st == FR_OK && w != NULL) {
        *out = &w->sql;
        return FR_OK;
    }
    if (w != NULL)
        wire_free(w);
    if (err != NULL && strstr(err->text, how->server) == NULL)
        fr_err_wrap(err, "cannot connect to %s", how->server);
    if (st != FR_EARG && st != FR_ENOMEM)
        st = FR_ECONNECT;
    if (err != NULL)
        err->status = st;
    return st;
}

bool fr_wire_is_encrypted(const struct fr_sql *s)
{
    return ((const struct wire *)s)->is_encrypted;
}

fr_status fr_wire_ask_encryption(const struct fr_connect *how, bool *has,
                                 struct fr_err *err)
{
    struct opening o = {.how = how, .deadline_ms = deadline_of(how)};
    enum wire_encryption answer = WIRE_ENCRYPTION_NONE;
    struct wire *w = NULL;
    fr_status st = wire_address_parse(how->server, &o.to, err);

    if (st == FR_OK)
        st = connect_wire(&o, &w, err);
    if (st == FR_OK)
        st = wire_prelogin(w, WIRE_ENCRYPTION_ON, &answer, err);
    if (st == FR_OK)
        *has = answer != WIRE_ENCRYPTION_NONE;
    if (w != NULL)
        wire_free(w);
    return st;
}
