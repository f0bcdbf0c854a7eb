#include "solver/coarse_keeper.h"

#include <string.h>

/* What the matrix of a level of q1 elements is made of. */
typedef struct ingredients {
    int components;
    int32_t num_nodes, num_elements;
    int32_t *element_nodes; /* [num_elements][8] */
    int16_t *face_code;     /* [num_elements] */
    double *moduli;         /* [num_elements][2] lambda and mu */
    double *x;              /* [num_nodes][3] */
    uint8_t *prescribed;    /* [num_nodes] */
} ingredients;

struct fem_coarse_keeper {
    yoke_context *context;
    ingredients of; /* the solver; or of one that is being made */
    fem_coarse *coarse;
    int64_t made;
};

static void forget(fem_coarse_keeper *keeper)
{
    void *arrays[] = {keeper->of.element_nodes, keeper->of.face_code, keeper->of.moduli, keeper->of.x, keeper->of.prescribed};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(keeper->context, arrays[i]);
    memset(&keeper->of, 0, sizeof keeper->of);
    fem_coarse_destroy(keeper->coarse);
    keeper->coarse = NULL;
}

yoke_status fem_coarse_keeper_create(yoke_context *context, fem_coarse_keeper **out)
{
    fem_coarse_keeper *keeper;
    yoke_status status = yoke_allocate(context, 1, sizeof *keeper, (void **)&keeper);
    if (status) return status;
    keeper->context = context;
    *out = keeper;
    return YOKE_OK;
}

void fem_coarse_keeper_destroy(fem_coarse_keeper *keeper)
{
    if (!keeper) return;
    forget(keeper);
    yoke_release(keeper->context, keeper);
}

static int same(const void *kept, const void *now, int64_t count, size_t size) { return !memcmp(kept, now, (size_t)count * size); }

static int same_moduli(const ingredients *of, const fem_space *space)
{
    for (int32_t e = 0; e < of->num_elements; e++) {
        const fem_material *material = fem_space_material(space, e);
        const double now[2] = {material->lambda, material->mu};
        if (!same(of->moduli + 2 * (int64_t)e, now, 2, sizeof(double))) return 0;
    }
    return 1;
}

fem_coarse *fem_coarse_keeper_find(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints)
{
    const ingredients *of = &keeper->of;
    if (!keeper->coarse || space->element != FEM_Q1 || of->components != space->components) return NULL;
    if (of->num_nodes != space->num_nodes || of->num_elements != space->num_elements) return NULL;
    const int64_t nodes = of->num_nodes, elements = of->num_elements;
    const int equal = same(of->element_nodes, space->element_nodes, 8 * elements, sizeof(int32_t)) &&
                      same(of->face_code, space->face_code, elements, sizeof(int16_t)) &&
                      same(of->x, space->x, 3 * nodes, sizeof(double)) && same(of->prescribed, constraints->prescribed, nodes, 1) &&
                      same_moduli(of, space);
    return equal ? keeper->coarse : NULL;
}

static yoke_status copy(yoke_context *context, const void *from, int64_t count, size_t size, void **to)
{
    yoke_status status = yoke_allocate_untouched(context, count, size, to);
    if (!status) memcpy(*to, from, (size_t)count * size);
    return status;
}

yoke_status fem_coarse_keeper_start(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints)
{
    yoke_context *context = keeper->context;
    ingredients *of = &keeper->of;
    const int64_t nodes = space->num_nodes, elements = space->num_elements;
    forget(keeper);
    yoke_status status = copy(context, space->element_nodes, 8 * elements, sizeof(int32_t), (void **)&of->element_nodes);
    if (!status) status = copy(context, space->face_code, elements, sizeof(int16_t), (void **)&of->face_code);
    if (!status) status = copy(context, space->x, 3 * nodes, sizeof(double), (void **)&of->x);
    if (!status) status = copy(context, constraints->prescribed, nodes, 1, (void **)&of->prescribed);
    if (!status) status = yoke_allocate_untouched(context, 2 * elements, sizeof(double), (void **)&of->moduli);
    if (status) {
        forget(keeper);
        return status;
    }
    for (int32_t e = 0; e < elements; e++) {
        of->moduli[2 * (int64_t)e] = fem_space_material(space, e)->lambda;
        of->moduli[2 * (int64_t)e + 1] = fem_space_material(space, e)->mu;
    }
    of->components = space->components;
    of->num_nodes = space->num_nodes;
    of->num_elements = space->num_elements;
    return YOKE_OK;
}

void fem_coarse_keeper_keep(fem_coarse_keeper *keeper, fem_coarse *coarse)
{
    keeper->coarse = coarse;
    keeper->made++;
}

int64_t fem_coarse_keeper_made(const fem_coarse_keeper *keeper) { return keeper->made; }
