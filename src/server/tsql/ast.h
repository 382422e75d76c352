/*
 * ast.h - the syntax tree of a T-SQL batch.
 *
 * The parser (parser.h) makes it, the interpreter (interp.c) walks the statements, the
 * binder and emitter turn queries and expressions into SQLite SQL.  Everything, texts
 * included, lives in the arena of its struct batch and is read-only once parsed, so a
 * procedure's body is parsed once and run often.  Names are unquoted ("[a]]b]" is a]b).
 * Lists are arrays with a count; pointers are NULL where a clause is absent.
 * Line numbers are 1-based, in the batch or in the procedure's own text.
 */
#ifndef FRD_TSQL_AST_H
#define FRD_TSQL_AST_H

#include "server/store/permission.h"
#include "server/tsql/arena.h"
#include "server/value/value.h"

/* ---- common parts ---- */
/* Up to four parts; absent ones are NULL ("db..t": schema NULL), object is never. */
struct name {
    const char *server;
    const char *database;
    const char *schema;
    const char *object; /* "#t" and "##t" keep their marks */
    int32_t line;
};

/* A piece of the batch's source; points into it, not NUL-terminated. */
struct span {
    const char *p;
    size_t n;
};

/* A data type as written; type_ref_resolve() (parser.h) makes a struct sqltype of it. */
struct type_ref {
    struct name name; /* "int"; national character varying and such come as nvarchar */
    int nargs;        /* 0..2 */
    int32_t args[2];
    bool max;              /* (max) */
    bool in_cast;          /* stands in CAST or CONVERT: varchar is varchar(30) there */
    const char *collation; /* COLLATE behind it, or NULL */
};

/* ---- expressions ---- */
enum expr_kind {
    EX_LITERAL,  /* literal */
    EX_DEFAULT,  /* the word DEFAULT in VALUES, SET col = DEFAULT, EXEC p DEFAULT */
    EX_COLUMN,   /* column: multi-part name, the object part is the column */
    EX_STAR,     /* * or t.*: column.object is NULL, the other parts qualify; select list,
                    OUTPUT, COUNT(*) only */
    EX_VARIABLE, /* text: "@x" (lower-cased in .text, names match without case) */
    EX_UNARY,    /* op OP_NEG, OP_PLUS, OP_BITNOT; args[0] */
    EX_BINARY,   /* op OP_ADD .. OP_BITXOR; args[0], args[1] */
    EX_COMPARE,  /* op OP_EQ .. OP_GE; args[0], args[1] */
    EX_AND,      /* args[0], args[1] */
    EX_OR,       /* args[0], args[1] */
    EX_NOT,      /* args[0] */
    EX_IS_NULL,  /* args[0]; negated */
    EX_BETWEEN,  /* args[0] between args[1] and args[2]; negated */
    EX_LIKE,     /* args[0] like args[1] [escape args[2]]; negated */
    EX_IN_LIST,  /* args[0] in (args[1] .. args[nargs-1]); negated */
    EX_IN_QUERY, /* args[0] in (query); negated */
    EX_EXISTS,   /* query */
    EX_QUANTIFIED, /* args[0] op ANY|ALL (query); all */
    EX_SUBQUERY,   /* scalar (query) */
    EX_CASE,       /* case_parts; args unused */
    EX_FUNCTION,   /* func */
    EX_CAST,       /* cast: CAST, CONVERT, TRY_CAST, TRY_CONVERT, PARSE not */
    EX_COLLATE,    /* args[0] collate text */
};

enum expr_op {
    OP_NONE,
    OP_NEG,
    OP_PLUS,
    OP_BITNOT,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_BITAND,
    OP_BITOR,
    OP_BITXOR,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE /* also !< !> */
};

struct expr;
struct query;

struct case_when {
    struct expr *when; /* a value to compare with the operand, or a predicate */
    struct expr *then;
};

struct order_item {
    struct expr *expr; /* an integer literal is a position of the select list */
    bool desc;
};

struct window {
    struct expr **partition;
    size_t npartition;
    struct order_item *order;
    size_t norder;
    struct span frame; /* ROWS/RANGE ... as written (already checked), n == 0: none */
};

