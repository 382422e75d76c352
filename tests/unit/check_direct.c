/*
 * The encoder of the wire engine, type by type, and the short way of a row into the
 * message: whatever it writes must be what converter, cell and encoder make of the same
 * text, and what they refuse it must not write.
 */
#include "base/cpu.h"
#include "load/plan.h"
#include "support/suite.h"
#include "wire/encode.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s) ((char *)(uintptr_t)(s))

enum {
    ROOM_BYTES = 512,
    CELL_BYTES = 256,
    RANDOM_ROUNDS = 60000,
    FEW_ROUNDS = 12000, /* where each takes fifty times as long */
    MAX_RANDOM_BYTES = 26,
    MARK = 0xD1
};

/* A bulk copy of one column into memory. */
struct memory_bulk {
    struct fr_bulk bulk; /* first */
    struct fr_cell cell;
    struct {
        int32_t pad, length;
        unsigned char data[CELL_BYTES + FR_BULK_SLACK_BYTES];
    } __attribute__((aligned(8))) memory;
    struct wire_column column;
    unsigned char out[ROOM_BYTES + FR_BULK_SLACK_BYTES];
    size_t n; /* of the row that was committed, without its mark */
};

static unsigned char *encode(const struct fr_bulk *b, size_t column, unsigned char *at)
{
    const struct memory_bulk *m = (const struct memory_bulk *)b;

    (void)column;
    if (m->memory.length == FR_CELL_NULL)
        return wire_encode_null(m->column.form, at);
    if (m->column.encode != NULL)
        return m->column.encode(m->memory.data, at);
    return wire_encode_short(m->memory.data, (size_t)m->memory.length, at);
}

static fr_status room(struct fr_bulk *b, unsigned char **at, size_t *bytes,
                      struct fr_err *err)
{
    (void)err;
    *at = ((struct memory_bulk *)b)->out;
    *bytes = ROOM_BYTES;
    return FR_OK;
}

static void commit(struct fr_bulk *b, const unsigned char *end)
{
    struct memory_bulk *m = (struct memory_bulk *)b;

    ck_assert_uint_eq(m->out[0], MARK);
    m->n = (size_t)(end - m->out) - 1;
}

static fr_status grow(struct fr_bulk *b, size_t column, size_t bytes, struct fr_err *err)
{
    (void)b;
    (void)column;
    return fr_err_set(err, FR_ENOMEM, "%zu bytes", bytes);
}

static const struct fr_bulk_ops memory_ops = {
    .grow = grow, .room = room, .encode = encode, .commit = commit};

/* A text read by both ways. */
struct both {
    fr_status by_cell, direct;
    unsigned char cell_bytes[ROOM_BYTES];
    size_t cell_n;
    struct memory_bulk m;
};

struct setting {
    enum fr_type type;
    int32_t max_bytes;
    uint8_t precision, scale;
    bool not_null;
    enum fr_empty empty;
};

static const char around[] = {'7', '\0', '\xFF', '.', '-'};

static void send_direct(const struct setting *s, struct fr_plan *p,
                        const struct fr_record *rec, struct both *out)
{
    const struct fr_field *f = &rec->fields[0];
    struct fr_err err = {.text = ""};

    out->direct = fr_plan_send_direct(p, rec, &out->m.bulk, &err);
    ck_assert_msg(out->direct == FR_OK || out->direct == FR_EMPTY, "%.*s", (int)f->n,
                  f->p);
    if (out->by_cell != FR_OK)
        ck_assert_msg(out->direct == FR_EMPTY, "type %d wrote \"%.*s\"", s->type,
                      (int)f->n, f->p);
    if (out->direct == FR_OK)
        ck_assert_msg(out->m.n == out->cell_n &&
                          memcmp(out->m.out + 1, out->cell_bytes, out->cell_n) == 0,
                      "type %d: \"%.*s\" came out otherwise", s->type, (int)f->n, f->p);
}

