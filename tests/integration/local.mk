# Programs that start their own fullrackd; run in the build folder.  The longest first, so that the others run beside them.
INTEGRATION_TESTS = \
	tests/integration/test_view.py \
	tests/integration/test_load.py \
	tests/integration/test_run.py \
	tests/integration/test_server.py \
	tests/integration/test_observe.py \
	tests/integration/test_disk.py \
	tests/integration/test_add.py \
	tests/integration/test_backup.py \
	tests/integration/test_backup_task.py \
	tests/integration/test_bulk_insert.py \
	tests/integration/test_check.py \
	tests/integration/test_command.py \
	tests/integration/test_datasets.py \
	tests/integration/test_encrypt.py \
	tests/integration/test_engines.py \
	tests/integration/test_exports.py \
	tests/integration/test_guards.py \
	tests/integration/test_grants.py \
	tests/integration/test_hostile.py \
	tests/integration/test_jobs.py \
	tests/integration/test_layout.py \
	tests/integration/test_limits.py \
	tests/integration/test_manual.py \
	tests/integration/test_memory.py \
	tests/integration/test_partition.py \
	tests/integration/test_phases.py \
	tests/integration/test_preflight.py \
	tests/integration/test_stage.py \
	tests/integration/test_queue.py \
	tests/integration/test_readme.py \
	tests/integration/test_rejects.py \
	tests/integration/test_replay.py \
	tests/integration/test_report.py \
	tests/integration/test_runfile.py \
	tests/integration/test_scale.py \
	tests/integration/test_secrets.py \
	tests/integration/test_security.py \
	tests/integration/test_segments.py \
	tests/integration/test_shapes.py \
	tests/integration/test_split.py \
	tests/integration/test_tedious.py \
	tests/integration/test_traps.py \
	tests/integration/test_types.py \
	tests/integration/test_values.py \
	tests/integration/test_wire.py \
	tests/integration/test_workload.py \
	tests/integration/test_source.py
TESTS += $(INTEGRATION_TESTS) tests/cases/check-cases scripts/check-includes scripts/check-sql
EXTRA_DIST += $(INTEGRATION_TESTS) tests/integration/smart tests/integration/rack.py tests/integration/browser.py tests/integration/terminal.py tests/integration/proxy.py tests/integration/sessions.py tests/integration/bulkstream.py tests/integration/tds.py tests/cases scripts/check-includes scripts/check-sql \
	tests/datasets/package.json tests/clients/package.json tests/clients/tedious_tests.js tests/sqlgrammar/check-grammar.js tests/sqlgrammar/package.json
# our own client alone, for test_wire.py; what a command takes, for test_memory.py and the benchmarks
check_PROGRAMS += tests/support/wire_client tests/support/measure
tests_support_measure_SOURCES = tests/support/measure.c
tests_support_wire_client_SOURCES = tests/support/wire_client.c
tests_support_wire_client_LDADD = libfrclient.a libfrbase.a $(GNUTLS_LIBS)
