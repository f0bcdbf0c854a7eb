/* begin.c - the start of the adaptive loop: its mesh, from the case or from a checkpoint. */
#include <stdio.h>
#include <string.h>

#include "adapt/boxes.h"
#include "adapt/private.h"

/* --------------------------------------------------------------------------------------------- initial mesh */

/* Creates the forest of the checkpoint, or that of the case. */
static yoke_status create_forest(fem_adaptation *a)
{
    if (a->run->restart) return fem_keep_forest(a->run->restart, a->problem, &a->forest);
    yoke_status status =
        app_ranks_agree(a->ranks, fem_forest_create(a->problem->mesh, (int)a->input->keys.refine.initial.value, &a->forest));
    if (!status) status = fem_refine_boxes(&a->input->keys.refine, a->problem, a->forest);
    return status ? status : fem_forest_partition(a->forest, NULL);
}

static yoke_status collect_probes(fem_adaptation *a)
{
    const fem_case_keys *keys = &a->input->keys;
    a->num_probes = keys->probes.count;
    yoke_status status = yoke_allocate(a->context, a->num_probes, sizeof *a->probes, &a->probes);
    for (int i = 0; !status && i < a->num_probes; i++) {
        a->probes[i].name = keys->probes.items[i].name.value;
        memcpy(a->probes[i].x, keys->probes.items[i].x.value, sizeof a->probes[i].x);
    }
    return status;
}

/* Reports a probe outside the body as an error at its place in the case file. */
static yoke_status check_probes(const fem_adaptation *a)
{
    if (!a->num_probes) return YOKE_OK;
    const fem_case *input = a->input;
    fem_space *space;
    yoke_status status = fem_space_create(a->problem, a->forest, FEM_Q1, &space);
    if (status) return status;
    status = fem_probes_check(space, a->num_probes, a->probes);
    for (int i = 0; status == YOKE_ERROR_INPUT && i < a->num_probes; i++) {
        if (!fem_probes_check(space, 1, &a->probes[i])) continue;
        char outside[1024];
        snprintf(outside, sizeof outside, "%s", yoke_last_error(a->context));
        status = app_yaml_fail(input->yaml, input->keys.probes.items[i].x.place, "%s", outside);
        break;
    }
    fem_space_destroy(space);
    return status;
}

static yoke_status create_distribution(fem_adaptation *a)
{
    const fem_case_keys *keys = &a->input->keys;
    fem_distribution_options options = a->run->distribution;
    const fem_case_objective *objective = &keys->objective;
    options.input = a->input;
    options.ranks = a->ranks;
    options.operator_kind = a->operator_kind;
    options.objective = (yoke_objective)objective->minimise.value;
    options.max_slowdown = objective->max_slowdown.value;
    options.power_cap_w = objective->power_cap_w.value;
    options.deadline_s = objective->deadline_s.value;
    options.keep_frequencies = objective->frequencies.value != 0;
    options.rounds = keys->refine.steps.value;
    options.saved = a->run->restart ? fem_run_state_speeds(a->run->restart->checkpoint) : NULL;
    a->choice =
        (fem_solver_choice){.asked = (fem_preconditioner)keys->solver.preconditioner.value, .steady = fem_distribution_plans(&options)};
    yoke_status status = fem_distribution_create(a->context, &options, &a->distribution);
    if (status) return status;
    a->table.gpu = fem_distribution_has_gpu(a->distribution);
    a->table.prediction = true;
    return YOKE_OK;
}

yoke_status fem_adaptation_prepare(fem_adaptation *a)
{
    yoke_topology topology;
    yoke_status status = yoke_topology_get(a->context, &topology);
    if (!status) status = collect_probes(a);
    status = app_ranks_agree(a->ranks, status);
    if (!status) status = create_forest(a);
    if (!status) status = check_probes(a);
    if (!status) status = create_distribution(a);
    if (!status) status = fem_coarse_keeper_create(a->context, &a->keeper);
    if (!status) a->memory_bytes = topology.memory_bytes;
    return app_ranks_agree(a->ranks, status);
}

/* ------------------------------------------------------------------------------------ results, checkpoints */

/* Continues from the checkpoint: `now` becomes its step if that is solved, and stays empty otherwise. */
static yoke_status resume(fem_adaptation *a)
{
    const fem_restart *restart = a->run->restart;
    const fem_run_state *state = &a->keep.state;
    const int solved = restart->checkpoint->solved;
    yoke_status status = fem_keep_restore(&a->keep, restart, a->run->argc, a->run->argv);
    if (!status && !solved) status = fem_adaptation_distribute(a); /* otherwise the next mesh is distributed */
    if (!status) status = fem_keep_resume(&a->keep, restart, a->forest, &a->now, &a->start);
    if (status) return status;
    a->step = state->step;
    a->refine_s = state->refine_s;
    a->finished = solved || state->step > 0;
    status = fem_results_continue(a->results, state->step + solved);
    if (!status && a->finished) status = fem_record_write(a->record);
    if (solved)
        app_print(a->run->terminal, "continuing after step %d, from %s\n", state->step, restart->path);
    else
        app_print(a->run->terminal, "continuing within step %d, after %d iterations, from %s\n", state->step, state->iterations,
                  restart->path);
    return status;
}

/* Prepares the data of checkpoints; in a continued run, restores the saved ones. */
static yoke_status begin_keeping(fem_adaptation *a)
{
    const fem_restart *restart = a->run->restart;
    fem_keep *keep = &a->keep;
    keep->context = a->context;
    keep->problem = a->problem;
    keep->state = (fem_run_state){.input = a->input,
                                  .mesh = a->problem->mesh,
                                  .num_words = a->run->num_words,
                                  .words = a->run->words,
                                  .record = a->record,
                                  .summary = a->summary,
                                  .choice = &a->choice,
                                  .distribution = a->distribution};
    yoke_status status =
        fem_checkpoints_create(a->results, a->context, a->ranks, a->input->keys.output.directory.value, &a->input->keys.checkpoint,
                               restart ? restart->number : -1, restart && restart->begun, &keep->checkpoints);
    return status || !restart ? status : resume(a);
}

yoke_status fem_adaptation_begin(fem_adaptation *a)
{
    const char *path = NULL;
    yoke_status status = fem_results_open(a->context, a->ranks, a->input->keys.output.directory.value, &a->results);
    if (status) return status;
    status = fem_summary_create(a->input, a->problem, a->num_probes, a->probes, &a->summary);
    if (!status) status = fem_results_path(a->results, FEM_RESULTS_RECORD, &path);
    if (!status) snprintf(a->record_path, sizeof a->record_path, "%s", path);
    const char *paths[FEM_RECORD_PATHS] = {a->record_path, a->run->json};
    if (!status) /* the first rank writes the record */
        status = fem_record_create(a->input, a->run->argc, a->run->argv, app_ranks_number(a->ranks) == 0 ? FEM_RECORD_PATHS : 0, paths,
                                   &a->record);
    if (!status) status = fem_record_mesh(a->record, a->problem->mesh);
    status = app_ranks_agree(a->ranks, status);
    return status ? status : begin_keeping(a);
}
