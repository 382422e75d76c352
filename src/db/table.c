#include "db/table.h"

#include "base/letter.h"
#include "db/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_PARTS = 3,
    MAX_TABLE_COLUMNS = 4096,
    MAX_BATCH_BYTES = 16384,
    COLUMNS_OF_COLUMNS = 13, /* of table_columns' result; table_checks has others */
};

/* One part at *p, which is moved behind it; closing quotes are doubled inside. */
static bool take_part(const char **p, char *out, size_t out_bytes)
{
    const char *s = *p;
    char close = *s == '[' ? ']' : *s == '"' ? '"' : '\0';
    size_t n = 0;

    if (close != '\0')
        s++;
    for (;; s++) {
        if (close != '\0' && *s == close) {
            if (s[1] != close)
                break;
            s++;
        } else if (*s == '\0' || (close == '\0' && *s == '.')) {
            break;
        }
        if (n + 1 >= out_bytes)
            return false;
        out[n++] = *s;
    }
    out[n] = '\0';
    if (close != '\0') {
        if (*s != close)
            return false;
        s++;
    }
    *p = s;
    return true;
}

fr_status fr_table_name_parse(const char *text, struct fr_table_name *out,
                              struct fr_err *err)
{
    char parts[MAX_PARTS][FR_NAME_MAX_BYTES];
    size_t count = 0;
    const char *p = text;

    memset(out, 0, sizeof *out);
    for (;;) {
        if (count == MAX_PARTS)
            return fr_err_set(err, FR_EARG, "table name %s has more than three parts",
                              text);
        if (!take_part(&p, parts[count], sizeof parts[count]) ||
            (*p != '.' && *p != '\0'))
            return fr_err_set(err, FR_EARG, "%s is not a table name", text);
        count++;
        if (*p == '\0')
            break;
        p++;
    }
    if (parts[count - 1][0] == '\0')
        return fr_err_set(err, FR_EARG, "\"%s\" is not a table name", text);
    memcpy(out->table, parts[count - 1], FR_NAME_MAX_BYTES);
    if (count >= 2)
        memcpy(out->schema, parts[count - 2], FR_NAME_MAX_BYTES);
    if (count >= 3)
        memcpy(out->database, parts[0], FR_NAME_MAX_BYTES);
    return FR_OK;
}

bool fr_name_quote(const char *name, char *out, size_t out_bytes)
{
    size_t n = 0;

    if (out_bytes < 3)
        return false;
    out[n++] = '[';
    for (; *name != '\0'; name++) {
        if (n + 4 > out_bytes)
            return false;
        if (*name == ']')
            out[n++] = ']';
        out[n++] = *name;
    }
    out[n++] = ']';
    out[n] = '\0';
    return true;
}

/* Names as TYPE_NAME(system_type_id) gives them; a CLR type has none there, its own name
 * stands in. */
static const struct {
    const char *name;
    enum fr_type type;
} type_names[] = {
    {"bit", FR_TYPE_BIT},
    {"tinyint", FR_TYPE_TINYINT},
    {"smallint", FR_TYPE_SMALLINT},
    {"int", FR_TYPE_INT},
    {"bigint", FR_TYPE_BIGINT},
    {"real", FR_TYPE_REAL},
    {"float", FR_TYPE_FLOAT},
    {"smallmoney", FR_TYPE_SMALLMONEY},
    {"money", FR_TYPE_MONEY},
    {"decimal", FR_TYPE_DECIMAL},
    {"numeric", FR_TYPE_DECIMAL},
    {"date", FR_TYPE_DATE},
    {"time", FR_TYPE_TIME},
    {"datetime", FR_TYPE_DATETIME},
    {"smalldatetime", FR_TYPE_SMALLDATETIME},
    {"datetime2", FR_TYPE_DATETIME2},
    {"datetimeoffset", FR_TYPE_DATETIMEOFFSET},
    {"char", FR_TYPE_CHAR},
    {"varchar", FR_TYPE_VARCHAR},
    {"text", FR_TYPE_TEXT},
    {"nchar", FR_TYPE_NCHAR},
    {"nvarchar", FR_TYPE_NVARCHAR},
    {"sysname", FR_TYPE_NVARCHAR},
    {"ntext", FR_TYPE_NTEXT},
    {"binary", FR_TYPE_BINARY},
    {"varbinary", FR_TYPE_VARBINARY},
    {"image", FR_TYPE_IMAGE},
    {"uniqueidentifier", FR_TYPE_GUID},
    {"xml", FR_TYPE_XML},
    {"hierarchyid", FR_TYPE_CLR},
    {"geometry", FR_TYPE_CLR},
    {"geography", FR_TYPE_CLR},
};

