#include "app/lineitem_files.h"

#include "app/lineitem.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Rows up to `until` of all, and those that the last order still has; *written: of all.
 */
static fr_status write_file(struct lineitem_generator *g, const struct lineitem_set *set,
                            const char *path, uint64_t until, uint64_t *written,
                            uint64_t *bytes, struct fr_err *err)
{
    FILE *f = fopen(path, "we");
    fr_status st = FR_OK;

    if (f == NULL)
        return fr_err_errno(err, FR_EIO, errno, "%s", path);
    (void)setvbuf(f, NULL, _IOFBF, FILE_BUFFER_BYTES);
    while (st == FR_OK && *written < set->rows &&
           (*written < until || (set->whole_orders && g->line < g->lines))) {
        char row[LINEITEM_ROW_MAX_BYTES];
        size_t n = lineitem_next(g, row);

        if (fwrite(row, 1, n, f) != n)
            st = fr_err_errno(err, FR_EIO, errno, "%s", path);
        *bytes += n;
        (*written)++;
    }
    if (fclose(f) != 0 && st == FR_OK)
        st = fr_err_errno(err, FR_EIO, errno, "%s", path);
    return st;
}

fr_status lineitem_make(const struct lineitem_set *set, uint64_t *bytes,
                        struct fr_err *err)
{
    struct lineitem_generator g;
    uint64_t written = 0;
    fr_status st = FR_OK;

    *bytes = 0;
    if (mkdir(set->folder, 0777) != 0 && errno != EEXIST)
        return fr_err_errno(err, FR_EIO, errno, "%s", set->folder);
    lineitem_init(&g, set->seed, set->rows);
    for (uint64_t i = 0; st == FR_OK && i < set->files; i++) {
        uint64_t until = set->rows * (i + 1) / set->files;
        char path[PATH_BYTES];

        st = path_of(set, i + 1, path, err);
        if (st == FR_OK)
            st = write_file(&g, set, path, until, &written, bytes, err);
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

/* sizes: taken over; NULL where the files are not made yet. */
static json_t *note_of(const struct lineitem_set *set, uint64_t files, json_t *sizes)
{
    json_t *note =
        json_pack("{s:s, s:I, s:I, s:I, s:o}", "table", "lineitem", "rows",
                  (json_int_t)set->rows, "files", (json_int_t)files, "seed",
                  (json_int_t)set->seed, "bytes", sizes == NULL ? json_null() : sizes);

    if (note != NULL && set->whole_orders)
        json_object_set_new(note, "whole_orders", json_true());
    return note;
}

json_t *lineitem_load_json(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? json_load_file(path, 0, NULL)
                                                        : NULL;
}

static fr_status write_note(const char *path, json_t *note, struct fr_err *err)
{
    fr_status st = note == NULL ? fr_err_set(err, FR_ENOMEM, "no memory for a note")
                   : json_dump_file(note, path, JSON_COMPACT) == 0
                       ? FR_OK
                       : fr_err_errno(err, FR_EIO, errno, "%s", path);

    json_decref(note);
    return st;
}

/* Files that an earlier call made, or began to make, in the folder. */
static uint64_t files_noted(const char *note_path)
{
    json_t *note = lineitem_load_json(note_path);
    const char *table = json_string_value(json_object_get(note, "table"));
    json_int_t files = json_integer_value(json_object_get(note, "files"));
    bool is_ours = table != NULL && strcmp(table, "lineitem") == 0 && files > 0;

    json_decref(note);
    return is_ours ? (uint64_t)files : 0;
}

/* No file of the set's names that somebody else has put there is written over. */
static fr_status refuse_strangers(const struct lineitem_set *set, const char *note_path,
                                  uint64_t noted, struct fr_err *err)
{
    struct stat st;

    if (noted == 0 && lstat(note_path, &st) == 0)
        return fr_err_set(err, FR_EARG,
                          "%s is there already, and no replay made it: name another "
                          "folder (--dir)",
                          note_path);
    for (uint64_t i = noted; i < set->files; i++) {
        char path[PATH_BYTES];

        if (path_of(set, i + 1, path, NULL) == FR_OK && lstat(path, &st) == 0)
            return fr_err_set(err, FR_EARG,
                              "%s is there already, and no replay made it: name another "
                              "folder (--dir)",
                              path);
    }
    return FR_OK;
}

/* The note says first which files will be ours, so that a call that is ended half-way
 * keeps no later one from them. */
static fr_status make_and_note(const struct lineitem_set *set, const char *note_path,
                               uint64_t *bytes, struct fr_err *err)
{
    uint64_t noted = files_noted(note_path), counted;
    fr_status st = refuse_strangers(set, note_path, noted, err);

    if (st == FR_OK && mkdir(set->folder, 0777) != 0 && errno != EEXIST)
        st = fr_err_errno(err, FR_EIO, errno, "%s", set->folder);
    if (st == FR_OK)
        st = write_note(note_path,
                        note_of(set, noted > set->files ? noted : set->files, NULL), err);
    /* whoever reads them still has the old ones; what a larger set left is no part of
     * this one */
    for (uint64_t i = 0; st == FR_OK && i < noted; i++) {
        char path[PATH_BYTES];

        if (path_of(set, i + 1, path, NULL) == FR_OK)
            (void)unlink(path);
    }
    if (st == FR_OK)
        st = lineitem_make(set, bytes, err);
    return st == FR_OK
               ? write_note(note_path, note_of(set, set->files, sizes_of(set, &counted)),
                            err)
               : st;
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
    made = lineitem_load_json(path);
    wanted = note_of(set, set->files, sizes_of(set, bytes));
    *reused = made != NULL && wanted != NULL && json_equal(made, wanted) &&
              json_is_array(json_object_get(made, "bytes"));
    json_decref(made);
    json_decref(wanted);
    return *reused ? FR_OK : make_and_note(set, path, bytes, err);
}

fr_status lineitem_first_keys(const struct lineitem_set *set, int64_t *keys,
                              struct fr_err *err)
{
    fr_status st = FR_OK;

    for (uint64_t i = 0; st == FR_OK && i < set->files; i++) {
        char path[PATH_BYTES], digits[32];
        FILE *f;

        st = path_of(set, i + 1, path, err);
        if (st != FR_OK)
            break;
        f = fopen(path, "re");
        if (f == NULL)
            return fr_err_errno(err, FR_EIO, errno, "%s", path);
        if (fgets(digits, sizeof digits, f) == NULL || strchr(digits, '|') == NULL)
            st = fr_err_set(err, FR_EDATA, "%s does not begin with an order key", path);
        else
            keys[i] = strtoll(digits, NULL, 10);
        fclose(f);
    }
    return st;
}
