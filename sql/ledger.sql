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
