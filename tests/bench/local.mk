# Ratios against other clients in one run, and of the queue's procedures with few and many tasks; never a test.
EXTRA_PROGRAMS = tests/bench/find_ranges tests/bench/encode_rows
tests_bench_encode_rows_SOURCES = tests/bench/encode_rows.c tests/support/memory_bulk.c tests/support/memory_bulk.h
tests_bench_encode_rows_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_bench_find_ranges_SOURCES = tests/bench/find_ranges.c
tests_bench_find_ranges_LDADD = libfrclient.a libfrbase.a $(ARCHIVE_LIBS)
CLEANFILES += tests/bench/find_ranges$(EXEEXT)
bench: all
	$(MAKE) tests/bench/find_ranges$(EXEEXT)
	$(srcdir)/tests/bench/bench.py
	$(srcdir)/tests/bench/bench_claims.py --limit 1.5
	$(srcdir)/tests/bench/bench_split.py
	$(srcdir)/tests/bench/bench_streams.py
	$(srcdir)/tests/bench/bench_streams.py --compare-discard
EXTRA_DIST += tests/bench/bench.py tests/bench/bench_claims.py tests/bench/bench_split.py tests/bench/bench_streams.py
.PHONY: bench
