#include "common/ranks/devices.h"

#include <stdio.h>
#include <string.h>

/* Returns the number of the card at this place, which an earlier interface may have listed; -1: none. */
static int find(const app_gpus *gpus, const char *place)
{
    for (int k = 0; k < gpus->count; k++)
        if (strcmp(gpus->place[k], place) == 0) return k;
    return -1;
}

static yoke_status look(yoke_context *context, app_gpus *gpus)
{
    yoke_device_info *list = NULL;
    int64_t count = 0;
    yoke_status status = yoke_devices_list(context, NULL, 1, &list, &count);
    for (int64_t i = 0; i < count && !status && gpus->count < APP_MOST_GPUS; i++) {
        const char *place = list[i].pci[0] ? list[i].pci : list[i].name;
        if (!list[i].usable || list[i].device_class != YOKE_DEVICE_GPU || !list[i].double_precision || strcmp(list[i].kind, "sim") == 0 ||
            find(gpus, place) >= 0)
            continue;
        snprintf(gpus->name[gpus->count], APP_GPU_TEXT, "%s", list[i].name);
        snprintf(gpus->place[gpus->count++], APP_GPU_TEXT, "%s", place);
    }
    yoke_release(context, list);
    return status;
}

static int count_taken(const char *taken)
{
    int count = 0;
    for (int k = 0; k < APP_MOST_GPUS; k++) count += taken[k] != 0;
    return count;
}

/* Whether a user named this device of the machine for a rank. */
static bool is_named(const app_gpus *seen, int ranks, int machine, const char *name)
{
    for (int i = 0; i < ranks; i++)
        if (seen[i].named && seen[i].machine == machine && find(&seen[i], name) >= 0) return true;
    return false;
}

/* Returns the rank of this machine that gets a GPU; -1: a rank has it already. */
static int choose(const app_gpus *seen, int ranks, int machine, const char *place, char (*taken)[APP_MOST_GPUS])
{
    int best = -1, least = 0;
    for (int i = 0; i < ranks; i++) {
        const int k = seen[i].machine == machine && !seen[i].named ? find(&seen[i], place) : -1;
        if (k < 0) continue;
        if (taken[i][k]) return -1;
        const int has = count_taken(taken[i]);
        if (best >= 0 && has >= least) continue;
        best = i;
        least = has;
    }
    return best;
}

void app_gpus_share(const app_gpus *seen, int ranks, char (*taken)[APP_MOST_GPUS])
{
    memset(taken, 0, (size_t)ranks * sizeof *taken);
    for (int i = 0; i < ranks; i++)
        for (int k = 0; k < seen[i].count && !seen[i].named; k++) {
            const char *place = seen[i].place[k];
            if (is_named(seen, ranks, seen[i].machine, seen[i].name[k])) continue;
            const int to = choose(seen, ranks, seen[i].machine, place, taken);
            if (to >= 0) taken[to][find(&seen[to], place)] = 1;
        }
}

static yoke_status append(yoke_context *context, const char *name, char *names, size_t size)
{
    const size_t length = strlen(names);
    const int added = snprintf(names + length, size - length, "%s%s", length ? "," : "", name);
    if (added > 0 && (size_t)added < size - length) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "there are more devices here than fit into a list: name those to use (--devices)");
}

/* Devices named by the user are identified by their names. */
static void split(const char *named, app_gpus *gpus)
{
    gpus->named = 1;
    for (const char *name = named; gpus->count < APP_MOST_GPUS; name++) {
        const int length = (int)strcspn(name, ",");
        snprintf(gpus->name[gpus->count], APP_GPU_TEXT, "%.*s", length, name);
        snprintf(gpus->place[gpus->count++], APP_GPU_TEXT, "%.*s", length, name);
        name += length;
        if (!*name) return;
    }
}

static yoke_status write_names(yoke_context *context, const app_gpus *mine, const char *taken, const char *named, char *names, size_t size)
{
    if (named) return YOKE_OK;
    yoke_status status = append(context, "openmp", names, size);
    for (int k = 0; k < mine->count && !status; k++)
        if (taken[k]) status = append(context, mine->name[k], names, size);
    return status;
}

yoke_status app_devices_of_rank(yoke_context *context, app_ranks *ranks, const char *named, char *names, size_t size)
{
    const int count = app_ranks_count(ranks);
    app_gpus *mine = NULL, *all = NULL;
    char(*taken)[APP_MOST_GPUS] = NULL;
    names[0] = '\0';
    yoke_status status = yoke_allocate(context, 1, sizeof *mine, &mine);
    if (!status) status = yoke_allocate(context, count, sizeof *all, &all);
    if (!status) status = yoke_allocate(context, count, sizeof *taken, &taken);
    /* Devices are listed only if needed: a vendor's library takes time, and may fail. */
    if (!status && named) split(named, mine);
    if (!status && !named) status = look(context, mine);
    status = app_ranks_agree(ranks, status);
    if (!status) {
        mine->machine = app_ranks_first_here(ranks);
        app_ranks_gather(ranks, mine, sizeof *mine, all);
        app_gpus_share(all, count, taken);
        status = app_ranks_agree(ranks, write_names(context, mine, taken[app_ranks_number(ranks)], named, names, size));
    }
    yoke_release(context, mine);
    yoke_release(context, all);
    yoke_release(context, taken);
    return status;
}
