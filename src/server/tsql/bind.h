/*
 * bind.h - from syntax tree to SQLite SQL: what the binder's files share.
 *
 * A struct binder lives for one statement.  Binding a tree node gives its SQLite text
 * together with what SQL Server knows before it runs a statement: type, collation,
 * nullability.  Texts live in the binder's arena.  Values never become text: variables
 * are parameters.
 */
#ifndef FRD_TSQL_BIND_H
#define FRD_TSQL_BIND_H

#include "server/store/handle.h"
#include "server/tsql/exec.h"
#include "server/tsql/function.h"

enum {
    BIND_ARENA_BYTES = 64 * 1024 * 1024,
    BIND_MAX_PARAMS = 30000, /* SQLite's limit is 32766 */
    BIND_MAX_VIEW_DEPTH = 32,
    BIND_MAX_DEPTH =
        400, /* of an expression, UNION or join: SQLite's own limits are near */
    BIND_MAX_OTHER_DBS = 8
};

/* Whose collation wins when two strings meet (explicit > column > literal, variable). */
enum collation_rank { RANK_DEFAULT, RANK_IMPLICIT, RANK_EXPLICIT };

struct cat_column;
struct bscope;
struct table_ref;
struct sysview; /* store/sysview.h */

struct rel_column {
    const char *name;
    const char *sql; /* NULL: a computed column not yet expanded */
    struct sqltype type;
    bool nullable, identity, computed, key;
    const struct cat_column *col; /* of a base table, else NULL */
    enum collation_rank rank;
};

/* One thing in FROM. */
struct relation {
    const char *alias;     /* what qualifies its columns; NULL: nothing does */
    const char *database;  /* as written, or NULL */
    const char *schema;    /* of a table without alias: "dbo" ... */
    const char *sql_alias; /* "r3" */
    struct rel_column *cols;
    size_t ncols;
    const struct cat_table *table; /* base table, or NULL */
    struct handle *handle;         /* the table's database */
    const struct table_ref *guard; /* a target: who names its columns reads it */
    bool outer;                    /* nullable side of an outer join */
};

struct bscope {
    struct bscope *outer;
    struct relation **rels;
    size_t nrels, room;
    const char **group; /* texts of the GROUP BY expressions */
    size_t ngroup;
    bool in_aggregate;          /* inside an aggregate's argument */
    bool no_aggregate;          /* WHERE, ON, GROUP BY, VALUES: 147 */
    bool has_aggregate;         /* out: an aggregate was bound here */
    const char *pred_ungrouped; /* out: first ungrouped column in a condition */
};

struct bexpr {
    const char *sql;
    struct sqltype type;
    bool nullable;
    bool constant;               /* refers to no column */
    const struct value *literal; /* its value when it is a literal */
    enum collation_rank rank;
    const struct rel_column *column; /* when it is nothing but a column */
    bool outer_nullable;             /* that column is on the nullable side of a join */
    const char *ungrouped; /* first column outside aggregates and GROUP BY, for 8120 */
    const char *variable;  /* when it is nothing but a variable: its lower-case name */
};

enum param_kind {
    PARAM_VARIABLE, /* value of a variable when the statement starts */
    PARAM_POINTER,  /* the variable itself, for x_var() */
    PARAM_ONCE,     /* a function with one value a statement */
    PARAM_ROW       /* a cell of the row that a row expression is evaluated for */
};

/* Where PARAM_ROW looks: new values, old values, further values. */
enum row_side { ROW_NEW, ROW_OLD, ROW_EXTRA, ROW_SIDES };

struct param {
    enum param_kind kind;
    struct variable *variable;
    const char *sql; /* PARAM_ONCE */
    struct sqltype type;
    struct value value; /* PARAM_ONCE: owned, once evaluated */
    bool evaluated;
    enum row_side side;
    size_t index;
};

struct cte_def {
    const char *name;
    const char *sql_name; /* "q2" */
    struct rel_column *cols;
    size_t ncols;
    struct cte_def *next; /* earlier, or of an outer query */
};

