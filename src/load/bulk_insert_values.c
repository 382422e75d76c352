#include "load/bulk_insert_values.h"

#include "base/utf8.h"
#include "load/bulk_insert.h"
#include "load/convert.h"

#include <stdlib.h>
#include <string.h>

enum { UTF8_PAGE = 65001, LEAST_SCRATCH_BYTES = 4096 };

struct fr_bulk_values {
    const struct fr_load_options *o;
    const struct fr_table *t;
    struct fr_code_page **pages; /* of each column; NULL: any character will do */
    bool is_unicode;             /* the window has UTF-8 */
    unsigned char *scratch;      /* what no one wants */
    size_t scratch_bytes;
};

static bool is_narrow(const struct fr_column *c)
{
    return c->type == FR_TYPE_CHAR || c->type == FR_TYPE_VARCHAR ||
           c->type == FR_TYPE_TEXT;
}

static bool is_text(const struct fr_column *c)
{
    return is_narrow(c) || c->type == FR_TYPE_NCHAR || c->type == FR_TYPE_NVARCHAR ||
           c->type == FR_TYPE_NTEXT || c->type == FR_TYPE_XML;
}

fr_status fr_bulk_values_new(const struct fr_load_options *o, const struct fr_table *t,
                             struct fr_bulk_values **out, struct fr_err *err)
{
    struct fr_bulk_values *v = calloc(1, sizeof *v);
    int page = fr_bulk_insert_code_page(o);
    fr_status st = FR_OK;

    *out = v;
    if (v == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a look at values");
    v->o = o;
    v->t = t;
    v->is_unicode = page == 0 || page == UTF8_PAGE;
    v->scratch_bytes = LEAST_SCRATCH_BYTES;
    v->scratch = malloc(v->scratch_bytes + FR_BULK_SLACK_BYTES);
    v->pages = calloc(t->column_count + 1, sizeof(struct fr_code_page *));
    if (v->scratch == NULL || v->pages == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a look at values");
    for (size_t i = 0; st == FR_OK && v->is_unicode && i < t->column_count; i++) {
        const struct fr_column *c = &t->columns[i];

        if (is_narrow(c) && c->code_page > 0 && c->code_page != UTF8_PAGE)
            st = fr_code_page_open(c->code_page, &v->pages[i], err);
    }
    if (st != FR_OK)
        fr_bulk_values_free(out);
    return st;
}

void fr_bulk_values_free(struct fr_bulk_values **vp)
{
    struct fr_bulk_values *v = *vp;

    *vp = NULL;
    if (v == NULL)
        return;
    for (size_t i = 0; v->pages != NULL && i < v->t->column_count; i++)
        fr_code_page_close(&v->pages[i]);
    free(v->pages);
    free(v->scratch);
    free(v);
}

static size_t ascii_bytes(const unsigned char *p, size_t n)
{
    size_t i = 0;
    uint64_t eight;

    for (; i + sizeof eight <= n; i += sizeof eight) {
        memcpy(&eight, p + i, sizeof eight);
        if ((eight & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

static bool is_utf8(const unsigned char *p, size_t n)
{
    uint32_t ch;

    for (size_t i = 0, bytes; i < n; i += bytes)
        if ((bytes = fr_utf8_take(p + i, n - i, &ch)) == 0)
            return false;
    return true;
}

/* Each of its characters is one of the column's, as a load sees it. */
static bool has_room_for(struct fr_bulk_values *v, const struct fr_code_page *page,
                         const unsigned char *p, size_t n)
{
    struct fr_reason reason;
    int32_t length;
    struct fr_cell cell = {.length = &length};
    unsigned char *more;

    if (n > v->scratch_bytes) {
        more = realloc(v->scratch, 2 * n + FR_BULK_SLACK_BYTES);
        /* the server will say what it thinks of it */
        if (more == NULL)
            return true;
        v->scratch = more;
        v->scratch_bytes = 2 * n;
    }
    cell.data = v->scratch;
    cell.capacity_bytes = v->scratch_bytes;
    return fr_code_page_encode(page, p, n, &cell, &reason) == FR_CONVERTED;
}

static const char *find_odd(struct fr_bulk_values *v, size_t i, const struct fr_field *f)
{
    const struct fr_column *c = &v->t->columns[i];
    const unsigned char *p = (const unsigned char *)f->p;
    size_t ascii;

    if (c->computed || (c->identity && !v->o->keep_identity))
        return NULL;
    if (f->n == 0)
        return f->quoted && !is_text(c)
                   ? "two quotes with nothing between them, to the server no NULL"
                   : NULL;
    if (!is_text(c))
        return NULL;
    if (f->n == 1 && *p == '\0' && !f->is_nul)
        return "a NUL character alone, to the server the empty text";
    if (!v->is_unicode || (ascii = ascii_bytes(p, f->n)) == f->n)
        return NULL;
    if (!is_utf8(p + ascii, f->n - ascii))
        return "bytes that are no UTF-8, in whose place the server puts others";
    return v->pages[i] != NULL && !has_room_for(v, v->pages[i], p, f->n)
               ? "a character that the column's code page does not have, in whose place "
                 "the server puts another"
               : NULL;
}

const char *fr_bulk_values_find_odd(struct fr_bulk_values *v, const struct fr_record *rec,
                                    const struct fr_column **column)
{
    for (size_t i = 0; i < v->t->column_count; i++) {
        const char *odd = find_odd(v, i, &rec->fields[i]);

        *column = &v->t->columns[i];
        if (odd != NULL)
            return odd;
    }
    return NULL;
}
