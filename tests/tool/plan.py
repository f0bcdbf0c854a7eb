"""`yoke plan`: the plan of a model file as text, JSON, table and picture; limits that cannot be met; bad files and bad words."""
import csv
import json
import math
import os
import pathlib
import subprocess

import tool

MODELS = tool.SOURCE / "examples/models"
SANDYBRIDGE, PEACH, CLOCKS, NODE = (MODELS / f"{name}.json" for name in ("lang-ruenger-2014", "peach-system-1", "peach-system-1-clocks", "node-2024"))


def plan(model, *words, code=0):
    """The plan as JSON, and what was printed."""
    done = tool.run("plan", model, *words, "--json", "plan.json", code=code)
    return tool.record("plan.json"), done


def changed(**changes):
    """A model file: the PEACH one with other values at the top."""
    model = json.loads(PEACH.read_text(encoding="utf-8"))
    model.update(changes)
    path = pathlib.Path("model.json")
    path.write_text(json.dumps(model), encoding="utf-8")
    return path


def shares(choice):
    return {part["device"]: part["share"] for part in choice["parts"]}


def test_the_plan_has_its_keys():
    found, done = plan(SANDYBRIDGE, "--objective", "energy")
    keys = {"program", "version", "command", "model", "units", "repetitions", "objective", "deadline_s", "max_slowdown", "power_cap_w", "feasible", "optimal",
            "gap", "tie", "parts", "time_s", "energy_j", "time_uncertainty_s", "energy_uncertainty_j", "peak_power_w", "binding", "nearest", "decision",
            "nodes", "alternatives"}
    assert set(found) == keys, set(found) ^ keys
    assert found["objective"] == "energy" and found["feasible"] is True and found["optimal"] is True and found["gap"] == 0, found
    assert found["binding"] is None and found["nearest"] is None and found["deadline_s"] is None, found
    cpu, gpu = found["parts"]
    assert set(cpu) == {"device", "share", "units", "level", "frequency_hz"} and cpu["device"] == "cpu" and cpu["frequency_hz"] is None, cpu
    assert gpu["units"] == 5015 and cpu["units"] == 4985 and gpu["share"] == 0.5015 and gpu["frequency_hz"] == 1.15e9, gpu
    assert [other["name"] for other in found["alternatives"]] == ["only:cpu", "only:gpu", "balanced", "published", "best"], found["alternatives"]
    for other in found["alternatives"]:
        assert {"name", "parts", "time_s", "energy_j"} <= set(other), other
        assert found["energy_j"] <= other["energy_j"], other
        assert math.isclose(sum(shares(other).values()), 1), other
    assert "case 3: shared by eq. 26" in done.stdout and "optimal: yes" in done.stdout, done


def test_time_and_energy_part_on_peach_system_1():
    fast, _ = plan(PEACH)
    cheap, done = plan(PEACH, "--objective", "energy", "--explain")
    assert fast["objective"] == "time" and shares(fast) == {"cpu": 0.2178, "k20c": 0.7822}, fast["parts"]
    assert shares(cheap) == {"cpu": 0, "k20c": 1}, cheap["parts"]
    assert cheap["energy_j"] < 0.8 * fast["energy_j"] and fast["time_s"] < 0.8 * cheap["time_s"], (fast, cheap)
    assert cheap["decision"] in done.stdout and "k20c: 10000 units (100 %) at 705 MHz" in done.stdout, done
    # System II shares for both.
    both = [shares(plan(MODELS / "peach-system-2.json", "--objective", objective)[0]) for objective in ("time", "energy")]
    assert both == [{"cpu": 0.492, "c2075": 0.508}] * 2, both


def test_frequencies_and_shares_of_peach_table_7():
    """Of all 32 pairs of frequencies: 78 % at the highest for time, 90 % at 1.2 GHz and 705 MHz for energy, in steps of 2 %."""
    for objective, share, frequency in (("time", 0.78, 2.6e9), ("energy", 0.90, 1.2e9)):
        found, _ = plan(CLOCKS, "--objective", objective)
        assert shares(found)["k20c"] == share and [part["frequency_hz"] for part in found["parts"]] == [frequency, 0.705e9], found["parts"]


def test_units_and_repetitions_of_the_command_line_go_first():
    found, done = plan(SANDYBRIDGE, "--units", 20000, "--repetitions", 10, "--objective", "energy")
    assert found["units"] == 20000 and found["repetitions"] == 10, found
    # Copies for ten calls are dearer than what the GPU saves (case 1).
    assert shares(found) == {"cpu": 1, "gpu": 0} and done.stdout.startswith("20000 units, 10 calls after one distribution; least energy\n"), done
    found, done = plan(PEACH, "--units", 0)
    assert found["time_s"] == 0 and [part["units"] for part in found["parts"]] == [0, 0], found
    # What a power cap is compared with, though there is no call.
    assert math.isclose(found["peak_power_w"], 165.7) and "power: 165.7 W without work\n" in done.stdout and "peak" not in done.stdout, done
    assert plan(SANDYBRIDGE, "--units", 1)[1].stdout.startswith("1 unit, ")
    found, _ = plan(SANDYBRIDGE, "--units", 2**53)
    assert sum(part["units"] for part in found["parts"]) == 2**53, found["parts"]


