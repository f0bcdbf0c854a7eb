/* The keys of a case file. */
#include "case/case.h"
#include "common/console/options.h"

static const app_range positive = {0, INFINITY, true, false};
static const app_range not_negative = {0, INFINITY, false, false};
static const app_range poisson_ratios = {-1, 0.5, true, true};
static const app_range levels = {0, 16, false, false}; /* FEM_MAX_LEVEL in forest.h */
static const app_range step_counts = {0, 1000, false, false};
static const app_range fractions = {0, 1, true, false};
static const app_range tolerances = {0, 1, false, true};
static const app_range residuals = {0, 1, true, true};
static const app_range element_counts = {1, 2147483647, false, false};
static const app_range iteration_counts = {1, 1000000000, false, false};

static const app_range checkpoint_steps = {0, 1000000, false, false};
static const app_range checkpoint_counts = {1, 100, false, false};

static const app_range slowdowns = {1, INFINITY, false, false};

static const char *const problems[] = {"elasticity", "poisson", NULL};
static const char *const elements[] = {"q1", "s2", "q2", NULL};
static const char *const preconditioners[] = {"auto", "jacobi", "multigrid", "direct", NULL};
static const char *const frequencies[] = {"set", "keep", NULL};
static const char *const operators[] = {"matrixfree", "stored", NULL};
static const char *const fields[] = {
    "displacement", "stress", "von_mises", "principal_stress", "strain", "principal_strain", "temperature", "value", "gradient",
    "error",        "part",   "level",     "material",         NULL};

/* A key that is stored in the member of the same name. */
#define NAMED_KEY(key, container, member, kind) .name = (key), .type = (kind), .offset = offsetof(container, member)
#define KEY(container, member, kind) NAMED_KEY(#member, container, member, kind)

static const app_key material_keys[] = {
    {KEY(fem_case_material, volume, APP_TEXT), .required = true,
     .meaning = "the mesh's volume group that is made of this material: its name, or its number where it has none"},
    {KEY(fem_case_material, youngs_modulus, APP_NUMBER), .range = &positive, .unit = "Pa",
     .meaning = "Young's modulus E; needed in elasticity"},
    {KEY(fem_case_material, poisson_ratio, APP_NUMBER), .range = &poisson_ratios,
     .meaning = "Poisson's ratio; needed in elasticity. Above 0.45 use q2: q1 locks; from 0.49 on refine, too"},
    {KEY(fem_case_material, density, APP_NUMBER), .range = &not_negative, .unit = "kg/m3",
     .meaning = "mass density; needed with gravity and rotation"},
    {KEY(fem_case_material, thermal_expansion, APP_NUMBER), .unit = "1/K",
     .meaning = "coefficient of linear thermal expansion; needed with temperature"},
    {KEY(fem_case_material, temperature, APP_NUMBER), .unit = "K",
     .meaning = "temperature of this volume, in place of the field that `temperature` describes"},
    {KEY(fem_case_material, conductivity, APP_NUMBER), .range = &positive, .unit = "W/(m K)", .meaning = "needed in poisson"},
    {KEY(fem_case_material, source, APP_NUMBER), .unit = "W/m3", .meaning = "poisson: source per volume; 0 if not given"},
    {.name = NULL},
};

static const app_key boundary_keys[] = {
    {KEY(fem_case_boundary, face, APP_TEXT), .meaning = "the mesh's face group that the item is about (exactly one of face, edge, point)"},
    {KEY(fem_case_boundary, edge, APP_TEXT), .meaning = "an edge group; takes displacement or value only"},
    {KEY(fem_case_boundary, point, APP_TEXT), .meaning = "a point group; takes displacement or value only"},
    {KEY(fem_case_boundary, displacement, APP_FREE_VECTOR), .unit = "m",
     .meaning = "elasticity: prescribed displacement; a component that is `free` is not prescribed (symmetry planes, rollers)"},
    {KEY(fem_case_boundary, traction, APP_VECTOR), .unit = "N/m2", .meaning = "elasticity: force per area"},
    {KEY(fem_case_boundary, pressure, APP_NUMBER), .unit = "N/m2", .meaning = "elasticity: force per area against the outer normal"},
    {KEY(fem_case_boundary, force, APP_VECTOR), .unit = "N",
     .meaning = "elasticity: total force on the face group, distributed evenly over its area"},
    {KEY(fem_case_boundary, value, APP_NUMBER), .unit = "K", .meaning = "poisson: prescribed value"},
    {KEY(fem_case_boundary, flux, APP_NUMBER), .unit = "W/m2", .meaning = "poisson: flux into the body through the face, per area"},
    {KEY(fem_case_boundary, heat, APP_NUMBER), .unit = "W",
     .meaning = "poisson: total flow into the body through the face group, distributed evenly over its area"},
    {.name = NULL},
};

