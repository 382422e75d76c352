/* Which type comes out: conversions allowed, operators, common types. */
#include "server/value/type_rules.h"

#include "server/value/sqlerr.h"

#include <string.h>

enum conv_class {
    C_INT,
    C_FLT,
    C_MNY,
    C_DEC,
    C_DTM,
    C_DAT,
    C_TIM,
    C_DT2,
    C_CHR,
    C_NCH,
    C_TXT,
    C_NTX,
    C_BIN,
    C_IMG,
    C_UID,
    C_RV,
    C_XML,
    C_VAR,
    C_CLR,
    C_COUNT
};

static const unsigned char class_of[TY_COUNT] = {
    [TY_BIT] = C_INT,       [TY_TINYINT] = C_INT,
    [TY_SMALLINT] = C_INT,  [TY_INT] = C_INT,
    [TY_BIGINT] = C_INT,    [TY_REAL] = C_FLT,
    [TY_FLOAT] = C_FLT,     [TY_SMALLMONEY] = C_MNY,
    [TY_MONEY] = C_MNY,     [TY_DECIMAL] = C_DEC,
    [TY_DATE] = C_DAT,      [TY_TIME] = C_TIM,
    [TY_DATETIME] = C_DTM,  [TY_SMALLDATETIME] = C_DTM,
    [TY_DATETIME2] = C_DT2, [TY_DATETIMEOFFSET] = C_DT2,
    [TY_CHAR] = C_CHR,      [TY_VARCHAR] = C_CHR,
    [TY_TEXT] = C_TXT,      [TY_NCHAR] = C_NCH,
    [TY_NVARCHAR] = C_NCH,  [TY_NTEXT] = C_NTX,
    [TY_BINARY] = C_BIN,    [TY_VARBINARY] = C_BIN,
    [TY_IMAGE] = C_IMG,     [TY_UNIQUEIDENTIFIER] = C_UID,
    [TY_XML] = C_XML,       [TY_SQL_VARIANT] = C_VAR,
    [TY_ROWVERSION] = C_RV, [TY_HIERARCHYID] = C_CLR,
    [TY_GEOMETRY] = C_CLR,  [TY_GEOGRAPHY] = C_CLR,
};

/*
 * The server's conversion chart (CAST and CONVERT, "Implicit conversions"): i implicit,
 * e explicit only, . not at all.  Columns in the order of enum conv_class.
 */
static const char chart[C_COUNT][C_COUNT + 1] = {
    /*          I F M D d D T 2 c n t T b I u r x v C */
    [C_INT] = "iiiii...ii..i..i.i.", [C_FLT] = "iiiii...ii..i....i.",
    [C_MNY] = "iiiii...ii..i..i.i.", [C_DEC] = "iiiii...ii..i..i.i.",
    [C_DTM] = "eeeeiiiiii..e....i.", [C_DAT] = "....ii.iii..e....i.",
    [C_TIM] = "....i.iiii..e....i.", [C_DT2] = "....iiiiii..e....i.",
    [C_CHR] = "iiiiiiiiiiiieiieiii", [C_NCH] = "iiiiiiiiiiiie.ieiii",
    [C_TXT] = "........iiii....i..", [C_NTX] = "........iiii....i..",
    [C_BIN] = "i.iiieeeii..iiiiiii", [C_IMG] = "............ii.i...",
    [C_UID] = "........ii..i.i..i.", [C_RV] = "i.iii...i...ii.i...",
    [C_XML] = "........ee..e...i..", [C_VAR] = "eeeeeeeeee..e.e..i.",
    [C_CLR] = "........ee..e......",
};

enum conversion type_conversion(enum type_id from, enum type_id to)
{
    char c;

    if (from == TY_NULL || to == TY_NULL || from == to)
        return CONVERSION_IMPLICIT;
    c = chart[class_of[from]][class_of[to]];
    return c == 'i'   ? CONVERSION_IMPLICIT
           : c == 'e' ? CONVERSION_EXPLICIT
                      : CONVERSION_NONE;
}

