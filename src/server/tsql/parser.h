/*
 * parser.h - T-SQL text to syntax tree.
 *
 * Errors carry SQL Server's numbers (102 and 156 near a word, 103, 105, 113, 191 ...) and
 * the line; what SQL Server knows and fullrackd does not is 40517 "... is not supported
 * by fullrackd".  No state is kept; any thread.
 */
#ifndef FRD_TSQL_PARSER_H
#define FRD_TSQL_PARSER_H

#include "server/tsql/ast.h"

enum {
    TSQL_MAX_DEPTH = 200, /* nesting of expressions, queries, blocks: error 191 */
    TSQL_MAX_TREE = 450,  /* height of a chain a + b + ..., UNION ...: 8631 */
    TSQL_MAX_TEXT_BYTES = 64 * 1024 * 1024, /* one batch */
    TSQL_MAX_AST_BYTES = 512 * 1024 * 1024,
    TSQL_MAX_NAME_CHARS = 128,    /* error 103 */
    TSQL_ERR_UNSUPPORTED = 40517, /* Azure SQL's number for such things */
};

struct parse_opts {
    bool quoted_identifier; /* "x" is a name, else a string */
};

/* The caller owns *out until batch_free().  On error *out is NULL and e is filled. */
bool batch_parse(const char *sql, size_t bytes, const struct parse_opts *opts,
                 struct batch **out, struct sqlerr *e);
void batch_free(struct batch **bp); /* accepts &NULL */

/* One expression (a stored DEFAULT, CHECK or computed column): *expr lives in *out. */
bool expr_parse(const char *sql, size_t bytes, struct batch **out, struct expr **expr,
                struct sqlerr *e);
/* "int", "decimal(10, 2)", "nvarchar(max)" (parameter lists, TYPE_ID). */
bool type_text_parse(const char *text, size_t bytes, struct sqltype *out,
                     struct sqlerr *e);
/* "@a int, @b nvarchar(10) = N'x' OUTPUT" of sp_executesql; *params lives in *out. */
bool params_parse(const char *text, size_t bytes, struct batch **out,
                  struct proc_param **params, size_t *n, struct sqlerr *e);
/* A name of up to four parts in a string ("[a].b", OBJECT_ID's argument); false when it
 * is none. */
bool name_parse(const char *text, size_t bytes, struct arena *a, struct name *out);

/* 2715 unknown type, 1001/131/2717 bad length or precision, 448 bad collation. */
bool type_ref_resolve(const struct type_ref *ref, struct sqltype *out, struct sqlerr *e);

#endif
