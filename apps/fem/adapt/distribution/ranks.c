/* ranks.c - the values of all ranks in a step's record, and the number of elements that each rank gets next. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/distribution/private.h"

/* A part, as it is sent to other ranks. */
typedef struct part_message {
    fem_part_record part;
    char device[64];
} part_message;

/* Gathers the parts of all ranks in their order. */
static yoke_status gather_parts(fem_distribution *d, fem_step_record *record)
{
    const int rank = app_ranks_number(d->options.ranks);
    part_message own[FEM_MAX_DEVICES];
    void *all = NULL;
    int64_t bytes = 0;
    memset(own, 0, sizeof own);
    for (int i = 0; i < d->num_parts; i++) {
        own[i].part = d->parts[i];
        own[i].part.rank = rank;
        snprintf(own[i].device, sizeof own[i].device, "%s", d->parts[i].device);
    }
    d->first_part = (int)app_ranks_offset(d->options.ranks, d->num_parts, NULL);
    yoke_status status = app_ranks_collect(d->options.ranks, own, d->num_parts * (int64_t)sizeof *own, &all, &bytes);
    if (status) return status;
    const int count = (int)(bytes / (int64_t)sizeof *own);
    yoke_release(d->context, d->messages);
    yoke_release(d->context, d->all_parts);
    d->messages = all;
    d->all_parts = NULL;
    status = app_ranks_agree(d->options.ranks, yoke_allocate(d->context, count, sizeof *d->all_parts, &d->all_parts));
    if (status) return status;
    for (int i = 0; i < count; i++) {
        part_message *message = (part_message *)d->messages + i;
        d->all_parts[i] = message->part;
        d->all_parts[i].device = message->device;
    }
    record->num_parts = count;
    record->parts = d->all_parts;
    return YOKE_OK;
}

/* A failure, as it is sent to other ranks. */
typedef struct failure_message {
    int rank;
    char device[64], why[512];
} failure_message;

/* Gathers the failures of all ranks in their order. */
static yoke_status gather_failures(fem_distribution *d, fem_step_record *record)
{
    failure_message own[FEM_MAX_DEVICES];
    void *all = NULL;
    int64_t bytes = 0;
    memset(own, 0, sizeof own);
    for (int i = 0; i < d->num_failures; i++) {
        own[i].rank = app_ranks_number(d->options.ranks);
        snprintf(own[i].device, sizeof own[i].device, "%s", d->failures[i].device);
        snprintf(own[i].why, sizeof own[i].why, "%s", d->failures[i].why);
    }
    yoke_status status = app_ranks_collect(d->options.ranks, own, d->num_failures * (int64_t)sizeof *own, &all, &bytes);
    if (status) return status;
    const int count = (int)(bytes / (int64_t)sizeof *own);
    yoke_release(d->context, d->failure_messages);
    yoke_release(d->context, d->all_failures);
    d->failure_messages = all;
    d->all_failures = NULL;
    status = app_ranks_agree(d->options.ranks, yoke_allocate(d->context, count, sizeof *d->all_failures, &d->all_failures));
    if (status) return status;
    for (int i = 0; i < count; i++) {
        const failure_message *message = (const failure_message *)d->failure_messages + i;
        d->all_failures[i] = (fem_failure_record){.rank = message->rank, .device = message->device, .why = message->why};
    }
    record->num_failures = count;
    record->failures = d->all_failures;
    return YOKE_OK;
}

/* The larger time; NaN if one of them is not known. */
static double longer(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b); }

/* Compares the measured times of all ranks with the predicted ones. */
static void learn_ranks(fem_distribution *d, fem_step_record *record)
{
    const int count = app_ranks_count(d->options.ranks);
    double worst = NAN;
    for (int rank = 0; rank < count; rank++) {
        double seconds = 0, predicted = 0;
        d->rank_parts[rank] = 0;
        for (int i = 0; i < record->num_parts; i++) {
            const fem_part_record *part = &record->parts[i];
            if (part->rank != rank) continue;
            d->rank_parts[rank] += part->elements;
            seconds = longer(seconds, part->seconds_per_product);
            predicted = longer(predicted, part->predicted_seconds_per_product);
        }
        d->rank_s[rank] = seconds > 0 ? seconds : (double)NAN;
        d->predicted_s[rank] = predicted > 0 ? predicted : (double)NAN;
        const double ratio = d->predicted_s[rank] / d->rank_s[rank];
        worst = fmax(worst, fmax(ratio, 1 / ratio) - 1); /* fmax ignores NaN */
    }
    fem_nodes_learn(&d->errors, worst);
    d->latest_products = (double)record->operator_applications;
    d->partition.num_ranks = count;
    d->partition.elements = d->rank_parts;
    d->partition.seconds_per_product = d->rank_s;
    d->partition.predicted_per_product_s = d->predicted_s;
    record->partition = d->partition;
}

