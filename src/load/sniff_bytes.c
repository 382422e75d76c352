/* What a sample's bytes tell before any row is looked for. */
#include "load/sniff_priv.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

enum { UTF8_PER_BYTE = 4 };

bool sniff_is_utf8(const char *p, size_t n, bool whole)
{
    for (size_t i = 0; i < n;) {
        uint32_t ch;
        size_t len = fr_utf8_take((const unsigned char *)p + i, n - i, &ch);

        if (len == 0)
            return !whole && n - i < UTF8_PER_BYTE;
        i += len;
    }
    return true;
}

const char *sniff_wide(const char *p, size_t n)
{
    size_t zeros[2] = {0, 0};

    for (size_t i = 0; i < n; i++)
        zeros[i % 2] += p[i] == '\0' ? 1 : 0;
    /* a quarter of the characters have none, or are not ASCII, at most half of them */
    if (n < 4 || (zeros[0] + zeros[1]) * 4 < n)
        return NULL;
    if (zeros[1] > zeros[0] * 4)
        return "UTF-16";
    return zeros[0] > zeros[1] * 4 ? "UTF-16BE" : NULL;
}

/* A quote opens a field where one may begin. */
static bool may_begin_field(const struct sniffer *s, char before)
{
    const char *given = s->o->field_terminator;
    struct fr_terminator field;

    if (given == NULL)
        return strchr("\t\x01|;,\r\n", before) != NULL && before != '\0';
    return before == '\r' || before == '\n' ||
           (fr_terminator_parse(given, false, &field, NULL) == FR_OK &&
            (char)field.bytes[field.length - 1] == before);
}

enum returns sniff_returns(const struct sniffer *s)
{
    char quote = s->o->quote != NULL ? s->o->quote[0] : '"';
    char escape = s->o->escape != NULL ? s->o->escape[0] : '\0';
    size_t returns = 0, feeds = 0;
    bool quoted = false;

    if (s->n == 0 || memchr(s->p, '\r', s->n) == NULL)
        return RETURNS_NONE;
    for (size_t i = 0; i < s->n; i++) {
        char c = s->p[i];

        if (escape != '\0' && c == escape) {
            i++;
        } else if (c == quote && quoted) {
            if (i + 1 < s->n && s->p[i + 1] == quote)
                i++;
            else
                quoted = false;
        } else if (c == quote) {
            quoted = i == 0 || may_begin_field(s, s->p[i - 1]);
        } else if (!quoted && c == '\n') {
            feeds++;
        } else if (!quoted && c == '\r') {
            /* at the end of what is seen a line feed may follow */
            if (i + 1 < s->n ? s->p[i + 1] != '\n' : s->whole)
                returns++;
        }
    }
    /* a quote that does not close hides the rows behind it */
    if (quoted && memchr(s->p, '\n', s->n) == NULL)
        return RETURNS_END_ROWS;
    return returns == 0 ? RETURNS_NONE : feeds == 0 ? RETURNS_END_ROWS : RETURNS_ARE_DATA;
}

bool sniff_has_separator_line(const struct sniffer *s, char *delimiter)
{
    const char *p = s->p, *end = s->p + s->n;
    bool quoted = s->n > 0 && *p == '"';

    p += quoted ? 1 : 0;
    if (end - p < 5 || strncasecmp(p, "sep=", 4) != 0 || p[4] == '\r' || p[4] == '\n')
        return false;
    *delimiter = p[4];
    p += 5;
    if (quoted && (p == end || *p++ != '"'))
        return false;
    return p == end ? s->whole : *p == '\r' || *p == '\n';
}
