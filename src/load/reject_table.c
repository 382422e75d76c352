#include "load/reject_table.h"

#include "base/utf8.h"
#include "db/script.h"
#include "db/statements.h"
#include "db/table.h"
#include "load/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * KEPT_BYTES: beside them a worker keeps the row that passes the mark.  STATEMENT_ROWS:
 * from 5,000 locks on, the server would lock the whole table for one statement, and the
 * rejects of all other loads would wait for this transaction's end.
 */
enum {
    KEPT_BYTES = 4 << 20,
    STATEMENT_ROWS = 4000,
    MAX_SCRIPT_BYTES = 8192,
    NAME_IS_TAKEN = 2714,
    FIRST_COLUMN_ROOM = 64
};

/* What a row of the table gets from us; the other columns are the server's to fill. */
enum reject_column {
    R_LOAD_ID,
    R_RANGE_START,
    R_ROW_NUMBER,
    R_BYTE_OFFSET,
    R_SOURCE,
    R_TARGET_TABLE,
    R_COLUMN_NAME,
    R_VALUE,
    R_REASON,
    R_ROW_BYTES,
    R_HOST,
    R_COUNT
};
_Static_assert((int)R_COUNT == (int)FR_REJECT_TABLE_COLUMNS, "the header counts them");
static const struct {
    const char *name, *type_name;
    enum fr_type type;
} wanted[R_COUNT] = {
    [R_LOAD_ID] = {"load_id", "uniqueidentifier", FR_TYPE_GUID},
    [R_RANGE_START] = {"range_start", "bigint", FR_TYPE_BIGINT},
    [R_ROW_NUMBER] = {"row_number", "bigint", FR_TYPE_BIGINT},
    [R_BYTE_OFFSET] = {"byte_offset", "bigint", FR_TYPE_BIGINT},
    [R_SOURCE] = {"source", "nvarchar", FR_TYPE_NVARCHAR},
    [R_TARGET_TABLE] = {"target_table", "nvarchar", FR_TYPE_NVARCHAR},
    [R_COLUMN_NAME] = {"column_name", "nvarchar", FR_TYPE_NVARCHAR},
    [R_VALUE] = {"value", "nvarchar", FR_TYPE_NVARCHAR},
    [R_REASON] = {"reason", "nvarchar", FR_TYPE_NVARCHAR},
    [R_ROW_BYTES] = {"row_bytes", "varbinary", FR_TYPE_VARBINARY},
    [R_HOST] = {"host", "nvarchar", FR_TYPE_NVARCHAR},
};

/* One rejected row. */
struct kept {
    struct kept *next;
    uint64_t row, offset;
    const char *column; /* NULL = the row as a whole; owned, as are those below */
    const char *value;  /* NULL = none */
    const char *reason;
    char *bytes;
    size_t n;
    char texts[]; /* column, value, reason */
};

struct fr_reject_table {
    struct fr_reject_load load;
    char *name; /* as the user wrote it */
    struct fr_table *table;
    size_t place[R_COUNT]; /* index of each column in the table */
    bool *is_sent;         /* per column of the table; owned */
    struct fr_encoding encoding;
    struct fr_recoder *encoder; /* NULL: rows are kept as they come */
    struct kept *first, **end;
    size_t kept_bytes;
};

fr_status fr_reject_table_check_name(const char *name, struct fr_err *err)
{
    struct fr_table_name parts;

    return fr_table_name_parse(name, &parts, err) == FR_OK
               ? FR_OK
               : fr_err_wrap(err, "--reject-table %s", name);
}

/* -- the table itself */

