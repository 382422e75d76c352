/* One column of a CREATE TABLE: its type, and what is said of it. */
#include "db/ddl_priv.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_INLINE_CHARS = 8000, MAX_PRECISION = 38, CP_LATIN1 = 1252, CP_UTF8 = 65001 };

/* What may stand in parentheses behind a type. */
enum arguments { NO_ARGUMENT, LENGTH, PRECISION_SCALE, FRACTION, BITS, ANYTHING };

/* fixed: bytes as sys.columns has them; of lengths bytes a character. */
static const struct ddl_type {
    const char *word;
    const char *name; /* of the server */
    enum arguments arguments;
    int32_t bytes;
    int32_t usual; /* where the parentheses are missing: length, precision, fraction */
} types[] = {
    {"bit", "bit", NO_ARGUMENT, 1, 0},
    {"tinyint", "tinyint", NO_ARGUMENT, 1, 0},
    {"smallint", "smallint", NO_ARGUMENT, 2, 0},
    {"int", "int", NO_ARGUMENT, 4, 0},
    {"integer", "int", NO_ARGUMENT, 4, 0},
    {"bigint", "bigint", NO_ARGUMENT, 8, 0},
    {"real", "real", NO_ARGUMENT, 4, 0},
    {"float", "float", BITS, 8, 53},
    {"double", "float", NO_ARGUMENT, 8, 0},
    {"smallmoney", "smallmoney", NO_ARGUMENT, 4, 0},
    {"money", "money", NO_ARGUMENT, 8, 0},
    {"decimal", "decimal", PRECISION_SCALE, 17, 18},
    {"dec", "decimal", PRECISION_SCALE, 17, 18},
    {"numeric", "numeric", PRECISION_SCALE, 17, 18},
    {"date", "date", NO_ARGUMENT, 3, 0},
    {"time", "time", FRACTION, 5, 7},
    {"datetime", "datetime", NO_ARGUMENT, 8, 0},
    {"smalldatetime", "smalldatetime", NO_ARGUMENT, 4, 0},
    {"datetime2", "datetime2", FRACTION, 8, 7},
    {"datetimeoffset", "datetimeoffset", FRACTION, 10, 7},
    {"char", "char", LENGTH, 1, 1},
    {"character", "char", LENGTH, 1, 1},
    {"varchar", "varchar", LENGTH, 1, 1},
    {"text", "text", NO_ARGUMENT, 16, 0},
    {"nchar", "nchar", LENGTH, 2, 1},
    {"nvarchar", "nvarchar", LENGTH, 2, 1},
    {"ntext", "ntext", NO_ARGUMENT, 16, 0},
    {"sysname", "nvarchar", NO_ARGUMENT, 256, 0},
    {"binary", "binary", LENGTH, 1, 1},
    {"varbinary", "varbinary", LENGTH, 1, 1},
    {"image", "image", NO_ARGUMENT, 16, 0},
    {"uniqueidentifier", "uniqueidentifier", NO_ARGUMENT, 16, 0},
    {"xml", "xml", ANYTHING, -1, 0},
    {"timestamp", "timestamp", NO_ARGUMENT, 8, 0},
    {"rowversion", "timestamp", NO_ARGUMENT, 8, 0},
    {"sql_variant", "sql_variant", NO_ARGUMENT, 8016, 0},
    {"hierarchyid", "hierarchyid", NO_ARGUMENT, 892, 0},
    {"geometry", "geometry", NO_ARGUMENT, -1, 0},
    {"geography", "geography", NO_ARGUMENT, -1, 0},
};

static const struct ddl_type *find_type(const char *word)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(types[i].word, word) == 0)
            return &types[i];
    return NULL;
}

fr_status ddl_name(struct ddl *d, struct fr_table_name *out, struct fr_err *err)
{
    memset(out, 0, sizeof *out);
    for (;;) {
        if (!ddl_at_name(d))
            return ddl_error(d, err, "a name is expected");
        memcpy(out->database, out->schema, sizeof out->database);
        memcpy(out->schema, out->table, sizeof out->schema);
        memcpy(out->table, d->word, sizeof out->table);
        ddl_next(d);
        if (!ddl_take(d, "."))
            return FR_OK;
    }
}

