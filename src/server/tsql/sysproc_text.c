/*
 * sysproc_text.c - system procedures written in T-SQL: what drivers ask of the catalog.
 *
 * Columns and their order are those of SQL Server's procedures of the same name.
 */
#include "server/tsql/interp.h"

#include <string.h>
#include <strings.h>

static const struct text_proc {
    const char *name;
    const char *params;
    const char *sql;
} procs[] = {
    {"sp_columns",
     "@table_name nvarchar(384), @table_owner nvarchar(384) = NULL, @table_qualifier "
     "sysname = NULL,"
     " @column_name nvarchar(384) = NULL, @ODBCVer int = 2",
     "SELECT DB_NAME() AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, o.name AS TABLE_NAME,"
     " c.name AS COLUMN_NAME,"
     " CAST(CASE t.name WHEN 'bit' THEN -7 WHEN 'tinyint' THEN -6 WHEN 'smallint' THEN 5"
     " WHEN 'int' THEN 4 WHEN 'bigint' THEN -5 WHEN 'real' THEN 7 WHEN 'float' THEN 6"
     " WHEN 'money' THEN 3 WHEN 'smallmoney' THEN 3 WHEN 'decimal' THEN 3 WHEN 'numeric' "
     "THEN 2"
     " WHEN 'char' THEN 1 WHEN 'varchar' THEN 12 WHEN 'text' THEN -1 WHEN 'nchar' THEN -8"
     " WHEN 'nvarchar' THEN -9 WHEN 'sysname' THEN -9 WHEN 'ntext' THEN -10 WHEN "
     "'binary' THEN -2"
     " WHEN 'varbinary' THEN -3 WHEN 'image' THEN -4 WHEN 'uniqueidentifier' THEN -11"
     " WHEN 'timestamp' THEN -2 WHEN 'datetime' THEN 11 WHEN 'smalldatetime' THEN 11"
     " WHEN 'date' THEN -9 WHEN 'time' THEN -9 WHEN 'datetime2' THEN -9"
     " WHEN 'datetimeoffset' THEN -9 ELSE 12 END AS smallint) AS DATA_TYPE,"
     " t.name AS TYPE_NAME,"
     " CASE WHEN c.precision > 0 THEN CAST(c.precision AS int)"
     " WHEN c.max_length = -1 THEN 0"
     " WHEN t.name IN ('nchar', 'nvarchar', 'sysname') THEN c.max_length / 2"
     " ELSE CAST(c.max_length AS int) END AS PRECISION,"
     " CASE WHEN c.max_length = -1 THEN 0 ELSE CAST(c.max_length AS int) END AS LENGTH,"
     " CASE WHEN c.precision > 0 THEN CAST(c.scale AS smallint) END AS SCALE,"
     " CASE WHEN t.name IN ('real', 'float') THEN CAST(2 AS smallint)"
     " WHEN c.precision > 0 THEN CAST(10 AS smallint) END AS RADIX,"
     " CAST(c.is_nullable AS smallint) AS NULLABLE, CAST(NULL AS varchar(254)) AS "
     "REMARKS,"
     " d.definition AS COLUMN_DEF,"
     " CAST(t.system_type_id AS smallint) AS SQL_DATA_TYPE, CAST(NULL AS smallint) AS "
     "SQL_DATETIME_SUB,"
     " CASE WHEN c.collation_name IS NOT NULL THEN CAST(c.max_length AS int) END AS "
     "CHAR_OCTET_LENGTH,"
     " c.column_id AS ORDINAL_POSITION,"
     " CASE WHEN c.is_nullable = 1 THEN 'YES' ELSE 'NO' END AS IS_NULLABLE,"
     " CAST(t.system_type_id AS tinyint) AS SS_DATA_TYPE"
     " FROM sys.columns c JOIN sys.objects o ON o.object_id = c.object_id"
     " JOIN sys.schemas s ON s.schema_id = o.schema_id"
     " JOIN sys.types t ON t.user_type_id = c.user_type_id"
     " LEFT JOIN sys.default_constraints d ON d.object_id = c.default_object_id"
     " WHERE o.type IN ('U', 'V') AND o.name LIKE @table_name"
     " AND (@table_owner IS NULL OR s.name LIKE @table_owner)"
     " AND (@column_name IS NULL OR c.name LIKE @column_name)"
     " ORDER BY s.name, o.name, c.column_id"},
    {"sp_databases", "",
     "SELECT name AS DATABASE_NAME, CAST(NULL AS int) AS DATABASE_SIZE,"
     " CAST(NULL AS varchar(254)) AS REMARKS FROM sys.databases ORDER BY name"},
    {"sp_helptext", "@objname nvarchar(776), @columnname sysname = NULL",
     "IF OBJECT_DEFINITION(OBJECT_ID(@objname)) IS NULL"
     " RAISERROR('There is no text for object ''%s''.', 16, 1, @objname)"
     " ELSE SELECT OBJECT_DEFINITION(OBJECT_ID(@objname)) AS Text"},
    {"sp_pkeys",
     "@table_name sysname, @table_owner sysname = NULL, @table_qualifier sysname = NULL",
     "SELECT DB_NAME() AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, o.name AS TABLE_NAME,"
     " COL_NAME(o.object_id, x.column_id) AS COLUMN_NAME, CAST(x.key_ordinal AS "
     "smallint) AS KEY_SEQ,"
     " i.name AS PK_NAME"
     " FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id"
     " JOIN sys.schemas s ON s.schema_id = o.schema_id"
     " JOIN sys.index_columns x ON x.object_id = i.object_id AND x.index_id = i.index_id"
     " WHERE i.is_primary_key = 1 AND o.name = @table_name"
     " AND (@table_owner IS NULL OR s.name = @table_owner)"
     " ORDER BY s.name, o.name, x.key_ordinal"},
    {"sp_tables",
     "@table_name nvarchar(384) = NULL, @table_owner nvarchar(384) = NULL,"
     " @table_qualifier sysname = NULL, @table_type varchar(100) = NULL, @fUsePattern "
     "bit = 1",
     "SELECT DB_NAME() AS TABLE_QUALIFIER, s.name AS TABLE_OWNER, o.name AS TABLE_NAME,"
     " CASE o.type WHEN 'V' THEN 'VIEW' ELSE 'TABLE' END AS TABLE_TYPE,"
     " CAST(NULL AS varchar(254)) AS REMARKS"
     " FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id"
     " WHERE o.type IN ('U', 'V') AND (@table_name IS NULL OR o.name LIKE @table_name)"
     " AND (@table_owner IS NULL OR s.name LIKE @table_owner)"
     " AND (@table_type IS NULL OR CHARINDEX(CASE o.type WHEN 'V' THEN '''VIEW''' ELSE "
     "'''TABLE''' END,"
     " @table_type) > 0)"
     " ORDER BY TABLE_TYPE, TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME"},
};

static const struct text_proc *find(const struct name *name)
{
    for (size_t i = 0; i < sizeof procs / sizeof procs[0]; i++) {
        if (strcasecmp(procs[i].name, name->object) == 0)
            return &procs[i];
    }
    return NULL;
}

bool sysproc_text_find(const struct name *name)
{
    return find(name) != NULL;
}

enum flow sysproc_text_run(struct frame *f, struct call *c)
{
    const struct text_proc *p = find(c->name);
    struct text_call t = {.proc = p->name,
                          .sql = p->sql,
                          .bytes = strlen(p->sql),
                          .params = p->params,
                          .params_bytes = strlen(p->params),
                          .args = c->args,
                          .nargs = c->nargs};

    f->reported = false;
    c->status = 0;
    return call_text(f, &t);
}
