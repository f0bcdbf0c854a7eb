"""The shipped examples against exact solutions, as a user would run them."""
import math
import pathlib

from command import EXAMPLES, close_to, probe, record, solve, vectors_close

YOUNG, POISSON = 210e9, 0.3


def rotated(x, along, across, axial):
    """The stress (xx, yy, zz, yz, xz, xy) at x with value `along` in the direction of (x, y), `across` it in the plane, and `axial` in z."""
    c, s = x[0] / math.hypot(x[0], x[1]), x[1] / math.hypot(x[0], x[1])
    return [along * c * c + across * s * s, along * s * s + across * c * c, axial, 0, 0, (along - across) * c * s]


def von_mises(s):
    return math.sqrt(((s[0] - s[1]) ** 2 + (s[1] - s[2]) ** 2 + (s[2] - s[0]) ** 2) / 2 + 3 * (s[3] ** 2 + s[4] ** 2 + s[5] ** 2))


def check_probes(found, exact):
    """exact(x) gives displacement and stress: 0.1 % of the displacement, 1 % of the stress, of the largest component."""
    assert found["probes"]
    for point in found["probes"]:
        displacement, stress = exact(point["x"])
        vectors_close(point["displacement"], displacement, 1e-3, f"{point['name']}: displacement")
        vectors_close(point["stress"], stress, 1e-2, f"{point['name']}: stress")
        close_to(point["von_mises"], von_mises(stress), 1e-2, f"{point['name']}: von Mises")
        close_to(point["von_mises"], von_mises(point["stress"]), 1e-12, f"{point['name']}: von Mises of its stress")


def lame(x):
    """G. Lame: thick-walled cylinder under inner pressure, plane strain."""
    a, b, p = 1.0, 2.0, 100e6
    r, k = math.hypot(x[0], x[1]), p * a**2 / (b**2 - a**2)
    u = (1 + POISSON) / YOUNG * k * ((1 - 2 * POISSON) * r + b**2 / r)
    return [u * x[0] / r, u * x[1] / r, 0], rotated(x, k * (1 - b**2 / r**2), k * (1 + b**2 / r**2), 2 * POISSON * k)


def test_lame_cylinder_q2():
    found = solve(EXAMPLES / "lame.yaml")
    check_probes(found, lame)
    # The values that the comments of the file name.
    for line in (EXAMPLES / "lame.yaml").read_text(encoding="utf-8").splitlines():
        numbers = line.lstrip("# ").split()
        if line.startswith("#   1.") and len(numbers) == 7:
            r, *values = map(float, numbers)
            u, s = lame([0.6 * r, 0.8 * r, 0])
            vectors_close(values[:2], u[:2], 1e-8, f"comment, displacement at r = {r}")
            vectors_close(values[2:], [s[0], s[1], s[2], s[5]], 1e-7, f"comment, stress at r = {r}")


def test_lame_cylinder_s2():
    check_probes(solve(EXAMPLES / "lame.yaml", element="s2"), lame)


def test_lame_cylinder_stored_operator():
    check_probes(solve(EXAMPLES / "lame.yaml", "--operator", "stored"), lame)


def hollow_sphere(x):
    """G. Lame: hollow sphere under inner pressure."""
    a, b, p = 1.0, 2.0, 100e6
    r, k = math.hypot(*x), p * a**3 / (b**3 - a**3)
    u = k / YOUNG * ((1 - 2 * POISSON) * r + (1 + POISSON) * b**3 / (2 * r**2))
    radial, across = k * (1 - b**3 / r**3), k * (1 + b**3 / (2 * r**3))
    n = [component / r for component in x]
    pairs = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
    return [u * component for component in n], [across * (i == j) + (radial - across) * n[i] * n[j] for i, j in pairs]


def test_hollow_sphere_q2():
    check_probes(solve(EXAMPLES / "hollow-sphere.yaml"), hollow_sphere)


def test_hollow_sphere_s2():
    check_probes(solve(EXAMPLES / "hollow-sphere.yaml", element="s2"), hollow_sphere)


def test_spherical_cavity_concentrates_stress():
    """Southwell and Gough (1926); Timoshenko and Goodier, Theory of Elasticity, art. 137."""
    found = solve(EXAMPLES / "sphere-cavity.yaml")
    load = 1e6
    equator, pole = probe(found, "equator")["stress"], probe(found, "pole")["stress"]
    close_to(equator[2] / load, (27 - 15 * POISSON) / (14 - 10 * POISSON), 1e-2, "equator, stress along the load")
    for component in (0, 1):
        close_to(pole[component] / load, -(3 + 15 * POISSON) / (14 - 10 * POISSON), 1e-2, "pole, stress across the load")
    for free, stress in ((equator[0], "equator"), (pole[2], "pole")):
        assert abs(free) < 0.015 * load, f"{stress}: the cavity's surface carries {free} Pa"


