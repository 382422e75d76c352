SELECT a FROM t WHERE a = 1 AND NOT b <> 2 OR c !< 3
