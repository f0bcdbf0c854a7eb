"""Thin, slender, stretched and mixed bodies (bench/bodies) against theory, by CHOLMOD and by what `auto` takes."""
import importlib.machinery
import importlib.util
import pathlib

import command
from command import SOURCE, record, run, words

loader = importlib.machinery.SourceFileLoader("bodies", str(SOURCE / "bench/bodies"))
bodies = importlib.util.module_from_spec(importlib.util.spec_from_loader("bodies", loader))
loader.exec_module(bodies)

# By rounding alone the residual of the thinnest ones does not become smaller.
KEYS = {"solver__relative_residual": "1e-4", "output__fields": "[displacement]"}


def check(*names, **keys):
    """Bodies whose name begins so are solved, as near to theory as they may be; returns the steps."""
    found = []
    for body in bodies.BODIES:
        if not body.name.startswith(names):
            continue
        run(words(body.write(pathlib.Path(".")), out=body.name, **KEYS, **keys))
        found.append(record(body.name))
        error = body.error(found[-1])
        assert abs(error) <= body.allowed, f"{body.name}: {100 * error:+.3f} % from theory"
        print(f"{body.name}: {100 * error:+.3f} % from theory, {found[-1]['steps'][0]['iterations']} iterations")
    assert found
    return [one["steps"][0] for one in found]


def check_direct(*names):
    for step in check(*names, solver__preconditioner="direct"):
        assert step["preconditioner"] == "direct" and step["iterations"] <= 2, step


def test_cantilevers_by_the_direct_solver():
    check_direct("cantilever-q2", "cantilever-s2", "cantilever-fine")


def test_plates_by_the_direct_solver():
    check_direct("plate")


def test_a_sheared_sheet_and_a_small_hole_by_the_direct_solver():
    check_direct("sheared", "small-hole")


def test_stiff_on_soft_blocks_by_the_direct_solver():
    check_direct("soft")


def test_thin_plates_by_multigrid():
    for step in check("plate-400", "plate-1000", solver__preconditioner="multigrid"):
        assert step["preconditioner"] == "multigrid" and step["iterations"] <= 40, step


def test_all_other_bodies_by_auto():
    check("cantilever-q2", "cantilever-s2", "plate", "sheared", "soft", "small-hole")


def test_where_multigrid_cannot_be_set_up_the_factor_solves_and_it_is_said():
    stiff = bodies.soft(13, (1, 1, 2))  # the coarse matrix has a pivot below 1e-13, the one of the body itself has not
    done = run(words(stiff.write(pathlib.Path(".")), out="stiff", refine__initial=2))
    step = record("stiff")["steps"][0]
    said = "direct: multigrid could not be set up: the matrix is not positive definite"
    assert step["preconditioner"] == "direct" and step["preconditioner_reason"].startswith(said), step
    assert done.stderr.count("step 0: preconditioner " + said) == 1, done.stderr
    assert any(said in line for line in record("stiff")["warnings"])
    assert abs(stiff.error(record("stiff"))) < 0.01, stiff.error(record("stiff"))


def test_a_body_checked_by_theory_is_found_by_the_script_too():
    done = run(["python3", str(SOURCE / "bench/bodies"), "plate-1000", "--yoke", command.PROGRAM, "--out", "out", "--solver", "direct", "--set", "solver.relative_residual=1e-4"])
    assert "direct" in done.stdout and pathlib.Path("out/bodies.json").exists(), done.stdout
