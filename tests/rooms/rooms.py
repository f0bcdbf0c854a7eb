#!/usr/bin/env python3
"""Enforces the table of rooms in CONTRIBUTING.md over the sources, and that no files include each other in a circle.

    rooms.py DIRECTORY       checks a source tree; prints file:line: what is wrong
    rooms.py --self-test     checks that every rule can be broken
"""
import pathlib
import re
import sys
import tempfile

ROOMS_OF_LIBRARY = {
    "base": set(),
    "meter": {"base"},
    "frequency": {"base", "meter"},
    "profile": {"base", "meter"},
    "device": {"base"},
    "model": {"base"},
    "plan": {"base", "model"},
    "balance": {"base", "model", "plan"},
    "run": {"base", "meter", "frequency", "profile", "device", "model", "plan", "balance"},
}
OUTER_ROOMS = ("tool", "apps", "bench", "examples")


def chain(*names):
    """Sub-rooms of which each may include all before it."""
    return {name: set(names[:i]) for i, name in enumerate(names)}


# Which sub-rooms a folder has, in the order of dependency, and which others each may include; "" is the folder itself.
SUB_ROOMS = {
    "src/meter": {"": set(), "kernel": {""}, "vendor": {""}},
    "src/device": {"": set(), "openmp": {""}, "opencl": {""}, "cuda": {""}, "sim": {""}},
    "src/model": {"": set(), "store": {""}, "problem": set()},
    "src/plan": {"": set(), "search": {""}, "round": {"", "search"}, "partition": set()},
    "src/run": {"machine": set(), "": {"machine"}, "learn": {"", "machine"}, "decide": {"", "machine"}, "calibrate": {"", "machine"}},
    "apps/fem": chain("case", "mesh", "space", "operator", "solver", "estimate", "output", "checkpoint", "adapt", ""),
    "apps/fem/mesh": chain("file", ""),
    "apps/fem/space": chain("problem", "exchange", "forest", ""),
    "apps/fem/operator": chain("kernels", "", "subdomain", "decomposition"),
    "apps/fem/solver": chain("cg", "direct", "coarse", "multigrid", ""),
    "apps/fem/output": chain("quantities", ""),
    "apps/fem/adapt": chain("distribution", ""),
    "apps/dense": {"matrix": set(), "share": set(), "gemm": {"matrix", "share"}, "ranks": {"matrix", "share", "gemm"}, "transpose": {"matrix", "share"},
                   "tsp": {"matrix", "share"}, "output": {"share"}, "": {"matrix", "share", "gemm", "ranks", "transpose", "tsp", "output"}},
    "apps/dense/gemm": chain("kernels", ""),
    "apps/dense/transpose": chain("kernels", ""),
    "apps/dense/tsp": chain("kernels", ""),
    "apps/fmm": chain("particles", "tree", "expansion", "near", "method", "tune", "solve", "library", "output", ""),
    "apps/fmm/expansion": {"kernels": {""}, "": {"kernels"}},  # kernels need the layout in expansion.h, operators the kernels
    "apps/fmm/near": chain("kernels", ""),
    "apps/fmm/tune": chain("order", "counts", "costs", ""),
    "apps/common": {"console": set(), "files": {"console"}, "case": {"console"}, "machine": {"console", "files"}, "ranks": {"console", "files"},
                    "calibrate": {"console", "files", "machine"}},
    "tool": {"": set(), "info": {""}, "energy": {""}, "gather": {""}, "profile": {""}, "calibrate": {"", "profile"}, "plan": {""}, "bench": {""},
             "reproduce": set()},
    "bench": {"balance": set(), "calibrate": set(), "ceilings": set(), "clarke": set(), "energy": set(), "meter": set(), "numa": set(), "plan": {"balance"}, "profile": set(),
              "reduction": set(), "scaling": set(), "dense": set(), "fem": set()},
}

