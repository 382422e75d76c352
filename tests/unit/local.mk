# Each module's table test: check_NAME.c, linked with the library it tests.
UNIT_TESTS =
UNIT_TESTS += tests/unit/check_base
tests_unit_check_base_SOURCES = tests/unit/check_base.c
tests_unit_check_base_LDADD = libfrbase.a $(CHECK_LIBS)

SERVER_TEST_LIBS = libfrserver.a libfrbase.a $(SQLITE_LIBS) $(ZLIB_LIBS) $(GNUTLS_LIBS) $(GMP_LIBS) $(UV_LIBS) $(CHECK_LIBS) -lm
UNIT_TESTS += tests/unit/check_convert tests/unit/check_value
tests_unit_check_convert_SOURCES = tests/unit/check_convert.c tests/support/sql_values.c tests/support/sql_values.h
tests_unit_check_convert_LDADD = $(SERVER_TEST_LIBS)
tests_unit_check_value_SOURCES = tests/unit/check_value.c tests/support/sql_values.c tests/support/sql_values.h
tests_unit_check_value_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_tds
tests_unit_check_tds_SOURCES = tests/unit/check_tds.c tests/support/sql_values.c tests/support/sql_values.h \
	tests/support/fake_session.c tests/support/fake_session.h tests/support/tds_client.c tests/support/tds_client.h
tests_unit_check_tds_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_permission
tests_unit_check_permission_SOURCES = tests/unit/check_permission.c
tests_unit_check_permission_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_bulk_stream
tests_unit_check_bulk_stream_SOURCES = tests/unit/check_bulk_stream.c tests/support/fake_session.c \
	tests/support/fake_session.h tests/support/tds_client.c tests/support/tds_client.h
tests_unit_check_bulk_stream_LDADD = $(SERVER_TEST_LIBS)
UNIT_TESTS += tests/unit/check_backup
tests_unit_check_backup_SOURCES = tests/unit/check_backup.c
tests_unit_check_backup_LDADD = libfrclient.a libfrbase.a $(DBLIB_LIBS) $(CHECK_LIBS) -lm
EXTRA_DIST += tests/sqlgrammar/backup.sql
UNIT_TESTS += tests/unit/check_sql tests/unit/check_bulk
tests_unit_check_bulk_SOURCES = tests/unit/check_bulk.c tests/support/frd_batch.c tests/support/frd_batch.h
tests_unit_check_bulk_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_check_bulk_LDADD = $(SERVER_TEST_LIBS) $(GNUTLS_LIBS)
tests_unit_check_sql_SOURCES = tests/unit/check_sql.c tests/support/frd_batch.c tests/support/frd_batch.h
tests_unit_check_sql_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_unit_check_sql_LDADD = $(SERVER_TEST_LIBS) $(GNUTLS_LIBS)

CLIENT_TEST_LIBS = libfrclient.a libfrbase.a $(UV_LIBS) $(JANSSON_LIBS) $(ARCHIVE_LIBS) $(EXPAT_LIBS) $(DBLIB_LIBS) $(GNUTLS_LIBS) $(CHECK_LIBS) -lm
UNIT_TESTS += tests/unit/check_load_convert tests/unit/check_load_split tests/unit/check_load_source \
	tests/unit/check_config tests/unit/check_app
UNIT_TESTS += tests/unit/check_wire tests/unit/check_wire_value
WIRE_TEST_SOURCES = tests/support/memory_link.c tests/support/memory_link.h tests/support/wire_fixture.c \
	tests/support/wire_fixture.h tests/support/tds_client.c tests/support/tds_client.h
