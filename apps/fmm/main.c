/*
 * main.c - the command yoke fmm, or the measurement of its operations (calibrate.h).
 */
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "common/console/interrupt.h"
#include "common/console/program.h"
#include "common/ranks/ranks.h"
#include "run.h"

static bool is_standard_output(const char *path) { return path && !strcmp(path, "-"); }

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    fmm_command line;
    bool answered = false;
    yoke_status status = fmm_command_read(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    if (app_ranks_launched_count() > 1)
        return yoke_fail(context, YOKE_ERROR_INPUT, "started with %d MPI ranks, but yoke fmm runs on one; its threads use all cores",
                         app_ranks_launched_count());
    if (is_standard_output(line.save) || is_standard_output(line.output))
        terminal->aside = true; /* then only particles are printed there */
    if (line.threads) omp_set_num_threads((int)line.threads);
    status = app_interrupt_catch(context);
    if (!status) status = app_interrupt_catch_pipe(context);
    if (!status && line.machine) status = yoke_machine_read(context, line.machine);
    return status ? status : fmm_frames_run(context, terminal, &line, argc, argv);
}

/*
 * hwloc's plugins (OpenCL, displays, PCI, a library for XML) provide no data that is used here, and loading them takes most of the time in
 * which this machine is opened: 4 of 5 ms.  There is no call that omits them.
 */
static void leave_plugins_of_hwloc_out(void) { (void)setenv("HWLOC_PLUGINS_PATH", "", 0); }

/*
 * Keeps memory that one step releases for the next one.  A new page of the system takes as long as sorting hundreds of particles, and ten
 * times as long on virtual machines that return free memory to their host.
 */
static void keep_memory(void)
{
#ifdef __GLIBC__
    enum { MORE = 1 << 26 };
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)mallopt(M_TOP_PAD, MORE);
#endif
}

int main(int argc, char **argv)
{
    leave_plugins_of_hwloc_out();
    keep_memory();
    const int calibrates = argc > 1 && !strcmp(argv[1], "calibrate"); /* `yoke calibrate` starts it in this way */
    return calibrates ? app_program("yoke calibrate", fmm_calibrate, argc - 1, argv + 1) : app_program("yoke fmm", start, argc, argv);
}
