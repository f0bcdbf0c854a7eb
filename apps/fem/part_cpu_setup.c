/* part_cpu_setup.c - chunks, index tables, geometry factors and element matrices of the CPU part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>
#include <p8est_lnodes.h>

#include "part_cpu.h"
#include "shape.h"

/* Below this a barrier takes longer than what a second thread saves. */
enum { LEAST_ELEMENTS_Q1 = 512, LEAST_ELEMENTS_Q2 = 64 };

static yoke_status take(cpu_part *cpu, int64_t count, size_t size, void **memory)
{
    yoke_status status = yoke_allocate_untouched(cpu->part.context, count, size, memory);
    if (!status) cpu->bytes += count * (int64_t)size;
    return status;
}

static size_t real_size(const cpu_part *cpu) { return cpu->part.precision == FEM_DOUBLE ? sizeof(double) : sizeof(float); }

/* ------------------------------------------------------------------------------------------- hanging tables */

static yoke_status decode_face_codes(cpu_part *cpu)
{
    int n = cpu->part.space->slots_1d, stride[3] = {1, n, n * n};
    yoke_status status = yoke_allocate(cpu->part.context, FEM_FACE_CODES, sizeof *cpu->hanging, (void **)&cpu->hanging);
    if (status) return status;
    for (int code = 1; code < FEM_FACE_CODES; code++) {
        int hanging_face[6], hanging_edge[12], slots[9];
        fem_hanging *h = &cpu->hanging[code];
        p8est_lnodes_decode((p8est_lnodes_code_t)code, hanging_face, hanging_edge);
        for (int f = 0; f < 6; f++) {
            if (hanging_face[f] < 0 || h->faces == 3) continue;
            int axis = f / 2;
            fem_face_slots(n, f, slots);
            h->face[h->faces].base = (int8_t)slots[0];
            h->face[h->faces].stride_s = (int8_t)stride[axis == 0 ? 1 : 0];
            h->face[h->faces].stride_t = (int8_t)stride[axis == 2 ? 1 : 2];
            h->face[h->faces].half_s = (int8_t)(hanging_face[f] & 1);
            h->face[h->faces++].half_t = (int8_t)(hanging_face[f] >> 1);
        }
        for (int e = 0; e < 12; e++) {
            if ((hanging_edge[e] != 0 && hanging_edge[e] != 1) || h->edges == 3) continue;
            fem_edge_slots(n, e, slots);
            h->edge[h->edges].base = (int8_t)slots[0];
            h->edge[h->edges].stride = (int8_t)stride[e / 4];
            h->edge[h->edges++].half = (int8_t)hanging_edge[e];
        }
    }
    return YOKE_OK;
}

static void list_used_slots(cpu_part *cpu)
{
    const fem_space *space = cpu->part.space;
    for (int s = 0; s < space->slots; s++) {
        int middles = (s % 3 == 1) + (s / 3 % 3 == 1) + (s / 9 == 1);
        if (space->element == FEM_S2 && middles >= 2) continue;
        cpu->slot[cpu->used++] = (int8_t)s;
    }
}

/* ---------------------------------------------------------------------------------------------------- chunks */

/* Nodes are numbered as touched: those first touched before element e are 0 .. (largest number touched so far). */
static void cut_chunks(cpu_part *cpu)
{
    const fem_space *space = cpu->part.space;
    int32_t seen = 0, e = 0;
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_chunk *chunk = &cpu->chunks[t];
        chunk->element_begin = (int32_t)((int64_t)space->num_elements * t / cpu->num_chunks);
        chunk->element_end = (int32_t)((int64_t)space->num_elements * (t + 1) / cpu->num_chunks);
        chunk->node_begin = seen;
        for (; e < chunk->element_end; e++)
            for (int i = 0; i < cpu->used; i++) {
                int32_t node = space->element_nodes[(int64_t)e * space->slots + cpu->slot[i]];
                if (node >= seen) seen = node + 1;
            }
        chunk->node_end = seen;
    }
}

