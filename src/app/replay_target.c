#include "app/replay_target.h"

#include "app/lineitem.h"
#include "base/bulk.h"
#include "db/statements.h"
#include "db/table.h"
#include "load/hint.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "fullrack_replay_scheme"
#define FUNCTION "fullrack_replay_function"

enum { STATEMENT_BYTES = 8 << 20 };

const char *replay_layout_text(enum replay_layout layout)
{
    static const char *const texts[] = {
        [REPLAY_ONE] = "one table",
        [REPLAY_PARTITIONED] = "one partitioned table that all streams load into",
        [REPLAY_HEAPS] = "a heap for each file, switched into the partitions at the end"};

    return texts[layout];
}

/* ---- what is asked for ---- */

static fr_status describe(enum replay_layout layout, struct fr_table **out,
                          struct fr_err *err)
{
    static const char *const names[LINEITEM_COLUMN_COUNT] = {
        "l_orderkey",    "l_partkey",       "l_suppkey",  "l_linenumber",
        "l_quantity",    "l_extendedprice", "l_discount", "l_tax",
        "l_returnflag",  "l_linestatus",    "l_shipdate", "l_commitdate",
        "l_receiptdate", "l_shipinstruct",  "l_shipmode", "l_comment"};
    struct fr_table *t = calloc(1, sizeof *t);
    fr_status st = FR_OK;

    *out = t;
    if (t != NULL)
        t->display = strdup(REPLAY_TABLE);
    if (t == NULL || t->display == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a table");
    for (size_t i = 0; st == FR_OK && i < LINEITEM_COLUMN_COUNT; i++)
        if (fr_table_add_column(t, names[i], "int", err) == NULL)
            st = FR_ENOMEM;
    /* a heap's range */
    t->constraints_enabled = layout == REPLAY_HEAPS ? 1 : 0;
    return st;
}

fr_status replay_target_check_hint(const struct fr_load_options *o,
                                   enum replay_layout layout, struct fr_err *err)
{
    unsigned abilities = o->engine == FR_ENGINE_BCP ? 0 : FR_BULK_ALL_HINTS;
    struct fr_table *t = NULL;
    fr_status st = describe(layout, &t, err);

    if (st == FR_OK) {
        struct fr_hints hints;

        st = fr_hints_make(o, t, abilities, &hints, err);
        fr_hints_free(&hints);
    }
    fr_table_free(&t);
    return st;
}

/* -- what the server has ------------------------------------------------------------- */

static fr_status probe(struct fr_sql *s, enum replay_layout layout, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_int("@switch", layout == REPLAY_HEAPS ? 1 : 0)};
    int64_t wanted = layout == REPLAY_HEAPS ? 2 : 1, got = -1;
    fr_status st = fr_sql_run_params(s, fr_stmt_replay_probe, params, 1,
                                     fr_sql_take_last_i64, &got, err);

    if (st == FR_OK && got == wanted)
        return FR_OK;
    if (st != FR_OK && st != FR_EDB)
        return st;
    if (st == FR_EDB && !s->lost)
        (void)fr_sql_run(s, "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION", NULL, NULL, NULL);
    if (st == FR_OK)
        (void)fr_err_set(err, FR_EARG, "it puts rows into no partitions");
    fr_err_wrap(err,
                "--layout %s: nothing was made, since this server does not %s for this "
                "login",
                layout == REPLAY_HEAPS ? "heaps" : "partitioned",
                layout == REPLAY_HEAPS ? "partition tables and switch heaps into them"
                                       : "partition tables");
    if (err != NULL)
        err->status = FR_EARG;
    return FR_EARG;
}

struct group_list {
    const char *patterns;
    json_t *names; /* that are meant */
    char all[512]; /* for the message */
};

