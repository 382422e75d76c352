/*
 * document.h - a JSON document, and its mistakes with the places where they stand.
 *
 * jansson keeps no place of a value.  The text is kept, and where a message is to be
 * made it is walked once more along the path of the value.  One thread.
 */
#ifndef FR_CONFIG_DOCUMENT_H
#define FR_CONFIG_DOCUMENT_H

#include "base/err.h"

#include <jansson.h>
#include <stddef.h>

/* A value's place in the document, from itself outwards; NULL = the whole document. */
struct fr_json_path {
    const struct fr_json_path *parent;
    const char *key; /* of an object; NULL: element `index` of an array */
    size_t index;
};

struct fr_mistake {
    size_t line, column; /* from 1; the column counts characters.  0 = of no line */
    char *text;          /* owned */
};

struct fr_document {
    char *path; /* as given, owned */
    char *text; /* owned */
    json_t *root;
    struct fr_mistake *mistakes;
    size_t mistake_count;
};

/*
 * FR_OK also where the JSON is broken: then root is NULL and the mistake is there.
 * FR_EARG: the file cannot be read, or is longer than 16 MiB.  out is the caller's to
 * free in every case.
 */
fr_status fr_document_read(const char *path, struct fr_document *out, struct fr_err *err);
/* The same of a text in memory; path: what messages call it.  Copies are made. */
fr_status fr_document_parse(const char *path, const char *text, struct fr_document *out,
                            struct fr_err *err);
void fr_document_free(struct fr_document *d);

/* What kind of value it is, for messages: "a text", "a list", ... */
const char *fr_json_kind(const json_t *v);

/* Where the value stands, or with of_key its name; false: there is no such value. */
bool fr_json_locate(const char *text, const struct fr_json_path *at, bool of_key,
                    size_t *line, size_t *column);

/* A mistake of the value, or of its name.  What memory is too short for is not kept, but
 * mistake_count counts it. */
void fr_document_blame(struct fr_document *d, const struct fr_json_path *at,
                       const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void fr_document_blame_key(struct fr_document *d, const struct fr_json_path *at,
                           const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* In the order of their places. */
void fr_document_sort_mistakes(struct fr_document *d);
/* Every mistake as a line of the log, FILE:LINE:COLUMN in front. */
void fr_document_log_mistakes(struct fr_document *d);

#endif
