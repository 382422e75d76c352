/* open.h - from settings to connections, as every command begins. */
#ifndef FR_APP_OPEN_H
#define FR_APP_OPEN_H

#include "control/admin.h"
#include "rack/connector.h"

/* Server and login are given, the password is found; FR_EARG says what is missing. */
fr_status open_settings(struct fr_settings *s, struct fr_err *err);
/* As above, then db-lib is ready to connect.  fr_connector_free(c) in every case. */
fr_status open_connector(struct fr_settings *s, struct fr_connector *c,
                         struct fr_err *err);
/* As above, then the control database is open.  Also fr_control_close(). */
fr_status open_control(struct fr_settings *s, struct fr_connector *c,
                       struct fr_control **out, struct fr_err *err);

/* A session in the database of one task after the other, zeroed at first. */
struct task_target {
    struct fr_sql *session; /* owned: fr_sql_close() */
    char database[300];
};
/* FR_EARG: the task is another server's. */
fr_status open_task_target(const struct fr_connector *c, const struct fr_queued_task *t,
                           struct task_target *out, struct fr_err *err);

#endif
