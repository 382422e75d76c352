UPDATE TOP (1) q SET a = 1, b += 2, @x = c = 3, @y = 4 OUTPUT deleted.a, inserted.b FROM t AS q WHERE q.a = 2