/* Marks in tail_of (0: none) the foreign nodes of a chunk and returns how many there are; counts its border elements. */
static int32_t find_foreign(const cpu_part *cpu, const cpu_chunk *chunk, int32_t *tail_of, int32_t *border)
{
    const fem_space *space = cpu->part.space;
    int32_t foreign = 0;
    *border = 0;
    for (int32_t e = chunk->element_begin; e < chunk->element_end; e++) {
        int touches = 0;
        for (int i = 0; i < cpu->used; i++) {
            int32_t node = space->element_nodes[(int64_t)e * space->slots + cpu->slot[i]];
            if (node >= chunk->node_begin) continue;
            touches = 1;
            if (!tail_of[node]) tail_of[node] = ++foreign;
        }
        *border += touches;
    }
    return foreign;
}

static int touches_foreign(const cpu_part *cpu, const cpu_chunk *chunk, int32_t e)
{
    const fem_space *space = cpu->part.space;
    for (int i = 0; i < cpu->used; i++)
        if (space->element_nodes[(int64_t)e * space->slots + cpu->slot[i]] < chunk->node_begin) return 1;
    return 0;
}

static yoke_status allocate_batches(cpu_part *cpu, cpu_batches *set, int32_t elements, int own_scatter)
{
    const fem_space *space = cpu->part.space;
    int width = cpu->functions->width, m = cpu->used * space->components;
    fem_batches *b = &set->b;
    b->width = width;
    b->slots = space->slots;
    b->used = cpu->used;
    b->slot = cpu->slot;
    b->serendipity = space->element == FEM_S2;
    b->elements = elements;
    b->batches = (elements + width - 1) / width;
    b->hanging = cpu->hanging;
    int64_t lanes = (int64_t)b->batches * width;
    yoke_status status = take(cpu, lanes, sizeof(int32_t), (void **)&set->element);
    if (!status) status = take(cpu, lanes * space->slots, sizeof(int32_t), (void **)&set->gather);
    if (!status && own_scatter) status = take(cpu, lanes * space->slots, sizeof(int32_t), (void **)&set->scatter);
    if (!status) status = take(cpu, lanes, sizeof(int16_t), (void **)&set->face_code);
    if (!status) status = take(cpu, lanes * space->slots * FEM_FACTORS, real_size(cpu), &set->factors);
    if (!status) status = take(cpu, lanes * 2, real_size(cpu), &set->moduli);
    if (!status && cpu->part.operator_kind == FEM_STORED) status = take(cpu, lanes * m * (m + 1) / 2, real_size(cpu), &set->stored);
    b->gather = set->gather;
    b->scatter = own_scatter ? set->scatter : set->gather;
    b->face_code = set->face_code;
    b->factors = set->factors;
    b->moduli = set->moduli;
    b->stored = set->stored;
    return status;
}

static void put_element(const cpu_part *cpu, const cpu_chunk *chunk, cpu_batches *set, int32_t position, int32_t e, const int32_t *tail_of)
{
    const fem_space *space = cpu->part.space;
    int width = set->b.width;
    int64_t batch = position / width, lane = position % width;
    const fem_material *material = fem_space_material(space, e);
    set->element[position] = e;
    set->face_code[position] = space->face_code[e];
    for (int s = 0; s < space->slots; s++) {
        int64_t at = (batch * space->slots + s) * width + lane;
        int32_t node = space->element_nodes[(int64_t)e * space->slots + s];
        set->gather[at] = node < 0 ? 0 : node; /* slots without a node are not read: they are not in `used` */
        if (set->scatter)
            set->scatter[at] = node >= 0 && node < chunk->node_begin ? chunk->tail_begin + tail_of[node] - 1 : set->gather[at];
    }
    if (cpu->part.precision == FEM_DOUBLE) {
        double *moduli = (double *)set->moduli + 2 * batch * width + lane;
        moduli[0] = material->lambda, moduli[width] = material->mu;
    } else {
        float *moduli = (float *)set->moduli + 2 * batch * width + lane;
        moduli[0] = (float)material->lambda, moduli[width] = (float)material->mu;
    }
}

