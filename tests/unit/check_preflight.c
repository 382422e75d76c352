#include "db/script.h"
#include "db/statements.h"
#include "load/preflight.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

#define TEXT(s) (char *)(uintptr_t)(s)

enum {
    CLUSTERED = 1,
    INDEXED = 2,
    COLUMNSTORE = 4,
    IN_MEMORY = 8,
    CHECKED = 16,
    TRIGGERED = 32,
    IDENTITY = 64,
};
enum {
    BCP = 1,
    NO_CHECK = 2,
    TRUNCATE = 4,
    KEEP_IDENTITY = 8,
    KEEP_NULLS = 16,
    LEDGER_OFF = 32,
    TABLOCK = 64,
    HINT_NONE = 128,
    STAGE = 256,
    REJECTS = 512,
};

static const struct fr_bulk_engine wire = {.name = "wire",
                                           .abilities = FR_BULK_ALL_HINTS};
static const struct fr_bulk_engine bcp = {.name = "bcp"};

struct scene {
    struct fr_column column;
    struct fr_table table;
    struct fr_load_options options;
    const struct fr_bulk_engine *engine;
};

static void set_scene(struct scene *s, unsigned table, unsigned options)
{
    memset(s, 0, sizeof *s);
    s->column = (struct fr_column){.name = TEXT("id"),
                                   .type_name = TEXT("int"),
                                   .type = FR_TYPE_INT,
                                   .identity = (table & IDENTITY) != 0};
    s->table = (struct fr_table){
        .quoted = TEXT("[dbo].[t]"),
        .display = TEXT("dbo.t"),
        .object_id = 7,
        .columns = &s->column,
        .column_count = 1,
        .index_count =
            (table & (CLUSTERED | INDEXED | COLUMNSTORE | IN_MEMORY)) != 0 ? 1 : 0,
        .is_clustered = (table & CLUSTERED) != 0,
        .columnstore_count = (table & COLUMNSTORE) != 0 ? 1 : 0,
        .is_memory_optimized = (table & IN_MEMORY) != 0,
        .constraints_enabled = (table & CHECKED) != 0 ? 2 : 0,
        .triggers_enabled = (table & TRIGGERED) != 0 ? 1 : 0};
    fr_load_options_init(&s->options);
    s->options.no_check = (options & NO_CHECK) != 0;
    s->options.truncate = (options & TRUNCATE) != 0;
    s->options.keep_identity = (options & KEEP_IDENTITY) != 0;
    s->options.keep_nulls = (options & KEEP_NULLS) != 0;
    s->options.ledger_choice = (options & LEDGER_OFF) != 0 ? 1 : 0;
    s->options.hint = (options & TABLOCK) != 0     ? TEXT("TABLOCK")
                      : (options & HINT_NONE) != 0 ? TEXT("none")
                                                   : NULL;
    s->options.stage = (options & STAGE) != 0;
    s->options.reject_table = (options & REJECTS) != 0 ? TEXT("dbo.bad") : NULL;
    s->engine = (options & BCP) != 0 ? &bcp : &wire;
}

/* ---- the choice of --hint auto, as workers and preflight make it ---- */

static const struct {
    unsigned table, options;
    fr_status st;
    const char *hints, *why;
} hint_cases[] = {
    {0, 0, FR_OK, "TABLOCK", "minimal logging"},
    {0, NO_CHECK, FR_OK, "TABLOCK", "minimal logging"},
    {0, HINT_NONE, FR_OK, "none", "--hint"},
    {CHECKED, HINT_NONE, FR_OK, "CHECK_CONSTRAINTS", "--hint"},
    {CHECKED, 0, FR_OK, "TABLOCK, CHECK_CONSTRAINTS", "minimal logging"},
    {CHECKED, BCP, FR_OK, "CHECK_CONSTRAINTS", "carries one hint"},
    {0, BCP | KEEP_NULLS, FR_OK, "KEEP_NULLS", "carries one hint"},
    {0, BCP, FR_OK, "TABLOCK", "minimal logging"},
    {CHECKED, BCP | NO_CHECK, FR_OK, "TABLOCK", "minimal logging"},
    {TRIGGERED, 0, FR_OK, "FIRE_TRIGGERS", "triggers read"},
    {TRIGGERED, NO_CHECK, FR_OK, "TABLOCK", "minimal logging"},
    {INDEXED, 0, FR_OK, "none", "heap with"},
    {CLUSTERED, 0, FR_OK, "none", "clustered index"},
    {CLUSTERED, TABLOCK, FR_OK, "TABLOCK", "--hint"},
    {COLUMNSTORE, 0, FR_OK, "none", "columnstore"},
    {COLUMNSTORE | CLUSTERED, 0, FR_OK, "none", "columnstore"},
    {IN_MEMORY, 0, FR_OK, "none", "memory-optimized"},
    {IN_MEMORY, TABLOCK, FR_EARG, NULL, NULL},
    {TRIGGERED, TABLOCK, FR_EARG, NULL, NULL},
    {CHECKED, TABLOCK | BCP, FR_EARG, NULL, NULL},
    {CHECKED | TRIGGERED, KEEP_NULLS, FR_OK,
     "CHECK_CONSTRAINTS, FIRE_TRIGGERS, KEEP_NULLS", "triggers read"},
};

