SELECT a b c
