#include "server/value/type.h"

#include "server/value/sqlerr.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Order: enum type_id.  Tokens: MS-TDS 2.2.5.4; ids: sys.types; precedence: "Data type
   precedence" of the T-SQL reference, turned round so that the higher number wins. */
static const struct type_info types[TY_COUNT] = {
    {TY_NULL, "int", FAM_NULL, 56, 56, 0, 0x26, 0, 10, 0, 4},
    {TY_BIT, "bit", FAM_INTEGER, 104, 104, 0x32, 0x68, 12, 1, 0, 1},
    {TY_TINYINT, "tinyint", FAM_INTEGER, 48, 48, 0x30, 0x26, 13, 3, 0, 1},
    {TY_SMALLINT, "smallint", FAM_INTEGER, 52, 52, 0x34, 0x26, 14, 5, 0, 2},
    {TY_INT, "int", FAM_INTEGER, 56, 56, 0x38, 0x26, 15, 10, 0, 4},
    {TY_BIGINT, "bigint", FAM_INTEGER, 127, 127, 0x7F, 0x26, 16, 19, 0, 8},
    {TY_REAL, "real", FAM_FLOAT, 59, 59, 0x3B, 0x6D, 20, 24, 0, 4},
    {TY_FLOAT, "float", FAM_FLOAT, 62, 62, 0x3E, 0x6D, 21, 53, 0, 8},
    {TY_SMALLMONEY, "smallmoney", FAM_MONEY, 122, 122, 0x7A, 0x6E, 17, 10, 4, 4},
    {TY_MONEY, "money", FAM_MONEY, 60, 60, 0x3C, 0x6E, 18, 19, 4, 8},
    {TY_DECIMAL, "decimal", FAM_DECIMAL, 106, 106, 0, 0x6A, 19, 18, 0, 17},
    {TY_DATE, "date", FAM_DATETIME, 40, 40, 0, 0x28, 23, 10, 0, 3},
    {TY_TIME, "time", FAM_DATETIME, 41, 41, 0, 0x29, 22, 16, 7, 5},
    {TY_DATETIME, "datetime", FAM_DATETIME, 61, 61, 0x3D, 0x6F, 25, 23, 3, 8},
    {TY_SMALLDATETIME, "smalldatetime", FAM_DATETIME, 58, 58, 0x3A, 0x6F, 24, 16, 0, 4},
    {TY_DATETIME2, "datetime2", FAM_DATETIME, 42, 42, 0, 0x2A, 26, 27, 7, 8},
    {TY_DATETIMEOFFSET, "datetimeoffset", FAM_DATETIME, 43, 43, 0, 0x2B, 27, 34, 7, 10},
    {TY_CHAR, "char", FAM_STRING, 175, 175, 0, 0xAF, 3, 0, 0, TYPE_MAX_CHARS},
    {TY_VARCHAR, "varchar", FAM_STRING, 167, 167, 0, 0xA7, 4, 0, 0, TYPE_MAX_CHARS},
    {TY_TEXT, "text", FAM_STRING, 35, 35, 0, 0x23, 10, 0, 0, 16},
    {TY_NCHAR, "nchar", FAM_NSTRING, 239, 239, 0, 0xEF, 5, 0, 0, 2 * TYPE_MAX_NCHARS},
    {TY_NVARCHAR, "nvarchar", FAM_NSTRING, 231, 231, 0, 0xE7, 6, 0, 0,
     2 * TYPE_MAX_NCHARS},
    {TY_NTEXT, "ntext", FAM_NSTRING, 99, 99, 0, 0x63, 11, 0, 0, 16},
    {TY_BINARY, "binary", FAM_BINARY, 173, 173, 0, 0xAD, 1, 0, 0, TYPE_MAX_CHARS},
    {TY_VARBINARY, "varbinary", FAM_BINARY, 165, 165, 0, 0xA5, 2, 0, 0, TYPE_MAX_CHARS},
    {TY_IMAGE, "image", FAM_BINARY, 34, 34, 0, 0x22, 9, 0, 0, 16},
    {TY_UNIQUEIDENTIFIER, "uniqueidentifier", FAM_GUID, 36, 36, 0, 0x24, 7, 0, 0, 16},
    {TY_XML, "xml", FAM_XML, 241, 241, 0, 0xF1, 28, 0, 0, TYPE_MAX},
    {TY_SQL_VARIANT, "sql_variant", FAM_VARIANT, 98, 98, 0, 0x62, 29, 0, 0, 8016},
    {TY_ROWVERSION, "timestamp", FAM_BINARY, 189, 189, 0, 0xAD, 8, 0, 0, 8},
    {TY_HIERARCHYID, "hierarchyid", FAM_BINARY, 240, 128, 0, 0xF0, 30, 0, 0, 892},
    {TY_GEOMETRY, "geometry", FAM_BINARY, 240, 129, 0, 0xF0, 30, 0, 0, TYPE_MAX},
    {TY_GEOGRAPHY, "geography", FAM_BINARY, 240, 130, 0, 0xF0, 30, 0, 0, TYPE_MAX},
};

