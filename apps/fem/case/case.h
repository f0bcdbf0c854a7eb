/*
 * case.h - a case file: every value with its position in the file, defaults filled in, and everything checked that needs no mesh.
 *
 * The keys, their units, ranges, defaults and meanings are in one table, schema.c; docs/reference/case-file.md shows it.  Quantities are in
 * one consistent set of units, which `units` may name.  Where a comment or a name says m, Pa or J, it means the set's own unit of that
 * kind.
 */
#ifndef FEM_CASE_CASE_H
#define FEM_CASE_CASE_H

#include "case/units.h"
#include "common/case/schema.h"
#include "common/ranks/ranks.h"

typedef enum fem_problem_type { FEM_ELASTICITY, FEM_POISSON } fem_problem_type;
typedef enum fem_preconditioner {
    FEM_PRECONDITIONER_AUTO,
    FEM_PRECONDITIONER_JACOBI,
    FEM_PRECONDITIONER_MULTIGRID,
    FEM_PRECONDITIONER_DIRECT
} fem_preconditioner;
typedef enum fem_operator_choice { FEM_OPERATOR_MATRIXFREE, FEM_OPERATOR_STORED } fem_operator_choice;

/* Bits of output.fields. */
typedef enum fem_output_field {
    FEM_FIELD_DISPLACEMENT,
    FEM_FIELD_STRESS,
    FEM_FIELD_VON_MISES,
    FEM_FIELD_PRINCIPAL_STRESS,
    FEM_FIELD_STRAIN,
    FEM_FIELD_PRINCIPAL_STRAIN,
    FEM_FIELD_TEMPERATURE,
    FEM_FIELD_VALUE,
    FEM_FIELD_GRADIENT,
    FEM_FIELD_ERROR,
    FEM_FIELD_PART,
    FEM_FIELD_LEVEL,
    FEM_FIELD_MATERIAL
} fem_output_field;

/* Fields of one problem type only. */
#define FEM_FIELDS_ELASTICITY                                                                                           \
    (1 << FEM_FIELD_DISPLACEMENT | 1 << FEM_FIELD_STRESS | 1 << FEM_FIELD_VON_MISES | 1 << FEM_FIELD_PRINCIPAL_STRESS | \
     1 << FEM_FIELD_STRAIN | 1 << FEM_FIELD_PRINCIPAL_STRAIN | 1 << FEM_FIELD_TEMPERATURE)
#define FEM_FIELDS_POISSON (1 << FEM_FIELD_VALUE | 1 << FEM_FIELD_GRADIENT)

typedef struct fem_case_material {
    app_place place;
    app_text volume;
    app_number youngs_modulus, poisson_ratio, density; /* elasticity; NaN: not given */
    app_number thermal_expansion, temperature;         /* likewise */
    app_number conductivity, source;                   /* Poisson */
} fem_case_material;

/* Exactly one of face, edge, point, and exactly one of displacement, traction, pressure, force, value, flux, heat is given. */
typedef struct fem_case_boundary {
    app_place place;
    app_text face, edge, point;
    app_vector displacement, traction, force;
    app_number pressure, value, flux, heat;
} fem_case_boundary;

typedef struct fem_case_radial {
    app_place place;
    app_vector axis, through;
    app_number gradient;
} fem_case_radial;

typedef struct fem_case_temperature { /* place all zero: there are no thermal strains */
    app_place place;
    app_number reference, value; /* value NaN: the reference */
    app_text heat_case;
    app_vector gradient;
    fem_case_radial radial;
} fem_case_temperature;

typedef struct fem_case_rotation { /* place all zero: the body does not rotate */
    app_place place;
    app_vector axis, through;
    app_number speed;
} fem_case_rotation;

typedef struct fem_case_box {
    app_place place;
    app_vector from, to;
    app_integer level;
} fem_case_box;

typedef struct fem_case_refine {
    app_place place;
    app_integer initial;
    APP_LIST(fem_case_box) boxes;
    app_integer steps;
    app_number tolerance, fraction;
    app_integer max_elements;
} fem_case_refine;

