/* func_session.c - what the session and the server know: @@ROWCOUNT, SUSER_SNAME(),
 * ERROR_MESSAGE() ... */
#include "server/net/server.h"
#include "server/tsql/func_priv.h"
#include "server/tsql/session_priv.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PRODUCT_MAJOR = SERVER_VERSION_MAJOR, PRODUCT_BUILD = SERVER_VERSION_BUILD };

static int64_t get_rowcount(struct session *s)
{
    return s->rowcount;
}

static int64_t get_error(struct session *s)
{
    return s->last_error;
}

static int64_t get_spid(struct session *s)
{
    return s->spid;
}

static int64_t get_trancount(struct session *s)
{
    return s->txn.count;
}

static int64_t get_xact_state(struct session *s)
{
    return session_xact_state(s);
}

static int64_t get_nestlevel(struct session *s)
{
    return session_nestlevel(s);
}

static int64_t get_procid(struct session *s)
{
    return s->ctx == NULL ? 0 : s->ctx->proc_id;
}

static int64_t get_options(struct session *s)
{
    return session_option_bits(s);
}

static int64_t get_lock_timeout(struct session *s)
{
    return s->options.lock_timeout_ms;
}

static int64_t get_textsize(struct session *s)
{
    return s->options.textsize;
}

static int64_t get_datefirst(struct session *s)
{
    return s->options.datefirst;
}

static int64_t get_version_number(struct session *s)
{
    (void)s;
    return (int64_t)PRODUCT_MAJOR << 24 | PRODUCT_BUILD;
}

static int64_t get_fetch_status(struct session *s)
{
    (void)s;
    return -1; /* no cursor was ever fetched from */
}

static int64_t get_max_precision(struct session *s)
{
    (void)s;
    return TYPE_MAX_PRECISION;
}

static int64_t get_zero(struct session *s)
{
    (void)s;
    return 0;
}

/* The ones that are no int. */
static const struct {
    const char *name;
    enum type_id type;
} number_types[] = {
    {"ROWCOUNT_BIG", TY_BIGINT}, {"@@SPID", TY_SMALLINT},
    {"XACT_STATE", TY_SMALLINT}, {"@@DATEFIRST", TY_TINYINT},
    {"@@LANGID", TY_SMALLINT},   {"@@MAX_PRECISION", TY_TINYINT},
};

static bool rule_number_of_session(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    c->result = type_of(TY_INT);
    for (size_t i = 0; i < sizeof number_types / sizeof number_types[0]; i++) {
        if (strcmp(number_types[i].name, c->def->name) == 0)
            c->result = type_of(number_types[i].type);
    }
    c->nullable = false;
    return true;
}

#define NUMBER_FUNCTION(name, getter)                                                    \
    static bool eval_##name(const struct func_env *env, const struct value *a, size_t n, \
                            struct value *out, struct sqlerr *e)                         \
    {                                                                                    \
        (void)a;                                                                         \
        (void)n;                                                                         \
        (void)e;                                                                         \
        return out_int(out, getter(env->session));                                       \
    }

NUMBER_FUNCTION(rowcount, get_rowcount)
NUMBER_FUNCTION(error, get_error)
NUMBER_FUNCTION(spid, get_spid)
NUMBER_FUNCTION(trancount, get_trancount)
NUMBER_FUNCTION(xact_state, get_xact_state)
NUMBER_FUNCTION(nestlevel, get_nestlevel)
NUMBER_FUNCTION(procid, get_procid)
NUMBER_FUNCTION(options, get_options)
NUMBER_FUNCTION(lock_timeout, get_lock_timeout)
NUMBER_FUNCTION(textsize, get_textsize)
NUMBER_FUNCTION(datefirst, get_datefirst)
NUMBER_FUNCTION(version_number, get_version_number)
NUMBER_FUNCTION(fetch_status, get_fetch_status)
NUMBER_FUNCTION(max_precision, get_max_precision)
NUMBER_FUNCTION(zero, get_zero)

/* ---- texts ---- */

static bool out_str(struct value *out, const char *text, struct sqlerr *e)
{
    return out_text(out, text, strlen(text), e);
}

static bool rule_version(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_nvarchar(300);
    c->nullable = false;
    return true;
}

static bool eval_version(const struct func_env *env, const struct value *a, size_t n,
                         struct value *out, struct sqlerr *e)
{
    char text[200];

    (void)env;
    (void)a;
    (void)n;
    snprintf(
        text, sizeof text,
        "fullrackd: speaks TDS and a T-SQL subset in the sense of Microsoft SQL Server "
        "2022 - %d.0.%d.0; it is not SQL Server",
        (int)PRODUCT_MAJOR, (int)PRODUCT_BUILD);
    return out_str(out, text, e);
}

static bool eval_servername(const struct func_env *env, const struct value *a, size_t n,
                            struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_str(out, server_config(env->session->server)->server_name, e);
}

