#include "wire/bulk.h"

#include "wire/encode.h"
#include "wire/packet.h"
#include "wire/wire_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOKEN_COLMETADATA = 0x81,
    TOKEN_ROW = 0xD1,
    TOKEN_DONE = 0xFD,
    DONE_BYTES = 13,
    MIN_CELL_BYTES = 64, /* holds every fixed type; longer values grow their cell */
    MAX_INLINE_BYTES = 8000,
    MAX_STATEMENT_BYTES = 4 << 20,
    MAX_ONE_CHECK_BYTES = 64 << 10 /* a row surely no longer is checked for room once */
};

/* One column's memory: [4 bytes][4-byte length][value]. */
struct cell_memory {
    unsigned char *memory; /* owned */
};

struct wire_copy {
    struct fr_bulk bulk; /* first */
    struct fr_sql *sql;
    struct wire *wire;
    uint64_t waited_before_ns;   /* by the connection, for other messages */
    struct wire_out *out;        /* NULL until the first row opens the stream */
    struct wire_column *sent;    /* the columns of the stream, in column_id order */
    const struct fr_cell **from; /* per column of the stream */
    size_t sent_count;
    struct cell_memory *memory; /* per column of the table */
    struct fr_buf statement;    /* INSERT BULK */
    struct fr_buf metadata;
    size_t *place;          /* per column of the table: its place in the stream */
    size_t row_bound_bytes; /* of any row; 0 = no bound, or too large a one */
};

static void copy_free(struct wire_copy *c)
{
    for (size_t i = 0; c->memory != NULL && i < c->bulk.columns; i++)
        free(c->memory[i].memory);
    free(c->memory);
    free(c->sent);
    free(c->from);
    free(c->place);
    free(c->bulk.cells);
    fr_buf_free(&c->statement);
    fr_buf_free(&c->metadata);
    free(c);
}

static fr_status set_memory(struct wire_copy *c, size_t i, size_t bytes,
                            struct fr_err *err)
{
    unsigned char *memory = realloc(c->memory[i].memory, bytes + 8 + FR_BULK_SLACK_BYTES);
    struct fr_cell *cell = &c->bulk.cells[i];
    int32_t null = FR_CELL_NULL;
    bool fresh = c->memory[i].memory == NULL;

    if (memory == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a value of %zu bytes", bytes);
    c->memory[i].memory = memory;
    cell->length = (int32_t *)(void *)(memory + 4);
    cell->data = memory + 8;
    cell->capacity_bytes = bytes;
    if (fresh)
        memcpy(memory + 4, &null, sizeof null);
    return FR_OK;
}

static fr_status wire_grow(struct fr_bulk *b, size_t column, size_t bytes,
                           struct fr_err *err)
{
    size_t room = b->cells[column].capacity_bytes;

    while (room < bytes)
        room *= 2;
    return set_memory((struct wire_copy *)b, column, room, err);
}

static const char *const kind_names[] = {[FR_COLUMN_ENCRYPTED] = "Always Encrypted",
                                         [FR_COLUMN_GENERATED] = "GENERATED ALWAYS",
                                         [FR_COLUMN_SET] = "a column set"};

static fr_status check_columns(const struct fr_column *columns, size_t count,
                               struct fr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct fr_column *c = &columns[i];

        if (c->kind != FR_COLUMN_PLAIN)
            return fr_err_set(err, FR_EARG,
                              "column %s (type %s) is %s: a table with such a column "
                              "cannot be loaded",
                              c->name, c->type_name, kind_names[c->kind]);
    }
    return FR_OK;
}

/* ---- begin ---- */

static fr_status choose_columns(struct wire_copy *c, const struct fr_bulk_target *t,
                                struct fr_err *err)
{
    size_t bound = 1;
    bool bounded = true;

    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *col = &t->columns[i];
        struct wire_column *w = &c->sent[c->sent_count];
        size_t bytes = MIN_CELL_BYTES;
        fr_status st;