START_TEST(test_hint_is_chosen)
{
    struct scene s;
    struct fr_hints hints;
    struct fr_err err = {.text = ""};
    char text[FR_HINTS_TEXT_BYTES];

    set_scene(&s, hint_cases[_i].table, hint_cases[_i].options);
    ck_assert_msg(fr_hints_make(&s.options, &s.table, s.engine->abilities, &hints,
                                &err) == hint_cases[_i].st,
                  "case %d: %s", _i, err.text);
    if (hint_cases[_i].st == FR_OK) {
        ck_assert_str_eq(fr_hints_text(&hints, text), hint_cases[_i].hints);
        ck_assert_msg(strstr(hints.why, hint_cases[_i].why) != NULL, "case %d: %s", _i,
                      hints.why);
    }
    fr_hints_free(&hints);
}
END_TEST

/* ---- facts ---- */

/* A session that answers with the facts that a test names, "name=value ...", in the
 * result of the statement that has such a column. */
static const char *told;
static const char *refused_column; /* a statement with it is refused */
static bool answers_first; /* a batch with it is refused behind what comes before */
static bool loses_connection;
static int calls;

static fr_status answer(const char *sql, const char *facts, fr_sql_row_fn row, void *ctx,
                        struct fr_err *err)
{
    char name[64], value[64];
    fr_status st = FR_OK;

    for (int n = 0; st == FR_OK && sscanf(facts, " %63[^=]=%63s%n", name, value, &n) == 2;
         facts += n) {
        const char *names[2] = {name, "is_descending_key"};
        const char *values[2] = {strcmp(value, "NULL") == 0 ? NULL : value, "0"};
        size_t lengths[2] = {strlen(value), 1};
        struct fr_sql_row r = {strcmp(name, "key_column") == 0 ? 2 : 1, names, values,
                               lengths};

        if (strstr(sql, name) != NULL)
            st = row(ctx, &r, err);
    }
    return st;
}

static fr_status fake_run_params(struct fr_sql *s, const char *sql,
                                 struct fr_sql_param *params, size_t count,
                                 fr_sql_row_fn row, void *ctx, struct fr_err *err)
{
    (void)params;
    ck_assert_uint_eq(count, 8);
    calls++;
    if (loses_connection) {
        s->lost = true;
        return fr_err_set(err, FR_ELOST, "gone");
    }
    if (refused_column != NULL && strstr(sql, refused_column) != NULL) {
        if (answers_first && calls == 1)
            (void)answer(sql, told, row, ctx, err);
        return fr_err_set(err, FR_EDB, "Invalid object name");
    }
    return answer(sql, told, row, ctx, err);
}

static fr_status ask(const char *facts, const struct scene *s, struct fr_facts *out,
                     char *refused, struct fr_err *err)
{
    static const struct fr_sql_ops ops = {.run_params = fake_run_params};
    struct fr_sql session = {.ops = &ops};

    told = facts;
    calls = 0;
    return fr_facts_ask(&session, &s->table, &s->options, out, refused, err);
}

static void count_fact(void *ctx, const char *name, int64_t number, const char *text)
{
    (void)name;
    (void)number;
    (void)text;
    ++*(int *)ctx;
}

