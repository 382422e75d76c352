EXEC @rc = dbo.p 1, @b = @x OUTPUT, @c = DEFAULT, @d = word