static const app_key box_keys[] = {
    {KEY(fem_case_box, from, APP_VECTOR), .required = true, .unit = "m", .meaning = "the corner of the box with the smallest coordinates"},
    {KEY(fem_case_box, to, APP_VECTOR), .required = true, .unit = "m", .meaning = "the corner of the box with the largest coordinates"},
    {KEY(fem_case_box, level, APP_INTEGER), .required = true, .range = &levels,
     .meaning = "elements that touch the box are halved until they have this level"},
    {.name = NULL},
};

static const app_key radial_keys[] = {
    {KEY(fem_case_radial, axis, APP_VECTOR), .required = true, .meaning = "direction of the axis, of any length but 0"},
    {KEY(fem_case_radial, through, APP_VECTOR), .unit = "m", .standard = "[0, 0, 0]", .meaning = "a point of the axis"},
    {KEY(fem_case_radial, gradient, APP_NUMBER), .required = true, .unit = "K/m",
     .meaning = "rise of the temperature for each metre of distance from the axis"},
    {.name = NULL},
};

static const app_key temperature_keys[] = {
    {KEY(fem_case_temperature, reference, APP_NUMBER), .unit = "K", .standard = "0",
     .meaning = "the temperature without strain; only differences count, so degrees Celsius are allowed"},
    {KEY(fem_case_temperature, value, APP_NUMBER), .unit = "K",
     .meaning = "temperature at the origin, and everywhere without gradients; not given: the reference"},
    {.name = "case",
     .type = APP_TEXT,
     .offset = offsetof(fem_case_temperature, heat_case),
     .meaning = "file of a case with problem: poisson on the same mesh, relative to this file's directory. It is solved first; the result "
                "of its last step is the temperature. In place of value, gradient and radial"},
    {KEY(fem_case_temperature, gradient, APP_VECTOR), .unit = "K/m", .standard = "[0, 0, 0]",
     .meaning = "rise of the temperature for each metre along x, y, z"},
    {KEY(fem_case_temperature, radial, APP_MAP), .keys = radial_keys, .size = sizeof(fem_case_radial),
     .meaning = "a rise with the distance from an axis, in addition"},
    {.name = NULL},
};

static const app_key rotation_keys[] = {
    {KEY(fem_case_rotation, axis, APP_VECTOR), .required = true, .meaning = "direction of the axis, of any length but 0"},
    {KEY(fem_case_rotation, through, APP_VECTOR), .unit = "m", .standard = "[0, 0, 0]", .meaning = "a point of the axis"},
    {KEY(fem_case_rotation, speed, APP_NUMBER), .required = true, .unit = "rad/s", .meaning = "angular speed"},
    {.name = NULL},
};

static const app_key refine_keys[] = {
    {KEY(fem_case_refine, initial, APP_INTEGER), .range = &levels, .standard = "0",
     .meaning = "uniform refinements before the first solve; each splits an element into eight"},
    {KEY(fem_case_refine, boxes, APP_MAPS), .keys = box_keys, .size = sizeof(fem_case_box),
     .meaning = "prescribed local levels before the first solve"},
    {KEY(fem_case_refine, steps, APP_INTEGER), .range = &step_counts, .standard = "0",
     .meaning = "largest number of adaptive refinements after the first solve"},
    {KEY(fem_case_refine, tolerance, APP_NUMBER), .range = &tolerances, .standard = "0",
     .meaning = "stop when the error estimate is below this fraction of the energy norm of the solution; 0 = off"},
    {KEY(fem_case_refine, fraction, APP_NUMBER), .range = &fractions, .standard = "0.3",
     .meaning = "refine the fewest elements that together have this fraction of the squared estimate (Doerfler marking)"},
    {KEY(fem_case_refine, max_elements, APP_INTEGER), .range = &element_counts, .standard = "2000000",
     .meaning = "stop before a refinement that would give more elements"},
    {.name = NULL},
};

