#include "common/options.h"
#include "common/record.h"
#include "tool.h"

static void print_size(app_terminal *terminal, const char *name, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    int unit = 0;
    while (size >= 1024 && unit < 4) {
        size /= 1024;
        unit++;
    }
    if (bytes > 0) app_print(terminal, "  %-18s %.4g %s\n", name, size, units[unit]);
}

static void print_topology(app_terminal *terminal, const yoke_topology *topology)
{
    app_print(terminal, "machine\n");
    if (topology->processor[0] != '\0') app_print(terminal, "  %-18s %s\n", "processor", topology->processor);
    app_print(terminal, "  %-18s %s\n", "instruction set", topology->instruction_set);
    app_print(terminal, "  %-18s %lld\n", "packages", (long long)topology->packages);
    app_print(terminal, "  %-18s %lld\n", "NUMA nodes", (long long)topology->numa_nodes);
    app_print(terminal, "  %-18s %lld\n", "cores", (long long)topology->cores);
    app_print(terminal, "  %-18s %lld\n", "hardware threads", (long long)topology->hardware_threads);
    print_size(terminal, "L1 data cache", topology->l1_bytes);
    print_size(terminal, "L2 cache", topology->l2_bytes);
    print_size(terminal, "L3 cache", topology->l3_bytes);
    print_size(terminal, "memory", topology->memory_bytes);
}

/* The text of a key, or NULL where it is null. */
static const char *text_of(const json_t *thing, const char *key) { return json_string_value(json_object_get(thing, key)); }

/* Members of an array of {name, description, usable, why_not, remedy}: a line each, and under what cannot be used why, and what to do. */
static void print_things(app_terminal *terminal, const char *title, const json_t *things)
{
    size_t index;
    json_t *thing;
    app_print(terminal, "%s\n", title);
    if (json_array_size(things) == 0) app_print(terminal, "  none\n");
    json_array_foreach (things, index, thing) {
        const char *why_not = text_of(thing, "why_not"), *remedy = text_of(thing, "remedy"), *pci = text_of(thing, "pci");
        const char *description = text_of(thing, "description");
        app_print(terminal, "  %-18s ", text_of(thing, "name"));
        if (description != NULL) app_print(terminal, "%s%s%s\n", description, pci != NULL ? "; PCI " : "", pci != NULL ? pci : "");
        if (why_not != NULL && description == NULL) app_print(terminal, "not usable: %s\n", why_not);
        if (why_not != NULL && description != NULL) app_print(terminal, "  %-18s not usable: %s\n", "", why_not);
        if (why_not != NULL && remedy != NULL) app_print(terminal, "  %-18s what to do: %s\n", "", remedy);
    }
}

/* The record of `yoke info` shows the machine at its top. */
static yoke_status lift_machine(yoke_context *context, json_t *record)
{
    if (json_object_update(record, json_object_get(record, "machine")) != 0)
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the run record");
    json_object_del(record, "machine");
    return YOKE_OK;
}

yoke_status tool_info(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    const char *path = NULL, *machine = NULL;
    const app_option options[] = {
        {.name = "json", .value = "FILE", .help = "write what is known as JSON", .text = &path},
        {.name = "machine", .value = "FILE", .help = "show the simulated devices of a machine file too", .text = &machine},
        {.name = "quiet", .help = "print nothing", .flag = &terminal->quiet},
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Shows the machine: processor, memory, devices, meters and clocks, and why one cannot be used.",
        .options = options,
    };
    bool answered;
    yoke_status status = app_options_parse(context, &usage, argc, argv, NULL, &answered);
    if (status != YOKE_OK || answered) return status;
    if (machine != NULL) status = yoke_machine_read(context, machine);
    if (status != YOKE_OK) return status;
    yoke_topology topology;
    status = yoke_topology_get(context, &topology);
    if (status != YOKE_OK) return status;
    json_t *record = NULL;
    status = app_record_create(context, terminal->program, argc, argv, &record);
    if (status != YOKE_OK) return status;
    status = lift_machine(context, record);
    if (status == YOKE_OK) {
        print_topology(terminal, &topology);
        print_things(terminal, "devices", json_object_get(record, "devices"));
        print_things(terminal, "meters", json_object_get(record, "meters"));
        print_things(terminal, "clocks", json_object_get(record, "clocks"));
        if (path != NULL) status = app_record_write(context, record, path);
    }
    json_decref(record);
    return status;
}
