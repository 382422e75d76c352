#include "load/sniff.h"
#include "load/plan.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 20 };

struct table {
    struct fr_table t;
    struct fr_column columns[MAX_COLUMNS];
    char names[200];
    char display[8];
};

/* "id:i name:t": i int, # identity, t text.  NULL: no table. */
static const struct fr_table *make_table(struct table *t, const char *spec)
{
    char *p = t->names;

    memset(t, 0, sizeof *t);
    if (spec == NULL)
        return NULL;
    snprintf(t->names, sizeof t->names, "%s", spec);
    snprintf(t->display, sizeof t->display, "dbo.t");
    for (char *word = strtok_r(p, " ", &p); word != NULL;
         word = strtok_r(NULL, " ", &p)) {
        char *colon = strrchr(word, ':');
        struct fr_column *c = &t->columns[t->t.column_count++];

        *colon = '\0';
        c->name = word;
        c->type_name =
            colon[1] == 't' ? (char *)(uintptr_t) "varchar" : (char *)(uintptr_t) "int";
        c->type = colon[1] == 't' ? FR_TYPE_VARCHAR : FR_TYPE_INT;
        c->identity = colon[1] == '#';
        c->nullable = true;
        c->max_bytes = colon[1] == 't' ? 100 : 4;
        c->code_page = 1252;
    }
    t->t.columns = t->columns;
    t->t.display = t->display;
    return &t->t;
}

static const char *const three = "a:i b:t c:t";

