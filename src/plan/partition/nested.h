/*
 * nested.h - the two levels of yoke_plan_nested: partial models of devices and nodes, and the partition of one node's columns among its
 * devices (IDPA).
 */
#ifndef YOKE_PLAN_NESTED_H
#define YOKE_PLAN_NESTED_H

#include <stdbool.h>

#include "model/piecewise.h"
#include "yoke/partition.h"

enum { NESTED_MAX_POINTS = YOKE_CURVE_MAX_KNOTS / 2 };

/* Range of seconds that count as measured. */
static const double nested_least_s = 1e-100, nested_most_s = 1e100;

/* Numbers of blocks with a ratio above this are the same place of a model: times depend on the shape of a rectangle, too. */
static const double nested_apart = 0.95;

/*
 * A partial functional performance model (Clarke, sect. 1.8): the points measured so far, in blocks and seconds.  Before the first point
 * and after the last one the speed is constant.  Between two points the published model has a linear speed.  If the slope of t changes
 * abruptly (memory is full), a linear speed asks for too many blocks each time, and points approach the change from one side only, and
 * slowly.  So a corner is placed between two points of which the second has less speed:
 *   - if the two points after them give a steeper line, where this line meets the constant speed of the first point;
 *   - if a limit of memory is stated between them, at this limit, with the speed of the first point;
 *   - if there is no second point after them, as by a linear speed: this asks for more blocks, and the next point is expected beyond
 *     the corner;
 *   - else halfway, at the mean of linear seconds and linear speed, or by a linear speed if shares came from the left twice.
 * A constant model (CPM) has the last point as its only point: then FPM-PA gives n s_i / sum s.
 */
typedef struct nested_point {
    double blocks, seconds; /* for a square of this number of blocks: measured, less the cost of the rectangle's longer sides */
    double measured_s;
    /*
     * For a node: half of the rectangle's perimeter less that of a square, in blocks; for one of several devices: half of the node's
     * perimeter.
     */
    double longer;
    int64_t round; /* of the node partition in which it was measured */
} nested_point;

typedef struct nested_model {
    int64_t count;
    nested_point points[NESTED_MAX_POINTS]; /* ascending */
    double fitting;                         /* blocks that fit the memory, as stated; 0 or infinite: not known */
    bool kept;                              /* shares never exceed `fitting` */
    double held;      /* limit of shares in blocks: the stated limit, if it is kept or nothing was measured near it; else infinite */
    double side_s;    /* seconds of a block of half a perimeter, as for messages along it; 0: none */
    yoke_curve curve; /* made of the points: seconds of squares */
} nested_model;

/* Columns of the matrix, in blocks. */
int64_t nested_columns(const yoke_nested_options *options);

/* Blocks that fit node or device i, from blocks [] (may be NULL); infinite: not stated, or the strategy has constant models. */
double nested_stated(const yoke_nested_options *options, const double *blocks, int64_t i);

/* yoke_plan_nested with a kernel.  kept: shares never exceed the limits that nodes state. */
yoke_status nested_plan(yoke_context *context, const yoke_nested_options *options, bool kept, yoke_nested_plan **plan);

/* yoke_plan_nested with points, which are checked here. */
yoke_status nested_plan_known(yoke_context *context, const yoke_nested_options *options, yoke_nested_plan **plan);

/*
 * Adds a point.  Points of earlier rounds that contradict it, with as many blocks or with more blocks in less time, are dropped: the
 * rectangle then had another shape, or the node another partition.  If there is no room left the oldest point is dropped.
 */
void nested_model_add(nested_model *model, double blocks, double seconds, double longer, int64_t round, bool constant);

/* Half the perimeter of a rectangle of rows x columns blocks less that of a square with as many blocks. */
double nested_longer(double rows, double columns);

/* A node with this number of blocks is full: it may not have more, and need not have them all. */
bool nested_model_full(const nested_model *model, double blocks);

/* Whether limits that were not reached in measurements leave room for n units of `blocks_per_unit` blocks; if not they are not kept. */
bool nested_have_room(int64_t count, const nested_model *models, double n, double blocks_per_unit);

