/*
 * ledger.sql - the ledger: one head row per load and range, in the target database.
 *
 * Exactly-once rests on this row: it moves in the same transaction as the rows it accounts for.
 * Made by `fullrack init`, or by `fullrack load` where it is absent; safe to run again.
 */
IF OBJECT_ID(N'dbo.fullrack_ledger', N'U') IS NULL
CREATE TABLE dbo.fullrack_ledger (
    load_id uniqueidentifier NOT NULL,
    range_start bigint NOT NULL,
    epoch bigint NOT NULL,
    state varchar(8) NOT NULL
        CONSTRAINT ck_fullrack_ledger_state CHECK (state IN ('open', 'done', 'closed')),
    next_offset bigint NOT NULL,
    next_row bigint NOT NULL,
    range_end bigint NULL,
    rows_loaded bigint NOT NULL,
    rows_rejected bigint NOT NULL,
    rows_skipped bigint NOT NULL,
    reject_bytes bigint NOT NULL,
    trimmed_values bigint NOT NULL,
    batches bigint NOT NULL,
    plan_hash bigint NOT NULL,
    source nvarchar(2000) NOT NULL,
    source_bytes bigint NOT NULL,
    source_mtime_ns bigint NOT NULL,
    source_hash bigint NOT NULL,
    target_object_id int NOT NULL,
    target_create_date datetime2(3) NOT NULL,
    created_at datetime2(3) NOT NULL CONSTRAINT df_fullrack_ledger_created_at DEFAULT SYSUTCDATETIME(),
    updated_at datetime2(3) NOT NULL CONSTRAINT df_fullrack_ledger_updated_at DEFAULT SYSUTCDATETIME(),
    CONSTRAINT pk_fullrack_ledger PRIMARY KEY (load_id, range_start)
);
GO
/* Version 2: tables that were emptied, once per group of tasks (`--truncate`); the row comes with the TRUNCATE. */
IF OBJECT_ID(N'dbo.fullrack_truncation', N'U') IS NULL
CREATE TABLE dbo.fullrack_truncation (
    truncate_group uniqueidentifier NOT NULL,
    target_object_id int NOT NULL,
    truncated_at datetime2(3) NOT NULL CONSTRAINT df_fullrack_truncation_truncated_at DEFAULT SYSUTCDATETIME(),
    CONSTRAINT pk_fullrack_truncation PRIMARY KEY (truncate_group, target_object_id)
);
GO
/*
 * Version 3: tables of `--stage`, one row each, made for a load (a range of one) beside its target.  brought_at comes
 * with the rows, in the transaction that brings all of a group in; dropped_at when the table is gone.
 */
IF OBJECT_ID(N'dbo.fullrack_staging', N'U') IS NULL
CREATE TABLE dbo.fullrack_staging (
    load_id uniqueidentifier NOT NULL,
    range_start bigint NOT NULL,
    stage_group uniqueidentifier NOT NULL,
    stage_table nvarchar(300) NOT NULL,
    target_object_id int NOT NULL,
    target_create_date datetime2(3) NOT NULL,
    made_at datetime2(3) NOT NULL CONSTRAINT df_fullrack_staging_made_at DEFAULT SYSUTCDATETIME(),
    brought_at datetime2(3) NULL,
    dropped_at datetime2(3) NULL,
    CONSTRAINT pk_fullrack_staging PRIMARY KEY (stage_group, load_id, range_start)
);
GO
/* For those that are not dropped yet, of many that were. */
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'dbo.fullrack_staging') AND name LIKE N'ix_fullrack_staging_dropped%')
CREATE INDEX ix_fullrack_staging_dropped ON dbo.fullrack_staging (dropped_at);
GO
