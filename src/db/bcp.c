#include "db/bcp.h"

#include "db/connect.h"

#include <endian.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A variable-length cell begins with this; longer values make it grow. */
enum { MIN_CELL_BYTES = 64, MAX_INLINE_BYTES = 8000, BCP_MAX_FIXED_BYTES = 40 };

/* What db-lib reads: nothing, the cell (which may be empty where it is variable), or what
 * is made of it. */
enum library_form { NO_FORM, FIXED, VARIABLE, MONEY, DECIMAL, DATETIME, FORMS };

/* How a type is bound: db-lib copies and never converts, since host form and column type
 * agree. */
struct bind_rule {
    int host_type;      /* db-lib's type of the bound memory */
    uint8_t cell_bytes; /* size of our host form; 0 = variable */
    enum library_form form;
};

static void translate_money(const unsigned char *cell, unsigned char *library)
{
    int64_t v;
    DBMONEY m;

    memcpy(&v, cell, sizeof v);
    m.mnyhigh = (DBINT)(v >> 32);
    m.mnylow = (DBUINT)(uint64_t)v;
    memcpy(library, &m, sizeof m);
}

static void put_big_endian(uint64_t v, unsigned char *out)
{
    v = htobe64(v);
    memcpy(out, &v, sizeof v);
}

static void translate_decimal(const unsigned char *cell, unsigned char *library)
{
    /* bytes of the magnitude by precision, without the sign byte (MS-TDS 2.2.5.5.1.6
     * rounds these up) */
    static const uint8_t magnitude_bytes[39] = {
        1, 1, 1,  2,  2,  3,  3,  3,  4,  4,  5,  5,  5,  6,  6,  7,  7,  8,  8, 8,
        9, 9, 10, 10, 10, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 15, 16, 16};
    struct fr_decimal d;
    uint64_t low, high;
    unsigned __int128 magnitude;
    size_t bytes;

    memcpy(&d, cell, sizeof d);
    bytes = magnitude_bytes[d.precision];
    memcpy(&low, d.magnitude, sizeof low);
    memcpy(&high, d.magnitude + sizeof low, sizeof high);
    library[offsetof(DBNUMERIC, precision)] = d.precision;
    library[offsetof(DBNUMERIC, scale)] = d.scale;
    library[offsetof(DBNUMERIC, array)] = d.negative;
    /* db-lib looks at as many bytes of the array as the precision asks for, the highest
     * first */
    library += offsetof(DBNUMERIC, array) + 1;
    if (bytes <= sizeof low) {
        put_big_endian(le64toh(low) << 8 * (sizeof low - bytes), library);
        return;
    }
    magnitude = (unsigned __int128)le64toh(high) << 64 | le64toh(low);
    magnitude <<= 8 * (sizeof d.magnitude - bytes);
    put_big_endian((uint64_t)(magnitude >> 64), library);
    put_big_endian((uint64_t)magnitude, library + sizeof high);
}

_Static_assert(offsetof(struct fr_datetime, time_100ns) ==
                       offsetof(DBDATETIMEALL, time) &&
                   offsetof(struct fr_datetime, days) == offsetof(DBDATETIMEALL, date) &&
                   offsetof(struct fr_datetime, offset_min) ==
                       offsetof(DBDATETIMEALL, offset),
               "the forms begin alike");

/* What follows on these is the same for all values: begin_datetime(). */
static void translate_datetime(const unsigned char *cell, unsigned char *library)
{
    enum { ALIKE_BYTES = offsetof(DBDATETIMEALL, offset) + sizeof(DBSMALLINT) };

    memcpy(library, cell, ALIKE_BYTES);
}

static void begin_datetime(unsigned char *library)
{
    DBDATETIMEALL a = {0};

    a.time_prec = 7; /* which is the unit of time_100ns */
    a.has_time = 1;
    a.has_date = 1;
    a.has_offset = 1;
    memcpy(library, &a, sizeof a);
}

