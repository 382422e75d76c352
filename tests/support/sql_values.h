/*
 * sql_values.h - values and types from texts, for tables of test cases.
 */
#ifndef FR_TESTS_SQL_VALUES_H
#define FR_TESTS_SQL_VALUES_H

#include "server/value/value.h"

/* "decimal(10,2)", "varchar(max)", "int"; aborts the test on anything else. */
struct sqltype test_type(const char *text);
/* CAST('text' AS type); NULL text: NULL.  The caller frees. */
struct value test_value(const char *type, const char *text);
/* The value as text (dates style 121, floats style 3, binary as 0x hex), "NULL"; static
 * thread buffer. */
const char *test_text(const struct value *v);

#endif
