#include "load/bulk_insert.h"

#include "base/num.h"
#include "load/bulk_insert_values.h"
#include "load/packing.h"
#include "load/reader.h"
#include "load/sniff.h"
#include "load/split.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STATEMENT_BYTES = 64 << 10,
    ROW_SLACK_BYTES = 16 << 20,
    PATH_BYTES = 4200,
    FIRST_CSV_VERSION = 14, /* SQL Server 2017 */
    EDITION_AZURE_DATABASE = 5,
    EDITION_AZURE_INSTANCE = 8
};

/* ---- counting ---- */

struct counting {
    const char *source;
    const struct fr_load_options *o;
    const struct fr_table *table;
    struct fr_reader *reader;
    struct fr_bulk_values *values;
    int64_t row; /* the number of the record at hand, the header not counted */
    struct fr_bulk_count *out;
};

static fr_status odd_row(const struct counting *c, const char *what, struct fr_err *err)
{
    return fr_err_set(err, FR_EDATA,
                      "%s: row %" PRId64 " %s: the server would read the file otherwise "
                      "than a load; load it from here, without --server-side",
                      c->source, c->row, what);
}

static fr_status look_at_end(struct counting *c, const char *p,
                             const struct fr_record *rec, struct fr_err *err)
{
    size_t n = rec->total_bytes - rec->body_bytes;
    enum fr_row_end end = n == 0 ? FR_ROW_END_UNKNOWN
                          : memchr(p + rec->body_bytes, '\r', n) != NULL ? FR_ROW_END_CRLF
                                                                         : FR_ROW_END_LF;

    if (end == FR_ROW_END_UNKNOWN || end == c->out->end)
        return FR_OK;
    if (c->out->end != FR_ROW_END_UNKNOWN)
        return odd_row(c, "ends otherwise (LF, CRLF) than those before it", err);
    c->out->end = end;
    return FR_OK;
}

static fr_status look_at_values(struct counting *c, const struct fr_record *rec,
                                struct fr_err *err)
{
    const struct fr_column *column = NULL;
    const char *odd = fr_bulk_values_find_odd(c->values, rec, &column);

    c->out->rows++;
    return odd == NULL
               ? FR_OK
               : fr_err_set(err, FR_EDATA,
                            "%s: row %" PRId64 ", column %s: %s; load it from here, "
                            "without --server-side",
                            c->source, c->row, column->name, odd);
}

static fr_status look_at_row(struct counting *c, const char *p,
                             const struct fr_record *rec, struct fr_err *err)
{
    size_t columns = c->table->column_count;
    fr_status st = FR_OK;
    char text[100];

    if (rec->bad != NULL)
        return odd_row(c, rec->bad, err);
    if (rec->blank || (rec->body_bytes == 0 && columns > 1))
        return odd_row(c, "is blank", err);
    if (rec->count != columns) {
        snprintf(text, sizeof text, "has %zu field%s, and the table %zu column%s",
                 rec->count, rec->count == 1 ? "" : "s", columns,
                 columns == 1 ? "" : "s");
        return odd_row(c, text, err);
    }
    if (c->row >= c->o->first_row && (c->o->last_row == 0 || c->row <= c->o->last_row))
        st = look_at_values(c, rec, err);
    else
        c->out->skipped++;
    return st == FR_OK ? look_at_end(c, p, rec, err) : st;
}

/* The server passes it by, and takes the fields in the table's order. */
static fr_status look_at_header(struct counting *c, const char *p,
                                const struct fr_record *rec, struct fr_err *err)
{
    const struct fr_table *t = c->table;
    bool same = rec->count == t->column_count && rec->bad == NULL;

    for (size_t i = 0; same && i < t->column_count; i++)
        same = fr_table_find_column(t, rec->fields[i].p, rec->fields[i].n) == i;
    if (c->o->header == FR_HEADER_MATCH && !same)
        return fr_err_set(
            err, FR_EARG,
            "%s: the header does not name the columns of %s in their order, "
            "in which the server takes the fields: load it from here, "
            "without --server-side",
            c->source, t->display);
    c->out->skipped++;
    return look_at_end(c, p, rec, err);
}

