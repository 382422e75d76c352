/*
 * ddl_switch_range.c - may the rows of a SWITCH be in the target's partition?  See
 * ddl_priv.h.
 *
 * Nothing is looked at but definitions, as the server does it: trusted CHECK constraints
 * of the source, or the range of its own partition, have to leave no value outside.  Of a
 * constraint the comparisons of the partitioning column with constants count, joined by
 * AND; what else stands there proves nothing.
 */
#include "server/store/ddl_priv.h"

#include "server/store/partition.h"

#include <string.h>

/* What is known of every row of the source. */
struct proof {
    struct ddl *d;
    const struct cat_partition_function *f; /* of the target */
    const char *column;                     /* of the source */
    size_t low, high; /* boundary ids that the target's partition is between; 0: none */
    bool low_holds, high_holds, not_null;
};

static enum expr_op turned(enum expr_op op)
{
    return op == OP_LT   ? OP_GT
           : op == OP_LE ? OP_GE
           : op == OP_GT ? OP_LT
           : op == OP_GE ? OP_LE
                         : op;
}

/* Is the column compared in its own order?  A text with a number, or a binary value, is
 * compared as that is, and '03' is not behind '1' as a text; an exact number with a float
 * is rounded. */
static bool keeps_order(const struct sqltype *constant, const struct sqltype *column)
{
    bool rounded = constant->id == TY_REAL || constant->id == TY_FLOAT;

    if (type_is_string(column->id) || type_is_binary(column->id))
        return type_is_string(constant->id) == type_is_string(column->id) &&
               type_is_binary(constant->id) == type_is_binary(column->id);
    return !rounded || column->id == TY_REAL || column->id == TY_FLOAT;
}

/* constant op boundary */
static bool compare(struct proof *p, const struct expr *constant, const char *op,
                    size_t boundary, bool *holds)
{
    struct binder *b = p->d->b;
    struct bexpr x, y = {.type = p->f->type,
                         .nullable = true,
                         .constant = true,
                         .rank = RANK_IMPLICIT};
    const char *sql;
    sqlite3_stmt *st = NULL;
    bool ok;

    y.sql = bind_text(b,
                      "(SELECT value FROM main.fr_partition_value WHERE function_id=%d "
                      "AND boundary_id=%zu)",
                      (int)p->f->id, boundary);
    if (y.sql == NULL || !bind_expr(b, NULL, constant, &x))
        return false;
    if (!keeps_order(&x.type, &p->f->type))
        return true;
    if (!bind_comparison(b, &x, op, &y, &sql))
        return false;
    sql = bind_text(b, "SELECT %s", sql);
    if (sql == NULL || !run_prepare(b, sql, &st))
        return false;
    ok = run_step(b, st) == SQLITE_ROW;
    *holds = *holds || (ok && sqlite3_column_int(st, 0) != 0);
    run_done(b, &st);
    return ok;
}

/* A literal, maybe with a sign or converted: nothing of the row is in it. */
static bool is_constant(const struct expr *x)
{
    while (x->kind == EX_UNARY || x->kind == EX_CAST)
        x = x->args[0];
    return x->kind == EX_LITERAL;
}

/* column op constant is true, or NULL, of every row. */
static bool learn(struct proof *p, enum expr_op op, const struct expr *constant)
{
    bool right = p->f->right;

    if (!is_constant(constant))
        return true;
    if (p->low > 0 && (op == OP_GT || op == OP_GE || op == OP_EQ) &&
        !compare(p, constant, right || op == OP_GT ? ">=" : ">", p->low, &p->low_holds))
        return false;
    return p->high == 0 || (op != OP_LT && op != OP_LE && op != OP_EQ) ||
           compare(p, constant, right && op != OP_LT ? "<" : "<=", p->high,
                   &p->high_holds);
}

static bool is_column(const struct proof *p, const struct expr *x)
{
    return x->kind == EX_COLUMN && name_same(x->u.column.object, p->column);
}