struct other_db {
    struct database *db;
    struct catalog *cat;
};

struct old_catalog {
    struct catalog *cat;
    struct old_catalog *next;
};

/* Rows of a table that have to be brought in before a statement can run. */
struct pending_fold {
    struct handle *handle;
    int32_t table_id; /* 0: none */
    bool segments;    /* of segments; else of this session's bulk loads */
};

/* A database whose segments a statement looks at (store/segment.c). */
struct segments_seen {
    struct database *db;
    sqlite3_stmt *snapshot; /* kept, so that it stays as it was seen; NULL: in a
                               transaction */
};

struct binder {
    struct exec_ctx *ctx;
    struct sqlerr *e; /* &ctx->err */
    struct arena *arena;
    struct handle *h;     /* where the statement runs */
    struct catalog *cat;  /* its catalog, counted */
    struct catalog *temp; /* of TEMP tables, counted, or NULL */
    struct other_db other[BIND_MAX_OTHER_DBS];
    size_t nother;
    struct old_catalog *old; /* pictures that a definition made obsolete */
    struct param *params;
    size_t nparams, params_room;
    struct cte_def *ctes;
    const char *with; /* text of the WITH clause so far, or NULL */
    int next_alias;
    int view_depth;
    const struct database *view_db; /* of the view that is bound now, or NULL */
    int depth;
    bool live_variables;      /* SELECT @x = ... @x ...: variables are read row by row */
    bool stored;              /* a DEFAULT, CHECK, computed column: no variables */
    bool no_once;             /* index expressions: everything inline */
    struct pending_fold fold; /* rows set aside were met: to be brought in, then again */
    bool segments_stay;       /* the table is only read or added to */
    bool disabled_too;        /* tables whose clustered index is disabled may be named */
    struct segments_seen segments[BIND_MAX_OTHER_DBS + 1];
    size_t nsegments;
    bool leave_waiting; /* bulk load itself: waiting rows may wait on */
    bool sent;          /* the client has seen column metadata: no second try */
};

/* One output column of a query. */
struct out_column {
    struct result_column rc;
    enum collation_rank rank;
    const char *assign; /* SELECT @x = : variable */
    enum expr_op assign_op;
    const char *ungrouped; /* of its expression */
    bool null_literal;     /* a bare NULL: takes any type */
};

struct bquery {
    const char *sql; /* a SELECT, columns k1.. */
    struct out_column *cols;
    size_t ncols;
    bool wrapped; /* has ORDER BY or LIMIT: not to be part of a compound as it is */
    bool one_row; /* never more than one row */
    bool assigns;
};

