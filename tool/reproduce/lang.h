/*
 * lang.h - Lang and Ruenger 2013 (ICCS), 2014 (JPDC), and Lang's dissertation (2014): the conjugate gradient method of a finite element
 * program shared by processor and GPU.  Energies here are in uJ of an element and iteration, times in us.
 */
#ifndef TOOL_REPRODUCE_LANG_H
#define TOOL_REPRODUCE_LANG_H

#include "reproduce/pair.h"

/* A row that is compared with a printed number, or with nothing; members are in the order in which tables of rows are written. */
typedef struct lang_entry {
    const char *id, *part, *what, *unit;
    double published, recomputed, absolute, relative;
    reproduce_kind kind;
    const char *because; /* reason of the tolerance; if the row is not compared, its reason */
    const char *by;
    reproduce_status status;
    const char *remark;
} lang_entry;

void lang_add(reproduce_report *report, int count, const lang_entry *entries);

/* JPDC, Table 2, and the times of sections 3.3 and 3.7. */
extern const struct lang_sandybridge {
    double E_el_cpu, E_el_dram, E_el_gpu, E_el_copy; /* uJ */
    double P_idle_cpu, P_idle_dram, P_idle_gpu;      /* W */
    double t_el_gpu, t_el_cpu, t_el_copy;            /* us; of the whole processor */
    double l;                                        /* iterations */
    double threads;
} lang_sandybridge;

/* Sections of the papers. */
yoke_status lang_model(reproduce_report *report);
yoke_status lang_shares(reproduce_report *report);
yoke_status lang_strategies(reproduce_report *report);
yoke_status lang_iccs(reproduce_report *report);
void lang_misprints(reproduce_report *report);

#endif
