/* bind_conv.c - conversions, collations and comparisons of bound expressions. See bind.h.
 */
#include "server/tsql/bind.h"

#include "server/tsql/operator.h"
#include "server/value/collation.h"

#include <string.h>

/* Lengths: -1 is the longest. */
static bool as_long(int32_t from, int32_t to)
{
    return to == TYPE_MAX || (from != TYPE_MAX && from <= to);
}

static bool varying_string(enum type_id id)
{
    return id == TY_VARCHAR || id == TY_NVARCHAR || id == TY_TEXT || id == TY_NTEXT;
}

/* Texts: char and nchar are padded, varchar may lose characters that its code page lacks.
 */
static bool strings_stored_alike(const struct sqltype *from, const struct sqltype *to)
{
    int32_t have = type_length(from), room = type_length(to);

    if (!varying_string(to->id))
        return from->id == to->id && from->max_bytes == to->max_bytes;
    if (type_is_nstring(from->id) && !type_is_nstring(to->id))
        return false;
    if (!type_is_nstring(to->id) && collation_get(from->collation)->code_page !=
                                        collation_get(to->collation)->code_page)
        return false;
    return as_long(have, room);
}

bool types_stored_alike(const struct sqltype *from, const struct sqltype *to)
{
    if (from->id == TY_NULL)
        return true;
    if (type_is_string(from->id) && type_is_string(to->id) && from->id != TY_XML &&
        to->id != TY_XML)
        return strings_stored_alike(from, to);
    if (type_family(from->id) == FAM_INTEGER && type_family(to->id) == FAM_INTEGER)
        return from->id <=
               to->id; /* bit, tinyint .. bigint in the order of their ranges */
    if (from->id == TY_DECIMAL && to->id == TY_DECIMAL)
        return from->scale == to->scale && from->precision <= to->precision;
    if (from->id == TY_REAL && to->id == TY_FLOAT)
        return true;
    if (from->id == TY_SMALLMONEY && to->id == TY_MONEY)
        return true;
    if (from->id != to->id)
        return false;
    if (from->id == TY_TIME || from->id == TY_DATETIME2 || from->id == TY_DATETIMEOFFSET)
        return from->scale <= to->scale;
    if (from->id == TY_VARBINARY)
        return as_long(from->max_bytes, to->max_bytes);
    if (from->id == TY_BINARY)
        return from->max_bytes == to->max_bytes;
    return true;
}

/* Values of a comparison class compare as SQLite stores them; 0: not without conversion.
 */
static int compare_class(const struct sqltype *t)
{
    switch (type_family(t->id)) {
    case FAM_INTEGER:
        return 1;
    case FAM_FLOAT:
        return 2;
    case FAM_MONEY:
        return 3;
    case FAM_DECIMAL:
        return 100 + t->scale;
    case FAM_DATETIME:
        return 10 + (int)t->id;
    case FAM_STRING:
    case FAM_NSTRING:
        return 4;
    case FAM_BINARY:
        return 5;
    case FAM_GUID:
        return 6;
    default:
        return 0;
    }
}

/* A literal is converted now, so that indexes can be used and nothing is done per row. */
static bool fold(struct binder *b, struct bexpr *x, const struct sqltype *to)
{
    struct sqlerr ignored = {0};
    struct value out = {0};
    struct value *keep;
    const char *sql = NULL;

    if (x->literal == NULL || x->literal->is_null ||
        !value_convert(x->literal, to, 0, true, &out, &ignored))
        return false;
    sql = bind_literal(b, &out);
    keep = sql == NULL ? NULL : bind_alloc(b, sizeof(*keep));
    if (keep != NULL) {
        *keep = out;
        keep->owned = false;
        if (out.owned)
            keep->u.s.p = arena_text(b->arena, out.u.s.p, out.u.s.n);
        x->sql = sql;
        x->literal = keep;
        x->type = *to;
    }
    value_free(&out);
    return keep != NULL;
}

static void retype(struct bexpr *x, const struct sqltype *to)
{
    uint32_t collation = x->type.collation;
    bool was_string = type_is_string(x->type.id);

    x->type = *to;
    /* the target of an implicit conversion says nothing of the collation */
    if (was_string && type_is_string(to->id))
        x->type.collation = collation;
}

bool bind_convert(struct binder *b, struct bexpr *x, const struct sqltype *to)
{
    struct sqltype from = x->type;

    if (to->id == TY_NULL || (from.id == to->id && type_equal(&from, to)))
        return true;
    if (!types_stored_alike(&from, to)) {
        struct sqltype common;

        if (fold(b, x, to))
            return true;
        /* only what an implicit conversion may do: the types must meet somewhere (206) */
        if (!type_common(&from, to, &common, b->e))
            return false;
        x->sql = bind_text(b, "x_conv(%lld,%lld,%s)", (long long)type_code(&from),
                           (long long)type_code(to), x->sql);
        x->column = NULL;
        x->variable = NULL;
        x->literal = NULL;
        if (x->sql == NULL)
            return false;
    }
    retype(x, to);
    return true;
}

