#include "load/stage.h"

#include "db/statements.h"
#include "load/ledger_priv.h"
#include "load/stage_partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STAGE_NAME_BYTES = 96,
    FULL_NAME_BYTES = 2 * FR_NAME_MAX_BYTES + STAGE_NAME_BYTES,
    MAKING_BYTES = 4 << 20, /* 1,024 columns with long names, collations and defaults */
    DUPLICATE_KEY = 2627,
    NAME_IS_TAKEN = 2714,
    NO_OBJECT = 208,
    DENIED = 229
};

/* What stage_look.sql answers. */
enum look_column { L_STATE, L_OBJECT_ID, L_CREATE_DATE, L_TABLE, L_BROUGHT, L_THERE };

static fr_status look(struct fr_sql *s, const struct fr_head_key *key, const char *group,
                      struct fr_sql_one *one, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", key->load_id),
        fr_sql_in_i64("@range_start", key->range_start),
        fr_sql_in_guid("@stage_group", group),
    };
    fr_status st;

    memset(one, 0, sizeof *one);
    st = ledger_run(s, &key->place, fr_stmt_stage_look, params, 3, one, err);
    /* the ledger may not be there yet, or be of an earlier version */
    if (st == FR_EDB && err != NULL && err->server_number == NO_OBJECT) {
        st = fr_ledger_create(s, &key->place, err);
        memset(one, 0, sizeof *one);
        if (st == FR_OK)
            st = ledger_run(s, &key->place, fr_stmt_stage_look, params, 3, one, err);
    }
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "looking for a stage table");
}

/* [schema].[fullrack_stage_<load id>], of a range with its begin behind it. */
static fr_status name_stage(const struct fr_stage_load *load,
                            const struct fr_table *target, char out[FULL_NAME_BYTES],
                            struct fr_err *err)
{
    char plain[STAGE_NAME_BYTES], schema[2 * FR_NAME_MAX_BYTES + 3];
    struct fr_table_name parts;
    size_t n;
    fr_status st = fr_table_name_parse(target->quoted, &parts, err);

    if (st != FR_OK)
        return st;
    n = (size_t)snprintf(plain, sizeof plain, "fullrack_stage_");
    for (const char *p = load->key->load_id; *p != '\0' && n < sizeof plain - 1; p++)
        if (*p != '-')
            plain[n++] = *p;
    plain[n] = '\0';
    if (load->key->range_start > 0 || load->key->range_end >= 0)
        snprintf(plain + n, sizeof plain - n, "_%" PRId64, load->key->range_start);
    if (!fr_name_quote(parts.schema, schema, sizeof schema) ||
        snprintf(out, FULL_NAME_BYTES, "%s.[%s]", schema, plain) >= FULL_NAME_BYTES)
        return fr_err_set(err, FR_EARG, "the schema of %s has too long a name",
                          target->display);
    return FR_OK;
}

