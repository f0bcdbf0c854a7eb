"""yoke fem under mpirun."""
import os
import shutil

import command
from command import SMALL, environment, run, words

MPIRUN = ["mpirun", "--oversubscribe"]
VARIABLES = environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def need_mpi():
    # Started so, Open MPI leaves memory in more libraries than leaks-of-others.txt names.
    if shutil.which("mpirun") is None or command.SANITIZED:
        raise SystemExit(77)


def on_ranks(count, line, code=0):
    return run([*MPIRUN, "-n", str(count), *line], code, env=VARIABLES)


def messages(done):
    """What the ranks told, without what mpirun adds."""
    return [line for line in done.stderr.splitlines() if line.startswith("yoke fem: ")]


def test_an_error_is_told_once():
    need_mpi()
    for wrong, says in (
        ({"refine__stops": 2}, "unknown key 'stops'"),  # in the case
        ({"mesh": "/no/mesh.msh"}, "/no/mesh.msh"),  # in the mesh, which one rank reads
        ({"materials": "[{volume: nothing, youngs_modulus: 1, poisson_ratio: 0.3}]"}, "'nothing'"),  # in both together
    ):
        told = messages(on_ranks(3, words(SMALL, out="wrong", **wrong), 2))
        assert len(told) == 1 and told[0].startswith("yoke fem: error: ") and says in told[0], told
    assert not os.path.exists("wrong")


def test_a_warning_is_told_once():
    need_mpi()
    told = messages(on_ranks(2, words(SMALL, "--check", refine__steps=0, refine__tolerance=0.1), None))
    assert sum("refine.tolerance has no effect" in line for line in told) == 1, told


def test_help_is_told_once():
    need_mpi()
    assert on_ranks(2, [command.PROGRAM, "fem", "--help"]).stdout == run([command.PROGRAM, "fem", "--help"]).stdout


def test_all_ranks_solve_the_same_case():
    need_mpi()
    for other in (words(command.EXAMPLES / "lame.yaml", out="one"), words(SMALL, out="one", refine__steps=3)):
        done = run([*MPIRUN, "-n", "1", *words(SMALL, out="one"), ":", "-n", "1", *other], 2, env=VARIABLES)
        assert "rank 1: this rank's command line names another case, or sets other keys" in done.stderr, done.stderr


def test_several_ranks_are_refused():
    need_mpi()
    told = messages(on_ranks(2, words(SMALL, out="two", refine__steps=0), 2))
    assert told == ["yoke fem: error: started with 2 MPI ranks, but this version works with one; its threads use all cores"], told
    assert not os.path.exists("two")
