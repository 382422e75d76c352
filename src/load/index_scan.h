/*
 * index_scan.h - the scan of index.c for one level of the processor.
 *
 * Included once per level with
 *   SCAN(name)           the name of a function of that level
 *   SCAN_TARGET          its attributes
 *   and, by SCAN(), functions
 *   find(p, byte)        bit i: that byte stands at p[i], i < 64
 *   parity(bits)         bit i: an odd number of bits stands at and below i
 *   put(out, at, bits)   write at + the place of each bit in turn; up to 64 entries
 *                        behind those may be written, too
 */

SCAN_TARGET static void SCAN(plain)(struct fr_index *ix, size_t to)
{
    const char field = ix->rule.field, row = ix->rule.row;
    uint32_t *ends = ix->ends, *rows = ix->rows;
    size_t count = ix->end_count, row_count = ix->row_count;

    for (size_t at = ix->scanned; at < to; at += INDEX_BLOCK_BYTES) {
        uint64_t seen = block_mask(to - at);
        uint64_t row_ends = SCAN(find)(ix->base + at, row) & seen;
        uint64_t all = (SCAN(find)(ix->base + at, field) & seen) | row_ends;

        row_count = put_rows(rows, row_count, count, all, row_ends);
        SCAN(put)(ends + count, (uint32_t)at, all);
        count += (size_t)__builtin_popcountll(all);
    }
    ix->end_count = count;
    ix->row_count = row_count;
    ix->scanned = to;
}

SCAN_TARGET static void SCAN(quoted)(struct fr_index *ix, size_t to)
{
    const struct fr_index_rule rule = ix->rule;
    struct fr_index_carry carry = ix->carry;
    uint32_t *ends = ix->ends, *rows = ix->rows;
    size_t count = ix->end_count, row_count = ix->row_count, at = ix->scanned;
    bool is_blocked = false;

    for (; at < to && !is_blocked; at += INDEX_BLOCK_BYTES) {
        const char *p = ix->base + at;
        uint64_t seen = block_mask(to - at);
        struct quoted_block b = {.ends = SCAN(find)(p, rule.field) & seen,
                                 .rows = SCAN(find)(p, rule.row) & seen,
                                 .quotes = SCAN(find)(p, rule.quote) & seen,
                                 .crs = SCAN(find)(p, '\r')};

        if (!rule.loose_newline)
            b.crs = 0;
        b.ends |= b.rows;
        look_at_quotes(&carry, &b, SCAN(parity)(b.quotes), seen);
        if (__builtin_expect(b.bad != 0, 0)) {
            is_blocked = true;
            seen = (b.bad & (0 - b.bad)) - 1;
            b.ends &= seen;
            b.rows &= seen;
        }
        row_count = put_rows(rows, row_count, count, b.ends, b.rows);
        SCAN(put)(ends + count, (uint32_t)at, b.ends);
        count += (size_t)__builtin_popcountll(b.ends);
    }
    ix->carry = carry;
    ix->is_blocked = is_blocked;
    ix->end_count = count;
    ix->row_count = row_count;
    ix->scanned = at < to ? at : to;
}
