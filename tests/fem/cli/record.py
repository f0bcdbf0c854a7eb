"""run.json, the printed table and the result files: complete, of the right types, and in agreement."""
import json
import math
import pathlib
import re

import command
from command import EXAMPLES, SMALL, check_results, close_to, record, run, solve, words

NUMBER, TEXT, NULL = (int, float), str, type(None)
UNKNOWN = (int, float, NULL)

# docs/reference/run-record.md, key by key.
STEP = {
    "step": int, "elements": int, "dofs": int, "hanging_nodes": int, "iterations": int, "operator_applications": int,
    "relative_residual": NUMBER, "energy_error": NUMBER, "stopped_by_rounding": bool, "error_estimate": NUMBER, "relative_error_estimate": NUMBER, "strain_energy_j": NUMBER,
    "max_displacement_m": NUMBER, "max_von_mises_pa": NUMBER,
    "max_principal_pa": NUMBER, "min_principal_pa": NUMBER, "max_value": NULL, "min_value": NULL, "max_gradient": NULL,
    "places": {"max_displacement": [NUMBER] * 3, "max_von_mises": [NUMBER] * 3, "max_principal": [NUMBER] * 3, "min_principal": [NUMBER] * 3,
               "max_value": NULL, "min_value": NULL, "max_gradient": NULL},
    "case": TEXT, "gpu_share": UNKNOWN,
    "preconditioner": TEXT, "preconditioner_reason": (str, NULL), "preconditioner_models": {"multigrid_operations": UNKNOWN, "direct_operations": UNKNOWN},
    "parts": [{
        "rank": int, "device": TEXT, "threads": int, "elements": int, "seconds_per_element": NUMBER, "seconds_per_product": NUMBER,
        "predicted_seconds_per_product": UNKNOWN, "halo_bytes": int, "setup_moved_s": UNKNOWN,
        "frequency_hz": UNKNOWN,
    }],
    "partition": NULL, "decision": (TEXT, NULL), "failed_devices": list,
    "objective": TEXT, "powers": (TEXT, NULL), "alternatives": (list, NULL),
    "predicted": {"time_s": UNKNOWN, "energy_j": UNKNOWN, "seconds_per_product": UNKNOWN, "joules_per_product": UNKNOWN, "operator_applications": UNKNOWN},
    "predicted_with_l": {"time_s": UNKNOWN, "energy_j": UNKNOWN},
    "measured": {"time_s": NUMBER, "energy_j": UNKNOWN, "energy_kind": (TEXT, NULL), "seconds_per_product": NUMBER, "joules_per_product": UNKNOWN},
    "prediction_errors": {
        "seconds_per_product": UNKNOWN, "joules_per_product": UNKNOWN, "time_with_l": UNKNOWN, "energy_with_l": UNKNOWN, "operator_applications": UNKNOWN,
    },
    "memory_bytes": NUMBER, "messages": {"per_iteration": NUMBER, "bytes_per_iteration": NUMBER, "most_per_iteration": NUMBER, "most_bytes_per_iteration": NUMBER},
    "seconds": {"refine": NUMBER, "setup": NUMBER, "solve": NUMBER, "estimate": NUMBER, "write": NUMBER},
}
FORCE = {"force_n": [NUMBER] * 3, "moment_nm": [NUMBER] * 3}
RECORD = {
    "program": TEXT, "version": TEXT, "date": TEXT, "command": [TEXT], "machine": dict, "ranks": int, "stopped_by": TEXT, "elapsed_s": NUMBER,
    "case": {
        "path": TEXT, "mesh": TEXT, "mesh_scale": UNKNOWN, "problem": TEXT, "units": TEXT, "element": TEXT,
        "refine": {"initial": int, "steps": int, "tolerance": NUMBER, "fraction": NUMBER, "max_elements": int},
        "solver": {"energy_error": UNKNOWN, "relative_residual": UNKNOWN, "preconditioner": TEXT, "operator": TEXT, "max_iterations": int},
    },
    "mesh": {"hexahedra": int, "order": int, "split": list, "worst_shape": NUMBER, "worst_element": int},
    "steps": [STEP],
    "warnings": list,
    "restarts": list,
    "reactions": [{"face": TEXT, **FORCE}],
    "loads": FORCE,
    "probes": [{"name": TEXT, "x": [NUMBER] * 3, "displacement": [NUMBER] * 3, "stress": [NUMBER] * 6, "von_mises": NUMBER, "principal": [NUMBER] * 3}],
}


