/* fullrack check: files against a table, without loading them; or a table for them. */
#include "app/check.h"
#include "app/command.h"
#include "app/cut.h"
#include "app/document_print.h"
#include "app/open.h"
#include "app/sources.h"
#include "base/log.h"
#include "base/num.h"
#include "db/bcp.h"
#include "db/dblib.h"
#include "db/ddl.h"
#include "load/check.h"
#include "load/reject.h"
#include "load/suggest.h"
#include "rack/ipc.h"
#include "rack/result.h"
#include "wire/bulk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the command: a signal's handler has no other way to it. */
static _Atomic int stop;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop, FR_STOP_NOW);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* The table, and what the engine that would load it can. */
struct target {
    struct fr_table *table;
    const struct fr_bulk_engine *engine;
    bool trims_blanks;
};

/* From a script: no server is asked. */
static fr_status read_ddl(const struct fr_settings *s, const char *name,
                          struct target *to, struct fr_err *err)
{
    to->engine = s->load.engine == FR_ENGINE_BCP ? &fr_bcp_engine : &fr_wire_engine;
    return fr_ddl_read(s->ddl_file, name, &to->table, err);
}

static fr_status ask_server(struct fr_settings *s, const char *name, struct target *to,
                            struct fr_err *err)
{
    struct fr_connector c;
    struct fr_sql *session = NULL;
    char why[200];
    fr_status st = open_connector(s, &c, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack check", &session, err);
    if (st == FR_OK)
        st = fr_table_describe(session, name, &to->table, err);
    if (st == FR_OK)
        to->engine = fr_connector_engine(&c, s->load.engine, why, sizeof why);
    fr_sql_close(&session);
    fr_connector_free(&c);
    return st;
}

/* ---- one file ---- */

static void take_reject(void *ctx, const char *text)
{
    json_t *messages = ctx;

    json_array_append_new(messages, fr_ipc_string(text));
    fr_log(FR_LOG_WARN, "rejected: %s", text);
}

static json_t *file_json(const char *source, const struct fr_check_result *r,
                         json_t *messages, const struct fr_err *why)
{
    json_t *format = r->format[0] == '\0'
                         ? json_null()
                         : json_pack("{s:o, s:o}", "found", fr_ipc_string(r->format),
                                     "options", fr_ipc_string(r->format_options));

    return json_pack("{s:o, s:I, s:I, s:I, s:o, s:O, s:o}", "source",
                     fr_ipc_string(source), "rows", (json_int_t)r->rows, "rejected",
                     (json_int_t)r->rejected, "skipped", (json_int_t)r->skipped, "format",
                     format, "messages", messages, "error",
                     why == NULL ? json_null() : fr_ipc_string(why->text));
}

static void print_file(const char *source, const struct fr_check_result *r,
                       const struct fr_err *why)
{
    char rows[32];

    printf("%s: %s row%s would be loaded", source,
           fr_num_grouped((uint64_t)r->rows, rows, sizeof rows), r->rows == 1 ? "" : "s");
    if (r->rejected > 0)
        printf(", %lld rejected", (long long)r->rejected);
    if (r->skipped > 0)
        printf(", %lld skipped", (long long)r->skipped);
    printf("%s\n", why == NULL ? "" : " before the check ended");
    fflush(stdout);
}

struct run {
    const struct fr_settings *s;
    const struct target *to;
    const struct cut *cut; /* the sources, each whole */
    size_t *longest;       /* per column */
    json_t *files;
    int64_t rows, rejected, skipped;
    int exit_status;
};

/* A file that cannot be read, or has more bad rows than -m, is told and the next one
 * looked at. */
static fr_status check_file(struct run *run, const struct fr_rack_part *part,
                            struct fr_err *err)
{
    const char *source = part->path;
    struct fr_load_options o = run->s->load;
    json_t *messages = json_array();
    struct fr_check_result r = {.rows = 0};
    struct fr_check c = {.source = source,
                         .table = run->to->table,
                         .options = &o,
                         .engine = run->to->engine,
                         .trims_blanks = run->to->trims_blanks,
                         .stop = &stop,
                         .on_reject = take_reject,
                         .ctx = messages};
    char *path = NULL;
    fr_status st = FR_OK;

