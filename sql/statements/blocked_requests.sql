/* Every request that waits for another session. */
SELECT r.session_id, r.blocking_session_id, r.wait_time, CASE WHEN r.wait_type LIKE 'LCK%' THEN 1 ELSE 0 END AS for_lock
FROM sys.dm_exec_requests AS r
WHERE r.blocking_session_id <> 0 AND r.blocking_session_id <> r.session_id;
