#include "app/open.h"

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