static bool eval_language(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_str(out, env->session->options.language, e);
}

static bool eval_servicename(const struct func_env *env, const struct value *a, size_t n,
                             struct value *out, struct sqlerr *e)
{
    (void)env;
    (void)a;
    (void)n;
    return out_str(out, "FULLRACKD", e);
}

static bool eval_login(const struct func_env *env, const struct value *a, size_t n,
                       struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_str(out, env->session->login.user, e);
}

static bool eval_app(const struct func_env *env, const struct value *a, size_t n,
                     struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_str(out, env->session->login.program_name, e);
}

static bool eval_host(const struct func_env *env, const struct value *a, size_t n,
                      struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_str(out, env->session->login.host_name, e);
}

/* ---- identity ---- */

static bool rule_identity(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_decimal(TYPE_MAX_PRECISION, 0);
    c->result.numeric = true;
    return true;
}

static bool out_identity(const struct func_env *env, const struct value *v,
                         struct value *out, struct sqlerr *e)
{
    if (v == NULL || v->is_null)
        return out_null(out);
    return value_convert(v, env->result, 0, true, out, e);
}

static bool eval_scope_identity(const struct func_env *env, const struct value *a,
                                size_t n, struct value *out, struct sqlerr *e)
{
    struct exec_ctx *ctx = env->session->ctx;

    (void)a;
    (void)n;
    return out_identity(env, ctx == NULL ? NULL : scope_identity(ctx->scope), out, e);
}

static bool eval_identity(const struct func_env *env, const struct value *a, size_t n,
                          struct value *out, struct sqlerr *e)
{
    (void)a;
    (void)n;
    return out_identity(env, &env->session->identity, out, e);
}

/* ---- ERROR_NUMBER() and the like: of the innermost CATCH; NULL outside ---- */

static bool rule_error_message(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    c->result = type_nvarchar(4000);
    return true;
}

#define ERROR_FUNCTION(name, put)                                                        \
    static bool eval_##name(const struct func_env *env, const struct value *a, size_t n, \
                            struct value *out, struct sqlerr *e)                         \
    {                                                                                    \
        const struct caught *c = env->session->caught;                                   \
        (void)a;                                                                         \
        (void)n;                                                                         \
        (void)e;                                                                         \
        return c == NULL ? out_null(out) : put;                                          \
    }

ERROR_FUNCTION(error_number, out_int(out, c->err.number))
ERROR_FUNCTION(error_severity, out_int(out, c->err.severity))
ERROR_FUNCTION(error_state, out_int(out, c->err.state))
ERROR_FUNCTION(error_line, out_int(out, c->err.line))
ERROR_FUNCTION(error_message, out_str(out, c->err.text, e))
ERROR_FUNCTION(error_procedure,
               c->err.proc[0] == '\0' ? out_null(out) : out_str(out, c->err.proc, e))

/* ---- SERVERPROPERTY, CONNECTIONPROPERTY, SESSIONPROPERTY: texts and numbers by name
 * ---- */

static bool rule_property(struct func_call *c, struct sqlerr *e)
{
    (void)e;
    for (size_t i = 0; i < c->nargs; i++)
        want_text(c, i);
    c->result = type_nvarchar(256); /* sql_variant in SQL Server */
    return true;
}

static bool is_word(const struct value *v, const char *word)
{
    return v->u.s.n == strlen(word) && strncasecmp(v->u.s.p, word, v->u.s.n) == 0;
}

static bool eval_serverproperty(const struct func_env *env, const struct value *a,
                                size_t n, struct value *out, struct sqlerr *e)
{
    static const struct {
        const char *name, *value; /* NULL: the server's name */
    } properties[] = {
        {"ProductVersion", "16.0.4105.0"},
        {"ProductLevel", "RTM"},
        {"ProductMajorVersion", "16"},
        {"ProductMinorVersion", "0"},
        {"ProductBuild", "4105"},
        {"Edition", "fullrackd (embedded)"},
        {"EngineEdition", "3"},
        {"ServerName", NULL},
        {"MachineName", NULL},
        {"InstanceName", ""},
        {"Collation", "SQL_Latin1_General_CP1_CI_AS"},
        {"IsClustered", "0"},
        {"IsHadrEnabled", "0"},
        {"IsIntegratedSecurityOnly", "0"},
        {"IsSingleUser", "0"},
        {"IsFullTextInstalled", "0"},
        {"LicenseType", "DISABLED"},
        {"ComputerNamePhysicalNetBIOS", NULL},
    };

    (void)n;
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (is_word(&a[0], properties[i].name))
            return out_str(out,
                           properties[i].value != NULL
                               ? properties[i].value
                               : server_config(env->session->server)->server_name,
                           e);
    }
    return out_null(out);
}

