/*
 * The reply parser (MS-TDS 2.2.7): one function a token, in a table.
 *
 * Every length is checked against a maximum before anything is kept; what is not needed
 * is read over.  A token the table does not know ends the session: its length is unknown.
 */
#include "wire/reply.h"

#include "base/clock.h"
#include "base/num.h"
#include "wire/charset.h"
#include "wire/columns.h"

#include <stdio.h>
#include <string.h>

enum {
    SEVERITY_ERROR = 11, /* below: information */
    SEVERITY_FATAL = 20  /* the server ends the session */
};

/* What each USE says. */
enum { CHANGED_DATABASE = 5701, CHANGED_LANGUAGE = 5703 };

enum done_bits {
    DONE_MORE = 0x0001,
    DONE_ERROR = 0x0002,
    DONE_COUNT = 0x0010,
    DONE_ATTENTION = 0x0020,
    DONE_SERVER_ERROR = 0x0100
};

enum step {
    STEP_GO_ON,
    STEP_END,  /* the reply is complete */
    STEP_FAULT /* w->fault */
};

struct reader {
    struct wire *w;
    struct wire_reply *reply;
    struct wire_columns columns;
    struct fr_err error; /* the first error of the server */
    struct fr_err *err;  /* the caller's, for its own callbacks */
    fr_status caller;    /* what a callback returned */
    bool stop_at_error;
    bool is_fatal;
    bool had_result; /* the statement that is not done yet */
};

static unsigned u16_of(const unsigned char *p)
{
    return (unsigned)(p[0] | p[1] << 8);
}

