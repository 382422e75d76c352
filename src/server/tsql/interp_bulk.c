/*
 * interp_bulk.c - BULK INSERT: a file of the server's own, read into a table.
 *
 * The rows take the way of INSERT BULK (store/bulk.h): checked and completed as they
 * come, set aside, brought in at the end, and so rolled back whole.
 */
#include "server/net/server.h"
#include "server/store/device.h"
#include "server/store/flat_file.h"
#include "server/store/rights.h"
#include "server/tsql/interp.h"
#include "server/tsql/txn.h"
#include "server/value/collation.h"
#include "server/value/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    CODE_PAGE_RAW = 0, /* each column's own */
    CODE_PAGE_ACP = 1252,
    CODE_PAGE_OEM = 437,
    CODE_PAGE_UTF8 = 65001,
    DEFAULT_MAX_ERRORS = 10,
    LOOK_ROWS = 1024, /* between looks for an attention */
    MAX_COLUMNS = 1024,
    CMD_BULK_INSERT = 240,
    ERROR_TRUNCATED = 2628,
    ERROR_BINARY_TRUNCATED = 8152
};

struct import {
    struct frame *f;
    const struct bulk_insert_stmt *st;
    char path[PATH_MAX];
    struct device file;
    struct flat_format format;
    struct flat_file *rows;
    unsigned code_page;
    int64_t max_errors, errors, row, loaded;
    const struct bulk_field *columns;  /* of the file */
    const struct result_column *types; /* of the stream */
    size_t ntypes;
    struct flat_field *fields;
    struct value *values; /* of the stream; each owned until its row is given */
    struct fr_buf text;
};

/* ---- options ---- */

static bool is_text(const struct bulk_text *t, const char *word)
{
    return t->n == strlen(word) && strncasecmp(t->p, word, t->n) == 0;
}

static bool bad_value(struct import *m, const struct bulk_text *t, const char *option)
{
    return sqlerr_setf(&m->f->ctx.err, 102, 15,
                       "BULK INSERT: '%.*s' is no value of %s that fullrackd knows.",
                       (int)(t->n > 200 ? 200 : t->n), t->p, option);
}

static bool read_terminators(struct import *m)
{
    const struct bulk_insert_stmt *st = m->st;
    struct flat_format *o = &m->format;
    struct bulk_text field = st->field_terminator, row = st->row_terminator;

    if (field.p == NULL)
        field = o->csv ? (struct bulk_text){",", 1} : (struct bulk_text){"\\t", 2};
    if (row.p == NULL)
        row = (struct bulk_text){"\\n", 2};
    if (!flat_terminator_parse(field.p, field.n, o->wide, &o->field))
        return bad_value(m, &field, "FIELDTERMINATOR");
    if (!flat_terminator_parse(row.p, row.n, o->wide, &o->row))
        return bad_value(m, &row, "ROWTERMINATOR");
    return true;
}

static bool read_code_page(struct import *m)
{
    const struct bulk_text *t = &m->st->codepage;
    unsigned page = 0;

    m->code_page = CODE_PAGE_OEM;
    if (t->p == NULL || is_text(t, "OEM"))
        return true;
    m->code_page = is_text(t, "ACP") ? CODE_PAGE_ACP : CODE_PAGE_RAW;
    if (is_text(t, "ACP") || is_text(t, "RAW"))
        return true;
    for (size_t i = 0; i < t->n && i < 6; i++) {
        if (t->p[i] < '0' || t->p[i] > '9')
            return bad_value(m, t, "CODEPAGE");
        page = page * 10 + (unsigned)(t->p[i] - '0');
    }
    m->code_page = page;
    return (page != 0 && codepage_known(page)) || bad_value(m, t, "CODEPAGE");
}

static bool read_options(struct import *m)
{
    const struct bulk_insert_stmt *st = m->st;
    const struct bulk_text *type = &st->data_file_type;

    m->max_errors = st->max_errors < 0 ? DEFAULT_MAX_ERRORS : st->max_errors;
    m->format.wide = type->p != NULL && is_text(type, "widechar");
    if (type->p != NULL && !m->format.wide && !is_text(type, "char"))
        return bad_value(m, type, "DATAFILETYPE");
    m->format.csv = st->format.p != NULL;
    if (m->format.csv && !is_text(&st->format, "CSV"))
        return bad_value(m, &st->format, "FORMAT");
    m->format.quote = '"';
    if (st->field_quote.p != NULL && st->field_quote.n != 1)
        return bad_value(m, &st->field_quote, "FIELDQUOTE");
    if (st->field_quote.p != NULL)
        m->format.quote = st->field_quote.p[0];
    return read_terminators(m) && read_code_page(m);
}

/* ---- values ---- */

