/* @name: a quoted T-SQL name.  What a bulk copy into it needs; NULL where the server does not say. */
SELECT HAS_PERMS_BY_NAME(@name, N'OBJECT', N'INSERT') AS may_insert,
       HAS_PERMS_BY_NAME(@name, N'OBJECT', N'SELECT') AS may_select;