def check(value, expected, path):
    """Compares a document with its pattern: the same keys; a list of one pattern holds any number of such items."""
    if isinstance(expected, dict):
        assert isinstance(value, dict) and set(value) == set(expected), f"{path}: keys {sorted(value)}, expected {sorted(expected)}"
        for key, pattern in expected.items():
            check(value[key], pattern, f"{path}.{key}")
    elif isinstance(expected, list):
        assert isinstance(value, list) and value, f"{path}: {value}"
        assert len(expected) == 1 or len(value) == len(expected), f"{path}: {len(value)} items, expected {len(expected)}"
        for index, item in enumerate(value):
            check(item, expected[0], f"{path}[{index}]")
    else:
        assert isinstance(value, expected) and isinstance(value, bool) == (expected is bool), f"{path}: {value!r}, expected {expected}"
        assert not isinstance(value, float) or math.isfinite(value), f"{path}: {value}"


def test_every_key_of_the_run_record_has_its_type():
    found = solve(SMALL, refine__steps=2)
    check(found, RECORD, "run.json")
    assert found["program"] == "yoke fem" and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["date"])
    assert found["command"][-2:] == ["--set", "refine.steps=2"]
    for key in ("topology", "devices", "meters", "clocks"):
        assert key in found["machine"], key
    assert found["case"]["refine"]["steps"] == 2 and found["case"]["refine"]["fraction"] == 0.3
    assert found["case"]["mesh"].endswith("two-materials.msh") and found["case"]["mesh_scale"] is None
    assert found["mesh"]["split"] == [] and found["mesh"]["hexahedra"] == found["steps"][0]["elements"] and 0 < found["mesh"]["worst_shape"] <= 1
    for row in found["steps"]:
        assert row["case"] == "cpu" and sum(part["elements"] for part in row["parts"]) == row["elements"]
        assert 0 < row["energy_error"] <= 1e-6 and not row["stopped_by_rounding"]
        assert row["relative_residual"] <= 1e-4 and row["operator_applications"] > row["iterations"] > 0
        assert all(seconds >= 0 for seconds in row["seconds"].values())


def test_every_key_of_the_run_record_of_poisson():
    probes = "[{name: inside, x: [-0.5, -0.5, -0.5]}]"
    found = solve(EXAMPLES / "fichera.yaml", refine__steps=1, refine__initial=0, probes=probes)
    poisson = json.loads(json.dumps(found))
    check(found["probes"], [{"name": TEXT, "x": [NUMBER] * 3, "value": NUMBER, "gradient": [NUMBER] * 3}], "probes")
    check(found["loads"], {"flow": NUMBER}, "loads")
    check(found["reactions"], [{"face": TEXT, "flow": NUMBER}], "reactions")
    assert [row["max_von_mises_pa"] for row in poisson["steps"]] == [None, None]
    for key in ("probes", "loads", "reactions"):
        del poisson[key]
    for row in poisson["steps"]:
        for key in ("max_von_mises_pa", "max_principal_pa", "min_principal_pa"):
            assert row[key] is None
            row[key] = 0.0
        for key in ("max_value", "min_value", "max_gradient"):
            check(row.pop(key), NUMBER, key)
            check(row["places"].pop(key), [NUMBER] * 3, key)
            row[key] = row["places"][key] = None
        for key in ("max_displacement", "max_von_mises", "max_principal", "min_principal"):
            assert row["places"][key] is None
            row["places"][key] = [0.0] * 3
    check(poisson, {key: pattern for key, pattern in RECORD.items() if key not in ("probes", "loads", "reactions")}, "run.json")


def test_copy_of_the_run_record_is_the_same():
    run(words(SMALL, "--json", "copy.json", refine__steps=1))
    original, copy = pathlib.Path("out/run.json").read_bytes(), pathlib.Path("copy.json").read_bytes()
    assert original == copy


def test_run_record_on_standard_output_is_one_document():
    done = run(words(SMALL, "--quiet", "--json", "/dev/stdout", refine__steps=2))
    assert json.loads(done.stdout) == record()


