#include "wire/charset.h"
#include "wire/reply.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>

typedef bool (*change_fn)(struct wire *w, const unsigned char *p, size_t n);

/* p[0] is the length of the value, n the bytes from there: B_VARBYTE and B_VARCHAR. */
static bool holds(const unsigned char *p, size_t n, size_t unit_bytes)
{
    return n >= 1 && n - 1 >= p[0] * unit_bytes;
}

/* The size both sides cut packets to from now on, as digits. */
static bool change_packet_size(struct wire *w, const unsigned char *p, size_t n)
{
    char digits[16];
    size_t chars;
    int64_t bytes;

    if (!holds(p, n, 2) || p[0] >= sizeof digits)
        return wire_protocol_fault(w, "a packet size of %zu bytes", n);
    chars = p[0];
    for (size_t i = 0; i < chars; i++)
        digits[i] = p[2 + 2 * i] == 0 ? (char)p[1 + 2 * i] : '?';
    digits[chars] = '\0';
    if (fr_num_i64(digits, WIRE_MIN_PACKET_BYTES, WIRE_MAX_PACKET_BYTES, &bytes) != FR_OK)
        return wire_protocol_fault(w, "a packet size of %s", digits);
    w->packet_bytes = (uint32_t)bytes;
    return true;
}

static bool change_collation(struct wire *w, const unsigned char *p, size_t n)
{
    if (!holds(p, n, 1))
        return wire_protocol_fault(w, "a collation of %zu bytes", n);
    if (p[0] == sizeof w->collation)
        memcpy(w->collation, p + 1, sizeof w->collation);
    return true;
}

/* The descriptor every request must carry while the transaction is open. */
static bool begin_transaction(struct wire *w, const unsigned char *p, size_t n)
{
    if (!holds(p, n, 1) || p[0] != sizeof w->transaction)
        return wire_protocol_fault(w, "a transaction descriptor of %zu bytes", n);
    memcpy(w->transaction, p + 1, sizeof w->transaction);
    return true;
}

static bool end_transaction(struct wire *w, const unsigned char *p, size_t n)
{
    (void)p;
    (void)n;
    memset(w->transaction, 0, sizeof w->transaction);
    return true;
}

/* A gateway names the server that has the database: two bytes of length, protocol (0 =
 * TCP), port, host. */
static bool change_route(struct wire *w, const unsigned char *p, size_t n)
{
    struct fr_buf host;
    size_t units;

    if (n < 7 || p[2] != 0)
        return wire_protocol_fault(w, "a redirection of %zu bytes", n);
    units = (size_t)(p[5] | p[6] << 8);
    w->route.port = (uint16_t)(p[3] | p[4] << 8);
    if (units == 0 || 2 * units > n - 7 || w->route.port == 0)
        return wire_protocol_fault(w, "a redirection to %zu characters", units);
    fr_buf_init(&host, sizeof w->route.host - 1);
    if (!wire_add_utf16(&host, p + 7, 2 * units) ||
        strlen(fr_buf_text(&host)) != host.len) {
        fr_buf_free(&host);
        return wire_protocol_fault(w, "a redirection to %zu characters", units);
    }
    snprintf(w->route.host, sizeof w->route.host, "%s", fr_buf_text(&host));
    fr_buf_free(&host);
    return true;
}

/* Types of ENVCHANGE that matter here; the others are read over. */
static const struct {
    uint8_t type;
    change_fn change;
} changes[] = {
    {4, change_packet_size}, {7, change_collation}, {8, begin_transaction},
    {9, end_transaction},    {10, end_transaction}, {17, end_transaction},
    {20, change_route},
};

bool wire_environment(struct wire *w, const unsigned char *p, size_t n)
{
    if (n == 0)
        return wire_protocol_fault(w, "an empty change of the environment");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (changes[i].type == p[0])
            return changes[i].change(w, p + 1, n - 1);
    return true;
}
