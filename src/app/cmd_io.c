/* fullrack io: what a disk does under SQLIO's runs, and what that is good for. */
#include "app/command.h"
#include "app/document_print.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/shown.h"
#include "base/utf8.h"
#include "disk/defaults.h"
#include "disk/fio.h"
#include "disk/sheet.h"
#include "disk/targets.h"
#include "report/grid.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

/* The test file is removed also where nobody reads what is printed. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, hangup;

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

struct test {
    const struct fr_settings *s;
    struct fr_document matrix_document, targets_document;
    struct fr_disk_matrix matrix;
    struct fr_disk_targets targets;
    struct fr_test_file file;
    double fill_s;
    size_t done;                    /* runs that are over */
    struct fr_disk_result *results; /* owned; of each run */
    json_t *sheets;                 /* owned */
    json_t *verdict;                /* owned */
    char fio_version[64];
};

/* FILE, or what is built in. */
static fr_status read_document(const char *file, const char *built_in, const char *shown,
                               struct fr_document *out, struct fr_err *err)
{
    return file != NULL ? fr_document_read(file, out, err)
                        : fr_document_parse(shown, built_in, out, err);
}

/* All of its mistakes, a line each. */
static fr_status refuse_mistakes(struct fr_document *d, struct fr_err *err)
{
    if (d->mistake_count == 0)
        return FR_OK;
    fr_document_log_mistakes(d);
    return fr_err_set(err, FR_EARG, "%s has %zu mistake%s: nothing was done", d->path,
                      d->mistake_count, d->mistake_count == 1 ? "" : "s");
}

static fr_status read_matrix(struct test *t, struct fr_err *err)
{
    const struct fr_settings *s = t->s;
    struct fr_disk_overrides o = {.file_bytes = s->file_bytes,
                                  .threads = s->threads,
                                  .outstanding = s->outstanding,
                                  .seconds = s->seconds};
    fr_status st = read_document(s->matrix_file, fr_disk_default_matrix, "matrix.json",
                                 &t->matrix_document, err);

    if (st == FR_OK)
        st = fr_disk_matrix_read(&t->matrix_document, &t->matrix, err);
    if (st == FR_OK)
        st = refuse_mistakes(&t->matrix_document, err);
    return st == FR_OK ? fr_disk_matrix_override(&t->matrix, &o, err) : st;
}

static fr_status read_targets(struct test *t, struct fr_err *err)
{
    const struct fr_settings *s = t->s;
    fr_status st = read_document(s->targets_file, fr_disk_default_targets, "targets.json",
                                 &t->targets_document, err);

    if (st == FR_OK)
        st = fr_disk_targets_read(&t->targets_document, &t->targets, err);
    if (st == FR_OK)
        st = refuse_mistakes(&t->targets_document, err);
    if (st == FR_OK && s->targets.count > 0)
        st = fr_disk_targets_choose(&t->targets, s->targets.items, s->targets.count,
                                    &t->matrix, err);
    return st;
}

/* -- what is shown ------------------------------------------------------------------- */

static bool is_text(const struct test *t)
{
    return !t->s->json && !t->s->quiet;
}

static void print_beginning(const struct test *t)
{
    const struct fr_test_file *f = &t->file;
    int64_t seconds = 0;

    for (size_t i = 0; i < t->matrix.count; i++)
        seconds += t->matrix.runs[i].seconds;
    fr_put_shown(f->path, stdout);
    printf(": %.3f GB%s, %s\n", (double)f->bytes / 1e9,
           f->is_made ? ", made for this test" : "",
           f->is_direct ? "O_DIRECT"
                        : "through the page cache (its file system refuses O_DIRECT)");
    printf("%zu runs, %lld s%s; MB are 10^6 bytes\n", t->matrix.count, (long long)seconds,
           f->is_made ? " besides the time to fill the file" : "");
    fflush(stdout);
}

/* What makes the figures better than the disk is. */
static void warn_of_caches(const struct test *t)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    double memory = (double)pages * (double)page_bytes;

    if (t->file.is_direct)
        return;
    fr_log(FR_LOG_WARN,
           "%s: the file system refuses O_DIRECT: I/Os go through the page cache%s",
           t->file.path,
           (double)t->file.bytes < 2 * memory
               ? ", and the file is smaller than twice the memory: these are not the "
                 "disk's figures"
               : "");
}

static const struct fr_grid_column rule_columns[] = {
    {.key = "state", .title = "state"},     {.key = "operation", .title = "I/O"},
    {.key = "access", .title = "access"},   {.key = "block_bytes", .title = "bytes"},
    {.key = "figure", .title = "figure"},   {.key = "got", .title = "got", .decimals = 3},
    {.key = "wants", .title = "has to be"},
};

/* "at most 2" */
static void add_wants(json_t *rules)
{
    size_t i;
    json_t *rule;

    json_array_foreach(rules, i, rule)
    {
        char text[64];

        snprintf(text, sizeof text, "at %s %g",
                 json_is_true(json_object_get(rule, "is_maximum")) ? "most" : "least",
                 json_real_value(json_object_get(rule, "wanted")));
        json_object_set_new(rule, "wants", json_string(text));
    }
}

static void print_verdict(const struct test *t)
{
    json_t *shown = json_deep_copy(t->verdict), *target;
    size_t i;

    json_array_foreach(shown, i, target)
    {
        json_t *rules = json_object_get(target, "rules");

        add_wants(rules);
        printf("\ntarget ");
        fr_put_shown(json_string_value(json_object_get(target, "name")), stdout);
        printf(": %s\n", json_string_value(json_object_get(target, "state")));
        fr_grid_print_text(rule_columns, sizeof rule_columns / sizeof rule_columns[0],
                           rules, stdout);
    }
    json_decref(shown);
}

