libfrserver_a_SOURCES += src/server/net/server.h
