#include "app/lineitem_files.h"

#include "app/lineitem.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BUFFER_BYTES = 1 << 20, PATH_BYTES = 4096 };

static fr_status path_of(const struct lineitem_set *set, uint64_t file,
                         char out[PATH_BYTES], struct fr_err *err)
{
    int n = file == 0 ? snprintf(out, PATH_BYTES, "%s/lineitem.json", set->folder)
                      : snprintf(out, PATH_BYTES, "%s/lineitem.%" PRIu64 ".tbl",
                                 set->folder, file);

    return n < PATH_BYTES ? FR_OK
                          : fr_err_set(err, FR_EARG, "--dir: the path is too long");
}

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

fr_status lineitem_make(const struct lineitem_set *set, uint64_t *bytes,
                        struct fr_err *err)
{
    struct lineitem_generator g;
    fr_status st = FR_OK;

    *bytes = 0;
    if (mkdir(set->folder, 0777) != 0 && errno != EEXIST)
        return fr_err_errno(err, FR_EIO, errno, "%s", set->folder);
    lineitem_init(&g, set->seed, set->rows);
    for (uint64_t i = 0; st == FR_OK && i < set->files; i++) {
        uint64_t rows = set->rows * (i + 1) / set->files - set->rows * i / set->files;
        char path[PATH_BYTES];

        st = path_of(set, i + 1, path, err);
        if (st == FR_OK)
            st = write_file(&g, path, rows, bytes, err);
    }
    return st;
}

/* -- what was made ------------------------------------------------------------------- */

/* Sizes of the files as they are, in order; NULL: one of them is not there. */
static json_t *sizes_of(const struct lineitem_set *set, uint64_t *bytes)
{
    json_t *sizes = json_array();

    *bytes = 0;
    for (uint64_t i = 0; sizes != NULL && i < set->files; i++) {
        char path[PATH_BYTES];
        struct stat st;

        if (path_of(set, i + 1, path, NULL) != FR_OK || stat(path, &st) != 0) {
            json_decref(sizes);
            return NULL;
        }
        json_array_append_new(sizes, json_integer((json_int_t)st.st_size));
        *bytes += (uint64_t)st.st_size;
    }
    return sizes;
}

static json_t *note_of(const struct lineitem_set *set, json_t *sizes)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:o}", "table", "lineitem", "rows",
                     (json_int_t)set->rows, "files", (json_int_t)set->files, "seed",
                     (json_int_t)set->seed, "bytes", sizes);
}

static fr_status write_note(const struct lineitem_set *set, const char *path,
                            struct fr_err *err)
{
    uint64_t bytes;
    json_t *note = note_of(set, sizes_of(set, &bytes));
    fr_status st = note != NULL && json_dump_file(note, path, JSON_COMPACT) == 0
                       ? FR_OK
                       : fr_err_errno(err, FR_EIO, errno, "%s", path);

    json_decref(note);
    return st;
}

/* No file of the set's names that somebody else has put there is written over. */
static fr_status refuse_strangers(const struct lineitem_set *set, const char *note_path,
                                  struct fr_err *err)
{
    struct stat note, st;

    if (stat(note_path, &note) == 0)
        return FR_OK;
    for (uint64_t i = 0; i < set->files; i++) {
        char path[PATH_BYTES];

        if (path_of(set, i + 1, path, NULL) == FR_OK && stat(path, &st) == 0)
            return fr_err_set(err, FR_EARG,
                              "%s is there already, and %s does not say that it was made "
                              "for a replay: name another folder (--dir)",
                              path, note_path);
    }
    return FR_OK;
}

fr_status lineitem_make_or_reuse(const struct lineitem_set *set, uint64_t *bytes,
                                 bool *reused, struct fr_err *err)
{
    char path[PATH_BYTES];
    fr_status st = path_of(set, 0, path, err);
    json_t *made, *wanted;

    *reused = false;
    if (st != FR_OK)
        return st;
    made = json_load_file(path, 0, NULL);
    wanted = note_of(set, sizes_of(set, bytes));
    *reused = made != NULL && wanted != NULL && json_equal(made, wanted);
    json_decref(made);
    json_decref(wanted);
    if (*reused)
        return FR_OK;
    st = refuse_strangers(set, path, err);
    if (st == FR_OK)
        st = lineitem_make(set, bytes, err);
    return st == FR_OK ? write_note(set, path, err) : st;
}
