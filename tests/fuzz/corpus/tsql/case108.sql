SELECT a FROM t PIVOT (x FOR y IN (z)) p
