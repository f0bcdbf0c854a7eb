/*
 * Gmsh's library needs a hundred others, and the dynamic loader looks for each of their 140 000 symbols in all libraries that are loaded with one
 * call, one after the other.  Opened one by one, those first that need no other, each looks for its symbols in itself first and then in what it
 * needs: that takes two thirds of the time.
 */
#include "mesh/file/reader_gmsh.h"

#include <dlfcn.h>
#include <string.h>

/* Opens what Gmsh's library needed where this was built.  A library that is not there today belongs to another version of it, and is passed over. */
static void open_needed(void)
{
    char names[] = FEM_GMSH_NEEDS;
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

const char *mesh_reader_open_gmsh(mesh_reader_gmsh *gmsh)
{
    open_needed();
    void *library = dlopen(FEM_GMSH_LIBRARY, RTLD_LAZY | RTLD_LOCAL), *function;
    if (!library) return dlerror();
#define FIND(name)                           \
    function = dlsym(library, "gmsh" #name); \
    if (!function) return dlerror();         \
    memcpy(&gmsh->name, &function, sizeof function); /* ISO C has no cast from an object to a function */
    MESH_READER_GMSH(FIND)
#undef FIND
    return NULL;
}