static uint32_t u32_of(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

/* A callback of the caller's refused: the server is asked to stop, the rest is read over.
 */
static enum step stop_server(struct reader *r, fr_status why)
{
    struct wire *w = r->w;

    r->caller = why;
    if (w->attention_sent)
        return STEP_GO_ON;
    if (!wire_send_attention(w)) {
        w->fault = WIRE_FAULT_BROKEN;
        return STEP_FAULT;
    }
    wire_await_attention(w);
    return STEP_GO_ON;
}

static bool is_told(const struct reader *r)
{
    return r->caller == FR_OK && !r->w->attention_sent;
}

/* Of the first result alone. */
static void tell_collations(struct reader *r)
{
    struct wire_reply *reply = r->reply;

    if (reply->columns != 0)
        return;
    reply->columns = r->columns.count;
    for (size_t i = 0; i < reply->columns && i < reply->collation_room; i++)
        memcpy(reply->collations[i], wire_type_collation(&r->columns.types[i]),
               sizeof reply->collations[i]);
}

static enum step read_columns(struct reader *r)
{
    enum { NO_METADATA = 0xFFFF };
    struct wire *w = r->w;
    struct wire_columns *c = &r->columns;
    const unsigned char *p = wire_take(w, 2);
    size_t count = p == NULL ? 0 : u16_of(p);

    if (p == NULL)
        return STEP_FAULT;
    if (count == NO_METADATA)
        return STEP_GO_ON;
    if (count == 0 || count > WIRE_MAX_COLUMNS) {
        wire_protocol_fault(w, "a result of %zu columns", count);
        return STEP_FAULT;
    }
    if (!wire_columns_make(c, count)) {
        w->fault = WIRE_FAULT_MEMORY;
        return STEP_FAULT;
    }
    for (size_t i = 0; i < count; i++) {
        /* user type and flags are of no use here */
        if (!wire_skip(w, 6) || !wire_type_read(w, &c->types[i], true))
            return STEP_FAULT;
        p = wire_take(w, 1);
        c->starts[i] = c->names_text.len;
        if (p == NULL || !wire_text_read(w, p[0], &c->names_text))
            return STEP_FAULT;
        fr_buf_add_byte(&c->names_text, '\0');
    }
    if (c->names_text.failed) {
        w->fault = WIRE_FAULT_MEMORY;
        return STEP_FAULT;
    }
    r->had_result = true;
    tell_collations(r);
    for (size_t i = 0; i < count; i++)
        c->names[i] = c->names_text.data + c->starts[i];
    if (w->sql.columns != NULL && is_told(r)) {
        fr_status st = w->sql.columns(
            w->sql.columns_ctx, &(struct fr_sql_row){.columns = count, .names = c->names},
            r->err);

        if (st != FR_OK)
            return stop_server(r, st);
    }
    return STEP_GO_ON;
}

/* nulls: NBCROW's bitmap, or NULL. */
static enum step read_values(struct reader *r, const unsigned char *nulls)
{
    struct wire_columns *c = &r->columns;
    bool too_large = false;
    fr_status st;

    if (c->count == 0) {
        wire_protocol_fault(r->w, "a row without columns");
        return STEP_FAULT;
    }
    fr_buf_reset(&c->text);
    for (size_t i = 0; i < c->count; i++) {
        enum wire_value_result got = WIRE_VALUE_NULL;

        c->starts[i] = c->text.len;
        if (nulls == NULL || (nulls[i / 8] >> (i % 8) & 1) == 0)
            got = wire_value_read(r->w, &c->types[i], &c->text);
        if (got == WIRE_VALUE_FAULT)
            return STEP_FAULT;
        too_large = too_large || got == WIRE_VALUE_TOO_LARGE;
        c->lengths[i] = c->text.len - c->starts[i];
        c->values[i] = got == WIRE_VALUE_OK ? "" : NULL;
        fr_buf_add_byte(&c->text, '\0');
    }
    if (r->reply->row == NULL || !is_told(r))
        return STEP_GO_ON;
    if (too_large || c->text.failed)
        return stop_server(
            r, fr_err_set(r->err, FR_ENOMEM, "a row of the answer is too large"));
    /* only now is the text at its final place */
    for (size_t i = 0; i < c->count; i++)
        if (c->values[i] != NULL)
            c->values[i] = c->text.data + c->starts[i];
    st = r->reply->row(r->reply->ctx,
                       &(struct fr_sql_row){.columns = c->count,
                                            .names = c->names,
                                            .values = c->values,
                                            .lengths = c->lengths},
                       r->err);
    return st == FR_OK ? STEP_GO_ON : stop_server(r, st);
}

static enum step read_row(struct reader *r)
{
    return read_values(r, NULL);
}

static enum step read_sparse_row(struct reader *r)
{
    unsigned char nulls[WIRE_MAX_COLUMNS / 8];
    size_t n = (r->columns.count + 7) / 8;
    const unsigned char *p = wire_take(r->w, n);

    if (p == NULL)
        return STEP_FAULT;
    memcpy(nulls, p, n);
    return read_values(r, nulls);
}

static enum step read_done(struct reader *r)
{
    const unsigned char *p = wire_take(r->w, 12);
    unsigned status = p == NULL ? 0 : u16_of(p);

    if (p == NULL)
        return STEP_FAULT;
    if ((status & DONE_COUNT) != 0) {
        r->reply->has_count = true;
        r->reply->rows = (int64_t)((uint64_t)u32_of(p + 8) << 32 | u32_of(p + 4));
        /* counts are the server's word: their sum may be anything */
        if (!r->had_result &&
            __builtin_add_overflow(r->w->sql.changed_rows, r->reply->rows,
                                   &r->w->sql.changed_rows))
            r->w->sql.changed_rows = INT64_MAX;
    }
    r->had_result = false;
    if ((status & (DONE_ERROR | DONE_SERVER_ERROR)) != 0 && !r->w->attention_sent &&
        r->error.status == FR_OK)
        fr_err_set(&r->error, FR_EDB, "the server reports an error without a text");
    if ((status & DONE_ATTENTION) != 0) {
        r->reply->was_attention = true;
        return STEP_END;
    }
    if ((status & DONE_MORE) != 0)
        return STEP_GO_ON;
    /* with an attention on its way its answer is still to come */
    return r->w->attention_sent ? STEP_GO_ON : STEP_END;
}

static enum step read_done_in_procedure(struct reader *r)
{
    enum step next = read_done(r);

    /* DONEPROC follows, whatever the bits say */
    return next == STEP_END && !r->reply->was_attention ? STEP_GO_ON : next;
}

/*
 * ERROR and INFO: number, state, class, text, server, procedure, line (MS-TDS 2.2.7.10).
 * Errors of severity 10 and less are information.
 */
static enum step read_message(struct reader *r, bool is_error)
{
    enum { FIXED_BYTES = 8 };
    const unsigned char *p = wire_take(r->w, 2);
    struct fr_buf text;
    size_t n, chars;
    int32_t number;
    unsigned severity;

    if (p == NULL || (n = u16_of(p), p = wire_take(r->w, n)) == NULL)
        return STEP_FAULT;
    if (n < FIXED_BYTES || (chars = u16_of(p + 6), 2 * chars > n - FIXED_BYTES)) {
        wire_protocol_fault(r->w, "a message of %zu bytes", n);
        return STEP_FAULT;
    }
    number = (int32_t)u32_of(p);
    severity = p[5];
    is_error = is_error && severity >= SEVERITY_ERROR;
    if (is_error ? r->error.status != FR_OK
                 : r->w->sql.message == NULL || number == CHANGED_DATABASE ||
                       number == CHANGED_LANGUAGE)
        return STEP_GO_ON;
    fr_buf_init(&text, 4 * 65536);
    (void)wire_add_utf16(&text, p + FIXED_BYTES, 2 * chars);
    if (!is_error) {
        r->w->sql.message(r->w->sql.message_ctx, fr_buf_text(&text));
        fr_buf_free(&text);
        return STEP_GO_ON;
    }
    fr_err_set(&r->error, FR_EDB, "%.700s (server error %d)", fr_buf_text(&text), number);
    fr_buf_free(&text);
    r->error.server_number = number;
    r->is_fatal = severity >= SEVERITY_FATAL;
    return r->stop_at_error ? STEP_END : STEP_GO_ON;
}

static enum step read_error(struct reader *r)
{
    return read_message(r, true);
}

static enum step read_info(struct reader *r)
{
    return read_message(r, false);
}

static enum step read_environment(struct reader *r)
{
    const unsigned char *p = wire_take(r->w, 2);
    size_t n;

    if (p == NULL || (n = u16_of(p), p = wire_take(r->w, n)) == NULL)
        return STEP_FAULT;
    return wire_environment(r->w, p, n) ? STEP_GO_ON : STEP_FAULT;
}

static enum step read_login_answer(struct reader *r)
{
    enum { TDS_7_2 = 0x72 };
    const unsigned char *p = wire_take(r->w, 2);
    size_t n;

    if (p == NULL || (n = u16_of(p), p = wire_take(r->w, n)) == NULL)
        return STEP_FAULT;
    /* interface, version */
    if (n < 5) {
        wire_protocol_fault(r->w, "a login answer of %zu bytes", n);
        return STEP_FAULT;
    }
    /* what came before 7.2 has shorter counts: its tokens would be misread */
    if (p[1] < TDS_7_2) {
        wire_protocol_fault(r->w, "protocol version 0x%02x%02x%02x%02x", p[1], p[2], p[3],
                            p[4]);
        return STEP_FAULT;
    }
    r->w->is_logged_in = true;
    return STEP_GO_ON;
}

static enum step read_status(struct reader *r)
{
    return wire_take(r->w, 4) == NULL ? STEP_FAULT : STEP_GO_ON;
}

static bool is_text(enum fr_sql_type type)
{
    return type == FR_SQL_NVARCHAR || type == FR_SQL_GUID || type == FR_SQL_DATETIME;
}

static struct fr_sql_param *find_output(const struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->reply->param_count; i++) {
        struct fr_sql_param *p = &r->reply->params[i];

        if (p->is_output && strcmp(p->name, name) == 0)
            return p;
    }
    return NULL;
}

