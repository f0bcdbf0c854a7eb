#!/usr/bin/env python3
"""Installs yoke, moves the installed tree, and builds a program with it in every way that is offered.

    install.py CMAKE CC BUILD_DIRECTORY VERSION WITH_FEM
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **environment):
    words = [str(word) for word in command]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(program, version, **environment):
    output = run(program, **environment)
    if not output.startswith(f"yoke {version}: success, "):
        sys.exit(f"{program} printed: {output}")


def only(tree, pattern):
    found = list(tree.rglob(pattern))
    if not found:
        sys.exit(f"{pattern} is not installed; there is: " + ", ".join(str(file.relative_to(tree)) for file in tree.rglob("*")))
    return found[0]


def outside(installed, work, machine, **environment):
    """The project of 60 lines, as a user copies and builds it: its picture has the area of the Mandelbrot set, 1.50659 (T. Foerstemann 2012, by counting pixels)."""
    shutil.copytree(installed, work)
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in work.iterdir())
    if lines > 60:
        sys.exit(f"examples/project has {lines} lines; it shows how little it takes: at most 60")
    run("make", "-C", work, **environment)
    for devices in ("openmp", "sim:cpu,sim:gpu"):
        head, *steps = run(work / "mandelbrot", devices, machine, **environment).splitlines()
        width, height = (int(word) for word in head.split()[1:3])
        area = 2.5 * 2.5 * steps.count("255") / (width * height)
        if len(steps) != width * height or not 1.50659 < area < 1.50659 * 1.02:
            sys.exit(f"mandelbrot on {devices}: {len(steps)} points of {head}, area {area}")


def check_paths(tree):
    """No program or library looks for libraries in the current directory, which an empty entry of its path means."""
    checked = 0
    for file in sorted(tree.rglob("*")):
        if file.is_symlink() or not file.is_file() or file.read_bytes()[:4] != b"\x7fELF":
            continue
        checked += 1
        for line in run("readelf", "--wide", "--dynamic", file).splitlines():
            if "PATH)" in line and any(not entry.startswith(("/", "$ORIGIN")) for entry in line.split("[")[1].split("]")[0].split(":")):
                sys.exit(f"{file} looks for libraries in the current directory: {line.strip()}")
    if not checked:
        sys.exit(f"there are no programs in {tree}")


def ions(program, store, **environment):
    if "step 5: " not in run(program, store, **environment):
        sys.exit(f"{program} does not say how its steps went")


def main():
    cmake, compiler, build, version, with_fem = sys.argv[1:]
    command = "fem" if with_fem == "1" else "plan"
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        run(cmake, "--install", build, "--prefix", work / "first")
        prefix = work / "moved"
        (work / "first").rename(prefix)

        for pattern in ("bin/yoke", "bin/yoke-reproduce", "bin/yoke-fmm", "man/man1/yoke-fmm.1", "bin/yoke-dense", "man/man1/yoke-dense.1", "man/man1/yoke-dense-gemm.1", "man/man1/yoke-dense-tsp.1", "include/yoke/yoke.h", "include/yoke_fmm.h", "include/yoke_fmm.f90", "man/man1/yoke.1", "man/man1/yoke-plan.1",
                        "man/man1/yoke-reproduce.1", "LICENSE", "doc/yoke/docs/guide/how-to.md", "doc/yoke/examples/drill-hole.yaml",
                        *(["bin/yoke-fem", "man/man1/yoke-fem.1"] if with_fem == "1" else [])):
            only(prefix, pattern)
        run(prefix / "bin/yoke", "info")
        run(prefix / "bin/yoke", "reproduce", "lang")
        completion = f"source {only(prefix, 'completions/yoke')}; COMP_WORDS=(yoke {command} --max); COMP_CWORD=2; _yoke; echo $COMPREPLY"
        if run("bash", "-c", completion).strip() != "--max-slowdown":
            sys.exit(f"yoke {command} --max is not completed to --max-slowdown")
        for tree in (prefix, pathlib.Path(build) / "bin", pathlib.Path(build) / "lib"):
            check_paths(tree)
        library = only(prefix, "libyoke.so").parent
        for file in prefix.rglob("*"):
            if file.suffix in (".pc", ".cmake", ".h") and build in file.read_text(encoding="utf-8"):
                sys.exit(f"{file.relative_to(prefix)} names the build directory")

        pkg_config = {"PKG_CONFIG_PATH": str(only(prefix, "yoke.pc").parent)}
        if run("pkg-config", "--modversion", "yoke", **pkg_config).strip() != version:
            sys.exit("yoke.pc has another version")
        flags = run("pkg-config", "--cflags", "--libs", "yoke", **pkg_config).split()
        run(compiler, "-std=c11", HERE / "consumer.c", "-o", work / "shared", *flags)
        expect(work / "shared", version, LD_LIBRARY_PATH=str(library))
        # The examples of runs, as somebody else would build them.
        machine = only(prefix, "machines/lang-ruenger-2014.json")
        for example in sorted((HERE.parent.parent / "examples/run").glob("*.c")):
            if len(example.read_text(encoding="utf-8").splitlines()) >= 100:
                sys.exit(f"{example} has 100 lines or more")
            run(compiler, "-std=c11", "-O2", "-fopenmp", example, "-o", work / example.stem, *flags, "-lm")
            if "speed-up" not in run(work / example.stem, "sim:cpu,sim:gpu", machine, LD_LIBRARY_PATH=str(library)):
                sys.exit(f"{example.stem} does not say what it gained")
        run(compiler, "-std=c11", "-O2", HERE.parent.parent / "examples/device/device.c", "-o", work / "device", *flags, "-lm")
        if "largest error" not in run(work / "device", "sim:gpu", machine, LD_LIBRARY_PATH=str(library)):
            sys.exit("the device example does not say how well it agrees")
        # The library of the fast multipole method; its costs are measured once.
        fmm = run("pkg-config", "--cflags", "--libs", "yoke_fmm", **pkg_config).split()
        run(compiler, "-std=c11", "-O2", only(prefix, "examples/fmm/fmm.c"), "-o", work / "ions", *fmm, "-lm")
        ions(work / "ions", work / "costs.json", LD_LIBRARY_PATH=str(library))
        outside(only(prefix, "examples/project"), work / "outside", machine, PATH=os.environ["PATH"], CC=compiler, LD_LIBRARY_PATH=str(library), **pkg_config)
        # Static: programs that need no library of yoke's at run time.
        for module, source, program in (("yoke-static", HERE / "consumer.c", work / "static"),
                                        ("yoke_fmm-static", only(prefix, "examples/fmm/fmm.c"), work / "static-ions")):
            run(compiler, "-std=c11", source, "-o", program, *run("pkg-config", "--cflags", "--libs", module, **pkg_config).split())
            if "libyoke" in run("readelf", "--dynamic", program):
                sys.exit(f"{module} links a shared library of yoke's")
        ions(work / "static-ions", work / "costs.json")
        for archive, one in (("libyoke.a", "yoke_context_create_for"), ("libyoke_fmm.a", "yoke_fmm_create_for")):
            names = [line.split()[-1] for line in run("nm", "--extern-only", "--defined-only", library / archive).splitlines() if " " in line]
            other = [name for name in names if not name.startswith(("yoke_", ".gomp_critical_user_"))]  # OpenMP makes these for critical sections
            if one not in names or other:
                sys.exit(f"{archive} defines " + ", ".join(other))
        expect(work / "static", version)

        project = work / "project"
        project.mkdir()
        shutil.copy(HERE / "consumer.c", project)
        shutil.copy(HERE.parent.parent / "examples/fmm/fmm.c", project)
        text = (HERE / "CMakeLists.txt.consumer").read_text(encoding="utf-8").replace("@version@", version)
        (project / "CMakeLists.txt").write_text(text, encoding="utf-8")
        run(cmake, "-S", project, "-B", work / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}")
        run(cmake, "--build", work / "build")
        expect(work / "build/consumer-shared", version)
        expect(work / "build/consumer-static", version)
        for kind in ("shared", "static"):
            ions(work / f"build/ions-{kind}", work / "costs.json")


if __name__ == "__main__":
    main()
