/* raise.c - RAISERROR and THROW. */
#include "server/tsql/interp.h"

#include "server/value/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_RAISE_ARGS = 20, MAX_WIDTH = 400 };

/* One conversion of a message: %[flags][width][.precision][h|l|I64]type. */
struct conversion {
    char flags[6];
    int width;     /* -1: none, -2: from an argument */
    int precision; /* as width */
    char type;
};

static const char *read_number(const char *p, int *out)
{
    if (*p == '*') {
        *out = -2;
        return p + 1;
    }
    if (*p >= '0' && *p <= '9')
        *out = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (*out <= MAX_WIDTH)
            *out = *out * 10 + (*p - '0');
    }
    return p;
}

static const char *read_conversion(const char *p, struct conversion *c)
{
    size_t n = 0;

    memset(c, 0, sizeof *c);
    c->width = c->precision = -1;
    while (*p != '\0' && strchr("-+0# ", *p) != NULL) {
        if (n < sizeof c->flags - 1 && strchr(c->flags, *p) == NULL)
            c->flags[n++] = *p;
        p++;
    }
    p = read_number(p, &c->width);
    if (*p == '.') {
        c->precision = 0;
        p = read_number(p + 1, &c->precision);
    }
    if (strncmp(p, "I64", 3) == 0)
        p += 3;
    else if (*p == 'l' || *p == 'h')
        p++;
    if (*p != '\0' && strchr("diouxXs", *p) != NULL)
        c->type = *p++;
    return p;
}

struct formatter {
    struct exec_ctx *ctx;
    const struct value *args;
    size_t nargs, next;
    struct fr_buf out;
};

static bool take_width(struct formatter *m, int *width)
{
    if (*width != -2)
        return true;
    if (m->next >= m->nargs || type_family(m->args[m->next].type.id) != FAM_INTEGER)
        return sqlerr_set(&m->ctx->err, 2786, (int)m->next + 1);
    *width = (int)m->args[m->next++].u.i;
    if (*width < 0 || *width > MAX_WIDTH)
        *width = MAX_WIDTH;
    return true;
}

/* No argument or a NULL one is shown as (null). */
static bool put_text(struct formatter *m, const struct conversion *c,
                     const struct value *v)
{
    const char *text = "(null)";
    size_t n = 6;

    if (v != NULL && !v->is_null) {
        text = v->u.s.p;
        n = v->u.s.n;
    }
    if (c->precision >= 0)
        n = text_offset(text, n, (size_t)c->precision);
    if (strchr(c->flags, '-') == NULL) {
        for (size_t w = text_units(text, n); c->width > 0 && w < (size_t)c->width; w++)
            fr_buf_add_byte(&m->out, ' ');
    }
    fr_buf_add(&m->out, text, n);
    if (strchr(c->flags, '-') != NULL) {
        for (size_t w = text_units(text, n); c->width > 0 && w < (size_t)c->width; w++)
            fr_buf_add_byte(&m->out, ' ');
    }
    return true;
}

static void put_padded(struct formatter *m, const struct conversion *c,
                       const char *digits)
{
    size_t n = strlen(digits);
    size_t width = c->width > 0 ? (size_t)c->width : 0;
    bool left = strchr(c->flags, '-') != NULL;
    char pad = !left && strchr(c->flags, '0') != NULL ? '0' : ' ';

    if (pad == '0' && (*digits == '-' || *digits == '+')) {
        fr_buf_add_byte(&m->out, (unsigned char)*digits++);
        n--;
        width -= width > 0;
    }
    for (size_t i = n; !left && i < width; i++)
        fr_buf_add_byte(&m->out, (unsigned char)pad);
    fr_buf_add(&m->out, digits, n);
    for (size_t i = n; left && i < width; i++)
        fr_buf_add_byte(&m->out, ' ');
}