static enum fr_type type_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (strcasecmp(type_names[i].name, name) == 0)
            return type_names[i].type;
    return FR_TYPE_UNSUPPORTED;
}

static bool is_rowversion(const char *type_name)
{
    return strcasecmp(type_name, "timestamp") == 0 ||
           strcasecmp(type_name, "rowversion") == 0;
}

static int64_t number_of(const struct fr_sql_row *row, size_t i, int64_t fallback)
{
    return row->values[i] == NULL ? fallback : strtoll(row->values[i], NULL, 10);
}

struct fr_column *fr_table_add_column(struct fr_table *t, const char *name,
                                      const char *type_name, struct fr_err *err)
{
    struct fr_column *c;

    if (t->column_count == MAX_TABLE_COLUMNS) {
        (void)fr_err_set(err, FR_EDATA, "more than %d columns", MAX_TABLE_COLUMNS);
        return NULL;
    }
    if ((t->column_count & (t->column_count - 1)) == 0) {
        size_t room = t->column_count == 0 ? 1 : t->column_count * 2;
        struct fr_column *grown = realloc(t->columns, room * sizeof *grown);

        if (grown == NULL) {
            (void)fr_err_set(err, FR_ENOMEM, "no memory for a table's columns");
            return NULL;
        }
        t->columns = grown;
    }
    c = &t->columns[t->column_count];
    memset(c, 0, sizeof *c);
    c->name = strdup(name);
    c->type_name = strdup(type_name);
    c->column_id = (int32_t)++t->column_count;
    if (c->name == NULL || c->type_name == NULL) {
        (void)fr_err_set(err, FR_ENOMEM, "no memory for a table's columns");
        return NULL;
    }
    c->type = type_of_name(type_name);
    c->computed = is_rowversion(type_name);
    return c;
}

const char *fr_column_type_text(const struct fr_column *c, char out[FR_TYPE_TEXT_BYTES])
{
    int unit = c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR ? 2 : 1;

    switch (c->type) {
    case FR_TYPE_CHAR:
    case FR_TYPE_VARCHAR:
    case FR_TYPE_NCHAR:
    case FR_TYPE_NVARCHAR:
    case FR_TYPE_BINARY:
    case FR_TYPE_VARBINARY:
        if (c->max_bytes < 0)
            snprintf(out, FR_TYPE_TEXT_BYTES, "%s(max)", c->type_name);
        else
            snprintf(out, FR_TYPE_TEXT_BYTES, "%s(%d)", c->type_name,
                     c->max_bytes / unit);
        break;
    case FR_TYPE_DECIMAL:
        snprintf(out, FR_TYPE_TEXT_BYTES, "%s(%d,%d)", c->type_name, c->precision,
                 c->scale);
        break;
    case FR_TYPE_TIME:
    case FR_TYPE_DATETIME2:
    case FR_TYPE_DATETIMEOFFSET:
        snprintf(out, FR_TYPE_TEXT_BYTES, "%s(%d)", c->type_name, c->scale);
        break;
    default:
        snprintf(out, FR_TYPE_TEXT_BYTES, "%s", c->type_name);
    }
    return out;
}

