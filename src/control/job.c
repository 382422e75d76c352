#include "control/job.h"

#include "base/num.h"
#include "control/control_priv.h"

#include <stdlib.h>
#include <string.h>

/* A job in the making: the numbers that its groups got, table after table. */
struct maker {
    struct fr_control *c;
    const struct fr_new_job *job;
    int64_t job_id;
    int64_t *group_ids; /* owned */
    size_t *first;      /* owned; of a table in group_ids */
    bool *needed;       /* owned; per table, for add_needs_of_all() */
    struct fr_added_task *out;
    bool all_added;
};

static bool is_role(const struct fr_new_group *g, const char *role)
{
    return strcmp(g->role, role) == 0;
}

static bool is_step(const struct fr_new_group *g)
{
    return !is_role(g, "on-failure") && !is_role(g, "finally");
}

static fr_status add_need(struct maker *m, int64_t group_id, int64_t needs,
                          struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_i64("@group_id", group_id),
                                    fr_sql_in_i64("@needs_group_id", needs)};

    return control_call(m->c, "dbo.sp_add_need", params, COUNT_OF(params), err);
}

/* The steps of another table; and_failure: its on-failure, too. */
static fr_status add_needs_of(struct maker *m, size_t other, bool and_failure,
                              int64_t group_id, struct fr_err *err)
{
    const struct fr_new_table *t = &m->job->tables[other];
    fr_status st = FR_OK;

    for (size_t k = 0; st == FR_OK && k < t->group_count; k++)
        if (is_step(&t->groups[k]) ||
            (and_failure && is_role(&t->groups[k], "on-failure")))
            st = add_need(m, group_id, m->group_ids[m->first[other] + k], err);
    return st;
}

/* All that the table depends on, also indirectly: it stands in front of it. */
static fr_status add_needs_of_all(struct maker *m, size_t table, int64_t group_id,
                                  struct fr_err *err)
{
    fr_status st = FR_OK;

    memset(m->needed, 0, (table + 1) * sizeof *m->needed);
    m->needed[table] = true;
    for (size_t i = table + 1; st == FR_OK && i-- > 0;) {
        const struct fr_new_table *t = &m->job->tables[i];

        if (!m->needed[i])
            continue;
        for (size_t k = 0; k < t->need_count; k++)
            m->needed[t->needs[k]] = true;
        if (i < table)
            st = add_needs_of(m, i, true, group_id, err);
    }
    return st;
}

/* Of group `index` of the table. */
static fr_status add_needs(struct maker *m, size_t table, size_t index,
                           struct fr_err *err)
{
    const struct fr_new_table *t = &m->job->tables[table];
    const struct fr_new_group *g = &t->groups[index];
    int64_t group_id = m->group_ids[m->first[table] + index];
    fr_status st = FR_OK;

    if (is_role(g, "finally"))
        st = add_needs_of_all(m, table, group_id, err);
    else if (index == 0)
        for (size_t i = 0; st == FR_OK && i < t->need_count; i++)
            st = add_needs_of(m, t->needs[i], false, group_id, err);
    for (size_t k = 0; st == FR_OK && k < index; k++)
        if (is_role(g, "finally") || is_step(&t->groups[k]) == is_step(g))
            st = add_need(m, group_id, m->group_ids[m->first[table] + k], err);
    return st;
}

static fr_status add_tasks(struct maker *m, const struct fr_new_group *g,
                           int64_t group_id, struct fr_err *err)
{
    int64_t limit_id = 0;
    fr_status st = FR_OK;

    if (g->task_count > 0)
        st = queue_set_limit(m->c, &g->tasks[0], &limit_id, err);
    for (size_t i = 0; st == FR_OK && i < g->task_count; i++) {
        st = queue_add_task(m->c, &g->tasks[i], group_id, limit_id, m->out, err);
        m->all_added = m->all_added && m->out->added;
        m->out++;
    }
    return st;
}

static fr_status add_group(struct maker *m, size_t table, size_t index,
                           struct fr_err *err)
{
    const struct fr_new_table *t = &m->job->tables[table];
    const struct fr_new_group *g = &t->groups[index];
    struct fr_sql_param params[] = {
        fr_sql_in_i64("@job_id", m->job_id),    fr_sql_in_text("@target_table", t->table),
        fr_sql_in_text("@role", g->role),       fr_sql_in_int("@number", g->number),
        fr_sql_out("@group_id", FR_SQL_BIGINT),
    };
    int64_t *group_id = &m->group_ids[m->first[table] + index];
    fr_status st = control_call(m->c, "dbo.sp_add_group", params, COUNT_OF(params), err);

