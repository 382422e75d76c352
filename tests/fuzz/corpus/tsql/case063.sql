EXEC @name
