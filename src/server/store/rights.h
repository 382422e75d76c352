/*
 * rights.h - what a session's login may do in a database.
 *
 * The login that --user names and the members of sysadmin may do all.  Anybody else is in
 * a database its user there, or guest; what it may do follows from its permissions and
 * those of its roles, and of public: something is allowed when it, or what implies it, is
 * granted to one of them and neither is denied to any.  Used by the session's own thread.
 */
#ifndef FRD_STORE_RIGHTS_H
#define FRD_STORE_RIGHTS_H

#include "server/store/handle.h"
#include "server/store/principal.h"

struct rights; /* opaque */

struct securable {
    enum perm_class where;
    int32_t object_id; /* CLASS_OBJECT */
    bool procedure;    /* the object is one: rights_any() */
    int32_t schema_id; /* CLASS_OBJECT, CLASS_SCHEMA */
};

/* NULL and e on failure.  Valid until the session asks for the same database again, or
 * ends. */
const struct rights *session_rights(struct session *s, struct database *db,
                                    struct sqlerr *e);
void rights_free(struct rights **rp); /* accepts &NULL */

bool rights_all(const struct rights *r);
/* Whether the database may be used at all. */
bool rights_enter(const struct rights *r);
bool rights_have(const struct rights *r, const struct securable *x, enum permission p);
/* Anything at all. */
bool rights_any(const struct rights *r, const struct securable *x);
bool rights_on_object(const struct rights *r, const struct cat_object *o,
                      enum permission p);
bool rights_on_schema(const struct rights *r, int32_t schema_id, enum permission p);
bool rights_on_database(const struct rights *r, enum permission p);
bool rights_on_server(const struct rights *r, enum permission p);
/* Whether the object is there for the session: it may do something with it.  A constraint
 * is, where its table is. */
bool rights_see(const struct rights *r, const struct catalog *c,
                const struct cat_object *o);
bool rights_see_schema(const struct rights *r, int32_t schema_id);

/* Who the session is in the database, and on the server (0: its login is gone). */
int32_t rights_user_id(const struct rights *r);
const char *rights_user_name(const struct rights *r);
int32_t rights_login_id(const struct rights *r);
const unsigned char *rights_login_sid(const struct rights *r); /* NULL: sa */
/* Whether it may give the permission to others. */
bool rights_may_grant(const struct rights *r, const struct securable *x,
                      enum permission p);
/* Of a role of the database or the server, through others too; of itself. */
bool rights_is(const struct rights *r, int32_t principal_id);
bool rights_is_server(const struct rights *r, int32_t principal_id);

/* A database that the session may use; NULL: 911 there is none, 916 it may not. */
struct database *session_find_database(struct session *s, const char *name,
                                       struct sqlerr *e);

#endif
