#include "base/sql.h"

#include "base/num.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

fr_status fr_sql_run(struct fr_sql *s, const char *sql, fr_sql_row_fn row, void *ctx,
                     struct fr_err *err)
{
    return s->ops->run(s, sql, row, ctx, NULL, err);
}

fr_status fr_sql_run_params(struct fr_sql *s, const char *sql,
                            struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                            void *ctx, struct fr_err *err)
{
    return s->ops->run_params(s, sql, params, count, row, ctx, err);
}

fr_status fr_sql_call(struct fr_sql *s, const char *procedure,
                      struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                      void *ctx, struct fr_err *err)
{
    return s->ops->call(s, procedure, params, count, row, ctx, err);
}

void fr_sql_close(struct fr_sql **sp)
{
    if (sp == NULL || *sp == NULL)
        return;
    (*sp)->ops->close(*sp);
    *sp = NULL;
}

fr_status fr_sql_take_one(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct fr_sql_one *one = ctx;
    size_t used = 0;

    if (one->found)
        return FR_OK;
    if (row->columns > FR_SQL_ONE_COLUMNS)
        return fr_err_set(err, FR_EPROTO, "the server sent %zu columns for one row",
                          row->columns);
    one->found = true;
    one->columns = row->columns;
    for (size_t i = 0; i < row->columns; i++) {
        size_t n = row->lengths[i];

        one->values[i] = NULL;
        if (row->values[i] == NULL)
            continue;
        if (n >= sizeof one->text - used)
            return fr_err_set(err, FR_EPROTO,
                              "column %s of the server's answer is %zu bytes long",
                              row->names[i], n);
        memcpy(one->text + used, row->values[i], n);
        one->text[used + n] = '\0';
        one->values[i] = one->text + used;
        used += n + 1;
    }
    return FR_OK;
}

int64_t fr_sql_row_i64(const struct fr_sql_row *row, size_t i, int64_t fallback)
{
    return i >= row->columns || row->values[i] == NULL
               ? fallback
               : (int64_t)strtoll(row->values[i], NULL, 10);
}

fr_status fr_sql_take_last_i64(void *ctx, const struct fr_sql_row *row,
                               struct fr_err *err)
{
    int64_t *out = ctx;

    (void)err;
    *out = row->columns == 1 ? fr_sql_row_i64(row, 0, -1) : -1;
    return FR_OK;
}

int64_t fr_sql_one_i64(const struct fr_sql_one *one, size_t i, int64_t fallback)
{
    int64_t value;

    if (!one->found || i >= one->columns || one->values[i] == NULL)
        return fallback;
    if (fr_num_i64(one->values[i], INT64_MIN, INT64_MAX, &value) != FR_OK)
        return fallback;
    return value;
}

struct fr_sql_param fr_sql_in_i64(const char *name, int64_t number)
{
    return (struct fr_sql_param){.name = name, .type = FR_SQL_BIGINT, .number = number};
}

struct fr_sql_param fr_sql_in_int(const char *name, int64_t number)
{
    return (struct fr_sql_param){.name = name, .type = FR_SQL_INT, .number = number};
}

struct fr_sql_param fr_sql_in_or_null(const char *name, enum fr_sql_type type,
                                      int64_t number)
{
    return (struct fr_sql_param){
        .name = name, .type = type, .number = number, .is_null = number < 0};
}

struct fr_sql_param fr_sql_in_bit(const char *name, bool bit)
{
    return (struct fr_sql_param){.name = name, .type = FR_SQL_BIT, .number = bit ? 1 : 0};
}

struct fr_sql_param fr_sql_in_text(const char *name, const char *text)
{
    return (struct fr_sql_param){
        .name = name, .type = FR_SQL_NVARCHAR, .text = text, .is_null = text == NULL};
}

struct fr_sql_param fr_sql_in_guid(const char *name, const char *text)
{
    return (struct fr_sql_param){
        .name = name, .type = FR_SQL_GUID, .text = text, .is_null = text == NULL};
}

struct fr_sql_param fr_sql_out(const char *name, enum fr_sql_type type)
{
    return (struct fr_sql_param){
        .name = name, .type = type, .is_null = true, .is_output = true};
}

/* Where the first of the names stands, and which it is; the end of the text where none
 * does. */
static const char *find_name(const char *sql, const struct fr_sql_name *names,
                             size_t count, size_t *which)
{
    const char *first = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(sql, names[i].from);

        if (at != NULL && (first == NULL || at < first)) {
            first = at;
            *which = i;
        }
    }
    return first != NULL ? first : sql + strlen(sql);
}

fr_status fr_sql_rename(const char *sql, const struct fr_sql_name *names, size_t count,
                        struct fr_buf *out, struct fr_err *err)
{
    for (;;) {
        size_t which = 0;
        const char *at = find_name(sql, names, count, &which);

        fr_buf_add(out, sql, (size_t)(at - sql));
        if (*at == '\0')
            break;
        fr_buf_add_str(out, names[which].to);
        sql = at + strlen(names[which].from);
    }
    return out->failed ? fr_err_set(err, FR_ENOMEM, "no memory for a statement") : FR_OK;
}

static fr_status declare_params(const struct fr_sql_param *params, size_t count,
                                const char *nvarchar, struct fr_buf *out,
                                struct fr_err *err)
{
    const char *const types[] = {
        [FR_SQL_BIT] = "bit",
        [FR_SQL_INT] = "int",
        [FR_SQL_BIGINT] = "bigint",
        [FR_SQL_NVARCHAR] = nvarchar,
        [FR_SQL_GUID] = "uniqueidentifier",
        [FR_SQL_DATETIME] = "datetime2(3)",
    };

    for (size_t i = 0; i < count; i++)
        fr_buf_printf(out, "%s%s %s%s", i == 0 ? "" : ", ", params[i].name,
                      types[params[i].type], params[i].is_output ? " OUTPUT" : "");
    return out->failed ? fr_err_set(err, FR_EARG, "the parameter list is too long")
                       : FR_OK;
}

fr_status fr_sql_run_as_call(struct fr_sql *s, const char *sql,
                             struct fr_sql_param *params, size_t count, fr_sql_row_fn row,
                             void *ctx, struct fr_err *err)
{
    struct fr_sql_param all[FR_SQL_MAX_PARAMS];
    struct fr_buf declared;
    fr_status st;

    if (count + 2 > FR_SQL_MAX_PARAMS)
        return fr_err_set(err, FR_EARG, "more than %d parameters", FR_SQL_MAX_PARAMS - 2);
    fr_buf_init(&declared, s->ops->declared_max_bytes);
    st = declare_params(params, count, s->ops->nvarchar, &declared, err);
    if (st == FR_OK) {
        all[0] = fr_sql_in_text("@stmt", sql);
        /* db-lib cannot send an empty text */
        all[1] = fr_sql_in_text("@params", count == 0 ? NULL : fr_buf_text(&declared));
        memcpy(all + 2, params, count * sizeof *params);
        st = s->ops->call(s, "sp_executesql", all, count + 2, row, ctx, err);
        memcpy(params, all + 2, count * sizeof *params);
    }
    fr_buf_free(&declared);
    return st;
}