/* Replaces this rank's memory, messages and sent bytes by the sums over all ranks, and adds the largest messages and bytes of a rank. */
static void report_sums(app_ranks *ranks, fem_step_record *record)
{
    double sums[3] = {record->memory_bytes, record->messages_per_iteration, record->sent_bytes_per_iteration}, most[2] = {sums[1], sums[2]};
    app_ranks_sum(ranks, sums, 3);
    app_ranks_max(ranks, most, 2);
    record->memory_bytes = sums[0];
    record->messages_per_iteration = sums[1];
    record->sent_bytes_per_iteration = sums[2];
    record->most_messages_per_iteration = most[0];
    record->most_sent_bytes_per_iteration = most[1];
}

/* Reports the energy by the meters of all ranks, with those of each machine counted once; NaN if one of them does not report it. */
static void report_energy(const fem_distribution *d, fem_step_record *record)
{
    app_ranks *ranks = d->options.ranks;
    const yoke_energy *own = &d->assignment->energy;
    double sum = d->counts ? own->value_j : 0, kinds[] = {0, 0, 0};
    static const yoke_energy_kind less_than_measured[] = {YOKE_ENERGY_ESTIMATED, YOKE_ENERGY_SIMULATED, YOKE_ENERGY_REPLAYED};
    app_ranks_sum(ranks, &sum, 1);
    for (int k = 0; k < 3; k++) kinds[k] = d->counts && own->kind == less_than_measured[k];
    app_ranks_max(ranks, kinds, 3);
    yoke_energy_kind kind = YOKE_ENERGY_MEASURED;
    for (int k = 2; k >= 0; k--)
        if (kinds[k] > 0) kind = less_than_measured[k];
    record->measured_energy_j = sum;
    record->measured_product_j = sum / (double)record->operator_applications;
    record->energy_kind = isnan(sum) ? NULL : yoke_energy_kind_text(kind);
}

/* Reports the predictions of the plan of all ranks, for the elements that the ranks have. */
static void report_choice(fem_distribution *d, int as_planned, fem_step_record *record)
{
    const char *const *names;
    record->predicted_energy_j = record->predicted_product_j = record->energy_with_l_j = NAN;
    if (!d->any_plans || !d->choice.known || !as_planned) return;
    const double planned = d->products.levels[0].products / d->choice.calls,
                 found = d->calls[0] / d->choice.calls; /* without the products of the set-up */
    record->predicted_time_s = planned * d->choice_s;
    record->predicted_energy_j = planned * d->choice_j;
    record->predicted_product_j = record->predicted_energy_j / d->products.all_products;
    record->time_with_l_s = found * d->choice_s;
    record->energy_with_l_j = found * d->choice_j;
    const yoke_plan *plan = app_joint_latest(d->joint, &names);
    if (!plan || !plan->feasible) return;
    record->decision = plan->decision;
    record->num_devices = (int)plan->num_devices;
    record->device_names = names;
    d->weighed[record->num_weighed++] = (fem_weighed_record){
        .name = "best", .note = "", .elements = plan->best.units, .time_s = plan->best.time_s, .energy_j = plan->best.energy_j};
    for (int64_t k = 0; k < plan->num_alternatives && record->num_weighed < FEM_MAX_WEIGHED; k++) {
        const yoke_plan_choice *it = &plan->alternatives[k];
        if (it->feasible && strcmp(it->name, "best") != 0)
            d->weighed[record->num_weighed++] = (fem_weighed_record){
                .name = it->name, .note = it->note, .elements = it->units, .time_s = it->time_s, .energy_j = it->energy_j};
    }
}

