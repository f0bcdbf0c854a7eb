"""Bad input through the command line: exit code 2, a message that names the place and what exists, and nothing written."""
import os
import pathlib
import resource
import signal
import subprocess

import command
from command import EXAMPLES, SMALL, contents, environment, fill_disk, for_another_user, record, run, solve, words

CASE = """\
mesh: {mesh}
materials:
  - {{volume: steel, youngs_modulus: {modulus}, poisson_ratio: 0.3}}
  - {{volume: aluminium, youngs_modulus: 70e9, poisson_ratio: 0.34}}
boundary:
  - {{face: {face}, displacement: [0, 0, 0]}}
  - {{face: loaded, traction: [1e6, 0, 0]}}
probes:
  - {{name: inside, x: {x}}}
{more}"""


def write_case(mesh=EXAMPLES / "meshes/two-materials.msh", modulus="210e9", face="clamped", x="[0.5, 0.1, 0.1]", more=""):
    pathlib.Path("case.yaml").write_text(CASE.format(mesh=mesh, modulus=modulus, face=face, x=x, more=more), encoding="utf-8")
    return "case.yaml"


def refuse(line, *expected, code=2, **more):
    """Runs a command line that must be refused: every expected text is in the message, and no file is written."""
    before = sorted(os.walk("."))
    done = run(line, code, **more)
    assert done.stdout == "", f"standard output: {done.stdout}"
    assert done.stderr.startswith("yoke fem: error: ") and done.stderr.count("\n") == 1, done.stderr
    for text in expected:
        assert text in done.stderr, f"{text!r} is not in: {done.stderr}"
    assert sorted(os.walk(".")) == before, f"files were written: {sorted(os.walk('.'))}"
    print(done.stderr, end="")


def test_a_good_case_is_the_ground_on_which_the_bad_ones_stand():
    solve(write_case())


def test_missing_case_file():
    refuse(words("nothing.yaml"), "nothing.yaml", "No such file or directory")


def test_case_file_is_a_directory():
    os.mkdir("directory")
    refuse(words("directory"), "directory")


def test_mesh_or_cad_file_instead_of_a_case():
    for name in (str(EXAMPLES / "meshes/two-materials.msh"), "wing.STEP", "plate.geo"):
        refuse([command.PROGRAM, "fem", name], f"{name} is a mesh or a CAD file by its name; yoke fem takes a case")


def test_no_case_file_at_all():
    refuse([command.PROGRAM, "fem"], "an argument is missing", "usage: yoke fem CASE")


def test_two_case_files():
    refuse(words(SMALL, str(SMALL)), "unexpected argument")


def test_mistyped_key():
    refuse(words(write_case(more="elemnt: q1\n")), "case.yaml:10:1", "elemnt", "element, materials, boundary", "did you mean 'element'?")


def test_missing_mesh():
    refuse(words(write_case(mesh="nothing.msh")), "nothing.msh", "No such file or directory")


def test_truncated_mesh():
    whole = (EXAMPLES / "meshes/two-materials.msh").read_bytes()
    for part in (0.02, 0.3, 0.7, 0.97):
        pathlib.Path("cut.msh").write_bytes(whole[: int(part * len(whole))])
        refuse(words(write_case(mesh="cut.msh")), "cut.msh")


def test_mesh_that_is_none():
    pathlib.Path("script.msh").write_text('SystemCall "touch gotcha";\n', encoding="utf-8")
    refuse(words(write_case(mesh="script.msh")), "script.msh")


def test_mesh_that_is_a_script_of_gmsh():
    pathlib.Path("script.geo").write_text('SystemCall "touch gotcha";\n', encoding="utf-8")
    refuse(words(write_case(mesh="script.geo")), "script.geo", "msh")


def test_unknown_group():
    refuse(words(write_case(face="clmped")), "case.yaml:6:", "clmped", "clamped, ", "did you mean 'clamped'?")


def test_free_body():
    refuse(words(write_case(), "--set", "boundary.0.displacement=[0, free, free]"), "rigid", "rotation about", "translation along")


def test_probe_outside():
    refuse(words(write_case(x="[2, 0, 0]")), "case.yaml:9:", '"inside"', "(2, 0, 0)", "nearest point is (1, 0, 0)")


def test_probe_outside_is_found_by_check():
    refuse(words(write_case(x="[2, 0, 0]"), "--check"), "case.yaml:9:", "outside the body")


def test_second_probe_outside_is_the_one_that_is_named():
    more = "  - {name: far, x: [0.5, 9, 0]}\n  - {name: farther, x: [0.5, 99, 0]}\n"
    refuse(words(write_case(more=more)), "case.yaml:10:", '"far"')