typedef struct fem_case_solver {
    app_place place;
    app_number energy_error, relative_residual;           /* NaN: not requested */
    app_integer preconditioner, operator, max_iterations; /* fem_preconditioner, fem_operator_choice */
} fem_case_solver;

typedef struct fem_case_output {
    app_place place;
    app_text directory; /* relative to the working directory; never NULL; its place is zero if it is derived from the case's name */
    app_integer fields; /* bits 1 << fem_output_field; those of the other problem type are never set */
} fem_case_output;

typedef struct fem_case_checkpoint {
    app_place place;
    app_integer every; /* steps; 0: off */
    app_number minutes;
    app_integer keep;
} fem_case_checkpoint;

typedef struct fem_case_objective {
    app_place place;
    app_integer minimise;                             /* yoke_objective */
    app_number max_slowdown, power_cap_w, deadline_s; /* NaN: none */
    app_integer frequencies;                          /* 0: set, 1: keep */
} fem_case_objective;

typedef struct fem_case_power {
    app_place place;
    app_text name;
    app_number idle_w, busy_w;
} fem_case_power;

typedef struct fem_case_energy { /* powers that are declared; place all zero: none are */
    app_place place;
    app_number base_w, host_overhead_w;
    APP_LIST(fem_case_power) devices;
} fem_case_energy;

typedef struct fem_case_probe {
    app_place place;
    app_text name;
    app_vector x;
} fem_case_probe;

/* The values that the schema table fills. */
typedef struct fem_case_keys {
    app_place place;
    app_text mesh, units;
    app_number mesh_scale;
    app_integer problem, element; /* fem_problem_type, fem_element */
    APP_LIST(fem_case_material) materials;
    APP_LIST(fem_case_boundary) boundary;
    app_vector gravity;
    fem_case_rotation rotation;
    fem_case_temperature temperature;
    fem_case_refine refine;
    fem_case_solver solver;
    fem_case_objective objective;
    fem_case_energy energy;
    fem_case_output output;
    fem_case_checkpoint checkpoint;
    APP_LIST(fem_case_probe) probes;
} fem_case_keys;

typedef struct fem_case {
    yoke_context *context;  /* borrowed */
    app_yaml *yaml;         /* owns all memory of `keys` */
    const char *path;       /* of the case file, as given */
    const char *mesh_path;  /* path of the mesh: relative to the case file's directory */
    const char *heat_path;  /* likewise for the case that temperature.case names; NULL: none */
    uint32_t heat_checksum; /* of its file when it was read; 0: there is none */
    fem_case_keys keys;
    fem_units units; /* labels of keys.units; all "" if the case names none */
} fem_case;

extern const app_key fem_case_schema[];

/*
 * Reads and checks a case file and applies the overrides "a.b=value" (as --set gives them), which the case borrows.
 * Errors: INPUT (the text names file, line, column, key and what was expected; or the override), MEMORY.
 */
yoke_status fem_case_read(yoke_context *context, const char *path, const char *const *overrides, int num_overrides, fem_case **input);

/*
 * As fem_case_read, from `bytes` characters at `text`; path is for messages and for the location of the mesh.  Only tests call it: their
 * thousands of cases are not files.
 */
yoke_status fem_case_parse(yoke_context *context, const char *path, const char *text, size_t bytes, const char *const *overrides,
                           int num_overrides, fem_case **input);
void fem_case_destroy(fem_case *input);

/*
 * Checks that each rank has read the same case: a path may lead to another file on each rank, and ranks whose keys differ would solve
 * different problems together.  Collective.  Errors: INPUT (on ranks whose keys differ from those of rank 0).
 */
yoke_status fem_case_check_alike(const fem_case *input, app_ranks *ranks);

/*
 * Checks that files can be created in output.directory, or that the directory can be created; leaves nothing behind.
 * Errors: INPUT (the text names place, directory and cause).
 */
yoke_status fem_case_check_output(const fem_case *input);

/*
 * Bytes that a solution of this case needs with this number of elements, for its element type, operator and problem type: nodes per element
 * of a structured mesh (q1: 1, s2: 4, q2: 8) x components x 800 bytes, plus packed element matrices if they are stored.
 */
double fem_case_memory_bytes(const fem_case *input, double elements);

#endif
