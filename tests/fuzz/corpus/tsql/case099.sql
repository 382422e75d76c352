CREATE TABLE select (a int)
