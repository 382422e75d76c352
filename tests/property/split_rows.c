/*
 * split_rows - the loader's splitter on standard input and output, for test_split.py.
 *
 * A line "=FORMAT<tab>-t<tab>-r<tab>--quote<tab>--escape<tab>STEP" sets the options
 * (empty = default) and how many bytes the window grows by.
 * Every other line is a file in hex; it is answered by a line with its rows, a
 * space behind each: fields in hex with a comma between, " in front of a quoted one; ~
 * for a blank line, ! for a row that cannot be split.
 */
#include "load/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct fr_load_options options;
    struct fr_splitter *splitter;
    struct fr_field fields[FR_MAX_FIELDS];
    size_t step;
    char *line;
    size_t line_room;
    unsigned char *file;
    char *plain;
};

static void fail(const char *why, const char *what)
{
    fprintf(stderr, "split_rows: %s: %s\n", why, what);
    exit(2);
}

static void set_text(char **option, const char *text)
{
    free(*option);
    *option = text == NULL || text[0] == '\0' ? NULL : strdup(text);
}

static void set_options(struct work *w, char *spec)
{
    enum { FORMAT, FIELD, ROW, QUOTE, ESCAPE, STEP, PARTS };
    const char *parts[PARTS] = {NULL};
    struct fr_err err;

    for (size_t i = 0; i < PARTS && spec != NULL; i++)
        parts[i] = strsep(&spec, "\t");
    if (parts[STEP] == NULL)
        fail("options", "too few");
    w->options.format =
        strcmp(parts[FORMAT], "csv") == 0 ? FR_FORMAT_CSV : FR_FORMAT_DELIMITED;
    set_text(&w->options.field_terminator, parts[FIELD]);
    set_text(&w->options.row_terminator, parts[ROW]);
    set_text(&w->options.quote, parts[QUOTE]);
    set_text(&w->options.escape, parts[ESCAPE]);
    w->step = strtoul(parts[STEP], NULL, 10);
    fr_splitter_free(&w->splitter);
    if (fr_splitter_new(&w->options, 0, &w->splitter, &err) != FR_OK)
        fail("options", err.text);
}

static int nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static size_t unhex(struct work *w, size_t n)
{
    w->file = realloc(w->file, n / 2 + 1);
    w->plain = realloc(w->plain, n / 2 + 1);
    for (size_t i = 0; i < n / 2; i++)
        w->file[i] =
            (unsigned char)(nibble(w->line[2 * i]) << 4 | nibble(w->line[2 * i + 1]));
    return n / 2;
}

static void print_field(struct work *w, const struct fr_field *f)
{
    const char *p = f->p;
    size_t n = f->n;

    if (f->has_quotes) {
        if (!fr_field_unquote(w->splitter, f, w->plain, &n)) {
            putchar('?');
            return;
        }
        p = w->plain;
    }
    if (f->quoted)
        putchar('"');
    for (size_t i = 0; i < n; i++)
        printf("%02x", (unsigned char)p[i]);
}

static void print_row(struct work *w, const struct fr_record *rec)
{
    if (rec->blank || rec->bad != NULL) {
        putchar(rec->blank ? '~' : '!');
    } else {
        for (size_t i = 0; i < rec->count; i++) {
            if (i > 0)
                putchar(',');
            print_field(w, &rec->fields[i]);
        }
    }
    putchar(' ');
}

static void split_file(struct work *w, size_t n)
{
    struct fr_record rec = {.fields = w->fields};
    const char *p = (const char *)w->file;
    size_t shown = 0;

    for (;;) {
        enum fr_split_result got = fr_split_next(w->splitter, p, shown, shown == n, &rec);

        if (got == FR_SPLIT_END)
            break;
        if (got == FR_SPLIT_MORE) {
            if (shown == n)
                fail("the splitter", "wants more than there is");
            shown = n - shown < w->step ? n : shown + w->step;
            continue;
        }
        print_row(w, &rec);
        p += rec.total_bytes;
        n -= rec.total_bytes;
        shown -= rec.total_bytes;
    }
    putchar('\n');
}

int main(void)
{
    static struct work w;
    ssize_t n;

    fr_load_options_init(&w.options);
    while ((n = getline(&w.line, &w.line_room, stdin)) > 0) {
        if (w.line[n - 1] == '\n')
            w.line[--n] = '\0';
        if (w.line[0] == '=')
            set_options(&w, w.line + 1);
        else
            split_file(&w, unhex(&w, (size_t)n));
    }
    fr_splitter_free(&w.splitter);
    fr_load_options_free(&w.options);
    free(w.line);
    free(w.file);
    free(w.plain);
    return fflush(stdout) == 0 && !ferror(stdin) ? 0 : 1;
}