static fr_status print_json(const struct test *t, struct fr_err *err)
{
    const struct fr_test_file *f = &t->file;
    json_t *doc = json_pack("{s:s, s:I, s:b, s:b, s:b, s:s, s:o, s:O, s:O}", "file",
                            f->path, "file_bytes", (json_int_t)f->bytes, "is_made",
                            f->is_made, "is_kept", f->is_made && t->s->keep, "is_direct",
                            f->is_direct, "fio_version", t->fio_version, "fill_s",
                            f->is_made ? json_real(t->fill_s) : json_null(), "runs",
                            t->sheets, "targets", t->verdict);

    return document_print(doc, err);
}

/* -- the test ------------------------------------------------------------------------ */

static fr_status fill(struct test *t, struct fr_err *err)
{
    uint64_t began = fr_clock_ms();
    fr_status st;

    if (!t->file.is_made)
        return FR_OK;
    st = fr_fio_fill(&t->file, &stop, err);
    t->fill_s = (double)(fr_clock_ms() - began) / 1e3;
    if (st == FR_OK && is_text(t))
        printf("filled in %.1f s, %.1f MB/s\n", t->fill_s,
               t->fill_s > 0 ? (double)t->file.bytes / 1e6 / t->fill_s : 0);
    return st;
}

static fr_status run_one(struct test *t, size_t i, struct fr_err *err)
{
    const struct fr_disk_run *run = &t->matrix.runs[i];
    char title[FR_DISK_TITLE_BYTES];
    json_t *document = NULL, *sheet;
    fr_status st;

    fr_disk_run_title(run, title);
    if (is_text(t)) {
        printf("\n%s\n", title);
        fflush(stdout);
    }
    st = fr_fio_run(&t->file, run, &stop, &document, &t->results[i], err);
    if (st == FR_EINTR)
        return st;
    if (st != FR_OK)
        return fr_err_wrap(err, "%s", title);
    snprintf(t->fio_version, sizeof t->fio_version, "%s", fr_disk_fio_version(document));
    fr_utf8_mend(t->fio_version);
    sheet = fr_disk_sheet_json(run, &t->results[i], document);
    json_decref(document);
    if (json_array_append_new(t->sheets, sheet) != 0)
        return fr_err_set(err, FR_ENOMEM, "no memory for the figures");
    if (is_text(t))
        fr_disk_sheet_print(&t->results[i], stdout);
    if (fflush(stdout) != 0)
        return fr_err_errno(err, FR_EIO, errno, "writing to standard output");
    return FR_OK;
}

static fr_status run_all(struct test *t, struct fr_err *err)
{
    fr_status st = fill(t, err);

    while (st == FR_OK && t->done < t->matrix.count) {
        st = run_one(t, t->done, err);
        t->done += st == FR_OK;
    }
    if (st != FR_OK)
        return st;
    t->verdict = fr_disk_verdict(&t->targets, t->matrix.runs, t->results, t->done);
    return t->verdict != NULL ? FR_OK
                              : fr_err_set(err, FR_ENOMEM, "no memory for the verdict");
}

/* Of the targets that were asked for. */
static fr_status judge(const struct test *t, struct fr_err *err)
{
    size_t i;
    json_t *target;

    json_array_foreach(t->verdict, i, target)
    {
        const char *state = json_string_value(json_object_get(target, "state"));

        if (t->s->targets.count > 0 && strcmp(state, "met") != 0)
            return fr_err_set(err, FR_EDATA, "target %s: %s",
                              json_string_value(json_object_get(target, "name")), state);
    }
    return FR_OK;
}

static fr_status test_disk(struct test *t, const char *path, struct fr_err *err)
{
    struct fr_test_file_wish wish = {.path = path,
                                     .bytes = t->matrix.file_bytes,
                                     .writes = fr_disk_matrix_writes(&t->matrix),
                                     .may_overwrite = t->s->overwrite_contents};
    fr_status st = fr_test_file_open(&wish, &t->file, err);

    if (st == FR_OK)
        st = fr_disk_matrix_fits(&t->matrix, t->file.bytes, t->file.is_direct, err);
    if (st != FR_OK)
        return st;
    warn_of_caches(t);
    if (is_text(t))
        print_beginning(t);
    t->results = calloc(t->matrix.count, sizeof *t->results);
    t->sheets = json_array();
    if (t->results == NULL || t->sheets == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the figures");
    return run_all(t, err);
}

static void free_test(struct test *t)
{
    json_decref(t->verdict);
    json_decref(t->sheets);
    free(t->results);
    fr_test_file_free(&t->file);
    fr_disk_targets_free(&t->targets);
    fr_disk_matrix_free(&t->matrix);
    fr_document_free(&t->targets_document);
    fr_document_free(&t->matrix_document);
}

int command_io(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct test t = {.s = s};
    struct fr_err left = {.status = FR_OK};
    fr_status st = read_matrix(&t, err);

    catch_signals();
    if (st == FR_OK)
        st = read_targets(&t, err);
    if (st == FR_OK)
        st = test_disk(&t, args->count > 0 ? args->items[0] : ".", err);
    if (st == FR_OK && s->json)
        st = print_json(&t, err);
    else if (st == FR_OK && !s->quiet)
        print_verdict(&t);
    if (st == FR_OK)
        st = judge(&t, err);
    if (t.file.is_made && s->keep && is_text(&t)) {
        putchar('\n');
        fr_put_shown(t.file.path, stdout);
        printf(" is kept\n");
    }
    if (!s->keep && fr_test_file_remove(&t.file, &left) != FR_OK) {
        fr_log(FR_LOG_ERROR, "%s", left.text);
        st = st == FR_OK ? left.status : st;
    }
    free_test(&t);
    return fr_status_exit(st);
}
