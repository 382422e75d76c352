/* Texts to numbers, as CAST reads them. */
#include "server/value/convert_priv.h"
#include "server/value/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void trim(const char **s, size_t *n)
{
    while (*n > 0 && is_blank((*s)[*n - 1]))
        --*n;
    while (*n > 0 && is_blank(**s)) {
        ++*s;
        --*n;
    }
}

int parse_integer(const char *s, size_t n, int64_t *out)
{
    bool negative = false;
    uint64_t most, m = 0;

    *out = 0;
    trim(&s, &n);
    if (n == 0)
        return 1;
    if (*s == '-' || *s == '+') {
        negative = *s == '-';
        s++;
        n--;
        trim(&s, &n);
    }
    if (n == 0)
        return 0;
    most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return 0;
        if (m <= most)
            m = m > (most - (unsigned)(s[i] - '0')) / 10
                    ? most + 1
                    : m * 10 + (unsigned)(s[i] - '0');
    }
    if (m > most)
        return -1;
    *out = negative ? (int64_t)(0 - m) : (int64_t)m;
    return 1;
}

int parse_float(const char *s, size_t n, double *out)
{
    char text[400];
    char *end;
    size_t digits;

    *out = 0;
    trim(&s, &n);
    if (n == 0)
        return 1;
    if (n >= sizeof text)
        return 0;
    /* strtod also reads hex, infinity and nan: only digits, signs, a point and e may pass
     */
    for (size_t i = 0; i < n; i++)
        if (s[i] == '\0' || strchr("0123456789+-.eE", s[i]) == NULL)
            return 0;
    memcpy(text, s, n);
    text[n] = '\0';
    digits = strcspn(text, "0123456789");
    if (digits > 2)
        return 0;
    *out = strtod(text, &end);
    if (*end != '\0')
        return 0;
    return isfinite(*out) ? 1 : -1;
}

/* Bytes of a currency sign at the start, 0 when there is none. */
static size_t currency(const char *s, size_t n)
{
    static const char *const signs[] = {"$",        "\xC2\xA3", "\xC2\xA2",
                                        "\xC2\xA4", "\xC2\xA5", "\xE2\x82\xAC"};

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (n >= strlen(signs[i]) && memcmp(s, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

int parse_money(const char *s, size_t n, int64_t *out)
{
    char text[128];
    size_t at = 0, sign;
    frd_int128 wide;
    bool seen_sign = false, seen_currency = false;
    int rc;

    *out = 0;
    trim(&s, &n);
    if (n == 0)
        return 1;
    /* sign and currency in either order, then digits with commas among them */
    while (n > 0) {
        sign = currency(s, n);
        if (sign > 0 && !seen_currency) {
            seen_currency = true;
            s += sign;
            n -= sign;
        } else if ((*s == '-' || *s == '+') && !seen_sign) {
            seen_sign = true;
            text[at++] = *s++;
            n--;
        } else if (*s == ' ' && (seen_sign || seen_currency)) {
            s++;
            n--;
        } else {
            break;
        }
    }
    if (n == 0)
        return seen_sign ? 0 : 1;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == ',' && i > 0)
            continue;
        if (s[i] == '-' || s[i] == '+' || at + 1 >= sizeof text)
            return 0;
        text[at++] = s[i];
    }
    rc = decimal_parse(text, at, 4, &wide);
    if (rc != 1)
        return rc;
    if (wide < INT64_MIN || wide > INT64_MAX)
        return -1;
    *out = (int64_t)wide;
    return 1;
}
