noinst_LIBRARIES += libfrbase.a
libfrbase_a_SOURCES = \
	src/base/err.c src/base/err.h \
	src/base/log.c src/base/log.h \
	src/base/buf.c src/base/buf.h
