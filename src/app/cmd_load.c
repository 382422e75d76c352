/* fullrack load: files into a table now, without a queue. */
#include "app/command.h"
#include "app/open.h"
#include "app/sources.h"
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
    if (s->resume != NULL && list->count != 1)
        return fr_err_set(err, FR_EARG,
                          "--resume goes on with one load: give its one source");
    if (s->resume != NULL && strcmp(list->items[0], "-") == 0)
        return fr_err_set(err, FR_EARG,
                          "standard input cannot be read twice: --resume needs a file");
    if (s->resume != NULL &&
        (strlen(s->resume) != 36 || strspn(s->resume, "0123456789abcdefABCDEF-") != 36))
        return fr_err_set(err, FR_EARG, "--resume %s: not a load id", s->resume);
    return FR_OK;
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
        st = open_settings(s, err);
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
