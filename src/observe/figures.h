/*
 * figures.h - what people want to know of a server's counters: rates, averages, shares.
 *
 * Formulas only, without a connection.  Figures that cannot be known (nothing was read, a
 * server that does not tell its start) are null.  GB are 10^9 bytes.
 */
#ifndef FR_OBSERVE_FIGURES_H
#define FR_OBSERVE_FIGURES_H

#include "observe/reading.h"

#include <jansson.h>

extern const struct fr_reading_kind fr_files_kind;
extern const struct fr_reading_kind fr_waits_kind;
extern const struct fr_reading_kind fr_latches_kind;

/*
 * One object a database file, those with the most bytes first: database, file, path,
 * gb_read, gb_written, gb_read_per_day, gb_written_per_day, read_stall_ms,
 * write_stall_ms, stall_ms (averages of one read, one write, one of either), reads,
 * writes, size_gb, is_new.  NULL: no memory.
 */
json_t *fr_files_figures(const struct fr_reading *r);

/*
 * One object a wait type (latch class), those with the most time first, `top` of them (0
 * = all): name, share (of the time of all that are not left out), wait_ms, waits,
 * average_ms, and of waits signal_ms (on the runnable queue) and its share of the wait.
 * Waits that are no waiting (idle background tasks) are left out; their names that have
 * any time go to left_out, an array (NULL = not wanted).  NULL: no memory.
 */
json_t *fr_waits_figures(const struct fr_reading *r, size_t top, json_t *left_out);
/* Wait types that are left out: idle tasks, timers, queues that wait for work. */
bool fr_wait_is_idle(const char *wait_type);

#endif
