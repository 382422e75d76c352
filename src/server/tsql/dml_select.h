/*
 * dml_select.h - the query in front of UPDATE and DELETE.
 *
 * It gives, per row to be changed: rowid, the table's columns as they are, the values
 * that SET asks for, and what OUTPUT takes from FROM.  The rows are set aside before
 * anything is changed.
 */
#ifndef FRD_TSQL_DML_SELECT_H
#define FRD_TSQL_DML_SELECT_H

#include "server/tsql/dml.h"

struct change {
    struct binder *b;
    struct table_ref ref;
    const struct cat_table *t;
    struct bscope sc;
    struct relation *own; /* the table's relation in FROM */
    const char *from, *where, *limit;
    struct output_scope os;
    struct output out;
    const char **set_sql; /* UPDATE */
    struct sqltype *set_types;
    size_t nsets;
    struct spool *rows;
    /* cells of a row of the spool, borrowed */
    struct value *cells;
    size_t ncells;
};

struct change_source {
    const struct name *target;
    enum permission needed; /* on it */
    bool output;            /* its rows are read, too */
    struct source **from;
    size_t nfrom;
    const struct expr *where;
    const struct top *top;
    const struct cte *ctes;
    size_t nctes;
};
bool change_bind(struct binder *b, const struct change_source *cs, struct change *c);
/* Run the query; the rows stand in c->rows. */
bool change_select(struct change *c);
/* 1, 0, -1 as spool_next() */
int change_next(struct change *c);
int64_t change_rowid(const struct change *c);
const struct value *change_old(const struct change *c);   /* by column of the table */
const struct value *change_set(const struct change *c);   /* by SET item */
const struct value *change_extra(const struct change *c); /* for OUTPUT */
void change_close(struct change *c);

/* The source in FROM that a target's name means, or NULL. */
const struct source *change_find_source(struct source **from, size_t n,
                                        const struct name *target);

#endif
