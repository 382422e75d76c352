/*
 * direct_vector.h - sixteen characters at a time, no branch per digit or by the number of
 * them: what direct_kernels.h asks for, for the levels that have AVX2.  KERNEL: the
 * attributes of a function of that level.
 */

#define ALWAYS KERNEL static inline __attribute__((always_inline))

ALWAYS __m128i load_16(const void *p)
{
    return _mm_loadu_si128(p);
}

/* No byte of v is more than that of most. */
ALWAYS bool is_at_most(__m128i v, __m128i most)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, most), v)) == 0xFFFF;
}

/* The 16 characters that end the number, as digits; 0 for those in front of it. */
ALWAYS __m128i last_digits(const char *p, size_t n)
{
    static const unsigned char mask[2 * DIRECT_MAX_DIGITS] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
        0,    0,    0,    0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    __m128i v = load_16(p + n - DIRECT_MAX_DIGITS);

    return _mm_and_si128(_mm_xor_si128(v, _mm_set1_epi8('0')), load_16(mask + n));
}

/* Neighbours are joined: pairs, fours, eights. */
ALWAYS bool digits_value(__m128i digits, uint64_t *out)
{
    __m128i pairs, fours, eights;
    uint64_t both;

    if (!is_at_most(digits, _mm_set1_epi8(9)))
        return false;
    pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010A));
    fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
    eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
    both = (uint64_t)_mm_cvtsi128_si64(eights);
    *out = (both & UINT32_MAX) * 100000000 + (both >> 32);
    return true;
}

ALWAYS bool parse_digits(const char *p, size_t n, uint64_t *out)
{
    return n - 1 < DIRECT_MAX_DIGITS && digits_value(last_digits(p, n), out);
}

ALWAYS bool parse_point(const struct direct_column *c, const char *p, size_t n,
                        uint64_t *out)
{
    return n <= DIRECT_MAX_DIGITS &&
           digits_value(_mm_shuffle_epi8(last_digits(p, n), load_16(c->without_point)),
                        out);
}

ALWAYS bool parse_days(const struct fr_calendar *calendar, const char *p, uint32_t *out)
{
    const __m128i places =
        _mm_setr_epi8(0, 1, 2, 3, 5, 6, 8, 9, 4, 7, -1, -1, -1, -1, -1, -1);
    const __m128i wanted =
        _mm_setr_epi8('0', '0', '0', '0', '0', '0', '0', '0', '-', '-', 0, 0, 0, 0, 0, 0);
    const __m128i most = _mm_setr_epi8(9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0);
    __m128i v = _mm_xor_si128(_mm_shuffle_epi8(load_16(p), places), wanted);
    uint64_t pairs =
        (uint64_t)_mm_cvtsi128_si64(_mm_maddubs_epi16(v, _mm_set1_epi16(0x010A)));

    return is_at_most(v, most) &&
           fr_calendar_days(
               calendar, (unsigned)(pairs & 0xFF) * 100 + (unsigned)(pairs >> 16 & 0xFF),
               (unsigned)(pairs >> 32 & 0xFF), (unsigned)(pairs >> 48), out);
}

ALWAYS bool parse_clock(const char *p, uint32_t *out)
{
    const __m128i places =
        _mm_setr_epi8(0, 1, 3, 4, 6, 7, 2, 5, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i wanted =
        _mm_setr_epi8('0', '0', '0', '0', '0', '0', ':', ':', 0, 0, 0, 0, 0, 0, 0, 0);
    /* the tens of minutes and seconds go to 5 */
    const __m128i most = _mm_setr_epi8(2, 9, 5, 9, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    __m128i v = _mm_xor_si128(_mm_shuffle_epi8(load_16(p), places), wanted);
    uint64_t pairs =
        (uint64_t)_mm_cvtsi128_si64(_mm_maddubs_epi16(v, _mm_set1_epi16(0x010A)));
    uint32_t hour = (uint32_t)(pairs & 0xFF);

    *out = hour * 3600 + (uint32_t)(pairs >> 16 & 0xFF) * 60 +
           (uint32_t)(pairs >> 32 & 0xFF);
    return is_at_most(v, most) && hour < 24;
}

/* What stands among the n bytes: bit 7 of any set, or the byte looked for. */
struct text_marks {
    bool has_high, has_byte;
};

/* Most texts are short: 64 bytes are copied without asking how many there are. */
ALWAYS struct text_marks copy_marking(const char *p, size_t n, char byte,
                                      unsigned char *out)
{
    const __m256i wanted = _mm256_set1_epi8(byte);
    uint64_t high = 0, hits = 0;

    for (size_t at = 0;; at += 64) {
        __m256i low_half = _mm256_loadu_si256((const __m256i *)(const void *)(p + at));
        __m256i high_half =
            _mm256_loadu_si256((const __m256i *)(const void *)(p + at + 32));
        uint64_t marks = (uint32_t)_mm256_movemask_epi8(low_half) |
                         (uint64_t)(uint32_t)_mm256_movemask_epi8(high_half) << 32;
        uint64_t found =
            (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low_half, wanted)) |
            (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high_half, wanted))
                << 32;

        _mm256_storeu_si256((__m256i *)(void *)(out + at), low_half);
        _mm256_storeu_si256((__m256i *)(void *)(out + at + 32), high_half);
        if (n - at <= 64) {
            high |= _bzhi_u64(marks, (unsigned)(n - at));
            hits |= _bzhi_u64(found, (unsigned)(n - at));
            return (struct text_marks){high != 0, hits != 0};
        }
        high |= marks;
        hits |= found;
    }
}

ALWAYS bool copy_ascii(const char *p, size_t n, unsigned char *out)
{
    return !copy_marking(p, n, '\x80', out).has_high;
}
