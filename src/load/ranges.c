#include "load/ranges_priv.h"

#include "base/num.h"
#include "load/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A row that is split to find its end may take so much. */
enum { LONGEST_ROW_BYTES = 16 << 20 };

fr_status fr_split_wish_parse(const char *text, struct fr_split_wish *out,
                              struct fr_err *err)
{
    int64_t count;

    *out = (struct fr_split_wish){0};
    if (text[0] != '\0' && strspn(text, "0123456789") == strlen(text)) {
        if (fr_num_i64(text, 1, FR_RANGES_MAX_COUNT, &count) != FR_OK)
            return fr_err_set(err, FR_EARG,
                              "--split %s: expected 1 to %d ranges, or a size with K, M, "
                              "G or T behind it (256M)",
                              text, FR_RANGES_MAX_COUNT);
        out->count = (uint64_t)count;
        return FR_OK;
    }
    if (fr_num_size(text, INT64_MAX, &out->bytes) != FR_OK || out->bytes == 0)
        return fr_err_set(err, FR_EARG,
                          "--split %s: expected a number of ranges (8), or the size of "
                          "one (256M)",
                          text);
    return FR_OK;
}

fr_status fr_split_check_options(const struct fr_load_options *o, struct fr_err *err)
{
    if (o->first_row > 1 || o->last_row > 0)
        return fr_err_set(err, FR_EARG,
                          "--split cannot be had with -F or -L: the rows of a range are "
                          "not counted from the start of the file");
    return FR_OK;
}

void fr_ranges_free(struct fr_ranges *r)
{
    free(r->starts);
    *r = (struct fr_ranges){0};
}

int64_t fr_ranges_end(const struct fr_ranges *r, size_t i)
{
    return i + 1 < r->count ? r->starts[i + 1] : -1;
}

static void make_mark(const struct fr_source_identity *file, char *out)
{
    snprintf(out, FR_SOURCE_MARK_BYTES, "%" PRId64 ":%" PRId64 ":%016" PRIx64,
             file->bytes, file->mtime_ns, file->head_hash);
}

fr_status fr_ranges_check_mark(const struct fr_source_identity *file, const char *mark,
                               struct fr_err *err)
{
    char now[FR_SOURCE_MARK_BYTES];

    if (mark == NULL)
        return FR_OK;
    make_mark(file, now);
    if (strcmp(now, mark) == 0)
        return FR_OK;
    return fr_err_set(
        err, FR_EDATA,
        "the file has changed since it was cut into ranges: rows no longer "
        "begin where they did; put it back, or take out of the table what its "
        "ranges have loaded, all of them, and load it anew (a queue's tasks: "
        "cancel or purge those of this file, then add it again)");
}

/* ---- what is wanted, and what was found ---- */

static uint64_t place_of(const struct range_borders *b, uint64_t index)
{
    uint64_t n = b->wish.count;

    if (n == 0)
        return index > b->size / b->wish.bytes ? UINT64_MAX : index * b->wish.bytes;
    return index >= n ? UINT64_MAX : b->size / n * index + b->size % n * index / n;
}

uint64_t borders_wanted(const struct range_borders *b)
{
    uint64_t place = place_of(b, b->index);

    if (place < b->first)
        place = b->first;
    return place < b->size ? place : UINT64_MAX;
}

static fr_status add_start(struct range_borders *b, uint64_t place, struct fr_err *err)
{
    struct fr_ranges *r = b->out;

    if (r->count == b->capacity) {
        size_t wanted = b->capacity == 0 ? 64 : 2 * b->capacity;
        int64_t *grown = realloc(r->starts, wanted * sizeof *grown);

        if (grown == NULL)
            return fr_err_set(err, FR_ENOMEM, "no memory for the ranges of a file");
        r->starts = grown;
        b->capacity = wanted;
    }
    r->starts[r->count++] = (int64_t)place;
    return FR_OK;
}

fr_status borders_add(struct range_borders *b, uint64_t place, struct fr_err *err)
{
    while (place_of(b, b->index) <= place)
        b->index++;
    /* behind the last row nothing begins */
    if (place >= b->size)
        return FR_OK;
    return add_start(b, place, err);
}

/* ---- the window ---- */

