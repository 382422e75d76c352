/* The kernels of processors with AVX-512: texts 64 bytes at a time. */
#include "base/cpu.h"

#if FR_CPU_HAS_AVX

#include "base/utf8.h"
#include "load/digits.h"
#include "load/direct_priv.h"
#include "wire/form.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL FR_FOR_AVX512
#include "load/direct_vector.h"

/* 32 characters as UTF-16: the last byte of each, and the two in front of that. */
struct last_bytes {
    __m256i last, second, third;
    uint32_t is_ascii, is_triple;
};

ALWAYS __m512i join_bytes(const struct last_bytes *b)
{
    const __m512i six = _mm512_set1_epi16(0x3F);
    __m512i last = _mm512_cvtepu8_epi16(b->last);
    __m512i second = _mm512_cvtepu8_epi16(b->second);
    __m512i third = _mm512_cvtepu8_epi16(b->third);

    last = _mm512_mask_mov_epi16(_mm512_and_si512(last, six), b->is_ascii, last);
    /* a lead of two bytes, 110xxxxx, has a 0 where a continuation has its highest bit */
    second = _mm512_maskz_mov_epi16(~b->is_ascii, _mm512_and_si512(second, six));
    third = _mm512_maskz_mov_epi16(b->is_triple,
                                   _mm512_and_si512(third, _mm512_set1_epi16(0x0F)));
    return _mm512_or_si512(_mm512_or_si512(last, _mm512_slli_epi16(second, 6)),
                           _mm512_slli_epi16(third, 12));
}

/* Of those of three bytes: two would have done, or it is a surrogate. */
ALWAYS bool are_characters(__m512i units, uint32_t is_triple)
{
    __m512i high = _mm512_and_si512(units, _mm512_set1_epi16((short)0xF800));

    return (is_triple &
            (_mm512_cmpeq_epi16_mask(high, _mm512_setzero_si512()) |
             _mm512_cmpeq_epi16_mask(high, _mm512_set1_epi16((short)0xD800)))) == 0;
}

/*
 * Characters of up to three bytes at the begin of 64 (n of them the text's), up to the
 * first that is cut off, malformed or longer.  Returns how many bytes they take; *units:
 * how many there are, written at out while they fit in room; -1: they do not, or are
 * none.
 */
ALWAYS ptrdiff_t widen_block(const unsigned char *p, size_t n, size_t room,
                             unsigned char *out, size_t *units)
{
    __m512i v = _mm512_loadu_si512(p);
    uint64_t seen = n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
    uint64_t ascii = ~_mm512_movepi8_mask(v) & seen;
    __m512i top = _mm512_and_si512(v, _mm512_set1_epi8((char)0xC0));
    uint64_t follows = _mm512_cmpeq_epi8_mask(top, _mm512_set1_epi8((char)0x80));
    uint64_t from_c2 = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xC2));
    uint64_t from_e0 = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xE0));
    uint64_t from_f0 = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xF0));
    uint64_t pairs = from_c2 & ~from_e0, triples = from_e0 & ~from_f0;
    uint64_t wrong = (((pairs | triples) << 1 | triples << 2) ^ follows) |
                     ~(ascii | follows | pairs | triples);
    uint64_t good = seen & (wrong == 0 ? ~UINT64_C(0) : (wrong & (0 - wrong)) - 1);
    uint64_t lasts = (ascii | pairs << 1 | triples << 2) & good;
    uint64_t is_ascii = _pext_u64(ascii, lasts),
             is_triple = _pext_u64(triples << 2, lasts);
    __m512i last = _mm512_maskz_compress_epi8(lasts, v);
    __m512i second = _mm512_maskz_compress_epi8(lasts, _mm512_loadu_si512(p - 1));
    __m512i third = _mm512_maskz_compress_epi8(lasts, _mm512_loadu_si512(p - 2));
    struct last_bytes low = {_mm512_castsi512_si256(last), _mm512_castsi512_si256(second),
                             _mm512_castsi512_si256(third), (uint32_t)is_ascii,
                             (uint32_t)is_triple};
    __m512i words = join_bytes(&low);

    *units = (size_t)_mm_popcnt_u64(lasts);
    if (2 * *units > room || !are_characters(words, low.is_triple))
        return -1;
    _mm512_storeu_si512(out, words);
    if (*units > 32) {
        struct last_bytes high = {
            _mm512_extracti64x4_epi64(last, 1), _mm512_extracti64x4_epi64(second, 1),
            _mm512_extracti64x4_epi64(third, 1), (uint32_t)(is_ascii >> 32),
            (uint32_t)(is_triple >> 32)};

        words = join_bytes(&high);
        if (!are_characters(words, high.is_triple))
            return -1;
        _mm512_storeu_si512(out + 64, words);
    }
    return lasts == 0 ? 0 : 64 - __builtin_clzll(lasts);
}

ALWAYS bool widen(const char *p, size_t n, size_t room, unsigned char *out, size_t *bytes)
{
    const unsigned char *in = (const unsigned char *)p, *end = in + n;
    size_t at = 0;

    while (in < end) {
        size_t units;
        ptrdiff_t took = widen_block(in, (size_t)(end - in), room - at, out + at, &units);

        if (took < 0)
            return false;
        in += took;
        at += 2 * units;
        if (took == 0) { /* a character of four bytes, or none */
            uint32_t ch;
            size_t one = fr_utf8_take(in, (size_t)(end - in), &ch);

            if (one == 0 || at + 2 > room)
                return false;
            at += fr_utf16_put(ch, out + at);
            in += one;
            if (at > room)
                return false;
        }
    }
    *bytes = at;
    return true;
}

#include "load/direct_kernels.h"

/* 64 bytes at a time: of the quotes every second is squeezed out. */
KERNEL static size_t unquote(const char *p, size_t n, char quote, char *out,
                             bool *is_ascii)
{
    const __m512i wanted = _mm512_set1_epi8(quote);
    uint64_t is_second = 0; /* all ones: the next quote is the second of a pair */
    uint64_t high = 0;
    size_t to = 0;

    for (size_t at = 0; at < n; at += 64) {
        uint64_t seen = n - at >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (n - at)) - 1;
        __m512i v = _mm512_loadu_si512(p + at);
        uint64_t quotes = _mm512_cmpeq_epi8_mask(v, wanted) & seen;
        /* of every bit and those below, added up without carries */
        uint64_t parity = (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(
            _mm_cvtsi64_si128((long long)quotes), _mm_set1_epi8((char)0xFF), 0));
        uint64_t first = parity ^ is_second;
        uint64_t keep = seen & ~(quotes & ~first);

        _mm512_storeu_si512(out + to, _mm512_maskz_compress_epi8(keep, v));
        high |= _mm512_movepi8_mask(v) & seen;
        to += (size_t)_mm_popcnt_u64(keep);
        is_second = 0 - (first >> 63);
    }
    *is_ascii = high == 0;
    return to;
}

const struct direct_level direct_avx512 = LEVEL(unquote);

#endif
