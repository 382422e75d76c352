INSERT t (a) OUTPUT inserted.a, inserted.* INTO @u SELECT a FROM v WHERE 1 = 1
