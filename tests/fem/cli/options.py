"""Options, surroundings, and repeatability of `yoke fem`."""
import os
import pathlib
import re
import shutil
import subprocess
import termios

import command
from command import EXAMPLES, PATIENCE_S, SMALL, check_results, close_to, contents, environment, for_another_user, record, run, solve, words
import terminals


def energies(found):
    return [row["strain_energy_j"] for row in found["steps"]]


def assert_same_mesh(one, other):
    for key in ("elements", "dofs", "hanging_nodes"):
        assert [row[key] for row in one["steps"]] == [row[key] for row in other["steps"]], key


def assert_same_solution(one, other, relative):
    assert_same_mesh(one, other)
    for step, (a, b) in enumerate(zip(energies(one), energies(other), strict=True)):
        close_to(a, b, relative, f"strain energy of step {step}")
    for a, b in zip(one["steps"], other["steps"]):
        assert abs(a["iterations"] - b["iterations"]) <= 1, (a["iterations"], b["iterations"])


def test_help_names_every_option():
    text = run([command.PROGRAM, "fem", "--help"]).stdout
    for option in ("--set", "--json", "--operator", "--devices", "--case", "--share", "--objective", "--max-slowdown", "--power-cap", "--deadline", "--clocks", "--balance", "--exchange", "--store", "--machine", "--declare",
                   "--write-model", "--threads", "--explain", "--profile", "--restart", "--check", "--quiet", "--help", "--version"):
        assert f"  {option} " in text, option
    assert text == run([command.PROGRAM, "help", "fem"]).stdout == run([command.PROGRAM, "fem", "-h"]).stdout
    assert all(len(line) <= 120 for line in text.splitlines())


def test_version():
    assert re.fullmatch(r"yoke fem \d+\.\d+\.\d+\n", run([command.PROGRAM, "fem", "--version"]).stdout)


def test_quiet_prints_nothing():
    done = run(words(SMALL, "--quiet", refine__steps=1))
    assert done.stdout == done.stderr == "", done
    check_results("out", 2)


def test_check_writes_nothing():
    for path in sorted(EXAMPLES.glob("*.yaml")):
        done = run(words(path, "--check", "--json", "copy.json"))
        assert re.search(r"\.msh: \d+ hexahedra of order [12], \d+ groups; case and mesh are valid\n$", done.stdout), done
        said = re.sub(r"^yoke fem: \S+: tetrahedra: each of the \d+ is split into four hexahedra\n$", "", done.stderr)
        assert said == "" and os.listdir(".") == [], (path, said, os.listdir("."))


def test_one_thread_and_two_threads_agree():
    case = EXAMPLES / "drill-hole.yaml"
    for residual, relative in (("1e-8", 1e-8), ("1e-12", 1e-10)):
        one = solve(case, "--threads", "1", refine__steps=3, solver__relative_residual=residual, out="one")
        two = solve(case, "--threads", "2", refine__steps=3, solver__relative_residual=residual, out="two")
        assert_same_solution(one, two, relative)


def test_more_threads_than_elements():
    assert_same_solution(solve(SMALL, "--threads", "50", refine__steps=1, out="many"), solve(SMALL, refine__steps=1), 1e-8)


def test_stored_and_matrixfree_operator_agree():
    for element in ("q1", "s2", "q2"):
        keys = {"refine__steps": 2, "solver__relative_residual": "1e-12", "element": element}
        free = solve(SMALL, "--operator", "matrixfree", out=f"free-{element}", **keys)
        stored = solve(SMALL, "--operator", "stored", out=f"stored-{element}", **keys)
        assert (free["case"]["solver"]["operator"], stored["case"]["solver"]["operator"]) == ("matrixfree", "stored")
        assert_same_solution(free, stored, 1e-10)


def test_preconditioners_agree():
    keys = {"refine__steps": 2, "solver__relative_residual": "1e-12"}
    jacobi, multigrid, auto = (solve(SMALL, out=name, solver__preconditioner=name, **keys) for name in ("jacobi", "multigrid", "auto"))
    direct = solve(SMALL, out="direct", solver__preconditioner="direct", **keys)
    for other in (jacobi, auto, direct):
        assert_same_mesh(multigrid, other)
        for a, b in zip(energies(multigrid), energies(other)):
            close_to(a, b, 1e-10, "strain energy")
    assert max(row["iterations"] for row in multigrid["steps"]) < min(row["iterations"] for row in jacobi["steps"])


def chosen(found):
    return [row["preconditioner"] for row in found["steps"]]


