/*
 * machine.h - what the method's operations cost on this machine: measured once, kept in the store of a run.
 *
 * Costs are seconds, or counts by FMM_COUNTS_OF_SECOND, which are called seconds here, too: all that is predicted from them is in the same measure.
 * Each operation is a kind of work of the run (yoke/run.h): "fmm pair p=8", "fmm near n=64 potential", "fmm tree n=8 threads=1".
 */
#ifndef FMM_TUNE_COSTS_MACHINE_H
#define FMM_TUNE_COSTS_MACHINE_H

#include "expansion/expansion.h"
#include "tune/costs/bench.h"
#include "tune/costs/counter.h"
#include "tune/costs/factors.h"
#include "tune/counts/count.h"

enum { FMM_WORK_BYTES = 80, FMM_THREADS_BYTES = 24 };
/* How names of works end: with the number of threads, unless it is that of the processors. */
void fmm_work_threads(char text[FMM_THREADS_BYTES]);
/* The work's name. */
void fmm_work_name(fmm_operation operation, int size, int gradient, fmm_measure measure, char name[FMM_WORK_BYTES]);

/* The sizes of an operation that are measured, ascending; returns their number.  Between them costs are interpolated. */
int fmm_measured_sizes(fmm_operation operation, const int **sizes);

/* As fmm_bench_run: the seconds of the shortest of `calls` calls on fmm_bench_units of an operation. */
typedef yoke_status fmm_trial(void *user, fmm_operation operation, int size, int64_t calls, double *seconds);

/* Called before each measurement, with what is measured in words: "M2L, order 8".  Its status is passed on. */
typedef yoke_status fmm_tune_progress(void *user, const char *what);

/* Orders that are measured, a bit for each of the sizes of FMM_PAIR (fmm_measured_sizes). */
typedef uint32_t fmm_orders;
enum { FMM_MEASURED_ORDERS = 18 };
#define FMM_ALL_ORDERS (((fmm_orders)1 << FMM_MEASURED_ORDERS) - 1)
/* Precisions of the near field whose costs are measured. */
typedef enum fmm_precisions { FMM_IN_DOUBLE = 1, FMM_IN_SINGLE = 2, FMM_IN_BOTH = 3 } fmm_precisions;
/* Those that costs of an order are found from: itself, or the next ones below and above it. */
fmm_orders fmm_orders_around(int order);

typedef struct fmm_machine_options {
    int gradient;
    fmm_measure measure;
    const fmm_clock *clock;      /* of a measure that is not seconds, without a trial */
    fmm_trial *trial;            /* NULL: on this machine (bench.h) */
    fmm_tune_progress *progress; /* NULL: none */
    void *user;                  /* of both */
} fmm_machine_options;

/* Of sums over near pairs. */
typedef struct fmm_pair_costs {
    double leaf, particle;                  /* of all leaves, besides */
    double near[FMM_SMALL_LEAF + 1], large; /* these times the sources and large pairs of fmm_cell_counts */
    double uneven; /* times that a pair takes in leaves of different levels, which act on each other one after the other; 0: not known */
    double unit;   /* of FMM_NEAR or FMM_SINGLE_NEAR with FMM_SMALL_LEAF, as the run has it */
} fmm_pair_costs;

