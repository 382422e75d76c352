#include "config/runfile_priv.h"

#include "base/num.h"
#include "config/nearest.h"
#include "db/table.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 10000 };

const char *const fr_run_role_names[FR_RUN_ROLES] = {[FR_RUN_BEFORE] = "before",
                                                     [FR_RUN_AFTER] = "after",
                                                     [FR_RUN_ON_FAILURE] = "on-failure",
                                                     [FR_RUN_FINALLY] = "finally"};

/* -- kinds of values ----------------------------------------------------------------- */

const char *check_text(struct checker *c, json_t *v, const struct fr_json_path *at,
                       const char *what)
{
    const char *text = json_string_value(v);

    if (text == NULL)
        fr_document_blame(c->d, at, "%s is a text, not %s", what, fr_json_kind(v));
    else if (text[strspn(text, " \t\r\n")] == '\0')
        fr_document_blame(c->d, at, "%s is empty", what);
    else
        return text;
    return NULL;
}

void each_element(struct checker *c, json_t *v, const struct fr_json_path *at,
                  element_fn take, void *ctx)
{
    size_t i;
    json_t *element;

    if (!json_is_array(v)) {
        take(c, v, at, 0, ctx);
        return;
    }
    if (json_array_size(v) == 0)
        fr_document_blame(c->d, at, "\"%s\" is an empty list: leave it out", at->key);
    json_array_foreach(v, i, element)
    {
        struct fr_json_path inner = {.parent = at, .index = i};

        take(c, element, &inner, i, ctx);
    }
}

char *path_from(const struct checker *c, const char *path)
{
    char *whole = NULL;

    if (path[0] == '/')
        return strdup(path);
    return asprintf(&whole, "%s/%s", c->f->folder, path) < 0 ? NULL : whole;
}

/* What an option's value has to be, or NULL where it is that. */
static const char *misses(const struct option_spec *o, const json_t *v)
{
    const char *text = json_string_value(v);
    size_t i;
    json_t *element;

    switch (o->kind) {
    case OPTION_FLAG:
        return json_is_boolean(v) ? NULL : "true or false";
    case OPTION_CONSENT:
        return NULL; /* whatever it says, it is refused */
    case OPTION_LIST:
        json_array_foreach(v, i, element) if (!json_is_string(element)) return "texts";
        return json_is_array(v) || text != NULL ? NULL : "a text or a list of texts";
    case OPTION_NUMBER:
        return json_is_integer(v) ? NULL : "a whole number";
    case OPTION_NUMBER_OR_AUTO:
        return json_is_integer(v) || (text != NULL && strcmp(text, "auto") == 0)
                   ? NULL
                   : "a whole number or \"auto\"";
    case OPTION_SIZE:
        return json_is_integer(v) || text != NULL
                   ? NULL
                   : "a number of bytes, or a text like \"64M\"";
    default:
        return text != NULL ? NULL : "a text";
    }
}

/* -- options ------------------------------------------------------------------------- */

static void keep_option(struct checker *c, const struct option_spec *o, json_t *v,
                        json_t *into)
{
    char *path = NULL;

    if (o->kind == OPTION_PATH) {
        path = path_from(c, json_string_value(v));
        c->no_memory = c->no_memory || path == NULL ||
                       json_object_set_new(into, o->name, json_string(path)) != 0;
        free(path);
    } else {
        c->no_memory = c->no_memory || json_object_set(into, o->name, v) != 0;
    }
}

/* A member that an entry may have besides options. */
struct member {
    const char *name;
    void (*take)(struct checker *c, struct fr_run_table *t, json_t *v,
                 const struct fr_json_path *at);
};

static const struct member *find_member(const struct member *members, const char *name)
{
    while (members->name != NULL && strcmp(members->name, name) != 0)
        members++;
    return members->name == NULL ? NULL : members;
}