fr_status scan_more(struct range_scan *s, uint64_t keep, struct fr_err *err)
{
    size_t n = (size_t)(s->limit - keep), got = 0, room;
    fr_status st;

    memmove(s->buffer, scan_at(s, keep), n);
    s->base = keep;
    room = s->buffer_bytes - n;
    st = fr_source_read(s->source, s->buffer + n,
                        room < s->fill_bytes ? room : s->fill_bytes, &got, err);
    s->limit += got;
    s->at_end = got == 0;
    return st;
}

static fr_status scan_seek(struct range_scan *s, uint64_t place, struct fr_err *err)
{
    s->base = s->limit = place;
    s->at_end = false;
    return fr_source_seek(s->source, place, err);
}

bool range_is_found_anywhere(const struct fr_terminator *t)
{
    bool may_have_cr = false;

    for (size_t i = 1; i < t->length; i++) {
        may_have_cr = may_have_cr || t->loose_newline[i];
        if (t->bytes[i] == t->bytes[0])
            return false;
    }
    return !(may_have_cr && t->bytes[0] == '\r');
}

/* ---- rows that end at their terminator, whatever stands in them ---- */

/* The first row begin at or behind `wanted`, terminators being read from `from` on;
 * UINT64_MAX: none. */
static fr_status find_row_begin(struct range_scan *s, uint64_t from, uint64_t wanted,
                                uint64_t *begin, struct fr_err *err)
{
    uint64_t at = from;
    fr_status st = scan_seek(s, from, err);

    *begin = UINT64_MAX;
    while (st == FR_OK) {
        const char *p = scan_at(s, at);
        size_t n = (size_t)(s->limit - at), length = 0;
        const char *hit = n == 0 ? NULL : memchr(p, s->row.bytes[0], n);
        bool partial = false;

        at = hit == NULL ? s->limit : at + (uint64_t)(hit - p);
        if (hit != NULL)
            length = fr_terminator_match(&s->row, hit, (size_t)(s->limit - at), &partial);
        if (hit == NULL || partial) {
            if (s->at_end)
                return FR_OK;
            st = scan_more(s, at, err);
            continue;
        }
        at += length > 0 ? length : 1;
        if (length > 0 && at >= wanted) {
            *begin = at;
            return FR_OK;
        }
    }
    return st;
}

static fr_status find_delimited(struct range_scan *s, struct range_borders *b,
                                struct fr_err *err)
{
    bool anywhere = range_is_found_anywhere(&s->row);
    uint64_t last = b->first, wanted;
    fr_status st = FR_OK;

    s->fill_bytes = anywhere ? RANGES_NEAR_BYTES : s->buffer_bytes;
    while (st == FR_OK && (wanted = borders_wanted(b)) != UINT64_MAX) {
        uint64_t from = last;

        /* also one that lies across the wanted place */
        if (anywhere && wanted - last > s->row_bytes)
            from = wanted - s->row_bytes;
        if (wanted > last)
            st = find_row_begin(s, from, wanted, &last, err);
        if (st != FR_OK || last == UINT64_MAX)
            break;
        st = borders_add(b, last, err);
    }
    return st;
}

/* ---- row by row, as the load will do ---- */

static fr_status grow_buffer(struct range_scan *s, struct fr_err *err)
{
    char *grown = realloc(s->buffer, 2 * s->buffer_bytes);

    if (grown == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a row of more than %zu bytes",
                          s->buffer_bytes);
    s->buffer = grown;
    s->buffer_bytes *= 2;
    return FR_OK;
}

/* only_first: up to the end of the first row that is not blank, which is b->first then.
 */
