/* Claims of rows of scheduler_use. */
#include "control/control_priv.h"

#include <stdio.h>

fr_status fr_scheduler_claim(struct fr_control *c, const struct fr_worker_id *w,
                             int scheduler_id, int spid, int64_t lease_s,
                             struct fr_claim *claim, struct fr_err *err)
{
    char token[FR_GUID_TEXT_BYTES];
    struct fr_sql_param params[] = {
        fr_sql_in_or_null("@scheduler_id", FR_SQL_INT, scheduler_id),
        fr_sql_in_i64("@run_id", w->run_id),
        fr_sql_in_text("@worker", w->name),
        fr_sql_in_text("@host", w->host),
        fr_sql_in_int("@spid", spid),
        fr_sql_in_guid("@claim_token", token),
        fr_sql_in_int("@lease_seconds", lease_s),
        fr_sql_out("@claimed_id", FR_SQL_INT),
    };
    fr_status st;

    fr_guid_new(token);
    st = control_call(c, "dbo.sp_claim_scheduler", params, COUNT_OF(params), err);
    if (st != FR_OK)
        return st;
    if (params[7].is_null)
        return FR_EMPTY;
    snprintf(claim->token, sizeof claim->token, "%s", token);
    claim->scheduler_id = (int)params[7].number;
    claim->pinned = scheduler_id >= 0;
    return FR_OK;
}

fr_status fr_scheduler_renew(struct fr_control *c, const struct fr_claim *claim,
                             int64_t lease_s, bool *alive, struct fr_err *err)
{
    struct fr_sql_param params[] = {
        fr_sql_in_guid("@claim_token", claim->token),
        fr_sql_in_int("@lease_seconds", lease_s),
        fr_sql_out("@alive", FR_SQL_BIT),
    };
    fr_status st =
        control_call(c, "dbo.sp_renew_scheduler", params, COUNT_OF(params), err);

    *alive = st == FR_OK && !params[2].is_null && params[2].number != 0;
    return st;
}

fr_status fr_scheduler_release(struct fr_control *c, struct fr_claim *claim,
                               struct fr_err *err)
{
    struct fr_sql_param params[] = {fr_sql_in_guid("@claim_token", claim->token)};
    fr_status st = FR_OK;

    if (claim->token[0] != '\0')
        st = control_call(c, "dbo.sp_release_scheduler", params, COUNT_OF(params), err);
    if (st == FR_OK)
        claim->token[0] = '\0';
    return st;
}

fr_status fr_scheduler_count_free(struct fr_control *c, int64_t *out, struct fr_err *err)
{
    struct fr_sql_one one = {0};
    fr_status st = fr_control_run(c,
                                  "SELECT COUNT(*) FROM dbo.scheduler_use WHERE "
                                  "claim_token IS NULL OR lease_until < SYSUTCDATETIME()",
                                  NULL, 0, fr_sql_take_one, &one, err);

    *out = fr_sql_one_i64(&one, 0, 0);
    return st;
}
