SELECT q.entry, q.name, q.assignments
FROM dbo.workload_query AS q
WHERE q.run_id = @run_id
ORDER BY q.entry;
