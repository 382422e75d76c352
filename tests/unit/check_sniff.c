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
    IN("inch signs", "a:i b:t", "1,5\" pipe\n2,\"half inch\n3,9\n", "--format csv -t ,"),
    IN("inch signs by tab", "a:i b:t", "1\t\"half\n2\t6\"\n3\tx\n",
       "--format delimited -t '\\t'"),
    /* one bad row turns no quotes off */
    IN("text behind a quote", "a:t b:t", "1,\"a\"\n2,\"b\" c\n", "--format csv -t ,"),
    IN("the same by semicolon", "a:t b:t", "1;\"a\"\n2;\"b\" c\n", "--format csv -t ';'"),
    IN("the same with a header", "a:t b:t", "b,a\n1,\"a\"\n2,\"b\" c\n",
       "--format csv -t , --header match"),
    T("the same with -t", "a:t b:t", "1,\"a\"\n2,\"b\" c\n", "--format csv -t ,", ","),
    IN("nothing but a bad row", "a:t b:t", "2,\"b\" c\n", "--format csv -t ,"),
    IN("a quote that does not close", "a:t b:t", "50,\"x\"\n51,\"Hi\n52,\"y\"\n",
       "--format csv -t ,"),
    IN("a bad row by bar", "a:t b:t", "1|\"a\"\n2|\"b\" c\n3|\"d\"\n4|\"e\"\n5|\"f\"\n",
       "--format csv -t '|'"),
    IN("an open row by tab", "a:t b:t",
       "1\t\"a\"\n2\t\"b\n3\t\"d\"\n4\t\"e\"\n5\t\"f\"\n6\t\"g\"\n",
       "--format csv -t '\\t'"),
    IN("more bad rows than good ones", "a:t b:t", "1|\"a\" b\n2|\"b\" c\n3|\"d\"\n",
       "--format delimited -t '|'"),
    IN("backslashes before quotes", "a:t b:t", "1,\"a \\\"b\\\" c\"\n2,\"d\"\n",
       "--format csv -t ,"),
    IN("backslashes by bar", "a:t b:t", "1|\"a \\\"b\\\" c\"\n2|d\n",
       "--format csv -t '|'"),
    IN("a path ends in a backslash", "a:t b:t", "1,\"C:\\\"\n2,\"D:\\\"\n",
       "--format csv -t ,"),
    /* other delimiters in quotes */
    IN("semicolons in quotes", "a:t b:t", "1,\"x;y\"\n2,\"z;w\"\n", "--format csv -t ,"),
    IN("bars in quotes", "a:t b:t", "1,\"x|y\"\n2,\"z|w\"\n", "--format csv -t ,"),
    IN("tabs in quotes", "a:t b:t", "1,\"x\ty\"\n2,\"z\tw\"\n", "--format csv -t ,"),
    IN("bars between semicolons", "a:t b:t", "1;\"x|y\"\n2;\"z|w\"\n",
       "--format csv -t ';'"),
    IN("tabs between semicolons", "a:t b:t", "1;\"x\ty\"\n2;\"z\tw\"\n",
       "--format csv -t ';'"),
    IN("commas between semicolons", "a:t b:t", "1;\"x,y\"\n2;\"z,w\"\n",
       "--format csv -t ';'"),
    IN("commas between tabs", "a:t b:t", "1\t\"x,y\"\n2\t\"z,w\"\n",
       "--format csv -t '\\t'"),
    IN("addresses in quotes", "a:t b:t c:t",
       "\"Main St 1; Berlin; DE\",\"x\",\"y\"\n\"A; B; C\",\"z\",\"w\"\n",
       "--format csv -t ,"),
    IN("blanks before quotes", "a:t b:t", "1, \"x;y\"\n2, \"z;w\"\n",
       "--format csv -t ,"),
    IN("semicolons in three rows of four", "a:t b:t",
       "1,\"x;y\"\n2,\"z;w\"\n3,\"v;u\"\n4,\"t\"\n", "--format csv -t ,"),
    IN("one row that does not fit", "a:t b:t", "1,\"x;y\",\"z\"\n", "--format csv -t ,"),
    IN("semicolons in quotes, no table", NULL, "1,\"x;y\"\n2,\"z;w\"\n",
       "--format csv -t ,"),
    IN("semicolons between apostrophes", "a:t b:t", "1,'x;y'\n2,'z;w'\n",
       "--format csv -t ,"),
    {"semicolons in given quotes", "a:t b:t", "1,'x;y'\n2,'z;w'\n",
     "--format csv -t , --quote ''\\'''", NULL, "'", NULL, NULL, -1, 1},
    IN("inch signs by semicolon", "a:t b:t", "1;5\"\n2;6\"\n", "--format csv -t ';'"),
    /* carriage returns */
    IN("a line feed in quotes", "a:t b:t", "1,\"2\n3\"\r3,4\r",
       "--format csv -t , -r '\\r'"),
    T("carriage returns, -t given", "a:t b:t", "1,2\r3,4\r", "--format csv -t , -r '\\r'",
      ","),
    IN("carriage returns, as many fields as columns", "a:t b:t c:t", "1,2\r3,4\r",
       "--format csv -t , -r '\\r'"),
    IN("carriage returns, no table", NULL, "1,2\r3,4\r", "--format csv -t , -r '\\r'"),
    IN("carriage returns, one column", "a:t", "x\ry\r",
       "--format delimited -t '\\t' -r '\\r'"),
    IN("carriage returns, an open quote", "a:t b:t", "1,\"x\r2,y\r3,z\r",
       "--format csv -t , -r '\\r'"),
    IN("a carriage return in quotes", "a:t b:t", "1,\"x\ry\"\n2,z\n",
       "--format csv -t ,"),
    IN("a carriage return in text", "a:t b:t", "1,x\ry\n2,z\n", "--format csv -t ,"),
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
    IN("header in other letters", "m\xC3\xBCnze:t b:t", "M\xC3\x9CNZE,b\n1,2\n",
       "--format csv -t , --header match"),
    IN("header with quotes in a name", "q\"r:t b:t", "\"q\"\"r\",b\n1,2\n",
       "--format csv -t , --header match"),
    {"header of a dropped field", "a:t b:t", "id,b\n1,2\n",
     "--format csv -t , --header skip", NULL, NULL, NULL, "-,b", -1, 1},
    {"no header of a dropped field", "a:t b:t", "7,b\n1,2\n", "--format csv -t ,", NULL,
     NULL, NULL, "-,b", -1, 1},
    {"a column that is called so", "-:t b:t", "id,b\n1,2\n", "--format csv -t ,", NULL,
     NULL, NULL, "[-],b", -1, 1},
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
    IN("one column, a line in quotes", "a:t", "a,b\n\"x\ny\"\nc\n",
       "--format csv -t '\\t'"),
    IN("one column, a line and a tab in quotes", "a:t", "a,b\tc\n\"x\ny\"\nc\n",
       "--format csv -t 0x01"),
    IN("one column, a line in quotes, no table", NULL, "1,2\n\"x\ny\"\n3\n",
       "--format csv -t '\\t'"),
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
    IN("dbgen beside an identity", "id:# a:t b:t", "x|y|\nz|w|\n",
       "--format delimited -t '|' -r '|\\n'"),
    IN("the same by semicolon", "id:# a:t b:t", "x;y;\nz;w;\n",
       "--format delimited -t ';' -r ';\\n'"),
    IN("the same with a value at an end", "id:# a:t b:t", "1;y;\n2;w;z\n",
       "--format csv -t ';'"),
    IN("dbgen with a header of a part", "id:# a:t b:t", "b|a|\nx|y|\n",
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

/* As bcp's users write -C. */
START_TEST(test_code_pages)
{
    static const struct {
        const char *option, *name; /* NULL: it is refused */
    } code_pages[] = {
        {"65001", ""},        {"utf-8", ""},           {"1252", "CP1252"},
        {"ACP", "CP1252"},    {"acp", "CP1252"},       {"1250", "CP1250"},
        {"437", "CP437"},     {"850", "CP850"},        {"932", "CP932"},
        {"1200", "UTF-16LE"}, {"28591", "ISO-8859-1"}, {"CP1252", "CP1252"},
        {"OEM", NULL},        {"RAW", NULL},           {"4711", NULL},
    };

    for (size_t i = 0; i < sizeof code_pages / sizeof code_pages[0]; i++) {
        struct fr_encoding e = {.name = "?"};
        struct fr_err err = {0};
        fr_status st = fr_encoding_choose("text", 4, code_pages[i].option, &e, &err);

        if (code_pages[i].name == NULL) {
            ck_assert_msg(st == FR_EARG && strstr(err.text, code_pages[i].option) != NULL,
                          "%s: %s", code_pages[i].option, err.text);
        } else {
            ck_assert_int_eq(st, FR_OK);
            ck_assert_str_eq(e.name, code_pages[i].name);
        }
    }
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

/* A quoted value that is longer than the sample. */
START_TEST(test_open)
{
    static const struct {
        const char *table, *head, *line, *want;
    } opens[] = {
        {"a:t", "\"", "a line of it\n", "--format csv -t ,"},
        {"a:t b:t", "1,\"", "a line, of it\n", "--format csv -t ,"},
        {"a:t b:t", "1|\"", "a line of it\n", "--format csv -t '|'"},
        {"a:t b:t", "a|b\n1|\"x\"\n2|\"", "a line of it\n",
         "--format csv -t '|' --header match"},
        /* an inch sign */
        {"a:t b:t", "1|\"x\n", "2|y\n", "--format delimited -t '|'"},
    };

    for (size_t i = 0; i < COUNT_OF(opens); i++) {
        char in[4000];
        struct fr_sample sample = {.p = in};
        struct fr_load_options o;
        struct fr_sniffed found;
        struct table table;
        char got[FR_SNIFFED_TEXT_BYTES];

        fr_load_options_init(&o);
        sample.n = (size_t)snprintf(in, sizeof in, "%s", opens[i].head);
        while (sample.n + strlen(opens[i].line) < sizeof in)
            sample.n += (size_t)snprintf(in + sample.n, sizeof in - sample.n, "%s",
                                         opens[i].line);
        ck_assert_int_eq(
            fr_sniff(&sample, &o, make_table(&table, opens[i].table), &found, NULL),
            FR_OK);
        ck_assert_msg(strcmp(fr_sniffed_options(&found, &o, got), opens[i].want) == 0,
                      "case %zu: %s, expected %s", i, got, opens[i].want);
    }
}
END_TEST

/* Excel's line is no row, and is not loaded as one. */
START_TEST(test_separator_line)
{
    static const struct {
        const char *in;
        int64_t first_row;
        fr_status want;
    } lines[] = {
        {"sep=;\r\na;b\r\n1;2\r\n", 1, FR_EDATA},
        {"\"sep=|\"\na|b\n", 1, FR_EDATA},
        {"SEP=,\ra,b\r", 1, FR_EDATA},
        {"sep=;\na;b\n1;2\n", 3, FR_OK},
        {"sep=;b\na;b\n", 1, FR_OK},
        {"sep=\na\n", 1, FR_OK},
        {"sepia;b\n", 1, FR_OK},
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct fr_sample sample = {
            .p = lines[i].in, .n = strlen(lines[i].in), .whole = true};
        struct fr_load_options o;
        struct fr_sniffed found;
        struct table table;
        struct fr_err err = {0};

        fr_load_options_init(&o);
        o.first_row = lines[i].first_row;
        ck_assert_msg(fr_sniff(&sample, &o, make_table(&table, "a:t b:t"), &found,
                               &err) == lines[i].want,
                      "case %zu: %s", i, err.text);
        ck_assert(lines[i].want == FR_OK || strstr(err.text, "sep=") != NULL);
    }
}
END_TEST

/* What is said beside the format. */
START_TEST(test_text)
{
    static const struct {
        const char *in;
        size_t n; /* 0: to its NUL */
        const char *escape, *said, *options;
    } texts[] = {
        {"1,\"a \\\"b\\\" c\"\n2,\"d\"\n", 0, NULL, "--escape '\\'", "--format csv -t ,"},
        {"1,\"a \\\"b\\\" c\"\n2,\"d\"\n", 0, "\\", NULL,
         "--format csv -t , --escape '\\'"},
        {"1,x\ry\n2,z\n", 0, NULL, "-r '\\r'", "--format csv -t ,"},
        {"x\ry\rz\n", 0, NULL, "-r '\\r'", "--format delimited -t '\\t'"},
        {"1\0,\0\x41\1\xF3\0\x64\0\x7A\1\n\0", 14, NULL, "-C UTF-16",
         "--format delimited -t '\\t'"},
        {"\0001\0,\1\x41\0\xF3\0\x64\1\x7A\0\n", 14, NULL, "-C UTF-16BE",
         "--format csv -t ,"},
    };

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct fr_sample sample = {.p = texts[i].in,
                                   .n =
                                       texts[i].n == 0 ? strlen(texts[i].in) : texts[i].n,
                                   .whole = true};
        struct fr_load_options o;
        struct fr_sniffed found;
        struct table table;
        char text[FR_SNIFFED_TEXT_BYTES], options[FR_SNIFFED_TEXT_BYTES];

        fr_load_options_init(&o);
        o.escape = (char *)(uintptr_t)texts[i].escape;
        ck_assert_int_eq(
            fr_sniff(&sample, &o, make_table(&table, "a:t b:t"), &found, NULL), FR_OK);
        (void)fr_sniffed_text(&found, &o, text);
        ck_assert_msg(strcmp(fr_sniffed_options(&found, &o, options), texts[i].options) ==
                              0 &&
                          (texts[i].said == NULL ? strstr(text, "give") == NULL
                                                 : strstr(text, texts[i].said) != NULL),
                      "case %zu: %s (%s)", i, text, options);
    }
}
END_TEST

/* A terminator in hex is bytes of the file, whatever the sample was made of them. */
START_TEST(test_code_page)
{
    static const char *const terminators[] = {"0xa7", "\\xA7", "\xC2\xA7"};

    for (size_t i = 0; i < COUNT_OF(terminators); i++) {
        struct fr_sample sample = {.p = "a\xA7"
                                        "b\n1\xA7\xE9\n",
                                   .n = 8,
                                   .whole = true};
        struct fr_load_options o;
        struct fr_sniffed found;
        struct table table;

        fr_load_options_init(&o);
        ck_assert_int_eq(
            fr_encoding_choose(sample.p, 4, "CP1252", &sample.encoding, NULL), FR_OK);
        o.field_terminator = (char *)(uintptr_t)terminators[i];
        o.encoding = (char *)(uintptr_t) "CP1252";
        ck_assert_int_eq(
            fr_sniff(&sample, &o, make_table(&table, "a:t b:t"), &found, NULL), FR_OK);
        ck_assert_int_eq(found.header, FR_HEADER_MATCH);
        ck_assert_uint_eq(found.fields, 2);
        ck_assert_str_eq(found.field, "");
    }
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
    tcase_add_test(t, test_open);
    tcase_add_test(t, test_separator_line);
    tcase_add_test(t, test_text);
    tcase_add_test(t, test_code_page);
    tcase_add_loop_test(t, test_utf16, 0, (int)COUNT_OF(utf16_cases));
    tcase_add_test(t, test_code_pages);
    tcase_add_test(t, test_encoding);
    tcase_add_test(t, test_hash);
    suite_add_tcase(s, t);
    return suite_run(s);
}