def test_limits_are_kept():
    least = plan(NODE)[0]["time_s"]
    found, _ = plan(NODE, "--objective", "energy", "--max-slowdown", "1.05")
    assert found["feasible"] and least <= found["time_s"] <= 1.05 * least * (1 + 1e-9) and found["max_slowdown"] == 1.05, found
    slower, _ = plan(NODE, "--objective", "energy", "--deadline", "0.22")
    assert slower["time_s"] <= 0.22 and slower["energy_j"] <= found["energy_j"], slower
    capped, _ = plan(NODE, "--power-cap", "400")
    assert capped["peak_power_w"] <= 400 and capped["time_s"] >= least, capped


def test_what_cannot_be_met_ends_with_1_and_says_what_could():
    for words, binding, nearest, text in (
            (["--deadline", "7"], "deadline", 7.4334, "the deadline of 7 s cannot be met; the least time is 7.43345"),
            (["--power-cap", "300", "--objective", "energy"], "power-cap", 324.3, "the power cap of 300 W cannot be kept; 324.3 W could be"),
            (["--power-cap", "350", "--deadline", "7"], "deadline", 9.50209,
             "the deadline of 7 s cannot be met; the least time under the power cap is 9.502")):
        found, done = plan(PEACH, *words, code=1)
        assert found["feasible"] is False and found["binding"] == binding and math.isclose(found["nearest"], nearest, rel_tol=1e-4), found
        assert found["parts"] == [] and found["time_s"] is None and found["energy_j"] is None, found
        assert f"error: There is no such plan: {text}" in done.stderr and text in found["decision"], done
        assert "no such plan" not in done.stdout and "only:" in done.stdout, done  # why is said once
        assert all(not other["feasible"] for other in found["alternatives"]), found["alternatives"]
    model = json.loads(PEACH.read_text(encoding="utf-8"))
    for device in model["devices"]:
        device["max_units"] = 300
    found, done = plan(changed(devices=model["devices"]), code=1)
    assert found["binding"] == "memory" and found["nearest"] == 600 and "do not fit into the devices' memories; 600 units would" in done.stderr, done


def test_the_explanation_does_not_repeat_why_there_is_no_plan():
    _, done = plan(PEACH, "--deadline", "7", "--explain", code=1)
    assert "Compared with:" in done.stdout and (done.stdout + done.stderr).count("no such plan") == 1, done


def test_the_nearest_value_can_be_met():
    found, _ = plan(NODE, "--deadline", "0.01", code=1)
    met, _ = plan(NODE, "--deadline", repr(found["nearest"]))
    assert met["feasible"], met
    found, _ = plan(NODE, "--power-cap", "100", code=1)
    met, _ = plan(NODE, "--power-cap", repr(found["nearest"]))
    assert met["feasible"], met