struct func_expr {
    struct name name; /* GETDATE; sys.fn_x; @@ROWCOUNT and CURRENT_TIMESTAMP are functions
                         without arguments, name.object upper-cased for these */
    struct expr **args;
    size_t nargs;
    bool distinct;             /* COUNT(DISTINCT x) */
    bool star;                 /* COUNT(*) */
    bool bare;                 /* written without parentheses (@@x, CURRENT_USER) */
    struct window *over;       /* or NULL */
    struct order_item *within; /* STRING_AGG(...) WITHIN GROUP (ORDER BY ...) */
    size_t nwithin;
};

struct expr {
    enum expr_kind kind;
    int32_t line;
    struct span source; /* as written: text of DEFAULT and CHECK, and for messages */
    enum expr_op op;
    uint16_t depth; /* height of the tree below, at most TSQL_MAX_TREE (parser.h) */
    bool negated;   /* NOT LIKE, NOT IN, IS NOT NULL, NOT BETWEEN */
    bool all;       /* EX_QUANTIFIED: ALL */
    bool parens;    /* was written in parentheses */
    struct expr **args;
    size_t nargs;
    union {
        struct value literal; /* texts borrowed from the arena; 1 is int, 1.0
                                 decimal(2,1), 1e0 float, $1 money, 'a' varchar(1), N'a'
                                 nvarchar(1), 0x varbinary, NULL is TY_NULL */
        struct name column;
        const char *text; /* variable or collation name */
        struct query *query;
        struct func_expr *func;
        struct {
            struct expr *operand; /* NULL: searched CASE */
            struct case_when *whens;
            size_t nwhens;
            struct expr *otherwise; /* or NULL */
        } case_parts;
        struct {
            struct expr *arg;
            struct type_ref type;
            struct expr *style; /* CONVERT's third argument, or NULL */
            bool try_;
            bool convert; /* written as CONVERT */
        } cast;
    } u;
};

/* ---- queries ---- */
/* WITH (...) of a table; the ones without effect here are kept too */
enum table_hint {
    HINT_UPDLOCK = 1u << 0,
    HINT_READPAST = 1u << 1,
    HINT_ROWLOCK = 1u << 2,
    HINT_NOLOCK = 1u << 3, /* also READUNCOMMITTED */
    HINT_TABLOCK = 1u << 4,
    HINT_TABLOCKX = 1u << 5,
    HINT_HOLDLOCK = 1u << 6, /* also SERIALIZABLE */
    HINT_XLOCK = 1u << 7,
    HINT_PAGLOCK = 1u << 8,
    HINT_READCOMMITTED = 1u << 9,
    HINT_READCOMMITTEDLOCK = 1u << 10,
    HINT_REPEATABLEREAD = 1u << 11,
    HINT_NOWAIT = 1u << 12,
    HINT_FORCESEEK = 1u << 13,
    HINT_FORCESCAN = 1u << 14,
    HINT_INDEX = 1u << 15,
    HINT_KEEPIDENTITY = 1u << 16,
    HINT_KEEPDEFAULTS = 1u << 17,
    HINT_IGNORE_CONSTRAINTS = 1u << 18,
    HINT_IGNORE_TRIGGERS = 1u << 19,
    HINT_NOEXPAND = 1u << 20,
    HINT_SNAPSHOT = 1u << 21
};

enum source_kind {
    SRC_TABLE,    /* name [alias] [hints]; a CTE's name looks the same */
    SRC_VARIABLE, /* name.object = "@t" */
    SRC_QUERY,    /* derived table: query, alias, columns */
    SRC_VALUES,   /* (VALUES (..), (..)) alias(columns): rows */
    SRC_FUNCTION, /* table-valued function: func, alias */
    SRC_JOIN,     /* join, left, right, on */
};

enum join_kind {
    JOIN_INNER,
    JOIN_LEFT,
    JOIN_RIGHT,
    JOIN_FULL,
    JOIN_CROSS,
    JOIN_CROSS_APPLY,
    JOIN_OUTER_APPLY
};

struct row_list {        /* VALUES (...), (...) */
    struct expr ***rows; /* rows[i][j] */
    size_t nrows;
    size_t ncolumns; /* the same in every row (the parser sees to it: error 10709) */
};