/* Seconds; those by order at each of 0 ... FMM_MAX_ORDER, NaN between orders that were not measured. */
typedef struct fmm_machine {
    fmm_measure measure;
    double unit[FMM_OPERATIONS]
               [FMM_MEASURED_ORDERS]; /* as measured, of the sizes of each operation; 0: not measured.  All below is found from these */
    double tree_particle, tree_leaf;  /* tree and lists = so much for each */
    double adaptive_particle, adaptive_leaf; /* the same of adaptive trees */
    fmm_pair_costs pairs;                    /* near field, in the precision that is predicted: */
    fmm_pair_costs in_double, in_single;     /* NaN in one that was not measured */
    int single;                              /* nonzero: `pairs` is in_single */
    double tables[FMM_MAX_ORDER + 1];        /* of the operators, once */
    double pair[FMM_MAX_ORDER + 1],
        batch[FMM_MAX_ORDER + 1]; /* lists and M2L = so much for each target and source, and for each batch of them */
    double waves[FMM_MAX_ORDER + 1],
        family[FMM_MAX_ORDER + 1];   /* M2L by plane waves: tables of a set, once; a parent of all its children; 0: none of this set */
    double cell[FMM_MAX_ORDER + 1];  /* M2M and L2L of a child */
    double visit[FMM_MAX_ORDER + 1]; /* M2P and P2L of a cell, for each particle */
    double leaf[FMM_MAX_ORDER + 1], particle[FMM_MAX_ORDER + 1]; /* P2M and L2P = so much for each */
    fmm_factor factor[FMM_TIMED_PARTS];                          /* of predictions by all of these */
    int finer; /* waves are of the set whose number is so much above the order, or the last set; below 0: no waves */
    double pair_unit[FMM_MAX_ORDER + 1]; /* as the run has FMM_PAIR, where it is measured */
    double
        disturbed; /* part of the time of measurements that other programs had the cores, of the operation where that was most; 0: little */
} fmm_machine;

/*
 * What `device` of the run, an openmp device that is this machine's cores, takes, as far as the run and its store know.  A run can be asked once.
 * Errors: UNAVAILABLE (no order was ever measured, or something that is needed at all orders), those of yoke_run_predict, MEMORY.
 */
yoke_status fmm_machine_get(yoke_run *run, int64_t device, int gradient, fmm_measure measure, fmm_machine *machine);

/* Of the near field, an ordered pair of particles in leaves of a mean size, which is 1 at least; larger ones than FMM_SMALL_LEAF take the same for each. */
double fmm_machine_pair(const fmm_machine *machine, double size);

/* In which precision the near field is predicted from now on; double precision at first. */
static inline void fmm_machine_take_single(fmm_machine *machine, int single)
{
    machine->single = single;
    machine->pairs = single ? machine->in_single : machine->in_double;
}

/* Those of `orders` that a machine does not know; all of them where it does not know what is needed at all orders, the near field in these precisions among it. */
fmm_orders fmm_machine_missing(const fmm_machine *machine, fmm_orders orders, fmm_precisions precisions);

/*
 * Measures all of it, forgets factors, and then as fmm_machine_get; on the active devices of the run: some hundredths of a second for each operation and size, about 7 s in all on two cores.  The run's store keeps it when
 * the run is saved.  A run without meters: powers are not measured.
 * Errors: those of yoke_run_calibrate, of the trial and of progress, UNAVAILABLE (a counter that cannot be read), MEMORY.
 */
yoke_status fmm_machine_measure(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                fmm_machine *machine);

/*
 * The same of what a machine, of fmm_machine_get or of 0, does not know of these orders and of what is needed at all of them, with the near field in these
 * precisions; what it knows stays.  Factors are forgotten where it knew nothing.  Errors: as of fmm_machine_measure.
 */
yoke_status fmm_machine_measure_missing(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                        fmm_orders orders, fmm_precisions precisions, fmm_machine *machine);

/*
 * Of seconds.  Measures those operations again that other programs disturbed (yoke_prediction), and forgets factors.  Where they disturb one of them again all stays as it
 * is: costs of which some are too high by far mislead more than such that all are.  Then as fmm_machine_get, on a run that was not asked yet.
 * Errors: as of fmm_machine_measure.
 */
yoke_status fmm_machine_measure_again(yoke_context *context, yoke_run *run, int64_t device, const fmm_machine_options *options,
                                      fmm_machine *machine);

/* Tells the run what the times of a work depend on beside the machine, once; the functions above do so themselves. */
yoke_status fmm_machine_tell_works(yoke_run *run, int gradient, fmm_measure measure);

/* Of seconds.  Keeps machine->factor in the run's store, once the run is saved.  A run without meters, that was told the works.  Errors: those of yoke_run_calibrate. */
yoke_status fmm_machine_put_factors(yoke_run *run, int gradient, const fmm_machine *machine);

/* Measures the powers of the run's devices at work, briefly.  Errors: as above. */
yoke_status fmm_machine_measure_powers(yoke_context *context, yoke_run *run, const fmm_machine_options *options);

#endif
