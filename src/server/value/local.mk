libfrserver_a_SOURCES += \
	src/server/value/arith.c src/server/value/arith.h \
	src/server/value/calendar.c src/server/value/datetime.h \
	src/server/value/codepage.c src/server/value/text.h \
	src/server/value/collation.c src/server/value/collation.h \
	src/server/value/convert.c src/server/value/convert_priv.h \
	src/server/value/convert_binary.c \
	src/server/value/convert_datetime.c \
	src/server/value/convert_number.c \
	src/server/value/convert_string.c \
	src/server/value/datepart.c \
	src/server/value/datetime_format.c \
	src/server/value/datetime_parse.c \
	src/server/value/decimal.c src/server/value/number.h \
	src/server/value/format_number.c \
	src/server/value/guid.c src/server/value/guid.h \
	src/server/value/number.c \
	src/server/value/parse_number.c \
	src/server/value/sqlerr.c src/server/value/sqlerr.h \
	src/server/value/sqlerr_table.c src/server/value/sqlerr_table.h \
	src/server/value/text.c \
	src/server/value/text_case.c \
	src/server/value/type.c src/server/value/type.h \
	src/server/value/type_rules.c src/server/value/type_rules.h \
	src/server/value/value.c src/server/value/value.h
