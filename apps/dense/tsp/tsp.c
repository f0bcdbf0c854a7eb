#include "tsp/tsp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/files/file.h"
#include "share/program.h"
/* clang-format off */
#include "tsp/kernels/climb_text.h"
/* clang-format on */

extern const char dense_climb_text[]; /* climb_text.h (yoke_embed_text) */

/* Evaluations of the first round if nothing is known; bytes for tours on a device; items per group; groups; sets of sums that are read. */
static const double first_evaluations = 1e8;
enum { SPACE_BYTES = 1 << 26, GROUP = 64, MAX_GROUPS = 65536, SETS = 256 };
_Static_assert(SPACE_BYTES / ((2 * DENSE_MAX_CITIES + 1) * sizeof(int32_t) + DENSE_SUMS * sizeof(int64_t)) >= SETS,
               "a device must have room for as many restarts as sets of sums are read");

typedef struct climber {
    yoke_queue *queue;
    yoke_device *device;
    yoke_program *program;
    yoke_function *climb, *join;
    yoke_buffer *distance, *space, *length, *sums;
    int64_t *read; /* [SETS][DENSE_SUMS] sums of its latest piece */
    int64_t room;  /* number of restarts processed at a time */
    int sent;      /* the distances are on the device */
} climber;

/* Sums over all finished restarts.  The sum of their lengths may be above 2^63: it is low + 2^64 high, and not in `sums`. */
typedef struct totals {
    int64_t sums[DENSE_SUMS];
    uint64_t low, high;
} totals;

struct dense_tsp_state {
    char work[64];
    const char *texts[1];
    dense_kernel kernel;
    dense_sharing *sharing;
    const dense_cities *cities;
    const dense_tsp_options *options;
    totals totals;
    int64_t *checked; /* [checks] lengths of the restarts that are climbed again: 0, every, 2 every, ... */
    int64_t checks, every;
    climber climber[DENSE_MAX_DEVICES];
};

typedef dense_tsp_state state;

/* ------------------------------------------------------------------------------------------------- the cores */

static int64_t climb(const state *s, int64_t restart, int32_t *tour, int32_t *steps)
{
    int32_t edge[DENSE_MAX_CITIES];
    return dense_climb(s->cities->count, s->options->seed, restart, s->cities->distance, tour, edge, steps);
}

static int is_checked(const state *s, int64_t restart) { return restart % s->every == 0 && restart / s->every < s->checks; }

/* Adds the sums of a thread to the totals, and sets them to 0.  They are integers, so the order makes no difference. */
static void take_sums(state *s, int64_t sums[DENSE_SUMS])
{
    totals *all = &s->totals;
#pragma omp critical(dense_tsp_totals)
    {
        dense_add(all->sums, sums[DENSE_SHORTEST], sums[DENSE_RESTART], sums[DENSE_TIMES], 0, sums[DENSE_STEPS]);
        all->low += (uint64_t)sums[DENSE_LENGTHS];
        all->high += all->low < (uint64_t)sums[DENSE_LENGTHS];
    }
    memset(sums, 0, DENSE_SUMS * sizeof *sums);
}

static void on_host(void *user, int64_t first, int64_t last)
{
    enum { MANY = 65536 }; /* number of restarts whose lengths have a sum below 2^63 */
    state *s = user;
#pragma omp parallel
    {
        int64_t sums[DENSE_SUMS] = {0}, count = 0;
#pragma omp for schedule(dynamic) nowait
        for (int64_t r = first; r < last; r++) {
            int32_t tour[DENSE_MAX_CITIES + 1], steps = 0;
            const int64_t length = climb(s, r, tour, &steps);
            dense_add(sums, length, r, 1, length, steps);
            if (is_checked(s, r)) s->checked[r / s->every] = length;
            if (++count % MANY == 0) take_sums(s, sums);
        }
        if (count % MANY > 0) take_sums(s, sums);
    }
}

/* ------------------------------------------------------------------------------------------------- a device */

static const int64_t sums_bytes = DENSE_SUMS * sizeof(int64_t);

static yoke_status open_device(void *user, int number, yoke_device *device, yoke_queue *queue)
{
    static const dense_program program = {
        .name = "tsp", .text = &dense_climb_text[0], .options = {""}, .kernels = {{"climb_tours", climb_tours}, {"join_sums", join_sums}}};
    climber *c = &((state *)user)->climber[number];
    *c = (climber){.device = device, .queue = queue};
    yoke_status status = dense_program_create(device, &program, 0, &c->program, &c->climb);
    if (!status) status = yoke_program_function(c->program, "join_sums", &c->join);
    return status ? status : yoke_allocate(((const state *)user)->cities->context, SETS, sums_bytes, &c->read);
}

static void close_device(void *user, int number)
{
    climber *c = &((state *)user)->climber[number];
    yoke_buffer_destroy(c->distance);
    yoke_buffer_destroy(c->space);
    yoke_buffer_destroy(c->length);
    yoke_buffer_destroy(c->sums);
    yoke_program_destroy(c->program);
    yoke_release(((const state *)user)->cities->context, c->read);
    *c = (climber){.device = NULL};
}

