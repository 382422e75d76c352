/* fullrack backup: back databases up in stripes, now or by the queue; find the fastest
 * way. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/task_kind.h"
#include "control/queue.h"
#include "db/backup.h"
#include "db/bcp.h"
#include "rack/ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CHOICES = 32, MAX_BUFFERS = 1000000, DATABASE_PART_BYTES = 600 };

/* Numbers of an option: one, or with --sweep several. */
struct choices {
    int64_t items[MAX_CHOICES];
    size_t count;
};

struct backups {
    struct fr_settings *s;
    struct fr_backup_device devices[FR_BACKUP_MAX_STRIPES];
    size_t device_count;
    struct choices stripes, buffers, transfers;
    char name[FR_BACKUP_NAME_BYTES];
    struct fr_sql *session;
    json_t *list; /* of results */
    json_t *best; /* one of them, borrowed */
    size_t failed;
};

/* ---- options ---- */

typedef fr_status (*parse_fn)(const char *text, int64_t max, int64_t *out);

static fr_status parse_count(const char *text, int64_t max, int64_t *out)
{
    return fr_num_i64(text, 1, max, out);
}

static fr_status parse_size(const char *text, int64_t max, int64_t *out)
{
    uint64_t size;
    fr_status st = fr_num_size(text, (uint64_t)max, &size);

    *out = st == FR_OK ? (int64_t)size : 0;
    return st == FR_OK && size == 0 ? FR_ERANGE : st;
}

static fr_status parse_choices(const char *option, const char *text, parse_fn parse,
                               int64_t max, struct choices *out, struct fr_err *err)
{
    char one[32];

    out->count = 0;
    for (const char *p = text; p != NULL;) {
        size_t n = strcspn(p, ",");

        snprintf(one, sizeof one, "%.*s", n < sizeof one ? (int)n : 0, p);
        if (out->count == MAX_CHOICES)
            return fr_err_set(err, FR_EARG, "--%s %s: give at most %d", option, text,
                              MAX_CHOICES);
        if (parse(one, max, &out->items[out->count++]) != FR_OK)
            return fr_err_set(err, FR_EARG,
                              "--%s %s: \"%.*s\" is none that can be: give up to %lld",
                              option, text, (int)n, p, (long long)max);
        p = p[n] == ',' ? p + n + 1 : NULL;
    }
    return FR_OK;
}

static fr_status read_devices(struct backups *b, struct fr_err *err)
{
    const struct fr_text_list *to = &b->s->to;
    fr_status st = FR_OK;

    if (to->count == 0 || to->count > FR_BACKUP_MAX_STRIPES)
        return fr_err_set(err, FR_EARG,
                          "say where the backup goes: --to DIR, a folder of the server's "
                          "(1 to %d of them)",
                          FR_BACKUP_MAX_STRIPES);
    for (size_t i = 0; st == FR_OK && i < to->count; i++)
        st = fr_backup_device_parse(to->items[i], &b->devices[i], err);
    b->device_count = to->count;
    return st;
}

/* What a sweep tries where nothing is said: 0 stands for the server's own choice. */
static void choose_grid(struct backups *b)
{
    if (b->stripes.count == 0)
        for (size_t k = 1; k <= 4 && k * b->device_count <= FR_BACKUP_MAX_STRIPES; k *= 2)
            b->stripes.items[b->stripes.count++] = (int64_t)(k * b->device_count);
    if (b->buffers.count == 0)
        b->buffers = (struct choices){{0, 25, 100}, 3};
    if (b->transfers.count == 0)
        b->transfers = (struct choices){{1048576, 4194304}, 2};
}

static fr_status read_choices(struct backups *b, struct fr_err *err)
{
    struct choices *const all[] = {&b->stripes, &b->buffers, &b->transfers};
    const struct fr_settings *s = b->s;
    fr_status st = parse_choices("stripes", s->stripes, parse_count,
                                 FR_BACKUP_MAX_STRIPES, &b->stripes, err);

    if (st == FR_OK)
        st = parse_choices("buffer-count", s->buffer_count, parse_count, MAX_BUFFERS,
                           &b->buffers, err);
    if (st == FR_OK)
        st = parse_choices("max-transfer-size", s->transfer_size, parse_size,
                           4 * 1024 * 1024, &b->transfers, err);
    for (size_t i = 0; st == FR_OK && i < b->transfers.count; i++)
        if (b->transfers.items[i] % 65536 != 0)
            st = fr_err_set(err, FR_EARG,
                            "--max-transfer-size: %lld is no multiple of 64K",
                            (long long)b->transfers.items[i]);
    if (st != FR_OK)
        return st;
    if (s->sweep)
        choose_grid(b);
    for (size_t i = 0; i < 3; i++) {
        if (!s->sweep && all[i]->count > 1)
            return fr_err_set(err, FR_EARG, "several values are tried with --sweep only");
        if (all[i]->count == 0)
            *all[i] = (struct choices){{0}, 1};
    }
    return FR_OK;
}

