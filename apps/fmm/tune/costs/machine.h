/*
 * machine.h - costs of the method's operations on this machine: measured once, kept in the store of a run.
 *
 * Costs are seconds, or counts divided by FMM_COUNTS_OF_SECOND, which are called seconds here too; all predictions from them have the same
 * unit.  Each operation is a kind of work of the run (yoke/run.h): "fmm pair p=8", "fmm near n=64 potential", "fmm tree n=8 threads=1".
 */
#ifndef FMM_TUNE_COSTS_MACHINE_H
#define FMM_TUNE_COSTS_MACHINE_H

#include "expansion/expansion.h"
#include "tune/costs/bench.h"
#include "tune/costs/counter.h"
#include "tune/costs/factors.h"
#include "tune/counts/count.h"

enum { FMM_WORK_BYTES = 80, FMM_THREADS_BYTES = 24 };
/* What the names of all works have in common. */
typedef struct fmm_naming {
    int gradient;
    fmm_measure measure;
    char threads
        [FMM_THREADS_BYTES]; /* at the end: their number, unless it is that of all processors, whether this process may use them or not */
} fmm_naming;
/* The system reads a file to tell the number of processors: create one for many names. */
fmm_naming fmm_naming_create(int gradient, fmm_measure measure);
/* The name of the work for an operation of a size. */
void fmm_work_name(const fmm_naming *naming, fmm_operation operation, int size, char name[FMM_WORK_BYTES]);

/* The sizes at which an operation is measured, ascending; returns their number.  Between them costs are interpolated. */
int fmm_measured_sizes(fmm_operation operation, const int **sizes);

/* As fmm_bench_run: measures the seconds of the shortest of up to `calls` calls on fmm_bench_units units of an operation. */
typedef yoke_status fmm_trial(void *user, fmm_operation operation, int size, int64_t calls, double *seconds);

/* Called before each measurement, with what is measured in words: "M2L, order 8".  A status other than OK is returned to the caller. */
typedef yoke_status fmm_tune_progress(void *user, const char *what);

/* A set of measured orders: one bit for each of the sizes of FMM_PAIR (fmm_measured_sizes). */
typedef uint32_t fmm_orders;
enum { FMM_MEASURED_ORDERS = 18 };
#define FMM_ALL_ORDERS (((fmm_orders)1 << FMM_MEASURED_ORDERS) - 1)
/* Precisions of the near field whose costs are measured. */
typedef enum fmm_precisions { FMM_IN_DOUBLE = 1, FMM_IN_SINGLE = 2, FMM_IN_BOTH = 3 } fmm_precisions;
/* The measured orders from which the costs of an order are found: the order itself, or the next ones below and above it. */
fmm_orders fmm_orders_around(int order);

typedef struct fmm_machine_options {
    int gradient;
    fmm_measure measure;
    const fmm_clock *clock;      /* for a measure that is not seconds, without a trial */
    fmm_trial *trial;            /* replaces the benchmark; NULL: the benchmark on this machine (bench.h) */
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* passed to both */
} fmm_machine_options;

/* Costs of sums over near pairs. */
typedef struct fmm_pair_costs {
    double leaf, particle;                  /* additional cost of each leaf, and of each particle */
    double near[FMM_SMALL_LEAF + 1], large; /* cost of a source, and of a large pair, of fmm_cell_counts */
    double uneven; /* cost factor of a pair in leaves of different levels, relative to leaves of the same level; 0: not known */
    double unit;   /* cost of FMM_NEAR or FMM_SINGLE_NEAR with FMM_SMALL_LEAF, as in the run */
} fmm_pair_costs;