static bool read_check(struct proof *p, const struct expr *x)
{
    switch (x->kind) {
    case EX_AND:
        return read_check(p, x->args[0]) && read_check(p, x->args[1]);
    case EX_IS_NULL:
        p->not_null = p->not_null || (x->negated && is_column(p, x->args[0]));
        return true;
    case EX_BETWEEN:
        return x->negated || !is_column(p, x->args[0]) ||
               (learn(p, OP_GE, x->args[1]) && learn(p, OP_LE, x->args[2]));
    case EX_COMPARE:
        if (is_column(p, x->args[0]))
            return learn(p, x->op, x->args[1]);
        return !is_column(p, x->args[1]) || learn(p, turned(x->op), x->args[0]);
    default:
        return true;
    }
}

/* The source's partition lies within the target's when its boundaries do. */
static bool inside(struct ddl *d, const struct cat_partition_function *a, size_t n,
                   const struct cat_partition_function *b, size_t m, bool *yes)
{
    const char *const bound = "(SELECT value FROM main.fr_partition_value WHERE "
                              "function_id=%d AND boundary_id=%d)";
    bool low = m == 1, high = m == b->nboundaries + 1;

    *yes = false;
    if (!type_equal(&a->type, &b->type) || a->right != b->right)
        return true;
    for (int side = 0; side < 2; side++) {
        size_t mine = side == 0 ? n - 1 : n, its = side == 0 ? m - 1 : m;
        bool *holds = side == 0 ? &low : &high;
        char text[2][128];
        const char *sql;
        sqlite3_stmt *st = NULL;
        bool ok;

        if (*holds || mine == 0 || mine > a->nboundaries)
            continue;
        sqlite3_snprintf(sizeof(text[0]), text[0], bound, (int)a->id, (int)mine);
        sqlite3_snprintf(sizeof(text[1]), text[1], bound, (int)b->id, (int)its);
        sql = bind_text(
            d->b, "SELECT ifnull(%s%s%s%s,%s IS NULL)",
            bind_compare_key(d->b, &a->type, text[0]), bind_collate(d->b, &a->type),
            side == 0 ? ">=" : "<=", bind_compare_key(d->b, &a->type, text[1]), text[1]);
        if (sql == NULL || !run_plain(d->b, sql, &st))
            return false;
        ok = run_step(d->b, st) == SQLITE_ROW;
        *holds = ok && sqlite3_column_int(st, 0) != 0;
        run_done(d->b, &st);
        if (!ok)
            return false;
    }
    *yes = low && high;
    return true;
}

bool ddl_range_holds(struct ddl *d, const struct switch_side *from,
                     const struct switch_side *to, bool *holds)
{
    const struct cat_table *t = from->table;
    const struct cat_column *c = to->table->partition_column;
    size_t ordinal = c == NULL ? 0 : (size_t)(c - to->table->columns);
    struct proof p = {.d = d};
    size_t nulls;

    *holds = true;
    if (c == NULL)
        return true;
    p.f = to->table->space->function;
    if (from->number > 0) {
        *holds = (size_t)(t->partition_column - t->columns) == ordinal;
        return !*holds || inside(d, t->space->function, (size_t)from->number, p.f,
                                 (size_t)to->number, holds);
    }
    p.column = t->columns[ordinal].name;
    p.low = (size_t)to->number - 1;
    p.high = (size_t)to->number <= p.f->nboundaries ? (size_t)to->number : 0;
    p.low_holds = p.low == 0;
    p.high_holds = p.high == 0;
    /* the boundary NULL: everything is behind it */
    if (p.f->null_boundary && p.low == 1)
        p.low_holds = true;
    nulls = p.f->null_boundary && p.f->right ? 2 : 1;
    p.not_null = !t->columns[ordinal].nullable || (size_t)to->number == nulls;
    for (size_t i = 0; i < t->nchecks; i++)
        if (!t->checks[i].disabled && !t->checks[i].not_trusted &&
            !read_check(&p, t->checks[i].expr))
            return false;
    *holds = p.low_holds && p.high_holds && p.not_null;
    return true;
}
