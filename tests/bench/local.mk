# Ratios against other clients in one run, and of the queue's procedures with few and many tasks; never a test.
bench_tools = tests/bench/find_ranges tests/bench/encode_rows
EXTRA_PROGRAMS = $(bench_tools)
tests_bench_encode_rows_SOURCES = tests/bench/encode_rows.c tests/support/memory_bulk.c tests/support/memory_bulk.h
tests_bench_encode_rows_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_bench_find_ranges_SOURCES = tests/bench/find_ranges.c
tests_bench_find_ranges_LDADD = libfrclient.a libfrbase.a $(ARCHIVE_LIBS) $(EXPAT_LIBS)
CLEANFILES += $(bench_tools)
bench: all
	$(MAKE) $(bench_tools) tests/support/measure
	$(srcdir)/tests/bench/bench.py
	$(srcdir)/tests/bench/bench_encode.py
	$(srcdir)/tests/bench/bench_many.py --tasks 2000
	$(srcdir)/tests/bench/bench_claims.py --limit 1.5
	$(srcdir)/tests/bench/bench_split.py
	$(srcdir)/tests/bench/bench_streams.py
	$(srcdir)/tests/bench/bench_streams.py --compare-discard
	$(srcdir)/tests/bench/bench_watch.py
# After a change that is meant to cost or to save instructions of a row
renew-instructions: all
	$(srcdir)/tests/bench/check_instructions.py --renew
EXTRA_DIST += tests/bench/bench.py tests/bench/bench_encode.py tests/bench/bench_many.py tests/bench/bench_claims.py tests/bench/bench_split.py tests/bench/bench_streams.py tests/bench/bench_watch.py \
	tests/bench/measuring.py tests/bench/data.py tests/bench/programs.py tests/bench/instructions.py tests/bench/load_pymssql.py \
	tests/bench/check_instructions.py tests/bench/instructions.json \
	tests/clients/load_tedious.js
.PHONY: bench renew-instructions
