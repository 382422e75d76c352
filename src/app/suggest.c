/* fullrack check --suggest-table: a CREATE TABLE that files load into. */
#include "app/check.h"
#include "app/document_print.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/num.h"
#include "load/check.h"
#include "load/plan.h"
#include "load/source.h"
#include "load/suggest.h"
#include "rack/ipc.h"
#include "wire/bulk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_BYTES = 64 * 1024, SQL_MAX_BYTES = 4 << 20, PATH_BYTES = 64 };

struct suggestion {
    const struct fr_settings *s;
    const struct sources *list;
    const _Atomic int *stop;
    struct fr_shape first; /* of the first file: its table names the columns */
    struct fr_suggest *columns;
    char options[FR_SNIFFED_TEXT_BYTES]; /* of the first file */
    int64_t rows, rejected;
};

/* A pipe is read twice, once for its beginning: what it gives is put into a file without
 * a name.  *kept_as is the caller's to free, *kept to close. */
static fr_status keep_stream(const char *path, const _Atomic int *stop, char **kept_as,
                             FILE **kept, struct fr_err *err)
{
    struct fr_source *in = NULL;
    struct stat info;
    char *block;
    size_t n = 1;
    fr_status st;

    *kept = NULL;
    if (strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode))) {
        *kept_as = strdup(path);
        return *kept_as != NULL ? FR_OK
                                : fr_err_set(err, FR_ENOMEM, "no memory for a name");
    }
    block = malloc(COPY_BYTES);
    if (block == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a copy");
    st = fr_source_open_raw(path, FR_RAW_NO_MARK, stop, &in, err);
    *kept = tmpfile();
    if (st == FR_OK && *kept == NULL)
        st = fr_err_errno(err, FR_EIO, errno, "a temporary file");
    while (st == FR_OK && n > 0) {
        st = fr_source_read(in, block, COPY_BYTES, &n, err);
        if (st == FR_OK && fwrite(block, 1, n, *kept) != n)
            st = fr_err_errno(err, FR_EIO, errno, "a temporary file");
    }
    if (st == FR_OK && fflush(*kept) != 0)
        st = fr_err_errno(err, FR_EIO, errno, "a temporary file");
    if (st == FR_OK && asprintf(kept_as, "/proc/self/fd/%d", fileno(*kept)) < 0) {
        *kept_as = NULL;
        st = fr_err_set(err, FR_ENOMEM, "no memory for a name");
    }
    fr_source_close(&in);
    free(block);
    return st;
}

static void tell_reject(void *ctx, const char *text)
{
    (void)ctx;
    fr_log(FR_LOG_WARN, "rejected: %s", text);
}

static void add_row(void *ctx, const struct fr_cell *cells, size_t columns)
{
    struct suggestion *g = ctx;

    fr_suggest_row(g->columns, cells, columns);
}

static fr_status read_file(struct suggestion *g, const char *path, struct fr_shape *shape,
                           struct fr_err *err)
{
    size_t *longest = calloc(g->first.table->column_count + 1, sizeof *longest);
    struct fr_check_result r;
    struct fr_check c = {.source = path,
                         .table = g->first.table,
                         .options = &shape->options,
                         .engine = &fr_wire_engine,
                         .stop = g->stop,
                         .on_reject = tell_reject,
                         .on_row = add_row,
                         .ctx = g};
    fr_status st;

    if (longest == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the columns");
    shape->options.max_errors = INT64_MAX;
    shape->options.error_file = NULL;
    st = fr_check_run(&c, longest, &r, err);
    g->rows += r.rows;
    g->rejected += r.rejected;
    free(longest);
    return st;
}

static fr_status read_source(struct suggestion *g, const char *path, bool may_head,
                             struct fr_err *err)
{
    struct fr_shape other = {.table = NULL},
                    *shape = g->first.table == NULL ? &g->first : &other;
    fr_status st = fr_shape_find(path, &g->s->load, may_head, shape, err);

    if (st != FR_OK)
        return st;
    if (shape == &g->first) {
        if (shape->found.looked)
            (void)fr_sniffed_options(&shape->found, &g->s->load, g->options);
        st = fr_suggest_new(shape->table->column_count, &g->s->load, &g->columns, err);
    }
    if (st == FR_OK)
        st = read_file(g, path, shape, err);
    if (shape == &other)
        fr_shape_free(&other);
    return st;
}

static void forget(struct suggestion *g)
{
    fr_suggest_free(&g->columns);
    fr_shape_free(&g->first);
}

static fr_status read_sources(struct suggestion *g, char **paths, struct fr_err *err)
{
    struct fr_column only;
    fr_status st = FR_OK;

    for (size_t i = 0; st == FR_OK && i < g->list->count; i++)
        st = read_source(g, paths[i], true, err);
    if (st != FR_OK || g->first.table->column_count != 1 || !g->first.found.looked ||
        g->s->load.header != FR_HEADER_UNSET)
        return st;
    /* a word in front of words is one of them, as a load would take it */
    fr_suggest_column(g->columns, 0, &only);
    if (only.type != FR_TYPE_VARCHAR && only.type != FR_TYPE_NVARCHAR)
        return FR_OK;
    forget(g);
    g->rows = g->rejected = 0;
    for (size_t i = 0; st == FR_OK && i < g->list->count; i++)
        st = read_source(g, paths[i], false, err);
    return st;
}

static fr_status write_table(const struct suggestion *g, const char *name,
                             struct fr_buf *sql, struct fr_err *err)
{
    struct fr_table_name parts;
    char quoted[2 * FR_NAME_MAX_BYTES + 3];
    const char *between = "";
    fr_status st = fr_table_name_parse(name, &parts, err);