static int64_t space_of(const state *s) { return (2 * (int64_t)s->cities->count + 1) * (int64_t)sizeof(int32_t); }

static yoke_status make_room(const state *s, climber *c, int64_t restarts)
{
    yoke_buffer_destroy(c->space);
    yoke_buffer_destroy(c->length);
    yoke_buffer_destroy(c->sums);
    c->space = c->length = c->sums = NULL;
    c->room = 0;
    yoke_status status = yoke_buffer_create(c->device, restarts * space_of(s), &c->space);
    if (!status) status = yoke_buffer_create(c->device, restarts * (int64_t)sizeof(int64_t), &c->length);
    if (!status) status = yoke_buffer_create(c->device, restarts * sums_bytes, &c->sums);
    if (!status) c->room = restarts;
    return status;
}

static yoke_status prepare(void *user, int number, int64_t units)
{
    const state *s = user;
    climber *c = &((state *)user)->climber[number];
    const int64_t n = s->cities->count, bytes = n * n * (int64_t)sizeof(int32_t);
    const int64_t most = SPACE_BYTES / (space_of(s) + sums_bytes), wanted = units < most ? units : most;
    yoke_status status = wanted > c->room ? make_room(s, c, wanted) : YOKE_OK;
    if (!status && !c->distance) status = yoke_buffer_create(c->device, bytes, &c->distance);
    if (status || c->sent) return status;
    c->sent = 1;
    return yoke_queue_write(c->queue, c->distance, 0, bytes, s->cities->distance);
}

/* Reads the lengths of those of the restarts begin .. end - 1 that are climbed again. */
static yoke_status read_checked(const state *s, const climber *c, int64_t begin, int64_t end)
{
    yoke_status status = YOKE_OK;
    for (int64_t k = (begin + s->every - 1) / s->every; k < s->checks && k * s->every < end && !status; k++)
        status = yoke_queue_read(c->queue, c->length, (k * s->every - begin) * (int64_t)sizeof(int64_t), sizeof(int64_t), &s->checked[k]);
    return status;
}

/* Sets of sums that are left of a piece. */
static int64_t sets_of(int64_t restarts) { return restarts < SETS ? restarts : SETS; }

/* A piece of any number of restarts has as many sets of sums as are climbed at a time; few of them are read. */
static yoke_status read_sums(const climber *c, int64_t restarts)
{
    const int64_t used = restarts < c->room ? restarts : c->room, sets = sets_of(restarts);
    const yoke_argument arguments[] = {yoke_argument_int64(used), yoke_argument_int64(sets), yoke_argument_buffer(c->sums)};
    yoke_status status = YOKE_OK;
    if (used > sets) status = yoke_queue_launch(c->queue, c->join, SETS / GROUP, GROUP, 0, arguments, sizeof arguments / sizeof *arguments);
    return status ? status : yoke_queue_read(c->queue, c->sums, 0, sets * sums_bytes, c->read);
}

static yoke_status start(void *user, int number, int64_t first, int64_t last)
{
    const state *s = user;
    const climber *c = &s->climber[number];
    yoke_status status = YOKE_OK;
    for (int64_t begin = first; begin < last && !status; begin += c->room) {
        const int64_t end = begin + c->room < last ? begin + c->room : last, count = end - begin, groups = (count + GROUP - 1) / GROUP;
        const yoke_argument arguments[] = {yoke_argument_int64(begin),
                                           yoke_argument_int64(end),
                                           yoke_argument_int32(s->cities->count),
                                           yoke_argument_int64(s->options->seed),
                                           yoke_argument_int32(begin == first),
                                           yoke_argument_buffer(c->distance),
                                           yoke_argument_buffer(c->space),
                                           yoke_argument_buffer(c->length),
                                           yoke_argument_buffer(c->sums)};
        status = yoke_queue_launch(c->queue, c->climb, groups < MAX_GROUPS ? groups : MAX_GROUPS, GROUP, count, arguments,
                                   sizeof arguments / sizeof *arguments);
        if (!status) status = read_checked(s, c, begin, end);
    }
    return status ? status : read_sums(c, last - first);
}

static void finish(void *user, int number, int64_t first, int64_t last)
{
    const climber *c = &((state *)user)->climber[number];
    for (int64_t k = 0; k < sets_of(last - first); k++) take_sums(user, c->read + k * DENSE_SUMS);
}

/* ------------------------------------------------------------------------------------------------- the result */

/* Number of exchanges evaluated in a search for the best one. */
static double weighed(const dense_cities *cities)
{
    const double n = cities->count;
    return n > 3 ? n * (n - 3) / 2 : 0;
}

static yoke_status expect_same(const state *s, int64_t restart, int64_t told, int64_t length)
{
    if (length == told) return YOKE_OK;
    return yoke_fail(s->cities->context, YOKE_ERROR_NUMERIC,
                     "restart %lld: a device found a tour of length %lld, the cores one of %lld: the device computes wrong results",
                     (long long)restart, (long long)told, (long long)length);
}

