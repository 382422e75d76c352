#include "server/tds/wire.h"

#include "server/value/collation.h"

#include <string.h>

/* What stands behind the token in a TYPE_INFO. */
enum layout {
    INFO_NONE,
    INFO_BYTE,
    INFO_DECIMAL,
    INFO_SCALE,
    INFO_USHORT,
    INFO_LONG,
    INFO_VARIANT,
    INFO_CLR,
    INFO_XML
};

struct wire_row {
    uint8_t token;
    enum type_id id; /* the *N types: that of the longest form */
    enum layout layout;
    enum wire_length length;
    uint8_t bytes; /* of a fixed type */
};

static const struct wire_row rows[] = {
    {0x1F, TY_NULL, INFO_NONE, WIRE_FIXED, 0},
    {0x30, TY_TINYINT, INFO_NONE, WIRE_FIXED, 1},
    {0x32, TY_BIT, INFO_NONE, WIRE_FIXED, 1},
    {0x34, TY_SMALLINT, INFO_NONE, WIRE_FIXED, 2},
    {0x38, TY_INT, INFO_NONE, WIRE_FIXED, 4},
    {0x3A, TY_SMALLDATETIME, INFO_NONE, WIRE_FIXED, 4},
    {0x3B, TY_REAL, INFO_NONE, WIRE_FIXED, 4},
    {0x3C, TY_MONEY, INFO_NONE, WIRE_FIXED, 8},
    {0x3D, TY_DATETIME, INFO_NONE, WIRE_FIXED, 8},
    {0x3E, TY_FLOAT, INFO_NONE, WIRE_FIXED, 8},
    {0x7A, TY_SMALLMONEY, INFO_NONE, WIRE_FIXED, 4},
    {0x7F, TY_BIGINT, INFO_NONE, WIRE_FIXED, 8},
    {0x24, TY_UNIQUEIDENTIFIER, INFO_BYTE, WIRE_BYTE, 0},
    {0x26, TY_BIGINT, INFO_BYTE, WIRE_BYTE, 0},
    {0x68, TY_BIT, INFO_BYTE, WIRE_BYTE, 0},
    {0x6D, TY_FLOAT, INFO_BYTE, WIRE_BYTE, 0},
    {0x6E, TY_MONEY, INFO_BYTE, WIRE_BYTE, 0},
    {0x6F, TY_DATETIME, INFO_BYTE, WIRE_BYTE, 0},
    {0x37, TY_DECIMAL, INFO_DECIMAL, WIRE_BYTE, 0},
    {0x3F, TY_DECIMAL, INFO_DECIMAL, WIRE_BYTE, 0},
    {0x6A, TY_DECIMAL, INFO_DECIMAL, WIRE_BYTE, 0},
    {0x6C, TY_DECIMAL, INFO_DECIMAL, WIRE_BYTE, 0},
    {0x28, TY_DATE, INFO_NONE, WIRE_BYTE, 0},
    {0x29, TY_TIME, INFO_SCALE, WIRE_BYTE, 0},
    {0x2A, TY_DATETIME2, INFO_SCALE, WIRE_BYTE, 0},
    {0x2B, TY_DATETIMEOFFSET, INFO_SCALE, WIRE_BYTE, 0},
    {0xA5, TY_VARBINARY, INFO_USHORT, WIRE_USHORT, 0},
    {0xAD, TY_BINARY, INFO_USHORT, WIRE_USHORT, 0},
    {0xA7, TY_VARCHAR, INFO_USHORT, WIRE_USHORT, 0},
    {0xAF, TY_CHAR, INFO_USHORT, WIRE_USHORT, 0},
    {0xE7, TY_NVARCHAR, INFO_USHORT, WIRE_USHORT, 0},
    {0xEF, TY_NCHAR, INFO_USHORT, WIRE_USHORT, 0},
    {0x22, TY_IMAGE, INFO_LONG, WIRE_LONG, 0},
    {0x23, TY_TEXT, INFO_LONG, WIRE_LONG, 0},
    {0x63, TY_NTEXT, INFO_LONG, WIRE_LONG, 0},
    {0x62, TY_SQL_VARIANT, INFO_VARIANT, WIRE_VARIANT, 0},
    {0xF0, TY_VARBINARY, INFO_CLR, WIRE_PLP, 0},
    {0xF1, TY_XML, INFO_XML, WIRE_PLP, 0},
};

/* The short forms of the nullable types, by length. */
static const struct {
    uint8_t token, bytes;
    enum type_id id;
} by_length[] = {
    {0x26, 1, TY_TINYINT},  {0x26, 2, TY_SMALLINT},
    {0x26, 4, TY_INT},      {0x26, 8, TY_BIGINT},
    {0x68, 1, TY_BIT},      {0x6D, 4, TY_REAL},
    {0x6D, 8, TY_FLOAT},    {0x6E, 4, TY_SMALLMONEY},
    {0x6E, 8, TY_MONEY},    {0x6F, 4, TY_SMALLDATETIME},
    {0x6F, 8, TY_DATETIME}, {0x24, 16, TY_UNIQUEIDENTIFIER},
};

