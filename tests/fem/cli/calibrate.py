"""`yoke calibrate --kernel axmebe`: the products of `yoke fem`, measured for it and for plans."""
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

from command import EXAMPLES, PROGRAM, environment, run

# A CPU whose data leave its caches, and a GPU with a long start; the first machine has neither noise nor contention.
MACHINE = {
    "name": "products",
    "devices": [
        {"name": "cpu", "class": "cpu", "seconds_per_unit": [[0, 1e-6], [3000, 1e-6], [6000, 1.5e-6]], "start_s": 3e-6,
         "power": {"idle_w": 20, "busy_w": 60}},
        {"name": "gpu", "class": "gpu", "seconds_per_unit": 2e-7, "start_s": 1e-4, "copy": {"latency_s": 1e-5, "bytes_per_s": 1e10},
         "power": {"idle_w": 10, "busy_w": 100}},
    ],
}


def machine(**more):
    devices = [{**device, **more} for device in MACHINE["devices"]]
    pathlib.Path("machine.json").write_text(json.dumps({**MACHINE, "devices": devices}), encoding="utf-8")
    return "machine.json"


def true_seconds(device, units):
    """As docs/reference/machine-file.md says."""
    points = MACHINE["devices"][device]["seconds_per_unit"]
    each = points if isinstance(points, float) else points[-1][1]
    for (a, s), (b, t) in zip(points, points[1:]) if isinstance(points, list) else ():
        if units < b:
            each = s + (t - s) * (units - a) / (b - a)
            break
    return MACHINE["devices"][device]["start_s"] + units * each


def calibrate(*words, kernel="axmebe", code=0):
    return run([PROGRAM, "calibrate", "--kernel", kernel, "--store", "store.json", *map(str, words)], code=code)


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def entries(path="store.json"):
    """Samples of each work on each device."""
    return {(entry["work"], entry["device"]): entry["samples"] for entry in read(path)["entries"]}


def model_seconds(level, units):
    """Seconds of a call by a model file."""
    points = [[0, 0], *level["points"]]
    for (a, s), (b, t) in zip(points, points[1:]):
        if units <= b:
            break
    return level["start_seconds"] + s + (t - s) * (units - a) / (b - a)


def check_model(noise):
    calibrate("--machine", machine(noise=noise, seed=7), "--element", "q1", "--model", "model.json", "--json", "run.json")
    found, model, held = read("run.json"), read("model.json"), []
    assert found["work"] == "q1 elasticity matrixfree" and found["difference"] < 1e-13, (found["work"], found["difference"])
    for i, device in enumerate(found["devices"]):
        for one in device["held_out"]:
            off = abs(one["predicted_s"] - true_seconds(i, one["units"]))
            held.append(off <= one["predicted_interval_s"] + 1e-4 * one["predicted_s"])
    assert sum(held) >= len(held) - 1, held
    for i, device in enumerate(model["devices"]):
        (level,) = device["levels"]
        largest = max(one["units"] for one in found["devices"][i]["samples"])
        for k in range(60):
            units = largest ** (k / 59)
            off = abs(model_seconds(level, units) / true_seconds(i, units) - 1)
            assert off <= min(level["time_uncertainty"], 0.02 + noise), (noise, device["name"], units, off, level["time_uncertainty"])
    for units in (model["units"], 20000):
        run([PROGRAM, "plan", "model.json", "--units", str(units), "--json", "plan.json"])
        plan = read("plan.json")
        moved = [0, 1e-5 + plan["parts"][1]["units"] * 8 * 3.6 / 1e10]
        true_s = max(moved[i] + true_seconds(i, part["units"]) for i, part in enumerate(plan["parts"]) if part["units"])
        print(f"noise {noise}: {units} units: {plan['time_s']} +- {plan['time_uncertainty_s']}, true {true_s}")
        assert abs(plan["time_s"] - true_s) <= max(plan["time_uncertainty_s"], 0.01 * true_s), (plan["time_s"], plan["time_uncertainty_s"], true_s)


def test_models_agree_with_a_machine_without_noise():
    check_model(0)


def test_intervals_hold_on_a_machine_with_noise():
    check_model(0.03)


def alone(samples):
    return {one["units"]: one["repeats"] for one in samples if not one["together"]}


def test_fem_makes_no_trial_of_what_was_calibrated():
    case = EXAMPLES / "drill-hole.yaml"  # 120 elements at first; a trial would take a quarter of them, too
    fem = [PROGRAM, "fem", str(case), "--machine", machine(), "--set", "refine.steps=0"]
    run([*fem, "--store", "tried.json"])
    work = "q2 elasticity matrixfree"
    for device in ("sim:cpu", "sim:gpu"):
        assert 30 in alone(entries("tried.json")[work, device]), "the test looks for trials where there are none"
    calibrate("--machine", "machine.json")
    before = entries()
    assert {key[0] for key in before} == {work}, before.keys()
    run([*fem, "--store", "store.json"])
    for device in ("sim:cpu", "sim:gpu"):
        old, new = alone(before[work, device]), alone(entries()[work, device])
        assert 30 not in old and 30 not in new, (device, old, new)
        added = {units for units in new if units not in old and units < 1000}  # larger ones may be drawn together
        assert added <= {120}, (device, old, new)  # the step itself, by one device


