/* Every head, for verify; is_truncated: --truncate emptied its table afterwards. */
SELECT h.load_id, h.range_start, h.state, h.epoch, h.rows_loaded, h.rows_rejected, h.rows_skipped, h.target_object_id,
       CASE WHEN EXISTS (SELECT 1 FROM dbo.fullrack_truncation AS t
                         WHERE t.target_object_id = h.target_object_id AND t.truncated_at > h.created_at)
            THEN 1 ELSE 0 END AS is_truncated
FROM dbo.fullrack_ledger AS h;