def test_printed_table_agrees_with_the_record():
    done = run(words(SMALL, refine__steps=3, solver__preconditioner="multigrid"))  # nothing is planned where it changes
    rows, found = command.table(done.stdout), record()
    assert len(rows) == len(found["steps"]) == 4
    for row, step in zip(rows, found["steps"]):
        assert [row["step"], row["elements"], row["dofs"], row["iter"]] == [step["step"], step["elements"], step["dofs"], step["iterations"]]
        close_to(row["estimate"], step["relative_error_estimate"], 6e-3, "estimate")
        close_to(row["Mises Pa"], step["max_von_mises_pa"], 6e-5, "von Mises")
        close_to(row["s solve"], step["seconds"]["solve"], 6e-3, "seconds of the solve")
        if step["step"]:
            close_to(row["s planned"], step["predicted"]["time_s"], 6e-3, "predicted seconds of the solve")
        else:
            assert row["s planned"] is step["predicted"]["time_s"] is None
    assert "stopped by: steps; results in out" in done.stdout.splitlines()


def test_result_files_are_whole_and_agree():
    solve(SMALL, refine__steps=2)
    check_results("out", 3)


def test_result_files_of_every_element_type():
    for element, cell, nodes in (("q1", 12, 8), ("s2", 25, 20), ("q2", 29, 27)):
        solve(SMALL, element=element, refine__steps=1, out=element)
        check_results(element, 2)
        _, cells, arrays = command.read_vtu(f"{element}/step-01.vtu")
        assert set(arrays["types"][1]) == {cell} and len(arrays["connectivity"][1]) == nodes * cells
        assert set(arrays["material"][1]) == {0, 1} or len(set(arrays["material"][1])) == 2
        assert set(arrays["part"][1]) == {0} and max(arrays["level"][1]) == 1
        row = record(element)["steps"][1]
        close_to(math.sqrt(math.fsum(value**2 for value in arrays["error"][1])), row["error_estimate"], 1e-12, "error of the elements")
        close_to(max(arrays["von_mises"][1]), row["max_von_mises_pa"], 1e-12, "von Mises")


def test_fields_can_be_chosen():
    solve(SMALL, refine__steps=0, output__fields="[von_mises, level]")
    _, _, arrays = command.read_vtu("out/step-00.vtu")
    assert set(arrays) == {"points", "connectivity", "offsets", "types", "von_mises", "level"}


def test_poisson_files_hold_value_and_gradient():
    solve(EXAMPLES / "fichera.yaml", refine__steps=0, refine__tolerance=0)
    _, _, arrays = command.read_vtu("out/step-00.vtu")
    assert {"value", "gradient"} <= set(arrays) and not {"displacement", "stress", "von_mises"} & set(arrays)
    close_to(max(arrays["value"][1]), record()["steps"][0]["max_displacement_m"], 1e-12, "largest value")


def test_stopped_by_steps():
    found = solve(SMALL, refine__steps=3)
    assert found["stopped_by"] == "steps" and len(found["steps"]) == 4


def test_stopped_by_tolerance():
    found = solve(SMALL, refine__steps=50, refine__tolerance=0.04, refine__fraction=0.5)
    estimates = [row["relative_error_estimate"] for row in found["steps"]]
    assert found["stopped_by"] == "tolerance" and estimates[-1] <= 0.04 < min(estimates[:-1])


def test_stopped_by_max_elements():
    found = solve(SMALL, refine__steps=50, refine__max_elements=200)
    elements = [row["elements"] for row in found["steps"]]
    assert found["stopped_by"] == "max_elements" and max(elements) <= 200 and len(elements) > 2


def test_prescribed_boxes_and_initial_level():
    boxes = "[{from: [0.9, 0, 0], to: [1, 1, 1], level: 2}]"
    found = solve(SMALL, refine__steps=0, refine__boxes=boxes)
    whole = solve(SMALL, refine__steps=0, refine__initial=2, out="whole")
    _, cells, arrays = command.read_vtu("out/step-00.vtu")
    assert whole["steps"][0]["elements"] == 32 * 64 and whole["steps"][0]["hanging_nodes"] == 0
    assert 32 < cells < 32 * 64 and found["steps"][0]["hanging_nodes"] > 0
    points, connectivity = arrays["points"][1], arrays["connectivity"][1]
    for cell in range(cells):
        if max(points[3 * node] for node in connectivity[27 * cell : 27 * cell + 8]) > 0.9:
            assert arrays["level"][1][cell] >= 2
