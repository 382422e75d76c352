/*
 * sqlerr_table.h - the messages fullrackd knows: number, severity, text.
 *
 * Numbers, severities, arguments and their order are SQL Server's (sys.messages); the
 * wording is ours.  Rows are sorted by number.  Arguments: %s text, %d int, %lld a long
 * long; %% a percent sign.
 */
#ifndef FRD_VALUE_SQLERR_TABLE_H
#define FRD_VALUE_SQLERR_TABLE_H

#include <stdint.h>

struct sqlerr_row {
    int32_t number;
    uint8_t severity;
    const char *format;
};

extern const struct sqlerr_row sqlerr_table[];
extern const unsigned sqlerr_table_count;

#endif