static fr_status take_column(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fr_table *t = ctx;
    struct fr_column *c;
    const char *type_name;

    if (row->columns != COLUMNS_OF_COLUMNS || row->values[1] == NULL ||
        t->column_count == MAX_TABLE_COLUMNS)
        return fr_err_set(err, FR_EPROTO,
                          "the server's description of the columns is not understood");
    type_name = row->values[2] == NULL ? "CLR type" : row->values[2];
    c = fr_table_add_column(t, row->values[1], type_name, err);
    if (c == NULL)
        return FR_ENOMEM;
    if (row->values[12] != NULL)
        c->collation = strdup(row->values[12]);
    if (row->values[12] != NULL && c->collation == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a table's columns");
    c->column_id = (int32_t)number_of(row, 0, 0);
    c->kind = (enum fr_column_kind)number_of(row, 11, FR_COLUMN_PLAIN);
    c->max_bytes = (int32_t)number_of(row, 3, 0);
    c->precision = (uint8_t)number_of(row, 4, 0);
    c->scale = (uint8_t)number_of(row, 5, 0);
    c->nullable = number_of(row, 6, 1) != 0;
    c->identity = number_of(row, 7, 0) != 0;
    c->computed = number_of(row, 8, 0) != 0 || is_rowversion(type_name);
    c->has_default = number_of(row, 9, 0) != 0;
    c->code_page = (int32_t)number_of(row, 10, 0);
    return FR_OK;
}

static fr_status own_database(struct fr_sql *s, const struct fr_table_name *parts,
                              struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st;

    if (parts->database[0] == '\0')
        return FR_OK;
    st = fr_sql_run(s, "SELECT DB_NAME()", fr_sql_take_one, &one, err);
    if (st != FR_OK)
        return st;
    if (!one.found || one.values[0] == NULL ||
        strcasecmp(one.values[0], parts->database) != 0)
        return fr_err_set(
            err, FR_EARG,
            "the table's database %s is not the connection's (%s): use -d %s",
            parts->database, one.found && one.values[0] != NULL ? one.values[0] : "?",
            parts->database);
    return FR_OK;
}

static fr_status find_object(struct fr_sql *s, const struct fr_table_name *parts,
                             const char *name, struct fr_table *t, struct fr_err *err)
{
    char schema[FR_NAME_MAX_BYTES * 2 + 3], table[FR_NAME_MAX_BYTES * 2 + 3];
    char full[sizeof schema + sizeof table + 1], display[2 * FR_NAME_MAX_BYTES + 2];
    struct fr_sql_param params[1];
    struct fr_sql_one one = {0};
    fr_status st;

    if (!fr_name_quote(parts->schema, schema, sizeof schema) ||
        !fr_name_quote(parts->table, table, sizeof table))
        return fr_err_set(err, FR_EARG, "table name %s is too long", name);
    snprintf(full, sizeof full, "%s%s%s", parts->schema[0] == '\0' ? "" : schema,
             parts->schema[0] == '\0' ? "" : ".", table);
    params[0] = fr_sql_in_text("@name", full);
    st =
        fr_sql_run_params(s, fr_stmt_table_object, params, 1, fr_sql_take_one, &one, err);
    if (st != FR_OK)
        return fr_err_wrap(err, "looking for table %s", name);
    if (!one.found || one.columns != 6 || one.values[1] == NULL || one.values[2] == NULL)
        return fr_err_set(err, FR_EDATA,
                          "there is no table %s in this database (or no right to see it)",
                          name);
    t->object_id = (int32_t)fr_sql_one_i64(&one, 0, 0);
    snprintf(t->create_date, sizeof t->create_date, "%s",
             one.values[3] == NULL ? "" : one.values[3]);
    if (!fr_name_quote(one.values[2], schema, sizeof schema) ||
        !fr_name_quote(one.values[1], table, sizeof table))
        return fr_err_set(err, FR_EARG, "table name %s is too long", name);
    snprintf(full, sizeof full, "%s.%s", schema, table);
    snprintf(display, sizeof display, "%s.%s", one.values[2], one.values[1]);
    t->quoted = strdup(full);
    t->display = strdup(display);
    if (t->quoted == NULL || t->display == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a table's name");
    return FR_OK;
}

/* Tables into which a load cannot keep its promises. */
static fr_status refuse_unfit(const char *name, const struct fr_sql_one *checks,
                              struct fr_err *err)
{
    if (checks->values[3] != NULL)
        return fr_err_set(err, FR_EDATA,
                          "table %s: its index %s has IGNORE_DUP_KEY = ON, so that rows "
                          "would be dropped in silence; ALTER INDEX ... SET "
                          "(IGNORE_DUP_KEY = OFF), or load into a table without it",
                          name, checks->values[3]);
    if (fr_sql_one_i64(checks, 4, 0) > 0)
        return fr_err_set(err, FR_EDATA,
                          "table %s is memory-optimized, and its database does not raise "
                          "the isolation level by itself: ALTER DATABASE CURRENT SET "
                          "MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON",
                          name);
    return FR_OK;
}

struct description {
    struct fr_table *table;
    struct fr_sql_one checks;
};

static fr_status take_description(void *ctx, const struct fr_sql_row *row,
                                  struct fr_err *err)
{
    struct description *d = ctx;

    return row->columns == COLUMNS_OF_COLUMNS ? take_column(d->table, row, err)
                                              : fr_sql_take_one(&d->checks, row, err);
}

/* Columns and checks in one round trip: each task of a queue asks for them. */
static fr_status ask_description(struct fr_sql *s, struct description *d,
                                 struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_int("@object_id", d->table->object_id)};
    struct fr_buf batch;
    fr_status st;

    fr_buf_init(&batch, MAX_BATCH_BYTES);
    fr_buf_add_str(&batch, fr_stmt_table_columns);
    fr_buf_add_str(&batch, fr_stmt_table_checks);
    st = batch.failed ? fr_err_set(err, FR_ENOMEM, "no memory for a statement")
                      : fr_sql_run_params(s, fr_buf_text(&batch), params, 1,
                                          take_description, d, err);
    fr_buf_free(&batch);
    if (st == FR_OK && !d->checks.found)
        st = fr_err_set(err, FR_EPROTO,
                        "the server's description of the table is not understood");
    return st;
}

fr_status fr_table_describe(struct fr_sql *s, const char *name, struct fr_table **out,
                            struct fr_err *err)
{
    struct fr_table_name parts;
    struct description *d = NULL;
    struct fr_table *t = NULL;
    fr_status st;

    *out = NULL;
    st = fr_table_name_parse(name, &parts, err);
    if (st == FR_OK)
        st = own_database(s, &parts, err);
    if (st != FR_OK)
        return st;
    t = calloc(1, sizeof *t);
    d = calloc(1, sizeof *d);
    if (t == NULL || d == NULL) {
        st = fr_err_set(err, FR_ENOMEM, "no memory for a table");
        goto out;
    }
    st = find_object(s, &parts, name, t, err);
    if (st != FR_OK)
        goto out;
    d->table = t;
    st = ask_description(s, d, err);
    if (st != FR_OK) {
        fr_err_wrap(err, "describing table %s", name);
        goto out;
    }
    t->constraints_enabled = fr_sql_one_i64(&d->checks, 0, 0);
    t->triggers_enabled = fr_sql_one_i64(&d->checks, 1, 0);
    t->index_count = fr_sql_one_i64(&d->checks, 2, 0);
    t->columnstore_count = fr_sql_one_i64(&d->checks, 5, 0);
    t->is_clustered = fr_sql_one_i64(&d->checks, 6, 0) > 0;
    t->is_memory_optimized = fr_sql_one_i64(&d->checks, 7, 0) > 0;
    st = refuse_unfit(name, &d->checks, err);
    if (st != FR_OK)
        goto out;
    if (t->column_count == 0)
        st = fr_err_set(err, FR_EDATA, "table %s has no column that can be seen", name);
out:
    free(d);
    if (st == FR_OK)
        *out = t;
    else
        fr_table_free(&t);
    return st;
}

bool fr_table_wants_large_batches(const struct fr_table *t)
{
    return t->index_count == 0 || t->columnstore_count > 0;
}

void fr_table_free(struct fr_table **tp)
{
    struct fr_table *t;

    if (tp == NULL || *tp == NULL)
        return;
    t = *tp;
    for (size_t i = 0; i < t->column_count; i++) {
        free(t->columns[i].name);
        free(t->columns[i].type_name);
        free(t->columns[i].collation);
    }
    free(t->columns);
    free(t->quoted);
    free(t->display);
    free(t);
    *tp = NULL;
}

size_t fr_table_find_column(const struct fr_table *t, const char *name, size_t name_bytes)
{
    /* where the collation tells capitals apart two columns may differ in them alone */
    for (size_t i = 0; i < t->column_count; i++)
        if (strlen(t->columns[i].name) == name_bytes &&
            memcmp(t->columns[i].name, name, name_bytes) == 0)
            return i;
    for (size_t i = 0; i < t->column_count; i++)
        if (fr_letter_same_text(t->columns[i].name, strlen(t->columns[i].name), name,
                                name_bytes))
            return i;
    return t->column_count;
}

const char *fr_table_list_columns(const struct fr_table *t, char *out, size_t out_bytes)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < t->column_count; i++) {
        int n = snprintf(out + used, out_bytes - used, "%s%s", i == 0 ? "" : ", ",
                         t->columns[i].name);

        if (n < 0 || (size_t)n >= out_bytes - used) {
            if (out_bytes > 4)
                memcpy(out + out_bytes - 4, "...", 4);
            break;
        }
        used += (size_t)n;
    }
    return out;
}
