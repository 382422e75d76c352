#include "disk/fio.h"

#include "disk/child.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_OUTPUT_BYTES = 64 << 20,
    FILL_BLOCK_BYTES = 1 << 20,
    FILL_OUTSTANDING = 16,
    EXTRA_MS = 120000, /* that fio may take beyond a run's seconds */
    NOTE_BYTES = 400
};

static void add(struct fr_fio_arguments *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct fr_fio_arguments *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(a->texts[a->count], FR_FIO_ARGUMENT_BYTES, fmt, ap);
    va_end(ap);
    a->argv[a->count] = a->texts[a->count];
    a->count++;
}

/* ':' parts file names; "-" alone would be standard input, and so "./" is in front. */
static fr_status add_file_name(struct fr_fio_arguments *a, const char *name,
                               struct fr_err *err)
{
    size_t n = (size_t)snprintf(a->file_name, sizeof a->file_name, "--filename=./");

    for (const char *p = name; *p != '\0'; p++) {
        if (n + 3 > sizeof a->file_name)
            return fr_err_set(err, FR_EARG, "%s: the name is too long", name);
        if (*p == ':')
            a->file_name[n++] = '\\';
        a->file_name[n++] = *p;
    }
    a->file_name[n] = '\0';
    a->argv[a->count++] = a->file_name;
    return FR_OK;
}

/* Without O_DIRECT the kernel's asynchronous I/O waits: a thread is there for each of
 * the outstanding I/Os instead. */
static void add_engine(struct fr_fio_arguments *a, const struct fr_test_file *f,
                       int64_t threads, int64_t outstanding)
{
    add(a, "--ioengine=%s", f->is_direct ? "libaio" : "psync");
    add(a, "--direct=%d", f->is_direct ? 1 : 0);
    add(a, "--numjobs=%" PRId64, f->is_direct ? threads : threads * outstanding);
    add(a, "--iodepth=%" PRId64, f->is_direct ? outstanding : 1);
}

static void add_run(struct fr_fio_arguments *a, const struct fr_test_file *f,
                    const struct fr_disk_run *run)
{
    const struct fr_disk_kind *k = &run->kind;
    uint64_t jobs = fr_disk_run_jobs(run, f->is_direct);
    uint64_t part = f->bytes / jobs / k->block_bytes * k->block_bytes;

    add_engine(a, f, run->threads, run->outstanding);
    add(a, "--rw=%s%s", k->is_random ? "rand" : "", fr_disk_operations[k->is_write]);
    add(a, "--bs=%" PRIu64, k->block_bytes);
    add(a, "--time_based");
    add(a, "--runtime=%" PRId64, run->seconds);
    if (!k->is_write)
        add(a, "--readonly");
    if (run->write_through)
        add(a, "--sync=dsync");
    if (k->is_random) {
        /* as SQLIO: any block at any time, also twice */
        add(a, "--norandommap");
        add(a, "--randrepeat=0");
        add(a, "--size=%" PRIu64, f->bytes);
    } else {
        /* each thread a part of its own: at one place they would read from a cache */
        add(a, "--size=%" PRIu64, part);
        add(a, "--offset_increment=%" PRIu64, part);
    }
}

static void add_fill(struct fr_fio_arguments *a, const struct fr_test_file *f)
{
    add_engine(a, f, 1, f->is_direct ? FILL_OUTSTANDING : 1);
    add(a, "--rw=write");
    add(a, "--bs=%d", FILL_BLOCK_BYTES);
    add(a, "--size=%" PRIu64, f->bytes);
    add(a, "--refill_buffers");
    add(a, "--end_fsync=1");
}

fr_status fr_fio_arguments_make(const struct fr_test_file *f,
                                const struct fr_disk_run *run,
                                struct fr_fio_arguments *out, struct fr_err *err)
{
    memset(out, 0, sizeof *out);
    add(out, "fio");
    add(out, "--output-format=json+");
    add(out, "--eta=never");
    add(out, "--thread");
    add(out, "--group_reporting");
    add(out, "--name=%s", run == NULL ? "fill" : "run");
    add(out, "--allow_file_create=0");
    if (run != NULL)
        add_run(out, f, run);
    else
        add_fill(out, f);
    return add_file_name(out, f->name, err);
}

