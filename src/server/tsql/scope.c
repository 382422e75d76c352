/*
 * scope.c - the variables of a batch or procedure call.
 *
 * T-SQL's DECLARE is not executed where it stands: a name holds from there to the end of
 * the batch, so all of them are made when the batch begins.
 */
#include "server/tsql/session_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_VARIABLES = 10000 };

struct scope {
    struct variable **vars; /* each allocated by itself: addresses stay */
    size_t n, cap;
    struct value identity; /* SCOPE_IDENTITY() */
};

struct scope *scope_new(void)
{
    struct scope *sc = calloc(1, sizeof *sc);

    if (sc != NULL)
        value_set_null(&sc->identity, type_decimal(TYPE_MAX_PRECISION, 0));
    return sc;
}

void scope_free(struct session *s, struct scope **sp)
{
    struct scope *sc = *sp;

    *sp = NULL;
    if (sc == NULL)
        return;
    for (size_t i = sc->n; i > 0; i--) {
        struct variable *v = sc->vars[i - 1];

        if (v->table != NULL)
            query_table_variable_drop(s, v);
        value_free(&v->value);
        free(v);
    }
    free(sc->vars);
    value_free(&sc->identity);
    free(sc);
}

struct value *scope_identity(struct scope *sc)
{
    return &sc->identity;
}

struct variable *scope_find(struct scope *sc, const char *name)
{
    for (size_t i = 0; i < sc->n; i++) {
        if (strcasecmp(sc->vars[i]->name, name) == 0)
            return sc->vars[i];
    }
    return NULL;
}

static bool scope_grow(struct scope *sc, struct sqlerr *e)
{
    size_t cap = sc->cap == 0 ? 16 : sc->cap * 2;
    struct variable **vars;

    if (sc->n < sc->cap)
        return true;
    if (cap > MAX_VARIABLES * 2 ||
        (vars = realloc(sc->vars, cap * sizeof(struct variable *))) == NULL)
        return sqlerr_set(e, 701, "default");
    sc->vars = vars;
    sc->cap = cap;
    return true;
}

struct variable *scope_add(struct scope *sc, const char *name, const struct sqltype *type,
                           struct sqlerr *e)
{
    struct variable *v;

    if (scope_find(sc, name) != NULL) {
        sqlerr_set(e, 134, name);
        return NULL;
    }
    if (!scope_grow(sc, e))
        return NULL;
    v = calloc(1, sizeof *v);
    if (v == NULL) {
        sqlerr_set(e, 701, "default");
        return NULL;
    }
    v->name = name;
    v->type = *type;
    value_set_null(&v->value, *type);
    sc->vars[sc->n++] = v;
    return v;
}

bool scope_assign(struct exec_ctx *ctx, const char *name, const struct value *in)
{
    struct variable *v = scope_find(ctx->scope, name);
    struct value out = {0};

    if (v == NULL || v->table != NULL)
        return sqlerr_set(&ctx->err, 137, name);
    if (!value_assign(in, &v->type, NULL, &out, &ctx->err))
        return false;
    value_free(&v->value);
    v->value = out;
    return true;
}

static bool declare_item(struct exec_ctx *ctx, const struct declare_item *d)
{
    struct sqltype type = type_of(TY_INT);
    struct variable *v;

    if (d->table == NULL && !type_ref_resolve(&d->type, &type, &ctx->err))
        return false;
    v = scope_add(ctx->scope, d->name, &type, &ctx->err);
    if (v == NULL)
        return false;
    v->table = d->table;
    if (d->table == NULL)
        return true;
    v->table_id = ++ctx->session->next_table_id;
    return query_table_variable(ctx, v);
}

bool scope_declare(struct exec_ctx *ctx, const struct stmt *first)
{
    bool ok = true;

    for (const struct stmt *st = first; st != NULL && ok; st = st->next) {
        switch (st->kind) {
        case ST_DECLARE:
            for (size_t i = 0; i < st->u.declare.nitems && ok; i++) {
                ok = declare_item(ctx, &st->u.declare.items[i]);
                if (!ok && ctx->err.line == 0)
                    ctx->err.line = st->u.declare.items[i].line;
            }
            break;
        case ST_BLOCK:
            ok = scope_declare(ctx, st->u.block);
            break;
        case ST_IF:
        case ST_WHILE:
            ok = scope_declare(ctx, st->u.cond.then_) &&
                 scope_declare(ctx, st->u.cond.else_);
            break;
        case ST_TRY:
            ok = scope_declare(ctx, st->u.try_.body) &&
                 scope_declare(ctx, st->u.try_.handler);
            break;
        default:
            break;
        }
        if (!ok && ctx->err.line == 0)
            ctx->err.line = st->line;
    }
    return ok;
}
