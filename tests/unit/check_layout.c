/* Layouts: format files, the splitting of rows by them, and native values. */
#include "load/format_file.h"
#include "load/layout.h"
#include "load/native.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XML_HEAD                                                                         \
    "<?xml version=\"1.0\"?>\n<BCPFORMAT "                                               \
    "xmlns=\"http://schemas.microsoft.com/sqlserver/2004/bulkload/format\"\n "           \
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n<RECORD>\n"
#define XML_ROW "</RECORD>\n<ROW>\n"
#define XML_TAIL "</ROW>\n</BCPFORMAT>\n"
#define FIELD_X "<FIELD ID=\"x\" xsi:type=\"CharTerm\" TERMINATOR=\"\\n\"/>\n"
#define COLUMN_X "<COLUMN SOURCE=\"x\" NAME=\"a\"/>\n"
#define ONE(version, line) version "\n1\n" line "\n"

/* want: per field type/prefix/length/terminator's bytes/column/name; or ! and a part of
 * the error. */
static const struct {
    const char *text;
    const char *want;
} format_cases[] = {
    {ONE("7.0", "1 SQLCHAR 0 12 \"\\r\\n\" 1 a"), "0/0/12/2/1/a;"},
    {ONE("8.0", "1 SQLCHAR 0 12 \"\\r\\n\" 1 a \"\""), "0/0/12/2/1/a;"},
    {ONE("16.0", "1 SQLNCHAR 2 0 \"\" 0 \"\" Latin1_General_CI_AS"), "1/2/0/0/0/;"},
    {ONE("17.0", "1\tSQLINT\t0\t4\t\"\"\t3\t\"a b\"\t\"\""), "6/0/4/0/3/a b;"},
    {"\xEF\xBB\xBF"
     "9.0\r\n2\r\n1 SQLINT 1 4 \"\" 1 a \"\"\r\n\r\n2 SQLDECIMAL 1 19 \"\" 2 b \"\"",
     "6/1/4/0/1/a;12/1/19/0/2/b;"},
    {ONE("9.0", "1 SQLNCHAR 0 20 \"\\t\" 1 a \"\""), "1/0/20/2/1/a;"},
    {ONE("9.0", "1 SQLNCHAR 0 20 \"\\r\\0\\n\\0\" 1 a \"\""), "1/0/20/4/1/a;"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\\\"\" 1 a \"\""), "0/0/0/1/1/a;"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"0x1f\" 1 a \"\""), "0/0/0/1/1/a;"},
    {"", "!line 1: the format file's version"},
    {ONE("6.0", "1 SQLCHAR 0 0 \"\\n\" 1 a"),
     "!version (7.0 to 17.0) expected, not \"6.0\""},
    {ONE("9.5", "1 SQLCHAR 0 0 \"\\n\" 1 a"), "!version"},
    {ONE("18.0", "1 SQLCHAR 0 0 \"\\n\" 1 a"), "!version"},
    {"9.0\n0\n", "!line 2: the number of fields"},
    {"9.0\n5000\n", "!line 2: the number of fields"},
    {"9.0\n", "!the number of fields"},
    {"9.0\n2\n1 SQLCHAR 0 0 \",\" 1 a \"\"\n",
     "!line 4: the file ends behind 1 of 2 fields"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\\n\" 1 a \"\"\n2"), "!line 4: there are more lines"},
    {ONE("9.0", "2 SQLCHAR 0 0 \"\\n\" 1 a \"\""),
     "!line 3: the field's number, 1, expected"},
    {ONE("9.0", "1 SQLFOO 0 0 \"\\n\" 1 a \"\""), "!line 3: its type"},
    {ONE("9.0", "1 SQLCHAR 3 0 \"\\n\" 1 a \"\""), "!line 3: the length of its prefix"},
    {ONE("9.0", "1 SQLCHAR 0 x \"\\n\" 1 a \"\""), "!line 3: its length"},
    {ONE("9.0", "1 SQLCHAR 0 -1 \"\\n\" 1 a \"\""), "!line 3: its length"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\" 1 a \"\""), "!nothing tells where the field ends"},
    {ONE("9.0", "1 SQLINT 0 5 \"\" 1 a \"\""), "!has 4 bytes"},
    {ONE("9.0", "1 SQLNCHAR 0 5 \"\" 1 a \"\""), "!cannot be UTF-16"},
    {ONE("9.0", "1 SQLNCHAR 0 0 \"a\\0b\" 1 a \"\""), "!two bytes a character"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\\q\" 1 a \"\""), "!line 3: terminator"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\\n 1 a"), "!line 3: value 5"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\\n\" x a"), "!line 3: the number of its column"},
    {ONE("9.0", "1 SQLCHAR 0 0"), "!its terminator in quotes expected behind 4 values"},
    {ONE("9.0", "1 SQLCHAR 0 0 \"\\n\" 1 my name x \"\""), "!more than 8 values"},
    {XML_HEAD FIELD_X XML_ROW COLUMN_X XML_TAIL, "0/0/0/1/1/a;"},
    {XML_HEAD
     "<FIELD ID=\"1\" xsi:type=\"NativeFixed\" LENGTH=\"4\"/>"
     "<FIELD ID=\"2\" xsi:type=\"NativePrefix\" PREFIX_LENGTH=\"1\"/>"
     "<FIELD ID=\"3\" xsi:type=\"CharFixed\" LENGTH=\"10\" COLLATION=\"c\"/>"
     "<FIELD ID=\"4\" xsi:type=\"NCharFixed\" LENGTH=\"10\"/>"
     "<FIELD ID=\"5\" xsi:type=\"CharPrefix\" PREFIX_LENGTH=\"2\" MAX_LENGTH=\"32\"/>"
     "<FIELD ID=\"6\" xsi:type=\"NCharPrefix\" PREFIX_LENGTH=\"8\"/>"
     "<FIELD ID=\"7\" xsi:type=\"NCharTerm\" TERMINATOR=\"\\t\\0\" MAX_LENGTH=\"4\"/>"
     "<FIELD ID=\"8\" xsi:type=\"NCharTerm\" TERMINATOR=\"\\r\\n\"/>" XML_ROW
     "<COLUMN SOURCE=\"2\" NAME=\"two\" xsi:type=\"SQLVARYCHAR\"/>"
     "<COLUMN SOURCE=\"1\" NAME=\"one\" xsi:type=\"SQLINT\"/>"
     "<COLUMN SOURCE=\"8\" NAME=\"a&amp;b\" xsi:type=\"SQLNVARCHAR\"/>" XML_TAIL,
     "6/0/4/0/2/one;0/1/0/0/1/two;0/0/10/0/0/-;1/0/10/0/0/-;0/2/32/0/0/-;1/8/0/0/0/-;"
     "1/0/4/2/0/-;1/0/0/4/3/a&b;"},
    {XML_HEAD "<FIELD ID=\"1\" xsi:type=\"CharTerm\" TERMINATOR=\",\" MAX_LENGTH=\"7\"/>"
              "<FIELD ID=\"2\" xsi:type=\"NativePrefix\" PREFIX_LENGTH=\"2\"/>" XML_ROW
              "<COLUMN SOURCE=\"1\" NAME=\"a\" xsi:type=\"SQLSMALLINT\"/>"
              "<COLUMN SOURCE=\"2\" NAME=\"b\" xsi:type=\"SQLVARCHAR\"/>" XML_TAIL,
     "0/0/7/1/1/a;0/2/0/0/2/b;"},
    {"<a/>", "!line 1: BCPFORMAT of the namespace"},
    {"<BCPFORMAT/>", "!namespace"},
    {"<!DOCTYPE a [<!ENTITY b \"c\">]><a/>",
     "!line 1: a format file has no document type"},
    {XML_HEAD FIELD_X, "!not XML"},
    {XML_HEAD FIELD_X XML_ROW XML_TAIL, "!a RECORD with FIELDs"},
    {XML_HEAD FIELD_X FIELD_X XML_ROW XML_TAIL,
     "!line 6: FIELD: the ID \"x\" is there twice"},
    {XML_HEAD "<COLUMN/>" XML_ROW XML_TAIL, "!line 5: FIELD expected, not \"COLUMN\""},
    {XML_HEAD "<FIELD ID=\"x\" xsi:type=\"Foo\"/>" XML_ROW XML_TAIL,
     "!xsi:type (CharTerm"},
    {XML_HEAD "<FIELD xsi:type=\"CharTerm\"/>" XML_ROW XML_TAIL, "!a short ID"},
    {XML_HEAD "<FIELD ID=\"x\" xsi:type=\"CharTerm\"/>" XML_ROW XML_TAIL,
     "!a TERMINATOR"},
    {XML_HEAD
     "<FIELD ID=\"x\" xsi:type=\"CharPrefix\" PREFIX_LENGTH=\"3\"/>" XML_ROW XML_TAIL,
     "!a PREFIX_LENGTH of 1, 2, 4 or 8 expected, not \"3\""},
    {XML_HEAD "<FIELD ID=\"x\" xsi:type=\"CharFixed\"/>" XML_ROW COLUMN_X XML_TAIL,
     "!line 5: FIELD x: a prefix, a length or a terminator"},
    {XML_HEAD "<FIELD ID=\"x\" xsi:type=\"CharFixed\" LENGTH=\"-1\"/>" XML_ROW XML_TAIL,
     "!a number of bytes as LENGTH"},
    {XML_HEAD FIELD_X XML_ROW "<COLUMN SOURCE=\"y\" NAME=\"a\"/>" XML_TAIL,
     "!the ID of a FIELD as SOURCE expected, not \"y\""},
    {XML_HEAD FIELD_X XML_ROW COLUMN_X COLUMN_X XML_TAIL,
     "!line 9: COLUMN: a FIELD of its"},
    {XML_HEAD FIELD_X XML_ROW "<COLUMN SOURCE=\"x\"/>" XML_TAIL, "!the NAME of a column"},
    {XML_HEAD
     "<FIELD ID=\"x\" xsi:type=\"NativeFixed\" LENGTH=\"4\"/>" XML_ROW COLUMN_X XML_TAIL,
     "!COLUMN: an xsi:type"},
};

