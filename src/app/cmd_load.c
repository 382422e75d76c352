/* fullrack load: files into a table now, without a queue. */
#include "app/command.h"
#include "app/cut.h"
#include "app/open.h"
#include "app/preflight.h"
#include "app/sources.h"
#include "base/log.h"
#include "load/sniff.h"
#include "load/stage.h"
#include "rack/coordinator.h"
#include "rack/forkserver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fr_status check_sources(const struct fr_settings *s, const struct sources *list,
                               struct fr_err *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], "-") == 0 && list->count > 1)
            return fr_err_set(
                err, FR_EARG,
                "standard input (-) cannot be loaded together with other sources");
    if (s->resume != NULL && strcmp(list->items[0], "-") == 0)
        return fr_err_set(err, FR_EARG,
                          "standard input cannot be read twice: --resume needs a file");
    if (s->resume != NULL &&
        (strlen(s->resume) != 36 || strspn(s->resume, "0123456789abcdefABCDEF-") != 36))
        return fr_err_set(err, FR_EARG, "--resume %s: not a load id", s->resume);
    if (s->resume != NULL && s->load.truncate && !s->load.stage)
        return fr_err_set(
            err, FR_EARG,
            "--truncate would take out what load %s has committed: --resume "
            "goes on without it",
            s->resume);
    if ((s->resume != NULL || s->load.truncate) && s->load.ledger_choice != 0)
        return fr_err_set(err, FR_EARG, "%s needs the ledger: not with --ledger off",
                          s->resume != NULL ? "--resume" : "--truncate");
    return stage_check_options(&s->load, err);
}

/* The heads of one source in the ledger against the parts it is loaded in now. */
struct begun {
    const struct fr_rack_part *parts;
    size_t count;
    struct fr_source_identity file; /* of a source in ranges */
    size_t found, done;
    bool other_ranges, other_file;
};

static bool is_begun_file(const struct fr_source_identity *file,
                          const struct fr_sql_row *row)
{
    return file->bytes == fr_sql_row_i64(row, 3, -1) &&
           file->mtime_ns == fr_sql_row_i64(row, 4, -1) &&
           (int64_t)(file->head_hash & INT64_MAX) == fr_sql_row_i64(row, 5, -1);
}

static fr_status take_head(void *ctx, const struct fr_sql_row *row, struct fr_err *err)
{
    struct begun *b = ctx;
    bool fits = false;

    if (row->columns != 6)
        return fr_err_set(err, FR_EPROTO, "the ledger's heads have other columns");
    for (size_t i = 0; !fits && i < b->count; i++)
        fits = b->parts[i].range_start == fr_sql_row_i64(row, 0, -1) &&
               b->parts[i].range_end == fr_sql_row_i64(row, 1, -1);
    b->found++;
    b->done += row->values[2] != NULL && strcmp(row->values[2], "done") == 0 ? 1 : 0;
    b->other_ranges = b->other_ranges || !fits;
    b->other_file = b->other_file || (b->count > 1 && !is_begun_file(&b->file, row));
    return FR_OK;
}

/* What is begun must go on in the same ranges: any others would load rows twice. */
static fr_status check_begun(struct fr_sql *session, const struct fr_head_key *key,
                             struct begun *b, struct fr_err *err)
{
    const char *path = b->parts[0].path;
    struct fr_source *source = NULL;
    fr_status st = FR_OK;

    if (b->count > 1) {
        st = fr_source_open(path, b->parts[0].options->encoding, NULL, &source, err);
        if (st != FR_OK)
            return st;
        b->file = *fr_source_identity(source);
        fr_source_close(&source);
    }
    st = fr_ledger_read_ranges(session, &key->place, key->load_id, take_head, b, err);
    if (st == FR_OK && b->other_file)
        return fr_err_set(err, FR_EARG,
                          "%s has changed since its load was begun: put it back, or take "
                          "out what load %s has committed and load it anew",
                          path, key->load_id);
    if (st == FR_OK && b->other_ranges)
        return fr_err_set(
            err, FR_EARG,
            "%s was cut into other ranges when load %s was begun: resume it "
            "with the --split of then (none, if it had none)",
            path, key->load_id);
    return st;
}

/* Its head is of the stage table: into the table itself nothing of it goes. */
static fr_status check_staged(struct fr_sql *session, const struct fr_settings *s,
                              const struct fr_head_key *key, struct fr_err *err)
{
    bool is_staged = false;
    fr_status st = FR_OK;

    if (!s->load.stage)
        st = fr_stage_is_known(session, key, s->resume, &is_staged, err);
    if (st == FR_OK && is_staged)
        return fr_err_set(err, FR_EARG,
                          "load %s was begun with --stage: resume it with --stage",
                          s->resume);
    return st;
}

