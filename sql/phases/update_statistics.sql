/*
 * update-statistics - after: the statistics of $(TABLE) are made anew, by the server's own sample.  May be run again.
 * Babelfish does so by itself, and does not take a batch that has the statement.
 */
IF CONVERT(int, SERVERPROPERTY('Babelfish')) = 1
    PRINT N'this server keeps its statistics by itself';
ELSE
    EXEC (N'UPDATE STATISTICS $(TABLE)');
