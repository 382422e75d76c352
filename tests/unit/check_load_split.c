#include "load/split.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Formats of these tables alone: csv with the escape \\, and with the quote itself. */
enum { CSV_ESCAPED = 100, CSV_ESCAPED_BY_QUOTE, DELIMITED_ESCAPED };

/* A row as text: fields between < and >, " in front of quoted ones; ! and a word for a
 * bad row, ~ for a blank one. */
static const struct {
    const char *name;
    int64_t format;
    const char *field, *row;
    const char *in;
    const char *want;
} split_cases[] = {
    {"plain", FR_FORMAT_DELIMITED, NULL, NULL, "a\tb\nc\td\n", "<a><b>;<c><d>;"},
    {"crlf", FR_FORMAT_DELIMITED, NULL, NULL, "a\tb\r\nc\td\r\n", "<a><b>;<c><d>;"},
    {"no end", FR_FORMAT_DELIMITED, NULL, NULL, "a\tb", "<a><b>;"},
    {"empty fields", FR_FORMAT_DELIMITED, NULL, NULL, "\t\n", "<><>;"},
    {"lone cr is data", FR_FORMAT_DELIMITED, NULL, NULL, "a\rb\tc\n", "<a\rb><c>;"},
    {"explicit crlf", FR_FORMAT_DELIMITED, NULL, "\\r\\n", "a\nb\r\nc\r\n",
     "<a\nb>;<c>;"},
    {"two bytes", FR_FORMAT_DELIMITED, "||", "##", "1||a|b##2||##", "<1><a|b>;<2><>;"},
    {"overlap", FR_FORMAT_DELIMITED, "||", "##", "a|||b###c", "<a><|b>;<#c>;"},
    {"hex row is exact", FR_FORMAT_DELIMITED, "0x1f", "0x0a",
     "a\x1f"
     "b\r\n",
     "<a><b\r>;"},
    {"loose newline inside", FR_FORMAT_DELIMITED, "+|", "&|\\n", "1+|a&|\r\n2+|b&|\n",
     "<1><a>;<2><b>;"},
    {"dbgen's last bar", FR_FORMAT_DELIMITED, "|", "|\\n", "1|2|\n3|4|\n",
     "<1><2>;<3><4>;"},
    {"row end wins", FR_FORMAT_DELIMITED, NULL, NULL, "a\nb\tc\n", "<a>;<b><c>;"},
    {"csv", FR_FORMAT_CSV, NULL, NULL, "a,\"b\",c\n", "<a><\"b><c>;"},
    {"csv crlf", FR_FORMAT_CSV, NULL, NULL, "a,\"b\"\r\nc,d\r\n", "<a><\"b>;<c><d>;"},
    {"csv newline in quotes", FR_FORMAT_CSV, NULL, NULL, "1,\"x\ny\"\n2,\"a\r\nb\"\n",
     "<1><\"x\ny>;<2><\"a\r\nb>;"},
    {"csv doubled quote", FR_FORMAT_CSV, NULL, NULL, "\"a \"\"b\"\", c\"\n",
     "<\"a \"b\", c>;"},
    {"csv only quotes", FR_FORMAT_CSV, NULL, NULL, "\"\",\"\"\"\"\n", "<\"><\"\">;"},
    {"csv quote in plain field", FR_FORMAT_CSV, NULL, NULL, "5\" pipe,x\n",
     "<5\" pipe><x>;"},
    {"csv text behind quote", FR_FORMAT_CSV, NULL, NULL, "\"ab\"c,d\n2,3\n",
     "!text;<2><3>;"},
    {"csv never closed", FR_FORMAT_CSV, NULL, NULL, "1,2\n3,\"x\n4,5\n",
     "<1><2>;!quoted;"},
    {"csv blank lines", FR_FORMAT_CSV, NULL, NULL, "\na,b\n\r\n", "~;<a><b>;~;"},
    {"csv quoted empty line is a row", FR_FORMAT_CSV, NULL, NULL, "\"\"\n", "<\">;"},
    {"csv trailing comma", FR_FORMAT_CSV, NULL, NULL, "a,\n", "<a><>;"},
    {"csv multi-byte field end", FR_FORMAT_CSV, "::", NULL, "a::\"b::c\"::d\n",
     "<a><\"b::c><d>;"},
    {"bcp newline in a field", FR_FORMAT_BCP, NULL, NULL, "1\tx\ny\t3\n4\t5\t6\n",
     "<1><x\ny><3>;<4><5><6>;"},
    {"bcp cut off", FR_FORMAT_BCP, NULL, NULL, "1\t2\t3\n4\t5", "<1><2><3>;!ends;"},
    {"nothing", FR_FORMAT_DELIMITED, NULL, NULL, "", ""},
    {"escaped quote", CSV_ESCAPED, NULL, NULL, "\"a \\\"b\\\", c\",d\n",
     "<\"a \"b\", c><d>;"},
    {"escaped escape", CSV_ESCAPED, NULL, NULL, "\"C:\\\\\",x\n", "<\"C:\\><x>;"},
    {"escaped field and row end", CSV_ESCAPED, NULL, NULL, "a\\,b\\\nc,\"d\\\ne\"\n",
     "<a,b\nc><\"d\ne>;"},
    {"doubled quotes stay possible", CSV_ESCAPED, NULL, NULL, "\"a\"\"b\"\n",
     "<\"a\"b>;"},
    {"escape before a letter", CSV_ESCAPED, NULL, NULL, "\"a\\nb\",\\N\n", "<?><?>;"},
    {"escape at the end", CSV_ESCAPED, NULL, NULL, "a\\", "!ends;"},
    {"escaped CRLF", DELIMITED_ESCAPED, NULL, NULL, "a\\\r\nb\tc\r\nd\\\re\r\n",
     "<a\r\nb><c>;<d\re>;"},
    {"escaped CR at the end", DELIMITED_ESCAPED, NULL, NULL, "a\\\r", "<a\r>;"},
    {"escaped CRLF of exact rows", DELIMITED_ESCAPED, NULL, "0x0a", "a\\\r\nb\n",
     "<a\r>;<b>;"},
    {"escape at the end of a quoted field", CSV_ESCAPED, NULL, NULL, "1,\"a\\",
     "!quoted;"},
    {"the quote as escape", CSV_ESCAPED_BY_QUOTE, NULL, NULL, "\"a\"\"b\\\"\n",
     "<\"a\"b\\>;"},
    {"no escape: a backslash is data", FR_FORMAT_CSV, NULL, NULL, "\"C:\\\",\\x\n",
     "<\"C:\\><\\x>;"},
    {"escapes without quotes", DELIMITED_ESCAPED, NULL, NULL,
     "a\\tb\tc\\\td\\\\\te\\\nf\n\"\t\n", "<a\tb><c\td\\><e\nf>;<\"><>;"},
    {"escaped letters", DELIMITED_ESCAPED, NULL, NULL,
     "\\b\\f\\n\\r\\v\\Z\t\\x41\t\\N\n\n", "<\b\f\n\r\v\x1A><?><?>;<>;"},
    {"rows end with CR", FR_FORMAT_CSV, NULL, "\\r", "a,b\r\"c\rd\",e\r\r",
     "<a><b>;<\"c\rd><e>;~;"},
    {"mixed row ends", FR_FORMAT_CSV, NULL, NULL, "a\r\nb\nc\r\n", "<a>;<b>;<c>;"},
};

