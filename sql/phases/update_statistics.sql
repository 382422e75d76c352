/*
 * update-statistics - after: the statistics of $(TABLE) are made anew, by the server's own sample.  May be run again.
 */
UPDATE STATISTICS $(TABLE);
