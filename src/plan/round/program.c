/*
 * program.c - bounds a node by a linear program.  Each device has a weighted mean of states; a line (interval) is as long as the longest
 * mean in it.
 *
 *   least second (A + T') + sum of means' joules + host_overhead_w sum over lines of h_k, where A is the node's least makespan
 *   rows: each device's seconds in a line <= t_k; its weights sum to 1; the means' parts sum to each group's total;
 *         s + sum of t_k <= A + T' and <= B, the node's most;  t_k - hosts' seconds in the line <= h_k.
 *
 * States are added by column generation with the multipliers of the rows (round_best_state).  For any multipliers, the sum of the devices'
 * least costs is a bound (Lagrange).  It is evaluated separately from the program, so it does not depend on the accuracy of the solution.
 * docs/methods/plan.md.
 */
#include <math.h>
#include <string.h>

#include "plan/round/program.h"

/* Penalty of rows that are violated (relative to the total cost), so that a first basis is easy to find. */
static const double broken = 1e4;
/* Perturbation of the rows of seconds, different for each: with equal rows the simplex method makes degenerate steps. */
static const double moved = 1e-9;
/* States that lower the total cost by less than this fraction are not added. */
static const double least_gain = 1e-10;

/* -------------------------------------------------------------------------------------------------------- memory */

static yoke_status create_prices(const round_search *search, round_prices *prices)
{
    const plan_work *work = search->work;
    yoke_status status = yoke_allocate(work->context, (int64_t)search->num_lines * work->num_devices, sizeof(double), &prices->lines);
    if (status == YOKE_OK) status = yoke_allocate(work->context, search->num_lines, sizeof(double), &prices->hosts);
    if (status == YOKE_OK) status = yoke_allocate(work->context, search->num_groups, sizeof(double), &prices->groups);
    return status;
}

static void copy_prices(const round_search *search, const round_prices *from, round_prices *to)
{
    to->joules = from->joules;
    to->second = from->second;
    memcpy(to->lines, from->lines, (size_t)(search->num_lines * search->work->num_devices) * sizeof(double));
    memcpy(to->hosts, from->hosts, (size_t)search->num_lines * sizeof(double));
    memcpy(to->groups, from->groups, (size_t)search->num_groups * sizeof(double));
}

static int largest_of(int a, int b) { return a > b ? a : b; }

yoke_status round_program_create(round_search *search)
{
    enum { STATES = 160, STATES_OF_DEVICE = 40 };
    const plan_work *work = search->work;
    const int devices = work->num_devices, lines = search->num_lines, groups = search->num_groups;
    const int rows = devices * lines + devices + groups + 2 + lines;
    search->most_states = STATES + STATES_OF_DEVICE * devices;
    search->state_size = groups + 2 * lines + 1;
    yoke_status status = yoke_allocate(work->context, search->most_states, sizeof *search->states, &search->states);
    if (status == YOKE_OK)
        status = yoke_allocate(work->context, (int64_t)search->most_states * search->state_size, sizeof(double), &search->numbers);
    round_prices *const all[] = {&search->prices[0], &search->prices[1], &search->trial};
    for (int k = 0; k < 3 && status == YOKE_OK; k++) status = create_prices(search, all[k]);
    if (status != YOKE_OK) return status;
    const int entries = largest_of(devices + 3, 2 * lines + 1 + groups);
    return plan_simplex_create(work->context, rows, rows + 2 * lines + 2 + groups + search->most_states, entries, &search->program);
}

void round_program_destroy(round_search *search)
{
    yoke_context *context = search->work->context;
    round_prices *const all[] = {&search->prices[0], &search->prices[1], &search->trial};
    for (int k = 0; k < 3; k++) {
        yoke_release(context, all[k]->lines);
        yoke_release(context, all[k]->hosts);
        yoke_release(context, all[k]->groups);
    }
    yoke_release(context, search->states);
    yoke_release(context, search->numbers);
    if (search->program.context != NULL) plan_simplex_destroy(&search->program);
}

/* --------------------------------------------------------------------------------------------------- rows and columns */

