/*
 * statements.h - the SQL of sql/, embedded at build (scripts/embed-sql): one constant a
 * file.
 */
#ifndef FR_DB_STATEMENTS_H
#define FR_DB_STATEMENTS_H

extern const char fr_stmt_session_options[];
extern const char fr_stmt_table_object[];
extern const char fr_stmt_table_columns[];
extern const char fr_stmt_table_checks[];
extern const char fr_stmt_preflight_table[];
extern const char fr_stmt_preflight_database[];
extern const char fr_stmt_preflight_bulk[];
extern const char fr_stmt_preflight_rights[];
extern const char fr_stmt_preflight_key[];
extern const char fr_stmt_preflight_tables[];
extern const char fr_stmt_own_scheduler[];
extern const char fr_stmt_visible_schedulers[];
extern const char fr_stmt_session_counters[];
extern const char fr_stmt_other_request[];
extern const char fr_stmt_ledger_take_over[];
extern const char fr_stmt_ledger_resume[];
extern const char fr_stmt_ledger_insert[];
extern const char fr_stmt_ledger_head[];
extern const char fr_stmt_ledger_hold[];
extern const char fr_stmt_ledger_step[];
extern const char fr_stmt_ledger_close[];
extern const char fr_stmt_ledger_truncate[];
extern const char fr_stmt_ledger_heads[];
extern const char fr_stmt_ledger_ranges[];
extern const char fr_stmt_reject_table_rights[];
extern const char fr_stmt_undo_forget[];
extern const char fr_stmt_stage_look[];
extern const char fr_stmt_stage_place[];
extern const char fr_stmt_stage_partition[];
extern const char fr_stmt_replay_layout[];
extern const char fr_stmt_replay_filegroups[];
extern const char fr_stmt_replay_drop[];
extern const char fr_stmt_replay_probe[];
extern const char fr_stmt_stage_constraint[];
extern const char fr_stmt_stage_switch[];
extern const char fr_stmt_stage_strangers[];
extern const char fr_stmt_stage_truncation[];
extern const char fr_stmt_stage_note[];
extern const char fr_stmt_stage_defaults[];
extern const char fr_stmt_stage_heaps[];
extern const char fr_stmt_stage_brought[];
extern const char fr_stmt_stage_leftovers[];
extern const char fr_stmt_stage_dropped[];
extern const char fr_stmt_guard_log[];
extern const char fr_stmt_guard_send_queue[];
extern const char fr_stmt_guard_tempdb[];
extern const char fr_stmt_run_held[];
extern const char fr_stmt_blocked_requests[];
extern const char fr_stmt_blocking_session[];
extern const char fr_stmt_blocking_session_short[];
extern const char fr_stmt_session_is_seen[];
extern const char fr_stmt_queue_tasks[];
extern const char fr_stmt_active_tasks[];
extern const char fr_stmt_job_differences[];
extern const char fr_stmt_server_start[];
extern const char fr_stmt_server_files[];
extern const char fr_stmt_database_files[];
extern const char fr_stmt_server_waits[];
extern const char fr_stmt_server_latches[];
extern const char fr_stmt_replay_look[];
extern const char fr_stmt_replay_make[];
extern const char fr_stmt_replay_runs[];
extern const char fr_stmt_replay_table[];
extern const char fr_stmt_report_run[];
extern const char fr_stmt_report_tasks[];
extern const char fr_stmt_report_workers[];
extern const char fr_stmt_report_samples[];
extern const char fr_stmt_report_executions[];
extern const char fr_stmt_report_queries[];
extern const char fr_stmt_report_workload[];
extern const char fr_stmt_watch_run[];
extern const char fr_stmt_watch_workers[];
extern const char fr_stmt_workload_after[];
extern const char fr_stmt_workload_query[];
extern const char fr_stmt_server_schedulers[];

/* Ready-made phases of run files, with $(TABLE) and the like in them (sql/phases). */
extern const char fr_phase_check_constraints[];
extern const char fr_phase_disable_indexes[];
extern const char fr_phase_rebuild_indexes[];
extern const char fr_phase_restore_recovery[];
extern const char fr_phase_set_recovery[];
extern const char fr_phase_update_statistics[];

/* Scripts of several batches, separated by GO. */
extern const char fr_script_control_tables[];
extern const char fr_script_control_jobs[];
extern const char fr_script_control_procedures[];
extern const char fr_script_control_workload[];
extern const char fr_script_control_admin[];
extern const char fr_script_ledger[];
extern const char fr_script_grants_control[];
extern const char fr_script_grants_target[];
extern const char fr_script_reject_table[];

#endif
