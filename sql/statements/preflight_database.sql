/* How the database logs, and whether its readers use row versions; the edition (5: Azure SQL Database, 8: Managed Instance). */
SELECT
    (SELECT recovery_model_desc FROM sys.databases WHERE database_id = DB_ID()) AS recovery_model,
    (SELECT CONVERT(int, is_read_committed_snapshot_on) FROM sys.databases WHERE database_id = DB_ID()) AS is_read_committed_snapshot_on,
    (SELECT snapshot_isolation_state FROM sys.databases WHERE database_id = DB_ID()) AS snapshot_isolation_state,
    CONVERT(int, SERVERPROPERTY('EngineEdition')) AS engine_edition,
    CONVERT(nvarchar(60), SERVERPROPERTY('BabelfishVersion')) AS babelfish_version;
