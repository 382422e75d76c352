/*
 * XML format files: RECORD with a FIELD for each field of the file, ROW with a COLUMN for
 * each column that is loaded.
 *
 * A FIELD says how the end is found, the COLUMN that has it as its source of which native
 * type it is.  A document type is refused, and with it all entities that could grow.
 */
#include "load/format_file_priv.h"

#include "base/num.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ATTRIBUTES = 20, ID_BYTES = 64, MAX_DEPTH = 8, MAX_LENGTH = INT32_MAX };

#define BULK_SPACE "schemas.microsoft.com/sqlserver/2004/bulkload/format|"
#define XSI_TYPE "www.w3.org/2001/XMLSchema-instance|type"

/* What a FIELD's type tells. */
enum ends { BY_LENGTH, BY_PREFIX, BY_TERMINATOR };

static const struct field_type {
    const char *name;
    enum fr_host_type type; /* FR_HOST_COUNT: the column's */
    enum ends ends;
} field_types[] = {
    {"NativeFixed", FR_HOST_COUNT, BY_LENGTH},
    {"NativePrefix", FR_HOST_COUNT, BY_PREFIX},
    {"CharFixed", FR_HOST_CHAR, BY_LENGTH},
    {"NCharFixed", FR_HOST_NCHAR, BY_LENGTH},
    {"CharPrefix", FR_HOST_CHAR, BY_PREFIX},
    {"NCharPrefix", FR_HOST_NCHAR, BY_PREFIX},
    {"CharTerm", FR_HOST_CHAR, BY_TERMINATOR},
    {"NCharTerm", FR_HOST_NCHAR, BY_TERMINATOR},
};

struct xml_field {
    struct fr_layout_field field;
    char id[ID_BYTES];
    char *terminator; /* owned; as written, its type is known at the end */
    unsigned long line;
};

enum place { OUTSIDE, IN_FORMAT, IN_RECORD, IN_ROW, IN_ITEM };

struct parse {
    const char *name;
    XML_Parser parser;
    struct xml_field *fields; /* FR_MAX_FIELDS, owned */
    size_t count;
    size_t columns;
    enum place stack[MAX_DEPTH];
    size_t depth;
    bool has_record;
    fr_status st;
    struct fr_err *err;
};

static void fail(struct parse *x, unsigned long line)
{
    x->st = fr_err_wrap(x->err, "%s: line %lu", x->name, line);
    XML_StopParser(x->parser, XML_FALSE);
}

static unsigned long line_of(const struct parse *x)
{
    return XML_GetCurrentLineNumber(x->parser);
}

static bool is_named(const char *full, const char *name)
{
    const char *scheme = strstr(full, "://");
    size_t n = strlen(BULK_SPACE);

    return scheme != NULL && strncmp(scheme + 3, BULK_SPACE, n) == 0 &&
           strcmp(scheme + 3 + n, name) == 0;
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        const char *scheme = strstr(attributes[0], "://");

        if (strcmp(scheme == NULL ? attributes[0] : scheme + 3, name) == 0)
            return attributes[1];
    }
    return NULL;
}

static bool fail_with(struct parse *x, const char *what, const char *found)
{
    fr_err_set(x->err, FR_EARG, "%s expected, %s%.60s%s", what,
               found == NULL ? "and is missing" : "not \"", found == NULL ? "" : found,
               found == NULL ? "" : "\"");
    fail(x, line_of(x));
    return false;
}

static bool take_length(struct parse *x, const char **attributes, const char *name,
                        bool is_required, uint64_t *out)
{
    const char *text = attribute(attributes, name);
    char what[80];
    int64_t v = 0;

    if (text == NULL && !is_required)
        return true;
    if (text == NULL || fr_num_i64(text, 0, MAX_LENGTH, &v) != FR_OK) {
        snprintf(what, sizeof what, "FIELD: a number of bytes as %s", name);
        return fail_with(x, what, text);
    }
    *out = (uint64_t)v;
    return true;
}

static bool take_end(struct parse *x, const char **attributes, enum ends ends,
                     struct xml_field *f)
{
    const char *terminator = attribute(attributes, "TERMINATOR");
    const char *prefix = attribute(attributes, "PREFIX_LENGTH");
    uint64_t prefix_bytes = 0;

