/* The night's result, made anew from what was loaded: running it again makes the same. */
BEGIN TRANSACTION;
DELETE FROM $(TABLE);
INSERT INTO $(TABLE) (day, orders, sold)
SELECT o.day, COUNT(DISTINCT o.order_id), SUM(l.quantity * l.price * r.rate)
FROM dbo.orders AS o
JOIN dbo.line AS l ON l.order_id = o.order_id
JOIN dbo.rate AS r ON r.day = o.day AND r.currency = o.currency
GROUP BY o.day;
COMMIT TRANSACTION;