/* ---- bind.c ---- */
bool binder_init(struct binder *b, struct exec_ctx *ctx, struct database *db);
/* Look again for TEMP tables, whose catalog was just made. */
void binder_temp(struct binder *b);
void binder_free(struct binder *b);
/* printf into the arena; NULL and 701 in b->e when there is no room */
const char *bind_text(struct binder *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void *bind_alloc(struct binder *b, size_t bytes);
bool bind_no_memory(struct binder *b);
/* One step down in a tree; 8631 when it is too deep.  Each true is followed by
 * bind_leave(). */
bool bind_enter(struct binder *b);
void bind_leave(struct binder *b);
/* Not supported by fullrackd: 40517, always false. */
bool bind_unsupported(struct binder *b, const char *what);
/* "?7" for a new parameter */
const char *bind_param(struct binder *b, const struct param *p);
const char *bind_alias(struct binder *b, char kind);
/* The text of a value in SQLite's syntax. */
const char *bind_literal(struct binder *b, const struct value *v);
/* "SELECT ..." with the statement's WITH in front */
const char *bind_with(struct binder *b, const char *sql);

struct table_ref {
    const struct cat_table *table; /* or */
    const struct cat_object *view; /* or */
    const struct sysview *sysview;
    struct handle *handle; /* its database */
    struct catalog *cat;   /* borrowed from the binder */
    const char *sql;       /* "t123", "d7.t123", "v_objects(5)" */
    const char *schema;
};
/* Find a table, view or system view by name: 208 when there is none. */
bool bind_find_table(struct binder *b, const struct name *n, struct table_ref *out);
/* As above for tables that are to be changed; quiet: no error when there is none. */
bool bind_find_base(struct binder *b, const struct name *n, bool quiet,
                    struct table_ref *out);
/* The database that a name means: its part, or the current one; 911. */
bool bind_database(struct binder *b, const struct name *n, struct database **out);
/* A handle's catalog, kept by the binder. */
struct catalog *bind_catalog(struct binder *b, struct handle *h);
/* The schema that a name means in a catalog: dbo when it has none; NULL: no such schema.
 */
const struct cat_schema *bind_schema(const struct catalog *c, const struct name *n);
const char *name_format(struct binder *b, const struct name *n);

/* ---- bind_rights.c ---- */
/* Whether the session may do this with a table or view, or a procedure or view does it
 * for it: 229. */
bool bind_permit(struct binder *b, const struct table_ref *ref, enum permission p);
/* The same of the session alone. */
bool bind_permit_object(struct binder *b, struct handle *h, const struct cat_object *o,
                        enum permission p);
/* Whether it may; without an error when not. */
bool bind_may(struct binder *b, struct handle *h, const struct cat_object *o,
              enum permission p, bool *may);
/* Whether it may alter the table, which it named so: 1088. */
bool bind_permit_alter(struct binder *b, const struct table_ref *ref,
                       const struct name *n);
/* 262 */
bool bind_permit_database(struct binder *b, struct handle *h, enum permission p);
/* 300, 262 */
bool bind_permit_sysview(struct binder *b, const struct sysview *v, struct database *db);

/* ---- bind_expr.c, bind_pred.c, bind_func.c, bind_conv.c ---- */
bool bind_expr(struct binder *b, struct bscope *sc, const struct expr *x,
               struct bexpr *out);
bool bind_pred(struct binder *b, struct bscope *sc, const struct expr *x,
               const char **sql);
bool bind_function(struct binder *b, struct bscope *sc, const struct expr *x,
                   struct bexpr *out);
bool bind_case(struct binder *b, struct bscope *sc, const struct expr *x,
               struct bexpr *out);
/* a op b over bound operands: conversion to the common type, collation */
bool bind_comparison(struct binder *b, const struct bexpr *x, const char *op,
                     const struct bexpr *y, const char **sql);
/* Implicit conversion to a type; what SQLite stores alike stays as it is. */
bool bind_convert(struct binder *b, struct bexpr *x, const struct sqltype *to);
/* CAST; style -1: none; try_: NULL instead of an error */
bool bind_cast(struct binder *b, struct bexpr *x, const struct sqltype *to, int style,
               bool try_);
/* 305, 306: text, ntext, image and xml do not compare or sort */
bool bind_comparable(struct binder *b, const struct bexpr *x, const char *op);
/* What SQLite compares of a value: itself, but for datetimeoffset the moment alone. */
const char *bind_compare_key(struct binder *b, const struct sqltype *t, const char *sql);
/* True when a value of one type is in SQLite what it is in the other. */
bool types_stored_alike(const struct sqltype *from, const struct sqltype *to);
/* The collation of two strings that meet: 468 on conflict. */
bool bind_collation(struct binder *b, const struct bexpr *x, const struct bexpr *y,
                    uint32_t *collation, enum collation_rank *rank);
/* " COLLATE L3" behind a string, "" behind anything else */
const char *bind_collate(struct binder *b, const struct sqltype *t);
/* Merge what a part of an expression says of columns and grouping into the whole. */
void bexpr_merge(struct bexpr *whole, const struct bexpr *part);
/* Is the text one of the scope's GROUP BY expressions? */
void bind_check_group(const struct bscope *sc, struct bexpr *x);
/* Common type of n bound values; they are converted to it. */
bool bind_common(struct binder *b, struct bexpr *xs, size_t n, struct sqltype *type);
/* The column that a name means, as an expression. */
bool bind_column(struct binder *b, struct bscope *sc, const struct expr *x,
                 struct bexpr *out);
/* SQL of a relation's column, computed columns expanded. */
const char *bind_rel_column(struct binder *b, struct relation *r, size_t i);
/* A bound subquery as a scalar. */
bool bind_scalar_subquery(struct binder *b, struct bscope *sc, const struct query *q,
                          struct bexpr *out);

/* ---- bind_source.c ---- */
/* Add what stands in FROM to the scope; *sql: the text behind FROM. */
bool bind_from(struct binder *b, struct bscope *sc, struct source **from, size_t n,
               const char **sql);
bool bind_add_relation(struct binder *b, struct bscope *sc, struct relation *r);
/* A relation over a base table's columns under a new alias; table_sql as in struct
 * table_ref */
struct relation *bind_table_relation(struct binder *b, const struct table_ref *ref,
                                     const char *alias);
/* Columns only, whose texts are row parameters: inserted, deleted, CHECK's own table. */
struct relation *bind_row_relation(struct binder *b, const struct cat_table *t,
                                   const char *alias, enum row_side side);

/* ---- select.c, select_order.c ---- */
bool bind_query(struct binder *b, struct bscope *outer, const struct query *q,
                struct bquery *out);
bool bind_ctes(struct binder *b, const struct cte *ctes, size_t n);
/* SET ROWCOUNT as the text of a LIMIT; NULL when it is 0 */
const char *bind_rowcount(struct binder *b);
/* SQL for LIMIT of TOP; NULL text when there is none. */
bool bind_top(struct binder *b, struct bscope *sc, const struct top *top,
              const char **sql);
bool bind_order(struct binder *b, struct bscope *sc, const struct query *q,
                const struct bquery *bq, const char **sql);

/* ---- run.c ---- */
/* A prepared statement, its parameters bound; from the handle's cache. */
bool run_prepare(struct binder *b, const char *sql, sqlite3_stmt **out);
/* The same with parameters of the caller's own numbering. */
bool run_plain(struct binder *b, const char *sql, sqlite3_stmt **out);
/* Give it back. */
void run_done(struct binder *b, sqlite3_stmt **st);
/* Step; SQLITE_ROW or SQLITE_DONE; anything else: e is filled. */
int run_step(struct binder *b, sqlite3_stmt *st);
/*
 * The value of a result cell, its text borrowed until the next step (a guid is owned).
 * *out is freed first, so that an array of cells serves row after row; values_free() at
 * the end.
 */
bool run_value(sqlite3_stmt *st, int i, const struct sqltype *t, struct value *out);
void values_free(struct value *v, size_t n); /* accepts NULL */
bool run_sql(struct binder *b, const char *sql);
/* Bind the cells that a row expression needs; rows[side][index]. */
bool run_bind_row(struct binder *b, sqlite3_stmt *st,
                  const struct value *const rows[ROW_SIDES]);

/* ---- statements ---- */
/* SELECT @x = v, @x += v ... */
bool assign_variable(struct binder *b, const char *name, enum expr_op op,
                     const struct value *v);
/* Column metadata to the client; a bare NULL shows as int. */
bool send_columns(struct binder *b, const struct out_column *cols, size_t n);
bool select_into_run(struct binder *b, const struct query *q);
bool select_run(struct binder *b, const struct query *q);
bool insert_run(struct binder *b, const struct insert_stmt *st);
bool update_run(struct binder *b, const struct update_stmt *st);
bool delete_run(struct binder *b, const struct delete_stmt *st);
bool truncate_run(struct binder *b, const struct truncate_stmt *st);
bool ddl_run(struct binder *b, const struct stmt *st);

#endif
