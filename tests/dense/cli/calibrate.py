"""`yoke calibrate --kernel gemm`, `transpose` and `tsp`: the units of yoke dense, for its runs and for plans."""
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ["YOKE_PROGRAM"]
# As PEACH's system I with the tours (table VIII): a unit is some restarts.  GHz or MHz to units a second, and W above idle.
CPU = {1.2: (1157, 22.2), 1.8: (1736, 55.4), 2.6: (2507, 99.7)}
GPU = {640: (42930, 70), 705: (47298, 92.7)}
IDLE_W = (42.4, 46.6, 76.7)
HOSTING_W = {1.2: 30, 1.8: 30, 2.6: 30}  # as the paper computes
BY_FREQUENCY_W = {1.2: 10, 1.8: 18.57, 2.6: 30}  # as it measures (sect. VII-B)
WORKS = {"gemm": "gemm double n=2 k=2 b=1", "transpose": "transpose double n=4 b=1", "tsp": "tsp n=5"}
WORDS = {"gemm": ("-m", 20000, "-n", 2, "-b", 1), "transpose": ("-m", 20000, "-n", 4, "-b", 1), "tsp": ("--restarts", 20000, "-n", 5)}


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {words}\n{done.stdout}\n{done.stderr}"
    return done


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def machine(hosting_w=None):
    hosting_w = hosting_w or HOSTING_W

    def level(hertz, seconds, idle_w, watts, **more):
        return {"frequency_hz": hertz, "seconds_per_unit": seconds, "power": {"idle_w": idle_w, "busy_w": idle_w + watts}, **more}
    cpu = [level(1e9 * f, 1 / rate, IDLE_W[0], watts, hosting_w=hosting_w[f]) for f, (rate, watts) in CPU.items()]
    gpu = [level(1e6 * f, 1 / rate, IDLE_W[1], watts) for f, (rate, watts) in GPU.items()]
    pathlib.Path("machine.json").write_text(json.dumps({"name": "m", "host": {"idle_w": IDLE_W[2]}, "devices": [
        {"name": "cpu", "class": "cpu", "clock": {"levels": cpu}}, {"name": "gpu", "class": "gpu", "clock": {"levels": gpu}}]}), encoding="utf-8")
    return "machine.json"


def cost(ghz, mhz, units, all_units, hosting_w):
    """Seconds and joules of so many units on the GPU (docs/reference/machine-file.md)."""
    cpu, gpu = CPU[ghz], GPU[mhz]
    cpu_s, gpu_s = (all_units - units) / cpu[0], units / gpu[0]
    return max(cpu_s, gpu_s), max(cpu_s, gpu_s) * sum(IDLE_W) + cpu_s * cpu[1] + gpu_s * gpu[1] + hosting_w[ghz] * max(0, gpu_s - cpu_s)


def best(which, all_units, hosting_w):
    return min(cost(ghz, mhz, units, all_units, hosting_w)[which] for ghz in CPU for mhz in GPU for units in range(0, all_units + 1, 20))


def check_plans(hosting_w):
    """Returns the part of the card for least energy."""
    calibrate = ("calibrate", "--kernel", "tsp", *WORDS["tsp"], "--machine", machine(hosting_w), "--devices", "sim:cpu,sim:gpu", "--store", "none", "--model", "model.json")
    run(*calibrate)
    assert read("model.json")["units"] == 20000
    for which, objective in enumerate(("time", "energy")):
        run("plan", "model.json", "--objective", objective, "--json", "plan.json")
        plan = read("plan.json")
        (at_cpu, at_gpu), units = (part["frequency_hz"] for part in plan["parts"]), plan["parts"][1]["units"]
        true, least = cost(round(at_cpu * 1e-9, 1), round(at_gpu * 1e-6), units, 20000, hosting_w), best(which, 20000, hosting_w)
        assert true[which] < 1.002 * least, (objective, true, least, plan["parts"])
        for value, key in zip(true, ("time_s", "energy_j")):
            assert abs(plan[key] / value - 1) < 0.005, (objective, key, plan[key], value)
    return units / 20000


def test_a_plan_from_a_calibration_is_the_optimum_of_the_operation():
    """Sizes go up to that of the operation, so its seconds are known, and not inferred from much smaller ones."""
    assert 0.97 < check_plans(HOSTING_W) < 0.985


def test_the_host_overhead_of_each_frequency_is_measured_and_planned_with():
    """PEACH, table VIII: with P_OH = 10 W at 1.2 GHz all tours are on the GPU."""
    assert check_plans(BY_FREQUENCY_W) == 1
    model = read("model.json")
    found = [model["hosting_power_w"] + level.get("hosting_power_w", 0) for level in model["devices"][0]["levels"]]
    assert all(abs(one / expected - 1) < 0.02 for one, expected in zip(found, BY_FREQUENCY_W.values())), found


def test_what_was_calibrated_is_what_yoke_dense_looks_for():
    """Under the same name, with the same kernel: no round of it is small."""
    for kernel, work in WORKS.items():
        of = ("--machine", machine(), "--devices", "sim:cpu,sim:gpu", "--store", f"{kernel}.store.json")
        run("calibrate", "--kernel", kernel, *WORDS[kernel], *of)
        assert {entry["work"] for entry in read(f"{kernel}.store.json")["entries"]} == {work}
        run("dense", kernel, *WORDS[kernel], *of, "--json", "run.json")
        first = read("run.json")["rounds"][0]
        assert first["units"] >= 0.9 * min(20000, 2 * (CPU[2.6][0] + GPU[705][0])), first
        assert abs(first["predicted"]["time_s"] / first["measured"]["time_s"] - 1) < 0.02, first


def test_the_cores_are_calibrated():
    for kernel, words in (("gemm", ("-n", 256)), ("transpose", ("-n", 512)), ("tsp", ("-n", 20, "--restarts", 500))):
        run("calibrate", "--kernel", kernel, *words, "--devices", "openmp", "--seconds", 1, "--store", "store.json", "--json", "run.json")
        (device,) = read("run.json")["devices"]
        assert all(one["seconds"] > 0 for one in device["samples"]) and len(device["samples"]) >= 2, device


def test_options_of_other_kernels_are_refused():
    for kernel, words, told in (("gemm", ("--restarts", 5), "--kernel gemm has no --restarts; its options: -n, -m, -k, -b, --precision"),
                                ("transpose", ("-k", 5), "--kernel transpose has no -k"), ("tsp", ("-b", 5), "--kernel tsp has no -b"),
                                ("tsp", ("-n", 100000), "--kernel tsp: -n 100000: at most"), ("gemm", ("--precision", "half"), "half")):
        assert told in run("calibrate", "--kernel", kernel, *words, "--devices", "openmp", "--store", "none", code=2).stderr
