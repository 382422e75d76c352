/* The phases of a run file: SQL that is run before or after a table's loads. */
#include "config/runfile_priv.h"

#include "base/text_file.h"
#include "config/nearest.h"
#include "config/variables.h"
#include "db/statements.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LABEL_BYTES = 64 };

/* What fullrack itself knows of a phase. */
static const char *const own_names[] = {"DATABASE", "TABLE", NULL};

struct known {
    json_t *variables;
    const char *values[sizeof own_names / sizeof own_names[0] - 1];
};

static bool is_name(const char *name, size_t n, const char *known)
{
    return strlen(known) == n && strncasecmp(known, name, n) == 0;
}

static bool find_variable(void *ctx, const char *name, size_t n, struct fr_variable *out)
{
    const struct known *k = ctx;
    const char *key;
    json_t *v;

    for (size_t i = 0; own_names[i] != NULL; i++)
        if (is_name(name, n, own_names[i])) {
            *out = (struct fr_variable){.value = k->values[i], .is_quoted = true};
            return true;
        }
    json_object_foreach(k->variables, key, v) if (is_name(name, n, key))
    {
        *out = (struct fr_variable){.value = json_string_value(v)};
        return true;
    }
    return false;
}

fr_status fr_run_phase_expand(const struct fr_run_phase *p, const char *table,
                              const char *database, struct fr_buf *out,
                              struct fr_err *err)
{
    struct known k = {.variables = p->variables, .values = {database, table}};
    fr_status st = fr_variables_replace(p->sql, find_variable, &k, out, err);

    return st == FR_OK ? FR_OK : fr_err_wrap(err, "%s", p->label);
}

/* How a statement begins, on one line. */
static char *label_of_text(const char *sql)
{
    char label[LABEL_BYTES];
    size_t n = 0;
    bool cut = false;

    for (sql += strspn(sql, " \t\r\n"); *sql != '\0' && !cut; sql++) {
        bool blank = isspace((unsigned char)*sql) != 0;

        if (blank && (isspace((unsigned char)sql[1]) || sql[1] == '\0'))
            continue;
        cut = n == sizeof label - 4;
        if (!cut)
            label[n++] = blank ? ' ' : *sql;
    }
    /* not within a character */
    while (cut && n > 0 && ((unsigned char)label[n - 1] & 0x80) != 0)
        n--;
    memcpy(label + n, cut ? "..." : "", cut ? 4 : 1);
    return strdup(label);
}

static void read_script(struct checker *c, const char *path,
                        const struct fr_json_path *at, struct fr_run_phase *p)
{
    const char *slash = strrchr(path, '/');
    char *whole = path_from(c, path);
    struct fr_err why;

    p->label = strdup(slash == NULL ? path : slash + 1);
    if (whole == NULL)
        c->no_memory = true;
    else if (fr_text_file_read(whole, FR_PHASE_MAX_BYTES, &p->sql, &why) != FR_OK)
        fr_document_blame(c->d, at, "%s", why.text);
    free(whole);
}

static void take_sql(struct checker *c, const char *sql, const struct fr_json_path *at,
                     struct fr_run_phase *p)
{
    if (strlen(sql) > FR_PHASE_MAX_BYTES)
        fr_document_blame(c->d, at, "a phase has at most %d KiB of SQL",
                          FR_PHASE_MAX_BYTES >> 10);
    p->sql = strdup(sql);
    p->label = label_of_text(sql);
}

static void take_variable(struct checker *c, json_t *v, const struct fr_json_path *at,
                          struct fr_run_phase *p)
{
    char number[32];

    for (size_t i = 0; own_names[i] != NULL; i++)
        if (is_name(at->key, strlen(at->key), own_names[i]))
            fr_document_blame_key(c->d, at, "$(%s) is known already: it is the phase's",
                                  own_names[i]);
    if (json_is_integer(v)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
        json_object_set_new(p->variables, at->key, json_string(number));
    } else if (json_is_string(v)) {
        json_object_set(p->variables, at->key, v);
    } else {
        fr_document_blame(c->d, at,
                          "a variable's value is a text or a whole number, not %s",
                          fr_json_kind(v));
    }
}

static void take_variables(struct checker *c, json_t *v, const struct fr_json_path *at,
                           struct fr_run_phase *p)
{
    const char *key;
    json_t *value;

    p->variables = json_object();
    if (p->variables == NULL)
        c->no_memory = true;
    else if (!json_is_object(v))
        fr_document_blame(c->d, at, "\"variables\" is an object, not %s",
                          fr_json_kind(v));
    else
        json_object_foreach(v, key, value)
        {
            struct fr_json_path inner = {.parent = at, .key = key};

            take_variable(c, value, &inner, p);
        }
}

static void take_file(struct checker *c, json_t *v, const struct fr_json_path *at,
                      struct fr_run_phase *p)
{
    const char *path = check_text(c, v, at, "a phase's \"file\"");

    if (path != NULL && p->sql == NULL)
        read_script(c, path, at, p);
}

static void take_text(struct checker *c, json_t *v, const struct fr_json_path *at,
                      struct fr_run_phase *p)
{
    const char *sql = check_text(c, v, at, "a phase's SQL");

    if (sql != NULL && p->sql == NULL)
        take_sql(c, sql, at, p);
}

