"""The end of a run: summary.txt and the closing table, probes.csv, the warning of a singularity."""
import csv
import pathlib
import re

from command import EXAMPLES, SMALL, close_to, record, run, solve, words

NUMBER = r"[-+]?\d\.\d+e[-+]\d+"


def summary(out="out"):
    return pathlib.Path(out, "summary.txt").read_text(encoding="utf-8")


def row(text, name):
    """The numbers of a row."""
    (line,) = [line for line in text.splitlines() if line.startswith(name + " ")]
    return [float(word) for word in re.findall(NUMBER, line[len(name) :])]


def test_forces_of_the_cantilever_are_those_of_statics():
    done = run(words(EXAMPLES / "cantilever.yaml", refine__steps=2, solver__relative_residual=1e-10))
    text = summary()
    assert done.stdout.endswith("\n" + text) and "stopped by: steps; results in out\n\n" in done.stdout
    tip, weight = 1e5 * 0.01, 7850 * 9.81 * 0.01 * 1.0
    loads, supports = row(text, "all loads"), row(text, "all supports")
    for values, sign in ((loads, 1), (supports, -1), (row(text, "clamped"), -1)):
        close_to(values[2], -sign * (tip + weight), 1e-4, "force along z")
        close_to(values[4], sign * (tip * 1.0 + weight * 0.5), 1e-4, "moment about y")
        close_to(values[3], -sign * (tip + weight) * 0.05, 1e-4, "moment about x")
        assert max(abs(values[0]), abs(values[1]), abs(values[5])) < 1e-6
    assert all(0 <= off < 1e-7 for off in row(text, "difference"))
    step = record()["steps"][-1]
    for name, key, place in (("largest displacement", "max_displacement_m", "max_displacement"), ("largest von Mises stress", "max_von_mises_pa", "max_von_mises"),
                             ("largest principal stress", "max_principal_pa", "max_principal"), ("smallest principal stress", "min_principal_pa", "min_principal")):
        close_to(row(text, name)[0], step[key], 1e-5, name)
        (line,) = [line for line in text.splitlines() if line.startswith(name)]
        found = [float(word) for word in line[line.index("(") + 1 : line.index(")")].split(",")]
        assert all(abs(a - b) < 1e-4 for a, b in zip(found, step["places"][place])), line
        assert (" Pa " if "stress" in name else " m ") in line
    close_to(row(text, "tip")[2], record()["probes"][0]["displacement"][2], 1e-5, "the probe")
    assert f"{step['elements']} elements, {step['dofs']} dofs" in text and "of the energy norm" in text


def test_flows_of_a_heated_body():
    """A cube that lacks an octant, of volume 7, gives off 1 W/m3: all of it leaves through the surface."""
    solve(EXAMPLES / "fichera.yaml", refine__steps=3)
    text = summary()
    close_to(row(text, "sources and fluxes")[0], 7, 1e-9, "what is given off")
    close_to(row(text, "all of these")[0], -7, 1e-6, "what leaves")
    assert row(text, "difference")[0] < 1e-6 and "von Mises" not in text and " K/m " in text and "value" in text


def test_without_units_none_is_printed():
    text = (EXAMPLES / "cantilever.yaml").read_text(encoding="utf-8").replace("units: m-N-Pa\n", "").replace("meshes/", f"{EXAMPLES}/meshes/")
    pathlib.Path("bare.yaml").write_text(text, encoding="utf-8")
    done = run(words("bare.yaml", refine__steps=0))
    assert not re.search(r"\b(Pa|MPa|N|J|mm)\b|\d m\b", done.stdout), done.stdout
    assert "(" not in pathlib.Path("out/probes.csv").read_text(encoding="utf-8")


def test_quiet_run_prints_no_summary_and_writes_it():
    done = run(words(SMALL, "--quiet", refine__steps=0))
    assert done.stdout == "" and "all supports" in summary()


def test_probes_have_a_row_for_each_step():
    probes = '[{name: "a, \\"b\\"", x: [0.25, 0.1, 0.1]}, {name: c, x: [0.75, 0.1, 0.1]}]'
    found = solve(SMALL, refine__steps=2, probes=probes)
    with open("out/probes.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[:6] == ["step", "dofs", "probe", "x (m)", "y (m)", "z (m)"] and "von_mises (Pa)" in head
    assert [(int(r[0]), r[2]) for r in rows] == [(step, name) for step in range(3) for name in ('a, "b"', "c")]
    for r, probe in zip(rows[-2:], found["probes"], strict=True):
        expected = [*probe["x"], *probe["displacement"], *probe["stress"], probe["von_mises"], *probe["principal"]]
        assert [float(value) for value in r[3:]] == expected and int(r[1]) == found["steps"][-1]["dofs"]
    solve(SMALL, refine__steps=0, probes="[]")
    assert not pathlib.Path("out/probes.csv").exists()


CORNER = """mesh: {mesh}
units: m-N-Pa
materials: [{{volume: body, youngs_modulus: 210e9, poisson_ratio: 0.3}}]
boundary:
  - {{face: z-min, displacement: [free, free, 0]}}
  - {{face: x-min, displacement: [0, free, free]}}
  - {{face: y-min, displacement: [free, 0, free]}}
  - {{face: z-max, traction: [0, 0, 1e6]}}
"""


def test_singular_corners_are_warned_of():
    """Fichera's corner between rollers, and the rim of a clamped end: the exact stress is infinite."""
    pathlib.Path("corner.yaml").write_text(CORNER.format(mesh=EXAMPLES / "meshes/fichera.msh"), encoding="utf-8")
    for case, place, refine in (("corner.yaml", "a re-entrant edge or corner", 6), (EXAMPLES / "cantilever.yaml", "the rim of a support", 6)):
        done = run(words(case, refine__steps=refine, refine__fraction=0.5))
        (warning,) = record()["warnings"]
        assert f"beside {place}" in warning and "probably a singularity, not a result" in warning, warning
        assert warning in summary() and warning in done.stdout
        assert re.search(r"by (1\d|2\d|3\d|4\d|5\d) % each time", warning), warning
    done = run(words(EXAMPLES / "cantilever.yaml", "--quiet", refine__steps=6, refine__fraction=0.5))
    assert "warning: the maximum of von Mises' stress grows" in done.stderr


def test_smooth_stresses_are_not_warned_of():
    for case in ("lame", "drill-hole", "plate-with-hole"):
        for element in ("q1", "q2"):
            found = solve(EXAMPLES / f"{case}.yaml", element=element, refine__steps=5, refine__max_elements=4000)
            assert found["warnings"] == [] and "warning" not in summary(), (case, element, found["warnings"])