static fr_status count_rows(struct counting *c, const struct fr_splitter *sp,
                            const _Atomic int *stop, struct fr_field *fields,
                            struct fr_err *err)
{
    struct fr_record rec = {.fields = fields};
    bool header = c->o->header == FR_HEADER_SKIP || c->o->header == FR_HEADER_MATCH;
    fr_status st = FR_OK;

    c->row = header ? 0 : 1;
    while (st == FR_OK) {
        const struct fr_window *w = fr_reader_window(c->reader);
        enum fr_split_result got = fr_split_next(sp, w->p, w->n, w->at_end, &rec);

        if (got == FR_SPLIT_END)
            break;
        if (got == FR_SPLIT_MORE) {
            st = fr_reader_more(c->reader, err);
            continue;
        }
        if (stop != NULL && atomic_load_explicit(stop, memory_order_relaxed) != 0)
            return fr_err_set(err, FR_EINTR, "%s: stopped", c->source);
        /* a header may have any number of names */
        if (c->row == 0)
            st = look_at_header(c, w->p, &rec, err);
        else
            st = look_at_row(c, w->p, &rec, err);
        c->out->bytes += (int64_t)rec.total_bytes;
        fr_reader_consume(c->reader, rec.total_bytes);
        rec = (struct fr_record){.fields = fields};
        c->row++;
    }
    return st;
}

fr_status fr_bulk_insert_check_source(const char *source, struct fr_err *err)
{
    struct stat about;

    if (strcmp(source, "-") != 0 && (stat(source, &about) != 0 || S_ISREG(about.st_mode)))
        return FR_OK;
    return fr_err_set(err, FR_EARG,
                      "%s is no file: what the server is to read (--server-side) has to "
                      "be one",
                      source);
}

/* The server unpacks nothing. */
static fr_status check_packing(const char *path, struct fr_err *err)
{
    char begin[FR_MAGIC_BYTES];
    /* what has become a FIFO meanwhile keeps nobody waiting */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, begin, sizeof begin);

    if (fd >= 0)
        close(fd);
    if (n > 0 && fr_packing_find(begin, (size_t)n) != FR_NOT_PACKED)
        return fr_err_set(err, FR_EARG,
                          "%s is packed, and the server unpacks nothing: load it without "
                          "--server-side",
                          path);
    return FR_OK;
}

static fr_status count_source(const char *source, const struct fr_load_options *o,
                              const struct fr_table *t, const _Atomic int *stop,
                              struct fr_source **opened, struct fr_bulk_count *out,
                              struct fr_err *err)
{
    struct counting c = {.source = source, .o = o, .table = t, .out = out};
    struct fr_field *fields = calloc(FR_MAX_FIELDS, sizeof *fields);
    struct fr_splitter *sp = NULL;
    fr_status st = fields != NULL ? FR_OK : fr_err_set(err, FR_ENOMEM, "no memory");

    *out = (struct fr_bulk_count){.end = FR_ROW_END_UNKNOWN};
    if (st == FR_OK)
        st = fr_splitter_new(o, t->column_count, &sp, err);
    if (st == FR_OK)
        st = fr_bulk_values_new(o, t, &c.values, err);
    if (st == FR_OK)
        st = fr_reader_start(opened, (size_t)o->max_field_bytes + ROW_SLACK_BYTES,
                             &c.reader, err);
    if (st == FR_OK)
        st = count_rows(&c, sp, stop, fields, err);
    /* one row, or none, without an end: any will do */
    if (out->end == FR_ROW_END_UNKNOWN)
        out->end = FR_ROW_END_LF;
    fr_reader_stop(&c.reader);
    fr_bulk_values_free(&c.values);
    fr_splitter_free(&sp);
    free(fields);
    return st;
}

fr_status fr_bulk_insert_count(const char *source, const struct fr_load_options *o,
                               const struct fr_table *t, const _Atomic int *stop,
                               struct fr_bulk_count *out, struct fr_err *err)
{
    struct fr_source *opened = NULL;
    fr_status st = check_packing(source, err);

    if (st == FR_OK)
        st = fr_source_open(source, o->encoding, stop, &opened, err);
    if (st == FR_OK)
        st = count_source(source, o, t, stop, &opened, out, err);
    fr_source_close(&opened);
    return st;
}

/* ---- the attempt ---- */

