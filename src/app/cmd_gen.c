/* fullrack gen lineitem: files to load. */
#include "app/command.h"
#include "app/lineitem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BUFFER_BYTES = 1 << 20, PATH_BYTES = 4096 };

static fr_status write_file(struct lineitem_generator *g, const char *path, uint64_t rows,
                            uint64_t *bytes, struct fr_err *err)
{
    static char buffer[FILE_BUFFER_BYTES];
    FILE *f = fopen(path, "we");
    fr_status st = FR_OK;

    if (f == NULL)
        return fr_err_errno(err, FR_EIO, errno, "%s", path);
    setvbuf(f, buffer, _IOFBF, sizeof buffer);
    for (uint64_t i = 0; st == FR_OK && i < rows; i++) {
        char row[LINEITEM_ROW_MAX_BYTES];
        size_t n = lineitem_next(g, row);

        if (fwrite(row, 1, n, f) != n)
            st = fr_err_errno(err, FR_EIO, errno, "%s", path);
        *bytes += n;
    }
    if (fclose(f) != 0 && st == FR_OK)
        st = fr_err_errno(err, FR_EIO, errno, "%s", path);
    return st;
}

int command_gen(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    const char *folder = s->directory == NULL ? "." : s->directory;
    struct lineitem_generator g;
    uint64_t bytes = 0, rows, files;
    fr_status st = FR_OK;

    if (strcmp(args->items[0], "lineitem") != 0)
        return fr_status_exit(fr_err_set(
            err, FR_EARG, "gen %s: only lineitem can be made", args->items[0]));
    if (s->rows == 0)
        return fr_status_exit(fr_err_set(err, FR_EARG, "gen needs --rows N"));
    if (s->files > s->rows)
        return fr_status_exit(fr_err_set(
            err, FR_EARG, "%lld files need at least as many rows", (long long)s->files));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fr_status_exit(fr_err_errno(err, FR_EIO, errno, "%s", folder));
    rows = (uint64_t)s->rows;
    files = (uint64_t)s->files;
    lineitem_init(&g, (uint64_t)s->seed, rows);
    for (uint64_t i = 0; st == FR_OK && i < files; i++) {
        char path[PATH_BYTES];

        if (snprintf(path, sizeof path, "%s/lineitem.%llu.tbl", folder,
                     (unsigned long long)i + 1) >= (int)sizeof path)
            return fr_status_exit(
                fr_err_set(err, FR_EARG, "--dir: the path is too long"));
        st = write_file(&g, path, rows * (i + 1) / files - rows * i / files, &bytes, err);
    }
    if (st == FR_OK && s->json)
        printf("{\"rows\": %lld, \"files\": %lld, \"bytes\": %llu}\n", (long long)s->rows,
               (long long)s->files, (unsigned long long)bytes);
    else if (st == FR_OK && !s->quiet)
        printf("%lld rows in %lld files in %s, %.1f MB\n", (long long)s->rows,
               (long long)s->files, folder, (double)bytes / 1e6);
    return fr_status_exit(st);
}
