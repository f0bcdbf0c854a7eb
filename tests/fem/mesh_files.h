/*
 * mesh_files.h - for tests of the mesh reader: a directory of its own, small files in it, and what a refusal must say.
 */
#ifndef TEST_MESH_FILES_H
#define TEST_MESH_FILES_H

#include <sys/stat.h>
#include <unistd.h>

#include "base/failing.h"
#include "mesh/mesh.h"
#include "unit.h"
#include "whole_file.h"

/* What every test gets as its state. */
typedef struct mesh_files {
    yoke_context *context;
    char directory[256];
    failing memory; /* never fails: counts what is not given back */
} mesh_files;

/* cmocka's set-up and tear-down of each test; the tear-down fails where memory or a file of the reader is left. */
int mesh_files_create(void **state);
int mesh_files_destroy(void **state);

#define MESH_TEST(function) cmocka_unit_test_setup_teardown(function, mesh_files_create, mesh_files_destroy)

/* Path of a file of the checkout, and of one in the test's directory; both borrowed until the fourth call after. */
const char *shipped_path(const char *file);
const char *own_path(const mesh_files *files, const char *file);

void write_text(const char *path, const char *text);

/* Reads the file, or ends the test with the reader's message. */
fem_mesh *must_read(const mesh_files *files, const char *path);

/* The file is refused as bad input, and the message holds the path and all texts of the list, which ends with NULL. */
void must_refuse(const mesh_files *files, const char *path, ...);

/* ------------------------------------------------------------------------------------------------ sketches */

/* A mesh by hand, written as MSH 2.2. */
typedef struct sketch_element {
    int number, type, group, entity, node[20];
} sketch_element;

typedef struct sketch {
    int num_nodes, num_elements;
    struct {
        int number;
        const char *x, *y, *z;
    } nodes[40];
    sketch_element elements[12];
    const char *names; /* lines of $PhysicalNames with their count, NULL: none */
} sketch;

/*
 * Two unit cubes in a row along x, elements 11 and 12 of the volume group 1 "body"; quadrangle 21 (x = 0, group 2 "left").
 * Node numbers: 100 + 10 k + 5 j + i + 1 at (i, j, k).
 */
sketch two_cubes(void);
/* Appends nodes and elements; the list of nodes ends with 0. */
void sketch_node(sketch *drawn, int number, const char *x, const char *y, const char *z);
void sketch_add(sketch *drawn, int number, int type, int group, int entity, ...);
/* Writes it into the test's directory and returns its path. */
const char *sketch_write(const mesh_files *files, const sketch *drawn, const char *file);

#endif
