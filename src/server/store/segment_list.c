/* segment_list.c - the segments of a table, and one of them opened. See segment_priv.h.
 */
#include "server/store/segment_priv.h"

#include "server/store/segment_files.h"
#include "server/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void segment_list_free(struct segment_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->items[i].file);
        free(l->items[i].shape);
    }
    free(l->items);
    memset(l, 0, sizeof(*l));
}

static char *column_copy(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);

    return text == NULL ? NULL : strdup(text);
}

static bool list_add(struct segment_list *l, sqlite3_stmt *st)
{
    struct segment *s;

    if (l->n == l->room) {
        size_t room = l->room == 0 ? 16 : 2 * l->room;
        struct segment *grown = realloc(l->items, room * sizeof(*grown));

        if (grown == NULL)
            return false;
        l->items = grown;
        l->room = room;
    }
    s = &l->items[l->n++];
    *s = (struct segment){.file = column_copy(st, 0),
                          .shape = column_copy(st, 3),
                          .rows = sqlite3_column_int64(st, 1),
                          .bytes = sqlite3_column_int64(st, 2)};
    return s->file != NULL && s->shape != NULL;
}

/* schema: of the database in the SQL of h.  which: of these alone, or "". */
static int list_load_some(struct handle *h, const char *schema, int32_t table_id,
                          const char *which, struct segment_list *l)
{
    sqlite3_stmt *st = NULL;
    char sql[320];
    int rc;

    snprintf(sql, sizeof(sql),
             "SELECT file,rows,bytes,shape FROM %s.fr_segment WHERE table_id=?1%s "
             "ORDER BY id",
             schema, which);
    rc = handle_prepare(h, sql, &st);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int(st, 1, table_id);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW)
        if (!list_add(l, st)) {
            rc = SQLITE_NOMEM;
            break;
        }
    handle_unprepare(h, st);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int segment_list_load(struct handle *h, const char *schema, int32_t table_id,
                      struct segment_list *l)
{
    return list_load_some(h, schema, table_id, "", l);
}

int segment_list_unsorted(struct handle *h, const char *schema, int32_t table_id,
                          struct segment_list *l)
{
    char which[120];

    snprintf(which, sizeof(which),
             " AND id NOT IN (SELECT segment_id FROM %s.fr_segment_partition)", schema);
    return list_load_some(h, schema, table_id, which, l);
}

int segment_list_partition(struct handle *h, int32_t table_id, int64_t number,
                           struct segment_list *l)
{
    char which[120];

    if (number == 0)
        return segment_list_load(h, "main", table_id, l);
    snprintf(which, sizeof(which),
             " AND id IN (SELECT segment_id FROM main.fr_segment_partition WHERE "
             "number=%lld)",
             (long long)number);
    return list_load_some(h, "main", table_id, which, l);
}

struct spool *segment_open(struct database *db, const struct segment *s,
                           struct segment_shape *shape, struct sqlerr *e)
{
    char path[SEGMENT_PATH_BYTES];
    struct spool_columns columns;
    struct spool *out;

    if (!segment_shape_parse(s->shape, shape)) {
        sqlerr_setf(e, 824, 21, "The columns of the segment %s are not known.", s->file);
        return NULL;
    }
    if (!segment_files_path(database_segments(db), s->file, path, sizeof(path))) {
        sqlerr_setf(e, 701, 17, "There is insufficient system memory.");
        return NULL;
    }
    columns = (struct spool_columns){
        .types = shape->types, .n = shape->n, .packed = shape->packed};
    out = spool_open(path, &columns, s->bytes, e);
    if (out != NULL)
        spool_count_for(out, database_path(db));
    return out;
}
