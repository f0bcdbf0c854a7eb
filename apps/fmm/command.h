/*
 * command.h - the command line of yoke fmm.
 */
#ifndef FMM_COMMAND_H
#define FMM_COMMAND_H

#include "common/console/options.h"
#include "common/console/terminal.h"
#include "powers.h"
#include "solve/solve.h"

/* Options as given.  Numbers below 0 (threads and frame: 0) and NULL mean: not given. */
typedef struct fmm_command {
    app_list operands;
    const char *distribution, *charges, *error, *error_of, *frames, *save, *output, *json, *devices, *share, *machine, *softening;
    const char *objective, *store, *declared, *baseline, *power, *plot;
    int64_t particles, seed, frame, threads, depth, cells, leaf, order, check, repeat;
    bool direct, potential_only, gradient, skip_coincident, explain, measure_all;
    double part;              /* the share, as a number */
    double soft;              /* the softening; 0: none */
    fmm_powers powers;        /* from --power */
    fmm_solver_options solve; /* the resulting options of a solver, without progress */
} fmm_command;

/*
 * Reads and checks the command line, before anything is computed.  *answered: the command is complete (--help).  `line` holds pointers to
 * itself and must not be copied.  Errors: INPUT (the message names the option and what is wrong with it).
 */
yoke_status fmm_command_read(yoke_context *context, app_terminal *terminal, int argc, char **argv, fmm_command *line, bool *answered);

/* Whether the command line asks for the fast multipole method.  Without it and without --direct there is only --save, which computes
 * nothing. */
bool fmm_command_is_fast(const fmm_command *line);

#endif
