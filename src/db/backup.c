/* BACKUP DATABASE: see backup.h. */
#include "db/backup.h"

#include "base/num.h"
#include "base/sql_text.h"
#include "db/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PAGE_BYTES = 8192 };

/* ---- devices ---- */

static bool is_url(const char *dir)
{
    return strncasecmp(dir, "https://", 8) == 0;
}

/* How its files are parted from it: a server on Windows has other folders. */
static char separator(const char *dir)
{
    bool windows = strchr(dir, '\\') != NULL || (dir[0] != '\0' && dir[1] == ':');

    return windows && !is_url(dir) ? '\\' : '/';
}

static bool parse_speed(const char *text, double *out)
{
    return fr_num_real(text, 1e9, out) == FR_OK && *out > 0;
}

fr_status fr_backup_device_parse(const char *text, struct fr_backup_device *out,
                                 struct fr_err *err)
{
    const char *equals = strrchr(text, '=');
    size_t n = equals == NULL ? strlen(text) : (size_t)(equals - text);

    memset(out, 0, sizeof *out);
    out->speed = 1;
    if (equals != NULL && !parse_speed(equals + 1, &out->speed))
        return fr_err_set(err, FR_EARG,
                          "--to %s: \"%s\" is no speed: give a number above 0, or DIR "
                          "alone",
                          text, equals + 1);
    while (n > 1 && text[n - 1] == separator(text))
        n--;
    if (n == 0)
        return fr_err_set(err, FR_EARG, "--to %s: give a folder of the server's", text);
    if (n >= sizeof out->dir)
        return fr_err_set(err, FR_EARG, "--to: the folder's name is too long");
    snprintf(out->dir, sizeof out->dir, "%.*s", (int)n, text);
    return FR_OK;
}

static double sum_of_speeds(const struct fr_backup_device *d, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += d[i].speed;
    return sum;
}

/* One on the slowest device, on the others as many times as they are faster. */
static unsigned choose_stripes(const struct fr_backup_device *d, size_t n)
{
    double slowest = d[0].speed, stripes;

    for (size_t i = 1; i < n; i++)
        slowest = d[i].speed < slowest ? d[i].speed : slowest;
    stripes = round(sum_of_speeds(d, n) / slowest);
    return stripes > FR_BACKUP_MAX_STRIPES ? FR_BACKUP_MAX_STRIPES : (unsigned)stripes;
}

/* The device that would be the least loaded with one stripe more. */
static size_t next_device(const struct fr_backup_device *d, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if ((d[i].stripes + 1) / d[i].speed < (d[best].stripes + 1) / d[best].speed)
            best = i;
    return best;
}

fr_status fr_backup_distribute(struct fr_backup_device *d, size_t n, unsigned stripes,
                               struct fr_err *err)
{
    if (n == 0 || n > FR_BACKUP_MAX_STRIPES)
        return fr_err_set(err, FR_EARG, "give from 1 to %d folders to back up to",
                          FR_BACKUP_MAX_STRIPES);
    if (stripes == 0)
        stripes = choose_stripes(d, n);
    if (stripes < n || stripes > FR_BACKUP_MAX_STRIPES)
        return fr_err_set(err, FR_EARG,
                          "%u stripes on %zu folders: give at least one a folder, and "
                          "at most %d",
                          stripes, n, FR_BACKUP_MAX_STRIPES);
    for (size_t i = 0; i < n; i++)
        d[i].stripes = 1;
    for (unsigned left = stripes - (unsigned)n; left > 0; left--)
        d[next_device(d, n)].stripes++;
    return FR_OK;
}

unsigned fr_backup_stripes(const struct fr_backup *b)
{
    unsigned sum = 0;

    for (size_t i = 0; i < b->device_count; i++)
        sum += b->devices[i].stripes;
    return sum;
}

/* ---- statements ---- */

static void add_stripe(struct fr_buf *out, const struct fr_backup *b,
                       const struct fr_backup_device *d, unsigned number)
{
    char path[FR_BACKUP_DIR_BYTES + FR_BACKUP_NAME_BYTES + 32];

    snprintf(path, sizeof path, "%s%c%s.%u.bak", strcmp(d->dir, "/") == 0 ? "" : d->dir,
             separator(d->dir), b->name, number);
    fr_buf_printf(out, "%s%s = ", number == 1 ? "" : ",\n   ",
                  is_url(d->dir) ? "URL" : "DISK");
    (void)fr_sql_add_literal(out, path);
}

/* Round after round over the devices: what comes in the order of the stripes comes to
 * all of them from the start. */
static void add_stripes(struct fr_buf *out, const struct fr_backup *b)
{
    unsigned number = 0, total = fr_backup_stripes(b);

    for (unsigned round = 0; number < total; round++)
        for (size_t i = 0; i < b->device_count; i++)
            if (b->devices[i].stripes > round)
                add_stripe(out, b, &b->devices[i], ++number);
}

