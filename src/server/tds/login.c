#include "server/tds/login.h"

#include "server/tds/wire.h"
#include "server/value/text.h"

#include <stddef.h>
#include <string.h>

static uint32_t u16_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32_at(const unsigned char *p)
{
    return u16_at(p) | u16_at(p + 2) << 16;
}

enum prelogin_option {
    PL_VERSION = 0,
    PL_ENCRYPTION = 1,
    PL_INSTOPT = 2,
    PL_THREADID = 3,
    PL_MARS = 4,
    PL_TRACEID = 5,
    PL_NONCE = 7,
    PL_TERMINATOR = 0xFF
};

bool prelogin_parse(const unsigned char *p, size_t n, struct prelogin *out)
{
    memset(out, 0, sizeof *out);
    out->encryption = ENCRYPT_NOT_SUP;
    for (size_t at = 0; at < n; at += 5) {
        size_t offset, length;

        if (p[at] == PL_TERMINATOR)
            return true;
        if (at + 5 > n)
            return false;
        /* big-endian here, unlike everywhere else */
        offset = (size_t)p[at + 1] << 8 | p[at + 2];
        length = (size_t)p[at + 3] << 8 | p[at + 4];
        if (offset > n || length > n - offset)
            return false;
        if (p[at] == PL_ENCRYPTION && length >= 1)
            out->encryption = p[offset];
        else if (p[at] == PL_MARS && length >= 1)
            out->mars = p[offset] != 0;
        else if (p[at] == PL_NONCE)
            out->has_nonce = true;
    }
    return false;
}

size_t prelogin_answer(unsigned char *out, uint8_t encryption)
{
    /* option, offset, length; then version 16.0.4105.0, encryption, instance, MARS */
    static const unsigned char answer[] = {PL_VERSION,
                                           0,
                                           26,
                                           0,
                                           6,
                                           PL_ENCRYPTION,
                                           0,
                                           32,
                                           0,
                                           1,
                                           PL_INSTOPT,
                                           0,
                                           33,
                                           0,
                                           1,
                                           PL_THREADID,
                                           0,
                                           34,
                                           0,
                                           0,
                                           PL_MARS,
                                           0,
                                           34,
                                           0,
                                           1,
                                           PL_TERMINATOR,
                                           16,
                                           0,
                                           4105 >> 8,
                                           4105 & 0xFF,
                                           0,
                                           0,
                                           0 /* encryption */,
                                           0,
                                           0};

    memcpy(out, answer, sizeof answer);
    out[32] = encryption;
    return sizeof answer;
}

enum {
    FIXED_BYTES = 94,
    AT_VERSION = 4,
    AT_PACKET_SIZE = 8,
    AT_PID = 16,
    AT_FLAGS2 = 25,
    AT_FLAGS3 = 27,
    AT_EXTENSION = 56,
    FLAG2_ODBC = 0x02,
    FLAG2_INTEGRATED = 0x80,
    FLAG3_CHANGE_PASSWORD = 0x01,
    FLAG3_EXTENSION = 0x10,
    FEATURE_UTF8 = 0x0A
};

/* Where the offset and length of each text stand, and where it goes. */
static const struct {
    size_t at, to;
    bool password;
} fields[] = {
    {36, offsetof(struct tds_login, host_name), false},
    {40, offsetof(struct tds_login, user), false},
    {44, offsetof(struct tds_login, password), true},
    {48, offsetof(struct tds_login, program_name), false},
    {52, offsetof(struct tds_login, server_name), false},
    {60, offsetof(struct tds_login, client_interface), false},
    {64, offsetof(struct tds_login, language), false},
    {68, offsetof(struct tds_login, database), false},
};

static void wipe(void *p, size_t n)
{
    volatile unsigned char *q = p;

    while (n-- > 0)
        *q++ = 0;
}

/* One text field; a password's bytes have their halves swapped and are xored with A5. */
static bool parse_field(const unsigned char *p, size_t n, size_t i, struct tds_login *out)
{
    size_t offset = u16_at(p + fields[i].at), units = u16_at(p + fields[i].at + 2);
    unsigned char plain[256];
    char *to = (char *)out + fields[i].to;
    struct fr_buf text;
    bool ok;

    if (units == 0)
        return true;
    if (units > 128 || offset > n || 2 * units > n - offset)
        return false;
    memcpy(plain, p + offset, 2 * units);
    if (fields[i].password)
        for (size_t k = 0; k < 2 * units; k++) {
            plain[k] ^= 0xA5;
            plain[k] = (unsigned char)(plain[k] << 4 | plain[k] >> 4);
        }
    fr_buf_init(&text, LOGIN_NAME_BYTES - 1);
    /* reserved whole: no half of a password stays behind in freed memory */
    ok = fr_buf_reserve(&text, LOGIN_NAME_BYTES - 1) &&
         text_from_utf16le(plain, 2 * units, &text);
    if (ok)
        memcpy(to, text.data, text.len + 1);
    if (fields[i].password && text.data != NULL)
        wipe(text.data, text.len);
    wipe(plain, sizeof plain);
    fr_buf_free(&text);
    return ok;
}

/* MS-TDS 2.2.6.4, FeatureExt: id, length, data, ... FF */
static bool parse_features(const unsigned char *p, size_t n, struct tds_login *out)
{
    size_t at = u16_at(p + AT_EXTENSION), size = u16_at(p + AT_EXTENSION + 2);

    if (size < 4 || at > n || n - at < 4)
        return false;
    at = u32_at(p + at);
    while (at < n && p[at] != 0xFF) {
        size_t length;

        if (n - at < 5)
            return false;
        length = u32_at(p + at + 1);
        if (length > n - at - 5)
            return false;
        if (p[at] == FEATURE_UTF8)
            out->utf8 = true;
        at += 5 + length;
    }
    return at < n;
}

bool login_parse(const unsigned char *p, size_t n, struct tds_login *out)
{
    memset(out, 0, sizeof *out);
    if (n < FIXED_BYTES || u32_at(p) > n || u32_at(p) < FIXED_BYTES)
        return false;
    n = u32_at(p);
    out->tds_version = u32_at(p + AT_VERSION);
    out->packet_size = u32_at(p + AT_PACKET_SIZE);
    out->client_pid = u32_at(p + AT_PID);
    out->odbc = (p[AT_FLAGS2] & FLAG2_ODBC) != 0;
    out->integrated = (p[AT_FLAGS2] & FLAG2_INTEGRATED) != 0;
    out->change_password = (p[AT_FLAGS3] & FLAG3_CHANGE_PASSWORD) != 0;
    /* before 7.4 the bit means nothing, though clients set it */
    out->extension = (p[AT_FLAGS3] & FLAG3_EXTENSION) != 0 &&
                     login_version(out->tds_version) >= TDS_7_4;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!parse_field(p, n, i, out))
            return false;
    return !out->extension || parse_features(p, n, out);
}

void login_wipe(struct tds_login *l)
{
    wipe(l->password, sizeof l->password);
}

uint32_t login_version(uint32_t asked)
{
    if (asked >= 0x74000000 && asked < 0x80000000)
        return TDS_7_4;
    if (asked >= TDS_7_3 && asked < 0x74000000)
        return TDS_7_3;
    if (asked >= 0x73000000 && asked < 0x74000000)
        return TDS_7_3A;
    return asked >= 0x72000000 && asked < 0x73000000 ? TDS_7_2 : 0;
}
