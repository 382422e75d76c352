#include "rack/view.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    TERMINAL_MS = 250,
    PLAIN_MS = 2000,
    MAX_PICTURE_BYTES = 1 << 20,
    BAR_CELLS = 16,
    DEFAULT_COLUMNS = 80,
    MIN_COLUMNS = 40,
    NAME_CELLS = 24
};

struct fr_view {
    bool quiet;
    bool terminal;
    size_t drawn_lines;
    int64_t *rows_before; /* per worker, for rates */
    size_t known_workers;
    uint64_t drawn_ms;
};

struct fr_view *fr_view_new(bool quiet)
{
    struct fr_view *v = calloc(1, sizeof *v);
    const char *term = getenv("TERM");

    if (v == NULL)
        return NULL;
    v->quiet = quiet;
    v->terminal = isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
    v->drawn_ms = fr_clock_ms();
    return v;
}

void fr_view_free(struct fr_view **vp)
{
    if (vp == NULL || *vp == NULL)
        return;
    free((*vp)->rows_before);
    free(*vp);
    *vp = NULL;
}

unsigned fr_view_interval_ms(const struct fr_view *v)
{
    return v != NULL && v->terminal ? TERMINAL_MS : PLAIN_MS;
}

void fr_view_interrupt(struct fr_view *v)
{
    if (v != NULL)
        v->drawn_lines = 0;
}

static void window_size(size_t *columns, size_t *lines)
{
    struct winsize w;

    *columns = DEFAULT_COLUMNS;
    *lines = 24;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0)
        return;
    if (w.ws_col >= MIN_COLUMNS)
        *columns = w.ws_col;
    if (w.ws_row > 4)
        *lines = w.ws_row;
}

/* The end of a path says more than its start. */
static const char *short_name(const char *source)
{
    const char *slash = strrchr(source, '/');
    const char *name = slash == NULL ? source : slash + 1;
    size_t n = strlen(name);

    return n > NAME_CELLS ? name + n - NAME_CELLS : name;
}

static void add_bar(struct fr_buf *b, const struct fr_view_worker *w)
{
    int cells = 0;

    if (w->source_bytes > 0)
        cells =
            (int)(w->bytes >= w->source_bytes ? BAR_CELLS
                                              : w->bytes * BAR_CELLS / w->source_bytes);
    fr_buf_add_byte(b, '[');
    for (int i = 0; i < BAR_CELLS; i++)
        fr_buf_add_byte(b, i < cells ? '#' : '.');
    fr_buf_add_byte(b, ']');
}

static void add_worker(struct fr_buf *b, const struct fr_view_worker *w,
                       double rows_per_s)
{
    char rows[32], scheduler[16] = "-";

    if (w->scheduler_id >= 0)
        snprintf(scheduler, sizeof scheduler, "%d", w->scheduler_id);
    fr_buf_printf(b, "%-6s sched %-3s %-8s", w->name, scheduler, w->state);
    if (w->source[0] == '\0')
        return;
    fr_buf_add_byte(b, ' ');
    add_bar(b, w);
    fr_buf_printf(b, " %s %s rows %.0f/s", short_name(w->source),
                  fr_num_grouped((uint64_t)w->rows, rows, sizeof rows), rows_per_s);
}

static void add_totals(struct fr_buf *b, const struct fr_view_totals *t,
                       double rows_per_s)
{
    char rows[32];

    fr_buf_printf(b, "%.1f s  %lld", (double)t->elapsed_ms / 1000.0,
                  (long long)t->tasks_done);
    if (t->tasks_known > 0)
        fr_buf_printf(b, " of %lld", (long long)t->tasks_known);
    fr_buf_printf(b, " tasks  %s rows  %.0f rows/s  %.1f MB",
                  fr_num_grouped((uint64_t)t->rows, rows, sizeof rows), rows_per_s,
                  (double)t->bytes / 1e6);
    if (t->rejected > 0)
        fr_buf_printf(b, "  %lld rejected", (long long)t->rejected);
    if (t->tasks_failed > 0)
        fr_buf_printf(b, "  %lld failed", (long long)t->tasks_failed);
}

/* End a line: cut to the window on a terminal, where what stood there before is wiped. */
static void end_line(const struct fr_view *v, struct fr_buf *b, size_t start,
                     size_t columns)
{
    if (v->terminal && b->len - start >= columns) {
        b->len = start + columns - 1;
        b->data[b->len] = '\0';
    }
    fr_buf_add_str(b, v->terminal ? "\x1b[K\n" : "\n");
}

static bool remember(struct fr_view *v, size_t count)
{
    int64_t *grown;

    if (count <= v->known_workers)
        return true;
    grown = realloc(v->rows_before, count * sizeof *grown);
    if (grown == NULL)
        return false;
    for (size_t i = v->known_workers; i < count; i++)
        grown[i] = 0;
    v->rows_before = grown;
    v->known_workers = count;
    return true;
}

void fr_view_draw(struct fr_view *v, const struct fr_view_worker *workers, size_t count,
                  const struct fr_view_totals *totals)
{
    struct fr_buf b;
    size_t columns, lines, shown;
    uint64_t now = fr_clock_ms();
    double seconds;
    double all = totals->elapsed_ms > 0
                     ? (double)totals->rows * 1000.0 / (double)totals->elapsed_ms
                     : 0;

    if (v == NULL || v->quiet || !remember(v, count))
        return;
    seconds = (double)(now - v->drawn_ms) / 1000.0;
    window_size(&columns, &lines);
    shown = v->terminal && count + 2 > lines ? lines - 3 : count;
    fr_buf_init(&b, MAX_PICTURE_BYTES);
    if (v->terminal && v->drawn_lines > 0)
        fr_buf_printf(&b, "\x1b[%zuA", v->drawn_lines);
    for (size_t i = 0; i < count; i++) {
        int64_t moved = workers[i].rows - v->rows_before[i];
        size_t start = b.len;

        v->rows_before[i] = workers[i].rows;
        if (i >= shown)
            continue;
        add_worker(&b, &workers[i],
                   moved > 0 && seconds > 0 ? (double)moved / seconds : 0);
        end_line(v, &b, start, columns);
    }
    if (shown < count) {
        size_t start = b.len;

        fr_buf_printf(&b, "... and %zu more workers", count - shown);
        end_line(v, &b, start, columns);
    }
    {
        size_t start = b.len;

        add_totals(&b, totals, all);
        end_line(v, &b, start, columns);
    }
    v->drawn_lines = shown + (shown < count ? 2 : 1);
    v->drawn_ms = now;
    /* a view that cannot be written is no reason to stop a load */
    (void)!write(STDERR_FILENO, fr_buf_text(&b), b.len);
    fr_buf_free(&b);
}
