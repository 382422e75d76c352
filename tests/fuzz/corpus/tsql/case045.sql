CREATE TABLE #t (a double precision, b national character varying(5), c char varying(3), d decimal(10), e timestamp) ON [PRIMARY] WITH (DATA_COMPRESSION = PAGE)
