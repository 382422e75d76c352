IF 1 = 1