/* An output parameter's value into the session's buffer; its place is in p->number until
 * all are read, since the buffer may move. */
static enum step keep_output(struct reader *r, const struct wire_type *type,
                             struct fr_sql_param *p)
{
    struct fr_buf *out = &r->w->outputs;
    size_t start = out->len;
    enum wire_value_result got = wire_value_read(r->w, type, out);

    if (got == WIRE_VALUE_FAULT)
        return STEP_FAULT;
    fr_buf_add_byte(out, '\0');
    if (p == NULL || r->caller != FR_OK)
        return STEP_GO_ON;
    if (got == WIRE_VALUE_TOO_LARGE || out->failed) {
        r->caller =
            fr_err_set(r->err, FR_ENOMEM, "output parameter %s is too large", p->name);
        return STEP_GO_ON;
    }
    p->is_null = got == WIRE_VALUE_NULL;
    if (p->is_null)
        return STEP_GO_ON;
    if (is_text(p->type))
        p->number = (int64_t)start;
    else if (fr_num_i64(out->data + start, INT64_MIN, INT64_MAX, &p->number) != FR_OK)
        r->caller =
            fr_err_set(r->err, FR_EPROTO, "output parameter %s is not a number", p->name);
    return STEP_GO_ON;
}

/* ordinal, name, status, user type, flags, TYPE_INFO, value (MS-TDS 2.2.7.19) */
static enum step read_output(struct reader *r)
{
    enum { MAX_NAME_BYTES = 4 * 256 };
    struct wire *w = r->w;
    const unsigned char *p = wire_take(w, 3);
    struct wire_type type;
    struct fr_buf name;
    enum step next = STEP_FAULT;