    if (o.max_errors == 0)
        o.max_errors = INT64_MAX;
    if (o.error_file != NULL && run->cut->count > 1) {
        st = fr_rack_reject_path(part, o.error_file, &path, err);
        o.error_file = path;
    }
    if (st == FR_OK)
        st = fr_check_run(&c, run->longest, &r, err);
    json_array_append_new(run->files,
                          file_json(source, &r, messages, st == FR_OK ? NULL : err));
    if (st != FR_OK)
        fr_log(FR_LOG_ERROR, "%s", err->text);
    if (!run->s->json && (!run->s->quiet || st != FR_OK))
        print_file(source, &r, st == FR_OK ? NULL : err);
    run->rows += r.rows;
    run->rejected += r.rejected;
    run->skipped += r.skipped;
    if (st != FR_OK || r.rejected > 0)
        run->exit_status = st == FR_EARG && run->exit_status == 0 ? 2 : 1;
    json_decref(messages);
    free(path);
    return st == FR_EINTR || st == FR_ENOMEM ? st : FR_OK;
}

/* ---- widths ---- */

static bool has_width(const struct fr_column *c)
{
    return c->type == FR_TYPE_CHAR || c->type == FR_TYPE_VARCHAR ||
           c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR ||
           c->type == FR_TYPE_BINARY || c->type == FR_TYPE_VARBINARY;
}

/* In the column's own units; SIZE_MAX = (max). */
static size_t width_of(const struct fr_column *c)
{
    bool wide = c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR;

    return c->max_bytes < 0 ? SIZE_MAX : (size_t)c->max_bytes / (wide ? 2 : 1);
}

static struct fr_column with_width(const struct fr_column *c, size_t longest)
{
    struct fr_column out = *c;
    bool wide = c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR;
    size_t width = fr_suggest_width(longest);

    out.max_bytes = width > (wide ? 4000 : 8000) ? -1 : (int32_t)(width * (wide ? 2 : 1));
    return out;
}

static json_t *columns_json(const struct run *run)
{
    const struct fr_table *t = run->to->table;
    json_t *columns = json_array();

    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];
        struct fr_column fit = with_width(c, run->longest[i]);
        char type[FR_TYPE_TEXT_BYTES], suggested[FR_TYPE_TEXT_BYTES];

        if (has_width(c))
            json_array_append_new(columns,
                                  json_pack("{s:o, s:s, s:I, s:b, s:s}", "name",
                                            fr_ipc_string(c->name), "type",
                                            fr_column_type_text(c, type), "longest",
                                            (json_int_t)run->longest[i], "too_short",
                                            run->longest[i] > width_of(c), "suggested",
                                            fr_column_type_text(&fit, suggested)));
    }
    return columns;
}

static void print_columns(const struct run *run)
{
    const struct fr_table *t = run->to->table;
    int name_width = 6, type_width = 4;
    bool any = false;

    for (size_t i = 0; i < t->column_count; i++) {
        char type[FR_TYPE_TEXT_BYTES];
        int n = (int)strlen(t->columns[i].name);
        int m = (int)strlen(fr_column_type_text(&t->columns[i], type));

        if (!has_width(&t->columns[i]))
            continue;
        any = true;
        name_width = n > name_width ? n : name_width;
        type_width = m > type_width ? m : type_width;
    }
    if (any)
        printf("%-*s  %-*s  longest value\n", name_width, "column", type_width, "type");
    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];
        struct fr_column fit = with_width(c, run->longest[i]);
        char type[FR_TYPE_TEXT_BYTES], suggested[FR_TYPE_TEXT_BYTES];

        if (!has_width(c))
            continue;
        printf("%-*s  %-*s  %zu", name_width, c->name, type_width,
               fr_column_type_text(c, type), run->longest[i]);
        if (run->longest[i] > width_of(c))
            printf(": too short, %s would do", fr_column_type_text(&fit, suggested));
        printf("\n");
    }
}