static yoke_status find_best(const state *s, dense_tour *tour)
{
    const double restarts = (double)s->options->restarts;
    int32_t kept[DENSE_MAX_CITIES + 1], steps;
    yoke_status status = YOKE_OK;
    tour->length = s->totals.sums[DENSE_SHORTEST];
    tour->restart = s->totals.sums[DENSE_RESTART];
    tour->times = s->totals.sums[DENSE_TIMES];
    tour->mean = ldexp((double)s->totals.high, 64) / restarts + (double)s->totals.low / restarts;
    tour->evaluations = weighed(s->cities) * ((double)s->totals.sums[DENSE_STEPS] + restarts);
    for (int64_t k = 0; k < s->checks && !status; k++)
        status = expect_same(s, k * s->every, s->checked[k], climb(s, k * s->every, kept, &steps));
    if (status) return status;
    climb(s, tour->restart, kept, &steps);
    memcpy(tour->city, kept, (size_t)s->cities->count * sizeof *kept);
    return expect_same(s, tour->restart, tour->length, dense_tour_length(s->cities, tour->city));
}

int64_t dense_tour_length(const dense_cities *cities, const int32_t *city)
{
    const int64_t n = cities->count;
    int64_t length = 0;
    for (int64_t i = 0; i < n; i++) length += cities->distance[city[i] * n + city[i + 1 < n ? i + 1 : 0]];
    return length;
}

void dense_tour_destroy(dense_tour *tour)
{
    if (tour->city) yoke_release(tour->context, tour->city);
    *tour = (dense_tour){.city = NULL};
}

static yoke_status open_sharing(yoke_run *run, state *s)
{
    const double n = s->cities->count, first = first_evaluations / (n * n * n / 2 + 1);
    snprintf(s->work, sizeof s->work, "tsp n=%d", s->cities->count);
    const dense_kernel kernel = {.work = s->work,
                                 .texts = s->texts,
                                 .num_texts = 1,
                                 .units = s->options->restarts,
                                 .first_units = first > 1 ? (int64_t)first : 1,
                                 .host = on_host,
                                 .open = open_device,
                                 .close = close_device,
                                 .prepare = prepare,
                                 .start = start,
                                 .finish = finish,
                                 .progress = s->options->progress,
                                 .user = s};
    s->kernel = kernel;
    return dense_sharing_open(s->cities->context, run, &s->kernel, &s->sharing);
}

yoke_status dense_tsp_open(yoke_run *run, const dense_cities *cities, const dense_tsp_options *options, dense_tsp_state **tsp)
{
    yoke_context *context = cities->context;
    state *s = NULL;
    if (options->restarts < 1 || options->restarts > DENSE_MAX_RESTARTS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld restarts", (long long)options->restarts);
    yoke_status status = yoke_allocate(context, 1, sizeof *s, &s);
    if (status) return status;
    *s = (state){.texts = {dense_climb_text}, .cities = cities, .options = options};
    s->checks = options->check < options->restarts ? options->check : options->restarts;
    s->every = s->checks > 0 ? options->restarts / s->checks : options->restarts;
    status = yoke_allocate(context, s->checks, sizeof *s->checked, &s->checked);
    if (!status) status = open_sharing(run, s);
    if (status)
        dense_tsp_close(s);
    else
        *tsp = s;
    return status;
}

dense_sharing *dense_tsp_sharing(dense_tsp_state *tsp) { return tsp->sharing; }

const char *dense_tsp_work(const dense_tsp_state *tsp) { return tsp->work; }

void dense_tsp_close(dense_tsp_state *tsp)
{
    if (!tsp) return;
    yoke_context *context = tsp->cities->context;
    dense_sharing_close(tsp->sharing);
    yoke_release(context, tsp->checked);
    yoke_release(context, tsp);
}

yoke_status dense_tsp(yoke_run *run, const dense_cities *cities, const dense_tsp_options *options, dense_tour *tour, dense_shared *shared)
{
    dense_tour found = {.context = cities->context};
    state *s = NULL;
    *shared = (dense_shared){.num_parts = 0};
    yoke_status status = dense_tsp_open(run, cities, options, &s);
    if (!status) status = yoke_allocate(cities->context, cities->count, sizeof *found.city, &found.city);
    if (!status) status = dense_sharing_do(s->sharing, shared);
    if (!status) status = find_best(s, &found);
    dense_tsp_close(s);
    if (status)
        dense_tour_destroy(&found);
    else
        *tour = found;
    return status;
}

yoke_status dense_tour_write(const dense_cities *cities, const dense_tour *tour, const char *path)
{
    app_file *file = NULL;
    yoke_status status = app_file_create(cities->context, path, &file);
    if (status) return status;
    FILE *out = app_file_stream(file);
    fprintf(out, "NAME : %s\nCOMMENT : length %lld\nTYPE : TOUR\nDIMENSION : %d\nTOUR_SECTION\n", cities->name, (long long)tour->length,
            cities->count);
    for (int32_t i = 0; i < cities->count; i++) fprintf(out, "%d\n", tour->city[i] + 1);
    fputs("-1\nEOF\n", out);
    return app_file_commit(file);
}
