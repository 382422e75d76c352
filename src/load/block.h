/* block.h - bytes looked for 64 at a time. */
#ifndef FR_LOAD_BLOCK_H
#define FR_LOAD_BLOCK_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { FR_BLOCK_BYTES = 64 };

/* Bit i: one of the two bytes stands at p[i]. */
#ifdef __SSE2__
static inline uint64_t fr_block_find(const char *p, char a, char b)
{
    const __m128i wanted_a = _mm_set1_epi8(a), wanted_b = _mm_set1_epi8(b);
    uint64_t found = 0;

    for (int i = 0; i < FR_BLOCK_BYTES / 16; i++) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(block, wanted_a),
                                   _mm_cmpeq_epi8(block, wanted_b));

        found |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << (16 * i);
    }
    return found;
}
#else
static inline uint64_t fr_block_find(const char *p, char a, char b)
{
    uint64_t found = 0;

    for (int i = 0; i < FR_BLOCK_BYTES; i++)
        found |= (uint64_t)(p[i] == a || p[i] == b) << i;
    return found;
}
#endif

/* Bit i: an odd number of bits stands at and below i. */
static inline uint64_t fr_parity(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

#endif