def test_numbers_that_are_none():
    for text in ("nan", ".nan", "inf", "1e999", "210e9abc", "0x10", "''"):
        refuse(words(write_case(modulus=text)), "case.yaml:3:", "youngs_modulus")


def test_set_that_is_no_pair():
    refuse(words(SMALL, "--set", "refine.steps"), "--set refine.steps")


def test_set_of_an_unknown_key():
    refuse(words(SMALL, "--set", "refine.stps=3"), "--set refine.stps=3", "did you mean 'steps'?")


def test_set_of_a_wrong_value():
    refuse(words(SMALL, "--set", "refine.steps=many"), "--set refine.steps=many")
    refuse(words(SMALL, "--set", "refine.steps=-1"), "--set refine.steps=-1")
    refuse(words(SMALL, "--set", "element=q3"), "--set element=q3", "q1, s2, q2")


def test_set_of_an_item_that_is_not_there():
    refuse(words(SMALL, "--set", "materials[7].density=1"), "materials[7]")


def test_unknown_option():
    refuse(words(SMALL, "--frobnicate"), "unknown option --frobnicate")
    refuse(words(SMALL, "--chek"), "did you mean --check?")


def test_wrong_operator():
    refuse(words(SMALL, "--operator", "assembled"), "assembled", "matrixfree, stored")


def test_wrong_number_of_threads():
    for number in ("0", "-1", "two", "99999"):
        refuse(words(SMALL, "--threads", number), f"--threads {number}")


def test_output_directory_below_a_file():
    pathlib.Path("file").write_text("a file", encoding="utf-8")
    refuse(words(SMALL, out="file/below"), "file/below")
    refuse(words(SMALL, out="file"), "not a directory")


def test_output_directory_that_cannot_be_made():
    refuse(words(SMALL, out="/proc/here"), "/proc/here")


def test_output_directory_of_somebody_else():
    os.mkdir("closed", 0o555)
    program, case, user = for_another_user()
    refuse([program, *words(case, out="closed")[1:]], "closed", "not writable", **user)
    refuse([program, *words(case, out="closed/below")[1:]], "closed/below", "not writable", **user)


def test_copy_of_the_record_that_cannot_be_written():
    refuse(words(SMALL, "--json", "no/such/copy.json"), "no/such/copy.json cannot be written")
    refuse(words(SMALL, "--json", "."), "cannot be written: Is a directory")
    refuse(words(SMALL, "--json", ""), "empty")


def test_nothing_is_written_over_the_case_or_another_result():
    case = pathlib.Path(write_case())
    before = case.read_bytes()
    refuse(words(case, "--json", case), "CASE and --json both name")
    refuse(words(case, "--store", "s.json", "--write-model", "s.json"), "--store and --write-model both name s.json: give different files")
    assert case.read_bytes() == before


def test_more_elements_than_memory():
    refuse(words(SMALL, refine__initial=9), "refine.initial", "memory", "refine less")


def test_refused_run_leaves_an_earlier_run_whole():
    before = fill_disk("out")
    refuse(words(SMALL, "--set", "element=q3"), "q3")
    refuse(words(write_case(x="[2, 0, 0]")), "outside")
    assert contents("out") == before


# ------------------------------------------------------------------------------------------ failures while running


def test_solver_that_does_not_converge():
    before = fill_disk("out")
    done = run(words(SMALL, solver__max_iterations=1, solver__preconditioner="jacobi"), 1)
    assert "not converged" in done.stderr and "solver.max_iterations" in done.stderr, done.stderr
    assert contents("out") == before