static struct fr_layout *new_layout(void)
{
    struct fr_layout *l = calloc(1, sizeof *l);

    l->max_field_bytes = 1000;
    return l;
}

START_TEST(test_format_file)
{
    const char *text = format_cases[_i].text, *want = format_cases[_i].want;
    struct fr_layout *l = new_layout();
    struct fr_err err;
    char got[2000] = "";
    fr_status st = fr_format_file_parse("f.fmt", text, strlen(text), l, &err);

    if (st == FR_OK) {
        for (size_t i = 0; i < l->count; i++) {
            const struct fr_layout_field *f = &l->fields[i];
            size_t at = strlen(got);

            snprintf(got + at, sizeof got - at, "%d/%d/%d/%zu/%zu/%s;", (int)f->type,
                     f->prefix_bytes, (int)f->max_bytes, f->terminator.length, f->column,
                     f->name == NULL ? "-" : f->name);
        }
        ck_assert_msg(strcmp(got, want) == 0, "%s: %s, expected %s", text, got, want);
    } else {
        ck_assert_msg(want[0] == '!', "%s: %s", text, err.text);
        ck_assert_int_eq(st, FR_EARG);
        ck_assert_msg(strstr(err.text, want + 1) != NULL, "%s: %s, expected %s", text,
                      err.text, want);
        ck_assert_msg(strncmp(err.text, "f.fmt: ", 7) == 0, "%s", err.text);
    }
    fr_layout_free(&l);
}
END_TEST

