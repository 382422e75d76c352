#include "tds_client.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tc_u8(struct fr_buf *b, unsigned v)
{
    fr_buf_add_byte(b, (unsigned char)v);
}

void tc_u16(struct fr_buf *b, unsigned v)
{
    tc_u8(b, v & 0xFF);
    tc_u8(b, v >> 8);
}

void tc_u32(struct fr_buf *b, uint32_t v)
{
    tc_u16(b, v & 0xFFFF);
    tc_u16(b, v >> 16);
}

void tc_u64(struct fr_buf *b, uint64_t v)
{
    tc_u32(b, (uint32_t)v);
    tc_u32(b, (uint32_t)(v >> 32));
}

void tc_text(struct fr_buf *b, const char *ascii)
{
    for (; *ascii != '\0'; ascii++)
        tc_u16(b, (unsigned char)*ascii);
}

void tc_hex(struct fr_buf *b, const char *hex)
{
    while (*hex != '\0') {
        char pair[3] = {0};

        if (isspace((unsigned char)*hex)) {
            hex++;
            continue;
        }
        memcpy(pair, hex, 2);
        tc_u8(b, (unsigned)strtoul(pair, NULL, 16));
        hex += 2;
    }
}

void tc_message(struct fr_buf *out, uint8_t type, const struct fr_buf *payload,
                size_t packet_bytes)
{
    size_t at = 0, room = packet_bytes - 8;

    do {
        size_t n = payload->len - at < room ? payload->len - at : room;

        tc_u8(out, type);
        tc_u8(out, at + n == payload->len ? 1 : 0);
        tc_u8(out, (unsigned)((n + 8) >> 8));
        tc_u8(out, (unsigned)((n + 8) & 0xFF));
        tc_u32(out, 0);
        fr_buf_add(out, fr_buf_text(payload) + at, n);
        at += n;
    } while (at < payload->len);
}

static void add_field(struct fr_buf *head, struct fr_buf *texts, const char *s,
                      bool secret)
{
    tc_u16(head, (unsigned)(94 + texts->len));
    tc_u16(head, (unsigned)strlen(s));
    for (; *s != '\0'; s++)
        for (int half = 0; half < 2; half++) {
            unsigned b = half == 0 ? (unsigned char)*s : 0;

            tc_u8(texts, secret ? ((b << 4 | b >> 4) & 0xFF) ^ 0xA5 : b);
        }
}

void tc_login(struct fr_buf *out, const struct login_fields *f)
{
    struct fr_buf pre, head, texts;

    fr_buf_init(&pre, 4096);
    fr_buf_init(&head, 4096);
    fr_buf_init(&texts, 4096);
    tc_hex(&pre, "00 000B 0006  01 0011 0001  FF 000000000000  02");
    tc_message(out, 0x12, &pre, 4096);

    tc_u32(&head, f->tds_version);
    tc_u32(&head, 4096);
    tc_u32(&head, 7);    /* program version */
    tc_u32(&head, 1234); /* process id */
    tc_u32(&head, 0);
    tc_u32(&head, 0x000003E0); /* flags */
    tc_u32(&head, 0);
    tc_u32(&head, 0x0409);
    add_field(&head, &texts, "host", false);
    add_field(&head, &texts, f->user, false);
    add_field(&head, &texts, f->password, true);
    add_field(&head, &texts, "check", false);
    add_field(&head, &texts, "server", false);
    add_field(&head, &texts, "", false);
    add_field(&head, &texts, "check", false);
    add_field(&head, &texts, "", false);
    add_field(&head, &texts, f->database, false);
    tc_hex(&head, "000000000000"); /* MAC address */
    for (int i = 0; i < 3; i++)
        add_field(&head, &texts, "", false);
    tc_u32(&head, 0);
    fr_buf_reset(&pre);
    tc_u32(&pre, (uint32_t)(4 + head.len + texts.len));
    fr_buf_add(&pre, head.data, head.len);
    fr_buf_add(&pre, fr_buf_text(&texts), texts.len);
    tc_message(out, 0x10, &pre, 4096);
    fr_buf_free(&pre);
    fr_buf_free(&head);
    fr_buf_free(&texts);
}

void tc_headers(struct fr_buf *payload)
{
    tc_u32(payload, 22);
    tc_u32(payload, 18);
    tc_u16(payload, 2);
    tc_u64(payload, 0);
    tc_u32(payload, 1);
}

