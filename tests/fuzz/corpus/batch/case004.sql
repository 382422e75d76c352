SELECT x = 1, 2 AS y, 3 z, 4 AS 'w w', 5 'v'