#define CELL(type) (uint8_t)sizeof(type)
static const struct bind_rule rules[FR_TYPE_COUNT] = {
    [FR_TYPE_BIT] = {SYBBIT, CELL(uint8_t), FIXED},
    [FR_TYPE_TINYINT] = {SYBINT1, CELL(uint8_t), FIXED},
    [FR_TYPE_SMALLINT] = {SYBINT2, CELL(int16_t), FIXED},
    [FR_TYPE_INT] = {SYBINT4, CELL(int32_t), FIXED},
    [FR_TYPE_BIGINT] = {SYBINT8, CELL(int64_t), FIXED},
    [FR_TYPE_REAL] = {SYBREAL, CELL(float), FIXED},
    [FR_TYPE_FLOAT] = {SYBFLT8, CELL(double), FIXED},
    [FR_TYPE_SMALLMONEY] = {SYBMONEY4, CELL(int32_t), FIXED},
    [FR_TYPE_MONEY] = {SYBMONEY, CELL(int64_t), MONEY},
    [FR_TYPE_DECIMAL] = {SYBNUMERIC, CELL(struct fr_decimal), DECIMAL},
    [FR_TYPE_DATE] = {SYBMSDATE, CELL(struct fr_datetime), DATETIME},
    [FR_TYPE_TIME] = {SYBMSTIME, CELL(struct fr_datetime), DATETIME},
    [FR_TYPE_DATETIME] = {SYBDATETIME, CELL(struct fr_datetime_old), FIXED},
    [FR_TYPE_SMALLDATETIME] = {SYBDATETIME4, CELL(struct fr_smalldatetime), FIXED},
    [FR_TYPE_DATETIME2] = {SYBMSDATETIME2, CELL(struct fr_datetime), DATETIME},
    [FR_TYPE_DATETIMEOFFSET] = {SYBMSDATETIMEOFFSET, CELL(struct fr_datetime), DATETIME},
    [FR_TYPE_CHAR] = {SYBVARCHAR, 0, VARIABLE},
    [FR_TYPE_VARCHAR] = {SYBVARCHAR, 0, VARIABLE},
    [FR_TYPE_TEXT] = {SYBVARCHAR, 0, VARIABLE},
    [FR_TYPE_NCHAR] = {SYBVARCHAR, 0, VARIABLE},
    [FR_TYPE_NVARCHAR] = {SYBVARCHAR, 0, VARIABLE},
    [FR_TYPE_NTEXT] = {SYBVARCHAR, 0, VARIABLE},
    [FR_TYPE_BINARY] = {SYBVARBINARY, 0, VARIABLE},
    [FR_TYPE_VARBINARY] = {SYBVARBINARY, 0, VARIABLE},
    [FR_TYPE_IMAGE] = {SYBVARBINARY, 0, VARIABLE},
    [FR_TYPE_GUID] = {FR_SYBUNIQUE, 16, FIXED},
};

/* One column's memory: [4-byte length][value], the value at a multiple of 8. */
struct bcp_column {
    enum library_form form; /* NO_FORM: a column that gets no value */
    int host_type;
    int number;            /* db-lib's, from 1 */
    unsigned char *memory; /* owned; cell data at memory + 8, its length at memory + 4 */
    unsigned char
        *bound; /* owned; what db-lib reads where its form differs, laid out alike */
    bool bound_as_empty;
};

struct bcp_copy {
    struct fr_bulk bulk; /* first */
    struct fr_sql *sql;
    DBPROCESS *dbproc;
    struct fr_db_sink *sink;
    struct bcp_column *columns;  /* of the table */
    struct bcp_column **by_form; /* owned: those with a value, in the order of forms */
    size_t form_ends[FORMS];     /* in by_form */
    bool sending;                /* rows are under way: giving up costs the connection */
};

static void copy_free(struct bcp_copy *c)
{
    for (size_t i = 0; c->columns != NULL && i < c->bulk.columns; i++) {
        free(c->columns[i].memory);
        free(c->columns[i].bound);
    }
    free(c->by_form);
    free(c->columns);
    free(c->bulk.cells);
    free(c);
}

static fr_status bind_column(struct bcp_copy *c, struct bcp_column *col,
                             struct fr_err *err)
{
    unsigned char *at = col->bound != NULL ? col->bound + 4 : col->memory + 4;

    col->bound_as_empty = false;
    if (bcp_bind(c->dbproc, at, 4, -1, NULL, 0, col->host_type, col->number) == FAIL)
        return fr_db_sink_error(c->sink, "binding a column", err);
    return FR_OK;
}

/*
 * db-lib takes a length of 0 for NULL.  An empty value goes as a NUL-terminated string
 * without prefix instead, so the binding changes where a column goes from empty to not
 * empty and back.
 */
static fr_status bind_empty(struct bcp_copy *c, struct bcp_column *col,
                            struct fr_err *err)
{
    static unsigned char nothing[1];

