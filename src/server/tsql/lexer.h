/*
 * lexer.h - T-SQL text to tokens, one at a time.
 *
 * A struct lexer is plain data: a copy of it is a place to go back to.  The text is
 * borrowed and need not end with NUL.  One thread.
 */
#ifndef FRD_TSQL_LEXER_H
#define FRD_TSQL_LEXER_H

#include "server/tsql/ast.h"

/* Reserved words, sorted: an unquoted one is no name (error 156). */
/* clang-format off */
#define TSQL_KEYWORDS(X) \
    X(ADD) X(ALL) X(ALTER) X(AND) X(ANY) X(AS) X(ASC) X(AUTHORIZATION) X(BACKUP) \
    X(BEGIN) X(BETWEEN) X(BREAK) X(BROWSE) X(BULK) X(BY) X(CASCADE) X(CASE) X(CHECK) \
    X(CHECKPOINT) X(CLOSE) X(CLUSTERED) X(COALESCE) X(COLLATE) X(COLUMN) X(COMMIT) \
    X(COMPUTE) X(CONSTRAINT) X(CONTAINS) X(CONTAINSTABLE) X(CONTINUE) X(CONVERT) \
    X(CREATE) X(CROSS) X(CURRENT) X(CURRENT_DATE) X(CURRENT_TIME) X(CURRENT_TIMESTAMP) \
    X(CURRENT_USER) X(CURSOR) X(DATABASE) X(DBCC) X(DEALLOCATE) X(DECLARE) X(DEFAULT) \
    X(DELETE) X(DENY) X(DESC) X(DISK) X(DISTINCT) X(DISTRIBUTED) X(DOUBLE) X(DROP) \
    X(DUMP) X(ELSE) X(END) X(ERRLVL) X(ESCAPE) X(EXCEPT) X(EXEC) X(EXECUTE) X(EXISTS) \
    X(EXIT) X(EXTERNAL) X(FETCH) X(FILE) X(FILLFACTOR) X(FOR) X(FOREIGN) X(FREETEXT) \
    X(FREETEXTTABLE) X(FROM) X(FULL) X(FUNCTION) X(GOTO) X(GRANT) X(GROUP) X(HAVING) \
    X(HOLDLOCK) X(IDENTITY) X(IDENTITY_INSERT) X(IDENTITYCOL) X(IF) X(IN) X(INDEX) \
    X(INNER) X(INSERT) X(INTERSECT) X(INTO) X(IS) X(JOIN) X(KEY) X(KILL) X(LEFT) \
    X(LIKE) X(LINENO) X(LOAD) X(MERGE) X(NATIONAL) X(NOCHECK) X(NONCLUSTERED) X(NOT) \
    X(NULL) X(NULLIF) X(OF) X(OFF) X(OFFSETS) X(ON) X(OPEN) X(OPENDATASOURCE) \
    X(OPENQUERY) X(OPENROWSET) X(OPENXML) X(OPTION) X(OR) X(ORDER) X(OUTER) X(OVER) \
    X(PERCENT) X(PIVOT) X(PLAN) X(PRIMARY) X(PRINT) X(PROC) X(PROCEDURE) X(PUBLIC) \
    X(RAISERROR) X(READ) X(READTEXT) X(RECONFIGURE) X(REFERENCES) X(REPLICATION) \
    X(RESTORE) X(RESTRICT) X(RETURN) X(REVERT) X(REVOKE) X(RIGHT) X(ROLLBACK) \
    X(ROWCOUNT) X(ROWGUIDCOL) X(RULE) X(SAVE) X(SCHEMA) X(SECURITYAUDIT) X(SELECT) \
    X(SESSION_USER) X(SET) X(SETUSER) X(SHUTDOWN) X(SOME) X(STATISTICS) X(SYSTEM_USER) \
    X(TABLE) X(TABLESAMPLE) X(TEXTSIZE) X(THEN) X(TO) X(TOP) X(TRAN) X(TRANSACTION) \
    X(TRIGGER) X(TRUNCATE) X(TRY_CONVERT) X(TSEQUAL) X(UNION) X(UNIQUE) X(UNPIVOT) \
    X(UPDATE) X(UPDATETEXT) X(USE) X(USER) X(VALUES) X(VARYING) X(VIEW) X(WAITFOR) \
    X(WHEN) X(WHERE) X(WHILE) X(WITH) X(WITHIN) X(WRITETEXT)
/* clang-format on */

enum keyword {
    KW_NONE,
#define KW_ENUM(w) KW_##w,
    TSQL_KEYWORDS(KW_ENUM)
#undef KW_ENUM
};

enum token_kind {
    TK_END,
    TK_WORD,     /* unquoted; kw says whether it is reserved */
    TK_NAME,     /* [x] or "x"; text is unquoted */
    TK_STRING,   /* 'x'; text, text_bytes */
    TK_NSTRING,  /* N'x' */
    TK_INTEGER,  /* digits */
    TK_DECIMAL,  /* digits with a point */
    TK_FLOAT,    /* with an exponent */
    TK_MONEY,    /* $1.5 */
    TK_BINARY,   /* 0x... */
    TK_VARIABLE, /* @x */
    TK_GLOBAL,   /* @@x */
    TK_PUNCT     /* op */
};

/* One or two characters of punctuation as one number. */
#define PUNCT2(a, b) ((int)(unsigned char)(a) | (int)(unsigned char)(b) << 8)

struct token {
    enum token_kind kind;
    enum keyword kw;
    int op; /* TK_PUNCT: '(' or PUNCT2('<', '=') */
    int32_t line;
    struct span source;
    const char *text; /* arena copy, unquoted; words, names, strings, variables */
    size_t text_bytes;
};

struct lexer {
    const char *at, *end;
    const char *prev_end; /* end of the last token, without the blanks behind it */
    int32_t line;
    bool quoted_identifier;
    struct arena *arena;
};

void lexer_init(struct lexer *lx, const char *text, size_t bytes, bool quoted_identifier,
                struct arena *a);
/* 103, 105, 113, 102 for a character that starts nothing, 701 out of memory. */
bool lexer_next(struct lexer *lx, struct token *t, struct sqlerr *e);

#endif
