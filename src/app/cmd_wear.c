/* fullrack wear: what was written to a device in its life, and how long it lasts. */
#include "app/command.h"
#include "app/document_print.h"
#include "app/open.h"
#include "base/num.h"
#include "base/utf8.h"
#include "disk/child.h"
#include "disk/wear.h"
#include "observe/figures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SMART_BYTES = 4 << 20, LIMIT_MS = 120000, SHOWN_BYTES = 200 };
static const double max_gb_a_day = 1e9, max_rated_tb = 1e9;

/* What is known of the rate, and from whom. */
struct rate {
    double bytes_a_day; /* -1 = of the device's life */
    char from[SHOWN_BYTES];
};

/* -- the device's word --------------------------------------------------------------- */

static fr_status read_stream(FILE *f, struct fr_buf *out, struct fr_err *err)
{
    char chunk[8192];
    size_t n;

    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        if (!fr_buf_add(out, chunk, n))
            return fr_err_set(err, FR_EARG, "it is longer than %zu bytes", out->max);
    return ferror(f) ? fr_err_errno(err, FR_EIO, errno, "reading") : FR_OK;
}

static fr_status read_file(const char *path, struct fr_buf *out, struct fr_err *err)
{
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    fr_status st;

    if (f == NULL)
        return fr_err_errno(err, FR_EARG, errno, "%s", path);
    st = read_stream(f, out, err);
    if (f != stdin)
        fclose(f);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "%s", path);
}

static fr_status ask_nvme(const char *device, struct fr_buf *out, struct fr_err *err)
{
    char *argv[] = {(char *)(uintptr_t) "nvme", (char *)(uintptr_t) "smart-log",
                    (char *)(uintptr_t) "-o",   (char *)(uintptr_t) "json",
                    (char *)(uintptr_t)device,  NULL};
    struct fr_child child = {.argv = argv, .limit_ms = LIMIT_MS};
    struct fr_child_end end;
    fr_status st = fr_child_run(&child, out, &end, err);

    if (st == FR_OK && end.exit_status != 0)
        return fr_err_set(err, FR_EIO,
                          "nvme ended with status %d: %s (it needs root: sudo, or save "
                          "its JSON as root and read it with --file)",
                          end.exit_status, end.messages);
    return st;
}

/* smartctl first: it knows every kind, and the model. */
static fr_status ask_device(const char *device, struct fr_buf *out, struct fr_err *err)
{
    char *argv[] = {(char *)(uintptr_t) "smartctl", (char *)(uintptr_t) "--json",
                    (char *)(uintptr_t) "-a", (char *)(uintptr_t)device, NULL};
    struct fr_child child = {.argv = argv, .limit_ms = LIMIT_MS};
    struct fr_child_end end;
    fr_status st;

    if (device[0] == '-')
        return fr_err_set(err, FR_EARG, "%s is no device", device);
    st = fr_child_run(&child, out, &end, err);
    if (st == FR_OK && out->len == 0)
        return fr_err_set(err, FR_EIO, "smartctl ended with status %d: %s",
                          end.exit_status, end.messages);
    if (st == FR_EMPTY && strncmp(device, "/dev/nvme", 9) == 0) {
        fr_buf_reset(out);
        st = ask_nvme(device, out, err);
    }
    if (st == FR_EMPTY)
        return fr_err_set(err, FR_EARG,
                          "smartctl is not installed: it is in the package smartmontools "
                          "(of NVMe devices nvme, in nvme-cli, will do); or read with "
                          "--file what it printed elsewhere");
    return st;
}

static fr_status read_smart(const struct fr_settings *s, const struct fr_arguments *args,
                            struct fr_smart *out, struct fr_err *err)
{
    const char *where = s->smart_file != NULL ? s->smart_file : args->items[0];
    struct fr_buf text;
    json_t *document = NULL;
    fr_status st;

    fr_buf_init(&text, MAX_SMART_BYTES);
    st = s->smart_file != NULL ? read_file(where, &text, err)
                               : ask_device(where, &text, err);
    if (st == FR_OK)
        st = fr_smart_document(fr_buf_text(&text), text.len, where, &document, err);
    if (st == FR_OK && fr_smart_read(document, out, err) != FR_OK)
        st = fr_err_wrap(err, "%s", where);
    json_decref(document);
    fr_buf_free(&text);
    return st;
}