    if (bcp_bind(c->dbproc, nothing, 0, -1, NULL, 0, col->host_type, col->number) == FAIL)
        return fr_db_sink_error(c->sink, "binding an empty value", err);
    col->bound_as_empty = true;
    return FR_OK;
}

static fr_status set_memory(struct bcp_copy *c, size_t i, size_t bytes,
                            struct fr_err *err)
{
    unsigned char *memory =
        realloc(c->columns[i].memory, bytes + 8 + FR_BULK_SLACK_BYTES);
    int32_t null = FR_CELL_NULL;
    bool fresh = c->columns[i].memory == NULL;

    if (memory == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a value of %zu bytes", bytes);
    c->columns[i].memory = memory;
    c->bulk.cells[i].length = (int32_t *)(void *)(memory + 4);
    c->bulk.cells[i].data = memory + 8;
    c->bulk.cells[i].capacity_bytes = bytes;
    if (fresh)
        memcpy(memory + 4, &null, sizeof null);
    return FR_OK;
}

static fr_status bcp_grow(struct fr_bulk *b, size_t column, size_t bytes,
                          struct fr_err *err)
{
    struct bcp_copy *c = (struct bcp_copy *)b;
    size_t room = b->cells[column].capacity_bytes;
    fr_status st;

    while (room < bytes)
        room *= 2;
    st = set_memory(c, column, room, err);
    return st == FR_OK ? bind_column(c, &c->columns[column], err) : st;
}

static fr_status prepare_column(struct bcp_copy *c, const struct fr_bulk_target *t,
                                size_t i, int number, struct fr_err *err)
{
    const struct fr_column *col = &t->columns[i];
    const struct bind_rule *rule = &rules[col->type];
    size_t bytes = rule->cell_bytes;
    fr_status st;

    c->columns[i].form = rule->form;
    c->columns[i].host_type = rule->host_type;
    c->columns[i].number = number;
    if (bytes == 0)
        bytes = col->max_bytes > 0 && col->max_bytes <= MAX_INLINE_BYTES
                    ? (size_t)col->max_bytes
                    : MIN_CELL_BYTES;
    if (bytes < MIN_CELL_BYTES)
        bytes = MIN_CELL_BYTES;
    st = set_memory(c, i, bytes, err);
    if (st != FR_OK)
        return st;
    if (rule->form >= MONEY) {
        int32_t null = FR_CELL_NULL;

        c->columns[i].bound = calloc(1, BCP_MAX_FIXED_BYTES + 8);
        if (c->columns[i].bound == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
        memcpy(c->columns[i].bound + 4, &null, sizeof null);
        if (rule->form == DATETIME)
            begin_datetime(c->columns[i].bound + 8);
    }
    return bind_column(c, &c->columns[i], err);
}

static const char *const kind_names[] = {[FR_COLUMN_ENCRYPTED] = "Always Encrypted",
                                         [FR_COLUMN_GENERATED] = "GENERATED ALWAYS",
                                         [FR_COLUMN_SET] = "a column set"};

/* db-lib's `insert bulk` names every column that is not computed, so that one which it
 * cannot declare, or the server does not take, keeps the whole table from being loaded.
 */
fr_status fr_bcp_check(const char *library, const struct fr_column *columns, size_t count,
                       struct fr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct fr_column *c = &columns[i];
        bool is_xml = c->type == FR_TYPE_XML;

        if (c->kind != FR_COLUMN_PLAIN)
            return fr_err_set(err, FR_EARG,
                              "column %s (type %s) is %s: a table with such a column "
                              "cannot be loaded",
                              c->name, c->type_name, kind_names[c->kind]);
        if (c->computed || rules[c->type].host_type != 0 ||
            (is_xml && fr_dblib_skips_xml(library)))
            continue;
        return fr_err_set(err, FR_EARG,
                          "column %s has type %s, which the bcp engine can neither load "
                          "nor leave out (%s)%s",
                          c->name, c->type_name, library,
                          is_xml || c->type == FR_TYPE_CLR ? ": it needs the wire engine"
                                                           : "");
    }
    return FR_OK;
}

static fr_status check_columns(const struct fr_column *columns, size_t count,
                               struct fr_err *err)
{
    return fr_bcp_check(fr_dblib_version(), columns, count, err);
}

/* What db-lib's bcp cannot do, said before anything is sent. */
static fr_status refuse_unsupported(const struct fr_bulk_target *t, struct fr_err *err)
{
    const struct fr_bulk_options *o = &t->options;

    if (o->check_constraints + o->fire_triggers + o->keep_nulls > 1)
        return fr_err_set(
            err, FR_EARG,
            "the bcp engine carries one hint of CHECK_CONSTRAINTS, FIRE_TRIGGERS and "
            "KEEP_NULLS (db-lib keeps only one); this load needs several: the wire "
            "engine can");
    for (size_t i = 0; i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];

        if (c->computed || (c->identity && !o->keep_identity))
            continue;
        if (!t->is_sent[i] && !c->nullable)
            return fr_err_set(
                err, FR_EARG,
                "column %s is NOT NULL and gets no field; the bcp engine cannot leave it "
                "out%s",
                c->name, c->has_default ? " for its default" : "");
    }
    return FR_OK;
}