        if (!t->is_sent[i])
            continue;
        st = wire_column_init(w, col, err);
        if (st != FR_OK)
            return st;
        w->takes_null = col->nullable || (col->has_default && !t->options.keep_nulls);
        if (w->form == WIRE_FORM_SHORT && col->max_bytes > MIN_CELL_BYTES &&
            col->max_bytes <= MAX_INLINE_BYTES)
            bytes = (size_t)col->max_bytes;
        st = set_memory(c, i, bytes, err);
        if (st != FR_OK)
            return st;
        c->place[i] = c->sent_count;
        c->from[c->sent_count++] = &c->bulk.cells[i];
        bounded = bounded && w->bound_bytes > 0;
        bound += w->bound_bytes;
    }
    if (c->sent_count == 0)
        return fr_err_set(err, FR_EARG, "no column of %s gets a value", t->table);
    if (bounded && bound <= MAX_ONE_CHECK_BYTES) {
        c->row_bound_bytes = bound;
        c->bulk.direct_bytes = bound + FR_BULK_SLACK_BYTES;
    }
    return FR_OK;
}

static bool any_text(const struct wire_copy *c)
{
    for (size_t i = 0; i < c->sent_count; i++)
        if (wire_column_is_text(c->sent[i].column))
            return true;
    return false;
}

/* The five bytes of each column's collation, as the server itself describes them: a sort
 * id (SQL_ collations) cannot be asked for otherwise. */
static fr_status ask_collations(struct wire_copy *c, const char *table,
                                unsigned char (*got)[WIRE_COLLATION_BYTES],
                                struct fr_err *err)
{
    struct wire_reply reply = {.collations = got, .collation_room = c->sent_count};
    struct fr_buf sql;
    fr_status st;

    fr_buf_init(&sql, MAX_STATEMENT_BYTES);
    fr_buf_add_str(&sql, "SELECT TOP (0) ");
    for (size_t i = 0; i < c->sent_count; i++) {
        fr_buf_add_str(&sql, i == 0 ? "" : ", ");
        wire_column_name(&c->sent[i], &sql);
    }
    fr_buf_printf(&sql, " FROM %s", table);
    if (sql.failed)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    else
        st = wire_run(c->wire, fr_buf_text(&sql), &reply, "asking for collations", err);
    fr_buf_free(&sql);
    if (st == FR_OK && reply.columns != c->sent_count)
        st = fr_err_set(err, FR_EPROTO, "%s was described with %zu columns, not %zu",
                        table, reply.columns, c->sent_count);
    return st;
}

/* c->statement: the columns as INSERT BULK declares them, each with its collation's name.
 * Where the session has just been told of the same ones it is not asked again. */
static fr_status find_collations(struct wire_copy *c, const char *table,
                                 struct fr_err *err)
{
    unsigned char(*got)[WIRE_COLLATION_BYTES];
    struct wire *w = c->wire;
    fr_status st = FR_OK;
    bool known = w->known_columns.len == c->statement.len &&
                 strcmp(fr_buf_text(&w->known_columns), fr_buf_text(&c->statement)) == 0;

    if (!any_text(c))
        return FR_OK;
    got = calloc(c->sent_count, sizeof *got);
    if (got == NULL || c->statement.failed) {
        free(got);
        return fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    }
    if (known) {
        memcpy(got, w->known_collations.data, w->known_collations.len);
    } else {
        fr_buf_reset(&w->known_columns);
        fr_buf_reset(&w->known_collations);
        st = ask_collations(c, table, got, err);
        fr_buf_add(&w->known_collations, got, c->sent_count * sizeof *got);
        if (st == FR_OK && !w->known_collations.failed)
            fr_buf_add_str(&w->known_columns, fr_buf_text(&c->statement));
    }
    for (size_t i = 0; st == FR_OK && i < c->sent_count; i++) {
        bool own = memcmp(got[i], "\0\0\0\0\0", WIRE_COLLATION_BYTES) != 0;

        memcpy(c->sent[i].collation, own ? got[i] : wire_collation(c->wire),
               WIRE_COLLATION_BYTES);
    }
    free(got);
    return st;
}