    if (ends == BY_TERMINATOR && (terminator == NULL || terminator[0] == '\0'))
        return fail_with(x, "FIELD: a TERMINATOR", terminator);
    if (ends == BY_PREFIX) {
        if (!take_length(x, attributes, "PREFIX_LENGTH", true, &prefix_bytes))
            return false;
        if (prefix_bytes != 1 && prefix_bytes != 2 && prefix_bytes != 4 &&
            prefix_bytes != 8)
            return fail_with(x, "FIELD: a PREFIX_LENGTH of 1, 2, 4 or 8", prefix);
        f->field.prefix_bytes = (uint8_t)prefix_bytes;
    }
    if (terminator != NULL) {
        f->terminator = strdup(terminator);
        if (f->terminator == NULL) {
            fr_err_set(x->err, FR_ENOMEM, "no memory for a layout");
            fail(x, line_of(x));
            return false;
        }
    }
    return take_length(x, attributes, ends == BY_LENGTH ? "LENGTH" : "MAX_LENGTH", false,
                       &f->field.max_bytes);
}

static void start_field(struct parse *x, const char **attributes)
{
    const char *id = attribute(attributes, "ID"), *type = attribute(attributes, XSI_TYPE);
    const struct field_type *t = NULL;
    struct xml_field *f = &x->fields[x->count];

    if (x->count == FR_MAX_FIELDS) {
        fr_err_set(x->err, FR_EARG, "more than %d fields", FR_MAX_FIELDS);
        fail(x, line_of(x));
        return;
    }
    for (size_t i = 0; type != NULL && i < sizeof field_types / sizeof field_types[0];
         i++)
        if (strcmp(field_types[i].name, type) == 0)
            t = &field_types[i];
    if (t == NULL) {
        fail_with(x, "FIELD: an xsi:type (CharTerm, NativeFixed, ...)", type);
        return;
    }
    if (id == NULL || id[0] == '\0' || strlen(id) >= ID_BYTES) {
        fail_with(x, "FIELD: a short ID", id);
        return;
    }
    for (size_t i = 0; i < x->count; i++)
        if (strcmp(x->fields[i].id, id) == 0) {
            fr_err_set(x->err, FR_EARG, "FIELD: the ID \"%s\" is there twice", id);
            fail(x, line_of(x));
            return;
        }
    memcpy(f->id, id, strlen(id) + 1);
    f->field.type = t->type;
    f->line = line_of(x);
    x->count++; /* what it owns is freed with the others */
    (void)take_end(x, attributes, t->ends, f);
}

static void start_column(struct parse *x, const char **attributes)
{
    const char *source = attribute(attributes, "SOURCE");
    const char *name = attribute(attributes, "NAME");
    const char *type = attribute(attributes, XSI_TYPE);
    struct xml_field *f = NULL;
    enum fr_host_type host = FR_HOST_COUNT;

    for (size_t i = 0; source != NULL && i < x->count; i++)
        if (strcmp(x->fields[i].id, source) == 0)
            f = &x->fields[i];
    if (f == NULL || f->field.column > 0) {
        fail_with(x,
                  f == NULL ? "COLUMN: the ID of a FIELD as SOURCE"
                            : "COLUMN: a FIELD of its own as SOURCE",
                  source);
        return;
    }
    if (name == NULL || name[0] == '\0') {
        fail_with(x, "COLUMN: the NAME of a column", name);
        return;
    }
    if (type != NULL)
        host = fr_host_by_name(type, strlen(type));
    if (f->field.type == FR_HOST_COUNT && host == FR_HOST_COUNT) {
        fail_with(x, "COLUMN: an xsi:type (SQLINT, SQLVARYCHAR, ...)", type);
        return;
    }
    if (f->field.type == FR_HOST_COUNT)
        f->field.type = host;
    f->field.column = ++x->columns;
    f->field.name = strdup(name);
    if (f->field.name == NULL) {
        fr_err_set(x->err, FR_ENOMEM, "no memory for a layout");
        fail(x, line_of(x));
    }
}

