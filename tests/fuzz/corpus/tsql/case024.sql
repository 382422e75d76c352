SELECT a FROM t JOIN u ON t.a = u.a LEFT OUTER JOIN v ON v.b = u.b CROSS JOIN w
