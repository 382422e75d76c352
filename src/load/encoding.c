#include "load/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BYTES = 256, ENCODED_BYTES = 4096 };

struct fr_recoder {
    iconv_t iconv;
};

struct name_pair {
    const char *given, *iconv;
};

/* Names that mean something else to iconv, or nothing: without a mark it would take the
 * machine's byte order, or the network's. */
static const struct name_pair names[] = {
    {"UTF-8", ""},
    {"UTF8", ""},
    {"65001", ""},
    {"CP65001", ""},
    {"ASCII", ""},
    {"UTF-16", "UTF-16LE"},
    {"UTF16", "UTF-16LE"},
    {"UCS-2", "UTF-16LE"},
    {"UCS2", "UTF-16LE"},
    {"UNICODE", "UTF-16LE"},
    {"UTF-32", "UTF-32LE"},
    {"UTF32", "UTF-32LE"},
    /* code pages by their numbers and as ACP, as bcp's -C and CODEPAGE have them */
    {"437", "CP437"},
    {"850", "CP850"},
    {"852", "CP852"},
    {"866", "CP866"},
    {"874", "CP874"},
    {"932", "CP932"},
    {"936", "CP936"},
    {"949", "CP949"},
    {"950", "CP950"},
    {"1200", "UTF-16LE"},
    {"1250", "CP1250"},
    {"1251", "CP1251"},
    {"1252", "CP1252"},
    {"ACP", "CP1252"},
    {"1253", "CP1253"},
    {"1254", "CP1254"},
    {"1255", "CP1255"},
    {"1256", "CP1256"},
    {"1257", "CP1257"},
    {"1258", "CP1258"},
    {"28591", "ISO-8859-1"},
};

static const struct {
    const char *bytes;
    size_t n;
    const char *iconv;
} marks[] = {
    {"\xEF\xBB\xBF", 3, ""},
    /* before the mark of UTF-16, which it begins with */
    {"\xFF\xFE\0\0", 4, "UTF-32LE"},
    {"\0\0\xFE\xFF", 4, "UTF-32BE"},
    {"\xFF\xFE", 2, "UTF-16LE"},
    {"\xFE\xFF", 2, "UTF-16BE"},
};

static const char *iconv_name(const char *option)
{
    if (option == NULL)
        return "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(option, names[i].given) == 0)
            return names[i].iconv;
    return option;
}

/* Who asked for UTF-16 means it: a NUL character may follow its mark. */
static bool is_utf16(const char *name)
{
    return strncasecmp(name, "UTF-16", 6) == 0;
}

const char *fr_encoding_guess(const char *first, size_t n)
{
    size_t pairs = n / 2, zeros[2] = {0, 0};

    for (size_t i = 0; i < 2 * pairs; i++)
        zeros[i % 2] += first[i] == '\0' ? 1 : 0;
    /* no character that text has is 0: such bytes are never in both places, and where
     * text is ASCII in the main they are nearly always in one */
    if (pairs < 2 || (zeros[0] > 0 && zeros[1] > 0) ||
        (zeros[0] + zeros[1]) * 4 < pairs * 3)
        return "";
    return zeros[1] > 0 ? "UTF-16LE" : "UTF-16BE";
}

static fr_status open_recoder(const char *to, const char *from, struct fr_recoder **out,
                              struct fr_err *err)
{
    struct fr_recoder *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for an encoding");
    r->iconv = iconv_open(to, from);
    if (r->iconv == (iconv_t)-1) {
        free(r);
        return fr_err_set(err, FR_EARG, "this system's iconv has no way from %s to %s",
                          from, to);
    }
    *out = r;
    return FR_OK;
}

void fr_recoder_close(struct fr_recoder **rp)
{
    if (rp == NULL || *rp == NULL)
        return;
    iconv_close((*rp)->iconv);
    free(*rp);
    *rp = NULL;
}

static enum fr_recoded outcome(size_t rc)
{
    if (rc != (size_t)-1)
        return FR_RECODED_ALL;
    return errno == E2BIG    ? FR_RECODED_FULL
           : errno == EINVAL ? FR_RECODED_CUT
                             : FR_RECODED_BAD;
}

enum fr_recoded fr_recode(struct fr_recoder *r, const char **in, size_t *n, char **out,
                          size_t *room)
{
    /* iconv(3) takes char ** but only reads */
    char *p = (char *)(uintptr_t)*in;
    size_t rc = iconv(r->iconv, &p, n, out, room);

    *in = p;
    return outcome(rc);
}

enum fr_recoded fr_recode_end(struct fr_recoder *r, char **out, size_t *room)
{
    return outcome(iconv(r->iconv, NULL, NULL, out, room));
}

struct fr_byte_table {
    char text[BYTES][FR_BYTE_TABLE_MOST];
    uint8_t length[BYTES]; /* 0 = no character */
};