yoke_status fem_distribution_report_ranks(fem_distribution *d, int as_planned, fem_step_record *record)
{
    enum { SECONDS = 7 };
    app_ranks *ranks = d->options.ranks;
    report_sums(ranks, record);
    if (app_ranks_count(ranks) == 1) return YOKE_OK;
    double elements[2] = {0, 0}, seconds[SECONDS] = {record->setup_s,
                                                     record->solve_s,
                                                     record->measured_time_s,
                                                     record->measured_product_s,
                                                     record->predicted_product_s,
                                                     record->predicted_time_s,
                                                     record->time_with_l_s};
    for (int i = 0; i < d->num_parts; i++) elements[0] += (double)d->parts[i].elements;
    if (elements[0] > 0) elements[1] = record->gpu_share * elements[0];
    app_ranks_sum(ranks, elements, 2);
    for (int i = 0; i < SECONDS; i++) seconds[i] = isnan(seconds[i]) ? -1 : seconds[i];
    app_ranks_max(ranks, seconds, SECONDS);
    double *const to[SECONDS] = {&record->setup_s,
                                 &record->solve_s,
                                 &record->measured_time_s,
                                 &record->measured_product_s,
                                 &record->predicted_product_s,
                                 &record->predicted_time_s,
                                 &record->time_with_l_s};
    for (int i = 0; i < SECONDS; i++) *to[i] = seconds[i] < 0 ? (double)NAN : seconds[i];
    record->gpu_share = elements[1] / elements[0];
    record->share = elements[1] == 0 ? FEM_SHARE_CPU : elements[1] == elements[0] ? FEM_SHARE_GPU : FEM_SHARE_BOTH;
    record->num_weighed = 0;
    report_energy(d, record);
    report_choice(d, as_planned, record);
    yoke_status status = gather_parts(d, record);
    if (!status) status = gather_failures(d, record);
    if (!status) learn_ranks(d, record);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the next mesh */

yoke_status fem_distribution_start_ranks(fem_distribution *d)
{
    enum { COUNTS = 2, NUMBERS = 3 };
    const int64_t ranks = app_ranks_count(d->options.ranks);
    yoke_status status = yoke_allocate(d->context, COUNTS * ranks, sizeof *d->rank_counts, &d->rank_counts);
    if (!status) status = yoke_allocate(d->context, NUMBERS * ranks, sizeof *d->share, &d->share);
    if (status) return status;
    d->now = d->rank_counts;
    d->rank_parts = d->now + ranks;
    d->rank_s = d->share + ranks;
    d->predicted_s = d->rank_s + ranks;
    d->move_s = NAN;
    d->partition = (fem_partition_record){.choice = "equal", .tolerance = NAN, .gain_s = NAN, .cost_s = NAN, .moved_s = NAN};
    return YOKE_OK;
}

/* This rank's devices whose times are known. */
typedef struct rank_devices {
    fem_distribution *d;
    int count, device[FEM_MAX_DEVICES];
    int together; /* nonzero: they work at the same time */
    int ended;    /* nonzero: all ranks know that one of them cannot predict */
} rank_devices;

/* Finds those that worked in the latest step; if the rank had no elements, those among all devices. */
static rank_devices find_known(fem_distribution *d)
{
    rank_devices known = {.d = d, .count = 0};
    yoke_prediction call;
    const int worked = fem_distribution_working(d);
    known.together = (worked ? worked : d->devices->count) > 1;
    for (int i = 0; i < d->devices->count; i++)
        if (!d->devices->list[i].failed && (!worked || d->units[i] > 0) &&
            !yoke_run_predict(d->run, d->works.fine, i, 1, NAN, known.together, &call))
            known.device[known.count++] = i;
    return known;
}

/* The kernel of yoke_plan_nested for the rank's devices. */
static yoke_status predict_devices(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    const rank_devices *known = user;
    yoke_prediction call;
    for (int i = 0; i < known->count; i++) {
        if (!columns[i]) continue;
        yoke_status status = yoke_run_predict(known->d->run, known->d->works.fine, known->device[i], (double)(rows[0] * columns[i]), NAN,
                                              known->together, &call);
        if (status) return status;
        seconds[i] = call.seconds;
    }
    return YOKE_OK;
}

/* Predicts the rank's time: its devices share the elements so that they finish together. */
static yoke_status predict_rank(const rank_devices *known, int64_t elements, double *seconds)
{
    const int64_t devices = known->count, rows = 1;
    yoke_nested_plan *plan = NULL;
    *seconds = elements ? (double)NAN : 0;
    if (!elements || !devices) return YOKE_OK;
    if (devices == 1) return predict_devices((void *)known, &rows, &elements, seconds);
    const yoke_nested_options options = {.blocks = 1,
                                         .columns = elements,
                                         .num_nodes = 1,
                                         .devices = &devices,
                                         .strategy = YOKE_NESTED_FPM,
                                         .kernel = predict_devices,
                                         .user = (void *)known};
    yoke_status status = yoke_plan_nested(known->d->context, &options, &plan);
    if (!status) *seconds = plan->node_s[0];
    yoke_release(known->d->context, plan);
    return status;
}

static yoke_status predict_ranks(void *user, const int64_t *elements, double *seconds)
{
    rank_devices *known = user;
    app_ranks *ranks = known->d->options.ranks;
    double mine = NAN;
    yoke_status status = app_ranks_agree(ranks, predict_rank(known, elements[app_ranks_number(ranks)], &mine));
    known->ended = status != YOKE_OK;
    if (!status) app_ranks_gather(ranks, &mine, sizeof mine, seconds);
    return status;
}

yoke_status fem_distribution_shares(fem_distribution *d, int64_t local, const double **shares)
{
    static const char *const choices[] = {[FEM_NODES_EQUAL] = "equal", [FEM_NODES_SPEEDS] = "speeds", [FEM_NODES_KEPT] = "kept"};
    app_ranks *ranks = d->options.ranks;
    const int count = app_ranks_count(ranks);
    *shares = NULL;
    if (count == 1) return YOKE_OK;
    rank_devices known = find_known(d);
    fem_nodes_answer answer;
    double real = !d->simulated;
    app_ranks_max(ranks, &real, 1);
    app_ranks_gather(ranks, &local, sizeof local, d->now);
    fem_nodes_question question = {.ranks = count,
                                   .now = d->now,
                                   .products = d->latest_products,
                                   .tolerance = fem_nodes_tolerance(&d->errors, d->differed),
                                   /* simulated seconds cannot be compared with those of moving */
                                   .move_s = real > 0 ? d->move_s : (double)NAN,
                                   .kernel = predict_ranks,
                                   .user = &known};
    for (int i = 0; i < count; i++) question.elements += d->now[i];
    if (d->any_plans) {
        int found = 0;
        yoke_status joint = fem_distribution_joint_shares(d, question.elements, &found);
        if (joint) return joint;
        if (found) {
            d->differed = 1;
            *shares = d->share;
            d->partition.choice = "plan";
            d->partition.tolerance = d->partition.gain_s = d->partition.cost_s = NAN;
            return YOKE_OK;
        }
    }
    yoke_status status = fem_nodes_decide(d->context, &question, d->rank_parts, &answer);
    if (!known.ended) status = app_ranks_agree(ranks, status); /* if only this rank has failed, the ranks agree here or in predict_ranks */
    if (status) return status;
    for (int i = 0; i < count; i++) d->share[i] = (double)d->rank_parts[i];
    d->differed = answer.choice != FEM_NODES_EQUAL;
    if (d->differed) *shares = d->share;
    d->partition.choice = choices[answer.choice];
    d->partition.tolerance = isnan(answer.gain_s) ? (double)NAN : question.tolerance;
    d->partition.gain_s = answer.gain_s;
    d->partition.cost_s = answer.cost_s;
    return YOKE_OK;
}

void fem_distribution_moved(fem_distribution *d, int64_t local, double seconds)
{
    app_ranks *ranks = d->options.ranks;
    app_ranks_gather(ranks, &local, sizeof local, d->rank_parts);
    app_ranks_max(ranks, &seconds, 1);
    d->partition.moved = fem_nodes_moved(app_ranks_count(ranks), d->now, d->rank_parts);
    d->partition.moved_s = d->partition.moved ? seconds : (double)NAN;
    d->move_s = fem_nodes_learn_move(d->move_s, d->partition.moved, seconds);
}
