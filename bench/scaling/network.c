#include "scaling/network.h"

#include "common/console/numbers.h"

enum { HOST, ETHERNET, INFINIBAND };

/* The first network as measured (docs/notes/fem-scaling.md), the others as given by vendors and MPI benchmarks. */
const char *const scaling_network_names[] = {"host", "ethernet", "infiniband", NULL};
static const scaling_network networks[] = {
    [HOST] = {"host", "ranks on one host, as measured on two cores of a virtual machine", 0.5e-6, 0.1e-6, 5.4e9},
    [ETHERNET] = {"ethernet", "TCP on Ethernet of 10 Gbit/s", 20e-6, 3e-6, 1.1e9},
    [INFINIBAND] = {"infiniband", "InfiniBand HDR of 200 Gbit/s", 1.2e-6, 0.3e-6, 23e9},
};

scaling_network scaling_network_of(int number) { return networks[number]; }

yoke_status scaling_measure(yoke_context *context, app_ranks *ranks, scaling_sums *sums)
{
    enum { REPEATS = 2001, LARGE = 1 << 23, LARGE_REPEATS = 21 };
    double *seconds = NULL, *values = NULL;
    yoke_status status = yoke_allocate(context, REPEATS, sizeof *seconds, &seconds);
    if (!status) status = yoke_allocate(context, LARGE / 8, sizeof *values, &values);
    status = app_ranks_agree(ranks, status);
    for (int i = 0; i < REPEATS && !status; i++) {
        const double begin = yoke_clock_s();
        app_ranks_sum(ranks, values, 3);
        seconds[i] = yoke_clock_s() - begin;
    }
    if (!status) {
        app_sort(seconds, REPEATS);
        sums->sum_s = seconds[REPEATS / 2];
    }
    for (int i = 0; i < LARGE_REPEATS && !status; i++) {
        double done = 1;
        app_ranks_sum(ranks, &done, 1);
        const double begin = yoke_clock_s();
        app_ranks_broadcast(ranks, values, LARGE);
        app_ranks_sum(ranks, &done, 1);
        seconds[i] = yoke_clock_s() - begin;
    }
    if (!status) {
        app_sort(seconds, LARGE_REPEATS);
        sums->bytes_per_s = LARGE / seconds[LARGE_REPEATS / 2];
    }
    yoke_release(context, seconds);
    yoke_release(context, values);
    return status;
}