/* -t, --quote, -r, --header, --columns, -F as given; the options that come of it. */
static const struct {
    const char *name, *table, *in, *want;
    const char *t, *quote, *r, *columns;
    int64_t header, first_row;
} cases[] = {
#define IN(name, table, in, want)                                                        \
    {                                                                                    \
        name, table, in, want, NULL, NULL, NULL, NULL, -1, 1                             \
    }
#define T(name, table, in, want, t)                                                      \
    {                                                                                    \
        name, table, in, want, t, NULL, NULL, NULL, -1, 1                                \
    }
    IN("tab", "a:i b:t c:t", "1\tx\ty\n2\tz\t\n", "--format delimited -t '\\t'"),
    IN("comma", "a:i b:t c:t", "1,x,y\n2,z,\n", "--format csv -t ,"),
    IN("semicolon", "a:i b:t c:t", "1;x;y\n2;z;\n", "--format csv -t ';'"),
    IN("bar", "a:i b:t c:t", "1|x|y\n2|z|\n", "--format delimited -t '|'"),
    IN("control A", "a:i b:t c:t", "1\x01x\x01y\n2\x01z\x01\n",
       "--format delimited -t 0x01"),
    IN("crlf", "a:i b:t c:t", "1,x,y\r\n2,z,\r\n", "--format csv -t ,"),
    IN("no end of line", "a:i b:t c:t", "1,x,y", "--format csv -t ,"),
    IN("carriage returns alone", "a:i b:t c:t", "1,x,y\r2,z,w\r",
       "--format csv -t , -r '\\r'"),
    /* quotes */
    IN("tab and quotes", "a:i b:t", "1\t\"x\ty\"\n2\tz\n", "--format csv -t '\\t'"),
    IN("bar and quotes", "a:i b:t", "1|\"x\"\n2|\"y\"\n", "--format csv -t '|'"),
    IN("bar and a stray quote", "a:i b:t", "1|\"x\n2|y\n", "--format delimited -t '|'"),
    IN("bar and some quoted words", "a:i b:t", "1|\"x\"\n2|y\n3|\"z\"\n",
       "--format delimited -t '|'"),
    IN("doubled quotes", "a:i b:t", "1|\"x \"\"y\"\"\"\n2|y\n", "--format csv -t '|'"),
    IN("comma in quotes", "a:i b:t", "1,\"x,y\"\n2,\"a,b,c\"\n", "--format csv -t ,"),
    IN("line in quotes", "a:i b:t", "1,\"x\ny\"\n2,z\n", "--format csv -t ,"),
    IN("inch signs", "a:i b:t", "1,5\" pipe\n2,\"half inch\n3,9\n",
       "--format delimited -t ,"),
    IN("apostrophes", "a:i b:t", "1,'x,y'\n2,'z'\n", "--format csv -t , --quote ''\\'''"),
    IN("apostrophes without need", "a:i b:t", "1,'x'\n2,'z'\n", "--format csv -t ,"),
    IN("an apostrophe", "a:i b:t", "1,'tis\n2,don't\n", "--format csv -t ,"),
    {"given quote", "a:i b:t", "1|'x'\n2|y\n", "--format csv -t '|' --quote ''\\'''",
     NULL, "'", NULL, NULL, -1, 1},
    /* headers */
    IN("header", "a:i b:t c:t", "a,b,c\n1,x,y\n", "--format csv -t , --header match"),
    IN("header in another order", "a:i b:t c:t", " C ,A\nx,1\n",
       "--format csv -t , --header match"),
    IN("quoted header", "a:i b:t c:t", "\"a\"\t\"b\"\n1\tx\n2\ty\n",
       "--format delimited -t '\\t'"),
    IN("header with an unknown name", "a:i b:t c:t", "a,b,x\n1,x,y\n",
       "--format csv -t ,"),
    IN("header with a name twice", "a:i b:t c:t", "a,b,B\n1,x,y\n", "--format csv -t ,"),
    IN("header alone", "a:i b:t c:t", "a;b;c\n", "--format csv -t ';' --header match"),
    IN("header by bar", "a:i b:t c:t", "c|b|a\nx|y|1\n",
       "--format delimited -t '|' --header match"),
    IN("header decides the delimiter", "a:i b:t c:t", "a;b\n1,5;x,y\n2,5;z,w\n",
       "--format csv -t ';' --header match"),
    IN("header of a part", "a:i b:t c:t d:t", "a,c\n1,2\n3,4\n",
       "--format csv -t , --header match"),
    IN("header of one number", "a:i", "a\n1\n2\n",
       "--format delimited -t '\\t' --header match"),
    IN("a word like its column", "word:t", "word\nother\n",
       "--format delimited -t '\\t'"),
    {"given header", "a:i b:t", "a,b\n1,x\n", "--format csv -t , --header skip", NULL,
     NULL, NULL, NULL, FR_HEADER_SKIP, 1},
    {"given no header", "a:i b:t", "a,b\n1,x\n", "--format csv -t ,", NULL, NULL, NULL,
     NULL, FR_HEADER_NONE, 1},
    {"-F leaves the header out", "a:i b:t", "a,b\n1,x\n", "--format csv -t ,", NULL, NULL,
     NULL, NULL, -1, 2},
    {"-F leaves a title out", "a:i b:t", "My list\n1,x\n2,y\n", "--format csv -t ,", NULL,
     NULL, NULL, NULL, -1, 2},
    {"columns and a header", "a:i b:t c:t", "a,b\n1,x\n",
     "--format csv -t , --header skip", NULL, NULL, NULL, "a,b", -1, 1},
    {"columns say how many", "a:i b:t c:t", "1;2;9;8,x,y\n4;5;9;8,z,w\n",
     "--format csv -t ,", NULL, NULL, NULL, "a,b,[x,y]", -1, 1},
    /* which number of fields fits */
    IN("identity left out", "id:# b:t c:t", "x,y\nz,w\n", "--format csv -t ,"),
    IN("the table decides", "a:i b:t c:t", "1;x,1;y\n2;z,2;w\n", "--format csv -t ';'"),
    IN("the table decides the other way", "a:t b:t", "1;x,1;y\n2;z,2;w\n",
       "--format csv -t ,"),
    IN("a short row", "a:i b:t c:t", "1,x,y\n2,z\n3,u,v\n", "--format csv -t ,"),
    IN("no fit, but clear", "a:i b:t", "1,2,3\n4,5,6\n", "--format csv -t ,"),
    IN("no fit, one row", "a:i b:t", "1,2,3\n", "--format delimited -t '\\t'"),
    IN("no sense in it", "a:i b:t c:t", "x\ny,z\na;b;c;d\n",
       "--format delimited -t '\\t'"),
    IN("empty lines", "a:i b:t c:t", "\n1,x,y\n\n2,z,\n\n", "--format csv -t ,"),
    /* one column */
    IN("one column", "a:t", "hello, world\nyes, world\n", "--format delimited -t '\\t'"),
    IN("one column, quoted", "a:t", "\"x\"\n\"y, z\"\n", "--format csv -t ,"),
    IN("one column beside an identity", "id:# a:t", "x, y\nz, w\n",
       "--format delimited -t '\\t'"),
    IN("nothing", "a:i b:t", "", "--format delimited -t '\\t'"),
    IN("one newline", "a:i b:t", "\n", "--format delimited -t '\\t'"),
    IN("junk", "a:i b:t",
       "\x7f"
       "ELF\x02\x01\x01\n\xff\xfe\x03,\x04\n,,,,\n",
       "--format delimited -t '\\t'"),
    /* dbgen */
    IN("dbgen", "a:i b:t c:t", "1|x|y|\n2|z||\n", "--format delimited -t '|' -r '|\\n'"),
    IN("dbgen, crlf", "a:i b:t c:t", "1|x|y|\r\n2|z||\r\n",
       "--format delimited -t '|' -r '|\\n'"),
    IN("commas at the ends", "a:i b:t c:t", "1,x,y,\n2,z,,\n",
       "--format delimited -t , -r ',\\n'"),
    IN("an empty last column", "a:i b:t c:t", "1|x|\n2|z|\n",
       "--format delimited -t '|'"),
    IN("dbgen with a header", "a:i b:t c:t", "a|b|c|\n1|x|y|\n",
       "--format delimited -t '|' -r '|\\n' --header match"),
    T("dbgen, -t given", "a:i b:t c:t", "1|x|y|\n2|z||\n",
      "--format delimited -t '|' -r '|\\n'", "|"),
    T("dbgen, -t in hex", "a:i b:t c:t", "1|x|y|\n2|z||\n",
      "--format delimited -t 0x7C -r '|\\n'", "0x7C"),
    {"dbgen, -r given", "a:i b:t c:t", "1|x|y|\n2|z||\n",
     "--format delimited -t '|' -r '\\n'", "|", NULL, "\\n", NULL, -1, 1},
    /* -t given */
    T("given comma", "a:i b:t", "1,x\n", "--format csv -t ,", ","),
    T("given bar", "a:i b:t", "1|x\n", "--format delimited -t '|'", "|"),
    T("given bar, quotes", "a:i b:t", "1|\"x|y\"\n", "--format csv -t '|'", "|"),
    T("given two bytes", "a:i b:t", "1||x\n2||y\n", "--format delimited -t '||'", "||"),
    T("given what is not there", "a:i b:t", "1,x\n2,y\n", "--format delimited -t '|'",
      "|"),
    T("given nonsense", "a:i b:t", "1,x\n2,y\n", "--format delimited -t '\\q'", "\\q"),
    /* no table */
    IN("no table", NULL, "id;name\n1;x\n", "--format csv -t ';' --header match"),
    IN("no table, no header", NULL, "1;x\n2;y\n", "--format csv -t ';'"),
    IN("no table, a row", NULL, "1,2,3\n", "--format csv -t ,"),
    IN("no table, decimal commas", NULL, "1,5;2,5\n3,5;4,5\n", "--format csv -t ';'"),
    IN("no table, words", NULL, "hello world\nyes\n",
       "--format delimited -t '\\t' --header match"),
    IN("no table, dbgen", NULL, "1|x|\n2|y|\n", "--format delimited -t '|' -r '|\\n'"),
    IN("no table, empty names", NULL, "a,,c\n1,2,3\n", "--format csv -t ,"),
    IN("no table, dates are no names", NULL, "2024-01-01,x\n2024-01-02,y\n",
       "--format csv -t ,"),
};

