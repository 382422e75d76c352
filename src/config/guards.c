#include "config/guards.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ITEM_BYTES = 64, RESUME_PERCENT = 95 };

static const struct {
    const char *name;
    bool is_percent; /* else KiB */
    const char *example, *subject;
    bool of_database; /* its name follows the subject */
} kinds[FR_GUARD_COUNT] = {
    [FR_GUARD_LOG] = {"log", true, "log>80%", "the log of ", true},
    [FR_GUARD_SEND_QUEUE] = {"send-queue", false, "send-queue>500MB",
                             "the availability group's send queue of ", true},
    [FR_GUARD_TEMPDB] = {"tempdb", true, "tempdb>90%", "tempdb", false},
};

const char *fr_guard_name(enum fr_guard g)
{
    return kinds[g].name;
}

static enum fr_guard find(const char *p, size_t n)
{
    enum fr_guard g = 0;

    while (g < FR_GUARD_COUNT &&
           (strlen(kinds[g].name) != n || memcmp(kinds[g].name, p, n) != 0))
        g++;
    return g;
}

static bool parse_percent(char *text, int64_t *out)
{
    size_t n = strlen(text);
    int64_t percent;

    if (n == 0 || text[n - 1] != '%')
        return false;
    text[n - 1] = '\0';
    if (fr_num_i64(text, 1, 99, &percent) != FR_OK)
        return false;
    *out = 10 * percent;
    return true;
}

/* As other sizes, and with a B behind them. */
static bool parse_size(char *text, int64_t *out)
{
    size_t n = strlen(text);
    uint64_t bytes;

    if (n > 1 && text[n - 1] == 'B' && strchr("iB", text[n - 2]) == NULL)
        text[n - 1] = '\0';
    if (fr_num_size(text, INT64_MAX, &bytes) != FR_OK || bytes < 1024)
        return false;
    *out = (int64_t)(bytes / 1024);
    return true;
}

/* One of WHAT>LIMIT, cut out of the list. */
static fr_status parse_item(char *item, struct fr_guards *out, struct fr_err *err)
{
    char *limit = strchr(item, '>');
    char copy[ITEM_BYTES];
    size_t n = limit == NULL ? strlen(item) : (size_t)(limit - item);
    enum fr_guard g = find(item, n);

    if (g == FR_GUARD_COUNT)
        return fr_err_set(
            err, FR_EARG,
            "\"%.*s\" is nothing to pause by; there are log, send-queue and "
            "tempdb, as in 'log>80%%,send-queue>500MB,tempdb>90%%'",
            (int)n, item);
    if (limit == NULL)
        return fr_err_set(err, FR_EARG,
                          "\"%s\" has no limit: write '%s', in quotes, since > means "
                          "something to the shell",
                          item, kinds[g].example);
    if (out->limit[g] != 0)
        return fr_err_set(err, FR_EARG, "\"%s\" stands there twice", kinds[g].name);
    snprintf(copy, sizeof copy, "%s", limit + 1);
    if (!(kinds[g].is_percent ? parse_percent : parse_size)(copy, &out->limit[g]))
        return fr_err_set(err, FR_EARG, "\"%s\": the limit is %s: '%s'", item,
                          kinds[g].is_percent ? "1% to 99%"
                                              : "a size from 1K on (K, M, G, T)",
                          kinds[g].example);
    return FR_OK;
}

fr_status fr_guards_parse(const char *text, struct fr_guards *out, struct fr_err *err)
{
    fr_status st = FR_OK;

    *out = (struct fr_guards){{0}};
    if (text == NULL)
        return FR_OK;
    for (const char *p = text; st == FR_OK; p++) {
        char item[ITEM_BYTES];
        size_t n = strcspn(p, ",");

        if (n >= sizeof item)
            return fr_err_set(err, FR_EARG, "\"%.*s...\" is too long", ITEM_BYTES / 2, p);
        memcpy(item, p, n);
        item[n] = '\0';
        st = parse_item(item, out, err);
        p += n;
        if (*p == '\0')
            break;
    }
    return st;
}

enum fr_guard fr_guards_judge(const struct fr_guards *guards,
                              const int64_t figures[FR_GUARD_COUNT], bool is_paused)
{
    enum fr_guard g = 0;

    for (; g < FR_GUARD_COUNT; g++) {
        int64_t limit = guards->limit[g];

        if (limit > 0 && figures[g] > (is_paused ? limit / 100 * RESUME_PERCENT +
                                                       limit % 100 * RESUME_PERCENT / 100
                                                 : limit))
            break;
    }
    return g;
}

static void figure_text(bool is_percent, int64_t figure, char *out, size_t bytes)
{
    if (is_percent && figure % 10 == 0)
        snprintf(out, bytes, "%" PRId64 " %%", figure / 10);
    else if (is_percent)
        snprintf(out, bytes, "%" PRId64 ".%" PRId64 " %%", figure / 10, figure % 10);
    else if (figure >= 10 * 1024)
        snprintf(out, bytes, "%" PRId64 " MiB", figure / 1024);
    else
        snprintf(out, bytes, "%" PRId64 " KiB", figure);
}

const char *fr_guard_text(const struct fr_guards *guards, enum fr_guard g, int64_t figure,
                          const char *database, char out[FR_GUARD_TEXT_BYTES])
{
    char now[40], limit[40], subject[200];

    figure_text(kinds[g].is_percent, figure, now, sizeof now);
    figure_text(kinds[g].is_percent, guards->limit[g], limit, sizeof limit);
    snprintf(subject, sizeof subject, "%s%s", kinds[g].subject,
             kinds[g].of_database ? database : "");
    snprintf(out, FR_GUARD_TEXT_BYTES, "%s is %s%s (limit %s)", subject, now,
             kinds[g].is_percent ? " full" : " long", limit);
    return out;
}
