SELECT [a]]b], "c""d", t.[e f], db..t.c, s.t.*, *
