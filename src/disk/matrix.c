#include "disk/matrix.h"

#include "disk/kinds.h"

#include <inttypes.h>
#include <stdlib.h>

/* An entry of "runs", or with no kinds what all of them have where they say nothing. */
struct entry {
    struct fr_disk_kinds kinds; /* first: parsers of kinds.h fill it */
    int64_t threads, outstanding, seconds;
    bool write_through;
};

struct reader {
    struct entry all; /* first: parsers of entries fill it */
    struct fr_disk_matrix *m;
    bool no_memory;
};

static void take_threads(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                         void *into)
{
    static const struct fr_member_range range = {1, 1, FR_DISK_MAX_THREADS};
    struct entry *e = into;

    (void)fr_member_whole(d, v, at, &range, &e->threads);
}

static void take_outstanding(struct fr_document *d, json_t *v,
                             const struct fr_json_path *at, void *into)
{
    static const struct fr_member_range range = {1, 1, FR_DISK_MAX_OUTSTANDING};
    struct entry *e = into;

    (void)fr_member_whole(d, v, at, &range, &e->outstanding);
}

static void take_seconds(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                         void *into)
{
    static const struct fr_member_range range = {1, 1, FR_DISK_MAX_SECONDS};
    struct entry *e = into;

    (void)fr_member_whole(d, v, at, &range, &e->seconds);
}

static void take_write_through(struct fr_document *d, json_t *v,
                               const struct fr_json_path *at, void *into)
{
    struct entry *e = into;

    if (!json_is_boolean(v))
        fr_document_blame(d, at, "\"write-through\" takes true or false, not %s",
                          fr_json_kind(v));
    e->write_through = json_is_true(v);
}

static void take_file_size(struct fr_document *d, json_t *v,
                           const struct fr_json_path *at, void *into)
{
    static const struct fr_member_range range = {
        FR_DISK_MIN_FILE_BYTES, FR_DISK_MIN_FILE_BYTES, FR_DISK_MAX_FILE_BYTES};
    struct reader *r = into;

    (void)fr_member_size(d, v, at, &range, &r->m->file_bytes);
}

static bool add_run(struct fr_disk_matrix *m, const struct fr_disk_run *run)
{
    struct fr_disk_run *grown = realloc(m->runs, (m->count + 1) * sizeof *grown);

    if (grown == NULL)
        return false;
    m->runs = grown;
    grown[m->count++] = *run;
    return true;
}

static void cross(struct fr_document *d, const struct fr_json_path *at, struct reader *r,
                  const struct entry *e)
{
    struct fr_disk_run run = {
        .threads = e->threads, .outstanding = e->outstanding, .seconds = e->seconds};

    for (size_t i = 0; fr_disk_kinds_at(&e->kinds, i, &run.kind); i++) {
        if (r->m->count >= FR_DISK_MAX_RUNS) {
            fr_document_blame(d, at, "these are more than %d runs", FR_DISK_MAX_RUNS);
            return;
        }
        run.write_through = run.kind.is_write && e->write_through;
        r->no_memory = r->no_memory || !add_run(r->m, &run);
    }
}

static fr_status check_under_way(int64_t threads, int64_t outstanding, struct fr_err *err)
{
    return threads * outstanding <= FR_DISK_MAX_UNDER_WAY
               ? FR_OK
               : fr_err_set(err, FR_EARG,
                            "%" PRId64 " threads with %" PRId64
                            " outstanding I/Os each: at most %d together",
                            threads, outstanding, FR_DISK_MAX_UNDER_WAY);
}

static void take_run(struct fr_document *d, json_t *v, const struct fr_json_path *at,
                     void *into)
{
    static const struct fr_member members[] = {
        {"operation", true, fr_disk_take_operation},
        {"access", true, fr_disk_take_access},
        {"block", true, fr_disk_take_block},
        {"threads", false, take_threads},
        {"outstanding", false, take_outstanding},
        {"seconds", false, take_seconds},
        {"write-through", false, take_write_through},
        {"description", false, fr_member_remark},
    };
    static const struct fr_members table = {"a run", members,
                                            sizeof members / sizeof members[0]};
    struct reader *r = into;
    struct entry e = r->all;
    struct fr_err why;

    fr_members_take(d, v, at, &table, &e);
    if (check_under_way(e.threads, e.outstanding, &why) != FR_OK)
        fr_document_blame(d, at, "%s", why.text);
    cross(d, at, r, &e);
}

