/* Above twice the average of their customer: two batches, as a report with a work table has them. */
IF OBJECT_ID(N'tempdb..#average') IS NOT NULL
    DROP TABLE #average;
SELECT customer, AVG(amount) AS average
INTO #average
FROM dbo.orders
GROUP BY customer;
GO
SELECT o.id, o.customer, o.amount
FROM dbo.orders AS o
JOIN #average AS a ON a.customer = o.customer
WHERE o.amount > 1.9 * a.average
ORDER BY o.amount DESC;
DROP TABLE #average;
GO
