"""What is prescribed: rigid motions in it change nothing, each body needs its own supports, and a case without a load is said to be one."""
import math
import pathlib

from command import close_to, record, run, vectors_close, words

SIDES = ("x0", "x1", "y0", "y1", "z0", "z1")


def write_mesh(path, *blocks):
    """MSH 2.2: blocks (counts, low, high) of hexahedra, each the volume "body" with the outer faces' groups SIDES; blocks share no nodes.

    A block may be given a prefix for the names of its groups."""
    nodes, elements, names = [], [], []
    for block, (counts, low, high, *prefix) in enumerate(blocks):
        prefix = prefix[0] if prefix else ""
        first, tags = len(nodes), 7 * block
        names += [f'3 {tags + 7} "{prefix}body"'] + [f'2 {tags + 1 + f} "{prefix}{side}"' for f, side in enumerate(SIDES)]

        def node(i, j, k):
            return first + 1 + i + (counts[0] + 1) * (j + (counts[1] + 1) * k)

        for k in range(counts[2] + 1):
            for j in range(counts[1] + 1):
                for i in range(counts[0] + 1):
                    nodes.append([low[a] + (high[a] - low[a]) * (i, j, k)[a] / counts[a] for a in range(3)])
        for k in range(counts[2]):
            for j in range(counts[1]):
                for i in range(counts[0]):
                    c = [node(i + a, j + b, k + d) for a, b, d in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))]
                    elements.append((5, tags + 7, c))
                    at = (i == 0, i == counts[0] - 1, j == 0, j == counts[1] - 1, k == 0, k == counts[2] - 1)
                    corners = ((0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4), (3, 2, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7))
                    elements += [(3, tags + 1 + f, [c[n] for n in corners[f]]) for f in range(6) if at[f]]
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(names)}\n" + "\n".join(names) + f"\n$EndPhysicalNames\n$Nodes\n{len(nodes)}\n")
        out.writelines(f"{n + 1} {x[0]!r} {x[1]!r} {x[2]!r}\n" for n, x in enumerate(nodes))
        out.write(f"$EndNodes\n$Elements\n{len(elements)}\n")
        out.writelines(f"{n + 1} {kind} 2 {tag} {tag} {' '.join(map(str, of))}\n" for n, (kind, tag, of) in enumerate(elements))
        out.write("$EndElements\n")


def case(boundary, materials='[{volume: body, youngs_modulus: 210e9, poisson_ratio: 0.3}]', more=""):
    """Writes a case on mesh.msh; returns its path."""
    pathlib.Path("case.yaml").write_text(f"mesh: mesh.msh\nmaterials: {materials}\nboundary: {boundary}\n{more}\n", encoding="utf-8")
    return "case.yaml"


def solved(path):
    """The record of a run, and what it said on standard error."""
    done = run(words(path))
    return record(), done.stderr


def compare(found, plain, shift, tolerance=1e-6):
    """The same strains, stresses and forces; displacements differ by shift(x)."""
    for key in ("strain_energy_j", "max_von_mises_pa"):
        close_to(found["steps"][-1][key], plain["steps"][-1][key], tolerance, key)
    for one, other in zip(found["reactions"], plain["reactions"], strict=True):
        vectors_close(one["force_n"], other["force_n"], tolerance, "reaction")
    for one, other in zip(found["probes"], plain["probes"], strict=True):
        vectors_close(one["stress"], other["stress"], tolerance, "stress")
        expected = [u + s for u, s in zip(other["displacement"], shift(one["x"]), strict=True)]
        vectors_close(one["displacement"], expected, tolerance, "displacement")


def test_offsets_change_nothing_but_displacements():
    write_mesh("mesh.msh", ([4] * 3, [0] * 3, [1] * 3))
    probes = "probes: [{name: tip, x: [1, 1, 1]}, {name: mid, x: [0.5, 0.3, 0.6]}]\nrefine: {steps: 1}"

    def offset(*u):
        return solved(case(f"[{{face: x0, displacement: {list(u)}}}, {{face: x1, traction: [1e4, 0, 0]}}]", more=probes))[0]

    plain = offset(0, 0, 0)
    for u in ([1, 0, 0], [-1000, 300, 7e-3]):
        found = offset(*u)
        compare(found, plain, lambda x, u=u: u)
        close_to(found["steps"][-1]["max_displacement_m"], math.hypot(*u), 1e-6, "largest displacement")


