/* Columns of the replay's table, and how many of them are LineItem's. */
SELECT COUNT(*) AS all_columns,
       COALESCE(SUM(CASE WHEN (c.name = N'l_orderkey' AND c.system_type_id = 127)
                           OR (c.name IN (N'l_partkey', N'l_suppkey', N'l_linenumber') AND c.system_type_id = 56)
                           OR (c.name IN (N'l_quantity', N'l_extendedprice', N'l_discount', N'l_tax') AND c.system_type_id = 106)
                           OR (c.name IN (N'l_returnflag', N'l_linestatus', N'l_shipinstruct', N'l_shipmode') AND c.system_type_id = 175)
                           OR (c.name IN (N'l_shipdate', N'l_commitdate', N'l_receiptdate') AND c.system_type_id = 40)
                           OR (c.name = N'l_comment' AND c.system_type_id = 167)
                         THEN 1 ELSE 0 END), 0) AS lineitem_columns
FROM sys.columns AS c
WHERE c.object_id = OBJECT_ID(N'dbo.fullrack_replay');
