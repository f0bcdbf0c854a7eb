/*
 * program.h - the linear program of a node: declarations for its construction and for reading its solution.
 */
#ifndef YOKE_PLAN_ROUND_PROGRAM_H
#define YOKE_PLAN_ROUND_PROGRAM_H

#include "plan/round/round.h"

/*
 * The program's own columns: the seconds of each line, those without a host, the surplus parts of a group, T above its least value, and T
 * above its largest value.
 */
typedef struct own_columns {
    int lines[PLAN_MAX_PHASES + 1], hosts[PLAN_MAX_PHASES + 1], groups[PLAN_MAX_PHASES + PLAN_MAX_CUTS], longer, too_long;
} own_columns;

/* The program of a node: its rows, units, and objective. */
typedef struct node_program {
    round_search *search;
    const round_node *node;
    round_prices *prices; /* the best so far; at first those of the previous node */
    int devices, groups, lines, rows;
    int devices_at, groups_at, least_at, most_at, hosts_at; /* rows */
    int joules;                                             /* nonzero: joules of the objective; zero: of T */
    double second, falling;                                 /* cost of a second of T; the part of it that is not in the objective */
    double second_unit, cost_unit;                          /* units of the program */
    double bound;                                           /* best so far, of second T + joules */
    own_columns own;
} node_program;

/* Nonzero: parts of the group have a cost. */
static inline int is_used(const round_search *search, int g) { return search->groups[g].total > 0 && search->groups[g].num_terms > 0; }

/* The numbers of a state: see round_state. */
static inline double *numbers_of(const round_search *search, int state) { return search->numbers + (int64_t)state * search->state_size; }

/* solution.c: writes the solution's means to `relaxed`, with their difference to whole choices. */
void round_take_solution(node_program *p);

#endif
