#include "load/index.h"

#include "base/cpu.h"
#include "load/block.h"

#include <stdlib.h>
#include <string.h>

#if FR_CPU_HAS_AVX
#include <immintrin.h>
#endif

enum {
    INDEX_BLOCK_BYTES = FR_BLOCK_BYTES,
    /* A stretch and its ends lie in the first cache while its rows are made. */
    MAX_STRETCH_BYTES = 16 << 10,
    MIN_STRETCH_BYTES = 512,
    ROOM = FR_INDEX_ROW_BYTES + MAX_STRETCH_BYTES,
    FRONT = 16 /* ends[-1], and what keeps ends aligned */
};

/* csv: what stands in a block, outside of quotes once they have been looked at. */
struct quoted_block {
    uint64_t ends, rows, quotes, crs;
    uint64_t bad; /* not of the common form */
};

static inline uint64_t block_mask(size_t left)
{
    return left >= INDEX_BLOCK_BYTES ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
}

/* Most blocks have one row end or none: that is written without a branch. */
static inline size_t put_rows(uint32_t *rows, size_t row_count, size_t end_count,
                              uint64_t ends, uint64_t row_ends)
{
    for (;;) {
        uint64_t below = (row_ends & (0 - row_ends)) - 1;

        rows[row_count] =
            (uint32_t)(end_count + (size_t)__builtin_popcountll(ends & below));
        row_count += row_ends != 0 ? 1 : 0;
        row_ends &= row_ends - 1;
        if (__builtin_expect(row_ends == 0, 1))
            return row_count;
    }
}

/*
 * Quotes open and close in turn.  One opens at the begin of a field, or right behind one
 * that closes (they are a pair then, and the field goes on); behind one that closes comes
 * a terminator.
 */
static inline __attribute__((always_inline)) void
look_at_quotes(struct fr_index_carry *carry, struct quoted_block *b, uint64_t parity,
               uint64_t seen)
{
    uint64_t inside = parity ^ carry->inside;
    uint64_t opening = b->quotes & inside, closing = b->quotes & ~inside;
    uint64_t after_end, after_close, cr, after_cr;

    b->ends &= ~inside;
    b->rows &= ~inside;
    after_end = b->ends << 1 | carry->after_end;
    after_close = closing << 1 | carry->after_close;
    cr = after_close & b->crs;
    after_cr = cr << 1 | carry->after_cr;
    b->bad = ((opening & ~(after_end | after_close)) |
              (after_close & ~(b->ends | opening | cr)) | (after_cr & ~b->rows)) &
             seen;
    carry->inside = 0 - (inside >> 63);
    carry->after_end = b->ends >> 63;
    carry->after_close = closing >> 63;
    carry->after_cr = cr >> 63;
}

/* ---- by level ---- */

static inline uint64_t plain_find(const char *p, char byte)
{
    return fr_block_find(p, byte, byte);
}

static inline uint64_t plain_parity(uint64_t bits)
{
    return fr_parity(bits);
}

static inline void plain_put(uint32_t *out, uint32_t at, uint64_t bits)
{
    for (; bits != 0; bits &= bits - 1)
        *out++ = at + (uint32_t)__builtin_ctzll(bits);
}

#define SCAN(name) plain_##name
#define SCAN_TARGET
#include "load/index_scan.h"
#undef SCAN
#undef SCAN_TARGET

#if FR_CPU_HAS_AVX
FR_FOR_AVX2 static inline uint64_t avx2_find(const char *p, char byte)
{
    const __m256i wanted = _mm256_set1_epi8(byte);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));

    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted))
               << 32;
}

/* A product without carries, by all ones, adds up every bit below. */
FR_FOR_AVX2 static inline uint64_t avx2_parity(uint64_t bits)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(
        _mm_cvtsi64_si128((long long)bits), _mm_set1_epi8((char)0xFF), 0));
}

/* Eight at a time without a look at how many there are: no branch that is hard to
 * foresee. */
FR_FOR_AVX2 static inline void avx2_put(uint32_t *out, uint32_t at, uint64_t bits)
{
    do {
        for (int i = 0; i < 8; i++) {
            *out++ = at + (uint32_t)_tzcnt_u64(bits);
            bits = _blsr_u64(bits);
        }
    } while (__builtin_expect(bits != 0, 0));
}

#define SCAN(name) avx2_##name
#define SCAN_TARGET FR_FOR_AVX2
#include "load/index_scan.h"
#undef SCAN
#undef SCAN_TARGET

FR_FOR_AVX512 static inline uint64_t avx512_find(const char *p, char byte)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(byte));
}

FR_FOR_AVX512 static inline uint64_t avx512_parity(uint64_t bits)
{
    return avx2_parity(bits);
}

