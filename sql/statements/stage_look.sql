/* What is known of a load that is staged: its head, its table, and whether that is there; one row in any case. */
SELECT h.state, h.target_object_id, CONVERT(datetime2(3), h.target_create_date) AS create_date, s.stage_table,
       CASE WHEN s.brought_at IS NULL THEN 0 ELSE 1 END AS is_brought,
       CASE WHEN OBJECT_ID(s.stage_table, N'U') IS NULL THEN 0 ELSE 1 END AS is_there
FROM (SELECT 1 AS one) AS o
LEFT JOIN dbo.fullrack_ledger AS h ON h.load_id = @load_id AND h.range_start = @range_start
LEFT JOIN dbo.fullrack_staging AS s ON s.stage_group = @stage_group AND s.load_id = @load_id AND s.range_start = @range_start;
