libfrserver_a_SOURCES += \
	src/server/tds/bulk.c src/server/tds/direct.c src/server/tds/direct.h \
	src/server/tds/login.c src/server/tds/login.h \
	src/server/tds/packet.c src/server/tds/packet.h \
	src/server/tds/request.c src/server/tds/serve_priv.h \
	src/server/tds/respond.c \
	src/server/tds/rpc.c \
	src/server/tds/serve.c src/server/tds/serve.h \
	src/server/tds/tls.c src/server/tds/tls.h \
	src/server/tds/tls_credentials.c src/server/tds/tls_credentials.h \
	src/server/tds/token.c src/server/tds/token.h \
	src/server/tds/wire.h src/server/tds/wire_read.c \
	src/server/tds/wire_type.c src/server/tds/wire_write.c
