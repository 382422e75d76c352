# The T-SQL front of fullrackd.
UNIT_TESTS += tests/unit/check_parser tests/unit/check_lock
tests_unit_check_parser_SOURCES = tests/unit/check_parser.c tests/support/ast_text.c tests/support/ast_text.h
tests_unit_check_parser_LDADD = $(SERVER_TEST_LIBS)
tests_unit_check_lock_SOURCES = tests/unit/check_lock.c
tests_unit_check_lock_LDADD = $(SERVER_TEST_LIBS)
