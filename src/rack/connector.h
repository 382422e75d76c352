/*
 * connector.h - from settings to open connections: the target's and the control
 * database's.
 *
 * Read-only after fr_connector_init(), any thread.
 */
#ifndef FR_RACK_CONNECTOR_H
#define FR_RACK_CONNECTOR_H

#include "config/settings.h"
#include "base/bulk.h"
#include "control/control.h"

struct fr_connector {
    const struct fr_settings *settings; /* borrowed */
    struct fr_secret *control_password; /* owned; NULL = the target's */
};

/* Prepare db-lib for the servers of the settings, before any thread.  Again for the same
 * servers, also in a forked process, it is nothing. */
fr_status fr_connector_prepare(const struct fr_settings *s, struct fr_err *err);
/* With fr_connector_prepare(). */
fr_status fr_connector_init(struct fr_connector *c, const struct fr_settings *s,
                            struct fr_err *err);
void fr_connector_free(struct fr_connector *c);

/* database NULL = the settings'.  The application name tells the server's views what this
 * session is. */
fr_status fr_connector_target(const struct fr_connector *c, const char *database,
                              const char *application, struct fr_sql **out,
                              struct fr_err *err);
/*
 * The bulk engine for that choice (enum fr_engine_choice).  auto is the wire engine,
 * unless its client cannot log in here; why says so then, else it is "".
 */
const struct fr_bulk_engine *fr_connector_engine(const struct fr_connector *c,
                                                 int64_t choice, char *why,
                                                 size_t why_bytes);
/* As fr_connector_target(), by the client that the engine works over. */
fr_status fr_connector_load(const struct fr_connector *c,
                            const struct fr_bulk_engine *engine, const char *database,
                            struct fr_sql **out, struct fr_err *err);
/* The same for a phase: by its own time-out, and with an application name of its own. */
fr_status fr_connector_phase(const struct fr_connector *c,
                             const struct fr_bulk_engine *engine, const char *database,
                             struct fr_sql **out, struct fr_err *err);
/* To look at the server itself: what takes longer than a few seconds is given up. */
fr_status fr_connector_monitor(const struct fr_connector *c, struct fr_sql **out,
                               struct fr_err *err);
/* For its sessions: all that is sent is encrypted, not the login alone. */
bool fr_connector_is_encrypted(const struct fr_bulk_engine *engine,
                               const struct fr_sql *session);
/* True when the target is on this machine. */
bool fr_connector_is_local(const struct fr_connector *c);
/* Same signature as fr_control_connect_fn: ctx is a struct fr_connector. */
fr_status fr_connector_control(void *ctx, struct fr_sql **out, struct fr_err *err);
/* A connection to the control *server*, in its default database: for init. */
fr_status fr_connector_control_server(const struct fr_connector *c, struct fr_sql **out,
                                      struct fr_err *err);

const char *fr_settings_control_server(const struct fr_settings *s);
const char *fr_settings_control_database(const struct fr_settings *s);
/* --host-name, else the machine's; cut to what fits. */
void fr_settings_host_name(const struct fr_settings *s, char *out, size_t out_bytes);

#endif
