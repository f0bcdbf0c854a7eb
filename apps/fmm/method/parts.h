/*
 * parts.h - the data of a method, and its passes; private to this folder.
 */
#ifndef FMM_METHOD_PARTS_H
#define FMM_METHOD_PARTS_H

#include <stdbool.h>

#include "expansion/waves.h"
#include "method/method.h"
#include "particles/scale.h"
#include "tree/lists.h"

enum {
    FMM_FAR_LEVEL = 2,                 /* the first level with far pairs */
    FMM_NEAR_STEPS = 8 * FMM_MAX_DEPTH /* maximum number of steps of the near field, which are taken one after the other */
};

/* Working data of a thread. */
typedef struct fmm_worker {
    double *work; /* work array of translations */
    fmm_walk walk;
    fmm_far_list far;
    const double *from[FMM_MAX_TARGETS], *behind[FMM_MAX_TARGETS];
    double *to[FMM_MAX_TARGETS];
    int32_t taken[2]; /* number of families taken from its part of a step of waves, and of the next step */
} fmm_worker;

/* Cells of a level: the children of one cell, some of which are leaves, or successive families. */
typedef struct fmm_siblings {
    int level;
    int32_t first, last; /* cells first ... last - 1 of the level */
    int32_t particle;    /* the first particle of these cells */
} fmm_siblings;

/* Some of the particles of a large leaf, from `first` on. */
typedef struct fmm_slice {
    int32_t leaf, first;
} fmm_slice;

/* A level whose M2L uses plane waves.  Its families (the cells of the level above that have children) are sorted by layers along z. */
typedef struct fmm_wave_level {
    int level;
    fmm_waves *tables; /* those of the method; NULL: the level uses rotations */
    int32_t layers, families, largest;
    int32_t *first;  /* [layers + 1] first family of each layer */
    int32_t *family; /* [families] cells of the level above */
    int32_t *slot;   /* [cells of the level above] position of the family's waves; -1: no family */
} fmm_wave_level;

/* Positions and charges in single precision: relative to the centres of their leaves, in units of the leaves' edges. */
typedef struct fmm_rounded {
    float *at[4];        /* [particles, and some padding that is read with them] x, y, z, charge; NULL: not needed yet */
    double (*centre)[3]; /* [leaves] */
} fmm_rounded;

struct fmm_method {
    yoke_context *context;
    const fmm_clock *clock; /* NULL: seconds */
    fmm_new_memory *memory; /* NULL: no memory is requested before its use */
    const fmm_stop *stop;   /* NULL: nothing ends runs */
    fmm_tree *tree;
    fmm_scale scale;       /* .charge is that of the run */
    fmm_particles *sorted; /* in units of scale, in the tree's order; the charges are those of the run */
    fmm_field *sum;        /* near field at the sorted particles */
    fmm_field *far;        /* far field at the sorted particles; NULL: there is none yet */
    bool near_is_known;    /* `sum` is that of the last run's charges */
    bool wants_single;     /* the near field's sums may be in single precision, ... */
    bool is_single;        /* ... and are, with these charges */
    fmm_rounded rounded;
    fmm_near_list near;
    fmm_w_list w;
    fmm_x_list x;
    int32_t *around; /* [leaves] number of particles in the leaf and in the leaves near it, which act on its particles in the near field */
    bool *is_large;  /* [leaves] the leaf is cut into slices */
    int64_t slices;
    fmm_slice *slice;
    fmm_siblings *block; /* of step s of the near field: first_block[s] ... first_block[s + 1] - 1 */
    int64_t first_block[FMM_NEAR_STEPS + 1];
    int order;                /* of all levels */
    fmm_held held;            /* orders of the stored expansions: local ones have `order`, multipole ones `order` or a higher one */
    bool is_expanded;         /* multipole expansions have all degrees of held.multipole, for the charges in `sorted` */
    double expanded_s;        /* time to compute them */
    fmm_operators *operators; /* for `order`; NULL: no order is set, or there is no far field */
    fmm_waves *wave_tables;   /* of the levels with waves; NULL: there are none */
    fmm_wave_level waves[FMM_MAX_DEPTH + 1];
    double *family_waves;                 /* waves of some layers of a level for one axis; NULL: no level has waves */
    int64_t waves_size;                   /* number of these doubles */
    int64_t stride, local_stride;         /* doubles from one expansion to the next */
    double *multipole[FMM_MAX_DEPTH + 1]; /* [cells of level][stride], from FMM_FAR_LEVEL on, which owns the memory of all levels */
    double *local[FMM_MAX_DEPTH + 1];     /* [cells of level][local_stride] */
    /* Groups of whole families of a level, at most FMM_MAX_TARGETS cells, which are translated together; the deepest levels are first. */
    int64_t groups;
    fmm_siblings *group;
    int64_t first_group[FMM_MAX_DEPTH + 1]; /* those of level l are first_group[l] ... first_group[l - 1] - 1 */
    fmm_method_pairs pairs;
    double tree_s;
};

