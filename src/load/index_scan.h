/*
 * index_scan.h - the scan of index.c for one level of the processor.
 *
 * Included once per level with
 *   SCAN(name)           the name of a function of that level
 *   SCAN_TARGET          its attributes
 *   scan_find(p, byte)   bit i: that byte stands at p[i], i < 64
 *   scan_put(out, at, b) write at + the place of each bit of b in turn; up to 64 entries
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
    size_t at = ix->scanned;

    for (; at < to && !ix->is_blocked; at += INDEX_BLOCK_BYTES) {
        const char *p = ix->base + at;
        uint64_t seen = block_mask(to - at);
        struct quoted_block b = {.ends = SCAN(find)(p, rule.field),
                                 .rows = SCAN(find)(p, rule.row),
                                 .quotes = SCAN(find)(p, rule.quote) & seen};

        if (rule.loose_newline)
            b.crs = SCAN(find)(p, '\r');
        b.rows &= seen;
        b.ends = (b.ends & seen) | b.rows;
        look_at_quotes(ix, &b, seen);
        if (b.bad != 0) {
            ix->is_blocked = true;
            seen = (b.bad & (0 - b.bad)) - 1;
            b.ends &= seen;
            b.rows &= seen;
        }
        if (b.doubled != 0)
            note_doubled(ix, &b);
        ix->row_count = put_rows(ix->rows, ix->row_count, ix->end_count, b.ends, b.rows);
        SCAN(put)(ix->ends + ix->end_count, (uint32_t)at, b.ends);
        ix->end_count += (size_t)__builtin_popcountll(b.ends);
    }
    ix->scanned = at < to ? at : to;
}
