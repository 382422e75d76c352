# libFuzzer programs: ./configure CC=clang --enable-fuzz --enable-asan
if FUZZ
noinst_PROGRAMS += tests/fuzz/fuzz_tsql
tests_fuzz_fuzz_tsql_SOURCES = tests/fuzz/fuzz_tsql.c
tests_fuzz_fuzz_tsql_LDADD = libfrserver.a libfrbase.a $(SQLITE_LIBS) $(GMP_LIBS) -lm
tests_fuzz_fuzz_tsql_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
EXTRA_DIST += tests/fuzz/corpus
