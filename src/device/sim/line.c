/*
 * The schedule of operations on simulated devices.
 *
 * The virtual clock advances from one end of an operation to the next; operations that can begin then begin.  So everything before the
 * host's time is final, and later operations may still become slower, due to work on other devices, or run at another frequency.
 */
#include <string.h>

#include "base/context.h"
#include "device/sim/sim.h"

static double later(double a, double b) { return a > b ? a : b; }

/* -------------------------------------------------------------------------------------------------- marks */

yoke_status sim_mark_create(yoke_context *context, sim_mark **mark)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(sim_mark), &memory);
    if (status != YOKE_OK) return status;
    *mark = memory;
    (*mark)->holders = 1;
    return YOKE_OK;
}

void sim_mark_release(yoke_context *context, sim_mark *mark)
{
    if (mark != NULL && --mark->holders == 0) yoke_release(context, mark);
}

static void reach(sim_mark *mark, double time_s)
{
    mark->reached = 1;
    mark->time_s = time_s;
}

/* ------------------------------------------------------------------------------------------ what is running */

static sim_operation *head(const sim_line *line) { return &line->operations[line->first]; }

static void remove_head(sim_line *line)
{
    sim_mark_release(line->machine->context, head(line)->mark);
    line->first = (line->first + 1) % line->capacity;
    line->count--;
}

/* Call it after a launch has begun or ended: launches on other devices then continue faster or slower. */
static void share_machine(sim_machine *machine)
{
    int64_t working = 0;
    for (int64_t i = 0; i < machine->count; i++) working += machine->devices[i].launches > 0;
    for (sim_line *line = machine->lines; line != NULL; line = line->next) {
        if (!line->running || head(line)->kind != SIM_LAUNCH) continue;
        double slows = working > 1 ? 1 + line->device->contention : 1;
        if (slows == line->slows) continue;
        line->left_s = later(line->left_s - (machine->host_s - line->from_s) / line->slows, 0);
        line->from_s = machine->host_s;
        line->slows = slows;
        line->until_s = line->from_s + line->left_s * slows;
    }
}

/* Nonzero: the line's first operation is a copy whose engine is busy with a copy of another queue. */
static int waits_for_engine(const sim_line *line)
{
    const sim_profile *device = line->device;
    const int64_t same_way = head(line)->back ? device->copies_back : device->copies - device->copies_back;
    return device->copy.engines == 1 ? device->copies > 0 : device->copy.engines == 2 && same_way > 0;
}

/* The line's first operation, a launch or a copy, begins at the host's time. */
static void run_head(sim_line *line)
{
    sim_machine *machine = line->machine;
    sim_profile *device = line->device;
    const sim_operation *operation = head(line);
    double seconds = operation->seconds, now_s = machine->host_s;
    if (operation->kind == SIM_LAUNCH) {
        const sim_level *level = &device->levels[device->level];
        double units = (double)operation->units;
        seconds = units > 0 ? (level->start_s + units * sim_seconds_per_unit(&level->speed, units)) * operation->factor : 0;
    }
    if (!(now_s + seconds > now_s)) {
        remove_head(line);
        return;
    }
    line->running = 1;
    line->from_s = now_s;
    line->left_s = seconds;
    line->slows = 1;
    line->until_s = now_s + seconds;
    if (operation->kind == SIM_LAUNCH) {
        device->launches++;
        device->busy_level = device->level;
        share_machine(machine);
    } else {
        device->copies++;
        device->copies_back += operation->back;
    }
    sim_energy_change(machine, device);
}

/* The line's running operation ends at the host's time, complete or not. */
static void end_head(sim_line *line)
{
    sim_profile *device = line->device;
    line->running = 0;
    if (head(line)->kind == SIM_LAUNCH) {
        device->launches--;
        share_machine(line->machine);
    } else {
        device->copies--;
        device->copies_back -= head(line)->back;
    }
    sim_energy_change(line->machine, device);
    remove_head(line);
}

/* Advances the line until an operation needs time.  Returns nonzero if it reached a mark, which others may wait for. */
static int go_on(sim_line *line)
{
    int marked = 0;
    while (line->count > 0 && !line->running) {
        sim_operation *operation = head(line);
        if (operation->kind == SIM_WAIT && !operation->mark->reached) break;
        if (operation->kind == SIM_COPY && waits_for_engine(line)) break;
        if (operation->kind == SIM_LAUNCH || operation->kind == SIM_COPY) {
            run_head(line);
            continue;
        }
        if (operation->kind == SIM_RECORD) {
            reach(operation->mark, line->machine->host_s);
            marked = 1;
        }
        remove_head(line);
    }
    return marked;
}

