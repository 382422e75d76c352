/* fullrack worker: one worker in the foreground, or a coordinator's child. */
#include "app/command.h"
#include "rack/worker.h"

int command_worker(struct fr_settings *s, struct fr_arguments *args, struct fr_err *err)
{
    fr_status st = FR_OK;

    (void)args;
    if (s->ipc_fd < 0)
        st = fr_settings_require_target(s, err);
    if (st == FR_OK)
        st = fr_worker_run(s, err);
    if (st != FR_OK && s->ipc_fd >= 0) {
        /* a child's reasons travel over the pipe; its coordinator says them */
        fr_err_clear(err);
        return fr_status_exit(st);
    }
    return fr_status_exit(st);
}
