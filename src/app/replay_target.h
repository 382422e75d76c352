/*
 * replay_target.h - the table that a replay fills: one heap, or LineItem partitioned by
 * l_orderkey, a partition for each file.
 *
 * It is the replay's own (dbo.fullrack_replay): where it is of another kind than is asked
 * for, it is dropped and made anew, together with its partition function and scheme.  A
 * table of that name that is not LineItem is not touched.
 */
#ifndef FR_APP_REPLAY_TARGET_H
#define FR_APP_REPLAY_TARGET_H

#include "base/sql.h"
#include "load/options.h"

#include <jansson.h>

#define REPLAY_TABLE "dbo.fullrack_replay"

/* As --layout numbers them. */
enum replay_layout { REPLAY_ONE, REPLAY_PARTITIONED, REPLAY_HEAPS };

struct replay_target {
    enum replay_layout layout;
    const char *filegroups; /* names with commas between, each with * and ?; NULL: the
                               default one */
    const int64_t *keys;    /* the first key of each file; borrowed */
    size_t files;
};

/* "one table", "partitioned, ..." for people */
const char *replay_layout_text(enum replay_layout layout);

/* FR_EARG: --hint is none, or not one of a load into LineItem in this layout. */
fr_status replay_target_check_hint(const struct fr_load_options *o,
                                   enum replay_layout layout, struct fr_err *err);

/* Before anything is made.  FR_EARG: the server does not partition or switch, or a name
 * means no filegroup of the database.  *filegroups: an array of the names that are meant,
 * for the caller to free; NULL of one table. */
fr_status replay_target_ask(struct fr_sql *s, const struct replay_target *t,
                            json_t **filegroups, struct fr_err *err);

/* Make the table, or take it as it is. */
fr_status replay_target_make(struct fr_sql *s, const struct replay_target *t,
                             const json_t *filegroups, struct fr_err *err);

#endif
