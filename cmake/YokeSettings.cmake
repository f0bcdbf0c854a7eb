# Language, warnings, sanitizers, where programs are put, and kernels for several instruction sets.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
# Programs look for libraries where they were linked, before and after they are installed.  If installing changed this path, CMake would end the path of the
# build tree with an empty entry, which means the current directory: anybody's libraries.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

option(YOKE_WERROR "Treat compiler warnings as errors" OFF)
option(YOKE_NATIVE "Compile kernels for the instruction set of this machine only, instead of all levels of x86-64" OFF)
set(YOKE_SANITIZE "" CACHE STRING "Value of -fsanitize=, such as address,undefined or thread")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla)
# Whether a loop is vectorised is no question of right or wrong: sanitizers keep clang from it.
add_compile_options($<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
add_compile_definitions(_POSIX_C_SOURCE=200809L)
if(YOKE_WERROR)
    add_compile_options(-Werror)
endif()
if(YOKE_NATIVE)
    add_compile_definitions(YOKE_NATIVE_KERNELS)
endif()
# Gmsh alone pulls in over a hundred shared libraries: a program that does not call it shall not load it.
add_link_options(-Wl,--as-needed)

if(YOKE_SANITIZE)
    add_compile_definitions(YOKE_SANITIZED)
    # Reports name files and lines, for which -g1 is enough: with the places of variables (-g) the compiler takes two to three times as long.
    add_compile_options(-fsanitize=${YOKE_SANITIZE} -fno-omit-frame-pointer -g1)
    add_link_options(-fsanitize=${YOKE_SANITIZE})
    if(YOKE_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize-recover=undefined)
    endif()
endif()

# yoke_add_isa_kernels(<target> <file> [<macro>])
#
# Compiles <file> into <target> once for each instruction set and defines <macro>, by default FEM_ISA, to v2, v3 or v4 (x86-64) or generic (elsewhere, and with
# YOKE_NATIVE), so that the file can give its functions different names and the caller can choose at run time.  ISO C switches the contraction of a*b+c to one
# instruction off in gcc; kernels want it.
function(yoke_add_isa_kernels target file)
    set(levels generic)
    set(options_of_all -ffp-contract=fast)
    if(YOKE_NATIVE)
        list(APPEND options_of_all -march=native)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
        set(levels v2 v3 v4)
    endif()
    set(macro FEM_ISA ${ARGN})
    list(GET macro -1 macro)
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(directory ${path} DIRECTORY)
    get_filename_component(name ${path} NAME_WE)
    foreach(level IN LISTS levels)
        set(copy ${CMAKE_CURRENT_BINARY_DIR}/${name}-${level}.c)
        file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"${path}\"\n" @ONLY)
        set(options ${options_of_all} -I${directory})
        if(NOT level STREQUAL "generic")
            list(APPEND options -march=x86-64-${level})
        endif()
        if(level STREQUAL "v4")
            list(APPEND options -mprefer-vector-width=512)
        endif()
        if(YOKE_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
            # Checks make these functions so long that gcc spends two fifths of its time on registers by loops; the checks stay the same without.
            list(APPEND options -fira-region=one)
        endif()
        set_source_files_properties(${copy} PROPERTIES COMPILE_OPTIONS "${options}" COMPILE_DEFINITIONS ${macro}=${level} OBJECT_DEPENDS ${path})
        target_sources(${target} PRIVATE ${copy})
    endforeach()
endfunction()

# yoke_directory_targets(<directory> <variable>)
#
# The targets of a directory and those below it.
function(yoke_directory_targets directory variable)
    get_property(found DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
    foreach(each IN LISTS below)
        yoke_directory_targets(${each} more)
        list(APPEND found ${more})
    endforeach()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()
