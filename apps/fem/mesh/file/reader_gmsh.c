/*
 * Gmsh's library depends on about a hundred other libraries.  The dynamic loader searches all libraries loaded by one dlopen for each of
 * their 140 000 symbols, one after the other.  If the libraries are opened one by one, starting with those that depend on no other, then
 * the loader searches only a library itself and its dependencies.  This takes two thirds of the time.
 */
#include "mesh/file/reader_gmsh.h"

#include <dlfcn.h>
#include <string.h>

/*
 * Opens the libraries that Gmsh's library depended on at build time.  A library that is missing now belongs to another version of Gmsh, and
 * is skipped.
 */
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
    memcpy(&gmsh->name, &function, sizeof function); /* ISO C does not define a cast from an object pointer to a function pointer */
    MESH_READER_GMSH(FIND)
#undef FIND
    return NULL;
}
