/* Which field goes to which column: by position, --columns, or a header. */
#include "load/native.h"
#include "load/plan_priv.h"

#include <stdlib.h>
#include <string.h>

bool plan_is_insertable(const struct fr_plan *p, const struct fr_column *c)
{
    return !c->computed && (!c->identity || p->options->keep_identity) &&
           c != &p->table->columns[p->load_id_column];
}

bool plan_maps_by_name(const struct fr_load_options *o)
{
    return o->columns != NULL || o->header == FR_HEADER_MATCH;
}

fr_status plan_map_column(struct fr_plan *p, size_t field, size_t column,
                          struct fr_err *err)
{
    const struct fr_column *c = &p->table->columns[column];
    char list[600];
    struct fr_load_options options = *p->options;

    if (c->type == FR_TYPE_UNSUPPORTED ||
        ((c->type == FR_TYPE_XML || c->type == FR_TYPE_CLR) &&
         (p->abilities & FR_BULK_XML_CLR) == 0))
        return fr_err_set(
            err, FR_EARG,
            "column %s has type %s, whose values cannot be loaded: leave it "
            "out with --columns",
            c->name, c->type_name);
    if (p->is_sent[column])
        return fr_err_set(
            err, FR_EARG, "column %s is named twice%s; %s has: %s", c->name,
            p->options->format_file == NULL ? ": - drops a field" : " in the format file",
            p->table->display, fr_table_list_columns(p->table, list, sizeof list));
    p->is_sent[column] = true;
    p->fields[field].column = column;
    if (p->layout != NULL && field < p->layout->count) {
        p->fields[field].host = p->layout->fields[field].type;
        if (p->fields[field].host > FR_HOST_NCHAR) {
            /* the text of native values is ours, whatever the options say of others */
            options.decimal = NULL;
            options.date_formats.count = 0;
        }
        if (!fr_native_fits(p->fields[field].host, c))
            return fr_err_set(err, FR_EARG,
                              "column %s has type %s, which the field's native type does "
                              "not become",
                              c->name, c->type_name);
    }
    return fr_converter_init(&p->fields[field].converter, c, &options, err);
}

fr_status plan_check_required(const struct fr_plan *p, struct fr_err *err)
{
    for (size_t i = 0; i < p->table->column_count; i++) {
        const struct fr_column *c = &p->table->columns[i];
        char list[600];

        if (plan_is_insertable(p, c) && !c->identity && !p->is_sent[i] && !c->nullable &&
            !c->has_default)
            return fr_err_set(
                err, FR_EARG,
                "column %s of %s is NOT NULL, has no default and gets no field: name "
                "its field in %s; the table has: %s",
                c->name, p->table->display,
                p->options->format_file == NULL ? "--columns or the header"
                                                : "the format file",
                fr_table_list_columns(p->table, list, sizeof list));
    }
    return FR_OK;
}

fr_status plan_reserve_fields(struct fr_plan *p, size_t count, struct fr_err *err)
{
    p->fields = calloc(count == 0 ? 1 : count, sizeof *p->fields);
    if (p->fields == NULL)
        return fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    p->field_count = count;
    return FR_OK;
}

fr_status plan_unknown_column(const struct fr_plan *p, const char *name, size_t n,
                              const char *where, struct fr_err *err)
{
    char list[600];
    char shown[FR_PRINTABLE_BYTES + 4];

    fr_printable(name, n, shown);
    return fr_err_set(err, FR_EARG, "%s: %s has no column \"%s\"; it has: %s", where,
                      p->table->display, shown,
                      fr_table_list_columns(p->table, list, sizeof list));
}

/* One name of --columns or of a header. */
static fr_status map_name(struct fr_plan *p, size_t field, const char *name, size_t n,
                          const char *where, struct fr_err *err)
{
    size_t column = fr_table_find_column(p->table, name, n);

    if (column == p->table->column_count)
        return plan_unknown_column(p, name, n, where, err);
    if (column == p->load_id_column)
        return fr_err_set(
            err, FR_EARG,
            "%s: column %s gets the load id (--load-id-column), and no value "
            "of the file; - in --columns drops its field",
            where, p->table->columns[column].name);
    if (!plan_is_insertable(p, &p->table->columns[column])) {
        /* the server makes the value: the field is read and dropped, as bcp does */
        p->fields[field].dropped = true;
        return FR_OK;
    }
    if (plan_map_column(p, field, column, err) != FR_OK)
        return fr_err_wrap(err, "%s", where);
    return FR_OK;
}

/* One name of --columns, in brackets or not, and what is behind it; it is written to
 * `name`, which has room for the text. */
