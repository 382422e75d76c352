/* Remote procedure calls (MS-TDS 2.2.6.6). */
#include "server/tds/serve_priv.h"

#include <stdlib.h>
#include <string.h>

/* Procedures known by number. */
static const struct {
    uint16_t id;
    const char *name;
    bool cursor; /* refused: fullrackd has no server cursors */
} known[] = {
    {1, "sp_cursor", true},         {2, "sp_cursoropen", true},
    {3, "sp_cursorprepare", true},  {4, "sp_cursorexecute", true},
    {5, "sp_cursorprepexec", true}, {6, "sp_cursorunprepare", true},
    {7, "sp_cursorfetch", true},    {8, "sp_cursoroption", true},
    {9, "sp_cursorclose", true},    {10, "sp_executesql", false},
    {11, "sp_prepare", false},      {12, "sp_execute", false},
    {13, "sp_prepexec", false},     {14, "sp_prepexecrpc", true},
    {15, "sp_unprepare", false},
};

enum {
    MAX_PROC_NAME_UNITS = 1046, /* four parts of 128, quoted */
    PROC_ID_MARK = 0xFFFF,
    SEPARATOR_BATCH = 0xFF,
    SEPARATOR_NO_EXEC = 0xFE,
    PARAM_BY_REF = 0x01,
    PARAM_DEFAULT = 0x02,
    PARAM_ENCRYPTED = 0x08,
    PARAM_NAME_BYTES = 128 * 3 + 1
};

struct param_space {
    struct fr_buf hold; /* the value's bytes */
    char name[PARAM_NAME_BYTES];
};

struct call {
    struct fr_buf proc;
    struct rpc_param *params;
    struct param_space **spaces;
    size_t n, cap;
    bool refused; /* e says why; the message's rest cannot be trusted */
    struct sqlerr e;
};

static void call_free(struct call *k)
{
    for (size_t i = 0; i < k->n; i++) {
        fr_buf_free(&k->spaces[i]->hold);
        free(k->spaces[i]);
    }
    free(k->params);
    free(k->spaces);
    fr_buf_free(&k->proc);
}

static bool read_proc(struct tds_conn *c, struct call *k)
{
    uint16_t units, id, flags;

    if (!tds_read_u16(&c->r, &units))
        return false;
    if (units != PROC_ID_MARK)
        return units > 0 && units <= MAX_PROC_NAME_UNITS &&
               request_text(&c->r, units, &k->proc) && tds_read_u16(&c->r, &flags);
    if (!tds_read_u16(&c->r, &id) || !tds_read_u16(&c->r, &flags))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].id == id) {
            k->refused = known[i].cursor;
            if (known[i].cursor)
                sqlerr_setf(&k->e, 40515, 16,
                            "%s: server cursors are not supported by fullrackd.",
                            known[i].name);
            return fr_buf_add_str(&k->proc, known[i].name);
        }
    k->refused = true;
    sqlerr_setf(&k->e, 2812, 16, "Could not find stored procedure number %d.", id);
    return true;
}

static struct param_space *add_param(struct call *k)
{
    struct param_space *space;
    size_t cap = k->cap == 0 ? 8 : 2 * k->cap;
    void *params, *spaces;

    if (k->n == k->cap) {
        params = realloc(k->params, cap * sizeof *k->params);
        if (params != NULL)
            k->params = params;
        spaces = realloc(k->spaces, cap * sizeof(struct param_space *));
        if (spaces != NULL)
            k->spaces = spaces;
        if (params == NULL || spaces == NULL)
            return NULL;
        k->cap = cap;
    }
    space = calloc(1, sizeof *space);
    if (space == NULL)
        return NULL;
    fr_buf_init(&space->hold, 2 * (size_t)TDS_MAX_REQUEST_BYTES);
    k->spaces[k->n] = space;
    memset(&k->params[k->n], 0, sizeof k->params[0]);
    k->params[k->n].name = space->name;
    k->n++;
    return space;
}

static bool read_param_name(struct tds_reader *r, uint8_t units,
                            struct param_space *space)
{
    struct fr_buf name;
    bool ok;

    fr_buf_init(&name, PARAM_NAME_BYTES - 1);
    ok = units <= 128 && request_text(r, units, &name);
    if (ok)
        memcpy(space->name, fr_buf_text(&name), name.len + 1);
    fr_buf_free(&name);
    return ok;
}

/* One parameter; false: the message is broken. */
static bool read_param(struct tds_conn *c, struct wire_input *in, struct call *k)
{
    struct param_space *space = add_param(k);
    struct rpc_param *p;
    struct wire_type wt = {0};
    enum wire_result rc;
    uint8_t units, flags;

    if (space == NULL || !tds_read_u8(&c->r, &units) ||
        !read_param_name(&c->r, units, space) || !tds_read_u8(&c->r, &flags))
        return false;
    p = &k->params[k->n - 1];
    p->output = (flags & PARAM_BY_REF) != 0;
    p->use_default = (flags & PARAM_DEFAULT) != 0;
    rc = (flags & PARAM_ENCRYPTED) != 0 ? WIRE_BAD_TYPE : wire_read_type(&c->r, &wt);
    if (rc == WIRE_OK)
        rc = wire_read_value(in, &wt, &space->hold, &p->value);
    if (rc == WIRE_BROKEN)
        return false;
    if (rc != WIRE_OK && !k->refused) {
        k->refused = true;
        request_value_error(rc, (int)k->n, space->name, &wt, &k->e);
    }
    return true;
}

/* Up to the separator or the end; *more: another call follows. */
static bool read_params(struct tds_conn *c, struct call *k, bool *more)
{
    struct wire_input in;
    uint8_t next;
    bool ok = true;

    *more = false;
    wire_input_init(&in, &c->r, false);
    while (ok && !*more && !tds_at_end(&c->r)) {
        ok = tds_peek_u8(&c->r, &next);
        if (ok && (next == SEPARATOR_BATCH || next == SEPARATOR_NO_EXEC)) {
            ok = tds_skip(&c->r, 1);
            *more = true;
        } else if (ok && k->n >= TDS_MAX_PARAMS) {
            k->refused = true;
            sqlerr_set(&k->e, 8003, TDS_MAX_PARAMS);
            break;
        } else if (ok) {
            ok = read_param(c, &in, k);
            if (k->refused && k->e.number != 40515 && k->e.number != 2812)
                break;
        }
    }
    wire_input_free(&in);
    return ok && !c->r.broken;
}

/* One call of the message; *more: another one follows. */
static bool run_call(struct tds_conn *c, bool *more)
{
    struct call k = {0};
    bool ok;

    *more = false;
    fr_buf_init(&k.proc, 4 * MAX_PROC_NAME_UNITS);
    ok = read_proc(c, &k) && read_params(c, &k, more);
    if (ok && k.refused) {
        ok = respond_message(c, &k.e) && tds_drain(&c->r);
        *more = false;
    } else if (ok && request_may_run(c)) {
        ok = session_run_rpc(c->session, fr_buf_text(&k.proc), k.params, k.n);
    }
    call_free(&k);
    return ok;
}

bool request_rpc(struct tds_conn *c)
{
    bool more = true, ok = request_headers(&c->r);

    while (ok && more) {
        ok = run_call(c, &more);
        /* a separator may also end the last call */
        more = more && !tds_at_end(&c->r);
    }
    return ok && respond_end(c, DONE_PROC);
}