static fr_status set_options(struct bcp_copy *c, const struct fr_bulk_options *o,
                             struct fr_err *err)
{
    const char *hint = o->check_constraints ? "CHECK_CONSTRAINTS"
                       : o->fire_triggers   ? "FIRE_TRIGGERS"
                       : o->keep_nulls      ? "KEEP_NULLS"
                       : o->tablock         ? "TABLOCK"
                                            : NULL;

    if (o->keep_identity && bcp_control(c->dbproc, BCPKEEPIDENTITY, TRUE) == FAIL)
        return fr_db_sink_error(c->sink, "keeping identity values", err);
    if (hint != NULL && bcp_options(c->dbproc, BCPHINTS, (BYTE *)(uintptr_t)hint,
                                    (int)strlen(hint)) == FAIL)
        return fr_db_sink_error(c->sink, "setting the bulk copy hint", err);
    return FR_OK;
}

static void sort_by_form(struct bcp_copy *c)
{
    size_t n = 0;

    for (int form = NO_FORM + 1; form < FORMS; form++) {
        for (size_t i = 0; i < c->bulk.columns; i++)
            if ((int)c->columns[i].form == form)
                c->by_form[n++] = &c->columns[i];
        c->form_ends[form] = n;
    }
}

static fr_status start(struct bcp_copy *c, const struct fr_bulk_target *t,
                       struct fr_err *err)
{
    int number = 0;
    fr_status st;

    fr_db_sink_clear(c->sink);
    if (bcp_init(c->dbproc, t->table, NULL, NULL, DB_IN) == FAIL)
        return fr_db_sink_error(c->sink, "starting the bulk copy", err);
    st = set_options(c, &t->options, err);
    for (size_t i = 0; st == FR_OK && i < t->column_count; i++) {
        const struct fr_column *col = &t->columns[i];

        bool is_left_out = col->computed || (col->identity && !t->options.keep_identity);

        /* db-lib leaves these out by itself, but still numbers them where they are */
        number += is_left_out && t->is_stage ? 0 : 1;
        if (is_left_out)
            continue;
        if (rules[col->type].host_type == 0) /* xml without a value: db-lib sends NULL */
            continue;
        st = prepare_column(c, t, i, number, err);
    }
    sort_by_form(c);
    return st;
}

static const struct fr_bulk_ops bcp_copy_ops;

static fr_status bcp_begin(struct fr_sql *s, const struct fr_bulk_target *t,
                           struct fr_bulk **out, struct fr_err *err)
{
    struct bcp_copy *c;
    fr_status st = refuse_unsupported(t, err);

