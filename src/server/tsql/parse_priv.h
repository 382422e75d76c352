/*
 * parse_priv.h - what the parser's files share.
 *
 * Recursive descent over the lexer with one token in hand and any look-ahead by copying
 * the lexer. Every function returns NULL or false after an error, which is in p->err
 * then; parse_ok() asks.  Nodes come from p->arena.
 */
#ifndef FRD_TSQL_PARSE_PRIV_H
#define FRD_TSQL_PARSE_PRIV_H

#include "server/tsql/lexer.h"
#include "server/tsql/parser.h"

/* Sequence under construction; grows by doubling inside the arena. */
struct list {
    void *items;
    size_t n, cap, item_bytes;
};

enum { TSQL_MAX_USES = 1000 }; /* variables whose declaration is looked for beforehand */

struct parser {
    struct arena *arena;
    struct lexer lx;  /* behind tok */
    struct token tok; /* the token in hand */
    struct span last; /* source of the token taken last */
    struct sqlerr *err;
    bool failed;
    int depth;
    struct list uses; /* struct variable_use */
    unsigned deepest; /* height of the tallest expression of the query being read */
    int loops;        /* WHILE around us: BREAK and CONTINUE are allowed */
};

#define LIST_OF(type)                                                                    \
    {                                                                                    \
        .items = NULL, .item_bytes = sizeof(type)                                        \
    }
void *list_add(struct parser *p, struct list *l); /* zeroed new item; NULL on error */

/* ---- parser.c ---- */
void parser_start(struct parser *p, struct span text, bool quoted_identifier,
                  struct arena *a, struct sqlerr *e);
void *parse_new(struct parser *p, size_t bytes);
#define NEW(p, type) ((struct type *)parse_new((p), sizeof(struct type)))

bool parse_fail(struct parser *p, int32_t line); /* err was set by the caller */
bool parse_syntax_error(struct parser *p);       /* 102 or 156 near the token in hand */
bool parse_unsupported(struct parser *p, const char *what);
bool parse_enter(struct parser *p); /* one level deeper; 191; pairs with parse_leave */
void parse_leave(struct parser *p);

bool parse_advance(struct parser *p);
struct token parse_peek(struct parser *p,
                        int ahead); /* 1 = the token behind tok; TK_END on error */
bool at_kw(const struct parser *p, enum keyword kw);
bool at_word(const struct parser *p, const char *word); /* unquoted, reserved or not */
bool at_op(const struct parser *p, int op);
bool token_is_word(const struct token *t, const char *word);
bool take_kw(struct parser *p, enum keyword kw); /* advance when it is there */
bool take_word(struct parser *p, const char *word);
bool take_op(struct parser *p, int op);
bool need_kw(struct parser *p, enum keyword kw); /* or a syntax error */
bool need_word(struct parser *p, const char *word);
bool need_op(struct parser *p, int op);
struct span parse_span_from(const struct parser *p, const char *start);

/* ---- parse_name.c ---- */
bool at_name(const struct parser *p); /* an identifier that is not reserved */
const char *parse_identifier(struct parser *p);
bool parse_name(struct parser *p, struct name *out); /* up to four parts */
bool parse_type(struct parser *p, struct type_ref *out);
/* (a, b, c) */
bool parse_identifier_list(struct parser *p, const char ***names, size_t *n);
/* a, b, c; where `instead` says so the token in hand is an item, too; NULL: identifiers
 * alone. */
bool parse_names(struct parser *p, bool (*instead)(const struct parser *p),
                 const char ***names, size_t *n);
/* (a ASC, b DESC) */
bool parse_index_columns(struct parser *p, struct index_column **cols, size_t *n);
bool parse_int64(struct parser *p, int64_t *out); /* with an optional sign */
const char *lower_text(struct parser *p, const char *text);
/* The variable in hand, in lower case, noted as used. */
const char *use_variable(struct parser *p);

/* ---- parse_literal.c ---- */
bool at_literal(const struct parser *p);
struct expr *
parse_literal(struct parser *p); /* with an optional sign in front where at '-' */

/* ---- parse_expr.c ---- */
struct expr *parse_expr(struct parser *p);      /* a value */
struct expr *parse_condition(struct parser *p); /* a predicate, with AND, OR, NOT */
struct expr *parse_any(struct parser *p);       /* either of the two */
struct expr *expr_new(struct parser *p, enum expr_kind kind, int32_t line,
                      const char *start);
