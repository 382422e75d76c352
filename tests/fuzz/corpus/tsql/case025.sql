SELECT a FROM t LEFT JOIN u JOIN v ON u.x = v.x ON t.x = u.x
