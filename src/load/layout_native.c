/* The layout of native files: one field for each column of the table, in their order. */
#include "load/layout_priv.h"

#include <string.h>

enum {
    LENGTH_OF_SHORT = 2, /* bytes in front of char, binary and their like */
    LENGTH_OF_OLD = 4,   /* of text, ntext, image */
    LENGTH_OF_MAX = 8,   /* of the (max) types, xml and CLR types */
    MAX_CHAR_BYTES = 4   /* of a character in any encoding of the file */
};

/* Bytes in front of a value, where bcp -n writes any: "Specify Prefix Length in Data
 * Files by Using bcp". */
enum front { BY_NULL, ALWAYS_1, BY_LENGTH, OLD };

static const struct {
    enum fr_host_type bcp;
    enum front front;
    enum fr_host_type freetds;
    enum front freetds_front;
} forms[FR_TYPE_COUNT] = {
    [FR_TYPE_BIT] = {FR_HOST_BIT, BY_NULL, FR_HOST_BIT, BY_NULL},
    [FR_TYPE_TINYINT] = {FR_HOST_TINYINT, BY_NULL, FR_HOST_TINYINT, BY_NULL},
    [FR_TYPE_SMALLINT] = {FR_HOST_SMALLINT, BY_NULL, FR_HOST_SMALLINT, BY_NULL},
    [FR_TYPE_INT] = {FR_HOST_INT, BY_NULL, FR_HOST_INT, BY_NULL},
    [FR_TYPE_BIGINT] = {FR_HOST_BIGINT, BY_NULL, FR_HOST_BIGINT, BY_NULL},
    [FR_TYPE_REAL] = {FR_HOST_REAL, BY_NULL, FR_HOST_REAL, BY_NULL},
    [FR_TYPE_FLOAT] = {FR_HOST_FLOAT, BY_NULL, FR_HOST_FLOAT, BY_NULL},
    [FR_TYPE_SMALLMONEY] = {FR_HOST_SMALLMONEY, BY_NULL, FR_HOST_SMALLMONEY, BY_NULL},
    [FR_TYPE_MONEY] = {FR_HOST_MONEY, BY_NULL, FR_HOST_MONEY, BY_NULL},
    [FR_TYPE_DECIMAL] = {FR_HOST_DECIMAL, ALWAYS_1, FR_HOST_DECIMAL, ALWAYS_1},
    [FR_TYPE_DATE] = {FR_HOST_DATE, BY_NULL, FR_HOST_DATE, BY_NULL},
    [FR_TYPE_TIME] = {FR_HOST_TIME, ALWAYS_1, FR_HOST_TIME, BY_LENGTH},
    [FR_TYPE_DATETIME] = {FR_HOST_DATETIME, BY_NULL, FR_HOST_DATETIME, BY_NULL},
    [FR_TYPE_SMALLDATETIME] = {FR_HOST_SMALLDATETIME, BY_NULL, FR_HOST_SMALLDATETIME,
                               BY_NULL},
    [FR_TYPE_DATETIME2] = {FR_HOST_DATETIME2, ALWAYS_1, FR_HOST_DATETIME2, BY_LENGTH},
    [FR_TYPE_DATETIMEOFFSET] = {FR_HOST_DATETIMEOFFSET, ALWAYS_1, FR_HOST_DATETIMEOFFSET,
                                BY_LENGTH},
    [FR_TYPE_CHAR] = {FR_HOST_CHAR, BY_LENGTH, FR_HOST_CHAR, BY_LENGTH},
    [FR_TYPE_VARCHAR] = {FR_HOST_CHAR, BY_LENGTH, FR_HOST_CHAR, BY_LENGTH},
    [FR_TYPE_TEXT] = {FR_HOST_CHAR, OLD, FR_HOST_CHAR, OLD},
    /* freebcp turns all text into its own client's encoding */
    [FR_TYPE_NCHAR] = {FR_HOST_NCHAR, BY_LENGTH, FR_HOST_CHAR, BY_LENGTH},
    [FR_TYPE_NVARCHAR] = {FR_HOST_NCHAR, BY_LENGTH, FR_HOST_CHAR, BY_LENGTH},
    [FR_TYPE_NTEXT] = {FR_HOST_NCHAR, OLD, FR_HOST_CHAR, OLD},
    [FR_TYPE_BINARY] = {FR_HOST_BINARY, BY_LENGTH, FR_HOST_BINARY, BY_LENGTH},
    [FR_TYPE_VARBINARY] = {FR_HOST_BINARY, BY_LENGTH, FR_HOST_BINARY, BY_LENGTH},
    [FR_TYPE_IMAGE] = {FR_HOST_BINARY, OLD, FR_HOST_BINARY, OLD},
    [FR_TYPE_GUID] = {FR_HOST_GUID, ALWAYS_1, FR_HOST_GUID, BY_NULL},
    [FR_TYPE_XML] = {FR_HOST_NCHAR, BY_LENGTH, FR_HOST_CHAR, OLD},
    [FR_TYPE_CLR] = {FR_HOST_BINARY, BY_LENGTH, FR_HOST_BINARY, OLD},
    [FR_TYPE_UNSUPPORTED] = {FR_HOST_VARIANT, OLD, FR_HOST_VARIANT, OLD},
};