static void fill_batches(const cpu_part *cpu, cpu_chunk *chunk, const int32_t *tail_of)
{
    int32_t border = 0, interior = 0;
    for (int32_t e = chunk->element_begin; e < chunk->element_end; e++) {
        if (chunk->border.b.elements && touches_foreign(cpu, chunk, e))
            put_element(cpu, chunk, &chunk->border, border++, e, tail_of);
        else
            put_element(cpu, chunk, &chunk->interior, interior++, e, tail_of);
    }
    cpu_batches *sets[2] = {&chunk->border, &chunk->interior};
    for (int i = 0; i < 2; i++)
        for (int32_t p = sets[i]->b.elements; p < sets[i]->b.batches * sets[i]->b.width; p++)
            put_element(cpu, chunk, sets[i], p, sets[i]->element[sets[i]->b.elements - 1], tail_of);
}

/* Tells the owners of a chunk's foreign nodes about its copies: chunks come in order, so each owner's list is in a fixed order. */
static yoke_status list_copies(cpu_part *cpu, int32_t *const *tail_of)
{
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_chunk *owner = &cpu->chunks[t];
        for (int pass = 0; pass < 2; pass++) {
            int64_t count = 0;
            for (int u = t + 1; u < cpu->num_chunks; u++) {
                for (int32_t node = owner->node_begin; node < owner->node_end; node++) {
                    if (!tail_of[u][node]) continue;
                    if (pass) {
                        owner->copied_node[count] = node;
                        owner->copied_from[count] = cpu->chunks[u].tail_begin + tail_of[u][node] - 1;
                    }
                    count++;
                }
            }
            if (pass) continue;
            owner->copies = count;
            yoke_status status = take(cpu, count, sizeof(int32_t), (void **)&owner->copied_node);
            if (!status) status = take(cpu, count, sizeof(int32_t), (void **)&owner->copied_from);
            if (status) return status;
        }
    }
    return YOKE_OK;
}

static yoke_status build_chunks(cpu_part *cpu, int32_t **tail_of)
{
    cut_chunks(cpu);
    int32_t tail = cpu->num_nodes;
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_chunk *chunk = &cpu->chunks[t];
        int32_t border;
        yoke_status status = yoke_allocate(cpu->part.context, chunk->node_begin, sizeof(int32_t), (void **)&tail_of[t]);
        if (status) return status;
        chunk->tail_begin = tail;
        tail += find_foreign(cpu, chunk, tail_of[t], &border);
        chunk->tail_end = tail;
        status = allocate_batches(cpu, &chunk->border, border, 1);
        if (!status) status = allocate_batches(cpu, &chunk->interior, chunk->element_end - chunk->element_begin - border, 0);
        if (status) return status;
    }
    cpu->tail_nodes = tail - cpu->num_nodes;
#pragma omp parallel for num_threads(cpu->num_chunks) schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++) fill_batches(cpu, &cpu->chunks[t], tail_of[t]);
    return list_copies(cpu, tail_of);
}

static yoke_status make_chunks(cpu_part *cpu)
{
    int32_t **tail_of;
    yoke_status status = yoke_allocate(cpu->part.context, cpu->num_chunks, sizeof *tail_of, (void **)&tail_of);
    if (status) return status;
    status = build_chunks(cpu, tail_of);
    for (int t = 0; t < cpu->num_chunks; t++) yoke_release(cpu->part.context, tail_of[t]);
    yoke_release(cpu->part.context, tail_of);
    return status;
}

/* --------------------------------------------------------------------------------------------------- factors */