static fr_status find_by_rows(struct range_scan *s, struct range_borders *b,
                              bool only_first, struct fr_err *err)
{
    struct fr_record rec = {.fields = calloc(FR_MAX_FIELDS, sizeof *rec.fields)};
    uint64_t at = 0;
    fr_status st = FR_OK;

    if (rec.fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a row's fields");
    st = scan_seek(s, 0, err);
    while (st == FR_OK && borders_wanted(b) != UINT64_MAX) {
        enum fr_split_result got = fr_split_next(
            s->splitter, scan_at(s, at), (size_t)(s->limit - at), s->at_end, &rec);

        if (got == FR_SPLIT_END)
            break;
        if (got == FR_SPLIT_MORE && at == s->base &&
            s->limit - s->base == s->buffer_bytes) {
            if (s->buffer_bytes >= LONGEST_ROW_BYTES) {
                snprintf(b->out->why, sizeof b->out->why,
                         "the row at byte %" PRIu64 " is longer than %d bytes", at,
                         LONGEST_ROW_BYTES);
                break;
            }
            st = grow_buffer(s, err);
        }
        if (got == FR_SPLIT_MORE) {
            if (st == FR_OK)
                st = scan_more(s, at, err);
            continue;
        }
        at += rec.total_bytes;
        if (only_first && !rec.blank) {
            b->first = at;
            if (rec.bad != NULL && at >= b->size && rec.body_bytes == rec.total_bytes)
                snprintf(b->out->why, sizeof b->out->why, "field %zu of its first row %s",
                         rec.bad_field + 1, rec.bad);
            break;
        }
        if (!only_first && at >= borders_wanted(b))
            st = borders_add(b, at, err);
    }
    free(rec.fields);
    return st;
}

/* ---- the file ---- */

/* Why a file of this form cannot be cut; NULL: it can. */
static const char *why_not_format(const struct fr_load_options *o)
{
    switch ((enum fr_format)o->format) {
    case FR_FORMAT_BCP:
        return "with --format bcp a row's end is known only after every field in front "
               "of it was read";
    case FR_FORMAT_FIXED:
        if (o->row_terminator != NULL && strcmp(o->row_terminator, "none") == 0)
            return "rows without a terminator are not cut";
        break;
    case FR_FORMAT_NATIVE:
        return "with --format native a row's end is known only after every field in "
               "front of it was read";
    case FR_FORMAT_AUTO:
    case FR_FORMAT_CSV:
    case FR_FORMAT_DELIMITED:
        break;
    }
    return o->format_file == NULL ? NULL : "files with a format file are not cut";
}

/* True: it is open and can be cut. */
static bool open_plain(const char *path, const struct fr_load_options *o,
                       struct range_scan *s, char *why)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const struct fr_source_identity *file;
    struct stat info;
    struct fr_err err;

    if (!is_stdin && stat(path, &info) != 0) {
        snprintf(why, FR_RANGES_WHY_BYTES, "it cannot be looked at: %s", strerror(errno));
        return false;
    }
    /* a FIFO can be opened only once, by who loads it */
    if (is_stdin || !S_ISREG(info.st_mode)) {
        snprintf(why, FR_RANGES_WHY_BYTES, "it is a stream, and cannot be read twice");
        return false;
    }
    if (fr_layout_open_source(path, o, NULL, &s->source, &err) != FR_OK) {
        snprintf(why, FR_RANGES_WHY_BYTES, "%.200s", err.text);
        return false;
    }
    file = fr_source_identity(s->source);
    if (file->is_plain)
        return true;
    if (file->encoding.name[0] != '\0')
        snprintf(why, FR_RANGES_WHY_BYTES,
                 "it is in %s: only UTF-8, and encodings of a byte a character, are cut",
                 file->encoding.name);
    else
        snprintf(why, FR_RANGES_WHY_BYTES,
                 "it is packed: it can be read from its start alone (unpack it first)");
    return false;
}

/* In a file of another encoding, of a byte a character, terminators have other bytes. */
static fr_status encode_terminators(struct range_scan *s, struct fr_load_options *o,
                                    struct fr_err *err)
{
    const struct fr_encoding *e = &fr_source_identity(s->source)->encoding;
    char **texts[] = {&o->field_terminator, &o->row_terminator};
    struct fr_byte_table *bytes = NULL;
    fr_status st = e->by_field ? fr_byte_table_open(e->name, &bytes, err) : FR_OK;

    for (size_t i = 0; st == FR_OK && bytes != NULL && i < 2; i++) {
        if (*texts[i] == NULL)
            continue;
        s->encoded[i] = malloc(strlen(*texts[i]) + 1);
        if (s->encoded[i] == NULL)
            st = fr_err_set(err, FR_ENOMEM, "no memory to look for rows");
        else if (!fr_byte_table_encode(bytes, *texts[i], s->encoded[i]))
            st = fr_err_set(err, FR_EARG, "%s: a character of it does not exist in %s",
                            *texts[i], e->name);
        *texts[i] = s->encoded[i];
    }
    fr_byte_table_free(&bytes);
    return st;
}

static fr_status prepare(struct range_scan *s, const struct fr_load_options *given,
                         struct fr_load_options *o, struct fr_err *err)
{
    const char *field, *row;
    fr_status st;