/* Costs in seconds.  Arrays by order have the orders 0 ... FMM_MAX_ORDER, with NaN between orders that were not measured. */
typedef struct fmm_machine {
    fmm_measure measure;
    /* As measured, for the sizes of each operation; 0: not measured.  All costs below are found from these. */
    double unit[FMM_OPERATIONS][FMM_MEASURED_ORDERS];
    double sort;                             /* sorting: for each particle */
    double tree_particle, tree_leaf;         /* tree and lists of sorted particles: for each particle and leaf */
    double adaptive_particle, adaptive_leaf; /* the same for adaptive trees */
    fmm_pair_costs pairs;                    /* near field in the precision that is predicted, one of: */
    fmm_pair_costs in_double, in_single;     /* NaN in a precision that was not measured */
    int single;                              /* nonzero: `pairs` is in_single */
    double tables[FMM_MAX_ORDER + 1];        /* tables of the operators, once */
    /* Lists and M2L: for each target and source, and for each batch of them. */
    double pair[FMM_MAX_ORDER + 1], batch[FMM_MAX_ORDER + 1];
    /* M2L by plane waves: tables of a set, once; a parent with all its children; 0: there is no such set. */
    double waves[FMM_MAX_ORDER + 1], family[FMM_MAX_ORDER + 1];
    double cell[FMM_MAX_ORDER + 1];                              /* M2M and L2L of a child */
    double visit[FMM_MAX_ORDER + 1], visited[FMM_MAX_ORDER + 1]; /* M2P and P2L of a cell: for each leaf, and for each of its particles */
    double leaf[FMM_MAX_ORDER + 1], particle[FMM_MAX_ORDER + 1]; /* P2M and L2P: for each leaf and particle */
    fmm_factor factor[FMM_TIMED_PARTS];                          /* factors of predictions by all of these costs */
    int finer; /* waves use the set whose number is this much above the order, or the last set; below 0: no waves */
    double pair_unit[FMM_MAX_ORDER + 1]; /* costs of FMM_PAIR at measured orders, as in the run */
    /* Fraction of the time of measurements in which other programs had the cores, for the operation with the largest one; 0: little. */
    double disturbed;
} fmm_machine;

/*
 * Gets the costs on `device` of the run, an openmp device that is this machine's cores, as far as the run and its store know them.  This
 * can be called once for a run.  Errors: UNAVAILABLE (no order was ever measured, or a cost that all orders need was not), those of
 * yoke_run_predict, MEMORY.
 */
yoke_status fmm_machine_get(yoke_run *run, int64_t device, int gradient, fmm_measure measure, fmm_machine *machine);

/* The near-field cost of an ordered pair of particles in leaves of a mean size, at least 1; in leaves larger than FMM_SMALL_LEAF all pairs
 * cost the same. */
double fmm_machine_pair(const fmm_machine *machine, double size);

/* Sets the precision in which the near field is predicted from now on; initially double precision. */
static inline void fmm_machine_take_single(fmm_machine *machine, int single)
{
    machine->single = single;
    machine->pairs = single ? machine->in_single : machine->in_double;
}

/* Those of `orders` that a machine does not know; all of them if it does not know a cost that all orders need, including the near field in
 * these precisions. */
fmm_orders fmm_machine_missing(const fmm_machine *machine, fmm_orders orders, fmm_precisions precisions);

/*
 * Measures all costs on the active devices of the run, resets the factors, and then does as fmm_machine_get.  This takes some hundredths
 * to tenths of a second for each operation and size.  The run's store keeps the costs when the run is saved.  The run has no meters: powers
 * are not measured.
 * Errors: those of yoke_run_calibrate, of the trial and of progress, UNAVAILABLE (a counter that cannot be read), MEMORY.
 */
yoke_status fmm_machine_measure(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                fmm_machine *machine);

/*
 * The same for costs of these orders, and costs that all orders need, with the near field in these precisions, which `machine` (from
 * fmm_machine_get, or zeroed) does not know; known costs stay.  Factors are reset if the machine knew nothing.  Errors: as for
 * fmm_machine_measure.
 */
yoke_status fmm_machine_measure_missing(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                        fmm_orders orders, fmm_precisions precisions, fmm_machine *machine);

/*
 * For seconds only.  Measures those operations again that other programs disturbed (yoke_prediction), and resets the factors.  If one of
 * them is disturbed again, all costs stay as they are: costs of which some are far too high mislead more than costs that are all too high.
 * Then does as fmm_machine_get, on a run for which that was not called yet.  Errors: as for fmm_machine_measure.
 */
yoke_status fmm_machine_measure_again(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                      fmm_machine *machine);

/* Declares to the run, once, on what the times of a work depend in addition to the machine; the functions above do this themselves. */
yoke_status fmm_machine_tell_works(yoke_run *run, int gradient, fmm_measure measure);

/* For seconds only.  Writes machine->factor to the run's store, when the run is saved.  The run has no meters, and its works were declared.
 * Errors: those of yoke_run_calibrate. */
yoke_status fmm_machine_put_factors(yoke_run *run, int gradient, const fmm_machine *machine);

/* Measures the powers of the run's devices at work, with short measurements.  Errors: as above. */
yoke_status fmm_machine_measure_powers(yoke_context *context, yoke_run *run, const fmm_machine_options *options);

#endif
