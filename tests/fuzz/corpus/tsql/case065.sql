SET @a = @b + 1 SET @a -= 1
