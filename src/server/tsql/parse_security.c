/* parse_security.c - logins, users, roles; GRANT, DENY, REVOKE. */
#include "server/tsql/parse_priv.h"

#include <string.h>
#include <strings.h>

bool at_principal(struct parser *p)
{
    struct token next = parse_peek(p, 1);

    return at_word(p, "LOGIN") || at_kw(p, KW_USER) || at_word(p, "ROLE") ||
           (at_word(p, "SERVER") && token_is_word(&next, "ROLE"));
}

static bool principal_class(struct parser *p, struct principal_stmt *x)
{
    x->what = at_word(p, "LOGIN")  ? OF_LOGIN
              : at_kw(p, KW_USER)  ? OF_USER
              : at_word(p, "ROLE") ? OF_ROLE
                                   : OF_SERVER_ROLE;
    if (x->what == OF_SERVER_ROLE && !parse_advance(p))
        return false;
    return parse_advance(p);
}

/* ---- WITH name = value, ... ---- */

static bool at_text(const struct parser *p)
{
    return p->tok.kind == TK_STRING || p->tok.kind == TK_NSTRING;
}

static bool principal_password(struct parser *p, struct principal_stmt *x)
{
    if (p->tok.kind == TK_BINARY)
        return parse_unsupported(p, "A password given as its hash");
    if (!at_text(p))
        return parse_syntax_error(p);
    x->password = p->tok.text;
    if (!parse_advance(p))
        return false;
    if (at_word(p, "MUST_CHANGE"))
        return parse_unsupported(p, "MUST_CHANGE");
    if (take_word(p, "OLD_PASSWORD")) { /* who may alter it need not know it */
        if (!need_op(p, '=') || !at_text(p))
            return parse_syntax_error(p);
        return parse_advance(p);
    }
    return !p->failed;
}

static bool principal_with_one(struct parser *p, struct principal_stmt *x)
{
    const struct {
        const char *word;
        enum principal_class what;
        const char **to; /* NULL: ON or OFF, without effect */
    } options[] = {
        {"DEFAULT_DATABASE", OF_LOGIN, &x->database},
        {"CHECK_POLICY", OF_LOGIN, NULL},
        {"CHECK_EXPIRATION", OF_LOGIN, NULL},
        {"NAME", OF_LOGIN, &x->new_name},
        {"NAME", OF_USER, &x->new_name},
        {"NAME", OF_ROLE, &x->new_name},
        {"LOGIN", OF_USER, &x->login},
        {"DEFAULT_SCHEMA", OF_USER, &x->schema},
    };

    if (x->what == OF_LOGIN && take_word(p, "PASSWORD"))
        return need_op(p, '=') && principal_password(p, x);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].what != x->what || !take_word(p, options[i].word))
            continue;
        if (!need_op(p, '='))
            return false;
        if (options[i].to == NULL)
            return take_kw(p, KW_ON) || need_kw(p, KW_OFF);
        *options[i].to = parse_identifier(p);
        return *options[i].to != NULL;
    }
    if (p->tok.kind == TK_WORD)
        return parse_unsupported(p, "This option of a principal");
    return parse_syntax_error(p);
}

static bool principal_with(struct parser *p, struct principal_stmt *x)
{
    do {
        if (!principal_with_one(p, x))
            return false;
    } while (take_op(p, ','));
    return !p->failed;
}

/* ---- what follows the name ---- */

static bool principal_create(struct parser *p, struct principal_stmt *x)
{
    if (x->what == OF_LOGIN) {
        if (at_kw(p, KW_FROM))
            return parse_unsupported(p, "CREATE LOGIN FROM");
        if (!need_kw(p, KW_WITH) || !at_word(p, "PASSWORD"))
            return parse_syntax_error(p);
        return principal_with(p, x);
    }
    if (x->what == OF_SERVER_ROLE)
        return parse_unsupported(p, "CREATE SERVER ROLE");
    if (x->what == OF_ROLE) {
        if (take_kw(p, KW_AUTHORIZATION))
            return (x->schema = parse_identifier(p)) != NULL;
        return !p->failed;
    }
    if (take_kw(p, KW_FOR) || take_kw(p, KW_FROM)) {
        if (!at_word(p, "LOGIN"))
            return parse_unsupported(p, "CREATE USER FOR other than a login");
        if (!parse_advance(p) || (x->login = parse_identifier(p)) == NULL)
            return false;
    } else if (take_word(p, "WITHOUT")) {
        x->without_login = true;
        if (!need_word(p, "LOGIN"))
            return false;
    }
    return take_kw(p, KW_WITH) ? principal_with(p, x) : !p->failed;
}

static bool principal_alter(struct parser *p, struct principal_stmt *x)
{
    bool role = x->what == OF_ROLE || x->what == OF_SERVER_ROLE;

    if (role && (at_kw(p, KW_ADD) || at_kw(p, KW_DROP))) {
        x->add_member = at_kw(p, KW_ADD);
        return parse_advance(p) && need_word(p, "MEMBER") &&
               (x->member = parse_identifier(p)) != NULL;
    }
    if (x->what == OF_LOGIN && (at_word(p, "ENABLE") || at_word(p, "DISABLE"))) {
        x->enable = at_word(p, "ENABLE");
        x->disable = !x->enable;
        return parse_advance(p);
    }
    return need_kw(p, KW_WITH) && principal_with(p, x);
}

