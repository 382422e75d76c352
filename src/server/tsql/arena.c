/* arena.c - see arena.h.  Chunks of doubling size in a list; the newest one is filled. */
#include "server/tsql/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN_BYTES = 4096, CHUNK_MAX_BYTES = 1024 * 1024, ALIGN_BYTES = 16 };

struct chunk {
    struct chunk *next;
    size_t cap, used;
    _Alignas(ALIGN_BYTES) char data[];
};

struct arena {
    struct chunk *head;
    size_t total; /* of all chunks' capacity */
    size_t max;
    size_t used;
};

struct arena *arena_new(size_t max_bytes)
{
    struct arena *a = calloc(1, sizeof *a);

    if (a != NULL)
        a->max = max_bytes;
    return a;
}

void arena_free(struct arena **ap)
{
    struct arena *a = *ap;

    *ap = NULL;
    if (a == NULL)
        return;
    while (a->head != NULL) {
        struct chunk *next = a->head->next;

        free(a->head);
        a->head = next;
    }
    free(a);
}

static bool arena_grow(struct arena *a, size_t bytes)
{
    size_t cap = a->head == NULL ? CHUNK_MIN_BYTES : a->head->cap * 2;
    struct chunk *c;

    if (cap > CHUNK_MAX_BYTES)
        cap = CHUNK_MAX_BYTES;
    if (cap < bytes)
        cap = bytes;
    if (cap > a->max - a->total)
        cap = bytes;
    if (cap > a->max - a->total)
        return false;
    c = calloc(1, sizeof *c + cap);
    if (c == NULL)
        return false;
    c->cap = cap;
    c->next = a->head;
    a->head = c;
    a->total += cap;
    return true;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    void *p;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    if (bytes == 0)
        bytes = ALIGN_BYTES;
    if (a->head == NULL || a->head->cap - a->head->used < bytes) {
        if (!arena_grow(a, bytes))
            return NULL;
    }
    p = a->head->data + a->head->used;
    a->head->used += bytes;
    a->used += bytes;
    return p;
}

char *arena_text(struct arena *a, const char *p, size_t n)
{
    char *copy = n == SIZE_MAX ? NULL : arena_alloc(a, n + 1);

    if (copy != NULL && n > 0)
        memcpy(copy, p, n);
    return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    return arena_text(a, text, strlen(text));
}

size_t arena_used_bytes(const struct arena *a)
{
    return a->used;
}
