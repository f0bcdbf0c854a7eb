/*
 * problem.h - the boundary value problem on a coarse mesh, as the discretisation uses it: without files and names.
 *
 * Elasticity (3 components): -div sigma = f, sigma = lambda tr(e) I + 2 mu e, e = eps - eps_T I, eps_T the thermal strain.  Poisson (1
 * component): -div(mu grad u) = f (the conductivity is stored in mu).
 */
#ifndef FEM_SPACE_PROBLEM_PROBLEM_H
#define FEM_SPACE_PROBLEM_PROBLEM_H

#include <stdbool.h>

#include "case/element.h"
#include "mesh/mesh.h"

/* Poisson's ratio from which all elements lock on coarse meshes. */
#define FEM_NEARLY_INCOMPRESSIBLE 0.49

typedef struct fem_material { /* one per volume group that a case names */
    int group;                /* index into mesh->groups */
    double lambda, mu;        /* Lame's moduli, Pa; Poisson: lambda = 0, mu = conductivity */
    double density;           /* kg/m3; NaN: not given */
    double force[3];          /* body force, N/m3 (density x gravity); Poisson: force[0] = source */
    double expansion;         /* thermal strain per kelvin of the temperature field, 1/K; 0 if the material has its own temperature */
    double thermal_strain;    /* of that temperature; 0 if it follows the field */
    bool has_temperature;     /* the material has its own temperature */
    double temperature;       /* that temperature, as the case gives it */
} fem_material;

/* Rotation with constant speed, in whose frame the body is at rest: body force density x square x (distance vector from the axis). */
typedef struct fem_rotation {
    double axis[3];    /* unit vector */
    double through[3]; /* a point of the axis, m */
    double square;     /* of the angular speed, 1/s2; 0: none */
} fem_rotation;

/*
 * Temperature minus the strain-free temperature, K.  At x: value + gradient . x + radial (distance from an axis), plus the field, which is
 * given on the problem's coarse mesh.
 */
typedef struct fem_temperature {
    bool given;                    /* false: there is no thermal strain, and the other members are ignored */
    double value, gradient[3];     /* K, K/m */
    double radial;                 /* K/m */
    double axis[3], through[3];    /* unit vector, m */
    const struct fem_field *field; /* field.h; borrowed; NULL: none */
    double reference;              /* the strain-free temperature, for results */
} fem_temperature;

typedef enum fem_condition_kind {
    FEM_DIRICHLET, /* u_i = value[i] for each component in `mask`                             */
    FEM_TRACTION,  /* sigma n = value (Poisson: flux mu du/dn = value[0])                      */
    FEM_PRESSURE,  /* sigma n = -value[0] n, n the outer normal                                */
    FEM_FORCE      /* sigma n = value / area of the whole group (Poisson: flux)                */
} fem_condition_kind;

typedef struct fem_condition {
    fem_condition_kind kind;
    int group;     /* index into mesh->groups: a face, edge or point group (loads: faces only) */
    unsigned mask; /* Dirichlet: bit i set = component i is prescribed */
    double value[3];
} fem_condition;

/* Functions of position that replace the constants above (manufactured solutions); each may be NULL.  x in m, results in SI. */
typedef struct fem_fields {
    void (*force)(const double x[3], double *f, void *user);                            /* f [components], instead of material force     */
    void (*dirichlet)(const double x[3], double *g, void *user);                        /* g [components], instead of Dirichlet values    */
    void (*traction)(const double x[3], const double normal[3], double *t, void *user); /* t [components], instead of traction values  */
    double (*temperature)(const double x[3], void *user); /* K, instead of that of the problem, which must have one              */
    void *user;
} fem_fields;

/* translation + rotation x (x - centre), of one body; Poisson: translation[0] */
typedef struct fem_rigid_motion {
    double translation[3], rotation[3], centre[3];
    double rounding; /* a prescribed value that differs from it by at most this much counts as equal */
} fem_rigid_motion;

typedef struct fem_problem {
    yoke_context *context; /* borrowed */
    const fem_mesh *mesh;  /* borrowed */
    int components;        /* 3 elasticity, 1 Poisson */
    fem_element element;
    int num_materials;
    fem_material *materials; /* [num_materials] */
    int16_t *material_of;    /* [mesh->num_elements] index into materials */
    int num_conditions;
    fem_condition *conditions; /* [num_conditions], in the case file's order */
    fem_rotation rotation;
    fem_temperature temperature;
    int32_t num_bodies;      /* of elements that are connected through vertices; 0 if they were not determined */
    int32_t *body_of;        /* [mesh->num_elements] */
    fem_rigid_motion *rigid; /* [num_bodies] the motion that is subtracted from the prescribed values (rigid_part.h); NULL: none */
    fem_fields fields;
} fem_problem;

typedef struct fem_case fem_case; /* case.h */

/* Reads a case's mesh at the case's scale.  ranks, reader: as in fem_mesh_options.  Errors: as fem_mesh_read. */
yoke_status fem_case_read_mesh(const fem_case *input, app_ranks *ranks, fem_mesh_reader *reader, fem_mesh **mesh);

/*
 * Resolves a case against its mesh and checks everything about the two; logs warnings (locking, kinks in smooth faces).  The problem
 * borrows the mesh and the case's context; the case may be destroyed before it.
 * Errors: INPUT (the text names file, line, column, key and what exists), MEMORY, SYSTEM.
 * Checked here: names of groups; every element has one material; loads are on outer faces; Dirichlet conditions agree where they meet; no
 * rigid motion is left; the elements before the first solve fit into the memory.
 */
yoke_status fem_problem_create(const fem_case *input, const fem_mesh *mesh, fem_problem **problem);
/*
 * Creates a problem with one material, E = 1 and nu = 0.3, or conductivity 1, and no conditions: for products.  Borrows the mesh and its
 * context.  Errors: MEMORY.
 */
yoke_status fem_problem_of_one_material(const fem_mesh *mesh, fem_element element, int components, fem_problem **problem);
void fem_problem_destroy(fem_problem *problem);

#endif
