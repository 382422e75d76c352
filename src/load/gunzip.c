#include "load/gunzip.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* 32 KiB window, gzip wrapper only */
enum { GZIP_WINDOW_BITS = 15 + 16 };

struct fr_gunzip {
    fr_packed_read_fn read;
    void *ctx;
    z_stream z;
    uint64_t taken;   /* packed bytes handed to zlib so far */
    uint64_t member;  /* where the member of now begins */
    bool in_member;   /* its end has not been seen */
    bool input_ended; /* nothing comes behind z.next_in */
};

fr_status fr_gunzip_open(fr_packed_read_fn read, void *ctx, struct fr_gunzip **out,
                         struct fr_err *err)
{
    struct fr_gunzip *g = calloc(1, sizeof *g);

    *out = NULL;
    if (g == NULL || inflateInit2(&g->z, GZIP_WINDOW_BITS) != Z_OK) {
        free(g);
        return fr_err_set(err, FR_ENOMEM, "no memory to unpack it");
    }
    g->read = read;
    g->ctx = ctx;
    g->in_member = true;
    *out = g;
    return FR_OK;
}

void fr_gunzip_close(struct fr_gunzip **gp)
{
    if (gp == NULL || *gp == NULL)
        return;
    inflateEnd(&(*gp)->z);
    free(*gp);
    *gp = NULL;
}

static uint64_t position(const struct fr_gunzip *g)
{
    return g->taken - g->z.avail_in;
}

static fr_status fill(struct fr_gunzip *g, struct fr_err *err)
{
    const char *block = NULL;
    size_t got = 0;
    fr_status st;

    if (g->z.avail_in > 0 || g->input_ended)
        return FR_OK;
    st = g->read(g->ctx, &block, &got, err);
    if (st != FR_OK)
        return st;
    g->input_ended = got == 0;
    g->z.next_in = (z_const Bytef *)block;
    g->z.avail_in = (uInt)got;
    g->taken += got;
    return FR_OK;
}

/* Behind a member: the next one, the end, or what does not belong there. */
static fr_status next_member(struct fr_gunzip *g, bool *more, struct fr_err *err)
{
    fr_status st = fill(g, err);

    *more = false;
    if (st != FR_OK || g->z.avail_in == 0)
        return st;
    if (g->z.next_in[0] != 0x1f)
        return fr_err_set(err, FR_EIO,
                          "unpacking, at byte %" PRIu64
                          " of the file, behind the end of the packed data: there is "
                          "something else: cut it off, or pack the file anew",
                          position(g));
    g->member = position(g);
    if (inflateReset(&g->z) != Z_OK)
        return fr_err_set(err, FR_ENOMEM, "no memory to unpack it");
    g->in_member = *more = true;
    return FR_OK;
}

static fr_status damaged(const struct fr_gunzip *g, struct fr_err *err)
{
    return fr_err_set(err, FR_EIO,
                      "unpacking, at byte %" PRIu64
                      " of the file (the gzip member from byte %" PRIu64
                      "): %s: it is damaged, get it anew",
                      position(g), g->member, g->z.msg == NULL ? "bad data" : g->z.msg);
}

fr_status fr_gunzip_read(struct fr_gunzip *g, char *out, size_t n, size_t *got,
                         struct fr_err *err)
{
    uInt room = n > UINT_MAX ? UINT_MAX : (uInt)n;
    bool more = true;

    *got = 0;
    g->z.next_out = (Bytef *)out;
    g->z.avail_out = room;
    while (g->z.avail_out == room) {
        fr_status st = g->in_member ? fill(g, err) : next_member(g, &more, err);
        int rc;

        if (st != FR_OK || !more)
            return st;
        rc = inflate(&g->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END)
            g->in_member = false;
        else if (rc == Z_MEM_ERROR)
            return fr_err_set(err, FR_ENOMEM, "no memory to unpack it");
        else if (rc != Z_OK && rc != Z_BUF_ERROR)
            return damaged(g, err);
        else if (g->input_ended && g->z.avail_out == room)
            return fr_err_set(err, FR_EIO,
                              "unpacking, at byte %" PRIu64
                              " of the file: it ends in the middle of the packed data: "
                              "it is cut off, get it anew",
                              position(g));
    }
    *got = room - g->z.avail_out;
    return FR_OK;
}
