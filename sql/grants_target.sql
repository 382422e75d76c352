/*
 * grants_target.sql - the same three roles in a target database: what they may do with the ledger there.
 *
 * Run in the target database (-d) by `fullrack init --grants`, or by hand, as a member of db_owner.  Safe to run again.
 * What is loaded is not granted here, since only you know it:
 *
 *     GRANT SELECT, INSERT ON SCHEMA::sales TO fullrack_loader;             -- loads
 *     GRANT ALTER ON SCHEMA::sales TO fullrack_loader;                      -- --truncate, -E, --no-check
 *     GRANT VIEW DEFINITION ON SCHEMA::sales TO fullrack_loader;            -- constraints and triggers can be seen
 *     GRANT VIEW DEFINITION ON SCHEMA::sales TO fullrack_operator;          -- add looks at the tables
 *     GRANT SELECT ON SCHEMA::sales TO fullrack_viewer;                     -- verify counts their rows
 *
 * An operator closes ledger heads (reset, cancel); a viewer reads them (verify).
 */
IF DATABASE_PRINCIPAL_ID(N'fullrack_viewer') IS NULL
CREATE ROLE fullrack_viewer;
GO
IF DATABASE_PRINCIPAL_ID(N'fullrack_loader') IS NULL
CREATE ROLE fullrack_loader;
GO
IF DATABASE_PRINCIPAL_ID(N'fullrack_operator') IS NULL
CREATE ROLE fullrack_operator;
GO
IF OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NOT NULL
BEGIN
    GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_ledger TO fullrack_loader;
    GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_ledger TO fullrack_operator;
    GRANT SELECT ON dbo.fullrack_ledger TO fullrack_viewer;
END;
GO
IF OBJECT_ID(N'dbo.fullrack_truncation', N'U') IS NOT NULL
BEGIN
    GRANT SELECT, INSERT ON dbo.fullrack_truncation TO fullrack_loader;
    GRANT SELECT ON dbo.fullrack_truncation TO fullrack_operator;
    GRANT SELECT ON dbo.fullrack_truncation TO fullrack_viewer;
END;
GO
IF OBJECT_ID(N'dbo.fullrack_staging', N'U') IS NOT NULL
BEGIN
    GRANT SELECT, INSERT, UPDATE ON dbo.fullrack_staging TO fullrack_loader;
    GRANT SELECT, UPDATE ON dbo.fullrack_staging TO fullrack_operator;
    GRANT SELECT ON dbo.fullrack_staging TO fullrack_viewer;
END;
GO
/* Azure SQL Database: the schedulers and requests that pinning looks at are shown by a right of the database. */
IF CONVERT(int, SERVERPROPERTY('EngineEdition')) = 5
EXEC(N'GRANT VIEW DATABASE STATE TO fullrack_loader');
GO