struct source {
    enum source_kind kind;
    int32_t line;
    struct name name;
    const char *alias;    /* or NULL */
    uint32_t hints;       /* enum table_hint */
    const char **columns; /* column aliases */
    size_t ncolumns;
    struct query *query;
    struct row_list *values;
    struct func_expr *func;
    enum join_kind join;
    struct source *left, *right;
    struct expr *on;
};

struct select_item {
    struct expr *expr; /* EX_STAR for * and t.* */
    const char *alias; /* or NULL */
    const char
        *variable; /* SELECT @x = expr: "@x"; then all items of the query have one */
    enum expr_op assign_op; /* OP_NONE, or += -= ... as the operator */
    int32_t line;
};

struct top {
    struct expr *count;
    bool percent;
    bool with_ties;
};

struct query_spec {
    bool distinct;
    struct top *top; /* or NULL */
    struct select_item *items;
    size_t nitems;
    struct name *into;    /* SELECT ... INTO t, or NULL */
    struct source **from; /* comma list; each may be a join tree */
    size_t nfrom;
    struct expr *where;
    struct expr **group;
    size_t ngroup;
    struct expr *having;
    int32_t line;
};

enum term_kind { TERM_SPEC, TERM_SETOP };
enum set_op { SETOP_UNION, SETOP_UNION_ALL, SETOP_EXCEPT, SETOP_INTERSECT };

struct query_term { /* what ORDER BY stands behind */
    enum term_kind kind;
    uint16_t depth; /* height of the tree of set operators, at most TSQL_MAX_TREE */
    int32_t line;
    struct query_spec *spec;
    enum set_op op;
    struct query_term *left, *right;
};

struct cte {
    const char *name;
    const char **columns;
    size_t ncolumns;
    struct query *query;
    int32_t line;
};

struct query {
    struct cte *ctes; /* WITH; only at the top of a statement */
    size_t nctes;
    struct query_term *body;
    struct order_item *order;
    size_t norder;
    struct expr *offset; /* OFFSET n ROWS, or NULL */
    struct expr *fetch;  /* FETCH NEXT n ROWS ONLY, or NULL */
    struct span source;
    int32_t line;
    uint16_t depth; /* height of the tallest expression below */
};

/* ---- data changes ---- */

struct output_clause {
    struct select_item *items; /* inserted.c, deleted.c, inserted.*, expressions */
    size_t nitems;
    struct name *into; /* OUTPUT ... INTO t or @t, or NULL */
    const char **into_columns;
    size_t ninto_columns;
};

struct assignment {       /* SET of UPDATE */
    struct name column;   /* object NULL where only a variable is set */
    const char *variable; /* SET @x = expr or @x = column = expr, else NULL */
    enum expr_op op;      /* OP_NONE, or the operator of += ... */
    struct expr *expr;    /* may be EX_DEFAULT */
    int32_t line;
};

struct insert_stmt {
    struct cte *ctes;
    size_t nctes;
    struct top *top;
    struct name target; /* object "@t": a table variable */
    uint32_t hints;
    const char **columns;
    size_t ncolumns; /* 0: all insertable ones */
    struct output_clause *output;
    bool default_values;
    struct row_list *values; /* or */
    struct query *query;     /* or */
    struct stmt *exec;       /* INSERT t EXEC p */
};

struct update_stmt {
    struct cte *ctes;
    size_t nctes;
    struct top *top;
    struct name target; /* a table's name, or an alias of FROM */
    uint32_t hints;
    struct assignment *sets;
    size_t nsets;
    struct output_clause *output;
    struct source **from;
    size_t nfrom;
    struct expr *where;
};

struct delete_stmt {
    struct cte *ctes;
    size_t nctes;
    struct top *top;
    struct name target;
    uint32_t hints;
    struct output_clause *output;
    struct source **from; /* the second FROM */
    size_t nfrom;
    struct expr *where;
};

/* ---- definitions ---- */

struct index_column {
    const char *name;
    bool desc;
};

enum data_compression { COMPRESSION_NONE, COMPRESSION_ROW, COMPRESSION_PAGE };

/* WITH (...) of a table, key or index: what is kept of it. */
struct storage_options {
    bool has_ignore_dup_key, ignore_dup_key;
    bool drop_existing;
    bool has_compression;
    enum data_compression compression;
};