static fr_status take_number(struct ddl *d, int64_t min, int64_t max, int64_t *out,
                             struct fr_err *err)
{
    if (d->kind != DDL_NUMBER || fr_num_i64(d->word, min, max, out) != FR_OK)
        return ddl_error(d, err, "no number that the type takes");
    ddl_next(d);
    return FR_OK;
}

static fr_status take_length(struct ddl *d, const struct ddl_type *type,
                             struct fr_column *c, struct fr_err *err)
{
    int64_t n = 0;

    if (ddl_at(d, "max") && strncasecmp(type->name, "var", 3) != 0 &&
        strncasecmp(type->name, "nvar", 4) != 0)
        return ddl_error(d, err, "max is for varchar, nvarchar and varbinary");
    if (ddl_take(d, "max")) {
        c->max_bytes = -1;
        return FR_OK;
    }
    if (take_number(d, 1, MAX_INLINE_CHARS / type->bytes, &n, err) != FR_OK)
        return FR_EDATA;
    c->max_bytes = (int32_t)n * type->bytes;
    return FR_OK;
}

static fr_status take_arguments(struct ddl *d, const struct ddl_type *type,
                                struct fr_column *c, struct fr_err *err)
{
    int64_t n = 0, scale = 0;
    fr_status st;

    switch (type->arguments) {
    case LENGTH:
        return take_length(d, type, c, err);
    case PRECISION_SCALE:
        st = take_number(d, 1, MAX_PRECISION, &n, err);
        if (st == FR_OK && ddl_take(d, ","))
            st = take_number(d, 0, n, &scale, err);
        c->precision = (uint8_t)n;
        c->scale = (uint8_t)scale;
        return st;
    case FRACTION:
        st = take_number(d, 0, 7, &n, err);
        c->scale = (uint8_t)n;
        return st;
    case BITS:
        st = take_number(d, 1, 53, &n, err);
        if (st == FR_OK && n <= 24) {
            c->type = FR_TYPE_REAL;
            c->max_bytes = 4;
        }
        return st;
    case NO_ARGUMENT:
    case ANYTHING:
        break;
    }
    return ddl_error(d, err, "the type takes nothing in parentheses");
}

static fr_status take_type(struct ddl *d, struct fr_table *t, const char *name,
                           struct fr_column **out, struct fr_err *err)
{
    const struct ddl_type *type = NULL;
    struct fr_column *c;
    bool national = ddl_take(d, "national");
    fr_status st = FR_OK;

    if (ddl_at_name(d) && strcasecmp(d->word, "sys") == 0) {
        ddl_next(d);
        if (!ddl_take(d, "."))
            return ddl_error(d, err, "a type is expected");
    }
    if (ddl_at_name(d))
        type = find_type(d->word);
    if (type == NULL)
        return ddl_error(d, err, "it is no type that can be loaded");
    ddl_next(d);
    if (ddl_take(d, "varying")) /* char varying */
        type = find_type(type->bytes == 2                    ? "nvarchar"
                         : strcmp(type->name, "binary") == 0 ? "varbinary"
                                                             : "varchar");
    if (national && type->arguments == LENGTH)
        type = find_type(strcmp(type->name, "char") == 0 ? "nchar" : "nvarchar");
    if (strcmp(type->word, "double") == 0)
        (void)ddl_take(d, "precision");
    c = fr_table_add_column(t, name, type->name, err);
    if (c == NULL)
        return FR_ENOMEM;
    *out = c;
    c->nullable = strcmp(type->word, "sysname") != 0;
    c->max_bytes = type->arguments == LENGTH ? type->usual * type->bytes : type->bytes;
    c->precision = type->arguments == PRECISION_SCALE ? (uint8_t)type->usual : 0;
    c->scale = type->arguments == FRACTION ? (uint8_t)type->usual : 0;
    c->code_page = CP_LATIN1;
    if (type->arguments == ANYTHING && ddl_at(d, "("))
        return ddl_skip_parentheses(d) ? FR_OK : ddl_error(d, err, "a ) is missing");
    if (ddl_take(d, "(")) {
        st = take_arguments(d, type, c, err);
        if (st == FR_OK && !ddl_take(d, ")"))
            st = ddl_error(d, err, "a ) is expected");
    }
    return st;
}

