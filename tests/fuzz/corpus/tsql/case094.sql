INSERT t (a, b) VALUES (1)
