# The T-SQL front of fullrackd.
UNIT_TESTS += tests/unit/check_parser tests/unit/check_lock
tests_unit_check_parser_SOURCES = tests/unit/check_parser.c tests/support/ast_text.c tests/support/ast_text.h
tests_unit_check_parser_LDADD = $(SERVER_TEST_LIBS)
tests_unit_check_lock_SOURCES = tests/unit/check_lock.c
tests_unit_check_lock_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_media
tests_unit_check_media_SOURCES = tests/unit/check_media.c
tests_unit_check_media_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_pending
tests_unit_check_pending_SOURCES = tests/unit/check_pending.c
tests_unit_check_pending_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_tsql
tests_unit_check_tsql_SOURCES = tests/unit/check_tsql.c tests/support/sql_session.c tests/support/sql_session.h \
	tests/support/sql_values.c tests/support/sql_values.h
tests_unit_check_tsql_LDADD = $(SERVER_TEST_LIBS)
EXTRA_DIST += tests/tsql
UNIT_TESTS += tests/unit/check_sessions
tests_unit_check_sessions_SOURCES = tests/unit/check_sessions.c tests/support/sql_session.c tests/support/sql_session.h \
	tests/support/sql_values.c tests/support/sql_values.h
tests_unit_check_sessions_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_functions
tests_unit_check_functions_SOURCES = tests/unit/check_functions.c
tests_unit_check_functions_LDADD = $(SERVER_TEST_LIBS)

TESTS += scripts/check-messages
EXTRA_DIST += scripts/check-messages
