/* The facts of a preflight, as the server tells them. */
#include "load/preflight.h"

#include "db/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* db-lib's sp_executesql takes a statement of so many (db/session.c). */
enum { MAX_BATCH_BYTES = 4000, QUOTED_BYTES = 2 * FR_NAME_MAX_BYTES + 3, PARAMS = 8 };

/* clang-format off */
#define NUMBER(member) {#member, offsetof(struct fr_facts, member), 0}
#define TEXT(member) \
    {#member, offsetof(struct fr_facts, member), sizeof((struct fr_facts *)NULL)->member}
/* clang-format on */

/* Columns of the statements by name. */
static const struct fact {
    const char *name;
    size_t at;
    size_t text_bytes; /* 0 = an int64_t */
} facts[] = {
    NUMBER(is_view),
    NUMBER(nonclustered_indexes),
    TEXT(nonclustered_index),
    NUMBER(clustered_columnstores),
    NUMBER(nonclustered_columnstores),
    NUMBER(partitions),
    NUMBER(table_rows),
    NUMBER(compression),
    NUMBER(check_constraints),
    NUMBER(foreign_keys),
    TEXT(clustered_key),
    TEXT(recovery_model),
    NUMBER(is_read_committed_snapshot_on),
    NUMBER(snapshot_isolation_state),
    NUMBER(engine_edition),
    TEXT(babelfish_version),
    TEXT(login_name),
    NUMBER(may_insert),
    NUMBER(may_select),
    NUMBER(may_alter),
    NUMBER(ledger_exists),
    NUMBER(may_select_ledger),
    NUMBER(may_insert_ledger),
    NUMBER(may_update_ledger),
    NUMBER(may_select_marks),
    NUMBER(may_insert_marks),
    NUMBER(may_select_stages),
    NUMBER(may_insert_stages),
    NUMBER(may_update_stages),
    NUMBER(rejects_exist),
    NUMBER(reject_object),
    NUMBER(reject_columns),
    NUMBER(may_select_rejects),
    NUMBER(may_insert_rejects),
    NUMBER(may_alter_table_schema),
    NUMBER(may_select_table_schema),
    NUMBER(may_insert_table_schema),
    NUMBER(may_bulk_server),
    NUMBER(may_bulk_database),
    NUMBER(may_create_table),
    NUMBER(may_alter_schema),
    NUMBER(may_select_schema),
    NUMBER(may_insert_schema),
    NUMBER(may_update_schema),
};
enum { FACTS = sizeof facts / sizeof facts[0] };

static int64_t number_at(const struct fr_facts *f, const struct fact *fact)
{
    int64_t v;

    memcpy(&v, (const char *)f + fact->at, sizeof v);
    return v;
}

void fr_facts_init(struct fr_facts *f)
{
    const int64_t unknown = -1;

    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < FACTS; i++)
        if (facts[i].text_bytes == 0)
            memcpy((char *)f + facts[i].at, &unknown, sizeof unknown);
}

void fr_facts_each(const struct fr_facts *f, fr_fact_fn each, void *ctx)
{
    for (size_t i = 0; i < FACTS; i++) {
        const char *text = (const char *)f + facts[i].at;

        if (facts[i].text_bytes > 0 && *text != '\0')
            each(ctx, facts[i].name, 0, text);
        else if (facts[i].text_bytes == 0 && number_at(f, &facts[i]) >= 0)
            each(ctx, facts[i].name, number_at(f, &facts[i]), NULL);
    }
}

static void take_fact(struct fr_facts *f, const char *name, const char *value)
{
    for (size_t i = 0; i < FACTS; i++) {
        char *at = (char *)f + facts[i].at;
        int64_t v;

        if (strcmp(facts[i].name, name) != 0)
            continue;
        if (facts[i].text_bytes > 0) {
            snprintf(at, facts[i].text_bytes, "%s", value);
            return;
        }
        v = strtoll(value, NULL, 10);
        memcpy(at, &v, sizeof v);
        return;
    }
}

/* What is asked of one table. */
struct question {
    struct fr_sql *session;
    struct fr_sql_param params[PARAMS];
    struct fr_facts *out;
    char *refused;
    size_t parts; /* that are asked */
    bool key_is_too_long;
};

/* A column of the clustered index, in its order; a key that is too long for us is not
 * known. */
static fr_status take_key(struct question *q, const struct fr_sql_row *row,
                          struct fr_err *err)
{
    struct fr_facts *f = q->out;
    bool descending = row->values[1] != NULL && strcmp(row->values[1], "1") == 0;
    char quoted[QUOTED_BYTES];
    size_t n = strlen(f->clustered_key);

    if (row->values[0] == NULL || !fr_name_quote(row->values[0], quoted, sizeof quoted))
        return fr_err_set(err, FR_EPROTO, "the columns of an index are not understood");
    if (q->key_is_too_long)
        return FR_OK;
    if (snprintf(f->clustered_key + n, sizeof f->clustered_key - n, "%s%s%s",
                 n == 0 ? "" : ", ", quoted,
                 descending ? " DESC" : "") >= (int)(sizeof f->clustered_key - n)) {
        f->clustered_key[0] = '\0';
        q->key_is_too_long = true;
    }
    return FR_OK;
}

static fr_status take_facts(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct question *q = ctx;

    if (row->columns == 2 && strcmp(row->names[0], "key_column") == 0)
        return take_key(q, row, err);
    for (size_t i = 0; i < row->columns; i++)
        if (row->values[i] != NULL)
            take_fact(q->out, row->names[i], row->values[i]);
    return FR_OK;
}

