"""Meshes of tetrahedra, which are split into hexahedra: the patch test, a curved body against its exact solution, units of length."""
import itertools
import math
import pathlib
import random

from command import PROGRAM, close_to, environment, probe, record, run, solve, vectors_close, words

YOUNG, POISSON = 210e9, 0.3


def block(path, cells, order, place):
    """A block of cells of six tetrahedra each, whose nodes lie where `place` takes the points (i, j, k) of the grid of half cells."""
    size = [2 * n + 1 for n in cells]

    def number(at):
        return 1 + at[0] + size[0] * (at[1] + size[1] * at[2])

    def nodes(corners, pairs):
        middles = [tuple((a + b) // 2 for a, b in zip(corners[i], corners[j])) for i, j in pairs]
        return " ".join(str(number(at)) for at in [*corners, *(middles if order == 2 else [])])

    elements = []
    for cell in itertools.product(*map(range, cells)):
        for axes in itertools.permutations(range(3)):
            corners = [tuple(2 * c for c in cell)]
            for axis in axes:
                corners.append(tuple(c + 2 * (a == axis) for a, c in enumerate(corners[-1])))
            if axes in ((1, 0, 2), (0, 2, 1), (2, 1, 0)):
                corners[1], corners[2] = corners[2], corners[1]
            elements.append(f"{4 if order == 1 else 11} 2 1 1 " + nodes(corners, [(0, 1), (1, 2), (2, 0), (3, 0), (2, 3), (1, 3)]))
            for group, (axis, end) in enumerate(itertools.product(range(3), (0, 1))):
                face = [c for c in corners if c[axis] == end * 2 * cells[axis]]
                if len(face) == 3:
                    elements.append(f"{2 if order == 1 else 9} 2 {group + 2} {group + 1} " + nodes(face, [(0, 1), (1, 2), (2, 0)]))
    names = ["3 1 body", *(f"2 {group + 2} {name}" for group, name in enumerate(("x0", "x1", "y0", "y1", "z0", "z1")))]
    text = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "7"]
    text += ['{} {} "{}"'.format(*name.split()) for name in names]
    text += ["$EndPhysicalNames", "$Nodes", str(math.prod(size))]
    for k, j, i in itertools.product(*map(range, reversed(size))):
        text.append("{} {:.17g} {:.17g} {:.17g}".format(number((i, j, k)), *place(i, j, k)))
    text += ["$EndNodes", "$Elements", str(len(elements)), *(f"{n + 1} {element}" for n, element in enumerate(elements)), "$EndElements"]
    pathlib.Path(path).write_text("\n".join(text) + "\n", encoding="utf-8")
    return len([element for element in elements if element.split()[0] in ("4", "11")])


def box(path, order):
    """1 x 1 x 1 in 2 x 2 x 2 cells; inside no two tetrahedra are alike, and those of second order are curved."""
    moved = random.Random(7)

    def place(i, j, k):
        at = [i / 4, j / 4, k / 4]
        inside = 0 < min(i, j, k) and max(i, j, k) < 4
        return [x + moved.uniform(-0.04, 0.04) * inside for x in at]

    return block(path, (2, 2, 2), order, place)


TENSION = f"""
mesh: box.msh
materials: [{{volume: body, youngs_modulus: {YOUNG}, poisson_ratio: {POISSON}}}]
boundary:
  - {{face: x0, displacement: [0, free, free]}}
  - {{face: y0, displacement: [free, 0, free]}}
  - {{face: z0, displacement: [free, free, 0]}}
  - {{face: x1, traction: [1e6, 0, 0]}}
solver: {{relative_residual: 1e-13}}
probes: [{{name: a, x: [1, 1, 1]}}, {{name: b, x: [0.3, 0.6, 0.45]}}, {{name: c, x: [0.7, 0.2, 0.9]}}]
"""


def check_patch(order):
    box("box.msh", order)
    pathlib.Path("case.yaml").write_text(TENSION, encoding="utf-8")
    for element in ("q1", "s2", "q2"):
        found = solve("case.yaml", element=element, refine__steps=int(element == "s2"))
        for point in found["probes"]:
            x, strain = point["x"], 1e6 / YOUNG
            vectors_close(point["displacement"], [strain * x[0], -POISSON * strain * x[1], -POISSON * strain * x[2]], 1e-9, element)
            vectors_close(point["stress"], [1e6, 0, 0, 0, 0, 0], 1e-8, element)


def test_linear_displacement_on_straight_tetrahedra():
    check_patch(1)


def test_linear_displacement_on_curved_tetrahedra():
    check_patch(2)


def test_lame_cylinder_of_curved_tetrahedra():
    """G. Lame: radii 1 and 2, inner pressure, plane strain; nodes on the true surface."""
    def place(i, j, k):
        r, angle = 1 + i / 6, math.pi / 2 * j / 16
        return [r * math.cos(angle), r * math.sin(angle), k / 8]

    block("ring.msh", (3, 8, 1), 2, place)
    pathlib.Path("case.yaml").write_text(f"""
mesh: ring.msh
materials: [{{volume: body, youngs_modulus: {YOUNG}, poisson_ratio: {POISSON}}}]
boundary:
  - {{face: y0, displacement: [free, 0, free]}}
  - {{face: y1, displacement: [0, free, free]}}
  - {{face: z0, displacement: [free, free, 0]}}
  - {{face: z1, displacement: [free, free, 0]}}
  - {{face: x0, pressure: 100e6}}
probes: [{{name: inner, x: [0.6, 0.8, 0.1]}}, {{name: middle, x: [0.9, 1.2, 0.1]}}, {{name: outer, x: [1.2, 1.6, 0.1]}}]
""", encoding="utf-8")
    for element in ("q2", "s2"):
        found = solve("case.yaml", element=element)
        for point in found["probes"]:
            r, k = math.hypot(*point["x"][:2]), 100e6 / 3
            u = (1 + POISSON) / YOUNG * k * ((1 - 2 * POISSON) * r + 4 / r)
            close_to(math.hypot(*point["displacement"][:2]), u, 1e-3, f"{element}, {point['name']}: displacement")
            close_to(point["stress"][0] + point["stress"][1], 2 * k, 1e-2, f"{element}, {point['name']}: sum of stresses")


def test_one_line_says_what_is_split():
    tetrahedra = box("box.msh", 1)
    pathlib.Path("case.yaml").write_text(TENSION, encoding="utf-8")
    done = run(words("case.yaml", "--check"))
    assert f"box.msh: tetrahedra: each of the {tetrahedra} is split into four hexahedra\n" in done.stderr, done.stderr
    assert f"{4 * tetrahedra} hexahedra of order 1" in done.stdout, done.stdout
    assert "worst shape: 0." in done.stdout, done.stdout


def test_a_mesh_in_millimetres():
    """The same body in another unit of length gives the same answer."""
    tetrahedra = box("box.msh", 2)
    pathlib.Path("case.yaml").write_text(TENSION, encoding="utf-8")
    metres = solve("case.yaml")
    assert metres["mesh"]["split"] == [{"kind": "tetrahedra", "elements": tetrahedra, "hexahedra": 4 * tetrahedra}]
    assert metres["mesh"]["hexahedra"] == metres["steps"][0]["elements"] == 4 * tetrahedra and metres["mesh"]["order"] == 2
    assert metres["case"]["mesh_scale"] is None
    lines = pathlib.Path("box.msh").read_text(encoding="utf-8").splitlines()
    first = lines.index("$Nodes") + 2
    for n in range(first, lines.index("$EndNodes")):
        number, *x = lines[n].split()
        lines[n] = " ".join([number, *(f"{1000 * float(value):.17g}" for value in x)])
    pathlib.Path("box.msh").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scaled = solve("case.yaml", mesh_scale=0.001)
    assert scaled["case"]["mesh_scale"] == 0.001 and scaled["mesh"]["split"] == metres["mesh"]["split"]
    for point in metres["probes"]:
        vectors_close(probe(scaled, point["name"])["displacement"], point["displacement"], 1e-9, point["name"])
    line = [PROGRAM, "fem", "case.yaml", "--check", "--set", "mesh_scale=0.001", "--set", "probes.0.x=[1000, 1000, 1000]"]
    assert "outside" in run(line, 2, env=environment()).stderr
    assert record()["case"]["mesh"].endswith("box.msh")