static void add_hint(struct fr_buf *sql, const char **between, const char *text)
{
    fr_buf_printf(sql, "%s%s", *between, text);
    *between = ", ";
}

static void add_hints(const struct fr_bulk_options *o, struct fr_buf *sql)
{
    const struct {
        bool set;
        const char *text;
    } flags[] = {{o->keep_nulls, "KEEP_NULLS"},
                 {o->check_constraints, "CHECK_CONSTRAINTS"},
                 {o->fire_triggers, "FIRE_TRIGGERS"},
                 {o->tablock, "TABLOCK"}};
    const char *between = " with (";

    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].set)
            add_hint(sql, &between, flags[i].text);
    if (o->rows_per_batch > 0) {
        add_hint(sql, &between, "ROWS_PER_BATCH = ");
        fr_buf_printf(sql, "%lld", (long long)o->rows_per_batch);
    }
    if (o->kilobytes_per_batch > 0) {
        add_hint(sql, &between, "KILOBYTES_PER_BATCH = ");
        fr_buf_printf(sql, "%lld", (long long)o->kilobytes_per_batch);
    }
    if (o->order != NULL) {
        add_hint(sql, &between, "ORDER (");
        fr_buf_printf(sql, "%s)", o->order);
    }
    if (*between == ',')
        fr_buf_add_byte(sql, ')');
}

static void declare_columns(struct wire_copy *c, const char *table)
{
    fr_buf_reset(&c->statement);
    fr_buf_printf(&c->statement, "insert bulk %s (", table);
    for (size_t i = 0; i < c->sent_count; i++) {
        fr_buf_add_str(&c->statement, i == 0 ? "" : ", ");
        wire_column_declare(&c->sent[i], &c->statement);
    }
    fr_buf_add_byte(&c->statement, ')');
}

static fr_status write_statement(struct wire_copy *c, const struct fr_bulk_target *t,
                                 struct fr_err *err)
{
    unsigned char head[3] = {TOKEN_COLMETADATA, (unsigned char)c->sent_count,
                             (unsigned char)(c->sent_count >> 8)};
    fr_status st;

    declare_columns(c, t->table);
    st = find_collations(c, t->table, err);
    if (st != FR_OK)
        return st;
    add_hints(&t->options, &c->statement);
    fr_buf_add(&c->metadata, head, sizeof head);
    for (size_t i = 0; i < c->sent_count; i++)
        if (!wire_column_describe(&c->sent[i], t->table, &c->metadata))
            return fr_err_set(err, FR_EARG, "column %s cannot be described to the server",
                              c->sent[i].column->name);
    if (c->statement.failed)
        return fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    return FR_OK;
}

static const struct fr_bulk_ops wire_copy_ops;

static fr_status wire_begin_copy(struct fr_sql *s, const struct fr_bulk_target *t,
                                 struct fr_bulk **out, struct fr_err *err)
{
    struct wire_copy *c = calloc(1, sizeof *c);
    fr_status st;

