"""How a run starts: many at once, and without MPI's launcher."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from command import PROGRAM, SANITIZED, SMALL, environment, run

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
        assert not missing, f"{library} calls {sorted(missing)}: serve them in mpi_alone.c or hand them on in mpi_handed_on.c"


STUB = FEM.parent.parent / "tests" / "libstub_driver.so"  # a vendor's library that aborts, and notes that it was opened


def with_stub(**changes):
    return environment(YOKE_LIBOPENCL=str(STUB), YOKE_LIBCUDA=str(STUB), YOKE_STUB_DRIVER="abort", YOKE_STUB_DRIVER_OPENED="opened", **changes)


def test_a_driver_that_aborts_does_not_end_the_run():
    run(check(), env=with_stub())
    assert os.path.getsize("opened") == 2, "nobody asked OpenCL and CUDA"


def test_with_openmp_alone_no_driver_is_opened():
    run(check("--devices", "openmp"), env=with_stub())
    run(check("--case", "cpu"), env=with_stub())
    assert not os.path.exists("opened")
