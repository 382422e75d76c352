#include "base/task_kind.h"

#include <string.h>

static const struct fr_task_kind kinds[] = {
    {.name = FR_KIND_LOAD,
     .is_load = true,
     .reads_here = true,
     .has_ledger = true,
     .effect = "loaded"},
    {.name = FR_KIND_BULK_INSERT,
     .is_load = true,
     .has_ledger = true,
     .effect = "loaded"},
    {.name = FR_KIND_QUERY, .has_table = true, .effect = "changed", .sum = FR_SUM_PHASES},
    {.name = FR_KIND_BACKUP, .sum = FR_SUM_BACKUPS},
    {.name = FR_KIND_BRING_IN,
     .has_ledger = true,
     .has_table = true,
     .effect = "brought in",
     .sum = FR_SUM_BRING_INS},
};

static const struct fr_task_kind unknown = {
    .name = "unknown", .has_table = true, .sum = FR_SUM_PHASES};

const struct fr_task_kind *fr_task_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return &unknown;
}

const struct fr_task_kind *fr_task_kinds(size_t *count)
{
    *count = sizeof kinds / sizeof kinds[0];
    return kinds;
}
