#include "rack/picture.h"

#include "base/num.h"
#include "base/shown.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    BAR_CELLS = 12,
    CELL_COLUMNS = 39, /* of a worker where several stand on a line */
    MAX_SCHEDULERS = 1024,
    SCHEDULER_LINES = 4,
    LABEL_COLUMNS = 12,
    SMALL_BYTES = 32,
    MIN_DONE_PERMILLE = 5 /* of the tasks, before which no end is foretold */
};

#define BOLD "\x1b[1m"
#define DIM "\x1b[2m"
#define RED "\x1b[31m"
#define GREEN "\x1b[32m"
#define PLAIN "\x1b[0m"

/* A line under construction: counts the columns, and stops at the window's. */
struct line {
    struct fr_buf *out;
    size_t columns, used;
    bool color;
};

static void put_style(struct line *l, const char *style)
{
    if (l->color)
        fr_buf_add_str(l->out, style);
}

/* Text as it may stand on a terminal: no control characters, cut at the window. */
static void put_text(struct line *l, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool begins = (c & 0xC0) != 0x80;

        if (begins && l->used >= l->columns)
            return;
        l->used += begins ? 1 : 0;
        fr_buf_add_byte(l->out, fr_is_control(c) ? '?' : c);
    }
}

static void put(struct line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct line *l, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_text(l, text);
}

static void put_blanks_to(struct line *l, size_t column)
{
    while (l->used < column && l->used < l->columns)
        put_text(l, " ");
}

/* 950, 12.3k, 4.56M */
static const char *short_count(double n, char out[SMALL_BYTES])
{
    if (n < 1000)
        snprintf(out, SMALL_BYTES, "%.0f", n);
    else if (n < 1e6)
        snprintf(out, SMALL_BYTES, "%.*fk", n < 1e5 ? 1 : 0, n / 1e3);
    else
        snprintf(out, SMALL_BYTES, "%.*fM", n < 1e8 ? 2 : 0, n / 1e6);
    return out;
}

