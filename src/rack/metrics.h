/*
 * metrics.h - a run's figures as a text file for Prometheus' node exporter
 * (--metrics-file), replaced at once by each look.
 */
#ifndef FR_RACK_METRICS_H
#define FR_RACK_METRICS_H

#include "rack/coordinator_priv.h"

/* Nothing where no file is wanted; one that cannot be written is told of once. */
void metrics_write(struct coordinator *c);

#endif