static const char *const op_names[] = {"add",    "subtract", "multiply", "divide",
                                       "modulo", "'&'",      "'|'",      "'^'"};

const char *arith_name(enum arith_op op)
{
    return op_names[op];
}

struct sqltype type_as_decimal(const struct sqltype *t)
{
    struct sqltype d;

    if (t->id == TY_DECIMAL)
        return *t;
    d = type_is_numeric(t->id) && type_family(t->id) != FAM_FLOAT
            ? type_decimal(type_info(t->id)->precision, type_info(t->id)->scale)
            : type_decimal(TYPE_MAX_PRECISION, 8);
    d.numeric = true;
    return d;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

struct sqltype type_decimal_result(enum arith_op op, const struct sqltype *a,
                                   const struct sqltype *b)
{
    int p1 = a->precision, s1 = a->scale, p2 = b->precision, s2 = b->scale, p, s, whole;
    struct sqltype t;

    if (op == ARITH_MUL) {
        s = s1 + s2;
        p = p1 + p2 + 1;
    } else if (op == ARITH_DIV) {
        s = max_int(6, s1 + p2 + 1);
        p = p1 - s1 + s2 + s;
    } else if (op == ARITH_MOD) {
        s = max_int(s1, s2);
        p = min_int(p1 - s1, p2 - s2) + s;
    } else {
        s = max_int(s1, s2);
        p = max_int(p1 - s1, p2 - s2) + s + 1;
    }
    if (p > TYPE_MAX_PRECISION) {
        if (op == ARITH_MUL || op == ARITH_DIV) {
            /* digits before the point matter more, but six behind it are kept */
            whole = p - s;
            s = min_int(s, max_int(TYPE_MAX_PRECISION - whole, min_int(s, 6)));
        } else {
            whole = max_int(p1 - s1, p2 - s2);
            s = min_int(s, TYPE_MAX_PRECISION - whole);
        }
        p = TYPE_MAX_PRECISION;
    }
    t = type_decimal((uint8_t)max_int(p, max_int(s, 1)), (uint8_t)s);
    t.numeric = a->numeric || b->numeric;
    return t;
}

static uint32_t common_collation(const struct sqltype *a, const struct sqltype *b)
{
    return a->collation != 0 || !type_is_string(b->id) ? a->collation : b->collation;
}

static bool incompatible(const struct sqltype *a, const struct sqltype *b,
                         enum arith_op op, struct sqlerr *e)
{
    return sqlerr_set(e, 402, type_name(a), type_name(b), arith_name(op));
}

/* Length of a string, binary or other type as the text it would be turned into. */
static int32_t units_of(const struct sqltype *t)
{
    if (type_is_string(t->id) || type_is_binary(t->id))
        return type_length(t);
    return 30;
}

static bool concat_type(const struct sqltype *a, const struct sqltype *b,
                        enum arith_op op, struct sqltype *out, struct sqlerr *e)
{
    const struct sqltype *win =
        type_info(a->id)->precedence >= type_info(b->id)->precedence ? a : b;
    int32_t la = units_of(a), lb = units_of(b), most;
    bool fixed;