C_HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef
    stdint stdio stdlib stdnoreturn string tgmath threads time""".split()
# Without files, clocks, threads and hardware: what a pure function needs.
PURE_HEADERS = "assert float inttypes limits math stdarg stdbool stddef stdint stdlib string".split()
SYSTEM = re.compile(r"^(sys|linux|arpa|netinet)/|^(cpuid|dirent|dlfcn|fcntl|fnmatch|ftw|glob|immintrin|omp|poll|pthread|regex|sched|spawn|termios|unistd)\.h$")
LIBRARIES_OF_LIBYOKE = re.compile(r"^(hwloc|jansson|cminpack)\b")
VENDOR = re.compile(r"^(cuda|cublas|cusolver|cusparse|nvrtc|nvml|CL/|clblast|hip/|hip_|rocblas|rocm_smi|amd_smi|level_zero/|ze_|zes_|sycl)", re.IGNORECASE)
ONLY_FEM = re.compile(r"^(p4est|p8est|p6est|sc\.h|sc_|gmsh|cholmod|suitesparse|umfpack|HYPRE|_hypre|hypre/)")
ONLY_APPS = re.compile(r"^(yaml\.h|mpi\.h)")
PARTICLE_FILES = re.compile(r"^(hdf5|H5)")

CLOCKS = re.compile(r"\b(clock_gettime|gettimeofday|omp_get_wtime|MPI_Wtime|clock)\s*\(")
ENDING = re.compile(r"\b(abort|exit|_exit|_Exit|quick_exit|assert)\s*\(")
PRINTING = re.compile(r"\b(v?printf|puts|putchar|perror)\s*\(|\b(stdout|stderr)\b")
POINTERS = re.compile(r"\(\s*void\s*\*\s*\*\s*\)\s*&")
FILES = re.compile(r"\b(FILE|remove|rename|tmpfile)\b|\b(f|fd|fre|p)open\b")
# What an application leaves to yoke_run: meters, frequencies, stores, shares and plans.
OF_THE_RUN = re.compile(r"\byoke_(meters?_|region_|frequenc|store_|balancer_|plan_(create|evaluate)\b)")
MAY_PRINT = ("tool/", "bench/", "examples/", "apps/common/console/terminal.c", "apps/common/console/options.c")


def without_comments_and_strings(text):
    """The same text with comments and the insides of strings blanked, so that line numbers stay."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.DOTALL)


def room_of(path):
    parts = path.split("/")
    if parts[0] == "src":
        return "src/" + parts[1]
    if parts[0] == "apps":
        return "apps/" + parts[1]
    return parts[0]


def folders_of(path):
    """The folders with sub-rooms that the file lies in."""
    return [folder for folder in SUB_ROOMS if path.startswith(folder + "/")]


def sub_room_of(path, folder):
    """The sub-room of a file in this folder; "" where it lies in the folder itself."""
    below = path.removeprefix(folder + "/").split("/")
    return below[0] if len(below) > 1 else ""


def unknown_sub_room(path):
    """Why the file may not lie where it lies, or None."""
    room = room_of(path)
    for folder in folders_of(path):
        if (sub_room := sub_room_of(path, folder)) not in SUB_ROOMS[folder]:
            return f"{folder} has no sub-room {sub_room or 'for files of its own folder'}: name it in rooms.py"
    above = str(pathlib.PurePosixPath(path).parent.parent)
    if room.startswith(("src/", "apps/")) and above not in SUB_ROOMS and above not in ("src", "apps"):
        return f"{above} has no sub-rooms: name them in rooms.py"
    return None


