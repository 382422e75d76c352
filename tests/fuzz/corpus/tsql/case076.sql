insert bulk dbo.t ([a] int NOT NULL, b nvarchar(20) COLLATE Latin1_General_BIN NULL, c decimal(10,2)) with (TABLOCK, CHECK_CONSTRAINTS, ROWS_PER_BATCH = 500, ORDER (a ASC))