/*
 * Number of successive leaves that a thread processes at a time in loops over all particles.  Data arrive from memory in time if a thread
 * continues where it was: this is up to twice as fast as if threads alternate after a few leaves.  Each thread has sixteen turns if there
 * are enough leaves.
 */
static inline int fmm_leaves_at_a_time(const fmm_method *m, int threads)
{
    enum { LEAST = 8, MOST = 128, TURNS = 16 };
    const int64_t some = m->tree->leaves.count / ((int64_t)TURNS * threads);
    return some < LEAST ? LEAST : some < MOST ? (int)some : MOST;
}

static inline double *fmm_multipole(const fmm_method *m, int level, int64_t cell) { return m->multipole[level] + cell * m->stride; }
static inline double *fmm_local(const fmm_method *m, int level, int64_t cell) { return m->local[level] + cell * m->local_stride; }
static inline fmm_frame fmm_frame_of(const fmm_method *m, int level, int64_t cell)
{
    fmm_frame frame;
    fmm_tree_centre(m->tree, level, cell, frame.centre);
    frame.scale = fmm_tree_edge(m->tree, level);
    return frame;
}

/* Particles first ... first + count - 1 of the tree's order as targets, with their sums in a field. */
static inline fmm_targets fmm_targets_in(const fmm_method *m, const fmm_field *f, int64_t first, int64_t count)
{
    const fmm_particles *p = m->sorted;
    if (!f->gx) return (fmm_targets){count, p->x + first, p->y + first, p->z + first, f->potential + first, NULL, NULL, NULL};
    return (fmm_targets){count,         p->x + first,  p->y + first, p->z + first, f->potential + first,
                         f->gx + first, f->gy + first, f->gz + first};
}

/* The same with sums in the near field. */
static inline fmm_targets fmm_targets_at(const fmm_method *m, int64_t first, int64_t count)
{
    return fmm_targets_in(m, m->sum, first, count);
}

static inline int64_t fmm_particles_of(const fmm_method *m, int64_t leaf)
{
    return m->tree->leaves.particle[leaf + 1] - m->tree->leaves.particle[leaf];
}

/* The particles of a leaf as sources. */
static inline fmm_sources fmm_sources_of(const fmm_method *m, int64_t leaf)
{
    const int32_t *particle = m->tree->leaves.particle + leaf;
    const fmm_particles *p = m->sorted;
    return (fmm_sources){particle[1] - particle[0], p->x + particle[0], p->y + particle[0], p->z + particle[0], p->charge + particle[0]};
}

/* Counts the pairs of the near field and of W, and cuts the near field into pieces of work.  Errors: MEMORY. */
yoke_status fmm_near_plan(fmm_method *m);

/*
 * The first allocates m->rounded, and requests its memory if the options had `memory`; the last fills it for the charges in `sorted`.  Errors
 * of the first: MEMORY.
 */
yoke_status fmm_rounded_create(fmm_method *m);
void fmm_rounded_destroy(fmm_method *m);
void fmm_rounded_fill(fmm_method *m, int threads);

/* The passes; workers [threads], one for each thread.  fmm_pass_between returns the number of its pairs. */
void fmm_pass_upward(fmm_method *m, int threads, fmm_worker *workers);
int64_t fmm_pass_between(fmm_method *m, int threads, fmm_worker *workers);
/* The part of M2L that uses plane waves, after fmm_pass_between; returns the number of its pairs. */
int64_t fmm_pass_waves(fmm_method *m, int threads, fmm_worker *workers);
void fmm_pass_downward(fmm_method *m, int threads, fmm_worker *workers);
/* The near field of the leaves first ... last - 1; sums of other leaves are not changed. */
void fmm_pass_near(fmm_method *m, int threads, int64_t first, int64_t last);

/* Returns all levels to rotations. */
void fmm_waves_forget(fmm_method *m);

/* The steps of fmm_method_run.  This one checks the field, scales and sorts the charges, and sets the sums to 0. */
yoke_status fmm_method_begin(fmm_method *m, const double *charge, const fmm_field *field);
/* Whether there is a far field. */
static inline bool fmm_has_far(const fmm_method *m) { return m->operators && m->tree->count > 0; }
/* The contents of their data are undefined: each pass sets what it needs, in the thread that uses it.  Errors: MEMORY; *workers must be
 * destroyed even then. */
yoke_status fmm_workers_create(fmm_method *m, int threads, fmm_worker **workers);
/* NULL is allowed. */
void fmm_workers_destroy(fmm_method *m, int threads, fmm_worker *workers);
/* The upward, between and downward passes; uses no context. */
void fmm_add_far(fmm_method *m, int threads, fmm_worker *workers, fmm_method_seconds *seconds);
/* Adds the sums of both fields, and converts them to the field's units and order. */
yoke_status fmm_method_finish(fmm_method *m, const double *charge, fmm_field *field);

#endif
