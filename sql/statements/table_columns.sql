SELECT c.column_id, c.name, COALESCE(TYPE_NAME(c.system_type_id), TYPE_NAME(c.user_type_id)) AS type_name, c.max_length, c.precision, c.scale,
       c.is_nullable, c.is_identity, c.is_computed,
       CASE WHEN c.default_object_id <> 0 THEN 1 ELSE 0 END AS has_default,
       CONVERT(int, COLLATIONPROPERTY(c.collation_name, 'CodePage')) AS code_page,
       CASE WHEN c.encryption_type IS NOT NULL THEN 1 WHEN c.generated_always_type <> 0 THEN 2 WHEN c.is_column_set = 1 THEN 3
            ELSE 0 END AS kind,
       c.collation_name
FROM sys.columns AS c
WHERE c.object_id = @object_id
ORDER BY c.column_id;