/* Joules of a state in excess of the least idle power. */
static double joules_of(const node_program *p, const round_state *state)
{
    const round_search *search = p->search;
    const plan_device *device = &search->work->devices[state->device];
    const double idle_w = state->level < 0 ? device->parked_w : device->levels[state->level].idle_w;
    if (!p->joules) return 0;
    return numbers_of(search, (int)(state - search->states))[p->groups + 2 * p->lines] +
           (idle_w - search->box.idle_w[state->device]) * p->node->low_s;
}

static void add_unit(node_program *p, double cost, int row)
{
    const double one = 1;
    plan_simplex_add(&p->search->program, cost, 1, &row, &one);
}

static int add_single(node_program *p, double cost, int row)
{
    const double less = -1;
    return plan_simplex_add(&p->search->program, cost, 1, &row, &less);
}

/* Starts the program with its rows and their unit columns. */
static void start_rows(node_program *p)
{
    enum { MOST = PLAN_MAX_DEVICES * 8 + 384 + 2 * PLAN_MAX_PHASES + PLAN_MAX_CUTS + 8 };
    double b[MOST] = {0};
    const round_search *search = p->search;
    const double call_s = search->work->call_s;
    for (int r = 0; r < p->devices_at; r++) b[r] = moved * (1 + r * 37 % 101 / 101.0);
    for (int i = 0; i < p->devices; i++) b[p->devices_at + i] = 1;
    for (int g = 0; g < p->groups; g++) b[p->groups_at + g] = is_used(search, g) ? search->groups[g].total : 0;
    b[p->least_at] = fmax(0, p->node->low_s - call_s) / p->second_unit;
    b[p->most_at] = isfinite(p->node->high_s) ? fmax(0, p->node->high_s - call_s) / p->second_unit : 1;
    plan_simplex_start(&p->search->program, p->rows, b);
    for (int r = 0; r < p->rows; r++) {
        const int sums = r >= p->devices_at && r < p->least_at, unused = r >= p->groups_at && sums && !(b[r] > 0);
        add_unit(p, sums && !unused ? broken : 0, r);
    }
}

static void add_own(node_program *p)
{
    own_columns *own = &p->own;
    int rows[PLAN_MAX_DEVICES + 3];
    double values[PLAN_MAX_DEVICES + 3];
    round_search *search = p->search;
    for (int k = 0; k < p->lines; k++) {
        int count = 0;
        for (; count < p->devices; count++) {
            rows[count] = k * p->devices + count;
            values[count] = -1;
        }
        rows[count] = p->least_at;
        values[count++] = 1;
        if (isfinite(p->node->high_s)) {
            rows[count] = p->most_at;
            values[count++] = 1;
        }
        if (p->joules && search->overhead[k]) {
            rows[count] = p->hosts_at + k;
            values[count++] = 1;
        }
        own->lines[k] = plan_simplex_add(&search->program, 0, count, rows, values);
        own->hosts[k] = p->joules && search->overhead[k]
                            ? add_single(p, search->work->host_overhead_w * p->second_unit / p->cost_unit, p->hosts_at + k)
                            : -1;
    }
    for (int g = 0; g < p->groups; g++) own->groups[g] = add_single(p, 0, p->groups_at + g);
    own->longer = add_single(p, p->second * p->second_unit / p->cost_unit, p->least_at);
    own->too_long = add_single(p, broken, p->most_at);
}

static void add_state(node_program *p, round_state *state)
{
    enum { MOST = 4 * PLAN_MAX_PHASES };
    int rows[MOST], count = 0;
    double values[MOST];
    const round_search *search = p->search;
    const double *numbers = numbers_of(search, (int)(state - search->states)), *seconds = numbers + p->groups, *above = seconds + p->lines;
    for (int k = 0; k < p->lines; k++) {
        if (seconds[k] > 0) {
            rows[count] = k * p->devices + state->device;
            values[count++] = seconds[k] / p->second_unit;
        }
        if (p->joules && search->overhead[k] && above[k] > 0) {
            rows[count] = p->hosts_at + k;
            values[count++] = -above[k] / p->second_unit;
        }
    }
    rows[count] = p->devices_at + state->device;
    values[count++] = 1;
    for (int g = 0; g < p->groups; g++)
        if (numbers[g] > 0 && is_used(search, g)) {
            rows[count] = p->groups_at + g;
            values[count++] = numbers[g];
        }
    state->column = plan_simplex_add(&p->search->program, joules_of(p, state) / p->cost_unit, count, rows, values);
}