/* -- what is written a day ----------------------------------------------------------- */

static fr_status add_files(const struct fr_settings *s, const struct fr_reading *r,
                           double *bytes, size_t *files, struct fr_err *err)
{
    const char *prefix = s->vfs_path == NULL ? "" : s->vfs_path;
    json_t *rows = fr_files_figures(r), *row;
    fr_status st = FR_OK;
    size_t i;

    if (rows == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for the figures");
    json_array_foreach(rows, i, row)
    {
        const char *path = json_string_value(json_object_get(row, "path"));
        const json_t *a_day = json_object_get(row, "gb_written_per_day");

        if (strncmp(path == NULL ? "" : path, prefix, strlen(prefix)) != 0)
            continue;
        if (!json_is_number(a_day))
            st = fr_err_set(err, FR_EDB,
                            "the server does not tell since when it counts: give the "
                            "rate with --write-rate");
        *bytes += json_number_value(a_day) * 1e9;
        ++*files;
    }
    json_decref(rows);
    if (st == FR_OK && *files == 0)
        st = fr_err_set(err, FR_EARG, "the server has no file whose path begins with %s",
                        prefix);
    return st;
}

static fr_status ask_server(struct fr_settings *s, struct rate *out, struct fr_err *err)
{
    struct fr_connector c;
    struct fr_sql *session = NULL;
    struct fr_reading r;
    size_t files = 0;
    fr_status st = open_connector(s, &c, err);

    if (st == FR_OK)
        st = fr_connector_target(&c, NULL, "fullrack wear", &session, err);
    if (st == FR_OK) {
        st = fr_reading_take(session, &fr_files_kind, &r, err);
        out->bytes_a_day = 0;
        if (st == FR_OK)
            st = add_files(s, &r, &out->bytes_a_day, &files, err);
        snprintf(out->from, sizeof out->from, "%zu database file%s of %s", files,
                 files == 1 ? "" : "s", s->server);
        fr_utf8_mend(out->from);
        fr_reading_free(&r);
    }
    fr_sql_close(&session);
    fr_connector_free(&c);
    return st;
}

static fr_status find_rate(struct fr_settings *s, struct rate *out, struct fr_err *err)
{
    double gb;

    out->bytes_a_day = -1;
    snprintf(out->from, sizeof out->from, "the average of its life");
    if (s->write_rate != NULL) {
        if (fr_num_real(s->write_rate, max_gb_a_day, &gb) != FR_OK)
            return fr_err_set(err, FR_EARG,
                              "--write-rate: \"%s\" is no number of GB a day",
                              s->write_rate);
        out->bytes_a_day = gb * 1e9;
        snprintf(out->from, sizeof out->from, "--write-rate");
        return FR_OK;
    }
    if (s->server != NULL)
        return ask_server(s, out, err);
    return s->vfs_path == NULL
               ? FR_OK
               : fr_err_set(err, FR_EARG, "--vfs-path is of a server's files: give -S");
}

/* -- what is shown ------------------------------------------------------------------- */

static json_t *known(double v)
{
    return v < 0 ? json_null() : json_real(v);
}

static json_t *known_text(const char *text)
{
    return text[0] == '\0' ? json_null() : json_string(text);
}

static fr_status print_json(const struct fr_smart *d, const struct fr_wear *w,
                            const struct rate *rate, struct fr_err *err)
{
    json_t *doc = json_pack(
        "{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:b, s:o, s:o, s:s, s:o}",
        "device", known_text(d->device), "model", known_text(d->model), "kind",
        known_text(d->kind), "is_rotating", d->is_rotating, "is_failing",
        d->failing < 0 ? json_null() : json_boolean(d->failing), "power_on_hours",
        known(d->power_on_hours), "written_bytes", known(d->written_bytes), "written_by",
        known_text(d->written_by), "read_bytes", known(d->read_bytes),
        "life_bytes_per_day", known(w->life_rate_bytes), "bytes_per_day",
        known(w->rate_bytes), "rate_from",
        w->rate_bytes < 0 ? json_null() : json_string(rate->from), "used_percent",
        known(w->used_percent), "used_by", known_text(d->used_by), "rated_bytes",
        known(w->rated_bytes), "rated_is_reckoned", w->is_reckoned, "left_percent",
        known(w->left_percent), "left_bytes", known(w->left_bytes), "state",
        fr_wear_state_name(w->state), "days_left", known(w->days_left));

    return document_print(doc, err);
}

static void print_left(const struct fr_wear *w)
{
    if (w->state == FR_WEAR_OVER)
        printf("left:     nothing: all that it is rated for was written\n");
    else if (w->state == FR_WEAR_NONE)
        printf("left:     a rotating disk, which does not wear by writing\n");
    else if (w->state == FR_WEAR_ENDLESS)
        printf("left:     %.1f %%; nothing is written to it\n", w->left_percent);
    else if (w->state == FR_WEAR_LASTS)
        printf("left:     %.1f %%, %.3f TB, %.0f days (%.1f years) at this rate\n",
               w->left_percent, w->left_bytes / 1e12, w->days_left,
               w->days_left / 365.25);
    else if (w->left_bytes >= 0)
        printf("left:     %.1f %%, %.3f TB; days are not known without a rate "
               "(--write-rate, -S)\n",
               w->left_percent, w->left_bytes / 1e12);
    else if (w->left_percent >= 0)
        printf("left:     %.1f %%; how much that is cannot be told yet (--rated-tb)\n",
               w->left_percent);
    else
        printf("left:     not known: the device does not tell its wear (--rated-tb)\n");
}

static void print_text(const struct fr_smart *d, const struct fr_wear *w,
                       const struct rate *rate)
{
    printf("device:   %s%s%s%s%s\n", d->model[0] == '\0' ? "unknown model" : d->model,
           d->kind[0] == '\0' ? "" : ", ", d->kind, d->device[0] == '\0' ? "" : ", ",
           d->device);
    if (d->failing == 1)
        printf("health:   the device says that it FAILS\n");
    if (d->written_bytes >= 0)
        printf("written:  %.3f TB in its life (%s)\n", d->written_bytes / 1e12,
               d->written_by);
    else
        printf("written:  not told\n");
    if (d->power_on_hours >= 0)
        printf("on:       %.0f hours\n", d->power_on_hours);
    if (w->used_percent >= 0)
        printf("used:     %.1f %% of its endurance%s%s%s\n", w->used_percent,
               d->used_by[0] == '\0' ? "" : " (", d->used_by,
               d->used_by[0] == '\0' ? "" : ")");
    if (w->rated_bytes >= 0)
        printf("rated:    %.1f TB%s\n", w->rated_bytes / 1e12,
               w->is_reckoned ? ", reckoned from what was used" : "");
    if (w->rate_bytes >= 0)
        printf("rate:     %.3f GB a day (%s)\n", w->rate_bytes / 1e9, rate->from);
    print_left(w);
}

static fr_status check_usage(const struct fr_settings *s, const struct fr_arguments *args,
                             struct fr_wear_wish *wish, struct fr_err *err)
{
    double tb;

    wish->rated_bytes = -1;
    if ((s->smart_file == NULL) == (args->count == 0))
        return fr_err_set(err, FR_EARG,
                          "wear needs a device, or --file FILE with its JSON%s",
                          args->count == 0 ? " (lsblk lists devices)" : ", not both");
    if (s->rated_tb == NULL)
        return FR_OK;
    if (fr_num_real(s->rated_tb, max_rated_tb, &tb) != FR_OK || !(tb > 0))
        return fr_err_set(err, FR_EARG, "--rated-tb: \"%s\" is no number of TB",
                          s->rated_tb);
    wish->rated_bytes = tb * 1e12;
    return FR_OK;
}

int command_wear(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    struct fr_wear_wish wish;
    struct fr_smart device;
    struct fr_wear wear;
    struct rate rate;
    fr_status st = check_usage(s, args, &wish, err);

    if (st == FR_OK)
        st = read_smart(s, args, &device, err);
    if (st == FR_OK)
        st = find_rate(s, &rate, err);
    if (st != FR_OK)
        return fr_status_exit(st);
    wish.rate_bytes = rate.bytes_a_day;
    fr_wear_reckon(&device, &wish, &wear);
    if (s->json)
        return fr_status_exit(print_json(&device, &wear, &rate, err));
    print_text(&device, &wear, &rate);
    return 0;
}
