#include "rack/connector.h"

#include "db/bcp.h"
#include "db/connect.h"
#include "db/dblib.h"
#include "db/statements.h"
#include "rack/encryption.h"
#include "wire/bulk.h"
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Data the server's kernel has not acknowledged for so long means a dead network path. */
enum { TCP_TIMEOUT_MS = 60000, MONITOR_TIMEOUT_MS = 10000 };
/* The server's error number for a database that is not there, or not for this login. */
enum { CANNOT_OPEN_DATABASE = 4060 };

const char *fr_settings_control_server(const struct fr_settings *s)
{
    return s->control_server != NULL ? s->control_server : s->server;
}

const char *fr_settings_control_database(const struct fr_settings *s)
{
    return s->control_database != NULL ? s->control_database : "fullrack";
}

void fr_settings_host_name(const struct fr_settings *s, char *out, size_t out_bytes)
{
    memset(out, 0, out_bytes);
    if (s->host_name != NULL)
        snprintf(out, out_bytes, "%s", s->host_name);
    else if (gethostname(out, out_bytes - 1) != 0)
        snprintf(out, out_bytes, "unknown");
}

fr_status fr_connector_prepare(const struct fr_settings *s, struct fr_err *err)
{
    struct fr_dblib_setup setup = {
        .servers = {s->server, fr_settings_control_server(s)},
        .login_timeout_s = (unsigned)s->login_timeout_s,
        .statement_timeout_s = (unsigned)s->statement_timeout_s,
        .ca_file = s->ca_file,
    };

    return fr_dblib_init(&setup, err);
}

fr_status fr_connector_init(struct fr_connector *c, const struct fr_settings *s,
                            struct fr_err *err)
{
    memset(c, 0, sizeof *c);
    c->settings = s;
    if (s->control_password_file != NULL) {
        fr_status st =
            fr_secret_read_file(s->control_password_file, &c->control_password, err);

        if (st != FR_OK)
            return st;
    }
    return fr_connector_prepare(s, err);
}

void fr_connector_free(struct fr_connector *c)
{
    fr_secret_free(&c->control_password);
}

static fr_status open_control(const struct fr_connector *c, const char *database,
                              struct fr_sql **out, struct fr_err *err)
{
    const struct fr_settings *s = c->settings;
    struct fr_connect how = {
        .server = fr_settings_control_server(s),
        .user = s->control_user != NULL ? s->control_user : s->user,
        .password = c->control_password != NULL ? c->control_password : s->password,
        .database = database,
        .application = "fullrack control",
        .session_options = fr_stmt_session_options,
        .encrypt = (enum fr_encrypt)s->encrypt,
        .ca_file = s->ca_file,
        .tcp_timeout_ms = TCP_TIMEOUT_MS,
        .login_timeout_ms = (uint32_t)s->login_timeout_s * 1000,
        .statement_timeout_ms = (uint32_t)s->statement_timeout_s * 1000,
    };

    return fr_encryption_open(&how, out, err);
}

fr_status fr_connector_control(void *ctx, struct fr_sql **out, struct fr_err *err)
{
    const struct fr_connector *c = ctx;
    const char *database = fr_settings_control_database(c->settings);
    fr_status st = open_control(c, database, out, err);

    if (st != FR_OK && err != NULL && err->server_number == CANNOT_OPEN_DATABASE)
        return fr_err_wrap(err, "control database %s (`fullrack init` makes it)",
                           database);
    return st == FR_OK ? FR_OK : fr_err_wrap(err, "control database %s", database);
}

fr_status fr_connector_control_server(const struct fr_connector *c, struct fr_sql **out,
                                      struct fr_err *err)
{
    return open_control(c, NULL, out, err);
}