static const char *take_name(const char *text, char *name, bool *bracketed)
{
    const char *p = text + strspn(text, " \t");
    size_t n = 0;

    *bracketed = *p == '[';
    if (*bracketed) {
        for (p++; *p != '\0' && (*p != ']' || p[1] == ']'); p++) {
            name[n++] = *p;
            p += *p == ']' ? 1 : 0;
        }
        name[n] = '\0';
        if (*p != ']')
            return NULL;
        p++;
        p += strspn(p, " \t");
        return *p == '\0' || *p == ',' ? p : NULL;
    }
    n = strcspn(p, ",");
    p += n;
    memcpy(name, p - n, n);
    while (n > 0 && (name[n - 1] == ' ' || name[n - 1] == '\t'))
        n--;
    name[n] = '\0';
    return p;
}

static fr_status map_list(struct fr_plan *p, char *name, struct fr_err *err)
{
    const char *text = p->options->columns;
    fr_status st = FR_OK;
    size_t count = 0;

    do {
        bool bracketed;
        const char *end = take_name(text, name, &bracketed);

        if (end == NULL)
            return fr_err_set(
                err, FR_EARG,
                "--columns: %s: expected [NAME], with each ] in it doubled, "
                "and a comma behind it",
                text);
        if (!bracketed && strcmp(name, "-") == 0)
            p->fields[count].dropped = true;
        else
            st = map_name(p, count, name, strlen(name), "--columns", err);
        count++;
        text = end + 1;
        if (*end == '\0')
            break;
    } while (st == FR_OK);
    p->field_count = count;
    return st;
}

fr_status plan_map_columns_option(struct fr_plan *p, struct fr_err *err)
{
    const char *text = p->options->columns;
    char *name = malloc(strlen(text) + 1);
    size_t most = 1;
    fr_status st = FR_OK;

    for (const char *c = text; *c != '\0'; c++)
        most += *c == ',' ? 1 : 0;
    if (name == NULL)
        st = fr_err_set(err, FR_ENOMEM, "no memory for a plan");
    if (st == FR_OK && most > FR_MAX_FIELDS)
        st = fr_err_set(err, FR_EARG, "--columns: more than %d fields", FR_MAX_FIELDS);
    if (st == FR_OK)
        st = plan_reserve_fields(p, most, err);
    if (st == FR_OK && name != NULL)
        st = map_list(p, name, err);
    free(name);
    if (st == FR_OK)
        st = plan_check_required(p, err);
    p->mapped = st == FR_OK;
    return st;
}

fr_status fr_plan_map_header(struct fr_plan *p, const struct fr_record *header,
                             struct fr_err *err)
{
    fr_status st = plan_reserve_fields(p, header->count, err);

    if (st == FR_OK && p->layout != NULL && header->bad != NULL)
        st = fr_err_set(err, FR_EARG, "header: %s", header->bad);
    if (st == FR_OK && header->count > FR_MAX_FIELDS)
        st = fr_err_set(err, FR_EARG, "header: more than %d fields", FR_MAX_FIELDS);
    for (size_t i = 0; st == FR_OK && i < header->count; i++) {
        struct fr_field f = header->fields[i];
        size_t bad_at = 0;

        if (f.has_quotes)
            st = plan_unquote(p, &f, err);
        if (st == FR_EMPTY)
            st = fr_err_set(err, FR_EARG,
                            "header: field %zu has an --escape that cannot "
                            "be undone",
                            i + 1);
        if (st == FR_OK)
            st = plan_decode(p, &f, &bad_at, err);
        if (st == FR_EMPTY)
            st = fr_err_set(err, FR_EARG,
                            "header: field %zu has the byte 0x%02x, which is "
                            "no character of %s",
                            i + 1, (unsigned char)f.p[bad_at], p->encoding_name);
        fr_trim_blanks(&f.p, &f.n);
        if (st == FR_OK)
            st = map_name(p, i, f.p, f.n, "header", err);
    }
    if (st == FR_OK)
        st = plan_check_required(p, err);
    if (st == FR_OK && p->layout != NULL)
        plan_settle_layout(p);
    p->mapped = st == FR_OK;
    return st;
}

fr_status fr_plan_map_count(struct fr_plan *p, size_t fields, bool *mapped,
                            struct fr_err *err)
{
    const struct fr_table *t = p->table;
    bool all = fields == p->file_columns;
    size_t at = 0;
    fr_status st;

    *mapped = p->mapped;
    if (p->mapped || plan_maps_by_name(p->options) || (!all && fields != p->insertable))
        return FR_OK;
    st = plan_reserve_fields(p, fields, err);
    for (size_t i = 0; st == FR_OK && i < t->column_count; i++) {
        if (plan_is_insertable(p, &t->columns[i]))
            st = plan_map_column(p, at++, i, err);
        else if (all && i != p->load_id_column)
            p->fields[at++].dropped = true;
    }
    if (st == FR_OK)
        st = plan_check_required(p, err);
    p->mapped = *mapped = st == FR_OK;
    return st;
}
