"""--check: what is told of a case before anything is solved."""
import math
import os
import pathlib
import re

from command import EXAMPLES, close_to, run, solve, words

NUMBER = r"-?\d+\.?\d*(?:e[-+]\d+)?"


def inspect(case, *options, **keys):
    return run(words(case, "--check", *options, **keys)).stdout


def test_beam_has_its_size_mass_and_weight():
    text = inspect(EXAMPLES / "cantilever.yaml")
    assert "bounding box   (0, 0, 0) to (1, 0.1, 0.1) m\n" in text
    volume, mass = (float(word) for word in re.search(rf"volume beam +({NUMBER}) m3, mass ({NUMBER}) kg", text).groups())
    close_to(volume, 0.01, 1e-9, "volume")
    close_to(mass, 78.5, 1e-6, "mass")
    for face in ("clamped", "tip"):
        close_to(float(re.search(rf"face +{face} +({NUMBER}) m2", text)[1]), 0.01, 1e-9, face)
    force = [float(w) for w in re.search(rf"force \(({NUMBER}), ({NUMBER}), ({NUMBER})\) N", text).groups()]
    moment = [float(w) for w in re.search(rf"origin \(({NUMBER}), ({NUMBER}), ({NUMBER})\) N m", text).groups()]
    weight = 78.5 * 9.81
    close_to(force[2], -(1000 + weight), 1e-5, "force along z")
    close_to(moment[1], 1000 + weight / 2, 1e-5, "moment about y")
    assert max(abs(force[0]), abs(force[1]), abs(moment[2])) < 1e-9 and "GB of memory" in text and text.splitlines()[-1].endswith("case and mesh are valid")
    assert not os.path.exists("out")


def test_round_body_has_its_areas_and_the_load_that_is_solved_with():
    """A quarter of a tube, radii 1 and 2, and length 0.5; second-order arcs of 11.25 degrees are right to 1e-5."""
    text = inspect(EXAMPLES / "lame.yaml")
    length = float(re.search(rf"to \({NUMBER}, {NUMBER}, ({NUMBER})\) m", text)[1])
    close_to(float(re.search(rf"volume wall +({NUMBER})", text)[1]), math.pi / 4 * 3 * length, 1e-5, "volume")
    close_to(float(re.search(rf"face +inner +({NUMBER})", text)[1]), math.pi / 2 * length, 1e-5, "inner face")
    close_to(float(re.search(rf"face +top +({NUMBER})", text)[1]), math.pi / 4 * 3, 1e-5, "top")
    force = [float(w) for w in re.search(rf"force \(({NUMBER}), ({NUMBER}), ({NUMBER})\)", text).groups()]
    close_to(force[0], 100e6 * length, 1e-6, "pressure on the projected area")
    loads = solve(EXAMPLES / "lame.yaml", refine__steps=0)["loads"]["force_n"]
    close_to(force[1], loads[1], 1e-5, "the load that is solved with")


def test_total_force_and_heat_are_what_the_case_says():
    text = (EXAMPLES / "cantilever.yaml").read_text(encoding="utf-8").replace("units: m-N-Pa\n", "").replace("meshes/", f"{EXAMPLES}/meshes/")
    text = re.sub(r"traction: \[[^]]*\]", "force: [0, 300, 0]", text).replace("gravity:", "#")
    pathlib.Path("bare.yaml").write_text(text, encoding="utf-8")
    found = inspect("bare.yaml")
    force = [float(w) for w in re.search(rf"force \(({NUMBER}), ({NUMBER}), ({NUMBER})\), moment", found).groups()]
    close_to(force[1], 300, 1e-5, "the force")
    assert not re.search(r"\b(m2|m3|kg|N)\b", found), found
    close_to(float(re.search(rf"total load +({NUMBER}) W", inspect(EXAMPLES / "fichera.yaml"))[1]), 7, 1e-5, "heat")
    assert inspect(EXAMPLES / "fichera.yaml", "--quiet") == ""


def test_each_material_has_its_volume():
    text = inspect(EXAMPLES / "two-materials.yaml")
    steel, aluminium, whole = (float(re.search(rf"volume {re.escape(name)} +({NUMBER}) m3", text)[1]) for name in ("steel", "aluminium", "(all)"))
    box = [float(w) for w in re.search(rf"to \(({NUMBER}), ({NUMBER}), ({NUMBER})\)", text).groups()]
    close_to(steel, 0.5 * box[1] * box[2], 1e-6, "steel")
    close_to(aluminium, 0.5 * box[1] * box[2], 1e-6, "aluminium")
    close_to(whole, box[0] * box[1] * box[2], 1e-6, "all")
    assert "mass" not in text
