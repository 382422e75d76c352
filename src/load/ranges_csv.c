/*
 * Borders where quotes or escapes decide whether a row ends: the file is read from its
 * start, and of all its bytes only those marks are looked at, 64 bytes at a time.
 *
 * A quote opens where a field begins, that is behind a terminator, and nowhere else; the
 * next one closes, or, with another behind it, stands for itself.  An escape takes the
 * meaning off the byte behind it.  Row ends are looked for in the text between, and only
 * where a border is wanted.  This is what fr_split_next() does, as long as no terminator
 * can be mistaken for another: ranges_csv_is_simple().
 */
#include "load/ranges_priv.h"

#include "load/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum csv_place {
    OUTSIDE,
    INSIDE,
    BEHIND_QUOTE /* of a quoted field: closed, or the first half of a doubled quote */
};

struct csv_scan {
    struct range_scan *s;
    struct range_borders *b;
    enum csv_place state;
    uint64_t opened;  /* place of the quote that opened the field */
    uint64_t closed;  /* of the last quote in it */
    uint64_t outside; /* where the text outside quotes began, or behind an escaped byte */
    uint64_t skipped; /* place of the last byte behind an escape */
    uint64_t searched; /* no row ends before that is not known */
    uint64_t wanted;
};

static bool has_byte(const struct fr_terminator *t, int byte)
{
    for (size_t i = 0; i < t->length; i++)
        if (t->bytes[i] == byte || (t->loose_newline[i] && byte == '\r'))
            return true;
    return false;
}

bool ranges_csv_is_simple(const struct range_scan *s)
{
    for (size_t i = 0; i < s->field.length; i++)
        if (has_byte(&s->row, s->field.bytes[i]))
            return false;
    return !has_byte(&s->row, s->quote) && !has_byte(&s->field, s->quote) &&
           !has_byte(&s->row, s->escape) && !has_byte(&s->field, s->escape) &&
           range_is_found_anywhere(&s->row) && range_is_found_anywhere(&s->field);
}

/* Does the terminator end right in front of `place`, and begin at or behind `from`? */
static bool ends_at(const struct range_scan *s, const struct fr_terminator *t,
                    uint64_t from, uint64_t place)
{
    for (size_t i = t->length; i > 0; i--) {
        if (place == from || (unsigned char)*scan_at(s, place - 1) != t->bytes[i - 1])
            return false;
        place--;
        if (i > 1 && t->loose_newline[i - 1] && place > from &&
            *scan_at(s, place - 1) == '\r')
            place--;
    }
    return true;
}

/* The LF of a CRLF behind an escape ends no row. */
static bool is_escaped_newline(const struct csv_scan *c, uint64_t place)
{
    const struct range_scan *s = c->s;

    return s->escape >= 0 && s->row.loose_newline[0] && c->skipped != UINT64_MAX &&
           place == c->skipped + 1 && c->skipped >= s->base &&
           *scan_at(s, c->skipped) == '\r' && *scan_at(s, place) == '\n';
}

/* Does a quote here, outside quotes, begin a quoted field? */
static bool opens(const struct csv_scan *c, uint64_t place)
{
    const struct range_scan *s = c->s;
    uint64_t from = c->outside > s->base ? c->outside : s->base;

    return place == 0 || ends_at(s, &s->field, from, place) ||
           (ends_at(s, &s->row, from, place) && !is_escaped_newline(c, place - 1));
}

/* Borders in the text outside quotes up to `end`. */
static fr_status take_borders(struct csv_scan *c, uint64_t end, struct fr_err *err)
{
    const struct range_scan *s = c->s;
    uint64_t at = c->outside > c->searched ? c->outside : c->searched;
    fr_status st = FR_OK;

    while (st == FR_OK && c->wanted <= end) {
        const char *hit;
        size_t length;
        bool partial;

        if (c->wanted > s->row_bytes && at < c->wanted - s->row_bytes)
            at = c->wanted - s->row_bytes;
        hit =
            at < end ? memchr(scan_at(s, at), s->row.bytes[0], (size_t)(end - at)) : NULL;
        if (hit == NULL) {
            at = end;
            break;
        }
        at += (uint64_t)(hit - scan_at(s, at));
        if (is_escaped_newline(c, at)) {
            at++;
            continue;
        }
        length = fr_terminator_match(&s->row, hit, (size_t)(end - at), &partial);
        if (partial)
            break; /* the window ends, or a quote stands in its place */
        at += length > 0 ? length : 1;
        if (length > 0 && at >= c->wanted) {
            st = borders_add(c->b, at, err);
            c->wanted = borders_wanted(c->b);
        }
    }
    c->searched = at;
    return st;
}

static bool is_too_long(struct csv_scan *c, uint64_t end)
{
    struct fr_ranges *out = c->b->out;

    if (end - c->opened <= c->s->options->max_field_bytes)
        return false;
    snprintf(out->why, sizeof out->why,
             "the quoted field at byte %" PRIu64 " is longer than %" PRIu64
             " bytes (--max-field-bytes): is a quote missing?",
             c->opened, c->s->options->max_field_bytes);
    return true;
}

static void leave_quotes(struct csv_scan *c)
{
    c->state = OUTSIDE;
    c->outside = c->closed + 1;
}

static fr_status take_quote(struct csv_scan *c, uint64_t place, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (c->state == INSIDE) {
        c->state = BEHIND_QUOTE;
        c->closed = place;
        return FR_OK;
    }
    if (c->state == BEHIND_QUOTE) {
        if (place == c->closed + 1) {
            c->state = INSIDE;
            return FR_OK;
        }
        leave_quotes(c);
    }
    if (!opens(c, place))
        return FR_OK;
    if (c->wanted <= place)
        st = take_borders(c, place, err);
    c->state = INSIDE;
    c->opened = place;
    return st;
}

