"""--profile: seconds and joules of kernels against the powers of the machine file and of counters in files, and why there are none."""
import contextlib
import json
import os
import pathlib
import re
import threading

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
        lines = re.findall(r"^(cg product) +(sim:\w+) +(\d+) +(\S+) +(\S+) +(\S+)", done.stdout, re.MULTILINE)
        for (name, device, calls, seconds_each, seconds_all, joules_each), row in zip(lines, [r for r in rows if r["kernel"] == "cg product"], strict=True):
            assert (name, device, int(calls)) == (row["kernel"], row["device"], row["calls"])
            close_to(float(seconds_each), row["call_s"], 1e-2, "seconds")
            close_to(float(seconds_all), row["call_s"] * row["calls"], 1e-2, "seconds of all calls")
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
    unpowered = str(pathlib.Path("unpowered.json").resolve())
    pathlib.Path(unpowered).write_text('{"name": "test", "devices": [{"name": "cpu", "class": "cpu", "seconds_per_unit": 3e-5}]}', encoding="utf-8")
    for line, why in (
        (words(SMALL, "--profile", **few), "no usable meter: powercap: "),
        (words(SMALL, "--machine", unpowered, "--devices", "sim:cpu", "--profile", **few), "no meters are open"),
        (words(SMALL, "--machine", machine(meter={"period_s": 0.5}), "--devices", "sim:cpu", "--profile", **few), "at least 24 are needed"),
        (words(SMALL, "--declare", "idle=10,busy=50", "--profile", **few), "declared powers"),
    ):
        done = run(line, env=unmetered)
        rows = record()["profile"]
        timed = [row for row in rows if row["call_s"] is not None]  # on a busy machine timing may rest
        assert rows and all(row["energy_j"] is None and why in row["why_not"] for row in timed), rows
        assert all("none of its calls was timed" in row["why_not"] for row in rows if row["call_s"] is None), rows
        if not timed and "--machine" not in line:
            continue
        assert re.search(rf"^no energy of \S+ \(.*\): .*{why}", done.stdout, re.MULTILINE), done.stdout
        # Calls and seconds need no meter, and all kernels of a device together take no more than the solve.
        number = r"[\d.e+-]*\d[\d.e+-]*"
        assert re.search(rf"^\S+ .*\S +\S+ +\d+ +{number} +{number} +- +- +- +-$", done.stdout, re.MULTILINE), done.stdout
        assert all(row["calls"] > 0 for row in rows) and all(row["call_s"] >= 0 for row in timed), rows
        if "--machine" in line:
            seconds = sum(step["measured"]["time_s"] for step in record()["steps"])
            close_to(sum(row["calls"] * row["call_s"] for row in rows), seconds, 1e-6, "seconds of all kernels")


def test_without_the_option_there_is_no_table():
    done = run(words(SMALL, "--machine", machine(), "--devices", "sim:cpu", **{**MULTIGRID, "refine__steps": 0}))
    assert "profile" not in record() and "cg product" not in done.stdout


def test_the_solution_is_the_same():
    run(words(EXAMPLES / "fichera.yaml", "--set", "element=q1", "--set", "refine.steps=2", out="plain"))
    run(words(EXAMPLES / "fichera.yaml", "--set", "element=q1", "--set", "refine.steps=2", "--profile", out="profiled"))
    plain, profiled = (record(out)["steps"] for out in ("plain", "profiled"))
    assert [(step["iterations"], step["strain_energy_j"]) for step in plain] == [(step["iterations"], step["strain_energy_j"]) for step in profiled]


# ------------------------------------------------------------------------------------------- counters of processor packages

PACKAGES_W = (9, 4)  # tests/meter/stub/rapl.h, whose counters have a period of 1/1024 s; the first one wraps after 0.5 J
METERED = {"element": "q1", "solver__preconditioner": "jacobi", "solver__relative_residual": 1e-12, "refine__steps": 7}


