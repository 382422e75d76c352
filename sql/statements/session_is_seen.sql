/* A row when this login may see that session. */
SELECT s.session_id FROM sys.dm_exec_sessions AS s WHERE s.session_id = @session_id;
