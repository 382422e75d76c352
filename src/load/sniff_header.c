/* Is the first row a header, and does a number of fields fit: by table or --columns. */
#include "load/sniff_priv.h"

#include "base/letter.h"
#include "base/utf8.h"
#include "load/convert.h"
#include "load/layout.h"

#include <ctype.h>
#include <string.h>

enum { MAX_NAME_BYTES = 128, MAX_QUOTED_NAME_BYTES = 1024 };

struct name {
    const char *p;
    size_t n;
    char unquoted[MAX_QUOTED_NAME_BYTES];
};

bool fr_sniff_looks_like_name(const char *p, size_t n)
{
    bool letter = false;

    fr_trim_blanks(&p, &n);
    if (n == 0 || n > MAX_NAME_BYTES)
        return false;
    for (size_t i = 0; i < n; i += 0) {
        uint32_t ch = 0;
        size_t len = fr_utf8_take((const unsigned char *)p + i, n - i, &ch);

        if (len == 0 || ch < 0x20 || ch == 0x7F)
            return false;
        letter = letter || ch >= 0x80 || isalpha((int)ch) || ch == '_';
        i += len;
    }
    /* 12e5 and 0xFF are values, as 12:00 PM and 2024-01-01T00:00Z are */
    return letter && !isdigit((unsigned char)p[0]) && p[0] != '+' && p[0] != '-' &&
           p[0] != '.';
}

/* A field as a name; false: it cannot be one. */
static bool take_name(const struct fr_splitter *split, const struct fr_field *f,
                      struct name *out)
{
    out->p = f->p;
    out->n = f->n;
    if (f->has_quotes) {
        out->p = out->unquoted;
        if (f->n > sizeof out->unquoted ||
            !fr_field_unquote(split, f, out->unquoted, &out->n))
            return false;
    }
    fr_trim_blanks(&out->p, &out->n);
    return true;
}

/* The next name of --columns; false: there is none. */
static bool next_column(const char **text, bool *dropped)
{
    const char *p = *text, *begin;

    if (p == NULL)
        return false;
    p += strspn(p, " \t");
    begin = p;
    if (*p == '[')
        for (p++; *p != '\0' && (*p != ']' || p[1] == ']'); p++)
            p += *p == ']' ? 1 : 0;
    p += strcspn(p, ",");
    *dropped = *begin == '-' && begin + 1 + strspn(begin + 1, " \t") == p;
    *text = *p == ',' ? p + 1 : NULL;
    return true;
}

static bool is_text(enum fr_type type)
{
    return type >= FR_TYPE_CHAR && type <= FR_TYPE_NTEXT;
}

/* Names that were there before: the same column, or where no table is known the same
 * letters. */
static bool is_repeated(const struct sniffer *s, const struct fr_splitter *split,
                        const struct fr_record *rec, size_t i)
{
    struct name name, other;

    if (!take_name(split, &rec->fields[i], &name))
        return false;
    for (size_t j = 0; j < i; j++) {
        if (!take_name(split, &rec->fields[j], &other) ||
            !fr_letter_same_text(name.p, name.n, other.p, other.n))
            continue;
        if (s->table == NULL || fr_table_find_column(s->table, name.p, name.n) ==
                                    fr_table_find_column(s->table, other.p, other.n))
            return true;
    }
    return false;
}

/*
 * One field is less than proof where its column takes any text: a list of words may begin
 * with the word that its column is called.  What --columns drops may be called anything.
 */
bool sniff_is_header(const struct sniffer *s, const struct fr_splitter *split,
                     const struct fr_record *rec)
{
    const char *columns = s->o->columns;
    size_t names = 0;

    if (rec->bad != NULL || rec->count > FR_MAX_FIELDS)
        return false;
    for (size_t i = 0; i < rec->count; i++) {
        bool dropped = false;
        struct name name;
        size_t column;

        (void)next_column(&columns, &dropped);
        if (!take_name(split, &rec->fields[i], &name))
            return false;
        if (name.n == 0 && s->table != NULL)
            continue;
        if (dropped || s->table == NULL) {
            if (!fr_sniff_looks_like_name(name.p, name.n) ||
                (!dropped && is_repeated(s, split, rec, i)))
                return false;
            names += dropped ? 0 : 1;
            continue;
        }
        column = fr_table_find_column(s->table, name.p, name.n);
        if (column == s->table->column_count || is_repeated(s, split, rec, i) ||
            (rec->count == 1 && is_text(s->table->columns[column].type)))
            return false;
        names++;
    }
    return names > 0;
}

static size_t insertable_columns(const struct sniffer *s)
{
    size_t load_id = fr_layout_load_id_column(s->o, s->table), n = 0;

    for (size_t i = 0; i < s->table->column_count; i++) {
        const struct fr_column *c = &s->table->columns[i];

        n +=
            !c->computed && (!c->identity || s->o->keep_identity) && i != load_id ? 1 : 0;
    }
    return n;
}

bool sniff_takes(const struct sniffer *s, size_t n)
{
    const char *columns = s->o->columns;
    size_t named = 0, all;
    bool dropped;

    if (columns != NULL) {
        while (next_column(&columns, &dropped))
            named++;
        return n == named;
    }
    if (s->table == NULL)
        return false;
    all = s->table->column_count;
    all -= fr_layout_load_id_column(s->o, s->table) < all ? 1 : 0;
    return n == all || n == insertable_columns(s);
}

bool sniff_loads_all(const struct sniffer *s, size_t n)
{
    return s->o->columns == NULL && s->table != NULL && n == insertable_columns(s);
}
