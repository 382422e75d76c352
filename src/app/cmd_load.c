/* fullrack load: files into a table now, without a queue. */
#include "app/command.h"
#include "app/open.h"
#include "app/sources.h"
#include "base/log.h"
#include "db/statements.h"
#include "load/ledger.h"
#include "rack/coordinator.h"

#include <stdio.h>
#include <string.h>

/* The server's error number for a table that is not there. */
enum { NO_SUCH_OBJECT = 208 };

static fr_status check_sources(const struct fr_settings *s, const struct sources *list,
                               struct fr_err *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], "-") == 0 && list->count > 1)
            return fr_err_set(
                err, FR_EARG,
                "standard input (-) cannot be loaded together with other sources");
    if (s->resume != NULL && list->count != 1)
        return fr_err_set(err, FR_EARG,
                          "--resume goes on with one load: give its one source");
    if (s->resume != NULL && strcmp(list->items[0], "-") == 0)
        return fr_err_set(err, FR_EARG,
                          "standard input cannot be read twice: --resume needs a file");
    if (s->resume != NULL &&
        (strlen(s->resume) != 36 || strspn(s->resume, "0123456789abcdefABCDEF-") != 36))
        return fr_err_set(err, FR_EARG, "--resume %s: not a load id", s->resume);
    if (s->resume != NULL && s->load.ledger_choice != 0)
        return fr_err_set(err, FR_EARG,
                          "--resume needs the ledger: not with --ledger off");
    return FR_OK;
}

/* A mistyped load id would load all rows once more: the ledger must know it. */
static fr_status check_resume(const struct fr_settings *s, struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_guid("@load_id", s->resume),
                                    fr_sql_in_i64("@range_start", 0)};
    struct fr_sql_one one = {0};
    struct fr_connector c = {0};
    struct fr_sql *session = NULL;
    fr_status st = fr_connector_init(&c, s, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack load", &session, err);
    if (st == FR_OK)
        st = fr_sql_run_params(session, fr_stmt_ledger_head, params, 2, fr_sql_take_one,
                               &one, err);
    if ((st == FR_OK && !one.found) ||
        (st == FR_EDB && err->server_number == NO_SUCH_OBJECT))
        st = fr_err_set(err, FR_EARG,
                        "--resume %s: there is no such load in this database's "
                        "dbo.fullrack_ledger; without --resume the file is loaded from "
                        "its first row",
                        s->resume);
    if (st == FR_OK && one.values[FR_LEDGER_HEAD_STATE] != NULL &&
        strcmp(one.values[FR_LEDGER_HEAD_STATE], "done") == 0)
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
        st = sources_check_reject_names(&list, s->load.error_file, err);
    if (st == FR_OK)
        st = open_settings(s, err);
    if (st == FR_OK && s->resume != NULL)
        st = check_resume(s, err);
    if (st == FR_OK)
        st = fr_result_init(&result, err);
    if (st == FR_OK) {
        load.sources = list.items;
        load.count = list.count;
        st = fr_rack_run(s, &load, &result, &exit_status, err);
    }
    if (st == FR_OK && s->json)
        fr_result_print_json(&result, stdout);
    else if (st == FR_OK && (!s->quiet || exit_status != 0))
        fr_result_print(&result, exit_status == 0 ? stdout : stderr);
    fr_result_free(&result);
    sources_free(&list);
    return st == FR_OK ? exit_status : fr_status_exit(st);
}
