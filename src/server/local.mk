# fullrackd: shares only err, log and buf with the rest (scripts/check-includes holds it)
noinst_LIBRARIES += libfrserver.a
libfrserver_a_SOURCES =
libfrserver_a_CPPFLAGS = $(AM_CPPFLAGS) $(UV_CFLAGS) $(SQLITE_CFLAGS) $(GNUTLS_CFLAGS) $(ZLIB_CFLAGS)

include src/server/value/local.mk
include src/server/tds/local.mk
include src/server/net/local.mk
include src/server/tsql/local.mk
include src/server/store/local.mk

bin_PROGRAMS += fullrackd
fullrackd_CPPFLAGS = $(libfrserver_a_CPPFLAGS)
fullrackd_SOURCES = src/server/main.c
fullrackd_LDADD = libfrserver.a libfrbase.a $(UV_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(GNUTLS_LIBS) $(GMP_LIBS) -lm
