/* As blocking_session.sql, without what a session ran last. */
SELECT TOP (1) s.login_name, s.program_name, s.host_name, s.host_process_id, s.open_transaction_count,
       CASE WHEN r.session_id IS NULL THEN DATEDIFF(SECOND, COALESCE(s.last_request_end_time, s.login_time), GETDATE()) END AS idle_s,
       CASE WHEN r.session_id IS NULL THEN 0 ELSE 1 END AS is_running, r.command,
       CASE WHEN r.statement_start_offset > 0
           THEN SUBSTRING(t.text, r.statement_start_offset / 2 + 1, 1000) ELSE LEFT(t.text, 1000) END AS statement_text
FROM sys.dm_exec_sessions AS s
    LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id
    OUTER APPLY sys.dm_exec_sql_text(r.sql_handle) AS t
WHERE s.session_id = @session_id;
