libfrserver_a_SOURCES += \
	src/server/value/type.h src/server/value/value.h src/server/value/sqlerr.h \
	src/server/value/arith.h src/server/value/collation.h src/server/value/datetime.h \
	src/server/value/number.h src/server/value/text.h
