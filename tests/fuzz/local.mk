# libFuzzer programs: ./configure CC=clang --enable-fuzz --enable-asan
if FUZZ
FUZZERS = tests/fuzz/fuzz_load tests/fuzz/fuzz_tsql tests/fuzz/fuzz_tds tests/fuzz/fuzz_batch \
	tests/fuzz/fuzz_convert tests/fuzz/fuzz_codepage tests/fuzz/fuzz_reply tests/fuzz/fuzz_prelogin \
	tests/fuzz/fuzz_format_file tests/fuzz/fuzz_native
FUZZERS += tests/fuzz/fuzz_sniff tests/fuzz/fuzz_ddl tests/fuzz/fuzz_rows tests/fuzz/fuzz_media tests/fuzz/fuzz_disk
tests_fuzz_fuzz_media_SOURCES = tests/fuzz/fuzz_media.c
tests_fuzz_fuzz_media_LDADD = libfrserver.a libfrbase.a $(ZLIB_LIBS)
tests_fuzz_fuzz_media_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
noinst_PROGRAMS += $(FUZZERS)
fuzzers: $(FUZZERS)
tests_fuzz_fuzz_rows_SOURCES = tests/fuzz/fuzz_rows.c tests/support/memory_bulk.c tests/support/memory_bulk.h
tests_fuzz_fuzz_rows_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_rows_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_load_SOURCES = tests/fuzz/fuzz_load.c
tests_fuzz_fuzz_load_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_load_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_tsql_SOURCES = tests/fuzz/fuzz_tsql.c
tests_fuzz_fuzz_tsql_LDADD = libfrserver.a libfrbase.a $(SQLITE_LIBS) $(ZLIB_LIBS) $(GMP_LIBS) -lm
tests_fuzz_fuzz_tsql_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_tds_SOURCES = tests/fuzz/fuzz_tds.c tests/support/fake_session.c tests/support/fake_session.h \
	tests/support/tds_client.c tests/support/tds_client.h
tests_fuzz_fuzz_tds_LDADD = libfrserver.a libfrbase.a $(SQLITE_LIBS) $(ZLIB_LIBS) $(GNUTLS_LIBS) $(GMP_LIBS) -lm
tests_fuzz_fuzz_tds_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_batch_SOURCES = tests/fuzz/fuzz_batch.c
tests_fuzz_fuzz_batch_LDADD = libfrserver.a libfrbase.a $(UV_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(GNUTLS_LIBS) $(GMP_LIBS) -lm
tests_fuzz_fuzz_batch_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_convert_SOURCES = tests/fuzz/fuzz_convert.c
tests_fuzz_fuzz_convert_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_convert_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_codepage_SOURCES = tests/fuzz/fuzz_codepage.c
tests_fuzz_fuzz_codepage_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_codepage_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_reply_SOURCES = tests/fuzz/fuzz_reply.c tests/support/memory_link.c tests/support/memory_link.h \
	tests/support/tds_client.c tests/support/tds_client.h
tests_fuzz_fuzz_reply_LDADD = libfrclient.a libfrbase.a $(GNUTLS_LIBS)
tests_fuzz_fuzz_reply_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_prelogin_SOURCES = tests/fuzz/fuzz_prelogin.c tests/support/memory_link.c tests/support/memory_link.h \
	tests/support/tds_client.c tests/support/tds_client.h
tests_fuzz_fuzz_prelogin_LDADD = libfrclient.a libfrbase.a $(GNUTLS_LIBS)
tests_fuzz_fuzz_prelogin_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_format_file_SOURCES = tests/fuzz/fuzz_format_file.c
tests_fuzz_fuzz_format_file_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_format_file_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_native_SOURCES = tests/fuzz/fuzz_native.c
tests_fuzz_fuzz_native_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_native_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_sniff_SOURCES = tests/fuzz/fuzz_sniff.c
tests_fuzz_fuzz_sniff_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_sniff_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_ddl_SOURCES = tests/fuzz/fuzz_ddl.c
tests_fuzz_fuzz_ddl_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_ddl_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_disk_SOURCES = tests/fuzz/fuzz_disk.c
tests_fuzz_fuzz_disk_LDADD = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) -lm
tests_fuzz_fuzz_disk_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
EXTRA_DIST += tests/fuzz/corpus
