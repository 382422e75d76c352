SELECT (a = 1)
