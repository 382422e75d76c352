#include "load/long_text.h"

#include "load/split_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* No byte of UTF-8 becomes more than two of a column. */
enum { PIECE_BYTES = FR_LONG_PIECE_BYTES / 2, SLACK_BYTES = FR_BULK_SLACK_BYTES };

struct fr_long_text {
    struct fr_long_value value; /* first */
    const struct fr_splitter *splitter;
    const struct fr_converter *converter;
    struct fr_field whole;
    size_t at;            /* in whole */
    char *plain;          /* a piece without its doubled quotes */
    unsigned char *waste; /* where measuring writes */
};

/* A character, a doubled quote, or an escape and what is behind it begins here and not
 * earlier. */
static bool may_cut(const struct fr_long_text *t, const char *p)
{
    const struct fr_splitter *s = t->splitter;

    if ((p[0] & 0xC0) == 0x80)
        return false;
    return !t->whole.has_quotes ||
           (p[-1] != s->quote && (!s->has_escape || p[-1] != s->escape));
}

/* Bytes of the next piece; 0: it cannot be cut. */
static size_t cut(const struct fr_long_text *t)
{
    size_t n = t->whole.n - t->at;

    if (n <= PIECE_BYTES)
        return n;
    for (n = PIECE_BYTES; n > 0 && !may_cut(t, t->whole.p + t->at + n); n--)
        ;
    return n;
}

/* Convert the next piece to out. */
static bool convert(struct fr_long_text *t, unsigned char *out, size_t *bytes)
{
    struct fr_field piece = t->whole;
    int32_t length = 0;
    struct fr_cell cell = {
        .length = &length, .data = out, .capacity_bytes = FR_LONG_PIECE_BYTES};
    struct fr_reason reason;

    piece.p += t->at;
    piece.n = cut(t);
    if (piece.n == 0)
        return false;
    t->at += piece.n;
    if (piece.has_quotes) {
        if (!fr_field_unquote(t->splitter, &piece, t->plain, &piece.n))
            return false;
        piece.p = t->plain;
    }
    if (t->converter->convert(t->converter, piece.p, piece.n, &cell, &reason) !=
        FR_CONVERTED)
        return false;
    *bytes = (size_t)length;
    return true;
}

static size_t next_piece(struct fr_long_value *v, unsigned char *out)
{
    struct fr_long_text *t = (struct fr_long_text *)v;
    size_t bytes = 0;
    bool done = convert(t, out, &bytes);

    assert(done); /* it was, when it was measured */
    (void)done;
    return bytes;
}

struct fr_long_text *fr_long_text_new(const struct fr_splitter *s)
{
    struct fr_long_text *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->value.next = next_piece;
    t->splitter = s;
    t->plain = malloc(PIECE_BYTES + SLACK_BYTES);
    t->waste = malloc(FR_LONG_PIECE_BYTES + SLACK_BYTES);
    if (t->plain == NULL || t->waste == NULL)
        fr_long_text_free(&t);
    return t;
}

void fr_long_text_free(struct fr_long_text **tp)
{
    if (tp == NULL || *tp == NULL)
        return;
    free((*tp)->plain);
    free((*tp)->waste);
    free(*tp);
    *tp = NULL;
}

bool fr_long_text_fits(const struct fr_converter *c)
{
    const struct fr_column *col = c->column;
    bool has_end = col->type == FR_TYPE_VARCHAR || col->type == FR_TYPE_NVARCHAR;

    return (c->convert == fr_convert_char || c->convert == fr_convert_nchar) &&
           c->trailing_blanks == FR_BLANKS_KEEP &&
           (has_end ? col->max_bytes < 0
                    : col->type == FR_TYPE_TEXT || col->type == FR_TYPE_NTEXT ||
                          col->type == FR_TYPE_XML);
}

bool fr_long_text_measure(struct fr_long_text *t, const struct fr_converter *c,
                          const struct fr_field *f, size_t *bytes)
{
    *bytes = 0;
    t->converter = c;
    t->whole = *f;
    t->at = 0;
    while (t->at < t->whole.n) {
        size_t more;

        if (!convert(t, t->waste, &more))
            return false;
        *bytes += more;
    }
    t->at = 0;
    return *bytes <= INT32_MAX;
}

struct fr_long_value *fr_long_text_value(struct fr_long_text *t)
{
    return &t->value;
}
