/* Every row of $(TABLE) has its row of $(PARENT).  Reads only: it may be run again at any time. */
DECLARE @orphans bigint = (SELECT COUNT_BIG(*) FROM $(TABLE) AS c
                           WHERE NOT EXISTS (SELECT 1 FROM $(PARENT) AS p WHERE p.$(KEY) = c.$(KEY)));
DECLARE @message nvarchar(400) = CONVERT(nvarchar(20), @orphans) + N' rows of $(TABLE) have no $(PARENT)';
IF @orphans > 0
    THROW 50000, @message, 1;
PRINT N'every $(KEY) of $(TABLE) is there';
