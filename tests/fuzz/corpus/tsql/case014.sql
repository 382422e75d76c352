SELECT CAST(a AS varchar), CONVERT(nvarchar(10), b, 121), TRY_CAST(c AS decimal(10, 2)), TRY_CONVERT(varchar(max), d)
