#include "load/split.h"

#include <ctype.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static fr_status parse_hex(const char *text, struct fr_terminator *out,
                           struct fr_err *err)
{
    const char *p = text + 2;
    size_t digits = strlen(p);

    if (digits == 0 || digits % 2 != 0 || digits / 2 > FR_MAX_TERMINATOR_BYTES)
        return fr_err_set(err, FR_EARG,
                          "terminator %s: 0x takes 1 to %d pairs of hex digits", text,
                          FR_MAX_TERMINATOR_BYTES);
    for (size_t i = 0; i < digits; i += 2) {
        int high = hex_digit(p[i]), low = hex_digit(p[i + 1]);

        if (high < 0 || low < 0)
            return fr_err_set(err, FR_EARG,
                              "terminator %s: \"%.2s\" is not a pair of hex digits", text,
                              p + i);
        out->bytes[out->length++] = (unsigned char)(high * 16 + low);
    }
    return FR_OK;
}

/* C escapes: \t \n \r \0 \\ \" \' \a \b \f \v \xHH.  Returns false on one it does not
 * know. */
static bool take_escape(const char **p, unsigned char *out)
{
    static const char letters[] = "tnr0\\\"'abfv";
    static const unsigned char values[] = {'\t', '\n', '\r', '\0', '\\', '"',
                                           '\'', 7,    8,    12,   11};
    const char *at;

    if ((*p)[0] == 'x') {
        int high = hex_digit((*p)[1]);
        int low = high < 0 ? -1 : hex_digit((*p)[2]);

        if (low < 0)
            return false;
        *out = (unsigned char)(high * 16 + low);
        *p += 3;
        return true;
    }
    at = (*p)[0] == '\0' ? NULL : strchr(letters, (*p)[0]);
    if (at == NULL)
        return false;
    *out = values[at - letters];
    *p += 1;
    return true;
}

fr_status fr_terminator_parse(const char *text, bool is_row, struct fr_terminator *out,
                              struct fr_err *err)
{
    const char *p = text;

    memset(out, 0, sizeof *out);
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2] != '\0')
        return parse_hex(text, out, err);
    while (*p != '\0') {
        unsigned char byte;

        if (out->length == FR_MAX_TERMINATOR_BYTES)
            return fr_err_set(err, FR_EARG, "terminator %s is longer than %d bytes", text,
                              FR_MAX_TERMINATOR_BYTES);
        if (*p == '\\' && p[1] != '\0') {
            p++;
            if (!take_escape(&p, &byte))
                return fr_err_set(err, FR_EARG,
                                  "terminator %s: \\%c is not an escape (\\t \\n \\r \\0 "
                                  "\\\\ \\xHH)",
                                  text, *p);
        } else {
            byte = (unsigned char)*p++;
        }
        /* BULK INSERT's rule: a row's \n stands for LF and CRLF; an explicit \r\n stays
         * as it is */
        if (is_row && byte == '\n' &&
            (out->length == 0 || out->bytes[out->length - 1] != '\r'))
            out->loose_newline[out->length] = true;
        out->bytes[out->length++] = byte;
    }
    if (out->length == 0)
        return fr_err_set(
            err, FR_EARG,
            "a terminator cannot be empty: leave the option out for the default");
    return FR_OK;
}

size_t fr_terminator_match(const struct fr_terminator *t, const char *p, size_t n,
                           bool *partial)
{
    size_t at = 0;

    *partial = false;
    for (size_t i = 0; i < t->length; i++) {
        if (at < n && t->loose_newline[i] && p[at] == '\r')
            at++;
        if (at >= n) {
            *partial = true;
            return 0;
        }
        if ((unsigned char)p[at] != t->bytes[i])
            return 0;
        at++;
    }
    return at;
}
