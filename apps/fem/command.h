/*
 * command.h - the command line of yoke fem.
 */
#ifndef FEM_COMMAND_H
#define FEM_COMMAND_H

#include "common/console/options.h"
#include "common/console/terminal.h"
#include "restart.h"

/* Number of options that abbreviate --set KEY=VALUE, and bytes of such a text. */
enum { FEM_COMMAND_SHORT = 6, FEM_COMMAND_SHORT_BYTES = 96 };

/* As given; 0 and NULL: not given. */
typedef struct fem_command {
    bool check, explain, profile;
    const char *json, *operator_name;
    const char *objective, *max_slowdown, *power_cap, *deadline, *frequencies;
    const char *devices, *machine, *use, *share, *balance, *exchange, *store, *declared, *model;
    const char *restart; /* directory of the run that is to be continued; NULL: none */
    int64_t threads;
    app_list overrides, operands;
    char short_for[FEM_COMMAND_SHORT][FEM_COMMAND_SHORT_BYTES]; /* texts of the overrides of such options */
} fem_command;

/*
 * Reads the command line.  *answered: the whole request was answered (--help).  Either one case is named, or --restart is given.  Texts are
 * borrowed from argv.
 * Errors: INPUT (what is wrong with which option).
 */
yoke_status fem_command_read(yoke_context *context, app_terminal *terminal, int argc, char **argv, fem_command *line, bool *answered);

/*
 * The same for a run that --restart continues: the words of the earlier run, followed by those of this one.  *line is that of this run and
 * becomes that of both; texts are borrowed from `before`.  Errors: INPUT (also: the run was started in another directory, and no case is
 * named; or another directory is given for its results).
 */
yoke_status fem_command_read_again(yoke_context *context, app_terminal *terminal, const fem_restart_line *before, fem_command *line);

/* Adds the overrides of such options.  The overrides point into *line, which must not be copied afterwards.  Errors: INPUT (too many). */
yoke_status fem_command_add_overrides(yoke_context *context, fem_command *line);

/*
 * Checks that all ranks begin a new run, or that all continue the run in the same directory; and that no rank names another --json than
 * rank 0, which alone writes it.  To be called before any other collective step.  Collective.  Errors: INPUT (on ranks that differ from
 * rank 0).
 */
yoke_status fem_command_check_words(yoke_context *context, app_ranks *ranks, const fem_command *line);

/*
 * Each rank has its own command line.  Devices and threads may differ, but the problem and the output must not.  Collective.
 * Errors: INPUT (on ranks whose problem is not that of rank 0).
 */
yoke_status fem_command_check_alike(yoke_context *context, app_ranks *ranks, const fem_command *line);

#endif
