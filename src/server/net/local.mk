libfrserver_a_SOURCES += \
	src/server/net/clients.c src/server/net/server_priv.h \
	src/server/net/listen.c src/server/net/listen.h \
	src/server/net/password.c src/server/net/password.h \
	src/server/net/pending.c src/server/net/pending.h \
	src/server/net/schedulers.c src/server/net/schedulers.h \
	src/server/net/server.c src/server/net/server.h
