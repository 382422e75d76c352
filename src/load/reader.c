#include "load/reader.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* 4 x (1 MiB + 64 KiB): enough to hide an unpacker's pace, small beside the 64 MiB a
 * worker may use.  A plain file has one block, which stays in the processor's cache. */
enum {
    BLOCKS = 4,
    BLOCK_BYTES = 1 << 20,
    PLAIN_BLOCK_BYTES = 256 << 10,
    HEADROOM_BYTES = 64 << 10,
    AHEAD_BYTES = 8 << 20 /* what a plain file's system is asked for at a time */
};

struct block {
    char *owned;
    char *memory; /* in it, with slack on both sides: HEADROOM_BYTES for the tail of the
                     block before, then block_bytes */
    size_t n;
};

struct fr_reader {
    struct fr_source *source;
    size_t max_row_bytes;
    bool is_plain;        /* read by the loader's thread; the rest is for the other way */
    uint64_t ahead_bytes; /* asked for and not read yet */
    size_t block_count, block_bytes;
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
    struct block spill; /* gathers a row that is longer than the headroom */
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
        st = fr_source_read(r->source, b->memory + HEADROOM_BYTES, r->block_bytes, &got,
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

static bool make_block(struct block *b, size_t bytes)
{
    b->owned = calloc(1, bytes + 2 * FR_WINDOW_SLACK_BYTES);
    b->memory = b->owned == NULL ? NULL : b->owned + FR_WINDOW_SLACK_BYTES;
    return b->owned != NULL;
}

fr_status fr_reader_start(struct fr_source **source, size_t max_row_bytes,
                          struct fr_reader **out, struct fr_err *err)
{
    const struct fr_source_identity *id = fr_source_identity(*source);
    struct fr_reader *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a reader");
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->is_plain = id->is_plain && id->can_reread;
    r->block_count = r->is_plain ? 1 : BLOCKS;
    r->block_bytes = r->is_plain ? PLAIN_BLOCK_BYTES : BLOCK_BYTES;
    r->source = *source;
    *source = NULL;
    r->max_row_bytes = max_row_bytes;
    for (size_t i = 0; i < r->block_count; i++) {
        if (!make_block(&r->blocks[i], HEADROOM_BYTES + r->block_bytes)) {
            fr_reader_stop(&r);
            return fr_err_set(err, FR_ENOMEM, "no memory for a reader");
        }
    }
    if (!r->is_plain && pthread_create(&r->thread, NULL, read_ahead, r) != 0) {
        fr_reader_stop(&r);
        return fr_err_set(err, FR_ENOMEM, "the reader's thread could not be started");
    }
    r->thread_runs = !r->is_plain;
    r->window.p = r->blocks[0].memory;
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
        free(r->blocks[i].owned);
    free(r->spill.owned);
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

/* Move the window to the front of the spill, with room for `more` bytes behind it. */
static fr_status move_to_spill(struct fr_reader *r, size_t more, struct fr_err *err)
{
    size_t room = r->spill_bytes < BLOCK_BYTES * 2 ? BLOCK_BYTES * 2 : r->spill_bytes;
    struct block old = r->spill;

    while (room < r->window.n + more)
        room *= 2;
    if (room > r->spill_bytes && !make_block(&r->spill, room)) {
        r->spill = old;
        return fr_err_set(err, FR_ENOMEM, "no memory for a row of more than %zu bytes",
                          r->window.n);
    }
    memmove(r->spill.memory, r->window.p, r->window.n);
    if (old.owned != r->spill.owned)
        free(old.owned);
    r->spill_bytes = room;
    r->window.p = r->spill.memory;
    return FR_OK;
}

static void move_in_front_of(struct fr_reader *r, const struct block *b)
{
    char *start = b->memory + HEADROOM_BYTES - r->window.n;

    memmove(start, r->window.p, r->window.n);
    r->window.p = start;
}

/* The loader's thread reads. */
static fr_status read_plain(struct fr_reader *r, struct fr_err *err)
{
    struct block *b = &r->blocks[0];
    char *to = b->memory + HEADROOM_BYTES;
    size_t got = 0;
    fr_status st = FR_OK;

    if (r->ahead_bytes < r->block_bytes) {
        fr_source_read_ahead(r->source, AHEAD_BYTES);
        r->ahead_bytes = AHEAD_BYTES;
    }
    if (r->window.n <= HEADROOM_BYTES) {
        move_in_front_of(r, b);
    } else {
        st = move_to_spill(r, r->block_bytes, err);
        to = r->spill.memory + r->window.n;
    }
    if (st == FR_OK)
        st = fr_source_read(r->source, to, r->block_bytes, &got, err);
    r->ahead_bytes -= got;
    r->window.n += got;
    r->window.at_end = st == FR_OK && got == 0;
    return st;
}

/* The other thread has read. */
static fr_status take_block(struct fr_reader *r, struct fr_err *err)
{
    fr_status st;
    struct block *b = next_block(r, &st, err);

    if (b == NULL) {
        r->window.at_end = st == FR_OK;
        return st;
    }
    r->taken++;
    if (r->window.n <= HEADROOM_BYTES) {
        move_in_front_of(r, b);
        r->window.n += b->n;
        free_blocks_before(r, r->taken - 1);
        return FR_OK;
    }
    st = move_to_spill(r, b->n, err);
    if (st == FR_OK) {
        memcpy(r->spill.memory + r->window.n, b->memory + HEADROOM_BYTES, b->n);
        r->window.n += b->n;
    }
    free_blocks_before(r, r->taken);
    return st;
}

fr_status fr_reader_more(struct fr_reader *r, struct fr_err *err)
{
    if (r->window.at_end)
        return FR_OK;
    if (r->window.n > r->max_row_bytes)
        return fr_err_set(
            err, FR_EDATA,
            "the row does not end within %zu bytes (--max-field-bytes; or another "
            "row terminator?)",
            r->max_row_bytes);
    r->window.generation++;
    return r->is_plain ? read_plain(r, err) : take_block(r, err);
}
