/*
 * sqlerr.h - an error or message as SQL Server numbers it.
 *
 * sqlerr.c holds the table number → severity, format (texts written by us in the
 * sense of SQL Server's, same arguments in the same order).  Plain data, one thread.
 */
#ifndef FRD_VALUE_SQLERR_H
#define FRD_VALUE_SQLERR_H

#include <stdbool.h>
#include <stdint.h>

struct sqlerr {
    int32_t number;   /* 0 = no error */
    uint8_t severity; /* 0..25; > 10 is an error */
    uint8_t state;
    int32_t line;   /* 1-based line in the batch or procedure; 0: not known (yet) */
    char proc[129]; /* procedure name, "" in a batch */
    char text[2048];
};

/*
 * Fill e from the table row of `number`; the arguments are those of its format.
 * Always returns false, so that a function can `return sqlerr_set(...)`.
 */
bool sqlerr_set(struct sqlerr *e, int32_t number, ...);
/* A free text with number and severity (THROW, RAISERROR, "not supported by fullrackd").
 */
bool sqlerr_setf(struct sqlerr *e, int32_t number, uint8_t severity, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