/* After all other members, whose order does not count. */
static void take_runs_later(struct fr_document *d, json_t *v,
                            const struct fr_json_path *at, void *into)
{
    (void)into;
    if (!json_is_array(v))
        fr_document_blame(d, at, "\"runs\" takes a list, not %s", fr_json_kind(v));
}

fr_status fr_disk_matrix_read(struct fr_document *d, struct fr_disk_matrix *out,
                              struct fr_err *err)
{
    static const struct fr_member members[] = {
        {"file-size", false, take_file_size},
        {"threads", false, take_threads},
        {"outstanding", false, take_outstanding},
        {"seconds", false, take_seconds},
        {"write-through", false, take_write_through},
        {"runs", true, take_runs_later},
        {"description", false, fr_member_remark},
        {"$schema", false, fr_member_remark},
    };
    static const struct fr_members table = {"a matrix", members,
                                            sizeof members / sizeof members[0]};
    static const struct fr_member_list runs_list = {FR_DISK_MAX_RUNS, take_run};
    struct reader r = {
        .all = {.threads = 8, .outstanding = 8, .seconds = 120, .write_through = true},
        .m = out};
    struct fr_json_path at = {.key = "runs"};
    json_t *runs = json_object_get(d->root, "runs");

    *out = (struct fr_disk_matrix){.file_bytes = UINT64_C(20) << 30};
    if (d->root == NULL)
        return FR_OK;
    fr_members_take(d, d->root, NULL, &table, &r);
    if (json_is_array(runs))
        fr_member_each(d, runs, &at, &runs_list, &r);
    if (d->mistake_count > 0 || r.no_memory)
        fr_disk_matrix_free(out);
    return r.no_memory ? fr_err_set(err, FR_ENOMEM, "no memory for the matrix") : FR_OK;
}

void fr_disk_matrix_free(struct fr_disk_matrix *m)
{
    free(m->runs);
    m->runs = NULL;
    m->count = 0;
}

fr_status fr_disk_matrix_override(struct fr_disk_matrix *m,
                                  const struct fr_disk_overrides *o, struct fr_err *err)
{
    fr_status st = FR_OK;

    if (o->file_bytes > 0)
        m->file_bytes = o->file_bytes - o->file_bytes % FR_DISK_MIN_FILE_BYTES;
    for (size_t i = 0; st == FR_OK && i < m->count; i++) {
        struct fr_disk_run *run = &m->runs[i];

        run->threads = o->threads > 0 ? o->threads : run->threads;
        run->outstanding = o->outstanding > 0 ? o->outstanding : run->outstanding;
        run->seconds = o->seconds > 0 ? o->seconds : run->seconds;
        st = check_under_way(run->threads, run->outstanding, err);
    }
    return st;
}

uint64_t fr_disk_run_jobs(const struct fr_disk_run *run, bool is_direct)
{
    return (uint64_t)(is_direct ? run->threads : run->threads * run->outstanding);
}

fr_status fr_disk_matrix_fits(const struct fr_disk_matrix *m, uint64_t file_bytes,
                              bool is_direct, struct fr_err *err)
{
    char block[FR_DISK_BLOCK_TEXT_BYTES];

    for (size_t i = 0; i < m->count; i++) {
        const struct fr_disk_run *run = &m->runs[i];
        uint64_t parts = run->kind.is_random ? 1 : fr_disk_run_jobs(run, is_direct);

        if (file_bytes / parts < run->kind.block_bytes)
            return fr_err_set(err, FR_EARG,
                              "a file of %" PRIu64 " bytes is too small for %" PRIu64
                              " threads with blocks of %s",
                              file_bytes, parts,
                              fr_disk_block_text(run->kind.block_bytes, block));
    }
    return FR_OK;
}

bool fr_disk_matrix_writes(const struct fr_disk_matrix *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->runs[i].kind.is_write)
            return true;
    return false;
}