    if (p == NULL)
        return STEP_FAULT;
    fr_buf_init(&name, MAX_NAME_BYTES);
    if (wire_text_read(w, p[2], &name) && wire_skip(w, 7) &&
        wire_type_read(w, &type, false))
        next = keep_output(r, &type, find_output(r, fr_buf_text(&name)));
    fr_buf_free(&name);
    return next;
}

/* Tokens with a two-byte length, of no use here. */
static enum step skip_short(struct reader *r)
{
    const unsigned char *p = wire_take(r->w, 2);

    return p != NULL && wire_skip(r->w, u16_of(p)) ? STEP_GO_ON : STEP_FAULT;
}

static enum step skip_long(struct reader *r)
{
    const unsigned char *p = wire_take(r->w, 4);

    return p != NULL && wire_skip(r->w, u32_of(p)) ? STEP_GO_ON : STEP_FAULT;
}

/* A list of features, up to 0xFF; none was asked for, so it is only read over. */
static enum step skip_features(struct reader *r)
{
    enum { END_OF_LIST = 0xFF };
    const unsigned char *p;

    while ((p = wire_take(r->w, 1)) != NULL && p[0] != END_OF_LIST) {
        p = wire_take(r->w, 4);
        if (p == NULL || !wire_skip(r->w, u32_of(p)))
            return STEP_FAULT;
    }
    return p != NULL ? STEP_GO_ON : STEP_FAULT;
}

static const struct {
    uint8_t token;
    enum step (*read)(struct reader *r);
} tokens[] = {
    {0xD1, read_row},               /* ROW */
    {0xD2, read_sparse_row},        /* NBCROW */
    {0x81, read_columns},           /* COLMETADATA */
    {0xFD, read_done},              /* DONE */
    {0xFE, read_done},              /* DONEPROC */
    {0xFF, read_done_in_procedure}, /* DONEINPROC */
    {0xAA, read_error},             /* ERROR */
    {0xAB, read_info},              /* INFO */
    {0xE3, read_environment},       /* ENVCHANGE */
    {0xAD, read_login_answer},      /* LOGINACK */
    {0x79, read_status},            /* RETURNSTATUS */
    {0xAC, read_output},            /* RETURNVALUE */
    {0xA9, skip_short},             /* ORDER */
    {0xA4, skip_short},             /* TABNAME */
    {0xA5, skip_short},             /* COLINFO */
    {0xED, skip_short},             /* SSPI: never asked for */
    {0xE4, skip_long},              /* SESSIONSTATE */
    {0xEE, skip_long},              /* FEDAUTHINFO */
    {0xAE, skip_features},          /* FEATUREEXTACK */
};

static enum step read_token(struct reader *r)
{
    const unsigned char *p = wire_take(r->w, 1);

    if (p == NULL && r->w->fault == WIRE_FAULT_NONE && r->w->attention_sent) {
        /* the answer to an attention may be a message of its own */
        wire_next_message(r->w);
        return STEP_GO_ON;
    }
    if (p == NULL)
        return STEP_FAULT;
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++)
        if (tokens[i].token == p[0])
            return tokens[i].read(r);
    wire_protocol_fault(r->w, "token 0x%02x", p[0]);
    return STEP_FAULT;
}