    *group_id = params[4].number;
    if (st == FR_OK)
        st = add_needs(m, table, index, err);
    return st == FR_OK ? add_tasks(m, g, *group_id, err) : st;
}

static int64_t name_key(const char *name)
{
    return (int64_t)(fr_hash(FR_HASH_START, name, strlen(name)) & INT64_MAX);
}

static fr_status add_job(struct maker *m, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_text("@name", m->job->name),
        fr_sql_in_i64("@name_key", name_key(m->job->name)),
        fr_sql_in_i64("@digest", (int64_t)m->job->digest),
        fr_sql_in_text("@target_server", m->job->server),
        fr_sql_out("@job_id", FR_SQL_BIGINT),
    };
    struct fr_sql_param settle[1];
    fr_status st = control_call(m->c, "dbo.sp_add_job", params, COUNT_OF(params), err);

    if (st == FR_OK && params[4].is_null)
        return FR_EMPTY;
    m->job_id = params[4].number;
    settle[0] = fr_sql_in_i64("@job_id", m->job_id);
    for (size_t i = 0; i < m->job->table_count; i++)
        for (size_t k = 0; st == FR_OK && k < m->job->tables[i].group_count; k++)
            st = add_group(m, i, k, err);
    return st == FR_OK && m->all_added
               ? control_call(m->c, "dbo.sp_settle_job", settle, 1, err)
               : st;
}

static fr_status add_in_transaction(struct maker *m, struct fr_err *err)
{
    fr_status st = fr_control_begin(m->c, err);

    if (st != FR_OK)
        return st;
    m->all_added = true;
    st = add_job(m, err);
    if (st == FR_OK && m->all_added)
        return fr_control_commit(m->c, err);
    fr_control_rollback(m->c);
    return st;
}

static fr_status count_groups(struct maker *m, struct fr_err *err)
{
    size_t groups = 0;
    fr_status st = FR_OK;

    m->first = calloc(m->job->table_count + 1, sizeof *m->first);
    for (size_t i = 0; m->first != NULL && i < m->job->table_count; i++) {
        const struct fr_new_table *t = &m->job->tables[i];

        m->first[i] = groups;
        groups += t->group_count;
        for (size_t k = 0; k < t->group_count; k++)
            for (size_t n = 0; st == FR_OK && n < t->groups[k].task_count; n++)
                st = queue_check_task(&t->groups[k].tasks[n], err);
    }
    m->group_ids = calloc(groups + 1, sizeof *m->group_ids);
    m->needed = calloc(m->job->table_count + 1, sizeof *m->needed);
    if (m->first == NULL || m->group_ids == NULL || m->needed == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    return st;
}

fr_status fr_job_add(struct fr_control *c, const struct fr_new_job *job, int64_t *job_id,
                     struct fr_added_task *out, bool *all_added, struct fr_err *err)
{
    struct maker m = {.c = c, .job = job};
    fr_status st = count_groups(&m, err);

    *all_added = false;
    for (int tries = 1; st == FR_OK; tries++) {
        m.out = out;
        st = add_in_transaction(&m, err);
        if (!control_is_deadlock_victim(st, err, tries))
            break;
        st = FR_OK;
    }
    *job_id = m.job_id;
    *all_added = m.all_added;
    free(m.first);
    free(m.group_ids);
    free(m.needed);
    return st;
}

fr_status fr_job_find(struct fr_control *c, const char *name, const char *server,
                      struct fr_job_state *out, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_text("@name", name),
        fr_sql_in_i64("@name_key", name_key(name)),
        fr_sql_in_text("@target_server", server),
        fr_sql_out("@job_id", FR_SQL_BIGINT),
        fr_sql_out("@digest", FR_SQL_BIGINT),
        fr_sql_out("@pending", FR_SQL_BIGINT),
    };
    fr_status st = control_call(c, "dbo.sp_find_job", params, COUNT_OF(params), err);

    if (st != FR_OK)
        return st;
    *out = (struct fr_job_state){.job_id = params[3].number,
                                 .digest = (uint64_t)params[4].number,
                                 .pending = params[5].number};
    return params[3].is_null ? FR_EMPTY : FR_OK;
}