static bool eval_connectionproperty(const struct func_env *env, const struct value *a,
                                    size_t n, struct value *out, struct sqlerr *e)
{
    static const char *const properties[][2] = {
        {"net_transport", "TCP"}, {"protocol_type", "TSQL"}, {"auth_scheme", "SQL"}};

    (void)env;
    (void)n;
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (is_word(&a[0], properties[i][0]))
            return out_str(out, properties[i][1], e);
    }
    return out_null(out);
}

static bool eval_sessionproperty(const struct func_env *env, const struct value *a,
                                 size_t n, struct value *out, struct sqlerr *e)
{
    const struct session_options *o = &env->session->options;
    const struct {
        const char *name;
        bool on;
    } properties[] = {{"ANSI_NULLS", o->ansi_nulls},
                      {"ANSI_PADDING", o->ansi_padding},
                      {"ANSI_WARNINGS", o->ansi_warnings},
                      {"ARITHABORT", o->arithabort},
                      {"CONCAT_NULL_YIELDS_NULL", o->concat_null_yields_null},
                      {"NUMERIC_ROUNDABORT", o->numeric_roundabort},
                      {"QUOTED_IDENTIFIER", o->quoted_identifier}};

    (void)n;
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (is_word(&a[0], properties[i].name))
            return out_str(out, properties[i].on ? "1" : "0", e);
    }
    return out_null(out);
}

#define S FUNC_SESSION
#define NUMBER(name, sqlite, fn)                                                         \
    {                                                                                    \
        name, 0, 0, S, sqlite, rule_number_of_session, fn                                \
    }
#define SYSNAME(name, sqlite, fn)                                                        \
    {                                                                                    \
        name, 0, 0, S, sqlite, rule_sysname, fn                                          \
    }

const struct func_def func_session_defs[] = {
    NUMBER("@@ROWCOUNT", "f__rowcount", eval_rowcount),
    NUMBER("ROWCOUNT_BIG", "f_rowcount_big", eval_rowcount),
    NUMBER("@@ERROR", "f__error", eval_error),
    NUMBER("@@SPID", "f__spid", eval_spid),
    NUMBER("@@TRANCOUNT", "f__trancount", eval_trancount),
    NUMBER("XACT_STATE", "f_xact_state", eval_xact_state),
    NUMBER("@@NESTLEVEL", "f__nestlevel", eval_nestlevel),
    NUMBER("@@PROCID", "f__procid", eval_procid),
    NUMBER("@@OPTIONS", "f__options", eval_options),
    NUMBER("@@LOCK_TIMEOUT", "f__lock_timeout", eval_lock_timeout),
    NUMBER("@@TEXTSIZE", "f__textsize", eval_textsize),
    NUMBER("@@DATEFIRST", "f__datefirst", eval_datefirst),
    NUMBER("@@MICROSOFTVERSION", "f__microsoftversion", eval_version_number),
    NUMBER("@@FETCH_STATUS", "f__fetch_status", eval_fetch_status),
    NUMBER("@@CURSOR_ROWS", "f__cursor_rows", eval_zero),
    NUMBER("@@LANGID", "f__langid", eval_zero),
    NUMBER("@@MAX_PRECISION", "f__max_precision", eval_max_precision),
    {"@@VERSION", 0, 0, S, "f__version", rule_version, eval_version},
    SYSNAME("@@SERVERNAME", "f__servername", eval_servername),
    SYSNAME("@@SERVICENAME", "f__servicename", eval_servicename),
    SYSNAME("@@LANGUAGE", "f__language", eval_language),
    SYSNAME("ORIGINAL_LOGIN", "f_original_login", eval_login),
    SYSNAME("SYSTEM_USER", "f_system_user", eval_login),
    SYSNAME("APP_NAME", "f_app_name", eval_app),
    SYSNAME("HOST_NAME", "f_host_name", eval_host),
    {"SCOPE_IDENTITY", 0, 0, S, "f_scope_identity", rule_identity, eval_scope_identity},
    {"@@IDENTITY", 0, 0, S, "f__identity", rule_identity, eval_identity},
    {"ERROR_NUMBER", 0, 0, S, "f_error_number", rule_int, eval_error_number},
    {"ERROR_SEVERITY", 0, 0, S, "f_error_severity", rule_int, eval_error_severity},
    {"ERROR_STATE", 0, 0, S, "f_error_state", rule_int, eval_error_state},
    {"ERROR_LINE", 0, 0, S, "f_error_line", rule_int, eval_error_line},
    {"ERROR_MESSAGE", 0, 0, S, "f_error_message", rule_error_message, eval_error_message},
    {"ERROR_PROCEDURE", 0, 0, S, "f_error_procedure", rule_sysname, eval_error_procedure},
    {"SERVERPROPERTY", 1, 1, S, "f_serverproperty", rule_property, eval_serverproperty},
    {"CONNECTIONPROPERTY", 1, 1, S, "f_connectionproperty", rule_property,
     eval_connectionproperty},
    {"SESSIONPROPERTY", 1, 1, S, "f_sessionproperty", rule_property,
     eval_sessionproperty},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};