enum { LONG_MAX_BYTES = 0x7FFFFFFF, PLP_MARK = 0xFFFF };

static const struct wire_row *find_row(uint8_t token)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].token == token)
            return &rows[i];
    return NULL;
}

/* nvarchar in place of a type that the client's version lacks */
static struct sqltype downlevel(const struct sqltype *type)
{
    struct sqltype t = type_nvarchar(type->id == TY_DATE             ? 10
                                     : type->id == TY_TIME           ? 16
                                     : type->id == TY_DATETIMEOFFSET ? 34
                                                                     : 27);
    return t;
}

static bool is_newer_date(enum type_id id)
{
    return id == TY_DATE || id == TY_TIME || id == TY_DATETIME2 ||
           id == TY_DATETIMEOFFSET;
}

void wire_type_for(const struct sqltype *type, bool nullable, uint32_t tds_version,
                   struct wire_type *out)
{
    const struct type_info *ti;
    const struct wire_row *row;

    memset(out, 0, sizeof *out);
    out->type = *type;
    if (is_newer_date(type->id) && tds_version < TDS_7_3A)
        out->type = downlevel(type);
    if (type->id == TY_NULL)
        out->type = type_of(TY_INT);
    ti = type_info(out->type.id);
    out->token = !nullable && ti->token_fixed != 0 ? ti->token_fixed : ti->token;
    if (out->type.id == TY_DECIMAL && out->type.numeric)
        out->token = 0x6C;
    row = find_row(out->token);
    out->length = row->length;
    out->max = (uint32_t)out->type.max_bytes;
    if (row->layout == INFO_USHORT && out->type.max_bytes == TYPE_MAX) {
        out->length = WIRE_PLP;
        out->max = PLP_MARK;
    } else if (row->layout == INFO_CLR && out->type.max_bytes == TYPE_MAX) {
        out->max = PLP_MARK;
    } else if (row->layout == INFO_LONG) {
        out->max = out->type.id == TY_NTEXT ? LONG_MAX_BYTES - 1 : LONG_MAX_BYTES;
    }
}

static bool put_ascii(struct tds_writer *w, const char *text)
{
    bool ok = true;

    for (; ok && *text != '\0'; text++)
        ok = tds_put_u16(w, (unsigned char)*text);
    return ok;
}

/* MS-TDS 2.2.5.5.2: longest value, database, schema, type, then the class in its assembly
 */
static bool write_clr(struct tds_writer *w, const struct wire_type *wt)
{
    static const char assembly[] = ", Microsoft.SqlServer.Types, Version=11.0.0.0, "
                                   "Culture=neutral, PublicKeyToken=89845dcd8080cc91";
    const char *name = type_name(&wt->type);
    const char *class = wt->type.id == TY_HIERARCHYID ? "SqlHierarchyId"
                        : wt->type.id == TY_GEOMETRY  ? "SqlGeometry"
                                                      : "SqlGeography";
    static const char space[] = "Microsoft.SqlServer.Types.";
    size_t chars = strlen(space) + strlen(class) + strlen(assembly);

    return tds_put_u16(w, (uint16_t)wt->max) && tds_put_u8(w, 0) && tds_put_u8(w, 3) &&
           put_ascii(w, "sys") && tds_put_u8(w, (uint8_t)strlen(name)) &&
           put_ascii(w, name) && tds_put_u16(w, (uint16_t)chars) && put_ascii(w, space) &&
           put_ascii(w, class) && put_ascii(w, assembly);
}

static bool has_collation(uint8_t token)
{
    return token == 0xA7 || token == 0xAF || token == 0xE7 || token == 0xEF ||
           token == 0x23 || token == 0x63;
}

bool wire_write_type(struct tds_writer *w, const struct wire_type *wt)
{
    unsigned char collation[COLLATION_WIRE_BYTES];
    bool ok = tds_put_u8(w, wt->token);

    switch (find_row(wt->token)->layout) {
    case INFO_NONE:
        break;
    case INFO_BYTE:
        ok = tds_put_u8(w, (uint8_t)wt->max);
        break;
    case INFO_DECIMAL:
        ok = tds_put_u8(w, (uint8_t)wt->max) && tds_put_u8(w, wt->type.precision) &&
             tds_put_u8(w, wt->type.scale);
        break;
    case INFO_SCALE:
        ok = tds_put_u8(w, wt->type.scale);
        break;
    case INFO_USHORT:
        ok = tds_put_u16(w, (uint16_t)wt->max);
        break;
    case INFO_LONG:
    case INFO_VARIANT:
        ok = tds_put_u32(w, wt->max);
        break;
    case INFO_CLR:
        ok = write_clr(w, wt);
        break;
    case INFO_XML:
        ok = tds_put_u8(w, 0); /* no schema */
        break;
    }
    if (has_collation(wt->token)) {
        collation_wire(wt->type.collation, collation);
        ok = tds_put(w, collation, sizeof collation);
    }
    return ok;
}

static enum wire_result read_byte_type(struct wire_type *out, uint8_t bytes)
{
    for (size_t i = 0; i < sizeof by_length / sizeof by_length[0]; i++)
        if (by_length[i].token == out->token && by_length[i].bytes == bytes) {
            out->type = type_of(by_length[i].id);
            out->max = bytes;
            return WIRE_OK;
        }
    return WIRE_BAD_TYPE;
}

