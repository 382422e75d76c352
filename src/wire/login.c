#include "wire/login.h"

#include "wire/charset.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_PRELOGIN_BYTES = 4096,
    MAX_FIELD_UNITS = 128,     /* of every name and of the password */
    OPTION_ENCRYPTION = 1,
    OPTION_END = 0xFF
};

bool wire_prelogin_parse(const unsigned char *p, size_t n, enum wire_encryption *out)
{
    enum { ENTRY_BYTES = 5 };

    /* a list of {option, offset, length}, then what it points to */
    for (size_t at = 0; at < n && p[at] != OPTION_END; at += ENTRY_BYTES) {
        size_t place, length;

        if (n - at < ENTRY_BYTES)
            return false;
        place = (size_t)(p[at + 1] << 8 | p[at + 2]);
        length = (size_t)(p[at + 3] << 8 | p[at + 4]);
        if (place > n || length > n - place)
            return false;
        if (p[at] != OPTION_ENCRYPTION)
            continue;
        if (length != 1 || p[place] > WIRE_ENCRYPTION_REQUIRED)
            return false;
        *out = (enum wire_encryption)p[place];
        return true;
    }
    return false;
}

fr_status wire_prelogin(struct wire *w, enum wire_encryption ask,
                        enum wire_encryption *answer, struct fr_err *err)
{
    unsigned char message[] = {0,    0, 21, 0, 6, /* version */
                               1,    0, 27, 0, 1, /* encryption */
                               2,    0, 28, 0, 1, /* instance */
                               4,    0, 29, 0, 1, /* several active results */
                               0xFF, 1, 0,  0, 0, 0, 0, (unsigned char)ask, 0, 0};
    struct wire_out *o = wire_begin(w, WIRE_PACKET_PRELOGIN);
    size_t n = 0;
    bool ok;

    if (!wire_put(o, message, sizeof message))
        wire_sending_error(o, "prelogin", err);
    else if (wire_end(o, err) == FR_OK) {
        while (n <= MAX_PRELOGIN_BYTES && wire_need(w, n + 1) != NULL)
            n = wire_buffered(w);
        ok = w->fault == WIRE_FAULT_NONE && n <= MAX_PRELOGIN_BYTES &&
             wire_prelogin_parse(w->in + w->in_at, n, answer);
        w->in_at = w->in_end;
        if (ok && wire_is_drained(w))
            return FR_OK;
        if (w->fault == WIRE_FAULT_NONE)
            wire_protocol_fault(w, "a prelogin answer of %zu bytes", n);
        (void)wire_fault_error(w, "prelogin", err);
    }
    if (err != NULL)
        err->status = FR_ECONNECT;
    return FR_ECONNECT;
}

struct login_message {
    unsigned char bytes[94 + 2 * MAX_FIELD_UNITS * 8];
    size_t used;
};

static void set_u16(unsigned char *p, size_t v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}

static void set_u32(unsigned char *p, size_t v)
{
    set_u16(p, v & 0xFFFF);
    set_u16(p + 2, v >> 16);
}

/* Add a text behind what is there, its place and length to the table at `entry`. */
static bool add_field(struct login_message *m, size_t entry, const char *text)
{
    struct fr_buf utf16;
    bool ok;

    fr_buf_init(&utf16, 2 * MAX_FIELD_UNITS);
    /* all room at once, so that a password is never moved and left behind */
    ok = fr_buf_reserve(&utf16, 2 * MAX_FIELD_UNITS) &&
         (text == NULL || wire_put_utf16(&utf16, text));
    if (ok) {
        set_u16(m->bytes + entry, m->used);
        set_u16(m->bytes + entry + 2, utf16.len / 2);
        memcpy(m->bytes + m->used, fr_buf_text(&utf16), utf16.len);
        m->used += utf16.len;
    }
    if (utf16.data != NULL)
        explicit_bzero(utf16.data, utf16.cap);
    fr_buf_free(&utf16);
    return ok;
}

/* Not encryption: nibbles swapped, then xor (MS-TDS 2.2.6.4). */
static void obfuscate(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)((p[i] << 4 | p[i] >> 4) ^ 0xA5);
}

