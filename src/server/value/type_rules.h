/*
 * type_rules.h - which conversions between types exist.
 *
 * The rules of operators and common types stand in type.h.  Constant; any thread.
 */
#ifndef FRD_VALUE_TYPE_RULES_H
#define FRD_VALUE_TYPE_RULES_H

#include "server/value/type.h"

enum conversion { CONVERSION_NONE, CONVERSION_EXPLICIT, CONVERSION_IMPLICIT };

enum conversion type_conversion(enum type_id from, enum type_id to);

#endif
