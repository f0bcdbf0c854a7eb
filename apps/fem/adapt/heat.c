#include "adapt/heat.h"

#include <math.h>
#include <string.h>

#include "common/files/file.h"

struct fem_heat {
    fem_case *input;
    fem_problem *problem;
    fem_field field;
};

static bool same_number(app_number a, app_number b) { return a.value == b.value || (isnan(a.value) && isnan(b.value)); }

/* input: the case that names the heat case. */
static yoke_status check_heat(const fem_case *input, const fem_case *heat)
{
    const app_text *name = &input->keys.temperature.heat_case;
    const char *directory = input->keys.output.directory.value;
    if (heat->keys.problem.value != FEM_POISSON)
        return app_yaml_fail(input->yaml, name->place, "temperature.case: %s is no heat case; its problem must be poisson", heat->path);
    if (!app_is_same_place(input->mesh_path, heat->mesh_path) || !same_number(input->keys.mesh_scale, heat->keys.mesh_scale))
        return app_yaml_fail(input->yaml, name->place,
                             "temperature.case: %s has another mesh (%s) or mesh_scale than this case (%s); both must be the same",
                             heat->path, heat->mesh_path, input->mesh_path);
    if (app_is_same_place(directory, heat->keys.output.directory.value))
        return app_yaml_fail(input->yaml, name->place,
                             "temperature.case: %s writes its results into %s, as this case does; give one of them another "
                             "output.directory",
                             heat->path, directory);
    return YOKE_OK;
}

yoke_status fem_heat_create(const fem_case *input, const fem_mesh *mesh, fem_heat **result)
{
    *result = NULL;
    if (!app_given(input->keys.temperature.heat_case.place)) return YOKE_OK;
    fem_heat *heat;
    yoke_status status = yoke_allocate(input->context, 1, sizeof *heat, &heat);
    if (status) return status;
    status = fem_case_read(input->context, input->heat_path, NULL, 0, &heat->input);
    if (!status) status = check_heat(input, heat->input);
    if (!status) status = fem_case_check_output(heat->input);
    if (!status) status = fem_problem_create(heat->input, mesh, &heat->problem);
    if (status) {
        fem_case_destroy(heat->input);
        yoke_release(input->context, heat);
        return status;
    }
    *result = heat;
    return YOKE_OK;
}

void fem_heat_destroy(fem_heat *heat)
{
    if (!heat) return;
    yoke_context *context = heat->input->context;
    fem_field_clear(&heat->field);
    fem_problem_destroy(heat->problem);
    fem_case_destroy(heat->input);
    yoke_release(context, heat);
}

const char *fem_heat_directory(const fem_heat *heat) { return heat->input->keys.output.directory.value; }

yoke_status fem_heat_solve(fem_heat *heat, const fem_run *run, fem_problem *problem)
{
    fem_run own = *run;
    const char *const words[] = {heat->input->path};
    own.json = NULL;
    own.num_words = 1;
    own.words = words;
    own.restart = NULL;
    own.keep = &heat->field;
    app_ranks *ranks = problem->mesh->ranks;
    yoke_status status = app_ranks_agree(ranks, fem_case_check_alike(heat->input, ranks));
    if (status) return status;
    app_print(run->terminal, "temperature: %s\n", heat->input->path);
    status = fem_adapt(&own, heat->input, heat->problem);
    if (status) return status;
    if (heat->field.space) problem->temperature.field = &heat->field;
    app_print(run->terminal, "\n");
    return YOKE_OK;
}