/* ON filegroup, ON scheme(column) */
struct data_space_ref {
    const char *name;   /* NULL: not given */
    const char *column; /* of a partition scheme, else NULL */
};

enum ref_action { REF_NO_ACTION, REF_CASCADE, REF_SET_NULL, REF_SET_DEFAULT };

enum constraint_kind {
    CON_PRIMARY_KEY,
    CON_UNIQUE,
    CON_CHECK,
    CON_FOREIGN_KEY,
    CON_DEFAULT
};

struct constraint_def {
    enum constraint_kind kind;
    int32_t line;
    const char *name;             /* NULL: the server makes one */
    struct index_column *columns; /* key columns; of a column constraint: that column */
    size_t ncolumns;
    bool clustered, nonclustered; /* as written */
    struct data_space_ref on;
    struct storage_options with;
    struct expr *expr;      /* CHECK, DEFAULT */
    const char *for_column; /* DEFAULT ... FOR column (ALTER TABLE), or the column */
    bool with_values;       /* ALTER TABLE ADD ... DEFAULT ... WITH VALUES */
    struct name references;
    const char **ref_columns;
    size_t nref_columns;
    enum ref_action on_delete, on_update;
};

struct column_def {
    const char *name;
    int32_t line;
    struct type_ref type;  /* name.object NULL for a computed column */
    struct expr *computed; /* AS (expr) */
    bool persisted;
    bool null_given,
        not_null; /* NULL / NOT NULL as written; a PRIMARY KEY implies NOT NULL */
    bool identity;
    int64_t identity_seed, identity_increment;
    bool rowguidcol;
    bool sparse;
    struct constraint_def *constraints; /* DEFAULT, CHECK, PRIMARY KEY ... */
    size_t nconstraints;
};

struct index_def { /* CREATE INDEX, and INDEX inside CREATE TABLE */
    const char *name;
    struct name table; /* object NULL inside CREATE TABLE */
    bool unique, clustered, columnstore;
    struct storage_options with;
    struct index_column *columns;
    size_t ncolumns;
    const char **include;
    size_t ninclude;
    struct expr *where;
    struct data_space_ref on;
    int32_t line;
};

struct table_def {
    struct name name;
    struct column_def *columns;
    size_t ncolumns;
    struct constraint_def *constraints;
    size_t nconstraints;
    struct index_def *indexes;
    size_t nindexes;
    struct data_space_ref on;
    struct storage_options with;
};

enum alter_kind {
    ALTER_ADD,             /* def.columns, def.constraints */
    ALTER_DROP_COLUMN,     /* names */
    ALTER_DROP_CONSTRAINT, /* names */
    ALTER_COLUMN,          /* def.columns[0] */
    ALTER_CHECK,           /* names; CHECK CONSTRAINT ALL: all_names */
    ALTER_NOCHECK,
    ALTER_ENABLE_TRIGGER, /* names or all */
    ALTER_DISABLE_TRIGGER,
    ALTER_REBUILD, /* with */
    ALTER_SET,     /* SET (LOCK_ESCALATION = ...): no effect here */
    ALTER_SWITCH   /* target, partitions */
};

struct alter_table_stmt {
    struct name table;
    enum alter_kind kind;
    bool with_check, with_nocheck; /* WITH CHECK / WITH NOCHECK in front */
    struct table_def def;
    const char **names;
    size_t nnames;
    bool all_names;
    bool if_exists; /* DROP COLUMN/CONSTRAINT IF EXISTS */
    struct storage_options with;
    struct name target;                         /* of SWITCH */
    int64_t source_partition, target_partition; /* as written; 0: not given */
};

enum alter_index_kind { INDEX_REBUILD, INDEX_REORGANIZE, INDEX_DISABLE, INDEX_SET };

struct alter_index_stmt {
    const char *index; /* NULL: ALL */
    struct name table;
    enum alter_index_kind kind;
    bool partition; /* PARTITION = a number, not ALL */
    struct storage_options with;
};

struct statistics_stmt { /* UPDATE STATISTICS: options with no effect here */
    struct name table;
    const char **names; /* of indexes; none: all */
    size_t nnames;
};