def test_auto_is_multigrid_but_for_small_bodies():
    found = solve(EXAMPLES / "drill-hole.yaml", refine__steps=2)
    assert set(chosen(found)) == {"multigrid"}
    assert all(row["preconditioner_reason"] is None and set(row["preconditioner_models"].values()) == {None} for row in found["steps"])
    found = solve(SMALL, element="q1", refine__steps=0, out="small")
    models = found["steps"][0]["preconditioner_models"]
    assert chosen(found) == ["direct"] and 0 < models["direct_operations"] < models["multigrid_operations"], found["steps"][0]
    assert found["steps"][0]["preconditioner_reason"].startswith("direct: the body is small")
    for name in ("jacobi", "multigrid", "direct"):
        asked = solve(SMALL, refine__steps=1, solver__preconditioner=name, out=name)
        assert chosen(asked) == [name, name] and {row["preconditioner_reason"] for row in asked["steps"]} == {None}


def test_the_choice_does_not_depend_on_threads_or_operator():
    one, two, stored = (
        solve(SMALL, *line, element="q1", refine__steps=3, out=f"with-{number}")
        for number, line in enumerate((("--threads", "1"), ("--threads", "2"), ("--operator", "stored")))
    )
    for other in (two, stored):
        assert chosen(one) == chosen(other)
        for key in ("preconditioner_models", "preconditioner_reason"):
            assert [row[key] for row in one["steps"]] == [row[key] for row in other["steps"]]


def test_multigrid_needs_few_products_on_curved_and_adaptive_meshes():
    for name, steps in (("cylinder", 1), ("drill-hole", 4), ("lame", 1), ("hollow-sphere", 0), ("plate-with-hole", 4), ("crankshaft", 1)):
        found = solve(EXAMPLES / f"{name}.yaml", refine__steps=steps, solver__preconditioner="multigrid", out=name)
        for row in found["steps"]:
            assert row["iterations"] <= 12 and row["operator_applications"] <= 120, (name, row["iterations"], row["operator_applications"])


def test_two_runs_repeat_bit_by_bit():
    for out in ("first", "second"):
        solve(EXAMPLES / "drill-hole.yaml", refine__steps=3, out=out)
    first, second = contents("first"), contents("second")
    assert set(first) == set(second) and len(first) == 7 + ("probes.csv" in first)  # four steps, series, record, summary
    for name in first:
        assert name == "run.json" or first[name] == second[name], f"{name} differs"
    first, second = record("first"), record("second")
    for key in ("probes", "reactions", "loads"):
        assert first[key] == second[key], key
    for a, b in zip(first["steps"], second["steps"]):
        for key in set(a) - {"seconds", "measured", "predicted", "predicted_with_l", "prediction_errors", "parts"}:
            assert a[key] == b[key], (key, a[key], b[key])


def test_set_works_for_every_type_of_key():
    found = solve(
        EXAMPLES / "lame.yaml",
        mesh=EXAMPLES / "meshes/two-materials.msh",
        problem="elasticity",
        element="s2",
        materials="[{volume: steel, youngs_modulus: 1e9, poisson_ratio: 0.3, density: 1000}]",
        materials__1="{volume: aluminium, youngs_modulus: 2e9, poisson_ratio: 0.2}",
        materials__1__density="2000.",
        boundary="[{face: clamped, displacement: [0, 0, 0]}]",
        gravity="[0, 0, -10]",
        refine="{steps: 9}",
        refine__steps="1",
        refine__fraction=".5",
        solver__relative_residual="1e-9",
        solver__preconditioner="jacobi",
        output__fields="[displacement]",
        probes="[]",
    )
    case = found["case"]
    assert case["element"] == "s2" and case["mesh"].endswith("two-materials.msh")
    assert case["refine"]["steps"] == 1 and case["refine"]["fraction"] == 0.5 and case["refine"]["initial"] == 0
    assert case["solver"]["relative_residual"] == 1e-9 and case["solver"]["preconditioner"] == "jacobi"
    assert found["probes"] == [] and len(found["steps"]) == 2
    # The quarter of the bar: 0.2 m thick, each half 0.5 m long.
    close_to(found["loads"]["force_n"][2], -10 * 0.04 * 0.5 * (1000 + 2000), 1e-12, "weight")


def test_loads_double_the_displacement_doubles():
    one = solve(SMALL, refine__steps=0, out="one")
    two = solve(SMALL, "--set", "boundary.3.traction=[2e6, 0, 0]", refine__steps=0, out="two")
    close_to(two["steps"][0]["max_displacement_m"], 2 * one["steps"][0]["max_displacement_m"], 1e-6, "displacement")
    close_to(two["steps"][0]["strain_energy_j"], 4 * one["steps"][0]["strain_energy_j"], 1e-6, "energy")
    close_to(two["steps"][0]["error_estimate"], 2 * one["steps"][0]["error_estimate"], 1e-6, "estimate")


