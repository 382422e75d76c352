SELECT YEAR(ordered) AS year, MONTH(ordered) AS month, COUNT(*) AS orders, AVG(amount) AS average
FROM dbo.orders
WHERE ordered >= '20250101' AND ordered < '20260101'
GROUP BY YEAR(ordered), MONTH(ordered)
ORDER BY 1, 2;
