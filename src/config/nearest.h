/*
 * nearest.h - "did you mean": of the words offered, the one most like what was written.
 *
 * Plain data; the words are borrowed.
 */
#ifndef FR_CONFIG_NEAREST_H
#define FR_CONFIG_NEAREST_H

#include <stddef.h>

struct fr_nearest {
    const char *best; /* NULL = none is near */
    const char *word;
    size_t word_bytes;
    unsigned distance;
};

void fr_nearest_begin(struct fr_nearest *n, const char *word, size_t word_bytes);
void fr_nearest_offer(struct fr_nearest *n, const char *candidate);

#endif
