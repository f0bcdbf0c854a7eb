"""What other programs read from the VTU files: components by name and order, principal values, the extremes and their places."""
import math
import pathlib
import shutil
import sys
import xml.etree.ElementTree

import command
from command import EXAMPLES, close_to, record, solve

# Points of the cantilever, inside and on its surface, that are nodes of every mesh; all six components differ there.
NODES = [[0.025, 0.025, 0.075], [0.05, 0.1, 0.025], [0.075, 0.025, 0.025]]


def twisted(out="out", **keys):
    """A cantilever that is pulled, in bending about both axes and twisted by its supports."""
    probes = "[" + ", ".join(f"{{name: p{i}, x: {x}}}" for i, x in enumerate(NODES)) + "]"
    traction = "[3e5, 1e5, -2e5]"
    return solve(EXAMPLES / "cantilever.yaml", out=out, probes=probes, refine__steps=1, **{"boundary[1].traction": traction}, **keys)


def attributes(path):
    """The attributes of each array of a VTU file, by name."""
    data = pathlib.Path(path).read_bytes()
    root = xml.etree.ElementTree.fromstring(data[: data.index(b"<AppendedData")] + b"</VTKFile>")
    return {array.attrib["Name"]: array.attrib for array in root.iter("DataArray")}


def components(array):
    return [array[f"ComponentName{i}"] for i in range(int(array["NumberOfComponents"]))]


