#include "near/direct_devices.h"

#include "near/direct_block.h"
/* clang-format off */
#include "near/kernels/pair_text.h"
#include "near/kernels/direct_text.h"
/* clang-format on */

extern const char fmm_pair_text[], fmm_direct_text[]; /* pair_text.h, direct_text.h (yoke_embed_text) */

/* The sums that are computed: the potential at each particle, followed by its gradient if there are gradients. */
typedef struct sums {
    const fmm_particles *particles;
    int gradient, width; /* width: number of values of a particle */
} sums;

static void sum_on_host(int64_t first, int64_t last, void *const *arrays, void *user)
{
    const sums *s = user;
    const fmm_particles *particles = s->particles;
    double *packed = arrays[1];
#pragma omp parallel for schedule(dynamic)
    for (int64_t begin = first; begin < last; begin += FMM_BLOCK) {
        fmm_block block;
        int64_t count = last - begin < FMM_BLOCK ? last - begin : FMM_BLOCK;
        fmm_direct_block(particles, begin, count, s->gradient, &block);
        for (int64_t i = 0; i < count; i++) {
            double *at = packed + s->width * (begin + i);
            at[0] = block.potential[i];
            if (s->gradient) at[1] = block.gx[i], at[2] = block.gy[i], at[3] = block.gz[i];
        }
    }
}

static void pack(const fmm_particles *particles, double *place)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < particles->count; i++) {
        double *at = place + 4 * i;
        at[0] = particles->x[i], at[1] = particles->y[i], at[2] = particles->z[i], at[3] = particles->charge[i];
    }
}

static void unpack(const double *packed, int width, fmm_field *field)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < field->count; i++) {
        const double *at = packed + width * i;
        field->potential[i] = at[0];
        if (field->gx) field->gx[i] = at[1], field->gy[i] = at[2], field->gz[i] = at[3];
    }
}

static yoke_status run(sums *s, const char *devices, const char *machine, double *place, double *packed)
{
    static const yoke_host_kernel kernels[] = {{"sum_all_pairs", sum_all_pairs}};
    const char *const texts[] = {fmm_pair_text, fmm_direct_text};
    const yoke_program_source source = {
        .name = "fmm direct", .texts = texts, .num_texts = 2, .host_kernels = kernels, .num_host_kernels = 1};
    const int64_t count = s->particles->count, one = (int64_t)sizeof(double);
    const yoke_run_array arrays[] = {{place, count * 4 * one, 0, YOKE_RUN_READ, .keep = 0},
                                     {packed, count * s->width * one, s->width * one, YOKE_RUN_WRITE, .keep = 0}};
    const yoke_run_definition definition = {.work = s->gradient ? "fmm direct" : "fmm direct potential",
                                            .source = &source,
                                            .function = "sum_all_pairs",
                                            .host = sum_on_host,
                                            .user = s,
                                            .num_arrays = 2,
                                            .arrays = arrays};
    const yoke_run_options options = {.devices = devices, .machine = machine, .no_meters = 1, .rounds = 1};
    const yoke_argument arguments[] = {yoke_argument_int64(count), yoke_argument_int32(s->gradient),
                                       yoke_argument_double(s->particles->softening)};
    yoke_run *shared = NULL;
    yoke_run_kernel *kernel = NULL;
    yoke_status status = yoke_run_create(s->particles->context, &options, &shared);
    if (!status) status = yoke_run_define(shared, &definition, &kernel);
    if (!status) status = yoke_run_loop(shared, kernel, count, arguments, 3);
    yoke_run_destroy(shared);
    return status;
}

yoke_status fmm_direct_on_devices(const fmm_particles *particles, const char *devices, const char *machine, fmm_field *field)
{
    double *place = NULL, *packed = NULL;
    sums s = {.particles = particles, .gradient = field->gx != NULL, .width = field->gx ? 4 : 1};
    if (particles->count == 0) return YOKE_OK;
    yoke_status status = yoke_allocate(particles->context, 4 * particles->count, sizeof *place, &place);
    if (!status) status = yoke_allocate(particles->context, s.width * particles->count, sizeof *packed, &packed);
    if (!status) pack(particles, place);
    if (!status) status = run(&s, devices, machine, place, packed);
    if (!status) unpack(packed, s.width, field);
    yoke_release(particles->context, place);
    yoke_release(particles->context, packed);
    return status;
}
