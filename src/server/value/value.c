#include "server/value/value.h"

#include "server/value/collation.h"
#include "server/value/guid.h"
#include "server/value/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a type's value is held in memory. */
enum form {
    FORM_INT,
    FORM_FLOAT,
    FORM_DECIMAL,
    FORM_OFFSET,
    FORM_TEXT,
    FORM_BYTES,
    FORM_GUID
};

static enum form form_of(enum type_id id)
{
    switch (type_family(id)) {
    case FAM_FLOAT:
        return FORM_FLOAT;
    case FAM_DECIMAL:
        return FORM_DECIMAL;
    case FAM_DATETIME:
        return id == TY_DATETIMEOFFSET ? FORM_OFFSET : FORM_INT;
    case FAM_STRING:
    case FAM_NSTRING:
    case FAM_XML:
        return FORM_TEXT;
    case FAM_BINARY:
    case FAM_VARIANT:
        return FORM_BYTES;
    case FAM_GUID:
        return FORM_GUID;
    default:
        return FORM_INT;
    }
}

static bool has_bytes(enum type_id id)
{
    return form_of(id) >= FORM_TEXT;
}

void value_set_null(struct value *v, struct sqltype type)
{
    memset(v, 0, sizeof *v);
    v->type = type;
    v->is_null = true;
}

void value_free(struct value *v)
{
    if (v->owned)
        free((void *)(uintptr_t)v->u.s.p);
    memset(v, 0, sizeof *v);
}

bool value_copy(struct value *out, const struct value *in, struct sqlerr *e)
{
    char *p;

    *out = *in;
    out->owned = false;
    if (in->is_null || !has_bytes(in->type.id))
        return true;
    p = malloc(in->u.s.n + 1);
    if (p == NULL) {
        value_set_null(out, in->type);
        return sqlerr_set(e, 701, "default");
    }
    if (in->u.s.n > 0)
        memcpy(p, in->u.s.p, in->u.s.n);
    p[in->u.s.n] = '\0';
    out->u.s.p = p;
    out->owned = true;
    return true;
}

static void get_big_endian(const unsigned char *p, struct value *out)
{
    uint64_t u = 0;

    for (int i = 0; i < 8; i++)
        u = u << 8 | p[i];
    out->u.i = (int64_t)u;
    out->offset_min = (int16_t)(uint16_t)(p[8] << 8 | p[9]);
}

/* What SQLite worked out itself may come as a number where we keep a blob. */
static bool decimal_from_sqlite(sqlite3_value *sv, struct value *out)
{
    int kind = sqlite3_value_type(sv);

    if (kind == SQLITE_BLOB && sqlite3_value_bytes(sv) == 16) {
        out->u.dec = decimal_unpack(sqlite3_value_blob(sv));
        return true;
    }
    if (kind == SQLITE_INTEGER)
        return decimal_rescale(sqlite3_value_int64(sv), 0, out->type.scale, false,
                               &out->u.dec);
    return kind == SQLITE_FLOAT &&
           decimal_from_double(sqlite3_value_double(sv), out->type.scale, &out->u.dec);
}

static bool guid_from_sqlite(sqlite3_value *sv, struct value *out)
{
    /* the permuted bytes cannot be borrowed, the value owns its sixteen */
    unsigned char *p = malloc(GUID_BYTES);

    if (p == NULL || sqlite3_value_bytes(sv) != GUID_BYTES) {
        free(p);
        return false;
    }
    guid_from_sort_order(sqlite3_value_blob(sv), p);
    out->u.s.p = (char *)p;
    out->u.s.n = GUID_BYTES;
    out->owned = true;
    return true;
}

static void text_from_sqlite(sqlite3_value *sv, bool text, struct value *out)
{
    const void *p = text ? (const void *)sqlite3_value_text(sv) : sqlite3_value_blob(sv);

    out->u.s.p = p == NULL ? "" : p;
    out->u.s.n = p == NULL ? 0 : (size_t)sqlite3_value_bytes(sv);
}

bool value_from_sqlite(sqlite3_value *sv, const struct sqltype *type, struct value *out)
{
    enum form form = form_of(type->id);
    bool ok = true;

    value_set_null(out, *type);
    if (sqlite3_value_type(sv) == SQLITE_NULL)
        return true;
    if (form == FORM_INT)
        out->u.i = sqlite3_value_int64(sv);
    else if (form == FORM_FLOAT)
        out->u.f = sqlite3_value_double(sv);
    else if (form == FORM_DECIMAL)
        ok = decimal_from_sqlite(sv, out);
    else if (form == FORM_GUID)
        ok = guid_from_sqlite(sv, out);
    else if (form != FORM_OFFSET)
        text_from_sqlite(sv, form == FORM_TEXT, out);
    else if ((ok = sqlite3_value_bytes(sv) == 10))
        get_big_endian(sqlite3_value_blob(sv), out);
    out->is_null = !ok;
    return ok;
}

