/*
 * program.h - the linear program of a node: what making it and reading its solution share.
 */
#ifndef YOKE_PLAN_ROUND_PROGRAM_H
#define YOKE_PLAN_ROUND_PROGRAM_H

#include "plan/round/round.h"

/* The program's own columns: each line's seconds, those without a host, parts too many of a group, T above its least, and above its most. */
typedef struct own_columns {
    int lines[PLAN_MAX_PHASES + 1], hosts[PLAN_MAX_PHASES + 1], groups[PLAN_MAX_PHASES + PLAN_MAX_CUTS], longer, too_long;
} own_columns;

/* The program of a node: its rows, units, and what is to be least. */
typedef struct node_program {
    round_search *search;
    const round_node *node;
    round_prices *prices; /* the best so far; at first those of the node before */
    int devices, groups, lines, rows;
    int devices_at, groups_at, least_at, most_at, hosts_at; /* rows */
    int joules;                                             /* nonzero: of the objective; zero: of T */
    double second, falling;                                 /* what a second of T costs; how much of it is not in the objective */
    double second_unit, cost_unit;                          /* the program's */
    double bound;                                           /* best so far, of second T + joules */
    own_columns own;
} node_program;

/* Nonzero where parts of the group cost anything. */
static inline int is_used(const round_search *search, int g) { return search->groups[g].total > 0 && search->groups[g].num_terms > 0; }

/* Of a state: see round_state. */
static inline double *numbers_of(const round_search *search, int state) { return search->numbers + (int64_t)state * search->state_size; }

/* solution.c: the solution's means go to `relaxed`, with what they are less than whole choices. */
void round_take_solution(node_program *p);

#endif
