/*
 * What this login may do: with the table, the ledger, its lists of truncated and staged tables, the table of rejects, and to
 * make those that are not there: whoever makes a table in a schema of another has no right to it by that.  All parameters
 * are quoted names.  NULL: there is no such thing, or it may not be asked about.
 */
SELECT
    SUSER_SNAME() AS login_name,
    HAS_PERMS_BY_NAME(@name, 'OBJECT', 'INSERT') AS may_insert,
    HAS_PERMS_BY_NAME(@name, 'OBJECT', 'SELECT') AS may_select,
    HAS_PERMS_BY_NAME(@name, 'OBJECT', 'ALTER') AS may_alter,
    CASE WHEN OBJECT_ID(@ledger) IS NULL THEN 0 ELSE 1 END AS ledger_exists,
    HAS_PERMS_BY_NAME(@ledger, 'OBJECT', 'SELECT') AS may_select_ledger,
    HAS_PERMS_BY_NAME(@ledger, 'OBJECT', 'INSERT') AS may_insert_ledger,
    HAS_PERMS_BY_NAME(@ledger, 'OBJECT', 'UPDATE') AS may_update_ledger,
    HAS_PERMS_BY_NAME(@marks, 'OBJECT', 'SELECT') AS may_select_marks,
    HAS_PERMS_BY_NAME(@marks, 'OBJECT', 'INSERT') AS may_insert_marks,
    HAS_PERMS_BY_NAME(@stages, 'OBJECT', 'SELECT') AS may_select_stages,
    HAS_PERMS_BY_NAME(@stages, 'OBJECT', 'INSERT') AS may_insert_stages,
    HAS_PERMS_BY_NAME(@stages, 'OBJECT', 'UPDATE') AS may_update_stages,
    CASE WHEN OBJECT_ID(@rejects) IS NULL THEN 0 ELSE 1 END AS rejects_exist,
    OBJECT_ID(@rejects) AS reject_object,
    (SELECT COUNT(*) FROM sys.columns WHERE object_id = OBJECT_ID(@rejects) AND name IN ('load_id', 'range_start', 'row_number',
     'byte_offset', 'source', 'target_table', 'column_name', 'value', 'reason', 'row_bytes', 'host')) AS reject_columns,
    HAS_PERMS_BY_NAME(@rejects, 'OBJECT', 'SELECT') AS may_select_rejects,
    HAS_PERMS_BY_NAME(@rejects, 'OBJECT', 'INSERT') AS may_insert_rejects,
    HAS_PERMS_BY_NAME(@table_schema, 'SCHEMA', 'ALTER') AS may_alter_table_schema,
    HAS_PERMS_BY_NAME(@table_schema, 'SCHEMA', 'SELECT') AS may_select_table_schema,
    HAS_PERMS_BY_NAME(@table_schema, 'SCHEMA', 'INSERT') AS may_insert_table_schema,
    HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE TABLE') AS may_create_table,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'ALTER') AS may_alter_schema,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'SELECT') AS may_select_schema,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'INSERT') AS may_insert_schema,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'UPDATE') AS may_update_schema;
