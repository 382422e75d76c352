USE master; GOTO l; l: SELECT 1
