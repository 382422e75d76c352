#include "load/reject.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_SUFFIX ".json"

struct fr_reject {
    char *path;
    struct fr_encoding encoding;
    struct fr_recoder *encoder; /* NULL: rows are written as they come */
    char *header;               /* NULL: the source has none; owned */
    size_t header_bytes;
    FILE *rows;
    FILE *notes; /* path.json */
    uint64_t bytes;
};

static fr_status file_error(const struct fr_reject *r, const char *suffix,
                            struct fr_err *err)
{
    return fr_err_errno(err, FR_EIO, errno, "reject file %s%s", r->path, suffix);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

fr_status fr_reject_task_path(const char *file, const char *source, int64_t task_id,
                              char **out, struct fr_err *err)
{
    char task[32] = "";
    fr_status st = FR_OK;

    if (task_id > 0)
        snprintf(task, sizeof task, ".%lld", (long long)task_id);
    if (asprintf(out, "%s.%s%s", file, base_name(source), task) < 0) {
        *out = NULL;
        return fr_err_set(err, FR_ENOMEM, "no memory for the reject file");
    }
    if (strlen(base_name(*out)) + strlen(NOTES_SUFFIX) > NAME_MAX ||
        strlen(*out) + strlen(NOTES_SUFFIX) >= PATH_MAX) {
        st = fr_err_set(err, FR_EARG,
                        "%s: the name of its reject file, %s" NOTES_SUFFIX
                        ", is longer than a file's name may be: give a shorter -e",
                        source, *out);
        free(*out);
        *out = NULL;
    }
    return st;
}

static FILE *open_at(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r+");

    if (f == NULL && fd >= 0)
        close(fd);
    return f;
}

static bool is_device(FILE *f)
{
    /* a pipe, terminal or device cannot be cut and need not be */
    return lseek(fileno(f), 0, SEEK_SET) < 0;
}

static bool cut(FILE *f, uint64_t bytes)
{
    if (is_device(f))
        return true;
    if (ftruncate(fileno(f), (off_t)bytes) != 0 && errno != EINVAL)
        return false;
    return fseeko(f, (off_t)bytes, SEEK_SET) == 0;
}

/* Where line number keep_rows ends in the notes. */
static uint64_t end_of_line(FILE *f, uint64_t keep_rows)
{
    uint64_t at = 0, lines = 0;
    int c;

    while (lines < keep_rows && (c = fgetc(f)) != EOF) {
        at++;
        lines += c == '\n' ? 1 : 0;
    }
    return at;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

fr_status fr_reject_check_path(const char *path, const char *source, struct fr_err *err)
{
    char *notes_path = NULL;
    fr_status st = FR_OK;

    if (asprintf(&notes_path, "%s" NOTES_SUFFIX, path) < 0)
        return fr_err_set(err, FR_ENOMEM, "no memory for the reject file");
    if (is_same_file(path, source) || is_same_file(notes_path, source))
        st = fr_err_set(err, FR_EARG, "reject file %s: it would overwrite the source %s",
                        path, source);
    free(notes_path);
    return st;
}

/* Cutting must not lengthen: rejects that are gone would come back as NUL bytes. */
static fr_status check_length(const struct fr_reject *r, uint64_t keep_bytes,
                              struct fr_err *err)
{
    struct stat info;

    if (fstat(fileno(r->rows), &info) != 0)
        return file_error(r, "", err);
    if (S_ISREG(info.st_mode) && (uint64_t)info.st_size < keep_bytes)
        return fr_err_set(err, FR_EARG,
                          "reject file %s has %lld bytes of the %llu this load has "
                          "rejected so far: put "
                          "it back, or begin the load anew",
                          r->path, (long long)info.st_size,
                          (unsigned long long)keep_bytes);
    return FR_OK;
}

fr_status fr_reject_open(const char *path, uint64_t keep_bytes, uint64_t keep_rows,
                         struct fr_reject **out, struct fr_err *err)
{
    struct fr_reject *r = calloc(1, sizeof *r);
    char *notes_path = NULL;
    fr_status st = FR_OK;

    *out = NULL;
    if (r == NULL || (r->path = strdup(path)) == NULL ||
        asprintf(&notes_path, "%s" NOTES_SUFFIX, path) < 0) {
        st = fr_err_set(err, FR_ENOMEM, "no memory for the reject file");
        goto out;
    }
    r->rows = open_at(path);
    st = r->rows == NULL ? file_error(r, "", err) : check_length(r, keep_bytes, err);
    if (st == FR_OK && !cut(r->rows, keep_bytes))
        st = file_error(r, "", err);
    if (st != FR_OK)
        goto out;
    r->bytes = keep_bytes;
    /* beside a device there is no place for notes */
    if (is_device(r->rows) || strncmp(path, "/dev/", 5) == 0)
        goto out;
    r->notes = open_at(notes_path);
    if (r->notes == NULL || !cut(r->notes, end_of_line(r->notes, keep_rows)))
        st = file_error(r, NOTES_SUFFIX, err);
    if (fseeko(r->rows, (off_t)keep_bytes, SEEK_SET) != 0)
        st = file_error(r, "", err);
out:
    free(notes_path);
    if (st == FR_OK)
        *out = r;
    else
        fr_reject_close(&r);
    return st;
}

void fr_reject_close(struct fr_reject **rp)
{
    struct fr_reject *r;

    if (rp == NULL || *rp == NULL)
        return;
    r = *rp;
    if (r->rows != NULL)
        fclose(r->rows);
    if (r->notes != NULL)
        fclose(r->notes);
    fr_recoder_close(&r->encoder);
    free(r->header);
    free(r->path);
    free(r);
    *rp = NULL;
}

fr_status fr_reject_set_encoding(struct fr_reject *r, const struct fr_encoding *e,
                                 struct fr_err *err)
{
    fr_status st =
        e->name[0] == '\0' || e->by_field ? FR_OK : fr_encoder_open(e, &r->encoder, err);

    r->encoding = *e;
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "reject file %s", r->path);
}

static fr_status add_note(struct fr_reject *r, const struct fr_rejected_row *row,
                          struct fr_err *err)
{
    struct fr_row_error why = *row->why;
    json_t *note;
    int rc;