def test_hole_in_a_wide_plate_concentrates_stress_threefold():
    """Kirsch (1898)."""
    found = solve(EXAMPLES / "plate-with-hole.yaml")
    load = 1e6
    across, along = probe(found, "across")["stress"], probe(found, "along")["stress"]
    close_to(across[0] / load, 3, 1e-2, "across, stress along the load")
    close_to(along[1] / load, -1, 2e-2, "along, stress across the load")
    close_to(across[2], POISSON * across[0], 1e-2, "plane strain")
    assert abs(across[1]) < 0.01 * load and abs(along[0]) < 0.01 * load, "the hole's surface is free"


def test_cantilever_bends_as_beam_theory_says():
    """Timoshenko's beam: bending and shear, force at the tip and weight."""
    found = solve(EXAMPLES / "cantilever.yaml", solver__relative_residual=1e-9)  # forces are in balance to the residual
    length, side, force = 1.0, 0.1, 1000.0
    weight = 7850 * 9.81 * side**2
    inertia, area = side**4 / 12, side**2
    shear = 10 * (1 + POISSON) / (12 + 11 * POISSON) * YOUNG / (2 * (1 + POISSON)) * area  # Cowper (1966), rectangle
    bending = force * length**3 / (3 * YOUNG * inertia) + weight * length**4 / (8 * YOUNG * inertia)
    sheared = force * length / shear + weight * length**2 / (2 * shear)
    close_to(-probe(found, "tip")["displacement"][2], bending + sheared, 0.015, "deflection of the tip")
    reaction = found["reactions"][0]
    close_to(reaction["force_n"][2], force + weight * length, 1e-6, "force of the support")
    # The section's middle is at y = z = 0.05.
    moment = -(force * length + weight * length**2 / 2)
    close_to(reaction["moment_nm"][1], moment, 1e-6, "moment of the support")


def test_bar_of_two_materials_without_lateral_contraction_is_exact():
    """With nu = 0 the stress is the load everywhere, and the bar two springs in a row."""
    found = solve(EXAMPLES / "two-materials.yaml", materials__0__poisson_ratio=0, materials__1__poisson_ratio=0, refine__steps=1)
    load, steel, aluminium, area = 1e6, 210e9, 70e9, 0.04
    for name, x in (("steel-side", 0.49), ("aluminium-side", 0.51)):
        point = probe(found, name)
        close_to(point["displacement"][0], load * (min(x, 0.5) / steel + max(x - 0.5, 0) / aluminium), 1e-7, f"{name}: displacement")
        vectors_close(point["stress"], [load, 0, 0, 0, 0, 0], 1e-6, f"{name}: stress")
    close_to(found["steps"][-1]["strain_energy_j"], load**2 * area / 2 * (0.5 / steel + 0.5 / aluminium), 1e-7, "strain energy")


def test_stress_jumps_between_two_materials_but_traction_does_not():
    points = "[{name: a, x: [0.4999999, 0, 0]}, {name: b, x: [0.5000001, 0, 0]}]"
    found = solve(EXAMPLES / "two-materials.yaml", probes=points, refine__initial=1)
    steel, aluminium = probe(found, "a"), probe(found, "b")
    vectors_close(steel["displacement"], aluminium["displacement"], 1e-5, "displacement on both sides")
    close_to(steel["stress"][0], aluminium["stress"][0], 0.03, "traction on both sides")
    # Aluminium wants to become thinner, steel hinders it: it is stretched across, steel is pressed.
    for component in (1, 2):
        assert steel["stress"][component] < -0.1e6 and aluminium["stress"][component] > 0.1e6, (steel["stress"], aluminium["stress"])
    # The uniform stress is an equilibrium: its complementary energy bounds the strain energy from above (Castigliano).
    energies = [row["strain_energy_j"] for row in found["steps"]]
    assert energies[-1] < 1e12 * 0.04 / 2 * (0.5 / 210e9 + 0.5 / 70e9)
    assert energies == sorted(energies), f"the strain energy of nested spaces under loads grows: {energies}"


def test_pressed_cylinder_is_between_free_and_confined():
    found = solve(EXAMPLES / "cylinder.yaml", refine__steps=2)
    radius, height, pressure, density = 0.1, 0.3, 100e6, 7850 * 9.81
    close_to(found["reactions"][0]["force_n"][2], math.pi * radius**2 * (pressure + density * height), 1e-4, "force of the support")
    top = probe(found, "top-centre")
    close_to(top["stress"][2], -pressure, 1e-3, "stress below the pressure")
    free = (pressure * height + density * height**2 / 2) / YOUNG
    confined = free * (1 + POISSON) * (1 - 2 * POISSON) / (1 - POISSON)
    assert confined < -top["displacement"][2] < free, f"{confined} < {-top['displacement'][2]} < {free}"
    assert max(map(abs, top["displacement"][:2])) < 1e-6 * free, "the axis stays where it is"
    uniaxial = math.pi * radius**2 / (2 * YOUNG) * (pressure**2 * height + pressure * density * height**2 + density**2 * height**3 / 3)
    energies = [row["strain_energy_j"] for row in found["steps"]]
    assert energies == sorted(energies) and energies[-1] < uniaxial, f"{energies}, above: {uniaxial}"