def test_offset_of_a_body_that_is_stretched():
    write_mesh("mesh.msh", ([3] * 3, [0] * 3, [1] * 3))
    probes = "probes: [{name: tip, x: [0.4, 1, 1]}]"

    def stretched(u):
        return solved(case(f"[{{face: x0, displacement: [{u}, {u}, 0]}}, {{face: x1, displacement: [{u + 2.0**-20}, {u}, 0]}}]", more=probes))[0]

    compare(stretched(64), stretched(0), lambda x: [64, 64, 0], 1e-5)


def test_prescribed_rotation_strains_nothing():
    """Points moved as a rotation by 1e-3 about z and an offset move them: with a load as without the rotation."""
    write_mesh("mesh.msh", ([2] * 3, [0] * 3, [1] * 3))
    lines = pathlib.Path("mesh.msh").read_text(encoding="utf-8").split("\n")
    points = {"a": (1, [0, 0, 0]), "b": (3, [1, 0, 0]), "c": (7, [0, 1, 0])}
    at = lines.index("$PhysicalNames") + 1
    lines[at:at + 1] = [str(7 + 3)] + [f'0 {20 + i} "{name}"' for i, name in enumerate(points)]
    at = lines.index("$Elements") + 1
    lines[at:at + 1] = [str(int(lines[at]) + 3)] + [f"{900 + i} 15 2 {20 + i} {20 + i} {node}" for i, (node, _) in enumerate(points.values())]
    pathlib.Path("mesh.msh").write_text("\n".join(lines), encoding="utf-8")
    free = {"a": (1, 1, 1), "b": (0, 1, 1), "c": (0, 0, 1)}  # 3-2-1: statically determinate

    def moved(shift):
        items = [f"{{point: {name}, displacement: [{', '.join(repr(shift(x)[i]) if free[name][i] else 'free' for i in range(3))}]}}"
                 for name, (_, x) in points.items()]
        return solved(case("[" + ", ".join(items) + ", {face: x1, traction: [0, 0, 1e4]}]", more="probes: [{name: tip, x: [1, 1, 1]}]"))[0]

    def motion(x):
        return [3 - 1e-3 * x[1], 4 + 1e-3 * x[0], -5.0]

    compare(moved(motion), moved(lambda x: [0.0, 0.0, 0.0]), motion)


def test_constant_temperature_hides_no_flux():
    write_mesh("mesh.msh", ([4] * 3, [0] * 3, [1] * 3))
    found, _ = solved(case("[{face: x0, value: 300}, {face: x1, flux: 1e-9}]", materials="[{volume: body, conductivity: 50}]",
                           more="problem: poisson\nprobes: [{name: end, x: [1, 0.5, 0.5]}]"))
    close_to(found["probes"][0]["gradient"][0], 1e-9 / 50, 1e-6, "gradient")
    close_to(found["probes"][0]["value"], 300, 1e-12, "value")
    close_to(found["reactions"][0]["flow"], -1e-9, 1e-6, "flow")


def warned(path, code=0):
    """What a run says on standard error."""
    return run(words(path), code=code).stderr


def test_nothing_that_loads_is_said():
    write_mesh("mesh.msh", ([2] * 3, [0] * 3, [1] * 3))
    for boundary, text in (("[{face: x0, displacement: [0, 0, 0]}]", "nothing loads the body: no load"),
                           ("[{face: x0, displacement: [5, 0, 0]}]", "moves it as a whole"),
                           ("[{face: x0, displacement: [0, 0, 0]}, {face: x1, traction: [0, 0, 0]}]", "nothing loads the body: no load"),
                           ("[{face: x0, displacement: [0, 0, 0]}, {face: x1, traction: [1e-165, 0, 0]}]", "below all numbers")):
        said = warned(case(boundary))
        assert text in said and any(text in warning for warning in record()["warnings"]), (boundary, said)
    assert "nothing" not in warned(case("[{face: x0, displacement: [0, 0, 0]}, {face: x1, traction: [1, 0, 0]}]"))