    /* a reason may have been cut in a character */
    fr_utf8_mend(why.reason);
    if (why.has_value)
        fr_utf8_mend(why.value);
    note = json_pack("{s:s, s:I, s:I, s:s?, s:s?, s:s}", "source", row->source, "row",
                     (json_int_t)row->row, "byte", (json_int_t)row->offset, "column",
                     why.column, "value", why.has_value ? why.value : NULL, "reason",
                     why.reason);
    if (note != NULL && row->range_start > 0)
        json_object_set_new(note, "range_start",
                            json_integer((json_int_t)row->range_start));
    if (note == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a rejected row");
    rc = json_dumpf(note, r->notes, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(note);
    if (rc != 0 || fputc('\n', r->notes) == EOF)
        return file_error(r, NOTES_SUFFIX, err);
    return FR_OK;
}

static fr_status write_rows(void *ctx, const char *p, size_t n, struct fr_err *err)
{
    struct fr_reject *r = ctx;

    if (fwrite(p, 1, n, r->rows) != n)
        return file_error(r, "", err);
    r->bytes += n;
    return FR_OK;
}

static fr_status write_text(struct fr_reject *r, const char *p, size_t n,
                            struct fr_err *err)
{
    fr_status st = r->encoder == NULL
                       ? write_rows(r, p, n, err)
                       : fr_encode_text(r->encoder, p, n, write_rows, r, err);

    return st != FR_EDATA ? st
                          : fr_err_set(err, FR_EDATA,
                                       "cannot be written in the source's encoding %s",
                                       r->encoding.name);
}

/* What stands in front of the first row, so that the file is read as its source is. */
static fr_status write_begin(struct fr_reject *r, struct fr_err *err)
{
    fr_status st = write_rows(r, r->encoding.mark, r->encoding.mark_bytes, err);

    if (st == FR_OK && r->header != NULL)
        st = write_text(r, r->header, r->header_bytes, err);
    return st == FR_EDATA ? fr_err_wrap(err, "reject file %s: the header", r->path) : st;
}

fr_status fr_reject_set_header(struct fr_reject *r, const char *bytes, size_t n,
                               struct fr_err *err)
{
    r->header = malloc(n + 1);
    if (r->header == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a header of %zu bytes", n);
    memcpy(r->header, bytes, n);
    r->header_bytes = n;
    return FR_OK;
}

fr_status fr_reject_add(struct fr_reject *r, const struct fr_rejected_row *row,
                        struct fr_err *err)
{
    fr_status st = r->bytes == 0 ? write_begin(r, err) : FR_OK;

    if (st != FR_OK)
        return st;
    st = write_text(r, row->bytes, row->n, err);
    if (st == FR_EDATA)
        return fr_err_wrap(err, "reject file %s: row %llu", r->path,
                           (unsigned long long)row->row);
    return st != FR_OK || r->notes == NULL ? st : add_note(r, row, err);
}

static bool flush_to_disk(FILE *f)
{
    /* EINVAL: a pipe or device has no disk to sync to */
    return fflush(f) == 0 &&
           (fdatasync(fileno(f)) == 0 || errno == EINVAL || errno == EROFS);
}

fr_status fr_reject_sync(struct fr_reject *r, struct fr_err *err)
{
    if (!flush_to_disk(r->rows))
        return file_error(r, "", err);
    if (r->notes != NULL && !flush_to_disk(r->notes))
        return file_error(r, NOTES_SUFFIX, err);
    return FR_OK;
}

void fr_reject_cut(struct fr_reject *r, uint64_t keep_bytes, uint64_t keep_rows)
{
    /* a failure is no news: the load has failed, and a resumed one cuts again */
    (void)fflush(r->rows);
    (void)cut(r->rows, keep_bytes);
    if (r->notes != NULL && fflush(r->notes) == 0 && fseeko(r->notes, 0, SEEK_SET) == 0)
        (void)cut(r->notes, end_of_line(r->notes, keep_rows));
    r->bytes = keep_bytes;
}

uint64_t fr_reject_bytes(const struct fr_reject *r)
{
    return r->bytes;
}
