libfrserver_a_SOURCES += src/server/value/type.h src/server/value/value.h src/server/value/sqlerr.h