static fr_status check(const struct fr_backup *b, struct fr_err *err)
{
    if (strpbrk(b->name, "/\\") != NULL || b->name[0] == '\0' ||
        strlen(b->name) >= FR_BACKUP_NAME_BYTES)
        return fr_err_set(err, FR_EARG, "\"%s\" cannot be the name of backup files",
                          b->name);
    for (size_t i = 1; i < b->device_count; i++)
        if (is_url(b->devices[i].dir) != is_url(b->devices[0].dir))
            return fr_err_set(err, FR_EARG,
                              "a backup goes to folders or to URLs, not to both: %s, %s",
                              b->devices[0].dir, b->devices[i].dir);
    return FR_OK;
}

static fr_status finish(const struct fr_buf *out, struct fr_err *err)
{
    return fr_buf_text(out) != NULL && !out->failed
               ? FR_OK
               : fr_err_set(err, FR_ENOMEM, "no memory for the statement of a backup");
}

fr_status fr_backup_sql(const struct fr_backup *b, struct fr_buf *out, struct fr_err *err)
{
    char quoted[2 * FR_NAME_MAX_BYTES];
    fr_status st = check(b, err);

    if (st == FR_OK && !fr_name_quote(b->database, quoted, sizeof quoted))
        st = fr_err_set(err, FR_EARG, "the database's name is too long");
    if (st != FR_OK)
        return st;
    fr_buf_printf(out, "BACKUP DATABASE %s\nTO ", quoted);
    add_stripes(out, b);
    fr_buf_add_str(out, b->keeps_existing ? "\nWITH CHECKSUM"
                                          : "\nWITH FORMAT, INIT, CHECKSUM");
    if (b->copy_only)
        fr_buf_add_str(out, ", COPY_ONLY");
    if (b->compression == FR_BACKUP_COMPRESSED)
        fr_buf_add_str(out, ", COMPRESSION");
    if (b->compression == FR_BACKUP_PLAIN)
        fr_buf_add_str(out, ", NO_COMPRESSION");
    if (b->buffer_count > 0)
        fr_buf_printf(out, ", BUFFERCOUNT = %lld", (long long)b->buffer_count);
    if (b->transfer_bytes > 0)
        fr_buf_printf(out, ", MAXTRANSFERSIZE = %lld", (long long)b->transfer_bytes);
    if (b->block_bytes > 0)
        fr_buf_printf(out, ", BLOCKSIZE = %lld", (long long)b->block_bytes);
    fr_buf_add_str(out, ", STATS = 10;\n");
    return finish(out, err);
}

fr_status fr_backup_verify_sql(const struct fr_backup *b, struct fr_buf *out,
                               struct fr_err *err)
{
    fr_status st = check(b, err);

    if (st != FR_OK)
        return st;
    fr_buf_add_str(out, "RESTORE VERIFYONLY\nFROM ");
    add_stripes(out, b);
    fr_buf_add_str(out, "\nWITH CHECKSUM;\n");
    return finish(out, err);
}

/* ---- what the server says ---- */

/* Digits, then `after`; *p is moved behind both. */
static bool take_number(const char **p, const char *after, int64_t *out)
{
    size_t n = strspn(*p, "0123456789");
    char digits[20];

    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, *p, n);
    digits[n] = '\0';
    if (fr_num_i64(digits, 0, INT64_MAX / PAGE_BYTES, out) != FR_OK ||
        strncmp(*p + n, after, strlen(after)) != 0)
        return false;
    *p += n + strlen(after);
    return true;
}

void fr_backup_take_message(struct fr_backup_figures *f, const char *text)
{
    static const char begin[] = "BACKUP DATABASE successfully processed ";
    int64_t pages, s, ms, mb, thousandths;
    const char *p = text;

    if (strncmp(text, "The backup set on file ", 23) == 0 &&
        strstr(text, " is valid.") != NULL)
        f->verified = true;
    if (strncmp(p, begin, sizeof begin - 1) != 0)
        return;
    p += sizeof begin - 1;
    if (!take_number(&p, " pages in ", &pages) || !take_number(&p, ".", &s) ||
        !take_number(&p, " seconds (", &ms) || !take_number(&p, ".", &mb) ||
        !take_number(&p, " MB/sec)", &thousandths) || ms > 999 || thousandths > 999 ||
        s > INT64_MAX / 1000 - 1)
        return;
    f->found = true;
    f->pages = pages;
    f->bytes = pages * PAGE_BYTES;
    f->duration_ms = s * 1000 + ms;
    f->mb_per_s = (double)mb + (double)thousandths / 1000;
}