static void read_both(const struct setting *s, const char *text, size_t n, bool quoted,
                      struct both *out)
{
    struct fr_column column = {.name = TEXT("v"),
                               .type_name = TEXT("x"),
                               .type = s->type,
                               .max_bytes = s->max_bytes,
                               .precision = s->precision,
                               .scale = s->scale,
                               .code_page = 1252,
                               .nullable = !s->not_null};
    struct fr_table table = {.quoted = TEXT("[dbo].[t]"),
                             .display = TEXT("dbo.t"),
                             .columns = &column,
                             .column_count = 1};
    struct fr_field field = {.p = text, .n = n, .quoted = quoted};
    struct fr_record rec = {.fields = &field, .count = 1};
    struct fr_load_options o;
    struct fr_plan *p = NULL;
    struct fr_row_error bad;
    struct fr_err err = {.text = ""};
    bool mapped = false;

    memset(out, 0, sizeof *out);
    out->m.bulk = (struct fr_bulk){.ops = &memory_ops,
                                   .cells = &out->m.cell,
                                   .columns = 1,
                                   .direct_bytes = ROOM_BYTES,
                                   .direct_mark = MARK};
    out->m.cell = (struct fr_cell){.length = &out->m.memory.length,
                                   .data = out->m.memory.data,
                                   .capacity_bytes = CELL_BYTES};
    ck_assert_int_eq(wire_column_init(&out->m.column, &column, &err), FR_OK);
    fr_load_options_init(&o);
    o.empty = s->empty;
    for (enum fr_cpu level = FR_CPU_PLAIN; level <= FR_CPU_AVX512; level++) {
        fr_cpu_limit(level);
        ck_assert_int_eq(fr_plan_new(&table, &o, 0, &p, &err), FR_OK);
        ck_assert_int_eq(fr_plan_map_count(p, 1, &mapped, &err), FR_OK);
        field.p = text;
        out->by_cell = fr_plan_convert(p, &rec, &out->m.bulk, &bad, &err);
        if (out->by_cell == FR_OK)
            out->cell_n =
                (size_t)(encode(&out->m.bulk, 0, out->cell_bytes) - out->cell_bytes);
        /* whatever lies around it must not be taken for its own */
        for (size_t i = 0; i < COUNT_OF(around); i++) {
            char roomy[MAX_RANDOM_BYTES + 30 + 2 * FR_WINDOW_SLACK_BYTES];

            ck_assert_uint_le(n, MAX_RANDOM_BYTES + 30);
            memset(roomy, around[i], sizeof roomy);
            memcpy(roomy + FR_WINDOW_SLACK_BYTES, text, n);
            field.p = roomy + FR_WINDOW_SLACK_BYTES;
            send_direct(s, p, &rec, out);
        }
        fr_plan_free(&p);
    }
    fr_cpu_limit(FR_CPU_AVX512);
}

