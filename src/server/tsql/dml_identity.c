/* dml_identity.c - identity values. See dml.h. */
#include "server/tsql/dml.h"
#include "server/value/number.h"

#include <string.h>

static bool read_last(struct identity_source *s, bool *found)
{
    const struct cat_object *o = s->t->object;
    sqlite3_stmt *st;
    int rc;

    if (!run_plain(s->b,
                   s->t->temp ? "SELECT last FROM temp.fr_identity WHERE table_id=?1"
                              : "SELECT last FROM main.fr_identity WHERE table_id=?1",
                   &st))
        return false;
    sqlite3_bind_int(st, 1, o->id);
    rc = run_step(s->b, st);
    *found = rc == SQLITE_ROW;
    if (*found)
        s->last = sqlite3_column_int64(st, 0);
    run_done(s->b, &st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

bool identity_open(struct binder *b, const struct table_ref *ref, bool explicit_values,
                   struct identity_source *s)
{
    bool known = false;

    memset(s, 0, sizeof(*s));
    if (ref->table->identity == NULL)
        return true;
    s->b = b;
    s->t = ref->table;
    s->db = handle_database(ref->handle);
    s->explicit_values = explicit_values;
    if (!ref->table->temp)
        s->last = database_identity(s->db, s->t->object->id, &known);
    if (!known) {
        bool found;

        if (!read_last(s, &found))
            return false;
        if (!found)
            s->last = s->t->identity->seed - s->t->identity->increment;
    }
    s->highest = s->last;
    return true;
}

static void to_value(const struct cat_column *c, int64_t i, struct value *out)
{
    *out = (struct value){.type = c->type};
    if (c->type.id == TY_DECIMAL)
        out->u.dec = (frd_int128)i * decimal_pow10(c->type.scale);
    else
        out->u.i = i;
}

bool identity_next(struct identity_source *s, struct value *out)
{
    const struct cat_column *c = s->t->identity;
    int64_t next;
    bool fits = !__builtin_add_overflow(s->last, c->increment, &next);

    if (fits && c->type.id != TY_DECIMAL)
        fits = int_fits(next, c->type.id);
    else if (fits)
        fits = decimal_fits((frd_int128)next * decimal_pow10(c->type.scale),
                            c->type.precision);
    if (!fits)
        return sqlerr_set(s->b->e, 8115, "IDENTITY", type_name(&c->type));
    s->last = next;
    s->any = true;
    to_value(c, next, out);
    return true;
}

void identity_given(struct identity_source *s, const struct value *v)
{
    const struct cat_column *c = s->t->identity;
    int64_t i = v->type.id == TY_DECIMAL
                    ? (int64_t)(v->u.dec / decimal_pow10(c->type.scale))
                    : v->u.i;

    s->highest = i;
    if (c->increment > 0 ? i > s->last : i < s->last)
        s->last = i;
    s->any = true;
}

bool identity_close(struct identity_source *s, bool tell)
{
    sqlite3_stmt *st;
    struct value v;
    int rc;

    if (s->t == NULL || !s->any)
        return true;
    if (!s->t->temp && !database_set_identity(s->db, s->t->object->id, s->last))
        return bind_no_memory(s->b);
    if (!run_plain(s->b,
                   s->t->temp ? "INSERT OR REPLACE INTO temp.fr_identity VALUES(?1,?2)"
                              : "INSERT OR REPLACE INTO main.fr_identity VALUES(?1,?2)",
                   &st))
        return false;
    sqlite3_bind_int(st, 1, s->t->object->id);
    sqlite3_bind_int64(st, 2, s->last);
    rc = run_step(s->b, st);
    run_done(s->b, &st);
    if (rc != SQLITE_DONE)
        return false;
    to_value(s->t->identity, s->explicit_values ? s->highest : s->last, &v);
    if (tell)
        session_set_identity(s->b->ctx, &v);
    return true;
}
