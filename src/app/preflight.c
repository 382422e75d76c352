#include "app/preflight_priv.h"

#include "base/log.h"
#include "db/statements.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Ways of loading that the queue's tasks are looked at for: a way is a table with a set
 * of options.  More are as good as never there. */
enum { MAX_QUEUE_TARGETS = 1000 };

/* A table as it was seen: other targets may be of the same. */
struct seen {
    const struct preflight_target *target; /* borrowed: the first of it */
    struct fr_table *table;                /* owned; NULL = it cannot be loaded */
    struct fr_facts facts;
    struct fr_err why; /* of a table that cannot be loaded */
};

struct looker {
    const struct fr_connector *connector;
    enum preflight_mode mode;
    struct fr_sql *session; /* owned */
    const char *database;   /* of the session */
    const struct fr_bulk_engine *engine;
    struct seen *seen; /* owned */
    size_t seen_count;
    bool said_refused;
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* -- the server ---------------------------------------------------------------------- */

/* By the client that will load: what keeps it out is its workers' message, too. */
static fr_status open_database(struct looker *l, const char *database,
                               const struct fr_bulk_engine *engine, struct fr_err *err)
{
    fr_status st;

    if (l->session != NULL && !l->session->lost && l->engine == engine &&
        same_text(l->database, database))
        return FR_OK;
    fr_sql_close(&l->session);
    l->database = database;
    l->engine = engine;
    st = fr_connector_load(l->connector, engine, database, &l->session, err);
    /* catalog views wait for those who change a table; a run does not begin later for
     * that */
    return st == FR_OK ? fr_sql_run(l->session, "SET LOCK_TIMEOUT 5000", NULL, NULL, err)
                       : st;
}

static void say_refused(struct looker *l, const char *table, const char *why)
{
    if (*why == '\0' || l->said_refused)
        return;
    l->said_refused = true;
    fr_log(FR_LOG_DEBUG, "preflight of %s: not all could be asked: %s", table, why);
}

/* Nothing else was asked of the server for the one than would be for the other. */
static bool same_questions(const struct preflight_target *a,
                           const struct preflight_target *b)
{
    return same_text(a->database, b->database) && same_text(a->table, b->table) &&
           a->options->ledger_choice == b->options->ledger_choice &&
           same_text(a->options->ledger_table, b->options->ledger_table) &&
           same_text(a->options->reject_table, b->options->reject_table);
}

static fr_status ask_table(struct looker *l, const struct preflight_target *t,
                           struct seen *seen, struct fr_err *err)
{
    char refused[FR_ERR_TEXT_BYTES];
    fr_status st = fr_table_describe(l->session, t->table, &seen->table, err);

    if (st == FR_EDATA || st == FR_EARG || (st == FR_EDB && !l->session->lost)) {
        seen->why = *err;
        fr_err_clear(err);
        return FR_OK;
    }
    if (st == FR_OK)
        st =
            fr_facts_ask(l->session, seen->table, t->options, &seen->facts, refused, err);
    if (st == FR_OK)
        say_refused(l, seen->table->display, refused);
    return st;
}

static fr_status see_table(struct looker *l, const struct preflight_target *t,
                           const struct fr_bulk_engine *engine, struct seen **out,
                           struct fr_err *err)
{
    struct seen *seen;
    fr_status st;

