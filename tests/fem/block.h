/*
 * block.h - meshes for tests of the discretisation: a block of mapped hexahedra, each turned in its own way (so that neighbours' axes differ),
 * refined at random, with groups of all dimensions; and random numbers that repeat.
 */
#ifndef TEST_BLOCK_H
#define TEST_BLOCK_H

#include "cube_mesh.h"
#include "manufactured.h"
#include "space/boundary.h"

/* Groups of the block by their place in the unit cube.  Group of face f (-x +x -y +y -z +z) of the cube: f. */
enum {
    BLOCK_UPRIGHT = 6, /* the edge x = y = 0 */
    BLOCK_AXIS,        /* the line x = y = 1/2 where it is an edge, listed from one of the elements around it */
    BLOCK_ORIGIN,      /* points (0,0,0), (1,0,0), (0,1,0) */
    BLOCK_ON_X,
    BLOCK_ON_Y,
    BLOCK_GROUPS
};

enum { BLOCK_TURNS = 24, BLOCK_MAX_CONDITIONS = 12 };

typedef struct block_options {
    int elements[3];            /* coarse elements in each direction */
    cube_map *map;              /* NULL: the unit cube itself */
    int order;                  /* of the geometry: 1, 2 */
    int turn;                   /* element e lies in position (turn x e) mod 24 of the 24 there are; 0: all along the axes */
    int components;             /* 1, 3 */
    const yoke_options *memory; /* NULL: plain */
} block_options;

typedef struct block {
    yoke_context *context;
    fem_mesh mesh; /* tags of the elements: 101, 102, ... */
    fem_problem problem;
    fem_material material[2];                      /* lambda and mu are set, force is 0; elements alternate if two_materials */
    fem_condition condition[BLOCK_MAX_CONDITIONS]; /* none at first */
    fem_forest *forest;
    fem_space *space; /* this and the following by block_discretise */
    fem_boundary *boundary;
    fem_constraints *constraints;
} block;

/* Failures end the test.  b must stay where it is. */
void block_create(const block_options *options, block *b);
void block_destroy(block *b);

void block_add_condition(block *b, fem_condition condition);
/* The elements alternate between material 0 and 1, whose moduli are those of material 0 times factor. */
void block_two_materials(block *b, double factor);

/* Refines each leaf with the given probability. */
void block_refine(block *b, double probability, uint64_t *random);

/*
 * 27 coarse elements, bent, the inner one refined.  Bits 0-2: its neighbours over faces across x, y, z are refined too; bits 3-5: those over
 * edges along x, y, z.
 */
void block_create_pattern(block *b, int bits, int components);

/* Makes space, boundary and constraints anew. */
void block_discretise(block *b, fem_element element);

/* Spoils the positions of the nodes of element e. */
typedef enum block_fault { BLOCK_INSIDE_OUT, BLOCK_FLAT, BLOCK_NOT_A_NUMBER } block_fault;
void block_spoil(const fem_space *space, int32_t e, block_fault how);

/* The next random number in [0, 1), in [-1, 1); in all of an array. */
double block_random(uint64_t *random);
double *block_random_array(int64_t count, uint64_t *random);
/* malloc, set to zero, that ends the test where there is no memory. */
void *block_zeros(int64_t count, size_t size);

/* max |a - b| / max |b| */
double block_difference(const double *a, const double *b, int64_t count);

#endif