/* A mistyped load id would load all rows once more: the ledger must know it. */
static fr_status check_resume(const struct fr_settings *s,
                              const struct fr_rack_load *load, struct fr_err *err)
{
    struct fr_head_key key = {.range_start = 0};
    struct fr_connector c = {0};
    struct fr_sql *session = NULL;
    size_t at = 0;
    bool any = false, all_done = true;
    fr_status st = fr_connector_init(&c, s, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack load", &session, err);
    if (st == FR_OK)
        st = fr_ledger_place_parse(s->load.ledger_table, &key.place, err);
    while (st == FR_OK && at < load->part_count) {
        struct begun b = {.parts = &load->parts[at]};

        while (at < load->part_count && load->parts[at].source == b.parts->source) {
            at++;
            b.count++;
        }
        fr_rack_load_id(load, b.parts->source, s->resume, key.load_id);
        st = check_begun(session, &key, &b, err);
        key.range_start = b.parts->range_start;
        if (st == FR_OK && b.found > 0)
            st = check_staged(session, s, &key, err);
        any = any || b.found > 0;
        all_done = all_done && b.done == b.count;
    }
    if (st == FR_OK && !any)
        st = fr_err_set(err, FR_EARG,
                        "--resume %s: there is no such load of %s in this database's "
                        "%s.%s; without --resume it is loaded from its first row",
                        s->resume, load->count == 1 ? load->sources[0] : "these files",
                        key.place.schema, key.place.table);
    if (st == FR_OK && all_done && !s->load.stage)
        fr_log(FR_LOG_WARN, "load %s was finished before: nothing is left to load",
               s->resume);
    fr_sql_close(&session);
    fr_connector_free(&c);
    return st;
}

/* For --format auto, which looks at the columns, too. */
static fr_status describe_table(const struct fr_settings *s, const char *name,
                                struct fr_table **out, struct fr_err *err)
{
    struct fr_connector c = {0};
    struct fr_sql *session = NULL;
    fr_status st = fr_connector_init(&c, s, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack load", &session, err);
    if (st == FR_OK)
        st = fr_table_describe(session, name, out, err);
    fr_sql_close(&session);
    fr_connector_free(&c);
    return st;
}

/* Without --workers: one, or with --split one a part, as far as this machine's CPUs go.
 */
static void choose_workers(struct fr_settings *s, size_t parts)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (s->workers == 0 && s->split != NULL && cpus > 0)
        s->workers = (int64_t)parts < cpus ? (int64_t)parts : cpus;
}

static fr_status preflight(const struct fr_settings *s, const struct fr_rack_load *load,
                           int *exit_status, struct fr_err *err)
{
    struct preflight_target target = {
        .table = load->table,
        .options = &s->load,
        .source = strcmp(load->sources[0], "-") == 0 ? NULL : load->sources[0],
        .tasks = (int64_t)load->part_count};
    enum preflight_mode mode = s->dry_run ? PREFLIGHT_DRY_RUN : PREFLIGHT_LOAD;
    struct preflight found = {.count = 0};
    struct fr_connector c = {0};
    fr_status st = fr_connector_init(&c, s, err);

    if (st == FR_OK)
        st = preflight_look(&c, &target, 1, mode, &found, err);
    if (st == FR_OK && s->dry_run)
        st = preflight_report(&found, s, exit_status, err);
    else if (st == FR_OK)
        st = preflight_begin(&found, mode, err);
    preflight_free(&found);
    fr_connector_free(&c);
    return st;
}

/* After the preflight. */
static fr_status load_all(const struct fr_rack *rack, struct fr_result *result,
                          int *exit_status, struct fr_err *err)
{
    const struct fr_settings *s = rack->settings;
    fr_status st = fr_result_init(result, err);

    if (st == FR_OK)
        st = fr_rack_run(rack, result, exit_status, err);
    if (st == FR_OK && s->json)
        fr_result_print_json(result, stdout);
    else if (st == FR_OK && (!s->quiet || *exit_status != 0))
        fr_result_print(result, *exit_status == 0 ? stdout : stderr);
    return st;
}

int command_load(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct sources list = {0};
    struct cut cut = {0};
    struct fr_table *table = NULL;
    struct fr_rack_load load = {.table = args->items[0]};
    struct fr_rack rack = {.settings = s, .load = &load};
    struct fr_result result = {0};
    int exit_status = 1;
    fr_status st;

    st = sources_expand(args->items + 1, args->count - 1, false, &list, err);
    if (st == FR_OK)
        st = check_sources(s, &list, err);
    if (st == FR_OK)
        st = cut_check_reject_table(s, err);
    if (st == FR_OK)
        st = sources_check_repeated(&list, "nothing was loaded", err);
    if (st == FR_OK)
        st = fr_forkserver_start(s, &rack.forkserver, err);
    if (st == FR_OK)
        st = open_settings(s, err);
    if (st == FR_OK && s->split != NULL && fr_sniff_is_asked(&s->load))
        st = describe_table(s, load.table, &table, err);
    if (st == FR_OK)
        st = cut_sources(s, &list, table, &cut, err);
    if (st == FR_OK)
        st = cut_check_reject_names(&cut, s->load.error_file, err);
    load.sources = list.items;
    load.count = list.count;
    load.parts = cut.parts;
    load.part_count = cut.count;
    choose_workers(s, cut.count);
    if (st == FR_OK && s->resume != NULL)
        st = check_resume(s, &load, err);
    if (st == FR_OK)
        st = preflight(s, &load, &exit_status, err);
    if (st == FR_OK && !s->dry_run)
        st = load_all(&rack, &result, &exit_status, err);
    fr_forkserver_stop(&rack.forkserver);
    /* what each task met is in the result; an error that was overcome is none */
    if (st == FR_OK)
        fr_err_clear(err);
    fr_result_free(&result);
    fr_table_free(&table);
    cut_free(&cut);
    sources_free(&list);
    return st == FR_OK ? exit_status : fr_status_exit(st);
}