static fr_status take_escape(struct csv_scan *c, uint64_t place, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (c->state == BEHIND_QUOTE)
        leave_quotes(c);
    if (c->state == OUTSIDE && c->wanted <= place)
        st = take_borders(c, place, err);
    if (c->state == OUTSIDE)
        c->outside = place + 2;
    c->skipped = place + 1;
    return st;
}

static fr_status take_mark(struct csv_scan *c, uint64_t place, struct fr_err *err)
{
    if (c->s->escape < 0)
        return take_quote(c, place, err);
    if (place == c->skipped)
        return FR_OK;
    if ((unsigned char)*scan_at(c->s, place) == c->s->escape)
        return take_escape(c, place, err);
    return take_quote(c, place, err);
}

/* Bit i: an odd number of the bits 0 to i is set. */
static uint64_t parities(uint64_t bits)
{
    for (int shift = 1; shift < FR_BLOCK_BYTES; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

static uint64_t last_of(uint64_t at, uint64_t bits)
{
    return at + (uint64_t)(FR_BLOCK_BYTES - 1 - __builtin_clzll(bits));
}

/*
 * A block of a file where each quote turns inside to outside and back: true when each one
 * that would open stands behind a terminator, or right behind one that would close, with
 * which it is a doubled quote.  False: nothing is changed, look at the quotes one by one.
 */
static bool take_regular_block(struct csv_scan *c, uint64_t at, uint64_t quotes)
{
    const struct range_scan *s = c->s;
    const char field = (char)s->field.bytes[0], row = (char)s->row.bytes[0];
    bool inside = c->state == INSIDE;
    uint64_t in = parities(quotes) ^ (inside ? ~UINT64_C(0) : 0);
    uint64_t opening = quotes & in, closing = quotes & ~in;
    uint64_t ends = fr_block_find(scan_at(s, at), field, row) << 1;
    char before = at == 0 ? row : at > s->base ? *scan_at(s, at - 1) : (char)s->quote;
    bool was_closed = c->state == BEHIND_QUOTE && c->closed + 1 == at;
    uint64_t doubled = closing << 1 | (was_closed ? 1 : 0);

    ends |= before == field || before == row ? 1 : 0;
    if ((opening & ~(ends | doubled)) != 0)
        return false;
    if (closing != 0) {
        c->closed = last_of(at, closing);
        c->outside = c->closed + 1;
    } else if (c->state == BEHIND_QUOTE) {
        c->outside = c->closed + 1;
    }
    if ((opening & ends) != 0)
        c->opened = last_of(at, opening & ends);
    c->state = in >> (FR_BLOCK_BYTES - 1) != 0        ? INSIDE
               : closing >> (FR_BLOCK_BYTES - 1) != 0 ? BEHIND_QUOTE
                                                      : OUTSIDE;
    return true;
}

static fr_status take_marks(struct csv_scan *c, uint64_t from, struct fr_err *err)
{
    const struct range_scan *s = c->s;
    const char a = (char)(s->quote >= 0 ? s->quote : s->escape);
    const char b = (char)(s->escape >= 0 ? s->escape : s->quote);
    bool regular = s->escape < 0 && s->field.length == 1 && s->row.length == 1;
    fr_status st = FR_OK;

    for (uint64_t at = from; st == FR_OK && at < s->limit; at += FR_BLOCK_BYTES) {
        char rest[FR_BLOCK_BYTES];
        size_t n = (size_t)(s->limit - at);
        uint64_t found;

        if (n >= FR_BLOCK_BYTES) {
            found = fr_block_find(scan_at(s, at), a, b);
            if (found == 0 || (regular && c->wanted > at + FR_BLOCK_BYTES &&
                               take_regular_block(c, at, found)))
                continue;
        } else {
            memcpy(rest, scan_at(s, at), n);
            memset(rest + n, 0, sizeof rest - n);
            found = fr_block_find(rest, a, b) & ((UINT64_C(1) << n) - 1);
        }
        for (; st == FR_OK && found != 0; found &= found - 1)
            st = take_mark(c, at + (uint64_t)__builtin_ctzll(found), err);
    }
    return st;
}

fr_status ranges_find_csv(struct range_scan *s, struct range_borders *b,
                          struct fr_err *err)
{
    struct csv_scan c = {
        .s = s, .b = b, .wanted = borders_wanted(b), .skipped = UINT64_MAX};
    fr_status st;

    s->fill_bytes = s->buffer_bytes;
    s->base = s->limit = 0;
    s->at_end = false;
    st = fr_source_seek(s->source, 0, err);
    while (st == FR_OK && c.wanted != UINT64_MAX) {
        uint64_t from = s->limit;

        st = scan_more(s,
                       from - s->base < RANGES_BEHIND_BYTES ? s->base
                                                            : from - RANGES_BEHIND_BYTES,
                       err);
        if (st == FR_OK)
            st = take_marks(&c, from, err);
        if (c.state == BEHIND_QUOTE && c.closed + 1 < s->limit)
            leave_quotes(&c);
        if (st == FR_OK && c.state == OUTSIDE && c.wanted <= s->limit)
            st = take_borders(&c, s->limit, err);
        if (c.state == INSIDE && is_too_long(&c, s->limit))
            break;
        if (st == FR_OK && s->at_end) {
            if (c.state == INSIDE)
                snprintf(b->out->why, sizeof b->out->why,
                         "the quoted field at byte %" PRIu64 " has no closing quote",
                         c.opened);
            break;
        }
    }
    return st;
}