enum object_class {
    OBJ_TABLE,
    OBJ_VIEW,
    OBJ_PROCEDURE,
    OBJ_INDEX,
    OBJ_SCHEMA,
    OBJ_DATABASE,
    OBJ_FUNCTION,
    OBJ_TRIGGER,
    OBJ_TYPE,
    OBJ_ROLE,
    OBJ_USER,
    OBJ_LOGIN,
    OBJ_SYNONYM,
    OBJ_SEQUENCE
};

enum partition_verb {
    PARTITION_CREATE_FUNCTION,
    PARTITION_CREATE_SCHEME,
    PARTITION_DROP_FUNCTION,
    PARTITION_DROP_SCHEME
};

struct partition_stmt {
    enum partition_verb verb;
    const char *name;
    struct type_ref type; /* of a function */
    bool right;
    struct expr **values;
    size_t nvalues;
    const char *function; /* of a scheme */
    bool all;
    const char **filegroups;
    size_t nfilegroups;
};

/* TRUNCATE TABLE t WITH (PARTITIONS (1, 3 TO 5)) */
struct truncate_stmt {
    struct name target;
    struct partition_range {
        int64_t from, to;
    } * ranges;
    size_t nranges;
};

struct drop_stmt {
    enum object_class what;
    bool if_exists;
    struct name *names; /* an index: table in .table_of[i] */
    size_t nnames;
    struct name *tables; /* OBJ_INDEX: DROP INDEX i ON t (or t.i); else NULL */
};

struct view_stmt {
    struct name name;
    bool alter, or_alter; /* ALTER VIEW; CREATE OR ALTER VIEW */
    const char **columns;
    size_t ncolumns;
    struct query *query;
    struct span source; /* the whole statement, to be stored */
};

struct schema_stmt {
    const char *name;
    const char *owner; /* AUTHORIZATION, or NULL */
};

/* As sys.databases numbers them. */
enum recovery_model { RECOVERY_FULL = 1, RECOVERY_BULK_LOGGED, RECOVERY_SIMPLE };

enum files_verb {
    FILES_NONE,
    FILES_ADD_FILEGROUP,
    FILES_DEFAULT_FILEGROUP, /* MODIFY FILEGROUP g DEFAULT */
    FILES_REMOVE_FILEGROUP,
    FILES_ADD, /* ADD FILE (...), ... TO FILEGROUP g */
    FILES_REMOVE
};

struct file_size {
    int64_t pages;
    bool given, percent; /* percent: pages is one */
};

struct file_def {
    const char *name, *path;
    struct file_size size, max_size, growth; /* max_size.pages -1: UNLIMITED */
};

/* CREATE DATABASE; ALTER DATABASE: files, and SET, whose other options have no effect
 * here */
struct database_stmt {
    const char *name; /* NULL: ALTER DATABASE CURRENT */
    enum files_verb files_verb;
    const char *filegroup, *file;
    struct file_def *files;
    size_t nfiles;
    const char *collation;
    bool has_recovery, has_snapshot;
    enum recovery_model recovery;
    bool snapshot; /* READ_COMMITTED_SNAPSHOT */
};

enum principal_class { OF_LOGIN, OF_USER, OF_ROLE, OF_SERVER_ROLE };
enum principal_verb { PRINCIPAL_CREATE, PRINCIPAL_ALTER, PRINCIPAL_DROP };

struct principal_stmt {
    enum principal_verb verb;
    enum principal_class what;
    const char *name;
    bool if_exists;
    const char *login; /* a user's; NULL: that of its own name */
    bool without_login;
    const char *password; /* a login's */
    const char *database;
    const char *new_name;
    const char *schema; /* a user's DEFAULT_SCHEMA, a role's AUTHORIZATION */
    bool enable, disable;
    bool add_member; /* else DROP MEMBER */
    const char *member;
};

enum grant_verb { VERB_GRANT, VERB_DENY, VERB_REVOKE };

struct grant_stmt {
    enum grant_verb verb;
    enum permission *permissions;
    size_t npermissions;
    const char *class_name; /* "OBJECT" of OBJECT::x, or NULL */
    bool on;
    struct name securable;
    const char **grantees;
    size_t ngrantees;
    bool with_option, only_option; /* WITH GRANT OPTION, GRANT OPTION FOR */
};

