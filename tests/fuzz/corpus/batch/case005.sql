SELECT @x = a, @y += b FROM t
