# Libraries, each as one imported target, with the Debian package to install where one is missing.

set(yoke_missing "")

# yoke_pkg(<target> <pkg-config module> <Debian package>)
function(yoke_pkg target module package)
    pkg_check_modules(${target} QUIET IMPORTED_TARGET GLOBAL ${module})
    if(${target}_FOUND)
        add_library(${target} ALIAS PkgConfig::${target})
    else()
        set(yoke_missing ${yoke_missing} ${package} PARENT_SCOPE)
    endif()
endfunction()

# yoke_library(<target> <header> <Debian package> LIBRARIES <name>... [PATH_SUFFIXES <directory>...])
function(yoke_library target header package)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "LIBRARIES;PATH_SUFFIXES")
    find_path(${target}_INCLUDE ${header} PATH_SUFFIXES ${arg_PATH_SUFFIXES})
    mark_as_advanced(${target}_INCLUDE)
    set(found ${${target}_INCLUDE})
    set(files "")
    foreach(name IN LISTS arg_LIBRARIES)
        find_library(${target}_${name}_LIBRARY ${name})
        mark_as_advanced(${target}_${name}_LIBRARY)
        if(NOT ${target}_${name}_LIBRARY)
            set(found FALSE)
        endif()
        list(APPEND files ${${target}_${name}_LIBRARY})
    endforeach()
    if(NOT found)
        set(yoke_missing ${yoke_missing} ${package} PARENT_SCOPE)
        return()
    endif()
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    # IMPORTED makes these system headers: their warnings are not ours.
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${${target}_INCLUDE} INTERFACE_LINK_LIBRARIES "${files}")
endfunction()

find_package(PkgConfig)
if(NOT PKG_CONFIG_FOUND)
    message(FATAL_ERROR "pkg-config was not found. On Debian and Ubuntu: apt install pkg-config")
endif()

yoke_pkg(hwloc hwloc libhwloc-dev)
yoke_pkg(jansson jansson>=2.13 libjansson-dev)
yoke_pkg(cminpack cminpack libcminpack-dev)
# CL/cl.h alone: the library itself is opened at run time, where there is one.
yoke_library(opencl_headers CL/cl.h opencl-headers)

option(YOKE_FEM "Build yoke-fem, which needs p4est, Gmsh, CHOLMOD, hypre, MPI, libyaml and zlib; without it only the library, the tool and their benchmarks" ON)
if(YOKE_FEM)
    yoke_pkg(yaml yaml-0.1 libyaml-dev)
    yoke_pkg(zlib zlib zlib1g-dev)
    yoke_library(p4est p8est.h libp4est-dev LIBRARIES p4est sc)
    yoke_library(gmsh gmshc.h libgmsh-dev LIBRARIES gmsh)
    yoke_library(cholmod cholmod.h libsuitesparse-dev LIBRARIES cholmod suitesparseconfig PATH_SUFFIXES suitesparse)
    yoke_library(hypre HYPRE.h libhypre-dev LIBRARIES HYPRE PATH_SUFFIXES hypre)
endif()
# Ranks of yoke-dense, and p4est; without it yoke-dense runs on one rank.
find_package(MPI COMPONENTS C)
if(YOKE_FEM AND NOT MPI_C_FOUND)
    list(APPEND yoke_missing libopenmpi-dev)
endif()

# Particle files in H5MD; without it yoke-fmm reads and writes the other kinds.  Debian's `hdf5` may be the variant with MPI, where that is installed
# too; other systems have no `hdf5-serial`.
pkg_search_module(hdf5 QUIET IMPORTED_TARGET GLOBAL hdf5-serial>=1.10.5 hdf5>=1.10.5) # the first version with H5Dget_chunk_info_by_coord

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
    list(APPEND yoke_missing "libomp-dev (OpenMP for clang; gcc brings its own)")
endif()

if(yoke_missing)
    list(JOIN yoke_missing " " packages)
    message(FATAL_ERROR "Missing: ${packages}\nOn Debian and Ubuntu: sudo tools/install-packages; the library and the tool alone need fewer: -DYOKE_FEM=OFF")
endif()

pkg_check_modules(cmocka QUIET IMPORTED_TARGET GLOBAL cmocka)