    for (size_t i = 0; i < l->seen_count; i++) {
        *out = &l->seen[i];
        if (same_questions(l->seen[i].target, t))
            return FR_OK;
    }
    seen = &l->seen[l->seen_count];
    *out = seen;
    st = open_database(l, t->database, engine, err);
    if (st == FR_OK) {
        fr_facts_init(&seen->facts);
        st = ask_table(l, t, seen, err);
    }
    if (st != FR_OK) {
        fr_table_free(&seen->table);
        return st;
    }
    seen->target = t;
    l->seen_count++;
    return FR_OK;
}

/* -- one target ---------------------------------------------------------------------- */

/* A table that its own phases make, or make fit, is not there yet; a file of the queue
 * may be another host's. */
static void add_error(struct preflight_found *f, const char *code,
                      const struct fr_err *why)
{
    struct fr_finding *e = &f->findings[f->finding_count++];
    bool is_elsewhere = why->status == FR_EIO && f->target->is_queued;
    bool is_open = f->target->is_made || is_elsewhere;

    *e = (struct fr_finding){.code = code,
                             .severity = is_open ? FR_FINDING_NOTE : FR_FINDING_ERROR};
    snprintf(e->message, sizeof e->message, "%.600s%s", why->text,
             is_elsewhere         ? "; the workers' host may have it"
             : f->target->is_made ? "; a phase in front of the load may change that"
                                  : "");
}

/* A phase in front of the load may disable indexes, set the recovery model, ... */
static void lower_warnings(struct preflight_found *f)
{
    for (size_t i = 0; i < f->finding_count; i++)
        if (f->findings[i].severity == FR_FINDING_WARNING)
            f->findings[i].severity = FR_FINDING_NOTE;
}

/* The free bytes where its reject file will lie; -1 = unknown. */
static int64_t reject_free_bytes(const struct fr_load_options *o)
{
    const char *slash = o->error_file == NULL ? NULL : strrchr(o->error_file, '/');
    struct statvfs v;
    char *folder;
    int64_t bytes = -1;

    if (o->error_file == NULL)
        return -1;
    folder = slash == NULL ? strdup(".")
                           : strndup(o->error_file, (size_t)(slash - o->error_file) + 1);
    if (folder != NULL && statvfs(folder, &v) == 0 && v.f_frsize > 0 &&
        v.f_bavail <= (uint64_t)INT64_MAX / v.f_frsize)
        bytes = (int64_t)(v.f_bavail * v.f_frsize);
    free(folder);
    return bytes;
}

static int64_t streams_of(const struct fr_settings *s, const struct preflight_target *t)
{
    int64_t n = s->workers > 0 ? s->workers : 1;

    if (t->most_at_once > 0 && t->most_at_once < n)
        n = t->most_at_once;
    return t->tasks < n ? t->tasks : n;
}

/* The table that bulk copy goes into: with --stage a heap beside the target. */
static struct fr_table copied_into(const struct fr_table *t,
                                   const struct fr_load_options *o)
{
    struct fr_table into = *t;

    if (o->stage) {
        into.constraints_enabled = o->stage_partitions; /* that of its partition */
        into.triggers_enabled = 0;
        into.index_count = into.columnstore_count = 0;
        into.is_clustered = into.is_memory_optimized = false;
    }
    return into;
}

static fr_status judge(struct looker *l, const struct seen *seen,
                       const struct fr_bulk_engine *engine, struct preflight_found *f,
                       struct fr_err *err)
{
    const struct preflight_target *t = f->target;
    struct fr_table into = copied_into(seen->table, t->options);
    struct fr_hints hints;
    struct fr_preflight p = {.table = seen->table,
                             .options = t->options,
                             .hints = &hints,
                             .engine = engine,
                             .facts = &seen->facts,
                             .streams = f->streams,
                             .tasks = t->tasks,
                             .reject_free_bytes = reject_free_bytes(t->options)};
    fr_status st = fr_hints_make(t->options, &into, engine->abilities, &hints, err);
    bool hinted = st == FR_OK;

    f->facts = seen->facts;
    f->is_known = true;
    f->engine = engine->name;
    if (hinted) {
        f->hints_why = hints.why;
        (void)fr_hints_text(&hints, f->hints);
        st = engine->check(seen->table->columns, seen->table->column_count, err);
    }
    if (st == FR_OK && l->mode == PREFLIGHT_DRY_RUN)
        st = preflight_check_file(t, seen->table, engine, err);
    if (st == FR_EARG || st == FR_EDATA || st == FR_EIO) {
        add_error(f, st == FR_EIO ? "source" : "options", err);
        fr_err_clear(err);
        st = FR_OK;
    }
    if (st == FR_OK && hinted)
        f->finding_count += fr_preflight_judge(&p, f->findings + f->finding_count);
    if (t->is_made)
        lower_warnings(f);
    fr_hints_free(&hints);
    return st;
}

static fr_status look_at(struct looker *l, struct preflight_found *f, struct fr_err *err)
{
    const struct preflight_target *t = f->target;
    char why[200];
    const struct fr_bulk_engine *engine =
        fr_connector_engine(l->connector, t->options->engine, why, sizeof why);
    struct seen *seen = NULL;
    fr_status st = see_table(l, t, engine, &seen, err);

    if (st != FR_OK)
        return st;
    f->table = strdup(seen->table == NULL ? t->table : seen->table->display);
    f->findings = calloc(FR_MAX_FINDINGS + 1, sizeof *f->findings);
    if (f->table == NULL || f->findings == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a preflight");
    f->streams = streams_of(l->connector->settings, t);
    if (seen->table != NULL)
        return judge(l, seen, engine, f, err);
    add_error(f, "table", &seen->why);
    return FR_OK;
}

/* The server could not be asked: whether that matters the workers will find out. */
static bool is_left_to_workers(enum preflight_mode mode, fr_status st)
{
    if (mode == PREFLIGHT_RUN)
        return st != FR_OK && st != FR_ENOMEM;
    return mode == PREFLIGHT_LOAD && (st == FR_ELOST || st == FR_EDB);
}

fr_status preflight_look(const struct fr_connector *c,
                         const struct preflight_target *targets, size_t count,
                         enum preflight_mode mode, struct preflight *out,
                         struct fr_err *err)
{
    struct looker l = {.connector = c, .mode = mode};
    fr_status st = FR_OK;

    *out = (struct preflight){.items = calloc(count + 1, sizeof *out->items)};
    l.seen = calloc(count + 1, sizeof *l.seen);
    if (out->items == NULL || l.seen == NULL) {
        free(l.seen);
        return fr_err_set(err, FR_ENOMEM, "no memory for a preflight");
    }
    for (size_t i = 0; st == FR_OK && i < count; i++) {
        struct preflight_found *f = &out->items[out->count++];

        f->target = &targets[i];
        st = look_at(&l, f, err);
        if (!is_left_to_workers(mode, st))
            continue;
        fr_log(FR_LOG_DEBUG, "preflight of %s: %s", targets[i].table, err->text);
        fr_err_clear(err);
        f->is_skipped = true;
        st = FR_OK;
    }
    for (size_t i = 0; i < l.seen_count; i++)
        fr_table_free(&l.seen[i].table);
    free(l.seen);
    fr_sql_close(&l.session);
    return st;
}

void preflight_free(struct preflight *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].table);
        free(p->items[i].findings);
    }
    free(p->items);
    *p = (struct preflight){.count = 0};
}

