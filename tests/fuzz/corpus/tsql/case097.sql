SELECT a.b.c.d.e FROM t