static void describe(const struct fr_splitter *s, const struct fr_record *rec, char *out,
                     size_t out_bytes)
{
    size_t at = strlen(out);

    if (rec->bad != NULL) {
        const char *word = strstr(rec->bad, "text") != NULL      ? "text"
                           : strstr(rec->bad, "closing") != NULL ? "quoted"
                                                                 : "ends";

        snprintf(out + at, out_bytes - at, "!%s;", word);
        return;
    }
    if (rec->blank) {
        snprintf(out + at, out_bytes - at, "~;");
        return;
    }
    for (size_t i = 0; i < rec->count; i++) {
        char plain[100] = "";
        const struct fr_field *f = &rec->fields[i];
        size_t n = f->n;

        if (!f->has_quotes)
            memcpy(plain, f->p, n);
        else if (!fr_field_unquote(s, f, plain, &n))
            n = (size_t)snprintf(plain, sizeof plain, "?");
        at = strlen(out);
        snprintf(out + at, out_bytes - at, "<%s%.*s>",
                 f->quoted && strcmp(plain, "?") != 0 ? "\"" : "", (int)n, plain);
    }
    at = strlen(out);
    snprintf(out + at, out_bytes - at, ";");
}

/* Split with the input arriving `step` bytes at a time, as it does at the borders of
 * blocks. */
