SELECT a FROM (t INNER JOIN u ON t.a = u.a)