/* Quoted, its database left out: that is the session's. */
static fr_status quote(const char *name, char *out, size_t out_bytes, struct fr_err *err)
{
    struct fr_table_name parts;
    char schema[2 * FR_NAME_MAX_BYTES + 3], table[sizeof schema];
    fr_status st = fr_table_name_parse(name, &parts, err);

    if (st != FR_OK)
        return st;
    if (!fr_name_quote(parts.schema, schema, sizeof schema) ||
        !fr_name_quote(parts.table, table, sizeof table) ||
        (size_t)snprintf(out, out_bytes, "%s%s%s", parts.schema[0] == '\0' ? "" : schema,
                         parts.schema[0] == '\0' ? "" : ".", table) >= out_bytes)
        return fr_err_set(err, FR_EARG, "the name is too long");
    return FR_OK;
}

static fr_status run_script(struct fr_sql *s, const char *name, struct fr_err *err)
{
    char quoted[4 * FR_NAME_MAX_BYTES + 8] = "", as_text[2 * sizeof quoted];
    struct fr_sql_name names[] = {{"N'dbo.fullrack_rejects'", as_text},
                                  {"dbo.fullrack_rejects", quoted}};
    struct fr_buf script;
    size_t used = 0;
    fr_status st = quote(name, quoted, sizeof quoted, err);

    if (st != FR_OK)
        return st;
    used += (size_t)snprintf(as_text, sizeof as_text, "N'");
    for (const char *p = quoted; *p != '\0'; p++) {
        if (*p == '\'')
            as_text[used++] = '\'';
        as_text[used++] = *p;
    }
    memcpy(as_text + used, "'", 2);
    fr_buf_init(&script, MAX_SCRIPT_BYTES);
    st = fr_sql_rename(fr_script_reject_table, names, 2, &script, err);
    if (st == FR_OK)
        st = fr_script_run(s, fr_buf_text(&script), err);
    fr_buf_free(&script);
    return st;
}

static fr_status refused(const char *name, struct fr_err *err, const char *cure)
{
    if (err != NULL)
        err->status = FR_EARG;
    (void)fr_err_wrap(err, "--reject-table %s%s", name, cure);
    return FR_EARG;
}

fr_status fr_reject_table_create(struct fr_sql *s, const char *name, struct fr_err *err)
{
    struct fr_err why = {0};
    fr_status st = run_script(s, name, &why);

    /* another worker may have made it in the same moment */
    if (st == FR_OK || (st == FR_EDB && why.server_number == NAME_IS_TAKEN))
        return FR_OK;
    if (err != NULL)
        *err = why;
    return st == FR_EDB
               ? refused(
                     name, err,
                     ": the table is not there and cannot be made (let somebody do it "
                     "who may: fullrack init --reject-table; or use -e)")
               : st;
}

static fr_status find_columns(struct fr_reject_table *t, struct fr_err *err)
{
    for (size_t i = 0; i < R_COUNT; i++) {
        const char *name = wanted[i].name;
        size_t at = fr_table_find_column(t->table, name, strlen(name));

        if (at == t->table->column_count || t->table->columns[at].type != wanted[i].type)
            return fr_err_set(err, FR_EARG,
                              "--reject-table %s: the table has no column %s of type %s: "
                              "name one that fullrack has made, or one that is not there "
                              "yet",
                              t->name, name, wanted[i].type_name);
        t->place[i] = at;
        t->is_sent[at] = true;
    }
    return FR_OK;
}

static fr_status check_rights(const struct fr_reject_table *t, struct fr_sql *s,
                              struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_text("@name", t->table->quoted)};
    struct fr_sql_one one = {0};
    fr_status st = fr_sql_run_params(s, fr_stmt_reject_table_rights, params, 1,
                                     fr_sql_take_one, &one, err);

    if (st != FR_OK)
        return fr_err_wrap(err, "--reject-table %s", t->name);
    if (fr_sql_one_i64(&one, 0, 1) == 0 || fr_sql_one_i64(&one, 1, 1) == 0)
        return fr_err_set(err, FR_EARG,
                          "--reject-table %s: the right to %s is missing: GRANT SELECT, "
                          "INSERT ON %s TO this login's user",
                          t->name, fr_sql_one_i64(&one, 0, 1) == 0 ? "INSERT" : "SELECT",
                          t->table->quoted);
    return FR_OK;
}

