/*
 * arena.h - memory that is released all at once.
 *
 * An AST lives in one arena; nothing in it is freed by itself.  The arena has a maximum
 * from birth, so that hostile SQL cannot take the machine's memory.  One thread at a
 * time; a finished AST may be read by any thread.
 */
#ifndef FRD_TSQL_ARENA_H
#define FRD_TSQL_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena; /* opaque */

struct arena *arena_new(size_t max_bytes); /* NULL when out of memory */
void arena_free(struct arena **ap);        /* accepts &NULL; sets *ap to NULL */

/* Zeroed, aligned for any type; NULL when over the maximum or out of memory. */
void *arena_alloc(struct arena *a, size_t bytes);
/* n bytes of p and a NUL behind them. */
char *arena_text(struct arena *a, const char *p, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
size_t arena_used_bytes(const struct arena *a);

#endif
