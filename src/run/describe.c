#include <stdio.h>

#include "base/json.h"

static json_t *topology_document(const yoke_topology *topology)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s}", "packages", (json_int_t)topology->packages, "numa_nodes",
                     (json_int_t)topology->numa_nodes, "cores", (json_int_t)topology->cores, "hardware_threads",
                     (json_int_t)topology->hardware_threads, "l1_bytes", (json_int_t)topology->l1_bytes, "l2_bytes",
                     (json_int_t)topology->l2_bytes, "l3_bytes", (json_int_t)topology->l3_bytes, "memory_bytes",
                     (json_int_t)topology->memory_bytes, "processor", topology->processor, "instruction_set", topology->instruction_set);
}

/* The processor cores, which every machine has. */
static json_t *openmp_document(const yoke_topology *topology)
{
    char description[256];
    snprintf(description, sizeof description, "%lld core%s of %s, %s", (long long)topology->cores, topology->cores == 1 ? "" : "s",
             topology->processor[0] != '\0' ? topology->processor : "the processor", topology->instruction_set);
    return json_pack("{s:s, s:s, s:s, s:b, s:n}", "name", "openmp", "kind", "openmp", "description", description, "usable", 1, "why_not");
}

yoke_status yoke_describe(yoke_context *context, char **text)
{
    if (context == NULL || text == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_describe: %s is NULL", context == NULL ? "context" : "text");
    yoke_topology topology;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status != YOKE_OK) return status;
    return yoke_json_text(context,
                          json_pack("{s:o, s:[o], s:[], s:[]}", "topology", topology_document(&topology), "devices",
                                    openmp_document(&topology), "meters", "clocks"),
                          text);
}
