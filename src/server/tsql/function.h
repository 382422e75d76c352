/*
 * function.h - the table of T-SQL functions.
 *
 * One row a function: name, number of arguments, type rule, implementation on struct
 * value. The binder calls func_find() and func_bind(), converts each argument to the type
 * that the rule asks for, and emits
 *
 *     <sqlite_name>('<signature>', arg1, arg2, ...)
 *
 * where the signature (func_signature) tells the implementation the static types, which
 * SQLite does not know.  Aggregates have no signature (SQLite's DISTINCT takes one
 * argument only): their types are in the name that the rule chooses ("a_sum_int"). The
 * table is read-only; any thread.
 */
#ifndef FRD_TSQL_FUNCTION_H
#define FRD_TSQL_FUNCTION_H

#include "server/tsql/ast.h"

#include "base/buf.h"

struct session;

enum func_flags {
    FUNC_DETERMINISTIC = 1u << 0,
    FUNC_AGGREGATE = 1u << 1,
    FUNC_WINDOW =
        1u << 2, /* needs OVER: ROW_NUMBER, RANK, ... (SQLite's own of that name) */
    FUNC_CONDITIONAL =
        1u << 3, /* ISNULL, COALESCE, NULLIF, IIF, CHOOSE: the binder lowers it
                    itself to CASE/COALESCE, func_bind() gives the type only */
    FUNC_DATEPART = 1u << 4, /* first argument is a bare word: the binder passes it as a
                                string literal of type varchar */
    FUNC_SESSION = 1u << 5,  /* reads the session: not in computed columns or indexes */
    FUNC_TAKES_NULL =
        1u << 7, /* eval() wants NULL arguments; else one makes the result NULL */
    FUNC_PER_ROW =
        1u << 6 /* NEWID, RAND(seed): a new value for every row; other non-deterministic
                   ones (GETDATE) have one value a statement */
};

enum { FUNC_MAX_ARGS = 126 }; /* SQLite's limit of 127, less the signature */

/* A call being bound. */
struct func_call {
    const struct func_def *def;
    size_t nargs;
    struct sqltype *args; /* in: static types; out: the types to convert to first */
    const bool *arg_nullable;
    const struct expr *const
        *exprs;            /* the arguments as written (literal scale of ROUND, style) */
    struct sqltype result; /* out */
    bool nullable;         /* out */
    const char *sqlite_name; /* out: preset to def->sqlite_name */
};

/* Where an implementation runs. */
struct func_env {
    struct session *session;
    const struct sqltype *result;
};

struct func_def {
    const char *name; /* upper case; "@@ROWCOUNT" for those without parentheses */
    int16_t min_args, max_args; /* max -1: any number */
    uint16_t flags;
    const char *sqlite_name; /* "f_len"; "count" for what SQLite has */
    /* Type rule: fills call->result, nullable, wanted argument types. */
    bool (*bind)(struct func_call *call, struct sqlerr *e);
    /* NULL argument values come as is_null. out owns its bytes or borrows from args. */
    bool (*eval)(const struct func_env *env, const struct value *args, size_t n,
                 struct value *out, struct sqlerr *e);
};

/* NULL when there is no such function (195 is the caller's). */
const struct func_def *func_find(const char *name);
/* Checks the number of arguments (174, 189, 10760...), then runs the rule. */
bool func_bind(struct func_call *call, struct sqlerr *e);
/* Append the text of the first argument, without quotes: digits, blanks, ; and > only. */
bool func_signature(struct fr_buf *b, const struct func_call *call);
/* Iterate over the table (docs, tests); NULL behind the last. */
const struct func_def *func_at(size_t i);

#endif