static bool is_meant(const char *patterns, const char *name)
{
    const char *at = patterns;

    for (;;) {
        size_t n = strcspn(at, ",");
        char one[FR_NAME_MAX_BYTES];

        if (n > 0 && n < sizeof one) {
            memcpy(one, at, n);
            one[n] = '\0';
            if (fnmatch(one, name, FNM_CASEFOLD) == 0)
                return true;
        }
        if (at[n] == '\0')
            return false;
        at += n + 1;
    }
}

static fr_status take_group(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct group_list *l = ctx;
    const char *name = row->values[0];
    size_t used = strlen(l->all);

    if (name == NULL)
        return fr_err_set(err, FR_EPROTO, "a filegroup has no name");
    snprintf(l->all + used, sizeof l->all - used, "%s%s", used > 0 ? ", " : "", name);
    if (l->patterns == NULL ? fr_sql_row_i64(row, 1, 0) != 0
                            : is_meant(l->patterns, name))
        json_array_append_new(l->names, json_string(name));
    return FR_OK;
}

static fr_status find_filegroups(struct fr_sql *s, const struct replay_target *t,
                                 json_t **out, struct fr_err *err)
{
    struct group_list l = {.patterns = t->filegroups, .names = json_array()};
    fr_status st = fr_sql_run(s, fr_stmt_replay_filegroups, take_group, &l, err);

    if (st == FR_OK && json_array_size(l.names) == 0)
        st = fr_err_set(err, FR_EARG,
                        "--filegroups %s: the database has no filegroup of that name; it "
                        "has: %s (sql/make_filegroups.sql makes some)",
                        t->filegroups == NULL ? "" : t->filegroups, l.all);
    if (st == FR_OK)
        *out = l.names;
    else
        json_decref(l.names);
    return st;
}

fr_status replay_target_ask(struct fr_sql *s, const struct replay_target *t,
                            json_t **filegroups, struct fr_err *err)
{
    fr_status st = FR_OK;

    *filegroups = NULL;
    if (t->layout == REPLAY_ONE)
        return t->filegroups == NULL
                   ? FR_OK
                   : fr_err_set(err, FR_EARG,
                                "--filegroups is of --layout partitioned and heaps");
    st = probe(s, t->layout, err);
    return st == FR_OK ? find_filegroups(s, t, filegroups, err) : st;
}

/* -- the table as it is -------------------------------------------------------------- */

/* *exists: what is about to be emptied, or dropped, has to be ours. */
static fr_status look_at_table(struct fr_sql *s, bool *exists, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run(s, fr_stmt_replay_table, fr_sql_take_one, &one, err);
    int64_t all = fr_sql_one_i64(&one, 0, 0), ours = fr_sql_one_i64(&one, 1, 0);

    *exists = all > 0;
    if (st == FR_OK && *exists &&
        (all != LINEITEM_COLUMN_COUNT || ours != LINEITEM_COLUMN_COUNT))
        st = fr_err_set(err, FR_EARG,
                        "the table %s is not LineItem: drop or rename it, replay makes "
                        "its own",
                        REPLAY_TABLE);
    return st;
}

struct comparing {
    const struct replay_target *target;
    const json_t *filegroups;
    size_t seen;
    bool differs;
};

static const char *group_of(const json_t *filegroups, size_t partition)
{
    return json_string_value(
        json_array_get(filegroups, partition % json_array_size(filegroups)));
}

static fr_status compare_partition(void *ctx, const struct fr_sql_row *row,
                                   struct fr_err *err)
{
    struct comparing *c = ctx;
    size_t i = c->seen++;

    (void)err;
    if (c->target->layout == REPLAY_ONE || i >= c->target->files) {
        c->differs = true;
        return FR_OK;
    }
    c->differs = c->differs || row->values[2] == NULL ||
                 strcmp(row->values[2], group_of(c->filegroups, i)) != 0 ||
                 (row->values[1] == NULL) != (i == 0) ||
                 (i > 0 && fr_sql_row_i64(row, 1, -1) != c->target->keys[i]);
    return FR_OK;
}