static bool from_hex(const struct flat_field *f, const struct sqltype *to,
                     struct value *out, struct sqlerr *e)
{
    struct value v = {.type = type_nvarchar(TYPE_MAX)};
    int32_t most = type_length(to);

    v.u.s.p = f->p;
    v.u.s.n = f->n;
    if (f->n >= 2 && f->p[0] == '0' && (f->p[1] | 32) == 'x') {
        v.u.s.p += 2;
        v.u.s.n -= 2;
    }
    if (most != TYPE_MAX && v.u.s.n / 2 > (size_t)most)
        return sqlerr_set(e, ERROR_BINARY_TRUNCATED);
    return value_convert(&v, to, 2, false, out, e);
}

static bool from_text(struct import *m, const struct flat_field *f,
                      const struct result_column *c, struct value *out, struct sqlerr *e)
{
    struct value v = {.type = type_nvarchar(TYPE_MAX)};
    unsigned page = m->code_page;

    v.u.s.p = f->p;
    v.u.s.n = f->n;
    if (page == CODE_PAGE_RAW)
        page = collation_get(c->type.collation)->code_page;
    if (!m->format.wide && (page != CODE_PAGE_UTF8 || !text_valid(f->p, f->n))) {
        m->text.len = 0;
        if (!codepage_to_utf8(page, f->p, f->n, &m->text))
            return sqlerr_set(e, 701, "default");
        v.u.s.p = m->text.data == NULL ? "" : (const char *)m->text.data;
        v.u.s.n = m->text.len;
    }
    return value_assign(&v, &c->type, c->name, out, e);
}

/* Nothing between two terminators is NULL; a NUL is a text without characters. */
static bool convert(struct import *m, const struct flat_field *f,
                    const struct result_column *c, struct value *out, struct sqlerr *e)
{
    struct flat_field seen = *f;

    if (f->n == 0 && !f->quoted) {
        value_set_null(out, c->type);
        return true;
    }
    if (f->n == 1 && f->p[0] == '\0')
        seen.n = 0;
    if (type_is_binary(c->type.id))
        return from_hex(&seen, &c->type, out, e);
    if (type_is_string(c->type.id))
        return from_text(m, &seen, c, out, e);
    return value_convert(
        &(struct value){.type = type_nvarchar(TYPE_MAX), .u.s = {seen.p, seen.n}},
        &c->type, 0, false, out, e);
}

/* ---- rows ---- */

static bool no_memory(struct import *m)
{
    return sqlerr_set(&m->f->ctx.err, 701, "default");
}

/* A row that is passed by, its reason told; false: there were too many. */
static bool count_error(struct import *m, const struct sqlerr *why)
{
    if (m->f->ctx.session->try_depth == 0 && !exec_message(&m->f->ctx, why))
        return false;
    m->errors++;
    return m->errors <= m->max_errors ||
           sqlerr_set(&m->f->ctx.err, 4865, (long long)m->max_errors);
}

static void free_values(struct import *m)
{
    for (size_t i = 0; i < m->ntypes; i++)
        value_free(&m->values[i]);
}

/* *good false: the row has a value that its column cannot hold. */
static bool convert_row(struct import *m, bool *good)
{
    struct sqlerr why = {.line = m->f->ctx.line, .state = 1}, e = {0};

    *good = true;
    for (size_t i = 0; i < m->format.fields; i++) {
        const struct bulk_field *c = &m->columns[i];

        if (c->at < 0)
            continue;
        if (convert(m, &m->fields[i], &m->types[c->at], &m->values[c->at], &e))
            continue;
        if (e.number == 701)
            return no_memory(m);
        *good = false;
        sqlerr_set(&why,
                   e.number == ERROR_TRUNCATED || e.number == ERROR_BINARY_TRUNCATED
                       ? 4863
                       : 4864,
                   (long long)m->row, (int)i + 1, c->name);
        return count_error(m, &why);
    }
    return true;
}

/* What keeps the file from being read on. */
static bool broken_file(struct import *m, enum flat_result r, size_t bad)
{
    struct sqlerr *e = &m->f->ctx.err;
    char text[300], reason[200];

    if (r == FLAT_SHORT)
        return sqlerr_set(e, 4832);
    if (r == FLAT_LONG)
        return sqlerr_set(e, 4866, (long long)m->row, (int)bad + 1);
    snprintf(text, sizeof text, "%d(%s)", (int)bad,
             strerror_r((int)bad, reason, sizeof reason));
    return sqlerr_set(e, 4861, m->path, text);
}

static bool give_row(struct import *m)
{
    bool good, ok = convert_row(m, &good);

    if (ok && good) {
        /* why it was refused is kept for bulk_end() */
        ok = bulk_row(m->f->ctx.session, m->values, m->ntypes);
        m->loaded += ok;
    }
    free_values(m);
    return ok;
}

static bool start_batch(struct import *m)
{
    return bulk_open(&m->f->ctx, &m->st->bulk);
}