bool bind_cast(struct binder *b, struct bexpr *x, const struct sqltype *to, int style,
               bool try_)
{
    struct sqltype from = x->type;
    const char *style_sql = style < 0 ? "0" : bind_text(b, "%d", style);

    if (from.id == TY_NULL)
        x->sql = "NULL";
    else
        x->sql = bind_text(b, "x_%s(%lld,%lld,%s,%s)", try_ ? "try" : "cast",
                           (long long)type_code(&from), (long long)type_code(to),
                           style_sql, x->sql);
    x->literal = NULL;
    x->column = NULL;
    x->variable = NULL;
    x->nullable = x->nullable || try_;
    retype(x, to);
    return x->sql != NULL;
}

bool bind_collation(struct binder *b, const struct bexpr *x, const struct bexpr *y,
                    uint32_t *collation, enum collation_rank *rank)
{
    bool xs = type_is_string(x->type.id), ys = type_is_string(y->type.id);

    *rank = xs ? x->rank : y->rank;
    *collation = xs ? x->type.collation : y->type.collation;
    if (!xs || !ys)
        return true;
    if (y->rank > x->rank) {
        *rank = y->rank;
        *collation = y->type.collation;
    }
    if (x->rank == y->rank && x->rank != RANK_DEFAULT &&
        x->type.collation != y->type.collation)
        return sqlerr_set(b->e, 468, collation_get(x->type.collation)->name,
                          collation_get(y->type.collation)->name, "equal to");
    return true;
}

const char *bind_collate(struct binder *b, const struct sqltype *t)
{
    if (!type_is_string(t->id))
        return "";
    return bind_text(b, " COLLATE L%u", (unsigned)t->collation);
}

void bexpr_merge(struct bexpr *whole, const struct bexpr *part)
{
    whole->constant = whole->constant && part->constant;
    if (whole->ungrouped == NULL)
        whole->ungrouped = part->ungrouped;
    whole->nullable = whole->nullable || part->nullable;
}

void bind_check_group(const struct bscope *sc, struct bexpr *x)
{
    if (sc == NULL || x->ungrouped == NULL || x->sql == NULL)
        return;
    for (size_t i = 0; i < sc->ngroup; i++)
        if (strcmp(sc->group[i], x->sql) == 0)
            x->ungrouped = NULL;
}

const char *bind_compare_key(struct binder *b, const struct sqltype *t, const char *sql)
{
    /* two moments are the same whatever their offsets, which stand behind the moment */
    return t->id == TY_DATETIMEOFFSET ? bind_text(b, "substr(%s,1,8)", sql) : sql;
}

bool bind_comparable(struct binder *b, const struct bexpr *x, const char *op)
{
    enum type_id id = x->type.id;

    if (id == TY_TEXT || id == TY_NTEXT || id == TY_IMAGE || id == TY_XML)
        return sqlerr_setf(
            b->e, id == TY_XML ? 305 : 306, 16,
            "The %s data types cannot be compared or sorted (operator %s), except when "
            "using IS NULL or LIKE operator.",
            id == TY_XML ? "XML" : "text, ntext, and image", op);
    if (id == TY_GEOMETRY || id == TY_GEOGRAPHY)
        return sqlerr_setf(b->e, 403, 16,
                           "Invalid operator for data type. Operator equals %s, type "
                           "equals %s.",
                           op, type_name(&x->type));
    return true;
}

bool bind_comparison(struct binder *b, const struct bexpr *x, const char *op,
                     const struct bexpr *y, const char **sql)
{
    struct bexpr l = *x, r = *y;
    struct sqltype common;
    enum collation_rank rank;

    if (!bind_comparable(b, x, op) || !bind_comparable(b, y, op))
        return false;
    if (l.type.id == TY_NULL && r.type.id == TY_NULL) {
        *sql = "NULL";
        return true;
    }
    if (!type_common(&l.type, &r.type, &common, b->e))
        return false;
    if (type_is_string(common.id) && !bind_collation(b, &l, &r, &common.collation, &rank))
        return false;
    if (compare_class(&l.type) != compare_class(&common) || compare_class(&common) == 0)
        if (!bind_convert(b, &l, &common))
            return false;
    if (compare_class(&r.type) != compare_class(&common) || compare_class(&common) == 0)
        if (!bind_convert(b, &r, &common))
            return false;
    l.sql = bind_compare_key(b, &common, l.sql);
    r.sql = bind_compare_key(b, &common, r.sql);
    if (l.sql == NULL || r.sql == NULL)
        return false;
    *sql = bind_text(b, "(%s%s%s%s)", l.sql, op, r.sql, bind_collate(b, &common));
    return *sql != NULL;
}

bool bind_common(struct binder *b, struct bexpr *xs, size_t n, struct sqltype *type)
{
    struct bexpr whole = xs[0];
    uint32_t collation;
    enum collation_rank rank = xs[0].rank;

    *type = xs[0].type;
    for (size_t i = 1; i < n; i++) {
        struct sqltype before = *type;

        if (!type_common(&before, &xs[i].type, type, b->e) ||
            !bind_collation(b, &whole, &xs[i], &collation, &rank))
            return false;
        whole.type = *type;
        whole.type.collation = collation;
        whole.rank = rank;
    }
    if (type_is_string(type->id))
        type->collation = whole.type.collation;
    for (size_t i = 0; i < n; i++) {
        if (!bind_convert(b, &xs[i], type))
            return false;
        xs[i].type.collation = type->collation;
        xs[i].rank = rank;
    }
    return true;
}