static void split_all(int i, size_t step, char *out, size_t out_bytes)
{
    struct fr_field fields[FR_MAX_FIELDS];
    struct fr_record rec = {.fields = fields};
    struct fr_splitter *s = NULL;
    struct fr_load_options o;
    struct fr_err err;
    const char *p = split_cases[i].in;
    size_t left = strlen(p), shown = 0;
    char *window = NULL;
    char backslash[] = "\\", quote[] = "\"";

    fr_load_options_init(&o);
    o.format = split_cases[i].format == DELIMITED_ESCAPED ? FR_FORMAT_DELIMITED
               : split_cases[i].format >= CSV_ESCAPED     ? FR_FORMAT_CSV
                                                          : split_cases[i].format;
    o.field_terminator = (char *)(uintptr_t)split_cases[i].field;
    o.row_terminator = (char *)(uintptr_t)split_cases[i].row;
    o.escape = split_cases[i].format == CSV_ESCAPED_BY_QUOTE ? quote
               : split_cases[i].format >= CSV_ESCAPED        ? backslash
                                                             : NULL;
    ck_assert_int_eq(fr_splitter_new(&o, 3, &s, &err), FR_OK);
    out[0] = '\0';
    for (;;) {
        enum fr_split_result got;
        char *moved = malloc(shown + 1);

        /* the reader moves a row that does not end: its bytes lie elsewhere each time */
        memcpy(moved, p, shown);
        free(window);
        window = moved;
        got = fr_split_next(s, window, shown, shown == left, &rec);
        if (got == FR_SPLIT_END)
            break;
        if (got == FR_SPLIT_MORE) {
            ck_assert_msg(shown < left, "%s: wants more than there is",
                          split_cases[i].name);
            shown = shown + step < left ? shown + step : left;
            continue;
        }
        ck_assert_uint_le(rec.total_bytes, shown);
        ck_assert_uint_gt(rec.total_bytes, 0);
        ck_assert_uint_le(rec.body_bytes, rec.total_bytes);
        describe(s, &rec, out, out_bytes);
        p += rec.total_bytes;
        left -= rec.total_bytes;
        shown -= rec.total_bytes;
    }
    free(window);
    fr_splitter_free(&s);
}

START_TEST(test_split)
{
    char got[400];

    for (size_t step = 1; step < 40; step += step < 8 ? 1 : 13) {
        split_all(_i, step, got, sizeof got);
        ck_assert_msg(strcmp(got, split_cases[_i].want) == 0,
                      "%s, %zu bytes a step: %s, expected %s", split_cases[_i].name, step,
                      got, split_cases[_i].want);
    }
}
END_TEST

/* A row that grows block by block is looked at once, however many blocks it takes. */
static const struct {
    enum fr_format format;
    const char *end;
} long_rows[] = {
    {FR_FORMAT_CSV, "\"\n"},
    {FR_FORMAT_DELIMITED, "\n"},
    {FR_FORMAT_BCP, "\n"},
};

