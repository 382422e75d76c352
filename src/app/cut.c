#include "app/cut.h"

#include "base/log.h"
#include "load/reject_table.h"
#include "load/sniff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cut_source {
    struct fr_ranges ranges;
    struct fr_sniffed found;
    struct fr_load_options settled; /* borrows from found */
    json_t *format;                 /* owned; NULL = nothing was found out */
};

/*
 * How the file is written decides where its rows begin: what --format auto finds goes
 * with the ranges, so that no worker finds anything else.
 */
static fr_status settle(struct cut_source *one, const char *path,
                        const struct fr_load_options *o, const struct fr_table *table,
                        struct fr_err *err)
{
    char found[FR_SNIFFED_TEXT_BYTES], options[FR_SNIFFED_TEXT_BYTES];
    struct fr_err ignored;

    one->settled = *o;
    /* what cannot be looked at is not cut either, and its load says why */
    if (!fr_sniff_is_asked(o) ||
        fr_sniff_file(path, o, table, &one->found, &ignored) != FR_OK)
        return FR_OK;
    fr_sniffed_settle(&one->found, &one->settled);
    one->format = json_pack("{s:s, s:s}", "found", fr_sniffed_text(&one->found, o, found),
                            "options", fr_sniffed_options(&one->found, o, options));
    return one->format != NULL ? FR_OK
                               : fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
}

static fr_status add_parts(struct cut *c, size_t source, const char *path,
                           const struct fr_load_options *o, struct fr_err *err)
{
    const struct cut_source *one = &c->sources[source];
    const struct fr_ranges *r = &one->ranges;
    struct fr_rack_part *grown =
        realloc(c->parts, (c->count + r->count) * sizeof *c->parts);

    if (grown == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    c->parts = grown;
    for (size_t i = 0; i < r->count; i++)
        c->parts[c->count++] = (struct fr_rack_part){
            .path = path,
            .source = source,
            .number = r->count > 1 ? (int64_t)i + 1 : 0,
            .range_start = r->starts[i],
            .range_end = fr_ranges_end(r, i),
            .split_why = r->why,
            .range_mark = r->mark,
            .options = r->count > 1 ? &one->settled : o,
            .format = r->count > 1 ? one->format : NULL,
        };
    return FR_OK;
}

fr_status cut_sources(const struct fr_settings *s, const struct sources *list,
                      const struct fr_table *table, struct cut *out, struct fr_err *err)
{
    struct fr_split_wish wish = {.count = 1};
    fr_status st = FR_OK;

    *out = (struct cut){.source_count = list->count};
    out->sources = calloc(list->count, sizeof *out->sources);
    if (out->sources == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the tasks");
    if (s->split != NULL && s->load.stage_partitions)
        return fr_err_set(err, FR_EARG,
                          "--stage-partitions takes whole files, each a partition: not "
                          "with --split");
    if (s->split != NULL)
        st = fr_split_wish_parse(s->split, &wish, err);
    if (st == FR_OK && s->split != NULL)
        st = fr_split_check_options(&s->load, err);
    for (size_t i = 0; st == FR_OK && i < list->count; i++) {
        struct cut_source *one = &out->sources[i];

        one->settled = s->load;
        if (s->split != NULL)
            st = settle(one, list->items[i], &s->load, table, err);
        if (st == FR_OK)
            st = fr_ranges_find(list->items[i], &one->settled, &wish, &one->ranges, err);
        if (st == FR_OK && one->ranges.why[0] != '\0')
            fr_log(FR_LOG_WARN, "%s is not cut into ranges: %s", list->items[i],
                   one->ranges.why);
        if (st == FR_OK)
            st = add_parts(out, i, list->items[i], &s->load, err);
    }
    return st;
}

void cut_free(struct cut *c)
{
    for (size_t i = 0; c->sources != NULL && i < c->source_count; i++) {
        fr_ranges_free(&c->sources[i].ranges);
        json_decref(c->sources[i].format);
    }
    free(c->sources);
    free(c->parts);
    *c = (struct cut){0};
}

struct name {
    char *name; /* owned */
    const char *path;
    size_t index;
};

static int by_name(const void *a, const void *b)
{
    const struct name *x = a, *y = b;

    int order = strcmp(x->name, y->name);

    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

fr_status cut_check_reject_names(const struct cut *c, const char *error_file,
                                 struct fr_err *err)
{
    struct name *names;
    fr_status st = FR_OK;

    if (error_file == NULL || c->count < 2)
        return FR_OK;
    names = calloc(c->count, sizeof *names);
    if (names == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the list of files");
    for (size_t i = 0; st == FR_OK && i < c->count; i++) {
        names[i].path = c->parts[i].path;
        names[i].index = i;
        st = fr_rack_reject_path(&c->parts[i], error_file, &names[i].name, err);
    }
    if (st == FR_OK)
        qsort(names, c->count, sizeof *names, by_name);
    for (size_t i = 1; st == FR_OK && i < c->count; i++)
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            st = fr_err_set(err, FR_EARG,
                            "%s and %s would share the reject file %s: give them a "
                            "command each, with a -e of its own",
                            names[i - 1].path, names[i].path, names[i].name);
    for (size_t i = 0; i < c->count; i++)
        free(names[i].name);
    free(names);
    return st;
}

fr_status cut_check_reject_table(const struct fr_settings *s, struct fr_err *err)
{
    const char *name = s->load.reject_table;

    if (name == NULL)
        return FR_OK;
    if (s->load.ledger_choice != 0 && !s->quiet)
        fr_log(
            FR_LOG_WARN,
            "--ledger off: rows, and rejected ones in %s, come at least once: where an "
            "attempt is repeated they may be there twice",
            name);
    return fr_reject_table_check_name(name, err);
}

fr_status stage_check_options(const struct fr_load_options *o, struct fr_err *err)
{
    if (o->stage && o->ledger_choice != 0)
        return fr_err_set(err, FR_EARG,
                          "--stage needs the ledger: not with --ledger off");
    if (o->stage && o->no_check)
        return fr_err_set(
            err, FR_EARG,
            "--stage brings rows in by INSERT, which checks constraints and "
            "fires triggers: not with --no-check");
    if (o->stage_partitions && !o->stage)
        return fr_err_set(err, FR_EARG,
                          "--stage-partitions says how --stage brings the rows in: give "
                          "that, too");
    return FR_OK;
}
