SELECT a FROM (VALUES (1, 'x'), (2, 'y')) v(a, b)
