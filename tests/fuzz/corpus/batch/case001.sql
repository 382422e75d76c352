SELECT a + b * c - d, (a + b) * c, -a + ~b, - - 1
