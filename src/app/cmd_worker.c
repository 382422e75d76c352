/* fullrack worker: one worker in the foreground. */
#include "app/command.h"
#include "rack/worker.h"

int command_worker(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    fr_status st = fr_settings_require_target(s, err);

    (void)args;
    if (st == FR_OK)
        st = fr_worker_run(s, -1, err);
    return fr_status_exit(st);
}
