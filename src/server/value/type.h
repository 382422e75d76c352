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
    TY_HIERARCHYID, /* the CLR types: their serialised bytes, not looked into */
    TY_GEOMETRY,
    TY_GEOGRAPHY,
    TY_COUNT
};

/* A data type with its arguments: what a column, a variable, an expression has. */
struct sqltype {
    enum type_id id;
    bool numeric;      /* written as numeric rather than decimal (token 0x6C / 0x6A) */
    bool sysname;      /* declared as sysname (user_type_id 256) */
    uint8_t precision; /* decimal: 1..38; others: what sys.columns shows */
    uint8_t scale;     /* decimal: 0..38; time, datetime2, datetimeoffset: 0..7 */
    int32_t
        max_bytes; /* as sys.columns.max_length: bytes, nvarchar(n) = 2n; -1 = (max) */
    uint32_t collation; /* row of the collation table (collation.h), 0 = server default */
};

enum type_family {
    FAM_NULL,
    FAM_INTEGER,
    FAM_FLOAT,
    FAM_MONEY,
    FAM_DECIMAL,
    FAM_DATETIME,
    FAM_STRING,
    FAM_NSTRING,
    FAM_BINARY,
    FAM_GUID,
    FAM_XML,
    FAM_VARIANT
};

enum {
    TYPE_MAX = -1,        /* max_bytes of varchar(max), nvarchar(max), varbinary(max) */
    TYPE_NAME_BYTES = 64, /* a buffer for type_format() */
    TYPE_MAX_PRECISION = 38,
    TYPE_MAX_CHARS = 8000,  /* bytes of the longest char, varchar, binary, varbinary */
    TYPE_MAX_NCHARS = 4000, /* UTF-16 units of the longest nchar, nvarchar */
};

struct sqlerr;

/* One row of the table of types; order: enum type_id. */
struct type_info {
    enum type_id id;
    const char *name;
    enum type_family family;
    uint8_t system_type_id; /* sys.types */
    int user_type_id;
    uint8_t token_fixed; /* TDS token of the NOT NULL form, 0 = it has none */
    uint8_t token;       /* TDS token of the nullable (or only) form */
    uint8_t precedence;  /* 1 = lowest; higher wins in a binary operator */
    uint8_t precision;   /* what sys.types shows; decimal: 18 is the default */
    uint8_t scale;
    int32_t max_bytes; /* size of a fixed type, longest of a variable one */
};

const struct type_info *type_info(enum type_id id);
enum type_family type_family(enum type_id id);
/* The family's string, binary or date members, asked for often. */
bool type_is_string(enum type_id id);      /* char .. ntext, xml */
bool type_is_nstring(enum type_id id);     /* nchar, nvarchar, ntext, xml */
bool type_is_binary(enum type_id id);      /* binary .. rowversion, CLR types */
bool type_is_clr(enum type_id id);         /* hierarchyid, geometry, geography */
bool type_is_numeric(enum type_id id);     /* bit .. decimal */
bool type_is_datetime(enum type_id id);    /* date .. datetimeoffset */
bool type_is_lob(const struct sqltype *t); /* text, ntext, image, xml and (max) */

/* The type with its default arguments: varchar(1), decimal(18,0), datetime2(7), ... */
struct sqltype type_of(enum type_id id);
struct sqltype type_decimal(uint8_t precision, uint8_t scale);
struct sqltype type_varchar(int32_t bytes);   /* or TYPE_MAX */
struct sqltype type_nvarchar(int32_t chars);  /* UTF-16 units, or TYPE_MAX */
struct sqltype type_varbinary(int32_t bytes); /* or TYPE_MAX */

/* What stands in brackets behind a type's name. */
struct type_args {
    int count; /* 0..2 */
    bool max;  /* varchar(max) */
    long arg[2];
    bool in_cast; /* varchar, char, binary ... without a length: 30 instead of 1 */
};

/*
 * Find a type by name (any case; `double precision`, `character varying`, `national char
 * varying`, ... with single blanks between the words; sysname) and apply its arguments.
 * 243/2715 unknown name, 1001/1002/2716/2717/131/183 wrong arguments.
 */
bool type_parse(const char *name, size_t n, const struct type_args *args,
                struct sqltype *out, struct sqlerr *e);
/* True when `name` is a type's name or synonym. */
bool type_is_name(const char *name, size_t n);
/* By sys.types.user_type_id; false when there is none. */
bool type_by_user_id(int user_type_id, enum type_id *out);

/* "decimal(18,6)", "nvarchar(max)", "int"; returns buf. */
const char *type_format(const struct sqltype *t, char *buf, size_t size);
/* Only the name: "decimal", "numeric", "sysname", ...; static storage. */
const char *type_name(const struct sqltype *t);

/* Characters (UTF-16 units for n-types, bytes else) that fit; TYPE_MAX for max and lob
 * types. */
int32_t type_length(const struct sqltype *t);
/* Bytes a decimal of this precision takes on the wire, its sign included: 5, 9, 13, 17.
 */
int type_decimal_bytes(uint8_t precision);
bool type_equal(const struct sqltype *a, const struct sqltype *b);

enum arith_op {
    ARITH_ADD,
    ARITH_SUB,
    ARITH_MUL,
    ARITH_DIV,
    ARITH_MOD,
    ARITH_AND,
    ARITH_OR,
    ARITH_XOR
};
/* "add", "subtract", ... as the server names the operator in error texts */
const char *arith_name(enum arith_op op);

/* A number type seen as a decimal: int = decimal(10,0), money = decimal(19,4) ... */
struct sqltype type_as_decimal(const struct sqltype *t);
/* Precision and scale of a op b over two decimals, capped at 38 as documented under
   "Precision, scale, and length". */
struct sqltype type_decimal_result(enum arith_op op, const struct sqltype *a,
                                   const struct sqltype *b);
/* Type of a op b, + of strings and of dates included; 402, 8117, 206. */
bool type_arith(enum arith_op op, const struct sqltype *a, const struct sqltype *b,
                struct sqltype *out, struct sqlerr *e);
/* Common type of CASE, COALESCE, UNION, IN lists and comparisons; 206 when there is none.
 */
bool type_common(const struct sqltype *a, const struct sqltype *b, struct sqltype *out,
                 struct sqlerr *e);

#endif