static const char *clock_text(int64_t ms, char out[SMALL_BYTES])
{
    long long s = (long long)(ms / 1000);

    snprintf(out, SMALL_BYTES, "%02lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    return out;
}

/* The end of a path says more than its start. */
static const char *file_name(const char *source)
{
    const char *slash = strrchr(source, '/');

    return slash == NULL ? source : slash + 1;
}

static size_t characters(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80 ? 1 : 0;
    return n;
}

/* The last characters of a name where it has more. */
static void put_name(struct line *l, const char *name, size_t columns)
{
    size_t n = characters(name), skip = n > columns ? n - columns + 2 : 0;

    if (columns < 4)
        return;
    if (skip > 0)
        put_text(l, "..");
    while (skip > 0 && *name != '\0') {
        name++;
        while (((unsigned char)*name & 0xC0) == 0x80)
            name++;
        skip--;
    }
    put_text(l, name);
}

/* ---- progress ---- */

static double part_of(const struct fr_picture_worker *w)
{
    double part = w->source_bytes > 0 ? (double)w->bytes / (double)w->source_bytes : 0;

    return w->source[0] == '\0' ? 0 : part > 1 ? 1 : part;
}

/* Tasks that are over, and what is done of those under way. */
static double tasks_over(const struct fr_picture *p)
{
    double over = (double)(p->tasks_done + p->tasks_failed);

    for (size_t i = 0; i < p->count; i++)
        over += part_of(&p->workers[i]);
    return over;
}

int64_t fr_picture_eta_ms(const struct fr_picture *p)
{
    double over = tasks_over(p), known = (double)p->tasks_known;

    if (p->tasks_known <= 0 || p->elapsed_ms == 0 ||
        over * 1000 < known * MIN_DONE_PERMILLE)
        return -1;
    return over >= known ? 0 : (int64_t)((double)p->elapsed_ms * (known - over) / over);
}

static void put_bar(struct line *l, double part, size_t cells)
{
    size_t full = (size_t)(part * (double)cells);

    put_text(l, "[");
    put_style(l, GREEN);
    for (size_t i = 0; i < full; i++)
        put_text(l, "#");
    put_style(l, PLAIN);
    for (size_t i = full; i < cells; i++)
        put_text(l, ".");
    put_text(l, "]");
}

/* ---- the lines ---- */

static void put_head(struct line *l, const struct fr_picture *p)
{
    int64_t eta = fr_picture_eta_ms(p);
    char text[SMALL_BYTES];

    put_style(l, BOLD);
    put(l, "%s  %s", p->title, clock_text((int64_t)p->elapsed_ms, text));
    put_style(l, PLAIN);
    if (p->tasks_known > 0) {
        double part = tasks_over(p) / (double)p->tasks_known;

        part = part > 1 ? 1 : part;
        put_text(l, "  ");
        put_bar(l, part, 2 * BAR_CELLS);
        put(l, " %3.0f %%", part * 100);
    }
    if (eta > 0)
        put(l, "  ETA %s", clock_text(eta, text));
}

static void put_counts(struct line *l, const struct fr_picture *p)
{
    char rows[SMALL_BYTES], rate[SMALL_BYTES];

    put(l, "%lld", (long long)p->tasks_done);
    if (p->tasks_known > 0)
        put(l, " of %lld", (long long)p->tasks_known);
    put_text(l, " tasks");
    if (p->tasks_failed > 0) {
        put_style(l, RED);
        put(l, "  %lld failed", (long long)p->tasks_failed);
        put_style(l, PLAIN);
    }
    put(l, "  %s rows  %s rows/s  %.1f MB/s",
        fr_num_grouped((uint64_t)(p->rows > 0 ? p->rows : 0), rows, sizeof rows),
        short_count(p->rows_per_s, rate), p->bytes_per_s / 1e6);
    if (p->rejected > 0)
        put(l, "  %lld rejected", (long long)p->rejected);
    if (p->tasks_retried > 0)
        put(l, "  %lld retried", (long long)p->tasks_retried);
}

void fr_picture_totals(const struct fr_picture *p, struct fr_buf *out)
{
    struct line l = {.out = out, .columns = SIZE_MAX};
    int64_t eta = fr_picture_eta_ms(p);
    char text[SMALL_BYTES];

    put(&l, "%.1f s  ", (double)p->elapsed_ms / 1000);
    put_counts(&l, p);
    if (eta > 0)
        put(&l, "  ETA %s", clock_text(eta, text));
    if (p->paused != NULL) {
        put_text(&l, "  paused: ");
        put_text(&l, p->paused);
    }
}

static void put_state(struct line *l, const struct fr_picture_worker *w)
{
    bool is_over = strcmp(w->state, "ended") == 0;

    if (is_over)
        put_style(l, DIM);
    put_text(l, w->state);
    if (is_over)
        put_style(l, PLAIN);
}

/* All of a line for one worker. */
static void put_worker(struct line *l, const struct fr_picture_worker *w)
{
    char rate[SMALL_BYTES], figures[2 * SMALL_BYTES];
    size_t tail;

    put(l, "%-6s ", w->name);
    if (w->scheduler_id >= 0)
        put(l, "sched %-4d", w->scheduler_id);
    else
        put(l, "sched -   ");
    if (w->source[0] == '\0') {
        put_state(l, w);
        return;
    }
    put_bar(l, part_of(w), BAR_CELLS);
    if (w->source_bytes > 0)
        put(l, " %3.0f %% ", part_of(w) * 100);
    else
        put_text(l, "       ");
    snprintf(figures, sizeof figures, "%7s/s %7.1f MB/s",
             short_count(w->rows_per_s, rate), w->bytes_per_s / 1e6);
    tail = l->columns > l->used + strlen(figures) + 1
               ? l->columns - l->used - strlen(figures) - 1
               : 0;
    if (tail > 0) {
        size_t at = l->used + tail;

        put_name(l, file_name(w->source), tail);
        put_blanks_to(l, at);
        put_text(l, " ");
    }
    put_text(l, figures);
}

/* One of several on a line. */
static void put_cell(struct line *l, const struct fr_picture_worker *w)
{
    char rate[SMALL_BYTES];

    put(l, "%-5s ", w->name);
    if (w->scheduler_id >= 0)
        put(l, "%-4d", w->scheduler_id);
    else
        put_text(l, "-   ");
    if (w->source[0] == '\0') {
        put_state(l, w);
        return;
    }
    put_bar(l, part_of(w), BAR_CELLS);
    put(l, " %7s/s", short_count(w->rows_per_s, rate));
}

/* ---- schedulers ---- */

/* How many loads each carries; SIZE_MAX: no worker is on it. */
static size_t loads_on(const struct fr_picture *p, int scheduler)
{
    size_t loads = 0;
    bool is_known = false;

    for (size_t i = 0; i < p->count; i++) {
        const struct fr_picture_worker *w = &p->workers[i];

        if (w->scheduler_id != scheduler || strcmp(w->state, "ended") == 0)
            continue;
        is_known = true;
        loads += w->source[0] != '\0' ? 1 : 0;
    }
    return is_known ? loads : SIZE_MAX;
}

static int last_scheduler(const struct fr_picture *p)
{
    int last = -1;

    for (size_t i = 0; i < p->count; i++)
        if (p->workers[i].scheduler_id > last &&
            p->workers[i].scheduler_id < MAX_SCHEDULERS)
            last = p->workers[i].scheduler_id;
    return last;
}

static size_t scheduler_lines(const struct fr_picture *p,
                              const struct fr_picture_size *size)
{
    size_t cells = size->columns > LABEL_COLUMNS + 8 ? size->columns - LABEL_COLUMNS : 8;
    size_t lines = ((size_t)(last_scheduler(p) + 1) + cells - 1) / cells;

    return lines < SCHEDULER_LINES ? lines : SCHEDULER_LINES;
}

/* '#' loads, '2'... several at once, '-' a worker waits there, '.' free. */
static void put_schedulers(struct line *l, const struct fr_picture *p, size_t from,
                           size_t cells)
{
    int last = last_scheduler(p);

    if (from == 0)
        put(l, "schedulers");
    put_blanks_to(l, LABEL_COLUMNS);
    for (size_t id = from; id < from + cells && (int)id <= last; id++) {
        size_t loads = loads_on(p, (int)id);

        if (loads != SIZE_MAX && loads > 1) {
            put_style(l, RED);
            put(l, "%c", loads > 9 ? '+' : (char)('0' + loads));
            put_style(l, PLAIN);
        } else {
            put(l, "%c", loads == SIZE_MAX ? '.' : loads == 0 ? '-' : '#');
        }
    }
}

/* ---- all of it ---- */

struct page {
    const struct fr_picture_size *size;
    const char *line_end;
    struct fr_buf *out;
    size_t lines;
};

static struct line begin_line(const struct page *page)
{
    return (struct line){
        .out = page->out, .columns = page->size->columns - 1, .color = page->size->color};
}

static void end_line(struct page *page)
{
    fr_buf_add_str(page->out, page->line_end);
    page->lines++;
}

static size_t room(const struct page *page)
{
    if (page->size->lines == 0)
        return SIZE_MAX;
    return page->size->lines > page->lines + 1 ? page->size->lines - page->lines - 1 : 0;
}

/* "and 70 more: 64 running, 6 ended" */
static void draw_rest(struct page *page, const struct fr_picture *p, size_t from)
{
    static const char *const states[] = {"running", "armed", "waiting", "starting",
                                         "ended"};
    struct line l = begin_line(page);
    bool first = true;

    put(&l, "and %zu more:", p->count - from);
    for (size_t s = 0; s < sizeof states / sizeof states[0]; s++) {
        size_t n = 0;

        for (size_t i = from; i < p->count; i++)
            n += strcmp(p->workers[i].state, states[s]) == 0 ? 1 : 0;
        if (n > 0)
            put(&l, "%s %zu %s", first ? "" : ",", n, states[s]);
        first = first && n == 0;
    }
    end_line(page);
}

static void draw_workers(struct page *page, const struct fr_picture *p)
{
    size_t left = room(page), columns = page->size->columns - 1, per_line = 1, shown;

    if (p->count > left && columns >= 2 * CELL_COLUMNS)
        per_line = columns / CELL_COLUMNS;
    shown = p->count;
    if ((shown + per_line - 1) / per_line > left)
        shown = left > 0 ? (left - 1) * per_line : 0;
    for (size_t i = 0; i < shown; i += per_line) {
        struct line l = begin_line(page);

        for (size_t k = 0; k < per_line && i + k < shown; k++) {
            put_blanks_to(&l, k * (columns / per_line));
            if (per_line > 1)
                put_cell(&l, &p->workers[i + k]);
            else
                put_worker(&l, &p->workers[i]);
        }
        end_line(page);
    }
    if (shown < p->count && left > 0)
        draw_rest(page, p, shown);
}

size_t fr_picture_draw(const struct fr_picture *p, const struct fr_picture_size *size,
                       const char *line_end, struct fr_buf *out)
{
    struct page page = {.size = size, .line_end = line_end, .out = out};
    size_t cells =
        size->columns > LABEL_COLUMNS + 8 ? size->columns - LABEL_COLUMNS - 1 : 8;
    size_t grid = scheduler_lines(p, size);
    struct line l = begin_line(&page);

    put_head(&l, p);
    end_line(&page);
    l = begin_line(&page);
    put_counts(&l, p);
    end_line(&page);
    if (p->paused != NULL) {
        l = begin_line(&page);
        put_style(&l, RED);
        put_text(&l, "paused: ");
        put_text(&l, p->paused);
        put_style(&l, PLAIN);
        end_line(&page);
    }
    for (size_t i = 0; i < grid && room(&page) > 1; i++) {
        l = begin_line(&page);
        put_schedulers(&l, p, i * cells, cells);
        end_line(&page);
    }
    draw_workers(&page, p);
    return page.lines;
}
