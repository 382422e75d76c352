/*
 * queries.h - a query workload in the coordinator, for rack/ only.
 *
 * Everything here is nothing where the run is none of a workload.  The loop's thread.
 */
#ifndef FR_RACK_QUERIES_H
#define FR_RACK_QUERIES_H

#include "rack/coordinator_priv.h"

/* After the run was begun or joined: the workload is written down, or looked for. */
fr_status queries_open(struct coordinator *c, struct fr_err *err);
void queries_start(struct coordinator *c); /* the loop is open */
void queries_close(struct coordinator *c); /* its handles */
void queries_free(struct coordinator *c);
/* A session tells what an execution came to. */
void queries_on_end(struct child *child, json_t *message);
/* The loop is over: the run is ended, *exit_status is the command's. */
void queries_end(struct coordinator *c, int *exit_status);

#endif
