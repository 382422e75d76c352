/* The stage table is noted before it is made: whoever tidies up finds it here. */
INSERT INTO dbo.fullrack_staging (load_id, range_start, stage_group, stage_table, target_object_id, target_create_date)
SELECT @load_id, @range_start, @stage_group, @stage_table, @target_object_id, @target_create_date
WHERE NOT EXISTS (SELECT 1 FROM dbo.fullrack_staging WITH (UPDLOCK, HOLDLOCK)
                  WHERE stage_group = @stage_group AND load_id = @load_id AND range_start = @range_start);
