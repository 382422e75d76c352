/* Whether this login may have the server read files (BULK INSERT).  NULL: it may not be asked about. */
SELECT
    HAS_PERMS_BY_NAME(NULL, NULL, 'ADMINISTER BULK OPERATIONS') AS may_bulk_server,
    HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'ADMINISTER DATABASE BULK OPERATIONS') AS may_bulk_database;
