#include "devices.h"

#include <omp.h>

void dense_device_options(app_option_table *table, dense_words *words, app_terminal *terminal)
{
    const app_option options[] = {
        {.name = "devices",
         .value = "LIST",
         .help = "devices to use, as in openmp,opencl:0.0; by default all cores and each GPU once",
         .text = &words->devices},
        {.name = "share",
         .value = "X",
         .help = "part for accelerators, 0 to 1; by default the best part according to measurements",
         .text = &words->share},
        {.name = "objective",
         .value = "WHAT",
         .help = "what the shares minimise: time (the default), energy, edp or ed2p",
         .text = &words->objective},
        {.name = "machine", .value = "FILE", .help = "a simulated machine; its devices are sim:NAME", .text = &words->machine},
        {.name = "store",
         .value = "FILE",
         .help = "file that keeps measurements for later runs; by default this machine's store; none: no file",
         .text = &words->store},
        {.name = "declare", .value = "idle=W,busy=W", .help = "powers of this machine, if it has no meter", .text = &words->declared},
        {.name = "threads",
         .value = "N",
         .help = "threads on the cores; by default one per core",
         .number = &words->threads,
         .minimum = 1,
         .maximum = 1024},
        {.name = "explain", .help = "explain why the devices have these shares", .flag = &words->explain},
        app_option_json(&words->json),
        app_option_quiet(&terminal->quiet),
        {.name = NULL},
    };
    app_options_add(table, options);
}

yoke_status dense_devices_check(yoke_context *context, const dense_words *words)
{
    double part;
    int objective;
    yoke_status status = app_option_real(context, "share", words->share, 0, 1, &part);
    return status ? status : app_option_choice(context, "objective", words->objective, app_objective_names, &objective);
}

yoke_status dense_devices_open(yoke_context *context, const dense_words *words, yoke_run **run)
{
    double part = 0;
    int objective = 0;
    yoke_run_options options = {.devices = words->devices, .store = app_option_store(words->store, ""), .declared = words->declared};
    yoke_status status = app_option_real(context, "share", words->share, 0, 1, &part);
    if (!status) status = app_option_choice(context, "objective", words->objective, app_objective_names, &objective);
    if (words->share) options.share = &part;
    options.objective = (yoke_objective)objective;
    if (words->threads) omp_set_num_threads((int)words->threads);
    if (!status && words->machine) status = yoke_machine_read(context, words->machine);
    return status ? status : yoke_run_create(context, &options, run);
}