static const app_key solver_keys[] = {
    {KEY(fem_case_solver, energy_error, APP_NUMBER), .range = &residuals, .standard = "1e-6",
     .meaning = "iterate until the iteration's error, estimated in the energy norm, is below this fraction of the solution's energy norm"},
    {KEY(fem_case_solver, relative_residual, APP_NUMBER), .range = &residuals,
     .meaning = "iterate until the residual's 2-norm is below this fraction of the right-hand side's. It replaces energy_error; where both "
                "are given, both must hold"},
    {KEY(fem_case_solver, preconditioner, APP_CHOICE), .choices = preconditioners, .standard = "auto",
     .meaning = "preconditioner of the conjugate gradient method. auto: multigrid, or direct where that is cheaper or multigrid too slow. "
                "direct: a Cholesky factor of the whole matrix, for thin and slender bodies"},
    {KEY(fem_case_solver, operator, APP_CHOICE), .choices = operators, .standard = "matrixfree",
     .meaning = "products by sum factorisation, or by element matrices kept in memory"},
    {KEY(fem_case_solver, max_iterations, APP_INTEGER), .range = &iteration_counts, .standard = "10000",
     .meaning = "more iterations than this are an error"},
    {.name = NULL},
};

static const app_key objective_keys[] = {
    {KEY(fem_case_objective, minimise, APP_CHOICE), .choices = app_objective_names, .standard = "time",
     .meaning = "what to minimise: time T, energy E, edp: E T, ed2p: E T T"},
    {KEY(fem_case_objective, max_slowdown, APP_NUMBER), .range = &slowdowns,
     .meaning = "largest ratio of a step's time to its least time; 1.22: at most 22 % more"},
    {KEY(fem_case_objective, power_cap_w, APP_NUMBER), .range = &positive, .unit = "W",
     .meaning = "largest power of the whole machine at any moment"},
    {KEY(fem_case_objective, deadline_s, APP_NUMBER), .range = &positive, .unit = "s",
     .meaning = "longest time of a step's solve; if that is impossible, it is as fast as possible, with a warning"},
    {NAMED_KEY("clocks", fem_case_objective, frequencies, APP_CHOICE), .choices = frequencies, .standard = "set",
     .meaning =
         "set: choose frequencies together with the shares, where they can be set and time is not the only objective; keep: leave them "
         "as they are"},
    {.name = NULL},
};

static const app_key power_keys[] = {
    {KEY(fem_case_power, name, APP_TEXT), .required = true, .meaning = "the device as `yoke info` names it"},
    {KEY(fem_case_power, idle_w, APP_NUMBER), .required = true, .range = &not_negative, .unit = "W",
     .meaning = "its power without work, with its context open"},
    {KEY(fem_case_power, busy_w, APP_NUMBER), .required = true, .range = &positive, .unit = "W",
     .meaning = "its total power while it works"},
    {.name = NULL},
};

static const app_key energy_keys[] = {
    {KEY(fem_case_energy, base_w, APP_NUMBER), .range = &not_negative, .unit = "W", .standard = "0",
     .meaning = "power of the rest of the machine, whichever device works"},
    {NAMED_KEY("hosting_w", fem_case_energy, host_overhead_w, APP_NUMBER), .range = &not_negative, .unit = "W", .standard = "0",
     .meaning = "host overhead: power of the host beyond idle while it waits for a GPU"},
    {KEY(fem_case_energy, devices, APP_MAPS), .keys = power_keys, .size = sizeof(fem_case_power),
     .meaning = "one item for each device of the run"},
    {.name = NULL},
};

static const app_key output_keys[] = {
    {KEY(fem_case_output, directory, APP_TEXT),
     .meaning = "directory of the results, relative to the working directory. It is created if needed; an old run in it is replaced. Not "
                "given: out/ and the case file's name without .yaml"},
    {KEY(fem_case_output, fields, APP_CHOICES), .choices = fields,
     .meaning = "fields in the VTU files; not given: all fields of the problem type. Elasticity has displacement, stress, von_mises, "
                "principal_stress, strain (the elastic one), principal_strain and temperature (where the case has one). Poisson has value "
                "and gradient"},
    {.name = NULL},
};

