SELECT TOP (10) customer, COUNT(*) AS orders, SUM(amount) AS amount
FROM dbo.orders
GROUP BY customer
ORDER BY SUM(amount) DESC, customer;
