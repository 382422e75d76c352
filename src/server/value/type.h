/*
 * type.h - SQL Server's data types as fullrackd knows them.
 *
 * One table (type.c) carries, for every type: its T-SQL names, its system_type_id
 * and user_type_id of sys.types, its TDS token, its family, its limits.  Plain data;
 * any thread.
 */
#ifndef FRD_VALUE_TYPE_H
#define FRD_VALUE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_id {
    TY_NULL, /* the type of a bare NULL literal; becomes int when it must be shown */
    TY_BIT,
    TY_TINYINT,
    TY_SMALLINT,
    TY_INT,
    TY_BIGINT,
    TY_REAL,
    TY_FLOAT,
    TY_SMALLMONEY,
    TY_MONEY,
    TY_DECIMAL, /* also numeric: see struct sqltype.numeric */
    TY_DATE,
    TY_TIME,
    TY_DATETIME,
    TY_SMALLDATETIME,
    TY_DATETIME2,
    TY_DATETIMEOFFSET,
    TY_CHAR,
    TY_VARCHAR,
    TY_TEXT,
    TY_NCHAR,
    TY_NVARCHAR,
    TY_NTEXT,
    TY_BINARY,
    TY_VARBINARY,
    TY_IMAGE,
    TY_UNIQUEIDENTIFIER,
    TY_XML,
    TY_SQL_VARIANT,
    TY_ROWVERSION,
    TY_COUNT
};

/* A data type with its arguments: what a column, a variable, an expression has. */
struct sqltype {
    enum type_id id;
    bool numeric;       /* written as numeric rather than decimal (token 0x6C / 0x6A) */
    bool sysname;       /* declared as sysname (user_type_id 256) */
    uint8_t precision;  /* decimal: 1..38; others: what sys.columns shows */
    uint8_t scale;      /* decimal: 0..38; time, datetime2, datetimeoffset: 0..7 */
    int32_t max_bytes;  /* as sys.columns.max_length: bytes, nvarchar(n) = 2n; -1 = (max) */
    uint32_t collation; /* row of the collation table (collation.h), 0 = server default */
};

enum type_family {
    FAM_NULL, FAM_INTEGER, FAM_FLOAT, FAM_MONEY, FAM_DECIMAL, FAM_DATETIME, FAM_STRING,
    FAM_NSTRING, FAM_BINARY, FAM_GUID, FAM_XML, FAM_VARIANT
};

#endif
