/*
 * main.c - the command yoke fmm.
 */
#include <omp.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/program.h"
#include "run.h"

static bool is_standard_output(const char *path) { return path && !strcmp(path, "-"); }

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    fmm_command line;
    bool answered = false;
    yoke_status status = fmm_command_read(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    if (is_standard_output(line.save) || is_standard_output(line.output))
        terminal->aside = true; /* only particles are printed there then */
    if (line.threads) omp_set_num_threads((int)line.threads);
    status = app_interrupt_catch(context);
    if (!status && line.machine) status = yoke_machine_read(context, line.machine);
    return status ? status : fmm_frames_run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke fmm", start, argc, argv); }
