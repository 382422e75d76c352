#include "sql_values.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sqltype test_type(const char *text)
{
    const char *open = strchr(text, '(');
    size_t n = open == NULL ? strlen(text) : (size_t)(open - text);
    struct type_args args = {0};
    struct sqltype t = {0};
    struct sqlerr e = {0};
    char *end;

    if (open != NULL && strcmp(open, "(max)") == 0) {
        args.max = true;
    } else if (open != NULL) {
        args.arg[args.count++] = strtol(open + 1, &end, 10);
        if (*end == ',')
            args.arg[args.count++] = strtol(end + 1, &end, 10);
    }
    ck_assert_msg(type_parse(text, n, &args, &t, &e), "%s: %s", text, e.text);
    return t;
}

struct value test_value(const char *type, const char *text)
{
    struct sqltype t = test_type(type), from = type_varchar(TYPE_MAX);
    struct value in, out;
    struct sqlerr e = {0};
    bool hex = type_is_binary(t.id);

    if (type_is_nstring(t.id))
        from = type_nvarchar(TYPE_MAX);
    value_set_null(&in, from);
    if (text != NULL) {
        in.is_null = false;
        in.u.s.p = text;
        in.u.s.n = strlen(text);
    }
    ck_assert_msg(value_convert(&in, &t, hex ? 1 : 0, false, &out, &e), "%s '%s': %s",
                  type, text, e.text);
    return out;
}

const char *test_text(const struct value *v)
{
    static _Thread_local char text[256];
    struct sqltype t = type_varchar(TYPE_MAX);
    struct value out;
    struct sqlerr e = {0};
    enum type_family f = type_family(v->type.id);
    int style = f == FAM_DATETIME ? 121
                : f == FAM_FLOAT  ? 3
                : f == FAM_BINARY ? 1
                : f == FAM_MONEY  ? 2
                                  : 0;

    if (v->is_null)
        return "NULL";
    if (v->type.id == TY_IMAGE) {
        struct value bytes = *v;

        bytes.type = type_varbinary(TYPE_MAX);
        return test_text(&bytes);
    }
    if (type_is_nstring(v->type.id))
        t = type_nvarchar(TYPE_MAX);
    ck_assert_msg(value_convert(v, &t, style, false, &out, &e), "%s", e.text);
    snprintf(text, sizeof text, "%.*s", (int)out.u.s.n, out.u.s.p);
    value_free(&out);
    return text;
}