/* Nonzero: a state that was found in another node is a state of this node. */
static int is_in_box(const node_program *p, const round_state *state)
{
    const round_search *search = p->search;
    const round_box *box = &search->box;
    const double *parts = numbers_of(search, (int)(state - search->states));
    const int i = state->device;
    if (state->level < 0) return box->may_be_off[i];
    if (!box->may_work[i] || state->level < p->node->first[i] || state->level > p->node->last[i] ||
        !box->possible[search->first_level[i] + state->level])
        return 0;
    for (int g = 0; g < p->groups; g++)
        if (is_used(search, g) && (parts[g] < box->parts[g * p->devices + i][0] || parts[g] > box->parts[g * p->devices + i][1])) return 0;
    return 1;
}

/* Makes room for new states: removes those that no solution has had since the last call. */
static void forget_states(round_search *search)
{
    int kept = 0;
    if (search->num_states < search->most_states / 2) return;
    for (int s = 0; s < search->num_states; s++) {
        if (!search->states[s].used) continue;
        search->states[kept] = search->states[s];
        search->states[kept].used = 0;
        memmove(numbers_of(search, kept), numbers_of(search, s), (size_t)search->state_size * sizeof(double));
        kept++;
    }
    search->num_states = kept < search->most_states / 2 ? kept : 0;
}

/* -------------------------------------------------------------------------------------------------------- the bound */

/* Converts the multipliers to prices, scaled so that their sums are correct. */
static void take_prices(const node_program *p, round_prices *prices)
{
    const round_search *search = p->search;
    const double *multipliers = search->program.multipliers, unit = p->cost_unit / p->second_unit;
    prices->joules = p->joules;
    prices->second = fmax(0, -(multipliers[p->least_at] + multipliers[p->most_at]) * unit);
    if (!isfinite(p->node->high_s)) prices->second = fmin(prices->second, p->second);
    for (int g = 0; g < p->groups; g++) prices->groups[g] = is_used(search, g) ? fmax(0, multipliers[p->groups_at + g] * p->cost_unit) : 0;
    for (int k = 0; k < p->lines; k++) {
        double sum = 0, *lines = prices->lines + k * p->devices;
        prices->hosts[k] =
            p->joules && search->overhead[k] ? fmin(fmax(0, -multipliers[p->hosts_at + k] * unit), search->work->host_overhead_w) : 0;
        for (int i = 0; i < p->devices; i++) sum += lines[i] = fmax(0, -multipliers[k * p->devices + i]);
        const double wanted = prices->second + prices->hosts[k];
        for (int i = 0; i < p->devices; i++) lines[i] = sum > 0 ? lines[i] / sum * wanted * (1 - 1e-15) : wanted / p->devices;
    }
}

/*
 * A bound of second T + joules.  Also adds the state of each device that costs less than `worth` [devices] (NULL: any state), while there
 * is room.
 */
static double bound_at(node_program *p, const round_prices *prices, const double *worth)
{
    round_search *search = p->search;
    const double rest = p->second - prices->second;
    double bound = prices->second * search->work->call_s + rest * (rest >= 0 ? p->node->low_s : p->node->high_s), size = fabs(bound);
    for (int g = 0; g < p->groups; g++) {
        if (!is_used(search, g)) continue;
        bound += prices->groups[g] * search->groups[g].total;
        size += prices->groups[g] * search->groups[g].total;
    }
    for (int i = 0; i < p->devices; i++) {
        round_state *state = &search->states[search->num_states];
        const double cost = round_best_state(search, p->node, i, prices, state, numbers_of(search, search->num_states));
        bound += cost;
        size += fabs(cost);
        if (worth != NULL && !(cost < (worth[i] - least_gain) * p->cost_unit)) continue;
        if (search->num_states + 1 < search->most_states) search->num_states++; /* the last slot is scratch memory */
    }
    return bound - 1e-14 * size; /* rounding must not make it too high */
}

