#include "model/cases.h"

#include "db/statements.h"

#include <stdio.h>
#include <string.h>

const struct model_config model_configs[] = {
    {"two loads without a queue", {ACTOR_LOAD, ACTOR_LOAD}, 0, 2},
    {"two workers, reset", {ACTOR_WORKER, ACTOR_WORKER, ACTOR_RESET}, 3, 2},
    {"two workers, two resets",
     {ACTOR_WORKER, ACTOR_WORKER, ACTOR_RESET, ACTOR_RESET},
     2,
     0},
    {"two workers, reset, cancel",
     {ACTOR_WORKER, ACTOR_WORKER, ACTOR_RESET, ACTOR_CANCEL},
     2,
     1},
    {"two workers, reset, purge",
     {ACTOR_WORKER, ACTOR_WORKER, ACTOR_RESET, ACTOR_PURGE},
     2,
     1},
    {"two workers, cancel, purge",
     {ACTOR_WORKER, ACTOR_WORKER, ACTOR_CANCEL, ACTOR_PURGE},
     2,
     1},
    {.name = NULL},
};

#define STEP_EPOCH                                                                       \
    {                                                                                    \
        "AND epoch = @epoch", "", false                                                  \
    }
#define STEP_OFFSET                                                                      \
    {                                                                                    \
        "AND next_offset = @from_offset", "", false                                      \
    }
#define STEP_OPEN                                                                        \
    {                                                                                    \
        "@from_offset\n  AND state = 'open'", "@from_offset", false                      \
    }
#define STEP_MOVED                                                                       \
    {                                                                                    \
        "IF @moved = 1 AND", "IF", false                                                 \
    }
#define NEWER_OWNER                                                                      \
    {                                                                                    \
        "AND epoch < @epoch AND", "AND", false                                           \
    }
#define NEXT_EPOCH                                                                       \
    {                                                                                    \
        "epoch = epoch + 1", "epoch = epoch + 0", false                                  \
    }

const struct model_mutation model_mutations[] = {
    {.name = "as it is"},
    {.name = "the step does not compare epoch and offset",
     .change = {.edits = {STEP_EPOCH, STEP_OFFSET}},
     .is_harmful = true,
     .rows_only = true},
    {.name = "the step does not compare the epoch",
     .change = {.edits = {STEP_EPOCH}},
     .is_harmful = true},
    {.name = "the step does not compare the epoch (rows only)",
     .change = {.edits = {STEP_EPOCH}},
     .rows_only = true},
    {.name = "the step does not compare the offset", .change = {.edits = {STEP_OFFSET}}},
    {.name = "a batch is repeated from memory", .habits = {.goes_on_from_memory = true}},
    {.name = "a batch is repeated from memory, and the step does not compare the offset",
     .change = {.edits = {STEP_OFFSET}},
     .habits = {.goes_on_from_memory = true},
     .is_harmful = true,
     .rows_only = true},
    {.name = "the step moves a closed head",
     .change = {.edits = {STEP_OPEN}},
     .is_harmful = true},
    {.name = "the step commits whatever the head says",
     .change = {.edits = {STEP_MOVED}},
     .is_harmful = true,
     .rows_only = true},
    {.name = "the take-over does not look for a newer owner",
     .change = {.edits = {NEWER_OWNER}},
     .is_harmful = true},
    {.name = "a resume leaves the epoch as it is", .change = {.edits = {NEXT_EPOCH}}},
    {.name =
         "a resume leaves the epoch as it is, and the step does not compare the offset",
     .change = {.edits = {NEXT_EPOCH, STEP_OFFSET}},
     .is_harmful = true,
     .rows_only = true},
    {.name = "closing makes no tombstone",
     .change = {.no_tombstone = true},
     .is_harmful = true},
    {.name = "reset, cancel and purge do not close the head",
     .habits = {.never_closes = true},
     .is_harmful = true},
    {.name = "reset and cancel do not compare the load id",
     .control = {.changes_any_load = true},
     .is_harmful = true},
    {.name = "reset and cancel take a claimed task for an unclaimed one",
     .control = {.changes_claimed = true},
     .is_harmful = true},
    {.name = "the end of work does not compare the token",
     .control = {.ends_any_token = true},
     .is_harmful = true},
    {.name = "a worker does not look at its lease again",
     .habits = {.no_second_look = true}},
    {.name = NULL},
};

/* The conditions of the control database's procedures, which model/actors.c follows: a
 * task that waits for others is to it as one that is ready and that nobody takes. */
static const struct {
    const char *procedure, *condition;
} conditions[] = {
    {"sp_renew_lease",
     "WHERE task_id = @task_id AND lease_token = @lease_token AND state = 'active';"},
    {"sp_end_work", "WHERE task_id = @task_id AND lease_token = @lease_token AND state "
                    "IN ('active', 'done');"},
    {"sp_fail_work",
     "WHERE task_id = @task_id AND lease_token = @lease_token AND state = 'active';"},
    {"sp_reset_work", "WHERE task_id = @task_id AND load_id = @load_id AND (@unclaimed = "
                      "0 OR epoch = 0);"},
    {"sp_cancel_work", "WHERE task_id = @task_id AND load_id = @load_id AND state IN "
                       "('waiting', 'ready', 'active', 'failed')\n"
                       "      AND (@unclaimed = 0 OR epoch = 0);"},
    {"sp_forget_work", "WHERE task_id = @task_id AND load_id = @load_id AND state IN "
                       "('done', 'failed', 'cancelled', 'skipped')\n"},
    {"sp_get_work", "epoch = epoch + 1,"},
    {"sp_get_work", "lease_token = NEWID(),"},
    {"sp_reset_work", "lease_token = NULL,"},
};

bool model_follows_procedures(void)
{
    bool all = true;

    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        char begin[80];
        const char *at, *end;

        snprintf(begin, sizeof begin, "CREATE PROCEDURE dbo.%s\n",
                 conditions[i].procedure);
        at = strstr(fr_script_control_procedures, begin);
        if (at == NULL)
            at = strstr(fr_script_control_admin, begin);
        end = at == NULL ? NULL : strstr(at, "\nGO\n");
        at = at == NULL ? NULL : strstr(at, conditions[i].condition);
        if (at != NULL && at < end)
            continue;
        all = false;
        printf("FAIL %s has changed; the model follows \"%s\"\n", conditions[i].procedure,
               conditions[i].condition);
    }
    return all;
}
