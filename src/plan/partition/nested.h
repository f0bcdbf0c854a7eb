/*
 * nested.h - the two levels of yoke_plan_nested: partial models of devices and nodes, and the partition of one node's columns among its devices (IDPA).
 */
#ifndef YOKE_PLAN_NESTED_H
#define YOKE_PLAN_NESTED_H

#include <stdbool.h>

#include "model/piecewise.h"
#include "yoke/partition.h"

enum { NESTED_MAX_POINTS = YOKE_CURVE_MAX_KNOTS / 2 };

/* Seconds that count as measured. */
static const double nested_least_s = 1e-100, nested_most_s = 1e100;

/* Blocks that differ by less are the same place of a model: times depend on the shape of a rectangle, too. */
static const double nested_apart = 0.95;

/*
 * A partial functional performance model (Clarke, sect. 1.8): the points that were measured so far, in blocks and seconds.  Before the first and behind the last one the speed is
 * constant.  Between two points the published model has a linear speed.  Where the slope of t changes at once (memory is full), that asks for too much each time, and points come
 * near from one side only, and slowly.  So a corner is put between two points of which the second has less speed:
 *   - where the two points behind tell a steeper line, there where this line meets the constant speed of the first point;
 *   - where a limit of memory is stated between them, there, at the speed of the first point;
 *   - where there is no second point behind, as by a linear speed: this asks for more, and the next point shall be beyond the corner;
 *   - else halfway at the mean of linear seconds and linear speed, or by a linear speed where shares came from the left twice.
 * A constant model (CPM) is one whose only point is the last one: then FPM-PA gives n s_i / sum s.
 */
typedef struct nested_point {
    double blocks, seconds; /* of a square of so many blocks: measured less what the rectangle's longer sides cost */
    double measured_s;
    double
        longer; /* of a node: half of the rectangle's perimeter less that of a square, in blocks; of one of several devices: half of the node's perimeter */
    int64_t round; /* of the node partition in which it was measured */
} nested_point;

typedef struct nested_model {
    int64_t count;
    nested_point points[NESTED_MAX_POINTS]; /* ascending */
    double fitting;                         /* blocks that fit the memory, as stated; 0 or infinite: not known */
    bool kept;                              /* shares never exceed that */
    double held;   /* blocks that shares shall not exceed: the stated limit, if it is kept or nothing was measured near it; else infinite */
    double side_s; /* seconds that a block of half a perimeter costs, as messages that go along it; 0: nothing */
    yoke_curve curve; /* made of them: seconds of squares */
} nested_model;

/* Columns of the matrix, in blocks. */
int64_t nested_columns(const yoke_nested_options *options);

/* Blocks that fit node or device i, of blocks [] (may be NULL); infinite: nobody says, or the strategy has constant models. */
double nested_stated(const yoke_nested_options *options, const double *blocks, int64_t i);

/* yoke_plan_nested with a kernel.  kept: shares never exceed what nodes state. */
yoke_status nested_plan(yoke_context *context, const yoke_nested_options *options, bool kept, yoke_nested_plan **plan);

/* yoke_plan_nested with points, which are checked here. */
yoke_status nested_plan_known(yoke_context *context, const yoke_nested_options *options, yoke_nested_plan **plan);

/*
 * Adds a point.  Those of earlier rounds that contradict it, with as many blocks or with more in less time, are dropped: then the rectangle had
 * another shape, or the node another partition.  Where there is no room left the oldest goes.
 */
void nested_model_add(nested_model *model, double blocks, double seconds, double longer, int64_t round, bool constant);

/* Half the perimeter of a rectangle of these blocks less that of a square with as many. */
double nested_longer(double rows, double columns);

/* A node that has so many blocks is full: it may not have more, and need not have them all. */
bool nested_model_full(const nested_model *model, double blocks);

/* Whether limits that nobody measured yet leave room for n units of so many blocks each; where they do not they are not kept. */
bool nested_have_room(int64_t count, const nested_model *models, double n, double blocks_per_unit);

/* Units of so many blocks each within some seconds, not beyond the limit where it is held. */
double nested_units(const nested_model *model, double seconds, double blocks_per_unit, bool held);

/* Draws the curve anew after points were changed. */
void nested_model_draw(nested_model *model);

/* From so many blocks on, behind the last knot, the curve goes on with at least this slope.  Nothing, where there is no room for a knot. */
void nested_model_bend(nested_model *model, double blocks, double slope);

/* Sets what a block of half a perimeter costs, also at the points there are. */
void nested_model_set_sides(nested_model *model, double side_s);

/*
 * FPM-PA (Clarke, sect. 1.3): shares with the sum n of units of so many blocks each.  Seconds are bisected until the models' blocks within them are
 * n units; these are rounded down, and units that are left go one by one to the model that is first done with one more.
 */
void nested_share(int64_t count, const nested_model *models, int64_t n, double blocks_per_unit, int64_t *units);

/* Seconds within which all together do so many blocks, were these divisible. */
double nested_together_s(int64_t count, const nested_model *models, double blocks);

/* The same for all, to one unit. */
void nested_share_evenly(int64_t count, int64_t n, int64_t *units);

/* (longest - shortest) / shortest of the seconds of those that have units; *longest may be NULL. */
double nested_imbalance(int64_t count, const int64_t *units, const double *seconds, double *longest);

/* Whether one of `count` rows of so many numbers is the same as this one. */
bool nested_tried(int64_t count, int64_t length, const int64_t *rows, const int64_t *row);

/* Some parts of yoke_nested_options, with their defaults. */
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
    int64_t *best;        /* [devices]: the shares taken in the end */
    double best_s;        /* their longest seconds; 0 for a node without blocks */
    int64_t *tried;       /* [max_rounds][devices] */
    int64_t rounds;       /* that were measured with this rectangle */
    bool placed;          /* its models have points of real shares */
    bool done;            /* columns are not to be measured any more */
} nested_node;

/* Begins with a rectangle (0 x 0: nothing to do): with even shares, or with what the models say where there were real ones before. */
void nested_node_begin(nested_node *node, const nested_settings *settings, int64_t rows, int64_t width);

/* Takes what node->columns took (seconds [devices], read where there are columns), and sets those to be measured next, or is done. */
void nested_node_take(nested_node *node, const nested_settings *settings, const double *seconds, int64_t round);

/*
 * What a block of half a perimeter costs, by all nodes that were measured with two rectangles of about as many blocks: where seconds are v m n + c (m + n), s / (m n) differ as
 * (m + n) / (m n) do.  The median of c, with the differences as weights, as some nodes have another v when their memory is full.  All models take it, also those of devices, or 0 where
 * estimates do not agree.  A node of several devices takes longer where its whole columns cannot be shared well.  Its points become the seconds with columns that are divisible, by the
 * models of its devices.
 */
void nested_find_sides(int64_t count, nested_model *models, const nested_node *nodes);

/*
 * Rectangles for areas (in blocks), as those of yoke_plan_columns, but of whole blocks such that the models' seconds of nodes, with those of their sides, are within tolerance / 2 of
 * each other, or as near as can be found, where yoke_plan_columns's are not.  A node of several devices takes as long as the best shares of whole columns, by the models of these.
 * models, nodes [count]: models NULL: nothing is known.  Errors: those of yoke_plan_columns.
 */
yoke_status nested_arrange(yoke_context *context, int64_t count, const nested_model *models, const nested_node *nodes, const double *areas,
                           int64_t rows, int64_t columns, double tolerance, yoke_rectangle *rectangles);

#endif
