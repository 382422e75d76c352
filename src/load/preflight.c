/*
 * The findings of a preflight: a table of rules, each a function of facts and options.
 *
 * What the rules know of the server is BACKGROUND's: what makes bulk load fast, and which
 * rights INSERT BULK needs.
 */
#include "load/preflight_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A columnstore compresses batches from here on (per partition and stream); a batch takes
 * fresh extents of a heap since 2016. */
enum { COLUMNSTORE_MIN_ROWS = 102400, HEAP_MIN_ROWS = 10000 };
enum { AZURE_SQL_DATABASE = 5, MANAGED_INSTANCE = 8, PAGE_COMPRESSION = 2 };
/* A reject and what FILE.json says of it: what is allowed for each. */
enum { REJECT_BYTES = 4096 };

const char *const fr_severity_names[] = {"error", "warning", "note"};

void preflight_say(char *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(out, FR_FINDING_TEXT_BYTES, fmt, ap);
    va_end(ap);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static bool is_heap(preflight p)
{
    return !p->table->is_clustered && p->facts->clustered_columnstores <= 0 &&
           !p->table->is_memory_optimized && p->facts->is_view <= 0;
}

static bool is_columnstore(preflight p)
{
    return p->facts->clustered_columnstores > 0;
}

/* When the load begins. */
static bool is_empty(preflight p)
{
    return p->options->truncate || p->facts->table_rows == 0;
}

/* It says FULL of every database and takes no notice of TABLOCK. */
static bool on_babelfish(preflight p)
{
    return p->facts->babelfish_version[0] != '\0';
}

static bool on_azure(preflight p)
{
    return p->facts->engine_edition == AZURE_SQL_DATABASE ||
           p->facts->engine_edition == MANAGED_INSTANCE;
}

/* ---- what cannot be ---- */

static bool find_several_hints(preflight p, struct fr_finding *f)
{
    const struct fr_bulk_options *b = &p->hints->options;

    if ((p->engine->abilities & FR_BULK_ALL_HINTS) != 0 ||
        b->check_constraints + b->fire_triggers + b->keep_nulls < 2)
        return false;
    preflight_say(f->message,
                  "the bcp engine carries one hint of CHECK_CONSTRAINTS, FIRE_TRIGGERS "
                  "and KEEP_NULLS, and this load needs several");
    preflight_say(f->cure, "--engine wire");
    return true;
}

/* ---- what it costs ---- */

static bool find_indexes(preflight p, struct fr_finding *f)
{
    int64_t n = p->facts->nonclustered_indexes;

    if (n <= 0 || p->table->is_memory_optimized)
        return false;
    preflight_say(f->message,
                  "%" PRId64
                  " nonclustered index%s (%s%s): each row is logged and sorted into "
                  "%s besides the table",
                  n, n == 1 ? "" : "es", p->facts->nonclustered_index,
                  n == 1 ? "" : ", ...", n == 1 ? "it" : "each");
    preflight_say(
        f->cure,
        on_babelfish(p)
            ? "for a large load, DROP INDEX before and CREATE INDEX after it"
            : "for a large load, the ready-made phases disable-indexes before and "
              "rebuild-indexes after it, in a run file (fullrack.json(5))");
    return true;
}

static bool find_one_stream(preflight p, struct fr_finding *f)
{
    if (!p->hints->options.tablock || p->table->index_count == 0 || is_columnstore(p))
        return false;
    preflight_say(f->message,
                  "TABLOCK on a table with an index lets one load at a time in%s",
                  p->streams > 1 ? ": the other workers wait" : "");
    preflight_say(f->cure, "%s",
                  p->streams > 1 ? "leave --hint out, or use --max-per-table 1 with "
                                   "it, so that workers do not wait"
                                 : "leave --hint out where several loads go on");
    return true;
}

static bool find_untrusted(preflight p, struct fr_finding *f)
{
    if (!p->options->no_check || !preflight_has_constraints(p))
        return false;
    if (on_babelfish(p)) {
        preflight_say(f->message,
                      "--no-check passes %" PRId64
                      " CHECK and foreign key constraint%s by, and this "
                      "server neither notes that nor checks them later",
                      p->table->constraints_enabled,
                      plural(p->table->constraints_enabled));
        preflight_say(f->cure,
                      "without --no-check, or a query after the load that looks for what "
                      "breaks them");
        return true;
    }
    preflight_say(f->message,
                  "--no-check passes %" PRId64
                  " CHECK and foreign key constraint%s by: they become "
                  "untrusted, which costs plans and forbids SWITCH",
                  p->table->constraints_enabled, plural(p->table->constraints_enabled));
    preflight_say(f->cure,
                  "the ready-made phase check-constraints after the load (run file), or "
                  "ALTER TABLE %s WITH CHECK CHECK CONSTRAINT ALL",
                  p->table->quoted);
    return true;
}

static bool find_checked(preflight p, struct fr_finding *f)
{
    if (p->options->no_check || !preflight_has_constraints(p))
        return false;
    if (p->facts->foreign_keys > 0)
        preflight_say(f->message,
                      "%" PRId64 " CHECK and %" PRId64
                      " foreign key constraint%s honoured: each "
                      "row is checked, and looked up in each referenced table",
                      p->facts->check_constraints, p->facts->foreign_keys,
                      p->table->constraints_enabled == 1 ? " is" : "s are");
    else
        preflight_say(f->message,
                      "%" PRId64 " CHECK constraint%s honoured: each row is checked",
                      p->table->constraints_enabled,
                      p->table->constraints_enabled == 1 ? " is" : "s are");
    preflight_say(
        f->cure, "--no-check, and the ready-made phase check-constraints after the load, "
                 "checks all rows at once");
    return true;
}

static bool find_triggers(preflight p, struct fr_finding *f)
{
    if (!preflight_has_triggers(p))
        return false;
    if (p->options->no_check) {
        preflight_say(f->message, "--no-check passes %" PRId64 " INSERT trigger%s by",
                      p->table->triggers_enabled, plural(p->table->triggers_enabled));
        preflight_say(f->cure, "leave it out where the trigger's work is needed");
        f->severity = FR_FINDING_NOTE;
        return true;
    }
    preflight_say(f->message,
                  "%" PRId64
                  " INSERT trigger%s: fired once a batch with all its rows, which are "
                  "logged in full and kept in tempdb's version store; no TABLOCK",
                  p->table->triggers_enabled, plural(p->table->triggers_enabled));
    preflight_say(f->cure,
                  "--no-check passes triggers by; DISABLE TRIGGER in a phase before the "
                  "load (run file)");
    return true;
}

/* Where anything could be logged minimally. */
static bool could_log_little(preflight p)
{
    return p->options->stage || (is_heap(p) && p->hints->options.tablock) ||
           is_columnstore(p) || (p->table->is_clustered && is_empty(p));
}

static bool find_recovery(preflight p, struct fr_finding *f)
{
    if (strcmp(p->facts->recovery_model, "FULL") != 0 || on_babelfish(p))
        return false;
    if (on_azure(p)) {
        preflight_say(f->message,
                      "the service keeps recovery model FULL: every row is logged, and "
                      "the log rate of the tier is the limit of all streams together");
        preflight_say(f->cure,
                      "a higher service tier for the time of the load; a clustered "
                      "columnstore logs compressed row groups");
        f->severity = FR_FINDING_NOTE;
        return true;
    }
    preflight_say(f->message,
                  "recovery model FULL: every row is logged in full, by every stream "
                  "into one log");
    preflight_say(
        f->cure, "the ready-made phases set-recovery (BULK_LOGGED) before and "
                 "restore-recovery after the load, in a run file; log backups go on, but "
                 "none that holds the load restores to a point within it");
    if (!could_log_little(p))
        f->severity = FR_FINDING_NOTE;
    return true;
}

static bool find_compression(preflight p, struct fr_finding *f)
{
    bool is_page = p->facts->compression == PAGE_COMPRESSION;

    if (p->facts->compression <= 0)
        return false;
    if (is_page && is_heap(p) && !p->hints->options.tablock) {
        preflight_say(f->message,
                      "a heap with PAGE compression, loaded without TABLOCK: its new "
                      "pages get ROW compression only");
        preflight_say(f->cure,
                      "ALTER TABLE %s REBUILD after the load, or TABLOCK where "
                      "readers can wait",
                      p->table->quoted);
        return true;
    }
    preflight_say(f->message,
                  "%s compression: the server compresses every %s while it loads, at "
                  "the cost of its CPU",
                  is_page ? "PAGE" : "ROW", is_page ? "page" : "row");
    preflight_say(f->cure,
                  "where CPU is the limit: load without compression and rebuild with it");
    f->severity = is_page ? FR_FINDING_WARNING : FR_FINDING_NOTE;
    return true;
}

static bool has_columnstore(preflight p)
{
    return is_columnstore(p) || p->facts->nonclustered_columnstores > 0;
}

static bool find_delta_stores(preflight p, struct fr_finding *f)
{
    int64_t rows = p->options->batch_rows;

    if (!has_columnstore(p) || rows <= 0 || rows >= COLUMNSTORE_MIN_ROWS)
        return false;
    preflight_say(f->message,
                  "-b %" PRId64
                  " into a columnstore: batches below %d rows go to delta stores, "
                  "uncompressed and logged row by row",
                  rows, (int)COLUMNSTORE_MIN_ROWS);
    preflight_say(f->cure, "-b auto (1048576 rows, a whole row group)");
    return true;
}

static bool find_partitions(preflight p, struct fr_finding *f)
{
    if (!has_columnstore(p) || p->facts->partitions <= 1)
        return false;
    preflight_say(
        f->message,
        "%" PRId64 " partitions of a columnstore: each partition of each stream needs "
        "%d rows of a batch to be compressed, and a memory grant of its own (%" PRId64
        " partitions x %" PRId64 " stream%s)",
        p->facts->partitions, (int)COLUMNSTORE_MIN_ROWS, p->facts->partitions, p->streams,
        plural(p->streams));
    preflight_say(f->cure,
                  "files that hold one partition each; fewer workers where streams wait "
                  "for memory (RESOURCE_SEMAPHORE)");
    return true;
}

static bool find_columnstore_lock(preflight p, struct fr_finding *f)
{
    if (!is_columnstore(p) || !p->hints->options.tablock)
        return false;
    preflight_say(f->message,
                  "TABLOCK on a clustered columnstore: streams wait for one another");
    preflight_say(f->cure,
                  "leave --hint out: row groups are filled side by side without it");
    return true;
}

static bool find_memory_optimized(preflight p, struct fr_finding *f)
{
    if (!p->table->is_memory_optimized)
        return false;
    preflight_say(f->message,
                  "a memory-optimized table: no TABLOCK and no minimal logging; rows "
                  "and all versions stay in memory, and work goes on at SNAPSHOT");
    preflight_say(f->cure, "smaller batches (-b 100000) let memory of old versions go");
    return true;
}

static bool find_blocked_readers(preflight p, struct fr_finding *f)
{
    bool versions = p->facts->is_read_committed_snapshot_on > 0 ||
                    p->facts->snapshot_isolation_state == 1;

    /* rows of --stage come by INSERT ... SELECT, WITH (TABLOCK) where there is no index
     */
    if (!p->hints->options.tablock || p->table->is_memory_optimized || on_babelfish(p) ||
        (p->options->stage && p->table->index_count > 0))
        return false;
    preflight_say(
        f->message, "TABLOCK keeps all readers of the table out until a batch commits%s",
        versions ? ", those with row versions (the database has them) and NOLOCK too"
                 : "");
    preflight_say(f->cure,
                  "--hint none where the table is read during the load (logged in full); "
                  "or load a table of its own and SWITCH it in");
    f->severity = versions ? FR_FINDING_WARNING : FR_FINDING_NOTE;
    return true;
}

static bool find_small_batches(preflight p, struct fr_finding *f)
{
    int64_t rows = p->options->batch_rows;

    if ((!is_heap(p) && !p->options->stage) || rows <= 0 || rows >= HEAP_MIN_ROWS)
        return false;
    preflight_say(f->message,
                  "-b %" PRId64
                  " into a heap: each batch is a transaction and takes fresh extents "
                  "(SQL Server 2016 and later), so that small ones waste space",
                  rows);
    preflight_say(f->cure, "-b auto, or %d rows and more", (int)HEAP_MIN_ROWS);
    return true;
}

static bool find_empty_clustered(preflight p, struct fr_finding *f)
{
    const char *key = p->facts->clustered_key;

    if (!p->table->is_clustered || !is_empty(p) || p->hints->options.order != NULL)
        return false;
    preflight_say(f->message,
                  "an empty clustered index, loaded without ORDER: rows are sorted by "
                  "the server and logged in full");
    preflight_say(
        f->cure,
        "where one file is sorted by the key: --hint 'TABLOCK, ORDER (%s)', one stream; "
        "or load a heap and make the index afterwards",
        key[0] == '\0' ? "its key" : key);
    return true;
}

static bool find_filled_clustered(preflight p, struct fr_finding *f)
{
    if (!p->table->is_clustered || is_empty(p) || p->facts->table_rows < 0)
        return false;
    preflight_say(
        f->message,
        "a clustered index with %" PRId64 " rows: only new pages are logged minimally "
        "(SQL Server 2016 and later), and streams with the same key ranges split pages "
        "and wait for one another",
        p->facts->table_rows);
    preflight_say(f->cure,
                  "files whose key ranges lie apart, each sorted by the key; or load an "
                  "empty table and SWITCH it in");
    return true;
}

static bool find_reject_space(preflight p, struct fr_finding *f)
{
    int64_t limit = INT64_MAX / REJECT_BYTES / 2, rows = p->options->max_errors + 1;
    int64_t tasks = p->tasks < 1 ? 1 : p->tasks, needed;

    if (p->reject_free_bytes < 0)
        return false;
    needed = rows > limit / tasks ? INT64_MAX : rows * tasks * REJECT_BYTES;
    if (p->reject_free_bytes >= needed)
        return false;
    preflight_say(
        f->message,
        "-e %s: %" PRId64 " MB are free there, and -m %" PRId64 " lets %" PRId64
        " task%s reject more than that holds (4 KB a row); a full disk fails them",
        p->options->error_file, p->reject_free_bytes / 1000000, p->options->max_errors,
        tasks, plural(tasks));
    preflight_say(f->cure, "another file system, or a smaller -m");
    return true;
}

static bool find_view(preflight p, struct fr_finding *f)
{
    if (p->facts->is_view <= 0)
        return false;
    preflight_say(f->message,
                  "a view: what its table has of indexes, constraints and triggers is "
                  "not looked at");
    preflight_say(f->cure, "load the table itself");
    return true;
}

static bool find_ledger_off(preflight p, struct fr_finding *f)
{
    if (preflight_keeps_ledger(p))
        return false;
    preflight_say(f->message,
                  "--ledger off: rows of a task that is tried again may be loaded twice");
    preflight_say(f->cure,
                  "leave it out where a table may be made in the target database");
    return true;
}

static bool find_bcp_lock(preflight p, struct fr_finding *f)
{
    if ((p->engine->abilities & FR_BULK_ALL_HINTS) != 0 || p->hints->options.tablock ||
        p->options->hint != NULL || p->table->index_count > 0 ||
        p->hints->options.fire_triggers || p->facts->is_view > 0)
        return false;
    preflight_say(f->message, "no TABLOCK, so no minimal logging: %s", p->hints->why);
    preflight_say(f->cure, "--engine wire carries all hints");
    return true;
}

static bool find_staged(preflight p, struct fr_finding *f)
{
    if (!p->options->stage)
        return false;
    preflight_say(
        f->message,
        "--stage: unless they can be switched in, rows are written twice, and the "
        "log holds all of them while one transaction brings them in");
    preflight_say(f->cure, "without it, where the table may be seen half loaded");
    return true;
}

static const struct rule {
    const char *code;
    enum fr_severity severity; /* unless the rule says another */
    bool (*find)(preflight p, struct fr_finding *f);
    bool is_direct; /* of bulk copy into the table: not of --stage, which copies beside it
                     */
} rules[] = {
    {"no_insert_right", FR_FINDING_ERROR, preflight_find_no_insert, false},
    {"no_select_right", FR_FINDING_ERROR, preflight_find_no_select, false},
    {"no_alter_right", FR_FINDING_ERROR, preflight_find_no_alter, false},
    {"no_bulk_right", FR_FINDING_ERROR, preflight_find_no_bulk, true},
    {"no_ledger_right", FR_FINDING_ERROR, preflight_find_no_ledger, false},
    {"no_stage_right", FR_FINDING_ERROR, preflight_find_no_stage, false},
    {"no_reject_table_right", FR_FINDING_ERROR, preflight_find_no_rejects, false},
    {"reject_table_shape", FR_FINDING_ERROR, preflight_find_reject_shape, false},
    {"bcp_several_hints", FR_FINDING_ERROR, find_several_hints, true},
    {"nonclustered_indexes", FR_FINDING_WARNING, find_indexes, false},
    {"one_stream", FR_FINDING_WARNING, find_one_stream, true},
    {"constraints_untrusted", FR_FINDING_WARNING, find_untrusted, true},
    {"constraints_checked", FR_FINDING_NOTE, find_checked, false},
    {"insert_triggers", FR_FINDING_WARNING, find_triggers, false},
    {"recovery_full", FR_FINDING_WARNING, find_recovery, false},
    {"compression", FR_FINDING_WARNING, find_compression, false},
    {"columnstore_small_batches", FR_FINDING_WARNING, find_delta_stores, true},
    {"columnstore_partitions", FR_FINDING_WARNING, find_partitions, true},
    {"columnstore_tablock", FR_FINDING_WARNING, find_columnstore_lock, true},
    {"memory_optimized", FR_FINDING_NOTE, find_memory_optimized, true},
    {"readers_blocked", FR_FINDING_WARNING, find_blocked_readers, false},
    {"small_batches", FR_FINDING_WARNING, find_small_batches, false},
    {"clustered_empty", FR_FINDING_WARNING, find_empty_clustered, true},
    {"clustered_filled", FR_FINDING_NOTE, find_filled_clustered, true},
    {"bcp_no_tablock", FR_FINDING_WARNING, find_bcp_lock, true},
    {"reject_space", FR_FINDING_WARNING, find_reject_space, false},
    {"view", FR_FINDING_NOTE, find_view, true},
    {"staged", FR_FINDING_NOTE, find_staged, false},
    {"ledger_off", FR_FINDING_NOTE, find_ledger_off, false},
};
enum { RULES = sizeof rules / sizeof rules[0] };
_Static_assert((int)RULES <= (int)FR_MAX_FINDINGS, "there is a place for each rule");

bool fr_finding_ends_load(const struct fr_finding *f)
{
    bool is_right = strncmp(f->code, "no_", 3) == 0 && strstr(f->code, "_right") != NULL;

    return f->severity == FR_FINDING_ERROR &&
           (is_right || strcmp(f->code, "reject_table_shape") == 0);
}

size_t fr_preflight_judge(const struct fr_preflight *p,
                          struct fr_finding out[FR_MAX_FINDINGS])
{
    struct fr_finding found;
    size_t n = 0;

    for (int severity = FR_FINDING_ERROR; severity <= FR_FINDING_NOTE; severity++)
        for (size_t i = 0; i < RULES; i++) {
            found =
                (struct fr_finding){.code = rules[i].code, .severity = rules[i].severity};
            if ((rules[i].is_direct && p->options->stage) || !rules[i].find(p, &found))
                continue;
            /* Babelfish answers for rights of its own, not always those that count */
            if (found.severity == FR_FINDING_ERROR && fr_finding_ends_load(&found) &&
                on_babelfish(p))
                found.severity = FR_FINDING_WARNING;
            if ((int)found.severity == severity)
                out[n++] = found;
        }
    return n;
}