/* Code pages of collations, by how their names begin; those of Windows otherwise 0: not
 * known. */
static int32_t code_page_of(const char *collation)
{
    static const struct {
        const char *begin;
        int32_t page;
    } pages[] = {
        {"SQL_Latin1_General_CP1_", 1252},
        {"SQL_Latin1_General_CP437_", 437},
        {"SQL_Latin1_General_CP850_", 850},
        {"SQL_Latin1_General_CP1250_", 1250},
        {"SQL_Latin1_General_CP1251_", 1251},
        {"SQL_Latin1_General_CP1253_", 1253},
        {"SQL_Latin1_General_CP1254_", 1254},
        {"SQL_Latin1_General_CP1255_", 1255},
        {"SQL_Latin1_General_CP1256_", 1256},
        {"SQL_Latin1_General_CP1257_", 1257},
        {"Latin1_General_", 1252},
        {"Modern_Spanish_", 1252},
        {"French_", 1252},
        {"Danish_", 1252},
        {"Finnish_", 1252},
        {"Icelandic_", 1252},
        {"German_PhoneBook_", 1252},
        {"Polish_", 1250},
        {"Czech_", 1250},
        {"Hungarian_", 1250},
        {"Croatian_", 1250},
        {"Slovak_", 1250},
        {"Slovenian_", 1250},
        {"Romanian_", 1250},
        {"Albanian_", 1250},
        {"Cyrillic_General_", 1251},
        {"Ukrainian_", 1251},
        {"Greek_", 1253},
        {"Turkish_", 1254},
        {"Hebrew_", 1255},
        {"Arabic_", 1256},
        {"Estonian_", 1257},
        {"Latvian_", 1257},
        {"Lithuanian_", 1257},
        {"Vietnamese_", 1258},
        {"Thai_", 874},
        {"Japanese_", 932},
        {"Chinese_PRC_", 936},
        {"Korean_", 949},
        {"Chinese_Taiwan_", 950},
    };
    size_t n = strlen(collation);

    if (n > 5 && strcasecmp(collation + n - 5, "_UTF8") == 0)
        return CP_UTF8;
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        if (strncasecmp(collation, pages[i].begin, strlen(pages[i].begin)) == 0)
            return pages[i].page;
    return 0;
}

fr_status ddl_default(struct ddl *d, struct fr_err *err)
{
    struct fr_table_name name;

    while (ddl_at(d, "-") || ddl_at(d, "+"))
        ddl_next(d);
    if (d->kind == DDL_NUMBER || d->kind == DDL_STRING) {
        ddl_next(d);
        return FR_OK;
    }
    if (ddl_at(d, "(")) {
        if (!ddl_skip_parentheses(d))
            return ddl_error(d, err, "a ) is missing");
        return FR_OK;
    }
    if (ddl_take(d, "next") && (!ddl_take(d, "value") || !ddl_take(d, "for")))
        return ddl_error(d, err, "NEXT VALUE FOR is expected");
    if (ddl_name(d, &name, err) != FR_OK)
        return FR_EDATA;
    if (ddl_at(d, "(") && !ddl_skip_parentheses(d))
        return ddl_error(d, err, "a ) is missing");
    return FR_OK;
}