tests_unit_check_wire_SOURCES = tests/unit/check_wire.c $(WIRE_TEST_SOURCES)
tests_unit_check_wire_LDADD = libfrclient.a libfrbase.a $(GNUTLS_LIBS) $(CHECK_LIBS)
tests_unit_check_wire_value_SOURCES = tests/unit/check_wire_value.c $(WIRE_TEST_SOURCES)
tests_unit_check_wire_value_LDADD = libfrclient.a libfrbase.a $(GNUTLS_LIBS) $(CHECK_LIBS)
UNIT_TESTS += tests/unit/check_load_packed tests/unit/check_engine tests/unit/check_direct
UNIT_TESTS += tests/unit/check_disk tests/unit/check_wear
UNIT_TESTS += tests/unit/check_bulk_insert
tests_unit_check_bulk_insert_SOURCES = tests/unit/check_bulk_insert.c
tests_unit_check_bulk_insert_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_disk_SOURCES = tests/unit/check_disk.c
tests_unit_check_disk_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_wear_SOURCES = tests/unit/check_wear.c
tests_unit_check_wear_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_workload
tests_unit_check_workload_SOURCES = tests/unit/check_workload.c
tests_unit_check_workload_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_observe tests/unit/check_report tests/unit/check_picture
tests_unit_check_picture_SOURCES = tests/unit/check_picture.c
tests_unit_check_picture_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_report_SOURCES = tests/unit/check_report.c
tests_unit_check_report_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_observe_SOURCES = tests/unit/check_observe.c
tests_unit_check_observe_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_rows tests/unit/check_long_text
tests_unit_check_long_text_SOURCES = tests/unit/check_long_text.c
tests_unit_check_long_text_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_rows_SOURCES = tests/unit/check_rows.c tests/support/memory_bulk.c tests/support/memory_bulk.h
tests_unit_check_rows_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_direct_SOURCES = tests/unit/check_direct.c
tests_unit_check_direct_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_engine_SOURCES = tests/unit/check_engine.c
tests_unit_check_engine_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_load_packed_SOURCES = tests/unit/check_load_packed.c
tests_unit_check_load_packed_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_sniff tests/unit/check_ddl tests/unit/check_suggest tests/unit/check_stage
tests_unit_check_stage_SOURCES = tests/unit/check_stage.c
tests_unit_check_stage_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_suggest_SOURCES = tests/unit/check_suggest.c
tests_unit_check_suggest_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_ddl_SOURCES = tests/unit/check_ddl.c
tests_unit_check_ddl_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_sniff_SOURCES = tests/unit/check_sniff.c
tests_unit_check_sniff_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_load_source_SOURCES = tests/unit/check_load_source.c
tests_unit_check_load_source_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_config_SOURCES = tests/unit/check_config.c
tests_unit_check_config_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_app_SOURCES = tests/unit/check_app.c src/app/sources.c src/app/lineitem.c
tests_unit_check_app_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_load_convert_SOURCES = tests/unit/check_load_convert.c
tests_unit_check_load_convert_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_load_split_SOURCES = tests/unit/check_load_split.c
tests_unit_check_load_split_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_preflight
tests_unit_check_preflight_SOURCES = tests/unit/check_preflight.c
tests_unit_check_preflight_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_runfile
tests_unit_check_runfile_SOURCES = tests/unit/check_runfile.c
tests_unit_check_runfile_LDADD = $(CLIENT_TEST_LIBS)
UNIT_TESTS += tests/unit/check_load_ranges
tests_unit_check_load_ranges_SOURCES = tests/unit/check_load_ranges.c
tests_unit_check_load_ranges_LDADD = $(CLIENT_TEST_LIBS)

UNIT_TESTS += tests/unit/check_layout
tests_unit_check_layout_SOURCES = tests/unit/check_layout.c
tests_unit_check_layout_LDADD = $(CLIENT_TEST_LIBS)

UNIT_TESTS += tests/unit/check_throttle tests/unit/check_guards
tests_unit_check_guards_SOURCES = tests/unit/check_guards.c
tests_unit_check_guards_LDADD = $(CLIENT_TEST_LIBS)
tests_unit_check_throttle_SOURCES = tests/unit/check_throttle.c
tests_unit_check_throttle_LDADD = $(CLIENT_TEST_LIBS)

include tests/unit/tsql.mk

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