/* Number of units of `blocks_per_unit` blocks within `seconds`; held: not beyond the limit. */
double nested_units(const nested_model *model, double seconds, double blocks_per_unit, bool held);

/* Recomputes the curve after points were changed. */
void nested_model_draw(nested_model *model);

/* After the last knot, from `blocks` on, the curve continues with at least this slope.  Does nothing if there is no room for a knot. */
void nested_model_bend(nested_model *model, double blocks, double slope);

/* Sets the cost of a block of half a perimeter, also for the existing points. */
void nested_model_set_sides(nested_model *model, double side_s);

/*
 * FPM-PA (Clarke, sect. 1.3): shares with the sum n, in units of `blocks_per_unit` blocks.  Bisection finds the seconds within which the
 * models' blocks are n units.  These are rounded down, and each of the units that are left goes to the model that would finish it first.
 */
void nested_share(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, int64_t *units);

/* Seconds within which all devices together finish `blocks` blocks, if blocks were divisible. */
double nested_together_s(int64_t count, const nested_model *models, double blocks);

/* Even shares: equal for all, to within one unit. */
void nested_share_evenly(int64_t count, int64_t n, int64_t *units);

/* (longest - shortest) / shortest of the seconds of the devices that have units; *longest may be NULL. */
double nested_imbalance(int64_t count, const int64_t *units, const double *seconds, double *longest);

/* Whether one of `count` rows of `length` numbers is equal to `row`. */
bool nested_tried(int64_t count, int64_t length, const int64_t *rows, const int64_t *row);

/* Some members of yoke_nested_options, with their defaults. */
typedef struct nested_settings {
    yoke_nested_strategy strategy;
    double node_tolerance, device_tolerance;
    int64_t max_rounds;
} nested_settings;

/* A node while its columns are shared. */
typedef struct nested_node {
    int64_t devices;
    nested_model *models; /* [devices], of blocks */
    int64_t rows, width;  /* of its rectangle */
    int64_t *columns;     /* [devices]: the shares to measure next */
    int64_t *best;        /* [devices]: the final shares */
    double best_s;        /* their longest seconds; 0 for a node without blocks */
    int64_t *tried;       /* [max_rounds][devices] */
    int64_t rounds;       /* number of rounds measured with this rectangle */
    bool placed;          /* its models have points of real shares */
    bool done;            /* columns are not measured any more */
} nested_node;

/* Begins with a rectangle (0 x 0: nothing to do): with even shares, or with shares from the models if these have points of real shares. */
void nested_node_begin(nested_node *node, const nested_settings *settings, int64_t rows, int64_t width);

/* Learns the seconds [devices] of node->columns (read if there are columns), and sets the columns to measure next, or is done. */
void nested_node_take(nested_node *node, const nested_settings *settings, const double *seconds, int64_t round);

/*
 * Finds the cost of a block of half a perimeter from all nodes that were measured with two rectangles of about as many blocks: if seconds
 * are v m n + c (m + n), s / (m n) differ as (m + n) / (m n) do.  It is the median of c, with the differences as weights, as some nodes
 * have another v when their memory is full.  All models get it, also those of devices, or 0 if the estimates do not agree.
 *
 * A node of several devices takes longer if its whole columns cannot be shared well.  Its points become the seconds for divisible
 * columns, by the models of its devices.
 */
void nested_find_sides(int64_t count, nested_model *models, const nested_node *nodes);

/*
 * Arranges rectangles for areas (in blocks), as yoke_plan_columns does.  If the models' seconds of nodes, with those of their sides, are
 * not within tolerance / 2 of each other, it uses whole blocks for which they are, or as near as can be found.  A node of several devices
 * takes as long as the best shares of whole columns, by the models of these devices.
 * models, nodes [count]: models NULL: nothing is known.  Errors: those of yoke_plan_columns.
 */
yoke_status nested_arrange(yoke_context *context, int64_t count, const nested_model *models, const nested_node *nodes, const double *areas,
                           int64_t rows, int64_t columns, double tolerance, yoke_rectangle *rectangles);

#endif
