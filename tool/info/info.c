/* yoke info: shows what the machine has, and why something cannot be used. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/console/options.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "common/machine/sysroot.h"
#include "tool.h"

enum { DEVICE_WIDTH = 18, METER_WIDTH = 26 };

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

/* Text of a key, or NULL if the value is null. */
static const char *text_of(const json_t *thing, const char *key) { return json_string_value(json_object_get(thing, key)); }
static bool is_true(const json_t *thing, const char *key) { return json_is_true(json_object_get(thing, key)); }

/* Prints a text after a label.  Further lines, such as those of a rule to be copied into a file, are aligned below. */
static void print_under(app_terminal *terminal, int width, const char *label, const char *text)
{
    app_print(terminal, "  %-*s %s: ", width, "", label);
    for (const char *line = text;;) {
        size_t length = strcspn(line, "\n");
        app_print(terminal, "%.*s\n", (int)length, line);
        if (line[length] == '\0' || line[length + 1] == '\0') return;
        line += length + 1;
        app_print(terminal, "  %-*s     ", width, "");
    }
}

/* Prints name, description and PCI address; without a description, the reason.  Returns whether there is a description. */
static bool print_name(app_terminal *terminal, int width, const json_t *thing)
{
    const char *description = text_of(thing, "description"), *why_not = text_of(thing, "why_not"), *pci = text_of(thing, "pci");
    const char *shown = description != NULL ? description : why_not;
    app_print(terminal, "  %-*s %s%s", width, text_of(thing, "name"), shown == why_not && why_not != NULL ? "not usable: " : "",
              shown != NULL ? shown : "");
    if (description != NULL && pci != NULL) app_print(terminal, "; PCI %s", pci);
    app_print(terminal, "\n");
    return description != NULL;
}

/* Prints the reason why something cannot be used, unless it is printed already, and the remedy; *told: the remedy printed last. */
static void print_absence(app_terminal *terminal, int width, const json_t *thing, const char *what, bool said, const char **told)
{
    const char *why_not = text_of(thing, "why_not"), *remedy = text_of(thing, "remedy");
    if (why_not == NULL) return;
    if (!said) print_under(terminal, width, what, why_not);
    if (remedy == NULL) return;
    bool again = *told != NULL && strcmp(*told, remedy) == 0;
    print_under(terminal, width, "what to do", again ? "as above" : remedy);
    *told = remedy;
}

static void print_devices(app_terminal *terminal, const json_t *devices)
{
    size_t index;
    json_t *device;
    const char *told = NULL;
    app_print(terminal, "devices\n");
    if (json_array_size(devices) == 0) app_print(terminal, "  none\n");
    json_array_foreach (devices, index, device) {
        bool described = print_name(terminal, DEVICE_WIDTH, device);
        print_absence(terminal, DEVICE_WIDTH, device, "not usable", !described, &told);
    }
}