static enum wire_result read_decimal_type(struct tds_reader *r, struct wire_type *out)
{
    uint8_t bytes, precision, scale;

    if (!tds_read_u8(r, &bytes) || !tds_read_u8(r, &precision) || !tds_read_u8(r, &scale))
        return WIRE_BROKEN;
    if (bytes > 17 || precision < 1 || precision > TYPE_MAX_PRECISION ||
        scale > precision)
        return WIRE_BAD_TYPE;
    out->type = type_decimal(precision, scale);
    out->type.numeric = out->token == 0x6C || out->token == 0x3F;
    out->max = bytes;
    return WIRE_OK;
}

static enum wire_result read_scale_type(struct tds_reader *r, struct wire_type *out)
{
    const char *name = type_info(out->type.id)->name;
    struct type_args args = {.count = 1};
    uint8_t scale;

    if (!tds_read_u8(r, &scale))
        return WIRE_BROKEN;
    args.arg[0] = scale;
    if (!type_parse(name, strlen(name), &args, &out->type, NULL))
        return WIRE_BAD_TYPE;
    out->max = (uint32_t)out->type.max_bytes;
    return WIRE_OK;
}

/* The variable form: a value as sent is not padded. */
static enum type_id unpadded(enum type_id id)
{
    return id == TY_CHAR     ? TY_VARCHAR
           : id == TY_NCHAR  ? TY_NVARCHAR
           : id == TY_BINARY ? TY_VARBINARY
                             : id;
}

static enum wire_result read_ushort_type(struct tds_reader *r, struct wire_type *out)
{
    uint16_t max;

    if (!tds_read_u16(r, &max))
        return WIRE_BROKEN;
    out->type = type_of(unpadded(out->type.id));
    out->max = max;
    out->type.max_bytes = max;
    if (max == PLP_MARK) {
        if (out->token != 0xA5 && out->token != 0xA7 && out->token != 0xE7)
            return WIRE_BAD_TYPE;
        out->type.max_bytes = TYPE_MAX;
        out->length = WIRE_PLP;
    } else if (max > TYPE_MAX_CHARS) {
        return WIRE_BAD_TYPE;
    }
    return WIRE_OK;
}

static enum wire_result read_xml_type(struct tds_reader *r)
{
    uint8_t schema, n;
    uint16_t chars;

    if (!tds_read_u8(r, &schema))
        return WIRE_BROKEN;
    if (schema == 0)
        return WIRE_OK;
    /* database, owner, collection */
    if (!tds_read_u8(r, &n) || !tds_skip(r, 2u * n) || !tds_read_u8(r, &n) ||
        !tds_skip(r, 2u * n) || !tds_read_u16(r, &chars) || !tds_skip(r, 2u * chars))
        return WIRE_BROKEN;
    return WIRE_OK;
}

/* As parameters have it: database, schema, type; the bytes are a varbinary's. */
static enum wire_result read_clr_type(struct tds_reader *r, struct wire_type *out)
{
    uint8_t n;

    out->type = type_varbinary(TYPE_MAX);
    for (int part = 0; part < 3; part++)
        if (!tds_read_u8(r, &n) || !tds_skip(r, 2u * n))
            return WIRE_BROKEN;
    return WIRE_OK;
}

static enum wire_result read_layout(struct tds_reader *r, enum layout layout,
                                    struct wire_type *out)
{
    uint8_t bytes;

    switch (layout) {
    case INFO_BYTE:
        return tds_read_u8(r, &bytes) ? read_byte_type(out, bytes) : WIRE_BROKEN;
    case INFO_DECIMAL:
        return read_decimal_type(r, out);
    case INFO_SCALE:
        return read_scale_type(r, out);
    case INFO_USHORT:
        return read_ushort_type(r, out);
    case INFO_LONG:
    case INFO_VARIANT:
        return tds_read_u32(r, &out->max) ? WIRE_OK : WIRE_BROKEN;
    case INFO_CLR:
        return read_clr_type(r, out);
    case INFO_XML:
        return read_xml_type(r);
    default:
        return WIRE_OK;
    }
}

enum wire_result wire_read_type(struct tds_reader *r, struct wire_type *out)
{
    const struct wire_row *row;
    unsigned char collation[COLLATION_WIRE_BYTES];
    enum wire_result rc;

    memset(out, 0, sizeof *out);
    if (!tds_read_u8(r, &out->token))
        return WIRE_BROKEN;
    row = find_row(out->token);
    if (row == NULL)
        return WIRE_BAD_TYPE;
    out->type = type_of(row->id);
    out->length = row->length;
    out->max = row->bytes;
    if (out->token == 0x28)
        out->max = 3;
    rc = read_layout(r, row->layout, out);
    if (rc != WIRE_OK || !has_collation(out->token))
        return rc;
    if (!tds_read(r, collation, sizeof collation))
        return WIRE_BROKEN;
    out->type.collation = collation_from_wire(collation);
    return WIRE_OK;
}