static struct fr_load_options options_of(size_t i)
{
    struct fr_load_options o;

    fr_load_options_init(&o);
    o.field_terminator = (char *)(uintptr_t)cases[i].t;
    o.quote = (char *)(uintptr_t)cases[i].quote;
    o.row_terminator = (char *)(uintptr_t)cases[i].r;
    o.columns = (char *)(uintptr_t)cases[i].columns;
    o.header = cases[i].header;
    o.first_row = cases[i].first_row;
    return o;
}

START_TEST(test_sniff)
{
    struct fr_load_options o = options_of((size_t)_i);
    struct fr_sample sample = {
        .p = cases[_i].in, .n = strlen(cases[_i].in), .whole = true};
    struct fr_sniffed found;
    struct fr_err err = {0};
    struct table table;
    char got[FR_SNIFFED_TEXT_BYTES];

    ck_assert_int_eq(
        fr_sniff(&sample, &o, make_table(&table, cases[_i].table), &found, &err), FR_OK);
    fr_sniffed_options(&found, &o, got);
    ck_assert_msg(strcmp(got, cases[_i].want) == 0, "%s: %s, expected %s", cases[_i].name,
                  got, cases[_i].want);
    ck_assert(found.looked);
}
END_TEST

/* A longer file is cut anywhere: in a row, in a character, in quotes. */
START_TEST(test_cut)
{
    static const char in[] = "1,\"x,\xC3\xA9\",y\n2,\"z\nz\",w\n3,\"\xE2\x82\xAC\",u\n";
    struct fr_load_options o;
    struct table table;
    const struct fr_table *t = make_table(&table, three);

    fr_load_options_init(&o);
    for (size_t n = 12; n < sizeof in; n++) {
        struct fr_sample sample = {.p = in, .n = n};
        struct fr_sniffed found;

        ck_assert_int_eq(fr_sniff(&sample, &o, t, &found, NULL), FR_OK);
        ck_assert_int_eq(found.format, FR_FORMAT_CSV);
        ck_assert_int_eq((int)found.fields, 3);
        ck_assert(!found.not_utf8);
    }
}
END_TEST