def sub_room_include(path, name, tree):
    """Why the file may not include "name" of a folder with sub-rooms that both lie in, or None."""
    target = included(path, name, tree)
    for folder in folders_of(path):
        if target is None or not target.startswith(folder + "/"):
            continue
        if target.endswith("/private.h") and pathlib.PurePosixPath(target).parent != pathlib.PurePosixPath(path).parent:
            return "private.h belongs to the files beside it"
        own = sub_room_of(path, folder)
        if sub_room_of(target, folder) not in SUB_ROOMS[folder][own] | {own}:
            allowed = ", ".join(sorted(sub or f"{folder}'s own folder" for sub in SUB_ROOMS[folder][own])) or "no other sub-room"
            return f"{folder}{own and '/' + own} may include of {folder} only its own headers and {allowed}"
    return None


def included(path, name, tree):
    """The file that an #include "name" in this file finds, or None: beside it, then where its room looks."""
    top = path.split("/")[0]
    roots = {"src": ["src", "include"], "include": ["include"], "apps": [room_of(path), "apps", "include"], "tool": ["tool", "apps", "include"],
             "bench": ["bench", "apps/" + path.split("/")[1], "apps", "include"], "examples": ["include"],
             "tests": ["tests", "src", "include", "apps/fem", "apps/fmm", "apps/dense", "apps", "bench", "tool"]}[top]
    for directory in [str(pathlib.PurePosixPath(path).parent), *roots]:
        target = pathlib.PurePosixPath(directory, name)
        if ".." not in target.parts and (tree / target).is_file():
            return target.as_posix()
    return None


def circles(graph):
    """Circles of includes, each once, as (file, line, files of the circle); graph: file -> [(line, file)]."""
    found, done, path = [], set(), []

    def visit(file):
        path.append(file)
        for line, target in graph.get(file, []):
            if target in path:
                found.append((file, line, path[path.index(target):] + [target]))
            elif target not in done:
                visit(target)
        path.pop()
        done.add(file)

    for file in sorted(graph):
        if file not in done:
            visit(file)
    return found


def inner_include(path, name, tree):
    """Why the file may not include "name", or None."""
    room = room_of(path)
    beside = (tree / path).parent / name
    if room.startswith("src/"):
        first = name.split("/")[0]
        if first == "yoke" or beside.exists() and ".." not in name:
            return None
        if first in ROOMS_OF_LIBRARY and (first == room[4:] or first in ROOMS_OF_LIBRARY[room[4:]]):
            return None
        return f"src/{room[4:]} may include only yoke/, its own headers and " + (", ".join(sorted(ROOMS_OF_LIBRARY[room[4:]])) or "no other room")
    if room == "include":
        return None if name.startswith("yoke/") else "a public header may include only public headers"
    if name.startswith("yoke/") or name.startswith("common/") and not room == "include" or name == "yoke_fmm.h" and room in ("apps/fmm", "examples"):
        return None
    if ".." not in name and (beside.exists() or (tree / room / name).exists()):
        return None
    application = "apps/" + path.split("/")[1] if room == "bench" else None
    if application and ".." not in name and (tree / application / name).exists():
        return None
    return f"{room} may include only yoke/, common/ and its own headers" + (", and bench/X those of apps/X" if room == "bench" else "")


def outer_include(path, name):
    """Why the file may not include <name>, or None."""
    room = room_of(path)
    stem = name[:-2] if name.endswith(".h") else name
    if VENDOR.search(name):
        return None if room in ("src/device", "src/meter", "src/frequency") else "only src/device, src/meter and src/frequency may name a vendor's header"
    if ONLY_FEM.search(name):
        return None if room == "apps/fem" or path.startswith("bench/fem/") else "only apps/fem and bench/fem may use this library (its licence is not libyoke's)"
    if PARTICLE_FILES.search(name):
        return None if path.startswith("apps/fmm/particles/") else "only apps/fmm/particles reads and writes HDF5"
    if ONLY_APPS.search(name):
        return None if room.startswith("apps/") else "only apps may use this library"
    if room == "src/plan":
        return None if stem in PURE_HEADERS else "a plan is a pure function: no I/O, no clock, no hardware"
    if room == "src/balance":  # stdio.h for vsnprintf; files are refused by name (FILES)
        return None if stem in PURE_HEADERS or stem == "stdio" else "a balancer is arithmetic: no I/O, no clock, no hardware"
    if room == "include":
        return None if stem in ("stddef", "stdint", "stdbool") else "a public header needs no other than stddef.h, stdint.h, stdbool.h"
    if room.startswith("src/") and not (stem in C_HEADERS or SYSTEM.search(name) or LIBRARIES_OF_LIBYOKE.search(name)):
        return "libyoke may use only the C library, POSIX, hwloc, jansson and cminpack"
    return None


