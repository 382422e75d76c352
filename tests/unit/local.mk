# Each module's table test: check_NAME.c, linked with the library it tests.
UNIT_TESTS =
UNIT_TESTS += tests/unit/check_base
tests_unit_check_base_SOURCES = tests/unit/check_base.c
tests_unit_check_base_LDADD = libfrbase.a $(CHECK_LIBS)

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