static fr_status ask(struct question *q, const char *sql, struct fr_err *err)
{
    struct fr_sql_param params[PARAMS];

    memcpy(params, q->params, sizeof params);
    return fr_sql_run_params(q->session, sql, params, PARAMS, take_facts, q, err);
}

/* The last one matters where the server itself reads the files. */
static const char *const parts[] = {fr_stmt_preflight_table, fr_stmt_preflight_key,
                                    fr_stmt_preflight_database, fr_stmt_preflight_rights,
                                    fr_stmt_preflight_bulk};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* Babelfish has not all of the views, and a right may be missing for one of them. */
static fr_status ask_one_by_one(struct question *q, size_t from, size_t to,
                                struct fr_err *err)
{
    for (size_t i = from; i < to; i++) {
        fr_status st;

        if (parts[i] == fr_stmt_preflight_key) { /* the batch may have told of it */
            q->out->clustered_key[0] = '\0';
            q->key_is_too_long = false;
        }
        st = ask(q, parts[i], err);

        if (st == FR_EDB && !q->session->lost)
            snprintf(q->refused, FR_ERR_TEXT_BYTES, "%s", err->text);
        else if (st != FR_OK)
            return st;
        fr_err_clear(err);
    }
    return FR_OK;
}

/* Without the comment in front and the indentation, which are for those who read it:
 * db-lib's statements are short.  out NULL: only its bytes are counted. */
static size_t add_statement(struct fr_buf *out, const char *sql)
{
    const char *end = strncmp(sql, "/*", 2) == 0 ? strstr(sql, "*/") : NULL;
    bool at_start = false; /* of a line */
    size_t n = 0;

    for (const char *p = end == NULL ? sql : end + 2; *p != '\0'; p++) {
        at_start = *p == '\n' || (at_start && *p == ' ');
        if (at_start && *p == ' ')
            continue;
        if (out != NULL)
            fr_buf_add_byte(out, (unsigned char)*p);
        n++;
    }
    return n;
}

/* As many in one batch as it can hold. */
static fr_status ask_all(struct question *q, struct fr_err *err)
{
    struct fr_buf batch;
    fr_status st = FR_OK;

    fr_buf_init(&batch, MAX_BATCH_BYTES);
    for (size_t from = 0, to; st == FR_OK && from < q->parts; from = to) {
        fr_buf_reset(&batch);
        for (to = from;
             to < q->parts && batch.len + add_statement(NULL, parts[to]) <= batch.max;
             to++)
            (void)add_statement(&batch, parts[to]);
        if (to == from || batch.failed) {
            st = fr_err_set(err, FR_ENOMEM, "no memory for a statement");
            break;
        }
        st = ask(q, fr_buf_text(&batch), err);
        if (st == FR_EDB && !q->session->lost) {
            fr_err_clear(err);
            st = ask_one_by_one(q, from, to, err);
        }
    }
    fr_buf_free(&batch);
    return st;
}

/* The quoted names that are asked about, "" where the load has none. */
struct names {
    char ledger[FR_LEDGER_QUOTED_BYTES], marks[FR_LEDGER_QUOTED_BYTES];
    char stages[FR_LEDGER_QUOTED_BYTES], ledger_schema[FR_LEDGER_NAME_BYTES + 4];
    char table_schema[QUOTED_BYTES];
};

static fr_status name_ledger(const char *table, struct names *n, struct fr_err *err)
{
    struct fr_ledger_place place;
    fr_status st = fr_ledger_place_parse(table, &place, err);

    if (st == FR_OK)
        st = fr_ledger_quote(&place, "dbo.fullrack_ledger", n->ledger, err);
    if (st == FR_OK)
        st = fr_ledger_quote(&place, "dbo.fullrack_truncation", n->marks, err);
    if (st == FR_OK)
        st = fr_ledger_quote(&place, "dbo.fullrack_staging", n->stages, err);
    if (st == FR_OK)
        snprintf(n->ledger_schema, sizeof n->ledger_schema, "[%s]", place.schema);
    return st;
}

static struct fr_sql_param name_param(const char *name, const char *text)
{
    return fr_sql_in_text(name, text == NULL || *text == '\0' ? NULL : text);
}

fr_status fr_facts_ask(struct fr_sql *s, const struct fr_table *t,
                       const struct fr_load_options *o, struct fr_facts *out,
                       char *refused, struct fr_err *err)
{
    struct names *n = calloc(1, sizeof *n);
    struct question q = {.session = s,
                         .out = out,
                         .refused = refused,
                         .parts = o->server_side ? PARTS : PARTS - 1};
    struct fr_table_name name;
    fr_status st;

    fr_facts_init(out);
    *refused = '\0';
    if (n == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for names");
    st = fr_table_name_parse(t->quoted, &name, err);
    if (st == FR_OK)
        (void)fr_name_quote(name.schema, n->table_schema, sizeof n->table_schema);
    if (st == FR_OK && o->ledger_choice == 0)
        st = name_ledger(o->ledger_table, n, err);
    if (st == FR_OK) {
        struct fr_sql_param params[PARAMS] = {
            fr_sql_in_int("@object_id", t->object_id),
            fr_sql_in_text("@name", t->quoted),
            name_param("@ledger", n->ledger),
            name_param("@marks", n->marks),
            name_param("@stages", n->stages),
            name_param("@ledger_schema", n->ledger_schema),
            name_param("@table_schema", n->table_schema),
            name_param("@rejects", o->reject_table),
        };

        memcpy(q.params, params, sizeof params);
        st = ask_all(&q, err);
    }
    free(n);
    return st;
}
