#include "rack/view.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    TERMINAL_MS = 250,
    PLAIN_MS = 2000,
    MAX_PICTURE_BYTES = 1 << 20,
    DEFAULT_COLUMNS = 80,
    DEFAULT_LINES = 24,
    MIN_COLUMNS = 20,
    MIN_LINES = 4,
    RATE_MS = 1000 /* a rate is of this much time, at least */
};

/* What a worker had done when its rate was last found. */
struct before {
    int64_t rows, bytes;
    double rows_per_s, bytes_per_s;
};

struct fr_view {
    int fd;
    bool quiet, verbose, terminal, color;
    size_t drawn_lines;
    struct before *before; /* per worker, and of the whole at the end */
    size_t known_workers;
    uint64_t rated_ms; /* 0 = never */
    bool has_rate;     /* of a stretch of time */
};

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0';
}

struct fr_view *fr_view_new(int fd, bool quiet, bool verbose)
{
    struct fr_view *v = calloc(1, sizeof *v);
    const char *term = getenv("TERM");

    if (v == NULL)
        return NULL;
    v->fd = fd;
    v->quiet = quiet;
    v->verbose = verbose;
    v->terminal = isatty(fd) && term != NULL && strcmp(term, "dumb") != 0;
    v->color = v->terminal && !is_set("NO_COLOR"); /* no-color.org */
    return v;
}

void fr_view_free(struct fr_view **vp)
{
    if (vp == NULL || *vp == NULL)
        return;
    free((*vp)->before);
    free(*vp);
    *vp = NULL;
}

unsigned fr_view_interval_ms(const struct fr_view *v)
{
    return v != NULL && v->terminal ? TERMINAL_MS : PLAIN_MS;
}

bool fr_view_is_terminal(const struct fr_view *v)
{
    return v != NULL && v->terminal;
}

void fr_view_interrupt(struct fr_view *v)
{
    if (v != NULL)
        v->drawn_lines = 0;
}

static struct fr_picture_size window_of(const struct fr_view *v)
{
    struct fr_picture_size size = {DEFAULT_COLUMNS, DEFAULT_LINES, v->color};
    struct winsize w;

    if (ioctl(v->fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) {
        size.columns = w.ws_col > MIN_COLUMNS ? w.ws_col : MIN_COLUMNS;
        size.lines = w.ws_row > MIN_LINES ? w.ws_row : MIN_LINES;
    }
    return size;
}

/* ---- rates ---- */

static bool remember(struct fr_view *v, size_t count)
{
    struct before *grown;

    if (v->before != NULL && count <= v->known_workers)
        return true;
    grown = calloc(count + 1, sizeof *grown);
    if (grown == NULL)
        return false;
    if (v->before != NULL) {
        memcpy(grown, v->before, v->known_workers * sizeof *grown);
        grown[count] = v->before[v->known_workers];
    }
    free(v->before);
    v->before = grown;
    v->known_workers = count;
    return true;
}

static double per_second(int64_t after, int64_t before, double seconds)
{
    return after > before && seconds > 0 ? (double)(after - before) / seconds : 0;
}

static void find_rate(struct before *b, int64_t rows, int64_t bytes, double seconds)
{
    /* a new task begins at nothing */
    if (rows < b->rows || bytes < b->bytes)
        b->rows = b->bytes = 0;
    b->rows_per_s = per_second(rows, b->rows, seconds);
    b->bytes_per_s = per_second(bytes, b->bytes, seconds);
    b->rows = rows;
    b->bytes = bytes;
}

/* Before there is any stretch of time, and when all is over, when the last one may have
 * brought no row any more: the rate of the whole run. */
static void find_whole_rate(struct fr_picture *p)
{
    double seconds = (double)p->elapsed_ms / 1000;

    p->rows_per_s = per_second(p->rows, 0, seconds);
    p->bytes_per_s = per_second(p->bytes, 0, seconds);
}

static void find_rates(struct fr_view *v, struct fr_picture *p,
                       struct fr_picture_worker *workers)
{
    uint64_t now = fr_clock_ms();
    struct before *all = &v->before[v->known_workers];
    bool is_due = v->rated_ms == 0 || now - v->rated_ms >= RATE_MS;
    double seconds = v->rated_ms == 0 ? 0 : (double)(now - v->rated_ms) / 1000;

    if (is_due) {
        v->has_rate = v->rated_ms != 0;
        v->rated_ms = now;
        find_rate(all, p->rows, p->bytes, seconds);
    }
    for (size_t i = 0; i < p->count; i++) {
        struct before *b = &v->before[i];

        if (is_due)
            find_rate(b, workers[i].rows, workers[i].bytes, seconds);
        workers[i].rows_per_s = b->rows_per_s;
        workers[i].bytes_per_s = b->bytes_per_s;
    }
    p->rows_per_s = all->rows_per_s;
    p->bytes_per_s = all->bytes_per_s;
    if (!v->has_rate ||
        (p->tasks_known > 0 && p->tasks_done + p->tasks_failed >= p->tasks_known))
        find_whole_rate(p);
}

/* ---- drawing ---- */

static void draw_on_terminal(struct fr_view *v, const struct fr_picture *p)
{
    struct fr_picture_size size = window_of(v);
    size_t lines;
    struct fr_buf b;

    fr_buf_init(&b, MAX_PICTURE_BYTES);
    /* up to where the last picture began; a window that became smaller has scrolled it */
    if (v->drawn_lines > 0)
        fr_buf_printf(&b, "\x1b[%zuA\r",
                      v->drawn_lines < size.lines ? v->drawn_lines : size.lines - 1);
    lines = fr_picture_draw(p, &size, "\x1b[K\n", &b);
    fr_buf_add_str(&b, "\x1b[J");
    v->drawn_lines = lines;
    /* in one write, so that no half picture is seen; one that cannot be written is no
     * reason to stop a load */
    (void)!write(v->fd, fr_buf_text(&b), b.len);
    fr_buf_free(&b);
}

static void draw_plain(struct fr_view *v, struct fr_picture *p)
{
    struct fr_picture_size any = {DEFAULT_COLUMNS + 40, 0, false};
    struct fr_buf b;

    fr_buf_init(&b, MAX_PICTURE_BYTES);
    if (v->verbose) {
        (void)fr_picture_draw(p, &any, "\n", &b);
    } else {
        fr_picture_totals(p, &b);
        fr_buf_add_byte(&b, '\n');
    }
    (void)!write(v->fd, fr_buf_text(&b), b.len);
    fr_buf_free(&b);
}

void fr_view_draw(struct fr_view *v, struct fr_picture *p,
                  struct fr_picture_worker *workers)
{
    if (v == NULL || v->quiet || !remember(v, p->count))
        return;
    p->workers = workers;
    find_rates(v, p, workers);
    if (v->terminal)
        draw_on_terminal(v, p);
    else
        draw_plain(v, p);
}