static fr_status check_options(const struct backups *b, const struct fr_arguments *args,
                               struct fr_err *err)
{
    const struct fr_settings *s = b->s;

    if (s->sweep && s->queue)
        return fr_err_set(err, FR_EARG, "--sweep measures now: not with --queue");
    if (s->sweep && args->count > 1)
        return fr_err_set(err, FR_EARG, "--sweep takes one database");
    if (s->backup_name != NULL && args->count > 1)
        return fr_err_set(err, FR_EARG, "--name is for the files of one database");
    if (s->backup_name != NULL && strlen(s->backup_name) >= FR_BACKUP_NAME_BYTES)
        return fr_err_set(err, FR_EARG, "--name: give at most %d bytes",
                          FR_BACKUP_NAME_BYTES - 1);
    return FR_OK;
}

/* What a file's name cannot have on one of the servers' systems is written as %XX, so
 * that no two databases have files of one name. */
static void add_database(struct fr_buf *out, const char *database)
{
    for (const char *p = database; *p != '\0' && out->len < DATABASE_PART_BYTES; p++) {
        if ((unsigned char)*p < ' ' || strchr("/\\:*?\"<>|%", *p) != NULL)
            fr_buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
        else
            fr_buf_add_byte(out, (unsigned char)*p);
    }
}

/* NAME, or the database and the time (of a sweep: without, each writes over the last). */
static void name_files(struct backups *b, const char *database)
{
    struct timespec now;
    struct tm tm;
    char when[32] = "";
    struct fr_buf name;

    if (b->s->backup_name != NULL) {
        snprintf(b->name, sizeof b->name, "%s", b->s->backup_name);
        return;
    }
    fr_buf_init(&name, FR_BACKUP_NAME_BYTES);
    add_database(&name, database);
    if (b->s->sweep)
        fr_buf_add_str(&name, ".sweep");
    else if (clock_gettime(CLOCK_REALTIME, &now) == 0 &&
             gmtime_r(&now.tv_sec, &tm) != NULL &&
             strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm) > 0)
        fr_buf_printf(&name, ".%s.%03ldZ", when, now.tv_nsec / 1000000);
    snprintf(b->name, sizeof b->name, "%s", fr_buf_text(&name));
    fr_buf_free(&name);
}

/* ---- one backup ---- */

static void take_message(void *ctx, const char *text)
{
    fr_backup_take_message(ctx, text);
}

static fr_status run_statements(struct backups *b, const struct fr_backup *how,
                                struct fr_backup_figures *f, struct fr_err *err)
{
    uint64_t since_ms = fr_clock_ms();
    struct fr_buf sql;
    fr_status st;

    fr_buf_init(&sql, FR_BACKUP_SQL_BYTES);
    b->session->message = take_message;
    b->session->message_ctx = f;
    st = fr_backup_sql(how, &sql, err);
    if (st == FR_OK)
        st = fr_sql_run(b->session, fr_buf_text(&sql), NULL, NULL, err);
    if (st == FR_OK && !f->found) {
        /* a server that speaks another language: only our own clock is left */
        f->bytes = f->pages = -1;
        f->duration_ms = (int64_t)(fr_clock_ms() - since_ms);
    }
    fr_buf_reset(&sql);
    if (st == FR_OK && b->s->verify_backup)
        st = fr_backup_verify_sql(how, &sql, err);
    if (st == FR_OK && b->s->verify_backup)
        st = fr_sql_run(b->session, fr_buf_text(&sql), NULL, NULL, err);
    b->session->message = NULL;
    fr_buf_free(&sql);
    return st;
}

static fr_status show_statements(struct backups *b, const struct fr_backup *how,
                                 struct fr_err *err)
{
    struct fr_buf sql;
    fr_status st;

    fr_buf_init(&sql, FR_BACKUP_SQL_BYTES);
    st = fr_backup_sql(how, &sql, err);
    if (st == FR_OK)
        fr_buf_add_str(&sql, "GO\n");
    if (st == FR_OK && b->s->verify_backup)
        st = fr_backup_verify_sql(how, &sql, err);
    if (st == FR_OK && b->s->verify_backup)
        fr_buf_add_str(&sql, "GO\n");
    if (st == FR_OK)
        fputs(fr_buf_text(&sql), stdout);
    fr_buf_free(&sql);
    return st;
}