static const struct {
    const char *in;
    size_t n;
    const char *want;
} utf16_cases[] = {
    {"1\0,\0x\0\n\0", 8, "UTF-16LE"},
    {"\0"
     "1\0,\0x\0\n",
     8, "UTF-16BE"},
    {"1\0,\0x\0\n", 7, "UTF-16LE"}, /* cut in a character */
    {"1,x\n2,y\n", 8, ""},
    {"\0\0\0\0\0\0\0\0", 8, ""},
    {"1\0", 2, ""},
    {"", 0, ""},
    {"a\0b\0\n\0c\0d\0e\0\n\0\x34\x04", 16, "UTF-16LE"},
    {"abcdefgh\0ijklmno", 16, ""}, /* a NUL in text */
    {"ab\0cd\0ef\0\n", 10, ""},    /* NUL as a field terminator */
};

START_TEST(test_utf16)
{
    ck_assert_str_eq(fr_encoding_guess(utf16_cases[_i].in, utf16_cases[_i].n),
                     utf16_cases[_i].want);
}
END_TEST

/* The sample of another encoding is looked at as text. */
START_TEST(test_encoding)
{
    static const char utf16[] = "a\0;\0b\0\n\0001\0;\0x\0\n\0";
    struct fr_sample sample = {.p = utf16,
                               .n = sizeof utf16 - 1,
                               .whole = true,
                               .encoding = {.name = "UTF-16LE"}};
    struct fr_sniffed found;
    struct fr_load_options o, settled;
    struct table table;
    const struct fr_table *t = make_table(&table, "a:i b:t");
    char text[FR_SNIFFED_TEXT_BYTES];

    fr_load_options_init(&o);
    ck_assert_int_eq(fr_sniff(&sample, &o, t, &found, NULL), FR_OK);
    ck_assert_str_eq(fr_sniffed_options(&found, &o, text),
                     "--format csv -t ';' --header match -C UTF-16LE");
    ck_assert_str_eq(
        fr_sniffed_text(&found, &o, text),
        "csv, fields by \";\", quotes \", header with column names, UTF-16LE");
    settled = o;
    fr_sniffed_settle(&found, &settled);
    ck_assert_str_eq(settled.encoding, "UTF-16LE");
    /* a mark is there at every reading */
    sample.encoding.mark_bytes = 2;
    ck_assert_int_eq(fr_sniff(&sample, &o, t, &found, NULL), FR_OK);
    settled = o;
    fr_sniffed_settle(&found, &settled);
    ck_assert_ptr_null(settled.encoding);
    sample = (struct fr_sample){.p = "1,\xE9\n2,x\n", .n = 8, .whole = true};
    ck_assert_int_eq(fr_sniff(&sample, &o, t, &found, NULL), FR_OK);
    ck_assert(found.not_utf8);
    ck_assert_ptr_nonnull(strstr(fr_sniffed_text(&found, &o, text), "-C"));
}
END_TEST