/* What one byte alone is.  False: it is not a character by itself. */
static bool ask_byte(struct fr_recoder *r, unsigned byte, struct fr_byte_table *t)
{
    char in = (char)byte;
    const char *p = &in;
    char *out = t->text[byte];
    size_t n = 1, room = FR_BYTE_TABLE_MOST;
    enum fr_recoded got;

    (void)fr_recode_end(r, NULL, NULL);
    got = fr_recode(r, &p, &n, &out, &room);
    t->length[byte] = (uint8_t)(FR_BYTE_TABLE_MOST - room);
    return got == FR_RECODED_BAD || (got == FR_RECODED_ALL && t->length[byte] > 0);
}

fr_status fr_byte_table_open(const char *name, struct fr_byte_table **out,
                             struct fr_err *err)
{
    struct fr_byte_table *t = calloc(1, sizeof *t);
    struct fr_recoder *r = NULL;
    fr_status st = FR_OK;

    *out = NULL;
    if (t == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for an encoding");
    (void)open_recoder("UTF-8", name, &r, NULL);
    if (r == NULL) {
        free(t);
        return fr_err_set(err, FR_EARG,
                          "encoding %s is not known to this system's iconv (`iconv -l` "
                          "lists what is)",
                          name);
    }
    for (unsigned i = 0; st == FR_OK && i < BYTES; i++)
        if (!ask_byte(r, i, t))
            st = FR_EMPTY;
    fr_recoder_close(&r);
    if (st == FR_OK)
        *out = t;
    else
        free(t);
    return st;
}

void fr_byte_table_free(struct fr_byte_table **tp)
{
    if (tp == NULL)
        return;
    free(*tp);
    *tp = NULL;
}

bool fr_byte_table_has_ascii(const struct fr_byte_table *t)
{
    for (unsigned i = 0; i < 0x80; i++)
        if (t->length[i] != 1 || (unsigned char)t->text[i][0] != i)
            return false;
    return true;
}

size_t fr_byte_table_decode(const struct fr_byte_table *t, const char *p, size_t n,
                            char *out, size_t *out_bytes)
{
    size_t at = 0, i = 0;

    for (; i < n; i++) {
        unsigned char byte = (unsigned char)p[i];

        if (t->length[byte] == 0)
            break;
        memcpy(out + at, t->text[byte], FR_BYTE_TABLE_MOST);
        at += t->length[byte];
    }
    *out_bytes = at;
    return i;
}

bool fr_byte_table_encode(const struct fr_byte_table *t, const char *text, char *out)
{
    while (*text != '\0') {
        unsigned byte = 0;

        while (byte < BYTES && (t->length[byte] == 0 ||
                                strncmp(text, t->text[byte], t->length[byte]) != 0))
            byte++;
        if (byte == BYTES)
            return false;
        *out++ = (char)byte;
        text += t->length[byte];
    }
    *out = '\0';
    return true;
}

fr_status fr_encoding_choose(const char *first, size_t n, const char *option,
                             struct fr_encoding *out, struct fr_err *err)
{
    const char *name = iconv_name(option);
    struct fr_byte_table *table = NULL;
    fr_status st;

    memset(out, 0, sizeof *out);
    if (strlen(name) >= sizeof out->name || strstr(name, "//") != NULL)
        return fr_err_set(err, FR_EARG,
                          "encoding %.100s: give the plain name of an encoding, as "
                          "`iconv -l` lists it",
                          name);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (n < marks[i].n || memcmp(first, marks[i].bytes, marks[i].n) != 0 ||
            (marks[i].n == 4 && is_utf16(name)))
            continue;
        memcpy(out->mark, marks[i].bytes, marks[i].n);
        out->mark_bytes = marks[i].n;
        name = marks[i].iconv;
        break;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    if (name[0] == '\0')
        return FR_OK;
    st = fr_byte_table_open(name, &table, err);
    out->by_field = st == FR_OK && table != NULL && fr_byte_table_has_ascii(table);
    fr_byte_table_free(&table);
    return st == FR_EMPTY ? FR_OK : st;
}

fr_status fr_decoder_open(const struct fr_encoding *e, struct fr_recoder **out,
                          struct fr_err *err)
{
    return open_recoder("UTF-8", e->name, out, err);
}

fr_status fr_encoder_open(const struct fr_encoding *e, struct fr_recoder **out,
                          struct fr_err *err)
{
    return open_recoder(e->name, "UTF-8", out, err);
}

fr_status fr_encode_text(struct fr_recoder *r, const char *p, size_t n, fr_encoded_fn put,
                         void *ctx, struct fr_err *err)
{
    bool ended = false;

    while (!ended) {
        char encoded[ENCODED_BYTES], *out = encoded;
        size_t room = sizeof encoded;
        enum fr_recoded got = fr_recode(r, &p, &n, &out, &room);
        fr_status st;

        if (got == FR_RECODED_ALL)
            got = fr_recode_end(r, &out, &room);
        if (got == FR_RECODED_BAD || got == FR_RECODED_CUT)
            return FR_EDATA;
        ended = got == FR_RECODED_ALL;
        st = put(ctx, encoded, sizeof encoded - room, err);
        if (st != FR_OK)
            return st;
    }
    return FR_OK;
}
