/* Figures of each look by themselves; of the server's counters what they came to in the whole run. */
SELECT s.subject, s.name, s.taken_at, s.value
FROM dbo.sample AS s
WHERE s.run_id = @run_id AND s.subject IN ('rows', 'bytes')
UNION ALL
SELECT s.subject, s.name, NULL, SUM(s.value)
FROM dbo.sample AS s
WHERE s.run_id = @run_id AND s.subject NOT IN ('rows', 'bytes')
GROUP BY s.subject, s.name
ORDER BY 3, 1, 2;
