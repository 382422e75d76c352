/*
 * func_priv.h - what the files of the function table share.
 */
#ifndef FRD_TSQL_FUNC_PRIV_H
#define FRD_TSQL_FUNC_PRIV_H

#include "server/tsql/exec.h"
#include "server/tsql/function.h"

struct func_group {
    const struct func_def *defs; /* ends with a row without name */
};

extern const struct func_def func_string_defs[], func_string2_defs[], func_math_defs[],
    func_date_defs[], func_session_defs[], func_meta_defs[], func_catalog_defs[],
    func_misc_defs[], func_rights_defs[], func_aggregate_defs[];

bool aggregates_register(sqlite3 *h, struct session *s, struct sqlerr *e);

#define DET FUNC_DETERMINISTIC

/* ---- type rules (func_rules.c) ---- */
bool rule_int(struct func_call *c, struct sqlerr *e); /* any arguments, int */
bool rule_bigint(struct func_call *c, struct sqlerr *e);
bool rule_text_to_int(struct func_call *c, struct sqlerr *e); /* all arguments text */
bool rule_same_text(struct func_call *c,
                    struct sqlerr *e);                    /* first argument's text type */
bool rule_sysname(struct func_call *c, struct sqlerr *e); /* nvarchar(128) */
bool rule_float(struct func_call *c, struct sqlerr *e);   /* all float */
bool rule_number(struct func_call *c,
                 struct sqlerr *e); /* the first argument's number type */

/* Make argument i a text: what is none becomes varchar. */
void want_text(struct func_call *c, size_t i);
void want(struct func_call *c, size_t i, struct sqltype t);
bool any_nullable(const struct func_call *c);
/* nvarchar of n units or varchar of n bytes, as t is; n beyond the limit: (max) when
 * allow_max. */
struct sqltype text_like(const struct sqltype *t, int64_t n, bool allow_max);
/* Longest text an argument can be, in its own units; TYPE_MAX for max types. */
int32_t text_limit(const struct sqltype *t);
/* 8116: argument type not allowed. */
bool bad_argument(const struct func_call *c, size_t i, struct sqlerr *e);

/* ---- results ---- */
bool out_text(struct value *out, const char *p, size_t n, struct sqlerr *e); /* copies */
/* Takes over what b has; a text longer than out->type is cut. */
bool out_buf(struct value *out, struct fr_buf *b, struct sqlerr *e);
bool out_int(struct value *out, int64_t i);
bool out_null(struct value *out);
enum { FUNC_TEXT_MAX_BYTES = 512 * 1024 * 1024 };

#endif
