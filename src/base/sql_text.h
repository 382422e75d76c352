/*
 * sql_text.h - SQL values as the text base/sql.h promises, for every client.
 *
 * Each adds to a buffer and returns false when that failed.  Days count from 1900-01-01.
 */
#ifndef FR_BASE_SQL_TEXT_H
#define FR_BASE_SQL_TEXT_H

#include "base/buf.h"

/* N'...', with the quotes in it doubled: a literal of a statement. */
bool fr_sql_add_literal(struct fr_buf *out, const char *text);
bool fr_sql_add_date(struct fr_buf *out, int32_t days);
/* HH:MM:SS and 0..7 digits of a second */
bool fr_sql_add_time(struct fr_buf *out, uint64_t time_100ns, int digits);
/* of datetime: days and 1/300 s */
bool fr_sql_add_datetime(struct fr_buf *out, int32_t days, uint32_t ticks300);
/* of smalldatetime */
bool fr_sql_add_smalldatetime(struct fr_buf *out, int32_t days, uint32_t minutes);
/* A datetimeoffset comes as UTC; it is shown, as the server shows it, in local time. */
bool fr_sql_add_datetimeoffset(struct fr_buf *out, int32_t days, uint64_t time_100ns,
                               int digits, int offset_min);
/* 16 bytes as they are on the wire */
bool fr_sql_add_guid(struct fr_buf *out, const unsigned char *p);
bool fr_sql_add_binary(struct fr_buf *out, const unsigned char *p, size_t n);
/* money and smallmoney: value times 10^4 */
bool fr_sql_add_money(struct fr_buf *out, int64_t value);

#endif