static fr_status print_json(const struct run *run, struct fr_err *err)
{
    json_t *doc = json_pack(
        "{s:o, s:I, s:I, s:I, s:O, s:o}", "table", fr_ipc_string(run->to->table->display),
        "rows", (json_int_t)run->rows, "rejected", (json_int_t)run->rejected, "skipped",
        (json_int_t)run->skipped, "files", run->files, "columns", columns_json(run));

    return document_print(doc, err);
}

/* The exit status. */
static int check_files(struct fr_settings *s, const struct target *to,
                       const struct cut *cut, struct fr_err *err)
{
    struct run run = {.s = s, .to = to, .cut = cut, .files = json_array()};
    fr_status st = FR_OK;

    run.longest = calloc(to->table->column_count, sizeof *run.longest);
    if (run.longest == NULL) {
        json_decref(run.files);
        return fr_status_exit(fr_err_set(err, FR_ENOMEM, "no memory for the columns"));
    }
    for (size_t i = 0; st == FR_OK && i < cut->count; i++)
        st = check_file(&run, &cut->parts[i], err);
    if (st == FR_OK && s->json)
        st = print_json(&run, err);
    if (st == FR_OK && !s->json && !s->quiet) {
        fr_result_print_formats(run.files, stdout);
        print_columns(&run);
    }
    /* it was told */
    if (st == FR_OK || st == FR_EINTR)
        fr_err_clear(err);
    json_decref(run.files);
    free(run.longest);
    return st == FR_OK ? run.exit_status : fr_status_exit(st);
}

static fr_status check_sources(const struct fr_settings *s, const struct sources *list,
                               struct fr_err *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], "-") == 0 && list->count > 1)
            return fr_err_set(
                err, FR_EARG,
                "standard input (-) cannot be checked together with other sources");
    if (fr_settings_is_given(s, "reject-table"))
        return fr_err_set(err, FR_EARG,
                          "--reject-table is for loads: check writes nothing to the "
                          "database; -e FILE keeps the rejected rows");
    if (s->ddl_file != NULL && s->suggest_table)
        return fr_err_set(err, FR_EARG,
                          "--suggest-table makes a table, --ddl gives one: give one of "
                          "them");
    return FR_OK;
}

int command_check(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct sources list = {0};
    struct target to = {.engine = NULL};
    struct cut cut = {0};
    int exit_status = 1;
    fr_status st;

    catch_signals();
    /* of a configuration file that is for loads, too */
    free(s->load.reject_table);
    s->load.reject_table = NULL;
    st = sources_expand(args->items + 1, args->count - 1, false, &list, err);
    if (st == FR_OK)
        st = check_sources(s, &list, err);
    if (st == FR_OK && s->suggest_table) {
        exit_status = check_suggest(s, args->items[0], &list, &stop, err);
        sources_free(&list);
        return exit_status;
    }
    if (st == FR_OK)
        st = s->ddl_file != NULL ? read_ddl(s, args->items[0], &to, err)
                                 : ask_server(s, args->items[0], &to, err);
    if (st == FR_OK) {
        to.trims_blanks =
            to.engine == &fr_bcp_engine && fr_dblib_trims_blanks(fr_dblib_version());
        st = fr_load_options_check_blanks(&s->load, fr_dblib_version(), to.trims_blanks,
                                          err);
    }
    if (st == FR_OK)
        st = cut_sources(s, &list, to.table, &cut, err);
    if (st == FR_OK)
        st = cut_check_reject_names(&cut, s->load.error_file, err);
    if (st == FR_OK)
        exit_status = check_files(s, &to, &cut, err);
    else
        exit_status = fr_status_exit(st);
    cut_free(&cut);
    fr_table_free(&to.table);
    sources_free(&list);
    return exit_status;
}
