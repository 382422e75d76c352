/* The kernels of processors with AVX2. */
#include "base/cpu.h"

#if FR_CPU_HAS_AVX

#include "base/utf8.h"
#include "load/digits.h"
#include "load/direct_priv.h"
#include "wire/form.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL FR_FOR_AVX2
#include "load/direct_vector.h"

/* Characters of two bytes at the begin of v, as UTF-16; *count: how many there are. */
ALWAYS __m128i pairs_to_units(__m128i v, size_t *count)
{
    /* 110xxxxx 10xxxxxx, the first in the lower byte; C0 and C1 begin none */
    __m128i shape = _mm_cmpeq_epi16(_mm_and_si128(v, _mm_set1_epi16((short)0xC0E0)),
                                    _mm_set1_epi16((short)0x80C0));
    __m128i overlong =
        _mm_cmpeq_epi16(_mm_and_si128(v, _mm_set1_epi16(0x1E)), _mm_setzero_si128());
    unsigned good = (unsigned)_mm_movemask_epi8(_mm_andnot_si128(overlong, shape));

    *count = (size_t)__builtin_ctz(~good) / 2;
    return _mm_or_si128(_mm_slli_epi16(_mm_and_si128(v, _mm_set1_epi16(0x1F)), 6),
                        _mm_and_si128(_mm_srli_epi16(v, 8), _mm_set1_epi16(0x3F)));
}

/* The same of three bytes, four at most. */
ALWAYS __m128i triples_to_units(__m128i v, size_t *count)
{
    const __m128i places =
        _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    __m128i x = _mm_shuffle_epi8(v, places);
    __m128i shape = _mm_cmpeq_epi32(_mm_and_si128(x, _mm_set1_epi32(0x00C0C0F0)),
                                    _mm_set1_epi32(0x008080E0));
    __m128i ch = _mm_or_si128(
        _mm_or_si128(_mm_slli_epi32(_mm_and_si128(x, _mm_set1_epi32(0x0F)), 12),
                     _mm_and_si128(_mm_srli_epi32(x, 2), _mm_set1_epi32(0xFC0))),
        _mm_and_si128(_mm_srli_epi32(x, 16), _mm_set1_epi32(0x3F)));
    __m128i high = _mm_and_si128(ch, _mm_set1_epi32(0xF800));
    /* below 0x800 two bytes would do, and surrogates are no characters */
    __m128i wrong = _mm_or_si128(_mm_cmpeq_epi32(high, _mm_setzero_si128()),
                                 _mm_cmpeq_epi32(high, _mm_set1_epi32(0xD800)));
    unsigned good =
        (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_andnot_si128(wrong, shape)));

    *count = (size_t)__builtin_ctz(~good);
    return _mm_packus_epi32(ch, ch);
}

/* A character that is not ASCII, and those of as many bytes behind it. */
ALWAYS bool widen_others(const unsigned char **in, const unsigned char *end,
                         unsigned char **out, const unsigned char *out_end)
{
    size_t count = 0, bytes = **in < 0xE0 ? 2 : 3;
    __m128i units;
    uint32_t ch;

    if (**in < 0xF0) {
        units = bytes == 2 ? pairs_to_units(load_16(*in), &count)
                           : triples_to_units(load_16(*in), &count);
        if (count > (size_t)(end - *in) / bytes)
            count = (size_t)(end - *in) / bytes;
        if (count == 0 || 2 * count > (size_t)(out_end - *out))
            return false;
        _mm_storeu_si128((__m128i *)(void *)*out, units);
        *out += 2 * count;
        *in += count * bytes;
        return true;
    }
    bytes = fr_utf8_take(*in, (size_t)(end - *in), &ch);
    if (bytes == 0 || out_end - *out < 2)
        return false;
    *out += fr_utf16_put(ch, *out);
    *in += bytes;
    return true;
}

ALWAYS bool widen(const char *p, size_t n, size_t room, unsigned char *out, size_t *bytes)
{
    const unsigned char *in = (const unsigned char *)p, *end = in + n;
    const unsigned char *out_end = out + room;
    unsigned char *at = out;

    while (in < end) {
        __m128i v = load_16(in);
        unsigned high = (unsigned)_mm_movemask_epi8(v);
        size_t ascii = high == 0 ? 16 : (size_t)__builtin_ctz(high);

        if (ascii > (size_t)(end - in))
            ascii = (size_t)(end - in);
        if (2 * ascii > (size_t)(out_end - at))
            return false;
        _mm256_storeu_si256((__m256i *)(void *)at, _mm256_cvtepu8_epi16(v));
        at += 2 * ascii;
        in += ascii;
        if (in < end && *in >= 0x80 && !widen_others(&in, end, &at, out_end))
            return false;
    }
    *bytes = (size_t)(at - out);
    return at <= out_end;
}

#include "load/direct_kernels.h"

/* Up to the next quote, or 32 bytes, at a time. */
KERNEL static size_t unquote(const char *p, size_t n, char quote, char *out,
                             bool *is_ascii)
{
    const __m256i wanted = _mm256_set1_epi8(quote);
    const char *end = p + n;
    char *to = out;
    uint32_t high = 0;

    while (p < end) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        uint32_t quotes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, wanted));
        uint32_t marks = (uint32_t)_mm256_movemask_epi8(v);
        size_t left = (size_t)(end - p), step = left < 32 ? left : 32;
        size_t first = quotes == 0 ? 32 : (size_t)__builtin_ctz(quotes);
        size_t skip = 0;

        _mm256_storeu_si256((__m256i *)(void *)to, v);
        if (first < step) {
            step = first + 1;
            skip = 1;
        }
        high |= (uint32_t)_bzhi_u64(marks, (unsigned)step);
        p += step + skip;
        to += step;
    }
    *is_ascii = high == 0;
    return (size_t)(to - out);
}

const struct direct_level direct_avx2 = LEVEL(unquote);

#endif