def check_text(path, text):
    """Calls that belong elsewhere: (line, why)."""
    main_program = path.endswith("main.c")
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        if CLOCKS.search(line) and path != "src/base/clock.c":
            yield number, "yoke_clock_s is the only clock"
        if path.startswith("apps/fem/") and (name := OF_THE_RUN.search(line)):
            yield number, f"{name[0]}...: apps/fem leaves meters, frequencies, stores and plans to yoke_run"
        if FILES.search(line) and path.startswith("src/balance/"):
            yield number, "a balancer opens no files"
        if ENDING.search(line) and not main_program and not path.startswith(("bench/", "examples/")):
            yield number, "nothing but a main program ends the process: return a status"
        if POINTERS.search(line):
            yield number, "the address of a pointer is no void **: hand &pointer over as it is (yoke_allocate)"
        if PRINTING.search(line) and not main_program and not path.startswith(MAY_PRINT):
            yield number, "only main programs and apps/common/console/terminal.c print: use app_print, app_progress or yoke_log"


def includes(text):
    """(line, what is included with "", what is included with <>)"""
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
        if match:
            yield number, match[1], match[2]


def check_file(path, tree):
    text = (tree / path).read_text(encoding="utf-8")
    for number, ours, theirs in includes(text):
        if theirs and theirs.split("/")[0] in ("yoke", "common"):
            yield number, f'our own header {theirs} is included with ""'
            continue
        why = inner_include(path, ours, tree) or sub_room_include(path, ours, tree) if ours else outer_include(path, theirs)
        if why:
            yield number, f"includes {ours or theirs}: {why}"
    yield from check_text(path, text)


def include_graph(tree):
    graph = {}
    for top in ("include", "src", *OUTER_ROOMS, "tests"):
        for file in sorted((tree / top).rglob("*.[ch]")):
            path = file.relative_to(tree).as_posix()
            found = [(number, included(path, ours, tree)) for number, ours, _ in includes(file.read_text(encoding="utf-8")) if ours]
            graph[path] = [(number, target) for number, target in found if target]
    return graph


def check_tree(tree):
    wrong, count = [], 0
    for file, line, circle in circles(include_graph(tree)):
        wrong.append(f"{file}:{line}: includes in a circle: {' -> '.join(circle)}")
    for top in ("include", "src", *OUTER_ROOMS):
        for file in sorted((tree / top).rglob("*.[ch]")):
            path = file.relative_to(tree).as_posix()
            count += 1
            if path.startswith("src/") and path.split("/")[1] not in ROOMS_OF_LIBRARY:
                wrong.append(f"{path}:1: there is no such room")
                continue
            if why := unknown_sub_room(path):
                wrong.append(f"{path}:1: {why}")
                continue
            wrong += [f"{path}:{number}: {why}" for number, why in check_file(path, tree)]
    return wrong, count


