#include "disk/members.h"

#include "base/num.h"
#include "config/nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct fr_member *find(const struct fr_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->items[i].name, name) == 0)
            return &members->items[i];
    return NULL;
}

static void blame_unknown(struct fr_document *d, const struct fr_json_path *at,
                          const struct fr_members *members)
{
    struct fr_nearest nearest;

    fr_nearest_begin(&nearest, at->key, strlen(at->key));
    for (size_t i = 0; i < members->count; i++)
        fr_nearest_offer(&nearest, members->items[i].name);
    if (nearest.best != NULL)
        fr_document_blame_key(d, at, "%s has no \"%s\"; did you mean \"%s\"?",
                              members->what, at->key, nearest.best);
    else
        fr_document_blame_key(d, at, "%s has no \"%s\"", members->what, at->key);
}

void fr_members_take(struct fr_document *d, json_t *object, const struct fr_json_path *at,
                     const struct fr_members *members, void *into)
{
    const char *key;
    json_t *v;

    if (!json_is_object(object)) {
        fr_document_blame(d, at, "%s is an object, not %s", members->what,
                          fr_json_kind(object));
        return;
    }
    json_object_foreach(object, key, v)
    {
        struct fr_json_path inner = {.parent = at, .key = key};
        const struct fr_member *m = find(members, key);

        if (m != NULL)
            m->take(d, v, &inner, into);
        else
            blame_unknown(d, &inner, members);
    }
    for (size_t i = 0; i < members->count; i++)
        if (members->items[i].required &&
            json_object_get(object, members->items[i].name) == NULL)
            fr_document_blame(d, at, "%s needs \"%s\"", members->what,
                              members->items[i].name);
}

bool fr_member_whole(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                     const struct fr_member_range *range, int64_t *out)
{
    int64_t got = json_integer_value(v);

    if (!json_is_integer(v) || got < range->min || got > range->max) {
        fr_document_blame(d, at, "\"%s\" takes a whole number of %" PRId64 " to %" PRId64,
                          at->key, range->min, range->max);
        return false;
    }
    *out = got;
    return true;
}

bool fr_member_positive(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                        double max, double *out)
{
    double got = json_number_value(v);

    if (!json_is_number(v) || !(got > 0) || got > max) {
        fr_document_blame(d, at, "\"%s\" takes a number above 0, at most %.0f", at->key,
                          max);
        return false;
    }
    *out = got;
    return true;
}

/* Of an element of a list: its list's name. */
static const char *name_of(const struct fr_json_path *at)
{
    while (at != NULL && at->key == NULL)
        at = at->parent;
    return at == NULL ? "" : at->key;
}

bool fr_member_size(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const struct fr_member_range *range, uint64_t *out)
{
    const char *text = json_string_value(v);
    uint64_t got = 0;

    if (text != NULL && fr_num_size(text, INT64_MAX, &got) != FR_OK) {
        fr_document_blame(d, at, "\"%s\" takes bytes, or a text like \"64K\", not \"%s\"",
                          name_of(at), text);
        return false;
    }
    if (text == NULL && json_is_integer(v) && json_integer_value(v) >= 0) {
        got = (uint64_t)json_integer_value(v);
    } else if (text == NULL) {
        fr_document_blame(d, at, "\"%s\" takes bytes, or a text like \"64K\", not %s",
                          name_of(at),
                          json_is_integer(v) ? "a negative number" : fr_json_kind(v));
        return false;
    }
    if (got < (uint64_t)range->min || got > (uint64_t)range->max ||
        got % (uint64_t)range->step != 0) {
        fr_document_blame(d, at,
                          "\"%s\" is a multiple of %" PRId64 " bytes, %" PRId64
                          " to %" PRId64 ", not %" PRIu64,
                          name_of(at), range->step, range->min, range->max, got);
        return false;
    }
    *out = got;
    return true;
}

bool fr_member_word(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const struct fr_member_words *words, size_t *out)
{
    const char *text = json_string_value(v);
    char choices[128] = "";
    size_t n = 0;

    for (size_t i = 0; text != NULL && i < words->count; i++)
        if (strcmp(words->items[i], text) == 0) {
            *out = i;
            return true;
        }
    for (size_t i = 0; i < words->count && n < sizeof choices; i++)
        n += (size_t)snprintf(choices + n, sizeof choices - n, "%s\"%s\"",
                              i == 0 ? "" : " or ", words->items[i]);
    if (text != NULL)
        fr_document_blame(d, at, "\"%s\" takes %s, not \"%s\"", name_of(at), choices,
                          text);
    else
        fr_document_blame(d, at, "\"%s\" takes %s, not %s", name_of(at), choices,
                          fr_json_kind(v));
    return false;
}

void fr_member_remark(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                      void *into)
{
    (void)into;
    if (!json_is_string(v))
        fr_document_blame(d, at, "\"%s\" takes a text, not %s", at->key, fr_json_kind(v));
}

void fr_member_each(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const struct fr_member_list *list, void *into)
{
    size_t i;
    json_t *element;

    if (!json_is_array(v)) {
        list->take(d, v, at, into);
        return;
    }
    if (json_array_size(v) == 0 || json_array_size(v) > list->max) {
        fr_document_blame(d, at, "\"%s\" has %zu elements: 1 to %zu", name_of(at),
                          json_array_size(v), list->max);
        return;
    }
    json_array_foreach(v, i, element)
    {
        struct fr_json_path inner = {.parent = at, .index = i};

        list->take(d, element, &inner, into);
    }
}
