/*
 * grants_control.sql - who may do what with the control database: three roles, each with no more than its commands need.
 *
 * Run in the control database by `fullrack init --grants`, and by every later `init`, which makes the procedures anew and
 * so takes what was granted on them; or by hand, as a member of db_owner.  Safe to run again.  Members are yours to add:
 * ALTER ROLE fullrack_loader ADD MEMBER [etl].
 *
 * fullrack_viewer    sees everything here, changes nothing: status, verify, report
 * fullrack_loader    runs and workers: claims tasks, reports on them, begins and ends runs: run, run --dry-run, worker, start, workload
 * fullrack_operator  the queue: add, retry, reset, cancel, undo, purge, start
 *
 * Tables are written through procedures alone; these write by the ownership that they share with the tables.
 */
IF DATABASE_PRINCIPAL_ID(N'fullrack_viewer') IS NULL
CREATE ROLE fullrack_viewer;
GO
IF DATABASE_PRINCIPAL_ID(N'fullrack_loader') IS NULL
CREATE ROLE fullrack_loader;
GO
IF DATABASE_PRINCIPAL_ID(N'fullrack_operator') IS NULL
CREATE ROLE fullrack_operator;
GO
/* The two others see what a viewer sees. */
ALTER ROLE fullrack_viewer ADD MEMBER fullrack_loader;
GO
ALTER ROLE fullrack_viewer ADD MEMBER fullrack_operator;
GO
GRANT SELECT ON dbo.control_version TO fullrack_viewer;
GRANT SELECT ON dbo.run TO fullrack_viewer;
GRANT SELECT ON dbo.work_queue TO fullrack_viewer;
GRANT SELECT ON dbo.scheduler_use TO fullrack_viewer;
GRANT SELECT ON dbo.ready TO fullrack_viewer;
GRANT SELECT ON dbo.worker TO fullrack_viewer;
GRANT SELECT ON dbo.sample TO fullrack_viewer;
GRANT SELECT ON dbo.job TO fullrack_viewer;
GRANT SELECT ON dbo.work_group TO fullrack_viewer;
GRANT SELECT ON dbo.work_group_need TO fullrack_viewer;
GRANT SELECT ON dbo.table_limit TO fullrack_viewer;
GRANT SELECT ON dbo.work_pending TO fullrack_viewer;
GRANT SELECT ON dbo.add_gate TO fullrack_viewer;
GRANT SELECT ON dbo.workload TO fullrack_viewer;
GRANT SELECT ON dbo.workload_query TO fullrack_viewer;
GRANT SELECT ON dbo.workload_execution TO fullrack_viewer;
GRANT EXECUTE ON dbo.sp_queue_state TO fullrack_viewer;
GO
/*
 * To see a procedure is no right to run it.  By the first fullrack finds the schema of the queue; of the others it asks
 * whether they may be run, before it changes anything in a target.
 */
GRANT VIEW DEFINITION ON dbo.sp_get_work TO fullrack_viewer;
GRANT VIEW DEFINITION ON dbo.sp_reset_work TO fullrack_viewer;
GRANT VIEW DEFINITION ON dbo.sp_cancel_work TO fullrack_viewer;
GRANT VIEW DEFINITION ON dbo.sp_undo_work TO fullrack_viewer;
GRANT VIEW DEFINITION ON dbo.sp_forget_work TO fullrack_viewer;
GO
GRANT EXECUTE ON dbo.sp_get_work TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_renew_lease TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_end_work TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_fail_work TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_sweep_leases TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_release_dead_work TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_work_left TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_claim_scheduler TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_renew_scheduler TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_release_scheduler TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_begin_run TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_signal_start TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_start_state TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_end_run TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_pause_run TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_add_worker TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_set_worker TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_add_samples TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_begin_workload TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_add_query TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_take_query TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_end_query TO fullrack_loader;
GRANT EXECUTE ON dbo.sp_end_dead_queries TO fullrack_loader;
GO
GRANT EXECUTE ON dbo.sp_add_work TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_append_options TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_append_sql TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_set_limit TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_pass_limit TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_add_job TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_add_group TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_add_need TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_find_job TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_settle_job TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_retry_work TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_reset_work TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_cancel_work TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_undo_work TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_forget_work TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_forget_runs TO fullrack_operator;
GRANT EXECUTE ON dbo.sp_signal_start TO fullrack_operator;
GO
