# The ledger's protocol, every interleaving of it, over the code and the SQL that do it.
check_PROGRAMS += tests/model/ledger_model
tests_model_ledger_model_SOURCES = tests/model/ledger_model.c tests/model/cases.c tests/model/cases.h \
	tests/model/actors.c tests/model/actors.h tests/model/ledger_sql.c tests/model/ledger_sql.h
tests_model_ledger_model_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) -lm
TESTS += tests/model/ledger_model