def at(arrays, x):
    """The index of the point at x."""
    points = arrays["points"][1]
    found = [i for i in range(len(points) // 3) if math.dist(points[3 * i : 3 * i + 3], x) < 1e-9]
    assert found, f"no point at {x}"
    return found[0]


def matrix(tensor):
    """From the JSON's xx, yy, zz, yz, xz, xy."""
    xx, yy, zz, yz, xz, xy = tensor
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def check_eigenvalues(values, tensor, what):
    """The invariants of a tensor are the elementary symmetric functions of its eigenvalues."""
    a, (s1, s2, s3) = matrix(tensor), values
    size = max(map(abs, values))
    assert s1 >= s2 >= s3, f"{what}: {values} does not descend"
    trace = a[0][0] + a[1][1] + a[2][2]
    minors = sum(a[i][i] * a[j][j] - a[i][j] ** 2 for i, j in ((0, 1), (0, 2), (1, 2)))
    (p, q, r), (_, s, t), (_, _, u) = a
    determinant = p * (s * u - t * t) - q * (q * u - t * r) + r * (q * t - s * r)
    assert abs(s1 + s2 + s3 - trace) <= 1e-12 * size, what
    assert abs(s1 * s2 + s1 * s3 + s2 * s3 - minors) <= 1e-11 * size**2, what
    assert abs(s1 * s2 * s3 - determinant) <= 1e-10 * size**3, what


def test_tensors_carry_the_names_and_the_order_of_vtk():
    found = twisted()
    named, (_, _, arrays) = attributes("out/step-01.vtu"), command.read_vtu("out/step-01.vtu")
    vtk = ["xx", "yy", "zz", "xy", "yz", "xz"]
    assert components(named["stress"]) == components(named["strain"]) == vtk
    assert components(named["principal_stress"]) == components(named["principal_strain"]) == ["largest", "middle", "smallest"]
    assert components(named["displacement"]) == ["x", "y", "z"]
    json_order = ["xx", "yy", "zz", "yz", "xz", "xy"]
    for probe in found["probes"]:
        i, size = at(arrays, probe["x"]), max(map(abs, probe["stress"]))
        assert len({round(value / size, 6) for value in probe["stress"]}) == 6, f"{probe['stress']} cannot tell the components apart"
        written = dict(zip(vtk, arrays["stress"][1][6 * i : 6 * i + 6]))
        for name, value in zip(json_order, probe["stress"]):
            assert abs(written[name] - value) <= 1e-9 * size, f"{probe['name']}: {name} is {written[name]}, the record has {value}"


def test_principal_values_of_stress_and_strain():
    found = twisted()
    _, _, arrays = command.read_vtu("out/step-01.vtu")
    young, nu = 210e9, 0.3
    for probe in found["probes"]:
        i = at(arrays, probe["x"])
        check_eigenvalues(probe["principal"], probe["stress"], probe["name"])
        stress, strain = (arrays[name][1][3 * i : 3 * i + 3] for name in ("principal_stress", "principal_strain"))
        command.vectors_close(stress, probe["principal"], 1e-9, f"{probe['name']}: principal stress of the file")
        hooke = [(s - nu * (sum(stress) - s)) / young for s in stress]
        command.vectors_close(strain, hooke, 1e-9, f"{probe['name']}: principal strain")
        xx, yy, zz, xy, yz, xz = arrays["strain"][1][6 * i : 6 * i + 6]
        check_eigenvalues(strain, (xx, yy, zz, yz, xz, xy), f"{probe['name']}: strain")


def test_extremes_are_the_largest_values_of_the_file_at_their_places():
    twisted()
    row = record()["steps"][1]
    _, _, arrays = command.read_vtu("out/step-01.vtu")
    principal, places = arrays["principal_stress"][1], row["places"]
    lengths = [math.hypot(*arrays["displacement"][1][i : i + 3]) for i in range(0, len(arrays["displacement"][1]), 3)]
    for key, place, values, chosen in (("max_principal_pa", "max_principal", principal[0::3], max), ("min_principal_pa", "min_principal", principal[2::3], min),
                                       ("max_von_mises_pa", "max_von_mises", arrays["von_mises"][1], max), ("max_displacement_m", "max_displacement", lengths, max)):
        close_to(row[key], chosen(values), 1e-12, key)
        close_to(values[at(arrays, places[place])], row[key], 1e-12, f"{key} at its place")
    assert row["max_principal_pa"] > 0 > row["min_principal_pa"]


def vtk_or_skip():
    """VTK itself, an independent reader; heavy, so that the project does not ask for it."""
    try:
        from vtkmodules.vtkFiltersTensor import vtkTensorPrincipalInvariants
        from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
    except ImportError as missing:
        print(f"left out: {missing} (apt install python3-vtk9)")
        sys.exit(77)
    return vtkXMLUnstructuredGridReader, vtkTensorPrincipalInvariants


def test_principal_values_that_vtk_finds_are_those_of_the_record():
    Reader, Invariants = vtk_or_skip()
    found = twisted()
    reader = Reader()
    reader.SetFileName("out/step-01.vtu")
    reader.Update()
    filtered = Invariants()
    filtered.SetInputConnection(reader.GetOutputPort())
    filtered.GetPointDataArraySelection().EnableArray("stress")
    filtered.GetPointDataArraySelection().EnableArray("strain")
    filtered.Update()
    grid = filtered.GetOutput()
    data, compared = grid.GetPointData(), 0
    names = [data.GetArrayName(n) for n in range(data.GetNumberOfArrays())]
    for probe in found["probes"]:
        (i,) = [i for i in range(grid.GetNumberOfPoints()) if math.dist(grid.GetPoint(i), probe["x"]) < 1e-9]
        for k in range(3):
            (name,) = [name for name in names if name.startswith("stress") and name.endswith(f"Sigma {k + 1}")]
            value = data.GetArray(name).GetValue(i)
            assert abs(value - probe["principal"][k]) <= 1e-9 * max(map(abs, probe["principal"])), f"{name} at {probe['name']}: {value}, {probe['principal']}"
            compared += 1
    assert compared == 3 * len(NODES)


def units_of(path):
    """The texts of the field data, which VTK's XML has as codes of characters with a zero at the end."""
    data = pathlib.Path(path).read_bytes()
    root = xml.etree.ElementTree.fromstring(data[: data.index(b"<AppendedData")] + b"</VTKFile>")
    texts = {}
    for array in root.iter("DataArray"):
        if array.attrib["type"] == "String":
            codes = [int(word) for word in array.text.split()]
            assert codes.pop() == 0
            texts[array.attrib["Name"]] = bytes(codes).decode()
    return texts


def test_units_of_the_case_label_table_record_and_file():
    """A steel bar in millimetres: the same numbers with either set of names, and nothing converted."""
    for units, heading, names in (("mm-N-MPa", "Mises MPa", {"units": "mm-N-MPa", "unit_of_length": "mm", "unit_of_stress": "MPa"}),
                                  ("m-N-Pa", "Mises Pa", {"units": "m-N-Pa", "unit_of_length": "m", "unit_of_stress": "Pa"})):
        done = command.run(command.words(EXAMPLES / "cantilever.yaml", out="named", units=units, refine__steps=0))
        assert heading in done.stdout.splitlines()[0] and record("named")["case"]["units"] == units
        assert units_of("named/step-00.vtu") == names
    named = record("named")
    text = (EXAMPLES / "cantilever.yaml").read_text(encoding="utf-8").replace("units: m-N-Pa\n", "").replace("meshes/", f"{EXAMPLES}/meshes/")
    pathlib.Path("bare.yaml").write_text(text, encoding="utf-8")
    done = command.run(command.words("bare.yaml", refine__steps=0))
    assert not units_of("out/step-00.vtu") and record()["case"]["units"] is None
    table = done.stdout.split("\n\n")[0]
    assert "Mises" in table and " Pa" not in done.stdout and "MPa" not in done.stdout, done.stdout
    close_to(record()["steps"][0]["max_von_mises_pa"], named["steps"][0]["max_von_mises_pa"], 1e-9, "the same numbers")


def temperatures(path):
    """Pairs of a point and its temperature."""
    _, _, arrays = command.read_vtu(path)
    (_, points), (components, found) = arrays["points"], arrays["temperature"]
    assert components == 1
    return [(points[3 * i : 3 * i + 3], value) for i, value in enumerate(found)]


def test_the_temperature_that_a_case_describes():
    solve(EXAMPLES / "le11.yaml", refine__boxes="[]", refine__steps=0, units="m-N-Pa", element="q1")
    for x, value in temperatures("out/step-00.vtu"):
        assert abs(value - (math.hypot(x[0], x[1]) + x[2])) <= 1e-12 * 3, (x, value)
    assert units_of("out/step-00.vtu")["unit_of_temperature"] == "K"


def test_the_temperature_that_a_heat_run_computes():
    """100 ln(2/r) / ln 2 from r = 1 to 2, and, with a reference, still that and not the difference to it."""
    text = (EXAMPLES / "hot-pipe.yaml").read_text(encoding="utf-8").replace("meshes/", f"{EXAMPLES}/meshes/")
    pathlib.Path("pipe.yaml").write_text(text.replace("{case: hot-pipe-heat.yaml, reference: 0}", f"{{case: {EXAMPLES}/hot-pipe-heat.yaml, reference: 30}}"), encoding="utf-8")
    solve("pipe.yaml", refine__initial=0, refine__steps=0)
    found = temperatures("out/step-00.vtu")
    for x, value in found:
        assert abs(value - 100 * math.log(2 / math.hypot(x[0], x[1])) / math.log(2)) <= 0.5, (x, value)
    assert min(value for _, value in found) < 1e-6 and max(value for _, value in found) > 99.9


def test_the_temperature_of_a_heat_run_that_a_limit_ended():
    """The refined mesh that the limit forbids is not the one that has the temperature."""
    shutil.copytree(EXAMPLES, "examples")
    heat = pathlib.Path("examples/hot-pipe-heat.yaml")
    text = heat.read_text(encoding="utf-8")
    found = []
    for refine in ("{steps: 0}", "{steps: 3, max_elements: 100}"):
        heat.write_text(text.replace("{steps: 2}", refine), encoding="utf-8")
        solve("examples/hot-pipe.yaml", refine__initial=1, refine__steps=0)
        found.append(temperatures("out/step-00.vtu"))
    assert record("out/hot-pipe-heat")["stopped_by"] == "max_elements"
    assert found[0] == found[1]


def test_a_temperature_field_without_a_temperature_is_refused():
    done = command.run(command.words(EXAMPLES / "cantilever.yaml", output__fields="[displacement, temperature]"), 2)
    assert "output.fields: temperature, but the case has no key 'temperature'" in done.stderr, done.stderr
    solve(EXAMPLES / "cantilever.yaml", refine__steps=0)
    assert "temperature" not in attributes("out/step-00.vtu")


def test_every_shipped_case_names_its_units():
    cases = sorted(EXAMPLES.glob("*.yaml"))
    assert len(cases) > 10
    bare = [case.name for case in cases if not any(line.startswith("units: ") for line in case.read_text(encoding="utf-8").splitlines())]
    assert not bare, bare