struct run {
    struct fr_sql *s;
    const struct fr_bulk_insert *job;
    struct fr_load_options o; /* settled; texts are borrowed */
    struct fr_sniffed found;
    struct fr_table *table;
    struct fr_head_identity id;
    struct fr_bulk_count count;
    bool is_counted;
    struct fr_head head;
    struct fr_buf sql;
    char file[PATH_BYTES];
};

/* The name of the file where the server sees it. */
static fr_status name_file(struct run *x, struct fr_err *err)
{
    const char *folder = x->o.server_path, *source = x->job->source;
    const char *slash = strrchr(source, '/');
    size_t n = folder == NULL ? 0 : strlen(folder);
    char mark = folder != NULL && strchr(folder, '\\') != NULL ? '\\' : '/';
    int bytes;

    if (folder == NULL)
        bytes = snprintf(x->file, sizeof x->file, "%s", source);
    else
        bytes = snprintf(x->file, sizeof x->file, "%s%.*s%s", folder,
                         n > 0 && folder[n - 1] == mark ? 0 : 1, &mark,
                         slash == NULL ? source : slash + 1);
    return bytes < (int)sizeof x->file
               ? FR_OK
               : fr_err_set(err, FR_EARG, "%s: its path is too long", source);
}

/* Since it was opened to be counted: how many rows it had does not say which. */
static bool has_changed(const struct run *x)
{
    const struct fr_source_identity *seen = &x->id.file;
    struct stat now;

    if (!seen->can_reread)
        return false;
    return stat(x->job->source, &now) != 0 || (int64_t)now.st_size != seen->bytes ||
           (int64_t)now.st_mtim.tv_sec * 1000000000 + now.st_mtim.tv_nsec !=
               seen->mtime_ns;
}

/* What cannot be read from here is not counted; then the options have to say all. */
static fr_status look_at_file(struct run *x, struct fr_err *err)
{
    const char *source = x->job->source;
    struct fr_source *opened = NULL;
    fr_status st;

    x->id.file = (struct fr_source_identity){.bytes = -1};
    st = fr_bulk_insert_check_source(source, err);
    if (st != FR_OK)
        return st;
    if (access(source, R_OK) != 0) {
        if (fr_sniff_is_asked(&x->o) || x->o.header == FR_HEADER_MATCH)
            return fr_err_set(err, FR_EARG,
                              "%s cannot be read from here: --format and --header (none, "
                              "skip) have to say what it is",
                              source);
        return FR_OK;
    }
    st = check_packing(source, err);
    if (st == FR_OK && fr_sniff_is_asked(&x->o)) {
        st = fr_sniff_file(source, &x->o, x->table, &x->found, err);
        if (st == FR_OK)
            fr_sniffed_settle(&x->found, &x->o);
        /* nothing was found that says otherwise */
        if (x->o.format == FR_FORMAT_AUTO)
            x->o.format = FR_FORMAT_DELIMITED;
    }
    if (st == FR_OK)
        st = fr_bulk_insert_check(&x->o, err);
    if (st == FR_OK)
        st = fr_source_open(source, x->o.encoding, x->job->stop, &opened, err);
    if (st == FR_OK) {
        x->id.file = *fr_source_identity(opened);
        st = count_source(source, &x->o, x->table, x->job->stop, &opened, &x->count, err);
        if (st == FR_EDATA && has_changed(x))
            st = fr_err_set(err, FR_EDATA,
                            "%s: the file was changed while its rows were counted; "
                            "nothing of it was loaded",
                            source);
    }
    fr_source_close(&opened);
    x->is_counted = st == FR_OK;
    return st;
}

static fr_status check_version(struct run *x, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    int64_t edition;
    fr_status st;

    if (x->o.format != FR_FORMAT_CSV)
        return FR_OK;
    st = fr_sql_run(x->s,
                    "SELECT CONVERT(int, SERVERPROPERTY('ProductMajorVersion')), "
                    "CONVERT(int, SERVERPROPERTY('EngineEdition'))",
                    fr_sql_take_one, &one, err);
    edition = fr_sql_one_i64(&one, 1, 0);
    if (st == FR_OK && edition != EDITION_AZURE_DATABASE &&
        edition != EDITION_AZURE_INSTANCE &&
        fr_sql_one_i64(&one, 0, FIRST_CSV_VERSION) < FIRST_CSV_VERSION)
        return fr_err_set(err, FR_EARG,
                          "this server reads no csv: SQL Server 2017 and later do; load "
                          "the file from here, without --server-side");
    return st;
}