static void XMLCALL start_element(void *ctx, const XML_Char *name, const XML_Char **attrs)
{
    struct parse *x = ctx;
    enum place in = x->depth == 0 ? OUTSIDE : x->stack[x->depth - 1];
    enum place now = IN_ITEM;
    const char *local = strrchr(name, '|');

    if (x->st != FR_OK)
        return;
    if (in == OUTSIDE && is_named(name, "BCPFORMAT")) {
        now = IN_FORMAT;
    } else if (in == IN_FORMAT && is_named(name, "RECORD") && !x->has_record) {
        now = IN_RECORD;
        x->has_record = true;
    } else if (in == IN_FORMAT && is_named(name, "ROW") && x->has_record) {
        now = IN_ROW;
    } else if (in == IN_RECORD && is_named(name, "FIELD")) {
        start_field(x, attrs);
    } else if (in == IN_ROW && is_named(name, "COLUMN")) {
        start_column(x, attrs);
    } else {
        fail_with(x,
                  in == OUTSIDE     ? "BCPFORMAT of the namespace "
                                      "http://schemas.microsoft.com/sqlserver/2004/"
                                      "bulkload/format"
                  : in == IN_FORMAT ? "RECORD, then ROW"
                  : in == IN_RECORD ? "FIELD"
                  : in == IN_ROW    ? "COLUMN"
                                    : "nothing inside FIELD or COLUMN",
                  local == NULL ? name : local + 1);
        return;
    }
    if (x->depth < MAX_DEPTH)
        x->stack[x->depth++] = now;
}

static void XMLCALL end_element(void *ctx, const XML_Char *name)
{
    struct parse *x = ctx;

    (void)name;
    if (x->depth > 0)
        x->depth--;
}

static void XMLCALL refuse_doctype(void *ctx, const XML_Char *name,
                                   const XML_Char *system, const XML_Char *public,
                                   int has_internal)
{
    struct parse *x = ctx;

    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    fr_err_set(x->err, FR_EARG,
               "a format file has no document type: take the DOCTYPE out");
    fail(x, line_of(x));
}

/* A native field that goes nowhere has no type: bytes of its length. */
static fr_status finish_field(struct parse *x, size_t i, struct fr_layout_field *out)
{
    struct xml_field *f = &x->fields[i];
    fr_status st = FR_OK;

    if (f->field.type == FR_HOST_COUNT)
        f->field.type = FR_HOST_BINARY;
    if (f->terminator != NULL)
        st = format_file_terminator(f->terminator, i + 1 == x->count, &f->field, x->err);
    if (st == FR_OK)
        st = format_file_check_field(&f->field, x->err);
    if (st != FR_OK)
        return fr_err_wrap(x->err, "%s: line %lu: FIELD %s", x->name, f->line, f->id);
    *out = f->field;
    f->field.name = NULL; /* the layout's now */
    return FR_OK;
}

static fr_status finish(struct parse *x, struct fr_layout *l)
{
    fr_status st;

    if (x->count == 0 || x->columns == 0) {
        fr_err_set(x->err, FR_EARG,
                   "%s: a RECORD with FIELDs and a ROW with COLUMNs are "
                   "expected",
                   x->name);
        return FR_EARG;
    }
    st = layout_reserve(l, x->count, x->err);
    l->by_name = true;
    for (size_t i = 0; st == FR_OK && i < x->count; i++)
        st = finish_field(x, i, &l->fields[i]);
    return st;
}

fr_status format_file_parse_xml(const char *name, const char *text, size_t n,
                                struct fr_layout *l, struct fr_err *err)
{
    struct parse x = {.name = name, .err = err};

    x.parser = XML_ParserCreateNS(NULL, '|');
    x.fields = calloc(FR_MAX_FIELDS, sizeof *x.fields);
    if (x.parser == NULL || x.fields == NULL) {
        x.st = fr_err_set(err, FR_ENOMEM, "no memory for a format file");
        goto out;
    }
    XML_SetUserData(x.parser, &x);
    XML_SetElementHandler(x.parser, start_element, end_element);
    XML_SetStartDoctypeDeclHandler(x.parser, refuse_doctype);
    if (XML_Parse(x.parser, text, (int)n, XML_TRUE) != XML_STATUS_OK && x.st == FR_OK)
        x.st = fr_err_set(err, FR_EARG, "%s: line %lu: not XML: %s", name, line_of(&x),
                          XML_ErrorString(XML_GetErrorCode(x.parser)));
    if (x.st == FR_OK)
        x.st = finish(&x, l);
out:
    for (size_t i = 0; x.fields != NULL && i < x.count; i++) {
        free(x.fields[i].field.name);
        free(x.fields[i].terminator);
    }
    free(x.fields);
    if (x.parser != NULL)
        XML_ParserFree(x.parser);
    return x.st;
}