def test_bodies_apart_are_solved_together():
    """Two bars of different length, each with its own support: as each alone."""
    write_mesh("mesh.msh", ([2] * 3, [0] * 3, [1] * 3), ([3, 2, 2], [0, 5, 0], [3, 6, 1], "other-"))
    materials = "[{volume: body, youngs_modulus: 2e11, poisson_ratio: 0}, {volume: other-body, youngs_modulus: 1e11, poisson_ratio: 0}]"
    supports = "{face: x0, displacement: [0, 0, 0]}, {face: x1, traction: [1e6, 0, 0]}, {face: other-x1, traction: [1e6, 0, 0]}"
    probes = "probes: [{name: one, x: [1, 0.5, 0.5]}, {name: two, x: [3, 5.5, 0.5]}]"
    found, _ = solved(case(f"[{supports}, {{face: other-x0, displacement: [100, 0, 0]}}]", materials, probes))
    close_to(found["probes"][0]["displacement"][0], 1e6 / 2e11, 1e-6, "one")
    close_to(found["probes"][1]["displacement"][0] - 100, 3 * 1e6 / 1e11, 1e-6, "two")
    close_to(found["probes"][1]["stress"][0], 1e6, 1e-6, "stress of two")
    said = warned(case(f"[{supports}, {{face: other-x0, displacement: [0, free, 0]}}]", materials), code=2)
    for text in ("body 2 of 2", "'other-body'", "from (0, 5, 0) to (3, 6, 1)", "translation along y"):
        assert text in said, said
    assert "body 1" not in said, said


def test_bodies_that_touch_without_common_nodes_are_named():
    write_mesh("mesh.msh", ([2] * 3, [0] * 3, [1] * 3), ([2] * 3, [1, 0, 0], [2, 1, 1], "other-"))
    materials = "[{volume: body, youngs_modulus: 2e11, poisson_ratio: 0}, {volume: other-body, youngs_modulus: 1e11, poisson_ratio: 0}]"
    said = warned(case("[{face: x0, displacement: [0, 0, 0]}, {face: other-x1, traction: [1, 0, 0]}]", materials), code=2)
    for text in ("merge duplicate nodes", "body 2 of 2", "rigid"):
        assert text in said, said
    said = warned(case("[{face: x0, displacement: [0, 0, 0]}, {face: other-x1, displacement: [1, 0, 0]}, {face: x1, pressure: 1}]", materials))
    assert "9 nodes lie where another one lies" in said, said


def test_thin_plate_is_constrained_by_its_edge():
    write_mesh("mesh.msh", ([2, 2, 1], [0, 0, 0], [1, 1, 1e-6]))
    path = case("[{face: x0, displacement: [0, 0, 0]}, {face: x1, traction: [1, 0, 0]}]")
    run([*words(path), "--check"])
    said = run([*words(case("[{face: x0, displacement: [0, 0, free]}, {face: x1, traction: [1, 0, 0]}]")), "--check"], code=2).stderr
    assert "rigid" in said and "translation along z" in said, said


def test_locking_is_said_with_the_verdict_of_the_estimate():
    write_mesh("mesh.msh", ([2] * 3, [0] * 3, [1] * 3))
    boundary = "[{face: x0, displacement: [0, 0, 0]}, {face: x1, traction: [1e4, 0, 0]}]"
    for ratio, expected in ((0.48, False), (0.4999, True)):
        found, said = solved(case(boundary, f"[{{volume: body, youngs_modulus: 210e9, poisson_ratio: {ratio}}}]"))
        assert ("lock" in said) == expected == any("lock" in warning and "refine" in warning for warning in found["warnings"]), said
