#include "load/stage_partition.h"

#include "db/statements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "fullrack_partition_"

enum { CONFLICTS = 547 }; /* with a constraint */

/* What stage_partition.sql answers. */
enum { P_COLUMN, P_TYPE, P_NULLABLE, P_RIGHT, P_LOW, P_HIGH, P_PLACE, P_COLUMNS };

/* How a boundary is written, so that the server sees a constant of the column's own kind:
 * with another it would not take the constraint for a range. */
static const char *quote_of(const char *type)
{
    static const struct {
        const char *type, *quote;
    } types[] = {{"tinyint", ""},        {"smallint", ""},        {"int", ""},
                 {"bigint", ""},         {"decimal", ""},         {"numeric", ""},
                 {"date", "'"},          {"datetime", "'"},       {"datetime2", "'"},
                 {"smalldatetime", "'"}, {"datetimeoffset", "'"}, {"char", "'"},
                 {"varchar", "'"},       {"nchar", "N'"},         {"nvarchar", "N'"}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].type, type) == 0)
            return types[i].quote;
    return NULL;
}

static bool write_constant(struct fr_buf *sql, const char *quote, const char *text)
{
    if (quote[0] == '\0')
        return fr_buf_add_str(sql, text);
    if (!fr_buf_add_str(sql, quote))
        return false;
    for (; *text != '\0'; text++)
        if ((*text == '\'' && !fr_buf_add_byte(sql, '\'')) ||
            !fr_buf_add_byte(sql, (uint8_t)*text))
            return false;
    return fr_buf_add_byte(sql, '\'');
}

/* The range of one partition. */
struct range {
    const char *column, *quote; /* quoted name; what is around a constant */
    bool not_null;              /* has to be said */
    const char *low_op, *low, *high_op, *high; /* NULL: no boundary there */
};

/* "[c] IS NOT NULL AND [c] >= 10 AND [c] < 20", and nothing that proves nothing: the
 * server has to see a range. */
static bool write_range(struct fr_buf *sql, const struct range *r)
{
    const char *and = "";
    bool fits = true;

    if (!r->not_null && r->low == NULL && r->high == NULL)
        return fr_buf_add_str(sql, "1 = 1"); /* the only partition */
    if (r->not_null) {
        fits = fr_buf_printf(sql, "%s IS NOT NULL", r->column);
        and = " AND ";
    }
    if (fits && r->low != NULL) {
        fits = fr_buf_printf(sql, "%s%s %s ", and, r->column, r->low_op) &&
               write_constant(sql, r->quote, r->low);
        and = " AND ";
    }
    if (fits && r->high != NULL)
        fits = fr_buf_printf(sql, "%s%s %s ", and, r->column, r->high_op) &&
               write_constant(sql, r->quote, r->high);
    return fits;
}

/* The load's id, without its hyphens: constraints of a schema have names of their own. */
static const char *own_part(const struct fr_table *stage)
{
    const char *at = strstr(stage->quoted, "fullrack_stage_");

    return at == NULL ? stage->quoted : at + strlen("fullrack_stage_");
}

fr_status stage_partition_write(struct fr_sql *s, const struct fr_table *stage,
                                int32_t target_id, int64_t number, struct fr_buf *sql,
                                char place[2 * FR_NAME_MAX_BYTES + 3], struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_int("@object_id", target_id),
                                    fr_sql_in_i64("@number", number)};
    struct fr_sql_one one = {0};
    char column[2 * FR_NAME_MAX_BYTES + 3];
    const char *quote, *own = own_part(stage);
    struct range range;
    bool right, nullable;
    fr_status st = fr_sql_run_params(s, fr_stmt_stage_partition, params, 2,
                                     fr_sql_take_one, &one, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "looking for partition %" PRId64 " of %s", number,
                           stage->display);
    if (!one.found || one.columns != P_COLUMNS || one.values[P_COLUMN] == NULL)
        return fr_err_set(err, FR_EARG,
                          "--stage-partitions: %s has no partition %" PRId64
                          " (it takes as many files as the table has partitions)",
                          stage->display, number);
    quote = quote_of(one.values[P_TYPE] == NULL ? "" : one.values[P_TYPE]);
    if (quote == NULL)
        return fr_err_set(
            err, FR_EARG,
            "--stage-partitions: %s is partitioned by a column of the type "
            "%s; it can be tinyint to bigint, decimal, date, datetime, "
            "datetime2, smalldatetime, datetimeoffset, char, varchar, nchar "
            "or nvarchar",
            stage->display, one.values[P_TYPE]);
    right = fr_sql_one_i64(&one, P_RIGHT, 0) != 0;
    nullable = fr_sql_one_i64(&one, P_NULLABLE, 1) != 0;
    /* NULL is less than any value */
    range = (struct range){.column = column,
                           .quote = quote,
                           .not_null = nullable && number > 1,
                           .low_op = right ? ">=" : ">",
                           .low = one.values[P_LOW],
                           .high_op = right ? "<" : "<=",
                           .high = one.values[P_HIGH]};
    if (!fr_name_quote(one.values[P_COLUMN], column, sizeof column) ||
        !fr_name_quote(one.values[P_PLACE], place, 2 * FR_NAME_MAX_BYTES + 3) ||
        !fr_buf_printf(sql, ",\nCONSTRAINT [" PREFIX "%" PRId64 "_%.*s] CHECK (", number,
                       (int)strcspn(own, "]"), own) ||
        !write_range(sql, &range) || !fr_buf_add_str(sql, ")"))
        return fr_err_set(err, FR_ENOMEM, "the stage table of %s needs too long a text",
                          stage->display);
    return FR_OK;
}

fr_status stage_partition_of(struct fr_sql *s, const char *stage_table, int64_t *number,
                             struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_text("@stage_table", stage_table)};
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run_params(s, fr_stmt_stage_constraint, params, 1,
                                     fr_sql_take_one, &one, err);

    *number = 0;
    if (st == FR_OK && one.found && one.values[0] != NULL)
        *number = strtoll(one.values[0] + strlen(PREFIX), NULL, 10);
    return st;
}

void stage_partition_explain(const struct fr_table *stage, struct fr_err *err)
{
    const char *at;
    int64_t number;

    if (err == NULL || err->server_number != CONFLICTS)
        return;
    at = strstr(err->text, "\"" PREFIX);
    number = at == NULL ? 0 : strtoll(at + strlen("\"" PREFIX), NULL, 10);
    if (number > 0)
        fr_err_wrap(err,
                    "--stage-partitions: a row is not of partition %" PRId64
                    " of %s, as those of its file are by the order of the files",
                    number, stage->display);
}
