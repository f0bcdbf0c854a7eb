/*
 * tuning.h - what the command line has to do with the choice of a depth.
 */
#ifndef FMM_TUNING_H
#define FMM_TUNING_H

#include "common/terminal.h"
#include "method/method.h"
#include "tune/tune.h"

typedef struct fmm_tuning_words {
    const char *objective, *store, *declared, *plot; /* as given; NULL: not */
    bool explain, measure_all;
} fmm_tuning_words;

/* Nonzero: any of them was given. */
static inline int fmm_tuning_asked(const fmm_tuning_words *words)
{
    return words->objective || words->store || words->declared || words->plot || words->explain || words->measure_all;
}

/* What is wrong with them, before anything is computed.  Errors: INPUT. */
yoke_status fmm_tuning_check(yoke_context *context, const fmm_tuning_words *words);

/* Errors: INPUT. */
yoke_status fmm_tuning_objective(yoke_context *context, const fmm_tuning_words *words, yoke_objective *objective);
/* As in yoke_run_options: this machine's where the words have none. */
const char *fmm_tuning_store(const fmm_tuning_words *words);

typedef struct fmm_tuning fmm_tuning;

/*
 * For the choice of a tree, or for predictions of the uniform tree of a given depth (depth >= 0).  Says so where this machine has to be measured first.
 * Arguments are borrowed until it is closed.  Errors: those of fmm_tuner_create.
 */
yoke_status fmm_tuning_open(app_terminal *terminal, const fmm_particles *particles, const fmm_tuning_words *words, int depth, int gradient,
                            fmm_tuning **tuning);
/* NULL allowed. */
void fmm_tuning_close(fmm_tuning *tuning);
/* With expansions of this order; as often as wanted.  Errors: those of fmm_tuner_choose. */
yoke_status fmm_tuning_choose(fmm_tuning *tuning, int order, fmm_tuned *tuned);
/* As fmm_tuner_take_tree. */
fmm_tree *fmm_tuning_take_tree(fmm_tuning *tuning);

/* Takes another of the depths that were compared.  Errors: INPUT (it was not). */
yoke_status fmm_tuning_take(yoke_context *context, int depth, fmm_tuned *tuned);

/* The seconds of a run with one depth, as predictions have them. */
fmm_seconds fmm_tuning_seconds(const fmm_method_seconds *seconds);

/* Runs all depths that are not predicted to take more than some times as long as the best, but the chosen one.  Errors: those of the method. */
yoke_status fmm_tuning_measure(app_terminal *terminal, const fmm_particles *particles, int gradient, fmm_tuned *tuned);

/* What was predicted and measured, in the words' detail.  Errors: those of fmm_explain_plot. */
yoke_status fmm_tuning_show(app_terminal *terminal, yoke_context *context, const fmm_tuning_words *words, double total_s,
                            const fmm_tuned *tuned);

#endif
