noinst_LIBRARIES += libfrbase.a
libfrbase_a_SOURCES = \
	src/base/err.c src/base/err.h \
	src/base/log.c src/base/log.h \
	src/base/buf.c src/base/buf.h \
	src/base/num.c src/base/num.h \
	src/base/clock.c src/base/clock.h \
	src/base/cpu.c src/base/cpu.h \
	src/base/secret.c src/base/secret.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/new_file.c src/base/new_file.h \
	src/base/text_file.c src/base/text_file.h \
	src/base/letter.c src/base/letter.h \
	src/base/task_kind.c src/base/task_kind.h \
	src/base/shown.c src/base/shown.h \
	src/base/sql.c src/base/sql.h \
	src/base/sql_text.c src/base/sql_text.h \
	src/base/connect.h \
	src/base/bulk.h
