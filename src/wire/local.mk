# our own TDS client: the session and the bulk engine
libfrclient_a_SOURCES += \
	src/wire/wire.h src/wire/wire_priv.h src/wire/link.h \
	src/wire/socket.c src/wire/socket.h \
	src/wire/packet.c src/wire/packet.h
