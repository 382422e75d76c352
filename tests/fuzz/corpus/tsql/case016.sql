SELECT IIF(a = 1, 2, 3), TRIM('x' FROM a), DATEADD(day, 1, a)