static const app_key checkpoint_keys[] = {
    {KEY(fem_case_checkpoint, every, APP_INTEGER), .range = &checkpoint_steps, .standard = "1",
     .meaning = "steps from one checkpoint to the next; 0 = none after steps. Not given: 1, but at most once in 5 s, and so that writing "
                "takes at most "
                "1 % of the time"},
    {KEY(fem_case_checkpoint, minutes, APP_NUMBER), .range = &not_negative, .unit = "min", .standard = "10",
     .meaning = "time from one checkpoint to the next within a solve; 0 = none within solves"},
    {KEY(fem_case_checkpoint, keep, APP_INTEGER), .range = &checkpoint_counts, .standard = "2",
     .meaning = "how many of the latest checkpoints are kept"},
    {.name = NULL},
};

static const app_key probe_keys[] = {
    {KEY(fem_case_probe, name, APP_TEXT), .required = true, .meaning = "name in the results"},
    {KEY(fem_case_probe, x, APP_VECTOR), .required = true, .unit = "m", .meaning = "a point of the undeformed body"},
    {.name = NULL},
};

const app_key fem_case_schema[] = {
    {KEY(fem_case_keys, mesh, APP_TEXT), .required = true,
     .meaning = "mesh file (MSH 2.2 or 4.x, UNV, BDF, MED), relative to the case file's directory"},
    {KEY(fem_case_keys, mesh_scale, APP_NUMBER), .range = &positive,
     .meaning = "factor of the mesh's coordinates: 0.001 converts a mesh in millimetres to metres. Not given: 1"},
    {KEY(fem_case_keys, units, APP_TEXT),
     .meaning =
         "the case's units, as length-force-stress: m-N-Pa, mm-N-MPa, or another consistent set (see Units); labels the output, converts "
         "nothing; not given: no unit is printed"},
    {KEY(fem_case_keys, problem, APP_CHOICE), .choices = problems, .standard = "elasticity", .meaning = "the equation that is solved"},
    {KEY(fem_case_keys, element, APP_CHOICE), .choices = elements, .standard = "q2",
     .meaning = "q1: 8 nodes, tri-linear; s2: 20 nodes, serendipity; q2: 27 nodes, tri-quadratic"},
    {KEY(fem_case_keys, materials, APP_MAPS), .required = true, .keys = material_keys, .size = sizeof(fem_case_material),
     .meaning = "one item for each volume group; every element needs a material"},
    {KEY(fem_case_keys, boundary, APP_MAPS), .required = true, .keys = boundary_keys, .size = sizeof(fem_case_boundary),
     .meaning = "supports and loads; a face group that no item names is free of traction (poisson: insulated)"},
    {KEY(fem_case_keys, gravity, APP_VECTOR), .unit = "m/s2", .standard = "[0, 0, 0]",
     .meaning = "acceleration that acts on every material's density; elasticity"},
    {KEY(fem_case_keys, rotation, APP_MAP), .keys = rotation_keys, .size = sizeof(fem_case_rotation),
     .meaning = "centrifugal force of a body that turns about an axis with constant speed; elasticity"},
    {KEY(fem_case_keys, temperature, APP_MAP), .keys = temperature_keys, .size = sizeof(fem_case_temperature),
     .meaning = "temperature that strains the materials by their thermal_expansion; elasticity"},
    {KEY(fem_case_keys, refine, APP_MAP), .keys = refine_keys, .size = sizeof(fem_case_refine),
     .meaning = "refinement; whichever limit is met first ends the run"},
    {KEY(fem_case_keys, solver, APP_MAP), .keys = solver_keys, .size = sizeof(fem_case_solver), .meaning = "the conjugate gradient method"},
    {KEY(fem_case_keys, objective, APP_MAP), .keys = objective_keys, .size = sizeof(fem_case_objective),
     .meaning = "objective and limits for the devices' shares and frequencies"},
    {KEY(fem_case_keys, energy, APP_MAP), .keys = energy_keys, .size = sizeof(fem_case_energy),
     .meaning = "powers of the devices, for objectives that need energy, where there is no meter"},
    {KEY(fem_case_keys, output, APP_MAP), .keys = output_keys, .size = sizeof(fem_case_output), .meaning = "result files"},
    {KEY(fem_case_keys, checkpoint, APP_MAP), .keys = checkpoint_keys, .size = sizeof(fem_case_checkpoint),
     .meaning = "states of the run, from which `yoke fem --restart` goes on"},
    {KEY(fem_case_keys, probes, APP_MAPS), .keys = probe_keys, .size = sizeof(fem_case_probe),
     .meaning = "points at which displacement and stress (poisson: value and gradient) are reported"},
    {.name = NULL},
};