def test_fem_predicts_its_first_product_from_the_calibration():
    calibrate("--machine", machine())
    run([PROGRAM, "fem", str(EXAMPLES / "drill-hole.yaml"), "--machine", "machine.json", "--devices", "sim:cpu", "--store", "store.json", "--set",
         "refine.steps=0", "--set", "output.directory=out"])
    (part,) = read("out/run.json")["steps"][0]["parts"]
    for key in ("seconds_per_product", "predicted_seconds_per_product"):
        assert abs(part[key] / true_seconds(0, 120) - 1) < 1e-3, (key, part[key], true_seconds(0, 120))


def test_coarser_levels_have_a_work_of_their_own():
    calibrate("--machine", machine(), kernel="axmebe-coarse")
    assert {key[0] for key in entries()} == {"q1 elasticity multigrid"}, entries().keys()
    case = EXAMPLES / "drill-hole.yaml"
    done = run([PROGRAM, "fem", str(case), "--machine", "machine.json", "--set", "refine.steps=1", "--store", "store.json"])
    assert "q1 elasticity multigrid" not in done.stderr, done.stderr


def test_each_setting_is_a_work_of_its_own():
    for words, work in ((("--element", "s2"), "s2 elasticity matrixfree"), (("--problem", "poisson"), "q2 poisson matrixfree"),
                        (("--operator", "stored", "--element", "q1", "--mesh", "affine"), "q1 elasticity stored"),
                        (("--mesh", "deformed"), "q2 elasticity matrixfree")):
        calibrate("--machine", machine(), *words, "--json", "run.json")
        found = read("run.json")
        assert found["work"] == work and found["difference"] < 1e-12, (words, found["work"], found["difference"])


def test_devices_of_this_machine_compute_the_same():
    info = json.loads(run([PROGRAM, "info", "--quiet", "--json", "-"]).stdout)
    names = [device["name"] for device in info["devices"] if device["name"] in ("openmp", "opencl:0.0") and device["usable"]]
    done = calibrate("--devices", ",".join(names), "--seconds", "2", "--no-clocks", "--element", "q1", "--json", "run.json", "--model", "model.json")
    found = read("run.json")
    assert [device["device"] for device in found["devices"]] == names, found["devices"]
    assert found["difference"] < 1e-13 and "agree with a reference to" in done.stdout, (found["difference"], done.stdout)
    for device in found["devices"]:
        assert len([one for one in device["samples"] if not one["together"]]) >= 4, device
        assert (len(names) == 1) == (device["contention"] is None), device
    run([PROGRAM, "plan", "model.json"])
    if "opencl:0.0" not in names:
        sys.exit(77)


def test_a_device_that_fails_leaves_the_others():
    for call in (3, 200):  # while products are compared, while sizes are measured
        file = read(machine())
        file["devices"][1]["fault"] = {"call": call, "kind": "lost"}
        pathlib.Path("machine.json").write_text(json.dumps(file), encoding="utf-8")
        pathlib.Path("store.json").unlink(missing_ok=True)
        done = calibrate("--machine", "machine.json", "--element", "q1", "--json", "run.json", code=1)
        assert "sim:gpu failed and was left out" in done.stderr, done.stderr
        assert [device["device"] for device in read("run.json")["devices"]] == ["sim:cpu"]


def test_bad_words_are_refused():
    for words, what in ((("--element", "q9"), "q2, s2, q1"), (("--problem", "heat"), "elasticity, poisson"), (("--operator", "x"), "matrixfree, stored"),
                        (("--mesh", ""), "curved, affine, deformed"), (("--elements", "q1"), "did you mean --element"), (("--seconds", "nan"), "number from 1"),
                        (("--machine", "nowhere.json"), "nowhere.json"), (("--model", "/nowhere/model.json"), "/nowhere"), (("operand",), "unexpected")):
        done = calibrate(*words, code=2)
        assert done.stderr.startswith("yoke calibrate: error: ") and what in done.stderr, done.stderr
    assert "leave it out" in calibrate("--element", "q1", kernel="axmebe-coarse", code=2).stderr
    done = calibrate(kernel="axmeb", code=2)
    assert "fma, triad, axmebe, axmebe-coarse" in done.stderr, done.stderr
    calibrate("--devices", "cuda:77", code=3)
    assert not pathlib.Path("store.json").exists()


def catches(process, number):
    """Whether a process has a function for a signal (proc(5))."""
    caught = re.search(r"^SigCgt:\s*(\w+)$", pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8"), re.MULTILINE)
    return caught is not None and int(caught[1], 16) >> (number - 1) & 1


def test_an_interrupted_run_leaves_no_store():
    line = [PROGRAM, "calibrate", "--kernel=axmebe", "--devices", "openmp", "--seconds", "600", "--store", "store.json"]
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    until = time.monotonic() + 300
    while not catches(process.pid, signal.SIGINT):  # before devices are opened
        assert process.poll() is None and time.monotonic() < until, "it never catches signals"
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130, process.returncode
    assert list(pathlib.Path().iterdir()) == []


def test_help_names_the_kernels_and_their_options():
    done = run([PROGRAM, "calibrate", "--help"])
    assert "\n  axmebe " in done.stdout and "--kernel axmebe --help" in done.stdout, done.stdout
    done = run([PROGRAM, "calibrate", "--kernel", "axmebe", "--help"])
    assert "usage: yoke calibrate" in done.stdout and "--element KIND" in done.stdout and "\n  axmebe-coarse " in done.stdout, done.stdout