def limit_file_size(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_file_too_large_leaves_an_earlier_run_whole():
    before = fill_disk("out")
    done = run(words(SMALL), 1, preexec_fn=limit_file_size(20000))
    assert "step-00.vtu could not be written" in done.stderr, done.stderr
    assert contents("out") == before


def test_file_too_large_after_some_steps_leaves_these():
    solve(SMALL, refine__steps=2, out="whole")
    sizes = [os.path.getsize(f"whole/step-0{step}.vtu") for step in range(3)]
    done = run(words(SMALL, refine__steps=2), 1, preexec_fn=limit_file_size((sizes[1] + sizes[2]) // 2))
    assert "step-02.vtu could not be written" in done.stderr, done.stderr
    found = command.check_results("out", 2)
    assert found["stopped_by"] is None


def test_full_disk():
    """A file system of 200 KiB, in a mount namespace of its own: where that is not allowed, left out."""
    os.mkdir("out")
    mount = 'mount -t tmpfs -o size=200k none out && exec "$@"'
    inside = ["unshare", "--user", "--map-root-user", "--mount"] if os.geteuid() else ["unshare", "--mount"]
    try:
        tried = subprocess.run([*inside, "sh", "-c", mount, "sh", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        raise SystemExit(77) from None
    if tried.returncode != 0:
        print(tried.stderr.decode())
        raise SystemExit(77)
    # After the run, whatever its exit code, the files are copied out of the namespace.
    keep = 'mount -t tmpfs -o size=200k none out && { "$@"; code=$?; cp -a out kept; exit $code; }'
    done = run([*inside, "sh", "-c", keep, "sh", *words(SMALL, refine__steps=4)], 1)
    assert "could not be written" in done.stderr, done.stderr
    found = command.check_results("kept")
    assert found["stopped_by"] is None and 1 <= len(found["steps"]) < 5


HEAT = """\
mesh: {mesh}
problem: poisson
materials:
  - {{volume: steel, conductivity: 50}}
  - {{volume: aluminium, conductivity: 200}}
boundary:
  - {{face: clamped, value: 20}}
  - {{face: loaded, heat: 100}}
{more}"""


def write_heated(heat="heat.yaml", mesh=EXAMPLES / "meshes/two-materials.msh", more=""):
    """A case whose temperature comes from another one."""
    pathlib.Path("heat.yaml").write_text(HEAT.format(mesh=mesh, more=more), encoding="utf-8")
    case = CASE.replace("poisson_ratio: 0.3}}", "poisson_ratio: 0.3, thermal_expansion: 12e-6}}").replace("0.34}}", "0.34, thermal_expansion: 23e-6}}")
    text = case.format(mesh=EXAMPLES / "meshes/two-materials.msh", modulus="210e9", face="clamped", x="[0.5, 0.1, 0.1]", more=f"temperature: {{case: {heat}}}\n")
    pathlib.Path("case.yaml").write_text(text, encoding="utf-8")
    return "case.yaml"


def test_other_files_in_the_place_of_results():
    for option in "--json", "--write-model", "--store":
        for name in "step-00.vtu", "summary.txt", "checkpoint-3.bin", "./series.pvd":
            refuse(words(SMALL, option, f"out/{name}", out="./out"), f"{option}: out/{name} has the name and place of a file of this run's results")
    refuse(words(SMALL, "--write-model", "probes.csv", out="."), "--write-model: probes.csv has the name and place")
    solve(SMALL, "--write-model", "model.json", refine__steps=0)
    solve(SMALL, "--json", "out/run.json", refine__steps=0)
    solve(SMALL, "--json", "run.json", out=".", refine__steps=0)
    os.rename(write_case(), "run.json")
    refuse(words("run.json", out="."), "CASE: run.json has the name and place")
    case = write_heated(more="output: {directory: heat}\n")
    os.mkdir("heat")
    for name in "heat/summary.txt", "heat/run.json":
        refuse(words(case, "--json", name), f"--json: {name} has the name and place")


def test_heat_case_that_is_good_is_the_ground_of_the_bad_ones():
    solve(write_heated(), out="result")


def test_heat_case_that_is_missing():
    refuse(words(write_heated("nothing.yaml")), "nothing.yaml", "No such file or directory")


def test_heat_case_with_an_error_of_its_own():
    refuse(words(write_heated(more="elemnt: q1\n")), "heat.yaml:9:1", "elemnt")


def test_heat_case_that_is_no_heat_case():
    refuse(words(write_heated("case.yaml")), "case.yaml:10:21", "is no heat case; its problem must be poisson")


def test_heat_case_with_another_mesh():
    refuse(words(write_heated(mesh=EXAMPLES / "meshes/lame.msh")), "case.yaml:10:21", "heat.yaml has another mesh", "lame.msh")


def test_heat_case_with_the_same_output_directory():
    refuse(words(write_heated(more="output: {directory: here}\n"), output__directory="here"), "case.yaml:10:21", "writes its results into here")


def test_heat_case_with_the_same_output_directory_in_other_words():
    case = write_heated(more="output: {directory: new/here}\n")
    for same in ("./new/here", "new//here/", f"{os.getcwd()}/new/./here"):
        refuse(words(case, out=same), "case.yaml:10:21", "writes its results into", "give one of them another")
    os.mkdir("new")
    os.symlink("new", "link")
    refuse(words(case, out="link/here"), "case.yaml:10:21", "writes its results into", "give one of them another")
    assert not os.listdir("new")