START_TEST(test_facts_are_asked_at_once)
{
    struct scene s;
    struct fr_facts f;
    struct fr_err err = {.text = ""};
    char refused[FR_ERR_TEXT_BYTES];
    int known = 0;

    set_scene(&s, CLUSTERED, 0);
    refused_column = NULL;
    loses_connection = false;
    ck_assert_int_eq(ask("may_insert=1 may_alter=NULL recovery_model=FULL table_rows=0 "
                         "key_column=id key_column=b]c",
                         &s, &f, refused, &err),
                     FR_OK);
    ck_assert_int_eq(calls, 1);
    ck_assert_str_eq(refused, "");
    ck_assert_int_eq(f.may_insert, 1);
    ck_assert_int_eq(f.may_alter, -1);
    ck_assert_int_eq(f.may_select, -1);
    ck_assert_int_eq(f.table_rows, 0);
    ck_assert_str_eq(f.recovery_model, "FULL");
    ck_assert_str_eq(f.clustered_key, "[id], [b]]c]");
    fr_facts_each(&f, count_fact, &known);
    ck_assert_int_eq(known, 4);
}
END_TEST

START_TEST(test_key_is_whole_or_unknown)
{
    struct scene s;
    struct fr_facts f;
    struct fr_err err = {.text = ""};
    char refused[FR_ERR_TEXT_BYTES], facts[2048] = "";
    size_t n = 0;

    set_scene(&s, CLUSTERED, 0);
    loses_connection = false;
    refused_column = "recovery_model";
    answers_first = true;
    ck_assert_int_eq(
        ask("key_column=id key_column=b recovery_model=FULL", &s, &f, refused, &err),
        FR_OK);
    answers_first = false;
    refused_column = NULL;
    ck_assert_int_gt(calls, 1);
    ck_assert_str_eq(f.clustered_key, "[id], [b]"); /* once, though told twice */
    /* its end alone would be another key */
    for (int i = 0; i < 12; i++)
        n += (size_t)snprintf(facts + n, sizeof facts - n, "key_column=%060d ", i);
    ck_assert_int_eq(ask(facts, &s, &f, refused, &err), FR_OK);
    ck_assert_str_eq(f.clustered_key, "");
}
END_TEST

START_TEST(test_refused_facts_are_unknown)
{
    struct scene s;
    struct fr_facts f;
    struct fr_err err = {.text = ""};
    char refused[FR_ERR_TEXT_BYTES];

    set_scene(&s, 0, 0);
    refused_column = "recovery_model";
    loses_connection = false;
    ck_assert_int_eq(
        ask("may_insert=0 recovery_model=FULL table_rows=5", &s, &f, refused, &err),
        FR_OK);
    ck_assert_int_eq(calls, 5); /* at once, then four parts */
    ck_assert_ptr_nonnull(strstr(refused, "Invalid object name"));
    ck_assert_str_eq(f.recovery_model, "");
    ck_assert_int_eq(f.may_insert, 0);
    ck_assert_int_eq(f.table_rows, 5);
    ck_assert_int_eq(err.status, FR_OK);
    loses_connection = true;
    ck_assert_int_eq(ask("", &s, &f, refused, &err), FR_ELOST);
    ck_assert_int_eq(calls, 1);
    refused_column = NULL;
    loses_connection = false;
}
END_TEST

/* ---- findings ---- */

#define RIGHTS "may_insert=1 may_select=1 may_alter=0 ledger_exists=1 "

