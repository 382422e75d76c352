/* encode_rows FILE [ROUNDS [LEVEL]] - LineItem split, converted and encoded for the wire,
 * nothing sent, against a loop that only calls memchr for every terminator, over the same
 * bytes in memory.
 *
 * Prints the best time of each per row in ns, in turns, for each level of vector
 * instructions that the machine has, and the ratio of the rates (bench_encode.py makes
 * the file and says what is wanted). */
#include "base/clock.h"
#include "base/cpu.h"
#include "support/memory_bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COLUMNS = 16,
    OUT_BYTES = 256 << 10,
    ROOM_BYTES = 64 << 10,
    STRETCH_ROWS = 1024,
    LEVELS = 3
};

#define TEXT(s) ((char *)(uintptr_t)(s))

static struct fr_column lineitem[COLUMNS] = {
    {.name = TEXT("l_orderkey"), .type = FR_TYPE_BIGINT},
    {.name = TEXT("l_partkey"), .type = FR_TYPE_INT},
    {.name = TEXT("l_suppkey"), .type = FR_TYPE_INT},
    {.name = TEXT("l_linenumber"), .type = FR_TYPE_INT},
    {.name = TEXT("l_quantity"), .type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
    {.name = TEXT("l_extendedprice"),
     .type = FR_TYPE_DECIMAL,
     .precision = 15,
     .scale = 2},
    {.name = TEXT("l_discount"), .type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
    {.name = TEXT("l_tax"), .type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
    {.name = TEXT("l_returnflag"), .type = FR_TYPE_CHAR, .max_bytes = 1},
    {.name = TEXT("l_linestatus"), .type = FR_TYPE_CHAR, .max_bytes = 1},
    {.name = TEXT("l_shipdate"), .type = FR_TYPE_DATE},
    {.name = TEXT("l_commitdate"), .type = FR_TYPE_DATE},
    {.name = TEXT("l_receiptdate"), .type = FR_TYPE_DATE},
    {.name = TEXT("l_shipinstruct"), .type = FR_TYPE_CHAR, .max_bytes = 25},
    {.name = TEXT("l_shipmode"), .type = FR_TYPE_CHAR, .max_bytes = 10},
    {.name = TEXT("l_comment"), .type = FR_TYPE_VARCHAR, .max_bytes = 44},
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *what, const struct fr_err *err)
{
    fprintf(stderr, "encode_rows: %s: %s\n", what, err == NULL ? "" : err->text);
    exit(1);
}

/* Rows that were encoded; all that the text has, or the file is not LineItem. */
static int64_t encode_all(struct memory_bulk *s, const char *p, size_t n)
{
    struct fr_table table = {.quoted = TEXT("[dbo].[lineitem]"),
                             .display = TEXT("dbo.lineitem"),
                             .columns = lineitem,
                             .column_count = COLUMNS};
    struct fr_window text = {.p = p, .n = n, .generation = 1};
    struct fr_load_options o;
    struct fr_plan *plan = NULL;
    struct fr_err err = {0};
    int64_t rows = 0;
    bool mapped = false;

    fr_load_options_init(&o);
    o.format = FR_FORMAT_DELIMITED;
    o.field_terminator = TEXT("|");
    if (fr_plan_new(&table, &o, 0, &plan, &err) != FR_OK ||
        fr_plan_map_count(plan, COLUMNS, &mapped, &err) != FR_OK)
        die("plan", &err);
    while (text.n > 0) {
        struct fr_direct_run run = {.max_rows = STRETCH_ROWS, .max_bytes = UINT64_MAX};

        if (fr_plan_send_rows(plan, &text, &s->bulk, &run, &err) != FR_OK)
            die("encoding", &err);
        if (run.rows == 0)
            die("a row was not taken", NULL);
        text.p += run.bytes;
        text.n -= run.bytes;
        rows += run.rows;
    }
    fr_plan_free(&plan);
    return rows;
}

static int64_t find_all(const char *p, size_t n)
{
    const char *end = p + n;
    int64_t rows = 0;

    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));

        if (stop == NULL)
            break;
        for (const char *bar = p; bar != NULL;) {
            bar = memchr(bar, '|', (size_t)(stop - bar));
            if (bar != NULL)
                bar++;
        }
        p = stop + 1;
        rows++;
    }
    return rows;
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    char *p = NULL;

    if (f != NULL && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    if (size >= 0)
        p = calloc(1, (size_t)size + 2 * FR_WINDOW_SLACK_BYTES);
    if (p == NULL || fseek(f, 0, SEEK_SET) != 0 ||
        fread(p + FR_WINDOW_SLACK_BYTES, 1, (size_t)size, f) != (size_t)size)
        die(path, NULL);
    fclose(f);
    *n = (size_t)size;
    return p + FR_WINDOW_SLACK_BYTES;
}

int main(int argc, char **argv)
{
    static const char *const names[LEVELS] = {"plain", "avx2", "avx512"};
    int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    enum fr_cpu first = FR_CPU_PLAIN, best = fr_cpu_level();
    double find_ns = 1e99, encode_ns[LEVELS] = {1e99, 1e99, 1e99};
    struct memory_bulk s;
    char *text;
    size_t n;

    if (argc < 2)
        return 2;
    text = read_all(argv[1], &n);
    for (size_t i = 0; i < COLUMNS; i++) {
        lineitem[i].type_name = TEXT("x");
        lineitem[i].code_page = 1252;
    }
    memory_bulk_init(&s, lineitem, COLUMNS, false, ROOM_BYTES, OUT_BYTES);
    s.wraps = true;
    for (int level = FR_CPU_PLAIN; argc > 3 && level <= (int)best && level < LEVELS;
         level++)
        if (strcmp(argv[3], names[level]) == 0)
            first = best = (enum fr_cpu)level;
    for (int round = 0; round < rounds; round++) {
        double start = seconds(), ns;
        int64_t rows = find_all(text, n);

        ns = (seconds() - start) * 1e9 / (double)rows;
        find_ns = ns < find_ns ? ns : find_ns;
        for (int level = (int)first; level <= (int)best && level < LEVELS; level++) {
            fr_cpu_limit((enum fr_cpu)level);
            start = seconds();
            if (encode_all(&s, text, n) != rows)
                die("rows were lost", NULL);
            ns = (seconds() - start) * 1e9 / (double)rows;
            encode_ns[level] = ns < encode_ns[level] ? ns : encode_ns[level];
        }
    }
    printf("{\"memchr_ns\": %.1f", find_ns);
    for (int level = (int)first; level <= (int)best && level < LEVELS; level++)
        printf(", \"%s_ns\": %.1f, \"%s_rate_to_memchr\": %.2f", names[level],
               encode_ns[level], names[level], find_ns / encode_ns[level]);
    printf("}\n");
    free(text - FR_WINDOW_SLACK_BYTES);
    memory_bulk_free(&s);
    return 0;
}