static void check_option(struct checker *c, fr_groups groups,
                         const struct member *members, const struct fr_json_path *at,
                         json_t *v, json_t *into)
{
    const struct option_spec *o = option_find(at->key, strlen(at->key), groups);
    const struct option_spec *other = option_find(at->key, strlen(at->key), FR_GROUP_ALL);
    struct fr_nearest nearest;
    char shown[64];
    struct fr_err why;

    snprintf(shown, sizeof shown, "\"%s\"", at->key);
    if (other != NULL && other->kind == OPTION_PASSWORD) {
        fr_document_blame_key(c->d, at,
                              "a run file holds no password: \"password-file\" names a "
                              "file that does (or FULLRACK_PASSWORD, or the prompt)");
    } else if (o == NULL && other != NULL && !other->hidden) {
        fr_document_blame_key(c->d, at,
                              (other->group & FR_RUN_FILE_GROUPS) != 0
                                  ? "\"%s\" is an option of the whole run: it stands "
                                    "beside \"tables\""
                                  : "\"%s\" is no option of a run file",
                              at->key);
    } else if (o == NULL) {
        fr_nearest_begin(&nearest, at->key, strlen(at->key));
        for (size_t i = 0; i < option_count; i++)
            if ((option_table[i].group & groups) != 0 && !option_table[i].hidden)
                fr_nearest_offer(&nearest, option_table[i].name);
        for (; members->name != NULL; members++)
            fr_nearest_offer(&nearest, members->name);
        fr_document_blame_key(c->d, at,
                              nearest.best != NULL
                                  ? "there is no option \"%s\"; did you mean \"%s\"?"
                                  : "there is no option \"%s\"",
                              at->key, nearest.best);
    } else if (misses(o, v) != NULL) {
        fr_document_blame(c->d, at, "\"%s\" takes %s, not %s", at->key, misses(o, v),
                          fr_json_kind(v));
    } else if (option_set_json(&c->scratch, o, v, shown, &why) != FR_OK) {
        fr_document_blame(c->d, at, "%s", why.text);
    } else {
        keep_option(c, o, v, into);
    }
}

/* -- a table's entry ----------------------------------------------------------------- */

static void take_name(struct checker *c, struct fr_run_table *t, json_t *v,
                      const struct fr_json_path *at)
{
    const char *name = check_text(c, v, at, "a table's \"name\"");
    struct fr_table_name parsed;
    struct fr_err why;

    if (name == NULL)
        return;
    if (fr_table_name_parse(name, &parsed, &why) != FR_OK)
        fr_document_blame(c->d, at, "%s", why.text);
    t->name = name;
}

static void take_file(struct checker *c, json_t *v, const struct fr_json_path *at,
                      size_t index, void *ctx)
{
    struct fr_run_table *t = ctx;
    const char *file = check_text(c, v, at, "a file"), **grown;

    (void)index;
    if (file != NULL && (strcmp(file, "-") == 0 || file[0] == '@'))
        fr_document_blame(c->d, at,
                          "\"%s\": a run file names files; neither standard input nor a "
                          "list of files is one (a file of that name: \"./%s\")",
                          file, file);
    /* also where it is no file: fr_run_file_blame() counts them */
    grown = realloc(t->files, (t->file_count + 1) * sizeof *grown);
    if (grown == NULL) {
        c->no_memory = true;
        return;
    }
    t->files = grown;
    grown[t->file_count++] = file == NULL ? "" : file;
}

static void take_files(struct checker *c, struct fr_run_table *t, json_t *v,
                       const struct fr_json_path *at)
{
    each_element(c, v, at, take_file, t);
}

static void take_before(struct checker *c, struct fr_run_table *t, json_t *v,
                        const struct fr_json_path *at)
{
    check_phases(c, t, FR_RUN_BEFORE, v, at);
}

static void take_after(struct checker *c, struct fr_run_table *t, json_t *v,
                       const struct fr_json_path *at)
{
    check_phases(c, t, FR_RUN_AFTER, v, at);
}

static void take_on_failure(struct checker *c, struct fr_run_table *t, json_t *v,
                            const struct fr_json_path *at)
{
    check_phases(c, t, FR_RUN_ON_FAILURE, v, at);
}

static void take_finally(struct checker *c, struct fr_run_table *t, json_t *v,
                         const struct fr_json_path *at)
{
    check_phases(c, t, FR_RUN_FINALLY, v, at);
}

/* Names are looked up when all tables are known. */
static void take_dependencies(struct checker *c, struct fr_run_table *t, json_t *v,
                              const struct fr_json_path *at)
{
    (void)c;
    (void)t;
    (void)v;
    (void)at;
}

static void take_description(struct checker *c, struct fr_run_table *t, json_t *v,
                             const struct fr_json_path *at)
{
    (void)t;
    (void)check_text(c, v, at, "a description");
}

