# our own TDS client: the session and the bulk engine
libfrclient_a_CPPFLAGS += $(GNUTLS_CFLAGS)
libfrclient_a_SOURCES += \
	src/wire/wire.h src/wire/wire_priv.h src/wire/link.h \
	src/wire/open.c \
	src/wire/socket.c src/wire/socket.h \
	src/wire/tls.c src/wire/tls.h \
	src/wire/login.c src/wire/login.h \
	src/wire/packet.c src/wire/packet.h \
	src/wire/reply.c src/wire/reply.h \
	src/wire/columns.c src/wire/columns.h \
	src/wire/environment.c \
	src/wire/value.c src/wire/value.h \
	src/wire/charset.c src/wire/charset.h \
	src/wire/session.c \
	src/wire/bulk.c src/wire/bulk.h \
	src/wire/encode.c src/wire/encode.h src/wire/form.h