static json_t *number_or_null(int64_t n, int64_t unknown)
{
    return n == unknown ? json_null() : json_integer(n);
}

static json_t *result_json(const struct backups *b, const struct fr_backup *how,
                           const struct fr_backup_figures *f)
{
    return json_pack(
        "{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:f, s:o, s:b}", "database", how->database,
        "name", how->name, "stripes", (json_int_t)fr_backup_stripes(how), "buffer_count",
        number_or_null(how->buffer_count, 0), "max_transfer_size",
        number_or_null(how->transfer_bytes, 0), "pages", number_or_null(f->pages, -1),
        "bytes", number_or_null(f->bytes, -1), "seconds", (double)f->duration_ms / 1000,
        "mb_per_s", f->found ? json_real(f->mb_per_s) : json_null(), "verified",
        (int)b->s->verify_backup);
}

/* Of one choice of each; names its database where it fails. */
static fr_status back_up(struct backups *b, struct fr_backup *how, int64_t stripes,
                         json_t **out, struct fr_err *err)
{
    struct fr_backup_figures f = {0};
    fr_status st =
        fr_backup_distribute(b->devices, b->device_count, (unsigned)stripes, err);

    *out = NULL;
    if (st == FR_OK && b->s->show_sql)
        return show_statements(b, how, err);
    if (st == FR_OK)
        st = run_statements(b, how, &f, err);
    if (st != FR_OK)
        return fr_err_wrap(err, "backup of %s", how->database);
    *out = result_json(b, how, &f);
    return *out != NULL ? FR_OK : fr_err_set(err, FR_ENOMEM, "no memory for a result");
}

/* What the server refuses of one does not keep the others from being tried; a session
 * that is gone does. */
static bool may_go_on(const struct backups *b, fr_status st)
{
    return st == FR_EDB && b->session != NULL && !b->session->lost;
}

/* It stands in the document, with its error. */
static void note_failure(struct backups *b, const struct fr_backup *how,
                         const struct fr_err *why)
{
    json_array_append_new(
        b->list, json_pack("{s:o, s:o, s:I, s:o, s:o, s:o}", "database",
                           fr_ipc_string(how->database), "name", fr_ipc_string(how->name),
                           "stripes", (json_int_t)fr_backup_stripes(how), "buffer_count",
                           number_or_null(how->buffer_count, 0), "max_transfer_size",
                           number_or_null(how->transfer_bytes, 0), "error",
                           fr_ipc_string(why->text)));
    b->failed++;
}

static struct fr_backup describe(struct backups *b, const char *database)
{
    name_files(b, database);
    return (struct fr_backup){
        .database = database,
        .name = b->name,
        .devices = b->devices,
        .device_count = b->device_count,
        .buffer_count = b->buffers.items[0],
        .transfer_bytes = b->transfers.items[0],
        .block_bytes = (int64_t)b->s->block_bytes,
        .compression = (enum fr_backup_compression)b->s->compression,
        .copy_only = b->s->copy_only || b->s->sweep,
        /* a task may be tried again after its files were written */
        .keeps_existing = b->s->backup_name == NULL && !b->s->sweep && !b->s->queue,
    };
}

/* A number that may be null, "-" then. */
static const char *real_text(const json_t *n, double divisor, int digits, char *out,
                             size_t size)
{
    if (!json_is_number(n))
        return "-";
    snprintf(out, size, "%.*f", digits, json_number_value(n) / divisor);
    return out;
}

static void print_result(const struct backups *b, const json_t *r)
{
    char bytes[32], rate[32];

    if (b->s->json || b->s->quiet)
        return;
    printf("%s: %lld stripe%s, %s MB in %.3f s, %s MB/s",
           json_string_value(json_object_get(r, "database")),
           (long long)json_integer_value(json_object_get(r, "stripes")),
           json_integer_value(json_object_get(r, "stripes")) == 1 ? "" : "s",
           real_text(json_object_get(r, "bytes"), 1048576, 1, bytes, sizeof bytes),
           json_real_value(json_object_get(r, "seconds")),
           real_text(json_object_get(r, "mb_per_s"), 1, 3, rate, sizeof rate));
    printf("%s (%s.*.bak)\n", b->s->verify_backup ? ", verified" : "",
           json_string_value(json_object_get(r, "name")));
}