def packages():
    """The environment of a machine with two packages whose counters move with the clock, and the files of these counters."""
    root = pathlib.Path("packages").resolve()
    counters = []
    for number in range(len(PACKAGES_W)):
        zone = root / f"sys/class/powercap/intel-rapl:{number}"
        zone.mkdir(parents=True)
        for name, text in (("name", f"package-{number}"), ("max_energy_range_uj", "1000000000"), ("energy_uj", "0")):
            (zone / name).write_text(text + "\n", encoding="utf-8")
        counters.append(zone / "energy_uj")
    return environment(YOKE_SYSROOT=str(root), LD_PRELOAD=os.environ["YOKE_STUB_RAPL"]), counters


def test_counters_of_packages_tell_the_energy_of_kernels():
    metered, _ = packages()
    done = run(words(EXAMPLES / "drill-hole.yaml", "--devices", "openmp", "--profile", **METERED), env=metered)
    found = record()
    rows = found["profile"]
    print(done.stdout, json.dumps(rows, indent=1))
    known = {row["kernel"]: row for row in rows if row["energy_j"] is not None}
    assert "cg product" in known, rows
    for row in known.values():
        expected = sum(PACKAGES_W) * row["call_s"]
        assert abs(row["energy_j"] - expected) <= max(2 * row["uncertainty_j"], 0.05 * expected), row
    # All that the packages drew in the solves.
    solves = [step["measured"] for step in found["steps"] if step["measured"]["energy_j"] is not None]
    drawn = sum(PACKAGES_W) * sum(step["time_s"] for step in solves)
    assert drawn > 0.5 * 9 / 13
    close_to(sum(step["energy_j"] for step in solves), drawn, 0.05, "energy of the solves")
    close_to(sum(row["share"] for row in known.values()), sum(row["calls"] * row["call_s"] for row in known.values()) * sum(PACKAGES_W) / drawn, 0.1, "sum of the shares")


def test_a_counter_that_vanishes_in_a_run_leaves_the_seconds():
    metered, counters = packages()
    ending = threading.Event()

    def take_away():
        while not ending.wait(0.002):
            with contextlib.suppress(OSError, ValueError):
                if len(record()["steps"]) >= 3:
                    counters[1].unlink()
                    return

    thread = threading.Thread(target=take_away)
    thread.start()
    try:
        done = run(words(EXAMPLES / "drill-hole.yaml", "--devices", "openmp", "--profile", **METERED), env=metered)
    finally:
        ending.set()
        thread.join()
    rows = record()["profile"]
    why = "intel-rapl:1/energy_uj is gone: the hardware was taken offline or lost"
    assert all(row["energy_j"] is None and why in row["why_not"] and row["call_s"] > 0 for row in rows), rows
    assert re.search(rf"^no energy of openmp \(cg .*\): .*{why}", done.stdout, re.MULTILINE), done.stdout
    steps = record()["steps"]
    assert steps[0]["measured"]["energy_j"] is not None and steps[-1]["measured"]["energy_j"] is None, steps


def test_cores_behind_one_meter_have_seconds_only():
    metered, _ = packages()
    done = run(words(SMALL, "--devices", "openmp:0-0,openmp:1-1", "--profile", **{**METERED, "refine__steps": 3}), env=metered, code=None)
    if done.returncode == 2 and "openmp:1-1" in done.stderr:
        raise SystemExit(77)  # one core only
    assert done.returncode == 0, done.stderr
    rows = record()["profile"]
    for device, other in (("openmp:0-0", "openmp:1-1"), ("openmp:1-1", "openmp:0-0")):
        mine = [row for row in rows if row["device"] == device]
        assert mine and all(row["energy_j"] is None for row in mine), rows
        # On a busy machine timing may rest.
        assert all(f"kernels of {other} run at the same time behind the same meter" in row["why_not"] or row["call_s"] is None for row in mine), rows
    assert any(row["call_s"] is not None for row in rows), rows