    *o = *given;
    st = encode_terminators(s, o, err);
    if (st != FR_OK)
        return st;
    field = o->field_terminator;
    row = o->row_terminator;
    /* lines of fixed fields end as any other's */
    if (o->format == FR_FORMAT_AUTO || o->format == FR_FORMAT_FIXED)
        o->format = FR_FORMAT_DELIMITED;
    s->options = o;
    s->quote = o->format != FR_FORMAT_CSV ? -1
               : o->quote == NULL         ? '"'
                                          : (unsigned char)o->quote[0];
    s->escape = o->escape == NULL ? -1 : (unsigned char)o->escape[0];
    if (s->escape == s->quote)
        s->escape = -1;
    st = fr_splitter_new(o, 0, &s->splitter, err);
    if (st == FR_OK)
        st = fr_terminator_parse(field != NULL                ? field
                                 : o->format == FR_FORMAT_CSV ? ","
                                                              : "\\t",
                                 false, &s->field, err);
    if (st == FR_OK)
        st = fr_terminator_parse(row == NULL || strcmp(row, "auto") == 0 ? "\\n" : row,
                                 true, &s->row, err);
    s->row_bytes = s->row.length;
    for (size_t i = 1; i < s->row.length; i++)
        s->row_bytes += s->row.loose_newline[i] ? 1 : 0;
    s->fill_bytes = s->buffer_bytes;
    s->buffer = malloc(s->buffer_bytes);
    if (st == FR_OK && s->buffer == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory to look for rows");
    return st;
}

static fr_status find_borders(struct range_scan *s, struct range_borders *b,
                              struct fr_err *err)
{
    fr_status st = find_by_rows(s, b, true, err);

    if (st != FR_OK || b->out->why[0] != '\0')
        return st;
    if (s->quote < 0 && s->escape < 0)
        return find_delimited(s, b, err);
    if (ranges_csv_is_simple(s))
        return ranges_find_csv(s, b, err);
    return find_by_rows(s, b, false, err);
}

fr_status ranges_find_in_windows(const char *path, const struct fr_load_options *given,
                                 const struct fr_split_wish *wish, size_t window_bytes,
                                 struct fr_ranges *out, struct fr_err *err)
{
    struct fr_load_options o;
    struct range_scan s = {.buffer_bytes = window_bytes};
    struct range_borders b = {.out = out, .wish = *wish, .index = 1};
    const char *why = why_not_format(given);
    fr_status st;

    *out = (struct fr_ranges){0};
    st = add_start(&b, 0, err);
    if (st != FR_OK || wish->count == 1)
        return st;
    if (why != NULL)
        snprintf(out->why, sizeof out->why, "%s", why);
    if (why != NULL || !open_plain(path, given, &s, out->why))
        goto out;
    b.size = (uint64_t)fr_source_identity(s.source)->bytes -
             fr_source_identity(s.source)->encoding.mark_bytes;
    if (wish->bytes > 0 && b.size / wish->bytes >= FR_RANGES_MAX) {
        st = fr_err_set(err, FR_EARG,
                        "%s: --split would cut it into %" PRIu64
                        " ranges, %d are allowed: give a larger size",
                        path, b.size / wish->bytes + 1, FR_RANGES_MAX);
        goto out;
    }
    st = prepare(&s, given, &o, err);
    if (st == FR_OK && borders_wanted(&b) != UINT64_MAX)
        st = find_borders(&s, &b, err);
    if (st == FR_EIO || st == FR_EDATA) {
        /* whoever loads it will see for himself */
        snprintf(out->why, sizeof out->why, "%.200s", err->text);
        fr_err_clear(err);
        st = FR_OK;
    }
    if (st != FR_OK)
        (void)fr_err_wrap(err, "%s: looking for the borders of its ranges", path);
    if (out->why[0] != '\0')
        out->count = 1;
    if (out->count > 1)
        make_mark(fr_source_identity(s.source), out->mark);
out:
    free(s.buffer);
    free(s.encoded[0]);
    free(s.encoded[1]);
    fr_splitter_free(&s.splitter);
    fr_source_close(&s.source);
    return st;
}

fr_status fr_ranges_find(const char *path, const struct fr_load_options *o,
                         const struct fr_split_wish *wish, struct fr_ranges *out,
                         struct fr_err *err)
{
    return ranges_find_in_windows(path, o, wish, RANGES_WINDOW_BYTES, out, err);
}