static const struct {
    unsigned table, options;
    int64_t batch_rows; /* 0 = auto */
    const char *facts;
    const char *want; /* severity's first letter and code of each, sorted as they come */
} judge_cases[] = {
    /* nothing known, nothing found */
    {0, HINT_NONE, 0, "", ""},
    {INDEXED, 0, 0, "", ""},
    /* rights */
    {INDEXED, 0, 0, RIGHTS, ""},
    {INDEXED, 0, 0, "may_insert=0 may_select=0", "E:no_insert_right E:no_select_right"},
    {INDEXED, 0, 0, "may_insert=NULL", ""},
    {INDEXED, 0, 0, "may_insert=0 babelfish_version=4.4", "W:no_insert_right"},
    /* it says FULL of every database, and takes no notice of TABLOCK */
    {0, 0, 0, "recovery_model=FULL is_read_committed_snapshot_on=1 babelfish_version=4.3",
     ""},
    {INDEXED, TRUNCATE, 0, RIGHTS, "E:no_alter_right"},
    {INDEXED, TRUNCATE, 0, "may_alter=1", ""},
    {INDEXED, KEEP_IDENTITY, 0, RIGHTS, ""},
    {INDEXED | IDENTITY, KEEP_IDENTITY, 0, RIGHTS, "E:no_alter_right"},
    {INDEXED, NO_CHECK, 0, RIGHTS, ""},
    {INDEXED | CHECKED, NO_CHECK, 0, RIGHTS, "E:no_alter_right W:constraints_untrusted"},
    {INDEXED | TRIGGERED, NO_CHECK, 0, RIGHTS, "E:no_alter_right N:insert_triggers"},
    {INDEXED, 0, 0, "ledger_exists=0 may_create_table=0 may_alter_schema=1",
     "E:no_ledger_right"},
    {INDEXED, 0, 0, "ledger_exists=0 may_create_table=1 may_alter_schema=0",
     "E:no_ledger_right"},
    {INDEXED, 0, 0, "ledger_exists=0 may_create_table=1 may_alter_schema=1", ""},
    {INDEXED, 0, 0, "ledger_exists=0 may_create_table=1 may_update_schema=0",
     "E:no_ledger_right"},
    {INDEXED, 0, 0, "ledger_exists=1 may_update_ledger=0", "E:no_ledger_right"},
    {INDEXED, 0, 0, "ledger_exists=1 may_select_ledger=0", "E:no_ledger_right"},
    {INDEXED, 0, 0, "ledger_exists=1 may_insert_ledger=0", "E:no_ledger_right"},
    {INDEXED, 0, 0, "ledger_exists=1 may_insert_marks=0", ""},
    {INDEXED, TRUNCATE, 0, "ledger_exists=1 may_insert_marks=0", "E:no_ledger_right"},
    {INDEXED, LEDGER_OFF, 0, "ledger_exists=1 may_update_ledger=0", "N:ledger_off"},
    {INDEXED, LEDGER_OFF, 0, "ledger_exists=0 may_create_table=0", "N:ledger_off"},
    {INDEXED, REJECTS, 0, "rejects_exist=0 may_create_table=0",
     "E:no_reject_table_right"},
    {INDEXED, REJECTS, 0, "rejects_exist=1 may_insert_rejects=0 may_select_rejects=1",
     "E:no_reject_table_right"},
    {INDEXED, REJECTS, 0, "rejects_exist=1 may_insert_rejects=1 may_select_rejects=0",
     "E:no_reject_table_right"},
    {INDEXED, REJECTS, 0,
     "rejects_exist=1 may_insert_rejects=1 may_select_rejects=1 may_create_table=0", ""},
    {INDEXED, REJECTS, 0, "rejects_exist=1 reject_columns=11", ""},
    {INDEXED, REJECTS, 0, "rejects_exist=1 reject_columns=10", "E:reject_table_shape"},
    {INDEXED, REJECTS, 0, "rejects_exist=1 reject_columns=0", "E:reject_table_shape"},
    {INDEXED, 0, 0, "rejects_exist=1 reject_columns=0", ""},
    {INDEXED, 0, 0, "rejects_exist=0 may_create_table=0 ledger_exists=1", ""},
    {INDEXED, STAGE, 0, "may_create_table=0 ledger_exists=1",
     "E:no_stage_right N:staged"},
    {INDEXED, STAGE, 0, "may_alter_table_schema=0", "E:no_stage_right N:staged"},
    {INDEXED, STAGE, 0, "may_update_stages=0", "E:no_stage_right N:staged"},
    {INDEXED, 0, 0, "may_update_stages=0", ""},
    /* what is said of bulk copy into the table is not true of --stage */
    {CLUSTERED, STAGE, 0, "table_rows=0", "N:staged"},
    {0, STAGE, 0, "", "N:readers_blocked N:staged"},
    {COLUMNSTORE, STAGE, 50, "clustered_columnstores=1", "W:small_batches N:staged"},
    {INDEXED, STAGE, 0, "nonclustered_indexes=1", "W:nonclustered_indexes N:staged"},
    /* hints */
    {INDEXED | CHECKED | TRIGGERED, BCP, 0, "",
     "E:bcp_several_hints W:insert_triggers N:constraints_checked"},
    {CHECKED, BCP, 0, "", "W:bcp_no_tablock N:constraints_checked"},
    {CHECKED, BCP | HINT_NONE, 0, "", "N:constraints_checked"},
    {CHECKED, 0, 0, "", "N:constraints_checked N:readers_blocked"},
    {TRIGGERED, 0, 0, "", "W:insert_triggers"},
    {INDEXED, TABLOCK, 0, "", "W:one_stream N:readers_blocked"},
    {0, 0, 0, "is_read_committed_snapshot_on=0 snapshot_isolation_state=0",
     "N:readers_blocked"},
    {0, 0, 0, "is_read_committed_snapshot_on=1", "W:readers_blocked"},
    {0, 0, 0, "snapshot_isolation_state=1", "W:readers_blocked"},
    {0, 0, 0, "snapshot_isolation_state=2", "N:readers_blocked"},
    {0, HINT_NONE, 0, "is_read_committed_snapshot_on=1", ""},
    /* indexes */
    {INDEXED, 0, 0, "nonclustered_indexes=3 nonclustered_index=ix",
     "W:nonclustered_indexes"},
    {INDEXED, 0, 0, "nonclustered_indexes=0", ""},
    {IN_MEMORY, 0, 0, "nonclustered_indexes=1", "N:memory_optimized"},
    {CLUSTERED, 0, 0, "table_rows=0 key_column=id", "W:clustered_empty"},
    {CLUSTERED, 0, 0, "table_rows=9", "N:clustered_filled"},
    {CLUSTERED, TRUNCATE, 0, "table_rows=9 may_alter=1", "W:clustered_empty"},
    {CLUSTERED, 0, 0, "", ""},
    /* batches */
    {0, HINT_NONE, 9999, "", "W:small_batches"},
    {0, HINT_NONE, 10000, "", ""},
    {CLUSTERED, 0, 100, "", ""},
    {COLUMNSTORE, 0, 102399, "clustered_columnstores=1", "W:columnstore_small_batches"},
    {COLUMNSTORE, 0, 102400, "clustered_columnstores=1", ""},
    {COLUMNSTORE, 0, 0, "clustered_columnstores=1", ""},
    {COLUMNSTORE, 0, 500, "nonclustered_columnstores=1",
     "W:columnstore_small_batches W:small_batches"},
    {COLUMNSTORE, 0, 0, "clustered_columnstores=1 partitions=12",
     "W:columnstore_partitions"},
    {COLUMNSTORE, 0, 0, "clustered_columnstores=1 partitions=1", ""},
    {COLUMNSTORE, TABLOCK, 0, "clustered_columnstores=1",
     "W:columnstore_tablock N:readers_blocked"},
    /* log */
    {0, 0, 0, "recovery_model=FULL", "W:recovery_full N:readers_blocked"},
    {0, HINT_NONE, 0, "recovery_model=FULL", "N:recovery_full"},
    {0, 0, 0, "recovery_model=SIMPLE", "N:readers_blocked"},
    {0, 0, 0, "recovery_model=BULK_LOGGED", "N:readers_blocked"},
    {0, 0, 0, "recovery_model=FULL engine_edition=5",
     "N:recovery_full N:readers_blocked"},
    {COLUMNSTORE, 0, 0, "clustered_columnstores=1 recovery_model=FULL",
     "W:recovery_full"},
    {INDEXED, 0, 0, "recovery_model=FULL", "N:recovery_full"},
    /* compression */
    {INDEXED, 0, 0, "compression=1", "N:compression"},
    {INDEXED, 0, 0, "compression=2", "W:compression"},
    {CLUSTERED, 0, 0, "compression=2", "W:compression"},
    {INDEXED, 0, 0, "compression=0", ""},
    /* the rest */
    {0, HINT_NONE, 0, "is_view=1", "N:view"},
    {IN_MEMORY, 0, 50, "", "N:memory_optimized"},
};

