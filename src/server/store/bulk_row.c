/* bulk_row.c - a row of INSERT BULK: checked, completed, set aside. See bulk.h. */
#include "server/store/bulk_priv.h"

#include "server/tsql/exec.h"

#include <string.h>

/* A value is stored as it came only where its own type says that it may be. */
void bulk_types(struct session *s, const struct sqltype *types, size_t n)
{
    struct bulk_load *l = *session_bulk_load(s);

    for (size_t i = 0; l != NULL && i < n && i < l->ncols; i++) {
        struct stream_column *sc = &l->stream[i];
        const struct sqltype *column;

        if (sc->column == SIZE_MAX)
            continue;
        column = &l->t->columns[sc->column].type;
        sc->alike = types_stored_alike(&types[i], column);
        sc->own_kind = type_family(types[i].id) == type_family(column->id);
    }
}

static bool is_ascii(const char *p, size_t n)
{
    unsigned char all = 0;

    for (size_t i = 0; i < n; i++)
        all |= (unsigned char)p[i];
    return all < 0x80;
}

/* True when the text or binary surely fits the column: its bytes in UTF-8 are at least
 * its units. */
static bool surely_fits(const struct stream_column *sc, const struct value *v)
{
    return sc->length == TYPE_MAX || v->u.s.n <= (size_t)sc->length;
}

static bool put_padded(struct bulk_load *l, struct stream_column *sc,
                       const struct value *v, struct value *out)
{
    const struct sqltype *to = &l->t->columns[sc->column].type;
    bool binary = to->id == TY_BINARY;

    /* only of ASCII and of bytes is the length here the column's */
    bool counted = binary ? type_is_binary(v->type.id)
                          : type_is_string(v->type.id) && is_ascii(v->u.s.p, v->u.s.n);

    if (v->u.s.n == (size_t)sc->length && sc->alike && counted) {
        *out = *v;
    } else if (v->u.s.n < (size_t)sc->length && counted) {
        memcpy(sc->scratch, v->u.s.p, v->u.s.n);
        memset(sc->scratch + v->u.s.n, binary ? 0 : ' ', (size_t)sc->length - v->u.s.n);
        *out = *v;
        out->u.s.p = sc->scratch;
        out->u.s.n = (size_t)sc->length;
    } else
        return value_assign(v, to, l->w.column_names[sc->column], out, l->b.e);
    out->type = *to;
    out->owned = false;
    return true;
}

static bool put_cell(struct bulk_load *l, struct stream_column *sc, const struct value *v)
{
    const struct cat_column *c = &l->t->columns[sc->column];
    struct value *out = &l->row[sc->column];

    value_free(out);
    if (v->is_null) {
        value_set_null(out, c->type);
        return true;
    }
    if (sc->padded)
        return put_padded(l, sc, v, out);
    if (sc->alike && (sc->length == TYPE_MAX || surely_fits(sc, v))) {
        *out = *v;
        out->owned = false;
        out->type = c->type;
        return true;
    }
    return value_assign(v, &c->type, l->w.column_names[sc->column], out, l->b.e);
}

static bool put_default(struct bulk_load *l, size_t i)
{
    struct value v = {0};
    bool ok;

    if (l->kinds[i] == DEFAULT_CONSTANT) {
        l->row[i] = l->defaults[i];
        l->row[i].owned = false;
        return true;
    }
    value_free(&l->row[i]);
    ok = run_value(l->default_st, l->default_cell[i], &l->defaults[i].type, &v) &&
         writer_assign(&l->w, i, &v, &l->row[i]);
    if (ok && v.owned && !l->row[i].owned && !l->row[i].is_null)
        l->row[i].owned = true; /* it is the same memory */
    else
        value_free(&v);
    return ok;
}

static bool complete_row(struct bulk_load *l)
{
    if (l->per_row_defaults && !bulk_evaluate_defaults(l))
        return false;
    for (size_t i = 0; i < l->t->ncolumns; i++) {
        const struct cat_column *c = &l->t->columns[i];
        bool wants = !l->given[i] || (l->row[i].is_null && !l->keep_nulls);

        if (!l->given[i]) {
            value_free(&l->row[i]);
            value_set_null(&l->row[i], c->type);
        }
        if (wants && l->kinds[i] != DEFAULT_NONE && !put_default(l, i))
            return false;
        if (!l->row[i].is_null || c->nullable || c->computed != NULL)
            continue;
        if ((c->identity && !l->given[i]) || c->type.id == TY_ROWVERSION)
            continue; /* known when the row goes in */
        return sqlerr_set(l->b.e, 515, c->name, l->w.shown, "INSERT");
    }
    return true;
}