static uint32_t wanted_packet_bytes(const struct fr_connect *how)
{
    if (how->packet_bytes == 0)
        return how->for_bulk ? FR_BULK_PACKET_BYTES : WIRE_DEFAULT_PACKET_BYTES;
    if (how->packet_bytes < WIRE_MIN_PACKET_BYTES)
        return WIRE_MIN_PACKET_BYTES;
    return how->packet_bytes < WIRE_MAX_PACKET_BYTES ? how->packet_bytes
                                                     : WIRE_MAX_PACKET_BYTES;
}

/* Places in LOGIN7's table of {offset, length}. */
enum {
    AT_HOST = 36,
    AT_USER = 40,
    AT_PASSWORD = 44,
    AT_APPLICATION = 48,
    AT_SERVER = 52,
    AT_LIBRARY = 60,
    AT_LANGUAGE = 64,
    AT_DATABASE = 68,
    LOGIN_FIXED_BYTES = 94
};

static bool make_login(struct login_message *m, const struct fr_connect *how,
                       const char *host)
{
    enum {
        TDS_7_4 = 0x74000004,
        /* a USE that must succeed, a language that is told */
        FLAGS_1 = 0x20 | 0x40 | 0x80,
        /* an ODBC client: the ANSI options, and no cut at 4,096 bytes (TEXTSIZE) */
        FLAGS_2 = 0x01 | 0x02,
        CLIENT_VERSION = 0x01000000
    };
    char own_host[MAX_FIELD_UNITS] = "";
    size_t password_at;
    bool ok;

    if (gethostname(own_host, sizeof own_host - 1) != 0)
        own_host[0] = '\0';
    memset(m->bytes, 0, LOGIN_FIXED_BYTES);
    m->used = LOGIN_FIXED_BYTES;
    set_u32(m->bytes + 4, TDS_7_4);
    set_u32(m->bytes + 8, wanted_packet_bytes(how));
    set_u32(m->bytes + 12, CLIENT_VERSION);
    set_u32(m->bytes + 16, (size_t)getpid());
    m->bytes[24] = FLAGS_1;
    m->bytes[25] = FLAGS_2;
    ok = add_field(m, AT_HOST, own_host) && add_field(m, AT_USER, how->user);
    password_at = m->used;
    ok = ok && add_field(m, AT_PASSWORD, fr_secret_reveal(how->password));
    obfuscate(m->bytes + password_at, m->used - password_at);
    ok = ok && add_field(m, AT_APPLICATION, how->application) &&
         add_field(m, AT_SERVER, host) && add_field(m, AT_LIBRARY, "fullrack") &&
         add_field(m, AT_LANGUAGE, NULL) && add_field(m, AT_DATABASE, how->database);
    set_u32(m->bytes, m->used);
    return ok;
}

fr_status wire_send_login(struct wire *w, const struct fr_connect *how, const char *host,
                          struct fr_err *err)
{
    struct login_message m;
    struct wire_out *o;
    fr_status st;

    if (!make_login(&m, how, host)) {
        st = fr_err_set(err, FR_EARG,
                        "a login name, password, application or database is longer than "
                        "%d characters",
                        MAX_FIELD_UNITS);
    } else {
        o = wire_begin(w, WIRE_PACKET_LOGIN);
        st = wire_put(o, m.bytes, m.used) ? wire_end(o, err)
                                          : wire_sending_error(o, "login", err);
        explicit_bzero(w->out_buffer, m.used);
    }
    explicit_bzero(&m, sizeof m);
    return st;
}

fr_status wire_read_login(struct wire *w, const struct fr_connect *how,
                          struct fr_err *err)
{
    struct wire_reply reply = {0};
    char what[400];
    fr_status st;

    snprintf(what, sizeof what, "cannot log in to %s as %s", how->server, how->user);
    st = wire_read_reply(w, &reply, what, err);
    if (st == FR_OK && !w->is_logged_in && w->route.host[0] == '\0')
        st = fr_err_set(err, FR_ECONNECT, "%s: the server neither accepts nor refuses",
                        what);
    if (st != FR_OK && err != NULL)
        err->status = FR_ECONNECT;
    return st == FR_OK ? FR_OK : FR_ECONNECT;
}