def test_mesh_is_relative_to_the_case_and_output_to_the_working_directory():
    os.makedirs("cases/meshes")
    os.makedirs("work")
    shutil.copy(SMALL, "cases/bar.yaml")
    shutil.copy(EXAMPLES / "meshes/two-materials.msh", "cases/meshes/two-materials.msh")
    run(words("../cases/bar.yaml", "--json", "copy.json", out="deep/er", refine__steps=0), cwd="work")
    check_results("work/deep/er", 1)
    assert pathlib.Path("work/copy.json").exists() and sorted(os.listdir(".")) == ["cases", "work"]
    assert sorted(os.listdir("cases")) == ["bar.yaml", "meshes"]


def test_names_with_spaces_and_umlauts():
    os.mkdir("Prüf stand")
    shutil.copy(SMALL, "Prüf stand/der Stab.yaml")
    os.mkdir("Prüf stand/meshes")
    shutil.copy(EXAMPLES / "meshes/two-materials.msh", "Prüf stand/meshes/two-materials.msh")
    run(words("Prüf stand/der Stab.yaml", out="Er gebnis", refine__steps=0))
    assert check_results("Er gebnis", 1)["case"]["path"].endswith("Prüf stand/der Stab.yaml")


def test_output_directory_that_is_a_link():
    os.mkdir("elsewhere")
    os.symlink("elsewhere", "out")
    solve(SMALL, refine__steps=0)
    check_results("elsewhere", 1)
    assert os.path.islink("out")


def test_another_user_without_home():
    program, case, user = for_another_user()
    os.chmod(".", 0o777)
    done = run([program, *words(case, refine__steps=1)[1:]], env=environment(HOME=None, XDG_RUNTIME_DIR=None), **user)
    assert done.stderr == "", done.stderr
    check_results("out", 2)


def test_empty_environment():
    keep = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    done = run(words(SMALL, refine__steps=1), env=keep)
    assert done.stderr == "", done.stderr
    check_results("out", 2)


def test_one_rank_under_mpirun():
    if shutil.which("mpirun") is None or command.SANITIZED:  # started so, Open MPI leaves memory in more libraries than leaks-of-others.txt names
        raise SystemExit(77)
    variables = environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    mpirun = ["mpirun", "--oversubscribe", "-n"]
    run([*mpirun, "1", *words(SMALL, refine__steps=0)], env=variables)
    check_results("out", 1)


def test_closed_standard_output():
    done = run(["sh", "-c", 'exec "$@" >&-', "sh", *words(SMALL, refine__steps=2)], 1)
    assert "standard output cannot be written" in done.stderr, done.stderr
    check_results("out", 3)
    solve(SMALL, refine__steps=2, out="open")
    for name, data in contents("open").items():  # nothing was printed into another file
        assert name == "run.json" or contents("out")[name] == data, name


def test_closed_standard_streams_when_quiet():
    run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words(SMALL, "--quiet", refine__steps=1)])
    check_results("out", 2)


def test_full_standard_output():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(words(SMALL, refine__steps=1), 1, stdout=full)
    assert "standard output cannot be written" in done.stderr, done.stderr
    check_results("out", 2)


def test_progress_without_a_terminal_is_plain_lines():
    # Without a preconditioner worth its name there is something to wait for.
    line = words(EXAMPLES / "drill-hole.yaml", refine__initial=2, refine__steps=0, solver__preconditioner="jacobi", solver__relative_residual="1e-11")
    done = run(line, env=environment(TERM="xterm"))
    assert "\r" not in done.stderr and "\033" not in done.stderr + done.stdout, done.stderr
    for text in done.stderr.splitlines():
        assert re.fullmatch(r"step 0: \d+ dofs, iteration \d+, relative residual \d\.\de[-+]\d+", text), text


def test_progress_on_a_terminal_is_one_line_that_is_cleared():
    check_progress(80)
    check_progress(20)  # a longer line would be left behind


def check_progress(columns):
    terminals.require()
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    line = words(EXAMPLES / "drill-hole.yaml", refine__steps=2)
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, env=environment(TERM="xterm"), text=True)
    os.close(slave)
    seen = b""
    while True:
        try:
            seen += os.read(master, 4096)
        except OSError:  # the last writer has closed it
            break
    output, _ = process.communicate(timeout=PATIENCE_S)
    os.close(master)
    assert process.returncode == 0 and "\033" not in output
    assert b"step 0: " in seen and b"\n" not in seen, seen
    assert seen.endswith(b"\r\033[K"), seen
    assert all(len(shown) < columns for shown in seen.split(b"\r\033[K")), seen
