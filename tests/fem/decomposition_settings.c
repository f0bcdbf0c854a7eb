#include "decomposition_settings.h"

#include <unistd.h>

#include "unit.h"

void decomposition_read_machine(const block *b, const decomposition_machine *machine)
{
    char path[] = "/tmp/yoke-test-machine-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"name\": \"test\", \"devices\": [{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6%s},"
            " {\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-6%s}]}\n",
            machine->gpu ? machine->gpu : "", machine->cpu ? machine->cpu : "");
    assert_int_equal(fclose(file), 0);
    yoke_status status = yoke_machine_read(b->context, path);
    unlink(path);
    if (status) fail_msg("%s", yoke_last_error(b->context));
}

static int has_opencl(const block *b)
{
    yoke_device_info *list;
    int64_t count;
    int found = 0;
    assert_int_equal(yoke_devices_list(b->context, NULL, 0, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++)
        found = found || (!strcmp(list[i].name, "opencl:0.0") && list[i].usable && list[i].double_precision);
    yoke_release(b->context, list);
    return found;
}

fem_devices *decomposition_open(const block *b, int count, int variant)
{
    char names[200];
    fem_devices *devices;
    if (count == 1)
        strcpy(names, variant ? "sim:gpu" : "openmp");
    else if (count == 2)
        strcpy(names, variant ? "openmp:0-0,openmp" : "openmp,sim:gpu");
    else if (count == 3)
        strcpy(names, variant ? "sim:gpu,sim:cpu,openmp" : "openmp,openmp:0-0,sim:gpu");
    else
        strcpy(names, has_opencl(b) ? "opencl:0.0,openmp:0-0,sim:cpu,sim:gpu,openmp" : "openmp:0-0,sim:cpu,sim:gpu,openmp");
    if (fem_devices_open(b->context, names, &devices)) fail_msg("%s: %s", names, yoke_last_error(b->context));
    for (int i = 0; i < devices->count && variant; i++)
        if (!devices->list[i].inlined) devices->list[i].host_functions = 0;
    return devices;
}

void decomposition_cut(int32_t elements, int devices, int kind, int32_t *cut)
{
    cut[0] = 0;
    for (int i = 1; i <= devices; i++) cut[i] = (int32_t)((int64_t)elements * i / devices);
    for (int i = 1; i < devices && kind == 1; i++) cut[i] = elements - elements * (devices - i) / (2 * devices) - 1;
    if (devices == 1) return;
    if (kind == 2) cut[1] = 0;
    if (kind == 3) cut[devices - 1] = elements;
    if (kind == 4) cut[1] = 1;
}

void decomposition_count_shares(const fem_space *space, int devices, const int32_t *cut, int *shared)
{
    int *latest = block_zeros(space->num_nodes, sizeof *latest); /* number of the device that touched it last, from 1 */
    for (int32_t n = 0; n < space->num_nodes; n++) shared[n] = 0;
    for (int i = 0; i < devices; i++)
        for (int64_t k = (int64_t)cut[i] * space->slots; k < (int64_t)cut[i + 1] * space->slots; k++) {
            int32_t node = space->element_nodes[k];
            if (node < 0 || latest[node] == i + 1) continue;
            latest[node] = i + 1;
            shared[node]++;
        }
    free(latest);
}