/* Writes a number with a suitable prefix, as in "61.04 uJ". */
static const char *short_text(double number, const char *unit, char text[32])
{
    static const struct {
        double factor;
        const char *prefix;
    } prefixes[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
    size_t i = 0;
    while (i + 1 < sizeof prefixes / sizeof prefixes[0] && number < prefixes[i].factor) i++;
    snprintf(text, 32, "%.4g %s%s", number / prefixes[i].factor, prefixes[i].prefix, unit);
    return text;
}

/* Prints "; LABEL NUMBER" if the number is known. */
static void print_number(app_terminal *terminal, const json_t *thing, const char *key, const char *label, const char *unit)
{
    char text[32];
    const json_t *number = json_object_get(thing, key);
    if (json_is_number(number)) app_print(terminal, "; %s %s", label, short_text(json_number_value(number), unit, text));
}

static void print_meter_numbers(app_terminal *terminal, const json_t *meter)
{
    const char *covers = text_of(meter, "covers"), *parent = text_of(meter, "parent");
    app_print(terminal, "  %-*s %s%s%s", METER_WIDTH, "", text_of(meter, "source"), covers != NULL ? "; covers " : "",
              covers != NULL ? covers : "");
    if (is_true(meter, "counted"))
        app_print(terminal, "; part of the total");
    else if (parent != NULL)
        app_print(terminal, "; part of %s", parent);
    else
        app_print(terminal, "; not in the total");
    app_print(terminal, "; %s", is_true(meter, "integrated") ? "from readings of power" : "counter");
    print_number(terminal, meter, "resolution_j", "step", "J");
    print_number(terminal, meter, "period_s", "every", "s");
    print_number(terminal, meter, "wrap_j", "starts again at", "J");
    app_print(terminal, "\n");
}

static void print_meters(app_terminal *terminal, const json_t *meters)
{
    size_t index;
    json_t *meter;
    const char *told = NULL;
    app_print(terminal, "meters\n");
    if (json_array_size(meters) == 0) app_print(terminal, "  none\n");
    json_array_foreach (meters, index, meter) {
        bool described = print_name(terminal, METER_WIDTH, meter);
        if (is_true(meter, "usable"))
            print_meter_numbers(terminal, meter);
        else
            print_absence(terminal, METER_WIDTH, meter, "not usable", !described, &told);
    }
}

static void print_frequency_numbers(app_terminal *terminal, const json_t *frequency)
{
    char least[32], most[32];
    const json_t *current = json_object_get(frequency, "current_hz"), *low = json_object_get(frequency, "least_hz"),
                 *high = json_object_get(frequency, "most_hz");
    size_t levels = json_array_size(json_object_get(frequency, "levels_hz"));
    if (!json_is_number(current) && !json_is_number(high)) return;
    app_print(terminal, "  %-*s %s", METER_WIDTH, "", is_true(frequency, "settable") ? "settable" : "not settable");
    print_number(terminal, frequency, "current_hz", "now", "Hz");
    if (json_is_number(low) && json_is_number(high))
        app_print(terminal, "; %s to %s", short_text(json_number_value(low), "Hz", least), short_text(json_number_value(high), "Hz", most));
    if (levels > 0) app_print(terminal, " in %zu levels", levels);
    app_print(terminal, "\n");
}

static void print_frequencies(app_terminal *terminal, const json_t *frequencies)
{
    size_t index;
    json_t *frequency;
    const char *told = NULL;
    app_print(terminal, "frequencies\n");
    if (json_array_size(frequencies) == 0) app_print(terminal, "  none\n");
    json_array_foreach (frequencies, index, frequency) {
        bool described = print_name(terminal, METER_WIDTH, frequency);
        print_frequency_numbers(terminal, frequency);
        if (!is_true(frequency, "settable")) print_absence(terminal, METER_WIDTH, frequency, "cannot be set", !described, &told);
    }
}

/* Moves the machine to the top level of the record. */
static yoke_status lift_machine(yoke_context *context, json_t *record)
{
    if (json_object_update(record, json_object_get(record, "machine")) != 0)
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the run record");
    json_object_del(record, "machine");
    return YOKE_OK;
}

static yoke_status show(yoke_context *context, app_terminal *terminal, json_t *record, const char *sysroot, const char *path)
{
    yoke_topology topology;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status == YOKE_OK) status = lift_machine(context, record);
    if (status != YOKE_OK) return status;
    print_topology(terminal, &topology);
    if (sysroot != NULL) app_print(terminal, "  %-18s of %s, not of this machine\n", "meters, frequencies", sysroot);
    print_devices(terminal, json_object_get(record, "devices"));
    print_meters(terminal, json_object_get(record, "meters"));
    print_frequencies(terminal, json_object_get(record, "clocks"));
    return path != NULL ? app_record_write(context, record, path) : YOKE_OK;
}

/* A record has the devices of the requested kinds; here all kinds are requested. */
static yoke_status ask_for_all_devices(yoke_context *context)
{
    yoke_device_info *list = NULL;
    int64_t count = 0;
    yoke_status status = yoke_devices_list(context, NULL, 0, &list, &count);
    if (status == YOKE_OK) yoke_release(context, list);
    return status;
}

yoke_status tool_info(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    const char *path = NULL, *machine = NULL, *sysroot = NULL;
    const app_option options[] = {
        {.name = "json",
         .value = "FILE",
         .help = "write a record as JSON; - writes it to standard output, and results to standard error",
         .text = &path},
        {.name = "machine", .value = "FILE", .help = "also show the simulated devices of a machine file", .text = &machine},
        {.name = "sysroot", .value = "DIR", .help = "show the meters and frequencies of a directory of yoke gather", .text = &sysroot},
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Shows the machine: processor, memory, devices, meters and frequencies, and the reason if one cannot be used.",
        .options = options,
    };
    bool answered;
    json_t *record = NULL;
    yoke_status status = app_options_parse(context, &usage, argc, argv, NULL, &answered);
    if (status != YOKE_OK || answered) return status;
    const app_named_file files[] = {{"--machine", machine, true}, {"--json", path, false}, {0}};
    status = app_files_check(context, files);
    if (status == YOKE_OK) status = app_set_sysroot(context, &sysroot);
    if (status == YOKE_OK && machine != NULL) status = yoke_machine_read(context, machine);
    if (status == YOKE_OK) status = ask_for_all_devices(context);
    if (status == YOKE_OK) status = app_record_create(context, terminal->program, argc, argv, &record);
    if (status == YOKE_OK) status = show(context, terminal, record, sysroot, path);
    json_decref(record);
    return status;
}
