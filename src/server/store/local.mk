libfrserver_a_SOURCES += src/server/store/lock.c src/server/store/lock.h