/* Geometry factors of one batch; returns the lane of the first folded element, or -1, with its determinant. */
static int batch_factors(const cpu_part *cpu, cpu_batches *set, int32_t batch, double *work, double *determinant)
{
    const fem_space *space = cpu->part.space;
    int width = set->b.width, lanes = cpu->kernels->lanes, points = space->slots;
    int64_t first = (int64_t)batch * points * FEM_FACTORS * width;
    for (int lane = 0; lane < width; lane += lanes) {
        const int32_t *gather = set->gather + (int64_t)batch * points * width + lane;
        double smallest = (space->slots_1d == 3 ? cpu->kernels->geometry : cpu->kernels->geometry_q1)(
            &set->b, gather, width, set->face_code + (int64_t)batch * width + lane, space->x, work);
        for (int i = 0; i < points * FEM_FACTORS; i++) {
            for (int l = 0; l < lanes; l++) {
                int64_t at = first + (int64_t)i * width + lane + l;
                if (cpu->part.precision == FEM_DOUBLE)
                    ((double *)set->factors)[at] = work[i * lanes + l];
                else
                    ((float *)set->factors)[at] = (float)work[i * lanes + l];
            }
        }
        if (smallest > 0 && isfinite(smallest)) continue;
        for (int l = 0; l < lanes; l++) {
            for (int q = 0; q < points; q++) {
                double weight = work[(q * FEM_FACTORS + 9) * lanes + l];
                if (weight > 0 && isfinite(weight)) continue;
                *determinant = weight;
                return lane + l;
            }
        }
    }
    return -1;
}

static yoke_status make_factors(cpu_part *cpu)
{
    const fem_space *space = cpu->part.space;
    int64_t work_size = (int64_t)27 * FEM_FACTORS * 8;
    double *work, folded_determinant = 0;
    int32_t folded = -1;
    yoke_status status = yoke_allocate(cpu->part.context, work_size * cpu->num_chunks, sizeof(double), (void **)&work);
    if (status) return status;
#pragma omp parallel for num_threads(cpu->num_chunks) schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_batches *sets[2] = {&cpu->chunks[t].border, &cpu->chunks[t].interior};
        for (int i = 0; i < 2; i++) {
            for (int32_t batch = 0; batch < sets[i]->b.batches; batch++) {
                double determinant;
                int lane = batch_factors(cpu, sets[i], batch, work + work_size * t, &determinant);
                if (lane < 0) continue;
#pragma omp critical(fem_folded)
                {
                    int32_t element = sets[i]->element[(int64_t)batch * sets[i]->b.width + lane];
                    if (folded < 0 || element < folded) { /* the first one, whichever thread comes first */
                        folded = element;
                        folded_determinant = determinant;
                    }
                }
            }
        }
    }
    yoke_release(cpu->part.context, work);
    if (folded < 0) return YOKE_OK;
    const fem_mesh *mesh = space->problem->mesh;
    return yoke_fail(cpu->part.context, YOKE_ERROR_INPUT,
                     "%s: element %lld folds where it is refined (level %d): weighted Jacobian determinant %g at a quadrature point; "
                     "make the mesh finer or its element less curved there",
                     mesh->path, (long long)mesh->element_tag[space->tree[folded]], space->level[folded], folded_determinant);
}

static void make_stored(cpu_part *cpu)
{
    int m = cpu->used * cpu->part.space->components;
    int64_t size = (int64_t)m * (m + 1) / 2 * cpu->functions->width * (int64_t)real_size(cpu);
#pragma omp parallel for num_threads(cpu->num_chunks) schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_batches *sets[2] = {&cpu->chunks[t].border, &cpu->chunks[t].interior};
        for (int i = 0; i < 2; i++)
            for (int32_t batch = 0; batch < sets[i]->b.batches; batch++)
                cpu->functions->matrix(&sets[i]->b, batch, (char *)sets[i]->stored + batch * size);
    }
}

