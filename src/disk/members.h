/*
 * members.h - the members of a JSON object that people write, each with its parser.
 *
 * What is wrong is blamed in the document, at its line.  One thread.
 */
#ifndef FR_DISK_MEMBERS_H
#define FR_DISK_MEMBERS_H

#include "config/document.h"

#include <stdint.h>

typedef void (*fr_member_fn)(struct fr_document *d, json_t *v,
                             const struct fr_json_path *at, void *into);

struct fr_member {
    const char *name;
    bool required;
    fr_member_fn take;
};

struct fr_members {
    const char *what; /* the object's kind, for messages */
    const struct fr_member *items;
    size_t count;
};

/* The multiples of step (1 and more) from min (0 and more) to max. */
struct fr_member_range {
    int64_t step, min, max;
};

struct fr_member_words {
    const char *const *items;
    size_t count;
};

struct fr_member_list {
    size_t max; /* elements */
    fr_member_fn take;
};

/* Each member of the object to its parser. */
void fr_members_take(struct fr_document *d, json_t *object, const struct fr_json_path *at,
                     const struct fr_members *members, void *into);

/* A whole number of the range, of step 1; false: it was blamed. */
bool fr_member_whole(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                     const struct fr_member_range *range, int64_t *out);
/* A number above 0 and up to max. */
bool fr_member_positive(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                        double max, double *out);
/* Bytes, or a text like "64K", of the range. */
bool fr_member_size(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const struct fr_member_range *range, uint64_t *out);
/* One of the words; *out is its index. */
bool fr_member_word(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const struct fr_member_words *words, size_t *out);
/* Members for those who write: any text. */
void fr_member_remark(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                      void *into);

/*
 * Calls take for the value, or for each element of a list; at most as many as it may
 * have, and no empty list.
 */
void fr_member_each(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const struct fr_member_list *list, void *into);

#endif
