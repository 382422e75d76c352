/* fullrack gen lineitem: files to load. */
#include "app/command.h"
#include "app/lineitem_files.h"

#include <stdio.h>
#include <string.h>

int command_gen(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct lineitem_set set = {.folder = s->directory == NULL ? "." : s->directory,
                               .rows = (uint64_t)s->rows,
                               .files = (uint64_t)s->files,
                               .seed = (uint64_t)s->seed};
    uint64_t bytes = 0;
    fr_status st;

    if (strcmp(args->items[0], "lineitem") != 0)
        return fr_status_exit(fr_err_set(
            err, FR_EARG, "gen %s: only lineitem can be made", args->items[0]));
    if (s->rows == 0)
        return fr_status_exit(fr_err_set(err, FR_EARG, "gen needs --rows N"));
    if (s->files > s->rows)
        return fr_status_exit(fr_err_set(
            err, FR_EARG, "%lld files need at least as many rows", (long long)s->files));
    st = lineitem_make(&set, &bytes, err);
    if (st == FR_OK && s->json)
        printf("{\"rows\": %lld, \"files\": %lld, \"bytes\": %llu}\n", (long long)s->rows,
               (long long)s->files, (unsigned long long)bytes);
    else if (st == FR_OK && !s->quiet)
        printf("%lld rows in %lld files in %s, %.1f MB\n", (long long)s->rows,
               (long long)s->files, set.folder, (double)bytes / 1e6);
    return fr_status_exit(st);
}
