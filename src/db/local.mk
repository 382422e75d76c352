# db-lib: connections, statements, table descriptions, the bcp engine
noinst_LIBRARIES += libfrclient.a
libfrclient_a_CPPFLAGS = $(AM_CPPFLAGS) $(UV_CFLAGS) $(JANSSON_CFLAGS) $(ARCHIVE_CFLAGS) $(EXPAT_CFLAGS)
libfrclient_a_SOURCES = \
	src/db/dblib.c src/db/dblib.h \
	src/db/connect.c src/db/connect.h \
	src/db/session.c src/db/session_priv.h \
	src/db/table.c src/db/table.h \
	src/db/ddl.c src/db/ddl_word.c src/db/ddl_column.c src/db/ddl.h src/db/ddl_priv.h \
	src/db/bcp.c src/db/bcp.h \
	src/db/script.c src/db/script.h \
	src/db/backup.c src/db/backup.h \
	src/db/statements.h
nodist_libfrclient_a_SOURCES = src/db/statements.c

SQL_SCRIPT_FILES = sql/control_tables.sql sql/control_jobs.sql sql/control_procedures.sql sql/control_workload.sql sql/control_admin.sql sql/ledger.sql sql/grants_control.sql sql/grants_target.sql sql/reject_table.sql
SQL_STATEMENT_FILES = \
	sql/statements/session_options.sql \
	sql/statements/table_object.sql \
	sql/statements/table_columns.sql \
	sql/statements/table_checks.sql \
	sql/statements/preflight_table.sql \
	sql/statements/preflight_database.sql \
	sql/statements/preflight_bulk.sql \
	sql/statements/preflight_rights.sql \
	sql/statements/preflight_key.sql \
	sql/statements/preflight_tables.sql \
	sql/statements/own_scheduler.sql \
	sql/statements/visible_schedulers.sql \
	sql/statements/session_counters.sql \
	sql/statements/other_request.sql \
	sql/statements/ledger_take_over.sql \
	sql/statements/ledger_resume.sql \
	sql/statements/ledger_insert.sql \
	sql/statements/ledger_head.sql \
	sql/statements/ledger_hold.sql \
	sql/statements/ledger_step.sql \
	sql/statements/ledger_close.sql \
	sql/statements/ledger_truncate.sql \
	sql/statements/ledger_heads.sql \
	sql/statements/ledger_ranges.sql \
	sql/statements/reject_table_rights.sql \
	sql/statements/undo_forget.sql \
	sql/statements/stage_look.sql \
	sql/statements/stage_place.sql \
	sql/statements/stage_partition.sql \
	sql/statements/replay_layout.sql \
	sql/statements/replay_filegroups.sql \
	sql/statements/replay_drop.sql \
	sql/statements/replay_probe.sql \
	sql/statements/stage_constraint.sql \
	sql/statements/stage_switch.sql \
	sql/statements/stage_strangers.sql \
	sql/statements/stage_truncation.sql \
	sql/statements/stage_note.sql \
	sql/statements/stage_defaults.sql \
	sql/statements/stage_heaps.sql \
	sql/statements/stage_brought.sql \
	sql/statements/stage_leftovers.sql \
	sql/statements/stage_dropped.sql \
	sql/statements/guard_log.sql \
	sql/statements/guard_send_queue.sql \
	sql/statements/guard_tempdb.sql \
	sql/statements/run_held.sql \
	sql/statements/blocked_requests.sql \
	sql/statements/blocking_session.sql \
	sql/statements/blocking_session_short.sql \
	sql/statements/session_is_seen.sql \
	sql/statements/queue_tasks.sql \
	sql/statements/active_tasks.sql \
	sql/statements/job_differences.sql \
	sql/statements/server_start.sql \
	sql/statements/server_files.sql \
	sql/statements/database_files.sql \
	sql/statements/server_waits.sql \
	sql/statements/server_latches.sql \
	sql/statements/replay_look.sql \
	sql/statements/replay_make.sql \
	sql/statements/replay_runs.sql \
	sql/statements/replay_table.sql \
	sql/statements/report_run.sql \
	sql/statements/report_tasks.sql \
	sql/statements/report_workers.sql \
	sql/statements/report_samples.sql \
	sql/statements/report_executions.sql \
	sql/statements/report_queries.sql \
	sql/statements/report_workload.sql \
	sql/statements/watch_run.sql \
	sql/statements/watch_workers.sql \
	sql/statements/workload_after.sql \
	sql/statements/workload_query.sql \
	sql/statements/server_schedulers.sql
# ready-made phases of run files: in the program, and installed to be read and copied
SQL_PHASE_FILES = \
	sql/phases/check_constraints.sql \
	sql/phases/disable_indexes.sql \
	sql/phases/rebuild_indexes.sql \
	sql/phases/restore_recovery.sql \
	sql/phases/set_recovery.sql \
	sql/phases/update_statistics.sql
# what a DBA may want to run by hand
sqldir = $(pkgdatadir)/sql
dist_sql_DATA = sql/grants_control.sql sql/grants_target.sql sql/make_filegroups.sql sql/make_lineitem.sql sql/switch_lineitem.sql
phasesdir = $(pkgdatadir)/phases
dist_phases_DATA = $(SQL_PHASE_FILES)
EXTRA_DIST += $(SQL_SCRIPT_FILES) $(SQL_STATEMENT_FILES) scripts/embed-sql
BUILT_SOURCES += src/db/statements.c
CLEANFILES += src/db/statements.c
src/db/statements.c: $(SQL_SCRIPT_FILES) $(SQL_STATEMENT_FILES) $(SQL_PHASE_FILES) scripts/embed-sql
	@$(MKDIR_P) src/db
	$(AM_V_GEN)$(top_srcdir)/scripts/embed-sql $@ $(addprefix $(srcdir)/,$(SQL_SCRIPT_FILES) $(SQL_STATEMENT_FILES) $(SQL_PHASE_FILES))
