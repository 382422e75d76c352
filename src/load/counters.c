#include "load/counters.h"

#include "db/statements.h"

#include <stdio.h>

bool fr_counters_read(struct fr_sql *s, struct fr_counters *out)
{
    struct fr_sql_one one = {0};

    *out = (struct fr_counters){-1, -1, -1, -1, ""};
    if (fr_sql_run(s, fr_stmt_session_counters, fr_sql_take_one, &one, NULL) != FR_OK ||
        !one.found)
        return false;
    out->cpu_ms = fr_sql_one_i64(&one, 0, -1);
    out->reads = fr_sql_one_i64(&one, 1, -1);
    out->writes = fr_sql_one_i64(&one, 2, -1);
    out->logical_reads = fr_sql_one_i64(&one, 3, -1);
    if (one.columns > 4 && one.values[4] != NULL)
        snprintf(out->login_time, sizeof out->login_time, "%s", one.values[4]);
    return true;
}

static int64_t since(int64_t before, int64_t after)
{
    return before < 0 || after < 0 ? -1 : after - before;
}

void fr_counters_since(struct fr_sql *s, struct fr_counters *at,
                       struct fr_counters *spent)
{
    struct fr_counters before = *at;

    (void)fr_counters_read(s, at);
    *spent = *at;
    spent->cpu_ms = since(before.cpu_ms, at->cpu_ms);
    spent->reads = since(before.reads, at->reads);
    spent->writes = since(before.writes, at->writes);
    spent->logical_reads = since(before.logical_reads, at->logical_reads);
}