static fr_status is_as_wanted(struct fr_sql *s, const struct replay_target *t,
                              const json_t *filegroups, bool *yes, struct fr_err *err)
{
    struct comparing c = {.target = t, .filegroups = filegroups};
    fr_status st = fr_sql_run(s, fr_stmt_replay_layout, compare_partition, &c, err);

    /* a server whose catalog has no partitions has no partitioned table */
    if (st == FR_EDB && t->layout == REPLAY_ONE) {
        fr_err_clear(err);
        *yes = true;
        return FR_OK;
    }
    *yes = !c.differs && c.seen == (t->layout == REPLAY_ONE ? 0 : t->files);
    return st;
}

/* -- making it ----------------------------------------------------------------------- */

static bool write_function(const struct replay_target *t, struct fr_buf *sql)
{
    bool fits = fr_buf_add_str(sql, "CREATE PARTITION FUNCTION " FUNCTION
                                    " (bigint) AS RANGE RIGHT FOR VALUES (");

    for (size_t i = 1; fits && i < t->files; i++)
        fits = fr_buf_printf(sql, "%s%" PRId64, i == 1 ? "" : ", ", t->keys[i]);
    return fits && fr_buf_add_str(sql, ")");
}

static bool write_scheme(const struct replay_target *t, const json_t *filegroups,
                         struct fr_buf *sql)
{
    bool fits = fr_buf_add_str(sql, "CREATE PARTITION SCHEME " SCHEME
                                    " AS PARTITION " FUNCTION " TO (");

    for (size_t i = 0; fits && i < t->files; i++) {
        char quoted[2 * FR_NAME_MAX_BYTES + 3];

        fits = fr_name_quote(group_of(filegroups, i), quoted, sizeof quoted) &&
               fr_buf_printf(sql, "%s%s", i == 0 ? "" : ", ", quoted);
    }
    return fits && fr_buf_add_str(sql, ")");
}

/* replay_make.sql, with the scheme behind it. */
static bool write_table(struct fr_buf *sql)
{
    const char *end = strrchr(fr_stmt_replay_make, ')');

    return end != NULL &&
           fr_buf_add(sql, fr_stmt_replay_make,
                      (size_t)(end - fr_stmt_replay_make) + 1) &&
           fr_buf_add_str(sql, " ON " SCHEME " (l_orderkey)");
}

static fr_status make_partitioned(struct fr_sql *s, const struct replay_target *t,
                                  const json_t *filegroups, struct fr_err *err)
{
    struct fr_buf sql;
    fr_status st = FR_OK;

    for (int step = 0; st == FR_OK && step < 3; step++) {
        bool fits;

        fr_buf_init(&sql, STATEMENT_BYTES);
        fits = step == 0   ? write_function(t, &sql)
               : step == 1 ? write_scheme(t, filegroups, &sql)
                           : write_table(&sql);
        st = fits ? fr_sql_run(s, fr_buf_text(&sql), NULL, NULL, err)
                  : fr_err_set(err, FR_ENOMEM, "the table has too many partitions");
        fr_buf_free(&sql);
    }
    return st;
}

fr_status replay_target_make(struct fr_sql *s, const struct replay_target *t,
                             const json_t *filegroups, struct fr_err *err)
{
    bool exists = false, fits = false;
    fr_status st = look_at_table(s, &exists, err);

    if (st == FR_OK)
        st = is_as_wanted(s, t, filegroups, &fits, err);
    if (st == FR_OK && exists && fits)
        return FR_OK;
    if (st == FR_OK && (exists || t->layout != REPLAY_ONE))
        st = fr_sql_run(s, fr_stmt_replay_drop, NULL, NULL, err);
    if (st == FR_OK)
        st = t->layout == REPLAY_ONE ? fr_sql_run(s, fr_stmt_replay_make, NULL, NULL, err)
                                     : make_partitioned(s, t, filegroups, err);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "making the table %s", REPLAY_TABLE);
}
