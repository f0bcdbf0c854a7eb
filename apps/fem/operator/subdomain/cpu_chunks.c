/*
 * cpu_chunks.c - splits the CPU subdomain's elements into chunks and batches: index tables, classes of elements, copies of other chunks'
 * nodes.
 */
#include "operator/subdomain/cpu.h"

/* Data that are needed only while the chunks are made. */
typedef struct chunk_work {
    const uint8_t *is_interface; /* [num_nodes]; NULL: none is */
    int32_t **tail_of; /* [chunks][nodes of earlier chunks] 0: the chunk has no copy of the node; otherwise 1 + number of its copy */
} chunk_work;

/*
 * Cuts elements and nodes into chunks.  Nodes are numbered in the order in which elements touch them, so those touched before element e are
 * 0 .. (largest number touched so far).
 */
static void cut_chunks(cpu_subdomain *cpu)
{
    const fem_space *space = cpu->subdomain.space;
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
    cpu->chunks[cpu->num_chunks - 1].node_end = cpu->num_nodes;
}

/* Returns the set of the chunk to which element e belongs. */
static int set_of(const cpu_subdomain *cpu, const chunk_work *work, const cpu_chunk *chunk, int32_t e)
{
    const fem_space *space = cpu->subdomain.space;
    int phase = CPU_INTERIOR, class = CPU_OWN;
    for (int i = 0; i < cpu->used; i++) {
        int32_t node = space->element_nodes[(int64_t)e * space->slots + cpu->slot[i]];
        if (node < chunk->node_begin) class = CPU_BORDER;
        if (work->is_interface && work->is_interface[node]) phase = CPU_INTERFACE;
    }
    return CPU_SET(phase, class);
}

/* Numbers the chunk's copies of earlier chunks' nodes in tail_of, and counts the elements of each set; returns the number of copies. */
static int32_t find_foreign(const cpu_subdomain *cpu, const chunk_work *work, const cpu_chunk *chunk, int32_t *tail_of,
                            int32_t elements[CPU_SETS])
{
    const fem_space *space = cpu->subdomain.space;
    int32_t foreign = 0;
    for (int32_t e = chunk->element_begin; e < chunk->element_end; e++) {
        elements[set_of(cpu, work, chunk, e)]++;
        for (int i = 0; i < cpu->used; i++) {
            int32_t node = space->element_nodes[(int64_t)e * space->slots + cpu->slot[i]];
            if (node < chunk->node_begin && !tail_of[node]) tail_of[node] = ++foreign;
        }
    }
    return foreign;
}

static yoke_status allocate_batches(cpu_subdomain *cpu, cpu_batches *set, int32_t elements, int own_scatter)
{
    const fem_space *space = cpu->subdomain.space;
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
    yoke_status status = cpu_subdomain_take(cpu, lanes, sizeof(int32_t), &set->element);
    if (!status) status = cpu_subdomain_take(cpu, lanes * space->slots, sizeof(int32_t), &set->gather);
    if (!status && own_scatter) status = cpu_subdomain_take(cpu, lanes * space->slots, sizeof(int32_t), &set->scatter);
    if (!status) status = cpu_subdomain_take(cpu, lanes, sizeof(int16_t), &set->face_code);
    if (!status) status = cpu_subdomain_take(cpu, (int64_t)b->batches + 1, sizeof(int64_t), &set->first_factor);
    if (!status) status = cpu_subdomain_take(cpu, lanes * 2, cpu_subdomain_real_size(cpu), &set->moduli);
    if (!status && cpu->subdomain.operator_kind == FEM_STORED)
        status = cpu_subdomain_take(cpu, lanes * m * (m + 1) / 2, cpu_subdomain_real_size(cpu), &set->stored);
    b->gather = set->gather;
    b->scatter = own_scatter ? set->scatter : set->gather;
    b->face_code = set->face_code;
    b->first_factor = set->first_factor;
    b->moduli = set->moduli;
    b->stored = set->stored;
    return status;
}

static void put_element(const cpu_subdomain *cpu, const cpu_chunk *chunk, cpu_batches *set, int32_t position, int32_t e,
                        const int32_t *tail_of)
{
    const fem_space *space = cpu->subdomain.space;
    int width = set->b.width;
    int64_t batch = position / width, lane = position % width;
    const fem_material *material = fem_space_material(space, e);
    set->element[position] = e;
    set->face_code[position] = space->face_code[e];
    for (int s = 0; s < space->slots; s++) {
        int64_t at = (batch * space->slots + s) * width + lane;
        int32_t node = space->element_nodes[(int64_t)e * space->slots + s];
        set->gather[at] = node < 0 ? 0 : node; /* slots without a node are not read, because they are not in `used` */
        if (set->scatter)
            set->scatter[at] = node >= 0 && node < chunk->node_begin ? chunk->tail_begin + tail_of[node] - 1 : set->gather[at];
    }
    if (cpu->subdomain.precision == FEM_DOUBLE) {
        double *moduli = (double *)set->moduli + 2 * batch * width + lane;
        moduli[0] = material->lambda, moduli[width] = material->mu;
    } else {
        float *moduli = (float *)set->moduli + 2 * batch * width + lane;
        moduli[0] = (float)material->lambda, moduli[width] = (float)material->mu;
    }
}

static void fill_batches(const cpu_subdomain *cpu, const chunk_work *work, cpu_chunk *chunk, const int32_t *tail_of)
{
    int32_t filled[CPU_SETS] = {0};
    for (int32_t e = chunk->element_begin; e < chunk->element_end; e++) {
        int i = set_of(cpu, work, chunk, e);
        put_element(cpu, chunk, &chunk->set[i], filled[i]++, e, tail_of);
    }
    for (int i = 0; i < CPU_SETS; i++) {
        cpu_batches *set = &chunk->set[i];
        for (int32_t p = set->b.elements; p < set->b.batches * set->b.width; p++)
            put_element(cpu, chunk, set, p, set->element[set->b.elements - 1], tail_of);
    }
}

