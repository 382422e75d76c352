/*
 * schedulers.h - placing connections and requests on schedulers.
 *
 * As SQL Server does it: a connection gets a preferred scheduler, the least loaded one,
 * round robin among equals; every request is placed anew and moves where the preferred
 * one carries clearly more than the others.  What counts as load is a request that has
 * been running for a while (schedulers_settle()): a worker shall not be moved by
 * somebody's short question.  A scheduler is a count here, not a thread: the operating
 * system runs the sessions.  Thread-safe; no other mutex is taken while this one is held.
 */
#ifndef FRD_NET_SCHEDULERS_H
#define FRD_NET_SCHEDULERS_H

#include "server/net/server.h"

struct schedulers; /* opaque */

struct schedulers *schedulers_new(int n); /* NULL: out of memory */
void schedulers_free(struct schedulers **sp);

int schedulers_connect(struct schedulers *s);
void schedulers_disconnect(struct schedulers *s, int preferred);
/* Returns the scheduler that runs the request. */
int schedulers_begin(struct schedulers *s, int preferred);
/* The request there has become a load. */
void schedulers_settle(struct schedulers *s, int scheduler);
void schedulers_end(struct schedulers *s, int scheduler, bool settled, int64_t cpu_us);
size_t schedulers_info(struct schedulers *s, struct scheduler_info *out, size_t max);

#endif
