/*
 * reject_table.sql - rejected rows in the target database: `--reject-table`.
 *
 * They come in the transaction of the batch that refused them.  The name is what the user gives; this one is
 * replaced.  reject_id makes rows of the same place two, which --ledger off may bring.
 */
IF OBJECT_ID(N'dbo.fullrack_rejects', N'U') IS NULL
CREATE TABLE dbo.fullrack_rejects (
    load_id uniqueidentifier NOT NULL,
    range_start bigint NOT NULL,
    row_number bigint NOT NULL,
    reject_id bigint IDENTITY(1, 1) NOT NULL,
    byte_offset bigint NOT NULL,
    source nvarchar(4000) NOT NULL,
    target_table nvarchar(300) NOT NULL,
    column_name nvarchar(128) NULL,
    value nvarchar(400) NULL,
    reason nvarchar(400) NOT NULL,
    row_bytes varbinary(max) NULL,
    host nvarchar(128) NOT NULL,
    rejected_at datetime2(3) NULL DEFAULT SYSUTCDATETIME(),
    PRIMARY KEY (load_id, range_start, row_number, reject_id)
);