static fr_status skip_key(struct ddl *d, struct fr_err *err)
{
    struct fr_table_name place;

    while (ddl_take(d, "clustered") || ddl_take(d, "nonclustered") ||
           ddl_take(d, "hash") || ddl_take(d, "asc") || ddl_take(d, "desc"))
        ;
    if (ddl_at(d, "(") && !ddl_skip_parentheses(d))
        return ddl_error(d, err, "a ) is missing");
    if (ddl_take(d, "with") && (!ddl_at(d, "(") || !ddl_skip_parentheses(d)))
        return ddl_error(d, err, "options in parentheses are expected");
    if (ddl_take(d, "on")) {
        if (ddl_name(d, &place, err) != FR_OK)
            return FR_EDATA;
        if (ddl_at(d, "(") && !ddl_skip_parentheses(d))
            return ddl_error(d, err, "a ) is missing");
    }
    return FR_OK;
}

static fr_status skip_reference(struct ddl *d, struct fr_err *err)
{
    struct fr_table_name other;

    if (ddl_name(d, &other, err) != FR_OK)
        return FR_EDATA;
    if (ddl_at(d, "(") && !ddl_skip_parentheses(d))
        return ddl_error(d, err, "a ) is missing");
    while (ddl_take(d, "on")) {
        if (!ddl_take(d, "delete") && !ddl_take(d, "update"))
            return ddl_error(d, err, "DELETE or UPDATE is expected");
        if (ddl_take(d, "cascade"))
            continue;
        if (!(ddl_take(d, "no") && ddl_take(d, "action")) &&
            !(ddl_take(d, "set") && (ddl_take(d, "null") || ddl_take(d, "default"))))
            return ddl_error(d, err, "an action is expected");
    }
    return FR_OK;
}

/* ---- what may stand behind a column's type; the word itself is taken ---- */

typedef fr_status (*property_fn)(struct ddl *d, struct fr_column *c, struct fr_err *err);

static fr_status set_null(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)d;
    (void)err;
    c->nullable = true;
    return FR_OK;
}

static fr_status set_not(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    if (ddl_take(d, "for"))
        return ddl_take(d, "replication") ? FR_OK
                                          : ddl_error(d, err, "REPLICATION is expected");
    if (!ddl_take(d, "null"))
        return ddl_error(d, err, "NULL is expected behind NOT");
    c->nullable = false;
    return FR_OK;
}

static fr_status set_default(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    c->has_default = true;
    return ddl_default(d, err);
}

static fr_status set_identity(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    c->identity = true;
    c->nullable = false;
    if (ddl_at(d, "(") && !ddl_skip_parentheses(d))
        return ddl_error(d, err, "a ) is missing");
    return FR_OK;
}

static fr_status set_primary(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    if (!ddl_take(d, "key"))
        return ddl_error(d, err, "KEY is expected");
    c->nullable = false;
    return skip_key(d, err);
}

static fr_status set_collation(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    if (!ddl_at_name(d))
        return ddl_error(d, err, "a collation is expected");
    if (strcasecmp(d->word, "database_default") != 0) {
        c->code_page = code_page_of(d->word);
        free(c->collation);
        c->collation = strdup(d->word);
        if (c->collation == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a table's columns");
    }
    ddl_next(d);
    return FR_OK;
}

static fr_status skip_name(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)c;
    if (!ddl_at_name(d))
        return ddl_error(d, err, "a name is expected");
    ddl_next(d);
    return FR_OK;
}

static fr_status skip_index(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    fr_status st = skip_name(d, c, err);

    (void)ddl_take(d, "unique");
    return st == FR_OK ? skip_key(d, err) : st;
}

static fr_status skip_unique(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)c;
    return skip_key(d, err);
}

static fr_status skip_check(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)c;
    if (ddl_take(d, "not") && !(ddl_take(d, "for") && ddl_take(d, "replication")))
        return ddl_error(d, err, "FOR REPLICATION is expected");
    if (!ddl_at(d, "(") || !ddl_skip_parentheses(d))
        return ddl_error(d, err, "a condition in parentheses is expected");
    return FR_OK;
}

