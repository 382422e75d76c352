/* fullrack load: files into a table now, without a queue. */
#include "app/command.h"
#include "app/open.h"
#include "app/sources.h"
#include "base/log.h"
#include "load/ledger.h"
#include "rack/coordinator.h"

#include <stdio.h>
#include <string.h>

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
    if (s->resume != NULL && s->load.truncate)
        return fr_err_set(
            err, FR_EARG,
            "--truncate would take out what load %s has committed: --resume "
            "goes on without it",
            s->resume);
    if ((s->resume != NULL || s->load.truncate) && s->load.ledger_choice != 0)
        return fr_err_set(err, FR_EARG, "%s needs the ledger: not with --ledger off",
                          s->resume != NULL ? "--resume" : "--truncate");
    return FR_OK;
}

/* A mistyped load id would load all rows once more: the ledger must know it. */
static fr_status check_resume(const struct fr_settings *s,
                              const struct fr_rack_load *load, struct fr_err *err)
{
    struct fr_head_key key = {.range_start = 0};
    struct fr_connector c = {0};
    struct fr_sql *session = NULL;
    bool any = false, all_done = true;
    fr_status st = fr_connector_init(&c, s, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack load", &session, err);
    if (st == FR_OK)
        st = fr_ledger_place_parse(s->load.ledger_table, &key.place, err);
    for (size_t i = 0; st == FR_OK && i < load->count; i++) {
        bool found, done;

        fr_rack_load_id(load, i, s->resume, key.load_id);
        st = fr_ledger_find(session, &key, &found, &done, err);
        any = any || found;
        all_done = all_done && done;
    }
    if (st == FR_OK && !any)
        st = fr_err_set(err, FR_EARG,
                        "--resume %s: there is no such load of %s in this database's "
                        "%s.%s; without --resume it is loaded from its first row",
                        s->resume, load->count == 1 ? load->sources[0] : "these files",
                        key.place.schema, key.place.table);
    if (st == FR_OK && all_done)
        fr_log(FR_LOG_WARN, "load %s was finished before: nothing is left to load",
               s->resume);
    fr_sql_close(&session);
    fr_connector_free(&c);
    return st;
}

int command_load(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct sources list = {0};
    struct fr_rack_load load = {.table = args->items[0]};
    struct fr_result result = {0};
    int exit_status = 1;
    fr_status st;

    st = sources_expand(args->items + 1, args->count - 1, false, &list, err);
    if (st == FR_OK)
        st = check_sources(s, &list, err);
    if (st == FR_OK)
        st = sources_check_repeated(&list, "nothing was loaded", err);
    if (st == FR_OK)
        st = sources_check_reject_names(&list, s->load.error_file, err);
    if (st == FR_OK)
        st = open_settings(s, err);
    load.sources = list.items;
    load.count = list.count;
    if (st == FR_OK && s->resume != NULL)
        st = check_resume(s, &load, err);
    if (st == FR_OK)
        st = fr_result_init(&result, err);
    if (st == FR_OK) {
        st = fr_rack_run(s, &load, &result, &exit_status, err);
    }
    if (st == FR_OK && s->json)
        fr_result_print_json(&result, stdout);
    else if (st == FR_OK && (!s->quiet || exit_status != 0))
        fr_result_print(&result, exit_status == 0 ? stdout : stderr);
    /* what each task met is in the result; an error that was overcome is none */
    if (st == FR_OK)
        fr_err_clear(err);
    fr_result_free(&result);
    sources_free(&list);
    return st == FR_OK ? exit_status : fr_status_exit(st);
}