def test_the_front_falls_and_holds_both_optima():
    found, _ = plan(CLOCKS, "--pareto", "front.csv")
    front = found["front"]
    assert len(front) > 3 and found["front_optimal"] is True, front
    for faster, slower in zip(front, front[1:]):
        assert faster["time_s"] < slower["time_s"] and faster["energy_j"] > slower["energy_j"], (faster, slower)
    assert front[0]["time_s"] == found["time_s"] and math.isclose(front[-1]["energy_j"], plan(CLOCKS, "--objective", "energy")[0]["energy_j"]), front
    with open("front.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["time_s", "energy_j", "peak_power_w", "cpu_units", "cpu_hz", "k20c_units", "k20c_hz"], rows[0]
    assert len(rows) == len(front), rows
    for row, choice in zip(rows, front):
        assert math.isclose(float(row["time_s"]), choice["time_s"], rel_tol=1e-11) and int(row["k20c_units"]) == choice["parts"][1]["units"], (row, choice)
    printed = tool.run("plan", CLOCKS, "--pareto").stdout
    assert printed.count("k20c 45 (705 MHz)") == 1 and "energy, J" in printed, printed


def test_a_picture_lies_beside_its_data():
    tool.run("plan", CLOCKS, "--plot", "front.svg")
    data, script = (pathlib.Path(name).read_text(encoding="utf-8") for name in ("front.dat", "front.gp"))
    assert '"only:k20c, published"' in data and len(data.splitlines()) > 10 and "'front.dat'" in script, (data, script)
    # What is far away would leave the front no room.
    assert "only:cpu" not in data and "beyond: only:cpu" in script, (data, script)
    # Drawn where gnuplot is installed.
    svg = pathlib.Path("front.svg")
    assert not svg.exists() or "<svg" in svg.read_text(encoding="utf-8")


def test_the_same_question_has_the_same_answer_to_the_byte():
    texts = []
    for _ in range(2):
        tool.run("plan", NODE, "--objective", "edp", "--json", "plan.json")
        texts.append(pathlib.Path("plan.json").read_bytes())
    assert texts[0] == texts[1] and b"null" in texts[0] and b"NaN" not in texts[0]


def test_the_model_may_come_from_standard_input():
    with open(PEACH, "rb") as file:
        done = subprocess.run([tool.PROGRAM, "plan", "-", "--objective", "energy"], stdin=file, capture_output=True, text=True, check=True)
    assert "k20c" in done.stdout, done
    done = subprocess.run([tool.PROGRAM, "plan", "-"], input="[", capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "/dev/stdin:1:1: this is not JSON" in done.stderr, done


def test_unknown_powers_are_null_and_no_energy_is_planned_with_them():
    model = json.loads(PEACH.read_text(encoding="utf-8"))
    model["devices"][0]["levels"][0]["dynamic_power_w"] = None
    path = changed(devices=model["devices"])
    found, done = plan(path)
    assert found["time_s"] > 0 and found["energy_j"] is None and found["peak_power_w"] is None, found
    assert "energy: not known\npower: not known\n" in done.stdout and "nan" not in done.stdout.lower(), done
    done = tool.run("plan", path, "--objective", "energy", code=2)
    assert "cpu" in done.stderr and "dynamic power is not known" in done.stderr, done
    tool.run("plan", path, "--power-cap", "300", code=2)


def test_bad_models_end_with_2_and_name_the_place():
    level = {"seconds_per_unit": 1}
    device = {"name": "a", "kind": "host", "levels": [level]}
    for model, text in (
            ({"devices": [device]}, "model.json: /units: this key is missing"),
            ({"units": 1, "devices": [device], "unit": 2}, "model.json: /unit: there is no such key here; did you mean \"units\"?"),
            ({"units": 1, "devices": [{**device, "levels": [{"seconds_per_unit": -1}]}]}, "/devices/0/levels/0/seconds_per_unit: expected a number"),
            ({"units": 1, "devices": [{**device, "levels": [{"points": []}]}]}, "/devices/0/levels/0/points: expected an array of pairs"),
            ({"units": 1, "devices": [{**device, "levels": [{"points": [[2, 1], [1, 2]]}]}]}, "/devices/0/levels/0/points/1/0: expected more units"),
            ({"units": 1, "devices": [{**device, "levels": [{"points": [[i, 1] for i in range(1, 10**6 + 1)]}]}]}, "expected at most 100000 points"),
            ({"units": 1, "devices": [device, device]}, "/devices/1/name: expected another name than that of /devices/0"),
            ({"units": 10**18, "devices": [device]}, "/units: expected a whole number from 0 to 9007199254740992"),
            ({"units": math.nan, "devices": [device]}, "model.json:1:")):
        pathlib.Path("model.json").write_text(json.dumps(model), encoding="utf-8")
        done = tool.run("plan", "model.json", code=2)
        assert text in done.stderr and done.stdout == "", done
    for machine in (tool.SOURCE / "examples/machines").iterdir():
        assert f"{machine}: this is a machine file, for --machine; expected a model file" in tool.run("plan", machine, code=2).stderr
    os.truncate("model.json", 64 * 2**20 + 1)
    assert "model.json: the file is too large; expected at most 64 MiB" in tool.run("plan", "model.json", code=2).stderr
    assert "missing.json: the file cannot be read: No such file or directory" in tool.run("plan", "missing.json", code=2).stderr
    assert "the file cannot be read: Is a directory" in tool.run("plan", ".", code=2).stderr


def test_seconds_that_fall_are_repaired_with_a_warning():
    device = {"name": "a", "kind": "host", "levels": [{"points": [[10, 1], [20, 4], [30, 3], [50, 7]]}]}
    pathlib.Path("model.json").write_text(json.dumps({"units": 30, "devices": [device]}), encoding="utf-8")
    found, done = plan("model.json")
    assert found["time_s"] == 4, found
    assert "warning: model.json: /devices/0/levels/0/points/2/1: 3 s for 30 units are less than 4 s for 20" in done.stderr, done


def test_bad_words_end_with_2():
    for words, text in (
            ([], "an argument is missing"),
            ([PEACH, PEACH], "unexpected argument"),
            ([PEACH, "--objective", "speed"], "--objective speed: expected time, energy, edp or ed2p"),
            ([PEACH, "--units", "-1"], "expected an integer from 0 to 9007199254740992"),
            ([PEACH, "--units", "1000000000000000001"], "expected an integer from 0"),
            ([PEACH, "--repetitions", "0"], "--repetitions 0: expected a number from 1e-09"),
            ([PEACH, "--deadline", "nan"], "--deadline nan: expected a number"),
            ([PEACH, "--deadline", "-1"], "--deadline -1: expected a number"),
            ([PEACH, "--max-slowdown", "0.9"], "--max-slowdown 0.9: expected a number from 1 to"),
            ([PEACH, "--power-cap", "12x"], "--power-cap 12x: expected a number"),
            ([PEACH, "--plot", "front.png"], "--plot front.png: expected a name that ends in .svg"),
            ([PEACH, "--pareto", "front.txt"], "--pareto front.txt: expected a name that ends in .csv"),
            (["--pareto", PEACH], "an argument is missing"),
            ([PEACH, "--json", "missing/plan.json"], "missing/plan.json cannot be written"),
            ([PEACH, "--json", PEACH], "MODEL.json and --json both name"),
            (["model.dat", "--plot", "model.svg"], "MODEL.json and the data of --plot both name model.dat"),
            ([PEACH, "--plot", "front.svg", "--json", "front.gp"], "the script of --plot and --json both name front.gp"),
            ([PEACH, "--pareto", "front.csv", "--json", "front.csv"], "--pareto and --json both name front.csv: give different files"),
            ([PEACH, "--explian"], "did you mean --explain?")):
        done = tool.run("plan", *words, code=2)
        assert text in done.stderr and done.stdout == "", done
    assert json.loads(PEACH.read_text(encoding="utf-8"))["units"] == 10000


def test_the_round_of_the_documentation_is_planned_and_explained():
    text = (tool.SOURCE / "docs/reference/model-file.md").read_text(encoding="utf-8")
    model = pathlib.Path("round.json")
    model.write_text(next(part.split("```")[0] for part in text.split("```json\n")[1:] if '"round"' in part), encoding="utf-8")
    found, done = plan(model, "--explain")
    assert [phase["work"] for phase in found["phases"]] == ["fine", "coarse", "coarsest"], found["phases"]
    assert found["phases"][2]["device"] == "cpu" and found["phases"][2]["cut"] is None and found["phases"][0]["calls"] == 20
    cpu, gpu = found["parts"]
    assert cpu["units"] > 0 and cpu["units"] + gpu["units"] == 1000 and cpu["cut_units"] == [cpu["units"]], found["parts"]
    # 20 calls of each phase: an eighth of the units is coarse; the 16 units of the coarsest level are the host's.
    before = math.floor(cpu["units"] / 8 + 0.5)
    fine = max(cpu["units"] * 1e-5, 1e-5 + gpu["units"] * 1e-6)
    coarse = max(before * 9e-6, 1e-5 + (125 - before) * 2e-6)
    assert math.isclose(found["time_s"], 20 * (fine + 1e-5 + coarse + 16e-5), rel_tol=1e-12), found["time_s"]
    assert found["optimal"] is True and "3 phases" in done.stdout, done.stdout
    assert "leave --units out" in tool.run("plan", model, "--units", "5", code=2).stderr
    shorter = json.loads(model.read_text(encoding="utf-8"))
    shorter["round"]["phases"] = shorter["round"]["phases"][:1]
    for device in shorter["devices"]:
        for level in device["levels"]:
            level["phases"] = level["phases"][:1]
    model.write_text(json.dumps(shorter), encoding="utf-8")
    assert " units, 1 phase after one distribution; " in plan(model)[1].stdout


def test_a_search_that_must_end_at_once_still_gives_a_plan():
    found, _ = plan(NODE, "--time-limit", "0", "--objective", "edp")
    assert found["feasible"] is True and found["time_s"] > 0, found


def test_quiet_prints_nothing_and_help_explains():
    done = tool.run("plan", PEACH, "--quiet", "--explain", "--pareto")
    assert done.stdout == "" and done.stderr == "", done
    assert "--max-slowdown X" in tool.run("plan", "--help").stdout


def test_every_shipped_model_has_a_plan_for_every_objective():
    for path in sorted(MODELS.glob("*.json")):
        for objective in ("time", "energy", "edp", "ed2p"):
            found, _ = plan(path, "--objective", objective, "--explain")
            assert found["feasible"] and found["gap"] is not None and (found["gap"] < 0.01 or found["tie"]), (path, found)
            assert sum(part["units"] for part in found["parts"]) == found["units"], (path, found["parts"])