#define BYTES(text) text, sizeof(text) - 1

/* Fields between < and >, NULL as -, empty text as ~; ! and a part of the reason, !! for
 * one behind which nothing is known. */
static const struct {
    const char *name;
    const char *format; /* NULL: lines of 3 and 2 bytes */
    const char *in;
    size_t n;
    const char *want;
} split_cases[] = {
    {"lines", NULL, BYTES("abcde\r\n  1  \nxyz12"), "<abc><de>;<  1><  >;<xyz><12>;"},
    {"short and long lines", NULL, BYTES("abcd\nabcdef\n\nabcde\n"),
     "!the line has 4 bytes, less than the 5;!the line has 6 bytes, more;!the line has 0 "
     "bytes;<abc><de>;"},
    {"terminators", "9.0\n2\n1 SQLCHAR 0 0 \"||\" 1 a\n2 SQLCHAR 0 0 \"\\n\" 2 b\n",
     BYTES("a|b||c\r\n||\n\0||\0\nx||y"), "<a|b><c>;<><>;<~><~>;<x><y>;"},
    {"cut off", "9.0\n2\n1 SQLCHAR 0 0 \",\" 1 a\n2 SQLCHAR 0 0 \"\\n\" 2 b\n",
     BYTES("a,b\nc"), "<a><b>;!the file ends in the middle;"},
    {"prefixes",
     "9.0\n4\n1 SQLCHAR 1 0 \"\" 1 a\n2 SQLCHAR 2 0 \"\" 2 b\n3 SQLCHAR 4 0 \"\" 3 c\n"
     "4 SQLCHAR 8 0 \"\" 4 d\n",
     BYTES("\1a\2\0bc\0\0\0\0\1\0\0\0\0\0\0\0d"
           "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
     "<a><bc><~><d>;<-><-><-><->;"},
    {"native", "9.0\n2\n1 SQLSMALLINT 0 2 \"\" 1 a\n2 SQLTINYINT 1 1 \"\" 2 b\n",
     BYTES("ab\1cde\xff"
           "fg\0"),
     "<ab><c>;<de><->;<fg><->;"},
    {"prefix and terminator", "9.0\n1\n1 SQLCHAR 1 0 \"\\n\" 1 a\n",
     BYTES("\2\n\n\n\xff\n"), "<\n\n>;<->;"},
    {"no terminator behind", "9.0\n1\n1 SQLCHAR 1 0 \"\\n\" 1 a\n", BYTES("\1ab"),
     "!!is not followed by its terminator at byte 2;"},
    {"UTF-16", "9.0\n2\n1 SQLNCHAR 0 0 \",\" 1 a\n2 SQLNCHAR 0 0 \"\\n\" 2 b\n",
     /* U+2C00 and U+002C: the terminator's bytes across two characters */
     BYTES("\0,\0,,\0b\0\n\0,\0\0\0\n\0"), "<\1,\1,><b\1>;<><~>;"},
    {"too long for its field", "9.0\n1\n1 SQLCHAR 2 5 \"\" 1 a\n", BYTES("\6\0abcdef"),
     "!!has a length of 6 at byte 0 of the row, more than its 5;"},
    {"too long for any field", "9.0\n1\n1 SQLCHAR 2 0 \"\" 1 a\n", BYTES("\xe9\3"),
     "!!more than --max-field-bytes 1000;"},
    {"longer than the file", "9.0\n1\n1 SQLCHAR 1 0 \"\" 1 a\n", BYTES("\1x\3ab"),
     "<x>;!!has a length of 3 at byte 0 of the row, and of the file are left 2;"},
    {"not the type's length", "9.0\n1\n1 SQLINT 1 4 \"\" 1 a\n", BYTES("\3abc"),
     "!!and its type has 4;"},
    {"half a character", "9.0\n1\n1 SQLNCHAR 1 0 \"\" 1 a\n", BYTES("\3abc"),
     "!!no multiple of 2;"},
    {"nothing", "9.0\n1\n1 SQLINT 1 4 \"\" 1 a\n", BYTES(""), ""},
};

static void describe(const struct fr_record *rec, char *out, size_t room)
{
    size_t at = strlen(out);

    if (rec->bad != NULL) {
        snprintf(out + at, room - at, "%s%s;",
                 rec->bad_kind == FR_BAD_LENGTH ? "!!" : "!", rec->bad);
        return;
    }
    for (size_t i = 0; i < rec->count; i++) {
        const struct fr_field *f = &rec->fields[i];

        at += (size_t)snprintf(out + at, room - at, "<%s",
                               f->is_null  ? "-"
                               : f->quoted ? "~"
                                           : "");
        for (size_t j = 0; j < f->n; j++)
            out[at++] = f->p[j] == '\0' ? '\1' : f->p[j];
        at += (size_t)snprintf(out + at, room - at, ">");
    }
    snprintf(out + at, room - at, ";");
}

/* The parts of `want` one after the other, bad rows by a part of their reason. */
static bool matches(const char *got, const char *want)
{
    while (*want != '\0') {
        size_t n = strcspn(want, ";"), have = strcspn(got, ";");
        size_t marks = strspn(want, "!");
        char part[200];

        if (strspn(got, "!") != marks)
            return false;
        snprintf(part, sizeof part, "%.*s", (int)(n - marks), want + marks);
        if (marks == 0 && (n != have || memcmp(got, want, n) != 0))
            return false;
        if (marks > 0 && memmem(got, have, part, strlen(part)) == NULL)
            return false;
        got += have + (got[have] == ';' ? 1 : 0);
        want += n + (want[n] == ';' ? 1 : 0);
    }
    return *got == '\0';
}

static struct fr_layout *layout_of(const char *format)
{
    struct fr_layout *l = NULL;
    struct fr_load_options o;
    struct fr_err err;
    static char widths[] = "3,2";

    if (format != NULL) {
        l = new_layout();
        ck_assert_msg(fr_format_file_parse("f", format, strlen(format), l, &err) == FR_OK,
                      "%s", err.text);
        return l;
    }
    fr_load_options_init(&o);
    o.format = FR_FORMAT_FIXED;
    o.widths = widths;
    ck_assert_msg(fr_layout_new(&o, NULL, &l, &err) == FR_OK, "%s", err.text);
    l->fields[1].blank_is_null = true;
    return l;
}

START_TEST(test_split)
{
    struct fr_layout *l = layout_of(split_cases[_i].format);
    struct fr_splitter *s = NULL;
    struct fr_err err;

    ck_assert_int_eq(fr_splitter_new_layout(l, &s, &err), FR_OK);
    for (size_t step = 1; step <= split_cases[_i].n + 1; step++) {
        static struct fr_field fields[FR_MAX_FIELDS];
        struct fr_record rec = {.fields = fields};
        const char *p = split_cases[_i].in;
        size_t left = split_cases[_i].n, shown = 0;
        char got[600] = "";
        char *window = NULL;

        for (;;) {
            /* the reader moves a row that does not end: its bytes lie elsewhere */
            char *moved = malloc(shown + 1);
            enum fr_split_result r;

            memcpy(moved, p, shown);
            free(window);
            window = moved;
            r = fr_split_next(s, window, shown, shown == left, &rec);
            if (r == FR_SPLIT_END)
                break;
            if (r == FR_SPLIT_MORE) {
                ck_assert_msg(shown < left, "%s: wants more", split_cases[_i].name);
                shown = shown + step < left ? shown + step : left;
                continue;
            }
            ck_assert_uint_gt(rec.total_bytes, 0);
            ck_assert_uint_le(rec.total_bytes, shown);
            ck_assert_uint_le(rec.body_bytes, rec.total_bytes);
            describe(&rec, got, sizeof got);
            if (rec.bad != NULL && rec.bad_kind == FR_BAD_LENGTH)
                break;
            p += rec.total_bytes;
            left -= rec.total_bytes;
            shown -= rec.total_bytes;
        }
        free(window);
        ck_assert_msg(matches(got, split_cases[_i].want), "%s, %zu bytes at a time: %s",
                      split_cases[_i].name, step, got);
    }
    fr_splitter_free(&s);
    fr_layout_free(&l);
}
END_TEST

/* text NULL: not a value of its type.  The cell has to be what the column's own converter
 * makes of the text. */
static const struct {
    enum fr_host_type host;
    const char *bytes;
    size_t n;
    const char *text;
    enum fr_type column;
    uint8_t precision, scale;
} native_cases[] = {
    {FR_HOST_BIT, BYTES("\1"), "1", FR_TYPE_BIT, 0, 0},
    {FR_HOST_BIT, BYTES("\2"), NULL, FR_TYPE_BIT, 0, 0},
    {FR_HOST_TINYINT, BYTES("\xff"), "255", FR_TYPE_TINYINT, 0, 0},
    {FR_HOST_SMALLINT, BYTES("\0\x80"), "-32768", FR_TYPE_SMALLINT, 0, 0},
    {FR_HOST_INT, BYTES("\0\0\0\x80"), "-2147483648", FR_TYPE_INT, 0, 0},
    {FR_HOST_INT, BYTES("\7\0\0\0"), "7", FR_TYPE_BIGINT, 0, 0},
    {FR_HOST_BIGINT, BYTES("\xff\xff\xff\xff\xff\xff\xff\x7f"), "9223372036854775807",
     FR_TYPE_BIGINT, 0, 0},
    {FR_HOST_REAL, BYTES("\xcd\xcc\xcc\x3d"), "0.1", FR_TYPE_REAL, 0, 0},
    {FR_HOST_REAL, BYTES("\0\0\x80\x7f"), NULL, FR_TYPE_REAL, 0, 0},
    {FR_HOST_FLOAT, BYTES("\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "0.1", FR_TYPE_FLOAT, 0,
     0},
    {FR_HOST_FLOAT, BYTES("\1\0\0\0\0\0\xf8\x7f"), NULL, FR_TYPE_FLOAT, 0, 0},
    {FR_HOST_SMALLMONEY, BYTES("\xff\xff\xff\xff"), "-0.0001", FR_TYPE_SMALLMONEY, 0, 0},
    {FR_HOST_MONEY, BYTES("\0\0\0\x80\0\0\0\0"), "-922337203685477.5808", FR_TYPE_MONEY,
     0, 0},
    {FR_HOST_MONEY, BYTES("\1\0\0\0\2\0\0\0"), "429496.7298", FR_TYPE_MONEY, 0, 0},
    {FR_HOST_DECIMAL, BYTES("\5\2\1\x39\x30\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "123.45",
     FR_TYPE_DECIMAL, 5, 2},
    {FR_HOST_DECIMAL, BYTES("\5\2\0\x01"), "-0.01", FR_TYPE_DECIMAL, 9, 4},
    {FR_HOST_DECIMAL, BYTES("\5\2\0\0"), "-0.00", FR_TYPE_DECIMAL, 5, 2},
    {FR_HOST_DECIMAL, BYTES("\x27\2\1\1"), NULL, FR_TYPE_DECIMAL, 5, 2},
    {FR_HOST_DECIMAL, BYTES("\2\3\1\1"), NULL, FR_TYPE_DECIMAL, 5, 2},
    {FR_HOST_DECIMAL, BYTES("\2\1\2\1"), NULL, FR_TYPE_DECIMAL, 5, 2},
    {FR_HOST_DATE, BYTES("\0\0\0"), "0001-01-01", FR_TYPE_DATE, 0, 0},
    {FR_HOST_DATE, BYTES("\xda\xb9\x37"), "9999-12-31", FR_TYPE_DATE, 0, 0},
    {FR_HOST_DATE, BYTES("\xdb\xb9\x37"), NULL, FR_TYPE_DATE, 0, 0},
    {FR_HOST_DATE, BYTES("\x5a\x5b\x0a"), "1859-05-07", FR_TYPE_DATETIME2, 0, 3},
    {FR_HOST_TIME, BYTES("\xff\xbf\x69\x2a\xc9"), "23:59:59.9999999", FR_TYPE_TIME, 0, 7},
    {FR_HOST_TIME, BYTES("\0\xc0\x69\x2a\xc9"), NULL, FR_TYPE_TIME, 0, 7},
    {FR_HOST_TIME, BYTES("\1\0\0\0\0"), "00:00:00.0000001", FR_TYPE_TIME, 0, 3},
    {FR_HOST_DATETIME, BYTES("\x25\xb1\0\0\1\0\0\0"), "2024-02-29 00:00:00.003",
     FR_TYPE_DATETIME, 0, 0},
    {FR_HOST_DATETIME, BYTES("\x46\x2e\xff\xff\2\0\0\0"), "1753-01-01 00:00:00.007",
     FR_TYPE_DATETIME2, 0, 7},
    {FR_HOST_DATETIME, BYTES("\x45\x2e\xff\xff\0\0\0\0"), NULL, FR_TYPE_DATETIME, 0, 0},
    {FR_HOST_DATETIME, BYTES("\0\0\0\0\0\x82\x8b\1"), NULL, FR_TYPE_DATETIME, 0, 0},
    {FR_HOST_SMALLDATETIME, BYTES("\xff\xff\x9f\5"), "2079-06-06 23:59:00",
     FR_TYPE_SMALLDATETIME, 0, 0},
    {FR_HOST_SMALLDATETIME, BYTES("\0\0\xa0\5"), NULL, FR_TYPE_SMALLDATETIME, 0, 0},
    {FR_HOST_DATETIME2, BYTES("\x80\x44\x20\x86\x08\0\0\0"),
     "0001-01-01 01:01:01.0000000", FR_TYPE_DATETIME2, 0, 7},
    {FR_HOST_DATETIMEOFFSET, BYTES("\0\x68\xc4\x61\x08\x07\x24\x0b\x88\xff"),
     "1999-12-31 23:00:00.0000000 -02:00", FR_TYPE_DATETIMEOFFSET, 0, 0},
    {FR_HOST_DATETIMEOFFSET, BYTES("\0\0\0\0\0\0\0\0\xff\xff"), NULL, FR_TYPE_VARCHAR, 0,
     0},
    {FR_HOST_DATETIMEOFFSET, BYTES("\0\0\0\0\xc0\xda\xb9\x37\x78\0"), NULL,
     FR_TYPE_DATETIMEOFFSET, 0, 7},
    {FR_HOST_DATETIMEOFFSET, BYTES("\0\0\0\0\0\1\0\0\x49\3"), NULL,
     FR_TYPE_DATETIMEOFFSET, 0, 7},
    {FR_HOST_GUID,
     BYTES("\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff"),
     "00112233-4455-6677-8899-AABBCCDDEEFF", FR_TYPE_GUID, 0, 0},
    {FR_HOST_FREETDS_DECIMAL, BYTES("\x09\x02\x01\0\0\x30\x39"), "-123.45",
     FR_TYPE_DECIMAL, 9, 2},
    {FR_HOST_FREETDS_DATE, BYTES("\0\0\0\0\0\0\0\0\x25\xb1\0\0\0\0\0\x40"), "2024-02-29",
     FR_TYPE_DATE, 0, 0},
    {FR_HOST_FREETDS_TIME, BYTES("\0\x4c\x5a\xab\x08\0\0\0\0\0\0\0\0\0\3\x20"),
     "01:02:03.4560000", FR_TYPE_TIME, 0, 3},
    {FR_HOST_FREETDS_DATETIME2, BYTES("\0\x4c\x5a\xab\x08\0\0\0\x25\xb1\0\0\0\0\3\x60"),
     "2024-02-29 01:02:03.4560000", FR_TYPE_DATETIME2, 0, 3},
    {FR_HOST_FREETDS_DATETIMEOFFSET,
     BYTES("\x58\x57\x3b\x12\xc1\0\0\0\x24\xb1\0\0\x78\0\4\xe0"),
     "2024-02-29 01:02:03.4567000 +02:00", FR_TYPE_DATETIMEOFFSET, 0, 4},
};

START_TEST(test_native)
{
    char name[] = "c", text[FR_NATIVE_TEXT_BYTES];
    const char *p = native_cases[_i].bytes, *want = native_cases[_i].text;
    size_t n = native_cases[_i].n;
    struct fr_column column = {.name = name,
                               .type_name = name,
                               .type = native_cases[_i].column,
                               .max_bytes = 100,
                               .precision = native_cases[_i].precision,
                               .scale = native_cases[_i].scale,
                               .code_page = 1252};
    unsigned char by_native[64] = {0}, by_text[64] = {0};
    int32_t native_length = FR_CELL_NULL, text_length = FR_CELL_NULL;
    struct fr_cell cells[] = {
        {.length = &native_length, .data = by_native, .capacity_bytes = sizeof by_native},
        {.length = &text_length, .data = by_text, .capacity_bytes = sizeof by_text}};
    struct fr_load_options o;
    struct fr_converter c;
    struct fr_reason reason;
    struct fr_err err;
    enum fr_conversion got;
    size_t bytes = 0;

    fr_load_options_init(&o);
    ck_assert_int_eq(fr_converter_init(&c, &column, &o, &err), FR_OK);
    if (want != NULL) {
        bytes = fr_native_text(native_cases[_i].host, p, n, text);
        ck_assert_msg(bytes == strlen(want) && memcmp(text, want, bytes) == 0,
                      "%.*s, expected %s", (int)bytes, text, want);
    }
    got = fr_native_convert(native_cases[_i].host, &c, p, n, &cells[0], &reason);
    if (want == NULL) {
        ck_assert_int_eq(got, FR_REFUSED);
    } else {
        ck_assert_msg(got == FR_CONVERTED, "%s: %s", want, reason.text);
        ck_assert_int_eq(c.convert(&c, want, strlen(want), &cells[1], &reason),
                         FR_CONVERTED);
        ck_assert_int_eq(native_length, text_length);
        ck_assert_mem_eq(by_native, by_text, sizeof by_native);
    }
    fr_converter_free(&c);
}
END_TEST

START_TEST(test_utf16)
{
    /* U+0041 U+00E9 U+20AC U+1F600, then half of a pair */
    static const char in[] = "A\0\xe9\0\xac\x20\x3d\xd8\0\xde\0\xd8";
    char out[32];
    size_t n = 0, bad = 0;

    ck_assert(fr_native_utf8(in, 10, out, &n, &bad));
    ck_assert_uint_eq(n, 10);
    ck_assert_mem_eq(out, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10);
    ck_assert(!fr_native_utf8(in, 12, out, &n, &bad));
    ck_assert_uint_eq(bad, 5);
    ck_assert(!fr_native_utf8(in + 8, 2, out, &n, &bad));
    ck_assert_uint_eq(bad, 0);
}
END_TEST

/* A load that goes on must be told when its layout is another one. */
START_TEST(test_hash)
{
    static const char *const texts[] = {
        ONE("9.0", "1 SQLCHAR 0 12 \"\\n\" 1 a"),
        ONE("9.0", "1 SQLCHAR 0 12 \",\" 1 a"),
        ONE("9.0", "1 SQLCHAR 1 12 \"\\n\" 1 a"),
        ONE("9.0", "1 SQLCHAR 0 13 \"\\n\" 1 a"),
        ONE("9.0", "1 SQLNCHAR 0 12 \"\\n\" 1 a"),
        ONE("9.0", "1 SQLCHAR 0 12 \"\\n\" 2 a"),
    };
    uint64_t hashes[COUNT_OF(texts)];

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct fr_layout *l = layout_of(texts[i]);

        hashes[i] = fr_layout_hash(l, 1);
        ck_assert_uint_eq(hashes[i], fr_layout_hash(l, 1));
        for (size_t j = 0; j < i; j++)
            ck_assert_uint_ne(hashes[i], hashes[j]);
        fr_layout_free(&l);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layout");
    TCase *c = tcase_create("layout");

    tcase_add_loop_test(c, test_format_file, 0, (int)COUNT_OF(format_cases));
    tcase_add_loop_test(c, test_split, 0, (int)COUNT_OF(split_cases));
    tcase_add_loop_test(c, test_native, 0, (int)COUNT_OF(native_cases));
    tcase_add_test(c, test_utf16);
    tcase_add_test(c, test_hash);
    suite_add_tcase(s, c);
    return suite_run(s);
}