void tc_batch(struct fr_buf *out, const char *sql)
{
    struct fr_buf b;

    fr_buf_init(&b, 1 << 24);
    tc_headers(&b);
    tc_text(&b, sql);
    tc_message(out, 0x01, &b, 4096);
    fr_buf_free(&b);
}

struct answer {
    const unsigned char *p, *end;
    struct fr_buf *words;
};

static uint32_t get(const unsigned char *p, int n)
{
    uint32_t v = 0;

    while (n > 0)
        v = v << 8 | p[--n];
    return v;
}

static void ascii_name(struct answer *a, const unsigned char *p, unsigned units)
{
    for (unsigned i = 0; i < units; i++)
        fr_buf_add_byte(a->words, p[2 * i]);
}

/* The echo's one column, nvarchar(max), or an int. */
static void describe_columns(struct answer *a)
{
    unsigned n = get(a->p, 2);

    fr_buf_printf(a->words, "columns %u\n", n);
    a->p += 2;
    for (unsigned i = 0; i < n; i++) {
        a->p += 4 + 2;
        a->p += 1 + 2 + 5; /* NVARCHAR, FFFF, collation */
        a->p += 1 + 2 * a->p[0];
    }
}

static void describe_row(struct answer *a)
{
    uint32_t n;

    fr_buf_add_str(a->words, "row ");
    a->p += 8;
    while ((n = get(a->p, 4)) != 0) {
        a->p += 4;
        ascii_name(a, a->p, n / 2);
        a->p += n;
    }
    a->p += 4;
    fr_buf_add_byte(a->words, '\n');
}

static void describe_value(struct answer *a)
{
    fr_buf_add_str(a->words, "value ");
    a->p += 2;
    ascii_name(a, a->p + 1, a->p[0]);
    a->p += 1 + 2 * a->p[0] + 1 + 4 + 2;
    fr_buf_printf(a->words, " type %02X\n", a->p[0]);
    a->p += 1 + 1; /* an int: INTN 4 */
    a->p += 1 + a->p[0];
}

static bool describe_token(struct answer *a)
{
    unsigned char token = *a->p++;

    switch (token) {
    case 0xAA:
    case 0xAB:
        fr_buf_printf(a->words, "%s %u\n", token == 0xAA ? "error" : "info",
                      get(a->p + 2, 4));
        a->p += 2 + get(a->p, 2);
        return true;
    case 0xE3:
        fr_buf_printf(a->words, "env %u\n", a->p[2]);
        a->p += 2 + get(a->p, 2);
        return true;
    case 0xAD:
        fr_buf_printf(a->words, "loginack %02X%02X%02X%02X\n", a->p[3], a->p[4], a->p[5],
                      a->p[6]);
        a->p += 2 + get(a->p, 2);
        return true;
    case 0xFD:
    case 0xFE:
    case 0xFF:
        fr_buf_printf(a->words, "%s 0x%X %u\n",
                      token == 0xFD   ? "done"
                      : token == 0xFE ? "doneproc"
                                      : "doneinproc",
                      get(a->p, 2), get(a->p + 4, 4));
        a->p += 12;
        return true;
    case 0x79:
        fr_buf_printf(a->words, "status %u\n", get(a->p, 4));
        a->p += 4;
        return true;
    case 0x81:
        describe_columns(a);
        return true;
    case 0xD1:
        describe_row(a);
        return true;
    case 0xAC:
        describe_value(a);
        return true;
    default:
        fr_buf_printf(a->words, "token %02X?\n", token);
        return false;
    }
}

static void describe_message(const struct fr_buf *m, struct fr_buf *words)
{
    struct answer a = {.p = (const unsigned char *)fr_buf_text(m), .words = words};

    a.end = a.p + m->len;
    if (m->len > 5 && a.p[0] == 0 && a.p[1] == 0) {
        fr_buf_add_str(words, "prelogin\n");
        return;
    }
    while (a.p < a.end && describe_token(&a))
        continue;
}

void tc_describe(const struct fr_buf *sent, struct fr_buf *words)
{
    const unsigned char *p = (const unsigned char *)fr_buf_text(sent),
                        *end = p + sent->len;
    struct fr_buf message;

    fr_buf_init(&message, 1 << 26);
    while (end - p >= 8) {
        size_t n = (size_t)p[2] << 8 | p[3];

        fr_buf_add(&message, p + 8, n - 8);
        if ((p[1] & 1) != 0) {
            describe_message(&message, words);
            fr_buf_reset(&message);
        }
        p += n;
    }
    if (message.len > 0)
        fr_buf_add_str(words, "unfinished\n");
    fr_buf_free(&message);
}