START_TEST(test_long_row_is_scanned_once)
{
    enum { STEP = 64 << 10, BYTES = 8 << 20 };
    const char *begin = long_rows[_i].format == FR_FORMAT_CSV ? "1,2,\"" : "1\t2\t";
    struct fr_record rec = {.fields = calloc(FR_MAX_FIELDS, sizeof *rec.fields)};
    struct fr_load_options o;
    struct fr_splitter *s = NULL;
    struct fr_err err;
    char *row = malloc(BYTES);
    size_t n = STEP;

    memset(row, 'x', BYTES);
    memcpy(row, begin, strlen(begin));
    memcpy(row + BYTES - strlen(long_rows[_i].end), long_rows[_i].end,
           strlen(long_rows[_i].end));
    fr_load_options_init(&o);
    o.format = long_rows[_i].format;
    ck_assert_int_eq(fr_splitter_new(&o, 3, &s, &err), FR_OK);
    while (fr_split_next(s, row, n, false, &rec) == FR_SPLIT_MORE)
        n += STEP;
    ck_assert_uint_eq(rec.total_bytes, BYTES);
    ck_assert_uint_eq(rec.count, 3);
    ck_assert_ptr_null(rec.bad);
    ck_assert_uint_ge(rec.scanned_bytes, BYTES);
    ck_assert_uint_le(rec.scanned_bytes, BYTES);
    fr_splitter_free(&s);
    free(rec.fields);
    free(row);
}
END_TEST

/* Where a file is cut off, the last field is the one without end. */
START_TEST(test_field_without_end)
{
    static const struct {
        enum fr_format format;
        const char *text;
        size_t count;
        const char *last;
    } cases[] = {{FR_FORMAT_CSV, "1,\"ab,c", 2, "ab,c"},
                 {FR_FORMAT_CSV, "1,2,3,abc", 4, "abc"},
                 {FR_FORMAT_DELIMITED, "1\tabc", 2, "abc"},
                 {FR_FORMAT_BCP, "1\tab\nc", 2, "ab\nc"}};
    struct fr_record rec = {.fields = calloc(FR_MAX_FIELDS, sizeof *rec.fields)};
    struct fr_load_options o;
    struct fr_splitter *s = NULL;
    struct fr_err err;

    fr_load_options_init(&o);
    o.format = cases[_i].format;
    ck_assert_int_eq(fr_splitter_new(&o, 3, &s, &err), FR_OK);
    ck_assert_int_eq(fr_split_next(s, cases[_i].text, strlen(cases[_i].text), true, &rec),
                     FR_SPLIT_ROW);
    ck_assert_uint_eq(rec.count, cases[_i].count);
    ck_assert_uint_eq(rec.fields[rec.count - 1].n, strlen(cases[_i].last));
    ck_assert_mem_eq(rec.fields[rec.count - 1].p, cases[_i].last, strlen(cases[_i].last));
    fr_splitter_free(&s);
    free(rec.fields);
}
END_TEST

static const struct {
    const char *text;
    bool ok;
    size_t length;
    const char *bytes;
} terminator_cases[] = {
    {"|", true, 1, "|"},
    {"\\t", true, 1, "\t"},
    {"\\x1f\\n", true, 2, "\x1f\n"},
    {"0x0d0A", true, 2, "\r\n"},
    {"0x", true, 2, "0x"},
    {"\\\\", true, 1, "\\"},
    {"\\0", true, 1, "\0"},
    {"", false, 0, NULL},
    {"0x1", false, 0, NULL},
    {"0xzz", false, 0, NULL},
    {"\\q", false, 0, NULL},
    {"\\xz", false, 0, NULL},
    {"12345678901234567890123456789012345678901234567890123456789012345", false, 0, NULL},
};

START_TEST(test_terminator)
{
    struct fr_terminator t;
    struct fr_err err;
    fr_status st = fr_terminator_parse(terminator_cases[_i].text, false, &t, &err);

    ck_assert_int_eq(st, terminator_cases[_i].ok ? FR_OK : FR_EARG);
    if (!terminator_cases[_i].ok)
        return;
    ck_assert_uint_eq(t.length, terminator_cases[_i].length);
    ck_assert_mem_eq(t.bytes, terminator_cases[_i].bytes, t.length);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("split");
    TCase *tc = tcase_create("split");

    tcase_add_loop_test(tc, test_split, 0, COUNT_OF(split_cases));
    tcase_add_loop_test(tc, test_long_row_is_scanned_once, 0, COUNT_OF(long_rows));
    tcase_add_loop_test(tc, test_field_without_end, 0, 4);
    tcase_add_loop_test(tc, test_terminator, 0, COUNT_OF(terminator_cases));
    suite_add_tcase(s, tc);
    return suite_run(s);
}