static const struct member table_members[] = {{"after", take_after},
                                              {"before", take_before},
                                              {"depends-on", take_dependencies},
                                              {"description", take_description},
                                              {"files", take_files},
                                              {"finally", take_finally},
                                              {"name", take_name},
                                              {"on-failure", take_on_failure},
                                              {NULL, NULL}};

static void check_table(struct checker *c, struct fr_run_table *t, json_t *entry,
                        const struct fr_json_path *at)
{
    const char *key;
    json_t *v;

    t->options = json_object();
    if (!json_is_object(entry)) {
        fr_document_blame(c->d, at, "a table's entry is an object, not %s",
                          fr_json_kind(entry));
        return;
    }
    json_object_foreach(entry, key, v)
    {
        struct fr_json_path inner = {.parent = at, .key = key};
        const struct member *m = find_member(table_members, key);

        if (m != NULL)
            m->take(c, t, v, &inner);
        else
            check_option(c, FR_RUN_TABLE_GROUPS, table_members, &inner, v, t->options);
    }
    if (json_object_get(entry, "name") == NULL)
        fr_document_blame(c->d, at, "the entry has no \"name\": which table is it?");
    if (json_object_get(entry, "files") == NULL &&
        json_object_get(entry, "before") == NULL &&
        json_object_get(entry, "after") == NULL)
        fr_document_blame(c->d, at,
                          "the entry has neither \"files\" nor a phase: nothing is to be "
                          "done");
}

static bool is_same_table(const char *a, const char *b)
{
    struct fr_table_name x, y;

    return fr_table_name_parse(a, &x, NULL) == FR_OK &&
           fr_table_name_parse(b, &y, NULL) == FR_OK && strcmp(x.table, y.table) == 0 &&
           strcmp(x.schema[0] == '\0' ? "dbo" : x.schema,
                  y.schema[0] == '\0' ? "dbo" : y.schema) == 0;
}

size_t run_file_find(const struct fr_run_file *f, const char *name)
{
    size_t i = 0;

    while (i < f->table_count &&
           (f->tables[i].name == NULL || !is_same_table(f->tables[i].name, name)))
        i++;
    return i;
}

static void check_tables(struct checker *c, json_t *tables, const struct fr_json_path *at)
{
    struct fr_run_file *f = c->f;
    size_t count = json_array_size(tables);

    if (!json_is_array(tables) || count == 0 || count > MAX_TABLES) {
        fr_document_blame(c->d, at, "\"tables\" is a list of 1 to %d entries",
                          MAX_TABLES);
        return;
    }
    f->tables = calloc(count, sizeof *f->tables);
    if (f->tables == NULL) {
        c->no_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct fr_json_path entry = {.parent = at, .index = i};
        struct fr_json_path name = {.parent = &entry, .key = "name"};

        check_table(c, &f->tables[i], json_array_get(tables, i), &entry);
        if (f->tables[i].name != NULL) {
            size_t first = run_file_find(f, f->tables[i].name);

            if (first < i)
                fr_document_blame(c->d, &name,
                                  "%s has an entry already: a table has one, with all "
                                  "its files",
                                  f->tables[i].name);
        }
        f->table_count = i + 1;
    }
    check_dependencies(c, tables);
}

/* -- the document -------------------------------------------------------------------- */

static void take_tables(struct checker *c, struct fr_run_table *t, json_t *v,
                        const struct fr_json_path *at)
{
    (void)t;
    check_tables(c, v, at);
}

static void take_schema(struct checker *c, struct fr_run_table *t, json_t *v,
                        const struct fr_json_path *at)
{
    (void)t;
    (void)check_text(c, v, at, "\"$schema\"");
}

static const struct member root_members[] = {{"$schema", take_schema},
                                             {"description", take_description},
                                             {"tables", take_tables},
                                             {NULL, NULL}};

static void check_root(struct checker *c)
{
    const char *key;
    json_t *v;

    if (!json_is_object(c->d->root)) {
        fr_document_blame(c->d, NULL, "a run file is an object, not %s",
                          fr_json_kind(c->d->root));
        return;
    }
    json_object_foreach(c->d->root, key, v)
    {
        struct fr_json_path at = {.key = key};
        const struct member *m = find_member(root_members, key);

        if (m != NULL)
            m->take(c, NULL, v, &at);
        else
            check_option(c, FR_RUN_FILE_GROUPS, root_members, &at, v, c->f->options);
    }
    if (json_object_get(c->d->root, "tables") == NULL)
        fr_document_blame(c->d, NULL, "there is no \"tables\": nothing is to be loaded");
}