struct bulk_column {
    const char *name;
    struct type_ref type;
    bool null_given, not_null;
};

struct bulk_stmt { /* INSERT BULK t (...) WITH (...) */
    struct name table;
    struct bulk_column *columns; /* none: the table's own, those that rows may give */
    size_t ncolumns;
    bool tablock, check_constraints, fire_triggers, keep_nulls, keep_identity;
    int64_t rows_per_batch, kilobytes_per_batch; /* 0: not given */
    struct index_column *order;                  /* ORDER (c ASC, ...) */
    size_t norder;
};

/* BULK INSERT t FROM 'file' WITH (...).  Texts are NULL, numbers -1, where not given. */
struct bulk_text {
    const char *p;
    size_t n;
};
struct bulk_insert_stmt {
    struct bulk_stmt bulk;
    struct bulk_text file, codepage, data_file_type, field_terminator, row_terminator,
        field_quote, format;
    int64_t first_row, last_row, batch_size, max_errors;
};

/* ---- procedures and control ---- */

struct proc_param {
    const char *name; /* "@x" */
    struct type_ref type;
    struct expr *dflt; /* a constant, or NULL */
    bool output;
    bool readonly;
    int32_t line;
};

struct proc_stmt {
    struct name name;
    bool alter, or_alter;
    struct proc_param *params;
    size_t nparams;
    struct stmt *body;
    bool recompile;     /* WITH RECOMPILE, without effect */
    struct span source; /* the whole statement, as it is stored */
};

struct declare_item {
    const char *name; /* "@x" */
    struct type_ref type;
    struct expr *init;       /* or NULL */
    struct table_def *table; /* DECLARE @t TABLE (...), else NULL */
    int32_t line;
};

struct exec_arg {
    const char *name;   /* "@p" of @p = value, or NULL */
    struct expr *value; /* EX_DEFAULT for DEFAULT; a bare word is a string literal */
    bool output;        /* value is then EX_VARIABLE */
};

struct exec_stmt {
    const char *result; /* EXEC @rc = p: "@rc", or NULL */
    struct name proc;
    const char *proc_variable; /* EXEC @name: "@name", else NULL */
    struct exec_arg *args;
    size_t nargs;
    struct expr *dynamic; /* EXEC ('...' + @x): the text, else NULL */
};

enum tran_kind { TS_BEGIN, TS_COMMIT, TS_ROLLBACK, TS_SAVE };

struct tran_stmt {
    enum tran_kind kind;
    const char *name;     /* or NULL */
    const char *variable; /* name in "@x", or NULL */
};

/* SET name value; see setopt.c's table for what each does */
struct set_option {
    const char
        *name; /* upper-cased, words joined by one blank: "TRANSACTION ISOLATION LEVEL" */
    const char
        *value; /* "ON", "OFF", a word, a number's or string's text; upper-cased words */
    struct expr *expr;  /* ROWCOUNT @x, DEADLOCK_PRIORITY @x, DATEFIRST @x ... or NULL */
    struct name *table; /* IDENTITY_INSERT t */
    int32_t line;
};

/* BACKUP DATABASE, RESTORE DATABASE, RESTORE VERIFYONLY */
enum backup_verb { BACKUP_WRITE = 1, BACKUP_RESTORE = 2, BACKUP_VERIFY = 4 };

struct backup_stmt {
    enum backup_verb verb;
    const char *database; /* NULL for VERIFYONLY, and where it is in a variable */
    struct expr *database_variable; /* or NULL */
    struct expr **devices;          /* paths */
    size_t ndevices;
    bool init, format, compression, replace, move;
    bool stats; /* STATS without a value: 10 */
    /* each a number, or NULL */
    struct expr *file, *stats_percent, *buffers, *transfer, *block;
};