/* Ready-made ones; sorted by name. */
static const struct {
    const char *name, *sql;
} ready_made[] = {
    {"check-constraints", fr_phase_check_constraints},
    {"disable-indexes", fr_phase_disable_indexes},
    {"rebuild-indexes", fr_phase_rebuild_indexes},
    {"restore-recovery", fr_phase_restore_recovery},
    {"set-recovery", fr_phase_set_recovery},
    {"update-statistics", fr_phase_update_statistics},
};

static void take_ready_made(struct checker *c, json_t *v, const struct fr_json_path *at,
                            struct fr_run_phase *p)
{
    const char *name = check_text(c, v, at, "a ready-made \"phase\"");
    struct fr_nearest nearest;

    if (name == NULL || p->sql != NULL)
        return;
    fr_nearest_begin(&nearest, name, strlen(name));
    for (size_t i = 0; i < sizeof ready_made / sizeof ready_made[0]; i++) {
        if (strcmp(ready_made[i].name, name) == 0) {
            p->sql = strdup(ready_made[i].sql);
            p->label = strdup(name);
            return;
        }
        fr_nearest_offer(&nearest, ready_made[i].name);
    }
    fr_document_blame(c->d, at,
                      nearest.best != NULL
                          ? "there is no ready-made phase \"%s\"; did you mean \"%s\"?"
                          : "there is no ready-made phase \"%s\"",
                      name, nearest.best);
}

static const struct {
    const char *name;
    void (*take)(struct checker *c, json_t *v, const struct fr_json_path *at,
                 struct fr_run_phase *p);
} members[] = {{"file", take_file},
               {"phase", take_ready_made},
               {"sql", take_text},
               {"variables", take_variables}};

static void take_member(struct checker *c, json_t *v, const struct fr_json_path *at,
                        struct fr_run_phase *p)
{
    struct fr_nearest nearest;

    fr_nearest_begin(&nearest, at->key, strlen(at->key));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (strcmp(members[i].name, at->key) == 0) {
            members[i].take(c, v, at, p);
            return;
        }
        fr_nearest_offer(&nearest, members[i].name);
    }
    fr_document_blame_key(c->d, at,
                          nearest.best != NULL
                              ? "a phase has no \"%s\"; did you mean \"%s\"?"
                              : "a phase has no \"%s\"",
                          at->key, nearest.best);
}

static unsigned count_sources(const json_t *v)
{
    return (json_object_get(v, "file") != NULL ? 1 : 0) +
           (json_object_get(v, "sql") != NULL ? 1 : 0) +
           (json_object_get(v, "phase") != NULL ? 1 : 0);
}

static void take_object(struct checker *c, json_t *v, const struct fr_json_path *at,
                        struct fr_run_phase *p)
{
    size_t before = c->d->mistake_count;
    const char *key;
    json_t *value;

    json_object_foreach(v, key, value)
    {
        struct fr_json_path inner = {.parent = at, .key = key};

        take_member(c, value, &inner, p);
    }
    if (c->d->mistake_count == before && count_sources(v) != 1)
        fr_document_blame(c->d, at, "a phase has one of \"file\", \"sql\" and \"phase\"");
}

static void check_variables(struct checker *c, const struct fr_json_path *at,
                            const struct fr_run_phase *p)
{
    struct known k = {.variables = p->variables, .values = {"[d]", "[t]"}};
    struct fr_err why;

    if (fr_variables_replace(p->sql, find_variable, &k, NULL, &why) != FR_OK)
        fr_document_blame(c->d, at, "%s: %s", p->label, why.text);
}

struct role_of {
    struct fr_run_table *table;
    enum fr_run_role role;
};

static void take_phase(struct checker *c, json_t *v, const struct fr_json_path *at,
                       size_t index, void *ctx)
{
    const struct role_of *to = ctx;
    struct fr_run_phases *phases = &to->table->phases[to->role];
    struct fr_run_phase *p,
        *grown = realloc(phases->items, (phases->count + 1) * sizeof *grown);

    (void)index;
    if (grown == NULL) {
        c->no_memory = true;
        return;
    }
    phases->items = grown;
    p = &grown[phases->count++];
    *p = (struct fr_run_phase){0};
    if (json_is_object(v))
        take_object(c, v, at, p);
    else if (json_is_string(v))
        take_text(c, v, at, p);
    else
        fr_document_blame(c->d, at,
                          "a phase is a text of SQL or an object with a \"file\", not %s",
                          fr_json_kind(v));
    if (p->sql != NULL && p->sql[strspn(p->sql, " \t\r\n")] == '\0')
        fr_document_blame(c->d, at, "%s is empty", p->label);
    else if (p->sql != NULL)
        check_variables(c, at, p);
    /* one with a mistake is counted, too */
    if (p->sql == NULL)
        p->sql = strdup("");
    if (p->label == NULL)
        p->label = strdup("");
    c->no_memory = c->no_memory || p->sql == NULL || p->label == NULL;
}

void check_phases(struct checker *c, struct fr_run_table *t, enum fr_run_role role,
                  json_t *v, const struct fr_json_path *at)
{
    struct role_of to = {.table = t, .role = role};

    each_element(c, v, at, take_phase, &to);
}

void free_phases(struct fr_run_phases *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].label);
        free(p->items[i].sql);
        json_decref(p->items[i].variables);
    }
    free(p->items);
    *p = (struct fr_run_phases){0};
}
