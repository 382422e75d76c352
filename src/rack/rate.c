/*
 * --rate: what all workers together may read in a second, in equal shares for those that
 * load.
 *
 * The shares are looked at ten times a second and not at each begin and end of a task:
 * with small tasks that would be thousands of messages, of which most take the last one
 * back.  A worker that is between two tasks when it is looked at counts as loading.
 */
#include "rack/coordinator_priv.h"

static size_t loading_children(const struct coordinator *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->child_count; i++)
        n += child_is_alive(&c->children[i]) && c->children[i].was_loading ? 1 : 0;
    return n;
}

uint64_t rate_share(const struct coordinator *c)
{
    size_t n = loading_children(c);
    uint64_t share;

    if (c->settings->rate == 0)
        return 0;
    /* before the start: all will load at once */
    share = c->settings->rate / (n > 0 ? n : c->child_count);
    return share > 0 ? share : 1;
}

void rate_on_timer(uv_timer_t *timer)
{
    struct coordinator *c = timer->data;
    uint64_t share = rate_share(c);

    for (size_t i = 0; i < c->child_count; i++) {
        struct child *child = &c->children[i];

        child->was_loading = child->is_loading;
        if (!child_is_alive(child) || child->fd < 0 || child->rate_told == share)
            continue;
        /* droppable: a worker that stands still must not hold us up; it is told again */
        if (fr_ipc_send(
                child->fd,
                json_pack("{s:s, s:I}", "type", "rate", "bytes", (json_int_t)share),
                true) == FR_OK)
            child->rate_told = share;
    }
}