static bool put_number(struct formatter *m, const struct conversion *c,
                       const struct value *v)
{
    char digits[48];
    bool plus = strchr(c->flags, '+') != NULL;
    int64_t i = v == NULL || v->is_null ? 0 : v->u.i;
    uint64_t u = v != NULL && v->type.id != TY_BIGINT ? (uint32_t)i : (uint64_t)i;
    const char *prefix = strchr(c->flags, '#') != NULL && u != 0 ? "0" : "";

    if (v == NULL || v->is_null)
        return put_text(m, c, NULL);
    if (c->type == 'd' || c->type == 'i')
        snprintf(digits, sizeof digits, "%s%" PRId64, plus && i >= 0 ? "+" : "", i);
    else if (c->type == 'u')
        snprintf(digits, sizeof digits, "%" PRIu64, u);
    else if (c->type == 'o')
        snprintf(digits, sizeof digits, "%s%" PRIo64, prefix, u);
    else if (c->type == 'x')
        snprintf(digits, sizeof digits, "%s%" PRIx64, *prefix ? "0x" : "", u);
    else
        snprintf(digits, sizeof digits, "%s%" PRIX64, *prefix ? "0X" : "", u);
    put_padded(m, c, digits);
    return true;
}

static bool put_conversion(struct formatter *m, struct conversion *c)
{
    const struct value *v;
    bool text = c->type == 's';

    if (!take_width(m, &c->width) || !take_width(m, &c->precision))
        return false;
    v = m->next < m->nargs ? &m->args[m->next] : NULL;
    m->next++;
    if (v != NULL && !v->is_null && type_is_string(v->type.id) != text)
        return sqlerr_set(&m->ctx->err, 2786, (int)m->next);
    return text ? put_text(m, c, v) : put_number(m, c, v);
}

bool message_format(struct exec_ctx *ctx, const char *fmt, const struct value *args,
                    size_t n, char *out, size_t size)
{
    struct formatter m = {.ctx = ctx, .args = args, .nargs = n};
    bool ok = true;

    fr_buf_init(&m.out, 64 * 1024);
    while (*fmt != '\0' && ok) {
        struct conversion c;

        if (*fmt != '%') {
            fr_buf_add_byte(&m.out, (unsigned char)*fmt++);
        } else if (fmt[1] == '%') {
            fr_buf_add_byte(&m.out, '%');
            fmt += 2;
        } else {
            fmt = read_conversion(fmt + 1, &c);
            ok = c.type != '\0' ? put_conversion(&m, &c)
                                : sqlerr_set(&ctx->err, 2787, fmt);
        }
    }
    snprintf(out, size, "%s", fr_buf_text(&m.out));
    fr_buf_free(&m.out);
    return ok;
}

static bool eval_args(struct frame *f, struct expr *const *args, size_t n,
                      struct value *out)
{
    for (size_t i = 0; i < n; i++) {
        enum type_family family;
        bool ok;

        if (!eval(&f->ctx, args[i], NULL, &out[i]))
            return false;
        family = type_family(out[i].type.id);
        ok = out[i].is_null || family == FAM_INTEGER || family == FAM_STRING ||
             family == FAM_NSTRING;
        if (!ok)
            return sqlerr_set(&f->ctx.err, 2748, type_name(&out[i].type), (int)i + 4);
    }
    return true;
}

/* The message: a text, a number of sys.messages (50000 and up: none here), or a variable.
 */
static bool raise_text(struct frame *f, const struct stmt *st, struct sqlerr *e,
                       const struct value *args, size_t n)
{
    struct value v;
    bool ok;

    if (!eval(&f->ctx, st->u.raise.message, NULL, &v))
        return false;
    if (!v.is_null && type_family(v.type.id) == FAM_INTEGER) {
        int number = (int)v.u.i;

        value_free(&v);
        return sqlerr_set(&f->ctx.err, number >= 13000 && number != 50000 ? 18054 : 2732,
                          number);
    }
    value_free(&v);
    if (!eval_text(&f->ctx, st->u.raise.message, &v))
        return false;
    ok = message_format(&f->ctx, v.u.s.p == NULL ? "" : v.u.s.p, args, n, e->text,
                        sizeof e->text);
    value_free(&v);
    e->number = 50000;
    return ok;
}

