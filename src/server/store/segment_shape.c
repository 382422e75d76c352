#include "server/store/segment_shape.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPE_MAX_BYTES = 256 * 1024 };

static const char packed_mark[] = "packed;";

void segment_shape_free(struct segment_shape *s)
{
    free(s->ids);
    free(s->types);
    memset(s, 0, sizeof(*s));
}

char *segment_shape_text(const struct cat_table *t, bool packed)
{
    struct fr_buf out;
    char *text;

    fr_buf_init(&out, SHAPE_MAX_BYTES);
    if (packed)
        fr_buf_add_str(&out, packed_mark);
    for (size_t i = 0; i < t->ncolumns; i++) {
        const struct sqltype *type = &t->columns[i].type;

        fr_buf_printf(&out, "%d %s %d %d %d;", (int)t->columns[i].id,
                      type_info(type->id)->name, type->precision, type->scale,
                      (int)type->max_bytes);
    }
    text = strdup(fr_buf_text(&out));
    fr_buf_free(&out);
    return text;
}

static bool take_number(const char **p, int32_t *out)
{
    char *end;

    *out = (int32_t)strtol(*p, &end, 10);
    if (end == *p || (*end != ' ' && *end != ';'))
        return false;
    *p = end + 1;
    return true;
}

static bool take_type(const char **p, struct sqltype *out)
{
    size_t n = strcspn(*p, " ");

    for (int i = TY_BIT; i < TY_COUNT; i++) {
        const char *name = type_info((enum type_id)i)->name;

        if (strlen(name) == n && memcmp(name, *p, n) == 0 && (*p)[n] == ' ') {
            *out = type_of((enum type_id)i);
            *p += n + 1;
            return true;
        }
    }
    return false;
}

bool segment_shape_parse(const char *text, struct segment_shape *out)
{
    size_t most = 0;

    memset(out, 0, sizeof(*out));
    out->packed = strncmp(text, packed_mark, strlen(packed_mark)) == 0;
    text += out->packed ? strlen(packed_mark) : 0;
    for (const char *p = text; *p != '\0'; p++)
        most += *p == ';' ? 1 : 0;
    out->ids = calloc(most + 1, sizeof(*out->ids));
    out->types = calloc(most + 1, sizeof(*out->types));
    while (out->ids != NULL && out->types != NULL && *text != '\0' && out->n < most) {
        struct sqltype *type = &out->types[out->n];
        int32_t precision, scale;

        if (!take_number(&text, &out->ids[out->n]) || !take_type(&text, type) ||
            !take_number(&text, &precision) || !take_number(&text, &scale) ||
            !take_number(&text, &type->max_bytes))
            break;
        type->precision = (uint8_t)precision;
        type->scale = (uint8_t)scale;
        out->n++;
    }
    if (out->types != NULL && *text == '\0' && out->n == most)
        return true;
    segment_shape_free(out);
    return false;
}

bool segment_shape_fits(const struct segment_shape *s, const struct cat_table *t)
{
    if (s->n != t->ncolumns)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const struct sqltype *a = &s->types[i], *b = &t->columns[i].type;

        if (s->ids[i] != t->columns[i].id || a->id != b->id || a->scale != b->scale ||
            a->precision != b->precision || a->max_bytes != b->max_bytes)
            return false;
    }
    return true;
}
