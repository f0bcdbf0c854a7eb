"""Small runs under valgrind's memcheck: no reads of memory that is not set or not there, no leaks."""
import os
import pathlib
import shutil

import command
from command import EXAMPLES, SMALL, SOURCE, check_results, run, words


def check(line, code=0):
    if shutil.which("valgrind") is None or command.SANITIZED:
        raise SystemExit(77)
    valgrind = ["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite,possible", "--errors-for-leak-kinds=definite,possible",
                "--error-exitcode=99", "--num-callers=40", "--log-file=found.txt", f"--suppressions={SOURCE / 'tests/valgrind-others.supp'}"]
    try:
        # `yoke` becomes yoke-fem by exec; what is looked at is the latter.
        # Without GOTO_NUM_THREADS yoke-fem starts itself anew, and valgrind would not see that.  valgrind has no AVX-512: BLAS chooses its kernels itself.
        variables = command.environment(GOTO_NUM_THREADS="1", OPENBLAS_CORETYPE=None)
        return run([*valgrind, str(pathlib.Path(command.PROGRAM).with_name("yoke-fem")), *line[2:]], code, env=variables)
    finally:
        if os.path.exists("found.txt"):
            print(pathlib.Path("found.txt").read_text(encoding="utf-8", errors="replace"))


def test_two_steps_of_q2_with_hanging_nodes():
    boxes = "[{from: [0.9, 0, 0], to: [1, 1, 1], level: 1}]"
    check(words(SMALL, refine__steps=1, refine__boxes=boxes))
    check_results("out", 2)


def test_stored_operator_and_jacobi():
    check(words(SMALL, "--operator", "stored", element="s2", refine__steps=1, solver__preconditioner="jacobi"))
    check_results("out", 2)


def test_poisson_q1():
    check(words(EXAMPLES / "fichera.yaml", element="q1", refine__steps=1, refine__initial=0))


def test_probe_outside():
    check(words(SMALL, "--set", "probes.0.x=[9, 9, 9]"), 2)


def test_solver_that_does_not_converge():
    check(words(SMALL, solver__max_iterations=1, solver__preconditioner="jacobi"), 1)
