/* What a preflight found: --dry-run's report, and the warnings in front of a load. */
#include "app/document_print.h"
#include "app/preflight.h"

#include "base/log.h"

#include <string.h>

size_t preflight_count(const struct preflight *p, enum fr_severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->items[i].finding_count; k++)
            n += p->items[i].findings[k].severity == severity ? 1 : 0;
    return n;
}

/* -- --dry-run ----------------------------------------------------------------------- */

static void add_fact(void *ctx, const char *name, int64_t number, const char *text)
{
    json_object_set_new(ctx, name,
                        text != NULL ? json_string(text) : json_integer(number));
}

static json_t *json_of_findings(const struct preflight_found *f)
{
    json_t *list = json_array();

    for (size_t i = 0; i < f->finding_count; i++) {
        const struct fr_finding *e = &f->findings[i];

        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "code", e->code,
                                              "severity", fr_severity_names[e->severity],
                                              "message", e->message, "cure",
                                              e->cure[0] == '\0' ? NULL : e->cure));
    }
    return list;
}

static json_t *json_of(const struct preflight_found *f)
{
    json_t *facts = json_object();

    if (f->is_known)
        fr_facts_each(&f->facts, add_fact, facts);
    return json_pack("{s:s, s:s?, s:I, s:I, s:s?, s:s?, s:s?, s:o, s:o}", "table",
                     f->table, "database", f->target->database, "tasks",
                     (json_int_t)f->target->tasks, "streams", (json_int_t)f->streams,
                     "engine", f->engine, "hints", f->hints_why == NULL ? NULL : f->hints,
                     "hints_why", f->hints_why, "facts", facts, "findings",
                     json_of_findings(f));
}

static fr_status print_json(const struct preflight *p, struct fr_err *err)
{
    json_t *tables = json_array(), *doc;

    for (size_t i = 0; i < p->count; i++)
        json_array_append_new(tables, json_of(&p->items[i]));
    doc = json_pack("{s:o, s:I, s:I}", "tables", tables, "errors",
                    (json_int_t)preflight_count(p, FR_FINDING_ERROR), "warnings",
                    (json_int_t)preflight_count(p, FR_FINDING_WARNING));
    return document_print(doc, err);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void print_text(const struct preflight *p, bool quiet)
{
    size_t errors = preflight_count(p, FR_FINDING_ERROR);
    size_t warnings = preflight_count(p, FR_FINDING_WARNING);

    for (size_t i = 0; i < p->count; i++) {
        const struct preflight_found *f = &p->items[i];

        if (!quiet && f->hints_why != NULL)
            printf("%s: %lld task%s, %lld at once; engine %s, hints %s: %s\n", f->table,
                   (long long)f->target->tasks, plural((size_t)f->target->tasks),
                   (long long)f->streams, f->engine, f->hints, f->hints_why);
        for (size_t k = 0; k < f->finding_count; k++) {
            const struct fr_finding *e = &f->findings[k];

            if (!quiet || e->severity == FR_FINDING_ERROR)
                printf("%s: %s: %s%s%s (%s)\n", f->table, fr_severity_names[e->severity],
                       e->message, e->cure[0] == '\0' ? "" : "; cure: ", e->cure,
                       e->code);
        }
    }
    if (!quiet)
        printf("%zu table%s: %zu error%s, %zu warning%s; nothing was loaded\n", p->count,
               plural(p->count), errors, plural(errors), warnings, plural(warnings));
}

fr_status preflight_report(const struct preflight *p, const struct fr_settings *s,
                           int *exit_status, struct fr_err *err)
{
    *exit_status = preflight_count(p, FR_FINDING_ERROR) > 0 ? 2 : 0;
    if (s->json)
        return print_json(p, err);
    print_text(p, s->quiet);
    return FR_OK;
}

/* -- in front of a load -------------------------------------------------------------- */

static bool same_table(const struct preflight_found *a, const struct preflight_found *b)
{
    const char *x = a->target->database, *y = b->target->database;

    return a->table != NULL && b->table != NULL && strcmp(a->table, b->table) == 0 &&
           (x == y || (x != NULL && y != NULL && strcmp(x, y) == 0));
}

/* The same table may be loaded in several ways. */
static bool was_said(const struct preflight *p, size_t item, const struct fr_finding *e)
{
    for (size_t i = 0; i < item; i++) {
        const struct preflight_found *f = &p->items[i];

        for (size_t k = 0; k < f->finding_count && same_table(f, &p->items[item]); k++)
            if (strcmp(f->findings[k].message, e->message) == 0)
                return true;
    }
    return false;
}

static bool has_no_hope(const struct preflight_found *f)
{
    for (size_t i = 0; i < f->finding_count; i++)
        if (fr_finding_ends_load(&f->findings[i]))
            return true;
    return false;
}

static void log_finding(enum fr_log_level level, const struct preflight_found *f,
                        const struct fr_finding *e)
{
    fr_log(level, "%s: %s%s%s", f->table, e->message,
           e->cure[0] == '\0' ? "" : "; cure: ", e->cure);
}

static enum fr_log_level level_of(const struct fr_finding *e, bool is_over,
                                  enum preflight_mode mode)
{
    if (e->severity == FR_FINDING_NOTE)
        return FR_LOG_DEBUG;
    if (e->severity == FR_FINDING_WARNING)
        return FR_LOG_WARN;
    if (fr_finding_ends_load(e))
        return is_over ? FR_LOG_ERROR : FR_LOG_WARN;
    /* its only task is about to say it */
    return mode == PREFLIGHT_RUN ? FR_LOG_WARN : FR_LOG_DEBUG;
}

fr_status preflight_begin(const struct preflight *p, enum preflight_mode mode,
                          struct fr_err *err)
{
    bool is_over = p->count > 0;

    for (size_t i = 0; i < p->count; i++)
        is_over = is_over && !p->items[i].target->is_made && has_no_hope(&p->items[i]);
    for (size_t i = 0; i < p->count; i++) {
        const struct preflight_found *f = &p->items[i];

        for (size_t k = 0; k < f->finding_count; k++) {
            const struct fr_finding *e = &f->findings[k];

            if (!was_said(p, i, e))
                log_finding(level_of(e, is_over, mode), f, e);
        }
    }
    if (!is_over)
        return FR_OK;
    return fr_err_set(err, FR_EARG, "%s cannot be loaded so: nothing was %s",
                      p->count == 1 ? p->items[0].table : "the tables of the queue",
                      mode == PREFLIGHT_RUN ? "begun, the queue is as it was" : "loaded");
}