/* Outside a transaction each batch is one of its own; inside one, all are undone
 * together anyway. */
static bool end_batch(struct import *m, bool *open)
{
    *open = false;
    return bulk_end(&m->f->ctx, true) && txn_statement_end(&m->f->ctx, true);
}

static void know_columns(struct import *m)
{
    m->format.fields = bulk_fields(m->f->ctx.session, &m->columns);
    m->ntypes = bulk_columns(m->f->ctx.session, &m->types);
}

static bool read_rows(struct import *m, bool *open)
{
    int64_t first = m->st->first_row < 1 ? 1 : m->st->first_row, batch = 0;
    bool alone = m->st->batch_size > 0 && session_trancount(m->f->ctx.session) == 0;

    for (m->row = 1; m->st->last_row <= 0 || m->row <= m->st->last_row; m->row++) {
        struct sqlerr why = {.line = m->f->ctx.line, .state = 1};
        size_t bad = 0;
        enum flat_result r = flat_file_next(m->rows, m->fields, &bad);

        if (m->row % LOOK_ROWS == 0 && session_cancelled(m->f->ctx.session))
            return false;
        if (r == FLAT_END)
            break;
        if (r == FLAT_BROKEN && m->row >= first) {
            sqlerr_set(&why, 4879, m->path, (long long)m->row, (int)bad + 1);
            if (!count_error(m, &why))
                return false;
        }
        if (r == FLAT_BROKEN || (r == FLAT_ROW && m->row < first))
            continue;
        if (r != FLAT_ROW)
            return broken_file(m, r, bad);
        if (!give_row(m))
            return false;
        if (!alone || ++batch < m->st->batch_size)
            continue;
        batch = 0;
        if (!end_batch(m, open) || !start_batch(m))
            return false;
        *open = true;
        know_columns(m);
    }
    return true;
}

static bool import_rows(struct import *m)
{
    bool open, ok;
    struct sqlerr why;

    if (!start_batch(m))
        return false;
    open = true;
    know_columns(m);
    m->fields = calloc(m->format.fields + 1, sizeof *m->fields);
    m->values = calloc(m->ntypes + 1, sizeof *m->values);
    ok = m->fields != NULL && m->values != NULL &&
         (m->rows = flat_file_new(m->file.fd, &m->format)) != NULL;
    if (!ok)
        no_memory(m);
    ok = ok && read_rows(m, &open);
    if (!open)
        return ok;
    /* what stopped us, or what the load itself says of its last row */
    why = m->f->ctx.err;
    if (bulk_end(&m->f->ctx, ok))
        return true;
    if (!ok && why.number != 0)
        m->f->ctx.err = why;
    return false;
}

/* ---- the statement ---- */

static bool permit(struct import *m)
{
    struct session *s = m->f->ctx.session;
    const struct rights *r = session_rights(s, s->db, &m->f->ctx.err);

    return r != NULL && (rights_on_server(r, PERM_ADMINISTER_BULK) ||
                         rights_on_database(r, PERM_ADMINISTER_DATABASE_BULK) ||
                         sqlerr_set(&m->f->ctx.err, 4834));
}

static bool open_file(struct import *m)
{
    struct session *s = m->f->ctx.session;

    if (memchr(m->st->file.p, '\0', m->st->file.n) != NULL)
        return sqlerr_set(&m->f->ctx.err, 4860, m->st->file.p);
    if (snprintf(m->path, sizeof m->path, "%s", m->st->file.p) >= (int)sizeof m->path)
        return sqlerr_set(&m->f->ctx.err, 4860, m->path);
    return device_open_data(&m->file, &server_config(s->server)->bulk_roots, m->path,
                            &m->f->ctx.err);
}

bool run_bulk_insert(struct frame *f, const struct stmt *st)
{
    struct import m = {.f = f, .st = st->u.bulk_insert};
    struct session *s = f->ctx.session;
    bool ok;

    session_touch(s, "BULK INSERT");
    device_init(&m.file);
    fr_buf_init(&m.text, FLAT_MAX_ROW_BYTES * (size_t)3);
    f->ctx.err.number = 0;
    ok = (!s->options.implicit_transactions || session_trancount(s) > 0 ||
          txn_begin(&f->ctx, NULL)) &&
         permit(&m) && read_options(&m) && open_file(&m) && import_rows(&m);
    if (m.values != NULL)
        free_values(&m);
    free(m.values);
    free(m.fields);
    flat_file_free(&m.rows);
    device_close(&m.file);
    fr_buf_free(&m.text);
    if (!txn_statement_end(&f->ctx, ok)) {
        s->rowcount = 0;
        return false;
    }
    s->rowcount = m.loaded;
    send_done(f, CMD_BULK_INSERT, m.loaded, false);
    return true;
}
