/*
 * clarke.h - the parts of `yoke reproduce clarke`.
 */
#ifndef TOOL_REPRODUCE_CLARKE_H
#define TOOL_REPRODUCE_CLARKE_H

#include "reproduce/report.h"

/* Partitions by functional performance models, one dimension: oracles A to D. */
yoke_status clarke_partitions(reproduce_report *report);

/* Column-based arrangements. */
yoke_status clarke_columns(reproduce_report *report);

#endif
