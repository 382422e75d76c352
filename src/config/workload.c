#include "config/workload.h"

static fr_status settle_join(const struct fr_settings *s, size_t paths,
                             struct fr_err *err)
{
    if (paths > 0 || s->loops >= 0 || s->duration_s > 0 || s->power_run || s->no_start)
        return fr_err_set(err, FR_EARG,
                          "--run-id joins a workload, whose queries and length are those "
                          "it was begun with");
    return FR_OK;
}

static fr_status settle_power_run(struct fr_settings *s, struct fr_err *err)
{
    if (s->workers > 1 || s->loops != 1 || s->duration_s > 0)
        return fr_err_set(err, FR_EARG,
                          "--power-run is one session, once through: not with more "
                          "--workers, --loop or --duration");
    s->workers = 1;
    return FR_OK;
}

fr_status fr_workload_settle(struct fr_settings *s, size_t paths, struct fr_err *err)
{
    if (s->rate > 0)
        return fr_err_set(err, FR_EARG, "--rate is of loads, a workload has none");
    if (s->run_id > 0)
        return settle_join(s, paths, err);
    if (paths == 0)
        return fr_err_set(err, FR_EARG,
                          "workload needs PATH... (try fullrack workload --help)");
    if (s->loops < 0)
        s->loops = s->duration_s > 0 ? 0 : 1;
    if (s->loops == 0 && s->duration_s == 0)
        return fr_err_set(err, FR_EARG, "--loop 0 goes on until --duration ends it");
    return s->power_run ? settle_power_run(s, err) : FR_OK;
}