    *out = NULL;
    if (c == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    fr_buf_init(&c->statement, MAX_STATEMENT_BYTES);
    fr_buf_init(&c->metadata, MAX_STATEMENT_BYTES);
    c->sql = s;
    c->wire = wire_of(s);
    c->waited_before_ns = wire_waited_ns(c->wire);
    c->bulk.ops = &wire_copy_ops;
    c->bulk.columns = t->column_count;
    c->bulk.direct_mark = TOKEN_ROW;
    c->bulk.cells = calloc(t->column_count, sizeof *c->bulk.cells);
    c->memory = calloc(t->column_count, sizeof *c->memory);
    c->sent = calloc(t->column_count, sizeof *c->sent);
    c->from = calloc(t->column_count, sizeof *c->from);
    c->place = calloc(t->column_count, sizeof *c->place);
    if (c->bulk.cells == NULL || c->memory == NULL || c->sent == NULL ||
        c->from == NULL || c->place == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    else
        st = choose_columns(c, t, err);
    if (st == FR_OK)
        st = write_statement(c, t, err);
    if (st != FR_OK) {
        copy_free(c);
        return st;
    }
    *out = &c->bulk;
    return FR_OK;
}

/* ---- rows ---- */

static fr_status open_stream(struct wire_copy *c, struct fr_err *err)
{
    fr_status st = fr_sql_run(c->sql, fr_buf_text(&c->statement), NULL, NULL, err);

    if (st != FR_OK) {
        fr_err_wrap(err, "starting the bulk copy");
        return st;
    }
    c->out = wire_begin(c->wire, WIRE_PACKET_BULK);
    if (!wire_put(c->out, c->metadata.data, c->metadata.len))
        return wire_sending_error(c->out, "bulk copy", err);
    return FR_OK;
}

/* A value of a small or short form; the caller made room for its bound. */
static inline unsigned char *put_value(const struct wire_column *w,
                                       const struct fr_cell *cell, unsigned char *at)
{
    int32_t n = *cell->length;

    if (n == FR_CELL_NULL)
        return wire_encode_null(w->form, at);
    if (w->encode != NULL)
        return w->encode(cell->data, at);
    return wire_encode_short(cell->data, (size_t)n, at);
}

static bool put_pieces(struct wire_out *o, struct fr_long_value *v, size_t n)
{
    while (n > 0) {
        unsigned char *at = wire_room(o, FR_LONG_PIECE_BYTES + FR_BULK_SLACK_BYTES);
        size_t piece;

        if (at == NULL)
            return false;
        piece = v->next(v, at);
        assert(piece > 0 && piece <= n);
        o->at = at + piece;
        n -= piece;
    }
    return true;
}

static bool put_large(struct wire_out *o, const struct wire_column *w,
                      const struct fr_cell *cell)
{
    int32_t n = *cell->length;
    unsigned char *at = wire_room(o, WIRE_HEAD_BYTES);

    if (at == NULL)
        return false;
    if (n == FR_CELL_NULL) {
        o->at = wire_encode_null(w->form, at);
        return true;
    }
    o->at = wire_encode_head(w->form, (size_t)n, at);
    if (cell->pieces != NULL ? !put_pieces(o, cell->pieces, (size_t)n)
                             : !wire_put(o, cell->data, (size_t)n))
        return false;
    at = wire_room(o, WIRE_HEAD_BYTES);
    if (at == NULL)
        return false;
    o->at = wire_encode_tail(w->form, (size_t)n, at);
    return true;
}

/* A row with values that have no bound, or very many columns: room is asked for value by
 * value. */
static bool put_row_slowly(struct wire_copy *c)
{
    struct wire_out *o = c->out;
    unsigned char *at = wire_room(o, 1);

    if (at == NULL)
        return false;
    *at = TOKEN_ROW;
    o->at = at + 1;
    for (size_t i = 0; i < c->sent_count; i++) {
        const struct wire_column *w = &c->sent[i];

        if (w->bound_bytes == 0) {
            if (!put_large(o, w, c->from[i]))
                return false;
            c->bulk.bytes_sent +=
                *c->from[i]->length > 0 ? (uint64_t)*c->from[i]->length : 0;
            continue;
        }
        at = wire_room(o, w->bound_bytes);
        if (at == NULL)
            return false;
        o->at = put_value(w, c->from[i], at);
        c->bulk.bytes_sent += (uint64_t)(o->at - at);
    }
    return true;
}

static bool put_row(struct wire_copy *c)
{
    struct wire_out *o = c->out;
    unsigned char *at, *start;

    if (c->row_bound_bytes == 0)
        return put_row_slowly(c);
    at = wire_room(o, c->row_bound_bytes);
    if (at == NULL)
        return false;
    start = at;
    *at++ = TOKEN_ROW;
    for (size_t i = 0; i < c->sent_count; i++)
        at = put_value(&c->sent[i], c->from[i], at);
    o->at = at;
    c->bulk.bytes_sent += (uint64_t)(at - start);
    return true;
}

static fr_status wire_send(struct fr_bulk *b, struct fr_err *err)
{
    struct wire_copy *c = (struct wire_copy *)b;

    if (c->out == NULL) {
        fr_status st = open_stream(c, err);

        if (st != FR_OK)
            return st;
    }
    if (!put_row(c))
        return wire_sending_error(c->out, "bulk copy", err);
    return FR_OK;
}

static fr_status wire_row_room(struct fr_bulk *b, unsigned char **at, size_t *bytes,
                               struct fr_err *err)
{
    struct wire_copy *c = (struct wire_copy *)b;
    fr_status st = FR_OK;

    if (c->out == NULL)
        st = open_stream(c, err);
    if (st != FR_OK)
        return st;
    *at = wire_room(c->out, b->direct_bytes);
    if (*at == NULL)
        return wire_sending_error(c->out, "bulk copy", err);
    *bytes = (size_t)(c->out->end - *at);
    return FR_OK;
}

static unsigned char *wire_encode_cell(const struct fr_bulk *b, size_t column,
                                       unsigned char *at)
{
    const struct wire_copy *c = (const struct wire_copy *)b;

    return put_value(&c->sent[c->place[column]], &b->cells[column], at);
}

static void wire_commit_row(struct fr_bulk *b, const unsigned char *end)
{
    struct wire_out *o = ((struct wire_copy *)b)->out;

    b->bytes_sent += (uint64_t)(end - o->at);
    o->at += end - o->at;
}

/* ---- the end ---- */

static fr_status wire_finish(struct fr_bulk *b, int64_t *rows, struct fr_err *err)
{
    static const unsigned char done[DONE_BYTES] = {TOKEN_DONE};
    struct wire_copy *c = (struct wire_copy *)b;
    struct wire_reply reply = {0};
    fr_status st = FR_OK;

    *rows = 0;
    /* without a row the stream was not opened: there is nothing to end */
    if (c->out != NULL) {
        if (!wire_put(c->out, done, sizeof done))
            st = wire_sending_error(c->out, "bulk copy", err);
        if (st == FR_OK)
            st = wire_end(c->out, err);
        if (st == FR_OK)
            st = wire_read_reply(c->wire, &reply, "bulk copy", err);
        *rows = reply.has_count ? reply.rows : 0;
    }
    copy_free(c);
    return st;
}

static void wire_abandon(struct fr_bulk *b)
{
    struct wire_copy *c = (struct wire_copy *)b;

    /* half a message is on the wire */
    if (c->out != NULL)
        wire_lose(c->wire);
    copy_free(c);
}

static uint64_t copy_waited_ns(const struct fr_bulk *b)
{
    const struct wire_copy *c = (const struct wire_copy *)b;

    return wire_waited_ns(c->wire) - c->waited_before_ns;
}

static const struct fr_bulk_ops wire_copy_ops = {.grow = wire_grow,
                                                 .send = wire_send,
                                                 .room = wire_row_room,
                                                 .encode = wire_encode_cell,
                                                 .commit = wire_commit_row,
                                                 .finish = wire_finish,
                                                 .waited_ns = copy_waited_ns,
                                                 .abandon = wire_abandon};

const struct fr_bulk_engine fr_wire_engine = {
    .name = "wire",
    .abilities =
        FR_BULK_ALL_HINTS | FR_BULK_NULL_DEFAULTS | FR_BULK_XML_CLR | FR_BULK_LONG_VALUES,
    .check = check_columns,
    .begin = wire_begin_copy};
