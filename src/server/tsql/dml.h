/*
 * dml.h - what INSERT, UPDATE, DELETE and bulk load share: writing rows, row expressions,
 * OUTPUT.
 *
 * A row of a table is an array of values in the order of struct cat_table's columns;
 * computed columns have a cell too, which is ignored.
 */
#ifndef FRD_TSQL_DML_H
#define FRD_TSQL_DML_H

#include "server/store/spool.h"
#include "server/tsql/bind.h"

/* ---- dml_write.c ---- */

enum write_flags {
    WRITE_CHECKS = 1u << 0, /* CHECK constraints */
    WRITE_KEYS = 1u << 1,   /* foreign keys, both directions */
    WRITE_ALL = WRITE_CHECKS | WRITE_KEYS
};

/* Writes rows of one table on its own database's handle; one statement long. */
struct row_writer {
    struct binder *b;
    const struct cat_table *t;
    const char *sql;      /* "t123" */
    const char *shown;    /* "db.schema.table", for messages */
    const char *two_part; /* "schema.table" */
    const char *verb;     /* "INSERT", "UPDATE", "DELETE" */
    unsigned flags;
    bool *set; /* UPDATE: the columns that change */
    sqlite3_stmt *insert, *update, *remove, *check;
    sqlite3_stmt **find_parent;      /* per foreign key */
    struct cat_check const **checks; /* in the order of check's columns */
    size_t nchecks;
    const char **column_names;   /* "schema.table.column" for value_assign() */
    unsigned char (*packed)[16]; /* a decimal cell's bytes while SQLite has them */
    int64_t duplicates;          /* rows left out by IGNORE_DUP_KEY */
};

bool writer_open(struct binder *b, const struct table_ref *ref, const char *verb,
                 unsigned flags, struct row_writer *w);
void writer_close(struct row_writer *w);
/* NOT NULL and CHECK of a row that is complete. */
bool writer_check(struct row_writer *w, const struct value *row);
/* *rowid may be NULL; a duplicate that is ignored gives *rowid 0. */
bool writer_insert(struct row_writer *w, const struct value *row, int64_t *rowid);
bool writer_update(struct row_writer *w, int64_t rowid, const struct value *row);
bool writer_delete(struct row_writer *w, int64_t rowid);
/* The table's foreign keys for a row: 547 when a parent is missing. */
bool writer_find_parents(struct row_writer *w, const struct value *row);
/* Rows of others that point to a key that is gone: 547, or cascaded. after: NULL for
 * DELETE. */
bool writer_check_children(struct row_writer *w, const struct value *before,
                           const struct value *after);
/* Convert a value into a column's type: 2628, 515 is writer_check()'s.  out may borrow
 * from in. */
bool writer_assign(struct row_writer *w, size_t column, const struct value *in,
                   struct value *out);

/* ---- dml_identity.c ---- */

/* Identity values of one statement. */
struct identity_source {
    struct binder *b;
    const struct cat_table *t;
    struct database *db;
    int64_t last;
    bool any, explicit_values;
    int64_t highest; /* of given values */
};
bool identity_open(struct binder *b, const struct table_ref *ref, bool explicit_values,
                   struct identity_source *s);
bool identity_next(struct identity_source *s, struct value *out);
/* A value was given (IDENTITY_INSERT): the counter moves on when it is beyond. */
void identity_given(struct identity_source *s, const struct value *v);
/* Write the counter; SCOPE_IDENTITY() where tell. */
bool identity_close(struct identity_source *s, bool tell);

/* ---- dml_output.c ---- */

/* OUTPUT: expressions over the new and the old row. */
struct output {
    struct binder *b;
    struct out_column *cols;
    size_t ncols;
    sqlite3_stmt *st;
    struct value *cells;
    struct spool *into; /* OUTPUT ... INTO */
    const struct output_clause *clause;
    bool active;
};
/*
 * sc: scope with the FROM relations (may be NULL); extras: their columns that OUTPUT
 * uses, as further columns of the statement's query.
 */
struct output_scope {
    const struct cat_table *table;
    bool has_new, has_old;
    struct bscope *from;
    const char **extras; /* out: texts, in the order of ROW_EXTRA */
    struct sqltype *extra_types;
    size_t nextras;
};
bool output_open(struct binder *b, const struct output_clause *clause,
                 struct output_scope *os, struct output *o);
/* Column metadata to the client: before the first row. */
bool output_start(struct output *o);
bool output_row(struct output *o, const struct value *const rows[ROW_SIDES]);
/* OUTPUT ... INTO: the rows go into the table. */
bool output_finish(struct output *o);
void output_close(struct output *o);

/* ---- dml_insert.c ---- */
/*
 * Insert the rows of a spool (n cells each) into the named columns of a table; used by
 * OUTPUT ... INTO and INSERT ... EXEC.
 */
struct spool_insert {
    const struct name *target;
    const char *const *columns;
    size_t ncolumns;
    struct spool *rows;
    const struct sqltype *types;
    size_t ncells;
};
bool insert_spool(struct binder *b, const struct spool_insert *si);
/* INSERT ... EXEC: the procedure first, then its rows, as one statement. */
bool insert_exec_run(struct exec_ctx *ctx, const struct insert_stmt *st);
/* Fill the rowversion columns of a row that is about to be written. */
bool write_rowversion(struct binder *b, const struct cat_table *t, struct value *row);
/* The table that a target's name means: "@t" of a table variable included. */
bool dml_target(struct binder *b, const struct name *n, struct table_ref *out);

#endif
