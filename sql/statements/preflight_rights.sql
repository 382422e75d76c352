/*
 * What this login may do: with the table, the ledger and its list of truncated tables, or to make those where they are not
 * there: whoever makes a table in a schema of another has no right to it by that.  @name, @ledger, @marks: quoted names.  NULL: there is no such thing, or it may not be asked about.
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
    HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'CREATE TABLE') AS may_create_table,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'ALTER') AS may_alter_schema,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'SELECT') AS may_select_schema,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'INSERT') AS may_insert_schema,
    HAS_PERMS_BY_NAME(@ledger_schema, 'SCHEMA', 'UPDATE') AS may_update_schema;