static const char *codes(const struct fr_finding *found, size_t n, char *out,
                         size_t out_bytes)
{
    size_t used = 0;

    *out = '\0';
    for (size_t i = 0; i < n; i++)
        used +=
            (size_t)snprintf(out + used, out_bytes - used, "%s%c:%s", i == 0 ? "" : " ",
                             "EWN"[found[i].severity], found[i].code);
    return out;
}

static size_t judge(struct scene *s, const char *facts, struct fr_preflight *p,
                    struct fr_finding found[FR_MAX_FINDINGS])
{
    static struct fr_facts f;
    static struct fr_hints hints;
    struct fr_err err = {.text = ""};
    char refused[FR_ERR_TEXT_BYTES];
    size_t n;

    ck_assert_int_eq(ask(facts, s, &f, refused, &err), FR_OK);
    ck_assert_msg(fr_hints_make(&s->options, &s->table, s->engine->abilities, &hints,
                                &err) == FR_OK,
                  "%s", err.text);
    p->table = &s->table;
    p->options = &s->options;
    p->hints = &hints;
    p->engine = s->engine;
    p->facts = &f;
    n = fr_preflight_judge(p, found);
    fr_hints_free(&hints);
    return n;
}

START_TEST(test_findings)
{
    static struct fr_finding found[FR_MAX_FINDINGS];
    struct scene s;
    struct fr_preflight p = {.streams = 4, .tasks = 4, .reject_free_bytes = -1};
    char got[1000];
    size_t n;

    set_scene(&s, judge_cases[_i].table, judge_cases[_i].options);
    if (judge_cases[_i].batch_rows > 0)
        s.options.batch_rows = judge_cases[_i].batch_rows;
    n = judge(&s, judge_cases[_i].facts, &p, found);
    ck_assert_msg(strcmp(codes(found, n, got, sizeof got), judge_cases[_i].want) == 0,
                  "case %d: \"%s\", expected \"%s\"", _i, got, judge_cases[_i].want);
    /* each names what it costs and a way out */
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(found[i].message[0] != '\0' && found[i].cure[0] != '\0', "%s",
                      found[i].code);
        ck_assert_msg(strlen(found[i].message) < FR_FINDING_TEXT_BYTES - 200 &&
                          strlen(found[i].cure) < FR_FINDING_TEXT_BYTES - 200,
                      "%s is nearly cut", found[i].code);
    }
}
END_TEST

