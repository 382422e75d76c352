/* The constraint by which a stage table was made for one partition of its target, while the server trusts it. */
SELECT c.name
FROM sys.check_constraints AS c
WHERE c.parent_object_id = OBJECT_ID(@stage_table, N'U') AND c.is_disabled = 0 AND c.is_not_trusted = 0
  AND c.name LIKE N'fullrack[_]partition[_]%';
