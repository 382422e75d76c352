INSERT INTO dbo.t (a, b) VALUES (1, DEFAULT), (2, N'x')
