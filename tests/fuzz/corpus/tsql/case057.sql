CREATE PROCEDURE dbo.p @a int, @b nvarchar(10) = N'x' OUTPUT AS SELECT @a; RETURN 1
