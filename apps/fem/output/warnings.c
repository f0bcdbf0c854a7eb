#include "output/warnings.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Warns on the terminal and in the record. */
YOKE_PRINTF(3, 4) static yoke_status warn(yoke_context *context, fem_record *record, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    yoke_log(context, YOKE_LOG_WARNING, "%s", text);
    return fem_record_warn(record, text);
}

/* Warns if the solution is zero, or so small that digits are lost, because nothing strains the body. */
static yoke_status warn_of_no_load(const fem_space *space, const fem_constraints *constraints, const fem_solution *solution,
                                   fem_record *record)
{
    yoke_context *context = space->context;
    const int n = space->components;
    double load = 0, value = 0;
    for (int64_t i = 0; i < (int64_t)space->num_nodes * n; i++) {
        value = fmax(value, fabs(constraints->value[i]));
        if (!(constraints->prescribed[i / n] >> i % n & 1)) load = fmax(load, fabs(solution->load[i]));
    }
    app_ranks_max(space->ranks, &load, 1);
    app_ranks_max(space->ranks, &value, 1);
    if (load > 0 || value > 0)
        return warn(context, record,
                    "the loads are so small (%.3g at a node) that their squares are below all numbers: the solution is zero or has few "
                    "digits; check their units",
                    fmax(load, value));
    if (space->problem->rigid)
        return warn(context, record,
                    "nothing loads the body: what is prescribed moves it as a whole, without strain (poisson: is constant); give a load, "
                    "or other values");
    return warn(context, record,
                "nothing loads the body: no load and no prescribed value but zero, so that the solution is zero; give a load in boundary, "
                "or gravity");
}

yoke_status fem_warn_of_solution(const fem_space *space, const fem_constraints *constraints, const fem_solution *solution, int step,
                                 fem_record *record)
{
    yoke_context *context = space->context;
    if (step == 0 && solution->strain_energy_j < DBL_MIN) return warn_of_no_load(space, constraints, solution, record);
    yoke_status status = solution->setup_failed ? warn(context, record, "step %d: preconditioner %s", step, solution->reason) : YOKE_OK;
    if (status || !solution->stopped_by_rounding) return status;
    return warn(context, record,
                "step %d: rounding ends the iteration before the accuracy that was asked for: the solution's error in the energy norm is "
                "about %.1e of the whole (solver.energy_error); constrain the body better or mesh it more evenly to reduce it",
                step, solution->energy_error);
}

yoke_status fem_warn_of_locking(const fem_problem *problem, double estimate, fem_record *record)
{
    double worst = 0;
    for (int m = 0; m < problem->num_materials; m++) {
        const fem_material *material = &problem->materials[m];
        worst = fmax(worst, material->lambda / (2 * (material->lambda + material->mu)));
    }
    if (problem->components == 1 || worst < FEM_NEARLY_INCOMPRESSIBLE) return YOKE_OK;
    return warn(
        problem->context, record,
        "Poisson's ratio %.6g: elements of nearly incompressible materials lock on coarse meshes; the error estimate is %.2g of the "
        "solution, %s",
        worst, estimate,
        estimate > 0.1 ? "so that displacements and above all stresses may be far off: refine (refine.steps, refine.initial) until it "
                         "is below 0.1"
                       : "so that little of it is left");
}
