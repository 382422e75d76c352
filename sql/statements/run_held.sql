/* 1: its coordinator pauses the run (--pause-when), and is alive. */
SELECT CASE WHEN held_until > SYSUTCDATETIME() THEN 1 ELSE 0 END AS is_held FROM dbo.run WHERE run_id = @run_id;
