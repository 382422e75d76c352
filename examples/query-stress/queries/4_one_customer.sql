DECLARE @customer int = 1 + ABS(CHECKSUM(NEWID())) % 100;
SELECT id, ordered, amount FROM dbo.orders WHERE customer = @customer ORDER BY ordered;