static fr_status copy_column(struct fr_table *to, const struct fr_column *from,
                             bool keep_identity, struct fr_err *err)
{
    struct fr_column *c = fr_table_add_column(to, from->name, from->type_name, err);
    char *name, *type_name;

    if (c == NULL)
        return FR_ENOMEM;
    name = c->name;
    type_name = c->type_name;
    *c = *from;
    c->name = name;
    c->type_name = type_name;
    c->collation = NULL;
    if (from->collation != NULL && (c->collation = strdup(from->collation)) == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a table's columns");
    /* with -E the stage table has a plain column in its place */
    c->identity = from->identity && !keep_identity;
    return FR_OK;
}

/* The target's description, with another table behind it. */
static fr_status describe(const struct fr_table *target, bool keep_identity,
                          const char *quoted, struct fr_table **out, struct fr_err *err)
{
    struct fr_table *t = calloc(1, sizeof *t);
    fr_status st = FR_OK;

    if (t != NULL) {
        t->is_stage = true;
        t->quoted = strdup(quoted);
        t->display = strdup(target->display);
    }
    if (t == NULL || t->quoted == NULL || t->display == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a stage table");
    for (size_t i = 0; st == FR_OK && i < target->column_count; i++)
        st = copy_column(t, &target->columns[i], keep_identity, err);
    if (st == FR_OK)
        *out = t;
    else
        fr_table_free(&t);
    return st;
}

/* -- making it ----------------------------------------------------------------------- */

struct making {
    struct fr_table *table;
    char **defaults;                       /* owned, one a column; NULL = none */
    char place[2 * FR_NAME_MAX_BYTES + 3]; /* its filegroup, quoted; "" = the default */
    int64_t partition;                     /* it is to become; 0: none */
    struct fr_buf sql;
};

static fr_status take_default(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct making *m = ctx;
    int64_t id = row->columns == 2 && row->values[0] != NULL
                     ? strtoll(row->values[0], NULL, 10)
                     : -1;

    if (row->columns != 2 || row->values[1] == NULL)
        return FR_OK; /* no right to see it: check_defaults() says so */
    for (size_t i = 0; i < m->table->column_count; i++) {
        if (m->table->columns[i].column_id != id || m->defaults[i] != NULL)
            continue;
        m->defaults[i] = strdup(row->values[1]);
        if (m->defaults[i] == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the defaults of a table");
    }
    return FR_OK;
}

/* Without its default a column would be NULL in silence. */
static fr_status check_defaults(const struct making *m, struct fr_err *err)
{
    for (size_t i = 0; i < m->table->column_count; i++) {
        const struct fr_column *c = &m->table->columns[i];

        if (c->has_default && m->defaults[i] == NULL && !c->computed && !c->identity)
            return fr_err_set(
                err, FR_EARG,
                "--stage: the default of column %s of %s cannot be seen: the "
                "login needs VIEW DEFINITION on the table (and one that was "
                "bound with sp_bindefault has to be a constraint)",
                c->name, m->table->display);
    }
    return FR_OK;
}

static bool add_column(struct making *m, size_t i, bool first)
{
    const struct fr_column *c = &m->table->columns[i];
    char name[2 * FR_NAME_MAX_BYTES + 3], type[FR_TYPE_TEXT_BYTES];

    if (!fr_name_quote(c->name, name, sizeof name))
        return false;
    return fr_buf_printf(
        &m->sql, "%s\n%s %s%s%s %s%s%s", first ? "" : ",", name,
        fr_column_type_text(c, type), c->collation == NULL ? "" : " COLLATE ",
        c->collation == NULL ? "" : c->collation, c->nullable ? "NULL" : "NOT NULL",
        m->defaults[i] == NULL ? "" : " DEFAULT ",
        m->defaults[i] == NULL ? "" : m->defaults[i]);
}

static fr_status write_create(struct fr_sql *s, struct making *m, int32_t target_id,
                              struct fr_err *err)
{
    const struct fr_table *t = m->table;
    bool first = true, fits;
    fr_status st;

    fits = fr_buf_printf(&m->sql, "CREATE TABLE %s (", t->quoted);
    for (size_t i = 0; fits && i < t->column_count; i++) {
        if (t->columns[i].computed || t->columns[i].identity)
            continue;
        fits = add_column(m, i, first);
        first = false;
    }
    if (fits && m->partition > 0) {
        st = stage_partition_write(s, t, target_id, m->partition, &m->sql, m->place, err);
        if (st != FR_OK)
            return st;
    }
    if (!fits || !fr_buf_add_str(&m->sql, ")") ||
        (m->place[0] != '\0' && !fr_buf_printf(&m->sql, " ON %s", m->place)))
        return fr_err_set(err, FR_ENOMEM, "the stage table of %s needs too long a text",
                          t->display);
    return FR_OK;
}

/* A server whose catalog has no filegroups has but one. */
static fr_status find_place(struct fr_sql *s, struct making *m, int32_t target_id,
                            struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_int("@object_id", target_id)};
    struct fr_sql_one one = {0};
    fr_status st =
        fr_sql_run_params(s, fr_stmt_stage_place, params, 1, fr_sql_take_one, &one, err);

    if (st == FR_EDB)
        fr_err_clear(err);
    if (st == FR_OK && one.found && one.values[0] != NULL &&
        !fr_name_quote(one.values[0], m->place, sizeof m->place))
        m->place[0] = '\0';
    return st == FR_EDB ? FR_OK : st;
}

static fr_status may_not_make(const struct fr_table *t, struct fr_err *err)
{
    fr_err_wrap(
        err,
        "--stage: the stage table %s cannot be made: the login needs CREATE TABLE "
        "in this database, and ALTER on that schema (and SELECT and INSERT on the "
        "schema, to whose owner the table belongs); without --stage neither is "
        "needed",
        t->quoted);
    if (err != NULL)
        err->status = FR_EARG;
    return FR_EARG;
}

static fr_status create(struct fr_sql *s, struct fr_table *t, int32_t target_id,
                        int64_t partition, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_int("@object_id", target_id)};
    struct making m = {.table = t,
                       .partition = partition,
                       .defaults = calloc(t->column_count + 1, sizeof *m.defaults)};
    struct fr_err why = {0};
    fr_status st = FR_OK;

    fr_buf_init(&m.sql, MAKING_BYTES);
    if (m.defaults == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for the defaults of a table");
    if (st == FR_OK)
        st = fr_sql_run_params(s, fr_stmt_stage_defaults, params, 1, take_default, &m,
                               err);
    if (st == FR_OK)
        st = check_defaults(&m, err);
    if (st == FR_OK)
        st = find_place(s, &m, target_id, err);
    if (st == FR_OK)
        st = write_create(s, &m, target_id, err);
    if (st == FR_OK) {
        st = fr_sql_run(s, fr_buf_text(&m.sql), NULL, NULL, &why);
        /* made by an earlier owner of the task, who lost it between our two questions */
        if (st == FR_EDB && why.server_number == NAME_IS_TAKEN)
            st = FR_OK;
        if (st != FR_OK && err != NULL)
            *err = why;
        if (st == FR_EDB)
            st = may_not_make(t, err);
    }
    for (size_t i = 0; m.defaults != NULL && i < t->column_count; i++)
        free(m.defaults[i]);
    free(m.defaults);
    fr_buf_free(&m.sql);
    return st;
}

static fr_status note(struct fr_sql *s, const struct fr_stage_load *load,
                      const struct fr_table *target, const struct fr_table *t,
                      struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@load_id", load->key->load_id),
        fr_sql_in_i64("@range_start", load->key->range_start),
        fr_sql_in_guid("@stage_group", load->group),
        fr_sql_in_text("@stage_table", t->quoted),
        fr_sql_in_int("@target_object_id", target->object_id),
        {.name = "@target_create_date",
         .type = FR_SQL_DATETIME,
         .text = target->create_date},
    };
    fr_status st =
        ledger_run(s, &load->key->place, fr_stmt_stage_note, params, 6, NULL, err);

    if (st == FR_EDB && err != NULL && err->server_number == DUPLICATE_KEY)
        return FR_OK;
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "noting a stage table");
}