    if (a->id == TY_TEXT || a->id == TY_NTEXT || b->id == TY_TEXT || b->id == TY_NTEXT ||
        a->id == TY_IMAGE || b->id == TY_IMAGE)
        return incompatible(a, b, op, e);
    fixed =
        (a->id == TY_CHAR || a->id == TY_NCHAR || a->id == TY_BINARY) && a->id == b->id;
    if (type_is_nstring(win->id)) {
        *out = type_of(fixed ? TY_NCHAR : TY_NVARCHAR);
        most = TYPE_MAX_NCHARS;
    } else {
        *out = type_is_binary(win->id) ? type_of(fixed ? TY_BINARY : TY_VARBINARY)
                                       : type_of(fixed ? TY_CHAR : TY_VARCHAR);
        most = TYPE_MAX_CHARS;
    }
    out->collation = common_collation(a, b);
    if (la == TYPE_MAX || lb == TYPE_MAX) {
        out->max_bytes = TYPE_MAX;
        return true;
    }
    out->max_bytes = min_int(la + lb, most) * (most == TYPE_MAX_NCHARS ? 2 : 1);
    return true;
}

static bool is_old_datetime(enum type_id id)
{
    return id == TY_DATETIME || id == TY_SMALLDATETIME;
}

static bool datetime_arith(enum arith_op op, const struct sqltype *a,
                           const struct sqltype *b, struct sqltype *out, struct sqlerr *e)
{
    const struct sqltype *date = type_is_datetime(a->id) ? a : b,
                         *other = date == a ? b : a;

    if (!is_old_datetime(date->id) ||
        (type_is_datetime(other->id) && !is_old_datetime(other->id))) {
        if (!type_is_datetime(other->id) && !type_is_string(other->id))
            return sqlerr_set(e, 206, type_name(other), type_name(date));
        return other->id == date->id
                   ? sqlerr_set(e, 8117, type_name(date), arith_name(op))
                   : incompatible(a, b, op, e);
    }
    if (op != ARITH_ADD && op != ARITH_SUB)
        return sqlerr_set(e, 8117, type_name(date), arith_name(op));
    if (type_conversion(other->id, date->id) != CONVERSION_IMPLICIT)
        return sqlerr_set(e, 206, type_name(other), type_name(date));
    *out = type_of(a->id == TY_DATETIME || b->id == TY_DATETIME ? TY_DATETIME
                                                                : TY_SMALLDATETIME);
    return true;
}

static bool bitwise_arith(enum arith_op op, const struct sqltype *a,
                          const struct sqltype *b, struct sqltype *out, struct sqlerr *e)
{
    enum type_family fa = type_family(a->id), fb = type_family(b->id);

    if (fa == FAM_BINARY && fb == FAM_INTEGER)
        *out = *b;
    else if (fa == FAM_INTEGER && fb == FAM_BINARY)
        *out = *a;
    else if (fa == FAM_INTEGER && fb == FAM_INTEGER)
        *out = type_info(a->id)->precedence >= type_info(b->id)->precedence ? *a : *b;
    else
        return incompatible(a, b, op, e);
    return true;
}

static bool numeric_arith(enum arith_op op, const struct sqltype *a,
                          const struct sqltype *b, struct sqltype *out, struct sqlerr *e)
{
    const struct sqltype *win =
        type_info(a->id)->precedence >= type_info(b->id)->precedence ? a : b;
    struct sqltype da, db;

    if (!type_is_numeric(win->id))
        return sqlerr_set(e, 8117, type_name(win), arith_name(op));
    if (type_conversion(a->id, win->id) != CONVERSION_IMPLICIT ||
        type_conversion(b->id, win->id) != CONVERSION_IMPLICIT)
        return sqlerr_set(e, 206, type_name(win == a ? b : a), type_name(win));
    if (win->id == TY_BIT)
        return sqlerr_set(e, 8117, "bit", arith_name(op));
    if (type_family(win->id) == FAM_FLOAT && op == ARITH_MOD)
        return a->id == b->id ? sqlerr_set(e, 8117, type_name(win), arith_name(op))
                              : incompatible(a, b, op, e);
    if (win->id != TY_DECIMAL) {
        *out = *win;
        return true;
    }
    /* a string beside a decimal is read as that decimal's type */
    da = type_is_numeric(a->id) ? type_as_decimal(a) : *win;
    db = type_is_numeric(b->id) ? type_as_decimal(b) : *win;
    *out = type_decimal_result(op, &da, &db);
    return true;
}

bool type_arith(enum arith_op op, const struct sqltype *a, const struct sqltype *b,
                struct sqltype *out, struct sqlerr *e)
{
    static const struct sqltype plain_int = {
        .id = TY_INT, .precision = 10, .scale = 0, .max_bytes = 4};