bool expr_close(struct parser *p, struct expr *x); /* sets source and depth */
bool parse_expr_list(struct parser *p, struct expr ***items, size_t *n);
bool parse_order_list(struct parser *p, struct order_item **items, size_t *n);
enum expr_op assign_op(const struct parser *p, bool *is_assign);

/* ---- parse_func.c ---- */
struct expr *parse_function(struct parser *p, const struct name *name, const char *start);
struct expr *
parse_keyword_function(struct parser *p); /* CAST, CONVERT, COALESCE, CURRENT_USER ... */
bool at_keyword_function(const struct parser *p);
struct expr *parse_case(struct parser *p);

/* ---- parse_query.c, parse_from.c ---- */
struct query *parse_query(struct parser *p); /* with its ORDER BY; WITH has been parsed */
struct query *
parse_subquery(struct parser *p); /* a query in parentheses; '(' is in hand */
bool at_query(struct parser *p);  /* SELECT, or '(' that leads to one */
/* The rest of a query whose first term has been read: set operators, ORDER BY. */
struct query *parse_query_rest(struct parser *p, struct query_term *first,
                               const char *start);
bool parse_ctes(struct parser *p, struct cte **ctes, size_t *n);
struct top *parse_top(struct parser *p); /* NULL with !failed when there is none */
bool parse_select_items(struct parser *p, struct select_item **items, size_t *n);
bool parse_from(struct parser *p, struct source ***from, size_t *n);
bool parse_hints(struct parser *p, uint32_t *hints); /* WITH (...), when it is there */
struct row_list *parse_rows(struct parser *p);       /* behind VALUES */
bool parse_option_clause(struct parser *p);

/* ---- statements: each leaves the token behind the statement in hand ---- */
struct stmt *stmt_new(struct parser *p, enum stmt_kind kind);
struct stmt *parse_statement(struct parser *p);
struct stmt *parse_statements(struct parser *p, bool (*at_end)(const struct parser *p));
struct stmt *parse_with(struct parser *p);
struct stmt *parse_select(struct parser *p);
struct stmt *parse_insert(struct parser *p);
struct stmt *parse_update(struct parser *p);
struct stmt *parse_delete(struct parser *p);
struct stmt *parse_truncate(struct parser *p);
struct stmt *parse_create(struct parser *p);
struct stmt *parse_alter(struct parser *p);
struct stmt *parse_drop(struct parser *p);
struct stmt *parse_create_table(struct parser *p, const char *start);
bool parse_table_body(struct parser *p, struct table_def *def);
bool parse_column_def(struct parser *p, struct column_def *c);
bool parse_table_constraint(struct parser *p, struct constraint_def *c);
bool at_table_constraint(const struct parser *p);
bool parse_with_options(struct parser *p, struct storage_options *o);
bool parse_option_list(struct parser *p, struct storage_options *o);
struct stmt *parse_alter_table(struct parser *p);
struct stmt *parse_create_index(struct parser *p);
struct stmt *parse_alter_index(struct parser *p);
struct stmt *parse_update_statistics(struct parser *p, struct stmt *st);
struct stmt *parse_create_proc(struct parser *p, const char *start, bool alter,
                               bool or_alter);
bool parse_proc_params(struct parser *p, struct proc_param **params, size_t *n);
struct stmt *parse_insert_bulk(struct parser *p);
struct stmt *parse_declare(struct parser *p);
struct stmt *parse_set(struct parser *p);
struct stmt *parse_exec(struct parser *p);
struct stmt *
parse_exec_bare(struct parser *p); /* a procedure's name at the start of a batch */
struct stmt *parse_tran(struct parser *p);
struct stmt *parse_backup(struct parser *p);
struct stmt *parse_bulk_insert(struct parser *p);
/* ---- parse_partition.c ---- */
/* ON filegroup, ON scheme(column), where it is there */
bool parse_data_space(struct parser *p, struct data_space_ref *on);
struct stmt *parse_partition_stmt(struct parser *p, bool drop);
/* ADD, MODIFY and REMOVE of ALTER DATABASE; *found false: none of these */
bool parse_database_files(struct parser *p, struct database_stmt *d, bool *found);
bool parse_truncate_partitions(struct parser *p, struct truncate_stmt *t);
/* ---- parse_security.c ---- */
/* LOGIN, USER, ROLE or SERVER ROLE is in hand. */
bool at_principal(struct parser *p);
struct stmt *parse_principal(struct parser *p, enum principal_verb verb);
struct stmt *parse_grant(struct parser *p);

#endif