static fr_status take_head(struct run *x, struct fr_err *err)
{
    const struct fr_bulk_insert *j = x->job;
    struct fr_truncation t = {j->truncate_group, x->table->quoted, x->table->object_id};
    fr_status st = FR_OK;

    if (t.group != NULL && t.group[0] != '\0')
        st = fr_ledger_truncate_once(x->s, &j->key.place, &t, err);
    return st == FR_OK
               ? fr_ledger_take_over(x->s, &j->key, j->epoch, &x->id, &x->head, err)
               : st;
}

static fr_status take_over(struct run *x, struct fr_err *err)
{
    fr_status st = take_head(x, err);

    /* the ledger may not be there yet; that is asked only then */
    if (st == FR_EDB && !x->s->lost) {
        st = fr_ledger_create(x->s, &x->job->key.place, err);
        if (st == FR_OK)
            st = take_head(x, err);
    }
    if (st == FR_OK && x->job->confirm != NULL)
        st = x->job->confirm(x->job->ctx, err);
    return st;
}

/* What the server's error means for this statement, where its own text does not say. */
static const char *advice(int number)
{
    static const struct {
        int number;
        const char *text;
    } rows[] = {
        {4832, "the file ends within a row: are the terminators right?"},
        {4834, "the login needs ADMINISTER BULK OPERATIONS, or to be in bulkadmin"},
        {4860, "the path is one of the server's machine: --server-path says where the "
               "file lies there"},
        {4861, "the server's own account has to be able to read the file; to fullrackd "
               "--bulk-root names the folders"},
        {4862, "the server cannot read it: is it open elsewhere?"},
        {4863, "a text is longer than its column; fullrack check names the row"},
        {4864, "a value is none of its column's type; fullrack check names the row"},
        {4866, "a field has no end: are the terminators right?"},
        {4867, "a number is too large for its column; fullrack check names the row"},
        {4879, "a row is no csv; fullrack check names it"},
        {7301, "the server cannot read the file as the options say"},
        {7330, "the server could not read a row; fullrack check names it"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return rows[i].text;
    return NULL;
}

static void explain(const struct run *x, struct fr_err *err)
{
    const char *what = advice(err->server_number);
    char text[FR_ERR_TEXT_BYTES];

    if (what != NULL && snprintf(text, sizeof text, "%s", err->text) > 0)
        snprintf(err->text, sizeof err->text, "%.*s (%s)",
                 (int)(sizeof err->text - strlen(what) - 4), text, what);
    fr_err_wrap(err, "%s: BULK INSERT", x->job->source);
}

static fr_status compare(const struct run *x, int64_t loaded, struct fr_err *err)
{
    const char *silent =
        loaded == 0 ? " (a server that does not know the statement may take it and do "
                      "nothing)"
                    : "";

    if (x->is_counted && loaded != x->count.rows)
        return fr_err_set(err, FR_EDATA,
                          "%s: the server says that it loaded %" PRId64
                          " rows, and the file holds %" PRId64
                          "%s: all of it is rolled back",
                          x->job->source, loaded, x->count.rows, silent);
    if (x->o.rows_expected >= 0 && loaded != x->o.rows_expected)
        return fr_err_set(err, FR_EDATA,
                          "%s: the server says that it loaded %" PRId64
                          " rows, and --rows-expected %" PRId64
                          "%s: all of it is rolled back",
                          x->job->source, loaded, x->o.rows_expected, silent);
    if (loaded <= 0 && !x->is_counted && x->o.rows_expected < 0)
        return fr_err_set(err, FR_EDATA,
                          "%s: the server loaded no row%s, and the file cannot be "
                          "counted from here: --rows-expected 0 says that it is empty",
                          x->job->source, silent);
    return FR_OK;
}

static fr_status insert(struct run *x, struct fr_err *err)
{
    struct fr_head after = x->head;
    int64_t loaded = -1;
    fr_status st =
        fr_sql_run(x->s, "SET XACT_ABORT ON; BEGIN TRANSACTION;", NULL, NULL, err);

    if (st == FR_OK) {
        fr_buf_add_str(&x->sql, ";\nSELECT ROWCOUNT_BIG();");
        st = fr_sql_run(x->s, fr_buf_text(&x->sql), fr_sql_take_last_i64, &loaded, err);
        if (st != FR_OK)
            explain(x, err);
    }
    if (st == FR_OK)
        st = compare(x, loaded, err);
    if (st == FR_OK && x->is_counted && has_changed(x))
        st = fr_err_set(err, FR_EDATA,
                        "%s: the file was changed between the counting of its rows and "
                        "the end of the statement: all of it is rolled back",
                        x->job->source);
    if (st == FR_OK) {
        after.rows = loaded;
        after.skipped = x->count.skipped;
        after.next_offset = x->count.bytes;
        after.next_row = loaded + x->count.skipped + 1;
        after.done = true;
        st = fr_ledger_step(x->s, &x->job->key, &x->head, &after, err);
    }
    if (st != FR_OK) {
        fr_ledger_let_go(x->s);
        return st;
    }
    after.batches++;
    x->head = after;
    return FR_OK;
}

static void say_count(const struct run *x, char said[FR_BULK_SAID_BYTES])
{
    if (x->is_counted)
        snprintf(said, FR_BULK_SAID_BYTES,
                 "the file's rows were counted: %" PRId64 ", as many as the server says",
                 x->count.rows);
    else if (x->o.rows_expected >= 0)
        snprintf(said, FR_BULK_SAID_BYTES,
                 FR_BULK_NOT_COUNTED " (it cannot be read from here): as many as "
                                     "--rows-expected");
    else
        snprintf(said, FR_BULK_SAID_BYTES,
                 FR_BULK_NOT_COUNTED ": it cannot be read from here, and there is no "
                                     "--rows-expected");
}

static fr_status run(struct run *x, struct fr_err *err)
{
    const struct fr_bulk_insert *j = x->job;
    fr_status st = fr_bulk_insert_check(&x->o, err);

    if (st == FR_OK && (j->key.range_start > 0 || j->key.range_end >= 0))
        st = fr_err_set(err, FR_EARG, "--server-side: the server reads no ranges");
    if (st == FR_OK)
        st = fr_table_describe(x->s, j->table, &x->table, err);
    if (st == FR_OK)
        st = name_file(x, err);
    if (st == FR_OK)
        st = look_at_file(x, err);
    if (st == FR_OK && x->is_counted && x->o.rows_expected >= 0 &&
        x->o.rows_expected != x->count.rows)
        st = fr_err_set(err, FR_EDATA,
                        "%s holds %" PRId64 " rows, and --rows-expected says %" PRId64,
                        j->source, x->count.rows, x->o.rows_expected);
    if (st == FR_OK)
        st = fr_bulk_insert_statement(&x->o, x->table, x->file, x->count.end, &x->sql,
                                      err);
    if (st == FR_OK)
        st = check_version(x, err);
    if (st != FR_OK)
        return st;
    x->id.source = j->source;
    x->id.plan_hash =
        fr_hash(FR_HASH_START, fr_buf_text(&x->sql), x->sql.len) & INT64_MAX;
    x->id.object_id = x->table->object_id;
    x->id.object_create_date = x->table->create_date;
    st = take_over(x, err);
    return st == FR_OK && !x->head.done ? insert(x, err) : st;
}

fr_status fr_bulk_insert_run(struct fr_sql *s, const struct fr_bulk_insert *job,
                             struct fr_load_result *r, char said[FR_BULK_SAID_BYTES],
                             struct fr_err *err)
{
    struct run x = {.s = s, .job = job, .o = *job->options};
    fr_status st;

    said[0] = '\0';
    fr_buf_init(&x.sql, STATEMENT_BYTES);
    st = run(&x, err);
    if (x.head.done) {
        r->rows = x.head.rows;
        r->skipped = x.head.skipped;
        r->batches = x.head.batches;
        r->bytes_read = x.head.next_offset;
        atomic_store(&job->progress->rows, r->rows);
        atomic_store(&job->progress->bytes_read, r->bytes_read);
        atomic_store(&job->progress->committed_rows, r->rows);
        atomic_store(&job->progress->committed_bytes, r->bytes_read);
    }
    if (st == FR_OK)
        say_count(&x, said);
    if (x.found.looked) {
        (void)fr_sniffed_text(&x.found, job->options, r->format);
        (void)fr_sniffed_options(&x.found, job->options, r->format_options);
    }
    fr_table_free(&x.table);
    fr_buf_free(&x.sql);
    return st;
}