static fr_status describe(struct fr_reject_table *t, struct fr_sql *s, struct fr_err *err)
{
    fr_status st = fr_table_describe(s, t->name, &t->table, err);

    if (st == FR_EDATA) {
        st = fr_reject_table_create(s, t->name, err);
        if (st != FR_OK)
            return st;
        st = fr_table_describe(s, t->name, &t->table, err);
    }
    return st == FR_OK || st == FR_ELOST ? st : refused(t->name, err, "");
}

fr_status fr_reject_table_open(struct fr_sql *s, const char *name, int32_t target_id,
                               const struct fr_reject_load *load,
                               struct fr_reject_table **out, struct fr_err *err)
{
    struct fr_reject_table *t = calloc(1, sizeof *t);
    fr_status st = FR_OK;

    *out = NULL;
    if (t == NULL || (t->name = strdup(name)) == NULL) {
        free(t);
        return fr_err_set(err, FR_ENOMEM, "no memory for rejected rows");
    }
    t->end = &t->first;
    t->load = *load;
    st = describe(t, s, err);
    if (st == FR_OK && t->table->object_id == target_id)
        st = fr_err_set(err, FR_EARG,
                        "--reject-table %s is the table that is loaded: name another",
                        name);
    if (st == FR_OK) {
        t->is_sent = calloc(t->table->column_count, sizeof *t->is_sent);
        st = t->is_sent == NULL
                 ? fr_err_set(err, FR_ENOMEM, "no memory for rejected rows")
                 : find_columns(t, err);
    }
    if (st == FR_OK)
        st = check_rights(t, s, err);
    if (st == FR_OK)
        *out = t;
    else
        fr_reject_table_close(&t);
    return st;
}

fr_status fr_reject_table_set_encoding(struct fr_reject_table *t,
                                       const struct fr_encoding *e, struct fr_err *err)
{
    fr_status st =
        e->name[0] == '\0' || e->by_field ? FR_OK : fr_encoder_open(e, &t->encoder, err);

    t->encoding = *e;
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "--reject-table %s", t->name);
}

void fr_reject_table_close(struct fr_reject_table **tp)
{
    struct fr_reject_table *t;

    if (tp == NULL || *tp == NULL)
        return;
    t = *tp;
    fr_reject_table_forget(t);
    fr_recoder_close(&t->encoder);
    fr_table_free(&t->table);
    free(t->is_sent);
    free(t->name);
    free(t);
    *tp = NULL;
}

/* -- rows that are kept */