/*
 * The objective for a bound of second T + joules with T in the node.  It is least at an end, since a linear function times T^k is
 * log-concave.
 */
static double objective_of(const node_program *p, double bound)
{
    const int power = round_power_of_time(p->search->limits->objective);
    const double low = p->node->low_s, high = p->node->high_s;
    if (!p->joules || power == 0) return bound;
    const double at_low = fmax(0, bound - p->falling * low) * pow(low, power);
    if (!(p->falling > 0)) return at_low;
    return fmin(at_low, fmax(0, bound - p->falling * high) * pow(high, power));
}

static int is_enough(const node_program *p)
{
    const search_best *best = p->search->best;
    if (!p->joules && p->search->limits->objective != YOKE_OBJECTIVE_TIME) return p->bound > p->node->high_s;
    return objective_of(p, p->bound) >= search_enough(best);
}

/* ------------------------------------------------------------------------------------------------------ its solution */

/* A feasible first basis: each device in its newest state. */
static void start_basis(node_program *p)
{
    const own_columns *own = &p->own;
    round_search *search = p->search;
    plan_simplex *program = &search->program;
    int newest[PLAN_MAX_DEVICES], longest[PLAN_MAX_PHASES + 1] = {0};
    double lines[PLAN_MAX_PHASES + 1] = {0}, hosts[PLAN_MAX_PHASES + 1] = {0}, parts[PLAN_MAX_PHASES + PLAN_MAX_CUTS] = {0}, sum = 0;
    for (int i = 0; i < p->devices; i++) newest[i] = -1;
    for (int s = 0; s < search->num_states; s++)
        if (search->states[s].column >= 0) newest[search->states[s].device] = s;
    for (int i = 0; i < p->devices; i++) {
        if (newest[i] < 0) continue;
        const double *numbers = numbers_of(search, newest[i]);
        plan_simplex_force(program, search->states[newest[i]].column, p->devices_at + i);
        for (int g = 0; g < p->groups; g++) parts[g] += numbers[g];
        for (int k = 0; k < p->lines; k++) {
            if (numbers[p->groups + k] > lines[k]) longest[k] = i;
            lines[k] = fmax(lines[k], numbers[p->groups + k]);
            hosts[k] += numbers[p->groups + p->lines + k];
        }
    }
    for (int k = 0; k < p->lines; k++) {
        sum += lines[k];
        if (lines[k] / p->second_unit > 2 * moved) plan_simplex_force(program, own->lines[k], k * p->devices + longest[k]);
        if (own->hosts[k] >= 0 && lines[k] > hosts[k]) plan_simplex_force(program, own->hosts[k], p->hosts_at + k);
    }
    for (int g = 0; g < p->groups; g++)
        if (is_used(search, g) && parts[g] > search->groups[g].total) plan_simplex_force(program, own->groups[g], p->groups_at + g);
    sum += search->work->call_s;
    if (sum > p->node->low_s) plan_simplex_force(program, own->longer, p->least_at);
    if (sum > p->node->high_s) plan_simplex_force(program, own->too_long, p->most_at);
}

static void choose_units(node_program *p)
{
    const search_best *best = p->search->best;
    double seconds = best->result.feasible ? best->result.cost.time_s : 0, joules = 0;
    for (int s = 0; s < p->search->num_states && !best->result.feasible; s++) {
        const double *numbers = numbers_of(p->search, s) + p->groups;
        double sum = p->search->work->call_s;
        for (int k = 0; k < p->lines; k++) sum += numbers[k];
        seconds = fmax(seconds, sum);
        joules += numbers[2 * p->lines];
    }
    p->second_unit = fmax(seconds, 1e-300);
    p->cost_unit = fmax(p->second * p->second_unit, 1e-300);
    if (p->joules) p->cost_unit = fmax(p->cost_unit, best->result.feasible ? best->result.cost.energy_j : joules);
}

