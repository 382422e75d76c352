#include "load/loader.h"

/*
 * What SQL Server's documentation calls transient ("Database Engine events and errors";
 * Azure SQL's "Troubleshoot transient connection errors"; "Retry logic for transactions
 * on memory-optimized tables"; availability groups' 976 and 983), and what a fresh
 * connection cures.
 */
static const struct {
    int32_t number;
    const char *why;
} retryable[] = {
    {1205, "deadlock victim"},
    {1204, "no lock to be had"},
    {1222, "lock time-out"},
    {701, "out of memory"},
    {8645, "no memory grant in time"},
    {3960, "snapshot conflict"},
    {4891, "the schema changed during the insert bulk"},
    {41302, "memory-optimized: update conflict"},
    {41305, "memory-optimized: repeatable read"},
    {41325, "memory-optimized: serializable"},
    {40197, "Azure: reconfiguration"},
    {40501, "Azure: service busy"},
    {40613, "Azure: database not available now"},
    {49918, "Azure: not enough resources"},
    {49919, "Azure: too many create or update operations"},
    {49920, "Azure: too many operations"},
    {976, "availability group: not the primary now"},
    {983, "availability group: role is changing"},
};

static const int32_t storage_full[] = {
    1105, /* no space for an object in its filegroup */
    9002, /* the transaction log is full */
};

bool fr_error_is_storage_full(const struct fr_err *err)
{
    for (size_t i = 0; i < sizeof storage_full / sizeof storage_full[0]; i++)
        if (err->server_number == storage_full[i])
            return true;
    return false;
}

bool fr_error_is_retryable(const struct fr_err *err)
{
    if (err->status == FR_ELOST || err->status == FR_ECONNECT)
        return true;
    for (size_t i = 0; i < sizeof retryable / sizeof retryable[0]; i++)
        if (err->server_number == retryable[i].number)
            return true;
    return false;
}