    if (a->id == TY_NULL)
        a = b->id == TY_NULL ? &plain_int : b;
    if (b->id == TY_NULL)
        b = a;
    if (type_is_clr(a->id) || type_is_clr(b->id))
        return incompatible(a, b, op, e);
    if (op >= ARITH_AND)
        return bitwise_arith(op, a, b, out, e);
    if (op == ARITH_ADD && (type_is_string(a->id) || type_is_binary(a->id)) &&
        (type_is_string(b->id) || type_is_binary(b->id)))
        return concat_type(a, b, op, out, e);
    if (type_is_datetime(a->id) || type_is_datetime(b->id))
        return datetime_arith(op, a, b, out, e);
    return numeric_arith(op, a, b, out, e);
}

static void common_decimal(const struct sqltype *a, const struct sqltype *b,
                           struct sqltype *out)
{
    struct sqltype da = type_is_numeric(a->id) ? type_as_decimal(a) : *b;
    struct sqltype db = type_is_numeric(b->id) ? type_as_decimal(b) : *a;
    int whole = max_int(da.precision - da.scale, db.precision - db.scale);
    int scale = max_int(da.scale, db.scale);

    if (whole + scale > TYPE_MAX_PRECISION)
        scale = max_int(0, TYPE_MAX_PRECISION - whole);
    *out =
        type_decimal((uint8_t)min_int(whole + scale, TYPE_MAX_PRECISION), (uint8_t)scale);
    out->numeric = a->numeric || b->numeric;
}

/* The winner keeps its kind and takes the longer length, in its own units. */
static void widen(const struct sqltype *other, struct sqltype *out)
{
    int32_t lo = units_of(out), lt = units_of(other), most;
    bool wide = type_is_nstring(out->id);

    if (out->id == TY_TEXT || out->id == TY_NTEXT || out->id == TY_IMAGE ||
        out->id == TY_XML || out->id == TY_ROWVERSION || type_is_clr(out->id))
        return;
    if (lo == TYPE_MAX || lt == TYPE_MAX) {
        if (out->id == TY_CHAR || out->id == TY_NCHAR || out->id == TY_BINARY)
            out->id = out->id == TY_CHAR    ? TY_VARCHAR
                      : out->id == TY_NCHAR ? TY_NVARCHAR
                                            : TY_VARBINARY;
        out->max_bytes = TYPE_MAX;
        return;
    }
    /* nchar beside varchar: the result's blanks would not have been asked for */
    if (out->id == TY_NCHAR && other->id == TY_VARCHAR)
        out->id = TY_NVARCHAR;
    most = wide ? TYPE_MAX_NCHARS : TYPE_MAX_CHARS;
    out->max_bytes = min_int(max_int(lo, lt), most) * (wide ? 2 : 1);
}

bool type_common(const struct sqltype *a, const struct sqltype *b, struct sqltype *out,
                 struct sqlerr *e)
{
    const struct sqltype *win, *lose;

    if (a->id == TY_NULL || b->id == TY_NULL) {
        *out = a->id == TY_NULL ? *b : *a;
        return true;
    }
    win = type_info(a->id)->precedence >= type_info(b->id)->precedence ? a : b;
    lose = win == a ? b : a;
    if (type_conversion(lose->id, win->id) != CONVERSION_IMPLICIT)
        return sqlerr_set(e, 206, type_name(lose), type_name(win));
    *out = *win;
    if (win->id != lose->id)
        out->sysname = false;
    if (win->id == TY_DECIMAL) {
        common_decimal(a, b, out);
    } else if (type_is_string(win->id) || type_is_binary(win->id)) {
        widen(lose, out);
        if (type_is_string(win->id))
            out->collation = common_collation(a, b);
    } else if (win->id == TY_TIME || win->id == TY_DATETIME2 ||
               win->id == TY_DATETIMEOFFSET) {
        const struct sqltype *finer =
            type_is_datetime(lose->id) && lose->scale > win->scale ? lose : win;
        struct type_args args = {.count = 1, .arg = {finer->scale, 0}};

        return type_parse(type_info(win->id)->name, strlen(type_info(win->id)->name),
                          &args, out, e);
    }
    return true;
}
