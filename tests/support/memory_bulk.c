#include "support/memory_bulk.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *encode(const struct fr_bulk *b, size_t column, unsigned char *at)
{
    const struct memory_bulk *m = (const struct memory_bulk *)b;
    int32_t n = m->memory[column].length;

    if (n == FR_CELL_NULL)
        return wire_encode_null(m->wire[column].form, at);
    if (m->wire[column].encode != NULL)
        return m->wire[column].encode(m->memory[column].data, at);
    return wire_encode_short(m->memory[column].data, (size_t)n, at);
}

static void need(struct memory_bulk *m, size_t bytes)
{
    if (m->out_bytes - m->n >= bytes)
        return;
    if (!m->wraps)
        abort();
    m->n = 0;
}

static fr_status room(struct fr_bulk *b, unsigned char **at, size_t *bytes,
                      struct fr_err *err)
{
    struct memory_bulk *m = (struct memory_bulk *)b;

    (void)err;
    need(m, m->room_bytes);
    *at = m->out + m->n;
    *bytes = m->room_bytes;
    return FR_OK;
}

static void commit(struct fr_bulk *b, const unsigned char *end)
{
    struct memory_bulk *m = (struct memory_bulk *)b;

    if (end < m->out + m->n || (size_t)(end - m->out) > m->n + m->room_bytes)
        abort();
    m->committed_bytes += (uint64_t)(end - m->out) - m->n;
    m->n = (size_t)(end - m->out);
}

fr_status memory_bulk_send(struct fr_bulk *b, struct fr_err *err)
{
    struct memory_bulk *m = (struct memory_bulk *)b;
    unsigned char *at;

    (void)err;
    need(m, MEMORY_CELL_BYTES * b->columns);
    at = m->out + m->n;
    *at++ = MEMORY_ROW_MARK;
    for (size_t i = 0; i < b->columns; i++)
        at = encode(b, i, at);
    m->n = (size_t)(at - m->out);
    return FR_OK;
}

static fr_status grow(struct fr_bulk *b, size_t column, size_t bytes, struct fr_err *err)
{
    (void)b;
    (void)column;
    return fr_err_set(err, FR_ENOMEM, "%zu bytes", bytes);
}

static const struct fr_bulk_ops memory_ops = {.grow = grow,
                                              .send = memory_bulk_send,
                                              .room = room,
                                              .encode = encode,
                                              .commit = commit};

void memory_bulk_init(struct memory_bulk *m, const struct fr_column *columns,
                      size_t count, bool by_cells, size_t room_bytes, size_t out_bytes)
{
    size_t bound = 1;

    memset(m, 0, sizeof *m);
    m->out = malloc(out_bytes);
    m->out_bytes = out_bytes;
    if (m->out == NULL || count > MEMORY_COLUMNS)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (wire_column_init(&m->wire[i], &columns[i], NULL) != FR_OK)
            abort();
        bound += m->wire[i].bound_bytes;
        m->cells[i] = (struct fr_cell){.length = &m->memory[i].length,
                                       .data = m->memory[i].data,
                                       .capacity_bytes = MEMORY_CELL_BYTES};
    }
    m->bulk = (struct fr_bulk){.ops = &memory_ops,
                               .cells = m->cells,
                               .columns = count,
                               .direct_bytes = by_cells ? 0 : bound + FR_BULK_SLACK_BYTES,
                               .direct_mark = MEMORY_ROW_MARK};
    m->room_bytes = m->bulk.direct_bytes + room_bytes;
}

void memory_bulk_free(struct memory_bulk *m)
{
    free(m->out);
    m->out = NULL;
}

size_t memory_take_one(struct fr_plan *p, const struct fr_window *w,
                       struct memory_bulk *m)
{
    static struct fr_field fields[FR_MAX_FIELDS];
    struct fr_record rec = {.fields = fields};
    struct fr_row_error bad;
    struct fr_err err = {0};

    if (fr_split_next(fr_plan_splitter(p), w->p, w->n, true, &rec) != FR_SPLIT_ROW)
        return 0;
    if (rec.blank)
        return rec.total_bytes;
    if (rec.bad != NULL || rec.count != fr_plan_field_count(p) ||
        fr_plan_convert(p, &rec, &m->bulk, &bad, &err) != FR_OK) {
        need(m, 1);
        m->out[m->n++] = MEMORY_REFUSED;
    } else {
        (void)memory_bulk_send(&m->bulk, &err);
    }
    return rec.total_bytes;
}

int64_t memory_take_all(struct fr_plan *p, const char *text, size_t n,
                        const struct memory_steps *steps, struct memory_bulk *m)
{
    enum { MAX_ROWS = 300, MAX_BYTES = 9000 };
    struct fr_window w = {.p = text, .n = n, .generation = 1};
    struct fr_err err = {0};
    int64_t rows = 0;

    for (;;) {
        size_t took;

        if (steps != NULL) {
            struct fr_direct_run run = {
                .max_rows = 1 + (int64_t)(steps->next(steps->ctx) % MAX_ROWS),
                .max_bytes = 1 + steps->next(steps->ctx) % MAX_BYTES};

            if (fr_plan_send_rows(p, &w, &m->bulk, &run, &err) != FR_OK ||
                run.rows > run.max_rows || run.bytes > w.n)
                abort();
            /* the row that reaches the limit is the last */
            if (run.bytes > run.max_bytes + FR_INDEX_ROW_BYTES)
                abort();
            w.p += run.bytes;
            w.n -= run.bytes;
            rows += run.rows;
            if (steps->next(steps->ctx) % 100 == 0) /* the reader moved it */
                w.generation++;
        }
        took = memory_take_one(p, &w, m);
        if (took == 0)
            return rows;
        w.p += took;
        w.n -= took;
    }
}
