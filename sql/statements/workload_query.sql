SELECT q.name, q.sql_text
FROM dbo.workload_query AS q
WHERE q.run_id = @run_id AND q.entry = @entry;
