/* The tables of a small shop, and what a night leaves behind.  Run once: fullrack query @tables.sql */
CREATE TABLE dbo.night (started_at datetime2(0) NOT NULL, ended_at datetime2(0) NULL, rows_loaded bigint NULL);
CREATE TABLE dbo.region (region_id int NOT NULL CONSTRAINT pk_region PRIMARY KEY, name nvarchar(40) NOT NULL);
CREATE TABLE dbo.nation (nation_id int NOT NULL CONSTRAINT pk_nation PRIMARY KEY, region_id int NOT NULL, name nvarchar(40) NOT NULL);
CREATE TABLE dbo.calendar (day date NOT NULL CONSTRAINT pk_calendar PRIMARY KEY, is_holiday bit NOT NULL);
CREATE TABLE dbo.rate (day date NOT NULL, currency char(3) NOT NULL, rate decimal(12, 6) NOT NULL,
    CONSTRAINT pk_rate PRIMARY KEY (day, currency));
CREATE TABLE dbo.supplier (supplier_id int NOT NULL CONSTRAINT pk_supplier PRIMARY KEY, nation_id int NOT NULL, name nvarchar(60) NOT NULL);
CREATE TABLE dbo.customer (customer_id int NOT NULL CONSTRAINT pk_customer PRIMARY KEY, nation_id int NOT NULL, name nvarchar(60) NOT NULL,
    since date NULL);
CREATE TABLE dbo.part (part_id int NOT NULL CONSTRAINT pk_part PRIMARY KEY, name nvarchar(60) NOT NULL,
    price decimal(12, 2) NOT NULL CONSTRAINT ck_part_price CHECK (price >= 0));
CREATE TABLE dbo.stock (part_id int NOT NULL, supplier_id int NOT NULL, quantity int NOT NULL,
    CONSTRAINT pk_stock PRIMARY KEY (part_id, supplier_id));
CREATE TABLE dbo.orders (order_id bigint NOT NULL CONSTRAINT pk_orders PRIMARY KEY, customer_id int NOT NULL, day date NOT NULL,
    currency char(3) NOT NULL);
CREATE TABLE dbo.line (order_id bigint NOT NULL, number int NOT NULL, part_id int NOT NULL, quantity int NOT NULL,
    price decimal(12, 2) NOT NULL, CONSTRAINT ck_line_quantity CHECK (quantity > 0));
CREATE INDEX ix_line_order ON dbo.line (order_id);
CREATE INDEX ix_line_part ON dbo.line (part_id) INCLUDE (quantity, price);
CREATE TABLE dbo.payment (payment_id bigint NOT NULL CONSTRAINT pk_payment PRIMARY KEY, order_id bigint NOT NULL, amount decimal(14, 2) NOT NULL);
CREATE TABLE dbo.complaint (order_id bigint NOT NULL, said nvarchar(200) NOT NULL);
CREATE TABLE dbo.daily_sales (day date NOT NULL CONSTRAINT pk_daily_sales PRIMARY KEY, orders int NOT NULL, sold decimal(16, 2) NOT NULL);
