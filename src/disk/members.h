/*
 * members.h - the members of a JSON object that people write, each with its parser.
 *
 * What is wrong is blamed in the document, at its line.  One thread.
 */
#ifndef FR_DISK_MEMBERS_H
#define FR_DISK_MEMBERS_H

#include "config/document.h"

#include <stdint.h>

struct fr_member {
    const char *name;
    bool required;
    void (*take)(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                 void *into);
};

/* Each member of the object to its parser; what: the object's kind, for messages. */
void fr_members_take(struct fr_document *d, json_t *object, const struct fr_json_path *at,
                     const char *what, const struct fr_member *members, size_t count,
                     void *into);

/* A whole number of min..max; false: it was blamed. */
bool fr_member_whole(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                     int64_t min, int64_t max, int64_t *out);
/* A number above 0 and up to max. */
bool fr_member_positive(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                        double max, double *out);
/* Bytes, or a text like "64K", that are multiples of `step`, min..max. */
bool fr_member_size(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    uint64_t step, uint64_t min, uint64_t max, uint64_t *out);
/* One of the words; *out is its index. */
bool fr_member_word(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    const char *const *words, size_t count, size_t *out);
/* Members for those who write: any text. */
void fr_member_remark(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                      void *into);

/*
 * Calls take for the value, or for each element of a list; at most max of them, and no
 * empty list.
 */
void fr_member_each(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                    size_t max,
                    void (*take)(struct fr_document *d, json_t *v,
                                 const struct fr_json_path *at, void *into),
                    void *into);

#endif
