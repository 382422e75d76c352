/*
 * Rows taken by the index (load/index.h, load/direct.h) against the same rows taken one
 * by one by the splitter and the converters: the same bytes in the message or in the
 * cells, on every level of the processor, for every format, whatever the text holds.
 */
#include "base/cpu.h"
#include "base/utf8.h"
#include "load/calendar.h"
#include "load/plan.h"
#include "support/memory_bulk.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s) ((char *)(uintptr_t)(s))

enum {
    COLUMNS = 8,
    OUT_BYTES = 1 << 20,
    TEXT_BYTES = 24 << 10,
    ROUNDS = 12,
    FEW_ROUNDS = 6
};

static const struct fr_column columns[COLUMNS] = {
    {.name = TEXT("i"), .type = FR_TYPE_INT, .nullable = true},
    {.name = TEXT("b"), .type = FR_TYPE_BIGINT},
    {.name = TEXT("d"),
     .type = FR_TYPE_DECIMAL,
     .precision = 12,
     .scale = 3,
     .nullable = true},
    {.name = TEXT("day"), .type = FR_TYPE_DATE, .nullable = true},
    {.name = TEXT("v"), .type = FR_TYPE_VARCHAR, .max_bytes = 90, .nullable = true},
    {.name = TEXT("n"), .type = FR_TYPE_NVARCHAR, .max_bytes = 60, .nullable = true},
    {.name = TEXT("m"), .type = FR_TYPE_DATETIME2, .scale = 3, .nullable = true},
    {.name = TEXT("c"), .type = FR_TYPE_CHAR, .max_bytes = 20, .nullable = true},
};

/* ---- texts ---- */

static uint64_t state;

static uint64_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 29;
}

static uint64_t next_step(void *ctx)
{
    (void)ctx;
    return next_random();
}

static const struct memory_steps steps = {next_step, NULL};

static size_t any_below(size_t n)
{
    return (size_t)(next_random() % n);
}

/* How wild a text is. */
enum mood { TAME, MIXED, WILD };

#define LONG_TEXT                                                                        \
    "a text that is longer than the column may hold, by far, and longer than a block, "  \
    "too: it goes on for some more"

static const char *const odd_values[] = {
    "",
    "x",
    "-",
    "NULL",
    " 7 ",
    "\xC3\xA9\xE2\x82\xAC",
    "1e3",
    "+5",
    ".5",
    "5.",
    "999999999999999999999",
    "\"\"",
    "\"",
    "a\"b",
    "\xFF",
    "\xF0\x9F\x98\x80 and more",
    "\r",
    "0001-01-01",
    "a text that is longer than the column may hold, by far, and longer than a block, "
    "too: "
    "it goes on for some more",
};