/* What fio said in front of its JSON: some of its messages go there. */
static void note_of(const struct fr_buf *printed, char out[NOTE_BYTES])
{
    const char *text = fr_buf_text(printed);
    size_t n = strcspn(text, "{");

    while (n > 0 && strchr(" \t\r\n", text[n - 1]) != NULL)
        n--;
    snprintf(out, NOTE_BYTES, "%.*s", (int)(n < NOTE_BYTES ? n : NOTE_BYTES - 1), text);
}

static fr_status explain_end(const struct fr_child_end *end, const struct fr_buf *printed,
                             struct fr_err *err)
{
    char note[NOTE_BYTES];
    const char *says = end->messages;

    if (says[0] == '\0') {
        note_of(printed, note);
        says = note;
    }
    if (end->exit_status < 0)
        return fr_err_set(err, FR_EIO, "fio was ended by signal %d%s%s", end->signal,
                          says[0] == '\0' ? "" : ": ", says);
    return fr_err_set(err, FR_EIO, "fio ended with status %d: %s", end->exit_status,
                      says[0] == '\0' ? "it says nothing" : says);
}

static fr_status run_fio(const struct fr_test_file *f, const struct fr_disk_run *run,
                         const volatile sig_atomic_t *stop, struct fr_buf *printed,
                         struct fr_err *err)
{
    struct fr_fio_arguments *a = malloc(sizeof *a);
    struct fr_child child = {.folder = f->folder, .stop = stop};
    struct fr_child_end end;
    fr_status st;

    if (a == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for fio's arguments");
    if (run != NULL)
        child.limit_ms = (uint64_t)run->seconds * 1000 + EXTRA_MS;
    st = fr_fio_arguments_make(f, run, a, err);
    child.argv = a->argv;
    if (st == FR_OK)
        st = fr_child_run(&child, printed, &end, err);
    if (st == FR_EMPTY)
        st = fr_err_set(err, FR_EARG,
                        "fio is not installed: it is in the package fio (apt-get install "
                        "fio, dnf install fio, zypper install fio)");
    else if (st == FR_OK && end.exit_status != 0)
        st = explain_end(&end, printed, err);
    free(a);
    return st;
}

fr_status fr_fio_fill(const struct fr_test_file *f, const volatile sig_atomic_t *stop,
                      struct fr_err *err)
{
    struct fr_buf printed;
    json_t *document = NULL;
    struct fr_disk_result filled;
    fr_status st;

    fr_buf_init(&printed, MAX_OUTPUT_BYTES);
    st = run_fio(f, NULL, stop, &printed, err);
    if (st == FR_OK)
        st = fr_disk_fio_document(printed.data, printed.len, &document, err);
    if (st == FR_OK)
        st = fr_disk_fio_result(document, true, &filled, err);
    if (st == FR_OK && filled.bytes != f->bytes)
        st = fr_err_set(err, FR_EIO, "fio wrote %" PRIu64 " of %" PRIu64 " bytes",
                        filled.bytes, f->bytes);
    json_decref(document);
    fr_buf_free(&printed);
    return st == FR_OK ? st : fr_err_wrap(err, "filling %s", f->path);
}

fr_status fr_fio_run(const struct fr_test_file *f, const struct fr_disk_run *run,
                     const volatile sig_atomic_t *stop, json_t **document,
                     struct fr_disk_result *result, struct fr_err *err)
{
    struct fr_buf printed;
    fr_status st;

    *document = NULL;
    fr_buf_init(&printed, MAX_OUTPUT_BYTES);
    st = run_fio(f, run, stop, &printed, err);
    if (st == FR_OK)
        st = fr_disk_fio_document(printed.data, printed.len, document, err);
    if (st == FR_OK)
        st = fr_disk_fio_result(*document, run->kind.is_write, result, err);
    if (st != FR_OK) {
        json_decref(*document);
        *document = NULL;
    }
    fr_buf_free(&printed);
    return st;
}