static struct fr_connect target(const struct fr_connector *c, const char *database,
                                const char *application)
{
    const struct fr_settings *s = c->settings;

    return (struct fr_connect){
        .server = s->server,
        .user = s->user,
        .password = s->password,
        .database = database != NULL ? database : s->database,
        .application = application,
        .session_options = fr_stmt_session_options,
        .encrypt = (enum fr_encrypt)s->encrypt,
        .packet_bytes = (uint32_t)s->packet_bytes,
        .ca_file = s->ca_file,
        .tcp_timeout_ms = TCP_TIMEOUT_MS,
        .login_timeout_ms = (uint32_t)s->login_timeout_s * 1000,
        .statement_timeout_ms = (uint32_t)s->statement_timeout_s * 1000,
        .for_bulk = true,
    };
}

fr_status fr_connector_target(const struct fr_connector *c, const char *database,
                              const char *application, struct fr_sql **out,
                              struct fr_err *err)
{
    struct fr_connect how = target(c, database, application);

    return fr_encryption_open(&how, out, err);
}

const struct fr_bulk_engine *fr_connector_engine(const struct fr_connector *c,
                                                 int64_t choice, char *why,
                                                 size_t why_bytes)
{
    struct fr_connect how = target(c, NULL, "");

    why[0] = '\0';
    if (choice == FR_ENGINE_BCP)
        return &fr_bcp_engine;
    if (choice == FR_ENGINE_WIRE)
        return &fr_wire_engine;
    if (fr_dblib_is_conf_name(c->settings->server)) {
        snprintf(why, why_bytes, "%s is a name of freetds.conf", c->settings->server);
        return &fr_bcp_engine;
    }
    return fr_wire_can_open(&how, why, why_bytes) ? &fr_wire_engine : &fr_bcp_engine;
}

static fr_status open_by_engine(const struct fr_connect *how,
                                const struct fr_bulk_engine *engine, struct fr_sql **out,
                                struct fr_err *err)
{
    struct fr_connect there = *how;
    char address[512];

    if (engine != &fr_wire_engine)
        return fr_encryption_open(how, out, err);
    *out = NULL;
    if (fr_dblib_is_conf_name(how->server)) {
        if (!fr_dblib_address(how->server, address, sizeof address))
            return fr_err_set(err, FR_EARG,
                              "--engine wire: %s is a name of freetds.conf, and its "
                              "section gives no host and port",
                              how->server);
        there.server = address;
    }
    return fr_wire_open(&there, out, err);
}

fr_status fr_connector_load(const struct fr_connector *c,
                            const struct fr_bulk_engine *engine, const char *database,
                            struct fr_sql **out, struct fr_err *err)
{
    struct fr_connect how = target(c, database, "fullrack worker");

    return open_by_engine(&how, engine, out, err);
}

fr_status fr_connector_phase(const struct fr_connector *c,
                             const struct fr_bulk_engine *engine, const char *database,
                             struct fr_sql **out, struct fr_err *err)
{
    struct fr_connect how = target(c, database, "fullrack phase");

    how.statement_timeout_ms = (uint32_t)c->settings->phase_timeout_s * 1000;
    how.is_patient = true;
    how.for_bulk = false;
    return open_by_engine(&how, engine, out, err);
}

fr_status fr_connector_monitor(const struct fr_connector *c, struct fr_sql **out,
                               struct fr_err *err)
{
    struct fr_connect how = target(c, NULL, "fullrack monitor");

    if (how.statement_timeout_ms == 0 || how.statement_timeout_ms > MONITOR_TIMEOUT_MS)
        how.statement_timeout_ms = MONITOR_TIMEOUT_MS;
    how.for_bulk = false;
    return fr_encryption_open(&how, out, err);
}

bool fr_connector_is_encrypted(const struct fr_bulk_engine *engine,
                               const struct fr_sql *session)
{
    return engine == &fr_wire_engine ? fr_wire_is_encrypted(session)
                                     : fr_connect_is_encrypted(session);
}

bool fr_connector_is_local(const struct fr_connector *c)
{
    char address[512];

    return fr_wire_is_loopback(
        fr_dblib_address(c->settings->server, address, sizeof address)
            ? address
            : c->settings->server);
}
