"""How a run starts: many at once, and without MPI's launcher."""
import fcntl
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time

from command import PATIENCE_S, PROGRAM, SANITIZED, SMALL, environment, record, run, words

FEM = pathlib.Path(PROGRAM).with_name("yoke-fem")


def check(*options):
    return [PROGRAM, "fem", str(SMALL), "--check", *options]


def test_many_starts_four_at_once_are_all_right():
    os.mkdir("tmp")
    left = 8 if SANITIZED else 24
    running, failed = [], []
    while left or running:
        while left and len(running) < 4:
            running.append(subprocess.Popen(check(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                            env=environment(TMPDIR=os.path.abspath("tmp"))))
            left -= 1
        done = running.pop(0)
        output, _ = done.communicate()
        if done.returncode:
            failed.append(output)
    assert not failed, failed
    assert os.listdir("tmp") == []


def test_without_a_launcher_no_session_directory_is_made():
    # Open MPI would make its session directory below a file, which cannot be.
    pathlib.Path("file").touch()
    base = os.path.abspath("file/below")
    run(check(), env=environment(OMPI_MCA_orte_tmpdir_base=base, PRTE_MCA_prte_tmpdir_base=base, OMPI_COMM_WORLD_SIZE=None))


def test_without_a_launcher_no_process_and_no_directory_of_mpi_is_made():
    if not shutil.which("strace") or SANITIZED:
        sys.exit(77)
    # A file for each process (-ff): in one file strace cuts calls that overlap in two.
    line = ["strace", "-ff", "-qq", "-e", "trace=execve,mkdir,mkdirat,socket", "-o", "calls", *words(SMALL, refine__steps=0)]
    if subprocess.run(["strace", "-o", "/dev/null", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        sys.exit(77)  # containers may forbid it
    run(line, env=environment(OMPI_COMM_WORLD_SIZE=None))
    calls = "".join(path.read_text(encoding="utf-8", errors="replace") for path in pathlib.Path().glob("calls.*"))
    programs = {path.rsplit("/", 1)[-1] for path in re.findall(r'^execve\("([^"]*)".*= 0$', calls, re.MULTILINE)}
    assert {"yoke", "yoke-fem"} <= programs <= {"yoke", "yoke-fem", "yoke-fem-mesh", "yoke-device-list"}, programs
    made = re.findall(r'^mkdir(?:at)?\([^"]*"([^"]*)".*= 0$', calls, re.MULTILINE)
    assert [path for path in made if path.rsplit("/", 1)[-1].startswith("out")], made
    assert not [path for path in made if re.search("ompi|openmpi|prte|pmix", path)], made
    sockets = re.findall(r"^socket\(.*= \d+$", calls, re.MULTILINE)
    assert not sockets, sockets


def symbols(file, which):
    listed = subprocess.run(["nm", "-D", which, file], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"\bMPI_\w+", listed))


def test_every_mpi_function_of_the_libraries_is_the_programs_own():
    # A function that is missing here would be the MPI library's, which was not started: it ends the program.
    if not shutil.which("nm"):
        print("there is no nm")
        sys.exit(77)
    linked = subprocess.run(["ldd", FEM], stdout=subprocess.PIPE, text=True, check=True).stdout
    libraries = re.findall(r"=> (\S*/lib(?:p4est|sc|HYPRE)\S*)", linked)
    assert len(libraries) == 3, linked
    own = symbols(FEM, "--defined-only")
    for library in libraries:
        missing = symbols(library, "--undefined-only") - own - {"MPI_Wtime", "MPI_Wtick"}
        assert not missing, f"{library} calls {sorted(missing)}: serve them in mpi_single.c or hand them on in mpi_forwarded.c"


STUB = FEM.parent.parent / "tests" / "libstub_driver.so"  # a vendor's library that aborts, and notes that it was opened


def with_stub(behaviour="abort", **changes):
    assert STUB.exists(), f"{STUB} is not there: build the target yoke_tests"
    return environment(**{"YOKE_LIBOPENCL": str(STUB), "YOKE_LIBCUDA": str(STUB), "YOKE_STUB_DRIVER": behaviour, "YOKE_STUB_DRIVER_OPENED": "opened", **changes})


def test_a_driver_that_aborts_does_not_end_the_run():
    run(check(), env=with_stub())
    assert os.path.getsize("opened") == 2, "nobody asked OpenCL and CUDA"


def test_with_openmp_alone_no_driver_is_opened():
    run(check("--devices", "openmp"), env=with_stub())
    run(check("--case", "cpu"), env=with_stub())
    # Nor for the run record, which says what was not looked at.
    run(words(SMALL, "--devices", "openmp", refine__steps=0), env=with_stub())
    assert not os.path.exists("opened")
    machine = record()["machine"]
    assert [device["kind"] for device in machine["devices"]] == ["openmp", "sim"], machine["devices"]
    assert machine["devices_not_looked_at"] == ["cuda", "opencl"], machine


def test_the_record_tells_of_the_devices_that_were_asked_for():
    # Both libraries abort: the run goes on without them, and its record says why; it is not they that were not looked at.
    run(words(SMALL, refine__steps=0), env=with_stub())
    machine = record()["machine"]
    assert {device["kind"]: device["usable"] for device in machine["devices"]} == {"openmp": True, "cuda": False, "opencl": False, "sim": False}, machine["devices"]
    assert machine["devices_not_looked_at"] == [] and os.path.getsize("opened") == 2, "each is asked once"
    run([PROGRAM, "info", "--json", "info.json", "--quiet"], env=with_stub())
    machine = json.loads(pathlib.Path("info.json").read_text())
    assert machine["devices_not_looked_at"] == [] and len(machine["devices"]) == 4, machine["devices"]


# ------------------------------------------------------------------------------------------------------ signals

def wait_until(there, what):
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if there():
            return
        time.sleep(0.02)
    raise AssertionError(f"waited for {what} in vain")


def terminate(process, number):
    process.send_signal(number)
    _, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, f"exit code {process.returncode}\n{error}"
    assert error == f"yoke fem: interrupted by {number.name}\n", error


def test_terminate_while_the_mesh_is_read():
    # A reader of meshes that takes for ever, beside copies of the programs.
    os.makedirs("bin")
    os.mkdir("tmp")
    for program in (PROGRAM, FEM):
        shutil.copy(program, "bin")
    reader = pathlib.Path("bin/yoke-fem-mesh")
    reader.write_text("#!/bin/sh\necho $$ >%s\nexec sleep 1000\n" % os.path.abspath("pid"))
    reader.chmod(0o755)
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen([os.path.abspath("bin/yoke"), *check()[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=environment(TMPDIR=os.path.abspath("tmp")))
        pid = pathlib.Path("pid")
        wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"), "the reader")
        assert pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")[0] == b"yoke-fem"  # what ps shows
        terminate(process, number)
        child = pathlib.Path("/proc", pid.read_text().strip(), "stat")
        wait_until(lambda: not child.exists() or child.read_text().split(")")[1].split()[0] == "Z", "the reader's end")
        assert os.listdir("tmp") == []
        pid.unlink()


def test_a_bad_case_leaves_no_reader():
    # The reader is started before the mesh is looked for.
    os.makedirs("bin")
    for program in (PROGRAM, FEM):
        shutil.copy(program, "bin")
    reader = pathlib.Path("bin/yoke-fem-mesh")
    reader.write_text("#!/bin/sh\nexec sleep 1000\n")
    reader.chmod(0o755)
    case = pathlib.Path("case.yaml")
    case.write_text(re.sub("(?m)^mesh: .*$", "mesh: nowhere.msh", SMALL.read_text(encoding="utf-8")), encoding="utf-8")
    # The reader would hold a pipe of ours if it lived on.
    ours, its = os.pipe()
    run([os.path.abspath("bin/yoke"), "fem", str(case), "--check"], 2, pass_fds=(its,))
    os.close(its)
    assert select.select([ours], [], [], 60)[0] and not os.read(ours, 1), "the reader lives"


def test_a_gmsh_that_cannot_be_loaded_is_named():
    # In place of the library an empty file.
    name = re.search(rb"libgmsh\.so[.\d]*", FEM.with_name("yoke-fem-mesh").read_bytes())[0].decode()
    os.mkdir("libraries")
    pathlib.Path("libraries", name).touch()
    done = run(check(), 2, env=environment(LD_LIBRARY_PATH=os.path.abspath("libraries")))
    assert f"{name}: file too short" in done.stderr, done.stderr


def test_terminate_with_check():
    process = subprocess.Popen(check(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=with_stub("hang", YOKE_LIBOPENCL=None))
    wait_until(lambda: os.path.exists("opened"), "the driver that hangs")
    terminate(process, signal.SIGTERM)


# ------------------------------------------------------------------------------------------------------- limits

def test_too_many_threads_are_refused():
    done = run(check(), 2, env=environment(OMP_NUM_THREADS="100000"))
    assert "OMP_NUM_THREADS is 100000; at most 1024 threads" in done.stderr, done.stderr


def limit(which, size):
    return lambda: resource.setrlimit(which, (size, size))


def test_a_small_stack_is_refused():
    done = run(check(), 1, preexec_fn=limit(resource.RLIMIT_STACK, 64 << 10))
    assert "the stack is limited to 64 KiB" in done.stderr and "ulimit -s" in done.stderr, done.stderr


def test_a_small_limit_of_memory_ends_with_a_message():
    if SANITIZED:
        sys.exit(77)  # sanitizers reserve more than there is
    for mebibytes in (146, 300, 449, 450, 512):
        done = run(words(SMALL, "--devices", "openmp", refine__steps=0), None, preexec_fn=limit(resource.RLIMIT_AS, mebibytes << 20))
        assert done.returncode in (0, 1, 2) and (done.returncode == 0 or ": error: " in done.stderr), (mebibytes, done)
    assert not done.stderr or "memory" in done.stderr.lower(), done.stderr


# ---------------------------------------------------------------------------------------------------- left files

def held(path):
    """Opens and locks, as a process that lives does."""
    descriptor = os.open(path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def test_directories_of_killed_runs_are_removed_and_no_others():
    for name in ("yoke-mesh-killed", "yoke-mesh-living", "yoke-mesh-filled", "yoke-mesh-longer-name", "other-mesh-killed"):
        os.makedirs(f"tmp/{name}")
        os.symlink("/nowhere", f"tmp/{name}/mesh.msh")
    pathlib.Path("tmp/yoke-mesh-filled/mine").touch()
    os.symlink("other-mesh-killed", "tmp/yoke-mesh-linked")
    living = held("tmp/yoke-mesh-living")
    run(check(), env=environment(TMPDIR=os.path.abspath("tmp")))
    os.close(living)
    assert sorted(os.listdir("tmp")) == ["other-mesh-killed", "yoke-mesh-filled", "yoke-mesh-linked", "yoke-mesh-living", "yoke-mesh-longer-name"]
    assert os.listdir("tmp/yoke-mesh-filled") == ["mine"] and os.listdir("tmp/other-mesh-killed") == ["mesh.msh"]


def test_parts_of_files_of_killed_runs_are_removed_and_no_others():
    names = ["info.json.4000000-0.part", "info.json.4000000-1.part", "info.json.x-0.part", "other.json.4000000-0.part"]
    for name in names:
        pathlib.Path(name).write_text("part")
    living = held(names[1])
    run([PROGRAM, "info", "--json", "info.json", "--quiet"])
    os.close(living)
    assert sorted(os.listdir()) == sorted(["info.json", *names[1:]])


# --------------------------------------------------------------------------------------------------------- JSON

def test_json_goes_to_standard_output_and_all_else_to_standard_error():
    model = SMALL.parent / "models" / "node-2024.json"
    for line in (["info"], ["plan", str(model)], ["reproduce"], ["energy", "--declare", "idle=1,busy=2", "--", "true"], [*words(SMALL, refine__steps=0)[1:]]):
        place = line.index("--") if "--" in line else len(line)
        done = run([PROGRAM, *line[:place], "--json", "-", *line[place:]], None)
        found = json.loads(done.stdout)
        assert done.returncode == 0 and found and len(done.stderr) > 20, (line, done.stderr)
    assert not os.path.exists("-")
    assert json.loads(pathlib.Path("out/run.json").read_text())["steps"] == found["steps"]
