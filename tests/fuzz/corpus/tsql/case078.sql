GRANT SELECT ON dbo.t TO public