/* Counts the copies of the owner's nodes in phase `phase`, from number `count` on; lists them if the lists are allocated. */
static int64_t list_phase_copies(cpu_subdomain *cpu, const chunk_work *work, int t, int phase, int64_t count)
{
    cpu_chunk *owner = &cpu->chunks[t];
    if (phase == CPU_INTERFACE && !work->is_interface) return count;
    for (int u = t + 1; u < cpu->num_chunks; u++) {
        for (int32_t node = owner->node_begin; node < owner->node_end; node++) {
            if (!work->tail_of[u][node] || phase != (work->is_interface && work->is_interface[node] ? CPU_INTERFACE : CPU_INTERIOR))
                continue;
            if (owner->copied_node) {
                owner->copied_node[count] = node;
                owner->copied_from[count] = cpu->chunks[u].tail_begin + work->tail_of[u][node] - 1;
            }
            count++;
        }
    }
    return count;
}

/* Lists for each chunk the copies that later chunks have of its nodes.  These chunks come in order, so each list has a fixed order. */
static yoke_status list_copies(cpu_subdomain *cpu, const chunk_work *work)
{
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_chunk *owner = &cpu->chunks[t];
        for (int phase = 0; phase < CPU_PHASES; phase++) {
            owner->copies_begin[phase + 1] = list_phase_copies(cpu, work, t, phase, owner->copies_begin[phase]);
            cpu->phase_copies[phase] += owner->copies_begin[phase + 1] - owner->copies_begin[phase];
        }
        int64_t count = owner->copies_begin[CPU_PHASES];
        yoke_status status = cpu_subdomain_take(cpu, count, sizeof(int32_t), &owner->copied_node);
        if (!status) status = cpu_subdomain_take(cpu, count, sizeof(int32_t), &owner->copied_from);
        if (status) return status;
        for (int phase = 0; phase < CPU_PHASES; phase++) list_phase_copies(cpu, work, t, phase, owner->copies_begin[phase]);
    }
    return YOKE_OK;
}

static yoke_status fill_chunks(cpu_subdomain *cpu, const chunk_work *work)
{
    cut_chunks(cpu);
    int32_t tail = cpu->num_nodes;
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_chunk *chunk = &cpu->chunks[t];
        int32_t elements[CPU_SETS] = {0};
        yoke_status status = yoke_allocate(cpu->subdomain.context, chunk->node_begin, sizeof(int32_t), &work->tail_of[t]);
        if (status) return status;
        chunk->tail_begin = tail;
        tail += find_foreign(cpu, work, chunk, work->tail_of[t], elements);
        chunk->tail_end = tail;
        for (int i = 0; i < CPU_SETS; i++) {
            status = allocate_batches(cpu, &chunk->set[i], elements[i], i % CPU_CLASSES == CPU_BORDER);
            if (status) return status;
            cpu->phase_elements[i / CPU_CLASSES] += elements[i];
        }
    }
    cpu->tail_nodes = tail - cpu->num_nodes;
    FOR_CHUNKS (t) fill_batches(cpu, work, &cpu->chunks[t], work->tail_of[t]);
    return list_copies(cpu, work);
}

/* Determines each chunk's range of interface nodes. */
static void share_interface(cpu_subdomain *cpu)
{
    int32_t i = 0;
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu_chunk *chunk = &cpu->chunks[t];
        chunk->interface_begin = i;
        while (i < cpu->subdomain.num_interface && cpu->subdomain.interface_nodes[i] < chunk->node_end) i++;
        chunk->interface_end = i;
    }
}

yoke_status cpu_subdomain_make_chunks(cpu_subdomain *cpu)
{
    const fem_subdomain *subdomain = &cpu->subdomain;
    chunk_work work = {0};
    uint8_t *is_interface = NULL;
    yoke_status status = yoke_allocate(subdomain->context, cpu->num_chunks, sizeof *cpu->chunks, &cpu->chunks);
    if (!status && subdomain->num_interface) status = yoke_allocate(subdomain->context, cpu->num_nodes, 1, &is_interface);
    if (!status) status = yoke_allocate(subdomain->context, cpu->num_chunks, sizeof *work.tail_of, &work.tail_of);
    if (!status) {
        for (int32_t i = 0; i < subdomain->num_interface; i++) is_interface[subdomain->interface_nodes[i]] = 1;
        work.is_interface = is_interface;
        status = fill_chunks(cpu, &work);
        share_interface(cpu);
        for (int t = 0; t < cpu->num_chunks; t++) yoke_release(subdomain->context, work.tail_of[t]);
    }
    yoke_release(subdomain->context, work.tail_of);
    yoke_release(subdomain->context, is_interface);
    return status;
}

void cpu_subdomain_release_chunks(cpu_subdomain *cpu)
{
    yoke_context *context = cpu->subdomain.context;
    for (int t = 0; cpu->chunks && t < cpu->num_chunks; t++) {
        cpu_chunk *chunk = &cpu->chunks[t];
        for (int i = 0; i < CPU_SETS; i++) {
            cpu_batches *set = &chunk->set[i];
            void *arrays[] = {set->element,      set->gather,  set->scatter, set->face_code,
                              set->first_factor, set->factors, set->moduli,  set->stored};
            for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) yoke_release(context, arrays[k]);
        }
        yoke_release(context, chunk->copied_node);
        yoke_release(context, chunk->copied_from);
    }
    yoke_release(context, cpu->chunks);
}