static const struct {
    int64_t free_bytes, max_errors, tasks;
    bool found;
} space_cases[] = {
    {-1, INT64_MAX - 1, 1, false},
    {4096, 0, 1, false},
    {4095, 0, 1, true},
    {4096, 0, 2, true},
    {409600, 99, 1, false},
    {409600, 100, 1, true},
    {INT64_MAX - 1, 1000, 96, false},
    {1000000000, INT64_MAX - 1, 1, true},
};

START_TEST(test_space_for_rejects)
{
    static struct fr_finding found[FR_MAX_FINDINGS];
    struct scene s;
    struct fr_preflight p = {.streams = 1,
                             .tasks = space_cases[_i].tasks,
                             .reject_free_bytes = space_cases[_i].free_bytes};
    char got[1000];
    size_t n;

    set_scene(&s, INDEXED, 0);
    s.options.error_file = TEXT("bad");
    s.options.max_errors = space_cases[_i].max_errors;
    n = judge(&s, "", &p, found);
    ck_assert_str_eq(codes(found, n, got, sizeof got),
                     space_cases[_i].found ? "W:reject_space" : "");
}
END_TEST

START_TEST(test_key_is_named)
{
    static struct fr_finding found[FR_MAX_FINDINGS];
    struct scene s;
    struct fr_preflight p = {.streams = 1, .tasks = 1, .reject_free_bytes = -1};

    set_scene(&s, CLUSTERED, 0);
    ck_assert_uint_eq(judge(&s, "table_rows=0 key_column=a key_column=b", &p, found), 1);
    ck_assert_msg(strstr(found[0].cure, "ORDER ([a], [b])") != NULL, "%s", found[0].cure);
    ck_assert(!fr_finding_ends_load(&found[0]));
    ck_assert_uint_eq(judge(&s, "may_insert=0 login_name=etl", &p, found), 1);
    ck_assert(fr_finding_ends_load(&found[0]));
    ck_assert_ptr_nonnull(strstr(found[0].message, "login etl may not INSERT"));
}
END_TEST

