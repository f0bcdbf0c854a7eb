/* What somebody else's first program with libyoke may look like. */
#include <stdio.h>
#include <yoke/yoke.h>

int main(void)
{
    yoke_context *context = NULL;
    yoke_topology topology = {0};
    yoke_device *device = NULL;
    yoke_status status = yoke_context_create(NULL, &context);
    if (status == YOKE_OK) status = yoke_topology_get(context, &topology);
    if (status == YOKE_OK) status = yoke_device_open(context, "openmp", &device);
    printf("yoke %s: %s, %lld cores\n", yoke_version(), status == YOKE_OK ? "success" : yoke_last_error(context),
           (long long)topology.cores);
    yoke_device_close(device);
    yoke_context_destroy(context);
    return status == YOKE_OK && topology.cores > 0 ? 0 : 1;
}