struct stmt *parse_principal(struct parser *p, enum principal_verb verb)
{
    struct stmt *st = stmt_new(p, ST_PRINCIPAL);
    struct principal_stmt *x = NEW(p, principal_stmt);

    if (st == NULL || x == NULL || !principal_class(p, x))
        return NULL;
    st->u.principal = x;
    x->verb = verb;
    if (verb == PRINCIPAL_DROP && take_kw(p, KW_IF)) {
        x->if_exists = true;
        if (!need_kw(p, KW_EXISTS))
            return NULL;
    }
    /* public is a reserved word, and a role */
    x->name = at_kw(p, KW_PUBLIC) ? p->tok.text : NULL;
    if (x->name != NULL ? !parse_advance(p) : (x->name = parse_identifier(p)) == NULL)
        return NULL;
    if (verb == PRINCIPAL_CREATE)
        return principal_create(p, x) ? st : NULL;
    if (verb == PRINCIPAL_ALTER)
        return principal_alter(p, x) ? st : NULL;
    return p->failed ? NULL : st;
}

/* ---- GRANT, DENY, REVOKE ---- */

static bool ends_permission(const struct parser *p)
{
    return at_op(p, ',') || at_op(p, '(') || at_kw(p, KW_ON) || at_kw(p, KW_TO) ||
           at_kw(p, KW_FROM);
}

/* "CREATE TABLE": one that there is. */
static bool parse_permission(struct parser *p, enum permission *out)
{
    struct token first = p->tok;
    const char *name = "";

    while (!p->failed && !ends_permission(p)) {
        if (p->tok.kind != TK_WORD)
            return parse_syntax_error(p);
        name = arena_printf(p->arena, "%s%s%s", name, name[0] == '\0' ? "" : " ",
                            p->tok.text);
        if (name == NULL || !parse_advance(p))
            return false;
    }
    if (p->failed)
        return false;
    if (at_op(p, '('))
        return parse_unsupported(p, "A permission on columns");
    if (strcasecmp(name, "ALL") == 0 || strcasecmp(name, "ALL PRIVILEGES") == 0)
        return parse_unsupported(p, "ALL permissions");
    *out = strcasecmp(name, "EXEC") == 0 ? PERM_EXECUTE
                                         : permission_find(name, strlen(name));
    if (*out != PERM_NONE)
        return true;
    p->tok = first;
    return parse_syntax_error(p);
}

static bool parse_permissions(struct parser *p, struct grant_stmt *g)
{
    struct list l = LIST_OF(enum permission);

    do {
        enum permission one = PERM_NONE, *slot;

        if (!parse_permission(p, &one) || (slot = list_add(p, &l)) == NULL)
            return false;
        *slot = one;
    } while (take_op(p, ','));
    g->permissions = l.items;
    g->npermissions = l.n;
    return true;
}

/* [CLASS ::] name */
static bool parse_securable(struct parser *p, struct grant_stmt *g)
{
    struct token next = parse_peek(p, 1);

    g->on = true;
    if (p->tok.kind == TK_WORD && next.kind == TK_PUNCT && next.op == PUNCT2(':', ':')) {
        g->class_name = p->tok.text;
        if (!parse_advance(p) || !need_op(p, PUNCT2(':', ':')))
            return false;
    }
    return parse_name(p, &g->securable);
}

static bool at_public(const struct parser *p)
{
    return at_kw(p, KW_PUBLIC);
}

static bool parse_grantees(struct parser *p, struct grant_stmt *g)
{
    return parse_names(p, at_public, &g->grantees, &g->ngrantees);
}

struct stmt *parse_grant(struct parser *p)
{
    struct stmt *st = stmt_new(p, ST_GRANT);
    struct grant_stmt *g = NEW(p, grant_stmt);

    if (st == NULL || g == NULL)
        return NULL;
    st->u.grant = g;
    g->verb = at_kw(p, KW_GRANT)  ? VERB_GRANT
              : at_kw(p, KW_DENY) ? VERB_DENY
                                  : VERB_REVOKE;
    if (!parse_advance(p))
        return NULL;
    if (g->verb == VERB_REVOKE && take_kw(p, KW_GRANT)) {
        g->only_option = true;
        if (!need_kw(p, KW_OPTION) || !need_kw(p, KW_FOR))
            return NULL;
    }
    if (!parse_permissions(p, g) || (take_kw(p, KW_ON) && !parse_securable(p, g)))
        return NULL;
    if (!take_kw(p, KW_TO) && (g->verb != VERB_REVOKE || !take_kw(p, KW_FROM))) {
        parse_syntax_error(p);
        return NULL;
    }
    if (!parse_grantees(p, g))
        return NULL;
    if (g->verb == VERB_GRANT && take_kw(p, KW_WITH)) {
        g->with_option = true;
        if (!need_kw(p, KW_GRANT) || !need_kw(p, KW_OPTION))
            return NULL;
    }
    if (g->verb != VERB_GRANT)
        take_kw(p, KW_CASCADE);
    if (at_kw(p, KW_AS)) {
        parse_unsupported(p, "AS behind a permission");
        return NULL;
    }
    return p->failed ? NULL : st;
}