/* The stored operator does not read the factors again. */
static void drop_factors(cpu_part *cpu)
{
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_batches *sets[2] = {&cpu->chunks[t].border, &cpu->chunks[t].interior};
        for (int i = 0; i < 2; i++) {
            cpu->bytes -= (int64_t)sets[i]->b.batches * sets[i]->b.width * cpu->part.space->slots * FEM_FACTORS * (int64_t)real_size(cpu);
            yoke_release(cpu->part.context, sets[i]->factors);
            sets[i]->factors = NULL;
            sets[i]->b.factors = NULL;
        }
    }
}

/* ------------------------------------------------------------------------------------------- masks, the whole */

static yoke_status make_mask(cpu_part *cpu)
{
    const uint8_t *prescribed = cpu->constraints->prescribed;
    int n = cpu->part.space->components;
    for (int64_t i = 0; i < cpu->num_nodes; i++)
        for (int c = 0; c < n; c++) cpu->num_masked += prescribed[i] >> c & 1;
    yoke_status status = take(cpu, cpu->num_masked, sizeof(int64_t), (void **)&cpu->masked);
    if (status) return status;
    int64_t count = 0;
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu->chunks[t].masked_begin = count;
        for (int64_t i = cpu->chunks[t].node_begin; i < cpu->chunks[t].node_end; i++)
            for (int c = 0; c < n; c++)
                if (prescribed[i] >> c & 1) cpu->masked[count++] = i * n + c;
        cpu->chunks[t].masked_end = count;
    }
    return YOKE_OK;
}

yoke_status cpu_part_setup(cpu_part *cpu, int threads)
{
    const fem_space *space = cpu->part.space;
    cpu->num_nodes = space->num_nodes;
    cpu->functions = &cpu->kernels->functions[cpu->part.precision][space->slots_1d - 2][space->components == 3];
    int most = space->num_elements / (space->element == FEM_Q1 ? LEAST_ELEMENTS_Q1 : LEAST_ELEMENTS_Q2) + 1;
    if (threads <= 0) threads = omp_get_max_threads();
    if (threads > CPU_PART_MOST_CHUNKS) threads = CPU_PART_MOST_CHUNKS;
    cpu->num_chunks = threads < most ? threads : most;
    list_used_slots(cpu);
    yoke_status status = decode_face_codes(cpu);
    if (!status) status = yoke_allocate(cpu->part.context, cpu->num_chunks, sizeof *cpu->chunks, (void **)&cpu->chunks);
    if (!status) status = make_chunks(cpu);
    if (!status) status = make_mask(cpu);
    if (!status) status = make_factors(cpu);
    if (!status)
        status = take(cpu, ((int64_t)cpu->num_nodes + cpu->tail_nodes) * (space->components == 3 ? 6 : 1), real_size(cpu), &cpu->blocks);
    if (status) return status;
    cpu_part_diagonal(cpu, cpu->blocks);
    if (cpu->part.operator_kind == FEM_STORED) {
        make_stored(cpu);
        drop_factors(cpu);
    }
    return YOKE_OK;
}

void cpu_part_release(cpu_part *cpu)
{
    yoke_context *context = cpu->part.context;
    for (int t = 0; cpu->chunks && t < cpu->num_chunks; t++) {
        cpu_batches *sets[2] = {&cpu->chunks[t].border, &cpu->chunks[t].interior};
        for (int i = 0; i < 2; i++) {
            void *arrays[] = {sets[i]->element, sets[i]->gather, sets[i]->scatter, sets[i]->face_code,
                              sets[i]->factors, sets[i]->moduli, sets[i]->stored};
            for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) yoke_release(context, arrays[k]);
        }
        yoke_release(context, cpu->chunks[t].copied_node);
        yoke_release(context, cpu->chunks[t].copied_from);
    }
    yoke_release(context, cpu->chunks);
    yoke_release(context, cpu->masked);
    yoke_release(context, cpu->blocks);
    yoke_release(context, cpu->hanging);
    yoke_release(context, cpu);
}