SELF_TEST = {  # path: (text, the line that is wrong or 0, a part of the message)
    "src/base/right.c": ('#include <stdio.h>\n#include <hwloc.h>\n#include "base/right.h"\n/* printf( in a comment */ char *s = "exit(1)";\n', 0, ""),
    "src/base/right.h": ('#include "yoke/yoke.h"\n', 0, ""),
    "src/base/clock.c": ("#include <time.h>\nclock_gettime(0, 0);\n", 0, ""),
    "src/base/upward.c": ('\n#include "run/right.h"\n', 2, "no other room"),
    "src/run/right.h": ('#include "plan/plan.h"\n', 0, ""),
    "src/plan/plan.h": ('#include "model/model.h"\n#include <math.h>\n', 0, ""),
    "src/plan/search/right.c": ('#include "plan/plan.h"\n', 0, ""),
    "src/plan/partition/other.c": ('#include "plan/plan.h"\n', 1, "no other sub-room"),
    "src/plan/reads.c": ("#include <stdio.h>\n", 1, "pure function"),
    "src/plan/measures.c": ('#include "meter/meter.h"\n', 1, "model"),
    "src/model/device.c": ('#include "device/device.h"\n', 1, "base"),
    "src/model/climbs.c": ('#include "../device/device.h"\n', 1, "base"),
    "include/yoke_fmm.h": ('#include "yoke/core.h"\n', 0, ""),
    "src/model/fmm.c": ('#include "yoke_fmm.h"\n', 1, "only yoke/"),
    "apps/fmm/library/right.c": ('#include "yoke_fmm.h"\n#include "near/near.h"\n', 0, ""),
    "src/device/vendor.c": ("#include <cuda.h>\n", 0, ""),
    "src/balance/reads.c": ('#include <stdio.h>\nvsnprintf(text, size, "x", list);\nfopen("x", "r");\n', 3, "opens no files"),
    "src/balance/waits.c": ("#include <time.h>\n", 1, "arithmetic"),
    "src/balance/right.c": ('#include "plan/plan.h"\n', 0, ""),
    "src/balance/runs.c": ('#include "run/right.h"\n', 1, "plan"),
    "src/frequency/vendor.c": ("#include <nvml.h>\n", 0, ""),
    "src/frequency/device.c": ('#include "device/device.h"\n', 1, "meter"),
    "src/profile/vendor.c": ("#include <nvml.h>\n", 1, "vendor"),
    "src/meter/frequency.c": ('#include "frequency/frequency.h"\n', 1, "base"),
    "src/run/vendor.c": ("#include <CL/cl.h>\n", 1, "vendor"),
    "src/base/yaml.c": ("#include <yaml.h>\n", 1, "only apps"),
    "src/base/gpl.c": ("#include <p8est.h>\n", 1, "licence"),
    "src/base/curl.c": ("#include <curl/curl.h>\n", 1, "only the C library"),
    "src/base/prints.c": ('\n\nprintf("x");\n', 3, "print"),
    "src/base/complains.c": ('fputs("x", stderr);\n', 1, "print"),
    "src/base/ends.c": ("abort();\n", 1, "ends the process"),
    "src/base/aliases.c": ("double *x;\nyoke_allocate(context, 1, 8, (void **)&x);\n", 2, "no void"),
    "src/base/ticks.c": ("gettimeofday(0, 0);\n", 1, "only clock"),
    "src/cellar/x.c": ("", 1, "no such room"),
    "include/yoke/yoke.h": ("#include <stdint.h>\n", 0, ""),
    "include/yoke/wide.h": ("#include <hwloc.h>\n", 1, "needs no other"),
    "include/yoke/inner.h": ('#include "base/right.h"\n', 1, "public"),
    "apps/fem/right.c": ('#include <p8est.h>\n#include <mpi.h>\n#include "common/case/right.h"\n#include "yoke/yoke.h"\n#include "own.h"\n', 0, ""),
    "apps/fem/own.h": ("", 0, ""),
    "apps/fem/case/case.h": ("", 0, ""),
    "apps/fem/space/space.h": ('#include "case/case.h"\n', 0, ""),
    "apps/fem/operator/kernels/k.c": ('#include "k.h"\n#include "space/space.h"\n', 0, ""),
    "apps/fem/operator/kernels/k.h": ("", 0, ""),
    "apps/fem/operator/kernels/upward.c": ('#include "operator/decomposition/d.h"\n', 1, "no other sub-room"),
    "apps/fem/operator/packed.h": ('#include "operator/kernels/k.h"\n', 0, ""),
    "apps/fem/operator/front.c": ('#include "operator/packed.h"\n#include "operator/decomposition/d.h"\n', 2, "only its own headers and kernels"),
    "apps/fem/operator/decomposition/d.h": ('#include "operator/packed.h"\n#include "space/space.h"\n', 0, ""),
    "apps/fem/operator/attic/x.c": ("", 1, "apps/fem/operator has no sub-room attic"),
    "apps/fem/space/private.h": ("", 0, ""),
    "apps/fem/space/own.c": ('#include "space/private.h"\n', 0, ""),
    "apps/fem/output/of_others.c": ('#include "space/private.h"\n', 1, "files beside it"),
    "apps/fem/space/upward.c": ('#include "space/space.h"\n#include "operator/decomposition/d.h"\n', 2, "only its own headers and case, mesh"),
    "apps/fem/space/deep.c": ('#include "operator/kernels/k.h"\n', 1, "only its own headers and case, mesh"),
    "apps/fem/case/top.c": ('#include "own.h"\n', 1, "no other sub-room"),
    "apps/fem/attic/x.c": ("", 1, "no sub-room attic"),
    "apps/fem/case/attic/x.c": ("", 1, "apps/fem/case has no sub-rooms"),
    "apps/fem/output/a.h": ('#include "output/b.h"\n', 0, ""),
    "apps/fem/output/b.h": ('#include "output/a.h"\n', 1, "circle: apps/fem/output/a.h -> apps/fem/output/b.h -> apps/fem/output/a.h"),
    "src/model/one.h": ('#include "model/two.h"\n', 0, ""),
    "src/model/three.h": ('\n#include "model/one.h"\n', 2, "circle"),
    "src/model/two.h": ('#include "three.h"\n', 0, ""),
    "src/model/itself.h": ('#include "itself.h"\n', 1, "circle"),
    "src/model/attic/x.c": ("", 1, "src/model has no sub-room attic"),
    "src/balance/attic/x.c": ("", 1, "src/balance has no sub-rooms"),
    "src/device/device.h": ("", 0, ""),
    "src/device/cuda/cuda.h": ('#include "device/device.h"\n', 0, ""),
    "src/device/sim/other.c": ('#include "device/cuda/cuda.h"\n', 1, "src/device's own folder"),
    "src/device/front.c": ('#include "device/cuda/cuda.h"\n', 1, "no other sub-room"),
    "src/device/hip/x.c": ("", 1, "no sub-room hip"),
    "src/run/backend.c": ('#include "device/cuda/cuda.h"\n', 0, ""),
    "apps/fem/inner.c": ('#include "base/right.h"\n', 1, "only yoke/"),
    "apps/fem/climbs.c": ('#include "../../src/base/right.h"\n', 1, "only yoke/"),
    "apps/fem/angle.c": ("#include <yoke/yoke.h>\n", 1, 'with ""'),
    "apps/fem/vendor.c": ("#include <nvml.h>\n", 1, "vendor"),
    "apps/fem/clock.c": ("yoke_clock_s(); yoke_balance_policy policy; /* yoke_meters_open */\n", 0, ""),
    "apps/fem/meters.c": ("\nyoke_meters_open(context, NULL, &meters);\n", 2, "leaves meters"),
    "apps/fem/sets.c": ("yoke_frequency_set(frequencies, name, hz, NULL);\n", 1, "leaves meters"),
    "apps/fem/plans.c": ("yoke_plan_create(context, &problem, NULL, &plan);\n", 1, "leaves meters"),
    "apps/fem/main.c": ('printf("x"); exit(1);\n', 0, ""),
    "apps/fem/prints.c": ('printf("x");\n', 1, "print"),
    "apps/fmm/other.c": ('#include "own.h"\n', 1, "only yoke/"),
    "apps/fmm/particles/particles.h": ("#include <hdf5.h>\n", 0, ""),
    "apps/fmm/near/right.c": ('#include "particles/particles.h"\n', 0, ""),
    "apps/fmm/tree/upward.c": ('#include "near/near.h"\n', 1, "only its own headers and particles"),
    "apps/fmm/near/near.h": ("", 0, ""),
    "apps/fmm/near/files.c": ("#include <hdf5.h>\n", 1, "only apps/fmm/particles"),
    "apps/dense/gemm/right.c": ('#include "share/share.h"\n', 0, ""),
    "apps/dense/share/share.h": ("", 0, ""),
    "apps/dense/share/upward.c": ('\n#include "gemm/gemm.h"\n', 2, "no other sub-room"),
    "apps/dense/gemm/gemm.h": ("", 0, ""),
    "apps/common/case/right.h": ("#include <yaml.h>\n", 0, ""),
    "apps/common/case/gpl.c": ("#include <gmshc.h>\n", 1, "licence"),
    "apps/common/console/upward.c": ('#include "common/case/right.h"\n', 1, "no other sub-room"),
    "apps/common/loose.c": ("", 1, "no sub-room for files of its own folder"),
    "bench/balance/family.h": ("", 0, ""),
    "bench/plan/right.c": ('#include "balance/family.h"\n', 0, ""),
    "bench/numa/other.c": ('#include "balance/family.h"\n', 1, "no other sub-room"),
    "bench/loose.c": ("", 1, "no sub-room for files of its own folder"),
    "bench/sorting/x.c": ("", 1, "no sub-room sorting"),
    "tool/tool.h": ("", 0, ""),
    "tool/profile/kernel.h": ("", 0, ""),
    "tool/calibrate/right.c": ('#include "profile/kernel.h"\n#include "tool.h"\n', 0, ""),
    "tool/plan/other.c": ('#include "profile/kernel.h"\n', 1, "only its own headers and tool's own folder"),
    "tool/main.c": ('#include "profile/kernel.h"\n', 1, "no other sub-room"),
    "tool/reproduce/main.c": ('#include "tool.h"\n', 1, "no other sub-room"),
    "tool/attic/x.c": ("", 1, "no sub-room attic"),
    "bench/fem/right.c": ('#include <p8est.h>\n#include "fem/right.h"\n#include "own.h"\n', 0, ""),
    "bench/fem/right.h": ("", 0, ""),
    "bench/plan/other.c": ('#include "own.h"\n', 1, "bench/X those of apps/X"),
    "bench/plan/gpl.c": ("#include <p8est.h>\n", 1, "licence"),
    "tool/inner.c": ('#include "src/base/right.h"\n', 1, "only yoke/"),
    "examples/inner.c": ('#include "base/right.h"\n', 1, "only yoke/"),
}


def self_test():
    with tempfile.TemporaryDirectory() as directory:
        tree = pathlib.Path(directory)
        for path, (text, _, _) in SELF_TEST.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text, encoding="utf-8")
        wrong, count = check_tree(tree)
    failed = [] if count == len(SELF_TEST) else [f"{count} files seen instead of {len(SELF_TEST)}"]
    for path, (_, line, part) in SELF_TEST.items():
        found = [message for message in wrong if message.startswith(path + ":")]
        if len(found) != (line > 0) or found and not (found[0].startswith(f"{path}:{line}: ") and part in found[0]):
            failed.append(f"{path}: expected {part or 'nothing'!r} at line {line}, found {found}")
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
    else:
        wrong, count = check_tree(pathlib.Path(sys.argv[1]))
        print(f"{count} files looked at")
        if count == 0:
            wrong = [f"{sys.argv[1]}: no sources found"]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