/* Text, or NULL, and the bytes in the stream. */
static const struct {
    struct setting s;
    const char *text;
    const char *hex; /* NULL: refused */
} cases[] = {
    {{.type = FR_TYPE_BIT}, "1", "0101"},
    {{.type = FR_TYPE_BIT}, "", "00"},
    {{.type = FR_TYPE_BIT, .not_null = true}, "", NULL},
    {{.type = FR_TYPE_TINYINT}, "255", "01ff"},
    {{.type = FR_TYPE_TINYINT}, "256", NULL},
    {{.type = FR_TYPE_TINYINT}, "-0", "0100"},
    {{.type = FR_TYPE_TINYINT}, "-1", NULL},
    {{.type = FR_TYPE_SMALLINT}, "-32768", "020080"},
    {{.type = FR_TYPE_SMALLINT}, "32768", NULL},
    {{.type = FR_TYPE_INT}, "2147483647", "04ffffff7f"},
    {{.type = FR_TYPE_INT}, "-2147483648", "0400000080"},
    {{.type = FR_TYPE_INT}, " 12 ", "040c000000"},
    {{.type = FR_TYPE_INT}, "1O", NULL},
    {{.type = FR_TYPE_BIGINT}, "1234567890123456", "08c0ba8a3cd5620400"},
    {{.type = FR_TYPE_BIGINT}, "9223372036854775807", "08ffffffffffffff7f"},
    {{.type = FR_TYPE_REAL}, "1.5", "040000c03f"},
    {{.type = FR_TYPE_FLOAT}, "-2", "0800000000000000c0"},
    {{.type = FR_TYPE_SMALLMONEY}, "1.2345", "0439300000"},
    {{.type = FR_TYPE_MONEY}, "-0.0001", "08ffffffffffffffff"},
    {{.type = FR_TYPE_MONEY}, "429496.7296", "080100000000000000"},
    {{.type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
     "76112.64",
     "110180237400000000000000000000000000"},
    {{.type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
     "-0.05",
     "110005000000000000000000000000000000"},
    {{.type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
     "-0.00",
     "110100000000000000000000000000000000"},
    {{.type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
     "1.235",
     "11017c000000000000000000000000000000"},
    {{.type = FR_TYPE_DECIMAL, .precision = 4, .scale = 2}, "100.00", NULL},
    {{.type = FR_TYPE_DECIMAL, .precision = 38, .scale = 0},
     "18446744073709551616",
     "110100000000000000000100000000000000"},
    {{.type = FR_TYPE_DECIMAL, .precision = 9, .scale = 9},
     "0.000000001",
     "110101000000000000000000000000000000"},
    {{.type = FR_TYPE_DATE}, "1900-01-01", "035b950a"},
    {{.type = FR_TYPE_DATE}, "0001-01-01", "03000000"},
    {{.type = FR_TYPE_DATE}, "9999-12-31", "03dab937"},
    {{.type = FR_TYPE_DATE}, "2024-02-29", "0380460b"},
    {{.type = FR_TYPE_DATE}, "2023-02-29", NULL},
    {{.type = FR_TYPE_DATE}, "2024-13-01", NULL},
    {{.type = FR_TYPE_DATE}, "2024/02/29", NULL},
    {{.type = FR_TYPE_TIME, .scale = 0}, "23:59:59", "037f5101"},
    {{.type = FR_TYPE_TIME, .scale = 7}, "00:00:00.0000001", "050100000000"},
    {{.type = FR_TYPE_DATETIME}, "1900-01-02 00:00:01", "08010000002c010000"},
    {{.type = FR_TYPE_SMALLDATETIME}, "1900-01-02 00:01", "0401000100"},
    {{.type = FR_TYPE_DATETIME2, .scale = 3},
     "0001-01-01 00:00:00.001",
     "0701000000000000"},
    {{.type = FR_TYPE_DATETIMEOFFSET, .scale = 0},
     "0001-01-02 01:00:00+01:00",
     "080000000100003c00"},
    {{.type = FR_TYPE_CHAR, .max_bytes = 3}, "ab", "02006162"},
    {{.type = FR_TYPE_CHAR, .max_bytes = 3}, "abcd", NULL},
    {{.type = FR_TYPE_VARCHAR, .max_bytes = 3}, "", "ffff"},
    {{.type = FR_TYPE_VARCHAR, .max_bytes = 3, .empty = FR_EMPTY_EMPTY}, "", "0000"},
    {{.type = FR_TYPE_VARCHAR, .max_bytes = 3}, "\xC3\xA9 ", "0200e920"},
    {{.type = FR_TYPE_VARCHAR, .max_bytes = 3}, "\xE6\x97\xA5", NULL},
    {{.type = FR_TYPE_NCHAR, .max_bytes = 4}, "ab", "040061006200"},
    {{.type = FR_TYPE_NVARCHAR, .max_bytes = 4}, "\xC3\xA9", "0200e900"},
    {{.type = FR_TYPE_NVARCHAR, .max_bytes = 4}, "abc", NULL},
    {{.type = FR_TYPE_BINARY, .max_bytes = 2}, "0x01ff", "020001ff"},
    {{.type = FR_TYPE_VARBINARY, .max_bytes = 2}, "0x", "0000"},
    {{.type = FR_TYPE_GUID},
     "00112233-4455-6677-8899-aabbccddeeff",
     "1033221100554477668899aabbccddeeff"},
};

START_TEST(test_encoded)
{
    struct both b;
    char hex[2 * ROOM_BYTES + 1] = "";
    size_t n = strlen(cases[_i].text);
    char *exact = malloc(n + 1);

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, cases[_i].text, n);
    read_both(&cases[_i].s, exact, n, false, &b);
    free(exact);
    if (cases[_i].hex == NULL) {
        ck_assert_int_eq(b.by_cell, FR_EDATA);
        return;
    }
    ck_assert_int_eq(b.by_cell, FR_OK);
    for (size_t i = 0; i < b.cell_n; i++)
        snprintf(hex + 2 * i, 3, "%02x", b.cell_bytes[i]);
    ck_assert_str_eq(hex, cases[_i].hex);
    /* every one of these goes the short way, by cell or not */
    ck_assert_int_eq(b.direct, FR_OK);
}
END_TEST

static const struct setting random_settings[] = {
    {.type = FR_TYPE_TINYINT},
    {.type = FR_TYPE_SMALLINT},
    {.type = FR_TYPE_INT, .not_null = true},
    {.type = FR_TYPE_BIGINT},
    {.type = FR_TYPE_DECIMAL, .precision = 15, .scale = 2},
    {.type = FR_TYPE_DECIMAL, .precision = 18, .scale = 8},
    {.type = FR_TYPE_DECIMAL, .precision = 38, .scale = 3},
    {.type = FR_TYPE_DECIMAL, .precision = 3, .scale = 0},
    {.type = FR_TYPE_DECIMAL, .precision = 2, .scale = 2},
    {.type = FR_TYPE_DATE},
    {.type = FR_TYPE_DATETIME2, .scale = 3},
    {.type = FR_TYPE_DATETIME2, .scale = 0},
    {.type = FR_TYPE_DATETIME2, .scale = 7},
    {.type = FR_TYPE_DATETIME},
    {.type = FR_TYPE_CHAR, .max_bytes = 10},
    {.type = FR_TYPE_VARCHAR, .max_bytes = 20, .not_null = true},
    {.type = FR_TYPE_NVARCHAR, .max_bytes = 30, .empty = FR_EMPTY_EMPTY},
    {.type = FR_TYPE_VARBINARY, .max_bytes = 8},
};

/* Texts like numbers and dates, with a slip here and there; repeatable. */
START_TEST(test_both_ways_agree)
{
    static const char *const alphabets[] = {"0123456789", "0123456789.-", "012-",
                                            "0123456789-+.: TZ\xC3\xA9x,"};
    uint64_t state = 88172645463325252u + (uint64_t)_i;
    int rounds = getenv("FULLRACK_FEW_CASES") != NULL ? FEW_ROUNDS : RANDOM_ROUNDS;

    for (int round = 0; round < rounds / (int)COUNT_OF(random_settings); round++) {
        struct both b;
        char *text;
        size_t n;
        const char *letters;
        bool quoted, is_date, has_time;

        state = state * 6364136223846793005u + 1442695040888963407u;
        letters = alphabets[state >> 60 & 3];
        n = (size_t)(state >> 40) % (MAX_RANDOM_BYTES + 1);
        quoted = (state >> 33 & 7) == 0;
        is_date = (state >> 30 & 3) == 0;
        has_time = is_date && (state >> 29 & 1) == 0;
        if (is_date)
            n = has_time ? 19 + (size_t)(state >> 50) % 9 : 10;
        text = malloc(n + 1);
        ck_assert_ptr_nonnull(text);
        if (is_date)
            snprintf(text, n + 1, "%04u-%02u-%02u%c%02u:%02u:%02u.%07u",
                     (unsigned)(state >> 20 & 4095), (unsigned)(state >> 16 & 15) % 14,
                     (unsigned)(state >> 8 & 31), (state & 1) != 0 ? 'T' : ' ',
                     (unsigned)(state >> 3 & 31) % 26, (unsigned)(state >> 12 & 63) % 61,
                     (unsigned)(state >> 14 & 63) % 61,
                     (unsigned)(state >> 25) % 10000000u);
        for (size_t i = 0; !is_date && i < n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            text[i] = letters[(state >> 33) % strlen(letters)];
        }
        read_both(&random_settings[_i], text, n, quoted, &b);
        free(text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("direct");
    TCase *tc = tcase_create("rows into the message");

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, test_encoded, 0, COUNT_OF(cases));
    tcase_add_loop_test(tc, test_both_ways_agree, 0, COUNT_OF(random_settings));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
