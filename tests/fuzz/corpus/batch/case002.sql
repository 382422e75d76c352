SELECT a & b | c ^ d % 2, 'x' + 'y' COLLATE Latin1_General_BIN