enum name_flag { NAME_PLAIN, NAME_NUMERIC, NAME_SYSNAME };

/* What a type may be called besides the name in the table above. */
static const struct {
    const char *name;
    enum type_id id;
    enum name_flag flag;
} synonyms[] = {
    {"integer", TY_INT, NAME_PLAIN},
    {"dec", TY_DECIMAL, NAME_PLAIN},
    {"numeric", TY_DECIMAL, NAME_NUMERIC},
    {"double precision", TY_FLOAT, NAME_PLAIN},
    {"character", TY_CHAR, NAME_PLAIN},
    {"character varying", TY_VARCHAR, NAME_PLAIN},
    {"char varying", TY_VARCHAR, NAME_PLAIN},
    {"national char", TY_NCHAR, NAME_PLAIN},
    {"national character", TY_NCHAR, NAME_PLAIN},
    {"national char varying", TY_NVARCHAR, NAME_PLAIN},
    {"national character varying", TY_NVARCHAR, NAME_PLAIN},
    {"national text", TY_NTEXT, NAME_PLAIN},
    {"binary varying", TY_VARBINARY, NAME_PLAIN},
    {"rowversion", TY_ROWVERSION, NAME_PLAIN},
    {"sysname", TY_NVARCHAR, NAME_SYSNAME},
};

const struct type_info *type_info(enum type_id id)
{
    assert((size_t)id < TY_COUNT && types[id].id == id);
    return &types[id];
}

enum type_family type_family(enum type_id id)
{
    return type_info(id)->family;
}

bool type_is_string(enum type_id id)
{
    enum type_family f = type_family(id);

    return f == FAM_STRING || f == FAM_NSTRING || f == FAM_XML;
}

bool type_is_nstring(enum type_id id)
{
    enum type_family f = type_family(id);

    return f == FAM_NSTRING || f == FAM_XML;
}

bool type_is_binary(enum type_id id)
{
    return type_family(id) == FAM_BINARY;
}

bool type_is_clr(enum type_id id)
{
    return id == TY_HIERARCHYID || id == TY_GEOMETRY || id == TY_GEOGRAPHY;
}

bool type_is_numeric(enum type_id id)
{
    return id >= TY_BIT && id <= TY_DECIMAL;
}

bool type_is_datetime(enum type_id id)
{
    return type_family(id) == FAM_DATETIME;
}

bool type_is_lob(const struct sqltype *t)
{
    return t->max_bytes == TYPE_MAX || t->id == TY_TEXT || t->id == TY_NTEXT ||
           t->id == TY_IMAGE || t->id == TY_XML;
}

struct sqltype type_of(enum type_id id)
{
    const struct type_info *ti = type_info(id);
    struct sqltype t = {.id = id,
                        .precision = ti->precision,
                        .scale = ti->scale,
                        .max_bytes = ti->max_bytes,
                        .collation = 0};

    if (id == TY_DECIMAL)
        t.max_bytes = type_decimal_bytes(t.precision);
    else if (id == TY_CHAR || id == TY_VARCHAR || id == TY_BINARY || id == TY_VARBINARY)
        t.max_bytes = 1;
    else if (id == TY_NCHAR || id == TY_NVARCHAR)
        t.max_bytes = 2;
    return t;
}