    *out = NULL;
    if (st != FR_OK)
        return st;
    c = calloc(1, sizeof *c);
    if (c == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    c->bulk.ops = &bcp_copy_ops;
    c->bulk.columns = t->column_count;
    c->bulk.cells = calloc(t->column_count, sizeof *c->bulk.cells);
    c->columns = calloc(t->column_count, sizeof *c->columns);
    c->by_form = calloc(t->column_count, sizeof *c->by_form);
    c->sql = s;
    c->dbproc = fr_connect_dbproc(s);
    c->sink = fr_connect_sink(s);
    if (c->bulk.cells == NULL || c->columns == NULL || c->by_form == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a bulk copy");
    else
        st = start(c, t, err);
    if (st != FR_OK) {
        copy_free(c);
        return st;
    }
    *out = &c->bulk;
    return FR_OK;
}

static int32_t length_of(const struct bcp_column *col)
{
    int32_t n;

    memcpy(&n, col->memory + 4, sizeof n);
    return n;
}

static uint64_t bytes_of(int32_t length)
{
    return length > 0 ? (uint64_t)length : 0;
}

/* Whether it is empty has changed. */
static fr_status bind_anew(struct bcp_copy *c, struct bcp_column *col, int32_t n,
                           struct fr_err *err)
{
    return n == 0 ? bind_empty(c, col, err) : bind_column(c, col, err);
}

/* Columns of one form, from *at on.  The values' bytes are added to *bytes. */
static inline void translate(struct bcp_copy *c, enum library_form form,
                             void (*to_library)(const unsigned char *cell,
                                                unsigned char *library),
                             size_t *at, uint64_t *bytes)
{
    for (; *at < c->form_ends[form]; ++*at) {
        const struct bcp_column *col = c->by_form[*at];
        int32_t n = length_of(col);

        memcpy(col->bound + 4, &n, sizeof n);
        if (n >= 0)
            to_library(col->memory + 8, col->bound + 8);
        *bytes += bytes_of(n);
    }
}

/* What db-lib reads is brought up to the cells, form by form: there is nothing to guess
 * in a loop over one of them. */
static fr_status show_cells(struct bcp_copy *c, uint64_t *bytes, struct fr_err *err)
{
    size_t i = 0;

    for (; i < c->form_ends[FIXED]; i++)
        *bytes += bytes_of(length_of(c->by_form[i]));
    for (; i < c->form_ends[VARIABLE]; i++) {
        struct bcp_column *col = c->by_form[i];
        int32_t n = length_of(col);

        *bytes += bytes_of(n);
        if ((n == 0) != col->bound_as_empty) {
            fr_status st = bind_anew(c, col, n, err);

            if (st != FR_OK)
                return st;
        }
    }
    translate(c, MONEY, translate_money, &i, bytes);
    translate(c, DECIMAL, translate_decimal, &i, bytes);
    translate(c, DATETIME, translate_datetime, &i, bytes);
    return FR_OK;
}

static fr_status bcp_send(struct fr_bulk *b, struct fr_err *err)
{
    struct bcp_copy *c = (struct bcp_copy *)b;
    uint64_t sent = 0;
    fr_status st = show_cells(c, &sent, err);

    if (st != FR_OK)
        return st;
    c->sending = true;
    if (bcp_sendrow(c->dbproc) == FAIL) {
        st = fr_db_sink_error(c->sink, "sending a row", err);
        /* half a row may be on the wire: this connection is of no more use */
        c->sql->lost = true;
        if (c->sink->server_number != 0)
            return st;
        if (err != NULL)
            err->status = FR_ELOST;
        return FR_ELOST;
    }
    b->bytes_sent += sent;
    return FR_OK;
}

void fr_bcp_explain(struct fr_err *err)
{
    /* Babelfish reads on for the DONE that db-lib leaves out (MS-TDS 2.2.6.1 lets it) */
    if (strstr(err->text, "more data than available in BCP request") != NULL)
        fr_err_wrap(err, "this server (Babelfish) wants the end of a bulk copy marked, "
                         "which db-lib does not do: the bcp engine cannot load it");
}

static fr_status bcp_finish(struct fr_bulk *b, int64_t *rows, struct fr_err *err)
{
    struct bcp_copy *c = (struct bcp_copy *)b;
    fr_status st = FR_OK;
    DBINT copied = 0;

    *rows = 0;
    /* without a row db-lib has not opened the stream: there is nothing to end */
    if (c->sending) {
        copied = bcp_done(c->dbproc);
        if (copied < 0 || c->sink->server_number != 0 || c->sink->dead) {
            st = fr_db_sink_error(c->sink, "bulk copy", err);
            fr_bcp_explain(err);
            if (c->sink->dead || DBDEAD(c->dbproc))
                c->sql->lost = true;
        }
        *rows = copied;
    }
    copy_free(c);
    return st;
}

static void bcp_abandon(struct fr_bulk *b)
{
    struct bcp_copy *c = (struct bcp_copy *)b;

    if (c->sending)
        c->sql->lost = true;
    copy_free(c);
}

static const struct fr_bulk_ops bcp_copy_ops = {
    .grow = bcp_grow, .send = bcp_send, .finish = bcp_finish, .abandon = bcp_abandon};

const struct fr_bulk_engine fr_bcp_engine = {
    .name = "bcp", .check = check_columns, .begin = bcp_begin};