static void go_on_all(sim_machine *machine)
{
    for (int marked = 1; marked != 0;) {
        marked = 0;
        for (sim_line *line = machine->lines; line != NULL; line = line->next) marked |= go_on(line);
    }
}

/* ------------------------------------------------------------------------------------------------- clock */

/* The line whose running operation ends first; of several, the oldest line. */
static sim_line *first_to_end(const sim_machine *machine)
{
    sim_line *first = NULL;
    for (sim_line *line = machine->lines; line != NULL; line = line->next)
        if (line->running && (first == NULL || line->until_s < first->until_s)) first = line;
    return first;
}

/* Lets the devices work until time_s. */
static void work_until(sim_machine *machine, double time_s)
{
    for (sim_line *line = first_to_end(machine); line != NULL && line->until_s <= time_s; line = first_to_end(machine)) {
        machine->host_s = later(machine->host_s, line->until_s);
        end_head(line);
        go_on_all(machine);
    }
    machine->host_s = later(machine->host_s, time_s);
}

/* Largest number of calls of an observer during one jump of the clock. */
enum { MAX_LOOKS = 1000000 };

/* The observer that must be called first, if that is before time_s. */
static sim_watch *next_watch(const sim_machine *machine, double time_s)
{
    sim_watch *first = NULL;
    for (sim_watch *watch = machine->watches; watch != NULL; watch = watch->next)
        if (watch->next_s < time_s && (first == NULL || watch->next_s < first->next_s)) first = watch;
    return first;
}

void sim_machine_wait(sim_machine *machine, double time_s)
{
    double min_s = (time_s - machine->host_s) / MAX_LOOKS;
    while (time_s > machine->host_s) {
        sim_watch *watch = next_watch(machine, time_s);
        if (watch == NULL) break;
        work_until(machine, watch->next_s);
        double next_s = machine->host_s + later(watch->every_s, min_s);
        watch->next_s = next_s > machine->host_s ? next_s : time_s; /* a step below the clock's precision would never end */
        watch->moved(watch->user);
    }
    work_until(machine, time_s);
}

void sim_line_finish(sim_line *line)
{
    for (const sim_line *first = line; line->count > 0 && first != NULL;) {
        first = first_to_end(line->machine);
        if (first != NULL) sim_machine_wait(line->machine, first->until_s);
    }
}

void sim_mark_wait(sim_machine *machine, const sim_mark *mark)
{
    for (const sim_line *first = machine->lines; !mark->reached && first != NULL;) {
        first = first_to_end(machine);
        if (first != NULL) sim_machine_wait(machine, first->until_s);
    }
}

int sim_machine_pass(sim_machine *machine)
{
    const sim_line *first = first_to_end(machine);
    if (first != NULL) sim_machine_wait(machine, first->until_s);
    return first != NULL;
}

void sim_set_level(sim_machine *machine, sim_profile *device, int64_t level)
{
    device->level = level;
    sim_energy_change(machine, device);
}

/* ------------------------------------------------------------------------------------------------- lines */

void sim_line_close(sim_line *line)
{
    sim_machine *machine = line->machine;
    if (line->running) end_head(line);
    for (; line->count > 0; remove_head(line))
        if (head(line)->kind == SIM_RECORD) reach(head(line)->mark, machine->host_s);
    for (sim_line **place = &machine->lines; *place != NULL; place = &(*place)->next)
        if (*place == line) {
            *place = line->next;
            break;
        }
    yoke_release(machine->context, line->operations);
    go_on_all(machine);
}

static yoke_status make_room(sim_line *line)
{
    if (line->count < line->capacity) return YOKE_OK;
    int64_t capacity = 2 * line->capacity + 8;
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(line->machine->context, capacity, sizeof(sim_operation), &memory);
    if (status != YOKE_OK) return status;
    sim_operation *longer = memory;
    for (int64_t i = 0; i < line->count; i++) longer[i] = line->operations[(line->first + i) % line->capacity];
    yoke_release(line->machine->context, line->operations);
    line->operations = longer;
    line->capacity = capacity;
    line->first = 0;
    return YOKE_OK;
}

yoke_status sim_line_open(sim_line *line, sim_machine *machine, sim_profile *device)
{
    *line = (sim_line){.machine = machine, .device = device};
    yoke_status status = make_room(line);
    if (status != YOKE_OK) return status;
    sim_line **end = &machine->lines;
    while (*end != NULL) end = &(*end)->next;
    *end = line;
    return YOKE_OK;
}

yoke_status sim_line_add(sim_line *line, const sim_operation *operation)
{
    yoke_status status = make_room(line);
    if (status != YOKE_OK) {
        sim_mark_release(line->machine->context, operation->mark);
        return status;
    }
    line->operations[(line->first + line->count++) % line->capacity] = *operation;
    if (go_on(line)) go_on_all(line->machine);
    return YOKE_OK;
}
