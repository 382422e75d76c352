#include "base/utf8.h"
#include "db/ddl_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The same table: a schema that is not said is dbo. */
static bool is_named(const struct fr_table_name *a, const struct fr_table_name *b)
{
    const char *of_a = a->schema[0] == '\0' ? "dbo" : a->schema;
    const char *of_b = b->schema[0] == '\0' ? "dbo" : b->schema;

    return strcasecmp(a->table, b->table) == 0 && strcasecmp(of_a, of_b) == 0;
}

/* Columns of a key of the table are NOT NULL. */
static fr_status take_primary_key(struct ddl *d, struct fr_table *t, struct fr_err *err)
{
    if (!ddl_take(d, "key"))
        return ddl_error(d, err, "KEY is expected");
    while (ddl_take(d, "clustered") || ddl_take(d, "nonclustered") || ddl_take(d, "hash"))
        ;
    if (!ddl_take(d, "("))
        return ddl_error(d, err, "a ( is expected");
    while (ddl_at_name(d)) {
        size_t i = fr_table_find_column(t, d->word, strlen(d->word));

        if (i == t->column_count)
            return ddl_error(d, err, "the table has no such column so far");
        t->columns[i].nullable = false;
        ddl_next(d);
        while (ddl_take(d, "asc") || ddl_take(d, "desc") || ddl_take(d, ","))
            ;
    }
    return ddl_take(d, ")") ? FR_OK : ddl_error(d, err, "a ) is expected");
}

/* To the end of a constraint, index or period of the table. */
static fr_status skip_element(struct ddl *d, struct fr_err *err)
{
    while (!ddl_at(d, ",") && !ddl_at(d, ")")) {
        if (d->kind == DDL_END || d->kind == DDL_BAD)
            return ddl_error(d, err, "CREATE TABLE is not closed");
        if (!ddl_at(d, "("))
            ddl_next(d);
        else if (!ddl_skip_parentheses(d))
            return ddl_error(d, err, "a ) is missing");
    }
    return FR_OK;
}

