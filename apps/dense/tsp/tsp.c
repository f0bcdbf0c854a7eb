#include "tsp/tsp.h"

#include <stdio.h>
#include <string.h>

#include "common/files/file.h"
#include "share/program.h"
/* clang-format off */
#include "tsp/kernels/climb_text.h"
/* clang-format on */

extern const char dense_climb_text[]; /* climb_text.h (yoke_embed_text) */

/* Evaluations of the first round if nothing is known; bytes for tours on a device; items per group; groups. */
static const double first_evaluations = 1e8;
enum { SPACE_BYTES = 1 << 26, GROUP = 64, MAX_GROUPS = 65536 };

typedef struct climber {
    yoke_queue *queue;
    yoke_device *device;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *distance, *space, *length, *steps;
    int64_t room; /* number of restarts processed at a time */
    int sent;     /* the distances are on the device */
} climber;

struct dense_tsp_state {
    char work[64];
    const char *texts[1];
    dense_kernel kernel;
    dense_sharing *sharing;
    const dense_cities *cities;
    const dense_tsp_options *options;
    int64_t *length; /* [restarts] */
    int32_t *steps;
    climber climber[DENSE_MAX_DEVICES];
};

typedef dense_tsp_state state;

/* ------------------------------------------------------------------------------------------------- the cores */

static int64_t climb(const state *s, int64_t restart, int32_t *tour, int32_t *steps)
{
    int32_t edge[DENSE_MAX_CITIES];
    return dense_climb(s->cities->count, s->options->seed, restart, s->cities->distance, tour, edge, steps);
}

static void on_host(void *user, int64_t first, int64_t last)
{
    const state *s = user;
#pragma omp parallel for schedule(dynamic)
    for (int64_t r = first; r < last; r++) {
        int32_t tour[DENSE_MAX_CITIES + 1];
        s->length[r] = climb(s, r, tour, &s->steps[r]);
    }
}

/* ------------------------------------------------------------------------------------------------- a device */

static yoke_status open_device(void *user, int number, yoke_device *device, yoke_queue *queue)
{
    static const dense_program program = {
        .name = "tsp", .text = &dense_climb_text[0], .options = {""}, .kernels = {{"climb_tours", climb_tours}}};
    climber *c = &((state *)user)->climber[number];
    *c = (climber){.device = device, .queue = queue};
    return dense_program_create(device, &program, 0, &c->program, &c->function);
}

static void close_device(void *user, int number)
{
    climber *c = &((state *)user)->climber[number];
    yoke_buffer_destroy(c->distance);
    yoke_buffer_destroy(c->space);
    yoke_buffer_destroy(c->length);
    yoke_buffer_destroy(c->steps);
    yoke_program_destroy(c->program);
    *c = (climber){.device = NULL};
}

static int64_t space_of(const state *s) { return (2 * (int64_t)s->cities->count + 1) * (int64_t)sizeof(int32_t); }

static yoke_status prepare(void *user, int number, int64_t units)
{
    const state *s = user;
    climber *c = &((state *)user)->climber[number];
    const int64_t n = s->cities->count, bytes = n * n * (int64_t)sizeof(int32_t);
    const int64_t most = SPACE_BYTES / space_of(s), wanted = units < most ? units : most;
    yoke_status status = YOKE_OK;
    if (wanted > c->room) {
        yoke_buffer_destroy(c->space);
        yoke_buffer_destroy(c->length);
        yoke_buffer_destroy(c->steps);
        c->space = c->length = c->steps = NULL;
        c->room = 0;
        status = yoke_buffer_create(c->device, wanted * space_of(s), &c->space);
        if (!status) status = yoke_buffer_create(c->device, wanted * (int64_t)sizeof *s->length, &c->length);
        if (!status) status = yoke_buffer_create(c->device, wanted * (int64_t)sizeof *s->steps, &c->steps);
        if (!status) c->room = wanted;
    }
    if (!status && !c->distance) status = yoke_buffer_create(c->device, bytes, &c->distance);
    if (status || c->sent) return status;
    c->sent = 1;
    return yoke_queue_write(c->queue, c->distance, 0, bytes, s->cities->distance);
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
                                           yoke_argument_buffer(c->distance),
                                           yoke_argument_buffer(c->space),
                                           yoke_argument_buffer(c->length),
                                           yoke_argument_buffer(c->steps)};
        status = yoke_queue_launch(c->queue, c->function, groups < MAX_GROUPS ? groups : MAX_GROUPS, GROUP, count, arguments,
                                   sizeof arguments / sizeof *arguments);
        if (!status) status = yoke_queue_read(c->queue, c->length, 0, count * (int64_t)sizeof *s->length, s->length + begin);
        if (!status) status = yoke_queue_read(c->queue, c->steps, 0, count * (int64_t)sizeof *s->steps, s->steps + begin);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- the result */

/* Number of exchanges evaluated in a search for the best one. */
static double weighed(const dense_cities *cities)
{
    const double n = cities->count;
    return n > 3 ? n * (n - 3) / 2 : 0;
}

static yoke_status expect_same(const state *s, int64_t restart, int64_t length)
{
    if (length == s->length[restart]) return YOKE_OK;
    return yoke_fail(s->cities->context, YOKE_ERROR_NUMERIC,
                     "restart %lld: a device found a tour of length %lld, the cores one of %lld: the device computes wrong results",
                     (long long)restart, (long long)s->length[restart], (long long)length);
}

static yoke_status find_best(const state *s, dense_tour *tour)
{
    const int64_t restarts = s->options->restarts, checks = s->options->check < restarts ? s->options->check : restarts;
    int32_t kept[DENSE_MAX_CITIES + 1], steps;
    yoke_status status = YOKE_OK;
    tour->length = INT64_MAX;
    for (int64_t r = 0; r < restarts; r++) {
        if (s->length[r] < tour->length) {
            tour->length = s->length[r];
            tour->restart = r;
            tour->times = 0;
        }
        tour->times += s->length[r] == tour->length;
        tour->mean += (double)s->length[r] / (double)restarts;
        tour->evaluations += weighed(s->cities) * (s->steps[r] + 1.0);
    }
    for (int64_t k = 0; k < checks && !status; k++) {
        const int64_t r = restarts / checks * k;
        status = expect_same(s, r, climb(s, r, kept, &steps));
    }
    if (status) return status;
    climb(s, tour->restart, kept, &steps);
    memcpy(tour->city, kept, (size_t)s->cities->count * sizeof *kept);
    return expect_same(s, tour->restart, dense_tour_length(s->cities, tour->city));
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
    status = yoke_allocate(context, options->restarts, sizeof *s->length, &s->length);
    if (!status) status = yoke_allocate(context, options->restarts, sizeof *s->steps, &s->steps);
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
    yoke_release(context, tsp->length);
    yoke_release(context, tsp->steps);
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
