/* @name: a quoted T-SQL name.  One row, or none when there is no such table. */
SELECT o.object_id, o.name, SCHEMA_NAME(o.schema_id) AS schema_name, CONVERT(datetime2(3), o.create_date) AS create_date,
       DB_NAME() AS database_name, o.type
FROM sys.objects AS o
WHERE o.object_id = OBJECT_ID(@name) AND o.type IN ('U', 'V');