static fr_status take_element(struct ddl *d, struct fr_table *t, struct fr_err *err)
{
    static const char *const others[] = {"unique", "check", "foreign", "index", "period"};
    fr_status st;

    if (ddl_take(d, "constraint")) {
        if (!ddl_at_name(d))
            return ddl_error(d, err, "a name is expected");
        ddl_next(d);
    }
    if (ddl_take(d, "primary")) {
        st = take_primary_key(d, t, err);
        return st == FR_OK ? skip_element(d, err) : st;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (ddl_at(d, others[i]))
            return skip_element(d, err);
    return ddl_column(d, t, err);
}

static fr_status take_table(struct ddl *d, const struct fr_table_name *name,
                            struct fr_table **out, struct fr_err *err)
{
    const char *schema = name->schema[0] == '\0' ? "dbo" : name->schema;
    char quoted_schema[2 * FR_NAME_MAX_BYTES + 3], quoted[2 * FR_NAME_MAX_BYTES + 3];
    struct fr_table *t = calloc(1, sizeof *t);
    fr_status st = FR_OK;

    if (t == NULL || !fr_name_quote(schema, quoted_schema, sizeof quoted_schema) ||
        !fr_name_quote(name->table, quoted, sizeof quoted) ||
        asprintf(&t->quoted, "%s.%s", quoted_schema, quoted) < 0 ||
        asprintf(&t->display, "%s.%s", schema, name->table) < 0) {
        fr_table_free(&t);
        return fr_err_set(err, FR_ENOMEM, "no memory for a table");
    }
    *out = t;
    do {
        /* a comma may stand in front of the closing parenthesis */
        if (t->column_count > 0 && ddl_at(d, ")"))
            break;
        st = take_element(d, t, err);
    } while (st == FR_OK && ddl_take(d, ","));
    if (st == FR_OK && !ddl_take(d, ")"))
        st = ddl_error(d, err, "a comma or ) is expected");
    if (st == FR_OK && t->column_count == 0)
        st = ddl_error(d, err, "the table has no column");
    return st;
}

/* ALTER TABLE of this table, as scripts of a database add defaults and keys. */
static fr_status take_alter(struct ddl *d, struct fr_table *t, struct fr_err *err)
{
    static const char *const harmless[] = {"check",   "nocheck", "enable",
                                           "disable", "set",     "rebuild"};
    size_t i;

    if (ddl_take(d, "with") && !ddl_take(d, "check") && !ddl_take(d, "nocheck"))
        return ddl_error(d, err, "CHECK or NOCHECK is expected");
    for (i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (ddl_at(d, harmless[i]))
            return FR_OK;
    if (!ddl_take(d, "add"))
        return ddl_error(d, err, "the table is changed: give its last CREATE TABLE");
    if (ddl_take(d, "constraint"))
        ddl_next(d);
    if (ddl_take(d, "primary"))
        return take_primary_key(d, t, err);
    if (ddl_at(d, "unique") || ddl_at(d, "check") || ddl_at(d, "foreign"))
        return FR_OK;
    if (!ddl_take(d, "default"))
        return ddl_error(d, err, "columns are added: put them into CREATE TABLE");
    if (ddl_default(d, err) != FR_OK)
        return FR_EDATA;
    if (!ddl_take(d, "for") || !ddl_at_name(d))
        return ddl_error(d, err, "FOR and a column are expected");
    i = fr_table_find_column(t, d->word, strlen(d->word));
    if (i == t->column_count)
        return ddl_error(d, err, "the table has no such column");
    t->columns[i].has_default = true;
    return FR_OK;
}

/* CREATE TABLE or ALTER TABLE; what belongs to other tables is passed by. */
static fr_status take_statement(struct ddl *d, const struct fr_table_name *wanted,
                                bool is_create, struct fr_table **t, struct fr_err *err)
{
    struct fr_table_name name;
    fr_status st = ddl_name(d, &name, err);

    if (st != FR_OK || !is_named(&name, wanted))
        return st;
    if (!is_create)
        return *t == NULL
                   ? ddl_error(d, err, "ALTER TABLE stands before its CREATE TABLE")
                   : take_alter(d, *t, err);
    if (*t != NULL)
        return ddl_error(d, err, "the table is created once more");
    if (!ddl_take(d, "("))
        return ddl_error(d, err, "a ( is expected");
    return take_table(d, &name, t, err);
}

fr_status fr_ddl_parse(const char *text, size_t n, const char *name,
                       struct fr_table **out, struct fr_err *err)
{
    struct fr_table_name wanted;
    struct fr_table *t = NULL;
    struct ddl d = {.p = text, .end = text + n, .next_line = 1};
    fr_status st = fr_table_name_parse(name, &wanted, err);

    *out = NULL;
    if (st != FR_OK)
        return st;
    if (n > FR_DDL_MAX_BYTES)
        return fr_err_set(err, FR_EDATA, "it has more than %d bytes", FR_DDL_MAX_BYTES);
    if (n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        d.p += 3;
    ddl_next(&d);
    while (st == FR_OK && d.kind != DDL_END) {
        bool create = ddl_at(&d, "create"), alter = ddl_at(&d, "alter");

        if (d.kind == DDL_BAD) {
            st = ddl_error(&d, err, "");
            break;
        }
        ddl_next(&d);
        if ((create || alter) && ddl_take(&d, "table"))
            st = take_statement(&d, &wanted, create, &t, err);
    }
    if (st == FR_OK && t == NULL)
        st = fr_err_set(err, FR_EDATA, "it has no CREATE TABLE of %s", name);
    if (st == FR_OK)
        *out = t;
    else
        fr_table_free(&t);
    return st;
}

fr_status fr_ddl_read(const char *path, const char *name, struct fr_table **out,
                      struct fr_err *err)
{
    FILE *f = fopen(path, "re");
    char *text = NULL, *decoded = NULL;
    size_t n = 0, decoded_bytes = 0;
    fr_status st = FR_OK;

    *out = NULL;
    if (f == NULL)
        return fr_err_errno(err, FR_EIO, errno, "%s", path);
    text = malloc(FR_DDL_MAX_BYTES + 1);
    if (text == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a script");
    if (st == FR_OK) {
        n = fread(text, 1, FR_DDL_MAX_BYTES + 1, f);
        if (ferror(f))
            st = fr_err_errno(err, FR_EIO, errno, "reading");
    }
    /* as SQL Server Management Studio writes its scripts */
    if (st == FR_OK && fr_utf16_decode(text, n, &decoded, &decoded_bytes))
        st = decoded == NULL ? fr_err_set(err, FR_EDATA, "it is no well-formed UTF-16")
                             : fr_ddl_parse(decoded, decoded_bytes, name, out, err);
    else if (st == FR_OK)
        st = fr_ddl_parse(text, n, name, out, err);
    free(decoded);
    if (st != FR_OK)
        (void)fr_err_wrap(err, "%s", path);
    free(text);
    fclose(f);
    return st;
}
