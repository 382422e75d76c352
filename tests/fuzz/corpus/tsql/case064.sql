DECLARE @a int = 1, @b AS varchar(10), @t TABLE (x int PRIMARY KEY)