static fr_status back_up_all(struct backups *b, const struct fr_arguments *args,
                             struct fr_err *err)
{
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < args->count; i++) {
        struct fr_backup how = describe(b, args->items[i]);
        json_t *result;

        st = back_up(b, &how, b->stripes.items[0], &result, err);
        if (st == FR_OK && result != NULL) {
            print_result(b, result);
            json_array_append_new(b->list, result);
        } else if (st != FR_OK) {
            note_failure(b, &how, err);
            if (args->count == 1 || !may_go_on(b, st))
                break;
            fr_log(FR_LOG_ERROR, "%s", err->text);
            st = FR_OK;
        }
    }
    if (st == FR_OK && b->failed > 0)
        st = fr_err_set(err, FR_EDB, "%zu of %zu backups failed", b->failed, args->count);
    return st;
}

/* ---- sweep ---- */

static const char *number_text(int64_t n, char *out, size_t size)
{
    if (n == 0)
        return "server's";
    snprintf(out, size, "%lld", (long long)n);
    return out;
}

static void print_cell(const struct backups *b, const struct fr_backup *how,
                       const json_t *r)
{
    char buffers[32], transfer[32], rate[32];

    if (b->s->json || b->s->quiet)
        return;
    printf("%7u  %12s  %17s  %9.3f  %10s\n", fr_backup_stripes(how),
           number_text(how->buffer_count, buffers, sizeof buffers),
           number_text(how->transfer_bytes, transfer, sizeof transfer),
           json_real_value(json_object_get(r, "seconds")),
           real_text(json_object_get(r, "mb_per_s"), 1, 3, rate, sizeof rate));
    fflush(stdout);
}

/* By the server's rates, or by the seconds where one of them is not known. */
static bool is_faster(const json_t *r, const json_t *than)
{
    const json_t *a = json_object_get(r, "mb_per_s");
    const json_t *b = json_object_get(than, "mb_per_s");

    if (json_is_real(a) && json_is_real(b))
        return json_real_value(a) > json_real_value(b);
    return json_real_value(json_object_get(r, "seconds")) <
           json_real_value(json_object_get(than, "seconds"));
}

/* A choice that the server refuses (too much memory) is said, and the others are tried.
 */
static fr_status try_cell(struct backups *b, struct fr_backup *how, int64_t stripes,
                          struct fr_err *err)
{
    json_t *r;
    fr_status st = back_up(b, how, stripes, &r, err);

    if (st != FR_OK)
        note_failure(b, how, err);
    if (may_go_on(b, st)) {
        fr_log(FR_LOG_WARN, "%lld stripes, buffer count %lld, transfer size %lld: %s",
               (long long)stripes, (long long)how->buffer_count,
               (long long)how->transfer_bytes, err->text);
        return FR_OK;
    }
    if (st != FR_OK || r == NULL)
        return st;
    print_cell(b, how, r);
    json_array_append_new(b->list, r);
    if (b->best == NULL || is_faster(r, b->best))
        b->best = r;
    return FR_OK;
}

static void print_best(const struct backups *b)
{
    long long buffers, transfer;
    char rate[32];

    if (b->best == NULL || b->s->json || b->s->quiet)
        return;
    buffers = json_integer_value(json_object_get(b->best, "buffer_count"));
    transfer = json_integer_value(json_object_get(b->best, "max_transfer_size"));
    printf("best: %s MB/s with --stripes %lld",
           real_text(json_object_get(b->best, "mb_per_s"), 1, 3, rate, sizeof rate),
           (long long)json_integer_value(json_object_get(b->best, "stripes")));
    if (buffers > 0)
        printf(" --buffer-count %lld", buffers);
    if (transfer > 0)
        printf(" --max-transfer-size %lld", transfer);
    putchar('\n');
}

static fr_status sweep(struct backups *b, const char *database, struct fr_err *err)
{
    struct fr_backup how = describe(b, database);
    fr_status st = FR_OK;

    if (!b->s->json && !b->s->quiet && !b->s->show_sql)
        printf("%7s  %12s  %17s  %9s  %10s\n", "stripes", "buffer count",
               "max transfer size", "seconds", "MB/s");
    for (size_t i = 0; st == FR_OK && i < b->stripes.count; i++)
        for (size_t k = 0; st == FR_OK && k < b->buffers.count; k++)
            for (size_t m = 0; st == FR_OK && m < b->transfers.count; m++) {
                how.buffer_count = b->buffers.items[k];
                how.transfer_bytes = b->transfers.items[m];
                st = try_cell(b, &how, b->stripes.items[i], err);
            }
    print_best(b);
    if (st == FR_OK && b->failed > 0)
        st = fr_err_set(err, FR_EDB, "%zu of the backups failed", b->failed);
    return st;
}