static fr_status put_bytes(void *ctx, const char *p, size_t n, struct fr_err *err)
{
    struct kept *k = ctx;
    char *grown = realloc(k->bytes, k->n + n + 1);

    if (grown == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a rejected row");
    memcpy(grown + k->n, p, n);
    k->bytes = grown;
    k->n += n;
    return FR_OK;
}

static const char *keep_text(char **at, const char *text)
{
    size_t n = strlen(text) + 1;
    char *kept = *at;

    memcpy(kept, text, n);
    *at += n;
    /* one may have been cut in a character */
    fr_utf8_mend(kept);
    return kept;
}

fr_status fr_reject_table_add(struct fr_reject_table *t,
                              const struct fr_rejected_row *row, struct fr_err *err)
{
    const struct fr_row_error *why = row->why;
    size_t texts = (why->column == NULL ? 0 : strlen(why->column) + 1) +
                   (why->has_value ? strlen(why->value) + 1 : 0) + strlen(why->reason) +
                   1;
    struct kept *k = calloc(1, sizeof *k + texts);
    char *at;
    fr_status st;

    if (k == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a rejected row");
    at = k->texts;
    k->row = row->row;
    k->offset = row->offset;
    k->column = why->column == NULL ? NULL : keep_text(&at, why->column);
    k->value = why->has_value ? keep_text(&at, why->value) : NULL;
    k->reason = keep_text(&at, why->reason);
    st = t->encoder == NULL
             ? put_bytes(k, row->bytes, row->n, err)
             : fr_encode_text(t->encoder, row->bytes, row->n, put_bytes, k, err);
    if (st != FR_OK) {
        free(k->bytes);
        free(k);
        return st != FR_EDATA
                   ? st
                   : fr_err_set(err, FR_EDATA,
                                "--reject-table %s: row %" PRIu64
                                " cannot be written in the source's encoding %s",
                                t->name, row->row, t->encoding.name);
    }
    *t->end = k;
    t->end = &k->next;
    t->kept_bytes += sizeof *k + texts + k->n;
    return FR_OK;
}

bool fr_reject_table_is_full(const struct fr_reject_table *t)
{
    return t->kept_bytes >= KEPT_BYTES;
}

bool fr_reject_table_is_empty(const struct fr_reject_table *t)
{
    return t->first == NULL;
}

static void drop_first(struct fr_reject_table *t)
{
    struct kept *k = t->first;

    t->first = k->next;
    if (t->first == NULL)
        t->end = &t->first;
    free(k->bytes);
    free(k);
}

void fr_reject_table_forget(struct fr_reject_table *t)
{
    while (t->first != NULL)
        drop_first(t);
    t->kept_bytes = 0;
}

/* -- into the table */

struct bytes_left {
    struct fr_long_value value; /* first */
    const char *p;
    size_t n;
};

static size_t next_piece(struct fr_long_value *v, unsigned char *out)
{
    struct bytes_left *b = (struct bytes_left *)v;
    size_t n = b->n < FR_LONG_PIECE_BYTES ? b->n : FR_LONG_PIECE_BYTES;

    memcpy(out, b->p, n);
    b->p += n;
    b->n -= n;
    return n;
}

struct copy {
    const struct fr_reject_table *t;
    struct fr_bulk *bulk;
    bool takes_pieces;
    struct bytes_left left;
};

static struct fr_cell *cell_of(const struct copy *c, enum reject_column r)
{
    return &c->bulk->cells[c->t->place[r]];
}

static fr_status make_room(const struct copy *c, enum reject_column r, size_t bytes,
                           struct fr_err *err)
{
    return cell_of(c, r)->capacity_bytes >= bytes
               ? FR_OK
               : c->bulk->ops->grow(c->bulk, c->t->place[r], bytes, err);
}

/* As much of it as the column takes; NULL = NULL. */
static fr_status set_text(const struct copy *c, enum reject_column r, const char *text,
                          struct fr_err *err)
{
    const struct fr_column *column = &c->t->table->columns[c->t->place[r]];
    size_t n = text == NULL ? 0 : strlen(text), used = 0, most;
    unsigned char *out;
    fr_status st;

    if (text == NULL) {
        *cell_of(c, r)->length = FR_CELL_NULL;
        return FR_OK;
    }
    most = column->max_bytes > 0 ? (size_t)column->max_bytes : SIZE_MAX;
    st = make_room(c, r, 2 * n < most ? 2 * n : most, err);
    if (st != FR_OK)
        return st;
    out = cell_of(c, r)->data;
    for (size_t i = 0; i < n;) {
        uint32_t ch = '?';
        size_t took = fr_utf8_take((const unsigned char *)text + i, n - i, &ch);

        if (used + (ch >= 0x10000 ? 4 : 2) > most)
            break;
        used += fr_utf16_put(ch, out + used);
        i += took > 0 ? took : 1;
    }
    *cell_of(c, r)->length = (int32_t)used;
    return FR_OK;
}

static void set_number(const struct copy *c, enum reject_column r, uint64_t number)
{
    int64_t value = (int64_t)number;

    fr_cell_set(cell_of(c, r), &value, sizeof value);
}

static fr_status set_bytes(struct copy *c, const struct kept *k, struct fr_err *err)
{
    struct fr_cell *cell = cell_of(c, R_ROW_BYTES);
    fr_status st;

    if (k->n > INT32_MAX) {
        *cell->length = FR_CELL_NULL; /* no column could have it */
        cell->pieces = NULL;
        return FR_OK;
    }
    if (c->takes_pieces && k->n > 0) {
        c->left = (struct bytes_left){{next_piece}, k->bytes, k->n};
        cell->pieces = &c->left.value;
    } else {
        st = make_room(c, R_ROW_BYTES, k->n, err);
        if (st != FR_OK)
            return st;
        cell = cell_of(c, R_ROW_BYTES);
        cell->pieces = NULL;
        memcpy(cell->data, k->bytes, k->n);
    }
    *cell->length = (int32_t)k->n;
    return FR_OK;
}

static fr_status set_load_id(const struct copy *c, struct fr_err *err)
{
    const char *id = c->t->load.load_id;
    struct fr_reason reason;

    if (fr_convert_guid(NULL, id, strlen(id), cell_of(c, R_LOAD_ID), &reason) !=
        FR_CONVERTED)
        return fr_err_set(err, FR_EARG, "load id %s %s", id, reason.text);
    return FR_OK;
}

static fr_status send_row(struct copy *c, const struct kept *k, struct fr_err *err)
{
    const struct fr_reject_load *load = &c->t->load;
    const struct {
        enum reject_column column;
        const char *text;
    } texts[] = {{R_SOURCE, load->source},   {R_TARGET_TABLE, load->target},
                 {R_COLUMN_NAME, k->column}, {R_VALUE, k->value},
                 {R_REASON, k->reason},      {R_HOST, load->host}};
    fr_status st = set_load_id(c, err);

    set_number(c, R_RANGE_START, (uint64_t)load->range_start);
    set_number(c, R_ROW_NUMBER, k->row);
    set_number(c, R_BYTE_OFFSET, k->offset);
    for (size_t i = 0; st == FR_OK && i < sizeof texts / sizeof texts[0]; i++)
        st = set_text(c, texts[i].column, texts[i].text, err);
    if (st == FR_OK)
        st = set_bytes(c, k, err);
    return st == FR_OK ? c->bulk->ops->send(c->bulk, err) : st;
}

/* One bulk copy, of STATEMENT_ROWS at most.  *sent: how many they were. */
static fr_status send_some(const struct fr_reject_table *t, const struct kept **from,
                           const struct fr_bulk_engine *engine, struct fr_sql *s,
                           struct fr_err *err)
{
    const struct fr_bulk_target target = {.table = t->table->quoted,
                                          .columns = t->table->columns,
                                          .column_count = t->table->column_count,
                                          .is_sent = t->is_sent};
    struct copy c = {.t = t,
                     .takes_pieces = (engine->abilities & FR_BULK_LONG_VALUES) != 0};
    int64_t sent = 0, copied = 0;
    fr_status st = engine->begin(s, &target, &c.bulk, err);

    if (st != FR_OK)
        return st;
    for (; st == FR_OK && *from != NULL && sent < STATEMENT_ROWS; *from = (*from)->next) {
        st = send_row(&c, *from, err);
        sent++;
    }
    if (st != FR_OK) {
        c.bulk->ops->abandon(c.bulk);
        return st;
    }
    st = c.bulk->ops->finish(c.bulk, &copied, err);
    if (st == FR_OK && copied != sent)
        return fr_err_set(err, FR_EDB,
                          "the server says it copied %" PRId64 " rows of the %" PRId64
                          " that were sent",
                          copied, sent);
    return st;
}

fr_status fr_reject_table_send(struct fr_reject_table *t,
                               const struct fr_bulk_engine *engine, struct fr_sql *s,
                               struct fr_err *err)
{
    const struct kept *from = t->first;
    fr_status st = engine->check(t->table->columns, t->table->column_count, err);

    while (st == FR_OK && from != NULL)
        st = send_some(t, &from, engine, s, err);
    if (st != FR_OK)
        return fr_err_wrap(err, "--reject-table %s", t->name);
    fr_reject_table_forget(t);
    return FR_OK;
}