static bool raise_prepare(struct frame *f, const struct stmt *st, struct sqlerr *e)
{
    struct value args[MAX_RAISE_ARGS];
    size_t n = st->u.raise.nargs;
    int64_t severity = 0, state = 0;
    bool is_null;
    bool ok;

    memset(args, 0, sizeof args);
    if (n > MAX_RAISE_ARGS)
        return sqlerr_set(&f->ctx.err, 2747);
    ok = eval_int(&f->ctx, st->u.raise.severity, &severity, &is_null) &&
         eval_int(&f->ctx, st->u.raise.state, &state, &is_null) &&
         eval_args(f, st->u.raise.args, n, args) && raise_text(f, st, e, args, n);
    for (size_t i = 0; i < n; i++)
        value_free(&args[i]);
    if (!ok)
        return false;
    if (severity > 25)
        severity = 25;
    if (severity > 18)
        return sqlerr_set(&f->ctx.err, 2754, 18);
    e->severity = severity < 0 ? 0 : (uint8_t)severity;
    e->state = state < 0 ? 1 : state > 255 ? 255 : (uint8_t)state;
    e->line = st->line;
    return true;
}

enum flow run_raiserror(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    struct sqlerr e = {0};

    if (s->options.noexec)
        return FLOW_NEXT;
    if (!raise_prepare(f, st, &e))
        return statement_error(f, st);
    s->rowcount = 0;
    if (e.severity <= 10) {
        s->last_error = st->u.raise.seterror ? e.number : 0;
        if (f->ctx.proc != NULL)
            snprintf(e.proc, sizeof e.proc, "%s", f->ctx.proc);
        exec_message(&f->ctx, &e);
        if (st->u.raise.nowait)
            session_flush_done(s, true);
        return FLOW_NEXT;
    }
    f->ctx.err = e;
    f->raised = RAISED_BY_RAISERROR;
    return statement_error(f, st);
}

enum flow run_throw(struct frame *f, const struct stmt *st)
{
    struct session *s = f->ctx.session;
    struct value text = {0};
    int64_t number = 0, state = 0;
    bool is_null;

    if (st->u.args.nargs == 0) {
        if (s->caught == NULL) {
            sqlerr_set(&f->ctx.err, 10704);
            return statement_error(f, st);
        }
        f->ctx.err = s->caught->err;
        f->raised = RAISED_BY_THROW;
        return statement_error(f, st);
    }
    if (!eval_int(&f->ctx, st->u.args.args[0], &number, &is_null) ||
        !eval_text(&f->ctx, st->u.args.args[1], &text))
        return statement_error(f, st);
    if (!eval_int(&f->ctx, st->u.args.args[2], &state, &is_null)) {
        value_free(&text);
        return statement_error(f, st);
    }
    if (number < 50000 || number > INT32_MAX) {
        value_free(&text);
        sqlerr_set(&f->ctx.err, 35100, (int)number);
        return statement_error(f, st);
    }
    sqlerr_setf(&f->ctx.err, (int32_t)number, 16, "%.*s",
                (int)(text.u.s.n > 2040 ? 2040 : text.u.s.n), text.u.s.p);
    value_free(&text);
    f->ctx.err.state = (uint8_t)(state < 0 ? 0 : state > 255 ? 255 : state);
    f->ctx.err.line = st->line;
    if (f->ctx.proc != NULL)
        snprintf(f->ctx.err.proc, sizeof f->ctx.err.proc, "%s", f->ctx.proc);
    f->raised = RAISED_BY_THROW;
    return statement_error(f, st);
}
