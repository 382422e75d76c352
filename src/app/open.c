#include "app/open.h"

#include <stdio.h>
#include <string.h>

fr_status open_settings(struct fr_settings *s, struct fr_err *err)
{
    fr_status st = fr_settings_require_target(s, err);

    return st == FR_OK ? fr_settings_find_password(s, err) : st;
}

fr_status open_connector(struct fr_settings *s, struct fr_connector *c,
                         struct fr_err *err)
{
    fr_status st;

    memset(c, 0, sizeof *c);
    st = open_settings(s, err);
    return st == FR_OK ? fr_connector_init(c, s, err) : st;
}

fr_status open_control(struct fr_settings *s, struct fr_connector *c,
                       struct fr_control **out, struct fr_err *err)
{
    fr_status st = open_connector(s, c, err);

    *out = NULL;
    return st == FR_OK ? fr_control_open(fr_connector_control, c, out, err) : st;
}

fr_status open_task_target(const struct fr_connector *c, const struct fr_queued_task *t,
                           struct task_target *out, struct fr_err *err)
{
    const char *database = t->database[0] == '\0' ? NULL : t->database;

    if (strcmp(t->server, c->settings->server) != 0)
        return fr_err_set(err, FR_EARG,
                          "task %lld belongs to the server %s: give it with -S",
                          (long long)t->task_id, t->server);
    if (out->session != NULL && !out->session->lost &&
        strcmp(out->database, t->database) == 0)
        return FR_OK;
    fr_sql_close(&out->session);
    snprintf(out->database, sizeof out->database, "%s", t->database);
    return fr_connector_target(c, database, "fullrack admin", &out->session, err);
}