def test_fichera_corner_comes_to_its_tolerance():
    found = solve(EXAMPLES / "fichera.yaml", refine__tolerance=0.03)
    last = found["steps"][-1]
    assert found["stopped_by"] == "tolerance" and last["relative_error_estimate"] <= 0.03 < found["steps"][-2]["relative_error_estimate"]
    energies = [row["strain_energy_j"] for row in found["steps"]]
    assert energies == sorted(energies), energies
    # What enters leaves: the source of 1 W/m3 in 7 of 8 octants of a cube of side 2.
    close_to(found["loads"]["flow"], 7.0, 1e-9, "source")
    close_to(sum(reaction["flow"] for reaction in found["reactions"]), -7.0, 1e-6, "flow through the surface")


def check_balance(found):
    """Forces and moments of loads and supports sum to zero, measured by the largest force, at an arm of 0.1 m at least."""
    largest = 0
    for key in ("force_n", "moment_nm"):
        parts = [found["loads"][key], *(reaction[key] for reaction in found["reactions"])]
        largest = max(0.1 * largest, *(abs(value) for part in parts for value in part))
        assert largest > 0
        for component in range(3):
            total = math.fsum(part[component] for part in parts)
            assert abs(total) <= 1e-6 * largest, f"{key}[{component}] sums to {total}, largest {largest}"


def test_loads_and_reactions_sum_to_zero_in_every_example():
    names = ["lame", "hollow-sphere", "sphere-cavity", "plate-with-hole", "two-materials", "cantilever", "drill-hole", "cylinder", "crankshaft",
             "le1", "le10", "le11", "hot-pipe", "bracket"]
    assert sorted([*names, "fichera", "hot-pipe-heat"]) == sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
    for name in names:
        print(name)
        check_balance(solve(EXAMPLES / f"{name}.yaml", refine__steps=1, refine__initial=0, solver__relative_residual=1e-9, out=name))


def check_target(name, element, point, component, target):
    """The Standard NAFEMS Benchmarks (TNSB, rev. 3, 1990): within 1 % of the published target."""
    found = solve(EXAMPLES / f"{name}.yaml", element=element)
    close_to(probe(found, point)["stress"][component], target, 1e-2, f"{name}: stress at {point}")


def test_nafems_le1_elliptic_membrane_q2():
    check_target("le1", "q2", "D", 1, 92.7e6)


def test_nafems_le1_elliptic_membrane_s2():
    check_target("le1", "s2", "D", 1, 92.7e6)


def test_nafems_le10_thick_plate_q2():
    check_target("le10", "q2", "D", 1, -5.38e6)


def test_nafems_le10_thick_plate_s2():
    check_target("le10", "s2", "D", 1, -5.38e6)


def test_nafems_le11_cylinder_taper_sphere_q2():
    check_target("le11", "q2", "A", 2, -105e6)


def test_nafems_le11_cylinder_taper_sphere_s2():
    check_target("le11", "s2", "A", 2, -105e6)


def hot_pipe(x):
    """Timoshenko and Goodier, Theory of Elasticity, sect. 151: steady heat flow through the wall, both ends constrained."""
    a, b, hot, expansion = 1.0, 2.0, 100.0, 12e-6
    r, wall = math.hypot(x[0], x[1]), math.log(b / a)
    k, part = YOUNG * expansion * hot / (2 * (1 - POISSON) * wall), a**2 / (b**2 - a**2) * wall
    radial = k * (-math.log(b / r) - part * (1 - b**2 / r**2))
    around = k * (1 - math.log(b / r) - part * (1 + b**2 / r**2))
    return rotated(x, radial, around, POISSON * (radial + around) - YOUNG * expansion * hot * math.log(b / r) / wall)


def check_hot_pipe(**keys):
    found = solve(EXAMPLES / "hot-pipe.yaml", **keys)
    for point in found["probes"]:
        vectors_close(point["stress"], hot_pipe(point["x"]), 1e-2, f"{point['name']}: stress")
    heat = record("out/hot-pipe-heat")  # its own run is there, too
    assert heat["case"]["problem"] == "poisson" and heat["stopped_by"] == "steps"


def test_thermal_stress_of_a_heat_run_q2():
    check_hot_pipe()


def test_thermal_stress_of_a_heat_run_whose_values_have_an_offset():
    """All temperatures and the reference 1000 degrees higher: the stress is the same."""
    source = (EXAMPLES / "hot-pipe-heat.yaml").read_text(encoding="utf-8").replace("meshes/", f"{EXAMPLES}/meshes/")
    pathlib.Path("warm.yaml").write_text(source.replace("value: 100}", "value: 1100}").replace("value: 0}", "value: 1000}"), encoding="utf-8")
    case = (EXAMPLES / "hot-pipe.yaml").read_text(encoding="utf-8").replace("meshes/", f"{EXAMPLES}/meshes/")
    pathlib.Path("pipe.yaml").write_text(case.replace("{case: hot-pipe-heat.yaml, reference: 0}", "{case: warm.yaml, reference: 1000}"), encoding="utf-8")
    for point in solve("pipe.yaml")["probes"]:
        vectors_close(point["stress"], hot_pipe(point["x"]), 1e-2, f"{point['name']}: stress")


def test_thermal_stress_of_a_heat_run_s2():
    check_hot_pipe(element="s2")