/* The value's blob form of at most 16 bytes; returns its length, 0 when it has another
 * form. */
static size_t pack_blob(const struct value *v, unsigned char out[16])
{
    uint64_t u = (uint64_t)v->u.i;

    switch (form_of(v->type.id)) {
    case FORM_DECIMAL:
        decimal_pack(v->u.dec, out);
        return 16;
    case FORM_OFFSET:
        for (int i = 7; i >= 0; i--, u >>= 8)
            out[i] = (unsigned char)(u & 0xFF);
        out[8] = (unsigned char)((uint16_t)v->offset_min >> 8);
        out[9] = (unsigned char)((uint16_t)v->offset_min & 0xFF);
        return 10;
    case FORM_GUID:
        guid_to_sort_order((const unsigned char *)v->u.s.p, out);
        return 16;
    default:
        return 0;
    }
}

int value_bind(sqlite3_stmt *st, int index, const struct value *v)
{
    unsigned char blob[16];
    size_t n;

    if (v->is_null)
        return sqlite3_bind_null(st, index);
    n = pack_blob(v, blob);
    if (n > 0)
        return sqlite3_bind_blob(st, index, blob, (int)n, SQLITE_TRANSIENT);
    switch (form_of(v->type.id)) {
    case FORM_FLOAT:
        return sqlite3_bind_double(st, index, v->u.f);
    case FORM_TEXT:
        return sqlite3_bind_text64(st, index, v->u.s.p, v->u.s.n, SQLITE_TRANSIENT,
                                   SQLITE_UTF8);
    case FORM_BYTES:
        return v->u.s.n == 0
                   ? sqlite3_bind_zeroblob(st, index, 0)
                   : sqlite3_bind_blob64(st, index, v->u.s.p, v->u.s.n, SQLITE_TRANSIENT);
    default:
        return sqlite3_bind_int64(st, index, v->u.i);
    }
}

void value_result(sqlite3_context *ctx, const struct value *v)
{
    unsigned char blob[16];
    size_t n;

    if (v->is_null) {
        sqlite3_result_null(ctx);
        return;
    }
    n = pack_blob(v, blob);
    if (n > 0) {
        sqlite3_result_blob(ctx, blob, (int)n, SQLITE_TRANSIENT);
        return;
    }
    switch (form_of(v->type.id)) {
    case FORM_FLOAT:
        sqlite3_result_double(ctx, v->u.f);
        break;
    case FORM_TEXT:
        sqlite3_result_text64(ctx, v->u.s.p, v->u.s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case FORM_BYTES:
        if (v->u.s.n == 0)
            sqlite3_result_zeroblob(ctx, 0);
        else
            sqlite3_result_blob64(ctx, v->u.s.p, v->u.s.n, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_int64(ctx, v->u.i);
        break;
    }
}

/* Trailing zero bytes count as absent, as the server compares binary values. */
static int compare_bytes(const struct value *a, const struct value *b)
{
    size_t an = a->u.s.n, bn = b->u.s.n, n = an < bn ? an : bn;
    const char *rest;
    size_t left;
    int c = n == 0 ? 0 : memcmp(a->u.s.p, b->u.s.p, n);

    if (c != 0)
        return c < 0 ? -1 : 1;
    rest = an > bn ? a->u.s.p + n : b->u.s.p + n;
    left = an > bn ? an - n : bn - n;
    for (size_t i = 0; i < left; i++)
        if (rest[i] != 0)
            return an > bn ? 1 : -1;
    return 0;
}

int value_compare(const struct value *a, const struct value *b)
{
    unsigned char x[16], y[16];
    uint32_t collation = a->type.collation != 0 ? a->type.collation : b->type.collation;

    switch (form_of(a->type.id)) {
    case FORM_FLOAT:
        return (a->u.f > b->u.f) - (a->u.f < b->u.f);
    case FORM_DECIMAL:
        return decimal_compare(a->u.dec, a->type.scale, b->u.dec, b->type.scale);
    case FORM_TEXT:
        return collation_compare(collation, a->u.s.p, a->u.s.n, b->u.s.p, b->u.s.n);
    case FORM_BYTES:
        return compare_bytes(a, b);
    case FORM_GUID: {
        int c;

        guid_to_sort_order((const unsigned char *)a->u.s.p, x);
        guid_to_sort_order((const unsigned char *)b->u.s.p, y);
        c = memcmp(x, y, sizeof x);
        return (c > 0) - (c < 0);
    }
    default:
        return (a->u.i > b->u.i) - (a->u.i < b->u.i);
    }
}