static fr_status skip_references(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)c;
    return skip_reference(d, err);
}

static fr_status skip_foreign(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)c;
    return ddl_take(d, "key") ? FR_OK : ddl_error(d, err, "KEY is expected");
}

static fr_status skip_word(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)d;
    (void)c;
    (void)err;
    return FR_OK;
}

static fr_status skip_masked(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    (void)c;
    if (!ddl_take(d, "with") || !ddl_at(d, "(") || !ddl_skip_parentheses(d))
        return ddl_error(d, err, "WITH and options in parentheses are expected");
    return FR_OK;
}

static fr_status set_encrypted(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    c->kind = FR_COLUMN_ENCRYPTED;
    return skip_masked(d, c, err);
}

static fr_status set_generated(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    c->kind = FR_COLUMN_GENERATED;
    if (!ddl_take(d, "always") || !ddl_take(d, "as"))
        return ddl_error(d, err, "ALWAYS AS is expected");
    while (ddl_take(d, "row") || ddl_take(d, "transaction_id") ||
           ddl_take(d, "sequence_number") || ddl_take(d, "start") || ddl_take(d, "end"))
        ;
    return FR_OK;
}

static fr_status set_column_set(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    c->kind = FR_COLUMN_SET;
    return ddl_take(d, "for") && ddl_take(d, "all_sparse_columns")
               ? FR_OK
               : ddl_error(d, err, "FOR ALL_SPARSE_COLUMNS is expected");
}

static const struct {
    const char *word;
    property_fn take;
} properties[] = {
    {"null", set_null},
    {"not", set_not},
    {"default", set_default},
    {"identity", set_identity},
    {"primary", set_primary},
    {"collate", set_collation},
    {"constraint", skip_name},
    {"index", skip_index},
    {"unique", skip_unique},
    {"check", skip_check},
    {"references", skip_references},
    {"foreign", skip_foreign},
    {"sparse", skip_word},
    {"rowguidcol", skip_word},
    {"filestream", skip_word},
    {"hidden", skip_word},
    {"persisted", skip_word},
    {"masked", skip_masked},
    {"encrypted", set_encrypted},
    {"generated", set_generated},
    {"column_set", set_column_set},
};

static fr_status take_property(struct ddl *d, struct fr_column *c, struct fr_err *err)
{
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (ddl_take(d, properties[i].word))
            return properties[i].take(d, c, err);
    return ddl_error(d, err, "nothing that is known of a column");
}

/* Past the expression of a computed column, which may be anything. */
static fr_status skip_expression(struct ddl *d, struct fr_err *err)
{
    while (!ddl_at(d, ",") && !ddl_at(d, ")") && !ddl_at(d, "persisted")) {
        if (d->kind == DDL_END || d->kind == DDL_BAD)
            return ddl_error(d, err, "the expression does not end");
        if (!ddl_at(d, "("))
            ddl_next(d);
        else if (!ddl_skip_parentheses(d))
            return ddl_error(d, err, "a ) is missing");
    }
    return FR_OK;
}

fr_status ddl_column(struct ddl *d, struct fr_table *t, struct fr_err *err)
{
    struct fr_column *c = NULL;
    char name[DDL_WORD_BYTES];
    fr_status st;

    if (!ddl_at_name(d))
        return ddl_error(d, err, "the name of a column is expected");
    memcpy(name, d->word, sizeof name);
    if (fr_table_find_column(t, name, strlen(name)) < t->column_count)
        return ddl_error(d, err, "the table has this column already");
    ddl_next(d);
    if (ddl_take(d, "as")) {
        c = fr_table_add_column(t, name, "int", err);
        if (c == NULL)
            return FR_ENOMEM;
        c->computed = c->nullable = true;
        st = skip_expression(d, err);
    } else {
        st = take_type(d, t, name, &c, err);
    }
    while (st == FR_OK && !ddl_at(d, ",") && !ddl_at(d, ")"))
        st = take_property(d, c, err);
    return st;
}