static bool is_rowversion(const struct fr_column *c)
{
    return strcmp(c->type_name, "timestamp") == 0 ||
           strcmp(c->type_name, "rowversion") == 0;
}

static bool is_max(const struct fr_column *c)
{
    return c->max_bytes < 0 || c->type == FR_TYPE_XML || c->type == FR_TYPE_CLR;
}

static uint8_t front_bytes(enum front front, const struct fr_column *c, bool freetds)
{
    switch (front) {
    case BY_NULL:
        return c->nullable ? 1 : 0;
    case ALWAYS_1:
        return 1;
    case OLD:
        return LENGTH_OF_OLD;
    case BY_LENGTH:
    default:
        if (is_rowversion(c) && !freetds)
            return 1;
        return is_max(c) && !freetds ? LENGTH_OF_MAX : LENGTH_OF_SHORT;
    }
}

/* The most bytes of a value in the file: no more than a sensible limit, as the file's
 * encoding may need more bytes than the column's. */
static uint64_t most_bytes(const struct fr_column *c, enum fr_host_type type)
{
    if (is_max(c) || c->type == FR_TYPE_TEXT || c->type == FR_TYPE_NTEXT ||
        c->type == FR_TYPE_IMAGE)
        return 0;
    if (type == FR_HOST_CHAR || type == FR_HOST_NCHAR)
        return (uint64_t)c->max_bytes * MAX_CHAR_BYTES;
    return (uint64_t)c->max_bytes;
}

fr_status layout_from_table(struct fr_layout *l, const struct fr_load_options *o,
                            const struct fr_table *t, struct fr_err *err)
{
    bool freetds = o->native_writer == FR_WRITER_FREEBCP;
    size_t load_id = fr_layout_load_id_column(o, t), at = 0;
    fr_status st;

    if (t->column_count > FR_MAX_FIELDS)
        return fr_err_set(err, FR_EARG, "%s has more than %d columns", t->display,
                          FR_MAX_FIELDS);
    st = layout_reserve(l, t->column_count - (load_id < t->column_count ? 1 : 0), err);
    l->by_table = true;
    for (size_t i = 0; st == FR_OK && i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];
        enum fr_type type = is_rowversion(c) ? FR_TYPE_BINARY : c->type;
        struct fr_layout_field *f;

        if (i == load_id)
            continue;
        f = &l->fields[at++];
        f->type = freetds ? forms[type].freetds : forms[type].bcp;
        if (f->type == FR_HOST_VARIANT)
            return fr_err_set(err, FR_EARG,
                              "column %s has type %s, whose native form is not known: "
                              "leave it out when the file is written, or give bcp's "
                              "format file with -f",
                              c->name, c->type_name);
        if (o->unicode_native && f->type == FR_HOST_CHAR)
            f->type = FR_HOST_NCHAR;
        f->prefix_bytes = front_bytes(
            freetds ? forms[type].freetds_front : forms[type].front, c, freetds);
        f->max_bytes = most_bytes(c, f->type);
        f->column = i + 1;
    }
    return st;
}
