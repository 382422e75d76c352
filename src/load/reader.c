#include "load/reader.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* 4 x (1 MiB + 64 KiB): enough to hide a disk's latency, small beside the 64 MiB a worker
 * may use. */
enum { BLOCKS = 4, BLOCK_BYTES = 1 << 20, HEADROOM_BYTES = 64 << 10 };

struct block {
    char *memory; /* HEADROOM_BYTES for the tail of the block before, then BLOCK_BYTES */
    size_t n;
};

struct fr_reader {
    struct fr_source *source;
    size_t max_row_bytes;
    pthread_t thread;
    bool thread_runs;
    /* lock: guards what follows up to `failed`; no other lock is taken while it is held
     */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct block blocks[BLOCKS];
    size_t filled; /* blocks read so far; block i lies in blocks[i % BLOCKS] */
    size_t freed;  /* blocks the loader is done with */
    bool ended;
    bool stopping;
    fr_status failed;
    struct fr_err error;
    /* the loader's own */
    size_t taken; /* blocks the window has reached */
    struct fr_window window;
    char *spill; /* gathers a row that is longer than the headroom */
    size_t spill_bytes;
};

static bool wait_for_room(struct fr_reader *r)
{
    bool go_on;

    pthread_mutex_lock(&r->lock);
    while (r->filled - r->freed == BLOCKS && !r->stopping)
        pthread_cond_wait(&r->changed, &r->lock);
    go_on = !r->stopping;
    pthread_mutex_unlock(&r->lock);
    return go_on;
}

static void *read_ahead(void *arg)
{
    struct fr_reader *r = arg;

    while (wait_for_room(r)) {
        struct block *b = &r->blocks[r->filled % BLOCKS];
        struct fr_err err = {0};
        size_t got = 0;
        fr_status st = FR_OK;

        b->n = 0;
        st = fr_source_read(r->source, b->memory + HEADROOM_BYTES, BLOCK_BYTES, &got,
                            &err);
        b->n = got;
        pthread_mutex_lock(&r->lock);
        if (st != FR_OK) {
            r->failed = st;
            r->error = err;
        }
        if (st != FR_OK || got == 0)
            r->ended = true;
        else
            r->filled++;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        if (st != FR_OK || got == 0)
            break;
    }
    return NULL;
}

fr_status fr_reader_start(struct fr_source **source, size_t max_row_bytes,
                          struct fr_reader **out, struct fr_err *err)
{
    struct fr_reader *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a reader");
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->source = *source;
    *source = NULL;
    r->max_row_bytes = max_row_bytes;
    for (size_t i = 0; i < BLOCKS; i++) {
        r->blocks[i].memory = malloc(HEADROOM_BYTES + BLOCK_BYTES);
        if (r->blocks[i].memory == NULL) {
            fr_reader_stop(&r);
            return fr_err_set(err, FR_ENOMEM, "no memory for a reader");
        }
    }
    if (pthread_create(&r->thread, NULL, read_ahead, r) != 0) {
        fr_reader_stop(&r);
        return fr_err_set(err, FR_ENOMEM, "the reader's thread could not be started");
    }
    r->thread_runs = true;
    r->window.p = "";
    *out = r;
    return FR_OK;
}

void fr_reader_stop(struct fr_reader **rp)
{
    struct fr_reader *r;

    if (rp == NULL || *rp == NULL)
        return;
    r = *rp;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    fr_source_cancel(r->source);
    if (r->thread_runs)
        pthread_join(r->thread, NULL);
    for (size_t i = 0; i < BLOCKS; i++)
        free(r->blocks[i].memory);
    free(r->spill);
    fr_source_close(&r->source);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
    *rp = NULL;
}

struct fr_window *fr_reader_window(struct fr_reader *r)
{
    return &r->window;
}

void fr_reader_consume(struct fr_reader *r, size_t n)
{
    assert(n <= r->window.n);
    r->window.p += n;
    r->window.n -= n;
}

/* The next block, or NULL at the end of input or on an error. */
static struct block *next_block(struct fr_reader *r, fr_status *st, struct fr_err *err)
{
    struct block *b = NULL;

    pthread_mutex_lock(&r->lock);
    while (r->filled == r->taken && !r->ended)
        pthread_cond_wait(&r->changed, &r->lock);
    if (r->filled > r->taken)
        b = &r->blocks[r->taken % BLOCKS];
    *st = b == NULL ? r->failed : FR_OK;
    if (*st != FR_OK && err != NULL)
        *err = r->error;
    pthread_mutex_unlock(&r->lock);
    return b;
}

static void free_blocks_before(struct fr_reader *r, size_t index)
{
    pthread_mutex_lock(&r->lock);
    r->freed = index;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static bool in_spill(const struct fr_reader *r)
{
    return r->spill != NULL && r->window.p >= r->spill &&
           r->window.p < r->spill + r->spill_bytes;
}

/* Put the window's bytes and the block's behind one another in the spill. */
static fr_status gather(struct fr_reader *r, const struct block *b, struct fr_err *err)
{
    size_t need = r->window.n + b->n;
    size_t room = r->spill_bytes < BLOCK_BYTES * 2 ? BLOCK_BYTES * 2 : r->spill_bytes;
    size_t keep_at = in_spill(r) ? (size_t)(r->window.p - r->spill) : 0;
    bool was_in_spill = in_spill(r);

    while (room < need)
        room *= 2;
    if (room > r->spill_bytes) {
        char *grown = realloc(r->spill, room);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM,
                              "no memory for a row of more than %zu bytes", r->window.n);
        r->spill = grown;
        r->spill_bytes = room;
    }
    if (!was_in_spill || keep_at > 0)
        memmove(r->spill, was_in_spill ? r->spill + keep_at : r->window.p, r->window.n);
    memcpy(r->spill + r->window.n, b->memory + HEADROOM_BYTES, b->n);
    r->window.p = r->spill;
    r->window.n = need;
    return FR_OK;
}

fr_status fr_reader_more(struct fr_reader *r, struct fr_err *err)
{
    fr_status st;
    struct block *b;

    if (r->window.at_end)
        return FR_OK;
    if (r->window.n > r->max_row_bytes)
        return fr_err_set(
            err, FR_EDATA,
            "the row does not end within %zu bytes (--max-field-bytes; or another "
            "row terminator?)",
            r->max_row_bytes);
    b = next_block(r, &st, err);
    if (b == NULL) {
        if (st == FR_OK)
            r->window.at_end = true;
        return st;
    }
    r->taken++;
    if (r->window.n <= HEADROOM_BYTES) {
        char *start = b->memory + HEADROOM_BYTES - r->window.n;

        memcpy(start, r->window.p, r->window.n);
        r->window.p = start;
        r->window.n += b->n;
        free_blocks_before(r, r->taken - 1);
        return FR_OK;
    }
    st = gather(r, b, err);
    free_blocks_before(r, r->taken);
    return st;
}
