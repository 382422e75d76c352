SELECT @x = a, b FROM t