/* CHECK constraints look at a whole row; NOT NULL has been seen to. */
static bool check_row(struct bulk_load *l)
{
    static const char version[8];
    bool ok;

    /* what is known only when the row goes in: writer_check() must not take it for NULL
     */
    for (size_t i = 0; i < l->t->ncolumns; i++) {
        const struct cat_column *c = &l->t->columns[i];

        if (c->identity && !l->identity_given)
            l->row[i] = (struct value){.type = c->type};
        else if (c->type.id == TY_ROWVERSION)
            l->row[i] = (struct value){.type = c->type, .u.s = {version, sizeof version}};
    }
    ok = writer_check(&l->w, l->row);
    for (size_t i = 0; i < l->t->ncolumns; i++)
        if ((l->t->columns[i].identity && !l->identity_given) ||
            l->t->columns[i].type.id == TY_ROWVERSION)
            value_set_null(&l->row[i], l->t->columns[i].type);
    return ok;
}

bool bulk_row(struct session *s, const struct value *values, size_t n)
{
    struct bulk_load *l = *session_bulk_load(s);

    if (l == NULL || l->failed)
        return false;
    l->failed = n != l->ncols;
    if (l->failed)
        return sqlerr_set(l->b.e, 213);
    for (size_t i = 0; i < n; i++)
        if (l->stream[i].column != SIZE_MAX && !put_cell(l, &l->stream[i], &values[i])) {
            l->failed = true;
            return false;
        }
    if (!complete_row(l) || (l->check && l->w.check != NULL && !check_row(l)) ||
        (!store_discards(database_store(handle_database(l->b.h))) &&
         !spool_add(l->rows, l->row, l->b.e)))
        l->failed = true;
    else
        l->count++;
    return !l->failed;
}

/* ---- the short way ---- */

/* What a row without a value for the column holds is known: NULL. */
static bool is_null_always(const struct bulk_load *l, size_t i)
{
    const struct cat_column *c = &l->t->columns[i];

    return l->kinds[i] == DEFAULT_NONE && (c->nullable || c->computed != NULL ||
                                           c->identity || c->type.id == TY_ROWVERSION);
}

static bool cell_layout(const struct bulk_load *l, const struct stream_column *sc,
                        struct bulk_cell *out)
{
    const struct cat_column *c = &l->t->columns[sc->column];

    *out = (struct bulk_cell){
        .form = spool_form_of(&c->type, true),
        .at = (uint16_t)sc->column,
        .nullable =
            c->nullable && (l->keep_nulls || l->kinds[sc->column] == DEFAULT_NONE),
        .padded = sc->padded,
        .length = sc->length,
    };
    return sc->padded ? sc->own_kind : sc->alike;
}

/* Only of streams whose columns come in the table's order, as clients send them. */
bool bulk_layout(struct session *s, struct bulk_layout *out)
{
    struct bulk_load *l = *session_bulk_load(s);
    size_t next = 0, map;
    struct bulk_cell *cells;
    unsigned char *nulls;

    if (l == NULL || (l->check && l->w.check != NULL) || l->t->ncolumns > UINT16_MAX)
        return false;
    map = spool_map_bytes(l->t->ncolumns);
    cells = bind_alloc(&l->b, (l->ncols + 1) * sizeof(*cells));
    nulls = bind_alloc(&l->b, map + 1);
    if (cells == NULL || nulls == NULL)
        return false;
    for (size_t i = 0; i < l->ncols; i++) {
        const struct stream_column *sc = &l->stream[i];

        if (sc->column == SIZE_MAX || sc->column < next || !cell_layout(l, sc, &cells[i]))
            return false;
        next = sc->column + 1;
    }
    for (size_t i = 0; i < l->t->ncolumns; i++) {
        if (l->given[i])
            continue;
        if (!is_null_always(l, i))
            return false;
        nulls[i / 8] = (unsigned char)(nulls[i / 8] | 1u << i % 8);
    }
    *out = (struct bulk_layout){.cells = cells, .nulls = nulls, .map_bytes = map};
    return true;
}

bool bulk_area(struct session *s, size_t bytes, char **begin, char **end)
{
    struct bulk_load *l = *session_bulk_load(s);

    if (l == NULL || l->failed)
        return false;
    l->failed = !spool_area(l->rows, bytes, begin, end, l->b.e);
    return !l->failed;
}

void bulk_placed(struct session *s, size_t bytes, int64_t rows)
{
    struct bulk_load *l = *session_bulk_load(s);

    if (!store_discards(database_store(handle_database(l->b.h))))
        spool_placed(l->rows, bytes, rows);
    l->count += rows;
}
