/*
 * memory_bulk.h - a bulk copy into memory, and rows taken by it in both ways: one by one
 * by splitter and converters, and by the index as far as that goes (load/direct.h).
 */
#ifndef FR_TESTS_MEMORY_BULK_H
#define FR_TESTS_MEMORY_BULK_H

#include "load/plan.h"
#include "wire/encode.h"

enum {
    MEMORY_COLUMNS = 16,
    MEMORY_CELL_BYTES = 256,
    MEMORY_ROW_MARK = 0xD1,
    MEMORY_REFUSED = 0x3F /* stands for a row that was refused */
};

struct memory_bulk {
    struct fr_bulk bulk; /* first */
    struct fr_cell cells[MEMORY_COLUMNS];
    struct {
        int32_t pad, length;
        unsigned char data[MEMORY_CELL_BYTES + FR_BULK_SLACK_BYTES];
    } __attribute__((aligned(8))) memory[MEMORY_COLUMNS];
    struct wire_column wire[MEMORY_COLUMNS];
    unsigned char *out; /* owned: rows as a message has them, by cells or not */
    size_t n, out_bytes;
    size_t room_bytes; /* given at a time */
    bool wraps;        /* a full memory is written anew from its begin */
    uint64_t committed_bytes;
};

/* Columns are borrowed.  by_cells: rows are sent from the cells; else room_bytes more
 * than a row needs are given.  Aborts where it has no memory. */
void memory_bulk_init(struct memory_bulk *m, const struct fr_column *columns,
                      size_t count, bool by_cells, size_t room_bytes, size_t out_bytes);
void memory_bulk_free(struct memory_bulk *m);

/* Write the row in the cells. */
fr_status memory_bulk_send(struct fr_bulk *b, struct fr_err *err);

/* One row by splitter and converters; how many bytes it took, 0 at the end. */
size_t memory_take_one(struct fr_plan *p, const struct fr_window *w,
                       struct memory_bulk *m);

/* Choices of how far each step goes, for memory_take_all(). */
struct memory_steps {
    uint64_t (*next)(void *ctx); /* any number */
    void *ctx;
};

/* The whole text, by the index as far as it goes; steps NULL: row by row.  Returns the
 * rows that the index took. */
int64_t memory_take_all(struct fr_plan *p, const char *text, size_t n,
                        const struct memory_steps *steps, struct memory_bulk *m);

#endif
