/* Tables with the name of a stage table that this ledger does not know: another ledger's, or somebody's own.  Left alone. */
SELECT QUOTENAME(SCHEMA_NAME(t.schema_id)) + N'.' + QUOTENAME(t.name) AS stage_table
FROM sys.tables AS t
WHERE t.name LIKE N'fullrack[_]stage[_]%'
  AND NOT EXISTS (SELECT 1 FROM dbo.fullrack_staging AS s
                  WHERE s.stage_table = QUOTENAME(SCHEMA_NAME(t.schema_id)) + N'.' + QUOTENAME(t.name));