static enum step read_tokens(struct reader *r)
{
    enum step next;

    fr_buf_reset(&r->w->outputs);
    do
        next = read_token(r);
    while (next == STEP_GO_ON);
    /* whatever stands behind the end of a reply: drop it, to the end of its message */
    while (next == STEP_END && !r->stop_at_error && wire_need(r->w, 1) != NULL)
        r->w->in_at = r->w->in_end;
    return next == STEP_END && r->w->fault != WIRE_FAULT_NONE ? STEP_FAULT : next;
}

static void place_outputs(struct reader *r)
{
    for (size_t i = 0; i < r->reply->param_count; i++) {
        struct fr_sql_param *p = &r->reply->params[i];

        if (p->is_output && !p->is_null && is_text(p->type))
            p->text = r->w->outputs.data + p->number;
    }
}

/* What the server said, or what broke. */
static fr_status outcome(struct reader *r, enum step end, const char *what,
                         struct fr_err *err)
{
    struct wire *w = r->w;
    bool timed_out = w->attention_sent && r->caller == FR_OK;

    if (end == STEP_FAULT && w->fault == WIRE_FAULT_NONE)
        wire_protocol_fault(w, "it ends early");
    if (end == STEP_FAULT && r->error.status == FR_OK) {
        fr_status st = wire_fault_error(w, what, r->caller == FR_OK ? err : NULL);

        return r->caller == FR_OK ? st : r->caller;
    }
    if (end == STEP_FAULT || r->is_fatal)
        wire_lose(w);
    if (r->caller != FR_OK)
        return r->caller;
    if (timed_out && r->error.status == FR_OK)
        return fr_err_set(err, FR_ELOST,
                          "%s: no answer from the server within the time-out "
                          "(--statement-timeout; of phases and backups --phase-timeout)",
                          what);
    if (r->error.status == FR_OK) {
        place_outputs(r);
        return FR_OK;
    }
    fr_err_set(err, w->sql.lost ? FR_ELOST : FR_EDB, "%s: %s", what, r->error.text);
    if (err != NULL)
        err->server_number = r->error.server_number;
    return w->sql.lost ? FR_ELOST : FR_EDB;
}

fr_status wire_read_reply(struct wire *w, struct wire_reply *reply, const char *what,
                          struct fr_err *err)
{
    struct reader r = {.w = w, .reply = reply, .err = err, .caller = FR_OK};
    enum step end;
    fr_status st;

    if (w->sql.lost)
        return fr_err_set(err, FR_ELOST, "%s: the connection was lost", what);
    reply->columns = 0;
    reply->has_count = reply->was_attention = false;
    reply->rows = 0;
    w->attention_sent = false;
    /* a session that is not open in time is given up, not asked to stop */
    w->asks_to_stop = w->is_logged_in && w->deadline_ms == 0;
    end = read_tokens(&r);
    st = outcome(&r, end, what, err);
    w->asks_to_stop = w->attention_sent = false;
    w->deadline_ms = w->is_logged_in ? 0 : w->deadline_ms;
    wire_columns_free(&r.columns);
    return st;
}

fr_status wire_sending_error(struct wire_out *o, const char *what, struct fr_err *err)
{
    struct wire *w = o->wire;
    struct wire_reply reply = {0};
    struct reader r = {.w = w, .reply = &reply, .caller = FR_OK, .stop_at_error = true};
    uint64_t now_ms = fr_clock_ms();
    fr_status st;

    if (w->fault != WIRE_FAULT_SPOKE)
        return wire_fault_error(w, what, err);
    w->fault = WIRE_FAULT_NONE;
    w->deadline_ms = now_ms + WIRE_ATTENTION_MS;
    (void)read_tokens(&r);
    wire_columns_free(&r.columns);
    st = r.error.status == FR_OK
             ? fr_err_set(err, FR_ELOST,
                          "%s: the server ended the statement before its end", what)
             : fr_err_set(err, r.is_fatal ? FR_ELOST : FR_EDB, "%s: %s", what,
                          r.error.text);
    if (err != NULL)
        err->server_number = r.error.server_number;
    wire_lose(w);
    return st;
}