struct sqltype type_decimal(uint8_t precision, uint8_t scale)
{
    struct sqltype t = type_of(TY_DECIMAL);

    t.precision = precision;
    t.scale = scale;
    t.max_bytes = type_decimal_bytes(precision);
    return t;
}

struct sqltype type_varchar(int32_t bytes)
{
    struct sqltype t = type_of(TY_VARCHAR);

    t.max_bytes = bytes;
    return t;
}

struct sqltype type_nvarchar(int32_t chars)
{
    struct sqltype t = type_of(TY_NVARCHAR);

    t.max_bytes = chars == TYPE_MAX ? TYPE_MAX : 2 * chars;
    return t;
}

struct sqltype type_varbinary(int32_t bytes)
{
    struct sqltype t = type_of(TY_VARBINARY);

    t.max_bytes = bytes;
    return t;
}

int type_decimal_bytes(uint8_t precision)
{
    return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

int32_t type_length(const struct sqltype *t)
{
    if (type_is_lob(t))
        return TYPE_MAX;
    return type_is_nstring(t->id) ? t->max_bytes / 2 : t->max_bytes;
}

bool type_equal(const struct sqltype *a, const struct sqltype *b)
{
    return a->id == b->id && a->precision == b->precision && a->scale == b->scale &&
           a->max_bytes == b->max_bytes && a->collation == b->collation;
}

static bool find_name(const char *name, size_t n, enum type_id *id, enum name_flag *flag)
{
    *flag = NAME_PLAIN;
    for (size_t i = TY_BIT; i < TY_COUNT; i++)
        if (strlen(types[i].name) == n && strncasecmp(types[i].name, name, n) == 0) {
            *id = types[i].id;
            return true;
        }
    for (size_t i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
        if (strlen(synonyms[i].name) == n &&
            strncasecmp(synonyms[i].name, name, n) == 0) {
            *id = synonyms[i].id;
            *flag = synonyms[i].flag;
            return true;
        }
    return false;
}

bool type_is_name(const char *name, size_t n)
{
    enum type_id id;
    enum name_flag flag;

    return find_name(name, n, &id, &flag);
}

bool type_by_user_id(int user_type_id, enum type_id *out)
{
    if (user_type_id == 108) {
        *out = TY_DECIMAL;
        return true;
    }
    for (size_t i = TY_BIT; i < TY_COUNT; i++)
        if (types[i].user_type_id == user_type_id) {
            *out = types[i].id;
            return true;
        }
    return false;
}

static bool apply_length(struct sqltype *t, const struct type_args *a, struct sqlerr *e)
{
    bool wide = t->id == TY_NCHAR || t->id == TY_NVARCHAR;
    bool variable = t->id == TY_VARCHAR || t->id == TY_NVARCHAR || t->id == TY_VARBINARY;
    long most = wide ? TYPE_MAX_NCHARS : TYPE_MAX_CHARS, n;

    if (a->max) {
        if (!variable)
            return sqlerr_set(e, 102, "max");
        t->max_bytes = TYPE_MAX;
        return true;
    }
    if (a->count > 1)
        return sqlerr_set(e, 2716, 1, types[t->id].name);
    n = a->count == 1 ? a->arg[0] : a->in_cast ? 30 : 1;
    if (n < 1)
        return sqlerr_set(e, 1001, (int)n);
    if (n > most)
        return sqlerr_set(e, 131, (long long)n, types[t->id].name, (int)most);
    t->max_bytes = (int32_t)(wide ? 2 * n : n);
    return true;
}

static bool apply_decimal(struct sqltype *t, const struct type_args *a, struct sqlerr *e)
{
    long p = a->count >= 1 ? a->arg[0] : 18, s = a->count == 2 ? a->arg[1] : 0;

    if (a->max || p < 1)
        return sqlerr_set(e, 1001, (int)p);
    if (p > TYPE_MAX_PRECISION)
        return sqlerr_set(e, 2750, 1, (int)p, TYPE_MAX_PRECISION);
    if (s < 0 || s > p)
        return sqlerr_set(e, 2751, 1, (int)s, (int)p);
    t->precision = (uint8_t)p;
    t->scale = (uint8_t)s;
    t->max_bytes = type_decimal_bytes(t->precision);
    return true;
}

static bool apply_float(struct sqltype *t, const struct type_args *a, struct sqlerr *e)
{
    if (a->count == 0)
        return true;
    if (a->count > 1 || a->arg[0] < 1 || a->arg[0] > 53)
        return sqlerr_set(e, 1001, (int)a->arg[0]);
    if (a->arg[0] <= 24)
        *t = type_of(TY_REAL);
    return true;
}

/* Bytes of time(0..7); date adds 3, an offset 2 more.  Precision as sys.columns shows it.
 */
static bool apply_scale(struct sqltype *t, const struct type_args *a, struct sqlerr *e)
{
    long s = a->count == 0 ? 7 : a->arg[0];
    int time_bytes = s <= 2 ? 3 : s <= 4 ? 4 : 5;
    int digits = s == 0 ? 0 : (int)s + 1;

    if (a->count > 1 || s < 0 || s > 7)
        return sqlerr_set(e, 1002, (int)s);
    t->scale = (uint8_t)s;
    t->precision = (uint8_t)(digits + (t->id == TY_TIME        ? 8
                                       : t->id == TY_DATETIME2 ? 19
                                                               : 26));
    t->max_bytes = time_bytes + (t->id == TY_TIME ? 0 : t->id == TY_DATETIME2 ? 3 : 5);
    return true;
}

static bool apply_nothing(struct sqltype *t, const struct type_args *a, struct sqlerr *e)
{
    if (a->count > 0 || a->max)
        return sqlerr_set(e, 2716, 1, types[t->id].name);
    return true;
}

typedef bool apply_args(struct sqltype *t, const struct type_args *a, struct sqlerr *e);

static apply_args *const appliers[TY_COUNT] = {
    [TY_CHAR] = apply_length,          [TY_VARCHAR] = apply_length,
    [TY_NCHAR] = apply_length,         [TY_NVARCHAR] = apply_length,
    [TY_BINARY] = apply_length,        [TY_VARBINARY] = apply_length,
    [TY_DECIMAL] = apply_decimal,      [TY_FLOAT] = apply_float,
    [TY_TIME] = apply_scale,           [TY_DATETIME2] = apply_scale,
    [TY_DATETIMEOFFSET] = apply_scale,
};

bool type_parse(const char *name, size_t n, const struct type_args *args,
                struct sqltype *out, struct sqlerr *e)
{
    static const struct type_args none = {0};
    char shown[129];
    enum type_id id;
    enum name_flag flag;
    apply_args *apply;

    if (!find_name(name, n, &id, &flag)) {
        snprintf(shown, sizeof shown, "%.*s", (int)(n > 128 ? 128 : n), name);
        return args != NULL && args->in_cast ? sqlerr_set(e, 243, shown)
                                             : sqlerr_set(e, 2715, 1, shown);
    }
    *out = type_of(id);
    if (flag == NAME_SYSNAME) {
        *out = type_nvarchar(128);
        out->sysname = true;
        return apply_nothing(out, args == NULL ? &none : args, e);
    }
    out->numeric = flag == NAME_NUMERIC;
    apply = appliers[id] == NULL ? apply_nothing : appliers[id];
    return apply(out, args == NULL ? &none : args, e);
}

const char *type_name(const struct sqltype *t)
{
    if (t->sysname)
        return "sysname";
    if (t->id == TY_DECIMAL && t->numeric)
        return "numeric";
    return type_info(t->id)->name;
}

const char *type_format(const struct sqltype *t, char *buf, size_t size)
{
    const char *name = type_name(t);

    if (t->sysname || appliers[t->id] == NULL || t->id == TY_FLOAT)
        snprintf(buf, size, "%s", name);
    else if (t->id == TY_DECIMAL)
        snprintf(buf, size, "%s(%d,%d)", name, t->precision, t->scale);
    else if (type_is_datetime(t->id))
        snprintf(buf, size, "%s(%d)", name, t->scale);
    else if (t->max_bytes == TYPE_MAX)
        snprintf(buf, size, "%s(max)", name);
    else
        snprintf(buf, size, "%s(%d)", name, (int)type_length(t));
    return buf;
}