/* What a load's identity is made of: as it was where nothing is found. */
START_TEST(test_hash)
{
    static const struct {
        const char *in, *t, *header;
        int64_t format;
        bool same; /* as the option --format auto had it before anything was looked at */
    } hashes[] = {
        {"1\tx\n2\ty\n", NULL, NULL, FR_FORMAT_AUTO, true},
        {"1|x\n2|y\n", "|", NULL, FR_FORMAT_AUTO, true},
        {"1|x\n2|y\n", NULL, NULL, FR_FORMAT_AUTO, false},
        {"1,x\n2,y\n", NULL, NULL, FR_FORMAT_AUTO, false},
        {"1,x\n2,y\n", NULL, NULL, FR_FORMAT_CSV, true},
        {"a\tb\n2\ty\n", NULL, NULL, FR_FORMAT_AUTO, false},
    };

    for (size_t i = 0; i < COUNT_OF(hashes); i++) {
        struct fr_sample sample = {
            .p = hashes[i].in, .n = strlen(hashes[i].in), .whole = true};
        struct fr_load_options o, settled;
        struct fr_plan *before = NULL, *after = NULL;
        struct fr_sniffed found;
        struct table table;
        const struct fr_table *t = make_table(&table, "a:i b:t");
        struct fr_err err = {0};

        fr_load_options_init(&o);
        o.format = hashes[i].format;
        o.field_terminator = (char *)(uintptr_t)hashes[i].t;
        settled = o;
        ck_assert_int_eq(fr_sniff(&sample, &o, t, &found, &err), FR_OK);
        ck_assert(found.looked == (o.format == FR_FORMAT_AUTO));
        fr_sniffed_settle(&found, &settled);
        ck_assert_int_eq(fr_plan_new(t, &o, 0, &before, &err), FR_OK);
        ck_assert_int_eq(fr_plan_new(t, &settled, 0, &after, &err), FR_OK);
        ck_assert_msg((fr_plan_hash(before) == fr_plan_hash(after)) == hashes[i].same,
                      "case %zu", i);
        fr_plan_free(&before);
        fr_plan_free(&after);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sniff");
    TCase *t = tcase_create("sniff");

    tcase_add_loop_test(t, test_sniff, 0, (int)COUNT_OF(cases));
    tcase_add_test(t, test_cut);
    tcase_add_loop_test(t, test_utf16, 0, (int)COUNT_OF(utf16_cases));
    tcase_add_test(t, test_encoding);
    tcase_add_test(t, test_hash);
    suite_add_tcase(s, t);
    return suite_run(s);
}