static const uint8_t places[INDEX_BLOCK_BYTES] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

FR_FOR_AVX512 static inline void avx512_put(uint32_t *out, uint32_t at, uint64_t bits)
{
    __m512i found = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(places));
    const __m512i base = _mm512_set1_epi32((int)at);
    int count = __builtin_popcountll(bits);

    do {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));

        _mm512_storeu_si512(out, _mm512_add_epi32(wide, base));
        found = _mm512_alignr_epi64(_mm512_setzero_si512(), found, 2);
        out += 16;
        count -= 16;
    } while (__builtin_expect(count > 0, 0));
}

#define SCAN(name) avx512_##name
#define SCAN_TARGET FR_FOR_AVX512
#include "load/index_scan.h"
#undef SCAN
#undef SCAN_TARGET
#endif

typedef void (*scan_fn)(struct fr_index *ix, size_t to);

/* by level, without and with quotes */
static const scan_fn scans[][2] = {
    [FR_CPU_PLAIN] = {plain_plain, plain_quoted},
#if FR_CPU_HAS_AVX
    [FR_CPU_AVX2] = {avx2_plain, avx2_quoted},
    [FR_CPU_AVX512] = {avx512_plain, avx512_quoted},
#endif
};

/* ---- the index ---- */

fr_status fr_index_new(const struct fr_index_rule *rule, struct fr_index **out,
                       struct fr_err *err)
{
    enum { ENTRIES = FRONT + ROOM + INDEX_BLOCK_BYTES };
    struct fr_index *ix = calloc(1, sizeof *ix);

    *out = NULL;
    if (ix != NULL)
        ix->memory = malloc(2 * ENTRIES * sizeof *ix->memory);
    if (ix == NULL || ix->memory == NULL) {
        fr_index_free(&ix);
        return fr_err_set(err, FR_ENOMEM, "no memory for an index of rows");
    }
    ix->rule = *rule;
    ix->ends = ix->memory + FRONT;
    ix->rows = ix->memory + ENTRIES;
    ix->scan = scans[fr_cpu_level()][rule->has_quotes ? 1 : 0];
    ix->stretch_bytes = MAX_STRETCH_BYTES;
    *out = ix;
    return FR_OK;
}

void fr_index_free(struct fr_index **xp)
{
    if (xp == NULL || *xp == NULL)
        return;
    free((*xp)->memory);
    free(*xp);
    *xp = NULL;
}

static void start_at(struct fr_index *ix, const char *p, size_t n)
{
    ix->base = p;
    ix->n = n;
    ix->scanned = 0;
    ix->ends[-1] = UINT32_MAX; /* and one more is 0 */
    ix->end_count = ix->row_count = 0;
    ix->end_used = ix->row_used = 0;
    ix->carry = (struct fr_index_carry){.after_end = 1};
    /* where quotes stand in the way again and again, little is looked at in vain */
    if (ix->is_blocked)
        ix->stretch_bytes = MIN_STRETCH_BYTES;
    ix->is_blocked = false;
}

void fr_index_at(struct fr_index *ix, const char *p, size_t n, unsigned generation)
{
    if (ix->base != NULL && ix->generation == generation) {
        if (p == fr_index_row(ix))
            return;
        /* one row was taken by other means: does it end where the index has it end? */
        if (ix->row_used < ix->row_count) {
            fr_index_take(ix);
            if (p == fr_index_row(ix))
                return;
        }
    }
    if (ix->rule.nul_is_empty && (ix->base == NULL || ix->generation != generation))
        ix->has_nul = memchr(p, '\0', n) != NULL;
    ix->generation = generation;
    start_at(ix, p, n);
}

/* The row under way moves to the front. */
static void move_up(struct fr_index *ix)
{
    size_t from = (size_t)(fr_index_row(ix) - ix->base);
    size_t left = ix->end_count - ix->end_used;

    for (size_t i = 0; i < left; i++)
        ix->ends[i] = ix->ends[ix->end_used + i] - (uint32_t)from;
    ix->ends[-1] = UINT32_MAX;
    ix->base += from;
    ix->n -= from;
    ix->scanned -= from;
    ix->end_count = left;
    ix->end_used = 0;
    ix->row_count = ix->row_used = 0;
}

bool fr_index_more(struct fr_index *ix)
{
    size_t to;

    if (ix->is_blocked || ix->scanned == ix->n)
        return false;
    move_up(ix);
    if (ix->scanned >= FR_INDEX_ROW_BYTES)
        return false;
    to = ix->scanned + ix->stretch_bytes;
    ix->scan(ix, to < ix->n ? to : ix->n);
    if (ix->stretch_bytes < MAX_STRETCH_BYTES && !ix->is_blocked)
        ix->stretch_bytes *= 2;
    return true;
}
