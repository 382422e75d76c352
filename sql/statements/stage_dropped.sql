UPDATE dbo.fullrack_staging SET dropped_at = SYSUTCDATETIME() WHERE stage_group = @stage_group AND load_id = @load_id AND range_start = @range_start;
