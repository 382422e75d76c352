/* Which table of a run file waits for which, and the order that follows. */
#include "config/runfile_priv.h"

#include "config/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CIRCLE_BYTES = 700 };

static void take_need(struct checker *c, json_t *v, const struct fr_json_path *at,
                      size_t index, void *ctx)
{
    const struct fr_run_file *f = c->f;
    struct fr_run_table *t = ctx;
    const char *name = check_text(c, v, at, "a table of \"depends-on\"");
    struct fr_run_need *grown;
    size_t found;

    if (name == NULL)
        return;
    found = run_file_find(f, name);
    if (found == f->table_count) {
        struct fr_nearest nearest;

        fr_nearest_begin(&nearest, name, strlen(name));
        for (size_t i = 0; i < f->table_count; i++)
            if (f->tables[i].name != NULL)
                fr_nearest_offer(&nearest, f->tables[i].name);
        fr_document_blame(c->d, at,
                          nearest.best != NULL
                              ? "%s has no entry in this file; did you mean %s?"
                              : "%s has no entry in this file",
                          name, nearest.best);
        return;
    }
    for (size_t i = 0; i < t->need_count; i++)
        if (t->needs[i].table == found)
            return; /* said twice: no harm */
    grown = realloc(t->needs, (t->need_count + 1) * sizeof *grown);
    if (grown == NULL) {
        c->no_memory = true;
        return;
    }
    t->needs = grown;
    grown[t->need_count++] = (struct fr_run_need){.table = found, .element = index};
}

/* -- the order ----------------------------------------------------------------------- */

struct sorter {
    struct checker *c;
    bool *placed;
    size_t count; /* of order */
};

static const struct fr_run_need *open_need(const struct sorter *s, size_t table)
{
    const struct fr_run_table *t = &s->c->f->tables[table];

    for (size_t i = 0; i < t->need_count; i++)
        if (!s->placed[t->needs[i].table])
            return &t->needs[i];
    return NULL;
}

/* Those that wait for nothing more, in the order of the document; false: none. */
static bool place_some(struct sorter *s)
{
    struct fr_run_file *f = s->c->f;
    size_t before = s->count;

    for (size_t i = 0; i < f->table_count; i++)
        if (!s->placed[i] && open_need(s, i) == NULL) {
            s->placed[i] = true;
            f->order[s->count++] = i;
        }
    return s->count > before;
}

static const char *name_of(const struct fr_run_file *f, size_t table)
{
    return f->tables[table].name == NULL ? "?" : f->tables[table].name;
}

/* Nothing can be placed: from any table that is left the way along what it waits for
 * leads into a circle.  It is blamed, and cut where it was. */
static void break_circle(struct sorter *s)
{
    struct fr_run_file *f = s->c->f;
    size_t at = 0, first;
    const struct fr_run_need *need;
    char text[CIRCLE_BYTES];
    int n;

    while (s->placed[at])
        at++;
    for (size_t i = 0; i < f->table_count; i++)
        at = open_need(s, at)->table;
    first = at;
    n = snprintf(text, sizeof text, "%s waits for ", name_of(f, first));
    do {
        at = open_need(s, at)->table;
        if (n > 0 && (size_t)n < sizeof text)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", name_of(f, at),
                          at == first ? "" : ", which waits for ");
    } while (at != first);
    need = open_need(s, first);
    fr_run_file_blame(f, first, "depends-on", need->element, "a circle: %s", text);
    f->tables[first].needs[need - f->tables[first].needs] =
        f->tables[first].needs[--f->tables[first].need_count];
}

void check_dependencies(struct checker *c, json_t *tables)
{
    struct fr_run_file *f = c->f;
    struct sorter s = {.c = c, .placed = calloc(f->table_count, sizeof *s.placed)};
    struct fr_json_path at_tables = {.key = "tables"};

    f->order = calloc(f->table_count, sizeof *f->order);
    c->no_memory = c->no_memory || s.placed == NULL || f->order == NULL;
    for (size_t i = 0; !c->no_memory && i < f->table_count; i++) {
        struct fr_json_path entry = {.parent = &at_tables, .index = i};
        struct fr_json_path at = {.parent = &entry, .key = "depends-on"};
        json_t *needs = json_object_get(json_array_get(tables, i), "depends-on");

        if (needs != NULL)
            each_element(c, needs, &at, take_need, &f->tables[i]);
    }
    while (!c->no_memory && s.count < f->table_count)
        if (!place_some(&s))
            break_circle(&s);
    free(s.placed);
}