/* Characters of every length, and now and then bytes that are none. */
static void make_text_of_scripts(enum mood mood, char out[200])
{
    static const uint32_t borders[] = {0x20,   0x7E,   0x80,   0x7FF,   0x800,   0xFFF,
                                       0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
    static const char *const malformed[] = {"\xC0\x80",     "\xE0\x80\x80",
                                            "\xED\xA0\x80", "\xE2\x82",
                                            "\x80",         "\xF5\x80\x80\x80"};
    size_t n = 0, characters = any_below(40);

    for (size_t i = 0; i < characters; i++) {
        size_t kind = any_below(6);
        uint32_t ch = kind == 0   ? (uint32_t)('a' + any_below(26))
                      : kind == 1 ? (uint32_t)(0x400 + any_below(0x100))
                      : kind == 2 ? (uint32_t)(0x4E00 + any_below(0x1000))
                      : kind == 3 ? (uint32_t)(0x1F600 + any_below(0x40))
                      : kind == 4 ? borders[any_below(COUNT_OF(borders))]
                                  : (uint32_t)' ';

        if (mood == WILD && any_below(200) == 0)
            n += (size_t)snprintf(out + n, 8, "%s",
                                  malformed[any_below(COUNT_OF(malformed))]);
        n += fr_utf8_put(ch, out + n);
    }
    out[n] = '\0';
}

static void make_value(size_t column, enum mood mood, char out[200])
{
    unsigned r = (unsigned)next_random();

    if (mood != TAME && any_below(mood == WILD ? 4 : 40) == 0) {
        snprintf(out, 200, "%s", odd_values[any_below(COUNT_OF(odd_values))]);
        return;
    }
    if (columns[column].type == FR_TYPE_NVARCHAR && mood != TAME) {
        make_text_of_scripts(mood, out);
        return;
    }
    switch (columns[column].type) {
    case FR_TYPE_INT:
        snprintf(out, 200, "%d", (int)(r >> (r & 31)) * ((r & 64) != 0 ? -1 : 1));
        break;
    case FR_TYPE_BIGINT:
        snprintf(out, 200, "%lld", (long long)next_random() * (r & 0xFFF));
        break;
    case FR_TYPE_DECIMAL:
        snprintf(out, 200, (r & 1) != 0 ? "%s%u.%03u" : "%s%u", (r & 6) == 0 ? "-" : "",
                 r >> (r & 31), r % 1000);
        break;
    case FR_TYPE_DATE:
        snprintf(out, 200, "%04u-%02u-%02u", 1800 + r % 500, 1 + (r >> 9) % 12,
                 1 + (r >> 13) % 28);
        break;
    case FR_TYPE_DATETIME2:
        snprintf(out, 200, "%04u-%02u-%02u %02u:%02u:%02u.%03u", 1990 + r % 60,
                 1 + (r >> 9) % 12, 1 + (r >> 13) % 28, r % 24, (r >> 3) % 60,
                 (r >> 5) % 60, (r >> 7) % 1000);
        break;
    default:
        snprintf(out, 200, "%.*s",
                 (int)(r % (columns[column].type == FR_TYPE_CHAR ? 20 : 29)),
                 "carefully final deposits | detect");
        for (char *c = out; *c != '\0'; c++)
            if (*c == '|')
                *c = 'o';
        break;
    }
}

struct shape {
    enum fr_format format;
    const char *field; /* as -t takes it */
    char field_byte;
    bool quotes;
    const char *newline;
    const char *null; /* --null */
    bool trim;
    enum fr_empty empty;
    const char *columns; /* --columns */
};

static const struct shape shapes[] = {
    {.format = FR_FORMAT_DELIMITED, .field = "|", .field_byte = '|', .newline = "\n"},
    {.format = FR_FORMAT_DELIMITED, .field = "|", .field_byte = '|', .newline = "\r\n"},
    {.format = FR_FORMAT_DELIMITED,
     .field = "\\t",
     .field_byte = '\t',
     .newline = "\n",
     .null = "NULL",
     .trim = true,
     .empty = FR_EMPTY_EMPTY},
    {.format = FR_FORMAT_DELIMITED,
     .field = ";",
     .field_byte = ';',
     .newline = "\n",
     .columns = "c,m,n,v,-,day,d,b,i,-"},
    {.format = FR_FORMAT_CSV, .field = ",", .field_byte = ',', .newline = "\n"},
    {.format = FR_FORMAT_CSV,
     .field = ",",
     .field_byte = ',',
     .newline = "\n",
     .quotes = true},
    {.format = FR_FORMAT_CSV,
     .field = ",",
     .field_byte = ',',
     .newline = "\r\n",
     .quotes = true,
     .empty = FR_EMPTY_NULL},
    {.format = FR_FORMAT_BCP, .field = "\\t", .field_byte = '\t', .newline = "\n"},
};

static size_t put_field(const struct shape *s, size_t column, enum mood mood, char *out)
{
    char value[200];
    size_t n = 0;

    make_value(column, mood, value);
    if (s->quotes && any_below(2) == 0) {
        out[n++] = '"';
        for (const char *c = value; *c != '\0'; c++) {
            if (*c == '"' && (mood != WILD || any_below(8) != 0))
                out[n++] = '"';
            out[n++] = *c;
        }
        if (any_below(20) == 0) /* terminators in quotes */
            n += (size_t)snprintf(out + n, 20, "%c%s", s->field_byte, s->newline);
        out[n++] = '"';
        return n;
    }
    return (size_t)snprintf(out, 200, "%s", value);
}

static size_t make_text(const struct shape *s, enum mood mood, char *out)
{
    static const unsigned char order[] = {7, 6, 5, 4, 0, 3, 2, 1, 0, 0};
    size_t fields = s->columns != NULL ? COUNT_OF(order) : COLUMNS, n = 0;

    while (n < TEXT_BYTES - 20 * 240) {
        size_t here = fields;

        if (mood == WILD && any_below(10) == 0)
            here = any_below(fields + 4);
        if (mood != TAME && any_below(50) == 0 && s->format == FR_FORMAT_BCP)
            out[n++] = '\0';
        for (size_t i = 0; i < here; i++) {
            size_t column = s->columns != NULL ? order[i % fields] : i % COLUMNS;

            n += put_field(s, column, mood, out + n);
            if (i + 1 < here)
                out[n++] = s->field_byte;
        }
        n += (size_t)snprintf(out + n, 3, "%s", s->newline);
    }
    if (mood != TAME && any_below(2) == 0)
        n -= any_below(20); /* the last row is cut off */
    return n;
}

/* ---- both ways ---- */

/* The same columns, and in the middle one for the load id, which no field goes to. */
static struct fr_table table_with_id(struct fr_column with_id[COLUMNS + 1])
{
    enum { AT = COLUMNS / 2 };

    memcpy(with_id, columns, AT * sizeof *columns);
    with_id[AT] = (struct fr_column){.name = TEXT("loaded_by"), .type = FR_TYPE_GUID};
    memcpy(with_id + AT + 1, columns + AT, (COLUMNS - AT) * sizeof *columns);
    return (struct fr_table){.quoted = TEXT("[dbo].[t]"),
                             .display = TEXT("dbo.t"),
                             .columns = with_id,
                             .column_count = COLUMNS + 1};
}

static struct fr_plan *new_plan(const struct shape *s, const struct fr_table *table,
                                struct fr_bulk *bulk, struct fr_load_options *o)
{
    struct fr_plan *p = NULL;
    struct fr_err err = {0};
    bool mapped = false;

    fr_load_options_init(o);
    o->format = (int)s->format;
    o->field_terminator = strdup(s->field);
    o->empty = s->empty;
    o->trim = s->trim;
    o->columns = s->columns == NULL ? NULL : strdup(s->columns);
    if (s->null != NULL) {
        o->nulls.items = calloc(1, sizeof *o->nulls.items);
        ck_assert_ptr_nonnull(o->nulls.items);
        o->nulls.items[0] = strdup(s->null);
        o->nulls.count = 1;
    }
    if (table->column_count > COLUMNS)
        o->load_id_column = strdup("Loaded_By");
    ck_assert_msg(fr_plan_new(table, o, 0, &p, &err) == FR_OK, "%s", err.text);
    if (o->load_id_column != NULL)
        ck_assert_int_eq(
            fr_plan_set_load_id(p, "00010203-0405-0607-0809-0a0b0c0d0e0f", &err), FR_OK);
    ck_assert_int_eq(fr_plan_begin_copy(p, bulk, &err), FR_OK);
    if (!fr_plan_is_mapped(p))
        ck_assert_int_eq(fr_plan_map_count(p, COLUMNS, &mapped, &err), FR_OK);
    return p;
}

static void check_text(const struct shape *s, const struct fr_table *t, const char *text,
                       size_t n, bool by_cells, enum mood mood)
{
    struct memory_bulk one, many;
    struct fr_load_options o;
    struct fr_plan *p;
    int64_t rows;

    memory_bulk_init(&one, t->columns, t->column_count, by_cells, 0, OUT_BYTES);
    memory_bulk_init(&many, t->columns, t->column_count, by_cells, any_below(5000),
                     OUT_BYTES);
    p = new_plan(s, t, &one.bulk, &o);
    memory_take_all(p, text, n, NULL, &one);
    fr_plan_free(&p);
    fr_load_options_free(&o);
    p = new_plan(s, t, &many.bulk, &o);
    rows = memory_take_all(p, text, n, &steps, &many);
    fr_plan_free(&p);
    fr_load_options_free(&o);
    ck_assert_msg(one.n == many.n && memcmp(one.out, many.out, one.n) == 0,
                  "%zu bytes row by row, %zu by the index", one.n, many.n);
    if (mood == TAME)
        ck_assert_msg(rows > 40, "the index took %lld rows only", (long long)rows);
    memory_bulk_free(&one);
    memory_bulk_free(&many);
}

START_TEST(test_rows_agree)
{
    struct fr_column with_id[COLUMNS + 1];
    struct fr_table tables[] = {{.quoted = TEXT("[dbo].[t]"),
                                 .display = TEXT("dbo.t"),
                                 .columns = (struct fr_column *)(uintptr_t)columns,
                                 .column_count = COLUMNS},
                                table_with_id(with_id)};
    const struct shape *s = &shapes[_i];
    char *memory = calloc(1, TEXT_BYTES + 2 * FR_WINDOW_SLACK_BYTES);
    char *text = memory + FR_WINDOW_SLACK_BYTES;

    ck_assert_ptr_nonnull(memory);
    state = 88172645463325252u + (uint64_t)_i;
    /* fewer where each takes fifty times as long; both tables and every mood all the same
     */
    for (int round = 0;
         round < (getenv("FULLRACK_FEW_CASES") != NULL ? FEW_ROUNDS : ROUNDS); round++) {
        const struct fr_table *t = &tables[round / 3 % 2];
        enum mood mood = (enum mood)(round % 3);
        size_t n = make_text(s, mood, text);

        for (enum fr_cpu level = FR_CPU_PLAIN; level <= FR_CPU_AVX512; level++) {
            fr_cpu_limit(level);
            check_text(s, t, text, n, false, mood);
            check_text(s, t, text, n, true, mood);
        }
    }
    fr_cpu_limit(FR_CPU_AVX512);
    free(memory);
}
END_TEST

/* Every date that the table of the calendar has, and the years around it. */
START_TEST(test_calendar)
{
    static struct fr_calendar c;
    uint32_t expected = 0, days;
    unsigned wrong = 0;
    static const unsigned length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    fr_calendar_init(&c);
    for (unsigned year = 1; year <= 9999; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

        for (unsigned month = 1; month <= 12; month++) {
            unsigned last = length[month - 1] + (month == 2 && leap ? 1 : 0);

            /* an assertion a date would take most of the suite's time */
            for (unsigned day = 1; day <= last; day++, expected++)
                wrong +=
                    !fr_calendar_days(&c, year, month, day, &days) || days != expected
                        ? 1
                        : 0;
            ck_assert_msg(wrong == 0, "%u dates of %u-%u", wrong, year, month);
            ck_assert(!fr_calendar_days(&c, year, month, 0, &days));
            ck_assert(!fr_calendar_days(&c, year, month, last + 1, &days));
            ck_assert(!fr_calendar_days(&c, year, month, 99, &days));
        }
        ck_assert(!fr_calendar_days(&c, year, 0, 1, &days));
        ck_assert(!fr_calendar_days(&c, year, 13, 1, &days));
        ck_assert(!fr_calendar_days(&c, year, 99, 1, &days));
    }
    ck_assert(!fr_calendar_days(&c, 0, 1, 1, &days));
    ck_assert_uint_eq(expected, 3652059);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rows");
    TCase *tc = tcase_create("rows by the index");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_rows_agree, 0, COUNT_OF(shapes));
    tcase_add_test(tc, test_calendar);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
