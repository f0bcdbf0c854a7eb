"""--profile: joules of kernels against the powers of the machine file, and why there are none."""
import json
import pathlib
import re

from command import EXAMPLES, SMALL, close_to, environment, record, run, words

MULTIGRID = {"solver__preconditioner": "multigrid", "refine__steps": 4}
POWERS = {"cpu": (10, 100), "gpu": (50, 300)}


def machine(**more):
    devices = []
    for name, seconds in (("cpu", 3e-5), ("gpu", 1e-5)):
        idle, busy = POWERS[name]
        power = {"idle_w": idle, "busy_w": busy}
        devices.append({"name": name, "class": name, "seconds_per_unit": seconds, "power": power, "noise": 0.03, **more})
    path = pathlib.Path("machine.json").resolve()
    path.write_text(json.dumps({"name": "test", "devices": devices, "host": {"idle_w": 20}}), encoding="utf-8")
    return str(path)


def check_joules(rows, gain=1.0):
    """Each kernel draws the power of its device at work; returns how many have energy, and how many intervals hold."""
    known = held = 0
    for row in rows:
        idle, busy = POWERS[row["device"].removeprefix("sim:")]
        if row["energy_j"] is None:
            assert row["why_not"] and row["uncertainty_j"] is None and row["share"] is None
            continue
        watts = idle if row["kernel"] == "between kernels" else busy
        known += 1
        held += abs(row["energy_j"] - gain * watts * row["call_s"]) <= row["uncertainty_j"]
    return known, held


def test_kernels_have_the_power_of_their_device():
    for devices in ("sim:cpu", "sim:gpu", "sim:cpu,sim:gpu"):
        done = run(words(SMALL, "--machine", machine(), "--devices", devices, "--case", "both" if "," in devices else "auto", "--profile", **MULTIGRID))
        found = record()
        rows, names = found["profile"], {row["kernel"] for row in found["profile"]}
        assert {"cg product", "level 0 product", "level 0 smoother"} <= names, names
        assert ("," in devices) <= ("between kernels" in names), names  # one device alone is always at work
        assert ("," in devices) == ("cg interface" in names), names
        known, held = check_joules(rows)
        assert known >= 2 and held == known, rows
        # All that is metered: kernels, pauses, the host, and devices that have no work.
        seconds = sum(step["measured"]["time_s"] for step in found["steps"])
        joules = sum(step["measured"]["energy_j"] for step in found["steps"])
        idle = sum(POWERS[name][0] for name in POWERS if f"sim:{name}" not in devices.split(","))
        told = sum(row["energy_j"] * row["calls"] for row in rows if row["energy_j"] is not None)
        close_to(told + (20 + idle) * seconds, joules, 0.02, "sum of the kernels")
        share = sum(row["share"] for row in rows if row["share"] is not None)
        close_to(share, told / joules, 1e-6, "sum of the shares")
        lines = re.findall(r"^(cg product) +(sim:\w+) +(\d+) +(\S+) +(\S+)", done.stdout, re.MULTILINE)
        for (name, device, calls, seconds_each, joules_each), row in zip(lines, [r for r in rows if r["kernel"] == "cg product"], strict=True):
            assert (name, device, int(calls)) == (row["kernel"], row["device"], row["calls"])
            close_to(float(seconds_each), row["call_s"], 1e-2, "seconds")
            close_to(float(joules_each), row["energy_j"], 1e-3, "joules")


def test_products_are_counted():
    run(words(SMALL, "--machine", machine(), "--devices", "sim:cpu", "--profile", **MULTIGRID))
    found = record()
    calls = {row["kernel"]: row["calls"] for row in found["profile"]}
    products = sum(step["operator_applications"] for step in found["steps"])
    # The set-up of the solve, which estimates eigenvalues, is no part of it.
    assert 0.5 * products < calls["cg product"] + calls["level 0 product"] <= products, (calls, products)


def test_intervals_hold_on_slow_meters():
    known = held = 0
    for seed in range(1, 7):
        gain = 0.96 + 0.013 * seed
        path = machine(seed=seed, meter={"period_s": 0.002, "resolution_j": 1e-3, "gain": gain, "gain_error": 0.001})
        run(words(SMALL, "--machine", path, "--devices", "sim:gpu", "--profile", **{**MULTIGRID, "refine__steps": 6}))
        more = check_joules(record()["profile"], gain)
        known, held = known + more[0], held + more[1]
    assert known >= 12 and held >= 0.9 * known, (known, held)


def test_frequencies_have_lines_of_their_own():
    levels = [{"frequency_hz": 1e9, "seconds_per_unit": 6e-5, "power": {"idle_w": 8, "busy_w": 40}}, {"frequency_hz": 2e9}]
    found = json.loads(pathlib.Path(machine()).read_text(encoding="utf-8"))
    del found["devices"][1]
    found["devices"][0]["clock"] = {"levels": levels}
    pathlib.Path("machine.json").write_text(json.dumps(found), encoding="utf-8")
    done = run(words(SMALL, "--machine", "machine.json", "--devices", "sim:cpu", "--objective", "energy", "--profile", **{**MULTIGRID, "refine__steps": 6}))
    rows = [row for row in record()["profile"] if row["kernel"] == "cg product"]
    assert "GHz" in done.stdout and all(row["frequency_hz"] in (1e9, 2e9) for row in rows), rows
    for row in rows:
        if row["energy_j"] is not None:
            close_to(row["energy_j"] / row["call_s"], 40 if row["frequency_hz"] == 1e9 else 100, 0.02, "power")


def test_what_is_missing_says_why():
    root = pathlib.Path("root")
    root.mkdir(exist_ok=True)
    unmetered = environment(YOKE_SYSROOT=str(root.resolve()), YOKE_NVML="", YOKE_AMDSMI="", YOKE_ROCMSMI="")
    few = {**MULTIGRID, "refine__steps": 0}
    for line, why in (
        (words(SMALL, "--profile", **few), "no meter"),
        (words(SMALL, "--machine", machine(meter={"period_s": 0.5}), "--devices", "sim:cpu", "--profile", **few), "at least 24 are needed"),
        (words(SMALL, "--declare", "idle=10,busy=50", "--profile", **few), "declared powers"),
    ):
        done = run(line, env=unmetered)
        rows = record()["profile"]
        assert rows and all(row["energy_j"] is None and why in row["why_not"] for row in rows), rows
        assert re.search(rf"^no energy of \S+ \(.*\): .*{why}", done.stdout, re.MULTILINE), done.stdout
        assert re.search(r"^cg product .* -  +- ", done.stdout.replace("       -", " - "), re.MULTILINE) or " - " in done.stdout
        assert all(row["calls"] > 0 for row in rows)


def test_without_the_option_there_is_no_table():
    done = run(words(SMALL, "--machine", machine(), "--devices", "sim:cpu", **{**MULTIGRID, "refine__steps": 0}))
    assert "profile" not in record() and "cg product" not in done.stdout


def test_the_solution_is_the_same():
    run(words(EXAMPLES / "fichera.yaml", "--set", "element=q1", "--set", "refine.steps=2", out="plain"))
    run(words(EXAMPLES / "fichera.yaml", "--set", "element=q1", "--set", "refine.steps=2", "--profile", out="profiled"))
    plain, profiled = (record(out)["steps"] for out in ("plain", "profiled"))
    assert [(step["iterations"], step["strain_energy_j"]) for step in plain] == [(step["iterations"], step["strain_energy_j"]) for step in profiled]