enum stmt_kind {
    ST_SELECT,            /* u.query */
    ST_INSERT,            /* u.insert */
    ST_UPDATE,            /* u.update */
    ST_DELETE,            /* u.del */
    ST_TRUNCATE,          /* u.truncate */
    ST_CREATE_TABLE,      /* u.table */
    ST_ALTER_TABLE,       /* u.alter */
    ST_CREATE_INDEX,      /* u.index */
    ST_ALTER_INDEX,       /* u.alter_index */
    ST_CREATE_VIEW,       /* u.view */
    ST_CREATE_SCHEMA,     /* u.schema */
    ST_CREATE_DATABASE,   /* u.database */
    ST_ALTER_DATABASE,    /* u.database */
    ST_PARTITION,         /* u.partition */
    ST_DROP,              /* u.drop */
    ST_PRINCIPAL,         /* u.principal */
    ST_GRANT,             /* u.grant */
    ST_UPDATE_STATISTICS, /* u.statistics */
    /* all above are run by query_run(), those below by the interpreter */
    ST_CREATE_PROC, /* u.proc */
    ST_DROP_PROC,   /* u.drop */
    ST_INSERT_BULK, /* u.bulk */
    ST_BLOCK,       /* u.block: BEGIN ... END */
    ST_IF,          /* u.cond */
    ST_WHILE,       /* u.cond: then_ is the body */
    ST_BREAK,
    ST_CONTINUE,
    ST_RETURN,       /* u.expr or NULL */
    ST_GOTO,         /* u.text */
    ST_LABEL,        /* u.text */
    ST_TRY,          /* u.try_ */
    ST_THROW,        /* u.args: 0 or 3 */
    ST_RAISERROR,    /* u.raise */
    ST_PRINT,        /* u.expr */
    ST_DECLARE,      /* u.declare */
    ST_SET_VARIABLE, /* u.assign */
    ST_SET_OPTION,   /* u.set */
    ST_EXEC,         /* u.exec */
    ST_TRAN,         /* u.tran */
    ST_USE,          /* u.text */
    ST_WAITFOR,      /* u.expr: delay; u.waitfor */
    ST_KILL,         /* u.expr */
    ST_CHECKPOINT,   /* no effect */
    ST_BACKUP,       /* u.backup */
    ST_BULK_INSERT,  /* u.bulk_insert */
    ST_KIND_COUNT
};

struct stmt {
    enum stmt_kind kind;
    int32_t line; /* of its first word */
    struct span source;
    struct stmt *next; /* next in the batch or block */
    union {
        struct query *query;
        struct insert_stmt *insert;
        struct update_stmt *update;
        struct delete_stmt *del;
        struct truncate_stmt *truncate;
        struct partition_stmt *partition;
        struct table_def *table;
        struct alter_table_stmt *alter;
        struct index_def *index;
        struct alter_index_stmt *alter_index;
        struct statistics_stmt *statistics;
        struct principal_stmt *principal;
        struct grant_stmt *grant;
        struct view_stmt *view;
        struct schema_stmt *schema;
        struct database_stmt *database;
        struct drop_stmt *drop;
        struct proc_stmt *proc;
        struct bulk_stmt *bulk;
        struct bulk_insert_stmt *bulk_insert;
        struct stmt *block;
        struct {
            struct expr *test;
            struct stmt *then_, *else_;
        } cond;
        struct expr *expr;
        const char *text;
        struct {
            struct stmt *body, *handler; /* first statements; NULL: empty */
        } try_;
        struct {
            struct expr **args;
            size_t nargs;
        } args;
        struct {
            struct expr *message, *severity, *state;
            struct expr **args;
            size_t nargs;
            bool nowait, log, seterror;
        } raise;
        struct {
            struct declare_item *items;
            size_t nitems;
        } declare;
        struct {
            const char *variable;
            enum expr_op op; /* OP_NONE, or of += ... */
            struct expr *expr;
        } assign;
        struct {
            struct set_option *items;
            size_t nitems;
        } set;
        struct exec_stmt *exec;
        struct backup_stmt *backup;
        struct tran_stmt *tran;
        struct {
            struct expr *expr;
            bool time; /* WAITFOR TIME */
        } waitfor;
    } u;
};

struct variable_use {
    const char *name; /* "@x" */
    int32_t line;     /* of the first use */
};

/* A parsed batch, or a procedure's text (then first is its ST_CREATE_PROC). */
struct batch {
    struct arena *arena; /* owned */
    struct span source;  /* copy in the arena */
    struct stmt *first;
    struct variable_use *uses; /* scalar variables that are read or set, each name once */
    size_t nuses;
};

#endif