static fr_status find_object(struct fr_sql *s, struct fr_table *t, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_text("@name", t->quoted)};
    struct fr_sql_one one = {0};
    fr_status st =
        fr_sql_run_params(s, fr_stmt_table_object, params, 1, fr_sql_take_one, &one, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "looking for stage table %s", t->quoted);
    if (!one.found || one.columns != 6)
        return fr_err_set(
            err, FR_EARG,
            "the stage table %s of this load is gone: `fullrack reset` of "
            "the task begins it anew (a load without a queue: begin it anew "
            "without --resume)",
            t->quoted);
    t->object_id = (int32_t)fr_sql_one_i64(&one, 0, 0);
    snprintf(t->create_date, sizeof t->create_date, "%s",
             one.values[3] == NULL ? "" : one.values[3]);
    return FR_OK;
}

/* A head that is at its end, or closed, is of a table that may be gone: it is taken as it
 * is. */
static fr_status settle_object(struct fr_sql *s, const struct fr_stage_load *load,
                               const struct fr_table *target, struct fr_table *t,
                               struct fr_err *err)
{
    struct fr_sql_one one;
    fr_status st = look(s, load->key, load->group, &one, err);
    const char *state;

    if (st != FR_OK)
        return st;
    state = one.values[L_STATE];
    if (state != NULL && strcmp(state, "closed") != 0 && one.values[L_TABLE] == NULL)
        return fr_err_set(err, FR_EARG,
                          "load %s was begun without --stage: go on without it",
                          load->key->load_id);
    if (state != NULL && strcmp(state, "open") != 0) {
        t->object_id = (int32_t)fr_sql_one_i64(&one, L_OBJECT_ID, 0);
        snprintf(t->create_date, sizeof t->create_date, "%s",
                 one.values[L_CREATE_DATE] == NULL ? "" : one.values[L_CREATE_DATE]);
        return FR_OK;
    }
    if (state == NULL && one.values[L_TABLE] == NULL)
        st = note(s, load, target, t, err);
    if (st == FR_OK && state == NULL && fr_sql_one_i64(&one, L_THERE, 0) == 0)
        st = create(s, t, target->object_id, load->partition, err);
    return st == FR_OK ? find_object(s, t, err) : st;
}

fr_status fr_stage_open(struct fr_sql *s, const struct fr_stage_load *load,
                        const struct fr_table *target, struct fr_table **out,
                        struct fr_err *err)
{
    char name[FULL_NAME_BYTES];
    struct fr_table *t = NULL;
    fr_status st = name_stage(load, target, name, err);

    *out = NULL;
    if (st == FR_OK)
        st = describe(target, load->keep_identity, name, &t, err);
    /* the server has to trust the constraint: bulk copy honours it */
    if (st == FR_OK && load->partition > 0)
        t->constraints_enabled = 1;
    if (st == FR_OK)
        st = settle_object(s, load, target, t, err);
    if (st == FR_OK)
        *out = t;
    else
        fr_table_free(&t);
    return st;
}

void fr_stage_explain(const struct fr_table *stage, struct fr_err *err)
{
    if (err != NULL && err->server_number == DENIED)
        fr_err_wrap(
            err,
            "--stage: the stage table %s belongs to the owner of its schema: the "
            "login needs SELECT and INSERT on the schema (without --stage it does "
            "not)",
            stage->quoted);
    stage_partition_explain(stage, err);
}

fr_status fr_stage_is_known(struct fr_sql *s, const struct fr_head_key *key,
                            const char *group, bool *is_known, struct fr_err *err)
{
    struct fr_sql_one one;
    fr_status st = look(s, key, group, &one, err);

    *is_known = st == FR_OK && one.values[L_TABLE] != NULL;
    return st;
}

fr_status fr_stage_is_brought(struct fr_sql *s, const struct fr_head_key *key,
                              const char *group, bool *is_brought, struct fr_err *err)
{
    struct fr_sql_one one;
    fr_status st = look(s, key, group, &one, err);

    *is_brought = st == FR_OK && fr_sql_one_i64(&one, L_BROUGHT, 0) != 0;
    return st;
}
