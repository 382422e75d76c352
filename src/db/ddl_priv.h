/* ddl_priv.h - the words of a script and its columns, for db/ only. */
#ifndef FR_DB_DDL_PRIV_H
#define FR_DB_DDL_PRIV_H

#include "db/ddl.h"

enum { DDL_WORD_BYTES = FR_NAME_MAX_BYTES };

enum ddl_kind {
    DDL_END,
    DDL_WORD, /* a bare word: a keyword or a name */
    DDL_NAME, /* in brackets or quotes */
    DDL_NUMBER,
    DDL_STRING, /* its text is not kept */
    DDL_SIGN,   /* one character */
    DDL_BAD     /* not closed, or too long */
};

/* A script and the word it stands at. */
struct ddl {
    const char *p, *end;
    size_t line; /* of the word, from 1 */
    size_t next_line;
    enum ddl_kind kind;
    char word[DDL_WORD_BYTES];
};

/* ddl_word.c */
void ddl_next(struct ddl *d);
/* It stands at that keyword (any case, never one in brackets) or sign. */
bool ddl_at(const struct ddl *d, const char *word);
/* Past it when it stands there. */
bool ddl_take(struct ddl *d, const char *word);
bool ddl_at_name(const struct ddl *d);
/* From an opening parenthesis to behind the one that closes it; false: none does. */
bool ddl_skip_parentheses(struct ddl *d);
/* "line 3, at \"foo\": ..." */
fr_status ddl_error(const struct ddl *d, struct fr_err *err, const char *what);

/* ddl_column.c: one column of CREATE TABLE, added to the table. */
fr_status ddl_column(struct ddl *d, struct fr_table *t, struct fr_err *err);
/* Past the expression of a DEFAULT. */
fr_status ddl_default(struct ddl *d, struct fr_err *err);
/* a.b.c; FR_EDATA. */
fr_status ddl_name(struct ddl *d, struct fr_table_name *out, struct fr_err *err);

#endif
