#include "solver/coarse/keeper.h"

#include <math.h>
#include <string.h>

#include "solver/coarse/keeper_ranks.h"

/* The data on which the matrix of a level depends. */
typedef struct ingredients {
    fem_element element;
    int components, slots;
    int32_t num_nodes, num_elements;
    int32_t *element_nodes; /* [num_elements][slots] */
    int16_t *face_code;     /* [num_elements] */
    double *moduli;         /* [num_elements][2] lambda and mu */
    double *x;              /* [num_nodes][3] */
    uint8_t *prescribed;    /* [num_nodes] */
} ingredients;

struct fem_coarse_keeper {
    yoke_context *context;
    ingredients of;     /* of the kept solver, or of one that is being made */
    fem_coarse *coarse; /* at most one of this and direct is not NULL */
    fem_direct *direct;
    ingredients refused;       /* the level whose factor was too expensive */
    double refused_operations; /* operations that this factor would take; NaN: there is no such level */
    coarse_runs on_ranks;
    int64_t made;
};

static void release(yoke_context *context, ingredients *of)
{
    void *arrays[] = {of->element_nodes, of->face_code, of->moduli, of->x, of->prescribed};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(context, arrays[i]);
    memset(of, 0, sizeof *of);
}

static void forget(fem_coarse_keeper *keeper)
{
    release(keeper->context, &keeper->of);
    fem_coarse_destroy(keeper->coarse);
    fem_direct_destroy(keeper->direct);
    keeper->coarse = NULL;
    keeper->direct = NULL;
}

yoke_status fem_coarse_keeper_create(yoke_context *context, fem_coarse_keeper **out)
{
    fem_coarse_keeper *keeper;
    yoke_status status = yoke_allocate(context, 1, sizeof *keeper, &keeper);
    if (status) return status;
    keeper->context = context;
    keeper->refused_operations = NAN;
    *out = keeper;
    return YOKE_OK;
}

void fem_coarse_keeper_destroy(fem_coarse_keeper *keeper)
{
    if (!keeper) return;
    forget(keeper);
    release(keeper->context, &keeper->refused);
    fem_coarse_keeper_forget_on_ranks(keeper);
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

static int is_of(const ingredients *of, const fem_space *space, const fem_constraints *constraints)
{
    if (of->element != space->element || of->components != space->components || of->slots != space->slots) return 0;
    if (of->num_nodes != space->num_nodes || of->num_elements != space->num_elements) return 0;
    const int64_t nodes = of->num_nodes, elements = of->num_elements;
    return same(of->element_nodes, space->element_nodes, of->slots * elements, sizeof(int32_t)) &&
           same(of->face_code, space->face_code, elements, sizeof(int16_t)) && same(of->x, space->x, 3 * nodes, sizeof(double)) &&
           same(of->prescribed, constraints->prescribed, nodes, 1) && same_moduli(of, space);
}

fem_coarse *fem_coarse_keeper_find(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints)
{
    return keeper->coarse && is_of(&keeper->of, space, constraints) ? keeper->coarse : NULL;
}

fem_direct *fem_coarse_keeper_find_direct(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints)
{
    return keeper->direct && is_of(&keeper->of, space, constraints) ? keeper->direct : NULL;
}

double fem_coarse_keeper_operations(const fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints)
{
    return !isnan(keeper->refused_operations) && is_of(&keeper->refused, space, constraints) ? keeper->refused_operations : (double)NAN;
}

static yoke_status copy(yoke_context *context, const void *from, int64_t count, size_t size, void *pointer)
{
    void *to = NULL;
    yoke_status status = yoke_allocate_untouched(context, count, size, &to);
    if (status) return status;
    memcpy(to, from, (size_t)count * size);
    memcpy(pointer, &to, sizeof to);
    return YOKE_OK;
}

static yoke_status remember(yoke_context *context, const fem_space *space, const fem_constraints *constraints, ingredients *of)
{
    const int64_t nodes = space->num_nodes, elements = space->num_elements;
    yoke_status status = copy(context, space->element_nodes, space->slots * elements, sizeof(int32_t), &of->element_nodes);
    if (!status) status = copy(context, space->face_code, elements, sizeof(int16_t), &of->face_code);
    if (!status) status = copy(context, space->x, 3 * nodes, sizeof(double), &of->x);
    if (!status) status = copy(context, constraints->prescribed, nodes, 1, &of->prescribed);
    if (!status) status = yoke_allocate_untouched(context, 2 * elements, sizeof(double), &of->moduli);
    if (status) {
        release(context, of);
        return status;
    }
    for (int32_t e = 0; e < elements; e++) {
        of->moduli[2 * (int64_t)e] = fem_space_material(space, e)->lambda;
        of->moduli[2 * (int64_t)e + 1] = fem_space_material(space, e)->mu;
    }
    of->element = space->element;
    of->components = space->components;
    of->slots = space->slots;
    of->num_nodes = space->num_nodes;
    of->num_elements = space->num_elements;
    return YOKE_OK;
}

yoke_status fem_coarse_keeper_start(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints)
{
    forget(keeper);
    return remember(keeper->context, space, constraints, &keeper->of);
}

yoke_status fem_coarse_keeper_refuse(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints,
                                     double operations)
{
    if (!isnan(keeper->refused_operations) && keeper->refused.num_nodes < space->num_nodes) return YOKE_OK;
    release(keeper->context, &keeper->refused);
    keeper->refused_operations = NAN;
    yoke_status status = remember(keeper->context, space, constraints, &keeper->refused);
    if (!status) keeper->refused_operations = operations;
    return status;
}

void fem_coarse_keeper_keep(fem_coarse_keeper *keeper, fem_coarse *coarse)
{
    keeper->coarse = coarse;
    keeper->made++;
}

void fem_coarse_keeper_keep_direct(fem_coarse_keeper *keeper, fem_direct *direct)
{
    keeper->direct = direct;
    keeper->made++;
}

yoke_status fem_coarse_keeper_find_on_ranks(fem_coarse_keeper *keeper, const fem_space *space, const fem_constraints *constraints,
                                            fem_coarse **coarse, fem_runs **vectors)
{
    yoke_status status = coarse_runs_find(&keeper->on_ranks, space, constraints, vectors);
    *coarse = keeper->on_ranks.coarse;
    return status;
}

void fem_coarse_keeper_keep_on_ranks(fem_coarse_keeper *keeper, fem_coarse *coarse)
{
    keeper->on_ranks.coarse = coarse;
    keeper->made++;
}

void fem_coarse_keeper_forget_on_ranks(fem_coarse_keeper *keeper) { coarse_runs_release(keeper->context, &keeper->on_ranks); }

int64_t fem_coarse_keeper_made(const fem_coarse_keeper *keeper) { return keeper->made; }
