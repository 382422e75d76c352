libfrserver_a_SOURCES += \
	src/server/tsql/session.h src/server/tsql/sink.h src/server/tsql/exec.h \
	src/server/tsql/arena.h src/server/tsql/ast.h src/server/tsql/parser.h \
	src/server/tsql/function.h