/* -- the queue ----------------------------------------------------------------------- */

struct queue_target {
    char *database, *table, *source; /* owned */
    struct fr_settings settings;
};

struct queue_targets {
    struct queue_target *items; /* owned, MAX_QUEUE_TARGETS of them */
    size_t count;
    struct preflight_target *targets; /* owned; the same */
};

static fr_status take_target(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct queue_targets *q = ctx;
    struct queue_target *t;
    fr_status st;

    if (row->columns != 7 || row->values[0] == NULL || row->values[1] == NULL)
        return fr_err_set(err, FR_EPROTO, "a table of the queue has other columns");
    if (q->count == MAX_QUEUE_TARGETS)
        return FR_OK;
    t = &q->items[q->count];
    fr_settings_init(&t->settings);
    q->count++;
    t->database = row->values[0][0] == '\0' ? NULL : strdup(row->values[0]);
    t->table = strdup(row->values[1]);
    t->source = row->values[4] == NULL ? NULL : strdup(row->values[4]);
    if (t->table == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tables of the queue");
    /* options that are no longer understood are their tasks' to refuse */
    st = fr_settings_from_text(
        &t->settings, FR_GROUP_LOAD | FR_GROUP_TASK | FR_GROUP_SERVER_SIDE,
        row->values[2] == NULL ? "" : row->values[2], "task options", err);
    if (st == FR_ENOMEM)
        return st;
    fr_err_clear(err);
    q->targets[q->count - 1] = (struct preflight_target){
        .database = t->database,
        .table = t->table,
        .options = &t->settings.load,
        .source = t->source,
        .is_queued = true,
        .tasks = fr_sql_row_i64(row, 3, 1),
        .is_made = row->values[5] != NULL && strcmp(row->values[5], "1") == 0,
        .most_at_once = fr_sql_row_i64(row, 6, 0)};
    return FR_OK;
}

static void free_targets(struct queue_targets *q)
{
    for (size_t i = 0; q->items != NULL && i < q->count; i++) {
        free(q->items[i].database);
        free(q->items[i].table);
        free(q->items[i].source);
        fr_settings_free(&q->items[i].settings);
    }
    free(q->items);
    free(q->targets);
}

/* A queue of many files cut into ranges has a way of loading for each file: they differ
 * in nothing that is looked at here. */
static size_t merge_targets(struct queue_targets *q)
{
    size_t kept = 0;

    for (size_t i = 0; i < q->count; i++) {
        size_t k = 0;

        while (k < kept &&
               !(same_text(q->targets[k].database, q->targets[i].database) &&
                 same_text(q->targets[k].table, q->targets[i].table) &&
                 fr_load_options_cost_same(q->targets[k].options, q->targets[i].options)))
            k++;
        if (k == kept) {
            q->targets[kept++] = q->targets[i];
        } else {
            q->targets[k].tasks += q->targets[i].tasks;
            q->targets[k].is_made = q->targets[k].is_made || q->targets[i].is_made;
        }
    }
    return kept;
}

fr_status preflight_queue(const struct fr_connector *c, struct fr_control *control,
                          enum preflight_mode mode, int *exit_status, struct fr_err *err)
{
    struct queue_targets q = {.items = calloc(MAX_QUEUE_TARGETS, sizeof *q.items),
                              .targets = calloc(MAX_QUEUE_TARGETS, sizeof *q.targets)};
    struct fr_sql_param params[] = {fr_sql_in_text("@server", c->settings->server),
                                    fr_sql_in_int("@most", MAX_QUEUE_TARGETS)};
    struct preflight found = {.count = 0};
    fr_status st = q.items == NULL || q.targets == NULL
                       ? fr_err_set(err, FR_ENOMEM, "no memory for a preflight")
                       : fr_control_run(control, fr_stmt_preflight_tables, params, 2,
                                        take_target, &q, err);

    if (st == FR_OK)
        st = preflight_look(c, q.targets, merge_targets(&q), mode, &found, err);
    if (st == FR_OK && mode == PREFLIGHT_DRY_RUN)
        st = preflight_report(&found, c->settings, exit_status, err);
    else if (st == FR_OK)
        st = preflight_begin(&found, mode, err);
    preflight_free(&found);
    free_targets(&q);
    return st;
}

fr_status preflight_of_run(void *ctx, struct fr_control *control, struct fr_err *err)
{
    struct fr_connector c = {0};
    int unused;
    fr_status st = fr_connector_init(&c, ctx, err);

    if (st == FR_OK)
        st = preflight_queue(&c, control, PREFLIGHT_RUN, &unused, err);
    fr_connector_free(&c);
    return st;
}