    if (st != FR_OK)
        return st;
    fr_buf_add_str(sql, "CREATE TABLE ");
    for (size_t i = 0; i < 3; i++) {
        const char *part = i == 0 ? parts.database : i == 1 ? parts.schema : parts.table;

        if (part[0] == '\0')
            continue;
        if (!fr_name_quote(part, quoted, sizeof quoted))
            return fr_err_set(err, FR_EARG, "table name %s is too long", name);
        fr_buf_printf(sql, "%s%s", between, quoted);
        between = ".";
    }
    for (size_t i = 0; i < g->first.table->column_count; i++) {
        struct fr_column c;
        char type[FR_TYPE_TEXT_BYTES];

        fr_suggest_column(g->columns, i, &c);
        if (!fr_name_quote(g->first.table->columns[i].name, quoted, sizeof quoted))
            return fr_err_set(err, FR_EDATA, "the name of column %zu is too long", i + 1);
        fr_buf_printf(sql, "%s    %s %s %s", i == 0 ? " (\n" : ",\n", quoted,
                      fr_column_type_text(&c, type), c.nullable ? "NULL" : "NOT NULL");
    }
    fr_buf_add_str(sql, "\n);\n");
    return sql->failed ? fr_err_set(err, FR_ENOMEM, "the table is too long") : FR_OK;
}

static void print_text(const struct suggestion *g, const struct fr_buf *sql)
{
    char rows[32], shown[FR_PRINTABLE_BYTES + 4];

    fr_printable(g->list->items[0], strlen(g->list->items[0]), shown);
    /* behind it: what begins with -- would be an option of `fullrack query` */
    printf("%s-- fits %s row%s of ", fr_buf_text(sql),
           fr_num_grouped((uint64_t)g->rows, rows, sizeof rows), g->rows == 1 ? "" : "s");
    if (g->list->count == 1)
        printf("%s", strcmp(shown, "-") == 0 ? "standard input" : shown);
    else
        printf("%zu files", g->list->count);
    if (g->options[0] != '\0')
        printf(" (%s)", g->options);
    putchar('\n');
}

static fr_status print_json(const struct suggestion *g, const struct fr_buf *sql,
                            struct fr_err *err)
{
    json_t *columns = json_array(), *doc;

    for (size_t i = 0; i < g->first.table->column_count; i++) {
        struct fr_column c;
        char type[FR_TYPE_TEXT_BYTES];

        fr_suggest_column(g->columns, i, &c);
        json_array_append_new(
            columns, json_pack("{s:o, s:s, s:b}", "name",
                               fr_ipc_string(g->first.table->columns[i].name), "type",
                               fr_column_type_text(&c, type), "nullable", c.nullable));
    }
    doc = json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "sql",
                    fr_ipc_string(fr_buf_text(sql)), "columns", columns, "rows",
                    (json_int_t)g->rows, "rejected", (json_int_t)g->rejected, "files",
                    json_integer((json_int_t)g->list->count), "options",
                    g->options[0] == '\0' ? json_null() : fr_ipc_string(g->options));
    return document_print(doc, err);
}

int check_suggest(struct fr_settings *s, const char *name, const struct sources *list,
                  const _Atomic int *stop, struct fr_err *err)
{
    struct suggestion g = {.s = s, .list = list, .stop = stop};
    char **paths = calloc(list->count, sizeof *paths);
    FILE **kept = calloc(list->count, sizeof(FILE *));
    struct fr_buf sql;
    fr_status st = FR_OK;

    fr_buf_init(&sql, SQL_MAX_BYTES);
    if (paths == NULL || kept == NULL) {
        free(paths);
        free(kept);
        return fr_status_exit(fr_err_set(err, FR_ENOMEM, "no memory for the files"));
    }
    for (size_t i = 0; st == FR_OK && i < list->count; i++)
        st = keep_stream(list->items[i], stop, &paths[i], &kept[i], err);
    if (st == FR_OK)
        st = read_sources(&g, paths, err);
    if (st == FR_OK)
        st = write_table(&g, name, &sql, err);
    if (st == FR_OK && s->json)
        st = print_json(&g, &sql, err);
    else if (st == FR_OK)
        print_text(&g, &sql);
    if (st == FR_OK && g.rejected > 0)
        fr_log(FR_LOG_WARN, "%lld row%s not fit into this table", (long long)g.rejected,
               g.rejected == 1 ? " does" : "s do");
    forget(&g);
    for (size_t i = 0; i < list->count; i++) {
        free(paths[i]);
        if (kept[i] != NULL)
            fclose(kept[i]);
    }
    free(paths);
    free(kept);
    fr_buf_free(&sql);
    return st != FR_OK ? fr_status_exit(st) : g.rejected > 0 ? 1 : 0;
}
