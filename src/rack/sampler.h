/*
 * sampler.h - what a run did in each few seconds: the workers' rows and bytes, this
 * machine, the server's waits, latches, files and schedulers.
 *
 * Looks on the coordinator's loop, asks servers and writes on one of libuv's threads, one
 * job at a time.  What is written is differences, so that the sum over all looks is what
 * the whole run did; a write that fails goes with the next one.
 */
#ifndef FR_RACK_SAMPLER_H
#define FR_RACK_SAMPLER_H

#include "rack/coordinator_priv.h"

/* In front of all else of a run: FR_EARG when --sample-file cannot be written. */
fr_status sampler_open(struct coordinator *c, struct fr_err *err);
/* Looks every --sample seconds from now on; does nothing where none are wanted. */
void sampler_start(struct coordinator *c);
/* On the loop: no more looks; a job under way ends by itself. */
void sampler_close(struct coordinator *c);
/* After the loop: the last look, with the tasks' last word.  Writes nothing a second
 * time. */
void sampler_finish(struct coordinator *c);
void sampler_free(struct coordinator *c);

#endif