static fr_status find_folder(struct fr_run_file *f, struct fr_err *err)
{
    char *full = realpath(f->document.path, NULL), *slash;

    if (full == NULL)
        return fr_err_errno(err, FR_EARG, errno, "%s", f->document.path);
    slash = strrchr(full, '/');
    /* in the root folder: "" and a slash */
    *slash = '\0';
    f->folder = full;
    return FR_OK;
}

static void add_to_digest(struct fr_run_file *f)
{
    f->digest = fr_hash(FR_HASH_START, f->document.text, strlen(f->document.text) + 1);
    for (size_t i = 0; i < f->table_count; i++)
        for (size_t role = 0; role < FR_RUN_ROLES; role++)
            for (size_t k = 0; k < f->tables[i].phases[role].count; k++) {
                const char *sql = f->tables[i].phases[role].items[k].sql;

                f->digest = fr_hash(f->digest, sql, strlen(sql) + 1);
            }
}

fr_status fr_run_file_read(const char *path, struct fr_run_file *out, struct fr_err *err)
{
    struct checker c = {.f = out, .d = &out->document};
    fr_status st;

    memset(out, 0, sizeof *out);
    out->options = json_object();
    fr_settings_init(&c.scratch);
    st = fr_document_read(path, &out->document, err);
    if (st == FR_OK)
        st = find_folder(out, err);
    if (st == FR_OK && out->document.root != NULL) {
        check_root(&c);
        add_to_digest(out);
    }
    if (st == FR_OK && (c.no_memory || out->options == NULL))
        st = fr_err_set(err, FR_ENOMEM, "no memory for %s", path);
    fr_settings_free(&c.scratch);
    return st;
}

void fr_run_file_free(struct fr_run_file *f)
{
    for (size_t i = 0; i < f->table_count; i++) {
        struct fr_run_table *t = &f->tables[i];

        json_decref(t->options);
        free(t->files);
        free(t->needs);
        for (size_t role = 0; role < FR_RUN_ROLES; role++)
            free_phases(&t->phases[role]);
    }
    free(f->tables);
    free(f->order);
    free(f->folder);
    json_decref(f->options);
    fr_document_free(&f->document);
    memset(f, 0, sizeof *f);
}

void fr_run_file_blame(struct fr_run_file *f, size_t table, const char *member,
                       size_t element, const char *fmt, ...)
{
    json_t *entry = json_array_get(json_object_get(f->document.root, "tables"), table);
    json_t *v = json_object_get(entry, member);
    struct fr_json_path tables = {.key = "tables"};
    struct fr_json_path at_table = {.parent = &tables, .index = table};
    struct fr_json_path at_member = {.parent = &at_table, .key = member};
    struct fr_json_path at_element = {.parent = &at_member, .index = element};
    char text[FR_ERR_TEXT_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fr_document_blame(&f->document,
                      v == NULL          ? &at_table
                      : json_is_array(v) ? &at_element
                                         : &at_member,
                      "%s", text);
}

void fr_config_file_check(struct fr_document *d)
{
    struct fr_settings scratch;
    const char *key;
    json_t *v;

    fr_settings_init(&scratch);
    if (!json_is_object(d->root))
        fr_document_blame(d, NULL, "a configuration file is an object, not %s",
                          fr_json_kind(d->root));
    json_object_foreach(d->root, key, v)
    {
        struct fr_json_path at = {.key = key};
        const struct option_spec *o = option_find(key, strlen(key), FR_GROUP_ALL);
        const char *near = option_nearest(key, strlen(key), FR_GROUP_ALL);
        struct fr_err why;

        if (o == NULL || o->hidden)
            fr_document_blame_key(d, &at,
                                  near != NULL
                                      ? "there is no option \"%s\"; did you mean \"%s\"?"
                                      : "there is no option \"%s\"",
                                  key, near);
        else if (option_set_json(&scratch, o, v, key, &why) != FR_OK)
            fr_document_blame(d, &at, "%s", why.text);
    }
    fr_settings_free(&scratch);
}