/* ---- queue ---- */

static fr_status queue_one(struct backups *b, struct fr_control *control,
                           const char *database, struct fr_err *err)
{
    struct fr_backup how = describe(b, database);
    char source[FR_BACKUP_NAME_BYTES + 64];
    struct fr_added_task got;
    struct fr_new_task task = {.kind = FR_KIND_BACKUP,
                               .source = source,
                               .server = b->s->server,
                               .database = database,
                               .table = database,
                               .options = "{}",
                               .range_end = -1,
                               .priority = b->s->priority,
                               .max_attempts = b->s->max_attempts,
                               .again = true};
    bool all_added;
    struct fr_buf sql;
    fr_status st = fr_backup_distribute(b->devices, b->device_count,
                                        (unsigned)b->stripes.items[0], err);

    fr_buf_init(&sql, FR_BACKUP_SQL_BYTES);
    if (st == FR_OK)
        st = fr_backup_sql(&how, &sql, err);
    if (st == FR_OK && b->s->verify_backup) {
        fr_buf_add_str(&sql, "GO\n");
        st = fr_backup_verify_sql(&how, &sql, err);
    }
    snprintf(source, sizeof source, "backup %s (%u stripe%s)", how.name,
             fr_backup_stripes(&how), fr_backup_stripes(&how) == 1 ? "" : "s");
    task.sql = fr_buf_text(&sql);
    if (st == FR_OK)
        st = fr_queue_add(control, &task, 1, &got, &all_added, err);
    if (st == FR_OK) {
        json_array_append_new(b->list,
                              json_pack("{s:I, s:s, s:s, s:s}", "task_id",
                                        (json_int_t)got.task_id, "kind", FR_KIND_BACKUP,
                                        "database", database, "source", source));
        if (!b->s->json && !b->s->quiet)
            printf("task %lld: %s\n", (long long)got.task_id, source);
    }
    fr_buf_free(&sql);
    return st;
}

static fr_status queue_all(struct backups *b, const struct fr_arguments *args,
                           struct fr_err *err)
{
    struct fr_connector c = {0};
    struct fr_control *control = NULL;
    fr_status st = open_control(b->s, &c, &control, err);

    for (size_t i = 0; st == FR_OK && i < args->count; i++)
        st = queue_one(b, control, args->items[i], err);
    fr_control_close(&control);
    fr_connector_free(&c);
    return st;
}

/* ---- the command ---- */

static fr_status run_now(struct backups *b, const struct fr_arguments *args,
                         struct fr_err *err)
{
    struct fr_connector c = {0};
    fr_status st = FR_OK;

    if (!b->s->show_sql)
        st = open_connector(b->s, &c, err);
    if (st == FR_OK && !b->s->show_sql)
        st = fr_connector_phase(&c, &fr_bcp_engine, NULL, &b->session, err);
    if (st == FR_OK)
        st = b->s->sweep ? sweep(b, args->items[0], err) : back_up_all(b, args, err);
    fr_sql_close(&b->session);
    fr_connector_free(&c);
    return st;
}

static fr_status print_json(const struct backups *b, struct fr_err *err)
{
    json_t *doc = json_pack("{s:O}", b->s->queue ? "tasks" : "backups", b->list);

    if (b->best != NULL && json_object_set(doc, "best", b->best) != 0) {
        json_decref(doc);
        doc = NULL;
    }
    return document_print(doc, err);
}

int command_backup(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct backups *b = calloc(1, sizeof *b);
    fr_status st, printed = FR_OK;

    if (b == NULL)
        return fr_status_exit(fr_err_set(err, FR_ENOMEM, "no memory"));
    b->s = s;
    b->list = json_array();
    st = b->list == NULL ? fr_err_set(err, FR_ENOMEM, "no memory")
                         : check_options(b, args, err);
    if (st == FR_OK)
        st = read_devices(b, err);
    if (st == FR_OK)
        st = read_choices(b, err);
    if (st == FR_OK)
        st = s->queue && !s->show_sql ? queue_all(b, args, err) : run_now(b, args, err);
    if (s->json && !s->show_sql && (st == FR_OK || json_array_size(b->list) > 0))
        printed = print_json(b, st == FR_OK ? err : NULL);
    st = st == FR_OK ? printed : st;
    json_decref(b->list);
    free(b);
    return fr_status_exit(st);
}