/* Adds states by the multipliers until none lowers the cost.  Keeps the best bound and its prices. */
static void solve(node_program *p, int turns)
{
    enum { MAX_STEPS = 2000 };
    round_search *search = p->search;
    forget_states(search);
    const int old = search->num_states;
    p->bound = bound_at(p, p->prices, NULL);
    if (is_enough(p)) return;
    choose_units(p);
    start_rows(p);
    add_own(p);
    for (int s = 0; s < search->num_states; s++) {
        search->states[s].column = -1;
        if (s >= old || is_in_box(p, &search->states[s])) add_state(p, &search->states[s]);
    }
    start_basis(p);
    for (int turn = 0; turn < turns; turn++) {
        plan_simplex_solve(&search->program, MAX_STEPS);
        const int before = search->num_states;
        take_prices(p, &search->trial);
        const double bound = bound_at(p, &search->trial, search->program.multipliers + p->devices_at);
        if (bound > p->bound) {
            p->bound = bound;
            copy_prices(search, &search->trial, p->prices);
            if (is_enough(p)) return;
        }
        const double best = plan_simplex_cost(&search->program) * p->cost_unit + p->second * p->node->low_s;
        if (search->num_states == before || best - p->bound < 1e-9 * fabs(best)) break;
        for (int s = before; s < search->num_states; s++) add_state(p, &search->states[s]);
    }
}

static node_program program_of(round_search *search, const round_node *node, int joules)
{
    const plan_work *work = search->work;
    node_program p = {.search = search, .node = node, .prices = &search->prices[joules], .joules = joules, .second = 1};
    p.devices = work->num_devices;
    p.groups = search->num_groups;
    p.lines = search->num_lines;
    p.devices_at = p.devices * p.lines;
    p.groups_at = p.devices_at + p.devices;
    p.least_at = p.groups_at + p.groups;
    p.most_at = p.least_at + 1;
    p.hosts_at = p.most_at + 1;
    p.rows = p.hosts_at + (joules && work->host_overhead_w > 0 ? p.lines : 0);
    p.prices->joules = joules;
    if (!joules) return p;
    const int power = round_power_of_time(search->limits->objective);
    const double low = node->low_s, high = node->high_s, enough = search_enough(search->best);
    /* E < v / T^k implies that E is below the chord of v / T^k between the two makespans. */
    if (power > 0 && isfinite(high) && high > low && low > 0 && isfinite(enough))
        p.falling = enough * (pow(low, -power) - pow(high, -power)) / (high - low);
    p.second = search->box.standing_w + p.falling;
    return p;
}

double round_bound_time(round_search *search, const round_node *node, int turns)
{
    node_program p = program_of(search, node, 0);
    solve(&p, turns);
    return p.bound;
}

/* The makespan between an end that is excluded and one that is not, at which the objective reaches the best value. */
static double crossing(const node_program *p, double outside, double inside)
{
    const int power = round_power_of_time(p->search->limits->objective);
    const double enough = search_enough(p->search->best);
    for (int step = 0; step < 30; step++) {
        const double middle = outside + (inside - outside) / 2;
        if ((p->bound - p->falling * middle) * pow(middle, power) >= enough)
            outside = middle;
        else
            inside = middle;
    }
    return outside;
}

/* The bound times T^k rises and then falls: an end at which it is not below the best value is moved to where it is. */
static void narrow_makespans(const node_program *p, round_node *node)
{
    const int power = round_power_of_time(p->search->limits->objective);
    const double enough = search_enough(p->search->best), low = node->low_s, high = node->high_s;
    if (!p->joules || !(p->falling > 0)) return;
    const int low_out = (p->bound - p->falling * low) * pow(low, power) >= enough,
              high_out = (p->bound - p->falling * high) * pow(high, power) >= enough;
    if (low_out && !high_out) node->low_s = crossing(p, low, high);
    if (high_out && !low_out) node->high_s = crossing(p, high, low);
}

double round_bound_objective(round_search *search, round_node *node, int turns)
{
    node_program p = program_of(search, node, search->limits->objective != YOKE_OBJECTIVE_TIME);
    solve(&p, turns);
    const double value = objective_of(&p, p.bound);
    if (is_enough(&p)) return value;
    round_take_solution(&p);
    narrow_makespans(&p, node);
    return value;
}
