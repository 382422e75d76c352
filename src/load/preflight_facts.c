/* The facts of a preflight, as the server tells them. */
#include "load/preflight.h"

#include "db/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BATCH_BYTES = 16384, QUOTED_BYTES = 2 * FR_NAME_MAX_BYTES + 3 };

#define NUMBER(member)                                                                   \
    {                                                                                    \
#member, offsetof(struct fr_facts, member), 0                                    \
    }
#define TEXT(member)                                                                     \
    {                                                                                    \
#member, offsetof(struct fr_facts, member),                                      \
            sizeof((struct fr_facts *)NULL)->member                                      \
    }

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

/* A column of the clustered index, in its order; a key that is too long for us is not
 * known. */
static fr_status take_key(struct fr_facts *f, const struct fr_sql_row *row,
                          struct fr_err *err)
{
    bool descending = row->values[1] != NULL && strcmp(row->values[1], "1") == 0;
    char quoted[QUOTED_BYTES];
    size_t n = strlen(f->clustered_key);

    if (row->values[0] == NULL || !fr_name_quote(row->values[0], quoted, sizeof quoted))
        return fr_err_set(err, FR_EPROTO, "the columns of an index are not understood");
    if (snprintf(f->clustered_key + n, sizeof f->clustered_key - n, "%s%s%s",
                 n == 0 ? "" : ", ", quoted,
                 descending ? " DESC" : "") >= (int)(sizeof f->clustered_key - n))
        f->clustered_key[0] = '\0';
    return FR_OK;
}

static fr_status take_facts(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    if (row->columns == 2 && strcmp(row->names[0], "key_column") == 0)
        return take_key(ctx, row, err);
    for (size_t i = 0; i < row->columns; i++)
        if (row->values[i] != NULL)
            take_fact(ctx, row->names[i], row->values[i]);
    return FR_OK;
}

/* What is asked of one table. */
struct question {
    struct fr_sql *session;
    struct fr_sql_param params[5];
    struct fr_facts *out;
    char *refused;
};

static fr_status ask(const struct question *q, const char *sql, struct fr_err *err)
{
    struct fr_sql_param params[sizeof q->params / sizeof q->params[0]];

    memcpy(params, q->params, sizeof params);
    return fr_sql_run_params(q->session, sql, params, sizeof params / sizeof params[0],
                             take_facts, q->out, err);
}

/* Babelfish has not all of the views, and a right may be missing for one of them. */
static fr_status ask_one_by_one(const struct question *q, const char *const *parts,
                                size_t count, struct fr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        fr_status st = ask(q, parts[i], err);

        if (st == FR_EDB && !q->session->lost)
            snprintf(q->refused, FR_ERR_TEXT_BYTES, "%s", err->text);
        else if (st != FR_OK)
            return st;
        fr_err_clear(err);
    }
    return FR_OK;
}

static fr_status ask_all(const struct question *q, struct fr_err *err)
{
    static const char *const parts[] = {fr_stmt_preflight_table, fr_stmt_preflight_key,
                                        fr_stmt_preflight_database,
                                        fr_stmt_preflight_rights};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    struct fr_buf batch;
    fr_status st;

    fr_buf_init(&batch, MAX_BATCH_BYTES);
    for (size_t i = 0; i < PARTS; i++)
        fr_buf_add_str(&batch, parts[i]);
    st = batch.failed ? fr_err_set(err, FR_ENOMEM, "no memory for a statement")
                      : ask(q, fr_buf_text(&batch), err);
    fr_buf_free(&batch);
    if (st != FR_EDB || q->session->lost)
        return st;
    fr_err_clear(err);
    return ask_one_by_one(q, parts, PARTS, err);
}

fr_status fr_facts_ask(struct fr_sql *s, const struct fr_table *t,
                       const struct fr_ledger_place *ledger, struct fr_facts *out,
                       char *refused, struct fr_err *err)
{
    char heads[FR_LEDGER_QUOTED_BYTES], marks[FR_LEDGER_QUOTED_BYTES];
    char schema[FR_LEDGER_NAME_BYTES + 4];
    struct question q = {.session = s, .out = out, .refused = refused};

    fr_facts_init(out);
    *refused = '\0';
    if (ledger != NULL) {
        fr_status st = fr_ledger_quote(ledger, heads, marks, err);

        if (st != FR_OK)
            return st;
        snprintf(schema, sizeof schema, "[%s]", ledger->schema);
    }
    q.params[0] = fr_sql_in_int("@object_id", t->object_id);
    q.params[1] = fr_sql_in_text("@name", t->quoted);
    q.params[2] = fr_sql_in_text("@ledger", ledger == NULL ? NULL : heads);
    q.params[3] = fr_sql_in_text("@marks", ledger == NULL ? NULL : marks);
    q.params[4] = fr_sql_in_text("@ledger_schema", ledger == NULL ? NULL : schema);
    return ask_all(&q, err);
}