START_TEST(test_indexes_of_babelfish)
{
    static struct fr_finding found[FR_MAX_FINDINGS];
    struct scene s;
    struct fr_preflight p = {.streams = 1, .tasks = 1, .reject_free_bytes = -1};

    set_scene(&s, INDEXED, 0);
    ck_assert_uint_eq(judge(&s, "nonclustered_indexes=1", &p, found), 1);
    ck_assert_ptr_nonnull(strstr(found[0].cure, "disable-indexes"));
    ck_assert_uint_eq(
        judge(&s, "nonclustered_indexes=1 babelfish_version=4.3", &p, found), 1);
    ck_assert_ptr_nonnull(strstr(found[0].cure, "DROP INDEX"));
}
END_TEST

START_TEST(test_unchecked_constraints_of_babelfish)
{
    static struct fr_finding found[FR_MAX_FINDINGS];
    struct scene s;
    struct fr_preflight p = {.streams = 1, .tasks = 1, .reject_free_bytes = -1};

    set_scene(&s, CHECKED, NO_CHECK);
    ck_assert_uint_ge(judge(&s, "may_alter=1", &p, found), 1);
    ck_assert_str_eq(found[0].code, "constraints_untrusted");
    ck_assert_ptr_nonnull(strstr(found[0].cure, "check-constraints"));
    ck_assert_uint_ge(judge(&s, "may_alter=1 babelfish_version=4.3", &p, found), 1);
    ck_assert_str_eq(found[0].code, "constraints_untrusted");
    ck_assert_ptr_nonnull(strstr(found[0].message, "neither notes"));
    ck_assert_ptr_null(strstr(found[0].cure, "check-constraints"));
}
END_TEST

static const char *roles, *is_babelfish;

static fr_status answer_roles(struct fr_sql *s, const char *sql, fr_sql_row_fn row,
                              void *ctx, int64_t *affected, struct fr_err *err)
{
    static const char *const names[] = {"", ""};
    const char *values[] = {roles, is_babelfish};
    const size_t lengths[] = {1, 1};
    struct fr_sql_row r = {
        .columns = 2, .names = names, .values = values, .lengths = lengths};

    (void)s;
    (void)affected;
    ck_assert_ptr_nonnull(strstr(sql, "SERVERPROPERTY('Babelfish')"));
    return row(ctx, &r, err);
}

static const struct {
    bool wanted;
    const char *roles, *is_babelfish;
    fr_status st;
    bool may;
} grant_cases[] = {
    {false, NULL, NULL, FR_OK, false}, {false, "5", NULL, FR_OK, true},
    {true, NULL, NULL, FR_OK, true},   {false, NULL, "1", FR_OK, false},
    {false, "5", "1", FR_OK, false},   {true, "5", "1", FR_EARG, false},
};

START_TEST(test_roles_are_granted)
{
    static const struct fr_sql_ops ops = {.run = answer_roles};
    struct fr_sql session = {.ops = &ops};
    struct fr_err err = {.text = ""};
    bool may = !grant_cases[_i].may;

    roles = grant_cases[_i].roles;
    is_babelfish = grant_cases[_i].is_babelfish;
    ck_assert_int_eq(fr_script_may_grant(&session, grant_cases[_i].wanted, &may, &err),
                     grant_cases[_i].st);
    ck_assert_int_eq(may, grant_cases[_i].may);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("preflight");
    TCase *tc = tcase_create("what a load will meet");

    tcase_add_loop_test(tc, test_hint_is_chosen, 0, COUNT_OF(hint_cases));
    tcase_add_test(tc, test_facts_are_asked_at_once);
    tcase_add_test(tc, test_key_is_whole_or_unknown);
    tcase_add_test(tc, test_refused_facts_are_unknown);
    tcase_add_loop_test(tc, test_findings, 0, COUNT_OF(judge_cases));
    tcase_add_loop_test(tc, test_space_for_rejects, 0, COUNT_OF(space_cases));
    tcase_add_test(tc, test_key_is_named);
    tcase_add_test(tc, test_indexes_of_babelfish);
    tcase_add_test(tc, test_unchecked_constraints_of_babelfish);
    tcase_add_loop_test(tc, test_roles_are_granted, 0, COUNT_OF(grant_cases));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
