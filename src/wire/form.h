/*
 * form.h - values as a bulk stream has them, written in place.
 *
 * For those who make rows right in the message (load/direct.c) and for encode.c.  Each
 * function returns behind what it wrote.  Lengths stand in front: one byte, 0 = NULL, or
 * two, 0xFFFF = NULL (MS-TDS 2.2.5.2).
 */
#ifndef FR_WIRE_FORM_H
#define FR_WIRE_FORM_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    WIRE_DAYS_TO_1900 = 693595, /* from 0001-01-01 */
    WIRE_DECIMAL_BYTES = 17 /* sign and magnitude, whatever the precision: as SqlClient
                               does */
};

/* Little-endian, in one store each: byte by byte the compiler makes much of them. */
static inline unsigned char *wire_put_u16(unsigned char *out, uint32_t v)
{
    uint16_t le = htole16((uint16_t)v);

    memcpy(out, &le, sizeof le);
    return out + sizeof le;
}

static inline unsigned char *wire_put_u32(unsigned char *out, uint32_t v)
{
    uint32_t le = htole32(v);

    memcpy(out, &le, sizeof le);
    return out + sizeof le;
}

static inline unsigned char *wire_put_u64(unsigned char *out, uint64_t v)
{
    uint64_t le = htole64(v);

    memcpy(out, &le, sizeof le);
    return out + sizeof le;
}

static inline unsigned char *wire_form_null_small(unsigned char *out)
{
    *out = 0;
    return out + 1;
}

static inline unsigned char *wire_form_null_short(unsigned char *out)
{
    return wire_put_u16(out, 0xFFFF);
}

/* A sign, 1 = not negative, then 16 bytes, the low half first. */
static inline unsigned char *wire_form_decimal(bool negative, uint64_t low, uint64_t high,
                                               unsigned char *out)
{
    out[0] = WIRE_DECIMAL_BYTES;
    out[1] = negative ? 0 : 1;
    return wire_put_u64(wire_put_u64(out + 2, low), high);
}

/* days: since 1900-01-01 */
static inline unsigned char *wire_put_days(int32_t days, unsigned char *out)
{
    uint32_t v = (uint32_t)(days + WIRE_DAYS_TO_1900);

    wire_put_u16(out, v);
    out[2] = (unsigned char)(v >> 16);
    return out + 3;
}

static inline unsigned char *wire_form_date(int32_t days, unsigned char *out)
{
    out[0] = 3;
    return wire_put_days(days, out + 1);
}

#endif
