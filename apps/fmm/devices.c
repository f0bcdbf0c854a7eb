#include "devices.h"

#include <math.h>

#include "common/options.h"

yoke_status fmm_devices_check(yoke_context *context, const char *share)
{
    double part;
    return app_option_real(context, "share", share, 0, 1, &part);
}

yoke_status fmm_devices_open(yoke_context *context, const char *devices, const char *share, const fmm_tuning_words *words, yoke_run **run)
{
    double part = 0;
    yoke_run_options options = {.devices = devices, .store = fmm_tuning_store(words), .declared = words->declared};
    yoke_status status = app_option_real(context, "share", share, 0, 1, &part);
    if (!status) status = fmm_tuning_objective(context, words, &options.objective);
    if (share) options.share = &part;
    options.no_meters = options.objective == YOKE_OBJECTIVE_TIME;
    return status ? status : fmm_shared_open(context, &options, run);
}

yoke_status fmm_devices_run(yoke_run *run, fmm_method *method, int tries, const double *charge, fmm_field *field,
                            fmm_method_seconds *seconds, fmm_result *result)
{
    fmm_shared *shared = NULL;
    yoke_status status = fmm_shared_create(method, run, tries, &shared);
    if (!status) status = fmm_shared_run(shared, charge, field, seconds);
    if (!status) result->parts = fmm_shared_parts(shared, result->part, FMM_MAX_PARTS);
    if (result->parts > FMM_MAX_PARTS) result->parts = FMM_MAX_PARTS;
    fmm_shared_destroy(shared);
    return status;
}

yoke_status fmm_devices_show(app_terminal *terminal, yoke_context *context, yoke_run *run, bool explain, const fmm_result *result)
{
    double all = 0;
    char *text = NULL;
    for (int i = 0; i < result->parts; i++) all += result->part[i].pairs;
    for (int i = 0; i < result->parts; i++) {
        const fmm_shared_part *part = &result->part[i];
        app_print(terminal, "%s%s %.3g %%", i ? ", " : "near field: ", part->device, all > 0 ? 100 * part->pairs / all : 0);
        if (!isnan(part->seconds)) app_print(terminal, " (%.3g s)", part->seconds);
        if (part->failed) app_print(terminal, " (failed)");
    }
    app_print(terminal, " of the pairs\n");
    if (!explain) return YOKE_OK;
    yoke_status status = yoke_run_explain(run, &text);
    if (!status) app_print(terminal, "%s", text);
    yoke_release(context, text);
    return status;
}
